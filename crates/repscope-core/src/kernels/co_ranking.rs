// SPDX-License-Identifier: MIT
//! Co-ranking: where all other rows stand in the rankings of a query in two spaces. What neighborhoods of every size have in common follows
//! from the larger of both ranks of each row.
//!
//! A ranking of all rows is dear, so that only some random queries are asked where there are many rows. Memory is O(N) for each query at
//! work, never N × N.

use super::influence::Gathered;
use super::prepared::Prepared;
use super::tiles::Anchors;
use crate::data::Labels;
use crate::random;
use crate::run::Driver;

/// About how many coordinates are compared.
const COORDINATES: usize = 1 << 27;
/// What it costs to sort one row into a ranking, in coordinates.
const SORTING: usize = 64;
/// The fewest queries.
const FEWEST: usize = 50;
/// Queries per task.
const QUERIES: usize = 8;

/// What both rankings of all other rows have in common.
pub(crate) struct CoRanking {
    /// How many queries were asked.
    pub(crate) queries: usize,
    rows: usize,
    /// For each rank from 1, the pairs of a query and a row whose larger rank it is.
    larger: Vec<u64>,
    /// The area under R_NX, and what each unit does to it; none with fewer than two units.
    pub(crate) area: f64,
    pub(crate) effects: Option<Vec<f64>>,
}

/// Which of these query rows are asked, ascending.
pub(crate) fn sample(anchors: Anchors, rows: usize, columns: usize, seed: u64) -> Vec<u32> {
    let count = (COORDINATES / (rows * (columns + 2 * SORTING)).max(1)).max(FEWEST);
    let all = anchors.count(rows);
    let mut drawn: Vec<u32> = if count < all {
        random::permutation(all, &mut random::stream(seed, "co-ranking", 0))
    } else {
        (0..all as u32).collect()
    };
    drawn.truncate(count);
    drawn.iter_mut().for_each(|q| *q = anchors.row(*q as usize) as u32);
    drawn.sort_unstable();
    drawn
}

/// What the area under R_NX over ln K is made of. With H = Σ 1/K over K = 1 … N − 2, it is Σ_K w_K Q_NX(K) less a constant,
/// w_K = (N − 1) / (H K (N − 1 − K)).
struct Area {
    /// For each larger rank m, what a row with it adds: Σ_{K ≥ m} w_K / K.
    of_pair: Vec<f64>,
    /// w_K / K.
    weights: Vec<f64>,
    constant: f64,
}

impl Area {
    fn new(rows: usize) -> Self {
        let others = rows as f64 - 1.0;
        let all = || (1..rows - 1).map(|k| k as f64);
        let harmonic: f64 = all().map(f64::recip).sum();
        let weights: Vec<f64> = all().map(|k| others / (harmonic * k * k * (others - k))).collect();
        Area {
            of_pair: suffix_sums(&weights),
            constant: all().map(|k| (others - k).recip()).sum::<f64>() / harmonic,
            weights,
        }
    }

    /// Of one query, from the larger rank of each other row.
    fn of(&self, larger: &[u32]) -> f64 {
        let pairs = larger.iter().map(|&rank| self.of_pair[rank as usize - 1]);
        pairs.sum::<f64>() - self.constant
    }

    /// For each rank, what a row does by standing there: each K up to which it counts takes half of what is shared away, in each of
    /// both spaces, as the row that comes in its place brings as much.
    fn expected(&self, larger: &[u32]) -> Vec<f64> {
        let mut counts = vec![0u32; larger.len()];
        larger.iter().for_each(|&rank| counts[rank as usize - 1] += 1);
        let mut shared = 0;
        let weigh = |(at, weight): (usize, &f64)| {
            shared += counts[at];
            weight * f64::from(shared) / (at + 1) as f64
        };
        let shares: Vec<f64> = self.weights.iter().enumerate().map(weigh).collect();
        suffix_sums(&shares)
    }
}

/// For each place, the sum from there on; and 0 behind the last.
fn suffix_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; values.len() + 1];
    for (at, value) in values.iter().enumerate().rev() {
        sums[at] = sums[at + 1] + value;
    }
    sums
}

/// The place of each other row of the space among them all, by distance and then by row, counted from 1.
fn ranks(prepared: &Prepared, query: u32, others: &[u32]) -> Vec<u32> {
    let squared = prepared.squared_distances(query, others.iter().copied());
    // A distance is not negative, so its bits order like the number. Rows ascend, so their places order ties.
    let mut order: Vec<(u64, u32)> = squared.iter().map(|d| d.to_bits()).zip(0..).collect();
    order.sort_unstable();
    let mut ranks = vec![0; order.len()];
    for (rank, (_, place)) in (1..).zip(order) {
        ranks[place as usize] = rank;
    }
    ranks
}

/// What one query brings.
struct Asked {
    larger: Vec<u32>,
    area: f64,
    parts: Vec<(u32, f64)>,
}

impl CoRanking {
    /// Of these queries, in at least three rows of both spaces.
    pub(crate) fn new(spaces: [&Prepared; 2], queries: &[u32], groups: Option<&Labels>, driver: &Driver) -> Self {
        let rows = spaces[0].rows();
        let area = Area::new(rows);
        let ask = |&query: &u32| {
            let others: Vec<u32> = (0..rows as u32).filter(|&j| j != query).collect();
            let [a, b] = spaces.map(|space| ranks(space, query, &others));
            let larger: Vec<u32> = a.iter().zip(&b).map(|(a, b)| *a.max(b)).collect();
            let expected = area.expected(&larger);
            let part = |i: usize| {
                let alone = expected[a[i] as usize - 1] + expected[b[i] as usize - 1];
                (others[i], area.of_pair[larger[i] as usize - 1] - alone / 2.0)
            };
            Asked {
                area: area.of(&larger),
                parts: (0..others.len()).map(part).collect(),
                larger,
            }
        };
        driver
            .progress()
            .begin("rankings", queries.len().div_ceil(QUERIES) as u64);
        let mut larger = vec![0u64; rows - 1];
        let (mut areas, mut gathered) = (
            Vec::with_capacity(queries.len()),
            Gathered::new(Anchors::Some(queries), groups, rows),
        );
        let task = |t: usize| {
            let found: Vec<Asked> = queries[t * QUERIES..queries.len().min((t + 1) * QUERIES)]
                .iter()
                .map(ask)
                .collect();
            driver.progress().advance(1);
            found
        };
        driver.fold(queries.len().div_ceil(QUERIES), task, (), |(), found| {
            for asked in found {
                asked.larger.iter().for_each(|&rank| larger[rank as usize - 1] += 1);
                gathered.add_parts(areas.len(), &asked.parts);
                areas.push(asked.area);
            }
        });
        let mean = areas.iter().sum::<f64>() / areas.len() as f64;
        areas
            .iter()
            .enumerate()
            .for_each(|(q, own)| gathered.add_own(q, own - mean));
        CoRanking {
            queries: queries.len(),
            rows,
            larger,
            area: mean,
            effects: gathered.effects(),
        }
    }

    /// Q_NX for K = 1 … N − 2: the share of the K nearest rows that both spaces agree on.
    pub(crate) fn shared(&self) -> Vec<f64> {
        let mut shared = 0;
        let of_size = |k: usize| {
            shared += self.larger[k - 1];
            shared as f64 / (self.queries * k) as f64
        };
        (1..self.rows - 1).map(of_size).collect()
    }
}
