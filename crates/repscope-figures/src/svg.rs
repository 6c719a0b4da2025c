// SPDX-License-Identifier: MIT
//! Writes SVG text: a few shapes, letters, groups. Remembers where letters stand, so that tests can look for
//! collisions.

use crate::content::Weight;
use crate::palette::{Rgb, hex};
use crate::text::{ASCENT, DESCENT, clean, width};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A rectangle; y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Rect {
    pub fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width, height }
    }

    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// Which point of a line of text is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Which way text runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// To the right.
    None,
    /// Upwards.
    Up,
}

/// How text is set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Letters {
    pub size: f64,
    pub weight: Weight,
    pub color: Rgb,
    pub anchor: Anchor,
    pub turn: Turn,
}

impl Letters {
    pub fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub fn colored(self, color: Rgb) -> Self {
        Self { color, ..self }
    }

    pub fn sized(self, size: f64) -> Self {
        Self { size, ..self }
    }

    pub fn weighed(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    pub fn upright(self) -> Self {
        let turn = Turn::Up;
        Self { turn, ..self }
    }
}

/// A stroke: color, width and dashes (empty for none).
#[derive(Debug, Clone)]
pub(crate) struct Stroke {
    pub color: Rgb,
    pub width: f64,
    pub dash: String,
    pub opacity: f64,
}

impl Stroke {
    pub fn solid(color: Rgb, width: f64) -> Self {
        Self {
            color,
            width,
            dash: String::new(),
            opacity: 1.0,
        }
    }

    pub fn dashed(color: Rgb, width: f64, dash: &str) -> Self {
        Self {
            dash: dash.to_string(),
            ..Self::solid(color, width)
        }
    }
}

/// SVG text in the making.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    /// Everything drawn so far.
    pub body: String,
    /// All letters used, regular and bold.
    pub used: [BTreeSet<char>; 2],
    /// Each text with its box.
    pub texts: Vec<(String, Rect)>,
    /// Rules that a paper viewer and a browser both need: clips, markers, hatches.
    pub defs: String,
}

impl Svg {
    /// Adds a definition, once.
    pub fn define(&mut self, definition: &str) {
        if !self.defs.contains(definition) {
            self.defs.push_str(definition);
        }
    }

    /// Text with its baseline at y. Empty text draws nothing.
    pub fn text(&mut self, x: f64, y: f64, text: &str, letters: Letters) {
        let text = clean(text);
        if text.is_empty() {
            return;
        }
        let Letters {
            size,
            weight,
            color,
            anchor,
            turn,
        } = letters;
        self.used[usize::from(weight == Weight::Bold)].extend(text.chars());
        let long = width(&text, size, weight);
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => long / 2.0,
            Anchor::End => long,
        };
        let (up, down) = (ASCENT * size, DESCENT * size);
        let place = match turn {
            Turn::None => Rect::new(x - before, y - up, long, up + down),
            Turn::Up => Rect::new(x - up, y - long + before, up + down, long),
        };
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = match weight {
            Weight::Regular => "",
            Weight::Bold => " font-weight=\"600\"",
        };
        let place_at = match turn {
            Turn::None => format!("x=\"{}\" y=\"{}\"", Short(x), Short(y)),
            Turn::Up => format!("transform=\"translate({} {}) rotate(-90)\"", Short(x), Short(y)),
        };
        let _ = writeln!(
            self.body,
            "<text {place_at} font-size=\"{}\"{weight}{anchor} fill=\"{}\">{}</text>",
            Short(size),
            hex(color),
            escape(&text)
        );
        self.texts.push((text, place));
    }

    /// A filled rectangle. `title` is shown by a browser when pointed at.
    pub fn rect(&mut self, rect: Rect, fill: &str, stroke: Option<&Stroke>, title: &str) {
        let Rect { x, y, width, height } = rect;
        let _ = write!(
            self.body,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"{}",
            Short(x),
            Short(y),
            Short(width.max(0.0)),
            Short(height.max(0.0)),
            stroke.map(strokes).unwrap_or_default()
        );
        self.close(title);
    }

    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &Stroke) {
        let d = polyline([Some(from), Some(to)].into_iter());
        let _ = writeln!(self.body, "<path d=\"{d}\" fill=\"none\"{}/>", strokes(stroke));
    }

    /// A path given by its `d`.
    pub fn path(&mut self, d: &str, fill: &str, fill_opacity: f64, stroke: Option<&Stroke>, title: &str) {
        let opacity = || format!(" fill-opacity=\"{}\"", Short(fill_opacity));
        let opacity = if fill_opacity < 1.0 { opacity() } else { String::new() };
        let stroke = stroke.map(strokes).unwrap_or_default();
        let _ = write!(self.body, "<path d=\"{d}\" fill=\"{fill}\"{opacity}{stroke}");
        self.close(title);
    }

    /// A copy of something in `defs`.
    pub fn mark(&mut self, id: &str, x: f64, y: f64, title: &str) {
        let _ = write!(self.body, "<use href=\"#{id}\" x=\"{}\" y=\"{}\"", Short(x), Short(y));
        self.close(title);
    }

    fn close(&mut self, title: &str) {
        if title.is_empty() {
            self.body.push_str("/>\n");
        } else {
            // All three elements are closed by name, because a title is a child.
            let element = self.body[self.body.rfind('<').unwrap_or(0) + 1..]
                .split(' ')
                .next()
                .unwrap_or("")
                .to_string();
            let _ = writeln!(self.body, "><title>{}</title></{element}>", escape(&clean(title)));
        }
    }

    /// Opens a group that a page can find by the name of its series.
    pub fn open_series(&mut self, class: &str, name: &str) {
        self.open(&format!("class=\"{class}\" data-model=\"{}\"", escape(&clean(name))));
    }

    /// Opens a group with these attributes.
    pub fn open(&mut self, attributes: &str) {
        let _ = writeln!(self.body, "<g {attributes}>");
    }

    pub fn close_group(&mut self) {
        self.body.push_str("</g>\n");
    }
}

fn strokes(stroke: &Stroke) -> String {
    let (color, width) = (hex(stroke.color), Short(stroke.width));
    let mut text = format!(" stroke=\"{color}\" stroke-width=\"{width}\"");
    if !stroke.dash.is_empty() {
        let _ = write!(text, " stroke-dasharray=\"{}\"", stroke.dash);
    }
    if stroke.opacity < 1.0 {
        let _ = write!(text, " stroke-opacity=\"{}\"", Short(stroke.opacity));
    }
    text
}

/// A path through points; gaps start a new piece.
pub(crate) fn polyline(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut d = String::new();
    let mut pen_down = false;
    for point in points {
        if let Some((x, y)) = point {
            let _ = write!(d, "{}{} {}", if pen_down { 'L' } else { 'M' }, Short(x), Short(y));
        }
        pen_down = point.is_some();
    }
    d
}

/// A number with two decimals and no trailing zeros: a hundredth of a point is finer than any printer.
pub(crate) struct Short(pub f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

/// Escapes text for XML.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_zero_has_no_sign() {
        let shown: Vec<String> = [1.0, 0.125, -0.001, 1e6, 2.5]
            .iter()
            .map(|x| Short(*x).to_string())
            .collect();
        assert_eq!(shown, ["1", "0.12", "0", "1000000", "2.5"]);
    }

    #[test]
    fn a_missing_point_breaks_a_line() {
        let points = [Some((0.0, 0.0)), Some((1.0, 1.0)), None, Some((3.0, 3.0))];
        assert_eq!(polyline(points.into_iter()), "M0 0L1 1M3 3");
    }
}
