// SPDX-License-Identifier: MIT
//! Data that have no good answer: the smallest, the flattest, the most repeated. Nothing panics, no number is NaN or
//! infinite, and what does not exist says why.

use std::sync::Arc;

use crate::common::{Draw, MODEL, of_studies, run, score, space};
use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Distance, Error, Labels, Pairs, Results, Score, Spec, Study, evaluate};

const ANALYSES: [Analysis; 6] = [
    Analysis::Smoothness,
    Analysis::Neighborhood,
    Analysis::Manifold,
    Analysis::Geometry,
    Analysis::Rankme,
    Analysis::Probe,
];

#[test]
fn no_analysis_panics_or_gives_a_number_that_is_not_finite() {
    for (name, study) in studies() {
        // Some of CLID's metrics speak of several models and their performance.
        let clid: Vec<_> = Analysis::Clid
            .metrics()
            .into_iter()
            .filter(|m| m.is_of_studies())
            .collect();
        let others = ANALYSES.map(|analysis| (analysis, analysis.metrics()));
        for (analysis, metrics) in others.into_iter().chain([(Analysis::Clid, clid)]) {
            for spec in specs() {
                let what = format!("{name}, {}, {spec:?}", analysis.name());
                match evaluate(
                    std::slice::from_ref(&study),
                    &metrics,
                    &spec,
                    &Driver::silent(Order::Serial),
                ) {
                    Ok(results) => assert_sound(&results, &what),
                    Err(error @ Error::Internal(_)) => panic!("{what}: {error}"),
                    Err(error) => assert!(error.to_string().len() > 20, "{what}: {error}"),
                }
            }
        }
    }
}

#[test]
fn every_declared_output_is_answered_with_a_number_or_a_reason() {
    for (name, study) in studies().into_iter().filter(|(_, study)| study.embeddings.rows() > 2) {
        let results = run(&study, &of_studies(), &small());
        for output in of_studies().iter().flat_map(|m| m.outputs) {
            let is_answer = |s: &&Score| s.metric.output().is_some_and(|of| of.id == output.id);
            let answers = results.scores.iter().filter(is_answer);
            // Probes say nothing of targets that nobody gave.
            let is_of_targets = ["probe.linear.r2", "probe.linear.mae"]
                .iter()
                .any(|id| output.id.starts_with(id));
            let expected = usize::from(!is_of_targets || study.labels.is_none());
            assert_eq!(answers.count(), expected, "{name}: {}", output.id);
        }
    }
}

#[test]
fn scores_survive_json_so_none_of_them_is_nan() {
    // serde_json writes NaN and infinities as null: they would come back as `None` and differ.
    for (name, study) in studies().into_iter().filter(|(_, study)| study.embeddings.rows() > 2) {
        let mut scores = run(&study, &of_studies(), &small()).scores;
        // The effects of units stay within a run.
        scores
            .iter_mut()
            .for_each(|score| (score.effects, score.between) = (None, None));
        let text = serde_json::to_string(&scores).unwrap();
        let back: Vec<Score> = serde_json::from_str(&text).unwrap();
        assert!(back == scores, "{name}");
        assert!(!text.contains("NaN") && !text.contains("inf\""), "{name}: {text}");
    }
}

#[test]
fn one_row_has_no_scores_of_geometry_or_manifold_and_says_why() {
    let study = study(1, vec![1.0, 2.0]);
    for (id, reason) in [
        ("participation_ratio", "no variance"),
        ("dimension_usage", "no variance"),
        ("spectrum.max", "one row"),
        ("spectrum.min", "one row"),
        ("two_nn", "at least 3 rows"),
        ("two_nn(fit=mle)", "at least 3 rows"),
        ("mle_id@20", "need at least 21 rows, and there are 1"),
        ("mle_id(normalizer=k-2)@20", "need at least 21 rows, and there are 1"),
        ("gride@2", "at least 3 rows"),
        ("local_pca_id", "need at least 51 rows, and there are 1"),
        ("danco", "need at least 12 rows that differ, and there are 1"),
        ("uniformity", "one row has no pairs"),
        ("inertia", "2 clusters need at least as many rows, not 1"),
        ("inertia.share", "2 clusters need at least as many rows, not 1"),
        ("cluster_balance", "2 clusters need at least as many rows, not 1"),
        ("silhouette", "all rows have the label `0`"),
        ("nmi", "all rows have the label `0`"),
        ("ami", "all rows have the label `0`"),
        ("knn_accuracy@5", "all rows have the label `0`"),
    ] {
        assert_undefined(&study, id, reason);
    }
}

#[test]
fn one_row_has_no_pair_of_states() {
    let error = refusal(&study(1, vec![1.0, 2.0]), Analysis::Smoothness, &small());
    assert!(error.contains("0 pairs"), "{error}");
}

#[test]
fn two_rows_lie_on_a_line_and_have_no_second_neighbor() {
    let study = study(2, vec![1.0, 2.0, 4.0, 6.0]);
    assert_value(&study, "participation_ratio", 1.0);
    assert_value(&study, "dimension_usage", 0.5);
    // Differences 3 and 4: the variance along the line is 5² / 2.
    assert_value(&study, "spectrum.max", 12.5);
    assert_undefined(&study, "two_nn", "at least 3 rows");
    assert_value(&study, "inertia", 0.0);
    assert_value(&study, "inertia.share", 0.0);
    assert_value(&study, "cluster_balance", 0.0);
    assert_undefined(&study, "silhouette", "every row has a label of its own");
    assert_value(&study, "nmi", 1.0);
}

#[test]
fn one_pair_has_a_ratio_and_no_line() {
    let study = study(2, vec![1.0, 2.0, 4.0, 6.0]);
    assert_undefined(&study, "smoothness.slope", "same distance");
    assert_undefined(&study, "smoothness.p", "same distance");
    // The second input is the first one moved by 1 in one of its two columns.
    assert_value(&study, "smoothness.ratio_mean", 5.0);
    assert_value(&study, "smoothness.ratio_std", 0.0);
}

#[test]
fn two_pairs_have_a_slope_and_no_p_value() {
    let study = study(3, vec![0.0, 1.0, 2.0, 1.0, 5.0, 1.0]);
    // Inputs move by 1 and 2, codes by 2 and 3.
    assert_value(&study, "smoothness.slope", 1.0);
    assert_value(&study, "smoothness.intercept", 1.0);
    assert_value(&study, "smoothness.r", 1.0);
    assert_undefined(&study, "smoothness.p", "three pairs");
    assert_undefined(&study, "smoothness.stderr", "three pairs");
}

#[test]
fn three_rows_have_a_dimension() {
    let study = study(3, vec![0.0, 0.0, 1.0, 0.0, 3.0, 0.0]);
    // Ratios 3, 2 and 3/2, so Σ ln μ = ln 9.
    assert_value(&study, "two_nn(fit=mle)", 2.0 / 9f64.ln());
    // The scale of both neighbors.
    assert_value(&study, "gride@2", 2.0 / 9f64.ln());
}

#[test]
fn codes_of_one_column_use_their_whole_dimension() {
    let study = study(40, Draw::new(1).normals(40));
    assert_value(&study, "participation_ratio", 1.0);
    assert_value(&study, "dimension_usage", 1.0);
}

#[test]
fn equal_rows_have_no_variance_no_dimension_and_no_clusters() {
    let study = study(40, [3.0, -1.0].repeat(40));
    assert_undefined(&study, "participation_ratio", "no variance");
    assert_value(&study, "spectrum.max", 0.0);
    assert_undefined(&study, "two_nn", "duplicate");
    assert_undefined(&study, "mle_id@20", "duplicate");
    assert_undefined(&study, "gride@2", "duplicate");
    assert_value(&study, "uniformity", 0.0);
    assert_value(&study, "inertia", 0.0);
    assert_undefined(&study, "inertia.share", "no variance");
    // Two clusters were asked for and one is empty: sizes 40 and 0.
    assert_value(&study, "cluster_balance", 1.0);
    assert_undefined(&study, "nmi", "a single cluster");
    assert_undefined(&study, "ami", "a single cluster");
    assert_value(&study, "silhouette", 0.0);
    assert_undefined(&study, "smoothness.r", "no correlation");
    assert_value(&study, "smoothness.slope", 0.0);
    assert_value(&study, "smoothness.lipschitz_max", 0.0);
}

#[test]
fn equal_rows_without_labels_have_no_silhouette() {
    let study = Study {
        labels: None,
        ..study(40, [3.0, -1.0].repeat(40))
    };
    assert_undefined(&study, "silhouette", "a single cluster");
}

#[test]
fn a_constant_column_carries_no_variance() {
    let values = Draw::new(2).normals(40).iter().flat_map(|&x| [x, 5.0]).collect();
    let study = study(40, values);
    assert_value(&study, "participation_ratio", 1.0);
    assert_value(&study, "spectrum.min", 0.0);
}

#[test]
fn one_label_tells_nothing_apart() {
    let study = with_labels(study(40, Draw::new(3).normals(80)), |_| "cat".to_string());
    for id in ["silhouette", "nmi", "ami", "knn_accuracy@5"] {
        assert_undefined(
            &study,
            id,
            "all rows have the label `cat`; at least two classes are needed",
        );
    }
}

#[test]
fn a_class_of_one_row_scores_zero_in_the_silhouette_and_is_never_tested() {
    let values: Vec<f64> = (0..40).flat_map(|i| [f64::from(i % 2) * 100.0, f64::from(i)]).collect();
    let study = with_labels(study(40, values), |i| if i == 7 { "alone" } else { "rest" }.to_string());
    assert!(score(&study, "silhouette", &small()).value.is_some());
    let accuracy = score(&study, "knn_accuracy@5", &small());
    assert_eq!(accuracy.value, Some(1.0));
    assert!(accuracy.note.unwrap().contains("1 classes have a single row"));
}

#[test]
fn labels_that_are_all_different_have_no_silhouette_and_cannot_be_told() {
    let study = with_labels(study(40, Draw::new(4).normals(80)), |i| i.to_string());
    assert_undefined(&study, "silhouette", "every row has a label of its own");
    assert_undefined(&study, "knn_accuracy@5", "every row has a label of its own");
    // H(V) = ln N and I(U; V) = H(U): defined, though it tells nothing.
    assert!(score(&study, "nmi", &small()).value.is_some());
}

#[test]
fn a_k_that_leaves_no_other_rows_is_refused_with_both_numbers() {
    for (rows, k) in [(12, 11), (12, 12), (12, 50), (2, 1)] {
        let spec = Spec {
            k: vec![1, k],
            ..small()
        };
        let error = refusal(
            &study(rows, Draw::new(5).normals(2 * rows)),
            Analysis::Neighborhood,
            &spec,
        );
        let numbers = [format!("k = {k} "), format!("has {rows};"), "smaller k".to_string()];
        assert!(numbers.iter().all(|n| error.contains(n)), "{error}");
    }
}

#[test]
fn the_largest_possible_k_is_allowed() {
    let spec = Spec { k: vec![10], ..small() };
    let study = study(12, Draw::new(5).normals(24));
    assert!(score(&study, "trustworthiness@10", &spec).value.is_some());
}

#[test]
fn a_code_of_length_zero_has_no_direction() {
    let mut values = Draw::new(6).normals(80);
    values[14..16].fill(0.0);
    let study = study(40, values);
    assert_undefined(&study, "uniformity", "row 7 of `latent` has length zero");
    assert_undefined(&study, "smoothness.unit.slope", "row 7 of `latent` has length zero");
    assert!(score(&study, "smoothness.slope", &small()).value.is_some());
    let cosine = Spec {
        distance: Distance::Cosine,
        ..small()
    };
    let error = refusal(&study, Analysis::Neighborhood, &cosine);
    assert!(error.contains("row 7 of `latent` has length zero"), "{error}");
}

#[test]
fn more_clusters_than_rows_are_named_with_both_numbers() {
    let study = study(6, Draw::new(7).normals(12));
    let spec = Spec { clusters: 7, ..small() };
    for id in ["inertia", "inertia.share", "cluster_balance", "nmi", "ami"] {
        let found = score(&study, id, &spec);
        assert_eq!(found.value, None, "{id}");
        let reason = found.reason.unwrap();
        assert!(
            reason.contains("7 clusters need at least as many rows, not 6"),
            "{id}: {reason}"
        );
    }
}

#[test]
fn as_many_clusters_as_rows_leave_nothing_over() {
    let study = study(6, Draw::new(7).normals(12));
    let spec = Spec { clusters: 6, ..small() };
    assert_eq!(score(&study, "inertia", &spec).value, Some(0.0));
    assert_eq!(score(&study, "cluster_balance", &spec).value, Some(0.0));
}

#[test]
fn no_clusters_or_restarts_are_refused() {
    let study = study(6, Draw::new(7).normals(12));
    for spec in [Spec { clusters: 0, ..small() }, Spec { restarts: 0, ..small() }] {
        let error = refusal(&study, Analysis::Geometry, &spec);
        assert!(error.contains("at least one"), "{error}");
    }
}

#[test]
fn a_sample_of_no_rows_is_refused() {
    let spec = Spec {
        sample: Some(0),
        ..small()
    };
    let error = refusal(&study(40, Draw::new(8).normals(80)), Analysis::Neighborhood, &spec);
    assert!(error.contains("sample"), "{error}");
}

#[test]
fn pairs_that_name_rows_beyond_the_last_are_refused() {
    let pairs = Pairs {
        rows: vec![(0, 1), (39, 40)],
        episode: None,
    };
    let study = Study {
        pairs: Some(Arc::new(pairs)),
        ..study(40, Draw::new(8).normals(80))
    };
    let error = refusal(&study, Analysis::Smoothness, &small());
    assert!(error.contains("row 40") && error.contains("40 rows"), "{error}");
}

#[test]
fn a_confidence_level_or_a_discarded_share_outside_its_range_is_refused() {
    let study = study(40, Draw::new(8).normals(80));
    for level in [0.0, 1.0, 95.0, f64::NAN] {
        let error = refusal(&study, Analysis::Manifold, &Spec { level, ..small() });
        assert!(error.contains("between 0 and 1"), "{error}");
    }
    for discard in [-0.1, 1.0, f64::NAN] {
        let error = refusal(&study, Analysis::Manifold, &Spec { discard, ..small() });
        assert!(error.contains("at least 0 and below 1"), "{error}");
    }
}

#[test]
fn fewer_than_ten_rows_are_not_split() {
    for rows in [4, 9] {
        let study = study(rows, Draw::new(9).normals(2 * rows));
        assert_undefined(
            &study,
            "knn_accuracy@5",
            &format!("{rows} rows are too few to split; at least 10"),
        );
    }
    assert!(
        score(&study(10, Draw::new(9).normals(20)), "knn_accuracy@5", &small())
            .value
            .is_some()
    );
}

/// Options that suit a few rows.
fn small() -> Spec {
    let mut spec = Spec {
        k: vec![1],
        clusters: 2,
        ..Spec::default()
    };
    // One scale, as there is one k.
    spec.dimension.gride_k = 2;
    spec
}

fn specs() -> Vec<Spec> {
    vec![
        small(),
        Spec::default(),
        Spec {
            distance: Distance::Cosine,
            ..small()
        },
        Spec {
            sample: Some(1),
            ..small()
        },
        Spec {
            sample: Some(2),
            ..small()
        },
        Spec {
            clusters: 1,
            restarts: 1,
            splits: 1,
            knn_k: 1,
            ..small()
        },
    ]
}

/// Two columns of codes, two classes in turn, one episode, inputs whose steps get longer by 1 each, and a second view
/// that is the codes one row further on.
fn study(rows: usize, latent: Vec<f64>) -> Study {
    let input = (0..rows).flat_map(|i| [(i * (i + 1) / 2) as f64, 0.0]).collect();
    let columns = latent.len() / rows;
    let mut view = latent.clone();
    view.rotate_left(columns);
    with_labels(
        Study {
            view: Some(Arc::new(space("view", columns, view))),
            input: Some(Arc::new(space("input", 2, input))),
            pairs: Some(Arc::new(Pairs::consecutive(rows, None))),
            ..Study::new(MODEL, space("latent", columns, latent))
        },
        |i| (i % 2).to_string(),
    )
}

fn with_labels(study: Study, name: impl Fn(usize) -> String) -> Study {
    let names: Vec<String> = (0..study.embeddings.rows()).map(name).collect();
    Study {
        labels: Some(Arc::new(Labels::new(&names))),
        ..study
    }
}

fn studies() -> Vec<(&'static str, Study)> {
    let mut draw = Draw::new(20);
    let mut found = vec![
        ("one row", study(1, vec![1.0, 2.0])),
        ("two rows", study(2, vec![1.0, 2.0, 4.0, 6.0])),
        ("two equal rows", study(2, vec![1.0, 2.0, 1.0, 2.0])),
        ("three rows", study(3, draw.normals(6))),
        ("three equal rows", study(3, vec![1.0; 6])),
        ("nine rows", study(9, draw.normals(18))),
        ("one column", study(40, draw.normals(40))),
        ("more columns than rows", study(12, draw.normals(12 * 50))),
        ("all rows equal", study(40, [3.0, -1.0].repeat(40))),
        ("all rows zero", study(40, vec![0.0; 80])),
        (
            "every row twice",
            study(40, (0..80).map(|i| f64::from(i / 4)).collect()),
        ),
        (
            "one row apart",
            study(40, (0..80).map(|i| if i < 2 { 1e6 } else { 1.0 }).collect()),
        ),
        (
            "a constant column",
            study(40, draw.normals(40).iter().flat_map(|&x| [x, 5.0]).collect()),
        ),
        (
            "a grid",
            study(36, (0..36).flat_map(|i| [f64::from(i % 6), f64::from(i / 6)]).collect()),
        ),
        (
            "a far offset",
            study(40, draw.normals(80).iter().map(|x| x + 1e12).collect()),
        ),
        (
            "tiny numbers",
            study(40, draw.normals(80).iter().map(|x| x * 1e-140).collect()),
        ),
        (
            "subnormal numbers",
            study(40, draw.normals(80).iter().map(|x| x * 1e-310).collect()),
        ),
        (
            "huge numbers",
            study(40, draw.uniforms(80).iter().map(|x| x * 1e150).collect()),
        ),
        (
            "tiny beside huge",
            study(40, (0..80).map(|i| if i % 2 == 0 { 1e150 } else { 1e-300 }).collect()),
        ),
    ];
    let zero_row: Vec<f64> = (0..80).map(|i| if i < 2 { 0.0 } else { draw.normal() }).collect();
    found.push(("one code of length zero", study(40, zero_row)));
    let plain = study(40, draw.normals(80));
    found.push(("one label", with_labels(plain.clone(), |_| "a".to_string())));
    found.push((
        "a class of one row",
        with_labels(plain.clone(), |i| (i == 7).to_string()),
    ));
    found.push(("a label for every row", with_labels(plain.clone(), |i| i.to_string())));
    found.push((
        "no labels",
        Study {
            labels: None,
            ..plain.clone()
        },
    ));
    let still = Study {
        input: Some(Arc::new(space("input", 1, vec![2.0; 40]))),
        ..plain.clone()
    };
    found.push(("an input that never moves", still));
    for (name, length) in [
        ("one episode", 40),
        ("two episodes", 20),
        ("an episode for every two rows", 2),
    ] {
        let episodes = Labels::from_codes((0..40).map(|i| i / length).collect(), 40 / length as usize);
        let pairs = Pairs::consecutive(40, Some(&episodes));
        let study = Study {
            pairs: Some(Arc::new(pairs)),
            episodes: Some(Arc::new(episodes)),
            ..plain.clone()
        };
        found.push((name, study));
    }
    found
}

fn refusal(study: &Study, analysis: Analysis, spec: &Spec) -> String {
    match evaluate(
        std::slice::from_ref(study),
        &analysis.metrics(),
        spec,
        &Driver::silent(Order::Serial),
    ) {
        Err(error) if !matches!(error, Error::Internal(_)) => error.to_string(),
        other => panic!("should be refused: {other:?}"),
    }
}

fn assert_undefined(study: &Study, id: &str, reason: &str) {
    let found = score(study, id, &small());
    let given = found.reason.unwrap_or_default();
    assert!(
        found.value.is_none() && given.contains(reason),
        "{id}: {:?} {given}",
        found.value
    );
}

/// Within 1e-12: these answers are small numbers that take a few additions in f64.
fn assert_value(study: &Study, id: &str, expected: f64) {
    let found = score(study, id, &small());
    let value = found
        .value
        .unwrap_or_else(|| panic!("{id}: {}", found.reason.unwrap_or_default()));
    assert!((value - expected).abs() < 1e-12, "{id}: {value}, not {expected}");
}

fn assert_sound(results: &Results, what: &str) {
    for score in &results.scores {
        let what = format!("{what}: {score:?}");
        let ends = score.interval.into_iter().flatten();
        let all: Vec<f64> = ends
            .chain(score.value)
            .chain(score.chance)
            .chain(score.standard_error)
            .collect();
        assert!(all.iter().all(|x| x.is_finite()), "{what}");
        if let (Some([low, high]), Some(value)) = (score.interval, score.value) {
            // Ends are cut to the possible range, values are not: they may stand out by rounding.
            let slack = 1e-12 * value.abs() + f64::MIN_POSITIVE;
            assert!(low <= high && low - slack <= value && value <= high + slack, "{what}");
        }
        assert!(score.standard_error.is_none_or(|e| e >= 0.0), "{what}");
        let reason = score.reason.as_deref().unwrap_or_default();
        assert_eq!(score.value.is_none(), !reason.is_empty(), "{what}");
        assert!(
            !reason.contains("the formula gives"),
            "a reason that explains nothing, {what}"
        );
    }
    for curve in &results.curves {
        assert!(
            curve.x.iter().chain(&curve.y).all(|x| x.is_finite()),
            "{what}: {curve:?}"
        );
    }
    for (name, column) in results.samples.iter().flat_map(|table| &table.columns) {
        assert!(column.iter().flatten().all(|x| x.is_finite()), "{what}: {name}");
    }
}
