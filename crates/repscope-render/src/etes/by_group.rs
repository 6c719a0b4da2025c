// SPDX-License-Identifier: MIT
//! The tables of the groups of one system, such as its subjects.

use super::grids::interval_name;
use super::{Groups, System};
use crate::numbers::number;
use crate::table::{Cell, Column, Table, direction};
use crate::text::printable;
use repscope_core::Better;

/// More groups than this are shown by this many of the best and the worst.
const MOST_GROUPS: usize = 20;
/// The interval is left out where there is no room, after the last three columns.
const INTERVAL: u8 = 3;
/// The columns of a group that are shown, with their heads, directions, and the order in which they are left out where there is
/// no room. All of them are in the CSV file.
const OF_GROUPS: [(&str, &str, Better, Option<u8>); 7] = [
    ("shuffled", "shuffled", Better::Neither, Some(4)),
    ("z", "z", Better::Lower, Some(6)),
    ("auc", "AUC", Better::Higher, None),
    ("gap", "gap", Better::Lower, Some(5)),
    ("win_rate", "win rate", Better::Higher, Some(2)),
    ("bleu@4", "BLEU-4", Better::Higher, Some(1)),
    ("wer", "WER", Better::Lower, Some(0)),
];

/// A table for each factor, the best group first.
pub(super) fn groups(system: &System) -> Vec<Table> {
    let groups = system.groups();
    let with_energies = groups.iter().filter(|groups| !groups.sorted().is_empty());
    with_energies.map(|groups| of_factor(system, groups)).collect()
}

fn of_factor(system: &System, groups: &Groups) -> Table {
    let sorted = groups.sorted();
    let half = MOST_GROUPS / 2;
    let is_cut = sorted.len() > MOST_GROUPS;
    let shown: Vec<usize> = if is_cut {
        [&sorted[..half], &sorted[sorted.len() - half..]].concat()
    } else {
        sorted.clone()
    };
    let known = || OF_GROUPS.iter().filter(|(column, ..)| groups.has(column));
    let factor = printable(groups.factor);
    let mut table = Table::new(format!("By {factor}, each within itself"), "etes-groups");
    table.columns = vec![
        Column::text(factor),
        Column::number("samples"),
        Column::number("alignment ↓")
            .with_interval(interval_name(system))
            .spare_interval(INTERVAL),
    ];
    table.columns.extend(known().map(|(_, name, better, spare)| Column {
        spare: *spare,
        ..Column::number(format!("{name} {}", direction(*better).0))
    }));
    for &group in &shown {
        let energy = match groups.value("alignment", group) {
            Some(value) => Cell::with_interval(value, groups.interval("alignment", group)),
            None => Cell::optional(None, number),
        };
        let mut cells = vec![
            Cell::text(&groups.names[group]),
            Cell::optional(groups.value("samples", group), |count| format!("{count:.0}")),
            energy,
        ];
        cells.extend(known().map(|(column, ..)| {
            let decimals = match *column {
                "z" => 2,
                // A percentage.
                "bleu@4" => 1,
                _ => 3,
            };
            Cell::optional(groups.value(column, group), |x| format!("{x:.decimals$}"))
        }));
        table.push(cells);
    }
    table.remarks = left_out(groups, sorted.len(), is_cut.then_some(half));
    table
}

/// Which groups are not in the table.
fn left_out(groups: &Groups, known: usize, half: Option<usize>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(half) = half {
        remarks.push(format!("The {half} best and the {half} worst of {known} groups"));
    }
    match groups.names.len() - known {
        0 => {}
        1 => remarks.push("1 group has no energy".to_string()),
        count => remarks.push(format!("{count} groups have no energy")),
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::testdata::two_systems;
    use super::*;
    use crate::table::Document;
    use crate::{Color, Format};

    fn table(width: usize) -> String {
        let table = groups(&System::all(&two_systems())[0]).remove(0);
        Document::from(table).render(Format::Table, width, Color::No)
    }

    #[test]
    fn groups_come_best_first_and_those_without_energies_are_counted() {
        let expected = "\
By subject, each within itself
subject  samples  alignment ↓     95 % interval  shuffled ·    z ↓  AUC ↑  gap ↓  win rate ↑
────────────────────────────────────────────────────────────────────────────────────────────
ZAB          180       -0.417  [-0.430, -0.404]      -0.362  -9.90  0.688  0.008       0.470
ZDM          120       -0.371  [-0.387, -0.355]      -0.360  -1.20  0.541  0.039       0.350

1 group has no energy
";
        assert_eq!(table(120), expected);
        let narrow = table(70);
        let header = narrow.lines().nth(1);
        assert_eq!(
            header,
            Some("subject  samples  alignment ↓  shuffled ·    z ↓  AUC ↑  gap ↓")
        );
    }

    #[test]
    fn many_groups_are_shown_by_the_best_and_the_worst() {
        let mut results = two_systems();
        let names: Vec<String> = (0..30).map(|i| format!("s{i}")).collect();
        let table = results.breakdowns.last_mut().expect("the groups");
        table.keys[0].values = names;
        table.columns.retain(|column| column.name == "alignment");
        table.columns[0].values = (0..30).map(|i| Some(-0.9 + 0.01 * f64::from(i))).collect();
        let table = groups(&System::all(&results)[0]).remove(0);
        let shown: Vec<&str> = table.rows.iter().map(|row| row.cells[0].text.as_str()).collect();
        assert_eq!((shown.len(), shown[0], shown[9], shown[10]), (20, "s0", "s9", "s20"));
        assert_eq!(table.remarks, ["The 10 best and the 10 worst of 30 groups"]);
    }
}
