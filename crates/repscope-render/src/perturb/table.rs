// SPDX-License-Identifier: MIT
//! What a reader wants to see first: the weakest and the strongest set of each family for all heads, and which checks fail. Where all
//! is wanted: every set of every head, one number per family, the most sensitive classes, and every check.

use super::findings::Finding;
use super::key_values::key_values;
use super::{Run, Set, written};
use crate::compare::probability::probability;
use crate::numbers::{interval_head, number, percent, rough};
use crate::scores::{distinct, grouped};
use crate::table::{Block, Cell, Check, Column, Document, Item, NONE, Row, Table, reason};
use crate::text::printable;
use crate::{Color, Format, csv_files};
use repscope_core::{Results, Score, counted};

/// Writes the scores of perturbed inputs and what was found: those that answer, or all. `width` (terminal columns) and `color` matter to
/// [`Format::Table`] only. [`Format::Csv`] is the long form of all scores.
pub fn perturb_table(
    results: &Results,
    findings: &[Finding],
    all: bool,
    format: Format,
    width: usize,
    color: Color,
) -> String {
    if format == Format::Csv {
        return csv_files::long(results, Vec::new());
    }
    let Some(run) = Run::first(results) else {
        return crate::render(&Results::default(), format, width, color);
    };
    let (tables, said, checks) = if all {
        let heads = run.heads.iter().map(|head| of_head(&run, head));
        let tables = highlighted(&run).into_iter().chain(heads);
        let tables: Vec<Table> = tables.chain(families(&run)).chain(classes(&run)).collect();
        (tables, remarks(&run), findings.iter().map(item).collect())
    } else {
        (vec![extremes(&run)], of_scores(&run), failed(findings))
    };
    let mut blocks: Vec<Block> = tables.into_iter().map(Block::Table).collect();
    blocks.push(Block::List(said.into_iter().map(Item::sentence).collect()));
    if !findings.is_empty() {
        blocks.push(Block::Heading("Checks".to_string()));
        blocks.push(Block::List(checks));
    }
    Document { blocks, legend: None }.render(format, width, color)
}

/// The checks that fail, and how many hold or are open.
fn failed(findings: &[Finding]) -> Vec<Item> {
    let count = |holds: Option<bool>| findings.iter().filter(|finding| finding.holds == holds).count();
    let fails = findings.iter().filter(|finding| finding.holds == Some(false));
    let rest = format!(
        "{} of {} hold, {} are open; --all lists them, and every set, family and class",
        count(Some(true)),
        counted(findings.len(), "check"),
        count(None)
    );
    fails.map(item).chain([Item::sentence(rest)]).collect()
}

/// The weakest and the strongest set of each family for all heads, beside what is expected of the head that speaks for the model.
fn extremes(run: &Run) -> Table {
    let keys = key_values(run);
    let mut table = Table::new(
        "Key values: accuracy lost, divided by the share masked (PIS)",
        label("extremes"),
    );
    table.columns = vec![Column::text("masked")];
    table.columns.extend(run.heads.iter().map(Column::model));
    if !keys.is_empty() {
        table.columns.push(Column::text("expected").spare(2));
        table.columns.push(Column::number("at most").spare(0));
        table.columns.push(Column::text("verdict").spare(1));
    }
    for family in run.families() {
        let sets = run.of_family(family);
        let ends: Vec<&Set> = match sets[..] {
            [weakest, .., strongest] => vec![weakest, strongest],
            _ => sets,
        };
        for set in ends {
            let values = run.heads.iter().map(|head| known(run.pis(head, "", &set.name)));
            let mut cells: Vec<Cell> = std::iter::once(Cell::text(&set.name)).chain(values).collect();
            match keys.iter().find(|key| key.set == set) {
                Some(key) => cells.extend([
                    Cell::text(key.expected.words()),
                    Cell::optional(key.reachable, number),
                    Cell::text(key.verdict),
                ]),
                None => cells.resize(table.columns.len(), Cell::default()),
            }
            table.push(cells);
        }
    }
    let mut fact = |name: &str, of: &dyn Fn(&Score) -> Cell| {
        let values = run
            .heads
            .iter()
            .map(|head| run.baseline(head).map_or_else(Cell::default, of));
        let mut cells: Vec<Cell> = std::iter::once(Cell::text(name)).chain(values).collect();
        cells.resize(table.columns.len(), Cell::default());
        table.rows.push(Row {
            cells,
            is_fact: true,
            ..Row::default()
        });
    };
    fact("accuracy", &|score| known(Some(score)));
    fact("chance", &|score| Cell::optional(score.chance, rough));
    fact("samples", &|score| Cell::count(score.n));
    if !keys.is_empty() {
        table.remarks = vec![format!(
            "Accuracy: without masks. Expected, at most and verdict are those of {}. {AT_MOST}",
            printable(run.leading())
        )];
    }
    table
}

/// What an expectation is held against.
const AT_MOST: &str = "At most: accuracy without perturbation / share, the score if every right answer were lost. Expected: by the \
                       specification; a verdict is by the interval";

fn item(finding: &Finding) -> Item {
    Item {
        check: Some(match finding.holds {
            Some(true) => Check::Holds,
            Some(false) => Check::Fails,
            None => Check::Open,
        }),
        name: printable(&finding.check),
        text: printable(&finding.evidence),
    }
}

/// The values that a paper names, beside what is expected of them; nothing where none of their sets is there.
pub(super) fn highlighted(run: &Run) -> Option<Table> {
    let title = format!("Key values of {}", printable(run.leading()));
    let mut table = Table::new(title, label("key-values"));
    let level = run.baseline(run.leading()).and_then(|score| score.level);
    table.columns = vec![
        Column::text("masked"),
        Column::number("PIS").with_interval(interval_head(level)),
        Column::text("expected"),
        Column::number("at most"),
        Column::text("verdict"),
    ];
    for key in key_values(run) {
        table.push(vec![
            Cell::text(key.name()),
            known(Some(key.score)),
            Cell::text(key.expected.words()),
            Cell::optional(key.reachable, number),
            Cell::text(key.verdict),
        ]);
    }
    if let (Some(ratio), _) = super::summary::ratio(run) {
        table.push(vec![
            Cell::text("top 5 % / random 5 %"),
            Cell::written(number(ratio), Some(ratio)),
            Cell::default(),
            Cell::default(),
            Cell::default(),
        ]);
    }
    table.remarks = vec![AT_MOST.to_string()];
    Some(table).filter(|table| !table.rows.is_empty())
}

/// So many classes of each head are shown.
const CLASSES: usize = 3;

/// Every set of a head.
pub(super) fn of_head(run: &Run, head: &str) -> Table {
    let baseline = run.baseline(head);
    let mut title = printable(head);
    if let Some(value) = baseline.and_then(|score| Some(written(score.value?, score.interval))) {
        title += &format!(": accuracy {value} without perturbation");
    }
    if let Some(score) = baseline {
        let chance = score.chance.map(|chance| format!("chance {}, ", rough(chance)));
        title += &format!(", {}{} samples", chance.unwrap_or_default(), score.n);
    }
    let interval = interval_head(baseline.and_then(|score| score.level));
    let has_lit = has_lit(run);
    let mut table = Table::new(title, label(head));
    // The interval of the accuracy says the least, that of the score being of the same samples.
    table.columns = vec![
        Column::text("set"),
        Column::number("accuracy").with_interval(&interval).spare_interval(0),
        Column::number("drop"),
        Column::number("PIS").with_interval(&interval),
    ];
    table.columns.extend(has_lit.then(|| Column::number("PIS (lit)")));
    table.columns.push(Column::number("p"));
    for (i, set) in run.sets.iter().enumerate() {
        let pis = |part: &str| run.pis(head, part, &set.name);
        let p = pis(".p").and_then(|score| score.value);
        let mut cells = vec![
            Cell::text(&set.name),
            known(run.accuracy(head, &set.name)),
            known(pis(".drop")).alone(),
            known(pis("")),
        ];
        cells.extend(has_lit.then(|| known(pis("(f=lit)")).alone()));
        cells.push(Cell::written(probability(p), p));
        table.rows.push(Row {
            cells,
            opens_block: i > 0 && run.sets[i - 1].family != set.family,
            ..Row::default()
        });
    }
    table
}

/// One number for all strengths of a family; nothing where a family has but one.
pub(super) fn families(run: &Run) -> Option<Table> {
    let families = run.families();
    let has_several = families.iter().any(|family| run.of_family(family).len() > 1);
    let mut table = Table::new("All strengths together", label("families"));
    table.columns = vec![
        Column::text("head, family"),
        Column::number("mean PIS").with_interval("interval"),
        Column::number("AOPC"),
        Column::number("deletion"),
    ];
    for head in run.heads.iter().filter(|_| has_several) {
        for family in &families {
            let of = |part: &str| known(run.pis(head, part, family));
            let name = Cell::text(format!("{head}, {family}"));
            table.push(vec![name, of(".mean"), of(".aopc").alone(), of(".deletion").alone()]);
        }
    }
    Some(table).filter(|table| !table.rows.is_empty())
}

/// The classes of each head that lose most at the strongest set.
pub(super) fn classes(run: &Run) -> Option<Table> {
    let set = run.strongest()?;
    let title = format!("Most sensitive classes at {}", printable(&set.name));
    let mut table = Table::new(title, label("classes"));
    table.columns = vec![
        Column::text("class"),
        Column::number("PIS").with_interval("interval"),
        Column::number("before"),
        Column::number("after"),
        Column::number("samples").spare(0),
        Column::number("p"),
    ];
    for head in &run.heads {
        for impact in run.by_class(head, &set.name).iter().take(CLASSES) {
            let share = |x: Option<f64>| Cell::optional(x, number);
            table.push(vec![
                Cell::text(format!("{head}: {}", impact.class)),
                Cell::with_interval(impact.pis, impact.interval),
                share(impact.baseline),
                share(impact.accuracy),
                share(impact.samples),
                Cell::written(probability(impact.p), impact.p),
            ]);
        }
    }
    Some(table).filter(|table| !table.rows.is_empty())
}

/// Several tables of one run need labels of their own.
fn label(name: &str) -> String {
    format!("perturb-{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"))
}

fn has_lit(run: &Run) -> bool {
    let lit = |set: &Set| {
        run.pis(run.leading(), "(f=lit)", &set.name)
            .and_then(|score| score.value)
    };
    run.sets.iter().any(|set| lit(set).is_some())
}

/// The value of a score; a dash where it was not computed either.
fn known(score: Option<&repscope_core::Score>) -> Cell {
    score.map_or_else(|| Cell::optional(None, number), |score| Cell::score(Some(score)))
}

/// What the scores are, and how their intervals were made.
fn of_scores(run: &Run) -> Vec<String> {
    let meaning = "Larger is more sensitive, which is neither good nor bad.".to_string();
    std::iter::once(meaning)
        .chain(intervals(run, &["accuracy", "PIS"]))
        .collect()
}

/// How the intervals of these values were made.
fn intervals(run: &Run, of: &[&str]) -> Option<String> {
    let drawn = || run.results.scores.iter().filter(|score| score.model == run.model);
    let way = |score: &Score| {
        let method = score.method.as_deref().filter(|_| score.interval.is_some())?;
        let what = match (score.metric.family(), score.metric.part()) {
            ("accuracy", _) => "accuracy",
            ("pis", "mean" | "aopc" | "deletion") => "mean PIS",
            ("pis", "relative") => return None,
            ("pis", _) => "PIS",
            _ => return None,
        };
        let unit = score.unit.as_deref().unwrap_or("samples");
        of.contains(&what).then(|| format!("{method} over {unit} ({what})"))
    };
    let ways: Vec<String> = drawn().filter_map(way).collect();
    let level = drawn().find_map(|score| score.level).filter(|_| !ways.is_empty())?;
    let ways = distinct(ways.iter().map(String::as_str)).join("; ");
    Some(format!("{} intervals: {ways}", percent(level)))
}

/// What the columns mean, how intervals were made, and why values are missing.
pub(super) fn remarks(run: &Run) -> Vec<String> {
    let mut remarks = vec![
        "PIS: accuracy lost, divided by the share that was meant to be masked; (lit): by the share of lit pixels that was. Larger \
         is more sensitive, which is neither good nor bad. p: McNemar's, not adjusted for the number of sets and classes."
            .to_string(),
    ];
    if families(run).is_some() {
        remarks
            .push("AOPC: mean accuracy lost over all strengths, 0 included; deletion: mean accuracy left.".to_string());
    }
    remarks.extend(intervals(run, &["accuracy", "PIS", "mean PIS"]));
    let own = run.results.scores.iter().filter(|score| score.model == run.model);
    let missing = own.filter(|score| score.value.is_none() && score.metric.parameter("f") != Some("all"));
    for (why, of) in grouped(missing.map(|score| (reason(score), score.metric.as_str()))) {
        let who = match of.as_slice() {
            [one] => one.to_string(),
            several => format!("{} and {} more", several[0], several.len() - 1),
        };
        remarks.push(printable(&format!("{NONE} {who}: {why}")));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::super::perturb_findings;
    use super::super::testdata::{of_document, one_head};
    use super::*;

    fn table(results: &Results, width: usize) -> String {
        let findings = perturb_findings(results, &[], &[]);
        perturb_table(results, &findings, true, Format::Table, width, Color::No)
    }

    #[test]
    fn three_heads_fit_a_screen_and_what_fails_is_named() {
        let results = of_document();
        let findings = perturb_findings(&results, &[], &[]);
        let text = perturb_table(&results, &findings, false, Format::Table, 110, Color::No);
        let expected = "\
Key values: accuracy lost, divided by the share masked (PIS)
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.lines().count() <= 38, "{text}");
        assert!(
            text.contains("✗ monotonicity of top: combined 3.26, 7.2 at 1 and 5 %;"),
            "{text}"
        );
        assert!(!text.contains('✓') && text.contains(" of 11 checks hold, "), "{text}");
        // What is not shown is not lost.
        assert!(table(&results, 110).contains("✓ sanity"), "{text}");
    }

    #[test]
    fn key_values_come_first_with_what_is_expected_and_reachable() {
        let expected = "\
Key values of combined
masked                  PIS   95 % interval  expected       at most  verdict
─────────────────────────────────────────────────────────────────────────────────
top 1 %                3.26    [3.06, 3.46]  30 to 40         51.26  below
top 5 %               7.200  [7.160, 7.240]  15 to 25         10.25  out of reach
bottom 1 %             0.80    [0.60, 1.00]  < 1              51.26  cannot tell
bottom 5 %            0.300  [0.260, 0.340]  < 1              10.25  as expected
random 1 %             2.00    [1.80, 2.20]  bottom to top    51.26  as expected
random 5 %            1.290  [1.250, 1.330]  bottom to top    10.25  as expected
top 5 % / random 5 %  5.581
";
        let text = table(&of_document(), 120);
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn a_head_has_its_sets_as_rows_with_family_by_family() {
        let expected = "\
combined: accuracy 0.5126 [0.5096, 0.5156] without perturbation, chance 0.0042, 1797 samples
set      accuracy     95 % interval    drop    PIS   95 % interval  PIS (lit)       p
─────────────────────────────────────────────────────────────────────────────────────
top1       0.4800  [0.4770, 0.4830]  0.0326   3.26    [3.06, 3.46]       3.26  0.0012
top5       0.1526  [0.1496, 0.1556]  0.3600  7.200  [7.160, 7.240]      7.200  0.0012

bottom1    0.5046  [0.5016, 0.5076]  0.0080   0.80    [0.60, 1.00]       0.80  0.0012
bottom5    0.4976  [0.4946, 0.5006]  0.0150  0.300  [0.260, 0.340]     0.0600  0.0012

random1    0.4926  [0.4896, 0.4956]  0.0200   2.00    [1.80, 2.20]       2.00  0.0012
random5    0.4481  [0.4451, 0.4511]  0.0645  1.290  [1.250, 1.330]      1.290  0.0012
";
        let text = table(&of_document(), 120);
        assert!(text.contains(expected), "{text}");
        let narrow = table(&of_document(), 80);
        assert!(
            narrow.lines().any(|line| line.starts_with("set      accuracy    drop")),
            "{narrow}"
        );
    }

    #[test]
    fn the_most_sensitive_classes_come_first_and_only_those_of_the_head() {
        let expected = "\
Most sensitive classes at top5
class              PIS      interval  before  after  samples      p
───────────────────────────────────────────────────────────────────
modulation: QPSK  10.0   [1.0, 19.0]       1    0.5        6  0.250
modulation: BPSK   5.0  [-2.0, 12.0]     0.5   0.25        4      1
";
        let text = table(&of_document(), 120);
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn findings_have_a_mark_and_their_numbers() {
        let text = table(&of_document(), 100);
        assert!(
            text.contains("\n✗ monotonicity of top: combined 3.26, 7.2 at 1 and 5 %;"),
            "{text}"
        );
        assert!(text.contains("\n✓ sanity: none of 18 scores is below 0\n"), "{text}");
        assert!(text.contains("\n– baseline match: no accuracies were given"), "{text}");
    }

    #[test]
    fn what_is_not_known_has_no_column_but_a_reason() {
        let text = table(&one_head(), 100);
        assert!(!text.contains("PIS (lit) "), "{text}");
        assert!(
            text.contains("— pis.digit(f=lit)@top1: the share is not known\n"),
            "{text}"
        );
        assert!(!text.contains("All strengths together"), "{text}");
    }

    #[test]
    fn markdown_and_latex_say_the_same() {
        let findings = perturb_findings(&of_document(), &[], &[]);
        let text = perturb_table(&of_document(), &findings, true, Format::Markdown, 80, Color::No);
        assert!(
            text.contains("| top1 | 0.4800 | [0.4770, 0.4830] | 0.0326 | 3.26 |"),
            "{text}"
        );
        assert!(
            text.contains("- ✓ **sanity**: none of 18 scores is below 0\n"),
            "{text}"
        );
        let text = perturb_table(&of_document(), &findings, true, Format::Latex, 80, Color::No);
        assert!(text.contains("\\label{tab:perturb-combined}") && text.contains("\\label{tab:perturb-snr}"));
        assert!(text.contains("\\item \\emph{sanity} holds: none of 18"), "{text}");
    }

    #[test]
    fn csv_is_the_long_form_and_no_scores_are_said_to_be_none() {
        let of = |results: &Results, format| perturb_table(results, &[], true, format, 80, Color::No);
        let results = of_document();
        assert_eq!(
            of(&results, Format::Csv),
            crate::render(&results, Format::Csv, 80, Color::No)
        );
        assert_eq!(of(&Results::default(), Format::Table), "No scores.\n");
    }
}
