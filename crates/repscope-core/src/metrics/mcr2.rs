// SPDX-License-Identifier: MIT
//! MCR²: how much room all embeddings take, and how little each class does. See the page.

use super::clustering::too_few_rows;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::{Result, refuse_if};
use crate::kernels::coding_rates::Rate;
use crate::kernels::prepared::unit_factors;
use crate::plan::{Need, Shared};
use crate::score::Score;
use crate::spec::{Mcr2Spec, Spec};
use crate::stats::interval;

const TOTAL: Output = Output::lower("mcr2.total", "0 or below at gamma 1")
    .about("coding rate of the classes minus that of all embeddings; the rate reduction with a minus sign")
    .column("MCR2_total");
const DISCRIMINATIVE: Output = Output::neither("mcr2.discriminative", "above 0")
    .about("coding rate of all embeddings, in nats")
    .column("MCR2_discriminative");
const COMPRESSIVE: Output = Output::neither("mcr2.compressive", "above 0")
    .about("mean coding rate of the classes, in nats")
    .column("MCR2_compressive");

pub(super) static METRIC: Metric = Metric {
    id: "mcr2",
    title: "MCR²",
    outputs: &[TOTAL, DISCRIMINATIVE, COMPRESSIVE],
    page: include_str!("mcr2.md"),
    invariances: Invariance::OF_ANGLES,
    options: &["clusters", "restarts", "gam1", "gam2", "eps"],
    ..Metric::of(
        Analysis::Clid,
        &[Takes::Embeddings, Takes::LabelsIfAny],
        Work::Study { needs, compute },
    )
};

/// Beyond this ratio of the largest to the smallest eigenvalue, rounding is felt in the sixth digit of a logarithm.
const LARGEST_RATIO: f64 = 1e10;

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    let Mcr2Spec { gamma1, gamma2, eps } = spec.mcr2;
    refuse_if(
        [gamma1, gamma2, eps].iter().any(|&x| !(x > 0.0 && x.is_finite())),
        || {
            format!(
                "MCR² with gamma1 = {gamma1:e}, gamma2 = {gamma2:e} and eps = {eps:e}: all must be above 0 and finite (1, 1 and 0.01 \
             are usual)"
            )
        },
    )?;
    let columns = study.embeddings.columns();
    let ratio = gamma1.max(1.0) * columns as f64 / eps;
    refuse_if(ratio > LARGEST_RATIO, || {
        format!(
            "MCR² with gamma1 = {gamma1:e}, D = {columns} and eps = {eps:e}: gamma1·D/eps = {ratio:.1e} is above \
             {LARGEST_RATIO:.0e}, where rounding would decide; use a larger eps (0.01 is usual)"
        )
    })?;
    if unit_factors(&study.embeddings).is_err() {
        return Ok(Vec::new());
    }
    let mut needs = vec![Need::CodingRates];
    if study.labels.is_none() && missing_classes(spec, study).is_none() {
        needs.push(Need::Clusters);
    }
    Ok(needs)
}

/// Why there are no classes.
fn missing_classes(spec: &Spec, study: &Study) -> Option<String> {
    let rows = study.embeddings.rows();
    too_few_rows(spec, rows).filter(|_| study.labels.is_none())
}

fn compute(shared: &Shared) -> Result<Results> {
    let (spec, study) = (shared.spec, shared.study);
    let rows = study.embeddings.rows();
    if let Err(error) = unit_factors(&study.embeddings) {
        return Ok(METRIC.undefined(error.to_string(), rows));
    }
    let rates = shared.coding_rates()?;
    let number = |output: &Output, value, effects: Option<Vec<f64>>| {
        let units = shared.row_units();
        let interval = effects.and_then(|e| interval::from_rows(value, &e, units, "influence", spec.level));
        Score::number(output, value, rows).with_interval(interval)
    };
    let of_whole = effects_on_whole(&rates.whole);
    let discriminative = number(&DISCRIMINATIVE, rates.whole.rate, of_whole.clone());
    let scores = match missing_classes(spec, study) {
        Some(reason) => {
            let undefined = |output| Score::undefined(output, reason.as_str(), rows);
            vec![undefined(&TOTAL), discriminative, undefined(&COMPRESSIVE)]
        }
        None => {
            let share = |rate: &Rate| rate.members.len() as f64 / rows as f64;
            let compressive: f64 = rates.classes.iter().map(|class| share(class) * class.rate).sum();
            let by_class = |score: Score| match &study.labels {
                Some(_) => score,
                None => score.with_note("no labels: of k-means' own clusters, which is circular"),
            };
            let total = compressive - spec.mcr2.gamma2 * rates.whole.rate;
            let of_classes = effects_on_classes(&rates.classes, compressive, rows);
            let of_total = of_classes.as_ref().zip(of_whole).map(|(classes, whole)| {
                let both = classes.iter().zip(whole);
                both.map(|(class, whole)| class - spec.mcr2.gamma2 * whole).collect()
            });
            vec![
                by_class(number(&TOTAL, total, of_total)),
                discriminative,
                by_class(number(&COMPRESSIVE, compressive, of_classes)),
            ]
        }
    };
    Ok(Results::from(scores))
}

/// What each row does to the rate of all rows: half its leverage, above the mean.
fn effects_on_whole(whole: &Rate) -> Option<Vec<f64>> {
    let leverages = whole.leverages.as_ref()?;
    let mean = interval::mean(leverages);
    Some(leverages.iter().map(|l| (l - mean) / 2.0).collect())
}

/// What each row does to the mean rate of the classes: through the rate of its class, and through that class's weight.
fn effects_on_classes(classes: &[Rate], compressive: f64, rows: usize) -> Option<Vec<f64>> {
    let mut effects = vec![0.0; rows];
    for class in classes {
        let leverages = class.leverages.as_ref()?;
        let (count, mean) = (leverages.len() as f64, interval::mean(leverages));
        for (&row, leverage) in class.members.iter().zip(leverages) {
            let within = count * (leverage - mean) / 2.0;
            effects[row as usize] = (within + class.rate - compressive) / rows as f64;
        }
    }
    Some(effects)
}
