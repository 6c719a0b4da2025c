// SPDX-License-Identifier: MIT
//! What a reader wants to see first: every set of every head, one number per family, the most sensitive classes, and which
//! checks hold.

use super::Run;
use super::findings::Finding;
use super::grids::{classes, families, of_head};
use super::remarks::remarks;
use crate::table::{Block, Check, Document, Item};
use crate::text::printable;
use crate::{Color, Format, long_csv};
use repscope_core::Results;

/// Writes the scores of perturbed inputs and what was found. `width` (terminal columns) and `color` matter to
/// [`Format::Table`] only. [`Format::Csv`] is the long form of all scores.
pub fn perturb_table(results: &Results, findings: &[Finding], format: Format, width: usize, color: Color) -> String {
    if format == Format::Csv {
        return long_csv::render(results);
    }
    let Some(run) = Run::first(results) else {
        return crate::render(&Results::default(), format, width, color);
    };
    let tables = run.heads.iter().map(|head| of_head(&run, head));
    let tables = tables.chain(families(&run)).chain(classes(&run));
    let mut blocks: Vec<Block> = tables.map(Block::Table).collect();
    blocks.push(Block::List(remarks(&run).into_iter().map(Item::sentence).collect()));
    if !findings.is_empty() {
        blocks.push(Block::Heading("Checks".to_string()));
        blocks.push(Block::List(findings.iter().map(item).collect()));
    }
    Document { blocks, legend: None }.render(format, width, color)
}

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

#[cfg(test)]
mod tests {
    use super::super::perturb_findings;
    use super::super::testdata::{of_document, one_head};
    use super::*;

    fn table(results: &Results, width: usize) -> String {
        let findings = perturb_findings(results, &[], &[]);
        perturb_table(results, &findings, Format::Table, width, Color::No)
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
        assert!(text.starts_with(expected), "{text}");
        let narrow = table(&of_document(), 80);
        assert!(
            narrow
                .lines()
                .nth(2)
                .is_some_and(|line| line.starts_with("set      accuracy    drop")),
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
        let text = perturb_table(&of_document(), &findings, Format::Markdown, 80, Color::No);
        assert!(
            text.contains("| top1 | 0.4800 | [0.4770, 0.4830] | 0.0326 | 3.26 |"),
            "{text}"
        );
        assert!(
            text.contains("- ✓ **sanity**: none of 18 scores is below 0\n"),
            "{text}"
        );
        let text = perturb_table(&of_document(), &findings, Format::Latex, 80, Color::No);
        assert!(text.contains("\\label{tab:perturb-combined}") && text.contains("\\label{tab:perturb-snr}"));
        assert!(text.contains("\\item \\emph{sanity} holds: none of 18"), "{text}");
    }

    #[test]
    fn csv_is_the_long_form_and_no_scores_are_said_to_be_none() {
        let of = |results: &Results, format| perturb_table(results, &[], format, 80, Color::No);
        let results = of_document();
        assert_eq!(
            of(&results, Format::Csv),
            crate::render(&results, Format::Csv, 80, Color::No)
        );
        assert_eq!(of(&Results::default(), Format::Table), "No scores.\n");
    }
}
