// SPDX-License-Identifier: MIT
//! What a classifier says about samples, as they are and perturbed.

use crate::error::{Error, Result};

/// The predictions of one model for the same samples, without and with perturbation.
#[derive(Debug, Clone, PartialEq)]
pub struct Perturbation {
    /// What the model tells: one head per question.
    pub heads: Vec<Head>,
    /// The same samples perturbed in several ways.
    pub sets: Vec<PerturbedSet>,
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
        if first.labels.is_empty() {
            return Err(Error::Input(format!(
                "head `{}` has 0 samples; give at least one",
                first.name
            )));
        }
        for (place, head) in self.heads.iter().enumerate() {
            check_name("head", &head.name, '_')?;
            if self.heads.len() > 1 && head.name == COMBINED {
                return Err(Error::Input(format!(
                    "a head called `{COMBINED}` beside {} others: that is the name of all heads together; choose another",
                    self.heads.len() - 1
                )));
            }
            if self.heads[..place].iter().any(|other| other.name == head.name) {
                return Err(Error::Input(format!(
                    "two heads are called `{}`; name them apart",
                    head.name
                )));
            }
            head.check(first)?;
        }
        for (place, set) in self.sets.iter().enumerate() {
            set.check(&self.heads)?;
            for other in &self.sets[..place] {
                if other.name == set.name {
                    return Err(Error::Input(format!(
                        "two sets are called `{}`; name them apart",
                        set.name
                    )));
                }
                if other.family == set.family && other.percent == set.percent {
                    return Err(Error::Input(format!(
                        "`{}` and `{}` both are {} % of family `{}`; give one of them a family of its own",
                        other.name, set.name, set.percent, set.family
                    )));
                }
            }
        }
        Ok(())
    }
}

impl Head {
    fn check(&self, first: &Head) -> Result<()> {
        if self.labels.len() != first.labels.len() {
            return Err(Error::Input(format!(
                "head `{}` has {} labels but `{}` has {}; give every head a label for the same samples",
                self.name,
                self.labels.len(),
                first.name,
                first.labels.len()
            )));
        }
        check_codes(&format!("the labels of `{}`", self.name), &self.labels, self)?;
        check_codes(
            &format!("the baseline predictions of `{}`", self.name),
            &self.baseline,
            self,
        )
    }
}

impl PerturbedSet {
    fn check(&self, heads: &[Head]) -> Result<()> {
        check_name("set", &self.name, '.')?;
        check_name("family", &self.family, '.')?;
        if self.name == BASELINE {
            return Err(Error::Input(format!(
                "a perturbed set is called `{BASELINE}`, the name of the samples as they are; choose another"
            )));
        }
        if !(self.percent > 0.0 && self.percent <= 100.0) {
            return Err(Error::Input(format!(
                "set `{}` perturbs {} %; give a percentage above 0, at most 100",
                self.name, self.percent
            )));
        }
        for share in [self.masked_lit, self.masked_all].into_iter().flatten() {
            if !(0.0..=1.0).contains(&share) {
                return Err(Error::Input(format!(
                    "set `{}` has a masked share of {share}; a share is at least 0 and at most 1",
                    self.name
                )));
            }
        }
        if self.predictions.len() != heads.len() {
            return Err(Error::Input(format!(
                "set `{}` has predictions of {} heads but there are {}; give predictions of every head",
                self.name,
                self.predictions.len(),
                heads.len()
            )));
        }
        for (head, predictions) in heads.iter().zip(&self.predictions) {
            check_codes(
                &format!("the predictions of `{}` for set `{}`", head.name, self.name),
                predictions,
                head,
            )?;
        }
        Ok(())
    }
}

/// One class that exists for every sample.
fn check_codes(what: &str, codes: &[u32], head: &Head) -> Result<()> {
    if codes.len() != head.labels.len() {
        return Err(Error::Input(format!(
            "{what} are {} but there are {} samples; give one per sample, in the same order",
            codes.len(),
            head.labels.len()
        )));
    }
    let unknown = |code: &&u32| **code as usize >= head.classes.len();
    match codes.iter().find(unknown) {
        Some(code) => Err(Error::Input(format!(
            "{what} hold class {code} but there are {} classes, numbered from 0; name every class",
            head.classes.len()
        ))),
        None => Ok(()),
    }
}

/// Names stand in identities such as `pis.modulation@top1`.
fn check_name(what: &str, name: &str, also: char) -> Result<()> {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == also;
    if !name.is_empty() && name.chars().all(is_plain) {
        Ok(())
    } else {
        Err(Error::Input(format!(
            "a {what} called `{name}` cannot stand in the name of a score such as pis.modulation@top1; use letters, digits, \
             `_` and `-`"
        )))
    }
}
