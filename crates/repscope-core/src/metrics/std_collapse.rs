// SPDX-License-Identifier: MIT
//! Std collapse: the spread of the unit-length embeddings along each coordinate. See the page.

use super::participation_ratio::FEWEST;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::{Space, Study};
use crate::error::Result;
use crate::kernels::prepared::unit_factors;
use crate::plan::{Need, Shared};
use crate::score::Score;
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "std_collapse",
    title: "Std collapse",
    analysis: Analysis::Rankme,
    outputs: &[Output::neither("std_collapse", "0 to about 1/√D")
        .about("mean standard deviation of the coordinates of unit-length embeddings")
        .column("Std_Collapse")],
    page: include_str!("std_collapse.md"),
    // A rotation moves spread between coordinates.
    invariances: &[Invariance::Scale, Invariance::RowOrder],
    takes: &[Takes::Codes],
    options: &[],
    work: Work::Study { needs, compute },
};

fn needs(_: &Spec, _: &Study) -> Result<Vec<Need>> {
    Ok(Vec::new())
}

fn compute(shared: &Shared) -> Result<Results> {
    let codes = &shared.study.embeddings;
    let (n, d) = (codes.rows(), codes.columns());
    let undefined = |reason: String| Ok(Score::undefined("std_collapse", reason, n).into());
    if n < 2 {
        return undefined("one row has no spread".to_string());
    }
    let factors = match unit_factors(codes) {
        Ok(factors) => factors,
        Err(error) => return undefined(error.to_string()),
    };
    let note = format!(
        "embeddings spread evenly over the sphere have about 1/√D = {:.4}",
        1.0 / (d as f64).sqrt()
    );
    let (value, effects) = mean_deviation(codes, &factors);
    let interval = interval::from_rows(value, &effects, shared.row_units(), "influence", shared.spec.level)
        .filter(|_| n >= FEWEST)
        .map(|i| i.within(0.0, f64::MAX));
    Ok(Score::number("std_collapse", value, n)
        .with_interval(interval)
        .with_note(note)
        .into())
}

/// The mean over columns of the standard deviation s (ddof 1) of the rows times their factors, and what each row does to
/// it: the mean over columns of ((x − mean)² − s²) / (2 N s).
fn mean_deviation(codes: &Space, factors: &[f64]) -> (f64, Vec<f64>) {
    let (n, d) = (codes.rows() as f64, codes.columns());
    let mut row = vec![0.0; d];
    let mut over_rows = |add: &mut dyn FnMut(usize, &[f64])| {
        for (i, factor) in factors.iter().enumerate() {
            codes.read_row(i, &mut row);
            row.iter_mut().for_each(|x| *x *= factor);
            add(i, &row);
        }
    };
    let (mut means, mut squares) = (vec![0.0; d], vec![0.0; d]);
    over_rows(&mut |_, row| means.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / n));
    over_rows(&mut |_, row| {
        let parts = squares.iter_mut().zip(row).zip(&means);
        parts.for_each(|((square, x), mean)| *square += (x - mean).powi(2));
    });
    let deviations: Vec<f64> = squares.iter().map(|s: &f64| (s / (n - 1.0)).sqrt()).collect();
    let mut effects = vec![0.0; factors.len()];
    over_rows(&mut |i, row| {
        let parts = row.iter().zip(&means).zip(&deviations).filter(|(_, s)| **s > 0.0);
        let sum: f64 = parts.map(|((x, mean), s)| ((x - mean).powi(2) - s * s) / s).sum();
        effects[i] = sum / (2.0 * n * d as f64);
    });
    (deviations.iter().sum::<f64>() / d as f64, effects)
}
