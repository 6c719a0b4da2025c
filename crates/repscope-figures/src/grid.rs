// SPDX-License-Identifier: MIT
//! The grid of panels: which cell each takes, and how much of it goes to titles, keys and axes.
//!
//! Plots of a column whose left axes have numbers share their left edge.

use crate::aligned::Shared;
use crate::axes::{BarBeside, Below, Beside, lay_below, lay_beside, lay_color_bar, overhang};
use crate::content::{Content, Weight};
use crate::figure::Letters as PanelLetters;
use crate::legend::{KeyTable, arrange, wrapped};
use crate::names::NAMES;
use crate::panels::{Names, Room, plan_panel, points_wished};
use crate::plan::{AxisPlan, Plan, Scene};
use crate::subsample::{MOST_IN_FIGURE, share_out};
use crate::text::{LINE, clean, wrap};
use std::collections::BTreeSet;

/// Distance of columns, in units of the letters' size.
pub(crate) const GAP: f64 = 2.2;

/// A panel with everything measured but its vertical place.
pub(crate) struct Laid<'a> {
    pub plan: Plan<'a>,
    pub letter: String,
    pub title: Vec<String>,
    pub key: KeyTable,
    pub notes: Vec<String>,
    pub beside: Beside,
    pub below: Below,
    pub color_bar: Option<BarBeside>,
    /// Row, first column, and left edge and width of the cell.
    pub row: usize,
    pub column: usize,
    pub span: usize,
    pub cell: (f64, f64),
    pub left: f64,
    pub right: f64,
    pub height: f64,
    /// Whether its rows are those of its neighbors, which stand at the same height.
    pub is_shared: bool,
}

impl Laid<'_> {
    pub fn plot_width(&self) -> f64 {
        (self.cell.1 - self.left - self.right).max(1.0)
    }

    /// Room above the plot: title, key, and half a letter for the topmost tick.
    pub fn above(&self, em: f64) -> f64 {
        let title = self.title.len() as f64 * LINE * 1.1 * em;
        let gap = if self.key.height() > 0.0 { 0.25 * em } else { 0.0 };
        title + (self.key.height() + gap) + 0.75 * em
    }

    pub fn under(&self, em: f64) -> f64 {
        let notes = (self.notes.len() as f64 * LINE * 0.9 + 0.5) * em;
        self.below.room + if self.notes.is_empty() { 0.0 } else { notes }
    }
}

/// Cells of the grid, row by row.
pub(crate) fn place<'a>(scene: &'a Scene<'a>, inner: f64, outer: f64) -> Vec<Laid<'a>> {
    let em = scene.em;
    let gap = GAP * em;
    // Below 17 letters' sizes (42 mm at 7 points) a plot is more margin than data.
    let fitting = ((inner + gap) / (15.0 * em + gap)) as usize;
    let most = fitting.max(1).min(scene.figure.panels.len().max(1));
    let wished = scene.figure.columns.clamp(1, most);
    let columns = scene.columns.unwrap_or(wished);
    let column_width = (inner - gap * (columns - 1) as f64) / columns as f64;
    let (mut row, mut column) = (0, 0);
    let mut panels = Vec::new();
    let spans = spans(scene, columns, column_width);
    let wishes = scene.figure.panels.iter().map(|panel| points_wished(&panel.content));
    let points = share_out(&wishes.collect::<Vec<_>>(), MOST_IN_FIGURE);
    // Panels over several columns are as high as their neighbors; in a narrow figure they would be flat.
    let is_narrow = column_width < 20.0 * em;
    let high_as = if is_narrow { 24.0 * em } else { column_width };
    let shared = Shared::of(scene, inner, gap);
    let mut was_shared = false;
    for (index, panel) in scene.figure.panels.iter().enumerate() {
        let shared = shared.as_ref().filter(|shared| shared.is_shared[index]);
        let (span, columns) = match shared {
            Some(shared) => (1, shared.columns),
            None => (spans[index], columns),
        };
        // Plots that share their names have rows of their own.
        if column > 0 && (column + span > columns || was_shared != shared.is_some()) {
            (row, column) = (row + 1, 0);
        }
        was_shared = shared.is_some();
        let (left, cell_width, names) = match shared {
            Some(own) if column == 0 => (0.0, own.names + own.width, Names::Within(own.names)),
            Some(own) => {
                let left = own.names + column as f64 * (own.width + gap);
                (left, own.width, Names::Elsewhere)
            }
            None => {
                let wide = column_width * span as f64 + gap * (span - 1) as f64;
                (column as f64 * (column_width + gap), wide, Names::Within(NAMES * wide))
            }
        };
        let room = Room {
            width: cell_width,
            beyond: if span > 1 { (cell_width - high_as).max(0.0) } else { 0.0 },
            points: points[index],
            names,
        };
        let plan = plan_panel(scene, &panel.content, room);
        let lettered = scene.figure.letters == PanelLetters::Shown && scene.figure.panels.len() > 1;
        let mut notes = plan.notes.clone();
        notes.extend((!panel.note.is_empty()).then(|| panel.note.clone()));
        panels.push(Laid {
            letter: if lettered { panel_letter(index) } else { String::new() },
            title: vec![clean(&panel.title)],
            key: arrange(&[], 0.0, em),
            notes,
            beside: lay_beside(&plan, scene, 1e3, cell_width),
            below: lay_below(&plan, scene, 1e3, 0.0, 0.0),
            color_bar: None,
            row,
            column,
            span,
            cell: (outer + left, cell_width),
            is_shared: shared.is_some(),
            left: 0.0,
            right: 0.0,
            height: 0.0,
            plan,
        });
        column += span;
    }
    share_labels(scene, &mut panels);
    panels
}

/// Scatter plots side by side that show the same thing of several series say what it is once: at the first of a row and
/// below the last of a column.
fn share_labels(scene: &Scene, panels: &mut [Laid]) {
    let all = panels.iter().zip(&scene.figure.panels);
    let labels = all.map(|(laid, panel)| match (&panel.content, &laid.plan.x, &laid.plan.y) {
        (Content::Scatter(_), Some(x), Some(y)) => Some((x.label().to_string(), y.label().to_string())),
        _ => None,
    });
    let labels: Vec<Option<(String, String)>> = labels.collect();
    let places: Vec<(usize, usize)> = panels.iter().map(|laid| (laid.row, laid.column)).collect();
    let says_same = |index: usize, place: (usize, usize)| {
        let other = places.iter().position(|known| *known == place);
        other.is_some_and(|other| labels[index].is_some() && labels[index] == labels[other])
    };
    let below = |index: usize| says_same(index, (places[index].0 + 1, places[index].1));
    let beside = |index: usize| {
        let (row, column) = places[index];
        column > 0 && says_same(index, (row, column - 1))
    };
    // All plots of a row keep their lower label or none does.
    let all_below = |row: usize| (0..places.len()).filter(|index| places[*index].0 == row).all(below);
    let drops = (0..places.len()).map(|index| (all_below(places[index].0), beside(index)));
    let drops: Vec<(bool, bool)> = drops.collect();
    for (laid, (drop_x, drop_y)) in panels.iter_mut().zip(drops) {
        for (axis, drop) in [(&mut laid.plan.x, drop_x), (&mut laid.plan.y, drop_y)] {
            if let (Some(AxisPlan::Numbers { label, .. }), true) = (axis, drop) {
                label.clear();
            }
        }
    }
}

/// Columns each panel takes. In a narrow figure some kinds need more than they request, and none stands alone in half a
/// row.
fn spans(scene: &Scene, columns: usize, column_width: f64) -> Vec<usize> {
    let spans = scene.figure.panels.iter().map(|panel| panel.span.clamp(1, columns));
    let mut spans: Vec<usize> = spans.collect();
    if scene.columns.is_some() {
        let tables = spans.iter_mut().zip(&scene.figure.panels);
        let tables = tables.filter(|(_, panel)| matches!(panel.content, Content::Table(_)));
        tables.for_each(|(span, _)| *span = columns);
    }
    if column_width >= 24.0 * scene.em {
        return spans;
    }
    for (span, panel) in spans.iter_mut().zip(&scene.figure.panels) {
        let wished = match &panel.content {
            // Where height is scarce, plots are as narrow as their column, and tables as wide as the figure.
            Content::Heatmap(_) if scene.columns.is_some() => 18.0,
            _ if scene.columns.is_some() => 0.0,
            Content::Scatter(_) | Content::Map(_) | Content::Shares(_) => 18.0,
            Content::Heatmap(_) | Content::Table(_) => 22.0,
            _ => 0.0,
        };
        if column_width < wished * scene.em {
            *span = (*span).max(2).min(columns);
        }
    }
    if columns == 2 {
        for index in 0..spans.len() {
            let starts_row = spans[..index].iter().fold(0, |column, span| match column + span {
                used if used > 2 => *span,
                used => used,
            }) % 2
                == 0;
            if starts_row && spans.get(index + 1).is_none_or(|next| *next == 2) {
                spans[index] = 2;
            }
        }
    }
    spans
}

/// The letter of a panel: a, b, … z, aa, ab, …
pub fn panel_letter(index: usize) -> String {
    let last = char::from(b'a' + (index % 26) as u8);
    let before = if index < 26 {
        String::new()
    } else {
        panel_letter(index / 26 - 1)
    };
    format!("{before}{last}")
}

/// Margins first, because the width of a plot decides its height, ticks and lines of text.
pub(crate) fn measure(scene: &Scene, panels: &mut [Laid]) {
    let em = scene.em;
    for laid in panels.iter_mut() {
        let guess = (laid.cell.1 - 6.0 * em).max(4.0 * em);
        let height = (laid.plan.height)(guess).max(5.0 * em);
        laid.beside = lay_beside(&laid.plan, scene, height, laid.cell.1);
        let bar = laid.plan.color_bar.as_ref();
        laid.color_bar = bar.map(|bar| lay_color_bar(bar, scene, height));
        laid.left = laid.beside.room;
        let bar = laid.color_bar.as_ref().map_or(0.0, |bar| bar.room);
        laid.right = bar.max(overhang(&laid.plan, scene, guess)).max(laid.plan.right);
        laid.height = height;
    }
    let has_numbers = |laid: &Laid| matches!(laid.plan.y, Some(AxisPlan::Numbers { .. }));
    let places: BTreeSet<(usize, usize)> = panels.iter().map(|laid| (laid.column, laid.span)).collect();
    for place in places {
        let in_column = |laid: &&mut Laid| (laid.column, laid.span) == place && has_numbers(laid);
        let lefts = panels.iter_mut().filter(in_column).map(|laid| laid.left);
        let widest = lefts.fold(0.0, f64::max);
        panels.iter_mut().filter(in_column).for_each(|laid| laid.left = widest);
    }
    for laid in panels.iter_mut() {
        let wide = laid.plot_width();
        laid.height = if laid.plan.x.is_none() {
            (laid.plan.height)(wide)
        } else {
            laid.height.max((laid.plan.height)(wide))
        };
        laid.below = lay_below(&laid.plan, scene, wide, laid.left, laid.right.max(0.9 * em));
        laid.key = arrange(&wrapped(&laid.plan.key, laid.cell.1, em), laid.cell.1, em);
        let indent = if laid.letter.is_empty() { 0.0 } else { 1.5 * em };
        let title = laid.title.concat();
        laid.title = wrap(&title, laid.cell.1 - indent, 1.1 * em, Weight::Bold);
        if laid.title.is_empty() && !laid.letter.is_empty() {
            laid.title.push(String::new());
        }
        let notes = std::mem::take(&mut laid.notes);
        let wrapped = |note: &String| wrap(&clean(note), laid.cell.1, 0.9 * em, Weight::Regular);
        laid.notes = notes.iter().flat_map(wrapped).collect();
    }
    // A row is as high as its highest panel; lower ones may have room for more ticks in the same margin.
    let rows = panels.iter().map(|laid| laid.row + 1).max().unwrap_or(0);
    for row in 0..rows {
        let in_row = |laid: &&mut Laid| laid.row == row;
        let heights = panels.iter_mut().filter(in_row).map(|laid| laid.height);
        let height = heights.fold(0.0, f64::max);
        for laid in panels.iter_mut().filter(in_row) {
            let beside = lay_beside(&laid.plan, scene, height, laid.cell.1);
            if beside.room <= laid.left && beside.names_series == laid.beside.names_series {
                laid.beside = beside;
            }
        }
    }
}
