// SPDX-License-Identifier: MIT
//! Descriptions of a frame: a word for each factor that a single frame shows, and a sentence of them.
//!
//! Speed and direction are known, but no single frame shows them, so no sentence speaks of them.

use super::{Factors, SIDE, Shape};

/// A factor of a frame, and the words for its values.
pub(crate) struct Factor {
    pub(crate) name: &'static str,
    pub(crate) words: &'static [&'static str],
}

/// Everything that a sentence says, in its order.
pub(crate) const FACTORS: [Factor; 6] = [
    factor("size", &["small", "large"]),
    factor("tone", &["pale", "bright"]),
    factor("shape", &["circle", "square", "triangle", "cross"]),
    factor("height", &["upper", "lower"]),
    factor("side", &["left", "right"]),
    factor("others", &["one", "two", "three"]),
];

const fn factor(name: &'static str, words: &'static [&'static str]) -> Factor {
    Factor { name, words }
}

/// The place of the shape among them.
pub(crate) const SHAPE: usize = 2;

/// The number of the word for each of [`FACTORS`].
pub(crate) type Said = [usize; FACTORS.len()];

/// What is true of a frame.
pub(crate) fn said(factors: &Factors) -> Said {
    let middle = SIDE as f32 / 2.0;
    let shape = Shape::ALL.iter().position(|shape| *shape == factors.shape);
    [
        usize::from(factors.radius > 8.0),
        usize::from(factors.gray > 200.0),
        shape.expect("all shapes are listed"),
        usize::from(factors.y >= middle),
        usize::from(factors.x >= middle),
        factors.others - 1,
    ]
}

/// "a small bright circle at the upper left with two others".
pub(crate) fn sentence(said: &Said) -> String {
    let [size, tone, shape, height, side, others] = words(said);
    let noun = if others == "one" { "other" } else { "others" };
    format!("a {size} {tone} {shape} at the {height} {side} with {others} {noun}")
}

/// The quarter of the frame in which the main object is: "upper left".
pub(crate) fn quadrant(said: &Said) -> String {
    let [_, _, _, height, side, _] = words(said);
    format!("{height} {side}")
}

/// What retrieval takes as the class of a frame: shape and quadrant.
pub(crate) fn label(said: &Said) -> String {
    let [_, _, shape, ..] = words(said);
    format!("{shape} {}", quadrant(said))
}

/// One sentence for a label, which says nothing but the label.
pub(crate) fn label_sentence(said: &Said) -> String {
    let [_, _, shape, height, side, _] = words(said);
    format!("a {shape} at the {height} {side}")
}

/// What every label says, in the order shape, height, side; other words are the first of their factor.
pub(crate) fn labels() -> Vec<Said> {
    let mut all = Vec::new();
    for shape in 0..4 {
        for quadrant in 0..4 {
            all.push([0, 0, shape, quadrant / 2, quadrant % 2, 0]);
        }
    }
    all
}

fn words(said: &Said) -> [&'static str; FACTORS.len()] {
    std::array::from_fn(|at| FACTORS[at].words[said[at]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_is_true() {
        let factors = Factors {
            shape: Shape::Cross,
            radius: 9.0,
            gray: 240.0,
            x: 10.0,
            y: 50.0,
            speed: 1.0,
            others: 1,
            clouds: Default::default(),
        };
        let said = said(&factors);
        assert_eq!(sentence(&said), "a large bright cross at the lower left with one other");
        assert_eq!(
            (quadrant(&said), label(&said)),
            ("lower left".into(), "cross lower left".into())
        );
        assert_eq!(label_sentence(&said), "a cross at the lower left");
    }

    #[test]
    fn there_are_sixteen_labels() {
        let names: std::collections::BTreeSet<String> = labels().iter().map(label).collect();
        assert_eq!((labels().len(), names.len()), (16, 16));
    }
}
