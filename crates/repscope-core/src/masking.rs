// SPDX-License-Identifier: MIT
//! Masks: which pixels of a gray image are taken away, and what is put in their place.
//!
//! A pixel is lit where it is not 0. A mask takes a percentage of the lit pixels: the brightest, the dimmest, random ones, or
//! those of a square or a ring. Images of histograms hold few gray values, so a threshold takes far more pixels than it
//! was meant to (all of them, where all are equal); [`Rule::Exact`] counts pixels and breaks ties at random.
//!
//! Random numbers come from a stream named by the shape and the image: all masks of one shape are nested (what 1 % takes, 2 %
//! takes too), every image has numbers of its own, and the order of work changes nothing.

mod fills;
mod regions;
#[cfg(test)]
mod tests;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, refuse_if};
use crate::random;
use fills::Canvas;
use regions::Lit;

/// Which pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The brightest lit pixels.
    Top,
    /// The dimmest lit pixels.
    Bottom,
    /// Pixels at random.
    Random,
    /// The smallest square around a random lit pixel that holds enough lit pixels, with all that is in it.
    Patch,
    /// The thinnest ring around the center, at the radius of a random lit pixel, that holds enough, with all that is in it.
    Ring,
}

/// How many pixels a percentage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Exactly that share, rounded up. Equal pixels go at random.
    Exact,
    /// As the perturbation impact analysis has it: all pixels at or beyond NumPy's percentile; shares of random pixels are rounded down.
    Threshold,
}

/// What random pixels are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum RandomFrom {
    /// The lit pixels, as for the other shapes.
    Lit,
    /// All pixels, as the perturbation impact analysis has it.
    All,
}

/// What is put in the place of a masked pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// 0.
    Black,
    /// The mean of the lit pixels that are left.
    Mean,
    /// The image blurred by a Gaussian of σ = 2.
    Blur,
    /// What the pixels around lead to expect: each masked pixel is the weighted mean of its eight neighbors.
    Inpaint,
}

/// A mask of one strength.
#[derive(Debug, Clone, PartialEq)]
pub struct Masking {
    /// Which pixels.
    pub shape: Kind,
    /// Percentage of the lit pixels; of all pixels where random ones are drawn from all.
    pub percent: f64,
    /// How many pixels that is.
    pub rule: Rule,
    /// What random pixels are drawn from.
    pub random_from: RandomFrom,
    /// What is put in their place.
    pub fill: Fill,
    /// The seed of all random choices.
    pub seed: u64,
}

/// An image without its masked pixels, and how many these were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The image, row by row.
    pub pixels: Vec<u8>,
    /// How many lit pixels were masked.
    pub masked_lit: usize,
    /// How many pixels were masked.
    pub masked: usize,
    /// How many pixels were lit.
    pub lit: usize,
}

/// Percentages are taken to this part of a percent, so that 5 % of 100 pixels are 5.
const PARTS: f64 = 1e6;
/// So many parts are the whole.
const WHOLE: u64 = 100_000_000;

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Top, Kind::Bottom, Kind::Random, Kind::Patch, Kind::Ring];

    /// The name of the option, and of the family of masks.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Top => "top",
            Kind::Bottom => "bottom",
            Kind::Random => "random",
            Kind::Patch => "patch",
            Kind::Ring => "ring",
        }
    }
}

impl Fill {
    /// All of them.
    pub const ALL: [Fill; 4] = [Fill::Black, Fill::Mean, Fill::Blur, Fill::Inpaint];

    /// The name of the option.
    pub fn name(self) -> &'static str {
        match self {
            Fill::Black => "black",
            Fill::Mean => "mean",
            Fill::Blur => "blur",
            Fill::Inpaint => "inpaint",
        }
    }
}

impl Masking {
    /// An exact black mask of lit pixels.
    pub fn new(shape: Kind, percent: f64, seed: u64) -> Self {
        Masking {
            shape,
            percent,
            rule: Rule::Exact,
            random_from: RandomFrom::Lit,
            fill: Fill::Black,
            seed,
        }
    }

    /// `top1`, `bottom0.5`.
    pub fn name(&self) -> String {
        format!("{}{}", self.shape.name(), self.percent)
    }

    /// Whether this percentage makes sense.
    pub fn check(&self) -> Result<()> {
        let percent = self.percent;
        refuse_if(!((percent * PARTS).round() >= 1.0 && percent <= 100.0), || {
            format!("a mask of {percent} % of the pixels: give a percentage above 0, at most 100")
        })
    }

    /// The image without the pixels of this mask. `size` is height and width; `key` stands for the image (see
    /// [`random::key`]), so that every image has random numbers of its own.
    pub fn apply(&self, image: &[u8], size: (usize, usize), key: u64) -> Result<Masked> {
        let mut masked = apply_all(std::slice::from_ref(self), image, size, key)?;
        let missing = || Error::Internal("a mask gave no image".to_string());
        masked.pop().ok_or_else(missing)
    }

    /// How many of so many pixels are masked.
    fn count(&self, of: usize) -> usize {
        let parts = (self.percent * PARTS).round() as u64 * of as u64;
        let count = match self.rule {
            Rule::Exact => parts.div_ceil(WHOLE),
            Rule::Threshold => parts / WHOLE,
        };
        count as usize
    }

    /// The pixels that are masked, each once.
    fn choose(&self, image: &[u8], size: (usize, usize), lit: &Lit, key: u64) -> Vec<u32> {
        let mut rng = random::stream(self.seed, self.shape.name(), key);
        let wanted = self.count(lit.order.len());
        match (self.shape, self.rule) {
            (Kind::Top, Rule::Exact) => lit.first(Brightest::First, wanted, &mut rng),
            (Kind::Bottom, Rule::Exact) => lit.first(Brightest::Last, wanted, &mut rng),
            (Kind::Top, Rule::Threshold) => lit.at_least(lit.percentile(image, 100.0 - self.percent)).to_vec(),
            (Kind::Bottom, Rule::Threshold) => lit.at_most(lit.percentile(image, self.percent)).to_vec(),
            (Kind::Random, _) => {
                let mut pixels: Vec<u32> = match self.random_from {
                    RandomFrom::Lit => lit.order.clone(),
                    RandomFrom::All => (0..image.len() as u32).collect(),
                };
                let wanted = self.count(pixels.len());
                draw(&mut pixels, wanted, &mut rng);
                pixels.truncate(wanted);
                pixels
            }
            (Kind::Patch, _) => regions::patch(&lit.order, size, wanted, &mut rng),
            (Kind::Ring, _) => regions::ring(&lit.order, size, wanted, &mut rng),
        }
    }
}

/// Several masks of one image, whose pixels are sorted once.
pub fn apply_all(maskings: &[Masking], image: &[u8], size: (usize, usize), key: u64) -> Result<Vec<Masked>> {
    let mut all = Vec::with_capacity(maskings.len());
    show_all(maskings, image, size, key, |masked| all.push(masked.clone()))?;
    Ok(all)
}

/// Shows several masks of one image, all in the same memory: new memory for each costs several times as much as masking.
pub fn show_all(
    maskings: &[Masking],
    image: &[u8],
    size: (usize, usize),
    key: u64,
    mut show: impl FnMut(&Masked),
) -> Result<()> {
    maskings.iter().try_for_each(Masking::check)?;
    let (height, width) = size;
    let values = image.len();
    refuse_if(
        height.checked_mul(width) != Some(values) || u32::try_from(values).is_err(),
        || {
            format!(
                "an image of {height} x {width} pixels has {values} values; give one gray value for each pixel, at most 2^32"
            )
        },
    )?;
    let lit = Lit::of(image);
    let canvas = Canvas::new(image, size);
    let mut masked = Masked {
        pixels: image.to_vec(),
        masked_lit: 0,
        masked: 0,
        lit: lit.order.len(),
    };
    for masking in maskings {
        // Nothing to take from an image without lit pixels.
        let is_dark = lit.order.is_empty();
        let chosen = if is_dark {
            Vec::new()
        } else {
            masking.choose(image, size, &lit, key)
        };
        masked.masked_lit = chosen.iter().filter(|&&p| image[p as usize] != 0).count();
        masked.masked = chosen.len();
        canvas.without(chosen, masking.fill, &mut masked.pixels);
        show(&masked);
    }
    Ok(())
}

/// From which end pixels are taken.
#[derive(Clone, Copy)]
enum Brightest {
    First,
    Last,
}

/// Moves `count` random elements to the front. The first ones are the same for every count.
fn draw(pixels: &mut [u32], count: usize, rng: &mut ChaCha8Rng) {
    for i in 0..count.min(pixels.len()) {
        let other = rng.random_range(i..pixels.len());
        pixels.swap(i, other);
    }
}
