// SPDX-License-Identifier: MIT
//! What the energies of a system say, in a few words that cannot mislead.
//!
//! A level alone says nothing: where all vectors lie in a narrow cone, every text fits every signal. So a level is never named
//! without that of shuffled pairs, and no word of the bands ("good") is used here.

use super::System;
use super::{four, reason, written};
use crate::compare::probability::probability;
use crate::numbers::number;
use crate::text::printable;

/// Matched pairs are called nearer up to this p-value, or from this many standard deviations where none was drawn.
const P: f64 = 0.05;
const Z: f64 = -1.645;
/// From this share on, a level is said to be that of shuffled pairs.
const MOSTLY: f64 = 0.5;

/// One or two sentences with a full stop each.
pub(crate) fn reading(system: &System) -> String {
    let sentences = [level(system), reference(system), centred(system)];
    let sentences = sentences.into_iter().flatten().map(|sentence| sentence + ".");
    printable(&sentences.collect::<Vec<_>>().join(" "))
}

/// Whether matched pairs are nearer than shuffled ones; `None` where that is not known.
pub(super) fn is_nearer(system: &System) -> Option<bool> {
    match system.value("p") {
        Some(p) => Some(p <= P),
        None => system.value("z").map(|z| z <= Z),
    }
}

/// How the level compares with that of shuffled pairs.
fn level(system: &System) -> Option<String> {
    let Some(matched) = system.value("alignment") else {
        return Some(format!("There is no energy: {}", reason(system.score("alignment"))));
    };
    let Some(shuffled) = system.value("shuffled") else {
        let why = reason(system.score("shuffled"));
        return Some(format!(
            "The level {} cannot be judged without shuffled pairs: {why}",
            four(matched)
        ));
    };
    let levels = format!("{} against {}", four(matched), four(shuffled));
    let Some(is_nearer) = is_nearer(system) else {
        return Some(format!(
            "Matched pairs cannot be told from shuffled ones ({levels}; {}): this score says nothing about the signal",
            reason(system.score("z"))
        ));
    };
    let z = system.value("z");
    if !is_nearer {
        let p = system.value("p").map(|p| format!("p = {}", probability(Some(p))));
        let how = p.or(z.map(|z| format!("z = {}", number(z)))).unwrap_or_default();
        return Some(if z.is_some_and(|z| z >= -Z) {
            format!(
                "Matched pairs are farther apart than shuffled ones ({levels}, {how}): check that the rows of signals and \
                 texts belong together"
            )
        } else {
            format!(
                "Matched pairs are no nearer than shuffled ones ({levels}, {how}): this score says nothing about the signal"
            )
        });
    }
    let own = four(matched - shuffled);
    let often = system.value("auc").map_or(String::new(), |auc| {
        format!(
            "; a matched pair is the nearer one in {:.1} % of comparisons (50 % by chance)",
            100.0 * auc
        )
    });
    Some(if shuffled < 0.0 && shuffled / matched >= MOSTLY {
        format!(
            "The level {} is mostly the cone that all vectors lie in: shuffled pairs have {}, so {own} belongs to the \
             signal{often}",
            four(matched),
            four(shuffled)
        )
    } else {
        format!("Matched pairs are nearer than shuffled ones ({levels}), so {own} belongs to the signal{often}")
    })
}

/// How generated texts compare with the reference.
fn reference(system: &System) -> Option<String> {
    let gap = system.score("gap")?;
    let [low, high] = gap.interval?;
    let size = written(gap);
    Some(if low > 0.0 {
        format!("Reference texts lie nearer to the signals than generated ones (gap {size})")
    } else if high < 0.0 {
        format!(
            "Generated texts lie nearer to the signals than the references (gap {size}), which is circular if they were \
             chosen by this energy"
        )
    } else {
        format!("Generated and reference texts are not told apart (gap {size})")
    })
}

/// What centering shows where the energies as they are do not.
fn centred(system: &System) -> Option<String> {
    let (z, auc) = (system.value("centred.z")?, system.value("centred.auc")?);
    (is_nearer(system) == Some(false) && z <= 2.0 * Z).then(|| {
        format!(
            "After centering they are nearer (z = {}, AUC {})",
            number(z),
            number(auc)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{change, drop_value, two_systems, without_reference};
    use super::*;
    use repscope_core::Results;

    fn said(results: &Results) -> String {
        reading(&System::all(results)[0])
    }

    #[test]
    fn a_level_that_shuffled_pairs_have_too_is_called_that_of_the_cone() {
        // -0.3985 less -0.3612 is -0.0373; -0.3612 is 91 % of the level.
        assert_eq!(
            said(&two_systems()),
            "The level -0.3985 is mostly the cone that all vectors lie in: shuffled pairs have -0.3612, so -0.0373 belongs to \
             the signal; a matched pair is the nearer one in 63.4 % of comparisons (50 % by chance). Reference texts lie \
             nearer to the signals than generated ones (gap 0.0207 [0.0107, 0.0307])."
        );
        let mut results = without_reference();
        change(&mut results, "glim", "etes.shuffled", -0.01, None);
        assert_eq!(
            said(&results),
            "Matched pairs are nearer than shuffled ones (-0.3985 against -0.0100), so -0.3885 belongs to the signal; a matched \
             pair is the nearer one in 63.4 % of comparisons (50 % by chance)."
        );
    }

    #[test]
    fn matched_pairs_that_are_no_nearer_say_nothing_about_the_signal() {
        let mut results = without_reference();
        change(&mut results, "glim", "etes.p", 0.4212, None);
        change(&mut results, "glim", "etes.z", -0.2, None);
        change(&mut results, "glim", "etes.centred.z", -1.0, None);
        assert_eq!(
            said(&results),
            "Matched pairs are no nearer than shuffled ones (-0.3985 against -0.3612, p = 0.421): this score says nothing \
             about the signal."
        );
        change(&mut results, "glim", "etes.centred.z", -8.0, None);
        assert!(said(&results).ends_with("After centering they are nearer (z = -8, AUC 0.7001)."));
        change(&mut results, "glim", "etes.z", 4.0, None);
        assert!(
            said(&results).contains("farther apart than shuffled ones"),
            "{}",
            said(&results)
        );
        // Without permutations the standard deviations decide.
        results.scores.retain(|score| score.metric != "etes.p");
        change(&mut results, "glim", "etes.z", -1.6, None);
        assert!(said(&results).contains("no nearer than shuffled ones (-0.3985 against -0.3612, z = -1.6)"));
        change(&mut results, "glim", "etes.z", -1.7, None);
        assert!(said(&results).starts_with("The level -0.3985 is mostly the cone"));
    }

    #[test]
    fn what_cannot_be_judged_is_not_judged() {
        let mut results = without_reference();
        for metric in ["etes.z", "etes.p"] {
            drop_value(&mut results, "glim", metric, "all texts are the same");
        }
        assert_eq!(
            said(&results),
            "Matched pairs cannot be told from shuffled ones (-0.3985 against -0.3612; all texts are the same): this score \
             says nothing about the signal."
        );
        drop_value(&mut results, "glim", "etes.shuffled", "one sample cannot be shuffled");
        assert_eq!(
            said(&results),
            "The level -0.3985 cannot be judged without shuffled pairs: one sample cannot be shuffled."
        );
        drop_value(&mut results, "glim", "etes.alignment", "every signal is zero");
        assert_eq!(said(&results), "There is no energy: every signal is zero.");
    }

    #[test]
    fn the_gap_is_read_by_its_interval() {
        let mut results = two_systems();
        change(&mut results, "glim", "etes.gap", 0.002, Some([-0.008, 0.012]));
        assert!(said(&results).ends_with("are not told apart (gap 0.002 [-0.008, 0.012])."));
        change(&mut results, "glim", "etes.gap", -0.02, Some([-0.03, -0.01]));
        assert!(said(&results).ends_with("which is circular if they were chosen by this energy."));
    }
}
