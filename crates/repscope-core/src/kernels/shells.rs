// SPDX-License-Identifier: MIT
//! The likelihood of an intrinsic dimension, given ratios of the distances to two neighbors: the shells between neighbors are
//! independent where the density is constant.

/// Up to what does not depend on d it is n ln d + a Σ ln(μ^d − 1) − b d Σ ln μ, with μ the ratio of the farther to the nearer distance.
pub(crate) struct Likelihood<'a> {
    /// ln μ of each row.
    pub(crate) logs: &'a [f64],
    /// a, the neighbors between both.
    pub(crate) between: f64,
    /// b, the neighbors before the farther one.
    pub(crate) before: f64,
    /// By how much n is less than the number of rows.
    pub(crate) less: f64,
}

impl Likelihood<'_> {
    /// d times the derivative of one row, which n is added to over all rows, and d times the derivative of that.
    pub(crate) fn of_row(&self, d: f64, log: f64) -> [f64; 2] {
        let x = d * log;
        // x / (1 − e^(−x)), which is 1 at 0, where numbers are rounded.
        let (share, slope) = if x < 1e-5 {
            (1.0 + x / 2.0, 0.5 + x / 6.0)
        } else {
            let rest = -(-x).exp_m1();
            (x / rest, (rest - x * (1.0 - rest)) / (rest * rest))
        };
        [
            self.between * share - self.before * x,
            self.between * x * slope - self.before * x,
        ]
    }

    fn sums(&self, d: f64) -> [f64; 2] {
        let own = self.logs.iter().map(|log| self.of_row(d, *log));
        let [value, slope] = own.fold([0.0; 2], |sum, own| [sum[0] + own[0], sum[1] + own[1]]);
        [value + self.logs.len() as f64 - self.less, slope]
    }

    /// The zero of the derivative, which falls with d. None where all ratios are 1.
    pub(crate) fn most_likely(&self) -> Option<f64> {
        let sum: f64 = self.logs.iter().sum();
        if sum <= 0.0 {
            return None;
        }
        // d ln μ is the sum of the inverses of the places from the nearer neighbor to before the farther one on average.
        let (nearer, last) = ((self.before - self.between) as usize, self.before as usize);
        let expected: f64 = (nearer..=last).map(|j| 1.0 / j as f64).sum();
        let mut d = expected * self.logs.len() as f64 / sum;
        let [mut low, mut high] = [0.0, f64::INFINITY];
        for _ in 0..200 {
            let [value, slope] = self.sums(d);
            if value > 0.0 {
                low = d;
            } else {
                high = d;
            }
            // Newton's step for ln d, unless it leaves what is known.
            let step = d * (-value / slope).exp();
            let next = if step > low && step < high {
                step
            } else if high.is_finite() {
                (low + high) / 2.0
            } else {
                2.0 * d
            };
            if (next - d).abs() <= 1e-15 * d {
                return Some(next);
            }
            d = next;
        }
        Some(d).filter(|d| d.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratios whose law is that of dimension d for neighbors 2 and 4: with u and v the quantiles of two independent steps, μ is the
    /// product of u^(−1/2d) and v^(−1/3d).
    fn ratios(d: f64) -> Vec<f64> {
        let steps: Vec<f64> = (0..200).map(|i| -((f64::from(i) + 0.5) / 200.0).ln()).collect();
        let both = |u: &f64| steps.iter().map(move |v| (u / 2.0 + v / 3.0) / d).collect::<Vec<f64>>();
        steps.iter().flat_map(both).collect()
    }

    #[test]
    fn ratios_of_a_known_dimension_give_it_back() {
        let logs = ratios(7.0);
        let likelihood = Likelihood {
            logs: &logs,
            between: 1.0,
            before: 3.0,
            less: 1.0,
        };
        let found = likelihood.most_likely().unwrap();
        assert!((found - 7.0).abs() < 0.05, "{found}");
        assert!(likelihood.sums(found)[0].abs() < 1e-6);
    }

    #[test]
    fn equal_distances_have_no_dimension() {
        let likelihood = Likelihood {
            logs: &[0.0; 5],
            between: 0.0,
            before: 1.0,
            less: 1.0,
        };
        assert_eq!(likelihood.most_likely(), None);
    }
}
