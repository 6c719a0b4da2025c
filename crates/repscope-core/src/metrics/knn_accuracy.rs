// SPDX-License-Identifier: MIT
//! k-NN accuracy: can the label of a row be predicted from the labels of its nearest embeddings? See the page.

use super::{Analysis, Invariance, Metric, Output, Results, Takes, Work};
use crate::data::{Labels, Space, Study};
use crate::error::{Error, Result};
use crate::kernels::knn_vote::{Flip, Flips, Role, Vote, VoteUnits, draw_groups, looked_up};
use crate::kernels::prepared::{Preparation, Prepared};
use crate::kernels::tiles::{Anchors, Ask, sweep};
use crate::plan::{Key, Need, Shared};
use crate::random;
use crate::run::{Driver, Order};
use crate::score::{Better, Interval, Score};
use crate::spec::Spec;
use crate::stats::interval;
use rand::seq::SliceRandom;

pub(super) static METRIC: Metric = Metric {
    id: "knn_accuracy",
    title: "k-NN accuracy",
    analysis: Analysis::Geometry,
    outputs: &[Output::new(
        "knn_accuracy@K",
        "share of test rows whose label the K nearest training embeddings vote for",
        Better::Higher,
        "0 to 1",
    )
    .column("KNN_Accuracy")],
    page: include_str!("knn_accuracy.md"),
    invariances: &[Invariance::Rotation, Invariance::Shift, Invariance::Scale],
    takes: &[Takes::Embeddings, Takes::Labels],
    options: &["k", "splits", "sample"],
    work: Work::Study { needs, compute },
};

/// Fewer rows than this are not split (the representation analysis's rule).
const FEWEST_ROWS: usize = 10;

/// How many neighbors to look up.
fn depth(spec: &Spec, study: &Study) -> usize {
    let rows = study.embeddings.rows();
    looked_up(spec.knn_k, spec.train_share, rows, study.episodes.as_deref())
}

fn missing(spec: &Spec, study: &Study) -> Option<String> {
    let rows = study.embeddings.rows();
    let Some(labels) = &study.labels else {
        return Some("needs labels, one for each row".to_string());
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
    if let Some(groups) = &study.episodes
        && groups.counts().iter().filter(|count| **count > 0).count() < 2
    {
        return Some("all rows are of one episode, so none can be tested on the others".to_string());
    }
    if labels.classes() == rows {
        return Some("every row has a label of its own, so no neighbor can vote for it".to_string());
    }
    let training = match &study.episodes {
        Some(_) => (spec.train_share * rows as f64) as usize,
        None => split_sizes(labels, spec.train_share).iter().sum::<usize>(),
    };
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
            k: depth(spec, study),
        }],
    })
}

fn compute(shared: &Shared) -> Result<Results> {
    let (spec, study) = (shared.spec, shared.study);
    let id = format!("knn_accuracy@{}", spec.knn_k);
    let rows = study.embeddings.rows();
    let (Some(labels), None) = (&study.labels, missing(spec, study)) else {
        let reason = missing(spec, study).unwrap_or_default();
        return Ok(Score::undefined(id, reason, rows).into());
    };
    // Neither splits nor tied votes depend on what the classes are called.
    let labels = &labels.by_appearance();
    let neighbors = shared.neighbors(Key::RAW, depth(spec, study))?;
    let groups = study.episodes.as_deref().map(Labels::by_appearance);
    let units = VoteUnits::new(groups.as_ref(), rows);
    let mut accuracies = Vec::with_capacity(spec.splits);
    let (mut without, mut flips) = (vec![0.0; units.count], Vec::new());
    let mut fewest = (rows, units.count);
    for split in 0..spec.splits {
        let roles = match &groups {
            Some(groups) => {
                let mut rng = random::stream(spec.seed, "split of groups", split as u64);
                draw_groups(groups, spec.train_share, &mut rng)
            }
            None => draw_split(labels, spec, split as u64),
        };
        let vote = Vote {
            space: &study.embeddings,
            labels,
            roles: &roles,
            k: spec.knn_k,
        };
        let tally = vote.count(neighbors, shared.anchors(), &units, Flips::Counted)?;
        if tally.tested > 0 {
            let accuracy = tally.right as f64 / tally.tested as f64;
            accuracies.push(accuracy);
            let of_units = without.iter_mut().zip(&tally.without);
            of_units.for_each(|(sum, own)| *sum += own.unwrap_or(accuracy));
            fewest = (fewest.0.min(tally.tested), fewest.1.min(tally.units));
            flips.extend(tally.flips);
        }
    }
    if accuracies.is_empty() {
        return Ok(Score::undefined(id, "no sampled row is a test row", rows).into());
    }
    without.iter_mut().for_each(|sum| *sum /= accuracies.len() as f64);
    flips.iter_mut().for_each(|flip| flip.rise /= accuracies.len() as f64);
    let counts = labels.counts();
    let value = interval::mean(&accuracies);
    let majority = counts.iter().copied().max().unwrap_or(0) as f64 / rows as f64;
    let tested = if groups.is_some() { fewest.1 } else { fewest.0 };
    let interval = interval::of_accuracy(value, &without, tested, groups.is_some(), spec.level);
    let interval = interval
        .and_then(|i| with_votes(i, value, flips))
        .map(|i| i.on_share_scale(value));
    let score = Score::number(id, value, fewest.0)
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

/// The interval with the variance that comes from the rows that vote. With o what each unit does to the accuracy by being tested, t by
/// voting, and p what a pair of units does, one of which votes for the other, it is Σ (o + t)² − Σ p² instead of Σ o²: the
/// squares of t hold those of the pairs a second time (Efron and Stein 1981). Effects stay those of being tested, but larger,
/// because votes of single rows are too noisy to be compared between models.
fn with_votes(interval: Interval, value: f64, mut flips: Vec<Flip>) -> Option<Interval> {
    let Some(own) = interval.effects.as_deref().filter(|own| own.iter().any(|e| *e != 0.0)) else {
        return Some(interval);
    };
    flips.sort_by_key(|flip| (flip.voter, flip.tested));
    let (mut votes, mut pairs) = (vec![0.0; own.len()], 0.0);
    for pair in flips.chunk_by(|a, b| (a.voter, a.tested) == (b.voter, b.tested)) {
        let rise: f64 = pair.iter().map(|flip| flip.rise).sum();
        votes[pair[0].voter as usize] -= rise;
        pairs += rise * rise;
    }
    let center = interval::mean(&votes);
    let both: f64 = own.iter().zip(&votes).map(|(o, t)| (o + t - center).powi(2)).sum();
    let alone: f64 = own.iter().map(|o| o * o).sum();
    let wider = ((both - pairs) / alone).max(1.0).sqrt();
    let effects = own.iter().map(|o| wider * o).collect();
    interval::from_effects(value, effects, interval.unit, "jackknife", interval.level)
}

/// How many rows of each class train: the share, rounded, but at least one trains and, of two, one is tested.
fn split_sizes(labels: &Labels, share: f64) -> Vec<usize> {
    let size = |&count: &usize| match count {
        0 | 1 => count,
        _ => ((count as f64 * share).round() as usize).clamp(1, count - 1),
    };
    labels.counts().iter().map(size).collect()
}

/// Which rows train in a stratified random split; the others are tested.
fn draw_split(labels: &Labels, spec: &Spec, split: u64) -> Vec<Role> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); labels.classes()];
    for (row, &class) in labels.codes().iter().enumerate() {
        members[class as usize].push(row);
    }
    let mut rng = random::stream(spec.seed, "split", split);
    let mut roles = vec![Role::Tested; labels.rows()];
    for (rows, size) in members.iter_mut().zip(split_sizes(labels, spec.train_share)) {
        rows.shuffle(&mut rng);
        for &row in &rows[..size] {
            roles[row] = Role::Trains;
        }
    }
    roles
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
    let prepared = Prepared::new(space, Preparation::Raw, &driver)?;
    let ask = Ask {
        k: (3 * k + 12).min(space.rows() - 1),
        ..Ask::default()
    };
    let neighbors = sweep(&prepared, Anchors::All, &ask, &driver).neighbors;
    let neighbors = neighbors.ok_or_else(|| Error::Internal("a sweep without its neighbors".to_string()))?;
    let role = |&trains: &bool| if trains { Role::Trains } else { Role::Tested };
    let roles: Vec<Role> = trains.iter().map(role).collect();
    let vote = Vote {
        space,
        labels,
        roles: &roles,
        k,
    };
    let tally = vote.count(
        &neighbors,
        Anchors::All,
        &VoteUnits::new(None, space.rows()),
        Flips::None,
    )?;
    Ok(tally.right as f64 / tally.tested as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_keeps_the_share_of_every_class() {
        let labels = Labels::from_codes((0..100).map(|i| u32::from(i >= 90)).collect(), 2);
        let roles = draw_split(&labels, &Spec::default(), 0);
        let training = |roles: &[Role]| roles.iter().filter(|&&role| role == Role::Trains).count();
        assert_eq!(training(&roles[..90]), 63);
        assert_eq!(training(&roles[90..]), 7);
        assert_ne!(roles, draw_split(&labels, &Spec::default(), 1));
    }

    #[test]
    fn no_group_is_on_both_sides_and_the_share_is_kept() {
        let draw = |groups: &Labels, split| draw_groups(groups, 0.7, &mut random::stream(42, "test", split));
        let groups = Labels::from_codes((0..300).map(|row| row / 10).collect(), 30);
        let roles = draw(&groups, 0);
        for group in roles.chunks(10) {
            assert!(group.iter().all(|role| *role == group[0]), "{group:?}");
        }
        assert_eq!(roles.iter().filter(|role| **role == Role::Trains).count(), 210);
        assert_ne!(roles, draw(&groups, 1));
        // Two groups of very different size: one trains, the other is tested.
        let two = Labels::from_codes((0..100).map(|row| u32::from(row < 5)).collect(), 2);
        let roles = draw(&two, 0);
        assert!(roles.contains(&Role::Trains) && roles.contains(&Role::Tested));
    }

    #[test]
    fn labels_that_are_drawn_for_each_episode_cannot_be_told() {
        // Rows of one episode lie together, and its label is random: what is learned is the episode, not the label.
        let (episodes, length, columns) = (60, 8, 4);
        let mut rng = random::stream(3, "test", 0);
        let mut draw = || rand::Rng::next_u64(&mut rng) as f64 / u64::MAX as f64;
        let (mut values, mut labels, mut of) = (Vec::new(), Vec::new(), Vec::new());
        for episode in 0..episodes {
            let center: Vec<f64> = (0..columns).map(|_| draw()).collect();
            let label = (4.0 * draw()) as u32;
            for _ in 0..length {
                values.extend(center.iter().map(|x| x + 0.001 * draw()));
                labels.push(label.min(3));
                of.push(episode);
            }
        }
        let space = Space::from_f64("z", labels.len(), columns, values).expect("finite numbers");
        let mut study = Study::new("m", space);
        study.labels = Some(std::sync::Arc::new(Labels::from_codes(labels, 4)));
        let accuracy = |study: &Study| {
            let driver = Driver::silent(Order::Serial);
            let results =
                crate::evaluate(std::slice::from_ref(study), &[&METRIC], &Spec::default(), &driver).expect("scores");
            results.scores[0].clone()
        };
        let leaking = accuracy(&study);
        assert!(leaking.value.is_some_and(|value| value > 0.95), "{leaking:?}");
        study.episodes = Some(std::sync::Arc::new(Labels::from_codes(of, episodes as usize)));
        let honest = accuracy(&study);
        let [low, _] = honest.interval.expect("an interval");
        assert!(honest.value.is_some_and(|value| value < 0.5), "{honest:?}");
        assert!(low <= honest.chance.expect("a chance level"), "{honest:?}");
    }

    #[test]
    fn classes_that_are_all_told_apart_still_leave_room_for_doubt() {
        let values = (0..60)
            .map(|row| f64::from(row % 2) * 10.0 + f64::from(row) * 0.01)
            .collect();
        let mut study = Study::new("m", Space::from_f64("z", 60, 1, values).expect("finite numbers"));
        study.labels = Some(std::sync::Arc::new(Labels::from_codes(
            (0..60).map(|row| row % 2).collect(),
            2,
        )));
        let driver = Driver::silent(Order::Serial);
        let results = crate::evaluate(&[study], &[&METRIC], &Spec::default(), &driver).expect("scores");
        let [low, high] = results.scores[0].interval.expect("an interval");
        // Wilson's interval for 18 of 18 tested rows.
        assert!((low - 0.824_1).abs() < 1e-3 && high == 1.0, "{low} {high}");
    }
}
