// SPDX-License-Identifier: MIT
//! The tables of the groups of one system, such as its subjects.

use super::grids::{fitted, interval_name};
use super::{Groups, NONE, System};
use crate::grid::Grid;
use crate::numbers::{number, number_with_interval};
use crate::summary::direction;
use crate::text::printable;
use repscope_core::Better;

/// More groups than this are shown by this many of the best and the worst.
const MOST_GROUPS: usize = 20;
/// The columns of a group that are shown, with their heads and directions. All of them are in the CSV file.
const OF_GROUPS: [(&str, &str, Better); 7] = [
    ("shuffled", "shuffled", Better::Neither),
    ("z", "z", Better::Lower),
    ("auc", "AUC", Better::Higher),
    ("gap", "gap", Better::Lower),
    ("win_rate", "win rate", Better::Higher),
    ("bleu@4", "BLEU-4", Better::Higher),
    ("wer", "WER", Better::Lower),
];

/// A table for each factor, the best group first.
pub(super) fn groups(system: &System, width: usize) -> Vec<Grid> {
    let of = |groups: &Groups| {
        let sorted = groups.sorted();
        let half = MOST_GROUPS / 2;
        let is_cut = sorted.len() > MOST_GROUPS;
        let shown: Vec<usize> = if is_cut {
            [&sorted[..half], &sorted[sorted.len() - half..]].concat()
        } else {
            sorted.clone()
        };
        let known: Vec<&(&str, &str, Better)> = OF_GROUPS.iter().filter(|(column, ..)| groups.has(column)).collect();
        let mut header = vec![
            printable(groups.factor),
            "samples".to_string(),
            "alignment ↓".to_string(),
        ];
        header.push(interval_name(system));
        header.extend(
            known
                .iter()
                .map(|(_, name, better)| format!("{name} {}", direction(*better).0)),
        );
        let row = |&group: &usize| {
            let value = groups.value("alignment", group);
            let [energy, ends] = match (value, groups.interval("alignment", group)) {
                (Some(value), Some(interval)) => number_with_interval(value, interval).into(),
                (value, _) => [value.map_or(NONE.to_string(), number), String::new()],
            };
            let samples = groups.value("samples", group);
            let mut row = vec![
                printable(&groups.names[group]),
                samples.map_or(NONE.to_string(), |count| format!("{count:.0}")),
                energy,
                ends,
            ];
            row.extend(known.iter().map(|(column, ..)| match groups.value(column, group) {
                None => NONE.to_string(),
                Some(z) if *column == "z" => format!("{z:.2}"),
                // A percentage.
                Some(bleu) if column.starts_with("bleu") => format!("{bleu:.1}"),
                Some(value) => format!("{value:.3}"),
            }));
            row
        };
        let interval = interval_name(system);
        let grid = Grid {
            title: format!("By {}, each within itself", printable(groups.factor)),
            label: "etes-groups",
            rows: shown.iter().map(row).collect(),
            header,
            spare: 0..0,
            remarks: left_out(groups, sorted.len(), is_cut.then_some(half)),
        };
        fitted(
            grid,
            width,
            &[
                "WER ↓",
                "BLEU-4 ↑",
                "win rate ↑",
                &interval,
                "shuffled ·",
                "gap ↓",
                "z ↓",
            ],
        )
    };
    let with_energies = |groups: &Groups| !groups.sorted().is_empty();
    system
        .groups()
        .iter()
        .filter(|groups| with_energies(groups))
        .map(of)
        .collect()
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
    use crate::Color;

    fn table(width: usize) -> String {
        groups(&System::all(&two_systems())[0], width)
            .remove(0)
            .table(120, Color::No)
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
        let grid = groups(&System::all(&results)[0], 120).remove(0);
        let shown: Vec<&str> = grid.rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!((shown.len(), shown[0], shown[9], shown[10]), (20, "s0", "s9", "s20"));
        assert_eq!(grid.remarks, ["The 10 best and the 10 worst of 30 groups"]);
    }
}
