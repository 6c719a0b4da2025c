// SPDX-License-Identifier: MIT
//! Rows in 8 bits, and what they prove: which pairs of a micro-tile may have a large product.
//!
//! A row x is x̂ + δ, where x̂ = s·q is a row of integers q from −127 to 127 times a scale of the row, and ‖δ‖ = e is known. For two
//! rows, ⟨x, y⟩ = ⟨x̂, ŷ⟩ + ⟨x̂, δ_y⟩ + ⟨δ_x, y⟩ ≤ s_x s_y ⟨q_x, q_y⟩ + ‖x̂‖ e_y + e_x ‖y‖, and the product of integers is exact. A pair
//! whose bound is below its limit does not matter, and most are. Four products of 8 bits take the time of one of 32 where the
//! processor has an instruction for them (AVX-512 VNNI, AVX-VNNI); elsewhere this is not used: without one, products of 8 bits take
//! three instructions, and nothing is gained.
//!
//! The few bounds that reach a limit are looked at again by the caller, so no result depends on any of this. Intrinsics of these
//! extensions can only be reached by code that is compiled for them, which is unsafe to call elsewhere: [`Coarse::reached`] calls it
//! if [`Kind::of_machine`] has found them.
#![allow(unsafe_code)]

use pulp::cast;

use super::microkernel::{Panels, QUERIES};
use super::prepared::lanes;

/// Codes that are multiplied at once: four of 8 bits are as wide as a sum.
const GROUP: usize = 4;
/// The largest code.
const MOST: f64 = 127.0;
/// What is added to the codes of targets: the instruction multiplies unsigned bytes by signed ones.
const SHIFT: i32 = 128;

/// Which instructions multiply 8 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 64 products at a time.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    Avx512Vnni,
    /// 32 products at a time.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    AvxVnni,
}

impl Kind {
    /// Those of this machine whose vectors are as wide as the panels of targets; none where products of 8 bits gain nothing.
    pub(crate) fn of_machine() -> Option<Kind> {
        #[cfg(target_arch = "x86_64")]
        {
            let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
            if Panels::targets_at_once() == 32 && has_512 {
                return Some(Kind::Avx512Vnni);
            }
            let has_256 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if Panels::targets_at_once() == 16 && has_256 && is_x86_feature_detected!("avxvnni") {
                return Some(Kind::AvxVnni);
            }
        }
        None
    }

    fn width(self) -> usize {
        match self {
            Kind::Avx512Vnni => 32,
            Kind::AvxVnni => 16,
        }
    }
}

/// A row in 8 bits: its codes, its scale, the length of what they leave out, and their own length and that of the row.
#[derive(Clone)]
pub(crate) struct Codes {
    codes: Vec<i8>,
    scale: f32,
    error: f64,
    rounded_length: f64,
    length: f64,
}

impl Codes {
    pub(crate) fn of(row: &[f64]) -> Codes {
        // Adding and taking away rounds to an integer, without a call.
        const INTEGERS: f64 = 1.5 * (1u64 << 52) as f64;
        let largest = row.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        // The scale is what f32 has of it, so that it is the same wherever it is used.
        let scale = (largest / MOST) as f32;
        let wide = f64::from(scale);
        let inverse = if scale > 0.0 { 1.0 / wide } else { 0.0 };
        let code = |x: &f64| ((x * inverse + INTEGERS) - INTEGERS).clamp(-MOST, MOST);
        let error = lanes(row, row, |x, _| (x - code(&x) * wide).powi(2));
        let rounded = lanes(row, row, |x, _| code(&x).powi(2));
        let squared = lanes(row, row, |x, _| x * x);
        // The sums are off by less than this for any number of columns that fits into memory.
        let up = 1.0 + 1e-9;
        Codes {
            codes: row.iter().map(|x| code(x) as i8).collect(),
            scale,
            error: error.sqrt() * up,
            rounded_length: rounded.sqrt() * wide * up,
            length: squared.sqrt() * up,
        }
    }

    /// The upper bound of the product with another row.
    pub(crate) fn most(&self, other: &Codes) -> f64 {
        let products = self
            .codes
            .iter()
            .zip(&other.codes)
            .map(|(x, y)| i32::from(*x) * i32::from(*y));
        let product = f64::from(products.sum::<i32>()) * f64::from(self.scale) * f64::from(other.scale);
        product + self.rounded_length * other.error + self.error * other.length
    }

    /// The length of the row.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    fn groups(&self) -> impl Iterator<Item = [i8; GROUP]> {
        let group = |codes: &[i8]| std::array::from_fn(|i| codes.get(i).copied().unwrap_or(0));
        self.codes.chunks(GROUP).map(group)
    }
}

/// Queries in 8 bits, in panels of six.
pub(crate) struct CoarseQueries {
    groups: usize,
    /// Four codes of six queries, group by group, panel by panel.
    codes: Vec<[i32; QUERIES]>,
    rows: Vec<CoarseQuery>,
}

#[derive(Debug, Clone, Copy)]
struct CoarseQuery {
    scale: f32,
    /// What the shift of the targets adds to each product, taken off.
    start: i32,
    error: f64,
    length: f64,
    constant: f64,
}

impl CoarseQueries {
    pub(crate) fn with_room(columns: usize, rows: usize) -> Self {
        let groups = columns.div_ceil(GROUP);
        CoarseQueries {
            groups,
            codes: vec![[0; QUERIES]; rows.div_ceil(QUERIES) * groups],
            rows: Vec::with_capacity(rows),
        }
    }

    /// Adds a row, and what is to be added to each of its products.
    pub(crate) fn push(&mut self, row: &Codes, constant: f64) {
        let (panel, place) = (self.rows.len() / QUERIES, self.rows.len() % QUERIES);
        let panel = &mut self.codes[panel * self.groups..][..self.groups];
        for (group, codes) in panel.iter_mut().zip(row.groups()) {
            group[place] = i32::from_ne_bytes(codes.map(|code| code as u8));
        }
        self.rows.push(CoarseQuery {
            scale: row.scale,
            start: -SHIFT * row.codes.iter().map(|code| i32::from(*code)).sum::<i32>(),
            error: row.error,
            length: row.rounded_length,
            constant,
        });
    }
}

/// Targets in 8 bits, in panels of two vectors.
pub(crate) struct CoarseTargets {
    kind: Kind,
    groups: usize,
    /// Four codes of each target of a panel, group by group, panel by panel; each has [`SHIFT`] added.
    codes: Vec<u8>,
    /// Of each target, its scale and what is added to its products; nothing reaches a limit with a target that is not there.
    scales: Vec<f32>,
    constants: Vec<f32>,
    rows: usize,
    /// The largest error and the greatest length of all.
    error: f64,
    length: f64,
}

impl CoarseTargets {
    pub(crate) fn with_room(kind: Kind, columns: usize, rows: usize) -> Self {
        let (groups, panels) = (columns.div_ceil(GROUP), rows.div_ceil(kind.width()));
        CoarseTargets {
            kind,
            groups,
            codes: vec![0; panels * groups * GROUP * kind.width()],
            scales: vec![0.0; panels * kind.width()],
            constants: vec![f32::NEG_INFINITY; panels * kind.width()],
            rows: 0,
            error: 0.0,
            length: 0.0,
        }
    }

    /// Adds a row, and what is to be added to each of its products.
    pub(crate) fn push(&mut self, row: &Codes, constant: f64) {
        let width = self.kind.width();
        let (panel, place) = (self.rows / width, self.rows % width);
        let size = self.groups * GROUP * width;
        let panel = &mut self.codes[panel * size..][..size];
        for (group, codes) in panel.chunks_exact_mut(GROUP * width).zip(row.groups()) {
            let bytes = codes.map(|code| (i32::from(code) + SHIFT) as u8);
            group[place * GROUP..][..GROUP].copy_from_slice(&bytes);
        }
        self.scales[self.rows] = row.scale;
        self.constants[self.rows] = constant as f32;
        self.error = self.error.max(row.error);
        self.length = self.length.max(row.length);
        self.rows += 1;
    }
}

/// Queries and targets in 8 bits that meet.
pub(crate) struct Coarse<'a> {
    queries: &'a CoarseQueries,
    targets: &'a CoarseTargets,
    /// What is added to the bounds of each query.
    allowances: Vec<f32>,
}

impl<'a> Coarse<'a> {
    pub(crate) fn new(queries: &'a CoarseQueries, targets: &'a CoarseTargets) -> Self {
        let allowance = |query: &CoarseQuery| {
            let most = query.constant + query.length * targets.error + query.error * targets.length;
            (most as f32).next_up()
        };
        let mut allowances: Vec<f32> = queries.rows.iter().map(allowance).collect();
        allowances.resize(allowances.len().next_multiple_of(QUERIES), f32::NEG_INFINITY);
        Coarse {
            queries,
            targets,
            allowances,
        }
    }

    /// A bit for each pair of a panel of queries and one of targets whose bound reaches one of its limits.
    #[inline(always)]
    pub(crate) fn reached(
        &self,
        query_panel: usize,
        target_panel: usize,
        query_limits: &[f32],
        target_limits: Option<&[f32]>,
    ) -> [u32; QUERIES] {
        let (queries, targets) = (self.queries, self.targets);
        let (groups, width) = (queries.groups, targets.kind.width());
        let size = groups * GROUP * width;
        let first = query_panel * QUERIES;
        let mut tile = MicroTile {
            queries: &queries.codes[query_panel * groups..][..groups],
            targets: &targets.codes[target_panel * size..][..size],
            scales: &targets.scales[target_panel * width..][..width],
            constants: &targets.constants[target_panel * width..][..width],
            target_limits: target_limits.map(|limits| &limits[..width]),
            starts: [0; QUERIES],
            query_scales: [0.0; QUERIES],
            limits: [f32::INFINITY; QUERIES],
            allowances: [0.0; QUERIES],
        };
        for (place, query) in queries.rows[first..].iter().take(QUERIES).enumerate() {
            tile.starts[place] = query.start;
            tile.query_scales[place] = query.scale;
            tile.limits[place] = query_limits[place];
            tile.allowances[place] = self.allowances[first + place];
        }
        tile.reached(targets.kind)
    }
}

/// What the kernel reads.
struct MicroTile<'a> {
    queries: &'a [[i32; QUERIES]],
    targets: &'a [u8],
    scales: &'a [f32],
    constants: &'a [f32],
    target_limits: Option<&'a [f32]>,
    starts: [i32; QUERIES],
    query_scales: [f32; QUERIES],
    limits: [f32; QUERIES],
    allowances: [f32; QUERIES],
}

#[cfg(not(target_arch = "x86_64"))]
impl MicroTile<'_> {
    fn reached(&self, _: Kind) -> [u32; QUERIES] {
        unreachable!("there is no kind on this machine")
    }
}

#[cfg(target_arch = "x86_64")]
impl MicroTile<'_> {
    #[inline(always)]
    fn reached(&self, kind: Kind) -> [u32; QUERIES] {
        match kind {
            // SAFETY: a kind is only made by `Kind::of_machine`, which found the instructions.
            Kind::Avx512Vnni => unsafe { self.reached_512() },
            // SAFETY: as above.
            Kind::AvxVnni => unsafe { self.reached_256() },
        }
    }

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn reached_512(&self) -> [u32; QUERIES] {
        use std::arch::x86_64::*;
        let read = |values: &[f32], half: usize| -> __m512 {
            cast(
                *values[half * 16..]
                    .first_chunk::<16>()
                    .expect("a panel is two vectors wide"),
            )
        };
        let mut sums = self.starts.map(|start| [_mm512_set1_epi32(start); 2]);
        for (queries, targets) in self.queries.iter().zip(self.targets.as_chunks::<128>().0) {
            let halves: [__m512i; 2] = cast(*targets);
            for (sums, query) in sums.iter_mut().zip(queries) {
                let query = _mm512_set1_epi32(*query);
                sums[0] = _mm512_dpbusd_epi32(sums[0], halves[0], query);
                sums[1] = _mm512_dpbusd_epi32(sums[1], halves[1], query);
            }
        }
        let mut reached = [0; QUERIES];
        for half in 0..2 {
            let (scales, constants) = (read(self.scales, half), read(self.constants, half));
            let of_targets = self
                .target_limits
                .map_or_else(|| _mm512_set1_ps(f32::INFINITY), |limits| read(limits, half));
            for (query, sums) in sums.iter().enumerate() {
                let scale = _mm512_mul_ps(_mm512_set1_ps(self.query_scales[query]), scales);
                let bound = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[half]), scale, constants);
                let bound = _mm512_add_ps(bound, _mm512_set1_ps(self.allowances[query]));
                let limit = _mm512_min_ps(_mm512_set1_ps(self.limits[query]), of_targets);
                let mask = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(bound, limit);
                reached[query] |= u32::from(mask) << (16 * half);
            }
        }
        reached
    }

    #[target_feature(enable = "avx2,fma,avxvnni")]
    fn reached_256(&self) -> [u32; QUERIES] {
        use std::arch::x86_64::*;
        let read = |values: &[f32], half: usize| -> __m256 {
            cast(
                *values[half * 8..]
                    .first_chunk::<8>()
                    .expect("a panel is two vectors wide"),
            )
        };
        let mut sums = self.starts.map(|start| [_mm256_set1_epi32(start); 2]);
        for (queries, targets) in self.queries.iter().zip(self.targets.as_chunks::<64>().0) {
            let halves: [__m256i; 2] = cast(*targets);
            for (sums, query) in sums.iter_mut().zip(queries) {
                let query = _mm256_set1_epi32(*query);
                sums[0] = _mm256_dpbusd_avx_epi32(sums[0], halves[0], query);
                sums[1] = _mm256_dpbusd_avx_epi32(sums[1], halves[1], query);
            }
        }
        let mut reached = [0; QUERIES];
        for half in 0..2 {
            let (scales, constants) = (read(self.scales, half), read(self.constants, half));
            let of_targets = self
                .target_limits
                .map_or_else(|| _mm256_set1_ps(f32::INFINITY), |limits| read(limits, half));
            for (query, sums) in sums.iter().enumerate() {
                let scale = _mm256_mul_ps(_mm256_set1_ps(self.query_scales[query]), scales);
                let bound = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[half]), scale, constants);
                let bound = _mm256_add_ps(bound, _mm256_set1_ps(self.allowances[query]));
                let limit = _mm256_min_ps(_mm256_set1_ps(self.limits[query]), of_targets);
                let mask = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(bound, limit));
                reached[query] |= (mask as u32) << (8 * half);
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::microkernel::MOST_TARGETS;
    use crate::random::stream;
    use rand::RngExt;

    fn kinds() -> Vec<Kind> {
        #[cfg(target_arch = "x86_64")]
        {
            let has_512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
            let has_256 = is_x86_feature_detected!("fma") && is_x86_feature_detected!("avxvnni");
            let both = [(has_512, Kind::Avx512Vnni), (has_256, Kind::AvxVnni)];
            both.into_iter().filter_map(|(has, kind)| has.then_some(kind)).collect()
        }
        #[cfg(not(target_arch = "x86_64"))]
        Vec::new()
    }

    fn rows(count: usize, columns: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = stream(seed, "coarse", 0);
        let mut row = || (0..columns).map(|_| rng.random::<f64>() - 0.5).collect();
        (0..count).map(|_| row()).collect()
    }

    /// Whether each pair is reached where its product and constants are compared with limits that lie so far above them.
    fn reached(kind: Kind, columns: usize, above: f64) -> Vec<bool> {
        let (of_queries, of_targets) = (rows(8, columns, 1), rows(kind.width() + 3, columns, 2));
        let mut queries = CoarseQueries::with_room(columns, 8);
        let mut targets = CoarseTargets::with_room(kind, columns, of_targets.len());
        of_queries.iter().for_each(|row| queries.push(&Codes::of(row), 0.25));
        of_targets.iter().for_each(|row| targets.push(&Codes::of(row), -0.5));
        let coarse = Coarse::new(&queries, &targets);
        let mut all = Vec::new();
        for (q, query) in of_queries.iter().enumerate() {
            for (t, target) in of_targets.iter().enumerate() {
                let product: f64 = query.iter().zip(target).map(|(x, y)| x * y).sum();
                let mut limits = [f32::INFINITY; QUERIES];
                limits[q % QUERIES] = (product - 0.25 + above) as f32;
                let (panel, of_panel) = (q / QUERIES, t / kind.width());
                let bits = coarse.reached(panel, of_panel, &limits, None);
                // Only this query has a limit.
                assert!(bits.iter().enumerate().all(|(i, bits)| i == q % QUERIES || *bits == 0));
                all.push(bits[q % QUERIES] >> (t % kind.width()) & 1 == 1);
                // The same limit, asked of the target.
                let mut of_target = [f32::INFINITY; MOST_TARGETS];
                of_target[t % kind.width()] = limits[q % QUERIES];
                let bits = coarse.reached(panel, of_panel, &[f32::INFINITY; QUERIES], Some(&of_target));
                assert_eq!(*all.last().unwrap(), bits[q % QUERIES] >> (t % kind.width()) & 1 == 1);
            }
        }
        all
    }

    #[test]
    fn a_product_that_reaches_its_limit_is_never_missed() {
        for kind in kinds() {
            for columns in [1, 4, 7, 64, 250] {
                assert!(reached(kind, columns, -1e-6).iter().all(|is| *is), "{kind:?} {columns}");
            }
        }
    }

    #[test]
    fn a_product_far_below_its_limit_is_not_reached() {
        // Rows are about √(columns / 12) long, and codes leave out a 250th of that.
        for kind in kinds() {
            for columns in [7, 64, 250] {
                let far = columns as f64 / 12.0 / 40.0;
                assert!(!reached(kind, columns, far).iter().any(|is| *is), "{kind:?} {columns}");
            }
        }
    }

    #[test]
    fn a_row_of_zeros_has_no_error() {
        let zeros = Codes::of(&[0.0; 5]);
        assert_eq!(
            (zeros.scale, zeros.error, zeros.rounded_length, zeros.codes),
            (0.0, 0.0, 0.0, vec![0; 5])
        );
    }
}
