// SPDX-License-Identifier: MIT
//! Local principal components: how many directions the nearest rows of a row spread over.

use faer::Mat;

use super::alike::axes::singular_values;
use super::neighbors::Neighbors;
use crate::data::Space;
use crate::random;
use crate::run::Driver;

/// The most rows whose neighborhoods are looked at.
const MOST: usize = 200;
/// Rows per task.
const ROWS: usize = 16;
/// Fukunaga and Olsen: eigenvalues above this share of the largest count.
const OF_LARGEST: f64 = 0.05;
/// Fan and others: the share of the variance that is signal, a gap that is large, and the share of the signal that suffices.
const SIGNAL: f64 = 0.95;
const GAP: f64 = 10.0;
const ENOUGH: f64 = 0.8;

/// Dimensions of the neighborhood of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LocalDimensions {
    pub(crate) fukunaga_olsen: f64,
    pub(crate) fan: f64,
    pub(crate) participation: f64,
}

/// Of some queries: all, or a random sample.
pub(crate) struct LocalAxes {
    /// None where all neighbors are the same point.
    pub(crate) found: Vec<Option<LocalDimensions>>,
    pub(crate) queries: usize,
}

impl LocalAxes {
    /// From the k nearest of each query, without the row itself.
    pub(crate) fn new(space: &Space, neighbors: &Neighbors, k: usize, seed: u64, driver: &Driver) -> Self {
        let queries = neighbors.rows.len() / neighbors.k;
        let mut asked: Vec<u32> = if queries > MOST {
            random::permutation(queries, &mut random::stream(seed, "local-pca", 0))
        } else {
            (0..queries as u32).collect()
        };
        asked.truncate(MOST);
        asked.sort_unstable();
        let found = driver.blocks(asked.len(), ROWS, |block| {
            let of_query = |&q: &u32| dimensions(&eigenvalues(space, &neighbors.of(q as usize)[..k]));
            asked[block]
                .iter()
                .map(of_query)
                .collect::<Vec<Option<LocalDimensions>>>()
        });
        LocalAxes {
            found: found.concat(),
            queries,
        }
    }
}

/// The eigenvalues of the scatter of these rows, largest first.
fn eigenvalues(space: &Space, rows: &[u32]) -> Vec<f64> {
    let (k, d) = (rows.len(), space.columns());
    let mut values = vec![0.0; k * d];
    for (row, out) in rows.iter().zip(values.chunks_exact_mut(d)) {
        space.read_row(*row as usize, out);
    }
    for column in 0..d {
        let mean = (0..k).map(|row| values[row * d + column]).sum::<f64>() / k as f64;
        (0..k).for_each(|row| values[row * d + column] -= mean);
    }
    // Of unit size, so that squares stay in range; shares do not change.
    let largest = values.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return Vec::new();
    }
    values.iter_mut().for_each(|x| *x /= largest);
    if k < d {
        let row = |i: usize| &values[i * d..(i + 1) * d];
        let products = Mat::from_fn(k, k, |i, j| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum::<f64>());
        return singular_values(&products);
    }
    let singular = singular_values(&Mat::from_fn(k, d, |i, j| values[i * d + j]));
    singular.into_iter().map(|s| s * s).collect()
}

fn dimensions(eigenvalues: &[f64]) -> Option<LocalDimensions> {
    let (first, sum) = (*eigenvalues.first()?, eigenvalues.iter().sum::<f64>());
    let squares: f64 = eigenvalues.iter().map(|e| e * e).sum();
    (first > 0.0).then(|| LocalDimensions {
        fukunaga_olsen: eigenvalues.iter().filter(|e| **e > OF_LARGEST * first).count() as f64,
        fan: fan(eigenvalues, sum),
        participation: sum * sum / squares,
    })
}

/// Less the mean of what is noise, the first eigenvalue before a large gap, or with which enough of the sum is reached.
fn fan(eigenvalues: &[f64], sum: f64) -> f64 {
    let reached = |values: &[f64], share: f64, total: f64| {
        let mut partial = 0.0;
        values.iter().position(|e| {
            partial += e;
            partial / total > share
        })
    };
    let last = eigenvalues.len() - 1;
    let from = reached(eigenvalues, SIGNAL, sum).unwrap_or(last);
    let noise = eigenvalues[from..].iter().sum::<f64>() / (eigenvalues.len() - from) as f64;
    let left: Vec<f64> = eigenvalues.iter().map(|e| e - noise).collect();
    let gap = left.windows(2).position(|pair| pair[0] / pair[1] > GAP);
    let enough = reached(&left, ENOUGH, left.iter().sum());
    let count = gap.unwrap_or(last).min(enough.unwrap_or(last)) + 1;
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_directions_count_and_small_ones_do_not() {
        let found = dimensions(&[1.0, 1.0, 1.0, 0.04]).unwrap();
        assert_eq!((found.fukunaga_olsen, found.fan), (3.0, 2.0));
        assert!((found.participation - 3.04f64.powi(2) / 3.0016).abs() < 1e-12);
        assert_eq!(dimensions(&[]), None);
    }

    #[test]
    fn rows_on_a_plane_have_two_dimensions_whatever_the_width() {
        let rows: Vec<u32> = (0..12).collect();
        for columns in [3, 20] {
            let values = (0..12 * columns).map(|at| {
                let (row, column) = ((at / columns) as f64, at % columns);
                (row * 1.7).sin() * (column as f64 + 1.0) + (row * 2.3).cos() * (column as f64 - 1.0).powi(2) + 5.0
            });
            let space = Space::from_f64("z", 12, columns, values.collect()).unwrap();
            let found = eigenvalues(&space, &rows);
            assert!(found[1] > 1e-6 * found[0] && found[2] < 1e-12 * found[0], "{found:?}");
        }
    }
}
