// SPDX-License-Identifier: MIT
//! Shorter and quantized embeddings of the studies of a run, and what an analysis finds in them.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use repscope_core::{Finding, Precision, Recipe, Results, Space, Study, Trouble, Version, Versioned, examine};

use crate::options::Machine;
use crate::search::list;

/// One version of the embeddings of a run.
pub struct VersionStudies {
    pub version: Version,
    /// One row per sample.
    pub studies: Vec<Study>,
    /// States above next states, where those are given.
    pub steps: Option<Vec<Study>>,
    /// How many columns the whole embeddings of each model have, as results name them.
    columns: BTreeMap<String, usize>,
    /// Models that have collapsed in this version.
    findings: Vec<Finding>,
}

/// Makes the versions of all studies that have them.
pub fn of_studies(
    versions: Vec<Version>,
    studies: &[Study],
    steps: Option<&[Study]>,
    recipes: &[Recipe],
    machine: &Machine,
) -> Result<Vec<VersionStudies>> {
    for version in &versions {
        refuse_too_long(version, studies)?;
    }
    refuse_too_large(&versions, studies, machine)?;
    versions
        .into_iter()
        .map(|version| of_version(version, studies, steps, recipes))
        .collect()
}

fn of_version(
    version: Version,
    studies: &[Study],
    steps: Option<&[Study]>,
    recipes: &[Recipe],
) -> Result<VersionStudies> {
    // The runs of a recipe are pooled, so all of them have the version or none.
    let recipe_of = |study: &Study| recipes.iter().find(|recipe| recipe.runs.contains(&study.model));
    let has_it = |study: &Study| version.exists_of(study.embeddings.columns());
    let is_measured = |study: &&Study| match recipe_of(study) {
        None => has_it(study),
        Some(recipe) => studies
            .iter()
            .filter(|own| recipe.runs.contains(&own.model))
            .all(has_it),
    };
    let of = |all: &[Study]| -> Result<Vec<Study>> {
        let own = all.iter().filter(is_measured);
        Ok(own.map(|study| version.of_study(study)).collect::<Result<_, _>>()?)
    };
    let name = |study: &Study| recipe_of(study).map_or(study.model.clone(), |recipe| recipe.name.clone());
    let made = of(studies)?;
    let mut findings = examine(&made)?;
    // A few bits have few values by nature: only rows that are all the same are a collapse.
    let says_something = |model: &str| {
        let own = made.iter().find(|study| study.model == model);
        version.precision != Precision::Binary || own.is_some_and(|study| is_constant(&study.embeddings))
    };
    findings.retain(|finding| {
        finding.trouble == Trouble::Collapsed && finding.model.as_deref().is_some_and(says_something)
    });
    Recipe::rename(recipes, &mut findings);
    Ok(VersionStudies {
        version,
        columns: studies
            .iter()
            .filter(is_measured)
            .map(|study| (name(study), study.embeddings.columns()))
            .collect(),
        steps: steps.map(of).transpose()?,
        studies: made,
        findings,
    })
}

impl VersionStudies {
    /// What an analysis found in it. Curves, tables and numbers of single samples are those of the whole embeddings alone.
    pub fn results(&self, found: Results) -> Versioned {
        Versioned {
            version: self.version,
            columns: self.columns.clone(),
            results: Results {
                findings: self.findings.clone(),
                ..found.scores.into()
            },
            changes: Vec::new(),
        }
    }
}

/// What the user should know: versions in which a model has collapsed.
pub fn warnings(versions: &[VersionStudies]) -> Vec<String> {
    let of = |own: &VersionStudies| -> Vec<String> {
        own.findings
            .iter()
            .map(|finding| {
                let model = finding.model.as_deref().unwrap_or_default();
                format!("{model} {}: {}", own.version, finding.text)
            })
            .collect()
    };
    versions.iter().flat_map(of).collect()
}

fn is_constant(space: &Space) -> bool {
    let row = |i: usize| {
        let mut row = vec![0.0; space.columns()];
        space.read_row(i, &mut row);
        row
    };
    let first = row(0);
    (1..space.rows()).all(|i| row(i) == first)
}

/// A prefix that no model has says nothing.
fn refuse_too_long(version: &Version, studies: &[Study]) -> Result<()> {
    let columns = |study: &Study| study.embeddings.columns();
    let Some(kept) = version.columns else { return Ok(()) };
    if studies.iter().any(|study| version.exists_of(columns(study))) {
        return Ok(());
    }
    let each: Vec<String> = studies
        .iter()
        .map(|study| format!("{} {}", study.model, columns(study)))
        .collect();
    bail!(
        "`prefix` = {kept} is not shorter than any embedding; their columns are {}",
        list(each.iter().map(String::as_str))
    );
}

/// Versions are kept in memory beside the embeddings.
fn refuse_too_large(versions: &[Version], studies: &[Study], machine: &Machine) -> Result<()> {
    let Some(budget) = machine.memory_bytes()? else {
        return Ok(());
    };
    let numbers = |study: &Study, version: &Version| {
        let columns = version.columns.unwrap_or(study.embeddings.columns());
        (study.embeddings.rows() * columns) as u64
    };
    let all = versions.iter().flat_map(|version| {
        let own = studies.iter();
        own.filter(|study| version.exists_of(study.embeddings.columns()))
            .map(move |study| 8 * numbers(study, version))
    });
    let needed: u64 = all.sum();
    if needed > budget {
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        bail!(
            "shorter and quantized embeddings need {} MiB, more than the {} MiB of `memory`; ask for fewer of them, or allow more",
            mebibytes(needed),
            mebibytes(budget)
        );
    }
    Ok(())
}
