// SPDX-License-Identifier: MIT
//! Squares and rings: the smallest one at a random place that holds enough lit pixels.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The pixels of the smallest square, cut at the edges of the image, around a random lit pixel that holds `wanted` lit
/// pixels. There must be that many.
pub(super) fn patch(lit: &[u32], (height, width): (usize, usize), wanted: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    if wanted == 0 {
        return Vec::new();
    }
    let at = |p: u32| (p as usize / width, p as usize % width);
    let (y, x) = at(lit[rng.random_range(0..lit.len())]);
    // How many lit pixels are this many steps away, diagonal steps included.
    let mut counts = vec![0; height.max(width)];
    for &p in lit {
        let (other_y, other_x) = at(p);
        counts[y.abs_diff(other_y).max(x.abs_diff(other_x))] += 1;
    }
    let mut held = 0;
    let reach = counts.iter().position(|count| {
        held += count;
        held >= wanted
    });
    let reach = reach.unwrap_or(counts.len());
    let rows = y.saturating_sub(reach)..height.min(y + reach + 1);
    let columns = x.saturating_sub(reach)..width.min(x + reach + 1);
    rows.flat_map(|row| columns.clone().map(move |column| (row * width + column) as u32))
        .collect()
}

/// The pixels of the thinnest ring around the center, at the radius of a random lit pixel, that holds `wanted` lit
/// pixels. There must be that many.
pub(super) fn ring(lit: &[u32], (height, width): (usize, usize), wanted: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    if wanted == 0 {
        return Vec::new();
    }
    // In half pixels from the center, squared: integers, so that equal distances are equal.
    let along = |place: usize, length: usize| (2 * place + 1).abs_diff(length).pow(2) as u64;
    let square = |p: u32| along(p as usize / width, height) + along(p as usize % width, width);
    let middle = square(lit[rng.random_range(0..lit.len())]);
    let off = |square: u64| ((square as f64).sqrt() - (middle as f64).sqrt()).abs();
    let mut of_lit: Vec<f64> = lit.iter().map(|&p| off(square(p))).collect();
    let (_, &mut reach, _) = of_lit.select_nth_unstable_by(wanted - 1, f64::total_cmp);
    // Squares within reach are all integers between two, which saves the root of every pixel.
    let inner = first(0, middle, |square| off(square) <= reach);
    let outer = first(middle, along(0, height) + along(0, width) + 1, |square| {
        off(square) > reach
    });
    let columns: Vec<u64> = (0..width).map(|x| along(x, width)).collect();
    let mut chosen = Vec::new();
    for y in 0..height {
        let of_row = along(y, height);
        let is_inside = |x: &usize| (inner..outer).contains(&(of_row + columns[*x]));
        chosen.extend((0..width).filter(is_inside).map(|x| (y * width + x) as u32));
    }
    chosen
}

/// The first number from `low` to `high` for which `holds` is true, where it is true for all larger ones; else `high`.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = u64::midpoint(low, high);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
