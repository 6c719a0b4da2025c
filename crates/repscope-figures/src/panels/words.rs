// SPDX-License-Identifier: MIT
//! Words in place of a plot, in a quiet frame.

use crate::content::Weight;
use crate::plan::{Plan, Scene};
use crate::svg::{Anchor, Stroke};
use crate::text::{LINE, clean, wrap};

pub(crate) fn plan<'a>(scene: &'a Scene<'a>, words: String) -> Plan<'a> {
    let em = scene.em;
    let words = clean(&words);
    let lines = move |wide: f64| wrap(&words, (wide - 2.0 * em).max(em), em, Weight::Regular);
    let lines_for_height = lines.clone();
    Plan::block(
        Box::new(move |wide| (lines_for_height(wide).len() as f64 * LINE + 3.0) * em),
        Box::new(move |frame, svg| {
            let (plot, ink) = (frame.plot, scene.ink);
            let stroke = Stroke::dashed(ink.muted, 0.07 * em, "2 2");
            svg.rect(plot, "none", Some(&Stroke { opacity: 0.5, ..stroke }), "");
            let lines = lines(plot.width);
            let first = plot.y + plot.height / 2.0 - (lines.len() as f64 - 1.0) * LINE * em / 2.0 + 0.35 * em;
            let letters = scene.letters().colored(ink.muted).anchored(Anchor::Middle);
            for (row, line) in lines.iter().enumerate() {
                svg.text(plot.x + plot.width / 2.0, first + row as f64 * LINE * em, line, letters);
            }
        }),
    )
}
