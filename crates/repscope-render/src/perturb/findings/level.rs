// SPDX-License-Identifier: MIT
//! Is anything better with its inputs masked, and is there accuracy left to lose?

use super::super::{Run, written};
use super::Finding;
use crate::numbers::number;

/// So many sets are named before the rest is counted.
const MOST_NAMED: usize = 5;

/// Is there a score below 0, beyond noise? An effect of nothing scores below 0 half of the time.
pub(super) fn sanity(run: &Run) -> Finding {
    let (mut beyond, mut within, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut scores = 0;
    for head in &run.heads {
        for set in &run.sets {
            let score = run.pis(head, "", &set.name);
            let Some((value, interval)) = score.and_then(|score| Some((score.value?, score.interval))) else {
                continue;
            };
            scores += 1;
            let words = format!("{head} at {} {}", set.name, written(value, interval));
            match interval {
                _ if value >= 0.0 => {}
                Some([_, high]) if high < 0.0 => beyond.push(words),
                Some(_) => within.push(words),
                None => open.push(words),
            }
        }
    }
    let check = "sanity";
    let mut parts = Vec::new();
    if !beyond.is_empty() {
        parts.push(format!("below 0 beyond the intervals: {}", named(&beyond)));
    }
    if !within.is_empty() {
        parts.push(format!("below 0 within noise: {}", named(&within)));
    }
    if !open.is_empty() {
        parts.push(format!("below 0 without an interval: {}", named(&open)));
    }
    match (scores, beyond.is_empty(), open.is_empty()) {
        (0, _, _) => Finding::new(check, None, "there are no scores"),
        (_, false, _) => Finding::new(check, Some(false), parts.join("; ")),
        (_, _, false) => Finding::new(check, None, parts.join("; ")),
        _ if parts.is_empty() => Finding::new(check, Some(true), format!("none of {scores} scores is below 0")),
        _ => Finding::new(check, Some(true), parts.join("; ")),
    }
}

/// Is accuracy above chance everywhere? At chance there is nothing left to lose, and scores fall as 1 / percent.
pub(super) fn saturation(run: &Run) -> Finding {
    let check = "saturation";
    let mut at_chance = Vec::new();
    let mut judged = 0;
    for head in &run.heads {
        let baseline = run.baseline(head).map(|score| ("baseline", score));
        let sets = run.sets.iter();
        let sets = sets.filter_map(|set| Some((set.name.as_str(), run.accuracy(head, &set.name)?)));
        for (name, score) in baseline.into_iter().chain(sets) {
            let (Some(value), Some(interval), Some(chance)) = (score.value, score.interval, score.chance) else {
                continue;
            };
            judged += 1;
            if interval[0] <= chance {
                let value = written(value, Some(interval));
                at_chance.push(format!("{head} at {name} {value}, chance {}", number(chance)));
            }
        }
    }
    match (judged, at_chance.is_empty()) {
        (0, _) => Finding::new(check, None, "no accuracy has a chance level to compare with"),
        (_, true) => Finding::new(check, Some(true), "accuracy is above chance in every set"),
        (_, false) => Finding::new(
            check,
            Some(false),
            format!("at chance, where more masking cannot lower it: {}", named(&at_chance)),
        ),
    }
}

fn named(items: &[String]) -> String {
    let shown = items[..items.len().min(MOST_NAMED)].join("; ");
    match items.len().saturating_sub(MOST_NAMED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testdata::{change, of_document};
    use super::*;
    use repscope_core::Results;

    fn sane(results: &Results) -> Finding {
        sanity(&Run::first(results).unwrap())
    }

    #[test]
    fn a_negative_score_breaks_sanity_only_beyond_noise() {
        let mut results = of_document();
        assert_eq!(sane(&results).evidence, "none of 18 scores is below 0");
        change(&mut results, "pis.snr@bottom1", -0.1, Some([-0.3, 0.1]));
        let finding = sane(&results);
        assert_eq!(finding.holds, Some(true));
        assert_eq!(
            finding.evidence,
            "below 0 within noise: snr at bottom1 -0.10 [-0.30, 0.10]"
        );
        change(&mut results, "pis.combined@random1", -3.67, Some([-3.9, -3.4]));
        let finding = sane(&results);
        assert_eq!(finding.holds, Some(false));
        assert!(
            finding
                .evidence
                .starts_with("below 0 beyond the intervals: combined at random1 -3.67 [-3.90, -3.40]; below 0 within"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_negative_score_without_an_interval_is_open() {
        let mut results = of_document();
        change(&mut results, "pis.snr@bottom1", -0.1, None);
        assert_eq!(sane(&results).holds, None);
        assert_eq!(
            sane(&Results {
                scores: results.scores[..2].to_vec(),
                ..Results::default()
            })
            .holds,
            None
        );
    }

    #[test]
    fn accuracy_at_chance_is_named() {
        let mut results = of_document();
        let of = |results: &Results| saturation(&Run::first(results).unwrap());
        assert_eq!(of(&results).holds, Some(true));
        change(&mut results, "accuracy.snr@top5", 0.068, Some([0.065, 0.071]));
        let finding = of(&results);
        assert_eq!(finding.holds, Some(false));
        assert!(
            finding
                .evidence
                .ends_with("snr at top5 0.0680 [0.0650, 0.0710], chance 0.0667"),
            "{finding:?}"
        );
    }

    #[test]
    fn long_lists_are_cut() {
        let items: Vec<String> = (0..7).map(|i| i.to_string()).collect();
        assert_eq!(named(&items), "0; 1; 2; 3; 4; and 2 more");
    }
}
