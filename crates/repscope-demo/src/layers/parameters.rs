// SPDX-License-Identifier: MIT
//! All numbers of a network in a fixed order, for whatever treats them alike: sums of gradients, moving averages, steps.

/// A layer or a network.
pub(crate) trait Parameters: Clone {
    /// Its arrays of numbers.
    fn arrays(&self) -> Vec<&[f32]>;
    /// The same, in the same order, to be changed.
    fn arrays_mut(&mut self) -> Vec<&mut [f32]>;
}

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
