// SPDX-License-Identifier: MIT
//! Inertia: how tight k-means clusters of the embeddings are. See the page.

use super::nmi::too_few_rows;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::Result;
use crate::plan::{Need, Shared};
use crate::score::{Interval, Score};
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "inertia",
    title: "Inertia",
    analysis: Analysis::Geometry,
    outputs: &[
        Output::lower("inertia", "0 and above")
            .about("sum of squared distances to the k-means centers")
            .column("Clustering_Inertia")
            .in_units_of_the_embeddings(),
        Output::lower("inertia.share", "0 to 1")
            .about("inertia as a share of the total variance")
            .column("Inertia_Share"),
    ],
    page: include_str!("inertia.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift],
    takes: &[Takes::Codes],
    options: &["clusters", "restarts"],
    work: Work::Study { needs, compute },
};

pub(super) fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    Ok(if spec.clusters <= study.embeddings.rows() {
        vec![Need::Clusters]
    } else {
        Vec::new()
    })
}

fn compute(shared: &Shared) -> Result<Results> {
    let n = shared.study.embeddings.rows();
    let undefined = |id, reason: String| Score::undefined(id, reason, n);
    if shared.spec.clusters > n {
        let reason = too_few_rows(shared.spec, n);
        let scores = vec![undefined("inertia", reason.clone()), undefined("inertia.share", reason)];
        return Ok(Results::from(scores));
    }
    let clusters = shared.clusters()?;
    let mean = clusters.inertia / n as f64;
    let of_sum = interval::of_mean(
        &clusters.costs,
        crate::stats::interval::Units::Single("rows"),
        shared.spec.level,
    );
    let sum_interval = of_sum.map(|i| rescaled(i, n as f64, 1.0).within(0.0, f64::MAX));
    let inertia = Score::number("inertia", clusters.inertia, n)
        .with_interval(sum_interval)
        .with_note(
            "in the squared units of the embeddings, so not comparable between models of different scale: use inertia.share",
        );
    let share = if clusters.total > 0.0 {
        // The total is known far better than the part inside clusters: its error is left out.
        let relative = interval::of_mean(
            &clusters.costs,
            crate::stats::interval::Units::Single("rows"),
            shared.spec.level,
        );
        let interval = relative
            .filter(|_| mean > 0.0)
            .map(|i| rescaled(i, n as f64, clusters.total).within(0.0, 1.0));
        Score::number("inertia.share", clusters.inertia / clusters.total, n).with_interval(interval)
    } else {
        undefined(
            "inertia.share",
            "the embeddings have no variance: all rows are the same".to_string(),
        )
    };
    Ok(Results::from(vec![inertia, share]))
}

/// Multiplied, then divided: the quotient of the two could overflow for a tiny divisor.
fn rescaled(interval: Interval, factor: f64, divisor: f64) -> Interval {
    let effects = interval.effects.as_ref();
    Interval {
        low: interval.low * factor / divisor,
        high: interval.high * factor / divisor,
        standard_error: interval.standard_error.map(|s| s * factor / divisor),
        effects: effects.map(|effects| effects.iter().map(|e| e * factor / divisor).collect()),
        ..interval
    }
}
