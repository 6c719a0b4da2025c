// SPDX-License-Identifier: MIT
//! Work on matrices that no single machine holds: blocks of rows, what a worker computes of them, and how that is merged.
//!
//! The numbers of such a matrix are [`Elsewhere`]: it knows its shape and the [`Workers`] that can read its rows. A pass over it is a
//! [`Stage`] of tasks. A [`Task`] names the rows it reads and what to do with them; [`execute`] does it wherever these rows are,
//! and gives a *partial*: plain data, as bytes. Partials are merged in the order of the tasks.
//!
//! Rows are cut into super-blocks by their number alone, here and in the passes of one machine, and sums are taken in two levels: within a
//! super-block in a fixed order, then over super-blocks in theirs. So a thread, a process and a node give the same bits.
//!
//! | pass | partial | merged |
//! |---|---|---|
//! | neighbors | of each query the nearest rows of a super-block, with squared distances | by distance, then row |
//! | ranks | how many rows of a super-block come before each threshold | added, exact |
//! | label retrieval | of each query the most similar rows of a super-block, with similarities | by similarity, then row |
//! | kernel and class sums | a sum of each query over a super-block | added in the order of super-blocks |
//! | moments, singular values | sums, scatter matrices and triangles of a super-block | in the order of super-blocks |
//! | k-means | of each start the sums and counts of a super-block and how many labels changed; labels and costs at the end | in the order of super-blocks |
//! | effects of rows | a value for each row | one behind the other |
//!
//! This crate starts no process and opens no connection: [`Workers`] is what a program implements.

mod bytes;
pub(crate) mod clusters;
mod frames;
mod pairs;
mod rankings;
mod rows;
mod selection;
mod singular;
mod spectrum;
mod together;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::{Reader, Writer};
pub use clusters::Kept;
pub(crate) use pairs::{influences, squared_distances_of_row, sweep};
pub(crate) use rankings::{Directions, rank_elsewhere};

pub(crate) use rows::{digests, fetch, some_rows};
pub(crate) use singular::singular;
pub(crate) use spectrum::spectrum;
pub(crate) use together::together;

use crate::data::Space;
use crate::error::{Error, Result};
use crate::findings::digest;
use crate::kernels::prepared::{Frame, Preparation};
use crate::run::Driver;

/// Rows of a super-block: 64 tiles of 288 rows, which is also 18 sums of 1,024 rows and 72 strips of 256.
pub const SUPER_BLOCK: usize = 64 * 288;

/// The super-blocks of so many rows.
pub(crate) fn super_blocks(rows: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    (0..rows.div_ceil(SUPER_BLOCK)).map(move |b| b * SUPER_BLOCK..rows.min((b + 1) * SUPER_BLOCK))
}

/// Rows of a matrix that a task reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// All from the first to before the last.
    Span(Range<usize>),
    /// These, in this order.
    Each(Vec<u32>),
}

impl Rows {
    /// How many.
    pub fn count(&self) -> usize {
        match self {
            Rows::Span(span) => span.len(),
            Rows::Each(rows) => rows.len(),
        }
    }
}

/// What a task reads: rows of the matrix with this number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// [`Elsewhere::number`].
    pub matrix: u32,
    /// Which rows.
    pub rows: Rows,
}

/// One block of work.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The rows that [`execute`] is given, one space for each.
    pub reads: Vec<Read>,
    /// The parts of the stage that it needs, by their numbers.
    pub parts: Vec<usize>,
    /// What is done: everything the partial depends on beside the rows, the parts, and what the stage shares.
    pub body: Vec<u8>,
    /// Whether a worker does well to keep what it makes of the rows ([`Kept`]) for other tasks that read them. Such tasks are many and
    /// short.
    pub keeps: bool,
    /// About how many multiplications it takes, so that small ones can be sent together.
    pub cost: f64,
}

/// Tasks that do not wait for each other.
#[derive(Debug, Clone)]
pub struct Stage {
    /// What is done, for people.
    pub name: String,
    /// What all tasks need: means, say.
    pub shared: Vec<u8>,
    /// What some tasks need: the thresholds of a super-block, say.
    pub parts: Vec<Vec<u8>>,
    /// In the order in which partials are merged.
    pub tasks: Vec<Task>,
}

/// Takes a partial.
pub type Take<'a> = &'a mut dyn FnMut(Vec<u8>) -> Result<()>;

/// Whoever runs tasks.
pub trait Workers: Send + Sync {
    /// Runs [`execute`] for each task of a stage, wherever that is, and hands out all partials in the order of the tasks.
    fn run(&self, stage: &Stage, take: Take) -> Result<()>;
}

/// A matrix that is not here.
pub struct Elsewhere {
    /// By which tasks name it.
    pub number: u32,
    /// N.
    pub rows: usize,
    /// D.
    pub columns: usize,
    /// Whether its numbers have 32 bits, else 64.
    pub is_single: bool,
    /// What identifies its contents.
    pub digest: String,
    /// Who can read it.
    pub workers: Arc<dyn Workers>,
    /// Which rows of the shards these are, and in what order, where they are not all as they stand.
    order: Option<Arc<Vec<u32>>>,
    frames: Mutex<BTreeMap<Preparation, Arc<Frame>>>,
}

impl Elsewhere {
    /// A matrix of this shape that workers can read under this number.
    pub fn new(
        number: u32,
        (rows, columns): (usize, usize),
        is_single: bool,
        digest: String,
        workers: Arc<dyn Workers>,
    ) -> Self {
        Elsewhere {
            number,
            rows,
            columns,
            is_single,
            digest,
            workers,
            order: None,
            frames: Mutex::new(BTreeMap::new()),
        }
    }

    /// Some of the rows, in this order.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let row = |row: &usize| self.order.as_ref().map_or(*row as u32, |order| order[*row]);
        let order: Vec<u32> = rows.iter().map(row).collect();
        let [a, b] = digest(order.iter().map(|row| u64::from(*row)));
        Elsewhere {
            number: self.number,
            rows: rows.len(),
            columns: self.columns,
            is_single: self.is_single,
            digest: format!("{} {a:016x}{b:016x}", self.digest),
            workers: self.workers.clone(),
            order: Some(Arc::new(order)),
            frames: Mutex::new(BTreeMap::new()),
        }
    }

    /// The same rows by other workers.
    pub(crate) fn through(&self, workers: Arc<dyn Workers>) -> Self {
        let own = Elsewhere::new(
            self.number,
            (self.rows, self.columns),
            self.is_single,
            self.digest.clone(),
            workers,
        );
        Elsewhere {
            order: self.order.clone(),
            ..own
        }
    }

    fn span(&self, rows: Range<usize>) -> Read {
        let rows = match &self.order {
            None => Rows::Span(rows),
            Some(order) => {
                let rows = &order[rows];
                let first = rows.first().map_or(0, |row| *row as usize);
                let are_together = rows.iter().zip(first..).all(|(row, next)| *row as usize == next);
                if are_together {
                    Rows::Span(first..first + rows.len())
                } else {
                    Rows::Each(rows.to_vec())
                }
            }
        };
        Read {
            matrix: self.number,
            rows,
        }
    }

    fn each(&self, mut rows: Vec<u32>) -> Read {
        if let Some(order) = &self.order {
            rows.iter_mut().for_each(|row| *row = order[*row as usize]);
        }
        Read {
            matrix: self.number,
            rows: Rows::Each(rows),
        }
    }

    /// Runs a stage with progress, and hands out partials with the number of their task.
    fn run(&self, plan: Plan, driver: &Driver, take: &mut dyn FnMut(usize, &mut Reader) -> Result<()>) -> Result<()> {
        let task = |job: Job| {
            let mut body = Writer::default();
            body.number(plan.kernel as u64);
            body.append(job.body);
            Task {
                reads: job.reads,
                parts: job.parts,
                body: body.finish(),
                keeps: clusters::keeps(plan.kernel),
                cost: job.cost,
            }
        };
        let stage = Stage {
            name: plan.name.to_string(),
            shared: plan.shared.finish(),
            parts: plan.parts.into_iter().map(Writer::finish).collect(),
            tasks: plan.jobs.into_iter().map(task).collect(),
        };
        if stage.tasks.is_empty() {
            return Ok(());
        }
        if !plan.is_quiet {
            driver.progress().begin(plan.name, stage.tasks.len() as u64);
        }
        let mut number = 0;
        self.workers.run(&stage, &mut |partial| {
            let mut reader = Reader::new(&partial);
            take(number, &mut reader)?;
            reader.end()?;
            number += 1;
            if !plan.is_quiet {
                driver.progress().advance(1);
            }
            Ok(())
        })?;
        if number != stage.tasks.len() {
            let (name, tasks) = (plan.name, stage.tasks.len());
            return Err(Error::Internal(format!(
                "{name}: {number} partials came of {tasks} tasks"
            )));
        }
        Ok(())
    }

    /// One task for each super-block, which takes so many multiplications for each of its numbers.
    fn by_super_block(&self, per_number: f64) -> Vec<Job> {
        let numbers = (self.columns * SUPER_BLOCK) as f64;
        let job = |span| Job {
            reads: vec![self.span(span)],
            cost: per_number * numbers,
            ..Job::default()
        };
        super_blocks(self.rows).map(job).collect()
    }
}

/// A stage before it is bytes.
struct Plan {
    name: &'static str,
    kernel: Kernel,
    shared: Writer,
    parts: Vec<Writer>,
    jobs: Vec<Job>,
    /// Whether progress is reported elsewhere.
    is_quiet: bool,
}

impl Plan {
    fn new(name: &'static str, kernel: Kernel, shared: Writer, jobs: Vec<Job>) -> Self {
        Plan {
            name,
            kernel,
            shared,
            parts: Vec::new(),
            jobs,
            is_quiet: false,
        }
    }
}

/// A task before it is bytes.
#[derive(Default)]
struct Job {
    reads: Vec<Read>,
    parts: Vec<usize>,
    body: Writer,
    cost: f64,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    Rows = 1,
    ColumnSums,
    Longest,
    Pairs,
    Measure,
    Influence,
    Distances,
    Scatter,
    Forms,
    Triangles,
    Effects,
    Totals,
    Copies,
    Directions,
    Rank,
    Within,
    Between,
    Tried,
    Drawn,
    Steps,
    Farthest,
    Losses,
    Members,
    Beyond,
    Sums,
    Nearest,
    Shares,
    Deviations,
    Together,
}

const KERNELS: [(Kernel, Run); 29] = [
    (Kernel::Rows, rows::run_rows),
    (Kernel::ColumnSums, frames::run_sums),
    (Kernel::Longest, frames::run_longest),
    (Kernel::Pairs, pairs::run_pairs),
    (Kernel::Measure, pairs::run_measure),
    (Kernel::Influence, pairs::run_influence),
    (Kernel::Distances, pairs::run_distances),
    (Kernel::Scatter, spectrum::run_scatter),
    (Kernel::Forms, spectrum::run_forms),
    (Kernel::Triangles, singular::run_triangles),
    (Kernel::Effects, singular::run_effects),
    (Kernel::Totals, clusters::run_totals),
    (Kernel::Copies, rows::run_copies),
    (Kernel::Directions, rankings::run_directions),
    (Kernel::Rank, rankings::run_rank),
    (Kernel::Within, selection::run_within),
    (Kernel::Between, selection::run_between),
    (Kernel::Tried, clusters::run_tried),
    (Kernel::Drawn, clusters::run_drawn),
    (Kernel::Steps, clusters::run_steps),
    (Kernel::Farthest, clusters::run_farthest),
    (Kernel::Losses, clusters::run_losses),
    (Kernel::Members, clusters::run_members),
    (Kernel::Beyond, clusters::run_beyond),
    (Kernel::Sums, clusters::run_sums),
    (Kernel::Nearest, clusters::run_nearest),
    (Kernel::Shares, clusters::run_shares),
    (Kernel::Deviations, clusters::run_deviations),
    (Kernel::Together, together::run_together),
];

/// What a kernel is given.
struct Given<'a> {
    shared: Reader<'a>,
    parts: Vec<Reader<'a>>,
    body: Reader<'a>,
    spaces: &'a [Space],
    kept: &'a Kept,
    driver: &'a Driver<'a>,
}

type Run = fn(Given) -> Result<Writer>;

/// Runs a task: `shared` is that of its stage, `parts` are those it names, and `spaces` are the rows it reads, each in the order in
/// which it names them. A pure function: the same bytes come out wherever and however often it runs.
pub fn execute(shared: &[u8], parts: &[&[u8]], body: &[u8], spaces: &[Space], driver: &Driver) -> Result<Vec<u8>> {
    execute_kept(shared, parts, body, spaces, &Kept::default(), driver)
}

/// [`execute`] with what was kept of these rows; where that serves the task ([`Kept::serves`]), `spaces` may be empty.
pub fn execute_kept(
    shared: &[u8],
    parts: &[&[u8]],
    body: &[u8],
    spaces: &[Space],
    kept: &Kept,
    driver: &Driver,
) -> Result<Vec<u8>> {
    let mut body = Reader::new(body);
    let number = body.number()?;
    let (_, run) = KERNELS.iter().find(|(kernel, _)| *kernel as u64 == number).ok_or_else(|| {
        Error::input(format!(
            "a task of kind {number}, which this version of repscope does not know; install the same version on all machines"
        ))
    })?;
    let partial = run(Given {
        shared: Reader::new(shared),
        parts: parts.iter().map(|part| Reader::new(part)).collect(),
        body,
        spaces,
        kept,
        driver,
    })?;
    Ok(partial.finish())
}

impl<'a> Given<'a> {
    /// What was read, of which there must be this many parts.
    fn spaces<const COUNT: usize>(&self) -> Result<&'a [Space; COUNT]> {
        let found = self.spaces.len();
        self.spaces
            .try_into()
            .map_err(|_| Error::Internal(format!("a task that reads {COUNT} parts was given {found}")))
    }
}
