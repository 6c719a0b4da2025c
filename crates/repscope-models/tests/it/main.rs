// SPDX-License-Identifier: MIT
//! Encoders give what PyTorch, transformers and ONNX Runtime give, and damaged models are errors.

mod architectures;
mod canonical;
mod chosen_architecture;
mod damaged_models;
mod encoder;
mod encoder_from_weights;
mod fixtures;
mod graph;
mod image_folder;
mod language;
#[cfg(feature = "onnxruntime")]
mod onnx_runtime;
mod several_inputs;
mod text;
mod text_fixtures;
mod text_refusals;
mod token_ids;
