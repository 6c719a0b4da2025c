// SPDX-License-Identifier: MIT
//! Training runs of one recipe: their scores become one, which speaks about the recipe.
//!
//! The target is the expectation over training seeds and rows. All runs see the same rows, so this is a design in which runs and
//! rows are crossed. The value is the mean of the runs. Its variance has two parts. One is the variance between runs divided by
//! their number. The other is the noise of the rows that all runs share: the mean product of what a row does to two different
//! runs, summed over rows. What a row does to one run alone is in the variance between runs already, so it is not counted
//! again. Readers and cases of medical imaging are combined in the same way (Obuchowski and Rockette 1995). The interval of both
//! parts is Howe's (1974), which holds with two or three runs too.

use super::interval::{Part, freedom, howe, t_quantile};
use crate::findings::Finding;
use crate::metrics::Output;
use crate::results::Results;
use crate::score::{Score, Training};

/// A training recipe and its runs, each of which is a model of the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// What results call it.
    pub name: String,
    /// The models that are its runs, in order; at least two.
    pub runs: Vec<String>,
}

impl Recipe {
    /// Puts findings about runs under the names of their recipes.
    pub fn rename(recipes: &[Recipe], findings: &mut [Finding]) {
        for finding in findings {
            let owner = recipes.iter().find(|own| own.run(finding.model.as_deref()).is_some());
            if let (Some(recipe), Some(run)) = (owner, &finding.model) {
                finding.text = format!("in its run {run} {}", finding.text);
                finding.model = Some(recipe.name.clone());
            }
        }
    }

    /// The number of a run, by the name of its model.
    fn run(&self, model: Option<&str>) -> Option<usize> {
        self.runs.iter().position(|run| Some(run.as_str()) == model)
    }
}

/// Replaces the scores of the runs of each recipe by one. Curves, breakdowns and numbers of single samples are those of its
/// first run, and a warning says so.
pub fn pool(results: &mut Results, recipes: &[Recipe], level: f64) {
    for recipe in recipes {
        let Results {
            scores,
            curves,
            breakdowns,
            samples,
            ..
        } = results;
        let mut pooled: Vec<Score> = Vec::new();
        for score in scores.iter().filter(|score| score.model == recipe.runs[0]) {
            let of_run = |run: &String| {
                let mut own = scores.iter();
                own.find(|other| other.model == *run && other.metric == score.metric)
            };
            // A metric that not all runs have is no score of the recipe.
            let runs: Option<Vec<&Score>> = recipe.runs.iter().map(of_run).collect();
            pooled.extend(runs.map(|runs| mean_score(recipe, &runs, level)));
        }
        let at = scores.iter().position(|score| recipe.run(Some(&score.model)).is_some());
        scores.retain(|score| recipe.run(Some(&score.model)).is_none());
        let at = at.unwrap_or(0).min(scores.len());
        scores.splice(at..at, pooled);
        let details = curves.len() + breakdowns.len() + samples.len();
        first_run(curves, recipe, |curve| &mut curve.model);
        first_run(breakdowns, recipe, |table| &mut table.model);
        first_run(samples, recipe, |table| &mut table.model);
        if curves.len() + breakdowns.len() + samples.len() < details {
            let (name, first) = (&recipe.name, &recipe.runs[0]);
            results.warnings.push(format!(
                "{name}: curves, breakdowns and single samples are those of its first run, {first}"
            ));
        }
    }
}

/// Keeps what the first run says, under the name of the recipe.
fn first_run<T>(items: &mut Vec<T>, recipe: &Recipe, name: fn(&mut T) -> &mut String) {
    items.retain_mut(|item| {
        let name = name(item);
        match recipe.run(Some(name)) {
            Some(0) => {
                name.clone_from(&recipe.name);
                true
            }
            Some(_) => false,
            None => true,
        }
    });
}

/// The score of a recipe from those of its runs.
fn mean_score(recipe: &Recipe, runs: &[&Score], level: f64) -> Score {
    let first = runs[0];
    let count = runs.len() as f64;
    let mut score = Score {
        model: recipe.name.clone(),
        runs: runs.len(),
        replicates: runs.iter().map(|run| run.value).collect(),
        n: runs.iter().map(|run| run.n).min().unwrap_or(0),
        comparable: runs.iter().all(|run| run.comparable),
        note: joined(runs.iter().filter_map(|run| run.note.as_deref())),
        ..Score::undefined(first.metric.clone(), "", 0)
    };
    score.better = first.better;
    score.effective_k = first.effective_k;
    if let Some(missing) = runs.iter().find(|run| run.value.is_none()) {
        let reason = missing.reason.as_deref().unwrap_or("no reason was recorded");
        score.reason = Some(match runs.iter().all(|run| run.reason == missing.reason) {
            true => reason.to_string(),
            false => format!("its run {} has no value: {reason}", missing.model),
        });
        return score;
    }
    let values: Vec<f64> = runs.iter().filter_map(|run| run.value).collect();
    let mean = values.iter().sum::<f64>() / count;
    let chances: Option<Vec<f64>> = runs.iter().map(|run| run.chance).collect();
    score.value = Some(mean);
    score.reason = None;
    score.chance = chances.map(|chances| chances.iter().sum::<f64>() / count);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let between = squares / (count - 1.0) / count;

    let units = units_of(runs);
    let of_units = units.as_ref().map_or(0.0, |units| units.own);
    let shared: Option<Part> = match (
        &units,
        runs.iter().map(|run| run.standard_error).collect::<Option<Vec<f64>>>(),
    ) {
        (Some(units), _) => Some(((units.total - units.own).max(0.0), freedom(&units.effects))),
        // Without effects it is unknown which noise the runs share: at most all of it.
        (None, Some(errors)) => Some((errors.iter().map(|e| e * e).sum::<f64>() / count, f64::INFINITY)),
        (None, None) => None,
    };
    if shared.is_none() && between == 0.0 {
        return score;
    }
    let found = howe([(between, count - 1.0), shared.unwrap_or((0.0, f64::INFINITY))], level);
    let found = found.and_then(|(error, freedom)| Some((error, t_quantile(0.5 + level / 2.0, freedom)? * error)));
    let Some((error, reach)) = found else {
        return score;
    };
    let [least, most] = first
        .metric
        .output()
        .map_or([f64::NEG_INFINITY, f64::INFINITY], Output::bounds);
    score.interval = Some([(mean - reach).max(least), (mean + reach).min(most)]);
    score.level = Some(level);
    score.standard_error = Some(error);
    score.method = Some("Student t".to_string());
    score.unit = first.unit.clone();
    score.training = Some(Training {
        variance: between,
        of_units,
        freedom: count - 1.0,
    });
    score.effects = units.map(|units| units.effects.into());
    score.widen_where_nothing_varies(level);
    if shared.is_none() {
        score.unit = None;
        score.note = joined(
            score
                .note
                .as_deref()
                .into_iter()
                .chain(["the interval is over training runs, for these rows"]),
        );
    }
    score
}

/// What units do to the mean of the runs.
struct MeanEffects {
    effects: Vec<f64>,
    /// The sum of their squares.
    total: f64,
    /// The part of it that single runs cause.
    own: f64,
}

/// None where the runs do not report what the same units do.
fn units_of(runs: &[&Score]) -> Option<MeanEffects> {
    let first = runs[0].effects.as_ref()?;
    let is_alike = |run: &&Score| {
        run.unit == runs[0].unit && run.effects.as_ref().is_some_and(|effects| effects.len() == first.len())
    };
    if first.len() < 2 || !runs.iter().all(is_alike) {
        return None;
    }
    let count = runs.len() as f64;
    let all: Vec<&[f64]> = runs.iter().filter_map(|run| run.effects.as_deref()).collect();
    let effects: Vec<f64> = (0..first.len())
        .map(|unit| all.iter().map(|own| own[unit]).sum::<f64>() / count)
        .collect();
    let squares = |own: &&[f64]| {
        own.iter()
            .zip(&effects)
            .map(|(e, mean)| (e - mean) * (e - mean))
            .sum::<f64>()
    };
    let own = all.iter().map(squares).sum::<f64>() / (count - 1.0) / count;
    Some(MeanEffects {
        total: effects.iter().map(|e| e * e).sum(),
        own,
        effects,
    })
}

/// The different notes in one.
fn joined<'a>(notes: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for note in notes {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    (!all.is_empty()).then(|| all.join("; "))
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand_chacha::ChaCha8Rng;

    use super::super::interval::{Units, of_mean};
    use super::*;
    use crate::random;
    use crate::run::{Driver, Order};
    use crate::score::{Better, Difference};
    use crate::spec::Spec;
    use crate::stats::compare;

    /// A mean of 0 and a variance of 1 (Box and Muller 1958).
    fn normal(rng: &mut ChaCha8Rng) -> f64 {
        let uniform = |rng: &mut ChaCha8Rng| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let (a, b) = (1.0 - uniform(rng), uniform(rng));
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// The model of the simulations: the value of row i in run r is mean + training_r + shared_i + own_ri.
    #[derive(Clone, Copy)]
    struct Design {
        runs: usize,
        rows: usize,
        /// Standard deviations of the three.
        training: f64,
        shared: f64,
        own: f64,
    }

    impl Design {
        fn scores(&self, model: &str, shared: &[f64], rng: &mut ChaCha8Rng) -> Vec<Score> {
            let score = |run: usize| {
                let training = self.training * normal(rng);
                let own: Vec<f64> = shared
                    .iter()
                    .map(|row| training + row + self.own * normal(rng))
                    .collect();
                let mean = own.iter().sum::<f64>() / own.len() as f64;
                let interval = of_mean(&own, Units::Single("rows"), 0.95);
                let mut score = Score::number("m", mean, own.len()).with_interval(interval);
                (score.model, score.better) = (format!("{model}/{run}"), Better::Higher);
                score
            };
            (0..self.runs).map(score).collect()
        }

        fn rows(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
            (0..self.rows).map(|_| self.shared * normal(rng)).collect()
        }

        fn recipe(&self, name: &str) -> Recipe {
            Recipe {
                name: name.to_string(),
                runs: (0..self.runs).map(|run| format!("{name}/{run}")).collect(),
            }
        }

        /// The share of intervals that hold the true mean, 0.
        fn coverage(&self, repeats: u64) -> f64 {
            let covers = |i: &u64| {
                let mut rng = random::stream(7, "coverage", *i);
                let rows = self.rows(&mut rng);
                let mut results = Results::from(self.scores("a", &rows, &mut rng));
                pool(&mut results, &[self.recipe("a")], 0.95);
                let [low, high] = results.scores[0].interval.expect("an interval");
                low <= 0.0 && 0.0 <= high
            };
            (0..repeats).filter(covers).count() as f64 / repeats as f64
        }

        fn compared(&self, shift: f64, index: u64) -> Difference {
            let mut rng = random::stream(7, "winners", index);
            let rows = self.rows(&mut rng);
            let mut scores = self.scores("a", &rows, &mut rng);
            for score in &mut scores {
                score.value = score.value.map(|value| value + shift);
            }
            scores.extend(self.scores("b", &rows, &mut rng));
            let mut results = Results::from(scores);
            pool(&mut results, &[self.recipe("a"), self.recipe("b")], 0.95);
            compare(&mut results, &Spec::default(), &Driver::silent(Order::Serial));
            results.differences.swap_remove(0)
        }
    }

    /// Training noise from far above to far below the noise of rows, with noise that rows share and noise that they do not.
    fn designs() -> Vec<Design> {
        let mut all = Vec::new();
        for runs in [5, 10] {
            for (rows, training, shared, own) in [
                (60, 0.5, 1.0, 0.5),
                (60, 0.1, 1.0, 0.5),
                (60, 0.1, 1.0, 2.0),
                (60, 0.02, 0.3, 1.0),
                (12, 0.3, 1.0, 1.0),
            ] {
                all.push(Design {
                    runs,
                    rows,
                    training,
                    shared,
                    own,
                });
            }
        }
        all
    }

    #[test]
    fn intervals_of_recipes_cover_their_expectation() {
        for design in designs() {
            // The standard error of a share of 0.95 of 3000 is 0.004.
            let share = design.coverage(3000);
            let Design {
                runs, rows, training, ..
            } = design;
            assert!(
                (0.93..=0.975).contains(&share),
                "{runs} runs, {rows} rows, {training}: {share}"
            );
        }
        // Wide with two runs, but never too narrow.
        for design in designs() {
            let share = Design { runs: 2, ..design }.coverage(3000);
            assert!(share >= 0.93, "{share}");
        }
    }

    #[test]
    fn equal_recipes_have_a_winner_in_at_most_six_of_a_hundred_runs() {
        for design in designs() {
            let wins = |i: &u64| design.compared(0.0, *i).winner.is_some();
            let share = (0..2000).filter(wins).count() as f64 / 2000.0;
            let Design {
                runs, rows, training, ..
            } = design;
            assert!(share <= 0.06, "{runs} runs, {rows} rows, {training}: {share}");
        }
        // A difference of five standard deviations between runs is found.
        let found = |i: &u64| designs()[0].compared(2.5, *i).winner.as_deref() == Some("a");
        assert!((0..200).filter(found).count() > 190);
    }

    fn run(model: &str, value: f64, effects: [f64; 3]) -> Score {
        let mut score = Score::number("m", value, 3);
        (score.model, score.better) = (model.to_string(), Better::Higher);
        score.unit = Some("rows".to_string());
        score.standard_error = Some(effects.iter().map(|e| e * e).sum::<f64>().sqrt());
        score.effects = Some(effects.to_vec().into());
        score
    }

    fn pooled(scores: Vec<Score>) -> Results {
        let runs = scores.iter().map(|score| score.model.clone()).collect();
        let mut results = Results::from(scores);
        let recipe = Recipe {
            name: "jepa".to_string(),
            runs,
        };
        pool(&mut results, &[recipe], 0.95);
        results
    }

    #[test]
    fn the_error_of_a_recipe_is_that_of_runs_and_of_the_noise_that_they_share() {
        let results = pooled(vec![
            run("jepa/1", 0.5, [0.3, -0.2, -0.1]),
            run("jepa/2", 0.7, [0.1, 0.0, -0.1]),
        ]);
        let [score] = &results.scores[..] else {
            panic!("{:?}", results.scores)
        };
        // By hand: the runs have a variance of 0.02, so 0.01 for their mean with 1 degree of freedom; the product of the effects
        // is 0.03 + 0 + 0.01 = 0.04, with 2. Reach √(0.01·12.706205² + 0.04·4.302653²) = 1.534597.
        assert_eq!((score.model.as_str(), score.value, score.runs), ("jepa", Some(0.6), 2));
        assert_eq!(score.replicates, [Some(0.5), Some(0.7)]);
        assert!(
            (score.standard_error.unwrap() - 0.05f64.sqrt()).abs() < 1e-12,
            "{score:?}"
        );
        let reach = (0.01 * 12.706_204_736f64.powi(2) + 0.04 * 4.302_652_73f64.powi(2)).sqrt();
        let [low, high] = score.interval.unwrap();
        assert!(
            (low - (0.6 - reach)).abs() < 1e-6 && (high - (0.6 + reach)).abs() < 1e-6,
            "{low} {high}"
        );
    }

    #[test]
    fn a_run_without_a_value_leaves_the_recipe_without_one() {
        let mut lost = run("jepa/2", 0.7, [0.1, 0.0, -0.1]);
        (lost.value, lost.reason) = (None, Some("all rows are equal".to_string()));
        let results = pooled(vec![run("jepa/1", 0.5, [0.3, -0.2, -0.1]), lost]);
        let score = &results.scores[0];
        assert_eq!((score.value, score.interval), (None, None));
        assert_eq!(
            score.reason.as_deref(),
            Some("its run jepa/2 has no value: all rows are equal")
        );
        assert_eq!(score.replicates, [Some(0.5), None]);
    }

    #[test]
    fn scores_without_errors_have_intervals_over_runs() {
        let plain = |model: &str, value| Score {
            model: model.to_string(),
            ..Score::number("m", value, 10)
        };
        let results = pooled(vec![plain("a", 1.0), plain("b", 2.0), plain("c", 3.0)]);
        // Student's t of 1, 2, 3 with 2 degrees of freedom: 4.302653 · 1/√3.
        let [low, high] = results.scores[0].interval.unwrap();
        assert!((high - 2.0 - 2.484_138).abs() < 1e-5 && (2.0 - low - 2.484_138).abs() < 1e-5);
        assert!(results.scores[0].note.as_deref().unwrap().contains("for these rows"));
        let same = pooled(vec![plain("a", 1.0), plain("b", 1.0)]);
        assert_eq!(same.scores[0].interval, None);
    }

    #[test]
    fn a_recipe_stands_where_its_runs_stood_and_its_findings_name_the_run() {
        let scores = vec![
            run("a", 0.1, [0.1, -0.1, 0.0]),
            run("jepa/1", 0.5, [0.3, -0.2, -0.1]),
            run("jepa/2", 0.7, [0.1, 0.0, -0.1]),
            run("z", 0.2, [0.1, 0.0, -0.1]),
        ];
        let recipe = Recipe {
            name: "jepa".to_string(),
            runs: vec!["jepa/1".to_string(), "jepa/2".to_string()],
        };
        let mut results = Results::from(scores);
        pool(&mut results, std::slice::from_ref(&recipe), 0.95);
        assert_eq!(results.models(), ["a", "jepa", "z"]);
        let mut findings = [Finding {
            trouble: crate::Trouble::Collapsed,
            model: Some("jepa/2".to_string()),
            text: "has collapsed".to_string(),
        }];
        Recipe::rename(&[recipe], &mut findings);
        assert_eq!(findings[0].to_string(), "jepa in its run jepa/2 has collapsed");
        assert_eq!(findings[0].model.as_deref(), Some("jepa"));
    }
}
