// SPDX-License-Identifier: MIT
//! The order of models over all metrics with a direction.

use crate::scores::distinct;
use repscope_core::{Better, Difference, Results};

/// How a model stands against the others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    /// Its number among the models of the results.
    pub(super) model: usize,
    /// Differences with a p-value in which it is the better one, the worse one, and neither.
    pub(super) wins: usize,
    pub(super) losses: usize,
    pub(super) ties: usize,
    /// Its mean rank by value, 1 is best, over the metrics that have a value for every model.
    pub(super) mean_rank: Option<f64>,
}

/// The models, best first: by wins less losses, then by mean rank, then as given.
pub(super) fn ranking(results: &Results, models: &[&str]) -> Vec<Standing> {
    let ranks = ranks(results, models);
    let stand = |(model, name): (usize, &&str)| {
        let mut standing = Standing {
            model,
            wins: 0,
            losses: 0,
            ties: 0,
            mean_rank: mean(ranks.iter().map(|of_metric| of_metric[model])),
        };
        let is_own = |d: &&Difference| d.a == **name || d.b == **name;
        for d in results.differences.iter().filter(|d| is_tested(d)).filter(is_own) {
            match d.winner.as_deref() {
                Some(winner) if winner == *name => standing.wins += 1,
                Some(_) => standing.losses += 1,
                None => standing.ties += 1,
            }
        }
        standing
    };
    let mut standings: Vec<Standing> = models.iter().enumerate().map(stand).collect();
    let lead = |s: &Standing| s.wins as i64 - s.losses as i64;
    let rank = |s: &Standing| s.mean_rank.unwrap_or(f64::INFINITY);
    // Stable: of equals the first given stays first.
    standings.sort_by(|a, b| lead(b).cmp(&lead(a)).then(rank(a).total_cmp(&rank(b))));
    standings
}

/// Whether a difference could have had a winner.
pub(super) fn is_tested(difference: &Difference) -> bool {
    difference.better != Better::Neither && difference.p_adjusted.is_some()
}

/// The metrics by which models can be ranked, with their direction.
pub(super) fn directed(results: &Results) -> Vec<(&str, Better)> {
    let with_direction = || results.differences.iter().filter(|d| d.better != Better::Neither);
    let metrics = distinct(with_direction().map(|d| d.metric.as_str()));
    metrics
        .into_iter()
        .filter_map(|metric| Some((metric, with_direction().find(|d| d.metric == metric)?.better)))
        .collect()
}

/// The ranks of the models in each metric with a direction that has a value for all of them.
fn ranks(results: &Results, models: &[&str]) -> Vec<Vec<f64>> {
    let of_metric = |(metric, better): (&str, Better)| {
        let value = |model: &&str| results.score(model, metric)?.value;
        let values: Vec<f64> = models.iter().map(value).collect::<Option<_>>()?;
        let is_ahead = |a: f64, b: f64| if better == Better::Higher { a > b } else { a < b };
        // Equal values share the mean of their places.
        let rank = |&own: &f64| {
            let ahead = values.iter().filter(|&&other| is_ahead(other, own)).count() as f64;
            let equal = values.iter().filter(|&&other| other == own).count() as f64;
            ahead + (equal + 1.0) / 2.0
        };
        Some(values.iter().map(rank).collect())
    };
    directed(results).into_iter().filter_map(of_metric).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
