// SPDX-License-Identifier: MIT
//! What is left of the accuracy as more is masked.

use super::{Drawn, MASKED, point, value};
use crate::figures::NamedFigure;
use crate::figures::words::description;
use crate::numbers::rough;
use crate::perturb::Run;
use crate::text::printable;
use repscope_core::MetricId;
use repscope_figures::{Axis, Curve, Figure, Legend, Lines, Panel, Reference, ReferenceAt};

/// Accuracy against the share, a panel per head; nothing is masked at 0 %.
pub(super) fn figure(drawn: &Drawn) -> Vec<NamedFigure> {
    let run = drawn.run;
    let panels: Vec<Panel> = run.heads.iter().filter_map(|head| panel(run, head)).collect();
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

fn panel(run: &Run, head: &str) -> Option<Panel> {
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
