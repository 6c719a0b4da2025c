// SPDX-License-Identifier: MIT
//! Many series on a small page: plots with a row for each series stand side by side, in one order, and name the series once.

use crate::content::{Bars, Content, Orientation, Weight};
use crate::figure::{Figure, Panel};
use crate::plan::Scene;
use crate::text::{clean, widest};

/// Fewer rows than this have room for names at every plot.
const FEWEST: usize = 9;
/// Width of a plot without names that can be read, in units of the letters' size.
const LEAST: f64 = 8.0;
/// Share of the figure that the names may take.
const MOST_NAMES: f64 = 0.4;

/// The figure with the rows of all such plots in the order of the first, which is said below it.
pub(crate) fn aligned(figure: &Figure) -> Figure {
    let mut figure = figure.clone();
    // Points are sorted by their values; boxes come in the order that they are given in.
    let is_sorted = |panel: &Panel| rows(panel).is_some() && matches!(panel.content, Content::Bars(_));
    let sorted = figure.panels.iter().position(is_sorted);
    let Some(first) = sorted.or_else(|| figure.panels.iter().position(|panel| rows(panel).is_some())) else {
        return figure;
    };
    let order = rows(&figure.panels[first]).unwrap_or_default();
    let mut moved = 0;
    for (index, panel) in figure.panels.iter_mut().enumerate() {
        if index == first || !has_rows_of(panel, &order) {
            continue;
        }
        moved += 1;
        let place = |series: usize| order.iter().position(|own| *own == series);
        match &mut panel.content {
            Content::Bars(bars) => sort_bars(bars, place),
            Content::Boxes(boxes) => boxes.rows.sort_by_key(|row| place(row.series)),
            _ => {}
        }
    }
    if moved > 0 && sorted.is_some() {
        let title = figure.panels[first].title.trim_end_matches(['↑', '↓', ' ']);
        figure
            .notes
            .push(format!("Rows are sorted by {title} in all panels that name them once."));
    }
    figure
}

/// A chance level for each bar goes where its bar goes.
fn sort_bars(bars: &mut Bars, place: impl Fn(usize) -> Option<usize>) {
    let mut order: Vec<usize> = (0..bars.rows.len()).collect();
    order.sort_by_key(|row| place(bars.rows[*row].series));
    if bars.categories.is_empty() && bars.chance.len() == bars.rows.len() {
        bars.chance = order.iter().map(|row| bars.chance[*row]).collect();
    }
    bars.rows = order.iter().map(|row| bars.rows[*row].clone()).collect();
}

/// The series of a plot with many rows, one for each series.
fn rows(panel: &Panel) -> Option<Vec<usize>> {
    let rows: Vec<usize> = match &panel.content {
        Content::Bars(bars) if bars.has_row_for_each_series() => bars.rows.iter().map(|row| row.series).collect(),
        Content::Boxes(boxes) if boxes.orientation == Orientation::Horizontal && boxes.categories.is_empty() => {
            boxes.rows.iter().map(|row| row.series).collect()
        }
        _ => return None,
    };
    (rows.len() >= FEWEST).then_some(rows)
}

fn has_rows_of(panel: &Panel, order: &[usize]) -> bool {
    rows(panel).is_some_and(|mut own| {
        let mut order = order.to_vec();
        own.sort_unstable();
        order.sort_unstable();
        own == order
    })
}

/// The grid of plots that share their names.
pub(crate) struct Shared {
    /// Whether each panel is one of them.
    pub is_shared: Vec<bool>,
    /// Plots side by side.
    pub columns: usize,
    /// Width of the names at the first of them.
    pub names: f64,
    /// Width of each without names.
    pub width: f64,
}

impl Shared {
    /// `None` where there are no two such plots, or height is not scarce.
    pub fn of(scene: &Scene, inner: f64, gap: f64) -> Option<Shared> {
        let panels = &scene.figure.panels;
        let order = scene.columns.and_then(|_| panels.iter().find_map(rows))?;
        let has_rows = |panel: &Panel| has_rows_of(panel, &order);
        let first = panels.iter().position(has_rows)?;
        let last = panels.iter().rposition(has_rows)?;
        // A panel that says why it is empty stays between its neighbors.
        let is_between = |at: usize| (first..last).contains(&at) && matches!(panels[at].content, Content::Text(_));
        let is_shared: Vec<bool> = (0..panels.len())
            .map(|at| has_rows(&panels[at]) || is_between(at))
            .collect();
        let count = is_shared.iter().filter(|shared| **shared).count();
        let names: Vec<String> = order.iter().map(|series| clean(scene.name(*series))).collect();
        let widest = widest(names.iter().map(String::as_str), scene.em, Weight::Regular);
        let names = widest.min(MOST_NAMES * inner) + 0.7 * scene.em;
        let fitting = ((inner - names + gap) / (LEAST * scene.em + gap)) as usize;
        if count < 2 || fitting < 2 {
            return None;
        }
        // Rows of plots are about equally long.
        let columns = count.div_ceil(count.div_ceil(fitting));
        let width = (inner - names - gap * (columns - 1) as f64) / columns as f64;
        Some(Shared {
            is_shared,
            columns,
            names,
            width,
        })
    }
}
