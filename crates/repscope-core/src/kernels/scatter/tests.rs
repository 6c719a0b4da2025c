// SPDX-License-Identifier: MIT
//! Data that f32 products bear, and data that they do not.

use rand::RngExt;

use super::*;
use crate::kernels::moments::column_means;
use crate::run::Order;

const N: usize = 12_000;
const D: usize = 70;

fn driver() -> Driver<'static> {
    Driver::silent(Order::Parallel)
}

/// Uniform numbers between −1 and 1 in single precision, changed by row and column.
fn space(n: usize, d: usize, change: impl Fn(usize, usize, f64) -> f64) -> Space {
    let mut rng = stream(1, "scatter test", 0);
    let mut value = |p: usize| change(p / d, p % d, 2.0 * rng.random::<f64>() - 1.0) as f32;
    Space::from_f32("z", n, d, (0..n * d).map(&mut value).collect()).unwrap()
}

fn by_single(space: &Space) -> Option<Vec<f64>> {
    single(space, &column_means(space, &driver()), &driver())
}

fn by_double(space: &Space) -> Vec<f64> {
    double(space, &column_means(space, &driver()), &driver())
}

fn by_blocks(space: &Space) -> Vec<f64> {
    super::by_blocks(space, &column_means(space, &driver()), Side::Columns, &driver())
}

fn eigenvalues(matrix: &[f64], d: usize) -> Vec<f64> {
    let matrix = faer::MatRef::from_row_major_slice(matrix, d, d);
    matrix.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()
}

/// The largest relative difference of an eigenvalue.
fn difference(space: &Space, matrix: &[f64]) -> f64 {
    let d = space.columns();
    let (found, expected) = (eigenvalues(matrix, d), eigenvalues(&by_blocks(space), d));
    let relative = found.iter().zip(&expected).map(|(a, b)| (a / b - 1.0).abs());
    relative.fold(0.0, f64::max)
}

#[test]
fn strips_of_f64_agree_with_blocks_at_ragged_sizes() {
    for (n, d) in [(1, 1), (3, 7), (257, 64), (300, 65), (1025, 131), (40, 70)] {
        let s = space(n, d, |_, a, x| 100.0 + x / (1.0 + a as f64));
        let expected = by_blocks(&s);
        for (p, (a, b)) in by_double(&s).iter().zip(&expected).enumerate() {
            let scale = (expected[p / d * (d + 1)] * expected[p % d * (d + 1)]).sqrt();
            // Sums of at most 1,025 products, each with a rounding error of 10⁻¹⁶.
            assert!((a - b).abs() <= 1e-13 * scale, "{a} and {b} at {n} × {d}");
        }
    }
}

#[test]
fn f32_products_keep_six_digits_of_every_eigenvalue_where_none_is_small() {
    let directions_of_one_size = space(N, D, |_, _, x| x);
    let far_from_zero = space(N, D, |_, _, x| 1000.0 + x);
    let unequal_columns = space(N, D, |_, a, x| x / (1.0 + a as f64 / 70.0));
    let small_numbers = space(N, D, |_, _, x| 1e-12 * x);
    let sorted_rows = space(N, D, |i, _, x| x + 0.5 * i as f64 / N as f64);
    for s in [
        directions_of_one_size,
        far_from_zero,
        unequal_columns,
        small_numbers,
        sorted_rows,
    ] {
        let found = by_single(&s).expect("no eigenvalue is small");
        assert!(difference(&s, &found) < 1e-6, "{}", difference(&s, &found));
    }
}

#[test]
fn f32_products_are_refused_where_an_eigenvalue_is_small() {
    let over_many_orders = space(N, D, |_, a, x| x * 0.7f64.powi(a as i32));
    let a_constant_column = space(N, D, |_, a, x| if a == 5 { 0.1 } else { x });
    let equal_rows = space(N, D, |_, _, _| 0.1);
    let few_different_rows = space(N, D, |i, a, _| ((i % 9 * 31 + a * 17) % 23) as f64);
    for s in [over_many_orders, a_constant_column, equal_rows, few_different_rows] {
        assert_eq!(by_single(&s), None);
    }
    let columns_that_nearly_repeat = {
        let base = space(N, D, |_, _, x| x);
        let mut rows = vec![0.0; N * D];
        for (i, row) in rows.chunks_exact_mut(D).enumerate() {
            base.read_row(i, row);
            row[1] = row[0] + 1e-4 * row[1];
        }
        Space::from_f32("z", N, D, rows.iter().map(|x| *x as f32).collect()).unwrap()
    };
    assert_eq!(by_single(&columns_that_nearly_repeat), None);
}

#[test]
fn f32_products_are_refused_where_squares_leave_its_range() {
    for scale in [1e-30, 1e25] {
        assert_eq!(by_single(&space(N, D, |_, _, x| scale * x)), None);
    }
}

#[test]
fn a_long_row_that_was_not_looked_at_is_noticed_at_the_end() {
    // Strips 0, 16 and 32 are looked at; row 2,000 is in strip 7.
    for length in [1e6, 1e22] {
        assert_eq!(
            by_single(&space(N, D, |i, _, x| if i == 2000 { length * x } else { x })),
            None
        );
    }
}

#[test]
fn the_driver_does_not_change_a_bit() {
    let s = space(N, D, |_, _, x| x);
    let mean = column_means(&s, &driver());
    let bits = |order| {
        let driver = Driver::silent(order);
        let single = single(&s, &mean, &driver).expect("no eigenvalue is small");
        let both = single.into_iter().chain(double(&s, &mean, &driver));
        both.map(f64::to_bits).collect::<Vec<u64>>()
    };
    let one = bits(Order::Serial);
    for order in [Order::Parallel, Order::Shuffled(3)] {
        assert!(one == bits(order), "{order:?}");
    }
}

#[test]
fn large_single_precision_rows_take_the_way_of_f32_where_they_bear_it() {
    // 13,300 · 550² is a little more than 4 · 10⁹.
    let s = space(13_300, 550, |_, _, x| x);
    let mean = column_means(&s, &driver());
    let found = scatter(&s, &mean, Side::Columns, &driver());
    assert_eq!(Some(found), single(&s, &mean, &driver()));
}
