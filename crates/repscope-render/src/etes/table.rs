// SPDX-License-Identifier: MIT
//! What a reader wants to see: which system is best, the lines of the log, and what they are worth.

use super::grids::{interval_name, is_of_part, of_shuffled};
use super::readings::{heading, lines};
use super::{System, four, grids, is_of_etes, reading};
use crate::compare::probability::probability;
use crate::numbers::number;
use crate::scores::{distinct, grouped, is_between, less, name_metrics, scores, scores_with};
use crate::table::{Block, Cell, Column, Document, Item, NONE, Table};
use crate::text::printable;
use crate::{Color, Format, csv_files};
use repscope_core::{Difference, MetricId, Results, Score};

/// What the rows mean that do not say it themselves.
const MEANINGS: &str = "Energy: -cos of a signal and a text. Shuffled pairs: \
                        mean over all pairings, exact. z: alignment less that, in standard deviations over pairings. AUC: how \
                        often a matched pair is nearer than a mismatched one. Top K, MRR, mean rank: place of a signal's own \
                        text among all texts. Win rate: how often the generated text is nearer than the reference. Centered: \
                        after the mean of each side is subtracted, which takes the cone away";
/// The level of intervals that do not say theirs.
const LEVEL: f64 = 0.95;

/// What a table of what answers needs said.
const SHORT_MEANINGS: &str = "Energy: -cos of a signal and a text. Shuffled pairs: mean over all pairings, exact. z: alignment less that, in \
                              standard deviations over pairings. AUC: how often a matched pair is nearer than a mismatched one";
/// The scores that answer.
const ANSWERS: [&str; 7] = [
    "etes.alignment",
    "etes.total",
    "etes.reference",
    "etes.gap",
    "etes.shuffled",
    "etes.z",
    "etes.auc",
];

/// Writes the energies of all systems: those that answer, or all. `width` (terminal columns) and `color` matter to [`Format::Table`] only.
/// [`Format::Csv`] is the long form of all scores.
pub fn etes_table(results: &Results, all: bool, format: Format, width: usize, color: Color) -> String {
    if format == Format::Csv {
        return csv_files::long(results, Vec::new());
    }
    let systems = System::all(results);
    if systems.is_empty() {
        return crate::render(&Results::default(), format, width, color);
    }
    let (blocks, meanings) = match format {
        _ if !all => (answers(&systems), SHORT_MEANINGS),
        Format::Table => (for_a_terminal(&systems), MEANINGS),
        _ => (for_a_page(&systems), MEANINGS),
    };
    let is_said = |id: &MetricId| all || ANSWERS.contains(&id.as_str());
    let legend = std::iter::once(meanings.to_string()).chain(remarks(&systems, is_said));
    let legend = Some(legend.collect());
    Document { blocks, legend }.render(format, width, color)
}

/// The order of the systems and what each says; of a single one, the lines of the log.
fn answers(systems: &[System]) -> Vec<Block> {
    let say = |system: &System| Item {
        name: printable(system.name),
        text: reading(system),
        check: None,
    };
    match systems {
        [only] => vec![
            Block::Heading(heading(only, LEVEL)),
            Block::Verbatim(lines(only)),
            Block::Text(reading(only)),
        ],
        _ => {
            let ranked = ranked(systems).map(Block::Table);
            let readings = Block::List(systems.iter().map(say).collect());
            ranked.into_iter().chain([readings]).collect()
        }
    }
}

/// The order of the systems, then system by system with the lines of the log.
fn for_a_terminal(systems: &[System]) -> Vec<Block> {
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
    blocks
}

/// The scores of all systems, what they say, and the tables of each.
fn for_a_page(systems: &[System]) -> Vec<Block> {
    let say = |system: &System| Item {
        name: printable(system.name),
        text: reading(system),
        check: None,
    };
    let readings = Block::List(systems.iter().map(say).collect());
    let mut blocks = vec![Block::Table(summary(systems)), readings];
    blocks.extend(ranked(systems).map(Block::Table));
    let all = systems
        .iter()
        .flat_map(|system| details(system).into_iter().map(move |table| (system, table)));
    for (i, (system, mut table)) in all.enumerate() {
        table.label = format!("{}-{}", table.label, i + 1);
        if systems.len() > 1 {
            table.title = format!("{}: {}", printable(system.name), table.title);
        }
        blocks.push(Block::Table(table));
    }
    blocks
}

/// The tables of a system that not every run has, but for texts, which the general table has too.
fn details(system: &System) -> Vec<Table> {
    let known = [grids::bands(system), grids::correlations(system)];
    known.into_iter().flatten().chain(grids::groups(system)).collect()
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
    let is_level = |score: &&mut Score| of_levels.contains(&score.metric.as_str());
    shown
        .scores
        .iter_mut()
        .filter(is_level)
        .for_each(|score| score.chance = None);
    // Who is best is said by the differences, in the ranking; the rest is said below all tables.
    Table {
        caption: "Energies of generated texts (minus the cosine of signal and text) with confidence intervals"
            .to_string(),
        label: "etes".to_string(),
        ..scores_with(&shown, None, [false; 2])
    }
}

fn only(systems: &[System], is_wanted: impl Fn(&MetricId) -> bool) -> Results {
    let all = systems.first().map_or(&[][..], |system| &system.results.scores);
    all.iter().filter(|score| is_wanted(&score.metric)).cloned().collect()
}

/// What the tables need said below them: meanings, notes, why values are missing, and how intervals were made.
fn remarks(systems: &[System], is_said: impl Fn(&MetricId) -> bool) -> Vec<String> {
    let own = only(systems, |id| is_of_etes(id) && is_said(id));
    let table = scores(&own);
    // The table of correlations says itself which sign is agreement, and the reading of each system in which band it is.
    let noted = own
        .scores
        .iter()
        .filter(|score| score.metric.parameter("with").is_none() && score.metric != "etes.alignment");
    let mut remarks = notes(&noted.collect::<Vec<_>>());
    // All but texts are energies: their names need not say so each time.
    let short = |text: &str| text.replace("etes.", "");
    let missing = table.undefined.iter();
    remarks.extend(missing.map(|(who, reason)| format!("{NONE} {}: {reason}", short(who))));
    remarks.extend(table.legend.iter().map(|how| short(how)));
    remarks
}

/// Each note with the scores it speaks of.
fn notes(scores: &[&Score]) -> Vec<String> {
    let all = distinct(scores.iter().map(|score| &score.metric));
    let noted = scores
        .iter()
        .filter_map(|score| Some((score.note.as_deref()?, &score.metric)));
    let sentence = |(note, ids): &(&str, Vec<&MetricId>)| printable(&format!("{}: {note}", name_metrics(ids, &all)));
    grouped(noted).iter().map(sentence).collect()
}

/// A lead of which shuffled pairs have this share is called one of the space.
const MOSTLY: f64 = 0.5;

/// The systems that have an energy, best first.
pub(crate) fn by_alignment<'a>(systems: &[System<'a>]) -> Vec<System<'a>> {
    let energy = |system: &System| system.value("alignment").unwrap_or(f64::INFINITY);
    let known = systems.iter().filter(|system| system.value("alignment").is_some());
    let mut known: Vec<System> = known.copied().collect();
    // Stable: of equals the first given stays first.
    known.sort_by(|a, b| energy(a).total_cmp(&energy(b)));
    known
}

/// The order of at least two systems. `None` where fewer have an energy.
pub(super) fn ranked(systems: &[System]) -> Option<Table> {
    let sorted = by_alignment(systems);
    let [best, _, ..] = sorted.as_slice() else {
        return None;
    };
    let interval = interval_name(best);
    let title = format!("{} systems, best first by alignment", sorted.len());
    let mut table = Table::new(title, "etes-systems");
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
    for (place, system) in sorted.iter().enumerate() {
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
    let is_own = |d: &&Difference| d.metric == "etes.alignment" && is_between(d, system.name, best.name);
    let Some(d) = system.results.differences.iter().find(is_own) else {
        let value = system.value("alignment").zip(best.value("alignment"));
        let value = Cell::optional(value.map(|(own, best)| own - best), number);
        return [value, Cell::text(NONE), Cell::text("not tested")];
    };
    let verdict = match d.winner.as_deref() {
        Some(winner) if winner == best.name => "worse",
        Some(_) => "better",
        None if d.p_adjusted.is_none() => "not tested",
        None => "not significant",
    };
    let (value, interval) = less(d, system.name);
    let p = Cell::written(probability(d.p_adjusted), d.p_adjusted);
    [Cell::with_interval(value, interval), p, Cell::text(verdict)]
}

/// What the order by alignment hides. Empty for a single system.
pub(crate) fn order_remarks(systems: &[System]) -> Vec<String> {
    let sorted = by_alignment(systems);
    let mut remarks = Vec::new();
    let Some((best, others)) = sorted.split_first() else {
        return remarks;
    };
    let apart = |system: &System, part: &str| Some(system.value(part)? - best.value(part)?);
    for system in others {
        let (Some(lead), Some(of_space)) = (apart(system, "alignment"), apart(system, "shuffled")) else {
            continue;
        };
        if lead > 0.0 && of_space >= MOSTLY * lead {
            remarks.push(format!(
                "{} is {} below {}, but its shuffled pairs are {} below too: most of the lead is the space's, not the texts'",
                best.name,
                four(lead),
                system.name,
                four(of_space)
            ));
        }
    }
    let known = sorted
        .iter()
        .filter_map(|system| Some((system.value("auc")?, system.name)));
    let mut by_auc: Vec<(f64, &str)> = known.collect();
    by_auc.sort_by(|a, b| b.0.total_cmp(&a.0));
    let order: Vec<&str> = sorted.iter().map(|system| system.name).collect();
    let other: Vec<&str> = by_auc.iter().map(|(_, name)| *name).collect();
    if other.len() == order.len() && other != order {
        let order = other.join("; ");
        remarks.push(format!(
            "By AUC, which does not depend on the level, the order is {order}"
        ));
    }
    for system in systems.iter().filter(|system| system.value("alignment").is_none()) {
        let why = super::reason(system.score("alignment"));
        remarks.push(format!("{NONE} {}: {why}", system.name));
    }
    remarks.iter().map(|remark| printable(remark)).collect()
}

#[cfg(test)]
mod tests_of_table {
    use super::super::testdata::{two_systems, without_reference};
    use super::*;

    fn of(results: &Results, format: Format) -> String {
        etes_table(results, true, format, 100, Color::No)
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
                "-0.3985: fair alignment by the bands, but shuffled pairs are fair too",
                "What the number means",
                "Energies of single texts: min -0.7100, p10 -0.5085, median -0.4005",
                "Generated texts and reference texts",
                "Bands of fixed cuts",
                "Do energies go with",
                "By subject",
                "nucleus 0.95: 300 samples, 95 % intervals\nETES Alignment....",
                "alignment by the bands; shuffled pairs are weak (-0.2000)",
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
            let text = etes_table(&two_systems(), true, Format::Table, width, Color::No);
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
            text.contains("\n- **nucleus 0.95**: -0.20") && text.contains("(-0.2000). Matched pairs are no nearer"),
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

#[cfg(test)]
mod tests_of_ranked {
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
        assert!(text(&results).contains("0.410  not significant"), "{}", text(&results));
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
