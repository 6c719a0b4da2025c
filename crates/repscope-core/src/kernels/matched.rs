// SPDX-License-Identifier: MIT
//! Every signal against every text: how its own text stands among all, and matched pairs among mismatched ones.
//!
//! A task is a block of signals; it meets all texts and keeps counts only. Everything that is summed is an integer, so the
//! order of work changes nothing, and memory is O(N) for each of the few tasks that are under way.
//!
//! Small data are measured in f64. Beyond that products are f32, with the bound of `similarity`: whether a text is nearer to a
//! signal than its own is decided in f64 where f32 is too coarse. Where a mismatched pair stands among the matched ones, and its
//! bin, come from the f32 value. Texts with equal vectors have equal cosines with a signal, always.

use super::microkernel::meet;
use super::similarity::{PackedTargets, Products, Way};
use super::unit_matrix::UnitMatrix;
use crate::run::Driver;

/// Up to this many coordinates over all pairs, all cosines are measured in f64.
const DIRECT: u64 = 1 << 32;
/// Bins from −1 to 1.
pub(crate) const BINS: usize = 200;
/// The fewest signals of a task, and the most tasks: each keeps counts for every text.
const FEWEST: usize = 48;
const TASKS: usize = 256;
/// Coordinates in f64 that stay in the cache while some signals meet them.
const CACHED: usize = 1 << 15;

/// What the signals found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matched {
    /// The cosine of each signal with its own text.
    pub(crate) own: Vec<f64>,
    /// For each signal, how many other texts are nearer than its own, and how many are as near.
    pub(crate) nearer: Vec<u32>,
    pub(crate) as_near: Vec<u32>,
    /// Mismatched pairs by their energy, in equal bins from −1 to 1.
    pub(crate) bins: Vec<u64>,
    /// The share of all (matched, mismatched) pairs of pairs in which the matched one has the larger cosine; ties count half.
    pub(crate) auc: f64,
    /// What each sample does to that share, as a matched pair, as a signal and as a text of mismatched ones.
    pub(crate) effects: Vec<f64>,
}

/// Whether all cosines of so many rows and columns are measured in f64.
pub(crate) fn is_direct(rows: usize, columns: usize) -> bool {
    (rows as u64).saturating_mul(rows as u64).saturating_mul(columns as u64) <= DIRECT
}

/// The cosine of a signal and a text; rounding does not take it out of its range.
pub(crate) fn cosine(products: &Products, i: usize, j: usize) -> f64 {
    products.exact(i, j).clamp(-1.0, 1.0)
}

/// The bin of an energy.
pub(crate) fn bin(energy: f64) -> usize {
    (((energy + 1.0) / 2.0 * BINS as f64) as usize).min(BINS - 1)
}

/// Lets every signal meet every text. There must be two of each at least.
pub(crate) fn meet_all(products: &Products, driver: &Driver) -> Matched {
    let is_direct = is_direct(products.query.space.rows(), products.query.space.columns());
    Meeting::new(products, is_direct, driver).run(driver)
}

struct Meeting<'a> {
    products: &'a Products<'a>,
    rows: Rows<'a>,
    own: Vec<f64>,
    places: Places,
}

/// The rows of both sides as they are multiplied.
enum Rows<'a> {
    Exact { signals: UnitMatrix, texts: UnitMatrix },
    Packed(PackedTargets<'a>),
}

impl<'a> Meeting<'a> {
    fn new(products: &'a Products<'a>, is_direct: bool, driver: &Driver) -> Self {
        let rows = if is_direct {
            Rows::Exact {
                signals: UnitMatrix::new(products.query, driver),
                texts: UnitMatrix::new(products.target, driver),
            }
        } else {
            Rows::Packed(PackedTargets::new(products, Way::There, driver))
        };
        let own = |i: usize| match &rows {
            Rows::Exact { signals, texts } => texts.cosine(signals.row(i), i),
            Rows::Packed(_) => cosine(products, i, i),
        };
        let own: Vec<f64> = (0..products.query.space.rows()).map(own).collect();
        Meeting {
            places: Places::new(&own),
            products,
            rows,
            own,
        }
    }

    fn run(self, driver: &Driver) -> Matched {
        let n = self.own.len();
        let at_once = n.div_ceil(TASKS).max(FEWEST);
        let tasks = n.div_ceil(at_once);
        driver.progress().begin("pairs", tasks as u64);
        let run = |task: usize| {
            let rows: Vec<usize> = (task * at_once..n.min((task + 1) * at_once)).collect();
            let counts = match &self.rows {
                Rows::Exact { signals, texts } => self.directly(&rows, signals, texts),
                Rows::Packed(packed) => self.by_panels(&rows, packed),
            };
            driver.progress().advance(1);
            counts
        };
        let counts = driver.fold(tasks, run, Counts::new(0, &self), Counts::with);
        self.finish(counts)
    }

    /// All cosines in f64, for as many texts at a time as stay in the cache.
    fn directly(&self, rows: &[usize], signals: &UnitMatrix, texts: &UnitMatrix) -> Counts {
        let mut counts = Counts::new(rows.len(), self);
        let n = self.own.len();
        let at_once = (CACHED / self.products.query.space.columns()).max(4);
        let mut cosines = vec![0.0; at_once.min(n)];
        for first in (0..n).step_by(at_once) {
            let cosines = &mut cosines[..at_once.min(n - first)];
            for (place, &i) in rows.iter().enumerate() {
                texts.cosines(signals.row(i), first, cosines);
                for (j, &cosine) in (first..).zip(&*cosines).filter(|(j, _)| *j != i) {
                    counts.add(place, j, self.own[i], cosine, &self.places);
                }
            }
        }
        counts
    }

    /// Cosines in f32, and in f64 where a text is too near to the own one.
    fn by_panels(&self, rows: &[usize], texts: &PackedTargets) -> Counts {
        let mut counts = Counts::new(rows.len(), self);
        let numbers: Vec<u32> = rows.iter().map(|&i| i as u32).collect();
        let (signals, errors) = texts.queries(&numbers);
        let firsts = &self.products.target.firsts;
        // What adding up the part that all pairs share can lose beside the bound of the products.
        let lost = (self.products.query.space.columns() + 16) as f64 * f64::EPSILON;
        let limits = vec![f32::NEG_INFINITY; rows.len()];
        for block in &texts.blocks {
            let all = 0..block.panels.count();
            meet(&signals.panels, &block.panels, all, &limits, |place, t, value| {
                let (i, j) = (rows[place], block.rows[t] as usize);
                if i == j {
                    return;
                }
                let cosine = if firsts[i] == firsts[j] {
                    self.own[i]
                } else {
                    let near = f64::from(value) + texts.centering.shared;
                    if (near - self.own[i]).abs() > errors[place] + lost {
                        near.clamp(-1.0, 1.0)
                    } else {
                        self::cosine(self.products, i, j)
                    }
                };
                counts.add(place, j, self.own[i], cosine, &self.places);
            });
        }
        counts
    }

    fn finish(self, counts: Counts) -> Matched {
        let n = self.own.len() as f64;
        let (mismatched, all) = (n * (n - 1.0), 2.0 * n * n * (n - 1.0));
        let auc = counts.of_signals.iter().sum::<u64>() as f64 / all;
        let below = self.places.below(&counts.at);
        // Unbiased as a standard deviation is: each sample is one of n, and their mean is known.
        let weight = (n * (n - 1.0)).sqrt().recip();
        let effect = |i: usize| {
            let as_matched = below[self.places.of(self.own[i]).0] as f64 / (2.0 * mismatched);
            let as_signal = counts.of_signals[i] as f64 / (2.0 * mismatched);
            let as_text = counts.of_texts[i] as f64 / (2.0 * mismatched);
            weight * ((as_matched - auc) + (as_signal - auc) + (as_text - auc))
        };
        Matched {
            effects: (0..self.own.len()).map(effect).collect(),
            own: self.own,
            nearer: counts.nearer,
            as_near: counts.as_near,
            bins: counts.bins,
            auc,
        }
    }
}

/// What a block of signals found, or several of them.
struct Counts {
    nearer: Vec<u32>,
    as_near: Vec<u32>,
    bins: Vec<u64>,
    /// Mismatched pairs at each place among the matched ones.
    at: Vec<u64>,
    /// Twice the matched pairs above the mismatched ones, by signal and by text.
    of_signals: Vec<u64>,
    of_texts: Vec<u64>,
}

impl Counts {
    /// Room for so many signals.
    fn new(signals: usize, meeting: &Meeting) -> Self {
        Counts {
            nearer: vec![0; signals],
            as_near: vec![0; signals],
            bins: vec![0; BINS],
            at: vec![0; meeting.places.count()],
            of_signals: vec![0; signals],
            of_texts: vec![0; meeting.own.len()],
        }
    }

    /// Counts a mismatched pair among the matched ones, and its text beside the signal's own.
    #[inline(always)]
    fn add(&mut self, place: usize, j: usize, own: f64, cosine: f64, places: &Places) {
        let (at, above) = places.of(cosine);
        self.at[at] += 1;
        self.of_signals[place] += above;
        self.of_texts[j] += above;
        self.bins[bin(-cosine)] += 1;
        self.nearer[place] += u32::from(cosine > own);
        self.as_near[place] += u32::from(cosine == own);
    }

    /// These counts and those of the next signals.
    fn with(mut self, next: Counts) -> Self {
        let add = |sums: &mut [u64], terms: &[u64]| sums.iter_mut().zip(terms).for_each(|(s, t)| *s += t);
        add(&mut self.bins, &next.bins);
        add(&mut self.at, &next.at);
        add(&mut self.of_texts, &next.of_texts);
        self.of_signals.extend(next.of_signals);
        self.nearer.extend(next.nearer);
        self.as_near.extend(next.as_near);
        self
    }
}

/// The most buckets: a table that fits into the cache.
const MOST: usize = 1 << 16;

/// Sorted numbers. There are two places for each and one more: 2k + 1 is that of the k-th number itself, 2k lies below it.
struct Places {
    /// The distinct numbers, ascending.
    values: Vec<f64>,
    /// For each place, twice the numbers above it, and those at it once: repeated numbers count as often as they are there.
    above: Vec<u64>,
    /// The range is cut into equal buckets; where the values of each begin.
    starts: Vec<u32>,
    scale: f64,
}

impl Places {
    fn new(numbers: &[f64]) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        // Numbers differ as they compare: −0 is 0.
        let repeated: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
        let values: Vec<f64> = repeated.iter().map(|group| group[0]).collect();
        let mut above = vec![0; 2 * values.len() + 1];
        for (k, group) in repeated.iter().enumerate().rev() {
            above[2 * k + 1] = above[2 * k + 2] + group.len() as u64;
            above[2 * k] = above[2 * k + 1] + group.len() as u64;
        }
        let buckets = (2 * values.len()).next_power_of_two().min(MOST);
        let width = values.last().map_or(0.0, |last| last - values[0]);
        let mut places = Places {
            scale: if width > 0.0 { buckets as f64 / width } else { 0.0 },
            starts: vec![0; buckets + 1],
            values,
            above,
        };
        for k in 0..places.values.len() {
            let bucket = places.bucket(places.values[k]);
            places.starts[bucket + 1] = k as u32 + 1;
        }
        for b in 1..=buckets {
            places.starts[b] = places.starts[b].max(places.starts[b - 1]);
        }
        places
    }

    /// The number of places.
    fn count(&self) -> usize {
        self.above.len()
    }

    /// The place of a number, and twice the numbers above it (those equal to it count once).
    #[inline(always)]
    fn of(&self, number: f64) -> (usize, u64) {
        let bucket = self.bucket(number);
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let k = start + self.values[start..end].partition_point(|v| *v < number);
        let is_there = self.values.get(k).is_some_and(|v| *v == number);
        let place = 2 * k + usize::from(is_there);
        (place, self.above[place])
    }

    /// For each place: twice what was counted below it, and what was counted at it once.
    fn below(&self, counted: &[u64]) -> Vec<u64> {
        let mut sum = 0;
        let place = |&count: &u64| {
            let below = 2 * sum + count;
            sum += count;
            below
        };
        counted.iter().map(place).collect()
    }

    /// Never falls as the number rises; numbers outside the range go to its ends.
    #[inline(always)]
    fn bucket(&self, number: f64) -> usize {
        (((number - self.values[0]) * self.scale) as usize).min(self.starts.len() - 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_above_and_at_are_counted_as_the_definition_says() {
        let known = [0.5, -0.25, 0.5, 0.75, -0.0, 0.0, 0.5];
        let places = Places::new(&known);
        assert_eq!(places.count(), 9);
        for number in [-1.0, -0.25, -0.1, 0.0, -0.0, 0.3, 0.5, 0.6, 0.75, 1.0] {
            let expected: u64 = known
                .iter()
                .map(|&v| 2 * u64::from(v > number) + u64::from(v == number))
                .sum();
            assert_eq!(places.of(number).1, expected, "{number}");
        }
        let order: Vec<usize> = [-1.0, -0.25, -0.1, 0.0, 0.3, 0.5, 0.6, 0.75, 1.0]
            .iter()
            .map(|&v| places.of(v).0)
            .collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn one_number_has_three_places() {
        let places = Places::new(&[0.3, 0.3]);
        assert_eq!([0.2, 0.3, 0.4].map(|v| places.of(v)), [(0, 4), (1, 2), (2, 0)]);
        // 5 below, 7 at, 1 above.
        assert_eq!(places.below(&[5, 7, 1]), [5, 17, 25]);
    }

    #[test]
    fn many_numbers_in_few_buckets_are_found_too() {
        let mut known: Vec<f64> = (0..500).map(|i| 0.9 + f64::from(i) * 1e-9).collect();
        known.push(-1.0);
        let places = Places::new(&known);
        assert_eq!(places.of(0.9 + 249.0 * 1e-9).0, 2 * 250 + 1);
        assert_eq!(places.of(0.9 + 249.5 * 1e-9).0, 2 * 251);
    }
}
