// SPDX-License-Identifier: MIT
//! How sure a number is: confidence intervals, rank correlation, and models against each other.

pub(crate) mod compare;
pub(crate) mod equivalence;
pub(crate) mod interval;
pub(crate) mod rank_correlation;
pub(crate) mod replicates;
pub(crate) mod versions;

pub use compare::{adjust, compare, keep_best};
pub use equivalence::{Margin, test_equivalence};
pub use replicates::{Recipe, pool};
pub(crate) use versions::adjust_changes;
pub use versions::compare_versions;
