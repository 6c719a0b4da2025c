// SPDX-License-Identifier: MIT
//! Models against each other, on the same samples.
//!
//! Two models see the same rows, so their errors go together: a hard row is hard for both. Where a score tells what each
//! unit (row, pair, episode, split) does to it, the difference of two models is taken unit by unit, and its error is
//! that of the differences. The p-value asks how often the difference would be as large if each unit's difference had
//! either sign: all signs for a few units, random ones for more, Student's t for very many and where (nearly) no signs give
//! as much.

use std::collections::BTreeMap;

use rand::Rng;

use super::interval::{normal_quantile, normal_two_sided, t_quantile, t_two_sided};
use crate::metrics::MetricId;
use crate::random;
use crate::results::Results;
use crate::run::Driver;
use crate::score::{Better, Difference, Score};
use crate::spec::Spec;

/// Up to this many units all signs are tried.
const ALL_SIGNS: usize = 12;
/// Up to this many units random signs are drawn; beyond it a sum of that many differences is normal.
const RANDOM_SIGNS: usize = 2000;
/// How many random signs are drawn.
const DRAWS: usize = 9999;
/// A p-value of this or less is taken from Student's t: too few draws tell how small it is.
const FEW_DRAWS: f64 = 0.001;

/// So many standard errors from 0, no random signs are as far: by Hoeffding's inequality the chance of a single one among all
/// draws is below 10⁻¹⁷.
const FAR: f64 = 10.0;
/// How many differences make a task.
const TASK: usize = 8;

/// Adds the difference of every two models in every metric to the results, with p-values adjusted for all of them by
/// Holm's method.
pub fn compare(results: &mut Results, spec: &Spec, driver: &Driver) {
    compare_only(results, spec, driver, |_, _| true);
}

/// The same for some pairs of scores of one metric only: those of one model against all others, say, or of the metrics that
/// are shown. P-values are adjusted for these alone.
pub fn compare_only(results: &mut Results, spec: &Spec, driver: &Driver, is_wanted: impl Fn(&Score, &Score) -> bool) {
    let mut metrics: Vec<(&MetricId, Vec<&Score>)> = Vec::new();
    let mut places: BTreeMap<&MetricId, usize> = BTreeMap::new();
    for score in &results.scores {
        let place = *places.entry(&score.metric).or_insert(metrics.len());
        if place == metrics.len() {
            metrics.push((&score.metric, Vec::new()));
        }
        metrics[place].1.push(score);
    }
    let mut pairs: Vec<(&Score, &Score)> = Vec::new();
    for (_, scores) in &metrics {
        for (i, a) in scores.iter().enumerate() {
            let others = scores[i + 1..].iter().filter(|b| b.model != a.model && is_wanted(a, b));
            pairs.extend(others.map(|b| (*a, *b)));
        }
    }
    let tasks: Vec<&[(&Score, &Score)]> = pairs.chunks(TASK).collect();
    if !pairs.is_empty() {
        driver.progress().begin("comparing models", pairs.len() as u64);
    }
    let found = driver.map(tasks.len(), |task| {
        let own: Vec<Difference> = tasks[task].iter().filter_map(|(a, b)| difference(a, b, spec)).collect();
        driver.progress().advance(tasks[task].len() as u64);
        own
    });
    let mut differences = found.concat();
    adjust(&mut differences);
    results.differences = differences;
}

fn difference(a: &Score, b: &Score, spec: &Spec) -> Option<Difference> {
    let value = a.value? - b.value?;
    let mut found = Difference {
        metric: a.metric.clone(),
        a: a.model.clone(),
        b: b.model.clone(),
        value,
        interval: None,
        level: spec.level,
        p: None,
        p_adjusted: None,
        // No model is called better by a number that changes with the scale of its embeddings.
        better: if a.comparable { a.better } else { Better::Neither },
        is_paired: false,
        unit: a.unit.clone(),
        units: 0,
        method: None,
        note: (!a.comparable).then(|| "changes with the scale of the embeddings".to_string()),
        winner: None,
    };
    match (&a.effects, &b.effects) {
        (Some(x), Some(y)) if x.len() == y.len() && x.len() > 1 && a.unit == b.unit => {
            let effects: Vec<f64> = x.iter().zip(y.iter()).map(|(x, y)| x - y).collect();
            pair(&mut found, &effects, spec);
        }
        _ => separate(&mut found, a, b, spec),
    }
    Some(found)
}

fn pair(found: &mut Difference, effects: &[f64], spec: &Spec) {
    found.is_paired = true;
    found.units = effects.len();
    let error = effects.iter().map(|e| e * e).sum::<f64>().sqrt();
    let freedom = effects.len() as f64 - 1.0;
    if let Some(reach) = t_quantile(0.5 + spec.level / 2.0, freedom).map(|t| t * error) {
        found.interval = Some([found.value - reach, found.value + reach]);
    }
    let (p, method) = match effects.len() {
        _ if found.value == 0.0 => (Some(1.0), "equal values"),
        _ if error == 0.0 => {
            found.say("no unit tells the models apart, so there is no p-value");
            found.interval = None;
            (None, "")
        }
        n => {
            let of_t = t_two_sided(found.value / error, freedom);
            let least = 2f64.powi(1 - n.min(ALL_SIGNS) as i32).max(FEW_DRAWS);
            // Where no or few signs are as far, they tell only that p is small: Student's t tells how small.
            match signs(found, effects, spec.seed) {
                Some((p, method)) if p > least => (Some(p), method),
                Some((p, _)) => (Some(of_t.min(p)), "Student t"),
                None => (Some(of_t), "Student t"),
            }
        }
    };
    found.p = p;
    found.method = Some(format!("paired over units, {method}")).filter(|_| p.is_some());
}

/// The p-value by signs, and which were tried; none for very many units.
fn signs(found: &Difference, effects: &[f64], seed: u64) -> Option<(f64, &'static str)> {
    match effects.len() {
        n if n <= ALL_SIGNS => Some((all_signs(found.value, effects), "all signs")),
        n if n <= RANDOM_SIGNS => Some((random_signs(found, effects, seed), "random signs")),
        _ => None,
    }
}

/// The share of all signs whose sum is at least as far from 0 as the difference.
fn all_signs(value: f64, effects: &[f64]) -> f64 {
    let count = 1u32 << effects.len();
    let is_as_far = |signs: &u32| {
        let signed = |(i, e): (usize, &f64)| if signs >> i & 1 == 1 { -e } else { *e };
        let sum: f64 = effects.iter().enumerate().map(signed).sum();
        sum.abs() >= value.abs() * (1.0 - 1e-12)
    };
    // No sum at all as far: the p-value is below one in `count`, and said to be that.
    (0..count).filter(is_as_far).count().max(1) as f64 / f64::from(count)
}

/// The same for random signs; the data themselves count as one draw.
fn random_signs(found: &Difference, effects: &[f64], seed: u64) -> f64 {
    let error = effects.iter().map(|e| e * e).sum::<f64>().sqrt();
    let mut as_far = 1;
    if found.value.abs() < FAR * error {
        let name = format!("signs/{}/{}/{}", found.metric, found.a, found.b);
        as_far += count_as_far(found.value.abs(), effects, &mut random::stream(seed, &name, 0));
    }
    as_far as f64 / (DRAWS + 1) as f64
}

/// How many of all draws of random signs give a sum of effects that is at least `value` from 0.
///
/// Each draw takes one bit for each effect, in words of 64. The sums of eight effects under all signs are tabulated. Where the sum
/// from the tables is within its rounding error of `value`, the effects are added one by one in their order: so every draw is
/// decided as that sum decides it.
fn count_as_far(value: f64, effects: &[f64], rng: &mut impl Rng) -> usize {
    let tables: Vec<[f64; 256]> = effects.chunks(8).map(all_sums).collect();
    // Twice the error of a sum in any order, n·2⁻⁵³·Σ|e|, for both sums.
    let size = effects.iter().map(|e| e.abs()).sum::<f64>();
    let slack = 4.0 * (effects.len() as f64 + 8.0) * f64::EPSILON * size;
    let mut signs = vec![0; effects.len().div_ceil(64)];
    let is_as_far = |_: &usize| {
        signs.iter_mut().for_each(|word| *word = rng.next_u64());
        let mut sums = [0.0; 8];
        for (word, tables) in signs.iter().zip(tables.chunks(8)) {
            for ((sum, byte), table) in sums.iter_mut().zip(word.to_le_bytes()).zip(tables) {
                *sum += table[usize::from(byte)];
            }
        }
        let about = sums.iter().sum::<f64>().abs();
        if (about - value).abs() > slack {
            about >= value
        } else {
            signed_sum(effects, &signs).abs() >= value
        }
    };
    (0..DRAWS).filter(is_as_far).count()
}

/// The sums of up to eight effects under all signs: bit i of the place turns effect i.
fn all_sums(effects: &[f64]) -> [f64; 256] {
    let mut sums = [effects.iter().sum(); 256];
    for signs in 1..256usize {
        let turned = effects.get(signs.trailing_zeros() as usize).copied().unwrap_or(0.0);
        sums[signs] = sums[signs & (signs - 1)] - 2.0 * turned;
    }
    sums
}

/// The sum of the effects, one after the other, with the signs that the bits say.
fn signed_sum(effects: &[f64], signs: &[u64]) -> f64 {
    let mut sum = 0.0;
    for (chunk, word) in effects.chunks(64).zip(signs) {
        for (i, e) in chunk.iter().enumerate() {
            sum += if word >> i & 1 == 1 { -e } else { *e };
        }
    }
    sum
}

/// From two separate errors, where units cannot be matched.
fn separate(found: &mut Difference, a: &Score, b: &Score, spec: &Spec) {
    let why = match (a.standard_error, b.standard_error) {
        (Some(x), Some(y)) => {
            let error = x.hypot(y);
            let reach = normal_quantile(0.5 + spec.level / 2.0) * error;
            found.interval = Some([found.value - reach, found.value + reach]);
            found.p = Some(if error > 0.0 {
                normal_two_sided(found.value / error)
            } else {
                f64::from(u8::from(found.value == 0.0))
            })
            .filter(|_| error > 0.0 || found.value == 0.0);
            found.method = Some("separate errors, normal".to_string());
            "not paired: the units of the two models do not match, so the interval may be too wide"
        }
        _ => "no interval: the score has none",
    };
    found.say(why);
}

impl Difference {
    /// Adds to the note.
    fn say(&mut self, what: &str) {
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}; {what}"),
            None => what.to_string(),
        });
    }
}

/// Adjusts the p-values of all differences for being that many, by Holm's step-down method (Holm 1979), and names the
/// winners that remain. What has no p-value does not count.
pub fn adjust(differences: &mut [Difference]) {
    let known = differences.iter().enumerate().filter_map(|(i, d)| Some((d.p?, i)));
    let mut order: Vec<(f64, usize)> = known.collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let count = order.len();
    let mut largest = 0.0f64;
    for (rank, (p, i)) in order.into_iter().enumerate() {
        largest = largest.max((p * (count - rank) as f64).min(1.0));
        differences[i].p_adjusted = Some(largest);
    }
    for d in differences {
        let is_apart = d.value != 0.0 && d.p_adjusted.is_some_and(|p| p <= 1.0 - d.level);
        let is_a_better = match d.better {
            Better::Higher => d.value > 0.0,
            Better::Lower => d.value < 0.0,
            Better::Neither => continue,
        };
        d.winner = is_apart.then(|| if is_a_better { d.a.clone() } else { d.b.clone() });
    }
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
    fn tabulated_sums_decide_as_sums_of_single_effects_do() {
        let effects: Vec<f64> = (0..150).map(|i| 0.1 + (f64::from(i) * 0.7).sin()).collect();
        let mut rng = random::stream(7, "test", 0);
        let mut expected = 0;
        for _ in 0..DRAWS {
            let mut sum = 0.0;
            for chunk in effects.chunks(64) {
                let signs = rng.next_u64();
                for (i, e) in chunk.iter().enumerate() {
                    sum += if signs >> i & 1 == 1 { -e } else { *e };
                }
            }
            expected += usize::from(f64::abs(sum) >= 9.5);
        }
        let found = count_as_far(9.5, &effects, &mut random::stream(7, "test", 0));
        assert!(found == expected && (100..9000).contains(&found), "{found} {expected}");
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
        assert!(
            serial
                .iter()
                .any(|d| d.method.as_deref() == Some("paired over units, random signs"))
        );
        assert_eq!(serial, in_order(Order::Parallel));
        assert_eq!(serial, in_order(Order::Shuffled(3)));
    }

    #[test]
    fn only_what_is_asked_for_is_compared() {
        let scores = ["a", "b", "c"].map(|model| score(model, 1.0, &[0.1, 0.2]));
        let mut results = Results::from(scores.to_vec());
        let driver = Driver::silent(Order::Serial);
        compare_only(&mut results, &Spec::default(), &driver, |a, b| {
            a.model == "b" || b.model == "b"
        });
        let pairs: Vec<(&str, &str)> = results
            .differences
            .iter()
            .map(|d| (d.a.as_str(), d.b.as_str()))
            .collect();
        assert_eq!(pairs, [("a", "b"), ("b", "c")]);
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
    fn with_few_units_all_signs_are_counted() {
        // ±1 ±2 ±3 is 6 or −6 for two of eight signs.
        assert_eq!(all_signs(6.0, &[1.0, 2.0, 3.0]), 0.25);
        // ±6 and ±4 (1 turned) are at least 4 from 0: four of eight.
        assert_eq!(all_signs(-4.0, &[1.0, 2.0, 3.0]), 0.5);
    }

    #[test]
    fn where_no_other_sign_is_as_far_students_t_tells_how_small_p_is() {
        // t = 10 with 4 degrees of freedom: 0.000562 (scipy 1.17.1, `2 * t.sf(10, 4)`), where the signs can tell 1/16 only.
        let effects = [0.044, -0.044, 0.0, 0.022, -0.022];
        let error = effects.iter().map(|e| e * e).sum::<f64>().sqrt();
        let d = &compared(vec![score("a", 10.0 * error, &effects), score("b", 0.0, &[0.0; 5])])[0];
        assert!((d.p.unwrap() - 0.000_562).abs() < 1e-6, "{:?}", d.p);
    }

    #[test]
    fn random_signs_agree_with_the_normal_law() {
        let effects = vec![0.1; 400];
        let d = &compared(vec![score("a", 4.0, &effects), score("b", 0.0, &vec![0.0; 400])])[0];
        // Two standard deviations: 0.0455.
        assert!((d.p.unwrap() - 0.0455).abs() < 0.01, "{:?}", d.p);
    }

    fn apart(value: f64, p: f64) -> Difference {
        Difference {
            metric: "m".into(),
            a: "a".to_string(),
            b: "b".to_string(),
            value,
            interval: None,
            level: 0.95,
            p: Some(p),
            p_adjusted: Some(p),
            better: Better::Higher,
            is_paired: true,
            unit: None,
            units: 10,
            method: None,
            note: None,
            winner: Some("b".to_string()),
        }
    }

    #[test]
    fn p_values_of_all_analyses_are_adjusted_together() {
        let mut three = [apart(1.0, 0.03), apart(-1.0, 0.01), apart(1.0, 0.02)];
        adjust(&mut three);
        // By hand: 0.01·3, then 0.02·2, then the larger of 0.03·1 and 0.04.
        let adjusted: Vec<f64> = three.iter().map(|d| d.p_adjusted.expect("a p-value")).collect();
        assert_eq!(adjusted, [0.04, 0.03, 0.04]);
        let winners: Vec<Option<&str>> = three.iter().map(|d| d.winner.as_deref()).collect();
        assert_eq!(winners, [Some("a"), Some("b"), Some("a")]);
    }

    #[test]
    fn a_winner_of_one_analysis_need_not_be_one_of_the_run() {
        let mut two = [apart(1.0, 0.04), apart(1.0, 0.5)];
        adjust(&mut two);
        assert_eq!((two[0].p_adjusted, two[0].winner.as_deref()), (Some(0.08), None));
    }

    #[test]
    fn models_of_different_units_are_compared_by_separate_errors() {
        let d = &compared(vec![score("a", 1.0, &[0.3, 0.4]), score("b", 0.0, &[0.0, 0.0, 1.2])])[0];
        assert!(!d.is_paired && d.note.as_ref().unwrap().contains("not paired"));
        let reach = 1.959963984540054 * 0.5f64.hypot(1.2);
        assert!((d.interval.unwrap()[1] - 1.0 - reach).abs() < 1e-9);
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
