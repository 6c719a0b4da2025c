// SPDX-License-Identifier: MIT
//! The first centers: greedy k-means++ (Arthur and Vassilvitskii 2007, with the trials of scikit-learn).
//!
//! Each next center is a row drawn with probability proportional to its squared distance from the nearest center
//! so far; of a few such draws the one that helps most is kept. Several starts are seeded together, so that all
//! their draws are compared with the rows by one matrix product.

use pulp::Arch;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::Search;
use super::candidates::Candidates;
use super::rows::Chunk;
use crate::blocks::{self, Elsewhere};
use crate::error::Result;
use crate::findings::digest;

/// A start that is not complete yet.
struct Start<'a> {
    rng: &'a mut ChaCha8Rng,
    /// The rows that are centers.
    chosen: Vec<usize>,
    /// The squared distance of each row to the nearest of them.
    closest: Vec<f32>,
    /// Its sum over each chunk.
    totals: Vec<f64>,
    /// Rows that may become the next.
    candidates: Vec<usize>,
}

impl Search<'_> {
    /// The first centers of several starts.
    pub(super) fn seeds(&self, rngs: &mut [ChaCha8Rng]) -> Result<Vec<Vec<f64>>> {
        let trials = 2 + (self.k as f64).ln() as usize;
        // Distances are held for each trial: never more than half of what the packed rows take.
        let at_once = (self.d / (2 * trials)).max(1);
        let groups = rngs.chunks_mut(at_once);
        Ok(match self.elsewhere() {
            Some(matrix) => {
                self.seeds_elsewhere(matrix, groups.map(|rngs| rngs.iter_mut().collect()).collect(), trials)?
            }
            None => groups.flat_map(|rngs| self.seeds_together(rngs, trials)).collect(),
        })
    }

    /// The first centers of starts in groups where the rows are elsewhere: all groups take part in each round.
    fn seeds_elsewhere(
        &self,
        matrix: &Elsewhere,
        groups: Vec<Vec<&mut ChaCha8Rng>>,
        trials: usize,
    ) -> Result<Vec<Vec<f64>>> {
        let mut rngs: Vec<&mut ChaCha8Rng> = Vec::new();
        let mut rounds: Vec<Vec<Round>> = Vec::new();
        let mut starts: Vec<(usize, usize)> = Vec::new();
        for (group, own) in groups.into_iter().enumerate() {
            starts.extend((0..own.len()).map(|start| (group, start)));
            rngs.extend(own);
            rounds.push(Vec::new());
        }
        let first = |rng: &mut &mut ChaCha8Rng| Wanted::Row(((uniform(rng) * self.n as f64) as usize).min(self.n - 1));
        let mut wanted: Vec<Vec<Wanted>> = rngs.iter_mut().map(|rng| vec![first(rng)]).collect();
        let mut chosen: Vec<Vec<PackedRow>> = vec![Vec::new(); starts.len()];
        for number in 0..self.k {
            let found = self.fetched(matrix, &rounds, &starts, wanted)?;
            for (group, rounds) in rounds.iter_mut().enumerate() {
                let own = || {
                    starts
                        .iter()
                        .zip(&found)
                        .filter(|((of, _), _)| *of == group)
                        .map(|(_, rows)| rows)
                };
                let values = own().flatten().flat_map(|row| row.values.iter().copied()).collect();
                let squared = own().flatten().map(|row| row.squared_length).collect();
                rounds.push(Round {
                    candidates: Candidates::of_parts(self.d, values, squared),
                    counts: own().map(Vec::len).collect(),
                    chosen: Vec::new(),
                });
            }
            let mut tried = blocks::clusters::tried(self, matrix, &rounds)?.into_iter();
            wanted = Vec::new();
            for (((group, _), candidates), (rng, chosen)) in
                starts.iter().zip(&found).zip(rngs.iter_mut().zip(&mut chosen))
            {
                let sums: Vec<Vec<f64>> = tried.by_ref().take(candidates.len()).collect();
                let best = least(sums.len(), |c| sums[c].iter().sum());
                chosen.push(candidates[best].clone());
                if let Some(round) = rounds[*group].last_mut() {
                    round.chosen.push(best);
                }
                let totals = &sums[best];
                let potential: f64 = totals.iter().sum();
                wanted.push(if number + 1 == self.k {
                    Vec::new()
                } else if potential == 0.0 {
                    // Every row is a center already: the clusters left over will be empty.
                    vec![Wanted::Known(chosen[0].clone())]
                } else {
                    let passing = |_| Wanted::Passing {
                        totals: totals.clone(),
                        chunk: 0,
                        left: uniform(rng) * potential,
                    };
                    (0..trials).map(passing).collect()
                });
            }
        }
        let rows = |chosen: Vec<PackedRow>| chosen.into_iter().flat_map(|row| row.values).map(f64::from).collect();
        Ok(chosen.into_iter().map(rows).collect())
    }

    /// The rows that starts want.
    fn fetched(
        &self,
        matrix: &Elsewhere,
        rounds: &[Vec<Round>],
        starts: &[(usize, usize)],
        mut wanted: Vec<Vec<Wanted>>,
    ) -> Result<Vec<Vec<PackedRow>>> {
        loop {
            let mut asked = Vec::new();
            for (start, wanted) in starts.iter().zip(&mut wanted) {
                for wanted in wanted {
                    wanted.pass_chunks(self.n);
                    match wanted {
                        Wanted::Row(row) => asked.push((*start, *row / self.chunk, Place::Row(*row % self.chunk))),
                        Wanted::Passing { chunk, left, .. } => asked.push((*start, *chunk, Place::Passing(*left))),
                        Wanted::Known(_) => {}
                    }
                }
            }
            if asked.is_empty() {
                break;
            }
            let mut answers = blocks::clusters::drawn(self, matrix, rounds, &asked)?.into_iter();
            for wanted in wanted.iter_mut().flatten() {
                if !matches!(wanted, Wanted::Known(_)) {
                    wanted.take(answers.next());
                }
            }
        }
        let known = |wanted: Wanted| match wanted {
            Wanted::Known(row) => Some(row),
            _ => None,
        };
        Ok(wanted
            .into_iter()
            .map(|own| own.into_iter().filter_map(known).collect())
            .collect())
    }

    fn seeds_together(&self, rngs: &mut [ChaCha8Rng], trials: usize) -> Vec<Vec<f64>> {
        let n = self.n;
        let start = |rng| Start {
            rng,
            chosen: Vec::with_capacity(self.k),
            closest: vec![f32::INFINITY; n],
            totals: Vec::new(),
            candidates: Vec::new(),
        };
        let mut starts: Vec<Start> = rngs.iter_mut().map(start).collect();
        for start in &mut starts {
            start
                .candidates
                .push(((uniform(start.rng) * n as f64) as usize).min(n - 1));
        }
        for _ in 0..self.k {
            self.choose(&mut starts);
            for start in &mut starts {
                self.draw(start, trials);
            }
        }
        let rows = |start: &Start| {
            start
                .chosen
                .iter()
                .flat_map(|&i| self.packed_row(i))
                .map(|x| f64::from(*x))
                .collect()
        };
        starts.iter().map(rows).collect()
    }

    /// Chooses for each start the candidate that lowers the sum of `closest` most.
    fn choose(&self, starts: &mut [Start]) {
        let shared: &[Start] = starts;
        let candidates = Candidates::new(self, shared.iter().flat_map(|start| start.candidates.iter().copied()));
        let parts = self.each_chunk(|task, chunk| {
            let mut tried = candidates.distances(chunk);
            let mut left = tried.as_mut_slice();
            for start in shared {
                let (own, rest) = left.split_at_mut(start.candidates.len());
                let closest = &start.closest[task * self.chunk..][..chunk.rows()];
                for (distances, sum) in own {
                    *sum = Arch::new().dispatch(|| shorten(distances, closest));
                }
                left = rest;
            }
            tried
        });
        let mut first = 0;
        for start in starts {
            let potential = |c: usize| parts.iter().map(|tried| tried[first + c].1).sum::<f64>();
            let best = least(start.candidates.len(), potential);
            for (closest, tried) in start.closest.chunks_mut(self.chunk).zip(&parts) {
                closest.copy_from_slice(&tried[first + best].0);
            }
            start.totals = parts.iter().map(|tried| tried[first + best].1).collect();
            start.chosen.push(start.candidates[best]);
            first += start.candidates.len();
        }
    }

    /// Draws the next candidates.
    fn draw(&self, start: &mut Start, trials: usize) {
        let potential: f64 = start.totals.iter().sum();
        if potential == 0.0 {
            // Every row is a center already: the clusters left over will be empty.
            start.candidates = vec![start.chosen[0]];
            return;
        }
        start.candidates = (0..trials)
            .map(|_| {
                let target = uniform(start.rng) * potential;
                self.row_at(&start.closest, &start.totals, target)
            })
            .collect();
    }

    /// The row at which the running sum of `closest` passes `target`.
    fn row_at(&self, closest: &[f32], totals: &[f64], target: f64) -> usize {
        let mut left = target;
        for (c, total) in totals.iter().enumerate() {
            if left >= *total {
                left -= total;
                continue;
            }
            let first = c * self.chunk;
            let own = &closest[first..closest.len().min(first + self.chunk)];
            match passing(own, left) {
                Ok(place) => return first + place,
                Err(rest) => left = rest,
            }
        }
        // Rounding carried the sum past the end.
        closest.len() - 1
    }
}

/// The place at which the running sum of `closest` passes `left`, or what is left behind them all.
fn passing(closest: &[f32], mut left: f64) -> std::result::Result<usize, f64> {
    for (place, distance) in closest.iter().enumerate() {
        left -= f64::from(*distance);
        if left < 0.0 {
            return Ok(place);
        }
    }
    Err(left)
}

/// The first number with the smallest value.
fn least(count: usize, value: impl Fn(usize) -> f64) -> usize {
    let mut best = (0, value(0));
    for c in 1..count {
        let own = value(c);
        if own < best.1 {
            best = (c, own);
        }
    }
    best.0
}

/// A round of a group of starts: what was tried together, and which of the candidates of each start was kept.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    pub(crate) candidates: Candidates,
    /// Candidates of each start.
    pub(crate) counts: Vec<usize>,
    /// Empty while they are tried.
    pub(crate) chosen: Vec<usize>,
}

/// A row as the search sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackedRow {
    pub(crate) values: Vec<f32>,
    pub(crate) squared_length: f32,
}

/// Where a row is within a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Row(usize),
    /// Where the running sum of squared distances to the nearest center passes this.
    Passing(f64),
}

/// A row that becomes a candidate.
enum Wanted {
    Row(usize),
    Passing { totals: Vec<f64>, chunk: usize, left: f64 },
    Known(PackedRow),
}

impl Wanted {
    /// Goes on to the chunk in which the row is.
    fn pass_chunks(&mut self, rows: usize) {
        let Wanted::Passing { totals, chunk, left } = self else {
            return;
        };
        while totals.get(*chunk).is_some_and(|total| *left >= *total) {
            *left -= totals[*chunk];
            *chunk += 1;
        }
        if *chunk == totals.len() {
            // Rounding carried the sum past the end.
            *self = Wanted::Row(rows - 1);
        }
    }

    /// Takes what a worker found in its chunk: the row, or what is left behind it.
    fn take(&mut self, answer: Option<std::result::Result<PackedRow, f64>>) {
        match (answer, &mut *self) {
            (Some(Ok(row)), _) => *self = Wanted::Known(row),
            (Some(Err(rest)), Wanted::Passing { chunk, left, .. }) => {
                *left = rest;
                *chunk += 1;
            }
            _ => *self = Wanted::Known(PackedRow::default()),
        }
    }
}

/// What a worker knows of a group of starts: squared distances to the nearest center after so many rounds, by chunk and start.
pub(crate) struct Seeded {
    rounds: usize,
    id: [u64; 2],
    closest: Vec<Vec<Vec<f32>>>,
}

impl Seeded {
    pub(crate) fn bytes(&self) -> usize {
        4 * self.closest.iter().flatten().map(Vec::len).sum::<usize>()
    }
}

impl Search<'_> {
    /// What candidates of the last round add up to over each chunk of a block: by candidate, then by chunk.
    pub(crate) fn tried_in_block(&self, rounds: &[Round], known: &mut Option<Seeded>) -> Vec<Vec<f64>> {
        let Some((last, before)) = rounds.split_last() else {
            return Vec::new();
        };
        let from = known
            .take()
            .filter(|known| known.rounds <= before.len() && known.id == id(&before[..known.rounds]));
        let parts = self.each_chunk(|task, chunk| {
            let (mut closest, done) = match &from {
                Some(known) => (known.closest[task].clone(), known.rounds),
                None => (vec![vec![f32::INFINITY; chunk.rows()]; last.counts.len()], 0),
            };
            come_closer(chunk, &mut closest, &before[done..]);
            let mut tried = last.candidates.distances(chunk).into_iter();
            let mut sums = Vec::with_capacity(last.candidates.count());
            for (count, closest) in last.counts.iter().zip(&closest) {
                for (mut distances, _) in tried.by_ref().take(*count) {
                    sums.push(Arch::new().dispatch(|| shorten(&mut distances, closest)));
                }
            }
            (sums, closest)
        });
        let (sums, closest): (Vec<Vec<f64>>, Vec<Vec<Vec<f32>>>) = parts.into_iter().unzip();
        *known = Some(Seeded {
            rounds: before.len(),
            id: id(before),
            closest,
        });
        let of_candidate = |c: usize| sums.iter().map(|sums| sums[c]).collect();
        (0..last.candidates.count()).map(of_candidate).collect()
    }

    /// A row of a chunk as a start sees it, or what is left behind the chunk.
    pub(crate) fn drawn_in_chunk(
        &self,
        rounds: &[Round],
        known: Option<&Seeded>,
        start: usize,
        chunk: usize,
        place: Place,
    ) -> std::result::Result<PackedRow, f64> {
        let place = match place {
            Place::Row(place) => place,
            Place::Passing(left) => {
                let known =
                    known.filter(|known| known.rounds <= rounds.len() && known.id == id(&rounds[..known.rounds]));
                let own = &self.chunks[chunk];
                let starts = rounds.first().map_or(0, |round| round.counts.len());
                let (mut closest, done) = match known {
                    Some(known) => (known.closest[chunk].clone(), known.rounds),
                    None => (vec![vec![f32::INFINITY; own.rows()]; starts], 0),
                };
                come_closer(own, &mut closest, &rounds[done..]);
                passing(&closest[start], left)?
            }
        };
        let row = chunk * self.chunk + place;
        Ok(PackedRow {
            values: self.packed_row(row).to_vec(),
            squared_length: self.squared_length(row),
        })
    }
}

/// What identifies rounds.
fn id(rounds: &[Round]) -> [u64; 2] {
    let words = rounds.iter().flat_map(|round| {
        let values = round.candidates.parts().0.iter().map(|x| u64::from(x.to_bits()));
        values.chain(round.chosen.iter().map(|chosen| *chosen as u64))
    });
    digest(words)
}

/// The distances of each start after more rounds. Candidates are compared as they were, all together: a product of matrices of another
/// shape may differ in its last bits.
fn come_closer(chunk: &Chunk, closest: &mut [Vec<f32>], rounds: &[Round]) {
    for round in rounds {
        let mut tried = round.candidates.distances(chunk);
        let mut first = 0;
        for ((closest, count), chosen) in closest.iter_mut().zip(&round.counts).zip(&round.chosen) {
            let distances = &mut tried[first + chosen].0;
            Arch::new().dispatch(|| shorten(distances, closest));
            std::mem::swap(distances, closest);
            first += count;
        }
    }
}

/// Replaces each distance by `closest` if that is smaller, and returns the sum.
#[inline(always)]
fn shorten(distances: &mut [f32], closest: &[f32]) -> f64 {
    let mut sums = [0.0f64; 8];
    let (distances, rest) = distances.as_chunks_mut::<8>();
    let (closest, closest_rest) = closest.as_chunks::<8>();
    for (distances, closest) in distances.iter_mut().zip(closest) {
        for lane in 0..8 {
            distances[lane] = distances[lane].min(closest[lane]);
            sums[lane] += f64::from(distances[lane]);
        }
    }
    for (lane, (distance, closest)) in rest.iter_mut().zip(closest_rest).enumerate() {
        *distance = distance.min(*closest);
        sums[lane] += f64::from(*distance);
    }
    sums.iter().sum()
}

/// A number in 0..1 with 53 random bits.
pub(super) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
