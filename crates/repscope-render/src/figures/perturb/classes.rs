// SPDX-License-Identifier: MIT
//! Which classes lose most: the strongest set of `top`, class by class.

use super::{Drawn, value};
use crate::figures::NamedFigure;
use crate::figures::words::description;
use crate::numbers::{number, percent};
use crate::perturb::ClassImpact;
use crate::text::printable;
use repscope_figures::{Axis, BarRow, Bars, Figure, Legend, Measured, Orientation, Panel, Reference, ReferenceAt};

/// More classes than this are shown by this many of the most and the least sensitive.
const MOST_CLASSES: usize = 20;

/// A panel per head, the most sensitive class first.
pub(super) fn figure(drawn: &Drawn) -> Vec<NamedFigure> {
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
        panel(&printable(head), classes, all, series)
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

fn panel(head: &str, classes: &[ClassImpact], all: Option<f64>, series: usize) -> Panel {
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
