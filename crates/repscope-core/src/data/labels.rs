// SPDX-License-Identifier: MIT
//! Labels: one class name per row, kept as small numbers.

use std::collections::BTreeMap;

/// A class per row. Codes count the distinct names from 0 in a fixed order: numeric where every name
/// is an integer, else alphabetical.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    names: Vec<String>,
    codes: Vec<u32>,
}

impl Labels {
    /// Labels from one name per row.
    pub fn new<S: AsRef<str>>(rows: &[S]) -> Self {
        let mut names: Vec<String> = {
            let distinct: std::collections::BTreeSet<&str> = rows.iter().map(AsRef::as_ref).collect();
            distinct.into_iter().map(str::to_string).collect()
        };
        if names.iter().all(|n| n.parse::<i64>().is_ok()) {
            names.sort_by_key(|n| n.parse::<i64>().unwrap_or_default());
        }
        let code: BTreeMap<&str, u32> = names.iter().enumerate().map(|(c, n)| (n.as_str(), c as u32)).collect();
        let codes = rows.iter().map(|r| code[r.as_ref()]).collect();
        Labels { names, codes }
    }

    /// Labels from cluster numbers `0..classes`; a class may be empty.
    pub fn from_codes(codes: Vec<u32>, classes: usize) -> Self {
        Labels {
            names: (0..classes).map(|c| c.to_string()).collect(),
            codes,
        }
    }

    /// The distinct names, by code.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The code of each row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.codes.len()
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.names.len()
    }

    /// How many rows each class has, by code.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for &c in &self.codes {
            counts[c as usize] += 1;
        }
        counts
    }

    /// The labels of the rows named by `order`, in that order.
    pub fn select(&self, order: &[usize]) -> Self {
        let rows: Vec<&str> = order
            .iter()
            .map(|&i| self.names[self.codes[i] as usize].as_str())
            .collect();
        Labels::new(&rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_ordered_as_numbers() {
        let labels = Labels::new(&["10", "-2", "9", "10"]);
        assert_eq!(labels.names(), ["-2", "9", "10"]);
        assert_eq!(labels.codes(), [2, 0, 1, 2]);
        assert_eq!(labels.counts(), [1, 1, 2]);
    }

    #[test]
    fn other_names_are_ordered_alphabetically() {
        assert_eq!(Labels::new(&["b", "10", "a"]).names(), ["10", "a", "b"]);
    }
}
