// SPDX-License-Identifier: MIT
//! CL and ID weighted so that they predict how well the models of a pool do. See the page.

use super::clid::Scale;
use super::{Analysis, Metric, Output, Results, Takes, Work};
use crate::data::Performance;
use crate::error::Result;
use crate::score::{Breakdown, Interval, Score};
use crate::spec::Spec;
use crate::stats::interval::{from_standard_error, mean};

const FITTED: Output = Output::higher("weighted_clid", "any number")
    .about("standardized CL and ID, weighted by least squares to fit the performance")
    .column("Weighted_CLID");
const LEFT_OUT: Output = Output::higher("weighted_clid.left_out", "any number")
    .about("performance as predicted by the fit on all other models")
    .column("Weighted_CLID_left_out");

pub(super) static METRIC: Metric = Metric {
    id: "weighted_clid",
    title: "Weighted CLID",
    outputs: &[FITTED, LEFT_OUT],
    page: include_str!("weighted_clid.md"),
    options: super::clid::STEPS,
    ..Metric::of(
        Analysis::Clid,
        &[Takes::Codes, Takes::Performance],
        Work::Performance { compute },
    )
};

/// One more than the fit has coefficients, so that something is left to judge it by, and leaving one out leaves enough.
const FEWEST_MODELS: usize = 4;
/// Below this share of its variance, what one of CL and ID has beyond the other is rounding.
const COLLINEAR: f64 = 1e-12;

/// A model with what the fit reads.
struct Known {
    cl: f64,
    id: f64,
    performance: Option<f64>,
}

fn compute(results: &Results, performance: &Performance, spec: &Spec) -> Result<Results> {
    let models: Vec<(&str, std::result::Result<Known, String>)> = results
        .models()
        .into_iter()
        .map(|model| (model, read(results, model, performance)))
        .collect();
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
            (Err(reason), _) | (_, Err(reason)) => undefined(reason, n),
            (Ok(known), Ok(fit)) => {
                let left_out = match known.performance {
                    Some(_) => Fit::of(&pool_without(Some(model)))
                        .map(|others| predict(&others, known, &performance.name, n, spec)),
                    None => Ok(predict(fit, known, &performance.name, n, spec)),
                };
                let [_, without] = undefined(left_out.as_ref().err().map_or("", |reason| reason), n);
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

fn undefined(reason: &str, n: usize) -> [Score; 2] {
    [&FITTED, &LEFT_OUT].map(|output| Score::undefined(output, reason, n))
}

/// The fit on all models that have everything.
fn whole_fit(pool: &[[f64; 3]], models: usize, what: &str) -> std::result::Result<Fit, String> {
    if pool.len() < FEWEST_MODELS {
        return Err(format!(
            "{} of {models} models have CL, ID and {what}; weights need at least {FEWEST_MODELS}",
            pool.len()
        ));
    }
    if pool.iter().all(|m| m[2] == pool[0][2]) {
        return Err(format!(
            "{what} is {} for all {} models, so there is nothing to fit",
            pool[0][2],
            pool.len()
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
                return Err(format!(
                    "CL is {:.4} and ID {:.4} for all {n} models, so there is nothing to fit by",
                    pool[0][0], pool[0][1]
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
                        "CL and ID have a correlation of {r:.4} over {n} models, so their weights cannot be told apart"
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
