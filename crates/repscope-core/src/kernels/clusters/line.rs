// SPDX-License-Identifier: MIT
//! One column: the best clustering of all, by dynamic programming.
//!
//! In sorted order every cluster of the best clustering is a run of values, and the first value of the last run does not move
//! left when a value is added at the end. So each layer of the table is filled by divide and conquer, in O(n log n) for each of k
//! layers (Grønlund, Larsen, Mathiasen, Nielsen, Schneider and Song 2017).

use super::Search;

/// Entries of the table at most (64 MiB); larger problems are searched as if they had more columns.
const MOST_ENTRIES: usize = 1 << 24;

/// Least inertia is the largest Σ (sum of the run)² / length over the runs, as the values are centered.
struct Runs {
    /// The sum of the first i values, in ascending order.
    sums: Vec<f64>,
}

/// Whether the best clustering of so many rows and columns is found by a table.
pub(super) fn fits_a_line(n: usize, d: usize, k: usize) -> bool {
    d == 1 && k.min(n).saturating_mul(n + 1) <= MOST_ENTRIES
}

impl Search<'_> {
    /// The labels of least inertia; none with several columns, or where the table would be too large.
    pub(super) fn on_a_line(&self) -> Option<Vec<u32>> {
        let n = self.n;
        let k = self.k.min(n);
        if !fits_a_line(n, self.d, k) {
            return None;
        }
        let mut values: Vec<(f64, usize)> = Vec::with_capacity(n);
        for i in 0..n {
            let mut value = [0.0];
            self.read(i, &mut value);
            values.push((value[0] * self.unit, i));
        }
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut sums = vec![0.0; n + 1];
        for (i, (value, _)) in values.iter().enumerate() {
            sums[i + 1] = sums[i] + value;
        }
        let runs = Runs { sums };
        // For the first i values in one run, then in two, and so on: the largest sum, and where the last run begins.
        let mut best: Vec<f64> = (0..=n)
            .map(|end| if end == 0 { 0.0 } else { runs.of(0, end) })
            .collect();
        let mut begins = vec![vec![0u32; n + 1]];
        for clusters in 2..=k {
            let (mut next, mut begin) = (vec![f64::NEG_INFINITY; n + 1], vec![0u32; n + 1]);
            runs.fill(&best, clusters..n + 1, clusters - 1..n, &mut next, &mut begin);
            best = next;
            begins.push(begin);
        }
        let mut labels = vec![0; n];
        let mut end = n;
        for (cluster, begin) in begins.iter().enumerate().rev() {
            let first = begin[end] as usize;
            values[first..end]
                .iter()
                .for_each(|(_, row)| labels[*row] = cluster as u32);
            end = first;
        }
        Some(labels)
    }
}

impl Runs {
    /// (sum)² / length of the values from `first` to before `end`.
    fn of(&self, first: usize, end: usize) -> f64 {
        (self.sums[end] - self.sums[first]).powi(2) / (end - first) as f64
    }

    /// Fills the entries of `ends`, whose last runs begin within `firsts`.
    fn fill(
        &self,
        before: &[f64],
        ends: std::ops::Range<usize>,
        firsts: std::ops::Range<usize>,
        next: &mut [f64],
        begin: &mut [u32],
    ) {
        if ends.is_empty() {
            return;
        }
        let end = ends.start + ends.len() / 2;
        for (first, sum) in before.iter().enumerate().take(end.min(firsts.end)).skip(firsts.start) {
            let sum = sum + self.of(first, end);
            if sum > next[end] {
                (next[end], begin[end]) = (sum, first as u32);
            }
        }
        let first = begin[end] as usize;
        self.fill(before, ends.start..end, firsts.start..first + 1, next, begin);
        self.fill(before, end + 1..ends.end, first..firsts.end, next, begin);
    }
}
