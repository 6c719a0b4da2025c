// SPDX-License-Identifier: MIT
//! Which models can be best by a score: one rule for winners, verdicts and the marks of tables.

use crate::findings::Trouble;
use crate::metrics::Analysis;
use crate::results::Results;
use crate::score::{Better, Score};

/// From this share of the columns on, an intrinsic dimension is that of noise, where there are at least so many columns.
const LIKE_NOISE: f64 = 0.75;
const FEW_COLUMNS: f64 = 8.0;

impl Score {
    /// Whether the interval holds the chance level.
    pub fn is_at_chance(&self) -> bool {
        let holds = |([low, high], chance): ([f64; 2], f64)| match self.better {
            Better::Higher => low <= chance,
            Better::Lower => high >= chance,
            Better::Neither => false,
        };
        self.interval.zip(self.chance).is_some_and(holds)
    }
}

impl Results {
    /// Why the model of a score cannot be best by it, whatever the value; the sentence follows the name of the model. These must be all
    /// results of a run: what speaks against a model is mostly another score.
    pub fn unfit(&self, score: &Score) -> Option<String> {
        if self.has_collapsed(&score.model) {
            let what = if score.runs > 1 { "a collapsed run" } else { "collapsed" };
            return Some(format!("has {what}"));
        }
        let analysis = score.metric.metric()?.analysis;
        if analysis == Analysis::Smoothness && self.findings.iter().any(|own| own.trouble == Trouble::Unordered) {
            return Some("has inputs without an order".to_string());
        }
        if score.metric.changes_with_columns() && self.findings.iter().any(|own| own.trouble == Trouble::Columns) {
            return Some("is measured by its own number of columns".to_string());
        }
        let is_headline = |id: &str| analysis.question().headlines.contains(&id);
        if analysis != Analysis::Clid || !score.metric.output().is_some_and(|output| is_headline(output.id)) {
            return None;
        }
        // The sum alone rewards dimensions.
        if score.metric == "clid"
            && let Some(share) = self.noise_like(&score.model)
        {
            let share = 100.0 * share;
            return Some(format!(
                "is no candidate: it fills {share:.0} % of its dimensions, as noise does"
            ));
        }
        // A score that is meant to predict accuracy loses to the accuracy itself.
        let of_labels = |own: &&Score| own.model == score.model && own.metric.family() == "knn_accuracy";
        let labels = self.scores.iter().find(of_labels).filter(|own| own.is_at_chance())?;
        Some(format!("is no candidate: its {} is at chance", labels.metric))
    }

    /// The share of its columns that the intrinsic dimension of a model is, where that is what noise has. In a few columns it says
    /// nothing.
    fn noise_like(&self, model: &str) -> Option<f64> {
        let dimension = self.score(model, "clid.id")?.value?;
        let share = self.score(model, "clid.id_normalized")?.value?;
        (share >= LIKE_NOISE && dimension / share >= FEW_COLUMNS).then_some(share)
    }

    /// Takes the wins of models that cannot be best from the differences, and notes why.
    pub fn withhold_wins(&mut self) {
        let mut differences = std::mem::take(&mut self.differences);
        for d in &mut differences {
            let winner = d.winner.as_deref().and_then(|model| self.score(model, &d.metric));
            let Some((winner, why)) = winner.and_then(|score| Some((score, self.unfit(score)?))) else {
                continue;
            };
            let why = format!("{} {why}, so it wins nothing", winner.model);
            d.winner = None;
            d.note = match d.note.take() {
                Some(note) if note.contains(&why) => Some(note),
                Some(note) => Some(format!("{note}; {why}")),
                None => Some(why),
            };
        }
        self.differences = differences;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Finding;
    use crate::score::Difference;
    use crate::stats::keep_best;

    /// Two models of which the first has the higher CLID, and this share of its 16 columns as intrinsic dimension.
    fn of_share(share: f64) -> Results {
        let score = |model: &str, id: &str, value: f64| Score {
            model: model.to_string(),
            better: Better::Higher,
            ..Score::number(id, value, 100)
        };
        let mut results = Results::from(vec![
            score("noise", "clid", 1.5),
            score("noise", "clid.id", 16.0 * share),
            score("noise", "clid.id_normalized", share),
            score("pca", "clid", 1.4),
            score("pca", "clid.id", 6.0),
            score("pca", "clid.id_normalized", 0.375),
        ]);
        results.differences = vec![Difference {
            winner: Some("noise".to_string()),
            ..Difference::new("clid", ["noise", "pca"], 0.1, Better::Higher, 0.95)
        }];
        results
    }

    #[test]
    fn what_fills_its_dimensions_as_noise_does_wins_nothing() {
        let mut results = of_share(0.85);
        // Joining results adjusts the winners anew: the note must not be there twice.
        for _ in 0..2 {
            results.differences[0].winner = Some("noise".to_string());
            results.withhold_wins();
        }
        let d = &results.differences[0];
        let why = "noise is no candidate: it fills 85 % of its dimensions, as noise does, so it wins nothing";
        assert_eq!((d.winner.as_deref(), d.note.as_deref()), (None, Some(why)));
        let mut results = of_share(0.7);
        results.withhold_wins();
        assert_eq!(results.differences[0].winner.as_deref(), Some("noise"));
    }

    #[test]
    fn differences_of_many_models_are_kept_against_the_best_that_can_win() {
        let mut results = of_share(0.85);
        results.scores.push(Score {
            model: "tanh".to_string(),
            better: Better::Higher,
            ..Score::number("clid", 1.3, 100)
        });
        let pairs = [["noise", "pca"], ["noise", "tanh"], ["pca", "tanh"]];
        results.differences = pairs
            .map(|pair| Difference::new("clid", pair, 0.1, Better::Higher, 0.95))
            .to_vec();
        keep_best(&mut results, None);
        let kept: Vec<[&str; 2]> = results.differences.iter().map(|d| [&*d.a, &*d.b]).collect();
        assert_eq!(kept, [["noise", "pca"], ["pca", "tanh"]]);
    }

    #[test]
    fn nobody_wins_by_the_smoothness_of_rows_without_an_order() {
        let mut results = of_share(0.5);
        results.scores.push(Score::number("smoothness.r", 0.9, 100));
        let smooth = results.scores.last().expect("a score").clone();
        assert_eq!(results.unfit(&smooth), None);
        results.findings.push(Finding {
            trouble: Trouble::Unordered,
            model: None,
            text: "consecutive inputs are as far apart as any".to_string(),
        });
        assert_eq!(results.unfit(&smooth).as_deref(), Some("has inputs without an order"));
        assert_eq!(results.unfit(&results.scores[0]), None);
    }

    #[test]
    fn nobody_wins_by_the_clid_of_models_of_different_columns() {
        let mut results = of_share(0.5);
        results.findings.push(Finding {
            trouble: Trouble::Columns,
            model: None,
            text: "models have 16 to 32 columns".to_string(),
        });
        results.withhold_wins();
        let d = &results.differences[0];
        let why = "noise is measured by its own number of columns, so it wins nothing";
        assert_eq!((d.winner.as_deref(), d.note.as_deref()), (None, Some(why)));
        let learnability = Score::number("clid.cl", 0.9, 100);
        assert_eq!(results.unfit(&learnability), None);
    }

    #[test]
    fn accuracy_at_chance_refutes_a_score_that_predicts_it() {
        let mut results = of_share(0.5);
        results.scores.push(Score {
            model: "noise".to_string(),
            better: Better::Higher,
            interval: Some([0.05, 0.15]),
            chance: Some(0.1),
            ..Score::number("knn_accuracy@5", 0.1, 100)
        });
        let why = results.unfit(&results.scores[0]);
        assert_eq!(why.as_deref(), Some("is no candidate: its knn_accuracy@5 is at chance"));
        // Other questions have their own answer.
        let accuracy = results.scores.last().expect("a score").clone();
        assert_eq!(results.unfit(&accuracy), None);
    }
}
