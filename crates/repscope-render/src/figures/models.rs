// SPDX-License-Identifier: MIT
//! The models of a run as the series of its figures, and what the results hold of each.

use super::series::Series;
use super::words::reasons;
use super::{NamedFigure, named};
use crate::samples;
use crate::table::direction;
use crate::text::printable;
use repscope_core::{Better, MetricId, Results, SampleTable, Score};
use repscope_figures::{
    Along, Axis, BarRow, Bars, BarsLook, Content, Curve, CurveLook, CurvePoint, Figure, Grouping, Measured,
    Orientation, Panel,
};

/// The models of a run. Every figure of the run lists them all, so that a model has the same color everywhere.
pub(super) struct Models<'a> {
    pub(super) results: &'a Results,
    pub(super) names: Vec<&'a str>,
    /// What the names count, where they are a series such as epochs.
    pub(super) series: Option<Series>,
}

/// More bars than this, one for each model, lie down: their names then stand beside them.
pub(super) const MOST_UPRIGHT: usize = 3;
/// Names of three groups or more that are longer than this do not fit below bars.
const LONGEST_BELOW: usize = 9;

impl<'a> Models<'a> {
    pub(super) fn of(results: &'a Results) -> Self {
        let names = samples::models(results);
        let series = Series::of(&names);
        Models { results, names, series }
    }

    pub(super) fn name(&self, series: usize) -> String {
        self.names.get(series).map(|name| printable(name)).unwrap_or_default()
    }

    /// What is known of each model; models of which nothing is are left out.
    pub(super) fn known<T>(&self, of: impl Fn(usize) -> Option<T>) -> Vec<T> {
        (0..self.names.len()).filter_map(of).collect()
    }

    /// A figure of these panels, with the models as its series.
    pub(super) fn figure<P: Into<Option<Panel>>>(
        &self,
        path: &str,
        columns: usize,
        panels: impl IntoIterator<Item = P>,
        description: String,
        notes: Vec<String>,
    ) -> Vec<NamedFigure> {
        let figure = Figure {
            description,
            panels: panels.into_iter().filter_map(P::into).collect(),
            columns,
            series: self.names.iter().map(|name| printable(name)).collect(),
            notes,
            ..Figure::default()
        };
        named(path, figure)
    }

    pub(super) fn score(&self, series: usize, metric: &str) -> Option<&'a Score> {
        self.results.score(self.names.get(series)?, metric)
    }

    /// The scores of a metric, each with the number of its model.
    pub(super) fn scores(&self, metric: &str) -> Vec<(usize, &'a Score)> {
        let is_declared = MetricId::from(metric).output().is_some();
        debug_assert!(is_declared, "a figure draws {metric}, which no metric declares");
        self.known(|series| Some((series, self.score(series, metric)?)))
    }

    pub(super) fn value(&self, series: usize, metric: &str) -> Option<f64> {
        self.score(series, metric)?.value
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
        tables.find(|table| samples::column(table, column).is_some())
    }

    /// A column of the samples of one analysis.
    pub(super) fn samples(&self, series: usize, analysis: &str, column: &str) -> Option<&'a [Option<f64>]> {
        samples::column(samples::table(self.results, self.names.get(series)?, analysis)?, column)
    }

    /// The finite numbers of a column, whatever the table; empty where there is none.
    pub(super) fn sampled(&self, series: usize, column: &str) -> Vec<f64> {
        let table = self.table_with(series, column);
        let values = table.and_then(|table| samples::column(table, column)).unwrap_or(&[]);
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

    /// The scores of a family against these levels, a curve for each model.
    pub(super) fn curves(&self, family: &str, levels: &[String]) -> Vec<Curve> {
        self.known(|series| {
            let score = |level: &String| self.score(series, &format!("{family}@{level}"));
            let at = |level: &String| Some(point(level.parse().ok()?, score(level)?));
            let points: Vec<CurvePoint> = levels.iter().filter_map(at).collect();
            let look = CurveLook::Full;
            (!points.is_empty()).then_some(Curve { series, points, look })
        })
    }

    /// Whether many models are a series, so that lines over their numbers say more than a curve for each.
    pub(super) fn are_a_long_series(&self) -> bool {
        self.series.is_some() && self.names.len() > MOST_BARS
    }

    /// A bar of one metric for each model.
    pub(super) fn bar(&self, title: &str, axis: Axis, metric: &str) -> Option<Panel> {
        self.bars(title, axis, "", &[("", metric)])
    }

    /// The bars of a family, a group for each level.
    pub(super) fn bars_at(
        &self,
        title: &str,
        axis: Axis,
        label: &str,
        family: &str,
        levels: &[String],
    ) -> Option<Panel> {
        let group = |level: &String| (level.clone(), format!("{family}@{level}"));
        self.bars(title, axis, label, &levels.iter().map(group).collect::<Vec<_>>())
    }

    /// Bars of some metrics with their intervals and chance levels: a group for each metric (its name and its id), or a bar for
    /// each model where there is one metric. `None` where nobody asked for these metrics; where none has a value, the reasons.
    pub(super) fn bars<N: AsRef<str>, M: AsRef<str>>(
        &self,
        title: &str,
        axis: Axis,
        category_label: &str,
        groups: &[(N, M)],
    ) -> Option<Panel> {
        let of_group = |(name, metric): &(N, M)| (name.as_ref().to_string(), self.scores(metric.as_ref()));
        let mut found: Vec<(String, Vec<(usize, &Score)>)> = groups.iter().map(of_group).collect();
        found.retain(|(_, scores)| !scores.is_empty());
        let all = || {
            found
                .iter()
                .flat_map(|(_, scores)| scores.iter().map(|(_, score)| *score))
        };
        let first = all().next()?;
        let is_one_way = all().all(|score| score.better == first.better);
        let better = if is_one_way { first.better } else { Better::Neither };
        let title = titled(title, better);
        let why = reasons(self, &found);
        if all().all(|score| score.value.is_none()) {
            return Some(Panel::new(title, Content::Text(why)));
        }
        let rows = self.known(|series| {
            let of = |scores: &[(usize, &'a Score)]| scores.iter().find(|(s, _)| *s == series).map(|(_, s)| *s);
            let scores: Vec<Option<&Score>> = found.iter().map(|(_, scores)| of(scores)).collect();
            let bars = scores.iter().map(|score| measured(*score)).collect();
            scores.iter().any(Option::is_some).then_some(BarRow { series, bars })
        });
        let has_groups = found.len() > 1;
        let is_long = |(name, _): &(String, _)| name.chars().count() > LONGEST_BELOW;
        let bars = Bars {
            axis,
            category_label: if has_groups { category_label } else { "" }.to_string(),
            chance: match found.as_slice() {
                // One metric: each bar may have a chance level of its own.
                [(_, scores)] => scores.iter().map(|(_, score)| score.chance).collect(),
                _ => found.iter().map(|(_, scores)| shared_chance(scores)).collect(),
            },
            orientation: match found.len() {
                1 => orientation(rows.len()),
                3.. if rows.len() <= MOST_UPRIGHT && found.iter().any(is_long) => Orientation::Horizontal,
                _ => Orientation::Vertical,
            },
            categories: found
                .iter()
                .filter(|_| has_groups)
                .map(|(name, _)| name.clone())
                .collect(),
            rows,
            ..Bars::default()
        };
        Some(Panel::new(title, self.arranged(bars, better)).note(why))
    }

    /// Bars as they are read best: lines over the number of models that are a series; a row with points for each of many other models,
    /// the best at the top, or the largest where neither is better. Of several categories the first that differs decides. Bars of few models stay.
    pub(super) fn arranged(&self, bars: Bars, better: Better) -> Bars {
        match &self.series {
            Some(series) => {
                let number = |row: &BarRow| series.at.get(row.series).copied().unwrap_or(f64::NAN);
                let along = Along {
                    label: series.label.clone(),
                    at: bars.rows.iter().map(number).collect(),
                };
                Bars {
                    along: Some(along),
                    ..bars
                }
            }
            None => dots(bars, better),
        }
    }
}

/// The curves of many models: the three best and the last keep their colors and names, the others are gray. Where neither way is better,
/// the highest, the middle and the lowest do.
pub(super) fn highlighted(mut curves: Vec<Curve>, better: Better) -> Vec<Curve> {
    if curves.len() <= MOST_BARS {
        return curves;
    }
    let mean = |curve: &Curve| {
        let known: Vec<f64> = curve
            .points
            .iter()
            .filter_map(|point| point.y)
            .filter(|y| y.is_finite())
            .collect();
        let sign = if better == Better::Lower { 1.0 } else { -1.0 };
        (!known.is_empty()).then(|| sign * known.iter().sum::<f64>() / known.len() as f64)
    };
    let mut order: Vec<(f64, usize)> = curves
        .iter()
        .enumerate()
        .filter_map(|(i, curve)| Some((mean(curve)?, i)))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let last = order.len().saturating_sub(1);
    let ranks = match better {
        Better::Neither => vec![0, last / 2, last],
        _ => vec![0, 1, 2, last],
    };
    let full: Vec<usize> = ranks.iter().filter_map(|rank| Some(order.get(*rank)?.1)).collect();
    for (i, curve) in curves.iter_mut().enumerate() {
        if !full.contains(&i) {
            curve.look = CurveLook::Faint;
        }
    }
    curves
}

/// More models than this are points in the order of their values, because nobody finds one of twelve bars again.
pub(super) const MOST_BARS: usize = 8;

/// Bars of many models as points on their intervals.
pub(super) fn dots(bars: Bars, better: Better) -> Bars {
    if bars.rows.len() <= MOST_BARS {
        return bars;
    }
    // A chance level for each bar goes where its bar goes.
    let by_row = bars.categories.is_empty() && bars.chance.len() == bars.rows.len();
    let mut rows: Vec<(usize, BarRow)> = bars.rows.into_iter().enumerate().collect();
    let sign = if better == Better::Lower { 1.0 } else { -1.0 };
    let value = |row: &BarRow, category: usize| {
        row.bars
            .get(category)
            .and_then(|bar| bar.value)
            .filter(|x| x.is_finite())
    };
    // A category that is the same for all, such as the number of columns, orders nothing.
    let differs = |category: &usize| {
        rows.iter()
            .any(|(_, row)| value(row, *category) != value(&rows[0].1, *category))
    };
    let decides = (0..bars.categories.len()).find(differs).unwrap_or(0);
    let key = |row: &BarRow| value(row, decides).map_or(f64::INFINITY, |value| sign * value);
    rows.sort_by(|a, b| key(&a.1).total_cmp(&key(&b.1)));
    let chance = if by_row {
        rows.iter().map(|(from, _)| bars.chance[*from]).collect()
    } else {
        bars.chance
    };
    Bars {
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        chance,
        orientation: Orientation::Horizontal,
        look: BarsLook::Points,
        grouping: Grouping::Series,
        ..bars
    }
}

/// Which way bars or boxes of this many models point.
pub(super) fn orientation(models: usize) -> Orientation {
    match models {
        ..=MOST_UPRIGHT => Orientation::Vertical,
        _ => Orientation::Horizontal,
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
pub(super) fn measured(score: Option<&Score>) -> Measured {
    Measured {
        value: score.and_then(|score| score.value),
        interval: score.and_then(|score| score.interval).map(<(f64, f64)>::from),
    }
}

/// A score as a point of a curve.
pub(super) fn point(x: f64, score: &Score) -> CurvePoint {
    let Measured {
        value: y,
        interval: band,
    } = measured(Some(score));
    CurvePoint { x, y, band }
}

/// The chance level where all models share it.
fn shared_chance(scores: &[(usize, &Score)]) -> Option<f64> {
    let first = scores.first()?.1.chance?;
    let is_same = |chance: f64| (chance - first).abs() <= 1e-9 * first.abs();
    let is_shared = scores.iter().all(|(_, score)| score.chance.is_some_and(is_same));
    is_shared.then_some(first)
}
