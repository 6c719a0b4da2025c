// SPDX-License-Identifier: MIT
//! `--exclude-labels`: rows of noise classes are left out before anything is ranked.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, bail};
use repscope_core::Retrieval;

use super::PROTOTYPE;
use super::names::{counted, list};
use super::spelling::folded;

/// Leaves out every row that has one of these labels in any set. Aligned spaces share their labels, so they lose the
/// same rows.
pub fn exclude(
    retrieval: &mut Retrieval,
    asked: &[String],
    ignores_case: bool,
    warnings: &mut Vec<String>,
) -> Result<()> {
    if asked.is_empty() {
        return Ok(());
    }
    let known: BTreeSet<String> = retrieval
        .label_sets
        .iter()
        .flat_map(|set| set.of_space.iter().flat_map(|labels| labels.names().iter().cloned()))
        .collect();
    let excluded = find(asked, &known, ignores_case)?;
    let mut losses: Vec<String> = Vec::new();
    for at in 0..retrieval.spaces.len() {
        let space = &retrieval.spaces[at];
        let is_out = |row: usize| {
            retrieval.label_sets.iter().any(|set| {
                let labels = &set.of_space[at];
                excluded.contains(&labels.names()[labels.codes()[row] as usize])
            })
        };
        let keep: Vec<usize> = (0..space.rows()).filter(|&row| !is_out(row)).collect();
        let lost = space.rows() - keep.len();
        if keep.is_empty() {
            bail!(
                "`exclude_labels` leaves none of the {} of `{}`; exclude fewer labels",
                counted(space.rows(), "row"),
                space.name()
            );
        }
        if lost > 0 {
            losses.push(match space.name() {
                PROTOTYPE => counted(lost, "prototype"),
                name => format!("{lost} of {} of `{name}`", counted(space.rows(), "row")),
            });
            retrieval.spaces[at] = Arc::new(space.select(&keep)?);
            for set in &mut retrieval.label_sets {
                set.of_space[at] = Arc::new(set.of_space[at].select(&keep));
            }
        }
    }
    let names: Vec<&str> = excluded.iter().map(String::as_str).collect();
    let (known, losses) = (list(&names), losses.join(", "));
    warnings.push(format!("left out for `exclude_labels` = {known}: {losses}"));
    Ok(())
}

/// The labels that were meant. A name that is no label may be several, separated by commas.
fn find(asked: &[String], known: &BTreeSet<String>, ignores_case: bool) -> Result<BTreeSet<String>> {
    let label = |name: &str| {
        let fits = |k: &&String| *k == name || (ignores_case && folded(k) == folded(name));
        known.iter().find(fits).cloned()
    };
    let mut excluded = BTreeSet::new();
    for text in asked {
        let names: Vec<&str> = match label(text) {
            Some(_) => vec![text.as_str()],
            None => text.split(',').map(str::trim).filter(|n| !n.is_empty()).collect(),
        };
        for name in names {
            match label(name) {
                Some(label) => drop(excluded.insert(label)),
                None => bail!(
                    "`exclude_labels` = {name}: there is no such label; {}",
                    suggestion(name, known)
                ),
            }
        }
    }
    Ok(excluded)
}

fn suggestion(name: &str, known: &BTreeSet<String>) -> String {
    let closeness = |k: &str| strsim::jaro_winkler(&folded(k), &folded(name));
    let best = known.iter().max_by(|a, b| closeness(a).total_cmp(&closeness(b)));
    let guess = match best.filter(|b| closeness(b) > 0.8) {
        Some(best) => format!("did you mean `{best}`? "),
        None => String::new(),
    };
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    format!("{guess}The labels are {}", list(&names))
}
