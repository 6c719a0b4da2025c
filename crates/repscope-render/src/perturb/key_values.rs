// SPDX-License-Identifier: MIT
//! The values that the specification wants highlighted, beside what it expects of them and what they can be at most.

use super::{Run, Set, written};
use crate::numbers::number;
use repscope_core::Score;

/// What is expected of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Expected {
    /// From the first to the second.
    Range(f64, f64),
    /// Less than this.
    Below(f64),
    /// More than `bottom` and less than `top` at the same percent.
    Between,
}

/// Their keys in `pis_summary.json`, family and percent. The last two are the baseline for comparison.
pub(super) const KEY_VALUES: [(&str, &str, f64, Expected); 6] = [
    ("top1_pis", "top", 1.0, Expected::Range(30.0, 40.0)),
    ("top5_pis", "top", 5.0, Expected::Range(15.0, 25.0)),
    ("bottom1_pis", "bottom", 1.0, Expected::Below(1.0)),
    ("bottom5_pis", "bottom", 5.0, Expected::Below(1.0)),
    ("random1_pis", "random", 1.0, Expected::Between),
    ("random5_pis", "random", 5.0, Expected::Between),
];

/// One of them, as it was found for all heads together.
pub(super) struct KeyValue<'a> {
    /// Its key in `pis_summary.json`.
    pub(super) key: &'static str,
    pub(super) set: &'a Set,
    pub(super) score: &'a Score,
    pub(super) expected: Expected,
    /// The score if every right answer were lost: accuracy without perturbation / share.
    pub(super) reachable: Option<f64>,
    /// Whether it is as expected; `None` where the interval leaves it open.
    pub(super) holds: Option<bool>,
    /// The same in a word or two.
    pub(super) verdict: &'static str,
}

/// Those whose sets are there and have a score.
pub(super) fn key_values<'a>(run: &'a Run<'a>) -> Vec<KeyValue<'a>> {
    let head = run.leading();
    let baseline = run.baseline(head).and_then(|score| score.value);
    let of = |&(key, family, percent, expected): &(&'static str, &str, f64, Expected)| {
        let set = run.at(family, percent)?;
        let score = run.pis(head, "", &set.name).filter(|score| score.value.is_some())?;
        let reachable = baseline.map(|accuracy| accuracy / (percent / 100.0));
        let (holds, verdict) = match score.interval {
            None => (None, "cannot tell"),
            Some(interval) => judge(run, set, interval, expected, reachable),
        };
        Some(KeyValue {
            key,
            set,
            score,
            expected,
            reachable,
            holds,
            verdict,
        })
    };
    KEY_VALUES.iter().filter_map(of).collect()
}

fn judge(
    run: &Run,
    set: &Set,
    [low, high]: [f64; 2],
    expected: Expected,
    reachable: Option<f64>,
) -> (Option<bool>, &'static str) {
    let of_family = |family: &str| {
        let other = run.at(family, set.percent)?;
        run.pis(run.leading(), "", &other.name)?.interval
    };
    match expected {
        Expected::Range(least, _) if reachable.is_some_and(|most| most < least) => (Some(false), "out of reach"),
        Expected::Range(least, _) if high < least => (Some(false), "below"),
        Expected::Range(_, most) | Expected::Below(most) if low > most => (Some(false), "above"),
        Expected::Range(least, most) if low >= least && high <= most => (Some(true), "as expected"),
        Expected::Below(most) if high < most => (Some(true), "as expected"),
        Expected::Range(..) | Expected::Below(_) => (None, "cannot tell"),
        Expected::Between => match (of_family("bottom"), of_family("top")) {
            (Some([bottom, _]), _) if high < bottom => (Some(false), "below bottom"),
            (_, Some([_, top])) if low > top => (Some(false), "above top"),
            (Some([_, bottom]), Some([top, _])) if low > bottom && high < top => (Some(true), "as expected"),
            _ => (None, "cannot tell"),
        },
    }
}

impl KeyValue<'_> {
    /// `top 1 %`.
    pub(super) fn name(&self) -> String {
        format!("{} {} %", self.set.family, self.set.percent)
    }

    /// `3.26 [3.06, 3.46]`.
    fn found(&self) -> String {
        self.score
            .value
            .map_or(String::new(), |value| written(value, self.score.interval))
    }

    /// `top 5 % 7.20 [7.16, 7.24] is out of reach of 15 to 25 (at most 10.25)`.
    pub(super) fn sentence(&self) -> String {
        let (name, found, expected) = (self.name(), self.found(), self.expected);
        let most = self.reachable.map(|most| format!(" (at most {})", number(most)));
        let most = most.unwrap_or_default();
        match self.verdict {
            "as expected" => format!("{name} {found} is {}", expected.as_expected()),
            "cannot tell" => format!("{name} {found} may or may not be {}", expected.as_expected()),
            "out of reach" => format!("{name} {found} cannot be {}{most}", expected.as_expected()),
            _ if expected == Expected::Between => {
                format!("{name} {found} is {}, not between bottom and top", self.verdict)
            }
            _ if matches!(expected, Expected::Below(_)) => format!("{name} {found} is not {}", expected.as_expected()),
            verdict => format!("{name} {found} is {verdict} {}", expected.as_expected()),
        }
    }
}

impl Expected {
    /// `30 to 40`.
    pub(super) fn words(self) -> String {
        match self {
            Expected::Range(low, high) => format!("{low} to {high}"),
            Expected::Below(high) => format!("< {high}"),
            Expected::Between => "bottom to top".to_string(),
        }
    }

    fn as_expected(self) -> String {
        match self {
            Expected::Range(low, high) => format!("{low} to {high}"),
            Expected::Below(high) => format!("below {high}"),
            Expected::Between => "between bottom and top".to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{change, of_document, one_head};
    use super::*;
    use repscope_core::Results;

    fn verdicts(results: &Results) -> Vec<(&'static str, &'static str)> {
        let run = Run::first(results).unwrap();
        key_values(&run).iter().map(|key| (key.key, key.verdict)).collect()
    }

    #[test]
    fn what_is_expected_is_compared_with_the_interval_and_with_what_is_reachable() {
        // 3.26 of at most 51.26 at 1 %; 7.2 of at most 10.25 at 5 %; bottom 0.8 [0.6, 1.0] and 0.3; random in between.
        assert_eq!(
            verdicts(&of_document()),
            [
                ("top1_pis", "below"),
                ("top5_pis", "out of reach"),
                ("bottom1_pis", "cannot tell"),
                ("bottom5_pis", "as expected"),
                ("random1_pis", "as expected"),
                ("random5_pis", "as expected"),
            ]
        );
        let mut results = of_document();
        change(&mut results, "pis.combined@top1", 35.0, Some([32.0, 38.0]));
        change(&mut results, "pis.combined@bottom1", 1.6, Some([1.2, 2.0]));
        change(&mut results, "pis.combined@random1", 36.0, Some([31.0, 41.0]));
        change(&mut results, "pis.combined@random5", 8.0, Some([7.9, 8.1]));
        assert_eq!(
            verdicts(&results),
            [
                ("top1_pis", "as expected"),
                ("top5_pis", "out of reach"),
                ("bottom1_pis", "above"),
                ("bottom5_pis", "as expected"),
                ("random1_pis", "cannot tell"),
                ("random5_pis", "above top"),
            ]
        );
    }

    #[test]
    fn sets_that_are_not_there_are_left_out() {
        assert_eq!(verdicts(&one_head()).len(), 1);
    }

    #[test]
    fn a_sentence_names_what_was_found_expected_and_reachable() {
        let results = of_document();
        let run = Run::first(&results).unwrap();
        let sentences: Vec<String> = key_values(&run).iter().map(KeyValue::sentence).collect();
        assert_eq!(sentences[0], "top 1 % 3.26 [3.06, 3.46] is below 30 to 40");
        assert_eq!(
            sentences[1],
            "top 5 % 7.200 [7.160, 7.240] cannot be 15 to 25 (at most 10.25)"
        );
        assert_eq!(sentences[2], "bottom 1 % 0.80 [0.60, 1.00] may or may not be below 1");
        assert_eq!(sentences[4], "random 1 % 2.00 [1.80, 2.20] is between bottom and top");
        let mut results = of_document();
        change(&mut results, "pis.combined@bottom1", 1.6, Some([1.2, 2.0]));
        change(&mut results, "pis.combined@random5", 8.0, Some([7.9, 8.1]));
        let run = Run::first(&results).unwrap();
        let sentences: Vec<String> = key_values(&run).iter().map(KeyValue::sentence).collect();
        assert_eq!(sentences[2], "bottom 1 % 1.60 [1.20, 2.00] is not below 1");
        assert_eq!(
            sentences[5],
            "random 5 % 8.000 [7.900, 8.100] is above top, not between bottom and top"
        );
    }
}
