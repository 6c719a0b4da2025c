// SPDX-License-Identifier: MIT
//! Objects that move: they bounce off walls and off each other as discs do, without loss of energy.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Frame, SIDE};

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

/// What an object looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Circle,
    Square,
    Triangle,
    Cross,
}

impl Shape {
    pub(crate) const ALL: [Shape; 4] = [Shape::Circle, Shape::Square, Shape::Triangle, Shape::Cross];

    /// How far a point is outside of the shape around (0, 0): negative within.
    pub(super) fn distance(self, x: f32, y: f32, radius: f32) -> f32 {
        match self {
            Shape::Circle => x.hypot(y) - radius,
            Shape::Square => x.abs().max(y.abs()) - 0.886 * radius,
            Shape::Triangle => {
                // The largest of the distances from three sides; y grows downwards.
                let slanted = 0.866 * x.abs() - 0.5 * y;
                slanted.max(y) - 0.77 * radius
            }
            Shape::Cross => {
                let (long, short) = (1.1 * radius, 0.4 * radius);
                let lying = (x.abs() - long).max(y.abs() - short);
                let standing = (x.abs() - short).max(y.abs() - long);
                lying.min(standing)
            }
        }
    }

    /// The share of a pixel that the shape covers, from the distance of its center.
    pub(super) fn coverage(self, x: f32, y: f32, radius: f32) -> f32 {
        (0.5 - self.distance(x, y, radius)).clamp(0.0, 1.0)
    }
}

/// Draws all bodies, those of the front layer over those of the back one.
pub(super) fn draw(bodies: &[Body], frame: &mut Frame) {
    for layer in [Layer::Back, Layer::Front] {
        for body in bodies.iter().filter(|body| body.layer == layer) {
            paint(body, frame);
        }
    }
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

    #[test]
    fn shapes_of_one_radius_have_about_the_area_of_its_circle() {
        for shape in Shape::ALL {
            let mut area = 0.0;
            for at in 0..64 * 64 {
                let (x, y) = ((at % 64) as f32 - 31.5, (at / 64) as f32 - 31.5);
                area += shape.coverage(x, y, 10.0);
            }
            assert!((270.0..330.0).contains(&area), "{shape:?}: {area} but a circle has 314");
        }
    }
}
