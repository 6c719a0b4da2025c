// SPDX-License-Identifier: MIT
//! Alignment: how near the embeddings of two views of a sample are. Uniformity: how evenly they cover the sphere.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::{Labels, Space, Study};
use crate::error::{Result, refuse_if};
use crate::kernels::pair_sums::of_pairs_of_units;
use crate::kernels::prepared::unit_factors;
use crate::kernels::tiles::{Anchors, most_direct_rows};
use crate::kernels::views::Views;
use crate::plan::{Need, Shared};
use crate::random;
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
    // Of rows that are elsewhere it shows on the way.
    let is_here = study.embeddings.elsewhere().is_none();
    let exists = study.embeddings.rows() >= 2 && !(is_here && unit_factors(&study.embeddings).is_err());
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
    if let Err(error) = shared.check_directions() {
        return Ok(UNIFORMITY.undefined(error.to_string(), rows));
    }
    let means: Vec<f64> = shared.kernel()?.iter().map(|sum| sum / (rows - 1) as f64).collect();
    let mean = interval::mean(&means);
    // Two rows share their only pair, so they do not say how it varies.
    let interval = interval::of_mean(&means, shared.units(), shared.spec.level);
    let interval = interval.filter(|_| rows > 2).map(|mut i| {
        // A mean over pairs: drawing a row anew changes its own pairs from both sides, so its variance is
        // four times that of a mean over rows; anchors share the part that comes from the rows.
        let queries = means.len() as f64;
        let widen = (1.0 + 3.0 * queries / rows as f64).sqrt();
        let reach = (i.high - mean) * widen / mean;
        i.low = mean.ln() - reach;
        i.high = mean.ln() + reach;
        let i = i.with_error_times(widen / mean);
        if varies(&means, mean) {
            once(i, mean.ln(), shared, &[&shared.study.embeddings]).within(f64::MIN, 0.0)
        } else {
            let [low, high] = unseen(mean, means.len(), shared);
            Interval { low, high, ..i }
        }
    });
    Ok(UNIFORMITY.number(mean.ln(), means.len()).with_interval(interval).into())
}

/// The interval of the mean uniformity of some spaces with what pairs of units do together counted once. Rows by themselves are so many,
/// where their pairs are too many to be looked at again, that their pairs do next to nothing; of groups a sample of rows shows what
/// pairs of them do.
fn once(found: Interval, value: f64, shared: &Shared, spaces: &[&Space]) -> Interval {
    let (rows, columns) = (spaces[0].rows(), spaces[0].columns());
    let most = most_direct_rows(columns);
    let groups = shared.study.episodes.as_deref();
    if shared.anchors() != Anchors::All || (groups.is_none() && rows > most) {
        return found;
    }
    let mut stream = random::stream(shared.spec.seed, "pairs of units", 0);
    let mut sample = random::permutation(rows, &mut stream);
    sample.truncate(most);
    sample.sort_unstable();
    let units = groups.map_or(rows, Labels::classes);
    let unit_of = |row: u32| groups.map_or(row as usize, |groups| groups.codes()[row as usize] as usize);
    let of_space = |space: &&Space| {
        let factors = unit_factors(space).ok()?;
        of_pairs_of_units(space, &factors, &sample, unit_of, units, shared.spec.t)
    };
    let Some(of_spaces) = spaces.iter().map(of_space).collect::<Option<Vec<Vec<f64>>>>() else {
        return found;
    };
    let over_spaces = |pair: usize| of_spaces.iter().map(|of| of[pair]).sum::<f64>() / of_spaces.len() as f64;
    let residuals: Vec<f64> = (0..of_spaces[0].len()).map(over_spaces).collect();
    found.with_pairs_once(value, &residuals, units)
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
    // What drawing its row anew changes: its pairs count from both sides. In the total its own alignment comes on top.
    let twice: Vec<f64> = own.iter().map(|v| 2.0 * v).collect();
    let anchors = shared.anchors();
    let aligned = twice.iter().enumerate().map(|(q, v)| v + views.powers[anchors.row(q)]);
    let aligned: Vec<f64> = aligned.collect();

    // Two rows share their only pair, so they do not say how it varies.
    let interval = |value, changes: &[f64], of_powers: [f64; 2]| {
        let found = interval_of(value, &own, changes, shared).filter(|_| rows > 2)?;
        if varies(changes, interval::mean(changes)) {
            let spaces = [Some(&shared.study.embeddings), shared.study.view.as_deref()];
            let spaces: Vec<&Space> = spaces.into_iter().flatten().collect();
            return Some(once(found, value, shared, &spaces));
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
    let of_uniformity = interval(uniformity, &twice, [0.0; 2]).map(|i| i.within(lowest, 0.0));
    let (power, share) = (
        interval::mean(&views.powers),
        interval::unseen_share(x.len(), shared.spec.level),
    );
    let of_powers = [power - share * power, power + share * (highest - power)];
    let of_total = interval(total, &aligned, of_powers).map(|i| i.within(lowest, highest));
    Ok([
        score(&OF_VIEWS, uniformity, of_uniformity),
        score(&TOTAL, total, of_total),
    ])
}

/// Student's interval of a value that is read from some queries: they are drawn from the rows, which matters less the
/// more of them there are, and the rows are drawn themselves.
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
