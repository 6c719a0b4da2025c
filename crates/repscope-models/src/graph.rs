// SPDX-License-Identifier: MIT
//! Graphs in the ONNX format: a writer for networks of which only the weights are given, and a look into files of
//! others.
//!
//! ONNX is a protobuf message. The few of its parts that are needed here are written and read by hand (`wire`), so no
//! protobuf compiler or library comes in. Field numbers are those of `onnx.proto`, IR version 8.

mod builder;
mod canonical;
mod describe;
mod wire;

pub use builder::{Attribute, Dim, Element, GraphBuilder};
pub use canonical::{Canonical, canonical};
pub use describe::{GraphInfo, describe};
