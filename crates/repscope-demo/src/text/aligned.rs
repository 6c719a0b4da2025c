// SPDX-License-Identifier: MIT
//! Two linear maps into one space: from embeddings of frames, and from bags of words. They are learned together, so
//! that a frame and its sentence point the same way.

use std::collections::BTreeSet;

use repscope_core::random;
use repscope_core::run::Progress;

use super::{Described, rows_of};
use crate::layers::{Linear, cross_entropy, zeros_like};
use crate::training::{AdamW, Batches, Curve, EMBEDDING_DIM, Fit, fit, rate, spread_out};
use crate::world::{FACTORS, Said, label_sentence, labels, sentence};

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

/// The words that are known, in alphabetical order.
#[derive(Clone)]
pub(super) struct Vocabulary {
    words: Vec<String>,
}

impl Vocabulary {
    /// The words of all sentences that describe frames.
    pub(super) fn new() -> Self {
        let mut words = BTreeSet::new();
        let mut add = |text: String| words.extend(text.split_whitespace().map(str::to_string));
        // Words do not depend on each other, but for "other": so one factor at a time will do.
        for (at, factor) in FACTORS.iter().enumerate() {
            for word in 0..factor.words.len() {
                let mut said: Said = [0; FACTORS.len()];
                said[at] = word;
                add(sentence(&said));
            }
        }
        labels().iter().for_each(|said| add(label_sentence(said)));
        Vocabulary {
            words: words.into_iter().collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The shares of the words of each text, one row per text. Unknown words count for nothing.
    pub(super) fn bags(&self, texts: &[String]) -> Vec<f32> {
        let mut bags = vec![0.0; texts.len() * self.len()];
        for (text, bag) in texts.iter().zip(bags.chunks_exact_mut(self.len())) {
            let known = text.split_whitespace().filter_map(|word| self.place(word));
            let known: Vec<usize> = known.collect();
            known.iter().for_each(|&place| bag[place] += 1.0 / known.len() as f32);
        }
        bags
    }

    fn place(&self, word: &str) -> Option<usize> {
        self.words.binary_search_by(|known| known.as_str().cmp(word)).ok()
    }
}

// Symmetric InfoNCE (Radford et al. 2021): among all texts of a batch a frame is to find its own, and the other way round.
//
// Frames of a batch may have the same sentence; then all of these are equally right.

/// By this the cosines are divided.
const TEMPERATURE: f32 = 0.1;

/// The loss, and its slopes by the left and by the right vectors. `same[i]` stands for the text of sample i.
pub(super) fn contrast(left: &[f32], right: &[f32], width: usize, same: &[usize]) -> (f64, Vec<f32>, Vec<f32>) {
    let count = same.len();
    let (u, v) = (unit(left, width), unit(right, width));
    let across: Vec<f32> = products(&u, &v, width);
    let along: Vec<f32> = (0..count * count)
        .map(|at| across[at % count * count + at / count])
        .collect();
    let targets = targets(same);
    let (of_left, by_across) = cross_entropy(&across, &targets, count);
    let (of_right, by_along) = cross_entropy(&along, &targets, count);
    let (mut du, mut dv) = (vec![0.0; u.len()], vec![0.0; v.len()]);
    for i in 0..count {
        for j in 0..count {
            let slope = (by_across[i * count + j] + by_along[j * count + i]) / (2.0 * TEMPERATURE);
            for at in 0..width {
                du[i * width + at] += slope * v[j * width + at];
                dv[j * width + at] += slope * u[i * width + at];
            }
        }
    }
    let loss = (of_left + of_right) / 2.0;
    (
        loss,
        through_unit(left, &u, du, width),
        through_unit(right, &v, dv, width),
    )
}

/// All cosines, divided by the temperature.
fn products(u: &[f32], v: &[f32], width: usize) -> Vec<f32> {
    let dot = |u: &[f32], v: &[f32]| u.iter().zip(v).map(|(u, v)| u * v).sum::<f32>() / TEMPERATURE;
    let rows = u.chunks_exact(width);
    rows.flat_map(|u| v.chunks_exact(width).map(move |v| dot(u, v)))
        .collect()
}

/// Each row is shared by the samples that have the same text.
fn targets(same: &[usize]) -> Vec<f32> {
    let mut targets = Vec::with_capacity(same.len() * same.len());
    for own in same {
        let alike = same.iter().filter(|other| *other == own).count();
        targets.extend(
            same.iter()
                .map(|other| if other == own { 1.0 / alike as f32 } else { 0.0 }),
        );
    }
    targets
}

fn length(row: &[f32]) -> f32 {
    row.iter().map(|z| z * z).sum::<f32>().sqrt().max(1e-12)
}

/// Rows of length 1.
fn unit(rows: &[f32], width: usize) -> Vec<f32> {
    let scaled = |row: &[f32]| -> Vec<f32> { row.iter().map(|z| z / length(row)).collect() };
    rows.chunks_exact(width).flat_map(scaled).collect()
}

/// From the slope of unit rows to that of the rows: what points along a row does not count.
fn through_unit(rows: &[f32], unit: &[f32], mut slopes: Vec<f32>, width: usize) -> Vec<f32> {
    let all = rows.chunks_exact(width).zip(unit.chunks_exact(width));
    for ((row, unit), slopes) in all.zip(slopes.chunks_exact_mut(width)) {
        let along: f32 = slopes.iter().zip(unit).map(|(slope, u)| slope * u).sum();
        let length = length(row);
        slopes
            .iter_mut()
            .zip(unit)
            .for_each(|(slope, u)| *slope = (*slope - along * u) / length);
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::slopes::numbers;

    #[test]
    fn every_word_of_every_sentence_is_known() {
        let vocabulary = Vocabulary::new();
        for at in 0..2 * 2 * 4 * 2 * 2 * 3 {
            let said = [at % 2, at / 2 % 2, at / 4 % 4, at / 16 % 2, at / 32 % 2, at / 64];
            for word in sentence(&said).split_whitespace() {
                assert!(vocabulary.place(word).is_some(), "{word}");
            }
        }
    }

    #[test]
    fn the_order_of_words_does_not_matter_and_shares_add_up() {
        let vocabulary = Vocabulary::new();
        let bags = vocabulary.bags(&["a small circle".into(), "circle a small unknown".into()]);
        let (first, second) = bags.split_at(vocabulary.len());
        assert_eq!(first, second);
        assert!((first.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn slopes_of_the_contrast_are_those_of_finite_differences() {
        let (left, right) = (numbers(12), numbers(13)[1..].to_vec());
        let same = [0, 1, 0, 2];
        let (_, by_left, by_right) = contrast(&left, &right, 3, &same);
        for at in 0..12 {
            let shifted = |by: f32, of_left: bool| {
                let (mut left, mut right) = (left.clone(), right.clone());
                let moved = if of_left { &mut left } else { &mut right };
                moved[at] += by;
                contrast(&left, &right, 3, &same).0
            };
            for (found, of_left) in [(by_left[at], true), (by_right[at], false)] {
                let difference = (shifted(2e-3, of_left) - shifted(-2e-3, of_left)) / 4e-3;
                assert!(
                    (f64::from(found) - difference).abs() < 5e-3,
                    "{at}: {found} but {difference}"
                );
            }
        }
    }

    #[test]
    fn pairs_that_point_the_same_way_cost_little_and_equal_vectors_the_logarithm() {
        let apart = [1.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, -1.0];
        assert!(contrast(&apart, &apart, 2, &[0, 1, 2, 3]).0 < 1e-3);
        assert!((contrast(&[1.0; 8], &[1.0; 8], 2, &[0, 1, 2, 3]).0 - 4f64.ln()).abs() < 1e-5);
    }
}
