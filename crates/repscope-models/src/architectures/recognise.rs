// SPDX-License-Identifier: MIT
//! Which network some weights are those of, by their names.

use std::collections::BTreeSet;

use super::source::{WeightSource, listed};
use super::{Architecture, Kind};
use crate::error::{Error, Result};

/// Names that a network has; the first is looked for behind any prefix. The two-head network contains a ResNet and
/// comes first.
const SIGNATURES: [(Kind, &[&str]); 4] = [
    (
        Kind::TwoHead,
        &["task_specific_extractor.mod_branch.0.weight", "model.conv1.weight"],
    ),
    (
        Kind::ConvEncoder,
        &[
            "conv_layers.0.weight",
            "layer_norms.0.weight",
            "final_norm.weight",
            "fc.weight",
        ],
    ),
    (
        Kind::Vit,
        &[
            "patch_embed.proj.weight",
            "blocks.0.attn.qkv.weight",
            "pos_embed",
            "cls_token",
        ],
    ),
    (
        Kind::ResNet,
        &[
            "conv1.weight",
            "bn1.running_mean",
            "layer1.0.conv1.weight",
            "layer4.0.conv1.weight",
        ],
    ),
];

/// Finds out which network the weights belong to. Other weights may be there too; a momentum copy (`encoder_k`) is
/// passed over.
pub fn recognise(weights: &dyn WeightSource) -> Result<Architecture> {
    let names: BTreeSet<String> = weights.names().into_iter().collect();
    for (kind, signature) in SIGNATURES {
        let mut prefixes: Vec<&str> = names
            .iter()
            .filter_map(|name| name.strip_suffix(signature[0]))
            .filter(|prefix| prefix.is_empty() || prefix.ends_with('.'))
            .filter(|prefix| signature.iter().all(|name| names.contains(&format!("{prefix}{name}"))))
            .collect();
        if prefixes.len() > 1 {
            prefixes.retain(|prefix| !prefix.ends_with("encoder_k."));
        }
        match prefixes[..] {
            [] => {}
            [prefix] => {
                let prefix = prefix.to_string();
                return Ok(Architecture { kind, prefix });
            }
            [first, ..] => {
                let all: Vec<String> = prefixes.iter().map(|prefix| format!("`{prefix}`")).collect();
                return Err(Error::Model(format!(
                    "the weights hold {} networks of the kind {kind}, under {}; choose one, as in file.pth#{}",
                    all.len(),
                    all.join(", "),
                    first.trim_end_matches('.')
                )));
            }
        }
    }
    let known: Vec<String> = SIGNATURES.iter().map(|(kind, _)| kind.to_string()).collect();
    Err(Error::Model(format!(
        "the weights are not those of a network that is known by its weights alone ({}); export the network to ONNX \
         and give that file. There are {} weights: {}",
        known.join(", "),
        names.len(),
        listed(weights, "")
    )))
}
