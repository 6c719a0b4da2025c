// SPDX-License-Identifier: MIT
//! Results of two systems for the tests. The energies of the first are those of a published run.

use crate::testdata::{missing, names, numbers, score};
use repscope_core::{Better, Breakdown, Curve, Difference, Results, SampleTable, Score};

const NO_REFERENCE: &str = "no reference was given";
const SAMPLES: usize = 300;

/// What one system gets.
struct Energies {
    name: &'static str,
    alignment: f64,
    gap: f64,
    shuffled: f64,
    z: f64,
    p: f64,
    auc: f64,
}

const GLIM: Energies = Energies {
    name: "glim",
    alignment: -0.3985,
    gap: 0.0207,
    shuffled: -0.3612,
    z: -8.48,
    p: 0.001,
    auc: 0.634,
};
const NUCLEUS: Energies = Energies {
    name: "nucleus 0.95",
    alignment: -0.2024,
    gap: 0.2168,
    shuffled: -0.2,
    z: -0.5,
    p: 0.31,
    auc: 0.508,
};

/// Two systems with references and texts; the first has groups and samples.
pub(crate) fn two_systems() -> Results {
    let mut results = Results::default();
    for system in [GLIM, NUCLEUS] {
        results.scores.extend(scores(&system));
        results.curves.extend(histograms(&system));
        results.breakdowns.push(bands(system.name));
        results.samples.push(samples(system.name));
    }
    results.scores.extend(texts());
    results.breakdowns.push(groups());
    results.differences = vec![
        difference("etes.alignment", -0.1961, 0.012, 0.0004, Some("glim")),
        difference("etes.auc", 0.126, 0.03, 0.0004, Some("glim")),
    ];
    results
}

/// The first system alone, without references.
pub(crate) fn without_reference() -> Results {
    let mut results = two_systems();
    results.scores.retain(|score| score.model == GLIM.name);
    results.curves.retain(|curve| curve.model == GLIM.name);
    results.samples.retain(|table| table.model == GLIM.name);
    results.breakdowns.retain(|table| table.model == GLIM.name);
    results.differences.clear();
    for metric in [
        "etes.reference",
        "etes.gap",
        "etes.win_rate",
        "etes.centred.reference",
        "etes.centred.gap",
    ] {
        drop_value(&mut results, GLIM.name, metric, NO_REFERENCE);
    }
    for (name, values) in &mut results.samples[0].columns {
        if ["reference_energy", "gap"].contains(&name.as_str()) {
            values.fill(None);
        }
    }
    results
}

/// Gives a score another value.
pub(crate) fn change(results: &mut Results, model: &str, metric: &str, value: f64, interval: Option<[f64; 2]>) {
    let score = found(results, model, metric);
    (score.value, score.interval) = (Some(value), interval);
}

/// Takes the value of a score.
pub(crate) fn drop_value(results: &mut Results, model: &str, metric: &str, reason: &str) {
    let score = found(results, model, metric);
    let better = score.better;
    *score = Score {
        n: SAMPLES,
        better,
        ..missing(model, metric, reason)
    };
}

fn found<'a>(results: &'a mut Results, model: &str, metric: &str) -> &'a mut Score {
    let mut scores = results.scores.iter_mut();
    scores
        .find(|score| score.model == model && score.metric == metric)
        .unwrap_or_else(|| panic!("a score {metric} of {model}"))
}

fn scores(of: &Energies) -> Vec<Score> {
    use Better::{Higher, Lower, Neither};
    let own = |part: &str, value: f64, reach: Option<f64>, better| {
        let ends = reach.map(|reach| (value - reach, value + reach, "samples", "Student t"));
        Score {
            n: SAMPLES,
            ..score(of.name, &format!("etes.{part}"), value, ends, better)
        }
    };
    let n = SAMPLES as f64;
    // The mean of 1/r over all ranks is what chance gives.
    let by_lot: f64 = (1..=SAMPLES).map(|r| 1.0 / r as f64).sum::<f64>() / n;
    let mut scores = vec![
        own("alignment", of.alignment, Some(0.01), Lower),
        own("total", of.alignment + 0.05, Some(0.01), Lower),
        own("reference", of.alignment - of.gap, Some(0.01), Lower),
        own("gap", of.gap, Some(0.01), Lower),
        own("std", 0.088, Some(0.007), Neither),
        own("min", -0.71, None, Neither),
        own("max", -0.12, None, Neither),
        own("median", of.alignment - 0.002, Some(0.012), Lower),
        own("p10", of.alignment - 0.11, Some(0.015), Neither),
        own("p90", of.alignment + 0.12, Some(0.015), Neither),
        own("win_rate", 0.42, Some(0.055), Higher).with_chance(0.5),
        own("shuffled", of.shuffled, None, Neither),
        own("shuffled.std", 0.0044, None, Neither),
        own("z", of.z, None, Lower),
        own("p", of.p, None, Lower),
        own("auc", of.auc, Some(0.034), Higher).with_chance(0.5),
        own("top@1", 0.02, Some(0.016), Higher).with_chance(1.0 / n),
        own("top@5", 0.07, Some(0.029), Higher).with_chance(5.0 / n),
        own("top@10", 0.12, Some(0.037), Higher).with_chance(10.0 / n),
        own("mrr", 0.0612, Some(0.015), Higher).with_chance(by_lot),
        own("rank", 110.3, Some(9.1), Lower).with_chance((n + 1.0) / 2.0),
        own("modality_gap", 0.71, Some(0.02), Neither),
        own("centred.alignment", -0.0612, Some(0.011), Lower),
        own("centred.reference", -0.0912, Some(0.011), Lower),
        own("centred.gap", 0.03, Some(0.011), Lower),
        own("centred.shuffled", -0.0002, None, Neither),
        own("centred.shuffled.std", 0.0067, None, Neither),
        own("centred.z", -9.1, None, Lower),
        own("centred.auc", 0.7001, Some(0.03), Higher).with_chance(0.5),
    ];
    let total = &mut scores[1];
    total.note = Some("weight 0.1 of the log-perplexity".to_string());
    scores
}

/// Text against text, and how the energies go with it; of the first system.
fn texts() -> Vec<Score> {
    use Better::{Higher, Lower, Neither};
    let own = |metric: &str, value: f64, better| {
        let ends = Some((value - 0.05, value + 0.05, "samples", "jackknife"));
        Score {
            n: SAMPLES,
            ..score(GLIM.name, metric, value, ends, better)
        }
    };
    vec![
        own("bleu@1", 0.2112, Higher),
        own("bleu@4", 0.0612, Higher),
        own("rouge.1", 0.1812, Higher),
        own("rouge.1.precision", 0.2012, Higher),
        own("rouge.l", 0.1612, Higher),
        own("wer", 0.9312, Lower),
        own("etes.spearman(with=bleu)", -0.12, Neither),
        own("etes.pearson(with=bleu)", -0.15, Neither),
        own("etes.spearman(with=wer)", 0.08, Neither),
        own("etes.pearson(with=wer)", 0.07, Neither),
    ]
}

/// Triangles of eleven bins around the means.
fn histograms(of: &Energies) -> [Curve; 2] {
    let curve = |metric: &str, mean: f64| {
        let x: Vec<f64> = (0..200).map(|i| -0.995 + 0.01 * f64::from(i)).collect();
        let y = x
            .iter()
            .map(|x| (0.06 - (x - mean).abs()).max(0.0))
            .collect::<Vec<f64>>();
        let total: f64 = y.iter().sum();
        Curve {
            model: of.name.to_string(),
            metric: metric.into(),
            x_label: "energy".to_string(),
            y_label: "share of pairs".to_string(),
            x,
            y: y.iter().map(|y| y / total).collect(),
        }
    };
    [
        curve("etes.histogram", of.alignment),
        curve("etes.shuffled.histogram", of.shuffled),
    ]
}

fn bands(model: &str) -> Breakdown {
    let cuts = [-1.0, -0.8, -0.5, -0.2, 0.0, 1.0].map(Some);
    let samples = [0.0, 36.0, 255.0, 9.0, 0.0];
    Breakdown {
        model: model.to_string(),
        metric: "etes.bands".into(),
        keys: vec![names("band", &["excellent", "good", "fair", "weak", "poor"])],
        columns: vec![
            numbers("from", &cuts[..5]),
            numbers("to", &cuts[1..]),
            numbers("samples", &samples.map(Some)),
            numbers("share", &samples.map(|count| Some(count / 300.0))),
        ],
    }
}

/// Two subjects, and one of whom nothing is known.
fn groups() -> Breakdown {
    Breakdown {
        model: GLIM.name.to_string(),
        metric: "etes".into(),
        keys: vec![names("subject", &["ZDM", "ZKW", "ZAB"])],
        columns: vec![
            numbers("samples", &[Some(120.0), Some(0.0), Some(180.0)]),
            numbers("alignment", &[Some(-0.371), None, Some(-0.417)]),
            numbers("alignment_low", &[Some(-0.387), None, Some(-0.43)]),
            numbers("alignment_high", &[Some(-0.355), None, Some(-0.404)]),
            numbers("reference", &[Some(-0.41), None, Some(-0.425)]),
            numbers("gap", &[Some(0.039), None, Some(0.008)]),
            numbers("gap_low", &[Some(0.022), None, Some(-0.004)]),
            numbers("gap_high", &[Some(0.056), None, Some(0.02)]),
            numbers("win_rate", &[Some(0.35), None, Some(0.47)]),
            numbers("shuffled", &[Some(-0.36), None, Some(-0.362)]),
            numbers("z", &[Some(-1.2), None, Some(-9.9)]),
            numbers("auc", &[Some(0.541), None, Some(0.688)]),
            numbers("top@1", &[Some(0.025), None, Some(0.033)]),
        ],
    }
}

/// Four samples, the third with a zero vector.
fn samples(model: &str) -> SampleTable {
    let columns = [
        ("sample", [Some(0.0), Some(1.0), Some(2.0), Some(3.0)]),
        ("energy", [Some(-0.52), Some(-0.31), None, Some(0.015625)]),
        ("total", [Some(-0.47), Some(-0.26), None, Some(0.065)]),
        ("reference_energy", [Some(-0.5), Some(-0.41), None, Some(-0.125)]),
        ("gap", [Some(-0.02), Some(0.1), None, Some(0.140625)]),
        ("rank", [Some(1.0), Some(3.5), None, Some(4.0)]),
        ("band", [Some(1.0), Some(2.0), None, Some(4.0)]),
        ("bleu", [Some(0.25), Some(0.0), Some(0.0), None]),
    ];
    SampleTable {
        model: model.to_string(),
        metric: "etes".into(),
        columns: columns
            .iter()
            .map(|(name, values)| (name.to_string(), values.to_vec()))
            .collect(),
    }
}

/// The first system less the second.
pub(crate) fn difference(metric: &str, value: f64, reach: f64, p: f64, winner: Option<&str>) -> Difference {
    let better = if metric == "etes.auc" {
        Better::Higher
    } else {
        Better::Lower
    };
    Difference {
        interval: Some([value - reach, value + reach]),
        p: Some(p / 2.0),
        p_adjusted: Some(p),
        is_paired: true,
        unit: Some("samples".to_string()),
        units: SAMPLES,
        method: Some("paired over units, random signs".to_string()),
        winner: winner.map(str::to_string),
        ..Difference::new(metric, [GLIM.name, NUCLEUS.name], value, better, 0.95)
    }
}
