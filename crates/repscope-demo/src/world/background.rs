// SPDX-License-Identifier: MIT
//! What is behind all objects: clouds, drawn anew for each frame. No frame says anything about the clouds of the next.
//!
//! The points of a coarse lattice are dark or light at random, and gray values between them are interpolated smoothly
//! (value noise). Sums and products are all it takes, so that every machine draws the same clouds.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::{Frame, SIDE};

/// Points of the lattice along a side; the outermost are on the border of the frame.
const POINTS: usize = 5;

/// The gray value of each point, row by row.
pub(crate) type Clouds = [f32; POINTS * POINTS];

/// Even the light ones are below every main object.
const DARK: std::ops::Range<f32> = 8.0..36.0;
const LIGHT: std::ops::Range<f32> = 100.0..128.0;

/// Clouds are grainy: to each pixel less than this is added.
const GRAIN: u8 = 5;

pub(super) fn random(rng: &mut ChaCha8Rng) -> Clouds {
    std::array::from_fn(|_| {
        let range = if rng.random_bool(0.5) { LIGHT } else { DARK };
        rng.random_range(range)
    })
}

pub(super) fn draw(clouds: &Clouds, rng: &mut ChaCha8Rng) -> Frame {
    let mut frame = [0; SIDE * SIDE];
    rng.fill_bytes(&mut frame);
    let row = |y: usize, x: (usize, f32)| {
        let points = &clouds[y * POINTS..];
        between(points[x.0], points[x.0 + 1], x.1)
    };
    for (at, pixel) in frame.iter_mut().enumerate() {
        let (x, y) = (place(at % SIDE), place(at / SIDE));
        let gray = between(row(y.0, x), row(y.0 + 1, x), y.1);
        *pixel = gray as u8 + *pixel % GRAIN;
    }
    frame
}

/// The point of the lattice before a pixel, and the share of the next one in its gray value.
fn place(pixel: usize) -> (usize, f32) {
    let at = (pixel as f32 + 0.5) * (POINTS - 1) as f32 / SIDE as f32;
    let way = at.fract();
    (at as usize, way * way * (3.0 - 2.0 * way))
}

fn between(from: f32, to: f32, share: f32) -> f32 {
    from + share * (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use repscope_core::random::stream;

    #[test]
    fn pixels_beside_a_point_of_the_lattice_have_its_gray_value() {
        let mut rng = stream(1, "test", 0);
        let clouds = random(&mut rng);
        let frame = draw(&clouds, &mut rng);
        for (at, gray) in clouds.iter().enumerate() {
            let pixel = |point: usize| (point * SIDE / (POINTS - 1)).min(SIDE - 1);
            let found = f32::from(frame[pixel(at / POINTS) * SIDE + pixel(at % POINTS)]);
            // Half a pixel away from the point; the grain adds at most 4.
            assert!((-2.0..6.0).contains(&(found - gray)), "{at}: {found} but {gray}");
        }
    }

    #[test]
    fn clouds_are_below_every_main_object_and_never_black() {
        let mut rng = stream(2, "test", 0);
        for _ in 0..20 {
            let clouds = random(&mut rng);
            assert!(draw(&clouds, &mut rng).iter().all(|gray| (8..=132).contains(gray)));
        }
    }
}
