// SPDX-License-Identifier: MIT
//! How high precision is: the thresholds of label retrieval, held against chance level, ceiling and interval.

use super::{Measured, NO_CEILING, telling_ks};
use crate::numbers::{percent, rough};
use crate::retrieval::Part;

/// Document 001 calls more than this high, and less than that low. The same numbers serve for what is left after chance
/// and ceiling are taken into account: on a scale from chance (0) to ceiling (1).
const HIGH: f64 = 0.6;
const LOW: f64 = 0.3;

/// How high precision is at the smallest K.
pub(super) fn level(part: &Part<'_>) -> Option<String> {
    let title = part.title();
    let mut all = part.ks(|measure| measure == "label_precision");
    all.sort_unstable();
    let smallest = *all.first()?;
    let Some(&k) = telling_ks(part).first() else {
        let score = part.at("label_precision", smallest)?;
        let why = match (score.value, &score.reason) {
            (None, Some(reason)) => reason.clone(),
            _ => format!("K = {smallest} takes in every target, so precision is the same for any order"),
        };
        return Some(format!("{title} cannot be judged: {why}."));
    };
    let score = part.at("label_precision", k)?;
    let Some(precision) = Measured::new(Some(score)) else {
        let reason = score.reason.as_deref().unwrap_or("no reason was recorded");
        return Some(format!("{title} cannot be judged: {reason}."));
    };
    let is = format!("{title} has a precision of {} at K = {k}", precision.text());
    let ceiling = part.at("label_precision.ceiling", k).and_then(|score| score.value);
    let Some(chance) = precision.chance() else {
        return Some(format!("{is}, {}.", grade(&precision)));
    };
    let by_chance = rough(chance);
    if precision.high < chance {
        return Some(format!("{is}, which is below chance ({by_chance})."));
    }
    if !precision.is_above_chance() {
        let why = if precision.has_interval() {
            "its interval holds the chance level"
        } else {
            "that is"
        };
        return Some(format!(
            "{is}, which is not shown to be better than chance: {why} {by_chance}."
        ));
    }
    let top = ceiling.unwrap_or(1.0);
    let share = (precision.value - chance) / (top - chance);
    if precision.value > HIGH && share < LOW {
        let way = percent((share * 100.0).round() / 100.0);
        return Some(format!(
            "{is}, above {HIGH} but mostly by chance ({by_chance}): {way} of the way from there to the ceiling ({}).",
            rough(top)
        ));
    }
    let ceiling = ceiling.filter(|ceiling| *ceiling < NO_CEILING);
    let normalized = Measured::new(part.at("label_precision.normalized", k));
    if let (Some(ceiling), Some(normalized)) = (ceiling, normalized.filter(|_| precision.value < LOW)) {
        let beyond_chance = normalized
            .chance()
            .map_or(normalized.value, |c| (normalized.value - c) / (1.0 - c));
        if beyond_chance > HIGH {
            return Some(format!(
                "{is}, below {LOW} because few targets share a query's label: the ceiling is {}, and normalized by it \
                 precision is {}{}.",
                rough(ceiling),
                normalized.short(),
                normalized
                    .chance()
                    .map_or(String::new(), |c| format!(" (chance {})", rough(c)))
            ));
        }
    }
    let ceiling = ceiling.map_or(String::new(), |ceiling| format!(", ceiling {}", rough(ceiling)));
    let lift = part.at("label_precision.lift", k).and_then(|score| score.value);
    let lift = rough(lift.unwrap_or(precision.value / chance));
    Some(format!(
        "{is}, {}: {lift} times chance ({by_chance}){ceiling}.",
        grade(&precision)
    ))
}

/// Where the whole interval lies on their scale.
fn grade(precision: &Measured<'_>) -> String {
    let (low, high) = (precision.low, precision.high);
    if low > HIGH {
        format!("high (above {HIGH})")
    } else if high < LOW {
        format!("low (below {LOW})")
    } else if low >= LOW && high <= HIGH {
        format!("neither high (above {HIGH}) nor low (below {LOW})")
    } else if low >= LOW {
        format!("around {HIGH}")
    } else if high <= HIGH {
        format!("around {LOW}")
    } else {
        "too uncertain to be called high or low".to_string()
    }
}

#[cfg(test)]
mod tests {
    use crate::retrieval::readings::tests::readings;
    use crate::testdata::{plain, share};
    use repscope_core::Score;

    /// The one sentence on a precision at K = 10 with this ceiling and normalized value.
    fn on_level(precision: Score, ceiling: f64, normalized: Score) -> String {
        let ceiling = plain("label_precision.a2b.ceiling@10", ceiling);
        let sentences = readings(vec![precision, ceiling, normalized]);
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        sentences.concat()
    }

    fn precision(value: f64, half_width: f64, chance: f64) -> Score {
        share("label_precision.a2b@10", value, half_width, chance)
    }

    fn normalized(value: f64, chance: f64) -> Score {
        share("label_precision.a2b.normalized@10", value, 0.01, chance)
    }

    #[test]
    fn a_high_value_near_its_chance_level_is_not_called_good() {
        // (0.65 − 0.6) / (1 − 0.6) = 0.125.
        assert_eq!(
            on_level(precision(0.65, 0.01, 0.6), 1.0, normalized(0.65, 0.6)),
            "A → B has a precision of 0.650 [0.640, 0.660] at K = 10, above 0.6 but mostly by chance (0.6): 13 % of the \
             way from there to the ceiling (1)."
        );
        let text = on_level(precision(0.65, 0.06, 0.6), 1.0, normalized(0.65, 0.6));
        assert!(text.ends_with("not shown to be better than chance: its interval holds the chance level 0.6."));
        let text = on_level(precision(0.05, 0.01, 0.1), 1.0, normalized(0.05, 0.1));
        assert!(text.ends_with("which is below chance (0.1)."), "{text}");
    }

    #[test]
    fn a_low_value_under_a_low_ceiling_is_said_to_be_so() {
        assert_eq!(
            on_level(precision(0.27, 0.003, 0.01), 0.3, normalized(0.9, 0.033)),
            "A → B has a precision of 0.2700 [0.2670, 0.2730] at K = 10, below 0.3 because few targets share a query's \
             label: the ceiling is 0.3, and normalized by it precision is 0.900 (chance 0.033)."
        );
        // Normalized precision is high by chance too: the ceiling explains nothing.
        let text = on_level(precision(0.27, 0.003, 0.25), 0.3, normalized(0.9, 0.83));
        assert!(
            text.ends_with("low (below 0.3): 1.1 times chance (0.25), ceiling 0.3."),
            "{text}"
        );
    }

    #[test]
    fn an_interval_across_a_threshold_is_not_graded_as_beyond_it() {
        let cases = [
            (0.61, 0.02, "around 0.6"),
            (0.31, 0.02, "around 0.3"),
            (0.45, 0.02, "neither high (above 0.6) nor low (below 0.3)"),
            (0.2, 0.02, "low (below 0.3)"),
            (0.45, 0.2, "too uncertain to be called high or low"),
        ];
        for (value, half_width, grade) in cases {
            let text = on_level(precision(value, half_width, 0.1), 1.0, normalized(value, 0.1));
            assert!(text.contains(&format!(", {grade}: ")), "{text}");
        }
    }
}
