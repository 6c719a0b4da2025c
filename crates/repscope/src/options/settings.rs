// SPDX-License-Identifier: MIT
//! What every analysis shares: seed, level, and what the run may use of the machine.

use anyhow::{Context, Result, bail};
use clap::Args;
use repscope_core::{Metric, Spec};
use serde::{Deserialize, Serialize};

use super::default_options;

/// Rows are counted in 32 bits.
pub const MOST_ROWS: usize = u32::MAX as usize;
/// More splits than this only cost memory.
pub const MOST_SPLITS: usize = 100_000;

/// What may change any number of an analysis.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// What the run may use.
    #[command(flatten)]
    #[serde(flatten)]
    pub machine: Machine,
    /// Random seed
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// Confidence level of the intervals
    #[arg(long, default_value_t = 0.95)]
    pub level: f64,
    /// The metrics to compute, by id; none means all of the analysis.
    #[arg(skip)]
    pub metrics: Vec<String>,
}

/// What a run may use, and how it treats files.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Number of threads (default: all cores); results do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Memory limit of the run, and of each file and model, such as 4G or 512M; what needs more stops before it starts
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Read input files into memory instead of mapping them
    #[arg(long)]
    pub no_mmap: bool,
    /// Keep texts in CSV files that a spreadsheet would compute (they start with =, +, - or @) without an apostrophe before them
    #[arg(long)]
    pub keep_formulas: bool,
}

default_options!(Settings, Machine);

impl Settings {
    /// The options that every analysis has, resolved.
    pub fn spec(&self) -> Result<Spec> {
        if !(self.level > 0.0 && self.level < 1.0) {
            bail!("`level` = {} must be between 0 and 1, such as 0.95", self.level);
        }
        Ok(Spec {
            seed: self.seed,
            level: self.level,
            memory: self.machine.memory_bytes()?,
            ..Spec::default()
        })
    }

    /// Those of the metrics that are asked for.
    pub fn wanted(&self, metrics: Vec<&'static Metric>) -> Vec<&'static Metric> {
        let is_wanted = |metric: &&Metric| self.metrics.is_empty() || self.metrics.iter().any(|id| id == metric.id);
        metrics.into_iter().filter(is_wanted).collect()
    }
}

impl Machine {
    /// The memory limit in bytes, where there is one.
    pub fn memory_bytes(&self) -> Result<Option<u64>> {
        self.memory.as_deref().map(parse_size).transpose()
    }

    /// Sets the memory limit for files and models, whether files are mapped, and what becomes of formulas in CSV files. It holds for the process, until another run asks for
    /// something else.
    pub fn apply(&self) -> Result<()> {
        repscope_io::limit_memory(self.memory_bytes()?);
        repscope_io::read_instead_of_mapping(self.no_mmap);
        repscope_render::keep_formulas(self.keep_formulas);
        Ok(())
    }
}

/// `4G`, `512M`, `2GiB`, `1000000`: bytes in powers of 1024.
fn parse_size(text: &str) -> Result<u64> {
    let wrong = || format!("`memory` = {text} is not a size; write 4G, 512M or a number of bytes");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_uppercase();
    let shift = match unit.trim_end_matches("IB").trim_end_matches('B') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => bail!(wrong()),
    };
    let number = digits.trim().parse::<f64>().ok().filter(|n| *n > 0.0 && *n < 1e15);
    Ok((number.with_context(wrong)? * (1u64 << shift) as f64) as u64)
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
