// SPDX-License-Identifier: MIT
//! How much of everything: frames, steps, samples per step.

use crate::training::Fit;

/// How long to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Size {
    /// Seconds. Every file is made, but hardly anything is learned: for tests.
    Tiny,
    /// About two minutes on two cores.
    Quick,
    /// Several minutes, and better models.
    Full,
}

/// What to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// How long to take.
    pub size: Size,
    /// The seed of everything random.
    pub seed: u64,
}

/// Some episodes of one length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Episodes {
    pub(crate) count: usize,
    pub(crate) length: usize,
}

/// What a size means.
pub(crate) struct Numbers {
    pub(crate) train: Episodes,
    pub(crate) validation: Episodes,
    /// Those that are written, and that nothing was learned from.
    pub(crate) test: Episodes,
    /// Frames of the training episodes that descriptions, captions and probes are learned from.
    pub(crate) described: usize,
    pub(crate) jepa: Fit,
    pub(crate) encoder_decoder: Fit,
    pub(crate) collapsed: Fit,
    pub(crate) classifier: Fit,
    pub(crate) aligned: Fit,
    pub(crate) captioner: Fit,
}

impl Size {
    pub(crate) fn numbers(self) -> Numbers {
        // Tiny, quick and full.
        let episodes = |sizes: [(usize, usize); 3]| {
            let (count, length) = sizes[self as usize];
            Episodes { count, length }
        };
        let fit = |sizes: [(usize, usize, usize); 3]| {
            let (steps, batch, looks) = sizes[self as usize];
            Fit { steps, batch, looks }
        };
        Numbers {
            train: episodes([(32, 8), (160, 40), (480, 40)]),
            validation: episodes([(8, 3), (32, 12), (64, 12)]),
            test: episodes([(16, 6), (64, 16), (128, 16)]),
            described: [64, 1024, 6144][self as usize],
            jepa: fit([(12, 8, 2), (240, 24, 6), (480, 32, 12)]),
            encoder_decoder: fit([(60, 8, 3), (320, 16, 5), (960, 24, 12)]),
            collapsed: fit([(20, 8, 2), (50, 16, 5), (50, 16, 5)]),
            classifier: fit([(6, 16, 2), (500, 32, 10), (1600, 32, 16)]),
            aligned: fit([(20, 32, 2), (400, 64, 10), (1000, 128, 20)]),
            captioner: fit([(20, 32, 2), (400, 64, 10), (1000, 128, 20)]),
        }
    }
}
