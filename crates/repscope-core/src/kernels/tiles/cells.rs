// SPDX-License-Identifier: MIT
//! An order of the rows in which each block is a cell of space, and which cells are neighbors.
//!
//! Rows are halved at the median of the principal axis along which they spread most, again and again, until a block is left,
//! and further, until a panel of targets is: what stands together in a tile is near, so a micro-tile is mostly decided at once.
//! Blocks that meet their own rows and those of the nearest cells first know at once how near is near: few of the pairs that
//! come later are looked at one by one, and those lie close together in memory.

use std::collections::HashSet;

use super::SIDE;
use super::axes::Axes;
use crate::kernels::prepared::Prepared;
use crate::run::Driver;

/// Axes along which rows are halved.
const AXES: usize = 16;
/// Rows that the axes are found from.
const ROWS: usize = 1024;
/// Rows of the smallest cells, which stand together within a block.
const LEAF: usize = 16;
/// Cells that each block meets first.
const NEAREST: usize = 12;

/// Blocks that are cells of space.
pub(super) struct Cells {
    /// Which row stands at each position.
    pub(super) order: Vec<u32>,
    /// The mean of each block along the axes.
    means: Vec<Vec<f32>>,
}

impl Cells {
    /// Cuts a space into cells; `shuffled` is a random order of its rows.
    pub(super) fn new(prepared: &Prepared, shuffled: &[u32], driver: &Driver) -> Self {
        let (n, d) = (shuffled.len(), prepared.columns());
        let rows = ROWS.min(n);
        let axes = Axes::of_sample(prepared, &shuffled[..rows], AXES.min(d).min(rows), driver);
        let turned = driver.map(n.div_ceil(SIDE), |b| {
            let span = b * SIDE..n.min((b + 1) * SIDE);
            let mut values = vec![0.0; span.len() * d];
            let places = span.zip(values.chunks_exact_mut(d));
            places.for_each(|(i, row)| prepared.read(i, row));
            axes.turn(&values).into_iter().map(|x| x as f32).collect::<Vec<f32>>()
        });
        let turned = turned.concat();
        let coordinates = |row: u32| &turned[row as usize * axes.width..(row as usize + 1) * axes.width];
        let mut order = shuffled.to_vec();
        halve(&mut order, &coordinates);
        let means = order.chunks(SIDE).map(|block| mean(block, &coordinates)).collect();
        Cells { order, means }
    }

    /// The rounds in which neighboring cells meet, none of them twice in a round.
    pub(super) fn first_rounds(&self) -> Vec<Vec<(usize, usize)>> {
        let mut rounds: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut busy: Vec<Vec<bool>> = Vec::new();
        for (i, j) in self.near_pairs() {
            let round = busy.iter().position(|busy| !busy[i] && !busy[j]).unwrap_or(busy.len());
            if round == busy.len() {
                busy.push(vec![false; self.means.len()]);
                rounds.push(Vec::new());
            }
            (busy[round][i], busy[round][j]) = (true, true);
            rounds[round].push((i, j));
        }
        rounds
    }

    /// Each cell with those nearest to it, the smaller number first, each pair once: those that are nearest to one of the two
    /// come first.
    fn near_pairs(&self) -> Vec<(usize, usize)> {
        let mut ranked: Vec<(usize, (usize, usize))> = Vec::new();
        for (i, a) in self.means.iter().enumerate() {
            let distance = |b: &[f32]| a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f32>();
            let others = self.means.iter().enumerate().filter(|(j, _)| *j != i);
            let mut others: Vec<(f32, usize)> = others.map(|(j, b)| (distance(b), j)).collect();
            others.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let nearest = others.iter().take(NEAREST).enumerate();
            ranked.extend(nearest.map(|(rank, &(_, j))| (rank, (i.min(j), i.max(j)))));
        }
        ranked.sort_unstable();
        let mut met = HashSet::new();
        let pairs = ranked.into_iter().map(|(_, pair)| pair);
        pairs.filter(|pair| met.insert(*pair)).collect()
    }
}

/// Sorts rows into blocks, and blocks into leaves, by halving them.
fn halve<'t>(order: &mut [u32], coordinates: &impl Fn(u32) -> &'t [f32]) {
    let part = if order.len() > SIDE { SIDE } else { LEAF };
    let parts = order.len().div_ceil(part);
    if parts < 2 {
        order.sort_unstable();
        return;
    }
    let axis = widest(order, coordinates);
    let half = parts / 2 * part;
    let by_axis = |a: &u32, b: &u32| coordinates(*a)[axis].total_cmp(&coordinates(*b)[axis]).then(a.cmp(b));
    order.select_nth_unstable_by(half, by_axis);
    let (left, right) = order.split_at_mut(half);
    halve(left, coordinates);
    halve(right, coordinates);
}

/// The axis along which some rows spread most.
fn widest<'t>(rows: &[u32], coordinates: &impl Fn(u32) -> &'t [f32]) -> usize {
    let mean = mean(rows, coordinates);
    let mut spread = vec![0.0f32; mean.len()];
    for &row in rows {
        for ((s, x), m) in spread.iter_mut().zip(coordinates(row)).zip(&mean) {
            *s += (x - m).powi(2);
        }
    }
    let axes = (0..spread.len()).max_by(|&a, &b| spread[a].total_cmp(&spread[b]).then(b.cmp(&a)));
    axes.unwrap_or(0)
}

fn mean<'t>(rows: &[u32], coordinates: &impl Fn(u32) -> &'t [f32]) -> Vec<f32> {
    let mut sums = vec![0.0; coordinates(rows[0]).len()];
    for &row in rows {
        sums.iter_mut().zip(coordinates(row)).for_each(|(s, x)| *s += x);
    }
    sums.iter().map(|s| s / rows.len() as f32).collect()
}
