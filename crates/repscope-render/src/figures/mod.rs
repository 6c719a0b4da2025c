// SPDX-License-Identifier: MIT
//! Results to descriptions of figures, one file per analysis. What is drawn is decided here; how it looks, in
//! `repscope-figures`.
//!
//! A figure shows what its analysis computed and no more: a metric that nobody asked for has no panel, one without a value
//! has a panel that says why, and a figure without any value is left out. Below each figure stand N, the direction, what
//! the intervals are and what a reader must know; its description says the main numbers in words.

mod clid;
pub(crate) mod drift;
mod etes;
mod geometry;
mod layers;
mod manifold;
mod map;
mod mixing;
mod models;
mod neighborhood;
mod perturb;
mod probe;
mod rankme;
mod retrieval;
mod robustness;
mod series;
mod similarity;
mod smoothness;
mod spread;
#[cfg(test)]
mod tests;
mod versions;
mod words;

use repscope_core::Results;
use repscope_figures::{Content, Figure, Panel};

/// A figure and where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedFigure {
    /// Below the output folder, without extension: `smoothness_analysis/smoothness_comparison`.
    pub path: String,
    /// What it shows.
    pub figure: Figure,
}

impl NamedFigure {
    /// Names the seed below the figure, where its numbers come from random choices. Results do not know their seed.
    pub fn note_seed(&mut self, seed: u64) {
        if SEEDED.iter().any(|folder| self.path.starts_with(folder)) {
            self.figure.notes.push(format!("Seed {seed}."));
        }
    }
}

/// Folders of figures that random choices enter: k-means, splits, noise, masks. CLID lists the seeds it used itself.
const SEEDED: [&str; 7] = [
    "geometry_analysis/",
    "robustness_analysis/",
    "perturbation_analysis/",
    "similarity/",
    "probe/",
    "drift/",
    "mixing/",
];

type Analysis = fn(&Results) -> Vec<NamedFigure>;

/// The analyses that have figures, by command.
const ANALYSES: [(&str, Analysis); 16] = [
    ("smoothness", smoothness::figures),
    ("robustness", robustness::figures),
    ("neighborhood", neighborhood::figures),
    ("manifold", manifold::figures),
    ("geometry", geometry::figures),
    ("rankme", rankme::figures),
    ("clid", clid::figures),
    ("similarity", similarity::figures),
    ("probe", probe::figures),
    ("drift", drift::figures),
    ("mixing", mixing::figures),
    ("retrieval", retrieval::figures),
    ("perturb", perturb::figures),
    ("etes", etes::figures),
    ("map", map::figures),
    ("layers", layers::figures),
];

/// The figures that belong to a command: of its own analysis, or of all that have results for any other command
/// (`evaluate`, say).
pub fn figures(results: &Results, wanted: &str) -> Vec<NamedFigure> {
    let is_one = ANALYSES.iter().any(|(name, _)| *name == wanted);
    let wanted = ANALYSES.iter().filter(|(name, _)| !is_one || *name == wanted);
    let with_versions = |(name, figures): &(&str, Analysis)| {
        let mut all = figures(results);
        if let Some(folder) = crate::csv_files::folder(name).filter(|_| !results.versions.is_empty()) {
            all.extend(versions::figures(results, folder, name));
        }
        // Of one analysis the figure stands in its folder; of several there is one of all.
        if let Some(folder) = crate::csv_files::folder(name).filter(|_| is_one && !is_of_pairs(name)) {
            all.extend(layers::of_path(results, &format!("{folder}/{name}_layers")));
        }
        all
    };
    wanted.flat_map(with_versions).collect()
}

/// Similarity speaks of two layers at a time.
fn is_of_pairs(name: &str) -> bool {
    name == "similarity"
}

/// What the parts of a box plot are.
const OF_BOXES: &str = "Boxes: quartiles and median; their whiskers reach the last value within 1.5 interquartile ranges, on a \
                        log axis those of the logarithms. Of many values beyond them, some are drawn.";

/// One figure as a list; none where nothing of it can be drawn.
fn named(path: &str, mut figure: Figure) -> Vec<NamedFigure> {
    if figure.panels.is_empty() {
        return Vec::new();
    }
    let is_boxes = |panel: &Panel| matches!(panel.content, Content::Boxes(_));
    if figure.panels.iter().any(is_boxes) {
        figure.notes.push(OF_BOXES.to_string());
    }
    let path = path.to_string();
    vec![NamedFigure { path, figure }]
}

/// The one in the middle; of two, the first.
fn middle<T>(items: &[T]) -> Option<&T> {
    items.get(items.len().saturating_sub(1) / 2)
}
