// SPDX-License-Identifier: MIT
//! Sums over all pairs: the Gaussian kernel of each row, and its distances to each class.
//!
//! Where the data are small both are computed in f64 throughout ([`directly`]). Else they are taken from the
//! f32 tiles and added up in f64. A kernel value has a relative error of about
//! 2·10⁻⁷ plus t times that of its squared distance; a distance is exact where rounding would be felt
//! (see [`Prepared::near`](super::prepared::Prepared::near)) and else good to about 10⁻⁶.

use super::prepared::{BLOCK, Prepared, lanes};
use super::tiles::{Anchors, Ask};
use crate::data::{Labels, Space};
use crate::run::Driver;

/// Kernel sums, and class sums in the space's own units, of each query: pair by pair, in f64.
pub(crate) fn directly(
    prepared: &Prepared,
    anchors: Anchors,
    ask: &Ask,
    driver: &Driver,
) -> (Option<Vec<f64>>, Option<Vec<f64>>) {
    let queries = anchors.count(prepared.rows());
    let exponent = ask.kernel.map(|t| -t * prepared.squared_unit());
    let codes = ask.classes.map(Labels::codes);
    let classes = ask.classes.map_or(0, Labels::classes);
    let blocks = driver.map(queries.div_ceil(BLOCK), |b| {
        let span = b * BLOCK..queries.min((b + 1) * BLOCK);
        let mut kernel = vec![0.0; span.len()];
        let mut sums = vec![0.0; span.len() * classes];
        for (place, q) in span.enumerate() {
            let row = anchors.row(q) as u32;
            for other in (0..prepared.rows() as u32).filter(|&other| other != row) {
                let squared = prepared.squared_distance(row, other);
                if let Some(exponent) = exponent {
                    kernel[place] += (exponent * squared).exp();
                }
                if let Some(codes) = codes {
                    sums[place * classes + codes[other as usize] as usize] += prepared.distance(squared);
                }
            }
        }
        (kernel, sums)
    });
    let kernel = exponent.map(|_| blocks.iter().flat_map(|b| &b.0).copied().collect());
    let sums = codes.map(|_| blocks.iter().flat_map(|b| &b.1).copied().collect());
    (kernel, sums)
}

/// What every two units of rows do together to the logarithm of the mean kernel of unit-length rows, beyond what each does alone: one
/// number for each pair, the first unit with the second, the third and so on. Of these rows; each has a unit and a factor that
/// makes its length 1. None where a unit has no row, or where there are fewer than four units.
pub(crate) fn of_pairs_of_units(
    space: &Space,
    factors: &[f64],
    rows: &[u32],
    unit_of: impl Fn(u32) -> usize,
    units: usize,
    t: f64,
) -> Option<Vec<f64>> {
    let columns = space.columns();
    let mut values = vec![0.0; rows.len() * columns];
    for (&row, out) in rows.iter().zip(values.chunks_exact_mut(columns)) {
        space.read_row(row as usize, out);
        out.iter_mut().for_each(|x| *x *= factors[row as usize]);
    }
    let unit: Vec<usize> = rows.iter().map(|&row| unit_of(row)).collect();
    let mut counts = vec![0.0; units];
    unit.iter().for_each(|&u| counts[u] += 1.0);
    if units < 4 || counts.contains(&0.0) {
        return None;
    }
    // Symmetric, with nothing on the diagonal.
    let (mut means, mut total) = (vec![0.0; units * units], 0.0);
    for (i, x) in values.chunks_exact(columns).enumerate() {
        for (j, y) in values.chunks_exact(columns).enumerate().take(i) {
            let squared = lanes(x, y, |x: f64, y: f64| (x - y) * (x - y));
            let kernel = (-t * squared).exp();
            total += kernel;
            if unit[i] != unit[j] {
                let mean = kernel / (counts[unit[i]] * counts[unit[j]]);
                means[unit[i] * units + unit[j]] += mean;
                means[unit[j] * units + unit[i]] += mean;
            }
        }
    }
    let (n, g) = (rows.len() as f64, units as f64);
    let mean = total / (n * (n - 1.0) / 2.0);
    // What a unit does to all others alike, and all units to each other: least squares without the diagonal.
    let alike: Vec<f64> = means
        .chunks_exact(units)
        .map(|of| of.iter().sum::<f64>() / (g - 2.0))
        .collect();
    let all = alike.iter().sum::<f64>() * (g - 2.0) / ((g - 1.0) * (g - 2.0));
    let pairs = (0..units).flat_map(|a| (a + 1..units).map(move |b| (a, b)));
    let together = |(a, b): (usize, usize)| {
        let left = means[a * units + b] - alike[a] - alike[b] + all;
        2.0 * counts[a] * counts[b] / (n * (n - 1.0)) * left / mean
    };
    Some(pairs.map(together).collect())
}

/// How many rows are added in f32 before the sum goes to f64.
const FLUSH: usize = 32;

/// Σⱼ exp(−t·d²) of each query of a block.
pub(crate) struct KernelSums {
    /// 2t, per product −d²/2 in scaled units.
    exponent: f32,
    /// The sums.
    pub(crate) sums: Vec<f64>,
}

impl KernelSums {
    pub(crate) fn new(rows: usize, exponent: f64) -> Self {
        KernelSums {
            exponent: (-2.0 * exponent) as f32,
            sums: vec![0.0; rows],
        }
    }

    /// Adds a tile of products −d²/2 to its rows and, if given, to its columns.
    #[inline(always)]
    pub(crate) fn add(&mut self, mut columns: Option<&mut KernelSums>, tile: &[f32], width: usize, stride: usize) {
        let exponent = self.exponent;
        let mut values = vec![0.0f32; width];
        let mut below = vec![0.0f32; width];
        for (r, row) in tile.chunks_exact(stride).enumerate() {
            for (v, &product) in values.iter_mut().zip(row) {
                *v = exp((exponent * product).min(0.0));
            }
            self.sums[r] += sum(&values);
            if let Some(columns) = columns.as_deref_mut() {
                for (b, v) in below.iter_mut().zip(&values) {
                    *b += v;
                }
                if (r + 1) % FLUSH == 0 {
                    flush(&mut below, &mut columns.sums);
                }
            }
        }
        if let Some(columns) = columns {
            flush(&mut below, &mut columns.sums);
        }
    }
}

/// Rows of one class that stand together in a block: class and positions `first..last`.
pub(crate) type Run = (u32, usize, usize);

/// The runs of a block whose rows are ordered by class.
pub(crate) fn runs(classes: &[u32]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (position, &class) in classes.iter().enumerate() {
        match runs.last_mut() {
            Some((c, _, last)) if *c == class => *last = position + 1,
            _ => runs.push((class, position, position + 1)),
        }
    }
    runs
}

/// Σ of the distances of each query of a block to the rows of each class.
pub(crate) struct ClassSums {
    rows: usize,
    /// Sums, class by class: `sums[class * rows + query]`, in scaled units.
    pub(crate) sums: Vec<f64>,
    /// Below this f32 squared distance the exact one is taken.
    pub(crate) near: Vec<f32>,
}

impl ClassSums {
    pub(crate) fn new(rows: usize, classes: usize, near: Vec<f32>) -> Self {
        ClassSums {
            rows,
            sums: vec![0.0; rows * classes],
            near,
        }
    }

    /// Adds a tile of distances to its rows and, if given, to its columns.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        columns: Option<&mut ClassSums>,
        tile: &[f32],
        (width, stride): (usize, usize),
        row_runs: &[Run],
        column_runs: &[Run],
    ) {
        for (r, row) in tile.chunks_exact(stride).enumerate() {
            for &(class, first, last) in column_runs {
                self.sums[class as usize * self.rows + r] += sum(&row[first..last]);
            }
        }
        let Some(columns) = columns else {
            return;
        };
        let mut below = vec![0.0f32; width];
        for &(class, first, last) in row_runs {
            let start = class as usize * columns.rows;
            for (r, row) in tile[first * stride..last * stride].chunks_exact(stride).enumerate() {
                for (b, v) in below.iter_mut().zip(row) {
                    *b += v;
                }
                if (r + 1) % FLUSH == 0 {
                    flush(&mut below, &mut columns.sums[start..start + width]);
                }
            }
            flush(&mut below, &mut columns.sums[start..start + width]);
        }
    }
}

#[inline(always)]
fn flush(below: &mut [f32], sums: &mut [f64]) {
    for (s, b) in sums.iter_mut().zip(below) {
        *s += f64::from(*b);
        *b = 0.0;
    }
}

/// Σ of at most a few hundred values, in sixteen lanes of f32.
#[inline(always)]
fn sum(values: &[f32]) -> f64 {
    let (chunks, rest) = values.as_chunks::<16>();
    let mut lanes = [0.0f32; 16];
    for chunk in chunks {
        for l in 0..16 {
            lanes[l] += chunk[l];
        }
    }
    lanes.iter().chain(rest).map(|&v| f64::from(v)).sum()
}

/// eˣ for −87 ≤ x ≤ 0 (below: about 1e-38), with a relative error under 2·10⁻⁷: x = n·ln 2 + r with
/// |r| ≤ ln 2 / 2, then a Taylor polynomial in r, by fused operations, and n put into the exponent bits.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5·2²³: adding it rounds to an integer held in the low bits
    let x = if x > -87.0 { x } else { -87.0 };
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(2.121_944_4e-4, n.mul_add(-0.693_359_4, x)); // ln 2 in two parts
    let p = r.mul_add(1.0 / 5040.0, 1.0 / 720.0);
    let p = p.mul_add(r, 1.0 / 120.0);
    let p = p.mul_add(r, 1.0 / 24.0);
    let p = p.mul_add(r, 1.0 / 6.0);
    let p = p.mul_add(r, 0.5);
    let p = p.mul_add(r, 1.0);
    let p = p.mul_add(r, 1.0);
    p * f32::from_bits((shifted.to_bits().wrapping_add(127)) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_exponential_is_good_to_2e_7() {
        for step in 0..8700 {
            let x = -(step as f32) * 0.01;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 2e-7, "exp({x})");
        }
        // The padding of a diagonal: an infinite distance adds nothing that could be seen.
        assert!(exp(f32::NEG_INFINITY) < 2e-38);
    }

    #[test]
    fn pairs_of_units_have_what_is_left_of_their_sums() {
        // Rows on the circle at these angles, each a unit; kernel e^(−2·squared distance) = e^(4 (cos − 1)). Expected: least squares of the
        // ten kernels on one number for each unit, by NumPy's lstsq, twice the residuals over 20 times their mean.
        let angles: [f64; 5] = [0.0, 0.5, 1.1, 2.0, 4.0];
        let rows: Vec<f64> = angles.iter().flat_map(|a| [3.0 * a.cos(), 3.0 * a.sin()]).collect();
        let space = Space::from_f64("circle", 5, 2, rows).unwrap();
        let all = [0, 1, 2, 3, 4];
        let found = of_pairs_of_units(&space, &[1.0 / 3.0; 5], &all, |row| row as usize, 5, 2.0).unwrap();
        let expected = [
            0.160_709_697_941_067_04,
            -0.109_525_487_660_582_37,
            -0.052_621_101_921_838_2,
            0.001_436_891_641_353_612_2,
            0.059_795_936_415_581_2,
            -0.129_914_927_256_647_72,
            -0.090_590_707_100_000_14,
            0.071_555_882_482_420_2,
            -0.021_826_331_237_419_103,
            0.110_980_146_696_065_69,
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
        assert!(of_pairs_of_units(&space, &[1.0 / 3.0; 5], &all, |row| row as usize, 6, 2.0).is_none());
        assert!(of_pairs_of_units(&space, &[1.0 / 3.0; 5], &all, |row| row as usize % 3, 3, 2.0).is_none());
    }

    #[test]
    fn runs_name_each_class_once_per_stretch() {
        assert_eq!(runs(&[0, 0, 2, 2, 2, 5]), [(0, 0, 2), (2, 2, 5), (5, 5, 6)]);
        assert!(runs(&[]).is_empty());
    }
}
