// SPDX-License-Identifier: MIT
//! Silhouette: how much nearer an embedding is to its own class than to the next. See the page.

use super::clustering::{ONE_CLUSTER, one_class};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::influence::Nearness;
use crate::plan::{Need, Shared};
use crate::score::{Interval, SampleTable};
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
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
        &[Takes::Codes, Takes::LabelsIfAny],
        Work::Study { needs, compute },
    )
};

/// Why there is no value, where that is known from the labels alone.
fn missing(spec: &Spec, study: &Study) -> Option<String> {
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

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    Ok(match (missing(spec, study), &study.labels) {
        (Some(_), _) => Vec::new(),
        (None, Some(_)) => vec![Need::ClassDistances],
        (None, None) => vec![Need::Clusters, Need::ClassDistances],
    })
}

fn compute(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    if let Some(reason) = missing(shared.spec, shared.study) {
        return Ok(METRIC.undefined(reason, rows));
    }
    let distances = shared.class_distances()?;
    let (labels, counts) = (&distances.labels, distances.labels.counts());
    if counts.iter().filter(|&&c| c > 0).count() < 2 {
        return Ok(METRIC.undefined(ONE_CLUSTER, rows));
    }
    let anchors = shared.anchors();
    let values: Vec<f64> = distances
        .sums
        .chunks_exact(labels.classes())
        .enumerate()
        .map(|(q, sums)| of_row(sums, &counts, labels.codes()[anchors.row(q)] as usize))
        .collect();
    let interval = interval_of(&values, &distances.influences, shared);
    let mut score = METRIC
        .number(interval::mean(&values), values.len())
        .with_interval(interval);
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
    fn a_row_between_two_classes_gets_the_hand_computed_value() {
        // Own class: 3 rows, distances to the other two add up to 2, so a = 1; the nearer other class: b = 4.
        assert_eq!(of_row(&[2.0, 8.0, 50.0], &[3, 2, 5], 0), 0.75);
        assert_eq!(of_row(&[0.0, 8.0, 50.0], &[1, 2, 5], 0), 0.0);
        assert_eq!(of_row(&[0.0, 0.0], &[2, 2], 0), 0.0);
    }
}
