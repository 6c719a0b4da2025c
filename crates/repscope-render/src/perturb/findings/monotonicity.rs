// SPDX-License-Identifier: MIT
//! Do scores fall with the strength of a perturbation? Asked beyond the intervals: what lies within them is noise. Intervals of
//! the same samples lie farther apart than the error of their difference asks for, so a rise that is called one is one.

use super::super::{Run, Set, written};
use super::{Finding, and, percents};
use crate::numbers::number;
use crate::table::NONE;
use repscope_core::Score;

/// Do the scores of a family fall, or stay, from the weakest to the strongest, for every head?
pub(super) fn monotonicity(run: &Run, family: &str) -> Finding {
    let check = format!("monotonicity of {family}");
    let sets = run.of_family(family);
    if let [one] = sets.as_slice() {
        return Finding::new(check, None, format!("{} is its only strength", one.name));
    }
    let mut rises = Vec::new();
    let mut is_open = false;
    for head in &run.heads {
        let scores: Vec<(&Set, Option<&Score>)> = sets.iter().map(|set| (*set, run.pis(head, "", &set.name))).collect();
        is_open |= scores.iter().any(|(_, score)| score.and_then(|s| s.interval).is_none());
        rises.extend(largest_rise(head, &scores));
    }
    let leading = run.leading();
    let value = |set: &&Set| {
        let score = run.pis(leading, "", &set.name);
        score.and_then(|score| score.value).map_or(NONE.to_string(), number)
    };
    let values: Vec<String> = sets.iter().map(value).collect();
    let strengths: Vec<f64> = sets.iter().map(|set| set.percent).collect();
    let told = format!("{leading} {} at {}", values.join(", "), percents(&strengths));
    match (rises.is_empty(), is_open) {
        (false, _) => Finding::new(
            check,
            Some(false),
            format!("{told}; rises beyond the intervals: {}", and(&rises)),
        ),
        (true, true) => Finding::new(check, None, format!("{told}; not every score has an interval")),
        (true, false) => Finding::new(check, Some(true), format!("{told}; no head rises beyond the intervals")),
    }
}

/// The two strengths of which the stronger scores most above the weaker, where intervals lie apart.
fn largest_rise(head: &str, scores: &[(&Set, Option<&Score>)]) -> Option<String> {
    let known: Vec<(&Set, f64, [f64; 2])> = scores
        .iter()
        .filter_map(|(set, score)| Some((*set, score.as_ref()?.value?, score.as_ref()?.interval?)))
        .collect();
    let mut largest: Option<(f64, usize, usize)> = None;
    for (later, (_, _, [low, _])) in known.iter().enumerate() {
        for (earlier, (_, _, [_, high])) in known[..later].iter().enumerate() {
            let gap = low - high;
            if gap > largest.map_or(0.0, |(gap, _, _)| gap) {
                largest = Some((gap, earlier, later));
            }
        }
    }
    let (_, earlier, later) = largest?;
    let of = |place: usize| {
        let (set, value, interval) = &known[place];
        format!("{} {}", set.name, written(*value, Some(*interval)))
    };
    Some(format!("{head} from {} to {}", of(earlier), of(later)))
}

#[cfg(test)]
mod tests {
    use super::super::super::testdata::{change, of_document, one_head};
    use super::*;
    use repscope_core::Results;

    fn of_family(results: &Results, family: &str) -> Finding {
        monotonicity(&Run::first(results).unwrap(), family)
    }

    #[test]
    fn a_rise_beyond_the_intervals_breaks_monotonicity() {
        let finding = of_family(&of_document(), "top");
        assert_eq!(finding.holds, Some(false));
        assert_eq!(
            finding.evidence,
            "combined 3.26, 7.2 at 1 and 5 %; rises beyond the intervals: combined from top1 3.26 [3.06, 3.46] to top5 7.200 \
             [7.160, 7.240], modulation from top1 4.39 [4.19, 4.59] to top5 6.000 [5.960, 6.040] and snr from top1 3.71 [3.51, \
             3.91] to top5 5.000 [4.960, 5.040]"
        );
        let finding = of_family(&of_document(), "bottom");
        assert_eq!(finding.holds, Some(true));
        assert_eq!(
            finding.evidence,
            "combined 0.8, 0.3 at 1 and 5 %; no head rises beyond the intervals"
        );
    }

    #[test]
    fn a_rise_within_the_intervals_is_noise() {
        let mut results = of_document();
        // From 0.8 [0.6, 1.0] up to 0.9 [0.86, 0.94].
        change(&mut results, "pis.combined@bottom5", 0.9, Some([0.86, 0.94]));
        assert_eq!(of_family(&results, "bottom").holds, Some(true));
        change(&mut results, "pis.combined@bottom5", 1.1, Some([1.06, 1.14]));
        assert_eq!(of_family(&results, "bottom").holds, Some(false));
        change(&mut results, "pis.combined@bottom5", 1.1, None);
        assert_eq!(of_family(&results, "bottom").holds, None);
        assert_eq!(of_family(&one_head(), "top").holds, None);
    }
}
