// SPDX-License-Identifier: MIT
//! The library of ONNX Runtime, loaded once per process.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::LoadDynamicError;
use ort::environment::Environment;

use crate::error::{Error, Result, bail, wrong};
use repscope_io::catch_panic;

static LOADED: Mutex<Option<(PathBuf, Environment)>> = Mutex::new(None);

/// The environment of the library at `path`. A process can hold one library: a second path is an error.
pub(super) fn environment(path: &Path) -> Result<Environment> {
    // The whole path: the loader would look for a relative one beside the program.
    let whole = std::fs::canonicalize(path)
        .map_err(|e| wrong!("cannot read the library of ONNX Runtime {}: {e}", path.display()))?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((before, environment)) = loaded.as_ref() {
        if *before == whole {
            return Ok(environment.clone());
        }
        let (before, whole) = (before.display(), whole.display());
        bail!(
            "ONNX Runtime was loaded from {before} and cannot be loaded from {whole} too; give one library for all models"
        );
    }
    let environment = catch_panic(|| open(&whole))
        .unwrap_or_else(|| bail!("{} is not a library of ONNX Runtime that can be used", whole.display()))?;
    *loaded = Some((whole, environment.clone()));
    Ok(environment)
}

fn open(path: &Path) -> Result<Environment> {
    let builder = ort::init_from(path).map_err(|error| {
        let shown = path.display();
        Error::Model(match error {
            LoadDynamicError::Dlopen { error, .. } => {
                // The reason is in the source: `dlopen failed` alone does not help.
                let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                format!(
                    "{shown} cannot be loaded as a library ({reason}); give the library of an ONNX Runtime for this machine"
                )
            }
            LoadDynamicError::MissingApi { .. } => format!("{shown} is a library, but not that of ONNX Runtime"),
            LoadDynamicError::BadVersion { version_str, .. } => format!(
                "{shown} is ONNX Runtime {version_str}, but 1.{} or newer is needed; `pip install --upgrade onnxruntime` gets it",
                ort::MINOR_VERSION
            ),
            LoadDynamicError::InvalidVersionString => format!("{shown} does not say which version of ONNX Runtime it is"),
        })
    })?;
    let built = builder.with_name("repscope").with_telemetry(false).build();
    let environment = built.map_err(|e| wrong!("ONNX Runtime in {} does not start: {e}", path.display()))?;
    // Its warnings speak to those who build models, not to those who measure them; errors come back to us.
    environment.set_log_level(ort::logging::LogLevel::Fatal);
    Ok(environment)
}
