// SPDX-License-Identifier: MIT
//! The weights of one network out of a checkpoint: `.pth` and its kin, or `.safetensors`.
//!
//! A checkpoint may hold several networks, an optimizer and more. [`Weights::open`] finds the state dict
//! that is meant, or lists the candidates, and takes off what wrappers put before all names.

mod select;

use std::path::{Path, PathBuf};

use crate::array::{Array, ArrayInfo, Data};
use crate::choose::choose;
use crate::error::{Error, Parsed, Problem, Result, bail, problem};
use crate::format::Format;
use crate::mapped::MappedFile;
use crate::torch::{self, Checkpoint, Leaf, leaves};
use crate::{read, tensors};
use select::{Named, Selected, select};

/// Named tensors whose values are read on demand.
pub struct Weights {
    path: PathBuf,
    source: Source,
    /// What stood before all names.
    prefix: String,
    /// Names without the prefix, true shapes, types; in the order of the file.
    infos: Vec<ArrayInfo>,
    /// The tensors of the same state dict that cannot be read, with the reason.
    refused: Vec<(String, String)>,
}

enum Source {
    /// The file, and a tensor for each name.
    Torch(Box<Checkpoint>, Vec<Leaf>),
    Safetensors(MappedFile),
}

impl Weights {
    /// Opens a checkpoint. `key` says which part, as in `file.pth#key`; without it the file must hold one
    /// state dict, or one under a usual name such as `state_dict`, `model` or `encoder_state_dict`.
    pub fn open(path: &Path, key: Option<&str>) -> Result<Weights> {
        let (format, file) = read::open(path)?;
        let opened = match format {
            Format::Torch => open_torch(path, &file, key),
            Format::Safetensors => open_safetensors(path, file, key),
            other => Err(problem!(
                "is an .{} file, which holds no weights; give .pth, .pt, .ckpt, .bin or .safetensors",
                other.extension()
            )),
        };
        opened.map_err(|p| p.in_file(path.display()))
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.infos.iter().map(|info| info.key.as_deref().unwrap_or_default())
    }

    /// How many tensors there are, at least one.
    pub fn count(&self) -> usize {
        self.infos.len()
    }

    /// Whether there is a tensor of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.names().any(|n| n == name)
    }

    /// What stood before all names in the file and was taken off: `state_dict.module.`, or nothing.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The sizes of a tensor; none for a single number.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        Ok(&self.infos[self.find(name)?].shape)
    }

    /// Short name of the type in the file: `f32`, `bf16`, `i64`.
    pub fn dtype(&self, name: &str) -> Result<&str> {
        Ok(&self.infos[self.find(name)?].dtype)
    }

    /// The values in C order, as `f32` whatever the file holds.
    pub fn values(&self, name: &str) -> Result<Vec<f32>> {
        let at = self.find(name)?;
        let data = self.read(at).map_err(|p| self.error(p))?;
        let not_numbers = || self.error(problem!("holds tensor `{name}`, which is no tensor of numbers"));
        to_f32(data).ok_or_else(not_numbers)
    }

    fn read(&self, at: usize) -> Parsed<Data> {
        match &self.source {
            Source::Torch(checkpoint, leaves) => leaves[at].read(checkpoint).map(Array::into_data),
            Source::Safetensors(file) => {
                let name = self.infos[at].key.as_deref().unwrap_or_default();
                tensors::read_data(file, Some(&format!("{}{name}", self.prefix))).map(|(_, data)| data)
            }
        }
    }

    /// The position of a name, which may also be given as the file has it.
    fn find(&self, name: &str) -> Result<usize> {
        let short = name
            .strip_prefix(&self.prefix)
            .filter(|short| !self.contains(name) && self.contains(short));
        let name = short.unwrap_or(name);
        if let Some((_, reason)) = self.refused.iter().find(|(refused, _)| refused == name) {
            return Err(self.error(problem!("holds tensor `{name}`, which {reason}")));
        }
        choose(&self.infos, Some(name), "tensor").map_err(|p| self.error(p))
    }

    fn error(&self, problem: Problem) -> Error {
        problem.in_file(self.path.display())
    }
}

impl std::fmt::Debug for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Weights");
        out.field("path", &self.path).field("prefix", &self.prefix);
        out.field("tensors", &self.infos).finish_non_exhaustive()
    }
}

fn open_torch(path: &Path, file: &MappedFile, key: Option<&str>) -> Parsed<Weights> {
    let checkpoint = Checkpoint::open(file)?;
    let all = leaves(&checkpoint.pickled)?;
    if all.iter().all(|leaf| leaf.shape().is_none()) {
        return torch::nothing(&checkpoint, &all);
    }
    let is_model = matches!(
        checkpoint.pickled.get(checkpoint.pickled.root),
        crate::pickle::Value::Record(_)
    );
    let named: Vec<Named> = all
        .iter()
        .map(|leaf| Named {
            name: &leaf.name,
            // The parts of a pickled model are its weights, not choices.
            group: (leaf.depth > 1 && !is_model).then(|| &leaf.name[..leaf.first_key]),
            is_single: leaf.shape().is_some_and(<[usize]>::is_empty),
        })
        .collect();
    let Selected { prefix, mut chosen } = select(&named, key)?;
    let refused = chosen.iter().filter_map(|&at| {
        let name = all[at].name[prefix.len()..].to_string();
        Some((name, all[at].refusal()?.to_string()))
    });
    let refused: Vec<(String, String)> = refused.collect();
    chosen.retain(|&at| all[at].refusal().is_none());
    if let ([], Some((name, reason))) = (&chosen[..], refused.first()) {
        bail!("holds tensor `{name}`, which {reason}");
    }
    let mut all: Vec<Option<Leaf>> = all.into_iter().map(Some).collect();
    let kept: Vec<Leaf> = chosen.iter().filter_map(|&at| all[at].take()).collect();
    let infos = kept.iter().filter_map(|leaf| {
        Some(ArrayInfo {
            key: Some(leaf.name[prefix.len()..].to_string()),
            shape: leaf.shape()?.to_vec(),
            dtype: leaf.info()?.dtype,
        })
    });
    Ok(Weights {
        path: path.to_path_buf(),
        infos: infos.collect(),
        source: Source::Torch(Box::new(checkpoint), kept),
        prefix,
        refused,
    })
}

fn open_safetensors(path: &Path, file: MappedFile, key: Option<&str>) -> Parsed<Weights> {
    let all = tensors::list(&file)?;
    if all.is_empty() {
        bail!("holds no tensor");
    }
    let named: Vec<Named> = all
        .iter()
        .map(|info| Named {
            name: info.key.as_deref().unwrap_or_default(),
            group: None,
            is_single: info.shape.is_empty(),
        })
        .collect();
    let Selected { prefix, chosen } = select(&named, key)?;
    let infos = chosen.iter().map(|&at| ArrayInfo {
        key: all[at].key.as_ref().map(|key| key[prefix.len()..].to_string()),
        ..all[at].clone()
    });
    Ok(Weights {
        path: path.to_path_buf(),
        infos: infos.collect(),
        source: Source::Safetensors(file),
        prefix,
        refused: Vec::new(),
    })
}

fn to_f32(data: Data) -> Option<Vec<f32>> {
    Some(match data {
        Data::F32(v) => (*v).as_ref().to_vec(),
        Data::F64(v) => (*v).as_ref().iter().map(|&x| x as f32).collect(),
        Data::U8(v) => (*v).as_ref().iter().map(|&x| f32::from(x)).collect(),
        Data::I64(v) => v.iter().map(|&x| x as f32).collect(),
        Data::U64(v) => v.iter().map(|&x| x as f32).collect(),
        Data::Bool(v) => v.iter().map(|&x| f32::from(u8::from(x))).collect(),
        Data::Text(_) | Data::Mixed(_) => return None,
    })
}
