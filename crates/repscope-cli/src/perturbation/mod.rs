// SPDX-License-Identifier: MIT
//! `repscope perturb` in steps: `tree` reads labels off folders, `split` says which images are looked at, `pictures` masks
//! them, `classify` runs a model on them, `stored` keeps and reads predictions, `deliver` writes what document 003 asks for.

pub mod classify;
pub mod deliver;
pub mod pictures;
pub mod split;
pub mod stored;
pub mod tree;
