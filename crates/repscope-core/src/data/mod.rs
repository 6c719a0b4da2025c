// SPDX-License-Identifier: MIT
//! What goes in: spaces, labels, pairs, and the study or retrieval that holds them.

mod labels;
mod retrieval;
mod space;
mod study;

pub use labels::Labels;
pub use retrieval::{Direction, LabelSet, Retrieval};
pub(crate) use space::Slice;
pub use space::{Space, Values};
pub use study::{Pairs, Study};
