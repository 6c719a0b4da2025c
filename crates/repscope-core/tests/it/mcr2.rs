// SPDX-License-Identifier: MIT
//! Coding rates on codes whose determinants are known, and against determinants computed directly.

use std::sync::Arc;

use crate::common::{Draw, MODEL, metric, run, score, space, value};
use repscope_core::run::{Driver, Order};
use repscope_core::{Error, Labels, Mcr2Spec, Space, Spec, Study, evaluate};

const TOTAL: &str = "mcr2.total";
const DISCRIMINATIVE: &str = "mcr2.discriminative";
const COMPRESSIVE: &str = "mcr2.compressive";
const OUTPUTS: [&str; 3] = [TOTAL, DISCRIMINATIVE, COMPRESSIVE];

#[test]
fn orthonormal_rows_of_two_classes_have_the_rates_of_a_hand_calculation() {
    // ZᵀZ = I for four axes of R⁴, so R = ½·4·ln(1 + D/(N·eps)) = 2·ln(1 + 4/(4·0.5)). A class holds two of the axes:
    // ½·2·ln(1 + 4/(2·0.5)), twice with the weight ½. Their lengths do not matter.
    let mut codes = vec![0.0; 16];
    for i in 0..4 {
        codes[i * 5] = (i + 1) as f64;
    }
    let study = labelled(4, codes, &[0, 0, 1, 1]);
    let spec = with(1.0, 1.0, 0.5);
    let (whole, classes) = (2.0 * 3f64.ln(), 5f64.ln());
    assert_values(&study, &spec, [classes - whole, whole, classes]);
    // gamma1 = 2 inside the first logarithm, gamma2 = 3 before it.
    let whole = 2.0 * 5f64.ln();
    assert_values(&study, &with(2.0, 3.0, 0.5), [classes - 3.0 * whole, whole, classes]);
}

#[test]
fn the_defaults_are_those_of_the_reference() {
    // Two equal rows of R²: ZᵀZ has the eigenvalues 2 and 0, so R = ½·ln(1 + 2/(2·0.01)·2).
    let study = labelled(2, vec![1.0, 0.0, 1.0, 0.0], &[0, 0]);
    let rate = 0.5 * 201f64.ln();
    assert_values(&study, &Spec::default(), [0.0, rate, rate]);
}

#[test]
fn classes_of_unequal_size_are_weighted_by_their_rows() {
    // Three times the first axis and once the second, D = 2, eps = 1: R = ½·ln((1 + 2/4·3)(1 + 2/4·1)), both classes
    // have ½·ln(1 + 2).
    let study = labelled(2, vec![1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 5.0], &[7, 7, 7, 2]);
    let (whole, classes) = (0.5 * 3.75f64.ln(), 0.5 * 3f64.ln());
    assert_values(&study, &with(1.0, 1.0, 1.0), [classes - whole, whole, classes]);
}

#[test]
fn the_total_of_nearly_collapsed_rows_is_exact_to_the_rounding_of_the_rates() {
    // Rows within 1e-4 of one direction: both rates are about ½·ln(1 + D/eps) = 3.2, and the total is their difference, about −5e-8.
    // Another order of the rows changes the last digits of the rates, 1e-13, which is the sixth digit of the total.
    let (rows, columns) = (300, 6);
    let mut draw = Draw::new(26);
    let center = draw.normals(columns);
    let codes: Vec<f64> = (0..rows * columns)
        .map(|at| center[at % columns] + 1e-4 * draw.normal())
        .collect();
    let classes: Vec<u32> = (0..rows).map(|_| draw.below(4) as u32).collect();
    let total = value(&labelled(columns, codes.clone(), &classes), TOTAL, &Spec::default());
    assert!((-1e-6..-1e-9).contains(&total), "{total}");
    for _ in 0..10 {
        let order = draw.permutation(rows);
        let moved: Vec<f64> = order
            .iter()
            .flat_map(|&i| codes[i * columns..][..columns].to_vec())
            .collect();
        let of_rows: Vec<u32> = order.iter().map(|&i| classes[i]).collect();
        let found = value(&labelled(columns, moved, &of_rows), TOTAL, &Spec::default());
        assert!((found - total).abs() < 1e-12, "{found} {total}");
    }
}

#[test]
fn one_class_has_nothing_to_reduce() {
    let study = labelled(5, Draw::new(1).normals(200), &[0; 40]);
    assert_eq!(value(&study, TOTAL, &Spec::default()), 0.0);
}

#[test]
fn a_class_for_every_row_has_the_rate_of_a_single_code() {
    let names: Vec<u32> = (0..40).collect();
    let study = labelled(5, Draw::new(1).normals(200), &names);
    let expected = 0.5 * (1.0 + 5.0 / 0.01f64).ln();
    assert_near(value(&study, COMPRESSIVE, &Spec::default()), expected);
}

#[test]
fn one_row_alone_has_its_rate() {
    let study = labelled(3, vec![1.0, 2.0, 2.0], &[0]);
    let rate = 0.5 * 301f64.ln();
    assert_values(&study, &Spec::default(), [0.0, rate, rate]);
}

#[test]
fn constant_codes_take_the_rate_of_one_direction_whatever_the_labels() {
    let labels: Vec<u32> = (0..40).map(|i| i % 3).collect();
    let study = labelled(4, [3.0, -1.0, 0.5, 2.0].repeat(40), &labels);
    let rate = 0.5 * 401f64.ln();
    assert_near(value(&study, DISCRIMINATIVE, &Spec::default()), rate);
    assert_near(value(&study, COMPRESSIVE, &Spec::default()), rate);
    assert!(value(&study, TOTAL, &Spec::default()).abs() < 1e-12);
}

#[test]
fn a_code_of_length_zero_leaves_no_value() {
    let study = labelled(2, vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0], &[0, 0, 1]);
    for id in OUTPUTS {
        let found = score(&study, id, &Spec::default());
        let reason = found.reason.unwrap_or_default();
        assert!(
            found.value.is_none() && reason.contains("row 1 of `latent` has length zero"),
            "{reason}"
        );
    }
}

#[test]
fn without_labels_the_clusters_of_k_means_are_the_classes_and_a_note_says_so() {
    // Two blobs far apart: k-means with two clusters finds them.
    let mut draw = Draw::new(2);
    let codes: Vec<f64> = (0..60)
        .flat_map(|i| [f64::from(i % 2) * 100.0 + 1.0 + draw.uniform(), 50.0])
        .collect();
    let labels: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let (named, spec) = (
        labelled(2, codes, &labels),
        Spec {
            clusters: 2,
            ..Spec::default()
        },
    );
    let found = Study {
        labels: None,
        ..named.clone()
    };
    for id in OUTPUTS {
        let (a, b) = (score(&named, id, &spec), score(&found, id, &spec));
        assert_eq!(a.value, b.value, "{id}");
        let note = b.note.unwrap_or_default();
        assert_eq!(
            note.contains("k-means' own clusters"),
            id != DISCRIMINATIVE,
            "{id}: {note}"
        );
        assert_eq!(a.note, None, "{id}");
    }
}

#[test]
fn too_few_rows_for_the_clusters_still_have_a_discriminative_term() {
    let study = Study::new(MODEL, space("latent", 2, vec![1.0, 2.0, 3.0, 5.0]));
    let reason = score(&study, TOTAL, &Spec::default()).reason.unwrap_or_default();
    assert!(
        reason.contains("5 clusters need at least as many rows, not 2"),
        "{reason}"
    );
    assert!(score(&study, COMPRESSIVE, &Spec::default()).value.is_none());
    assert!(value(&study, DISCRIMINATIVE, &Spec::default()) > 0.0);
}

#[test]
fn constants_that_are_not_above_zero_and_finite_are_refused_with_their_numbers() {
    let study = labelled(2, Draw::new(3).normals(20), &[0; 10]);
    let bad = [0.0, -1.0, f64::NAN, f64::INFINITY];
    for (spec, name) in bad.iter().flat_map(|&x| {
        [
            (with(x, 1.0, 0.5), "gamma1"),
            (with(1.0, x, 0.5), "gamma2"),
            (with(1.0, 1.0, x), "eps"),
        ]
    }) {
        let text = refusal(&study, &spec);
        assert!(text.contains(name) && text.contains("above 0 and finite"), "{text}");
    }
    let text = refusal(&study, &with(1.0, 1.0, 1e-12));
    assert!(
        text.contains("2.0e12") && text.contains("1e10") && text.contains("larger eps"),
        "{text}"
    );
}

#[test]
fn more_rows_than_columns_and_fewer_agree_with_a_direct_computation() {
    // Several blocks and tasks on both sides, classes on both sides of D, and one of a single row.
    for (rows, columns) in [(60, 7), (7, 60), (900, 40), (40, 900), (700, 650)] {
        let mut draw = Draw::new(4);
        let codes = draw.normals(rows * columns);
        let labels: Vec<u32> = (0..rows)
            .map(|i| if i == 3 { 9 } else { u32::from(i * 10 < rows) })
            .collect();
        let spec = with(1.5, 0.7, 0.02);
        let whole = direct(&codes, columns, |_| true, 1.5, 0.02);
        let classes: f64 = [0, 1, 9]
            .iter()
            .map(|&class| {
                let share = labels.iter().filter(|&&l| l == class).count() as f64 / rows as f64;
                share * direct(&codes, columns, |i| labels[i] == class, 1.0, 0.02)
            })
            .sum();
        let study = labelled(columns, codes, &labels);
        assert_values(&study, &spec, [classes - 0.7 * whole, whole, classes]);
    }
}

#[test]
fn single_precision_gives_the_same_as_double() {
    let codes: Vec<f32> = Draw::new(5).normals(90 * 12).iter().map(|&x| x as f32).collect();
    let labels: Vec<u32> = (0..90).map(|i| i % 4).collect();
    let double = labelled(12, codes.iter().map(|&x| f64::from(x)).collect(), &labels);
    let single = Study {
        embeddings: Space::from_f32("latent", 90, 12, codes).expect("finite numbers"),
        ..double.clone()
    };
    for id in OUTPUTS {
        assert_eq!(
            value(&single, id, &Spec::default()),
            value(&double, id, &Spec::default())
        );
    }
}

#[test]
fn all_threads_and_orders_give_the_same_bits() {
    for (rows, columns) in [(5000, 600), (300, 2000)] {
        let labels: Vec<u32> = (0..rows as u32).map(|i| i % 3).collect();
        let study = labelled(columns, Draw::new(6).uniforms(rows * columns), &labels);
        let bits = |order| {
            let driver = Driver::silent(order);
            let found = evaluate(
                std::slice::from_ref(&study),
                &[metric("mcr2")],
                &Spec::default(),
                &driver,
            );
            let scores = found.expect("a valid study").scores;
            scores.iter().map(|s| s.value.map(f64::to_bits)).collect::<Vec<_>>()
        };
        let serial = bits(Order::Serial);
        assert!(serial.iter().all(Option::is_some));
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

#[test]
fn a_matrix_that_does_not_fit_the_memory_is_refused_before_any_work() {
    let study = labelled(300, Draw::new(7).normals(400 * 300), &[0; 400]);
    // 300² numbers are 703 KiB, the packed rows 469 KiB.
    let text = refusal(
        &study,
        &Spec {
            memory: Some(600 << 10),
            ..Spec::default()
        },
    );
    assert!(text.contains("703.1 KiB") && text.contains("600.0 KiB"), "{text}");
}

/// ½ ln det(I + weight·D/(n·eps)·ZᵀZ) of the chosen rows: the D × D matrix as it stands, by Gaussian elimination.
fn direct(codes: &[f64], columns: usize, is_chosen: impl Fn(usize) -> bool, weight: f64, eps: f64) -> f64 {
    let chosen: Vec<&[f64]> = codes
        .chunks_exact(columns)
        .enumerate()
        .filter(|&(i, _)| is_chosen(i))
        .map(|c| c.1)
        .collect();
    let scale = weight * columns as f64 / (chosen.len() as f64 * eps);
    let mut matrix = vec![0.0; columns * columns];
    for row in chosen {
        let squared: f64 = row.iter().map(|x| x * x).sum();
        for (a, out) in matrix.chunks_exact_mut(columns).enumerate() {
            for (sum, x) in out.iter_mut().zip(row) {
                *sum += scale * row[a] * x / squared;
            }
        }
    }
    let mut logarithm = 0.0;
    for a in 0..columns {
        matrix[a * columns + a] += 1.0;
    }
    for pivot in 0..columns {
        let (above, below) = matrix.split_at_mut((pivot + 1) * columns);
        let top = &above[pivot * columns..];
        logarithm += top[pivot].ln();
        for row in below.chunks_exact_mut(columns) {
            let factor = row[pivot] / top[pivot];
            for (x, t) in row[pivot..].iter_mut().zip(&top[pivot..]) {
                *x -= factor * t;
            }
        }
    }
    logarithm / 2.0
}

/// A mean of many rows varies by 1/√N: four copies of all rows have half the standard error.
#[test]
fn four_times_the_rows_halve_the_interval() {
    let codes: Vec<f64> = (0..400)
        .map(|i| f64::from((i * 37 + i * i * 11) % 101) - 50.0)
        .collect();
    let labels: Vec<u32> = (0..200).map(|i| i % 3 % 2).collect();
    let once = labelled(2, codes.clone(), &labels);
    let often = labelled(2, codes.repeat(4), &labels.repeat(4));
    for id in OUTPUTS {
        let error = |study: &Study| {
            let results = run(study, &[metric("mcr2")], &Spec::default());
            results
                .score(MODEL, id)
                .and_then(|s| s.standard_error)
                .expect("an error")
        };
        // The rates themselves are the same, because they divide by N.
        assert!((error(&once) / error(&often) - 2.0).abs() < 1e-9, "{id}");
    }
}

fn labelled(columns: usize, codes: Vec<f64>, labels: &[u32]) -> Study {
    let names: Vec<String> = labels.iter().map(u32::to_string).collect();
    Study {
        labels: Some(Arc::new(Labels::new(&names))),
        ..Study::new(MODEL, space("latent", columns, codes))
    }
}

fn with(gamma1: f64, gamma2: f64, eps: f64) -> Spec {
    Spec {
        mcr2: Mcr2Spec { gamma1, gamma2, eps },
        ..Spec::default()
    }
}

fn assert_values(study: &Study, spec: &Spec, expected: [f64; 3]) {
    let results = run(study, &[metric("mcr2")], spec);
    for (id, expected) in OUTPUTS.iter().zip(expected) {
        let found = results.score(MODEL, id).expect("a declared output");
        assert_near(found.value.expect("a number"), expected);
        assert_eq!(found.n, study.embeddings.rows(), "{id}");
        // Rates vary in a way that rows can tell only where every class has four of them for each column.
        let fewest = match *id {
            "mcr2.discriminative" => study.embeddings.rows(),
            _ => smallest_class(study),
        };
        assert_eq!(
            found.interval.is_some(),
            fewest >= 4 * study.embeddings.columns(),
            "{id}"
        );
    }
}

fn smallest_class(study: &Study) -> usize {
    let codes = study.labels.as_deref().map_or(&[][..], Labels::codes);
    let sizes = codes.iter().map(|class| codes.iter().filter(|c| *c == class).count());
    sizes.min().unwrap_or(0)
}

/// Relative: logarithms of a few hundred pivots, of matrices whose eigenvalues reach 1e5.
fn assert_near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-11 * expected.abs().max(1.0),
        "{found}, not {expected}"
    );
}

fn refusal(study: &Study, spec: &Spec) -> String {
    let driver = Driver::silent(Order::Serial);
    match evaluate(std::slice::from_ref(study), &[metric("mcr2")], spec, &driver) {
        Err(error) if !matches!(error, Error::Internal(_)) => error.to_string(),
        other => panic!("should be refused: {other:?}"),
    }
}
