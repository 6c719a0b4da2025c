// SPDX-License-Identifier: MIT
//! The vote of a row's nearest training rows about its label.

use super::neighbors::Neighbors;
use super::tiles::Anchors;
use crate::data::{Labels, Space};

/// What a row does in a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It votes.
    Trains,
    /// Its label is predicted.
    Tested,
    /// Neither.
    LeftOut,
}

/// How many neighbors to look up so that almost surely `k` of them train.
pub(crate) fn lookup(k: usize, train_share: f64, rows: usize) -> usize {
    let k = k as f64;
    let enough = (k + 4.0 * k.sqrt()) / train_share + 12.0;
    (enough.ceil() as usize).min(rows - 1)
}

/// A split, ready to vote. Distances are those of the space as it is.
pub(crate) struct Vote<'a> {
    pub(crate) space: &'a Space,
    pub(crate) labels: &'a Labels,
    pub(crate) roles: &'a [Role],
    pub(crate) k: usize,
}

impl Vote<'_> {
    /// How many of the queries that are tested get their own label, and how many are tested.
    pub(crate) fn count(&self, neighbors: &Neighbors, anchors: Anchors) -> (usize, usize) {
        let codes = self.labels.codes();
        let (mut right, mut tested) = (0, 0);
        let mut ballots = vec![0u32; self.labels.classes()];
        for q in 0..anchors.count(self.labels.rows()) {
            let row = anchors.row(q);
            if self.roles[row] != Role::Tested {
                continue;
            }
            let listed = neighbors.of(q).iter().copied().filter(|&j| self.trains(j as usize));
            let mut voters: Vec<u32> = listed.take(self.k).collect();
            if voters.len() < self.k {
                voters = self.nearest_training_rows(row);
            }
            for &voter in &voters {
                ballots[codes[voter as usize] as usize] += 1;
            }
            // The first of the largest: a tied vote goes to the class that comes first.
            let classes = voters.iter().map(|&voter| codes[voter as usize]);
            let elected = classes
                .clone()
                .min_by_key(|&class| (std::cmp::Reverse(ballots[class as usize]), class));
            classes.for_each(|class| ballots[class as usize] = 0);
            tested += 1;
            right += usize::from(elected == Some(codes[row]));
        }
        (right, tested)
    }

    fn trains(&self, row: usize) -> bool {
        self.roles[row] == Role::Trains
    }

    /// By measuring them all: for the rare row whose looked-up neighbors hold too few that train.
    fn nearest_training_rows(&self, row: usize) -> Vec<u32> {
        let d = self.space.columns();
        let (mut own, mut other) = (vec![0.0; d], vec![0.0; d]);
        self.space.read_row(row, &mut own);
        let mut found: Vec<(f64, u32)> = Vec::new();
        for j in (0..self.roles.len()).filter(|&j| self.trains(j)) {
            self.space.read_row(j, &mut other);
            found.push((own.iter().zip(&other).map(|(x, y)| (x - y).powi(2)).sum(), j as u32));
        }
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.into_iter().take(self.k).map(|f| f.1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_whose_list_holds_too_few_training_rows_is_answered_exactly() {
        let space = Space::from_f64("z", 6, 1, vec![0.0, 0.1, 0.2, 0.3, 5.0, 6.0]).unwrap();
        let labels = Labels::new(&["a", "a", "a", "a", "b", "b"]);
        let (asked, votes) = (Role::Tested, Role::Trains);
        let vote = Vote {
            space: &space,
            labels: &labels,
            roles: &[asked, asked, asked, asked, votes, votes],
            k: 2,
        };
        assert_eq!(vote.nearest_training_rows(0), [4, 5]);
    }
}
