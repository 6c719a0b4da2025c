// SPDX-License-Identifier: MIT
//! What a reader of the scores must know.

use super::super::accuracy::share;
use crate::perturb::{Judged, Perturbed};
use crate::stats::interval;

/// A share of masked pixels farther than this from the nominal one, as a part of it, is told.
const FAR: f64 = 0.5;

pub(super) fn warnings(perturbed: &Perturbed) -> Vec<String> {
    let mut warnings = Vec::new();
    if perturbed.data.sets.is_empty() {
        warnings.push("no perturbed set was given, so there is no perturbation impact score".to_string());
    }
    for judged in &perturbed.judged {
        warnings.extend(saturation(judged, perturbed));
    }
    warnings.extend(other_shares(perturbed));
    warnings
}

/// Accuracy that is at chance has nothing left to lose.
fn saturation(judged: &Judged, perturbed: &Perturbed) -> Option<String> {
    let is_at_chance = |right: &[bool]| {
        let interval = interval::of_share(share(right), right.len(), "samples", perturbed.spec.level);
        interval.is_some_and(|interval| interval.low <= judged.chance)
    };
    let (name, chance) = (judged.name, 100.0 * judged.chance);
    if is_at_chance(&judged.baseline) {
        return Some(format!(
            "{name}: accuracy without perturbation is {:.2} %, at chance ({chance:.2} %, the most frequent class); perturbation \
             cannot lower it, and its impact says nothing",
            100.0 * share(&judged.baseline)
        ));
    }
    let sets = perturbed.data.sets.iter().zip(&judged.sets);
    let lowest: Vec<String> = sets
        .filter(|(_, right)| is_at_chance(right))
        .map(|(set, right)| format!("{} ({:.2} %)", set.name, 100.0 * share(right)))
        .collect();
    (!lowest.is_empty()).then(|| {
        format!(
            "{name}: accuracy is at chance ({chance:.2} %, the most frequent class) in {} of {} sets, and more masking cannot \
             lower it: {}",
            lowest.len(),
            judged.sets.len(),
            lowest.join(", ")
        )
    })
}

/// Masks by threshold take more than their percentage where pixels are equal.
fn other_shares(perturbed: &Perturbed) -> Option<String> {
    let sets = &perturbed.data.sets;
    let far: Vec<String> = sets
        .iter()
        .filter_map(|set| Some((set, set.masked_lit?)))
        .filter(|(set, masked)| (100.0 * masked / set.percent - 1.0).abs() > FAR)
        .map(|(set, masked)| format!("{} ({:.2} %)", set.name, 100.0 * masked))
        .collect();
    (!far.is_empty()).then(|| {
        format!(
            "{} of {} sets masked another share of the lit pixels than their percentage says: {}; pis divides by the percentage, \
             pis(f=lit) by what was masked",
            far.len(),
            sets.len(),
            far.join(", ")
        )
    })
}
