// SPDX-License-Identifier: MIT
//! Cluster balance: how unequal the k-means clusters are in size. See the page.

use super::inertia::needs;
use super::nmi::too_few_rows;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::error::Result;
use crate::plan::Shared;
use crate::score::Score;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "cluster_balance",
    title: "Cluster balance",
    analysis: Analysis::Geometry,
    outputs: &[Output::lower("cluster_balance", "0 to √(k − 1)")
        .about("spread of the k-means cluster sizes; 0 is perfectly even")
        .column("Cluster_Balance")],
    page: include_str!("cluster_balance.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
    takes: &[Takes::Codes],
    options: &["clusters", "restarts"],
    work: Work::Study { needs, compute },
};

fn compute(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    if shared.spec.clusters > n {
        let reason = too_few_rows(shared.spec, n);
        return Ok(Score::undefined("cluster_balance", reason, n).into());
    }
    let clusters = shared.clusters()?;
    let counts: Vec<f64> = clusters.counts.iter().map(|&c| c as f64).collect();
    let value = spread(&counts);
    // Leaving out any row of a cluster gives the same replicate.
    let without = |c: usize| {
        let mut fewer = counts.clone();
        fewer[c] -= 1.0;
        spread(&fewer)
    };
    let replicates: Vec<f64> = (0..counts.len()).map(without).collect();
    let of_rows: Vec<f64> = clusters.labels.iter().map(|&c| replicates[c as usize]).collect();
    let interval = interval::jackknife_of_rows(value, &of_rows, shared.row_units(), shared.spec.level)
        .map(|i| i.within(0.0, f64::MAX));
    Ok(Score::number("cluster_balance", value, n)
        .with_interval(interval)
        .into())
}

/// Population standard deviation over mean.
fn spread(counts: &[f64]) -> f64 {
    let mean = interval::mean(counts);
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / counts.len() as f64;
    variance.sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_two_and_six_are_half_a_mean_apart() {
        assert_eq!(spread(&[2.0, 6.0]), 0.5);
        assert_eq!(spread(&[4.0, 4.0, 4.0]), 0.0);
    }
}
