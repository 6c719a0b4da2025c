// SPDX-License-Identifier: MIT
//! Coding rates: how many nats an embedding of unit length takes when it may be off by ε, for all rows and class by class.
//!
//! R = ½ ln det(I + weight · D / (n · ε²) · ZᵀZ), with Z the n × D matrix of unit-length rows (Ma, Derksen, Hong and Wright
//! 2007). ZᵀZ may be replaced by ZZᵀ, det(I + c·ZᵀZ) = det(I + c·ZZᵀ), so no matrix is larger than min(n, D)². The
//! determinant is taken by Cholesky's decomposition in f64.
//!
//! With A = I + c·ZᵀZ, what row i does to R is half its leverage c·z_iᵀ A⁻¹ z_i, which the same decomposition gives.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{MatMut, MatRef, Par};

use super::prepared::unit_factors;
use super::unit_rows::{Triangle, UnitRows};
use crate::data::Space;
use crate::error::{Error, Result};
use crate::run::{Driver, Order};
use crate::spec::Mcr2Spec;

/// A class of at most this many products and entries (a second and 16 MiB) is one task; larger ones are cut into tasks.
const PRODUCTS: u64 = 1 << 33;
const ENTRIES: u64 = 1 << 21;

/// Fewer rows for each column say too little about how a rate varies: each further row opens a direction of its own.
const ROWS_PER_COLUMN: usize = 4;
/// Rows per task when leverages are taken.
const ROWS: usize = 256;

/// Coding rates in nats.
pub(crate) struct CodingRates {
    /// Of all rows, with the weight γ1.
    pub(crate) whole: Rate,
    /// Of each class that has rows; none where there are no classes.
    pub(crate) classes: Vec<Rate>,
}

/// The coding rate of some rows.
#[derive(Debug, PartialEq)]
pub(crate) struct Rate {
    /// Which rows.
    pub(crate) members: Vec<u32>,
    /// In nats.
    pub(crate) rate: f64,
    /// c·zᵀ A⁻¹ z of each of them; none where there are fewer than four rows per column.
    pub(crate) leverages: Option<Vec<f64>>,
}

impl CodingRates {
    /// The rates of all rows and of the rows of each of the `classes`, a code per row.
    pub(crate) fn new(space: &Space, classes: Option<&[u32]>, spec: &Mcr2Spec, driver: &Driver) -> Result<Self> {
        let factors = unit_factors(space)?;
        let members = members(classes.unwrap_or(&[]));
        let progress = driver.progress();
        progress.begin("coding rates", 1 + members.len() as u64);
        let rate = |members: &[u32], weight: f64, driver: &Driver| {
            let rows = UnitRows {
                space,
                factors: &factors,
                members,
                mean: None,
            };
            let scale = weight * space.columns() as f64 / (members.len() as f64 * spec.eps);
            let factor = factor(rows.products(driver), scale)?;
            let is_enough = members.len() >= ROWS_PER_COLUMN * space.columns();
            let leverages = is_enough.then(|| leverages(&rows, &factor, scale, driver));
            progress.advance(1);
            Ok(Rate {
                members: members.to_vec(),
                rate: half_log_determinant(&factor),
                leverages,
            })
        };
        let all: Vec<u32> = (0..space.rows() as u32).collect();
        let whole = rate(&all, spec.gamma1, driver)?;
        let serial = Driver::silent(Order::Serial);
        let small: Vec<Option<Result<Rate>>> = driver.map(members.len(), |class| {
            let is_small = is_one_task(members[class].len(), space.columns());
            is_small.then(|| rate(&members[class], 1.0, &serial))
        });
        let large = |rows: &[u32]| rate(rows, 1.0, driver);
        let rates = members
            .iter()
            .zip(small)
            .map(|(rows, found)| found.unwrap_or_else(|| large(rows)));
        let rates = rates.collect::<Result<Vec<Rate>>>()?;
        Ok(CodingRates { whole, classes: rates })
    }
}

/// The rows of each class that has any.
fn members(classes: &[u32]) -> Vec<Vec<u32>> {
    let count = classes.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members = vec![Vec::new(); count];
    for (row, &class) in classes.iter().enumerate() {
        members[class as usize].push(row as u32);
    }
    members.retain(|rows| !rows.is_empty());
    members
}

fn is_one_task(rows: usize, columns: usize) -> bool {
    let (rows, columns) = (rows as u64, columns as u64);
    let side = rows.min(columns);
    side * side <= ENTRIES && rows.saturating_mul(columns).saturating_mul(side) <= PRODUCTS
}

/// Cholesky's factor of I + scale · products.
fn factor(products: Triangle, scale: f64) -> Result<Triangle> {
    let Triangle { size, mut values } = products;
    values.iter_mut().for_each(|x| *x *= scale);
    for i in 0..size {
        values[i * size + i] += 1.0;
    }
    let scratch = cholesky_in_place_scratch::<f64>(size, Par::Seq, Default::default());
    cholesky_in_place(
        MatMut::from_column_major_slice_mut(&mut values, size, size),
        Default::default(),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        Default::default(),
    )
    .map_err(|error| {
        Error::Internal(format!(
            "identity plus products of rows has no Cholesky factor: {error}"
        ))
    })?;
    Ok(Triangle { size, values })
}

/// ½ ln det of a matrix from its Cholesky factor: the sum of the logarithms of the diagonal.
fn half_log_determinant(factor: &Triangle) -> f64 {
    (0..factor.size).map(|i| factor.values[i * factor.size + i].ln()).sum()
}

/// scale · ‖L⁻¹ z‖² of each row z, with L the factor of the matrix of their columns.
fn leverages(rows: &UnitRows, factor: &Triangle, scale: f64, driver: &Driver) -> Vec<f64> {
    let (count, size) = (rows.members.len(), factor.size);
    let lower = MatRef::from_column_major_slice(&factor.values, size, size);
    let parts = driver.blocks(count, ROWS, |places| {
        let mut block = vec![0.0; places.len() * size];
        rows.copy(places.clone(), 0..size, &mut block);
        let solved = MatMut::from_column_major_slice_mut(&mut block, size, places.len());
        solve_lower_triangular_in_place(lower, solved, Par::Seq);
        let leverage = |row: &[f64]| scale * row.iter().map(|x| x * x).sum::<f64>();
        block.chunks_exact(size).map(leverage).collect::<Vec<f64>>()
    });
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use rand::RngExt;

    #[test]
    fn the_determinant_of_a_known_matrix() {
        // I + 2·[[1, 1], [1, 3]] = [[3, 2], [2, 7]], determinant 17. The upper triangle is not read.
        let products = Triangle {
            size: 2,
            values: vec![1.0, 1.0, f64::MAX, 3.0],
        };
        assert!((half_log_determinant(&factor(products, 2.0).unwrap()) - 17f64.ln() / 2.0).abs() < 1e-15);
    }

    #[test]
    fn classes_without_rows_have_no_rate() {
        assert_eq!(members(&[3, 0, 3]), [vec![1], vec![0, 2]]);
        assert!(members(&[]).is_empty());
    }

    #[test]
    fn a_class_that_is_cut_into_tasks_has_the_bits_of_one_that_is_not() {
        // 1,500 columns make 2.25 million entries: class 0 is cut, class 1 is one task; here each is also alone.
        let mut rng = stream(1, "coding rates", 0);
        let (rows, columns) = (1700, 1500);
        let values: Vec<f64> = (0..rows * columns).map(|_| rng.random::<f64>() - 0.5).collect();
        let space = Space::from_f64("z", rows, columns, values).unwrap();
        let classes: Vec<u32> = (0..rows).map(|i| u32::from(i >= 1500)).collect();
        assert!(!is_one_task(1500, columns) && is_one_task(200, columns));
        let spec = Mcr2Spec {
            gamma1: 1.0,
            gamma2: 1.0,
            eps: 0.01,
        };
        let of = |order| CodingRates::new(&space, Some(&classes), &spec, &Driver::silent(order)).unwrap();
        let serial = of(Order::Serial);
        for order in [Order::Parallel, Order::Shuffled(3)] {
            let found = of(order);
            assert!(
                found.whole == serial.whole && found.classes == serial.classes,
                "{order:?}"
            );
        }
        for (class, of_class) in serial.classes.iter().enumerate() {
            let members: Vec<usize> = (0..rows).filter(|&i| classes[i] as usize == class).collect();
            let alone = space.select(&members).unwrap();
            let whole = CodingRates::new(&alone, None, &spec, &Driver::silent(Order::Parallel)).unwrap();
            assert_eq!(of_class.members.len(), members.len());
            assert_eq!(of_class.rate.to_bits(), whole.whole.rate.to_bits());
        }
    }

    #[test]
    fn the_leverage_of_a_row_on_an_axis_is_known() {
        // 6 rows on the first axis and 2 on the second: c = 2/(8·0.01) = 25, A = diag(1 + 6c, 1 + 2c).
        let values: Vec<f64> = (0..8)
            .flat_map(|i| if i < 6 { [3.0, 0.0] } else { [0.0, -2.0] })
            .collect();
        let space = Space::from_f64("z", 8, 2, values).unwrap();
        let spec = Mcr2Spec {
            gamma1: 1.0,
            gamma2: 1.0,
            eps: 0.01,
        };
        let rates = CodingRates::new(&space, None, &spec, &Driver::silent(Order::Parallel)).unwrap();
        let leverages = rates.whole.leverages.unwrap();
        assert!((leverages[0] - 25.0 / 151.0).abs() < 1e-14 && (leverages[7] - 25.0 / 51.0).abs() < 1e-14);
    }
}
