// SPDX-License-Identifier: MIT
//! What a classifier says about samples, as they are and perturbed.

use super::Labels;
use crate::error::{Error, Result, refuse_if};

/// The predictions of one model for the same samples, without and with perturbation.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbation {
    /// What the model predicts: one head per question.
    pub heads: Vec<Head>,
    /// The same samples perturbed in several ways.
    pub sets: Vec<PerturbedSet>,
    /// The group of each sample, where samples come in groups (a recording, a patient): intervals are then over groups.
    pub groups: Option<Labels>,
}

/// One question that the model answers for every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// Its name: `modulation`. It stands in the identity of the scores.
    pub name: String,
    /// The names of the classes, in the order in which they are shown.
    pub classes: Vec<String>,
    /// The true class of each sample, as a number into `classes`.
    pub labels: Vec<u32>,
    /// What the model says without perturbation.
    pub baseline: Vec<u32>,
}

/// All samples, perturbed in one way.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbedSet {
    /// Its name: `top1`.
    pub name: String,
    /// What it shares with other strengths of the same perturbation: `top`.
    pub family: String,
    /// Its strength: how much of a sample is meant to be perturbed, in percent.
    pub percent: f64,
    /// What the model says, head by head in the order of [`Perturbation::heads`], sample by sample.
    pub predictions: Vec<Vec<u32>>,
    /// The share of lit pixels that really was masked, as a mean over the samples.
    pub masked_lit: Option<f64>,
    /// The share of all pixels that really was masked, as a mean over the samples.
    pub masked_all: Option<f64>,
}

/// The name of what all heads say together, and of the samples as they are.
pub(crate) const COMBINED: &str = "combined";
pub(crate) const BASELINE: &str = "baseline";

impl Perturbation {
    /// The number of samples.
    pub fn samples(&self) -> usize {
        self.heads.first().map_or(0, |head| head.labels.len())
    }

    /// Checks that the parts fit together.
    pub fn check(&self) -> Result<()> {
        let Some(first) = self.heads.first() else {
            return Err(Error::input(
                "no head to score: give labels and predictions of at least one",
            ));
        };
        refuse_if(first.labels.is_empty(), || {
            format!("head `{}` has 0 samples; give at least one", first.name)
        })?;
        let names: Vec<String> = self.heads.iter().map(|head| head.name.clone()).collect();
        Head::check_names(&names)?;
        for head in &self.heads {
            head.check(first)?;
        }
        if let Some(groups) = &self.groups {
            let (given, samples) = (groups.rows(), self.samples());
            refuse_if(given != samples, || {
                format!(
                    "the groups are {given} but there are {samples} samples; give one per sample, in the same order"
                )
            })?;
        }
        for (place, set) in self.sets.iter().enumerate() {
            set.check(&self.heads)?;
            check_apart("sets", &set.name, self.sets[..place].iter().map(|other| &other.name))?;
            let PerturbedSet {
                name, family, percent, ..
            } = set;
            for other in &self.sets[..place] {
                refuse_if(other.family == *family && other.percent == *percent, || {
                    let other = &other.name;
                    format!(
                        "`{other}` and `{name}` both are {percent} % of family `{family}`; give one of them a family of its own"
                    )
                })?;
            }
        }
        Ok(())
    }
}

impl Head {
    /// Refuses names that heads cannot have: they stand in the names of scores and of files.
    pub fn check_names(names: &[String]) -> Result<()> {
        for (place, name) in names.iter().enumerate() {
            check_name("head", name, '_')?;
            let others = names.len() - 1;
            refuse_if(others > 0 && name == COMBINED, || {
                format!(
                    "a head called `{COMBINED}` beside {others} others: that is the name of all heads together; choose another"
                )
            })?;
            check_apart("heads", name, names[..place].iter())?;
        }
        Ok(())
    }

    fn check(&self, first: &Head) -> Result<()> {
        let (name, labels) = (&self.name, self.labels.len());
        refuse_if(labels != first.labels.len(), || {
            let (other, expected) = (&first.name, first.labels.len());
            format!(
                "head `{name}` has {labels} labels but `{other}` has {expected}; give every head a label for the same samples"
            )
        })?;
        check_codes(&format!("the labels of `{name}`"), &self.labels, self)?;
        check_codes(&format!("the baseline predictions of `{name}`"), &self.baseline, self)
    }
}

impl PerturbedSet {
    fn check(&self, heads: &[Head]) -> Result<()> {
        check_name("set", &self.name, '.')?;
        check_name("family", &self.family, '.')?;
        let PerturbedSet {
            name,
            percent,
            predictions,
            ..
        } = self;
        refuse_if(name == BASELINE, || {
            format!("a perturbed set is called `{BASELINE}`, the name of the samples as they are; choose another")
        })?;
        refuse_if(!(*percent > 0.0 && *percent <= 100.0), || {
            format!("set `{name}` perturbs {percent} %; give a percentage above 0, at most 100")
        })?;
        for share in [self.masked_lit, self.masked_all].into_iter().flatten() {
            refuse_if(!(0.0..=1.0).contains(&share), || {
                format!("set `{name}` has a masked share of {share}; a share is at least 0 and at most 1")
            })?;
        }
        refuse_if(predictions.len() != heads.len(), || {
            let (given, wanted) = (predictions.len(), heads.len());
            format!(
                "set `{name}` has predictions of {given} heads but there are {wanted}; give predictions of every head"
            )
        })?;
        for (head, predictions) in heads.iter().zip(predictions) {
            let what = format!("the predictions of `{}` for set `{name}`", head.name);
            check_codes(&what, predictions, head)?;
        }
        Ok(())
    }
}

/// One class that exists for every sample.
fn check_codes(what: &str, codes: &[u32], head: &Head) -> Result<()> {
    let (given, samples, classes) = (codes.len(), head.labels.len(), head.classes.len());
    refuse_if(given != samples, || {
        format!("{what} are {given} but there are {samples} samples; give one per sample, in the same order")
    })?;
    let unknown = codes.iter().find(|code| **code as usize >= classes);
    refuse_if(unknown.is_some(), || {
        let code = unknown.unwrap_or(&0);
        format!("{what} hold class {code} but there are {classes} classes, numbered from 0; name every class")
    })
}

/// Names stand in identities such as `pis.modulation@top1`.
fn check_name(what: &str, name: &str, also: char) -> Result<()> {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == also;
    refuse_if(name.is_empty() || !name.chars().all(is_plain), || {
        format!(
            "a {what} called `{name}` cannot stand in the name of a score such as pis.modulation@top1; use letters, digits, \
             `_` and `-`"
        )
    })
}

/// Refuses a name that another has.
pub(super) fn check_apart<'a>(what: &str, name: &str, mut others: impl Iterator<Item = &'a String>) -> Result<()> {
    refuse_if(others.any(|other| other == name), || {
        format!("two {what} are called `{name}`; name them apart")
    })
}
