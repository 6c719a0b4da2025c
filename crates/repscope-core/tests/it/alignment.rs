// SPDX-License-Identifier: MIT
//! Two views of each sample: known distances, the chance level, what the intervals cover, and missing views.

use std::sync::Arc;

use crate::common::{Draw, MODEL, metric, numbers, run, score, space, value};
use repscope_core::run::{Driver, Order};
use repscope_core::{Error, Labels, Space, Spec, Study, evaluate};

const OUTPUTS: [&str; 3] = ["alignment", "alignment.uniformity", "alignment.total"];

#[test]
fn equal_views_have_an_alignment_of_zero_and_the_uniformity_of_the_codes() {
    let codes = Draw::new(1).normals(50 * 6);
    let study = viewed(6, codes.clone(), codes.iter().map(|x| 3.0 * x).collect());
    let found = score(&study, "alignment", &Spec::default());
    // Lengths are divided out up to rounding.
    assert!(found.value.is_some_and(|v| (0.0..1e-30).contains(&v)), "{found:?}");
    let plain = value(&study, "uniformity", &Spec::default());
    assert_near(value(&study, "alignment.uniformity", &Spec::default()), plain);
    assert_near(value(&study, "alignment.total", &Spec::default()), plain);
    assert!(
        run(&study, &[metric("alignment")], &Spec::default())
            .warnings
            .is_empty()
    );
}

#[test]
fn opposite_views_have_an_alignment_of_two_to_the_alpha() {
    let codes = Draw::new(2).normals(50 * 6);
    let study = viewed(6, codes.clone(), codes.iter().map(|x| -x).collect());
    assert_near(value(&study, "alignment", &Spec::default()), 4.0);
    let spec = Spec {
        alpha: 3.0,
        ..Spec::default()
    };
    assert_near(value(&study, "alignment", &spec), 8.0);
    assert!(
        score(&study, "alignment", &spec)
            .interval
            .is_some_and(|[_, high]| high <= 8.0)
    );
}

#[test]
fn three_samples_have_the_values_of_a_hand_calculation() {
    // Axes of the plane. Matching squared distances 0, 2, 2; mismatched 2, 0 and 2, 2 and 4, 2: their mean is 2.
    let study = viewed(
        2,
        vec![1.0, 0.0, 0.0, 2.0, -1.0, 0.0],
        vec![3.0, 0.0, 1.0, 0.0, 0.0, 1.0],
    );
    let found = score(&study, "alignment", &Spec::default());
    assert_near(found.value.unwrap(), 4.0 / 3.0);
    assert_near(found.chance.unwrap(), 12.0 / 6.0);
    // Codes: squared distances 2, 4, 2. View: 0, 2, 2. Kernel exp(−2·d²).
    let kernel = |squares: [f64; 3]| (squares.map(|d| (-2.0 * d).exp()).iter().sum::<f64>() / 3.0).ln();
    let uniformity = (kernel([2.0, 4.0, 2.0]) + kernel([0.0, 2.0, 2.0])) / 2.0;
    assert_near(value(&study, "alignment.uniformity", &Spec::default()), uniformity);
    assert_near(
        value(&study, "alignment.total", &Spec::default()),
        4.0 / 3.0 + uniformity,
    );
}

#[test]
fn chance_is_the_mean_over_all_mismatched_pairs() {
    let (rows, columns) = (40, 5);
    let mut draw = Draw::new(3);
    let (x, y) = (draw.uniforms(rows * columns), draw.uniforms(rows * columns));
    let mut sum = 0.0;
    for (i, a) in x.chunks_exact(columns).enumerate() {
        for (_, b) in y.chunks_exact(columns).enumerate().filter(|&(j, _)| j != i) {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(p, q)| p * q).sum::<f64>();
            sum += 2.0 - 2.0 * dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
        }
    }
    let chance = score(&viewed(columns, x, y), "alignment", &Spec::default()).chance;
    assert_near(chance.unwrap(), sum / (rows * (rows - 1)) as f64);
}

#[test]
fn mismatched_views_are_at_chance_and_a_warning_asks_about_it() {
    let mut draw = Draw::new(4);
    let (rows, columns) = (2000, 8);
    let codes = draw.normals(rows * columns);
    let near: Vec<f64> = codes.iter().map(|x| x + 0.2 * draw.normal()).collect();
    let study = viewed(columns, codes, near);
    let view = study.view.as_ref().expect("a view");
    let shuffled = Study {
        view: Some(Arc::new(
            view.select(&draw.permutation(rows)).expect("rows of the view"),
        )),
        ..study.clone()
    };
    for alpha in [2.0, 1.0] {
        let spec = Spec {
            alpha,
            ..Spec::default()
        };
        let (good, bad) = (score(&study, "alignment", &spec), score(&shuffled, "alignment", &spec));
        let (chance, value) = (bad.chance.unwrap(), bad.value.unwrap());
        // The standard error of a mean of 2,000 distances of random directions is below 0.02.
        assert!((value - chance).abs() < 0.08, "{alpha}: {value} {chance}");
        assert!(
            (good.chance.unwrap() - chance).abs() < 0.08 && good.value.unwrap() < 0.4 * chance,
            "{good:?}"
        );
        assert!(run(&study, &[metric("alignment")], &spec).warnings.is_empty());
        let warnings = run(&shuffled, &[metric("alignment")], &spec).warnings;
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].contains("no nearer than mismatched ones: is row i of both files the same sample?"),
            "{warnings:?}"
        );
    }
}

#[test]
fn without_a_view_nothing_is_defined_and_the_reason_says_what_to_give() {
    let study = Study::new(MODEL, space("latent", 2, Draw::new(5).normals(20)));
    assert_undefined(&study, &OUTPUTS, "needs the embeddings of a second view of each sample");
}

#[test]
fn a_code_of_length_zero_in_either_view_leaves_no_value() {
    let (whole, broken) = (vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0], vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_undefined(
        &viewed(2, broken.clone(), whole.clone()),
        &OUTPUTS,
        "row 2 of `latent` has length zero",
    );
    assert_undefined(&viewed(2, whole, broken), &OUTPUTS, "row 2 of `view` has length zero");
}

#[test]
fn one_sample_has_an_alignment_and_nothing_to_compare_it_with() {
    let study = viewed(2, vec![1.0, 0.0], vec![0.0, 5.0]);
    let found = score(&study, "alignment", &Spec::default());
    assert_near(found.value.unwrap(), 2.0);
    assert_eq!((found.chance, found.interval), (None, None));
    assert_undefined(&study, &OUTPUTS[1..], "one row has no pairs");
}

#[test]
fn two_samples_have_no_interval_of_uniformity() {
    let study = viewed(2, vec![1.0, 0.0, 0.0, 1.0], vec![0.0, 5.0, 1.0, 0.0]);
    assert!(score(&study, "alignment", &Spec::default()).interval.is_some());
    for id in &OUTPUTS[1..] {
        let found = score(&study, id, &Spec::default());
        assert!(found.value.is_some() && found.interval.is_none(), "{found:?}");
    }
}

#[test]
fn constant_codes_are_aligned_by_collapse_and_nobody_is_asked_about_the_rows() {
    let study = viewed(3, [0.1, 0.2, 0.3].repeat(40), [0.2, 0.4, 0.6].repeat(40));
    let results = run(&study, &[metric("alignment")], &Spec::default());
    for id in OUTPUTS {
        let value = results.score(MODEL, id).and_then(|s| s.value).expect("a number");
        assert!(value.abs() < 1e-15, "{id} {value}");
    }
    assert!(results.warnings.is_empty(), "{:?}", results.warnings);
}

#[test]
fn options_outside_their_range_are_refused_with_their_numbers() {
    let study = viewed(2, Draw::new(6).normals(20), Draw::new(7).normals(20));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for (spec, name) in [
            (
                Spec {
                    alpha: bad,
                    ..Spec::default()
                },
                "alpha",
            ),
            (
                Spec {
                    t: bad,
                    ..Spec::default()
                },
                "t =",
            ),
        ] {
            match evaluate(
                std::slice::from_ref(&study),
                &[metric("alignment")],
                &spec,
                &Driver::silent(Order::Serial),
            ) {
                Err(Error::Input(text)) => assert!(text.contains(name) && text.contains("2 is usual"), "{text}"),
                other => panic!("should be refused: {other:?}"),
            }
        }
    }
}

#[test]
fn single_precision_gives_the_same_as_double() {
    let mut draw = Draw::new(8);
    let mut single = |name: &str| {
        let values = draw.normals(60 * 5).iter().map(|&x| x as f32).collect();
        Space::from_f32(name, 60, 5, values).expect("finite numbers")
    };
    let (x, y) = (single("latent"), single("view"));
    let double = viewed(5, numbers(&x), numbers(&y));
    let single = Study {
        view: Some(Arc::new(y)),
        ..Study::new(MODEL, x)
    };
    for id in OUTPUTS {
        assert_eq!(
            score(&single, id, &Spec::default()),
            score(&double, id, &Spec::default())
        );
    }
}

#[test]
fn a_sample_ranks_fewer_rows_but_aligns_all() {
    let study = noisy(600, 6, 0.3, 9);
    let sampled = Spec {
        sample: Some(150),
        ..Spec::default()
    };
    assert_eq!(
        score(&study, "alignment", &sampled),
        score(&study, "alignment", &Spec::default())
    );
    for id in &OUTPUTS[1..] {
        let (all, some) = (score(&study, id, &Spec::default()), score(&study, id, &sampled));
        assert_eq!((all.n, some.n), (600, 150));
        let (a, b, error) = (all.value.unwrap(), some.value.unwrap(), some.standard_error.unwrap());
        assert!(
            (a - b).abs() < 4.0 * error && error > all.standard_error.unwrap(),
            "{a} {b} {error}"
        );
    }
}

#[test]
fn the_interval_of_the_alignment_is_students_over_rows_and_a_jackknife_over_episodes() {
    let study = noisy(200, 4, 0.5, 10);
    let (x, y) = (
        numbers(&study.embeddings),
        numbers(study.view.as_ref().expect("a view")),
    );
    let unit = |row: &[f64]| {
        let length = row.iter().map(|v| v * v).sum::<f64>().sqrt();
        row.iter().map(|v| v / length).collect::<Vec<f64>>()
    };
    let squares: Vec<f64> = x
        .chunks_exact(4)
        .zip(y.chunks_exact(4))
        .map(|(a, b)| unit(a).iter().zip(unit(b)).map(|(p, q)| (p - q).powi(2)).sum())
        .collect();
    // The standard error of a mean: s/√n.
    let deviation = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
    };
    let plain = score(&study, "alignment", &Spec::default());
    assert_near(plain.standard_error.unwrap(), deviation(&squares));
    assert_eq!(plain.unit.as_deref(), Some("rows"));
    // Episodes of equal length: the same over their means.
    let episodes = Labels::from_codes((0..200).map(|i| i / 20).collect(), 10);
    let means: Vec<f64> = squares.chunks_exact(20).map(|c| c.iter().sum::<f64>() / 20.0).collect();
    let grouped = Study {
        episodes: Some(Arc::new(episodes)),
        ..study
    };
    let found = score(&grouped, "alignment", &Spec::default());
    assert_near(found.standard_error.unwrap(), deviation(&means));
    for id in OUTPUTS {
        assert_eq!(score(&grouped, id, &Spec::default()).unit.as_deref(), Some("episodes"));
    }
}

#[test]
fn intervals_hold_what_new_samples_would_give_about_as_often_as_they_say() {
    // 300 draws of 120 samples; what they should hold is the mean over all draws, whose error is small. With 16 columns
    // the distances have a skewness of 1.5; at 4, with 3 columns, Student's interval of a mean holds it 0.91 of the time.
    let draws = 300;
    let specs = [
        Spec::default(),
        Spec {
            sample: Some(40),
            ..Spec::default()
        },
    ];
    for spec in &specs {
        let found: Vec<Vec<_>> = (0..draws)
            .map(|draw| run(&noisy(120, 16, 0.4, 1000 + draw), &[metric("alignment")], spec).scores)
            .collect();
        for (place, id) in OUTPUTS.iter().enumerate() {
            let truth = found.iter().map(|s| s[place].value.unwrap()).sum::<f64>() / draws as f64;
            let held = found
                .iter()
                .filter(|s| {
                    s[place]
                        .interval
                        .is_some_and(|[low, high]| (low..=high).contains(&truth))
                })
                .count() as f64
                / draws as f64;
            // 0.95 with a standard error of 0.013 over 300 draws, and a little for what is not linear.
            assert!((0.90..=0.99).contains(&held), "{id} with {:?}: {held}", spec.sample);
        }
    }
}

#[test]
fn all_threads_and_orders_give_the_same_bits() {
    let study = noisy(3000, 7, 0.3, 11);
    for spec in [
        Spec::default(),
        Spec {
            sample: Some(500),
            alpha: 1.5,
            ..Spec::default()
        },
    ] {
        let bits = |order| {
            let found = evaluate(
                std::slice::from_ref(&study),
                &[metric("alignment")],
                &spec,
                &Driver::silent(order),
            );
            let scores = found.expect("a valid study").scores;
            let of = |s: &repscope_core::Score| {
                let ends = s.interval.map(|i| i.map(f64::to_bits));
                (s.value.map(f64::to_bits), s.chance.map(f64::to_bits), ends)
            };
            scores.iter().map(of).collect::<Vec<_>>()
        };
        let serial = bits(Order::Serial);
        assert!(serial.iter().all(|(value, _, ends)| value.is_some() && ends.is_some()));
        assert_eq!(serial, bits(Order::Shuffled(1)));
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("threads");
            assert_eq!(serial, pool.install(|| bits(Order::Parallel)), "{threads} threads");
        }
    }
}

/// Normal codes around a common direction, and the same with noise of this size.
fn noisy(rows: usize, columns: usize, noise: f64, seed: u64) -> Study {
    let mut draw = Draw::new(seed);
    let codes: Vec<f64> = draw.normals(rows * columns).iter().map(|x| x + 0.5).collect();
    let view = codes.iter().map(|x| x + noise * draw.normal()).collect();
    viewed(columns, codes, view)
}

fn viewed(columns: usize, codes: Vec<f64>, view: Vec<f64>) -> Study {
    Study {
        view: Some(Arc::new(space("view", columns, view))),
        ..Study::new(MODEL, space("latent", columns, codes))
    }
}

fn assert_undefined(study: &Study, ids: &[&str], reason: &str) {
    for id in ids {
        let found = score(study, id, &Spec::default());
        let given = found.reason.unwrap_or_default();
        assert!(found.value.is_none() && given.contains(reason), "{id}: {given}");
    }
}

/// Within 1e-12: sums of a few thousand numbers near 1.
fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}
