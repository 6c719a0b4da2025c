// SPDX-License-Identifier: MIT
//! The lit pixels of an image in the order of their values.

use rand_chacha::ChaCha8Rng;

use super::{Brightest, draw};

/// Places of the lit pixels, dimmest first; equal ones in the order of the image.
pub(super) struct Lit {
    pub(super) order: Vec<u32>,
    /// Where each value begins in `order`; the last entry is the end.
    starts: [u32; 257],
}

impl Lit {
    /// A counting sort over the values. Most pixels of a histogram are black: these are skipped eight at a time.
    pub(super) fn of(image: &[u8]) -> Self {
        let mut places: Vec<u32> = Vec::new();
        let (words, rest) = image.as_chunks::<8>();
        for (number, bytes) in words.iter().enumerate() {
            let mut word = u64::from_le_bytes(*bytes);
            while word != 0 {
                let byte = word.trailing_zeros() / 8;
                places.push(8 * number as u32 + byte);
                word &= !(0xFF << (8 * byte));
            }
        }
        let behind = 8 * words.len();
        let of_rest = rest.iter().enumerate().filter(|(_, value)| **value != 0);
        places.extend(of_rest.map(|(i, _)| (behind + i) as u32));
        let mut starts = [0u32; 257];
        places
            .iter()
            .for_each(|&p| starts[usize::from(image[p as usize]) + 1] += 1);
        for value in 1..257 {
            starts[value] += starts[value - 1];
        }
        let mut next = starts;
        let mut order = vec![0; places.len()];
        for p in places {
            let slot = &mut next[usize::from(image[p as usize])];
            order[*slot as usize] = p;
            *slot += 1;
        }
        Lit { order, starts }
    }

    /// The first `count` pixels from one end. Of equal pixels some are drawn, from a stream for each value: more pixels are
    /// always these and others.
    pub(super) fn first(&self, end: Brightest, count: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
        let mut chosen = Vec::with_capacity(count);
        for step in 1..=255 {
            let value = match end {
                Brightest::First => 256 - step,
                Brightest::Last => step,
            };
            let equal = &self.order[self.starts[value] as usize..self.starts[value + 1] as usize];
            let missing = count - chosen.len();
            if equal.len() <= missing {
                chosen.extend_from_slice(equal);
                continue;
            }
            let mut equal = equal.to_vec();
            rng.set_stream(value as u64);
            draw(&mut equal, missing, rng);
            chosen.extend_from_slice(&equal[..missing]);
            break;
        }
        chosen
    }

    /// NumPy's percentile of the lit values: linear between the two nearest, rounded as NumPy rounds. There must be one.
    pub(super) fn percentile(&self, image: &[u8], percent: f64) -> f64 {
        let last = self.order.len() - 1;
        let place = last as f64 * (percent / 100.0);
        let before = (place.floor() as usize).min(last);
        let share = place - before as f64;
        let value = |i: usize| f64::from(image[self.order[i] as usize]);
        let (low, high) = (value(before), value((before + 1).min(last)));
        if share >= 0.5 {
            high - (high - low) * (1.0 - share)
        } else {
            low + (high - low) * share
        }
    }

    pub(super) fn at_least(&self, threshold: f64) -> &[u32] {
        &self.order[self.starts[threshold.ceil() as usize] as usize..]
    }

    pub(super) fn at_most(&self, threshold: f64) -> &[u32] {
        &self.order[..self.starts[threshold.floor() as usize + 1] as usize]
    }
}
