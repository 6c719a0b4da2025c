// SPDX-License-Identifier: MIT
//! The table as GitHub Markdown.

use crate::summary::{Cell, DIRECTIONS, Row, Summary, direction};
use repscope_core::Better;

pub(crate) fn render(summary: &Summary) -> String {
    if summary.rows.is_empty() {
        return "No scores.\n".to_string();
    }
    format!("{}\n{}", table(summary), list(&footer(summary)))
}

/// The numbers, without what is said about them below.
pub(crate) fn table(summary: &Summary) -> String {
    let all = 0..summary.models.len();
    let mut header = vec!["metric".to_string(), String::new()];
    header.extend(summary.models.iter().map(|model| escape(model)));
    let mut rules = vec![":--", ":-:"];
    rules.extend(summary.models.iter().map(|_| "--:"));
    if summary.has_chance() {
        header.push("chance".to_string());
        rules.push("--:");
    }
    if summary.has_n() {
        header.push("n".to_string());
        rules.push("--:");
    }

    let mut text = line(&header);
    text.push_str(&format!("|{}|\n", rules.join("|")));
    for row in &summary.rows {
        let mut fields = vec![metric(row), direction(row.better).0.to_string()];
        fields.extend(row.cells.iter().map(|c| c.as_ref().map(cell).unwrap_or_default()));
        if summary.has_chance() {
            fields.push(row.chance(all.clone()));
        }
        if summary.has_n() {
            fields.push(row.n(all.clone()));
        }
        text.push_str(&line(&fields));
    }
    text
}

/// Legend, footnotes, reasons and interval methods.
fn footer(summary: &Summary) -> Vec<String> {
    let mut items = vec![legend(summary)];
    items.extend(reasons(summary));
    items.extend(summary.intervals.iter().map(|sentence| escape(sentence)));
    items
}

/// A list of these items.
pub(crate) fn list(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}\n")).collect()
}

/// What the marks in the table mean.
pub(crate) fn legend(summary: &Summary) -> String {
    let directions = DIRECTIONS.into_iter().filter(|better| summary.has_direction(*better));
    let mut legend: Vec<String> = directions
        .map(|b: Better| format!("{} {}", direction(b).0, direction(b).1))
        .collect();
    if summary.has_best() {
        legend.push("**bold** best, its interval apart from all others".to_string());
    }
    legend.join("; ")
}

/// Footnotes, and why values are missing.
pub(crate) fn reasons(summary: &Summary) -> Vec<String> {
    let notes = summary.notes.iter().enumerate();
    let notes = notes.map(|(i, note)| format!("{} {}", superscript(i + 1), escape(note)));
    let undefined = summary.undefined.iter();
    let undefined = undefined.map(|(who, reason)| format!("— {}: {}", escape(who), escape(reason)));
    notes.chain(undefined).collect()
}

fn metric(row: &Row) -> String {
    let mark = row.note.map(superscript).unwrap_or_default();
    format!("`{}`{mark}", row.metric.replace('|', "\\|"))
}

fn cell(cell: &Cell) -> String {
    let value = cell.value.as_deref().unwrap_or("—");
    let bold = if cell.is_best { "**" } else { "" };
    let interval = cell
        .interval
        .as_ref()
        .map(|interval| format!(" {interval}"))
        .unwrap_or_default();
    format!(
        "{bold}{value}{bold}{}{interval}",
        cell.note.map(superscript).unwrap_or_default()
    )
}

fn line(fields: &[String]) -> String {
    format!("| {} |\n", fields.join(" | "))
}

fn superscript(number: usize) -> String {
    format!("<sup>{number}</sup>")
}

/// Keeps characters that Markdown would take as its own.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if "\\`*_[]<>|#~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use crate::testdata::{score, two_models};
    use crate::{Color, Format, render};
    use repscope_core::{Better, Results};

    #[test]
    fn the_table_says_what_the_terminal_says() {
        let expected = r"| metric |  | jepa | encoder-decoder | chance | n |
|:--|:-:|--:|--:|--:|--:|
| `smoothness.slope` | ↓ | 1.153e-4 [1.131e-4, 1.175e-4] | 1.178e-4 [1.155e-4, 1.202e-4] |  | 36000 |
| `smoothness.p` | · | 0 | 3.21e-12 |  | 36000 |
| `trustworthiness@5` | ↑ | 0.7821 [0.7790, 0.7852] | **0.9581** [0.9570, 0.9592] |  | 1797 |
| `continuity@5` | ↑ | 0.7350 [0.7321, 0.7379] | **0.9570** [0.9558, 0.9582] |  | 1797 |
| `two_nn` | · | 11.37 [10.98, 11.77] | — |  | 1797 |
| `uniformity` | ↓ | **-2.889** [-2.901, -2.877] | -1.4771 [-1.4857, -1.4685] |  | 1797 |
| `silhouette`<sup>1</sup> | ↑ | 0.0381 [0.0347, 0.0415] | **0.1671** [0.1637, 0.1705] |  | 1797 |
| `nmi` | ↑ | — | — |  | 1797 |
| `ami` | ↑ | — | — |  | 1797 |
| `knn_accuracy@5` | ↑ | 0.861 [0.849, 0.873] | 0.864 [0.852, 0.876] | 0.1 | 1797 |

- ↑ higher is better; ↓ lower is better; · neither; **bold** best, its interval apart from all others
- <sup>1</sup> on k-means' own labels: circular
- — two\_nn for encoder-decoder: all rows are the same
- — nmi, ami: needs labels; give --labels
- 95 % intervals: jackknife over episodes (smoothness.slope); jackknife over rows (trustworthiness@5, continuity@5, uniformity, silhouette); chi-squared over rows (two\_nn); Student t over splits (knn\_accuracy@5)
";
        assert_eq!(render(&two_models(), Format::Markdown, 80, Color::No), expected);
    }

    #[test]
    fn names_cannot_break_the_table() {
        let results = Results {
            scores: vec![score("a|b_c*", "r", 1.0, None, Better::Higher)],
            ..Results::default()
        };
        let text = render(&results, Format::Markdown, 80, Color::No);
        assert!(text.starts_with("| metric |  | a\\|b\\_c\\* | n |\n"), "{text}");
    }
}
