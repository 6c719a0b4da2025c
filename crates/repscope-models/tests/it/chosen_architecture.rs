// SPDX-License-Identifier: MIT
//! A network that is named rather than recognized.

use crate::fixtures::{file, golden, golden_weights as weights};
use repscope_models::architectures::{Kind, recognize, recognize_as};
use repscope_models::{Encoder, Options};

fn with(kind: Kind) -> Options {
    Options {
        architecture: Some(kind),
        ..Options::default()
    }
}

#[test]
fn the_named_network_is_found_where_it_is_the_one_that_is_recognized() {
    for (case, kind) in [
        ("conv_encoder_silu", Kind::ConvEncoder),
        ("resnet_basic", Kind::ResNet),
        ("two_head", Kind::TwoHead),
        ("vit", Kind::Vit),
    ] {
        let named = recognize_as(&weights(case), kind).unwrap();
        assert_eq!(named, recognize(&weights(case)).unwrap(), "{case}");
    }
}

#[test]
fn the_network_inside_another_can_be_named() {
    let inside = recognize_as(&weights("two_head"), Kind::ResNet).unwrap();
    assert_eq!((inside.kind, inside.prefix.as_str()), (Kind::ResNet, "model."));
}

#[test]
fn weights_of_another_network_are_refused_with_what_they_miss() {
    let error = Encoder::open(
        &golden("conv_encoder_silu", "weights.safetensors"),
        None,
        with(Kind::Vit),
    )
    .err()
    .unwrap()
    .to_string();
    assert!(
        error.contains("not those of a vision transformer: `patch_embed.proj.weight`, `blocks.0.attn.qkv.weight`")
            && error.contains("`cls_token` are missing")
            && error.contains("`conv_layers.0.weight`"),
        "{error}"
    );
}

#[test]
fn a_weight_behind_a_prefix_is_not_called_missing() {
    let mut part = std::collections::BTreeMap::new();
    for name in ["conv1.weight", "bn1.running_mean", "layer1.0.conv1.weight"] {
        part.insert(format!("net.{name}"), (vec![1], vec![0.5]));
    }
    let error = recognize_as(&part, Kind::ResNet).unwrap_err().to_string();
    assert!(
        error.contains("not those of a ResNet: `net.layer4.0.conv1.weight` is missing"),
        "{error}"
    );
}

#[test]
fn a_graph_needs_no_name_of_a_network() {
    let error = Encoder::open(&file("mlp.onnx"), None, with(Kind::ResNet))
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("mlp.onnx") && error.contains("leave out"), "{error}");
}
