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

use crate::perturbation::deliver;

/// The analyses of `evaluate`, in the order in which they are shown, and the folders of their files.
pub const ANALYSES: [(Analysis, &str); 9] = [
    (Analysis::Smoothness, "smoothness_analysis"),
    (Analysis::Robustness, "robustness_analysis"),
    (Analysis::Neighborhood, "neighborhood_preservation"),
    (Analysis::Manifold, "manifold_dimension"),
    (Analysis::Geometry, "geometry_analysis"),
    (Analysis::Rankme, "rankme"),
    (Analysis::Clid, "clid"),
    (Analysis::Retrieval, "retrieval"),
    (Analysis::Etes, "etes_analysis"),
];

/// The same, and the one that is no part of `evaluate`: it is about a classifier.
pub fn all_analyses() -> impl Iterator<Item = (Analysis, &'static str)> {
    ANALYSES.into_iter().chain([(Analysis::Perturb, deliver::FOLDER)])
}

/// Whether an analysis brings data of its own, and has no part in the models and states of the others.
pub fn has_own_data(analysis: Analysis) -> bool {
    matches!(analysis, Analysis::Retrieval | Analysis::Etes)
}

/// The folder of an analysis within the output folder.
pub fn folder_of(analysis: Analysis) -> &'static str {
    let own = all_analyses().find(|(other, _)| *other == analysis);
    own.map_or(analysis.name(), |(_, folder)| folder)
}
