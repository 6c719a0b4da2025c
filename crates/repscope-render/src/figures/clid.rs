// SPDX-License-Identifier: MIT
//! CLID: cluster learnability and intrinsic dimension, and which score goes with the performance of the models.

use super::models::{MOST_UPRIGHT, Models, orientation, titled};
use super::spread::plain_box;
use super::words::{description, notes, values};
use super::{NamedFigure, named};
use crate::breakdowns::{self, cell, first_key};
use crate::numbers::{number, percent};
use crate::scores::sorted;
use crate::text::printable;
use repscope_core::{Better, MetricId, Results};
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
const RATES: [(&str, &str); 3] = [
    ("loss", "mcr2.total"),
    ("discriminative", "mcr2.discriminative"),
    ("compressive", "mcr2.compressive"),
];
const VIEWS: [(&str, &str); 2] = [("alignment", "alignment"), ("uniformity", "alignment.uniformity")];
/// Scores that one figure can compare with the performance; they come sorted by the strength of the correlation.
const MOST_SCORES: usize = 20;

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    [analysis(results), prediction(results)].concat()
}

fn analysis(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_drawn = |id: &MetricId| DRAWN.iter().any(|(metric, _)| *metric == id);
    if !models.have(is_drawn) {
        return Vec::new();
    }
    let from_zero = |label: &str| Axis::linear(label).covering(&[0.0]);
    let share = Axis::linear("share of rows learned").covering(&[0.0, 1.0]);
    let rates = models.bars("MCR²", from_zero("coding rate"), "", &RATES);
    // Names of three terms need the room of two columns below the bars of many models.
    let span = if models.names.len() > MOST_UPRIGHT { 2 } else { 1 };
    let panels = [
        models.bar("Cluster learnability CL", share, "clid.cl"),
        models.bar("Intrinsic dimension ID", from_zero("dimensions"), "clid.id"),
        models.bar("CLID", from_zero("CL + normalized ID"), "clid"),
        runs(&models),
        models.bar("Normalized ID", from_zero("normalized dimension"), "clid.id_normalized"),
        models.bar("Weighted CLID", from_zero("weighted sum"), "weighted_clid"),
        rates.map(|panel| panel.span(span)),
        models.bars("Two views", from_zero("mean distance; log mean kernel"), "", &VIEWS),
    ];
    let sentences = DRAWN.iter().map(|(metric, what)| values(&models, what, metric));
    let words = description("Cluster learnability and intrinsic dimension.", sentences);
    let below = notes(results, is_drawn).into_iter().chain(seeds(results)).collect();
    models.figure("clid/clid_analysis", 3, panels, words, below)
}

/// The learnability of every clustering and split.
fn runs(models: &Models) -> Option<Panel> {
    let rows = models.known(|series| {
        // Runs of embeddings whose learnability is undefined mean nothing.
        models.value(series, "clid.cl")?;
        let lines = models.results.breakdowns.iter();
        let lines = lines.filter(|b| b.metric == "clid.cl" && b.model == models.names[series]);
        let columns = lines.flat_map(|b| b.columns.iter().filter(|column| column.name == "cl"));
        let values: Vec<f64> = columns
            .flat_map(|column| column.values.iter().flatten().copied())
            .collect();
        // A box of one value would look like a spread of zero.
        let boxes = vec![plain_box(&values)];
        (values.len() > 1).then_some(BoxRow { series, boxes })
    });
    let boxes = Boxes {
        axis: Axis::linear("share of rows learned"),
        orientation: orientation(rows.len()),
        rows,
        ..Boxes::default()
    };
    (!boxes.rows.is_empty()).then(|| Panel::new(titled("CL by seed and split", Better::Higher), boxes))
}

/// The seeds of the clusterings.
fn seeds(results: &Results) -> Option<String> {
    let lines = results.breakdowns.iter().find(|b| b.metric == "clid.cl")?;
    let seeds = breakdowns::names(lines, "seed").iter();
    let numbers: Vec<u64> = sorted(seeds.filter_map(|seed| seed.parse().ok()));
    match numbers.as_slice() {
        [] => None,
        [seed] => Some(format!("Seed of the clustering: {seed}.")),
        [first, .., last] => Some(format!("Seeds of the clusterings: {first} to {last}.")),
    }
}

/// The rank correlation of each score with the performance of the models.
fn prediction(results: &Results) -> Vec<NamedFigure> {
    let Some(lines) = breakdowns::find(results, "", "performance") else {
        return Vec::new();
    };
    let scores = first_key(lines);
    let shown = scores.len().min(MOST_SCORES);
    let bar = |line: usize| Measured {
        value: cell(lines, "spearman", line),
        interval: cell(lines, "spearman_low", line).zip(cell(lines, "spearman_high", line)),
    };
    let correlations: Vec<Measured> = (0..shown).map(bar).collect();
    if correlations.iter().all(|bar| bar.value.is_none()) {
        return Vec::new();
    }
    let strongest = correlations[0].value.map(|rho| {
        let ends = correlations[0]
            .interval
            .map(|(low, high)| format!(" [{}, {}]", number(low), number(high)));
        let (score, ends) = (printable(&scores[0]), ends.unwrap_or_default());
        format!("The strongest is {score} with Spearman's ρ = {}{ends}.", number(rho))
    });
    let most = (0..shown)
        .filter_map(|line| cell(lines, "models", line))
        .fold(0.0, f64::max);
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
    let level = results.scores.iter().find_map(|score| score.level);
    let level = level.map_or("confidence".to_string(), percent);
    let mut below = vec![
        format!("Over {most} models. Error bars are {level} intervals."),
        "Below 0, lower scores go with a higher performance. Of many scores some correlate by chance: see the \
         adjusted p-values in the table."
            .to_string(),
    ];
    if scores.len() > shown {
        below.push(format!("The {shown} strongest of {} scores are shown.", scores.len()));
    }
    let head = format!(
        "How {} scores go with the performance of the models, by rank.",
        scores.len()
    );
    let figure = Figure {
        description: description(head, strongest),
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
