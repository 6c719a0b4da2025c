// SPDX-License-Identifier: MIT
//! Sums over the pairs of rows of two units (rows, or groups of them): what two units do to a statistic together.
//!
//! A mean over pairs varies with what single units do to it and with what two of them do together. A jackknife leaves out one unit at a
//! time, so it finds the second part with both units of a pair and counts it twice (Efron and Stein 1981). Where the sums of all pairs
//! of some units are known, that is what does not add up from single units, and the excess can be taken off.

use super::prepared::Prepared;
use crate::random;
use crate::run::Driver;

/// The most units whose pairs are all looked at: that many show how much pairs vary.
const MOST_UNITS: usize = 256;
/// The fewest units that show what does not add up from single ones: of four, six pairs less four units.
const FEWEST_UNITS: usize = 4;
/// About how many coordinates are compared, for pairs of units and for pairs within them; a pair costs as much as some coordinates.
const COORDINATES: u64 = 1 << 27;
const COST_OF_A_PAIR: u64 = 256;

/// The rows of each unit, and some of the units.
pub(crate) struct UnitSample {
    /// The rows of each unit that has any, in the order of their codes.
    pub(crate) members: Vec<Vec<u32>>,
    /// Units whose pairs are looked at, ascending; none where that would take too long.
    chosen: Vec<usize>,
}

impl UnitSample {
    /// `codes` are the groups of the rows; without them each row is a unit.
    pub(crate) fn new(rows: usize, columns: usize, codes: Option<&[u32]>) -> Self {
        let members: Vec<Vec<u32>> = match codes {
            None => (0..rows as u32).map(|row| vec![row]).collect(),
            Some(codes) => {
                let groups = codes.iter().max().map_or(0, |&last| last as usize + 1);
                let mut members = vec![Vec::new(); groups];
                (0u32..)
                    .zip(codes)
                    .for_each(|(row, &code)| members[code as usize].push(row));
                members.retain(|rows| !rows.is_empty());
                members
            }
        };
        let mut chosen: Vec<usize> = (0..members.len()).collect();
        if members.len() > MOST_UNITS {
            let drawn = random::permutation(members.len(), &mut random::stream(0, "pairs of units", 0));
            chosen = drawn[..MOST_UNITS].iter().map(|&unit| unit as usize).collect();
        }
        let cost = |chosen: &[usize]| {
            let rows: u64 = chosen.iter().map(|&unit| members[unit].len() as u64).sum();
            rows * rows / 2 * (columns as u64 + COST_OF_A_PAIR)
        };
        while !chosen.is_empty() && cost(&chosen) > COORDINATES {
            chosen.truncate(chosen.len() / 2);
        }
        if chosen.len() < FEWEST_UNITS {
            chosen.clear();
        }
        chosen.sort_unstable();
        UnitSample { members, chosen }
    }

    /// The rows of the units whose pairs are looked at.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.chosen.iter().flat_map(|&unit| self.members[unit].iter().copied())
    }

    /// Sums of a function of two rows over the pairs of two units.
    pub(crate) fn between(&self, of_pair: impl Fn(u32, u32) -> f64 + Sync, driver: &Driver) -> Between {
        let size = self.chosen.len();
        let lines = driver.map(size, |g| {
            let sum = |h: usize| {
                let others = || self.members[self.chosen[h]].iter();
                let rows = self.members[self.chosen[g]].iter();
                rows.flat_map(|&i| others().map(move |&j| (i, j)))
                    .map(|(i, j)| of_pair(i, j))
                    .sum::<f64>()
            };
            (0..g).map(sum).collect::<Vec<f64>>()
        });
        let mut sums = vec![0.0; size * size];
        for (g, line) in lines.iter().enumerate() {
            for (h, &sum) in line.iter().enumerate() {
                (sums[g * size + h], sums[h * size + g]) = (sum, sum);
            }
        }
        let counts = self
            .chosen
            .iter()
            .map(|&unit| self.members[unit].len() as f64)
            .collect();
        Between {
            units: self.members.len(),
            counts,
            sums,
        }
    }

    /// Sums over the pairs (i, j), i ≠ j, of the rows of each unit. Of a unit with very many rows some stand for all.
    pub(crate) fn within(&self, columns: usize, of_pair: impl Fn(u32, u32) -> f64 + Sync, driver: &Driver) -> Vec<f64> {
        let cost = |most: usize| {
            let pairs = self.members.iter().map(|rows| (rows.len().min(most) as u64).pow(2));
            pairs.sum::<u64>() / 2 * (columns as u64 + COST_OF_A_PAIR)
        };
        let mut most = self.members.iter().map(Vec::len).max().unwrap_or(0);
        while most > FEWEST_UNITS && cost(most) > COORDINATES {
            most /= 2;
        }
        driver.map(self.members.len(), |unit| {
            let all = &self.members[unit];
            let count = all.len().min(most);
            let row = |place: usize| all[place * all.len() / count];
            let mut sum = 0.0;
            for a in 0..count {
                sum += (0..a).map(|b| of_pair(row(a), row(b))).sum::<f64>();
            }
            let pairs = |n: usize| (n * n.saturating_sub(1)) as f64;
            if count > 1 {
                2.0 * sum * pairs(all.len()) / pairs(count)
            } else {
                0.0
            }
        })
    }
}

/// Sums over the pairs of rows of two units, for some of the units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Between {
    /// How many units there are.
    units: usize,
    /// How many rows each of the chosen ones has.
    counts: Vec<f64>,
    /// Line by line; nothing on the diagonal.
    sums: Vec<f64>,
}

impl Between {
    /// a · these + b · those.
    pub(crate) fn combined(&self, a: f64, other: &Between, b: f64) -> Between {
        let sums = self.sums.iter().zip(&other.sums).map(|(x, y)| a * x + b * y);
        Between {
            sums: sums.collect(),
            ..self.clone()
        }
    }

    /// What all pairs of two units add to the variance of the sum over their pairs {g, h}: the squares of what is left of single pairs
    /// without the mean pair of rows, which is `mean`, and without what single units do. 0 where there are too few to tell.
    pub(crate) fn variance(&self, mean: f64) -> f64 {
        let size = self.counts.len();
        if size < FEWEST_UNITS {
            return 0.0;
        }
        let m = size as f64;
        let at = |g: usize, h: usize| self.sums[g * size + h] - mean * self.counts[g] * self.counts[h];
        let others = |g: usize| (0..size).filter(move |&h| h != g);
        let means: Vec<f64> = (0..size)
            .map(|g| others(g).map(|h| at(g, h)).sum::<f64>() / (m - 1.0))
            .collect();
        let whole = means.iter().sum::<f64>() / m;
        // Least squares of μ + α_g + α_h over pairs of different units.
        let alone: Vec<f64> = means.iter().map(|own| (own - whole) * (m - 1.0) / (m - 2.0)).collect();
        let left = |(g, h): (usize, usize)| at(g, h) - whole - alone[g] - alone[h];
        let pairs = (0..size).flat_map(|g| (0..g).map(move |h| (g, h)));
        let squares: f64 = pairs.map(|pair| left(pair).powi(2)).sum();
        let of_pair = squares / (m * (m - 3.0) / 2.0);
        let units = self.units as f64;
        of_pair * units * (units - 1.0) / 2.0
    }

    /// How much of a jackknife's squared error of `error` is left without what it counts twice: `variance` is what pairs of units add to
    /// the variance. The jackknife has 2 (n − 1) / (n − 2) times that (for a mean over pairs of n units), of which one is right.
    pub(crate) fn share_left(&self, squared_error: f64, variance: f64) -> f64 {
        let n = self.units as f64;
        if squared_error <= 0.0 || n <= 2.0 {
            return 1.0;
        }
        let excess = variance * n / (n - 2.0);
        // Not even a statistic of nothing but pairs has less.
        let least = (n - 2.0) / (2.0 * (n - 1.0));
        (1.0 - excess / squared_error).clamp(least, 1.0)
    }
}

/// Gaussian kernels of pairs of rows, added up by unit.
pub(crate) struct KernelPairs {
    pub(crate) between: Between,
    /// Over the pairs (i, j), i ≠ j, of the rows of each unit.
    pub(crate) within: Vec<f64>,
}

impl KernelPairs {
    /// exp(−t·d²), with d in the space's own units; `groups` as for [`UnitSample`].
    pub(crate) fn new(prepared: &Prepared, t: f64, groups: Option<&[u32]>, driver: &Driver) -> Self {
        let exponent = -t * prepared.squared_unit();
        let kernel = |i: u32, j: u32| (exponent * prepared.squared_distance(i, j)).exp();
        let sample = UnitSample::new(prepared.rows(), prepared.columns(), groups);
        KernelPairs {
            between: sample.between(kernel, driver),
            within: sample.within(prepared.columns(), kernel, driver),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    #[test]
    fn sums_over_pairs_of_groups_are_those_of_their_rows() {
        let codes = [2, 0, 2, 5, 5, 7, 7];
        let of_pair = |i: u32, j: u32| f64::from((i + 1) * (j + 1) + (i + j) % 3);
        let driver = Driver::silent(Order::Serial);
        let sample = UnitSample::new(7, 3, Some(&codes));
        let (between, within) = (sample.between(of_pair, &driver), sample.within(3, of_pair, &driver));
        // Groups 0: {1}, 2: {0, 2}, 5: {3, 4}, 7: {5, 6}.
        assert_eq!(sample.members, [vec![1], vec![0, 2], vec![3, 4], vec![5, 6]]);
        assert_eq!(between.sums[1], of_pair(1, 0) + of_pair(1, 2));
        assert_eq!(
            between.sums[4 + 2],
            of_pair(0, 3) + of_pair(0, 4) + of_pair(2, 3) + of_pair(2, 4)
        );
        assert_eq!(
            within,
            [0.0, 2.0 * of_pair(2, 0), 2.0 * of_pair(4, 3), 2.0 * of_pair(6, 5)]
        );
    }

    #[test]
    fn a_sum_of_what_single_units_do_has_no_variance_of_pairs() {
        let driver = Driver::silent(Order::Serial);
        let sample = UnitSample::new(9, 3, None);
        let own = |i: u32| f64::from(i * i % 7);
        let additive = sample.between(|i, j| 3.0 + own(i) + own(j), &driver);
        assert!(additive.variance(5.0).abs() < 1e-20);
        // Pairs ±1 whose lines add up to 0 are left as they are: of 4 units, {0,1} and {2,3} against {0,2} and {1,3}; 4 squares over
        // 4·1/2 degrees of freedom, for each of 6 pairs.
        let crossed = UnitSample::new(4, 3, None).between(
            |i, j| match (i.min(j), i.max(j)) {
                (0, 1) | (2, 3) => 1.0,
                (0, 2) | (1, 3) => -1.0,
                _ => 0.0,
            },
            &driver,
        );
        assert!((crossed.variance(0.0) - 12.0).abs() < 1e-12);
        let both = crossed.combined(2.0, &crossed, 1.0);
        assert!((both.variance(0.0) - 108.0).abs() < 1e-12);
    }

    #[test]
    fn the_excess_of_a_jackknife_is_that_of_all_draws() {
        // n units ±1 and the mean of x_i·x_j over pairs: single units do nothing. Over all 2ⁿ draws its variance is 2 / (n (n − 1)), and
        // the mean of the jackknife's squared error is 4 / (n (n − 2)); with the true variance of pairs, what is left is right.
        let n = 8;
        let (mut variance, mut error) = (0.0, 0.0);
        for draw in 0..1u32 << n {
            let sign = |i: usize| if draw >> i & 1 == 1 { 1.0 } else { -1.0 };
            let mean = |without: Option<usize>| {
                let kept: Vec<f64> = (0..n).filter(|i| Some(*i) != without).map(sign).collect();
                let (sum, count) = (kept.iter().sum::<f64>(), kept.len() as f64);
                (sum * sum - count) / (count * (count - 1.0))
            };
            let replicates: Vec<f64> = (0..n).map(|i| mean(Some(i))).collect();
            let center = replicates.iter().sum::<f64>() / n as f64;
            let weight = (n as f64 - 1.0) / n as f64;
            error += weight * replicates.iter().map(|r| (r - center).powi(2)).sum::<f64>();
            variance += mean(None).powi(2);
        }
        let draws = f64::from(1u32 << n);
        let (variance, error) = (variance / draws, error / draws);
        assert!((variance - 2.0 / 56.0).abs() < 1e-12 && (error - 4.0 / 48.0).abs() < 1e-12);
        let pairs = UnitSample::new(n, 1, None).between(|_, _| 0.0, &Driver::silent(Order::Serial));
        assert!((error * pairs.share_left(error, variance) - variance).abs() < 1e-12);
    }
}
