// SPDX-License-Identifier: MIT
//! Manifold dimension: how many dimensions there are, are used and are needed, and how the variance falls off.

use super::models::{Group, Models};
use super::words::{description, notes, typeset, values};
use super::{NamedFigure, named};
use crate::numbers::number_with_interval;
use repscope_core::{Results, Score};
use repscope_figures::{
    Axis, BarRow, Bars, Cell, Curve, CurvePoint, Figure, Lines, Measured, Panel, Reference, ReferenceAt, Table, number,
};

/// Dimensions that lie further apart than this factor need a log axis.
const MOST_APART: f64 = 20.0;
/// Eigenvalues below this share of the largest are rounding.
const ROUNDING: f64 = 1e-12;
/// The share of the variance that the table counts dimensions for.
const MOST_OF_VARIANCE: f64 = 0.95;

const DRAWN: [&str; 4] = ["participation_ratio", "dimension_usage", "two_nn", "two_nn(fit=mle)"];

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let spectra: Vec<(usize, Vec<f64>)> = (0..models.names.len())
        .map(|series| (series, spectrum(&models, series)))
        .filter(|(_, spectrum)| !spectrum.is_empty())
        .collect();
    if spectra.is_empty() && !models.have(|id| DRAWN.contains(&id.as_str())) {
        return Vec::new();
    }
    let from_zero = || Axis::linear("dimensions").covering(&[0.0]);
    let share = Axis::linear("participation ratio / D").covering(&[0.0, 1.0]);
    let two_nn = [
        Group::new("linear fit", "two_nn"),
        Group::new("likelihood", "two_nn(fit=mle)"),
    ];
    let panels = [
        dimensions(&models),
        models.bars(
            "Participation ratio",
            from_zero(),
            "",
            &[Group::new("", "participation_ratio")],
        ),
        models.bars("Dimension usage", share, "", &[Group::new("", "dimension_usage")]),
        models.bars("Intrinsic dimension (TwoNN)", from_zero(), "", &two_nn),
        eigenvalues(&spectra),
        cumulative(&spectra),
        Some(table(&models, &spectra).span(3)),
    ];
    let figure = Figure {
        description: description([
            "How many dimensions the embeddings have, use and need.".to_string(),
            values(&models, "Participation ratio", "participation_ratio"),
            values(&models, "Intrinsic dimension by TwoNN", "two_nn"),
            values(
                &models,
                "Participation ratio divided by the number of dimensions",
                "dimension_usage",
            ),
        ]),
        panels: panels.into_iter().flatten().collect(),
        columns: 3,
        series: models.series(),
        notes: notes(results, |id| DRAWN.contains(&id.as_str())),
        ..Figure::default()
    };
    named("manifold_dimension/manifold_dimension_analysis", figure)
}

/// The eigenvalues of a model, largest first.
fn spectrum(models: &Models, series: usize) -> Vec<f64> {
    let mut curves = models.results.curves.iter();
    let curve = curves.find(|curve| curve.model == models.names[series] && curve.metric == "spectrum");
    let values = curve.map_or(&[][..], |curve| &curve.y);
    let mut values: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// The number of columns of the embeddings: the participation ratio over the share of the columns that it is.
fn nominal(models: &Models, series: usize) -> Option<f64> {
    let ratio = models.value(series, "participation_ratio")? / models.value(series, "dimension_usage")?;
    Some(ratio.round()).filter(|d| d.is_finite())
}

/// Dimensions there are, used and needed, side by side.
fn dimensions(models: &Models) -> Option<Panel> {
    let score = |series: usize, id: &str| models.results.score(models.names[series], id);
    let of = |score: Option<&Score>| score.map(super::models::measured).unwrap_or_default();
    let row = |series: usize| {
        let nominal = Measured {
            value: nominal(models, series),
            interval: None,
        };
        let bars = vec![
            nominal,
            of(score(series, "participation_ratio")),
            of(score(series, "two_nn")),
        ];
        bars.iter()
            .any(|bar| bar.value.is_some())
            .then_some(BarRow { series, bars })
    };
    let rows: Vec<BarRow> = (0..models.names.len()).filter_map(row).collect();
    let known: Vec<f64> = rows
        .iter()
        .flat_map(|row| row.bars.iter().filter_map(|bar| bar.value))
        .collect();
    if known.is_empty() {
        let ratio = [Group::new("participation ratio", "participation_ratio")];
        return models.bars("Number of dimensions", Axis::linear("dimensions"), "", &ratio);
    }
    let (low, high) = known
        .iter()
        .fold((f64::MAX, 0.0f64), |(l, h), x| (l.min(*x), h.max(*x)));
    let axis = if low > 0.0 && high / low > MOST_APART {
        Axis::log("dimensions").covering(&[1.0])
    } else {
        Axis::linear("dimensions").covering(&[0.0])
    };
    let bars = Bars {
        axis,
        categories: ["D", "PR", "TwoNN"].map(str::to_string).to_vec(),
        rows,
        ..Bars::default()
    };
    let note = "D: columns of the embeddings. PR: participation ratio.";
    Some(Panel::new("Number of dimensions", bars).note(note))
}

/// The spectra on a log axis, without what is mere rounding.
fn eigenvalues(spectra: &[(usize, Vec<f64>)]) -> Option<Panel> {
    let mut left_out = 0;
    let curve = |(series, values): &(usize, Vec<f64>)| {
        let floor = ROUNDING * values[0];
        let kept = values
            .iter()
            .take_while(|value| **value > floor && **value > 0.0)
            .count();
        left_out += values.len() - kept;
        curve(*series, values[..kept].iter().copied())
    };
    let curves: Vec<Curve> = spectra
        .iter()
        .map(curve)
        .filter(|curve| !curve.points.is_empty())
        .collect();
    if curves.is_empty() {
        return None;
    }
    let lines = Lines {
        x: Axis::linear("eigenvalue number"),
        y: Axis::log("eigenvalue"),
        curves,
        ..Lines::default()
    };
    Some(Panel::new("Eigenvalue spectra", lines).note(match left_out {
        0 => String::new(),
        1 => "1 eigenvalue below 10⁻¹² of the largest is not drawn.".to_string(),
        _ => format!("{left_out} eigenvalues below 10⁻¹² of the largest are not drawn."),
    }))
}

/// How much of the variance the first dimensions hold.
fn cumulative(spectra: &[(usize, Vec<f64>)]) -> Option<Panel> {
    let curves = spectra
        .iter()
        .filter_map(|(series, values)| Some(curve(*series, shares(values)?.into_iter())));
    let curves: Vec<Curve> = curves.collect();
    let lines = Lines {
        x: Axis::linear("number of dimensions"),
        y: Axis::linear("share of the variance").covering(&[0.0, 1.0]),
        curves,
        references: vec![Reference {
            at: ReferenceAt::Horizontal(MOST_OF_VARIANCE),
            label: "95 %".to_string(),
            series: None,
        }],
    };
    (!lines.curves.is_empty()).then(|| Panel::new("Cumulative variance", lines))
}

/// The share of the variance in the first dimension, the first two, and so on.
fn shares(spectrum: &[f64]) -> Option<Vec<f64>> {
    let total: f64 = spectrum.iter().sum();
    let mut sum = 0.0;
    (total > 0.0).then(|| {
        let add = |value: &f64| {
            sum += value;
            sum / total
        };
        spectrum.iter().map(add).collect()
    })
}

fn curve(series: usize, values: impl Iterator<Item = f64>) -> Curve {
    let point = |(i, y): (usize, f64)| CurvePoint {
        x: (i + 1) as f64,
        y: Some(y),
        band: None,
    };
    Curve {
        series,
        points: values.enumerate().map(point).collect(),
    }
}

/// A row per model, because there are few numbers and may be many models.
fn table(models: &Models, spectra: &[(usize, Vec<f64>)]) -> Panel {
    let header = [
        "model",
        "D",
        "participation ratio",
        "usage",
        "TwoNN",
        "dimensions for 95 %",
        "largest eigenvalue",
        "N",
    ];
    let row = |series: usize| {
        let score = |id: &str| models.results.score(models.names[series], id);
        let spectrum = spectra.iter().find(|(s, _)| *s == series).map(|(_, spectrum)| spectrum);
        // A sum of shares may miss 1 by rounding, so the last dimension always counts as enough.
        let enough = |shares: Vec<f64>| shares.iter().take_while(|share| **share < MOST_OF_VARIANCE).count() + 1;
        let enough = spectrum.and_then(|spectrum| shares(spectrum)).map(enough);
        let usage = score("dimension_usage").and_then(|score| score.value);
        let n = ["participation_ratio", "two_nn"]
            .iter()
            .find_map(|id| score(id))
            .map(|score| score.n);
        let cells = [
            nominal(models, series).map(|d| d.to_string()),
            score("participation_ratio").and_then(with_interval),
            usage.map(|share| format!("{:.1} %", share * 100.0)),
            score("two_nn").and_then(with_interval),
            enough.map(|count| count.to_string()),
            spectrum
                .and_then(|spectrum| spectrum.first())
                .map(|largest| number(*largest)),
            n.map(|n| n.to_string()),
        ];
        let is_known = cells.iter().any(Option::is_some);
        let all = std::iter::once(models.name(series)).chain(cells.into_iter().map(Option::unwrap_or_default));
        is_known.then(|| all.map(Cell::from).collect())
    };
    let table = Table {
        header: header.map(str::to_string).to_vec(),
        rows: (0..models.names.len()).filter_map(row).collect(),
    };
    Panel::new("Summary", table)
}

fn with_interval(score: &Score) -> Option<String> {
    let (value, interval) = (score.value?, score.interval);
    Some(match interval {
        Some(interval) => {
            let (value, interval) = number_with_interval(value, interval);
            typeset(&format!("{value} {interval}"))
        }
        None => number(value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_the_spectrum() {
        assert_eq!(shares(&[6.0, 3.0, 1.0]), Some(vec![0.6, 0.9, 1.0]));
        assert_eq!(shares(&[0.0, 0.0]), None);
    }
}
