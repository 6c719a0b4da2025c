// SPDX-License-Identifier: MIT
use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;

type Memory = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// The configuration and the weights of a case of `golden/text.py`.
fn case(name: &str) -> (Config, Memory) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../golden/text")
        .join(name);
    let json = std::fs::read(folder.join("config.json")).unwrap();
    let config = Config::read(&serde_json::from_slice(&json).unwrap()).unwrap().unwrap();
    let file = repscope_io::Weights::open(&folder.join("model.safetensors"), None).unwrap();
    let read = |name: &str| (file.shape(name).unwrap().to_vec(), file.values(name).unwrap());
    let weights = file
        .names()
        .map(|name| (format!("{}{name}", file.prefix()), read(name)))
        .collect();
    (config, weights)
}

fn refusal(config: &Config, weights: &Memory) -> String {
    match write(config, weights) {
        Ok(graph) => panic!("{} was written", graph.title),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_weight_of_the_network_has_a_place() {
    let strangers = [
        ("bert", "encoder.layer.1.attention.self.distance_embedding.weight"),
        ("distilbert", "transformer.layer.0.attention.gate.weight"),
        ("mpnet", "encoder.layer.0.adapter.weight"),
        (
            "t5",
            "encoder.block.1.layer.0.SelfAttention.relative_attention_bias.weight",
        ),
    ];
    for (name, stranger) in strangers {
        let (config, mut weights) = case(name);
        assert!(write(&config, &weights).unwrap().ignored.is_empty(), "{name}");
        weights.insert(stranger.to_string(), (vec![2], vec![0.5; 2]));
        let said = refusal(&config, &weights);
        assert!(
            said.contains(&format!("`{stranger}` (2) has no place in a {}", config.family)),
            "{said}"
        );
    }
}

#[test]
fn towers_for_images_are_beside_the_network() {
    let (config, weights) = case("clip");
    let ignored = write(&config, &weights).unwrap().ignored;
    assert!(
        ignored.iter().any(|name| name.starts_with("vision_model.")),
        "{ignored:?}"
    );
    assert!(
        !ignored.iter().any(|name| name.starts_with("text_model.")),
        "{ignored:?}"
    );
}

#[test]
fn two_networks_of_one_kind_are_named() {
    let (config, mut weights) = case("bert");
    let copy: Memory = weights
        .iter()
        .map(|(name, weight)| (format!("teacher.{name}"), weight.clone()))
        .collect();
    weights.extend(copy);
    let said = refusal(&config, &weights);
    assert!(said.contains("under `` and `teacher.`"), "{said}");
}

#[test]
fn a_missing_weight_is_named_for_every_family() {
    for name in ["bert", "distilbert", "mpnet", "clip", "clip_text", "t5", "t5_gated"] {
        let (config, weights) = case(name);
        for missing in weights.keys() {
            let mut fewer = weights.clone();
            fewer.remove(missing);
            match write(&config, &fewer) {
                // Poolers and towers are beside the network.
                Ok(_) => assert!(!is_needed(missing), "{name} was written without {missing}"),
                Err(error) => {
                    let said = error.to_string();
                    assert!(
                        said.contains("is missing") || said.contains("config.json says"),
                        "{missing}: {said}"
                    );
                }
            }
        }
    }
}

/// Whether the network cannot be without this weight.
fn is_needed(name: &str) -> bool {
    let beside = [
        "pooler.",
        "vision_model.",
        "visual_projection",
        "text_projection",
        "logit_scale",
    ];
    !beside.iter().any(|part| name.contains(part))
}
