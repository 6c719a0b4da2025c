// SPDX-License-Identifier: MIT
//! Coding rates: how many nats an embedding of unit length takes when it may be off by ε, for all rows and class by class.
//!
//! R = ½ ln det(I + weight · D / (n · ε²) · ZᵀZ), with Z the n × D matrix of unit-length rows (Ma, Derksen, Hong and Wright
//! 2007). ZᵀZ may be replaced by ZZᵀ, det(I + c·ZᵀZ) = det(I + c·ZZᵀ), so no matrix is larger than min(n, D)². The
//! determinant is taken by Cholesky's decomposition in f64.
//!
//! With A = I + c·ZᵀZ, what row i does to R is half its leverage c·z_iᵀ A⁻¹ z_i, which the same decomposition gives. Without some rows
//! whose leverages with each other are H, ½ ln det A is smaller by −½ ln det(I − H), because det(A − c·Z₁ᵀZ₁) = det A · det(I − H). What
//! two rows do together, beyond what each does, is minus half their squared leverage c·z_iᵀ A⁻¹ z_j, less its means.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{MatMut, MatRef, Par};

use super::prepared::unit_factors;
use super::unit_pairs::{Between, UnitSample};
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
/// Up to this many products the determinants of groups are taken; beyond, rows of a group are taken to be left out one by one.
const PRODUCTS_OF_GROUPS: u64 = 1 << 33;

/// Coding rates in nats.
pub(crate) struct CodingRates {
    /// Of all rows, with the weight γ1.
    pub(crate) whole: Rate,
    /// Of each class that has rows; none where there are no classes.
    pub(crate) classes: Vec<Rate>,
    /// How many rows each unit has: each row, or each group that has any.
    pub(crate) units: Vec<usize>,
    /// What two units do together to the rate of all rows, and to the mean rate of the classes.
    pub(crate) pairs: [Between; 2],
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
    /// For each unit that has any of them: the unit, how many, and how much smaller ½ ln det A is without them. Empty without leverages.
    pub(crate) losses: Vec<(usize, usize, f64)>,
    /// √c·L⁻¹z of those whose pairs are looked at: products of two are leverages.
    solved: Vec<(u32, Vec<f64>)>,
}

impl Rate {
    /// The rate without the rows of a unit, from an entry of `losses`: of fewer rows, each has more weight. None where it has all.
    pub(crate) fn without(&self, count: usize, loss: f64) -> Option<f64> {
        let leverages: f64 = self.leverages.as_ref()?.iter().sum();
        let left = self.members.len() - count;
        (left > 0).then(|| self.rate - loss + leverages / 2.0 * count as f64 / left as f64)
    }

    /// Minus half the squared leverage of each two of the rows in `solved`, less its means, line by line.
    fn together(&self) -> Vec<f64> {
        let n = self.solved.len();
        let square = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>().powi(2);
        let mut all: Vec<f64> = self
            .solved
            .iter()
            .flat_map(|(_, a)| self.solved.iter().map(|(_, b)| square(a, b)))
            .collect();
        let means: Vec<f64> = all
            .chunks_exact(n.max(1))
            .map(|line| line.iter().sum::<f64>() / n as f64)
            .collect();
        let whole = means.iter().sum::<f64>() / n as f64;
        for (i, line) in all.chunks_exact_mut(n.max(1)).enumerate() {
            let parts = line.iter_mut().zip(&means);
            parts.for_each(|(x, mean)| *x = -0.5 * (*x - means[i] - mean + whole));
        }
        all
    }
}

impl CodingRates {
    /// The rates of all rows and of the rows of each of the `classes`, a code per row; `groups` of rows are units, if there are any.
    pub(crate) fn new(
        space: &Space,
        classes: Option<&[u32]>,
        groups: Option<&[u32]>,
        spec: &Mcr2Spec,
        driver: &Driver,
    ) -> Result<Self> {
        let factors = unit_factors(space)?;
        let members = members(classes.unwrap_or(&[]));
        let sample = UnitSample::new(space.rows(), space.columns(), groups);
        let (mut unit_of, mut is_looked_at) = (vec![0; space.rows()], vec![false; space.rows()]);
        for (unit, rows) in sample.members.iter().enumerate() {
            rows.iter().for_each(|&row| unit_of[row as usize] = unit);
        }
        sample.rows().for_each(|row| is_looked_at[row as usize] = true);
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
            let of = |members: &[u32]| solved(&UnitRows { members, ..rows }, &factor, scale);
            let losses = match &leverages {
                Some(leverages) if groups.is_some() => losses_of_groups(members, leverages, &unit_of, of, driver),
                Some(leverages) => losses_of_rows(members, leverages, &unit_of),
                None => Vec::new(),
            };
            let looked_at = members.iter().copied().filter(|&row| is_looked_at[row as usize]);
            let looked_at: Vec<u32> = looked_at.filter(|_| is_enough).collect();
            let solved = of(&looked_at);
            let solved = solved.chunks_exact(space.columns()).map(<[f64]>::to_vec);
            progress.advance(1);
            Ok(Rate {
                rate: half_log_determinant(&factor),
                leverages,
                losses,
                solved: looked_at.into_iter().zip(solved).collect(),
                members: members.to_vec(),
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
        let pairs_of = |rates: &[&Rate]| {
            // By row: the rate it is in, and its place there.
            let mut place = vec![None; space.rows()];
            for (rate, found) in rates.iter().enumerate() {
                let solved = found.solved.iter().enumerate();
                solved.for_each(|(at, (row, _))| place[*row as usize] = Some((rate, at)));
            }
            let together: Vec<Vec<f64>> = rates.iter().map(|rate| rate.together()).collect();
            let share = |rate: usize| rates[rate].members.len() as f64 / space.rows() as f64;
            let of_pair = |i: u32, j: u32| match (place[i as usize], place[j as usize]) {
                (Some((a, i)), Some((b, j))) if a == b => share(a) * together[a][i * rates[a].solved.len() + j],
                _ => 0.0,
            };
            sample.between(of_pair, driver)
        };
        Ok(CodingRates {
            pairs: [pairs_of(&[&whole]), pairs_of(&rates.iter().collect::<Vec<&Rate>>())],
            units: sample.members.iter().map(Vec::len).collect(),
            whole,
            classes: rates,
        })
    }
}

/// How much smaller ½ ln det A is without each row.
fn losses_of_rows(members: &[u32], leverages: &[f64], unit_of: &[usize]) -> Vec<(usize, usize, f64)> {
    let loss = |(&row, &leverage): (&u32, &f64)| (unit_of[row as usize], 1, loss_of_row(leverage));
    members.iter().zip(leverages).map(loss).collect()
}

fn loss_of_row(leverage: f64) -> f64 {
    -0.5 * (-leverage).ln_1p()
}

/// The same without the rows of each group, by their leverages with each other.
fn losses_of_groups(
    members: &[u32],
    leverages: &[f64],
    unit_of: &[usize],
    solved: impl Fn(&[u32]) -> Vec<f64> + Sync,
    driver: &Driver,
) -> Vec<(usize, usize, f64)> {
    let mut places: Vec<usize> = (0..members.len()).collect();
    places.sort_by_key(|&place| unit_of[members[place] as usize]);
    let unit = |place: usize| unit_of[members[place] as usize];
    let groups: Vec<&[usize]> = places.chunk_by(|&a, &b| unit(a) == unit(b)).collect();
    let columns = solved(&members[..1.min(members.len())]).len();
    let products = |rows: usize| (rows.min(columns) as u64).pow(2) * rows.max(columns) as u64;
    let is_short = groups.iter().map(|rows| products(rows.len())).sum::<u64>() <= PRODUCTS_OF_GROUPS;
    let losses = driver.map(groups.len(), |group| {
        let places = groups[group];
        let one_by_one = || places.iter().map(|&place| loss_of_row(leverages[place])).sum();
        let rows: Vec<u32> = places.iter().map(|&place| members[place]).collect();
        let found = is_short.then(|| log_determinant_without(&solved(&rows), rows.len(), columns));
        found.flatten().unwrap_or_else(one_by_one)
    });
    let counted = groups.iter().zip(losses);
    counted
        .map(|(places, loss)| (unit(places[0]), places.len(), loss))
        .collect()
}

/// −½ ln det(I − VVᵀ) of V with so many lines and columns, by VVᵀ or VᵀV, whichever is smaller.
fn log_determinant_without(v: &[f64], rows: usize, columns: usize) -> Option<f64> {
    let size = rows.min(columns);
    let at = |side: usize, term: usize| match rows <= columns {
        true => v[side * columns + term],
        false => v[term * columns + side],
    };
    let mut values = vec![0.0; size * size];
    for b in 0..size {
        for a in b..size {
            values[b * size + a] = (0..rows.max(columns)).map(|term| at(a, term) * at(b, term)).sum();
        }
    }
    let factor = factor(Triangle { size, values }, -1.0).ok()?;
    Some(-half_log_determinant(&factor))
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

/// √scale · L⁻¹ z of each row z, one after the other.
fn solved(rows: &UnitRows, factor: &Triangle, scale: f64) -> Vec<f64> {
    let (count, size) = (rows.members.len(), factor.size);
    let lower = MatRef::from_column_major_slice(&factor.values, size, size);
    let mut block = vec![0.0; count * size];
    rows.copy(0..count, 0..size, &mut block);
    let columns = MatMut::from_column_major_slice_mut(&mut block, size, count);
    solve_lower_triangular_in_place(lower, columns, Par::Seq);
    let root = scale.sqrt();
    block.iter_mut().for_each(|x| *x *= root);
    block
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
        let of = |order| CodingRates::new(&space, Some(&classes), None, &spec, &Driver::silent(order)).unwrap();
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
            let whole = CodingRates::new(&alone, None, None, &spec, &Driver::silent(Order::Parallel)).unwrap();
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
        let rates = CodingRates::new(&space, None, None, &spec, &Driver::silent(Order::Parallel)).unwrap();
        let leverages = rates.whole.leverages.unwrap();
        assert!((leverages[0] - 25.0 / 151.0).abs() < 1e-14 && (leverages[7] - 25.0 / 51.0).abs() < 1e-14);
    }

    #[test]
    fn the_rate_without_a_row_or_a_group_is_found_from_leverages() {
        let mut rng = stream(2, "coding rates", 0);
        let values: Vec<f64> = (0..60 * 3).map(|_| rng.random::<f64>() - 0.4).collect();
        let space = Space::from_f64("z", 60, 3, values).unwrap();
        let spec = Mcr2Spec {
            gamma1: 1.0,
            gamma2: 1.0,
            eps: 0.01,
        };
        let driver = Driver::silent(Order::Serial);
        let groups: Vec<u32> = (0..60).map(|row| row / 5).collect();
        for codes in [None, Some(&groups[..])] {
            let rates = CodingRates::new(&space, None, codes, &spec, &driver).unwrap();
            assert_eq!(rates.whole.losses.len(), if codes.is_some() { 12 } else { 60 });
            for &(unit, count, loss) in &rates.whole.losses {
                let is_in = |row: &usize| codes.map_or(*row, |codes| codes[*row] as usize) == unit;
                let kept: Vec<usize> = (0..60).filter(|row| !is_in(row)).collect();
                let left = CodingRates::new(&space.select(&kept).unwrap(), None, None, &spec, &driver).unwrap();
                let found = rates.whole.without(count, loss).unwrap();
                // The larger weight of the rows that are left is taken to first order: (count / left)² of about 3 leverages.
                let slack = 2.0 * (count as f64 / kept.len() as f64).powi(2);
                assert!(
                    (found - left.whole.rate).abs() < slack,
                    "{unit}: {found} {}",
                    left.whole.rate
                );
                assert!((rates.whole.rate - left.whole.rate).abs() > 0.0);
            }
        }
    }
}
