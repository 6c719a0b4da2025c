// SPDX-License-Identifier: MIT
//! Convolution with kernel 4, stride 2 and padding 1, which halves the side of an image, and its transpose, which doubles it.
//!
//! Both are a linear layer on [`patches`]. Weights are kept with the channels innermost, as the pixels have them; files
//! have PyTorch's order.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;

use super::linear::uniform;
use super::{Linear, parameters};

const PIXELS: usize = KERNEL * KERNEL;

#[derive(Debug, Clone)]
pub(crate) struct Conv {
    /// Side of the images that come in.
    side: usize,
    channels: usize,
    map: Linear,
}

impl Conv {
    pub(crate) fn new(side: usize, channels: usize, outputs: usize, rng: &mut ChaCha8Rng) -> Self {
        Conv {
            side,
            channels,
            map: Linear::new(PIXELS * channels, outputs, rng),
        }
    }

    /// The outputs, and the patches that the backward step needs.
    pub(crate) fn forward(&self, images: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let seen = patches(images, self.side, self.channels);
        (self.map.forward(&seen), seen)
    }

    /// Adds the slopes of weight and bias.
    pub(crate) fn gather(&self, seen: &[f32], dy: &[f32], gradient: &mut Conv) {
        self.map.gather(seen, dy, &mut gradient.map);
    }

    /// The slope of the images.
    pub(crate) fn backward(&self, dy: &[f32]) -> Vec<f32> {
        fold(&self.map.backward(dy), self.side, self.channels)
    }

    /// Shape and weights as PyTorch keeps them: outputs, channels, rows, columns.
    pub(crate) fn weight(&self) -> (Vec<usize>, Vec<f32>) {
        let (outputs, channels) = (self.map.outputs(), self.channels);
        let mut weight = Vec::with_capacity(self.map.weight.len());
        for output in self.map.weight.chunks_exact(PIXELS * channels) {
            for channel in 0..channels {
                weight.extend((0..PIXELS).map(|pixel| output[pixel * channels + channel]));
            }
        }
        (vec![outputs, channels, KERNEL, KERNEL], weight)
    }

    pub(crate) fn bias(&self) -> &[f32] {
        &self.map.bias
    }
}

parameters!(Conv: map);

#[derive(Debug, Clone)]
pub(crate) struct ConvTranspose {
    /// Side of the images that come out.
    side: usize,
    outputs: usize,
    /// A row per pixel and channel of a patch. Its bias stays 0: the bias is one number per channel.
    map: Linear,
    bias: Vec<f32>,
}

impl ConvTranspose {
    /// PyTorch's initial numbers: within ±1/√(16 · outputs).
    pub(crate) fn new(side: usize, channels: usize, outputs: usize, rng: &mut ChaCha8Rng) -> Self {
        let map = Linear {
            inputs: channels,
            weight: uniform(PIXELS * outputs * channels, PIXELS * outputs, rng),
            bias: vec![0.0; PIXELS * outputs],
        };
        let bias = uniform(outputs, PIXELS * outputs, rng);
        ConvTranspose {
            side,
            outputs,
            map,
            bias,
        }
    }

    pub(crate) fn forward(&self, images: &[f32]) -> Vec<f32> {
        let mut y = fold(&self.map.forward(images), self.side, self.outputs);
        for pixel in y.chunks_exact_mut(self.outputs) {
            pixel.iter_mut().zip(&self.bias).for_each(|(y, bias)| *y += bias);
        }
        y
    }

    /// Adds the slopes of weight and bias, and returns that of the images.
    pub(crate) fn backward(&self, images: &[f32], dy: &[f32], gradient: &mut ConvTranspose) -> Vec<f32> {
        let seen = patches(dy, self.side, self.outputs);
        self.map.gather(images, &seen, &mut gradient.map);
        gradient.map.bias.fill(0.0);
        for pixel in dy.chunks_exact(self.outputs) {
            gradient.bias.iter_mut().zip(pixel).for_each(|(sum, dy)| *sum += dy);
        }
        self.map.backward(&seen)
    }
}

parameters!(ConvTranspose: map.weight, bias);

// The squares of 4 × 4 pixels that a convolution with stride 2 and padding 1 looks at, as rows of a matrix.
//
// Images are square, row by row, with the channels of a pixel side by side. So four pixels beside each other are one piece
// of memory, and a patch is four such pieces.

/// Pixels along the side of a patch.
pub(super) const KERNEL: usize = 4;

/// All patches of some images. Pixels outside of an image are 0.
pub(super) fn patches(images: &[f32], side: usize, channels: usize) -> Vec<f32> {
    let count = images.len() / (side * side * channels);
    let mut patches = vec![0.0; count * side * side / 4 * KERNEL * KERNEL * channels];
    for_each_piece(count, side, channels, |patch, image| {
        patches[patch].copy_from_slice(&images[image]);
    });
    patches
}

/// The reverse: every pixel gets the sum of all that patches hold of it.
pub(super) fn fold(patches: &[f32], side: usize, channels: usize) -> Vec<f32> {
    let count = patches.len() / (side * side / 4 * KERNEL * KERNEL * channels);
    let mut images = vec![0.0; count * side * side * channels];
    for_each_piece(count, side, channels, |patch, image| {
        for (sum, value) in images[image].iter_mut().zip(&patches[patch]) {
            *sum += value;
        }
    });
    images
}

/// Calls with each piece of a patch and the same piece of its image.
fn for_each_piece(count: usize, side: usize, channels: usize, mut call: impl FnMut(Range<usize>, Range<usize>)) {
    let half = side / 2;
    for image in 0..count {
        for y in 0..half {
            for x in 0..half {
                let patch = ((image * half + y) * half + x) * KERNEL * KERNEL * channels;
                // The padding: patches begin one pixel above and to the left.
                let (left, right) = ((2 * x).max(1) - 1, (2 * x + 3).min(side));
                let skipped = usize::from(x == 0);
                for row in 0..KERNEL {
                    let Some(pixel_y) = (2 * y + row).checked_sub(1).filter(|&y| y < side) else {
                        continue;
                    };
                    let from = patch + (row * KERNEL + skipped) * channels;
                    let first = ((image * side + pixel_y) * side + left) * channels;
                    let length = (right - left) * channels;
                    call(from..from + length, first..first + length);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::slopes;
    use super::*;

    #[test]
    fn a_convolution_is_the_sum_over_its_window() {
        let conv = Conv::new(4, 2, 3, &mut slopes::stream());
        let image = slopes::numbers(4 * 4 * 2);
        let (y, _) = conv.forward(&image);
        let (shape, weight) = conv.weight();
        assert_eq!((shape, y.len()), (vec![3, 2, 4, 4], 2 * 2 * 3));
        for (at, found) in y.iter().enumerate() {
            let (pixel, output) = (at / 3, at % 3);
            let mut expected = conv.bias()[output];
            for (place, weight) in weight[output * 32..(output + 1) * 32].iter().enumerate() {
                let (channel, row, column) = (place / 16, place / 4 % 4, place % 4);
                let (y, x) = (2 * (pixel / 2) + row, 2 * (pixel % 2) + column);
                if (1..5).contains(&y) && (1..5).contains(&x) {
                    expected += weight * image[((y - 1) * 4 + x - 1) * 2 + channel];
                }
            }
            assert!((found - expected).abs() < 1e-5, "{at}: {found} but {expected}");
        }
    }

    #[test]
    fn slopes_of_a_convolution_are_those_of_finite_differences() {
        let conv = Conv::new(4, 2, 3, &mut slopes::stream());
        let (x, weights) = (slopes::numbers(2 * 16 * 2), slopes::numbers(2 * 4 * 3));
        let (_, seen) = conv.forward(&x);
        slopes::check(
            &conv,
            &x,
            &weights,
            |conv, x| conv.forward(x).0,
            |dy, gradient| {
                conv.gather(&seen, dy, gradient);
                conv.backward(dy)
            },
        );
    }

    #[test]
    fn slopes_of_a_transposed_convolution_are_those_of_finite_differences() {
        let conv = ConvTranspose::new(4, 3, 2, &mut slopes::stream());
        let (x, weights) = (slopes::numbers(2 * 4 * 3), slopes::numbers(2 * 16 * 2));
        let forward = |conv: &ConvTranspose, x: &[f32]| conv.forward(x);
        slopes::check(&conv, &x, &weights, forward, |dy, gradient| {
            conv.backward(&x, dy, gradient)
        });
    }

    #[test]
    fn patches_hold_the_pixels_around_every_second_one() {
        // 4 × 4 pixels numbered from 1: the first patch begins outside of the image.
        let image: Vec<f32> = (1..=16u8).map(f32::from).collect();
        let found = patches(&image, 4, 1);
        assert_eq!(found.len(), 4 * 16);
        assert_eq!(
            found[..16],
            [0., 0., 0., 0., 0., 1., 2., 3., 0., 5., 6., 7., 0., 9., 10., 11.]
        );
        assert_eq!(
            found[48..],
            [6., 7., 8., 0., 10., 11., 12., 0., 14., 15., 16., 0., 0., 0., 0., 0.]
        );
    }

    #[test]
    fn folding_is_the_transpose_of_taking_patches() {
        // ⟨patches(x), p⟩ = ⟨x, fold(p)⟩.
        let x = super::super::slopes::numbers(2 * 8 * 8 * 3);
        let p = super::super::slopes::numbers(2 * 16 * 16 * 3);
        let dot = |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum() };
        assert!((dot(&patches(&x, 8, 3), &p) - dot(&x, &fold(&p, 8, 3))).abs() < 1e-4);
    }
}
