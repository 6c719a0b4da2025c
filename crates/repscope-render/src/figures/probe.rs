// SPDX-License-Identifier: MIT
//! Probes: what is read out of the embeddings, beside chance and shuffled labels, and over the rows of each class that train.

use super::NamedFigure;
use super::models::{Models, highlighted};
use super::words::{all_values, description, is_of, notes, table};
use crate::breakdowns::{cell, lines, names};
use crate::scores::distinct;
use crate::text::printable;
use repscope_core::{Analysis, Better, Breakdown, MetricId, Results};
use repscope_figures::{Axis, Curve, CurveLook, CurvePoint, Lines, Panel, Reference, ReferenceAt};

const FEW: &str = "probe.few_shot";
/// More targets than this are told by their mean.
const MOST_TARGETS: usize = 12;
/// More sets of labels than this have no panel each.
const MOST_SETS: usize = 4;
/// What stands below a figure with probes of few rows.
const BELOW: &str = "Probes of few rows are logistic regressions with penalty 1 of random rows of each class; bands are Student's t over the \
                     draws. All other rows test, without those of the groups that train.";

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let models = Models::of(results);
    let is_own = is_of(Analysis::Probe);
    if !models.have(is_own) {
        return Vec::new();
    }
    let ids = distinct(results.scores.iter().map(|score| &score.metric).filter(|id| is_own(id)));
    let with = |output: &str| -> Vec<MetricId> {
        let is_it = |id: &&&MetricId| id.output().is_some_and(|own| own.id == output);
        ids.iter().filter(is_it).map(|id| (*id).clone()).collect()
    };
    let share = |label: &str| Axis::linear(label).covering(&[0.0, 1.0]);
    let mut panels: Vec<Option<Panel>> = Vec::new();
    for id in with("probe.linear.accuracy").iter().take(MOST_SETS) {
        let votes = with("probe.knn.accuracy@K")
            .into_iter()
            .filter(|own| own.labels() == id.labels());
        let mut groups = vec![("linear".to_string(), id.to_string())];
        groups.extend(votes.map(|own| (format!("{}-NN", own.k().unwrap_or(0)), own.to_string())));
        let title = titled("Classification accuracy", id.labels());
        panels.push(models.bars(&title, share("accuracy"), "probe", &groups));
    }
    let targets: Vec<(String, String)> = with("probe.linear.r2(target=NAME)")
        .iter()
        .map(|id| (printable(id.parameter("target").unwrap_or("")), id.to_string()))
        .collect();
    let axis = || Axis::linear("R²").covering(&[0.0, 1.0]);
    panels.push(match targets.len() {
        0 => None,
        1..=MOST_TARGETS => models.bars("Regression R²", axis(), "target", &targets),
        _ => models.bar("Regression R², mean of all targets", axis(), "probe.linear.r2"),
    });
    let few: Vec<Panel> = few_sets(results)
        .into_iter()
        .filter_map(|id| few_rows(&models, &id))
        .collect();
    let has_few = !few.is_empty();
    panels.extend(few.into_iter().map(Some));
    let selectivity: Vec<(String, String)> = with("probe.linear.selectivity")
        .iter()
        .take(MOST_SETS)
        .map(|id| (id.labels().map_or("labels".to_string(), printable), id.to_string()))
        .collect();
    let above = Axis::linear("accuracy − that of shuffled labels").covering(&[0.0]);
    panels.push(models.bars("Selectivity", above, "labels", &selectivity));
    let calibration: Vec<(String, String)> = with("probe.linear.ece")
        .iter()
        .take(MOST_SETS)
        .map(|id| (id.labels().map_or("labels".to_string(), printable), id.to_string()))
        .collect();
    panels.push(models.bars(
        "Calibration error",
        Axis::linear("ECE").covering(&[0.0]),
        "labels",
        &calibration,
    ));
    let is_shown = |id: &MetricId| is_own(id) && targets.len() <= MOST_TARGETS;
    panels.push(table(results, is_shown).map(|panel| panel.span(2)));
    let words = description(
        "What simple predictors read out of the embeddings.",
        all_values(&models, is_own),
    );
    let mut below = notes(results, is_own);
    below.extend(has_few.then(|| BELOW.to_string()));
    models.figure("probe/probe_analysis", 2, panels, words, below)
}

/// A title with the name of a set of labels, where there is one.
fn titled(title: &str, set: Option<&str>) -> String {
    match set {
        Some(set) => format!("{title}: {}", printable(set)),
        None => title.to_string(),
    }
}

/// The sets of labels that have probes of few rows.
fn few_sets(results: &Results) -> Vec<MetricId> {
    let tables = results.breakdowns.iter().map(|table| &table.metric);
    let own = tables.filter(|id| id.split('(').next() == Some(FEW));
    distinct(own).into_iter().take(MOST_SETS).cloned().collect()
}

/// Accuracy over the rows of each class.
fn few_rows(models: &Models, id: &MetricId) -> Option<Panel> {
    let table_of = |series: usize| {
        let model = models.names[series];
        models
            .results
            .breakdowns
            .iter()
            .find(|own| own.metric == *id && own.model == model)
    };
    let curve = |series: usize| {
        let table = table_of(series)?;
        let points: Vec<CurvePoint> = (0..lines(table)).filter_map(|line| point(table, line)).collect();
        (!points.is_empty()).then_some(Curve {
            series,
            points,
            look: CurveLook::Full,
        })
    };
    let curves = models.known(curve);
    let chance = (0..models.names.len()).find_map(|series| cell(table_of(series)?, "chance", 0));
    let chance = chance.map(|chance| Reference::new(ReferenceAt::Horizontal(chance), "chance"));
    (!curves.is_empty()).then(|| {
        let lines = Lines {
            x: Axis::log("rows of each class that train"),
            y: Axis::linear("accuracy").covering(&[0.0, 1.0]),
            curves: highlighted(curves, Better::Higher),
            references: chance.into_iter().collect(),
        };
        Panel::new(titled("Probes of few rows", id.labels()), lines)
    })
}

fn point(table: &Breakdown, line: usize) -> Option<CurvePoint> {
    Some(CurvePoint {
        x: names(table, "shots").get(line)?.parse().ok()?,
        y: cell(table, "accuracy", line),
        band: cell(table, "low", line).zip(cell(table, "high", line)),
    })
}
