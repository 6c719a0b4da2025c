// SPDX-License-Identifier: MIT
//! Noise in what an encoder sees, and how far it moves the embeddings.

use std::ops::Range;

use anyhow::{Result, anyhow, bail};
use repscope_core::run::Driver;
use repscope_core::{Corrupting, Corruption, Moves, Noise, NoiseLevel, Space, VersionMaker};
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

    /// What the levels are measured in, beside the levels themselves.
    fn unit(&self) -> String {
        let names: Vec<&str> = self.levels.iter().map(|level| level.name.as_str()).collect();
        let (names, range) = (
            names.join(", "),
            self.levels.first().map_or([0.0; 2], |level| level.range),
        );
        match self.levels.first().map(|level| level.kind) {
            Some(Corruption::Gaussian | Corruption::Uniform) | None => {
                let [low, high] = range.map(shown);
                format!("σ = {names} in the units of the inputs, which reach from {low} to {high}")
            }
            Some(Corruption::SaltAndPepper) => format!("levels {names}: the share of the values that are replaced"),
            Some(_) => format!("levels {names}: severities from 1 to 5"),
        }
    }

    /// What a reader must know of levels that were chosen by the data, and of levels that do not fit them.
    pub fn said(&self, options: &Robustness) -> Option<String> {
        let (first, last) = (self.levels.first()?, self.levels.last()?);
        if let Some(unit) = unit(options, first.range) {
            return Some(format!(
                "the inputs reach from {} to {}, so σ goes from {} to {}: 0.01 to 0.2 of {unit} (`noise` = LEVEL … sets others)",
                shown(first.range[0]),
                shown(first.range[1]),
                first.name,
                last.name
            ));
        }
        let by_default = Robustness {
            noise: Vec::new(),
            ..options.clone()
        };
        let unit = unit(&by_default, first.range).filter(|unit| last.strength < FAINT * unit)?;
        let fitting = levels(&by_default, first.range).ok()?;
        let fitting: Vec<&str> = fitting.iter().map(|level| level.name.as_str()).collect();
        Some(format!(
            "the strongest noise, σ = {}, is {} of the range of the inputs, from {} to {}: hardly any. Levels that fit: \
             `noise` = {}",
            last.name,
            percent(last.strength / unit),
            shown(first.range[0]),
            shown(first.range[1]),
            fitting.join(" ")
        ))
    }

    /// What was asked, for the results document.
    pub fn asked(&self, options: &Robustness) -> Layer {
        let levels = self.levels.iter().map(|level| level.name.clone());
        object(serde_json::json!({
            "kind": word(&options.kind), "noise": levels.collect::<Vec<_>>(), "draws": self.draws,
            "clamp": self.levels.first().and_then(|level| level.clamp),
        }))
    }

    /// How far all levels move the embeddings of an encoder, whose embeddings without noise are `clean`; or a version of them.
    pub fn moves(
        &self,
        encoder: &mut Coder,
        clean: &Space,
        version: Option<&VersionMaker>,
        driver: &Driver,
    ) -> Result<Noise> {
        let mut levels = Vec::new();
        for level in &self.levels {
            let draws = (0..self.draws as u64)
                .map(|draw| self.one_draw(encoder, clean, version, (level, draw), driver))
                .collect::<Result<Vec<Moves>>>()?;
            levels.push(NoiseLevel {
                name: level.name.clone(),
                strength: level.strength,
                moves: Moves::mean(&draws),
            });
        }
        let unit = Some(self.unit());
        Ok(Noise { levels, unit })
    }

    fn one_draw(
        &self,
        encoder: &mut Coder,
        clean: &Space,
        version: Option<&VersionMaker>,
        (level, draw): (&Corrupting, u64),
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
            let clean = clean.select(&here)?;
            all.extend(match version {
                None => Moves::between(&clean, &[embeddings])?,
                Some(version) => Moves::between(&version.of(&clean)?, &[version.of(&embeddings)?])?,
            });
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

/// Noise below this share of the range is hardly any: the weakest default level.
const FAINT: f64 = 0.01;

/// `0.078 %`.
fn percent(share: f64) -> String {
    format!("{} %", shown(100.0 * share))
}

/// A number with three digits that tell something: 255, 0.0784, 6.87e-6.
fn shown(x: f64) -> String {
    let rounded: f64 = format!("{x:.2e}").parse().unwrap_or(x);
    match rounded.abs() {
        0.0 => "0".to_string(),
        size if !(1e-4..1e6).contains(&size) => format!("{rounded:e}"),
        _ => rounded.to_string(),
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
        let unit = unit(options, range).unwrap_or(1.0);
        let in_units = |level: &str| {
            level
                .parse()
                .map_or(level.to_string(), |share: f64| number(share * unit))
        };
        kind.levels().map(in_units).to_vec()
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

/// What default levels of σ are multiplied by: the span of inputs from 0 to more than 1, such as bytes. None for inputs between 0
/// and 1 or of both signs, and where levels are given or have no unit.
pub(super) fn unit(options: &Robustness, [low, high]: [f64; 2]) -> Option<f64> {
    let has_unit = matches!(options.kind, Corruption::Gaussian | Corruption::Uniform) && options.noise.is_empty();
    let span = if (128.0..=255.0).contains(&high) { 255.0 } else { high };
    (has_unit && low >= 0.0 && high > 1.0).then_some(span)
}

/// A level with the digits it needs: 12.75.
fn number(level: f64) -> String {
    format!("{}", (level * 1e6).round() / 1e6)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Word;

    fn names(options: &Robustness, range: [f64; 2]) -> Vec<String> {
        let levels = levels(options, range).expect("levels that fit");
        levels.into_iter().map(|level| level.name).collect()
    }

    #[test]
    fn ends_of_ranges_have_the_digits_they_need() {
        let numbers = [0.0, 255.0, -1.0, 6.8676e-6, 0.078_431, 1234.5].map(shown);
        assert_eq!(numbers, ["0", "255", "-1", "6.87e-6", "0.0784", "1230"]);
    }

    #[test]
    fn default_levels_are_in_units_of_the_range_of_the_inputs() {
        let default = Robustness::default();
        assert_eq!(names(&default, [0.0, 1.0]), ["0.01", "0.05", "0.1", "0.15", "0.2"]);
        assert_eq!(names(&default, [-3.0, 3.0])[0], "0.01");
        assert_eq!(names(&default, [0.0, 255.0]), ["2.55", "12.75", "25.5", "38.25", "51"]);
        assert_eq!(names(&default, [0.0, 250.0])[4], "51");
        assert_eq!(names(&default, [0.0, 16.0]), ["0.16", "0.8", "1.6", "2.4", "3.2"]);
        let given = Robustness {
            noise: vec![Word("0.1".to_string())],
            ..Robustness::default()
        };
        assert_eq!(names(&given, [0.0, 255.0]), ["0.1"]);
    }
}
