// SPDX-License-Identifier: MIT
//! Sample by sample: the energy of the generated text against that of the reference.

use super::{Run, mean_label, written};
use crate::etes::System;
use crate::figures::NamedFigure;
use crate::figures::words::description;
use crate::text::printable;
use repscope_figures::{
    Axis, Bins, Cloud, Figure, Histogram, Legend, Panel, Reference, ReferenceAt, Scatter, bin_edges, bin_shares,
};

/// How far axes reach beyond the outermost points, so that none is cut.
const BEYOND: f64 = 0.04;

pub(super) fn figure(run: &Run) -> Vec<NamedFigure> {
    let known: Vec<(usize, System, Vec<[f64; 2]>)> = run
        .shown
        .iter()
        .map(|(series, system)| (*series, *system, points(system)))
        .filter(|(_, _, points)| !points.is_empty())
        .collect();
    // Both axes of all panels reach as far, so that the line of equal energies is the diagonal.
    let all = || known.iter().flat_map(|(_, _, points)| points.iter().flatten().copied());
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(f64::NEG_INFINITY, f64::max),
    );
    let beyond = BEYOND * (high - low);
    let ends = [low - beyond, high + beyond];
    let panel = |(series, system, points): &(usize, System, Vec<[f64; 2]>)| {
        let scatter = Scatter {
            x: Axis::linear("reference: energy −cos ↓").covering(&ends),
            y: Axis::linear("generated: energy −cos ↓").covering(&ends),
            clouds: vec![Cloud {
                series: *series,
                points: points.clone(),
            }],
            references: vec![Reference {
                at: ReferenceAt::Diagonal,
                label: "as near as the reference".to_string(),
                series: None,
            }],
            ..Scatter::default()
        };
        Panel::new(run.title(system, "Generated and reference texts"), scatter).note(below(points))
    };
    let mut panels: Vec<Panel> = known.iter().map(panel).collect();
    if let [(series, system, points)] = known.as_slice() {
        panels.push(gaps(*series, system, points));
    }
    let sentence = |(_, system, points): &(usize, System, Vec<[f64; 2]>)| {
        let gap = system.score("gap").and_then(written);
        let gap = gap.map_or(String::new(), |gap| format!("gap {gap}. "));
        format!("{}: {gap}{}", printable(system.name), below(points))
    };
    let head = "Energy of each generated text against that of its reference text.".to_string();
    let mut notes = vec![
        "↓ lower is better: below the line the generated text is nearer to the signal than the reference.".to_string(),
    ];
    let gaps = known.iter().filter_map(|(_, system, _)| {
        let gap = written(system.score("gap")?)?;
        Some(match known.len() {
            1 => gap,
            _ => format!("{} {gap}", printable(system.name)),
        })
    });
    let gaps: Vec<String> = gaps.collect();
    if !gaps.is_empty() {
        notes.push(format!("Gap, mean of generated less reference: {}.", gaps.join("; ")));
    }
    let figure = Figure {
        description: description(std::iter::once(head).chain(known.iter().map(sentence))),
        columns: run.columns(panels.len()),
        panels,
        series: run.systems(),
        // Each panel is one system and says so.
        legend: Legend::Hidden,
        notes,
        ..Figure::default()
    };
    run.named("gap_scatter", figure)
}

/// The gaps of one system, which points beside a diagonal show less well.
fn gaps(series: usize, system: &System, points: &[[f64; 2]]) -> Panel {
    let gaps: Vec<f64> = points
        .iter()
        .map(|[reference, generated]| generated - reference)
        .collect();
    let edges = bin_edges(&[&gaps]);
    let mean = system.value("gap").map(|gap| Reference {
        at: ReferenceAt::Vertical(gap),
        label: mean_label(gap),
        series: Some(series),
    });
    let none = Reference {
        at: ReferenceAt::Vertical(0.0),
        label: "no gap".to_string(),
        series: None,
    };
    let histogram = Histogram {
        x: Axis::linear("gap: generated less reference ↓"),
        y: Axis::linear("share of samples").covering(&[0.0]),
        series: vec![Bins {
            series,
            heights: bin_shares(&edges, &gaps),
            edges,
            ..Bins::default()
        }],
        references: std::iter::once(none).chain(mean).collect(),
    };
    Panel::new("Gap of each sample", histogram)
}

/// Energy of the reference and of the generated text of each sample that has both.
fn points(system: &System) -> Vec<[f64; 2]> {
    let pairs = system.column("reference_energy").iter().zip(system.column("energy"));
    let points = pairs.filter_map(|(reference, generated)| Some([(*reference)?, (*generated)?]));
    points.filter(|point| point.iter().all(|x| x.is_finite())).collect()
}

/// How many samples lie below the line.
fn below(points: &[[f64; 2]]) -> String {
    let below = points
        .iter()
        .filter(|[reference, generated]| generated < reference)
        .count();
    let on = points
        .iter()
        .filter(|[reference, generated]| generated == reference)
        .count();
    let share = 100.0 * below as f64 / points.len() as f64;
    // Few are not none.
    let decimals = usize::from(below > 0 && share < 9.95);
    let ties = match on {
        0 => String::new(),
        on => format!(", {on} on it"),
    };
    format!(
        "{below} of {} samples ({share:.decimals$} %) lie below the line{ties}.",
        points.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_below_the_line_are_not_called_none() {
        let mut points = vec![[-0.5, -0.4]; 299];
        points.push([-0.4, -0.5]);
        assert_eq!(below(&points), "1 of 300 samples (0.3 %) lie below the line.");
        points[0] = [-0.5, -0.5];
        points.truncate(10);
        assert_eq!(below(&points), "0 of 10 samples (0 %) lie below the line, 1 on it.");
    }
}
