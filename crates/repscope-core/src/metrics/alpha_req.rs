// SPDX-License-Identifier: MIT
//! Alpha-ReQ: how fast the eigenvalues fall, as the exponent of a power law. See the page.

use super::participation_ratio::NO_VARIANCE;
use super::rankme::needs;
use super::{Analysis, Answer, Invariance, Metric, Output, Work};
use crate::error::Result;
use crate::plan::Shared;
use crate::score::{Better, Score};

pub(super) static METRIC: Metric = Metric {
    id: "alpha_req",
    title: "Alpha-ReQ",
    analysis: Analysis::Rankme,
    outputs: &[
        Output {
            id: "alpha_req",
            about: "exponent of the power law that the eigenvalues follow",
            better: Better::Neither,
            range: "any number; about 1 is often best",
        },
        Output {
            id: "alpha_req.r2",
            about: "how well they follow it",
            better: Better::Neither,
            range: "0 to 1",
        },
    ],
    page: include_str!("alpha_req.md"),
    invariances: Invariance::SIMILARITY,
    work: Work::Study { needs, compute },
};

/// The first and last eigenvalue of the fit, counted from 1, and the fewest that it needs.
const FIRST: usize = 11;
const LAST: usize = 100;
const FEWEST: usize = 10;

fn compute(shared: &Shared) -> Result<Answer> {
    let values = &shared.singular()?.centred;
    let (n, d) = (shared.study.latent.rows(), shared.study.latent.columns());
    // Centring takes one direction away.
    let last = LAST.min(d.min(n.saturating_sub(1)));
    let ids = ["alpha_req", "alpha_req.r2"];
    let undefined = |reason: String| Answer {
        scores: ids
            .map(|id| Score::undefined(id, reason.clone(), n, Better::Neither))
            .to_vec(),
        ..Answer::default()
    };
    let largest = values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return Ok(undefined(NO_VARIANCE.to_string()));
    }
    if last + 1 < FIRST + FEWEST {
        return Ok(undefined(format!(
            "the fit takes eigenvalues {FIRST} to {LAST}, at least {FEWEST} of them, and there are {last}"
        )));
    }
    let tail = &values[FIRST - 1..last];
    if tail.iter().any(|&s| is_rounding(s, largest, n, d)) {
        return Ok(undefined(format!(
            "the codes fill fewer than {last} dimensions: eigenvalues in the range of the fit are 0"
        )));
    }
    let points = tail
        .iter()
        .enumerate()
        .map(|(i, s)| ((FIRST + i) as f64, 2.0 * (s / largest).ln()));
    let (slope, r2) = weighted_fit(points.map(|(j, y)| (j.ln(), y, 1.0 / j)).collect());
    let note = format!("fit over eigenvalues {FIRST} to {last}, weights 1/j");
    Ok(Answer {
        scores: vec![
            Score::number(ids[0], -slope, n, Better::Neither).with_note(note.clone()),
            match r2 {
                Some(r2) => Score::number(ids[1], r2, n, Better::Neither).with_note(note),
                None => Score::undefined(ids[1], "the eigenvalues of the fit are all equal", n, Better::Neither),
            },
        ],
        ..Answer::default()
    })
}

/// Whether a singular value is no more than rounding of the largest.
pub(super) fn is_rounding(value: f64, largest: f64, rows: usize, columns: usize) -> bool {
    value <= largest * rows.max(columns) as f64 * f64::EPSILON
}

/// Slope and R² of a least-squares line through (x, y, weight); no R² where all y are equal.
fn weighted_fit(points: Vec<(f64, f64, f64)>) -> (f64, Option<f64>) {
    let total: f64 = points.iter().map(|p| p.2).sum();
    let mean = |of: fn(&(f64, f64, f64)) -> f64| points.iter().map(|p| p.2 * of(p)).sum::<f64>() / total;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| p.2 * of(p.0 - mx, p.1 - my)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    // Equal eigenvalues differ by rounding alone: there is no spread that a line could explain.
    let r2 = (yy > total * 1e-24).then(|| xy * xy / (xx * yy));
    (xy / xx, r2)
}
