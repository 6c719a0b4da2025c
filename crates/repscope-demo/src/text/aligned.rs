// SPDX-License-Identifier: MIT
//! Two linear maps into one space: from embeddings of frames, and from bags of words. They are learned together, so
//! that a frame and its sentence point the same way.

use repscope_core::random;
use repscope_core::run::Progress;

use super::bag::Vocabulary;
use super::contrast::contrast;
use super::{Described, rows_of};
use crate::layers::{Linear, zeros_like};
use crate::training::{AdamW, Batches, Curve, EMBEDDING_DIM, Fit, fit, rate, spread_out};
use crate::world::{Said, sentence};

/// Width of the space of both.
pub(crate) const WIDTH: usize = 32;
const RATE: f32 = 1e-2;
const VALIDATED: usize = 128;

#[derive(Clone)]
pub(crate) struct Aligned {
    of_embeddings: Linear,
    of_texts: Linear,
    vocabulary: Vocabulary,
}

impl Aligned {
    /// The vectors of frames, from their embeddings in standard units.
    pub(crate) fn frames(&self, embeddings: &[f32]) -> Vec<f32> {
        self.of_embeddings.forward(embeddings)
    }

    /// The vectors of texts.
    pub(crate) fn texts(&self, texts: &[String]) -> Vec<f32> {
        self.of_texts.forward(&self.vocabulary.bags(texts))
    }
}

pub(crate) fn train(
    train: &Described,
    validation: &Described,
    seed: u64,
    plan: Fit,
    progress: &dyn Progress,
) -> (Aligned, Curve) {
    let vocabulary = Vocabulary::new();
    let words = vocabulary.len();
    let mut rng = random::stream(seed, "aligned", 0);
    let start = Aligned {
        of_embeddings: Linear::new(EMBEDDING_DIM, WIDTH, &mut rng),
        of_texts: Linear::new(words, WIDTH, &mut rng),
        vocabulary,
    };
    let (seen, held_out) = (
        Lesson::of(train, &start.vocabulary),
        Lesson::of(validation, &start.vocabulary),
    );
    let mut batches = Batches::new(seed, "aligned/batches", seen.same.len(), plan.batch);
    let mut of_embeddings = AdamW::new(&start.of_embeddings);
    let mut of_texts = AdamW::new(&start.of_texts);
    let step = |aligned: &mut Aligned, at: usize| {
        let batch = seen.some(&batches.next(), words);
        let (frames, texts) = batch.vectors(aligned);
        let (loss, by_frames, by_texts) = contrast(&frames, &texts, WIDTH, &batch.same);
        let rate = rate(at, plan.steps, RATE);
        let mut gradient = zeros_like(&aligned.of_embeddings);
        aligned
            .of_embeddings
            .gather(&batch.embeddings, &by_frames, &mut gradient);
        of_embeddings.step(&mut aligned.of_embeddings, &gradient, rate);
        let mut gradient = zeros_like(&aligned.of_texts);
        aligned.of_texts.gather(&batch.bags, &by_texts, &mut gradient);
        of_texts.step(&mut aligned.of_texts, &gradient, rate);
        loss
    };
    let samples: Vec<usize> = (0..held_out.same.len()).collect();
    let held_out = held_out.some(&spread_out(&samples, VALIDATED), words);
    let validate = |aligned: &Aligned| {
        let (frames, texts) = held_out.vectors(aligned);
        contrast(&frames, &texts, WIDTH, &held_out.same).0
    };
    fit(start, plan, progress, step, validate)
}

/// What is learned from: embeddings, bags of words, and which texts are the same.
struct Lesson {
    embeddings: Vec<f32>,
    bags: Vec<f32>,
    same: Vec<usize>,
}

impl Lesson {
    fn of(described: &Described, vocabulary: &Vocabulary) -> Self {
        let texts: Vec<String> = described.said.iter().map(sentence).collect();
        // Equal texts have equal numbers.
        let number = |said: &Said| said.iter().fold(0, |number, word| number * 10 + word);
        Lesson {
            embeddings: described.embeddings.clone(),
            bags: vocabulary.bags(&texts),
            same: described.said.iter().map(number).collect(),
        }
    }

    fn some(&self, samples: &[usize], words: usize) -> Self {
        Lesson {
            embeddings: rows_of(&self.embeddings, EMBEDDING_DIM, samples),
            bags: rows_of(&self.bags, words, samples),
            same: samples.iter().map(|&at| self.same[at]).collect(),
        }
    }

    fn vectors(&self, aligned: &Aligned) -> (Vec<f32>, Vec<f32>) {
        (
            aligned.of_embeddings.forward(&self.embeddings),
            aligned.of_texts.forward(&self.bags),
        )
    }
}
