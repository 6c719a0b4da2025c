// SPDX-License-Identifier: MIT
//! The scores of a system, as it is and centered: of the energies, of signals against the texts of others, and of energies against
//! what texts score; with intervals over samples, or over the units that samples belong to.

use super::measured::{Form, Measured, Others};
use super::tables;
use crate::kernels::shuffled::Shuffled;
use crate::metrics::smoothness::quantile;
use crate::score::{Interval, Score};
use crate::stats::interval::{self, Units};
use crate::stats::rank_correlation::spearman;
use crate::texts::TextScores;

const ENERGIES: [f64; 2] = [-1.0, 1.0];

/// All scores but those that look at texts.
pub(super) fn all(measured: &Measured) -> Vec<Score> {
    let part = |form, prefix| Part { measured, form, prefix };
    let (plain, centered) = (part(&measured.plain, "etes"), part(&measured.centered, "etes.centred"));
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
struct Part<'a> {
    measured: &'a Measured<'a>,
    form: &'a Form,
    prefix: &'static str,
}

impl Part<'_> {
    fn id(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn undefined(&self, name: &str, why: &str) -> Score {
        Score::undefined(self.id(name), why, self.form.energy.len())
    }

    /// Why there is no energy at all.
    fn nobody(&self) -> String {
        match self.measured.rows.len() {
            0 => "no pair of a signal and a text has a cosine: each has a vector of length zero".to_string(),
            n => format!("of {n} pairs none has a direction left after the mean of each side is subtracted"),
        }
    }

    fn over_all(&self) -> Sampling<'_> {
        Sampling::new(self.measured, self.form.places.iter().copied())
    }

    /// A score of the energies, where there are any.
    fn of_energies(&self, name: &str, score: impl Fn(&Sampling, &str, &[f64]) -> Score) -> Score {
        match self.form.energy.as_slice() {
            [] => self.undefined(name, &self.nobody()),
            energies => score(&self.over_all(), &self.id(name), energies),
        }
    }

    fn alignment(&self) -> Score {
        let score = self.of_energies(".alignment", |over, id, energies| over.mean(id, energies, ENERGIES));
        let score = match self.reading(&score) {
            Some(reading) => score.with_note(reading),
            None => score,
        };
        match &self.form.others {
            Some(others) => score.with_chance(others.shuffled.mean),
            None => score,
        }
    }

    /// What the bands call the mean energy, beside what they call shuffled pairs: `good alignment (shuffled pairs: fair)`. Bands
    /// are of energies as they are.
    fn reading(&self, score: &Score) -> Option<String> {
        let cuts = &self.measured.decoded.spec.etes.bands;
        let own = tables::band_name(score.value.filter(|_| self.prefix == "etes")?, cuts);
        Some(match &self.form.others {
            Some(others) => {
                let shuffled = tables::band_name(others.shuffled.mean, cuts);
                format!("{own} alignment (shuffled pairs: {shuffled})")
            }
            None => format!("{own} alignment"),
        })
    }

    fn total(&self) -> Score {
        self.of_energies(".total", |over, id, energies| match &self.measured.total {
            Some(total) => {
                let score = over.mean(id, total, [f64::NEG_INFINITY, f64::INFINITY]);
                let weight = self.measured.decoded.spec.etes.fluency_weight;
                let fluency = self.measured.decoded.system.fluency.as_deref().unwrap_or_default();
                let mean = interval::mean(fluency);
                score.with_note(format!(
                    "alignment + {weight} · log-perplexity / 10; mean log-perplexity of the texts {mean:.4}, perplexity {:.2}",
                    mean.exp()
                ))
            }
            None => {
                let score = over.mean(id, energies, ENERGIES);
                score.with_note("no fluency was given: the same as etes.alignment")
            }
        })
    }

    fn against_references(&self) -> [Score; 2] {
        let mean = |name: &str, pairs: Vec<(usize, f64)>, range: [f64; 2]| {
            self.of_pairs(name, pairs, |over, id, values| over.mean(id, &values, range))
        };
        [
            mean(".reference", self.form.references(), ENERGIES),
            mean(".gap", self.form.gaps(), [-2.0, 2.0]),
        ]
    }

    /// How often the generated text fits better than the reference; ties count half.
    fn win_rate(&self) -> Score {
        let won = |gap: f64| match gap {
            gap if gap < 0.0 => 1.0,
            gap if gap > 0.0 => 0.0,
            _ => 0.5,
        };
        self.of_pairs(".win_rate", self.form.gaps(), |over, id, gaps| {
            let wins: Vec<f64> = gaps.into_iter().map(won).collect();
            over.share(id, &wins).with_chance(0.5)
        })
    }

    /// A score of the samples whose reference has an energy, by their places and values; a reason where none has.
    fn of_pairs(
        &self,
        name: &str,
        pairs: Vec<(usize, f64)>,
        score: impl Fn(Sampling, &str, Vec<f64>) -> Score,
    ) -> Score {
        let samples = self.form.energy.len();
        let why = match (self.measured.decoded.system.reference.is_some(), pairs.is_empty()) {
            (true, false) => {
                let (places, values): (Vec<usize>, Vec<f64>) = pairs.into_iter().unzip();
                return score(Sampling::new(self.measured, places.into_iter()), &self.id(name), values);
            }
            (false, _) => "no reference was given".to_string(),
            (true, true) if samples == 0 => self.nobody(),
            (true, true) => format!("of {samples} references none has a direction"),
        };
        self.undefined(name, &why)
    }

    fn distribution(&self) -> Vec<Score> {
        let end = |name: &str, pick: fn(f64, f64) -> f64| {
            self.of_energies(name, |_, id, energies| {
                let end = energies.iter().copied().reduce(pick).unwrap_or(f64::NAN);
                Score::number(id, end, energies.len())
            })
        };
        let quantile = |name: &str, q: f64| self.of_energies(name, |over, id, energies| over.quantile(id, energies, q));
        vec![
            self.of_energies(".std", |over, id, energies| over.spread(id, energies)),
            end(".min", f64::min),
            quantile(".p10", 0.1),
            quantile(".median", 0.5),
            quantile(".p90", 0.9),
            end(".max", f64::max),
        ]
    }

    /// Scores of signals against the texts of others.
    fn against_others(&self) -> Vec<Score> {
        let spec = &self.measured.decoded.spec.etes;
        let (n, over) = (self.form.energy.len(), self.over_all());
        let why = match n {
            0 => self.nobody(),
            n => format!("{n} sample cannot be paired in another way; give at least 2"),
        };
        let score = |name: &str, of: &dyn Fn(&Others, &str) -> Score| match &self.form.others {
            Some(others) => of(others, &self.id(name)),
            None => self.undefined(name, &why),
        };
        let mut scores = vec![
            score(".shuffled", &|others, id| Score::number(id, others.shuffled.mean, n)),
            score(".shuffled.std", &|others, id| Score::number(id, others.shuffled.std, n)),
            score(".z", &|others, id| {
                let Shuffled { mean, std } = others.shuffled;
                if std > 0.0 {
                    Score::number(id, (interval::mean(&self.form.energy) - mean) / std, n).with_chance(0.0)
                } else {
                    self.undefined(".z", "every pairing of signals and texts has the same mean energy")
                }
            }),
        ];
        // Only for energies as they are, and not for groups.
        if self.prefix == "etes" && spec.permutations > 0 {
            match self.measured.p {
                Some(_) if self.measured.decoded.data.units.is_some() => {
                    let why = "pairing single samples at random supposes that they are independent, which those of a group are not";
                    scores.push(self.undefined(".p", why));
                }
                Some(p) => scores.push(p_value(self.id(".p"), p, n, spec.permutations)),
                None if self.form.others.is_none() => scores.push(self.undefined(".p", &why)),
                None => (),
            }
        }
        scores.push(score(".auc", &|Others { matched, .. }, id| {
            over.influenced(id, matched.auc, &matched.effects).with_chance(0.5)
        }));
        for &k in &spec.k {
            scores.push(score(&format!(".top@{k}"), &|Others { matched, .. }, id| {
                let used = k.min(matched.texts());
                let score = over.share(id, &matched.hits(used));
                let effective_k = (used < k).then_some(used);
                Score { effective_k, ..score }.with_chance(used as f64 / matched.texts() as f64)
            }));
        }
        scores.push(score(".mrr", &|Others { matched, .. }, id| {
            let values = matched.reciprocal_ranks();
            let (value, interval) = (
                interval::mean(&values),
                interval::of_mean(&values, over.units(), over.level()),
            );
            let score = over.number(id, value, interval.map(|i| i.on_logit_scale(value, [0.0, 1.0])));
            score.with_chance(matched.chance_of_reciprocal())
        }));
        scores.push(score(".rank", &|Others { matched, .. }, id| {
            let (ranks, range) = (matched.ranks(), [1.0, matched.texts() as f64]);
            let interval = interval::of_mean(&ranks, over.units(), over.level());
            let value = interval::mean(&ranks);
            let interval = interval.map(|i| i.with_skewness(value).within(range[0], range[1]));
            let score = over.number(id, value, interval);
            score.with_chance((matched.texts() + 1) as f64 / 2.0)
        }));
        scores
    }
}

fn p_value(id: String, p: f64, n: usize, draws: usize) -> Score {
    Score::number(id, p, n).with_note(if p <= 1.0 / (draws + 1) as f64 {
        format!("the least that {draws} random pairings can tell")
    } else {
        format!("of {draws} random pairings")
    })
}

/// Some of the measured samples, to be resampled.
struct Sampling<'a> {
    measured: &'a Measured<'a>,
    /// Rows of the data.
    rows: Vec<usize>,
    /// The unit of each, where samples come in units.
    codes: Option<Vec<u32>>,
}

impl<'a> Sampling<'a> {
    /// Samples by their places among those measured.
    fn new(measured: &'a Measured<'a>, places: impl Iterator<Item = usize>) -> Self {
        let rows: Vec<usize> = places.map(|place| measured.rows[place]).collect();
        let units = measured.decoded.data.units.as_deref();
        Sampling {
            codes: units.map(|units| rows.iter().map(|&row| units.codes()[row]).collect()),
            measured,
            rows,
        }
    }

    fn level(&self) -> f64 {
        self.measured.decoded.spec.level
    }

    fn units(&self) -> Units<'_> {
        match (&self.codes, self.measured.decoded.units()) {
            (Some(codes), Units::Groups(_, name)) => Units::Groups(codes, name),
            (_, units) => units,
        }
    }

    /// The mean of a value per sample.
    fn mean(&self, id: &str, values: &[f64], range: [f64; 2]) -> Score {
        let (value, interval) = (
            interval::mean(values),
            interval::of_mean(values, self.units(), self.level()),
        );
        let interval = interval.map(|i| i.with_skewness(value).within(range[0], range[1]));
        self.number(id, value, interval)
    }

    /// The mean of shares; the interval has a width even at 0 and 1.
    fn share(&self, id: &str, values: &[f64]) -> Score {
        let interval = interval::of_share_over(values, self.units(), self.level());
        self.number(id, interval::mean(values), interval)
    }

    /// The `q` quantile by linear interpolation.
    fn quantile(&self, id: &str, values: &[f64], q: f64) -> Score {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let of_share = |shares: &[f64]| interval::of_mean(shares, self.units(), self.level());
        let interval = interval::of_quantile(values, &sorted, q, of_share);
        self.number(id, quantile(&sorted, q), interval)
    }

    /// The standard deviation, n − 1 in the denominator.
    fn spread(&self, id: &str, values: &[f64]) -> Score {
        let n = values.len() as f64;
        if values.len() < 2 {
            return Score::undefined(id, "one sample has no spread", values.len());
        }
        let mean = interval::mean(values);
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let interval = interval::of_spread(values, self.units(), self.level());
        let unbiased = interval.map(|i| i.times((n / (n - 1.0)).sqrt()).within(0.0, f64::INFINITY));
        self.number(id, (squares / (n - 1.0)).sqrt(), unbiased)
    }

    /// A value with what each sample does to it.
    fn influenced(&self, id: &str, value: f64, effects: &[f64]) -> Score {
        let interval = interval::from_rows(value, effects, self.units(), "influence", self.level());
        // Where nothing moves the value an interval would claim too much, but for its bounds, where it gets a width.
        let is_at_bound = value <= 0.0 || value >= 1.0;
        let moved = interval.filter(|i| is_at_bound || i.standard_error.is_some_and(|error| error > 0.0));
        self.number(
            id,
            value,
            moved.map(|i| i.on_logit_scale(value, [0.0, 1.0]).within(0.0, 1.0)),
        )
    }

    fn number(&self, id: &str, value: f64, interval: Option<Interval>) -> Score {
        Score::number(id, value, self.rows.len()).with_interval(interval.map(|i| self.in_place(i)))
    }

    /// Effects of all samples (or units), 0 for those left out here: so systems that leave out others can be compared.
    fn in_place(&self, mut interval: Interval) -> Interval {
        let data = self.measured.decoded.data;
        let Some(effects) = interval.effects.take() else {
            return interval;
        };
        let (all, own) = match (&data.units, &self.codes) {
            (Some(units), Some(codes)) => (distinct(units.codes()), distinct(codes)),
            _ => ((0..data.samples()).collect(), self.rows.clone()),
        };
        let mut own = own.into_iter().zip(effects.iter()).peekable();
        let mut next = |unit: usize| own.next_if(|(other, _)| *other == unit);
        let place = |unit: usize| next(unit).map_or(0.0, |(_, effect)| *effect);
        interval.effects = Some(all.into_iter().map(place).collect());
        interval
    }
}

/// The codes that are there, ascending.
fn distinct(codes: &[u32]) -> Vec<usize> {
    let set: std::collections::BTreeSet<u32> = codes.iter().copied().collect();
    set.into_iter().map(|code| code as usize).collect()
}

/// A correlation of one text.
type OfText = fn(&TextScores) -> Option<f64>;

/// What is correlated with the energy.
const PARTNERS: [(&str, OfText); 4] = [
    ("bleu", |text| text.bleu),
    ("rouge.1", |text| Some(text.overlaps[0].f1)),
    ("rouge.l", |text| Some(text.overlaps[2].f1)),
    ("wer", |text| text.wer),
];

/// Fewer pairs than this always lie on a line.
const FEWEST: usize = 3;

/// The correlations over samples; none without texts and reference texts.
pub(super) fn correlations(measured: &Measured) -> Vec<Score> {
    let Some(texts) = measured.decoded.text_scores() else {
        return Vec::new();
    };
    let mut scores = Vec::new();
    for method in ["spearman", "pearson"] {
        for (name, of_text) in PARTNERS {
            let samples = measured.rows.iter().zip(&measured.plain.energy);
            let pairs = samples.filter_map(|(&row, &energy)| Some((row, (energy, of_text(&texts[row])?))));
            let (rows, pairs): (Vec<usize>, Vec<(f64, f64)>) = pairs.unzip();
            scores.push(correlation(measured, method, name, &rows, &pairs));
        }
    }
    scores
}

fn correlation(measured: &Measured, method: &str, partner: &str, rows: &[usize], pairs: &[(f64, f64)]) -> Score {
    let (n, level) = (pairs.len(), measured.decoded.spec.level);
    let id = format!("etes.{method}(with={partner})");
    let undefined = |why: &str| Score::undefined(&id, why, n);
    if n < FEWEST {
        return undefined(&format!(
            "{n} samples have an energy and a correlation; give at least {FEWEST}"
        ));
    }
    let of = |pairs: &[(f64, f64)]| {
        let (energies, partners): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        match method {
            "spearman" => spearman(&energies, &partners, level).map(|found| (found.value, found.interval)),
            _ => pearson(&energies, &partners).map(|r| {
                let interval = interval::of_correlation(r, n, "samples", level);
                (r, interval.map(|i| [i.low, i.high]))
            }),
        }
    };
    let Some((value, ends)) = of(pairs) else {
        return undefined(&format!("all samples have the same energy or the same {partner}"));
    };
    let interval = match &measured.decoded.data.units {
        Some(units) => {
            let codes: Vec<u32> = rows.iter().map(|&row| units.codes()[row]).collect();
            over_groups(value, pairs, &codes, level, |pairs| Some(of(pairs)?.0))
        }
        None => ends.map(|[low, high]| Interval {
            low,
            high,
            level,
            standard_error: None,
            unit: "samples",
            method: "Fisher z",
            effects: None,
        }),
    };
    let agreement = match partner {
        "wer" => "low energy and few errors are both good: agreement is positive",
        _ => "low energy is good: agreement is negative",
    };
    let score = Score::number(&id, value, n).with_interval(interval);
    score.with_note(agreement)
}

/// The most groups that are left out one by one; of more, several at a time.
const MOST_LEFT_OUT: usize = 100;

/// The jackknife of a correlation over groups, on Fisher's scale.
fn over_groups(
    value: f64,
    pairs: &[(f64, f64)],
    codes: &[u32],
    level: f64,
    of: impl Fn(&[(f64, f64)]) -> Option<f64>,
) -> Option<Interval> {
    let groups = distinct(codes);
    let at_once = groups.len().div_ceil(MOST_LEFT_OUT);
    let without = |some: &[usize]| {
        let is_left = |code: u32| some.binary_search(&(code as usize)).is_err();
        let left = pairs.iter().zip(codes).filter(|(_, code)| is_left(**code));
        of(&left.map(|(pair, _)| *pair).collect::<Vec<_>>()).map(interval::fisher_z)
    };
    let replicates: Option<Vec<f64>> = groups.chunks(at_once).map(without).collect();
    let interval = interval::jackknife(interval::fisher_z(value), &replicates?, "groups", level)?;
    // Blocks of groups are no units that models could be compared by.
    Some(Interval {
        effects: None,
        ..interval.of_tanh(value)
    })
}

/// Pearson's r; none if one of the lists is constant.
fn pearson(x: &[f64], y: &[f64]) -> Option<f64> {
    let (of_x, of_y) = (interval::mean(x), interval::mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (a, b) = (x - of_x, y - of_y);
        (xx, yy, xy) = (xx + a * a, yy + b * b, xy + a * b);
    }
    let is_constant = |values: &[f64]| values.iter().all(|v| *v == values[0]);
    if is_constant(x) || is_constant(y) {
        return None;
    }
    Some((xy / (xx * yy).sqrt()).clamp(-1.0, 1.0)).filter(|r| r.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pearsons_r_is_that_of_a_hand_calculation() {
        // Deviations −1, 0, 1 and −1, −1, 2: 3 / √(2 · 6).
        let r = pearson(&[1.0, 2.0, 3.0], &[4.0, 4.0, 7.0]).unwrap();
        assert!((r - 3.0 / 12f64.sqrt()).abs() < 1e-15);
        assert_eq!(pearson(&[0.1, 0.1, 0.1], &[1.0, 2.0, 3.0]), None);
    }
}
