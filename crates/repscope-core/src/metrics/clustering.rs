// SPDX-License-Identifier: MIT
//! k-means clusters of the embeddings: how well they agree with labels (NMI, AMI), how tight and how unequal in size they are.

use super::{Analysis, Compute, Invariance, Metric, Needs, Output, Results, Takes, Work};
use crate::data::{Labels, Space, Study};
use crate::error::Result;
use crate::kernels::contingency::Contingency;
use crate::kernels::influence::Nearness;
use crate::plan::{Need, Shared};
use crate::score::{Interval, SampleTable, Score};
use crate::spec::Spec;
use crate::stats::interval;

/// What the metrics of clusters share.
const fn of_clusters(needs: Needs, compute: Compute) -> Metric {
    Metric {
        invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
        options: &["clusters", "restarts"],
        ..Metric::of(Analysis::Geometry, &[Takes::Embeddings], Work::Study { needs, compute })
    }
}

pub(super) static NMI: Metric = Metric {
    id: "nmi",
    title: "Normalized mutual information",
    outputs: &[Output::higher("nmi", "0 to 1")
        .about("agreement of k-means clusters with the labels")
        .column("NMI")],
    page: include_str!("nmi.md"),
    takes: &[Takes::Embeddings, Takes::Labels],
    ..of_clusters(labels_and_clusters, |shared| {
        agreement_score(&NMI, shared, [0.0, 1.0], |table| {
            let chance = || table.expected_mutual_information() / table.mean_entropy();
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
    takes: &[Takes::Embeddings, Takes::Labels],
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
    let score = metric.number(value, n).with_chance(chance);
    Ok(score.with_interval(interval.map(|i| i.within(least, most))).into())
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
    let of_mean = interval::of_mean(&clusters.costs, shared.row_units(), shared.spec.level);
    let of_sum = of_mean.map(|i| i.times(n as f64).within(0.0, f64::MAX));
    let inertia = Score::number(&SUM, clusters.inertia, n).with_interval(of_sum).with_note(
        "in the squared units of the embeddings, so not comparable between models of different scale: use inertia.share",
    );
    let share = if clusters.total > 0.0 {
        let share = clusters.inertia / clusters.total;
        // Of a quotient of two sums: what a row adds to the one, less its share of what it adds to the other.
        let (totals, weight) = (
            squared_deviations(&shared.study.embeddings),
            (n as f64 / (n as f64 - 1.0)).sqrt(),
        );
        let total: f64 = totals.iter().sum();
        let rows = clusters.costs.iter().zip(&totals);
        let effects: Vec<f64> = rows.map(|(cost, own)| weight * (cost - share * own) / total).collect();
        let interval = interval::from_rows(share, &effects, shared.row_units(), "influence", shared.spec.level);
        let interval = interval.filter(|_| clusters.inertia / n as f64 > 0.0);
        Score::number(&SHARE, share, n).with_interval(interval.map(|i| i.within(0.0, 1.0)))
    } else {
        Score::undefined(&SHARE, "the embeddings have no variance: all rows are the same", n)
    };
    Ok(Results::from(vec![inertia, share]))
}

/// The squared distance of each row from the mean row.
fn squared_deviations(space: &Space) -> Vec<f64> {
    let (n, d) = (space.rows(), space.columns());
    let (mut row, mut mean) = (vec![0.0; d], vec![0.0; d]);
    for i in 0..n {
        space.read_row(i, &mut row);
        mean.iter_mut().zip(&row).for_each(|(m, x)| *m += x / n as f64);
    }
    let squared = |i| {
        space.read_row(i, &mut row);
        row.iter().zip(&mean).map(|(x, m)| (x - m) * (x - m)).sum()
    };
    (0..n).map(squared).collect()
}

pub(super) static CLUSTER_BALANCE: Metric = Metric {
    id: "cluster_balance",
    title: "Cluster balance",
    outputs: &[Output::neither("cluster_balance", "0 to √(k − 1)")
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

pub(super) static SILHOUETTE: Metric = Metric {
    id: "silhouette",
    title: "Silhouette",
    outputs: &[Output::higher("silhouette", "−1 to 1")
        .about("nearness to the own class against the next one")
        .column("Silhouette_Score")],
    page: include_str!("silhouette.md"),
    invariances: Invariance::SIMILARITY,
    options: &["clusters", "restarts", "sample"],
    ..Metric::of(
        Analysis::Geometry,
        &[Takes::Embeddings, Takes::LabelsIfAny],
        Work::Study {
            needs: needs_of_silhouette,
            compute: silhouette,
        },
    )
};

/// Why there is no value, where that is known from the labels alone.
fn no_silhouette(spec: &Spec, study: &Study) -> Option<String> {
    let rows = study.embeddings.rows();
    let Some(labels) = &study.labels else {
        let k = spec.clusters;
        return (rows <= k).then(|| {
            format!("k-means with {k} clusters (there are no labels) needs more than that many rows, not {rows}")
        });
    };
    match labels.classes() {
        1 => Some(one_class(labels)),
        c if c == rows => Some("every row has a label of its own".to_string()),
        _ => None,
    }
}

fn needs_of_silhouette(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    Ok(match (no_silhouette(spec, study), &study.labels) {
        (Some(_), _) => Vec::new(),
        (None, Some(_)) => vec![Need::ClassDistances],
        (None, None) => vec![Need::Clusters, Need::ClassDistances],
    })
}

fn silhouette(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    if let Some(reason) = no_silhouette(shared.spec, shared.study) {
        return Ok(SILHOUETTE.undefined(reason, rows));
    }
    let distances = shared.class_distances()?;
    let (labels, counts) = (&distances.labels, distances.labels.counts());
    if counts.iter().filter(|&&c| c > 0).count() < 2 {
        return Ok(SILHOUETTE.undefined(ONE_CLUSTER, rows));
    }
    let anchors = shared.anchors();
    let value = |(q, sums)| of_row(sums, &counts, labels.codes()[anchors.row(q)] as usize);
    let by_query = distances.sums.chunks_exact(labels.classes()).enumerate();
    let values: Vec<f64> = by_query.map(value).collect();
    let interval = interval_of(&values, &distances.influences, shared);
    let score = SILHOUETTE.number(interval::mean(&values), values.len());
    let mut score = score.with_interval(interval);
    if distances.is_circular {
        score =
            score.with_note("no labels: scored on k-means' own clusters, which is circular; not evidence of structure");
    }
    let column = ("silhouette".to_string(), values.into_iter().map(Some).collect());
    Ok(Results {
        samples: vec![SampleTable::new("silhouette", vec![column])],
        ..Results::from(score)
    })
}

/// 0 for the only row of its class.
fn of_row(sums: &[f64], counts: &[usize], own: usize) -> f64 {
    Nearness::new(sums, counts, own).map_or(0.0, |near| near.silhouette())
}

/// Student's t over the rows' own values (jackknife over episodes), widened by what a row does to the values of
/// the others: with anchors only that part of the error which comes from the rows, not from drawing anchors.
fn interval_of(values: &[f64], influences: &[(u32, f64)], shared: &Shared) -> Option<Interval> {
    let own: Vec<f64> = influences.iter().map(|&(q, _)| values[q as usize]).collect();
    let both = influences.iter().map(|&(q, effect)| values[q as usize] + effect);
    let both: Vec<f64> = both.collect();
    // Over the variance of all rows, not of `own`: a sample can miss the few rows that vary.
    let more = (variance(&both) - variance(&own)).max(0.0) / variance(values).max(f64::MIN_POSITIVE);
    let asked = values.len() as f64 / shared.study.embeddings.rows() as f64;
    let widen = (1.0 + asked * more).sqrt();
    let mean = interval::mean(values);
    let mut interval = interval::of_mean(values, shared.units(), shared.spec.level)?;
    let reach = (interval.high - mean) * widen;
    interval.low = mean - reach;
    interval.high = mean + reach;
    interval.standard_error = interval.standard_error.map(|s| s * widen);
    interval.method = "influence";
    Some(interval.with_effects_times(widen).within(-1.0, 1.0))
}

/// The mean squared deviation from the mean.
fn variance(values: &[f64]) -> f64 {
    let mean = interval::mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_two_and_six_are_half_a_mean_apart() {
        assert_eq!(spread(&[2.0, 6.0]), 0.5);
        assert_eq!(spread(&[4.0, 4.0, 4.0]), 0.0);
    }

    #[test]
    fn a_row_between_two_classes_gets_the_hand_computed_value() {
        // Own class: 3 rows, distances to the other two add up to 2, so a = 1; the nearer other class: b = 4.
        assert_eq!(of_row(&[2.0, 8.0, 50.0], &[3, 2, 5], 0), 0.75);
        assert_eq!(of_row(&[0.0, 8.0, 50.0], &[1, 2, 5], 0), 0.0);
        assert_eq!(of_row(&[0.0, 0.0], &[2, 2], 0), 0.0);
    }
}
