// SPDX-License-Identifier: MIT
//! The claims as Markdown, for the appendix of a paper.

use repscope_render::table::Document;
use repscope_render::{Color, Format};

use super::differences::DIFFERENCES;
use super::table::of_group;
use super::{Group, Report};

pub fn markdown(report: &Report) -> String {
    let mut text = format!(
        "# Validation of CLID and RankMe\n\n\
         Computed by `repscope validate`, repscope {}. Worked examples of the specification: {}. **{}**\n\n\
         A claim is checked against a printed value, another program, a formula, a calculation by hand or a proof, never \
         against the code that it checks.\n\n",
        env!("CARGO_PKG_VERSION"),
        escape(&report.examples),
        report.summary()
    );
    for group in &report.groups {
        text += &format!(
            "## {}\n\n{}\n\n{}\n",
            group.title,
            escape(group.about),
            table(report, group)
        );
    }
    text += "## What differs from the document\n\n";
    text.extend(DIFFERENCES.iter().map(|item| format!("- {}\n", escape(item))));
    text += "\n## References\n\n";
    for (i, reference) in report.references().iter().enumerate() {
        text += &format!("{}. {}\n", i + 1, escape(reference.text()));
    }
    text
}

fn table(report: &Report, group: &Group) -> String {
    let table = of_group(group, "why", |claim| {
        format!("{}: {}", report.source(claim), claim.because)
    });
    Document::from(table).render(Format::Markdown, 0, Color::No)
}

/// Keeps characters that Markdown would take as its own, and breaks no line.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if "\\`*_[]<>|#~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_a_failing_claim;
    use super::*;

    #[test]
    fn a_failing_claim_is_bold_and_cannot_break_its_row() {
        let text = markdown(&with_a_failing_claim());
        assert!(text.starts_with("# Validation of CLID and RankMe\n"), "{text}");
        assert!(text.contains("**1 of 2 claims FAILS.**"), "{text}");
        assert!(
            text.contains("| two is a\\|b | 2 ± 0.0005 | 2.25 | **FAILS** | proof:  |\n"),
            "{text}"
        );
    }
}
