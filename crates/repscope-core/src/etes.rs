// SPDX-License-Identifier: MIT
//! From signals and the texts that systems generated from them to their scores.

use std::sync::OnceLock;

use crate::data::{Decoding, Space, System};
use crate::error::Result;
use crate::kernels::matched::is_direct;
use crate::kernels::prepared::length;
use crate::metrics::{Metric, Work};
use crate::plan::memory;
use crate::results::Results;
use crate::run::Driver;
use crate::score::ClassColumn;
use crate::spec::Spec;
use crate::stats::interval::Units;
use crate::texts::{self, TextScores};

/// What one system generated, and what its scores share.
pub(crate) struct Decoded<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) data: &'a Decoding,
    pub(crate) system: &'a System,
    pub(crate) driver: &'a Driver<'a>,
    /// The rows whose signal and generated text both have a direction: the others have no energy.
    pub(crate) kept: Vec<usize>,
    text_scores: OnceLock<Vec<TextScores>>,
}

impl<'a> Decoded<'a> {
    fn new(data: &'a Decoding, system: &'a System, spec: &'a Spec, driver: &'a Driver<'a>) -> Self {
        let mut row = vec![0.0; system.signal.columns()];
        let mut has_direction = |space: &Space, i: usize| {
            space.read_row(i, &mut row);
            // A subnormal length has no inverse in f64: it counts as zero.
            length(&row) >= f64::MIN_POSITIVE
        };
        let rows = 0..data.samples();
        let kept = rows.filter(|&i| has_direction(&system.signal, i) && has_direction(&system.generated, i));
        Decoded {
            kept: kept.collect(),
            text_scores: OnceLock::new(),
            spec,
            data,
            system,
            driver,
        }
    }

    /// The texts that the system generated and those it should have, sample by sample, where both are known.
    pub(crate) fn texts(&self) -> Option<(&'a [String], &'a [String])> {
        Some((self.system.texts.as_deref()?, self.data.references.as_deref()?))
    }

    /// What each text scores against its reference text, found once.
    pub(crate) fn text_scores(&self) -> Option<&[TextScores]> {
        let (generated, references) = self.texts()?;
        let scores = || texts::per_sample(generated, references);
        Some(self.text_scores.get_or_init(scores))
    }

    /// The units that all samples are resampled over.
    pub(crate) fn units(&self) -> Units<'a> {
        match &self.data.units {
            Some(units) => Units::Groups(units.codes(), "groups"),
            None => Units::Single("samples"),
        }
    }
}

/// Computes the metrics for every system. All problems of the input are found before any work.
pub fn etes(data: &Decoding, metrics: &[&Metric], spec: &Spec, driver: &Driver) -> Result<Results> {
    spec.check()?;
    data.check()?;
    let mut computes = Vec::new();
    for metric in metrics {
        let Work::Decoding { compute } = metric.work else {
            return Err(metric.is_not("a score of texts decoded from signals"));
        };
        computes.push(compute);
    }
    check_memory(data, spec)?;
    let mut results = Results::default();
    for (name, labels) in &data.groups {
        results.classes.push(ClassColumn::new(name, labels));
    }
    for system in &data.systems {
        let decoded = Decoded::new(data, system, spec, driver);
        for compute in &computes {
            let answer = compute(&decoded).of_model(&system.name);
            results.absorb(answer.with_named_warnings(&system.name, data.systems.len() > 1));
        }
    }
    Ok(results)
}

/// Refuses a run that would not fit the budget, before any work.
fn check_memory(data: &Decoding, spec: &Spec) -> Result<()> {
    let (Some(budget), Some(system)) = (spec.memory, data.systems.first()) else {
        return Ok(());
    };
    let (n, d) = (data.samples() as u64, system.signal.columns() as u64);
    // Centered copies of up to three spaces and two copies to multiply, then the products of columns and a few counts.
    let size = if is_direct(data.samples(), system.signal.columns()) {
        8
    } else {
        4
    };
    let of_counts = (rayon::current_num_threads() as u64 + 10) * 32 * n;
    let needed = 5 * n * d * size + 16 * n.min(d).pow(2) + of_counts;
    let what = format!("a system of {n} samples of {d} columns");
    memory::refuse_above(budget, needed, what, "use fewer samples")
}
