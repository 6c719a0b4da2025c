// SPDX-License-Identifier: MIT
//! Models against each other: how similar their representations of the same rows are.

use std::sync::OnceLock;

use faer::Mat;

use crate::data::Study;
use crate::error::{Error, Result, refuse_if};
use crate::kernels::alike::axes::Axes;
use crate::kernels::alike::cross::{Centered, product};
use crate::kernels::alike::distances::{Apart, Ranks, distances, gaussian};
use crate::kernels::alike::gram::{FEWEST, Sums};
use crate::kernels::alike::null::{Null, Shuffle};
use crate::kernels::neighbors::Neighbors;
use crate::kernels::prepared::{Preparation, Prepared};
use crate::kernels::repeats::{Repeat, firsts};
use crate::kernels::tiles::{self, Anchors, Ask, sweep};
use crate::metrics::{Metric, Work};
use crate::plan::memory;
use crate::random;
use crate::results::Results;
use crate::run::Driver;
use crate::score::Breakdown;
use crate::spec::Spec;
use crate::stats::interval::Units;

/// What stands between the names of two models.
pub const BETWEEN: &str = " ~ ";

/// A part that is missing, and why.
type Missing = std::result::Result<(), String>;
/// A part of a model, or why it has none.
type Part<T> = std::result::Result<T, String>;

/// One model, and what its measures share; each part is found when the first of them asks.
pub(crate) struct Side<'a> {
    pub(crate) study: &'a Study,
    spec: &'a Spec,
    driver: &'a Driver<'a>,
    pub(crate) centered: Centered<'a>,
    scatter: OnceLock<Mat<f64>>,
    sums: OnceLock<Sums>,
    cube: OnceLock<f64>,
    axes: OnceLock<Axes>,
    standard_axes: OnceLock<Axes>,
    neighbors: OnceLock<Part<Neighbors>>,
    sample: OnceLock<Vec<u32>>,
    kernel: OnceLock<Part<(Vec<f64>, Sums)>>,
    ranks: OnceLock<Part<Ranks>>,
    correlation_ranks: OnceLock<Part<Ranks>>,
}

impl<'a> Side<'a> {
    fn new(study: &'a Study, spec: &'a Spec, driver: &'a Driver<'a>) -> Self {
        Side {
            study,
            spec,
            driver,
            centered: Centered::new(&study.embeddings, driver),
            scatter: OnceLock::new(),
            sums: OnceLock::new(),
            cube: OnceLock::new(),
            axes: OnceLock::new(),
            standard_axes: OnceLock::new(),
            neighbors: OnceLock::new(),
            sample: OnceLock::new(),
            kernel: OnceLock::new(),
            ranks: OnceLock::new(),
            correlation_ranks: OnceLock::new(),
        }
    }

    /// XᵀX.
    pub(crate) fn scatter(&self) -> &Mat<f64> {
        self.scatter
            .get_or_init(|| product(&self.centered, &self.centered, None, self.driver))
    }

    /// HSIC of the model with itself.
    pub(crate) fn sums(&self) -> &Sums {
        let own = || Sums::linear(&self.centered, &self.centered, self.scatter(), self.driver);
        self.sums.get_or_init(own)
    }

    /// Σ λ³ / (Σ λ²)^1.5 of the eigenvalues: how much of the shape of the null a few directions decide.
    pub(crate) fn cube(&self) -> f64 {
        *self.cube.get_or_init(|| {
            let scatter = self.scatter();
            let squared = scatter * scatter;
            let d = scatter.nrows();
            let entries = |of: fn(f64, f64) -> f64| -> f64 {
                let column = |j: usize| (0..d).map(|i| of(scatter[(i, j)], squared[(i, j)])).sum::<f64>();
                (0..d).map(column).sum()
            };
            entries(|s, t| s * t) / entries(|s, _| s * s).powf(1.5)
        })
    }

    /// The principal axes of the columns as they are.
    pub(crate) fn axes(&self) -> &Axes {
        self.axes
            .get_or_init(|| Axes::of_scatter(self.scatter(), self.centered.rows()))
    }

    /// The principal axes of the columns brought to variance 1; columns that are constant stay 0.
    pub(crate) fn standard_axes(&self) -> &Axes {
        self.standard_axes
            .get_or_init(|| Axes::of_scatter(&standardized(self.scatter(), self, self), self.centered.rows()))
    }

    /// 1 / the root of the sum of squares of each column; 0 where it is constant.
    fn column_scales(&self) -> Vec<f64> {
        let scatter = self.scatter();
        let squares = (0..scatter.nrows()).map(|j| scatter[(j, j)]);
        let floor = squares.clone().fold(0.0, f64::max) * f64::EPSILON * f64::EPSILON;
        squares.map(|s| if s > floor { 1.0 / s.sqrt() } else { 0.0 }).collect()
    }

    /// The k nearest of each row by cosine.
    pub(crate) fn neighbors(&self) -> Part<&Neighbors> {
        let search = || {
            let prepared = Prepared::new(&self.study.embeddings, Preparation::Unit, self.driver);
            let prepared = prepared.map_err(|error| error.to_string())?;
            // Neighbors would be the rows of the smallest numbers, for every such model.
            let firsts = firsts(&self.study.embeddings, Repeat::Direction, self.driver);
            if firsts.iter().all(|&first| first == 0) {
                return Err(format!(
                    "all embeddings of `{}` have the same direction",
                    self.study.model
                ));
            }
            let ask = Ask {
                k: self.spec.alike.k,
                ..Ask::default()
            };
            sweep(&prepared, Anchors::All, &ask, self.driver)
                .neighbors
                .ok_or_else(|| "no neighbors were found".to_string())
        };
        self.neighbors.get_or_init(search).as_ref().map_err(Clone::clone)
    }

    /// The rows whose pairs are all compared, ascending: the same for every model.
    pub(crate) fn sample(&self) -> &[u32] {
        self.sample.get_or_init(|| {
            let rows = self.centered.rows();
            let mut drawn = random::permutation(rows, &mut random::stream(self.spec.seed, "similarity", 0));
            drawn.truncate(self.spec.alike.sample);
            drawn.sort_unstable();
            drawn
        })
    }

    fn distances(&self, apart: Apart) -> Part<Vec<f64>> {
        distances(&self.study.embeddings, self.sample(), apart, self.driver)
    }

    /// The Gaussian kernel of the sample, U-centered, and its HSIC with itself.
    pub(crate) fn kernel(&self) -> Part<&(Vec<f64>, Sums)> {
        let rows = self.sample().len();
        let make = || {
            let kernel = gaussian(self.distances(Apart::Euclidean)?, rows, self.spec.alike.bandwidth);
            let kernel = kernel.ok_or("the median distance is zero, so the kernel has no width")?;
            let sums = Sums::of_doubly_centered(&kernel, &kernel, rows);
            Ok((kernel, sums))
        };
        self.kernel.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// The ranks of the distances within the sample.
    pub(crate) fn ranks(&self, apart: Apart) -> Part<&Ranks> {
        let cell = match apart {
            Apart::Euclidean => &self.ranks,
            Apart::Correlation => &self.correlation_ranks,
        };
        let make = || Ok(Ranks::new(&self.distances(apart)?, self.sample().len()));
        let found: Part<&Ranks> = cell.get_or_init(make).as_ref().map_err(Clone::clone);
        found.and_then(|ranks| {
            if ranks.are_tied() {
                Err("all distances are the same, so they have no order".to_string())
            } else {
                Ok(ranks)
            }
        })
    }
}

/// XᵀY of columns brought to variance 1.
pub(crate) fn standardized(product: &Mat<f64>, x: &Side, y: &Side) -> Mat<f64> {
    let (left, right) = (x.column_scales(), y.column_scales());
    Mat::from_fn(product.nrows(), product.ncols(), |i, j| {
        left[i] * product[(i, j)] * right[j]
    })
}

/// Two models on the same rows.
pub(crate) struct Pair<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) driver: &'a Driver<'a>,
    pub(crate) first: &'a Side<'a>,
    pub(crate) second: &'a Side<'a>,
    /// Which measures of products are wanted, by their places.
    pub(crate) wanted: [bool; 4],
    product: OnceLock<Mat<f64>>,
    shuffled: OnceLock<Vec<[Option<f64>; 4]>>,
}

impl Pair<'_> {
    /// XᵀY.
    pub(crate) fn product(&self) -> &Mat<f64> {
        let [x, y] = [&self.first.centered, &self.second.centered];
        self.product.get_or_init(|| product(x, y, None, self.driver))
    }

    /// Why no measure exists, where one model has no variance.
    pub(crate) fn has_variance(&self) -> Missing {
        for side in [self.first, self.second] {
            if side.centered.is_constant {
                return Err(format!("all embeddings of `{}` are the same", side.study.model));
            }
        }
        Ok(())
    }

    /// What all rows are resampled over.
    pub(crate) fn units(&self) -> Units<'_> {
        match &self.first.study.episodes {
            Some(episodes) => Units::Groups(episodes.codes(), "episodes"),
            None => Units::Single("rows"),
        }
    }

    /// The group of each row of the sample.
    pub(crate) fn groups_of_sample(&self) -> Option<Vec<u32>> {
        let codes = self.first.study.episodes.as_ref()?.codes();
        Some(self.first.sample().iter().map(|&row| codes[row as usize]).collect())
    }

    fn groups(&self) -> Option<&[u32]> {
        self.first.study.episodes.as_ref().map(|episodes| episodes.codes())
    }

    /// A measure over shuffled rows, so many times.
    pub(crate) fn draws(&self, measure: impl Fn(&[u32]) -> f64 + Sync) -> Vec<f64> {
        let shuffle = Shuffle::new(
            self.first.centered.rows(),
            self.groups(),
            self.spec.seed,
            "shuffled rows",
        );
        let count = self.spec.alike.permutations;
        self.driver.map(count, |draw| measure(&shuffle.order(draw)))
    }

    /// The same over the rows of the sample.
    pub(crate) fn draws_of_sample(&self, measure: impl Fn(&[u32]) -> f64 + Sync) -> Vec<f64> {
        let groups = self.groups_of_sample();
        let rows = self.first.sample().len();
        let shuffle = Shuffle::new(rows, groups.as_deref(), self.spec.seed, "shuffled sample");
        let count = self.spec.alike.permutations;
        self.driver.map(count, |draw| measure(&shuffle.order(draw)))
    }

    /// Measures of the product of rows that are shuffled, by their place among the measures: these cost as much as the product
    /// itself, vary little, and are drawn a tenth as often, all from the same products.
    pub(crate) fn draws_of_products(
        &self,
        place: usize,
        measures: impl Fn(&Mat<f64>) -> [Option<f64>; 4] + Sync,
    ) -> Vec<f64> {
        let [x, y] = [&self.first.centered, &self.second.centered];
        let draw = |draw: usize, shuffle: &Shuffle| {
            let order = shuffle.order(draw);
            let serial = Driver::silent(crate::run::Order::Serial);
            measures(&product(x, y, Some(&order), &serial))
        };
        let all = self.shuffled.get_or_init(|| {
            let rows = self.first.centered.rows();
            let shuffle = Shuffle::new(rows, self.groups(), self.spec.seed, "shuffled products");
            self.driver
                .map(self.spec.alike.permutations / 10, |at| draw(at, &shuffle))
        });
        all.iter().filter_map(|own| own[place]).collect()
    }
}

/// A measure of a pair: the line of a table beside its scores.
pub(crate) struct Line {
    /// What was measured: `cka(kernel=linear)`.
    pub(crate) measure: String,
    pub(crate) value: Option<f64>,
    pub(crate) interval: Option<[f64; 2]>,
    pub(crate) null: Option<Null>,
    pub(crate) n: usize,
}

/// A line, and the names of both models.
type Named = ([String; 2], Line);

/// What a metric answers of a pair.
#[derive(Default)]
pub(crate) struct Alike {
    pub(crate) scores: Vec<crate::score::Score>,
    pub(crate) lines: Vec<Line>,
}

/// Measures every two models. All problems of the input are found before any work.
pub fn similarity(studies: &[Study], metrics: &[&Metric], spec: &Spec, driver: &Driver) -> Result<Results> {
    let computes = check(studies, metrics, spec)?;
    let sides: Vec<Side> = studies.iter().map(|study| Side::new(study, spec, driver)).collect();
    let mut results = Results::default();
    let mut tables: Vec<(String, Vec<Named>)> = Vec::new();
    let pairs = studies.len() * (studies.len() - 1) / 2;
    let is_wanted = |id: &str| metrics.iter().any(|metric| metric.id == id);
    let wanted = ["procrustes", "svcca", "svcca", "pwcca"].map(is_wanted);
    driver.progress().begin("comparing representations", pairs as u64);
    for (i, first) in sides.iter().enumerate() {
        for second in &sides[i + 1..] {
            let pair = Pair {
                spec,
                driver,
                first,
                second,
                wanted,
                product: OnceLock::new(),
                shuffled: OnceLock::new(),
            };
            let (a, b) = (&first.study.model, &second.study.model);
            for compute in &computes {
                let Alike { scores, lines } = compute(&pair)?;
                let mut answer = Results::from(scores).of_model(&format!("{a}{BETWEEN}{b}"));
                for score in &mut answer.scores {
                    score.other = Some(b.clone());
                }
                results.absorb(answer);
                for line in lines {
                    let at = tables.iter().position(|(measure, _)| *measure == line.measure);
                    let at = at.unwrap_or_else(|| {
                        tables.push((line.measure.clone(), Vec::new()));
                        tables.len() - 1
                    });
                    tables[at].1.push(([a.clone(), b.clone()], line));
                }
            }
            driver.progress().advance(1);
        }
    }
    results
        .breakdowns
        .extend(tables.iter().map(|(measure, lines)| breakdown(measure, lines)));
    Ok(results)
}

/// A measure of every pair, with its null.
fn breakdown(measure: &str, lines: &[Named]) -> Breakdown {
    let null = |of: fn(&Null) -> f64| move |line: &Named| line.1.null.as_ref().map(of);
    let calibrated = |line: &Named| Some(line.1.null.as_ref()?.calibrated(line.1.value?));
    Breakdown::of(measure, lines)
        .key("model", |line| line.0[0].clone())
        .key("other", |line| line.0[1].clone())
        .column("value", |line| line.1.value)
        .column("low", |line| line.1.interval.map(|i| i[0]))
        .column("high", |line| line.1.interval.map(|i| i[1]))
        .column("calibrated", calibrated)
        .column("null_mean", null(|null| null.mean))
        .column("null_low", null(|null| null.ends[0]))
        .column("null_high", null(|null| null.ends[1]))
        .column("threshold", null(|null| null.threshold))
        .column("p", null(|null| null.p))
        .column("n", |line| Some(line.1.n as f64))
        .table
}

type Compute = fn(&Pair) -> Result<Alike>;

/// Whether [`similarity`] would take this: what it refuses before heavy work starts is refused here.
pub fn check_similarity(studies: &[Study], metrics: &[&Metric], spec: &Spec) -> Result<()> {
    check(studies, metrics, spec).map(|_| ())
}

fn check(studies: &[Study], metrics: &[&Metric], spec: &Spec) -> Result<Vec<Compute>> {
    spec.check()?;
    let mut computes: Vec<Compute> = Vec::new();
    for metric in metrics {
        let Work::Alike { compute } = metric.work else {
            return Err(metric.is_not("a measure of the similarity of models"));
        };
        computes.push(compute);
    }
    let [first, others @ ..] = studies else {
        return Err(Error::input(
            "similarity is measured between models, and there are none",
        ));
    };
    refuse_if(others.is_empty(), || {
        format!(
            "similarity is measured between models, and `{}` is the only one; give at least 2",
            first.model
        )
    })?;
    let rows = first.embeddings.rows();
    for (place, study) in studies.iter().enumerate() {
        study.check()?;
        refuse_if(studies[..place].iter().any(|other| other.model == study.model), || {
            format!("two models are called `{}`; give each its own name", study.model)
        })?;
        if study.embeddings.rows() != rows {
            return Err(Error::RowMismatch {
                left: format!("model `{}`", first.model),
                left_rows: rows,
                right: format!("model `{}`", study.model),
                right_rows: study.embeddings.rows(),
            });
        }
    }
    refuse_if(rows < FEWEST, || {
        format!("similarity needs at least {FEWEST} rows, and the models have {rows}")
    })?;
    let searches = metrics.iter().any(|metric| metric.id.ends_with("_knn"));
    if searches && spec.alike.k + 2 > rows {
        return Err(Error::KTooLarge {
            k: spec.alike.k,
            needed: spec.alike.k + 2,
            what: format!("model `{}`", first.model),
            rows,
        });
    }
    check_memory(studies, spec)?;
    Ok(computes)
}

/// Refuses a run that would not fit the budget, before any work.
fn check_memory(studies: &[Study], spec: &Spec) -> Result<()> {
    let Some(budget) = spec.memory else { return Ok(()) };
    let rows = studies[0].embeddings.rows() as u64;
    let columns = |study: &Study| study.embeddings.columns() as u64;
    let widest = studies.iter().map(columns).max().unwrap_or(0);
    let sample = rows.min(spec.alike.sample as u64);
    let models = studies.len() as u64;
    // Of each model its scatter and axes, lists, and matrices of the sample; of a pair some products.
    let of_each = 4 * widest * widest * 8 + rows * (16 + 12 * spec.alike.k as u64) + 24 * sample * sample;
    let of_sweep = tiles::memory(rows, widest, rows) + rows * (60 * spec.alike.k as u64 + 256);
    let needed = models * of_each + of_sweep + 8 * widest * widest * 8;
    let what = format!("the similarity of {models} models");
    memory::refuse_above(
        budget,
        needed,
        what,
        "compare all pairs of a smaller `sample`, or fewer models",
    )
}
