// SPDX-License-Identifier: MIT
//! Which pixels are masked: the lit ones in the order of their values, squares and rings.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Brightest, draw};

/// Places of the lit pixels, dimmest first; equal ones in the order of the image.
pub(super) struct Lit {
    pub(super) order: Vec<u32>,
    /// Where each value begins in `order`; the last entry is the end.
    starts: [u32; 257],
}

impl Lit {
    /// A counting sort over the values. Most pixels of a histogram are black: these are skipped eight at a time.
    pub(super) fn of(image: &[u8]) -> Self {
        let mut places: Vec<u32> = Vec::new();
        let (words, rest) = image.as_chunks::<8>();
        for (number, bytes) in words.iter().enumerate() {
            let mut word = u64::from_le_bytes(*bytes);
            while word != 0 {
                let byte = word.trailing_zeros() / 8;
                places.push(8 * number as u32 + byte);
                word &= !(0xFF << (8 * byte));
            }
        }
        let behind = 8 * words.len();
        let of_rest = rest.iter().enumerate().filter(|(_, value)| **value != 0);
        places.extend(of_rest.map(|(i, _)| (behind + i) as u32));
        let mut starts = [0u32; 257];
        places
            .iter()
            .for_each(|&p| starts[usize::from(image[p as usize]) + 1] += 1);
        for value in 1..257 {
            starts[value] += starts[value - 1];
        }
        let mut next = starts;
        let mut order = vec![0; places.len()];
        for p in places {
            let slot = &mut next[usize::from(image[p as usize])];
            order[*slot as usize] = p;
            *slot += 1;
        }
        Lit { order, starts }
    }

    /// The first `count` pixels from one end. Equal pixels are drawn from a stream for each value, so masks are nested.
    pub(super) fn first(&self, end: Brightest, count: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
        let mut chosen = Vec::with_capacity(count);
        for step in 1..=255 {
            let value = match end {
                Brightest::First => 256 - step,
                Brightest::Last => step,
            };
            let equal = &self.order[self.starts[value] as usize..self.starts[value + 1] as usize];
            let missing = count - chosen.len();
            if equal.len() <= missing {
                chosen.extend_from_slice(equal);
                continue;
            }
            let mut equal = equal.to_vec();
            rng.set_stream(value as u64);
            draw(&mut equal, missing, rng);
            chosen.extend_from_slice(&equal[..missing]);
            break;
        }
        chosen
    }

    /// NumPy's percentile of the lit values: linear between the two nearest, rounded as NumPy rounds. There must be one.
    pub(super) fn percentile(&self, image: &[u8], percent: f64) -> f64 {
        let last = self.order.len() - 1;
        let place = last as f64 * (percent / 100.0);
        let before = (place.floor() as usize).min(last);
        let share = place - before as f64;
        let value = |i: usize| f64::from(image[self.order[i] as usize]);
        let (low, high) = (value(before), value((before + 1).min(last)));
        if share >= 0.5 {
            high - (high - low) * (1.0 - share)
        } else {
            low + (high - low) * share
        }
    }

    pub(super) fn at_least(&self, threshold: f64) -> &[u32] {
        &self.order[self.starts[threshold.ceil() as usize] as usize..]
    }

    pub(super) fn at_most(&self, threshold: f64) -> &[u32] {
        &self.order[..self.starts[threshold.floor() as usize + 1] as usize]
    }
}

/// The smallest square around a random lit pixel, cut at the edges, with `wanted` lit pixels, of which there are enough.
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

/// The thinnest ring around the center at the radius of a random lit pixel with `wanted` lit pixels; there are enough.
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
