// SPDX-License-Identifier: MIT
//! The models of the page, and the boxes that show and hide them.

use super::safe::{escape, of_model};
use crate::scores::distinct;
use repscope_core::Results;

/// The models of a run, in the order that gives them their colors in figures.
pub(crate) struct Models<'a> {
    pub(super) names: Vec<&'a str>,
}

impl<'a> Models<'a> {
    pub(super) fn of(results: &'a Results) -> Self {
        let scored = results.scores.iter().map(|score| score.model.as_str());
        let drawn = results.curves.iter().map(|curve| curve.model.as_str());
        let sampled = results.samples.iter().map(|table| table.model.as_str());
        // Numbers about all models together carry no name.
        let named = scored.chain(drawn).chain(sampled).filter(|name| !name.is_empty());
        Models { names: distinct(named) }
    }

    /// The name of a model beside a patch of its color.
    pub(crate) fn swatch(&self, name: &str) -> String {
        match self.names.iter().position(|known| *known == name) {
            Some(i) => format!(
                "<span class=\"swatch\" style=\"--swatch:var(--s{i})\"></span>{}",
                escape(name)
            ),
            None => shown(name),
        }
    }

    /// A box for each of several models.
    pub(super) fn checkboxes(&self) -> String {
        if self.names.len() < 2 {
            return String::new();
        }
        let boxes: String = self
            .names
            .iter()
            .map(|name| {
                let toggle = of_model(name).replace("data-model", "data-toggle");
                format!(
                    "<label><input type=\"checkbox\" checked{toggle}> {}</label>\n",
                    self.swatch(name)
                )
            })
            .collect();
        format!(
            "<fieldset class=\"control models\">\n<legend>Models</legend>\n{boxes}\
             <button type=\"button\" id=\"show-all\" hidden>Show all</button>\n</fieldset>\n"
        )
    }
}

/// A model's name as HTML; numbers about all models together carry none.
pub(super) fn shown(name: &str) -> String {
    match name {
        "" => "all models".to_string(),
        name => escape(name),
    }
}
