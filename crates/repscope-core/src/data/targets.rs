// SPDX-License-Identifier: MIT
//! Continuous values of each row, column by column: what a probe reads out.

use super::Space;
use crate::error::{Result, refuse_if};

/// Named columns of numbers, one line per row.
#[derive(Debug, Clone)]
pub struct Targets {
    names: Vec<String>,
    values: Space,
}

impl Targets {
    /// Columns with a name each. Names are part of identities, so what cannot stand in one becomes a hyphen.
    pub fn new<S: AsRef<str>>(names: &[S], values: Space) -> Result<Self> {
        refuse_if(names.len() != values.columns(), || {
            format!(
                "{} names are given for {} targets; give one per column",
                names.len(),
                values.columns()
            )
        })?;
        let names: Vec<String> = names.iter().map(|name| part_of_identity(name.as_ref())).collect();
        if let Some((_, twice)) =
            (1..names.len()).find_map(|i| names[..i].iter().position(|n| *n == names[i]).zip(Some(i)))
        {
            refuse_if(true, || {
                format!("two targets are called `{}`; give each its own name", names[twice])
            })?;
        }
        Ok(Targets { names, values })
    }

    /// Columns that are numbered from 0.
    pub fn numbered(values: Space) -> Self {
        let names = (0..values.columns()).map(|column| column.to_string()).collect();
        Targets { names, values }
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The numbers.
    pub fn values(&self) -> &Space {
        &self.values
    }

    /// These rows with those of others below them, whose columns have the same names.
    pub fn below(&self, other: &Targets) -> Result<Self> {
        refuse_if(self.names != other.names, || {
            format!(
                "the targets are {} but those of the test rows are {}; give the same columns",
                self.names.join(", "),
                other.names.join(", ")
            )
        })?;
        Ok(Targets {
            names: self.names.clone(),
            values: self.values.below(&other.values)?,
        })
    }
}

/// A name as it may stand in an identity.
pub fn part_of_identity(name: &str) -> String {
    let fit = |c: char| {
        if c.is_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '-'
        }
    };
    let fit: String = name.trim().chars().map(fit).collect();
    if fit.is_empty() { "-".to_string() } else { fit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_for_identities_and_unique() {
        let space = || Space::from_f64("y", 1, 2, vec![1.0, 2.0]).unwrap();
        let targets = Targets::new(&["speed (m/s)", "x"], space()).unwrap();
        assert_eq!(targets.names(), ["speed--m-s-", "x"]);
        let error = Targets::new(&["a b", "a-b"], space()).unwrap_err().to_string();
        assert!(error.contains("two targets are called `a-b`"), "{error}");
        assert!(Targets::new(&["a"], space()).is_err());
        assert_eq!(Targets::numbered(space()).names(), ["0", "1"]);
    }
}
