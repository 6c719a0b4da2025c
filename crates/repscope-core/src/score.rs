// SPDX-License-Identifier: MIT
//! What a metric answers: scores, curves, and per-sample tables.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::metrics::{MetricId, Output};
use crate::stats::interval::{heavy_tails, unseen_share};

/// Which way a score is better, where the literature agrees on one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Larger values are better.
    Higher,
    /// Smaller values are better.
    Lower,
    /// A description, not a grade (a dimension, an intercept).
    Neither,
}

impl Better {
    /// `higher`, `lower` or `neither`.
    pub fn name(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        }
    }
}

/// A confidence interval and what it was resampled over.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence level, such as 0.95.
    pub level: f64,
    /// Standard error of the value, where the method gives one.
    pub standard_error: Option<f64>,
    /// The unit that was resampled: "rows", "pairs", "episodes", "splits", "query rows".
    pub unit: &'static str,
    /// How, in a few words: "jackknife", "Student t", "influence", "chi-squared".
    pub method: &'static str,
    /// What each unit does to the value, where the method gives it: the squares add up to the squared standard error.
    pub effects: Option<Arc<[f64]>>,
}

/// One number with everything needed to publish it. A value that does not exist is `None` with a reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The model it speaks of.
    pub model: String,
    /// The other model, where it speaks of two: `model` then names both, and the first one in a results document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// Which score it is: `trustworthiness@10`, `two_nn(fit=mle)`.
    pub metric: MetricId,
    /// The number.
    pub value: Option<f64>,
    /// Lower and upper end of the confidence interval.
    pub interval: Option<[f64; 2]>,
    /// Confidence level of the interval.
    pub level: Option<f64>,
    /// How many units the number was computed from (rows, pairs, anchors).
    pub n: usize,
    /// The direction.
    pub better: Better,
    /// What a meaningless representation would get, where that is defined.
    pub chance: Option<f64>,
    /// Why there is no number.
    pub reason: Option<String>,
    /// Standard error, where the interval's method gives one.
    #[serde(default)]
    pub standard_error: Option<f64>,
    /// The unit the interval was resampled over.
    #[serde(default)]
    pub unit: Option<String>,
    /// How the interval was made.
    #[serde(default)]
    pub method: Option<String>,
    /// Whether models may be ranked by it: false where the value changes when the embeddings are merely scaled.
    #[serde(default = "yes")]
    pub comparable: bool,
    /// What a reader must know to use the number ("k-means' own labels: circular").
    #[serde(default)]
    pub note: Option<String>,
    /// The K that was really used, where the given one was larger than the number of targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_k: Option<usize>,
    /// How many training runs it is the mean of. Of one run, it speaks about that run; of several, about the training recipe.
    #[serde(default = "one")]
    pub runs: usize,
    /// The values of the runs, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicates: Vec<Option<f64>>,
    /// What each unit does to the value, for comparing models unit by unit. Not part of a results document.
    #[serde(skip)]
    pub effects: Option<Arc<[f64]>>,
    /// What each repetition of a random step (a clustering of half of the rows) does to the value: the squares add up to the part of
    /// the squared standard error that is not of the units. Not part of a results document.
    #[serde(skip)]
    pub between: Option<Arc<[f64]>>,
    /// What training adds to the error of the value, where there are several runs. Not part of a results document.
    #[serde(skip)]
    pub training: Option<Training>,
}

/// What training adds to the error of a mean over training runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// The variance between runs, divided by their number.
    pub variance: f64,
    /// The part of it that rows cause which are harder for one run than for another. The effects of the rows hold it too.
    pub of_units: f64,
    /// Degrees of freedom: runs less one.
    pub freedom: f64,
}

impl Score {
    /// A number. Direction and comparability are those of the declared score that the identity is an instance of.
    /// One that is not finite becomes an undefined score, so that no NaN ever gets out.
    pub fn number(metric: impl Into<MetricId>, value: f64, n: usize) -> Self {
        let mut score = Score::undefined(metric, "", n);
        if value.is_finite() {
            score.value = Some(value);
            score.reason = None;
        } else {
            score.reason = Some(format!("the formula gives {value} for these data"));
        }
        score
    }

    /// A value that does not exist for these data, and why.
    pub fn undefined(metric: impl Into<MetricId>, reason: impl Into<String>, n: usize) -> Self {
        let metric = metric.into();
        let output: Option<&Output> = metric.output();
        Score {
            model: String::new(),
            other: None,
            value: None,
            interval: None,
            level: None,
            n,
            better: output.map_or(Better::Neither, |output| output.better),
            chance: None,
            reason: Some(reason.into()),
            standard_error: None,
            unit: None,
            method: None,
            comparable: output.is_none_or(|output| output.is_comparable()),
            note: None,
            effective_k: None,
            runs: 1,
            replicates: Vec::new(),
            effects: None,
            between: None,
            training: None,
            metric,
        }
    }

    /// Adds an interval, cut to the declared range of the score; one that is not finite is left out. Heavy tails are noted, except for
    /// scores that are bounded on both sides: what a row can do to them is bounded, too.
    pub fn with_interval(mut self, interval: Option<Interval>) -> Self {
        if let Some(i) = interval.filter(|i| i.low.is_finite() && i.high.is_finite() && self.value.is_some()) {
            self.interval = Some([i.low, i.high]);
            self.level = Some(i.level);
            self.standard_error = i.standard_error.filter(|s| s.is_finite());
            self.unit = Some(i.unit.to_string());
            self.method = Some(i.method.to_string());
            self.effects = i.effects.filter(|effects| effects.iter().all(|e| e.is_finite()));
            let [least, most] = self.bounds();
            // Rounding may bring the value itself a last digit beyond its range.
            let value = self.value.unwrap_or(least);
            self.interval = Some([i.low, i.high].map(|end| end.clamp(least.min(value), most.max(value))));
            let tails = self.effects.as_ref().and_then(|e| heavy_tails(e, i.unit));
            self.widen_where_nothing_varies(i.level);
            if let Some(tails) = tails.filter(|_| !(least.is_finite() && most.is_finite())) {
                self = self.with_note(tails);
            }
        }
        self
    }

    /// The ends of the declared range; infinite where it is open or depends on options or data.
    fn bounds(&self) -> [f64; 2] {
        let open = [f64::NEG_INFINITY, f64::INFINITY];
        self.metric.output().map_or(open, Output::bounds)
    }

    /// Adds what each repetition of a random step does to the value, where the interval holds its variance too.
    pub(crate) fn with_between(mut self, between: Option<Vec<f64>>) -> Self {
        self.between = between.filter(|_| self.effects.is_some()).map(Into::into);
        self
    }

    /// Finite data do not prove that no unit varies. Where none does, the interval reaches to the largest departure that this many units
    /// would miss with the probability 1 − level: n units miss a kind of units that makes up a share δ with the probability (1 − δ)ⁿ, and
    /// such units can move a mean by δ of its distance to either end of its range. At an end that is one-sided. Where the range is open,
    /// nothing is known of what was missed, and there is no interval.
    pub(crate) fn widen_where_nothing_varies(&mut self, level: f64) {
        let (Some(value), Some([low, high])) = (self.value, self.interval) else {
            return;
        };
        let [least, most] = self.bounds();
        let is_bounded = least.is_finite() && most.is_finite();
        // But for rounding.
        let scale = if is_bounded { most - least } else { 1e-3 * value.abs() };
        let is_same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * scale;
        if !is_same(low, high) {
            return;
        }
        // Where queries and targets both vary, the value is a mean over queries.
        let units = self
            .effects
            .as_ref()
            .map_or(self.n, |effects| effects.len().min(self.n))
            .max(1);
        if !is_bounded {
            let unit = self.unit.as_deref().unwrap_or("rows");
            let note = format!("no interval: none of {units} {unit} changes the value");
            self.interval = None;
            self.note = Some(self.note.take().map_or(note.clone(), |own| format!("{own}; {note}")));
            return;
        }
        let share = unseen_share(units, level);
        let end = |end: f64| {
            if is_same(value, end) {
                value
            } else {
                value + share * (end - value)
            }
        };
        self.interval = Some([end(least), end(most)]);
        let is_at_end = is_same(value, least) || is_same(value, most);
        let how = if is_at_end {
            "one-sided at the bound"
        } else {
            "by what so many units may miss"
        };
        self.method = self.method.take().map(|method| format!("{method}, {how}"));
    }

    /// Adds the chance level.
    pub fn with_chance(mut self, chance: f64) -> Self {
        self.chance = Some(chance).filter(|c| c.is_finite());
        self
    }

    /// Adds a note, behind those that are there.
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        let note = note.into();
        self.note = Some(self.note.map_or(note.clone(), |known| format!("{known}; {note}")));
        self
    }
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

fn one_each() -> [usize; 2] {
    [1, 1]
}

/// A line of points that belongs to a model: an eigenvalue spectrum, say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// The model it speaks of.
    pub model: String,
    /// What it shows: `spectrum`.
    pub metric: MetricId,
    /// What the x values are.
    pub x_label: String,
    /// What the y values are.
    pub y_label: String,
    /// Positions.
    pub x: Vec<f64>,
    /// Heights.
    pub y: Vec<f64>,
}

/// Per-sample numbers, column by column (all of one length); `None` where a sample has no value.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleTable {
    /// The model it speaks of.
    pub model: String,
    /// What it belongs to: `smoothness`.
    pub metric: MetricId,
    /// Column names and values.
    pub columns: Vec<(String, Vec<Option<f64>>)>,
}

/// A score broken down by label, or by pairs of labels: columns of names, then of numbers, all of one length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// The model it speaks of.
    pub model: String,
    /// What is broken down: `label_precision.text2sensor@10`.
    pub metric: MetricId,
    /// What each line speaks of.
    pub keys: Vec<NameColumn>,
    /// The numbers; `None` where there is none.
    pub columns: Vec<NumberColumn>,
}

impl SampleTable {
    /// A table of a metric; the model is named later.
    pub(crate) fn new(metric: &str, columns: Vec<(String, Vec<Option<f64>>)>) -> Self {
        let model = String::new();
        let metric = metric.into();
        SampleTable { model, metric, columns }
    }
}

impl Breakdown {
    /// A table with a line for each of `lines`, whose columns follow; the model is named later.
    pub(crate) fn of<T>(metric: impl Into<MetricId>, lines: &[T]) -> Lines<'_, T> {
        let table = Breakdown {
            model: String::new(),
            metric: metric.into(),
            keys: Vec::new(),
            columns: Vec::new(),
        };
        Lines { lines, table }
    }
}

/// A [`Breakdown`] that gets its columns, each computed line by line.
pub(crate) struct Lines<'a, T> {
    lines: &'a [T],
    pub(crate) table: Breakdown,
}

impl<T> Lines<'_, T> {
    /// With a column of names.
    pub(crate) fn key(mut self, name: &str, of: impl Fn(&T) -> String) -> Self {
        let (name, values) = (name.to_string(), self.lines.iter().map(of).collect());
        self.table.keys.push(NameColumn { name, values });
        self
    }

    /// With a column of numbers; those that are not finite are left out.
    pub(crate) fn column(mut self, name: &str, of: impl Fn(&T) -> Option<f64>) -> Self {
        let finite = |line: &T| of(line).filter(|x| x.is_finite());
        let (name, values) = (name.to_string(), self.lines.iter().map(finite).collect());
        self.table.columns.push(NumberColumn { name, values });
        self
    }
}

/// A column of names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NameColumn {
    /// What it holds: `label`.
    pub name: String,
    /// One per line.
    pub values: Vec<String>,
}

/// A column of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberColumn {
    /// What it holds: `hits`.
    pub name: String,
    /// One per line.
    pub values: Vec<Option<f64>>,
}

/// A class per sample: labels, or episodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassColumn {
    /// What the classes are: `labels`.
    pub name: String,
    /// The names of the classes.
    pub names: Vec<String>,
    /// The class of each sample, as a number into `names`.
    pub codes: Vec<u32>,
}

/// The difference between two models in one metric, on the same samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Which score it is.
    pub metric: MetricId,
    /// One model.
    pub a: String,
    /// The other.
    pub b: String,
    /// The value of `a` less that of `b`.
    pub value: f64,
    /// Lower and upper end of the confidence interval of the difference.
    pub interval: Option<[f64; 2]>,
    /// Confidence level of the interval.
    pub level: f64,
    /// Two-sided p-value of no difference.
    pub p: Option<f64>,
    /// The p-value adjusted for all comparisons of the run.
    pub p_adjusted: Option<f64>,
    /// The direction of the metric.
    pub better: Better,
    /// Whether the difference was taken unit by unit, or from two separate errors.
    pub is_paired: bool,
    /// The unit that was resampled.
    pub unit: Option<String>,
    /// How many units.
    pub units: usize,
    /// How interval and p-value were made.
    pub method: Option<String>,
    /// Why there is no interval, or what a reader must know.
    pub note: Option<String>,
    /// The better model, where the adjusted p-value says that there is one.
    pub winner: Option<String>,
    /// Standard error of the difference.
    #[serde(default)]
    pub standard_error: Option<f64>,
    /// Degrees of freedom of interval and p-value; none where they are normal.
    #[serde(default)]
    pub freedom: Option<f64>,
    /// The difference in standard deviations of the differences of single units (Cohen's d of paired samples).
    #[serde(default)]
    pub effect_size: Option<f64>,
    /// How many training runs each of the two models has: of one run the difference speaks about that run, of several about
    /// the training recipe.
    #[serde(default = "one_each")]
    pub runs: [usize; 2],
    /// Whether the two are the same within a margin, where one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equivalent: Option<Equivalence>,
}

/// Two one-sided tests of the difference against a margin (Schuirmann 1987).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Equivalence {
    /// The margin.
    pub within: f64,
    /// The larger of the p-values of the two tests: that the difference is at least the margin, or at most its negative.
    pub p: f64,
    /// The p-value adjusted for all tests of equivalence of the run.
    pub p_adjusted: f64,
    /// Whether the adjusted p-value says that the two are the same within the margin.
    pub holds: bool,
}

impl Difference {
    /// A difference about whose error nothing is known yet.
    pub fn new(metric: impl Into<MetricId>, [a, b]: [&str; 2], value: f64, better: Better, level: f64) -> Self {
        Difference {
            metric: metric.into(),
            a: a.to_string(),
            b: b.to_string(),
            value,
            interval: None,
            level,
            p: None,
            p_adjusted: None,
            better,
            is_paired: false,
            unit: None,
            units: 0,
            method: None,
            note: None,
            winner: None,
            standard_error: None,
            freedom: None,
            effect_size: None,
            runs: [1, 1],
            equivalent: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_finite_data_has_a_width_where_no_unit_varies() {
        let at = |value: f64, units: usize| {
            let interval = Interval {
                low: value,
                high: value,
                level: 0.95,
                standard_error: Some(0.0),
                unit: "rows",
                method: "influence",
                effects: Some(vec![0.0; units].into()),
            };
            (interval, value)
        };
        let of =
            |id: &str, (interval, value): (Interval, f64)| Score::number(id, value, 9000).with_interval(Some(interval));
        // An open range says nothing about what was missed.
        let open = of("inertia", at(3.0, 10));
        assert!(open.interval.is_none() && open.note.is_some_and(|note| note.contains("none of 10 rows")));
        let at = |value: f64, units: usize| of("trustworthiness@5", at(value, units));
        // 1 − 0.05^(1/10) = 0.25887, 1 − 0.05^(1/1000) = 0.0029912.
        let [low, high] = at(1.0, 10).interval.expect("an interval");
        assert!((low - 0.741_13).abs() < 1e-5 && high == 1.0, "{low} {high}");
        let [low, _] = at(1.0, 1000).interval.expect("an interval");
        assert!((low - 0.997_008_8).abs() < 1e-6, "{low}");
        assert_eq!(at(1.0, 10).method.as_deref(), Some("influence, one-sided at the bound"));
        assert_eq!(at(0.0, 10).interval.expect("an interval")[0], 0.0);
        // Between the ends, 0.25887 of the units may be elsewhere, on either side.
        let [low, high] = at(0.25, 10).interval.expect("an interval");
        assert!(
            (low - 0.185_28).abs() < 1e-5 && (high - 0.444_15).abs() < 1e-5,
            "{low} {high}"
        );
    }
}
