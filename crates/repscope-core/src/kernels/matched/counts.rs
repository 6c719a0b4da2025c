// SPDX-License-Identifier: MIT
//! Counts of pairs.

use super::rank_table::Places;
use super::{BINS, Meeting, bin};

/// What a block of signals found, or several of them.
pub(super) struct Counts {
    pub(super) nearer: Vec<u32>,
    pub(super) as_near: Vec<u32>,
    pub(super) bins: Vec<u64>,
    /// Mismatched pairs at each place among the matched ones.
    pub(super) at: Vec<u64>,
    /// Twice the matched pairs above the mismatched ones, by signal and by text.
    pub(super) of_signals: Vec<u64>,
    pub(super) of_texts: Vec<u64>,
}

impl Counts {
    /// Room for so many signals.
    pub(super) fn new(signals: usize, meeting: &Meeting) -> Self {
        Counts {
            nearer: vec![0; signals],
            as_near: vec![0; signals],
            bins: vec![0; BINS],
            at: vec![0; meeting.places.count()],
            of_signals: vec![0; signals],
            of_texts: vec![0; meeting.own.len()],
        }
    }

    /// Counts a mismatched pair among the matched ones.
    #[inline(always)]
    pub(super) fn see(&mut self, place: usize, j: usize, cosine: f64, places: &Places) {
        let (at, above) = places.of(cosine);
        self.at[at] += 1;
        self.of_signals[place] += above;
        self.of_texts[j] += above;
        self.bins[bin(-cosine)] += 1;
    }

    /// Counts a text beside the signal's own.
    #[inline(always)]
    pub(super) fn stand(&mut self, place: usize, own: f64, cosine: f64) {
        self.nearer[place] += u32::from(cosine > own);
        self.as_near[place] += u32::from(cosine == own);
    }

    /// These counts and those of the next signals.
    pub(super) fn with(mut self, next: Counts) -> Self {
        let add = |sums: &mut [u64], terms: &[u64]| sums.iter_mut().zip(terms).for_each(|(s, t)| *s += t);
        add(&mut self.bins, &next.bins);
        add(&mut self.at, &next.at);
        add(&mut self.of_texts, &next.of_texts);
        self.of_signals.extend(next.of_signals);
        self.nearer.extend(next.nearer);
        self.as_near.extend(next.as_near);
        self
    }
}
