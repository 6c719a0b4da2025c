// SPDX-License-Identifier: MIT
//! Which samples each step sees: all of them once, in a random order, before any is seen again.

use repscope_core::random;

pub(crate) struct Batches {
    seed: u64,
    name: &'static str,
    count: usize,
    size: usize,
    rounds: u64,
    left: Vec<u32>,
}

impl Batches {
    /// Batches of `size` out of `count` samples, from the stream of this name.
    pub(crate) fn new(seed: u64, name: &'static str, count: usize, size: usize) -> Self {
        Batches {
            seed,
            name,
            count,
            size,
            rounds: 0,
            left: Vec::new(),
        }
    }

    pub(crate) fn next(&mut self) -> Vec<usize> {
        let mut batch = Vec::with_capacity(self.size);
        while batch.len() < self.size {
            match self.left.pop() {
                Some(sample) => batch.push(sample as usize),
                None => {
                    self.left = random::permutation(self.count, &mut random::stream(self.seed, self.name, self.rounds));
                    self.rounds += 1;
                }
            }
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_seen_once_before_any_is_seen_twice() {
        let mut batches = Batches::new(1, "test", 10, 4);
        let mut seen: Vec<usize> = (0..5).flat_map(|_| batches.next()).collect();
        assert_eq!(seen.len(), 20);
        seen[..10].sort_unstable();
        assert_eq!(seen[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
}
