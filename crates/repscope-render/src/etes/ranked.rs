// SPDX-License-Identifier: MIT
//! Systems beside each other, best first by alignment, and what their order is worth.

use super::grids::{interval_name, of_shuffled};
use super::{System, four};
use crate::compare::probability::probability;
use crate::numbers::number;
use crate::table::{Cell, Column, NONE, Table};
use crate::text::printable;
use repscope_core::{Difference, Results};

/// A lead of which shuffled pairs have this share is called one of the space.
const MOSTLY: f64 = 0.5;

/// The systems that have an energy, best first.
fn sorted<'a>(systems: &[System<'a>]) -> Vec<(f64, System<'a>)> {
    let known = systems
        .iter()
        .filter_map(|system| Some((system.value("alignment")?, *system)));
    let mut known: Vec<(f64, System)> = known.collect();
    // Stable: of equals the first given stays first.
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    known
}

/// The order of at least two systems. `None` where fewer have an energy.
pub(super) fn ranked(systems: &[System]) -> Option<Table> {
    let sorted = sorted(systems);
    let [(_, best), _, ..] = sorted.as_slice() else {
        return None;
    };
    let interval = interval_name(best);
    let mut table = Table::new(
        format!("{} systems, best first by alignment", sorted.len()),
        "etes-systems",
    );
    table.columns = vec![
        Column::number("#"),
        Column::text("system"),
        Column::number("alignment ↓").with_interval(&interval).spare_interval(0),
        Column::number("vs best ↓").with_interval(&interval).spare_interval(3),
        Column::number("adjusted p").spare(4),
        Column::number(""),
        Column::number("shuffled ·").spare(1),
        Column::number("z ↓").spare(2),
        Column::number("AUC ↑"),
    ];
    for (place, (_, system)) in sorted.iter().enumerate() {
        let mut cells = vec![
            Cell::count(place + 1),
            Cell::text(system.name),
            Cell::score(system.score("alignment")),
        ];
        cells.extend(match place {
            0 => [Cell::default(), Cell::default(), Cell::text("best")],
            _ => to_best(system, best),
        });
        cells.extend([
            of_shuffled(system, "shuffled"),
            Cell::optional(system.value("z"), |z| format!("{z:.2}")),
            Cell::score(system.score("auc")).alone(),
        ]);
        table.push(cells);
    }
    table.remarks = order_remarks(systems);
    Some(table)
}

/// The difference to the best system with its interval, its p-value and the verdict.
fn to_best(system: &System, best: &System) -> [Cell; 3] {
    let Some((d, value, interval)) = difference(system.results, system.name, best.name) else {
        let value = system.value("alignment").zip(best.value("alignment"));
        let value = Cell::optional(value.map(|(own, best)| own - best), number);
        return [value, Cell::text(NONE), Cell::text("not tested")];
    };
    let verdict = match d.winner.as_deref() {
        Some(winner) if winner == best.name => "worse",
        Some(_) => "better",
        None if d.p_adjusted.is_none() => "not tested",
        None => "not told apart",
    };
    [
        Cell::with_interval(value, interval),
        Cell::written(probability(d.p_adjusted), d.p_adjusted),
        Cell::text(verdict),
    ]
}

/// The difference of one system less another in alignment, whichever way round it was taken.
fn difference<'a>(results: &'a Results, system: &str, best: &str) -> Option<(&'a Difference, f64, Option<[f64; 2]>)> {
    let of_both = |d: &&Difference| (d.a == system && d.b == best) || (d.a == best && d.b == system);
    let own = results.differences.iter().filter(|d| d.metric == "etes.alignment");
    let d = own.clone().find(of_both)?;
    Some(if d.a == system {
        (d, d.value, d.interval)
    } else {
        (d, -d.value, d.interval.map(|[low, high]| [-high, -low]))
    })
}

/// What the order by alignment hides. Empty for a single system.
pub(crate) fn order_remarks(systems: &[System]) -> Vec<String> {
    let sorted = sorted(systems);
    let mut remarks = Vec::new();
    let Some(&(best_level, best)) = sorted.first() else {
        return remarks;
    };
    for (level, system) in &sorted[1..] {
        let (Some(own), Some(of_best)) = (system.value("shuffled"), best.value("shuffled")) else {
            continue;
        };
        let (lead, of_space) = (level - best_level, own - of_best);
        if lead > 0.0 && of_space >= MOSTLY * lead {
            remarks.push(printable(&format!(
                "{} is {} below {}, but its shuffled pairs are {} below too: most of the lead is the space's, not the texts'",
                best.name,
                four(lead),
                system.name,
                four(of_space)
            )));
        }
    }
    let mut by_auc: Vec<(f64, &str)> = sorted
        .iter()
        .filter_map(|(_, system)| Some((system.value("auc")?, system.name)))
        .collect();
    by_auc.sort_by(|a, b| b.0.total_cmp(&a.0));
    let order: Vec<&str> = sorted.iter().map(|(_, system)| system.name).collect();
    let other: Vec<&str> = by_auc.iter().map(|(_, name)| *name).collect();
    if other.len() == order.len() && other != order {
        remarks.push(printable(&format!(
            "By AUC, which does not depend on the level, the order is {}",
            other.join("; ")
        )));
    }
    for system in systems.iter().filter(|system| system.value("alignment").is_none()) {
        let why = super::reason(system.score("alignment"));
        remarks.push(printable(&format!("{NONE} {}: {why}", system.name)));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{change, difference as of_systems, drop_value, two_systems, without_reference};
    use super::*;
    use crate::table::Document;
    use crate::{Color, Format};

    fn text(results: &Results) -> String {
        let table = ranked(&System::all(results)).expect("two systems");
        Document::from(table).render(Format::Table, 140, Color::No)
    }

    #[test]
    fn the_lowest_energy_comes_first_with_the_differences_to_it() {
        // The difference is stored as glim less nucleus: -0.1961, so nucleus is 0.1961 above. Shuffled pairs are 0.1612 apart.
        let expected = "\
2 systems, best first by alignment
#  system        alignment ↓     95 % interval  vs best ↓   95 % interval  adjusted p         shuffled ·    z ↓  AUC ↑
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
1  glim              -0.399  [-0.409, -0.389]                                           best     -0.3612  -8.48  0.634
2  nucleus 0.95      -0.202  [-0.212, -0.192]        0.196  [0.184, 0.208]      0.0004  worse     -0.2000  -0.50  0.508

glim is 0.1961 below nucleus 0.95, but its shuffled pairs are 0.1612 below too: most of the lead is the space's, not the texts'
";
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('─', "");
        let text = text(&two_systems());
        assert_eq!(squeezed(&text), squeezed(expected), "{text}");
    }

    #[test]
    fn a_narrow_terminal_keeps_differences_and_verdicts() {
        let results = two_systems();
        let at = |width: usize| {
            let table = ranked(&System::all(&results)).expect("two systems");
            let text = Document::from(table).render(Format::Table, width, Color::No);
            text.lines()
                .nth(1)
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let header = |text: &str| Some(text.to_string());
        let all = "# system alignment ↓ vs best ↓ 95 % interval adjusted p shuffled · z ↓ AUC ↑";
        assert_eq!(at(100), header(all));
        assert_eq!(at(90), header(&all.replace(" shuffled ·", "")));
        assert_eq!(at(80), header("# system alignment ↓ vs best ↓ adjusted p AUC ↑"));
    }

    #[test]
    fn without_a_winner_systems_are_not_told_apart() {
        let mut results = two_systems();
        results.differences = vec![of_systems("etes.alignment", -0.1961, 0.3, 0.41, None)];
        assert!(text(&results).contains("0.410  not told apart"), "{}", text(&results));
        results.differences.clear();
        assert!(text(&results).contains("—  not tested"), "{}", text(&results));
    }

    #[test]
    fn another_order_by_auc_is_said() {
        let mut results = two_systems();
        assert!(!text(&results).contains("By AUC"));
        change(&mut results, "nucleus 0.95", "etes.auc", 0.8, None);
        assert!(
            text(&results).contains("the order is nucleus 0.95; glim\n"),
            "{}",
            text(&results)
        );
    }

    #[test]
    fn one_system_has_no_order_and_one_without_energies_no_place() {
        let results = without_reference();
        let alone = System::all(&results);
        assert!(ranked(&alone).is_none() && order_remarks(&alone).is_empty());
        let mut results = two_systems();
        drop_value(&mut results, "glim", "etes.alignment", "every signal is zero");
        assert!(ranked(&System::all(&results)).is_none());
    }
}
