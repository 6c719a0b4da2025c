// SPDX-License-Identifier: MIT
//! The shares of the bands, and beside them those of shuffled pairs: a cut that these pass too says nothing.

use super::Run;
use crate::etes::{Band, System};
use crate::figures::NamedFigure;
use crate::figures::words::description;
use crate::numbers::number;
use crate::text::printable;
use repscope_figures::{Figure, Legend, Panel, Shares};

/// With more systems than this, each has the bar of its own texts alone.
const MOST_COMPARED: usize = 4;

pub(super) fn figure(run: &Run) -> Vec<NamedFigure> {
    let known = run.shown.iter().map(|(_, system)| (*system, system.bands()));
    let known: Vec<(System, Vec<Band>)> = known.filter(|(_, bands)| !bands.is_empty()).collect();
    let Some((_, first)) = known.first() else {
        return Vec::new();
    };
    let mut shares = Shares {
        parts: first.iter().enumerate().map(|(place, _)| part(first, place)).collect(),
        ..Shares::default()
    };
    for (system, bands) in &known {
        let name = printable(system.name);
        let mut add = |what: &str, values: Vec<Option<f64>>| {
            shares.names.push(match (known.len(), what) {
                (1, "") => "generated texts".to_string(),
                (1, what) => what.to_string(),
                (_, "") => name.clone(),
                (_, what) => format!("{name}: {what}"),
            });
            shares.values.push(values);
        };
        add("", bands.iter().map(|band| band.share).collect());
        if known.len() <= MOST_COMPARED {
            let compared = [
                ("reference texts", of_references(system, bands)),
                ("shuffled pairs", of_shuffled(system, bands)),
            ];
            for (what, values) in compared {
                if let Some(values) = values {
                    add(what, values);
                }
            }
        }
    }
    let sentence = |(system, bands): &(System, Vec<Band>)| {
        let share = |band: &Band| Some(format!("{} {:.1} %", printable(&band.name), 100.0 * band.share?));
        let shares: Vec<String> = bands.iter().filter_map(share).collect();
        format!("{}: {}.", printable(system.name), shares.join(", "))
    };
    let head = "Shares of texts by bands of their energy.".to_string();
    let mut notes = run.notes(|id| *id == "etes.bands");
    notes.push("Bands of the energy −cos of signal and text, lower is better, with fixed cuts.".to_string());
    notes.push("The level of energies depends on the space: compare with shuffled pairs, every signal with every text of another.".to_string());
    let figure = Figure {
        description: description(std::iter::once(head).chain(known.iter().map(sentence))),
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
    let share = |band: &Band| {
        let count = found.iter().filter(|name| **name == band.name).count();
        Some(count as f64 / found.len() as f64)
    };
    (!found.is_empty()).then(|| bands.iter().map(share).collect())
}

/// Shares of shuffled pairs, from their histogram: its bins are hundredths, and so are most cuts.
fn of_shuffled(system: &System, bands: &[Band]) -> Option<Vec<Option<f64>>> {
    let curve = system.curve("etes.shuffled.histogram")?;
    let mut shares = vec![0.0; bands.len()];
    for (energy, share) in curve.x.iter().zip(&curve.y) {
        let name = system.band_of(*energy)?;
        let place = bands.iter().position(|band| band.name == name)?;
        shares[place] += share;
    }
    let total: f64 = shares.iter().sum();
    (total > 0.0 && total.is_finite()).then(|| shares.into_iter().map(Some).collect())
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
