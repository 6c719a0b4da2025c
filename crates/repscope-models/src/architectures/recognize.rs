// SPDX-License-Identifier: MIT
//! Which network some weights are those of, by their names.

use std::collections::{BTreeMap, BTreeSet};

use repscope_io::names::cut;

use super::{Architecture, Kind};
use crate::error::{Result, bail};

/// Names that a network has; the first is looked for behind any prefix. The two-head network contains a ResNet and
/// comes first.
const SIGNATURES: [(Kind, &str); 5] = [
    (
        Kind::TwoHead,
        "task_specific_extractor.mod_branch.0.weight model.conv1.weight",
    ),
    (
        Kind::ConvEncoder,
        "conv_layers.0.weight layer_norms.0.weight final_norm.weight fc.weight",
    ),
    (
        Kind::Vit,
        "patch_embed.proj.weight blocks.0.attn.qkv.weight pos_embed cls_token",
    ),
    (
        Kind::EfficientNetLite,
        "_conv_stem.weight _bn0.running_mean _blocks.0._depthwise_conv.weight _conv_head.weight",
    ),
    (
        Kind::ResNet,
        "conv1.weight bn1.running_mean layer1.0.conv1.weight layer4.0.conv1.weight",
    ),
];

/// Finds out which network the weights belong to. Other weights may be there too; a momentum copy (`encoder_k`) is
/// passed over.
pub fn recognize(weights: &dyn WeightSource) -> Result<Architecture> {
    let names: BTreeSet<String> = weights.names().into_iter().collect();
    for (kind, signature) in SIGNATURES {
        if let Some(prefix) = only_prefix(&names, kind, signature)? {
            return Ok(Architecture { kind, prefix });
        }
    }
    let known: Vec<String> = SIGNATURES.iter().map(|(kind, _)| kind.to_string()).collect();
    bail!(
        "the weights are not those of a network that is known by its weights alone ({}); export the network to ONNX \
         and give that file. There are {} weights: {}",
        known.join(", "),
        names.len(),
        listed(weights, "")
    )
}

/// Finds a network of this kind among the weights, whatever else they may be.
pub fn recognize_as(weights: &dyn WeightSource, kind: Kind) -> Result<Architecture> {
    let names: BTreeSet<String> = weights.names().into_iter().collect();
    let signatures = || SIGNATURES.into_iter().filter(|(known, _)| *known == kind);
    for (_, signature) in signatures() {
        if let Some(prefix) = only_prefix(&names, kind, signature)? {
            return Ok(Architecture { kind, prefix });
        }
    }
    // Behind the prefix that has most of them, so that a weight that is there under another prefix is not called
    // missing.
    let missing = |prefix: &str, signature: &str| -> Vec<String> {
        let full = signature.split(' ').map(|name| format!("{prefix}{name}"));
        full.filter(|name| !names.contains(name)).collect()
    };
    let behind_prefixes = signatures().flat_map(|(_, signature)| {
        let prefixes: BTreeSet<&str> = names
            .iter()
            .flat_map(|name| signature.split(' ').filter_map(|known| name.strip_suffix(known)))
            .filter(|prefix| is_prefix(prefix))
            .chain([""])
            .collect();
        prefixes
            .into_iter()
            .map(|prefix| missing(prefix, signature))
            .collect::<Vec<_>>()
    });
    let fewest = behind_prefixes.min_by_key(Vec::len).unwrap_or_default();
    let first = fewest.first().cloned().unwrap_or_default();
    let fewest: Vec<String> = fewest.iter().map(|name| format!("`{name}`")).collect();
    bail!(
        "the weights are not those of a {kind}: {} missing. There are {} weights: {}",
        match &fewest[..] {
            [one] => format!("{one} is"),
            many => format!("{} are", many.join(", ")),
        },
        names.len(),
        listed(weights, &first)
    )
}

/// The prefix of the one network with this signature; none if there is no such network.
fn only_prefix(names: &BTreeSet<String>, kind: Kind, signature: &str) -> Result<Option<String>> {
    let first = signature.split(' ').next().unwrap_or_default();
    let mut prefixes: Vec<&str> = names
        .iter()
        .filter_map(|name| name.strip_suffix(first))
        .filter(|prefix| is_prefix(prefix))
        .filter(|prefix| {
            signature
                .split(' ')
                .all(|name| names.contains(&format!("{prefix}{name}")))
        })
        .collect();
    if prefixes.len() > 1 {
        prefixes.retain(|prefix| !prefix.ends_with("encoder_k."));
    }
    match prefixes[..] {
        [] => Ok(None),
        [prefix] => Ok(Some(prefix.to_string())),
        [first, ..] => {
            let all: Vec<String> = prefixes.iter().map(|prefix| format!("`{prefix}`")).collect();
            bail!(
                "the weights hold {} networks of the kind {kind}, under {}; choose one, as in file.pth#{}",
                all.len(),
                all.join(", "),
                first.trim_end_matches('.')
            )
        }
    }
}

fn is_prefix(text: &str) -> bool {
    text.is_empty() || text.ends_with('.')
}

/// Named weights with shapes, whose values are read on demand.
pub trait WeightSource {
    /// All names.
    fn names(&self) -> Vec<String>;
    /// The sizes of a weight; none where there is no such weight.
    fn shape(&self, name: &str) -> Option<Vec<usize>>;
    /// The values in C order.
    fn values(&self, name: &str) -> Result<Vec<f32>>;
}

impl WeightSource for repscope_io::Weights {
    fn names(&self) -> Vec<String> {
        repscope_io::Weights::names(self).map(str::to_string).collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        repscope_io::Weights::shape(self, name).ok().map(<[usize]>::to_vec)
    }

    fn values(&self, name: &str) -> Result<Vec<f32>> {
        Ok(repscope_io::Weights::values(self, name)?)
    }
}

/// Weights in memory: shape and values by name.
impl WeightSource for BTreeMap<String, (Vec<usize>, Vec<f32>)> {
    fn names(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.get(name).map(|(shape, _)| shape.clone())
    }

    fn values(&self, name: &str) -> Result<Vec<f32>> {
        match self.get(name) {
            Some((_, values)) => Ok(values.clone()),
            None => bail!("there is no weight `{name}`"),
        }
    }
}

/// How many names a message lists.
const LISTED: usize = 16;

/// The names with shapes, those that begin like `wanted` first.
pub(super) fn listed(weights: &dyn WeightSource, wanted: &str) -> String {
    let common = |name: &str| name.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count();
    let mut names = weights.names();
    names.sort_by_key(|name| std::cmp::Reverse(common(name)));
    let described = |name: &String| format!("`{name}` {}", shape_text(&weights.shape(name).unwrap_or_default()));
    cut(names.iter().map(described), LISTED)
}

/// `64×3×7×7`.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    match shape {
        [] => "(one number)".to_string(),
        _ => shape.iter().map(usize::to_string).collect::<Vec<String>>().join("×"),
    }
}
