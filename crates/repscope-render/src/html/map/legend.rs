// SPDX-License-Identifier: MIT
//! What the colors of maps mean, and the controls above them.

use super::super::colors::STEPS;
use super::super::safe::escape;
use super::Kind;
use super::coloring::Coloring;
use crate::numbers::number;

/// Which map is shown, what the points are colored by, and a box to find a row.
pub(super) fn controls(kinds: &[Kind], colorings: &[Coloring], count: usize) -> String {
    let option =
        |(i, coloring): (usize, &Coloring)| format!("<option value=\"{i}\">{}</option>", escape(coloring.name()));
    let options: String = colorings.iter().enumerate().map(option).collect();
    let kind = |(i, kind): (usize, &Kind)| format!("<option value=\"{i}\">{}</option>", kind.name());
    let kinds = match kinds.len() {
        0 | 1 => String::new(),
        _ => {
            let options: String = kinds.iter().enumerate().map(kind).collect();
            format!("<label>Map <select id=\"map-kind\">{options}</select></label>\n")
        }
    };
    let choice = match colorings.len() {
        0 | 1 => String::new(),
        _ => format!("<label>Color by <select id=\"color-by\">{options}</select></label>\n"),
    };
    format!(
        "<div class=\"control map-controls\">\n{kinds}{choice}<label>Find row <input type=\"number\" id=\"find-row\" min=\"0\" max=\"{}\" \
         step=\"1\" inputmode=\"numeric\"></label>\n<output id=\"found-row\"></output>\n</div>\n",
        count.saturating_sub(1)
    )
}

/// What the colors mean. All but the first are hidden until the colors change.
pub(super) fn legends(colorings: &[Coloring]) -> String {
    let legend = |(i, coloring): (usize, &Coloring)| {
        let hidden = if i > 0 { " hidden" } else { "" };
        format!(
            "<div class=\"map-legend\" data-coloring=\"{i}\"{hidden}>{}</div>\n",
            legend(coloring)
        )
    };
    colorings.iter().enumerate().map(legend).collect()
}

fn legend(coloring: &Coloring) -> String {
    match coloring {
        Coloring::Class { names, colors, .. } => {
            let own = colors
                .iter()
                .zip(names)
                .filter_map(|(color, name)| Some(((*color)?, name)));
            let mut items: String = own
                .map(|(color, name)| entry(&format!("var(--c{color})"), &escape(name)))
                .collect();
            if colors.contains(&None) {
                items += &entry("var(--other)", "other");
            }
            format!("<ul>{items}</ul>")
        }
        Coloring::Value { name, edges, .. } => {
            let patch = |i: usize| format!("<i style=\"background:var(--v{i})\"></i>");
            let quarter = |from: usize| {
                let patches: String = (from..from + STEPS / 4).map(patch).collect();
                format!("{} <span class=\"ramp\">{patches}</span> ", number(edges[from]))
            };
            let scale: String = (0..STEPS).step_by(STEPS / 4).map(quarter).collect();
            format!(
                "<p>{}: {scale}{}. Each color stands for as many samples as the others.</p>",
                escape(name),
                number(edges[STEPS])
            )
        }
    }
}

fn entry(color: &str, name: &str) -> String {
    format!("<li><span class=\"swatch\" style=\"--swatch:{color}\"></span>{name}</li>")
}
