// SPDX-License-Identifier: MIT
//! Texts that systems generated from signals, and both as vectors of one space.

use std::sync::Arc;

use super::perturbation::check_apart;
use super::{Labels, Space};
use crate::error::{Error, Result, refuse_if};

/// What several systems said about the same signals.
#[derive(Debug, Clone)]
pub struct Decoding {
    /// The systems; each has a row per sample, in the same order.
    pub systems: Vec<System>,
    /// What should have been said, where that is known.
    pub references: Option<Arc<[String]>>,
    /// Factors to break scores down by, such as `subject`, each with a class per sample.
    pub groups: Vec<(String, Arc<Labels>)>,
    /// Samples of one unit are resampled together: those of one subject, say.
    pub units: Option<Arc<Labels>>,
}

/// One system: its vectors of the signals, of what it generated from them, and of the references.
#[derive(Debug, Clone)]
pub struct System {
    /// Its name, which stands for the model in results.
    pub name: String,
    /// The vectors of the signals.
    pub signal: Arc<Space>,
    /// The vectors of the generated texts.
    pub generated: Arc<Space>,
    /// The vectors of the reference texts.
    pub reference: Option<Arc<Space>>,
    /// The logarithm of the perplexity of each generated text.
    pub fluency: Option<Arc<[f64]>>,
    /// The generated texts.
    pub texts: Option<Arc<[String]>>,
}

impl Decoding {
    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.systems.first().map_or(0, |system| system.signal.rows())
    }

    /// Checks that the parts fit together.
    pub fn check(&self) -> Result<()> {
        let Some(first) = self.systems.first() else {
            return Err(Error::input(
                "no system to score: give the vectors of signals and of generated texts of at least one",
            ));
        };
        let samples = self.samples();
        for (place, system) in self.systems.iter().enumerate() {
            let name = &system.name;
            refuse_if(name.is_empty(), || "a system has no name; give each one".to_string())?;
            check_apart("systems", name, self.systems[..place].iter().map(|other| &other.name))?;
            system.check()?;
            let rows = system.signal.rows();
            refuse_if(rows != samples, || {
                let first = &first.name;
                format!(
                    "system `{name}` has {rows} samples but `{first}` has {samples}; give every system the same samples"
                )
            })?;
        }
        let count = |what: &str, given: usize| same_count(what, given, "the signals", samples);
        if let Some(references) = &self.references {
            count("the reference texts", references.len())?;
        }
        if let Some(units) = &self.units {
            count("the units", units.rows())?;
        }
        for (place, (name, labels)) in self.groups.iter().enumerate() {
            count(&format!("the groups `{name}`"), labels.rows())?;
            let is_known = self.groups[..place].iter().any(|(other, _)| other == name);
            refuse_if(name.is_empty() || is_known, || {
                let factors = self.groups.len();
                format!(
                    "two of the {factors} factors to group by are called `{name}`, or one has no name; name them apart"
                )
            })?;
        }
        Ok(())
    }
}

impl System {
    fn check(&self) -> Result<()> {
        let (rows, columns) = (self.signal.rows(), self.signal.columns());
        let of = |what: &str| format!("{what} of `{}`", self.name);
        let spaces = [
            ("the generated texts", Some(&self.generated)),
            ("the reference texts", self.reference.as_ref()),
        ];
        for (what, space) in spaces.into_iter().filter_map(|(what, space)| Some((what, space?))) {
            same_count(&of(what), space.rows(), "its signals", rows)?;
            let (what, found) = (of(what), space.columns());
            refuse_if(found != columns, || {
                format!(
                    "{what} have {found} columns but its signals have {columns}: vectors of different length have no cosine; \
                     take both from one aligner"
                )
            })?;
        }
        if let Some(texts) = &self.texts {
            same_count(&of("the texts"), texts.len(), "its signals", rows)?;
        }
        if let Some(fluency) = &self.fluency {
            same_count(&of("the fluencies"), fluency.len(), "its signals", rows)?;
            if let Some(row) = fluency.iter().position(|f| !f.is_finite()) {
                let (what, found) = (of("the fluencies"), fluency[row]);
                return Err(Error::Input(format!(
                    "{what} hold {found} at row {row} (counted from 0); give the logarithm of a perplexity, a finite number"
                )));
            }
        }
        Ok(())
    }
}

fn same_count(what: &str, given: usize, of: &str, expected: usize) -> Result<()> {
    refuse_if(given != expected, || {
        format!("{what} are {given} but {of} are {expected}; give one per sample, in the same order")
    })
}
