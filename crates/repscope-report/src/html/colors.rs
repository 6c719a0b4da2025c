// SPDX-License-Identifier: MIT
//! Colours of figures and maps as CSS variables, so that one drawing serves light and dark.

use super::models::Models;
use repscope_figures::{Theme, series_color};
use std::collections::BTreeMap;

/// Classes with a colour of their own; the largest have one.
pub(super) const MOST_CLASSES: usize = 20;

/// Steps of the scale of values.
pub(super) const STEPS: usize = 16;

/// Classes of a map, as the figures colour them.
const CLASSES: [u32; MOST_CLASSES] = [
    0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0xD55E00, 0x56B4E9, 0x882255, 0x8FCF7C, 0x332288, 0xB8A038, 0x7A3B10,
    0xF0A8B8, 0x44AA99, 0x9467BD, 0xDDCC77, 0x17657D, 0xFF7F6E, 0x6B7A1F, 0xB9B5E8, 0xC2185B,
];

/// Values of points, from low to high, as in the figures.
const VALUES: [u32; 7] = [0x472D7B, 0x3B528B, 0x2C728E, 0x21918C, 0x28AE80, 0x7BC751, 0xE2C520];

/// Pairs of colours, light and dark, that figures use.
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
        let classes = CLASSES
            .iter()
            .enumerate()
            .map(|(i, color)| format!("--c{i}:#{:06x};", on(theme, *color)));
        let values = (0..STEPS).map(|i| {
            let color = value_color(i as f64 / (STEPS - 1) as f64);
            format!("--v{i}:#{:06x};", on(theme, color))
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

fn value_color(t: f64) -> u32 {
    let place = t.clamp(0.0, 1.0) * (VALUES.len() - 1) as f64;
    let left = (place as usize).min(VALUES.len() - 2);
    mix(VALUES[left], VALUES[left + 1], place - left as f64)
}

/// Points on dark paper are paler.
fn on(theme: Theme, color: u32) -> u32 {
    match theme {
        Theme::Light => color,
        Theme::Dark => mix(color, 0xFFFFFF, 0.25),
    }
}

/// `t` of the way from one colour to another.
fn mix(from: u32, to: u32, t: f64) -> u32 {
    let channel = |shift: u32| {
        let of = |color: u32| f64::from(color >> shift & 255);
        ((of(from) + t * (of(to) - of(from))).round() as u32) << shift
    };
    channel(16) | channel(8) | channel(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use repscope_figures::{ColoredBy, Figure, FontIn, Map, Panel, Style, to_svg};

    fn drawn(colored_by: ColoredBy, theme: Theme) -> String {
        let points = (0..MOST_CLASSES).map(|i| [i as f64, 0.0]).collect();
        let map = Map {
            points,
            colored_by,
            ..Map::default()
        };
        let figure = Figure {
            panels: vec![Panel::new("", map)],
            ..Figure::default()
        };
        let style = Style {
            theme,
            font: FontIn::Page,
            ..Style::default()
        };
        to_svg(&figure, &style)
    }

    #[test]
    fn classes_and_values_have_the_colours_of_the_figures() {
        for theme in [Theme::Light, Theme::Dark] {
            let classes = ColoredBy::Class {
                names: (0..MOST_CLASSES).map(|i| i.to_string()).collect(),
                of: (0..MOST_CLASSES).map(Some).collect(),
            };
            let svg = drawn(classes, theme);
            for color in CLASSES {
                let color = on(theme, color);
                assert!(
                    svg.contains(&format!("fill=\"#{color:06x}\"")),
                    "{color:06x} in {theme:?}"
                );
            }
        }
        let values = ColoredBy::Value {
            label: "value".to_string(),
            of: (0..MOST_CLASSES).map(|i| Some(i as f64)).collect(),
            range: None,
        };
        let svg = drawn(values, Theme::Light);
        for end in [VALUES[0], VALUES[6]] {
            assert!(svg.contains(&format!("fill=\"#{end:06x}\"")), "{end:06x}");
        }
    }
}
