// SPDX-License-Identifier: MIT
//! What a measure would be if the rows of one model were shuffled: the null that it is calibrated against.

use statrs::distribution::{ContinuousCDF, Gamma};

use crate::random;
use crate::stats::interval::{mean, normal_quantile, normal_two_sided, t_quantile, t_two_sided};

/// With fewer draws than this no order statistic stands for the 95 % threshold.
const MANY: usize = 19;

/// The distribution of a measure over shuffled rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Null {
    pub(crate) mean: f64,
    /// The interval that holds it with the level of the run.
    pub(crate) ends: [f64; 2],
    /// What it exceeds with the probability 1 − level.
    pub(crate) threshold: f64,
    /// The probability of a value that is as large.
    pub(crate) p: f64,
}

impl Null {
    /// From draws; of few of them, as Student's t predicts the next one. None without any.
    pub(crate) fn of_draws(value: f64, mut draws: Vec<f64>, level: f64) -> Option<Null> {
        let count = draws.len();
        if count < 2 {
            return None;
        }
        let center = mean(&draws);
        if count < MANY {
            let squares = draws.iter().map(|x| (x - center).powi(2)).sum::<f64>();
            let freedom = count as f64 - 1.0;
            let deviation = (squares / freedom * (1.0 + 1.0 / count as f64)).sqrt();
            let at = |q: f64| Some(center + t_quantile(q, freedom)? * deviation);
            let two_sided = if deviation > 0.0 {
                t_two_sided((value - center) / deviation, freedom)
            } else {
                f64::from(u8::from(value <= center))
            };
            return Some(Null {
                mean: center,
                ends: [at(0.5 - level / 2.0)?, at(0.5 + level / 2.0)?],
                threshold: at(level)?,
                p: one_sided(two_sided, value >= center),
            });
        }
        draws.sort_unstable_by(f64::total_cmp);
        let as_large = count - draws.partition_point(|x| *x < value);
        let of_rank = |rank: f64| draws[(rank as usize).clamp(1, count) - 1];
        let ends = [0.5 - level / 2.0, 0.5 + level / 2.0].map(|q| q * (count as f64 + 1.0));
        let ends = [of_rank(ends[0].floor()), of_rank(ends[1].ceil())];
        // Algorithm 1 of Gröger et al. 2026: the value itself is one of the draws.
        let place = draws.partition_point(|x| *x < value);
        draws.insert(place, value);
        let rank = (level * (count as f64 + 1.0) - 1e-9).ceil() as usize;
        Some(Null {
            mean: center,
            ends,
            threshold: draws[rank.clamp(1, count + 1) - 1],
            p: (1.0 + as_large as f64) / (count as f64 + 1.0),
        })
    }

    /// Of mean 0 with this standard deviation and skewness, as Pearson's type III has it (a shifted gamma distribution).
    pub(crate) fn pearson(value: f64, deviation: f64, skewness: f64, level: f64) -> Null {
        let z = value / deviation;
        // Below this skewness the gamma distribution is normal to more digits than anybody needs.
        let gamma = Some(4.0 / (skewness * skewness))
            .filter(|shape| *shape < 1e6)
            .and_then(|shape| Some((shape, Gamma::new(shape, 1.0).ok()?)));
        let at = |q: f64| match &gamma {
            Some((shape, law)) => deviation * (law.inverse_cdf(q) - shape) / shape.sqrt(),
            None => deviation * normal_quantile(q),
        };
        let p = match &gamma {
            Some((shape, law)) => {
                let x = shape + z * shape.sqrt();
                if x > 0.0 { law.sf(x) } else { 1.0 }
            }
            None => one_sided(normal_two_sided(z), z >= 0.0),
        };
        Null {
            mean: 0.0,
            ends: [at(0.5 - level / 2.0), at(0.5 + level / 2.0)],
            threshold: at(level),
            p,
        }
    }

    /// How far a value is on the way from the threshold to 1; 0 where it is not beyond the threshold.
    pub(crate) fn calibrated(&self, value: f64) -> f64 {
        let left = 1.0 - self.threshold;
        if left > 0.0 {
            ((value - self.threshold) / left).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}

fn one_sided(two_sided: f64, is_above: bool) -> f64 {
    if is_above {
        two_sided / 2.0
    } else {
        1.0 - two_sided / 2.0
    }
}

/// Random orders of the rows. Where rows come in groups, whole groups change places, so that what rows of a group have in
/// common stays together.
pub(crate) struct Shuffle<'a> {
    rows: usize,
    groups: Option<Vec<Vec<u32>>>,
    seed: u64,
    name: &'a str,
}

impl<'a> Shuffle<'a> {
    pub(crate) fn new(rows: usize, groups: Option<&[u32]>, seed: u64, name: &'a str) -> Self {
        let groups = groups.map(|codes| {
            let mut lists = vec![Vec::new(); codes.iter().max().map_or(0, |&last| last as usize + 1)];
            for (row, &code) in codes.iter().enumerate() {
                lists[code as usize].push(row as u32);
            }
            lists.retain(|list| !list.is_empty());
            lists
        });
        Shuffle {
            rows,
            groups,
            seed,
            name,
        }
    }

    /// The row that stands in for each row.
    pub(crate) fn order(&self, draw: usize) -> Vec<u32> {
        let mut stream = random::stream(self.seed, self.name, draw as u64);
        let Some(groups) = &self.groups else {
            return random::permutation(self.rows, &mut stream);
        };
        let order = random::permutation(groups.len(), &mut stream);
        let moved = order.iter().flat_map(|&group| &groups[group as usize]);
        let mut rows = vec![0; self.rows];
        for (own, other) in groups.iter().flatten().zip(moved) {
            rows[*own as usize] = *other;
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_order_statistic_that_algorithm_1_takes() {
        // 99 draws 0.01 to 0.99 and the value 0.5: of 100 sorted numbers the 95th is 0.94.
        let draws: Vec<f64> = (1..100).map(|i| f64::from(i) / 100.0).collect();
        let null = Null::of_draws(0.505, draws, 0.95).unwrap();
        assert_eq!((null.threshold, null.p), (0.94, 0.5));
        assert_eq!((null.calibrated(0.9), null.calibrated(1.0)), (0.0, 1.0));
        assert!((null.calibrated(0.97) - 0.5).abs() < 1e-12);
        assert_eq!(null.ends, [0.02, 0.98]);
    }

    #[test]
    fn without_skewness_pearsons_type_three_is_normal() {
        let null = Null::pearson(0.3, 0.1, 0.0, 0.95);
        assert!((null.threshold - 0.164_485_362_695_147_3).abs() < 1e-9);
        assert!((null.p - 0.001_349_898_031_630_09).abs() < 1e-9);
        let skewed = Null::pearson(0.3, 0.1, 1.0, 0.95);
        // SciPy 1.17.1: pearson3(1).ppf(0.95) and sf(3).
        assert!(
            (skewed.threshold - 0.187_682_826_396_636_27).abs() < 1e-9,
            "{}",
            skewed.threshold
        );
        assert!((skewed.p - 0.010_336_050_675_925_726).abs() < 1e-9, "{}", skewed.p);
    }

    #[test]
    fn a_few_draws_predict_the_next_as_student_does() {
        let null = Null::of_draws(0.5, vec![0.1, 0.2, 0.3], 0.95).unwrap();
        // mean 0.2, s = 0.1, t(0.95, 2) = 2.91999, √(1 + 1/3).
        assert!((null.threshold - (0.2 + 2.919_985_580_353_726 * 0.1 * (4.0f64 / 3.0).sqrt())).abs() < 1e-7);
        assert!(null.p < 0.11 && null.p > 0.05);
    }

    #[test]
    fn groups_change_places_as_wholes() {
        let shuffle = Shuffle::new(6, Some(&[0, 0, 1, 1, 2, 2]), 7, "test");
        let orders: Vec<Vec<u32>> = (0..20).map(|draw| shuffle.order(draw)).collect();
        for order in &orders {
            assert!(
                order.chunks(2).all(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1),
                "{order:?}"
            );
        }
        assert!(orders.iter().any(|order| order[0] != 0));
    }
}
