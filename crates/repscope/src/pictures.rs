// SPDX-License-Identifier: MIT
//! Thumbnails of the samples that the page lists as the worst, where the inputs are pictures.

use std::collections::BTreeMap;

use repscope_core::Results;
use repscope_figures::{Channels, Image, base64, image_png};
use repscope_render::worst_samples;

use crate::inputs::Inputs;

/// Pixels of the longer side.
const LONGEST: usize = 40;
/// The page holds each picture once, so these take at most 0.7 MB.
const MOST: usize = 100;
/// A side shorter than this is no picture.
const SHORTEST: usize = 4;

/// The worst samples as PNG files in base64, by row; none where the inputs are no pictures. A page goes without pictures rather than
/// fail, so a row that cannot be read is left out.
pub fn of_worst(results: &Results, inputs: &Inputs) -> BTreeMap<usize, String> {
    let Some(rows) = inputs.seen.as_ref().and_then(|seen| seen.numbers().ok()) else {
        return BTreeMap::new();
    };
    let Some(layout) = Layout::of(rows.shape()) else {
        return BTreeMap::new();
    };
    let read = |row: usize| {
        let own = inputs.state_row(row);
        let mut values = Vec::new();
        (own < rows.count() && rows.read(own..own + 1, &mut values).is_ok()).then_some((row, values))
    };
    let listed = worst_samples(results).into_iter().take(MOST);
    let read: Vec<(usize, Vec<f32>)> = listed.filter_map(read).collect();
    // One range for all, so that a dark picture stays darker than a bright one.
    let Some(range) = range(
        rows.dtype(),
        read.iter().flat_map(|(_, values)| values),
        layout.channels,
    ) else {
        return BTreeMap::new();
    };
    let picture = |(row, values): &(usize, Vec<f32>)| Some((*row, base64(&image_png(&layout.shrunk(values, range))?)));
    read.iter().filter_map(picture).collect()
}

/// How the numbers of a row are a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    height: usize,
    width: usize,
    channels: usize,
    /// (channels, height, width).
    is_channels_first: bool,
}

impl Layout {
    fn of(shape: &[usize]) -> Option<Layout> {
        let (height, width, channels, is_channels_first) = match *shape {
            [height, width] => (height, width, 1, false),
            [height, width, channels @ (1 | 3)] => (height, width, channels, false),
            [channels @ (1 | 3), height, width] => (height, width, channels, true),
            _ => return None,
        };
        (height.min(width) >= SHORTEST).then_some(Layout {
            height,
            width,
            channels,
            is_channels_first,
        })
    }

    /// The picture with no side longer than [`LONGEST`]; each pixel is the mean of those that it replaces.
    fn shrunk(&self, values: &[f32], (low, high): (f32, f32)) -> Image {
        let longest = self.height.max(self.width);
        let shorter = |side: usize| (side * LONGEST.min(longest) / longest).max(1);
        let (height, width) = (shorter(self.height), shorter(self.width));
        let at = |y: usize, x: usize, channel: usize| {
            if self.is_channels_first {
                (channel * self.height + y) * self.width + x
            } else {
                (y * self.width + x) * self.channels + channel
            }
        };
        let mut pixels = Vec::with_capacity(height * width * self.channels);
        for y in 0..height {
            let ys = y * self.height / height..(y + 1) * self.height / height;
            for x in 0..width {
                let xs = x * self.width / width..(x + 1) * self.width / width;
                for channel in 0..self.channels {
                    let block = ys.clone().flat_map(|y| xs.clone().map(move |x| (y, x)));
                    let sum: f32 = block.map(|(y, x)| values[at(y, x, channel)]).sum();
                    let mean = sum / (ys.len() * xs.len()) as f32;
                    pixels.push((255.0 * ((mean - low) / (high - low)).clamp(0.0, 1.0)).round() as u8);
                }
            }
        }
        Image {
            width,
            height,
            channels: if self.channels == 3 {
                Channels::Rgb
            } else {
                Channels::Gray
            },
            pixels,
            ..Image::default()
        }
    }
}

/// The values of black and white. Numbers that are neither bytes nor shares are a picture only where three channels say so: rows of
/// shape (steps, features) are none.
fn range<'a>(dtype: &str, values: impl Iterator<Item = &'a f32>, channels: usize) -> Option<(f32, f32)> {
    let (low, high) = values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), x| {
        (low.min(*x), high.max(*x))
    });
    match dtype {
        _ if low > high => None,
        "u8" => Some((0.0, 255.0)),
        "u16" => Some((0.0, 65535.0)),
        _ if low >= 0.0 && high <= 1.0 => Some((0.0, 1.0)),
        _ if low >= 0.0 && high <= 255.0 => Some((0.0, 255.0)),
        _ if channels == 3 && low < high => Some((low, high)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_images_are_pictures_and_vectors_are_none() {
        let of =
            |shape: &[usize]| Layout::of(shape).map(|own| (own.height, own.width, own.channels, own.is_channels_first));
        assert_eq!(of(&[28, 20]), Some((28, 20, 1, false)));
        assert_eq!(of(&[32, 32, 3]), Some((32, 32, 3, false)));
        assert_eq!(of(&[3, 32, 24]), Some((32, 24, 3, true)));
        for none in [&[64][..], &[3, 8], &[16, 16, 7], &[4, 3, 32, 32]] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }

    #[test]
    fn either_order_of_the_axes_gives_the_same_picture_and_blocks_are_averaged() {
        let (height, width) = (80, 40);
        let value = |y: usize, x: usize, c: usize| ((y / 2 + x / 2 + 3 * c) % 7) as f32 / 6.0;
        let last = (0..height).flat_map(|y| (0..width).flat_map(move |x| (0..3).map(move |c| value(y, x, c))));
        let first = (0..3).flat_map(|c| (0..height).flat_map(move |y| (0..width).map(move |x| value(y, x, c))));
        let [last, first]: [Vec<f32>; 2] = [last.collect(), first.collect()];
        let shown = Layout::of(&[height, width, 3])
            .expect("a picture")
            .shrunk(&last, (0.0, 1.0));
        assert_eq!((shown.height, shown.width, shown.channels), (40, 20, Channels::Rgb));
        // Blocks of 2 × 2 are of one value.
        assert_eq!(
            shown.pixels[3 * (5 * 20 + 4) + 1],
            (255.0 * value(10, 8, 1)).round() as u8
        );
        assert_eq!(
            Layout::of(&[3, height, width])
                .expect("a picture")
                .shrunk(&first, (0.0, 1.0)),
            shown
        );
    }

    #[test]
    fn the_range_of_the_values_says_whether_they_are_a_picture() {
        assert_eq!(range("u8", [3.0, 9.0].iter(), 1), Some((0.0, 255.0)));
        assert_eq!(range("f32", [0.2, 0.9].iter(), 1), Some((0.0, 1.0)));
        assert_eq!(range("f32", [0.0, 200.0].iter(), 1), Some((0.0, 255.0)));
        // Standardized pictures and the features of a sequence look alike, but for their channels.
        assert_eq!(range("f32", [-2.0, 2.5].iter(), 3), Some((-2.0, 2.5)));
        assert_eq!(range("f32", [-2.0, 2.5].iter(), 1), None);
        assert_eq!(range("f32", [].iter(), 1), None);
    }
}
