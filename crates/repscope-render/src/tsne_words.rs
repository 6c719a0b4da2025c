// SPDX-License-Identifier: MIT
//! What a reader must know of t-SNE maps, in figures and on the page.

use crate::numbers::number;
use repscope_core::{SampleTable, TSNE_STEPS, tsne_perplexity};

/// The columns of the table `map` with the places on the t-SNE map.
pub(crate) const TSNE_COLUMNS: [&str; 2] = ["tsne_x", "tsne_y"];

/// How a map of `placed` of `all` samples was made, and how to read it.
pub(crate) fn about_tsne(placed: usize, all: usize) -> String {
    let of = if placed < all {
        format!("{placed} of {all} samples, chosen at random, the same for every model")
    } else {
        format!("all {all} samples")
    };
    format!(
        "t-SNE of {of}: perplexity {}, {TSNE_STEPS} steps from the plane of the first two principal components, with no \
         random start. Points that are near each other are mostly near in the embeddings too. Distances between groups and sizes \
         of groups are not to be read.",
        number(tsne_perplexity(placed))
    )
}

/// Whether a sample has a place on the t-SNE map of this table.
pub(crate) fn is_placed(map: &SampleTable, row: usize) -> bool {
    let value = |name: &str| {
        let column = map.columns.iter().find(|(own, _)| own == name);
        column.and_then(|(_, values)| *values.get(row)?)
    };
    TSNE_COLUMNS.iter().all(|name| value(name).is_some_and(f64::is_finite))
}
