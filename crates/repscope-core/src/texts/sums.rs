// SPDX-License-Identifier: MIT
//! Scores of counts that add up over texts, and their intervals: a ratio of sums is not the mean of ratios.

use crate::score::Interval;
use crate::stats::interval::{self, Units};

/// The counts of several texts together.
pub(crate) fn of<'a, const K: usize>(texts: impl IntoIterator<Item = &'a [u64; K]>) -> [u64; K] {
    let mut total = [0; K];
    for text in texts {
        total.iter_mut().zip(text).for_each(|(sum, count)| *sum += count);
    }
    total
}

/// The jackknife of a score of summed counts: each unit is taken from the sums, and the score is computed anew. None where
/// there is no score without one of the units.
pub(crate) fn jackknife<const K: usize>(
    texts: &[[u64; K]],
    units: Units,
    level: f64,
    score: impl Fn(&[u64; K]) -> Option<f64>,
) -> Option<Interval> {
    let total = of(texts);
    let (parts, name) = match units {
        Units::Single(name) => (texts.to_vec(), name),
        Units::Groups(codes, name) => (by_group(texts, codes), name),
    };
    let without = |part: &[u64; K]| score(&std::array::from_fn(|i| total[i] - part[i]));
    let replicates: Option<Vec<f64>> = parts.iter().map(without).collect();
    interval::jackknife(score(&total)?, &replicates?, name, level)
}

/// The counts of each group that has texts, in the order of the codes.
fn by_group<const K: usize>(texts: &[[u64; K]], codes: &[u32]) -> Vec<[u64; K]> {
    let groups = codes.iter().max().map_or(0, |&code| code as usize + 1);
    let mut sums: Vec<Option<[u64; K]>> = vec![None; groups];
    for (text, &code) in texts.iter().zip(codes) {
        let sum = sums[code as usize].get_or_insert([0; K]);
        *sum = of([&*sum, text]);
    }
    sums.into_iter().flatten().collect()
}
