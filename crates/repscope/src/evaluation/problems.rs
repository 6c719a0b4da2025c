// SPDX-License-Identifier: MIT
//! Everything that is wrong, gathered so that it can be put right in one go.

use anyhow::{Error, Result, anyhow};

use crate::error::message;

/// Problems, each once.
#[derive(Default)]
pub struct Problems(Vec<Error>);

impl Problems {
    /// Adds a problem.
    pub fn add(&mut self, problem: impl Into<String>) {
        self.keep(anyhow!(problem.into()));
    }

    /// Keeps the value; what went wrong is added.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.keep(error)).ok()
    }

    fn keep(&mut self, problem: Error) {
        let text = message(&problem);
        if !self.0.iter().any(|other| message(other) == text) {
            self.0.push(problem);
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All problems as one error; nothing where there are none.
    pub fn refuse(mut self) -> Result<()> {
        match self.0.len() {
            0 => Ok(()),
            // As it is, so that its kind is known.
            1 => Err(self.0.remove(0)),
            several => {
                let texts: Vec<String> = self.0.iter().map(message).collect();
                let texts = texts.join("\n- ");
                Err(anyhow!("{several} problems; nothing was computed\n- {texts}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_problems_are_one_error_and_none_is_none() {
        assert!(Problems::default().refuse().is_ok());
        let mut problems = Problems::default();
        problems.add("a is missing");
        problems.add("b is missing");
        problems.add("a is missing");
        let text = problems.refuse().unwrap_err().to_string();
        assert_eq!(text, "2 problems; nothing was computed\n- a is missing\n- b is missing");
    }
}
