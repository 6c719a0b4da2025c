// SPDX-License-Identifier: MIT
//! Perturbation: scores and accuracies against the share that is masked, families beside each other, and class by class. The
//! names are those that scripts expect. A family has the same color in all of them.

mod accuracy;
mod classes;

use super::models::measured;
use super::retrieval::{in_path, number_equal_paths};
use super::words::{description, notes, typeset};
use super::{NamedFigure, named};
use crate::numbers::{number, number_with_interval};
use crate::perturb::{Run, Set};
use crate::text::printable;
use repscope_core::{MetricId, Results, Score};
use repscope_figures::{
    Axis, BarRow, Bars, Content, Curve, CurvePoint, Figure, Legend, Lines, Measured, Panel, Reference, ReferenceAt,
};

const MASKED: &str = "masked (%)";
const SCORE: &str = "PIS: accuracy lost / share masked";

/// The figures of each model.
pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let runs = Run::all(results);
    let mut figures = Vec::new();
    for run in runs.iter().filter(|run| !run.sets.is_empty()) {
        let (suffix, heading) = match runs.len() {
            1 => (String::new(), String::new()),
            _ => (format!("_{}", in_path(run.model)), printable(run.model)),
        };
        let drawn = Drawn {
            run,
            series: run.families().iter().map(|family| printable(family)).collect(),
            suffix,
            heading,
        };
        figures.extend(impact(&drawn));
        figures.extend(accuracy::figure(&drawn));
        figures.extend(comparison(&drawn));
        figures.extend(classes::figure(&drawn));
    }
    number_equal_paths(&mut figures);
    figures
}

/// One model.
struct Drawn<'a> {
    run: &'a Run<'a>,
    /// The families.
    series: Vec<String>,
    /// Ends the names of the files, where there are several models.
    suffix: String,
    heading: String,
}

impl Drawn<'_> {
    fn named(&self, name: &str, figure: Figure) -> Vec<NamedFigure> {
        let figure = Figure {
            title: self.heading.clone(),
            ..figure
        };
        named(&format!("perturbation_analysis/{name}{}", self.suffix), figure)
    }

    /// What stands below a figure of these scores of this model.
    fn notes(&self, is_drawn: impl Fn(&MetricId) -> bool) -> Vec<String> {
        let own = self
            .run
            .results
            .scores
            .iter()
            .filter(|score| score.model == self.run.model);
        let own = Results {
            scores: own.cloned().collect(),
            ..Results::default()
        };
        notes(&own, is_drawn)
    }

    fn leading(&self) -> String {
        printable(self.run.leading())
    }
}

/// Scores of all heads together against the share, a line per family.
fn impact(drawn: &Drawn) -> Vec<NamedFigure> {
    let run = drawn.run;
    let axis = Axis::linear(SCORE).covering(&[0.0]);
    let has_lines = run.families().iter().any(|family| run.of_family(family).len() > 1);
    let known = |set: &&Set| score(run, set).is_some_and(|score| score.value.is_some());
    if !run.sets.iter().any(|set| known(&set)) {
        return Vec::new();
    }
    let curve = |(series, family): (usize, &&str)| Curve {
        series,
        points: run
            .of_family(family)
            .iter()
            .filter_map(|set| Some(point(set.percent, score(run, set)?)))
            .collect(),
    };
    let content: Content = if has_lines {
        Lines {
            x: Axis::linear(MASKED),
            y: axis,
            curves: run.families().iter().enumerate().map(curve).collect(),
            references: vec![no_loss(ReferenceAt::Horizontal(0.0))],
        }
        .into()
    } else {
        bars(run, axis).into()
    };
    let sentences = run.families().into_iter().map(|family| of_family(run, family));
    let title = format!("Perturbation impact score of {}", drawn.leading());
    let head = format!("{title} against the share that is masked.");
    let figure = Figure {
        description: description(std::iter::once(head).chain(sentences)),
        panels: vec![Panel::new(title, content)],
        columns: 1,
        series: drawn.series.clone(),
        notes: drawn.notes(is_score_of(run.leading())),
        ..Figure::default()
    };
    drawn.named("perturbation_impact_chart", figure)
}

/// The weakest and the strongest set of each family.
fn comparison(drawn: &Drawn) -> Vec<NamedFigure> {
    let run = drawn.run;
    let bars = bars(run, Axis::linear(SCORE));
    if bars
        .rows
        .iter()
        .flat_map(|row| &row.bars)
        .all(|bar| bar.value.is_none())
    {
        return Vec::new();
    }
    let title = format!("Perturbation impact score of {}", drawn.leading());
    let head = format!("{title} at the smallest and the largest share.");
    let sentences = run.families().into_iter().map(|family| of_family(run, family));
    let figure = Figure {
        description: description(std::iter::once(head).chain(sentences)),
        panels: vec![Panel::new(title, bars)],
        columns: 1,
        series: drawn.series.clone(),
        legend: Legend::Below,
        notes: drawn.notes(is_score_of(run.leading())),
        ..Figure::default()
    };
    drawn.named("pis_comparison_bar_chart", figure)
}

/// A group for the smallest and for the largest share of any family.
fn bars(run: &Run, axis: Axis) -> Bars {
    let mut ends: Vec<f64> = Vec::new();
    for family in run.families() {
        let sets = run.of_family(family);
        ends.extend(sets.first().into_iter().chain(sets.last()).map(|set| set.percent));
    }
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let bar = |family: &str, percent: f64| -> Measured {
        let set = run.at(family, percent);
        set.and_then(|set| score(run, set)).map(measured).unwrap_or_default()
    };
    let row = |(series, family): (usize, &&str)| BarRow {
        series,
        bars: ends.iter().map(|percent| bar(family, *percent)).collect(),
    };
    Bars {
        axis,
        categories: ends.iter().map(|percent| format!("{percent} %")).collect(),
        category_label: "masked".to_string(),
        rows: run.families().iter().enumerate().map(row).collect(),
        ..Bars::default()
    }
}

fn no_loss(at: ReferenceAt) -> Reference {
    Reference {
        at,
        label: "no accuracy lost".to_string(),
        series: None,
    }
}

/// The score of a set for the head that speaks for the model.
fn score<'a>(run: &Run<'a>, set: &Set) -> Option<&'a Score> {
    run.pis(run.leading(), "", &set.name)
}

/// Whether an identity is a score of a set for this head.
fn is_score_of(head: &str) -> impl Fn(&MetricId) -> bool {
    move |id| id.measure() == "pis" && id.head() == Some(head) && id.at().is_some() && id.parameters().is_empty()
}

fn point(x: f64, score: &Score) -> CurvePoint {
    CurvePoint {
        x,
        y: score.value,
        band: score.interval.map(|[low, high]| (low, high)),
    }
}

fn value(score: &Score) -> Option<String> {
    Some(match (score.value?, score.interval) {
        (value, Some(interval)) => {
            let (value, interval) = number_with_interval(value, interval);
            typeset(&format!("{value} {interval}"))
        }
        (value, None) => typeset(&number(value)),
    })
}

/// The scores of a family in words: `top: 3.26 [3.06, 3.46] at 1 %, 7.200 [7.160, 7.240] at 5 %.`
fn of_family(run: &Run, family: &str) -> String {
    let sets = run.of_family(family);
    let of_set = |set: &&Set| Some(format!("{} at {} %", value(score(run, set)?)?, set.percent));
    let values: Vec<String> = sets.iter().filter_map(of_set).collect();
    if values.is_empty() {
        String::new()
    } else {
        format!("{}: {}.", printable(family), values.join(", "))
    }
}
