// SPDX-License-Identifier: MIT
//! Rows of one group are not independent. Every metric is computed on data that come in groups, and every interval is over them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::common::{Draw, MODEL, of_studies, product, run, space};
use repscope_core::run::{Driver, Order};
use repscope_core::{
    Analysis, Decoding, Direction, Head, LabelSet, Labels, METRICS, Moves, Noise, NoiseLevel, Pairs, Perturbation,
    PerturbedSet, Reference, Results, Retrieval, Score, Spec, Study, System, etes, perturb, retrieve, similarity,
};

const GROUPS: usize = 12;
const ROWS: usize = 5 * GROUPS;
const COLUMNS: usize = 4;

fn groups() -> Labels {
    Labels::from_codes((0..ROWS).map(|i| (i / 5) as u32).collect(), GROUPS)
}

fn labels() -> Labels {
    Labels::from_codes((0..ROWS).map(|i| (i % 3) as u32).collect(), 3)
}

/// Rows around the place of their class, and around one of their group.
fn rows(draw: &mut Draw) -> Vec<f64> {
    let (classes, places) = (draw.normals(3 * COLUMNS), draw.normals(GROUPS * COLUMNS));
    let value = |at: usize| {
        let (row, column) = (at / COLUMNS, at % COLUMNS);
        2.0 * classes[row % 3 * COLUMNS + column] + places[row / 5 * COLUMNS + column]
    };
    (0..ROWS * COLUMNS).map(|at| value(at) + draw.normal()).collect()
}

fn study() -> Study {
    let mut draw = Draw::new(1);
    let latent = rows(&mut draw);
    let input = product(&latent, COLUMNS, &draw.normals(COLUMNS * 6));
    let view = latent.iter().map(|x| x + draw.normal()).collect();
    let raw: Vec<f64> = (0..ROWS).map(|_| draw.uniform()).collect();
    let level = NoiseLevel {
        name: "0.1".to_string(),
        strength: 0.1,
        moves: Moves {
            unit: raw.iter().copied().map(Some).collect(),
            raw,
        },
    };
    let reference = rows(&mut draw);
    Study {
        // Every group has rows in both sets.
        reference: Some(Arc::new(Reference {
            embeddings: space("reference", COLUMNS, reference),
            groups: Some(groups()),
        })),
        batches: Some(Arc::new(Labels::from_codes(
            (0..ROWS).map(|i| (i / 5 % 2) as u32).collect(),
            2,
        ))),
        view: Some(Arc::new(space("view", COLUMNS, view))),
        input: Some(Arc::new(space("input", 6, input))),
        labels: Some(Arc::new(labels())),
        noise: Some(Arc::new(Noise {
            levels: vec![level],
            unit: None,
        })),
        pairs: Some(Arc::new(Pairs::consecutive(ROWS, Some(&groups())))),
        episodes: Some(Arc::new(groups())),
        ..Study::new(MODEL, space("latent", COLUMNS, latent))
    }
}

fn retrieval(is_aligned: bool) -> Retrieval {
    let mut draw = Draw::new(2);
    let (labels, groups) = (Arc::new(labels()), Arc::new(groups()));
    let directions = [(0, 1), (1, 1)].map(|(query, target)| Direction { query, target });
    Retrieval {
        model: MODEL.to_string(),
        spaces: ["text", "sensor"]
            .map(|name| Arc::new(space(name, COLUMNS, rows(&mut draw))))
            .to_vec(),
        is_aligned: vec![is_aligned; 2],
        label_sets: vec![LabelSet {
            name: None,
            of_space: vec![labels; 2],
        }],
        groups: vec![Some(groups); 2],
        directions: directions.to_vec(),
    }
}

fn perturbation() -> Perturbation {
    let mut draw = Draw::new(3);
    let labels = labels().codes().to_vec();
    let mut said = |wrong: f64| {
        labels
            .iter()
            .map(|&c| if draw.uniform() < wrong { (c + 1) % 3 } else { c })
            .collect::<Vec<u32>>()
    };
    let names = (0..3).map(|c| c.to_string()).collect();
    Perturbation {
        heads: vec![Head {
            name: "kind".to_string(),
            classes: names,
            baseline: said(0.1),
            labels: labels.clone(),
        }],
        sets: vec![PerturbedSet {
            name: "top1".to_string(),
            family: "top".to_string(),
            percent: 1.0,
            predictions: vec![said(0.4)],
            masked_lit: Some(0.02),
            masked_all: Some(0.01),
        }],
        groups: Some(groups()),
    }
}

fn decoding() -> Decoding {
    let mut draw = Draw::new(4);
    let signal = rows(&mut draw);
    let mut like = |noise: f64| signal.iter().map(|x| x + noise * draw.normal()).collect::<Vec<f64>>();
    let (generated, reference) = (like(1.0), like(0.5));
    let words = ["a b c d e", "a b x d e", "a b c d y", "b c d e f g"];
    let texts = |from: usize| {
        (0..ROWS)
            .map(|i| words[(i * from) % 4].to_string())
            .collect::<Vec<String>>()
    };
    Decoding {
        systems: vec![System {
            name: MODEL.to_string(),
            signal: Arc::new(space("signal", COLUMNS, signal.clone())),
            generated: Arc::new(space("generated", COLUMNS, generated)),
            reference: Some(Arc::new(space("reference", COLUMNS, reference))),
            fluency: Some((0..ROWS).map(|i| 1.0 + (i % 7) as f64).collect()),
            texts: Some(texts(3).into()),
        }],
        references: Some(texts(1).into()),
        groups: Vec::new(),
        units: Some(Arc::new(groups())),
    }
}

fn all_scores() -> Vec<Score> {
    let driver = Driver::silent(Order::Parallel);
    let spec = Spec {
        k: vec![5],
        retrieval_k: vec![1, 5],
        ..Spec::default()
    };
    let metrics = |analysis: Analysis| analysis.metrics();
    let mut results: Vec<Results> = vec![run(&study(), &of_studies(), &spec)];
    for is_aligned in [true, false] {
        let asked = [retrieval(is_aligned)];
        results.push(retrieve(&asked, &metrics(Analysis::Retrieval), &spec, &driver).expect("valid"));
    }
    results.push(perturb(MODEL, &perturbation(), &metrics(Analysis::Perturb), &spec, &driver).expect("valid"));
    let other = Study {
        model: "other".to_string(),
        embeddings: space("other", COLUMNS, rows(&mut Draw::new(9))),
        ..study()
    };
    let pair = [study(), other];
    results.push(similarity(&pair, &metrics(Analysis::Similarity), &spec, &driver).expect("valid"));
    results.push(etes(&decoding(), &metrics(Analysis::Etes), &spec, &driver).expect("valid"));
    results.into_iter().flat_map(|r| r.scores).collect()
}

#[test]
fn every_interval_of_grouped_data_is_over_groups() {
    let scores = all_scores();
    let computed: BTreeSet<&str> = scores.iter().filter_map(|s| Some(s.metric.metric()?.id)).collect();
    for metric in METRICS {
        // These take scores of several models and not rows.
        let is_of_models = ["weighted_clid", "performance"].contains(&metric.id);
        assert!(
            computed.contains(metric.id) || is_of_models,
            "{} was not computed",
            metric.id
        );
    }
    for score in scores.iter().filter(|s| s.interval.is_some()) {
        let unit = score.unit.as_deref().unwrap_or("none");
        assert!(
            ["groups", "episodes"].contains(&unit),
            "{}: an interval over {unit}, though rows come in groups",
            score.metric
        );
        if let Some(effects) = &score.effects {
            assert!(effects.len() <= GROUPS, "{}: {} effects", score.metric, effects.len());
        }
    }
}

#[test]
fn a_group_that_is_given_for_another_number_of_rows_is_an_error() {
    let driver = Driver::silent(Order::Serial);
    let mut asked = retrieval(true);
    asked.groups[0] = Some(Arc::new(Labels::from_codes(vec![0, 1], 2)));
    let error = retrieve(&[asked], &Analysis::Retrieval.metrics(), &Spec::default(), &driver).unwrap_err();
    assert!(
        error.to_string().contains('2') && error.to_string().contains("60"),
        "{error}"
    );
    let mut data = perturbation();
    data.groups = Some(Labels::from_codes(vec![0, 1], 2));
    let error = perturb(MODEL, &data, &Analysis::Perturb.metrics(), &Spec::default(), &driver).unwrap_err();
    assert!(
        error.to_string().contains("groups are 2") && error.to_string().contains("60"),
        "{error}"
    );
}
