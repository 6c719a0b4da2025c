// SPDX-License-Identifier: MIT
//! Alpha-ReQ: how fast the eigenvalues fall, as the exponent of a power law. See the page.

use super::participation_ratio::NO_VARIANCE;
use super::rankme::{needs, score};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::error::Result;
use crate::kernels::singular::{Function, Values};
use crate::plan::Shared;
use crate::score::Score;

pub(super) static METRIC: Metric = Metric {
    id: "alpha_req",
    title: "Alpha-ReQ",
    analysis: Analysis::Rankme,
    outputs: &[
        Output::neither("alpha_req", "any number; about 1 is often best")
            .about("exponent of the power law that the eigenvalues follow")
            .column("Alpha_ReQ"),
        Output::neither("alpha_req.r2", "0 to 1")
            .about("how well they follow it")
            .column("Alpha_ReQ_R2"),
    ],
    page: include_str!("alpha_req.md"),
    invariances: Invariance::SIMILARITY,
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

/// The first and last eigenvalue of the fit, counted from 1, and the fewest that it needs.
const FIRST: usize = 11;
const LAST: usize = 100;
const FEWEST: usize = 10;

/// The exponent.
pub(super) const EXPONENT: Function = ("alpha_req", |singular| Some(-fit(singular).ok()?.0));
/// How well the line fits.
pub(super) const R2: Function = ("alpha_req.r2", |singular| fit(singular).ok()?.1);

fn compute(shared: &Shared) -> Result<Results> {
    let singular = &shared.singular()?.centred;
    let reason = match fit(singular) {
        Err(reason) => reason,
        Ok(_) => "the eigenvalues of the fit are all equal".to_string(),
    };
    let note = format!("fit over eigenvalues {FIRST} to {}, weights 1/j", last(singular));
    let with_note = |score: Score| match score.value {
        Some(_) => score.with_note(note.clone()),
        None => score,
    };
    let exponent = score(EXPONENT, singular, [f64::MIN, f64::MAX], &reason, shared);
    let r2 = score(R2, singular, [0.0, 1.0], &reason, shared);
    Ok(Results::from(vec![with_note(exponent), with_note(r2)]))
}

/// The last eigenvalue of the fit. Centering takes one direction away.
fn last(singular: &Values) -> usize {
    LAST.min(singular.d.min(singular.n.saturating_sub(1)))
}

/// Slope and R² of ln λ_j on ln j, or why there are none.
fn fit(singular: &Values) -> std::result::Result<(f64, Option<f64>), String> {
    let last = last(singular);
    let largest = singular.values.first().copied().unwrap_or(0.0);
    if largest == 0.0 {
        return Err(NO_VARIANCE.to_string());
    }
    if last + 1 < FIRST + FEWEST {
        return Err(format!(
            "the fit takes eigenvalues {FIRST} to {LAST}, at least {FEWEST} of them, and there are {last}"
        ));
    }
    let tail = &singular.values[FIRST - 1..last];
    if tail.iter().any(|&s| singular.is_rounding(s)) {
        return Err(format!(
            "the embeddings fill fewer than {last} dimensions: eigenvalues in the range of the fit are 0"
        ));
    }
    let points = tail
        .iter()
        .enumerate()
        .map(|(i, s)| ((FIRST + i) as f64, 2.0 * (s / largest).ln()));
    Ok(weighted_fit(points.map(|(j, y)| (j.ln(), y, 1.0 / j)).collect()))
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
