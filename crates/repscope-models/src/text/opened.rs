// SPDX-License-Identifier: MIT
//! The model of a folder, written from its weights or exported, ready to run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use repscope_io::Weights;

use super::folder::{Folder, Model};
use super::options::TextOptions;
use crate::architectures::text::{self, Family, TextGraph};
use crate::architectures::{Activation, WeightSource};
use crate::error::{Result, bail};
use crate::runtime::{ModelBytes, Session, load};

/// A model that is loaded, and what is known of it.
pub(super) struct Opened {
    pub(super) session: Box<dyn Session>,
    pub(super) title: String,
    pub(super) notes: Vec<String>,
    pub(super) is_graph: bool,
    pub(super) vocabulary: Option<usize>,
    pub(super) longest: Option<usize>,
    pub(super) clip_projection: Option<text::Head>,
}

pub(super) fn open_model(folder: &Folder, options: &TextOptions) -> Result<Opened> {
    let load = |model| load(model, &options.runtime, options.threads);
    match (&folder.model, &folder.config) {
        (Model::Weights(files), Some(config)) => {
            let weights = Shards::open(files)?;
            let graph = text::write(config, &weights)?;
            let clip = match config.family {
                Family::Clip => clip_projection(&weights)?,
                _ => None,
            };
            let notes = ignored(&graph, clip.is_some());
            Ok(Opened {
                session: load(ModelBytes::Memory(graph.onnx))?,
                title: graph.title,
                notes,
                is_graph: false,
                vocabulary: Some(graph.vocabulary),
                longest: graph.longest,
                clip_projection: clip,
            })
        }
        (Model::Graph(file), _) => Ok(Opened {
            session: load(ModelBytes::File(file.clone()))?,
            title: format!("text model {}", file.display()),
            notes: Vec::new(),
            is_graph: true,
            vocabulary: None,
            longest: None,
            clip_projection: None,
        }),
        (Model::Weights(_), None) => bail!("weights without a config.json"),
    }
}

/// The matrix that brings CLIP's texts to the space of its images.
fn clip_projection(weights: &Shards) -> Result<Option<text::Head>> {
    let name = weights.names().into_iter().find(|name| is_clip_projection(name));
    let Some(name) = name else { return Ok(None) };
    let layer = name.trim_end_matches(".weight").to_string();
    text::write_layers(weights, &[layer], Activation::Gelu, None).map(Some)
}

fn is_clip_projection(name: &str) -> bool {
    name == "text_projection.weight" || name.ends_with(".text_projection.weight")
}

/// The weights outside of the network, counted by the first part of their names.
fn ignored(graph: &TextGraph, has_clip_projection: bool) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &graph.ignored {
        if !(has_clip_projection && is_clip_projection(name)) {
            *counts.entry(name.split('.').next().unwrap_or_default()).or_default() += 1;
        }
    }
    if counts.is_empty() {
        return Vec::new();
    }
    let parts: Vec<String> = counts.iter().map(|(part, count)| format!("{part} ({count})")).collect();
    vec![format!(
        "weights outside the network are not used: {}",
        parts.join(", ")
    )]
}

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
