// SPDX-License-Identifier: MIT
//! Energies of generated texts: matched against shuffled pairs, generated against reference texts, bands, systems and groups.
//! Matched and shuffled pairs have the same two colors in all of them.

mod pairs;

use super::models::{Models, measured};
use super::words::{description, notes, typeset, values};
use super::{NamedFigure, named};
use crate::etes::{Band, Groups, System, by_alignment};
use crate::numbers::{number, percent};
use crate::scores::{both_ends, distinct, sorted};
use crate::text::{join, printable};
use repscope_core::{MetricId, Results};
use repscope_figures::{Axis, BarRow, Bars, BarsLook, Figure, Legend, Measured, Orientation, Panel, Shares};

const ENERGY: &str = "energy −cos (lower is better)";
/// The series of figures that set matched pairs against shuffled ones.
const MATCHED: usize = 0;
const SHUFFLED: usize = 1;
/// More systems than this are shown by the best.
const MOST_SYSTEMS: usize = 12;
/// With more systems than this, each has the bar of its own texts alone.
const MOST_COMPARED: usize = 4;
/// Standard deviations over random pairings that are drawn on each side of their mean.
const SPREADS: f64 = 2.0;
/// More groups than this are shown by this many of the best and the worst.
const MOST_GROUPS: usize = 20;
/// Groups of more systems than this, each a point, do not fit beside each other.
const MOST_GROUPED: usize = 4;

pub(super) fn figures(results: &Results) -> Vec<NamedFigure> {
    let run = Run::new(results);
    [
        pairs::pairs(&run),
        pairs::gap(&run),
        bands(&run),
        systems(&run),
        groups(&run),
    ]
    .concat()
}

/// What the figures have in common.
struct Run<'a> {
    results: &'a Results,
    /// All systems; the place is the series, so that a system has one color everywhere.
    all: Vec<System<'a>>,
    /// Those that are drawn, with their places: all in the order given, or the best of many.
    shown: Vec<(usize, System<'a>)>,
}

impl<'a> Run<'a> {
    fn new(results: &'a Results) -> Self {
        let all = System::all(results);
        let energy = |system: &System| system.value("alignment").unwrap_or(f64::INFINITY);
        let mut shown: Vec<(usize, System)> = all.iter().copied().enumerate().collect();
        if shown.len() > MOST_SYSTEMS {
            shown.sort_by(|a, b| energy(&a.1).total_cmp(&energy(&b.1)));
            shown.truncate(MOST_SYSTEMS);
            shown.sort_by_key(|(place, _)| *place);
        }
        Run { results, all, shown }
    }

    fn named(&self, name: &str, figure: Figure) -> Vec<NamedFigure> {
        named(&format!("etes_analysis/{name}"), figure)
    }

    fn pairs(&self) -> Vec<String> {
        vec!["matched pairs".to_string(), "shuffled pairs".to_string()]
    }

    fn systems(&self) -> Vec<String> {
        self.all.iter().map(|system| printable(system.name)).collect()
    }

    /// The name of a system above its panel, or what the panel shows where there is only one.
    fn title(&self, system: &System, alone: &str) -> String {
        match self.all.len() {
            1 => alone.to_string(),
            _ => printable(system.name),
        }
    }

    /// Panels side by side.
    fn columns(&self, panels: usize) -> usize {
        // Four make a square.
        if panels == 4 { 2 } else { panels.min(3) }
    }

    /// How many samples have an energy: `300`, or `280, 300` where systems differ.
    fn counts(&self) -> String {
        let counts = sorted(self.shown.iter().map(|(_, system)| system.count()));
        join(counts.iter().map(usize::to_string), ", ")
    }

    /// What stands below a figure of these scores, and which systems are left out.
    fn notes(&self, is_drawn: impl Fn(&MetricId) -> bool) -> Vec<String> {
        self.with_left_out(notes(self.results, is_drawn))
    }

    fn with_left_out(&self, mut notes: Vec<String>) -> Vec<String> {
        let (shown, all) = (self.shown.len(), self.all.len());
        if shown < all {
            notes.push(format!("The {shown} systems with the lowest energy, of {all}."));
        }
        notes
    }
}

/// The name of the line at a mean, with the digits of an energy.
fn mean_label(mean: f64) -> String {
    format!("mean {}", typeset(&format!("{mean:.3}")))
}

/// Points that lie: one for each of these rows and categories.
fn points(axis: Axis, categories: Vec<String>, rows: Vec<BarRow>) -> Bars {
    Bars {
        axis,
        orientation: Orientation::Horizontal,
        categories,
        rows,
        look: BarsLook::Points,
        ..Bars::default()
    }
}

/// The shares of the bands, and beside them those of shuffled pairs: a cut that these pass too says nothing.
fn bands(run: &Run) -> Vec<NamedFigure> {
    let known = run.shown.iter().map(|(_, system)| (*system, system.bands()));
    let known: Vec<(System, Vec<Band>)> = known.filter(|(_, bands)| !bands.is_empty()).collect();
    let Some((_, first)) = known.first() else {
        return Vec::new();
    };
    let mut shares = Shares {
        parts: (0..first.len()).map(|place| part(first, place)).collect(),
        ..Shares::default()
    };
    for (system, bands) in &known {
        let own = Some(bands.iter().map(|band| band.share).collect());
        let is_compared = known.len() <= MOST_COMPARED;
        let compared = [
            ("", own),
            ("reference texts", of_references(system, bands).filter(|_| is_compared)),
            ("shuffled pairs", of_shuffled(system, bands).filter(|_| is_compared)),
        ];
        for (what, values) in compared.into_iter().filter_map(|(what, values)| Some((what, values?))) {
            let name = printable(system.name);
            shares.names.push(match (known.len(), what) {
                (1, "") => "generated texts".to_string(),
                (1, what) => what.to_string(),
                (_, "") => name,
                (_, what) => format!("{name}: {what}"),
            });
            shares.values.push(values);
        }
    }
    let sentence = |(system, bands): &(System, Vec<Band>)| {
        let share = |band: &Band| Some(format!("{} {:.1} %", printable(&band.name), 100.0 * band.share?));
        format!(
            "{}: {}.",
            printable(system.name),
            join(bands.iter().filter_map(share), ", ")
        )
    };
    let mut notes = run.notes(|id| *id == "etes.bands");
    notes.push("Bands of the energy −cos of signal and text, lower is better, with fixed cuts.".to_string());
    notes.push("The level of energies depends on the space: compare with shuffled pairs, every signal with every text of another.".to_string());
    let figure = Figure {
        description: description("Shares of texts by bands of their energy.", known.iter().map(sentence)),
        panels: vec![Panel::new("", shares)],
        columns: 1,
        legend: Legend::Hidden,
        notes,
        ..Figure::default()
    };
    run.named("band_shares", figure)
}

/// `good: −0.8 to −0.5`.
fn part(bands: &[Band], place: usize) -> String {
    let band = &bands[place];
    let is_last = place + 1 == bands.len();
    let range = match (band.from.filter(|_| place > 0), band.to.filter(|_| !is_last)) {
        (Some(from), Some(to)) => format!("{} to {}", number(from), number(to)),
        (None, Some(to)) => format!("below {}", number(to)),
        (Some(from), None) => format!("above {}", number(from)),
        (None, None) => return printable(&band.name),
    };
    // The name may hold an `e`, which is no exponent.
    format!("{}: {}", printable(&band.name), range.replace('-', "−"))
}

/// Shares of the reference texts, from the samples.
fn of_references(system: &System, bands: &[Band]) -> Option<Vec<Option<f64>>> {
    let energies = system.column("reference_energy").iter().flatten();
    let found: Vec<String> = energies.filter_map(|energy| system.band_of(*energy)).collect();
    let count = |band: &Band| found.iter().filter(|name| **name == band.name).count();
    let share = |band: &Band| Some(count(band) as f64 / found.len() as f64);
    (!found.is_empty()).then(|| bands.iter().map(share).collect())
}

/// Shares of shuffled pairs, from their histogram: its bins are hundredths, and so are most cuts.
fn of_shuffled(system: &System, bands: &[Band]) -> Option<Vec<Option<f64>>> {
    let curve = system.curve("etes.shuffled.histogram")?;
    let mut shares = vec![0.0; bands.len()];
    for (energy, share) in curve.x.iter().zip(&curve.y) {
        let name = system.band_of(*energy)?;
        shares[bands.iter().position(|band| band.name == name)?] += share;
    }
    let total: f64 = shares.iter().sum();
    (total > 0.0 && total.is_finite()).then(|| shares.into_iter().map(Some).collect())
}

/// Systems beside each other: the level of their energies with that of shuffled pairs, and what does not depend on the level.
fn systems(run: &Run) -> Vec<NamedFigure> {
    let shown: Vec<System> = run.shown.iter().map(|(_, system)| *system).collect();
    let systems = by_alignment(&shown);
    if systems.len() < 2 {
        return Vec::new();
    }
    let row = |series: usize, of: &dyn Fn(&System) -> Measured| BarRow {
        series,
        bars: systems.iter().map(of).collect(),
    };
    let score = |part: &'static str| move |system: &System| measured(system.score(part));
    let shuffled = |system: &System| {
        let (value, spread) = (system.value("shuffled"), system.value("shuffled.std"));
        let interval = value
            .zip(spread)
            .map(|(mean, sd)| (mean - SPREADS * sd, mean + SPREADS * sd));
        Measured { value, interval }
    };
    let has = |part: &str| systems.iter().any(|system| system.value(part).is_some());
    let names: Vec<String> = systems.iter().map(|system| printable(system.name)).collect();
    let mut rows = vec![row(MATCHED, &score("alignment"))];
    rows.extend(has("shuffled").then(|| row(SHUFFLED, &shuffled)));
    let mut panels = vec![Panel::new(
        "Alignment ↓",
        points(Axis::linear(ENERGY), names.clone(), rows),
    )];
    if has("auc") {
        let axis = Axis::linear("AUC (higher is better)").covering(&[0.4, 1.0]);
        let bars = Bars {
            chance: vec![Some(0.5)],
            ..points(axis, names, vec![row(MATCHED, &score("auc"))])
        };
        panels.push(Panel::new("Matched nearer than shuffled ↑", bars));
    }
    let models = Models::of(run.results);
    let mut notes = run.notes(|id| ["etes.alignment", "etes.auc"].contains(&id.as_str()));
    notes.push("Best first by alignment. Levels depend on the space, the AUC does not.".to_string());
    if has("shuffled.std") {
        let shuffled =
            "Shuffled pairs: mean over all pairings, with two standard deviations over pairings on each side.";
        notes.push(shuffled.to_string());
    }
    let sentences = [
        ("Alignment", "etes.alignment"),
        ("Shuffled pairs", "etes.shuffled"),
        ("AUC", "etes.auc"),
    ];
    let sentences = sentences.map(|(what, metric)| values(&models, what, metric));
    let figure = Figure {
        description: description("Energies of the systems beside those of shuffled pairs.", sentences),
        columns: panels.len(),
        panels,
        series: run.pairs(),
        legend: Legend::Below,
        notes,
        ..Figure::default()
    };
    run.named("systems", figure)
}

/// One factor, with the groups of each system that has them.
struct Factor<'a> {
    name: &'a str,
    of: Vec<(usize, System<'a>, Groups<'a>)>,
}

/// Alignment by group, such as by subject: best group first.
fn groups(run: &Run) -> Vec<NamedFigure> {
    let known = run.shown.iter().flat_map(|(series, system)| {
        let groups = system.groups().into_iter();
        groups.map(|groups| (*series, *system, groups))
    });
    let known: Vec<_> = known.filter(|(_, _, groups)| !groups.sorted().is_empty()).collect();
    let factor = |name| {
        let own = known.iter().filter(|(_, _, groups)| groups.factor == name);
        Factor {
            name,
            of: own.take(MOST_GROUPED).copied().collect(),
        }
    };
    let names = distinct(known.iter().map(|(_, _, groups)| groups.factor));
    let factors: Vec<Factor> = names.into_iter().map(factor).collect();
    let is_alone = run.all.len() == 1;
    let order = if is_alone { "" } else { " by the mean over systems" };
    let mut notes = vec![format!(
        "Mean energy of signals and generated texts within each group, lower is better; best first{order}."
    )];
    let level = run.shown.iter().find_map(|(_, system)| system.level()).map(percent);
    notes.extend(level.map(|level| format!("Error bars are {level} intervals over the samples of the group.")));
    if is_alone {
        notes.push("Shuffled pairs: every signal of the group with every text of the group.".to_string());
    }
    if run.all.len() > MOST_GROUPED {
        notes.push(format!("The first {MOST_GROUPED} systems; the CSV file has all."));
    }
    let figure = Figure {
        description: description("Alignment by group.", factors.iter().map(of_factor)),
        // Factors have different numbers of groups: side by side, the few would be stretched.
        columns: 1,
        panels: factors.iter().map(|factor| group_panel(factor, is_alone)).collect(),
        series: if is_alone { run.pairs() } else { run.systems() },
        notes,
        ..Figure::default()
    };
    run.named("groups", figure)
}

fn group_panel(factor: &Factor, is_alone: bool) -> Panel {
    let best = best_groups(factor);
    let shown = both_ends(&best, MOST_GROUPS);
    let at = |groups: &Groups, name: &str, column: &str| {
        let group = groups.names.iter().position(|own| own == name)?;
        Some((groups.value(column, group)?, groups.interval(column, group)))
    };
    let bar = |groups: &Groups, name: &str, column: &str| {
        let (value, interval) = at(groups, name, column).unzip();
        Measured {
            value,
            interval: interval.flatten().map(<(f64, f64)>::from),
        }
    };
    let row = |series: usize, groups: &Groups, column: &str| BarRow {
        series,
        bars: shown.iter().map(|name| bar(groups, name, column)).collect(),
    };
    let mut rows: Vec<BarRow> = Vec::new();
    for (series, _, groups) in &factor.of {
        rows.push(row(if is_alone { MATCHED } else { *series }, groups, "alignment"));
        let has_shuffled = is_alone && groups.has("shuffled");
        rows.extend(has_shuffled.then(|| row(SHUFFLED, groups, "shuffled")));
    }
    // The number of samples is that of the first system; all have the same rows.
    let label = |name: &&&str| match factor.of.first().and_then(|(_, _, groups)| at(groups, name, "samples")) {
        Some((count, _)) => format!("{} (n = {count:.0})", printable(name)),
        None => printable(name),
    };
    let bars = Bars {
        category_label: printable(factor.name),
        ..points(Axis::linear(ENERGY), shown.iter().map(label).collect(), rows)
    };
    let (half, count) = (shown.len() / 2, best.len());
    let cut = (shown.len() < count).then(|| format!("The {half} best and the {half} worst of {count} groups."));
    Panel::new(format!("Alignment by {} ↓", printable(factor.name)), bars).note(cut.unwrap_or_default())
}

/// The groups of all systems, best first by the mean of their energies.
fn best_groups<'a>(factor: &Factor<'a>) -> Vec<&'a str> {
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
fn of_factor(factor: &Factor) -> String {
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
    join(factor.of.iter().filter_map(of), " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_say_their_cuts() {
        let band = |name: &str, from, to| Band {
            name: name.to_string(),
            from: Some(from),
            to: Some(to),
            samples: None,
            share: None,
        };
        let bands = [
            band("excellent", -1.0, -0.8),
            band("fair", -0.8, 0.0),
            band("poor", 0.0, 1.0),
        ];
        let parts: Vec<String> = (0..3).map(|place| part(&bands, place)).collect();
        assert_eq!(parts, ["excellent: below −0.8", "fair: −0.8 to 0", "poor: above 0"]);
    }
}
