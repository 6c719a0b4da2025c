// SPDX-License-Identifier: MIT
//! What measures of the similarity of two models share: products of their centered rows, their principal axes, lists of their
//! neighbors, distances of some of their rows, and what all of these would be if the rows of one model were shuffled.

pub(crate) mod axes;
pub(crate) mod cross;
pub(crate) mod distances;
pub(crate) mod gram;
pub(crate) mod lists;
pub(crate) mod null;
