// SPDX-License-Identifier: MIT
//! The claims as tables for a terminal.

use repscope_render::Color;

use super::differences::DIFFERENCES;
use super::{Group, Report};

const HEADER: [&str; 5] = ["claim", "expected", "got", "verdict", "source"];
const GAP: usize = 2;
const VERDICT: usize = 3;
const BOLD: &str = "1";
const RED: &str = "1;31";

/// One table per group, the references, and what differs from the document.
pub fn table(report: &Report, width: usize, color: Color) -> String {
    let rows: Vec<Vec<[String; 5]>> = report.groups.iter().map(|group| cells(report, group)).collect();
    let widths = widths(&rows, width);
    let rule = "─".repeat(widths.iter().sum::<usize>() + GAP * 4);
    let mut text = String::new();
    for (group, rows) in report.groups.iter().zip(&rows) {
        text += &format!("{}\n", paint(group.title, BOLD, color));
        text += &format!("{}\n\n", wrap(group.about, width).join("\n"));
        text += &line(&HEADER.map(String::from), &widths, color);
        text += &format!("{rule}\n");
        text.extend(rows.iter().map(|row| line(row, &widths, color)));
        text.push('\n');
    }
    text += &format!("{}\n", paint("What differs from the document", BOLD, color));
    text.extend(DIFFERENCES.iter().map(|item| hanging("- ", item, width)));
    text += &format!("\n{}\n", paint("References", BOLD, color));
    for (i, reference) in report.references().iter().enumerate() {
        text += &hanging(&format!("{:>4} ", format!("[{}]", i + 1)), reference.text(), width);
    }
    text += &format!("\nExamples of document 002: {}.", report.examples);
    let style = if report.failing().is_empty() { BOLD } else { RED };
    text += &format!("\n{}\n", paint(&report.summary(), style, color));
    text
}

fn cells(report: &Report, group: &Group) -> Vec<[String; 5]> {
    let row = |claim| -> [String; 5] {
        let claim: &super::Claim = claim;
        [
            claim.name.clone(),
            claim.expected_text(),
            claim.got_text(),
            claim.verdict().to_string(),
            report.source(claim),
        ]
    };
    group.claims.iter().map(row).collect()
}

/// All tables have the same columns. What is longer than its share of the width is wrapped, the claim most of all.
fn widths(rows: &[Vec<[String; 5]>], width: usize) -> [usize; 5] {
    let longest = |column: usize| {
        let cells = rows.iter().flatten().map(|row| columns(&row[column]));
        cells.chain([columns(HEADER[column])]).max().unwrap_or(0)
    };
    let usable = width.saturating_sub(GAP * 4);
    let expected = longest(1).min(usable / 5);
    let got = longest(2).min(usable / 5);
    let source = longest(4).min(usable / 6);
    let verdict = longest(VERDICT);
    let rest = usable.saturating_sub(expected + got + source + verdict);
    [longest(0).min(rest.max(16)), expected, got, verdict, source]
}

/// A row of the table, as many lines high as its highest cell.
fn line(cells: &[String; 5], widths: &[usize; 5], color: Color) -> String {
    let wrapped: Vec<Vec<String>> = cells
        .iter()
        .zip(widths)
        .map(|(cell, &width)| wrap(cell, width))
        .collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for at in 0..height {
        let mut line = String::new();
        for (column, (lines, width)) in wrapped.iter().zip(widths).enumerate() {
            let cell = lines.get(at).map_or("", String::as_str);
            let padding = " ".repeat(width.saturating_sub(columns(cell)) + GAP);
            if column == VERDICT && cell == "FAILS" {
                line += &paint(cell, RED, color)
            } else {
                line += cell
            }
            line += &padding;
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn hanging(first: &str, text: &str, width: usize) -> String {
    let lines = wrap(text, width.saturating_sub(columns(first)));
    let indent = " ".repeat(columns(first));
    let lines = lines.iter().enumerate();
    lines
        .map(|(i, line)| format!("{}{line}\n", if i == 0 { first } else { &indent }))
        .collect()
}

/// Lines of at most `width` columns, broken at spaces; a word that is longer is cut.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let used = lines.last().map_or(0, |line| columns(line));
            let gap = usize::from(used > 0);
            if used + gap + word.len() <= width || width == 0 {
                if let Some(line) = lines.last_mut() {
                    line.extend([' '].iter().take(gap));
                    line.extend(&word);
                }
                break;
            }
            if used > 0 {
                lines.push(String::new());
                continue;
            }
            let rest = word.split_off(width);
            if let Some(line) = lines.last_mut() {
                line.extend(&word);
            }
            lines.push(String::new());
            word = rest;
        }
    }
    lines
}

/// Terminal columns: every character of the claims is one wide.
fn columns(text: &str) -> usize {
    text.chars().count()
}

fn paint(text: &str, style: &str, color: Color) -> String {
    match color {
        Color::Yes => format!("\x1b[{style}m{text}\x1b[0m"),
        Color::No => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_a_failing_claim;
    use super::*;

    #[test]
    fn a_failing_claim_stands_out_with_all_its_digits() {
        let text = table(&with_a_failing_claim(), 80, Color::No);
        let expected = "\
Two claims
One of them fails.

claim       expected    got   verdict  source
─────────────────────────────────────────────
one is one  1 ± 1e-9    1     holds    proof
two is a|b  2 ± 0.0005  2.25  FAILS    proof
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("\n1 of 2 claims FAILS.\n"), "{text}");
        let colored = table(&with_a_failing_claim(), 80, Color::Yes);
        assert!(colored.contains("\x1b[1;31mFAILS\x1b[0m"), "{colored}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let report = super::super::validate(None).unwrap();
        for width in [60, 80, 110, 200] {
            let text = table(&report, width, Color::No);
            let widest = text.lines().max_by_key(|line| columns(line)).unwrap_or_default();
            assert!(columns(widest) <= width, "{width}: {widest}");
        }
    }

    #[test]
    fn words_are_wrapped_and_cut_only_where_they_do_not_fit() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("scikit-dimension [5]", 8), ["scikit-d", "imension", "[5]"]);
        assert_eq!(wrap("", 7), [""]);
    }
}
