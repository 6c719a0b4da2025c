// SPDX-License-Identifier: MIT
//! Participation ratio: over how many directions the variance is spread; dimension usage, as a share; and the spectrum.

use super::{Analysis, Compute, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::plan::{Need, Shared};
use crate::score::{Curve, Score};
use crate::spec::Spec;
use crate::stats::interval;

/// What the metrics of the spectrum share.
const fn of_spectrum(compute: Compute) -> Metric {
    Metric {
        invariances: Invariance::SIMILARITY,
        ..Metric::of(Analysis::Manifold, &[Takes::Embeddings], Work::Study { needs, compute })
    }
}

fn needs(_: &Spec, _: &Study) -> Result<Vec<Need>> {
    Ok(vec![Need::Spectrum, Need::SpectrumByRow])
}

pub(super) static PARTICIPATION_RATIO: Metric = Metric {
    id: "participation_ratio",
    title: "Participation ratio",
    outputs: &[Output::neither("participation_ratio", "1 to D")
        .about("number of directions the variance is spread over")
        .column("Participation_Ratio")],
    page: include_str!("participation_ratio.md"),
    ..of_spectrum(|shared| ratio_score(&PARTICIPATION_RATIO, shared, 1.0))
};

pub(super) static DIMENSION_USAGE: Metric = Metric {
    id: "dimension_usage",
    title: "Dimension usage",
    outputs: &[Output::neither("dimension_usage", "1/D to 1").about("participation ratio divided by D")],
    page: include_str!("dimension_usage.md"),
    ..of_spectrum(|shared| ratio_score(&DIMENSION_USAGE, shared, shared.study.embeddings.columns() as f64))
};

/// Fewer rows say nothing about how the ratio varies.
pub(super) const FEWEST: usize = 5;

/// Why there is no ratio.
pub(super) const NO_VARIANCE: &str = "the embeddings have no variance: all rows are the same (or there is only one)";

/// The ratio divided by a number, with Student's t over what each row does to it.
fn ratio_score(metric: &Metric, shared: &Shared, divisor: f64) -> Result<Results> {
    let (n, d) = (shared.study.embeddings.rows(), shared.study.embeddings.columns() as f64);
    let (spectrum, by_row) = (shared.spectrum()?, shared.spectrum_by_row()?);
    let Some(value) = spectrum.participation_ratio() else {
        return Ok(metric.undefined(NO_VARIANCE, n));
    };
    let most = d.min(n as f64 - 1.0);
    let effects = spectrum.effects_on_participation_ratio(by_row).filter(|_| n >= FEWEST);
    let interval = effects
        .and_then(|effects| interval::of_influence(value, &effects, shared.row_units(), shared.spec.level))
        .map(|i| i.within(1.0, most).times(1.0 / divisor));
    Ok(metric.number(value / divisor, n).with_interval(interval).into())
}

const MAX: Output = Output::neither("spectrum.max", "0 and above")
    .about("largest eigenvalue of the covariance")
    .in_units_of_the_embeddings();
const MIN: Output = Output::neither("spectrum.min", "0 and above")
    .about("smallest of the min(N − 1, D) eigenvalues")
    .in_units_of_the_embeddings();

pub(super) static SPECTRUM: Metric = Metric {
    id: "spectrum",
    title: "Eigenvalue spectrum",
    outputs: &[MAX, MIN],
    page: include_str!("spectrum.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::RowOrder],
    work: Work::Study {
        needs: |_, _| Ok(vec![Need::Spectrum]),
        compute: spectrum,
    },
    ..of_spectrum(spectrum)
};

fn spectrum(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    // Centering takes one direction away: an eigenvalue beyond N − 1 is 0 whatever the data.
    let count = shared.study.embeddings.columns().min(n.saturating_sub(1));
    let eigenvalues = &shared.spectrum()?.eigenvalues;
    let eigenvalues = &eigenvalues[..count.min(eigenvalues.len())];
    let (Some(&max), Some(&min)) = (eigenvalues.first(), eigenvalues.last()) else {
        return Ok(SPECTRUM.undefined("one row has no variance", n));
    };
    Ok(Results {
        scores: vec![Score::number(&MAX, max, n), Score::number(&MIN, min, n)],
        curves: vec![Curve {
            model: String::new(),
            metric: "spectrum".into(),
            x_label: "eigenvalue number".to_string(),
            y_label: "eigenvalue of the covariance".to_string(),
            x: (1..=eigenvalues.len()).map(|i| i as f64).collect(),
            y: eigenvalues.to_vec(),
        }],
        ..Results::default()
    })
}
