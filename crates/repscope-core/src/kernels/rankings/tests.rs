// SPDX-License-Identifier: MIT
//! The fast way against f64 throughout, on data made to break it.

use super::candidates::{key_of, row_of, value_of};
use super::screen::Rows;
use super::*;
use crate::kernels::microkernel::meet;
use crate::kernels::similarity::{PackedTargets, Role, Side};
use crate::random::stream;
use crate::run::Order;
use crate::spec::Similarity;
use rand::RngExt;

const KINDS: [&str; 9] = [
    "noise",
    "cone",
    "templates",
    "ties",
    "near ties",
    "constant",
    "zeros",
    "huge",
    "tiny",
];

/// Rows of `d` random numbers, or something nastier.
fn data(kind: &str, n: usize, d: usize, seed: u64) -> Space {
    let mut rng = stream(seed, kind, 0);
    let mut noise = || rng.random::<f64>() - 0.5;
    let values: Vec<f64> = match kind {
        "noise" => (0..n * d).map(|_| noise()).collect(),
        // All rows point the same way, as the embeddings of a badly centered encoder do.
        "cone" => (0..n * d).map(|_| 1.0 + 1e-3 * noise()).collect(),
        // Few distinct rows, as texts made from templates have.
        "templates" => {
            let rows: Vec<f64> = (0..5 * d).map(|_| noise()).collect();
            (0..n).flat_map(|i| rows[(i * 7 % 5) * d..][..d].to_vec()).collect()
        }
        "ties" => (0..n * d).map(|_| (noise() * 4.0).round()).collect(),
        // Similarities that differ by less than f32 can tell.
        "near ties" => (0..n * d)
            .map(|x| f64::from(u8::from(x % d == 0)) + 1e-9 * noise())
            .collect(),
        "constant" => vec![3.0; n * d],
        "zeros" => (0..n * d)
            .map(|x| if (x / d).is_multiple_of(3) { 0.0 } else { noise() })
            .collect(),
        "huge" => (0..n * d).map(|_| noise() * 1e149).collect(),
        "tiny" => (0..n * d).map(|_| noise() * 1e-200).collect(),
        other => panic!("no data called {other}"),
    };
    Space::from_f64(kind, n, d, values).unwrap()
}

/// Labels with large and small classes, some of which only one side has.
fn relevance(queries: usize, targets: usize, is_self: bool) -> Relevance {
    let codes = |rows: usize, shift: usize| -> Vec<u32> {
        let code = |i: usize| if i.is_multiple_of(3) { 0 } else { (i * i + shift) % 40 };
        (0..rows).map(|i| code(i) as u32).collect()
    };
    let names = (0..42).map(|c| c.to_string()).collect();
    let targets = codes(targets, usize::from(!is_self));
    Relevance::new(names, codes(queries, 0), targets, is_self)
}

/// A direction in f64 and by panels; `depth` first targets.
fn slow_and_fast(
    query: &Space,
    target: &Space,
    similarity: Similarity,
    is_self: bool,
    depth: usize,
) -> (Rankings, Rankings) {
    let driver = Driver::silent(Order::Parallel);
    let sides = [query, target].map(|space| Side::new(space, similarity, &driver));
    let relevances = [relevance(query.rows(), target.rows(), is_self)];
    let job = job([&sides[0], &sides[1]], &relevances, is_self, depth);
    (job.directly(&driver), job.by_panels(&driver))
}

fn job<'a>(sides: [&'a Side<'a>; 2], relevances: &'a [Relevance], is_self: bool, depth: usize) -> Job<'a> {
    Job {
        products: Products {
            query: sides[0],
            target: sides[1],
        },
        way: Way::There,
        relevances,
        is_self,
        depth,
        influence: None,
    }
}

/// Both directions of a pair of spaces: in f64, each by itself, and from one sweep.
fn three_ways(spaces: [&Space; 2], similarity: Similarity, depth: usize, order: Order) -> [[Rankings; 2]; 3] {
    let driver = Driver::silent(order);
    let sides = spaces.map(|space| Side::new(space, similarity, &driver));
    let rows = spaces.map(Space::rows);
    let relevances = [
        [relevance(rows[0], rows[1], false)],
        [relevance(rows[1], rows[0], false)],
    ];
    let there = job([&sides[0], &sides[1]], &relevances[0], false, depth);
    let back = Job {
        way: Way::Back,
        ..job([&sides[1], &sides[0]], &relevances[1], false, depth)
    };
    let jobs = [&there, &back];
    [
        jobs.map(|job| job.directly(&driver)),
        jobs.map(|job| job.by_panels(&driver)),
        both_ways::rank_both(jobs, &driver),
    ]
}

#[test]
fn one_sweep_finds_what_two_find_on_every_kind_of_data() {
    for kind in KINDS {
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let spaces = [data(kind, 461, 19, 1), data(kind, 1000, 19, 2)];
            for [a, b] in [[0, 1], [1, 0]] {
                let [slow, alone, both] = three_ways([&spaces[a], &spaces[b]], similarity, 30, Order::Parallel);
                let lists = |rankings: &[Rankings; 2]| [0, 1].map(|way| rankings[way].targets.clone());
                assert!(lists(&slow) == lists(&both), "{kind} {similarity:?}");
                // Standings too, to the last bit.
                assert!(alone == both, "{kind} {similarity:?}");
            }
        }
    }
}

#[test]
fn a_product_is_within_its_bound_and_the_same_in_both_directions() {
    let driver = Driver::silent(Order::Serial);
    for kind in KINDS {
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let spaces = [data(kind, 50, 70, 1), data("cone", 40, 70, 2)];
            let sides = [0, 1].map(|s| Side::new(&spaces[s], similarity, &driver));
            let there = products_of([&sides[0], &sides[1]], Way::There, &driver);
            let back = products_of([&sides[1], &sides[0]], Way::Back, &driver);
            for (i, row) in there.iter().enumerate() {
                for (j, (value, errors)) in row.iter().enumerate() {
                    assert!(
                        errors.iter().all(|error| *error <= 0.0),
                        "{kind} {similarity:?} {i} {j}: beyond the bound by {errors:?}"
                    );
                    assert_eq!(value.to_bits(), back[j][i].0.to_bits(), "{kind} {similarity:?} {i} {j}");
                }
            }
        }
    }
}

/// The product of every query and every target, and by how much its error exceeds the query's bound, in a micro-tile and by itself.
fn products_of(sides: [&Side; 2], way: Way, driver: &Driver) -> Vec<Vec<(f32, [f64; 2])>> {
    let products = Products {
        query: sides[0],
        target: sides[1],
    };
    let rows: Vec<u32> = (0..sides[0].space.rows() as u32).collect();
    let targets = PackedTargets::new(&products, way, driver);
    let (queries, errors) = targets.queries(&rows);
    let mut found = vec![vec![(0.0, [1.0; 2]); sides[1].space.rows()]; rows.len()];
    let by_row = |role, rows: &[u32]| Rows::new(&targets.centering, role, rows, |_, _, _| ());
    let of_queries = by_row(Role::Query, &rows);
    for block in &targets.blocks {
        let of_targets = by_row(Role::Target, &block.rows);
        let (all, limits) = (0..block.panels.count(), vec![f32::NEG_INFINITY; rows.len()]);
        meet(&queries.panels, &block.panels, all, &limits, |i, t, value| {
            let j = block.rows[t] as usize;
            let alone = of_queries.product(i, &of_targets, t).unwrap();
            let excess = |value: f32| {
                let error = f64::from(value) + targets.centering.shared - products.exact(i, j);
                error.abs() - errors[i]
            };
            found[i][j] = (value, [value, alone].map(excess));
        });
    }
    found
}

#[test]
fn one_sweep_serves_few_rows_as_well_as_many() {
    for rows in [[1, 97], [5, 1000], [96, 96], [95, 193], [480, 3], [2, 2]] {
        let spaces = [data("noise", rows[0], 7, 1), data("noise", rows[1], 7, 2)];
        for depth in [1, rows[0].min(rows[1])] {
            let [slow, alone, both] = three_ways([&spaces[0], &spaces[1]], Similarity::Cosine, depth, Order::Serial);
            assert_eq!(
                [&slow[0].targets, &slow[1].targets],
                [&both[0].targets, &both[1].targets],
                "{rows:?}"
            );
            assert!(alone == both, "{rows:?}");
        }
    }
}

#[test]
fn one_sweep_finds_the_same_in_every_order_of_work() {
    let spaces = [data("noise", 1100, 11, 1), data("ties", 900, 11, 2)];
    let run = |order| three_ways([&spaces[0], &spaces[1]], Similarity::Cosine, 25, order);
    let expected = run(Order::Serial);
    for order in [Order::Parallel, Order::Shuffled(3)] {
        assert!(run(order) == expected, "{order:?}");
    }
}

#[test]
fn rows_with_more_near_ties_than_room_are_ranked_all_the_same() {
    // Half the targets are one row that the first few queries resemble: these queries give up, the others do not.
    let d = 12;
    let noise = data("noise", 4000, d, 1);
    let mut values = vec![0.0; 4000 * d];
    (0..4000).for_each(|i| noise.read_row(i, &mut values[i * d..(i + 1) * d]));
    let (queries, targets) = values.split_at_mut(1000 * d);
    let copied = targets[..d].to_vec();
    targets
        .chunks_mut(d)
        .step_by(2)
        .for_each(|row| row.copy_from_slice(&copied));
    queries
        .chunks_mut(d)
        .take(40)
        .for_each(|row| row.iter_mut().zip(&copied).for_each(|(x, y)| *x = 0.1 * *x + y));
    let query = Space::from_f64("query", 1000, d, queries.to_vec()).unwrap();
    let target = Space::from_f64("target", 3000, d, targets.to_vec()).unwrap();
    let [slow, alone, both] = three_ways([&query, &target], Similarity::Cosine, 20, Order::Parallel);
    assert!(slow[0].targets == both[0].targets && slow[1].targets == both[1].targets);
    assert!(alone == both);
}

#[test]
fn the_first_targets_are_those_of_f64_on_every_kind_of_data() {
    for kind in KINDS {
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let (query, target) = (data(kind, 61, 19, 1), data(kind, 2500, 19, 2));
            let (slow, fast) = slow_and_fast(&query, &target, similarity, false, 30);
            assert_eq!(slow.targets, fast.targets, "{kind} {similarity:?}");
        }
    }
}

#[test]
fn a_space_searched_with_itself_never_finds_the_query() {
    for kind in KINDS {
        let space = data(kind, 1300, 8, 3);
        let (slow, fast) = slow_and_fast(&space, &space, Similarity::Cosine, true, 1299);
        assert_eq!(slow.targets, fast.targets, "{kind}");
        for q in 0..space.rows() {
            assert!(!fast.of(q).contains(&(q as u32)), "{kind} {q}");
        }
    }
}

#[test]
fn standings_are_those_of_f64_where_similarities_are_apart() {
    for is_self in [false, true] {
        let target = data("noise", 3000, 24, 5);
        let query = if is_self {
            target.clone()
        } else {
            data("noise", 200, 24, 6)
        };
        let (slow, fast) = slow_and_fast(&query, &target, Similarity::Cosine, is_self, 10);
        for (q, (a, b)) in slow.standings[0].iter().zip(&fast.standings[0]).enumerate() {
            // Two similarities in a thousand are closer than f32 tells; each may move a target by one rank.
            assert!(
                a.first.abs_diff(b.first) <= 1 && a.hits.abs_diff(b.hits) <= 1,
                "{q}: {a:?} {b:?}"
            );
            assert!(
                (a.average_precision - b.average_precision).abs() < 2e-3,
                "{q}: {a:?} {b:?}"
            );
        }
        let mean = |r: &Rankings| r.standings[0].iter().map(|s| s.average_precision).sum::<f64>() / query.rows() as f64;
        assert!((mean(&slow) - mean(&fast)).abs() < 1e-5);
    }
}

#[test]
fn a_first_relevant_target_far_behind_is_found() {
    // Queries point one way; the targets of their label the other way, behind all others. Few of them are measured
    // first, many are found in a second round.
    for relevant in [10, 20] {
        let is_far = |i: usize| i.is_multiple_of(2000 / relevant);
        let row = |x: f64, i: usize| [x, (i as f64).sin() * 0.1, (i as f64).cos() * 0.1];
        let query = Space::from_f64("query", 7, 3, (0..7).flat_map(|i| row(1.0, i)).collect()).unwrap();
        let targets = (0..2000).flat_map(|i| row(if is_far(i) { -1.0 } else { 1.0 }, i));
        let target = Space::from_f64("target", 2000, 3, targets.collect()).unwrap();
        let driver = Driver::silent(Order::Parallel);
        let sides = [&query, &target].map(|space| Side::new(space, Similarity::Cosine, &driver));
        let codes = (0..2000).map(|i| u32::from(!is_far(i))).collect();
        let names = vec!["far".to_string(), "near".to_string()];
        let relevances = [Relevance::new(names, vec![0; 7], codes, false)];
        let job = job([&sides[0], &sides[1]], &relevances, false, 5);
        for rankings in [job.directly(&driver), job.by_panels(&driver)] {
            let expected = 2001 - relevant as u32;
            assert!(rankings.standings[0].iter().all(|s| s.first == expected && s.hits == 0));
        }
    }
}

#[test]
fn keys_order_by_value_and_then_by_row() {
    let values = [1.0f32, 0.5, 0.0, -0.0, -0.25, -3.0, f32::MIN];
    for pair in values.windows(2) {
        let is_tie = pair[0] == pair[1];
        assert_eq!(key_of(pair[0], 9) < key_of(pair[1], 3), !is_tie, "{pair:?}");
        assert!(key_of(pair[0], 3) < key_of(pair[1], 9), "{pair:?}");
    }
    for value in values {
        assert_eq!(value_of(key_of(value, 7)), value);
        assert_eq!(row_of(key_of(value, 7)), 7);
    }
}

/// Two views of unit rows whose columns all have about the same variance: what 8 bits are for.
fn views(rows: usize, d: usize) -> [Space; 2] {
    let truth = data("noise", rows, d, 7);
    [1, 2].map(|seed| {
        let noise = data("noise", rows, d, seed);
        let (mut row, mut other, mut values) = (vec![0.0; d], vec![0.0; d], Vec::new());
        for i in 0..rows {
            truth.read_row(i, &mut row);
            noise.read_row(i, &mut other);
            row.iter_mut().zip(&other).for_each(|(x, y)| *x += 0.5 * y);
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            values.extend(row.iter().map(|x| x / length));
        }
        Space::from_f64("view", rows, d, values).unwrap()
    })
}

#[test]
fn rows_in_8_bits_find_what_others_find() {
    let (rows, d, depth) = (1500, 512, 3);
    let [a, b] = views(rows, d);
    let names = (0..rows).map(|c| c.to_string()).collect::<Vec<_>>();
    let pairs: Vec<u32> = (0..rows as u32).collect();
    let relevances = [Relevance::new(names, pairs.clone(), pairs, false)];
    let find = |driver: &Driver, similarity| {
        let sides = [&a, &b].map(|space| Side::new(space, similarity, driver));
        let there = job([&sides[0], &sides[1]], &relevances, false, depth);
        let back = Job {
            way: Way::Back,
            ..job([&sides[1], &sides[0]], &relevances, false, depth)
        };
        let is_coarse = one_way::Targets::new(&there, driver).is_coarse();
        let alone = [&there, &back].map(|job| job.by_panels(driver));
        (is_coarse, alone, both_ways::rank_both([&there, &back], driver))
    };
    for similarity in [Similarity::Cosine, Similarity::Dot] {
        let driver = || Driver::silent(Order::Parallel);
        let (is_coarse, alone, both) = find(&driver(), similarity);
        let (is_plain, slow_alone, slow_both) = find(&driver().without_pruning(), similarity);
        assert_eq!(is_coarse, crate::kernels::coarse::Kind::of_machine().is_some());
        assert!(!is_plain);
        assert!(alone == slow_alone, "{similarity:?}: one direction after the other");
        assert!(both == slow_both && both == alone, "{similarity:?}: both in one sweep");
    }
}
