// SPDX-License-Identifier: MIT
//! Alignment: how near the embeddings of two views of a sample are. Uniformity: how evenly they cover the sphere.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Study;
use crate::error::{Result, refuse_if};
use crate::kernels::prepared::unit_factors;
use crate::kernels::unit_pairs::Between;
use crate::kernels::views::Views;
use crate::plan::{Need, Shared};
use crate::score::{Interval, Score};
use crate::spec::Spec;
use crate::stats::interval;

const ALIGNMENT: Output = Output::lower("alignment", "0 to 2^alpha")
    .about("mean distance, to the power alpha, between unit-length embeddings of two views")
    .column("Alignment")
    .best_when_constant();
const OF_VIEWS: Output = Output::lower("alignment.uniformity", "−4t to 0")
    .about("mean uniformity of both views")
    .column("Alignment_uniformity");
const TOTAL: Output = Output::lower("alignment.total", "−4t to 2^alpha")
    .about("alignment plus uniformity of both views")
    .column("Alignment_total");

pub(super) static METRIC: Metric = Metric {
    id: "alignment",
    title: "Alignment",
    outputs: &[ALIGNMENT, OF_VIEWS, TOTAL],
    page: include_str!("alignment.md"),
    invariances: Invariance::OF_ANGLES,
    options: &["alpha", "t"],
    ..Metric::of(
        Analysis::Clid,
        &[Takes::Embeddings, Takes::View],
        Work::Study { needs, compute },
    )
};

pub(super) static UNIFORMITY: Metric = Metric {
    id: "uniformity",
    title: "Uniformity",
    outputs: &[Output::lower("uniformity", "−4t to 0")
        .about("log mean Gaussian kernel of unit-length embeddings")
        .column("Uniformity")],
    page: include_str!("uniformity.md"),
    invariances: Invariance::OF_ANGLES,
    options: &["t", "sample"],
    ..Metric::of(
        Analysis::Geometry,
        &[Takes::Embeddings],
        Work::Study {
            needs: needs_of_uniformity,
            compute: uniformity,
        },
    )
};

fn needs_of_uniformity(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    check_t(spec.t)?;
    let exists = study.embeddings.rows() >= 2 && unit_factors(&study.embeddings).is_ok();
    Ok(Vec::from_iter(exists.then_some(Need::Kernel)))
}

/// Refuses a t whose kernel says nothing.
fn check_t(t: f64) -> Result<()> {
    refuse_if(!(t > 0.0 && t <= 20.0), || {
        format!("t = {t} must be above 0 and at most 20 (2 is usual)")
    })
}

fn uniformity(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    if rows < 2 {
        return Ok(UNIFORMITY.undefined(ONE_ROW, rows));
    }
    if let Err(error) = unit_factors(&shared.study.embeddings) {
        return Ok(UNIFORMITY.undefined(error.to_string(), rows));
    }
    let means: Vec<f64> = shared.kernel()?.iter().map(|sum| sum / (rows - 1) as f64).collect();
    let mean = interval::mean(&means);
    // What a query adds, through the logarithm.
    let own: Vec<f64> = means.iter().map(|m| m / mean).collect();
    let pairs = shared.kernel_pairs().map(|pairs| PairsOfUnits {
        between: pairs.between.combined(1.0 / mean, &pairs.between, 0.0),
        within: pairs.within.iter().map(|sum| sum / mean).collect(),
    });
    // Two rows share their only pair, so they do not say how it varies.
    let interval = interval_of(mean.ln(), &own, None, pairs, shared).filter(|_| rows > 2);
    let interval = interval.map(|i| {
        let mut i = i
            .on_root_scale(
                mean.ln(),
                of_even_spread(shared.spec.t, shared.study.embeddings.columns()),
            )
            .within(-4.0 * shared.spec.t, 0.0);
        if !varies(&means, mean) {
            [i.low, i.high] = unseen(mean, means.len(), shared);
        }
        i
    });
    Ok(UNIFORMITY.number(mean.ln(), means.len()).with_interval(interval).into())
}

/// The uniformity of a distribution that is even over the sphere, the least there is: ln(e^(−2t) · ₀F₁(; D/2; t²)). What a mean kernel has
/// above it is a sum of squares (that of how far the distribution is from the even one), whose error grows with its root.
fn of_even_spread(t: f64, columns: usize) -> f64 {
    let half = columns as f64 / 2.0;
    let (mut sum, mut term) = (1.0, 1.0);
    // Terms grow up to about the t-th and then fall faster than a geometric series.
    for k in 0..200 {
        let k = f64::from(k);
        term *= t * t / ((k + 1.0) * (half + k));
        sum += term;
    }
    f64::ln(sum) - 2.0 * t
}

/// Whether rows differ in their mean kernel by more than rounding.
fn varies(means: &[f64], mean: f64) -> bool {
    means.iter().any(|m| (m - mean).abs() > 1e-9 * mean)
}

/// Where the uniformity may be although no row of these says so: rows of another kind, of a share that as many may miss, are in the
/// share's own pairs and in those with all others, whose kernel is between e^(−4t) and 1.
fn unseen(mean: f64, queries: usize, shared: &Shared) -> [f64; 2] {
    let seen = (1.0 - interval::unseen_share(queries, shared.spec.level)).powi(2);
    let least = (-4.0 * shared.spec.t).exp();
    [least, 1.0].map(|end| (seen * mean + (1.0 - seen) * end).ln())
}

/// Why one row has no uniformity.
const ONE_ROW: &str = "one row has no pairs";
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
    let alpha = spec.alpha;
    refuse_if(!(alpha > 0.0 && alpha <= 100.0), || {
        format!("alpha = {alpha} must be above 0 and at most 100 (2 is usual)")
    })?;
    check_t(spec.t)?;
    Ok(match missing(study) {
        Some(_) => Vec::new(),
        None if study.embeddings.rows() == 1 => vec![Need::Views],
        None => vec![Need::Views, Need::Kernel],
    })
}

fn compute(shared: &Shared) -> Result<Results> {
    let rows = shared.study.embeddings.rows();
    if let Some(reason) = missing(shared.study) {
        return Ok(METRIC.undefined(reason, rows));
    }
    let views = shared.views()?;
    let (alignment, warnings) = align(shared, views);
    let mut scores = vec![alignment];
    if rows == 1 {
        scores.extend([&OF_VIEWS, &TOTAL].map(|output| Score::undefined(output, ONE_ROW, rows)));
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
    let interval = interval::of_mean(&views.powers, units, level);
    let range = [0.0, 2f64.powf(alpha)];
    let interval = interval.map(|i| {
        let found = i.on_logit_scale(mean, range).within(range[0], range[1]);
        if varies(&views.powers, mean) {
            return found;
        }
        // Pairs of another kind, of a share that as many may miss.
        let share = interval::unseen_share(views.powers.len(), level);
        let [low, high] = range.map(|end| mean + share * (end - mean));
        Interval { low, high, ..found }
    });
    let score = Score::number(&ALIGNMENT, mean, views.powers.len()).with_interval(interval);
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

    // What a query adds to the uniformity, through the logarithm. Both views of a sample count as one: they are dependent.
    let own = x.iter().zip(&y).map(|(x, y)| f64::midpoint(x / x_mean, y / y_mean));
    let own: Vec<f64> = own.collect();
    let anchors = shared.anchors();
    let powers: Vec<f64> = (0..own.len()).map(|q| views.powers[anchors.row(q)]).collect();
    let pairs = || {
        let (of_x, of_y) = shared.kernel_pairs().zip(views.kernel_pairs.as_ref())?;
        let [x_part, y_part] = [0.5 / x_mean, 0.5 / y_mean];
        let within = of_x.within.iter().zip(&of_y.within);
        Some(PairsOfUnits {
            between: of_x.between.combined(x_part, &of_y.between, y_part),
            within: within.map(|(x, y)| x_part * x + y_part * y).collect(),
        })
    };

    // Two rows share their only pair, so they do not say how it varies.
    let interval = |value, more: Option<&[f64]>, of_powers: [f64; 2]| {
        let found = interval_of(value, &own, more, pairs(), shared).filter(|_| rows > 2)?;
        if varies(&own, 1.0) || more.is_some_and(|more| varies(more, interval::mean(more))) {
            // A mean distance to a power is not below 0.
            return Some(found.on_root_scale(value, of_even_spread(shared.spec.t, shared.study.embeddings.columns())));
        }
        let (x, y) = (unseen(x_mean, x.len(), shared), unseen(y_mean, y.len(), shared));
        let end = |i: usize| f64::midpoint(x[i], y[i]) + of_powers[i];
        Some(Interval {
            low: end(0),
            high: end(1),
            ..found
        })
    };
    let score = |output: &Output, value, interval| Score::number(output, value, own.len()).with_interval(interval);
    let (lowest, highest) = (-4.0 * shared.spec.t, 2f64.powf(shared.spec.alpha));
    let of_uniformity = interval(uniformity, None, [0.0; 2]).map(|i| i.within(lowest, 0.0));
    let (power, share) = (
        interval::mean(&views.powers),
        interval::unseen_share(x.len(), shared.spec.level),
    );
    let of_powers = [power - share * power, power + share * (highest - power)];
    let of_total = interval(total, Some(&powers), of_powers).map(|i| i.within(lowest, highest));
    Ok([
        score(&OF_VIEWS, uniformity, of_uniformity),
        score(&TOTAL, total, of_total),
    ])
}

/// Kernels of pairs of rows, divided by their mean, added up by unit.
struct PairsOfUnits {
    between: Between,
    within: Vec<f64>,
}

/// The interval of a logarithm of a mean over pairs, and what comes on top. `own` is the mean over its pairs of each query, divided by that of
/// all; `more` what each query adds beside.
fn interval_of(
    value: f64,
    own: &[f64],
    more: Option<&[f64]>,
    pairs: Option<PairsOfUnits>,
    shared: &Shared,
) -> Option<Interval> {
    match pairs {
        Some(pairs) => over_pairs(value, own, more, &pairs, shared),
        None => over_queries(value, own, more, shared),
    }
}

/// A jackknife over units: the pairs of a unit with others go from both sides, those within it once. What two units do together is found
/// with both of them, and so much is taken off.
fn over_pairs(
    value: f64,
    own: &[f64],
    more: Option<&[f64]>,
    pairs: &PairsOfUnits,
    shared: &Shared,
) -> Option<Interval> {
    let (units, level, rows) = (shared.units(), shared.spec.level, own.len() as f64);
    let of_units = units.sums(own);
    if of_units.iter().any(|(_, count)| rows - count < 2.0) {
        return None;
    }
    let total: f64 = own.iter().sum();
    let mut replicates: Vec<f64> = of_units
        .iter()
        .zip(&pairs.within)
        .map(|((sum, count), within)| {
            let left = rows - count;
            ((total - 2.0 * sum) * (rows - 1.0) + within) / (left * (left - 1.0))
        })
        .collect();
    if let Some(more) = more {
        let total: f64 = more.iter().sum();
        let of_units = units
            .sums(more)
            .into_iter()
            .map(|(sum, count)| (total - sum) / (rows - count));
        replicates.iter_mut().zip(of_units).for_each(|(r, more)| *r += more);
    }
    let found = interval::jackknife(value, &replicates, units.name(), level)?;
    let of_pairs = pairs.between.variance(1.0) * (2.0 / (rows * (rows - 1.0))).powi(2);
    let left = pairs.between.share_left(found.standard_error?.powi(2), of_pairs);
    Some(found.with_share_left(value, left))
}

/// Student's interval of a value that is read from some queries: they are drawn from the rows, which matters less the
/// more of them there are, and the rows are drawn themselves. Drawing a row anew changes its pairs from both sides.
fn over_queries(value: f64, own: &[f64], more: Option<&[f64]>, shared: &Shared) -> Option<Interval> {
    let asked = own.len() as f64 / shared.study.embeddings.rows() as f64;
    let on_top = |q: usize| more.map_or(0.0, |more| more[q]);
    let changes: Vec<f64> = own.iter().enumerate().map(|(q, v)| 2.0 * v + on_top(q)).collect();
    let of_queries = interval::of_mean(own, shared.units(), shared.spec.level)?;
    let of_rows = interval::of_mean(&changes, shared.units(), shared.spec.level)?;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::{Labels, Space};
    use crate::evaluate;
    use crate::run::{Driver, Order};

    #[test]
    fn an_even_spread_has_the_uniformity_of_its_page() {
        for (columns, expected) in [(2, -1.58), (8, -3.08), (128, -3.94)] {
            assert!((of_even_spread(2.0, columns) - expected).abs() < 0.005, "{columns}");
        }
    }

    #[test]
    fn the_effect_of_an_episode_is_that_of_leaving_it_out() {
        // 24 rows on a circle, in 6 episodes of 2 to 6 rows that stay near each other.
        let sizes = [2, 3, 6, 5, 4, 4];
        let codes: Vec<u32> = (0u32..).zip(sizes).flat_map(|(code, size)| vec![code; size]).collect();
        let angle = |(row, &code): (usize, &u32)| f64::from(code * code % 5) + 0.2 * (row * row % 7) as f64;
        let angles: Vec<f64> = codes.iter().enumerate().map(angle).collect();
        let values = angles.iter().flat_map(|angle| [angle.cos(), angle.sin()]).collect();
        let mut study = Study::new("m", Space::from_f64("z", 24, 2, values).unwrap());
        study.episodes = Some(Arc::new(Labels::from_codes(codes.clone(), 6)));
        let results = evaluate(
            &[study],
            &[&UNIFORMITY],
            &Spec::default(),
            &Driver::silent(Order::Serial),
        )
        .unwrap();
        let effects = results.scores[0].effects.clone().unwrap();

        let mean_without = |code: Option<u32>| {
            let kept: Vec<f64> = angles
                .iter()
                .zip(&codes)
                .filter(|(_, c)| Some(**c) != code)
                .map(|(a, _)| *a)
                .collect();
            let kernel = |a: f64, b: f64| (-4.0 * (1.0 - (a - b).cos())).exp();
            let all: f64 = kept.iter().flat_map(|a| kept.iter().map(|b| kernel(*a, *b))).sum();
            let n = kept.len() as f64;
            (all - n) / (n * (n - 1.0))
        };
        let mean = mean_without(None);
        let replicates: Vec<f64> = (0..6).map(|code| mean_without(Some(code)) / mean).collect();
        let center = interval::mean(&replicates);
        // What pairs of episodes do is taken off all effects alike, up to (n − 2) / (2 (n − 1)) of the squares.
        let share = (effects[0] / ((5.0f64 / 6.0).sqrt() * (center - replicates[0]))).powi(2);
        assert!((0.4 - 1e-9..=1.0 + 1e-9).contains(&share), "{share}");
        for (effect, replicate) in effects.iter().zip(&replicates) {
            assert!((effect - (share * 5.0 / 6.0).sqrt() * (center - replicate)).abs() < 1e-9);
        }
        assert_eq!(effects.len(), 6);
    }
}
