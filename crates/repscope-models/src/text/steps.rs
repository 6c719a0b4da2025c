// SPDX-License-Identifier: MIT
//! What is done to the vector of a text after the model.

use super::pooling::normalize;
use crate::architectures::text::Head;
use crate::error::{Result, bail};
use crate::runtime::{Data, ModelBytes, Runtime, Session, Value, load};

/// One step.
pub(super) enum Step {
    /// To length one.
    Normalize,
    /// Linear layers, or a query over tokens.
    Head(Projection),
}

/// A small graph with one input and one output.
pub(super) struct Projection {
    session: Box<dyn Session>,
    /// The width it takes.
    width: usize,
}

impl Projection {
    pub(super) fn load(head: Head, runtime: &Runtime, threads: usize) -> Result<Projection> {
        Ok(Projection {
            session: load(ModelBytes::Memory(head.onnx), runtime, threads)?,
            width: head.width,
        })
    }

    /// Feeds [rows, width], or [rows, tokens, width]. Gives a vector for each row.
    pub(super) fn run(&mut self, value: Value) -> Result<(Vec<f32>, usize)> {
        let found = value.shape.last().copied().unwrap_or(0);
        if found != self.width {
            bail!(
                "the model gives vectors of {found} numbers, but the projection takes {}; it was trained with another model",
                self.width
            );
        }
        let rows = value.shape.first().copied().unwrap_or(0);
        let out = self
            .session
            .run(vec![("input".to_string(), value)], &["embedding".to_string()])?;
        match out.into_iter().next() {
            Some(Value {
                shape,
                data: Data::F32(values),
            }) if shape.len() == 2 && shape[0] == rows => Ok((values, shape[1])),
            _ => bail!("the projection gave no vectors"),
        }
    }
}

impl Step {
    /// Takes and gives vectors of so many rows, which are at least two.
    pub(super) fn run(&mut self, mut vectors: Vec<f32>, width: usize) -> Result<(Vec<f32>, usize)> {
        match self {
            Step::Normalize => {
                normalize(&mut vectors, width);
                Ok((vectors, width))
            }
            Step::Head(projection) => projection.run(Value {
                shape: vec![vectors.len() / width, width],
                data: Data::F32(vectors),
            }),
        }
    }
}
