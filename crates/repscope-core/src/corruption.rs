// SPDX-License-Identifier: MIT
//! Noise in what a model sees.
//!
//! The noise of a sample comes from a stream of its own, named by the kind, the level, the draw and the row: every model sees
//! the same noise, whatever the batch, the order of work or the number of threads.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::error::{Result, refuse_if};
use crate::random;

/// A kind of noise. The first three have strengths in units of the data (salt and pepper: a share), others severities 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum Corruption {
    /// N(0, σ²) is added to every value.
    Gaussian,
    /// A number between −σ√3 and σ√3 is added to every value: the same variance as `Gaussian`.
    Uniform,
    /// This share of the values becomes the least or the largest of the data.
    SaltAndPepper,
    /// Each value becomes the mean of the square around it, 3 to 11 wide.
    Blur,
    /// A tenth of the range is added for each step of severity.
    Brightness,
    /// Values move towards the mean of their sample, by 15 % for each step of severity.
    Contrast,
    /// A square at a random place becomes the least value of the data: 10 % of the area for each step of severity.
    Occlusion,
}

/// Which noise, how strong, and in which range.
#[derive(Debug, Clone, PartialEq)]
pub struct Corrupting {
    /// The kind.
    pub kind: Corruption,
    /// The level as it was given; names the stream.
    pub name: String,
    /// σ, a share or a severity.
    pub strength: f64,
    /// The least and the largest value of the data.
    pub range: [f64; 2],
    /// Values are cut to this range afterwards.
    pub clamp: Option<[f64; 2]>,
    /// The seed of the run.
    pub seed: u64,
}

impl Corruption {
    /// All of them.
    pub const ALL: [Corruption; 7] = [
        Corruption::Gaussian,
        Corruption::Uniform,
        Corruption::SaltAndPepper,
        Corruption::Blur,
        Corruption::Brightness,
        Corruption::Contrast,
        Corruption::Occlusion,
    ];

    /// The name of the option.
    pub fn name(self) -> &'static str {
        match self {
            Corruption::Gaussian => "gaussian",
            Corruption::Uniform => "uniform",
            Corruption::SaltAndPepper => "salt-and-pepper",
            Corruption::Blur => "blur",
            Corruption::Brightness => "brightness",
            Corruption::Contrast => "contrast",
            Corruption::Occlusion => "occlusion",
        }
    }

    /// The levels where none are given: the representation analysis's, or five severities.
    pub fn levels(self) -> [&'static str; 5] {
        match self {
            Corruption::Gaussian | Corruption::Uniform | Corruption::SaltAndPepper => {
                ["0.01", "0.05", "0.1", "0.15", "0.2"]
            }
            _ => ["1", "2", "3", "4", "5"],
        }
    }

    /// Whether this strength makes sense.
    pub fn check(self, strength: f64) -> Result<()> {
        let (fits, wanted) = match self {
            Corruption::Gaussian | Corruption::Uniform => (strength > 0.0 && strength.is_finite(), "above 0"),
            Corruption::SaltAndPepper => (strength > 0.0 && strength <= 1.0, "a share above 0, at most 1"),
            _ => ((1.0..=5.0).contains(&strength), "a severity from 1 to 5"),
        };
        refuse_if(!fits, || format!("{} noise of {strength}: give {wanted}", self.name()))
    }
}

impl Corrupting {
    /// Puts noise into one sample: `shape` without the axis of the samples, its last two axes being height and width.
    pub fn apply(&self, sample: &mut [f32], shape: &[usize], row: u64, draw: u64) {
        let stream = format!("noise/{}/{}/{draw}", self.kind.name(), self.name);
        let mut rng = random::stream(self.seed, &stream, row);
        let [low, high] = self.range;
        match self.kind {
            Corruption::Gaussian => {
                for pair in sample.chunks_mut(2) {
                    for (x, normal) in pair.iter_mut().zip(two_normals(&mut rng)) {
                        *x = (f64::from(*x) + self.strength * normal) as f32;
                    }
                }
            }
            Corruption::Uniform => {
                let reach = self.strength * 3f64.sqrt();
                for x in sample.iter_mut() {
                    *x = (f64::from(*x) + reach * (2.0 * rng.random::<f64>() - 1.0)) as f32;
                }
            }
            Corruption::SaltAndPepper => {
                for x in sample.iter_mut() {
                    let (is_hit, is_salt) = (rng.random::<f64>() < self.strength, rng.random::<bool>());
                    if is_hit {
                        *x = if is_salt { high } else { low } as f32;
                    }
                }
            }
            Corruption::Brightness => {
                let step = 0.1 * self.strength * (high - low);
                sample.iter_mut().for_each(|x| *x = (f64::from(*x) + step) as f32);
            }
            Corruption::Contrast => {
                let mean = sample.iter().copied().map(f64::from).sum::<f64>() / sample.len().max(1) as f64;
                let kept = 1.0 - 0.15 * self.strength;
                let toward = |x: f32| (mean + kept * (f64::from(x) - mean)) as f32;
                sample.iter_mut().for_each(|x| *x = toward(*x));
            }
            Corruption::Blur => {
                let reach = self.strength.round() as usize;
                planes(sample, shape, |plane, width| blur(plane, width, reach));
            }
            Corruption::Occlusion => {
                let place = [rng.random::<f64>(), rng.random::<f64>()];
                let share = (0.1 * self.strength).sqrt();
                planes(sample, shape, |plane, width| {
                    occlude(plane, width, share, place, low as f32)
                });
            }
        }
        if let Some([low, high]) = self.clamp {
            sample.iter_mut().for_each(|x| *x = x.clamp(low as f32, high as f32));
        }
    }
}

/// Two independent numbers of the standard normal law (Box and Muller 1958).
fn two_normals(rng: &mut impl Rng) -> [f64; 2] {
    // From 0 excluded to 1 included, so that the logarithm is finite.
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    let angle = std::f64::consts::TAU * rng.random::<f64>();
    [radius * angle.cos(), radius * angle.sin()]
}

/// Each plane of the last two axes with its width; a sample of one axis is one line.
fn planes(sample: &mut [f32], shape: &[usize], mut work: impl FnMut(&mut [f32], usize)) {
    let (height, width) = match shape {
        [.., height, width] => (*height, *width),
        _ => (1, sample.len()),
    };
    for plane in sample.chunks_exact_mut((height * width).max(1)) {
        work(plane, width);
    }
}

/// The mean of the square around each value, cut at the edges.
fn blur(plane: &mut [f32], width: usize, reach: usize) {
    let height = plane.len() / width;
    let clean = plane.to_vec();
    for y in 0..height {
        for x in 0..width {
            let around = |at: usize, end: usize| at.saturating_sub(reach)..end.min(at + reach + 1);
            let (rows, columns) = (around(y, height), around(x, width));
            let count = (rows.len() * columns.len()) as f64;
            let values = |row: usize| &clean[row * width..][columns.clone()];
            let line = |row: usize| values(row).iter().copied().map(f64::from).sum::<f64>();
            plane[y * width + x] = (rows.map(line).sum::<f64>() / count) as f32;
        }
    }
}

/// Covers a rectangle whose sides are `share` of the plane's; `place` is where between the edges.
fn occlude(plane: &mut [f32], width: usize, share: f64, place: [f64; 2], value: f32) {
    let height = plane.len() / width;
    let side = |length: usize| ((share * length as f64).round() as usize).clamp(1, length);
    let start = |length: usize, at: f64| ((length - side(length)) as f64 * at).round() as usize;
    let (top, left) = (start(height, place[0]), start(width, place[1]));
    for row in plane.chunks_exact_mut(width).skip(top).take(side(height)) {
        row[left..left + side(width)].fill(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(kind: Corruption, strength: f64) -> Corrupting {
        Corrupting {
            kind,
            name: strength.to_string(),
            strength,
            range: [0.0, 255.0],
            clamp: None,
            seed: 42,
        }
    }

    fn applied(noise: &Corrupting, row: u64, draw: u64) -> Vec<f32> {
        let mut sample: Vec<f32> = (0..4096).map(|i| (i % 64) as f32).collect();
        noise.apply(&mut sample, &[1, 64, 64], row, draw);
        sample
    }

    #[test]
    fn gaussian_and_uniform_noise_have_the_deviation_that_is_asked() {
        for kind in [Corruption::Gaussian, Corruption::Uniform] {
            let noise = noise(kind, 2.5);
            let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
            for row in 0..50 {
                for (i, x) in applied(&noise, row, 0).iter().enumerate() {
                    let moved = f64::from(*x) - (i % 64) as f64;
                    (sum, squares, count) = (sum + moved, squares + moved * moved, count + 1.0);
                }
            }
            // 204,800 draws: the mean is within 4 of its standard errors, the deviation within 1 %.
            assert!((sum / count).abs() < 4.0 * 2.5 / count.sqrt(), "{kind:?}");
            assert!(((squares / count).sqrt() / 2.5 - 1.0).abs() < 0.01, "{kind:?}");
        }
    }

    #[test]
    fn noise_depends_on_row_draw_and_level_and_repeats_otherwise() {
        for kind in [Corruption::Gaussian, Corruption::Uniform, Corruption::SaltAndPepper] {
            let own = noise(kind, 0.5);
            assert_eq!(applied(&own, 3, 1), applied(&own, 3, 1));
            assert_ne!(applied(&own, 3, 1), applied(&own, 4, 1));
            assert_ne!(applied(&own, 3, 1), applied(&own, 3, 0));
            assert_ne!(applied(&own, 3, 1), applied(&noise(kind, 0.25), 3, 1));
        }
    }

    #[test]
    fn salt_and_pepper_hits_the_share_that_is_asked_with_the_ends_of_the_data() {
        let found = applied(&noise(Corruption::SaltAndPepper, 0.2), 0, 0);
        let salt = found.iter().filter(|x| **x == 255.0).count() as f64 / 4096.0;
        // Half of 20 %, within 4 standard errors of 4,096 values.
        assert!((salt - 0.1).abs() < 4.0 * (0.1f64 * 0.9 / 4096.0).sqrt(), "{salt}");
    }

    #[test]
    fn brightness_contrast_and_clamp_are_those_of_a_hand_calculation() {
        let mut sample = vec![0.0, 100.0];
        noise(Corruption::Brightness, 2.0).apply(&mut sample, &[2], 0, 0);
        assert_eq!(sample, [51.0, 151.0]);
        let mut sample = vec![0.0, 100.0];
        noise(Corruption::Contrast, 2.0).apply(&mut sample, &[2], 0, 0);
        assert_eq!(sample, [15.0, 85.0]);
        let mut cut = noise(Corruption::Brightness, 5.0);
        cut.clamp = Some([0.0, 150.0]);
        let mut sample = vec![0.0, 100.0];
        cut.apply(&mut sample, &[2], 0, 0);
        assert_eq!(sample, [127.5, 150.0]);
    }

    #[test]
    fn blur_takes_the_mean_of_the_square_and_occlusion_covers_its_share() {
        let mut sample = vec![0.0; 9];
        sample[4] = 9.0;
        noise(Corruption::Blur, 1.0).apply(&mut sample, &[3, 3], 0, 0);
        assert_eq!((sample[4], sample[0]), (1.0, 9.0 / 4.0));
        let mut sample = vec![7.0; 2 * 100];
        noise(Corruption::Occlusion, 2.5).apply(&mut sample, &[2, 10, 10], 0, 0);
        // √0.25 of each side: 25 of 100 values, in the same place of both planes.
        let covered = |plane: &[f32]| plane.iter().map(|x| *x == 0.0).collect::<Vec<bool>>();
        assert_eq!(covered(&sample[..100]), covered(&sample[100..]));
        assert_eq!(sample.iter().filter(|x| **x == 0.0).count(), 50);
    }

    #[test]
    fn strengths_that_make_no_sense_are_refused() {
        assert!(Corruption::Gaussian.check(0.0).is_err() && Corruption::Gaussian.check(f64::NAN).is_err());
        assert!(Corruption::SaltAndPepper.check(1.5).is_err() && Corruption::Blur.check(6.0).is_err());
        for kind in Corruption::ALL {
            for level in kind.levels() {
                assert!(kind.check(level.parse().unwrap()).is_ok());
            }
        }
    }
}
