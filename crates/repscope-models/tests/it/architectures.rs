// SPDX-License-Identifier: MIT
//! Networks written from weights alone give what PyTorch gives (`golden/models.py`).

use std::collections::BTreeMap;

use crate::fixtures::{floats, golden, golden_weights as weights};
use repscope_io::{InputPath, read_array};
use repscope_models::architectures::{Activation, Architecture, BuildOptions, Built, Kind, build, recognize};
use repscope_models::runtime::{Data, ModelBytes, Runtime, Value, load};

type Memory = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

fn array(case: &str, name: &str) -> (Vec<usize>, Vec<f32>) {
    let array = read_array(&InputPath::file(golden(case, &format!("{name}.npy")))).unwrap();
    (array.shape().to_vec(), floats(&array))
}

fn in_memory(case: &str) -> Memory {
    let weights = weights(case);
    let read = |name: &str| (weights.shape(name).unwrap().to_vec(), weights.values(name).unwrap());
    weights.names().map(|name| (name.to_string(), read(name))).collect()
}

fn heads(heads: usize) -> BuildOptions {
    BuildOptions {
        heads: Some(heads),
        ..BuildOptions::default()
    }
}

fn run(built: &Built, shape: &[usize], rows: &[f32], output: &str) -> Value {
    let mut session = load(ModelBytes::Memory(built.onnx.clone()), &Runtime::Rten, 1).unwrap();
    let input = Value {
        shape: shape.to_vec(),
        data: Data::F32(rows.to_vec()),
    };
    session
        .run(vec![("input".to_string(), input)], &[output.to_string()])
        .unwrap()
        .remove(0)
}

fn largest(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn assert_near(what: &str, found: &Value, shape: &[usize], expected: &[f32]) {
    let Data::F32(found_values) = &found.data else {
        panic!("{what} is not f32")
    };
    assert_eq!(found.shape, shape, "{what}");
    let differences: Vec<f32> = found_values.iter().zip(expected).map(|(a, b)| a - b).collect();
    let (off, size) = (largest(&differences), largest(expected));
    assert!(off <= 1e-5 * size, "{what}: off by {off} on values up to {size}");
}

/// Builds the graph of a case and compares all its outputs with PyTorch's.
fn assert_like_torch(case: &str, kind: Kind, options: &BuildOptions, outputs: &[&str]) -> Built {
    let weights = weights(case);
    let architecture = recognize(&weights).unwrap();
    assert_eq!(architecture.kind, kind);
    let built = build(&architecture, &weights, options).unwrap();
    assert!(built.ignored.is_empty(), "{:?}", built.ignored);
    let session = load(ModelBytes::Memory(built.onnx.clone()), &Runtime::Rten, 1).unwrap();
    let names: Vec<&str> = session.outputs().iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, outputs);
    let (shape, rows) = array(case, "input");
    for name in outputs {
        let (expected_shape, expected) = array(case, name);
        let found = run(&built, &shape, &rows, name);
        assert_near(&format!("{case}, {name}"), &found, &expected_shape, &expected);
    }
    built
}

#[test]
fn a_convolutional_encoder_is_that_of_torch_with_each_activation() {
    let cases = [
        ("silu", Activation::Silu),
        ("relu", Activation::Relu),
        ("gelu", Activation::Gelu),
    ];
    for (name, activation) in cases {
        let options = BuildOptions {
            activation: Some(activation),
            ..BuildOptions::default()
        };
        assert_like_torch(
            &format!("conv_encoder_{name}"),
            Kind::ConvEncoder,
            &options,
            &["features"],
        );
    }
}

#[test]
fn a_convolutional_encoder_has_silu_where_nothing_is_said() {
    let options = BuildOptions::default();
    let built = assert_like_torch("conv_encoder_silu", Kind::ConvEncoder, &options, &["features"]);
    assert_eq!(
        built.title,
        "convolutional frame encoder: 1 × 64 × 64, 4 stages, Silu, 5 features"
    );
}

#[test]
fn a_resnet_of_basic_blocks_is_that_of_torch_on_images_that_are_not_square() {
    let built = assert_like_torch(
        "resnet_basic",
        Kind::ResNet,
        &BuildOptions::default(),
        &["features", "logits"],
    );
    assert_eq!(
        built.title,
        "ResNet of [2, 1, 2, 1] basic blocks: 3 channels, 12 features, 4 classes"
    );
}

#[test]
fn a_resnet_of_bottlenecks_without_classes_is_that_of_torch() {
    assert_like_torch(
        "resnet_bottleneck",
        Kind::ResNet,
        &BuildOptions::default(),
        &["features"],
    );
}

#[test]
fn a_resnet_with_grouped_convolutions_is_that_of_torch() {
    let built = assert_like_torch("resnet_groups", Kind::ResNet, &BuildOptions::default(), &["features"]);
    assert_eq!(
        built.title,
        "ResNet of [1, 1, 1, 1] bottlenecks, 2 groups: 3 channels, 32 features"
    );
}

#[test]
fn both_heads_and_all_features_of_a_two_head_resnet_are_those_of_torch() {
    let outputs = ["modulation", "snr", "features", "modulation_features", "snr_features"];
    assert_like_torch("two_head", Kind::TwoHead, &BuildOptions::default(), &outputs);
}

#[test]
fn a_vision_transformer_is_that_of_timm() {
    let built = assert_like_torch("vit", Kind::Vit, &heads(3), &["features"]);
    let title = "vision transformer: 3 × 24 × 24, patches of 8, depth 2, 3 heads, 12 features";
    assert_eq!(built.title, title);
}

#[test]
fn a_vision_transformer_with_layer_scale_and_classes_is_that_of_timm() {
    assert_like_torch("vit_layer_scale", Kind::Vit, &heads(3), &["features", "logits"]);
}

#[test]
fn another_number_of_heads_is_another_network() {
    let built = build(&recognize(&weights("vit")).unwrap(), &weights("vit"), &heads(2)).unwrap();
    let (shape, rows) = array("vit", "input");
    let (_, expected) = array("vit", "features");
    let Data::F32(found) = run(&built, &shape, &rows, "features").data else {
        panic!("features are not f32")
    };
    let differences: Vec<f32> = found.iter().zip(&expected).map(|(a, b)| a - b).collect();
    assert!(largest(&differences) > 1e-3 * largest(&expected));
}

#[test]
fn one_image_alone_has_the_embedding_it_has_in_a_batch() {
    for case in ["conv_encoder_silu", "resnet_basic", "vit"] {
        let options = if case == "vit" {
            heads(3)
        } else {
            BuildOptions::default()
        };
        let built = build(&recognize(&weights(case)).unwrap(), &weights(case), &options).unwrap();
        let (mut shape, rows) = array(case, "input");
        let (mut expected_shape, expected) = array(case, "features");
        (shape[0], expected_shape[0]) = (1, 1);
        let found = run(&built, &shape, &rows[rows.len() / 2..], "features");
        assert_near(case, &found, &expected_shape, &expected[expected.len() / 2..]);
    }
}

#[test]
fn a_network_is_found_behind_a_prefix_and_the_weights_beside_it_are_named() {
    let mut wrapped: Memory = in_memory("resnet_basic")
        .into_iter()
        .map(|(name, weight)| (format!("backbone.{name}"), weight))
        .collect();
    wrapped.insert("projector.0.weight".to_string(), (vec![2, 12], vec![0.5; 24]));
    let architecture = recognize(&wrapped).unwrap();
    assert_eq!(
        (architecture.kind, architecture.prefix.as_str()),
        (Kind::ResNet, "backbone.")
    );
    let built = build(&architecture, &wrapped, &BuildOptions::default()).unwrap();
    assert_eq!(built.ignored, ["projector.0.weight"]);
}

#[test]
fn of_a_momentum_pair_the_query_encoder_is_taken() {
    let both = |part: &str| {
        in_memory("resnet_basic")
            .into_iter()
            .map(move |(name, weight)| (format!("{part}{name}"), weight))
            .collect::<Memory>()
    };
    let mut pair = both("encoder_q.");
    pair.append(&mut both("encoder_k."));
    assert_eq!(recognize(&pair).unwrap().prefix, "encoder_q.");
    let mut two = both("student.");
    two.append(&mut both("teacher."));
    let error = recognize(&two).unwrap_err().to_string();
    assert!(
        error.contains("`student.`, `teacher.`; choose one, as in file.pth#student"),
        "{error}"
    );
}

fn error_of(weights: &Memory, options: &BuildOptions) -> String {
    build(&recognize(weights).unwrap(), weights, options)
        .unwrap_err()
        .to_string()
}

#[test]
fn an_efficientnet_lite_is_that_of_its_port_to_torch() {
    let options = BuildOptions::default();
    let built = assert_like_torch(
        "efficientnet_lite",
        Kind::EfficientNetLite,
        &options,
        &["features", "logits"],
    );
    assert_eq!(
        built.title,
        "EfficientNet-lite of [1, 2, 1, 2, 1, 2, 1] blocks: 3 channels, 14 features, 4 classes"
    );
}

#[test]
fn an_efficientnet_that_is_not_lite_is_another_network() {
    let mut weights = in_memory("efficientnet_lite");
    weights.insert(
        "_blocks.0._se_reduce.weight".to_string(),
        (vec![1, 6, 1, 1], vec![0.5; 6]),
    );
    let error = error_of(&weights, &BuildOptions::default());
    assert!(
        error.contains("`_blocks.0._se_reduce.weight` (1×6×1×1) has no place"),
        "{error}"
    );
    let mut weights = in_memory("efficientnet_lite");
    let (shape, values) = weights["_blocks.0._depthwise_conv.weight"].clone();
    let larger = vec![shape[0], 1, 5, 5];
    let values = values.iter().cycle().take(larger.iter().product()).copied().collect();
    weights.insert("_blocks.0._depthwise_conv.weight".to_string(), (larger, values));
    let error = error_of(&weights, &BuildOptions::default());
    assert!(
        error.contains("kernel of 5×5 in stage 1") && error.contains("3×3"),
        "{error}"
    );
    let mut weights = in_memory("efficientnet_lite");
    weights.retain(|name, _| !name.starts_with("_blocks.9."));
    let error = error_of(&weights, &BuildOptions::default());
    assert!(error.contains("6 different numbers of channels"), "{error}");
}

#[test]
fn a_missing_weight_is_named_with_those_that_are_there() {
    let mut weights = in_memory("resnet_basic");
    weights.remove("layer3.1.bn2.running_var");
    let error = error_of(&weights, &BuildOptions::default());
    assert!(
        error.contains("needs a weight `layer3.1.bn2.running_var`, which is missing"),
        "{error}"
    );
    assert!(error.contains("`layer3.1.bn2.running_mean` 10"), "{error}");
}

#[test]
fn a_weight_of_another_shape_is_an_error_with_both_shapes() {
    let mut weights = in_memory("conv_encoder_silu");
    weights.insert("layer_norms.2.weight".to_string(), (vec![7], vec![1.0; 7]));
    let error = error_of(&weights, &BuildOptions::default());
    assert!(error.contains("`layer_norms.2.weight` has shape 7, but"), "{error}");
    assert!(error.contains("require 6"), "{error}");
}

#[test]
fn a_weight_with_fewer_numbers_than_its_shape_is_an_error() {
    let mut weights = in_memory("vit");
    weights.get_mut("blocks.0.attn.qkv.weight").unwrap().1.pop();
    let error = error_of(&weights, &heads(3));
    assert!(
        error.contains("`blocks.0.attn.qkv.weight` has shape 36×12 and 431 numbers"),
        "{error}"
    );
}

#[test]
fn a_network_that_is_not_there_is_an_error_for_every_kind() {
    let weights = in_memory("two_head");
    for kind in [
        Kind::ConvEncoder,
        Kind::EfficientNetLite,
        Kind::ResNet,
        Kind::TwoHead,
        Kind::Vit,
    ] {
        let prefix = "nowhere.".to_string();
        let error = build(&Architecture { kind, prefix }, &weights, &BuildOptions::default()).unwrap_err();
        assert!(
            error.to_string().contains("which is missing; the weights are `"),
            "{error}"
        );
    }
}

#[test]
fn a_weight_without_a_place_in_the_network_is_an_error() {
    let mut weights = in_memory("vit");
    weights.insert("blocks.0.attn.q_norm.weight".to_string(), (vec![4], vec![1.0; 4]));
    let error = error_of(&weights, &heads(3));
    assert!(
        error.contains("`blocks.0.attn.q_norm.weight` (4) has no place in a vision transformer"),
        "{error}"
    );
}

#[test]
fn a_weight_that_is_not_a_number_is_an_error() {
    let mut weights = in_memory("vit");
    weights.get_mut("norm.bias").unwrap().1[3] = f32::NAN;
    let error = error_of(&weights, &heads(3));
    assert!(error.contains("`norm.bias` holds NaN"), "{error}");
}

#[test]
fn heads_that_do_not_divide_the_width_or_are_not_known_are_errors_with_both_numbers() {
    let weights = in_memory("vit");
    assert!(error_of(&weights, &heads(5)).contains("5 attention heads cannot share a width of 12"));
    assert!(error_of(&weights, &heads(0)).contains("0 attention heads cannot share a width of 12"));
    let unknown = error_of(&weights, &BuildOptions::default());
    assert!(unknown.contains("width 12, which is no multiple of 64"), "{unknown}");
}

#[test]
fn an_option_for_another_network_is_an_error() {
    let error = error_of(&in_memory("resnet_basic"), &heads(3));
    assert!(
        error.contains("a number of heads is an option for a vision transformer, but"),
        "{error}"
    );
}

#[test]
fn unknown_weights_are_listed_with_their_shapes() {
    let mut weights = Memory::new();
    weights.insert("lstm.weight_ih_l0".to_string(), (vec![8, 2], vec![0.5; 16]));
    let error = recognize(&weights).unwrap_err().to_string();
    assert!(
        error.contains("There are 1 weights: `lstm.weight_ih_l0` 8×2"),
        "{error}"
    );
}
