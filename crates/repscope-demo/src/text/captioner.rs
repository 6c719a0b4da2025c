// SPDX-License-Identifier: MIT
//! A captioner: for each factor the likeliest word by a linear softmax head on the embedding, and the sentence of these
//! words.

use repscope_core::random;
use repscope_core::run::Progress;

use super::{Described, rows_of};
use crate::layers::{Linear, cross_entropy, zeros_like};
use crate::training::{AdamW, Batches, Curve, EMBEDDING_DIM, Fit, fit, rate};
use crate::world::{FACTORS, Said};

const RATE: f32 = 1e-2;

#[derive(Clone)]
pub(crate) struct Captioner {
    /// A head for each of [`FACTORS`], with an output per word.
    heads: Vec<Linear>,
}

impl Captioner {
    /// What it says of frames, from their embeddings in standard units.
    pub(crate) fn say(&self, embeddings: &[f32]) -> Vec<Said> {
        let mut all = vec![[0; FACTORS.len()]; embeddings.len() / EMBEDDING_DIM];
        for (at, head) in self.heads.iter().enumerate() {
            let outputs = head.forward(embeddings);
            for (said, row) in all.iter_mut().zip(outputs.chunks_exact(head.outputs())) {
                said[at] = (0..row.len()).fold(0, |best, word| if row[word] > row[best] { word } else { best });
            }
        }
        all
    }

    /// The sum over the factors of their cross-entropies.
    fn loss(&self, described: &Described) -> f64 {
        let of_head = |(at, head): (usize, &Linear)| {
            cross_entropy(
                &head.forward(&described.embeddings),
                &targets(&described.said, at),
                head.outputs(),
            )
            .0
        };
        self.heads.iter().enumerate().map(of_head).sum()
    }
}

pub(crate) fn train(
    train: &Described,
    validation: &Described,
    seed: u64,
    plan: Fit,
    progress: &dyn Progress,
) -> (Captioner, Curve) {
    let mut rng = random::stream(seed, "captioner", 0);
    let heads = FACTORS
        .iter()
        .map(|factor| Linear::new(EMBEDDING_DIM, factor.words.len(), &mut rng))
        .collect();
    let start = Captioner { heads };
    let mut batches = Batches::new(seed, "captioner/batches", train.said.len(), plan.batch);
    let mut optimizers: Vec<AdamW> = start.heads.iter().map(AdamW::new).collect();
    let step = |captioner: &mut Captioner, at: usize| {
        let samples = batches.next();
        let embeddings = rows_of(&train.embeddings, EMBEDDING_DIM, &samples);
        let said: Vec<Said> = samples.iter().map(|&sample| train.said[sample]).collect();
        let mut sum = 0.0;
        for (factor, (head, optimizer)) in captioner.heads.iter_mut().zip(&mut optimizers).enumerate() {
            let (loss, slopes) = cross_entropy(&head.forward(&embeddings), &targets(&said, factor), head.outputs());
            let mut gradient = zeros_like(head);
            head.gather(&embeddings, &slopes, &mut gradient);
            optimizer.step(head, &gradient, rate(at, plan.steps, RATE));
            sum += loss;
        }
        sum
    };
    fit(start, plan, progress, step, |captioner| captioner.loss(validation))
}

/// A 1 for the word that is true of each sample.
fn targets(said: &[Said], factor: usize) -> Vec<f32> {
    let words = 0..FACTORS[factor].words.len();
    let row = |said: &Said| {
        let own = said[factor];
        words.clone().map(move |word| if word == own { 1.0 } else { 0.0 })
    };
    said.iter().flat_map(row).collect()
}
