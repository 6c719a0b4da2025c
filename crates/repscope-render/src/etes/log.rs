// SPDX-License-Identifier: MIT
//! The lines of the log of EEG–text energies: a name, dots up to column 50, and four decimals. Behind them what the specified log
//! lacks: the interval, and which way is better.

use super::{System, four, reason};
use crate::numbers::percent;
use crate::text::{columns, printable};
use repscope_core::{Results, Score};

/// Columns of a name and its dots.
const NAME: usize = 50;
/// The lines: what the document calls them, the score, and how it reads.
const LINES: [(&str, &str, &str); 4] = [
    ("ETES Alignment", "alignment", "lower is better"),
    ("ETES Total", "total", "lower is better"),
    ("ETES Reference", "reference", "lower is better"),
    ("ETES Gap", "gap", "> 0: worse than the reference"),
];

/// The log of each system, in the specified lines. `level` is the confidence level of intervals that do not say theirs.
pub fn etes_log(results: &Results, level: f64) -> String {
    let blocks: Vec<String> = System::all(results)
        .iter()
        .map(|system| format!("{}\n{}", heading(system, level), lines(system)))
        .collect();
    if blocks.is_empty() {
        "No energies.\n".to_string()
    } else {
        blocks.join("\n")
    }
}

/// `glim: 1662 samples, 95 % intervals`.
pub(super) fn heading(system: &System, level: f64) -> String {
    let n = system.count();
    let samples = if n == 1 { "sample" } else { "samples" };
    let level = percent(system.level().unwrap_or(level));
    let has_intervals = LINES
        .iter()
        .any(|(_, part, _)| system.score(part).is_some_and(|score| score.interval.is_some()));
    let intervals = if has_intervals {
        format!(", {level} intervals")
    } else {
        String::new()
    };
    printable(&format!("{}: {n} {samples}{intervals}", system.name))
}

/// The four lines, with values and intervals below each other.
pub(super) fn lines(system: &System) -> String {
    let known = LINES.map(|(_, part, _)| system.score(part).filter(|score| score.value.is_some()));
    let written: Vec<[String; 2]> = known.iter().map(|score| fixed(*score)).collect();
    let [value_width, interval_width] =
        [0, 1].map(|i| written.iter().map(|cells| columns(&cells[i])).fold(0, usize::max));
    let mut text = String::new();
    for ((name, part, better), [value, interval]) in LINES.iter().zip(&written) {
        let dots = ".".repeat(NAME.saturating_sub(name.len()));
        let value = match value.is_empty() {
            true => format!("not available ({})", why(system, part)),
            false if interval_width == 0 => format!("{value:>value_width$}  {better}"),
            false => format!("{value:>value_width$}  {interval:<interval_width$}  {better}"),
        };
        text += &format!("{name}{dots} {value}\n");
    }
    text
}

fn why(system: &System, part: &str) -> String {
    match (system.score(part), part) {
        (None, "reference" | "gap") => "no reference was given".to_string(),
        (None, _) => "it was not computed".to_string(),
        (score, _) => printable(&reason(score)),
    }
}

/// Value and interval to four decimals; both are empty where there is no value.
fn fixed(score: Option<&Score>) -> [String; 2] {
    let Some((value, interval)) = score.and_then(|score| Some((score.value?, score.interval))) else {
        return [String::new(), String::new()];
    };
    let interval = interval.map(|ends| format!("[{}]", ends.map(four).join(", ")));
    [four(value), interval.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{change, two_systems, without_reference};
    use super::*;

    #[test]
    fn the_log_has_the_lines_of_the_document_with_interval_and_direction() {
        let expected = "\
glim: 300 samples, 95 % intervals
ETES Alignment.................................... -0.3985  [-0.4085, -0.3885]  lower is better
ETES Total........................................ -0.3485  [-0.3585, -0.3385]  lower is better
ETES Reference.................................... -0.4192  [-0.4292, -0.4092]  lower is better
ETES Gap..........................................  0.0207  [0.0107, 0.0307]    > 0: worse than the reference

nucleus 0.95: 300 samples, 95 % intervals
";
        let text = etes_log(&two_systems(), 0.95);
        assert!(text.starts_with(expected), "{text}");
        // The numbers of the log start right behind column 50.
        for line in text.lines().filter(|line| line.starts_with("ETES")) {
            assert_eq!(line.find(' ').map(|_| &line[49..51]), Some(". "), "{line}");
        }
    }

    #[test]
    fn what_was_not_given_is_not_available_and_never_zero() {
        let expected = "\
ETES Reference.................................... not available (no reference was given)
ETES Gap.......................................... not available (no reference was given)
";
        let mut results = without_reference();
        assert!(etes_log(&results, 0.95).ends_with(expected));
        results
            .scores
            .retain(|score| !["etes.reference", "etes.gap"].contains(&score.metric.as_str()));
        assert!(etes_log(&results, 0.95).ends_with(expected));
        results.scores.retain(|score| score.metric != "etes.total");
        assert!(etes_log(&results, 0.95).contains(". not available (it was not computed)\n"));
    }

    #[test]
    fn zero_has_no_sign_and_one_sample_no_interval() {
        let mut results = without_reference();
        change(&mut results, "glim", "etes.alignment", -0.00001, None);
        change(&mut results, "glim", "etes.total", 1.0, None);
        results.scores.iter_mut().for_each(|score| score.n = 1);
        let expected = "\
glim: 1 sample
ETES Alignment.................................... 0.0000  lower is better
ETES Total........................................ 1.0000  lower is better
";
        let text = etes_log(&results, 0.95);
        assert!(text.starts_with(expected), "{text}");
        assert_eq!(etes_log(&Results::default(), 0.95), "No energies.\n");
    }
}
