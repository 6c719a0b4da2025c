// SPDX-License-Identifier: MIT
//! What can be read out of the embeddings by simple predictors?

use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{Analysis as Kind, Distance, Labels, ProbeSpec, Results, Space, Spec, Study, part_of_identity};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, check_k, declare};
use crate::encoding::{Encoders, Seen};
use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::{self, Inputs, Role};
use crate::models;
use crate::options::{Data, Groups, Models, SeenOption, Settings, default_options, words};
use crate::reader::{Reader, Sources};
use crate::session::Session;
use crate::source::{Named, Source, bind};

/// How distances of neighbors are taken.
const DISTANCES: &str = "euclidean cosine";
const TEST: &str = "Rows that only test";

/// Linear and k-NN probes of labels and of continuous targets, on rows that they were not trained on.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Probe {
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// What encoders are run on.
    #[command(flatten)]
    #[serde(flatten)]
    pub seen: SeenOption,
    /// A class per row: strings, integers or booleans; or a folder of images with one subfolder per class
    #[arg(long, value_name = "PATH")]
    pub labels: Option<Source>,
    /// More classes of each row, each set with a name of its own, which stands in the identity of its scores
    #[arg(long, num_args = 1.., value_name = "NAME=PATH")]
    pub label_sets: Vec<Named>,
    /// Continuous values of each row: an array with a column per target, or a table of numbers, whose columns have names
    #[arg(long, value_name = "PATH")]
    pub targets: Option<Source>,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// Embeddings of rows that only test: NAME=PATH for each model, a folder or pattern with the file names of the models, or PATH
    /// for one model; or encoders. All other rows then train
    #[arg(long = "test-model", num_args = 1.., value_name = "NAME=PATH|PATH", help_heading = TEST)]
    pub test_models: Vec<Named>,
    /// The inputs of these rows: encoders are run on them, those of --test-model or the models themselves
    #[arg(long, value_name = "PATH", help_heading = TEST)]
    pub test_states: Option<Source>,
    /// Their labels
    #[arg(long, value_name = "PATH", help_heading = TEST)]
    pub test_labels: Option<Source>,
    /// Their labels of each of the other sets
    #[arg(long, num_args = 1.., value_name = "NAME=PATH", help_heading = TEST)]
    pub test_label_sets: Vec<Named>,
    /// Their targets
    #[arg(long, value_name = "PATH", help_heading = TEST)]
    pub test_targets: Option<Source>,
    /// Their episodes
    #[arg(long, visible_alias = "test-groups", value_name = "PATH", help_heading = TEST)]
    pub test_episodes: Option<Source>,
    /// Number of folds that take turns in testing; the penalty for each is chosen among the others
    #[arg(long, default_value_t = 5)]
    pub folds: usize,
    /// Penalties to choose from, as `alpha` of Ridge and 1 / `C` of LogisticRegression in scikit-learn
    /// [default: 13 from 1e-4 to 1e8 for targets, 9 from 1e-3 to 1e5 for labels]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "ALPHA")]
    pub penalties: Vec<f64>,
    /// Number of nearest training rows that vote
    #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [5])]
    pub k: Vec<usize>,
    /// Distance of the k-NN probe
    #[arg(long, value_parser = words::<Distance>(DISTANCES), default_value = "euclidean")]
    pub distance: Distance,
    /// Number of bins of the expected calibration error
    #[arg(long, default_value_t = 15)]
    pub bins: usize,
    /// Rows of each class that probes of few rows are trained on, as far as the smallest class has twice as many
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "N", default_values_t = [1, 5, 10, 20, 50, 100])]
    pub shots: Vec<usize>,
    /// Random draws of these rows
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub draws: usize,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Probe);
bind!(Probe: models, seen, labels, label_sets, targets, groups, test_models, test_states, test_labels, test_label_sets, test_targets, test_episodes);
declare!(Probe {
    kind: Kind::Probe,
    about: "What can be read out linearly? (probes of labels and of targets)",
    examples: "Examples:\n  repscope probe --model jepa=z_jepa.npy --model mae=z_mae.npy --labels labels.npy\n  repscope probe --model z.npy --targets positions.csv --groups episodes.npy\n  repscope probe --model z_train.npy --labels y_train.npy --test-model z_test.npy --test-labels y_test.npy\n  repscope probe --model encoder.onnx --states train.npy --labels y_train.npy --test-states test.npy --test-labels y_test.npy",
    folder: "probe",
    reads: &[Role::Labels, Role::Targets, Role::Episodes, Role::Embeddings],
    data: Origin::Study,
    is_asked_for: true,
    stage: 3,
    sweeps: false,
    keeps_samples: false,
    classes: &[],
    take: |joint, own| joint.probe = own.probe.clone(),
});

impl Analysis for Probe {
    fn data(&self) -> Data {
        Data {
            states: self.seen.states.clone(),
            labels: self.labels.clone(),
            targets: self.targets.clone(),
            episodes: self.groups.episodes.clone(),
            ..self.models.data()
        }
    }

    fn spec(&self, data: &Data) -> Result<Spec> {
        if data.labels.is_none() && data.targets.is_none() && self.label_sets.is_empty() {
            bail!("a probe reads something out: give `labels` PATH, or continuous `targets` PATH, one line per row");
        }
        let Probe { folds, bins, draws, .. } = *self;
        if !(3..=1000).contains(&folds) {
            bail!(
                "`folds` = {folds}: at least 3 are needed, one to test and two to choose the penalty by (5 is usual)"
            );
        }
        if self.shots.contains(&0) {
            bail!("`shots` = 0: a probe learns from at least 1 row of each class (1 5 10 is usual)");
        }
        if bins == 0 || draws == 0 {
            bail!("`bins` = {bins} and `draws` = {draws} must each be at least 1");
        }
        if let Some(penalty) = self.penalties.iter().find(|own| !(**own > 0.0 && own.is_finite())) {
            bail!("`penalties` = {penalty}: a penalty must be above 0 and finite (0.01 to 10000 are usual)");
        }
        let mut shots = self.shots.clone();
        shots.sort_unstable();
        shots.dedup();
        Ok(Spec {
            probe: ProbeSpec {
                folds,
                penalties: self.penalties.clone(),
                k: check_k(&self.k)?,
                distance: self.distance,
                bins,
                shots,
                draws,
            },
            ..self.settings.spec()?
        })
    }

    /// Its studies hold more than those of other analyses.
    fn prepare(&self, data: &Data, inputs: &Inputs, sources: &mut Sources, session: &Session) -> Result<Extra> {
        let has_test = self.check_test(data)?;
        if !has_test && self.label_sets.is_empty() {
            return Ok(Extra::Nothing);
        }
        if !inputs.versions.is_empty() {
            bail!(
                "`prefix` and `quantize` measure probes that are cross-validated, of `labels` and `targets`; leave out `label_sets` and the rows that only test"
            );
        }
        if !data.ids.is_empty() {
            bail!("`label_sets` and rows that only test are not joined by `ids`; give them in the order of the rows");
        }
        let mut reader = Reader::new(&[]);
        let sets = named_labels("label_sets", &self.label_sets, &mut reader)?;
        let mut studies = inputs.studies.clone();
        for study in &mut studies {
            study.label_sets.clone_from(&sets);
            study.check()?;
        }
        if has_test {
            let tests = if self.test_models.is_empty() {
                inputs.models.iter().map(|model| model.embeddings.clone()).collect()
            } else {
                models::pair(&models::TESTS, &self.test_models, &inputs.models)?
            };
            let encoders = Encoders {
                options: &data.encoder,
                machine: &self.settings.machine,
                session,
            };
            let skip_bad = data.encoder.numbers.skip_bad;
            let seen = match &self.test_states {
                Some(source) => Some(Seen::open(&source.place()?, skip_bad, &mut reader)?),
                None => None,
            };
            let test = Test {
                labels: labels(self.test_labels.as_ref(), &mut reader)?,
                sets: named_labels("test_label_sets", &self.test_label_sets, &mut reader)?,
                targets: match &self.test_targets {
                    Some(source) => Some(inputs::targets(&mut reader, &source.place()?, "test targets")?),
                    None => None,
                },
                episodes: match &self.test_episodes {
                    Some(source) => {
                        let place = source.place()?;
                        Some(reader.array(&place)?.into_episodes(&place.to_string())?)
                    }
                    None => None,
                },
            };
            for (study, place) in studies.iter_mut().zip(&tests) {
                let name = format!("test rows of {}", study.model);
                let space = inputs::other_rows(
                    place,
                    &name,
                    "test_states",
                    &encoders,
                    seen.as_ref(),
                    data.pool,
                    &mut reader,
                )?;
                *study = test.below(study, &space)?;
            }
        }
        sources.records.extend(reader.records);
        sources.warnings.extend(reader.warnings);
        for (name, given) in [
            ("label_sets", serde_json::json!(self.label_sets)),
            ("test_model", serde_json::json!(self.test_models)),
            ("test_states", serde_json::json!(self.test_states)),
            ("test_labels", serde_json::json!(self.test_labels)),
            ("test_label_sets", serde_json::json!(self.test_label_sets)),
            ("test_targets", serde_json::json!(self.test_targets)),
            ("test_episodes", serde_json::json!(self.test_episodes)),
        ] {
            if !given.is_null() && given.as_array().is_none_or(|list| !list.is_empty()) {
                sources.options.insert(name.to_string(), given);
            }
        }
        Ok(Extra::Studies(studies))
    }

    fn compute(&self, planned: &Planned, inputs: &Inputs, session: &Session) -> Result<Results> {
        let studies = match &planned.extra {
            Extra::Studies(own) => own,
            _ => &inputs.studies,
        };
        super::study_metrics(planned, studies, session)
    }
}

impl Probe {
    /// Whether there are rows that only test. They need what the others have.
    fn check_test(&self, data: &Data) -> Result<bool> {
        let pairs = [
            (
                "labels",
                "test_labels",
                data.labels.is_some(),
                self.test_labels.is_some(),
            ),
            (
                "targets",
                "test_targets",
                data.targets.is_some(),
                self.test_targets.is_some(),
            ),
            (
                "episodes",
                "test_episodes",
                data.episodes.is_some(),
                self.test_episodes.is_some(),
            ),
            (
                "label_sets",
                "test_label_sets",
                !self.label_sets.is_empty(),
                !self.test_label_sets.is_empty(),
            ),
        ];
        if self.test_models.is_empty() && self.test_states.is_none() {
            return match pairs.iter().find(|pair| pair.3) {
                Some(pair) => bail!(
                    "`{}` needs `test_model`, the embeddings of the rows that test, or `test_states`, what encoders see of them",
                    pair.1
                ),
                None => Ok(false),
            };
        }
        for (own, test, has_own, has_test) in pairs {
            if has_own && !has_test {
                bail!("rows that only test (`test_model`, `test_states`) need `{test}`, because there are `{own}`");
            }
            if has_test && !has_own {
                bail!("`{test}` needs `{own}`, those of the rows that train");
            }
        }
        Ok(true)
    }
}

/// What is known of the rows that only test.
struct Test {
    labels: Option<Labels>,
    sets: Vec<(String, Arc<Labels>)>,
    targets: Option<repscope_core::Targets>,
    episodes: Option<Labels>,
}

impl Test {
    /// A study with these rows below its own. Groups of both parts are different groups.
    fn below(&self, study: &Study, space: &Space) -> Result<Study> {
        let rows = study.embeddings.rows();
        let model = &study.model;
        if study.embeddings.elsewhere().is_some() {
            bail!(
                "model `{model}` is read block by block, and probes need all its rows; give a part that one machine holds"
            );
        }
        if space.columns() != study.embeddings.columns() {
            bail!(
                "the test rows of model `{model}` have {} columns but its embeddings have {}; both must come from the same encoder",
                space.columns(),
                study.embeddings.columns()
            );
        }
        let same = |what: &str, found: usize| -> Result<()> {
            if found != space.rows() {
                bail!(
                    "there are {found} {what} for {} test rows of model `{model}`; give one per row",
                    space.rows()
                );
            }
            Ok(())
        };
        let joined = |what: &str, own: &Labels, test: &Labels| {
            same(what, test.rows())?;
            let name = |labels: &Labels, row: usize| labels.names()[labels.codes()[row] as usize].clone();
            let names = (0..own.rows()).map(|row| name(own, row));
            let names: Vec<String> = names.chain((0..test.rows()).map(|row| name(test, row))).collect();
            anyhow::Ok(Arc::new(Labels::new(&names)))
        };
        let mut all = study.clone();
        all.embeddings = study.embeddings.below(space)?;
        all.tested_from = Some(rows);
        (all.input, all.view, all.noise, all.pairs) = (None, None, None, None);
        if let (Some(own), Some(test)) = (&study.labels, &self.labels) {
            all.labels = Some(joined("labels", own, test)?);
        }
        for (name, own) in &mut all.label_sets {
            let Some((_, test)) = self.sets.iter().find(|(other, _)| other == name) else {
                bail!("`test_label_sets` has no set `{name}`; give each set for the test rows, too");
            };
            *own = joined("labels", own, test)?;
        }
        if let (Some(own), Some(test)) = (&study.targets, &self.targets) {
            same("targets", test.values().rows())?;
            all.targets = Some(Arc::new(own.below(test)?));
        }
        if let (Some(own), Some(test)) = (&study.episodes, &self.episodes) {
            same("episodes", test.rows())?;
            let groups = own.classes();
            let codes = own
                .codes()
                .iter()
                .copied()
                .chain(test.codes().iter().map(|code| code + groups as u32));
            all.episodes = Some(Arc::new(Labels::from_codes(codes.collect(), groups + test.classes())));
        }
        all.check()?;
        Ok(all)
    }
}

fn labels(source: Option<&Source>, reader: &mut Reader) -> Result<Option<Labels>> {
    let Some(source) = source else { return Ok(None) };
    Ok(Some(reader.labels(&source.place()?)?))
}

/// Sets of labels, each with a name that can stand in an identity.
fn named_labels(option: &str, given: &[Named], reader: &mut Reader) -> Result<Vec<(String, Arc<Labels>)>> {
    let mut sets: Vec<(String, Arc<Labels>)> = Vec::new();
    for given in given {
        let (name, place) = given.split(|_| true)?;
        let name = part_of_identity(name.map_or_else(|| place.stem(), str::to_string).as_str());
        if sets.iter().any(|(known, _)| *known == name) {
            bail!("`{option}`: two sets are called `{name}`; give each its own name, NAME=PATH");
        }
        sets.push((name, Arc::new(reader.labels(&place)?)));
    }
    Ok(sets)
}
