// SPDX-License-Identifier: MIT
//! Which score predicts how well models do: rank correlations of every score with the performance, and CL and ID weighted so
//! that they predict it.

use std::collections::BTreeMap;

use super::clid::Scale;
use super::{Analysis, Metric, Output, Results, Takes, Work, find};
use crate::data::Performance;
use crate::error::Result;
use crate::score::{Breakdown, Interval, Score};
use crate::spec::Spec;
use crate::stats::interval::{from_standard_error, mean};
use crate::stats::rank_correlation::{Correlation, kendall, spearman};

pub(super) static METRIC: Metric = Metric {
    id: "performance",
    title: "Prediction of performance",
    outputs: &[
        Output::neither("performance.spearman", "-1 to 1")
            .about("Spearman's rho of each score with the performance, in the breakdown"),
        Output::neither("performance.kendall", "-1 to 1")
            .about("Kendall's tau-b of each score with the performance, in the breakdown"),
    ],
    page: include_str!("performance.md"),
    options: super::clid::STEPS,
    ..Metric::of(
        Analysis::Clid,
        &[Takes::Embeddings, Takes::Performance],
        Work::Performance { compute },
    )
};

/// With three models, two of the six orders are perfect, and a fit with three coefficients leaves nothing to judge it by.
const FEWEST_MODELS: usize = 4;

/// A score and how it goes with the performance.
struct Line<'a> {
    score: &'a str,
    models: usize,
    spearman: Option<Correlation>,
    kendall: Option<Correlation>,
    /// Whether the score was made without the performance, so that intervals and p-values mean something.
    is_independent: bool,
    spearman_q: Option<f64>,
}

fn compute(results: &Results, performance: &Performance, spec: &Spec) -> Result<Results> {
    let models = results.models();
    let known = models.iter().filter(|model| performance.of(model).is_some()).count();
    let what = &performance.name;
    let mut lines = lines(results, performance, spec);
    let mut warnings = Vec::new();
    if known < FEWEST_MODELS {
        warnings.push(format!(
            "{known} of {} models have a value of {what}; correlations of scores with it need at least {FEWEST_MODELS}",
            models.len()
        ));
    } else if lines.is_empty() {
        warnings.push(format!(
            "no score has a value for {FEWEST_MODELS} of the {known} models with {what}, so none is correlated with it"
        ));
    } else if lines.iter().all(|line| line.spearman.is_none()) {
        warnings.push(format!(
            "no score has a correlation with {what}: over these {known} models it is constant, or every score is"
        ));
    }
    adjust(&mut lines);
    let strength = |line: &Line| line.spearman.map_or(-1.0, |c| c.value.abs());
    lines.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then_with(|| a.score.cmp(b.score)));
    Ok(Results {
        breakdowns: (!lines.is_empty()).then(|| table(&lines)).into_iter().collect(),
        warnings,
        ..Results::default()
    })
}

/// Every score that enough models have.
fn lines<'a>(results: &'a Results, performance: &Performance, spec: &Spec) -> Vec<Line<'a>> {
    let mut columns: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for score in &results.scores {
        if let Some((value, target)) = score.value.zip(performance.of(&score.model)) {
            let (values, targets) = columns.entry(&score.metric).or_default();
            values.push(value);
            targets.push(target);
        }
    }
    columns.retain(|_, (values, _)| values.len() >= FEWEST_MODELS);
    let line = |(score, (values, targets)): (&'a str, (Vec<f64>, Vec<f64>))| Line {
        score,
        models: values.len(),
        spearman: spearman(&values, &targets, spec.level),
        kendall: kendall(&values, &targets, spec.level),
        is_independent: !matches!(find(score), Some((m, _)) if matches!(m.work, Work::Performance { .. })),
        spearman_q: None,
    };
    columns.into_iter().map(line).collect()
}

/// Benjamini and Hochberg's adjusted p-values: the smallest rate of false discoveries at which a score still counts.
fn adjust(lines: &mut [Line]) {
    let mut tested: Vec<(f64, &mut Line)> = Vec::new();
    for line in lines.iter_mut().filter(|line| line.is_independent) {
        if let Some(correlation) = line.spearman {
            tested.push((correlation.p, line));
        }
    }
    tested.sort_by(|a, b| a.0.total_cmp(&b.0));
    let tests = tested.len() as f64;
    let mut least: f64 = 1.0;
    for (place, (p, line)) in tested.into_iter().enumerate().rev() {
        least = least.min(p * tests / (place as f64 + 1.0));
        line.spearman_q = Some(least);
    }
}

fn table(lines: &[Line]) -> Breakdown {
    let tested = |line: &Line, of: Option<Correlation>| of.filter(|_| line.is_independent);
    Breakdown::of("performance", lines)
        .key("score", |line| line.score.to_string())
        .column("models", |line| Some(line.models as f64))
        .column("spearman", |line| Some(line.spearman?.value))
        .column("spearman_low", |line| Some(tested(line, line.spearman)?.interval?[0]))
        .column("spearman_high", |line| Some(tested(line, line.spearman)?.interval?[1]))
        .column("spearman_p", |line| Some(tested(line, line.spearman)?.p))
        .column("spearman_q", |line| line.spearman_q)
        .column("kendall", |line| Some(line.kendall?.value))
        .column("kendall_low", |line| Some(tested(line, line.kendall)?.interval?[0]))
        .column("kendall_high", |line| Some(tested(line, line.kendall)?.interval?[1]))
        .column("kendall_p", |line| Some(tested(line, line.kendall)?.p))
        .table
}

const FITTED: Output = Output::higher("weighted_clid", "any number")
    .about("standardized CL and ID, weighted by least squares to fit the performance")
    .column("Weighted_CLID");
const LEFT_OUT: Output = Output::higher("weighted_clid.left_out", "any number")
    .about("performance as predicted by the fit on all other models")
    .column("Weighted_CLID_left_out");

pub(super) static WEIGHTED_CLID: Metric = Metric {
    id: "weighted_clid",
    title: "Weighted CLID",
    outputs: &[FITTED, LEFT_OUT],
    page: include_str!("weighted_clid.md"),
    options: super::clid::STEPS,
    ..Metric::of(
        Analysis::Clid,
        &[Takes::Embeddings, Takes::Performance],
        Work::Performance { compute: weighted_clid },
    )
};

/// Below this share of its variance, what one of CL and ID has beyond the other is rounding.
const COLLINEAR: f64 = 1e-12;

/// A model with what the fit reads.
struct Known {
    cl: f64,
    id: f64,
    performance: Option<f64>,
}

fn weighted_clid(results: &Results, performance: &Performance, spec: &Spec) -> Result<Results> {
    let read = |model| (model, read(results, model, performance));
    let models: Vec<(&str, std::result::Result<Known, String>)> = results.models().into_iter().map(read).collect();
    let pool_without = |left_out: Option<&str>| -> Vec<[f64; 3]> {
        let others = models.iter().filter(|(model, _)| Some(*model) != left_out);
        let known = others.filter_map(|(_, known)| known.as_ref().ok());
        known.filter_map(|k| Some([k.cl, k.id, k.performance?])).collect()
    };
    let pool = pool_without(None);
    let n = pool.len();
    let fit = whole_fit(&pool, models.len(), &performance.name);
    let mut scores = Vec::new();
    for (model, known) in &models {
        let pair = match (known, &fit) {
            (Err(reason), _) | (_, Err(reason)) => no_weights(reason, n),
            (Ok(known), Ok(fit)) => {
                let left_out = match known.performance {
                    Some(_) => Fit::of(&pool_without(Some(model)))
                        .map(|others| predict(&others, known, &performance.name, n, spec)),
                    None => Ok(predict(fit, known, &performance.name, n, spec)),
                };
                let [_, without] = no_weights(left_out.as_ref().err().map_or("", |reason| reason), n);
                [combine(fit, known, spec), left_out.unwrap_or(without)]
            }
        };
        scores.extend(pair.into_iter().map(|score| Score {
            model: model.to_string(),
            ..score
        }));
    }
    Ok(Results {
        scores,
        breakdowns: fit.iter().map(|fit| weights(fit, spec)).collect(),
        ..Results::default()
    })
}

/// CL, ID and performance of a model; a reason if CL or ID is missing.
fn read(results: &Results, model: &str, performance: &Performance) -> std::result::Result<Known, String> {
    let part = |metric: &str| match results.score(model, metric) {
        None => Err(format!("there is no {metric} of this model; ask for `clid` too")),
        Some(score) => score.value.ok_or_else(|| {
            let reason = score.reason.as_deref().unwrap_or("it is undefined");
            format!("no {metric}: {reason}")
        }),
    };
    Ok(Known {
        cl: part("clid.cl")?,
        id: part("clid.id")?,
        performance: performance.of(model),
    })
}

fn no_weights(reason: &str, n: usize) -> [Score; 2] {
    [&FITTED, &LEFT_OUT].map(|output| Score::undefined(output, reason, n))
}

/// The fit on all models that have everything.
fn whole_fit(pool: &[[f64; 3]], models: usize, what: &str) -> std::result::Result<Fit, String> {
    let n = pool.len();
    if n < FEWEST_MODELS {
        return Err(format!(
            "{n} of {models} models have CL, ID and {what}; weights need at least {FEWEST_MODELS}"
        ));
    }
    let first = pool[0][2];
    if pool.iter().all(|m| m[2] == first) {
        return Err(format!(
            "{what} is {first} for all {n} models, so there is nothing to fit"
        ));
    }
    Fit::of(pool)
}

/// w_cl·z_cl + w_id·z_id.
fn combine(fit: &Fit, known: &Known, spec: &Spec) -> Score {
    let z = fit.standardized(known);
    let note = match known.performance {
        Some(_) => "fitted on these models: compare by weighted_clid.left_out".to_string(),
        None => format!("weights of {} other models", fit.models),
    };
    Score::number(&FITTED, fit.weighted(z), fit.models)
        .with_interval(fit.interval(fit.weighted(z), fit.spread(z), "least squares", spec.level))
        .with_note(fit.note(note))
}

/// The performance that the fit on other models expects.
fn predict(others: &Fit, known: &Known, what: &str, n: usize, spec: &Spec) -> Score {
    let z = others.standardized(known);
    let value = others.intercept + others.weighted(z);
    let spread = 1.0 + 1.0 / others.models as f64 + others.spread(z);
    Score::number(&LEFT_OUT, value, n)
        .with_interval(others.interval(value, spread, "prediction", spec.level))
        .with_note(others.note(format!("{what} as predicted from {} other models", others.models)))
}

/// Least squares of the performance on the standardized CL and ID, with an intercept.
struct Fit {
    scales: [Scale; 2],
    /// Of CL and of ID.
    weights: [f64; 2],
    intercept: f64,
    /// Of (ZᵀZ)⁻¹: both on the diagonal, and the one beside it. The diagonal is 0 for a part that is constant.
    inverse: ([f64; 2], f64),
    models: usize,
    /// Models minus coefficients.
    freedom: usize,
    /// Of the residuals; none without freedom.
    variance: Option<f64>,
}

impl Fit {
    /// Fits models with CL, ID and performance. A part that all models share gets the weight 0.
    fn of(pool: &[[f64; 3]]) -> std::result::Result<Fit, String> {
        let n = pool.len() as f64;
        let column = |at: usize| pool.iter().map(|m| m[at]).collect::<Vec<f64>>();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / n;
        let scales = [0, 1].map(|at| Scale::of(column(at).into_iter()));
        let z = [0, 1].map(|at| column(at).iter().map(|&v| scales[at].apply(v)).collect::<Vec<f64>>());
        let intercept = mean(&column(2));
        let y: Vec<f64> = column(2).iter().map(|p| p - intercept).collect();
        // The mean square of standardized numbers is 1, or 0 if all are equal.
        let varies = [0, 1].map(|at| product(&z[at], &z[at]) > 0.5);
        let (weights, inverse) = match varies {
            [false, false] => {
                let [cl, id, _] = pool[0];
                return Err(format!(
                    "CL is {cl:.4} and ID {id:.4} for all {n} models, so there is nothing to fit by"
                ));
            }
            [true, false] => ([product(&z[0], &y), 0.0], ([1.0 / n, 0.0], 0.0)),
            [false, true] => ([0.0, product(&z[1], &y)], ([0.0, 1.0 / n], 0.0)),
            [true, true] => {
                let r = product(&z[0], &z[1]);
                // What ID has beyond CL; its mean square is 1 − r².
                let beyond: Vec<f64> = z[1].iter().zip(&z[0]).map(|(id, cl)| id - r * cl).collect();
                let rest = product(&beyond, &beyond);
                if rest <= COLLINEAR {
                    return Err(format!(
                        "CL and ID have a correlation of {r:.4} over {n} models, so their weights cannot be separated"
                    ));
                }
                let of_id = product(&beyond, &y) / rest;
                let diagonal = 1.0 / (n * rest);
                (
                    [product(&z[0], &y) - r * of_id, of_id],
                    ([diagonal, diagonal], -r * diagonal),
                )
            }
        };
        let residuals = (0..pool.len()).map(|i| y[i] - weights[0] * z[0][i] - weights[1] * z[1][i]);
        let squares: f64 = residuals.map(|r| r * r).sum();
        let coefficients = 1 + varies.iter().filter(|v| **v).count();
        let freedom = pool.len().saturating_sub(coefficients);
        Ok(Fit {
            scales,
            weights,
            intercept,
            inverse,
            models: pool.len(),
            freedom,
            variance: (freedom > 0).then(|| squares / freedom as f64),
        })
    }

    fn standardized(&self, known: &Known) -> [f64; 2] {
        [self.scales[0].apply(known.cl), self.scales[1].apply(known.id)]
    }

    fn weighted(&self, z: [f64; 2]) -> f64 {
        self.weights[0] * z[0] + self.weights[1] * z[1]
    }

    /// zᵀ (ZᵀZ)⁻¹ z: the variance of the weighted sum, in units of that of the residuals.
    fn spread(&self, z: [f64; 2]) -> f64 {
        let (diagonal, beside) = self.inverse;
        let form = diagonal[0] * z[0] * z[0] + diagonal[1] * z[1] * z[1] + 2.0 * beside * z[0] * z[1];
        form.max(0.0)
    }

    fn interval(&self, value: f64, spread: f64, method: &'static str, level: f64) -> Option<Interval> {
        let error = (self.variance? * spread).sqrt();
        from_standard_error(value, error, self.freedom as f64, "models", method, level)
    }

    /// The note, with a word on a part that all models share.
    fn note(&self, mut note: String) -> String {
        for (part, diagonal) in ["CL", "ID"].iter().zip(self.inverse.0) {
            if diagonal == 0.0 {
                note += &format!("; {part} is the same for all {} models and has weight 0", self.models);
            }
        }
        note
    }
}

/// The weights and the intercept, with their errors.
fn weights(fit: &Fit, spec: &Spec) -> Breakdown {
    let diagonal = fit.inverse.0;
    let terms = [
        ("cl", fit.weights[0], diagonal[0]),
        ("id", fit.weights[1], diagonal[1]),
        ("intercept", fit.intercept, 1.0 / fit.models as f64),
    ];
    let intervals = terms.map(|(_, weight, spread)| {
        // The weight 0 of a constant part was not estimated.
        let spread = Some(spread).filter(|s| *s > 0.0)?;
        fit.interval(weight, spread, "least squares", spec.level)
    });
    let lines: Vec<_> = terms.into_iter().zip(intervals).collect();
    let of = |interval: &Option<Interval>, part: fn(&Interval) -> Option<f64>| interval.as_ref().and_then(part);
    Breakdown::of("weighted_clid", &lines)
        .key("term", |((term, ..), _)| term.to_string())
        .column("weight", |((_, weight, _), _)| Some(*weight))
        .column("standard_error", |(_, i)| of(i, |i| i.standard_error))
        .column("low", |(_, i)| of(i, |i| Some(i.low)))
        .column("high", |(_, i)| of(i, |i| Some(i.high)))
        .table
}
