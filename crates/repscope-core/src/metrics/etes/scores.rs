// SPDX-License-Identifier: MIT
//! The scores of a system, as it is and centered.

use super::form::Form;
use super::measured::Measured;
use super::sampling::Sampling;
use crate::score::Score;

const ENERGIES: [f64; 2] = [-1.0, 1.0];

/// All scores but those that look at texts.
pub(super) fn all(measured: &Measured) -> Vec<Score> {
    let plain = Part {
        measured,
        form: &measured.plain,
        prefix: "etes",
    };
    let centered = Part {
        measured,
        form: &measured.centered,
        prefix: "etes.centred",
    };
    let mut scores = vec![plain.alignment(), plain.total()];
    scores.extend(plain.against_references());
    scores.push(plain.win_rate());
    scores.extend(plain.distribution());
    scores.extend(plain.against_others());
    scores.push(match measured.modality_gap {
        Some(gap) => Score::number("etes.modality_gap", gap, measured.rows.len()),
        None => plain.undefined(".modality_gap", &plain.nobody()),
    });
    scores.push(centered.alignment());
    scores.extend(centered.against_references());
    scores.extend(centered.against_others());
    scores
}

/// Energies as they are, or centered.
pub(super) struct Part<'a> {
    pub(super) measured: &'a Measured<'a>,
    pub(super) form: &'a Form,
    pub(super) prefix: &'static str,
}

impl Part<'_> {
    pub(super) fn id(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub(super) fn undefined(&self, name: &str, why: &str) -> Score {
        Score::undefined(self.id(name), why, self.form.energy.len())
    }

    /// Why there is no energy at all.
    pub(super) fn nobody(&self) -> String {
        match self.measured.rows.len() {
            0 => "no pair of a signal and a text has a cosine: each has a vector of length zero".to_string(),
            n => format!("of {n} pairs none has a direction left after the mean of each side is subtracted"),
        }
    }

    fn over(&self, places: impl Iterator<Item = usize>) -> Sampling<'_> {
        Sampling::new(self.measured, places)
    }

    pub(super) fn over_all(&self) -> Sampling<'_> {
        self.over(self.form.places.iter().copied())
    }

    fn alignment(&self) -> Score {
        if self.form.energy.is_empty() {
            return self.undefined(".alignment", &self.nobody());
        }
        let score = self
            .over_all()
            .mean(&self.id(".alignment"), &self.form.energy, ENERGIES);
        match &self.form.others {
            Some(others) => score.with_chance(others.shuffled.mean),
            None => score,
        }
    }

    fn total(&self) -> Score {
        if self.form.energy.is_empty() {
            return self.undefined(".total", &self.nobody());
        }
        let any = [f64::NEG_INFINITY, f64::INFINITY];
        let id = self.id(".total");
        match &self.measured.total {
            Some(total) => self.over_all().mean(&id, total, any),
            None => {
                let score = self.over_all().mean(&id, &self.form.energy, ENERGIES);
                score.with_note("no fluency was given: the same as etes.alignment")
            }
        }
    }

    fn against_references(&self) -> [Score; 2] {
        let mean = |name: &str, pairs: Vec<(usize, f64)>, range: [f64; 2]| {
            if let Some(why) = self.why_no_reference(pairs.len()) {
                return self.undefined(name, &why);
            }
            let (places, values): (Vec<usize>, Vec<f64>) = pairs.into_iter().unzip();
            self.over(places.into_iter()).mean(&self.id(name), &values, range)
        };
        [
            mean(".reference", self.form.references(), ENERGIES),
            mean(".gap", self.form.gaps(), [-2.0, 2.0]),
        ]
    }

    /// How often the generated text fits better than the reference; ties count half.
    fn win_rate(&self) -> Score {
        let gaps = self.form.gaps();
        if let Some(why) = self.why_no_reference(gaps.len()) {
            return self.undefined(".win_rate", &why);
        }
        let wins: Vec<f64> = gaps.iter().map(|(_, gap)| won(*gap)).collect();
        let over = self.over(gaps.iter().map(|(place, _)| *place));
        over.share(&self.id(".win_rate"), &wins).with_chance(0.5)
    }

    /// Why nothing can be said of references, of which `known` have an energy.
    fn why_no_reference(&self, known: usize) -> Option<String> {
        match (self.measured.decoded.system.reference.is_some(), known) {
            (false, _) => Some("no reference was given".to_string()),
            (true, 0) if self.form.energy.is_empty() => Some(self.nobody()),
            (true, 0) => Some(format!("of {} references none has a direction", self.form.energy.len())),
            _ => None,
        }
    }

    fn distribution(&self) -> Vec<Score> {
        let energies = &self.form.energy;
        if energies.is_empty() {
            let names = [".std", ".min", ".p10", ".median", ".p90", ".max"];
            return names.map(|name| self.undefined(name, &self.nobody())).into();
        }
        let over = self.over_all();
        let end = |name: &str, value: f64| Score::number(self.id(name), value, energies.len());
        let quantile = |name: &str, q: f64| over.quantile(&self.id(name), energies, q);
        vec![
            over.spread(&self.id(".std"), energies),
            end(".min", energies.iter().copied().fold(f64::INFINITY, f64::min)),
            quantile(".p10", 0.1),
            quantile(".median", 0.5),
            quantile(".p90", 0.9),
            end(".max", energies.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        ]
    }
}

/// 1 where the generated text has less energy than its reference, one half where both have the same.
fn won(gap: f64) -> f64 {
    match gap {
        gap if gap < 0.0 => 1.0,
        gap if gap > 0.0 => 0.0,
        _ => 0.5,
    }
}
