// SPDX-License-Identifier: MIT
//! k-means clusters of the embeddings: how well they agree with labels (NMI, AMI), how tight and how unequal in size they are.

use std::ops::Range;

use super::{Analysis, Compute, Invariance, Metric, Needs, Output, Results, Takes, Work};
use crate::blocks::super_blocks;
use crate::data::{Labels, Space, Study};
use crate::error::Result;
use crate::kernels::clusters::OfHalf;
use crate::kernels::contingency::Contingency;
use crate::kernels::influence::Nearness;
use crate::kernels::moments::add;
use crate::plan::{Need, Shared};
use crate::random;
use crate::score::{Interval, SampleTable, Score};
use crate::spec::Spec;
use crate::stats::interval;

/// Random orders of the groups behind a chance level.
const SHUFFLES: usize = 100;

/// What the metrics of clusters share.
const fn of_clusters(needs: Needs, compute: Compute) -> Metric {
    Metric {
        invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
        options: &["clusters", "restarts", "clusterings"],
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
        agreement_score(&NMI, shared, Contingency::nmi, Contingency::nmi_without)
    })
};

pub(super) static AMI: Metric = Metric {
    id: "ami",
    title: "Adjusted mutual information",
    outputs: &[Output::higher("ami", "−1 to 1")
        .about("agreement of k-means clusters with the labels, adjusted for chance")
        .column("AMI")],
    page: include_str!("ami.md"),
    takes: &[Takes::Embeddings, Takes::Labels],
    ..of_clusters(labels_and_clusters, |shared| {
        agreement_score(&AMI, shared, Contingency::ami, Contingency::ami_without)
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
    match missing(spec, study) {
        Some(_) => Ok(Vec::new()),
        None => Ok(vec![Need::Clusters, Need::Clusterings]),
    }
}

/// What to say where k-means put everything into one cluster.
pub(super) const ONE_CLUSTER: &str = "k-means found a single cluster: all embeddings are the same";

/// A score of the table of clusters and labels, a linear function of their mutual information: its value, and the values without
/// each row or group.
fn agreement_score(
    metric: &Metric,
    shared: &Shared,
    value: impl Fn(&Contingency) -> Option<f64>,
    without: impl Fn(&Contingency, Option<&[u32]>) -> Option<Vec<f64>>,
) -> Result<Results> {
    let (spec, study) = (shared.spec, shared.study);
    let n = study.embeddings.rows();
    let (Some(labels), None) = (&study.labels, missing(spec, study)) else {
        return Ok(metric.undefined(missing(spec, study).unwrap_or_default(), n));
    };
    let clusters = shared.clusters()?;
    let table = |codes: &[u32], labels: &[u32], classes: usize| Contingency::new(codes, spec.clusters, labels, classes);
    let whole = table(&clusters.labels, labels.codes(), labels.classes());
    let is_one = clusters.counts.iter().filter(|&&c| c > 0).count() < 2;
    let Some(found) = value(&whole).filter(|_| !is_one) else {
        return Ok(metric.undefined(ONE_CLUSTER, n));
    };
    let by_chance = whole.expected_mutual_information() / whole.mean_entropy();
    // Of independent labels and of no information, by (x − E) / (1 − E) for AMI.
    let (chance, least) = if metric.id == AMI.id {
        (0.0, -by_chance / (1.0 - by_chance))
    } else {
        (by_chance, 0.0)
    };
    let chance = match &study.episodes {
        None => chance,
        Some(groups) => {
            let shuffled = shuffled_by_group(labels, groups, spec.seed);
            let of = |codes: &Vec<u32>| value(&table(&clusters.labels, codes, labels.classes()));
            interval::mean(&shuffled.iter().filter_map(of).collect::<Vec<f64>>())
        }
    };
    let replicates = without(&whole, study.episodes.as_deref().map(Labels::codes));
    let interval = replicates.and_then(|each| interval::jackknife(found, &each, shared.row_units().name(), spec.level));
    let halves = shared.clusterings()?.iter();
    let of_halves = halves.map(|half| value(&table(&half.labels, labels.codes(), labels.classes())));
    let between = between(of_halves.collect());
    let interval = interval.map(|i| i.with_between(found, between.as_deref()).on_root_scale(found, least));
    let score = metric.number(found, n).with_chance(chance);
    Ok(score
        .with_interval(interval.map(|i| i.within(least, 1.0)))
        .with_between(between)
        .into())
}

/// What each clustering does to a score, from the scores of clusterings of halves; none where one has no score, or there are
/// too few.
fn between(of_halves: Option<Vec<f64>>) -> Option<Vec<f64>> {
    let of_halves = of_halves.filter(|values| values.len() > 1)?;
    let (mean, weight) = (interval::mean(&of_halves), (of_halves.len() as f64 - 1.0).sqrt());
    Some(of_halves.iter().map(|value| (value - mean) / weight).collect())
}

/// The rows of each group that has any, by the first of them.
fn members(groups: &Labels) -> Vec<Vec<usize>> {
    let groups = groups.by_appearance();
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); groups.classes()];
    for (row, &group) in groups.codes().iter().enumerate() {
        members[group as usize].push(row);
    }
    members
}

/// Labels that say nothing about rows that come in groups: those of another group, from its first to its last row.
fn shuffled_by_group(labels: &Labels, groups: &Labels, seed: u64) -> Vec<Vec<u32>> {
    let members = members(groups);
    let shuffle = |draw: usize| {
        let order = random::permutation(
            members.len(),
            &mut random::stream(seed, "labels of groups", draw as u64),
        );
        let mut codes = vec![0; labels.rows()];
        for (rows, other) in members.iter().zip(order) {
            let other = &members[other as usize];
            for (place, &row) in rows.iter().enumerate() {
                codes[row] = labels.codes()[other[place * other.len() / rows.len()]];
            }
        }
        codes
    };
    (0..SHUFFLES).map(shuffle).collect()
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
    match too_few_rows(spec, study.embeddings.rows()) {
        Some(_) => Ok(Vec::new()),
        None => Ok(vec![Need::Clusters, Need::Clusterings]),
    }
}

fn inertia(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    if let Some(reason) = too_few_rows(shared.spec, n) {
        return Ok(INERTIA.undefined(reason, n));
    }
    let clusters = shared.clusters()?;
    let of_mean = interval::of_mean(&clusters.costs, shared.row_units(), shared.spec.level);
    let of_sum = of_mean.map(|i| i.times(n as f64));
    let halves = shared.clusterings()?;
    // The least inertia does not change, to first order, with what moves the centers: rows alone count. A single start is not the least.
    let is_searched = shared.spec.restarts > 1;
    let of_search = |of: &dyn Fn(&OfHalf) -> f64| {
        let values = || halves.iter().map(|half| Some(of(half))).collect();
        (!is_searched).then(|| between(values())).flatten()
    };
    let of_halves = of_search(&|half| half.inertia);
    let of_sum = of_sum.map(|i| {
        i.with_between(clusters.inertia, of_halves.as_deref())
            .within(0.0, f64::MAX)
    });
    let inertia = Score::number(&SUM, clusters.inertia, n)
        .with_interval(of_sum)
        .with_between(of_halves)
        .with_note(
        "in the squared units of the embeddings, so not comparable between models of different scale: use inertia.share",
    );
    let share = if clusters.total > 0.0 {
        let share = clusters.inertia / clusters.total;
        // Of a quotient of two sums: what a row adds to the one, less its share of what it adds to the other.
        let (totals, weight) = (shared.squared_deviations()?, (n as f64 / (n as f64 - 1.0)).sqrt());
        let total: f64 = totals.iter().sum();
        let rows = clusters.costs.iter().zip(&totals);
        let effects: Vec<f64> = rows.map(|(cost, own)| weight * (cost - share * own) / total).collect();
        let interval = interval::from_rows(share, &effects, shared.row_units(), "influence", shared.spec.level);
        let interval = interval.filter(|_| clusters.inertia / n as f64 > 0.0);
        let of_halves = of_search(&|half| half.inertia / clusters.total);
        let interval = interval.map(|i| i.with_between(share, of_halves.as_deref()).within(0.0, 1.0));
        Score::number(&SHARE, share, n)
            .with_interval(interval)
            .with_between(of_halves)
    } else {
        Score::undefined(&SHARE, "the embeddings have no variance: all rows are the same", n)
    };
    Ok(Results::from(vec![inertia, share]))
}

/// The squared distance of each row from the mean row.
pub(crate) fn squared_deviations(space: &Space) -> Vec<f64> {
    let mut mean = vec![0.0; space.columns()];
    for rows in super_blocks(space.rows()) {
        add(&mut mean, &shares_of_mean(space, rows, space.rows()));
    }
    deviations_from(space, &mean)
}

/// What some of n rows add to the mean.
pub(crate) fn shares_of_mean(space: &Space, rows: Range<usize>, n: usize) -> Vec<f64> {
    let (mut row, mut shares) = (vec![0.0; space.columns()], vec![0.0; space.columns()]);
    for i in rows {
        space.read_row(i, &mut row);
        shares.iter_mut().zip(&row).for_each(|(m, x)| *m += x / n as f64);
    }
    shares
}

/// The squared distance of each row from another.
pub(crate) fn deviations_from(space: &Space, mean: &[f64]) -> Vec<f64> {
    let mut row = vec![0.0; space.columns()];
    let squared = |i| {
        space.read_row(i, &mut row);
        row.iter().zip(mean).map(|(x, m)| (x - m) * (x - m)).sum()
    };
    (0..space.rows()).map(squared).collect()
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
    let without = |labels: &[u32]| {
        let mut fewer = counts.clone();
        labels.iter().for_each(|&label| fewer[label as usize] -= 1.0);
        spread(&fewer)
    };
    let replicates: Vec<f64> = match &shared.study.episodes {
        None => {
            // Leaving out any row of a cluster gives the same replicate.
            let of_cluster: Vec<f64> = (0..counts.len() as u32).map(|c| without(&[c])).collect();
            clusters.labels.iter().map(|&c| of_cluster[c as usize]).collect()
        }
        Some(groups) => {
            let label = |row: &usize| clusters.labels[*row];
            let of_group = |rows: &Vec<usize>| without(&rows.iter().map(label).collect::<Vec<u32>>());
            members(groups).iter().map(of_group).collect()
        }
    };
    let of_half = |half: &OfHalf| Some(spread(&half.own_counts.iter().map(|&c| c as f64).collect::<Vec<f64>>()));
    let of_halves = shared.clusterings()?.iter().map(of_half);
    let interval = match between(of_halves.collect()) {
        Some(effects) => over_halves(value, effects, shared),
        None => interval::jackknife(value, &replicates, shared.row_units().name(), shared.spec.level),
    };
    let interval = interval.map(|i| i.within(0.0, f64::MAX));
    Ok(CLUSTER_BALANCE.number(value, n).with_interval(interval).into())
}

/// Student's t over halves that were drawn and clustered anew, each by its own rows: rows and clusters answer each other (where rows are
/// many, centers follow and split them), so the variance over rows in fixed clusters would add up with that of clusters to
/// far too much. Half of the rows have twice the variance, of which one half is that of all rows about their expectation.
fn over_halves(value: f64, effects: Vec<f64>, shared: &Shared) -> Option<Interval> {
    let error = effects.iter().map(|e| e * e).sum::<f64>().sqrt();
    let freedom = effects.len() as f64 - 1.0;
    let (unit, level) = (shared.row_units().name(), shared.spec.level);
    let found = interval::from_standard_error(value, error, freedom, unit, "clusterings of halves", level)?;
    Some(Interval {
        effects: Some(effects.into()),
        ..found
    })
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
    use crate::run::{Driver, Order};
    use std::sync::Arc;

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

    /// Rows around `corners` points in the plane, in turn, and three labels, in turn.
    fn scattered(corners: usize, rows: usize, seed: u64) -> Study {
        let mut rng = random::stream(seed, "test", 0);
        let mut draw = || rand::Rng::next_u64(&mut rng) as f64 / u64::MAX as f64;
        let row = |i: usize| {
            [
                (i % corners) as f64 * 10.0 + draw(),
                (i * i % corners) as f64 * 10.0 + draw(),
            ]
        };
        let values = (0..rows).flat_map(row).collect();
        let mut study = Study::new("m", Space::from_f64("z", rows, 2, values).expect("finite numbers"));
        study.labels = Some(Arc::new(Labels::from_codes(
            (0..rows as u32).map(|i| i % 3).collect(),
            3,
        )));
        study
    }

    fn scores(study: &Study, spec: &Spec) -> Vec<Score> {
        let metrics = [&NMI, &AMI, &INERTIA, &CLUSTER_BALANCE];
        let driver = Driver::silent(Order::Serial);
        crate::evaluate(std::slice::from_ref(study), &metrics, spec, &driver)
            .expect("scores")
            .scores
    }

    #[test]
    fn intervals_are_wider_where_clusterings_disagree_and_not_where_they_agree() {
        let with = |clusterings: usize| Spec {
            clusters: 3,
            clusterings,
            ..Spec::default()
        };
        let wider = |study: &Study| {
            let pairs = scores(study, &with(1)).into_iter().zip(scores(study, &with(5)));
            let width = |score: &Score| score.interval.map_or(0.0, |[low, high]| high - low);
            let ratio = |(without, with): (Score, Score)| {
                assert!(without.value == with.value && without.between.is_none() && with.between.is_some());
                width(&with) / width(&without)
            };
            // NMI and AMI; the best inertia does not depend on the halves, and the balance is over them.
            pairs.take(2).map(ratio).collect::<Vec<f64>>()
        };
        // One square, cut in three somewhere; the labels are one of the ways to cut it.
        let mut square = scattered(1, 200, 1);
        let mut row = [0.0; 2];
        let third = |i: usize| {
            square.embeddings.read_row(i, &mut row);
            (3.0 * row[0]).min(2.0) as u32
        };
        let thirds: Vec<u32> = (0..200).map(third).collect();
        square.labels = Some(Arc::new(Labels::from_codes(thirds, 3)));
        let [nmi, ami] = wider(&square)[..] else {
            panic!("two scores")
        };
        assert!(nmi > 1.1 && ami > 1.1, "{nmi} {ami}");
        // Three far points: all halves find them.
        let agreed = wider(&scattered(3, 200, 1));
        assert!(agreed.iter().all(|ratio| *ratio < 1.05 || ratio.is_nan()), "{agreed:?}");
    }

    #[test]
    fn labels_that_are_drawn_for_each_episode_agree_with_clusters_by_chance() {
        let (mut above, mut above_rows) = ([0, 0], [0, 0]);
        for seed in 0..20 {
            let mut rng = random::stream(seed, "test", 1);
            let mut draw = || rand::Rng::next_u64(&mut rng) as f64 / u64::MAX as f64;
            let (mut values, mut labels) = (Vec::new(), Vec::new());
            for _ in 0..20 {
                let (place, label) = ([draw(), draw()], (3.0 * draw()) as u32);
                for _ in 0..10 {
                    values.extend(place.map(|x| x + 0.05 * draw()));
                    labels.push(label.min(2));
                }
            }
            let mut study = Study::new("m", Space::from_f64("z", 200, 2, values).expect("finite numbers"));
            study.labels = Some(Arc::new(Labels::from_codes(labels, 3)));
            let spec = Spec {
                clusters: 3,
                ..Spec::default()
            };
            let is_above =
                |score: &Score| u32::from(score.interval.expect("an interval")[0] > score.chance.expect("chance"));
            let found = scores(&study, &spec);
            (0..2).for_each(|i| above_rows[i] += is_above(&found[i]));
            study.episodes = Some(Arc::new(Labels::from_codes((0..200).map(|row| row / 10).collect(), 20)));
            let found = scores(&study, &spec);
            (0..2).for_each(|i| above[i] += is_above(&found[i]));
        }
        assert!(above.iter().all(|count| *count <= 2), "{above:?}");
        // Taken for independent, the rows seem to agree.
        assert!(above_rows.iter().all(|count| *count >= 10), "{above_rows:?}");
    }
}
