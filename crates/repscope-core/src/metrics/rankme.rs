// SPDX-License-Identifier: MIT
//! RankMe: the exponential of the entropy of the spectrum, as the CLID / RankMe analysis and as the paper compute it. See the page.

use super::participation_ratio::{FEWEST, NO_VARIANCE};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::singular::{Function, Values};
use crate::plan::{Need, Shared};
use crate::score::Score;
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "rankme",
    title: "RankMe",
    analysis: Analysis::Rankme,
    outputs: &[
        Output::neither("rankme(variant=spec)", "1 to min(N, D)")
            .about("the CLID / RankMe analysis: entropy of squared singular values of the centered embeddings")
            .column("RankMe_Spec"),
        Output::neither("rankme(variant=paper)", "1 to min(N, D)")
            .about("Garrido et al. 2023: entropy of singular values of the embeddings as they are")
            .column("RankMe_Paper"),
    ],
    page: include_str!("rankme.md"),
    // The paper's variant does not center, so a shift changes it.
    invariances: &[Invariance::Rotation, Invariance::Scale, Invariance::RowOrder],
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

/// Added inside the logarithm, as the CLID / RankMe analysis does.
const SPEC_EPS: f64 = 1e-12;
/// Added to each share after normalising, as the paper does.
const PAPER_EPS: f64 = 1e-7;

pub(super) fn needs(_: &Spec, _: &Study) -> Result<Vec<Need>> {
    Ok(vec![Need::Singular])
}

/// Document 002's.
pub(super) const SPEC: Function = ("rankme(variant=spec)", |singular| {
    let shares = shares(&singular.values.iter().map(|s| s * s).collect::<Vec<_>>())?;
    Some((-shares.iter().map(|p| p * (p + SPEC_EPS).ln()).sum::<f64>()).exp())
});

/// The paper's.
pub(super) const PAPER: Function = ("rankme(variant=paper)", |singular| {
    let shares = shares(&singular.values)?;
    Some(
        (-shares
            .iter()
            .map(|p| (p + PAPER_EPS) * (p + PAPER_EPS).ln())
            .sum::<f64>())
        .exp(),
    )
});

fn compute(shared: &Shared) -> Result<Results> {
    let singular = shared.singular()?;
    let most = bound(shared);
    let note = |score: Score, note: &str| match score.value {
        Some(_) => score.with_note(format!("{note}; {most}")),
        None => score,
    };
    let spec = score(SPEC, &singular.centred, [0.0, f64::MAX], NO_VARIANCE, shared);
    let paper = score(PAPER, &singular.raw, [0.0, f64::MAX], "all embeddings are zero", shared);
    Ok(Results::from(vec![
        note(
            spec,
            "the CLID / RankMe analysis's RankMe: squared singular values, centered; the effective rank of the covariance",
        ),
        note(paper, "the published RankMe: singular values, not centered, eps = 1e-7"),
    ]))
}

/// The score of a function of singular values, with Student's t over what each row does to it, cut to where it can be.
pub(super) fn score(
    function: Function,
    singular: &Values,
    [least, most]: [f64; 2],
    reason: &str,
    shared: &Shared,
) -> Score {
    let (id, value) = (function.0, (function.1)(singular));
    let Some(value) = value else {
        return Score::undefined(id, reason, singular.n);
    };
    let effects = singular.effects(id).filter(|effects| effects.len() >= FEWEST);
    let interval =
        effects.and_then(|e| interval::from_rows(value, e, shared.row_units(), "influence", shared.spec.level));
    Score::number(id, value, singular.n).with_interval(interval.map(|i| i.within(least, most)))
}

/// How large a rank can be here, in words.
pub(super) fn bound(shared: &Shared) -> String {
    let (n, d) = (shared.study.embeddings.rows(), shared.study.embeddings.columns());
    format!("at most min(N, D) = {}", n.min(d))
}

/// The values divided by their sum; none where all are 0.
fn shares(values: &[f64]) -> Option<Vec<f64>> {
    let sum: f64 = values.iter().sum();
    (sum > 0.0).then(|| values.iter().map(|v| v / sum).collect())
}
