// SPDX-License-Identifier: MIT
//! Whether embeddings have collapsed onto a few directions: NESum, IsoScore, the variance of the first principal components, SelfCluster,
//! coherence, the Gaussianity of random projections (SIGReg), and LiDAR. See the pages.

use faer::Mat;
use rand::Rng;

use super::participation_ratio::{FEWEST, NO_VARIANCE};
use super::rankme::{STABLE, Scale, of_singular_values, ranks, score};
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::Space;
use crate::error::Result;
use crate::kernels::alike::axes::Axes;
use crate::kernels::alike::cross::{Centered, forms, product, squared_norm};
use crate::kernels::prepared::unit_factors;
use crate::kernels::singular::{Function, LEVERAGES};
use crate::plan::Shared;
use crate::random;
use crate::run::{Driver, Order};
use crate::score::Score;
use crate::stats::interval;

/// Why a share of directions does not exist.
const ONE_COLUMN: &str = "one column has one direction: there is nothing to share";

pub(super) static NESUM: Metric = Metric {
    id: "nesum",
    title: "NESum",
    outputs: &[
        Output::neither("nesum", "1 to min(N, D)").about("sum of the eigenvalues of the covariance over the largest")
    ],
    page: include_str!("nesum.md"),
    ..of_singular_values(|shared| {
        let singular = &shared.singular()?.centered;
        Ok(score(SUM, singular, ranks(shared, 1), NO_VARIANCE, shared).into())
    })
};

/// The stable rank under the name of the field.
pub(super) const SUM: Function = ("nesum", STABLE.1);

pub(super) static ISOSCORE: Metric = Metric {
    id: "isoscore",
    title: "IsoScore",
    outputs: &[
        Output::neither("isoscore", "0 to 1").about("how evenly the variance fills all columns: 0 a line, 1 a ball")
    ],
    page: include_str!("isoscore.md"),
    ..of_singular_values(|shared| {
        let singular = &shared.singular()?.centered;
        let reason = if singular.d < 2 { ONE_COLUMN } else { NO_VARIANCE };
        Ok(score(ISOTROPY, singular, (Scale::Between, [0.0, 1.0]), reason, shared).into())
    })
};

/// (Σλ)² / Σλ², from 1 to D, brought to 0 to 1.
pub(super) const ISOTROPY: Function = ("isoscore", |singular| {
    let largest = *singular.values.first().filter(|s| **s > 0.0)?;
    let shares = singular.values.iter().map(|s| (s / largest).powi(2));
    let (sum, squares) = shares.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let d = singular.d as f64;
    (singular.d > 1).then(|| ((sum * sum / squares - 1.0) / (d - 1.0)).max(0.0))
});

pub(super) static VARIANCE_SHARE: Metric = Metric {
    id: "variance_share",
    title: "Variance share",
    outputs: &[
        Output::neither("variance_share(pcs=1)", "0 to 1")
            .about("share of the variance in the first principal component"),
        Output::neither("variance_share(pcs=10)", "0 to 1")
            .about("share of the variance in the first ten principal components"),
    ],
    page: include_str!("variance_share.md"),
    ..of_singular_values(|shared| {
        let singular = &shared.singular()?.centered;
        let each = [FIRST, FIRST_TEN]
            .map(|function| score(function, singular, (Scale::Between, [0.0, 1.0]), NO_VARIANCE, shared));
        Ok(each.into_iter().collect())
    })
};

pub(super) const FIRST: Function = ("variance_share(pcs=1)", |singular| share(&singular.values, 1));
pub(super) const FIRST_TEN: Function = ("variance_share(pcs=10)", |singular| share(&singular.values, 10));

fn share(values: &[f64], count: usize) -> Option<f64> {
    let largest = *values.first().filter(|s| **s > 0.0)?;
    let squares: Vec<f64> = values.iter().map(|s| (s / largest).powi(2)).collect();
    Some(squares[..count.min(squares.len())].iter().sum::<f64>() / squares.iter().sum::<f64>())
}

pub(super) static SELF_CLUSTER: Metric = Metric {
    id: "self_cluster",
    title: "SelfCluster",
    outputs: &[Output::neither("self_cluster", "1 and below")
        .about("excess of squared cosines over those of random directions; 1 is a collapse")],
    page: include_str!("self_cluster.md"),
    invariances: Invariance::OF_ANGLES,
    work: Work::Study {
        needs: |_, _| Ok(Vec::new()),
        compute: self_cluster,
    },
    ..of_singular_values(self_cluster)
};

fn self_cluster(shared: &Shared) -> Result<Results> {
    let space = &shared.study.embeddings;
    let (n, d) = (space.rows() as f64, space.columns() as f64);
    let undefined = |reason: &str| Ok(SELF_CLUSTER.undefined(reason, space.rows()));
    if space.columns() < 2 || space.rows() < 2 {
        return undefined(
            "two rows and two columns are needed: rows of one column all have the same or the opposite direction",
        );
    }
    let factors = match unit_factors(space) {
        Ok(factors) => factors,
        Err(error) => return undefined(&error.to_string()),
    };
    let driver = Driver::silent(Order::Parallel);
    let unit = Centered::unit(space, factors);
    let gram = product(&unit, &unit, None, &driver);
    let (expected, squares) = (n + n * (n - 1.0) / d, squared_norm(&gram));
    let value = (squares - expected) / (n * n - expected);
    // What a row does is twice the sum of its own squared cosines with the others.
    let own = forms(&unit, &unit, &gram, &driver);
    let mean = (squares - n) / n;
    let effect = |own: &f64| 2.0 * (own - 1.0 - mean) / (n * n - expected);
    let effects: Vec<f64> = own.iter().map(effect).collect();
    let interval = interval::of_influence(value, &effects, shared.row_units(), shared.spec.level);
    let interval = interval
        .filter(|_| space.rows() >= FEWEST)
        .map(|i| i.within(-1.0 / (d - 1.0), 1.0));
    Ok(SELF_CLUSTER.number(value, space.rows()).with_interval(interval).into())
}

pub(super) static COHERENCE: Metric = Metric {
    id: "coherence",
    title: "Coherence",
    outputs: &[Output::neither("coherence", "1 and above")
        .about("how much more one row fills the directions than rows do on average")],
    page: include_str!("coherence.md"),
    invariances: &[Invariance::Rotation, Invariance::Scale, Invariance::RowOrder],
    ..of_singular_values(coherence)
};

/// Its derivative by ln σ² is 1 for every direction that exists, so what rows do to it are their leverages, less the mean.
pub(super) const VOLUME: Function = (LEVERAGES, |singular| {
    singular.values.first().filter(|s| **s > 0.0)?;
    let known = singular.values.iter().filter(|value| !singular.is_rounding(**value));
    Some(known.map(|s| 2.0 * s.ln()).sum())
});

fn coherence(shared: &Shared) -> Result<Results> {
    let raw = &shared.singular()?.raw;
    let n = shared.study.embeddings.rows();
    let directions = raw.values.iter().filter(|value| !raw.is_rounding(**value)).count();
    let Some(effects) = raw.effects(LEVERAGES).filter(|_| directions > 0) else {
        return Ok(COHERENCE.undefined("all embeddings are zero", n));
    };
    let largest = effects.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The mean leverage is directions / N.
    let leverage = largest + directions as f64 / n as f64;
    Ok(COHERENCE
        .number((leverage * n as f64 / directions as f64).max(1.0), n)
        .into())
}

pub(super) static EPPS_PULLEY: Metric = Metric {
    id: "epps_pulley",
    title: "Epps–Pulley",
    outputs: &[
        Output::neither("epps_pulley", "0 and above")
            .about("how far random projections are from normal ones (SIGReg), after centering and one common scale"),
        Output::neither("epps_pulley(scale=none)", "0 and above")
            .about("the same of the embeddings as they are, as LeJEPA trains on")
            .in_units_of_the_embeddings(),
    ],
    page: include_str!("epps_pulley.md"),
    invariances: &[Invariance::RowOrder],
    work: Work::Study {
        needs: |_, _| Ok(Vec::new()),
        compute: epps_pulley,
    },
    ..of_singular_values(epps_pulley)
};

/// Random projections, points of the integral, and its end.
const SLICES: usize = 256;
const POINTS: usize = 17;
const END: f64 = 3.0;

fn epps_pulley(shared: &Shared) -> Result<Results> {
    let space = &shared.study.embeddings;
    let n = space.rows();
    let driver = Driver::silent(Order::Parallel);
    let directions = directions(space.columns(), shared.spec.seed);
    let centered = Centered::new(space, &driver);
    let note = format!("mean over {SLICES} random projections");
    let raw = statistic(space, &vec![0.0; space.columns()], 1.0, &directions, &driver);
    // What normal rows give: E|φ_N − φ|² = (1 − φ²) / N.
    let chance: f64 = (0..POINTS).map(|k| weight(k) * (1.0 - phi(k).powi(2))).sum();
    let raw = Score::number(&EPPS_PULLEY.outputs[1], raw, n).with_chance(chance);
    let scaled = if centered.is_constant {
        Score::undefined(&EPPS_PULLEY.outputs[0], NO_VARIANCE, n)
    } else {
        let mean = crate::kernels::moments::column_means(space, &driver);
        let scale = common_scale(space, &mean);
        let value = statistic(space, &mean, scale, &directions, &driver);
        Score::number(&EPPS_PULLEY.outputs[0], value, n)
    };
    Ok([scaled, raw]
        .map(|score| {
            if score.value.is_some() {
                score.with_note(note.clone())
            } else {
                score
            }
        })
        .into_iter()
        .collect())
}

/// 1 / the root of the mean variance of the columns.
fn common_scale(space: &Space, mean: &[f64]) -> f64 {
    let mut row = vec![0.0; space.columns()];
    let mut sum = 0.0;
    for i in 0..space.rows() {
        space.read_row(i, &mut row);
        sum += row.iter().zip(mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>();
    }
    (sum / (space.rows() * space.columns()) as f64).sqrt().recip()
}

fn phi(point: usize) -> f64 {
    let t = END * point as f64 / (POINTS as f64 - 1.0);
    (-0.5 * t * t).exp()
}

/// The trapezoidal rule from −3 to 3, whose halves are equal, with the weight of the normal characteristic function.
fn weight(point: usize) -> f64 {
    let step = END / (POINTS as f64 - 1.0);
    phi(point)
        * if point == 0 || point + 1 == POINTS {
            step
        } else {
            2.0 * step
        }
}

/// Random unit vectors, one per row.
fn directions(columns: usize, seed: u64) -> Vec<f64> {
    let mut all = vec![0.0; SLICES * columns];
    let mut stream = random::stream(seed, "projections", 0);
    let mut uniform = || ((stream.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    for row in all.chunks_exact_mut(columns) {
        for x in row.iter_mut() {
            *x = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        }
        let length = crate::kernels::prepared::length(row);
        row.iter_mut().for_each(|x| *x /= length);
    }
    all
}

/// N Σ_k w_k |φ_N(t_k) − φ(t_k)|², the mean over the projections.
fn statistic(space: &Space, mean: &[f64], scale: f64, directions: &[f64], driver: &Driver) -> f64 {
    const ROWS: usize = 256;
    let (n, d) = (space.rows(), space.columns());
    let step = END / (POINTS as f64 - 1.0);
    // Cosines and sines at all points follow from those at the first by turning on.
    let task = |task: usize| {
        let mut sums = vec![[0.0; 2]; SLICES * POINTS];
        let mut row = vec![0.0; d];
        for i in task * ROWS..n.min((task + 1) * ROWS) {
            space.read_row(i, &mut row);
            row.iter_mut().zip(mean).for_each(|(x, m)| *x = (*x - m) * scale);
            for (sums, direction) in sums.chunks_exact_mut(POINTS).zip(directions.chunks_exact(d)) {
                let along: f64 = row.iter().zip(direction).map(|(x, v)| x * v).sum();
                let (sin, cos) = (step * along).sin_cos();
                let mut at = [1.0, 0.0];
                for sum in sums {
                    sum[0] += at[0];
                    sum[1] += at[1];
                    at = [at[0] * cos - at[1] * sin, at[0] * sin + at[1] * cos];
                }
            }
        }
        sums
    };
    let merge = |mut total: Vec<[f64; 2]>, sums: Vec<[f64; 2]>| {
        for (total, sum) in total.iter_mut().zip(sums) {
            total[0] += sum[0];
            total[1] += sum[1];
        }
        total
    };
    let sums = driver.fold(n.div_ceil(ROWS), task, vec![[0.0; 2]; SLICES * POINTS], merge);
    let n = n as f64;
    let of_slice = |sums: &[[f64; 2]]| -> f64 {
        let points = sums.iter().enumerate();
        points
            .map(|(k, [c, s])| weight(k) * ((c / n - phi(k)).powi(2) + (s / n).powi(2)))
            .sum::<f64>()
            * n
    };
    sums.chunks_exact(POINTS).map(of_slice).sum::<f64>() / SLICES as f64
}

pub(super) static LIDAR: Metric = Metric {
    id: "lidar",
    title: "LiDAR",
    outputs: &[Output::neither("lidar", "1 to min(N, D)")
        .about("directions in which samples differ more than the views of one sample")
        .in_units_of_the_embeddings()],
    page: include_str!("lidar.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::RowOrder],
    ..Metric::of(
        Analysis::Rankme,
        &[Takes::Embeddings, Takes::View],
        Work::Study {
            needs: |_, _| Ok(Vec::new()),
            compute: lidar,
        },
    )
};

/// What is added to the variance within samples, and to each share.
const RIDGE: f64 = 1e-4;
const EPS: f64 = 1e-8;

fn lidar(shared: &Shared) -> Result<Results> {
    let space = &shared.study.embeddings;
    let (n, d) = (space.rows(), space.columns());
    let Some(view) = shared.study.view.as_deref() else {
        return Ok(LIDAR.undefined("there is no second view of the samples", n));
    };
    if n < 2 {
        return Ok(LIDAR.undefined("one sample has no variance", n));
    }
    let driver = Driver::silent(Order::Parallel);
    let views: Vec<&Space> = [space, view]
        .into_iter()
        .chain(shared.study.more_views.iter().map(|view| &**view))
        .collect();
    let q = views.len();
    let (mut means, mut apart) = (vec![0.0; n * d], vec![0.0; n * d * q]);
    for (i, (mean, apart)) in means.chunks_exact_mut(d).zip(apart.chunks_exact_mut(d * q)).enumerate() {
        for (view, own) in views.iter().zip(apart.chunks_exact_mut(d)) {
            view.read_row(i, own);
            mean.iter_mut().zip(&*own).for_each(|(mean, x)| *mean += x / q as f64);
        }
        for own in apart.chunks_exact_mut(d) {
            own.iter_mut().zip(&*mean).for_each(|(x, mean)| *x -= mean);
        }
    }
    let between = scatter(means, n, d, true, &driver)?;
    let within = scatter(apart, n * q, d, false, &driver)?;
    let within = Mat::from_fn(d, d, |i, j| {
        within[(i, j)] / (n * (q - 1)) as f64 + if i == j { RIDGE } else { 0.0 }
    });
    let between = Mat::from_fn(d, d, |i, j| between[(i, j)] / (n as f64 - 1.0));
    let whitened = Axes::of_scatter(&within, d).whiten(&between);
    let values = Axes::of_scatter(&whitened, d).variances();
    let total: f64 = values.iter().sum();
    if total <= 0.0 {
        return Ok(LIDAR.undefined(NO_VARIANCE, n));
    }
    // Directions that do not vary at all still have their eps.
    let none = (d - values.len()) as f64 * EPS * EPS.ln();
    let entropy = -values
        .iter()
        .map(|v| (v / total + EPS) * (v / total + EPS).ln())
        .sum::<f64>()
        - none;
    let note = format!("{q} views of {n} samples; at most min(N − 1, D) = {}", d.min(n - 1));
    Ok(LIDAR.number(entropy.exp().max(1.0), n).with_note(note).into())
}

/// XᵀX of rows less their mean, or as they are.
fn scatter(values: Vec<f64>, n: usize, d: usize, is_centered: bool, driver: &Driver) -> Result<Mat<f64>> {
    let space = Space::from_f64("rows", n, d, values)?;
    let (rows, scale) = if is_centered {
        let centered = Centered::new(&space, driver);
        let scale = centered.scale();
        (centered, scale)
    } else {
        (Centered::unit(&space, vec![1.0; n]), 1.0)
    };
    let found = product(&rows, &rows, None, driver);
    Ok(Mat::from_fn(d, d, |i, j| found[(i, j)] / scale / scale))
}
