// SPDX-License-Identifier: MIT
//! How often equal models are told apart, and how often a worse one is found.

use rayon::prelude::*;
use repscope_core::coverage::{Power, Winners};
use repscope_core::run::{Driver, Order};
use repscope_core::{Better, Difference, Metric, Results, compare, evaluate};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::designs::{DESIGNS, Design, World};
use super::intervals::{mean_and_deviation, of_studies, spec};

/// Two models of one draw, compared.
fn compared(design: Design, replicate: usize, metrics: &[&'static Metric], are_equal: bool) -> Results {
    let mut world = World::new(design, replicate);
    let a = world.embed();
    let b = if are_equal { world.embed() } else { world.worsen(&a) };
    let studies = [world.study("a", &a), world.study("b", &b)];
    let (spec, driver) = (spec(), Driver::silent(Order::Serial));
    let mut results = evaluate(&studies, &of_studies(metrics), &spec, &driver).expect("valid studies");
    compare(&mut results, &spec, &driver);
    results
}

/// Runs of two equal models in which any score names a winner, design by design.
pub fn false_winners(metrics: &[&'static Metric], runs: usize) -> Vec<Winners> {
    let of_design = |design: Design| {
        let names = |replicate: usize| {
            let differences = compared(design, replicate, metrics, true).differences;
            differences.iter().any(|difference| difference.winner.is_some())
        };
        let found: Vec<bool> = (0..runs).into_par_iter().with_max_len(1).map(names).collect();
        Winners {
            design: design.name.to_string(),
            runs,
            false_winners: found.into_iter().filter(|is_named| *is_named).count(),
        }
    };
    DESIGNS.into_iter().map(of_design).collect()
}

/// What one run says about one score.
struct Test {
    score: String,
    difference: f64,
    /// p of the comparison, and of Student's t over the effects of the units.
    p: Option<f64>,
    p_of_t: Option<f64>,
}

/// How often the model without additional noise is told apart, score by score, before p-values are adjusted.
pub fn power(metrics: &[&'static Metric], design: Design, runs: usize) -> Vec<Power> {
    let tests = |replicate: usize| -> Vec<Test> {
        let results = compared(design, replicate, metrics, false);
        let is_directed = |d: &&Difference| d.better != Better::Neither && d.p.is_some();
        let test = |d: &Difference| Test {
            score: d.metric.to_string(),
            difference: d.value,
            p: d.p,
            p_of_t: p_of_t(&results, d),
        };
        results.differences.iter().filter(is_directed).map(test).collect()
    };
    let found: Vec<Vec<Test>> = (0..runs).into_par_iter().with_max_len(1).map(tests).collect();
    let mut names: Vec<&str> = Vec::new();
    for test in found.iter().flatten() {
        if !names.contains(&test.score.as_str()) {
            names.push(&test.score);
        }
    }
    let line = |name: &str| {
        let own: Vec<&Test> = found.iter().flatten().filter(|test| test.score == name).collect();
        let differences: Vec<f64> = own.iter().map(|test| test.difference).collect();
        let (_, deviation) = mean_and_deviation(&differences);
        let count = |is_found: &dyn Fn(&Test) -> bool| own.iter().filter(|test| is_found(test)).count();
        Power {
            score: name.to_string(),
            design: design.name.to_string(),
            runs: own.len(),
            found: count(&|test| test.p.is_some_and(|p| p <= 0.05)),
            by_t: count(&|test| test.p_of_t.is_some_and(|p| p <= 0.05)),
            with_true_error: count(&|test| test.difference.abs() > 1.959_964 * deviation),
        }
    };
    names.into_iter().map(line).collect()
}

/// Student's paired t over the effects of the units, computed here: what a comparison should not fall behind.
fn p_of_t(results: &Results, difference: &Difference) -> Option<f64> {
    let effects = |model: &str| results.score(model, &difference.metric)?.effects.as_deref();
    let (x, y) = (effects(&difference.a)?, effects(&difference.b)?);
    let error = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    let t = StudentsT::new(0.0, 1.0, x.len() as f64 - 1.0).ok()?;
    (error > 0.0 && x.len() == y.len()).then(|| 2.0 * t.sf((difference.value / error).abs()))
}
