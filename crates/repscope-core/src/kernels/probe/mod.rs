// SPDX-License-Identifier: MIT
//! Probes: what simple predictors of the embeddings say of rows that they were not trained on.
//!
//! Every row is predicted once, by a probe of the folds that it is not in (`folds`). `ridge` predicts continuous targets, `softmax`
//! classes, and the nearest training rows vote in between. The same is done with shuffled labels, and with a few rows of each class.

mod cholesky;
mod folds;
mod ridge;
mod rows;
mod softmax;

use faer::Mat;

pub(crate) use self::folds::FEWEST;
use self::folds::{Folds, LeftOut};
pub(crate) use self::ridge::{Miss, Ridge, Trained};
use self::rows::{Rows, Sums};
pub(crate) use self::softmax::Softmax;
use self::softmax::{Problem, correlations, softmax};
use super::alike::null::Shuffle;
use super::knn_vote::{Role, Vote, looked_up};
use super::learnability::of_unit_length;
use super::neighbors::Neighbors;
use super::prepared::{Preparation, Prepared};
use super::tiles::{self, Anchors, Ask, sweep};
use crate::data::{Labels, Space, Study};
use crate::error::{Error, Result};
use crate::random;
use crate::run::{Driver, Order};
use crate::spec::{Distance, Spec};

/// The penalty of probes of a few rows: there is nothing to choose it by.
const PENALTY_OF_FEW: f64 = 1.0;

/// What all probes say.
pub(crate) struct Probe {
    /// The rows that are predicted, ascending; what is predicted has their order.
    pub(crate) tested: Vec<u32>,
    /// For each set of labels what probes say, or why there are none.
    pub(crate) labels: Vec<(Option<String>, std::result::Result<OfLabels, String>)>,
    pub(crate) targets: Option<std::result::Result<OfTargets, String>>,
}

/// What probes say of a set of labels.
pub(crate) struct OfLabels {
    /// The class of each tested row, by appearance in the data.
    pub(crate) own: Vec<u32>,
    /// The share of the largest class among the tested rows.
    pub(crate) majority: f64,
    pub(crate) linear: Softmax,
    /// Whether a probe of shuffled labels finds the shuffled label.
    pub(crate) control: Vec<bool>,
    pub(crate) neighbors: Vec<OfNeighbors>,
    pub(crate) few: Vec<OfFew>,
    /// Tested rows whose class no probe was trained on.
    pub(crate) unknown: usize,
}

/// What the votes of the nearest training rows say.
pub(crate) struct OfNeighbors {
    pub(crate) k: usize,
    pub(crate) elected: Vec<u32>,
    /// Whether a vote about shuffled labels finds the shuffled label.
    pub(crate) control: Vec<bool>,
}

/// What probes say that are trained on a few rows of each class.
pub(crate) struct OfFew {
    /// Rows of each class.
    pub(crate) shots: usize,
    /// The accuracy of each draw.
    pub(crate) accuracies: Vec<f64>,
}

/// What probes say of continuous targets.
pub(crate) struct OfTargets {
    pub(crate) names: Vec<String>,
    /// For each tested row, one number per target.
    pub(crate) own: Vec<f64>,
    pub(crate) ridge: Ridge,
}

/// What the probes of a study share.
struct Shared<'a> {
    study: &'a Study,
    spec: &'a Spec,
    driver: &'a Driver<'a>,
    groups: Option<Labels>,
}

/// Why rows cannot take turns.
fn too_few(study: &Study, spec: &Spec) -> Option<String> {
    let rows = study.tested_from.unwrap_or(study.embeddings.rows());
    let what = if study.tested_from.is_some() {
        "rows that train"
    } else {
        "rows"
    };
    if rows < 2 * spec.probe.folds {
        let least = 2 * spec.probe.folds;
        return Some(format!(
            "{rows} {what} are too few for {} folds; at least {least} are needed",
            spec.probe.folds
        ));
    }
    let groups = study.episodes.as_deref()?;
    let mut codes = groups.codes()[..rows].to_vec();
    codes.sort_unstable();
    codes.dedup();
    (codes.len() < FEWEST).then(|| {
        format!(
            "the rows come from {}, and at least {FEWEST} are needed: one to test, and two to choose the penalty by",
            crate::error::counted(codes.len(), "group")
        )
    })
}

/// Why a set of labels has no probe.
fn missing(labels: &Labels, study: &Study, spec: &Spec) -> Option<String> {
    let training = study.tested_from.unwrap_or(labels.rows());
    let codes = &labels.codes()[..training];
    let first = codes.first()?;
    if codes.iter().all(|code| code == first) {
        let name = &labels.names()[*first as usize];
        return Some(format!(
            "all rows have the label `{name}`; at least two classes are needed"
        ));
    }
    if labels.counts().iter().all(|count| *count <= 1) {
        return Some("every row has a label of its own, so none can be learned from others".to_string());
    }
    too_few(study, spec)
}

impl Probe {
    pub(crate) fn new(study: &Study, spec: &Spec, driver: &Driver) -> Result<Self> {
        let shared = Shared {
            study,
            spec,
            driver,
            groups: study.episodes.as_deref().map(Labels::by_appearance),
        };
        let rows = study.embeddings.rows();
        let tested: Vec<u32> = (study.tested_from.unwrap_or(0) as u32..rows as u32).collect();
        let sets = study.labels.iter().map(|labels| (None, labels));
        let more = study
            .label_sets
            .iter()
            .map(|(name, labels)| (Some(name.clone()), labels));
        let sets: Vec<(Option<String>, &std::sync::Arc<Labels>)> = sets.chain(more).collect();
        let mut matrix = None;
        let mut labels = Vec::new();
        for (name, own) in sets {
            let found = match missing(own, study, spec) {
                Some(reason) => Err(reason),
                None => Ok(shared.of_labels(&own.by_appearance(), &tested, &mut matrix)?),
            };
            labels.push((name, found));
        }
        let targets = study.targets.as_deref().map(|targets| match too_few(study, spec) {
            Some(reason) => Err(reason),
            None => Ok(shared.of_targets(targets.names(), targets.values(), &tested)),
        });
        Ok(Probe {
            tested,
            labels,
            targets,
        })
    }
}

impl Shared<'_> {
    fn folds(&self, labels: Option<&Labels>) -> Folds {
        let (rows, tested_from) = (self.study.embeddings.rows(), self.study.tested_from);
        let (count, seed) = (self.spec.probe.folds, self.spec.seed);
        Folds::draw(rows, labels, self.groups.as_ref(), tested_from, count, seed)
    }

    fn of_targets(&self, names: &[String], values: &Space, tested: &[u32]) -> OfTargets {
        let folds = self.folds(None);
        let rows = Rows::new(&self.study.embeddings, &folds, self.driver);
        let sums = Sums::of(&rows, self.driver);
        let penalties = self.spec.probe.ridge_penalties();
        let single = || (0..self.study.embeddings.rows() as u32).collect();
        let units: Vec<u32> = self
            .groups
            .as_ref()
            .map_or_else(single, |groups| groups.codes().to_vec());
        let signs = ridge::signs(&units, self.spec.seed);
        let mut own = vec![0.0; tested.len() * values.columns()];
        for (&row, out) in tested.iter().zip(own.chunks_exact_mut(values.columns())) {
            values.read_row(row as usize, out);
        }
        OfTargets {
            names: names.to_vec(),
            own,
            ridge: ridge::ridge(&rows, &sums, values, &folds, &penalties, &signs, self.driver),
        }
    }

    /// `matrix` holds the correlations of the columns, once they are known.
    fn of_labels(&self, labels: &Labels, tested: &[u32], matrix: &mut Option<Option<Mat<f64>>>) -> Result<OfLabels> {
        let (spec, driver) = (&self.spec.probe, self.driver);
        let folds = self.folds(Some(labels));
        let rows = Rows::new(&self.study.embeddings, &folds, driver);
        let sums = Sums::of(&rows, driver);
        let correlations = matrix
            .get_or_insert_with(|| correlations(&rows, &sums, driver))
            .as_ref();
        let penalties = spec.softmax_penalties();
        let linear = |rows: &Rows, sums: &[Sums], folds: &Folds, codes: &[u32]| {
            let problem = Problem {
                rows,
                sums,
                codes,
                classes: labels.classes(),
            };
            softmax(&problem, folds, correlations, &penalties, driver)
        };
        let codes = labels.codes();
        let found = linear(&rows, &sums, &folds, codes);
        // Folds of their own: where they do not hold the classes evenly, what is frequent elsewhere is rare in each of them.
        let shuffled = Labels::from_codes(self.shuffled(codes), labels.classes());
        let other_folds = self.folds(Some(&shuffled));
        let other_rows = rows.in_folds(&other_folds);
        let other_sums = Sums::of(&other_rows, driver);
        let control = linear(&other_rows, &other_sums, &other_folds, shuffled.codes()).elected;
        let own: Vec<u32> = tested.iter().map(|&row| codes[row as usize]).collect();
        let is_right = |elected: &[u32]| -> Vec<bool> {
            let pairs = tested.iter().zip(elected);
            pairs
                .map(|(&row, elected)| shuffled.codes()[row as usize] == *elected)
                .collect()
        };
        let mut counts = vec![0usize; labels.classes()];
        own.iter().for_each(|code| counts[*code as usize] += 1);
        Ok(OfLabels {
            majority: counts.iter().copied().max().unwrap_or(0) as f64 / own.len() as f64,
            control: is_right(&control),
            neighbors: self.of_neighbors([(labels, &folds), (&shuffled, &other_folds)], tested)?,
            few: self.of_few(labels, &rows),
            unknown: unknown(codes, labels.classes(), &folds),
            linear: found,
            own,
        })
    }

    /// The labels in random order; those of whole groups change places where rows come in groups.
    fn shuffled(&self, codes: &[u32]) -> Vec<u32> {
        let groups = self.groups.as_ref().map(Labels::codes);
        let shuffle = Shuffle::new(codes.len(), groups, self.spec.seed, "shuffled labels");
        shuffle.order(0).iter().map(|&row| codes[row as usize]).collect()
    }

    /// Votes about labels, and about shuffled ones, with the folds of each.
    fn of_neighbors(&self, [own, other]: [(&Labels, &Folds); 2], tested: &[u32]) -> Result<Vec<OfNeighbors>> {
        let (spec, rows, folds) = (&self.spec.probe, own.0.rows(), own.1);
        let largest = (0..folds.count as u32).map(|fold| folds.of.iter().filter(|own| **own == fold).count());
        let training = rows - largest.max().unwrap_or(0);
        let ks: Vec<usize> = spec.k.iter().copied().filter(|k| *k <= training).collect();
        let Some(most) = ks.iter().copied().max() else {
            return Ok(Vec::new());
        };
        let space = match spec.distance {
            Distance::Euclidean => self.study.embeddings.clone(),
            Distance::Cosine => of_unit_length(&self.study.embeddings, self.driver)?.0,
        };
        let prepared = Prepared::new(&space, Preparation::Raw, self.driver)?;
        let ask = Ask {
            k: looked_up(most, training as f64 / rows as f64, rows, self.groups.as_ref()),
            ..Ask::default()
        };
        let anchors = if tested.len() == rows {
            Anchors::All
        } else {
            Anchors::Some(tested)
        };
        let neighbors = sweep(&prepared, anchors, &ask, self.driver).neighbors;
        let neighbors = neighbors.ok_or_else(|| Error::Internal("a sweep without its neighbors".to_string()))?;
        let mut found = Vec::new();
        for k in ks {
            let of = |(labels, folds): (&Labels, &Folds)| elected(&space, labels, &neighbors, folds, tested, k);
            let votes = of(other)?;
            let pairs = tested.iter().zip(&votes);
            found.push(OfNeighbors {
                k,
                control: pairs
                    .map(|(&row, vote)| other.0.codes()[row as usize] == *vote)
                    .collect(),
                elected: of(own)?,
            });
        }
        Ok(found)
    }

    /// Probes of 1, 5, 10, … rows of each class, as far as the smallest class has twice as many.
    fn of_few(&self, labels: &Labels, all: &Rows) -> Vec<OfFew> {
        let (spec, codes) = (&self.spec.probe, labels.codes());
        let training = self.study.tested_from.unwrap_or(codes.len());
        let mut counts = vec![0usize; labels.classes()];
        codes[..training].iter().for_each(|code| counts[*code as usize] += 1);
        let smallest = counts.iter().copied().filter(|count| *count > 0).min().unwrap_or(0);
        let shots: Vec<usize> = spec
            .shots
            .iter()
            .copied()
            .filter(|shots| 2 * shots <= smallest)
            .collect();
        self.driver
            .progress()
            .begin("probes of few rows", (shots.len() * spec.draws) as u64);
        let serial = Driver::silent(Order::Serial);
        let accuracies = self.driver.map(shots.len() * spec.draws, |task| {
            let (shots, draw) = (shots[task / spec.draws], task % spec.draws);
            let folds = self.few(codes, training, labels.classes(), shots, draw);
            let rows = all.in_folds(&folds);
            self.driver.progress().advance(1);
            if rows.count(0) == 0 || rows.count(1) == 0 {
                return None;
            }
            let sums = Sums::of(&rows, &serial);
            let problem = Problem {
                rows: &rows,
                sums: &sums,
                codes,
                classes: labels.classes(),
            };
            let said = softmax(&problem, &folds, None, &[PENALTY_OF_FEW], &serial);
            let tested = folds.tested_rows();
            let right = tested.iter().zip(&said.elected);
            let right = right
                .filter(|(row, elected)| codes[**row as usize] == **elected)
                .count();
            Some(right as f64 / tested.len() as f64)
        });
        let of = |(place, shots): (usize, &usize)| OfFew {
            shots: *shots,
            accuracies: accuracies[place * spec.draws..(place + 1) * spec.draws]
                .iter()
                .flatten()
                .copied()
                .collect(),
        };
        let all = shots.iter().enumerate().map(of);
        all.filter(|own| !own.accuracies.is_empty()).collect()
    }

    /// Fold 0 trains: the first rows of each class in a random order. Fold 1 is tested: rows of other groups.
    fn few(&self, codes: &[u32], training: usize, classes: usize, shots: usize, draw: usize) -> Folds {
        let mut rng = random::stream(self.spec.seed, "rows of few", draw as u64);
        let mut of = vec![u32::from(self.study.tested_from.is_none()); training];
        of.resize(codes.len(), 1);
        if self.study.tested_from.is_some() {
            of[..training].fill(u32::MAX);
        }
        let mut taken = vec![0; classes];
        let mut trains = Vec::new();
        for row in random::permutation(training, &mut rng) {
            let own = &mut taken[codes[row as usize] as usize];
            if *own < shots {
                *own += 1;
                trains.push(row as usize);
            }
        }
        if let Some(groups) = &self.groups {
            let mut seen = vec![false; groups.classes()];
            trains.iter().for_each(|&row| seen[groups.codes()[row] as usize] = true);
            for (fold, group) in of.iter_mut().zip(groups.codes()) {
                if seen[*group as usize] {
                    *fold = u32::MAX;
                }
            }
        }
        trains.iter().for_each(|&row| of[row] = 0);
        Folds {
            of,
            count: 2,
            tested: vec![1],
        }
    }
}

/// Tested rows whose class no row has that trains.
fn unknown(codes: &[u32], classes: usize, folds: &Folds) -> usize {
    let mut counts = vec![vec![0usize; classes]; folds.count];
    for (code, fold) in codes.iter().zip(&folds.of) {
        counts[*fold as usize][*code as usize] += 1;
    }
    let is_unknown = |fold: usize, class: usize| {
        let left = LeftOut::one(fold as u32);
        (0..folds.count).all(|other| left.holds(other as u32) || counts[other][class] == 0)
    };
    let of_fold = |fold: &u32| {
        let fold = *fold as usize;
        let unknown = (0..classes).filter(|class| is_unknown(fold, *class));
        unknown.map(|class| counts[fold][class]).sum::<usize>()
    };
    folds.tested.iter().map(of_fold).sum()
}

/// The class that the nearest rows of other folds elect, for each tested row.
fn elected(
    space: &Space,
    labels: &Labels,
    neighbors: &Neighbors,
    folds: &Folds,
    tested: &[u32],
    k: usize,
) -> Result<Vec<u32>> {
    let mut found = vec![0; tested.len()];
    for &fold in &folds.tested {
        let role = |own: &u32| if *own == fold { Role::Tested } else { Role::Trains };
        let roles: Vec<Role> = folds.of.iter().map(role).collect();
        let vote = Vote {
            space,
            labels,
            roles: &roles,
            k,
        };
        // Queries are the tested rows, whether they are all or some.
        for (place, class) in vote.elected(neighbors, Anchors::Some(tested))? {
            found[place] = class;
        }
    }
    Ok(found)
}

/// About how many bytes the probes of a study take.
pub(crate) fn memory(study: &Study, spec: &Spec) -> u64 {
    let (n, d) = (study.embeddings.rows() as u64, study.embeddings.columns() as u64);
    let folds = spec.probe.folds as u64 + 1;
    let sets = study.labels.iter().chain(study.label_sets.iter().map(|(_, own)| own));
    let classes = sets.map(|own| own.classes() as u64).max().unwrap_or(0);
    let side = d.min(n);
    let of_products = (folds + 8) * side * side * 8;
    // Weights of the fits of every two folds, and what L-BFGS remembers of them.
    let of_weights = 24 * 8 * (d * classes * folds * folds / 2).min((1 << 22).max(d * classes));
    let k = spec.probe.k.iter().copied().max().unwrap_or(0);
    let depth = looked_up(k, 0.8, study.embeddings.rows(), study.episodes.as_deref()) as u64;
    let of_votes = if classes > 0 {
        tiles::memory(n, d, n) + n * (60 * depth + 256)
    } else {
        0
    };
    let of_targets = study.targets.as_ref().map_or(0, |own| own.values().columns() as u64);
    of_products + of_weights + of_votes + n * (of_targets * 24 * 8 + 64)
}
