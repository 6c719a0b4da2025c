// SPDX-License-Identifier: MIT
//! The engine against brute force in f64, on data made to break it.

use super::prefix::Prefix;
use super::*;
use crate::kernels::coarse::Kind;
use crate::random::stream;
use crate::run::Order;
use rand::RngExt;

/// Uniform noise, or something nastier.
fn data(kind: &str, n: usize, d: usize, seed: u64) -> Space {
    let mut rng = stream(seed, kind, 0);
    let mut noise = || rng.random::<f64>() - 0.5;
    let values: Vec<f64> = match kind {
        "noise" => (0..n * d).map(|_| noise()).collect(),
        "offset" => (0..n * d).map(|_| noise() + 1e6).collect(),
        "duplicates" => {
            let base: Vec<f64> = (0..(n / 7 + 1) * d).map(|_| noise()).collect();
            (0..n)
                .flat_map(|i| base[(i % (n / 7 + 1)) * d..][..d].to_vec())
                .collect()
        }
        // All rows on a grid: a great many exact ties.
        "ties" => (0..n * d).map(|_| (noise() * 4.0).round()).collect(),
        // Distances that differ by less than f32 can tell.
        "near ties" => (0..n * d)
            .map(|x| f64::from((x % d == 0) as u8) + 1e-9 * noise())
            .collect(),
        "constant" => vec![3.0; n * d],
        "huge" => (0..n * d).map(|_| noise() * 1e149).collect(),
        "tiny" => (0..n * d).map(|_| noise() * 1e-200).collect(),
        "sorted" => (0..n * d).map(|x| (x / d) as f64 + 1e-3 * noise()).collect(),
        // A few directions hold most of the variance.
        "decaying" => (0..n * d).map(|x| noise() / (1 + x % d) as f64).collect(),
        other => panic!("no data called {other}"),
    };
    Space::from_f64(kind, n, d, values).unwrap()
}

const KINDS: [&str; 10] = [
    "noise",
    "offset",
    "duplicates",
    "ties",
    "near ties",
    "constant",
    "huge",
    "tiny",
    "sorted",
    "decaying",
];

/// All rows but `i`, by exact distance and then by row.
fn sorted_from(prepared: &Prepared, i: u32) -> Vec<(f64, u32)> {
    let mut all: Vec<(f64, u32)> = (0..prepared.rows() as u32)
        .filter(|&j| j != i)
        .map(|j| (prepared.squared_distance(i, j), j))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all
}

#[test]
fn a_tournament_pairs_everyone_once_and_nobody_twice_in_a_round() {
    for count in 0..12 {
        let mut seen = std::collections::BTreeSet::new();
        for round in rounds(count) {
            let mut busy = std::collections::BTreeSet::new();
            for (i, j) in round {
                assert!(
                    i < j && busy.insert(i) && busy.insert(j) && seen.insert((i, j)),
                    "{count}: {i} {j}"
                );
            }
        }
        assert_eq!(seen.len(), count * count.saturating_sub(1) / 2);
    }
}

#[test]
fn exact_distances_are_those_of_plain_arithmetic() {
    let space = data("noise", 3, 37, 1);
    let prepared = Prepared::new(&space, Preparation::Raw, &Driver::silent(Order::Serial)).unwrap();
    let (mut a, mut b) = (vec![0.0; 37], vec![0.0; 37]);
    space.read_row(0, &mut a);
    space.read_row(2, &mut b);
    let plain: f64 = a.iter().zip(&b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    assert!((prepared.distance(prepared.squared_distance(0, 2)) - plain).abs() < 1e-14);
}

#[test]
fn neighbors_equal_brute_force_on_adversarial_data() {
    let driver = Driver::silent(Order::Parallel);
    for kind in KINDS {
        for (n, d) in [(2, 1), (5, 3), (97, 17), (256, 2), (300, 40), (601, 5)] {
            let space = data(kind, n, d, 7);
            let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
            for k in [1, 2, 10, n / 2, n - 1] {
                if k == 0 || k >= n {
                    continue;
                }
                let ask = Ask { k, ..Ask::default() };
                let found = sweep(&prepared, Anchors::All, &ask, &driver).neighbors.unwrap();
                for i in (0..n).step_by(1 + n / 50) {
                    let expected: Vec<u32> = sorted_from(&prepared, i as u32)[..k].iter().map(|x| x.1).collect();
                    assert_eq!(found.of(i), expected, "{kind} n={n} d={d} k={k} row {i}");
                }
            }
        }
    }
}

#[test]
fn ranks_equal_brute_force_on_adversarial_data() {
    let driver = Driver::silent(Order::Parallel);
    for kind in KINDS {
        for (n, d) in [(5, 3), (300, 17), (530, 4)] {
            let (space, other) = (data(kind, n, d, 3), data("noise", n, 2, 9));
            let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
            let elsewhere = Prepared::new(&other, Preparation::Raw, &driver).unwrap();
            for k in [1, 4, 20.min(n - 1), n - 1] {
                let ask = Ask { k, ..Ask::default() };
                let neighbors = sweep(&elsewhere, Anchors::All, &ask, &driver).neighbors.unwrap();
                let ask = Ask {
                    ranks_of: vec![&neighbors],
                    ..Ask::default()
                };
                let ranks = &sweep(&prepared, Anchors::All, &ask, &driver).ranks[0];
                for i in (0..n).step_by(1 + n / 40) {
                    let list = sorted_from(&prepared, i as u32);
                    let rank = |j: &u32| 1 + list.iter().position(|x| x.1 == *j).unwrap() as u32;
                    let expected: Vec<u32> = neighbors.of(i).iter().map(rank).collect();
                    assert_eq!(ranks.of(i), expected, "{kind} n={n} d={d} k={k} row {i}");
                }
            }
        }
    }
}

#[test]
fn sums_equal_brute_force() {
    let driver = Driver::silent(Order::Parallel);
    for kind in ["noise", "offset", "duplicates", "ties", "near ties", "sorted"] {
        for (n, d) in [(3, 2), (300, 17), (600, 64)] {
            let space = data(kind, n, d, 3);
            let labels = Labels::from_codes((0..n as u32).map(|i| i * i % 5).collect(), 5);
            let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
            let scale = prepared.squared_unit();
            let t = 1.0 / (scale * 2.0);
            let ask = Ask {
                kernel: Some(t),
                classes: Some(&labels),
                k: 1,
                ..Ask::default()
            };
            let answer = sweep_tiles(&prepared, Anchors::All, &ask, &driver);
            let (kernel, classes) = (answer.kernel.unwrap(), answer.classes.unwrap());
            let direct = sweep(&prepared, Anchors::All, &ask, &driver);
            for i in (0..n).step_by(1 + n / 40) {
                let (mut sum, mut of_class) = (0.0, [0.0; 5]);
                for (squared, j) in sorted_from(&prepared, i as u32) {
                    sum += (-t * squared * scale).exp();
                    of_class[labels.codes()[j as usize] as usize] += prepared.distance(squared);
                }
                assert!(
                    (kernel[i] / sum - 1.0).abs() < 1e-6,
                    "{kind} n={n}: {} {sum}",
                    kernel[i]
                );
                assert!(
                    (direct.kernel.as_ref().unwrap()[i] / sum - 1.0).abs() < 1e-13,
                    "{kind} n={n} directly"
                );
                for (c, &expected) in of_class.iter().enumerate() {
                    let got = classes[i * 5 + c];
                    assert!(
                        (got - expected).abs() <= 2e-6 * expected,
                        "{kind} n={n} class {c}: {got} {expected}"
                    );
                    let got = direct.classes.as_ref().unwrap()[i * 5 + c];
                    assert!(
                        (got - expected).abs() <= 1e-13 * expected,
                        "{kind} n={n} class {c} directly"
                    );
                }
            }
        }
    }
}

#[test]
fn anchors_get_the_same_answers_as_all_rows() {
    let driver = Driver::silent(Order::Parallel);
    let (n, d) = (700, 9);
    for kind in ["noise", "duplicates", "ties"] {
        let space = data(kind, n, d, 5);
        let labels = Labels::from_codes((0..n as u32).map(|i| i % 3).collect(), 3);
        let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
        let ask = Ask {
            k: 6,
            kernel: Some(1.0),
            classes: Some(&labels),
            ..Ask::default()
        };
        let all = sweep_tiles(&prepared, Anchors::All, &ask, &driver);
        let anchors: Vec<u32> = (0..n as u32).filter(|i| i % 2 == 1).collect();
        let some = sweep_tiles(&prepared, Anchors::Some(&anchors), &ask, &driver);
        let (all_neighbors, some_neighbors) = (all.neighbors.unwrap(), some.neighbors.unwrap());
        for (q, &i) in anchors.iter().enumerate() {
            assert_eq!(some_neighbors.of(q), all_neighbors.of(i as usize), "{kind} row {i}");
            let (a, b) = (
                some.kernel.as_ref().unwrap()[q],
                all.kernel.as_ref().unwrap()[i as usize],
            );
            assert!((a / b - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn the_same_bits_come_out_whatever_runs_the_tasks() {
    let space = data("noise", 1500, 33, 11);
    let labels = Labels::from_codes((0..1500).map(|i| i % 4).collect(), 4);
    let answer = |driver: &Driver| {
        let prepared = Prepared::new(&space, Preparation::Unit, driver).unwrap();
        let ask = Ask {
            k: 7,
            kernel: Some(2.0),
            classes: Some(&labels),
            ..Ask::default()
        };
        let answer = sweep_tiles(&prepared, Anchors::All, &ask, driver);
        let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        let neighbors = answer.neighbors.unwrap();
        (
            neighbors.rows,
            bits(&neighbors.distances),
            bits(&answer.kernel.unwrap()),
            bits(&answer.classes.unwrap()),
        )
    };
    let expected = answer(&Driver::silent(Order::Serial));
    for seed in [1, 2] {
        assert!(
            answer(&Driver::silent(Order::Shuffled(seed))) == expected,
            "shuffled with seed {seed}"
        );
    }
    for threads in [1, 2, 8] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(
            pool.install(|| answer(&Driver::silent(Order::Parallel))) == expected,
            "{threads} threads"
        );
    }
}

#[test]
fn shortcuts_and_cells_change_nothing() {
    let driver = Driver::silent(Order::Parallel);
    let (n, d, k) = (4 * SIDE + 77, 100, 12);
    let other = data("noise", n, 3, 9);
    let elsewhere = Prepared::new(&other, Preparation::Raw, &driver).unwrap();
    let far = sweep(&elsewhere, Anchors::All, &Ask { k: 5, ..Ask::default() }, &driver)
        .neighbors
        .unwrap();
    for kind in KINDS {
        let space = data(kind, n, d, 21);
        let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
        let ask = Ask {
            k,
            ranks_of: vec![&far],
            ..Ask::default()
        };
        let run = |width: Option<usize>, coarse: Option<Kind>, has_cells: bool| {
            let sweep = Sweep {
                prepared: &prepared,
                anchors: Anchors::All,
                ask: &ask,
                buffers: Mutex::new(Vec::new()),
                driver: &driver,
            };
            let shuffled = random::permutation(n, &mut random::stream(0, "block order", 0));
            let prefix = width.map(|width| {
                let mut prefix = Prefix::of_sample(&prepared, &shuffled[..300], 96, &driver);
                prefix.keep(width);
                Shortcut::Prefix(prefix)
            });
            let shortcut = prefix.or(coarse.map(Shortcut::Coarse)).unwrap_or(Shortcut::None);
            let cells = has_cells.then(|| Cells::new(&prepared, &shuffled, &driver));
            let answer = sweep.collect(sweep.tournament(shuffled, &shortcut, cells.as_ref(), None));
            let found = answer.neighbors.unwrap();
            (found.rows, found.distances, answer.ranks[0].ranks.clone())
        };
        let plain = run(None, None, false);
        for (prefix, has_cells) in [(None, true), (Some(16), false), (Some(48), true), (Some(64), true)] {
            assert!(run(prefix, None, has_cells) == plain, "{kind} {prefix:?} {has_cells}");
        }
        // Where the machine has no instructions for 8 bits, this is the plain sweep again.
        for has_cells in [false, true] {
            assert!(run(None, Kind::of_machine(), has_cells) == plain, "{kind} {has_cells}");
        }
    }
}

#[test]
fn cells_hold_every_row_once_and_meet_their_neighbors_once() {
    let driver = Driver::silent(Order::Parallel);
    let space = data("noise", 9 * SIDE + 5, 4, 2);
    let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
    let shuffled = random::permutation(space.rows(), &mut random::stream(0, "block order", 0));
    let cells = Cells::new(&prepared, &shuffled, &driver);
    let mut rows = cells.order.clone();
    rows.sort_unstable();
    assert_eq!(rows, (0..space.rows() as u32).collect::<Vec<u32>>());
    let mut seen = HashSet::new();
    for round in cells.first_rounds() {
        let mut busy = HashSet::new();
        for (i, j) in round {
            assert!(i < j && j < 10 && busy.insert(i) && busy.insert(j) && seen.insert((i, j)));
        }
    }
    assert!(seen.len() >= 10 * 5 / 2);
}

#[test]
fn anchors_meet_all_waves_whatever_the_order_of_the_file() {
    let driver = Driver::silent(Order::Parallel);
    let n = 2 * WAVE * SIDE + 77;
    let anchors: Vec<u32> = (0..n as u32).step_by(211).collect();
    for kind in ["sorted", "noise", "duplicates"] {
        let space = data(kind, n, 3, 13);
        let labels = Labels::from_codes((0..n as u32).map(|i| i % 3).collect(), 3);
        let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
        let ask = Ask {
            k: 6,
            classes: Some(&labels),
            ..Ask::default()
        };
        let answer = sweep_tiles(&prepared, Anchors::Some(&anchors), &ask, &driver);
        let (found, classes) = (answer.neighbors.unwrap(), answer.classes.unwrap());
        for (q, &i) in anchors.iter().enumerate() {
            let all = sorted_from(&prepared, i);
            assert!(
                found.of(q).iter().zip(&all).all(|(row, other)| *row == other.1),
                "{kind} row {i}"
            );
            let sum: f64 = all.iter().map(|(squared, _)| prepared.distance(*squared)).sum();
            let got: f64 = classes[q * 3..(q + 1) * 3].iter().sum();
            assert!((got / sum - 1.0).abs() < 2e-6, "{kind} row {i}: {got} {sum}");
        }
    }
}

#[test]
fn a_prefix_is_chosen_where_few_directions_hold_the_variance_and_8_bits_where_many_do() {
    let driver = Driver::silent(Order::Parallel);
    let chosen = |kind: &str, columns: usize, driver: &Driver| {
        let space = data(kind, 17_000, columns, 5);
        let prepared = Prepared::new(&space, Preparation::Raw, driver).unwrap();
        let shuffled = random::permutation(space.rows(), &mut random::stream(0, "block order", 0));
        let cells = Cells::new(&prepared, &shuffled, driver);
        let wanted = Wanted {
            k: 10,
            farthest: &|_| 0.0,
        };
        let shortcut = Shortcut::choose(&prepared, &cells.order, &shuffled, &wanted, driver);
        (shortcut.prefix().map(|prefix| prefix.width()), shortcut.coarse())
    };
    assert_eq!(chosen("noise", 256, &driver), (None, Kind::of_machine()));
    assert!(chosen("decaying", 64, &driver).0.is_some_and(|width| width <= 48));
    assert_eq!(chosen("decaying", 64, &driver.without_pruning()), (None, None));
}

#[test]
fn blocks_that_are_apart_find_what_all_rows_find_together() {
    let driver = Driver::silent(Order::Parallel);
    let (n, split, d, k) = (3 * SIDE + 41, 2 * SIDE, 24, 6);
    let other = data("noise", n, 3, 9);
    let elsewhere = Prepared::new(&other, Preparation::Raw, &driver).unwrap();
    let far = sweep(&elsewhere, Anchors::All, &Ask { k: 3, ..Ask::default() }, &driver);
    let far = far.neighbors.unwrap();
    for kind in KINDS {
        let space = data(kind, n, d, 33);
        let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
        let ask = Ask {
            k,
            ranks_of: vec![&far],
            ..Ask::default()
        };
        let expected = sweep(&prepared, Anchors::All, &ask, &driver);
        let (expected, ranks) = (expected.neighbors.unwrap(), &expected.ranks[0]);
        let spans = [0..split as u32, split as u32..n as u32];
        let queries = |span: &Range<u32>| Queries {
            rows: span.clone().collect(),
            k,
            thresholds: vec![far.thresholds(&span.clone().collect::<Vec<u32>>(), Anchors::All, &prepared)],
        };
        // Each block by itself gives what is known before they meet.
        let known: Vec<Vec<Vec<(f64, u32)>>> = spans
            .iter()
            .map(|span| {
                let nearest = |i: u32| -> Vec<(f64, u32)> {
                    let all = sorted_from(&prepared, i).into_iter();
                    all.filter(|own| span.contains(&own.1)).take(k).collect()
                };
                span.clone().map(nearest).collect()
            })
            .collect();
        for shortcut in [
            Shortcut::None,
            Kind::of_machine().map_or(Shortcut::None, Shortcut::Coarse),
            Shortcut::Prefix(Prefix::of_sample(
                &prepared,
                &(0..300).collect::<Vec<u32>>(),
                16,
                &driver,
            )),
        ] {
            let (number, values) = shortcut.parts();
            let shortcut = Shortcut::of_parts(number, values, d);
            let sides: Vec<Side> = [0, 1]
                .map(|s| Side {
                    queries: queries(&spans[s]),
                    order: shuffled(&(spans[s].start as usize..spans[s].end as usize), s),
                    bounds: known[s].iter().map(|list| list[k - 1].0).collect(),
                })
                .into();
            let found = meet_between(&prepared, [&sides[0], &sides[1]], &shortcut, &driver);
            for s in [0, 1] {
                for (place, row) in (spans[s].start as usize..spans[s].end as usize).enumerate() {
                    let mut all = [known[s][place].clone(), found[s].nearest[place].clone()].concat();
                    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    let rows: Vec<u32> = all.iter().take(k).map(|own| own.1).collect();
                    assert_eq!(rows, expected.of(row), "{kind} row {row}");
                    let thresholds = far.of(row).iter().zip(&found[s].before[0][place * 3..]);
                    for ((threshold, before), rank) in thresholds.zip(ranks.of(row)) {
                        let limit = (prepared.squared_distance(row as u32, *threshold), *threshold);
                        let is_before = |other: &u32| {
                            let own = (prepared.squared_distance(row as u32, *other), *other);
                            own.0.total_cmp(&limit.0).then(own.1.cmp(&limit.1)).is_lt()
                        };
                        let within = spans[s].clone().filter(|other| *other as usize != row);
                        assert_eq!(
                            within.filter(is_before).count() as u32 + before + 1,
                            *rank,
                            "{kind} {row}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_block_by_itself_finds_what_a_sweep_finds() {
    let driver = Driver::silent(Order::Parallel);
    for (kind, n, d) in [
        ("noise", 9 * SIDE, 700),
        ("decaying", 12 * SIDE + 5, 600),
        ("ties", 700, 3),
    ] {
        let space = data(kind, n, d, 3);
        let prepared = Prepared::new(&space, Preparation::Raw, &driver).unwrap();
        let expected = sweep(&prepared, Anchors::All, &Ask { k: 4, ..Ask::default() }, &driver);
        let queries = Queries {
            rows: (0..n as u32).collect(),
            k: 4,
            thresholds: Vec::new(),
        };
        let (found, mut order, _) = meet_within(&prepared, &queries, &driver);
        let rows: Vec<u32> = found.nearest.iter().flatten().map(|own| own.1).collect();
        assert_eq!(rows, expected.neighbors.unwrap().rows, "{kind}");
        order.sort_unstable();
        assert_eq!(order, queries.rows, "{kind}");
    }
}
