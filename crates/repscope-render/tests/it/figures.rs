// SPDX-License-Identifier: MIT
//! Figures that say what they must, as they are written.

use repscope_core::{Results, Score};
use repscope_figures::{Style, to_svg};
use repscope_render::figures;

/// What the figure of an analysis shows as SVG.
fn svg(results: &Results, analysis: &str) -> String {
    let found = figures(results, analysis);
    to_svg(&found.first().expect("a figure").figure, &Style::default())
}

#[test]
fn the_mixing_of_batches_stands_beside_chance_however_far_that_is() {
    let score = |model: &str, value: f64| Score {
        model: model.to_string(),
        ..Score::number("ilisi", value, 100).with_chance(6.4)
    };
    let results = Results::from(vec![score("a", 1.17), score("b", 1.16)]);
    let drawn = svg(&results, "mixing");
    assert!(
        drawn.contains(">chance<") && !drawn.contains("not on the axis"),
        "{drawn}"
    );
}
