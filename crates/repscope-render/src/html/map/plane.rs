// SPDX-License-Identifier: MIT
//! Where the samples of a model lie on the page.

use super::super::samples::{column, table};
use super::SIZE;
use crate::tsne_words::TSNE_COLUMNS;
use repscope_core::{Results, SampleTable};

/// Where the samples of a model lie.
pub(super) struct Plane<'a> {
    pub(super) model: &'a str,
    /// The number of the model among all, which gives its color.
    pub(super) series: usize,
    /// In units of the drawing, for the rows that are kept; `None` where a sample has no place.
    pub(super) points: Vec<Option<[f64; 2]>>,
    /// The same on the t-SNE map; all `None` where there is none.
    pub(super) tsne: Vec<Option<[f64; 2]>>,
    /// Shares of the variance along both directions.
    pub(super) shares: Vec<f64>,
}

/// The plane of a model; `None` where it has none.
pub(super) fn plane<'a>(results: &Results, model: &'a str, series: usize, kept: &[usize]) -> Option<Plane<'a>> {
    let map = table(results, model, "map")?;
    let curve = results
        .curves
        .iter()
        .find(|curve| curve.metric == "map" && curve.model == model);
    Some(Plane {
        model,
        series,
        points: placed(map, ["x", "y"], kept)?,
        tsne: placed(map, TSNE_COLUMNS, kept).unwrap_or(vec![None; kept.len()]),
        shares: curve.map(|curve| curve.y.clone()).unwrap_or_default(),
    })
}

/// The places of the rows that are kept, in units of the drawing; `None` where no row has one.
fn placed(map: &SampleTable, names: [&str; 2], kept: &[usize]) -> Option<Vec<Option<[f64; 2]>>> {
    let (x, y) = (column(map, names[0])?, column(map, names[1])?);
    let at = |row: usize| {
        let point = [(*x.get(row)?)?, (*y.get(row)?)?];
        point.iter().all(|x| x.is_finite()).then_some(point)
    };
    let points: Vec<Option<[f64; 2]>> = kept.iter().map(|row| at(*row)).collect();
    let place = fit(points.iter().flatten())?;
    Some(points.iter().map(|point| point.map(&place)).collect())
}

/// Where a point stands in the drawing. One unit is equally long in both directions, and y grows upwards.
fn fit<'p>(points: impl Iterator<Item = &'p [f64; 2]> + Clone) -> Option<impl Fn([f64; 2]) -> [f64; 2]> {
    let ends = |axis: usize| {
        let low = points.clone().map(|point| point[axis]).min_by(f64::total_cmp)?;
        let high = points.clone().map(|point| point[axis]).max_by(f64::total_cmp)?;
        Some((low, high))
    };
    let (x, y) = (ends(0)?, ends(1)?);
    let middle = |(low, high): (f64, f64)| low / 2.0 + high / 2.0;
    let center = [middle(x), middle(y)];
    // Halves first: the width of very large numbers would not be finite.
    let reach = |(low, high): (f64, f64), size: f64| (high / 2.0 - low / 2.0) / (0.47 * size);
    let unit = reach(x, SIZE[0]).max(reach(y, SIZE[1]));
    let scaled = move |distance: f64| if unit > 0.0 { distance / unit } else { 0.0 };
    Some(move |[a, b]: [f64; 2]| {
        [
            SIZE[0] / 2.0 + scaled(a - center[0]),
            SIZE[1] / 2.0 - scaled(b - center[1]),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_have_one_unit_and_fill_the_drawing() {
        let points = [[-10.0, 0.0], [10.0, 4.0]];
        let place = fit(points.iter()).unwrap();
        // 20 wide: 940 units of the drawing, 47 for each.
        assert_eq!(place([-10.0, 0.0]), [30.0, 494.0]);
        assert_eq!(place([10.0, 4.0]), [970.0, 306.0]);
    }

    #[test]
    fn a_single_point_stands_in_the_middle() {
        let points = [[7.0, -3.0]];
        assert_eq!(fit(points.iter()).unwrap()([7.0, -3.0]), [500.0, 400.0]);
    }
}
