// SPDX-License-Identifier: MIT
//! A table. Columns that do not fit side by side continue in a block below, with the first column repeated.

use super::words;
use crate::content::{Cell, Table, Weight};
use crate::plan::{Plan, Scene};
use crate::svg::{Anchor, Rect, Stroke, Svg};
use crate::text::{LINE, clean, pieces, shorten, widest, width, wrap};

/// Columns of one block and their widths; the first is the first of the table.
struct Block {
    columns: Vec<(usize, f64)>,
    header: Vec<Vec<String>>,
}

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, table: &'a Table) -> Plan<'a> {
    if table.rows.is_empty() || table.header.is_empty() {
        return words::plan(scene, "No values were given.".to_string());
    }
    Plan::block(
        Box::new(move |wide| {
            blocks(scene, table, wide)
                .iter()
                .map(|block| height(scene, table, block))
                .sum()
        }),
        Box::new(move |frame, svg| {
            let mut y = frame.plot.y;
            for block in blocks(scene, table, frame.plot.width) {
                draw_block(scene, table, &block, Rect { y, ..frame.plot }, svg);
                y += height(scene, table, &block);
            }
        }),
    )
}

fn gap(em: f64) -> f64 {
    1.3 * em
}

fn blocks(scene: &Scene, table: &Table, wide: f64) -> Vec<Block> {
    let em = scene.em;
    let count = table.rows.iter().map(Vec::len).fold(table.header.len(), usize::max);
    let cells = |column: usize| {
        let widths = table.rows.iter().map(move |row| {
            let (text, weight) = cell(row.get(column));
            width(&text, em, weight)
        });
        widths.fold(0.0, f64::max)
    };
    let head = |column: usize| clean(table.header.get(column).map_or("", String::as_str));
    let first = cells(0).max(width(&head(0), em, Weight::Bold)).min(0.45 * wide);
    let roomy = |column: usize| cells(column).max(2.0 * em).max(width(&head(column), em, Weight::Bold));
    let generous: f64 = (1..count).map(|column| roomy(column) + gap(em)).sum();
    let heads_fit = first + generous <= wide;
    // Where heads do not fit on one line they may take three; what is longer than that makes its column wide.
    let fitted = |column: usize| {
        if heads_fit {
            return roomy(column);
        }
        // No word of a head is torn, unless it is a very long one.
        let pieces = pieces(&head(column));
        let word = widest(pieces.iter().map(|piece| piece.trim()), em, Weight::Bold);
        let body = cells(column).max(2.0 * em).max(word.min(12.0 * em));
        let whole = width(&head(column), em, Weight::Bold);
        let candidates = (0..).map(|step| body + f64::from(step) * em);
        let enough = |most: &f64| *most >= whole || wrap(&head(column), *most, em, Weight::Bold).len() <= 3;
        let fitting = candidates.take(200).find(enough).unwrap_or(whole);
        fitting.min((wide - first - gap(em)).max(em))
    };
    let mut blocks = Vec::new();
    let mut columns = vec![(0, first)];
    let mut used = first;
    for column in 1..count {
        let needed = fitted(column) + gap(em);
        if used + needed > wide && columns.len() > 1 {
            blocks.push(std::mem::replace(&mut columns, vec![(0, first)]));
            used = first;
        }
        columns.push((column, fitted(column)));
        used += needed;
    }
    blocks.push(columns);
    // Blocks of about the same number of columns look better than a full one and a rest.
    let per_block = (count - 1).div_ceil(blocks.len());
    let even = (1..count).step_by(per_block.max(1)).map(|start| {
        let rest = (start..count.min(start + per_block.max(1))).map(|column| (column, fitted(column)));
        std::iter::once((0, first)).chain(rest).collect()
    });
    let even: Vec<Vec<(usize, f64)>> = even.collect();
    let fits = |columns: &Vec<(usize, f64)>| total(columns, em) <= wide;
    if even.len() == blocks.len() && even.iter().all(fits) {
        blocks = even;
    }
    // A block that has room to spare sets its heads on one line after all.
    for columns in &mut blocks {
        let whole = |(column, room): &(usize, f64)| (*column, room.max(width(&head(*column), em, Weight::Bold)));
        let rest = columns[1..].iter().map(whole);
        let wider: Vec<(usize, f64)> = std::iter::once(columns[0]).chain(rest).collect();
        if fits(&wider) {
            *columns = wider;
        }
    }
    let block = |columns: Vec<(usize, f64)>| {
        let header = columns
            .iter()
            .map(|(column, room)| wrap(&head(*column), *room, em, Weight::Bold));
        let header = header.collect();
        Block { columns, header }
    };
    blocks.into_iter().map(block).collect()
}

/// The width of columns beside each other.
fn total(columns: &[(usize, f64)], em: f64) -> f64 {
    columns.iter().map(|(_, room)| room + gap(em)).sum::<f64>() - gap(em)
}

/// What is set for a cell.
fn cell(cell: Option<&Cell>) -> (String, Weight) {
    let text = cell.map(|cell| clean(&cell.text)).unwrap_or_default();
    let weight = cell.map_or(Weight::Regular, |cell| cell.weight);
    (if text.is_empty() { "–".to_string() } else { text }, weight)
}

fn head_height(scene: &Scene, block: &Block) -> f64 {
    (block.header.iter().map(Vec::len).max().unwrap_or(1).max(1) as f64 * LINE + 0.5) * scene.em
}

fn height(scene: &Scene, table: &Table, block: &Block) -> f64 {
    head_height(scene, block) + (table.rows.len() as f64 * 1.55 + 1.2) * scene.em
}

fn draw_block(scene: &Scene, table: &Table, block: &Block, place: Rect, svg: &mut Svg) {
    let em = scene.em;
    let total = total(&block.columns, em);
    // Spare width is shared out between the columns, within reason.
    let spare = ((place.width - total) / (block.columns.len().max(2) - 1) as f64).clamp(0.0, 3.0 * em);
    let heavy = Stroke::solid(scene.ink.axis, 0.11 * em);
    let light = Stroke::solid(scene.ink.grid, 0.08 * em);
    let right = place.x + total + spare * (block.columns.len() - 1) as f64;
    let under_head = place.y + head_height(scene, block);
    svg.line((place.x, place.y), (right, place.y), &heavy);
    svg.line((place.x, under_head), (right, under_head), &heavy);
    let mut x = place.x;
    for (position, (column, room)) in block.columns.iter().enumerate() {
        let (anchor, at) = match position {
            0 => (Anchor::Start, x),
            _ => (Anchor::End, x + room),
        };
        let bold = scene.letters().weighed(Weight::Bold).anchored(anchor);
        let lines = &block.header[position];
        for (row, line) in lines.iter().rev().enumerate() {
            svg.text(at, under_head - (0.5 + row as f64 * LINE) * em, line, bold);
        }
        for (row, cells) in table.rows.iter().enumerate() {
            let (text, weight) = cell(cells.get(*column));
            let text = shorten(&text, *room, em, weight);
            let y = under_head + (row as f64 * 1.55 + 1.15) * em;
            svg.text(at, y, &text, scene.letters().weighed(weight).anchored(anchor));
        }
        x += room + gap(em) + spare;
    }
    for row in 1..table.rows.len() {
        let y = under_head + (row as f64 * 1.55 + 0.02) * em;
        svg.line((place.x, y), (right, y), &light);
    }
    let bottom = under_head + (table.rows.len() as f64 * 1.55 + 0.1) * em;
    svg.line((place.x, bottom), (right, bottom), &heavy);
}
