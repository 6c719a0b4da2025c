// SPDX-License-Identifier: MIT
//! Accuracy of a classifier, without and with perturbation. See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::{BASELINE, Head};
use crate::perturb::{Judged, Perturbed};
use crate::score::{Breakdown, Score};

pub(super) static METRIC: Metric = Metric {
    id: "accuracy",
    title: "Accuracy",
    outputs: &[Output::higher("accuracy.HEAD@SET", "0 to 1")
        .about("share of samples whose class is predicted; for combined, those of all heads")],
    page: include_str!("accuracy.md"),
    invariances: &[Invariance::RowOrder],
    ..Metric::of(Analysis::Perturb, &[Takes::Predictions], Work::Perturbation { compute })
};

/// So many names of classes stand in a warning.
const MOST_NAMES: usize = 10;

fn compute(perturbed: &Perturbed) -> Results {
    let mut answer = Results::default();
    let names = || perturbed.data.sets.iter().map(|set| set.name.as_str());
    for judged in &perturbed.judged {
        answer.scores.push(score(judged, BASELINE, &judged.baseline, perturbed));
        for (name, right) in names().zip(&judged.sets) {
            answer.scores.push(score(judged, name, right, perturbed));
        }
    }
    for (place, head) in perturbed.data.heads.iter().enumerate() {
        let said = perturbed.data.sets.iter().map(|set| &set.predictions[place]);
        for (name, said) in std::iter::once((BASELINE, &head.baseline)).chain(names().zip(said)) {
            answer.breakdowns.push(by_class(head, name, said));
            answer.breakdowns.push(confusion(head, name, said));
        }
        answer.warnings.extend(empty_classes(head));
    }
    answer
}

fn score(judged: &Judged, set: &str, right: &[bool], perturbed: &Perturbed) -> Score {
    let n = right.len();
    let value = share(right);
    Score::number(format!("accuracy.{}@{set}", judged.name), value, n)
        .with_interval(perturbed.of_share(right))
        .with_chance(judged.chance)
}

pub(super) fn share(right: &[bool]) -> f64 {
    right.iter().filter(|is_right| **is_right).count() as f64 / right.len() as f64
}

/// Precision, recall and F1 of each class. A ratio without denominator does not exist.
fn by_class(head: &Head, set: &str, said: &[u32]) -> Breakdown {
    let count = |codes: &mut dyn Iterator<Item = u32>| {
        let mut counts = vec![0usize; head.classes.len()];
        codes.for_each(|code| counts[code as usize] += 1);
        counts
    };
    let support = count(&mut head.labels.iter().copied());
    let predicted = count(&mut said.iter().copied());
    let both = head.labels.iter().zip(said).filter(|(label, said)| label == said);
    let right = count(&mut both.map(|(label, _)| *label));
    let ratio = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    let classes: Vec<usize> = (0..head.classes.len()).collect();
    Breakdown::of(format!("accuracy.{}@{set}", head.name), &classes)
        .key("class", |&c| head.classes[c].clone())
        .column("support", |&c| Some(support[c] as f64))
        .column("predicted", |&c| Some(predicted[c] as f64))
        .column("right", |&c| Some(right[c] as f64))
        .column("precision", |&c| ratio(right[c], predicted[c]))
        .column("recall", |&c| ratio(right[c], support[c]))
        .column("f1", |&c| ratio(2 * right[c], support[c] + predicted[c]))
        .table
}

/// How often each class is taken for which. Pairs that never occur are left out.
fn confusion(head: &Head, set: &str, said: &[u32]) -> Breakdown {
    let mut of_class = vec![0usize; head.classes.len()];
    head.labels.iter().for_each(|&label| of_class[label as usize] += 1);
    let mut pairs: Vec<(u32, u32)> = head.labels.iter().copied().zip(said.iter().copied()).collect();
    pairs.sort_unstable();
    let cells: Vec<&[(u32, u32)]> = pairs.chunk_by(|a, b| a == b).collect();
    Breakdown::of(format!("accuracy.{}.confusion@{set}", head.name), &cells)
        .key("class", |cell| head.classes[cell[0].0 as usize].clone())
        .key("predicted", |cell| head.classes[cell[0].1 as usize].clone())
        .column("count", |cell| Some(cell.len() as f64))
        .column("share", |cell| {
            Some(cell.len() as f64 / of_class[cell[0].0 as usize] as f64)
        })
        .table
}

fn empty_classes(head: &Head) -> Option<String> {
    let mut is_there = vec![false; head.classes.len()];
    head.labels.iter().for_each(|&label| is_there[label as usize] = true);
    let empty = head.classes.iter().zip(&is_there).filter(|(_, is_there)| !**is_there);
    let empty: Vec<&str> = empty.map(|(name, _)| name.as_str()).collect();
    let shown = empty[..empty.len().min(MOST_NAMES)].join(", ");
    let more = if empty.len() > MOST_NAMES { ", …" } else { "" };
    let (name, count, all) = (&head.name, empty.len(), head.classes.len());
    (count > 0).then(|| {
        format!("head `{name}`: {count} of {all} classes have no sample, so nothing is said of them: {shown}{more}")
    })
}
