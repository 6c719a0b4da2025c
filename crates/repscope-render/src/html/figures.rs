// SPDX-License-Identifier: MIT
//! Figures under their headings, with their descriptions and a way to save them.

use super::Models;
use super::safe::escape;
use super::{Page, map};
use crate::NamedFigure;
use crate::scores::grouped;
use crate::text::capitalized;
use repscope_core::counted;
use repscope_figures::{
    Background, CLASS_COLORS, Figure, FontIn, Style, Theme, class_color, series_color, to_svg, value_color,
};
use std::collections::BTreeMap;

/// The section, and the colors its figures use.
pub(super) fn section(page: &Page) -> (String, Ink) {
    let mut ink = Ink::default();
    let mut html = String::new();
    // Maps have a section of their own, where they can be moved and recolored.
    let has_maps = map::has_maps(page.results);
    let is_shown = |path: &str| !(has_maps && path.starts_with("map/"));
    let shown = page.figures.iter().filter(|named| is_shown(&named.path));
    let folder = |named: &NamedFigure| named.path.split('/').next().unwrap_or("").to_string();
    let groups = grouped(shown.enumerate().map(|(i, named)| (folder(named), (i, named))));
    for (place, (folder, figures)) in groups.iter().enumerate() {
        let drawn: String = figures.iter().map(|(i, named)| figure(*i, named, &mut ink)).collect();
        let (open, count) = (if place == 0 { " open" } else { "" }, counted(figures.len(), "figure"));
        html += &format!(
            "<details class=\"figures\"{open}>\n<summary><h3>{}</h3> <span class=\"question\">{count}</span></summary>\n\
             {drawn}</details>\n",
            escape(&readable(folder))
        );
    }
    (html, ink)
}

/// A figure with its heading, its description and a way to save it.
fn figure(i: usize, named: &NamedFigure, ink: &mut Ink) -> String {
    let name = named.path.rsplit('/').next().unwrap_or(&named.path);
    let title = escape(&match named.figure.title.as_str() {
        "" => readable(name),
        title => title.to_string(),
    });
    let name = escape(name);
    let words = match escape(&named.figure.description).as_str() {
        "" => String::new(),
        words => format!(
            "<details class=\"words\"><summary>In words</summary><p id=\"figure{i}-words\">{words}</p></details>\n"
        ),
    };
    format!(
        "<figure class=\"drawing\" data-name=\"{name}\">\n<div class=\"bar\"><h4 id=\"figure{i}\">{title}</h4>\
         <button type=\"button\" class=\"save\" hidden>Save as SVG</button></div>\n\
         <div class=\"scroll\" role=\"region\" aria-label=\"{title}\" tabindex=\"0\">\n{}</div>\n\
         <figcaption>{words}</figcaption>\n</figure>\n",
        drawing(&named.figure, i, ink),
    )
}

/// `smoothness_comparison` as a heading: `Smoothness comparison`.
fn readable(name: &str) -> String {
    let name = name
        .replace('_', " ")
        .replace("rankme", "RankMe")
        .replace("clid", "CLID");
    capitalized(&name)
}

/// The figure as SVG for a page, where `number` makes its ids its own.
pub(super) fn drawing(figure: &Figure, number: usize, ink: &mut Ink) -> String {
    // Title and description are on the page already, and a browser would show them over every point.
    let bare = Figure {
        title: String::new(),
        description: String::new(),
        ..figure.clone()
    };
    let draw = |theme: Theme, id: String| {
        let style = Style {
            theme,
            font: FontIn::Page,
            background: Background::Transparent,
            ..Style::default()
        };
        let words = match figure.description.as_str() {
            "" => String::new(),
            _ => format!(" aria-describedby=\"figure{number}-words\""),
        };
        let names = format!("role=\"img\" aria-labelledby=\"figure{number}\"{words}");
        with_short_ids(&to_svg(&bare, &style), &id).replacen("role=\"img\"", &names, 1)
    };
    let id = format!("f{number}");
    let (light, dark) = (draw(Theme::Light, id.clone()), draw(Theme::Dark, id));
    match merged(&light, &dark, ink) {
        Some(svg) => svg,
        // Drawings that differ in more than colors: both, and the style sheet shows one.
        None => format!(
            "<div class=\"in-light\">{light}</div>\n<div class=\"in-dark\">{}</div>\n",
            draw(Theme::Dark, format!("d{number}"))
        ),
    }
}

/// The same drawing with numbers for ids. Those of figures name colors, which would tell light from dark, and they stand
/// in every point.
fn with_short_ids(svg: &str, prefix: &str) -> String {
    const BEFORE: [&str; 3] = [" id=\"", "href=\"#", "url(#"];
    let mut places: Vec<usize> = BEFORE
        .iter()
        .flat_map(|mark| svg.match_indices(mark).map(|(at, _)| at + mark.len()))
        .collect();
    places.sort_unstable();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut text = String::with_capacity(svg.len());
    let mut from = 0;
    for at in places {
        let id = &svg[at..at + svg[at..].find(['"', ')']).unwrap_or(0)];
        let next = numbers.len();
        let number = numbers.entry(id).or_insert(next);
        text.push_str(&svg[from..at]);
        text.push_str(&format!("{prefix}-{number}"));
        from = at + id.len();
    }
    text + &svg[from..]
}

/// The drawing with variables for colors. `None` if the two differ in anything else.
fn merged(light: &str, dark: &str, ink: &mut Ink) -> Option<String> {
    let (light, dark) = (pieces(light), pieces(dark));
    let is_same = light.len() == dark.len() && light.iter().zip(&dark).all(|(a, b)| a.0 == b.0);
    is_same.then(|| {
        let piece = |(a, b): (&Piece, &Piece)| match (a.1, b.1) {
            (Some(light), Some(dark)) => format!("{}var(--k{})", a.0, ink.number(light, dark)),
            _ => a.0.to_string(),
        };
        light.iter().zip(&dark).map(piece).collect()
    })
}

/// Text, and the color that follows it.
type Piece<'a> = (&'a str, Option<&'a str>);

/// Cuts a drawing at the colors of its fills and strokes. Names of models are never taken for colors: they stand in
/// other attributes, and quotes in text are escaped.
fn pieces(svg: &str) -> Vec<Piece<'_>> {
    const LENGTH: usize = "#rrggbb".len();
    let mut pieces = Vec::new();
    let mut rest = svg;
    let mut from = 0;
    while let Some(at) = rest[from..].find("=\"#").map(|at| from + at + 2) {
        let is_color = rest.as_bytes().get(at + LENGTH) == Some(&b'"')
            && rest[at + 1..at + LENGTH].bytes().all(|b| b.is_ascii_hexdigit());
        let attribute = rest[..at - 2].rsplit(' ').next().unwrap_or("");
        if is_color && ["fill", "stroke", "stop-color"].contains(&attribute) {
            pieces.push((&rest[..at], Some(&rest[at..at + LENGTH])));
            rest = &rest[at + LENGTH..];
            from = 0;
        } else {
            from = at;
        }
    }
    pieces.push((rest, None));
    pieces
}

/// Classes with a color of their own; the largest have one.
pub(super) const MOST_CLASSES: usize = CLASS_COLORS;

/// Steps of the scale of values.
pub(super) const STEPS: usize = 16;

/// Pairs of colors, light and dark, that figures use.
#[derive(Default)]
pub(super) struct Ink {
    pairs: Vec<(String, String)>,
    numbers: BTreeMap<(String, String), usize>,
}

impl Ink {
    /// The number of this pair, which is added if it is new.
    pub(super) fn number(&mut self, light: &str, dark: &str) -> usize {
        let pair = (light.to_string(), dark.to_string());
        *self.numbers.entry(pair.clone()).or_insert_with(|| {
            self.pairs.push(pair);
            self.pairs.len() - 1
        })
    }
}

/// Rules for all variables. Paper is always light; so is what stands in an element of class `paper`.
pub(super) fn css(ink: &Ink, models: &Models) -> String {
    let of = |theme: Theme| {
        let figures = ink.pairs.iter().enumerate().map(|(i, (light, dark))| {
            let color = if theme == Theme::Light { light } else { dark };
            format!("--k{i}:{color};")
        });
        let series = (0..models.names.len()).map(|i| format!("--s{i}:{};", series_color(i, theme)));
        let classes = (0..MOST_CLASSES).map(|i| format!("--c{i}:{};", class_color(i, theme)));
        let values = (0..STEPS).map(|i| {
            let share = i as f64 / (STEPS - 1) as f64;
            format!("--v{i}:{};", value_color(share, theme))
        });
        figures.chain(series).chain(classes).chain(values).collect::<String>()
    };
    let (light, dark) = (of(Theme::Light), of(Theme::Dark));
    format!(
        ":root,.paper{{{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_become_headings() {
        assert_eq!(readable("smoothness_comparison"), "Smoothness comparison");
        assert_eq!(readable(""), "");
    }

    #[test]
    fn one_drawing_holds_the_colors_of_two() {
        let mut ink = Ink::default();
        let light = r##"<a fill="#000000" data-model="#abcdef" stroke="#111111"/><b fill="#000000">="#222222"</b>"##;
        let dark = r##"<a fill="#ffffff" data-model="#abcdef" stroke="#eeeeee"/><b fill="#ffffff">="#222222"</b>"##;
        let both = merged(light, dark, &mut ink).unwrap();
        let expected =
            r##"<a fill="var(--k0)" data-model="#abcdef" stroke="var(--k1)"/><b fill="var(--k0)">="#222222"</b>"##;
        assert_eq!(both, expected);
    }

    #[test]
    fn drawings_that_differ_in_more_than_colors_are_not_merged() {
        let mut ink = Ink::default();
        assert_eq!(
            merged(
                r##"<a fill="#000000" r="1"/>"##,
                r##"<a fill="#ffffff" r="2"/>"##,
                &mut ink
            ),
            None
        );
        assert_eq!(
            merged(r##"<a fill="#000000"/>"##, r#"<a fill="none"/>"#, &mut ink),
            None
        );
    }

    #[test]
    fn letters_beside_a_mark_do_not_break_the_cut() {
        let svg = "<a fill=\"#é\" title=\"=\"/>";
        assert_eq!(pieces(svg), [(svg, None)]);
    }

    #[test]
    fn ids_are_numbered_as_they_come() {
        let svg = "<a id=\"x-0072b2-1\"/><b href=\"#x-0072b2-1\" clip-path=\"url(#y)\" data-id=\"x\"/><c id=\"y\"/>";
        let expected = "<a id=\"f-0\"/><b href=\"#f-0\" clip-path=\"url(#f-1)\" data-id=\"x\"/><c id=\"f-1\"/>";
        assert_eq!(with_short_ids(svg, "f"), expected);
    }
}
