// SPDX-License-Identifier: MIT
//! RankMe: the exponential of the entropy of the spectrum, as document 002 and as the paper compute it. See the page.

use super::participation_ratio::NO_VARIANCE;
use super::{Analysis, Answer, Invariance, Metric, Output, Work};
use crate::data::Study;
use crate::error::Result;
use crate::plan::{Need, Shared};
use crate::score::{Better, Score};
use crate::spec::Spec;

pub(super) static METRIC: Metric = Metric {
    id: "rankme",
    title: "RankMe",
    analysis: Analysis::Rankme,
    outputs: &[
        Output {
            id: "rankme(variant=spec)",
            about: "document 002: entropy of squared singular values of the centred codes",
            better: Better::Neither,
            range: "1 to min(N, D)",
        },
        Output {
            id: "rankme(variant=paper)",
            about: "Garrido et al. 2023: entropy of singular values of the codes as they are",
            better: Better::Neither,
            range: "1 to min(N, D)",
        },
    ],
    page: include_str!("rankme.md"),
    // The paper's variant does not centre, so a shift changes it.
    invariances: &[Invariance::Rotation, Invariance::Scale, Invariance::RowOrder],
    work: Work::Study { needs, compute },
};

/// Added inside the logarithm, as document 002 does.
const SPEC_EPS: f64 = 1e-12;
/// Added to each share after normalising, as the paper does.
const PAPER_EPS: f64 = 1e-7;

pub(super) fn needs(_: &Spec, _: &Study) -> Result<Vec<Need>> {
    Ok(vec![Need::Singular])
}

fn compute(shared: &Shared) -> Result<Answer> {
    let singular = shared.singular()?;
    let n = shared.study.latent.rows();
    let most = bound(shared);
    let score = |id: &str, value: Option<f64>, reason: &str, note: &str| match value {
        Some(value) => Score::number(id, value, n, Better::Neither).with_note(format!("{note}; {most}")),
        None => Score::undefined(id, reason, n, Better::Neither),
    };
    let squares: Vec<f64> = shares(&singular.centred.iter().map(|s| s * s).collect::<Vec<_>>());
    let spec = (!squares.is_empty()).then(|| (-squares.iter().map(|p| p * (p + SPEC_EPS).ln()).sum::<f64>()).exp());
    let plain: Vec<f64> = shares(&singular.raw).iter().map(|p| p + PAPER_EPS).collect();
    let paper = (!plain.is_empty()).then(|| (-plain.iter().map(|p| p * p.ln()).sum::<f64>()).exp());
    Ok(Answer {
        scores: vec![
            score(
                "rankme(variant=spec)",
                spec,
                NO_VARIANCE,
                "document 002's RankMe: squared singular values, centred; the effective rank of the covariance",
            ),
            score(
                "rankme(variant=paper)",
                paper,
                "all codes are zero",
                "the published RankMe: singular values, not centred, eps = 1e-7",
            ),
        ],
        ..Answer::default()
    })
}

/// How large a rank can be here, in words.
pub(super) fn bound(shared: &Shared) -> String {
    let (n, d) = (shared.study.latent.rows(), shared.study.latent.columns());
    format!("at most min(N, D) = {}", n.min(d))
}

/// The values divided by their sum; none where all are 0.
fn shares(values: &[f64]) -> Vec<f64> {
    let sum: f64 = values.iter().sum();
    if sum > 0.0 {
        values.iter().map(|v| v / sum).collect()
    } else {
        Vec::new()
    }
}
