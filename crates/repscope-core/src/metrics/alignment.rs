// SPDX-License-Identifier: MIT
//! Alignment: how near the embeddings of two views of a sample are, and how evenly both views cover the sphere. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::{Error, Result};
use crate::kernels::prepared::unit_factors;
use crate::kernels::views::Views;
use crate::plan::{Need, Shared};
use crate::score::{Interval, Score};
use crate::spec::Spec;
use crate::stats::interval;

pub(super) static METRIC: Metric = Metric {
    id: "alignment",
    title: "Alignment",
    analysis: Analysis::Clid,
    outputs: &[
        Output::lower("alignment", "0 to 2^alpha")
            .about("mean distance, to the power alpha, between unit-length embeddings of two views")
            .column("Alignment"),
        Output::lower("alignment.uniformity", "−4t to 0")
            .about("mean uniformity of both views")
            .column("Alignment_uniformity"),
        Output::lower("alignment.total", "−4t to 2^alpha")
            .about("alignment plus uniformity of both views")
            .column("Alignment_total"),
    ],
    page: include_str!("alignment.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Codes, Takes::View],
    options: &["alpha", "t"],
    work: Work::Study { needs, compute },
};

/// Views this near to chance are suspicious.
const SUSPICIOUS: f64 = 0.9;
/// A mean distance below this is rounding: all embeddings are the same.
const ROUNDING: f64 = 1e-12;

/// Why there is no value at all.
fn missing(study: &Study) -> Option<String> {
    let Some(view) = &study.view else {
        return Some("needs the embeddings of a second view of each sample".to_string());
    };
    let factors = unit_factors(&study.embeddings).and_then(|_| unit_factors(view));
    factors.err().map(|error| error.to_string())
}

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    if !(spec.alpha > 0.0 && spec.alpha <= 100.0) {
        return Err(Error::Input(format!(
            "alpha = {} must be above 0 and at most 100 (2 is usual)",
            spec.alpha
        )));
    }
    if !(spec.t > 0.0 && spec.t <= 20.0) {
        return Err(Error::Input(format!(
            "t = {} must be above 0 and at most 20 (2 is usual)",
            spec.t
        )));
    }
    Ok(match missing(study) {
        Some(_) => Vec::new(),
        None if study.embeddings.rows() == 1 => vec![Need::Views],
        None => vec![Need::Views, Need::Kernel],
    })
}

fn compute(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    let undefined = |id, reason: &str| Score::undefined(id, reason, rows);
    if let Some(reason) = missing(shared.study) {
        let scores = METRIC.outputs.iter().map(|output| undefined(output.id, &reason));
        return Ok(scores.collect());
    }
    let views = shared.views()?;
    let (alignment, warnings) = align(shared, views);
    let mut scores = vec![alignment];
    if rows == 1 {
        let reason = "one row has no pairs";
        scores.extend(["alignment.uniformity", "alignment.total"].map(|id| undefined(id, reason)));
    } else {
        scores.extend(spread(shared, views)?);
    }
    Ok(Results {
        scores,
        warnings,
        ..Results::default()
    })
}

/// The alignment of all rows, whatever the sample that ranks: it takes no pairs of rows.
fn align(shared: &Shared, views: &Views) -> (Score, Vec<String>) {
    let (alpha, level) = (shared.spec.alpha, shared.spec.level);
    let mean = interval::mean(&views.powers);
    let units = shared.row_units();
    let interval = interval::of_mean(&views.powers, units, level).map(|i| i.within(0.0, 2f64.powf(alpha)));
    let score = Score::number("alignment", mean, views.powers.len()).with_interval(interval);
    let Some(chance) = views.mismatched else {
        return (score, Vec::new());
    };
    let is_suspicious = mean >= SUSPICIOUS * chance && chance.powf(1.0 / alpha) > ROUNDING;
    let warnings = is_suspicious.then(|| {
        format!(
            "an alignment of {mean:.4} beside {chance:.4} by chance: the views are no nearer than mismatched ones: is row i \
             of both files the same sample?"
        )
    });
    (score.with_chance(chance), warnings.into_iter().collect())
}

/// The mean uniformity of both views, and its sum with the alignment.
fn spread(shared: &Shared, views: &Views) -> Result<[Score; 2]> {
    let rows = shared.study.embeddings.rows();
    let means = |sums: &[f64]| sums.iter().map(|sum| sum / (rows - 1) as f64).collect::<Vec<f64>>();
    let (x, y) = (means(shared.kernel()?), means(&views.kernel));
    let (x_mean, y_mean) = (interval::mean(&x), interval::mean(&y));
    let uniformity = f64::midpoint(x_mean.ln(), y_mean.ln());
    let total = interval::mean(&views.powers) + uniformity;

    // What a query adds to the uniformity, through the logarithm. Both views of a sample stand together, because they
    // are not independent.
    let own: Vec<f64> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| f64::midpoint(x / x_mean, y / y_mean))
        .collect();
    // What drawing its row anew changes: its pairs count from both sides. In the total its own alignment comes on top.
    let twice: Vec<f64> = own.iter().map(|v| 2.0 * v).collect();
    let anchors = shared.anchors();
    let aligned = twice.iter().enumerate().map(|(q, v)| v + views.powers[anchors.row(q)]);
    let aligned: Vec<f64> = aligned.collect();

    // Two rows share their only pair, so they do not say how it varies.
    let interval = |value, changes: &[f64]| interval_of(value, &own, changes, shared).filter(|_| rows > 2);
    let score = |id, value, interval| Score::number(id, value, own.len()).with_interval(interval);
    let (lowest, highest) = (-4.0 * shared.spec.t, 2f64.powf(shared.spec.alpha));
    let of_uniformity = interval(uniformity, &twice).map(|i| i.within(lowest, 0.0));
    let of_total = interval(total, &aligned).map(|i| i.within(lowest, highest));
    Ok([
        score("alignment.uniformity", uniformity, of_uniformity),
        score("alignment.total", total, of_total),
    ])
}

/// Student's interval of a value that is read from some queries: they are drawn from the rows, which matters less the
/// more of them ask, and the rows are drawn themselves.
fn interval_of(value: f64, own: &[f64], changes: &[f64], shared: &Shared) -> Option<Interval> {
    let asked = own.len() as f64 / shared.study.embeddings.rows() as f64;
    let of_queries = interval::of_mean(own, shared.units(), shared.spec.level)?;
    let of_rows = interval::of_mean(changes, shared.units(), shared.spec.level)?;
    let both = |queries: f64, rows: f64| ((1.0 - asked) * queries * queries + asked * rows * rows).sqrt();
    let half = |i: &Interval| (i.high - i.low) / 2.0;
    let reach = both(half(&of_queries), half(&of_rows));
    let (error_of_queries, error_of_rows) = (of_queries.standard_error?, of_rows.standard_error?);
    let error = both(error_of_queries, error_of_rows);
    let interval = Interval {
        low: value - reach,
        high: value + reach,
        standard_error: Some(error),
        ..of_rows
    };
    Some(if error_of_rows > 0.0 {
        interval.with_effects_times(error / error_of_rows)
    } else {
        interval
    })
}
