// SPDX-License-Identifier: MIT
//! Bags of words: a text as the share that each known word has in it.

use std::collections::BTreeSet;

use crate::world::{FACTORS, Said, label_sentence, labels, sentence};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
