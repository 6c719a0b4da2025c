// SPDX-License-Identifier: MIT
//! Smoothness: steps of the inputs against steps of the embeddings, and how steep they are.

use super::NamedFigure;
use super::models::{MOST_BARS, Models, orientation, titled};
use super::spread::log_box;
use super::words::{description, notes, values};
use repscope_core::{Better, MetricId, Results};
use repscope_figures::{Axis, BoxRow, Boxes, Cloud, Content, Fit, Panel, Scatter, number};

/// More clouds than this hide each other.
const MOST_OVERLAID: usize = 3;
/// Embeddings whose typical steps differ by more than this factor cannot share an axis.
const MOST_APART: f64 = 8.0;

const SLOPE: &str = "smoothness.slope";
const UNIT_SLOPE: &str = "smoothness.unit.slope";
const R2: &str = "smoothness.r2";
const RATIO: &str = "smoothness.ratio_median";
const DRAWN: [(&str, &str); 4] = [
    (SLOPE, "Slope of the fit line"),
    (UNIT_SLOPE, "Slope on unit-length embeddings"),
    (R2, "R²"),
    (RATIO, "Median ratio of embedding distance and input distance"),
];

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let clouds = clouds(&models);
    let is_drawn = |id: &MetricId| DRAWN.iter().any(|(metric, _)| *metric == id);
    if clouds.is_empty() && !models.have(is_drawn) {
        return Vec::new();
    }
    let mut panels = scatters(&models, &clouds);
    let columns = if panels.len() == 1 { 2 } else { 3 };
    panels.push(ratios(&models));
    let share = Axis::linear("R²").covering(&[0.0, 1.0]);
    panels.extend(models.bar("Slope on unit-length embeddings", Axis::linear("slope"), UNIT_SLOPE));
    panels.extend(models.bar("Variance the line explains", share, R2));

    let mut below = notes(results, is_drawn);
    below.push(
        "Slopes and ratios of embeddings as they are grow with the scale of the embeddings; those of unit-length embeddings can be \
         compared between models."
            .to_string(),
    );
    let sentences = DRAWN.map(|(metric, what)| values(&models, what, metric));
    let words = description(
        "Distances between consecutive inputs and between their embeddings.",
        sentences,
    );
    models.figure(
        "smoothness_analysis/smoothness_comparison",
        columns,
        panels,
        words,
        below,
    )
}

fn clouds(models: &Models) -> Vec<Cloud> {
    models.known(|series| {
        let column = |name: &str| models.samples(series, "smoothness", name).unwrap_or(&[]);
        let steps = column("input_distance").iter().zip(column("latent_distance"));
        let points = steps.filter_map(|(x, y)| Some([(*x)?, (*y)?]));
        let points: Vec<[f64; 2]> = points.filter(|p| p.iter().all(|x| x.is_finite())).collect();
        (!points.is_empty()).then_some(Cloud { series, points })
    })
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
    let alone = |cloud: &Cloud| draw(models.name(cloud.series), std::slice::from_ref(cloud));
    if clouds.len() <= MOST_BARS {
        return clouds.iter().map(alone).collect();
    }
    // Of many models the smoothest, the middle and the least smooth show what the slopes mean.
    let slope = |cloud: &Cloud| models.value(cloud.series, UNIT_SLOPE).unwrap_or(f64::INFINITY);
    let mut order: Vec<&Cloud> = clouds.iter().collect();
    order.sort_by(|a, b| slope(a).total_cmp(&slope(b)));
    let last = order.len() - 1;
    let shown = [("lowest", 0), ("middle", last / 2), ("highest", last)];
    let panel = |(rank, at): (&str, usize)| {
        let note = format!("The {rank} slope on unit-length embeddings of {} models.", clouds.len());
        alone(order[at]).note(note)
    };
    shown.map(panel).to_vec()
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
    let ratios = models.known(|series| Some((series, models.sampled(series, "ratio"))).filter(|(_, r)| !r.is_empty()));
    let axis = Axis::log("embedding distance / input distance");
    if ratios.is_empty() {
        let why = "No ratios: the distances of the pairs are not among the results.".to_string();
        let median = models.bar("Median smoothness ratio", axis, RATIO);
        return median.unwrap_or_else(|| Panel::new(title, Content::Text(why)));
    }
    let still = ratios
        .iter()
        .flat_map(|(_, ratios)| ratios)
        .filter(|ratio| **ratio <= 0.0)
        .count();
    let row = |(series, ratios): &(usize, Vec<f64>)| BoxRow {
        series: *series,
        boxes: vec![log_box(ratios)],
    };
    let boxes = Boxes {
        axis,
        orientation: orientation(ratios.len()),
        rows: ratios.iter().map(row).collect(),
        ..Boxes::default()
    };
    Panel::new(title, boxes).note(match still {
        0 => String::new(),
        1 => "1 ratio of 0 has no place on a log axis.".to_string(),
        _ => format!("{still} ratios of 0 have no place on a log axis."),
    })
}
