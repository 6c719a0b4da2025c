// SPDX-License-Identifier: MIT
//! A plain function for each metric of one model: embeddings in, a score out. For several metrics at once, for files and for encoders
//! use the analyses, which share the work between metrics.

use std::sync::Arc;

use repscope_core::metrics::find;
use repscope_core::run::{Driver, Order};
use repscope_core::{Labels, Metric, Pairs, Reference, Score, Space, Spec, Study, Targets, Values, evaluate};

use crate::error::{Error, Result};

/// The embeddings of a model, or its inputs: one row per sample, known to be finite.
#[derive(Clone)]
pub struct Embeddings(Arc<Space>);

impl Embeddings {
    /// Takes `rows` × `columns` numbers in row order.
    pub fn new(rows: usize, columns: usize, values: impl Into<Values>) -> Result<Self> {
        let space = Space::new("embeddings", rows, columns, values.into());
        Ok(Embeddings(Arc::new(space.map_err(wrong)?)))
    }

    /// How many samples.
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// How many dimensions.
    pub fn columns(&self) -> usize {
        self.0.columns()
    }
}

fn wrong(cause: repscope_core::Error) -> Error {
    anyhow::Error::from(cause).into()
}

/// The study of one model.
fn study(embeddings: &Embeddings) -> Study {
    Study::new("model", (*embeddings.0).clone())
}

/// The scores of a metric, with the first that carries its bare name, or its first variant, in front.
fn scores(id: &str, study: Study, spec: &Spec) -> Result<Vec<Score>> {
    let (metric, _) = find(id).ok_or_else(|| Error::Internal(format!("internal error: there is no metric {id}")))?;
    let metrics: [&Metric; 1] = [metric];
    let results = evaluate(&[study], &metrics, spec, &Driver::silent(Order::Parallel));
    Ok(results.map_err(wrong)?.scores)
}

fn first(mut scores: Vec<Score>) -> Result<Score> {
    // The variant that the bare name stands for.
    let has_bare_name = |score: &Score| score.metric.output().is_some_and(|output| output.has_bare_name);
    let at = scores.iter().position(has_bare_name).unwrap_or(0);
    let first = (at < scores.len()).then(|| scores.swap_remove(at));
    first.ok_or_else(|| Error::Internal("internal error: a metric without a score".to_string()))
}

/// Functions of embeddings alone.
macro_rules! of_embeddings {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(embeddings: &Embeddings) -> Result<Score> {
            first(scores(stringify!($name), study(embeddings), &Spec::default())?)
        })*
    };
}

of_embeddings! {
    /// How many dimensions the variance is spread over: (Σλ)² / Σλ².
    participation_ratio;
    /// The participation ratio as a share of the columns.
    dimension_usage;
    /// Intrinsic dimension from the ratio of the distances to the second and to the first neighbor.
    two_nn;
    /// Intrinsic dimension by maximum likelihood from the distances to 20 neighbors.
    mle_id;
    /// The logarithm of the mean Gaussian potential of pairs on the unit sphere.
    uniformity;
    /// Effective rank by the entropy of the singular values (Garrido et al. 2023).
    rankme;
    /// How many singular values are above 1 % of the largest.
    numerical_rank;
    /// Σσ² / max σ².
    stable_rank;
    /// The exponent of the decay of the eigenvalues.
    alpha_req;
    /// The largest over the smallest singular value.
    condition_number;
    /// The standard deviation of the columns of unit-length embeddings.
    std_collapse;
    /// Σλ over the largest eigenvalue of the covariance.
    nesum;
    /// How evenly the variance fills all columns.
    isoscore;
    /// The excess of squared cosines over those of random directions.
    self_cluster;
    /// How much more one row fills the directions than rows do on average.
    coherence;
    /// How far random projections are from normal ones (SIGReg).
    epps_pulley;
    /// The k-means objective for five clusters.
    inertia;
    /// How evenly k-means fills five clusters.
    cluster_balance;
}

/// Functions of embeddings that give several scores.
macro_rules! several_of_embeddings {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(embeddings: &Embeddings) -> Result<Vec<Score>> {
            scores(stringify!($name), study(embeddings), &Spec::default())
        })*
    };
}

several_of_embeddings! {
    /// Over how many directions the nearest neighbors of a row spread, by three rules.
    local_pca_id;
    /// Intrinsic dimension by how distances and angles concentrate, beside how they do in balls.
    danco;
    /// Intrinsic dimension at the scales of 2, 4, 8, … neighbors, each from the ratio of two distances.
    gride;
    /// The share of the variance in the first and in the first ten principal components.
    variance_share;
    /// How many principal components hold 99 % of the variance, and which share of all that is.
    variance_rank;
    /// The largest and the smallest eigenvalue of the covariance.
    spectrum;
    /// Cluster learnability, intrinsic dimension, and their sum.
    clid;
}

/// Functions of embeddings and labels.
macro_rules! of_labels {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(embeddings: &Embeddings, labels: &Labels) -> Result<Score> {
            let mut study = study(embeddings);
            study.labels = Some(Arc::new(labels.clone()));
            first(scores(stringify!($name), study, &Spec::default())?)
        })*
    };
}

of_labels! {
    /// Cohesion of the classes versus separation from the nearest other class.
    silhouette;
    /// Normalized mutual information of k-means clusters and classes.
    nmi;
    /// Mutual information of k-means clusters and classes, adjusted for chance.
    ami;
    /// How well neighbors predict the class, averaged over random splits.
    knn_accuracy;
}

/// Functions of inputs and embeddings for a size of neighborhoods.
macro_rules! of_inputs {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(inputs: &Embeddings, embeddings: &Embeddings, k: usize) -> Result<Score> {
            let mut study = study(embeddings);
            study.input = Some(inputs.0.clone());
            let spec = Spec { k: vec![k], ..Spec::default() };
            first(scores(stringify!($name), study, &spec)?)
        })*
    };
}

of_inputs! {
    /// Whether neighbors of an embedding are neighbors of the input.
    trustworthiness;
    /// Whether neighbors of an input are neighbors of the embedding.
    continuity;
    /// The share of neighbors that inputs and embeddings agree on.
    q_nx;
    /// How much more that share is than chance.
    r_nx;
    /// How far the ranks of the neighbors of embeddings are from those among the inputs.
    mrre;
}

/// Slope, correlation and ratios of the distances of consecutive rows in the inputs and in the embeddings.
pub fn smoothness(inputs: &Embeddings, embeddings: &Embeddings) -> Result<Vec<Score>> {
    let mut study = study(embeddings);
    study.input = Some(inputs.0.clone());
    study.pairs = Some(Arc::new(Pairs::consecutive(embeddings.rows(), None)));
    scores("smoothness", study, &Spec::default())
}

/// The coding rates of MCR²: of the classes, or of k-means clusters where there are no labels.
pub fn mcr2(embeddings: &Embeddings, labels: Option<&Labels>) -> Result<Vec<Score>> {
    let mut study = study(embeddings);
    study.labels = labels.cloned().map(Arc::new);
    scores("mcr2", study, &Spec::default())
}

/// What linear probes and votes of neighbors read out of the embeddings: labels, or columns of numbers, or both.
pub fn probe(embeddings: &Embeddings, labels: Option<&Labels>, targets: Option<&Embeddings>) -> Result<Vec<Score>> {
    let mut study = study(embeddings);
    study.labels = labels.cloned().map(Arc::new);
    study.targets = targets.map(|targets| Arc::new(Targets::numbered((*targets.0).clone())));
    scores("probe", study, &Spec::default())
}

/// How near two views of the same samples are, and how uniform both are.
pub fn alignment(embeddings: &Embeddings, view: &Embeddings) -> Result<Vec<Score>> {
    let mut study = study(embeddings);
    study.view = Some(view.0.clone());
    scores("alignment", study, &Spec::default())
}

/// In how many directions samples differ more than two views of one sample.
pub fn lidar(embeddings: &Embeddings, view: &Embeddings) -> Result<Score> {
    let mut study = study(embeddings);
    study.view = Some(view.0.clone());
    first(scores("lidar", study, &Spec::default())?)
}

/// Functions of new rows and of reference rows.
macro_rules! of_two_sets {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(embeddings: &Embeddings, reference: &Embeddings) -> Result<Vec<Score>> {
            let mut study = study(embeddings);
            study.reference = Some(Arc::new(Reference { embeddings: (*reference.0).clone(), groups: None }));
            scores(stringify!($name), study, &Spec::default())
        })*
    };
}

of_two_sets! {
    /// The squared maximum mean discrepancy of three kernels, each with its p-value.
    mmd;
    /// How far new rows are from reference rows, beyond how far the rows of each set are from each other, with its p-value.
    energy_distance;
    /// How far the means and covariances of both sets are apart, with its p-value.
    frechet_distance;
    /// Whether the nearest rows of a row are of its own set, with its p-value.
    knn_two_sample;
}

/// How many batches the neighborhood of a row holds in effect.
pub fn ilisi(embeddings: &Embeddings, batches: &Labels) -> Result<Vec<Score>> {
    let mut study = study(embeddings);
    study.batches = Some(Arc::new(batches.clone()));
    scores("ilisi", study, &Spec::default())
}

/// How well batches are mixed among the rows of each class.
pub fn cilisi(embeddings: &Embeddings, labels: &Labels, batches: &Labels) -> Result<Vec<Score>> {
    let mut study = study(embeddings);
    study.labels = Some(Arc::new(labels.clone()));
    study.batches = Some(Arc::new(batches.clone()));
    scores("cilisi", study, &Spec::default())
}

/// The share of rows whose nearest rows hold the batches as all rows do.
pub fn kbet(embeddings: &Embeddings, batches: &Labels) -> Result<Score> {
    let mut study = study(embeddings);
    study.batches = Some(Arc::new(batches.clone()));
    first(scores("kbet", study, &Spec::default())?)
}

#[cfg(test)]
mod tests {
    use repscope_core::METRICS;

    use super::*;

    fn line() -> Embeddings {
        let line: Vec<f64> = (1..21).flat_map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect();
        Embeddings::new(20, 2, line).expect("finite numbers")
    }

    #[test]
    fn a_line_has_one_dimension() {
        let ratio = participation_ratio(&line()).expect("a score");
        assert!((ratio.value.expect("a number") - 1.0).abs() < 1e-12);
        let kept = trustworthiness(&line(), &line(), 3).expect("a score");
        assert_eq!(
            (kept.metric.to_string().as_str(), kept.value),
            ("trustworthiness@3", Some(1.0))
        );
    }

    #[test]
    fn every_metric_of_one_model_is_a_function() {
        let source = include_str!("functions.rs");
        let is_plain = |metric: &&&Metric| metric.is_of_studies() && metric.id != "robustness";
        for metric in METRICS.iter().filter(is_plain) {
            let is_listed = source.lines().any(|line| line.trim() == format!("{};", metric.id));
            assert!(
                is_listed || source.contains(&format!("pub fn {}(", metric.id)),
                "{}",
                metric.id
            );
        }
    }

    #[test]
    fn functions_of_two_inputs_give_what_they_are_named_for() {
        let line = line();
        let slope = &smoothness(&line, &line).expect("scores")[0];
        assert_eq!(slope.metric, "smoothness.slope");
        let near = &alignment(&line, &line).expect("scores")[0];
        assert_eq!((near.metric.as_str(), near.value), ("alignment", Some(0.0)));
        assert!(
            mcr2(&line, None)
                .expect("scores")
                .iter()
                .all(|score| score.metric.starts_with("mcr2."))
        );
    }

    #[test]
    fn errors_can_be_told_apart() {
        let error = Embeddings::new(2, 1, vec![1.0, f64::NAN])
            .err()
            .expect("NaN is refused");
        assert!(matches!(error, Error::Data { .. }), "{error:?}");
    }
}
