// SPDX-License-Identifier: MIT
//! Which rows a probe trains on, and which test it.
//!
//! Rows come in folds, and each fold is predicted by a probe that was trained on all others. Its penalty is chosen among these others
//! alone: each of them is predicted in turn by a probe of the rest. So every two folds are left out together once, and what is trained
//! without them serves both. Where there are rows that only test, they are one fold more that is always left out.

use rand::seq::SliceRandom;

use crate::data::Labels;
use crate::random;

/// Fewer folds leave nothing to choose a penalty by.
pub(crate) const FEWEST: usize = 3;

/// The fold of each row.
pub(crate) struct Folds {
    /// One per row.
    pub(crate) of: Vec<u32>,
    pub(crate) count: usize,
    /// The folds that are predicted.
    pub(crate) tested: Vec<u32>,
}

/// The folds that a probe is not trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LeftOut(pub(crate) u32, pub(crate) u32);

impl LeftOut {
    pub(crate) fn one(fold: u32) -> Self {
        LeftOut(fold, fold)
    }

    pub(crate) fn two(a: u32, b: u32) -> Self {
        LeftOut(a.min(b), a.max(b))
    }

    pub(crate) fn holds(self, fold: u32) -> bool {
        fold == self.0 || fold == self.1
    }
}

impl Folds {
    /// Draws `count` folds among the rows that train: of whole groups where rows come in groups, else of each class as evenly as
    /// possible. Rows from `tested_from` on are a fold of their own.
    pub(crate) fn draw(
        rows: usize,
        labels: Option<&Labels>,
        groups: Option<&Labels>,
        tested_from: Option<usize>,
        count: usize,
        seed: u64,
    ) -> Self {
        let training = tested_from.unwrap_or(rows);
        let mut of = match groups {
            Some(groups) => of_groups(&groups.codes()[..training], count, seed),
            None => of_classes(labels.map(|own| &own.codes()[..training]), training, count, seed),
        };
        let count = of.iter().max().map_or(0, |last| *last as usize + 1);
        match tested_from {
            None => Folds {
                of,
                count,
                tested: (0..count as u32).collect(),
            },
            Some(_) => {
                of.resize(rows, count as u32);
                Folds {
                    of,
                    count: count + 1,
                    tested: vec![count as u32],
                }
            }
        }
    }

    /// The rows that are predicted, ascending.
    pub(crate) fn tested_rows(&self) -> Vec<u32> {
        let is_tested = |row: &u32| self.tested.contains(&self.of[*row as usize]);
        (0..self.of.len() as u32).filter(is_tested).collect()
    }

    /// The folds that choose the penalty of the probe that predicts a fold.
    pub(crate) fn inner(&self, tested: u32) -> impl Iterator<Item = u32> + '_ {
        (0..self.count as u32).filter(move |fold| *fold != tested)
    }

    /// Every two folds that are left out together.
    pub(crate) fn pairs(&self) -> Vec<LeftOut> {
        let of = |tested: &u32| {
            let tested = *tested;
            self.inner(tested).map(move |inner| LeftOut::two(tested, inner))
        };
        let mut pairs: Vec<LeftOut> = self.tested.iter().flat_map(of).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// The rows of each class in random order, dealt out one by one.
fn of_classes(codes: Option<&[u32]>, rows: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut rng = random::stream(seed, "folds", 0);
    let mut order = random::permutation(rows, &mut rng);
    if let Some(codes) = codes {
        // By appearance, so that nothing depends on the names of the classes.
        let mut first = vec![usize::MAX; codes.iter().max().map_or(0, |last| *last as usize + 1)];
        for (row, &code) in codes.iter().enumerate().rev() {
            first[code as usize] = row;
        }
        order.sort_by_key(|&row| first[codes[row as usize] as usize]);
    }
    let mut of = vec![0; rows];
    for (place, &row) in order.iter().enumerate() {
        of[row as usize] = (place % count) as u32;
    }
    of
}

/// Whole groups in random order, the largest first, each to the fold with the fewest rows.
fn of_groups(codes: &[u32], count: usize, seed: u64) -> Vec<u32> {
    let mut sizes = vec![0usize; codes.iter().max().map_or(0, |last| *last as usize + 1)];
    codes.iter().for_each(|&code| sizes[code as usize] += 1);
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&group| sizes[group] > 0).collect();
    let count = count.min(order.len());
    order.shuffle(&mut random::stream(seed, "folds of groups", 0));
    order.sort_by_key(|&group| std::cmp::Reverse(sizes[group]));
    let (mut held, mut fold_of) = (vec![0usize; count], vec![0u32; sizes.len()]);
    for group in order {
        let fold = (0..count).min_by_key(|&fold| held[fold]).unwrap_or(0);
        held[fold] += sizes[group];
        fold_of[group] = fold as u32;
    }
    codes.iter().map(|&code| fold_of[code as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_hold_as_many_rows_of_each_class() {
        let labels = Labels::from_codes((0..53).map(|row| u32::from(row % 5 == 0)).collect(), 2);
        let folds = Folds::draw(53, Some(&labels), None, None, 5, 42);
        for class in 0..2 {
            let held = |fold: u32| {
                let is_it = |row: &usize| folds.of[*row] == fold && labels.codes()[*row] == class;
                (0..53).filter(is_it).count()
            };
            let counts: Vec<usize> = (0..5).map(held).collect();
            assert!(
                counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1,
                "{counts:?}"
            );
        }
        assert_eq!(folds.pairs().len(), 10);
    }

    #[test]
    fn no_group_is_in_two_folds_and_folds_are_of_like_size() {
        let groups = Labels::from_codes((0..90).map(|row| row / 6).collect(), 15);
        let folds = Folds::draw(90, None, Some(&groups), None, 5, 42);
        for rows in folds.of.chunks(6) {
            assert!(rows.iter().all(|fold| *fold == rows[0]));
        }
        for fold in 0..5 {
            assert_eq!(folds.of.iter().filter(|own| **own == fold).count(), 18);
        }
    }

    #[test]
    fn rows_that_only_test_are_a_fold_that_is_always_left_out() {
        let folds = Folds::draw(50, None, None, Some(40), 4, 42);
        assert_eq!((folds.count, folds.tested.clone()), (5, vec![4]));
        assert!(folds.of[40..].iter().all(|fold| *fold == 4) && folds.of[..40].iter().all(|fold| *fold < 4));
        assert!(folds.pairs().iter().all(|pair| pair.holds(4)) && folds.pairs().len() == 4);
        assert_eq!(folds.tested_rows(), (40..50).collect::<Vec<u32>>());
    }
}
