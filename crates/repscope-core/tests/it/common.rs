// SPDX-License-Identifier: MIT
//! Random data with literal seeds, and the shortest way to run metrics on them.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use repscope_core::run::{Driver, Order};
use repscope_core::{METRICS, Metric, Results, Score, Space, Spec, Study, evaluate, random};

/// The model that all studies of the tests speak of.
pub const MODEL: &str = "model";

/// A source of random numbers.
pub struct Draw(ChaCha8Rng);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Draw(random::stream(seed, "test", 0))
    }

    /// Uniform over the open interval from 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn uniforms(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.uniform()).collect()
    }

    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }

    /// One of the whole numbers below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        random::permutation(count, &mut self.0)
            .into_iter()
            .map(|i| i as usize)
            .collect()
    }

    /// A random rotation or reflection of `d` dimensions, row by row, by Gram and Schmidt.
    pub fn orthogonal(&mut self, d: usize) -> Vec<f64> {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        while rows.len() < d {
            let mut row = self.normals(d);
            // Twice is enough: the second round removes what rounding left in the first.
            for earlier in rows.iter().chain(rows.iter()) {
                let overlap: f64 = row.iter().zip(earlier).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(earlier).for_each(|(a, b)| *a -= overlap * b);
            }
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            rows.push(row.into_iter().map(|x| x / length).collect());
        }
        rows.concat()
    }
}

/// The product of row-major matrices, `left` of this many columns.
pub fn product(left: &[f64], columns: usize, right: &[f64]) -> Vec<f64> {
    let width = right.len() / columns;
    let mut out = Vec::with_capacity(left.len() / columns * width);
    for row in left.chunks_exact(columns) {
        out.extend((0..width).map(|c| {
            row.iter()
                .zip(right[c..].iter().step_by(width))
                .map(|(a, b)| a * b)
                .sum::<f64>()
        }));
    }
    out
}

pub fn space(name: &str, columns: usize, values: Vec<f64>) -> Space {
    Space::from_f64(name, values.len() / columns, columns, values).expect("finite numbers that fill the shape")
}

/// All numbers of a space, row by row.
pub fn numbers(space: &Space) -> Vec<f64> {
    let mut values = vec![0.0; space.rows() * space.columns()];
    for (i, row) in values.chunks_exact_mut(space.columns()).enumerate() {
        space.read_row(i, row);
    }
    values
}

/// Every metric that speaks of a study.
pub fn of_studies() -> Vec<&'static Metric> {
    METRICS.iter().copied().filter(|m| m.is_of_studies()).collect()
}

/// The metric with this name.
pub fn metric(id: &str) -> &'static Metric {
    METRICS.iter().find(|m| m.id == id).expect("a registered metric")
}

pub fn run(study: &Study, metrics: &[&Metric], spec: &Spec) -> Results {
    evaluate(
        std::slice::from_ref(study),
        metrics,
        spec,
        &Driver::silent(Order::Parallel),
    )
    .expect("a valid study")
}

/// The score `id` of a study.
pub fn score(study: &Study, id: &str, spec: &Spec) -> Score {
    let (metric, _) = repscope_core::metrics::find(id).expect("a registered metric");
    run(study, &[metric], spec)
        .score(MODEL, id)
        .expect("a declared output")
        .clone()
}

/// The value of the score `id` of a study.
pub fn value(study: &Study, id: &str, spec: &Spec) -> f64 {
    let score = score(study, id, spec);
    score
        .value
        .unwrap_or_else(|| panic!("{id}: {}", score.reason.unwrap_or_default()))
}
