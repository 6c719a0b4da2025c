// SPDX-License-Identifier: MIT
//! What the classifier says of frames with and without masks, for `repscope perturb evaluate --predictions`: a folder
//! for the true classes, one without masks, and one for each of the fifteen masks of perturbation impact.

use std::path::Path;

use repscope_core::masking::{Kind, Masking, apply_all};
use repscope_core::random;
use repscope_core::run::{Driver, Order, Progress};
use repscope_io::{Result, write_floats, write_integers};

use super::write_lines;
use crate::networks::Encoder;
use crate::training::{HEADS, classes, predict};
use crate::world::{FACTORS, Frame, SHAPE, SIDE, World, labels, quadrant};

/// Writes everything, and returns the share of frames that each head is right about without masks.
pub(crate) fn write(
    folder: &Path,
    classifier: &Encoder,
    world: &World,
    seed: u64,
    progress: &dyn Progress,
) -> Result<[f64; HEADS.len()]> {
    let folder = folder.join("predictions");
    let put = |part: &str, predictions: &[Vec<i64>; HEADS.len()]| {
        let files = HEADS.iter().zip(predictions);
        files
            .map(|(head, classes)| (folder.join(format!("{part}/{head}.npy")), classes))
            .try_for_each(|(path, classes)| write_integers(&path, classes))
    };
    let names: [Vec<String>; HEADS.len()] = [
        FACTORS[SHAPE].words.iter().map(|word| word.to_string()).collect(),
        labels()[..4].iter().map(quadrant).collect(),
    ];
    for (head, names) in HEADS.iter().zip(&names) {
        write_lines(&folder.join(format!("classes/{head}.txt")), names)?;
    }
    let factors = world.factors();
    let truth = std::array::from_fn(|head| factors.iter().map(|factors| classes(factors)[head] as i64).collect());
    put("labels", &truth)?;
    let frames = world.frames();
    let baseline = predict(classifier, &frames);
    put("baseline", &baseline)?;
    let maskings = maskings(seed);
    let masked = Driver::silent(Order::Parallel).map(frames.len(), |at| {
        let key = random::key(&format!("frame {at}"));
        apply_all(&maskings, frames[at], (SIDE, SIDE), key)
    });
    let masked = masked.into_iter().collect::<repscope_core::Result<Vec<_>>>()?;
    for (at, masking) in maskings.iter().enumerate() {
        let own = || masked.iter().map(|masks| &masks[at]);
        let frames: Vec<&Frame> = own()
            .map(|masked| masked.pixels[..].try_into().expect("a frame"))
            .collect();
        put(&masking.name(), &predict(classifier, &frames))?;
        let share = |part: usize, whole: usize| part as f32 / whole.max(1) as f32;
        let shares: Vec<f32> = own()
            .flat_map(|mask| [share(mask.masked_lit, mask.lit), share(mask.masked, mask.pixels.len())])
            .collect();
        let path = folder.join(format!("{}/masked.npy", masking.name()));
        write_floats(&path, &[frames.len(), 2], &shares)?;
        progress.advance(1);
    }
    let right = |head: usize| {
        baseline[head]
            .iter()
            .zip(&truth[head])
            .filter(|(said, class)| said == class)
            .count()
    };
    Ok(std::array::from_fn(|head| right(head) as f64 / frames.len() as f64))
}

/// So many masks there are.
pub(crate) const MASKS: u64 = 15;

/// The brightest, the dimmest and random pixels, 1 to 5 % of them.
fn maskings(seed: u64) -> Vec<Masking> {
    let kinds = [Kind::Top, Kind::Bottom, Kind::Random].into_iter();
    kinds
        .flat_map(|kind| (1..=5).map(move |percent| Masking::new(kind, f64::from(percent), seed)))
        .collect()
}
