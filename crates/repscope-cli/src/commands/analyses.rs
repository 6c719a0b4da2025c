// SPDX-License-Identifier: MIT
//! The analyses of document 000 on saved arrays: read, evaluate, deliver.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use repscope_core::run::{Driver, Order, Progress};
use repscope_core::{Analysis, Distance, Metric, Results, Spec, Study, evaluate};
use repscope_render::render;

use crate::args::{DistanceChoice, Geometry, Machine, Manifold, Neighborhood, Outputs, Rankme, Smoothness};
use crate::call;
use crate::inputs::{self, Inputs, Paths};
use crate::outputs::{self, Delivery};
use crate::progress::Watching;

/// Rows are counted in 32 bits.
pub const MOST_ROWS: usize = u32::MAX as usize;
/// More splits than this only cost memory.
pub const MOST_SPLITS: usize = 100_000;
/// More threads than this take longer to start than to work.
const MOST_THREADS: usize = 1024;
/// What consecutive rows without episodes mean.
const ONE_SEQUENCE: &str = "no --episodes given: all rows are taken as one sequence, so a step from one episode to \
                                the next would count as a pair";
/// Why models of different shapes have ranks that cannot be compared.
pub const RANKS_GROW: &str = "ranks grow with both, so they cannot be compared between these models";

pub fn smoothness(options: &Smoothness) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let paths = Paths {
        states: Some(&options.states),
        are_points: true,
        next_states: options.next_states.as_deref(),
        episodes: options.episodes.as_deref(),
        ..Paths::default()
    };
    let spec = spec(&options.outputs)?;
    let mut inputs = inputs::read(&paths, &options.models, &options.outputs.machine)?;
    if options.next_states.is_none() {
        inputs.sources.warnings.extend(one_sequence(&inputs.studies));
    }
    run(
        Analysis::Smoothness,
        "smoothness_analysis",
        inputs,
        &spec,
        &options.outputs,
    )
}

/// A warning where no episodes are known.
pub fn one_sequence(studies: &[Study]) -> Option<String> {
    let has_episodes = studies.iter().any(|study| study.episodes.is_some());
    (!has_episodes).then(|| ONE_SEQUENCE.to_string())
}

pub fn neighborhood(options: &Neighborhood) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let paths = Paths {
        states: Some(&options.states),
        are_points: true,
        episodes: options.episodes.episodes.as_deref(),
        ..Paths::default()
    };
    let spec = neighborhood_spec(options)?;
    let inputs = inputs::read(&paths, &options.models, &options.outputs.machine)?;
    run(
        Analysis::Neighborhood,
        "neighborhood_preservation",
        inputs,
        &spec,
        &options.outputs,
    )
}

pub fn neighborhood_spec(options: &Neighborhood) -> Result<Spec> {
    let distance = match options.distance {
        DistanceChoice::Euclidean => Distance::Euclidean,
        DistanceChoice::Cosine => Distance::Cosine,
    };
    if let Some(k) = options.k.iter().find(|&&k| k == 0 || k > MOST_ROWS) {
        bail!("--k {k}: a neighbourhood has at least one row, and fewer than the data");
    }
    let mut k = options.k.clone();
    k.sort_unstable();
    k.dedup();
    Ok(Spec {
        k,
        distance,
        sample: sample(options.sample)?,
        ..spec(&options.outputs)?
    })
}

pub fn manifold(options: &Manifold) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let spec = manifold_spec(options)?;
    let inputs = inputs::read(
        &Paths::of_codes(&options.seen, &options.episodes),
        &options.models,
        &options.outputs.machine,
    )?;
    run(
        Analysis::Manifold,
        "manifold_dimension",
        inputs,
        &spec,
        &options.outputs,
    )
}

pub fn manifold_spec(options: &Manifold) -> Result<Spec> {
    if !(0.0..1.0).contains(&options.discard) {
        bail!(
            "--discard {} must be at least 0 and below 1 (0.1 is usual)",
            options.discard
        );
    }
    Ok(Spec {
        sample: sample(options.sample)?,
        discard: options.discard,
        ..spec(&options.outputs)?
    })
}

pub fn geometry(options: &Geometry) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let paths = Paths {
        states: options.seen.states.as_deref(),
        labels: options.labels.as_deref(),
        episodes: options.episodes.episodes.as_deref(),
        ..Paths::default()
    };
    let spec = geometry_spec(options)?;
    let inputs = inputs::read(&paths, &options.models, &options.outputs.machine)?;
    refuse_misfits(options, &inputs.studies)?;
    run(Analysis::Geometry, "geometry_analysis", inputs, &spec, &options.outputs)
}

pub fn geometry_spec(options: &Geometry) -> Result<Spec> {
    let (clusters, k) = (options.clusters.unwrap_or(5), options.k.unwrap_or(5));
    if clusters == 0 || options.restarts == 0 || k == 0 {
        bail!(
            "--clusters {clusters}, --restarts {} and --k {k} must each be at least 1",
            options.restarts
        );
    }
    if !(1..=MOST_SPLITS).contains(&options.splits) {
        bail!(
            "--splits {} must be from 1 to {MOST_SPLITS} (10 is usual)",
            options.splits
        );
    }
    Ok(Spec {
        clusters,
        restarts: options.restarts,
        knn_k: k,
        splits: options.splits,
        t: options.t,
        sample: sample(options.sample)?,
        ..spec(&options.outputs)?
    })
}

/// A default that does not fit the data leaves a score undefined; an explicit wish is refused.
pub fn refuse_misfits(options: &Geometry, studies: &[Study]) -> Result<()> {
    for study in studies {
        let rows = study.embeddings.rows();
        for (option, asked) in [("--clusters", options.clusters), ("--k", options.k)] {
            if let Some(asked) = asked.filter(|&a| a >= rows) {
                bail!(
                    "{option} {asked} needs more than {asked} rows, but model `{}` has {rows}; use a smaller number",
                    study.model
                );
            }
        }
    }
    Ok(())
}

pub fn rankme(options: &Rankme) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let spec = spec(&options.outputs)?;
    let mut inputs = inputs::read(
        &Paths::of_codes(&options.seen, &options.episodes),
        &options.models,
        &options.outputs.machine,
    )?;
    let warning = different_shapes(&inputs.studies, RANKS_GROW);
    inputs.sources.warnings.extend(warning);
    run(Analysis::Rankme, "rankme", inputs, &spec, &options.outputs)
}

/// A warning where models differ in their numbers of rows or columns, and why that matters.
pub fn different_shapes(studies: &[Study], why: &str) -> Option<String> {
    let shape = |study: &Study| (study.embeddings.rows(), study.embeddings.columns());
    let (first, others) = studies.split_first()?;
    let other = others.iter().find(|other| shape(other) != shape(first))?;
    let words = |study: &Study| {
        format!(
            "`{}` has {} rows and {} columns",
            study.model,
            shape(study).0,
            shape(study).1
        )
    };
    Some(format!("{} but {}: {why}", words(first), words(other)))
}

pub fn run(analysis: Analysis, folder: &str, inputs: Inputs, spec: &Spec, options: &Outputs) -> Result<ExitCode> {
    let results = compute(&inputs.studies, &metrics(analysis), spec, &options.machine)?;
    let delivery = Delivery {
        command: analysis.name(),
        folder,
        show: &|results, format| render(results, format, outputs::width(), outputs::color()),
        extra: None,
    };
    delivery.deliver(spec, inputs.sources, results, options)?;
    Ok(ExitCode::SUCCESS)
}

/// What is computed for an analysis.
pub fn metrics(analysis: Analysis) -> Vec<&'static Metric> {
    let mut metrics = analysis.metrics();
    if analysis == Analysis::Rankme {
        // The ratio belongs to `manifold`, but a panel of ranks without it would be missed.
        let manifold = Analysis::Manifold.metrics();
        metrics.extend(manifold.into_iter().filter(|m| m.id == "participation_ratio"));
    }
    call::wanted(metrics)
}

/// Evaluates all studies.
pub fn compute(studies: &[Study], metrics: &[&Metric], spec: &Spec, machine: &Machine) -> Result<Results> {
    watched(machine, |driver| Ok(evaluate(studies, metrics, spec, driver)?))
}

/// Runs something on all threads, with a progress bar where somebody watches.
pub fn watched<T>(machine: &Machine, run: impl FnOnce(&Driver) -> Result<T>) -> Result<T> {
    let watching = Watching::new(machine);
    run(&driver(watching.progress()))
}

/// All threads. `REPSCOPE_PRUNING=off` in the environment has every pair looked at with all its coordinates.
pub fn driver(progress: &dyn Progress) -> Driver<'_> {
    let driver = Driver::new(Order::Parallel, progress);
    match std::env::var_os("REPSCOPE_PRUNING") {
        Some(value) if value == "off" => driver.without_pruning(),
        _ => driver,
    }
}

/// Starts as many threads as asked, for reading and computing alike. To be called once, before either.
pub fn start_threads(machine: &Machine) -> Result<()> {
    if let Some(threads) = machine.threads.filter(|t| !(1..=MOST_THREADS).contains(t)) {
        bail!("--threads {threads} must be from 1 to {MOST_THREADS}; leave the option out to use all cores");
    }
    if call::is_within() {
        return Ok(()); // the program has threads of its own
    }
    let threads = machine.threads.unwrap_or(0); // 0 means all cores to rayon
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global().context("starting the threads")
}

/// The options that every analysis has.
pub fn spec(outputs: &Outputs) -> Result<Spec> {
    if !(outputs.level > 0.0 && outputs.level < 1.0) {
        bail!("--level {} must be between 0 and 1, such as 0.95", outputs.level);
    }
    let memory = outputs.machine.memory.as_deref().map(parse_size).transpose()?;
    Ok(Spec {
        seed: outputs.seed,
        level: outputs.level,
        memory,
        ..Spec::default()
    })
}

pub fn sample(count: Option<usize>) -> Result<Option<usize>> {
    match count {
        Some(m) if m < 2 => bail!("--sample {m}: at least 2 rows are needed for an estimate with an interval"),
        other => Ok(other),
    }
}

/// `4G`, `512M`, `2GiB`, `1000000`: bytes in powers of 1024.
pub(super) fn parse_size(text: &str) -> Result<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..]
        .to_ascii_uppercase()
        .trim_end_matches("IB")
        .trim_end_matches('B')
    {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => bail!("--memory {text} is not a size; write 4G, 512M or a number of bytes"),
    };
    let number: f64 = digits
        .trim()
        .parse()
        .ok()
        .filter(|n| *n > 0.0 && *n < 1e15)
        .with_context(|| format!("--memory {text} is not a size; write 4G, 512M or a number of bytes"))?;
    Ok((number * (1u64 << shift) as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_powers_of_1024() {
        for (text, bytes) in [
            ("4G", 4u64 << 30),
            ("512M", 512 << 20),
            ("2GiB", 2 << 30),
            ("1.5k", 1536),
            ("100", 100),
        ] {
            assert_eq!(parse_size(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "G", "4X", "-1G", "nan"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
