// SPDX-License-Identifier: MIT
//! Retrieval: scores against K, label by label, and which labels are retrieved for which.

mod labels;
mod scores;

use super::words::description;
use super::{NamedFigure, named};
use crate::retrieval::{Part, by_labels, direction, names, parts, title};
use crate::scores::{distinct, sorted};
use crate::text::{join, printable};
use repscope_core::{Breakdown, MetricId, Results};
use repscope_figures::Figure;

/// The figures of each model and set of labels; where there are several models, also one that compares them.
pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let parts = parts(results);
    let directions = distinct(parts.iter().map(|part| (part.direction, part.sides)));
    let (directions, sides): (Vec<&str>, Vec<(&str, &str)>) = directions.into_iter().unzip();
    let series: Vec<String> = sides.into_iter().map(|sides| printable(&title(sides, "→"))).collect();
    let mut figures = scores::comparison(&parts, &directions, &series);
    for group in by_labels(&parts) {
        let [model, set] = names(&group[0], &parts);
        let heading = [
            model.map(printable),
            set.map(|set| format!("Labels: {}", printable(set))),
        ];
        let run = Run {
            results,
            directions: &directions,
            series: &series,
            parts: group,
            suffix: [model, set]
                .into_iter()
                .flatten()
                .map(|name| format!("_{}", in_path(name)))
                .collect(),
            heading: join(heading.into_iter().flatten(), ", "),
        };
        figures.extend([scores::figure(&run), labels::of_labels(&run), labels::confusion(&run)].concat());
    }
    number_equal_paths(&mut figures);
    figures
}

/// One model and one set of labels.
struct Run<'a> {
    results: &'a Results,
    /// All directions of the results; the index is the series, so that a direction has one color everywhere.
    directions: &'a [&'a str],
    series: &'a [String],
    parts: &'a [Part<'a>],
    /// Ends the names of the files, where there are several models or sets.
    suffix: String,
    /// The model and the set, where there are several.
    heading: String,
}

impl Run<'_> {
    fn series_of(&self, direction: &str) -> usize {
        self.directions.iter().position(|d| *d == direction).unwrap_or(0)
    }

    /// The breakdowns of a measure at the middle one of its K, direction by direction.
    fn breakdowns(&self, measure: &str) -> Option<(usize, Vec<(usize, &Breakdown)>)> {
        let first = self.parts.first()?;
        let known = self
            .results
            .breakdowns
            .iter()
            .filter(|breakdown| breakdown.model == first.model);
        let is_own = |id: &MetricId| direction(id).is_some() && id.measure() == measure && id.labels() == first.labels;
        let known: Vec<&Breakdown> = known.filter(|breakdown| is_own(&breakdown.metric)).collect();
        let ks = sorted(known.iter().filter_map(|breakdown| breakdown.metric.k()));
        let k = *super::middle(&ks)?;
        let at_k = known.into_iter().filter(|breakdown| breakdown.metric.k() == Some(k));
        let of_series = |breakdown: &Breakdown| self.series_of(breakdown.metric.direction().unwrap_or(""));
        Some((k, at_k.map(|breakdown| (of_series(breakdown), breakdown)).collect()))
    }

    /// A figure with the directions as its series; the model and the set stand above it, where there are several.
    fn named(
        &self,
        name: &str,
        head: &str,
        sentences: impl IntoIterator<Item = String>,
        figure: Figure,
    ) -> Vec<NamedFigure> {
        let head = match self.heading.as_str() {
            "" => head.to_string(),
            heading => format!("{heading}. {head}"),
        };
        let figure = Figure {
            title: self.heading.clone(),
            description: description(head, sentences),
            series: self.series.to_vec(),
            ..figure
        };
        named(&format!("retrieval/{name}{}", self.suffix), figure)
    }
}

/// A name as part of a file name: everything but letters, digits, `-` and `.` becomes `-`.
pub(super) fn in_path(name: &str) -> String {
    let is_kept = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '_');
    name.replace(|c: char| !is_kept(c), "-")
}

/// Names that differ only in what a path cannot hold get a number.
pub(super) fn number_equal_paths(figures: &mut [NamedFigure]) {
    for i in 1..figures.len() {
        let wanted = figures[i].path.clone();
        let mut count = 1;
        let is_same = |a: &NamedFigure, b: &NamedFigure| a.path.to_lowercase() == b.path.to_lowercase();
        while figures[..i].iter().any(|earlier| is_same(earlier, &figures[i])) {
            count += 1;
            figures[i].path = format!("{wanted}_{count}");
        }
    }
}
