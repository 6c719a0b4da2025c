// SPDX-License-Identifier: MIT
//! Which scores speak about a training recipe, and which about one run of it.

use crate::scores::{distinct, grouped};
use repscope_core::{Results, Score};

/// What is said where no model has several runs.
const ONE_RUN: &str = "Each model is one training run; another run may differ";

/// Which models are recipes and which are single runs; none where all are single runs.
pub(crate) fn recipes(results: &Results) -> Option<String> {
    if results.scores.iter().all(|score| score.runs <= 1) {
        return None;
    }
    let models = distinct(results.scores.iter().map(|score| (score.runs, score.model.as_str())));
    let sentence = |(runs, names): (usize, Vec<&str>)| match runs {
        0 | 1 => format!("{}: 1 run, another training run may differ", names.join(", ")),
        _ => format!(
            "{}: mean of {runs} training runs, speaks about the recipe",
            names.join(", ")
        ),
    };
    let sentences: Vec<String> = grouped(models).into_iter().map(sentence).collect();
    Some(sentences.join("; "))
}

/// The same, with a word of caution where all are single runs.
pub(crate) fn caution(results: &Results) -> String {
    recipes(results).unwrap_or_else(|| ONE_RUN.to_string())
}

/// `5 runs`, where a score speaks about a recipe.
pub(crate) fn runs(score: &Score) -> Option<String> {
    (score.runs > 1).then(|| format!("{} runs", score.runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(model: &str, runs: usize) -> Score {
        Score {
            model: model.to_string(),
            runs,
            ..Score::number("nmi", 0.5, 100)
        }
    }

    #[test]
    fn recipes_are_told_from_single_runs() {
        let mixed: Results = [score("jepa", 5), score("ae", 1), score("vae", 5)]
            .into_iter()
            .collect();
        let expected =
            "jepa, vae: mean of 5 training runs, speaks about the recipe; ae: 1 run, another training run may differ";
        assert_eq!(recipes(&mixed).as_deref(), Some(expected));
        let single: Results = [score("a", 1), score("b", 1)].into_iter().collect();
        assert_eq!(recipes(&single), None);
        assert!(caution(&single).contains("another run may differ"));
    }
}
