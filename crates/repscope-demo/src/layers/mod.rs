// SPDX-License-Identifier: MIT
//! The few layers that the networks of this crate are made of, each with a forward and a backward step.
//!
//! Activations are rows of f32: a row per sample in [`Linear`], a row per pixel in convolutions, with the channels side by
//! side. A gradient has the type of what it is the gradient of, so a backward step adds to a second layer of the same shape.

mod conv;
mod linear;
mod norm;
mod silu;
#[cfg(test)]
pub(crate) mod slopes;

pub(crate) use conv::{Conv, ConvTranspose};
pub(crate) use linear::Linear;
pub(crate) use norm::{LayerNorm, Normed};
pub(crate) use silu::{Silu, cross_entropy};

/// A layer or a network.
pub(crate) trait Parameters: Clone {
    /// Its arrays of numbers.
    fn arrays(&self) -> Vec<&[f32]>;
    /// The same, in the same order, to be changed.
    fn arrays_mut(&mut self) -> Vec<&mut [f32]>;
}

impl Parameters for Vec<f32> {
    fn arrays(&self) -> Vec<&[f32]> {
        vec![self]
    }

    fn arrays_mut(&mut self) -> Vec<&mut [f32]> {
        vec![self]
    }
}

impl<P: Parameters> Parameters for Vec<P> {
    fn arrays(&self) -> Vec<&[f32]> {
        self.iter().flat_map(Parameters::arrays).collect()
    }

    fn arrays_mut(&mut self) -> Vec<&mut [f32]> {
        self.iter_mut().flat_map(Parameters::arrays_mut).collect()
    }
}

/// Implements [`Parameters`] for a struct by its fields, in this order.
macro_rules! parameters {
    ($type:ty: $($($field:ident).+),*) => {
        impl $crate::layers::Parameters for $type {
            fn arrays(&self) -> Vec<&[f32]> {
                [$($crate::layers::Parameters::arrays(&self.$($field).+)),*].concat()
            }

            fn arrays_mut(&mut self) -> Vec<&mut [f32]> {
                let fields = [$($crate::layers::Parameters::arrays_mut(&mut self.$($field).+)),*];
                fields.into_iter().flatten().collect()
            }
        }
    };
}
pub(crate) use parameters;

/// A network of the same shape in which every number is 0: where gradients are gathered.
pub(crate) fn zeros_like<P: Parameters>(network: &P) -> P {
    let mut zeros = network.clone();
    for array in zeros.arrays_mut() {
        array.fill(0.0);
    }
    zeros
}

/// Adds the numbers of one network to those of another of the same shape.
pub(crate) fn add<P: Parameters>(sum: &mut P, part: &P) {
    for (sum, part) in sum.arrays_mut().into_iter().zip(part.arrays()) {
        for (sum, part) in sum.iter_mut().zip(part) {
            *sum += part;
        }
    }
}
