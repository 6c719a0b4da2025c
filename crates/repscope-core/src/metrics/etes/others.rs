// SPDX-License-Identifier: MIT
//! Scores of signals against the texts of others.

use super::form::Others;
use super::scores::Part;
use crate::score::Score;
use crate::stats::interval;

impl Part<'_> {
    pub(super) fn against_others(&self) -> Vec<Score> {
        let Some(others) = &self.form.others else {
            return self.nobody_else();
        };
        let mut scores = Vec::from(self.against_shuffled(others));
        scores.extend(self.p_value());
        let matched = &others.matched;
        let over = self.over_all();
        let auc = over.influenced(&self.id(".auc"), matched.auc, &matched.effects);
        scores.push(auc.with_chance(0.5));
        let texts = matched.texts();
        for &k in &self.measured.decoded.spec.etes.k {
            let used = k.min(texts);
            let mut score = over
                .share(&self.id(&format!(".top@{k}")), &matched.hits(used))
                .with_chance(used as f64 / texts as f64);
            score.effective_k = (used < k).then_some(used);
            scores.push(score);
        }
        let mrr = over.mean(&self.id(".mrr"), &matched.reciprocal_ranks(), [0.0, 1.0]);
        scores.push(mrr.with_chance(matched.chance_of_reciprocal()));
        let rank = over.mean(&self.id(".rank"), &matched.ranks(), [1.0, texts as f64]);
        scores.push(rank.with_chance((texts + 1) as f64 / 2.0));
        scores
    }

    fn against_shuffled(&self, others: &Others) -> [Score; 3] {
        let (n, shuffled) = (self.form.energy.len(), others.shuffled);
        let mean = interval::mean(&self.form.energy);
        let z = if shuffled.std > 0.0 {
            Score::number(self.id(".z"), (mean - shuffled.mean) / shuffled.std, n).with_chance(0.0)
        } else {
            self.undefined(".z", "every pairing of signals and texts has the same mean energy")
        };
        [
            Score::number(self.id(".shuffled"), shuffled.mean, n),
            Score::number(self.id(".shuffled.std"), shuffled.std, n),
            z,
        ]
    }

    /// Only for energies as they are.
    fn p_value(&self) -> Option<Score> {
        let p = self.measured.p.filter(|_| self.is_plain())?;
        let draws = self.measured.decoded.spec.etes.permutations;
        let score = Score::number(self.id(".p"), p, self.form.energy.len());
        let note = if p <= 1.0 / (draws + 1) as f64 {
            format!("the least that {draws} random pairings can tell")
        } else {
            format!("of {draws} random pairings")
        };
        Some(score.with_note(note))
    }

    fn is_plain(&self) -> bool {
        self.prefix == "etes"
    }

    /// The same scores without a number.
    fn nobody_else(&self) -> Vec<Score> {
        let why = match self.form.energy.len() {
            0 => self.nobody(),
            n => format!("{n} sample cannot be paired in another way; give at least 2"),
        };
        let spec = &self.measured.decoded.spec.etes;
        let mut names: Vec<String> = [".shuffled", ".shuffled.std", ".z"].map(str::to_string).into();
        if self.is_plain() && spec.permutations > 0 {
            names.push(".p".to_string());
        }
        names.push(".auc".to_string());
        names.extend(spec.k.iter().map(|k| format!(".top@{k}")));
        names.extend([".mrr", ".rank"].map(str::to_string));
        names.iter().map(|name| self.undefined(name, &why)).collect()
    }
}
