// SPDX-License-Identifier: MIT
//! From the predictions of a classifier, without and with perturbation, to its scores.

use crate::data::{COMBINED, Head, Perturbation};
use crate::error::Result;
use crate::metrics::{Metric, Work};
use crate::results::Results;
use crate::run::Driver;
use crate::score::Interval;
use crate::spec::Spec;
use crate::stats::interval::{self, Units};

/// Which samples are right, without and with perturbation.
pub(crate) struct Perturbed<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) data: &'a Perturbation,
    /// The heads, and behind several of them all together.
    pub(crate) judged: Vec<Judged<'a>>,
}

/// A head, or all of them together.
pub(crate) struct Judged<'a> {
    pub(crate) name: &'a str,
    /// Whether each sample is right, without perturbation and in each set.
    pub(crate) baseline: Vec<bool>,
    pub(crate) sets: Vec<Vec<bool>>,
    /// What one gets who always says the most frequent class (or combination of classes).
    pub(crate) chance: f64,
}

/// How often samples are right without perturbation (`both`, `lost`) and with it (`both`, `gained`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) n: usize,
    pub(crate) both: usize,
    pub(crate) lost: usize,
    pub(crate) gained: usize,
}

impl Tally {
    pub(crate) fn of(before: &[bool], after: &[bool]) -> Self {
        let mut tally = Tally::default();
        before.iter().zip(after).for_each(|(&b, &a)| tally.add(b, a));
        tally
    }

    pub(crate) fn add(&mut self, before: bool, after: bool) {
        self.n += 1;
        self.both += usize::from(before && after);
        self.lost += usize::from(before && !after);
        self.gained += usize::from(!before && after);
    }

    pub(crate) fn accuracy_before(&self) -> f64 {
        (self.both + self.lost) as f64 / self.n as f64
    }

    pub(crate) fn accuracy_after(&self) -> f64 {
        (self.both + self.gained) as f64 / self.n as f64
    }

    /// The share of the accuracy that is lost; none where there is none to lose.
    pub(crate) fn relative(&self) -> Option<f64> {
        let before = self.both + self.lost;
        (before > 0).then(|| (self.lost as f64 - self.gained as f64) / before as f64)
    }

    /// By how much the accuracy falls.
    pub(crate) fn drop(&self) -> f64 {
        (self.lost as f64 - self.gained as f64) / self.n as f64
    }
}

impl<'a> Perturbed<'a> {
    /// What samples are resampled over.
    pub(crate) fn units(&self) -> Units<'a> {
        match &self.data.groups {
            Some(groups) => Units::Groups(groups.codes(), "groups"),
            None => Units::Single("samples"),
        }
    }

    /// The interval of a share of all samples.
    pub(crate) fn of_share(&self, right: &[bool]) -> Option<Interval> {
        let values: Vec<f64> = right.iter().map(|&is_right| f64::from(u8::from(is_right))).collect();
        let interval = interval::of_share_over(&values, self.units(), self.spec.level)?;
        Some(match self.units() {
            // The usual error of a proportion divides by n.
            Units::Single(_) => {
                let n = right.len() as f64;
                interval.with_error_times(((n - 1.0) / n).sqrt())
            }
            Units::Groups(..) => interval,
        })
    }
}

/// Computes the metrics for the predictions of a model. All problems of the input are found before any work.
pub fn perturb(model: &str, data: &Perturbation, metrics: &[&Metric], spec: &Spec, driver: &Driver) -> Result<Results> {
    spec.check()?;
    data.check()?;
    let mut computes = Vec::new();
    for metric in metrics {
        let Work::Perturbation { compute } = metric.work else {
            return Err(metric.is_not("a score of perturbed predictions"));
        };
        computes.push(compute);
    }
    let perturbed = Perturbed {
        spec,
        data,
        judged: judge(data, driver),
    };
    let mut results = Results::default();
    for answer in driver.map(computes.len(), |place| computes[place](&perturbed)) {
        results.absorb(answer.of_model(model));
    }
    Ok(results)
}

fn judge<'a>(data: &'a Perturbation, driver: &Driver) -> Vec<Judged<'a>> {
    let is_right = |head: &Head, said: &[u32]| head.labels.iter().zip(said).map(|(a, b)| a == b).collect();
    let mut judged: Vec<Judged> = Vec::new();
    for (place, head) in data.heads.iter().enumerate() {
        judged.push(Judged {
            name: &head.name,
            baseline: is_right(head, &head.baseline),
            sets: driver.map(data.sets.len(), |set| {
                is_right(head, &data.sets[set].predictions[place])
            }),
            chance: largest_share(&[&head.labels]),
        });
    }
    if judged.len() > 1 {
        let all = |heads: Vec<&Vec<bool>>| -> Vec<bool> {
            let samples = 0..data.samples();
            samples.map(|i| heads.iter().all(|right| right[i])).collect()
        };
        let labels: Vec<&Vec<u32>> = data.heads.iter().map(|head| &head.labels).collect();
        let of_set = |set: usize| all(judged.iter().map(|head| &head.sets[set]).collect());
        let combined = Judged {
            name: COMBINED,
            baseline: all(judged.iter().map(|head| &head.baseline).collect()),
            sets: (0..data.sets.len()).map(of_set).collect(),
            chance: largest_share(&labels),
        };
        judged.push(combined);
    }
    judged
}

/// The share of the most frequent combination of labels.
fn largest_share(labels: &[&Vec<u32>]) -> f64 {
    let mut groups: Vec<u64> = labels[0].iter().copied().map(u64::from).collect();
    for codes in &labels[1..] {
        // Groups are numbered anew for each head, so that any number of heads fits.
        let mut known = groups.clone();
        known.sort_unstable();
        known.dedup();
        let number = |group: &u64| known.partition_point(|other| other < group) as u64;
        let pairs = groups.iter().zip(*codes);
        groups = pairs.map(|(g, &c)| number(g) << 32 | u64::from(c)).collect();
    }
    groups.sort_unstable();
    let largest = groups.chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0);
    largest as f64 / groups.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Takes;
    use crate::metrics::Analysis;
    use crate::run::Order;

    #[test]
    fn an_answer_keeps_its_curves_samples_and_warnings() {
        let compute = |_: &Perturbed| crate::results::probe();
        let metric = Metric {
            id: "probe",
            title: "Probe",
            analysis: Analysis::Perturb,
            outputs: &[],
            page: "",
            invariances: &[],
            takes: &[Takes::Predictions],
            options: &[],
            work: Work::Perturbation { compute },
        };
        let data = Perturbation {
            heads: vec![Head {
                name: "head".to_string(),
                classes: vec!["a".to_string(), "b".to_string()],
                labels: vec![0, 1],
                baseline: vec![0, 1],
            }],
            sets: Vec::new(),
            groups: None,
        };
        let driver = Driver::silent(Order::Serial);
        let results = perturb("m", &data, &[&metric], &Spec::default(), &driver).expect("valid");
        assert_eq!((results.curves.len(), results.samples.len()), (1, 1));
        assert!(results.curves[0].model == "m" && results.samples[0].model == "m");
        assert_eq!(results.warnings, ["look here"]);
    }

    #[test]
    fn the_most_frequent_combination_is_counted_over_all_heads() {
        let (a, b) = (vec![0, 0, 0, 1, 1], vec![2, 1, 0, 2, 2]);
        assert_eq!(largest_share(&[&a]), 0.6);
        // (1, 2) twice; the largest classes 0 and 2 meet once.
        assert_eq!(largest_share(&[&a, &b]), 0.4);
    }

    #[test]
    fn a_tally_tells_accuracies_and_their_difference() {
        let tally = Tally::of(&[true, true, true, false, false], &[true, false, false, true, false]);
        assert_eq!((tally.n, tally.both, tally.lost, tally.gained), (5, 1, 2, 1));
        assert_eq!(
            (tally.accuracy_before(), tally.accuracy_after(), tally.drop()),
            (0.6, 0.4, 0.2)
        );
    }
}
