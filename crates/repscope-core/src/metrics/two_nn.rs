// SPDX-License-Identifier: MIT
//! TwoNN: the intrinsic dimension from the two nearest neighbors. See the page.

use super::near::Near;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::neighbors::Neighbors;
use crate::plan::{Key, Need, Shared};
use crate::score::{Interval, Score};
use crate::spec::Spec;

const FIT: Output = Output::neither("two_nn", "above 0")
    .about("intrinsic dimension, linear fit of the literature")
    .column("Intrinsic_Dimension");
const MLE: Output = Output::neither("two_nn(fit=mle)", "above 0").about("intrinsic dimension, maximum likelihood");

pub(super) static METRIC: Metric = Metric {
    id: "two_nn",
    title: "TwoNN intrinsic dimension",
    outputs: &[FIT, MLE],
    page: include_str!("two_nn.md"),
    invariances: Invariance::SIMILARITY,
    options: &["sample", "discard"],
    ..Metric::of(Analysis::Manifold, &[Takes::Embeddings], Work::Study { needs, compute })
};

fn needs(_: &Spec, study: &Study) -> Result<Vec<Need>> {
    let is_enough = study.embeddings.rows() >= 3;
    Ok(Vec::from_iter(
        is_enough.then_some(Need::Neighbors { of: Key::RAW, k: 2 }),
    ))
}

fn compute(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    if rows < 3 {
        return Ok(METRIC.undefined("two neighbors need at least 3 rows", rows));
    }
    let queries = shared.anchors().count(rows);
    let ratios = match ratios(shared.neighbors(Key::RAW, 2)?, queries) {
        Ok(ratios) => ratios,
        Err((reason, n)) => return Ok(METRIC.undefined(reason, n)),
    };
    let n = ratios.logs.len();
    let (fit, fit_interval) = fit_with_interval(&ratios, shared);
    let (mle, mle_interval) = maximum_likelihood(&ratios, shared);
    let mut scores = vec![
        match fit {
            Some(value) => Score::number(&FIT, value, n).with_interval(fit_interval),
            None => Score::undefined(&FIT, "too few distinct ratios for a fit", n),
        },
        Score::number(&MLE, mle, n).with_interval(mle_interval),
    ];
    if let Some(note) = ratios.near.note("first distance") {
        scores = scores.into_iter().map(|s| s.with_note(note.clone())).collect();
    }
    Ok(Results::from(scores))
}

/// ln μ of the rows, μ = r2 / r1. A row with a duplicate has r1 = 0 and none.
pub(super) struct Ratios {
    /// Those that exist.
    pub(super) logs: Vec<f64>,
    /// Whose they are.
    pub(super) near: Near,
}

/// The ratios of the first `queries` rows of a list of neighbors, or why they give no dimension and how many there are.
pub(super) fn ratios(neighbors: &Neighbors, queries: usize) -> std::result::Result<Ratios, (&'static str, usize)> {
    let mut logs: Vec<f64> = Vec::with_capacity(queries);
    let mut near = Near::new(queries);
    for q in 0..queries {
        let distances = neighbors.distances_of(q);
        if distances[0] > 0.0 {
            logs.push((distances[1] / distances[0]).ln());
            near.add(q, neighbors, 2);
        }
    }
    if logs.len() < 3 {
        let reason = "fewer than 3 rows are left without the rows that have a duplicate";
        return Err((reason, logs.len()));
    }
    if logs.iter().all(|&r| r <= 0.0) {
        let reason = "first and second neighbor are equally far everywhere, as on a grid";
        return Err((reason, logs.len()));
    }
    Ok(Ratios { logs, near })
}

/// The fit and its interval.
pub(super) fn fit_with_interval(ratios: &Ratios, shared: &Shared) -> (Option<f64>, Option<Interval>) {
    let mut sorted = ratios.logs.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(fit) = Fit::new(sorted, shared.spec.discard) else {
        return (None, None);
    };
    let effects: Vec<f64> = ratios.logs.iter().map(|&log| fit.effect(log)).collect();
    (Some(fit.slope), ratios.near.interval(fit.slope, &effects, shared))
}

/// Least squares through the origin of −ln(1 − i/N) on the sorted ln μ, without the largest share.
struct Fit {
    sorted: Vec<f64>,
    /// How many of them are kept.
    kept: usize,
    slope: f64,
    /// Σ x² / N of those kept.
    squares: f64,
    /// Σ x / (1 − F) / N of the first ones, from none to all that are kept.
    steps: Vec<f64>,
    /// Σ x · F / (1 − F) / N of those kept.
    pull: f64,
}

impl Fit {
    fn new(sorted: Vec<f64>, discard: f64) -> Option<Self> {
        let n = sorted.len() as f64;
        // As in scikit-dimension: int((1 − discard)·N) points are kept, denominators stay N.
        let kept = (((1.0 - discard) * n) as usize).min(sorted.len() - 1);
        let (mut products, mut squares, mut pull) = (0.0, 0.0, 0.0);
        let mut steps = vec![0.0];
        for (i, &x) in sorted[..kept].iter().enumerate() {
            let share = (i + 1) as f64 / n;
            products += x * -(-share).ln_1p();
            squares += x * x;
            pull += x * share / (1.0 - share) / n;
            steps.push(steps[i] + x / (1.0 - share) / n);
        }
        (squares > 0.0).then(|| Fit {
            sorted,
            kept,
            slope: products / squares,
            squares: squares / n,
            steps,
            pull,
        })
    }

    /// What a ratio of this logarithm does to the slope: the derivative as its weight grows from 0, over N. The weight
    /// counts where the ratio itself stands, it raises F from there on, and it moves the largest ratio that is kept.
    fn effect(&self, log: f64) -> f64 {
        let n = self.sorted.len() as f64;
        let share = self.kept as f64 / n;
        let height = |f: f64| -(-f).ln_1p();
        let last = self.sorted[self.kept - 1];
        let is_kept = f64::from(u8::from(log <= last));
        let below = self.sorted[..self.kept].partition_point(|&x| x < log);
        let own = self.sorted.partition_point(|&x| x <= log) as f64 / n;
        let raised = self.steps[self.kept] - self.steps[below] - self.pull;
        let products = is_kept * log * height(own.min(share)) + raised + last * height(share) * (share - is_kept);
        let squares = is_kept * log * log + last * last * (share - is_kept);
        // The means of both, which a weight takes away from, cancel in the ratio.
        (products - self.slope * squares) / self.squares / n
    }
}

/// d = (N − 1) / Σ ln μ.
fn maximum_likelihood(ratios: &Ratios, shared: &Shared) -> (f64, Option<Interval>) {
    let (n, sum) = (ratios.logs.len() as f64, ratios.logs.iter().sum::<f64>());
    let value = (n - 1.0) / sum;
    // To first order a row moves d by −d (ln μ − mean) / Σ ln μ.
    let effects: Vec<f64> = ratios.logs.iter().map(|log| -value * (log - sum / n) / sum).collect();
    (value, ratios.near.interval(value, &effects, shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effect_of_a_ratio_is_the_change_of_the_slope_when_its_weight_grows() {
        // Logarithms of an exponential law: the slope is its rate.
        let n = 2000;
        let logs: Vec<f64> = (0..n)
            .map(|i| -(1.0 - (f64::from(i) + 0.5) / f64::from(n)).ln() / 3.0)
            .collect();
        let fit = Fit::new(logs.clone(), 0.1).unwrap();
        assert!((fit.slope - 3.0).abs() < 0.01, "{}", fit.slope);
        for at in [0.01, 0.1, 0.3, 0.6, 1.5] {
            let mut more = logs.clone();
            let copies = 20;
            more.extend(vec![at; copies]);
            more.sort_unstable_by(f64::total_cmp);
            let change = (Fit::new(more, 0.1).unwrap().slope - fit.slope) / copies as f64;
            assert!(
                (change - fit.effect(at)).abs() < 0.05 * fit.effect(at).abs() + 2e-5,
                "{at}: {change} {}",
                fit.effect(at)
            );
        }
    }
}
