// SPDX-License-Identifier: MIT
//! Named random streams from one seed.
//!
//! Each consumer takes its own stream by name and index, so a random choice depends on the seed, the
//! name and the index, never on the order of work, the batch size or the number of threads.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The stream `name/index` of `seed`.
pub fn stream(seed: u64, name: &str, index: u64) -> ChaCha8Rng {
    let mut state = mixed(seed, name);
    state = split_mix(state ^ split_mix(index));
    let mut key = [0u8; 32];
    for chunk in key.chunks_exact_mut(8) {
        state = split_mix(state);
        chunk.copy_from_slice(&state.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// A number that stands for a name, to be the index of a stream: the file of an image, say.
pub fn key(name: &str) -> u64 {
    mixed(0, name)
}

/// The numbers `0..n` in a random order.
pub fn permutation(n: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.shuffle(rng);
    order
}

fn mixed(seed: u64, name: &str) -> u64 {
    name.bytes()
        .fold(seed, |state, byte| split_mix(state ^ u64::from(byte)))
}

/// One step of SplitMix64 (Steele, Lea and Flood 2014): mixes 64 bits.
fn split_mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_differ_by_seed_name_and_index_and_repeat_otherwise() {
        let draw = |seed, name, index| stream(seed, name, index).next_u64();
        assert_eq!(draw(1, "a", 0), draw(1, "a", 0));
        assert_ne!(draw(1, "a", 0), draw(2, "a", 0));
        assert_ne!(draw(1, "a", 0), draw(1, "b", 0));
        assert_ne!(draw(1, "a", 0), draw(1, "a", 1));
    }

    #[test]
    fn names_that_differ_have_keys_that_differ() {
        let keys: std::collections::BTreeSet<u64> = (0..1000).map(|i| key(&format!("sample_{i}.png"))).collect();
        assert_eq!(keys.len(), 1000);
        assert_ne!(key("ab"), key("ba"));
    }

    #[test]
    fn a_permutation_holds_every_number_once() {
        let mut order = permutation(100, &mut stream(42, "test", 0));
        assert_ne!(order, (0..100).collect::<Vec<u32>>());
        order.sort_unstable();
        assert_eq!(order, (0..100).collect::<Vec<u32>>());
    }
}
