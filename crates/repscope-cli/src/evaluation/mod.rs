// SPDX-License-Identifier: MIT
//! `repscope evaluate` in steps: `options` brings the study file and the command line together, `inputs` reads every file,
//! `plan` says which analyses run, `stages` runs them with shared passes, `parts` cuts results into analyses and puts them
//! together again, `folder` finds what an earlier run has finished, `document` says what the whole was asked.

pub mod document;
pub mod folder;
pub mod inputs;
pub mod options;
pub mod parts;
pub mod plan;
pub mod problems;
pub mod stages;

use repscope_core::Analysis;

/// The analyses, in the order in which they are shown, and the folders of their files.
pub const ANALYSES: [(Analysis, &str); 8] = [
    (Analysis::Smoothness, "smoothness_analysis"),
    (Analysis::Robustness, "robustness_analysis"),
    (Analysis::Neighborhood, "neighborhood_preservation"),
    (Analysis::Manifold, "manifold_dimension"),
    (Analysis::Geometry, "geometry_analysis"),
    (Analysis::Rankme, "rankme"),
    (Analysis::Clid, "clid"),
    (Analysis::Retrieval, "retrieval"),
];

/// The folder of an analysis within the output folder.
pub fn folder_of(analysis: Analysis) -> &'static str {
    let own = ANALYSES.iter().find(|(other, _)| *other == analysis);
    own.map_or(analysis.name(), |(_, folder)| folder)
}
