// SPDX-License-Identifier: MIT
//! The same bits on every machine, whatever its vectors: AVX-512, AVX2, NEON or none.
//!
//! Expected are the bits that all four gave when the test was written (CONTRIBUTING.md says in which emulators). Data are made by whole numbers alone, and nothing
//! here asks the system for a logarithm or an exponential, which differ between systems in their last bits.

use std::sync::Arc;

use crate::common::{MODEL, metric, run};
use repscope_core::run::{Driver, Order};
use repscope_core::{Space, Spec, Study, nearest_neighbors};

#[test]
fn neighbors_and_distances_have_the_same_bits_on_every_machine() {
    let space = space("z", 32, numbers(7, 3000 * 32));
    let (rows, distances) = nearest_neighbors(&space, 20, &Driver::silent(Order::Parallel)).expect("enough rows");
    assert_eq!(digest(rows.into_iter().map(u64::from)), 0xbb69_6662_e006_f18f);
    assert_eq!(digest(distances.into_iter().map(f64::to_bits)), 0xe422_f5dd_d691_e8ca);
}

#[test]
fn ranks_in_another_space_have_the_same_bits_on_every_machine() {
    let (rows, columns) = (1500, 24);
    let states = falling(3, rows, 3 * columns);
    let own = falling(5, rows, columns);
    let latent = own
        .iter()
        .enumerate()
        .map(|(p, x)| x + 2.0 * states[p / columns * 3 * columns + p % columns]);
    let study = Study {
        input: Some(Arc::new(space("states", 3 * columns, states.clone()))),
        ..Study::new(MODEL, space("latent", columns, latent.collect()))
    };
    let results = run(
        &study,
        &[metric("trustworthiness"), metric("continuity")],
        &Spec::default(),
    );
    for (id, expected) in [
        ("trustworthiness@5", 0.8914478999106344),
        ("trustworthiness@10", 0.8848848321544852),
        ("trustworthiness@15", 0.8825675167381328),
        ("continuity@5", 0.8843243967828418),
        ("continuity@10", 0.8810500056135624),
        ("continuity@15", 0.879277002933875),
    ] {
        let value = results.score(MODEL, id).and_then(|score| score.value);
        assert_eq!(value.map(f64::to_bits), Some(f64::to_bits(expected)), "{id}: {value:?}");
    }
}

/// Numbers between −1/2 and 1/2.
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f64 / (1u64 << 24) as f64 - 0.5) as f32
    };
    (0..count).map(|_| next()).collect()
}

/// The same, less in every further column.
fn falling(seed: u64, rows: usize, columns: usize) -> Vec<f32> {
    let mut values = numbers(seed, rows * columns);
    for row in values.chunks_exact_mut(columns) {
        row.iter_mut().enumerate().for_each(|(k, x)| *x /= 1.0 + k as f32);
    }
    values
}

fn space(name: &str, columns: usize, values: Vec<f32>) -> Space {
    Space::from_f32(name, values.len() / columns, columns, values).expect("finite numbers that fill the shape")
}

/// Fowler, Noll and Vo's hash of whole words.
fn digest(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
}
