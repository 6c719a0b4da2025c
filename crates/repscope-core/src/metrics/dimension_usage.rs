// SPDX-License-Identifier: MIT
//! Dimension usage: the participation ratio as a share of the dimensions. See the page.

use super::participation_ratio::{NO_VARIANCE, needs, ratio};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::error::Result;
use crate::plan::Shared;
use crate::score::{Interval, Score};

pub(super) static METRIC: Metric = Metric {
    id: "dimension_usage",
    title: "Dimension usage",
    analysis: Analysis::Manifold,
    outputs: &[Output::neither("dimension_usage", "1/D to 1").about("participation ratio divided by D")],
    page: include_str!("dimension_usage.md"),
    invariances: Invariance::SIMILARITY,
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

fn compute(shared: &Shared) -> Result<Results> {
    let (n, d) = (shared.study.embeddings.rows(), shared.study.embeddings.columns() as f64);
    let Some((value, interval)) = ratio(shared)? else {
        return Ok(Score::undefined("dimension_usage", NO_VARIANCE, n).into());
    };
    let interval = interval.map(|i| Interval {
        low: i.low / d,
        high: i.high / d,
        standard_error: i.standard_error.map(|s| s / d),
        ..i.with_effects_times(1.0 / d)
    });
    Ok(Score::number("dimension_usage", value / d, n)
        .with_interval(interval)
        .into())
}
