// SPDX-License-Identifier: MIT
//! Results for the tests of all figures, and ways to look into a figure.

mod etes;
mod map;
mod perturb;
mod retrieval;
mod scores;
mod which;

use super::{NamedFigure, figures};
use crate::testdata::{direction, missing, score, two_models};
use repscope_core::{Better, Breakdown, ClassColumn, Curve, NameColumn, NumberColumn, Results, SampleTable, Score};
use repscope_figures::{
    Along, BarRow, Bars, BarsLook, Boxes, ColoredBy, Content, CurveLook, Grouping, Lines, Map, Orientation, Panel,
    Style, Width, to_svg,
};

fn paths(figures: &[NamedFigure]) -> Vec<&str> {
    figures.iter().map(|figure| figure.path.as_str()).collect()
}

/// The one figure whose path ends so.
fn figure(results: &Results, path: &str) -> NamedFigure {
    let mut found: Vec<NamedFigure> = figures(results, "evaluate")
        .into_iter()
        .filter(|figure| figure.path.ends_with(path))
        .collect();
    assert_eq!(found.len(), 1, "{path}");
    found.remove(0)
}

fn panel<'a>(figure: &'a NamedFigure, title: &str) -> &'a Panel {
    let mut panels = figure.figure.panels.iter();
    let titles: Vec<&str> = figure.figure.panels.iter().map(|panel| panel.title.as_str()).collect();
    panels
        .find(|panel| panel.title.starts_with(title))
        .unwrap_or_else(|| panic!("no {title} in {titles:?}"))
}

fn bars<'a>(figure: &'a NamedFigure, title: &str) -> &'a Bars {
    match &panel(figure, title).content {
        Content::Bars(bars) => bars,
        other => panic!("{title} is {other:?}"),
    }
}

fn values(row: &BarRow) -> Vec<Option<f64>> {
    row.bars.iter().map(|bar| bar.value).collect()
}

fn samples(model: &str, metric: &str, columns: &[(&str, &[f64])]) -> SampleTable {
    let column = |(name, values): &(&str, &[f64])| (name.to_string(), values.iter().copied().map(Some).collect());
    SampleTable {
        model: model.to_string(),
        metric: metric.into(),
        columns: columns.iter().map(column).collect(),
    }
}

fn spectrum(model: &str, values: &[f64]) -> Curve {
    Curve {
        model: model.to_string(),
        metric: "spectrum".into(),
        x_label: "eigenvalue number".to_string(),
        y_label: "eigenvalue".to_string(),
        x: (1..=values.len()).map(|i| i as f64).collect(),
        y: values.to_vec(),
    }
}

fn breakdown(model: &str, metric: &str, keys: &[(&str, &[&str])], columns: &[(&str, &[f64])]) -> Breakdown {
    Breakdown {
        model: model.to_string(),
        metric: metric.into(),
        keys: keys
            .iter()
            .map(|(name, values)| NameColumn {
                name: name.to_string(),
                values: values.iter().map(|value| value.to_string()).collect(),
            })
            .collect(),
        columns: columns
            .iter()
            .map(|(name, values)| NumberColumn {
                name: name.to_string(),
                values: values.iter().copied().map(Some).collect(),
            })
            .collect(),
    }
}

/// Every analysis of some models, with samples, curves, classes and breakdowns.
fn complete(models: &[&str]) -> Results {
    use Better::{Higher, Lower, Neither};
    let mut results = Results::default();
    for (i, model) in models.iter().enumerate() {
        let x = 0.5 + 0.03 * i as f64;
        let about = |value: f64| Some((value - 0.01, value + 0.01, "rows", "jackknife"));
        let mut add = |metric: &str, value: f64, better| {
            results.scores.push(score(model, metric, value, about(value), better));
        };
        for part in ["smoothness", "smoothness.unit"] {
            add(&format!("{part}.slope"), 2.0 * x, Lower);
            add(&format!("{part}.intercept"), 0.25, Neither);
            add(&format!("{part}.r2"), x, Higher);
            add(&format!("{part}.ratio_median"), x, Lower);
        }
        // As text, 10 comes before 5.
        for k in [10, 15, 5] {
            add(&format!("trustworthiness@{k}"), x + 0.001 * f64::from(k), Higher);
            add(&format!("continuity@{k}"), x - 0.001 * f64::from(k), Higher);
        }
        for sigma in ["0.2", "0.05", "0.1"] {
            add(&format!("robustness.unit@{sigma}"), x, Lower);
        }
        for (metric, value) in [("participation_ratio", 4.0), ("dimension_usage", 0.25), ("two_nn", 3.5)] {
            add(metric, value, Neither);
        }
        add("two_nn(fit=mle)", 3.4, Neither);
        add("uniformity", -2.0 - x, Lower);
        add("silhouette", x - 0.6, Higher);
        for metric in ["nmi", "ami", "knn_accuracy@5"] {
            add(metric, x, Higher);
        }
        for metric in ["inertia.share", "cluster_balance"] {
            add(metric, x, Lower);
        }
        add("inertia", 1e6 * x, Lower);
        for metric in [
            "rankme(variant=spec)",
            "rankme(variant=paper)",
            "numerical_rank",
            "stable_rank",
        ] {
            add(metric, 8.0 * x, Neither);
        }
        for metric in ["alpha_req", "alpha_req.r2", "condition_number", "std_collapse"] {
            add(metric, x, Neither);
        }
        for metric in ["clid.cl", "clid"] {
            add(metric, x, Higher);
        }
        add("clid.id", 3.5, Neither);
        let ramp: Vec<f64> = (1..=40).map(|i| f64::from(i) / 10.0).collect();
        let twice: Vec<f64> = ramp.iter().map(|x| 2.0 * x).collect();
        results.samples.push(samples(
            model,
            "smoothness",
            &[
                ("input_distance", &ramp),
                ("latent_distance", &twice),
                ("ratio", &[2.0; 40]),
            ],
        ));
        results.samples.push(samples(
            model,
            "neighborhood",
            &[
                ("trustworthiness@5", &[0.9; 40]),
                ("trustworthiness@10", &ramp),
                ("continuity@10", &ramp),
            ],
        ));
        results
            .samples
            .push(samples(model, "robustness", &[("robustness.unit@0.1", &ramp)]));
        results
            .samples
            .push(samples(model, "map", &[("x", &ramp), ("y", &twice)]));
        results.curves.push(spectrum(model, &[8.0, 4.0, 2.0, 1.0, 1.0]));
        results.curves.push(Curve {
            metric: "map".into(),
            ..spectrum(model, &[0.6, 0.3])
        });
        results.breakdowns.push(breakdown(
            model,
            "clid.cl",
            &[("seed", &["42", "43", "44"]), ("split", &["0", "0", "0"])],
            &[("cl", &[0.8, 0.9, 0.85])],
        ));
    }
    results.breakdowns.push(breakdown(
        "",
        "performance",
        &[("score", &["clid", "two_nn"])],
        &[
            ("models", &[12.0, 11.0]),
            ("spearman", &[0.9, -0.4]),
            ("spearman_low", &[0.5, -0.8]),
            ("spearman_high", &[0.98, 0.3]),
            ("kendall", &[0.8, -0.3]),
        ],
    ));
    results.classes.push(ClassColumn {
        name: "labels".to_string(),
        names: vec!["cat".to_string(), "dog".to_string()],
        codes: (0..40).map(|i| i % 2).collect(),
    });
    results
}

/// A retrieval in two directions with its breakdowns.
fn searched(model: &str, labels: usize) -> Results {
    let mut scores: Vec<Score> = ["text2sensor", "sensor2text"].into_iter().flat_map(direction).collect();
    scores.iter_mut().for_each(|score| score.model = model.to_string());
    let names: Vec<String> = (0..labels).map(|i| format!("label {i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let precision: Vec<f64> = (0..labels).map(|i| i as f64 / labels as f64).collect();
    let mut breakdowns = Vec::new();
    for direction in ["text2sensor", "sensor2text"] {
        for k in [100, 10] {
            breakdowns.push(breakdown(
                model,
                &format!("label_precision.{direction}@{k}"),
                &[("label", &names)],
                &[("precision", &precision), ("chance", &vec![0.1; labels])],
            ));
            let (mut asked, mut got, mut share) = (Vec::new(), Vec::new(), Vec::new());
            for (i, name) in names.iter().enumerate() {
                asked.extend([*name, *name]);
                got.extend([*name, names[(i + 1) % labels]]);
                share.extend([precision[i], 1.0 - precision[i]]);
            }
            breakdowns.push(breakdown(
                model,
                &format!("label_precision.{direction}.confusion@{k}"),
                &[("label", &asked), ("retrieved", &got)],
                &[("share", &share)],
            ));
        }
    }
    Results {
        scores,
        breakdowns,
        ..Results::default()
    }
}
