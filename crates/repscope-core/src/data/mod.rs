// SPDX-License-Identifier: MIT
//! What goes in: spaces, labels, pairs, the study or retrieval that holds them, predictions for perturbed
//! inputs, texts decoded from signals, and how well models do elsewhere.

mod decoding;
mod perturbation;
mod retrieval;
mod space;
mod study;
mod targets;
mod version;

pub use decoding::{Decoding, System};
pub(crate) use perturbation::{BASELINE, COMBINED};
pub use perturbation::{Head, Perturbation, PerturbedSet};
pub use retrieval::{Direction, LabelSet, Retrieval, Split};
pub(crate) use space::{LARGEST, Slice};
pub use space::{Space, Values};
pub use study::{Labels, Moves, Noise, NoiseLevel, Pairs, Performance, Reference, Study};
pub use targets::{Targets, part_of_identity};
pub use version::{Precision, Version, VersionMaker};
