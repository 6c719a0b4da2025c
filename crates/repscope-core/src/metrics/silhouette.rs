// SPDX-License-Identifier: MIT
//! Silhouette: how much nearer a code is to its own class than to the next. See the page.

use super::{Analysis, Answer, Invariance, Metric, Output};
use crate::data::Study;
use crate::error::Result;
use crate::interval;
use crate::plan::{Need, Shared};
use crate::score::{Better, Score};
use crate::spec::Spec;

pub(super) static METRIC: Metric = Metric {
    id: "silhouette",
    title: "Silhouette",
    analysis: Analysis::Geometry,
    outputs: &[Output {
        id: "silhouette",
        about: "nearness to the own class against the next one",
        better: Better::Higher,
        range: "−1 to 1",
    }],
    page: include_str!("silhouette.md"),
    invariances: &[
        Invariance::Rotation,
        Invariance::Shift,
        Invariance::Scale,
        Invariance::RowOrder,
    ],
    needs,
    compute,
};

/// Why there is no value, where that is known from the labels alone.
fn missing(spec: &Spec, study: &Study) -> Option<String> {
    let rows = study.latent.rows();
    let Some(labels) = &study.labels else {
        return (rows <= spec.clusters).then(|| {
            format!(
                "k-means with {} clusters (there are no labels) needs more than that many rows, not {rows}",
                spec.clusters
            )
        });
    };
    match labels.classes() {
        1 => Some(format!(
            "all rows have the label `{}`; at least two classes are needed",
            labels.names()[0]
        )),
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

fn compute(shared: &Shared) -> Result<Answer> {
    let rows = shared.study.latent.rows();
    if let Some(reason) = missing(shared.spec, shared.study) {
        return Ok(Score::undefined("silhouette", reason, rows, Better::Higher).into());
    }
    let distances = shared.class_distances()?;
    let (labels, counts) = (&distances.labels, distances.labels.counts());
    if counts.iter().filter(|&&c| c > 0).count() < 2 {
        let reason = "k-means found a single cluster: all codes are the same";
        return Ok(Score::undefined("silhouette", reason, rows, Better::Higher).into());
    }
    let anchors = shared.anchors();
    let values: Vec<f64> = distances
        .sums
        .chunks_exact(labels.classes())
        .enumerate()
        .map(|(q, sums)| of_row(sums, &counts, labels.codes()[anchors.row(q)] as usize))
        .collect();
    let interval = interval::of_mean(&values, shared.units(), shared.spec.level).map(|i| i.within(-1.0, 1.0));
    let score = Score::number("silhouette", interval::mean(&values), values.len(), Better::Higher);
    let score = score.with_interval(interval);
    Ok(if distances.is_circular {
        score.with_note("no labels: scored on k-means' own clusters, which is circular; not evidence of structure")
    } else {
        score
    }
    .into())
}

/// (b − a) / max(a, b); 0 for the only row of its class, and where both are 0.
fn of_row(sums: &[f64], counts: &[usize], own: usize) -> f64 {
    if counts[own] < 2 {
        return 0.0;
    }
    let a = sums[own] / (counts[own] - 1) as f64;
    let others = (0..counts.len()).filter(|&c| c != own && counts[c] > 0);
    let b = others.map(|c| sums[c] / counts[c] as f64).fold(f64::INFINITY, f64::min);
    if a.max(b) > 0.0 { (b - a) / a.max(b) } else { 0.0 }
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
