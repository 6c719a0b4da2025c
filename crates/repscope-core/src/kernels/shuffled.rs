// SPDX-License-Identifier: MIT
//! What the mean cosine of pairs would be if the pairs were shuffled.
//!
//! Let a_ij = ⟨x_i, y_j⟩ of unit rows. Over all pairings π of N rows, the mean of Σ a_iπ(i) / N is the mean of all a_ij, that
//! is ⟨mean x, mean y⟩, and its variance is Σ d_ij² / (N²·(N − 1)), where d_ij = ⟨x_i − mean x, y_j − mean y⟩ (Hoeffding 1951).
//! The sum of squares is Σ over a, b of A_ab·B_ab, A and B the D × D products of the centered rows with themselves; where
//! there are fewer rows than columns, the d_ij are made, block by block. Nothing is drawn at random.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::matched::is_direct;
use super::prepared::BLOCK;
use super::similarity::{Products, Side};
use super::unit_matrix::UnitMatrix;
use super::unit_rows::UnitRows;
use crate::random;
use crate::run::Driver;

/// Means closer than this are equal up to rounding.
const EQUAL: f64 = 1e-12;

/// The mean cosine over all pairings, and its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shuffled {
    pub(crate) mean: f64,
    pub(crate) std: f64,
}

/// The exact moments of the mean cosine of shuffled pairs; there must be two at least.
pub(crate) fn moments(products: &Products, driver: &Driver) -> Shuffled {
    let (x, y) = (products.query, products.target);
    let (of_x, of_y) = (x.mean(driver), y.mean(driver));
    let members: Vec<u32> = (0..x.space.rows() as u32).collect();
    let x = centered_rows(x, &members, &of_x);
    let y = centered_rows(y, &members, &of_y);
    let n = members.len() as f64;
    let squares = if members.len() >= x.space.columns() {
        by_columns(&x, &y, driver)
    } else {
        by_rows(&x, &y, driver)
    };
    let std = (squares / (n - 1.0)).sqrt() / n;
    Shuffled {
        mean: of_x.iter().zip(&of_y).map(|(a, b)| a * b).sum(),
        std: if std <= EQUAL { 0.0 } else { std },
    }
}

fn centered_rows<'a>(side: &'a Side, members: &'a [u32], mean: &'a [f64]) -> UnitRows<'a> {
    UnitRows {
        space: side.space,
        factors: side.factors(),
        members,
        mean: Some(mean),
    }
}

/// Σ A_ab·B_ab over both triangles.
fn by_columns(x: &UnitRows, y: &UnitRows, driver: &Driver) -> f64 {
    let (a, b) = (x.products(driver), y.products(driver));
    let mut sum = 0.0;
    for column in 0..a.size {
        let lower = column * a.size + column..(column + 1) * a.size;
        let mut terms = a.values[lower.clone()].iter().zip(&b.values[lower]).map(|(a, b)| a * b);
        sum += terms.next().unwrap_or(0.0) + 2.0 * terms.sum::<f64>();
    }
    sum
}

/// Σ d_ij².
fn by_rows(x: &UnitRows, y: &UnitRows, driver: &Driver) -> f64 {
    let (n, d) = (x.members.len(), x.space.columns());
    let span = |b: usize| b * BLOCK..n.min((b + 1) * BLOCK);
    let blocks = n.div_ceil(BLOCK);
    let squares = driver.map(blocks * blocks, |task| {
        let (rows, columns) = (span(task / blocks), span(task % blocks));
        let copy = |side: &UnitRows, places: std::ops::Range<usize>| {
            let mut values = vec![0.0; places.len() * d];
            side.copy(places, 0..d, &mut values);
            values
        };
        let (left, right) = (copy(x, rows.clone()), copy(y, columns.clone()));
        let mut out = vec![0.0; rows.len() * columns.len()];
        matmul(
            MatMut::from_row_major_slice_mut(&mut out, rows.len(), columns.len()),
            Accum::Replace,
            MatRef::from_row_major_slice(&left, rows.len(), d),
            MatRef::from_row_major_slice(&right, columns.len(), d).transpose(),
            1.0,
            Par::Seq,
        );
        out.iter().map(|d| d * d).sum::<f64>()
    });
    squares.iter().sum()
}

/// The share of random pairings, the given one counted as one of them, whose mean cosine is at least the given one.
pub(crate) fn p_value(products: &Products, given: f64, draws: usize, seed: u64, driver: &Driver) -> f64 {
    let n = products.query.space.rows();
    let matrices = is_direct(n, products.query.space.columns()).then(|| {
        let (signals, texts) = (products.query, products.target);
        (UnitMatrix::new(signals, driver), UnitMatrix::new(texts, driver))
    });
    let cosine = |i: usize, j: usize| match &matrices {
        Some((signals, texts)) => texts.cosine(signals.row(i), j),
        None => products.exact(i, j),
    };
    driver.progress().begin("random pairings", draws as u64);
    let is_as_large = driver.map(draws, |draw| {
        let order = random::permutation(n, &mut random::stream(seed, "pairings", draw as u64));
        let sum: f64 = (0..n).map(|i| cosine(i, order[i] as usize)).sum();
        driver.progress().advance(1);
        sum / n as f64 >= given - EQUAL
    });
    (1 + is_as_large.iter().filter(|is| **is).count()) as f64 / (draws + 1) as f64
}
