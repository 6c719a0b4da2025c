// SPDX-License-Identifier: MIT
//! An installed ONNX Runtime in place of the built-in one, where that cannot run a graph or takes longer. Where models of files run in a
//! process of their own, this one does, too.

use std::path::Path;

use super::{ModelBytes, Port, Session, Value, child, read};
#[cfg(feature = "onnxruntime")]
use super::{Provider, onnx_runtime};
use crate::error::{Error, Result};
use crate::graph::describe;

/// Loads a graph with convolutions into ONNX Runtime; none where nothing is convolved, or where that cannot load it. A fifth of the time of the
/// built-in runtime goes into copying patches of pictures into matrices, which ONNX Runtime does without.
pub(super) fn for_speed(model: &ModelBytes, library: &Path, threads: usize) -> Option<Box<dyn Session>> {
    let has_convolutions = |bytes: &[u8]| describe(bytes).is_ok_and(|info| info.has_convolutions);
    let convolves = match model {
        ModelBytes::File(path) => has_convolutions(&read(path).ok()?),
        ModelBytes::Memory(bytes) => has_convolutions(bytes),
    };
    let session = convolves.then(|| session(model, library, threads))?.ok()?;
    let note = "run by ONNX Runtime, which computes convolutions in less time".to_string();
    Some(Box::new(Instead { session, note }))
}

fn session(model: &ModelBytes, library: &Path, threads: usize) -> Result<Box<dyn Session>> {
    match (model, child::isolation()) {
        (ModelBytes::File(path), Some(isolation)) => Ok(Box::new(child::ChildSession::load(
            path.clone(),
            Some(library),
            threads,
            isolation,
        )?)),
        _ => here(model, library, threads),
    }
}

/// Loads a file into ONNX Runtime, as the built-in runtime said why it cannot.
pub(crate) fn load(path: &Path, library: &Path, why: String, threads: usize) -> Result<Box<dyn Session>> {
    match session(&ModelBytes::File(path.to_path_buf()), library, threads) {
        Ok(session) => {
            let why = why.split("; the runtime onnxruntime").next().unwrap_or_default();
            let note = format!("run by {}: {why}", session.engine());
            Ok(Box::new(Instead { session, note }))
        }
        Err(error) => Err(Error::Unsupported(format!("{why}; that was tried: {error}"))),
    }
}

#[cfg(feature = "onnxruntime")]
pub(super) fn here(model: &ModelBytes, library: &Path, threads: usize) -> Result<Box<dyn Session>> {
    let session = onnx_runtime::OnnxSession::load(model, library, Provider::Cpu, threads)?;
    Ok(Box::new(session))
}

#[cfg(not(feature = "onnxruntime"))]
pub(super) fn here(_model: &ModelBytes, _library: &Path, _threads: usize) -> Result<Box<dyn Session>> {
    crate::error::bail!("this program was built without ONNX Runtime; build it with the feature `onnxruntime`")
}

struct Instead {
    session: Box<dyn Session>,
    note: String,
}

impl Session for Instead {
    fn inputs(&self) -> &[Port] {
        self.session.inputs()
    }

    fn outputs(&self) -> &[Port] {
        self.session.outputs()
    }

    fn engine(&self) -> String {
        self.session.engine()
    }

    fn note(&self) -> Option<&str> {
        Some(&self.note)
    }

    fn run(&mut self, inputs: Vec<(String, Value)>, outputs: &[String]) -> Result<Vec<Value>> {
        self.session.run(inputs, outputs)
    }
}
