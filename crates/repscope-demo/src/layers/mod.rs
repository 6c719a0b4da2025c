// SPDX-License-Identifier: MIT
//! The few layers that the networks of this crate are made of, each with a forward and a backward step.
//!
//! Activations are rows of f32: a row per sample in [`Linear`], a row per pixel in convolutions, with the channels side by
//! side. A gradient has the type of what it is the gradient of, so a backward step adds to a second layer of the same shape.

mod conv;
mod cross_entropy;
mod exp;
mod linear;
mod norm;
mod parameters;
mod patches;
mod product;
mod silu;
#[cfg(test)]
pub(crate) mod slopes;

pub(crate) use conv::{Conv, ConvTranspose};
pub(crate) use cross_entropy::cross_entropy;
pub(crate) use linear::Linear;
pub(crate) use norm::{LayerNorm, Normed};
pub(crate) use parameters::{Parameters, add, zeros_like};
pub(crate) use silu::Silu;
