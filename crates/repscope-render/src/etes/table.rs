// SPDX-License-Identifier: MIT
//! What a reader wants to see: which system is best, the lines of the log, and what they are worth.

use super::grids::is_of_part;
use super::log::{heading, lines};
use super::ranked::ranked;
use super::{System, by_group, grids, is_of_etes, reading};
use crate::scores::{Best, add_to_group, distinct, name_metrics, scores, scores_with};
use crate::table::{Block, Document, Item, NONE, Table};
use crate::text::printable;
use crate::{Color, Format, long_csv};
use repscope_core::{MetricId, Results, Score};

/// What the rows mean that do not say it themselves.
const MEANINGS: &str = "Energy: -cos of a signal and a text. Shuffled pairs: \
                        mean over all pairings, exact. z: alignment less that, in standard deviations over pairings. AUC: how \
                        often a matched pair is nearer than a mismatched one. Top K, MRR, mean rank: place of a signal's own \
                        text among all texts. Win rate: how often the generated text is nearer than the reference. Centered: \
                        after the mean of each side is subtracted, which takes the cone away";
/// The level of intervals that do not say theirs.
const LEVEL: f64 = 0.95;

/// Writes the energies of all systems. `width` (terminal columns) and `color` matter to [`Format::Table`] only.
/// [`Format::Csv`] is the long form of all scores.
pub fn etes_table(results: &Results, format: Format, width: usize, color: Color) -> String {
    if format == Format::Csv {
        return long_csv::render(results);
    }
    let systems = System::all(results);
    if systems.is_empty() {
        return crate::render(&Results::default(), format, width, color);
    }
    let document = match format {
        Format::Table => for_a_terminal(&systems),
        _ => for_a_page(&systems),
    };
    document.render(format, width, color)
}

/// The order of the systems, then system by system with the lines of the log.
fn for_a_terminal(systems: &[System]) -> Document {
    let mut blocks: Vec<Block> = ranked(systems).map(Block::Table).into_iter().collect();
    for system in systems {
        blocks.push(Block::Heading(heading(system, LEVEL)));
        blocks.push(Block::Verbatim(lines(system)));
        blocks.push(Block::Text(reading(system)));
        blocks.push(Block::Table(grids::meaning(system)));
        blocks.extend(grids::spread(system).map(Block::Text));
        let tables = grids::texts(system).into_iter().chain(details(system));
        blocks.extend(tables.map(Block::Table));
    }
    let mut legend = vec![MEANINGS.to_string()];
    legend.extend(remarks(systems));
    Document {
        blocks,
        legend: Some(legend),
    }
}

/// The scores of all systems, what they say, and the tables of each.
fn for_a_page(systems: &[System]) -> Document {
    let say = |system: &System| Item {
        name: printable(system.name),
        text: reading(system),
        check: None,
    };
    let mut blocks = vec![
        Block::Table(summary(systems)),
        Block::List(systems.iter().map(say).collect()),
    ];
    blocks.extend(ranked(systems).map(Block::Table));
    let mut count = 0;
    for system in systems {
        for mut table in details(system) {
            count += 1;
            table.label = format!("{}-{count}", table.label);
            if systems.len() > 1 {
                table.title = format!("{}: {}", printable(system.name), table.title);
            }
            blocks.push(Block::Table(table));
        }
    }
    let mut legend = vec![MEANINGS.to_string()];
    legend.extend(remarks(systems));
    Document {
        blocks,
        legend: Some(legend),
    }
}

/// The tables of a system that not every run has, but for texts, which the general table has too.
fn details(system: &System) -> Vec<Table> {
    let known = [grids::bands(system), grids::correlations(system)];
    known.into_iter().flatten().chain(by_group::groups(system)).collect()
}

/// The scores as the general table shows them, without those that only describe how energies are spread.
fn summary(systems: &[System]) -> Table {
    const LEFT_OUT: [&str; 9] = [
        "etes.shuffled.std",
        "etes.centred.shuffled",
        "etes.centred.shuffled.std",
        "etes.std",
        "etes.min",
        "etes.max",
        "etes.median",
        "etes.p10",
        "etes.p90",
    ];
    let is_shown = |id: &MetricId| {
        let is_detail = LEFT_OUT.contains(&id.as_str()) || id.parameter("with").is_some() || is_of_part(id);
        is_of_etes(id) && !is_detail
    };
    let mut shown = only(systems, is_shown);
    // Chance is that of shuffled pairs, which have a row, and 0.
    let of_levels = ["etes.alignment", "etes.centred.alignment", "etes.z", "etes.centred.z"];
    let levels = shown
        .scores
        .iter_mut()
        .filter(|score| of_levels.contains(&score.metric.as_str()));
    levels.for_each(|score| score.chance = None);
    // Who is best is said by the differences, in the ranking; the rest is said below all tables.
    Table {
        caption: "Energies of generated texts (minus the cosine of signal and text) with confidence intervals"
            .to_string(),
        label: "etes".to_string(),
        ..scores_with(&shown, Best::Unmarked, [false; 2])
    }
}

fn only(systems: &[System], is_wanted: impl Fn(&MetricId) -> bool) -> Results {
    let all = systems.first().map_or(&[][..], |system| &system.results.scores);
    let scores = all.iter().filter(|score| is_wanted(&score.metric));
    Results {
        scores: scores.cloned().collect(),
        ..Results::default()
    }
}

/// What the tables need said below them: meanings, notes, why values are missing, and how intervals were made.
fn remarks(systems: &[System]) -> Vec<String> {
    let own = only(systems, is_of_etes);
    let table = scores(&own);
    let mut remarks = Vec::new();
    // The table of correlations says itself which sign is agreement.
    let noted: Vec<Score> = own
        .scores
        .iter()
        .filter(|score| score.metric.parameter("with").is_none())
        .cloned()
        .collect();
    remarks.extend(notes(&noted));
    // All but texts are energies: their names need not say so each time.
    let short = |text: &str| text.replace("etes.", "");
    let missing = table.undefined.iter();
    remarks.extend(missing.map(|(who, reason)| format!("{NONE} {}: {reason}", short(who))));
    remarks.extend(table.legend.iter().map(|how| short(how)));
    remarks
}

/// Each note with the scores it speaks of.
fn notes(scores: &[Score]) -> Vec<String> {
    let all = distinct(scores.iter().map(|score| score.metric.as_str()));
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for score in scores {
        if let Some(note) = score.note.as_deref() {
            add_to_group(&mut groups, note, &score.metric);
        }
    }
    let sentence = |(note, ids): &(&str, Vec<&str>)| printable(&format!("{}: {note}", name_metrics(ids, &all)));
    groups.iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{two_systems, without_reference};
    use super::*;

    fn of(results: &Results, format: Format) -> String {
        etes_table(results, format, 100, Color::No)
    }

    /// Where these stand in the text, in order.
    fn places(text: &str, parts: &[&str]) -> Vec<usize> {
        let place = |part: &&str| text.find(*part).unwrap_or_else(|| panic!("no {part} in {text}"));
        parts.iter().map(place).collect()
    }

    #[test]
    fn the_ranking_comes_first_then_system_by_system() {
        let text = of(&two_systems(), Format::Table);
        let places = places(
            &text,
            &[
                "2 systems, best first by alignment",
                "glim: 300 samples, 95 % intervals\nETES Alignment....",
                "The level -0.3985 is mostly the cone",
                "What the number means",
                "Energies of single texts: min -0.7100, p10 -0.5085, median -0.4005",
                "Generated texts and reference texts",
                "Bands of fixed cuts",
                "Do energies go with",
                "By subject",
                "nucleus 0.95: 300 samples, 95 % intervals\nETES Alignment....",
                "Matched pairs are no nearer than shuffled ones",
                "↓ lower is better",
                "etes.total: weight 0.1 of the log-perplexity\n",
                "95 % intervals: Student t over samples",
            ],
        );
        assert!(places.is_sorted(), "{text}");
    }

    #[test]
    fn lines_fit_the_terminal() {
        // The lines of the log are as wide as the document has them.
        for width in [80, 100] {
            let text = etes_table(&two_systems(), Format::Table, width, Color::No);
            for line in text.lines().filter(|line| !line.starts_with("ETES ")) {
                assert!(crate::text::columns(line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn what_is_missing_is_explained_and_never_zero() {
        let text = of(&without_reference(), Format::Table);
        assert!(text.contains("not available (no reference was given)\n"), "{text}");
        assert!(
            text.contains("\n— reference, gap, win_rate, centred.reference, centred.gap: no reference was given\n")
                && text.contains("\nwin rate        ↑        —"),
            "{text}"
        );
        assert!(!text.contains("best first by alignment"), "{text}");
        assert_eq!(of(&Results::default(), Format::Table), "No scores.\n");
    }

    #[test]
    fn markdown_has_the_general_table_with_all_systems() {
        let text = of(&two_systems(), Format::Markdown);
        assert!(
            text.starts_with("| metric |  | glim | nucleus 0.95 | chance | n |\n"),
            "{text}"
        );
        assert!(
            text.contains("\n| `etes.alignment` | ↓ | -0.399 [-0.409, -0.389] | -0.202 [-0.212, -0.192] |  | 300 |\n"),
            "{text}"
        );
        assert!(
            text.contains("\n- **nucleus 0.95**: Matched pairs are no nearer"),
            "{text}"
        );
        assert!(
            text.contains("\n**glim: By subject, each within itself**\n\n| subject | samples | alignment ↓ |"),
            "{text}"
        );
        assert!(!text.contains("rouge.1.precision") && !text.contains("**-0."), "{text}");
    }

    #[test]
    fn latex_has_a_label_for_every_table_and_no_signs_that_fonts_lack() {
        let text = of(&two_systems(), Format::Latex);
        let labels: Vec<&str> = text
            .split("\\label{")
            .skip(1)
            .filter_map(|rest| rest.split('}').next())
            .collect();
        let unique: std::collections::BTreeSet<&&str> = labels.iter().collect();
        assert!(labels.len() > 5 && unique.len() == labels.len(), "{labels:?}");
        assert!(labels.starts_with(&["tab:etes", "tab:etes-systems"]), "{labels:?}");
        assert!(!text.contains(['↓', '↑', '·', '≥', '−', '—']), "{text}");
    }

    #[test]
    fn csv_is_the_long_form() {
        let results = two_systems();
        assert_eq!(
            of(&results, Format::Csv),
            crate::render(&results, Format::Csv, 80, Color::No)
        );
    }
}
