// SPDX-License-Identifier: MIT
//! The metrics of repscope and the kernels they share.
//!
//! The map, in the order data flows:
//!
//! - [`data`]: what goes in. A [`Space`] is a named N × D matrix, known to be finite; a [`Study`] is one
//!   model's row-aligned spaces, labels and pairs; a [`Retrieval`] is spaces that search each other.
//! - [`Spec`]: every option that can change a number, with all defaults in one place.
//! - [`metrics`]: what can be computed. Each metric is a declaration in the file of its family, a page with its definition, and
//!   one line in [`METRICS`]. It declares the kernels it needs and computes its scores. A [`MetricId`] names a score.
//! - `plan`: [`evaluate`] gathers the needs of all metrics, runs each kernel once, and computes the scores.
//! - `kernels`: the shared scans. `prepared` makes a matrix ready (exact in f64, fast in f32, with a proven bound between the
//!   two); `tiles` visits every pair of rows once and feeds `neighbors`, `ranks` and `pair_sums`; `moments`, `spectrum` and
//!   `singular` give eigenvalues and singular values, `clusters` k-means, `contingency` tables of two labelings, `learnability`
//!   and `knn_vote` how well neighbors predict clusters, `coding_rates` the volume of classes, `views` the distances of given
//!   pairs, `probe` what can be read out, `pca_plane` and `tsne` maps, `influence` what each row adds to a score through the others. For retrievals,
//!   `similarity` and `microkernel` compare two spaces and `rankings` orders their rows, run by [`retrieve`]. For signals and
//!   texts, `matched` compares all pairs and `shuffled` gives the scores of random pairs.
//! - [`masking`]: images without some of their pixels; [`perturb`]: how much worse a classifier does on them. [`Corruption`]: noise in
//!   the inputs of an encoder.
//! - `kernels::two_sets` compares the rows of a study with those of a reference, and `kernels::mixing` looks for batches in neighborhoods.
//! - [`similarity()`]: models against each other on the same rows, from their products, lists and distances (`kernels::alike`).
//! - [`etes()`]: how well texts generated from signals fit these, in the space of an aligner; `texts`: what single texts score.
//! - [`blocks`]: the same work on matrices that no single machine holds: tasks that workers run wherever the rows are, and partials
//!   that are merged in a fixed order.
//! - [`run`]: drivers. Tasks are cut by shape alone and merged in task order, so the same bits come out of one
//!   thread or sixteen.
//! - `stats`: confidence intervals, rank correlation, and [`compare`]: models against each other, unit by unit; [`relate`]:
//!   scores against how well models do elsewhere; [`draw_maps`]: maps of each model's embeddings.
//! - [`coverage`]: how often the intervals hold what they should, by simulation.
//! - [`examine`]: what is wrong with the data or a model, before any number. [`Question`]: what each analysis answers, and by which
//!   score; [`rank`]: the order of models by scores of the user's choice.
//! - [`random`]: named streams from one seed.
//! - [`Results`]: what comes out. A [`Score`] is a number with everything needed to publish it; a value that does
//!   not exist is a reason instead. [`Results::absorb`] is the one way in which answers join.
//!
//! This crate touches no files, clock, environment or terminal.
//!
//! ```
//! use repscope_core::{Analysis, Space, Spec, Study, evaluate, run::{Driver, Order}};
//!
//! // Twenty embeddings on a straight line in the plane.
//! let line: Vec<f64> = (0..20).flat_map(|i| [i as f64, 2.0 * i as f64]).collect();
//! let study = Study::new("line", Space::from_f64("embeddings", 20, 2, line)?);
//! let results = evaluate(&[study], &Analysis::Manifold.metrics(), &Spec::default(), &Driver::silent(Order::Parallel))?;
//! assert!((results.score("line", "participation_ratio").unwrap().value.unwrap() - 1.0).abs() < 1e-12);
//! # Ok::<(), repscope_core::Error>(())
//! ```
#![deny(unsafe_code)] // but for the kernel of `kernels/coarse.rs`

pub mod blocks;
mod candidates;
mod collapse;
mod corruption;
pub mod coverage;
pub mod data;
mod error;
mod etes;
mod findings;
pub(crate) mod kernels;
mod leaks;
mod maps;
pub mod masking;
pub mod metrics;
mod perturb;
mod plan;
mod questions;
pub mod random;
mod ranking;
mod relate;
mod results;
mod retrieve;
pub mod run;
mod score;
mod similar;
mod spec;
mod stats;
mod texts;

pub use collapse::{Collapse, Directions};
pub use corruption::{Corrupting, Corruption};
pub use data::{
    Decoding, Direction, Head, LabelSet, Labels, Moves, Noise, NoiseLevel, Pairs, Performance, Perturbation,
    PerturbedSet, Precision, Reference, Retrieval, Space, Split, Study, System, Targets, Values, Version, VersionMaker,
    part_of_identity,
};
pub use error::{Error, Result, counted};
pub use etes::etes;
pub use findings::{Finding, Trouble, examine, examine_order};
pub use kernels::tiles::{nearest_neighbors, nearest_neighbors_of};
pub use kernels::tsne::{TSNE_STEPS, tsne_perplexity};
pub use leaks::{Leaks, Twin, leaks, repeats};
pub use maps::{TSNE_MOST_ROWS, draw_maps};
pub use masking::{Masked, Masking};
pub use metrics::{Analysis, METRICS, Metric, MetricId, Takes};
pub use perturb::perturb;
pub use plan::{METRICS_OF_BLOCKS, check, draw_queries, evaluate};
pub use questions::{Quality, Question};
pub use ranking::{RANKING, rank};
pub use relate::relate;
pub use results::{ModelLayer, Results, Versioned};
pub use retrieve::retrieve;
pub use score::{
    Better, Breakdown, ClassColumn, Curve, Difference, Equivalence, Interval, NameColumn, NumberColumn, SampleTable,
    Score, Training,
};
pub use similar::{BETWEEN, check_similarity, similarity};
pub use spec::{
    AlikeSpec, ClidSpec, ClusterCount, DimensionSpec, Distance, DriftSpec, EtesSpec, FEWEST_PERMUTATIONS, IdNorm,
    Mcr2Spec, MixingSpec, ProbeSpec, RankSpec, SearchInterval, Similarity, Spec, UnitLength,
};
pub use stats::{Margin, Recipe, adjust, compare, compare_versions, keep_best, pool, test_equivalence};
