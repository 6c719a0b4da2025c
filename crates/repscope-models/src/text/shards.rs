// SPDX-License-Identifier: MIT
//! The weights of a model, in one file or in several.

use std::collections::BTreeMap;
use std::path::PathBuf;

use repscope_io::Weights;

use crate::architectures::WeightSource;
use crate::error::{Result, bail};

/// Weights by the names that the files have.
pub(super) struct Shards {
    files: Vec<Weights>,
    /// Which file has it, and what it is called there.
    places: BTreeMap<String, (usize, String)>,
}

impl Shards {
    pub(super) fn open(paths: &[PathBuf]) -> Result<Shards> {
        let mut shards = Shards {
            files: Vec::new(),
            places: BTreeMap::new(),
        };
        for (at, path) in paths.iter().enumerate() {
            let file = Weights::open(path, None)?;
            for name in file.names() {
                // A file may hold one part of the network only, so what all its names share is no prefix to be left
                // out.
                let full = format!("{}{name}", file.prefix());
                shards.places.insert(current(&full), (at, name.to_string()));
            }
            shards.files.push(file);
        }
        Ok(shards)
    }
}

/// Normalization had other names in old files.
fn current(name: &str) -> String {
    for (old, new) in [
        ("LayerNorm.gamma", "LayerNorm.weight"),
        ("LayerNorm.beta", "LayerNorm.bias"),
    ] {
        if let Some(before) = name.strip_suffix(old) {
            return format!("{before}{new}");
        }
    }
    name.to_string()
}

impl WeightSource for Shards {
    fn names(&self) -> Vec<String> {
        self.places.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let (file, name) = self.places.get(name)?;
        self.files[*file].shape(name).ok().map(<[usize]>::to_vec)
    }

    fn values(&self, name: &str) -> Result<Vec<f32>> {
        match self.places.get(name) {
            Some((file, name)) => Ok(self.files[*file].values(name)?),
            None => bail!("there is no weight `{name}`"),
        }
    }
}
