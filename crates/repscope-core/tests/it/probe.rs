// SPDX-License-Identifier: MIT
//! Probes: known answers, rows that only test, groups that must not leak, and few rows.

use std::sync::Arc;

use crate::common::{Draw, MODEL, metric, product, run, score, space};
use repscope_core::run::{Driver, Order};
use repscope_core::{Labels, ProbeSpec, Spec, Study, Targets, check, evaluate};

const COLUMNS: usize = 6;

fn spec() -> Spec {
    let probe = ProbeSpec {
        shots: vec![1, 5],
        ..ProbeSpec::default()
    };
    Spec {
        probe,
        ..Spec::default()
    }
}

fn targets(columns: &[Vec<f64>]) -> Option<Arc<Targets>> {
    let rows = columns[0].len();
    let values = (0..rows)
        .flat_map(|row| columns.iter().map(move |own| own[row]))
        .collect();
    Some(Arc::new(Targets::numbered(space("targets", columns.len(), values))))
}

fn labels(codes: Vec<u32>, classes: usize) -> Option<Arc<Labels>> {
    Some(Arc::new(Labels::from_codes(codes, classes)))
}

fn value(study: &Study, id: &str) -> f64 {
    let found = score(study, id, &spec());
    found.value.unwrap_or_else(|| panic!("{id}: {:?}", found.reason))
}

#[test]
fn a_linear_target_is_found_and_an_unrelated_one_is_not() {
    let mut draw = Draw::new(31);
    let rows = 400;
    let latent = draw.normals(rows * COLUMNS);
    let line = product(&latent, COLUMNS, &draw.normals(COLUMNS));
    let noisy: Vec<f64> = latent.chunks_exact(COLUMNS).map(|row| row[0] + draw.normal()).collect();
    let mut study = Study::new(MODEL, space("latent", COLUMNS, latent));
    study.targets = targets(&[line, noisy, draw.normals(rows)]);
    assert!(value(&study, "probe.linear.r2(target=0)") > 1.0 - 1e-9);
    // Half of the variance is noise.
    let half = score(&study, "probe.linear.r2(target=1)", &spec());
    let [low, high] = half.interval.expect("an interval");
    assert!(low < 0.5 && 0.5 < high && high - low < 0.25, "{half:?}");
    let nothing = score(&study, "probe.linear.r2(target=2)", &spec());
    assert!(
        nothing.value.is_some_and(|r2| (-0.05..0.05).contains(&r2)),
        "{nothing:?}"
    );
    assert_eq!(nothing.chance, Some(0.0));
}

#[test]
fn classes_that_are_apart_are_told_and_shuffled_ones_are_not() {
    let mut draw = Draw::new(32);
    let codes: Vec<u32> = (0..300).map(|row| row % 3).collect();
    let latent = codes.iter().flat_map(|class| {
        let at = f64::from(*class);
        [
            8.0 * at + draw.normal(),
            8.0 * (at - 1.0).abs() + draw.normal(),
            draw.normal(),
        ]
    });
    let mut study = Study::new(MODEL, space("latent", 3, latent.collect()));
    study.labels = labels(codes, 3);
    let found = run(&study, &[metric("probe")], &spec());
    let of = |id: &str| found.score(MODEL, id).expect("a score").clone();
    let accuracy = of("probe.linear.accuracy");
    assert!(accuracy.value.is_some_and(|share| share > 0.98), "{accuracy:?}");
    assert_eq!(accuracy.chance, Some(1.0 / 3.0));
    let control = of("probe.linear.control").value.expect("a number");
    assert!((control - 1.0 / 3.0).abs() < 0.1, "{control}");
    let selectivity = of("probe.linear.selectivity").value.expect("a number");
    assert!((selectivity - (accuracy.value.unwrap() - control)).abs() < 1e-12);
    assert!(of("probe.knn.accuracy@5").value.is_some_and(|share| share > 0.98));
    assert!(of("probe.linear.log_loss").value.is_some_and(|loss| loss < 0.05));
    let chance = of("probe.linear.log_loss").chance.expect("the entropy");
    assert!((chance - 3f64.ln()).abs() < 1e-12);
    // With five rows of each class the classes are already apart.
    let few = &found
        .breakdowns
        .iter()
        .find(|own| own.metric == "probe.few_shot")
        .expect("a table");
    let accuracies = &few.columns[0].values;
    assert!(accuracies[1].is_some_and(|share| share > 0.9), "{accuracies:?}");
}

#[test]
fn labels_and_targets_of_an_episode_cannot_be_learned_from_its_other_rows() {
    // Rows of one episode lie together, and its label and its target are random.
    let mut draw = Draw::new(33);
    let (episodes, length) = (40, 8);
    let (mut latent, mut codes, mut line, mut groups) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for episode in 0..episodes {
        let center = draw.normals(40);
        let (label, number) = (draw.below(3) as u32, draw.normal());
        for _ in 0..length {
            latent.extend(center.iter().map(|x| x + 0.01 * draw.normal()));
            codes.push(label);
            line.push(number);
            groups.push(episode);
        }
    }
    let mut study = Study::new(MODEL, space("latent", 40, latent));
    (study.labels, study.targets) = (labels(codes, 3), targets(&[line]));
    let leaking = ["probe.linear.accuracy", "probe.linear.r2", "probe.knn.accuracy@5"].map(|id| value(&study, id));
    assert!(leaking.iter().all(|own| *own > 0.9), "{leaking:?}");
    study.episodes = labels(groups, episodes as usize);
    let honest = ["probe.linear.accuracy", "probe.linear.r2", "probe.knn.accuracy@5"].map(|id| value(&study, id));
    assert!(honest[0] < 0.6 && honest[1] < 0.1 && honest[2] < 0.6, "{honest:?}");
    let accuracy = score(&study, "probe.linear.accuracy", &spec());
    assert_eq!(accuracy.unit.as_deref(), Some("episodes"));
    assert!(
        accuracy.interval.is_some_and(|[low, _]| low < accuracy.chance.unwrap()),
        "{accuracy:?}"
    );
}

#[test]
fn rows_that_only_test_do_not_change_what_is_learned() {
    let mut draw = Draw::new(34);
    let latent = draw.normals(150 * COLUMNS);
    let line: Vec<f64> = latent
        .chunks_exact(COLUMNS)
        .map(|row| row[1] + 0.5 * draw.normal())
        .collect();
    let codes: Vec<u32> = line.iter().map(|y| u32::from(*y > 0.0)).collect();
    let study = |rows: usize| {
        let mut study = Study::new(MODEL, space("latent", COLUMNS, latent[..rows * COLUMNS].to_vec()));
        (study.labels, study.targets) = (labels(codes[..rows].to_vec(), 2), targets(&[line[..rows].to_vec()]));
        study.tested_from = Some(100);
        study
    };
    let (both, some) = (study(150), study(125));
    for id in [
        "probe.linear.accuracy",
        "probe.linear.mae(target=0)",
        "probe.linear.log_loss",
    ] {
        let (both, some) = (score(&both, id, &spec()), score(&some, id, &spec()));
        assert_eq!((both.n, some.n), (50, 25), "{id}");
        assert!(both.value.is_some() && some.value.is_some());
    }
    // The error of 50 rows is that of the first 25 and of the last 25, because the probe is the same.
    let without_first = {
        let rows: Vec<usize> = (0..100).chain(125..150).collect();
        let mut last = both.clone();
        last.embeddings = both.embeddings.select(&rows).unwrap();
        last.labels = both.labels.as_ref().map(|own| Arc::new(own.select(&rows)));
        let kept: Vec<f64> = rows.iter().map(|row| line[*row]).collect();
        last.targets = targets(&[kept]);
        last
    };
    for id in [
        "probe.linear.mae(target=0)",
        "probe.linear.log_loss",
        "probe.knn.accuracy@5",
    ] {
        let mean = f64::midpoint(value(&some, id), value(&without_first, id));
        assert!(
            (value(&both, id) - mean).abs() < 1e-7,
            "{id}: {} {mean}",
            value(&both, id)
        );
    }
}

#[test]
fn every_set_of_labels_has_scores_of_its_own() {
    let mut draw = Draw::new(35);
    let latent = draw.normals(120 * 2);
    let of = |column: usize| latent.chunks_exact(2).map(|row| u32::from(row[column] > 0.0)).collect();
    let mut study = Study::new(MODEL, space("latent", 2, latent.clone()));
    let sets: [Vec<u32>; 2] = [of(0), of(1)];
    study.label_sets = [("x", &sets[0]), ("y", &sets[1])]
        .map(|(name, codes)| (name.to_string(), labels(codes.clone(), 2).unwrap()))
        .to_vec();
    let found = run(&study, &[metric("probe")], &spec());
    for id in [
        "probe.linear.accuracy(labels=x)",
        "probe.linear.ece(bins=mass,labels=y)",
        "probe.knn.accuracy(labels=y)@5",
    ] {
        let own = found.score(MODEL, id).unwrap_or_else(|| panic!("no {id}"));
        assert!(own.value.is_some() && own.metric.output().is_some(), "{own:?}");
    }
    study.label_sets.clear();
    study.labels = labels(sets[0].clone(), 2);
    let alone = score(&study, "probe.linear.accuracy", &spec());
    assert_eq!(
        found.score(MODEL, "probe.linear.accuracy(labels=x)").unwrap().value,
        alone.value
    );
}

#[test]
fn what_has_no_probe_says_why() {
    let mut draw = Draw::new(36);
    let reason = |study: &Study, id: &str| score(study, id, &spec()).reason.unwrap_or_default();
    let mut study = Study::new(MODEL, space("latent", 2, draw.normals(80)));
    assert!(reason(&study, "probe.linear.accuracy").contains("needs labels or targets"));
    study.labels = labels(vec![0; 40], 1);
    assert!(reason(&study, "probe.linear.accuracy").contains("all rows have the label `0`"));
    study.labels = labels((0..40).collect(), 40);
    assert!(reason(&study, "probe.linear.accuracy").contains("a label of its own"));
    study.labels = labels((0..40).map(|row| row % 2).collect(), 2);
    study.episodes = labels((0..40).map(|row| row / 20).collect(), 2);
    assert!(
        reason(&study, "probe.linear.accuracy").contains("2 groups"),
        "{}",
        reason(&study, "probe.linear.accuracy")
    );
    study.episodes = None;
    study.targets = targets(&[vec![2.5; 40]]);
    assert!(reason(&study, "probe.linear.r2(target=0)").contains("the same for all rows"));
    let short = Study {
        targets: targets(&[vec![1.0; 7]]),
        ..study.clone()
    };
    let error = check(&[short], &[metric("probe")], &spec()).unwrap_err().to_string();
    assert!(error.contains('7') && error.contains("40"), "{error}");
    let few = Spec {
        probe: ProbeSpec {
            folds: 2,
            ..ProbeSpec::default()
        },
        ..Spec::default()
    };
    let error = check(&[study], &[metric("probe")], &few).unwrap_err().to_string();
    assert!(error.contains("2 folds"), "{error}");
}

#[test]
fn more_columns_than_rows_give_the_same_as_their_principal_axes() {
    // Columns are standardized one by one, so the rotated copy is compared through columns of one variance: signs.
    let mut draw = Draw::new(37);
    let rows = 48;
    let narrow: Vec<f64> = (0..rows * 20)
        .map(|_| if draw.uniform() < 0.5 { -1.0 } else { 1.0 })
        .collect();
    let line: Vec<f64> = narrow
        .chunks_exact(20)
        .map(|row| row[0] + row[3] + draw.normal())
        .collect();
    // Every column three times: 60 columns of 48 rows, which is the penalty divided by three.
    let wide = narrow
        .chunks_exact(20)
        .flat_map(|row| [row, row, row].concat())
        .collect();
    let with = |columns: usize, values: Vec<f64>, penalties: Vec<f64>| {
        let mut study = Study::new(MODEL, space("latent", columns, values));
        study.targets = targets(std::slice::from_ref(&line));
        let probe = ProbeSpec {
            penalties,
            ..ProbeSpec::default()
        };
        let spec = Spec {
            probe,
            ..Spec::default()
        };
        let found = score(&study, "probe.linear.r2", &spec);
        [found.value, found.standard_error].map(|number| number.expect("a number"))
    };
    let (few, many) = (
        with(20, narrow.clone(), vec![1.0, 10.0]),
        with(60, wide, vec![3.0, 30.0]),
    );
    for (few, many) in few.into_iter().zip(many) {
        assert!((few - many).abs() < 1e-9, "{few} {many}");
    }
}

#[test]
fn many_classes_and_batches_of_fits_have_the_same_bits_for_any_order_of_work() {
    let mut draw = Draw::new(38);
    let (rows, columns) = (700, 30);
    let codes: Vec<u32> = (0..rows).map(|row| row as u32 % 25).collect();
    let centers = draw.normals(25 * columns);
    let latent = codes.iter().flat_map(|class| {
        let center = &centers[*class as usize * columns..][..columns];
        center.iter().map(|x| x + 0.7 * draw.normal()).collect::<Vec<f64>>()
    });
    let mut study = Study::new(MODEL, space("latent", columns, latent.collect()));
    study.labels = labels(codes, 25);
    let answer = |order| {
        evaluate(
            std::slice::from_ref(&study),
            &[metric("probe")],
            &spec(),
            &Driver::silent(order),
        )
        .unwrap()
    };
    let serial = answer(Order::Serial);
    assert!(serial.warnings.is_empty(), "{:?}", serial.warnings);
    for order in [Order::Parallel, Order::Shuffled(3)] {
        assert_eq!(answer(order).scores, serial.scores);
    }
}
