// SPDX-License-Identifier: MIT
//! The tables of one system: what its number means, its bands and its texts.

use super::{NONE, System, cells, four};
use crate::compare::probability::probability;
use crate::grid::Grid;
use crate::numbers::{number, percent, rough};
use crate::summary::direction;
use crate::text::printable;
use repscope_core::Score;

/// The level beside that of shuffled pairs, and what does not depend on the level.
pub(super) fn meaning(system: &System) -> Grid {
    let interval = interval_name(system);
    let mut parts: Vec<(String, String)> = [
        ("alignment", "alignment"),
        ("shuffled", "shuffled pairs"),
        ("z", "z"),
        ("p", "p"),
        ("auc", "AUC"),
    ]
    .map(|(part, name)| (part.to_string(), name.to_string()))
    .to_vec();
    parts.extend(
        system
            .ks()
            .into_iter()
            .map(|k| (format!("top@{k}"), format!("top {k}"))),
    );
    parts.extend(
        [
            ("mrr", "MRR"),
            ("rank", "mean rank"),
            ("win_rate", "win rate"),
            ("modality_gap", "modality gap"),
        ]
        .map(|(part, name)| (part.to_string(), name.to_string())),
    );
    let centred = |part: &str| system.score(&format!("centred.{part}"));
    let has_centred = parts.iter().any(|(part, _)| centred(part).is_some());
    let row = |(part, name): &(String, String)| {
        let score = system.score(part)?;
        let [value, ends] = of_part(system, part, "");
        let mut row = vec![
            name.clone(),
            direction(score.better).0.to_string(),
            value,
            ends,
            score.chance.map(rough).unwrap_or_default(),
        ];
        if has_centred {
            row.extend(of_part(system, part, "centred."));
        }
        Some(row)
    };
    let mut header = vec!["", "", "value", &interval, "chance"];
    if has_centred {
        header.extend(["centred", &interval]);
    }
    Grid {
        title: "What the number means".to_string(),
        label: "etes-meaning",
        header: header.iter().map(|name| name.to_string()).collect(),
        rows: parts.iter().filter_map(row).collect(),
        spare: 6..7,
        remarks: Vec::new(),
    }
}

/// Value and interval of a part; a mean of shuffled pairs has its standard deviation instead.
fn of_part(system: &System, part: &str, prefix: &str) -> [String; 2] {
    let id = format!("{prefix}{part}");
    match part {
        "shuffled" => {
            let spread = system.value(&format!("{id}.std"));
            [
                of_shuffled(system, &id),
                spread.map_or(String::new(), |spread| format!("sd {}", rough(spread))),
            ]
        }
        "p" => match system.score(&id) {
            Some(score) => [probability(score.value), String::new()],
            None => [String::new(), String::new()],
        },
        "z" => match system.value(&id) {
            Some(z) => [format!("{z:.2}"), String::new()],
            None => cells(system.score(&id)),
        },
        _ => cells(system.score(&id)),
    }
}

/// The mean of shuffled pairs. It is exact, so no interval says where to cut it.
pub(super) fn of_shuffled(system: &System, part: &str) -> String {
    match system.value(part) {
        Some(mean) => four(mean),
        None => cells(system.score(part))[0].clone(),
    }
}

/// The table without these columns, the first ones first, as far as it does not fit.
pub(super) fn fitted(mut grid: Grid, width: usize, spare: &[&str]) -> Grid {
    for name in spare {
        let place = grid.header.iter().position(|own| own == name);
        if let Some(place) = place.filter(|_| grid.width() > width) {
            for cells in grid.rows.iter_mut().chain([&mut grid.header]) {
                cells.remove(place);
            }
        }
    }
    grid
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
    let known: Vec<String> = known.collect();
    (!known.is_empty()).then(|| format!("Energies of single texts: {}", known.join(", ")))
}

/// The shares of the bands. `None` where they were not counted.
pub(super) fn bands(system: &System) -> Option<Grid> {
    let bands = system.bands();
    let last = bands.len().checked_sub(1)?;
    let row = |(place, band): (usize, &super::Band)| {
        // A cut belongs to the band above it, but the last one to the band below.
        let (opening, closing) = match place {
            _ if place == last => ('(', ']'),
            _ if place + 1 == last => ('[', ']'),
            _ => ('[', ')'),
        };
        let end = |end: Option<f64>| end.map_or(NONE.to_string(), number);
        let range = format!("{opening}{}, {}{closing}", end(band.from), end(band.to));
        vec![
            printable(&band.name),
            range,
            band.samples.map_or(NONE.to_string(), |count| format!("{count:.0}")),
            band.share
                .map_or(NONE.to_string(), |share| format!("{:.1} %", 100.0 * share)),
        ]
    };
    Some(Grid {
        title: "Bands of document 004".to_string(),
        label: "etes-bands",
        header: ["band", "energy ↓", "samples", "share"].map(str::to_string).to_vec(),
        rows: bands.iter().enumerate().map(row).collect(),
        spare: 0..0,
        remarks: band_of_shuffled(system).into_iter().collect(),
    })
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
pub(super) fn texts(system: &System) -> Option<Grid> {
    let is_shown = |score: &&&Score| !score.metric.ends_with(".precision") && !score.metric.ends_with(".recall");
    let scores = system.of_texts();
    let rows: Vec<Vec<String>> = scores
        .iter()
        .filter(is_shown)
        .map(|score| {
            let [value, interval] = cells(Some(score));
            let arrow = direction(score.better).0.to_string();
            vec![printable(&score.metric), arrow, value, interval]
        })
        .collect();
    (!rows.is_empty()).then(|| Grid {
        title: "Generated texts and reference texts".to_string(),
        label: "etes-texts",
        header: ["", "", "value", &interval_name(system)].map(str::to_string).to_vec(),
        rows,
        spare: 0..0,
        remarks: Vec::new(),
    })
}

/// How energies go with the metrics of texts, sample by sample. `None` where nothing was correlated.
pub(super) fn correlations(system: &System) -> Option<Grid> {
    let with = |score: &Score| {
        let name = score.metric.strip_prefix("etes.spearman(with=")?;
        Some(name.strip_suffix(')')?.to_string())
    };
    let own = system.results.scores.iter().filter(|score| score.model == system.name);
    let rows: Vec<Vec<String>> = own
        .filter_map(with)
        .map(|name| {
            let [rho, between] = cells(system.score(&format!("spearman(with={name})")));
            let [r, ends] = cells(system.score(&format!("pearson(with={name})")));
            // Energies are low where a text fits, and so is the error rate.
            let agreement = if name.starts_with("wer") { "> 0" } else { "< 0" };
            vec![printable(&name), rho, between, r, ends, agreement.to_string()]
        })
        .collect();
    let interval = interval_name(system);
    (!rows.is_empty()).then(|| Grid {
        title: "Do energies go with the metrics of texts, sample by sample?".to_string(),
        label: "etes-correlations",
        header: ["", "Spearman", &interval, "Pearson", &interval, "agree if"]
            .map(str::to_string)
            .to_vec(),
        rows,
        spare: 4..5,
        remarks: Vec::new(),
    })
}

/// `95 % interval`.
pub(super) fn interval_name(system: &System) -> String {
    system
        .level()
        .map_or("interval".to_string(), |level| format!("{} interval", percent(level)))
}

#[cfg(test)]
mod tests {
    use super::super::testdata::two_systems;
    use super::*;
    use crate::Color;

    fn table(of: impl Fn(&System) -> Grid) -> String {
        of(&System::all(&two_systems())[0]).table(120, Color::No)
    }

    #[test]
    fn the_level_stands_beside_that_of_shuffled_pairs_and_every_number_has_its_direction() {
        let expected = "\
What the number means
                  value     95 % interval  chance  centred       95 % interval
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
Bands of document 004
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
