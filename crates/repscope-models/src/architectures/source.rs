// SPDX-License-Identifier: MIT
//! Where weights come from.

use std::collections::BTreeMap;

use crate::error::{Result, bail};

/// Named weights with shapes, whose values are read on demand.
pub trait WeightSource {
    /// All names.
    fn names(&self) -> Vec<String>;
    /// The sizes of a weight; none where there is no such weight.
    fn shape(&self, name: &str) -> Option<Vec<usize>>;
    /// The values in C order.
    fn values(&self, name: &str) -> Result<Vec<f32>>;
}

impl WeightSource for repscope_io::Weights {
    fn names(&self) -> Vec<String> {
        repscope_io::Weights::names(self).map(str::to_string).collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        repscope_io::Weights::shape(self, name).ok().map(<[usize]>::to_vec)
    }

    fn values(&self, name: &str) -> Result<Vec<f32>> {
        Ok(repscope_io::Weights::values(self, name)?)
    }
}

/// Weights in memory: shape and values by name.
impl WeightSource for BTreeMap<String, (Vec<usize>, Vec<f32>)> {
    fn names(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.get(name).map(|(shape, _)| shape.clone())
    }

    fn values(&self, name: &str) -> Result<Vec<f32>> {
        match self.get(name) {
            Some((_, values)) => Ok(values.clone()),
            None => bail!("there is no weight `{name}`"),
        }
    }
}

/// How many names a message lists.
const LISTED: usize = 16;

/// The names with shapes, those that begin like `wanted` first.
pub(super) fn listed(weights: &dyn WeightSource, wanted: &str) -> String {
    let common = |name: &str| name.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count();
    let mut names = weights.names();
    names.sort_by_key(|name| std::cmp::Reverse(common(name)));
    let more = names.len().saturating_sub(LISTED);
    let mut list: Vec<String> = names
        .iter()
        .take(LISTED)
        .map(|name| format!("`{name}` {}", shape_text(&weights.shape(name).unwrap_or_default())))
        .collect();
    if more > 0 {
        list.push(format!("{more} more"));
    }
    list.join(", ")
}

/// `64×3×7×7`.
pub(super) fn shape_text(shape: &[usize]) -> String {
    match shape {
        [] => "(one number)".to_string(),
        _ => shape.iter().map(usize::to_string).collect::<Vec<String>>().join("×"),
    }
}
