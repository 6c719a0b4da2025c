// SPDX-License-Identifier: MIT
//! The models of a run as the series of its figures, and what the results hold of each.

use super::words::reasons;
use crate::scores::distinct;
use crate::table::direction;
use crate::text::printable;
use repscope_core::{Better, MetricId, Results, SampleTable, Score};
use repscope_figures::{Axis, BarRow, Bars, Content, Measured, Orientation, Panel};

/// The models of a run. Every figure of the run lists them all, so that a model has the same color everywhere.
pub(super) struct Models<'a> {
    pub(super) results: &'a Results,
    pub(super) names: Vec<&'a str>,
}

/// More bars than this, one for each model, lie down: their names then stand beside them.
pub(super) const MOST_UPRIGHT: usize = 3;
/// Names of three groups or more that are longer than this do not fit below bars.
const LONGEST_BELOW: usize = 9;

/// A group of bars: its name on the axis, and the metric it shows.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) metric: String,
}

impl Group {
    pub(super) fn new(name: impl Into<String>, metric: impl Into<String>) -> Self {
        Group {
            name: name.into(),
            metric: metric.into(),
        }
    }
}

impl<'a> Models<'a> {
    pub(super) fn of(results: &'a Results) -> Self {
        let scored = results.scores.iter().map(|score| score.model.as_str());
        let drawn = results.curves.iter().map(|curve| curve.model.as_str());
        let sampled = results.samples.iter().map(|table| table.model.as_str());
        Models {
            names: distinct(scored.chain(drawn).chain(sampled)),
            results,
        }
    }

    /// The names as they can be printed.
    pub(super) fn series(&self) -> Vec<String> {
        self.names.iter().map(|name| printable(name)).collect()
    }

    pub(super) fn name(&self, series: usize) -> String {
        self.names.get(series).map(|name| printable(name)).unwrap_or_default()
    }

    /// The scores of a metric, each with the number of its model.
    pub(super) fn scores(&self, metric: &str) -> Vec<(usize, &'a Score)> {
        let of = |(series, model): (usize, &&str)| Some((series, self.results.score(model, metric)?));
        self.names.iter().enumerate().filter_map(of).collect()
    }

    pub(super) fn value(&self, series: usize, metric: &str) -> Option<f64> {
        self.results.score(self.names.get(series)?, metric)?.value
    }

    /// Whether any model has a value of any of these metrics.
    pub(super) fn have(&self, is_wanted: impl Fn(&MetricId) -> bool) -> bool {
        let mut scores = self.results.scores.iter();
        scores.any(|score| score.value.is_some() && is_wanted(&score.metric))
    }

    /// The samples of a model that have this column. Names of columns are those of metrics, so one table has it.
    pub(super) fn table_with(&self, series: usize, column: &str) -> Option<&'a SampleTable> {
        let model = self.names.get(series)?;
        let mut tables = self.results.samples.iter().filter(|table| table.model == *model);
        tables.find(|table| self::column(table, column).is_some())
    }

    /// A column of the samples of one analysis.
    pub(super) fn samples(&self, series: usize, analysis: &str, column: &str) -> Option<&'a [Option<f64>]> {
        let model = self.names.get(series)?;
        let mut tables = self.results.samples.iter();
        let table = tables.find(|table| table.model == *model && table.metric == analysis)?;
        self::column(table, column)
    }

    /// The finite numbers of a column, whatever the table; empty where there is none.
    pub(super) fn sampled(&self, series: usize, column: &str) -> Vec<f64> {
        let table = self.table_with(series, column);
        let values = table.and_then(|table| self::column(table, column)).unwrap_or(&[]);
        values.iter().flatten().copied().filter(|x| x.is_finite()).collect()
    }

    /// What follows the `@` in the metrics of a family, smallest first and not as text: 5, 10, 15.
    pub(super) fn levels(&self, families: &[&str]) -> Vec<String> {
        let found = self.results.scores.iter().map(|score| &score.metric);
        let found = found.filter(|id| families.contains(&id.measure()));
        let mut levels: Vec<(f64, &str)> = found.filter_map(|id| Some((id.level()?, id.at()?))).collect();
        levels.sort_by(|a, b| a.0.total_cmp(&b.0));
        levels.dedup_by(|a, b| a.0 == b.0);
        levels.iter().map(|(_, at)| at.to_string()).collect()
    }

    /// Bars of some metrics with their intervals and chance levels: a group for each metric, or a bar for each model
    /// where there is one metric. `None` where nobody asked for these metrics; where none has a value, the reasons.
    pub(super) fn bars(&self, title: &str, axis: Axis, category_label: &str, groups: &[Group]) -> Option<Panel> {
        let found: Vec<(&Group, Vec<(usize, &Score)>)> = groups
            .iter()
            .map(|group| (group, self.scores(&group.metric)))
            .filter(|(_, scores)| !scores.is_empty())
            .collect();
        let all = || {
            found
                .iter()
                .flat_map(|(_, scores)| scores.iter().map(|(_, score)| *score))
        };
        let first = all().next()?;
        let title = if all().all(|score| score.better == first.better) {
            titled(title, first.better)
        } else {
            title.to_string()
        };
        let why = reasons(self, &found);
        if all().all(|score| score.value.is_none()) {
            return Some(Panel::new(title, Content::Text(why)));
        }
        let rows: Vec<BarRow> = (0..self.names.len())
            .filter_map(|series| {
                let of = |scores: &[(usize, &'a Score)]| scores.iter().find(|(s, _)| *s == series).map(|(_, s)| *s);
                let scores: Vec<Option<&Score>> = found.iter().map(|(_, scores)| of(scores)).collect();
                let bars = scores.iter().map(|score| score.map(measured).unwrap_or_default());
                let is_asked = scores.iter().any(Option::is_some);
                is_asked.then(|| BarRow {
                    series,
                    bars: bars.collect(),
                })
            })
            .collect();
        let categories = match found.as_slice() {
            [_] => Vec::new(),
            _ => found.iter().map(|(group, _)| group.name.clone()).collect(),
        };
        let bars = Bars {
            axis,
            category_label: if categories.is_empty() {
                String::new()
            } else {
                category_label.to_string()
            },
            chance: match found.as_slice() {
                // One metric: each bar may have a chance level of its own.
                [(_, scores)] => scores.iter().map(|(_, score)| score.chance).collect(),
                _ => found.iter().map(|(_, scores)| shared_chance(scores)).collect(),
            },
            orientation: match categories.as_slice() {
                [] => orientation(rows.len()),
                [_, _, _, ..]
                    if rows.len() <= MOST_UPRIGHT
                        && categories.iter().any(|name| name.chars().count() > LONGEST_BELOW) =>
                {
                    Orientation::Horizontal
                }
                _ => Orientation::Vertical,
            },
            categories,
            rows,
            ..Bars::default()
        };
        Some(Panel::new(title, bars).note(why))
    }
}

/// A column of a table of samples.
pub(super) fn column<'a>(table: &'a SampleTable, name: &str) -> Option<&'a [Option<f64>]> {
    let (_, values) = table.columns.iter().find(|(own, _)| own == name)?;
    Some(values)
}

/// Which way bars or boxes of this many models point.
pub(super) fn orientation(models: usize) -> Orientation {
    if models > MOST_UPRIGHT {
        Orientation::Horizontal
    } else {
        Orientation::Vertical
    }
}

/// A title with the arrow of the direction; none where neither is better.
pub(super) fn titled(title: &str, better: Better) -> String {
    match better {
        Better::Neither => title.to_string(),
        _ => format!("{title} {}", direction(better).0),
    }
}

/// The value and the interval of a score.
pub(super) fn measured(score: &Score) -> Measured {
    Measured {
        value: score.value,
        interval: score.interval.map(|[low, high]| (low, high)),
    }
}

/// The chance level where all models share it.
fn shared_chance(scores: &[(usize, &Score)]) -> Option<f64> {
    let first = scores.first()?.1.chance?;
    let is_same = |chance: f64| (chance - first).abs() <= 1e-9 * first.abs();
    let is_shared = scores.iter().all(|(_, score)| score.chance.is_some_and(is_same));
    is_shared.then_some(first)
}
