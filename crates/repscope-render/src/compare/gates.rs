// SPDX-License-Identifier: MIT
//! Gates: what was asked, what came out, and the verdict.

use crate::table::{Cell, Column, Document, Emphasis, Table};
use crate::text::printable;
use crate::{Color, Format};

/// A gate and how it went for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct GateLine {
    /// What was asked: `trustworthiness@10 >= 0.95`.
    pub gate: String,
    /// The model it was asked of.
    pub model: String,
    /// What came out, in a few characters.
    pub got: String,
    /// The verdict.
    pub passed: bool,
    /// Why it failed, where the number alone does not say.
    pub why: Option<String>,
}

/// The gates for a terminal.
pub fn gate_table(lines: &[GateLine], width: usize, color: Color) -> String {
    let failed = lines.iter().filter(|line| !line.passed).count();
    let title = match failed {
        0 => format!("Gates: all {} passed", lines.len()),
        _ => format!("Gates: {failed} of {} failed", lines.len()),
    };
    let mut table = Table::new(title, "gates");
    table.columns = vec![Column::text("gate")];
    table.columns.extend(["model", "got", "verdict"].map(Column::number));
    for line in lines {
        let verdict = Cell::text(if line.passed { "pass" } else { "FAIL" });
        table.push(vec![
            Cell::text(&line.gate),
            Cell::text(&line.model),
            Cell::text(&line.got),
            verdict.emphasized(Emphasis::Alarm, !line.passed),
        ]);
        let why = line.why.as_ref();
        table
            .remarks
            .extend(why.map(|why| printable(&format!("{}, {}: {why}", line.model, line.gate))));
    }
    Document::from(table).render(Format::Table, width, color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_gate_says_why() {
        let line = |gate: &str, got: &str, passed, why: Option<&str>| GateLine {
            gate: gate.to_string(),
            model: "jepa".to_string(),
            got: got.to_string(),
            passed,
            why: why.map(str::to_string),
        };
        let lines = [
            line("trustworthiness@10 >= 0.95", "0.9612", true, None),
            line("nmi >= 0.5", "—", false, Some("needs labels; give --labels")),
        ];
        let expected = "\
Gates: 1 of 2 failed
gate                        model     got  verdict
──────────────────────────────────────────────────
trustworthiness@10 >= 0.95   jepa  0.9612     pass
nmi >= 0.5                   jepa       —     FAIL

jepa, nmi >= 0.5: needs labels; give --labels
";
        assert_eq!(gate_table(&lines, 80, Color::No), expected);
    }
}
