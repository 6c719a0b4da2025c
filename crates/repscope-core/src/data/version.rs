// SPDX-License-Identifier: MIT
//! Embeddings as they are stored and searched: their first columns, with fewer bits per number.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::retrieval::Retrieval;
use super::space::{Slice, Space, Values};
use super::study::{Reference, Study};
use crate::error::{Error, Result, refuse_if};

/// How a number of an embedding is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// As it was given.
    Float,
    /// One of 256 levels between the smallest and the largest number of its column.
    Int8,
    /// Its sign.
    Binary,
}

impl Precision {
    /// `int8`
    pub fn name(self) -> &'static str {
        match self {
            Precision::Float => "float",
            Precision::Int8 => "int8",
            Precision::Binary => "binary",
        }
    }
}

/// What is kept of embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version {
    /// The first so many columns; none where all are.
    pub columns: Option<usize>,
    /// How each number is stored.
    pub precision: Precision,
}

/// Rows whose lengths are this near to 1 have unit length, but for the rounding of half precision.
const UNIT: f64 = 1e-3;
/// Steps between the smallest and the largest number of a column at 8 bits.
const STEPS: f64 = 255.0;

impl Version {
    /// The embeddings as they are.
    pub const FULL: Version = Version {
        columns: None,
        precision: Precision::Float,
    };

    /// Every combination of these: prefixes at each precision, each precision with all columns. The embeddings as they are are none.
    pub fn all(prefixes: &[usize], precisions: &[Precision]) -> Vec<Version> {
        let mut prefixes = prefixes.to_vec();
        prefixes.sort_unstable();
        prefixes.dedup();
        let known = [Precision::Float, Precision::Int8, Precision::Binary].into_iter();
        let precisions = known.filter(|own| *own == Precision::Float || precisions.contains(own));
        let columns = || prefixes.iter().map(|d| Some(*d)).chain([None]);
        let each = precisions.flat_map(|precision| columns().map(move |columns| Version { columns, precision }));
        each.filter(|own| *own != Version::FULL).collect()
    }

    /// Whether embeddings of so many columns have this version: a prefix is shorter than all of them.
    pub fn exists_of(&self, columns: usize) -> bool {
        self.columns.is_none_or(|kept| kept < columns)
    }

    /// This version of the embeddings of a study, and of what belongs to them.
    pub fn of_study(&self, study: &Study) -> Result<Study> {
        let maker = VersionMaker::new(*self, &study.embeddings)?;
        let of = |view: &Arc<Space>| maker.of(view).map(Arc::new);
        let view = study.view.as_ref().map(of).transpose()?;
        let reference = study.reference.as_ref().map(|own| {
            Ok::<_, Error>(Arc::new(Reference {
                embeddings: maker.of(&own.embeddings)?,
                groups: own.groups.clone(),
            }))
        });
        Ok(Study {
            embeddings: maker.of(&study.embeddings)?,
            reference: reference.transpose()?,
            view,
            more_views: study.more_views.iter().map(of).collect::<Result<_>>()?,
            noise: None,
            ..study.clone()
        })
    }
}

impl Version {
    /// This version of the spaces of a retrieval; each space has its own ranges at 8 bits, as a stored index has.
    pub fn of_retrieval(&self, retrieval: &Retrieval) -> Result<Retrieval> {
        let of = |space: &Arc<Space>| Ok(Arc::new(VersionMaker::new(*self, space)?.of(space)?));
        Ok(Retrieval {
            spaces: retrieval.spaces.iter().map(of).collect::<Result<_>>()?,
            ..retrieval.clone()
        })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.columns, self.precision) {
            (None, precision) => f.write_str(precision.name()),
            (Some(columns), Precision::Float) => write!(f, "[:{columns}]"),
            (Some(columns), precision) => write!(f, "[:{columns}] {}", precision.name()),
        }
    }
}

/// Makes a version of rows, by what embeddings show of their lengths and ranges.
pub struct VersionMaker {
    version: Version,
    columns: usize,
    has_unit_length: bool,
    /// The smallest and the largest number of each column that is kept, at 8 bits.
    ranges: Vec<[f64; 2]>,
}

impl VersionMaker {
    /// By these embeddings.
    pub fn new(version: Version, embeddings: &Space) -> Result<Self> {
        let (name, all) = (embeddings.name(), embeddings.columns());
        if embeddings.elsewhere().is_some() {
            return Err(Error::Input(format!(
                "the rows of `{name}` are in shards that only workers read, and prefixes and quantized embeddings are made of rows in memory; \
                 store them as shards of their own"
            )));
        }
        let columns = version.columns.unwrap_or(all);
        refuse_if(columns == 0 || columns > all, || {
            format!("a prefix of {columns} columns of `{name}`, which has {all}; keep at least 1 and fewer than all")
        })?;
        let mut row = vec![0.0; all];
        let mut lengths = (0..embeddings.rows()).map(|i| {
            embeddings.read_row(i, &mut row);
            length(&row)
        });
        let mut maker = VersionMaker {
            version,
            columns,
            has_unit_length: lengths.all(|length| (length - 1.0).abs() <= UNIT),
            ranges: Vec::new(),
        };
        if version.precision == Precision::Int8 {
            let mut ranges = vec![[f64::INFINITY, f64::NEG_INFINITY]; columns];
            for i in 0..embeddings.rows() {
                embeddings.read_row(i, &mut row);
                maker.shorten(&mut row);
                for ([low, high], x) in ranges.iter_mut().zip(&row) {
                    (*low, *high) = (low.min(*x), high.max(*x));
                }
            }
            maker.ranges = ranges;
        }
        Ok(maker)
    }

    /// The kept columns of a row, at unit length where the whole rows have it.
    fn shorten(&self, row: &mut [f64]) {
        let kept = &mut row[..self.columns];
        let own = length(kept);
        if self.version.columns.is_some() && self.has_unit_length && own > 0.0 {
            kept.iter_mut().for_each(|x| *x /= own);
        }
    }

    /// A number as it is read back.
    fn stored(&self, x: f64, column: usize) -> f64 {
        match self.version.precision {
            Precision::Float => x,
            Precision::Binary => {
                if x > 0.0 {
                    1.0
                } else {
                    -1.0
                }
            }
            Precision::Int8 => {
                let [low, high] = self.ranges[column];
                let step = (high - low) / STEPS;
                if step > 0.0 {
                    low + step * ((x - low) / step).round().clamp(0.0, STEPS)
                } else {
                    low
                }
            }
        }
    }

    /// The version of rows of as many columns.
    pub fn of(&self, space: &Space) -> Result<Space> {
        let (rows, d) = (space.rows(), self.columns);
        let mut row = vec![0.0; space.columns()];
        let mut each = |mut put: Box<dyn FnMut(f64) + '_>| {
            for i in 0..rows {
                space.read_row(i, &mut row);
                self.shorten(&mut row);
                row[..d].iter().enumerate().for_each(|(j, x)| put(self.stored(*x, j)));
            }
        };
        let is_single = matches!(space.slice(), Slice::F32(_)) || self.version.precision == Precision::Binary;
        let values: Values = if is_single {
            let mut values: Vec<f32> = Vec::with_capacity(rows * d);
            each(Box::new(|x| values.push(x as f32)));
            values.into()
        } else {
            let mut values: Vec<f64> = Vec::with_capacity(rows * d);
            each(Box::new(|x| values.push(x)));
            values.into()
        };
        Space::new(space.name(), rows, d, values)
    }
}

fn length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}
