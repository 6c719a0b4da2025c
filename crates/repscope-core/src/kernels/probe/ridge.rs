// SPDX-License-Identifier: MIT
//! Ridge regression of continuous targets: every penalty, every fold and every two folds from one pass over the rows.
//!
//! Products of the rows are summed fold by fold. Those of a training part are the sum of its folds, and the squared error on a fold that
//! chooses the penalty follows from the products of that fold: with G = UᵀU, c = Uᵀy and weights v it is Σ y² − 2 v·c + vᵀG v. Where
//! there are more columns than rows, the Gram matrix of the rows takes the place of that of the columns.

use faer::Accum;
use faer::linalg::matmul::matmul;
use faer::{Mat, MatRef, Par};
use rand::Rng;

use super::cholesky::Factor;
use super::folds::{Folds, LeftOut};
use super::rows::{Rows, Scaled, Sums, grams, of_rows, times};
use crate::data::Space;
use crate::random;
use crate::run::Driver;

/// What the probes of all folds predict.
pub(crate) struct Ridge {
    /// For each tested row, in ascending order, one number per target.
    pub(crate) predicted: Vec<f64>,
    /// The penalty of each target, by tested fold.
    pub(crate) chosen: Vec<Vec<f64>>,
    /// What rows do as rows that train; none where rows that only test are predicted.
    pub(crate) trained: Option<Trained>,
}

/// What each row does to the errors of rows that it trains a probe for.
pub(crate) struct Trained {
    /// Row by row, for each target, error and draw of signs.
    values: Vec<f64>,
    targets: usize,
}

/// An error of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Miss {
    Squared,
    Absolute,
}

/// Draws of random signs of the units that are tested.
const DRAWS: usize = 4;
/// All of them, and each draw.
const WAYS: usize = 1 + DRAWS;

impl Trained {
    /// The derivatives of Σ (y − ŷ)² or Σ |y − ŷ| of all tested rows by the weights of the rows that train.
    pub(crate) fn of_all(&self, target: usize, miss: Miss) -> Vec<f64> {
        self.of(target, miss, 0)
    }

    /// The same of sums in which each tested unit has a random sign: the mean of their squares is the sum of the squares of what every
    /// unit that trains does to every unit that is tested.
    pub(crate) fn of_signs(&self, target: usize, miss: Miss) -> Vec<Vec<f64>> {
        (1..WAYS).map(|way| self.of(target, miss, way)).collect()
    }

    fn of(&self, target: usize, miss: Miss, way: usize) -> Vec<f64> {
        let first = place(target, miss, way);
        self.values
            .iter()
            .skip(first)
            .step_by(self.targets * 2 * WAYS)
            .copied()
            .collect()
    }
}

fn place(target: usize, miss: Miss, way: usize) -> usize {
    (2 * target + usize::from(miss == Miss::Absolute)) * WAYS + way
}

/// A sign for each row in each draw; rows of a unit have the same.
pub(super) fn signs(units: &[u32], seed: u64) -> Vec<Vec<f64>> {
    let count = units.iter().max().map_or(0, |last| *last as usize + 1);
    let draw = |draw: usize| {
        let mut stream = random::stream(seed, "signs of tested units", draw as u64);
        let of_units: Vec<f64> = (0..count)
            .map(|_| if stream.next_u32() & 1 == 0 { 1.0 } else { -1.0 })
            .collect();
        units.iter().map(|&unit| of_units[unit as usize]).collect()
    };
    (0..DRAWS).map(draw).collect()
}

/// Targets with mean 0 and variance 1 over all rows, so that no sum loses digits; a constant one is 0.
struct Standard {
    values: Vec<f64>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
}

impl Standard {
    fn new(targets: &Space) -> Self {
        let (n, t) = (targets.rows(), targets.columns());
        let mut values = vec![0.0; n * t];
        for (row, out) in values.chunks_exact_mut(t).enumerate() {
            targets.read_row(row, out);
        }
        let (mut mean, mut deviation) = (vec![0.0; t], vec![0.0; t]);
        for row in values.chunks_exact(t) {
            mean.iter_mut().zip(row).for_each(|(m, y)| *m += y / n as f64);
        }
        for row in values.chunks_exact(t) {
            let parts = deviation.iter_mut().zip(row).zip(&mean);
            parts.for_each(|((d, y), m)| *d += (y - m).powi(2) / n as f64);
        }
        deviation.iter_mut().for_each(|d| *d = d.sqrt());
        for row in values.chunks_exact_mut(t) {
            for ((y, m), d) in row.iter_mut().zip(&mean).zip(&deviation) {
                *y = if *d > 1e-13 * m.abs() { (*y - m) / d } else { 0.0 };
            }
        }
        Standard {
            values,
            mean,
            deviation,
        }
    }
}

/// Weights of the columns, and what is added.
struct Line {
    weights: Mat<f64>,
    intercept: Vec<f64>,
}

/// Sums of the products of a fold.
struct Products {
    /// Uᵀy.
    with_targets: Mat<f64>,
    /// Σ y and Σ y² of each target.
    targets: Vec<f64>,
    squares: Vec<f64>,
}

struct Probes<'a> {
    rows: &'a Rows<'a>,
    sums: &'a [Sums],
    targets: Standard,
    count: usize,
    products: Vec<Products>,
    /// None where there are fewer rows than columns.
    grams: Option<Vec<Mat<f64>>>,
}

/// The normal equations of a training part.
enum System {
    /// Of the columns.
    Columns { matrix: Mat<f64>, right: Mat<f64> },
    /// Of the rows, which are standardized.
    Rows {
        rows: Vec<f64>,
        matrix: Mat<f64>,
        right: Mat<f64>,
    },
}

/// Predicts every tested fold by ridge regression on the others.
pub(super) fn ridge(
    rows: &Rows,
    sums: &[Sums],
    targets: &Space,
    folds: &Folds,
    penalties: &[f64],
    signs: &[Vec<f64>],
    driver: &Driver,
) -> Ridge {
    let probes = Probes::new(rows, sums, targets, driver);
    // One penalty needs no choice.
    let pairs = if penalties.len() > 1 { folds.pairs() } else { Vec::new() };
    let t = probes.count;
    driver
        .progress()
        .begin("ridge probes", (pairs.len() + folds.tested.len()) as u64);
    // Squared errors on both folds of a pair, by penalty and target.
    let errors = driver.map(pairs.len(), |pair| {
        let pair = pairs[pair];
        let (scaled, system) = probes.system(pair);
        let mut errors = vec![[vec![0.0; t], vec![0.0; t]]; penalties.len()];
        for (penalty, errors) in penalties.iter().zip(&mut errors) {
            let line = probes.solve(&system, &scaled, pair, *penalty);
            for (fold, errors) in [pair.0, pair.1].into_iter().zip(errors) {
                *errors = match &line {
                    Some(line) => probes.errors(line, fold),
                    None => vec![f64::INFINITY; t],
                };
            }
        }
        driver.progress().advance(1);
        errors
    });
    let choose = |tested: u32| -> Vec<f64> {
        if pairs.is_empty() {
            return vec![penalties[0]; t];
        }
        let mut total = vec![vec![0.0; t]; penalties.len()];
        for inner in folds.inner(tested) {
            let place = pairs.iter().position(|pair| *pair == LeftOut::two(tested, inner));
            let place = place.expect("every two folds are a pair");
            let side = usize::from(pairs[place].1 == inner);
            for (total, own) in total.iter_mut().zip(&errors[place]) {
                total.iter_mut().zip(&own[side]).for_each(|(sum, error)| *sum += error);
            }
        }
        let best = |target: usize| {
            let mut order: Vec<usize> = (0..penalties.len()).collect();
            // Of two that are as good, the larger penalty.
            order.sort_by(|&a, &b| {
                let (x, y) = (total[a][target], total[b][target]);
                x.total_cmp(&y).then(penalties[b].total_cmp(&penalties[a]))
            });
            penalties[order[0]]
        };
        (0..t).map(best).collect()
    };
    let does_all = folds.tested.len() == rows.folds() as usize;
    let predict = |at: usize| {
        let tested = folds.tested[at];
        let chosen = choose(tested);
        let left = LeftOut::one(tested);
        let (scaled, system) = probes.system(left);
        let (d, mut intercept) = (rows.columns(), vec![0.0; t]);
        let mut weights = Mat::<f64>::zeros(d, t);
        for (target, penalty) in chosen.iter().enumerate() {
            // Targets of one penalty are solved together.
            if chosen[..target].contains(penalty) {
                continue;
            }
            let Some(line) = probes.solve(&system, &scaled, left, *penalty) else {
                continue;
            };
            for other in (target..t).filter(|&other| chosen[other] == *penalty) {
                (0..d).for_each(|j| weights[(j, other)] = line.weights[(j, other)]);
                intercept[other] = line.intercept[other];
            }
        }
        driver.progress().advance(1);
        let line = Line { weights, intercept };
        let trained = does_all.then(|| probes.trained((&system, &scaled), &line, &chosen, tested, signs));
        (chosen, probes.predict(&line, tested), trained)
    };
    let mut predicted: Vec<(u32, Vec<f64>)> = Vec::new();
    let (mut chosen, mut values) = (
        Vec::new(),
        vec![0.0; if does_all { targets.rows() * t * 2 * WAYS } else { 0 }],
    );
    let width = t * 2 * WAYS;
    driver.fold(folds.tested.len(), predict, (), |(), (penalties, lines, trained)| {
        chosen.push(penalties);
        predicted.extend(lines);
        for (row, own) in trained.into_iter().flatten() {
            let all = &mut values[row as usize * width..(row as usize + 1) * width];
            all.iter_mut().zip(own).for_each(|(all, own)| *all += own);
        }
    });
    predicted.sort_by_key(|(row, _)| *row);
    Ridge {
        predicted: predicted.into_iter().flat_map(|(_, line)| line).collect(),
        chosen,
        trained: does_all.then_some(Trained { values, targets: t }),
    }
}

/// (XᵀX + αI)⁻¹ B of the standardized rows that train. Of fewer rows than columns it is (B − Xᵀ (XXᵀ + αI)⁻¹ X B) / α.
fn solved(system: &System, penalty: f64, right: &Mat<f64>) -> Option<Mat<f64>> {
    match system {
        System::Columns { matrix, .. } => Some(Factor::new(matrix, penalty)?.solve(right)),
        System::Rows { rows, matrix, .. } => {
            let x = MatRef::from_row_major_slice(rows, matrix.nrows(), right.nrows());
            let duals = Factor::new(matrix, penalty)?.solve(&(x * right));
            Some((right - x.transpose() * duals) * faer::Scale(1.0 / penalty))
        }
    }
}

impl<'a> Probes<'a> {
    fn new(rows: &'a Rows<'a>, sums: &'a [Sums], targets: &Space, driver: &Driver) -> Self {
        let count = targets.columns();
        let standard = Standard::new(targets);
        let (d, total) = (rows.columns(), targets.rows());
        let tasks = rows.tasks(|_| true);
        let empty = || Products {
            with_targets: Mat::zeros(d, count),
            targets: vec![0.0; count],
            squares: vec![0.0; count],
        };
        let products = driver.fold(
            tasks.len(),
            |task| {
                let (mut own, mut tile, mut y) = (empty(), Vec::new(), Vec::new());
                for places in Rows::tiles(&tasks[task]) {
                    rows.read(places.clone(), 0..d, &mut tile);
                    y.clear();
                    for &row in rows.named(places.clone()) {
                        let line = &standard.values[row as usize * count..(row as usize + 1) * count];
                        y.extend_from_slice(line);
                        own.targets.iter_mut().zip(line).for_each(|(s, y)| *s += y);
                        own.squares.iter_mut().zip(line).for_each(|(s, y)| *s += y * y);
                    }
                    let left = MatRef::from_row_major_slice(&tile, places.len(), d);
                    let right = MatRef::from_row_major_slice(&y, places.len(), count);
                    matmul(
                        own.with_targets.as_mut(),
                        Accum::Add,
                        left.transpose(),
                        right,
                        1.0,
                        Par::Seq,
                    );
                }
                (tasks[task].fold, own)
            },
            (0..rows.folds()).map(|_| empty()).collect(),
            |mut all: Vec<Products>, (fold, own)| {
                let sum = &mut all[fold as usize];
                sum.with_targets += own.with_targets;
                sum.targets.iter_mut().zip(own.targets).for_each(|(t, s)| *t += s);
                sum.squares.iter_mut().zip(own.squares).for_each(|(t, s)| *t += s);
                all
            },
        );
        Probes {
            grams: (total >= d).then(|| grams(rows, driver)),
            targets: standard,
            rows,
            sums,
            count,
            products,
        }
    }

    /// The means of the targets of a training part.
    fn means(&self, left: LeftOut, rows: f64) -> Vec<f64> {
        let mut means = vec![0.0; self.count];
        for (_, own) in self
            .products
            .iter()
            .enumerate()
            .filter(|(fold, _)| !left.holds(*fold as u32))
        {
            means.iter_mut().zip(&own.targets).for_each(|(m, s)| *m += s / rows);
        }
        means
    }

    fn system(&self, left: LeftOut) -> (Scaled, System) {
        let scaled = self.rows.scaled(self.sums, left);
        let (d, t) = (self.rows.columns(), self.count);
        let means = self.means(left, scaled.rows);
        let trains = |fold: &usize| !left.holds(*fold as u32);
        let Some(grams) = &self.grams else {
            let (mut rows, mut y, mut tile) = (Vec::new(), Vec::new(), Vec::new());
            for task in self.rows.tasks(|fold| !left.holds(fold)) {
                self.rows.read(task.places.clone(), 0..d, &mut tile);
                for row in tile.chunks_exact(d) {
                    let parts = row.iter().zip(&scaled.mean).zip(&scaled.inverse);
                    rows.extend(parts.map(|((u, m), i)| (u - m) * i));
                }
                for &row in self.rows.named(task.places) {
                    let line = &self.targets.values[row as usize * t..(row as usize + 1) * t];
                    y.extend(line.iter().zip(&means).map(|(y, m)| y - m));
                }
            }
            let n = y.len() / t;
            let system = System::Rows {
                matrix: of_rows(&rows, n, d),
                right: MatRef::from_row_major_slice(&y, n, t).to_owned(),
                rows,
            };
            return (scaled, system);
        };
        let (n, inverse, mean) = (scaled.rows, &scaled.inverse, &scaled.mean);
        let mut matrix = Mat::<f64>::zeros(d, d);
        let mut right = Mat::<f64>::zeros(d, t);
        for fold in (0..grams.len()).filter(trains) {
            for j in 0..d {
                for i in j..d {
                    matrix[(i, j)] += grams[fold][(i, j)];
                }
            }
            right += &self.products[fold].with_targets;
        }
        for j in 0..d {
            for i in j..d {
                matrix[(i, j)] = (matrix[(i, j)] - n * mean[i] * mean[j]) * inverse[i] * inverse[j];
            }
        }
        for target in 0..t {
            for i in 0..d {
                right[(i, target)] = (right[(i, target)] - n * mean[i] * means[target]) * inverse[i];
            }
        }
        (scaled, System::Columns { matrix, right })
    }

    /// The weights with a penalty, in the units of the rows.
    fn solve(&self, system: &System, scaled: &Scaled, left: LeftOut, penalty: f64) -> Option<Line> {
        let mut weights = match system {
            System::Columns { matrix, right } => Factor::new(matrix, penalty)?.solve(right),
            System::Rows { rows, matrix, right } => {
                let duals = Factor::new(matrix, penalty)?.solve(right);
                let mut weights = Mat::zeros(self.rows.columns(), self.count);
                let rows = MatRef::from_row_major_slice(rows, matrix.nrows(), self.rows.columns());
                matmul(
                    weights.as_mut(),
                    Accum::Replace,
                    rows.transpose(),
                    duals.as_ref(),
                    1.0,
                    Par::Seq,
                );
                weights
            }
        };
        let mut intercept = self.means(left, scaled.rows);
        for (target, intercept) in intercept.iter_mut().enumerate() {
            for i in 0..weights.nrows() {
                weights[(i, target)] *= scaled.inverse[i];
                *intercept -= weights[(i, target)] * scaled.mean[i];
            }
        }
        Some(Line { weights, intercept })
    }

    /// Σ (y − ŷ)² over a fold, for each target.
    fn errors(&self, line: &Line, fold: u32) -> Vec<f64> {
        let (d, n) = (self.rows.columns(), self.rows.count(fold) as f64);
        let Some(grams) = &self.grams else {
            let mut errors = vec![0.0; self.count];
            for (row, predicted) in self.lines(line, fold) {
                let line = &self.targets.values[row as usize * self.count..(row as usize + 1) * self.count];
                let parts = errors.iter_mut().zip(&predicted).zip(line);
                parts.for_each(|((sum, p), y)| *sum += (y - p).powi(2));
            }
            return errors;
        };
        let (gram, own, sums) = (
            &grams[fold as usize],
            &self.products[fold as usize],
            &self.sums[fold as usize],
        );
        let error = |target: usize| {
            let v: Vec<f64> = (0..d).map(|i| line.weights[(i, target)]).collect();
            let b = line.intercept[target];
            let mut form = 0.0;
            for j in 0..d {
                let below: f64 = (j + 1..d).map(|i| gram[(i, j)] * v[i]).sum();
                form += v[j] * (2.0 * below + gram[(j, j)] * v[j]);
            }
            let with_targets: f64 = (0..d).map(|i| v[i] * own.with_targets[(i, target)]).sum();
            let with_sums: f64 = v.iter().zip(&sums.columns).map(|(v, s)| v * s).sum();
            own.squares[target] - 2.0 * with_targets - 2.0 * b * own.targets[target]
                + form
                + 2.0 * b * with_sums
                + n * b * b
        };
        (0..self.count).map(error).collect()
    }

    /// What each row that trains does to the errors on a fold: more weight on a row with residual r moves the prediction of a row x by
    /// xᵀ (XᵀX + αI)⁻¹ x′ r, where columns are standardized, and by r / n through the intercept. How they are standardized is taken as given.
    fn trained(
        &self,
        (system, scaled): (&System, &Scaled),
        line: &Line,
        chosen: &[f64],
        tested: u32,
        signs: &[Vec<f64>],
    ) -> Vec<(u32, Vec<f64>)> {
        let (d, t) = (self.rows.columns(), self.count);
        let width = t * 2 * WAYS;
        let error = |row: u32, predicted: &[f64], target: usize| {
            self.targets.values[row as usize * t + target] - predicted[target]
        };
        // Σ of the slopes of the errors by the predictions, times the standardized row; the last line is their sum.
        let (mut sums, mut tile) = (Mat::<f64>::zeros(d, width), Vec::new());
        let mut slopes_of_all = vec![0.0; width];
        let predicted = self.lines(line, tested);
        let mut next = predicted.iter();
        for task in self.rows.tasks(|own| own == tested) {
            for places in Rows::tiles(&task) {
                self.rows.read(places.clone(), 0..d, &mut tile);
                let mut slopes = Vec::with_capacity(places.len() * width);
                for (row, predicted) in next.by_ref().take(places.len()) {
                    for target in 0..t {
                        let (e, deviation) = (error(*row, predicted, target), self.targets.deviation[target]);
                        for slope in [-2.0 * e * deviation * deviation, -e.signum() * deviation] {
                            slopes.push(slope);
                            slopes.extend(signs.iter().map(|signs| slope * signs[*row as usize]));
                        }
                    }
                }
                for line in slopes.chunks_exact(width) {
                    slopes_of_all
                        .iter_mut()
                        .zip(line)
                        .for_each(|(sum, slope)| *sum += slope);
                }
                let left = MatRef::from_row_major_slice(&tile, places.len(), d);
                let right = MatRef::from_row_major_slice(&slopes, places.len(), width);
                matmul(sums.as_mut(), Accum::Add, left.transpose(), right, 1.0, Par::Seq);
            }
        }
        for (way, all) in slopes_of_all.iter().enumerate() {
            (0..d).for_each(|i| sums[(i, way)] = (sums[(i, way)] - all * scaled.mean[i]) * scaled.inverse[i]);
        }
        let of_target = 2 * WAYS;
        for (target, penalty) in chosen.iter().enumerate() {
            if chosen[..target].contains(penalty) {
                continue;
            }
            let alike: Vec<usize> = (target..t).filter(|&other| chosen[other] == *penalty).collect();
            let column = |at: usize| alike[at / of_target] * of_target + at % of_target;
            let right = Mat::from_fn(d, alike.len() * of_target, |i, at| sums[(i, column(at))]);
            let solved = solved(system, *penalty, &right).unwrap_or_else(|| Mat::zeros(d, right.ncols()));
            for at in 0..solved.ncols() {
                (0..d).for_each(|i| sums[(i, column(at))] = solved[(i, at)] * scaled.inverse[i]);
            }
        }
        let shifts: Vec<f64> = (0..width)
            .map(|way| slopes_of_all[way] / scaled.rows - (0..d).map(|i| sums[(i, way)] * scaled.mean[i]).sum::<f64>())
            .collect();
        let mut found = Vec::new();
        for fold in (0..self.rows.folds()).filter(|&fold| fold != tested) {
            let predicted = self.lines(line, fold);
            let mut next = predicted.iter();
            for task in self.rows.tasks(|own| own == fold) {
                for places in Rows::tiles(&task) {
                    self.rows.read(places.clone(), 0..d, &mut tile);
                    let product = times(&tile, places.len(), &sums);
                    for ((row, predicted), moves) in next.by_ref().take(places.len()).zip(product.chunks_exact(width)) {
                        let of = |(way, moves): (usize, &f64)| {
                            (moves + shifts[way]) * error(*row, predicted, way / of_target)
                        };
                        found.push((*row, moves.iter().enumerate().map(of).collect()));
                    }
                }
            }
        }
        found
    }

    /// Predictions of a fold, in standard units.
    fn lines(&self, line: &Line, fold: u32) -> Vec<(u32, Vec<f64>)> {
        let (mut found, mut tile) = (Vec::new(), Vec::new());
        for task in self.rows.tasks(|own| own == fold) {
            for places in Rows::tiles(&task) {
                self.rows.read(places.clone(), 0..self.rows.columns(), &mut tile);
                let product = times(&tile, places.len(), &line.weights);
                for (&row, product) in self.rows.named(places).iter().zip(product.chunks_exact(self.count)) {
                    let own = product.iter().zip(&line.intercept).map(|(p, b)| p + b);
                    found.push((row, own.collect()));
                }
            }
        }
        found
    }

    /// Predictions of a fold, in the units of the targets.
    fn predict(&self, line: &Line, fold: u32) -> Vec<(u32, Vec<f64>)> {
        let mut lines = self.lines(line, fold);
        for (_, line) in &mut lines {
            for ((p, m), d) in line.iter_mut().zip(&self.targets.mean).zip(&self.targets.deviation) {
                *p = m + d * *p;
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    #[test]
    fn a_row_that_trains_does_what_more_weight_on_it_does() {
        let driver = Driver::silent(Order::Serial);
        let x: Vec<f64> = (0..12).map(|i| (f64::from(i) * 1.7).sin()).collect();
        let y: Vec<f64> = (0..12).map(|i| x[i] + (i as f64 * 2.9).cos()).collect();
        let (space, targets) = (
            Space::from_f64("z", 12, 1, x.clone()).unwrap(),
            Space::from_f64("y", 12, 1, y.clone()).unwrap(),
        );
        let folds = Folds {
            of: (0..12).map(|i| i % 3).collect(),
            count: 3,
            tested: vec![0, 1, 2],
        };
        let rows = Rows::new(&space, &folds, &driver);
        let sums = Sums::of(&rows, &driver);
        let units: Vec<u32> = (0..12).collect();
        let penalty = 0.7;
        let found = ridge(&rows, &sums, &targets, &folds, &[penalty], &signs(&units, 5), &driver);
        let trained = found.trained.expect("all rows are tested");
        // The same probes by hand, with more weight on one row; the scale of the column is that of equal weights.
        let misses = |heavy: usize, more: f64| {
            let (mut squared, mut absolute) = (0.0, 0.0);
            for fold in 0..3 {
                let trains: Vec<usize> = (0..12).filter(|i| i % 3 != fold).collect();
                let n = trains.len() as f64;
                let mean = trains.iter().map(|&i| x[i]).sum::<f64>() / n;
                let deviation = (trains.iter().map(|&i| (x[i] - mean).powi(2)).sum::<f64>() / n).sqrt();
                let z: Vec<f64> = x.iter().map(|x| (x - mean) / deviation).collect();
                let weight = |i: usize| if i == heavy { 1.0 + more } else { 1.0 };
                let total: f64 = trains.iter().map(|&i| weight(i)).sum();
                let center = |of: &[f64]| trains.iter().map(|&i| weight(i) * of[i]).sum::<f64>() / total;
                let (at, target) = (center(&z), center(&y));
                let product: f64 = trains.iter().map(|&i| weight(i) * (z[i] - at) * (y[i] - target)).sum();
                let square: f64 = trains.iter().map(|&i| weight(i) * (z[i] - at).powi(2)).sum();
                for i in (0..12).filter(|i| i % 3 == fold) {
                    let error = y[i] - target - product / (square + penalty) * (z[i] - at);
                    squared += error * error;
                    absolute += error.abs();
                }
            }
            [squared, absolute]
        };
        for (place, miss) in [(0, Miss::Squared), (1, Miss::Absolute)] {
            for (row, own) in trained.of_all(0, miss).into_iter().enumerate() {
                let slope = (misses(row, 1e-6)[place] - misses(row, -1e-6)[place]) / 2e-6;
                assert!((own - slope).abs() < 1e-6, "{miss:?} {row}: {own} {slope}");
            }
        }
        // One unit alone has one sign.
        let alike = ridge(&rows, &sums, &targets, &folds, &[penalty], &signs(&[0; 12], 5), &driver);
        let alike = alike.trained.expect("all rows are tested");
        let all = alike.of_all(0, Miss::Squared);
        for signed in alike.of_signs(0, Miss::Squared) {
            assert!(signed.iter().zip(&all).all(|(a, b)| (a.abs() - b.abs()).abs() < 1e-12));
        }
    }
}
