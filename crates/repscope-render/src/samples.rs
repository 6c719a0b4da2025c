// SPDX-License-Identifier: MIT
//! What the results hold beside scores: the models, their samples column by column, and what a reader must know of t-SNE maps.

use crate::numbers::number;
use crate::scores::distinct;
use repscope_core::{Curve, Results, SampleTable, Score, TSNE_STEPS, tsne_perplexity};

/// The models of the results, in the order that gives them their colors.
pub(crate) fn models(results: &Results) -> Vec<&str> {
    // Pairs of models are none beside single ones.
    let is_single = |score: &&Score| score.other.is_none();
    let has_single = results.scores.iter().any(|score| is_single(&score));
    let scored = results.scores.iter().filter(|score| is_single(score) || !has_single);
    let scored = scored.map(|score| score.model.as_str());
    let drawn = results.curves.iter().map(|curve| curve.model.as_str());
    let sampled = results.samples.iter().map(|table| table.model.as_str());
    distinct(scored.chain(drawn).chain(sampled))
}

pub(crate) fn curve<'a>(results: &'a Results, model: &str, metric: &str) -> Option<&'a Curve> {
    let mut curves = results.curves.iter();
    curves.find(|curve| curve.model == model && curve.metric == metric)
}

/// The eigenvalues of a model, largest first.
pub(crate) fn spectrum(results: &Results, model: &str) -> Vec<f64> {
    let values = curve(results, model, "spectrum").map_or(&[][..], |curve| &curve.y);
    let mut values: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// The samples of a model in one analysis.
pub(crate) fn table<'a>(results: &'a Results, model: &str, metric: &str) -> Option<&'a SampleTable> {
    let mut tables = results.samples.iter();
    tables.find(|table| table.model == model && table.metric == metric)
}

pub(crate) fn column<'a>(table: &'a SampleTable, name: &str) -> Option<&'a [Option<f64>]> {
    let (_, values) = table.columns.iter().find(|(own, _)| own == name)?;
    Some(values)
}

/// Values brought to the rows of their samples; `rows` says these where not all were asked.
pub(crate) fn at_rows(values: &[Option<f64>], rows: &[Option<f64>], count: usize) -> Vec<Option<f64>> {
    let mut placed = vec![None; count];
    for (row, value) in rows.iter().zip(values) {
        let row = row.filter(|row| *row >= 0.0);
        if let Some(place) = row.and_then(|row| placed.get_mut(row as usize)) {
            *place = *value;
        }
    }
    placed
}

/// The two maps of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MapKind {
    Principal,
    Tsne,
}

impl MapKind {
    /// The place of a sample, where it has one.
    pub(crate) fn place(self, map: &SampleTable, row: usize) -> Option<[f64; 2]> {
        let names = match self {
            MapKind::Principal => ["x", "y"],
            MapKind::Tsne => ["tsne_x", "tsne_y"],
        };
        let [x, y] = names.map(|name| *column(map, name)?.get(row)?);
        Some([x?, y?]).filter(|point| point.iter().all(|x| x.is_finite()))
    }

    /// What an axis shows: `shares` are those of the variance along the principal components.
    pub(crate) fn axis(self, shares: &[f64], i: usize) -> String {
        match shares.get(i).filter(|share| share.is_finite()) {
            _ if self == MapKind::Tsne => format!("t-SNE {}", i + 1),
            Some(share) => format!("PC {} ({:.0} % of variance)", i + 1, share * 100.0),
            None => format!("PC {}", i + 1),
        }
    }
}

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
