// SPDX-License-Identifier: MIT
//! Passes: the shared scans over data that metrics are computed from.

pub(crate) mod clusters;
pub(crate) mod coding_rates;
pub(crate) mod contingency;
pub(crate) mod influence;
pub(crate) mod knn_vote;
pub(crate) mod learnability;
pub(crate) mod matched;
pub(crate) mod microkernel;
pub(crate) mod moments;
pub(crate) mod neighbors;
pub(crate) mod pair_sums;
pub(crate) mod pca_plane;
pub(crate) mod prepared;
pub(crate) mod rankings;
pub(crate) mod ranks;
pub(crate) mod scatter;
pub(crate) mod shuffled;
pub(crate) mod similarity;
pub(crate) mod singular;
pub(crate) mod spectrum;
pub(crate) mod tiles;
pub(crate) mod tsne;
pub(crate) mod unit_matrix;
pub(crate) mod unit_rows;
pub(crate) mod views;
