// SPDX-License-Identifier: MIT
//! DANCo (Ceruti et al. 2014): how the distances to the nearest rows and the angles between them concentrate, beside how they do in
//! balls of known dimension.
//!
//! The search begins at the dimension that the distances give, and ends where the divergence has not fallen for some dimensions, so that few
//! of them need a ball.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use statrs::function::gamma::digamma;

use super::prepared::{Preparation, Prepared};
use super::repeats::{Repeat, firsts};
use super::shells::Likelihood;
use super::tiles::{Anchors, Ask, sweep};
use crate::data::Space;
use crate::error::{Error, Result};
use crate::random;
use crate::run::Driver;
use crate::spec::Spec;

/// The largest dimension that balls are drawn of.
pub(crate) const LARGEST: usize = 100;
/// The search ends after so many dimensions on either side of the best one.
const PATIENCE: usize = 5;
/// Small samples are compared with several balls, of so many rows together.
const ROWS_OF_BALLS: usize = 2500;
/// And of at most so many balls.
const MOST_BALLS: usize = 20;
/// The largest concentration of the angles of a row. It is infinite where all of them are equal, as at the end of a line.
const LARGEST_TAU: f64 = 500.0;
/// Rows per task.
const ROWS: usize = 64;

/// How distances and angles concentrate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Concentration {
    /// The most likely dimension, given the ratios of the distances to neighbors 1 and K + 1 (MiND_ML).
    pub(crate) distances: f64,
    /// The mean angle of the von Mises distributions of single rows.
    pub(crate) nu: f64,
    /// And their mean concentration.
    pub(crate) tau: f64,
}

/// Why there is no dimension.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Missing {
    /// There are fewer than K + 2 rows without copies.
    Rows,
    /// Neighbors 1 and K + 1 of every row are equally far.
    Ratios,
}

/// What was found.
#[derive(Debug, Clone)]
pub(crate) struct Danco {
    /// The rows looked at.
    pub(crate) rows: usize,
    /// The rows without copies of earlier ones, of which these are drawn.
    pub(crate) distinct: usize,
    pub(crate) found: std::result::Result<Found, Missing>,
}

/// The dimension, and what it follows from.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) of_rows: Concentration,
    /// The Kullback–Leibler divergence from balls, by their dimension.
    pub(crate) divergences: BTreeMap<usize, f64>,
}

/// How balls of so many rows concentrate; drawn when they are asked for, and kept for the next model.
pub(crate) struct Balls {
    k: usize,
    seed: u64,
    known: BTreeMap<(usize, usize), Concentration>,
}

impl Danco {
    /// Of the rows of a space, or of some of them.
    pub(crate) fn new(space: &Space, spec: &Spec, balls: &mut Balls, driver: &Driver) -> Result<Self> {
        let (k, most) = (spec.dimension.danco_k, spec.dimension.danco_rows);
        let repeats = firsts(space, Repeat::Row, driver);
        let own: Vec<usize> = (0..space.rows()).filter(|&i| repeats[i] as usize == i).collect();
        let mut rows = own.clone();
        if own.len() > most {
            let order = random::permutation(own.len(), &mut random::stream(spec.seed, "danco-rows", 0));
            rows = order[..most].iter().map(|&at| own[at as usize]).collect();
            rows.sort_unstable();
        }
        let missing = |why| Danco {
            rows: rows.len(),
            distinct: own.len(),
            found: Err(why),
        };
        if rows.len() < k + 2 {
            return Ok(missing(Missing::Rows));
        }
        let columns = space.columns();
        let Some(mut of_rows) = concentration(&space.select(&rows)?, k, driver)? else {
            return Ok(missing(Missing::Ratios));
        };
        of_rows.distances = of_rows.distances.min(columns as f64);
        let mut divergences = BTreeMap::new();
        let most = columns.min(LARGEST);
        let mut best = (of_rows.distances.round() as usize).clamp(1, most);
        loop {
            for d in best.saturating_sub(PATIENCE).max(1)..=(best + PATIENCE).min(most) {
                if let Entry::Vacant(place) = divergences.entry(d) {
                    place.insert(divergence(&of_rows, &balls.of(rows.len(), d, driver)?, k));
                }
            }
            let nearest = nearest(&divergences);
            if nearest == best {
                break;
            }
            best = nearest;
        }
        Ok(Danco {
            rows: rows.len(),
            distinct: own.len(),
            found: Ok(Found { of_rows, divergences }),
        })
    }
}

impl Found {
    /// The dimension of the ball with the least divergence.
    pub(crate) fn dimension(&self) -> usize {
        nearest(&self.divergences)
    }

    /// Where the parabola through the least divergence and both beside it is lowest.
    pub(crate) fn fractional(&self) -> f64 {
        let best = self.dimension();
        let at = |d: usize| self.divergences.get(&d).copied();
        let (Some(before), Some(least), Some(after)) = (at(best - 1), at(best), at(best + 1)) else {
            return best as f64;
        };
        let bend = before - 2.0 * least + after;
        if bend > 0.0 {
            best as f64 + (before - after) / (2.0 * bend)
        } else {
            best as f64
        }
    }
}

fn nearest(divergences: &BTreeMap<usize, f64>) -> usize {
    let least = divergences.iter().min_by(|a, b| a.1.total_cmp(b.1));
    least.map_or(1, |(d, _)| *d)
}

impl Balls {
    /// None yet.
    pub(crate) fn new(spec: &Spec) -> Self {
        Balls {
            k: spec.dimension.danco_k,
            seed: spec.seed,
            known: BTreeMap::new(),
        }
    }

    /// The mean over some balls of dimension `d`.
    fn of(&mut self, rows: usize, d: usize, driver: &Driver) -> Result<Concentration> {
        if let Some(known) = self.known.get(&(rows, d)) {
            return Ok(*known);
        }
        let count = (ROWS_OF_BALLS / rows).clamp(1, MOST_BALLS);
        let mut sum = [0.0; 3];
        for draw in 0..count {
            let mut rng = random::stream(self.seed, "danco-ball", (d * MOST_BALLS + draw) as u64);
            let ball = Space::from_f64("ball", rows, d, ball(rows, d, &mut rng))?;
            let own = concentration(&ball, self.k, driver)?
                .ok_or_else(|| Error::Internal(format!("a ball of dimension {d} whose rows are equally far")))?;
            sum = [sum[0] + own.distances, sum[1] + own.nu, sum[2] + own.tau];
        }
        let [distances, nu, tau] = sum.map(|sum| sum / count as f64);
        let found = Concentration { distances, nu, tau };
        self.known.insert((rows, d), found);
        Ok(found)
    }
}

/// Rows that fill the unit ball evenly.
fn ball(rows: usize, d: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut values = Vec::with_capacity(rows * d);
    for _ in 0..rows {
        let direction: Vec<f64> = (0..d).map(|_| normal(rng)).collect();
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        let radius = uniform(rng).powf(1.0 / d as f64);
        values.extend(direction.iter().map(|x| x / length * radius));
    }
    values
}

/// From 0, which it is not, to 1.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// A mean of 0 and a variance of 1 (Box and Muller 1958).
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (a, b) = (uniform(rng), uniform(rng));
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// None where neighbors 1 and K + 1 of every row are equally far.
fn concentration(space: &Space, k: usize, driver: &Driver) -> Result<Option<Concentration>> {
    let ask = Ask {
        k: k + 1,
        ..Ask::default()
    };
    let prepared = Prepared::new(space, Preparation::Raw, driver)?;
    let neighbors = sweep(&prepared, Anchors::All, &ask, driver).neighbors;
    let neighbors = neighbors.ok_or_else(|| Error::Internal("a sweep without its neighbors".to_string()))?;
    // Rows that differ have no distance of 0, unless it is too small for a number.
    let rows: Vec<usize> = (0..space.rows())
        .filter(|&row| neighbors.distances_of(row)[0] > 0.0)
        .collect();
    let log = |&row: &usize| {
        let distances = neighbors.distances_of(row);
        (distances[k] / distances[0]).ln()
    };
    let logs: Vec<f64> = rows.iter().map(log).collect();
    let likelihood = Likelihood {
        logs: &logs,
        between: k as f64 - 1.0,
        before: k as f64,
        less: 0.0,
    };
    let Some(distances) = likelihood.most_likely() else {
        return Ok(None);
    };
    let of_rows = driver.blocks(rows.len(), ROWS, |block| {
        let angles = |&row: &usize| von_mises(&directions(space, row, &neighbors.of(row)[..k]), k);
        rows[block].iter().map(angles).collect::<Vec<[f64; 2]>>()
    });
    let of_rows = of_rows.concat();
    let mean = |at: usize| of_rows.iter().map(|own| own[at]).sum::<f64>() / of_rows.len() as f64;
    Ok(Some(Concentration {
        distances,
        nu: mean(0),
        tau: mean(1),
    }))
}

/// The unit vectors from a row to its neighbors.
fn directions(space: &Space, row: usize, neighbors: &[u32]) -> Vec<f64> {
    let d = space.columns();
    let (mut own, mut all) = (vec![0.0; d], vec![0.0; neighbors.len() * d]);
    space.read_row(row, &mut own);
    for (&other, out) in neighbors.iter().zip(all.chunks_exact_mut(d)) {
        space.read_row(other as usize, out);
        out.iter_mut().zip(&own).for_each(|(x, from)| *x -= from);
        // The largest first, so that squares stay in range.
        let largest = out.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        out.iter_mut().for_each(|x| *x /= largest);
        let length = out.iter().map(|x| x * x).sum::<f64>().sqrt();
        out.iter_mut().for_each(|x| *x /= length);
    }
    all
}

/// The angle and the concentration of the von Mises distribution that fits the angles between so many unit vectors best.
fn von_mises(directions: &[f64], count: usize) -> [f64; 2] {
    let d = directions.len() / count;
    let (mut cosines, mut sines) = (0.0, 0.0);
    for (i, a) in directions.chunks_exact(d).enumerate() {
        for b in directions[..i * d].chunks_exact(d) {
            let cosine = a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>().clamp(-1.0, 1.0);
            cosines += cosine;
            sines += ((1.0 - cosine) * (1.0 + cosine)).sqrt();
        }
    }
    let pairs = (count * (count - 1) / 2) as f64;
    let eta = (cosines / pairs).hypot(sines / pairs);
    [(sines / cosines).atan(), concentration_of(eta).min(LARGEST_TAU)]
}

/// The inverse of I1 / I0, by the approximation of Fisher (1993) that is part of the publication.
fn concentration_of(eta: f64) -> f64 {
    if eta < 0.53 {
        2.0 * eta + eta.powi(3) + 5.0 * eta.powi(5) / 6.0
    } else if eta < 0.85 {
        -0.4 + 1.39 * eta + 0.43 / (1.0 - eta)
    } else {
        let inverse = eta.powi(3) - 4.0 * eta * eta + 3.0 * eta;
        // Rounding may take 1 above 1.
        if inverse > 0.0 { inverse.recip() } else { f64::INFINITY }
    }
}

/// The Kullback–Leibler divergence of the distances and angles of rows from those of a ball.
fn divergence(of_rows: &Concentration, ball: &Concentration, k: usize) -> f64 {
    divergence_of_distances(of_rows.distances, ball.distances, k)
        + divergence_of_angles([of_rows.nu, of_rows.tau], [ball.nu, ball.tau])
}

/// H_k q − 1 − H_(k−1) − ln q − (k − 1) Σ_i (−1)^i C(k, i) ψ(1 + i / q), with q the quotient of both dimensions.
fn divergence_of_distances(of_rows: f64, of_ball: f64, k: usize) -> f64 {
    let quotient = of_ball / of_rows;
    let harmonic = |n: usize| (1..=n).map(|i| 1.0 / i as f64).sum::<f64>();
    let (mut choose, mut sum) = (1.0, 0.0);
    for i in 0..=k {
        sum += choose * digamma(1.0 + i as f64 / quotient);
        // The next binomial coefficient with the other sign.
        choose *= -((k - i) as f64) / (i + 1) as f64;
    }
    harmonic(k) * quotient - 1.0 - harmonic(k - 1) - quotient.ln() - (k as f64 - 1.0) * sum
}

/// Of two von Mises distributions.
fn divergence_of_angles([nu, tau]: [f64; 2], [nu_of_ball, tau_of_ball]: [f64; 2]) -> f64 {
    let [zeroth, first] = bessel(tau);
    let [of_ball, _] = bessel(tau_of_ball);
    (of_ball / zeroth).ln() + first / zeroth * (tau - tau_of_ball * (nu - nu_of_ball).cos())
}

/// The modified Bessel functions I0 and I1, by their series: all its terms are positive, and up to [`LARGEST_TAU`] none is too large.
fn bessel(x: f64) -> [f64; 2] {
    let quarter = x * x / 4.0;
    let (mut term, mut zeroth, mut first) = (1.0, 0.0, 0.0);
    let mut m = 0.0;
    while term > 1e-18 * zeroth {
        zeroth += term;
        first += term / (m + 1.0);
        m += 1.0;
        term *= quarter / (m * m);
    }
    [zeroth, first * x / 2.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Order;

    fn near(found: f64, expected: f64, tolerance: f64) {
        let bound = tolerance * expected.abs().max(1.0);
        assert!((found - expected).abs() <= bound, "{found} for {expected}");
    }

    #[test]
    fn divergences_are_those_of_scikit_dimension() {
        // DANCo()._KLd(dhat, dcal) with _k = k, which leaves out the constant −1 − H_(k−1); added here.
        for (k, of_rows, of_ball, expected) in [
            (10, 5.0, 5.5, 0.02675936834127235),
            (10, 5.0, 4.0, 0.14363091262269734),
            (4, 2.5, 9.0, 3.446793416225984),
            (15, 12.0, 11.0, 0.028480375241455747),
            (10, 3.0, 3.0, 0.0),
        ] {
            near(divergence_of_distances(of_rows, of_ball, k), expected, 1e-9);
        }
        // DANCo._KLnutau(nu1, nu2, tau1, tau2).
        for (nu, nu_of_ball, tau, tau_of_ball, expected) in [
            (0.3, 0.5, 2.0, 3.0, 0.10526653285309573),
            (1.2, 1.1, 12.0, 11.0, 0.054542598142542253),
            (-0.28, 0.01, 1.76, 2.87, 0.17134911354389237),
            (1.5, 1.5, 60.0, 90.0, 0.04762263407769396),
        ] {
            near(
                divergence_of_angles([nu, tau], [nu_of_ball, tau_of_ball]),
                expected,
                1e-12,
            );
        }
    }

    #[test]
    fn angles_of_a_row_are_those_of_scikit_dimension() {
        // DANCo()._ML_VM(DANCo()._loc_angles(X[0], X[1:])) of these rows, seen from the first.
        let rows = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 2.0, 0.0],
            [1.0, 1.0, 1.0],
            [-1.0, 0.5, 2.0],
        ];
        let space = Space::from_f64("z", 5, 3, rows.concat()).unwrap();
        let [nu, tau] = von_mises(&directions(&space, 0, &[1, 2, 3, 4]), 4);
        near(nu, 1.3334809877730114, 1e-14);
        near(tau, 7.614848579110279, 1e-12);
        // DANCo._Ainv.
        for (eta, expected) in [
            (0.1, 0.20100833333333334),
            (0.6, 1.509),
            (0.9, 5.291005291005289),
            (0.99, 50.25378159706602),
            (1.0, f64::INFINITY),
        ] {
            assert!(concentration_of(eta) == expected || (concentration_of(eta) - expected).abs() < 1e-11);
        }
    }

    #[test]
    fn bessel_functions_are_those_of_scipy() {
        for (x, zeroth, first) in [
            (0.5, 1.0634833707413234, 0.25789430539089636),
            (5.0, 27.239871823604442, 24.335642142450524),
            (50.0, 2.9325537838493355e20, 2.9030785901035566e20),
            (500.0, 2.504809476570078e215, 2.5023034121760998e215),
        ] {
            let found = bessel(x);
            assert!(
                (found[0] / zeroth - 1.0).abs() < 1e-13 && (found[1] / first - 1.0).abs() < 1e-13,
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_ball_is_filled_evenly() {
        let values = ball(4000, 3, &mut random::stream(1, "test", 0));
        let inner = values
            .chunks_exact(3)
            .filter(|x| x.iter().map(|x| x * x).sum::<f64>() < 0.25);
        // A ball of half the radius has an eighth of the volume.
        near(inner.count() as f64 / 4000.0, 0.125, 0.02);
        let sum: f64 = values.iter().sum();
        near(sum / 12_000.0, 0.0, 0.02);
    }

    #[test]
    fn balls_concentrate_as_the_published_table_says() {
        // scikit-dimension's table of 100 balls each (DANCoFit), for 500 rows and K = 10: dhat, mu_nu and mu_tau.
        let mut balls = Balls::new(&Spec::default());
        for (d, expected) in [
            (2, [2.0020, -0.1691, 1.7951]),
            (5, [4.5796, 0.7942, 5.3774]),
            (12, [9.7681, 1.3369, 16.5551]),
            (30, [19.9272, 1.2671, 53.6462]),
        ] {
            let found = balls.of(500, d, &Driver::silent(Order::Parallel)).unwrap();
            near(found.distances, expected[0], 0.05);
            near(found.nu, expected[1], 0.1);
            near(found.tau, expected[2], 0.05);
        }
    }
}
