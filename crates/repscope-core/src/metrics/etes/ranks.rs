// SPDX-License-Identifier: MIT
//! How a signal's own text ranks among all texts, as a mean over all ways to break ties: who says the same to every signal is
//! at chance, not first.

use crate::kernels::matched::Matched;

impl Matched {
    /// How many texts there are.
    pub(super) fn texts(&self) -> usize {
        self.own.len()
    }

    /// For each signal, how likely its own text is among the `k` nearest.
    pub(super) fn hits(&self, k: usize) -> Vec<f64> {
        let of = |(nearer, as_near): (f64, f64)| ((k as f64 - nearer) / (as_near + 1.0)).clamp(0.0, 1.0);
        self.standings().map(of).collect()
    }

    /// For each signal, the mean of 1 / rank of its own text.
    pub(super) fn reciprocal_ranks(&self) -> Vec<f64> {
        let harmonic = harmonic(self.texts());
        let of = |(&nearer, &as_near): (&u32, &u32)| {
            let first = nearer as usize;
            match as_near as usize {
                0 => 1.0 / (first + 1) as f64,
                ties => (harmonic[first + ties + 1] - harmonic[first]) / (ties + 1) as f64,
            }
        };
        self.nearer.iter().zip(&self.as_near).map(of).collect()
    }

    /// For each signal, the mean rank of its own text, counted from 1.
    pub(super) fn ranks(&self) -> Vec<f64> {
        self.standings()
            .map(|(nearer, as_near)| nearer + 1.0 + as_near / 2.0)
            .collect()
    }

    /// The mean reciprocal rank of a text at a random place.
    pub(super) fn chance_of_reciprocal(&self) -> f64 {
        harmonic(self.texts())[self.texts()] / self.texts() as f64
    }

    fn standings(&self) -> impl Iterator<Item = (f64, f64)> {
        let pairs = self.nearer.iter().zip(&self.as_near);
        pairs.map(|(&nearer, &as_near)| (f64::from(nearer), f64::from(as_near)))
    }
}

/// 1 + 1/2 + … + 1/r, for r from 0 to n.
fn harmonic(n: usize) -> Vec<f64> {
    let mut sums = vec![0.0; n + 1];
    for r in 1..=n {
        sums[r] = sums[r - 1] + 1.0 / r as f64;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_broken_in_every_way() {
        let matched = Matched {
            own: vec![0.0; 4],
            nearer: vec![0, 1, 0, 3],
            as_near: vec![0, 1, 3, 0],
            bins: Vec::new(),
            auc: 0.5,
            effects: Vec::new(),
        };
        // Ranks 1; 2 or 3; 1 to 4; 4.
        assert_eq!(matched.hits(1), [1.0, 0.0, 0.25, 0.0]);
        assert_eq!(matched.hits(2), [1.0, 0.5, 0.5, 0.0]);
        assert_eq!(matched.hits(4), [1.0; 4]);
        assert_eq!(matched.ranks(), [1.0, 2.5, 2.5, 4.0]);
        let expected = [1.0, (1.0 / 2.0 + 1.0 / 3.0) / 2.0, 25.0 / 12.0 / 4.0, 0.25];
        for (found, expected) in matched.reciprocal_ranks().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert!((matched.chance_of_reciprocal() - 25.0 / 48.0).abs() < 1e-15);
    }
}
