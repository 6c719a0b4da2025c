// SPDX-License-Identifier: MIT
//! Confidence intervals.
//!
//! Means of per-unit values get Student's t over the units (rows; episodes where they are known, because
//! rows of one episode are not independent). Statistics that are not means get a jackknife. Neighbor
//! graphs are never resampled with replacement: a row drawn twice would be its own nearest neighbor.

mod effects;
mod moments;
mod paired;
mod quantiles;
mod scales;
mod sequence;
mod shares;
mod student;
mod units;
mod variances;

pub(crate) use effects::{freedom, from_effects, from_rows, from_standard_error, heavy_tails, jackknife, of_influence};
pub(crate) use moments::{mean, of_mean, of_spread};
pub(crate) use paired::Changes;
pub(crate) use quantiles::of_quantile;
pub(crate) use scales::{fisher_z, of_correlation};
pub(crate) use sequence::of_sequence;
use shares::wilson;
pub(crate) use shares::{of_accuracy, of_paired_shares, of_share_over, of_share_with, unseen_share};
pub(crate) use student::{normal_quantile, normal_two_sided, t_quantile, t_two_sided};
pub(crate) use units::Units;
pub(crate) use variances::{Part, add_variances, howe, welch};
