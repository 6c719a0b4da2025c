// SPDX-License-Identifier: MIT
//! The numbers as LaTeX commands: `\PISTopOneCombined`. Names of commands hold letters only, so numbers are spelled.

use super::Run;
use super::latex::{in_percent, with_interval};
use super::summary::ratio;
use crate::numbers::number;
use crate::table::latex::math;
use crate::table::reason;
use crate::text::printable;
use repscope_core::Score;

const ONES: [&str; 20] = [
    "Zero",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
    "Thirteen",
    "Fourteen",
    "Fifteen",
    "Sixteen",
    "Seventeen",
    "Eighteen",
    "Nineteen",
];
const TENS: [&str; 10] = [
    "", "", "Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety",
];

/// The contents of `pis_macros.tex`.
pub(super) fn macros(run: &Run, suffix: &str) -> String {
    let mut commands = Commands {
        names: Vec::new(),
        text: format!(
            "% Scores of {} perturbed by {}. Read with \\input, then write \\PIS... where a number belongs.\n% Accuracy in percent, \
             Drop and Aopc in points.\n",
            printable(run.model),
            printable(if suffix.is_empty() { "masks" } else { suffix })
        ),
    };
    for head in &run.heads {
        let of = letters(head);
        if let Some(score) = run.baseline(head) {
            commands.add(format!("PISBaseline{of}"), in_percent(score), score);
        }
        for set in &run.sets {
            let name = format!("PIS{}{}{of}", letters(&set.family), spelled(set.percent));
            if let Some(score) = run.pis(head, "", &set.name) {
                commands.add(name.clone(), with_interval(score), score);
            }
            if let Some(score) = run.pis(head, ".drop", &set.name) {
                commands.add(format!("{name}Drop"), in_percent(score), score);
            }
            if let Some(score) = run.accuracy(head, &set.name) {
                commands.add(format!("{name}Accuracy"), in_percent(score), score);
            }
        }
        for family in run.families() {
            let name = format!("PIS{}{of}", letters(family));
            if let Some(score) = run.pis(head, ".mean", family) {
                commands.add(format!("{name}Mean"), with_interval(score), score);
            }
            if let Some(score) = run.pis(head, ".aopc", family) {
                commands.add(format!("{name}Aopc"), in_percent(score), score);
            }
        }
    }
    if let (Some(ratio), _) = ratio(run) {
        commands.define("PISTopVersusRandom".to_string(), &math(&number(ratio)));
    }
    commands.text
}

struct Commands {
    names: Vec<String>,
    text: String,
}

impl Commands {
    /// A command for the value, and one for its interval.
    fn add(&mut self, name: String, written: Option<(String, Option<String>)>, score: &Score) {
        match written {
            Some((value, interval)) => {
                self.define(name.clone(), &math(&value));
                if let Some(interval) = interval {
                    self.define(format!("{name}Interval"), &math(&interval));
                }
            }
            None => {
                self.text += &format!("% {}: {}\n", printable(&score.metric), printable(&reason(score)));
                self.define(name, "---");
            }
        }
    }

    /// Names that are equal in letters get one more word.
    fn define(&mut self, mut name: String, content: &str) {
        while self.names.contains(&name) {
            name += "Again";
        }
        // Good in text and in formulas alike.
        let content = match content.strip_prefix('$').and_then(|text| text.strip_suffix('$')) {
            Some(formula) => format!("\\ensuremath{{{formula}}}"),
            None => content.to_string(),
        };
        self.text += &format!("\\newcommand{{\\{name}}}{{{content}}}\n");
        self.names.push(name);
    }
}

/// `left_half2` is `LeftHalfTwo`. Letters that LaTeX does not take in a command are left out.
fn letters(name: &str) -> String {
    let mut text = String::new();
    let mut opens = true;
    for c in name.chars() {
        match c {
            'a'..='z' if opens => text.push(c.to_ascii_uppercase()),
            'a'..='z' | 'A'..='Z' => text.push(c),
            '0'..='9' => text.push_str(ONES[c as usize - '0' as usize]),
            _ => {}
        }
        opens = !c.is_ascii_alphabetic();
    }
    text
}

/// `0.5` is `ZeroPointFive`, `25` is `TwentyFive`.
fn spelled(percent: f64) -> String {
    let digits = percent.to_string();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let mut text = match whole.parse::<usize>() {
        Ok(n @ 0..20) => ONES[n].to_string(),
        Ok(n @ 20..100) if n % 10 == 0 => TENS[n / 10].to_string(),
        Ok(n @ 20..100) => format!("{}{}", TENS[n / 10], ONES[n % 10]),
        Ok(100) => "Hundred".to_string(),
        _ => letters(whole),
    };
    if !fraction.is_empty() {
        text += &format!("Point{}", letters(fraction));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{of_document, one_head};
    use super::*;

    fn lines(results: &repscope_core::Results) -> Vec<String> {
        let text = macros(&Run::first(results).unwrap(), "blackout");
        text.lines().map(str::to_string).collect()
    }

    #[test]
    fn numbers_are_commands_with_spelled_names() {
        let lines = lines(&of_document());
        for line in [
            r"\newcommand{\PISBaselineCombined}{\ensuremath{51.26}}",
            r"\newcommand{\PISTopOneCombined}{\ensuremath{3.26}}",
            r"\newcommand{\PISTopOneCombinedInterval}{\ensuremath{[3.06, 3.46]}}",
            r"\newcommand{\PISTopFiveCombinedDrop}{\ensuremath{36.00}}",
            r"\newcommand{\PISBottomFiveSnrAccuracy}{\ensuremath{68.21}}",
            r"\newcommand{\PISTopModulationMean}{\ensuremath{5.20}}",
            r"\newcommand{\PISTopVersusRandom}{\ensuremath{5.581}}",
        ] {
            assert!(lines.iter().any(|own| own == line), "{line} in {lines:#?}");
        }
    }

    #[test]
    fn names_hold_letters_only_and_are_told_apart() {
        assert_eq!(
            [0.5, 1.0, 12.0, 20.0, 25.0, 100.0].map(spelled),
            ["ZeroPointFive", "One", "Twelve", "Twenty", "TwentyFive", "Hundred"]
        );
        assert_eq!(["snr", "left_half2", "β-x"].map(letters), ["Snr", "LeftHalfTwo", "X"]);
        let mut results = one_head();
        for score in one_head().scores {
            let metric = score.metric.replace("digit", "digit_");
            results.scores.push(Score {
                metric: metric.into(),
                ..score
            });
        }
        let lines = lines(&results);
        assert!(
            lines.iter().any(|line| line.contains(r"{\PISTopOneDigitAgain}")),
            "{lines:#?}"
        );
    }

    #[test]
    fn a_value_that_does_not_exist_is_a_dash_with_its_reason() {
        let mut results = one_head();
        results.scores[2].value = None;
        results.scores[2].reason = Some("nothing was masked".to_string());
        let lines = lines(&results);
        let at = lines
            .iter()
            .position(|line| line == r"\newcommand{\PISTopOneDigit}{---}")
            .unwrap();
        assert_eq!(lines[at - 1], "% pis.digit@top1: nothing was masked");
    }
}
