// SPDX-License-Identifier: MIT
//! The input doctor's facts: what is odd about an array, whether or not it is fit for a metric.

mod numbers;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::array::{Array, Data};
use crate::error::Result;
use crate::labels::Unnamed;
use crate::path::InputPath;
use crate::read::{read_array, read_each};

pub use numbers::NumberFacts;

/// What was found in one array.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// The path as given, with its `#key`.
    pub path: String,
    /// The shape of the array.
    pub shape: Vec<usize>,
    /// Short name of the stored type.
    pub dtype: String,
    /// Samples: the first dimension.
    pub rows: usize,
    /// Values per sample: the other dimensions, flattened.
    pub columns: usize,
    /// Facts about numbers, where the array holds some.
    pub numbers: Option<NumberFacts>,
    /// Facts about classes, where each row has one value that can name a class.
    pub labels: Option<LabelFacts>,
}

/// Reads the array that a path names and looks at it.
pub fn inspect(input: &InputPath) -> Result<Inspection> {
    Ok(inspect_array(&input.to_string(), read_array(input)?))
}

/// Reads all arrays of a file and looks at each.
pub fn inspect_all(path: &Path) -> Result<Vec<Inspection>> {
    let mut all = Vec::new();
    read_each(path, |input, array| all.push(inspect_array(&input.to_string(), array)))?;
    Ok(all)
}

/// Looks at an array that has been read already.
pub fn inspect_array(path: &str, array: Array) -> Inspection {
    let shape = array.shape().to_vec();
    let is_empty = shape.contains(&0);
    // A size beside a 0 may be anything, so its product could overflow.
    let columns = if is_empty { 0 } else { shape[1..].iter().product() };
    let one_per_row = columns == 1 && !is_empty;
    let labels = if one_per_row { count(&array) } else { None };
    let (rows, dtype) = (shape[0], array.dtype().to_string());
    let has_numbers = !is_empty && !matches!(array.data(), Data::Text(_));
    let values = if has_numbers {
        array.into_values(path).ok()
    } else {
        None
    };
    Inspection {
        path: path.to_string(),
        numbers: values.map(|v| numbers::look(&v, rows, columns)),
        shape,
        dtype,
        rows,
        columns,
        labels,
    }
}

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
fn count(array: &Array) -> Option<LabelFacts> {
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
