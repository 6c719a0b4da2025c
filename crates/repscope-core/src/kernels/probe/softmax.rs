// SPDX-License-Identifier: MIT
//! Multinomial logistic regression with an L2 penalty, of many training parts at once.
//!
//! The objective is that of scikit-learn, Σ loss + α/2 ‖W‖² with α = 1 / C and free intercepts; of two classes it is the binary one, which
//! is the multinomial one with the penalty doubled. Training parts that leave out different folds share each pass over the rows: a tile is
//! multiplied by the weights of all of them. Each is minimized by L-BFGS whose first guess of the curvature is the Gram matrix of the
//! standardized columns, and the next smaller penalty starts where the last one ended.

use std::collections::VecDeque;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use super::cholesky::Factor;
use super::folds::{Folds, LeftOut};
use super::rows::{Rows, Scaled, Sums, grams, times};
use crate::run::Driver;

/// Wider spaces have no Gram matrix as a first guess: its factor would cost more than it saves.
const WIDEST: usize = 4096;
/// Steps that L-BFGS remembers.
const MEMORY: usize = 10;
/// Rounds after which a fit is given up.
const MOST_ROUNDS: usize = 500;
/// Weights that are fitted at once.
const TOGETHER: usize = 1 << 22;
/// What the expected decrease of the mean loss may still be: to choose a penalty, and to predict.
const TO_CHOOSE: f64 = 1e-8;
const TO_PREDICT: f64 = 1e-22;
/// The least probability that a loss knows, that of scikit-learn's `log_loss`.
const LEAST: f64 = f64::EPSILON;

/// The rows and their classes.
pub(super) struct Problem<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) sums: &'a [Sums],
    pub(super) codes: &'a [u32],
    pub(super) classes: usize,
}

/// What the probes say of the tested rows, in ascending order of these.
#[derive(Debug, Clone, Default)]
pub(crate) struct Softmax {
    pub(crate) elected: Vec<u32>,
    /// The probability of the elected class.
    pub(crate) confidence: Vec<f64>,
    /// −ln of the probability of the own class.
    pub(crate) loss: Vec<f64>,
    /// The penalty of each tested fold.
    pub(crate) chosen: Vec<f64>,
    /// Probes whose weights were still changing when they were stopped.
    pub(crate) unsettled: usize,
}

/// One training part with one penalty.
struct Fit {
    left: LeftOut,
    penalty: f64,
    scaled: Scaled,
    /// Whether each class has rows that train.
    present: Vec<bool>,
    /// For each class the weights of the standardized columns, and what is added.
    theta: Vec<f64>,
    settled: bool,
}

/// A first guess of the inverse curvature.
struct Guess {
    factor: Option<Factor>,
    diagonal: f64,
    intercept: f64,
}

impl Guess {
    /// From the correlations of the columns, for so many rows whose classes vary by `curvature`.
    fn new(correlations: Option<&Mat<f64>>, rows: f64, curvature: f64, penalty: f64) -> Self {
        let weight = rows * curvature;
        // (w R + αI)⁻¹ = (R + α/w I)⁻¹ / w.
        Guess {
            factor: correlations.and_then(|own| Factor::new(own, penalty / weight)),
            diagonal: 1.0 / (weight + penalty),
            intercept: 1.0 / weight,
        }
    }

    fn apply(&self, gradient: &[f64], classes: usize) -> Vec<f64> {
        let size = gradient.len() / classes;
        let d = size - 1;
        let mut out: Vec<f64> = match &self.factor {
            None => gradient.iter().map(|g| g * self.diagonal).collect(),
            Some(factor) => {
                let solved = factor.solve(&Mat::from_fn(d, classes, |i, c| gradient[c * size + i]));
                let weight = self.intercept;
                let value = |at: usize| {
                    if at % size < d {
                        solved[(at % size, at / size)] * weight
                    } else {
                        0.0
                    }
                };
                (0..gradient.len()).map(value).collect()
            }
        };
        for class in 0..classes {
            let at = class * size + d;
            out[at] = gradient[at] * self.intercept;
        }
        out
    }
}

/// The minimization of one fit.
struct Descent {
    value: f64,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    slope: f64,
    step: f64,
    memory: VecDeque<Step>,
    has_begun: bool,
    rounds: usize,
}

struct Step {
    moved: Vec<f64>,
    turned: Vec<f64>,
    /// 1 / (moved · turned).
    inverse: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Descent {
    fn new() -> Self {
        Descent {
            value: 0.0,
            gradient: Vec::new(),
            direction: Vec::new(),
            slope: 0.0,
            step: 0.0,
            memory: VecDeque::new(),
            has_begun: false,
            rounds: 0,
        }
    }

    fn trial(&self, theta: &[f64]) -> Vec<f64> {
        if !self.has_begun {
            return theta.to_vec();
        }
        theta
            .iter()
            .zip(&self.direction)
            .map(|(t, d)| t + self.step * d)
            .collect()
    }

    /// Takes value and gradient at the trial. Returns whether the minimum is reached.
    fn advance(
        &mut self,
        fit: &mut Fit,
        guess: &Guess,
        classes: usize,
        value: f64,
        gradient: Vec<f64>,
        least: f64,
    ) -> bool {
        self.rounds += 1;
        if self.has_begun {
            let (first, last) = (self.slope, dot(&self.direction, &gradient));
            let rise = value - self.value;
            let is_lower = rise <= 1e-4 * self.step * first;
            // Near the minimum rounding hides a decrease, and slopes tell it (Hager and Zhang 2005).
            let is_flatter = rise <= 1e-9 * self.value.abs() && last <= -0.9998 * first;
            if !is_lower && !is_flatter && self.step > 1e-10 {
                let parabola = -first * self.step * self.step / (2.0 * (rise - first * self.step));
                self.step = parabola.clamp(0.1 * self.step, 0.5 * self.step);
                return false;
            }
            let moved: Vec<f64> = self.direction.iter().map(|d| d * self.step).collect();
            let turned: Vec<f64> = gradient.iter().zip(&self.gradient).map(|(a, b)| a - b).collect();
            fit.theta.iter_mut().zip(&moved).for_each(|(t, m)| *t += m);
            let product = dot(&moved, &turned);
            if product > 1e-14 * dot(&moved, &moved).sqrt() * dot(&turned, &turned).sqrt() {
                if self.memory.len() == MEMORY {
                    self.memory.pop_front();
                }
                self.memory.push_back(Step {
                    moved,
                    turned,
                    inverse: 1.0 / product,
                });
            }
        }
        self.has_begun = true;
        (self.value, self.gradient) = (value, gradient);
        self.direction = self.downhill(guess, classes);
        self.slope = dot(&self.direction, &self.gradient);
        self.step = 1.0;
        // Half of it is what a quadratic function would still lose.
        -self.slope <= least * fit.scaled.rows
    }

    /// −H g by the two loops of L-BFGS.
    fn downhill(&self, guess: &Guess, classes: usize) -> Vec<f64> {
        let mut q = self.gradient.clone();
        let mut shares = Vec::with_capacity(self.memory.len());
        for step in self.memory.iter().rev() {
            let share = step.inverse * dot(&step.moved, &q);
            q.iter_mut().zip(&step.turned).for_each(|(q, y)| *q -= share * y);
            shares.push(share);
        }
        let mut r = guess.apply(&q, classes);
        if let Some(last) = self.memory.back() {
            let size = dot(&last.turned, &guess.apply(&last.turned, classes));
            let scale = 1.0 / (last.inverse * size);
            if scale.is_finite() && scale > 0.0 {
                r.iter_mut().for_each(|r| *r *= scale);
            }
        }
        for (step, share) in self.memory.iter().zip(shares.iter().rev()) {
            let back = step.inverse * dot(&step.turned, &r);
            r.iter_mut()
                .zip(&step.moved)
                .for_each(|(r, s)| *r += (share - back) * s);
        }
        r.iter_mut().for_each(|r| *r = -*r);
        r
    }
}

/// Weights of several fits side by side, for rows of one fold.
struct Beside {
    /// Places among the fits.
    fits: Vec<usize>,
    weights: Mat<f64>,
    intercepts: Vec<f64>,
}

impl Fit {
    /// α in the multinomial form: of two classes, its ‖W‖² is half of that of the binary one.
    fn shrinks(&self) -> f64 {
        let known = self.present.iter().filter(|present| **present).count();
        if known == 2 { 2.0 * self.penalty } else { self.penalty }
    }
}

impl Problem<'_> {
    fn size(&self) -> usize {
        self.rows.columns() + 1
    }

    /// Rows of each class in each fold.
    fn counts(&self) -> Vec<Vec<f64>> {
        let count = |fold: u32| {
            let mut counts = vec![0.0; self.classes];
            for task in self.rows.tasks(|own| own == fold) {
                for &row in self.rows.named(task.places) {
                    counts[self.codes[row as usize] as usize] += 1.0;
                }
            }
            counts
        };
        (0..self.rows.folds()).map(count).collect()
    }

    fn fit(&self, counts: &[Vec<f64>], left: LeftOut, penalty: f64) -> Fit {
        let scaled = self.rows.scaled(self.sums, left);
        let mut of_class = vec![0.0; self.classes];
        for (_, own) in counts.iter().enumerate().filter(|(fold, _)| !left.holds(*fold as u32)) {
            of_class.iter_mut().zip(own).for_each(|(t, c)| *t += c);
        }
        let mut theta = vec![0.0; self.size() * self.classes];
        for (class, count) in of_class.iter().enumerate() {
            if *count > 0.0 {
                theta[(class + 1) * self.size() - 1] = (count / scaled.rows).ln();
            }
        }
        Fit {
            left,
            penalty,
            present: of_class.iter().map(|count| *count > 0.0).collect(),
            scaled,
            theta,
            settled: false,
        }
    }

    /// Weights as the rows meet them.
    fn beside(&self, fits: &[Fit], thetas: &[Vec<f64>], chosen: Vec<usize>) -> Beside {
        let (size, classes) = (self.size(), self.classes);
        let d = size - 1;
        let mut weights = Mat::zeros(d, chosen.len() * classes);
        let mut intercepts = vec![0.0; chosen.len() * classes];
        for (place, &at) in chosen.iter().enumerate() {
            let scaled = &fits[at].scaled;
            for class in 0..classes {
                let own = &thetas[at][class * size..(class + 1) * size];
                let column = place * classes + class;
                let mut shift = 0.0;
                for i in 0..d {
                    let weight = own[i] * scaled.inverse[i];
                    weights[(i, column)] = weight;
                    shift += weight * scaled.mean[i];
                }
                intercepts[column] = own[d] - shift;
            }
        }
        Beside {
            fits: chosen,
            weights,
            intercepts,
        }
    }

    /// Probabilities in place of logits; returns ln Σ exp.
    fn normalize(logits: &mut [f64], intercepts: &[f64], present: &[bool]) -> f64 {
        let mut largest = f64::NEG_INFINITY;
        for ((logit, b), present) in logits.iter_mut().zip(intercepts).zip(present) {
            *logit = if *present { *logit + b } else { f64::NEG_INFINITY };
            largest = largest.max(*logit);
        }
        let mut sum = 0.0;
        for logit in logits.iter_mut() {
            *logit = (*logit - largest).exp();
            sum += *logit;
        }
        logits.iter_mut().for_each(|p| *p /= sum);
        largest + sum.ln()
    }

    /// Objective and gradient of each fit at its theta.
    fn evaluate(&self, fits: &[Fit], thetas: &[Vec<f64>], active: &[usize], driver: &Driver) -> Vec<(f64, Vec<f64>)> {
        let (size, classes) = (self.size(), self.classes);
        let d = size - 1;
        let trains = |fold: u32| active.iter().copied().filter(move |at| !fits[*at].left.holds(fold));
        let of_folds = driver.map(self.rows.folds() as usize, |fold| {
            self.beside(fits, thetas, trains(fold as u32).collect())
        });
        let tasks = self.rows.tasks(|fold| !of_folds[fold as usize].fits.is_empty());
        let place_of = |at: usize| active.iter().position(|other| *other == at).expect("an active fit");
        let start: Vec<(f64, Vec<f64>)> = active.iter().map(|_| (0.0, vec![0.0; size * classes])).collect();
        let mut found = driver.fold(
            tasks.len(),
            |task| {
                let own = &of_folds[tasks[task].fold as usize];
                let width = own.fits.len() * classes;
                let mut gradient = Mat::<f64>::zeros(d, width);
                let (mut sums, mut losses) = (vec![0.0; width], vec![0.0; own.fits.len()]);
                let mut tile = Vec::new();
                for places in Rows::tiles(&tasks[task]) {
                    self.rows.read(places.clone(), 0..d, &mut tile);
                    let mut left = times(&tile, places.len(), &own.weights);
                    let named = self.rows.named(places.clone());
                    for (&row, line) in named.iter().zip(left.chunks_exact_mut(width)) {
                        let class = self.codes[row as usize] as usize;
                        for (place, logits) in line.chunks_exact_mut(classes).enumerate() {
                            let columns = place * classes..(place + 1) * classes;
                            let logit = logits[class] + own.intercepts[columns.start + class];
                            let present = &fits[own.fits[place]].present;
                            losses[place] += Self::normalize(logits, &own.intercepts[columns], present) - logit;
                            logits[class] -= 1.0;
                        }
                        sums.iter_mut().zip(line).for_each(|(s, r)| *s += *r);
                    }
                    let rows = MatRef::from_row_major_slice(&tile, places.len(), d);
                    let left = MatRef::from_row_major_slice(&left, places.len(), width);
                    matmul(gradient.as_mut(), Accum::Add, rows.transpose(), left, 1.0, Par::Seq);
                }
                (tasks[task].fold, losses, sums, gradient)
            },
            start,
            |mut all, (fold, losses, sums, gradient)| {
                for (place, &at) in of_folds[fold as usize].fits.iter().enumerate() {
                    let (loss, total) = &mut all[place_of(at)];
                    *loss += losses[place];
                    for class in 0..classes {
                        let column = place * classes + class;
                        let own = &mut total[class * size..(class + 1) * size];
                        own[..d]
                            .iter_mut()
                            .zip(gradient.col(column).iter())
                            .for_each(|(t, g)| *t += g);
                        own[d] += sums[column];
                    }
                }
                all
            },
        );
        for (&at, (loss, gradient)) in active.iter().zip(&mut found) {
            let (fit, theta, penalty) = (&fits[at], &thetas[at], fits[at].shrinks());
            for (own, theta) in gradient.chunks_exact_mut(size).zip(theta.chunks_exact(size)) {
                let sum = own[d];
                for i in 0..d {
                    own[i] = fit.scaled.inverse[i] * (own[i] - fit.scaled.mean[i] * sum) + penalty * theta[i];
                    *loss += 0.5 * penalty * theta[i] * theta[i];
                }
            }
        }
        found
    }

    /// Minimizes all fits.
    fn minimize(&self, fits: &mut [Fit], guesses: &[&Guess], least: f64, driver: &Driver) {
        let most = (TOGETHER / (self.size() * self.classes)).max(1);
        for first in (0..fits.len()).step_by(most) {
            let range = first..fits.len().min(first + most);
            self.minimize_together(&mut fits[range.clone()], &guesses[range], least, driver);
        }
    }

    fn minimize_together(&self, fits: &mut [Fit], guesses: &[&Guess], least: f64, driver: &Driver) {
        let mut descents: Vec<Descent> = fits.iter().map(|_| Descent::new()).collect();
        fits.iter_mut().for_each(|fit| fit.settled = false);
        let mut thetas: Vec<Vec<f64>> = fits.iter().map(|fit| fit.theta.clone()).collect();
        loop {
            let is_active = |at: &usize| !fits[*at].settled && descents[*at].rounds < MOST_ROUNDS;
            let active: Vec<usize> = (0..fits.len()).filter(is_active).collect();
            if active.is_empty() {
                return;
            }
            for &at in &active {
                thetas[at] = descents[at].trial(&fits[at].theta);
            }
            let found = self.evaluate(fits, &thetas, &active, driver);
            for (&at, (value, gradient)) in active.iter().zip(found) {
                let (fit, guess) = (&mut fits[at], guesses[at]);
                let settled = descents[at].advance(fit, guess, self.classes, value, gradient, least);
                fit.settled = settled;
            }
        }
    }

    /// What each wanted fit says of the rows of a fold: place, row, elected class, its probability, and the loss.
    fn predict(&self, fits: &[Fit], wanted: impl Fn(&Fit, u32) -> bool + Sync, driver: &Driver) -> Vec<Vec<Said>> {
        let thetas: Vec<Vec<f64>> = fits.iter().map(|fit| fit.theta.clone()).collect();
        let of_folds = driver.map(self.rows.folds() as usize, |fold| {
            let chosen = (0..fits.len()).filter(|at| wanted(&fits[*at], fold as u32)).collect();
            self.beside(fits, &thetas, chosen)
        });
        let tasks = self.rows.tasks(|fold| !of_folds[fold as usize].fits.is_empty());
        let (d, classes) = (self.rows.columns(), self.classes);
        let parts = driver.map(tasks.len(), |task| {
            let own = &of_folds[tasks[task].fold as usize];
            let width = own.fits.len() * classes;
            let (mut said, mut tile) = (Vec::new(), Vec::new());
            for places in Rows::tiles(&tasks[task]) {
                self.rows.read(places.clone(), 0..d, &mut tile);
                let mut left = times(&tile, places.len(), &own.weights);
                let named = self.rows.named(places);
                for (&row, line) in named.iter().zip(left.chunks_exact_mut(width)) {
                    let class = self.codes[row as usize] as usize;
                    for (place, logits) in line.chunks_exact_mut(classes).enumerate() {
                        let columns = place * classes..(place + 1) * classes;
                        let fit = own.fits[place];
                        Self::normalize(logits, &own.intercepts[columns], &fits[fit].present);
                        // Of classes that are as probable, the first.
                        let mut best = 0;
                        for (other, p) in logits.iter().enumerate() {
                            if *p > logits[best] {
                                best = other;
                            }
                        }
                        said.push(Said {
                            fit,
                            fold: tasks[task].fold,
                            row,
                            elected: best as u32,
                            confidence: logits[best],
                            loss: -logits[class].max(LEAST).ln(),
                        });
                    }
                }
            }
            said
        });
        let mut of_fits = vec![Vec::new(); fits.len()];
        for said in parts.into_iter().flatten() {
            of_fits[said.fit].push(said);
        }
        of_fits
    }
}

/// What a fit says of a row.
#[derive(Debug, Clone, Copy)]
struct Said {
    fit: usize,
    fold: u32,
    row: u32,
    elected: u32,
    confidence: f64,
    loss: f64,
}

/// The correlations of the columns over all rows: the lower triangle. None where that is too wide to help.
pub(super) fn correlations(rows: &Rows, sums: &[Sums], driver: &Driver) -> Option<Mat<f64>> {
    let d = rows.columns();
    let all = rows.scaled(sums, LeftOut::one(rows.folds()));
    if d > WIDEST || all.rows < d as f64 {
        return None;
    }
    let mut total = Mat::<f64>::zeros(d, d);
    for own in grams(rows, driver) {
        total += own;
    }
    for j in 0..d {
        for i in j..d {
            let covariance = total[(i, j)] / all.rows - all.mean[i] * all.mean[j];
            total[(i, j)] = covariance * all.inverse[i] * all.inverse[j];
        }
    }
    Some(total)
}

/// Σ p (1 − p) over the classes, per class: how much the rows curve the loss at the start.
fn curvature(counts: &[Vec<f64>], classes: usize) -> f64 {
    let total: f64 = counts.iter().flatten().sum();
    let of = |class: usize| counts.iter().map(|own| own[class]).sum::<f64>() / total;
    let spread: f64 = (0..classes).map(|class| of(class) * (1.0 - of(class))).sum();
    (spread / classes as f64).max(1e-6)
}

/// Predicts every tested fold by the classes of the others. Of the penalties, in descending order, the one with the least loss on the
/// folds that choose is taken; they are no longer tried when the loss has risen twice in a row for every tested fold.
pub(super) fn softmax(
    problem: &Problem,
    folds: &Folds,
    correlations: Option<&Mat<f64>>,
    penalties: &[f64],
    driver: &Driver,
) -> Softmax {
    let counts = problem.counts();
    let curvature = curvature(&counts, problem.classes);
    let guess = |rows: f64, penalty: f64| Guess::new(correlations, rows, curvature, penalty);
    let pairs = folds.pairs();
    let mut chosen = vec![penalties[0]; folds.tested.len()];
    if penalties.len() > 1 {
        driver.progress().begin("logistic probes", penalties.len() as u64);
        let mut fits: Vec<Fit> = pairs
            .iter()
            .map(|pair| problem.fit(&counts, *pair, penalties[0]))
            .collect();
        let mean_rows = fits.iter().map(|fit| fit.scaled.rows).sum::<f64>() / fits.len() as f64;
        let mut best = vec![f64::INFINITY; folds.tested.len()];
        let mut last = best.clone();
        let mut risen = vec![0; folds.tested.len()];
        for &penalty in penalties {
            let guess = guess(mean_rows, penalty);
            fits.iter_mut().for_each(|fit| fit.penalty = penalty);
            problem.minimize(&mut fits, &vec![&guess; pairs.len()], TO_CHOOSE, driver);
            let losses = problem.predict(&fits, |fit, fold| fit.left.holds(fold), driver);
            let loss = |fit: usize, fold: u32| {
                let of_fold = losses[fit].iter().filter(|said| said.fold == fold);
                of_fold.map(|said| said.loss).sum::<f64>()
            };
            for (place, &tested) in folds.tested.iter().enumerate() {
                let of_inner = folds.inner(tested).map(|inner| {
                    let pair = LeftOut::two(tested, inner);
                    loss(
                        pairs
                            .iter()
                            .position(|own| *own == pair)
                            .expect("every two folds are a pair"),
                        inner,
                    )
                });
                let total: f64 = of_inner.sum();
                // Of two that are as good, the larger penalty, which was tried first.
                if total < best[place] {
                    (best[place], chosen[place]) = (total, penalty);
                }
                risen[place] = if total > last[place] { risen[place] + 1 } else { 0 };
                last[place] = total;
            }
            driver.progress().advance(1);
            if risen.iter().all(|count| *count >= 2) {
                break;
            }
        }
    }
    let mut fits: Vec<Fit> = folds
        .tested
        .iter()
        .zip(&chosen)
        .map(|(tested, penalty)| problem.fit(&counts, LeftOut::one(*tested), *penalty))
        .collect();
    let guesses = driver.map(fits.len(), |at| guess(fits[at].scaled.rows, chosen[at]));
    let guesses: Vec<&Guess> = guesses.iter().collect();
    problem.minimize(&mut fits, &guesses, TO_PREDICT, driver);
    let said = problem.predict(&fits, |fit, fold| fit.left.holds(fold), driver);
    let mut said: Vec<Said> = said.into_iter().flatten().collect();
    said.sort_by_key(|own| own.row);
    Softmax {
        elected: said.iter().map(|own| own.elected).collect(),
        confidence: said.iter().map(|own| own.confidence).collect(),
        loss: said.iter().map(|own| own.loss).collect(),
        chosen,
        unsettled: fits.iter().filter(|fit| !fit.settled).count(),
    }
}
