// SPDX-License-Identifier: MIT
//! Which columns of a table stand beside each other in a given width.

use super::terminal::superscript;
use super::{Align, Cell, Column, Emphasis, Table};
use crate::scores::sorted;
use crate::text::{break_name, columns};
use std::ops::Range;

/// Spaces between two columns that hold intervals, and between others.
const GAP: usize = 3;
const NARROW_GAP: usize = 2;
/// Names above columns are broken into lines no narrower than this, and so is text.
const NARROWEST_NAME: usize = 12;
const NARROWEST_TEXT: usize = 8;

/// A column as it is shown: value, mark and interval stand below each other.
#[derive(Debug, Clone)]
pub(super) struct Shown<'a> {
    /// Its place in the table.
    pub(super) at: usize,
    pub(super) column: &'a Column,
    /// The lines of its head.
    pub(super) head: Vec<String>,
    pub(super) value: usize,
    pub(super) mark: usize,
    /// 0 where intervals are not shown.
    pub(super) interval: usize,
    /// The width that text is broken at.
    limit: usize,
}

/// The columns that are shown beside each other, part by part, and the space between them.
pub(super) struct Plan<'a> {
    pub(super) gap: usize,
    pub(super) parts: Vec<Vec<Shown<'a>>>,
}

impl Shown<'_> {
    fn cell_width(&self) -> usize {
        let beside = if self.is_beside() { 1 + self.interval } else { 0 };
        (self.value + self.mark + beside).min(self.limit)
    }

    pub(super) fn width(&self) -> usize {
        let head = self.head.iter().map(|line| columns(line));
        head.fold(self.cell_width(), usize::max)
    }

    /// Whether intervals stand beside the values, not in a column of their own.
    pub(super) fn is_beside(&self) -> bool {
        self.column.interval.is_none() && self.interval > 0
    }

    /// The width of the column of intervals, where there is one.
    pub(super) fn apart_width(&self) -> Option<usize> {
        let head = self.column.interval.as_ref().filter(|_| self.interval > 0)?;
        Some(columns(head).max(self.interval))
    }

    fn is_direction(&self) -> bool {
        self.column.align == Align::Center
    }
}

/// The width of a part.
pub(super) fn width(part: &[Shown], gap: usize) -> usize {
    let of = |(i, shown): (usize, &Shown)| {
        let before = match i {
            0 => 0,
            _ if shown.is_direction() => NARROW_GAP,
            _ => gap,
        };
        before + shown.width() + shown.apart_width().map_or(0, |width| gap + width)
    };
    part.iter().enumerate().map(of).sum()
}

/// Which of the columns that the table is split by are in a part.
pub(super) fn columns_in(table: &Table, part: &[Shown]) -> Range<usize> {
    let first = table.columns.iter().position(|column| column.is_split).unwrap_or(0);
    let split = part.iter().filter(|shown| shown.column.is_split);
    let mut places = split.map(|shown| shown.at - first);
    let start = places.next().unwrap_or(0);
    start..places.next_back().unwrap_or(start) + 1
}

/// The space before a column.
pub(super) fn space(shown: &Shown, gap: usize) -> String {
    " ".repeat(if shown.is_direction() { NARROW_GAP } else { gap })
}

/// Chooses what is shown. First spare columns go, then heads are broken, then text; what is still too wide continues below.
/// `mark` is what follows the value of a cell.
pub(super) fn plan<'a>(table: &'a Table, most: usize, mark: impl Fn(&Cell, &Column) -> String) -> Plan<'a> {
    let mut all: Vec<Shown> = (0..table.columns.len()).map(|at| measure(table, at, &mark)).collect();
    let is_wide = all.iter().any(|shown| shown.column.is_split);
    let has_spare = |shown: &Shown| shown.column.spare_interval.is_some();
    let is_wide = is_wide && !all.iter().any(has_spare) && width(&all, GAP) <= most;
    let gap = if is_wide { GAP } else { NARROW_GAP };
    let orders = table
        .columns
        .iter()
        .flat_map(|column| [column.spare, column.spare_interval]);
    for order in sorted(orders.flatten()) {
        if width(&all, gap) > most {
            all.retain(|shown| shown.column.spare != Some(order));
            let spare = all
                .iter_mut()
                .filter(|shown| shown.column.spare_interval == Some(order));
            spare.for_each(|shown| shown.interval = 0);
        }
    }
    if width(&all, gap) > most {
        for shown in all.iter_mut().filter(|shown| shown.column.is_split) {
            shown.head = break_name(&shown.head.concat(), shown.cell_width().max(NARROWEST_NAME));
        }
    }
    while width(&all, gap) > most {
        let wrapping = all.iter_mut();
        let wrapping = wrapping.filter(|shown| shown.column.wraps && shown.cell_width() > NARROWEST_TEXT);
        match wrapping.max_by_key(|shown| shown.cell_width()) {
            Some(widest) => widest.limit = widest.cell_width() - 1,
            None => break,
        }
    }
    Plan {
        parts: split(&all, most, gap),
        gap,
    }
}

fn measure<'a>(table: &'a Table, at: usize, mark: &impl Fn(&Cell, &Column) -> String) -> Shown<'a> {
    let column = &table.columns[at];
    let widest = |of: &dyn Fn(&Cell) -> usize| table.rows.iter().map(|row| of(&row.cells[at])).fold(0, usize::max);
    let (value, mark) = if column.align == Align::Left {
        (widest(&|cell| columns(&cell.text) + columns(&mark(cell, column))), 0)
    } else {
        (
            widest(&|cell| columns(&value(cell))),
            widest(&|cell| columns(&mark(cell, column))),
        )
    };
    Shown {
        at,
        column,
        head: vec![format!(
            "{}{}{}",
            column.head.text,
            column.arrow(),
            column.head.note.map(superscript).unwrap_or_default()
        )],
        value,
        mark,
        interval: widest(&|cell| columns(&cell.interval)),
        limit: usize::MAX,
    }
}

/// The value of a cell, behind what says that it is better or worse.
pub(super) fn value(cell: &Cell) -> String {
    let before = match cell.emphasis {
        Emphasis::Better => "▲ ",
        Emphasis::Worse => "▼ ",
        _ => "",
    };
    format!("{before}{}", cell.text)
}

/// Splits columns into as few parts as the width allows, evenly filled where that fits too. Other columns are in each part.
fn split<'a>(all: &[Shown<'a>], most: usize, gap: usize) -> Vec<Vec<Shown<'a>>> {
    let places: Vec<usize> = (0..all.len()).filter(|&i| all[i].column.is_split).collect();
    let part = |range: &Range<usize>| -> Vec<Shown<'a>> {
        let own = &places[range.clone()];
        let is_in = |(i, shown): &(usize, &Shown)| !shown.column.is_split || own.contains(i);
        all.iter()
            .enumerate()
            .filter(is_in)
            .map(|(_, shown)| shown.clone())
            .collect()
    };
    let fits = |range: &Range<usize>| width(&part(range), gap) <= most;
    let count = places.len();
    let mut groups: Vec<Range<usize>> = Vec::new();
    for i in 0..count {
        match groups.last_mut() {
            Some(group) if fits(&(group.start..i + 1)) => group.end = i + 1,
            _ => groups.push(i..i + 1),
        }
    }
    if groups.len() < 2 {
        return vec![all.to_vec()];
    }
    let each = count.div_ceil(groups.len());
    let even = (0..count).step_by(each).map(|start| start..count.min(start + each));
    let even: Vec<Range<usize>> = even.collect();
    let groups = if even.iter().all(fits) { even } else { groups };
    groups.iter().map(part).collect()
}
