// SPDX-License-Identifier: MIT
//! Uniformity: how evenly the directions of the embeddings cover the sphere. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::{Error, Result};
use crate::kernels::prepared::unit_factors;
use crate::plan::{Need, Shared};
use crate::score::Score;
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "uniformity",
    title: "Uniformity",
    analysis: Analysis::Geometry,
    outputs: &[Output::lower("uniformity", "−4t to 0")
        .about("log mean Gaussian kernel of unit-length embeddings")
        .column("Uniformity")],
    page: include_str!("uniformity.md"),
    invariances: &[Invariance::Rotation, Invariance::Scale, Invariance::RowOrder],
    takes: &[Takes::Codes],
    options: &["t", "sample"],
    work: Work::Study { needs, compute },
};

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    if !(spec.t > 0.0 && spec.t <= 20.0) {
        return Err(Error::Input(format!(
            "t = {} must be above 0 and at most 20 (2 is usual)",
            spec.t
        )));
    }
    let exists = study.embeddings.rows() >= 2 && unit_factors(&study.embeddings).is_ok();
    Ok(if exists { vec![Need::Kernel] } else { Vec::new() })
}

fn compute(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    let undefined = |reason: String| Ok(Score::undefined("uniformity", reason, rows).into());
    if rows < 2 {
        return undefined("one row has no pairs".to_string());
    }
    if let Err(error) = unit_factors(&shared.study.embeddings) {
        return undefined(error.to_string());
    }
    let means: Vec<f64> = shared.kernel()?.iter().map(|sum| sum / (rows - 1) as f64).collect();
    let mean = interval::mean(&means);
    // Two rows share their only pair, so they do not say how it varies.
    let interval = interval::of_mean(&means, shared.units(), shared.spec.level);
    let interval = interval.filter(|_| rows > 2).map(|mut i| {
        // A mean over pairs: drawing a row anew changes its own pairs from both sides, so its variance is
        // four times that of a mean over rows; anchors share the part that comes from the rows.
        let queries = means.len() as f64;
        let widen = (1.0 + 3.0 * queries / rows as f64).sqrt();
        let reach = (i.high - mean) * widen / mean;
        i.low = mean.ln() - reach;
        i.high = (mean.ln() + reach).min(0.0);
        i.standard_error = i.standard_error.map(|s| s * widen / mean);
        i.with_effects_times(widen / mean)
    });
    let score = Score::number("uniformity", mean.ln(), means.len());
    Ok(score.with_interval(interval).into())
}
