// SPDX-License-Identifier: MIT
//! How often intervals hold what they should: what the coverage study found, for the pages of the metrics.
//!
//! The study draws data of known designs many times (`examples/coverage`, run by `benches/coverage`), and writes the tables beside
//! this file. What falls short and why is listed here, once, for the documentation and for the test that repeats a small study.

use std::fmt;

use crate::metrics::{Metric, MetricId};

/// How often the 95 % interval of a score held the expectation of the score, in one design.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Which score: `trustworthiness@10`.
    pub score: String,
    /// What data were drawn from: `gauss 24×10`.
    pub design: String,
    /// Draws that gave an interval.
    pub replicates: usize,
    /// How many of these intervals held the mean of the score over all draws.
    pub covered: usize,
    /// The mean width of the intervals divided by 3.92 standard deviations of the score over the draws.
    pub width_ratio: f64,
}

/// How often a run with two equal models named a winner in any score.
#[derive(Debug, Clone, PartialEq)]
pub struct Winners {
    /// What data were drawn from.
    pub design: String,
    /// Runs.
    pub runs: usize,
    /// Runs with a winner.
    pub false_winners: usize,
}

/// How often a model with more noise was told apart at the 5 % level, before p-values are adjusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Power {
    /// Which score.
    pub score: String,
    /// What data were drawn from.
    pub design: String,
    /// Runs.
    pub runs: usize,
    /// Runs in which the comparison tells the models apart.
    pub found: usize,
    /// The same by Student's t over the effects of the units.
    pub by_t: usize,
    /// The same by a test that knows the standard error of the difference.
    pub with_true_error: usize,
}

/// A score whose interval covers less than 90 % in a design, and why. The test of coverage fails for every other such cell, and for an
/// exception that is none any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Exception {
    /// Which score.
    pub score: String,
    /// What data were drawn from.
    pub design: String,
    /// Why the interval is too short.
    pub reason: String,
}

/// What falls short.
pub fn exceptions() -> Vec<Exception> {
    let line = |[score, design, reason]: [&str; 3]| Exception {
        score: score.to_string(),
        design: design.to_string(),
        reason: reason.to_string(),
    };
    table(include_str!("coverage/exceptions.tsv")).map(line).collect()
}

/// What falls short among these scores, one line for each reason: its cells (`nmi` (heavy tails, 40 rows)), then the reason itself.
fn shortfalls(is_wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let mut all = exceptions();
    all.retain(|exception| is_wanted(&exception.score));
    let of_reason = |reason: &str| {
        let own: Vec<&Exception> = all.iter().filter(|exception| exception.reason == reason).collect();
        let of_score = |score: &str| {
            let designs = own.iter().filter(|e| e.score == score).map(|e| e.design.as_str());
            format!("`{score}` ({})", designs.collect::<Vec<_>>().join(", "))
        };
        let scores = distinct(own.iter().map(|exception| &exception.score));
        let shown: Vec<String> = scores.into_iter().map(of_score).collect();
        (shown.join("; "), reason.to_string())
    };
    let reasons = distinct(all.iter().map(|exception| &exception.reason));
    reasons.into_iter().map(of_reason).collect()
}

impl Cell {
    /// The share of intervals that held the expectation.
    pub fn coverage(&self) -> f64 {
        self.covered as f64 / self.replicates as f64
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell {
            score,
            design,
            replicates,
            covered,
            width_ratio,
        } = self;
        write!(f, "{score}\t{design}\t{replicates}\t{covered}\t{width_ratio:.3}")
    }
}

impl fmt::Display for Winners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.design, self.runs, self.false_winners)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Power {
            score,
            design,
            runs,
            found,
            by_t,
            with_true_error,
        } = self;
        write!(f, "{score}\t{design}\t{runs}\t{found}\t{by_t}\t{with_true_error}")
    }
}

/// The fields of each line of a table that the study wrote.
fn table<const N: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let fields = |line: &'static str| line.split('\t').collect::<Vec<_>>().try_into();
    text.lines().map(move |line| fields(line).expect("a line of the study"))
}

fn number<T: std::str::FromStr>(field: &str) -> T {
    field.parse().ok().expect("a number of the study")
}

/// The cells that the study found, design by design.
pub fn cells() -> Vec<Cell> {
    let cell = |[score, design, replicates, covered, width_ratio]: [&str; 5]| Cell {
        score: score.to_string(),
        design: design.to_string(),
        replicates: number(replicates),
        covered: number(covered),
        width_ratio: number(width_ratio),
    };
    table(include_str!("coverage/intervals.tsv")).map(cell).collect()
}

/// The winners that the study found among equal models.
pub fn winners() -> Vec<Winners> {
    let line = |[design, runs, false_winners]: [&str; 3]| Winners {
        design: design.to_string(),
        runs: number(runs),
        false_winners: number(false_winners),
    };
    table(include_str!("coverage/winners.tsv")).map(line).collect()
}

/// The power of comparisons that the study found.
pub fn power() -> Vec<Power> {
    let line = |[score, design, runs, found, by_t, with_true_error]: [&str; 6]| Power {
        score: score.to_string(),
        design: design.to_string(),
        runs: number(runs),
        found: number(found),
        by_t: number(by_t),
        with_true_error: number(with_true_error),
    };
    table(include_str!("coverage/power.tsv")).map(line).collect()
}

impl Metric {
    /// The page that defines it, in Markdown, with what the coverage study found at the end of `## Interval`.
    pub fn definition(&self) -> String {
        let is_own = |cell: &Cell| {
            MetricId::from(cell.score.as_str())
                .metric()
                .is_some_and(|m| m.id == self.id)
        };
        let own: Vec<Cell> = cells().into_iter().filter(is_own).collect();
        let start = self.page.find("\n## Interval\n").map(|at| at + 1);
        let end = start.and_then(|start| Some(start + self.page[start..].find("\n## ")?));
        match end.filter(|_| !own.is_empty()) {
            Some(end) => format!("{}\n{}{}", &self.page[..end], quoted(&own), &self.page[end..]),
            None => self.page.to_string(),
        }
    }
}

/// The rows of some scores, one item of a list each.
fn quoted(cells: &[Cell]) -> String {
    let mut text =
        "Coverage of the 95 % interval in simulations (designs and method: docs/coverage.md):\n\n".to_string();
    for score in distinct(cells.iter().map(|cell| &cell.score)) {
        let of_design = |cell: &Cell| format!("{} % ({})", percent(cell.covered, cell.replicates), cell.design);
        let own = cells.iter().filter(|cell| cell.score == score);
        let row: Vec<String> = own.map(of_design).collect();
        text += &format!("- `{score}`: {}\n", row.join(", "));
    }
    for (shown, reason) in shortfalls(|score| cells.iter().any(|cell| cell.score == score)) {
        text += &format!("\nBelow 90 %: {shown}. {reason}\n");
    }
    text
}

/// The page of the study, in Markdown.
pub fn page() -> String {
    let (cells, winners, power) = (cells(), winners(), power());
    let mut text = include_str!("coverage/page.md").to_string();
    let is_near = |cell: &&Cell| (0.93..=0.97).contains(&cell.coverage());
    let near = cells.iter().filter(is_near).count();
    let draws = || cells.iter().map(|cell| cell.replicates);
    let (fewest, most) = (draws().min().unwrap_or(0), draws().max().unwrap_or(0));
    text += &format!(
        "\n## Intervals\n\n{near} of {} cells ({} %) cover 93 to 97 %; {fewest} to {most} draws for each.\n\n",
        cells.len(),
        percent(near, cells.len().max(1))
    );
    let designs = distinct(cells.iter().map(|cell| &cell.design));
    let (heads, rules) = (designs.join(" | "), "---|".repeat(designs.len()));
    text += &format!("| score | {heads} |\n|---|{rules}\n");
    for score in distinct(cells.iter().map(|cell| &cell.score)) {
        let of_design = |design: &&str| {
            let cell = cells.iter().find(|cell| cell.score == score && cell.design == **design);
            cell.map_or("—".to_string(), |cell| {
                let mark = if cell.coverage() < 0.9 { "**" } else { "" };
                let covered = percent(cell.covered, cell.replicates);
                format!("{mark}{covered}{mark} ({:.2})", cell.width_ratio)
            })
        };
        let row: Vec<String> = designs.iter().map(of_design).collect();
        text += &format!("| `{score}` | {} |\n", row.join(" | "));
    }
    text += "\nBelow 90 %, and why:\n\n";
    for (shown, reason) in shortfalls(|_| true) {
        text += &format!("- {shown}. {reason}\n");
    }
    text += "\n## Equal models\n\nRuns in which any score names a winner; at most 5 % is what the adjusted p-values promise.\n\n\
             | design | runs | with a false winner |\n|---|---|---|\n";
    for Winners {
        design,
        runs,
        false_winners,
    } in &winners
    {
        let share = 100.0 * *false_winners as f64 / *runs as f64;
        text += &format!("| {design} | {runs} | {share:.1} % |\n");
    }
    text += "\n## A worse model\n\nHow often a model with 40 % more noise is told apart at the 5 % level, before p-values are adjusted. Plain t over the \
             units takes clusters as given; `compare` adds the variance of clusterings for NMI, AMI and cluster learnability, without which \
             their intervals cover 78 to 89 % with heavy tails and in episodes of clusters, so it finds fewer of their differences. \
             `smoothness.unit.r2` shares the comparison of r.\n\n\
             | score | design | `compare` | plain t | with the true error |\n|---|---|---|---|---|\n";
    for line in &power {
        let [own, t, truth] = [line.found, line.by_t, line.with_true_error].map(|count| percent(count, line.runs));
        text += &format!("| `{}` | {} | {own} % | {t} % | {truth} % |\n", line.score, line.design);
    }
    text
}

fn percent(count: usize, of: usize) -> String {
    format!("{:.0}", 100.0 * count as f64 / of as f64)
}

/// Each name once, in the order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name.as_str()) {
            found.push(name);
        }
    }
    found
}
