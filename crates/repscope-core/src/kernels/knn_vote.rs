// SPDX-License-Identifier: MIT
//! The vote of a row's nearest training rows about its label.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::neighbors::Neighbors;
use super::tiles::Anchors;
use crate::blocks;
use crate::data::{Labels, Space};
use crate::error::Result;
use crate::run::{Driver, Order};

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

/// Neighbors that are looked up at most because they may be of the own group, or of one that is left out.
const MOST_OF_GROUPS: usize = 1000;

/// How many neighbors to look up so that almost surely `k` of them train, with and without any one row. Where rows come in groups,
/// those of the own group never train for a row and may be its nearest, and so may those of one that is left out.
pub(crate) fn looked_up(k: usize, train_share: f64, rows: usize, groups: Option<&Labels>) -> usize {
    let k = k as f64;
    let enough = (k + 4.0 * k.sqrt()) / train_share + 12.0;
    let largest = groups.and_then(|groups| groups.counts().into_iter().max()).unwrap_or(0);
    (enough.ceil() as usize + (2 * largest).min(MOST_OF_GROUPS)).min(rows - 1)
}

/// Which rows train where rows come in groups: whole groups, in random order, until the share is reached. No group is on both
/// sides, so that a row cannot be recognized by its neighbors in time. Groups are numbered by appearance.
pub(crate) fn draw_groups(groups: &Labels, train_share: f64, rng: &mut ChaCha8Rng) -> Vec<Role> {
    let counts = groups.counts();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.shuffle(rng);
    let wanted = train_share * groups.rows() as f64;
    let mut trains = vec![false; counts.len()];
    let mut rows = 0;
    // At least one group trains, and one is tested.
    for (i, &group) in order.iter().enumerate().take(counts.len() - 1) {
        let is_nearer = (rows + counts[group]) as f64 - wanted <= wanted - rows as f64;
        if i > 0 && !is_nearer {
            break;
        }
        trains[group] = true;
        rows += counts[group];
    }
    let role = |&group: &u32| {
        if trains[group as usize] {
            Role::Trains
        } else {
            Role::Tested
        }
    };
    groups.codes().iter().map(role).collect()
}

/// A split, ready to vote. Distances are those of the space as it is.
pub(crate) struct Vote<'a> {
    pub(crate) space: &'a Space,
    pub(crate) labels: &'a Labels,
    pub(crate) roles: &'a [Role],
    pub(crate) k: usize,
}

/// The units that accuracies are resampled over: rows, or groups of rows.
pub(crate) struct VoteUnits {
    /// The unit of each row, from 0.
    codes: Vec<u32>,
    pub(crate) count: usize,
}

impl VoteUnits {
    /// The groups, numbered by appearance, or else the rows.
    pub(crate) fn new(groups: Option<&Labels>, rows: usize) -> Self {
        let codes = groups.map_or_else(|| (0..rows as u32).collect(), |groups| groups.codes().to_vec());
        VoteUnits {
            codes,
            count: groups.map_or(rows, Labels::classes),
        }
    }
}

/// What a split found.
pub(crate) struct Tally {
    pub(crate) right: usize,
    pub(crate) tested: usize,
    /// How many units have tested rows.
    pub(crate) units: usize,
    /// The accuracy of the rows of all other units; none where there are none.
    pub(crate) without: Vec<Option<f64>>,
    /// What the votes of units do, where that was asked for.
    pub(crate) flips: Vec<Flip>,
}

/// By how much the accuracy rises through the rows of one unit if another unit does not vote.
pub(crate) struct Flip {
    pub(crate) voter: u32,
    pub(crate) tested: u32,
    pub(crate) rise: f64,
}

/// Whether a vote looks for [`Flip`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flips {
    Counted,
    None,
}

impl Vote<'_> {
    /// How many of the queries that are tested get their own label, and what each unit does to that.
    pub(crate) fn count(
        &self,
        neighbors: &Neighbors,
        anchors: Anchors,
        units: &VoteUnits,
        flips: Flips,
    ) -> Result<Tally> {
        let codes = self.labels.codes();
        let (mut right, mut tested) = (0, 0);
        // Rows of each unit that are tested, and that are right.
        let mut of_units = vec![(0, 0); units.count];
        let mut found: Vec<Flip> = Vec::new();
        let mut ballots = Ballots::new(self.labels.classes());
        let (mut listed, mut voting) = (Vec::new(), Vec::new());
        for q in 0..anchors.count(self.labels.rows()) {
            let row = anchors.row(q);
            if self.roles[row] != Role::Tested {
                continue;
            }
            listed.clear();
            listed.extend(neighbors.of(q).iter().copied().filter(|&j| self.trains(j as usize)));
            if listed.len() < self.k {
                listed = self.training_rows_by_distance(row)?;
            }
            let class = |voter: &u32| codes[*voter as usize];
            let (elected, lead) = ballots.elect(listed.iter().take(self.k).map(class));
            let is_right = elected == codes[row];
            tested += 1;
            right += usize::from(is_right);
            let own = &mut of_units[units.codes[row] as usize];
            *own = (own.0 + 1, own.1 + usize::from(is_right));
            if flips == Flips::None {
                continue;
            }
            voting.clear();
            voting.extend(listed.iter().take(self.k).map(|&voter| units.codes[voter as usize]));
            voting.sort_unstable();
            for unit in voting.chunk_by(|a, b| a == b) {
                // Each of its votes may go from the elected class to the next one.
                if lead > 2 * unit.len() {
                    continue;
                }
                let is_other = |voter: &&u32| units.codes[**voter as usize] != unit[0];
                // Fewer voters than k are enough to know what a unit does, but there must be one.
                if !listed.iter().any(|voter| is_other(&voter)) {
                    listed = self.training_rows_by_distance(row)?;
                }
                let (without, _) = ballots.elect(listed.iter().filter(is_other).take(self.k).map(class));
                let rise = f64::from(i8::from(without == codes[row]) - i8::from(is_right));
                if rise != 0.0 {
                    let (voter, tested) = (unit[0], units.codes[row]);
                    found.push(Flip { voter, tested, rise });
                }
            }
        }
        found.iter_mut().for_each(|flip| flip.rise /= tested as f64);
        let without = |&(own, own_right): &(usize, usize)| {
            let left = tested - own;
            (left > 0).then(|| (right - own_right) as f64 / left as f64)
        };
        Ok(Tally {
            right,
            tested,
            units: of_units.iter().filter(|unit| unit.0 > 0).count(),
            without: of_units.iter().map(without).collect(),
            flips: found,
        })
    }

    /// The class that each tested query gets, with the place of the query.
    pub(crate) fn elected(&self, neighbors: &Neighbors, anchors: Anchors) -> Result<Vec<(usize, u32)>> {
        let codes = self.labels.codes();
        let mut ballots = Ballots::new(self.labels.classes());
        let mut found = Vec::new();
        for q in 0..anchors.count(self.labels.rows()) {
            let row = anchors.row(q);
            if self.roles[row] != Role::Tested {
                continue;
            }
            let trains = |j: &u32| self.trains(*j as usize);
            let mut listed: Vec<u32> = neighbors.of(q).iter().copied().filter(trains).collect();
            if listed.len() < self.k {
                listed = self.training_rows_by_distance(row)?;
            }
            let votes = listed.iter().take(self.k).map(|voter| codes[*voter as usize]);
            found.push((q, ballots.elect(votes).0));
        }
        Ok(found)
    }

    fn trains(&self, row: usize) -> bool {
        self.roles[row] == Role::Trains
    }

    /// By measuring them all: for the rare row whose looked-up neighbors hold too few that train.
    fn training_rows_by_distance(&self, row: usize) -> Result<Vec<u32>> {
        let trains = (0..self.roles.len()).filter(|&j| self.trains(j));
        let mut found: Vec<(f64, u32)> = match self.space.elsewhere() {
            Some(matrix) => {
                let driver = Driver::silent(Order::Parallel);
                let squared = blocks::squared_distances_of_row(self.space, matrix, row, &driver)?;
                trains.map(|j| (squared[j], j as u32)).collect()
            }
            None => squared_distances(self.space, row, trains),
        };
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Ok(found.into_iter().map(|f| f.1).collect())
    }
}

/// Σ (x − y)² of one row and others, from the first coordinate on, each with its row.
pub(crate) fn squared_distances(space: &Space, row: usize, others: impl Iterator<Item = usize>) -> Vec<(f64, u32)> {
    let (mut own, mut other) = (vec![0.0; space.columns()], vec![0.0; space.columns()]);
    space.read_row(row, &mut own);
    let squared = |j| {
        space.read_row(j, &mut other);
        (own.iter().zip(&other).map(|(x, y)| (x - y).powi(2)).sum(), j as u32)
    };
    others.map(squared).collect()
}

/// Counts votes; all 0 between votes.
struct Ballots(Vec<u32>);

impl Ballots {
    fn new(classes: usize) -> Self {
        Ballots(vec![0; classes])
    }

    /// The class with most votes, the first one if several have as many, and by how many it leads. Of no votes, no class.
    fn elect(&mut self, votes: impl Iterator<Item = u32> + Clone) -> (u32, usize) {
        votes.clone().for_each(|class| self.0[class as usize] += 1);
        let by_count = |class: &u32| (std::cmp::Reverse(self.0[*class as usize]), *class);
        let elected = votes.clone().min_by_key(by_count).unwrap_or(u32::MAX);
        let of = |class: u32| self.0.get(class as usize).copied().unwrap_or(0);
        let next = votes
            .clone()
            .filter(|class| *class != elected)
            .map(of)
            .max()
            .unwrap_or(0);
        let lead = of(elected) - next;
        votes.for_each(|class| self.0[class as usize] = 0);
        (elected, lead as usize)
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
        assert_eq!(vote.training_rows_by_distance(0), Ok(vec![4, 5]));
    }

    /// The accuracy of the rows that are not `gone`, by the definition.
    fn accuracy(values: &[f64], labels: &[u32], roles: &[Role], gone: &[usize], k: usize) -> f64 {
        let left = |role: Role| (0..values.len()).filter(move |i| !gone.contains(i) && roles[*i] == role);
        let is_right = |row: usize| {
            let mut voters: Vec<usize> = left(Role::Trains).collect();
            voters.sort_by(|&a, &b| {
                (values[a] - values[row])
                    .abs()
                    .total_cmp(&(values[b] - values[row]).abs())
            });
            let votes = |class: u32| voters.iter().take(k).filter(|v| labels[**v] == class).count();
            let elected = (0..3).max_by_key(|&class| (votes(class), std::cmp::Reverse(class)));
            elected == Some(labels[row])
        };
        let tested: Vec<usize> = left(Role::Tested).collect();
        tested.iter().filter(|&&row| is_right(row)).count() as f64 / tested.len() as f64
    }

    #[test]
    fn flips_are_what_the_votes_of_a_row_or_group_do_by_the_definition() {
        let mut rng = crate::random::stream(4, "test", 0);
        let mut draw = || rand::Rng::next_u64(&mut rng) as f64 / u64::MAX as f64;
        let values: Vec<f64> = (0..60).map(|_| draw()).collect();
        let codes: Vec<u32> = values
            .iter()
            .map(|x| (3.0 * (x + 0.4 * draw()).min(0.99)) as u32)
            .collect();
        let space = Space::from_f64("z", 60, 1, values.clone()).unwrap();
        let labels = Labels::from_codes(codes.clone(), 3);
        let driver = crate::run::Driver::silent(crate::run::Order::Serial);
        let prepared = super::super::prepared::Prepared::new(&space, super::super::prepared::Preparation::Raw, &driver);
        let ask = super::super::tiles::Ask {
            k: 40,
            ..Default::default()
        };
        let swept = super::super::tiles::sweep(&prepared.unwrap(), Anchors::All, &ask, &driver);
        let neighbors = swept.neighbors.unwrap();
        let groups = Labels::from_codes((0..60).map(|row| row % 12).collect(), 12);
        let rows = Labels::from_codes((0..60).collect(), 60);
        for units in [rows, groups] {
            let roles = draw_groups(&units, 0.6, &mut crate::random::stream(1, "test", 0));
            let vote = Vote {
                space: &space,
                labels: &labels,
                roles: &roles,
                k: 3,
            };
            let tally = vote.count(
                &neighbors,
                Anchors::All,
                &VoteUnits::new(Some(&units), 60),
                Flips::Counted,
            );
            let tally = tally.unwrap();
            assert_eq!(
                tally.right as f64 / tally.tested as f64,
                accuracy(&values, &codes, &roles, &[], 3)
            );
            for unit in 0..units.classes() {
                let of_unit = |i: &usize| units.codes()[*i] as usize == unit;
                let (own, others): (Vec<usize>, Vec<usize>) = (0..60).partition(of_unit);
                let is_other_tested = others.iter().any(|&i| roles[i] == Role::Tested);
                // Its rows neither vote nor are tested, or are only not tested.
                let gone = accuracy(&values, &codes, &roles, &own, 3);
                let of_others = tally.without[unit].expect("others are tested");
                let left = others.iter().filter(|&&i| roles[i] == Role::Tested).count() as f64;
                let flips = tally.flips.iter().filter(|flip| flip.voter as usize == unit);
                let rise: f64 = flips.map(|flip| flip.rise).sum::<f64>() * tally.tested as f64 / left;
                assert!(
                    is_other_tested && (of_others + rise - gone).abs() < 1e-12,
                    "{unit}: {of_others} {rise} {gone}"
                );
            }
        }
    }
}
