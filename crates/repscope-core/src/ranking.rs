// SPDX-License-Identifier: MIT
//! An order of the models by scores of the user's own choice. There is no other: unlike questions are not added up.

use crate::error::{Error, Result};
use crate::metrics::MetricId;
use crate::results::Results;
use crate::score::{Better, Breakdown, Score};

/// The name of the table that [`rank`] adds.
pub const RANKING: &str = "ranking";

/// Adds a table with the models in the order of their mean rank over these scores, each with its weight. Equal values share the mean
/// of their places; a model without a value comes last.
pub fn rank(results: &mut Results, by: &[(MetricId, f64)]) -> Result<()> {
    let models: Vec<String> = results.models().into_iter().map(str::to_string).collect();
    let mut ranks: Vec<Vec<f64>> = Vec::new();
    for (metric, _) in by {
        let score = |model: &String| results.scores.iter().find(|s| s.model == *model && s.metric == *metric);
        let scores: Vec<Option<&Score>> = models.iter().map(score).collect();
        let Some(first) = scores.iter().flatten().next() else {
            return Err(Error::Input(format!("there is no score `{metric}` to rank models by")));
        };
        if first.better == Better::Neither || !first.comparable {
            return Err(Error::Input(format!(
                "models cannot be ranked by `{metric}`: no direction of it is better"
            )));
        }
        let sign = if first.better == Better::Higher { -1.0 } else { 1.0 };
        let value = |score: &Option<&Score>| score.and_then(|s| s.value).map_or(f64::INFINITY, |value| sign * value);
        let values: Vec<f64> = scores.iter().map(value).collect();
        let place = |own: &f64| {
            let ahead = values.iter().filter(|other| *other < own).count() as f64;
            let equal = values.iter().filter(|other| *other == own).count() as f64;
            ahead + (equal + 1.0) / 2.0
        };
        ranks.push(values.iter().map(place).collect());
    }
    let weights: f64 = by.iter().map(|(_, weight)| weight).sum();
    let mean = |model: usize| {
        by.iter()
            .zip(&ranks)
            .map(|((_, w), ranks)| w * ranks[model])
            .sum::<f64>()
            / weights
    };
    let mut order: Vec<(f64, usize)> = (0..models.len()).map(|model| (mean(model), model)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut table = Breakdown::of(RANKING, &order)
        .key("model", |(_, model)| models[*model].clone())
        .column("mean_rank", |(mean, _)| Some(*mean));
    for ((metric, _), ranks) in by.iter().zip(&ranks) {
        table = table.column(metric.as_str(), |(_, model)| Some(ranks[*model]));
    }
    results.breakdowns.push(table.table);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let values = [("a", 0.9, 3.0), ("b", 0.8, 1.0), ("c", 0.9, 2.0)];
        let scores = values.into_iter().flat_map(|(model, accuracy, uniformity)| {
            let of = |metric: &str, value: f64| Score {
                model: model.to_string(),
                ..Score::number(metric, value, 10)
            };
            [
                of("knn_accuracy@5", accuracy),
                of("uniformity", -uniformity),
                of("two_nn", 3.0),
            ]
        });
        scores.collect()
    }

    #[test]
    fn models_stand_in_the_order_of_their_weighted_ranks() {
        let mut results = results();
        rank(
            &mut results,
            &[("knn_accuracy@5".into(), 1.0), ("uniformity".into(), 3.0)],
        )
        .expect("a ranking");
        let table = &results.breakdowns[0];
        // Ranks 1.5, 3, 1.5 and 1, 3, 2: (1.5 + 3)/4, 3 and (1.5 + 6)/4.
        assert_eq!(table.keys[0].values, ["a", "c", "b"]);
        assert_eq!(table.columns[0].values, [Some(1.125), Some(1.875), Some(3.0)]);
    }

    #[test]
    fn a_score_without_a_direction_ranks_nothing() {
        let error = |id: &str| {
            rank(&mut results(), &[(id.into(), 1.0)])
                .expect_err("no ranking")
                .to_string()
        };
        assert!(error("two_nn").contains("no direction"), "{}", error("two_nn"));
        assert!(error("nmi").contains("no score `nmi`"), "{}", error("nmi"));
    }
}
