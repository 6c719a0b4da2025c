// SPDX-License-Identifier: MIT
//! The k nearest rows of each query, exactly: distance first, then row number; the query itself is
//! excluded by its number (a duplicate also has distance 0).
//!
//! While tiles go by, each query keeps every row whose f32 squared distance is within twice the error
//! bound of its k-th smallest so far. Whatever falls outside cannot be among the k nearest. At the end
//! the kept rows are measured again in f64 and ordered. A query with so many near ties that they do not
//! fit its buffer is answered by measuring all rows in f64.

use super::prepared::Prepared;
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
    /// The neighbours of query `q`.
    pub(crate) fn of(&self, q: usize) -> &[u32] {
        &self.rows[q * self.k..(q + 1) * self.k]
    }

    /// Only the `k` nearest of each query.
    pub(crate) fn truncated(&self, k: usize) -> Neighbors {
        Neighbors {
            k,
            rows: self
                .rows
                .chunks_exact(self.k)
                .flat_map(|list| &list[..k])
                .copied()
                .collect(),
            distances: self
                .distances
                .chunks_exact(self.k)
                .flat_map(|list| &list[..k])
                .copied()
                .collect(),
        }
    }

    /// The distances of query `q` to its neighbours.
    pub(crate) fn distances_of(&self, q: usize) -> &[f64] {
        &self.distances[q * self.k..(q + 1) * self.k]
    }
}

/// The candidates of one block of queries. A candidate is the bits of its f32 squared distance (which
/// order like the number, as it is not negative) above its packed position.
pub(crate) struct Candidates {
    k: usize,
    capacity: usize,
    keys: Vec<u64>,
    counts: Vec<u32>,
    margin: Vec<f32>,
    /// Up to which f32 squared distance each query still takes candidates; below zero: overflowed.
    pub(crate) reach: Vec<f32>,
}

impl Candidates {
    pub(crate) fn new(k: usize, prepared: &Prepared, squared_lengths: &[f32]) -> Self {
        let capacity = 2 * k + 32;
        let rows = squared_lengths.len();
        Candidates {
            k,
            capacity,
            keys: vec![0; rows * capacity],
            counts: vec![0; rows],
            margin: squared_lengths
                .iter()
                .map(|&s| up(2.0 * prepared.error_bound(s)))
                .collect(),
            reach: vec![f32::MAX; rows],
        }
    }

    /// Query `q` of the block met the row at packed `position`. Returns its new reach.
    #[inline(always)]
    pub(crate) fn take(&mut self, q: usize, position: u32, squared: f32) -> f32 {
        let count = self.counts[q] as usize;
        self.keys[q * self.capacity + count] = u64::from(squared.to_bits()) << 32 | u64::from(position);
        self.counts[q] += 1;
        if count + 1 == self.capacity {
            self.compact(q);
        }
        self.reach[q]
    }

    /// Drops the candidates that cannot be among the k nearest any more.
    #[inline(never)]
    fn compact(&mut self, q: usize) {
        let keys = &mut self.keys[q * self.capacity..(q + 1) * self.capacity];
        let (_, kth, _) = keys.select_nth_unstable(self.k - 1);
        let limit = up(f64::from(squared_of(*kth)) + f64::from(self.margin[q]));
        let mut kept = self.k;
        for c in self.k..keys.len() {
            if squared_of(keys[c]) <= limit {
                keys.swap(kept, c);
                kept += 1;
            }
        }
        self.counts[q] = kept as u32;
        self.reach[q] = if kept + 16 > self.capacity { -1.0 } else { limit };
    }

    /// The exact neighbours of query `q`, which is row `row` of the space.
    fn finish(&mut self, q: usize, row: u32, prepared: &Prepared) -> Vec<(f64, u32)> {
        let measure = |j: u32| (prepared.squared_distance(row, j), j);
        let mut found: Vec<(f64, u32)> = if self.reach[q] < 0.0 {
            (0..prepared.rows() as u32).filter(|&j| j != row).map(measure).collect()
        } else {
            let start = q * self.capacity;
            let keys = &mut self.keys[start..start + self.counts[q] as usize];
            let (_, kth, _) = keys.select_nth_unstable(self.k - 1);
            let limit = up(f64::from(squared_of(*kth)) + f64::from(self.margin[q]));
            let near = keys.iter().filter(|key| squared_of(**key) <= limit);
            near.map(|&key| measure(prepared.order[(key & 0xFFFF_FFFF) as usize]))
                .collect()
        };
        let by_distance_then_row = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if found.len() > self.k {
            found.select_nth_unstable_by(self.k - 1, by_distance_then_row);
            found.truncate(self.k);
        }
        found.sort_unstable_by(by_distance_then_row);
        found
    }
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

/// The neighbours of all queries, in the order of `queries`, from the candidates of their blocks.
/// `blocks` names the rows of each block.
pub(crate) fn finish(
    k: usize,
    blocks: Vec<(Vec<u32>, Candidates)>,
    place: impl Fn(u32) -> usize,
    prepared: &Prepared,
    driver: &Driver,
) -> Neighbors {
    let queries: usize = blocks.iter().map(|(rows, _)| rows.len()).sum();
    let blocks: Vec<std::sync::Mutex<(Vec<u32>, Candidates)>> = blocks.into_iter().map(std::sync::Mutex::new).collect();
    let start = Neighbors {
        k,
        rows: vec![0; queries * k],
        distances: vec![0.0; queries * k],
    };
    driver.fold(
        blocks.len(),
        |b| {
            let mut block = blocks[b].lock().expect("no task panics while it holds a block");
            let (rows, mut candidates) = (std::mem::take(&mut block.0), block.1.take_all());
            let found: Vec<_> = rows
                .iter()
                .enumerate()
                .map(|(q, &row)| candidates.finish(q, row, prepared))
                .collect();
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

impl Candidates {
    /// Takes the contents out, leaving nothing: a finished block frees its memory at once.
    fn take_all(&mut self) -> Candidates {
        Candidates {
            k: self.k,
            capacity: self.capacity,
            keys: std::mem::take(&mut self.keys),
            counts: std::mem::take(&mut self.counts),
            margin: std::mem::take(&mut self.margin),
            reach: std::mem::take(&mut self.reach),
        }
    }
}
