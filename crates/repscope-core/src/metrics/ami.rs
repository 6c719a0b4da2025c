// SPDX-License-Identifier: MIT
//! AMI: agreement of clusters and labels, adjusted for chance. See the page.

use super::nmi::{ONE_CLUSTER, needs, table};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::error::Result;
use crate::plan::Shared;
use crate::score::Score;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "ami",
    title: "Adjusted mutual information",
    analysis: Analysis::Geometry,
    outputs: &[Output::higher("ami", "about 0 to 1")
        .about("agreement of k-means clusters with the labels, adjusted for chance")
        .column("AMI")],
    page: include_str!("ami.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
    takes: &[Takes::Codes, Takes::Labels],
    options: &["clusters", "restarts"],
    work: Work::Study { needs, compute },
};

fn compute(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    let table = match table(shared)? {
        Ok(table) => table,
        Err(reason) => return Ok(Score::undefined("ami", reason, n).into()),
    };
    let Some(value) = table.ami() else {
        return Ok(Score::undefined("ami", ONE_CLUSTER, n).into());
    };
    let interval = table
        .ami_without()
        .and_then(|each| interval::jackknife_of_rows(value, &each, shared.row_units(), shared.spec.level))
        .map(|i| i.within(-1.0, 1.0));
    Ok(Score::number("ami", value, n)
        .with_interval(interval)
        .with_chance(0.0)
        .into())
}
