// SPDX-License-Identifier: MIT
//! NMI: how well k-means clusters of the embeddings agree with the labels. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::{Labels, Study};
use crate::error::Result;
use crate::kernels::contingency::Contingency;
use crate::plan::{Need, Shared};
use crate::score::Score;
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "nmi",
    title: "Normalized mutual information",
    analysis: Analysis::Geometry,
    outputs: &[Output::higher("nmi", "0 to 1")
        .about("agreement of k-means clusters with the labels")
        .column("NMI")],
    page: include_str!("nmi.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
    takes: &[Takes::Codes, Takes::Labels],
    options: &["clusters", "restarts"],
    work: Work::Study { needs, compute },
};

/// Why there is no value, where that is known before clustering.
pub(super) fn missing(spec: &Spec, study: &Study) -> Option<String> {
    let rows = study.embeddings.rows();
    match &study.labels {
        None => Some("needs labels, one for each row".to_string()),
        Some(labels) if labels.classes() < 2 => Some(format!(
            "all rows have the label `{}`; at least two classes are needed",
            labels.names()[0]
        )),
        Some(_) if spec.clusters > rows => Some(too_few_rows(spec, rows)),
        Some(_) => None,
    }
}

/// What to say where there are fewer rows than clusters.
pub(super) fn too_few_rows(spec: &Spec, rows: usize) -> String {
    format!(
        "{} clusters need at least as many rows, not {rows}; use fewer clusters",
        spec.clusters
    )
}

pub(super) fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    Ok(if missing(spec, study).is_none() {
        vec![Need::Clusters]
    } else {
        Vec::new()
    })
}

fn compute(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    let table = match table(shared)? {
        Ok(table) => table,
        Err(reason) => return Ok(Score::undefined("nmi", reason, n).into()),
    };
    let Some(value) = table.nmi() else {
        return Ok(Score::undefined("nmi", ONE_CLUSTER, n).into());
    };
    let interval = table
        .nmi_without()
        .and_then(|each| interval::jackknife_of_rows(value, &each, shared.row_units(), shared.spec.level))
        .map(|i| i.within(0.0, 1.0));
    let mean_entropy = (table.entropy_rows() + table.entropy_columns()) / 2.0;
    let chance = table.expected_mutual_information() / mean_entropy;
    Ok(Score::number("nmi", value, n)
        .with_interval(interval)
        .with_chance(chance)
        .into())
}

/// What to say where k-means put everything into one cluster.
pub(super) const ONE_CLUSTER: &str = "k-means found a single cluster: all embeddings are the same";

/// Clusters against labels, or why there is no such table.
pub(super) fn table(shared: &Shared) -> Result<std::result::Result<Contingency, String>> {
    let (Some(labels), None) = (&shared.study.labels, missing(shared.spec, shared.study)) else {
        return Ok(Err(missing(shared.spec, shared.study).unwrap_or_default()));
    };
    let clusters = shared.clusters()?;
    if clusters.counts.iter().filter(|&&c| c > 0).count() < 2 {
        return Ok(Err(ONE_CLUSTER.to_string()));
    }
    Ok(Ok(Contingency::new(
        &clusters.labels,
        clusters.counts.len(),
        labels.codes(),
        labels.classes(),
    )))
}

/// NMI and AMI of two labelings of the same rows; none where either has a single class.
pub fn agreement(a: &Labels, b: &Labels) -> Option<(f64, f64)> {
    if a.classes() < 2 || b.classes() < 2 || a.rows() != b.rows() {
        return None;
    }
    let table = Contingency::new(a.codes(), a.classes(), b.codes(), b.classes());
    table.nmi().zip(table.ami())
}
