// SPDX-License-Identifier: MIT
//! Values as the network was trained on them.

/// What is done to the values, in `f32` and in the order of torchvision: scale, mean, std.
pub(super) struct Normalization {
    pub(super) scale: Option<f32>,
    pub(super) mean: Vec<f32>,
    pub(super) std: Vec<f32>,
    /// How many values follow each other in one channel.
    pub(super) inner: usize,
    pub(super) channels: usize,
}

impl Normalization {
    pub(super) fn apply(&self, row: &mut [f32]) {
        if let Some(scale) = self.scale {
            row.iter_mut().for_each(|x| *x /= scale);
        }
        if self.mean.is_empty() && self.std.is_empty() {
            return;
        }
        let of = |values: &[f32], c: usize| values.get(if values.len() == 1 { 0 } else { c }).copied();
        for (i, x) in row.iter_mut().enumerate() {
            let c = i / self.inner % self.channels;
            *x = (*x - of(&self.mean, c).unwrap_or(0.0)) / of(&self.std, c).unwrap_or(1.0);
        }
    }
}
