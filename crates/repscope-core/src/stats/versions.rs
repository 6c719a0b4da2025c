// SPDX-License-Identifier: MIT
//! Shortened and quantized embeddings against the whole ones they were made of.
//!
//! Both have the same rows, so the change of a score is taken row by row, like a difference between models. It is another question than
//! which model is better: no model wins over itself, the changes of a run are a family of their own for Holm's method, and the models
//! are compared with each other within each version alone, as another run would compare them.

use super::compare::{Procedure, compare, holm, roots};
use crate::results::Results;
use crate::run::Driver;
use crate::score::{Better, Difference, Score};
use crate::spec::Spec;

/// Why a score of fewer columns is no worse score.
const BY_COLUMNS: &str = "is measured by the number of columns";

/// Compares the models within each version, and each version of a model with the whole.
pub fn compare_versions(results: &mut Results, spec: &Spec, driver: &Driver) {
    let procedure = Procedure { level: spec.level };
    let mut versions = std::mem::take(&mut results.versions);
    for own in &mut versions {
        compare(&mut own.results, spec, driver);
        own.results.withhold_wins();
        let change = |score: &Score| {
            let mut change = procedure.difference(score, results.score(&score.model, &score.metric)?)?;
            if own.version.columns.is_some() && score.metric.changes_with_columns() {
                change.better = Better::Neither;
                change.say(BY_COLUMNS);
            }
            Some(change)
        };
        own.changes = own.results.scores.iter().filter_map(change).collect();
    }
    results.versions = versions;
    adjust_changes(results);
}

/// Adjusts the p-values of all changes in scores with a direction for being that many. A score that is a function of another shares its
/// test.
pub(crate) fn adjust_changes(results: &mut Results) {
    let mut order = Vec::new();
    let mut shared = Vec::new();
    let mut first = 0;
    for own in &results.versions {
        for (i, (root, change)) in roots(&own.changes).into_iter().zip(&own.changes).enumerate() {
            match root {
                _ if change.better == Better::Neither => {}
                Some(root) => shared.push((first + i, first + root)),
                None => order.extend(change.p.map(|p| (p, first + i))),
            }
        }
        first += own.changes.len();
    }
    let mut changes: Vec<&mut Difference> = results.versions.iter_mut().flat_map(|own| &mut own.changes).collect();
    for own in &mut changes {
        own.p_adjusted = None;
    }
    let count = order.len();
    for (p, i) in holm(order, count) {
        changes[i].p_adjusted = Some(p);
    }
    for (own, root) in shared {
        (changes[own].p, changes[own].p_adjusted) = (changes[root].p, changes[root].p_adjusted);
    }
}
