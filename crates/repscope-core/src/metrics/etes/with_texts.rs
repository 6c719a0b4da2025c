// SPDX-License-Identifier: MIT
//! Do energies agree with what texts score against reference texts?

use super::measured::Measured;
use crate::score::{Interval, Score};
use crate::stats::interval;
use crate::stats::rank_correlation::spearman;
use crate::texts::TextScores;

/// A score of one text.
type OfText = fn(&TextScores) -> Option<f64>;

/// What is correlated with the energy.
const PARTNERS: [(&str, OfText); 4] = [
    ("bleu", |text| text.bleu),
    ("rouge.1", |text| Some(text.rouge1)),
    ("rouge.l", |text| Some(text.rougel)),
    ("wer", |text| text.wer),
];

/// Fewer pairs than this always lie on a line.
const FEWEST: usize = 3;

/// The correlations over samples; none without texts and reference texts.
pub(super) fn correlations(measured: &Measured) -> Vec<Score> {
    let Some(texts) = measured.decoded.text_scores() else {
        return Vec::new();
    };
    let mut scores = Vec::new();
    for method in ["spearman", "pearson"] {
        for (name, of_text) in PARTNERS {
            let samples = measured.rows.iter().zip(&measured.plain.energy);
            let pairs = samples.filter_map(|(&row, &energy)| Some((energy, of_text(&texts[row])?)));
            let (energies, partners): (Vec<f64>, Vec<f64>) = pairs.unzip();
            scores.push(score(measured, method, name, &energies, &partners));
        }
    }
    scores
}

fn score(measured: &Measured, method: &str, partner: &str, energies: &[f64], partners: &[f64]) -> Score {
    let (n, level) = (energies.len(), measured.decoded.spec.level);
    let id = format!("etes.{method}(with={partner})");
    let undefined = |why: &str| Score::undefined(&id, why, n);
    if n < FEWEST {
        return undefined(&format!(
            "{n} samples have an energy and a score; give at least {FEWEST}"
        ));
    }
    let found = match method {
        "spearman" => spearman(energies, partners, level).map(|found| (found.value, found.interval)),
        _ => pearson(energies, partners).map(|r| {
            let interval = interval::of_correlation(r, n, "samples", level);
            (r, interval.map(|i| [i.low, i.high]))
        }),
    };
    let Some((value, ends)) = found else {
        return undefined(&format!("all samples have the same energy or the same {partner}"));
    };
    let interval = ends.map(|[low, high]| Interval {
        low,
        high,
        level,
        standard_error: None,
        unit: "samples",
        method: "Fisher z",
        effects: None,
    });
    // Samples of one unit are no independent pairs.
    let interval = interval.filter(|_| measured.decoded.data.units.is_none());
    let agreement = match partner {
        "wer" => "low energy and few errors are both good: agreement is positive",
        _ => "low energy is good: agreement is negative",
    };
    Score::number(&id, value, n)
        .with_interval(interval)
        .with_note(agreement)
}

/// Pearson's r; none if one of the lists is constant.
fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let (of_x, of_y) = (interval::mean(x), interval::mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (a, b) = (x - of_x, y - of_y);
        (xx, yy, xy) = (xx + a * a, yy + b * b, xy + a * b);
    }
    let is_constant = |values: &[f64]| values.iter().all(|v| *v == values[0]);
    if is_constant(x) || is_constant(y) {
        return None;
    }
    Some((xy / (xx * yy).sqrt()).clamp(-1.0, 1.0)).filter(|r| r.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pearsons_r_is_that_of_a_hand_calculation() {
        // Deviations −1, 0, 1 and −1, −1, 2: 3 / √(2 · 6).
        let r = pearson(&[1.0, 2.0, 3.0], &[4.0, 4.0, 7.0]).unwrap();
        assert!((r - 3.0 / 12f64.sqrt()).abs() < 1e-15);
        assert_eq!(pearson(&[0.1, 0.1, 0.1], &[1.0, 2.0, 3.0]), None);
    }
}
