// SPDX-License-Identifier: MIT
//! Smoothness: steps of the inputs against steps of the embeddings, and how steep they are.

use super::models::{Group, Models, orientation, titled};
use super::spread::log_box;
use super::words::{description, notes, values};
use super::{NamedFigure, named};
use repscope_core::{Better, Results};
use repscope_figures::{Axis, BoxRow, Boxes, Cloud, Content, Figure, Fit, Panel, Scatter, number};

/// More clouds than this hide each other.
const MOST_OVERLAID: usize = 3;
/// Codes whose typical steps differ by more than this factor cannot share an axis.
const MOST_APART: f64 = 8.0;

const SLOPE: &str = "smoothness.slope";
const UNIT_SLOPE: &str = "smoothness.unit.slope";
const R2: &str = "smoothness.r2";
const RATIO: &str = "smoothness.ratio_median";
const DRAWN: [&str; 4] = [SLOPE, UNIT_SLOPE, R2, RATIO];

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let clouds = clouds(&models);
    if clouds.is_empty() && !models.have(|id| DRAWN.contains(&id.as_str())) {
        return Vec::new();
    }
    let mut panels = scatters(&models, &clouds);
    let columns = if panels.len() == 1 { 2 } else { 3 };
    panels.push(ratios(&models));
    let slopes = [Group::new("slope", UNIT_SLOPE)];
    panels.extend(models.bars("Slope on unit-length embeddings", Axis::linear("slope"), "", &slopes));
    let fits = [Group::new("R²", R2)];
    let share = Axis::linear("R²").covering(&[0.0, 1.0]);
    panels.extend(models.bars("Variance the line explains", share, "", &fits));

    let mut below = notes(results, |id| DRAWN.contains(&id.as_str()));
    below.push(
        "Slopes and ratios of embeddings as they are grow with the scale of the embeddings; those of unit-length embeddings can be \
         compared between models."
            .to_string(),
    );
    let figure = Figure {
        description: description([
            "Distances between consecutive inputs and between their embeddings.".to_string(),
            values(&models, "Slope of the fit line", SLOPE),
            values(&models, "Slope on unit-length embeddings", UNIT_SLOPE),
            values(&models, "R²", R2),
            values(&models, "Median ratio of embedding distance and input distance", RATIO),
        ]),
        panels,
        columns,
        series: models.series(),
        notes: below,
        ..Figure::default()
    };
    named("smoothness_analysis/smoothness_comparison", figure)
}

fn clouds(models: &Models) -> Vec<Cloud> {
    let cloud = |series: usize| {
        let column = |name: &str| models.samples(series, "smoothness", name).unwrap_or(&[]);
        let steps = column("input_distance").iter().zip(column("latent_distance"));
        let points = steps.filter_map(|(x, y)| Some([(*x)?, (*y)?]));
        let points: Vec<[f64; 2]> = points.filter(|p| p.iter().all(|x| x.is_finite())).collect();
        (!points.is_empty()).then_some(Cloud { series, points })
    };
    (0..models.names.len()).filter_map(cloud).collect()
}

/// One panel for a few models on a common scale, otherwise one for each.
fn scatters(models: &Models, clouds: &[Cloud]) -> Vec<Panel> {
    let title = "Steps of embeddings and inputs";
    let draw = |title: String, clouds: &[Cloud]| {
        let fits = clouds.iter().filter_map(|cloud| fit(models, cloud.series));
        let scatter = Scatter {
            x: Axis::linear("distance of consecutive inputs"),
            y: Axis::linear("distance of their embeddings").covering(&[0.0]),
            clouds: clouds.to_vec(),
            fits: fits.collect(),
            ..Scatter::default()
        };
        Panel::new(title, scatter)
    };
    if clouds.is_empty() {
        let why = "No points: the distances of the pairs are not among the results; they are in samples.npz beside \
                   results.json.";
        return vec![Panel::new(title, Content::Text(why.to_string()))];
    }
    if clouds.len() <= MOST_OVERLAID && is_one_scale(clouds) {
        return vec![draw(title.to_string(), clouds)];
    }
    clouds
        .iter()
        .map(|cloud| draw(models.name(cloud.series), std::slice::from_ref(cloud)))
        .collect()
}

fn fit(models: &Models, series: usize) -> Option<Fit> {
    let slope = models.value(series, SLOPE)?;
    let r2 = models.value(series, R2).map(|r2| format!(", R² {}", number(r2)));
    Some(Fit {
        series,
        slope,
        intercept: models.value(series, "smoothness.intercept")?,
        label: format!("slope {}{}", number(slope), r2.unwrap_or_default()),
    })
}

/// Whether the typical steps of all embeddings are of one size.
fn is_one_scale(clouds: &[Cloud]) -> bool {
    let typical = |cloud: &Cloud| {
        let mut steps: Vec<f64> = cloud.points.iter().map(|[_, step]| *step).collect();
        steps.sort_by(f64::total_cmp);
        steps[steps.len() / 2]
    };
    let sizes: Vec<f64> = clouds.iter().map(typical).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    sizes.iter().all(|size| size * MOST_APART >= largest)
}

fn ratios(models: &Models) -> Panel {
    let title = titled("Smoothness ratios", Better::Lower);
    let ratios: Vec<(usize, Vec<f64>)> = (0..models.names.len())
        .map(|series| (series, models.sampled(series, "ratio")))
        .filter(|(_, ratios)| !ratios.is_empty())
        .collect();
    if ratios.is_empty() {
        let median = models.bars(
            "Median smoothness ratio",
            Axis::log("embedding distance / input distance"),
            "",
            &[Group::new("median", RATIO)],
        );
        let why = "No ratios: the distances of the pairs are not among the results.".to_string();
        return median.unwrap_or_else(|| Panel::new(title, Content::Text(why)));
    }
    let still = ratios
        .iter()
        .flat_map(|(_, ratios)| ratios)
        .filter(|ratio| **ratio <= 0.0)
        .count();
    let boxes = Boxes {
        axis: Axis::log("embedding distance / input distance"),
        orientation: orientation(ratios.len()),
        rows: ratios
            .iter()
            .map(|(series, ratios)| BoxRow {
                series: *series,
                boxes: vec![log_box(ratios)],
            })
            .collect(),
        ..Boxes::default()
    };
    Panel::new(title, boxes).note(match still {
        0 => String::new(),
        1 => "1 ratio of 0 has no place on a log axis.".to_string(),
        _ => format!("{still} ratios of 0 have no place on a log axis."),
    })
}
