// SPDX-License-Identifier: MIT
//! Several computations whose rounds of tasks go together: each waits for the others before its next round is sent, so that a round
//! of few tasks takes no longer for all of them than for one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rayon::ThreadPoolBuilder;

use super::bytes::Writer;
use super::{Given, Kernel, Stage, Take, Task, Workers, execute_kept};
use crate::error::{Error, Result};

/// What a thread may stack up: decompositions need more than the usual 2 MiB.
const STACK: usize = 16 << 20;

/// Runs `count` computations at a time, each with workers of its own, and gives what they return in their order.
pub(crate) fn together<T: Send>(
    workers: &Arc<dyn Workers>,
    count: usize,
    run: impl Fn(usize, Arc<dyn Workers>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let table = Arc::new(Table {
        workers: workers.clone(),
        seats: Mutex::new((0..count).map(|_| Seat::Busy).collect()),
        changed: Condvar::new(),
    });
    let run = &run;
    std::thread::scope(|scope| {
        let start = |number: usize| {
            let member = Member {
                table: table.clone(),
                number,
            };
            scope.spawn(move || {
                let leaving = Leaving(&member);
                let member: Arc<dyn Workers> = Arc::new(Member {
                    table: leaving.0.table.clone(),
                    number,
                });
                // Passes on threads of their own: the pool of the call has none to spare for those who wait, and the global one stays
                // unused.
                let pool = ThreadPoolBuilder::new().num_threads(1).stack_size(STACK).build();
                let pool = pool.map_err(|error| Error::Internal(format!("starting a thread: {error}")))?;
                pool.install(|| run(number, member))
            })
        };
        let threads: Vec<_> = (0..count).map(start).collect();
        let ended = |thread: std::thread::ScopedJoinHandle<Result<T>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let all: Vec<Result<T>> = threads.into_iter().map(ended).collect();
        all.into_iter().collect()
    })
}

/// What one of them does.
enum Seat {
    /// Computes.
    Busy,
    /// Waits for the others with its next round.
    Asks(Stage),
    /// Its round runs.
    Waits,
    /// Partials of its round.
    Has(Result<Vec<Vec<u8>>>),
    Gone,
}

struct Table {
    workers: Arc<dyn Workers>,
    seats: Mutex<Vec<Seat>>,
    changed: Condvar,
}

struct Member {
    table: Arc<Table>,
    number: usize,
}

/// Nobody waits for one that ended, however it ended.
struct Leaving<'a>(&'a Member);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.table.seats()[self.0.number] = Seat::Gone;
        self.0.table.changed.notify_all();
    }
}

impl Table {
    fn seats(&self) -> MutexGuard<'_, Vec<Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rounds of all that ask, if nobody computes or waits for a round that runs.
    fn ready(seats: &mut [Seat]) -> Option<Vec<(usize, Stage)>> {
        let may_wait = |seat: &Seat| matches!(seat, Seat::Asks(_) | Seat::Gone);
        if !seats.iter().all(may_wait) {
            return None;
        }
        let mut stages = Vec::new();
        for (number, seat) in seats.iter_mut().enumerate() {
            if matches!(seat, Seat::Asks(_))
                && let Seat::Asks(stage) = std::mem::replace(seat, Seat::Waits)
            {
                stages.push((number, stage));
            }
        }
        (!stages.is_empty()).then_some(stages)
    }

    /// Runs rounds as one, and gives the partials of each.
    fn run(&self, stages: &[(usize, Stage)]) -> Result<Vec<Vec<Vec<u8>>>> {
        let mut all = Stage {
            name: stages[0].1.name.clone(),
            shared: Vec::new(),
            parts: Vec::new(),
            tasks: Vec::new(),
        };
        for (_, stage) in stages {
            let first = all.parts.len();
            all.parts.push(stage.shared.clone());
            all.parts.extend(stage.parts.iter().cloned());
            all.tasks.extend(stage.tasks.iter().map(|task| {
                let mut body = Writer::default();
                body.number(Kernel::Together as u64);
                let mut body = body.finish();
                body.extend(&task.body);
                let parts = task.parts.iter().map(|part| first + 1 + part);
                Task {
                    parts: std::iter::once(first).chain(parts).collect(),
                    body,
                    ..task.clone()
                }
            }));
        }
        let mut partials = Vec::with_capacity(all.tasks.len());
        self.workers.run(&all, &mut |partial| {
            partials.push(partial);
            Ok(())
        })?;
        if partials.len() != all.tasks.len() {
            return Err(Error::Internal("a round of tasks is not complete".to_string()));
        }
        let mut partials = partials.into_iter();
        let own = |(_, stage): &(usize, Stage)| partials.by_ref().take(stage.tasks.len()).collect();
        Ok(stages.iter().map(own).collect())
    }
}

impl Workers for Member {
    fn run(&self, stage: &Stage, take: Take) -> Result<()> {
        let table = &*self.table;
        let mut seats = table.seats();
        seats[self.number] = Seat::Asks(stage.clone());
        let partials = loop {
            if matches!(seats[self.number], Seat::Has(_))
                && let Seat::Has(partials) = std::mem::replace(&mut seats[self.number], Seat::Busy)
            {
                break partials?;
            }
            let Some(stages) = Table::ready(&mut seats) else {
                seats = table.changed.wait(seats).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(seats);
            // Whoever else waits for this round must not wait forever.
            let found = catch_unwind(AssertUnwindSafe(|| table.run(&stages)))
                .unwrap_or_else(|_| Err(Error::Internal("a round of tasks ended early".to_string())));
            seats = table.seats();
            match found {
                Ok(found) => {
                    for ((number, _), partials) in stages.iter().zip(found) {
                        seats[*number] = Seat::Has(Ok(partials));
                    }
                }
                Err(error) => {
                    for (number, _) in &stages {
                        seats[*number] = Seat::Has(Err(error.clone()));
                    }
                }
            }
            table.changed.notify_all();
        };
        drop(seats);
        partials.into_iter().try_for_each(take)
    }
}

/// A task of one of several computations: what its stage shares comes as its first part.
pub(super) fn run_together(given: Given) -> Result<Writer> {
    let Some((shared, parts)) = given.parts.split_first() else {
        return Err(Error::Internal("a round of tasks without what it shares".to_string()));
    };
    let parts: Vec<&[u8]> = parts.iter().map(|part| part.rest()).collect();
    let partial = execute_kept(
        shared.rest(),
        &parts,
        given.body.rest(),
        given.spaces,
        given.kept,
        given.driver,
    )?;
    Ok(Writer::of(partial))
}
