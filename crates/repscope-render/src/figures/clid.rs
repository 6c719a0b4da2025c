// SPDX-License-Identifier: MIT
//! CLID: cluster learnability and intrinsic dimension, and which score goes with the performance of the models.

use super::models::{Group, MOST_UPRIGHT, Models, orientation, titled};
use super::spread::plain_box;
use super::words::{description, notes, values};
use super::{NamedFigure, named};
use crate::numbers::{number, percent};
use crate::text::printable;
use repscope_core::{Better, Breakdown, MetricId, Results};
use repscope_figures::{Axis, BarRow, Bars, BarsLook, BoxRow, Boxes, Figure, Legend, Measured, Orientation, Panel};

const DRAWN: [(&str, &str); 10] = [
    ("clid.cl", "Cluster learnability"),
    ("clid.id", "Intrinsic dimension"),
    ("clid.id_normalized", "Normalized intrinsic dimension"),
    ("clid", "CLID"),
    ("weighted_clid", "Weighted CLID"),
    ("mcr2.total", "MCR² loss"),
    ("mcr2.discriminative", "MCR² discriminative term"),
    ("mcr2.compressive", "MCR² compressive term"),
    ("alignment", "Alignment of two views"),
    ("alignment.uniformity", "Uniformity of both views"),
];
/// Scores that one figure can compare with the performance; they come sorted by the strength of the correlation.
const MOST_SCORES: usize = 20;

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let mut figures = analysis(results);
    figures.extend(prediction(results));
    figures
}

fn analysis(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = |id: &MetricId| DRAWN.iter().any(|(metric, _)| *metric == id);
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let one = |metric: &str| [Group::new("", metric)];
    let from_zero = |label: &str| Axis::linear(label).covering(&[0.0]);
    let share = Axis::linear("share of rows learnt").covering(&[0.0, 1.0]);
    let rates = [
        Group::new("loss", "mcr2.total"),
        Group::new("discriminative", "mcr2.discriminative"),
        Group::new("compressive", "mcr2.compressive"),
    ];
    let views = [
        Group::new("alignment", "alignment"),
        Group::new("uniformity", "alignment.uniformity"),
    ];
    let panels = [
        models.bars("Cluster learnability CL", share, "", &one("clid.cl")),
        models.bars("Intrinsic dimension ID", from_zero("dimensions"), "", &one("clid.id")),
        models.bars("CLID", from_zero("CL + normalized ID"), "", &one("clid")),
        runs(&models),
        models.bars(
            "Normalized ID",
            from_zero("normalized dimension"),
            "",
            &one("clid.id_normalized"),
        ),
        models.bars("Weighted CLID", from_zero("weighted sum"), "", &one("weighted_clid")),
        // Names of three terms need the room of two columns below the bars of many models.
        models
            .bars("MCR²", from_zero("coding rate"), "", &rates)
            .map(|panel| match models.names.len() {
                0..=MOST_UPRIGHT => panel,
                _ => panel.span(2),
            }),
        models.bars("Two views", from_zero("mean distance; log mean kernel"), "", &views),
    ];
    let mut sentences = vec!["Cluster learnability and intrinsic dimension.".to_string()];
    sentences.extend(DRAWN.iter().map(|(metric, what)| values(&models, what, metric)));
    let mut below = notes(results, is_drawn);
    below.extend(seeds(results));
    let figure = Figure {
        description: description(sentences),
        panels: panels.into_iter().flatten().collect(),
        columns: 3,
        series: models.series(),
        notes: below,
        ..Figure::default()
    };
    named("clid/clid_analysis", figure)
}

/// The learnability of every clustering and split.
fn runs(models: &Models) -> Option<Panel> {
    let row = |series: usize| {
        // Runs of embeddings whose learnability is undefined mean nothing.
        models.value(series, "clid.cl")?;
        let lines = models.results.breakdowns.iter();
        let lines = lines.filter(|b| b.metric == "clid.cl" && b.model == models.names[series]);
        let columns = lines.flat_map(|b| b.columns.iter().filter(|column| column.name == "cl"));
        let values: Vec<f64> = columns
            .flat_map(|column| column.values.iter().flatten().copied())
            .collect();
        // A box of one value would look like a spread of zero.
        (values.len() > 1).then(|| BoxRow {
            series,
            boxes: vec![plain_box(&values)],
        })
    };
    let rows: Vec<BoxRow> = (0..models.names.len()).filter_map(row).collect();
    let boxes = Boxes {
        axis: Axis::linear("share of rows learnt"),
        orientation: orientation(rows.len()),
        rows,
        ..Boxes::default()
    };
    (!boxes.rows.is_empty()).then(|| Panel::new(titled("CL by seed and split", Better::Higher), boxes))
}

/// The seeds of the clusterings.
fn seeds(results: &Results) -> Option<String> {
    let lines = results.breakdowns.iter().find(|b| b.metric == "clid.cl")?;
    let seeds = lines.keys.iter().find(|key| key.name == "seed")?;
    let mut numbers: Vec<u64> = seeds.values.iter().filter_map(|seed| seed.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    match numbers.as_slice() {
        [] => None,
        [seed] => Some(format!("Seed of the clustering: {seed}.")),
        [first, .., last] => Some(format!("Seeds of the clusterings: {first} to {last}.")),
    }
}

/// The rank correlation of each score with the performance of the models.
fn prediction(results: &Results) -> Vec<NamedFigure> {
    let mut breakdowns = results.breakdowns.iter();
    let Some(lines) = breakdowns.find(|b| b.metric == "performance" && b.model.is_empty()) else {
        return Vec::new();
    };
    let scores = lines.keys.first().map_or(&[][..], |key| &key.values);
    let shown = scores.len().min(MOST_SCORES);
    let bar = |line: usize| Measured {
        value: value(lines, "spearman", line),
        interval: value(lines, "spearman_low", line).zip(value(lines, "spearman_high", line)),
    };
    let correlations: Vec<Measured> = (0..shown).map(bar).collect();
    if correlations.iter().all(|bar| bar.value.is_none()) {
        return Vec::new();
    }
    let strongest = scores.first().zip(value(lines, "spearman", 0));
    let strongest = strongest.map(|(score, rho)| {
        let ends = value(lines, "spearman_low", 0).zip(value(lines, "spearman_high", 0));
        let ends = ends.map(|(low, high)| format!(" [{}, {}]", number(low), number(high)));
        let ends = ends.unwrap_or_default();
        format!(
            "The strongest is {} with Spearman's ρ = {}{ends}.",
            printable(score),
            number(rho)
        )
    });
    let counts: Vec<f64> = (0..shown).filter_map(|line| value(lines, "models", line)).collect();
    let most = counts.iter().copied().fold(0.0, f64::max);
    let bars = Bars {
        axis: Axis::linear("Spearman's rank correlation with the performance").covering(&[-1.0, 1.0]),
        orientation: Orientation::Horizontal,
        categories: scores[..shown].iter().map(|score| printable(score)).collect(),
        rows: vec![BarRow {
            series: 0,
            bars: correlations,
        }],
        look: BarsLook::Points,
        ..Bars::default()
    };
    let mut below = vec![
        match results.scores.iter().find_map(|score| score.level) {
            Some(level) => format!("Over {most} models. Error bars are {} intervals.", percent(level)),
            None => format!("Over {most} models. Error bars are confidence intervals."),
        },
        "Below 0, lower scores go with a higher performance. Of many scores some correlate by chance: see the \
         adjusted p-values in the table."
            .to_string(),
    ];
    if scores.len() > shown {
        below.push(format!("The {shown} strongest of {} scores are shown.", scores.len()));
    }
    let figure = Figure {
        description: description([
            format!(
                "How {} scores go with the performance of the models, by rank.",
                scores.len()
            ),
            strongest.unwrap_or_default(),
        ]),
        panels: vec![Panel::new("", bars)],
        columns: 1,
        series: vec!["Spearman's ρ".to_string()],
        // The axis names the only series.
        legend: Legend::Hidden,
        notes: below,
        ..Figure::default()
    };
    named("clid/clid_prediction", figure)
}

fn value(lines: &Breakdown, column: &str, line: usize) -> Option<f64> {
    let column = lines.columns.iter().find(|c| c.name == column)?;
    column.values.get(line).copied().flatten()
}
