// SPDX-License-Identifier: MIT
//! Where a number stands among sorted ones, found in a few steps.

/// The most buckets: a table that fits into the cache.
const MOST: usize = 1 << 16;

/// Sorted numbers. There are two places for each and one more: 2k + 1 is that of the k-th number itself, 2k lies below it.
pub(super) struct Places {
    /// The distinct numbers, ascending.
    values: Vec<f64>,
    /// For each place, twice the numbers above it, and those at it once: repeated numbers count as often as they are there.
    above: Vec<u64>,
    /// The range is cut into equal buckets; where the values of each begin.
    starts: Vec<u32>,
    scale: f64,
}

impl Places {
    pub(super) fn new(numbers: &[f64]) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        // Numbers are told apart as they are compared: −0 is 0.
        let repeated: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
        let values: Vec<f64> = repeated.iter().map(|group| group[0]).collect();
        let mut above = vec![0; 2 * values.len() + 1];
        for (k, group) in repeated.iter().enumerate().rev() {
            above[2 * k + 1] = above[2 * k + 2] + group.len() as u64;
            above[2 * k] = above[2 * k + 1] + group.len() as u64;
        }
        let buckets = (2 * values.len()).next_power_of_two().min(MOST);
        let width = values.last().map_or(0.0, |last| last - values[0]);
        let mut places = Places {
            scale: if width > 0.0 { buckets as f64 / width } else { 0.0 },
            starts: vec![0; buckets + 1],
            values,
            above,
        };
        for k in 0..places.values.len() {
            let bucket = places.bucket(places.values[k]);
            places.starts[bucket + 1] = k as u32 + 1;
        }
        for b in 1..=buckets {
            places.starts[b] = places.starts[b].max(places.starts[b - 1]);
        }
        places
    }

    /// The number of places.
    pub(super) fn count(&self) -> usize {
        self.above.len()
    }

    /// The place of a number, and twice the numbers above it (those equal to it count once).
    #[inline(always)]
    pub(super) fn of(&self, number: f64) -> (usize, u64) {
        let bucket = self.bucket(number);
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let k = start + self.values[start..end].partition_point(|v| *v < number);
        let is_there = self.values.get(k).is_some_and(|v| *v == number);
        let place = 2 * k + usize::from(is_there);
        (place, self.above[place])
    }

    /// For each place: twice what was counted below it, and what was counted at it once.
    pub(super) fn below(&self, counted: &[u64]) -> Vec<u64> {
        let mut sum = 0;
        let place = |&count: &u64| {
            let below = 2 * sum + count;
            sum += count;
            below
        };
        counted.iter().map(place).collect()
    }

    /// Never falls as the number rises; numbers outside the range go to its ends.
    #[inline(always)]
    fn bucket(&self, number: f64) -> usize {
        (((number - self.values[0]) * self.scale) as usize).min(self.starts.len() - 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_above_and_at_are_counted_as_the_definition_says() {
        let known = [0.5, -0.25, 0.5, 0.75, -0.0, 0.0, 0.5];
        let places = Places::new(&known);
        assert_eq!(places.count(), 9);
        for number in [-1.0, -0.25, -0.1, 0.0, -0.0, 0.3, 0.5, 0.6, 0.75, 1.0] {
            let expected: u64 = known
                .iter()
                .map(|&v| 2 * u64::from(v > number) + u64::from(v == number))
                .sum();
            assert_eq!(places.of(number).1, expected, "{number}");
        }
        let order: Vec<usize> = [-1.0, -0.25, -0.1, 0.0, 0.3, 0.5, 0.6, 0.75, 1.0]
            .iter()
            .map(|&v| places.of(v).0)
            .collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn one_number_has_three_places() {
        let places = Places::new(&[0.3, 0.3]);
        assert_eq!([0.2, 0.3, 0.4].map(|v| places.of(v)), [(0, 4), (1, 2), (2, 0)]);
        // 5 below, 7 at, 1 above.
        assert_eq!(places.below(&[5, 7, 1]), [5, 17, 25]);
    }

    #[test]
    fn many_numbers_in_few_buckets_are_found_too() {
        let mut known: Vec<f64> = (0..500).map(|i| 0.9 + f64::from(i) * 1e-9).collect();
        known.push(-1.0);
        let places = Places::new(&known);
        assert_eq!(places.of(0.9 + 249.0 * 1e-9).0, 2 * 250 + 1);
        assert_eq!(places.of(0.9 + 249.5 * 1e-9).0, 2 * 251);
    }
}
