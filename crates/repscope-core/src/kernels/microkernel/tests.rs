// SPDX-License-Identifier: MIT
//! The kernel against one number at a time, by all instructions of this machine.

use super::*;
use crate::random::stream;
use rand::RngExt;

/// Keeps every product, by query and target.
struct Keep(Vec<(usize, usize, f32)>, [f32; 64]);

impl Meets for Keep {
    const BOTH: bool = true;

    fn query_limits(&self, first: usize) -> &[f32] {
        &self.1[first..]
    }

    fn target_limits(&self, first: usize) -> &[f32] {
        &self.1[first..]
    }

    fn found(&mut self, query: usize, target: usize, product: f32) {
        self.0.push((query, target, product));
    }
}

#[test]
fn products_are_fused_sums_in_the_order_of_the_coordinates() {
    // What a machine without vectors computes: so all machines report the same bits.
    for columns in [1, 3, 4, 7, 64, 130] {
        let mut rng = stream(1, "panels", columns as u64);
        let mut draw = |rows: usize| -> Vec<Vec<f64>> {
            let mut row = || (0..columns).map(|_| rng.random::<f64>() - 0.5).collect();
            (0..rows).map(|_| row()).collect()
        };
        let (queries, targets) = (draw(8), draw(33));
        let (mut left, mut right) = (Panels::of_queries(columns, 8), Panels::of_targets(columns, 33));
        queries.iter().for_each(|row| left.push(row));
        targets.iter().for_each(|row| right.push(row));
        let mut keep = Keep(Vec::new(), [f32::NEG_INFINITY; 64]);
        let (panels, stride) = (right.count(), right.count() * right.width);
        let mut products = vec![0.0; 12 * stride];
        Meeting {
            queries: (&left, 0..2),
            targets: (&right, 0..panels),
            meets: &mut keep,
            products: (&mut products, stride),
        }
        .run();
        let mut found = 0;
        for (q, t, product) in keep.0.into_iter().filter(|(q, t, _)| *q < 8 && *t < 33) {
            let pairs = queries[q].iter().zip(&targets[t]);
            let expected = pairs.fold(0.0f32, |sum, (&x, &y)| (x as f32).mul_add(y as f32, sum));
            assert_eq!(product.to_bits(), expected.to_bits(), "{columns}: {q} {t}");
            assert_eq!(products[q * stride + t].to_bits(), expected.to_bits());
            found += 1;
        }
        assert_eq!(found, 8 * 33);
    }
}

/// What is reported of some rows, in panels of the width that suits the instructions it is asked with.
#[derive(Clone, Copy)]
struct Reported<'a> {
    rows: [&'a [Vec<f64>]; 2],
    /// Limits of queries and of targets, beyond the last row, too.
    limits: [&'a [f32]; 2],
}

impl pulp::WithSimd for Reported<'_> {
    /// Queries, targets and the bits of their products, in ascending order, and the bits of all products.
    type Output = (Vec<(usize, usize, u32)>, Vec<Vec<u32>>);

    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let [queries, targets] = self.rows;
        let mut left = Panels::new(QUERIES, queries[0].len(), queries.len());
        let mut right = Panels::new(2 * S::F32_LANES, targets[0].len(), targets.len());
        queries.iter().for_each(|row| left.push(row));
        targets.iter().for_each(|row| right.push(row));
        let stride = right.count() * right.width;
        let mut products = vec![0.0; left.count() * QUERIES * stride];
        let mut keep = Limited {
            limits: self.limits,
            found: Vec::new(),
        };
        let meeting = Meeting {
            queries: (&left, 0..left.count()),
            targets: (&right, 0..right.count()),
            meets: &mut keep,
            products: (&mut products, stride),
        };
        simd.vectorize(meeting);
        keep.found.retain(|&(q, t, _)| q < queries.len() && t < targets.len());
        keep.found.sort_unstable();
        let bits = |row: &[f32]| row[..targets.len()].iter().map(|x| x.to_bits()).collect();
        let products = products.chunks_exact(stride).take(queries.len()).map(bits);
        (keep.found, products.collect())
    }
}

struct Limited<'a> {
    limits: [&'a [f32]; 2],
    found: Vec<(usize, usize, u32)>,
}

impl Meets for Limited<'_> {
    const BOTH: bool = true;

    fn query_limits(&self, first: usize) -> &[f32] {
        &self.limits[0][first..]
    }

    fn target_limits(&self, first: usize) -> &[f32] {
        &self.limits[1][first..]
    }

    fn found(&mut self, query: usize, target: usize, product: f32) {
        self.found.push((query, target, product.to_bits()));
    }
}

#[test]
fn one_number_at_a_time_tells_the_same_as_vectors_of_every_width() {
    for columns in [1, 3, 34, 130] {
        let mut rng = stream(2, "panels", columns as u64);
        let mut draw = |rows: usize| -> Vec<Vec<f64>> {
            let mut row = || (0..columns).map(|_| rng.random::<f64>() - 0.5).collect();
            (0..rows).map(|_| row()).collect()
        };
        let (queries, targets) = (draw(17), draw(77));
        let mut limits = |count: usize| -> Vec<f32> {
            let scale = (columns as f32).sqrt() / 4.0;
            (0..count).map(|_| rng.random::<f32>() * scale).collect()
        };
        let (of_queries, of_targets) = (limits(18), limits(96));
        let reported = Reported {
            rows: [&queries, &targets],
            limits: [&of_queries, &of_targets],
        };
        let scalar = pulp::Scalar.vectorize(reported);
        assert!(
            (17..17 * 77 / 2).contains(&scalar.0.len()),
            "{columns}: {}",
            scalar.0.len()
        );
        assert!(pulp::Arch::new().dispatch(reported) == scalar, "{columns} columns");
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = pulp::x86::V3::try_new().map(|simd| Simd::vectorize(simd, reported));
            assert!(
                avx2.is_none_or(|reported| reported == scalar),
                "AVX2, {columns} columns"
            );
            let avx512 = pulp::x86::V4::try_new().map(|simd| Simd::vectorize(simd, reported));
            assert!(
                avx512.is_none_or(|reported| reported == scalar),
                "AVX-512, {columns} columns"
            );
        }
    }
}

#[test]
fn only_products_that_reach_a_limit_of_either_side_are_told() {
    let (mut left, mut right) = (Panels::of_queries(1, 6), Panels::of_targets(1, 40));
    (0..6).for_each(|q| left.push(&[f64::from(q)]));
    (0..40).for_each(|t| right.push(&[f64::from(t)]));
    struct Some40(Vec<(usize, usize)>, Vec<f32>, Vec<f32>);
    impl Meets for Some40 {
        const BOTH: bool = true;
        fn query_limits(&self, first: usize) -> &[f32] {
            &self.1[first..]
        }
        fn target_limits(&self, first: usize) -> &[f32] {
            &self.2[first..]
        }
        fn found(&mut self, query: usize, target: usize, _: f32) {
            self.0.push((query, target));
        }
    }
    let mut of_targets = vec![f32::INFINITY; 64];
    of_targets[7] = 14.0;
    let mut keep = Some40(
        Vec::new(),
        vec![f32::INFINITY, 30.0, f32::INFINITY, 110.0, 999.0, 190.0],
        of_targets,
    );
    Meeting {
        queries: (&left, 0..1),
        targets: (&right, 0..right.count()),
        meets: &mut keep,
        products: (&mut [], 0),
    }
    .run();
    keep.0.sort_unstable();
    let of_queries = [1usize, 3, 5].into_iter().zip([30, 110, 190]);
    let expected = of_queries.flat_map(|(q, limit)| (0..40).filter(move |t| q * t >= limit).map(move |t| (q, t)));
    let mut expected: Vec<(usize, usize)> = expected.chain((2..6).map(|q| (q, 7))).collect();
    expected.sort_unstable();
    assert_eq!(keep.0, expected);
}
