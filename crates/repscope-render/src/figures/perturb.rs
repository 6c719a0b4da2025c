// SPDX-License-Identifier: MIT
//! Perturbation: scores and accuracies against the share that is masked, families beside each other, and class by class. The
//! names are those that scripts expect. A family has the same color in all of them.

use super::models::{measured, point};
use super::retrieval::{in_path, number_equal_paths};
use super::words::{description, notes, of_score};
use super::{NamedFigure, named};
use crate::numbers::{number, percent, rough};
use crate::perturb::{ClassImpact, Run, Set};
use crate::scores::both_ends;
use crate::text::{join, printable};
use repscope_core::{MetricId, Results, Score};
use repscope_figures::{
    Axis, BarRow, Bars, Content, Curve, Figure, Legend, Lines, Measured, Orientation, Panel, Reference, ReferenceAt,
};

const MASKED: &str = "masked (%)";
const SCORE: &str = "PIS: accuracy lost / share masked";
/// More classes than this are shown by this many of the most and the least sensitive.
const MOST_CLASSES: usize = 20;

/// The figures of each model.
pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let runs = Run::all(results);
    let mut figures = Vec::new();
    for run in runs.iter().filter(|run| !run.sets.is_empty()) {
        let name = Some(run.model).filter(|_| runs.len() > 1);
        let drawn = Drawn {
            run,
            suffix: name.map(|name| format!("_{}", in_path(name))).unwrap_or_default(),
            heading: name.map(printable).unwrap_or_default(),
        };
        figures.extend([impact(&drawn), accuracy(&drawn), comparison(&drawn), classes(&drawn)].concat());
    }
    number_equal_paths(&mut figures);
    figures
}

/// One model.
struct Drawn<'a> {
    run: &'a Run<'a>,
    /// Ends the names of the files, where there are several models.
    suffix: String,
    heading: String,
}

impl Drawn<'_> {
    /// A figure with the families as its series.
    fn named(&self, name: &str, figure: Figure) -> Vec<NamedFigure> {
        let figure = Figure {
            title: self.heading.clone(),
            series: self.run.families().into_iter().map(printable).collect(),
            ..figure
        };
        named(&format!("perturbation_analysis/{name}{}", self.suffix), figure)
    }

    /// A figure of the scores of the head that speaks for the model.
    fn of_scores(&self, name: &str, content: impl Into<Content>, at: &str, legend: Legend) -> Vec<NamedFigure> {
        let head = self.run.leading();
        let is_score = |id: &MetricId| {
            id.measure() == "pis" && id.head() == Some(head) && id.at().is_some() && id.parameters().is_empty()
        };
        let title = format!("Perturbation impact score of {}", printable(head));
        let families = self.run.families().into_iter();
        let sentences = families.map(|family| of_family(self.run, family));
        let figure = Figure {
            description: description(format!("{title} {at}."), sentences),
            panels: vec![Panel::new(title, content)],
            columns: 1,
            legend,
            notes: self.notes(is_score),
            ..Figure::default()
        };
        self.named(name, figure)
    }

    /// What stands below a figure of these scores of this model.
    fn notes(&self, is_drawn: impl Fn(&MetricId) -> bool) -> Vec<String> {
        let own = self.run.results.scores.iter();
        let own = own.filter(|score| score.model == self.run.model);
        notes(&own.cloned().collect(), is_drawn)
    }

    /// A curve for each family: what these sets have, behind what all start from.
    fn curves<'s>(&self, start: Option<&Score>, of: impl Fn(&Set) -> Option<&'s Score>) -> Vec<Curve> {
        let curve = |(series, family): (usize, &str)| {
            let sets = self.run.of_family(family).into_iter();
            let points = sets.filter_map(|set| Some(point(set.percent, of(set)?)));
            Curve {
                series,
                points: start.map(|score| point(0.0, score)).into_iter().chain(points).collect(),
                ..Curve::default()
            }
        };
        self.run.families().into_iter().enumerate().map(curve).collect()
    }
}

/// Scores of all heads together against the share, a line per family.
fn impact(drawn: &Drawn) -> Vec<NamedFigure> {
    let run = drawn.run;
    let value = |set: &Set| score(run, set).and_then(|score| score.value);
    if run.sets.iter().all(|set| value(set).is_none()) {
        return Vec::new();
    }
    let axis = Axis::linear(SCORE).covering(&[0.0]);
    let has_lines = run.families().iter().any(|family| run.of_family(family).len() > 1);
    let content: Content = if has_lines {
        Lines {
            x: Axis::linear(MASKED),
            y: axis,
            curves: drawn.curves(None, |set| score(run, set)),
            references: vec![Reference::new(ReferenceAt::Horizontal(0.0), "no accuracy lost")],
        }
        .into()
    } else {
        bars(run, axis).into()
    };
    let at = "against the share that is masked";
    drawn.of_scores("perturbation_impact_chart", content, at, Legend::Auto)
}

/// The weakest and the strongest set of each family.
fn comparison(drawn: &Drawn) -> Vec<NamedFigure> {
    let bars = bars(drawn.run, Axis::linear(SCORE));
    let mut drawn_bars = bars.rows.iter().flat_map(|row| &row.bars);
    if drawn_bars.all(|bar| bar.value.is_none()) {
        return Vec::new();
    }
    let at = "at the smallest and the largest share";
    drawn.of_scores("pis_comparison_bar_chart", bars, at, Legend::Below)
}

/// A group for the smallest and for the largest share of any family.
fn bars(run: &Run, axis: Axis) -> Bars {
    let families = run.families();
    let ends = families.iter().flat_map(|family| {
        let sets = run.of_family(family);
        [sets.first().map(|set| set.percent), sets.last().map(|set| set.percent)]
    });
    let mut ends: Vec<f64> = ends.flatten().collect();
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let bar = |family: &str, percent: f64| measured(run.at(family, percent).and_then(|set| score(run, set)));
    let row = |(series, family): (usize, &&str)| BarRow {
        series,
        bars: ends.iter().map(|percent| bar(family, *percent)).collect(),
    };
    Bars {
        axis,
        categories: ends.iter().map(|percent| format!("{percent} %")).collect(),
        category_label: "masked".to_string(),
        rows: families.iter().enumerate().map(row).collect(),
        ..Bars::default()
    }
}

/// The score of a set for the head that speaks for the model.
fn score<'a>(run: &Run<'a>, set: &Set) -> Option<&'a Score> {
    run.pis(run.leading(), "", &set.name)
}

/// The scores of a family in words: `top: 3.26 [3.06, 3.46] at 1 %, 7.200 [7.160, 7.240] at 5 %.`
fn of_family(run: &Run, family: &str) -> String {
    let of_set = |set: &Set| Some(format!("{} at {} %", of_score(score(run, set)?)?, set.percent));
    match join(run.of_family(family).into_iter().filter_map(of_set), ", ").as_str() {
        "" => String::new(),
        values => format!("{}: {values}.", printable(family)),
    }
}

/// Accuracy against the share, a panel per head; nothing is masked at 0 %.
fn accuracy(drawn: &Drawn) -> Vec<NamedFigure> {
    let run = drawn.run;
    let panel = |head: &String| {
        let baseline = run.baseline(head)?;
        let chance = baseline.chance;
        let chance =
            chance.map(|level| Reference::new(ReferenceAt::Horizontal(level), format!("chance {}", rough(level))));
        let lines = Lines {
            x: Axis::linear(MASKED).covering(&[0.0]),
            y: Axis::linear("accuracy").covering(&[0.0]),
            curves: drawn.curves(Some(baseline), |set| run.accuracy(head, &set.name)),
            references: chance.into_iter().collect(),
        };
        Some(Panel::new(format!("{} ↑", printable(head)), lines))
    };
    let sentence = |head: &String| {
        let strongest = run.families().into_iter().filter_map(|family| {
            let set = run.of_family(family).last().copied()?;
            Some(format!("{} at {}", of_score(run.accuracy(head, &set.name)?)?, set.name))
        });
        let baseline = run.baseline(head).and_then(of_score)?;
        let strongest = join(strongest, ", ");
        Some(printable(&format!(
            "{head}: {baseline} without perturbation, {strongest}."
        )))
    };
    let panels: Vec<Panel> = run.heads.iter().filter_map(panel).collect();
    let sentences = run.heads.iter().filter_map(sentence);
    let figure = Figure {
        description: description("Accuracy against the share that is masked.", sentences),
        columns: panels.len().min(3),
        panels,
        legend: Legend::Below,
        notes: drawn.notes(|id| id.family() == "accuracy" && id.head().is_some()),
        ..Figure::default()
    };
    drawn.named("accuracy_degradation_curves", figure)
}

/// Which classes lose most: the strongest set of `top`, a panel per head, the most sensitive class first.
fn classes(drawn: &Drawn) -> Vec<NamedFigure> {
    let run = drawn.run;
    let Some(set) = run.strongest() else {
        return Vec::new();
    };
    let families = run.families();
    let series = families.iter().position(|family| *family == set.family).unwrap_or(0);
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
    let all = score(run, set);
    let of_all = all.and_then(of_score);
    let of_all = of_all.map(|all| format!("All samples, {}: {all}.", printable(run.leading())));
    let mut notes = vec![format!(
        "Masked: {title}. Score of the samples of each class by themselves; larger is more sensitive."
    )];
    let level = all.and_then(|score| score.level).map(percent);
    notes.extend(level.map(|level| format!("Error bars are {level} intervals over the samples of the class.")));
    let head = format!("Perturbation impact score of each class, {title} masked.");
    let figure = Figure {
        description: description(head, of_all.into_iter().chain(known.iter().map(sentence))),
        columns: known.len().min(2),
        panels: panels.collect(),
        // All panels are of one set.
        legend: Legend::Hidden,
        notes,
        ..Figure::default()
    };
    drawn.named("perturbation_by_class", figure)
}

fn class_panel(head: &str, classes: &[ClassImpact], all: Option<f64>, series: usize) -> Panel {
    let shown = both_ends(classes, MOST_CLASSES);
    let bar = |impact: &&ClassImpact| Measured {
        value: Some(impact.pis),
        interval: impact.interval.map(<(f64, f64)>::from),
    };
    let line = |all: f64| {
        let label = format!("all classes {}", repscope_figures::number(all));
        Reference::new(ReferenceAt::Vertical(all), label)
    };
    let bars = Bars {
        axis: Axis::linear("PIS").covering(&[0.0]),
        orientation: Orientation::Horizontal,
        categories: shown.iter().map(|impact| printable(impact.class)).collect(),
        rows: vec![BarRow {
            series,
            bars: shown.iter().map(bar).collect(),
        }],
        references: all.map(line).into_iter().collect(),
        ..Bars::default()
    };
    let (half, count) = (shown.len() / 2, classes.len());
    let cut =
        (shown.len() < count).then(|| format!("The {half} most and the {half} least sensitive of {count} classes."));
    Panel::new(head, bars).note(cut.unwrap_or_default())
}
