// SPDX-License-Identifier: MIT
//! What rows do to the values of other rows that have them among their neighbors, by the units that rows come in.
//!
//! A value of a query follows from a list of neighbors, so it varies with the unit of the query and with the units of the neighbors. What a
//! neighbor of the own unit does is no effect: without the unit there is no query. And what a query and its neighbor do together is in the
//! effects of both, so it has to be known to count once (Efron and Stein 1981).

use crate::score::Interval;
use crate::stats::interval::Units;

/// Two units, the smaller number first, and what one does to the values of the other.
type Pair = ([u32; 2], f64);

/// What each row does as a neighbor, and what two units do together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Together {
    effects: Vec<f64>,
    pairs: Vec<Pair>,
}

impl Together {
    pub(crate) fn new(rows: usize) -> Self {
        Together {
            effects: vec![0.0; rows],
            pairs: Vec::new(),
        }
    }

    /// A row of a list changes the value of a query by so much, as a part of the mean of all values.
    pub(crate) fn add(&mut self, units: Units, query: u32, other: u32, change: f64) {
        let [one, two] = [query, other].map(|row| units.of(row));
        if one != two {
            self.effects[other as usize] += change;
            self.pairs.push(([one.min(two), one.max(two)], change));
        }
    }

    /// The same of some rows of a larger table, whose numbers are given, with a weight.
    pub(crate) fn absorb(&mut self, part: &Together, units: Units, rows: &[usize], weight: f64) {
        for (&row, effect) in rows.iter().zip(&part.effects) {
            self.effects[row] += weight * effect;
        }
        let unit = |unit: u32| match units {
            Units::Single(_) => rows[unit as usize] as u32,
            Units::Groups(..) => unit,
        };
        // Rows that ascend keep the order of the two.
        let of_table = |(pair, change): &Pair| (pair.map(unit), weight * change);
        self.pairs.extend(part.pairs.iter().map(of_table));
    }

    /// Adds what each row does as a neighbor; what is left out within units would be the mean effect otherwise.
    pub(crate) fn add_to(&self, effects: &mut [f64]) {
        let mean = self.effects.iter().sum::<f64>() / self.effects.len().max(1) as f64;
        effects
            .iter_mut()
            .zip(&self.effects)
            .for_each(|(own, more)| *own += more - mean);
    }

    /// The variance of what so many units do in pairs, beyond what each of them does to all others.
    pub(crate) fn of_pairs(&self, units: usize) -> f64 {
        if units <= 3 {
            return 0.0;
        }
        let mut pairs = self.pairs.clone();
        pairs.sort_by_key(|(pair, _)| *pair);
        let last = pairs.iter().map(|(pair, _)| pair[1]).max().unwrap_or(0);
        let (mut sums, mut total, mut squares) = (vec![0.0; last as usize + 1], 0.0, 0.0);
        for own in pairs.chunk_by(|a, b| a.0 == b.0) {
            let change: f64 = own.iter().map(|(_, change)| change).sum();
            own[0].0.iter().for_each(|&unit| sums[unit as usize] += change);
            total += change;
            squares += change * change;
        }
        // The least squares of μ + e + e′ on all pairs; most pairs do nothing.
        let n = units as f64;
        let mean = 2.0 * total / (n * (n - 1.0));
        let known: f64 = sums.iter().map(|sum| (sum - (n - 1.0) * mean).powi(2)).sum();
        let absent = (n - sums.len() as f64) * ((n - 1.0) * mean).powi(2);
        let fitted = n * (n - 1.0) / 2.0 * mean * mean + (known + absent) / (n - 2.0);
        (squares - fitted).max(0.0) * (n - 1.0) / (n - 3.0)
    }

    /// An interval from effects that hold these, with what pairs do once: so much of their variance is in the effects twice.
    pub(crate) fn once(&self, interval: Interval, value: f64, share: f64) -> Interval {
        let units = interval.effects.as_ref().map_or(0, |effects| effects.len());
        interval.without_pairs(value, share * self.of_pairs(units))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_what_single_units_do_not_explain() {
        let rows = Units::Single("rows");
        let mut found = Together::new(5);
        // Every unit does its number to every other: nothing is left for the pairs.
        for (a, b) in (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))) {
            found.add(rows, a, b, f64::from(a + b));
        }
        assert!(found.of_pairs(5).abs() < 1e-12);
        // One pair alone: 1 less the mean 1/10 · 10 · 1/10 and the two units' (1 − 0.4)², the others' 0.4², over 3.
        let mut found = Together::new(5);
        found.add(rows, 3, 1, 0.25);
        found.add(rows, 1, 3, 0.75);
        let expected = (1.0 - 0.1 - (2.0 * 0.36 + 3.0 * 0.16) / 3.0) * 4.0 / 2.0;
        assert!((found.of_pairs(5) - expected).abs() < 1e-12);
        assert_eq!(found.effects, [0.0, 0.25, 0.0, 0.75, 0.0]);
    }

    #[test]
    fn a_neighbor_of_the_own_unit_does_nothing() {
        let units = Units::Groups(&[0, 0, 1, 1, 2], "groups");
        let mut found = Together::new(5);
        found.add(units, 0, 1, 5.0);
        found.add(units, 0, 2, 1.0);
        let mut effects = vec![0.0; 5];
        found.add_to(&mut effects);
        assert_eq!(effects, [-0.2, -0.2, 0.8, -0.2, -0.2]);
    }
}
