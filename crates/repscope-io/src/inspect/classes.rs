// SPDX-License-Identifier: MIT
//! Class sizes of an array that holds one value per row.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::array::Array;
use crate::labels::Unnamed;

/// A class and how many rows it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// The class.
    pub name: String,
    /// Its rows.
    pub rows: usize,
}

/// How the rows fall into classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabelFacts {
    /// All classes, the largest first, equal ones by name.
    pub classes: Vec<ClassCount>,
    /// Classes of one row.
    pub singletons: usize,
    /// Rows without a class: `None`, NaN or an empty string.
    pub missing: usize,
    /// The first row without a class.
    pub first_missing: Option<usize>,
}

/// Counts classes; `None` where a value is a fraction, so that these are measurements and not classes.
pub(super) fn count(array: &Array) -> Option<LabelFacts> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut missing, mut first_missing) = (0, None);
    for (row, name) in array.row_names().into_iter().enumerate() {
        match name {
            Ok(name) => *counts.entry(name).or_default() += 1,
            Err(Unnamed::Missing) => {
                missing += 1;
                first_missing.get_or_insert(row);
            }
            Err(Unnamed::Fraction(_)) => return None,
        }
    }
    let mut classes: Vec<ClassCount> = counts
        .into_iter()
        .map(|(name, rows)| ClassCount { name, rows })
        .collect();
    // A stable sort keeps equal classes in the order of their names.
    classes.sort_by_key(|c| std::cmp::Reverse(c.rows));
    Some(LabelFacts {
        singletons: classes.iter().filter(|c| c.rows == 1).count(),
        classes,
        missing,
        first_missing,
    })
}
