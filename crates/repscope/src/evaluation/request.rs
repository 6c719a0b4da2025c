// SPDX-License-Identifier: MIT
//! What an evaluation of several analyses is asked: the study file and what was typed over it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::builder::TypedValueParser;
use clap::{Args, builder::PossibleValuesParser};
use repscope_core::{Analysis as Kind, MetricId, Results, rank};
use repscope_io::names::did_you_mean;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::problems::Problems;
use crate::analysis::{self, Analysis, Declared, Origin, Preset, clid_presets};
use crate::gate::GateOptions;
use crate::inputs::Role;
use crate::options::layers::{self, Layer};
use crate::options::{Data, Outputs, Settings, default_options};
use crate::performance_file::PerformanceSource;
use crate::source::{Bind, Named, Source};
use crate::study_file;

/// Every analysis whose inputs are there, and one report of all.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Evaluate {
    /// A study file (.toml), or embeddings of models as with --model
    #[arg(value_name = "STUDY.toml|PATH")]
    pub inputs: Vec<String>,
    /// Write a commented study file to start from, and stop [default: study.toml]
    #[arg(long, num_args = 0..=1, default_missing_value = "study.toml", value_name = "FILE")]
    pub init: Option<PathBuf>,
    /// The inputs.
    #[command(flatten)]
    #[serde(flatten)]
    pub data: Data,
    /// Which analyses run.
    #[command(flatten)]
    #[serde(flatten)]
    pub choice: Choice,
    /// Reuse analyses in the output folder that an earlier run finished with the same inputs, options and version
    #[arg(long, help_heading = "Analyses")]
    pub resume: bool,
    /// Number of k-means clusters of `geometry` [default: the number of classes; 5 without labels]
    #[arg(long, value_name = "N", help_heading = "Analyses")]
    pub clusters: Option<usize>,
    /// Preset of `clid` [default: robust]
    #[arg(long, value_parser = clid_presets(), hide_possible_values = true, value_name = "spec|robust|paper", help_heading = "Analyses")]
    pub preset: Option<Preset>,
    /// Downstream performance of each model, for `clid`: a table with a column of models and one of numbers
    #[arg(long, value_name = "FILE", help_heading = "Analyses")]
    pub performance: Option<PerformanceSource>,
    /// Any other option of an analysis: --set geometry.splits=20
    #[arg(long, num_args = 1.., value_name = "ANALYSIS.OPTION=VALUE", help_heading = "Analyses")]
    pub set: Vec<String>,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
    /// What becomes of the results.
    #[command(flatten, next_help_heading = "Results")]
    #[serde(flatten)]
    pub outputs: Outputs,
    /// What the scores must keep.
    #[command(flatten)]
    #[serde(flatten)]
    pub gates: GateOptions,
    /// Embeddings are shards that the machines of a Ray cluster read, so that NAME=PATTERN is one model; `auto` is the cluster that this
    /// machine belongs to. Needs the Python package with its extra `ray`
    #[arg(long, value_name = "auto|ADDRESS", help_heading = "Cluster")]
    #[serde(skip)]
    pub cluster: Option<String>,
    /// Keep the partial results of a cluster in this folder, which all machines see: a run that was stopped goes on from there
    #[arg(long, value_name = "FOLDER", help_heading = "Cluster")]
    #[serde(skip)]
    pub partials: Option<PathBuf>,
    /// Options of single analyses, by their names.
    #[arg(skip)]
    pub analyses: BTreeMap<String, Layer>,
    /// The study file, where there is one.
    #[arg(skip)]
    pub study: Option<PathBuf>,
}

/// Which analyses run, and the options that are said once for several.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Choice {
    /// Run only these analyses; one that cannot run is an error
    #[arg(long, value_parser = kinds(), num_args = 1.., value_delimiter = ',', value_name = "ANALYSIS", hide_possible_values = true, help_heading = "Analyses")]
    #[serde(deserialize_with = "read_kinds")]
    pub only: Vec<Kind>,
    /// Skip these analyses
    #[arg(long, value_parser = kinds(), num_args = 1.., value_delimiter = ',', value_name = "ANALYSIS", hide_possible_values = true, help_heading = "Analyses")]
    #[serde(deserialize_with = "read_kinds")]
    pub skip: Vec<Kind>,
    /// Neighborhood sizes of `neighborhood` [default: 5 10 15]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "K", help_heading = "Analyses")]
    pub k: Vec<usize>,
    /// Number of neighbors for the k-NN accuracy of `geometry` [default: 5]
    #[arg(long, value_name = "K", help_heading = "Analyses")]
    pub knn_k: Option<usize>,
    /// Use M random query rows in `neighborhood`, `manifold` and `geometry`: an unbiased estimate for millions of rows
    #[arg(long, value_name = "M", help_heading = "Analyses")]
    pub sample: Option<usize>,
    /// Rank the models by these scores: METRIC, or METRIC=WEIGHT for several
    #[arg(long, num_args = 1.., value_name = "METRIC", help_heading = "Analyses")]
    pub rank_by: Vec<String>,
}

default_options!(Evaluate, Choice);

impl Choice {
    /// The scores that models are ranked by, each with its weight.
    pub fn ranked_by(&self) -> Result<Vec<(MetricId, f64)>> {
        let one = |text: &String| {
            // `rankme(variant=paper)` has no weight.
            let weighted = text.rsplit_once('=').filter(|(_, weight)| !weight.contains(')'));
            let (id, weight) = weighted.unwrap_or((text, "1"));
            if MetricId::from(id).output().is_none() {
                bail!("`rank_by` = {text}: there is no score `{id}`; `repscope metrics` lists all");
            }
            match weight.parse::<f64>() {
                Ok(number) if number > 0.0 && number.is_finite() => Ok((MetricId::from(id), number)),
                _ => bail!("`rank_by` = {text}: the weight {weight} must be a number above 0"),
            }
        };
        self.rank_by.iter().map(one).collect()
    }

    /// Adds the ranking that was asked for.
    pub(crate) fn rank(&self, results: &mut Results) -> Result<()> {
        let by = self.ranked_by()?;
        if by.is_empty() { Ok(()) } else { Ok(rank(results, &by)?) }
    }
}

impl Bind for Evaluate {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        self.data.sources(visit);
        self.performance.sources(visit);
    }
}

/// The names of the analyses that an evaluation knows.
fn kinds() -> impl TypedValueParser<Value = Kind> {
    let value = |own: &'static Declared| clap::builder::PossibleValue::new(own.kind.name()).aliases(own.aliases());
    let known = |word: String| analysis::meant(&word).expect("every listed word is an analysis").kind;
    PossibleValuesParser::new(analysis::evaluated().map(value)).map(known)
}

/// The same words where they are data.
fn read_kinds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Kind>, D::Error> {
    let words = Vec::<Value>::deserialize(deserializer)?;
    let name = |word: Value| match word.as_str().and_then(analysis::meant) {
        Some(own) => own.kind.name().into(),
        None => word,
    };
    let names = words.into_iter().map(name).collect();
    // What is no analysis is serde's to say.
    serde_json::from_value(Value::Array(names)).map_err(serde::de::Error::custom)
}

impl Evaluate {
    /// Puts what was typed over what the study file says. `is_typed` says whether an option was typed, by its field.
    pub fn gather(self, is_typed: impl Fn(&str) -> bool, problems: &mut Problems) -> Result<Self> {
        let is_study = |text: &&String| {
            Path::new(text)
                .extension()
                .is_some_and(|e| e.eq_ignore_ascii_case("toml"))
        };
        let (files, models): (Vec<&String>, Vec<&String>) = self.inputs.iter().partition(is_study);
        if let [first, second, ..] = files[..] {
            bail!("{first} and {second} are two study files; give one");
        }
        let mut models: Vec<Named> = models.into_iter().map(|text| Named::from(text.as_str())).collect();
        let has_models = !models.is_empty() || is_typed("models") || is_typed("replicates");
        let study = files.first().map(PathBuf::from);
        let mut all = match &study {
            None => self.clone(),
            Some(path) => {
                let mut file = study_file::read(path, problems)?;
                if has_models {
                    // Second views and reference rows belong to the models beside them.
                    file.own.remove("models");
                    file.own.remove("replicates");
                    file.own.remove("views");
                    file.own.remove("against");
                }
                let folder = path.parent().unwrap_or(Path::new(""));
                for written in ["output_dir", "baseline"] {
                    if let Some(Value::String(path)) = file.own.get_mut(written) {
                        *path = folder.join(&*path).to_string_lossy().into_owned();
                    }
                }
                let mut layer = file.own;
                layer.extend(layers::said(&self, |field| is_typed(field)));
                let mut merged: Evaluate = layers::read(layer).map_err(anyhow::Error::msg)?;
                // Arrays and encoders of a program are values that no text can say.
                merged.data = self.data.over(merged.data, &is_typed);
                merged.analyses = file.analyses;
                for own in merged.analyses.values_mut() {
                    if let Some(Value::String(path)) = own.get_mut(study_file::OUTPUT_FILE) {
                        let folder = &merged.outputs.output_dir;
                        *path = folder.join(&*path).to_string_lossy().into_owned();
                    }
                }
                for (name, own) in &self.analyses {
                    merged.analyses.entry(name.clone()).or_default().extend(own.clone());
                }
                merged
            }
        };
        models.append(&mut all.data.models);
        all.data.models = models;
        all.study = study;
        all.add_typed(problems);
        Ok(all)
    }

    /// Options of single analyses that `evaluate` has too, and those of `--set`.
    pub(crate) fn add_typed(&mut self, problems: &mut Problems) {
        let mut typed: Vec<(Kind, &str, Value)> = Vec::new();
        if !self.choice.k.is_empty() {
            typed.push((Kind::Neighborhood, "k", self.choice.k.clone().into()));
        }
        typed.extend(self.choice.knn_k.map(|k| (Kind::Geometry, "k", k.into())));
        typed.extend(self.clusters.map(|count| (Kind::Geometry, "clusters", count.into())));
        typed.extend(
            self.preset
                .map(|preset| (Kind::Clid, "preset", serde_json::json!(preset))),
        );
        let performance = self.performance.as_ref();
        typed.extend(performance.map(|own| (Kind::Clid, "performance", serde_json::json!(own))));
        if let Some(sample) = self.choice.sample {
            let sampled = [Kind::Neighborhood, Kind::Manifold, Kind::Geometry];
            typed.extend(sampled.map(|kind| (kind, "sample", sample.into())));
        }
        for (kind, key, value) in typed {
            let layer = self.analyses.entry(kind.name().to_string()).or_default();
            layer.insert(key.to_string(), value);
        }
        for text in self.set.clone() {
            if let Err(problem) = self.set(&text) {
                problems.add(format!("`set` = {text}: {problem}"));
            }
        }
    }

    /// `geometry.splits=20`.
    fn set(&mut self, text: &str) -> Result<(), String> {
        let usage = "write ANALYSIS.OPTION=VALUE";
        let (key, value) = text.split_once('=').ok_or(usage)?;
        let (name, option) = key.split_once('.').ok_or(usage)?;
        let Some(declared) = analysis::evaluated().find(|own| own.kind.name() == name) else {
            let known = analysis::evaluated().map(|own| own.kind.name());
            return Err(format!("there is no analysis `{name}`{}", did_you_mean(name, known)));
        };
        let layer = self.analyses.entry(name.to_string()).or_default();
        study_file::put(layer, declared, option, study_file::typed_value(value), Path::new(""))
            .map_err(|problem| format!("`{option}` {problem}"))
    }

    /// Whether anything was said about an analysis.
    pub fn mentions(&self, kind: Kind) -> bool {
        self.analyses.get(kind.name()).is_some_and(|layer| !layer.is_empty())
    }

    /// Whether an option of an analysis was given.
    pub fn says(&self, kind: Kind, field: &str) -> bool {
        self.analyses
            .get(kind.name())
            .is_some_and(|layer| layer.contains_key(field))
    }

    /// An analysis with the options that were given for it.
    pub fn of(&self, declared: &Declared) -> Result<Box<dyn Analysis>, String> {
        let layer = self.analyses.get(declared.kind.name()).cloned().unwrap_or_default();
        let mut own = (declared.read)(layer).map_err(|problem| format!("[{}] {problem}", declared.kind.name()))?;
        let mut metrics = std::mem::take(&mut own.settings_mut().metrics);
        if metrics.is_empty() {
            metrics.clone_from(&self.settings.metrics);
        }
        *own.settings_mut() = Settings {
            metrics,
            ..self.settings.clone()
        };
        Ok(own)
    }

    /// Whether an analysis is wanted.
    pub fn wants(&self, kind: Kind) -> bool {
        let choice = &self.choice;
        let is_named = choice.only.contains(&kind);
        let declared = analysis::declared(kind);
        let is_asked = || self.mentions(kind) || self.data.asks_for(declared);
        let is_usual = choice.only.is_empty() && (!declared.is_asked_for || is_asked());
        !choice.skip.contains(&kind) && (is_named || is_usual)
    }

    /// Why an analysis cannot run, as far as the options show.
    pub fn lacks(&self, declared: &Declared) -> Option<String> {
        let has_own = |own: &&Declared| own.data == Origin::Own;
        let reads_states = declared.reads.contains(&Role::States);
        let names_own_data = || analysis::evaluated().filter(has_own).any(|own| self.mentions(own.kind));
        if has_own(&declared) {
            let name = declared.kind.name();
            return (!self.mentions(declared.kind)).then(|| match &self.study {
                Some(file) => format!("it needs a table [{name}] in {}", file.display()),
                None => format!("it needs a study file with a table [{name}]"),
            });
        }
        if self.data.has_no_model() && names_own_data() {
            return Some("it needs a model ([models] or `model`)".to_string());
        }
        if reads_states && self.data.states.is_none() {
            return Some("it needs what the models saw (`states`)".to_string());
        }
        let has_any = self.data.labels.is_some() || self.data.targets.is_some();
        if declared.kind == Kind::Probe && !has_any && !self.says(Kind::Probe, "label_sets") {
            return Some("it needs what is to be read out: `labels` PATH, or continuous `targets` PATH".to_string());
        }
        if declared.reads.contains(&Role::Against) && !self.data.has_reference() {
            return Some("it needs reference rows (`against`)".to_string());
        }
        if declared.reads.contains(&Role::Batches) && self.data.batches.is_none() {
            return Some("it needs a batch per row (`batches`)".to_string());
        }
        if declared.kind == Kind::Robustness && !self.data.has_encoders() {
            return Some("it needs a model that is an encoder, such as `model` model.onnx".to_string());
        }
        None
    }
}

impl Data {
    /// Whether inputs are given that only this analysis reads.
    fn asks_for(&self, declared: &Declared) -> bool {
        let reads = |role| declared.reads.contains(&role);
        (reads(Role::Against) && self.has_reference())
            || (reads(Role::Batches) && self.batches.is_some())
            || (reads(Role::Targets) && self.targets.is_some())
    }

    /// These inputs, where they were given, over others.
    fn over(self, lower: Data, is_typed: &impl Fn(&str) -> bool) -> Data {
        fn pick<T>(is_typed: bool, upper: T, lower: T) -> T {
            if is_typed { upper } else { lower }
        }
        Data {
            states: pick(is_typed("states"), self.states, lower.states),
            next_states: pick(is_typed("next_states"), self.next_states, lower.next_states),
            episodes: pick(is_typed("episodes"), self.episodes, lower.episodes),
            labels: pick(is_typed("labels"), self.labels, lower.labels),
            targets: pick(is_typed("targets"), self.targets, lower.targets),
            views: pick(is_typed("views"), self.views, lower.views),
            against: pick(is_typed("against"), self.against, lower.against),
            against_states: pick(is_typed("against_states"), self.against_states, lower.against_states),
            against_groups: pick(is_typed("against_groups"), self.against_groups, lower.against_groups),
            batches: pick(is_typed("batches"), self.batches, lower.batches),
            models: pick(is_typed("models"), self.models, lower.models),
            replicates: pick(is_typed("replicates"), self.replicates, lower.replicates),
            ids: pick(is_typed("ids"), self.ids, lower.ids),
            ..lower
        }
    }
}
