// SPDX-License-Identifier: MIT
//! Do two lists of numbers rise together? Spearman's rho and Kendall's tau-b, with p-values and intervals.
//!
//! Both are functions of whole numbers (doubled ranks, counts of pairs), so equal orders give equal bits and a perfect
//! order gives exactly 1.

use statrs::function::erf::erfc;

use super::interval::{normal_quantile, t_two_sided};

/// Up to this many pairs, Spearman's p-value counts all orders: 9! = 362,880.
const MOST_FOR_ALL_ORDERS: usize = 9;
/// Up to this many pairs without ties, Kendall's p-value is exact, as in SciPy.
const MOST_FOR_EXACT_KENDALL: usize = 33;

/// A rank correlation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Correlation {
    /// Between −1 and 1.
    pub(crate) value: f64,
    /// Ends of the confidence interval; none with too few pairs.
    pub(crate) interval: Option<[f64; 2]>,
    /// Two-sided p-value of no relation.
    pub(crate) p: f64,
}

/// Spearman's rho, with average ranks for ties; `None` if one of the lists is constant.
pub(crate) fn spearman(x: &[f64], y: &[f64], level: f64) -> Option<Correlation> {
    let n = x.len() as f64;
    let (a, b) = (centered_ranks(x), centered_ranks(y));
    let product = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>();
    let (aa, bb, ab) = (product(&a, &a), product(&b, &b), product(&a, &b));
    if aa == 0 || bb == 0 {
        return None;
    }
    let value = (ab as f64 / (aa as f64 * bb as f64).sqrt()).clamp(-1.0, 1.0);
    let p = if x.len() <= MOST_FOR_ALL_ORDERS {
        p_over_all_orders(&a, &b, ab)
    } else {
        let freedom = n - 2.0;
        let t = value * (freedom / ((1.0 - value) * (1.0 + value))).sqrt();
        // Student's t reaches 0 for a perfect order; counting orders would not go below 2 of n!.
        t_two_sided(t, freedom).max(2.0 / factorial(x.len()))
    };
    // Bonett and Wright (2000).
    let variance = |rho: f64| (1.0 + rho * rho / 2.0) / (n - 3.0);
    let nearly_one = 1.0 - 12.0 / (n.powi(3) - n);
    let interval = (x.len() > 3).then(|| by_fisher_z(value, nearly_one, variance, level));
    Some(Correlation { value, interval, p })
}

/// Kendall's tau-b; `None` if one of the lists is constant.
pub(crate) fn kendall(x: &[f64], y: &[f64], level: f64) -> Option<Correlation> {
    let n = x.len() as f64;
    // Pairs in the same order minus pairs in the opposite order.
    let mut surplus = 0;
    for i in 0..x.len() {
        for j in 0..i {
            surplus += order(x[i], x[j]) * order(y[i], y[j]);
        }
    }
    let pairs = n * (n - 1.0) / 2.0;
    let (in_x, in_y) = (Ties::of(x), Ties::of(y));
    if in_x.pairs == pairs || in_y.pairs == pairs {
        return None;
    }
    let surplus = surplus as f64;
    let value = (surplus / ((pairs - in_x.pairs) * (pairs - in_y.pairs)).sqrt()).clamp(-1.0, 1.0);
    // The rarer kind of pairs, where there are no ties.
    let against = ((pairs - surplus.abs()) / 2.0) as usize;
    let is_untied = in_x.pairs == 0.0 && in_y.pairs == 0.0;
    let p = if is_untied && (x.len() <= MOST_FOR_EXACT_KENDALL || against <= 1) {
        p_by_inversions(x.len(), against)
    } else {
        p_with_ties(surplus, n, &in_x, &in_y)
    };
    // Fieller, Hartley and Pearson (1957).
    let variance = |_: f64| 0.437 / (n - 4.0);
    let nearly_one = 1.0 - 4.0 / (n * n - n);
    let interval = (x.len() > 4).then(|| by_fisher_z(value, nearly_one, variance, level));
    Some(Correlation { value, interval, p })
}

/// The interval by Fisher's z. At ±1 that has no width: there the open end is that of `nearly_one`, the value of an order
/// with two neighbours swapped.
fn by_fisher_z(value: f64, nearly_one: f64, variance: impl Fn(f64) -> f64, level: f64) -> [f64; 2] {
    let z = normal_quantile(0.5 + level / 2.0);
    let end = |value: f64, sign: f64| (value.atanh() + sign * z * variance(value).sqrt()).tanh();
    if value >= 1.0 {
        [end(nearly_one, -1.0), 1.0]
    } else if value <= -1.0 {
        [-1.0, end(-nearly_one, 1.0)]
    } else {
        [end(value, -1.0), end(value, 1.0)]
    }
}

/// Twice the distance of each average rank from the middle: a whole number, ties or not.
fn centered_ranks(values: &[f64]) -> Vec<i64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let below = |v: f64| sorted.partition_point(|&w| w < v) as i64;
    let above = |v: f64| (sorted.len() - sorted.partition_point(|&w| w <= v)) as i64;
    values.iter().map(|&v| below(v) - above(v)).collect()
}

fn order(a: f64, b: f64) -> i64 {
    i64::from(a > b) - i64::from(a < b)
}

/// The smaller share of all orders of `b` whose product with `a` is at least, or at most, the observed one; twice, since
/// the test has two sides.
///
/// Orders are counted by their product, not walked through: for each set of `b` that the first of `a` may have got, how
/// many ways lead to each sum so far.
fn p_over_all_orders(a: &[i64], b: &[i64], observed: i64) -> f64 {
    // |Σ ab| ≤ Σ (a² + b²) / 2, over any set: sums run from −most to most.
    let most = a.iter().chain(b).map(|x| x * x).sum::<i64>() / 2;
    let mut ways = vec![vec![0u32; 2 * most as usize + 1]; 1 << b.len()];
    ways[0][most as usize] = 1;
    for used in 0..ways.len() - 1 {
        let so_far = std::mem::take(&mut ways[used]);
        let next = a[used.count_ones() as usize];
        for (i, partner) in b.iter().enumerate().filter(|(i, _)| used & (1 << i) == 0) {
            let longer = &mut ways[used | (1 << i)];
            for (sum, count) in so_far.iter().enumerate().filter(|(_, count)| **count > 0) {
                longer[(sum as i64 + next * partner) as usize] += count;
            }
        }
    }
    let all = &ways[ways.len() - 1];
    let at = (observed + most) as usize;
    let at_most: u32 = all[..=at].iter().sum();
    let at_least: u32 = all[at..].iter().sum();
    (2.0 * f64::from(at_most.min(at_least)) / factorial(a.len())).min(1.0)
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|i| i as f64).product()
}

/// Twice the share of all orders of `n` that have at most `most` pairs the wrong way round.
fn p_by_inversions(n: usize, most: usize) -> f64 {
    // Shares by number of inversions: the k-th number can go before 0 to k − 1 of the earlier ones.
    let mut shares = vec![0.0; most + 1];
    shares[0] = 1.0;
    for k in 2..=n {
        shares = (0..=most)
            .map(|inversions| {
                let fewest = (inversions + 1).saturating_sub(k);
                shares[fewest..=inversions].iter().sum::<f64>() / k as f64
            })
            .collect();
    }
    (2.0 * shares.iter().sum::<f64>()).min(1.0)
}

/// Sums over the groups of equal values, t being the size of a group.
struct Ties {
    /// Σ t (t − 1) / 2.
    pairs: f64,
    /// Σ t (t − 1) (t − 2).
    triples: f64,
    /// Σ t (t − 1) (2 t + 5).
    weighted: f64,
}

impl Ties {
    fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut ties = Ties {
            pairs: 0.0,
            triples: 0.0,
            weighted: 0.0,
        };
        for group in sorted.chunk_by(|a, b| a == b) {
            let t = group.len() as f64;
            ties.pairs += t * (t - 1.0) / 2.0;
            ties.triples += t * (t - 1.0) * (t - 2.0);
            ties.weighted += t * (t - 1.0) * (2.0 * t + 5.0);
        }
        ties
    }
}

/// By the normal distribution, with Kendall's variance for ties.
fn p_with_ties(surplus: f64, n: f64, x: &Ties, y: &Ties) -> f64 {
    let m = n * (n - 1.0);
    let variance = (m * (2.0 * n + 5.0) - x.weighted - y.weighted) / 18.0
        + 2.0 * x.pairs * y.pairs / m
        + x.triples * y.triples / (9.0 * m * (n - 2.0));
    erfc(surplus.abs() / (2.0 * variance).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, expected: f64) {
        assert!(
            (got - expected).abs() <= 1e-12 + 1e-11 * expected.abs(),
            "{got} instead of {expected}"
        );
    }

    /// Compares value and p-value.
    fn assert_spearman(x: &[f64], y: &[f64], value: f64, p: f64) {
        let got = spearman(x, y, 0.95).unwrap();
        assert_close(got.value, value);
        assert!((got.p / p - 1.0).abs() < 1e-10, "p = {} instead of {p}", got.p);
    }

    fn assert_kendall(x: &[f64], y: &[f64], value: f64, p: f64) {
        let got = kendall(x, y, 0.95).unwrap();
        assert_close(got.value, value);
        assert!((got.p / p - 1.0).abs() < 1e-10, "p = {} instead of {p}", got.p);
    }

    const X5: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
    const Y5: [f64; 5] = [2.0, 1.0, 4.0, 3.0, 5.0];
    const TIED_X5: [f64; 5] = [1.0, 2.0, 2.0, 4.0, 5.0];
    const TIED_Y5: [f64; 5] = [3.0, 1.0, 1.0, 3.0, 5.0];
    const X8: [f64; 8] = [3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0];
    const Y8: [f64; 8] = [2.0, 7.0, 1.0, 8.0, 2.5, -1.0, 8.5, 3.0];
    const TIED_X8: [f64; 8] = [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0, 4.0];
    const TIED_Y8: [f64; 8] = [5.0, 5.0, 6.0, 6.0, 6.0, 9.0, 5.0, 9.0];
    const X12: [f64; 12] = [0.0, 7.0, 2.0, 9.0, 4.0, 11.0, 6.0, 1.0, 8.0, 3.0, 10.0, 5.0];
    const Y12: [f64; 12] = [1.0, 4.0, 0.0, 9.0, 5.0, 12.0, 3.0, 2.0, 10.0, 6.0, 8.0, 7.0];
    const TIED_X12: [f64; 12] = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0, 6.0, 6.0];
    const TIED_Y12: [f64; 12] = [2.0, 1.0, 2.0, 3.0, 3.0, 1.0, 4.0, 6.0, 4.0, 5.0, 6.0, 6.0];

    /// [f(1), …, f(n)], in Python `[f(i) for i in range(1, n + 1)]`.
    fn list(n: i64, f: fn(i64) -> i64) -> Vec<f64> {
        (1..=n).map(|i| f(i) as f64).collect()
    }

    // SciPy 1.17.1: permutation_test((x,), lambda x: spearmanr(x, y).statistic, permutation_type="pairings",
    // n_resamples=inf), which gives rho and its p-value over all orders.
    #[test]
    fn spearman_of_few_pairs_equals_scipys_permutation_test() {
        assert_spearman(&X5, &Y5, 0.8, 0.133_333_333_333_333_33);
        assert_spearman(&TIED_X5, &TIED_Y5, 0.540_738_070_435_875_2, 0.4);
        assert_spearman(&X8, &Y8, -0.690_476_190_476_190_6, 0.069_394_841_269_841_27);
        assert_spearman(&TIED_X8, &TIED_Y8, 0.451_067_110_817_823_25, 0.292_857_142_857_142_87);
        // Ties that leave no negative tail to speak of: the positive one counts twice.
        let (x, y) = (
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0],
        );
        assert_spearman(&x, &y, 0.755_928_946_018_454_4, 0.25);
    }

    #[test]
    fn nine_pairs_are_still_counted_and_ten_are_not() {
        // One swap: the order itself and its 8 swaps of neighbours are as good, at both ends, of 9! = 362,880.
        let swapped = list(10, |i| match i {
            1 => 2,
            2 => 1,
            i => i,
        });
        let x = list(10, |i| i);
        assert_close(spearman(&x[..9], &swapped[..9], 0.95).unwrap().p * 362_880.0, 18.0);
        // SciPy 1.17.1: spearmanr gives 0.98787… and Student's t 9.3e-8, which is less than 2 of 10! = 3,628,800.
        assert_close(spearman(&x, &swapped, 0.95).unwrap().p * 3_628_800.0, 2.0);
    }

    // SciPy 1.17.1: spearmanr(x, y).
    #[test]
    fn spearman_of_many_pairs_equals_scipys() {
        assert_spearman(&X12, &Y12, 0.839_160_839_160_839_3, 0.000_642_825_988_627_820_3);
        assert_spearman(
            &TIED_X12,
            &TIED_Y12,
            0.853_052_074_451_858_3,
            0.000_419_398_794_996_992_8,
        );
        assert_spearman(
            &list(30, |i| 11 * i % 31),
            &list(30, |i| (3 * i * i + i) % 101),
            0.363_292_547_274_749_7,
            0.048_462_113_999_835_34,
        );
        assert_spearman(
            &list(30, |i| (i - 1) / 3),
            &list(30, |i| 7 * (i - 1) % 10),
            0.090_909_090_909_090_93,
            0.632_818_783_087_242_8,
        );
    }

    // SciPy 1.17.1: kendalltau(x, y), whose method "auto" is exact without ties up to 33 pairs.
    #[test]
    fn kendall_equals_scipys_with_and_without_ties() {
        assert_kendall(&X5, &Y5, 0.6, 0.233_333_333_333_333_34);
        assert_kendall(&TIED_X5, &TIED_Y5, 0.471_404_520_791_031_6, 0.282_745_459_932_774_67);
        assert_kendall(&X8, &Y8, -0.428_571_428_571_428_55, 0.178_869_047_619_047_62);
        assert_kendall(&TIED_X8, &TIED_Y8, 0.455_015_755_193_290_1, 0.167_979_566_586_011_54);
        assert_kendall(&X12, &Y12, 0.636_363_636_363_636_2, 0.003_181_646_992_410_881);
        assert_kendall(&TIED_X12, &TIED_Y12, 0.739_521_909_998_095_8, 0.001_845_056_140_328_179);
        assert_kendall(
            &list(30, |i| 11 * i % 31),
            &list(30, |i| (3 * i * i + i) % 101),
            0.227_586_206_896_551_76,
            0.080_312_124_153_434_15,
        );
        assert_kendall(
            &list(30, |i| (i - 1) / 3),
            &list(30, |i| 7 * (i - 1) % 10),
            0.081_481_481_481_481_47,
            0.551_478_720_402_896_4,
        );
    }

    // SciPy 1.17.1: kendalltau(x, y) with x = [11 * i % 41 …] and y = [17 * i % 41 + 2 * x …], broken ties by 0.001 * i;
    // and with range(40) against itself with two neighbours swapped, where one pair is out of order.
    #[test]
    fn kendall_of_many_pairs_is_exact_only_near_a_perfect_order() {
        let x = list(40, |i| 11 * i % 41);
        let y = list(40, |i| 1000 * (17 * i % 41 + 2 * (11 * i % 41)) + i - 1);
        assert_kendall(&x, &y, 0.748_717_948_717_948_7, 1.016_093_420_300_294_5e-11);
        let swapped = list(40, |i| match i {
            4 => 5,
            5 => 4,
            i => i,
        });
        assert_kendall(
            &list(40, |i| i),
            &swapped,
            0.997_435_897_435_897_4,
            9.804_939_513_027_087e-47,
        );
    }

    // NumPy: tanh(arctanh(r) ± norm.ppf(0.975) * sqrt(v)), v = (1 + r**2 / 2) / (n - 3) and 0.437 / (n - 4).
    #[test]
    fn intervals_are_fishers_z_with_the_variance_of_ranks() {
        let close = |got: Option<[f64; 2]>, low: f64, high: f64| {
            let [a, b] = got.unwrap();
            assert!((a - low).abs() < 1e-9 && (b - high).abs() < 1e-9, "{a} to {b}");
        };
        close(
            spearman(&X12, &Y12, 0.95).unwrap().interval,
            0.428_983_467_374_803_14,
            0.962_440_551_541_927_2,
        );
        close(
            kendall(&X12, &Y12, 0.95).unwrap().interval,
            0.285_771_907_163_436_2,
            0.836_715_877_385_307,
        );
        close(
            spearman(&X8, &Y8, 0.95).unwrap().interval,
            -0.949_263_547_963_934,
            0.125_879_350_921_628_77,
        );
        close(
            kendall(&X8, &Y8, 0.95).unwrap().interval,
            -0.802_633_948_277_571_6,
            0.187_438_711_586_210_4,
        );
    }

    #[test]
    fn too_few_pairs_have_no_interval() {
        let four = [1.0, 3.0, 2.0, 4.0];
        assert!(spearman(&X5[..4], &four, 0.95).unwrap().interval.is_some());
        assert_eq!(kendall(&X5[..4], &four, 0.95).unwrap().interval, None);
        assert_eq!(spearman(&X5[..3], &four[..3], 0.95).unwrap().interval, None);
    }

    #[test]
    fn a_perfect_order_has_the_interval_of_one_swap_on_its_open_side() {
        let swapped = [2.0, 1.0, 3.0, 4.0, 5.0];
        let backwards = X5.map(|x| -x);
        for of in [spearman, kendall] {
            let [low, _] = of(&X5, &swapped, 0.95).unwrap().interval.unwrap();
            let up = of(&X5, &X5, 0.95).unwrap();
            let down = of(&X5, &backwards, 0.95).unwrap();
            assert_eq!((up.value, down.value), (1.0, -1.0));
            let ([up_low, up_high], [down_low, down_high]) = (up.interval.unwrap(), down.interval.unwrap());
            assert!(
                (up_low - low).abs() < 1e-12 && (down_high + low).abs() < 1e-12,
                "{up_low} {low}"
            );
            assert_eq!((up_high, down_low), (1.0, -1.0));
            // 2 of the 120 orders.
            assert_close(up.p, 2.0 / 120.0);
            assert_close(down.p, 2.0 / 120.0);
        }
    }

    #[test]
    fn no_p_value_is_smaller_than_two_of_all_orders() {
        let x = list(12, |i| i);
        // 12! = 479,001,600.
        assert_close(spearman(&x, &x, 0.95).unwrap().p * 479_001_600.0, 2.0);
        assert_close(kendall(&x, &x, 0.95).unwrap().p * 479_001_600.0, 2.0);
    }

    #[test]
    fn a_perfect_order_with_ties_is_exactly_one() {
        for of in [spearman, kendall] {
            assert_eq!(of(&TIED_X12, &TIED_X12, 0.95).unwrap().value, 1.0);
            assert_eq!(of(&TIED_X12, &TIED_X12.map(|x| -x), 0.95).unwrap().value, -1.0);
        }
    }

    #[test]
    fn a_constant_list_has_no_correlation() {
        // The two zeros are equal numbers of different sign.
        let constant = [0.0, -0.0, 0.0, -0.0, 0.0];
        for of in [spearman, kendall] {
            assert_eq!(of(&constant, &X5, 0.95), None);
            assert_eq!(of(&X5, &constant, 0.95), None);
            assert_eq!(of(&[], &[], 0.95), None);
            assert_eq!(of(&[1.0], &[2.0], 0.95), None);
        }
    }
}
