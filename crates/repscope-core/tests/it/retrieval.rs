// SPDX-License-Identifier: MIT
//! What is true of every retrieval: proofs on data with a known answer, invariances, and the same bits in every order
//! of work.

use std::sync::Arc;

use crate::common::{Draw, numbers, product, space};
use repscope_core::metrics::Invariance;
use repscope_core::run::{Driver, Order};
use repscope_core::{
    Analysis, Direction, LabelSet, Labels, MetricId, Results, Retrieval, Score, SearchInterval, Similarity, Space,
    Spec, retrieve,
};

const MODEL: &str = "model";

/// Two noisy views of the same samples, with labels of uneven size.
fn two_views(rows: usize, columns: usize, seed: u64) -> Retrieval {
    let mut draw = Draw::new(seed);
    let classes = 6;
    let centers = draw.normals(classes * columns);
    let codes: Vec<usize> = (0..rows)
        .map(|_| draw.below(classes).min(draw.below(classes)))
        .collect();
    let mut view = |name: &str| {
        let of_row = |&c: &usize| centers[c * columns..(c + 1) * columns].to_vec();
        let values: Vec<f64> = codes.iter().flat_map(of_row).collect();
        let values = values.iter().map(|x| 0.5 * x + draw.normal()).collect();
        Arc::new(space(name, columns, values))
    };
    let spaces = vec![view("sensor"), view("text")];
    let names: Vec<String> = codes.iter().map(|c| format!("label {c}")).collect();
    of(spaces, &names, &[(1, 0), (0, 1), (0, 0)])
}

/// Aligned spaces with the same labels.
fn of<S: AsRef<str>>(spaces: Vec<Arc<Space>>, labels: &[S], directions: &[(usize, usize)]) -> Retrieval {
    let labels = Arc::new(Labels::new(labels));
    Retrieval {
        model: MODEL.to_string(),
        is_aligned: vec![true; spaces.len()],
        groups: Vec::new(),
        label_sets: vec![LabelSet {
            name: None,
            of_space: vec![labels; spaces.len()],
        }],
        directions: directions
            .iter()
            .map(|&(query, target)| Direction { query, target })
            .collect(),
        spaces,
    }
}

fn spec(k: &[usize]) -> Spec {
    Spec {
        retrieval_k: k.to_vec(),
        ..Spec::default()
    }
}

fn run(retrieval: &Retrieval, spec: &Spec) -> Results {
    let driver = Driver::silent(Order::Parallel);
    let metrics = Analysis::Retrieval.metrics();
    retrieve(std::slice::from_ref(retrieval), &metrics, spec, &driver).expect("a valid retrieval")
}

fn value(results: &Results, id: &str) -> f64 {
    let score = results.score(MODEL, id).unwrap_or_else(|| panic!("no score {id}"));
    score.value.unwrap_or_else(|| panic!("{id}: {:?}", score.reason))
}

fn changed(retrieval: &Retrieval, change: impl Fn(&Space) -> Vec<f64>) -> Retrieval {
    let spaces = retrieval.spaces.iter();
    Retrieval {
        spaces: spaces
            .map(|s| Arc::new(space(s.name(), s.columns(), change(s))))
            .collect(),
        ..retrieval.clone()
    }
}

#[test]
fn a_direction_scores_the_same_whether_or_not_its_opposite_is_asked() {
    // Large enough for one sweep that serves both directions.
    let both = Retrieval {
        directions: vec![
            Direction { query: 1, target: 0 },
            Direction { query: 0, target: 0 },
            Direction { query: 0, target: 1 },
        ],
        ..two_views(1601, 430, 5)
    };
    let together = run(&both, &spec(&[3, 20]));
    let mut alone = Vec::new();
    for &direction in &both.directions {
        let one = Retrieval {
            directions: vec![direction],
            ..both.clone()
        };
        alone.extend(run(&one, &spec(&[3, 20])).scores);
    }
    let bits = |scores: &[Score]| -> Vec<(String, Option<u64>)> {
        let of_score = |s: &Score| (s.metric.to_string(), s.value.map(f64::to_bits));
        scores.iter().map(of_score).collect()
    };
    assert_eq!(bits(&together.scores), bits(&alone));
}

#[test]
fn every_declared_invariance_holds() {
    let retrieval = two_views(150, 7, 1);
    let before = run(&retrieval, &spec(&[3, 20]));
    let mut draw = Draw::new(2);
    for metric in Analysis::Retrieval.metrics() {
        let expected = [Invariance::Rotation, Invariance::Scale, Invariance::RowOrder];
        assert_eq!(metric.invariances, expected, "{}", metric.id);
    }
    let rotation = draw.orthogonal(7);
    let rotated = changed(&retrieval, |s| product(&numbers(s), 7, &rotation));
    let scaled = changed(&retrieval, |s| numbers(s).iter().map(|x| 1000.0 * x).collect());
    let order = draw.permutation(150);
    let shuffled = Retrieval {
        spaces: retrieval
            .spaces
            .iter()
            .map(|s| Arc::new(s.select(&order).expect("rows that exist")))
            .collect(),
        label_sets: vec![LabelSet {
            name: None,
            of_space: retrieval.label_sets[0]
                .of_space
                .iter()
                .map(|l| Arc::new(l.select(&order)))
                .collect(),
        }],
        ..retrieval.clone()
    };
    for (change, retrieval) in [("rotation", rotated), ("scale", scaled), ("row order", shuffled)] {
        let after = run(&retrieval, &spec(&[3, 20]));
        assert_eq!(before.scores.len(), after.scores.len());
        for (a, b) in before.scores.iter().zip(&after.scores) {
            let is_close = |x: Option<f64>, y: Option<f64>| match (x, y) {
                (Some(x), Some(y)) => (x - y).abs() <= 1e-9 * x.abs().max(1.0),
                (x, y) => x == y,
            };
            assert!(
                is_close(a.value, b.value),
                "{change}: {} {:?} {:?}",
                a.metric,
                a.value,
                b.value
            );
            assert!(is_close(a.chance, b.chance), "{change}: {}", a.metric);
        }
        if change == "row order" {
            // Sums in another order may differ in the last digit; names and counts may not.
            let exact = |r: &Results| -> Vec<_> {
                r.breakdowns
                    .iter()
                    .map(|b| (b.keys.clone(), b.columns[0].clone()))
                    .collect()
            };
            assert!(exact(&before) == exact(&after));
        }
    }
}

#[test]
fn permuting_the_targets_alone_changes_nothing_where_there_are_no_ties() {
    let retrieval = two_views(120, 5, 3);
    let queries = Retrieval {
        is_aligned: vec![false, false],
        ..retrieval.clone()
    };
    let order = Draw::new(4).permutation(120);
    let mut moved = queries.clone();
    moved.directions.truncate(1);
    let before = run(&moved, &spec(&[1, 10]));
    moved.spaces[0] = Arc::new(moved.spaces[0].select(&order).expect("rows that exist"));
    moved.label_sets[0].of_space[0] = Arc::new(moved.label_sets[0].of_space[0].select(&order));
    let after = run(&moved, &spec(&[1, 10]));
    for (a, b) in before.scores.iter().zip(&after.scores) {
        let is_gap = a.metric.starts_with("modality_gap");
        // The mean of the rows is summed in another order.
        let tolerance = if is_gap { 1e-12 } else { 0.0 };
        let (x, y) = (a.value.expect("a value"), b.value.expect("a value"));
        assert!((x - y).abs() <= tolerance, "{}: {x} {y}", a.metric);
    }
}

#[test]
fn with_k_of_all_targets_precision_is_the_share_of_the_class_and_recall_is_one() {
    let retrieval = two_views(90, 4, 5);
    let results = run(&retrieval, &spec(&[90]));
    let counts = retrieval.label_sets[0].of_space[0].counts();
    let share: f64 = counts.iter().map(|&c| (c as f64 / 90.0).powi(2)).sum();
    for direction in ["text2sensor", "sensor2text"] {
        assert!((value(&results, &format!("label_precision.{direction}@90")) - share).abs() < 1e-12);
        assert!((value(&results, &format!("label_recall.{direction}@90")) - 1.0).abs() < 1e-12);
        assert!((value(&results, &format!("label_precision.{direction}.lift@90")) - 1.0).abs() < 1e-12);
        assert_eq!(value(&results, &format!("pair_recall.{direction}@90")), 1.0);
    }
    let breakdown = results
        .breakdowns
        .iter()
        .find(|b| b.metric == "label_precision.text2sensor@90");
    let precision = &breakdown.expect("a breakdown by label").columns[3];
    assert_eq!(precision.name, "precision");
    for (p, &count) in precision.values.iter().zip(&counts) {
        assert!((p.expect("every label has queries") - count as f64 / 90.0).abs() < 1e-12);
    }
}

#[test]
fn chance_is_what_noise_gets() {
    // Two thousand queries that know nothing: every score lies near its chance level.
    let mut draw = Draw::new(6);
    let spaces = ["text", "sensor"]
        .map(|name| Arc::new(space(name, 12, draw.normals(400 * 12))))
        .to_vec();
    let labels: Vec<String> = (0..400).map(|_| draw.below(5).max(draw.below(4)).to_string()).collect();
    let results = run(&of(spaces, &labels, &[(0, 1), (1, 0), (0, 0)]), &spec(&[1, 10, 100]));
    let mut compared = 0;
    for score in results.scores.iter().filter(|s| s.interval.is_some()) {
        let (value, chance) = (score.value.expect("a value"), score.chance.expect("a chance level"));
        let error = score.standard_error.expect("a standard error");
        // Queries share targets, so the error is a little larger than over independent queries.
        assert!(
            (value - chance).abs() < 6.0 * error + 2.0 / 400.0,
            "{}: {value} {chance} {error}",
            score.metric
        );
        compared += 1;
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn perfect_codes_reach_every_ceiling() {
    // One direction per label: everything of a label comes before everything else.
    let labels: Vec<usize> = (0..40).map(|i| usize::min(i / 5, 3)).collect();
    let rows: Vec<f64> = labels
        .iter()
        .flat_map(|&l| (0..4).map(move |c| f64::from(u8::from(c == l))))
        .collect();
    let names: Vec<String> = labels.iter().map(ToString::to_string).collect();
    let results = run(
        &of(vec![Arc::new(space("code", 4, rows))], &names, &[(0, 0)]),
        &spec(&[1, 4, 30]),
    );
    for k in [1, 4, 30] {
        let precision = value(&results, &format!("label_precision.code2code@{k}"));
        let ceiling = value(&results, &format!("label_precision.code2code.ceiling@{k}"));
        assert_eq!(precision, ceiling);
        assert_eq!(
            value(&results, &format!("label_precision.code2code.normalized@{k}")),
            1.0
        );
        assert!((value(&results, &format!("label_ndcg.code2code@{k}")) - 1.0).abs() < 1e-12);
        assert_eq!(value(&results, &format!("label_hit.code2code@{k}")), 1.0);
    }
    for id in ["r_precision.code2code", "map_at_r.code2code", "mrr.code2code"] {
        assert_eq!(value(&results, id), 1.0);
    }
}

#[test]
fn lone_labels_are_left_out_and_named() {
    let rows = vec![1.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.1, 1.0, 1.0, 1.0];
    let retrieval = of(
        vec![Arc::new(space("code", 2, rows))],
        &["a", "a", "b", "b", "alone"],
        &[(0, 0)],
    );
    let results = run(&retrieval, &spec(&[1]));
    let score = results.score(MODEL, "label_precision.code2code@1").expect("a score");
    assert_eq!((score.value, score.n), (Some(1.0), 4));
    assert!(
        results
            .warnings
            .iter()
            .any(|w| w.contains("1 of 5 queries") && w.contains("alone")),
        "{:?}",
        results.warnings
    );
    let breakdown = &results.breakdowns[0];
    let column = |name: &str| {
        &breakdown
            .columns
            .iter()
            .find(|c| c.name == name)
            .expect("a column")
            .values
    };
    assert_eq!(breakdown.keys[0].values, ["a", "alone", "b"]);
    assert_eq!(column("queries"), &[Some(2.0), Some(1.0), Some(2.0)]);
    assert_eq!(column("precision"), &[Some(1.0), None, Some(1.0)]);
}

#[test]
fn where_every_label_is_alone_there_is_a_reason_and_no_number() {
    let rows = vec![1.0, 0.0, 1.0, 0.1, 0.0, 1.0];
    let results = run(
        &of(vec![Arc::new(space("code", 2, rows))], &["a", "b", "c"], &[(0, 0)]),
        &spec(&[1]),
    );
    for score in results.scores.iter().filter(|s| !s.metric.starts_with("hubness")) {
        assert!(score.value.is_none(), "{}", score.metric);
        assert!(
            score.reason.as_ref().is_some_and(|r| r.contains("single row")),
            "{score:?}"
        );
    }
}

#[test]
fn a_k_beyond_the_targets_is_reported() {
    let retrieval = two_views(20, 3, 7);
    let results = run(&retrieval, &spec(&[100]));
    let score = |id: &str| results.score(MODEL, id).expect("a score").clone();
    assert_eq!(score("label_precision.text2sensor@100").effective_k, Some(20));
    assert_eq!(score("label_precision.sensor2sensor@100").effective_k, Some(19));
    assert!(
        results
            .warnings
            .iter()
            .any(|w| w.contains("K = 100") && w.contains("19")),
        "{:?}",
        results.warnings
    );
}

#[test]
fn rows_of_length_zero_are_counted() {
    let mut rows = Draw::new(8).normals(30 * 3);
    rows[..6].fill(0.0);
    let names = vec!["x"; 30];
    let retrieval = of(vec![Arc::new(space("code", 3, rows))], &names, &[(0, 0)]);
    let results = run(&retrieval, &spec(&[5]));
    assert!(
        results.warnings.iter().any(|w| w.starts_with("2 of the 30 rows")),
        "{:?}",
        results.warnings
    );
    let raw = Spec {
        similarity: Similarity::Dot,
        ..spec(&[5])
    };
    assert!(
        run(&retrieval, &raw)
            .warnings
            .iter()
            .all(|w| w.contains("equal an earlier row"))
    );
}

#[test]
fn targets_that_equal_another_are_counted_because_they_tie() {
    let names = ["a", "b", "a", "b"];
    let rows = vec![1.0, 0.0, 1.0, 0.0, 1.0, -0.0, 0.0, 1.0];
    let query = Arc::new(space("query", 2, vec![1.0, 0.1, 1.0, 0.2, 1.0, 0.3, 1.0, 0.4]));
    let retrieval = of(vec![query, Arc::new(space("target", 2, rows))], &names, &[(0, 1)]);
    let results = run(&retrieval, &spec(&[1]));
    assert_eq!(results.warnings.len(), 1, "{:?}", results.warnings);
    assert!(
        results.warnings[0].starts_with("2 of the 4 rows of `target`"),
        "{:?}",
        results.warnings
    );
    // All four queries find row 0 first, the first of three equal ones.
    assert_eq!(value(&results, "label_precision.query2target@1"), 0.5);
}

#[test]
fn every_score_has_a_declared_identity_and_none_appears_twice() {
    let mut retrieval = two_views(60, 4, 9);
    retrieval.label_sets[0].name = Some("l1".to_string());
    retrieval.is_aligned[1] = false;
    let results = run(&retrieval, &spec(&[2, 7]));
    let mut seen: Vec<&str> = Vec::new();
    for score in &results.scores {
        let id: MetricId = score.metric.parse().expect("an identity");
        assert_eq!(id.to_string(), score.metric);
        assert!(
            repscope_core::metrics::find(&score.metric).is_some_and(|(_, o)| o.is_some()),
            "{}",
            score.metric
        );
        assert!(!seen.contains(&score.metric.as_str()), "{}", score.metric);
        seen.push(&score.metric);
    }
    assert!(seen.contains(&"label_precision.text2sensor.weighted(labels=l1)@7"));
}

#[test]
fn several_sets_of_labels_answer_as_each_does_alone() {
    let mut retrieval = two_views(80, 4, 10);
    let coarse: Vec<&str> = retrieval.label_sets[0].of_space[0]
        .codes()
        .iter()
        .map(|c| if c % 2 == 0 { "x" } else { "y" })
        .collect();
    let coarse = Arc::new(Labels::new(&coarse));
    let alone = run(&retrieval, &spec(&[5]));
    retrieval.label_sets[0].name = Some("fine".to_string());
    retrieval.label_sets.push(LabelSet {
        name: Some("coarse".to_string()),
        of_space: vec![coarse.clone(), coarse],
    });
    let both = run(&retrieval, &spec(&[5]));
    for id in [
        "label_precision.text2sensor",
        "label_ndcg.sensor2text",
        "label_hit.sensor2sensor",
    ] {
        assert_eq!(
            value(&alone, &format!("{id}@5")),
            value(&both, &format!("{id}(labels=fine)@5"))
        );
        assert!(value(&both, &format!("{id}(labels=coarse)@5")) > value(&alone, &format!("{id}@5")) - 1e-12);
    }
}

fn assert_same_answer(retrieval: &Retrieval) {
    let metrics = Analysis::Retrieval.metrics();
    let spec = spec(&[5, 50]);
    let answer = |order: Order, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a thread pool");
        pool.install(|| {
            retrieve(std::slice::from_ref(retrieval), &metrics, &spec, &Driver::silent(order))
                .expect("a valid retrieval")
        })
    };
    let expected = answer(Order::Serial, 1);
    for (order, threads) in [(Order::Parallel, 2), (Order::Parallel, 8), (Order::Shuffled(3), 1)] {
        assert_eq!(answer(order, threads), expected, "{order:?} on {threads}");
    }
}

#[test]
fn the_answer_has_the_same_bits_in_every_order_of_work() {
    assert_same_answer(&two_views(300, 20, 11));
}

#[test]
fn beyond_f64_throughout_the_answer_has_the_same_bits_in_every_order_of_work() {
    // 3,000² · 128 is a little more than 2³⁰ coordinates.
    let mut retrieval = two_views(3000, 128, 12);
    retrieval.directions.truncate(1);
    assert_same_answer(&retrieval);
}

#[test]
fn intervals_over_queries_in_a_gallery_are_students() {
    let gallery = Spec {
        search_interval: SearchInterval::Gallery,
        ..spec(&[4])
    };
    let results = run(&two_views(50, 4, 13), &gallery);
    let score: &Score = results.score(MODEL, "label_precision.text2sensor@4").expect("a score");
    assert_eq!(
        (score.unit.as_deref(), score.method.as_deref()),
        (Some("queries"), Some("Student t"))
    );
    let score = results
        .score(MODEL, "label_precision.text2sensor.macro@4")
        .expect("a score");
    assert_eq!(score.method.as_deref(), Some("stratified Student t"));
}

#[test]
fn what_does_not_fit_together_is_refused_with_both_numbers() {
    let fails = |retrieval: &Retrieval, spec: &Spec, parts: &[&str]| {
        let metrics = Analysis::Retrieval.metrics();
        let driver = Driver::silent(Order::Serial);
        let error = retrieve(std::slice::from_ref(retrieval), &metrics, spec, &driver)
            .expect_err("a refusal")
            .to_string();
        assert!(parts.iter().all(|p| error.contains(p)), "{error}");
    };
    let good = two_views(10, 3, 14);
    fails(&good, &spec(&[0]), &["at least one"]);
    let mut bad = good.clone();
    bad.spaces[1] = Arc::new(space("text", 4, vec![1.0; 40]));
    fails(&bad, &spec(&[1]), &["4 columns", "has 3", "text", "sensor"]);
    let mut bad = good.clone();
    bad.spaces[1] = Arc::new(space("text", 3, vec![1.0; 27]));
    fails(&bad, &spec(&[1]), &["10 rows", "has 9"]);
    let mut bad = good.clone();
    bad.label_sets[0].of_space[0] = Arc::new(Labels::new(&["a"; 4]));
    fails(&bad, &spec(&[1]), &["4 rows", "has 10"]);
    let mut bad = good.clone();
    bad.spaces[0] = Arc::new(space("w2v", 3, vec![1.0; 30]));
    fails(&bad, &spec(&[1]), &["w2v", "other than 2"]);
    let tight = Spec {
        memory: Some(10),
        ..spec(&[1])
    };
    fails(&good, &tight, &["working memory", "10.0 bytes"]);
}

/// Queries and targets that are no pairs: 30 and 45 rows of three classes.
fn two_samples() -> Retrieval {
    let mut draw = Draw::new(21);
    let centers = draw.normals(3 * 5);
    let mut rows = |name: &str, count: usize| {
        let value = |at: usize| centers[at / 5 % 3 * 5 + at % 5];
        let values = (0..count * 5).map(|at| value(at) + 1.2 * draw.normal()).collect();
        Arc::new(space(name, 5, values))
    };
    let spaces = vec![rows("text", 30), rows("sensor", 45)];
    let names = |count: usize| Arc::new(Labels::from_codes((0..count).map(|i| (i % 3) as u32).collect(), 3));
    Retrieval {
        model: MODEL.to_string(),
        is_aligned: vec![false, false],
        groups: Vec::new(),
        label_sets: vec![LabelSet {
            name: None,
            of_space: vec![names(30), names(45)],
        }],
        directions: vec![Direction { query: 0, target: 1 }],
        spaces,
    }
}

#[test]
fn what_a_target_does_is_what_leaving_it_out_does() {
    let retrieval = two_samples();
    let found = run(&retrieval, &spec(&[1, 4]));
    let mut without: Vec<Results> = Vec::new();
    for target in 0..45 {
        let kept: Vec<usize> = (0..45).filter(|&j| j != target).collect();
        let mut fewer = retrieval.clone();
        fewer.spaces[1] = Arc::new(fewer.spaces[1].select(&kept).expect("rows that exist"));
        fewer.label_sets[0].of_space[1] = Arc::new(fewer.label_sets[0].of_space[1].select(&kept));
        without.push(run(&fewer, &spec(&[1, 4])));
    }
    let mut checked = 0;
    for score in found.scores.iter().filter(|s| s.interval.is_some()) {
        // Labels with more targets weigh more, and the chance level changes with a target: these are followed to first order.
        if score.metric.contains("weighted") || score.metric.contains("lift") {
            continue;
        }
        let effects = score.effects.as_ref().expect("effects of queries and targets");
        assert_eq!(
            (effects.len(), score.unit.as_deref()),
            (75, Some("queries and targets"))
        );
        let replicates: Vec<f64> = without.iter().map(|results| value(results, &score.metric)).collect();
        let center = replicates.iter().sum::<f64>() / 45.0;
        let expected: Vec<f64> = replicates.iter().map(|r| center - r).collect();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // All effects are scaled by one number, so that their squares add up to the squared error.
        let targets = &effects[30..];
        let scale = product(targets, &expected) / product(&expected, &expected);
        assert!(scale > 0.0 && scale <= 1.0 + 1e-9, "{}: {scale}", score.metric);
        for (found, expected) in targets.iter().zip(&expected) {
            assert!(
                (found - scale * expected).abs() < 1e-9,
                "{}: {found} and {expected}",
                score.metric
            );
        }
        let squares = product(effects, effects);
        let error = score.standard_error.expect("an error");
        assert!((squares.sqrt() / error - 1.0).abs() < 1e-9, "{}", score.metric);
        checked += 1;
    }
    // Precision, its macro and both normalized, recall and its macro, hit rate and nDCG at two K; and three of the whole ranking.
    assert_eq!(checked, 2 * 8 + 3);
}

#[test]
fn the_interval_of_a_gallery_is_students_over_queries() {
    let gallery = Spec {
        search_interval: SearchInterval::Gallery,
        ..spec(&[4])
    };
    let (of_gallery, of_population) = (run(&two_samples(), &gallery), run(&two_samples(), &spec(&[4])));
    for id in [
        "label_precision.text2sensor@4",
        "map_at_r.text2sensor",
        "mrr.text2sensor",
    ] {
        let [narrow, wide] =
            [&of_gallery, &of_population].map(|results| results.score(MODEL, id).expect("a score").clone());
        assert_eq!(narrow.value, wide.value);
        assert_eq!(
            (narrow.unit.as_deref(), narrow.effects.as_ref().map(|e| e.len())),
            (Some("queries"), Some(30))
        );
        // Never smaller, but for rounding: where targets add nothing, both are the error over queries.
        let [least, most] = [&narrow, &wide].map(|score| score.standard_error.expect("an error"));
        assert!(least <= most * (1.0 + 1e-12), "{id}: {least} and {most}");
    }
}

/// Rows of three overlapping classes.
fn classes(rows: usize, seed: u64) -> (Arc<Space>, Vec<String>) {
    let (centers, mut draw) = (Draw::new(31).normals(3 * 4), Draw::new(seed));
    let labels: Vec<usize> = (0..rows).map(|_| draw.below(3)).collect();
    let value = |at: usize| centers[labels[at / 4] * 4 + at % 4];
    let values = (0..rows * 4).map(|at| value(at) + draw.normal()).collect();
    (
        Arc::new(space("sensor", 4, values)),
        labels.iter().map(usize::to_string).collect(),
    )
}

#[test]
fn intervals_cover_the_population_of_queries_and_targets() {
    // A space that searches itself, and one that searches another of other rows.
    for is_self in [true, false] {
        let ids = [
            "label_precision",
            "r_precision",
            "map_at_r",
            "mrr",
            "label_hit",
            "label_recall",
            "label_ndcg",
        ];
        let mut found: Vec<Vec<Score>> = vec![Vec::new(); ids.len()];
        for seed in 0..250 {
            let (targets, names) = classes(90, 1000 + seed);
            let mut retrieval = of(vec![targets], &names, &[(0, 0)]);
            if !is_self {
                let (queries, others) = classes(90, 5000 + seed);
                retrieval
                    .spaces
                    .insert(0, Arc::new(space("text", 4, numbers(&queries))));
                retrieval.label_sets[0]
                    .of_space
                    .insert(0, Arc::new(Labels::new(&others)));
                retrieval.is_aligned = vec![false; 2];
                retrieval.directions = vec![Direction { query: 0, target: 1 }];
            }
            let results = run(&retrieval, &spec(&[5]));
            let direction = if is_self { "sensor2sensor" } else { "text2sensor" };
            for (id, found) in ids.iter().zip(&mut found) {
                let is_it =
                    |s: &&Score| s.metric == format!("{id}.{direction}") || s.metric == format!("{id}.{direction}@5");
                found.push(results.scores.iter().find(is_it).expect("a score").clone());
            }
        }
        for (id, scores) in ids.iter().zip(&found) {
            let truth = scores.iter().filter_map(|s| s.value).sum::<f64>() / 250.0;
            let covers = |s: &&Score| s.interval.is_some_and(|[low, high]| low <= truth && truth <= high);
            let covered = scores.iter().filter(covers).count();
            // 95 % less three standard deviations of 250 draws; and the targets are not counted twice: at most 99 %.
            assert!((227..=248).contains(&covered), "{id}, {is_self}: {covered} of 250");
        }
    }
}

#[test]
fn a_row_and_its_multiples_tie_exactly() {
    // Integers, so that every multiple is exact in f64; 1/‖x‖ is rounded, which must not decide. Few rows are f64 throughout, many are not.
    for copies in [5, 500] {
        let mut draw = Draw::new(12);
        let base: Vec<f64> = (0..7).map(|_| draw.below(1000) as f64 - 500.0).collect();
        let times = |c: usize| base.iter().map(move |x| (c + 1) as f64 * x);
        let targets: Vec<f64> = (0..copies).flat_map(times).collect();
        let queries = Arc::new(space("text", 7, draw.normals(60 * 7)));
        let spaces = vec![queries, Arc::new(space("sensor", 7, targets))];
        let mut retrieval = of(spaces, &["first"; 60], &[(0, 1)]);
        retrieval.is_aligned = vec![false; 2];
        let names: Vec<String> = (0..copies)
            .map(|i| if i == 0 { "first".to_string() } else { format!("c{i}") })
            .collect();
        retrieval.label_sets[0].of_space[1] = Arc::new(Labels::new(&names));
        let results = run(&retrieval, &spec(&[1]));
        // Every query finds the first row first, by its number.
        assert_eq!(value(&results, "mrr.text2sensor"), 1.0, "{copies}");
        let expected = format!(
            "{} of the {copies} rows of `sensor` equal an earlier row or a multiple",
            copies - 1
        );
        assert!(
            results.warnings.iter().any(|w| w.starts_with(&expected)),
            "{:?}",
            results.warnings
        );
    }
}
