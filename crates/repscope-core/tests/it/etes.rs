// SPDX-License-Identifier: MIT
//! What is true of texts generated from signals: reference values, hand calculations, invariances, degenerate data, and the
//! same bits in every order of work.

use std::sync::Arc;

use crate::common::{Draw, metric, numbers, product, space};
use repscope_core::metrics::find;
use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Decoding, EtesSpec, Labels, Results, Score, Space, Spec, System, compare, etes};

const SYSTEM: &str = "system";

fn system(name: &str, columns: usize, signal: Vec<f64>, generated: Vec<f64>) -> System {
    System {
        name: name.to_string(),
        signal: Arc::new(space("signal", columns, signal)),
        generated: Arc::new(space("generated", columns, generated)),
        reference: None,
        fluency: None,
        texts: None,
    }
}

fn decoding(systems: Vec<System>) -> Decoding {
    Decoding {
        systems,
        references: None,
        groups: Vec::new(),
        units: None,
    }
}

fn one(columns: usize, signal: Vec<f64>, generated: Vec<f64>) -> Decoding {
    decoding(vec![system(SYSTEM, columns, signal, generated)])
}

/// Signals, texts that are like them, and references that are more so.
fn related(rows: usize, columns: usize, noise: f64, seed: u64) -> Decoding {
    let mut draw = Draw::new(seed);
    let signal = draw.normals(rows * columns);
    let mut like = |noise: f64| {
        signal
            .iter()
            .map(|x| x + noise * draw.normal() + 0.3)
            .collect::<Vec<f64>>()
    };
    let (generated, reference) = (like(noise), like(noise / 2.0));
    let mut data = one(columns, signal, generated);
    data.systems[0].reference = Some(Arc::new(space("reference", columns, reference)));
    data
}

fn run_with(data: &Decoding, spec: &Spec) -> Results {
    let driver = Driver::silent(Order::Parallel);
    etes(data, &Analysis::Etes.metrics(), spec, &driver).expect("valid data")
}

fn run(data: &Decoding) -> Results {
    run_with(data, &Spec::default())
}

fn score<'a>(results: &'a Results, id: &str) -> &'a Score {
    results.score(SYSTEM, id).unwrap_or_else(|| panic!("no score {id}"))
}

fn value(results: &Results, id: &str) -> f64 {
    let score = score(results, id);
    score.value.unwrap_or_else(|| panic!("{id}: {:?}", score.reason))
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found} and not {expected}"
    );
}

fn with(etes: impl FnOnce(&mut EtesSpec)) -> Spec {
    let mut spec = Spec::default();
    etes(&mut spec.etes);
    spec
}

#[test]
fn texts_that_are_their_signals_are_perfect() {
    let signal = Draw::new(1).normals(40 * 6);
    let results = run(&one(6, signal.clone(), signal));
    for (id, expected) in [
        ("etes.alignment", -1.0),
        ("etes.total", -1.0),
        ("etes.max", -1.0),
        ("etes.std", 0.0),
        ("etes.auc", 1.0),
        ("etes.top@1", 1.0),
        ("etes.mrr", 1.0),
        ("etes.rank", 1.0),
        ("etes.modality_gap", 0.0),
        ("etes.centred.alignment", -1.0),
        ("etes.centred.auc", 1.0),
        ("etes.p", 0.001),
    ] {
        assert_near(value(&results, id), expected, 1e-12, id);
    }
    assert!(value(&results, "etes.z") < -10.0);
    let [low, high] = score(&results, "etes.top@1").interval.expect("Wilson's has a width");
    assert!(low < 0.95 && high == 1.0);
}

#[test]
fn texts_that_have_nothing_to_do_with_signals_are_at_chance() {
    let mut draw = Draw::new(2);
    let results = run(&one(12, draw.normals(300 * 12), draw.normals(300 * 12)));
    // Four standard errors: of a normal statistic, of the AUC, and of ranks that are uniform over 1..300.
    assert!(value(&results, "etes.z").abs() < 4.0);
    let auc = score(&results, "etes.auc");
    assert_near(auc.value.unwrap(), 0.5, 4.0 * auc.standard_error.unwrap(), "auc");
    assert_near(
        value(&results, "etes.rank"),
        150.5,
        4.0 * 300.0 / 12f64.sqrt() / 300f64.sqrt(),
        "rank",
    );
    assert!(value(&results, "etes.p") > 1e-3);
}

#[test]
fn one_sentence_for_every_signal_is_at_chance_however_well_it_fits() {
    let mut draw = Draw::new(3);
    // All signals point the same way, more or less, and so does the sentence.
    let signal: Vec<f64> = (0..50 * 4).map(|_| 3.0 + draw.normal()).collect();
    let results = run(&one(4, signal, [1.0; 4].repeat(50)));
    assert!(value(&results, "etes.alignment") < -0.8);
    assert_near(
        value(&results, "etes.shuffled"),
        value(&results, "etes.alignment"),
        1e-12,
        "shuffled",
    );
    assert_eq!(value(&results, "etes.shuffled.std"), 0.0);
    for (id, expected) in [("etes.auc", 0.5), ("etes.p", 1.0)] {
        assert_near(value(&results, id), expected, 1e-12, id);
    }
    for id in ["etes.top@1", "etes.top@5", "etes.top@10", "etes.mrr", "etes.rank"] {
        assert_near(value(&results, id), score(&results, id).chance.unwrap(), 1e-12, id);
    }
    assert!(
        score(&results, "etes.z")
            .reason
            .as_ref()
            .unwrap()
            .contains("same mean energy")
    );
    assert!(
        score(&results, "etes.centred.alignment")
            .reason
            .as_ref()
            .unwrap()
            .contains("of 50 pairs none")
    );
    assert!(
        results.warnings.iter().any(|w| w.contains("49 of 50 generated texts")),
        "{:?}",
        results.warnings
    );
}

/// The mean energies of all orders of the texts.
fn of_all_orders(energy: &[Vec<f64>]) -> Vec<f64> {
    fn go(energy: &[Vec<f64>], used: &mut Vec<usize>, sum: f64, found: &mut Vec<f64>) {
        let i = used.len();
        if i == energy.len() {
            found.push(sum / i as f64);
            return;
        }
        for j in 0..energy.len() {
            if used.contains(&j) {
                continue;
            }
            used.push(j);
            go(energy, used, sum + energy[i][j], found);
            used.pop();
        }
    }
    let mut found = Vec::new();
    go(energy, &mut Vec::new(), 0.0, &mut found);
    found
}

#[test]
fn the_shuffled_mean_its_spread_and_the_p_value_are_those_of_all_orders() {
    // More rows than columns, and fewer.
    for (columns, seed) in [(3, 4), (6, 5), (9, 6)] {
        let data = related(6, columns, 1.5, seed);
        let unit = |space: &Space| -> Vec<Vec<f64>> {
            let rows = numbers(space);
            let rows = rows.chunks_exact(columns);
            rows.map(|row| {
                let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                row.iter().map(|x| x / length).collect()
            })
            .collect()
        };
        let (signal, text) = (unit(&data.systems[0].signal), unit(&data.systems[0].generated));
        let cosine = |a: &Vec<f64>, b: &Vec<f64>| -> f64 { a.iter().zip(b).map(|(x, y)| x * y).sum() };
        let energy: Vec<Vec<f64>> = signal
            .iter()
            .map(|s| text.iter().map(|t| -cosine(s, t)).collect())
            .collect();
        let means = of_all_orders(&energy);
        assert_eq!(means.len(), 720);
        let mean = means.iter().sum::<f64>() / 720.0;
        let std = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 720.0).sqrt();
        let results = run_with(&data, &with(|etes| etes.permutations = 9999));
        assert_near(value(&results, "etes.shuffled"), mean, 1e-14, "mean");
        assert_near(value(&results, "etes.shuffled.std"), std, 1e-14, "std");
        let alignment = value(&results, "etes.alignment");
        assert_near(value(&results, "etes.z"), (alignment - mean) / std, 1e-11, "z");
        let share = means.iter().filter(|m| **m <= alignment + 1e-12).count() as f64 / 720.0;
        // Five standard errors of a share of 9,999 draws.
        let error = 5.0 * (share * (1.0 - share) / 9999.0).sqrt() + 1e-4;
        assert_near(value(&results, "etes.p"), share, error, "p");
    }
}

#[test]
fn turning_scaling_and_reordering_change_nothing() {
    let columns = 7;
    let mut data = related(60, columns, 1.0, 7);
    let mut draw = Draw::new(8);
    let subjects: Vec<String> = (0..60).map(|_| format!("s{}", draw.below(3))).collect();
    data.groups = vec![("subject".to_string(), Arc::new(Labels::new(&subjects)))];
    let before = run(&data);
    let change = |f: &mut dyn FnMut(Vec<f64>) -> Vec<f64>, data: &Decoding| {
        let mut changed = data.clone();
        let system = &mut changed.systems[0];
        for space in [
            &mut system.signal,
            &mut system.generated,
            system.reference.as_mut().unwrap(),
        ] {
            *space = Arc::new(crate::common::space("changed", columns, f(numbers(space))));
        }
        changed
    };
    let turn = draw.orthogonal(columns);
    let turned = change(&mut |rows| product(&rows, columns, &turn), &data);
    // Every row by a factor of its own.
    let scaled = change(
        &mut |rows| {
            let rows = rows.chunks_exact(columns);
            rows.flat_map(|row| {
                let factor = (8.0 * draw.normal()).exp();
                row.iter().map(move |x| x * factor).collect::<Vec<f64>>()
            })
            .collect()
        },
        &data,
    );
    let order = draw.permutation(60);
    let mut reordered = change(
        &mut |rows| {
            order
                .iter()
                .flat_map(|&i| rows[i * columns..(i + 1) * columns].to_vec())
                .collect()
        },
        &data,
    );
    reordered.groups[0].1 = Arc::new(data.groups[0].1.select(&order));
    for (what, changed) in [("turned", turned), ("scaled", scaled), ("reordered", reordered)] {
        let after = run(&changed);
        assert_eq!(before.scores.len(), after.scores.len());
        // The p-value counts random pairings, which follow the order of rows.
        for (a, b) in before
            .scores
            .iter()
            .zip(&after.scores)
            .filter(|(a, _)| a.metric != "etes.p")
        {
            let all = |s: &Score| {
                [
                    s.value,
                    s.interval.map(|i| i[0]),
                    s.interval.map(|i| i[1]),
                    s.standard_error,
                    s.chance,
                ]
            };
            for (x, y) in all(a).into_iter().zip(all(b)) {
                assert_eq!(x.is_some(), y.is_some(), "{what}: {}", a.metric);
                assert_near(
                    x.unwrap_or(0.0),
                    y.unwrap_or(0.0),
                    1e-9,
                    &format!("{what}: {}", a.metric),
                );
            }
        }
        for (a, b) in before.breakdowns.iter().zip(&after.breakdowns) {
            for (a, b) in a.columns.iter().zip(&b.columns) {
                for (x, y) in a.values.iter().zip(&b.values) {
                    assert_near(x.unwrap_or(0.0), y.unwrap_or(0.0), 1e-9, &format!("{what}: {}", a.name));
                }
            }
        }
    }
}

#[test]
fn every_order_of_work_gives_the_same_bits() {
    let mut small = related(333, 10, 1.0, 9);
    small.groups = vec![(
        "subject".to_string(),
        Arc::new(Labels::from_codes((0..333).map(|i| i % 4).collect(), 4)),
    )];
    // 6,000² · 128 is a little more than the 2³² coordinates up to which all pairs are measured in f64.
    let large = related(6000, 128, 2.0, 10);
    for (data, spec) in [(small, Spec::default()), (large, with(|etes| etes.permutations = 9))] {
        let is_small = data.samples() < 1000;
        let answer = |order| etes(&data, &[metric("etes")], &spec, &Driver::silent(order)).expect("valid data");
        let serial = answer(Order::Serial);
        assert!(serial.scores.iter().all(|s| s.value.is_some()));
        assert!(!is_small || serial == answer(Order::Shuffled(1)));
        for threads in if is_small { vec![1, 2, 8] } else { vec![8] } {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads");
            assert_eq!(serial, pool.install(|| answer(Order::Parallel)), "{threads} threads");
        }
    }
}

#[test]
fn every_score_is_declared_and_every_declared_score_is_given() {
    let mut data = related(30, 5, 1.0, 11);
    let texts: Vec<String> = (0..30).map(|i| format!("text {} of {}", i % 7, i)).collect();
    let references: Vec<String> = (0..30).map(|i| format!("text {} of many", i % 5)).collect();
    data.systems[0].texts = Some(texts.into());
    data.references = Some(references.into());
    let results = run(&data);
    for score in &results.scores {
        let (metric, output) = find(&score.metric).unwrap_or_else(|| panic!("{} is not declared", score.metric));
        let output = output.unwrap_or_else(|| panic!("{} is no output", score.metric));
        assert_eq!(
            (metric.analysis, output.better),
            (Analysis::Etes, score.better),
            "{}",
            score.metric
        );
        assert!(score.value.is_some(), "{}", score.metric);
    }
    for output in metric("etes").outputs {
        let is_given = |s: &&Score| find(&s.metric).and_then(|(_, o)| o).is_some_and(|o| o.id == output.id);
        assert!(results.scores.iter().any(|s| is_given(&s)), "{}", output.id);
    }
}

#[test]
fn one_sample_has_an_energy_and_no_comparison() {
    let results = run(&one(2, vec![3.0, 0.0], vec![1.0, 1.0]));
    assert_near(value(&results, "etes.alignment"), -0.5f64.sqrt(), 1e-15, "alignment");
    assert_eq!(value(&results, "etes.median"), value(&results, "etes.p10"));
    for id in [
        "etes.shuffled",
        "etes.z",
        "etes.p",
        "etes.auc",
        "etes.top@1",
        "etes.mrr",
        "etes.rank",
    ] {
        let reason = score(&results, id).reason.as_ref().expect(id);
        assert!(reason.contains("1 sample cannot be paired"), "{reason}");
    }
    assert!(score(&results, "etes.std").reason.is_some() && score(&results, "etes.centred.alignment").reason.is_some());
    assert_eq!(
        score(&results, "etes.gap").reason.as_deref(),
        Some("no reference was given")
    );
    assert!(
        score(&results, "etes.total")
            .note
            .as_ref()
            .unwrap()
            .contains("no fluency")
    );
}

#[test]
fn one_column_leaves_energies_of_plus_and_minus_one() {
    let results = run(&one(1, vec![1.0, -2.0, 3.0, 0.5], vec![2.0, -1.0, -1.0, 4.0]));
    // −1, −1, 1, −1.
    assert_eq!(value(&results, "etes.alignment"), -0.5);
    // Matched cosines 1, 1, −1, 1. Mismatched, signal 1: −, −, +; 2: −, +, −; 3: +, −, +; 4: +, −, −: 5 are 1 and 7 are −1.
    // Each matched 1 beats 7 and ties 5; the −1 ties 7: (3 · 9.5 + 3.5) / 48.
    assert_near(value(&results, "etes.auc"), 32.0 / 48.0, 1e-15, "auc");
    assert!(
        results
            .scores
            .iter()
            .all(|s| s.value.is_some_and(f64::is_finite) || s.reason.is_some())
    );
}

#[test]
fn a_vector_of_length_zero_leaves_its_sample_out_and_no_other() {
    let mut data = related(12, 4, 1.0, 12);
    let whole = run(&data);
    let blank = |space: &Space, row: usize| {
        let mut rows = numbers(space);
        rows[row * 4..row * 4 + 4].fill(0.0);
        Arc::new(crate::common::space("blank", 4, rows))
    };
    data.systems[0].signal = blank(&data.systems[0].signal, 2);
    data.systems[0].generated = blank(&data.systems[0].generated, 9);
    let results = run(&data);
    assert_eq!(
        (score(&results, "etes.alignment").n, score(&whole, "etes.alignment").n),
        (10, 12)
    );
    let keep: Vec<usize> = (0..12).filter(|i| ![2, 9].contains(i)).collect();
    let select = |space: &Arc<Space>| Arc::new(space.select(&keep).unwrap());
    let mut without = data.clone();
    let system = &mut without.systems[0];
    system.signal = select(&system.signal);
    system.generated = select(&system.generated);
    system.reference = system.reference.as_ref().map(select);
    let expected = run(&without);
    for (a, b) in results.scores.iter().zip(&expected.scores) {
        assert_eq!((a.value, a.n, a.interval), (b.value, b.n, b.interval), "{}", a.metric);
    }
    assert!(
        results
            .warnings
            .iter()
            .any(|w| w.contains("2 of 12 samples") && w.contains("rows 2, 9"))
    );
    let table = &results.samples[0];
    let energies = &table.columns.iter().find(|(name, _)| name == "energy").unwrap().1;
    assert!(energies.len() == 12 && energies[2].is_none() && energies[9].is_none() && energies[0].is_some());
}

#[test]
fn nothing_but_zeros_is_undefined_and_not_a_number() {
    let results = run(&one(3, vec![0.0; 12], vec![1.0; 12]));
    assert!(results.scores.iter().all(|s| s.value.is_none() && s.reason.is_some()));
    let bands = results
        .breakdowns
        .iter()
        .find(|b| b.metric == "etes.bands")
        .expect("bands");
    assert_eq!(bands.keys[0].values.len(), 5);
}

#[test]
fn a_k_beyond_the_texts_is_said_to_be_their_number() {
    let results = run(&related(4, 3, 1.0, 13));
    let top = score(&results, "etes.top@10");
    assert_eq!(
        (top.value, top.chance, top.effective_k),
        (Some(1.0), Some(1.0), Some(4))
    );
    assert_eq!(score(&results, "etes.top@1").effective_k, None);
    assert!(results.warnings.iter().any(|w| w.contains("K = 10")));
}

#[test]
fn systems_are_compared_sample_by_sample_even_if_they_leave_out_different_ones() {
    let mut data = related(80, 6, 1.0, 14);
    let mut other = data.systems[0].clone();
    other.name = "other".to_string();
    let mut draw = Draw::new(15);
    let mut worse: Vec<f64> = numbers(&other.generated)
        .iter()
        .map(|x| x + 0.8 * draw.normal())
        .collect();
    worse[..6].fill(0.0);
    other.generated = Arc::new(space("worse", 6, worse));
    let mut rows = numbers(&data.systems[0].generated);
    rows[30..36].fill(0.0);
    data.systems[0].generated = Arc::new(space("generated", 6, rows));
    data.systems.push(other);
    let mut results = run(&data);
    compare(&mut results, &Spec::default(), &Driver::silent(Order::Serial));
    let found = results
        .differences
        .iter()
        .find(|d| d.metric == "etes.alignment")
        .expect("a difference");
    assert!(found.is_paired && found.units == 80);
    assert_eq!(found.winner.as_deref(), Some(SYSTEM));
    let separate = score(&results, "etes.alignment").standard_error.unwrap();
    let [low, high] = found.interval.unwrap();
    // What both share is no error of the difference: less than that of one system alone, twice.
    assert!((high - low) / 2.0 / 1.99 < 1.2 * separate);
    assert!(results.warnings.iter().any(|w| w.starts_with("other: ")));
}

#[test]
fn samples_of_one_unit_count_as_one() {
    let mut data = related(6, 4, 1.0, 16);
    let alone = run(&data);
    // Every sample five times: the same mean, and the same error if copies belong together.
    let copies: Vec<usize> = (0..30).map(|i| i % 6).collect();
    let select = |space: &Arc<Space>| Arc::new(space.select(&copies).unwrap());
    let system = &mut data.systems[0];
    system.signal = select(&system.signal);
    system.generated = select(&system.generated);
    system.reference = system.reference.as_ref().map(select);
    data.units = Some(Arc::new(Labels::from_codes(
        copies.iter().map(|&i| i as u32).collect(),
        6,
    )));
    let together = run(&data);
    for id in ["etes.alignment", "etes.gap", "etes.reference"] {
        let (a, b) = (score(&alone, id), score(&together, id));
        assert_near(a.value.unwrap(), b.value.unwrap(), 1e-12, id);
        assert_near(a.standard_error.unwrap(), b.standard_error.unwrap(), 1e-12, id);
        assert_eq!(b.unit.as_deref(), Some("groups"));
    }
    assert_eq!(score(&together, "etes.auc").unit.as_deref(), Some("groups"));
}

#[test]
fn the_interval_of_the_auc_holds_the_true_one_as_often_as_it_says() {
    // Text = signal + noise in the plane: the true AUC is the mean over many draws of independent pairs.
    let draws = 300;
    let results: Vec<Score> = (0..draws)
        .map(|seed| {
            let data = related(40, 2, 1.2, 1000 + seed);
            score(&run_with(&data, &with(|etes| etes.permutations = 0)), "etes.auc").clone()
        })
        .collect();
    let truth = results.iter().filter_map(|s| s.value).sum::<f64>() / draws as f64;
    let holds = |s: &&Score| s.interval.is_some_and(|[low, high]| low <= truth && truth <= high);
    let share = results.iter().filter(holds).count() as f64 / draws as f64;
    // 95 % with a binomial error of 1.3 %.
    assert!((0.91..=0.99).contains(&share), "{share}");
    assert!(results.iter().all(|s| s.metric != "etes.p"));
}

#[test]
fn what_does_not_fit_together_is_refused_with_both_numbers() {
    let good = related(5, 3, 1.0, 17);
    let refusal = |change: &dyn Fn(&mut Decoding)| {
        let mut data = good.clone();
        change(&mut data);
        data.check().unwrap_err().to_string()
    };
    let rows = |n: usize, d: usize| Arc::new(space("z", d, vec![1.0; n * d]));
    let labels = |n: usize| Arc::new(Labels::from_codes(vec![0; n], 1));
    for (said, change) in [
        (
            "no system",
            &(|d: &mut Decoding| d.systems.clear()) as &dyn Fn(&mut Decoding),
        ),
        ("are 4 but its signals are 5", &|d| d.systems[0].generated = rows(4, 3)),
        ("have 2 columns but its signals have 3", &|d| {
            d.systems[0].generated = rows(5, 2)
        }),
        ("are 6 but its signals are 5", &|d| {
            d.systems[0].reference = Some(rows(6, 3))
        }),
        ("are 1 but its signals are 5", &|d| {
            d.systems[0].fluency = Some([0.0].into())
        }),
        ("hold inf at row 1", &|d| {
            d.systems[0].fluency = Some([0.0, f64::INFINITY, 0.0, 0.0, 0.0].into())
        }),
        ("are 2 but its signals are 5", &|d| {
            d.systems[0].texts = Some(["a".to_string(), "b".to_string()].into())
        }),
        ("are 0 but the signals are 5", &|d| d.references = Some([].into())),
        ("`subject` are 4 but the signals are 5", &|d| {
            d.groups = vec![("subject".to_string(), labels(4))]
        }),
        ("the units are 6 but", &|d| d.units = Some(labels(6))),
        ("two systems are called `system`", &|d| {
            d.systems.push(d.systems[0].clone())
        }),
        ("`b` has 4 samples but `system` has 5", &|d| {
            d.systems.push(system("b", 3, vec![1.0; 12], vec![1.0; 12]));
        }),
    ] {
        let message = refusal(change);
        assert!(message.contains(said), "{said}: {message}");
    }
    for (said, spec) in [
        ("fluency weight of -1", with(|etes| etes.fluency_weight = -1.0)),
        ("bands that end at", with(|etes| etes.bands = [-0.8, -0.5, -0.5, 0.0])),
        ("bands that end at", with(|etes| etes.bands = [-2.0, -0.5, -0.2, 0.0])),
        ("K = [0]", with(|etes| etes.k = vec![0])),
    ] {
        let driver = Driver::silent(Order::Serial);
        let message = etes(&good, &[metric("etes")], &spec, &driver).unwrap_err().to_string();
        assert!(message.contains(said), "{message}");
    }
    let driver = Driver::silent(Order::Serial);
    let little = Spec {
        memory: Some(1000),
        ..Spec::default()
    };
    let message = etes(&good, &[metric("etes")], &little, &driver)
        .unwrap_err()
        .to_string();
    assert!(message.contains("5 samples of 3 columns need"), "{message}");
    let message = etes(&good, &[metric("mrr")], &Spec::default(), &driver)
        .unwrap_err()
        .to_string();
    assert!(message.contains("`mrr` is not a score of texts"), "{message}");
}
