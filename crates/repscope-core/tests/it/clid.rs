// SPDX-License-Identifier: MIT
//! Cluster learnability and intrinsic dimension: what the steps do, and what is said about rows that a step cannot use.

use crate::common::{Draw, MODEL, metric, run, score, space, value};
use repscope_core::run::{Driver, Order};
use repscope_core::{Breakdown, ClidSpec, ClusterCount, IdNorm, Results, Spec, Study, UnitLength, evaluate};

/// Three blobs of 50 rows at the corners of a triangle in ten dimensions, `apart` from the origin.
fn blobs(apart: f64) -> Study {
    let mut draw = Draw::new(5);
    let mut rows = Vec::new();
    for i in 0..150 {
        rows.extend((0..10).map(|c| draw.normal() + if c == i % 3 { apart } else { 0.0 }));
    }
    Study::new(MODEL, space("z", 10, rows))
}

fn with(clid: ClidSpec) -> Spec {
    Spec {
        clid,
        ..Spec::default()
    }
}

fn three_clusters() -> ClidSpec {
    ClidSpec {
        clusters: ClusterCount::Of(3),
        ..ClidSpec::ROBUST
    }
}

fn runs(results: &Results) -> &Breakdown {
    results
        .breakdowns
        .iter()
        .find(|b| b.metric == "clid.cl")
        .expect("the runs of the cluster learnability")
}

fn column(results: &Results, name: &str) -> Vec<f64> {
    let column = runs(results).columns.iter().find(|c| c.name == name).expect("a column");
    column.values.iter().map(|v| v.expect("a number")).collect()
}

#[test]
fn blobs_far_apart_are_learned_without_error_and_clid_adds_the_share_of_dimensions() {
    let study = blobs(30.0);
    let spec = with(three_clusters());
    assert_eq!(value(&study, "clid.cl", &spec), 1.0);
    assert_eq!(value(&study, "clid.cl_std", &spec), 0.0);
    let id = value(&study, "clid.id", &spec);
    assert_eq!(id, value(&study, "two_nn", &spec));
    assert_eq!(value(&study, "clid.id_normalized", &spec), id / 10.0);
    assert_eq!(value(&study, "clid", &spec), 1.0 + id / 10.0);
    // All runs agree, so the interval is Wilson's over the 75 tested rows: from 1 / (1 + z²/75) up to 1.
    let [low, high] = score(&study, "clid.cl", &spec).interval.unwrap();
    assert!((low - 1.0 / (1.0 + 1.959964f64.powi(2) / 75.0)).abs() < 1e-6 && high > 1.0 - 1e-12);
}

#[test]
fn codes_without_clusters_are_learned_better_than_chance_but_not_without_error() {
    let results = run(&blobs(0.0), &[metric("clid")], &Spec::default());
    let cl = results.score(MODEL, "clid.cl").unwrap();
    assert!(
        cl.value.unwrap() > cl.chance.unwrap() + 0.2 && cl.value.unwrap() < 0.9,
        "{cl:?}"
    );
    assert!(cl.interval.unwrap()[0] > cl.chance.unwrap());
    assert!(results.score(MODEL, "clid.cl_std").unwrap().value.unwrap() > 0.0);
}

#[test]
fn each_repeat_is_the_run_with_its_own_seed() {
    let study = blobs(1.0);
    let three = ClidSpec {
        repeats: 3,
        splits: 2,
        ..ClidSpec::ROBUST
    };
    let together = column(&run(&study, &[metric("clid")], &with(three.clone())), "cl");
    let mut alone = Vec::new();
    for seed in 42..45 {
        let spec = Spec {
            seed,
            clid: ClidSpec {
                repeats: 1,
                ..three.clone()
            },
            ..Spec::default()
        };
        alone.extend(column(&run(&study, &[metric("clid")], &spec), "cl"));
    }
    assert_eq!(together, alone);
    assert_eq!(together.len(), 6);
}

#[test]
fn a_cluster_of_one_row_is_left_out_and_counted() {
    let mut rows: Vec<f64> = Draw::new(8).normals(2 * 40);
    rows.extend([1e3, 0.0, 0.0, -1e3]);
    let study = Study::new(MODEL, space("z", 2, rows));
    let spec = with(ClidSpec {
        clusters: ClusterCount::Of(4),
        repeats: 2,
        ..ClidSpec::ROBUST
    });
    let results = run(&study, &[metric("clid")], &spec);
    assert_eq!(column(&results, "lone"), [2.0, 2.0]);
    assert_eq!(column(&results, "tested"), [20.0, 20.0]);
    let note = results.score(MODEL, "clid.cl").unwrap().note.clone().unwrap();
    assert!(
        note.contains("clusters of a single row, which is left out: up to 2"),
        "{note}"
    );
}

#[test]
fn clusters_that_cannot_fill_a_vote_are_counted() {
    // Ten far pairs and one large cloud: a pair has one training row, and five vote.
    let mut rows: Vec<f64> = Draw::new(8).normals(100);
    for pair in 0..10 {
        let far = 1e4 * f64::from(pair + 1);
        rows.extend([far, far + 0.1]);
    }
    let study = Study::new(MODEL, space("z", 1, rows));
    let spec = with(ClidSpec {
        clusters: ClusterCount::Of(11),
        unit_length: UnitLength::None,
        ..ClidSpec::ROBUST
    });
    let score = score(&study, "clid.cl", &spec);
    let note = score.note.unwrap();
    assert!(
        note.contains("clusters with fewer than k = 5 rows to vote for them: up to 10"),
        "{note}"
    );
    // The 50 rows of the cloud are right and the 10 of the pairs are outvoted.
    assert!((score.value.unwrap() - 50.0 / 60.0).abs() < 1e-12, "{:?}", score.value);
}

#[test]
fn one_model_has_no_common_scale_and_two_are_one_deviation_from_their_mean() {
    let paper = with(ClidSpec::PAPER);
    let alone = score(&blobs(4.0), "clid", &paper);
    assert!(alone.value.is_none() && alone.reason.unwrap().contains("at least two models"));
    let named = |model: &str, apart| Study {
        model: model.to_string(),
        ..blobs(apart)
    };
    let studies = [named("apart", 6.0), named("cloud", 0.0)];
    let driver = Driver::silent(Order::Parallel);
    let results = evaluate(&studies, &[metric("clid")], &paper, &driver).unwrap();
    let value = |model: &str, id: &str| results.score(model, id).unwrap().value.unwrap();
    assert!(value("apart", "clid.cl") > value("cloud", "clid.cl"));
    // Two numbers are at −1 and 1 of their own scale, so the sum is −2, 0 or 2.
    let id = value("apart", "clid.id_normalized");
    assert!((id.abs() - 1.0).abs() < 1e-12 && (value("apart", "clid") - 1.0 - id).abs() < 1e-12);
    assert!((value("apart", "clid") + value("cloud", "clid")).abs() < 1e-12);
    assert_eq!(results.score("apart", "clid").unwrap().model, "apart");
}

#[test]
fn with_unit_length_throughout_the_length_of_rows_changes_nothing() {
    let study = blobs(3.0);
    let mut draw = Draw::new(1);
    let stretched: Vec<f64> = crate::common::numbers(&study.embeddings)
        .chunks_exact(10)
        .flat_map(|row| {
            let factor = 2f64.powi(draw.below(7) as i32 - 3);
            row.iter().map(move |x| x * factor).collect::<Vec<f64>>()
        })
        .collect();
    let stretched = Study::new(MODEL, space("z", 10, stretched));
    let paper = with(ClidSpec {
        id_norm: IdNorm::Dim,
        ..ClidSpec::PAPER
    });
    for id in ["clid.cl", "clid.id", "clid"] {
        assert_eq!(value(&study, id, &paper), value(&stretched, id, &paper), "{id}");
    }
    assert_ne!(
        value(&study, "clid.id", &with(ClidSpec::ROBUST)),
        value(&study, "clid.id", &paper)
    );
}

#[test]
fn standardising_takes_the_unit_of_a_column_out_of_the_clusters() {
    // Two clusters along the first column; the second is noise in a large unit.
    let mut draw = Draw::new(3);
    let rows: Vec<f64> = (0..200)
        .flat_map(|i| [f64::from(i % 2) * 10.0 + draw.normal(), 1e4 * draw.uniform()])
        .collect();
    let study = Study::new(MODEL, space("z", 2, rows));
    let steps = |standardize| {
        with(ClidSpec {
            standardize,
            clusters: ClusterCount::Of(2),
            ..ClidSpec::ROBUST
        })
    };
    // Standardised, k-means finds the two clusters of 100 rows; raw, it cuts the noise in two.
    let largest = |standardize| column(&run(&study, &[metric("clid")], &steps(standardize)), "largest");
    assert_eq!(largest(true), [0.5; 5]);
    assert_ne!(largest(false), [0.5; 5]);
}

#[test]
fn more_dimensions_than_columns_count_as_one() {
    // Nearly equal gaps: the second neighbor is hardly farther than the first, as in many dimensions.
    let rows: Vec<f64> = (0..100).map(|i| f64::from(i) + 0.001 * f64::from(i * i % 7)).collect();
    let study = Study::new(MODEL, space("z", 1, rows));
    let spec = with(three_clusters());
    assert!(value(&study, "clid.id", &spec) > 1.0);
    let normalized = score(&study, "clid.id_normalized", &spec);
    assert_eq!(normalized.value, Some(1.0));
    assert!(normalized.note.unwrap().contains("counts as 1"));
}

#[test]
fn what_cannot_be_learned_says_why() {
    let reason = |study: &Study, clid: ClidSpec| score(study, "clid.cl", &with(clid)).reason.expect("no number");
    let small = Study::new(MODEL, space("z", 2, Draw::new(2).normals(16)));
    assert!(reason(&small, ClidSpec::ROBUST).contains("10 clusters of 8 rows"));
    let many_voters = ClidSpec {
        k: 5,
        ..three_clusters()
    };
    assert!(reason(&small, many_voters).contains("k = 5 voters are more than the 4 rows"));
    let flat = Study::new(MODEL, space("z", 2, vec![1.0; 60]));
    assert!(reason(&flat, three_clusters()).contains("found 1 cluster of at least two rows"));
    let tiny = Study::new(MODEL, space("z", 2, vec![0.0, 1.0, 2.0, 5.0, 9.0, 3.0]));
    assert!(reason(&tiny, ClidSpec::PAPER).contains("3 rows give 1 cluster"));
}

#[test]
fn rows_without_direction_are_counted() {
    let mut rows = Draw::new(4).normals(2 * 30);
    rows[..4].fill(0.0);
    let study = Study::new(MODEL, space("z", 2, rows));
    let note = score(&study, "clid.cl", &with(ClidSpec::PAPER)).note.unwrap();
    assert!(note.contains("2 rows have length zero"), "{note}");
}

#[test]
fn no_split_and_no_voter_are_refused() {
    let driver = Driver::silent(Order::Serial);
    for clid in [
        ClidSpec {
            k: 0,
            ..ClidSpec::ROBUST
        },
        ClidSpec {
            splits: 0,
            ..ClidSpec::ROBUST
        },
        ClidSpec {
            repeats: 0,
            ..ClidSpec::ROBUST
        },
        ClidSpec {
            restarts: 0,
            ..ClidSpec::ROBUST
        },
    ] {
        let error = evaluate(&[blobs(1.0)], &[metric("clid")], &with(clid), &driver).unwrap_err();
        assert!(error.to_string().contains("at least one of each"), "{error}");
    }
}
