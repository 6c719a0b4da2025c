// SPDX-License-Identifier: MIT
//! How far does noise in the input move the embedding?

mod noise;

use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use repscope_core::{
    Analysis as Kind, Corruption, Moves, Noise, NoiseLevel, Results, Space, Spec, Study, Version, VersionMaker,
    Versioned,
};
use repscope_io::Pool;
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare, study_metrics};
use crate::encoding::{Model as Opened, file, is_encoder};
use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::{Inputs, Role};
use crate::options::{Data, EncoderOptions, Groups, POOLS, Settings, VersionOptions, Word, default_options, words};
use crate::reader::{Reader, Sources};
use crate::search::list;
use crate::session::Session;
use crate::source::{Named, Place, Source, bind};
use crate::versions::VersionStudies;
use noise::{Coder, Meeting};

const KINDS: &str = "gaussian uniform salt-and-pepper blur brightness contrast occlusion";

/// How far noise in the input moves the embedding.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Robustness {
    /// The inputs of the models, one per row: an array, a folder of images, or the dataset .pth of the representation
    /// analysis scripts
    #[arg(long, alias = "inputs", value_name = "PATH", conflicts_with = "clean")]
    pub states: Option<Source>,
    /// An encoder: NAME=PATH, or PATH (the file stem is the name): an .onnx file, or weights of a known network. Repeat for
    /// more models [default: weights/NAME/best_encoder.*, run on datasets/*.pth]
    #[arg(long = "model", num_args = 1.., value_name = "NAME=ENCODER", requires = "states")]
    pub models: Vec<Named>,
    /// Encoders that are training runs of one recipe: NAME=PATTERN, such as jepa='runs/jepa-*.onnx'. Its scores are means over
    /// the runs, and intervals and comparisons speak about the recipe. Repeat for more recipes
    #[arg(long, num_args = 1.., value_name = "NAME=PATTERN", requires = "states")]
    pub replicates: Vec<Named>,
    /// Kind of noise
    #[arg(long, value_parser = words::<Corruption>(KINDS), default_value = "gaussian")]
    pub kind: Corruption,
    /// Noise levels: σ in the units of the inputs for gaussian and uniform, the share of values for salt-and-pepper,
    /// severities from 1 to 5 for the others [default: 0.01 0.05 0.1 0.15 0.2, times 255 for bytes and the largest value
    /// of other inputs from 0 to more than 1; or 1 to 5]
    #[arg(long, num_args = 1.., value_delimiter = ',', value_name = "LEVEL")]
    pub noise: Vec<Word>,
    /// Noise draws per sample; distances are averaged over draws
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub draws: usize,
    /// Clip noisy inputs to the range LO HI, or to the range of the inputs with `data` [default: no clipping]
    #[arg(long, num_args = 1..=2, allow_negative_numbers = true, value_name = "LO HI|data")]
    pub clamp: Vec<Word>,
    /// Stored embeddings of the inputs without noise: NAME=PATH, or PATH. Repeat for more models
    #[arg(long, num_args = 1.., value_name = "NAME=PATH", help_heading = "Stored embeddings", requires = "noisy", conflicts_with_all = ["models", "replicates"])]
    pub clean: Vec<Named>,
    /// Stored embeddings of the same inputs with noise, by level: NAME@LEVEL=PATH, or LEVEL=PATH for one model. Repeat a
    /// level for another draw of the noise
    #[arg(long, num_args = 1.., value_name = "NAME@LEVEL=PATH", help_heading = "Stored embeddings", requires = "clean")]
    pub noisy: Vec<Named>,
    /// Shorter and quantized embeddings.
    #[command(flatten)]
    #[serde(flatten)]
    pub versions: VersionOptions,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// Pooling of embeddings of shape (N, T, D) to one row per sample
    #[arg(long, value_parser = words::<Pool>(POOLS), default_value = "last")]
    pub pool: Pool,
    /// How encoders are run.
    #[command(flatten)]
    #[serde(flatten)]
    pub encoder: EncoderOptions,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  repscope robustness --states frames.npy --model jepa=jepa.onnx --model autoencoder=best_encoder.pth
  repscope robustness --states frames.npy --model jepa=jepa.onnx --noise 1 5 10 --draws 5 --clamp data
  repscope robustness --clean jepa=z.npy --noisy jepa@0.1=z_noise01.npy jepa@0.2=z_noise02.npy";

default_options!(Robustness);
bind!(Robustness: states, models, replicates, clean, noisy, groups, encoder);
declare!(Robustness {
    kind: Kind::Robustness,
    about: "How far does noise in the input move the embedding?",
    examples: EXAMPLES,
    folder: "robustness_analysis",
    reads: &[Role::States, Role::Episodes, Role::Embeddings],
    data: Origin::Study,
    is_asked_for: false,
    stage: 2,
    sweeps: false,
    keeps_samples: false,
    classes: &["episodes"],
    take: |_, _| {},
});

impl Analysis for Robustness {
    fn data(&self) -> Data {
        Data {
            states: self.states.clone(),
            episodes: self.groups.episodes.clone(),
            models: if self.clean.is_empty() {
                self.models.clone()
            } else {
                self.clean.clone()
            },
            replicates: self.replicates.clone(),
            pool: self.pool,
            versions: self.versions.clone(),
            encoder: self.encoder.clone(),
            ..Data::default()
        }
    }

    fn spec(&self, _data: &Data) -> Result<Spec> {
        // What is wrong with the levels is said before anything is encoded.
        noise::levels(self, [0.0, 1.0])?;
        self.settings.spec()
    }

    fn prepare(&self, data: &Data, inputs: &Inputs, sources: &mut Sources, _session: &Session) -> Result<Extra> {
        if !self.noisy.is_empty() {
            let mut reader = Reader::new(&[]);
            let studies = self.read_stored(inputs, None, &mut reader)?;
            sources.records.extend(reader.records);
            sources.warnings.extend(reader.warnings);
            sources
                .options
                .insert("noisy".to_string(), serde_json::json!(self.noisy));
            return Ok(Extra::Studies(studies));
        }
        // Alone, every model must be an encoder; in an evaluation of several those that are none are left out.
        let is_alone = !(self.models.is_empty() && self.replicates.is_empty());
        for model in inputs.models.iter().filter(|_| is_alone) {
            if model.encoder.is_none() && !is_encoder(&model.embeddings)? {
                bail!(
                    "{} holds embeddings, and noise goes into what an encoder sees; give an encoder, or stored embeddings \
                     without (`clean`) and with noise (`noisy`)",
                    model.embeddings
                );
            }
        }
        let meeting = self.meeting(data, inputs)?;
        sources.options.extend(meeting.asked(self));
        sources.warnings.extend(meeting.said(self));
        Ok(Extra::Nothing)
    }

    /// Versions have noise of their own.
    fn of_version<'a>(&self, _own: &'a VersionStudies) -> Option<&'a [Study]> {
        None
    }

    fn measures_versions(&self) -> bool {
        true
    }

    fn versions(&self, planned: &Planned, inputs: &Inputs, session: &Session) -> Result<Vec<Versioned>> {
        let of = |own: &VersionStudies| {
            let studies = if self.noisy.is_empty() {
                self.with_noise(&planned.data, inputs, Some(&own.version), session)?
            } else {
                self.read_stored(inputs, Some(&own.version), &mut Reader::new(&[]))?
            };
            Ok(own.results(study_metrics(planned, &studies, session)?))
        };
        inputs.versions.iter().map(of).collect()
    }

    fn compute(&self, planned: &Planned, inputs: &Inputs, session: &Session) -> Result<Results> {
        let noisy;
        let studies = match &planned.extra {
            Extra::Studies(studies) => studies,
            _ => {
                noisy = self.with_noise(&planned.data, inputs, None, session)?;
                &noisy
            }
        };
        study_metrics(planned, studies, session)
    }
}

impl Robustness {
    fn meeting<'a>(&self, data: &Data, inputs: &'a Inputs) -> Result<Meeting<'a>> {
        let seen = inputs
            .seen
            .as_ref()
            .context("noise needs states; give what the encoders see")?;
        Meeting::new(self, data.pool, seen.numbers()?)
    }

    /// The studies of the models that are encoders, each with what noise does to its embeddings, or to a version of them.
    fn with_noise(
        &self,
        data: &Data,
        inputs: &Inputs,
        version: Option<&Version>,
        session: &Session,
    ) -> Result<Vec<Study>> {
        let meeting = self.meeting(data, inputs)?;
        let mut studies = Vec::new();
        for (study, model) in inputs.studies.iter().zip(&inputs.models) {
            let Some((mut own, maker)) = version_of(study, version)? else {
                continue;
            };
            let mut opened;
            let mut encoder = match &model.encoder {
                Some(encoder) => Coder::Program {
                    encoder,
                    batch: data.encoder.numbers.runtime.batch_size,
                },
                None if is_encoder(&model.embeddings)? => {
                    opened = Opened::open(file(&model.embeddings)?, &data.encoder, &self.settings.machine)?;
                    Coder::Model(opened.numbers(&model.name)?)
                }
                None => continue,
            };
            let moves = meeting.moves(&mut encoder, &study.embeddings, maker.as_ref(), &session.driver())?;
            own.noise = Some(Arc::new(moves));
            studies.push(own);
        }
        Ok(studies)
    }

    /// Takes stored embeddings of inputs with noise, or a version of them.
    fn read_stored(&self, inputs: &Inputs, version: Option<&Version>, reader: &mut Reader) -> Result<Vec<Study>> {
        let noisy = self.noisy.iter().map(|given| Noisy::parse(given, inputs));
        let noisy = noisy.collect::<Result<Vec<Noisy>>>()?;
        let mut studies = Vec::new();
        for (index, study) in inputs.studies.iter().enumerate() {
            let Some((mut own, maker)) = version_of(study, version)? else {
                continue;
            };
            let levels = self.read_levels(index, &noisy, &own.embeddings, maker.as_ref(), reader)?;
            own.noise = Some(Arc::new(Noise { levels, unit: None }));
            studies.push(own);
        }
        Ok(studies)
    }

    /// The levels of a model, from weak to strong.
    fn read_levels(
        &self,
        model: usize,
        noisy: &[Noisy],
        clean: &Space,
        version: Option<&VersionMaker>,
        reader: &mut Reader,
    ) -> Result<Vec<NoiseLevel>> {
        let mut own: Vec<&Noisy> = noisy.iter().filter(|n| n.model == model).collect();
        own.sort_by(|a, b| a.strength.total_cmp(&b.strength));
        let mut levels = Vec::new();
        for draws in own.chunk_by(|a, b| a.strength == b.strength) {
            let spaces = draws.iter().map(|draw| {
                let array = reader.array(&draw.place)?;
                let space = array.into_space(&draw.place.to_string(), self.pool);
                let space = space.with_context(|| draw.place.to_string())?;
                let Some(version) = version else { return Ok(space) };
                // Columns that are too few or too many are told by those of the whole embeddings.
                Ok(version.of(&space)?)
            });
            levels.push(NoiseLevel {
                name: draws[0].level.clone(),
                strength: draws[0].strength,
                moves: Moves::between(clean, &spaces.collect::<Result<Vec<Space>>>()?)?,
            });
        }
        Ok(levels)
    }
}

/// A version of a study and what makes it, or the study itself; none where the embeddings have no such version.
fn version_of(study: &Study, version: Option<&Version>) -> Result<Option<(Study, Option<VersionMaker>)>> {
    let Some(version) = version else {
        return Ok(Some((study.clone(), None)));
    };
    if !version.exists_of(study.embeddings.columns()) {
        return Ok(None);
    }
    let maker = VersionMaker::new(*version, &study.embeddings)?;
    Ok(Some((version.of_study(study)?, Some(maker))))
}

/// Stored embeddings of one model at one level.
struct Noisy {
    model: usize,
    level: String,
    strength: f64,
    place: Place,
}

impl Noisy {
    fn parse(given: &Named, inputs: &Inputs) -> Result<Self> {
        let wrong = || anyhow!("noisy embeddings {given}: write NAME@LEVEL=PATH, such as jepa@0.1=z_noise.npy");
        let (whose, place) = given.split(|_| true)?;
        let whose = whose.ok_or_else(wrong)?;
        let names = || inputs.studies.iter().map(|study| study.model.as_str());
        let (model, level) = match (whose.rsplit_once('@'), inputs.studies.len()) {
            (Some((name, level)), _) => {
                let model = names().position(|known| known == name).ok_or_else(|| {
                    let known = list(names());
                    anyhow!("noisy embeddings {given}: no model is called `{name}`; the models are called {known}")
                })?;
                (model, level)
            }
            (None, 1) => (0, whose),
            (None, _) => return Err(wrong()),
        };
        let strength: f64 = level.parse().map_err(|_| wrong())?;
        if !(strength > 0.0 && strength.is_finite()) {
            bail!("noisy embeddings {given}: the level {level} must be above 0");
        }
        Ok(Noisy {
            model,
            level: level.to_string(),
            strength,
            place,
        })
    }
}
