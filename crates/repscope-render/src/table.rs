// SPDX-License-Identifier: MIT
//! The table for a terminal. Models that do not fit beside each other go into further tables below; numbers are never cut.

use crate::Color;
use crate::summary::{Cell, DIRECTIONS, Row, Summary, direction};
use crate::text::{Style, break_name, columns, padding, wrap};
use std::ops::Range;

/// Spaces between two columns, and how few there may be where that saves a further table.
const GAP: usize = 3;
const NARROW_GAP: usize = 2;
/// Names of models are broken into lines no narrower than this.
const NARROWEST_NAME: usize = 12;

pub(crate) fn render(summary: &Summary, width: usize, color: Color) -> String {
    if summary.rows.is_empty() {
        return "No scores.\n".to_string();
    }
    format!("{}\n{}", tables(summary, width, color), footer(summary, width, color))
}

/// The numbers, without what is said about them below.
pub(crate) fn tables(summary: &Summary, width: usize, color: Color) -> String {
    let plan = Plan::new(summary, width, color);
    let tables: Vec<String> = plan.groups().into_iter().map(|models| plan.table(models)).collect();
    tables.join("\n")
}

/// The measures of the table, the same in all groups of models.
struct Plan<'a> {
    summary: &'a Summary,
    width: usize,
    color: Color,
    gap: usize,
    metric_width: usize,
    models: Vec<ModelColumn>,
}

/// The widths inside the column of a model: value, mark (`*` or a footnote), and interval stand below each other.
struct ModelColumn {
    name: Vec<String>,
    value: usize,
    mark: usize,
    interval: usize,
}

impl ModelColumn {
    fn cell_width(&self) -> usize {
        self.value + self.mark + if self.interval > 0 { 1 + self.interval } else { 0 }
    }

    fn width(&self) -> usize {
        self.name
            .iter()
            .map(|line| columns(line))
            .fold(self.cell_width(), usize::max)
    }
}

impl<'a> Plan<'a> {
    fn new(summary: &'a Summary, width: usize, color: Color) -> Self {
        let measure = |model: usize| {
            let cells = || summary.rows.iter().filter_map(move |row| row.cells[model].as_ref());
            ModelColumn {
                name: vec![summary.models[model].clone()],
                value: cells().map(|cell| columns(value(cell))).fold(0, usize::max),
                mark: cells().map(|cell| columns(&mark(cell, color))).fold(0, usize::max),
                interval: cells()
                    .filter_map(|cell| cell.interval.as_deref())
                    .map(columns)
                    .fold(0, usize::max),
            }
        };
        let metric_width = summary
            .rows
            .iter()
            .map(|row| columns(&metric(row)))
            .fold(columns("metric"), usize::max);
        let models = (0..summary.models.len()).map(measure).collect();
        let mut plan = Plan {
            summary,
            width,
            color,
            gap: GAP,
            metric_width,
            models,
        };
        let all = 0..plan.models.len();
        if !plan.fits(all.clone()) {
            plan.gap = NARROW_GAP;
        }
        if !plan.fits(all) {
            for model in &mut plan.models {
                model.name = break_name(&model.name.concat(), model.cell_width().max(NARROWEST_NAME));
            }
        }
        plan
    }

    /// Splits the models into as few tables as the width allows, evenly filled where that fits too.
    fn groups(&self) -> Vec<Range<usize>> {
        let count = self.models.len();
        let mut groups: Vec<Range<usize>> = Vec::new();
        for model in 0..count {
            match groups.last_mut() {
                Some(group) if self.fits(group.start..model + 1) => group.end = model + 1,
                _ => groups.push(model..model + 1),
            }
        }
        let each = count.div_ceil(groups.len());
        let even: Vec<Range<usize>> = (0..count)
            .step_by(each)
            .map(|start| start..count.min(start + each))
            .collect();
        if even.iter().all(|group| self.fits(group.clone())) {
            even
        } else {
            groups
        }
    }

    fn fits(&self, models: Range<usize>) -> bool {
        self.table_width(models) <= self.width
    }

    fn table_width(&self, models: Range<usize>) -> usize {
        let tail = self.tail_widths(models.clone());
        let widths = self.models[models].iter().map(ModelColumn::width).chain(tail);
        self.metric_width + 3 + widths.map(|width| self.gap + width).sum::<usize>()
    }

    /// The widths of the columns after the models: chance and n, where there are such.
    fn tail_widths(&self, models: Range<usize>) -> Vec<usize> {
        let tails = self.summary.rows.iter().map(|row| self.tail(row, models.clone()));
        tails.fold(
            self.tail_names().iter().map(|name| columns(name)).collect(),
            |widths: Vec<usize>, tail| {
                widths
                    .iter()
                    .zip(&tail)
                    .map(|(width, text)| columns(text).max(*width))
                    .collect()
            },
        )
    }

    fn tail_names(&self) -> Vec<String> {
        let chance = self.summary.has_chance().then(|| "chance".to_string());
        let n = self.summary.has_n().then(|| "n".to_string());
        chance.into_iter().chain(n).collect()
    }

    fn tail(&self, row: &Row, models: Range<usize>) -> Vec<String> {
        let chance = self.summary.has_chance().then(|| row.chance(models.clone()));
        let n = self.summary.has_n().then(|| row.n(models.clone()));
        chance.into_iter().chain(n).collect()
    }

    fn table(&self, models: Range<usize>) -> String {
        let gap = " ".repeat(self.gap);
        let tail_widths = self.tail_widths(models.clone());
        let mut text = self.header(models.clone(), &tail_widths);
        text.push_str(&Style::Dim.paint(&"─".repeat(self.table_width(models.clone())), self.color));
        text.push('\n');
        for row in &self.summary.rows {
            if row.opens_block {
                text.push('\n');
            }
            let name = metric(row);
            let mut line = format!(
                "{name}{}  {}",
                padding(&name, self.metric_width),
                direction(row.better).0
            );
            for model in models.clone() {
                line.push_str(&gap);
                line.push_str(&self.cell(&self.models[model], row.cells[model].as_ref()));
            }
            for (text, width) in self.tail(row, models.clone()).iter().zip(&tail_widths) {
                line.push_str(&format!(
                    "{gap}{}{}",
                    padding(text, *width),
                    Style::Dim.paint(text, self.color)
                ));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The names of the columns, those of models on several lines where they are long.
    fn header(&self, models: Range<usize>, tail_widths: &[usize]) -> String {
        let height = self.models[models.clone()]
            .iter()
            .map(|model| model.name.len())
            .fold(1, usize::max);
        let gap = " ".repeat(self.gap);
        let mut text = String::new();
        for line in 0..height {
            let is_last = line + 1 == height;
            let first = if is_last { "metric" } else { "" };
            let mut row = format!(
                "{}{}   ",
                Style::Dim.paint(first, self.color),
                padding(first, self.metric_width)
            );
            for model in &self.models[models.clone()] {
                let name = (line + model.name.len())
                    .checked_sub(height)
                    .map_or("", |i| &model.name[i]);
                row.push_str(&format!(
                    "{gap}{}{}",
                    padding(name, model.width()),
                    Style::Bold.paint(name, self.color)
                ));
            }
            for (name, width) in self.tail_names().iter().zip(tail_widths).filter(|_| is_last) {
                row.push_str(&format!(
                    "{gap}{}{}",
                    padding(name, *width),
                    Style::Dim.paint(name, self.color)
                ));
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    fn cell(&self, column: &ModelColumn, cell: Option<&Cell>) -> String {
        let Some(cell) = cell else {
            return " ".repeat(column.width());
        };
        let (value, mark) = (value(cell), mark(cell, self.color));
        let interval = cell.interval.as_deref().unwrap_or("");
        let mut text = " ".repeat(column.width() - column.cell_width());
        text.push_str(&padding(value, column.value));
        text.push_str(&if cell.is_best { Style::Bold } else { Style::Plain }.paint(value, self.color));
        text.push_str(&format!("{mark}{}", padding(&mark, column.mark)));
        if column.interval > 0 {
            text.push_str(&format!(
                " {}{}",
                Style::Dim.paint(interval, self.color),
                padding(interval, column.interval)
            ));
        }
        text
    }
}

/// Legend, footnotes, reasons and interval methods.
pub(crate) fn footer(summary: &Summary, width: usize, color: Color) -> String {
    let mut text = legend(summary, width, color);
    text.push_str(&reasons(summary, width));
    for sentence in &summary.intervals {
        text.push_str(&wrap(sentence, width, ""));
    }
    text
}

/// What the marks in the table mean.
pub(crate) fn legend(summary: &Summary, width: usize, color: Color) -> String {
    let mut legend: Vec<String> = DIRECTIONS
        .into_iter()
        .filter(|better| summary.has_direction(*better))
        .map(|better| format!("{} {}", direction(better).0, direction(better).1))
        .collect();
    if summary.has_best() {
        let mark = if color == Color::Yes { "bold" } else { "*" };
        legend.push(format!("{mark} best, its interval apart from all others"));
    }
    wrap(&legend.join("; "), width, "")
}

/// Footnotes, and why values are missing.
pub(crate) fn reasons(summary: &Summary, width: usize) -> String {
    let mut text = String::new();
    for (i, note) in summary.notes.iter().enumerate() {
        text.push_str(&wrap(note, width, &format!("{} ", superscript(i + 1))));
    }
    for (metrics, reason) in &summary.undefined {
        text.push_str(&wrap(&format!("{metrics}: {reason}"), width, "— "));
    }
    text
}

fn metric(row: &Row) -> String {
    match row.note {
        Some(note) => format!("{} {}", row.metric, superscript(note)),
        None => row.metric.clone(),
    }
}

fn value(cell: &Cell) -> &str {
    cell.value.as_deref().unwrap_or("—")
}

/// What follows the value: `*` for the best one where bold cannot be seen, and the footnote.
fn mark(cell: &Cell, color: Color) -> String {
    let star = if cell.is_best && color == Color::No { "*" } else { "" };
    format!("{star}{}", cell.note.map(superscript).unwrap_or_default())
}

fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number
        .to_string()
        .bytes()
        .map(|digit| DIGITS[(digit - b'0') as usize])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{missing, score, two_models};
    use crate::{Format, render};
    use repscope_core::{Better, Results, Score};

    fn table(results: &Results, width: usize) -> String {
        render(results, Format::Table, width, Color::No)
    }

    fn trustworthiness(model: &str, value: f64) -> Score {
        let interval = Some((value - 0.0031, value + 0.0031, "rows", "jackknife"));
        score(model, "trustworthiness@5", value, interval, Better::Higher)
    }

    #[test]
    fn two_models_stand_side_by_side() {
        let expected = "\
metric                                          jepa                 encoder-decoder  chance      n
───────────────────────────────────────────────────────────────────────────────────────────────────
smoothness.slope   ↓  1.153e-4  [1.131e-4, 1.175e-4]  1.178e-4  [1.155e-4, 1.202e-4]          36000
smoothness.p       ·         0                        3.21e-12                                36000
trustworthiness@5  ↑    0.7821  [0.7790, 0.7852]        0.9581* [0.9570, 0.9592]               1797
continuity@5       ↑    0.7350  [0.7321, 0.7379]        0.9570* [0.9558, 0.9582]               1797
two_nn             ·     11.37  [10.98, 11.77]               —                                 1797
uniformity         ↓    -2.889* [-2.901, -2.877]       -1.4771  [-1.4857, -1.4685]             1797
silhouette ¹       ↑    0.0381  [0.0347, 0.0415]        0.1671* [0.1637, 0.1705]               1797
nmi                ↑         —                               —                                 1797
ami                ↑         —                               —                                 1797
knn_accuracy@5     ↑     0.861  [0.849, 0.873]           0.864  [0.852, 0.876]           0.1   1797

↑ higher is better; ↓ lower is better; · neither; * best, its interval apart from all others
¹ on k-means' own labels: circular
— two_nn for encoder-decoder: all rows are the same
— nmi, ami: needs labels; give --labels
95 % intervals: jackknife over episodes (smoothness.slope); jackknife over rows (trustworthiness@5,
continuity@5, uniformity, silhouette); chi-squared over rows (two_nn); Student t over splits
(knn_accuracy@5)
";
        assert_eq!(table(&two_models(), 100), expected);
    }

    #[test]
    fn one_model_has_no_best_value_and_large_families_stand_apart() {
        let value = |metric, value| score("jepa", metric, value, None, Better::Higher);
        let results = Results {
            scores: vec![
                value("trustworthiness@5", 0.95),
                value("continuity@5", 0.94),
                value("trustworthiness@10", 0.9312),
                value("trustworthiness@15", 0.9),
                value("silhouette", 0.1234567),
            ],
            ..Results::default()
        };
        let expected = "\
metric                    jepa      n
─────────────────────────────────────
trustworthiness@5   ↑     0.95   1797
trustworthiness@10  ↑   0.9312   1797
trustworthiness@15  ↑      0.9   1797

continuity@5        ↑     0.94   1797
silhouette          ↑   0.1235   1797

↑ higher is better
";
        assert_eq!(table(&results, 80), expected);
    }

    #[test]
    fn twelve_models_with_long_names_are_stacked_within_the_width() {
        let names: Vec<String> = (0..12)
            .map(|i| format!("vit_large_patch14_dinov2.lvd142m-seed-{i}/模型"))
            .collect();
        let scores = names
            .iter()
            .enumerate()
            .map(|(i, name)| trustworthiness(name, 0.7 + 0.02 * i as f64))
            .collect();
        let text = table(
            &Results {
                scores,
                ..Results::default()
            },
            80,
        );
        assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("metric")).count(), 6);
        assert!(
            text.contains("0.9000 [0.8969, 0.9031]  0.9200* [0.9169, 0.9231]"),
            "{text}"
        );
        let first = "                           vit_large_patch14_       vit_large_patch14_
                       dinov2.lvd142m-seed-0/   dinov2.lvd142m-seed-1/
metric                                   模型                     模型     n
────────────────────────────────────────────────────────────────────────────
trustworthiness@5  ↑  0.7000 [0.6969, 0.7031]  0.7200 [0.7169, 0.7231]  1797
";
        assert!(text.starts_with(first), "{text}");
    }

    #[test]
    fn numbers_are_not_cut_where_even_one_model_is_too_wide() {
        let results = Results {
            scores: vec![trustworthiness("jepa", 0.9)],
            ..Results::default()
        };
        assert!(table(&results, 10).contains("0.9000 [0.8969, 0.9031]"));
    }

    #[test]
    fn values_that_are_all_undefined_leave_their_reasons() {
        let reason = "needs the input space; give --states";
        let ids = ["smoothness.slope", "smoothness.r", "silhouette"];
        let results = Results {
            scores: ids.map(|id| missing("jepa", id, reason)).to_vec(),
            ..Results::default()
        };
        let expected = "\
metric                jepa      n
─────────────────────────────────
smoothness.slope  ↑      —   1797
smoothness.r      ↑      —   1797
silhouette        ↑      —   1797

↑ higher is better
— smoothness, silhouette: needs the input space; give --states
";
        assert_eq!(table(&results, 80), expected);
    }

    #[test]
    fn a_metric_that_a_model_was_not_asked_for_is_blank_and_n_may_be_a_range() {
        let short = Score {
            n: 1000,
            ..trustworthiness("b", 0.9)
        };
        let only_a = score("a", "two_nn", 11.0, None, Better::Neither).with_note("a sample of 1000 rows");
        let mut noted = trustworthiness("a", 0.9);
        noted.note = Some("ties were broken by index".to_string());
        let results = Results {
            scores: vec![noted, only_a, short],
            ..Results::default()
        };
        let expected = "\
metric                                        a                         b           n
─────────────────────────────────────────────────────────────────────────────────────
trustworthiness@5  ↑   0.9000¹ [0.8969, 0.9031]   0.9000 [0.8969, 0.9031]   1000–1797
two_nn ²           ·       11                                                    1797
";
        let text = table(&results, 100);
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.contains("¹ ties were broken by index\n² a sample of 1000 rows\n"),
            "{text}"
        );
    }

    #[test]
    fn the_best_value_is_marked_only_when_its_interval_is_apart() {
        let marked = |a, b| {
            let scores = vec![trustworthiness("a", a), trustworthiness("b", b)];
            table(
                &Results {
                    scores,
                    ..Results::default()
                },
                100,
            )
            .contains('*')
        };
        assert!(marked(0.90, 0.91));
        assert!(!marked(0.90, 0.905));
    }

    #[test]
    fn a_value_in_the_units_of_the_codes_makes_no_model_the_best() {
        let unranked = |score: Score| Score {
            comparable: false,
            ..score
        };
        let scores = vec![
            unranked(trustworthiness("a", 0.90)),
            unranked(trustworthiness("b", 0.95)),
        ];
        let results = Results {
            scores,
            ..Results::default()
        };
        assert!(!table(&results, 100).contains('*'));
    }

    #[test]
    fn colour_marks_the_best_value_in_bold() {
        let text = render(&two_models(), Format::Table, 100, Color::Yes);
        assert!(
            text.contains("\x1b[1m0.9581\x1b[0m \x1b[2m[0.9570, 0.9592]\x1b[0m"),
            "{text}"
        );
        assert!(text.contains("bold best") && !text.contains('*'), "{text}");
    }

    #[test]
    fn no_scores_are_said_to_be_none() {
        assert_eq!(table(&Results::default(), 80), "No scores.\n");
    }
}
