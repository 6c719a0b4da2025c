// SPDX-License-Identifier: MIT
//! Influence: what drawing one row anew does to a score that compares rows with each other.
//!
//! A row counts in its own value, and in the values of the rows that have it as a neighbor or in a class mean. The error of the
//! score as an estimate for the population is the spread of both parts together; that of the rows' own values alone is too
//! small. Which rows stand between two others (ranks, the nearest other class) is held as it is.

use super::neighbors::Neighbors;
use super::prepared::Prepared;
use super::ranks::Ranks;
use super::tiles::Anchors;
use crate::blocks::SUPER_BLOCK;
use crate::data::Labels;
use crate::random;
use crate::run::Driver;

/// What each unit (row, or group of rows) does to the mean, over queries, of a query's sum of penalties, as query and as neighbor. The
/// penalty of a neighbor follows from its place in the list of the query, counted from 1, and from its rank in the other space. None with
/// fewer than two units.
pub(crate) fn of_penalties(
    lists: &Neighbors,
    ranks: &Ranks,
    k: usize,
    penalty: impl Fn(usize, u32) -> f64,
    anchors: Anchors,
    groups: Option<&Labels>,
    rows: usize,
) -> Option<Vec<f64>> {
    let queries = anchors.count(rows);
    let of_query = |q: usize| {
        let places = ranks.of(q)[..k].iter().enumerate();
        places.map(|(at, &rank)| penalty(at + 1, rank))
    };
    let total: f64 = (0..queries).flat_map(of_query).sum();
    let mean = total / (queries * k) as f64;
    let mut gathered = Gathered::new(anchors, groups, rows);
    for q in 0..queries {
        let pairs = lists.of(q)[..k].iter().zip(of_query(q));
        let parts: Vec<(u32, f64)> = pairs.map(|(&row, penalty)| (row, penalty - mean)).collect();
        gathered.add(q, parts.iter().map(|p| p.1).sum(), &parts);
    }
    gathered.effects()
}

/// What units do to a mean over queries, gathered query by query: the squares add up to the squared error. This is the jackknife over
/// units, in which a deleted unit takes its pairs with it.
///
/// Queries drawn from all rows add the error of that draw; their pairs then stand for more pairs than they are,
/// except that the pairs of one query do so only once.
pub(crate) struct Gathered<'a> {
    anchors: Anchors<'a>,
    groups: Option<&'a Labels>,
    rows: usize,
    effects: Vec<f64>,
    asking: Vec<usize>,
    squares_of_queries: f64,
    squares_of_sums: f64,
    /// For each query its unit, and what other rows of that do.
    askers: Vec<(usize, f64)>,
    parts: Vec<(usize, f64)>,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(anchors: Anchors<'a>, groups: Option<&'a Labels>, rows: usize) -> Self {
        let units = groups.map_or(rows, Labels::classes);
        Gathered {
            anchors,
            groups,
            rows,
            effects: vec![0.0; units],
            asking: vec![0; units],
            squares_of_queries: 0.0,
            squares_of_sums: 0.0,
            askers: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Query `q`, the next one, has a value that is this much above the mean, and other rows do these parts of it.
    pub(crate) fn add(&mut self, q: usize, own: f64, parts: &[(u32, f64)]) {
        self.add_parts(q, parts);
        self.add_own(q, own);
    }

    /// What other rows do to the value of query `q`, the next one.
    pub(crate) fn add_parts(&mut self, q: usize, parts: &[(u32, f64)]) {
        let unit = |row: usize| self.groups.map_or(row, |g| g.codes()[row] as usize);
        let asker = unit(self.anchors.row(q));
        self.parts.clear();
        self.parts
            .extend(parts.iter().map(|(row, part)| (unit(*row as usize), *part)));
        self.parts.sort_by_key(|p| p.0);
        let mut of_asker = 0.0;
        for part in self.parts.chunk_by(|a, b| a.0 == b.0) {
            let effect: f64 = part.iter().map(|p| p.1).sum();
            if part[0].0 == asker {
                of_asker = effect;
                continue;
            }
            self.effects[part[0].0] += effect;
            self.squares_of_queries += effect * effect;
        }
        self.askers.push((asker, of_asker));
    }

    /// How much the value of query `q` is above the mean.
    pub(crate) fn add_own(&mut self, q: usize, own: f64) {
        let (asker, of_asker) = self.askers[q];
        let effect = of_asker + own;
        self.effects[asker] += effect;
        self.asking[asker] += 1;
        self.squares_of_queries += effect * effect;
        self.squares_of_sums += own * own;
    }

    /// None with fewer than two units that ask.
    pub(crate) fn effects(&self) -> Option<Vec<f64>> {
        let present = self.asking.iter().filter(|&&a| a > 0).count() as f64;
        if present < 2.0 {
            return None;
        }
        let m = self.anchors.count(self.rows) as f64;
        let all = self.effects.iter().zip(&self.asking);
        let deleted: Vec<f64> = all.map(|(e, &a)| e / (m - a as f64)).collect();
        let squares = deleted.iter().map(|d| d * d).sum::<f64>();
        let jackknife = (present - 1.0) / present * squares;
        let unasked = 1.0 - m / self.rows as f64;
        let population = (jackknife - unasked * self.squares_of_queries / (m * m)).max(0.0);
        let draw = unasked * self.squares_of_sums / (m * m);
        let standard_error = (population + draw).sqrt();
        let is_moved = squares > 0.0;
        let weight = if is_moved { standard_error / squares.sqrt() } else { 0.0 };
        Some(deleted.into_iter().map(|d| weight * d).collect())
    }
}

/// The mean distances of a row that its silhouette compares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearness {
    /// To the other rows of its class.
    own: f64,
    /// To the rows of the nearest other class.
    other: f64,
    /// The nearest other class.
    next: usize,
}

impl Nearness {
    /// From a row's sums of distances to each class; none for the only row of its class.
    pub(crate) fn new(sums: &[f64], counts: &[usize], class: usize) -> Option<Self> {
        if counts[class] < 2 {
            return None;
        }
        let others = (0..counts.len()).filter(|&c| c != class && counts[c] > 0);
        let means = others.map(|c| (sums[c] / counts[c] as f64, c));
        let (other, next) = means.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Nearness {
            own: sums[class] / (counts[class] - 1) as f64,
            other,
            next,
        })
    }

    /// (b − a) / max(a, b); 0 where both are 0.
    pub(crate) fn silhouette(&self) -> f64 {
        let (a, b) = (self.own, self.other);
        if a.max(b) > 0.0 { (b - a) / a.max(b) } else { 0.0 }
    }

    /// As numbers, for [`Nearness::of_parts`].
    pub(crate) fn parts(&self) -> [f64; 3] {
        [self.own, self.other, self.next as f64]
    }

    /// None where the number of the class is negative.
    pub(crate) fn of_parts([own, other, next]: [f64; 3]) -> Option<Self> {
        (next >= 0.0).then_some(Nearness {
            own,
            other,
            next: next as usize,
        })
    }

    /// ∂s/∂a and ∂s/∂b.
    fn slopes(&self) -> (f64, f64) {
        let (a, b) = (self.own, self.other);
        match a.max(b) {
            0.0 => (0.0, 0.0),
            _ if a < b => (-1.0 / b, a / b / b),
            _ => (-b / a / a, 1.0 / a),
        }
    }
}

/// About how many coordinates are compared to learn what rows do to each other's silhouettes.
const COORDINATES: usize = 1 << 31;

/// A query, its class, and how near the classes are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    pub(crate) row: u32,
    pub(crate) class: u32,
    /// None for the only row of its class.
    pub(crate) near: Option<Nearness>,
}

/// What drawing a row anew does to the sum of the silhouettes of some queries, by the distances from it.
pub(crate) fn pull_on(own: &Asking, queries: &[Asking], counts: &[usize], distance: impl Fn(u32) -> f64) -> f64 {
    let class = own.class as usize;
    let mut effect = 0.0;
    for query in queries {
        let Some(near) = &query.near else { continue };
        let (by_own, by_other) = near.slopes();
        let (slope, mean, count) = match query.class {
            _ if query.row == own.row => continue,
            of_query if of_query == own.class => (by_own, near.own, counts[class] - 1),
            _ if near.next == class => (by_other, near.other, counts[class]),
            _ => continue,
        };
        effect += slope * (distance(query.row) - mean) / count as f64;
    }
    effect
}

/// The queries whose effect is measured, ascending.
pub(crate) fn sample_of(queries: usize, columns: usize, seed: u64) -> Vec<u32> {
    let mut sample = random::permutation(queries, &mut random::stream(seed, "silhouette", 0));
    sample.truncate((COORDINATES / (queries * columns).max(1)).clamp(32, 256));
    sample.sort_unstable();
    sample
}

/// For a random sample of the queries: its place, and what drawing it anew does to the sum of the other rows'
/// silhouettes through their class means.
///
/// ```text
/// Σ_{i in its class} ∂s_i/∂a_i · (d_iu − a_i) / (n − 1) + Σ_{i next to its class} ∂s_i/∂b_i · (d_iu − b_i) / n
/// ```
///
/// With anchors, their sum stands for that over all rows.
pub(crate) fn on_silhouettes(
    prepared: &Prepared,
    anchors: Anchors,
    labels: &Labels,
    sums: &[f64],
    seed: u64,
    driver: &Driver,
) -> Vec<(u32, f64)> {
    let (rows, counts, codes) = (prepared.rows(), labels.counts(), labels.codes());
    let one = |(q, sums)| {
        let row = anchors.row(q) as u32;
        let class = codes[row as usize];
        let near = Nearness::new(sums, &counts, class as usize);
        Asking { row, class, near }
    };
    let by_query = sums.chunks_exact(labels.classes()).enumerate();
    let asking: Vec<Asking> = by_query.map(one).collect();
    let queries = asking.len();
    let sample = sample_of(queries, prepared.columns(), seed);
    let effects = driver.map(sample.len(), |s| {
        let own = &asking[sample[s] as usize];
        let distance = |row: u32| prepared.distance(prepared.squared_distance(row, own.row));
        // In two levels, as where super-blocks of queries are elsewhere.
        let blocks = asking
            .chunks(SUPER_BLOCK)
            .map(|some| pull_on(own, some, &counts, distance));
        blocks.fold(0.0, |sum, part| sum + part) * rows as f64 / queries as f64
    });
    sample.into_iter().zip(effects).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Space;
    use crate::kernels::prepared::Preparation;
    use crate::run::Order;

    fn beyond_first(_: usize, rank: u32) -> f64 {
        f64::from(rank.saturating_sub(1))
    }

    fn error(effects: &[f64]) -> f64 {
        effects.iter().map(|e| e * e).sum::<f64>().sqrt()
    }

    #[test]
    fn a_row_counts_with_its_own_list_and_in_the_lists_of_others() {
        // k = 1, penalties 0, 1, 2, 0 with mean 3/4. Row 1 has 1/4 of its own, −3/4 from row 0, 5/4 from row 2.
        let (lists, ranks) = lists_and_ranks();
        let psi: [f64; 4] = [-0.5, 0.75, 0.5, -0.75];
        let expected = (psi.iter().map(|p| p * p).sum::<f64>() / (4.0 * 3.0)).sqrt();
        let found = of_penalties(&lists, &ranks, 1, beyond_first, Anchors::All, None, 4).unwrap();
        assert!((error(&found) - expected).abs() < 1e-15 && found.len() == 4);
    }

    #[test]
    fn rows_of_one_episode_count_as_one_unit() {
        // Sums of ψ by episode are 1/4 and −1/4; without one episode the mean over two rows moves by half of that.
        let (lists, ranks) = lists_and_ranks();
        let episodes = Labels::from_codes(vec![0, 0, 1, 1], 2);
        let found = of_penalties(&lists, &ranks, 1, beyond_first, Anchors::All, Some(&episodes), 4).unwrap();
        assert!((error(&found) - 0.125).abs() < 1e-15 && found.len() == 2);
        let single = Labels::from_codes(vec![0; 4], 1);
        assert!(of_penalties(&lists, &ranks, 1, beyond_first, Anchors::All, Some(&single), 4).is_none());
    }

    #[test]
    fn the_influence_on_silhouettes_is_the_derivative_by_the_weight_of_a_row() {
        // Each row with a weight, all means weighted: d(Σ s) / d(weight of u), by differences, at weights of 1.
        let points: Vec<f64> = (0..24).map(|i| f64::from(i * i % 17) + 0.3 * f64::from(i)).collect();
        let labels = Labels::from_codes(vec![0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 0, 1], 3);
        let space = Space::from_f64("latent", 12, 2, points.clone()).unwrap();
        let driver = Driver::silent(Order::Serial);
        let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
        let distance =
            |i: usize, j: usize| (points[2 * i] - points[2 * j]).hypot(points[2 * i + 1] - points[2 * j + 1]);
        let sums: Vec<f64> = (0..36)
            .map(|at| {
                let members = (0..12).filter(|&j| labels.codes()[j] as usize == at % 3);
                members.map(|j| distance(at / 3, j)).sum()
            })
            .collect();
        let sum_with = |u: usize, weight: f64| -> f64 {
            let weight_of = |j: usize| if j == u { weight } else { 1.0 };
            let mean = |i: usize, class: u32| {
                let members = || (0..12).filter(move |&j| j != i).filter(|&j| labels.codes()[j] == class);
                members().map(|j| weight_of(j) * distance(i, j)).sum::<f64>() / members().map(weight_of).sum::<f64>()
            };
            let silhouette = |i: usize| {
                let own = labels.codes()[i];
                let (a, others) = (mean(i, own), (0..3).filter(|&c| c != own));
                let b = others.map(|c| mean(i, c)).fold(f64::INFINITY, f64::min);
                (b - a) / a.max(b)
            };
            (0..12).map(silhouette).sum()
        };
        let found = on_silhouettes(&prepared, Anchors::All, &labels, &sums, 1, &driver);
        assert_eq!(found.len(), 12);
        for (u, effect) in found {
            let step = 1e-5;
            let expected = (sum_with(u as usize, 1.0 + step) - sum_with(u as usize, 1.0 - step)) / (2.0 * step);
            // Central differences err by about the square of the step.
            assert!((effect - expected).abs() < 1e-8, "{u}: {effect}, not {expected}");
        }
    }

    fn lists_and_ranks() -> (Neighbors, Ranks) {
        let lists = Neighbors {
            k: 1,
            rows: vec![1, 0, 1, 2],
            distances: vec![1.0; 4],
        };
        let ranks = Ranks {
            k: 1,
            ranks: vec![1, 2, 3, 1],
        };
        (lists, ranks)
    }
}
