// SPDX-License-Identifier: MIT
//! Differences for a paper: `booktabs` rules, significance marks, the better model in bold.

use super::comparison::{Comparison, Line, Row, Verdict};
use super::probability::{limit, probability};
use crate::latex::{arrow, escape, math};
use crate::numbers::percent;
use std::ops::Range;

/// Metrics that fit on a page below each other, and differences beside each other.
const ROWS: usize = 45;
const COLUMNS: usize = 4;
/// Up to this many columns of differences have their intervals.
const COLUMNS_WITH_INTERVALS: usize = 2;

pub(super) fn render(comparison: &Comparison) -> String {
    let others = comparison.others.len();
    // As many tables as needed, evenly filled.
    let each = others.div_ceil(others.div_ceil(COLUMNS));
    let columns: Vec<Range<usize>> = (0..others).step_by(each).map(|at| at..others.min(at + each)).collect();
    let mut tabulars: Vec<String> = Vec::new();
    for columns in columns {
        for rows in pages(&comparison.rows) {
            tabulars.push(match comparison.only_other() {
                Some(other) => two(comparison, other, rows),
                None => many(comparison, &columns, rows),
            });
        }
    }
    let mut text = String::from("% needs \\usepackage{booktabs}\n");
    if comparison.only_other().is_none() {
        let outcome = sentence(&comparison.words.outcome);
        let caption = format!("Models, best first. {outcome}");
        text += &table(&caption, "ranking", &ranked(comparison), &[]);
    }
    let count = tabulars.len();
    for (i, tabular) in tabulars.iter().enumerate() {
        let (label, title) = match i {
            0 => ("compare".to_string(), caption(comparison)),
            _ => (
                format!("compare-{}", i + 1),
                format!("Table~\\ref{{tab:compare}}, continued ({} of {count}).", i + 1),
            ),
        };
        let remarks = if i + 1 == count {
            &comparison.words.remarks[..]
        } else {
            &[]
        };
        text += &table(&title, &label, tabular, remarks);
    }
    text
}

/// Rows that fit on a page, cut between blocks where there is one in the lower half.
fn pages<'r, 'a>(rows: &'r [Row<'a>]) -> Vec<&'r [Row<'a>]> {
    let mut pages = Vec::new();
    let mut rest = rows;
    while rest.len() > ROWS {
        let block = (ROWS / 2..=ROWS).rev().find(|&at| rest[at].opens_block);
        let (page, after) = rest.split_at(block.unwrap_or(ROWS));
        pages.push(page);
        rest = after;
    }
    pages.push(rest);
    pages
}

fn table(caption: &str, label: &str, tabular: &str, remarks: &[String]) -> String {
    let remarks: Vec<String> = remarks.iter().map(|remark| words(remark)).collect();
    let below = if remarks.is_empty() {
        String::new()
    } else {
        format!(
            "  \\par\\smallskip\n  {{\\raggedright {}\\par}}\n",
            remarks.join("\\\\\n    ")
        )
    };
    format!(
        "\\begin{{table}}\n  \\centering\n  \\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n  \\caption{{{caption}}}\n  \
         \\label{{tab:{label}}}\n{tabular}{below}\\end{{table}}\n"
    )
}

fn caption(comparison: &Comparison) -> String {
    let decides = format!("adjusted $p \\le {}$", limit(comparison.level));
    let reference = escape(&comparison.models[comparison.reference]);
    let title = sentence(&comparison.title());
    let mut sentences = match comparison.only_other() {
        Some(_) => vec![
            title,
            sentence(&comparison.words.outcome),
            format!("\\textbf{{Bold}}: the better model, {decides}."),
        ],
        None => vec![
            title,
            format!("\\textbf{{Bold}}: better than {reference}, or {reference} better than all others; {decides}."),
        ],
    };
    sentences.push("Adjusted $p$: $^{*}\\le 0.05$, $^{**}\\le 0.01$, $^{***}\\le 0.001$.".to_string());
    sentences.push("$\\uparrow$ higher is better, $\\downarrow$ lower is better, $\\cdot$ no direction.".to_string());
    sentences.extend(comparison.words.method.iter().map(|text| sentence(text)));
    sentences.join(" ")
}

fn two(comparison: &Comparison, other: usize, rows: &[Row]) -> String {
    let header = format!(
        "Metric &  & {} & {} & \\multicolumn{{2}}{{c}}{{Difference}} & {} interval & Adjusted $p$",
        escape(&comparison.heading(other)),
        escape(&comparison.heading(comparison.reference)),
        escape(&percent(comparison.level)),
    );
    let cells = |row: &Row| {
        let line = row.lines[0].as_ref();
        let value = |model: usize, wins: Verdict| {
            let is_bold = line.is_some_and(|l| l.verdict == wins);
            bold(&row.values[model].as_deref().map_or("---".to_string(), math), is_bold)
        };
        let difference = line.map_or("&".to_string(), |l| marked(&math(&l.value), l.marks));
        let interval = line.and_then(|l| l.interval.as_deref());
        [
            metric(row),
            arrow(row.better).to_string(),
            value(other, Verdict::Better),
            value(comparison.reference, Verdict::Worse),
            difference,
            interval.map_or("---".to_string(), |interval| {
                format!("{{\\scriptsize {}}}", between(interval))
            }),
            p_value(line.and_then(|l| l.of.p_adjusted)),
        ]
        .join(" & ")
    };
    tabular("lcrrr@{}lrr", &header, rows, cells)
}

fn ranked(comparison: &Comparison) -> String {
    let mut text =
        "  \\begin{tabular}{@{}rlrrrr@{}}\n    \\toprule\n    & Model & Wins & Losses & Ties & Mean rank \\\\\n    \
                    \\midrule\n"
            .to_string();
    for (i, standing) in comparison.standings.iter().enumerate() {
        let rank = standing
            .mean_rank
            .map_or("---".to_string(), |rank| format!("${rank:.2}$"));
        text += &format!(
            "    {} & {} & {} & {} & {} & {rank} \\\\\n",
            i + 1,
            escape(&comparison.models[standing.model]),
            standing.wins,
            standing.losses,
            standing.ties,
        );
    }
    text + "    \\bottomrule\n  \\end{tabular}\n"
}

fn many(comparison: &Comparison, columns: &Range<usize>, rows: &[Row]) -> String {
    let names: String = comparison.others[columns.clone()]
        .iter()
        .map(|&other| format!(" & \\multicolumn{{2}}{{c}}{{{}}}", escape(&comparison.heading(other))))
        .collect();
    let header = format!(
        "Metric &  & {}{names}",
        escape(&comparison.heading(comparison.reference))
    );
    let with_intervals = comparison.others.len() <= COLUMNS_WITH_INTERVALS;
    let difference = |line: &Option<Line>| match line {
        None => "--- &".to_string(),
        Some(line) => {
            let value = bold(&math(&line.value), line.verdict == Verdict::Better);
            let interval = match line.interval.as_deref().filter(|_| with_intervals) {
                Some(interval) => format!(" {{\\scriptsize {}}}", between(interval)),
                None => String::new(),
            };
            marked(&value, line.marks) + &interval
        }
    };
    let cells = |row: &Row| {
        let value = row.values[comparison.reference].as_deref();
        let mut cells = vec![
            metric(row),
            arrow(row.better).to_string(),
            bold(&value.map_or("---".to_string(), math), row.is_reference_best()),
        ];
        cells.extend(row.lines[columns.clone()].iter().map(difference));
        cells.join(" & ")
    };
    let layout = format!("lcr{}", "r@{}l".repeat(columns.len()));
    tabular(&layout, &header, rows, cells)
}

fn tabular(layout: &str, header: &str, rows: &[Row], cells: impl Fn(&Row) -> String) -> String {
    let mut text =
        format!("  \\begin{{tabular}}{{@{{}}{layout}@{{}}}}\n    \\toprule\n    {header} \\\\\n    \\midrule\n");
    for (i, row) in rows.iter().enumerate() {
        if row.opens_block && i > 0 {
            text += "    \\addlinespace\n";
        }
        text += &format!("    {} \\\\\n", cells(row));
    }
    text + "    \\bottomrule\n  \\end{tabular}\n"
}

fn metric(row: &Row) -> String {
    let mark = if row.is_unpaired { "$^{\\dagger}$" } else { "" };
    format!("{}{mark}", escape(&row.metric))
}

/// A number and its marks, in two columns, so that the marks do not push the numbers out of line.
fn marked(value: &str, marks: &str) -> String {
    match marks {
        "" => format!("{value} &"),
        _ => format!("{value} & $^{{{marks}}}$"),
    }
}

/// An interval; an exponent that both ends share is written once.
fn between(interval: &str) -> String {
    let ends = interval.trim_matches(['[', ']']).split_once(", ");
    match ends.and_then(|(low, high)| Some((low.split_once('e')?, high.split_once('e')?))) {
        Some(((low, e), (high, other))) if e == other => format!("$[{low}, {high}]{{\\times}}10^{{{e}}}$"),
        _ => math(interval),
    }
}

fn bold(value: &str, is_bold: bool) -> String {
    if is_bold {
        format!("\\textbf{{\\boldmath{value}}}")
    } else {
        value.to_string()
    }
}

fn p_value(p: Option<f64>) -> String {
    match p {
        None => "---".to_string(),
        Some(_) => format!("${}$", probability(p)),
    }
}

/// Words with signs that the usual fonts lack.
fn words(text: &str) -> String {
    escape(text)
        .replace('≤', "$\\le$")
        .replace('†', "$\\dagger$")
        .replace('−', "$-$")
}

fn sentence(text: &str) -> String {
    format!("{}.", words(text))
}
