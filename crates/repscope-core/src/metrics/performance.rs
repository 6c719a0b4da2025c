// SPDX-License-Identifier: MIT
//! Which score predicts how well models do: rank correlations of every score with the performance. See the page.

use std::collections::BTreeMap;

use super::{Analysis, Metric, Output, Results, Takes, Work, find};
use crate::data::Performance;
use crate::error::Result;
use crate::score::Breakdown;
use crate::spec::Spec;
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
        &[Takes::Codes, Takes::Performance],
        Work::Performance { compute },
    )
};

/// With three models, two of the six orders are perfect.
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
    let enough = columns
        .into_iter()
        .filter(|(_, (values, _))| values.len() >= FEWEST_MODELS);
    let line = |(score, (values, targets)): (&'a str, (Vec<f64>, Vec<f64>))| Line {
        score,
        models: values.len(),
        spearman: spearman(&values, &targets, spec.level),
        kendall: kendall(&values, &targets, spec.level),
        is_independent: !matches!(find(score), Some((m, _)) if matches!(m.work, Work::Performance { .. })),
        spearman_q: None,
    };
    enough.map(line).collect()
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
