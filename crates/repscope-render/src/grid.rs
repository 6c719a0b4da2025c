// SPDX-License-Identifier: MIT
//! A table of words and numbers that are already written: the first column is left-aligned, the others right.

use crate::text::{Style, columns, padding, wrap};
use crate::{Color, latex, markdown};
use std::ops::Range;

/// Spaces between two columns.
const GAP: usize = 2;

pub(crate) struct Grid {
    pub(crate) title: String,
    /// What follows `tab:` in LaTeX.
    pub(crate) label: &'static str,
    pub(crate) header: Vec<String>,
    /// Rows as long as the header.
    pub(crate) rows: Vec<Vec<String>>,
    /// The columns that a narrow terminal may lack.
    pub(crate) spare: Range<usize>,
    /// Sentences below.
    pub(crate) remarks: Vec<String>,
}

impl Grid {
    /// For a terminal.
    pub(crate) fn table(&self, width: usize, color: Color) -> String {
        let size = |column: usize| self.size(column);
        let mut shown: Vec<usize> = (0..self.header.len()).collect();
        let total = |shown: &[usize]| shown.iter().map(|&c| size(c) + GAP).sum::<usize>() - GAP;
        if total(&shown) > width {
            shown.retain(|column| !self.spare.contains(column));
        }
        let line = |cells: &[String], style: Style| {
            let mut text = String::new();
            for &column in &shown {
                let cell = &cells[column];
                let space = padding(cell, size(column));
                let cell = style.paint(cell, color);
                text += &match column {
                    0 => format!("{cell}{space}"),
                    _ => format!("{}{space}{cell}", " ".repeat(GAP)),
                };
            }
            text.trim_end().to_string() + "\n"
        };
        let mut text = format!("{}\n", Style::Bold.paint(&self.title, color));
        text += &line(&self.header, Style::Dim);
        text += &format!("{}\n", Style::Dim.paint(&"─".repeat(total(&shown)), color));
        for row in &self.rows {
            text += &line(row, Style::Plain);
        }
        text.push('\n');
        for remark in &self.remarks {
            text += &wrap(remark, width, "");
        }
        text
    }

    /// The columns of a terminal that all of it takes.
    pub(crate) fn width(&self) -> usize {
        let columns = 0..self.header.len();
        columns.map(|column| self.size(column) + GAP).sum::<usize>() - GAP
    }

    fn size(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| columns(&row[column]));
        cells.fold(columns(&self.header[column]), usize::max)
    }

    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| markdown::escape(cell)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("{}\n\n{}", markdown::escape(&self.title), line(&self.header));
        text += &format!("|:--|{}\n", "--:|".repeat(self.header.len() - 1));
        text.extend(self.rows.iter().map(|row| line(row)));
        let remarks: Vec<String> = self.remarks.iter().map(|remark| markdown::escape(remark)).collect();
        text + "\n" + &markdown::list(&remarks)
    }

    pub(crate) fn latex(&self) -> String {
        // Minus signs are minus signs in math mode only.
        let cell = |cell: &String| {
            if cell.strip_prefix('-').is_some() || cell.starts_with('[') {
                format!("${cell}$")
            } else {
                latex::escape(cell)
            }
        };
        let line = |cells: &[String]| format!("    {} \\\\\n", cells.iter().map(cell).collect::<Vec<_>>().join(" & "));
        let caption: Vec<String> = std::iter::once(&self.title)
            .chain(&self.remarks)
            .map(|text| sentence(text))
            .collect();
        format!(
            "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n  \\centering\n  \\footnotesize\n  \\caption{{{}}}\n  \
             \\label{{tab:{}}}\n  \\begin{{tabular}}{{@{{}}l{}@{{}}}}\n    \\toprule\n{}    \\midrule\n{}    \
             \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n",
            caption.join(" "),
            self.label,
            "r".repeat(self.header.len() - 1),
            line(&self.header),
            self.rows.iter().map(|row| line(row)).collect::<String>(),
        )
    }
}

/// With a full stop, where no other mark ends it.
fn sentence(text: &str) -> String {
    let stop = if text.ends_with(['.', '?']) { "" } else { "." };
    format!("{}{stop}", latex::escape(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let row = |cells: [&str; 4]| cells.map(str::to_string).to_vec();
        Grid {
            title: "Which score?".to_string(),
            label: "which",
            header: row(["score", "rho", "tau", "n"]),
            rows: vec![
                row(["clid.cl", "0.94", "0.87", "6"]),
                row(["two_nn", "-0.12", "[-1, 1]", "6"]),
            ],
            spare: 2..3,
            remarks: vec!["rho is Spearman's".to_string()],
        }
    }

    #[test]
    fn a_narrow_terminal_does_without_spare_columns() {
        let wide = "\
Which score?
score      rho      tau  n
──────────────────────────
clid.cl   0.94     0.87  6
two_nn   -0.12  [-1, 1]  6

rho is Spearman's
";
        let narrow = "\
Which score?
score      rho  n
─────────────────
clid.cl   0.94  6
two_nn   -0.12  6

rho is Spearman's
";
        assert_eq!(grid().table(26, Color::No), wide);
        assert_eq!(grid().table(25, Color::No), narrow);
    }

    #[test]
    fn markdown_and_latex_hold_the_same_cells() {
        let expected = "\
Which score?

| score | rho | tau | n |
|:--|--:|--:|--:|
| clid.cl | 0.94 | 0.87 | 6 |
| two\\_nn | -0.12 | \\[-1, 1\\] | 6 |

- rho is Spearman's
";
        assert_eq!(grid().markdown(), expected);
        let latex = grid().latex();
        assert!(latex.contains("\\caption{Which score? rho is Spearman's.}"), "{latex}");
        assert!(
            latex.contains("    two\\_nn & $-0.12$ & $[-1, 1]$ & 6 \\\\\n"),
            "{latex}"
        );
        assert!(latex.contains("\\begin{tabular}{@{}lrrr@{}}"), "{latex}");
    }
}
