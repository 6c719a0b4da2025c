// SPDX-License-Identifier: MIT
//! Overlaid histograms, and the bins they share.

use super::scatter::nothing;
use super::words;
use crate::content::{Bins, BinsLook, Histogram, Orientation};
use crate::figure::Scale;
use crate::palette::hex;
use crate::plan::{AxisPlan, Frame, Plan, Scene, Shown, reference_key, reference_values};
use crate::svg::{Short, Stroke, Svg, polyline};
use crate::ticks::{Range, drawable};

/// Edges of 5 to 60 equal bins for all these samples together. Their width follows Freedman and Diaconis,
/// 2 · IQR / ∛n, for the sample that needs the narrowest. No values, no edges.
pub fn bin_edges(samples: &[&[f64]]) -> Vec<f64> {
    let (mut low, mut high, mut width) = (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
    for sample in samples {
        let mut sorted: Vec<f64> = sample.iter().copied().filter(|x| drawable(*x, Scale::Linear)).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
            continue;
        };
        (low, high) = (low.min(*first), high.max(*last));
        let spread = sorted[sorted.len() * 3 / 4] - sorted[sorted.len() / 4];
        if spread > 0.0 {
            width = width.min(2.0 * spread / (sorted.len() as f64).cbrt());
        }
    }
    if low > high {
        return Vec::new();
    }
    if low == high {
        let half = if low == 0.0 { 0.5 } else { low.abs() * 0.5 };
        (low, high) = (low - half, high + half);
    }
    let count = ((high - low) / width).ceil().clamp(5.0, 60.0);
    (0..=count as usize)
        .map(|i| low + (high - low) * (i as f64 / count))
        .collect()
}

/// Share of the values in each bin. A value on an inner edge belongs to the right bin, on the last edge to the last.
pub fn bin_shares(edges: &[f64], values: &[f64]) -> Vec<f64> {
    let bins = edges.len().saturating_sub(1);
    let mut counts = vec![0usize; bins];
    let mut total = 0;
    for value in values.iter().filter(|x| x.is_finite()) {
        total += 1;
        let right = edges.partition_point(|edge| edge <= value);
        let bin = if right == edges.len() && edges.last() == Some(value) {
            bins
        } else {
            right
        };
        if (1..=bins).contains(&bin) {
            counts[bin - 1] += 1;
        }
    }
    counts
        .iter()
        .map(|count| if total == 0 { 0.0 } else { *count as f64 / total as f64 })
        .collect()
}

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, histogram: &'a Histogram) -> Plan<'a> {
    let good = |bins: &&Bins| {
        !bins.heights.is_empty()
            && bins.edges.len() == bins.heights.len() + 1
            && bins.edges.iter().all(|edge| drawable(*edge, histogram.x.scale))
            && bins.heights.iter().all(|height| drawable(*height, Scale::Linear))
    };
    let all = || histogram.series.iter().filter(good);
    if all().next().is_none() {
        return words::plan(scene, nothing(0, false));
    }
    let edges = all().flat_map(|bins| bins.edges.iter().copied());
    let references = reference_values(&histogram.references, Orientation::Horizontal);
    let x = Range::new(&histogram.x, edges.chain(references), [0.02, 0.02]);
    let heights = all().flat_map(|bins| bins.heights.iter().copied());
    let heights = heights.chain((histogram.y.scale == Scale::Linear).then_some(0.0));
    let mut y = Range::new(&histogram.y, heights, [0.0, 0.06]);
    if histogram.y.scale == Scale::Linear {
        y.low = y.low.max(0.0);
    }
    let mut plan = Plan::new(
        AxisPlan::numbers(x, &histogram.x),
        AxisPlan::numbers(y, &histogram.y),
        Box::new(move |frame, svg| {
            frame.open_clip(svg);
            for bins in histogram.series.iter().filter(good) {
                draw_bins(bins, frame, svg);
            }
            frame.references(&histogram.references, svg);
            svg.close_group();
        }),
    )
    .with_series(histogram.series.iter().map(|bins| bins.series), Shown::FILL);
    plan.key = reference_key(scene, &histogram.references);
    plan
}

fn draw_bins(bins: &Bins, frame: &Frame, svg: &mut Svg) {
    let scene = frame.scene;
    let Some(range) = frame.y else { return };
    let at = |height: f64| {
        if drawable(height, range.scale) {
            frame.py(height)
        } else {
            frame.plot.bottom()
        }
    };
    let mut steps = vec![(frame.px(bins.edges[0]), frame.plot.bottom())];
    for (edges, height) in bins.edges.windows(2).zip(&bins.heights) {
        steps.push((frame.px(edges[0]), at(*height)));
        steps.push((frame.px(edges[1]), at(*height)));
    }
    steps.push((frame.px(bins.edges[bins.edges.len() - 1]), frame.plot.bottom()));
    let d = polyline(steps.into_iter().map(Some));
    let color = scene.ink.series(bins.series);
    svg.open_series("series", scene.name(bins.series));
    let width = 0.75 * scene.line();
    let dash = format!("{} {}", Short(3.0 * width), Short(1.6 * width));
    let (fill, opacity, stroke) = match bins.look {
        BinsLook::Filled => (hex(color), 0.25, Stroke::solid(color, width)),
        BinsLook::Dashed => ("none".to_string(), 1.0, Stroke::dashed(color, width, &dash)),
    };
    svg.path(&d, &fill, opacity, Some(&stroke), scene.name(bins.series));
    svg.close_group();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_edges_belong_to_the_right_bin() {
        // 0 and 0.5 in [0, 1), 1 and 1 in [1, 2), 2 on the last edge joins the last bin.
        assert_eq!(
            bin_shares(&[0.0, 1.0, 2.0], &[0.0, 0.5, 1.0, 1.0, 2.0, f64::NAN]),
            [0.4, 0.6]
        );
        assert_eq!(bin_shares(&[], &[1.0]), Vec::<f64>::new());
    }

    #[test]
    fn edges_cover_all_samples_in_equal_bins() {
        let edges = bin_edges(&[&[0.0, 1.0, 2.0, 3.0], &[-1.0, 9.0]]);
        assert_eq!((edges[0], edges[edges.len() - 1]), (-1.0, 9.0));
        assert!((6..=61).contains(&edges.len()));
        assert!(bin_edges(&[&[], &[f64::NAN]]).is_empty());
        assert!(bin_edges(&[&[3.0, 3.0]]).len() > 5);
    }
}
