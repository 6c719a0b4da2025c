// SPDX-License-Identifier: MIT
//! Perturbation impact score: how much accuracy is lost for each part that is perturbed. See the page.

use super::accuracy::share;
use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::PerturbedSet;
use crate::perturb::{Judged, Perturbed, Tally};
use crate::score::{Breakdown, Interval, Score};
use crate::stats::interval::{self, Changes, Units, normal_two_sided, t_two_sided};

pub(super) static METRIC: Metric = Metric {
    id: "pis",
    title: "Perturbation impact score",
    // A larger score means a more sensitive model: neither good nor bad by itself.
    outputs: &[
        Output::neither("pis.HEAD@SET", "-100/percent to 100/percent")
            .about("accuracy lost, divided by the share that was meant to be perturbed"),
        Output::neither("pis.HEAD(f=lit)@SET", "any number")
            .about("the same, divided by the share of lit pixels that was masked"),
        Output::neither("pis.HEAD(f=all)@SET", "any number")
            .about("the same, divided by the share of all pixels that was masked"),
        Output::neither("pis.HEAD.drop@SET", "-1 to 1").about("accuracy without less accuracy with perturbation"),
        Output::neither("pis.HEAD.relative@SET", "1 and below")
            .about("the same, divided by the accuracy without perturbation"),
        Output::neither("pis.HEAD.p@SET", "0 to 1")
            .about("McNemar's p-value: could as many samples get worse as get better?"),
        Output::neither("pis.HEAD.mean@FAMILY", "any number").about("mean of the scores over all strengths"),
        Output::neither("pis.HEAD.aopc@FAMILY", "-1 to 1")
            .about("mean over all strengths, 0 included, of the accuracy lost"),
        Output::neither("pis.HEAD.deletion@FAMILY", "0 to 1").about("mean accuracy from strength 0 to the largest"),
    ],
    page: include_str!("pis.md"),
    invariances: &[Invariance::RowOrder],
    ..Metric::of(Analysis::Perturb, &[Takes::Predictions], Work::Perturbation { compute })
};

/// One head and one set.
struct Impact<'a> {
    judged: &'a Judged<'a>,
    set: &'a PerturbedSet,
    tally: Tally,
    level: f64,
    units: Units<'a>,
    /// Of the accuracy that is lost.
    interval: Option<Interval>,
    p: f64,
}

fn compute(perturbed: &Perturbed) -> Results {
    let mut answer = Results::default();
    let mut impacts = Vec::new();
    for judged in &perturbed.judged {
        for (set, right) in perturbed.data.sets.iter().zip(&judged.sets) {
            let (units, level) = (perturbed.units(), perturbed.spec.level);
            let tally = Tally::of(&judged.baseline, right);
            let interval = interval::of_paired_shares(&judged.baseline, right, units, level);
            let impact = Impact {
                judged,
                set,
                tally,
                level,
                units,
                p: p_of(&tally, interval.as_ref(), units),
                interval,
            };
            answer.scores.extend(impact.scores(right));
            answer.breakdowns.push(by_class(perturbed, &impact, right));
            impacts.push(impact);
        }
        answer.scores.extend(of_families(perturbed, judged));
    }
    answer.breakdowns.insert(0, summary(&impacts));
    answer.warnings = warnings(perturbed);
    answer
}

impl Impact<'_> {
    fn scores(&self, right: &[bool]) -> Vec<Score> {
        let drop = self.tally.drop();
        let interval = self.interval.clone();
        let number = |part: &str, value: f64, interval: Option<Interval>| {
            Score::number(self.id(part), value, self.tally.n).with_interval(interval)
        };
        let nominal = self.set.percent / 100.0;
        let mut scores = vec![number(
            "",
            drop / nominal,
            interval.clone().map(|i| i.times(1.0 / nominal)),
        )];
        for (part, share) in [("(f=lit)", self.set.masked_lit), ("(f=all)", self.set.masked_all)] {
            scores.push(match share {
                Some(share) if share > 0.0 => {
                    number(part, drop / share, interval.clone().map(|i| i.times(1.0 / share)))
                }
                Some(_) => self.undefined(part, "no pixel was masked"),
                None => self.undefined(part, "the share of pixels that was masked is not known"),
            });
        }
        scores.push(number(".drop", drop, interval));
        scores.push(match self.relative(right) {
            Some((value, interval)) => number(".relative", value, interval),
            None => self.undefined(
                ".relative",
                "no sample is right without perturbation, so nothing can be lost",
            ),
        });
        let p = number(".p", self.p, None);
        scores.push(match (self.units, p.value) {
            (Units::Groups(..), _) => {
                p.with_note("Student's t over groups: McNemar's test supposes independent samples")
            }
            (_, Some(0.0)) => p.with_note("below 1e-300"),
            _ => p,
        });
        scores
    }

    /// `pis.modulation.drop@top1`.
    fn id(&self, part: &str) -> String {
        format!("pis.{}{part}@{}", self.judged.name, self.set.name)
    }

    fn undefined(&self, part: &str, reason: &str) -> Score {
        Score::undefined(self.id(part), reason, self.tally.n)
    }

    /// The share of the accuracy that is lost, with the score interval of a ratio of paired shares; over groups it is Student's t
    /// over what they do to the ratio.
    fn relative(&self, right: &[bool]) -> Option<(f64, Option<Interval>)> {
        let Tally { n, both, lost, gained } = self.tally;
        if both + lost == 0 {
            return None;
        }
        let counted = Changes {
            n: n as f64,
            both: both as f64,
            lost: lost as f64,
            gained: gained as f64,
        };
        let before = counted.both + counted.lost;
        let value = (counted.lost - counted.gained) / before;
        let number = |is_right: bool| f64::from(u8::from(is_right));
        let of_sample = |(&before, &after): (&bool, &bool)| number(before) * (1.0 - value) - number(after);
        let effects = self.judged.baseline.iter().zip(right).map(of_sample);
        let effects: Vec<f64> = effects.map(|e| e / before).collect();
        if let Units::Groups(..) = self.units {
            let over_groups = interval::from_rows(value, &effects, self.units, "delta", self.level);
            // Where no group differs from the others nothing is known of their spread.
            return Some((value, over_groups.filter(|i| i.high > i.low)));
        }
        let [low, high] = counted.ratio(interval::normal_quantile(0.5 + self.level / 2.0));
        let interval = Interval {
            low: 1.0 - high,
            high: 1.0 - low,
            level: self.level,
            standard_error: Some(effects.iter().map(|e| e * e).sum::<f64>().sqrt()),
            unit: "samples",
            method: "Nam-Blackwelder",
            effects: Some(effects.into()),
        };
        Some((value, Some(interval)))
    }
}

/// McNemar's p-value, or that of Student's t over groups, whose samples are not independent.
fn p_of(tally: &Tally, interval: Option<&Interval>, units: Units) -> f64 {
    let over_groups = || {
        let interval = interval?;
        let groups = interval.effects.as_ref()?.len() as f64;
        let error = interval.standard_error.filter(|error| *error > 0.0)?;
        Some(t_two_sided(tally.drop() / error, groups - 1.0))
    };
    match units {
        Units::Single(_) => p_value(tally.lost, tally.gained),
        Units::Groups(..) => over_groups().unwrap_or(1.0),
    }
}

/// Mean, AOPC and deletion area of each family, in the order in which families appear.
fn of_families(perturbed: &Perturbed, judged: &Judged) -> Vec<Score> {
    let sets = &perturbed.data.sets;
    let mut families: Vec<&str> = Vec::new();
    for set in sets {
        if !families.contains(&set.family.as_str()) {
            families.push(&set.family);
        }
    }
    let mut of_families = Vec::new();
    for family in families {
        let mut members: Vec<usize> = (0..sets.len()).filter(|&i| sets[i].family == family).collect();
        members.sort_by(|&a, &b| sets[a].percent.total_cmp(&sets[b].percent));
        let ordered: Vec<&PerturbedSet> = members.iter().map(|&i| &sets[i]).collect();
        let right: Vec<&[bool]> = members.iter().map(|&i| judged.sets[i].as_slice()).collect();
        for pooled in Pooled::all(&ordered) {
            let id = format!("pis.{}.{}@{family}", judged.name, pooled.part);
            let score = Score::number(id, pooled.value(&judged.baseline, &right), judged.baseline.len());
            of_families.push(score.with_interval(pooled.interval(perturbed, &judged.baseline, &right)));
        }
    }
    of_families
}

/// One number for all strengths: some part of the accuracy without perturbation, and a weight for what each strength loses. Losses
/// are counted before they are weighted, so that a family that loses nothing has exactly 0, or exactly that accuracy.
struct Pooled {
    part: &'static str,
    start: f64,
    weights: Vec<f64>,
}

impl Pooled {
    fn all(sets: &[&PerturbedSet]) -> [Pooled; 3] {
        let count = sets.len() as f64;
        let weight = |set: &&PerturbedSet| 100.0 / set.percent / count;
        [
            // The mean over strengths of the accuracy lost divided by the share.
            Pooled {
                part: "mean",
                start: 0.0,
                weights: sets.iter().map(weight).collect(),
            },
            // The mean over strengths of the accuracy lost; strength 0, where nothing is lost, counts too.
            Pooled {
                part: "aopc",
                start: 0.0,
                weights: vec![1.0 / (count + 1.0); sets.len()],
            },
            Pooled {
                part: "deletion",
                start: 1.0,
                weights: of_deletion(sets),
            },
        ]
    }

    fn value(&self, baseline: &[bool], right: &[&[bool]]) -> f64 {
        let mut lost = 0.0;
        let mut start = 0;
        for (right, weight) in right.iter().zip(&self.weights) {
            let tally = Tally::of(baseline, right);
            lost += weight * (tally.lost as f64 - tally.gained as f64);
            start = tally.both + tally.lost;
        }
        let n = baseline.len() as f64;
        self.start * (start as f64 / n) + lost / n
    }

    /// What each sample contributes.
    fn of_samples(&self, baseline: &[bool], right: &[&[bool]]) -> Vec<f64> {
        let number = |is_right: bool| f64::from(u8::from(is_right));
        let of = |(sample, &before): (usize, &bool)| {
            let losses = right.iter().zip(&self.weights);
            let losses = losses.map(|(right, weight)| weight * (number(before) - number(right[sample])));
            self.start * number(before) + losses.sum::<f64>()
        };
        baseline.iter().enumerate().map(of).collect()
    }

    /// Student's t over samples. If all contribute the same, that has no width and would claim too much: then the intervals of the
    /// strengths are put together as if all moved at once.
    fn interval(&self, perturbed: &Perturbed, baseline: &[bool], right: &[&[bool]]) -> Option<Interval> {
        let (units, level) = (perturbed.units(), perturbed.spec.level);
        let value = self.value(baseline, right);
        let values = self.of_samples(baseline, right);
        let over_samples = interval::of_mean(&values, units, level);
        if let Some(spread) = over_samples.clone().filter(|i| i.high > i.low) {
            // Both ends belong to the value that was counted.
            let shift = value - interval::mean(&values);
            return Some(Interval {
                low: spread.low + shift,
                high: spread.high + shift,
                ..spread
            });
        }
        let mut whole = perturbed.of_share(baseline)?;
        (whole.low, whole.high) = (self.start * whole.low, self.start * whole.high);
        if self.start == 0.0 {
            let mut ends = (0.0, 0.0);
            for (right, weight) in right.iter().zip(&self.weights) {
                let of_set = interval::of_paired_shares(baseline, right, units, level)?;
                ends = (ends.0 + weight * of_set.low, ends.1 + weight * of_set.high);
                whole = of_set;
            }
            (whole.low, whole.high) = ends;
        }
        // Comparisons are made of what each sample contributes.
        (whole.effects, whole.standard_error) = over_samples.map_or((None, None), |i| (i.effects, i.standard_error));
        Some(whole)
    }
}

/// The area under the accuracy by trapezoids from strength 0 to the largest, divided by the largest: less what each strength loses.
fn of_deletion(sets: &[&PerturbedSet]) -> Vec<f64> {
    let mut strengths = vec![0.0];
    strengths.extend(sets.iter().map(|set| set.percent));
    let last = strengths[sets.len()];
    let mut weights = vec![0.0; strengths.len()];
    for (i, pair) in strengths.windows(2).enumerate() {
        let half = (pair[1] - pair[0]) / last / 2.0;
        weights[i] -= half;
        weights[i + 1] -= half;
    }
    weights.split_off(1)
}

/// Up to this many changes the binomial law is summed; 2⁻¹⁰⁰⁰ still is a number.
const EXACT: usize = 1000;

/// The two-sided p-value: twice the binomial tail, or for many changes the corrected normal law (Edwards 1948).
fn p_value(lost: usize, gained: usize) -> f64 {
    let (changes, fewer) = (lost + gained, lost.min(gained));
    if changes > EXACT {
        let beyond = (lost.abs_diff(gained) as f64 - 1.0).max(0.0);
        return normal_two_sided(beyond / (changes as f64).sqrt());
    }
    let mut term = 0.5f64.powi(changes as i32);
    let mut tail = term;
    for k in 0..fewer {
        term *= (changes - k) as f64 / (k + 1) as f64;
        tail += term;
    }
    (2.0 * tail).min(1.0)
}

/// A share of masked pixels farther than this from the nominal one, as a part of it, is reported.
const FAR: f64 = 0.5;

fn warnings(perturbed: &Perturbed) -> Vec<String> {
    let mut warnings = Vec::new();
    if perturbed.data.sets.is_empty() {
        warnings.push("no perturbed set was given, so there is no perturbation impact score".to_string());
    }
    for judged in &perturbed.judged {
        warnings.extend(saturation(judged, perturbed));
    }
    warnings.extend(other_shares(perturbed));
    warnings
}

/// Accuracy that is at chance has nothing left to lose.
fn saturation(judged: &Judged, perturbed: &Perturbed) -> Option<String> {
    let is_at_chance = |right: &[bool]| {
        perturbed
            .of_share(right)
            .is_some_and(|interval| interval.low <= judged.chance)
    };
    let (name, chance) = (judged.name, 100.0 * judged.chance);
    if is_at_chance(&judged.baseline) {
        return Some(format!(
            "{name}: accuracy without perturbation is {:.2} %, at chance ({chance:.2} %, the most frequent class); perturbation \
             cannot lower it, and its impact says nothing",
            100.0 * share(&judged.baseline)
        ));
    }
    let sets = perturbed.data.sets.iter().zip(&judged.sets);
    let lowest = sets.filter(|(_, right)| is_at_chance(right));
    let lowest: Vec<String> = lowest.map(|(set, right)| in_percent(&set.name, share(right))).collect();
    (!lowest.is_empty()).then(|| {
        format!(
            "{name}: accuracy is at chance ({chance:.2} %, the most frequent class) in {} of {} sets, and more masking cannot \
             lower it: {}",
            lowest.len(),
            judged.sets.len(),
            lowest.join(", ")
        )
    })
}

/// `top1 (12.50 %)`.
fn in_percent(name: &str, share: f64) -> String {
    format!("{name} ({:.2} %)", 100.0 * share)
}

/// Masks by threshold take more than their percentage where pixels are equal.
fn other_shares(perturbed: &Perturbed) -> Option<String> {
    let sets = &perturbed.data.sets;
    let known = sets.iter().filter_map(|set| Some((set, set.masked_lit?)));
    let far = known.filter(|(set, masked)| (100.0 * masked / set.percent - 1.0).abs() > FAR);
    let far: Vec<String> = far.map(|(set, masked)| in_percent(&set.name, masked)).collect();
    (!far.is_empty()).then(|| {
        format!(
            "{} of {} sets masked another share of the lit pixels than their percentage says: {}; pis divides by the percentage, \
             pis(f=lit) by what was masked",
            far.len(),
            sets.len(),
            far.join(", ")
        )
    })
}

/// All heads and sets.
fn summary(impacts: &[Impact]) -> Breakdown {
    let nominal = |i: &Impact| i.set.percent / 100.0;
    let end = |i: &Impact, which: usize| {
        let interval = i.interval.as_ref()?;
        Some([interval.low, interval.high][which] / nominal(i))
    };
    Breakdown::of("pis", impacts)
        .key("head", |i| i.judged.name.to_string())
        .key("family", |i| i.set.family.clone())
        .key("set", |i| i.set.name.clone())
        .column("percent", |i| Some(i.set.percent))
        .column("masked_lit", |i| i.set.masked_lit)
        .column("masked_all", |i| i.set.masked_all)
        .column("samples", |i| Some(i.tally.n as f64))
        .column("baseline", |i| Some(i.tally.accuracy_before()))
        .column("accuracy", |i| Some(i.tally.accuracy_after()))
        .column("lost", |i| Some(i.tally.lost as f64))
        .column("gained", |i| Some(i.tally.gained as f64))
        .column("drop", |i| Some(i.tally.drop()))
        .column("relative", |i| i.tally.relative())
        .column("pis", |i| Some(i.tally.drop() / nominal(i)))
        .column("pis_low", |i| end(i, 0))
        .column("pis_high", |i| end(i, 1))
        .column("pis_lit", |i| Some(i.tally.drop() / i.set.masked_lit?))
        .column("pis_all", |i| Some(i.tally.drop() / i.set.masked_all?))
        .column("p", |i| Some(i.p))
        .table
}

/// The samples of each class of each head by themselves.
fn by_class(perturbed: &Perturbed, impact: &Impact, right: &[bool]) -> Breakdown {
    let mut lines: Vec<(&str, &str, Tally, Option<Interval>, f64)> = Vec::new();
    for head in &perturbed.data.heads {
        for (code, class) in (0u32..).zip(&head.classes) {
            let members: Vec<usize> = (0..right.len()).filter(|&i| head.labels[i] == code).collect();
            let [before, after] = [&impact.judged.baseline[..], right]
                .map(|right| members.iter().map(|&i| right[i]).collect::<Vec<bool>>());
            let codes: Vec<u32>;
            let units = match impact.units {
                Units::Groups(all, name) => {
                    codes = members.iter().map(|&i| all[i]).collect();
                    Units::Groups(&codes, name)
                }
                single => single,
            };
            let tally = Tally::of(&before, &after);
            let interval = interval::of_paired_shares(&before, &after, units, impact.level);
            let p = p_of(&tally, interval.as_ref(), units);
            lines.push((head.name.as_str(), class.as_str(), tally, interval, p));
        }
    }
    let share = impact.set.percent / 100.0;
    // Without samples the ratios are not finite, so there are none.
    Breakdown::of(impact.id(""), &lines)
        .key("head", |line| line.0.to_string())
        .key("class", |line| line.1.to_string())
        .column("samples", |(_, _, t, ..)| Some(t.n as f64))
        .column("baseline", |(_, _, t, ..)| Some(t.accuracy_before()))
        .column("accuracy", |(_, _, t, ..)| Some(t.accuracy_after()))
        .column("drop", |(_, _, t, ..)| Some(t.drop()))
        .column("pis", |(_, _, t, ..)| Some(t.drop() / share))
        .column("pis_low", |(_, _, _, interval, _)| Some(interval.as_ref()?.low / share))
        .column("pis_high", |(_, _, _, interval, _)| {
            Some(interval.as_ref()?.high / share)
        })
        .column("p", |(_, _, t, _, p)| (t.n > 0).then_some(*p))
        .table
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: scipy 1.17.1, `binomtest(lost, lost + gained).pvalue`; for more than 1,000 changes
    // `chi2.sf((abs(lost - gained) - 1) ** 2 / (lost + gained), 1)`.
    #[test]
    fn p_values_equal_those_of_scipy() {
        for (lost, gained, expected) in [
            (1, 0, 1.0),
            (5, 1, 0.21875),
            (10, 3, 0.09228515625),
            (30, 12, 0.007915897334896727),
            (600, 400, 2.728464156065947e-10),
            (990, 10, 4.9666775829792705e-278),
            (1000, 0, 1.8665272370064378e-301),
            (700, 400, 1.965309225766758e-19),
            (520, 481, 0.22972593862573237),
            (3000, 2000, 2.5531576493095586e-45),
        ] {
            let p = p_value(lost, gained);
            assert!(
                (p / expected - 1.0).abs() < 1e-10,
                "{lost} {gained}: {p:e} {expected:e}"
            );
            assert_eq!(p, p_value(gained, lost));
        }
    }

    fn set(percent: f64) -> PerturbedSet {
        PerturbedSet {
            name: format!("top{percent}"),
            family: "top".to_string(),
            percent,
            predictions: Vec::new(),
            masked_lit: None,
            masked_all: None,
        }
    }

    #[test]
    fn a_family_that_loses_nothing_has_exact_numbers() {
        let sets: Vec<PerturbedSet> = [1.0, 2.0, 3.0, 4.0, 5.0].map(set).to_vec();
        let sets: Vec<&PerturbedSet> = sets.iter().collect();
        let [mean, aopc, deletion] = Pooled::all(&sets);
        for count in [7, 41, 1000] {
            let all = vec![true; count];
            let same = vec![all.as_slice(); 5];
            assert_eq!((mean.value(&all, &same), aopc.value(&all, &same)), (0.0, 0.0));
            assert_eq!(deletion.value(&all, &same), 1.0);
            // As many gained as lost, in each strength by other samples.
            let some: Vec<bool> = (0..count).map(|i| i % 3 > 0).collect();
            let turned: Vec<Vec<bool>> = (1..6).map(|by| [&some[by..], &some[..by]].concat()).collect();
            let turned: Vec<&[bool]> = turned.iter().map(Vec::as_slice).collect();
            assert_eq!((mean.value(&some, &turned), aopc.value(&some, &turned)), (0.0, 0.0));
            let right = some.iter().filter(|right| **right).count();
            assert_eq!(deletion.value(&some, &turned), right as f64 / count as f64);
        }
    }

    #[test]
    fn pooled_numbers_are_those_of_a_hand_calculation() {
        // 4 of 5 right, then 3 at 1 % and 1 at 5 %: lost 0.2 and 0.6.
        let sets = [set(1.0), set(5.0)];
        let sets: Vec<&PerturbedSet> = sets.iter().collect();
        let before = [true, true, true, true, false];
        let after: [&[bool]; 2] = [&[true, true, true, false, false], &[false, false, false, false, true]];
        let [mean, aopc, deletion] = Pooled::all(&sets);
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        // (0.2 / 0.01 + 0.6 / 0.05) / 2, (0.2 + 0.6) / 3, ((0.8 + 0.6) / 2 + 4 (0.6 + 0.2) / 2) / 5.
        near(mean.value(&before, &after), 16.0);
        near(aopc.value(&before, &after), 0.8 / 3.0);
        near(deletion.value(&before, &after), 0.46);
        for pooled in [mean, aopc, deletion] {
            near(
                interval::mean(&pooled.of_samples(&before, &after)),
                pooled.value(&before, &after),
            );
        }
    }

    #[test]
    fn no_change_and_equal_changes_tell_nothing() {
        for changes in [0, 1, 500, 501, 100_000] {
            assert_eq!(p_value(changes, changes), 1.0);
        }
    }
}
