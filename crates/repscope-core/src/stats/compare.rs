// SPDX-License-Identifier: MIT
//! Models against each other, on the same samples.
//!
//! Two models see the same rows, so their errors go together: a hard row is hard for both. Where a score reports what each
//! unit (row, pair, episode, split) does to it, the difference of two models is taken unit by unit, and its error is that of the
//! differences. Interval and p-value are two views of one procedure, Student's t over the units, with one degree of freedom
//! less than there are: p is at most 0.05 exactly where the 95 % interval leaves 0 out.
//!
//! A model with several training runs is compared as a recipe: the variance between its runs joins that over the units
//! (`replicates.rs`).

use std::collections::BTreeMap;

use super::interval::{Part, add_variances, freedom, howe, t_quantile, t_two_sided, welch};
use crate::metrics::MetricId;
use crate::results::Results;
use crate::run::Driver;
use crate::score::{Better, Difference, Score, Training};
use crate::spec::Spec;

/// How many differences make a task.
const TASK: usize = 64;

/// Adds the difference of every two models in every metric to the results, with p-values adjusted for all of them by
/// Holm's method.
pub fn compare(results: &mut Results, spec: &Spec, driver: &Driver) {
    let mut metrics: Vec<(&MetricId, Vec<&Score>)> = Vec::new();
    let mut places: BTreeMap<&MetricId, usize> = BTreeMap::new();
    // What speaks of two models is no score of one that another could beat.
    for score in results.scores.iter().filter(|score| score.other.is_none()) {
        let place = *places.entry(&score.metric).or_insert(metrics.len());
        if place == metrics.len() {
            metrics.push((&score.metric, Vec::new()));
        }
        metrics[place].1.push(score);
    }
    let mut pairs: Vec<(&Score, &Score)> = Vec::new();
    for (_, scores) in &metrics {
        for (i, a) in scores.iter().enumerate() {
            let others = scores[i + 1..].iter().filter(|b| b.model != a.model);
            pairs.extend(others.map(|b| (*a, *b)));
        }
    }
    let procedure = Procedure { level: spec.level };
    let tasks: Vec<&[(&Score, &Score)]> = pairs.chunks(TASK).collect();
    if !pairs.is_empty() {
        driver.progress().begin("comparing models", pairs.len() as u64);
    }
    let found = driver.map(tasks.len(), |task| {
        let differences = tasks[task].iter().filter_map(|(a, b)| procedure.difference(a, b));
        let own: Vec<Difference> = differences.collect();
        driver.progress().advance(tasks[task].len() as u64);
        own
    });
    results.differences = found.concat();
    adjust(results);
}

/// How two models are compared.
pub(super) struct Procedure {
    pub(super) level: f64,
}

impl Procedure {
    pub(super) fn difference(&self, a: &Score, b: &Score) -> Option<Difference> {
        let value = a.value? - b.value?;
        let output = a.metric.output();
        // No model is called better by a number that changes with the scale of its embeddings, or that says nothing about them.
        let excuse = if !a.comparable {
            Some("changes with the scale of the embeddings")
        } else if output.is_some_and(|output| output.is_best_when_constant) {
            Some("a constant encoder has the best value")
        } else {
            None
        };
        let better = if excuse.is_none() { a.better } else { Better::Neither };
        let mut found = Difference {
            unit: a.unit.clone(),
            note: excuse.map(str::to_string),
            runs: [a.runs, b.runs],
            ..Difference::new(a.metric.clone(), [&a.model, &b.model], value, better, self.level)
        };
        match (&a.effects, &b.effects) {
            (Some(x), Some(y)) if x.len() == y.len() && x.len() > 1 && a.unit == b.unit => {
                self.pair(&mut found, [a, b], [x, y]);
            }
            _ => self.separate(&mut found, a, b),
        }
        Some(found)
    }

    /// From what each unit does to the difference, each repetition of a random step (both models are clustered on the same halves),
    /// and training.
    fn pair(&self, found: &mut Difference, [a, b]: [&Score; 2], [x, y]: [&[f64]; 2]) {
        found.is_paired = true;
        found.units = x.len();
        let squares = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        // Differences of equal models are as often positive as negative, and heavy tails of such differences make Student's t name fewer
        // winners, not more: no units are taken away for them.
        let of_units = (squares(x, y), x.len() as f64 - 1.0);
        let of_step = match [a.between.as_deref(), b.between.as_deref()] {
            [Some(x), Some(y)] if x.len() == y.len() => Some((squares(x, y), x.len() as f64 - 1.0)),
            [Some(x), _] | [_, Some(x)] => Some((squares(x, &vec![0.0; x.len()]), x.len() as f64 - 1.0)),
            [None, None] => None,
        };
        let (variance, freedom) = match of_step.filter(|(variance, _)| *variance > 0.0) {
            None => of_units,
            Some(of_step) => add_variances(&[of_units, of_step]),
        };
        let (error, freedom, method) = match of_runs([a.training, b.training]) {
            None => (variance.sqrt(), freedom, "Student t"),
            Some(runs) => {
                let units = ((variance - runs.of_units).max(0.0), freedom);
                let (error, freedom) =
                    howe([(runs.variance, runs.freedom), units], self.level).unwrap_or((0.0, freedom));
                (error, freedom, "Student t over units and training runs")
            }
        };
        // The standard deviation of the differences of single units, of which the error is that of the mean.
        let deviation = (of_units.0 * x.len() as f64).sqrt();
        found.effect_size = (deviation > 0.0).then(|| found.value / deviation);
        self.conclude(found, error, freedom);
        if found.value == 0.0 {
            found.p = Some(1.0);
            found.method = Some("paired over units, equal values".to_string());
        } else if error > 0.0 {
            found.method = Some(format!("paired over units, {method}"));
        } else {
            found.say("all units differ alike, so there is no p-value");
            found.interval = None;
        }
    }

    /// From two separate errors, where units cannot be matched.
    fn separate(&self, found: &mut Difference, a: &Score, b: &Score) {
        let (Some(x), Some(y)) = (a.standard_error, b.standard_error) else {
            found.say("no interval: the score has none");
            return;
        };
        let (_, of_units) = match x.hypot(y) {
            0.0 => (0.0, f64::INFINITY),
            _ => add_variances(&[part(a, x), part(b, y)]),
        };
        let (error, freedom) = match of_runs([a.training, b.training]) {
            None => (x.hypot(y), of_units),
            Some(runs) => {
                let units = ((x * x + y * y - runs.variance).max(0.0), of_units);
                howe([(runs.variance, runs.freedom), units], self.level).unwrap_or((x.hypot(y), runs.freedom))
            }
        };
        self.conclude(found, error, freedom);
        found.p = if error > 0.0 {
            found.p
        } else {
            (found.value == 0.0).then_some(1.0)
        };
        let method = match (freedom == f64::INFINITY, a.training.or(b.training)) {
            (true, _) => "separate errors, normal",
            (_, None) => "separate errors, Student t",
            (_, Some(_)) => "separate errors, Student t over training runs",
        };
        found.method = Some(method.to_string());
        found.say("not paired: the units of the two models do not match, so the interval may be too wide");
    }

    /// Interval and p-value from an error.
    fn conclude(&self, found: &mut Difference, error: f64, freedom: f64) {
        let reach = t_quantile(0.5 + self.level / 2.0, freedom).map(|t| t * error);
        found.interval = reach.map(|reach| [found.value - reach, found.value + reach]);
        found.p = (error > 0.0).then(|| t_two_sided(found.value / error, freedom));
        found.standard_error = Some(error);
        found.freedom = Some(freedom).filter(|freedom| freedom.is_finite());
    }
}

/// The squared error of a score of one model and its degrees of freedom; those of a score that reports no units are not known.
fn part(score: &Score, error: f64) -> Part {
    let known = score.effects.as_ref().filter(|effects| effects.len() > 1);
    (error * error, known.map_or(f64::INFINITY, |effects| freedom(effects)))
}

/// What training adds to the error of a difference; none where no model has several runs.
fn of_runs(training: [Option<Training>; 2]) -> Option<Training> {
    match training {
        [None, None] => None,
        [Some(one), None] | [None, Some(one)] => Some(one),
        [Some(a), Some(b)] => {
            let (variance, freedom) = welch((a.variance, a.freedom), (b.variance, b.freedom));
            Some(Training {
                variance,
                of_units: a.of_units + b.of_units,
                freedom,
            })
        }
    }
}

impl Difference {
    /// Adds to the note.
    pub(super) fn say(&mut self, what: &str) {
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}; {what}"),
            None => what.to_string(),
        });
    }
}

/// Adjusts the p-values of the differences for being that many, by Holm's step-down method (Holm 1979), and names the winners
/// that remain. The family is what could name a winner: scores without a direction are descriptions and do not count. Pairs of
/// models that were compared and are no longer among the results still do: they are taken to have larger p-values, which makes the
/// others no smaller.
pub fn adjust(results: &mut Results) {
    let roots = roots(&results.differences);
    let is_tested = |i: usize, d: &Difference| d.better != Better::Neither && roots[i].is_none();
    let tested = results.differences.iter().enumerate().filter(|(i, d)| is_tested(*i, d));
    let order: Vec<(f64, usize)> = tested.filter_map(|(i, d)| Some((d.p?, i))).collect();
    let mut differences = std::mem::take(&mut results.differences);
    for d in &mut differences {
        (d.p_adjusted, d.winner) = (None, None);
    }
    let count = order.len() + dropped(results, &differences);
    for (largest, i) in holm(order, count) {
        let d = &mut differences[i];
        d.p_adjusted = Some(largest);
        if d.value != 0.0 && largest <= 1.0 - d.level {
            let is_a_better = (d.value > 0.0) == (d.better == Better::Higher);
            let better = if is_a_better { &d.a } else { &d.b };
            if results.has_collapsed(better) {
                let runs = d.runs[usize::from(!is_a_better)];
                let what = if runs > 1 { "a collapsed run" } else { "collapsed" };
                d.say(&format!("{better} has {what}, so it wins nothing"));
            } else {
                d.winner = Some(better.clone());
            }
        }
    }
    for (i, root) in roots.into_iter().enumerate().filter_map(|(i, root)| Some((i, root?))) {
        let (p, p_adjusted, winner) = (
            differences[root].p,
            differences[root].p_adjusted,
            differences[root].winner.clone(),
        );
        let d = &mut differences[i];
        (d.p, d.p_adjusted, d.winner) = (p, p_adjusted, winner);
    }
    results.differences = differences;
}

/// p-values adjusted for being `count` (Holm 1979), each with its number; those that are not here are larger.
pub(super) fn holm(mut order: Vec<(f64, usize)>, count: usize) -> Vec<(f64, usize)> {
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut largest = 0.0f64;
    for (rank, (p, _)) in order.iter_mut().enumerate() {
        largest = largest.max((*p * (count - rank) as f64).min(1.0));
        *p = largest;
    }
    order
}

/// For each difference the one in the score that its own is a function of, where there is one: both share one comparison.
pub(super) fn roots(differences: &[Difference]) -> Vec<Option<usize>> {
    let places: BTreeMap<(&str, &str, &str), usize> = differences
        .iter()
        .enumerate()
        .map(|(i, d)| ((d.metric.as_str(), d.a.as_str(), d.b.as_str()), i))
        .collect();
    let root = |d: &Difference| {
        let root = d.metric.output()?.function_of?;
        // `q_nx@K` of `r_nx@10` is `q_nx@10`.
        let root = root.replace("@K", &d.metric.at().map(|at| format!("@{at}")).unwrap_or_default());
        places.get(&(root.as_str(), d.a.as_str(), d.b.as_str())).copied()
    };
    differences.iter().map(root).collect()
}

/// How many pairs of models with a directed score have no difference in that score.
fn dropped(results: &Results, differences: &[Difference]) -> usize {
    let mut pairs: BTreeMap<&MetricId, (usize, usize)> = BTreeMap::new();
    let is_own =
        |d: &&Difference| d.better != Better::Neither && d.metric.output().is_none_or(|o| o.function_of.is_none());
    for d in differences.iter().filter(is_own) {
        pairs.entry(&d.metric).or_default().0 += 1;
    }
    for score in results.scores.iter().filter(|score| score.value.is_some()) {
        if let Some((_, models)) = pairs.get_mut(&score.metric) {
            *models += 1;
        }
    }
    let missing = |(stored, models): &(usize, usize)| (models * models.saturating_sub(1) / 2).saturating_sub(*stored);
    pairs.values().map(missing).sum()
}

/// Keeps, of the differences in each metric, those of the best model and of one other against all: the ones that tables of many
/// models show.
pub fn keep_best(results: &mut Results, other: Option<&str>) {
    let mut best: BTreeMap<&MetricId, &Score> = BTreeMap::new();
    for score in results.scores.iter().filter(|score| score.value.is_some()) {
        let is_ahead = |held: &Score| match score.better {
            Better::Lower => score.value < held.value,
            _ => score.value > held.value,
        };
        let held = best.get(&score.metric);
        if results.unfit(score).is_none() && held.is_none_or(|held| is_ahead(held)) {
            best.insert(&score.metric, score);
        }
    }
    let is_of = |d: &Difference, model: &str| d.a == model || d.b == model;
    let kept = |d: &&Difference| {
        best.get(&d.metric).is_some_and(|score| is_of(d, &score.model)) || other.is_some_and(|model| is_of(d, model))
    };
    results.differences = results.differences.iter().filter(kept).cloned().collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    fn score(model: &str, value: f64, effects: &[f64]) -> Score {
        let mut score = Score::number("m", value, 10);
        score.better = Better::Higher;
        score.model = model.to_string();
        score.unit = Some("rows".to_string());
        score.standard_error = Some(effects.iter().map(|e| e * e).sum::<f64>().sqrt());
        score.effects = Some(effects.to_vec().into());
        score
    }

    fn compared(scores: Vec<Score>) -> Vec<Difference> {
        let mut results = Results {
            scores,
            ..Results::default()
        };
        compare(&mut results, &Spec::default(), &Driver::silent(Order::Serial));
        results.differences
    }

    #[test]
    fn comparisons_are_the_same_in_any_order_of_work() {
        let models = ["a", "b", "c", "d", "e"];
        let effects = |m: usize| {
            (0..90)
                .map(move |i| ((i * (m + 3)) as f64).sin() * 0.01)
                .collect::<Vec<f64>>()
        };
        let scores: Vec<Score> = models
            .iter()
            .enumerate()
            .map(|(m, name)| score(name, 0.05 * m as f64, &effects(m)))
            .collect();
        let in_order = |order: Order| {
            let mut results = Results::from(scores.clone());
            compare(&mut results, &Spec::default(), &Driver::silent(order));
            results.differences
        };
        let serial = in_order(Order::Serial);
        assert_eq!(serial.len(), 10);
        assert_eq!(serial, in_order(Order::Parallel));
        assert_eq!(serial, in_order(Order::Shuffled(3)));
    }

    #[test]
    fn pairs_that_are_no_longer_kept_still_count() {
        let models = ["a", "b", "c", "d"];
        let effects = |m: usize| [0.01, -0.02, 0.01, 0.005 * m as f64, -0.003];
        let scores = (0..4).map(|m| score(models[m], 0.02 * m as f64, &effects(m)));
        let mut results = Results::from(scores.collect::<Vec<_>>());
        compare(&mut results, &Spec::default(), &Driver::silent(Order::Serial));
        let all = results.differences.clone();
        keep_best(&mut results, Some("b"));
        let names = |d: &Difference| (d.a.clone(), d.b.clone());
        let pairs: Vec<String> = results.differences.iter().map(|d| format!("{}{}", d.a, d.b)).collect();
        assert_eq!(pairs, ["ab", "ad", "bc", "bd", "cd"]);
        adjust(&mut results);
        for d in &results.differences {
            let before = all
                .iter()
                .find(|other| names(other) == names(d))
                .expect("the same pair");
            assert!(d.p_adjusted >= before.p_adjusted, "{d:?} {before:?}");
        }
    }

    #[test]
    fn a_function_of_a_score_shares_its_comparison_and_a_trivial_score_has_no_winner() {
        let of = |metric: &str, model: &str, value: f64, effects: &[f64]| Score {
            metric: metric.into(),
            ..score(model, value, effects)
        };
        let (a, b) = ([0.01, -0.02, 0.01, 0.005, -0.005], [0.02, 0.01, -0.01, -0.01, -0.01]);
        let mut scores = Vec::new();
        for (model, value, effects) in [("a", 0.9, &a), ("b", 0.7, &b)] {
            scores.push(of("smoothness.r", model, value, effects));
            scores.push(of("smoothness.r2", model, value * value, &effects.map(|e| 1.9 * e)));
            scores.push(of("smoothness.unit.slope", model, value, effects));
        }
        let found = compared(scores);
        let [r, r2, slope] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(r.p_adjusted == r.p && r.winner.as_deref() == Some("a"), "{r:?}");
        assert_eq!((r.p, r.p_adjusted, &r.winner), (r2.p, r2.p_adjusted, &r2.winner));
        assert!(
            slope.winner.is_none() && slope.p.is_some() && slope.p_adjusted.is_none(),
            "{slope:?}"
        );
        assert_eq!(slope.note.as_deref(), Some("a constant encoder has the best value"));
    }

    #[test]
    fn a_collapsed_model_wins_nothing() {
        let effects = [0.01, -0.02, 0.01, 0.005, -0.003];
        let mut results = Results::from(vec![score("a", 5.0, &effects), score("b", 0.0, &[0.0; 5])]);
        results.findings.push(crate::Finding {
            trouble: crate::Trouble::Collapsed,
            model: Some("a".to_string()),
            text: "has collapsed".to_string(),
        });
        compare(&mut results, &Spec::default(), &Driver::silent(Order::Serial));
        let d = &results.differences[0];
        assert!(d.p_adjusted.is_some_and(|p| p < 0.001) && d.winner.is_none(), "{d:?}");
        assert!(
            d.note.as_deref().is_some_and(|note| note.contains("a has collapsed")),
            "{d:?}"
        );
    }

    #[test]
    fn what_both_models_share_is_no_error_of_their_difference() {
        let shared: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 11) - 5.0).collect();
        let own: Vec<f64> = (0..40).map(|i| 0.01 * (f64::from(i * 5 % 13) - 6.0)).collect();
        let both: Vec<f64> = shared.iter().zip(&own).map(|(a, b)| a + b).collect();
        let d = &compared(vec![score("a", 1.5, &shared), score("b", 0.5, &both)])[0];
        let error = own.iter().map(|e| e * e).sum::<f64>().sqrt();
        let [low, high] = d.interval.unwrap();
        // Student's t with 39 degrees of freedom at 97.5 %: 2.0227.
        assert!((high - low - 2.0 * 2.022690 * error).abs() < 1e-6, "{low} {high}");
        assert!(d.is_paired && d.p.unwrap() < 0.01 && d.winner.as_deref() == Some("a"));
    }

    #[test]
    fn p_value_and_interval_are_those_of_students_paired_t() {
        // By hand: mean 0.6, standard error 0.250998, t = 2.390457; p from the closed form of t with 4 degrees of freedom,
        // the interval from its quantile 2.776445.
        let (x, y) = ([1.2, 0.4, 1.9, 0.8, 1.1], [0.1, 0.5, 0.7, 0.2, 0.9]);
        let mean = |v: &[f64; 5]| v.iter().sum::<f64>() / 5.0;
        let effects = |v: &[f64; 5]| v.map(|e| (e - mean(v)) / 20f64.sqrt());
        let scores = vec![score("a", mean(&x), &effects(&x)), score("b", mean(&y), &effects(&y))];
        let d = &compared(scores)[0];
        let [low, high] = d.interval.unwrap();
        assert!((d.p.unwrap() - 0.075_130_5).abs() < 1e-5, "{:?}", d.p);
        assert!(
            (low + 0.096_882).abs() < 1e-5 && (high - 1.296_882).abs() < 1e-5,
            "{low} {high}"
        );
        assert_eq!(d.method.as_deref(), Some("paired over units, Student t"));
    }

    #[test]
    fn the_variance_of_clusterings_counts_where_they_differ_between_the_models() {
        let (x, y) = ([0.3, -0.1, -0.2], [0.1, 0.1, -0.2]);
        let with = |model: &str, value: f64, effects: &[f64], between: &[f64]| Score {
            between: Some(between.to_vec().into()),
            ..score(model, value, effects)
        };
        let plain = &compared(vec![score("a", 1.0, &x), score("b", 0.5, &y)])[0];
        let alike = [with("a", 1.0, &x, &[0.2, -0.2]), with("b", 0.5, &y, &[0.2, -0.2])];
        assert_eq!(compared(alike.to_vec())[0], *plain);
        // Units: 0.04 + 0.04 = 0.08 with 2 degrees of freedom; clusterings: 0.01 + 0.01 = 0.02 with 1. By Satterthwaite
        // 0.1² / (0.08²/2 + 0.02²/1) = 0.01 / 0.0036.
        let apart = [with("a", 1.0, &x, &[0.1, -0.1]), with("b", 0.5, &y, &[0.0, 0.0])];
        let d = &compared(apart.to_vec())[0];
        let expected = t_two_sided(0.5 / 0.1f64.sqrt(), 0.01 / 0.0036);
        assert!((d.p.unwrap() - expected).abs() < 1e-12, "{d:?}");
    }

    #[test]
    fn p_is_below_the_level_exactly_where_the_interval_leaves_zero_out() {
        let effects: Vec<f64> = (0..7).map(|i| f64::from(i * 3 % 7) - 3.0).collect();
        let error = effects.iter().map(|e| e * e).sum::<f64>().sqrt();
        let mut seen = [0, 0];
        for step in 0..60 {
            let value = 0.1 * f64::from(step) * error + 1e-9;
            let d = &compared(vec![score("a", value, &effects), score("b", 0.0, &[0.0; 7])])[0];
            let is_apart = d.interval.unwrap()[0] > 0.0;
            assert_eq!(is_apart, d.p.unwrap() <= 0.05, "{d:?}");
            assert_eq!(is_apart, d.winner.is_some(), "{d:?}");
            seen[usize::from(is_apart)] += 1;
        }
        assert!(seen[0] > 10 && seen[1] > 10, "{seen:?}");
    }

    fn apart(value: f64, p: f64) -> Difference {
        Difference {
            p: Some(p),
            p_adjusted: Some(p),
            is_paired: true,
            units: 10,
            winner: Some("b".to_string()),
            ..Difference::new("m", ["a", "b"], value, Better::Higher, 0.95)
        }
    }

    #[test]
    fn p_values_of_all_analyses_are_adjusted_together() {
        let three = [apart(1.0, 0.03), apart(-1.0, 0.01), apart(1.0, 0.02)];
        let mut results = Results {
            differences: three.to_vec(),
            ..Results::default()
        };
        adjust(&mut results);
        let three = results.differences;
        // By hand: 0.01·3, then 0.02·2, then the larger of 0.03·1 and 0.04.
        let adjusted: Vec<f64> = three.iter().map(|d| d.p_adjusted.expect("a p-value")).collect();
        assert_eq!(adjusted, [0.04, 0.03, 0.04]);
        let winners: Vec<Option<&str>> = three.iter().map(|d| d.winner.as_deref()).collect();
        assert_eq!(winners, [Some("a"), Some("b"), Some("a")]);
    }

    #[test]
    fn a_winner_of_one_analysis_need_not_be_one_of_the_run() {
        let mut results = Results {
            differences: vec![apart(1.0, 0.04), apart(1.0, 0.5)],
            ..Results::default()
        };
        adjust(&mut results);
        let two = results.differences;
        assert_eq!((two[0].p_adjusted, two[0].winner.as_deref()), (Some(0.08), None));
    }

    #[test]
    fn models_of_different_units_are_compared_by_separate_errors() {
        let d = &compared(vec![score("a", 1.0, &[0.3, 0.4]), score("b", 0.0, &[0.0, 0.0, 1.2])])[0];
        assert!(!d.is_paired && d.note.as_ref().unwrap().contains("not paired"));
        // 1 degree of freedom of two effects, 2 of three; by Satterthwaite 1.69² / (0.25²/1 + 1.44²/2).
        let freedom = 1.69f64.powi(2) / (0.0625 + 1.44f64.powi(2) / 2.0);
        let reach = t_quantile(0.975, freedom).unwrap() * 1.3;
        assert!((d.interval.unwrap()[1] - 1.0 - reach).abs() < 1e-9, "{d:?}");
        assert!((d.freedom.unwrap() - freedom).abs() < 1e-12);
        // Without units, the degrees of freedom are not known.
        let bare = |model: &str, value, error| Score {
            standard_error: Some(error),
            model: model.to_string(),
            ..Score::number("m", value, 10)
        };
        let d = &compared(vec![bare("a", 1.0, 0.5), bare("b", 0.0, 1.2)])[0];
        let reach = 1.959963984540054 * 1.3;
        assert!((d.interval.unwrap()[1] - 1.0 - reach).abs() < 1e-9 && d.freedom.is_none());
    }

    #[test]
    fn a_difference_has_as_many_degrees_of_freedom_as_units_but_one() {
        // Also where one of 50 units does most.
        let mut effects = vec![0.01; 50];
        effects[7] = 1.0;
        let d = &compared(vec![score("a", 3.0, &effects), score("b", 0.0, &[0.0; 50])])[0];
        assert_eq!(d.freedom, Some(49.0));
        assert_eq!(d.p, Some(t_two_sided(3.0 / d.standard_error.unwrap(), 49.0)));
    }

    #[test]
    fn a_score_without_interval_has_a_difference_without_p_value() {
        let plain = |model: &str, value| Score {
            model: model.to_string(),
            better: Better::Higher,
            ..Score::number("m", value, 10)
        };
        let d = &compared(vec![plain("a", 1.0), plain("b", 0.0)])[0];
        assert_eq!((d.value, d.interval, d.p, d.p_adjusted), (1.0, None, None, None));
        assert!(d.winner.is_none() && d.note.is_some());
    }

    #[test]
    fn equal_models_are_not_apart() {
        let effects = [0.5, -0.5, 0.2];
        let d = &compared(vec![score("a", 1.0, &effects), score("b", 1.0, &effects)])[0];
        assert_eq!((d.p, d.winner.as_ref()), (Some(1.0), None));
    }
}
