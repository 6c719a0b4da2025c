// SPDX-License-Identifier: MIT
//! Perturbation: scores and accuracies against the share that is masked, families beside each other, and class by class. The
//! names are those that scripts expect. A family has the same color in all of them.

use super::models::measured;
use super::retrieval::{in_path, number_equal_paths};
use super::words::{description, notes, typeset};
use super::{NamedFigure, named};
use crate::numbers::{number, number_with_interval, percent, rough};
use crate::perturb::{ClassImpact, Run, Set};
use crate::text::printable;
use repscope_core::{MetricId, Results, Score};
use repscope_figures::{
    Axis, BarRow, Bars, Content, Curve, CurvePoint, Figure, Legend, Lines, Measured, Orientation, Panel, Reference,
    ReferenceAt,
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
        figures.extend(accuracy(&drawn));
        figures.extend(comparison(&drawn));
        figures.extend(classes(&drawn));
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

/// Accuracy against the share, a accuracy_panel per head; nothing is masked at 0 %.
fn accuracy(drawn: &Drawn) -> Vec<NamedFigure> {
    let run = drawn.run;
    let panels: Vec<Panel> = run.heads.iter().filter_map(|head| accuracy_panel(run, head)).collect();
    let sentence = |head: &String| {
        let baseline = run.baseline(head).and_then(value);
        let strongest = run.families().into_iter().filter_map(|family| {
            let set = run.of_family(family).last().copied()?;
            Some(format!("{} at {}", value(run.accuracy(head, &set.name)?)?, set.name))
        });
        let strongest: Vec<String> = strongest.collect();
        baseline.map_or(String::new(), |baseline| {
            printable(&format!(
                "{head}: {baseline} without perturbation, {}.",
                strongest.join(", ")
            ))
        })
    };
    let head = "Accuracy against the share that is masked.".to_string();
    let is_drawn = |id: &MetricId| id.family() == "accuracy" && id.head().is_some();
    let figure = Figure {
        description: description(std::iter::once(head).chain(run.heads.iter().map(sentence))),
        columns: panels.len().min(3),
        panels,
        series: drawn.series.clone(),
        legend: Legend::Below,
        notes: drawn.notes(is_drawn),
        ..Figure::default()
    };
    drawn.named("accuracy_degradation_curves", figure)
}

fn accuracy_panel(run: &Run, head: &str) -> Option<Panel> {
    let baseline = run.baseline(head)?;
    let curve = |(series, family): (usize, &&str)| {
        let sets = run.of_family(family);
        let sets = sets
            .iter()
            .filter_map(|set| Some(point(set.percent, run.accuracy(head, &set.name)?)));
        Curve {
            series,
            points: std::iter::once(point(0.0, baseline)).chain(sets).collect(),
        }
    };
    let chance = baseline.chance.map(|chance| Reference {
        at: ReferenceAt::Horizontal(chance),
        label: format!("chance {}", rough(chance)),
        series: None,
    });
    let lines = Lines {
        x: Axis::linear(MASKED).covering(&[0.0]),
        y: Axis::linear("accuracy").covering(&[0.0]),
        curves: run.families().iter().enumerate().map(curve).collect(),
        references: chance.into_iter().collect(),
    };
    Some(Panel::new(format!("{} ↑", printable(head)), lines))
}

/// More classes than this are shown by this many of the most and the least sensitive.
const MOST_CLASSES: usize = 20;

/// A class_panel per head, the most sensitive class first.
fn classes(drawn: &Drawn) -> Vec<NamedFigure> {
    let run = drawn.run;
    let Some(set) = run.strongest() else {
        return Vec::new();
    };
    let series = run
        .families()
        .iter()
        .position(|family| *family == set.family)
        .unwrap_or(0);
    let of_heads = run.heads.iter().map(|head| (head, run.by_class(head, &set.name)));
    let known: Vec<(&String, Vec<ClassImpact>)> = of_heads.filter(|(_, classes)| !classes.is_empty()).collect();
    let panels = known.iter().map(|(head, classes)| {
        let all = run.pis(head, "", &set.name).and_then(|score| score.value);
        class_panel(&printable(head), classes, all, series)
    });
    let sentence = |(head, classes): &(&String, Vec<ClassImpact>)| {
        let of = |impact: &ClassImpact| printable(&format!("{} {}", impact.class, number(impact.pis)));
        let (most, least) = (&classes[0], &classes[classes.len() - 1]);
        format!("{}: most sensitive {}, least {}.", printable(head), of(most), of(least))
    };
    let title = format!("{} {} %", printable(&set.family), set.percent);
    let level = run.pis(run.leading(), "", &set.name).and_then(|score| score.level);
    let all = run.pis(run.leading(), "", &set.name).and_then(value);
    let mut notes = vec![format!(
        "Masked: {title}. Score of the samples of each class by themselves; larger is more sensitive."
    )];
    notes.extend(level.map(|level| {
        format!(
            "Error bars are {} intervals over the samples of the class.",
            percent(level)
        )
    }));
    let figure = Figure {
        description: description(
            [
                format!("Perturbation impact score of each class, {title} masked."),
                all.map_or(String::new(), |all| format!("All samples, {}: {all}.", drawn.leading())),
            ]
            .into_iter()
            .chain(known.iter().map(sentence)),
        ),
        columns: known.len().min(2),
        panels: panels.collect(),
        series: drawn.series.clone(),
        // All panels are of one set.
        legend: Legend::Hidden,
        notes,
        ..Figure::default()
    };
    drawn.named("perturbation_by_class", figure)
}

fn class_panel(head: &str, classes: &[ClassImpact], all: Option<f64>, series: usize) -> Panel {
    let is_cut = classes.len() > MOST_CLASSES;
    let half = MOST_CLASSES / 2;
    let shown: Vec<&ClassImpact> = if is_cut {
        classes[..half].iter().chain(&classes[classes.len() - half..]).collect()
    } else {
        classes.iter().collect()
    };
    let bar = |impact: &&ClassImpact| Measured {
        value: Some(impact.pis),
        interval: impact.interval.map(|[low, high]| (low, high)),
    };
    let of_all = all.map(|all| Reference {
        at: ReferenceAt::Vertical(all),
        label: format!("all classes {}", repscope_figures::number(all)),
        series: None,
    });
    let bars = Bars {
        axis: Axis::linear("PIS").covering(&[0.0]),
        orientation: Orientation::Horizontal,
        categories: shown.iter().map(|impact| printable(impact.class)).collect(),
        rows: vec![BarRow {
            series,
            bars: shown.iter().map(bar).collect(),
        }],
        references: of_all.into_iter().collect(),
        ..Bars::default()
    };
    Panel::new(head, bars).note(if is_cut {
        format!(
            "The {half} most and the {half} least sensitive of {} classes.",
            classes.len()
        )
    } else {
        String::new()
    })
}
