// SPDX-License-Identifier: MIT
//! Texts that systems generated from signals, and both as vectors of one space.

use std::sync::Arc;

use super::{Labels, Space};
use crate::error::{Error, Result};

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
            if system.name.is_empty() {
                return Err(Error::input("a system has no name; give each one"));
            }
            if self.systems[..place].iter().any(|other| other.name == system.name) {
                return Err(Error::Input(format!(
                    "two systems are called `{}`; name them apart",
                    system.name
                )));
            }
            system.check()?;
            if system.signal.rows() != samples {
                return Err(Error::Input(format!(
                    "system `{}` has {} samples but `{}` has {samples}; give every system the same samples",
                    system.name,
                    system.signal.rows(),
                    first.name
                )));
            }
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
            if name.is_empty() || self.groups[..place].iter().any(|(other, _)| other == name) {
                return Err(Error::Input(format!(
                    "two of the {} factors to group by are called `{name}`, or one has no name; name them apart",
                    self.groups.len()
                )));
            }
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
            if space.columns() != columns {
                return Err(Error::Input(format!(
                    "{} have {} columns but its signals have {}: vectors of different length have no cosine; take both from \
                     one aligner",
                    of(what),
                    space.columns(),
                    columns
                )));
            }
        }
        if let Some(texts) = &self.texts {
            same_count(&of("the texts"), texts.len(), "its signals", rows)?;
        }
        if let Some(fluency) = &self.fluency {
            same_count(&of("the fluencies"), fluency.len(), "its signals", rows)?;
            if let Some(row) = fluency.iter().position(|f| !f.is_finite()) {
                return Err(Error::Input(format!(
                    "{} hold {} at row {row} (counted from 0); give the logarithm of a perplexity, a finite number",
                    of("the fluencies"),
                    fluency[row]
                )));
            }
        }
        Ok(())
    }
}

fn same_count(what: &str, given: usize, of: &str, expected: usize) -> Result<()> {
    if given == expected {
        Ok(())
    } else {
        Err(Error::Input(format!(
            "{what} are {given} but {of} are {expected}; give one per sample, in the same order"
        )))
    }
}
