// SPDX-License-Identifier: MIT
//! An installed ONNX Runtime in place of the built-in one, where that cannot run a graph. Where models of files run in a process of their
//! own, this one does, too.

use std::path::Path;

#[cfg(feature = "onnxruntime")]
use super::{ModelBytes, Provider, onnx_runtime};
use super::{Port, Session, Value, child};
use crate::error::{Error, Result};

/// Loads a file into ONNX Runtime, as the built-in runtime said why it cannot.
pub(crate) fn load(path: &Path, library: &Path, why: String, threads: usize) -> Result<Box<dyn Session>> {
    let session: Result<Box<dyn Session>> = match child::isolation() {
        Some(isolation) => child::ChildSession::load(path.to_path_buf(), Some(library), threads, isolation)
            .map(|session| Box::new(session) as Box<dyn Session>),
        None => here(path, library, threads),
    };
    match session {
        Ok(session) => {
            let why = why.split("; the runtime onnxruntime").next().unwrap_or_default();
            let note = format!("run by {}: {why}", session.engine());
            Ok(Box::new(Instead { session, note }))
        }
        Err(error) => Err(Error::Unsupported(format!("{why}; that was tried: {error}"))),
    }
}

#[cfg(feature = "onnxruntime")]
pub(super) fn here(path: &Path, library: &Path, threads: usize) -> Result<Box<dyn Session>> {
    let model = ModelBytes::File(path.to_path_buf());
    let session = onnx_runtime::OnnxSession::load(&model, library, Provider::Cpu, threads)?;
    Ok(Box::new(session))
}

#[cfg(not(feature = "onnxruntime"))]
pub(super) fn here(_path: &Path, _library: &Path, _threads: usize) -> Result<Box<dyn Session>> {
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
