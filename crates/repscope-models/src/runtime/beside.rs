// SPDX-License-Identifier: MIT
//! Files beside a model that hold its large tensors.

use std::path::{Component, Path, PathBuf};

use crate::error::{Result, bail, wrong};
use crate::graph::describe;

/// A model file and those beside it that it needs.
pub(crate) struct ModelFile {
    /// The bytes of the model file.
    pub bytes: Vec<u8>,
    /// The names in the model, and where the files are.
    pub beside: Vec<(String, PathBuf)>,
}

impl ModelFile {
    /// Reads a model file and finds the others. A name that leads out of the folder is refused.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = read(path)?;
        let info = describe(&bytes).map_err(|e| wrong!("{} cannot be used: {e}", path.display()))?;
        let mut beside = Vec::new();
        for name in info.external_files {
            let inside = Path::new(&name)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let file = path.parent().unwrap_or(Path::new("")).join(&name);
            if !inside || !file.is_file() {
                let why = if inside {
                    "which is missing"
                } else {
                    "which is not beside it"
                };
                let path = path.display();
                bail!("{path} keeps weights in {name}, {why}; put that file beside it");
            }
            beside.push((name, file));
        }
        Ok(ModelFile { bytes, beside })
    }
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| wrong!("cannot read {}: {e}", path.display()))
}
