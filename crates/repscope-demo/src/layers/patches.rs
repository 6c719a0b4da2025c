// SPDX-License-Identifier: MIT
//! The squares of 4 × 4 pixels that a convolution with stride 2 and padding 1 looks at, as rows of a matrix.
//!
//! Images are square, row by row, with the channels of a pixel side by side. So four pixels beside each other are one piece
//! of memory, and a patch is four such pieces.

use std::ops::Range;

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
    use super::*;

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
