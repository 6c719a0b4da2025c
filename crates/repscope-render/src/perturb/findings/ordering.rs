// SPDX-License-Identifier: MIT
//! Do bright pixels matter more than any, and any more than dim ones? Asked at each percent, beyond the intervals.

use super::super::{Run, Set, written};
use super::{Finding, percents};

/// The order that is expected, the most harmful first.
const EXPECTED: [&str; 3] = ["top", "random", "bottom"];
/// The order is also judged by the share of lit pixels that was masked: a percentage may mean other numbers of pixels.
const LIT: &str = "(f=lit)";

/// Top above random above bottom at every percent, one answer for each head.
pub(super) fn ordering(run: &Run) -> Vec<Finding> {
    let families = run.families();
    let present: Vec<&str> = EXPECTED
        .into_iter()
        .filter(|family| families.contains(family))
        .collect();
    let of_head = |head: &String| {
        let check = format!("ordering of {head}");
        let pairs: Vec<Pair> = present
            .windows(2)
            .map(|pair| compare(run, head, "", pair[0], pair[1]))
            .collect();
        if pairs.iter().all(Pair::is_empty) {
            let why = "it needs two of top, random and bottom at the same percent";
            return Finding::new(check, None, why);
        }
        let holds = together(&pairs);
        let mut words: Vec<String> = pairs.iter().filter(|pair| !pair.is_empty()).map(Pair::words).collect();
        let by_lit: Vec<Pair> = present
            .windows(2)
            .map(|pair| compare(run, head, LIT, pair[0], pair[1]))
            .collect();
        let is_told = by_lit.iter().map(Pair::count).eq(pairs.iter().map(Pair::count));
        if is_told && together(&by_lit) != holds {
            words.push(format!(
                "by the share of lit pixels that was masked, {}",
                match together(&by_lit) {
                    Some(true) => "it holds",
                    Some(false) => "it does not hold",
                    None => "it is open",
                }
            ));
        }
        Finding::new(check, holds, words.join("; "))
    };
    run.heads.iter().map(of_head).collect()
}

/// Two families at the percents they share.
struct Pair<'a> {
    names: [&'a str; 2],
    above: Vec<f64>,
    open: Vec<f64>,
    below: Vec<f64>,
    /// The percent where the order is turned around most, with both scores.
    worst: Option<(f64, String)>,
}

fn compare<'a>(run: &Run, head: &str, part: &str, first: &'a str, second: &'a str) -> Pair<'a> {
    let mut pair = Pair {
        names: [first, second],
        above: Vec::new(),
        open: Vec::new(),
        below: Vec::new(),
        worst: None,
    };
    for set in run.of_family(first) {
        let Some(other) = run.at(second, set.percent) else {
            continue;
        };
        let known = |set: &Set| {
            run.pis(head, part, &set.name)
                .and_then(|score| Some((score.value?, score.interval)))
        };
        let (Some((a, of_a)), Some((b, of_b))) = (known(set), known(other)) else {
            continue;
        };
        match (of_a, of_b) {
            (Some([low, _]), Some([_, high])) if low > high => pair.above.push(set.percent),
            (Some([_, high]), Some([low, _])) if high < low => {
                pair.below.push(set.percent);
                let gap = low - high;
                if pair.worst.as_ref().is_none_or(|(worst, _)| gap > *worst) {
                    let words = format!(
                        "{} {} against {} {}",
                        set.name,
                        written(a, of_a),
                        other.name,
                        written(b, of_b)
                    );
                    pair.worst = Some((gap, words));
                }
            }
            _ => pair.open.push(set.percent),
        }
    }
    pair
}

impl Pair<'_> {
    fn count(&self) -> usize {
        self.above.len() + self.open.len() + self.below.len()
    }

    fn is_empty(&self) -> bool {
        self.count() == 0
    }

    fn words(&self) -> String {
        let [first, second] = self.names;
        let mut parts = Vec::new();
        if !self.above.is_empty() {
            parts.push(format!("{first} is above {second} at {}", percents(&self.above)));
        }
        if !self.open.is_empty() {
            parts.push(format!(
                "{first} and {second} cannot be told apart at {}",
                percents(&self.open)
            ));
        }
        if let Some((_, worst)) = &self.worst {
            parts.push(format!(
                "{first} is below {second} at {} ({worst})",
                percents(&self.below)
            ));
        }
        parts.join(", ")
    }
}

fn together(pairs: &[Pair]) -> Option<bool> {
    if pairs.iter().any(|pair| !pair.below.is_empty()) {
        return Some(false);
    }
    let is_clear = pairs.iter().all(|pair| pair.open.is_empty() && !pair.is_empty());
    is_clear.then_some(true)
}

#[cfg(test)]
mod tests {
    use super::super::super::testdata::{change, of_document, one_head};
    use super::*;
    use repscope_core::Results;

    fn of_combined(results: &Results) -> Finding {
        ordering(&Run::first(results).unwrap()).remove(0)
    }

    #[test]
    fn the_order_of_families_is_judged_at_each_percent() {
        let finding = of_combined(&of_document());
        assert_eq!(finding.holds, Some(true));
        assert_eq!(
            finding.evidence,
            "top is above random at 1 and 5 %; random is above bottom at 1 and 5 %"
        );
        let mut results = of_document();
        // The reference's own numbers: bottom 48.67 above random −3.67.
        change(&mut results, "pis.combined@bottom1", 48.67, Some([48.2, 49.1]));
        change(&mut results, "pis.combined@random1", -3.67, Some([-3.9, -3.4]));
        let finding = of_combined(&results);
        assert_eq!(finding.holds, Some(false));
        assert!(
            finding.evidence.contains(
                "random is above bottom at 5 %, random is below bottom at 1 % (random1 -3.67 [-3.90, -3.40] against bottom1 48.67 \
                 [48.20, 49.10])"
            ),
            "{}",
            finding.evidence
        );
    }

    #[test]
    fn intervals_that_overlap_leave_the_order_open() {
        let mut results = of_document();
        change(&mut results, "pis.combined@random1", 3.2, Some([3.0, 3.4]));
        let finding = of_combined(&results);
        assert_eq!(finding.holds, None);
        assert!(finding.evidence.contains("cannot be told apart at 1 %"), "{finding:?}");
        assert_eq!(of_combined(&one_head()).holds, None);
    }

    #[test]
    fn another_answer_by_the_share_that_was_masked_is_told() {
        let mut results = of_document();
        change(&mut results, "pis.combined(f=lit)@bottom5", 9.0, Some([8.9, 9.1]));
        let finding = of_combined(&results);
        assert_eq!(finding.holds, Some(true));
        assert!(
            finding
                .evidence
                .ends_with("by the share of lit pixels that was masked, it does not hold"),
            "{finding:?}"
        );
    }

    #[test]
    fn two_of_the_three_families_are_enough() {
        let mut results = of_document();
        results.scores.retain(|score| !score.metric.contains("@random"));
        let finding = of_combined(&results);
        assert_eq!(
            (finding.holds, finding.evidence.as_str()),
            (Some(true), "top is above bottom at 1 and 5 %")
        );
    }
}
