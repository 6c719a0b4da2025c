// SPDX-License-Identifier: MIT
//! What goes in: spaces, labels, pairs, and the study that holds them.

mod labels;
mod space;
mod study;

pub use labels::Labels;
pub(crate) use space::Slice;
pub use space::{Space, Values};
pub use study::{Pairs, Study};
