// SPDX-License-Identifier: MIT
//! Position inputs of text models.

/// Positions as RoBERTa counts them: from the number after the filling token, which itself is not counted.
pub(super) fn numbered_after(ids: &[i64], pad: i64) -> Vec<i64> {
    let mut last = pad;
    let position = |&id: &i64| {
        if id == pad {
            return pad;
        }
        last += 1;
        last
    };
    ids.iter().map(position).collect()
}

/// What keeps a token from seeing later ones: [tokens, tokens], added to the products of attention.
pub(super) fn causal_mask(tokens: usize) -> Vec<f32> {
    let at = |i: usize| if i % tokens > i / tokens { f32::MIN } else { 0.0 };
    (0..tokens * tokens).map(at).collect()
}

/// The kind of distance from each token to each other, as T5 sorts them: half of the buckets for those before, half for
/// those after; in each half, short distances have a bucket each, and longer ones share buckets that grow with the
/// logarithm, up to `distance`.
pub(super) fn buckets(tokens: usize, buckets: usize, distance: usize) -> Vec<i64> {
    let at = |i: usize| {
        bucket(
            (i % tokens) as i64 - (i / tokens) as i64,
            buckets as i64,
            distance as i64,
        )
    };
    (0..tokens * tokens).map(at).collect()
}

fn bucket(offset: i64, buckets: i64, distance: i64) -> i64 {
    let half = buckets / 2;
    let exact = half / 2;
    let side = if offset > 0 { half } else { 0 };
    let far = offset.abs();
    if far < exact.max(1) {
        return side + far.min(half - 1).max(0);
    }
    // In f32, as transformers has it: a limit of a bucket may fall on either side.
    let share = (far as f32 / exact.max(1) as f32).ln() / (distance as f64 / exact.max(1) as f64).ln() as f32;
    let large = exact.saturating_add((share * (half - exact) as f32) as i64);
    side + large.clamp(0, (half - 1).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filling_token_has_its_own_position_and_is_not_counted() {
        assert_eq!(numbered_after(&[0, 9, 1, 8, 2], 1), [2, 3, 1, 4, 5]);
    }

    #[test]
    fn no_token_sees_a_later_one() {
        let m = f32::MIN;
        assert_eq!(causal_mask(3), [0.0, m, m, 0.0, 0.0, m, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn distances_fall_into_the_buckets_of_transformers() {
        // `T5Attention._relative_position_bucket` of transformers 5.22 for 32 buckets up to 128: where each begins.
        let begins = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91];
        for (kind, &first) in begins.iter().enumerate() {
            let next = begins.get(kind + 1).copied().unwrap_or(1000);
            for far in first..next {
                assert_eq!(bucket(-far, 32, 128), kind as i64, "{far} before");
                if far > 0 {
                    assert_eq!(bucket(far, 32, 128), 16 + kind as i64, "{far} after");
                }
            }
        }
    }

    #[test]
    fn buckets_that_make_no_sense_stay_in_the_table() {
        for (count, distance) in [(1, 1), (2, 1), (3, 128), (4, 1)] {
            for offset in -300..300 {
                let kind = bucket(offset, count, distance);
                assert!((0..count.max(1)).contains(&kind), "{offset} {count} {distance}: {kind}");
            }
        }
    }
}
