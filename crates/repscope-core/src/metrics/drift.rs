// SPDX-License-Identifier: MIT
//! Whether new rows come from the distribution of reference rows: MMD, the energy distance, the Fréchet distance, and whose rows
//! neighbors are. See the pages.
//!
//! Each statistic stands beside what it is where rows change their sets at random, and the probability of one as large.

use super::{Analysis, Invariance, Metric, MetricId, Output, Results, Takes, Work};
use crate::data::{Reference, Study};
use crate::error::{Result, counted};
use crate::kernels::alike::null::Null;
use crate::kernels::prepared::{Preparation, Prepared};
use crate::kernels::tiles::{Anchors, Ask, sweep};
use crate::kernels::two_sets::Pool;
use crate::kernels::two_sets::gaussians::{self, Rows};
use crate::kernels::two_sets::pairs::{Kernel, distance, matrix, median, values};
use crate::kernels::two_sets::relabel::Exchange;
use crate::kernels::two_sets::votes::{Effects, effects, votes};
use crate::plan::Shared;
use crate::run::{Driver, Order};
use crate::score::{Breakdown, Curve, Interval, Score};
use crate::spec::FEWEST_PERMUTATIONS;
use crate::stats::interval;

/// What the metrics share.
const fn of_two_sets(compute: fn(&Shared) -> Result<Results>) -> Metric {
    Metric {
        invariances: Invariance::SIMILARITY,
        ..Metric::of(
            Analysis::Drift,
            &[Takes::Embeddings, Takes::Reference],
            Work::Study {
                needs: |_, _| Ok(Vec::new()),
                compute,
            },
        )
    }
}

const P: &str = "probability of a value as large where the rows change their sets at random";

const RBF: Output = Output::neither("mmd(kernel=rbf)", "any number")
    .about("unbiased squared maximum mean discrepancy of a Gaussian kernel; 0 where nothing differs");
const RBF_P: Output = Output::neither("mmd.p(kernel=rbf)", "0 to 1").about(P);
const MULTI: Output = Output::neither("mmd(kernel=multi)", "any number")
    .about("the same of the mean of five Gaussian kernels, of a quarter to four times the width");
const MULTI_P: Output = Output::neither("mmd.p(kernel=multi)", "0 to 1").about(P);
const POLYNOMIAL: Output = Output::neither("mmd(kernel=polynomial)", "any number")
    .about("the same of the kernel (x·y / D + 1)³: the kernel inception distance")
    .in_units_of_the_embeddings();
const POLYNOMIAL_P: Output = Output::neither("mmd.p(kernel=polynomial)", "0 to 1")
    .about(P)
    .in_units_of_the_embeddings();

pub(super) static MMD: Metric = Metric {
    id: "mmd",
    title: "MMD",
    outputs: &[RBF, RBF_P, MULTI, MULTI_P, POLYNOMIAL, POLYNOMIAL_P],
    page: include_str!("mmd.md"),
    // The polynomial kernel sees where the origin is, and how large the embeddings are.
    invariances: &[Invariance::Rotation, Invariance::RowOrder],
    options: &["sample", "bandwidth", "permutations"],
    ..of_two_sets(mmd)
};

const ENERGY: Output = Output::neither("energy_distance", "any number")
    .about("unbiased 2 E‖x − y‖ − E‖x − x′‖ − E‖y − y′‖; 0 where nothing differs")
    .in_units_of_the_embeddings();
const ENERGY_P: Output = Output::neither("energy_distance.p", "0 to 1").about(P);

pub(super) static ENERGY_DISTANCE: Metric = Metric {
    id: "energy_distance",
    title: "Energy distance",
    outputs: &[ENERGY, ENERGY_P],
    page: include_str!("energy_distance.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::RowOrder],
    options: &["sample", "permutations"],
    ..of_two_sets(energy)
};

const FRECHET: Output = Output::neither("frechet_distance", "0 and above")
    .about("‖μ − ν‖² + tr Σ + tr T − 2 tr (Σ T)^½ of the means and covariances of both sets")
    .in_units_of_the_embeddings();
const FRECHET_MEANS: Output = Output::neither("frechet_distance.means", "0 and above")
    .about("its part ‖μ − ν‖²: how far the mean has moved")
    .in_units_of_the_embeddings();
const FRECHET_P: Output = Output::neither("frechet_distance.p", "0 to 1").about(P);

pub(super) static FRECHET_DISTANCE: Metric = Metric {
    id: "frechet_distance",
    title: "Fréchet distance",
    outputs: &[FRECHET, FRECHET_P, FRECHET_MEANS],
    page: include_str!("frechet_distance.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::RowOrder],
    options: &["permutations"],
    ..of_two_sets(frechet)
};

const OWN: Output = Output::neither("knn_two_sample@K", "0 to 1")
    .about("share of the K nearest rows that are of the same set as their row (Schilling)");
const OWN_P: Output = Output::neither("knn_two_sample.p@K", "0 to 1").about(P);
const BALANCED: Output = Output::neither("knn_two_sample.balanced@K", "0 to 1")
    .about("how surely neighbors tell the set of a row, as if both sets had the same size; about 0.5 by chance");

pub(super) static KNN_TWO_SAMPLE: Metric = Metric {
    id: "knn_two_sample",
    title: "k-NN two-sample test",
    outputs: &[OWN, OWN_P, BALANCED],
    page: include_str!("knn_two_sample.md"),
    options: &["k", "permutations"],
    ..of_two_sets(knn_two_sample)
};

/// A statistic of two sets before it is a score.
struct Measured {
    value: f64,
    interval: Option<Interval>,
    /// What it is under other marks.
    draws: Vec<f64>,
    /// What it is on average under all marks, where that is known.
    expected: Option<f64>,
    note: Option<String>,
}

/// Order statistics of the null that are kept for figures.
const KEPT: usize = 200;

/// Draws that are the value itself but for rounding count as it: of few groups, many marks are alike.
fn snapped(mut draws: Vec<f64>, value: f64) -> Vec<f64> {
    let largest = draws.iter().fold(value.abs(), |most, x| most.max(x.abs()));
    draws
        .iter_mut()
        .filter(|x| (**x - value).abs() <= 1e-9 * largest)
        .for_each(|x| *x = value);
    draws
}

/// The scores of a statistic, the line of its table, and its null.
fn add(
    results: &mut Results,
    own: impl Into<MetricId>,
    p: Option<MetricId>,
    measured: Measured,
    pool: &Pool,
    shared: &Shared,
) {
    let (id, n) = (own.into(), pool.rows.len());
    let Measured {
        value,
        interval,
        draws,
        expected,
        note,
    } = measured;
    let mut draws = snapped(draws, value);
    draws.sort_unstable_by(f64::total_cmp);
    let null = Null::of_draws(value, draws.clone(), shared.spec.level).filter(|_| draws.len() >= FEWEST_PERMUTATIONS);
    let mut score = Score::number(id.clone(), value, n).with_interval(interval);
    let chance = null.as_ref().map(|null| expected.unwrap_or(null.mean));
    if let Some(chance) = chance {
        score = score.with_chance(chance);
    }
    if let Some(note) = note {
        score = score.with_note(note);
    }
    if pool.equal > 0 {
        let (equal, new) = (pool.equal, shared.study.embeddings.rows());
        score = score.with_note(format!("{equal} of {new} new rows equal rows of the reference"));
    }
    if let Some(p) = &p {
        let of_p = match &null {
            Some(null) => Score::number(p.clone(), null.p, n).with_note(format!("{} permutations", draws.len())),
            None => Score::undefined(p.clone(), "there are no permutations", n),
        };
        let few = few_marks(pool);
        results.scores.push(match few.filter(|_| null.is_some()) {
            Some(few) => of_p.with_note(few),
            None => of_p,
        });
    }
    let of_null = |of: fn(&Null) -> f64| null.as_ref().map(of);
    let ends = score.interval;
    results.breakdowns.push(
        Breakdown::of(id.clone(), &[()])
            .key("units", |()| pool.units().name().to_string())
            .column("value", |()| Some(value))
            .column("low", |()| ends.map(|i| i[0]))
            .column("high", |()| ends.map(|i| i[1]))
            .column("chance", |()| chance)
            .column("null_low", |()| of_null(|null| null.ends[0]))
            .column("null_high", |()| of_null(|null| null.ends[1]))
            .column("threshold", |()| of_null(|null| null.threshold))
            .column("p", |()| of_null(|null| null.p).filter(|_| p.is_some()))
            .column("permutations", |()| Some(draws.len() as f64))
            .column("equal", |()| Some(pool.equal as f64))
            .column("all_new", |()| Some(shared.study.embeddings.rows() as f64))
            .column("new", |()| Some(pool.new as f64))
            .column("reference", |()| Some(pool.old() as f64))
            .table,
    );
    if null.is_some() && p.is_some() {
        let (last, kept) = (draws.len() - 1, draws.len().min(KEPT));
        let at = |i: usize| i * last / (kept - 1);
        results.curves.push(Curve {
            model: String::new(),
            metric: id,
            x_label: "share of the permutations".to_string(),
            y_label: "value".to_string(),
            x: (0..kept).map(|i| (at(i) as f64 + 1.0) / (last as f64 + 2.0)).collect(),
            y: (0..kept).map(|i| draws[at(i)]).collect(),
        });
    }
    let place = results.scores.len() - usize::from(p.is_some());
    results.scores.insert(place, score);
}

/// Where few marks are possible, no p-value is small.
fn few_marks(pool: &Pool) -> Option<String> {
    let count = Exchange::new(&pool.marks(), pool.groups.as_deref()).count();
    let what = if pool.groups.is_some() { "groups" } else { "rows" };
    (count < 1000.0).then(|| format!("the {what} can be assigned to the sets in {count:.0} ways only"))
}

/// The reference, or why nothing can be said.
fn sides<'a>(shared: &'a Shared) -> std::result::Result<(&'a Study, &'a Reference), String> {
    let study = shared.study;
    let Some(reference) = study.reference.as_deref() else {
        return Err("there are no reference rows".to_string());
    };
    let sizes = [study.embeddings.rows(), reference.embeddings.rows()];
    if sizes.iter().any(|rows| *rows < 4) {
        return Err(format!(
            "{} and {}: at least 4 rows of each set are needed",
            counted(sizes[0], "new row"),
            counted(sizes[1], "reference row")
        ));
    }
    Ok((study, reference))
}

fn all_undefined(metric: &Metric, reason: String, shared: &Shared) -> Results {
    let k = shared.spec.drift.k;
    let undefined = |output: &Output| Score::undefined(at(output, k), reason.clone(), shared.study.embeddings.rows());
    metric.outputs.iter().map(undefined).collect()
}

/// The identity of an output, at this K where it has one.
fn at(output: &Output, k: usize) -> MetricId {
    output.id.replace("@K", &format!("@{k}")).into()
}

/// The kernel of a sample with its draws.
fn of_kernel(
    kernel: &Kernel,
    shape: Shape,
    pool: &Pool,
    reduced: &Option<String>,
    shared: &Shared,
    driver: &Driver,
) -> Option<Measured> {
    let found = kernel.statistic(pool)?;
    let interval = interval::of_influence(found.value, &found.effects, pool.units(), shared.spec.level);
    let interval = interval.filter(|_| !pool.is_mostly_shared(shared.study));
    let interval = interval.map(|own| of_both_sets(own, found.value, pool));
    let interval = interval.map(|own| own.with_error_of_ends(found.value, found.least));
    let (interval, refused) = match shape {
        Shape::Bounded => (interval, None),
        Shape::OfMoments => unless_few_decide(interval),
    };
    let exchange = Exchange::new(&pool.marks(), pool.groups.as_deref());
    let drift = &shared.spec.drift;
    Some(Measured {
        value: found.value,
        interval,
        draws: kernel.draws(
            &exchange,
            shared.spec.seed,
            "marks of pairs",
            drift.permutations,
            driver,
        ),
        // Single rows that are exchangeable have an unbiased estimate of 0.
        expected: pool.groups.is_none().then_some(0.0),
        note: joined(reduced.clone(), refused),
    })
}

/// Whether few rows can decide the value of a kernel.
enum Shape {
    /// What two rows give is bounded, or grows no faster than their distance.
    Bounded,
    /// It grows with a power of them.
    OfMoments,
}

/// Units of both sets are drawn, and each set knows its mean from its own: the error is that of the set with fewer of them.
fn of_both_sets(interval: Interval, value: f64, pool: &Pool) -> Interval {
    let inflation = |units: usize| units as f64 / (units as f64 - 1.0).max(1.0);
    let known = interval.effects.as_ref().map_or(2, |effects| effects.len());
    let factor = inflation(pool.fewest_units()) / inflation(known);
    interval.about(value, factor.max(1.0).sqrt())
}

/// No interval, and why, where one unit makes up most of the squared error: then the moments that the value is made of may not exist, and
/// the rows do not tell how far it varies.
fn unless_few_decide(interval: Option<Interval>) -> (Option<Interval>, Option<String>) {
    let of = |own: &Interval| interval::heavy_tails(own.effects.as_ref()?, own.unit);
    match interval.as_ref().and_then(of) {
        Some(tails) => {
            let (found, _) = tails.split_once(", so").unwrap_or((&tails, ""));
            (None, Some(format!("no interval: {found}")))
        }
        None => (interval, None),
    }
}

fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}; {second}")),
        (first, second) => first.or(second),
    }
}

/// What a reader must know where not all rows were compared with each other.
fn reduced(pool: &Pool, study: &Study, reference: &Reference) -> Option<String> {
    let (new, old) = (study.embeddings.rows(), reference.embeddings.rows());
    (pool.rows.len() < new + old).then(|| {
        format!(
            "all pairs of {} random rows of {new} new ones and {} of {old} reference rows",
            pool.new,
            pool.old()
        )
    })
}

fn mmd(shared: &Shared) -> Result<Results> {
    let (study, reference) = match sides(shared) {
        Ok(sides) => sides,
        Err(reason) => return Ok(all_undefined(&MMD, reason, shared)),
    };
    let driver = Driver::silent(Order::Parallel);
    let (spec, d) = (&shared.spec.drift, study.embeddings.columns());
    let pool = Pool::sample(study, reference, spec, shared.spec.seed);
    let rows = pool.rows.len();
    let values = values(&pool, &study.embeddings, &reference.embeddings);
    let distances = matrix(&values, d, distance, &driver);
    let sigma = spec.bandwidth * median(&distances, rows);
    let note = reduced(&pool, study, reference);
    let mut results = Results::default();
    let gaussian = |widths: &[f64]| {
        let of = |distance: f64| {
            let each = widths.iter().map(|w| (-0.5 * (distance / (w * sigma)).powi(2)).exp());
            each.sum::<f64>() / widths.len() as f64
        };
        let mut kernel: Vec<f64> = distances.iter().map(|&d| of(d)).collect();
        (0..rows).for_each(|i| kernel[i * rows + i] = 0.0);
        Kernel::new(kernel, vec![1.0; rows])
    };
    const WIDTHS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
    for (own, p, widths) in [(&RBF, &RBF_P, &WIDTHS[2..3]), (&MULTI, &MULTI_P, &WIDTHS[..])] {
        let measured =
            (sigma > 0.0).then(|| of_kernel(&gaussian(widths), Shape::Bounded, &pool, &note, shared, &driver));
        match measured.flatten() {
            Some(measured) => add(&mut results, own, Some(p.into()), measured, &pool, shared),
            None => {
                let reason = "the median distance is zero, so the kernel has no width";
                results
                    .scores
                    .extend([own, p].map(|output| Score::undefined(output, reason, rows)));
            }
        }
    }
    let inner = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    let cubed = |x: &[f64], y: &[f64]| (inner(x, y) / d as f64 + 1.0).powi(3);
    let own = values.chunks_exact(d).map(|x| cubed(x, x)).collect();
    let polynomial = Kernel::new(matrix(&values, d, cubed, &driver), own);
    if let Some(measured) = of_kernel(&polynomial, Shape::OfMoments, &pool, &note, shared, &driver) {
        add(
            &mut results,
            &POLYNOMIAL,
            Some((&POLYNOMIAL_P).into()),
            measured,
            &pool,
            shared,
        );
    }
    Ok(results)
}

fn energy(shared: &Shared) -> Result<Results> {
    let (study, reference) = match sides(shared) {
        Ok(sides) => sides,
        Err(reason) => return Ok(all_undefined(&ENERGY_DISTANCE, reason, shared)),
    };
    let driver = Driver::silent(Order::Parallel);
    let pool = Pool::sample(study, reference, &shared.spec.drift, shared.spec.seed);
    let values = values(&pool, &study.embeddings, &reference.embeddings);
    let kernel = matrix(&values, study.embeddings.columns(), |x, y| -distance(x, y), &driver);
    let note = reduced(&pool, study, reference);
    let mut results = Results::default();
    let kernel = Kernel::new(kernel, vec![0.0; pool.rows.len()]);
    if let Some(measured) = of_kernel(&kernel, Shape::Bounded, &pool, &note, shared, &driver) {
        add(&mut results, &ENERGY, Some((&ENERGY_P).into()), measured, &pool, shared);
    }
    Ok(results)
}

fn frechet(shared: &Shared) -> Result<Results> {
    let (study, reference) = match sides(shared) {
        Ok(sides) => sides,
        Err(reason) => return Ok(all_undefined(&FRECHET_DISTANCE, reason, shared)),
    };
    let driver = Driver::silent(Order::Parallel);
    let (pool, d) = (Pool::all(study, reference), study.embeddings.columns());
    let rows = Rows::new(&study.embeddings, &reference.embeddings);
    let moments = rows.of_sets(&driver);
    let found = gaussians::distance(&moments[0], &moments[1]);
    let exchange = Exchange::new(&pool.marks(), pool.groups.as_deref());
    let (seed, wanted) = (shared.spec.seed, shared.spec.drift.permutations);
    let draws = rows.draws(&moments, &exchange, (seed, "marks of moments"), wanted, &driver);
    let fewest = pool.new.min(pool.old());
    let has_full_rank = fewest > d;
    let interval = has_full_rank.then(|| {
        let effects = rows.effects(&moments, &pool, &driver);
        interval::of_influence(found.value, &effects, pool.units(), shared.spec.level)
    });
    let (interval, refused) = unless_few_decide(interval.flatten());
    let note = (!has_full_rank).then(|| {
        format!(
            "{fewest} rows of one set do not fill {d} columns: the value is mostly what so few rows differ by, and says something only \
             beside the chance level of the same sizes"
        )
    });
    let mut results = Results::default();
    results
        .warnings
        .extend(note.as_ref().map(|note| format!("frechet_distance: {note}")));
    let measured = Measured {
        value: found.value,
        // What a square can be ends at zero.
        interval: interval.map(|own| own.on_root_scale(found.value, 0.0)),
        draws,
        expected: None,
        note: joined(note, refused),
    };
    add(
        &mut results,
        &FRECHET,
        Some((&FRECHET_P).into()),
        measured,
        &pool,
        shared,
    );
    results
        .scores
        .push(Score::number(&FRECHET_MEANS, found.of_means, pool.rows.len()));
    Ok(results)
}

fn knn_two_sample(shared: &Shared) -> Result<Results> {
    let (study, reference) = match sides(shared) {
        Ok(sides) => sides,
        Err(reason) => return Ok(all_undefined(&KNN_TWO_SAMPLE, reason, shared)),
    };
    let k = shared.spec.drift.k;
    let pool = Pool::all(study, reference);
    let rows = pool.rows.len();
    if k + 1 >= rows {
        let reason = format!(
            "k = {k} needs more than {} rows of both sets, and there are {rows}",
            k + 1
        );
        return Ok(all_undefined(&KNN_TWO_SAMPLE, reason, shared));
    }
    let driver = Driver::silent(Order::Parallel);
    let space = study.embeddings.below(&reference.embeddings)?;
    let prepared = Prepared::new(&space, Preparation::Raw, &driver)?;
    let ask = Ask { k, ..Ask::default() };
    let Some(neighbors) = sweep(&prepared, Anchors::All, &ask, &driver).neighbors else {
        return Ok(all_undefined(
            &KNN_TWO_SAMPLE,
            "no neighbors were found".to_string(),
            shared,
        ));
    };
    let marks = pool.marks();
    let Some(found) = votes(&neighbors, k, &marks) else {
        return Ok(all_undefined(&KNN_TWO_SAMPLE, "a set has one row".to_string(), shared));
    };
    let exchange = Exchange::new(&marks, pool.groups.as_deref());
    let draw = |number| {
        votes(
            &neighbors,
            k,
            &exchange.draw(shared.spec.seed, "marks of neighbors", number),
        )
    };
    let drawn = driver.map(shared.spec.drift.permutations, draw);
    let [of_own, of_balanced] = effects(&neighbors, k, &pool, &driver);
    let level = shared.spec.level;
    let on_logit = |value: f64, effects: &Effects| {
        let interval = interval::of_influence(value, &effects.of_rows, pool.units(), level);
        interval.map(|own| effects.together.once(own, value, 0.5).on_logit_scale(value, [0.0, 1.0]))
    };
    let (new, old) = (pool.new as f64, pool.old() as f64);
    let all = new + old;
    let measured = Measured {
        value: found.own,
        interval: on_logit(found.own, &of_own),
        draws: drawn.iter().flatten().map(|own| own.own).collect(),
        // Every other row is as likely to be a neighbor.
        expected: pool
            .groups
            .is_none()
            .then(|| (new * (new - 1.0) + old * (old - 1.0)) / (all * (all - 1.0))),
        note: None,
    };
    let mut results = Results::default();
    add(&mut results, at(&OWN, k), Some(at(&OWN_P, k)), measured, &pool, shared);
    let measured = Measured {
        value: found.balanced,
        interval: on_logit(found.balanced, &of_balanced),
        draws: drawn.iter().flatten().map(|own| own.balanced).collect(),
        expected: None,
        note: None,
    };
    add(&mut results, at(&BALANCED, k), None, measured, &pool, shared);
    Ok(results)
}
