// SPDX-License-Identifier: MIT
//! Gride: the intrinsic dimension at several scales, from the distances to neighbor K/2 and to neighbor K. See the page.

use super::near::{Near, TOGETHER};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::neighbors::Neighbors;
use crate::kernels::shells::Likelihood;
use crate::plan::{Key, Need, Shared};
use crate::score::{Curve, Score};
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "gride",
    title: "Gride intrinsic dimension",
    outputs: &[Output::neither("gride@K", "above 0")
        .about("intrinsic dimension at the scale of neighbors K/2 and K, by maximum likelihood")],
    page: include_str!("gride.md"),
    invariances: Invariance::SIMILARITY,
    options: &["gride-k", "sample"],
    ..Metric::of(Analysis::Manifold, &[Takes::Embeddings], Work::Study { needs, compute })
};

/// A neighborhood holds at most one row in so many, or it is not local.
const LEAST_ROWS: usize = 8;

/// The scales of so many rows: 2, 4, 8, …
fn scales(spec: &Spec, rows: usize) -> Vec<usize> {
    let is_local = |k: &usize| *k <= spec.dimension.gride_k && (*k == 2 || LEAST_ROWS * k <= rows);
    let doubled = std::iter::successors(Some(2usize), |k| k.checked_mul(2));
    match rows {
        ..3 => Vec::new(),
        _ => doubled.take_while(is_local).collect(),
    }
}

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    let largest = scales(spec, study.embeddings.rows()).last().copied();
    let need = |k| Need::Neighbors { of: Key::RAW, k };
    Ok(largest.map(need).into_iter().collect())
}

fn compute(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    let scales = scales(shared.spec, rows);
    let Some(&largest) = scales.last() else {
        return Ok(Score::undefined("gride@2", "two neighbors need at least 3 rows", rows).into());
    };
    let (neighbors, queries) = (shared.neighbors(Key::RAW, largest)?, shared.anchors().count(rows));
    let mut answer = Results::default();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for k in scales {
        let ratios = Ratios::new(neighbors, k, queries);
        let score = ratios.score(shared);
        if let Some(value) = score.value {
            x.push(ratios.distance);
            y.push(value);
        }
        answer.scores.push(score);
    }
    if !x.is_empty() {
        answer.curves.push(Curve {
            model: String::new(),
            metric: "gride".into(),
            x_label: "mean distance of neighbors K/2 and K".to_string(),
            y_label: "intrinsic dimension".to_string(),
            x,
            y,
        });
    }
    Ok(answer)
}

/// ln(r_K / r_(K/2)) of the rows.
struct Ratios {
    k: usize,
    logs: Vec<f64>,
    near: Near,
    /// The mean of both distances over these rows.
    distance: f64,
}

impl Ratios {
    fn new(neighbors: &Neighbors, k: usize, queries: usize) -> Self {
        let (mut logs, mut near, mut sum) = (Vec::with_capacity(queries), Near::new(queries), 0.0);
        for q in 0..queries {
            let distances = neighbors.distances_of(q);
            let [inner, outer] = [distances[k / 2 - 1], distances[k - 1]];
            if inner > 0.0 {
                logs.push((outer / inner).ln());
                near.add(q, neighbors, k.min(TOGETHER));
                sum += inner + outer;
            }
        }
        let distance = sum / (2 * logs.len()).max(1) as f64;
        Ratios {
            k,
            logs,
            near,
            distance,
        }
    }

    fn score(&self, shared: &Shared) -> Score {
        let (id, n) = (format!("gride@{}", self.k), self.logs.len());
        let note = self.near.note(&format!("distance to neighbor {}", self.k / 2));
        if n < 3 {
            return Score::undefined(
                id,
                "fewer than 3 rows are left without the rows that have a duplicate",
                n,
            );
        }
        let likelihood = of_scale(self.k, &self.logs);
        let Some(value) = likelihood.most_likely() else {
            let reason = "both neighbors are equally far everywhere, as on a grid";
            return Score::undefined(id, reason, n);
        };
        let interval = self.near.interval(value, &effects(&likelihood, value), shared);
        let score = Score::number(id, value, n).with_interval(interval);
        match note {
            Some(note) => score.with_note(note),
            None => score,
        }
    }
}

/// The likelihood of neighbors K/2 and K. N − 1 instead of N takes the bias of TwoNN away.
fn of_scale(k: usize, logs: &[f64]) -> Likelihood<'_> {
    Likelihood {
        logs,
        between: (k / 2 - 1) as f64,
        before: (k - 1) as f64,
        less: 1.0,
    }
}

/// What each row does to the most likely dimension, to first order.
fn effects(likelihood: &Likelihood, d: f64) -> Vec<f64> {
    let rows: Vec<[f64; 2]> = likelihood.logs.iter().map(|log| likelihood.of_row(d, *log)).collect();
    let slope: f64 = rows.iter().map(|own| own[1]).sum();
    let values: Vec<f64> = rows.iter().map(|own| own[0]).collect();
    let mean = interval::mean(&values);
    values.iter().map(|value| -d * (value - mean) / slope).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effect_of_a_row_is_what_leaving_it_out_does() {
        // Ratios of the law of dimension 3, see `shells`.
        let steps: Vec<f64> = (0..200).map(|i| -((f64::from(i) + 0.5) / 200.0).ln()).collect();
        let both = |u: &f64| {
            steps
                .iter()
                .map(move |v| (u / 2.0 + v / 3.0) / 3.0)
                .collect::<Vec<f64>>()
        };
        let logs: Vec<f64> = steps.iter().flat_map(both).step_by(97).collect();
        let all = of_scale(4, &logs).most_likely().unwrap();
        let effects = effects(&of_scale(4, &logs), all);
        for i in [0, 100, 411] {
            let mut others = logs.clone();
            others.remove(i);
            let left_out = all - of_scale(4, &others).most_likely().unwrap();
            assert!(
                (left_out - effects[i]).abs() < 0.02 * effects[i].abs() + 1e-4,
                "{i}: {left_out} {}",
                effects[i]
            );
        }
    }
}
