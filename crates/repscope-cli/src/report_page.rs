// SPDX-License-Identifier: MIT
//! The figures and the HTML page of a results document, by the run that made it or by `repscope report`.

use std::path::Path;

use anyhow::Result;
use repscope_core::{Analysis, Results};
use repscope_io::{ResultsDocument, write_whole};
use repscope_render::{InputLine, NamedFigure, Page, report_html};

use crate::args::FigureOptions;
use crate::commands::compare::COMPARE;
use crate::evaluation::{all_analyses, has_own_data, parts};
use crate::figure_files::{self, describe};
use crate::outputs::{Finished, Written, counted};

/// The analysis that a command is; none for `evaluate` and `compare`, which are several.
pub fn analysis_of(command: &str) -> Option<Analysis> {
    let own = all_analyses().find(|(analysis, _)| analysis.name() == command);
    own.map(|(analysis, _)| analysis)
}

/// The results of each analysis in a document, as its own command would have written them.
pub fn analyses(finished: &Finished) -> Vec<Finished> {
    let of = |analysis: Analysis| {
        let results = match analysis_of(&finished.document.command) {
            Some(own) => (own == analysis).then(|| finished.results.clone()),
            None => parts::of_analysis(&finished.results, analysis),
        };
        let document = ResultsDocument {
            command: analysis.name().to_string(),
            ..finished.document.clone()
        };
        results.map(|results| Finished { document, results })
    };
    all_analyses().filter_map(|(analysis, _)| of(analysis)).collect()
}

/// The maps, which belong to no analysis.
pub fn maps(finished: &Finished) -> Vec<NamedFigure> {
    match analysis_of(&finished.document.command) {
        Some(_) => Vec::new(),
        None => describe(&of_codes(&finished.results), "map", None),
    }
}

/// Draws the figures of each analysis in a document, and its maps.
pub fn draw(finished: &Finished, root: &Path, options: &FigureOptions) -> Result<Written> {
    let mut written = Written::default();
    for part in analyses(finished) {
        written.add(part.write_figures(root, options, |_| true)?);
    }
    written.add(draw_maps(finished, root, options)?);
    Ok(written)
}

/// Draws the maps of a document.
pub fn draw_maps(finished: &Finished, root: &Path, options: &FigureOptions) -> Result<Written> {
    if options.no_figures {
        return Ok(Written::default());
    }
    let maps = maps(finished);
    for (name, bytes) in figure_files::draw(&maps, options, |_| true)? {
        write_whole(&root.join(name), &bytes)?;
    }
    Ok(Written::of_figures(&maps, options))
}

/// The page of a document.
pub fn html(finished: &Finished) -> String {
    let document = &finished.document;
    let mut figures: Vec<NamedFigure> = Vec::new();
    for part in analyses(finished) {
        figures.extend(describe(&part.results, &part.document.command, part.seed()));
    }
    figures.extend(maps(finished));
    let shape = |shape: &[usize]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ");
    let inputs: Vec<InputLine> = document
        .inputs
        .iter()
        .map(|input| InputLine {
            path: input.path.clone(),
            shape: shape(&input.shape),
            dtype: input.dtype.clone(),
            digest: input.digest.clone(),
            about: input.about.join("; "),
        })
        .collect();
    report_html(&Page {
        title: &title(finished),
        command: &format!("repscope {}", document.command),
        version: &document.repscope,
        spec: &document.spec,
        inputs: &inputs,
        results: &finished.results,
        figures: &figures,
    })
}

/// The results without those of a retrieval or of generated texts, whose models are none of codes.
pub fn of_codes(results: &Results) -> Results {
    let is_of_codes = |metric: &str| {
        let found = repscope_core::metrics::find(metric);
        found.is_none_or(|(metric, _)| !has_own_data(metric.analysis))
    };
    let mut kept = results.clone();
    kept.scores.retain(|score| is_of_codes(&score.metric));
    kept.breakdowns.clear();
    kept
}

/// `Evaluation of jepa and ae`.
fn title(finished: &Finished) -> String {
    let mut models: Vec<&str> = Vec::new();
    for score in &finished.results.scores {
        if !models.contains(&score.model.as_str()) {
            models.push(&score.model);
        }
    }
    let models = match models[..] {
        [] => "nothing".to_string(),
        [one] => one.to_string(),
        [one, other] => format!("{one} and {other}"),
        [one, other, third] => format!("{one}, {other} and {third}"),
        _ => counted(models.len(), "model"),
    };
    match finished.document.command.as_str() {
        "evaluate" => format!("Evaluation of {models}"),
        COMPARE => format!("Comparison of {models}"),
        command => {
            let mut letters = command.chars();
            let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            format!("{first}{} of {models}", letters.as_str())
        }
    }
}
