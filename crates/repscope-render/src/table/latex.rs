// SPDX-License-Identifier: MIT
//! Tables for a paper: `booktabs` rules in `table` environments, nothing else needed.

use super::layout::{Shown, columns_in, plan};
use super::{Align, Cell, Emphasis, Kind, Row, Table, direction};
use crate::text::join;
use repscope_core::Better;

/// Letters that fit beside each other on a page, intervals being set small, and rows below each other.
const PAGE: usize = 120;
const ROWS: usize = 45;
/// Names longer than this take two lines over their column.
const LONGEST_HEAD: usize = 18;
/// Tables of more models than this fill the width of the page.
const MOST_NARROW: usize = 3;

/// The table with its caption, label and remarks. What does not fit on a page continues in a further table.
pub(super) fn render(table: &Table) -> String {
    if table.rows.is_empty() {
        return "% No scores.\n".to_string();
    }
    let plan = plan(table, PAGE, |cell, _| cell.marks.to_string());
    let mut pages: Vec<(usize, Vec<String>)> = Vec::new();
    for rows in row_pages(&table.rows) {
        for part in &plan.parts {
            let tabular = tabular(table, part, rows);
            match pages.last_mut() {
                Some((used, tabulars)) if *used + rows.len() <= ROWS => {
                    *used += rows.len();
                    tabulars.push(tabular);
                }
                _ => pages.push((rows.len(), vec![tabular])),
            }
        }
    }
    let count = pages.len();
    let page = |(i, (_, tabulars)): (usize, &(usize, Vec<String>))| {
        let (caption, label) = match i {
            0 => (caption(table), table.label.clone()),
            _ => {
                let caption = format!("Table~\\ref{{tab:{}}}, continued ({} of {count}).", table.label, i + 1);
                (caption, format!("{}-{}", table.label, i + 1))
            }
        };
        let below = if i + 1 == count { below(table) } else { String::new() };
        format!(
            "\\begin{{table}}\n  \\centering\n  \\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n  \\caption{{{caption}}}\n  \
             \\label{{tab:{label}}}\n{}{below}\\end{{table}}\n",
            tabulars.join("  \\par\\medskip\n")
        )
    };
    format!(
        "% needs \\usepackage{{booktabs}}\n{}",
        pages.iter().enumerate().map(page).collect::<String>()
    )
}

/// Rows that fit on a page, cut between blocks where there is one in the lower half.
fn row_pages(rows: &[Row]) -> Vec<&[Row]> {
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

/// Title, legend, and how to read the numbers.
fn caption(table: &Table) -> String {
    let mut sentences = vec![sentence(table.name())];
    let directions = table.directions().into_iter();
    sentences.extend(directions.map(|better| format!("{} {}.", arrow(better), direction(better).1)));
    let bold = [Emphasis::Best, Emphasis::Winner, Emphasis::Better];
    if bold.iter().any(|emphasis| table.has(*emphasis)) {
        sentences.push(format!("\\textbf{{Bold}}: {}.", escape(&table.emphasis)));
    }
    sentences.extend(table.legend.iter().map(|text| sentence(text)));
    sentences.join(" ")
}

/// Remarks, footnotes and reasons, below the numbers.
fn below(table: &Table) -> String {
    let remarks = table.remarks.iter().map(|remark| escape(remark));
    let notes = table.notes.iter().enumerate();
    let notes = notes.map(|(i, note)| format!("$^{{{}}}$ {}", i + 1, escape(note)));
    let undefined = table.undefined.iter();
    let undefined = undefined.map(|(who, reason)| format!("--- {}: {}", escape(who), escape(reason)));
    let lines: Vec<String> = remarks.chain(notes).chain(undefined).collect();
    if lines.is_empty() {
        return String::new();
    }
    format!(
        "  \\par\\smallskip\n  {{\\raggedright\\footnotesize\n    {}\\par}}\n",
        lines.join("\\\\\n    ")
    )
}

fn tabular(table: &Table, part: &[Shown], rows: &[Row]) -> String {
    let mut layout = String::new();
    let mut header = Vec::new();
    for shown in part {
        let name = head(shown);
        if is_marked(shown) {
            // Marks have a column of their own, so that they do not push the numbers out of line.
            layout += "r@{}l";
            header.push(format!("\\multicolumn{{2}}{{c}}{{{name}}}"));
        } else {
            layout += match shown.column.align {
                Align::Left => "l",
                Align::Right => "r",
                Align::Center => "c",
            };
            header.push(name);
        }
        if let (Some(interval), Some(_)) = (&shown.column.interval, shown.apart_width()) {
            layout += "r";
            header.push(escape(interval));
        }
    }
    // Tables of many models are as wide as the page: the space between columns takes what long names leave.
    let split = table.columns.iter().filter(|column| column.is_split).count();
    let (kind, begin) = if split > MOST_NARROW && !part.iter().any(is_marked) {
        let stretch = "@{\\extracolsep{0pt plus 1fil minus 4pt}}";
        ("tabular*", format!("{{\\linewidth}}{{{stretch}{layout}@{{}}}}"))
    } else {
        ("tabular", format!("{{@{{}}{layout}@{{}}}}"))
    };
    let mut text = format!(
        "  \\begin{{{kind}}}{begin}\n    \\toprule\n    {} \\\\\n    \\midrule\n",
        header.join(" & ")
    );
    let columns = columns_in(table, part);
    for (i, row) in rows.iter().enumerate() {
        if row.opens_block && i > 0 {
            text += "    \\addlinespace\n";
        }
        let cells: Vec<String> = part
            .iter()
            .flat_map(|shown| fields(&row.cells[shown.at].within(&columns), shown))
            .collect();
        text += &format!("    {} \\\\\n", cells.join(" & "));
    }
    text + &format!("    \\bottomrule\n  \\end{{{kind}}}\n")
}

fn is_marked(shown: &Shown) -> bool {
    shown.mark > 0 && shown.column.align == Align::Right
}

/// The name over a column. A long one of a model is broken in two near its middle, behind `_ - . /` or a blank.
fn head(shown: &Shown) -> String {
    let name = &shown.column.head.text;
    let letters: Vec<char> = name.chars().collect();
    if !shown.column.is_split && shown.column.head.kind != Kind::Model {
        return match letters[..] {
            [letter] if letter.is_ascii_lowercase() => format!("${letter}$"),
            [first, ..] if first.is_ascii_lowercase() => {
                escape(&format!("{}{}", first.to_ascii_uppercase(), &name[1..]))
            }
            _ => escape(name),
        };
    }
    let better = shown
        .column
        .better
        .map_or(String::new(), |better| format!(" {}", arrow(better)));
    two_lines(name) + &better
}

pub(super) fn two_lines(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let is_break = |at: &usize| matches!(letters[at - 1], '_' | '-' | '.' | '/' | ' ');
    let middle = (1..letters.len())
        .filter(is_break)
        .min_by_key(|at| (2 * at).abs_diff(letters.len()));
    match middle.filter(|_| letters.len() > LONGEST_HEAD) {
        Some(at) => {
            let (first, second): (String, String) = (letters[..at].iter().collect(), letters[at..].iter().collect());
            format!("\\shortstack[r]{{{}\\\\{}}}", escape(first.trim_end()), escape(&second))
        }
        None => escape(name),
    }
}

/// The fields that a cell fills: its value, its marks, its interval.
fn fields(cell: &Cell, shown: &Shown) -> Vec<String> {
    let is_number = matches!(cell.kind, Kind::Number | Kind::Count);
    let beside = if shown.is_beside() { &cell.interval } else { "" };
    let shared = common_exponent(&cell.text, beside).filter(|_| is_number);
    let without = |text: &str| {
        shared
            .iter()
            .fold(text.to_string(), |text, e| text.replace(e.as_str(), ""))
    };
    let mut value = match cell.kind {
        Kind::Direction(better) => arrow(better).to_string(),
        _ if is_number && cell.text.starts_with(|c: char| c.is_ascii_digit() || "-<".contains(c)) => {
            range(&without(&cell.text))
        }
        _ => escape(&cell.text),
    };
    if matches!(cell.emphasis, Emphasis::Best | Emphasis::Winner | Emphasis::Better) {
        value = format!("\\textbf{{\\boldmath{value}}}");
    }
    value += &cell.note.map(|number| format!("$^{{{number}}}$")).unwrap_or_default();
    let mut rest = String::new();
    if !beside.is_empty() {
        rest += &format!(" {{\\scriptsize {}}}", math(&without(beside)));
    }
    rest += &shared
        .map(|e| format!(" ${}$", power_of_ten(&e[1..])))
        .unwrap_or_default();
    let marks = match cell.marks {
        "" => String::new(),
        marks => format!("$^{{{}}}$", marks.replace('†', "\\dagger")),
    };
    let mut fields = if is_marked(shown) {
        vec![value, format!("{marks}{rest}")]
    } else {
        vec![format!("{value}{marks}{rest}")]
    };
    if shown.apart_width().is_some() {
        fields.push(match cell.interval.as_str() {
            "" => String::new(),
            interval if interval.starts_with('[') => format!("{{\\scriptsize {}}}", between(interval)),
            interval => format!("{{\\scriptsize {}}}", escape(interval)),
        });
    }
    fields
}

/// The exponent (`e-4`) that a value and both ends of its interval share; it is written once.
fn common_exponent(value: &str, interval: &str) -> Option<String> {
    let exponent = value.find('e').map(|at| &value[at..])?;
    let (low, high) = interval.strip_suffix(']')?.split_once(", ")?;
    (low.ends_with(exponent) && high.ends_with(exponent)).then(|| exponent.to_string())
}

/// An interval; an exponent that both ends share is written once.
fn between(interval: &str) -> String {
    let ends = interval.trim_matches(['[', ']']).split_once(", ");
    match ends.and_then(|(low, high)| Some((low.split_once('e')?, high.split_once('e')?))) {
        Some(((low, e), (high, other))) if e == other => format!("$[{low}, {high}]{}$", power_of_ten(e)),
        _ => math(interval),
    }
}

/// Numbers in math mode, so that minus signs are minus signs: `1.15e-4` becomes `$1.15{\times}10^{-4}$`.
pub(crate) fn math(numbers: &str) -> String {
    let bare = numbers.trim_matches(['[', ']']);
    let written = bare.split(", ").map(|number| match number.split_once('e') {
        Some((digits, exponent)) => format!("{digits}{}", power_of_ten(exponent)),
        None => number.to_string(),
    });
    let written = join(written, ", ").replace('±', "\\pm ").replace('%', "\\%");
    if bare == numbers {
        format!("${written}$")
    } else {
        format!("$[{written}]$")
    }
}

fn power_of_ten(exponent: &str) -> String {
    format!("{{\\times}}10^{{{exponent}}}")
}

fn range(text: &str) -> String {
    join(text.split('–').filter(|end| !end.is_empty()).map(math), "--")
}

fn arrow(better: Better) -> &'static str {
    match better {
        Better::Higher => "$\\uparrow$",
        Better::Lower => "$\\downarrow$",
        Better::Neither => "$\\cdot$",
    }
}

/// With a full stop, where no other mark ends it.
pub(super) fn sentence(text: &str) -> String {
    let stop = if text.ends_with(['.', '?']) { "" } else { "." };
    format!("{}{stop}", escape(text))
}

/// Text with LaTeX's own characters escaped, and signs that the usual fonts lack as math.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let is_minus = c == '-' && " ([".contains(before) && letters.peek().is_some_and(char::is_ascii_digit);
        match c {
            '-' if is_minus => escaped.push_str("$-$"),
            // Two hyphens are a dash to LaTeX, but part of an option's name to us.
            '-' if before == '-' => escaped.push_str("{}-"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '—' => escaped.push_str("---"),
            '–' => escaped.push_str("--"),
            '<' => escaped.push_str("$<$"),
            '>' => escaped.push_str("$>$"),
            '|' => escaped.push_str("$|$"),
            '±' => escaped.push_str("$\\pm$"),
            '→' => escaped.push_str("$\\to$"),
            '√' => escaped.push_str("$\\surd$"),
            '≈' => escaped.push_str("$\\approx$"),
            '≤' => escaped.push_str("$\\le$"),
            '·' => escaped.push_str("$\\cdot$"),
            '†' => escaped.push_str("$\\dagger$"),
            '−' => escaped.push_str("$-$"),
            '↑' => escaped.push_str("$\\uparrow$"),
            '↓' => escaped.push_str("$\\downarrow$"),
            '▲' => escaped.push_str("$\\triangle$"),
            _ => escaped.push(c),
        }
        before = c;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_text_have_minus_signs_and_names_keep_their_hyphens() {
        assert_eq!(
            escape("so -0.2 (-0.3) [-1, -2] tab:a-1 50$ -4 e - 1 --k"),
            "so $-$0.2 ($-$0.3) [$-$1, $-$2] tab:a-1 50\\$ $-$4 e - 1 -{}-k"
        );
    }
}
