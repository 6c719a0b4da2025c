// SPDX-License-Identifier: MIT
//! k-means against its definition, scikit-learn, and data made to break it.

use super::seeding::uniform;
use super::*;
use crate::data::Labels;
use crate::run::Order;

fn cluster(n: usize, d: usize, values: Vec<f64>, k: usize) -> Clusters {
    let space = Space::from_f64("z", n, d, values).unwrap();
    kmeans(&space, None, k, 10, Swaps::Tried, 42, &Driver::silent(Order::Serial)).unwrap()
}

/// `n` rows around `k` far corners, in turn; offset by `offset`.
fn blobs(n: usize, d: usize, k: usize, offset: f64) -> Vec<f64> {
    let mut rng = random::stream(5, "test", 0);
    let corners: Vec<f64> = (0..k * d).map(|_| 20.0 * uniform(&mut rng)).collect();
    let mut values = Vec::with_capacity(n * d);
    for i in 0..n {
        let corner = &corners[i % k * d..][..d];
        values.extend(corner.iter().map(|c| offset + c + uniform(&mut rng)));
    }
    values
}

/// Labels, costs and inertia from the centers, by the definition.
fn check_against_definition(c: &Clusters, values: &[f64], d: usize) {
    for (i, row) in values.chunks_exact(d).enumerate() {
        let cost = |j: usize| -> f64 {
            let center = &c.centers[j * d..(j + 1) * d];
            row.iter().zip(center).map(|(x, y)| (x - y).powi(2)).sum()
        };
        let own = cost(c.labels[i] as usize);
        assert!((own - c.costs[i]).abs() <= 1e-9 * c.total.max(1.0));
        for j in (0..c.k).filter(|j| c.counts[*j] > 0) {
            assert!(own <= cost(j) + 1e-9 * c.total.max(1.0), "row {i}");
        }
    }
    let sum: f64 = c.costs.iter().sum();
    assert!((sum - c.inertia).abs() <= 1e-12 * sum.max(1e-300));
    assert_eq!(c.counts.iter().sum::<usize>(), c.labels.len());
}

#[test]
fn two_pairs_on_a_line_are_found() {
    // Means 0.5 and 10.5, each row 0.5 away: inertia 4 · 0.25; total 2 · (5.5² + 4.5²).
    let c = cluster(4, 1, vec![0.0, 10.0, 1.0, 11.0], 2);
    assert_eq!(c.labels, [0, 1, 0, 1]);
    assert_eq!(c.centers, [0.5, 10.5]);
    assert_eq!(c.counts, [2, 2]);
    assert_eq!((c.inertia, c.total), (1.0, 101.0));
}

#[test]
fn separate_blobs_are_found_and_numbered_by_their_first_row() {
    let values = blobs(3000, 20, 7, 0.0);
    let c = cluster(3000, 20, values.clone(), 7);
    let expected: Vec<u32> = (0..3000).map(|i| i % 7).collect();
    assert_eq!(c.labels, expected);
    check_against_definition(&c, &values, 20);
}

#[test]
fn overlapping_data_give_a_stable_partition() {
    let values = blobs(2500, 3, 1, 0.0);
    let c = cluster(2500, 3, values.clone(), 8);
    check_against_definition(&c, &values, 3);
    assert!(c.counts.iter().all(|n| *n > 0) && c.iterations > 2);
}

#[test]
fn the_inertia_is_as_low_as_that_of_scikit_learn() {
    // x = np.array([[(i * 37 % 101), (i * 53 % 89)] for i in range(500)], float)
    // KMeans(6, n_init=50, random_state=0, tol=0).fit(x).inertia_, scikit-learn 1.9.1:
    // 129853.10999878586; a single start may end in a worse minimum, ten should come close.
    let values = (0..500u32).flat_map(|i| [f64::from(i * 37 % 101), f64::from(i * 53 % 89)]);
    let c = cluster(500, 2, values.collect(), 6);
    assert!(c.inertia <= 129853.11 * 1.001, "{}", c.inertia);
}

#[test]
fn a_large_offset_changes_no_label() {
    // Numbers near 1e6 are spaced by 1.2e-10: costs agree to about 1e-9.
    let near = cluster(500, 5, blobs(500, 5, 4, 0.0), 4);
    let far = cluster(500, 5, blobs(500, 5, 4, 1e6), 4);
    assert_eq!(near.labels, far.labels);
    assert!((near.inertia - far.inertia).abs() < 1e-8 * near.inertia);
    assert!((near.total - far.total).abs() < 1e-8 * near.total);
}

#[test]
fn the_unit_of_the_data_changes_no_label() {
    let values = blobs(500, 5, 4, 0.0);
    let plain = cluster(500, 5, values.clone(), 6);
    for unit in [1e-40, 1e40] {
        let scaled = cluster(500, 5, values.iter().map(|x| x * unit).collect(), 6);
        assert_eq!(plain.labels, scaled.labels);
    }
}

#[test]
fn one_cluster_is_the_mean() {
    let c = cluster(3, 2, vec![0.0, 0.0, 3.0, 0.0, 0.0, 3.0], 1);
    assert_eq!(c.centers, [1.0, 1.0]);
    assert_eq!((c.inertia, c.total), (12.0, 12.0));
}

#[test]
fn as_many_clusters_as_rows_cost_nothing() {
    let c = cluster(40, 3, blobs(40, 3, 1, 0.0), 40);
    assert_eq!(c.labels, (0..40).collect::<Vec<u32>>());
    assert!(c.inertia <= 1e-25, "{}", c.inertia);
}

#[test]
fn too_few_distinct_rows_leave_clusters_empty() {
    let values = [[1.0, 2.0], [5.0, 5.0], [1.0, 2.0]].concat();
    let c = cluster(3, 2, values, 5);
    assert_eq!(c.labels, [0, 1, 0]);
    assert_eq!(c.counts, [2, 1, 0, 0, 0]);
    assert!(c.inertia < 1e-25 && c.centers.iter().all(|x| x.is_finite()));
    assert_eq!(c.centers[..4], [1.0, 2.0, 5.0, 5.0]);
}

#[test]
fn equal_rows_are_one_cluster() {
    for value in [0.0, 0.1, 1e6 + 0.1] {
        let c = cluster(2000, 3, vec![value; 6000], 3);
        assert_eq!((c.counts, c.inertia, c.total), (vec![2000, 0, 0], 0.0, 0.0));
    }
}

#[test]
fn one_row_and_two_rows_are_clustered() {
    let one = cluster(1, 2, vec![3.0, 4.0], 1);
    assert_eq!((one.labels, one.centers, one.total), (vec![0], vec![3.0, 4.0], 0.0));
    let two = cluster(2, 1, vec![3.0, 5.0], 2);
    assert_eq!(
        (two.labels, two.centers, two.inertia),
        (vec![0, 1], vec![3.0, 5.0], 0.0)
    );
}

#[test]
fn a_scale_multiplies_the_rows() {
    let space = Space::from_f64("z", 4, 2, vec![1.0, 0.0, 0.0, 8.0, 4.0, 0.0, 0.0, 2.0]).unwrap();
    let scale = [1.0, 0.125, 0.25, 0.5];
    let c = kmeans(
        &space,
        Some(&scale),
        2,
        3,
        Swaps::Tried,
        42,
        &Driver::silent(Order::Serial),
    )
    .unwrap();
    assert_eq!(c.labels, [0, 1, 0, 1]);
    assert_eq!(c.centers, [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(c.total, 2.0);
}

#[test]
fn an_empty_cluster_takes_the_farthest_row() {
    // All centers start at one place, so all but one are empty after the first step.
    let space = Space::from_f64("z", 5, 1, vec![0.0, 1.0, 2.0, 3.0, 100.0]).unwrap();
    let driver = Driver::silent(Order::Serial);
    let search = Search::new(&space, None, 2, &driver).unwrap();
    let found = search.best_of(vec![vec![0.0, 0.0]]).unwrap().1;
    assert_eq!(found.labels, [0, 0, 0, 0, 1]);
}

/// Lloyd's algorithm on the packed rows by its definition: every distance in every step, in double precision.
fn plain_lloyd(search: &Search, mut centers: Vec<f64>) -> (Vec<u32>, usize) {
    let (n, d, k) = (search.n, search.d, search.k);
    let tolerance = TOLERANCE * search.total * search.unit.powi(2) / (n * d) as f64;
    let mut labels = vec![UNASSIGNED; n];
    for iteration in 1.. {
        let old = labels.clone();
        let mut sums = vec![0.0; k * d];
        let mut counts = vec![0.0; k];
        for (i, label) in labels.iter_mut().enumerate() {
            let row = search.packed_row(i);
            let cost = |c: usize| -> f64 {
                let pairs = row.iter().zip(&centers[c * d..(c + 1) * d]);
                pairs.map(|(x, c)| (f64::from(*x) - c).powi(2)).sum()
            };
            let nearest = (0..k).min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap();
            *label = nearest as u32;
            counts[nearest] += 1.0;
            let sums = sums[nearest * d..].iter_mut();
            sums.zip(row).for_each(|(s, x)| *s += f64::from(*x));
        }
        let means = sums.iter().enumerate().map(|(at, s)| s / counts[at / d]);
        let means: Vec<f64> = means.collect();
        let moved: f64 = means.iter().zip(&centers).map(|(m, c)| (m - c).powi(2)).sum();
        centers = means;
        if old == labels || moved <= tolerance {
            return (labels, iteration);
        }
    }
    unreachable!("a step is the last one")
}

#[test]
fn bounds_give_the_path_of_plain_lloyd() {
    // Overlapping rows, more than one chunk; as many groups of centers as centers, and fewer.
    for (n, d, k) in [(3000, 5, 7), (1500, 12, 10), (2500, 3, 40)] {
        let space = Space::from_f64("z", n, d, blobs(n, d, 1, 0.0)).unwrap();
        let driver = Driver::silent(Order::Serial);
        let search = Search::new(&space, None, k, &driver).unwrap();
        let seeds = search.seeds(&mut [random::stream(1, "test", 0)]).unwrap().remove(0);
        let (labels, iterations) = plain_lloyd(&search, seeds.clone());
        let found = search.best_of(vec![seeds]).unwrap().1;
        assert_eq!((found.labels, found.iterations), (labels, iterations), "{n} × {d}, {k}");
        assert!(iterations > 5, "{iterations} steps say little");
    }
}

#[test]
fn the_inertia_starts_are_compared_by_is_that_of_the_result() {
    let space = Space::from_f64("z", 2500, 6, blobs(2500, 6, 1, 3.0)).unwrap();
    let driver = Driver::silent(Order::Serial);
    let search = Search::new(&space, None, 5, &driver).unwrap();
    let seeds = search.seeds(&mut [random::stream(1, "test", 0)]).unwrap().remove(0);
    let found = search.best_of(vec![seeds]).unwrap().1;
    let exact = search.exact(&found.labels, found.iterations, 0).unwrap().inertia;
    // The result has taken one more half step, and the packed rows have 24 bits.
    let packed = found.inertia / search.unit.powi(2);
    assert!(
        exact <= packed * (1.0 + 1e-6) && exact > packed * (1.0 - 1e-3),
        "{exact} {packed}"
    );
}

#[test]
fn starts_seeded_together_are_those_seeded_alone() {
    let space = Space::from_f64("z", 3000, 40, blobs(3000, 40, 6, 0.0)).unwrap();
    let driver = Driver::silent(Order::Serial);
    let search = Search::new(&space, None, 6, &driver).unwrap();
    let stream = |start: u64| random::stream(9, "test", start);
    let together = search.seeds(&mut [stream(0), stream(1), stream(2)]).unwrap();
    for (start, seeds) in together.into_iter().enumerate() {
        assert_eq!(search.seeds(&mut [stream(start as u64)]).unwrap(), [seeds]);
    }
}

#[test]
fn many_copies_of_a_few_rows_are_told_apart() {
    // Seven distinct rows, two of them near each other and far from the mean.
    let distinct = [-90.0, 1.0, 3.0, 6.0, 10.0, 1000.0, 1002.0];
    let values: Vec<f64> = (0..5000).flat_map(|i| [distinct[i % 7], 3.0]).collect();
    for k in [7, 12] {
        let c = cluster(5000, 2, values.clone(), k);
        assert_eq!(c.labels, (0..5000).map(|i| i % 7).collect::<Vec<u32>>(), "{k}");
        assert_eq!(c.counts.iter().filter(|n| **n > 0).count(), 7);
        assert!(c.inertia < 1e-15 * c.total, "{}", c.inertia);
    }
}

#[test]
fn the_driver_does_not_change_a_bit() {
    let space = Space::from_f64("z", 5000, 6, blobs(5000, 6, 2, 0.0)).unwrap();
    let one = kmeans(&space, None, 9, 3, Swaps::Tried, 1, &Driver::silent(Order::Serial)).unwrap();
    for order in [Order::Parallel, Order::Shuffled(3)] {
        let other = kmeans(&space, None, 9, 3, Swaps::Tried, 1, &Driver::silent(order)).unwrap();
        assert_eq!(one, other, "{order:?}");
        assert_eq!(one.inertia.to_bits(), other.inertia.to_bits(), "{order:?}");
    }
}

/// Rows on a line near 0, 100, 200 and 300, ten each.
fn four_piles() -> Space {
    let values = (0..40u32).map(|i| f64::from(i % 4 * 100 + i / 4)).collect();
    Space::from_f64("z", 40, 1, values).unwrap()
}

/// Where Lloyd's steps end that begin at these values of the piles.
fn from_piles(search: &Search, values: [f64; 4]) -> lloyd::Partition {
    let packed = values.map(|x| (x - search.mean[0]) * search.unit);
    search.best_of(vec![packed.to_vec()]).unwrap().1
}

#[test]
fn a_swap_leads_out_of_a_minimum_where_two_piles_share_a_center() {
    let (space, driver) = (four_piles(), Driver::silent(Order::Serial));
    let search = Search::new(&space, None, 4, &driver).unwrap();
    let poor = from_piles(&search, [0.0, 9.0, 104.0, 250.0]);
    // The last two piles are 100 apart and have one center: 20 · 50² and the spread of a pile, 82.5, each.
    let inertia = poor.inertia / search.unit.powi(2);
    assert!(inertia > 50_000.0, "{inertia}");
    let best = search.improve(poor, &mut random::stream(1, "test", 0)).unwrap();
    assert!((best.inertia / search.unit.powi(2) - 4.0 * 82.5).abs() < 0.01);
}

#[test]
fn swaps_leave_the_best_minimum_as_it_is() {
    let (space, driver) = (four_piles(), Driver::silent(Order::Serial));
    let search = Search::new(&space, None, 4, &driver).unwrap();
    let found = from_piles(&search, [0.0, 100.0, 200.0, 300.0]);
    let (labels, iterations) = (found.labels.clone(), found.iterations);
    let best = search.improve(found, &mut random::stream(1, "test", 0)).unwrap();
    assert_eq!((best.labels, best.iterations), (labels, iterations));
}

#[test]
fn with_swaps_two_starts_of_any_seed_come_close_to_the_best_minimum() {
    // Ten blobs that touch each other in the plane: ten seeds differ by 5 % without swaps and by 0.1 % with them.
    let mut rng = random::stream(5, "test", 1);
    let corners: Vec<f64> = (0..20).map(|_| 4.0 * uniform(&mut rng)).collect();
    let values = (0..6000).map(|at| corners[at % 20] + uniform(&mut rng)).collect();
    let space = Space::from_f64("z", 3000, 2, values).unwrap();
    let inertias = |swaps: Swaps| -> Vec<f64> {
        let of = |seed| {
            kmeans(&space, None, 10, 2, swaps, seed, &Driver::silent(Order::Parallel))
                .unwrap()
                .inertia
        };
        (0..10).map(of).collect()
    };
    let spread = |inertias: Vec<f64>| {
        let least = inertias.iter().copied().fold(f64::INFINITY, f64::min);
        inertias.iter().copied().fold(0.0, f64::max) / least - 1.0
    };
    let (with, without) = (spread(inertias(Swaps::Tried)), spread(inertias(Swaps::None)));
    assert!(with < 0.002 && without > 0.02, "{with} {without}");
}

#[test]
fn one_start_is_plain_k_means() {
    let space = Space::from_f64("z", 2000, 3, blobs(2000, 3, 1, 0.0)).unwrap();
    let of = |swaps| kmeans(&space, None, 8, 1, swaps, 3, &Driver::silent(Order::Serial)).unwrap();
    assert_eq!(of(Swaps::Tried), of(Swaps::None));
}

#[test]
fn halves_gain_what_the_inertia_falls_by() {
    // Inertia 101 around 5.5; 0.5 around each of 0.5 and 10.5.
    let space = Space::from_f64("z", 4, 1, vec![0.0, 10.0, 1.0, 11.0]).unwrap();
    let driver = Driver::silent(Order::Serial);
    let search = Search::new(&space, None, 1, &driver).unwrap();
    let found = search.best_of(vec![vec![0.0]]).unwrap().1;
    let halves = search
        .halves(&found, &mut random::stream(1, "test", 0))
        .unwrap()
        .remove(0);
    assert!(
        (halves.gain / search.unit.powi(2) - 100.0).abs() < 1e-4,
        "{}",
        halves.gain
    );
}

#[test]
fn starts_that_go_on_together_end_as_each_would_alone() {
    // With 300 columns, many starts fit into the room for them.
    let space = Space::from_f64("z", 1200, 300, blobs(1200, 300, 1, 0.0)).unwrap();
    let driver = Driver::silent(Order::Serial);
    let search = Search::new(&space, None, 6, &driver).unwrap();
    let seeds = search
        .seeds(&mut [0, 1, 2, 3].map(|start| random::stream(9, "test", start)))
        .unwrap();
    let alone = seeds.iter().map(|seeds| search.best_of(vec![seeds.clone()]).unwrap().1);
    let least = alone.min_by(|a, b| a.inertia.total_cmp(&b.inertia)).unwrap();
    let (_, best) = search.best_of(seeds).unwrap();
    assert_eq!((best.labels, best.iterations), (least.labels, least.iterations));
    assert_eq!(best.inertia.to_bits(), least.inertia.to_bits());
}

/// The least inertia on a line, by a table over all runs of the sorted values, each measured by itself.
fn least_on_a_line(mut values: Vec<f64>, k: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let cost = |run: &[f64]| {
        let mean = run.iter().sum::<f64>() / run.len() as f64;
        run.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    let mut least = vec![f64::INFINITY; values.len() + 1];
    least[0] = 0.0;
    for _ in 0..k {
        let last = |end: usize| {
            let of_first = (0..end).map(|first| least[first] + cost(&values[first..end]));
            of_first.fold(f64::INFINITY, f64::min)
        };
        least = (0..=values.len()).map(last).collect();
    }
    least[values.len()]
}

#[test]
fn on_a_line_the_inertia_is_the_least_there_is() {
    for seed in 0..20 {
        let mut rng = random::stream(seed, "test", 0);
        let n = 12 + 7 * seed as usize;
        let values: Vec<f64> = (0..n).map(|_| uniform(&mut rng).ln() * 3.0 + 100.0).collect();
        for k in [2, 3, 5, 8] {
            let (found, least) = (cluster(n, 1, values.clone(), k), least_on_a_line(values.clone(), k));
            assert!(
                (found.inertia / least - 1.0).abs() < 1e-9,
                "{n} rows, {k}: {} {least}",
                found.inertia
            );
            check_against_definition(&found, &values, 1);
        }
    }
}

#[test]
fn equal_values_on_a_line_are_one_cluster() {
    let found = cluster(6, 1, vec![2.0, 1.0, 2.0, 2.0, 1.0, 2.0], 4);
    assert_eq!(found.labels, [0, 1, 0, 0, 1, 0]);
    assert_eq!((found.counts, found.inertia), (vec![4, 2, 0, 0], 0.0));
}

#[test]
fn small_problems_end_as_low_as_five_hundred_starts_of_scikit_learn() {
    // x = np.array([[i * p % 101, i * q % 89] for i in range(n)], float)
    // min(KMeans(k, n_init=100, random_state=s, tol=0).fit(x).inertia_ for s in range(5)), scikit-learn 1.9.1
    let cases = [
        (100, [37, 53], 8, 18903.580735930736),
        (60, [29, 71], 6, 14802.531196581196),
        (150, [41, 67], 10, 21459.358296523736),
        (200, [83, 19], 12, 20556.850345784245),
        (300, [59, 23], 5, 92762.94594363349),
    ];
    for (n, [p, q], k, best) in cases {
        let values = (0..n as u32).flat_map(|i| [f64::from(i * p % 101), f64::from(i * q % 89)]);
        let space = Space::from_f64("z", n, 2, values.collect()).unwrap();
        for seed in 0..5 {
            let found = kmeans(&space, None, k, 10, Swaps::Tried, seed, &Driver::silent(Order::Serial)).unwrap();
            assert!(
                found.inertia <= best * 1.005,
                "{n} rows, {k}, {seed}: {} {best}",
                found.inertia
            );
        }
    }
    // x = np.array([[i * i * p % 103 for p in (3, 7, 11, 19)] for i in range(120)], float), k = 9
    let values = (0..120u32).flat_map(|i| [3, 7, 11, 19].map(|p| f64::from(i * i * p % 103)));
    let found = cluster(120, 4, values.collect(), 9);
    assert!(found.inertia <= 104400.79280303032 * 1.005, "{}", found.inertia);
}

#[test]
fn halves_agree_where_clusters_are_far_apart_and_differ_where_there_are_none() {
    let driver = Driver::silent(Order::Serial);
    let labels = |corners: usize| {
        let space = Space::from_f64("z", 600, 4, blobs(600, 4, corners, 0.0)).unwrap();
        let found = kmeans(&space, None, 3, 10, Swaps::Tried, 42, &driver).unwrap();
        let halves = kmeans_of_halves(&space, &found, None, 10, 4, 42, &driver).unwrap();
        assert_eq!(halves.len(), 4);
        for half in &halves {
            assert_eq!(half.labels.len(), 600);
            // All rows fit the centers of a half no better than their own.
            assert!(half.inertia >= found.inertia * (1.0 - 1e-4));
        }
        halves
            .iter()
            .map(|half| half.inertia / found.inertia)
            .collect::<Vec<f64>>()
    };
    assert!(labels(3).iter().all(|ratio| (ratio - 1.0).abs() < 0.01));
    let of_one = labels(1);
    assert!(of_one.iter().any(|ratio| *ratio != of_one[0]));
}

#[test]
fn halves_are_made_of_whole_groups() {
    let groups = Labels::from_codes((0..60).map(|row| row / 10).collect(), 6);
    let rows = halves::draw_half(60, Some(&groups), 42, 0);
    assert_eq!(rows.len(), 30);
    for group in rows.chunks(10) {
        assert!(group.iter().all(|row| row / 10 == group[0] / 10), "{group:?}");
    }
    assert!((1..6).any(|i| rows != halves::draw_half(60, Some(&groups), 42, i)));
    assert_eq!(halves::draw_half(61, None, 42, 0).len(), 31);
}
