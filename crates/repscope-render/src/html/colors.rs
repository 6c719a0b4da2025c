// SPDX-License-Identifier: MIT
//! Colors of figures and maps as CSS variables, so that one drawing serves light and dark.

use super::models::Models;
use repscope_figures::{CLASS_COLORS, Theme, class_color, series_color, value_color};
use std::collections::BTreeMap;

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
