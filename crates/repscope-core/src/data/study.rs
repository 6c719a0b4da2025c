// SPDX-License-Identifier: MIT
//! A study: one model's row-aligned spaces, labels and pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Space, Targets};
use crate::error::{Error, Result, refuse_if};

/// Consecutive states: row numbers `(from, to)`, and the episode each pair belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// Row of the state before and of the state after.
    pub rows: Vec<(u32, u32)>,
    /// The episode of each pair, where episodes are known: the unit of resampling.
    pub episode: Option<Vec<u32>>,
}

impl Pairs {
    /// Each row with the next one of the same episode. Without episodes all rows are one sequence.
    pub fn consecutive(rows: usize, episodes: Option<&Labels>) -> Self {
        let codes = episodes.map(Labels::codes);
        let same = |t: &usize| codes.is_none_or(|c| c[*t] == c[*t + 1]);
        let starts: Vec<usize> = (0..rows.saturating_sub(1)).filter(same).collect();
        Pairs {
            rows: starts.iter().map(|&t| (t as u32, t as u32 + 1)).collect(),
            episode: codes.map(|c| starts.iter().map(|&t| c[t]).collect()),
        }
    }

    /// Row `i` of one matrix with row `i` of a second one that is stacked below it.
    pub fn stacked(rows: usize, episodes: Option<&Labels>) -> Self {
        Pairs {
            rows: (0..rows).map(|i| (i as u32, (i + rows) as u32)).collect(),
            episode: episodes.map(|e| e.codes().to_vec()),
        }
    }
}

/// One model and what is known about its rows. All parts have the same rows in the same order.
#[derive(Debug, Clone)]
pub struct Study {
    /// The model's name.
    pub model: String,
    /// The embeddings the model gave: one row per sample.
    pub embeddings: Space,
    /// The embeddings of a second view of each sample, an augmentation say.
    pub view: Option<Arc<Space>>,
    /// The embeddings of further views, for measures of more than two.
    pub more_views: Vec<Arc<Space>>,
    /// How far noise in what the model saw moves the embeddings.
    pub noise: Option<Arc<Noise>>,
    /// What the model saw, flattened to one row per sample. Shared by all models of a run.
    pub input: Option<Arc<Space>>,
    /// A class per row.
    pub labels: Option<Arc<Labels>>,
    /// The episode of each row: rows of one episode are not independent.
    pub episodes: Option<Arc<Labels>>,
    /// Which rows follow each other.
    pub pairs: Option<Arc<Pairs>>,
    /// Continuous values of each row, for probes.
    pub targets: Option<Arc<Targets>>,
    /// More classes of each row by the names of their sets, for probes.
    pub label_sets: Vec<(String, Arc<Labels>)>,
    /// The first of the rows that only test a probe, which stand below those that train it; without it rows take turns.
    pub tested_from: Option<usize>,
    /// Other rows that the same encoder embedded, such as those it was trained on.
    pub reference: Option<Arc<Reference>>,
    /// The batch of each row: the plate, device, site or subject that it comes from and that should not show.
    pub batches: Option<Arc<Labels>>,
}

/// Rows that those of a study are compared with.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The embeddings that the model gave: one row per sample.
    pub embeddings: Space,
    /// The group of each row. One that has the name of a group of the study is the same group.
    pub groups: Option<Labels>,
}

impl Reference {
    /// Whether the embeddings have these columns, and groups for all rows where the rows of the study have some.
    fn check(&self, study: &Study) -> Result<()> {
        let (model, rows) = (&study.model, self.embeddings.rows());
        let (found, columns) = (self.embeddings.columns(), study.embeddings.columns());
        refuse_if(found != columns, || {
            format!(
                "the reference rows of model `{model}` have {found} columns but its embeddings have {columns}; both must come from \
                 the same encoder"
            )
        })?;
        if let Some(groups) = self.groups.as_ref().filter(|groups| groups.rows() != rows) {
            return Err(Error::RowMismatch {
                left: "the group array of the reference rows".to_string(),
                left_rows: groups.rows(),
                right: format!("the reference rows of model `{model}`"),
                right_rows: rows,
            });
        }
        match (&study.episodes, &self.groups) {
            (Some(_), None) => Err(Error::input(
                "groups are given for the rows and not for the reference rows; give both, or none",
            )),
            (None, Some(_)) => Err(Error::input(
                "groups are given for the reference rows and not for the rows; give both, or none",
            )),
            _ => Ok(()),
        }
    }
}

impl Study {
    /// A study of embeddings alone.
    pub fn new(model: &str, embeddings: Space) -> Self {
        Study {
            model: model.to_string(),
            embeddings,
            view: None,
            more_views: Vec::new(),
            noise: None,
            input: None,
            labels: None,
            episodes: None,
            pairs: None,
            targets: None,
            label_sets: Vec::new(),
            tested_from: None,
            reference: None,
            batches: None,
        }
    }

    /// The views beside the embeddings, each with what messages call it.
    pub fn views(&self) -> impl Iterator<Item = (String, &Space)> {
        let second = self.view.iter().map(|view| ("the second view".to_string(), &**view));
        let more = self.more_views.iter().enumerate();
        second.chain(more.map(|(i, view)| (format!("view {}", i + 3), &**view)))
    }

    /// Checks that all parts have the same number of rows, and that pairs name rows that exist.
    pub fn check(&self) -> Result<()> {
        let rows = self.embeddings.rows();
        let model = &self.model;
        let levels = self.noise.iter().flat_map(|noise| &noise.levels);
        let mut parts: Vec<(String, usize)> = Vec::new();
        parts.extend(
            self.input
                .iter()
                .map(|input| (format!("`{}`", input.name()), input.rows())),
        );
        parts.extend(self.views().map(|(name, view)| (name, view.rows())));
        parts.extend(levels.map(|level| (format!("the noise level {}", level.name), level.moves.raw.len())));
        parts.extend(
            self.labels
                .iter()
                .map(|labels| ("the label array".to_string(), labels.rows())),
        );
        parts.extend(
            self.episodes
                .iter()
                .map(|episodes| ("the episode array".to_string(), episodes.rows())),
        );
        parts.extend(
            self.targets
                .iter()
                .map(|targets| ("the target array".to_string(), targets.values().rows())),
        );
        parts.extend(
            self.label_sets
                .iter()
                .map(|(name, labels)| (format!("the labels `{name}`"), labels.rows())),
        );
        parts.extend(
            self.batches
                .iter()
                .map(|batches| ("the batch array".to_string(), batches.rows())),
        );
        if let Some((left, left_rows)) = parts.into_iter().find(|(_, found)| *found != rows) {
            return Err(Error::RowMismatch {
                left,
                left_rows,
                right: format!("model `{model}`"),
                right_rows: rows,
            });
        }
        let columns = self.embeddings.columns();
        if let Some((name, view)) = self.views().find(|(_, view)| view.columns() != columns) {
            let found = view.columns();
            return Err(Error::Input(format!(
                "{name} of model `{model}` has {found} columns but its embeddings have {columns}; all views must come from \
                 the same encoder"
            )));
        }
        if let Some(reference) = &self.reference {
            reference.check(self)?;
        }
        let Some(pairs) = &self.pairs else { return Ok(()) };
        let last = pairs.rows.iter().map(|&(from, to)| from.max(to)).max();
        if let Some(last) = last.filter(|&last| last as usize >= rows) {
            return Err(Error::Input(format!(
                "a pair names row {last} (counted from 0) but the embeddings of model `{model}` have {rows} rows"
            )));
        }
        let (pairs, episodes) = (
            pairs.rows.len(),
            pairs.episode.as_ref().map_or(pairs.rows.len(), Vec::len),
        );
        refuse_if(episodes != pairs, || {
            format!("{episodes} episodes are given for {pairs} pairs of model `{model}`; give one per pair")
        })
    }
}

/// The embeddings of the same samples with noise, level by level.
#[derive(Debug, Clone, Default)]
pub struct Noise {
    /// From weak to strong.
    pub levels: Vec<NoiseLevel>,
    /// What the levels are measured in, in words, where that is known.
    pub unit: Option<String>,
}

/// One level of noise.
#[derive(Debug, Clone)]
pub struct NoiseLevel {
    /// As it was given: `0.1`.
    pub name: String,
    /// As a number.
    pub strength: f64,
    /// How far each sample's embedding moved.
    pub moves: Moves,
}

/// Distances between clean and noisy embeddings, one per sample: means over the draws of the noise.
#[derive(Debug, Clone, Default)]
pub struct Moves {
    /// Between embeddings as they are.
    pub raw: Vec<f64>,
    /// Between embeddings divided by their length; none where one of the two has length zero.
    pub unit: Vec<Option<f64>>,
}

impl Moves {
    /// No samples yet.
    pub fn new() -> Self {
        Moves::default()
    }

    /// The distances between spaces that hold the same samples row by row.
    pub fn between(clean: &Space, draws: &[Space]) -> Result<Self> {
        for noisy in draws {
            let shape = |space: &Space| format!("{} x {}", space.rows(), space.columns());
            let (found, expected) = (shape(noisy), shape(clean));
            refuse_if(found != expected, || {
                let (noisy, clean) = (noisy.name(), clean.name());
                format!(
                    "the noisy embeddings `{noisy}` have shape {found} but the clean embeddings `{clean}` have {expected}; give embeddings of \
                     the same samples by the same encoder"
                )
            })?;
        }
        let row_of = |space: &Space, row: usize| {
            let mut values = vec![0.0; space.columns()];
            space.read_row(row, &mut values);
            values
        };
        let mut moves = Moves::new();
        for row in 0..clean.rows() {
            moves.add_sample(&row_of(clean, row), draws.iter().map(|noisy| row_of(noisy, row)));
        }
        Ok(moves)
    }

    /// Adds the samples of others behind these.
    pub fn extend(&mut self, more: Moves) {
        self.raw.extend(more.raw);
        self.unit.extend(more.unit);
    }

    /// The means over draws of the noise for the same samples.
    pub fn mean(draws: &[Moves]) -> Self {
        let count = draws.len() as f64;
        let samples = draws.first().map_or(0, |draw| draw.raw.len());
        let raw = |i: usize| draws.iter().map(|draw| draw.raw[i]).sum::<f64>() / count;
        let unit = |i: usize| Some(draws.iter().map(|draw| draw.unit[i]).sum::<Option<f64>>()? / count);
        Moves {
            raw: (0..samples).map(raw).collect(),
            unit: (0..samples).map(unit).collect(),
        }
    }

    fn add_sample(&mut self, clean: &[f64], draws: impl Iterator<Item = Vec<f64>>) {
        let (mut raw, mut unit, mut count) = (0.0, Some(0.0), 0.0);
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let own = length(clean);
        for noisy in draws {
            count += 1.0;
            raw += distance(clean, &noisy, 1.0, 1.0);
            let other = length(&noisy);
            let has_direction = own > 0.0 && other > 0.0;
            let moved = || distance(clean, &noisy, 1.0 / own, 1.0 / other);
            unit = unit.filter(|_| has_direction).map(|sum| sum + moved());
        }
        self.raw.push(raw / count);
        self.unit.push(unit.map(|sum| sum / count));
    }
}

/// ‖a·s − b·t‖.
fn distance(a: &[f64], b: &[f64], s: f64, t: f64) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a * s - b * t).powi(2));
    squares.sum::<f64>().sqrt()
}

/// A number per model, larger for a better model.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// What was measured: `accuracy`.
    pub name: String,
    /// Models and their numbers.
    pub of_model: Vec<(String, f64)>,
}

impl Performance {
    /// The number of a model.
    pub fn of(&self, model: &str) -> Option<f64> {
        self.of_model.iter().find(|(name, _)| name == model).map(|m| m.1)
    }

    /// Checks that all numbers are finite and no model is named twice.
    pub fn check(&self) -> Result<()> {
        for (i, (model, value)) in self.of_model.iter().enumerate() {
            let name = &self.name;
            refuse_if(!value.is_finite(), || {
                format!("the {name} of model `{model}` is {value}; give a finite number, or leave the model out")
            })?;
            refuse_if(self.of_model[..i].iter().any(|(other, _)| other == model), || {
                format!("model `{model}` has two values of {name}; give one per model")
            })?;
        }
        Ok(())
    }
}

/// A class per row. Codes count the distinct names from 0: in numeric order where all are integers, else alphabetically.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    names: Vec<String>,
    codes: Vec<u32>,
}

impl Labels {
    /// Labels from one name per row.
    pub fn new<S: AsRef<str>>(rows: &[S]) -> Self {
        let distinct: BTreeSet<&str> = rows.iter().map(AsRef::as_ref).collect();
        let mut names: Vec<String> = distinct.into_iter().map(str::to_string).collect();
        if names.iter().all(|n| n.parse::<i64>().is_ok()) {
            names.sort_by_key(|n| n.parse::<i64>().unwrap_or_default());
        }
        let code: BTreeMap<&str, u32> = names.iter().enumerate().map(|(c, n)| (n.as_str(), c as u32)).collect();
        let codes = rows.iter().map(|r| code[r.as_ref()]).collect();
        Labels { names, codes }
    }

    /// Labels from cluster numbers `0..classes`; a class may be empty.
    pub fn from_codes(codes: Vec<u32>, classes: usize) -> Self {
        Labels {
            names: (0..classes).map(|c| c.to_string()).collect(),
            codes,
        }
    }

    /// The same classes in the order in which they appear, so that nothing depends on their names.
    pub(crate) fn by_appearance(&self) -> Self {
        let mut new: Vec<Option<u32>> = vec![None; self.names.len()];
        let mut names = Vec::new();
        let codes = self.codes.iter().map(|&old| {
            *new[old as usize].get_or_insert_with(|| {
                names.push(self.names[old as usize].clone());
                names.len() as u32 - 1
            })
        });
        let codes = codes.collect();
        Labels { names, codes }
    }

    /// The distinct names, by code.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The code of each row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.codes.len()
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.names.len()
    }

    /// How many rows each class has, by code.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for &c in &self.codes {
            counts[c as usize] += 1;
        }
        counts
    }

    /// The labels of the rows named by `order`, in that order.
    pub fn select(&self, order: &[usize]) -> Self {
        let name = |&i: &usize| self.names[self.codes[i] as usize].as_str();
        Labels::new(&order.iter().map(name).collect::<Vec<&str>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_never_cross_an_episode() {
        let pairs = Pairs::consecutive(5, Some(&Labels::new(&["a", "a", "b", "b", "b"])));
        assert_eq!(pairs.rows, [(0, 1), (2, 3), (3, 4)]);
        assert_eq!(pairs.episode, Some(vec![0, 1, 1]));
    }

    #[test]
    fn one_row_has_no_pair() {
        assert!(Pairs::consecutive(1, None).rows.is_empty());
    }

    #[test]
    fn distances_are_means_over_draws_and_blind_to_length_on_the_unit_sphere() {
        let space = |values: [f64; 4]| Space::from_f64("z", 2, 2, values.to_vec()).unwrap();
        // (3, 4) moves by 5 to (6, 8), which has the same direction, and by √(9 + 16) to (0, 0), which has none.
        let draws = [space([6.0, 8.0, 0.0, 1.0]), space([0.0, 0.0, 0.0, 2.0])];
        let clean = space([3.0, 4.0, 1.0, 0.0]);
        let moves = Moves::between(&clean, &draws).unwrap();
        let one_by_one: Vec<Moves> = draws
            .iter()
            .map(|draw| Moves::between(&clean, std::slice::from_ref(draw)).unwrap())
            .collect();
        let mean = Moves::mean(&one_by_one);
        assert_eq!((&mean.raw, &mean.unit), (&moves.raw, &moves.unit));
        assert_eq!(moves.raw[0], 5.0);
        assert_eq!(moves.unit[0], None);
        // (1, 0) moves by √2 and √5; both have the angle of 90°.
        assert!((moves.raw[1] - f64::midpoint(2f64.sqrt(), 5f64.sqrt())).abs() < 1e-15);
        assert!((moves.unit[1].unwrap() - 2f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn embeddings_of_another_shape_are_refused_with_both_shapes() {
        let space = |rows: usize| Space::from_f64("z", rows, 2, vec![1.0; 2 * rows]).unwrap();
        let error = Moves::between(&space(3), &[space(4)]).unwrap_err().to_string();
        assert!(error.contains("4 x 2") && error.contains("3 x 2"), "{error}");
    }

    #[test]
    fn whole_numbers_are_ordered_as_numbers() {
        let labels = Labels::new(&["10", "-2", "9", "10"]);
        assert_eq!(labels.names(), ["-2", "9", "10"]);
        assert_eq!(labels.codes(), [2, 0, 1, 2]);
        assert_eq!(labels.counts(), [1, 1, 2]);
    }

    #[test]
    fn classes_by_appearance_do_not_depend_on_their_names() {
        let (words, numbers) = (Labels::new(&["b", "c", "b", "a"]), Labels::new(&["1", "2", "1", "0"]));
        assert_eq!(words.by_appearance().codes(), [0, 1, 0, 2]);
        assert_eq!(words.by_appearance().codes(), numbers.by_appearance().codes());
        assert_eq!(words.by_appearance().names(), ["b", "c", "a"]);
    }

    #[test]
    fn other_names_are_ordered_alphabetically() {
        assert_eq!(Labels::new(&["b", "10", "a"]).names(), ["10", "a", "b"]);
    }
}
