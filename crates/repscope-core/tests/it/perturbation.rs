// SPDX-License-Identifier: MIT
//! What is true of predictions with and without perturbation: hand calculations, invariances, and the same bits in every order
//! of work.

use crate::common::{Draw, metric};
use repscope_core::metrics::{Invariance, find};
use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Breakdown, Head, MetricId, Perturbation, PerturbedSet, Results, Score, Spec, perturb};

const MODEL: &str = "model";

fn head(name: &str, classes: usize, labels: Vec<u32>, baseline: Vec<u32>) -> Head {
    Head {
        name: name.to_string(),
        classes: (0..classes).map(|c| format!("class {c}")).collect(),
        labels,
        baseline,
    }
}

fn set(family: &str, percent: f64, predictions: Vec<Vec<u32>>) -> PerturbedSet {
    PerturbedSet {
        name: format!("{family}{percent}"),
        family: family.to_string(),
        percent,
        predictions,
        masked_lit: Some(percent / 100.0),
        masked_all: None,
    }
}

/// Two heads whose predictions get worse with the percentage.
fn two_heads(samples: usize, seed: u64) -> Perturbation {
    let mut draw = Draw::new(seed);
    let mut codes = |classes: usize, of: Option<&[u32]>, kept: f64| -> Vec<u32> {
        let one = |i: usize, draw: &mut Draw| match of {
            Some(codes) if draw.uniform() < kept => codes[i],
            _ => draw.below(classes) as u32,
        };
        (0..samples).map(|i| one(i, &mut draw)).collect()
    };
    let (modulation, snr) = (codes(5, None, 0.0), codes(3, None, 0.0));
    let heads = vec![
        head("modulation", 5, modulation.clone(), codes(5, Some(&modulation), 0.8)),
        head("snr", 3, snr.clone(), codes(3, Some(&snr), 0.7)),
    ];
    let mut sets = Vec::new();
    for (family, weight) in [("top", 0.15), ("random", 0.02)] {
        for percent in 1..=5 {
            let kept = 1.0 - weight * f64::from(percent);
            let predictions = vec![
                codes(5, Some(&heads[0].baseline), kept),
                codes(3, Some(&heads[1].baseline), kept),
            ];
            sets.push(set(family, f64::from(percent), predictions));
        }
    }
    Perturbation {
        heads,
        sets,
        groups: None,
    }
}

/// One head of two classes: what is right without and with perturbation.
fn one_head(before: &[bool], after: &[bool], percent: f64) -> Perturbation {
    let said = |right: &[bool]| right.iter().map(|r| u32::from(!r)).collect::<Vec<u32>>();
    Perturbation {
        groups: None,
        heads: vec![head("kind", 2, vec![0; before.len()], said(before))],
        sets: vec![set("top", percent, vec![said(after)])],
    }
}

fn run(data: &Perturbation) -> Results {
    let driver = Driver::silent(Order::Parallel);
    perturb(MODEL, data, &Analysis::Perturb.metrics(), &Spec::default(), &driver).expect("valid predictions")
}

fn value(results: &Results, id: &str) -> f64 {
    let score = results.score(MODEL, id).unwrap_or_else(|| panic!("no score {id}"));
    score.value.unwrap_or_else(|| panic!("{id}: {:?}", score.reason))
}

fn table<'a>(results: &'a Results, metric: &str) -> &'a Breakdown {
    let mut tables = results.breakdowns.iter();
    tables
        .find(|b| b.metric == metric)
        .unwrap_or_else(|| panic!("no table {metric}"))
}

#[test]
fn the_score_is_the_accuracy_lost_for_each_part_that_is_masked() {
    // 10,000 samples: 5,126 right before, 4,800 after. Document 003 prints 32.6 for this; 0.0326 / 0.01 is 3.26.
    let before: Vec<bool> = (0..10_000).map(|i| i < 5126).collect();
    let after: Vec<bool> = (0..10_000).map(|i| i < 4800).collect();
    let results = run(&one_head(&before, &after, 1.0));
    let close = |id: &str, expected: f64| {
        let found = value(&results, id);
        assert!((found - expected).abs() < 1e-12, "{id}: {found} {expected}");
    };
    close("accuracy.kind@baseline", 0.5126);
    close("accuracy.kind@top1", 0.48);
    close("pis.kind@top1", 3.26);
    close("pis.kind(f=lit)@top1", 3.26);
    close("pis.kind.drop@top1", 0.0326);
    close("pis.kind.relative@top1", 326.0 / 5126.0);
    close("pis.kind.mean@top", 3.26);
    close("pis.kind.aopc@top", 0.0163);
    close("pis.kind.deletion@top", 0.4963);
    let unknown = results.score(MODEL, "pis.kind(f=all)@top1").expect("declared");
    assert!(unknown.value.is_none() && unknown.reason.as_ref().expect("a reason").contains("not known"));
}

#[test]
fn a_perturbation_that_helps_has_a_negative_score() {
    let results = run(&one_head(&[true, false, false, false], &[true, true, true, false], 2.0));
    // Two of four get better: −0.5 / 0.02; two changes in one direction have p = 1/2.
    assert_eq!(value(&results, "pis.kind@top2"), -25.0);
    assert_eq!(value(&results, "pis.kind.relative@top2"), -2.0);
    assert_eq!(value(&results, "pis.kind.p@top2"), 0.5);
}

#[test]
fn nothing_that_changes_has_impact_0_and_an_interval_around_it() {
    let right: Vec<bool> = (0..50).map(|i| i % 3 != 0).collect();
    let results = run(&one_head(&right, &right, 5.0));
    assert_eq!(
        (value(&results, "pis.kind@top5"), value(&results, "pis.kind.p@top5")),
        (0.0, 1.0)
    );
    let [low, high] = results
        .score(MODEL, "pis.kind@top5")
        .expect("declared")
        .interval
        .expect("an interval");
    assert!(low < -0.5 && high > 0.5 && (low + high).abs() < 1e-12, "{low} {high}");
}

#[test]
fn combined_needs_every_head_and_two_heads_at_least() {
    let results = run(&two_heads(400, 1));
    let data = two_heads(400, 1);
    let both = (0..400)
        .filter(|&i| data.heads.iter().all(|h| h.labels[i] == h.baseline[i]))
        .count();
    assert_eq!(value(&results, "accuracy.combined@baseline"), both as f64 / 400.0);
    let single = run(&one_head(&[true, false], &[false, false], 1.0));
    assert!(single.scores.iter().all(|score| !score.metric.contains("combined")));
}

#[test]
fn every_declared_output_is_answered_and_every_answer_is_declared() {
    let results = run(&two_heads(60, 2));
    for metric in Analysis::Perturb.metrics() {
        assert_eq!(metric.invariances, [Invariance::RowOrder]);
        for output in metric.outputs {
            let is_answer = |score: &Score| score.metric.output().is_some_and(|of| of.id == output.id);
            assert!(results.scores.iter().any(is_answer), "{}", output.id);
        }
    }
    for score in &results.scores {
        let (_, output) = find(&score.metric).unwrap_or_else(|| panic!("{} is not declared", score.metric));
        assert_eq!(output.expect("an output").better, score.better, "{}", score.metric);
        assert_eq!(
            score.metric.parse::<MetricId>().expect("an identity").to_string(),
            score.metric
        );
        assert!(score.value.is_some() || score.reason.is_some());
        if let (Some(value), Some([low, high])) = (score.value, score.interval) {
            assert!(low <= value && value <= high, "{}: {low} {value} {high}", score.metric);
        }
    }
}

#[test]
fn effects_add_up_to_the_standard_error() {
    let results = run(&two_heads(300, 3));
    let with_effects = results.scores.iter().filter_map(|s| Some((s, s.effects.as_ref()?)));
    let mut count = 0;
    for (score, effects) in with_effects {
        let error = effects.iter().map(|e| e * e).sum::<f64>().sqrt();
        let stated = score.standard_error.expect("an error");
        assert!(
            (error - stated).abs() <= 1e-9 * stated,
            "{}: {error} {stated}",
            score.metric
        );
        count += 1;
    }
    // Three heads: accuracy of 11 sets; loss of accuracy and three scores by share of 10; three summaries of two families.
    assert_eq!(count, 3 * (11 + 4 * 10 + 6));
}

#[test]
fn the_order_of_the_samples_changes_no_score() {
    let data = two_heads(500, 4);
    let order = Draw::new(5).permutation(500);
    let shuffled = |codes: &Vec<u32>| order.iter().map(|&i| codes[i]).collect::<Vec<u32>>();
    let other = Perturbation {
        groups: None,
        heads: data
            .heads
            .iter()
            .map(|h| Head {
                labels: shuffled(&h.labels),
                baseline: shuffled(&h.baseline),
                ..h.clone()
            })
            .collect(),
        sets: data
            .sets
            .iter()
            .map(|s| PerturbedSet {
                predictions: s.predictions.iter().map(shuffled).collect(),
                ..s.clone()
            })
            .collect(),
    };
    let (before, after) = (run(&data), run(&other));
    assert_eq!(before.breakdowns, after.breakdowns);
    assert_eq!(before.scores.len(), after.scores.len());
    for (a, b) in before.scores.iter().zip(&after.scores) {
        let numbers = |s: &repscope_core::Score| {
            let [low, high] = s.interval.unwrap_or_default();
            [s.value.unwrap_or_default(), low, high, s.chance.unwrap_or_default()]
        };
        for (x, y) in numbers(a).into_iter().zip(numbers(b)) {
            assert!((x - y).abs() <= 1e-12 * x.abs().max(1.0), "{}: {x} {y}", a.metric);
        }
    }
}

#[test]
fn the_bits_are_the_same_in_every_order_of_work_and_on_any_number_of_threads() {
    let data = two_heads(700, 6);
    let metrics = Analysis::Perturb.metrics();
    let run = |order| perturb(MODEL, &data, &metrics, &Spec::default(), &Driver::silent(order)).expect("valid");
    let expected = run(Order::Serial);
    assert_eq!(run(Order::Shuffled(3)), expected);
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        assert_eq!(pool.install(|| run(Order::Parallel)), expected, "{threads} threads");
    }
}

#[test]
fn classes_are_broken_down_in_their_order_and_empty_ones_have_no_numbers() {
    let mut data = two_heads(80, 7);
    data.heads[0].classes.push("nobody".to_string());
    let results = run(&data);
    let classes = table(&results, "pis.combined@top3");
    assert_eq!(classes.keys[0].values, [vec!["modulation"; 6], vec!["snr"; 3]].concat());
    assert_eq!(classes.keys[1].values[..6], data.heads[0].classes);
    let column = |table: &Breakdown, name: &str| {
        table
            .columns
            .iter()
            .find(|c| c.name == name)
            .expect(name)
            .values
            .clone()
    };
    assert_eq!(
        (column(classes, "samples")[5], column(classes, "pis")[5]),
        (Some(0.0), None)
    );
    let of_head = table(&results, "accuracy.modulation@top3");
    assert_eq!(
        [
            column(of_head, "recall")[5],
            column(of_head, "precision")[5],
            column(of_head, "f1")[5]
        ],
        [None; 3]
    );
    let total = |values: Vec<Option<f64>>| values.into_iter().flatten().sum::<f64>();
    assert_eq!(
        total(column(table(&results, "accuracy.snr.confusion@top3"), "count")),
        80.0
    );
    assert_eq!(total(column(classes, "samples")), 160.0);
    assert!(
        results
            .warnings
            .iter()
            .any(|w| w.contains("1 of 6 classes have no sample") && w.contains("nobody"))
    );
}

#[test]
fn accuracy_at_chance_and_other_shares_than_the_percentage_are_told() {
    let labels: Vec<u32> = (0..200).map(|i| i % 2).collect();
    let lost = vec![0; 200];
    let mut data = Perturbation {
        groups: None,
        heads: vec![head("kind", 2, labels.clone(), labels.clone())],
        sets: vec![set("bottom", 1.0, vec![lost]), set("top", 1.0, vec![labels])],
    };
    data.sets[0].masked_lit = Some(0.947);
    let warnings = run(&data).warnings;
    let told = |parts: &[&str]| warnings.iter().any(|w| parts.iter().all(|part| w.contains(part)));
    assert!(
        told(&["at chance (50.00 %", "1 of 2 sets", "bottom1 (50.00 %)"]),
        "{warnings:?}"
    );
    assert!(
        told(&["1 of 2 sets masked another share", "bottom1 (94.70 %)"]),
        "{warnings:?}"
    );
    assert_eq!(warnings.len(), 2);
    data.heads[0].baseline = vec![1; 200];
    assert!(
        run(&data)
            .warnings
            .iter()
            .any(|w| w.contains("accuracy without perturbation is 50.00 %"))
    );
}

#[test]
fn predictions_that_do_not_fit_are_refused_with_both_numbers() {
    type Change = fn(&mut Perturbation);
    let wrong: [(Change, &[&str]); 14] = [
        (|d| d.heads.clear(), &["no head"]),
        (
            |d| d.heads[1].labels.truncate(7),
            &["`snr` has 7 labels", "`modulation` has 20"],
        ),
        (
            |d| d.heads[0].baseline.truncate(9),
            &["baseline predictions of `modulation` are 9", "20 samples"],
        ),
        (
            |d| d.heads[1].labels[3] = 3,
            &["labels of `snr` hold class 3", "3 classes"],
        ),
        (
            |d| d.sets[1].predictions[0][5] = 9,
            &["`modulation` for set `top2` hold class 9", "5 classes"],
        ),
        (
            |d| d.sets[2].predictions[1].truncate(4),
            &["`snr` for set `top3` are 4", "20 samples"],
        ),
        (
            |d| d.sets[0].predictions.truncate(1),
            &["`top1` has predictions of 1 heads", "there are 2"],
        ),
        (|d| d.sets[0].percent = 0.0, &["`top1` perturbs 0 %"]),
        (|d| d.sets[0].percent = f64::NAN, &["NaN"]),
        (|d| d.sets[0].masked_lit = Some(1.5), &["1.5"]),
        (|d| d.sets[1].name = "top1".to_string(), &["two sets", "`top1`"]),
        (|d| d.sets[1].percent = 1.0, &["`top1` and `top2`", "1 %"]),
        (|d| d.heads[1].name = "combined".to_string(), &["`combined`"]),
        (|d| d.heads[1].name = "a.b".to_string(), &["`a.b`"]),
    ];
    for (change, parts) in wrong {
        let mut data = two_heads(20, 8);
        change(&mut data);
        let driver = Driver::silent(Order::Serial);
        let error = perturb(MODEL, &data, &Analysis::Perturb.metrics(), &Spec::default(), &driver).unwrap_err();
        let error = error.to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    let driver = Driver::silent(Order::Serial);
    let other = perturb(MODEL, &two_heads(20, 8), &[metric("rankme")], &Spec::default(), &driver);
    assert!(other.unwrap_err().to_string().contains("`rankme`"));
}
