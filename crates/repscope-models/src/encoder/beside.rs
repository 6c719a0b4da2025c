// SPDX-License-Identifier: MIT
//! What is fed beside the rows: further arrays with as many rows, numbers, and states that begin at zero.

use std::ops::Range;

use repscope_io::Array;

use super::fit::{Fit, Normalization};
use super::input::{feed, is_beside, whole};
use super::options::Options;
use super::rows::Rows;
use crate::error::{Result, bail, wrong};
use crate::runtime::{Data, Elem, Port, Value};

/// A further input of a model.
#[derive(Debug, Clone)]
pub struct Beside {
    /// Its name in the graph.
    pub name: String,
    /// What it is fed.
    pub fed: Fed,
}

/// What a further input is fed.
#[derive(Debug, Clone)]
pub enum Fed {
    /// The same number for all rows.
    Number(f64),
    /// A row for each of the others, and the digest of all.
    Rows(Array, String),
}

impl PartialEq for Beside {
    fn eq(&self, other: &Self) -> bool {
        let fed = match (&self.fed, &other.fed) {
            (Fed::Number(a), Fed::Number(b)) => a == b,
            (Fed::Rows(_, a), Fed::Rows(_, b)) => a == b,
            _ => false,
        };
        fed && self.name == other.name
    }
}

impl Beside {
    /// What it does to embeddings, as text for a digest.
    pub(super) fn identity(&self) -> String {
        match &self.fed {
            Fed::Number(number) => format!("{} = {number:?}", self.name),
            Fed::Rows(_, digest) => format!("{} = {digest}", self.name),
        }
    }
}

/// An input and what it is fed.
#[derive(Debug, Clone)]
pub(super) struct Further {
    port: Port,
    /// None for a state, which is zero.
    fed: Option<Fed>,
}

/// What states of recurrent networks are called, in part.
const STATES: [&str; 9] = [
    "state", "hidden", "cell", "cache", "memory", "initial", "h0", "c0", "h_0",
];

/// Finds something for every input that the rows do not go to.
pub(super) fn further(input: &Port, inputs: &[Port], options: &Options) -> Result<Vec<Further>> {
    let there = || inputs.iter().map(Port::to_string).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = options
        .beside
        .iter()
        .find(|b| !inputs.iter().any(|port| port.name == b.name))
    {
        bail!("the model has no input named {}; it has {}", unknown.name, there());
    }
    let goes_with = |other: &&Port| input.elem != Elem::I64 || !is_beside(other);
    let mut further = Vec::new();
    let mut missing = Vec::new();
    for port in inputs.iter().filter(|port| port.name != input.name) {
        let name = port.name.to_lowercase();
        let is_state =
            port.dims.len() > 1 && port.dims.contains(&None) && STATES.iter().any(|word| name.contains(word));
        match options.beside.iter().find(|beside| beside.name == port.name) {
            Some(beside) => further.push(Further {
                port: port.clone(),
                fed: Some(beside.fed.clone()),
            }),
            None if !goes_with(&port) => {}
            None if is_state => further.push(Further {
                port: port.clone(),
                fed: None,
            }),
            None => missing.push(port.name.as_str()),
        }
    }
    if !missing.is_empty() {
        bail!(
            "the model has {} inputs ({}), and nothing is known to feed to {}; name a file or a number for each, as in {}=FILE.npy, or \
             export a model that takes the rows alone",
            inputs.len(),
            there(),
            missing.join(", "),
            missing[0]
        );
    }
    Ok(further)
}

impl Further {
    /// What is to be said about it.
    pub(super) fn note(&self) -> Option<String> {
        let is_zero = self.fed.is_none();
        is_zero.then(|| format!("the input {} is taken for a state and begins at zero", self.port))
    }

    /// How many rows it has, where they are counted.
    pub(super) fn rows(&self) -> Option<(&str, usize)> {
        match &self.fed {
            Some(Fed::Rows(array, _)) => Some((&self.port.name, array.rows())),
            _ => None,
        }
    }

    /// The value for some rows; `fed` of them are fed at once.
    pub(super) fn value(&self, rows: Range<usize>, fed: usize) -> Result<(String, Value)> {
        let value = match &self.fed {
            None => self.filled(0.0, fed)?,
            Some(Fed::Number(number)) => self.filled(*number, 1)?,
            Some(Fed::Rows(array, _)) => self.of_rows(array, rows, fed)?,
        };
        Ok((self.port.name.clone(), value))
    }

    /// One number everywhere; open sizes are `open`.
    fn filled(&self, number: f64, open: usize) -> Result<Value> {
        let shape: Vec<usize> = self.port.dims.iter().map(|size| size.unwrap_or(open)).collect();
        let count = shape.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
        let Some(count) = count.filter(|&count| count <= 1 << 28) else {
            bail!("the input {} is too large to be filled with one number", self.port);
        };
        Ok(match self.port.elem {
            Elem::I64 if number.fract() != 0.0 => bail!("the input {} takes integers, and {number} is none", self.port),
            Elem::I64 => Value::ints(shape, vec![number as i64; count]),
            _ => Value::floats(shape, vec![number as f32; count]),
        })
    }

    fn of_rows(&self, array: &Array, rows: Range<usize>, fed: usize) -> Result<Value> {
        let fit = Fit::find(Rows::shape(array), &self.port, None)?;
        let plain = Normalization {
            scale: None,
            mean: Vec::new(),
            std: Vec::new(),
            inner: 1,
            channels: 1,
        };
        let (first, size) = (rows.start, fit.shape.iter().product::<usize>().max(1));
        let mut stored = Vec::new();
        Rows::read(array, rows, &mut stored)?;
        let value = feed(&fit, &plain, &stored, size, fed)?;
        match (&self.port.elem, value.data) {
            (Elem::I64, Data::F32(values)) => {
                let values = whole(&values, &value.shape, &self.port, first)?;
                Ok(Value::ints(value.shape, values))
            }
            (Elem::Other(kind), _) => Err(wrong!("the input {} takes {kind}, which cannot be fed", self.port)),
            (_, data) => Ok(Value { data, ..value }),
        }
    }
}
