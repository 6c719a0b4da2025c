// SPDX-License-Identifier: MIT
//! A demonstration in which nothing is faked: a small pixel world of which everything is known, a JEPA and an
//! Encoder-Decoder trained on it with a small convolutional encoder, two controls (an untrained encoder and one whose
//! training collapsed), descriptions of frames, captions, and a classifier under masks. [`make`] writes all of it to a
//! folder, with a study for `repscope evaluate`.
//!
//! The world is made for one question: what does an encoder keep if it cannot keep everything? An object moves before
//! clouds that change with every frame. Reconstruction needs the clouds, prediction cannot use them.
//!
//! Networks are plain structs with a forward and a backward step (`layers`, `networks`); no framework is involved. Work
//! is cut by constants and merged in order, and everything random comes from one seed, so the same plan gives the same
//! bytes on any number of threads.

mod files;
mod layers;
mod make;
mod networks;
mod plan;
mod text;
mod training;
mod world;

pub use make::{Encoded, Made, Training, make};
pub use plan::{Plan, Size};
