// SPDX-License-Identifier: MIT
//! From metrics to needs to passes: what several metrics need is computed once.
//!
//! Each metric declares its needs. Pairwise needs of the same key (which matrix, how prepared) are fused into one sweep over its
//! tiles, with the largest k of all needs. A sweep over the inputs serves all models. Reading something that was not declared
//! is an internal error, never a silent recomputation.
//!
//! Stages: spectra and clusters of each model → sweep over each model's embeddings → sweep over the inputs,
//! which ranks every model's neighbors → sweep over the embeddings, which ranks the neighbors of the inputs.

pub(crate) mod memory;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::blocks::{self, Elsewhere};
use crate::data::{Labels, Space, Study};
use crate::error::{Error, Result};
use crate::kernels::clusters::{Clusters, OfHalf, Swaps, kmeans, kmeans_of_halves};
use crate::kernels::co_ranking::{self, CoRanking};
use crate::kernels::coding_rates::CodingRates;
use crate::kernels::danco::{Balls, Danco};
use crate::kernels::influence;
use crate::kernels::learnability::Learnability;
use crate::kernels::local_pca::LocalAxes;
use crate::kernels::neighbors::Neighbors;
use crate::kernels::prepared::{Preparation, Prepared, unit_factors};
use crate::kernels::probe::Probe;
use crate::kernels::ranks::Ranks;
use crate::kernels::singular::Singular;
use crate::kernels::spectrum::{ByRow, Spectrum};
use crate::kernels::tiles::{self, Anchors, Ask, sweep};
use crate::kernels::views::{Views, distances};
use crate::metrics::{Metric, OF_CENTERED, OF_RAW, Work, squared_deviations};
use crate::random;
use crate::results::Results;
use crate::run::Driver;
use crate::score::ClassColumn;
use crate::spec::{Distance, Spec};
use crate::stats::interval::Units;

/// Which matrix of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The model's embeddings.
    Embeddings,
    /// What the model saw.
    Input,
}

/// A matrix and its preparation: what a pairwise pass runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) source: Source,
    pub(crate) preparation: Preparation,
}

impl Key {
    /// The embeddings as they are.
    pub(crate) const RAW: Key = Key::new(Source::Embeddings, Preparation::Raw);
    /// The embeddings divided by their length.
    pub(crate) const UNIT: Key = Key::new(Source::Embeddings, Preparation::Unit);
    /// The inputs as they are.
    pub(crate) const INPUT: Key = Key::new(Source::Input, Preparation::Raw);

    const fn new(source: Source, preparation: Preparation) -> Key {
        Key { source, preparation }
    }

    /// The embeddings under the distance of the spec.
    pub(crate) fn embeddings(spec: &Spec) -> Key {
        match spec.distance {
            Distance::Euclidean => Key::RAW,
            Distance::Cosine => Key::UNIT,
        }
    }
}

/// What must be computed before a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Need {
    /// The k nearest rows of each query.
    Neighbors { of: Key, k: usize },
    /// The ranks within one space of the k nearest rows of another.
    Ranks { of: Key, within: Key, k: usize },
    /// Kernel sums over all pairs of unit-length embeddings.
    Kernel,
    /// Distances of each row to each class (or to each k-means cluster where there are no labels).
    ClassDistances,
    /// The eigenvalues of the embeddings' covariance.
    Spectrum,
    /// And what each row adds to it.
    SpectrumByRow,
    /// The singular values of the embeddings.
    Singular,
    /// k-means clusters of the embeddings.
    Clusters,
    /// And of random halves of their rows.
    Clusterings,
    /// Distances of consecutive inputs and of their embeddings.
    PairDistances,
    /// How well neighbors predict the k-means cluster of a row, by random halves.
    Learnability,
    /// Coding rates of the unit-length embeddings and of each class (or k-means cluster where there are no labels).
    CodingRates,
    /// Distances between the embeddings of both views of each sample, and the second view's kernel sums.
    Views,
    /// What probes say of rows that they were not trained on.
    Probe,
    /// What the rankings of all rows by inputs and by embeddings have in common.
    CoRanking,
    /// The principal components of the neighborhoods of some rows.
    LocalAxes,
    /// How distances and angles concentrate, beside how they do in balls of known dimension.
    Danco,
}

/// Distances of consecutive rows.
pub(crate) struct PairDistances {
    pub(crate) input: Vec<f64>,
    pub(crate) embeddings: Vec<f64>,
    /// Between unit-length embeddings, or why there are none.
    pub(crate) unit: std::result::Result<Vec<f64>, String>,
}

/// Distances of each query to each class, and the classes meant.
pub(crate) struct ClassDistances {
    pub(crate) labels: Arc<Labels>,
    /// True where the labels are k-means' own.
    pub(crate) is_circular: bool,
    /// Sums of distances, `labels.classes()` per query.
    pub(crate) sums: Vec<f64>,
    /// Some queries, and what drawing their row anew does to the sum of the other rows' silhouettes.
    pub(crate) influences: Vec<(u32, f64)>,
}

/// A study with the results of the passes its metrics declared.
pub(crate) struct Shared<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) study: &'a Study,
    anchors: Option<Arc<Vec<u32>>>,
    anchor_episodes: Option<Vec<u32>>,
    passes: Passes,
}

/// What the passes found; nothing where no metric needs it.
#[derive(Default)]
struct Passes {
    neighbors: BTreeMap<Key, Neighbors>,
    ranks: BTreeMap<(Key, Key), Ranks>,
    kernel: Option<Vec<f64>>,
    class_distances: Option<ClassDistances>,
    spectrum: Option<Spectrum>,
    singular: Option<Singular>,
    clusters: Option<Clusters>,
    clusterings: Option<Vec<OfHalf>>,
    pair_distances: Option<PairDistances>,
    learnability: Option<Learnability>,
    coding_rates: Option<CodingRates>,
    views: Option<Views>,
    probe: Option<Probe>,
    co_ranking: Option<CoRanking>,
    local_axes: Option<LocalAxes>,
    danco: Option<Danco>,
    /// The squared distance of each row from the mean, where the rows are elsewhere.
    deviations: Option<Vec<f64>>,
    /// Why some rows that are elsewhere have no direction.
    no_direction: Option<Error>,
}

impl<'a> Shared<'a> {
    /// The query rows.
    pub(crate) fn anchors(&self) -> Anchors<'_> {
        match &self.anchors {
            None => Anchors::All,
            Some(rows) => Anchors::Some(rows),
        }
    }

    /// The units that values by query are resampled over.
    pub(crate) fn units(&self) -> Units<'_> {
        match (&self.anchor_episodes, &self.anchors) {
            (Some(codes), _) => Units::Groups(codes, "episodes"),
            (None, Some(_)) => Units::Single("query rows"),
            (None, None) => Units::Single("rows"),
        }
    }

    /// What all rows are resampled over: episodes where they are known.
    pub(crate) fn row_units(&self) -> Units<'_> {
        match &self.study.episodes {
            Some(episodes) => Units::Groups(episodes.codes(), "episodes"),
            None => Units::Single("rows"),
        }
    }

    pub(crate) fn neighbors(&self, of: Key, k: usize) -> Result<&Neighbors> {
        declared(self.passes.neighbors.get(&of).filter(|n| n.k >= k), "neighbors")
    }

    pub(crate) fn ranks(&self, of: Key, within: Key, k: usize) -> Result<&Ranks> {
        declared(self.passes.ranks.get(&(of, within)).filter(|r| r.k >= k), "ranks")
    }

    pub(crate) fn kernel(&self) -> Result<&[f64]> {
        declared(self.passes.kernel.as_deref(), "kernel sums")
    }

    pub(crate) fn class_distances(&self) -> Result<&ClassDistances> {
        declared(self.passes.class_distances.as_ref(), "class distances")
    }

    pub(crate) fn spectrum(&self) -> Result<&Spectrum> {
        declared(self.passes.spectrum.as_ref(), "spectrum")
    }

    pub(crate) fn spectrum_by_row(&self) -> Result<&ByRow> {
        declared(self.spectrum()?.by_row(), "what rows add to the spectrum")
    }

    pub(crate) fn singular(&self) -> Result<&Singular> {
        declared(self.passes.singular.as_ref(), "singular values")
    }

    pub(crate) fn pair_distances(&self) -> Result<&PairDistances> {
        declared(self.passes.pair_distances.as_ref(), "distances of pairs")
    }

    pub(crate) fn learnability(&self) -> Result<&Learnability> {
        declared(self.passes.learnability.as_ref(), "cluster learnability")
    }

    pub(crate) fn coding_rates(&self) -> Result<&CodingRates> {
        declared(self.passes.coding_rates.as_ref(), "coding rates")
    }

    pub(crate) fn views(&self) -> Result<&Views> {
        declared(self.passes.views.as_ref(), "views")
    }

    pub(crate) fn probe(&self) -> Result<&Probe> {
        declared(self.passes.probe.as_ref(), "probes")
    }

    pub(crate) fn local_axes(&self) -> Result<&LocalAxes> {
        declared(self.passes.local_axes.as_ref(), "local principal components")
    }

    pub(crate) fn danco(&self) -> Result<&Danco> {
        declared(self.passes.danco.as_ref(), "balls of known dimension")
    }

    pub(crate) fn co_ranking(&self) -> Result<&CoRanking> {
        declared(self.passes.co_ranking.as_ref(), "rankings of all rows")
    }

    /// Whether all embeddings have a direction.
    pub(crate) fn check_directions(&self) -> Result<()> {
        match (&self.passes.no_direction, self.study.embeddings.elsewhere()) {
            (Some(error), _) => Err(error.clone()),
            (None, Some(_)) => Ok(()),
            (None, None) => unit_factors(&self.study.embeddings).map(drop),
        }
    }

    /// The squared distance of each row from the mean.
    pub(crate) fn squared_deviations(&self) -> Result<Vec<f64>> {
        match self.study.embeddings.elsewhere() {
            None => Ok(squared_deviations(&self.study.embeddings)),
            Some(_) => declared(self.passes.deviations.clone(), "distances from the mean"),
        }
    }

    pub(crate) fn clusters(&self) -> Result<&Clusters> {
        declared(self.passes.clusters.as_ref(), "clusters")
    }

    /// All rows by the clusters of random halves; none where they were not asked for, or there are too few rows.
    pub(crate) fn clusterings(&self) -> Result<&[OfHalf]> {
        declared(self.passes.clusterings.as_deref(), "clusterings")
    }
}

/// A part that must have been declared as a need.
fn declared<T>(part: Option<T>, what: &str) -> Result<T> {
    part.ok_or_else(|| Error::Internal(format!("a metric read {what} that it had not declared as a need")))
}

/// Whether [`evaluate`] would take this: what it refuses before heavy work starts is refused here.
pub fn check(studies: &[Study], metrics: &[&Metric], spec: &Spec) -> Result<()> {
    plan(studies, metrics, spec).map(|_| ())
}

/// What every study needs.
fn plan<'a>(studies: &'a [Study], metrics: &[&Metric], spec: &'a Spec) -> Result<Vec<(Shared<'a>, Vec<Need>)>> {
    spec.check()?;
    let mut planned = Vec::new();
    for study in studies {
        study.check()?;
        let mut needs = Vec::new();
        for metric in metrics {
            let (declare, _) = metric.of_study().ok_or_else(|| not_of_studies(metric))?;
            needs.extend(declare(spec, study)?);
        }
        let anchors = draw_anchors(spec, study.embeddings.rows());
        let queries = anchors.as_deref().map_or(study.embeddings.rows(), Vec::len);
        if study.embeddings.elsewhere().is_none() {
            memory::check(spec, study, &needs, queries)?;
        }
        planned.push((start(spec, study, anchors), needs));
    }
    Ok(planned)
}

/// Computes the metrics for every study. All problems of the input are found before heavy work starts.
pub fn evaluate(studies: &[Study], metrics: &[&Metric], spec: &Spec, driver: &Driver) -> Result<Results> {
    let mut results = Results::default();
    let metrics = &within_reach(studies, metrics, &mut results);
    let mut planned = plan(studies, metrics, spec)?;
    let mut balls = Balls::new(spec);
    for (shared, needs) in &mut planned {
        let (space, name) = (&shared.study.embeddings, shared.study.embeddings.name());
        if needs.contains(&Need::Spectrum) {
            let by_row = needs.contains(&Need::SpectrumByRow);
            shared.passes.spectrum = Some(match space.elsewhere() {
                None => Spectrum::new(space, by_row, driver),
                Some(matrix) => blocks::spectrum(matrix, name, by_row, driver)?,
            });
        }
        if needs.contains(&Need::Singular) {
            let eps = spec.rank.eps;
            shared.passes.singular = Some(match space.elsewhere() {
                None => Singular::new(space, &OF_CENTERED, &OF_RAW, eps, driver),
                Some(matrix) => blocks::singular(matrix, name, [&OF_CENTERED, &OF_RAW], eps, driver)?,
            });
        }
        if needs.contains(&Need::Clusters) {
            let (k, restarts) = (spec.clusters, spec.restarts);
            let found = kmeans(space, None, k, restarts, Swaps::Tried, spec.seed, driver)?;
            if needs.contains(&Need::Clusterings) {
                let (groups, count) = (shared.study.episodes.as_deref(), spec.clusterings);
                let halves = kmeans_of_halves(space, &found, groups, restarts, count, spec.seed, driver)?;
                if let Some(matrix) = space.elsewhere() {
                    shared.passes.deviations = Some(blocks::clusters::deviations(matrix, driver)?);
                }
                shared.passes.clusterings = Some(halves);
            }
            shared.passes.clusters = Some(found);
        }
        if needs.contains(&Need::PairDistances) {
            shared.passes.pair_distances = Some(measure_pairs(shared.study, driver)?);
        }
        if needs.contains(&Need::Learnability) {
            shared.passes.learnability = Some(Learnability::new(
                &shared.study.embeddings,
                shared.study.episodes.as_deref(),
                spec,
                driver,
            )?);
        }
        if needs.contains(&Need::CodingRates) {
            let found = shared.passes.clusters.as_ref().map(|found| found.labels.as_slice());
            let classes = shared.study.labels.as_deref().map(Labels::codes).or(found);
            shared.passes.coding_rates = Some(CodingRates::new(&shared.study.embeddings, classes, &spec.mcr2, driver)?);
        }
        if needs.contains(&Need::Views) {
            let view = declared(shared.study.view.as_deref(), "views")?;
            let found = Views::new(&shared.study.embeddings, view, spec, shared.anchors(), driver)?;
            shared.passes.views = Some(found);
        }
        if needs.contains(&Need::Probe) {
            shared.passes.probe = Some(Probe::new(shared.study, spec, driver)?);
        }
        sweep_embeddings(shared, needs, driver)?;
        if needs.contains(&Need::LocalAxes) {
            let k = spec.dimension.local_k;
            let found = LocalAxes::new(
                &shared.study.embeddings,
                shared.neighbors(Key::RAW, k)?,
                k,
                spec.seed,
                driver,
            );
            shared.passes.local_axes = Some(found);
        }
        if needs.contains(&Need::Danco) {
            shared.passes.danco = Some(Danco::new(space, spec, &mut balls, driver)?);
        }
    }
    sweep_inputs(&mut planned, driver)?;
    for (shared, needs) in &mut planned {
        rank_within_embeddings(shared, needs, driver)?;
        if needs.contains(&Need::CoRanking) {
            shared.passes.co_ranking = Some(rank_all(shared, driver)?);
        }
    }
    for (shared, _) in &planned {
        for metric in metrics {
            let (_, compute) = metric.of_study().ok_or_else(|| not_of_studies(metric))?;
            let model = &shared.study.model;
            results.absorb(compute(shared)?.of_model(model).with_named_warnings(model, true));
        }
    }
    if let Some(study) = studies.first() {
        results.classes = ClassColumn::of_study(study);
    }
    for metric in metrics {
        if let Work::Pool { across, .. } = metric.work {
            across(spec, &mut results);
        }
    }
    Ok(results)
}

/// Scores that need nothing but what workers find of matrices that are elsewhere.
pub const METRICS_OF_BLOCKS: &[&str] = &[
    "trustworthiness",
    "continuity",
    "two_nn",
    "uniformity",
    "silhouette",
    "knn_accuracy",
    "nmi",
    "ami",
    "inertia",
    "cluster_balance",
    "participation_ratio",
    "dimension_usage",
    "spectrum",
    "rankme",
    "numerical_rank",
    "stable_rank",
    "alpha_req",
    "condition_number",
    "label_precision",
];

/// The metrics that can be computed of these studies: where embeddings or inputs are elsewhere, those of blocks. A warning names the others.
fn within_reach<'m>(studies: &[Study], metrics: &[&'m Metric], results: &mut Results) -> Vec<&'m Metric> {
    let is_elsewhere = |study: &Study| {
        let input = study.input.as_deref().and_then(Space::elsewhere);
        study.embeddings.elsewhere().or(input).is_some()
    };
    if !studies.iter().any(is_elsewhere) {
        return metrics.to_vec();
    }
    let (reached, others): (Vec<&Metric>, Vec<&Metric>) = metrics
        .iter()
        .partition(|metric| METRICS_OF_BLOCKS.contains(&metric.id));
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|metric| metric.id).collect();
        results.warnings.push(format!(
            "not computed of matrices that are read block by block: {}; give a part of the rows that one machine holds",
            names.join(", ")
        ));
    }
    reached
}

fn not_of_studies(metric: &Metric) -> Error {
    metric.is_not("a score of embeddings alone; compute it with `retrieve`, `perturb`, `etes` or `relate`")
}

fn start<'a>(spec: &'a Spec, study: &'a Study, anchors: Option<Arc<Vec<u32>>>) -> Shared<'a> {
    let anchor_episodes = study.episodes.as_ref().map(|episodes| match &anchors {
        None => episodes.codes().to_vec(),
        Some(rows) => rows.iter().map(|&i| episodes.codes()[i as usize]).collect(),
    });
    Shared {
        spec,
        study,
        anchors,
        anchor_episodes,
        passes: Passes::default(),
    }
}

fn measure_pairs(study: &Study, driver: &Driver) -> Result<PairDistances> {
    let (Some(input), Some(pairs)) = (&study.input, &study.pairs) else {
        return declared(None, "distances of pairs");
    };
    let unit = unit_factors(&study.embeddings)
        .map(|factors| distances(&study.embeddings, Some(&factors), &pairs.rows, driver))
        .map_err(|error| error.to_string());
    Ok(PairDistances {
        input: distances(input, None, &pairs.rows, driver),
        embeddings: distances(&study.embeddings, None, &pairs.rows, driver),
        unit,
    })
}

/// The random query rows of a sample, ascending; none where all rows are queries.
fn draw_anchors(spec: &Spec, rows: usize) -> Option<Arc<Vec<u32>>> {
    let count = spec.sample.filter(|&m| m < rows)?;
    Some(Arc::new(draw_queries(rows, count, spec.seed)))
}

/// The query rows of a sample of so many rows, ascending.
pub fn draw_queries(rows: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut drawn = random::permutation(rows, &mut random::stream(seed, "anchors", 0));
    drawn.truncate(count);
    drawn.sort_unstable();
    drawn
}

/// The largest k that is needed of a key; 0 for none.
fn largest_k(needs: &[Need], key: Key) -> usize {
    let asked = needs.iter().filter_map(|need| match need {
        Need::Neighbors { of, k } | Need::Ranks { of, k, .. } if *of == key => Some(*k),
        _ => None,
    });
    asked.max().unwrap_or(0)
}

/// The largest k whose ranks within `within` are needed; 0 for none.
fn ranked_k(needs: &[Need], key: Key, inside: Key) -> usize {
    let asked = needs.iter().map(|need| match need {
        Need::Ranks { of, within, k } if *of == key && *within == inside => *k,
        _ => 0,
    });
    asked.max().unwrap_or(0)
}

/// A space that is swept, here or where it is.
enum Swept<'a> {
    Here(Prepared<'a>),
    Elsewhere(&'a Space, &'a Elsewhere, Preparation),
}

impl<'a> Swept<'a> {
    fn new(space: &'a Space, preparation: Preparation, driver: &Driver) -> Result<Self> {
        Ok(match space.elsewhere() {
            None => Swept::Here(Prepared::new(space, preparation, driver)?),
            Some(matrix) => Swept::Elsewhere(space, matrix, preparation),
        })
    }

    fn sweep(&self, anchors: Anchors, ask: &Ask, driver: &Driver) -> Result<tiles::Results> {
        match self {
            Swept::Here(prepared) => Ok(sweep(prepared, anchors, ask, driver)),
            Swept::Elsewhere(_, _, Preparation::Unit) if ask.k > 0 || !ask.ranks_of.is_empty() => Err(Error::input(
                "nearest neighbors by the cosine are not looked for on other machines; divide the embeddings by their length and \
                 use Euclidean distances, which order them in the same way",
            )),
            Swept::Elsewhere(space, matrix, preparation) => {
                blocks::sweep(space, matrix, *preparation, anchors, ask, driver)
            }
        }
    }

    fn influences(
        &self,
        anchors: Anchors,
        labels: &Labels,
        sums: &[f64],
        seed: u64,
        driver: &Driver,
    ) -> Result<Vec<(u32, f64)>> {
        match self {
            Swept::Here(prepared) => Ok(influence::on_silhouettes(prepared, anchors, labels, sums, seed, driver)),
            Swept::Elsewhere(space, matrix, _) => {
                blocks::influences(space, matrix, anchors, labels, sums, seed, driver)
            }
        }
    }
}

fn sweep_embeddings(shared: &mut Shared, needs: &[Need], driver: &Driver) -> Result<()> {
    for key in [Key::RAW, Key::UNIT] {
        let k = largest_k(needs, key);
        let wants_kernel = key == Key::UNIT && needs.contains(&Need::Kernel);
        let wants_classes = key == Key::RAW && needs.contains(&Need::ClassDistances);
        if k == 0 && !wants_kernel && !wants_classes {
            continue;
        }
        let labels = match (&shared.study.labels, &shared.passes.clusters) {
            _ if !wants_classes => None,
            (Some(labels), _) => Some((labels.clone(), false)),
            (None, Some(c)) => Some((Arc::new(Labels::from_codes(c.labels.clone(), c.counts.len())), true)),
            (None, None) => return declared(None, "clusters"),
        };
        let classes = labels.as_ref().map(|(labels, _)| labels.as_ref());
        let ask = Ask {
            k,
            ranks_of: Vec::new(),
            kernel: wants_kernel.then_some(shared.spec.t),
            classes,
        };
        let swept = Swept::new(&shared.study.embeddings, key.preparation, driver);
        let swept = match swept.and_then(|swept| Ok((swept.sweep(shared.anchors(), &ask, driver)?, swept))) {
            Err(error @ Error::Input(_))
                if k == 0 && key == Key::UNIT && shared.study.embeddings.elsewhere().is_some() =>
            {
                shared.passes.no_direction = Some(error);
                continue;
            }
            swept => swept,
        };
        let (answer, swept) = swept?;
        if let Some(neighbors) = answer.neighbors {
            shared.passes.neighbors.insert(key, neighbors);
        }
        shared.passes.kernel = answer.kernel.or(shared.passes.kernel.take());
        if let (Some(sums), Some((labels, is_circular))) = (answer.classes, labels) {
            let seed = shared.spec.seed;
            let influences = swept.influences(shared.anchors(), &labels, &sums, seed, driver)?;
            shared.passes.class_distances = Some(ClassDistances {
                labels,
                is_circular,
                sums,
                influences,
            });
        }
    }
    Ok(())
}

/// One sweep over each distinct input matrix, for all models that share it.
fn sweep_inputs(planned: &mut [(Shared, Vec<Need>)], driver: &Driver) -> Result<()> {
    let mut done: Vec<*const Space> = Vec::new();
    for first in 0..planned.len() {
        let Some(input) = planned[first].0.study.input.clone() else {
            continue;
        };
        let same = |p: &(Shared, Vec<Need>)| p.0.study.input.as_ref().is_some_and(|i| Arc::ptr_eq(i, &input));
        let members: Vec<usize> = (0..planned.len()).filter(|&m| same(&planned[m])).collect();
        let wanted = members.iter().map(|&m| largest_k(&planned[m].1, Key::INPUT));
        let k = wanted.max().unwrap_or(0);
        if k == 0 || done.contains(&Arc::as_ptr(&input)) {
            continue;
        }
        done.push(Arc::as_ptr(&input));
        let mut ranked: Vec<(usize, Key, Neighbors)> = Vec::new();
        for &m in &members {
            let (shared, needs) = &planned[m];
            for key in [Key::RAW, Key::UNIT] {
                let k = ranked_k(needs, key, Key::INPUT);
                if k > 0 {
                    ranked.push((m, key, shared.neighbors(key, k)?.truncated(k)));
                }
            }
        }
        let swept = Swept::new(&input, Preparation::Raw, driver)?;
        let ranks_of = ranked.iter().map(|r| &r.2).collect();
        let ask = Ask {
            k,
            ranks_of,
            ..Ask::default()
        };
        let answer = swept.sweep(planned[first].0.anchors(), &ask, driver)?;
        for ((m, key, _), ranks) in ranked.iter().zip(answer.ranks) {
            planned[*m].0.passes.ranks.insert((*key, Key::INPUT), ranks);
        }
        let neighbors = declared(answer.neighbors, "neighbors")?;
        for m in members {
            planned[m].0.passes.neighbors.insert(Key::INPUT, neighbors.clone());
        }
    }
    Ok(())
}

fn rank_within_embeddings(shared: &mut Shared, needs: &[Need], driver: &Driver) -> Result<()> {
    for key in [Key::RAW, Key::UNIT] {
        let k = ranked_k(needs, Key::INPUT, key);
        if k == 0 {
            continue;
        }
        let others = shared.neighbors(Key::INPUT, k)?.truncated(k);
        let swept = Swept::new(&shared.study.embeddings, key.preparation, driver)?;
        let ranks_of = vec![&others];
        let ask = Ask {
            ranks_of,
            ..Ask::default()
        };
        let mut answer = swept.sweep(shared.anchors(), &ask, driver)?;
        let ranks = declared(answer.ranks.pop(), "ranks")?;
        shared.passes.ranks.insert((Key::INPUT, key), ranks);
    }
    Ok(())
}

/// All rows in the order of both spaces, as some queries see them.
fn rank_all(shared: &Shared, driver: &Driver) -> Result<CoRanking> {
    let (spec, study) = (shared.spec, shared.study);
    let input = declared(study.input.as_deref(), "inputs")?;
    let prepared = Prepared::new(&study.embeddings, Key::embeddings(spec).preparation, driver)?;
    let spaces = [&Prepared::new(input, Preparation::Raw, driver)?, &prepared];
    let columns = input.columns() + study.embeddings.columns();
    let queries = co_ranking::sample(shared.anchors(), input.rows(), columns, spec.seed);
    Ok(CoRanking::new(spaces, &queries, study.episodes.as_deref(), driver))
}
