// SPDX-License-Identifier: MIT
//! Which points of a large cloud are drawn. The choice looks random and is always the same.

use crate::number::fixed;
use std::collections::BTreeSet;

/// Points per figure that are drawn, shared by its panels: a figure of twelve maps still has less than 1 MB.
pub(crate) const MOST_IN_FIGURE: usize = 12_000;
/// Points per panel that are drawn, shared by its series.
pub(crate) const MOST_POINTS: usize = 6000;
/// Points of one series that are drawn.
pub(crate) const MOST_PER_SERIES: usize = 3000;

/// `most` of the points, in their order, and always the outermost ones (up to four): they set the limits of the axes.
pub(crate) fn thin(points: &[[f64; 2]], most: usize) -> Vec<usize> {
    if points.len() <= most {
        return (0..points.len()).collect();
    }
    let mut kept = BTreeSet::new();
    for axis in [0, 1] {
        kept.extend((0..points.len()).min_by(|a, b| points[*a][axis].total_cmp(&points[*b][axis])));
        kept.extend((0..points.len()).max_by(|a, b| points[*a][axis].total_cmp(&points[*b][axis])));
    }
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_unstable_by_key(|index| scramble(*index as u64));
    for index in order {
        if kept.len() >= most {
            break;
        }
        kept.insert(index);
    }
    kept.into_iter().collect()
}

/// What is said where not all points are drawn.
pub(crate) fn drawn_of(shown: usize, total: usize) -> Option<String> {
    let [drawn, all] = [shown, total].map(|count| fixed(count as f64, 0));
    (shown < total).then(|| format!("{drawn} of {all} points are drawn, chosen at random, always the same ones."))
}

/// Splits a budget: small requests are met, the others share the rest equally.
pub(crate) fn share_out(wishes: &[usize], budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.sort_by_key(|index| wishes[*index]);
    let (mut left, mut parts) = (budget, vec![0; wishes.len()]);
    for (served, index) in order.into_iter().enumerate() {
        parts[index] = wishes[index].min(left / (wishes.len() - served));
        left -= parts[index];
    }
    parts
}

/// SplitMix64: neighboring indices get unrelated numbers, always the same ones.
pub fn scramble(index: u64) -> u64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_wishes_are_met_and_the_rest_is_shared_equally() {
        // 10 of 100 go to the first; the other two share 90.
        assert_eq!(share_out(&[10, 500, 70], 100), [10, 45, 45]);
        assert_eq!(share_out(&[10, 20, 0], 100), [10, 20, 0]);
        assert_eq!(share_out(&[], 100), Vec::<usize>::new());
    }

    #[test]
    fn a_thinned_cloud_keeps_its_outermost_points_and_is_spread_over_all() {
        let mut points: Vec<[f64; 2]> = (0..100_000).map(|i| [f64::from(i), f64::from(i % 100)]).collect();
        points[77_777] = [5.0, 1e6];
        let kept = thin(&points, 1000);
        assert_eq!(kept.len(), 1000);
        assert!(kept.contains(&77_777) && kept.contains(&0) && kept.contains(&99_999));
        // Of 1000 random picks, 500 ± 80 (5 standard deviations) are in either half.
        let in_first_half = kept.iter().filter(|index| **index < 50_000).count();
        assert!((420..=580).contains(&in_first_half), "{in_first_half}");
    }
}
