// SPDX-License-Identifier: MIT
//! t-SNE maps of small spaces.

use super::*;
use crate::kernels::pca_plane::principal_plane;
use crate::random;
use crate::run::Order;
use rand::Rng;

fn of(space: &Space, order: Order) -> Vec<[f64; 2]> {
    tsne(space, &start(space), &Driver::silent(order)).unwrap()
}

fn start(space: &Space) -> Vec<[f64; 2]> {
    let plane = principal_plane(space, &Driver::silent(Order::Serial));
    plane.x.iter().zip(&plane.y).map(|(x, y)| [*x, *y]).collect()
}

/// Groups of rows, each about the end of an axis of its own: no plane shows them apart.
fn groups(count: usize, rows: usize) -> Space {
    let mut rng = random::stream(7, "groups", 0);
    let mut noise = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let value = |i: usize| 0.8 * noise() + f64::from(u8::from((i / count) % count == i % count));
    let values = (0..rows * count).map(value).collect();
    Space::from_f64("z", rows, count, values).unwrap()
}

/// How few strangers are among the `k` nearest points of each point of a map (Venna and Kaski 2001), from its definition.
fn trustworthiness(space: &Space, map: &[[f64; 2]], k: usize) -> f64 {
    let n = space.rows();
    let mut row = vec![0.0; space.columns()];
    let mut codes = Vec::new();
    for i in 0..n {
        space.read_row(i, &mut row);
        codes.push(row.clone());
    }
    let nearest = |squared: &dyn Fn(usize) -> f64, i: usize| {
        let mut others: Vec<usize> = (0..n).filter(|j| *j != i).collect();
        others.sort_by(|a, b| squared(*a).total_cmp(&squared(*b)));
        others
    };
    let mut penalty = 0;
    for i in 0..n {
        let in_codes = |j: usize| codes[i].iter().zip(&codes[j]).map(|(a, b)| (a - b).powi(2)).sum();
        let on_map = |j: usize| (map[i][0] - map[j][0]).powi(2) + (map[i][1] - map[j][1]).powi(2);
        let by_codes = nearest(&in_codes, i);
        for j in &nearest(&on_map, i)[..k] {
            let rank = by_codes.iter().position(|other| other == j).unwrap() + 1;
            penalty += rank.saturating_sub(k);
        }
    }
    1.0 - 2.0 * penalty as f64 / (n * k * (2 * n - 3 * k - 1)) as f64
}

#[test]
fn neighbors_stand_together_where_no_plane_shows_them() {
    let space = groups(10, 400);
    let (plane, map) = (start(&space), of(&space, Order::Parallel));
    let (of_plane, of_map) = (trustworthiness(&space, &plane, 10), trustworthiness(&space, &map, 10));
    assert!(of_plane < 0.85 && of_map > 0.95, "plane {of_plane}, map {of_map}");
    // Rows of group r mod 10: the nearest point is one of the own group.
    let same = (0..400).filter(|i| {
        let squared = |j: &usize| (map[*i][0] - map[*j][0]).powi(2) + (map[*i][1] - map[*j][1]).powi(2);
        let others = (0..400).filter(|j| j != i);
        let nearest = others.min_by(|a, b| squared(a).total_cmp(&squared(b))).unwrap();
        nearest % 10 == i % 10
    });
    assert!(same.count() >= 396);
}

#[test]
fn any_number_of_threads_draws_the_same_map() {
    let space = groups(6, 700);
    let expected = of(&space, Order::Serial);
    assert_eq!(of(&space, Order::Shuffled(3)), expected);
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(
            pool.install(|| of(&space, Order::Parallel)),
            expected,
            "{threads} threads"
        );
    }
}

#[test]
fn the_slope_is_that_of_the_divergence() {
    // Σ p ln(p / q) with q = w / Σ w, moved a little along each axis. With 12 points the tree is a single leaf, exact but for
    // rounding to single precision.
    let space = groups(3, 12);
    let driver = Driver::silent(Order::Serial);
    let (rows, distances) = nearest_neighbors(&space, 9, &driver).unwrap();
    let affinities = Affinities::new(9, &rows, &distances, 3.0, &driver);
    let points: Vec<[f64; 2]> = start(&space).iter().map(|point| point.map(|x| 3.0 * x)).collect();
    let near = |a: [f64; 2], b: [f64; 2]| 1.0 / (1.0 + (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2));
    let divergence = |points: &[[f64; 2]]| {
        let pairs = (0..12).flat_map(|i| (0..12).filter(move |j| *j != i).map(move |j| (i, j)));
        let all: f64 = pairs.map(|(i, j)| near(points[i], points[j])).sum();
        let of = |i: usize, j: usize, p: f64| p * (p * all / near(points[i], points[j])).ln();
        let pairs = (0..12).flat_map(|i| affinities.of(i).iter().map(move |(j, p)| (i, *j as usize, *p)));
        pairs.map(|(i, j, p)| of(i, j, p)).sum::<f64>()
    };
    for (i, slope) in slopes(&points, &affinities, 1.0, &driver).iter().enumerate() {
        for axis in 0..2 {
            let moved = |by: f64| {
                let mut points = points.clone();
                points[i][axis] += by;
                divergence(&points)
            };
            let expected = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope[axis] - expected).abs() < 1e-6, "{} {expected}", slope[axis]);
        }
    }
}

#[test]
fn few_rows_have_a_map_with_fewer_neighbors() {
    assert_eq!(
        (tsne_perplexity(4), tsne_perplexity(91), tsne_perplexity(5000)),
        (1.0, 30.0, 30.0)
    );
    for rows in [4, 5, 10, 90] {
        let map = of(&groups(3, rows), Order::Parallel);
        assert!(
            map.len() == rows && map.iter().flatten().all(|x| x.is_finite()),
            "{rows}: {map:?}"
        );
    }
}

#[test]
fn equal_rows_stand_together_and_equal_codes_at_one_place() {
    let values = (0..60)
        .flat_map(|i| [f64::from(i / 2 % 7), f64::from(i / 2 % 5), f64::from(i / 2)])
        .collect();
    let map = of(&Space::from_f64("z", 60, 3, values).unwrap(), Order::Parallel);
    let apart = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let twins = (0..30).map(|i| apart(map[2 * i], map[2 * i + 1])).fold(0.0, f64::max);
    let width = map.iter().map(|point| apart(*point, map[0])).fold(0.0, f64::max);
    assert!(twins < 1e-3 * width, "{twins} of {width}");
    let constant = Space::from_f64("z", 200, 3, vec![4.0; 600]).unwrap();
    assert_eq!(of(&constant, Order::Parallel), [[0.0; 2]; 200]);
    // More copies of one row than neighbors.
    let mut values = vec![1.0; 600];
    values.extend((0..90).map(|i| f64::from(i * i % 17)));
    let map = of(&Space::from_f64("z", 230, 3, values).unwrap(), Order::Parallel);
    assert!(map.iter().flatten().all(|x| x.is_finite()));
}

#[test]
fn very_large_and_very_small_codes_have_the_map_of_their_shape() {
    let space = groups(4, 120);
    let scaled = |factor: f64| {
        let mut row = [0.0; 4];
        let mut values = Vec::new();
        for i in 0..120 {
            space.read_row(i, &mut row);
            values.extend(row.map(|x| x * factor));
        }
        of(&Space::from_f64("z", 120, 4, values).unwrap(), Order::Parallel)
    };
    // Powers of two change no digits.
    assert_eq!(scaled(2f64.powi(200)), scaled(1.0));
    assert_eq!(scaled(2f64.powi(-200)), scaled(1.0));
}
