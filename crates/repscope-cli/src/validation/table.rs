// SPDX-License-Identifier: MIT
//! The claims as tables for a terminal.

use repscope_render::table::{Block, Cell, Column, Document, Emphasis, Item, Table, markdown_escape as escape};
use repscope_render::{Color, Format};

use super::{Claim, Group, Report};

/// The heading above the differences to the literature.
const DIFFERENCES: &str = "What differs from the specification";

/// One table per group, the references, and what differs from the specification.
pub fn table(report: &Report, width: usize, color: Color) -> String {
    let mut blocks = Vec::new();
    for group in &report.groups {
        blocks.push(Block::Heading(group.title.clone()));
        blocks.push(Block::Text(group.about.clone()));
        blocks.push(Block::Table(of_group(group, "source", |claim| report.source(claim))));
    }
    blocks.push(Block::Heading(DIFFERENCES.to_string()));
    blocks.extend(report.differences.iter().cloned().map(Block::Text));
    blocks.push(Block::Heading("References".to_string()));
    let reference = |(i, text): (usize, &&str)| Item {
        name: format!("[{}]", i + 1),
        text: text.to_string(),
        check: None,
    };
    blocks.push(Block::List(
        report.references().iter().enumerate().map(reference).collect(),
    ));
    blocks.push(Block::Text(format!(
        "Worked examples of the specification: {}.",
        report.examples
    )));
    blocks.push(Block::Heading(report.summary()));
    Document { blocks, legend: None }.render(Format::Table, width, color)
}

/// The claims of a group; `last` is the head of a column that says how the expectation is known.
pub(super) fn of_group(group: &Group, last: &str, known: impl Fn(&Claim) -> String) -> Table {
    let mut table = Table::new("", "");
    let wrapping = |name: &str| Column::text(name).wrapping();
    table.columns = vec![
        wrapping("claim"),
        wrapping("expected"),
        wrapping("got"),
        Column::text("verdict"),
        wrapping(last),
    ];
    for claim in &group.claims {
        table.push(vec![
            Cell::text(&claim.name),
            Cell::text(claim.expected_text()),
            Cell::text(claim.got_text()),
            Cell::text(claim.verdict()).emphasized(Emphasis::Alarm, !claim.holds()),
            Cell::text(known(claim)),
        ]);
    }
    table
}

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
            escape(&group.about),
            markdown_table(report, group)
        );
    }
    text += &format!("## {DIFFERENCES}\n\n");
    text.extend(report.differences.iter().map(|item| format!("- {}\n", escape(item))));
    text += "\n## References\n\n";
    for (i, reference) in report.references().iter().enumerate() {
        text += &format!("{}. {}\n", i + 1, escape(reference));
    }
    text
}

fn markdown_table(report: &Report, group: &Group) -> String {
    let table = of_group(group, "why", |claim| {
        format!("{}: {}", report.source(claim), claim.because)
    });
    Document::from(table).render(Format::Markdown, 0, Color::No)
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
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
            assert!(widest.chars().count() <= width, "{width}: {widest}");
        }
    }

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
