// SPDX-License-Identifier: MIT
//! How similar two models are: what leaves it unchanged, what shuffled rows give, and what is refused.

use std::sync::Arc;

use crate::common::{Draw, metric, numbers, product, space};
use repscope_core::run::{Driver, Order};
use repscope_core::{AlikeSpec, Analysis, Error, Labels, Metric, Results, Spec, Study, random, similarity};

const ROWS: usize = 120;

fn spec(permutations: usize) -> Spec {
    Spec {
        alike: AlikeSpec {
            k: 5,
            permutations,
            ..AlikeSpec::default()
        },
        ..Spec::default()
    }
}

fn measured(pair: &[Study], metrics: &[&Metric], spec: &Spec) -> Results {
    similarity(pair, metrics, spec, &Driver::silent(Order::Parallel)).expect("two valid studies")
}

fn all() -> Vec<&'static Metric> {
    Analysis::Similarity.metrics()
}

/// Two models that see the same six numbers, each through a map of its own and with noise.
fn pair() -> [Study; 2] {
    let mut draw = Draw::new(71);
    let seen = draw.normals(ROWS * 6);
    let mut model = |name: &str, columns: usize| {
        let map = draw.normals(6 * columns);
        let values = product(&seen, 6, &map);
        let noisy = values.iter().map(|x| x + draw.normal()).collect();
        Study::new(name, space(name, columns, noisy))
    };
    [model("a", 5), model("b", 8)]
}

fn value(results: &Results, id: &str) -> f64 {
    let score = results.score("a ~ b", id).unwrap_or_else(|| panic!("no {id}"));
    score.value.unwrap_or_else(|| panic!("{id}: {:?}", score.reason))
}

fn with_embeddings(study: &Study, change: impl Fn(&[f64]) -> Vec<f64>) -> Study {
    let columns = study.embeddings.columns();
    Study {
        embeddings: space("z", columns, change(&numbers(&study.embeddings))),
        ..study.clone()
    }
}

#[test]
fn what_a_measure_declares_to_leave_it_unchanged_does_so() {
    use repscope_core::metrics::Invariance;
    let [a, b] = pair();
    let before = measured(&[a.clone(), b.clone()], &all(), &spec(0));
    let turn = Draw::new(72).orthogonal(b.embeddings.columns());
    let order = Draw::new(73).permutation(ROWS);
    let reorder = |study: &Study| Study {
        embeddings: study.embeddings.select(&order).expect("rows"),
        ..study.clone()
    };
    let changes = [
        (
            Invariance::Rotation,
            a.clone(),
            with_embeddings(&b, |z| product(z, 8, &turn)),
        ),
        (
            Invariance::Shift,
            a.clone(),
            with_embeddings(&b, |z| z.iter().map(|x| x + 100.0).collect()),
        ),
        (
            Invariance::Scale,
            a.clone(),
            with_embeddings(&b, |z| z.iter().map(|x| x * 1e-3).collect()),
        ),
        (Invariance::RowOrder, reorder(&a), reorder(&b)),
    ];
    for (invariance, a, b) in changes {
        let after = measured(&[a, b], &all(), &spec(0));
        for (old, new) in before.scores.iter().zip(&after.scores) {
            let is_declared = old.metric.metric().expect("declared").invariances.contains(&invariance);
            let is_same = |x: Option<f64>, y: Option<f64>| match (x, y) {
                (Some(x), Some(y)) => (x - y).abs() < 1e-8,
                (x, y) => x == y,
            };
            let low = |score: &repscope_core::Score| score.interval.map(|i| i[0]);
            assert!(
                !is_declared || (is_same(old.value, new.value) && is_same(low(old), low(new))),
                "{invariance:?}: {} from {:?} to {:?}",
                old.metric,
                old.value,
                new.value
            );
        }
    }
}

#[test]
fn the_order_of_the_models_matters_to_nobody_who_does_not_say_so() {
    let [a, b] = pair();
    let one = measured(&[a.clone(), b.clone()], &all(), &spec(0));
    let other = measured(&[b, a], &all(), &spec(0));
    let is_directed = |id: &str| id.starts_with("cycle_knn") || id.contains("weights=");
    for score in one.scores.iter().filter(|score| !is_directed(&score.metric)) {
        let turned = other.score("b ~ a", &score.metric).expect("the same measures");
        let (x, y) = (score.value.unwrap_or(-1.0), turned.value.unwrap_or(-1.0));
        assert!((x - y).abs() < 1e-9, "{}: {x} and {y}", score.metric);
    }
    let back = other.score("b ~ a", "cycle_knn.reverse@5").expect("declared").value;
    assert_eq!(back, Some(value(&one, "cycle_knn@5")));
}

#[test]
fn all_measures_have_the_same_bits_in_every_order_of_work() {
    let pair = pair();
    let bits = |order| -> Vec<Option<u64>> {
        let results = similarity(&pair, &all(), &spec(39), &Driver::silent(order)).expect("two valid studies");
        let numbers = results
            .scores
            .iter()
            .flat_map(|s| [s.value, s.chance, s.interval.map(|i| i[1])]);
        numbers.map(|x| x.map(f64::to_bits)).collect()
    };
    let serial = bits(Order::Serial);
    assert!(serial.iter().flatten().count() > 40);
    for order in [Order::Shuffled(1), Order::Parallel] {
        assert_eq!(bits(order), serial);
    }
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        assert_eq!(pool.install(|| bits(Order::Parallel)), serial, "{threads} threads");
    }
}

#[test]
fn debiased_cka_of_shuffled_rows_has_the_mean_and_the_variance_that_are_proven() {
    // 2 / (N (N − 3)) whatever the data, here for skewed ones: shuffled 2,000 times.
    let mut draw = Draw::new(74);
    let rows = 30;
    let skewed = |draw: &mut Draw, columns: usize| -> Vec<f64> {
        (0..rows * columns).map(|_| (1.5 * draw.normal()).exp()).collect()
    };
    let a = Study::new("a", space("a", 3, skewed(&mut draw, 3)));
    let b = Study::new("b", space("b", 5, skewed(&mut draw, 5)));
    let mut stream = random::stream(75, "test", 0);
    let values: Vec<f64> = (0..2000)
        .map(|_| {
            let order: Vec<usize> = random::permutation(rows, &mut stream)
                .into_iter()
                .map(|i| i as usize)
                .collect();
            let shuffled = Study {
                embeddings: b.embeddings.select(&order).expect("rows"),
                ..b.clone()
            };
            let driver = Driver::silent(Order::Serial);
            let mut only_linear = spec(0);
            only_linear.alike.sample = 6;
            let found = similarity(&[a.clone(), shuffled], &[metric("cka")], &only_linear, &driver);
            value(&found.expect("two valid studies"), "cka(kernel=linear)")
        })
        .collect();
    let mean = values.iter().sum::<f64>() / 2000.0;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 1999.0;
    let expected: f64 = 2.0 / (30.0 * 27.0);
    // Four standard errors of the mean; the variance of squares of skewed values is larger, so a fifth is allowed.
    assert!(mean.abs() < 4.0 * (expected / 2000.0).sqrt(), "{mean}");
    assert!((variance / expected - 1.0).abs() < 0.2, "{variance} {expected}");
}

#[test]
fn unrelated_models_are_calibrated_to_zero_and_a_copy_to_one() {
    let mut draw = Draw::new(76);
    let mut model = |name: &str| Study::new(name, space(name, 20, draw.normals(80 * 20)));
    let (a, b) = (model("a"), model("b"));
    let apart = measured(&[a.clone(), b], &all(), &spec(99));
    // The raw values are far from zero, the calibrated ones are not; one in twenty may be by chance, and the seed is fixed.
    assert!(value(&apart, "svcca") > 0.3 && value(&apart, "cka.biased(kernel=linear)") > 0.15);
    for id in [
        "cka.calibrated(kernel=linear)",
        "mutual_knn.calibrated@5",
        "rsa.calibrated",
        "svcca.calibrated",
        "procrustes.calibrated",
    ] {
        assert!(value(&apart, id) < 0.05, "{id} {}", value(&apart, id));
    }
    let chance = apart
        .score("a ~ b", "cka(kernel=linear)")
        .and_then(|score| score.chance);
    assert_eq!(chance, Some(0.0));
    let copy = Study {
        model: "b".to_string(),
        ..with_embeddings(&a, |z| z.iter().map(|x| 3.0 - 2.0 * x).collect())
    };
    let same = measured(&[a, copy], &all(), &spec(99));
    for id in [
        "cka.calibrated(kernel=linear)",
        "cka(kernel=rbf)",
        "rsa",
        "svcca.calibrated",
        "pwcca",
        "procrustes.calibrated",
    ] {
        assert!((value(&same, id) - 1.0).abs() < 1e-9, "{id} {}", value(&same, id));
    }
}

#[test]
fn groups_widen_intervals_and_are_shuffled_as_wholes() {
    // Each row five times, with a little noise: 24 rows are known, not 120.
    let mut draw = Draw::new(77);
    let mut model = |name: &str| {
        let rows = draw.normals(24 * 4);
        let values = (0..ROWS * 4)
            .map(|p| rows[p / 20 * 4 + p % 4] + 0.1 * draw.normal())
            .collect();
        Study::new(name, space(name, 4, values))
    };
    let free = [model("a"), model("b")];
    let episodes = Arc::new(Labels::from_codes((0..ROWS).map(|i| (i / 5) as u32).collect(), 24));
    let grouped = free.clone().map(|study| Study {
        episodes: Some(episodes.clone()),
        ..study
    });
    let metrics = [metric("cka"), metric("rsa")];
    let (free, grouped) = (
        measured(&free, &metrics, &spec(99)),
        measured(&grouped, &metrics, &spec(299)),
    );
    let width = |results: &Results, id: &str| {
        let interval = results
            .score("a ~ b", id)
            .and_then(|score| score.interval)
            .expect("an interval");
        interval[1] - interval[0]
    };
    for id in ["cka(kernel=linear)", "rsa"] {
        assert!(width(&grouped, id) > 1.3 * width(&free, id), "{id}");
    }
    // By single rows unrelated models seem alike: their groups have 24 chances to fall together, not 120.
    assert!(value(&grouped, "cka.calibrated(kernel=linear)") <= value(&free, "cka.calibrated(kernel=linear)"));
}

#[test]
fn a_pair_without_a_value_says_why_and_the_others_go_on() {
    let [a, b] = pair();
    let flat = Study::new("flat", space("flat", 3, vec![0.5; ROWS * 3]));
    let results = measured(&[a, b, flat], &all(), &spec(19));
    let of_flat = |id: &str| results.score("a ~ flat", id).expect("every pair is there").clone();
    for id in [
        "cka(kernel=linear)",
        "rsa",
        "svcca",
        "pwcca",
        "procrustes",
        "procrustes.calibrated",
    ] {
        let score = of_flat(id);
        assert!(score.value.is_none() && score.reason.is_some(), "{id}");
        assert_eq!(score.other.as_deref(), Some("flat"));
    }
    let shared = of_flat("mutual_knn@5");
    assert!(shared.reason.is_some_and(|reason| reason.contains("same direction")));
    assert!(value(&results, "cka(kernel=linear)") > 0.1);
}

#[test]
fn a_constant_model_has_no_neighbors_to_share() {
    let [first, second] = pair();
    let constant = with_embeddings(&second, |row| vec![0.5; row.len()]);
    // Of one direction, but of different lengths.
    let ray = with_embeddings(&second, |row| vec![1.0 + row[0].abs(); row.len()]);
    for other in [constant, ray] {
        let results = measured(&[first.clone(), other], &all(), &spec(20));
        for score in results
            .scores
            .iter()
            .filter(|score| score.metric.family().ends_with("_knn"))
        {
            assert!(
                score.value.is_none() && score.reason.as_ref().is_some_and(|own| own.contains("same direction")),
                "{score:?}"
            );
        }
    }
}

#[test]
fn what_cannot_be_compared_is_refused_with_both_numbers() {
    let driver = Driver::silent(Order::Serial);
    let [a, b] = pair();
    let refused = |studies: &[Study], spec: &Spec| match similarity(studies, &all(), spec, &driver) {
        Ok(_) => panic!("accepted"),
        Err(error) => error,
    };
    let shorter = Study {
        embeddings: b.embeddings.select(&(0..100).collect::<Vec<_>>()).expect("rows"),
        ..b.clone()
    };
    let error = refused(&[a.clone(), shorter], &spec(0));
    assert!(
        matches!(
            error,
            Error::RowMismatch {
                left_rows: ROWS,
                right_rows: 100,
                ..
            }
        ),
        "{error}"
    );
    let error = refused(std::slice::from_ref(&a), &spec(0)).to_string();
    assert!(error.contains("`a` is the only one"), "{error}");
    let error = refused(&[a.clone(), a.clone()], &spec(0)).to_string();
    assert!(error.contains("two models are called `a`"), "{error}");
    let mut large = spec(0);
    large.alike.k = ROWS - 1;
    let error = refused(&[a.clone(), b.clone()], &large);
    assert!(matches!(error, Error::KTooLarge { k: 119, rows: ROWS, .. }), "{error}");
    let mut small = spec(0);
    small.memory = Some(1000);
    let error = refused(&[a.clone(), b], &small);
    assert!(matches!(error, Error::MemoryLimit { limit: 1000, .. }), "{error}");
    let five = |study: &Study| Study {
        embeddings: study.embeddings.select(&[0, 1, 2, 3, 4]).expect("rows"),
        ..study.clone()
    };
    let tiny = [
        five(&a),
        Study {
            model: "c".to_string(),
            ..five(&a)
        },
    ];
    let error = refused(&tiny, &spec(0)).to_string();
    assert!(error.contains("at least 6 rows") && error.contains("have 5"), "{error}");
}
