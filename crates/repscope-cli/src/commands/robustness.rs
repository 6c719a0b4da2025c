// SPDX-License-Identifier: MIT
//! `repscope robustness`: how far noise in the input moves the code.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use repscope_core::{Analysis, Labels, Moves, Noise, NoiseLevel, Space, Study};
use repscope_io::InputPath;

use super::analyses::{run, spec, start_threads, watched};
use crate::args::{Machine, Models, Robustness};
use crate::call;
use crate::encoding::{Encoders, Seen, is_encoder};
use crate::inputs::{self, Inputs, Paths, pool};
use crate::models;
use crate::noise::{Coder, Meeting};
use crate::reader::{Reader, Sources};
use crate::search::list;

/// The folder of its files.
pub const FOLDER: &str = "robustness_analysis";

pub fn robustness(options: &Robustness) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let spec = spec(&options.outputs)?;
    let inputs = if options.encoders.is_empty() {
        stored(options)?
    } else {
        encoded(options)?
    };
    run(Analysis::Robustness, FOLDER, inputs, &spec, &options.outputs)
}

/// From codes on disk.
fn stored(options: &Robustness) -> Result<Inputs> {
    let codes = Models {
        models: options.clean.clone(),
        pool: options.pool,
        ids: Vec::new(),
        encoder: options.encoder.clone(),
    };
    let paths = Paths {
        episodes: options.episodes.episodes.as_deref(),
        ..Paths::default()
    };
    let mut inputs = inputs::read(&paths, &codes, &options.outputs.machine)?;
    let noisy = options
        .noisy
        .iter()
        .map(|text| Noisy::parse(text, &inputs))
        .collect::<Result<Vec<Noisy>>>()?;
    let mut reader = Reader::new(&[]);
    for index in 0..inputs.studies.len() {
        let levels = read_levels(index, &noisy, &inputs, options, &mut reader)?;
        inputs.studies[index].noise = Some(Arc::new(Noise { levels }));
    }
    inputs.sources.records.extend(reader.records);
    inputs.sources.warnings.extend(reader.warnings);
    let typed = serde_json::json!(options.noisy);
    inputs.sources.options.insert("noisy".to_string(), typed);
    Ok(inputs)
}

/// By encoders, which see each state clean and with noise.
fn encoded(options: &Robustness) -> Result<Inputs> {
    let mut reader = Reader::new(&[]);
    let encoders = Encoders {
        options: &options.encoder,
        machine: &options.outputs.machine,
    };
    let states = InputPath::parse(options.states.as_deref().unwrap_or_default());
    let seen = Seen::open(&states, options.encoder.numbers.skip_bad, &mut reader)?;
    let rows = seen.numbers()?;
    let episodes = match (&options.episodes.episodes, &seen.stops) {
        (None, None) => None,
        (None, Some(stops)) => Some(Arc::new(stops.clone().into_episodes("the stop flags")?)),
        (Some(path), _) => {
            let path = InputPath::parse(path);
            let episodes = reader.array(&path)?.into_episodes("episodes");
            Some(Arc::new(episodes.with_context(|| path.to_string())?))
        }
    };
    let meeting = Meeting::new(options, pool(options.pool), rows)?;
    let models = models::parse(&options.encoders, false)?;
    let mut studies = Vec::new();
    for model in &models {
        if call::has_encoder(&model.codes.to_string()) {
            let clean = reader.array(&model.codes)?.into_space(&model.name, meeting.pool)?;
            let mut encoder = Coder::Program {
                name: model.codes.to_string(),
                batch: options.encoder.numbers.runtime.batch_size,
            };
            studies.push(meets(&meeting, &mut encoder, clean, &episodes, encoders.machine)?);
            continue;
        }
        if !is_encoder(&model.codes)? {
            bail!(
                "{} holds codes, and noise goes into what an encoder sees; give an encoder, or stored codes with --clean and \
                 --noisy",
                model.codes
            );
        }
        let mut opened = encoders.open(&model.codes, &mut reader)?;
        let warnings = &mut reader.warnings;
        let clean = encoders.space(&mut opened, &model.name, &seen, meeting.pool, warnings)?;
        let mut encoder = Coder::Model(opened.numbers(&model.name)?);
        studies.push(meets(&meeting, &mut encoder, clean, &episodes, encoders.machine)?);
    }
    let mut sources = Sources {
        records: reader.records,
        warnings: reader.warnings,
        options: meeting.asked(options),
    };
    let states = serde_json::Value::String(states.to_string());
    sources.options.insert("states".to_string(), states);
    sources.options.extend(options.encoder.asked());
    Ok(Inputs {
        studies,
        models,
        sources,
    })
}

/// The study of an encoder that meets noise; `clean` are its codes without.
fn meets(
    meeting: &Meeting,
    encoder: &mut Coder,
    clean: Space,
    episodes: &Option<Arc<Labels>>,
    machine: &Machine,
) -> Result<Study> {
    let noise = watched(machine, |driver| meeting.moves(encoder, &clean, driver))?;
    let name = clean.name().to_string();
    let mut study = Study::new(&name, clean);
    study.noise = Some(Arc::new(noise));
    study.episodes.clone_from(episodes);
    Ok(study)
}

/// One `--noisy`.
struct Noisy {
    model: usize,
    level: String,
    strength: f64,
    path: InputPath,
}

impl Noisy {
    fn parse(text: &str, inputs: &Inputs) -> Result<Self> {
        let wrong = || anyhow!("--noisy {text}: write NAME@LEVEL=PATH, such as jepa@0.1=z_noise.npy");
        let (whose, path) = text.split_once('=').ok_or_else(wrong)?;
        let names = || inputs.studies.iter().map(|study| study.model.as_str());
        let (model, level) = match (whose.rsplit_once('@'), inputs.studies.len()) {
            (Some((name, level)), _) => {
                let model = names().position(|known| known == name).ok_or_else(|| {
                    anyhow!(
                        "--noisy {text}: no model is called `{name}`; --clean names {}",
                        list(names())
                    )
                })?;
                (model, level)
            }
            (None, 1) => (0, whose),
            (None, _) => return Err(wrong()),
        };
        let strength: f64 = level.parse().map_err(|_| wrong())?;
        if !(strength > 0.0 && strength.is_finite()) {
            bail!("--noisy {text}: the level {level} must be above 0");
        }
        Ok(Noisy {
            model,
            level: level.to_string(),
            strength,
            path: InputPath::parse(path),
        })
    }
}

/// The levels of a model, from weak to strong.
fn read_levels(
    model: usize,
    noisy: &[Noisy],
    inputs: &Inputs,
    options: &Robustness,
    reader: &mut Reader,
) -> Result<Vec<NoiseLevel>> {
    let clean = &inputs.studies[model].embeddings;
    let mut own: Vec<&Noisy> = noisy.iter().filter(|n| n.model == model).collect();
    own.sort_by(|a, b| a.strength.total_cmp(&b.strength));
    let mut levels = Vec::new();
    for draws in own.chunk_by(|a, b| a.strength == b.strength) {
        let spaces = draws
            .iter()
            .map(|draw| {
                let array = reader.array(&draw.path)?;
                let space = array.into_space(&draw.path.to_string(), pool(options.pool));
                space.with_context(|| draw.path.to_string())
            })
            .collect::<Result<Vec<Space>>>()?;
        levels.push(NoiseLevel {
            name: draws[0].level.clone(),
            strength: draws[0].strength,
            moves: Moves::between(clean, &spaces)?,
        });
    }
    Ok(levels)
}
