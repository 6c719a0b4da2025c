// SPDX-License-Identifier: MIT
//! MCR²: how much room all embeddings take, and how little each class does. See the page.

use super::clustering::too_few_rows;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::{Result, refuse_if};
use crate::kernels::coding_rates::{CodingRates, Rate};
use crate::kernels::prepared::unit_factors;
use crate::kernels::unit_pairs::Between;
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
    let number = |output: &Output, value, replicates: Option<Vec<f64>>, pairs: Option<&Between>| {
        let unit = shared.row_units().name();
        let found = replicates.and_then(|each| interval::jackknife(value, &each, unit, spec.level));
        let interval = found.map(|i| {
            let squared = i.standard_error.unwrap_or(0.0).powi(2);
            let left = pairs.map_or(1.0, |pairs| pairs.share_left(squared, pairs.variance(0.0)));
            i.with_share_left(value, left)
        });
        Score::number(output, value, rows).with_interval(interval)
    };
    let [of_all, of_each] = &rates.pairs;
    let whole = whole_without(rates);
    let discriminative = number(&DISCRIMINATIVE, rates.whole.rate, whole.clone(), None);
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
            let classes = classes_without(rates, compressive);
            let both = classes.as_ref().zip(whole).map(|(classes, whole)| {
                let both = classes.iter().zip(whole);
                both.map(|(class, whole)| class - spec.mcr2.gamma2 * whole).collect()
            });
            // Rows do about the same to both parts, so what two of them do together is felt in the difference.
            let together = of_each.combined(1.0, of_all, -spec.mcr2.gamma2);
            vec![
                by_class(number(&TOTAL, total, both, Some(&together))),
                discriminative,
                by_class(number(&COMPRESSIVE, compressive, classes, None)),
            ]
        }
    };
    Ok(Results::from(scores))
}

/// The rate of all rows without each unit.
fn whole_without(rates: &CodingRates) -> Option<Vec<f64>> {
    rates.whole.leverages.as_ref()?;
    let losses = rates.whole.losses.iter();
    losses
        .map(|&(_, count, loss)| rates.whole.without(count, loss))
        .collect()
}

/// The mean rate of the classes without each unit: through the rates of the classes it has rows of, and through their weights.
fn classes_without(rates: &CodingRates, compressive: f64) -> Option<Vec<f64>> {
    let rows = rates.units.iter().sum::<usize>() as f64;
    let mut sums = vec![rows * compressive; rates.units.len()];
    for class in &rates.classes {
        class.leverages.as_ref()?;
        for &(unit, count, loss) in &class.losses {
            let (all, left) = (class.members.len() as f64, (class.members.len() - count) as f64);
            sums[unit] += left * class.without(count, loss).unwrap_or(0.0) - all * class.rate;
        }
    }
    let of_units = sums.iter().zip(&rates.units);
    // A unit that has all rows leaves none.
    Some(of_units.map(|(sum, &count)| sum / (rows - count as f64)).collect()).filter(|_| rates.units.len() > 1)
}
