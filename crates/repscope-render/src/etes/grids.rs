// SPDX-License-Identifier: MIT
//! The tables of one system: what its number means, its bands and its texts.

use super::{Groups, System, four};
use crate::compare::probability::probability;
use crate::numbers::{interval_head, number, rough};
use crate::scores::both_ends;
use crate::table::{Cell, Column, NONE, Table, direction};
use crate::text::{join, printable};
use repscope_core::{Better, MetricId};

/// The level beside that of shuffled pairs, and what does not depend on the level.
pub(super) fn meaning(system: &System) -> Table {
    const BEFORE: [(&str, &str); 5] = [
        ("alignment", "alignment"),
        ("shuffled", "shuffled pairs"),
        ("z", "z"),
        ("p", "p"),
        ("auc", "AUC"),
    ];
    const AFTER: [(&str, &str); 4] = [
        ("mrr", "MRR"),
        ("rank", "mean rank"),
        ("win_rate", "win rate"),
        ("modality_gap", "modality gap"),
    ];
    let of = |(part, name): (&str, &str)| (part.to_string(), name.to_string());
    let top = system
        .ks()
        .into_iter()
        .map(|k| (format!("top@{k}"), format!("top {k}")));
    let parts: Vec<(String, String)> = BEFORE.map(of).into_iter().chain(top).chain(AFTER.map(of)).collect();
    let is_centered = |(part, _): &(String, _)| system.score(&format!("centred.{part}")).is_some();
    let has_centered = parts.iter().any(is_centered);
    let interval = interval_name(system);
    let mut table = Table::new("What the number means", "etes-meaning");
    table.columns = vec![
        Column::text(""),
        Column::direction(),
        Column::number("value").with_interval(&interval),
        Column::number("chance"),
    ];
    let centered = || Column::number("centered").with_interval(&interval).spare_interval(0);
    table.columns.extend(has_centered.then(centered));
    for (part, name) in parts {
        let Some(score) = system.score(&part) else { continue };
        let mut cells = vec![
            Cell::text(name),
            Cell::direction(score.better),
            of_part(system, &part, ""),
            Cell::written(score.chance.map(rough).unwrap_or_default(), score.chance),
        ];
        cells.extend(has_centered.then(|| of_part(system, &part, "centred.")));
        table.push(cells);
    }
    table
}

/// Value and interval of a part; a mean of shuffled pairs has its standard deviation instead.
fn of_part(system: &System, part: &str, prefix: &str) -> Cell {
    let id = format!("{prefix}{part}");
    let score = system.score(&id);
    match (part, score.and_then(|score| score.value)) {
        ("shuffled", _) => {
            let spread = system.value(&format!("{id}.std"));
            Cell {
                interval: spread.map_or(String::new(), |spread| format!("sd {}", rough(spread))),
                ..of_shuffled(system, &id)
            }
        }
        ("p", value) if score.is_some() => Cell::written(probability(value), value),
        ("z", Some(z)) => Cell::written(format!("{z:.2}"), Some(z)),
        _ => Cell::score(score),
    }
}

/// The mean of shuffled pairs. It is exact, so no interval says where to cut it.
pub(super) fn of_shuffled(system: &System, part: &str) -> Cell {
    match system.value(part) {
        Some(mean) => Cell::written(four(mean), Some(mean)),
        None => Cell::score(system.score(part)).alone(),
    }
}

/// How the energies are spread, in a line. `None` where nothing of it is known.
pub(super) fn spread(system: &System) -> Option<String> {
    let parts = [
        ("min", "min"),
        ("p10", "p10"),
        ("median", "median"),
        ("p90", "p90"),
        ("max", "max"),
        ("std", "standard deviation"),
    ];
    let known = parts
        .iter()
        .filter_map(|(part, name)| Some(format!("{name} {}", four(system.value(part)?))));
    let known = join(known, ", ");
    (!known.is_empty()).then(|| format!("Energies of single texts: {known}"))
}

/// The shares of the bands. `None` where they were not counted.
pub(super) fn bands(system: &System) -> Option<Table> {
    let bands = system.bands();
    let last = bands.len().checked_sub(1)?;
    let mut table = Table::new("Bands of fixed cuts", "etes-bands");
    table.columns = vec![Column::text("band")];
    table
        .columns
        .extend(["energy ↓", "samples", "share"].map(Column::number));
    for (place, band) in bands.iter().enumerate() {
        // A cut belongs to the band above it, but the last one to the band below.
        let (opening, closing) = match place {
            _ if place == last => ('(', ']'),
            _ if place + 1 == last => ('[', ']'),
            _ => ('[', ')'),
        };
        let [from, to] = [band.from, band.to].map(|end| end.map_or(NONE.to_string(), number));
        table.push(vec![
            Cell::text(&band.name),
            Cell::text(format!("{opening}{from}, {to}{closing}")),
            Cell::optional(band.samples, |count| format!("{count:.0}")),
            Cell::optional(band.share, |share| format!("{:.1} %", 100.0 * share)),
        ]);
    }
    table.remarks.extend(band_of_shuffled(system));
    Some(table)
}

/// A fixed cut says little where shuffled pairs pass it too.
fn band_of_shuffled(system: &System) -> Option<String> {
    let shuffled = system.value("shuffled")?;
    let band = printable(&system.band_of(shuffled)?);
    let is_same = system.value("alignment").and_then(|energy| system.band_of(energy)) == Some(band.clone());
    let too = if is_same { " too" } else { "" };
    Some(format!(
        "Cuts are fixed, levels depend on the space: the mean of shuffled pairs, {}, is in the band {band}{too}",
        four(shuffled)
    ))
}

/// Texts compared with the reference texts. `None` without texts.
pub(super) fn texts(system: &System) -> Option<Table> {
    let mut table = Table::new("Generated texts and reference texts", "etes-texts");
    table.columns = vec![
        Column::text(""),
        Column::direction(),
        Column::number("value").with_interval(interval_name(system)),
    ];
    for score in system.of_texts().iter().filter(|score| !is_of_part(&score.metric)) {
        table.push(vec![
            Cell::text(score.metric.as_str()),
            Cell::direction(score.better),
            Cell::score(Some(score)),
        ]);
    }
    Some(table).filter(|table| !table.rows.is_empty())
}

/// Whether it is a part of an F-score.
pub(super) fn is_of_part(id: &MetricId) -> bool {
    ["precision", "recall"].contains(&id.part().rsplit('.').next().unwrap_or(""))
}

/// How energies go with the metrics of texts, sample by sample. `None` where nothing was correlated.
pub(super) fn correlations(system: &System) -> Option<Table> {
    let interval = interval_name(system);
    let title = "Do energies go with the metrics of texts, sample by sample?";
    let mut table = Table::new(title, "etes-correlations");
    table.columns = vec![
        Column::text(""),
        Column::number("Spearman").with_interval(&interval),
        Column::number("Pearson").with_interval(&interval).spare_interval(0),
        Column::number("agree if"),
    ];
    let correlated = system
        .scores()
        .filter(|score| score.metric.measure() == "etes.spearman");
    for name in correlated.filter_map(|score| score.metric.parameter("with")) {
        let of = |kind: &str| Cell::score(system.score(&format!("{kind}(with={name})")));
        // Energies are low where a text fits, and so is the error rate.
        let is_error = MetricId::from(name).family() == "wer";
        let agreement = Cell::text(if is_error { "> 0" } else { "< 0" });
        table.push(vec![Cell::text(name), of("spearman"), of("pearson"), agreement]);
    }
    Some(table).filter(|table| !table.rows.is_empty())
}

/// `95 % interval`.
pub(super) fn interval_name(system: &System) -> String {
    interval_head(system.level())
}

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
    let shown = both_ends(&sorted, MOST_GROUPS);
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
    for &&group in &shown {
        let energy = groups.value("alignment", group);
        let energy = energy.map(|value| Cell::with_interval(value, groups.interval("alignment", group)));
        let mut cells = vec![
            Cell::text(&groups.names[group]),
            Cell::optional(groups.value("samples", group), |count| format!("{count:.0}")),
            energy.unwrap_or_else(|| Cell::optional(None, number)),
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
    let (half, count) = (shown.len() / 2, sorted.len());
    if shown.len() < count {
        table
            .remarks
            .push(format!("The {half} best and the {half} worst of {count} groups"));
    }
    match groups.names.len() - count {
        0 => {}
        1 => table.remarks.push("1 group has no energy".to_string()),
        without => table.remarks.push(format!("{without} groups have no energy")),
    }
    table
}

#[cfg(test)]
mod tests_of_grids {
    use super::super::testdata::two_systems;
    use super::*;
    use crate::table::Document;
    use crate::{Color, Format};

    fn table(of: impl Fn(&System) -> Table) -> String {
        Document::from(of(&System::all(&two_systems())[0])).render(Format::Table, 120, Color::No)
    }

    #[test]
    fn the_level_stands_beside_that_of_shuffled_pairs_and_every_number_has_its_direction() {
        let expected = "\
What the number means
                  value     95 % interval  chance  centered      95 % interval
──────────────────────────────────────────────────────────────────────────────
alignment       ↓  -0.399  [-0.409, -0.389]          -0.061    [-0.072, -0.050]
";
        let text = table(meaning);
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = squeezed(expected).replace('─', "");
        assert!(squeezed(&text).replace('─', "").starts_with(&first), "{text}");
        for line in [
            "shuffled pairs · -0.3612 sd 0.0044 -0.0002 sd 0.0067",
            "z ↓ -8.48 -9.10",
            "p ↓ 0.0010",
            "AUC ↑ 0.634 [0.600, 0.668] 0.5 0.700 [0.670, 0.730]",
            "top 10 ↑ 0.120 [0.083, 0.157] 0.033",
            "mean rank ↓ 110.3 [101.2, 119.4] 150",
        ] {
            assert!(squeezed(&text).contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn bands_name_their_cuts_and_the_band_of_shuffled_pairs() {
        let expected = "\
Bands of fixed cuts
band           energy ↓  samples   share
────────────────────────────────────────
excellent    [-1, -0.8)        0   0.0 %
good       [-0.8, -0.5)       36  12.0 %
fair       [-0.5, -0.2)      255  85.0 %
weak          [-0.2, 0]        9   3.0 %
poor             (0, 1]        0   0.0 %

Cuts are fixed, levels depend on the space: the mean of shuffled pairs, -0.3612, is in the band fair too
";
        assert_eq!(table(|system| bands(system).expect("bands")), expected);
    }

    #[test]
    fn texts_are_shown_with_their_direction_and_agreement_with_its_sign() {
        let text = table(|system| texts(system).expect("texts"));
        assert!(text.contains("\nwer      ↓  0.931  [0.881, 0.981]\n"), "{text}");
        assert!(!text.contains("precision"), "{text}");
        let text = table(|system| correlations(system).expect("correlations"));
        assert!(
            text.contains("\nbleu    -0.120  [-0.170, -0.070]   -0.150  [-0.200, -0.100]       < 0\n"),
            "{text}"
        );
        assert!(
            text.lines()
                .any(|line| line.starts_with("wer") && line.ends_with("> 0")),
            "{text}"
        );
    }
}

#[cfg(test)]
mod tests_of_by_group {
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
