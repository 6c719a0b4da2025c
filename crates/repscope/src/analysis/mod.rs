// SPDX-License-Identifier: MIT
//! The analyses: one file each, and one line in [`ANALYSES`].
//!
//! An analysis is a struct of options that implements [`Analysis`]. The struct is its command line, its table in a study file and its
//! keyword arguments in Python. [`Declared`] says what else the rest of the library has to know.

mod clid;
mod drift;
mod etes;
mod geometry;
mod manifold;
mod mixing;
mod neighborhood;
pub mod perturb;
mod probe;
mod rankme;
mod retrieval;
mod robustness;
mod similarity;
mod smoothness;

use std::fmt::Debug;
use std::path::Path;

use anyhow::Result;
use clap::{ArgMatches, Command};
use repscope_core::{Metric, Results, Spec, Study, Versioned, evaluate};

use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::{Inputs, Role};
use crate::options::layers::Layer;
use crate::options::{Data, Settings};
use crate::reader::Sources;
use crate::session::Session;
use crate::source::Bind;
use crate::versions::VersionStudies;

pub use repscope_core::Analysis as Kind;

pub use crate::performance_file::PerformanceSource;
pub(crate) use clid::{CLUSTERS as MCR2_CLUSTERS, metrics as clid_metrics, presets as clid_presets};
pub use clid::{Clid, Preset, YesNo};
pub use drift::Drift;
pub use etes::{Etes, EtesFiles};
pub use geometry::Geometry;
pub use manifold::Manifold;
pub use mixing::Mixing;
pub use neighborhood::Neighborhood;
pub use perturb::{Perturb, PerturbGenerate, Predictions};
pub use probe::Probe;
pub use rankme::Rankme;
pub(crate) use rankme::metrics as rankme_metrics;
pub use retrieval::Retrieval;
pub use robustness::Robustness;
pub use similarity::Similarity;
pub use smoothness::Smoothness;

/// Every analysis, in the order in which results show them.
pub const ANALYSES: &[&Declared] = &[
    &smoothness::DECLARED,
    &robustness::DECLARED,
    &neighborhood::DECLARED,
    &manifold::DECLARED,
    &geometry::DECLARED,
    &rankme::DECLARED,
    &clid::DECLARED,
    &similarity::DECLARED,
    &probe::DECLARED,
    &drift::DECLARED,
    &mixing::DECLARED,
    &retrieval::DECLARED,
    &etes::DECLARED,
    &perturb::DECLARED,
];

/// What is declared about an analysis beside its options.
pub struct Declared {
    /// Its name and its metrics.
    pub kind: Kind,
    /// The question that it answers, for lists of commands.
    pub about: &'static str,
    /// Command lines, and what else its help says.
    pub examples: &'static str,
    /// The folder of its files within the output folder.
    pub folder: &'static str,
    /// The inputs of a study that it reads.
    pub reads: &'static [Role],
    /// Where its inputs come from, and what else it can be run with.
    pub data: Origin,
    /// Whether an evaluation runs it only where it is asked for: by `only`, or by an option of its own.
    pub is_asked_for: bool,
    /// When it runs in an evaluation of several: short analyses first, so that something is saved early.
    pub stage: u8,
    /// Whether it shares passes over all pairs of rows with others.
    pub sweeps: bool,
    /// Whether it always keeps numbers of single samples.
    pub keeps_samples: bool,
    /// The classes of samples that its results keep.
    pub classes: &'static [&'static str],
    /// Takes the options that it reads from its own spec into a joint one.
    pub take: fn(&mut Spec, &Spec),
    /// Its options as a command.
    pub command: fn() -> Command,
    /// The values of all its options where nobody says otherwise, as plain data.
    pub defaults: fn() -> Layer,
    /// Its options from a command line.
    pub parse: fn(&ArgMatches) -> Result<Box<dyn Analysis>, clap::Error>,
    /// Its options from plain data.
    pub read: fn(Layer) -> Result<Box<dyn Analysis>, String>,
    /// Reads one option into a layer.
    pub put: fn(&mut Layer, &clap::Arg, serde_json::Value, &Path) -> Result<(), String>,
}

/// Where an analysis has its inputs from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The models of a study; it can be part of an evaluation and of a comparison.
    Study,
    /// Data of its own; it can be part of an evaluation that names them.
    Own,
}

/// What every analysis has, by its declaration.
pub trait Basics {
    /// What is declared about it.
    fn declared(&self) -> &'static Declared;

    /// What all analyses share.
    fn settings(&self) -> &Settings;

    /// All its options as plain data.
    fn said(&self) -> Layer;

    /// The same, to be changed by an evaluation of several.
    fn settings_mut(&mut self) -> &mut Settings;
}

/// What an analysis does with its options.
pub trait Analysis: Basics + Bind + Debug + Send + Sync {
    /// The inputs of a study that its own options name.
    fn data(&self) -> Data {
        Data::default()
    }

    /// Its options, resolved.
    fn spec(&self, data: &Data) -> Result<Spec>;

    /// What it computes.
    fn metrics(&self, _data: &Data) -> Vec<&'static Metric> {
        self.settings().wanted(self.declared().kind.metrics())
    }

    /// Those of its metrics that are computed together with those of other analyses.
    fn shares(&self, _metric: &Metric) -> bool {
        true
    }

    /// Reads what only it needs, refuses what does not fit the data, and adds what the user should know.
    fn prepare(&self, _data: &Data, _inputs: &Inputs, _sources: &mut Sources, _session: &Session) -> Result<Extra> {
        Ok(Extra::Nothing)
    }

    /// Chooses what the options leave to the data.
    fn settle(&self, _spec: &mut Spec, _inputs: &Inputs) {}

    /// Why the analysis is left out of an evaluation, where its inputs are there but do not suffice.
    fn misfit(&self, _spec: &Spec, _inputs: &Inputs) -> Option<String> {
        None
    }

    /// Whether its models are alternatives, of which one may be better.
    fn has_rivals(&self) -> bool {
        true
    }

    /// The studies that it measures of shorter or quantized embeddings; none where it measures the whole ones alone.
    fn of_version<'a>(&self, own: &'a VersionStudies) -> Option<&'a [Study]> {
        Some(&own.studies)
    }

    /// Whether it measures shorter and quantized embeddings.
    fn measures_versions(&self) -> bool {
        true
    }

    /// What it finds in them by itself, where its metrics of the studies of a version are not all.
    fn versions(&self, _planned: &Planned, _inputs: &Inputs, _session: &Session) -> Result<Vec<Versioned>> {
        Ok(Vec::new())
    }

    /// Where it may keep work that is half done, so that an interrupted evaluation goes on.
    fn keep_in(&mut self, _folder: &Path) {}

    /// Computes it by itself: the metrics that it shares with others.
    fn compute(&self, planned: &Planned, inputs: &Inputs, session: &Session) -> Result<Results> {
        study_metrics(planned, &inputs.studies, session)
    }

    /// Does what its options ask for instead of an analysis, and says what was done.
    fn instead(&self) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    /// Adds to its results what no metric computes.
    fn complete(&self, _results: &mut Results, _planned: &Planned, _inputs: &Inputs) -> Result<()> {
        Ok(())
    }
}

/// The metrics of a study that are computed together with those of others.
pub(crate) fn study_metrics(planned: &Planned, studies: &[Study], session: &Session) -> Result<Results> {
    let shared = planned.shared();
    Ok(evaluate(studies, &shared, &planned.spec, &session.driver())?)
}

/// The analysis of this kind.
pub fn declared(kind: Kind) -> &'static Declared {
    ANALYSES
        .iter()
        .find(|own| own.kind == kind)
        .expect("every kind of analysis is declared")
}

/// The analysis with this name; none for `evaluate` and `compare`, which are several.
pub fn named(name: &str) -> Option<&'static Declared> {
    ANALYSES.iter().copied().find(|own| own.kind.name() == name)
}

/// The analysis that a word means: its name, that of its folder (`neighborhood_preservation`), which the scripts of the representation
/// analysis know it by, or another spelling.
pub fn meant(word: &str) -> Option<&'static Declared> {
    evaluated().find(|own| own.kind.name() == word || own.aliases().any(|alias| alias == word))
}

impl Declared {
    /// What else it may be called.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> {
        let folder = Some(self.folder).filter(|folder| *folder != self.kind.name());
        let spelling = (self.kind == Kind::Neighborhood).then_some("neighbourhood");
        folder.into_iter().chain(spelling)
    }
}

/// The analyses that can be part of an evaluation: all.
pub fn evaluated() -> impl DoubleEndedIterator<Item = &'static Declared> {
    ANALYSES.iter().copied()
}

/// The functions of [`Declared`] for a type of options.
macro_rules! declare {
    ($type:ty { $($field:ident: $value:expr),* $(,)? }) => {
        /// What is declared about this analysis.
        pub(super) static DECLARED: $crate::analysis::Declared = $crate::analysis::Declared {
            $($field: $value,)*
            command: $crate::options::layers::command::<$type>,
            defaults: || $crate::options::layers::said(&<$type>::default(), |_| true),
            parse: |matches| Ok(Box::new(<$type as clap::FromArgMatches>::from_arg_matches(matches)?)),
            read: |layer| Ok(Box::new($crate::options::layers::read::<$type>(layer)?)),
            put: $crate::options::layers::put::<$type>,
        };

        impl $crate::analysis::Basics for $type {
            fn declared(&self) -> &'static $crate::analysis::Declared {
                &DECLARED
            }

            fn settings(&self) -> &$crate::options::Settings {
                &self.settings
            }

            fn said(&self) -> $crate::options::layers::Layer {
                $crate::options::layers::said(self, |_| true)
            }

            fn settings_mut(&mut self) -> &mut $crate::options::Settings {
                &mut self.settings
            }
        }
    };
}
pub(crate) use declare;

/// Refuses a neighborhood size that no data can have.
pub(crate) fn check_k(k: &[usize]) -> Result<Vec<usize>> {
    if let Some(k) = k.iter().find(|&&k| k == 0 || k > crate::options::MOST_ROWS) {
        anyhow::bail!("`k` = {k}: a neighborhood has at least one row, and fewer than the data");
    }
    let mut k = k.to_vec();
    k.sort_unstable();
    k.dedup();
    Ok(k)
}

/// Refuses a sample without an interval.
pub(crate) fn check_sample(count: Option<usize>) -> Result<Option<usize>> {
    match count {
        Some(m) if m < 2 => {
            anyhow::bail!("`sample` = {m}: at least 2 rows are needed for an estimate with an interval")
        }
        other => Ok(other),
    }
}

/// A warning where models differ in their numbers of rows or columns, and why that matters.
pub(crate) fn different_shapes(studies: &[Study], why: &str) -> Option<String> {
    let shape = |study: &Study| (study.embeddings.rows(), study.embeddings.columns());
    let (first, others) = studies.split_first()?;
    let other = others.iter().find(|other| shape(other) != shape(first))?;
    let words = |study: &Study| {
        let (rows, columns) = shape(study);
        format!("`{}` has {rows} rows and {columns} columns", study.model)
    };
    Some(format!("{} but {}: {why}", words(first), words(other)))
}

#[cfg(test)]
mod tests {
    use repscope_core::METRICS;

    use super::*;

    fn is_field(own: &Declared, id: &str) -> bool {
        (own.defaults)().contains_key(id)
    }

    #[test]
    fn every_option_is_plain_data_with_the_default_of_the_command_line() {
        for own in ANALYSES {
            let (name, command) = (own.kind.name(), (own.command)());
            let options = command.get_arguments().filter(|arg| arg.get_long().is_some());
            for arg in options.filter(|arg| arg.get_id() != "help") {
                assert!(is_field(own, arg.get_id().as_str()), "{name}: {}", arg.get_id());
                assert!(arg.get_help().is_some(), "{name}: {} has no help", arg.get_id());
            }
            let again = (own.read)((own.defaults)()).unwrap_or_else(|problem| panic!("{name}: {problem}"));
            assert_eq!(again.declared().kind, own.kind);
        }
    }

    #[test]
    fn every_metric_belongs_to_an_analysis_that_computes_it() {
        for metric in METRICS.iter() {
            let own = declared(metric.analysis);
            assert!(
                own.kind.metrics().iter().any(|other| other.id == metric.id),
                "{}",
                metric.id
            );
            let command = (own.command)();
            for option in metric.options {
                assert!(
                    crate::options::layers::find(&command, option).is_some(),
                    "{}: {option}",
                    metric.id
                );
            }
        }
    }

    #[test]
    fn folders_and_names_are_unique() {
        for (i, own) in ANALYSES.iter().enumerate() {
            for other in &ANALYSES[..i] {
                assert!(own.folder != other.folder && own.kind != other.kind, "{}", own.folder);
            }
        }
    }
}
