// SPDX-License-Identifier: MIT
//! The projection of texts that a training program kept in its checkpoint.
//!
//! Known are `text_projection.proj` (a linear layer) and `text_projection.mlp` (linear layers with GELU between them),
//! on vectors of length one; and an `aligner` whose learned query attends to all tokens of a text. An aligner has a
//! side x with a linear layer before it, for signals, and a side y without, which takes the vectors of a text model as
//! they are: that is the side of texts. Dropout does nothing here, and nothing is ever filled in.

use std::collections::BTreeMap;
use std::path::Path;

use repscope_io::names::cut;
use repscope_io::{ArrayInfo, Weights, list_arrays};

use crate::architectures::text::{Head, write_aligner, write_layers};
use crate::architectures::{Activation, shape_text};
use crate::error::{Result, bail};

/// How many names a message lists.
const LISTED: usize = 16;
/// How much of a name from a file a message shows.
const LONGEST_NAME: usize = 100;

/// A projection that was found.
pub(super) enum Projector {
    /// Takes the vector of a text.
    Layers(Head),
    /// Takes the vectors of all its tokens.
    Aligner(Head),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Linear,
    Perceptron,
    Aligner,
}

/// What each kind has, and below what.
const SIGNS: [(Kind, &str, &[&str]); 3] = [
    (
        Kind::Linear,
        "proj.weight",
        &["text_projection.", "text_projection_state_dict."],
    ),
    (
        Kind::Perceptron,
        "mlp.0.weight",
        &["text_projection.", "text_projection_state_dict."],
    ),
    (Kind::Aligner, "q_y", &["aligner."]),
];

/// Reads the projection of a checkpoint; `key` says in which part of it to look.
pub(super) fn read(path: &Path, key: Option<&str>, heads: usize) -> Result<Projector> {
    let infos = list_arrays(path)?;
    let (kind, part) = find(path, key, &infos)?;
    let weights = Weights::open(path, Some(part.trim_end_matches('.')).filter(|part| !part.is_empty()))?;
    let projector = match kind {
        Kind::Linear => Projector::Layers(write_layers(&weights, &["proj".to_string()], Activation::Gelu, None)?),
        Kind::Perceptron => {
            let numbers = weights.names().filter_map(|name| {
                let number = name.strip_prefix("mlp.")?.strip_suffix(".weight")?;
                number.parse::<usize>().ok()
            });
            let mut numbers: Vec<usize> = numbers.collect();
            numbers.sort_unstable();
            let names: Vec<String> = numbers.iter().map(|number| format!("mlp.{number}")).collect();
            Projector::Layers(write_layers(&weights, &names, Activation::Gelu, None)?)
        }
        Kind::Aligner => Projector::Aligner(write_aligner(&renamed(&weights)?, heads)?),
    };
    Ok(projector)
}

/// The kind of projection, and the prefix of its names.
fn find(path: &Path, key: Option<&str>, infos: &[ArrayInfo]) -> Result<(Kind, String)> {
    let key = key.map(|key| format!("{}.", key.trim_end_matches('.')));
    let names: Vec<&str> = infos
        .iter()
        .filter_map(|info| info.key.as_deref())
        .filter(|name| key.as_ref().is_none_or(|key| name.starts_with(key)))
        .collect();
    let mut found: Vec<(Kind, String)> = Vec::new();
    for (kind, sign, parents) in SIGNS {
        for parent in names.iter().filter_map(|name| name.strip_suffix(sign)) {
            // A file of the projection alone has nothing before its names.
            let is_alone = parent.is_empty() && names.iter().all(|name| name.starts_with(&sign[..3]));
            let is_below = parents.iter().any(|known| parent.ends_with(known)) || key.as_deref() == Some(parent);
            if is_alone || is_below {
                found.push((kind, parent.to_string()));
            }
        }
    }
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => bail!(
            "{} holds no projection of texts{}: neither text_projection.proj, text_projection.mlp nor aligner.q_y. It holds \
             {}. Give another checkpoint, or set `no_projection` for embeddings of the model alone",
            path.display(),
            key.map_or_else(String::new, |key| format!(" under `{}`", key.trim_end_matches('.'))),
            listed(infos)
        ),
        [(_, first), ..] => {
            let parts: Vec<String> = found
                .iter()
                .map(|(_, part)| format!("`{}`", part.trim_end_matches('.')))
                .collect();
            bail!(
                "{} holds several projections, under {}; choose one, as in #{}",
                path.display(),
                parts.join(", "),
                first.trim_end_matches('.')
            )
        }
    }
}

fn listed(infos: &[ArrayInfo]) -> String {
    let described = |info: &ArrayInfo| {
        let name = info.key.as_deref().unwrap_or_default();
        format!("`{name}` {}", shape_text(&info.shape))
    };
    cut(infos.iter().map(described), LISTED)
}

/// Shape and values by name.
type Named = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// The weights of the side of texts, as other layers name theirs.
fn renamed(weights: &Weights) -> Result<Named> {
    let names = [
        ("q_y", "query"),
        ("cross_attn_y.in_proj_weight", "in_proj.weight"),
        ("cross_attn_y.in_proj_bias", "in_proj.bias"),
        ("cross_attn_y.out_proj.weight", "out_proj.weight"),
        ("cross_attn_y.out_proj.bias", "out_proj.bias"),
    ];
    // PyTorch leaves away both biases or none.
    let is_bias = |ours: &str| ours.ends_with("bias");
    let has_bias = names
        .iter()
        .any(|(theirs, ours)| is_bias(ours) && weights.contains(theirs));
    let mut found = BTreeMap::new();
    for (theirs, ours) in names {
        if is_bias(ours) && !has_bias {
            continue;
        }
        let entry = (weights.shape(theirs)?.to_vec(), weights.values(theirs)?);
        found.insert(ours.to_string(), entry);
    }
    Ok(found)
}

/// The text encoder that a checkpoint says it was trained with, such as `thenlper/gte-base`; none where it says nothing.
pub fn trained_with(path: &Path) -> Result<Option<String>> {
    let name = repscope_io::read_plain_text(path, &["text_encoder_metadata", "model_name"])?;
    Ok(name.map(|name| name.trim().to_string()).filter(|name| !name.is_empty()))
}

/// A remark where the checkpoint was trained with another text encoder than the folder that was given, by their names.
pub(super) fn other_model(path: &Path, folder: &Path) -> Option<String> {
    let said = trained_with(path).ok()??;
    // A cache has the name of the model two folders above its files.
    let given = std::fs::canonicalize(folder).ok()?;
    let names = given.components().rev().take(3);
    let given: String = names
        .map(|name| name.as_os_str().to_string_lossy().to_lowercase() + " ")
        .collect();
    let last = said.rsplit('/').next().unwrap_or_default().to_lowercase();
    (!last.is_empty() && !given.contains(&last)).then(|| {
        let said: String = said.chars().filter(|c| !c.is_control()).take(LONGEST_NAME).collect();
        format!("the checkpoint was trained with texts of {said}, which the name of the given folder does not say")
    })
}
