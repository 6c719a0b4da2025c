// SPDX-License-Identifier: MIT
//! Gates: what was asked, what came out, and the verdict.

use crate::Color;
use crate::grid::Grid;
use crate::text::printable;

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
    let row = |line: &GateLine| {
        let verdict = if line.passed { "pass" } else { "FAIL" };
        [&line.gate, &line.model, &line.got, verdict].map(printable).to_vec()
    };
    let why = |line: &GateLine| {
        let why = line.why.as_ref()?;
        Some(printable(&format!("{}, {}: {why}", line.model, line.gate)))
    };
    let grid = Grid {
        title,
        label: "gates",
        header: ["gate", "model", "got", "verdict"].map(str::to_string).to_vec(),
        rows: lines.iter().map(row).collect(),
        spare: 0..0,
        remarks: lines.iter().filter_map(why).collect(),
    };
    grid.table(width, color).trim_end().to_string() + "\n"
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
