// SPDX-License-Identifier: MIT
//! Noise in what an encoder sees, and how far it moves the embeddings.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};
use repscope_core::run::Driver;
use repscope_core::{Corrupting, Moves, Noise, NoiseLevel, Space};
use repscope_io::Pool;
use repscope_models::{Encoder, Made, Rows};

use super::Robustness;
use crate::encoding;
use crate::options::layers::{Layer, object};
use crate::options::word;
use crate::source::{self, SharedEncoder};

/// What encodes inputs with noise.
pub enum Coder<'a> {
    /// A model that is run here.
    Model(&'a mut Encoder),
    /// An encoder of the calling program, and how many rows it is shown at once.
    Program { encoder: &'a SharedEncoder, batch: usize },
}

/// The noise that an encoder meets: all levels, with a number of draws for each sample.
pub struct Meeting<'a> {
    pub rows: &'a dyn Rows,
    pub levels: Vec<Corrupting>,
    pub draws: usize,
    pub pool: Pool,
}

impl<'a> Meeting<'a> {
    pub fn new(options: &Robustness, pool: Pool, rows: &'a dyn Rows) -> Result<Self> {
        Ok(Meeting {
            rows,
            levels: levels(options, range_of(rows)?)?,
            draws: options.draws,
            pool,
        })
    }

    /// What was asked, for the results document.
    pub fn asked(&self, options: &Robustness) -> Layer {
        let levels = self.levels.iter().map(|level| level.name.clone());
        object(serde_json::json!({
            "kind": word(&options.kind), "noise": levels.collect::<Vec<_>>(), "draws": self.draws,
            "clamp": self.levels.first().and_then(|level| level.clamp),
        }))
    }

    /// How far all levels move the embeddings of an encoder, whose embeddings without noise are `clean`.
    pub fn moves(&self, encoder: &mut Coder, clean: &Space, driver: &Driver) -> Result<Noise> {
        let mut levels = Vec::new();
        for level in &self.levels {
            let draws = (0..self.draws as u64)
                .map(|draw| self.one_draw(encoder, clean, level, draw, driver))
                .collect::<Result<Vec<Moves>>>()?;
            levels.push(NoiseLevel {
                name: level.name.clone(),
                strength: level.strength,
                moves: Moves::mean(&draws),
            });
        }
        Ok(Noise { levels })
    }

    fn one_draw(
        &self,
        encoder: &mut Coder,
        clean: &Space,
        level: &Corrupting,
        draw: u64,
        driver: &Driver,
    ) -> Result<Moves> {
        let shape = self.rows.shape();
        let size = shape.iter().product::<usize>().max(1);
        let noisy = Made {
            rows: self.rows,
            count: self.rows.count(),
            read: |range: Range<usize>, into: &mut Vec<f32>| {
                let before = into.len();
                self.rows.read(range.clone(), into)?;
                for (row, sample) in range.zip(into[before..].chunks_exact_mut(size)) {
                    level.apply(sample, shape, row as u64, draw);
                }
                Ok(())
            },
        };
        let mut all = Moves::new();
        let stage = format!("noise {}, {}", level.name, clean.name());
        let mut add = |rows: Range<usize>, embeddings: Space| -> Result<()> {
            let here: Vec<usize> = rows.collect();
            all.extend(Moves::between(&clean.select(&here)?, &[embeddings])?);
            Ok(())
        };
        match encoder {
            Coder::Model(encoder) => {
                encoding::encode(encoder, &noisy, &stage, driver, &mut |batch| {
                    let outputs = batch.outputs.into_iter().map(|output| (output.name.clone(), output));
                    let output = encoding::only(outputs.collect())?;
                    let embeddings = encoding::space(output, batch.count, "noisy embeddings", self.pool)?;
                    add(batch.first..batch.first + batch.count, embeddings)
                })?;
            }
            Coder::Program { encoder, batch } => {
                driver.progress().begin(&stage, noisy.count() as u64);
                let mut values = Vec::new();
                for first in (0..noisy.count()).step_by((*batch).max(1)) {
                    let rows = first..noisy.count().min(first + (*batch).max(1));
                    values.clear();
                    noisy.read(rows.clone(), &mut values)?;
                    let shape: Vec<usize> = std::iter::once(rows.len()).chain(noisy.shape().to_vec()).collect();
                    let embeddings = source::encode(encoder, &shape, &values, driver)?;
                    if embeddings.rows() != rows.len() {
                        let (name, count, rows) = (clean.name(), rows.len(), embeddings.rows());
                        bail!(
                            "the encoder of `{name}` was shown {count} rows and gave embeddings of {rows}; it must give one row per row"
                        );
                    }
                    add(rows, embeddings.into_space("noisy embeddings", self.pool)?)?;
                }
            }
        }
        Ok(all)
    }
}

/// The noise that is asked for, from weak to strong, of inputs in this range.
pub(super) fn levels(options: &Robustness, range: [f64; 2]) -> Result<Vec<Corrupting>> {
    if options.draws == 0 {
        bail!("`draws` = 0: at least one draw of the noise is needed");
    }
    let kind = options.kind;
    let words: Vec<&str> = options.clamp.iter().map(|own| own.0.as_str()).collect();
    let clamp = match words[..] {
        [] => None,
        ["data"] => Some(range),
        [low, high] => {
            let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
            match (number(low), number(high)) {
                (Some(low), Some(high)) if low < high => Some([low, high]),
                _ => bail!("`clamp` = {low} {high}: write two numbers, the smaller first, or `data`"),
            }
        }
        _ => bail!("`clamp` = {}: write LO HI, or `data`", words.join(" ")),
    };
    let given: Vec<String> = if options.noise.is_empty() {
        kind.levels().map(str::to_string).to_vec()
    } else {
        options.noise.iter().map(|own| own.0.clone()).collect()
    };
    let mut levels = Vec::new();
    for name in given {
        let strength: f64 = name.parse().map_err(|_| anyhow!("`noise` = {name} is not a number"))?;
        kind.check(strength)?;
        levels.push(Corrupting {
            kind,
            name,
            strength,
            range,
            clamp,
            seed: options.settings.seed,
        });
    }
    levels.sort_by(|a, b| a.strength.total_cmp(&b.strength));
    if let Some(pair) = levels.windows(2).find(|pair| pair[0].strength == pair[1].strength) {
        let name = &pair[1].name;
        bail!("`noise` = {name} is given twice; for more draws of a level set `draws`");
    }
    Ok(levels)
}

/// The least and the largest value of the states.
fn range_of(rows: &dyn Rows) -> Result<[f64; 2]> {
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    let mut values = Vec::new();
    for row in 0..rows.count() {
        values.clear();
        rows.read(row..row + 1, &mut values)?;
        if let Some(bad) = values.iter().find(|x| !x.is_finite()) {
            bail!("row {row} of the states holds {bad}; drop or fix this row");
        }
        for x in values.iter().copied().map(f64::from) {
            range = [range[0].min(x), range[1].max(x)];
        }
    }
    Ok(range)
}
