// SPDX-License-Identifier: MIT
//! Shapes of about the same area for the same radius.

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

#[cfg(test)]
mod tests {
    use super::*;

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
