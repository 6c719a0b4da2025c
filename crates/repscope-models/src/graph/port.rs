// SPDX-License-Identifier: MIT
//! Inputs and outputs of a graph.

use std::fmt;

/// One size of an input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dim {
    /// This many.
    Fixed(usize),
    /// As many as the data have, under a name that says what is counted; empty where the file gives none.
    Named(String),
}

impl Dim {
    /// A size that the data decide.
    pub fn named(name: &str) -> Dim {
        Dim::Named(name.to_string())
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Fixed(size) => write!(f, "{size}"),
            Dim::Named(name) if name.is_empty() => f.write_str("?"),
            Dim::Named(name) => f.write_str(name),
        }
    }
}

/// The type of the numbers of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// 32-bit floating point.
    Float,
    /// 64-bit integers.
    Int64,
    /// Another type, by its ONNX number.
    Other(u64),
}

impl Element {
    pub(super) fn from_code(code: u64) -> Element {
        match code {
            1 => Element::Float,
            7 => Element::Int64,
            other => Element::Other(other),
        }
    }

    pub(super) fn code(self) -> u64 {
        match self {
            Element::Float => 1,
            Element::Int64 => 7,
            Element::Other(code) => code,
        }
    }
}

/// The types of ONNX, by their numbers from 1 on.
const TYPES: &str = "float32 uint8 int8 uint16 int16 int32 int64 string bool float16 float64 uint32 uint64 complex64 complex128 \
                     bfloat16";

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = usize::try_from(self.code()).ok().and_then(|code| code.checked_sub(1));
        match place.and_then(|place| TYPES.split_whitespace().nth(place)) {
            Some(name) => f.write_str(name),
            None => write!(f, "ONNX type {}", self.code()),
        }
    }
}

/// An input or output of a graph as its file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInfo {
    /// Its name.
    pub name: String,
    /// The type of its numbers; none where the file does not say or it is no tensor.
    pub element: Option<Element>,
    /// Its sizes; none where the file does not say.
    pub dims: Option<Vec<Dim>>,
}

impl fmt::Display for PortInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(element) = self.element {
            write!(f, " {element}")?;
        }
        match &self.dims {
            Some(dims) => {
                let dims: Vec<String> = dims.iter().map(Dim::to_string).collect();
                write!(f, " [{}]", dims.join(", "))
            }
            None => f.write_str(" of any shape"),
        }
    }
}
