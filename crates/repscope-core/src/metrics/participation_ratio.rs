// SPDX-License-Identifier: MIT
//! Participation ratio: over how many directions the variance is spread. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::plan::{Need, Shared};
use crate::score::{Interval, Score};
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "participation_ratio",
    title: "Participation ratio",
    analysis: Analysis::Manifold,
    outputs: &[
        Output::neither("participation_ratio", "1 to D").about("number of directions the variance is spread over")
    ],
    page: include_str!("participation_ratio.md"),
    invariances: Invariance::SIMILARITY,
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

pub(super) fn needs(_: &Spec, _: &Study) -> Result<Vec<Need>> {
    Ok(vec![Need::Spectrum, Need::SpectrumByRow])
}

fn compute(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    let Some((value, interval)) = ratio(shared)? else {
        return Ok(Score::undefined("participation_ratio", NO_VARIANCE, n).into());
    };
    Ok(Score::number("participation_ratio", value, n)
        .with_interval(interval)
        .into())
}

/// Fewer rows say nothing about how the ratio varies.
pub(super) const FEWEST: usize = 5;

/// Why there is no ratio.
pub(super) const NO_VARIANCE: &str = "the embeddings have no variance: all rows are the same (or there is only one)";

/// The ratio with its jackknife interval.
pub(super) fn ratio(shared: &Shared) -> Result<Option<(f64, Option<Interval>)>> {
    let spectrum = shared.spectrum()?;
    let by_row = shared.spectrum_by_row()?;
    let Some(value) = spectrum.participation_ratio() else {
        return Ok(None);
    };
    let without: Option<Vec<f64>> = (0..shared.study.embeddings.rows())
        .map(|row| spectrum.participation_ratio_without(by_row, row))
        .collect();
    let d = shared.study.embeddings.columns() as f64;
    let interval = without
        .filter(|replicates| replicates.len() >= FEWEST)
        .and_then(|replicates| interval::jackknife_of_rows(value, &replicates, shared.row_units(), shared.spec.level))
        .map(|i| i.within(1.0, d));
    Ok(Some((value, interval)))
}
