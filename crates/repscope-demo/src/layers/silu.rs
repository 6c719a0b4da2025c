// SPDX-License-Identifier: MIT
//! SiLU: y = x σ(x), by number (Elfwing, Uchibe and Doya 2018).

use super::exp::exp;

/// What the backward step needs: the inputs and their σ.
pub(crate) struct Silu {
    x: Vec<f32>,
    gate: Vec<f32>,
}

impl Silu {
    /// The outputs, and what the backward step needs.
    pub(crate) fn forward(x: Vec<f32>) -> (Vec<f32>, Silu) {
        let gate: Vec<f32> = x.iter().map(|x| 1.0 / (1.0 + exp(-x))).collect();
        let y = x.iter().zip(&gate).map(|(x, gate)| x * gate).collect();
        (y, Silu { x, gate })
    }

    /// Turns the slope of the output into that of the input: σ (1 + x (1 − σ)) times as much.
    pub(crate) fn backward(&self, slopes: &mut [f32]) {
        for ((slope, x), gate) in slopes.iter_mut().zip(&self.x).zip(&self.gate) {
            *slope *= gate * (1.0 + x * (1.0 - gate));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Parameters, slopes};
    use super::*;

    #[derive(Clone)]
    struct NoNumbers;

    impl Parameters for NoNumbers {
        fn arrays(&self) -> Vec<&[f32]> {
            Vec::new()
        }

        fn arrays_mut(&mut self) -> Vec<&mut [f32]> {
            Vec::new()
        }
    }

    #[test]
    fn slopes_of_silu_are_those_of_finite_differences() {
        let x: Vec<f32> = slopes::numbers(9).iter().map(|x| 4.0 * x).collect();
        let (_, trace) = Silu::forward(x.clone());
        let forward = |_: &NoNumbers, x: &[f32]| Silu::forward(x.to_vec()).0;
        slopes::check(&NoNumbers, &x, &slopes::numbers(9), forward, |dy, _| {
            let mut dx = dy.to_vec();
            trace.backward(&mut dx);
            dx
        });
    }
}
