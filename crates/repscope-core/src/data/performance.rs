// SPDX-License-Identifier: MIT
//! How well models do at something that their embeddings are meant for: the accuracy of a linear probe, say.

use crate::error::{Error, Result};

/// A number per model, larger for a better model.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// What was measured: `accuracy`.
    pub name: String,
    /// Models and their numbers.
    pub of_model: Vec<(String, f64)>,
}

impl Performance {
    /// The number of a model.
    pub fn of(&self, model: &str) -> Option<f64> {
        self.of_model.iter().find(|(name, _)| name == model).map(|m| m.1)
    }

    /// Checks that all numbers are finite and no model is named twice.
    pub fn check(&self) -> Result<()> {
        for (i, (model, value)) in self.of_model.iter().enumerate() {
            if !value.is_finite() {
                return Err(Error::Input(format!(
                    "the {} of model `{model}` is {value}; give a finite number, or leave the model out",
                    self.name
                )));
            }
            if self.of_model[..i].iter().any(|(other, _)| other == model) {
                return Err(Error::Input(format!(
                    "model `{model}` has two values of {}; give one per model",
                    self.name
                )));
            }
        }
        Ok(())
    }
}
