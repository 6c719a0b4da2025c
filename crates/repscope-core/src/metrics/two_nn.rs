// SPDX-License-Identifier: MIT
//! TwoNN: the intrinsic dimension from the two nearest neighbours. See the page.

use super::{Analysis, Answer, Invariance, Metric, Output, Work};
use crate::data::Study;
use crate::error::Result;
use crate::interval;
use crate::passes::neighbors::Neighbors;
use crate::plan::{Key, Need, Shared};
use crate::random;
use crate::score::{Better, Interval, Score};
use crate::spec::Spec;

pub(super) static METRIC: Metric = Metric {
    id: "two_nn",
    title: "TwoNN intrinsic dimension",
    analysis: Analysis::Manifold,
    outputs: &[
        Output {
            id: "two_nn",
            about: "intrinsic dimension, linear fit of the literature",
            better: Better::Neither,
            range: "above 0",
        },
        Output {
            id: "two_nn(fit=mle)",
            about: "intrinsic dimension, maximum likelihood",
            better: Better::Neither,
            range: "above 0",
        },
    ],
    page: include_str!("two_nn.md"),
    invariances: Invariance::SIMILARITY,
    work: Work::Study { needs, compute },
};

/// Groups of rows left out in turn by the jackknife of the fit.
const GROUPS: usize = 50;

fn needs(_: &Spec, study: &Study) -> Result<Vec<Need>> {
    Ok(if study.latent.rows() < 3 {
        Vec::new()
    } else {
        vec![Need::Neighbors { of: Key::RAW, k: 2 }]
    })
}

fn compute(shared: &Shared) -> Result<Answer> {
    let rows = shared.study.latent.rows();
    let undefined = |reason: &str, n: usize| {
        let score = |id| Score::undefined(id, reason, n, Better::Neither);
        Ok(Answer {
            scores: vec![score("two_nn"), score("two_nn(fit=mle)")],
            ..Answer::default()
        })
    };
    if rows < 3 {
        return undefined("two neighbours need at least 3 rows", rows);
    }
    let queries = shared.anchors().count(rows);
    let ratios = match ratios(shared.neighbors(Key::RAW, 2)?, queries) {
        Ok(ratios) => ratios,
        Err((reason, n)) => return undefined(reason, n),
    };
    let (level, n) = (shared.spec.level, ratios.logs.len());
    let (fit, fit_interval) = fit_with_interval(&ratios, shared.spec);
    let (mle, mle_interval) = maximum_likelihood(&ratios, level);
    let mut scores = vec![
        match fit {
            Some(value) => Score::number("two_nn", value, n, Better::Neither).with_interval(fit_interval),
            None => Score::undefined("two_nn", "too few distinct ratios for a fit", n, Better::Neither),
        },
        Score::number("two_nn(fit=mle)", mle, n, Better::Neither).with_interval(mle_interval),
    ];
    if let Some(note) = ratios.note() {
        scores = scores.into_iter().map(|s| s.with_note(note.clone())).collect();
    }
    Ok(Answer {
        scores,
        ..Answer::default()
    })
}

/// ln μ of the rows, μ = r2 / r1. A row with a duplicate has r1 = 0 and none.
pub(super) struct Ratios {
    /// Those that exist.
    pub(super) logs: Vec<f64>,
    /// The query that each belongs to.
    owners: Vec<u32>,
    /// How many queries there are.
    queries: usize,
}

impl Ratios {
    /// What a reader must know about the rows that were dropped, if any were.
    pub(super) fn note(&self) -> Option<String> {
        let (dropped, queries) = (self.queries - self.logs.len(), self.queries);
        (dropped > 0).then(|| {
            format!("{dropped} of {queries} rows dropped: they have a duplicate, so their first distance is 0")
        })
    }
}

/// The ratios of the first `queries` rows of a list of neighbours, or why they give no dimension and how many there are.
pub(super) fn ratios(neighbors: &Neighbors, queries: usize) -> std::result::Result<Ratios, (&'static str, usize)> {
    let mut logs: Vec<f64> = Vec::with_capacity(queries);
    let mut owners: Vec<u32> = Vec::with_capacity(queries);
    for q in 0..queries {
        let distances = neighbors.distances_of(q);
        if distances[0] > 0.0 {
            logs.push((distances[1] / distances[0]).ln());
            owners.push(q as u32);
        }
    }
    if logs.len() < 3 {
        let reason = "fewer than 3 rows are left without the rows that have a duplicate";
        return Err((reason, logs.len()));
    }
    if logs.iter().all(|&r| r <= 0.0) {
        let reason = "first and second neighbour are equally far everywhere, as on a grid";
        return Err((reason, logs.len()));
    }
    Ok(Ratios { logs, owners, queries })
}

/// The fit, with a delete-one-group jackknife over random groups of rows. The groups do not depend on the codes, so
/// those of two models can be compared.
pub(super) fn fit_with_interval(ratios: &Ratios, spec: &Spec) -> (Option<f64>, Option<Interval>) {
    let groups = GROUPS.min(ratios.logs.len());
    let mut group = vec![0u32; ratios.queries];
    let order = random::permutation(ratios.queries, &mut random::stream(spec.seed, "two_nn", 0));
    for (place, &query) in order.iter().enumerate() {
        group[query as usize] = (place % groups) as u32;
    }
    let owners = ratios.owners.iter().map(|&q| group[q as usize]);
    let mut sorted: Vec<(f64, u32)> = ratios.logs.iter().copied().zip(owners).collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let all: Vec<f64> = sorted.iter().map(|s| s.0).collect();
    let Some(value) = linear_fit(&all, spec.discard) else {
        return (None, None);
    };
    let without = |group: u32| {
        let kept: Vec<f64> = sorted.iter().filter(|s| s.1 != group).map(|s| s.0).collect();
        linear_fit(&kept, spec.discard)
    };
    let replicates: Option<Vec<f64>> = (0..groups as u32).map(without).collect();
    let interval = replicates.and_then(|r| interval::jackknife(value, &r, "rows", spec.level));
    (Some(value), interval.map(|i| i.within(0.0, f64::MAX)))
}

/// Least squares through the origin of −ln(1 − i/N) on the sorted ln μ, without the largest share.
fn linear_fit(sorted: &[f64], discard: f64) -> Option<f64> {
    let n = sorted.len();
    // As in scikit-dimension: int((1 − discard)·N) points are kept, denominators stay N.
    let kept = (((1.0 - discard) * n as f64) as usize).min(n - 1);
    let (mut products, mut squares) = (0.0, 0.0);
    for (i, &x) in sorted[..kept].iter().enumerate() {
        let y = -(-((i + 1) as f64 / n as f64)).ln_1p();
        products += x * y;
        squares += x * x;
    }
    (squares > 0.0).then(|| products / squares)
}

/// d = (N − 1) / Σ ln μ, with the exact chi-squared interval for independent ratios.
fn maximum_likelihood(ratios: &Ratios, level: f64) -> (f64, Option<Interval>) {
    let (n, sum) = (ratios.logs.len() as f64, ratios.logs.iter().sum::<f64>());
    let value = (n - 1.0) / sum;
    let end = |q: f64| interval::chi_squared_quantile(q, 2.0 * n).map(|x| x / (2.0 * sum));
    let interval = end(0.5 - level / 2.0)
        .zip(end(0.5 + level / 2.0))
        .map(|(low, high)| Interval {
            low,
            high,
            level,
            standard_error: Some(value / n.sqrt()),
            unit: "rows",
            method: "chi-squared",
            effects: None,
        });
    // To first order a row moves d by −d (ln μ − mean) / Σ ln μ.
    let mut effects = vec![0.0; ratios.queries];
    for (&q, log) in ratios.owners.iter().zip(&ratios.logs) {
        effects[q as usize] = -value * (log - sum / n) / sum;
    }
    (value, interval.map(|i| i.with_effects(effects)))
}
