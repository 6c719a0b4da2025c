// SPDX-License-Identifier: MIT
//! k-NN accuracy: can the label of a row be told from the labels of its nearest codes? See the page.

use super::{Analysis, Answer, Invariance, Metric, Output, Work};
use crate::data::{Labels, Space, Study};
use crate::error::{Error, Result};
use crate::interval;
use crate::passes::neighbors::Neighbors;
use crate::passes::prepared::{Preparation, Prepared};
use crate::passes::tiles::{Anchors, Ask, sweep};
use crate::plan::{Key, Need, Shared};
use crate::random;
use crate::run::{Driver, Order};
use crate::score::{Better, Interval, Score};
use crate::spec::Spec;
use rand::seq::SliceRandom;

pub(super) static METRIC: Metric = Metric {
    id: "knn_accuracy",
    title: "k-NN accuracy",
    analysis: Analysis::Geometry,
    outputs: &[Output {
        id: "knn_accuracy@K",
        about: "share of test rows whose label the K nearest training codes vote for",
        better: Better::Higher,
        range: "0 to 1",
    }],
    page: include_str!("knn_accuracy.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
    work: Work::Study { needs, compute },
};

/// Fewer rows than this are not split (document 000's rule).
const FEWEST_ROWS: usize = 10;

/// How many neighbours to look up so that almost surely `k` of them train.
fn lookup(spec: &Spec, rows: usize) -> usize {
    let k = spec.knn_k as f64;
    let enough = (k + 4.0 * k.sqrt()) / spec.train_share + 12.0;
    (enough.ceil() as usize).min(rows - 1)
}

fn missing(spec: &Spec, study: &Study) -> Option<String> {
    let rows = study.latent.rows();
    let Some(labels) = &study.labels else {
        return Some("needs labels; give --labels".to_string());
    };
    if labels.classes() < 2 {
        return Some(format!(
            "all rows have the label `{}`; at least two classes are needed",
            labels.names()[0]
        ));
    }
    if rows < FEWEST_ROWS {
        return Some(format!(
            "{rows} rows are too few to split; at least {FEWEST_ROWS} are needed"
        ));
    }
    if labels.classes() == rows {
        return Some("every row has a label of its own: none can be told from the others".to_string());
    }
    let training = split_sizes(labels, spec.train_share).iter().sum::<usize>();
    (spec.knn_k == 0 || training < spec.knn_k).then(|| {
        format!(
            "k = {} needs that many training rows (and k of at least 1); there are {training}",
            spec.knn_k
        )
    })
}

fn needs(spec: &Spec, study: &Study) -> Result<Vec<Need>> {
    if spec.splits == 0 || !(spec.train_share > 0.0 && spec.train_share < 1.0) {
        return Err(Error::Input(format!(
            "{} splits with a training share of {}: at least one split and a share between 0 and 1 are needed",
            spec.splits, spec.train_share
        )));
    }
    Ok(match missing(spec, study) {
        Some(_) => Vec::new(),
        None => vec![Need::Neighbors {
            of: Key::RAW,
            k: lookup(spec, study.latent.rows()),
        }],
    })
}

fn compute(shared: &Shared) -> Result<Answer> {
    let (spec, study) = (shared.spec, shared.study);
    let id = format!("knn_accuracy@{}", spec.knn_k);
    let rows = study.latent.rows();
    let (Some(labels), None) = (&study.labels, missing(spec, study)) else {
        let reason = missing(spec, study).unwrap_or_default();
        return Ok(Score::undefined(id, reason, rows, Better::Higher).into());
    };
    let neighbors = shared.neighbors(Key::RAW, lookup(spec, rows))?;
    let mut accuracies = Vec::with_capacity(spec.splits);
    let mut tested = 0;
    for split in 0..spec.splits {
        let trains = draw_split(labels, spec, split as u64);
        let vote = Vote {
            space: &study.latent,
            labels,
            trains: &trains,
            k: spec.knn_k,
        };
        let (right, count) = vote.count(neighbors, shared.anchors());
        tested = count;
        if count > 0 {
            accuracies.push(right as f64 / count as f64);
        }
    }
    if accuracies.is_empty() {
        return Ok(Score::undefined(id, "no sampled row is a test row", rows, Better::Higher).into());
    }
    let counts = labels.counts();
    let value = interval::mean(&accuracies);
    let majority = counts.iter().copied().max().unwrap_or(0) as f64 / rows as f64;
    let interval = interval_over_splits(&accuracies, value, tested, rows, spec).map(|i| i.within(0.0, 1.0));
    let score = Score::number(id, value, tested, Better::Higher)
        .with_interval(interval)
        .with_chance(majority);
    let lone = counts.iter().filter(|&&c| c == 1).count();
    Ok(match lone {
        0 => score,
        _ => score.with_note(format!(
            "{lone} classes have a single row, which only trains and is never tested"
        )),
    }
    .into())
}

/// Student's t with the variance corrected for overlapping splits (Nadeau and Bengio 2003); for a single
/// split the Wilson interval of a share.
fn interval_over_splits(accuracies: &[f64], value: f64, tested: usize, rows: usize, spec: &Spec) -> Option<Interval> {
    let (m, level) = (accuracies.len() as f64, spec.level);
    if accuracies.len() == 1 {
        let (n, z) = (tested as f64, interval::normal_quantile(0.5 + level / 2.0));
        let centre = (value + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let reach = z / (1.0 + z * z / n) * (value * (1.0 - value) / n + z * z / (4.0 * n * n)).sqrt();
        let standard_error = Some((value * (1.0 - value) / n).sqrt());
        let (low, high) = (centre - reach, centre + reach);
        return Some(Interval {
            low,
            high,
            level,
            standard_error,
            unit: "test rows",
            method: "Wilson",
        });
    }
    let variance = accuracies.iter().map(|a| (a - value).powi(2)).sum::<f64>() / (m - 1.0);
    let training = spec.train_share * rows as f64;
    let error = (variance * (1.0 / m + (rows as f64 - training) / training)).sqrt();
    interval::from_standard_error(value, error, m - 1.0, "splits", "corrected Student t", level)
}

/// How many rows of each class train: the share, rounded, but at least one trains and, of two, one is tested.
fn split_sizes(labels: &Labels, share: f64) -> Vec<usize> {
    let size = |&count: &usize| match count {
        0 | 1 => count,
        _ => ((count as f64 * share).round() as usize).clamp(1, count - 1),
    };
    labels.counts().iter().map(size).collect()
}

/// Which rows train in a stratified random split.
fn draw_split(labels: &Labels, spec: &Spec, split: u64) -> Vec<bool> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); labels.classes()];
    for (row, &class) in labels.codes().iter().enumerate() {
        members[class as usize].push(row);
    }
    let mut rng = random::stream(spec.seed, "split", split);
    let mut trains = vec![false; labels.rows()];
    for (rows, size) in members.iter_mut().zip(split_sizes(labels, spec.train_share)) {
        rows.shuffle(&mut rng);
        for &row in &rows[..size] {
            trains[row] = true;
        }
    }
    trains
}

/// A split, ready to vote.
struct Vote<'a> {
    space: &'a Space,
    labels: &'a Labels,
    trains: &'a [bool],
    k: usize,
}

impl Vote<'_> {
    /// How many of the queries that are test rows get their own label, and how many test rows there are.
    fn count(&self, neighbors: &Neighbors, anchors: Anchors) -> (usize, usize) {
        let codes = self.labels.codes();
        let (mut right, mut tested) = (0, 0);
        let mut ballots = vec![0u32; self.labels.classes()];
        for q in 0..anchors.count(self.labels.rows()) {
            let row = anchors.row(q);
            if self.trains[row] {
                continue;
            }
            let listed = neighbors.of(q).iter().copied().filter(|&j| self.trains[j as usize]);
            let mut voters: Vec<u32> = listed.take(self.k).collect();
            if voters.len() < self.k {
                voters = self.nearest_training_rows(row);
            }
            ballots.fill(0);
            for voter in voters {
                ballots[codes[voter as usize] as usize] += 1;
            }
            // The first of the largest: a tied vote goes to the class that comes first.
            let most = ballots.iter().copied().max().unwrap_or(0);
            let elected = ballots.iter().position(|&b| b == most).unwrap_or(0);
            tested += 1;
            right += usize::from(elected == codes[row] as usize);
        }
        (right, tested)
    }

    /// By measuring them all: for the rare row whose looked-up neighbours hold too few that train.
    fn nearest_training_rows(&self, row: usize) -> Vec<u32> {
        let d = self.space.columns();
        let (mut own, mut other) = (vec![0.0; d], vec![0.0; d]);
        self.space.read_row(row, &mut own);
        let mut found: Vec<(f64, u32)> = Vec::new();
        for j in (0..self.trains.len()).filter(|&j| self.trains[j]) {
            self.space.read_row(j, &mut other);
            found.push((own.iter().zip(&other).map(|(x, y)| (x - y).powi(2)).sum(), j as u32));
        }
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.into_iter().take(self.k).map(|f| f.1).collect()
    }
}

/// The accuracy on one given split: `trains[row]` says which rows train, all others are tested.
pub fn accuracy_of_split(space: &Space, labels: &Labels, trains: &[bool], k: usize) -> Result<f64> {
    let training = trains.iter().filter(|&&t| t).count();
    if labels.rows() != space.rows() || trains.len() != space.rows() || training < k.max(1) || training == space.rows()
    {
        return Err(Error::Input(format!(
            "{} rows, {} labels, a split of {} with {training} training rows: they must agree, and at least k = {k} \
             rows must train and one be tested",
            space.rows(),
            labels.rows(),
            trains.len()
        )));
    }
    let driver = Driver::silent(Order::Serial);
    let prepared = Prepared::new(space, Preparation::Raw, None, &driver)?;
    let ask = Ask {
        k: (3 * k + 12).min(space.rows() - 1),
        ..Ask::default()
    };
    let neighbors = sweep(&prepared, Anchors::All, &ask, &driver).neighbors;
    let neighbors = neighbors.ok_or_else(|| Error::Internal("a sweep without its neighbours".to_string()))?;
    let (right, tested) = Vote {
        space,
        labels,
        trains,
        k,
    }
    .count(&neighbors, Anchors::All);
    Ok(right as f64 / tested as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_keeps_the_share_of_every_class() {
        let labels = Labels::from_codes((0..100).map(|i| u32::from(i >= 90)).collect(), 2);
        let trains = draw_split(&labels, &Spec::default(), 0);
        assert_eq!(trains[..90].iter().filter(|&&t| t).count(), 63);
        assert_eq!(trains[90..].iter().filter(|&&t| t).count(), 7);
        assert_ne!(trains, draw_split(&labels, &Spec::default(), 1));
    }

    #[test]
    fn a_row_whose_list_holds_too_few_training_rows_is_answered_exactly() {
        let space = Space::from_f64("z", 6, 1, vec![0.0, 0.1, 0.2, 0.3, 5.0, 6.0]).unwrap();
        let labels = Labels::new(&["a", "a", "a", "a", "b", "b"]);
        let vote = Vote {
            space: &space,
            labels: &labels,
            trains: &[false, false, false, false, true, true],
            k: 2,
        };
        assert_eq!(vote.nearest_training_rows(0), [4, 5]);
    }
}
