// SPDX-License-Identifier: MIT
//! Which score predicts how well a model does elsewhere: scores of all models against their performance.

use crate::data::Performance;
use crate::error::Result;
use crate::metrics::{Metric, Work};
use crate::results::Results;
use crate::spec::Spec;

/// So many names stand in a warning about models without scores; a file may list hundreds.
const MOST_NAMES: usize = 5;

/// Adds what the metrics say about the scores in `results` and the performance of the models.
///
/// They are computed one after the other, so a later one sees the scores that an earlier one added.
pub fn relate(results: &mut Results, metrics: &[&Metric], performance: &Performance, spec: &Spec) -> Result<()> {
    spec.check()?;
    performance.check()?;
    let unmatched = unmatched(results, performance);
    results.warnings.extend(unmatched);
    for metric in metrics {
        let Work::Performance { compute } = metric.work else {
            return Err(metric.is_not("a score of models and their performance"));
        };
        let answer = compute(results, performance, spec)?;
        results.absorb(answer);
    }
    Ok(())
}

/// What to say about models without a performance, and about performances without a model.
fn unmatched(results: &Results, performance: &Performance) -> Vec<String> {
    let (models, what) = (results.models(), &performance.name);
    let quoted = |names: &[&str]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let mut warnings = Vec::new();
    let bare: Vec<&str> = models.iter().copied().filter(|m| performance.of(m).is_none()).collect();
    if !bare.is_empty() {
        let (count, all, names) = (bare.len(), models.len(), quoted(&bare));
        warnings.push(format!(
            "{count} of {all} models have no {what} and are left out where scores are compared with it: {names}"
        ));
    }
    let given = performance.of_model.iter().map(|(model, _)| model.as_str());
    let idle: Vec<&str> = given.filter(|model| !models.contains(model)).collect();
    if !idle.is_empty() {
        let (named, more) = idle.split_at(idle.len().min(MOST_NAMES));
        let (count, all, mut names) = (idle.len(), performance.of_model.len(), quoted(named));
        if !more.is_empty() {
            names += &format!(" and {} more", more.len());
        }
        warnings.push(format!(
            "{count} of {all} values of {what} belong to no evaluated model: {names}; names must be spelled alike"
        ));
    }
    warnings
}
