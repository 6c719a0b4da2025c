// SPDX-License-Identifier: MIT
//! Gride: the intrinsic dimension at several scales, from the distances to neighbor K/2 and to neighbor K. See the page.

use super::near::{Near, TOGETHER};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::neighbors::Neighbors;
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
        let likelihood = Likelihood {
            logs: &self.logs,
            between: (self.k / 2 - 1) as f64,
            before: (self.k - 1) as f64,
        };
        let Some(value) = likelihood.most_likely() else {
            let reason = "both neighbors are equally far everywhere, as on a grid";
            return Score::undefined(id, reason, n);
        };
        let interval = self.near.interval(value, &likelihood.effects(value), shared);
        let score = Score::number(id, value, n).with_interval(interval);
        match note {
            Some(note) => score.with_note(note),
            None => score,
        }
    }
}

/// The likelihood of the dimension d, up to what does not depend on it:
/// (N − 1) ln d + a Σ ln(μ^d − 1) − b d Σ ln μ, with a = K/2 − 1 and b = K − 1. N − 1 instead of N takes the bias of TwoNN away.
struct Likelihood<'a> {
    logs: &'a [f64],
    between: f64,
    before: f64,
}

impl Likelihood<'_> {
    /// d times the derivative of one row, which N − 1 is added to over all rows, and d times the derivative of that.
    fn of_row(&self, d: f64, log: f64) -> [f64; 2] {
        let x = d * log;
        // x / (1 − e^(−x)), which is 1 at 0, where numbers are rounded.
        let (share, slope) = if x < 1e-5 {
            (1.0 + x / 2.0, 0.5 + x / 6.0)
        } else {
            let rest = -(-x).exp_m1();
            (x / rest, (rest - x * (1.0 - rest)) / (rest * rest))
        };
        [
            self.between * share - self.before * x,
            self.between * x * slope - self.before * x,
        ]
    }

    fn sums(&self, d: f64) -> [f64; 2] {
        let own = self.logs.iter().map(|log| self.of_row(d, *log));
        let [value, slope] = own.fold([0.0; 2], |sum, own| [sum[0] + own[0], sum[1] + own[1]]);
        [value + self.logs.len() as f64 - 1.0, slope]
    }

    /// The zero of the derivative, which falls with d. None where all ratios are 1.
    fn most_likely(&self) -> Option<f64> {
        let sum: f64 = self.logs.iter().sum();
        if sum <= 0.0 {
            return None;
        }
        // d ln μ is the sum of the inverses of K/2 to K − 1 on average.
        let expected: f64 = (self.between as usize + 1..=self.before as usize)
            .map(|j| 1.0 / j as f64)
            .sum();
        let mut d = expected * self.logs.len() as f64 / sum;
        let [mut low, mut high] = [0.0, f64::INFINITY];
        for _ in 0..200 {
            let [value, slope] = self.sums(d);
            if value > 0.0 {
                low = d;
            } else {
                high = d;
            }
            // Newton's step for ln d, unless it leaves what is known.
            let next = d * (-value / slope).exp();
            let next = match next > low && next < high {
                true => next,
                false if high.is_finite() => (low + high) / 2.0,
                false => 2.0 * d,
            };
            if (next - d).abs() <= 1e-15 * d {
                return Some(next);
            }
            d = next;
        }
        Some(d).filter(|d| d.is_finite())
    }

    /// What each row does to the most likely dimension, to first order.
    fn effects(&self, d: f64) -> Vec<f64> {
        let rows: Vec<[f64; 2]> = self.logs.iter().map(|log| self.of_row(d, *log)).collect();
        let slope: f64 = rows.iter().map(|own| own[1]).sum();
        let values: Vec<f64> = rows.iter().map(|own| own[0]).collect();
        let mean = interval::mean(&values);
        values.iter().map(|value| -d * (value - mean) / slope).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios whose law is that of dimension d for K = 4: with u and v the quantiles of two independent steps, μ is the product of
    /// u^(−1/2d) and v^(−1/3d), as the shells between neighbors are independent.
    fn ratios(d: f64) -> Vec<f64> {
        let steps: Vec<f64> = (0..200).map(|i| -((f64::from(i) + 0.5) / 200.0).ln()).collect();
        let both = |u: &f64| steps.iter().map(move |v| (u / 2.0 + v / 3.0) / d).collect::<Vec<f64>>();
        steps.iter().flat_map(both).collect()
    }

    #[test]
    fn ratios_of_a_known_dimension_give_it_back() {
        let logs = ratios(7.0);
        let likelihood = Likelihood {
            logs: &logs,
            between: 1.0,
            before: 3.0,
        };
        let found = likelihood.most_likely().unwrap();
        assert!((found - 7.0).abs() < 0.05, "{found}");
        assert!(likelihood.sums(found)[0].abs() < 1e-6);
    }

    #[test]
    fn the_effect_of_a_row_is_what_leaving_it_out_does() {
        let logs: Vec<f64> = ratios(3.0).into_iter().step_by(97).collect();
        let of = |logs: &[f64]| {
            let (between, before) = (1.0, 3.0);
            Likelihood { logs, between, before }.most_likely().unwrap()
        };
        let (between, before) = (1.0, 3.0);
        let all = of(&logs);
        let effects = Likelihood {
            logs: &logs,
            between,
            before,
        }
        .effects(all);
        for i in [0, 100, 411] {
            let mut others = logs.clone();
            others.remove(i);
            let left_out = all - of(&others);
            assert!(
                (left_out - effects[i]).abs() < 0.02 * effects[i].abs() + 1e-4,
                "{i}: {left_out} {}",
                effects[i]
            );
        }
    }

    #[test]
    fn equal_distances_have_no_dimension() {
        let logs = [0.0; 5];
        let (between, before) = (0.0, 1.0);
        assert_eq!(
            Likelihood {
                logs: &logs,
                between,
                before
            }
            .most_likely(),
            None
        );
    }
}
