// SPDX-License-Identifier: MIT
//! What per-row values are resampled over.

/// The units that per-row values are resampled over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Units<'a> {
    /// Each value by itself; the name says what a value belongs to ("rows", "pairs", "query rows").
    Single(&'static str),
    /// Values with the same code belong together.
    Groups(&'a [u32], &'static str),
}

impl Units<'_> {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Units::Single(name) | Units::Groups(_, name) => name,
        }
    }

    /// The number of the unit of a row.
    pub(crate) fn of(&self, row: u32) -> u32 {
        match self {
            Units::Single(_) => row,
            Units::Groups(codes, _) => codes[row as usize],
        }
    }

    /// Sum and count of the values of each unit.
    pub(crate) fn sums(&self, values: &[f64]) -> Vec<(f64, f64)> {
        match self {
            Units::Single(_) => values.iter().map(|&v| (v, 1.0)).collect(),
            Units::Groups(codes, _) => {
                let groups = codes.iter().max().map_or(0, |&m| m as usize + 1);
                let mut sums = vec![(0.0, 0.0); groups];
                for (&v, &c) in values.iter().zip(*codes) {
                    sums[c as usize].0 += v;
                    sums[c as usize].1 += 1.0;
                }
                sums.retain(|s| s.1 > 0.0);
                sums
            }
        }
    }
}
