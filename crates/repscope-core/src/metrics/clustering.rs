// SPDX-License-Identifier: MIT
//! k-means clusters of the embeddings: how well they agree with the labels (NMI, AMI), how tight they are, and how unequal in
//! size. See their pages.

use super::{Analysis, Compute, Invariance, Metric, Needs, Output, Results, Takes, Work};
use crate::data::{Labels, Study};
use crate::error::Result;
use crate::kernels::contingency::Contingency;
use crate::plan::{Need, Shared};
use crate::score::{Interval, Score};
use crate::spec::Spec;
use crate::stats::interval::{self, Units};

/// What the metrics of clusters share.
const fn of_clusters(needs: Needs, compute: Compute) -> Metric {
    Metric {
        invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
        options: &["clusters", "restarts"],
        ..Metric::of(Analysis::Geometry, &[Takes::Codes], Work::Study { needs, compute })
    }
}

pub(super) static NMI: Metric = Metric {
    id: "nmi",
    title: "Normalized mutual information",
    outputs: &[Output::higher("nmi", "0 to 1")
        .about("agreement of k-means clusters with the labels")
        .column("NMI")],
    page: include_str!("nmi.md"),
    takes: &[Takes::Codes, Takes::Labels],
    ..of_clusters(labels_and_clusters, |shared| {
        agreement_score(&NMI, shared, [0.0, 1.0], |table| {
            let mean_entropy = (table.entropy_rows() + table.entropy_columns()) / 2.0;
            let chance = || table.expected_mutual_information() / mean_entropy;
            Some((table.nmi()?, table.nmi_without(), chance()))
        })
    })
};

pub(super) static AMI: Metric = Metric {
    id: "ami",
    title: "Adjusted mutual information",
    outputs: &[Output::higher("ami", "about 0 to 1")
        .about("agreement of k-means clusters with the labels, adjusted for chance")
        .column("AMI")],
    page: include_str!("ami.md"),
    takes: &[Takes::Codes, Takes::Labels],
    ..of_clusters(labels_and_clusters, |shared| {
        agreement_score(&AMI, shared, [-1.0, 1.0], |table| {
            Some((table.ami()?, table.ami_without(), 0.0))
        })
    })
};

/// Why there is no agreement, where that is known before clustering.
fn missing(spec: &Spec, study: &Study) -> Option<String> {
    let rows = study.embeddings.rows();
    match &study.labels {
        None => Some("needs labels, one for each row".to_string()),
        Some(labels) if labels.classes() < 2 => Some(one_class(labels)),
        Some(_) => too_few_rows(spec, rows),
    }
}

/// What to say where all rows have one label.
pub(super) fn one_class(labels: &Labels) -> String {
    let label = &labels.names()[0];
    format!("all rows have the label `{label}`; at least two classes are needed")
}

/// What to say where there are fewer rows than clusters.
pub(super) fn too_few_rows(spec: &Spec, rows: usize) -> Option<String> {
    let clusters = spec.clusters;
    let reason = || format!("{clusters} clusters need at least as many rows, not {rows}; use fewer clusters");
    (clusters > rows).then(reason)
}

fn labels_and_clusters(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    Ok(Vec::from_iter(missing(spec, study).is_none().then_some(Need::Clusters)))
}

/// What to say where k-means put everything into one cluster.
pub(super) const ONE_CLUSTER: &str = "k-means found a single cluster: all embeddings are the same";

/// A score of the table of clusters and labels: its value, the values without each row, and the chance level.
fn agreement_score(
    metric: &Metric,
    shared: &Shared,
    [least, most]: [f64; 2],
    of: impl Fn(&Contingency) -> Option<(f64, Option<Vec<f64>>, f64)>,
) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    let (Some(labels), None) = (&shared.study.labels, missing(shared.spec, shared.study)) else {
        return Ok(metric.undefined(missing(shared.spec, shared.study).unwrap_or_default(), n));
    };
    let clusters = shared.clusters()?;
    let table = Contingency::new(
        &clusters.labels,
        clusters.counts.len(),
        labels.codes(),
        labels.classes(),
    );
    let is_one = clusters.counts.iter().filter(|&&c| c > 0).count() < 2;
    let Some((value, without, chance)) = of(&table).filter(|_| !is_one) else {
        return Ok(metric.undefined(ONE_CLUSTER, n));
    };
    let interval =
        without.and_then(|each| interval::jackknife_of_rows(value, &each, shared.row_units(), shared.spec.level));
    let score = metric
        .number(value, n)
        .with_interval(interval.map(|i| i.within(least, most)));
    Ok(score.with_chance(chance).into())
}

/// NMI and AMI of two labelings of the same rows; none where either has a single class.
pub fn agreement(a: &Labels, b: &Labels) -> Option<(f64, f64)> {
    if a.classes() < 2 || b.classes() < 2 || a.rows() != b.rows() {
        return None;
    }
    let table = Contingency::new(a.codes(), a.classes(), b.codes(), b.classes());
    table.nmi().zip(table.ami())
}

const SUM: Output = Output::lower("inertia", "0 and above")
    .about("sum of squared distances to the k-means centers")
    .column("Clustering_Inertia")
    .in_units_of_the_embeddings();
const SHARE: Output = Output::lower("inertia.share", "0 to 1")
    .about("inertia as a share of the total variance")
    .column("Inertia_Share");

pub(super) static INERTIA: Metric = Metric {
    id: "inertia",
    title: "Inertia",
    outputs: &[SUM, SHARE],
    page: include_str!("inertia.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift],
    ..of_clusters(clusters, inertia)
};

fn clusters(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    let is_enough = spec.clusters <= study.embeddings.rows();
    Ok(Vec::from_iter(is_enough.then_some(Need::Clusters)))
}

fn inertia(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    if let Some(reason) = too_few_rows(shared.spec, n) {
        return Ok(INERTIA.undefined(reason, n));
    }
    let clusters = shared.clusters()?;
    let of_mean = interval::of_mean(&clusters.costs, Units::Single("rows"), shared.spec.level);
    let of_sum = of_mean
        .clone()
        .map(|i| rescaled(i, n as f64, 1.0).within(0.0, f64::MAX));
    let inertia = Score::number(&SUM, clusters.inertia, n).with_interval(of_sum).with_note(
        "in the squared units of the embeddings, so not comparable between models of different scale: use inertia.share",
    );
    let share = if clusters.total > 0.0 {
        // The total is known far better than the part inside clusters: its error is left out.
        let interval = of_mean
            .filter(|_| clusters.inertia / n as f64 > 0.0)
            .map(|i| rescaled(i, n as f64, clusters.total).within(0.0, 1.0));
        Score::number(&SHARE, clusters.inertia / clusters.total, n).with_interval(interval)
    } else {
        Score::undefined(&SHARE, "the embeddings have no variance: all rows are the same", n)
    };
    Ok(Results::from(vec![inertia, share]))
}

/// Multiplied, then divided: the quotient of the two could overflow for a tiny divisor.
fn rescaled(interval: Interval, factor: f64, divisor: f64) -> Interval {
    let effects = interval.effects.as_ref();
    Interval {
        low: interval.low * factor / divisor,
        high: interval.high * factor / divisor,
        standard_error: interval.standard_error.map(|s| s * factor / divisor),
        effects: effects.map(|effects| effects.iter().map(|e| e * factor / divisor).collect()),
        ..interval
    }
}

pub(super) static CLUSTER_BALANCE: Metric = Metric {
    id: "cluster_balance",
    title: "Cluster balance",
    outputs: &[Output::lower("cluster_balance", "0 to √(k − 1)")
        .about("spread of the k-means cluster sizes; 0 is perfectly even")
        .column("Cluster_Balance")],
    page: include_str!("cluster_balance.md"),
    ..of_clusters(clusters, cluster_balance)
};

fn cluster_balance(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    if let Some(reason) = too_few_rows(shared.spec, n) {
        return Ok(CLUSTER_BALANCE.undefined(reason, n));
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
    let interval = interval::jackknife_of_rows(value, &of_rows, shared.row_units(), shared.spec.level);
    let score = CLUSTER_BALANCE.number(value, n);
    Ok(score.with_interval(interval.map(|i| i.within(0.0, f64::MAX))).into())
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
