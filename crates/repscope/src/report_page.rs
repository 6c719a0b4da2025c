// SPDX-License-Identifier: MIT
//! The figures and the HTML page of a results document, by the run that made it or by `repscope report`.

use std::path::Path;

use anyhow::{Context, Result};
use rayon::prelude::*;
use repscope_core::{Analysis, Results};
use repscope_figures::{Notes, Style, to_pdf, to_png, to_svg};
use repscope_io::{ResultsDocument, inside, write_whole};
use repscope_render::{InputLine, NamedFigure, Page, capitalized, figures, report_html};

use crate::analysis::{ANALYSES, Origin, declared};
use crate::compare::COMPARE;
use crate::evaluation::parts;
use crate::figure_files::chosen;
use crate::options::{FigureFormat, FigureOptions};
use crate::report::{Report, Written, counted};

/// The results of each analysis in a document, as its own command would have written them.
pub fn analyses(report: &Report) -> Vec<Report> {
    let of = |analysis: Analysis| {
        let results = match report.analysis() {
            Some(own) => (own.kind == analysis).then(|| report.results.clone()),
            None => parts::of_analysis(&report.results, analysis),
        };
        let document = ResultsDocument {
            command: analysis.name().to_string(),
            ..report.document.clone()
        };
        results.map(|results| Report::new(document, results))
    };
    ANALYSES.iter().filter_map(|own| of(own.kind)).collect()
}

/// The maps and scores over depth, which belong to no single analysis.
pub fn maps(report: &Report) -> Vec<NamedFigure> {
    match report.analysis() {
        Some(_) => Vec::new(),
        None => {
            let embeddings = of_embeddings(&report.results);
            ["layers", "map"]
                .into_iter()
                .flat_map(|name| describe(&embeddings, name, None))
                .collect()
        }
    }
}

/// Draws the maps of a document.
pub fn draw_maps(report: &Report, root: &Path, options: &FigureOptions) -> Result<Written> {
    if options.no_figures {
        return Ok(Written::default());
    }
    write_figures(maps(report), root, options, |_| true)
}

/// Draws the chosen panels of figures whose paths are wanted.
pub fn write_figures(
    figures: Vec<NamedFigure>,
    root: &Path,
    options: &FigureOptions,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Written> {
    let figures = chosen(figures, options);
    for (name, bytes) in draw_files(&figures, options, is_wanted)? {
        write_whole(&inside(root, &name)?, &bytes)?;
    }
    Ok(Written::of_figures(&figures, options))
}

/// The page of a document.
pub fn html(report: &Report) -> String {
    let document = &report.document;
    let figures: Vec<NamedFigure> = report.all_figures().into_iter().map(|(_, named)| named).collect();
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
        title: &title(report),
        analysis: report.analysis().map(|own| own.kind),
        command: &document.command_line,
        version: &document.repscope,
        spec: &document.spec,
        inputs: &inputs,
        results: &report.results,
        figures: &figures,
        pictures: &document.pictures,
    })
}

/// The results without those of analyses that have data of their own, whose models are no embeddings.
pub fn of_embeddings(results: &Results) -> Results {
    let is_shown = |metric: &str| {
        let found = repscope_core::metrics::find(metric);
        found
            .is_none_or(|(metric, _)| declared(metric.analysis).data == Origin::Study && !metric.analysis.is_of_pairs())
    };
    let mut kept = results.clone();
    kept.scores.retain(|score| is_shown(&score.metric));
    kept.breakdowns.clear();
    kept
}

/// `Evaluation of jepa and ae`.
fn title(report: &Report) -> String {
    // Retrievals and generated texts are no models of the same inputs.
    let embeddings = of_embeddings(&report.results);
    let systems = if embeddings.scores.is_empty() {
        &report.results
    } else {
        &embeddings
    };
    let models = match systems.models()[..] {
        [] => "nothing".to_string(),
        [one] => one.to_string(),
        [one, other] => format!("{one} and {other}"),
        [one, other, third] => format!("{one}, {other} and {third}"),
        ref many => counted(many.len(), "model"),
    };
    match report.document.command.as_str() {
        "evaluate" => format!("Evaluation of {models}"),
        COMPARE => format!("Comparison of {models}"),
        command => format!("{} of {models}", capitalized(command)),
    }
}

/// The figures of an analysis, with its seed below those that random choices enter.
pub fn describe(results: &Results, command: &str, seed: Option<u64>) -> Vec<NamedFigure> {
    let mut described = figures(results, command);
    if let Some(seed) = seed {
        described.iter_mut().for_each(|named| named.note_seed(seed));
    }
    described
}

/// The file of a figure, below the output folder.
pub fn figure_path(named: &NamedFigure, format: FigureFormat) -> String {
    // Names hold dots of their own, so the extension is added and never replaces anything.
    format!("{}.{}", named.path, format.name())
}

/// Height in millimeters that a page of a journal leaves to a figure and a short caption.
const PAGE_HEIGHT: f64 = 230.0;

/// Draws the figures that are `wanted`, on all threads. A path below the output folder and the bytes of each file.
pub fn draw_files(
    figures: &[NamedFigure],
    options: &FigureOptions,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Vec<u8>)>> {
    let style = Style {
        width: options.figure_width,
        most_height: Some(PAGE_HEIGHT),
        notes: if options.no_caption {
            Notes::LeftOut
        } else {
            Notes::Drawn
        },
        ..Style::default()
    };
    let mut tasks = Vec::new();
    for named in figures {
        for format in options.formats() {
            let path = figure_path(named, format);
            if wanted(&path) {
                tasks.push((named, format, path));
            }
        }
    }
    let draw = |(named, format, path): (&NamedFigure, FigureFormat, String)| {
        let bytes = match format {
            FigureFormat::Svg => to_svg(&named.figure, &style).into_bytes(),
            FigureFormat::Png => to_png(&named.figure, &style).with_context(|| format!("drawing {path}"))?,
            FigureFormat::Pdf => to_pdf(&named.figure, &style).with_context(|| format!("drawing {path}"))?,
        };
        Ok((path, bytes))
    };
    tasks.into_par_iter().map(draw).collect()
}
