// SPDX-License-Identifier: MIT
//! How similar two models are: CKA, shared neighbors, RSA, canonical correlations and Procrustes. See the pages.
//!
//! Each measure stands beside what it would be if the rows of one model were shuffled, and again calibrated by that: 0 up to the value
//! that shuffled rows exceed with the probability 1 − level, 1 at the most that the measure can be.

use faer::Mat;

use super::{Analysis, Invariance, Metric, Output, Takes, Work};
use crate::error::Result;
use crate::kernels::alike::axes::{Axes, singular_values};
use crate::kernels::alike::cross::squared_norm;
use crate::kernels::alike::distances::{Apart, shuffled_correlation};
use crate::kernels::alike::gram::{Sums, cka};
use crate::kernels::alike::lists::{cycle, cycle_of_shuffled, mutual, mutual_of_shuffled};
use crate::kernels::alike::null::Null;
use crate::score::{Interval, Score};
use crate::similar::{Alike, Line, Pair, standardized};
use crate::stats::interval::{self, Units};

/// What the measures share.
const fn of_models(compute: fn(&Pair) -> Result<Alike>) -> Metric {
    Metric {
        invariances: Invariance::SIMILARITY,
        ..Metric::of(Analysis::Similarity, &[Takes::Models], Work::Alike { compute })
    }
}

const LINEAR: Output =
    Output::neither("cka(kernel=linear)", "−1 to 1").about("debiased linear CKA: 0 for unrelated models");
const LINEAR_CALIBRATED: Output = Output::neither("cka.calibrated(kernel=linear)", "0 to 1")
    .about("debiased linear CKA, 0 where shuffled rows reach it");
const LINEAR_BIASED: Output = Output::neither("cka.biased(kernel=linear)", "0 to 1")
    .about("linear CKA as first published, which grows with D / N");
const RBF: Output = Output::neither("cka(kernel=rbf)", "−1 to 1").about("debiased CKA of Gaussian kernels");
const RBF_CALIBRATED: Output = Output::neither("cka.calibrated(kernel=rbf)", "0 to 1")
    .about("debiased CKA of Gaussian kernels, 0 where shuffled rows reach it");

pub(super) static CKA: Metric = Metric {
    id: "cka",
    title: "CKA",
    outputs: &[LINEAR, LINEAR_CALIBRATED, LINEAR_BIASED, RBF, RBF_CALIBRATED],
    page: include_str!("cka.md"),
    options: &["sample", "bandwidth", "permutations"],
    ..of_models(centered_alignment)
};

const MUTUAL: Output =
    Output::neither("mutual_knn@K", "0 to 1").about("share of the K nearest rows that both models agree on");
const MUTUAL_CALIBRATED: Output = Output::neither("mutual_knn.calibrated@K", "0 to 1")
    .about("share of the K nearest rows that both agree on, 0 where shuffled rows reach it");

pub(super) static MUTUAL_KNN: Metric = Metric {
    id: "mutual_knn",
    title: "Mutual k-NN",
    outputs: &[MUTUAL, MUTUAL_CALIBRATED],
    page: include_str!("mutual_knn.md"),
    invariances: Invariance::OF_ANGLES,
    options: &["k", "permutations"],
    ..of_models(mutual_neighbors)
};

const CYCLE: Output = Output::neither("cycle_knn@K", "0 to 1")
    .about("share of rows that are a neighbor in the first model of one of their neighbors in the second");
const CYCLE_CALIBRATED: Output = Output::neither("cycle_knn.calibrated@K", "0 to 1")
    .about("share of rows that come back, 0 where shuffled rows reach it");
const CYCLE_REVERSE: Output = Output::neither("cycle_knn.reverse@K", "0 to 1")
    .about("share of rows that come back from the first model through the second");

pub(super) static CYCLE_KNN: Metric = Metric {
    id: "cycle_knn",
    title: "Cycle k-NN",
    outputs: &[CYCLE, CYCLE_CALIBRATED, CYCLE_REVERSE],
    page: include_str!("cycle_knn.md"),
    invariances: Invariance::OF_ANGLES,
    options: &["k", "permutations"],
    ..of_models(cycles)
};

const RSA_EUCLIDEAN: Output =
    Output::neither("rsa", "−1 to 1").about("Spearman's correlation of the Euclidean distances of all pairs of rows");
const RSA_CALIBRATED: Output =
    Output::neither("rsa.calibrated", "0 to 1").about("correlation of the distances, 0 where shuffled rows reach it");
const RSA_CORRELATION: Output = Output::neither("rsa(rdm=correlation)", "−1 to 1")
    .about("Spearman's correlation of the dissimilarities 1 − correlation of all pairs of rows");
const RSA_CORRELATION_CALIBRATED: Output = Output::neither("rsa.calibrated(rdm=correlation)", "0 to 1")
    .about("correlation of the dissimilarities, 0 where shuffled rows reach it");

pub(super) static RSA: Metric = Metric {
    id: "rsa",
    title: "RSA",
    outputs: &[
        RSA_EUCLIDEAN,
        RSA_CALIBRATED,
        RSA_CORRELATION,
        RSA_CORRELATION_CALIBRATED,
    ],
    page: include_str!("rsa.md"),
    // The correlation of two rows looks at single coordinates.
    invariances: &[Invariance::Scale, Invariance::RowOrder],
    options: &["sample", "permutations"],
    ..of_models(similarity_of_distances)
};

const SVCCA_OUTPUT: Output = Output::neither("svcca", "0 to 1")
    .about("mean canonical correlation of the principal components that hold 99 % of the variance");
const SVCCA_CALIBRATED: Output =
    Output::neither("svcca.calibrated", "0 to 1").about("mean canonical correlation, 0 where shuffled rows reach it");
const SVCCA_TEN: Output = Output::neither("svcca(dims=10)", "0 to 1")
    .about("mean canonical correlation of the first 10 principal components of standardized columns");
const SVCCA_TEN_CALIBRATED: Output = Output::neither("svcca.calibrated(dims=10)", "0 to 1")
    .about("mean canonical correlation of 10 components, 0 where shuffled rows reach it");

pub(super) static SVCCA: Metric = Metric {
    id: "svcca",
    title: "SVCCA",
    outputs: &[SVCCA_OUTPUT, SVCCA_CALIBRATED, SVCCA_TEN, SVCCA_TEN_CALIBRATED],
    page: include_str!("svcca.md"),
    // Standardizing looks at single columns.
    invariances: &[Invariance::Shift, Invariance::Scale, Invariance::RowOrder],
    options: &["variance", "permutations"],
    ..of_models(canonical)
};

const PWCCA_OUTPUT: Output = Output::neither("pwcca", "0 to 1")
    .about("canonical correlation weighted by what its variables account for, mean of both models' weights");
const PWCCA_CALIBRATED: Output = Output::neither("pwcca.calibrated", "0 to 1")
    .about("weighted canonical correlation, 0 where shuffled rows reach it");
const PWCCA_FIRST: Output =
    Output::neither("pwcca(weights=first)", "0 to 1").about("the same with the weights of the first model");
const PWCCA_SECOND: Output =
    Output::neither("pwcca(weights=second)", "0 to 1").about("the same with the weights of the second model");

pub(super) static PWCCA: Metric = Metric {
    id: "pwcca",
    title: "PWCCA",
    outputs: &[PWCCA_OUTPUT, PWCCA_CALIBRATED, PWCCA_FIRST, PWCCA_SECOND],
    page: include_str!("pwcca.md"),
    // The weights add up what columns have, one by one.
    invariances: &[Invariance::Shift, Invariance::Scale, Invariance::RowOrder],
    options: &["permutations"],
    ..of_models(projected)
};

const ALIGNED: Output = Output::neither("procrustes", "0 to 1")
    .about("how well one model fits the other after the best rotation, both centered and of length 1");
const ALIGNED_CALIBRATED: Output =
    Output::neither("procrustes.calibrated", "0 to 1").about("the fit, 0 where shuffled rows reach it");
const DISTANCE: Output = Output::neither("procrustes.distance", "0 to 1.4142135623731")
    .about("the distance that is left after the best rotation");

pub(super) static PROCRUSTES: Metric = Metric {
    id: "procrustes",
    title: "Procrustes",
    outputs: &[ALIGNED, ALIGNED_CALIBRATED, DISTANCE],
    page: include_str!("procrustes.md"),
    options: &["permutations"],
    ..of_models(aligned)
};

/// A measure, and what is said of it.
struct Measured {
    value: f64,
    interval: Option<Interval>,
    null: Option<Null>,
    n: usize,
    note: Option<String>,
}

impl Alike {
    /// A measure and its calibrated form under their identities, or why there is none.
    fn add(&mut self, [plain, calibrated]: [String; 2], found: std::result::Result<Measured, (String, usize)>) {
        let found = match found {
            Ok(found) => found,
            Err((reason, n)) => {
                self.lines.push(Line {
                    measure: plain.clone(),
                    value: None,
                    interval: None,
                    null: None,
                    n,
                });
                let both = [plain, calibrated].map(|id| Score::undefined(id, reason.clone(), n));
                self.scores.extend(both);
                return;
            }
        };
        let Measured {
            value,
            interval,
            null,
            n,
            note,
        } = found;
        let of_calibrated = match &null {
            None => Score::undefined(calibrated, "rows were not shuffled (`permutations` is too small)", n),
            Some(null) => {
                let interval = interval.clone().map(|own| Interval {
                    low: null.calibrated(own.low),
                    high: null.calibrated(own.high),
                    standard_error: None,
                    effects: None,
                    ..own
                });
                let mut score = Score::number(calibrated, null.calibrated(value), n).with_chance(0.0);
                if let Some(own) = interval.filter(|own| own.high > own.low) {
                    score = score.with_interval(Some(own));
                }
                score
            }
        };
        let mut score = Score::number(plain.clone(), value, n).with_interval(interval);
        if let Some(note) = note {
            score = score.with_note(note);
        }
        if let Some(null) = &null {
            score = score.with_chance(null.mean);
        }
        self.lines.push(Line {
            measure: plain,
            value: score.value,
            interval: score.interval,
            null,
            n,
        });
        self.scores.extend([score, of_calibrated]);
    }
}

/// The identities of an output and of its calibrated form, with a K where they have one.
fn both(plain: &Output, calibrated: &Output, k: Option<usize>) -> [String; 2] {
    let id = |output: &Output| match k {
        Some(k) => output.id.replace("@K", &format!("@{k}")),
        None => output.id.to_string(),
    };
    [id(plain), id(calibrated)]
}

/// The jackknife over rows, or over the groups that they come in.
fn jackknife(value: f64, replicates: &[f64], units: Units, level: f64) -> Option<Interval> {
    match units {
        Units::Single(unit) => interval::jackknife(value, replicates, unit, level),
        Units::Groups(..) => {
            let n = replicates.len() as f64;
            let center = interval::mean(replicates);
            let effects: Vec<f64> = replicates.iter().map(|r| (n - 1.0) / n * (center - r)).collect();
            interval::from_rows(value, &effects, units, "jackknife", level)
        }
    }
}

fn centered_alignment(pair: &Pair) -> Result<Alike> {
    let mut answer = Alike::default();
    let rows = pair.first.centered.rows();
    let ids = both(&LINEAR, &LINEAR_CALIBRATED, None);
    match pair.has_variance() {
        Err(reason) => {
            answer.add(ids, Err((reason.clone(), rows)));
            answer
                .scores
                .push(Score::undefined(&LINEAR_BIASED, reason.clone(), rows));
            answer.add(both(&RBF, &RBF_CALIBRATED, None), Err((reason, rows)));
            return Ok(answer);
        }
        Ok(()) => answer.add(ids, linear(pair).map_err(|reason| (reason, rows))),
    }
    answer.scores.push(biased(pair));
    let sampled = pair.first.sample().len();
    answer.add(
        both(&RBF, &RBF_CALIBRATED, None),
        gaussian(pair).map_err(|reason| (reason, sampled)),
    );
    Ok(answer)
}

/// Why a Gram matrix has nothing that another could have in common with it.
const NO_STRUCTURE: &str =
    "in one of the models every row is equally far from every other: there is nothing to compare";

fn linear(pair: &Pair) -> std::result::Result<Measured, String> {
    let (first, second) = (pair.first, pair.second);
    let sums = Sums::linear(&first.centered, &second.centered, pair.product(), pair.driver);
    let (value, replicates) = cka(&sums, first.sums(), second.sums()).ok_or(NO_STRUCTURE)?;
    let n = first.centered.rows();
    let level = pair.spec.level;
    let null = match pair.units() {
        // The mean and the variance over all orders of the rows are known: 0 and 2 / (N (N − 3)), whatever the data.
        Units::Single(_) => {
            let deviation = (2.0 / (n as f64 * (n as f64 - 3.0))).sqrt();
            let skewness = 8f64.sqrt() * first.cube() * second.cube();
            Some(Null::pearson(value, deviation, skewness, level))
        }
        Units::Groups(..) => {
            let norm = (first.sums().hsic() * second.sums().hsic()).sqrt();
            Null::of_draws(value, shuffled_linear(pair, norm), level)
        }
    };
    Ok(Measured {
        value,
        interval: jackknife(value, &replicates, pair.units(), level),
        null,
        n,
        note: None,
    })
}

/// Debiased CKA of rows whose groups are shuffled.
fn shuffled_linear(pair: &Pair, norm: f64) -> Vec<f64> {
    use crate::kernels::alike::cross::product;
    use crate::kernels::alike::null::Shuffle;
    use crate::run::{Driver, Order};
    let [x, y] = [&pair.first.centered, &pair.second.centered];
    let groups = match pair.units() {
        Units::Groups(codes, _) => Some(codes),
        Units::Single(_) => None,
    };
    let n = x.rows();
    let shuffle = Shuffle::new(n, groups, pair.spec.seed, "shuffled products");
    let (k, l): (f64, f64) = (x.squares.iter().sum(), y.squares.iter().sum());
    let draw = |draw: usize| {
        let order = shuffle.order(draw);
        let product = product(x, y, Some(&order), &Driver::silent(Order::Serial));
        let own: f64 = x
            .squares
            .iter()
            .zip(&order)
            .map(|(k, &row)| k * y.squares[row as usize])
            .sum();
        let n = n as f64;
        let products = squared_norm(&product) - own + k * l / ((n - 1.0) * (n - 2.0)) - 2.0 / (n - 2.0) * own;
        products / (n * (n - 3.0)) / norm
    };
    pair.driver.map(pair.spec.alike.permutations / 10, draw)
}

/// ‖XᵀY‖² / (‖XᵀX‖ ‖YᵀY‖), and its mean over all orders of the rows.
fn biased(pair: &Pair) -> Score {
    let (first, second) = (pair.first, pair.second);
    let norm = (squared_norm(first.scatter()) * squared_norm(second.scatter())).sqrt();
    let value = squared_norm(pair.product()) / norm;
    let n = first.centered.rows();
    let traces: f64 = [first, second]
        .iter()
        .map(|side| side.centered.squares.iter().sum::<f64>())
        .product();
    Score::number(&LINEAR_BIASED, value.min(1.0), n).with_chance(traces / (n as f64 - 1.0) / norm)
}

fn gaussian(pair: &Pair) -> std::result::Result<Measured, String> {
    let (a, of_a) = pair.first.kernel()?;
    let (b, of_b) = pair.second.kernel()?;
    let rows = pair.first.sample().len();
    let sums = Sums::of_doubly_centered(a, b, rows);
    let (value, replicates) = cka(&sums, of_a, of_b).ok_or(NO_STRUCTURE)?;
    let norm = (of_a.hsic() * of_b.hsic()).sqrt() * rows as f64 * (rows as f64 - 3.0);
    let draws = pair.draws_of_sample(|order| shuffled_correlation(a, b, order, norm));
    Ok(Measured {
        value,
        interval: jackknife(
            value,
            &replicates,
            units_of_sample(pair, &pair.groups_of_sample()),
            pair.spec.level,
        ),
        null: Null::of_draws(value, draws, pair.spec.level),
        n: rows,
        note: of_sample(pair),
    })
}

/// What a reader must know where not all rows were compared with each other.
fn of_sample(pair: &Pair) -> Option<String> {
    let (sampled, rows) = (pair.first.sample().len(), pair.first.centered.rows());
    (sampled < rows).then(|| format!("all pairs of {sampled} random rows of {rows}"))
}

fn units_of_sample<'a>(pair: &Pair, groups: &'a Option<Vec<u32>>) -> Units<'a> {
    match (groups, pair.units()) {
        (Some(codes), Units::Groups(_, name)) => Units::Groups(codes, name),
        (_, Units::Groups(_, name) | Units::Single(name)) => Units::Single(name),
    }
}

fn mutual_neighbors(pair: &Pair) -> Result<Alike> {
    let k = pair.spec.alike.k;
    let rows = pair.first.centered.rows();
    let mut answer = Alike::default();
    let found = || {
        let (a, b) = (pair.first.neighbors()?, pair.second.neighbors()?);
        let draws = pair.draws(|order| mutual_of_shuffled(a, b, k, order));
        let found = mutual(a, b, k, pair.units(), pair.driver);
        let value = interval::mean(&found.values);
        let interval = interval::of_influence(value, &found.effects, pair.units(), pair.spec.level);
        let interval = interval.map(|own| own.without_pairs(value, found.of_pairs));
        let mut measured = agreed(pair, value, interval, draws);
        // Every other row is as likely to be among the nearest of shuffled rows.
        if let (Some(null), None) = (&mut measured.null, &pair.first.study.episodes) {
            null.mean = k as f64 / (rows as f64 - 1.0);
        }
        Ok(measured)
    };
    answer.add(
        both(&MUTUAL, &MUTUAL_CALIBRATED, Some(k)),
        found().map_err(|reason: String| (reason, rows)),
    );
    Ok(answer)
}

/// A share with its interval, which is on the logit scale, and its null.
fn agreed(pair: &Pair, value: f64, interval: Option<Interval>, draws: Vec<f64>) -> Measured {
    Measured {
        value,
        interval: interval.map(|own| own.on_logit_scale(value, [0.0, 1.0])),
        null: Null::of_draws(value, draws, pair.spec.level),
        n: pair.first.centered.rows(),
        note: None,
    }
}

fn cycles(pair: &Pair) -> Result<Alike> {
    let k = pair.spec.alike.k;
    let rows = pair.first.centered.rows();
    let mut answer = Alike::default();
    let measured = |is_reverse: bool| {
        let (mut a, mut b) = (pair.first.neighbors()?, pair.second.neighbors()?);
        if is_reverse {
            std::mem::swap(&mut a, &mut b);
        }
        let draws = pair.draws(|order| {
            let mut places = vec![0; order.len()];
            order
                .iter()
                .enumerate()
                .for_each(|(i, &row)| places[row as usize] = i as u32);
            cycle_of_shuffled(a, b, k, order, &places)
        });
        let values = cycle(a, b, k, pair.driver);
        let interval = interval::of_mean(&values, pair.units(), pair.spec.level);
        Ok(agreed(pair, interval::mean(&values), interval, draws))
    };
    let failed = |reason: String| (reason, rows);
    answer.add(
        both(&CYCLE, &CYCLE_CALIBRATED, Some(k)),
        measured(false).map_err(failed),
    );
    let [reverse, _] = both(&CYCLE_REVERSE, &CYCLE_CALIBRATED, Some(k));
    let score = match measured(true) {
        Err(reason) => Score::undefined(reverse, reason, rows),
        Ok(own) => {
            let score = Score::number(reverse, own.value, own.n).with_interval(own.interval);
            match own.null {
                Some(null) => score.with_chance(null.mean),
                None => score,
            }
        }
    };
    answer.scores.push(score);
    Ok(answer)
}

fn similarity_of_distances(pair: &Pair) -> Result<Alike> {
    let mut answer = Alike::default();
    let rows = pair.first.sample().len();
    let measured = |apart: Apart| {
        let (a, b) = (pair.first.ranks(apart)?, pair.second.ranks(apart)?);
        let value = a.correlation(b, None).clamp(-1.0, 1.0);
        let groups = pair.groups_of_sample();
        let units = units_of_sample(pair, &groups);
        let interval = interval::of_influence(value, &a.effects(b), units, pair.spec.level);
        let draws = pair.draws_of_sample(|order| a.correlation(b, Some(order)));
        let mut null = Null::of_draws(value, draws, pair.spec.level);
        // Centered ranks add up to zero, so over all orders of the rows their products do.
        if let (Some(null), None) = (&mut null, &groups) {
            null.mean = 0.0;
        }
        Ok(Measured {
            value,
            interval,
            null,
            n: rows,
            note: of_sample(pair),
        })
    };
    let failed = |reason: String| (reason, rows);
    answer.add(
        both(&RSA_EUCLIDEAN, &RSA_CALIBRATED, None),
        measured(Apart::Euclidean).map_err(failed),
    );
    answer.add(
        both(&RSA_CORRELATION, &RSA_CORRELATION_CALIBRATED, None),
        measured(Apart::Correlation).map_err(failed),
    );
    Ok(answer)
}

/// How many components the published code of the platonic representation hypothesis keeps.
const TEN: usize = 10;

/// A measure of XᵀY with what it is for shuffled rows; no interval, since what it overestimates is more than what it varies.
fn of_product(pair: &Pair, place: usize, value: f64) -> Measured {
    let draws = pair.draws_of_products(place, |product| of_all(pair, product));
    Measured {
        value,
        interval: None,
        null: Null::of_draws(value, draws, pair.spec.level),
        n: pair.first.centered.rows(),
        note: None,
    }
}

/// Procrustes, both forms of SVCCA, and PWCCA of a product of rows, where they are wanted.
fn of_all(pair: &Pair, product: &Mat<f64>) -> [Option<f64>; 4] {
    let wanted = |place: usize| pair.wanted[place];
    [
        wanted(0).then(|| nuclear(pair, product)),
        wanted(1)
            .then(|| by_variance(pair, product))
            .and_then(std::result::Result::ok),
        wanted(2)
            .then(|| by_ten(pair, product))
            .and_then(std::result::Result::ok),
        wanted(3)
            .then(|| weighted(pair, product))
            .and_then(|found| found.ok().map(|[first, second]| f64::midpoint(first, second))),
    ]
}

/// Axes that together fill all rows correlate perfectly with any others.
fn refuse_full(ranks: [usize; 2], rows: usize) -> std::result::Result<(), String> {
    if ranks[0] + ranks[1] < rows {
        Ok(())
    } else {
        Err(format!(
            "{} and {} dimensions of {rows} rows correlate perfectly whatever the data; more rows are needed",
            ranks[0], ranks[1]
        ))
    }
}

fn mean_correlation(
    axes: [&Axes; 2],
    product: &Mat<f64>,
    counts: [usize; 2],
    rows: usize,
) -> std::result::Result<f64, String> {
    refuse_full(counts, rows)?;
    let [first, second] = axes;
    Ok(interval::mean(&first.correlations(second, product, counts)))
}

fn by_variance(pair: &Pair, product: &Mat<f64>) -> std::result::Result<f64, String> {
    let axes = [pair.first.axes(), pair.second.axes()];
    let counts = axes.map(|own| own.holding(pair.spec.alike.variance));
    mean_correlation(axes, product, counts, pair.first.centered.rows())
}

fn by_ten(pair: &Pair, product: &Mat<f64>) -> std::result::Result<f64, String> {
    let axes = [pair.first.standard_axes(), pair.second.standard_axes()];
    let standard = standardized(product, pair.first, pair.second);
    mean_correlation(
        axes,
        &standard,
        axes.map(|own| own.rank().min(TEN)),
        pair.first.centered.rows(),
    )
}

fn weighted(pair: &Pair, product: &Mat<f64>) -> std::result::Result<[f64; 2], String> {
    let (x, y) = (pair.first.axes(), pair.second.axes());
    refuse_full([x.rank(), y.rank()], pair.first.centered.rows())?;
    Ok([
        x.weighted_correlation(y, product),
        y.weighted_correlation(x, &product.transpose().to_owned()),
    ])
}

/// Σ σ of XᵀY over the lengths of X and Y.
fn nuclear(pair: &Pair, product: &Mat<f64>) -> f64 {
    let length = |squares: &[f64]| squares.iter().sum::<f64>().sqrt();
    let lengths = length(&pair.first.centered.squares) * length(&pair.second.centered.squares);
    (singular_values(product).iter().sum::<f64>() / lengths).min(1.0)
}

fn canonical(pair: &Pair) -> Result<Alike> {
    let mut answer = Alike::default();
    let rows = pair.first.centered.rows();
    type Of = fn(&Pair, &Mat<f64>) -> std::result::Result<f64, String>;
    let forms: [(usize, Of, [&Output; 2]); 2] = [
        (1, by_variance, [&SVCCA_OUTPUT, &SVCCA_CALIBRATED]),
        (2, by_ten, [&SVCCA_TEN, &SVCCA_TEN_CALIBRATED]),
    ];
    for (place, of, [plain, calibrated]) in forms {
        let value = pair.has_variance().and_then(|()| of(pair, pair.product()));
        let found = value.map(|value| of_product(pair, place, value));
        answer.add(both(plain, calibrated, None), found.map_err(|reason| (reason, rows)));
    }
    Ok(answer)
}

fn projected(pair: &Pair) -> Result<Alike> {
    let mut answer = Alike::default();
    let rows = pair.first.centered.rows();
    let values = pair.has_variance().and_then(|()| weighted(pair, pair.product()));
    let mean = values
        .clone()
        .map(|[first, second]| of_product(pair, 3, f64::midpoint(first, second)));
    answer.add(
        both(&PWCCA_OUTPUT, &PWCCA_CALIBRATED, None),
        mean.map_err(|reason| (reason, rows)),
    );
    answer.scores.extend(match values {
        Ok([first, second]) => [
            Score::number(&PWCCA_FIRST, first, rows),
            Score::number(&PWCCA_SECOND, second, rows),
        ],
        Err(reason) => [&PWCCA_FIRST, &PWCCA_SECOND].map(|output| Score::undefined(output, reason.clone(), rows)),
    });
    Ok(answer)
}

fn aligned(pair: &Pair) -> Result<Alike> {
    let mut answer = Alike::default();
    let rows = pair.first.centered.rows();
    let value = pair.has_variance().map(|()| nuclear(pair, pair.product()));
    let found = value.clone().map(|value| of_product(pair, 0, value));
    answer.add(
        both(&ALIGNED, &ALIGNED_CALIBRATED, None),
        found.map_err(|reason| (reason, rows)),
    );
    answer.scores.push(match value {
        Ok(value) => Score::number(&DISTANCE, (2.0 - 2.0 * value).max(0.0).sqrt(), rows),
        Err(reason) => Score::undefined(&DISTANCE, reason, rows),
    });
    Ok(answer)
}
