// SPDX-License-Identifier: MIT
//! Files that are nearly right: bytes flipped, numbers replaced by extreme ones, parts left out, repeated, exchanged with another file.

/// Numbers at which sizes and offsets go wrong.
const EXTREME: [u64; 12] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    1 << 32,
    1 << 40,
    i64::MAX as u64,
    u64::MAX,
];

/// Words of text formats.
const WORDS: [&[u8]; 16] = [
    b"{", b"}", b"[", b"]", b"\"", b",", b":", b"\n", b"null", b"-1", b"1e999", b"NaN", b"\xff", b"[[", b"../",
    b"\x1b[2J",
];

/// Makes changed files out of seeds. The same number gives the same files.
pub struct Mutator {
    state: u64,
    seeds: Vec<Vec<u8>>,
}

impl Mutator {
    /// Begins with these files.
    pub fn new(seed: u64, seeds: Vec<Vec<u8>>) -> Self {
        Mutator { state: seed, seeds }
    }

    /// The files it began with.
    pub fn seeds(&self) -> &[Vec<u8>] {
        &self.seeds
    }

    /// The next changed file.
    #[allow(clippy::should_implement_trait)] // it has no end
    pub fn next(&mut self) -> Vec<u8> {
        let at = self.below(self.seeds.len());
        let mut bytes = self.seeds.get(at).cloned().unwrap_or_default();
        for _ in 0..=self.below(6) {
            self.change(&mut bytes);
        }
        bytes.truncate(1 << 20);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        if length == 0 {
            bytes.extend(WORDS[self.below(WORDS.len())]);
            return;
        }
        let at = self.below(length);
        let part = at..(at + 1 + self.below(32)).min(length);
        match self.below(9) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.random() as u8,
            2 | 3 => {
                let width = [1, 2, 4, 8][self.below(4)];
                let number = EXTREME[self.below(EXTREME.len())].to_le_bytes();
                let number: Vec<u8> = match self.below(2) {
                    0 => number[..width].to_vec(),
                    _ => number[..width].iter().rev().copied().collect(),
                };
                let end = (at + width).min(length);
                bytes.splice(at..end, number);
            }
            4 => drop(bytes.drain(part)),
            5 => {
                let copy = bytes[part].to_vec();
                let times = 1 + self.below(8);
                bytes.splice(at..at, copy.repeat(times));
            }
            6 => bytes.truncate(at),
            7 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            _ => {
                let other = self.below(self.seeds.len());
                let from = self.below(self.seeds[other].len().max(1)).min(self.seeds[other].len());
                bytes.truncate(at);
                bytes.extend_from_slice(&self.seeds[other][from..]);
            }
        }
    }

    fn below(&mut self, count: usize) -> usize {
        (self.random() % count.max(1) as u64) as usize
    }

    /// SplitMix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_files_and_they_differ_from_the_first() {
        let seeds = vec![vec![7; 100], b"{\"a\": 1}".to_vec()];
        let files = |seed| {
            let mut mutator = Mutator::new(seed, seeds.clone());
            (0..200).map(|_| mutator.next()).collect::<Vec<_>>()
        };
        assert_eq!(files(1), files(1));
        assert_ne!(files(1), files(2));
        let changed = files(1).iter().filter(|file| !seeds.contains(file)).count();
        assert!(changed > 150, "{changed}");
    }
}
