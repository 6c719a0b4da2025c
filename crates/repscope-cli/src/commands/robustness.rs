// SPDX-License-Identifier: MIT
//! `repscope robustness`: how far noise in the input moves the code.

use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use repscope_core::{Analysis, Corrupting, Moves, Noise, NoiseLevel, Space, Study};
use repscope_io::{Array, InputPath, InputRecord, digest};
use repscope_models::{Encoder, Rows};

use super::analyses::{run, spec, start_threads, watched};
use crate::args::{Models, Robustness};
use crate::inputs::{self, Inputs, Paths, pool};
use crate::reader::{Reader, Sources};
use crate::search::list;
use crate::{encoders, models};

/// The folder of its files.
pub const FOLDER: &str = "robustness_analysis";

pub fn robustness(options: &Robustness) -> Result<ExitCode> {
    start_threads(&options.outputs.machine)?;
    let spec = spec(&options.outputs)?;
    let inputs = match options.encoders.is_empty() {
        true => stored(options)?,
        false => encoded(options)?,
    };
    run(Analysis::Robustness, FOLDER, inputs, &spec, &options.outputs)
}

/// From codes on disk.
fn stored(options: &Robustness) -> Result<Inputs> {
    let codes = Models {
        models: options.clean.clone(),
        pool: options.pool,
        ids: Vec::new(),
    };
    let mut inputs = inputs::read(&Paths::of_episodes(&options.episodes), &codes)?;
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
    let states = InputPath::parse(options.states.as_deref().unwrap_or_default());
    let rows = reader.array(&states)?;
    let episodes = match &options.episodes.episodes {
        None => None,
        Some(path) => {
            let path = InputPath::parse(path);
            let episodes = reader.array(&path)?.into_episodes("episodes");
            Some(Arc::new(episodes.with_context(|| path.to_string())?))
        }
    };
    let levels = levels(options, &rows)?;
    let models = models::parse(&options.encoders, false)?;
    let mut studies = Vec::new();
    for model in &models {
        let mut encoder = encoders::open(&model.codes, &options.encoder, &options.outputs.machine)?;
        reader.records.push(InputRecord {
            path: model.codes.to_string(),
            shape: Vec::new(),
            dtype: "encoder".to_string(),
            digest: digest(&model.codes.path)?,
        });
        let (clean, notes) = watched(&options.outputs.machine, |driver| {
            encoders::codes(&mut encoder, &rows, &model.name, pool(options.pool), driver)
        })?;
        reader
            .warnings
            .extend(notes.into_iter().map(|note| format!("{}: {note}", model.name)));
        let mut found = Vec::new();
        for level in &levels {
            let draws = (0..options.draws as u64)
                .map(|draw| moves(&mut encoder, &rows, &clean, level, draw, options))
                .collect::<Result<Vec<Moves>>>()?;
            found.push(NoiseLevel {
                name: level.name.clone(),
                strength: level.strength,
                moves: Moves::mean(&draws),
            });
        }
        let mut study = Study::new(&model.name, clean);
        study.noise = Some(Arc::new(Noise { levels: found }));
        study.episodes.clone_from(&episodes);
        studies.push(study);
    }
    let mut sources = Sources {
        records: reader.records,
        warnings: reader.warnings,
        ..Sources::default()
    };
    let asked = serde_json::json!({
        "states": states.to_string(),
        "kind": options.kind.corruption().name(),
        "noise": levels.iter().map(|level| level.name.clone()).collect::<Vec<_>>(),
        "draws": options.draws,
        "clamp": levels.first().and_then(|level| level.clamp),
    });
    if let serde_json::Value::Object(asked) = asked {
        sources.options.extend(asked);
    }
    Ok(Inputs {
        studies,
        models,
        sources,
    })
}

/// How far one draw of the noise moves the codes.
fn moves(
    encoder: &mut Encoder,
    rows: &Array,
    clean: &Space,
    level: &Corrupting,
    draw: u64,
    options: &Robustness,
) -> Result<Moves> {
    let noisy = WithNoise { rows, level, draw };
    let mut all = Moves::new();
    let stage = format!("noise {}", level.name);
    watched(&options.outputs.machine, |driver| {
        encoders::encode(encoder, &noisy, &stage, driver, |batch| {
            let here: Vec<usize> = (batch.first..batch.first + batch.count).collect();
            let codes = encoders::space(
                encoders::only(batch.outputs)?,
                batch.count,
                "noisy codes",
                pool(options.pool),
            )?;
            all.extend(Moves::between(&clean.select(&here)?, &[codes])?);
            Ok(())
        })
    })?;
    Ok(all)
}

/// Rows with noise, made as they are read.
struct WithNoise<'a> {
    rows: &'a Array,
    level: &'a Corrupting,
    draw: u64,
}

impl Rows for WithNoise<'_> {
    fn count(&self) -> usize {
        Rows::count(self.rows)
    }

    fn shape(&self) -> &[usize] {
        Rows::shape(self.rows)
    }

    fn dtype(&self) -> &str {
        Rows::dtype(self.rows)
    }

    fn read(&self, range: Range<usize>, into: &mut Vec<f32>) -> repscope_models::Result<()> {
        let before = into.len();
        self.rows.read(range.clone(), into)?;
        let shape = Rows::shape(self.rows);
        let size: usize = shape.iter().product::<usize>().max(1);
        for (row, sample) in range.zip(into[before..].chunks_exact_mut(size)) {
            self.level.apply(sample, shape, row as u64, self.draw);
        }
        Ok(())
    }
}

/// The noise that is asked for, from weak to strong.
fn levels(options: &Robustness, rows: &Array) -> Result<Vec<Corrupting>> {
    if options.draws == 0 {
        bail!("--draws 0: at least one draw of the noise is needed");
    }
    let kind = options.kind.corruption();
    let range = range_of(rows)?;
    let clamp = match &options.clamp[..] {
        [] => None,
        [word] if word == "data" => Some(range),
        [low, high] => {
            let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
            match (number(low), number(high)) {
                (Some(low), Some(high)) if low < high => Some([low, high]),
                _ => bail!("--clamp {low} {high}: write two numbers, the smaller first, or `data`"),
            }
        }
        other => bail!("--clamp {}: write LO HI, or `data`", other.join(" ")),
    };
    let given: Vec<String> = match options.noise.is_empty() {
        true => kind.levels().map(str::to_string).to_vec(),
        false => options.noise.clone(),
    };
    let mut levels = Vec::new();
    for name in given {
        let strength: f64 = name.parse().map_err(|_| anyhow!("--noise {name} is not a number"))?;
        kind.check(strength)?;
        levels.push(Corrupting {
            kind,
            name,
            strength,
            range,
            clamp,
            seed: options.outputs.seed,
        });
    }
    levels.sort_by(|a, b| a.strength.total_cmp(&b.strength));
    if let Some(pair) = levels.windows(2).find(|pair| pair[0].strength == pair[1].strength) {
        bail!("--noise {} is given twice; for more draws use --draws", pair[1].name);
    }
    Ok(levels)
}

/// The least and the largest value of the states.
fn range_of(rows: &Array) -> Result<[f64; 2]> {
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    let mut values = Vec::new();
    for row in 0..Rows::count(rows) {
        values.clear();
        rows.read(row..row + 1, &mut values)?;
        if let Some(bad) = values.iter().find(|x| !x.is_finite()) {
            bail!("row {row} of the states holds {bad}; take it out, or mend it");
        }
        for x in values.iter().copied().map(f64::from) {
            range = [range[0].min(x), range[1].max(x)];
        }
    }
    Ok(range)
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
    let clean = &inputs.studies[model].latent;
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
