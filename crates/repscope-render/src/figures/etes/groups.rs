// SPDX-License-Identifier: MIT
//! Alignment by group, such as by subject: best group first.

use super::{ENERGY, MATCHED, Run, SHUFFLED};
use crate::etes::{Groups, System};
use crate::figures::NamedFigure;
use crate::figures::words::{description, typeset};
use crate::numbers::{number, percent};
use crate::scores::distinct;
use crate::text::printable;
use repscope_figures::{Axis, BarRow, Bars, BarsLook, Figure, Legend, Measured, Orientation, Panel};

/// More groups than this are shown by this many of the best and the worst.
const MOST_GROUPS: usize = 20;
/// Groups of more systems than this, each a point, do not fit beside each other.
const MOST_SYSTEMS: usize = 4;

/// One factor, with the groups of each system that has them.
struct Factor<'a> {
    name: &'a str,
    of: Vec<(usize, System<'a>, Groups<'a>)>,
}

pub(super) fn figure(run: &Run) -> Vec<NamedFigure> {
    let known: Vec<(usize, System, Groups)> = run
        .shown
        .iter()
        .flat_map(|(series, system)| system.groups().into_iter().map(|groups| (*series, *system, groups)))
        .filter(|(_, _, groups)| !groups.sorted().is_empty())
        .collect();
    let names = distinct(known.iter().map(|(_, _, groups)| groups.factor));
    let factors: Vec<Factor> = names
        .into_iter()
        .map(|name| Factor {
            name,
            of: known
                .iter()
                .filter(|(_, _, groups)| groups.factor == name)
                .take(MOST_SYSTEMS)
                .copied()
                .collect(),
        })
        .collect();
    let is_alone = run.all.len() == 1;
    let panels: Vec<Panel> = factors.iter().map(|factor| panel(factor, is_alone)).collect();
    let order = if is_alone { "" } else { " by the mean over systems" };
    let mut notes = vec![format!(
        "Mean energy of signals and generated texts within each group, lower is better; best first{order}."
    )];
    let level = run.shown.iter().find_map(|(_, system)| system.level());
    notes.extend(level.map(|level| {
        format!(
            "Error bars are {} intervals over the samples of the group.",
            percent(level)
        )
    }));
    if is_alone {
        notes.push("Shuffled pairs: every signal of the group with every text of the group.".to_string());
    }
    if run.all.len() > MOST_SYSTEMS {
        notes.push(format!("The first {MOST_SYSTEMS} systems; the CSV file has all."));
    }
    let figure = Figure {
        description: description(
            std::iter::once("Alignment by group.".to_string()).chain(factors.iter().map(sentence)),
        ),
        // Factors have different numbers of groups: side by side, the few would be stretched.
        columns: 1,
        panels,
        series: if is_alone { run.pairs() } else { run.systems() },
        legend: Legend::Auto,
        notes,
        ..Figure::default()
    };
    run.named("groups", figure)
}

fn panel(factor: &Factor, is_alone: bool) -> Panel {
    let sorted = sorted(factor);
    let half = MOST_GROUPS / 2;
    let is_cut = sorted.len() > MOST_GROUPS;
    let shown: Vec<&str> = if is_cut {
        [&sorted[..half], &sorted[sorted.len() - half..]].concat()
    } else {
        sorted.clone()
    };
    let at = |groups: &Groups, name: &str, column: &str| {
        let group = groups.names.iter().position(|own| own == name)?;
        Some((groups.value(column, group)?, groups.interval(column, group)))
    };
    let row = |series: usize, groups: &Groups, column: &str| BarRow {
        series,
        bars: shown
            .iter()
            .map(|name| {
                let found = at(groups, name, column);
                Measured {
                    value: found.map(|(value, _)| value),
                    interval: found.and_then(|(_, interval)| interval).map(|[low, high]| (low, high)),
                }
            })
            .collect(),
    };
    let mut rows: Vec<BarRow> = Vec::new();
    for (series, _, groups) in &factor.of {
        if is_alone {
            rows.push(row(MATCHED, groups, "alignment"));
            rows.extend(groups.has("shuffled").then(|| row(SHUFFLED, groups, "shuffled")));
        } else {
            rows.push(row(*series, groups, "alignment"))
        }
    }
    // The number of samples is that of the first system; all have the same rows.
    let label = |name: &&str| match factor.of.first().and_then(|(_, _, groups)| at(groups, name, "samples")) {
        Some((count, _)) => format!("{} (n = {count:.0})", printable(name)),
        None => printable(name),
    };
    let bars = Bars {
        axis: Axis::linear(ENERGY),
        orientation: Orientation::Horizontal,
        categories: shown.iter().map(label).collect(),
        category_label: printable(factor.name),
        rows,
        look: BarsLook::Points,
        ..Bars::default()
    };
    Panel::new(format!("Alignment by {} ↓", printable(factor.name)), bars).note(if is_cut {
        format!("The {half} best and the {half} worst of {} groups.", sorted.len())
    } else {
        String::new()
    })
}

/// The groups of all systems, best first by the mean of their energies.
fn sorted<'a>(factor: &Factor<'a>) -> Vec<&'a str> {
    let mut sums: Vec<(&str, f64, usize)> = Vec::new();
    for (_, _, groups) in &factor.of {
        for group in groups.sorted() {
            let energy = groups.value("alignment", group).unwrap_or(0.0);
            let name = groups.names[group].as_str();
            match sums.iter_mut().find(|(own, ..)| *own == name) {
                Some((_, sum, count)) => (*sum, *count) = (*sum + energy, *count + 1),
                None => sums.push((name, energy, 1)),
            }
        }
    }
    let mean = |(_, sum, count): &(&str, f64, usize)| sum / *count as f64;
    sums.sort_by(|a, b| mean(a).total_cmp(&mean(b)).then_with(|| a.0.cmp(b.0)));
    sums.into_iter().map(|(name, ..)| name).collect()
}

/// `subject, glim: best ZAB −0.417, worst ZDM −0.371.`
fn sentence(factor: &Factor) -> String {
    let of = |(_, system, groups): &(usize, System, Groups)| {
        let sorted = groups.sorted();
        let named = |group: Option<&usize>| {
            let group = *group?;
            let energy = typeset(&number(groups.value("alignment", group)?));
            Some(format!("{} {energy}", printable(&groups.names[group])))
        };
        let (best, worst) = (named(sorted.first())?, named(sorted.last())?);
        let (factor, system) = (printable(factor.name), printable(system.name));
        Some(format!("{factor}, {system}: best {best}, worst {worst}."))
    };
    factor.of.iter().filter_map(of).collect::<Vec<_>>().join(" ")
}
