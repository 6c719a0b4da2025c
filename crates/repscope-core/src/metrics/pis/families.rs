// SPDX-License-Identifier: MIT
//! One number for all strengths of a perturbation.

use crate::data::PerturbedSet;
use crate::perturb::{Judged, Perturbed};
use crate::score::Score;
use crate::stats::interval::{self, Units};

/// Mean, AOPC and deletion area of each family, in the order in which families appear.
pub(super) fn scores(perturbed: &Perturbed, judged: &Judged) -> Vec<Score> {
    let sets = &perturbed.data.sets;
    let mut families: Vec<&str> = Vec::new();
    for set in sets {
        if !families.contains(&set.family.as_str()) {
            families.push(&set.family);
        }
    }
    let mut scores = Vec::new();
    for family in families {
        let mut members: Vec<usize> = (0..sets.len()).filter(|&i| sets[i].family == family).collect();
        members.sort_by(|&a, &b| sets[a].percent.total_cmp(&sets[b].percent));
        let ordered: Vec<&PerturbedSet> = members.iter().map(|&i| &sets[i]).collect();
        let right: Vec<&[bool]> = std::iter::once(&judged.baseline)
            .chain(members.iter().map(|&i| &judged.sets[i]))
            .map(Vec::as_slice)
            .collect();
        for (part, weights) in [
            ("mean", of_mean(&ordered)),
            ("aopc", of_aopc(&ordered)),
            ("deletion", of_deletion(&ordered)),
        ] {
            let values = weighted(&right, &weights);
            let interval = interval::of_mean(&values, Units::Single("samples"), perturbed.spec.level);
            let id = format!("pis.{}.{part}@{family}", judged.name);
            let score = Score::number(id, interval::mean(&values), values.len());
            scores.push(score.with_interval(interval));
        }
    }
    scores
}

/// What each sample contributes: its weights where it is right, without perturbation first.
fn weighted(right: &[&[bool]], weights: &[f64]) -> Vec<f64> {
    let mut values = vec![0.0; right[0].len()];
    for (right, weight) in right.iter().zip(weights) {
        let pairs = values.iter_mut().zip(*right);
        pairs.for_each(|(value, &is_right)| *value += if is_right { *weight } else { 0.0 });
    }
    values
}

/// The mean over strengths of the accuracy lost divided by the share.
fn of_mean(sets: &[&PerturbedSet]) -> Vec<f64> {
    let of_set = sets.iter().map(|set| -100.0 / set.percent / sets.len() as f64);
    let mut weights = vec![0.0];
    weights.extend(of_set);
    weights[0] = -weights.iter().sum::<f64>();
    weights
}

/// The mean over strengths of the accuracy lost; strength 0, where nothing is lost, counts too.
fn of_aopc(sets: &[&PerturbedSet]) -> Vec<f64> {
    let steps = sets.len() as f64 + 1.0;
    let mut weights = vec![-1.0 / steps; sets.len() + 1];
    weights[0] = sets.len() as f64 / steps;
    weights
}

/// The area under the accuracy by trapezoids from strength 0 to the largest, divided by the largest.
fn of_deletion(sets: &[&PerturbedSet]) -> Vec<f64> {
    let mut strengths = vec![0.0];
    strengths.extend(sets.iter().map(|set| set.percent));
    let last = strengths[sets.len()];
    let mut weights = vec![0.0; strengths.len()];
    for (i, pair) in strengths.windows(2).enumerate() {
        let half = (pair[1] - pair[0]) / last / 2.0;
        weights[i] += half;
        weights[i + 1] += half;
    }
    weights
}
