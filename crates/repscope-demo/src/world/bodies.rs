// SPDX-License-Identifier: MIT
//! Objects that move: they bounce off walls and off each other as discs do, without loss of energy.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{SIDE, Shape};

/// Objects of one layer collide, those of two pass each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    Back,
    Front,
}

#[derive(Debug, Clone)]
pub(super) struct Body {
    pub(super) shape: Shape,
    pub(super) radius: f32,
    pub(super) gray: f32,
    pub(super) layer: Layer,
    pub(super) x: f32,
    pub(super) y: f32,
    /// Pixels per frame.
    pub(super) vx: f32,
    pub(super) vy: f32,
}

/// Parts of a frame's time in which bodies move on straight lines.
const PARTS: usize = 4;

impl Body {
    /// A body at a random place where it touches none of its layer, if one is found.
    pub(super) fn random(shape: Shape, radius: f32, gray: f32, others: &[Body], rng: &mut ChaCha8Rng) -> Self {
        let layer = if rng.random_bool(0.5) {
            Layer::Back
        } else {
            Layer::Front
        };
        let (speed, angle) = (
            rng.random_range(1.0..2.5f32),
            rng.random_range(0.0..std::f32::consts::TAU),
        );
        let range = radius..SIDE as f32 - radius;
        let mut body = Body {
            shape,
            radius,
            gray,
            layer,
            x: 0.0,
            y: 0.0,
            vx: speed * angle.cos(),
            vy: speed * angle.sin(),
        };
        for _ in 0..100 {
            (body.x, body.y) = (rng.random_range(range.clone()), rng.random_range(range.clone()));
            if others.iter().all(|other| !touch(&body, other)) {
                break;
            }
        }
        body
    }
}

/// Moves all bodies by the time of one frame.
pub(super) fn advance(bodies: &mut [Body]) {
    for _ in 0..PARTS {
        for body in bodies.iter_mut() {
            let limit = SIDE as f32 - body.radius;
            (body.x, body.vx) = bounced(body.x + body.vx / PARTS as f32, body.vx, body.radius, limit);
            (body.y, body.vy) = bounced(body.y + body.vy / PARTS as f32, body.vy, body.radius, limit);
        }
        for at in 1..bodies.len() {
            let (left, right) = bodies.split_at_mut(at);
            for other in left {
                collide(other, &mut right[0]);
            }
        }
    }
}

/// Place and velocity along one axis, with walls at `low` and `high`.
fn bounced(at: f32, velocity: f32, low: f32, high: f32) -> (f32, f32) {
    if at < low {
        (low, velocity.abs())
    } else if at > high {
        (high, -velocity.abs())
    } else {
        (at, velocity)
    }
}

fn touch(a: &Body, b: &Body) -> bool {
    a.layer == b.layer && (a.x - b.x).hypot(a.y - b.y) < a.radius + b.radius
}

/// Two discs that touch and come nearer exchange momentum along the line between their centers. Mass is area.
fn collide(a: &mut Body, b: &mut Body) {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let distance = dx.hypot(dy);
    if !touch(a, b) || distance == 0.0 {
        return;
    }
    let (nx, ny) = (dx / distance, dy / distance);
    let nearing = (a.vx - b.vx) * nx + (a.vy - b.vy) * ny;
    if nearing <= 0.0 {
        return;
    }
    let (mass_a, mass_b) = (a.radius * a.radius, b.radius * b.radius);
    let push = 2.0 * nearing / (mass_a + mass_b);
    a.vx -= push * mass_b * nx;
    a.vy -= push * mass_b * ny;
    b.vx += push * mass_a * nx;
    b.vy += push * mass_a * ny;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(x: f32, vx: f32, radius: f32, layer: Layer) -> Body {
        Body {
            shape: Shape::Circle,
            radius,
            gray: 200.0,
            layer,
            x,
            y: 32.0,
            vx,
            vy: 0.5,
        }
    }

    #[test]
    fn discs_that_meet_bounce_and_keep_momentum_and_energy() {
        let (mut a, mut b) = (body(20.0, 2.0, 6.0, Layer::Front), body(29.0, -1.0, 4.0, Layer::Front));
        collide(&mut a, &mut b);
        assert!(a.vx < b.vx, "they go apart");
        let momentum = 36.0 * a.vx + 16.0 * b.vx;
        let energy = 36.0 * a.vx * a.vx + 16.0 * b.vx * b.vx;
        assert!((momentum - (72.0 - 16.0)).abs() < 1e-3 && (energy - (144.0 + 16.0)).abs() < 1e-2);
    }

    #[test]
    fn bodies_of_two_layers_pass_each_other() {
        let mut bodies = [body(20.0, 2.0, 6.0, Layer::Front), body(40.0, -2.0, 6.0, Layer::Back)];
        for _ in 0..10 {
            advance(&mut bodies);
        }
        assert!(bodies[0].x > bodies[1].x);
    }
}
