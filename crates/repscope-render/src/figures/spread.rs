// SPDX-License-Identifier: MIT
//! Many values of one kind: boxes on a log axis, and histograms or boxes side by side.

use super::models::{Models, orientation};
use repscope_figures::{Axis, Bins, BoxRow, BoxSummary, Boxes, Content, Histogram, bin_edges, bin_shares};

/// Histograms of more models than this hide each other.
const MOST_OVERLAID: usize = 3;
/// Values beyond the whiskers that a box keeps: enough to see where they lie, and small files.
const MOST_OUTLIERS: usize = 120;

/// A box whose whiskers reach 1.5 interquartile ranges of the logarithms: on a log axis, fences of plain differences
/// would call the whole upper tail outliers, and nothing below. Values that are not positive are left out.
pub(super) fn log_box(values: &[f64]) -> Option<BoxSummary> {
    let positive: Vec<f64> = values.iter().copied().filter(|x| *x > 0.0).collect();
    let plain = BoxSummary::of(&positive)?;
    let reach = (plain.q3 / plain.q1).powf(1.5);
    let (low_fence, high_fence) = (plain.q1 / reach, plain.q3 * reach);
    let is_inside = |x: &f64| (low_fence..=high_fence).contains(x);
    let inside = || positive.iter().copied().filter(is_inside);
    let outliers = positive.iter().copied().filter(|x| !is_inside(x)).collect();
    Some(thinned(BoxSummary {
        low: inside().fold(plain.q1, f64::min),
        high: inside().fold(plain.q3, f64::max),
        outliers,
        ..plain
    }))
}

/// A box on an axis with equal steps.
pub(super) fn plain_box(values: &[f64]) -> Option<BoxSummary> {
    BoxSummary::of(values).map(thinned)
}

/// The same box with fewer outliers: the outermost ones, and others evenly between them by rank.
fn thinned(mut summary: BoxSummary) -> BoxSummary {
    let all = &mut summary.outliers;
    all.sort_by(f64::total_cmp);
    if all.len() > MOST_OUTLIERS {
        let last = all.len() - 1;
        *all = (0..MOST_OUTLIERS)
            .map(|i| all[i * last / (MOST_OUTLIERS - 1)])
            .collect();
    }
    summary
}

/// How the values of each model are spread: histograms for a few models, boxes for more. `None` without values.
pub(super) fn of_models(models: &Models, column: &str, label: &str) -> Option<Content> {
    let known: Vec<(usize, Vec<f64>)> =
        models.known(|series| Some((series, models.sampled(series, column))).filter(|(_, values)| !values.is_empty()));
    if known.is_empty() {
        return None;
    }
    if known.len() > MOST_OVERLAID {
        let row = |(series, values): &(usize, Vec<f64>)| BoxRow {
            series: *series,
            boxes: vec![plain_box(values)],
        };
        return Some(Content::Boxes(Boxes {
            axis: Axis::linear(label),
            orientation: orientation(known.len()),
            rows: known.iter().map(row).collect(),
            ..Boxes::default()
        }));
    }
    let edges = bin_edges(&known.iter().map(|(_, values)| values.as_slice()).collect::<Vec<_>>());
    let bins = |(series, values): &(usize, Vec<f64>)| Bins {
        series: *series,
        heights: bin_shares(&edges, values),
        edges: edges.clone(),
        ..Bins::default()
    };
    Some(Content::Histogram(Histogram {
        x: Axis::linear(label),
        y: Axis::linear("share of samples").covering(&[0.0]),
        series: known.iter().map(bins).collect(),
        ..Histogram::default()
    }))
}
