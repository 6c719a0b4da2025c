// SPDX-License-Identifier: MIT
//! Results of a run in parts, one for each analysis, and the parts together.

use repscope_core::{Analysis, ClassColumn, Results, Score, Study};

use crate::analysis::{clid_metrics, declared, rankme_metrics};

/// What the results of several analyses say of one of them; nothing where they say nothing.
pub fn of_analysis(results: &Results, analysis: Analysis) -> Option<Results> {
    let is_own = |score: &Score| score.metric.metric().is_some_and(|metric| metric.analysis == analysis);
    if !results.scores.iter().any(is_own) {
        return None;
    }
    let has_performance = results.breakdowns.iter().any(|b| b.metric == "performance");
    let metrics = match analysis {
        Analysis::Clid => {
            let (mut of_studies, of_performance) = clid_metrics(true, has_performance);
            of_studies.extend(of_performance);
            of_studies
        }
        Analysis::Rankme => rankme_metrics(),
        analysis => analysis.metrics(),
    };
    let mut part = results.pick(&metrics, declared(analysis).classes);
    if analysis == Analysis::Clid {
        let shapes = results.breakdowns.iter().filter(|b| b.metric == SHAPE);
        part.breakdowns.extend(shapes.cloned());
    }
    part.warnings.clear();
    // One figure draws the layers in all analyses.
    part.layers.retain(|_| analysis.is_of_pairs());
    Some(part)
}

/// Adds the labels and episodes of the rows, which maps are colored by, where no analysis has brought them.
pub fn add_classes(results: &mut Results, studies: &[Study]) {
    let Some(study) = studies.first() else { return };
    results.classes = ClassColumn::of_study(study);
}

/// The size of the embeddings, which no metric owns.
const SHAPE: &str = "shape";
