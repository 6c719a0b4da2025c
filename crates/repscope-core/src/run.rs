// SPDX-License-Identifier: MIT
//! Drivers: how tasks get run. What they compute never depends on the driver.
//!
//! A pass cuts its work into tasks by shape alone. A driver may run them one after the other, on all cores, or in a shuffled
//! order; their partials are always merged in task order, so the bits of the result are the same.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::random;

/// Progress callback of a long run.
pub trait Progress: Sync {
    /// A stage of `steps` steps begins.
    fn begin(&self, stage: &str, steps: u64);
    /// `steps` more steps of the current stage are done.
    fn advance(&self, steps: u64);
}

/// No progress is reported.
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _stage: &str, _steps: u64) {}
    fn advance(&self, _steps: u64) {}
}

/// In which order tasks are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// One after the other.
    Serial,
    /// On the threads of the current rayon pool.
    Parallel,
    /// One after the other in a random order given by this seed: for tests of determinism.
    Shuffled(u64),
}

/// Runs tasks.
#[derive(Clone, Copy)]
pub struct Driver<'a> {
    order: Order,
    progress: &'a dyn Progress,
    prunes: bool,
}

/// How many partials [`Driver::fold`] keeps at a time, on every machine.
const WAVE: usize = 8;

impl Driver<'static> {
    /// A driver that reports no progress.
    pub fn silent(order: Order) -> Self {
        Driver::new(order, &Silent)
    }
}

impl<'a> Driver<'a> {
    /// A driver that reports its progress.
    pub fn new(order: Order, progress: &'a dyn Progress) -> Self {
        Driver {
            order,
            progress,
            prunes: true,
        }
    }

    /// One that computes all coordinates of all pairs, for benchmarks and for tests that the bits are the same.
    pub fn without_pruning(self) -> Self {
        Driver { prunes: false, ..self }
    }

    /// Whether pairs may be decided by a part of their coordinates.
    pub(crate) fn prunes(&self) -> bool {
        self.prunes
    }

    /// Where progress is reported.
    pub fn progress(&self) -> &'a dyn Progress {
        self.progress
    }

    /// Runs tasks `0..count` and returns their partials in task order.
    pub fn map<T: Send>(&self, count: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let slots: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
        self.each(count, &|task| {
            let partial = run(task);
            *slots[task].lock().unwrap_or_else(PoisonError::into_inner) = Some(partial);
        });
        let taken = slots
            .into_iter()
            .map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
        taken.map(|partial| partial.expect("every task was run")).collect()
    }

    /// Runs tasks `0..count`. Called through a pointer, so that the thread pool is compiled once and not for every pass.
    fn each(&self, count: usize, run: &(dyn Fn(usize) + Sync)) {
        match self.order {
            Order::Serial => (0..count).for_each(run),
            Order::Parallel => (0..count).into_par_iter().with_max_len(1).for_each(run),
            Order::Shuffled(seed) => {
                let mut order: Vec<usize> = (0..count).collect();
                order.shuffle(&mut random::stream(seed, "driver", count as u64));
                order.into_iter().for_each(run);
            }
        }
    }

    /// Cuts `0..items` into blocks of `size`, each one task, and returns what they give in order.
    pub(crate) fn blocks<T: Send>(&self, items: usize, size: usize, run: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        self.map(items.div_ceil(size), |b| run(b * size..items.min((b + 1) * size)))
    }

    /// Runs tasks `0..count` and merges their partials in task order, holding only a few at a time.
    pub fn fold<T: Send, A>(
        &self,
        count: usize,
        run: impl Fn(usize) -> T + Sync,
        start: A,
        mut merge: impl FnMut(A, T) -> A,
    ) -> A {
        let mut merged = start;
        for first in (0..count).step_by(WAVE) {
            let wave = WAVE.min(count - first);
            for partial in self.map(wave, |t| run(first + t)) {
                merged = merge(merged, partial);
            }
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partials_come_in_task_order_whatever_the_order_of_work() {
        let expected: Vec<usize> = (0..100).map(|t| t * t).collect();
        for order in [Order::Serial, Order::Parallel, Order::Shuffled(7)] {
            assert_eq!(Driver::silent(order).map(100, |t| t * t), expected, "{order:?}");
        }
    }

    #[test]
    fn folding_merges_in_task_order() {
        for order in [Order::Serial, Order::Parallel, Order::Shuffled(7)] {
            let text = Driver::silent(order).fold(21, |t| t.to_string(), String::new(), |a, p| a + &p + " ");
            assert!(text.starts_with("0 1 2 ") && text.ends_with(" 19 20 "), "{text}");
        }
    }
}
