// SPDX-License-Identifier: MIT
//! Two sets of rows in one space: whether they come from one distribution.
//!
//! The rows of both are taken as one pool, new rows first, with a mark on each row that is new. What a statistic is where nothing
//! differs comes from other marks on the same pool ([`relabel`]), so every null has the sizes, ties and groups of the data.

pub(crate) mod gaussians;
pub(crate) mod pairs;
pub(crate) mod relabel;
pub(crate) mod votes;

use crate::data::{Labels, Reference, Study};
use crate::leaks::equal_rows;
use crate::random;
use crate::spec::DriftSpec;
use crate::stats::interval::Units;

/// Which rows of the pool are looked at, and what is known of each.
pub(crate) struct Pool {
    /// Row numbers in the pool, ascending: the new rows come first.
    pub(crate) rows: Vec<u32>,
    /// How many of them are new.
    pub(crate) new: usize,
    /// How many of all new rows equal a row of the reference.
    pub(crate) equal: usize,
    /// The group of each, where rows come in groups: one name is one group in both sets.
    pub(crate) groups: Option<Vec<u32>>,
}

impl Pool {
    /// All rows of both sets.
    pub(crate) fn all(study: &Study, reference: &Reference) -> Self {
        let (new, old) = (study.embeddings.rows(), reference.embeddings.rows());
        let groups = study.episodes.as_deref().zip(reference.groups.as_ref());
        Pool {
            equal: equal_rows(&study.embeddings, &reference.embeddings),
            rows: (0..(new + old) as u32).collect(),
            new,
            groups: groups.map(|(new, old)| joined(new, old)),
        }
    }

    /// At most so many random rows of each set: the same for every model.
    pub(crate) fn sample(study: &Study, reference: &Reference, spec: &DriftSpec, seed: u64) -> Self {
        let all = Pool::all(study, reference);
        let old = reference.embeddings.rows();
        let drawn = |rows: usize, name: &str| {
            let mut drawn = random::permutation(rows, &mut random::stream(seed, name, 0));
            drawn.truncate(spec.sample);
            drawn.sort_unstable();
            drawn
        };
        let mut rows = drawn(all.new, "new rows");
        let new = rows.len();
        rows.extend(drawn(old, "reference rows").into_iter().map(|row| row + all.new as u32));
        Pool {
            groups: all
                .groups
                .map(|codes| rows.iter().map(|&row| codes[row as usize]).collect()),
            rows,
            new,
            equal: all.equal,
        }
    }

    /// Whether most new rows are rows of the reference: unbiased estimates take it that no row is in both sets.
    pub(crate) fn is_mostly_shared(&self, study: &Study) -> bool {
        2 * self.equal > study.embeddings.rows()
    }

    /// What values of rows are resampled over.
    pub(crate) fn units(&self) -> Units<'_> {
        match &self.groups {
            Some(codes) => Units::Groups(codes, "episodes"),
            None => Units::Single("rows"),
        }
    }

    /// How many units the smaller number of both sets is.
    pub(crate) fn fewest_units(&self) -> usize {
        let of_set = |rows: std::ops::Range<usize>| match &self.groups {
            None => rows.len(),
            Some(codes) => {
                let mut own = codes[rows].to_vec();
                own.sort_unstable();
                own.dedup();
                own.len()
            }
        };
        of_set(0..self.new).min(of_set(self.new..self.rows.len()))
    }

    /// Whether each row is new.
    pub(crate) fn marks(&self) -> Vec<bool> {
        (0..self.rows.len()).map(|place| place < self.new).collect()
    }

    /// How many rows are of the reference.
    pub(crate) fn old(&self) -> usize {
        self.rows.len() - self.new
    }
}

/// The groups of both sets with common codes, in the order of their names, so that draws do not depend on the order of the rows.
fn joined(new: &Labels, old: &Labels) -> Vec<u32> {
    let names = |labels: &Labels| -> Vec<String> {
        let name = |&code: &u32| labels.names()[code as usize].clone();
        labels.codes().iter().map(name).collect()
    };
    Labels::new(&[names(new), names(old)].concat()).codes().to_vec()
}
