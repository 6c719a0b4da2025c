// SPDX-License-Identifier: MIT
//! The k nearest rows of each query, exactly: distance first, then row number; the query itself is
//! excluded by its number (a duplicate also has distance 0).
//!
//! While tiles go by, each query keeps candidates within a reach that only shrinks. Where rows come in random order, after m
//! of N of them about k·m/N of the k nearest have been met: the reach is set to that rank plus six standard deviations, which
//! keeps few candidates and is almost never too tight. Where near rows come first, it is set to the k-th nearest so far. Where
//! near ties fill the buffer they are measured in f64 at once. At the end the candidates are measured in f64 and ordered,
//! and the reach is proven not to have been too tight: a row that was turned away has an f32 squared distance
//! beyond the reach, so its exact one is beyond the reach minus the error bound E (or a lower bound of it was); if the k-th
//! nearest candidate is not beyond that, no row that was turned away can be nearer. Otherwise all rows are measured.
//!
//! Where k rows were found among others before, their k-th distance is a bound: the reach begins there, plus E, and what is reported
//! are the candidates within the bound, of which there may be fewer than k.

use std::sync::Mutex;

use super::prepared::Prepared;
use super::ranks::Thresholds;
use super::tiles::Anchors;
use crate::run::Driver;

/// The k nearest rows of each query, nearest first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Neighbors {
    /// How many per query.
    pub(crate) k: usize,
    /// Row numbers, k per query.
    pub(crate) rows: Vec<u32>,
    /// Distances in the space's own units, k per query.
    pub(crate) distances: Vec<f64>,
}

impl Neighbors {
    /// The neighbors of query `q`.
    pub(crate) fn of(&self, q: usize) -> &[u32] {
        &self.rows[q * self.k..(q + 1) * self.k]
    }

    /// Only the `k` nearest of each query.
    pub(crate) fn truncated(&self, k: usize) -> Neighbors {
        fn first<T: Copy>(lists: &[T], of: usize, k: usize) -> Vec<T> {
            lists.chunks_exact(of).flat_map(|list| &list[..k]).copied().collect()
        }
        Neighbors {
            k,
            rows: first(&self.rows, self.k, k),
            distances: first(&self.distances, self.k, k),
        }
    }

    /// The neighbors of the queries `rows`, with their distances in the space of `prepared`.
    pub(crate) fn thresholds(&self, rows: &[u32], anchors: Anchors, prepared: &Prepared) -> Thresholds {
        let of_row = |row: u32| {
            let exact = move |j: &u32| (prepared.squared_distance(row, *j), *j);
            self.of(anchors.place(row)).iter().map(exact)
        };
        Thresholds {
            k: self.k,
            exact: rows.iter().flat_map(|row| of_row(*row)).collect(),
        }
    }

    /// The distances of query `q` to its neighbors.
    pub(crate) fn distances_of(&self, q: usize) -> &[f64] {
        &self.distances[q * self.k..(q + 1) * self.k]
    }
}

/// The candidates of one block of queries. A candidate is the bits of its f32 squared distance (which
/// order like the number, as it is not negative) above its row number.
pub(crate) struct Candidates {
    k: usize,
    capacity: usize,
    /// How many of the nearest rows met so far to keep.
    wanted: usize,
    keys: Vec<u64>,
    counts: Vec<u32>,
    /// At how many candidates each query drops the far ones.
    full: Vec<u32>,
    /// The error bound E of each query.
    errors: Vec<f64>,
    /// Up to which f32 squared distance each query takes candidates; only ever shrinks.
    pub(crate) reach: Vec<f32>,
    /// The exact squared distance beyond which rows do not matter to each query; empty where nothing is known.
    bounds: Vec<f64>,
}

impl Candidates {
    /// None yet, for queries with these error bounds.
    pub(crate) fn new(k: usize, errors: Vec<f64>) -> Self {
        let capacity = 2 * k + 64;
        let rows = errors.len();
        Candidates {
            k,
            capacity,
            wanted: k,
            keys: vec![0; rows * capacity],
            counts: vec![0; rows],
            full: vec![capacity as u32; rows],
            errors,
            reach: vec![f32::MAX; rows],
            bounds: Vec::new(),
        }
    }

    /// From the start only rows up to these exact squared distances matter.
    pub(crate) fn start_within(&mut self, bounds: Vec<f64>) {
        self.bounds = bounds;
        for q in 0..self.bounds.len() {
            self.reach[q] = self.first_reach(q);
        }
    }

    /// The reach that the bound of a query gives.
    fn first_reach(&self, q: usize) -> f32 {
        up(self.bounds[q] + self.errors[q]).min(f32::MAX)
    }

    /// After the next tile, `met` of `all` rows will have been met.
    pub(crate) fn expect(&mut self, met: usize, all: usize) {
        let share = self.k as f64 * met as f64 / all as f64;
        self.wanted = ((share + 6.0 * share.sqrt() + 10.0) as usize).min(self.k);
    }

    /// Query `q` of the block, which is `row`, met `other`. Returns its new reach.
    #[inline(always)]
    pub(crate) fn take(&mut self, q: usize, row: u32, other: u32, squared: f32, prepared: &Prepared) -> f32 {
        let count = self.counts[q];
        self.keys[q * self.capacity + count as usize] = u64::from(squared.to_bits()) << 32 | u64::from(other);
        self.counts[q] = count + 1;
        if count + 1 >= self.full[q] {
            self.drop_far(q, row, prepared);
        }
        self.reach[q]
    }

    /// Whether query `q` holds so many candidates beyond the wanted rank that its reach should shrink.
    #[inline(always)]
    pub(crate) fn is_loose(&self, q: usize) -> bool {
        self.counts[q] as usize >= self.wanted + self.wanted / 8 + 8
    }

    /// Shrinks the reach to the wanted rank (with its near ties), and drops what is beyond.
    #[inline(never)]
    pub(crate) fn drop_far(&mut self, q: usize, row: u32, prepared: &Prepared) {
        let keys = &mut self.keys[q * self.capacity..][..self.counts[q] as usize];
        let wanted = self.wanted.min(keys.len());
        let (_, last, _) = keys.select_nth_unstable(wanted - 1);
        let mut limit = up(f64::from(squared_of(*last)) + 2.0 * self.errors[q]);
        let mut kept = wanted;
        for c in wanted..keys.len() {
            if squared_of(keys[c]) <= limit {
                keys.swap(kept, c);
                kept += 1;
            }
        }
        if kept + 16 > self.capacity {
            keys.sort_by_cached_key(|&key| exactly(key, row, prepared));
            kept = self.k;
            limit = up(prepared.squared_distance(row, row_of(keys[kept - 1])) + self.errors[q]);
        }
        self.counts[q] = kept as u32;
        self.reach[q] = limit.min(self.reach[q]);
        self.full[q] = (2 * wanted + 32).max(kept + 16).min(self.capacity) as u32;
    }

    /// The exact neighbors of query `q`, which is row `row` of the space, among all rows or these.
    pub(crate) fn finish(&mut self, q: usize, row: u32, among: Option<&[u32]>, prepared: &Prepared) -> Vec<(f64, u32)> {
        let measure = |others: Vec<u32>| {
            let squared = prepared.squared_distances(row, others.iter().copied());
            nearest(squared.into_iter().zip(others), self.k)
        };
        let bound = self.bounds.get(q).copied();
        let is_complete = bound.is_some() && self.reach[q] == self.first_reach(q);
        let keys = &mut self.keys[q * self.capacity..][..self.counts[q] as usize];
        if keys.len() >= self.k {
            let (_, kth, _) = keys.select_nth_unstable(self.k - 1);
            let limit = f64::from(squared_of(*kth)) + 2.0 * self.errors[q];
            let near = keys.iter().filter(|key| f64::from(squared_of(**key)) <= limit);
            let found = measure(near.map(|&key| row_of(key)).collect());
            if found[self.k - 1].0 <= f64::from(self.reach[q]) - self.errors[q] {
                return found;
            }
        }
        if is_complete {
            // The reach is as it began, so all rows within the bound are candidates.
            let mut found = measure(keys.iter().map(|&key| row_of(key)).collect());
            found.retain(|own| bound.is_some_and(|bound| own.0 <= bound));
            return found;
        }
        match among {
            Some(rows) => measure(rows.iter().copied().filter(|&j| j != row).collect()),
            None => measure((0..prepared.rows() as u32).filter(|&j| j != row).collect()),
        }
    }
}

/// The k smallest, by distance and then by row. A distance is not negative, so its bits order like the number.
fn nearest(found: impl Iterator<Item = (f64, u32)>, k: usize) -> Vec<(f64, u32)> {
    let mut found: Vec<(u64, u32)> = found.map(|(squared, row)| (squared.to_bits(), row)).collect();
    if found.len() > k {
        found.select_nth_unstable(k - 1);
        found.truncate(k);
    }
    found.sort_unstable();
    let exact = found.into_iter().map(|(bits, row)| (f64::from_bits(bits), row));
    exact.collect()
}

/// The bits of the exact squared distance of a candidate to `row`, which order like the number; then its row.
fn exactly(key: u64, row: u32, prepared: &Prepared) -> (u64, u32) {
    (prepared.squared_distance(row, row_of(key)).to_bits(), row_of(key))
}

fn row_of(key: u64) -> u32 {
    key as u32
}

fn squared_of(key: u64) -> f32 {
    f32::from_bits((key >> 32) as u32)
}

/// The next f32 not below `x`.
fn up(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) < x {
        rounded.next_up()
    } else {
        rounded
    }
}

/// The neighbors of all queries from the candidates of their blocks, each of which comes with its rows.
pub(crate) fn finish(
    k: usize,
    blocks: Vec<(Vec<u32>, Candidates)>,
    place: impl Fn(u32) -> usize,
    prepared: &Prepared,
    driver: &Driver,
) -> Neighbors {
    let queries: usize = blocks.iter().map(|(rows, _)| rows.len()).sum();
    // A block is taken out and finished: its memory is freed at once.
    let blocks: Vec<_> = blocks.into_iter().map(|block| Mutex::new(Some(block))).collect();
    let start = Neighbors {
        k,
        rows: vec![0; queries * k],
        distances: vec![0.0; queries * k],
    };
    driver.fold(
        blocks.len(),
        |b| {
            let block = blocks[b].lock().expect("no task panics while it holds a block").take();
            let (rows, mut candidates) = block.expect("each block is finished once");
            let finish = |(q, &row): (usize, &u32)| candidates.finish(q, row, None, prepared);
            let found: Vec<_> = rows.iter().enumerate().map(finish).collect();
            (rows, found)
        },
        start,
        |mut all, (rows, found)| {
            for (row, list) in rows.into_iter().zip(found) {
                let first = place(row) * k;
                for (slot, (squared, j)) in list.into_iter().enumerate() {
                    all.rows[first + slot] = j;
                    all.distances[first + slot] = prepared.distance(squared);
                }
            }
            all
        },
    )
}
