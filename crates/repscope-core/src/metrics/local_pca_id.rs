// SPDX-License-Identifier: MIT
//! Intrinsic dimension by local principal components. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::kernels::local_pca::LocalDimensions;
use crate::plan::{Key, Need, Shared};
use crate::score::Score;
use crate::spec::Spec;
use crate::stats::interval;

const FUKUNAGA_OLSEN: Output = Output::neither("local_pca_id", "1 to D")
    .about("principal components of a neighborhood with more than 5 % of the variance of the first");
const FAN: Output = Output::neither("local_pca_id(version=fan)", "1 to D")
    .about("principal components of a neighborhood up to the first large gap, or to 80 % of the signal");
const PARTICIPATION: Output =
    Output::neither("local_pca_id(version=participation)", "1 to D").about("participation ratio of a neighborhood");

pub(super) static METRIC: Metric = Metric {
    id: "local_pca_id",
    title: "Local PCA dimension",
    outputs: &[FUKUNAGA_OLSEN, FAN, PARTICIPATION],
    page: include_str!("local_pca_id.md"),
    invariances: Invariance::SIMILARITY,
    options: &["local-k", "sample"],
    ..Metric::of(Analysis::Manifold, &[Takes::Embeddings], Work::Study { needs, compute })
};

/// Whether so many rows have neighborhoods of the size that is asked for.
fn is_enough(spec: &Spec, rows: usize) -> bool {
    spec.dimension.local_k < rows
}

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    let k = spec.dimension.local_k;
    let needs = [Need::Neighbors { of: Key::RAW, k }, Need::LocalAxes];
    Ok(if is_enough(spec, study.embeddings.rows()) {
        needs.to_vec()
    } else {
        Vec::new()
    })
}

fn compute(shared: &Shared) -> Result<Results> {
    let (k, rows) = (shared.spec.dimension.local_k, shared.study.embeddings.rows());
    if !is_enough(shared.spec, rows) {
        let needed = k + 1;
        let reason = format!("neighborhoods of {k} rows need at least {needed} rows, and there are {rows}");
        return Ok(METRIC.undefined(reason, rows));
    }
    let axes = shared.local_axes()?;
    let (asked, found): (usize, Vec<&LocalDimensions>) = (axes.found.len(), axes.found.iter().flatten().collect());
    if found.is_empty() {
        return Ok(METRIC.undefined("all neighbors of every row are the same point", asked));
    }
    let score = |output: &Output, of: fn(&LocalDimensions) -> f64| {
        let values: Vec<f64> = found.iter().map(|own| of(own)).collect();
        let mut score = Score::number(output, interval::mean(&values), values.len());
        if asked < axes.queries {
            score = score.with_note(format!("neighborhoods of {asked} random rows"));
        }
        if values.len() < asked {
            let dropped = asked - values.len();
            score = score.with_note(format!(
                "{dropped} of {asked} rows dropped: all their neighbors are the same point"
            ));
        }
        score
    };
    Ok(Results::from(vec![
        score(&FUKUNAGA_OLSEN, |own| own.fukunaga_olsen),
        score(&FAN, |own| own.fan),
        score(&PARTICIPATION, |own| own.participation),
    ]))
}
