// SPDX-License-Identifier: MIT
//! Manifold dimension: how many dimensions there are, are used and are needed, and how the variance falls off.

use super::models::{Models, highlighted, measured};
use super::words::{description, notes, of_score, values};
use super::{NamedFigure, middle, spread};
use crate::samples::spectrum;
use repscope_core::{Better, MetricId, Results, Score};
use repscope_figures::{
    Axis, BarRow, Bars, Cell, Curve, CurvePoint, Lines, Measured, Panel, Reference, ReferenceAt, Table, number,
};

/// Dimensions that lie further apart than this factor need a log axis.
const MOST_APART: f64 = 20.0;
/// Eigenvalues below this share of the largest are rounding.
const ROUNDING: f64 = 1e-12;
/// The share of the variance that the table counts dimensions for.
const MOST_OF_VARIANCE: f64 = 0.95;

/// The dimensions at several scales, and those by likelihood from several neighbors.
const OF_SCALES: &str = "gride";
const OF_NEIGHBORS: &str = "mle_id";
const DRAWN: [&str; 4] = ["participation_ratio", "dimension_usage", "two_nn", "two_nn(fit=mle)"];

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let spectra: Vec<(usize, Vec<f64>)> = models.known(|series| {
        let spectrum = spectrum(models.results, models.names[series]);
        (!spectrum.is_empty()).then_some((series, spectrum))
    });
    let is_drawn = |id: &MetricId| DRAWN.contains(&id.as_str()) || [OF_SCALES, OF_NEIGHBORS].contains(&id.measure());
    if spectra.is_empty() && !models.have(is_drawn) {
        return Vec::new();
    }
    let from_zero = || Axis::linear("dimensions").covering(&[0.0]);
    let share = Axis::linear("participation ratio / D").covering(&[0.0, 1.0]);
    let two_nn = [("linear fit", "two_nn"), ("likelihood", "two_nn(fit=mle)")];
    let panels = [
        dimensions(&models),
        models.bar("Participation ratio", from_zero(), "participation_ratio"),
        models.bar("Dimension usage", share, "dimension_usage"),
        models.bars("Intrinsic dimension (TwoNN)", from_zero(), "", &two_nn),
        eigenvalues(&spectra),
        cumulative(&spectra),
        over_scales(&models),
        by_likelihood(&models),
        around_samples(&models),
        Some(table(&models, &spectra).span(3)),
    ];
    let sentences = [
        ("Participation ratio", "participation_ratio"),
        ("Intrinsic dimension by TwoNN", "two_nn"),
        (
            "Participation ratio divided by the number of dimensions",
            "dimension_usage",
        ),
    ];
    let mut sentences = sentences.map(|(what, metric)| values(&models, what, metric)).to_vec();
    let levels = models.levels(&[OF_SCALES]);
    let sentence = |k: &String| {
        values(
            &models,
            &format!("Intrinsic dimension by Gride at K = {k}"),
            &format!("gride@{k}"),
        )
    };
    sentences.extend(levels.iter().map(sentence));
    let words = description("How many dimensions the embeddings have, use and need.", sentences);
    let path = "manifold_dimension/manifold_dimension_analysis";
    models.figure(path, 3, panels, words, notes(results, is_drawn))
}

/// The dimension at each scale of Gride.
fn over_scales(models: &Models) -> Option<Panel> {
    let levels = models.levels(&[OF_SCALES]);
    let curves = models.curves(OF_SCALES, &levels);
    let is_known = |curve: &Curve| curve.points.iter().any(|point| point.y.is_some());
    let lines = Lines {
        x: Axis::log("neighbors K"),
        y: Axis::linear("dimensions").covering(&[0.0]),
        curves: highlighted(curves, Better::Neither),
        ..Lines::default()
    };
    let note = "From the distances to neighbors K/2 and K: a larger K is a larger scale.";
    (levels.len() > 1 && lines.curves.iter().any(is_known))
        .then(|| Panel::new("Intrinsic dimension over scales (Gride)", lines).note(note))
}

/// The dimension by maximum likelihood from neighbors, over both normalizers.
fn by_likelihood(models: &Models) -> Option<Panel> {
    let levels = models.levels(&[OF_NEIGHBORS]);
    let k = middle(&levels)?;
    let groups = [
        ("K − 1", format!("mle_id@{k}")),
        ("K − 2", format!("mle_id(normalizer=k-2)@{k}")),
    ];
    let title = format!("Intrinsic dimension (MLE, K = {k})");
    models.bars(
        &title,
        Axis::linear("dimensions").covering(&[0.0]),
        "divided by",
        &groups,
    )
}

/// The dimension around single samples.
fn around_samples(models: &Models) -> Option<Panel> {
    let levels = models.levels(&[OF_NEIGHBORS]);
    let k = middle(&levels)?;
    let content = spread::of_models(models, &format!("mle_id@{k}"), "dimension around a sample")?;
    Some(Panel::new(
        format!("Intrinsic dimension of single samples, K = {k}"),
        content,
    ))
}

/// The number of columns of the embeddings: the participation ratio over the share of the columns that it is.
fn nominal(models: &Models, series: usize) -> Option<f64> {
    let ratio = models.value(series, "participation_ratio")? / models.value(series, "dimension_usage")?;
    Some(ratio.round()).filter(|d| d.is_finite())
}

/// Dimensions there are, used and needed, side by side.
fn dimensions(models: &Models) -> Option<Panel> {
    let rows: Vec<BarRow> = models.known(|series| {
        let nominal = Measured {
            value: nominal(models, series),
            interval: None,
        };
        let [ratio, two_nn] = ["participation_ratio", "two_nn"].map(|id| measured(models.score(series, id)));
        let bars = vec![nominal, ratio, two_nn];
        let is_known = bars.iter().any(|bar| bar.value.is_some());
        is_known.then_some(BarRow { series, bars })
    });
    let known = || rows.iter().flat_map(|row| row.bars.iter().filter_map(|bar| bar.value));
    if known().next().is_none() {
        return models.bar(
            "Number of dimensions",
            Axis::linear("dimensions"),
            "participation_ratio",
        );
    }
    let (low, high) = (known().fold(f64::MAX, f64::min), known().fold(0.0, f64::max));
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
    Some(Panel::new("Number of dimensions", models.arranged(bars, Better::Neither)).note(note))
}

/// The spectra on a log axis, without what is mere rounding.
fn eigenvalues(spectra: &[(usize, Vec<f64>)]) -> Option<Panel> {
    let kept = |values: &[f64]| {
        let floor = ROUNDING * values[0];
        values
            .iter()
            .take_while(|value| **value > floor && **value > 0.0)
            .count()
    };
    let left_out: usize = spectra.iter().map(|(_, values)| values.len() - kept(values)).sum();
    let drawn = spectra.iter().filter(|(_, values)| kept(values) > 0);
    let lines = Lines {
        x: Axis::linear("eigenvalue number"),
        y: Axis::log("eigenvalue"),
        curves: highlighted(
            drawn
                .map(|(series, values)| curve_of(*series, &values[..kept(values)]))
                .collect(),
            Better::Neither,
        ),
        ..Lines::default()
    };
    let note = match left_out {
        0 => String::new(),
        1 => "1 eigenvalue below 10⁻¹² of the largest is not drawn.".to_string(),
        _ => format!("{left_out} eigenvalues below 10⁻¹² of the largest are not drawn."),
    };
    (!lines.curves.is_empty()).then(|| Panel::new("Eigenvalue spectra", lines).note(note))
}

/// How much of the variance the first dimensions hold.
fn cumulative(spectra: &[(usize, Vec<f64>)]) -> Option<Panel> {
    let curves = spectra
        .iter()
        .filter_map(|(series, values)| Some(curve_of(*series, &shares(values)?)));
    let lines = Lines {
        x: Axis::linear("number of dimensions"),
        y: Axis::linear("share of the variance").covering(&[0.0, 1.0]),
        curves: highlighted(curves.collect(), Better::Neither),
        references: vec![Reference::new(ReferenceAt::Horizontal(MOST_OF_VARIANCE), "95 %")],
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

fn curve_of(series: usize, values: &[f64]) -> Curve {
    let point = |(i, y): (usize, &f64)| CurvePoint {
        x: (i + 1) as f64,
        y: Some(*y),
        band: None,
    };
    Curve {
        series,
        points: values.iter().enumerate().map(point).collect(),
        ..Curve::default()
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
        let score = |id: &str| models.score(series, id);
        let spectrum = spectra.iter().find(|(s, _)| *s == series).map(|(_, spectrum)| spectrum);
        // A sum of shares may miss 1 by rounding, so the last dimension always counts as enough.
        let enough = |shares: Vec<f64>| shares.iter().take_while(|share| **share < MOST_OF_VARIANCE).count() + 1;
        let enough = spectrum.and_then(|spectrum| shares(spectrum)).map(enough);
        let usage = models.value(series, "dimension_usage");
        let counted = score("participation_ratio").or_else(|| score("two_nn"));
        let largest = spectrum.and_then(|spectrum| spectrum.first());
        let cells = [
            nominal(models, series).map(|d| d.to_string()),
            score("participation_ratio").and_then(with_interval),
            usage.map(|share| format!("{:.1} %", share * 100.0)),
            score("two_nn").and_then(with_interval),
            enough.map(|count| count.to_string()),
            largest.map(|largest| number(*largest)),
            counted.map(|score| score.n.to_string()),
        ];
        let is_known = cells.iter().any(Option::is_some);
        let all = std::iter::once(models.name(series)).chain(cells.into_iter().map(Option::unwrap_or_default));
        is_known.then(|| all.map(Cell::from).collect())
    };
    let table = Table {
        header: header.map(str::to_string).to_vec(),
        rows: models.known(row),
    };
    Panel::new("Summary", table)
}

fn with_interval(score: &Score) -> Option<String> {
    match score.interval {
        Some(_) => of_score(score),
        None => Some(number(score.value?)),
    }
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
