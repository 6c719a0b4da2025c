// SPDX-License-Identifier: MIT
//! About how much working memory a run takes, and whether it was allowed that much.

use super::{Key, Need, Source, largest_k};
use crate::data::Study;
use crate::error::{Error, Result};
use crate::kernels::{learnability, probe, tiles};
use crate::spec::Spec;

/// Refuses a run whose dearest sweep would not fit the budget, before any work.
pub(super) fn check(spec: &Spec, study: &Study, needs: &[Need], queries: usize) -> Result<()> {
    let Some(budget) = spec.memory else { return Ok(()) };
    let bytes_for = |need: Need, bytes: u64| if needs.contains(&need) { bytes } else { 0 };
    let of_key = |key: Key| {
        let space = match key.source {
            Source::Embeddings => Some(&study.embeddings),
            Source::Input => study.input.as_deref(),
        };
        let (n, d) = space.map_or((0, 0), |s| (s.rows() as u64, s.columns() as u64));
        let k = largest_k(needs, key) as u64;
        let classes = match &study.labels {
            Some(labels) => labels.classes(),
            None => spec.clusters,
        };
        let sums = bytes_for(Need::ClassDistances, classes as u64 * 24);
        let is_swept = k > 0
            || (key == Key::UNIT && needs.contains(&Need::Kernel))
            || (key == Key::RAW && needs.contains(&Need::ClassDistances));
        let of_queries = queries as u64 * (k * 60 + 256 + sums);
        if is_swept {
            tiles::memory(n, d, queries as u64) + of_queries
        } else {
            0
        }
    };
    let of_learnability = bytes_for(
        Need::Learnability,
        learnability::memory(&study.embeddings, study.episodes.as_deref(), spec),
    );
    let side = study.embeddings.rows().min(study.embeddings.columns()) as u64;
    let of_rates = bytes_for(Need::CodingRates, side * side * 8);
    let of_probes = bytes_for(Need::Probe, probe::memory(study, spec));
    let of_sweeps = [Key::RAW, Key::UNIT, Key::INPUT].map(of_key);
    let needed = of_sweeps
        .into_iter()
        .fold(of_learnability.max(of_rates).max(of_probes), u64::max);
    let what = format!("model `{}`", study.model);
    refuse_above(budget, needed, what, "rank a sample of the rows")
}

/// Refuses what needs more bytes than it may use.
pub(crate) fn refuse_above(limit: u64, needed: u64, what: String, advice: &'static str) -> Result<()> {
    if needed <= limit {
        return Ok(());
    }
    Err(Error::MemoryLimit {
        what,
        needed,
        limit,
        advice,
    })
}

/// Bytes for people: `1.5 GiB`.
pub(crate) fn in_words(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let step = (bytes.max(1).ilog2() / 10).min(4);
    let number = bytes as f64 / (1u64 << (10 * step)) as f64;
    format!("{number:.1} {}", units[step as usize])
}
