// SPDX-License-Identifier: MIT
//! The data the claims speak of: the two files of the CLID / RankMe specification, and data drawn or built with known properties.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use repscope_core::Space;
use repscope_io::{InputPath, Pool, read_array};

/// The worked examples of the CLID / RankMe specification.
pub struct Examples {
    pub blobs: Space,
    pub matrix: Space,
}

const BLOBS: &[u8] = include_bytes!("../../validation/blobs.npy");
const MATRIX: &[u8] = include_bytes!("../../validation/matrix.npy");
const BLOBS_SHAPE: [usize; 2] = [200, 10];
const MATRIX_SHAPE: [usize; 2] = [100, 50];
/// Where the values of a file that NumPy wrote begin; the header before says what the constants above say.
const HEADER: usize = 128;

impl Examples {
    /// The files that are built into the program.
    pub fn shipped() -> Result<Self> {
        let (blobs, _) = BLOBS[HEADER..].as_chunks();
        let (matrix, _) = MATRIX[HEADER..].as_chunks();
        let [n, d] = BLOBS_SHAPE;
        let blobs = Space::from_f64("blobs", n, d, blobs.iter().map(|&b| f64::from_le_bytes(b)).collect())?;
        let [n, d] = MATRIX_SHAPE;
        let matrix = Space::from_f32("matrix", n, d, matrix.iter().map(|&b| f32::from_le_bytes(b)).collect())?;
        Ok(Examples { blobs, matrix })
    }

    /// `blobs.npy` and `matrix.npy` of a folder.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        Ok(Examples {
            blobs: read(folder, "blobs.npy", BLOBS_SHAPE)?,
            matrix: read(folder, "matrix.npy", MATRIX_SHAPE)?,
        })
    }
}

fn read(folder: &Path, name: &str, [rows, columns]: [usize; 2]) -> Result<Space> {
    // Not parsed from text: a `#` in the name of a folder is no key.
    let path = InputPath {
        path: folder.join(name),
        key: None,
    };
    let array =
        read_array(&path).map_err(|e| anyhow!("{e}; validation/make_examples.py writes blobs.npy and matrix.npy"))?;
    let space = array.into_space(name, Pool::Flatten)?;
    if [space.rows(), space.columns()] != [rows, columns] {
        bail!(
            "{} holds {} × {} numbers, but the claims speak of {rows} × {columns}; write it with \
             validation/make_examples.py",
            folder.join(name).display(),
            space.rows(),
            space.columns()
        );
    }
    Ok(space)
}

/// A source of random numbers: SplitMix64 (Steele, Lea and Flood 2014).
pub struct Draw(pub u64);

impl Draw {
    /// Uniform over the open interval from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = self.0;
        let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (((x ^ (x >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    /// `count` orthogonal directions of length 1 in `dimensions`, row by row, by Gram and Schmidt.
    pub fn directions(&mut self, count: usize, dimensions: usize) -> Vec<f64> {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        while rows.len() < count {
            let mut row = self.normals(dimensions);
            // Twice: the second round removes what rounding left in the first.
            for earlier in rows.iter().chain(rows.iter()) {
                let overlap: f64 = row.iter().zip(earlier).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(earlier).for_each(|(a, b)| *a -= overlap * b);
            }
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            rows.push(row.into_iter().map(|x| x / length).collect());
        }
        rows.concat()
    }
}

/// The product of two matrices row by row, the left of `inner` columns.
pub fn product(left: &[f64], inner: usize, right: &[f64]) -> Vec<f64> {
    let width = right.len() / inner;
    let cell = |row: &[f64], c: usize| -> f64 {
        row.iter()
            .zip(right[c..].iter().step_by(width))
            .map(|(a, b)| a * b)
            .sum()
    };
    let row = |row: &[f64]| (0..width).map(|c| cell(row, c)).collect::<Vec<f64>>();
    left.chunks_exact(inner).flat_map(row).collect()
}

/// Rows ±√λ_i in direction i: their mean is 0, so centering changes nothing, and the eigenvalues of their second
/// moments are proportional to the λ_i.
pub fn with_eigenvalues(eigenvalues: &[f64]) -> Vec<f64> {
    let d = eigenvalues.len();
    let mut values = vec![0.0; 2 * d * d];
    for (i, eigenvalue) in eigenvalues.iter().enumerate() {
        values[2 * i * d + i] = eigenvalue.sqrt();
        values[(2 * i + 1) * d + i] = -eigenvalue.sqrt();
    }
    values
}

/// Data of different shapes, so that bounds are approached from several sides.
pub fn random_sets() -> Result<Vec<Space>> {
    let mut draw = Draw(42);
    let normal = draw.normals(150 * 12);
    let uniform = (0..150 * 6).map(|_| draw.uniform()).collect();
    let tails = draw.normals(120 * 10).iter().map(|x| x.powi(3)).collect();
    let centers = draw.normals(4 * 8);
    let clustered = (0..160 * 8).map(|i| 5.0 * centers[i % 32] + draw.normal()).collect();
    let (left, right) = (draw.normals(120 * 3), draw.normals(3 * 30));
    let low_rank = product(&left, 3, &right)
        .iter()
        .map(|x| x + 0.01 * draw.normal())
        .collect();
    let wide = draw.normals(40 * 60);
    let sets = [
        (12, normal),
        (6, uniform),
        (10, tails),
        (8, clustered),
        (30, low_rank),
        (60, wide),
    ];
    sets.into_iter()
        .map(|(columns, values)| space(columns, values))
        .collect()
}

/// Row by row.
pub fn space(columns: usize, values: Vec<f64>) -> Result<Space> {
    Ok(Space::from_f64("embeddings", values.len() / columns, columns, values)?)
}

/// All numbers of a space, row by row.
pub fn numbers(space: &Space) -> Vec<f64> {
    let mut values = vec![0.0; space.rows() * space.columns()];
    for (i, row) in values.chunks_exact_mut(space.columns()).enumerate() {
        space.read_row(i, row);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_is_what_the_files_hold() {
        let files = Examples::in_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("validation")).unwrap();
        let shipped = Examples::shipped().unwrap();
        assert_eq!(numbers(&shipped.blobs), numbers(&files.blobs));
        assert_eq!(numbers(&shipped.matrix), numbers(&files.matrix));
    }

    #[test]
    fn drawn_directions_are_orthogonal_and_of_length_one() {
        let rows = Draw(7).directions(4, 6);
        for (i, a) in rows.chunks_exact(6).enumerate() {
            for (j, b) in rows.chunks_exact(6).enumerate() {
                let inner: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                assert!((inner - f64::from(u8::from(i == j))).abs() < 1e-15, "{i} {j}: {inner}");
            }
        }
    }

    #[test]
    fn products_are_those_of_matrices() {
        // (1 2; 3 4) · (5 6 7; 8 9 10)
        let got = product(&[1.0, 2.0, 3.0, 4.0], 2, &[5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_eq!(got, [21.0, 24.0, 27.0, 47.0, 54.0, 61.0]);
    }
}
