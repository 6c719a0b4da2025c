// SPDX-License-Identifier: MIT
//! From bodies to pixels: the back layer first, edges smoothed, on a background of dim noise.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::bodies::{Body, Layer};
use super::{Frame, SIDE};

/// The background has the gray values from this on.
const DIMMEST: u8 = 24;
/// So many of them.
const NOISE: u8 = 5;

pub(super) fn draw(bodies: &[Body], rng: &mut ChaCha8Rng) -> Frame {
    let mut frame = [0; SIDE * SIDE];
    rng.fill_bytes(&mut frame);
    for pixel in &mut frame {
        *pixel = DIMMEST + *pixel % NOISE;
    }
    for layer in [Layer::Back, Layer::Front] {
        for body in bodies.iter().filter(|body| body.layer == layer) {
            paint(body, &mut frame);
        }
    }
    frame
}

fn paint(body: &Body, frame: &mut Frame) {
    // No shape reaches farther than this from its center.
    let reach = 1.6 * body.radius + 1.0;
    let span = |at: f32| (at - reach).max(0.0) as usize..((at + reach).max(0.0) as usize).min(SIDE);
    for y in span(body.y) {
        for x in span(body.x) {
            let (dx, dy) = (x as f32 + 0.5 - body.x, y as f32 + 0.5 - body.y);
            let share = body.shape.coverage(dx, dy, body.radius);
            let pixel = &mut frame[y * SIDE + x];
            *pixel = (share * body.gray + (1.0 - share) * f32::from(*pixel)).round() as u8;
        }
    }
}
