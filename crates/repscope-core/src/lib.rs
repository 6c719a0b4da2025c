// SPDX-License-Identifier: MIT
//! The map.
#![forbid(unsafe_code)]

pub mod data;
mod error;
pub mod random;
pub mod run;
mod score;

pub use data::{Labels, Pairs, Space, Study, Values};
pub use error::{Error, Result};
pub use score::{Better, Curve, Interval, Results, SampleTable, Score};
