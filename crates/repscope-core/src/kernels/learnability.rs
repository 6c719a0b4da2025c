// SPDX-License-Identifier: MIT
//! Cluster learnability: the rows are clustered, cut into random halves, and one half votes about the clusters of the other.
//!
//! The embeddings may be standardized column by column and brought to length 1 first, as [`ClidSpec`] says. The nearest rows
//! do not depend on the clusters, so one sweep serves all clusterings and all halves.

use std::sync::Arc;

use rand::seq::SliceRandom;

use super::clusters::{Swaps, kmeans};
use super::knn_vote::{Flips, Role, Vote, VoteUnits, draw_groups, looked_up};
use super::moments::column_means;
use super::neighbors::Neighbors;
use super::prepared::{Preparation, Prepared, length};
use super::tiles::{Anchors, Ask, sweep};
use crate::data::{Labels, Slice, Space, Values};
use crate::error::{Error, Result};
use crate::random;
use crate::run::Driver;
use crate::spec::{Spec, UnitLength};

/// Rows per task when embeddings are changed.
const ROWS: usize = 1024;
/// The share of the rows that train.
const HALF: f64 = 0.5;

/// What came out of all clusterings and halves.
pub(crate) struct Learnability {
    pub(crate) runs: Vec<Run>,
    /// The mean accuracy over all runs of all rows but one, or of all groups of rows but one.
    pub(crate) without: Vec<f64>,
    /// The neighbors among the rows that voted.
    pub(crate) neighbors: Neighbors,
    /// Rows that could not be brought to length 1, because they are zero.
    pub(crate) zero_rows: usize,
}

/// One clustering with one split.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    pub(crate) split: usize,
    /// Clusters that hold at least two rows.
    pub(crate) clusters: usize,
    /// Clusters of a single row, which is left out.
    pub(crate) lone: usize,
    /// Clusters with fewer training rows than votes are counted, so that they cannot fill a vote.
    pub(crate) small: usize,
    pub(crate) right: usize,
    pub(crate) tested: usize,
    /// How many rows, or groups of rows, have tested rows.
    pub(crate) tested_units: usize,
    /// The share of the tested rows that are in the largest cluster.
    pub(crate) largest: f64,
}

impl Learnability {
    pub(crate) fn new(space: &Space, groups: Option<&Labels>, spec: &Spec, driver: &Driver) -> Result<Self> {
        let steps = &spec.clid;
        let mut embeddings = space.clone();
        if steps.standardize {
            embeddings = standardized(&embeddings, driver)?;
        }
        let mut zero_rows = 0;
        let mut voting = embeddings.clone();
        if steps.unit_length != UnitLength::None {
            (voting, zero_rows) = of_unit_length(&embeddings, driver)?;
        }
        if steps.unit_length == UnitLength::All {
            embeddings = voting.clone();
        }
        let rows = space.rows();
        let ask = Ask {
            k: looked_up(steps.k, HALF, rows, groups).max(2.min(rows - 1)),
            ..Ask::default()
        };
        let prepared = Prepared::new(&voting, Preparation::Raw, driver)?;
        let neighbors = sweep(&prepared, Anchors::All, &ask, driver).neighbors;
        let neighbors = neighbors.ok_or_else(|| Error::Internal("a sweep without its neighbors".to_string()))?;
        let groups = groups.map(Labels::by_appearance);
        let units = VoteUnits::new(groups.as_ref(), rows);
        let mut runs = Vec::with_capacity(steps.repeats * steps.splits);
        let mut without = vec![0.0; units.count];
        for repeat in 0..steps.repeats {
            let seed = spec.seed.wrapping_add(repeat as u64);
            let found = kmeans(
                &embeddings,
                None,
                steps.clusters.of(rows),
                steps.restarts,
                Swaps::None,
                seed,
                driver,
            )?;
            let labels = Labels::from_codes(found.labels, found.counts.len());
            let halves = driver.map(steps.splits, |split| {
                let roles = match &groups {
                    Some(groups) => draw_groups(
                        groups,
                        HALF,
                        &mut random::stream(seed, "halves of groups", split as u64),
                    ),
                    None => draw_halves(&labels, seed, split as u64),
                };
                let vote = Vote {
                    space: &voting,
                    labels: &labels,
                    roles: &roles,
                    k: steps.k,
                };
                let tally = vote.count(&neighbors, Anchors::All, &units, Flips::None)?;
                let run = Run {
                    seed,
                    split,
                    right: tally.right,
                    tested: tally.tested,
                    tested_units: tally.units,
                    ..sizes(&labels, &roles, steps.k)
                };
                Ok((run, tally.without))
            });
            for half in halves {
                let (run, of_units) = half?;
                let accuracy = run.right as f64 / run.tested as f64;
                let share = 1.0 / (steps.repeats * steps.splits) as f64;
                let of_units = without.iter_mut().zip(of_units);
                of_units.for_each(|(sum, own)| *sum += share * own.unwrap_or(accuracy));
                runs.push(run);
            }
        }
        Ok(Learnability {
            runs,
            without,
            neighbors,
            zero_rows,
        })
    }
}

/// About how many bytes it takes: changed copies of the embeddings, their packed rows and the neighbors.
pub(crate) fn memory(space: &Space, groups: Option<&Labels>, spec: &Spec) -> u64 {
    let (n, d) = (space.rows() as u64, space.columns() as u64);
    let each = match space.slice() {
        Slice::F32(_) => 4,
        Slice::F64(_) => 8,
    };
    let copies = u64::from(spec.clid.standardize) + u64::from(spec.clid.unit_length != UnitLength::None);
    n * d * (copies * each + 4) + n * (looked_up(spec.clid.k, HALF, space.rows(), groups) as u64 * 60 + 256)
}

/// What the sizes of the clusters say about a split.
fn sizes(labels: &Labels, roles: &[Role], k: usize) -> Run {
    let mut training = vec![0usize; labels.classes()];
    let mut tested = vec![0usize; labels.classes()];
    for (&class, role) in labels.codes().iter().zip(roles) {
        match role {
            Role::Trains => training[class as usize] += 1,
            Role::Tested => tested[class as usize] += 1,
            Role::LeftOut => {}
        }
    }
    let asked = tested.iter().sum::<usize>().max(1);
    Run {
        seed: 0,
        split: 0,
        clusters: training.iter().filter(|&&count| count > 0).count(),
        lone: labels.counts().iter().filter(|&&count| count == 1).count(),
        small: training.iter().filter(|&&count| count > 0 && count < k).count(),
        right: 0,
        tested: 0,
        tested_units: 0,
        largest: tested.iter().copied().max().unwrap_or(0) as f64 / asked as f64,
    }
}

/// A random half of each cluster trains and the rest is tested. Where clusters have an odd number of rows, the odd row
/// trains in every other cluster, in random order. A cluster of one row is left out.
fn draw_halves(labels: &Labels, seed: u64, split: u64) -> Vec<Role> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); labels.classes()];
    for (row, &class) in labels.codes().iter().enumerate() {
        members[class as usize].push(row);
    }
    members.retain(|rows| rows.len() > 1);
    let mut rng = random::stream(seed, "halves", split);
    members.shuffle(&mut rng);
    let mut roles = vec![Role::LeftOut; labels.rows()];
    let mut odd_trains = true;
    for rows in &mut members {
        rows.shuffle(&mut rng);
        let is_odd = rows.len() % 2 == 1;
        let training = rows.len() / 2 + usize::from(is_odd && odd_trains);
        odd_trains ^= is_odd;
        for (place, &row) in rows.iter().enumerate() {
            roles[row] = if place < training { Role::Trains } else { Role::Tested };
        }
    }
    roles
}

/// Columns with mean 0 and population variance 1; one without variance becomes 0.
fn standardized(space: &Space, driver: &Driver) -> Result<Space> {
    let (n, d) = (space.rows(), space.columns());
    let mean = column_means(space, driver);
    let squares = driver.fold(
        n.div_ceil(ROWS),
        |task| {
            let (mut row, mut sums) = (vec![0.0; d], vec![0.0; d]);
            for i in task * ROWS..n.min((task + 1) * ROWS) {
                space.read_row(i, &mut row);
                for ((s, x), m) in sums.iter_mut().zip(&row).zip(&mean) {
                    *s += (x - m).powi(2);
                }
            }
            sums
        },
        vec![0.0; d],
        |mut total, sums| {
            total.iter_mut().zip(&sums).for_each(|(t, s)| *t += s);
            total
        },
    );
    // A column that varies by no more than rounding is taken as constant.
    let factor = |(square, m): (&f64, &f64)| {
        let deviation = (square / n as f64).sqrt();
        if deviation <= 1e-13 * m.abs() {
            0.0
        } else {
            1.0 / deviation
        }
    };
    let factors: Vec<f64> = squares.iter().zip(&mean).map(factor).collect();
    changed(space, driver, |row| {
        for ((x, m), f) in row.iter_mut().zip(&mean).zip(&factors) {
            *x = (*x - m) * f;
        }
    })
}

/// Rows of length 1, and how many stay zero because they have no direction.
pub(crate) fn of_unit_length(space: &Space, driver: &Driver) -> Result<(Space, usize)> {
    let unit = changed(space, driver, |row| {
        let length = length(row);
        if length >= f64::MIN_POSITIVE {
            row.iter_mut().for_each(|x| *x /= length);
        } else {
            row.fill(0.0);
        }
    })?;
    let mut row = vec![0.0; unit.columns()];
    let is_zero = |&i: &usize| {
        unit.read_row(i, &mut row);
        row.iter().all(|&x| x == 0.0)
    };
    let zero_rows = (0..unit.rows()).filter(is_zero).count();
    Ok((unit, zero_rows))
}

/// A copy of the space with every row changed, in the precision of the original.
fn changed(space: &Space, driver: &Driver, change: impl Fn(&mut [f64]) + Sync) -> Result<Space> {
    let (n, d) = (space.rows(), space.columns());
    let rows = |task: usize| {
        let mut rows = vec![0.0; (n.min((task + 1) * ROWS) - task * ROWS) * d];
        for (i, row) in (task * ROWS..).zip(rows.chunks_exact_mut(d)) {
            space.read_row(i, row);
            change(row);
        }
        rows
    };
    let tasks = n.div_ceil(ROWS);
    let values = match space.slice() {
        Slice::F32(_) => {
            let narrow = |task| rows(task).into_iter().map(|x| x as f32).collect::<Vec<f32>>();
            Values::F32(Arc::new(driver.map(tasks, narrow).concat()))
        }
        Slice::F64(_) => Values::F64(Arc::new(driver.map(tasks, rows).concat())),
    };
    Space::new(space.name(), n, d, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    fn count(roles: &[Role], role: Role) -> usize {
        roles.iter().filter(|&&r| r == role).count()
    }

    #[test]
    fn halves_are_as_equal_as_the_clusters_allow_and_lone_rows_are_left_out() {
        // Clusters of 5, 3, 3, 2 and 1 rows.
        let labels = Labels::from_codes(vec![0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4], 5);
        for split in 0..20 {
            let roles = draw_halves(&labels, 42, split);
            assert_eq!(roles[13], Role::LeftOut);
            // Of the three odd rows two train.
            assert_eq!(count(&roles, Role::Trains), 7);
            assert_eq!(count(&roles, Role::Tested), 6);
            for class in [0..5, 5..8, 8..11, 11..13] {
                let (train, test) = (
                    count(&roles[class.clone()], Role::Trains),
                    count(&roles[class], Role::Tested),
                );
                assert!(train.abs_diff(test) <= 1 && train >= 1 && test >= 1);
            }
        }
        assert_ne!(draw_halves(&labels, 42, 0), draw_halves(&labels, 43, 0));
    }

    #[test]
    fn standardized_columns_have_mean_0_and_variance_1_and_a_constant_one_is_0() {
        let driver = Driver::silent(Order::Parallel);
        let space = Space::from_f64("z", 4, 2, vec![1.0, 0.1, 3.0, 0.1, 1.0, 0.1, 3.0, 0.1]).unwrap();
        let got = standardized(&space, &driver).unwrap();
        let mut row = vec![0.0; 2];
        let rows: Vec<Vec<f64>> = (0..4)
            .map(|i| {
                got.read_row(i, &mut row);
                row.clone()
            })
            .collect();
        assert_eq!(rows, [[-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]);
    }

    #[test]
    fn a_row_without_direction_stays_zero_and_is_counted() {
        let driver = Driver::silent(Order::Parallel);
        let space = Space::from_f32("z", 2, 2, vec![3.0, 4.0, 0.0, 0.0]).unwrap();
        let (unit, zero_rows) = of_unit_length(&space, &driver).unwrap();
        let mut row = vec![0.0; 2];
        unit.read_row(0, &mut row);
        assert!((row[0] - 0.6).abs() < 1e-7 && (row[1] - 0.8).abs() < 1e-7, "{row:?}");
        assert_eq!(zero_rows, 1);
    }
}
