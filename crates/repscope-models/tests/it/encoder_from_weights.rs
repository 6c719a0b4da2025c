// SPDX-License-Identifier: MIT
//! A file of weights is opened like an exported model (weights and answers of `golden/models.py`).

use crate::fixtures::golden;
use repscope_io::{Array, Data, InputPath, read_array};
use repscope_models::{Embeddings, Encoder, Options};

fn array(case: &str, name: &str) -> Array {
    read_array(&InputPath::file(golden(case, &format!("{name}.npy")))).unwrap()
}

fn encode(case: &str, batch: usize) -> Embeddings {
    let options = Options {
        batch,
        ..Options::default()
    };
    let mut encoder = Encoder::open(&golden(case, "weights.safetensors"), None, options).unwrap();
    encoder.encode_all(&array(case, "input")).unwrap()
}

#[test]
fn every_output_of_a_network_made_of_weights_is_that_of_torch_for_any_batch_size() {
    for (case, outputs) in [("conv_encoder_silu", 1), ("resnet_basic", 2), ("two_head", 5)] {
        let embeddings = encode(case, 32);
        assert_eq!(embeddings.outputs.len(), outputs, "{case}");
        for output in &embeddings.outputs {
            let expected = array(case, &output.name);
            let Data::F32(torch) = expected.data() else {
                panic!("the files hold f32")
            };
            let torch = (**torch).as_ref();
            assert_eq!(torch.len(), output.values.len(), "{case} {}", output.name);
            let largest = torch.iter().fold(0.0, |m: f32, x| m.max(x.abs()));
            let off = output
                .values
                .iter()
                .zip(torch)
                .fold(0.0, |m: f32, (a, b)| m.max((a - b).abs()));
            assert!(
                off <= 2e-5 * largest,
                "{case} {}: off by {off} on values up to {largest}",
                output.name
            );
        }
        for batch in [1, 2, 3] {
            assert!(encode(case, batch) == embeddings, "{case}: batches of {batch} differ");
        }
    }
}

#[test]
fn what_was_made_of_the_weights_is_said() {
    let notes = encode("conv_encoder_silu", 32).notes;
    assert!(
        notes[0].starts_with("convolutional frame encoder: 1 × 64 × 64"),
        "{notes:?}"
    );
}

#[test]
fn other_weights_have_another_digest() {
    let digest = |case: &str| {
        let encoder = Encoder::open(&golden(case, "weights.safetensors"), None, Options::default()).unwrap();
        encoder.digest().to_string()
    };
    assert_eq!(digest("resnet_basic"), digest("resnet_basic"));
    assert_ne!(digest("resnet_basic"), digest("resnet_bottleneck"));
}
