// SPDX-License-Identifier: MIT
//! What is put in the place of masked pixels.

use std::cell::OnceCell;

use super::Fill;

/// The standard deviation of the blur in pixels, and how far it reaches: four of them.
const SIGMA: f64 = 2.0;
const REACH: usize = 8;
/// Sweeps over the masked pixels stop here, or when no pixel moves by this much.
const MOST_SWEEPS: usize = 200;
const STILL: f64 = 1e-3;

/// An image whose pixels are replaced.
pub(super) struct Canvas<'a> {
    image: &'a [u8],
    size: (usize, usize),
    /// The same for all masks of the image.
    blurred: OnceCell<Vec<f64>>,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(image: &'a [u8], size: (usize, usize)) -> Self {
        Canvas {
            image,
            size,
            blurred: OnceCell::new(),
        }
    }

    /// Makes `pixels` the image with other values at the chosen ones.
    pub(super) fn without(&self, chosen: Vec<u32>, fill: Fill, pixels: &mut [u8]) {
        pixels.copy_from_slice(self.image);
        if chosen.is_empty() {
            return;
        }
        match fill {
            Fill::Black => chosen.iter().for_each(|&p| pixels[p as usize] = 0),
            Fill::Mean => {
                chosen.iter().for_each(|&p| pixels[p as usize] = 0);
                let lit = pixels.iter().filter(|value| **value != 0);
                let (sum, count) = lit.fold((0u64, 0u64), |(sum, count), &value| (sum + u64::from(value), count + 1));
                // Rounded to the nearest, halves up; black where nothing is left.
                let mean = (2 * sum + count).checked_div(2 * count).unwrap_or(0) as u8;
                chosen.iter().for_each(|&p| pixels[p as usize] = mean);
            }
            Fill::Blur => {
                let blurred = self.blurred.get_or_init(|| blur(self.image, self.size));
                for p in chosen {
                    pixels[p as usize] = gray(blurred[p as usize]);
                }
            }
            Fill::Inpaint => self.inpaint(chosen, pixels),
        }
    }

    /// Gauss and Seidel's sweeps for the values at which every masked pixel is the weighted mean of its neighbors.
    fn inpaint(&self, mut chosen: Vec<u32>, pixels: &mut [u8]) {
        chosen.sort_unstable();
        let mut is_known = vec![true; self.image.len()];
        chosen.iter().for_each(|&p| is_known[p as usize] = false);
        let mut values: Vec<f64> = self.image.iter().copied().map(f64::from).collect();
        // The start: the mean of the known pixels beside masked ones, so that little is left to do inside a square.
        let (mut sum, mut count) = (0.0, 0.0);
        for &p in &chosen {
            let known = neighbors(p as usize, self.size).filter(|(n, _)| is_known[*n]);
            for (n, weight) in known {
                (sum, count) = (sum + weight * values[n], count + weight);
            }
        }
        let start = if count > 0.0 { sum / count } else { 0.0 };
        chosen.iter().for_each(|&p| values[p as usize] = start);
        for _ in 0..MOST_SWEEPS {
            let mut farthest: f64 = 0.0;
            for &p in &chosen {
                let value = self.around(p as usize, &values).unwrap_or(start);
                farthest = farthest.max((value - values[p as usize]).abs());
                values[p as usize] = value;
            }
            if farthest < STILL {
                break;
            }
        }
        for p in chosen {
            pixels[p as usize] = gray(values[p as usize]);
        }
    }

    /// The weighted mean of the pixels around one; none where there are none.
    fn around(&self, p: usize, values: &[f64]) -> Option<f64> {
        let (height, width) = self.size;
        let (y, x) = (p / width, p % width);
        if y > 0 && x > 0 && y + 1 < height && x + 1 < width {
            let line = |start: usize| &values[start - 1..start + 2];
            let (above, own, below) = (line(p - width), line(p), line(p + width));
            let beside = above[1] + own[0] + own[2] + below[1];
            let across = above[0] + above[2] + below[0] + below[2];
            return Some((2.0 * beside + across) / 12.0);
        }
        let all = neighbors(p, self.size);
        let (sum, total) = all.fold((0.0, 0.0), |(sum, total), (n, w)| (sum + w * values[n], total + w));
        (total > 0.0).then(|| sum / total)
    }
}

/// The pixels of the image around one, and their weights: those beside it count twice as much as those across.
fn neighbors(p: usize, (height, width): (usize, usize)) -> impl Iterator<Item = (usize, f64)> {
    let (y, x) = (p / width, p % width);
    let rows = y.saturating_sub(1)..height.min(y + 2);
    let columns = x.saturating_sub(1)..width.min(x + 2);
    let all = rows.flat_map(move |row| columns.clone().map(move |column| (row, column)));
    all.filter(move |place| *place != (y, x)).map(move |(row, column)| {
        let weight = if row == y || column == x { 2.0 } else { 1.0 };
        (row * width + column, weight)
    })
}

/// The image convolved with a Gaussian, rows first; at the edges it goes on mirrored, the edge pixel twice.
fn blur(image: &[u8], (height, width): (usize, usize)) -> Vec<f64> {
    let weight = |i: usize| (-0.5 * ((i as f64 - REACH as f64) / SIGMA).powi(2)).exp();
    let weights: Vec<f64> = (0..=2 * REACH).map(weight).collect();
    let total: f64 = weights.iter().sum();
    let weights: Vec<f64> = weights.iter().map(|w| w / total).collect();
    let mut along = vec![0.0; image.len()];
    let columns: Vec<usize> = (0..width + 2 * REACH).map(|i| mirrored(i, width)).collect();
    for (line, out) in image.chunks_exact(width).zip(along.chunks_exact_mut(width)) {
        let line: Vec<f64> = columns.iter().map(|&c| f64::from(line[c])).collect();
        for (x, out) in out.iter_mut().enumerate() {
            *out = line[x..].iter().zip(&weights).map(|(v, w)| v * w).sum();
        }
    }
    let mut blurred = vec![0.0; image.len()];
    for (y, out) in blurred.chunks_exact_mut(width).enumerate() {
        for (i, weight) in weights.iter().enumerate() {
            let line = &along[mirrored(y + i, height) * width..][..width];
            out.iter_mut().zip(line).for_each(|(out, v)| *out += weight * v);
        }
    }
    blurred
}

/// The place in a line of this length that stands `REACH` before `i`, mirrored at both ends as often as needed.
fn mirrored(i: usize, length: usize) -> usize {
    let turn = 2 * length;
    let place = (i + REACH * turn - REACH) % turn;
    place.min(turn - 1 - place)
}

fn gray(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}
