// SPDX-License-Identifier: MIT
//! Perturbation impact score: how much accuracy is lost for each part that is perturbed. See the page.

mod advice;
mod families;
mod mcnemar;
mod tables;

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::PerturbedSet;
use crate::perturb::{Judged, Perturbed, Tally};
use crate::score::{Interval, Score};
use crate::stats::interval;
use mcnemar::p_value;

pub(super) static METRIC: Metric = Metric {
    id: "pis",
    title: "Perturbation impact score",
    analysis: Analysis::Perturb,
    outputs: &[
        output(
            "pis.HEAD@SET",
            "accuracy lost, divided by the share that was meant to be perturbed",
            "-100/percent to 100/percent",
        ),
        output(
            "pis.HEAD(f=lit)@SET",
            "the same, divided by the share of lit pixels that was masked",
            "any number",
        ),
        output(
            "pis.HEAD(f=all)@SET",
            "the same, divided by the share of all pixels that was masked",
            "any number",
        ),
        output(
            "pis.HEAD.drop@SET",
            "accuracy without less accuracy with perturbation",
            "-1 to 1",
        ),
        output(
            "pis.HEAD.relative@SET",
            "the same, divided by the accuracy without perturbation",
            "1 and below",
        ),
        output(
            "pis.HEAD.p@SET",
            "McNemar's p-value: could as many samples get worse as get better?",
            "0 to 1",
        ),
        output(
            "pis.HEAD.mean@FAMILY",
            "mean of the scores over all strengths",
            "any number",
        ),
        output(
            "pis.HEAD.aopc@FAMILY",
            "mean over all strengths, 0 included, of the accuracy lost",
            "-1 to 1",
        ),
        output(
            "pis.HEAD.deletion@FAMILY",
            "mean accuracy from strength 0 to the largest",
            "0 to 1",
        ),
    ],
    page: include_str!("pis.md"),
    invariances: &[Invariance::RowOrder],
    takes: &[Takes::Predictions],
    options: &[],
    work: Work::Perturbation { compute },
};

const fn output(id: &'static str, about: &'static str, range: &'static str) -> Output {
    // A larger score means a more sensitive model: neither good nor bad by itself.
    Output::neither(id, range).about(about)
}

/// One head and one set.
struct Impact<'a> {
    judged: &'a Judged<'a>,
    set: &'a PerturbedSet,
    tally: Tally,
    level: f64,
}

fn compute(perturbed: &Perturbed) -> Results {
    let mut answer = Results::default();
    let mut impacts = Vec::new();
    for judged in &perturbed.judged {
        for (set, right) in perturbed.data.sets.iter().zip(&judged.sets) {
            let impact = Impact {
                judged,
                set,
                tally: Tally::of(&judged.baseline, right),
                level: perturbed.spec.level,
            };
            answer.scores.extend(impact.scores(right));
            answer.breakdowns.push(tables::by_class(perturbed, &impact, right));
            impacts.push(impact);
        }
        answer.scores.extend(families::scores(perturbed, judged));
    }
    answer.breakdowns.insert(0, tables::summary(&impacts));
    answer.warnings = advice::warnings(perturbed);
    answer
}

impl Impact<'_> {
    fn scores(&self, right: &[bool]) -> Vec<Score> {
        let drop = self.tally.drop();
        let interval = self.tally.interval(self.level);
        let number = |part: &str, value: f64, interval: Option<Interval>| {
            Score::number(self.id(part), value, self.tally.n).with_interval(interval)
        };
        let nominal = self.set.percent / 100.0;
        let with_effects = interval
            .clone()
            .map(|interval| interval.with_effects(self.effects(right)));
        let mut scores = vec![number("", drop / nominal, with_effects.map(|i| i.times(1.0 / nominal)))];
        for (part, share) in [("(f=lit)", self.set.masked_lit), ("(f=all)", self.set.masked_all)] {
            scores.push(match share {
                Some(share) if share > 0.0 => {
                    number(part, drop / share, interval.clone().map(|i| i.times(1.0 / share)))
                }
                Some(_) => self.undefined(part, "no pixel was masked"),
                None => self.undefined(part, "the share of pixels that was masked is not known"),
            });
        }
        scores.push(number(".drop", drop, interval));
        scores.push(match self.relative() {
            Some((value, interval)) => number(".relative", value, interval),
            None => self.undefined(
                ".relative",
                "no sample is right without perturbation, so nothing can be lost",
            ),
        });
        let p = number(".p", p_value(self.tally.lost, self.tally.gained), None);
        scores.push(match p.value {
            Some(0.0) => p.with_note("below 1e-300"),
            _ => p,
        });
        scores
    }

    /// `pis.modulation.drop@top1`.
    fn id(&self, part: &str) -> String {
        format!("pis.{}{part}@{}", self.judged.name, self.set.name)
    }

    fn undefined(&self, part: &str, reason: &str) -> Score {
        Score::undefined(self.id(part), reason, self.tally.n)
    }

    /// What each sample does to the difference of the accuracies.
    fn effects(&self, right: &[bool]) -> Vec<f64> {
        let (n, drop) = (self.tally.n as f64, self.tally.drop());
        let number = |is_right: bool| f64::from(u8::from(is_right));
        let pairs = self.judged.baseline.iter().zip(right);
        pairs
            .map(|(&before, &after)| (number(before) - number(after) - drop) / n)
            .collect()
    }

    /// The share of the accuracy that is lost. The interval is that of a ratio of means (delta method), with one more
    /// sample lost and one more gained, as in that of the difference.
    fn relative(&self) -> Option<(f64, Option<Interval>)> {
        let Tally { n, both, lost, gained } = self.tally;
        let ratio = |extra: f64| {
            let (lost, gained) = (lost as f64 + extra, gained as f64 + extra);
            let before = both as f64 + lost;
            let value = (lost - gained) / before;
            let squares = both as f64 * value.powi(2) + lost * (1.0 - value).powi(2) + gained;
            (value, squares.sqrt() / before)
        };
        if both + lost == 0 {
            return None;
        }
        let (value, error) = ratio(0.0);
        let (center, wider) = ratio(1.0);
        let reach = interval::normal_quantile(0.5 + self.level / 2.0) * wider;
        let interval = (n > 0).then(|| Interval {
            low: center - reach,
            high: (center + reach).min(1.0),
            level: self.level,
            standard_error: Some(error),
            unit: "samples",
            method: "delta",
            effects: None,
        });
        Some((value, interval))
    }
}
