// SPDX-License-Identifier: MIT
//! Feeds damaged files to every reader, in one process: `cargo run --release -p repscope-fuzz -- TARGET --seconds N`.
//!
//! A file of `seeds/TARGET` or `found/TARGET` is changed at random (`mutate`) and read (`targets`). An answer or an error is fine; a panic, or
//! one execution that takes longer than [`SLOW`], is a finding, and its file is kept. Where the process itself ends, the file that it was
//! reading stays in the folder that was printed. The same seed gives the same files.
#![forbid(unsafe_code)]

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub use mutate::Mutator;
pub use targets::{TARGETS, Target, target};

/// One small file is read in less time.
pub const SLOW: Duration = Duration::from_secs(10);

/// What a run found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many files were read.
    pub executions: u64,
    /// The longest execution.
    pub slowest: Duration,
    /// What went wrong, with the file.
    pub findings: Vec<(String, Vec<u8>)>,
}

/// Reads every seed as it is, then changed files for so long. Files are written into `folder`.
pub fn run(target: &Target, seconds: f64, seed: u64, folder: &Path) -> std::io::Result<Outcome> {
    let seeds = seeds(target.name)?;
    let mut mutator = Mutator::new(seed, seeds);
    let mut outcome = Outcome::default();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let path = folder.join(target.file);
    for bytes in mutator.seeds().to_vec() {
        one(target, &path, &bytes, &mut outcome)?;
    }
    while Instant::now() < end && outcome.findings.len() < 10 {
        let bytes = mutator.next();
        one(target, &path, &bytes, &mut outcome)?;
    }
    Ok(outcome)
}

/// Reads one file, for another harness, which catches what goes wrong.
///
/// # Panics
/// Where there is no such target, or no temporary file can be written.
pub fn read(name: &str, bytes: &[u8]) {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let target = target(name).expect("a target of this name");
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
    let path = folder.path().join(target.file);
    #[allow(clippy::disallowed_methods)] // thousands in a second, of which none is kept
    std::fs::write(&path, bytes).expect("a temporary file can be written");
    (target.read)(&path);
}

fn one(target: &Target, path: &Path, bytes: &[u8], outcome: &mut Outcome) -> std::io::Result<()> {
    #[allow(clippy::disallowed_methods)] // thousands in a second, of which none is kept
    std::fs::write(path, bytes)?;
    let since = Instant::now();
    let read = catch_unwind(AssertUnwindSafe(|| (target.read)(path)));
    let took = since.elapsed();
    outcome.executions += 1;
    outcome.slowest = outcome.slowest.max(took);
    if read.is_err() {
        outcome.findings.push(("panic".to_string(), bytes.to_vec()));
    } else if took > SLOW {
        outcome
            .findings
            .push((format!("{:.1} s", took.as_secs_f64()), bytes.to_vec()));
    }
    Ok(())
}

/// The files that a target begins with, by name.
pub fn seeds(target: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for kind in ["seeds", "found"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(target);
        if let Ok(entries) = std::fs::read_dir(folder) {
            paths.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}
