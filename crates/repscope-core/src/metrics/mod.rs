// SPDX-License-Identifier: MIT
//! The metrics. Each is declared once, in the file of its family, with a page that defines it, and registered in [`METRICS`]. The command line, the documentation, the tables and the tests of invariance all read this list.

mod accuracy;
mod alignment;
mod clid;
mod clustering;
mod collapse;
mod danco;
mod drift;
mod etes;
mod gride;
mod id;
mod knn_accuracy;
mod label_precision;
mod local_pca_id;
mod mcr2;
mod mixing;
mod mle_id;
mod mrre;
mod near;
mod neighborhood_curves;

mod over_queries;
mod participation_ratio;
mod performance;
mod pis;
mod probe;
mod rankme;
mod retrieval;
mod robustness;
mod similarity;
mod smoothness;
mod texts;
mod trustworthiness;
mod two_nn;
mod variance_rank;

use crate::data::{Performance, Study};
use crate::error::{Error, Result};
use crate::etes::Decoded;
use crate::kernels::singular::Function;
use crate::perturb::Perturbed;
use crate::plan::{Need, Shared};
use crate::results::Results;
use crate::retrieve::Ranked;
use crate::score::{Better, Score};
use crate::similar::{Alike, Pair};
use crate::spec::Spec;
use serde::{Deserialize, Serialize};

pub use clustering::agreement;
pub(crate) use clustering::{deviations_from, shares_of_mean, squared_deviations};
pub use id::MetricId;
pub use knn_accuracy::accuracy_of_split;
pub(crate) use retrieval::discount;

/// The functions of the singular values of centered embeddings, and of the embeddings as they are.
pub(crate) static OF_CENTERED: [Function; 9] = [
    rankme::SPEC,
    rankme::STABLE,
    rankme::EXPONENT,
    rankme::R2,
    rankme::RATIO,
    collapse::SUM,
    collapse::ISOTROPY,
    collapse::FIRST,
    collapse::FIRST_TEN,
];
pub(crate) static OF_RAW: [Function; 2] = [rankme::PAPER, collapse::VOLUME];

/// Every metric, in the order in which they are shown.
pub static METRICS: &[&Metric] = &[
    &smoothness::METRIC,
    &robustness::METRIC,
    &trustworthiness::TRUSTWORTHINESS,
    &trustworthiness::CONTINUITY,
    &neighborhood_curves::Q_NX,
    &neighborhood_curves::R_NX,
    &mrre::METRIC,
    &participation_ratio::PARTICIPATION_RATIO,
    &participation_ratio::DIMENSION_USAGE,
    &participation_ratio::SPECTRUM,
    &two_nn::METRIC,
    &mle_id::METRIC,
    &gride::METRIC,
    &local_pca_id::METRIC,
    &danco::METRIC,
    &alignment::UNIFORMITY,
    &clustering::SILHOUETTE,
    &clustering::NMI,
    &clustering::AMI,
    &clustering::INERTIA,
    &clustering::CLUSTER_BALANCE,
    &knn_accuracy::METRIC,
    &rankme::RANKME,
    &rankme::NUMERICAL_RANK,
    &rankme::STABLE_RANK,
    &rankme::ALPHA_REQ,
    &rankme::CONDITION_NUMBER,
    &rankme::STD_COLLAPSE,
    &collapse::NESUM,
    &collapse::ISOSCORE,
    &collapse::VARIANCE_SHARE,
    &variance_rank::VARIANCE_RANK,
    &collapse::SELF_CLUSTER,
    &collapse::COHERENCE,
    &collapse::EPPS_PULLEY,
    &collapse::LIDAR,
    &clid::METRIC,
    &mcr2::METRIC,
    &alignment::METRIC,
    &performance::WEIGHTED_CLID,
    &performance::METRIC,
    &drift::MMD,
    &drift::ENERGY_DISTANCE,
    &drift::FRECHET_DISTANCE,
    &drift::KNN_TWO_SAMPLE,
    &mixing::ILISI,
    &mixing::CILISI,
    &mixing::KBET,
    &label_precision::METRIC,
    &retrieval::LABEL_RECALL,
    &retrieval::LABEL_HIT,
    &retrieval::LABEL_NDCG,
    &retrieval::R_PRECISION,
    &retrieval::MAP_AT_R,
    &retrieval::MRR,
    &retrieval::PAIR_RECALL,
    &retrieval::HUBNESS,
    &retrieval::MODALITY_GAP,
    &similarity::CKA,
    &similarity::MUTUAL_KNN,
    &similarity::CYCLE_KNN,
    &similarity::RSA,
    &similarity::SVCCA,
    &similarity::PWCCA,
    &similarity::PROCRUSTES,
    &probe::METRIC,
    &accuracy::METRIC,
    &pis::METRIC,
    &etes::METRIC,
    &texts::BLEU,
    &texts::ROUGE,
    &texts::WER,
];

/// The analyses; a command each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "lowercase")]
pub enum Analysis {
    /// Do small steps of the input make small steps of the embedding?
    Smoothness,
    /// How far does noise in the input move the embedding?
    Robustness,
    /// Are neighbors of the input neighbors of the embedding, and the other way round?
    Neighborhood,
    /// How many dimensions do the embeddings use?
    Manifold,
    /// How are the embeddings spread, and do they fall into classes?
    Geometry,
    /// How many directions do the embeddings really fill?
    Rankme,
    /// Are clusters of the embeddings easy to learn, and how many dimensions do the embeddings have?
    Clid,
    /// Do the targets nearest to a query have its label?
    Retrieval,
    /// Are the representations of two models the same thing?
    Similarity,
    /// What can be read out of the embeddings by simple predictors?
    Probe,
    /// Do new rows come from the distribution of reference rows?
    Drift,
    /// Do neighborhoods mix the batches that the data come from?
    Mixing,
    /// How much worse does a classifier do where parts of its inputs are masked?
    Perturb,
    /// Do texts generated from signals fit the signals?
    Etes,
}

impl Analysis {
    /// The name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Analysis::Smoothness => "smoothness",
            Analysis::Robustness => "robustness",
            Analysis::Neighborhood => "neighborhood",
            Analysis::Manifold => "manifold",
            Analysis::Geometry => "geometry",
            Analysis::Rankme => "rankme",
            Analysis::Clid => "clid",
            Analysis::Retrieval => "retrieval",
            Analysis::Similarity => "similarity",
            Analysis::Probe => "probe",
            Analysis::Drift => "drift",
            Analysis::Mixing => "mixing",
            Analysis::Perturb => "perturb",
            Analysis::Etes => "etes",
        }
    }

    /// Whether its scores speak of two models each, and not of one.
    pub fn is_of_pairs(self) -> bool {
        self == Analysis::Similarity
    }

    /// The metrics that belong to it.
    pub fn metrics(self) -> Vec<&'static Metric> {
        METRICS.iter().copied().filter(|m| m.analysis == self).collect()
    }
}

/// A change of the embeddings that leaves every score of a metric as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Invariance {
    /// Turning or mirroring the space.
    Rotation,
    /// Adding a constant vector.
    Shift,
    /// Multiplying by a positive number.
    Scale,
    /// Putting the rows (and everything that belongs to them) into another order.
    RowOrder,
}

impl Invariance {
    /// What leaves every relation between distances as it was.
    const SIMILARITY: &'static [Invariance] = &[
        Invariance::Rotation,
        Invariance::Shift,
        Invariance::Scale,
        Invariance::RowOrder,
    ];
    /// What leaves every angle between rows as it was.
    const OF_ANGLES: &'static [Invariance] = &[Invariance::Rotation, Invariance::Scale, Invariance::RowOrder];
}

/// What a metric is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum Takes {
    /// What the model saw, one sample per row.
    States,
    /// The embeddings of the model.
    Embeddings,
    /// The model itself, which is shown states with noise.
    Encoder,
    /// A class per row.
    Labels,
    /// A class per row, or nothing.
    LabelsIfAny,
    /// Continuous values of each row, or nothing.
    ValuesIfAny,
    /// Embeddings of a second view of the same samples.
    View,
    /// Embeddings of other samples by the same encoder, such as those it was trained on.
    Reference,
    /// The batch of each row: what it comes from and what should not show.
    Batches,
    /// How well each of several models does elsewhere.
    Performance,
    /// The embeddings of several models for the same samples.
    Models,
    /// Rows that search.
    Queries,
    /// Rows that are found; without them the queries search among themselves.
    Targets,
    /// What a classifier says with and without perturbation, and what is true.
    Predictions,
    /// Embeddings of signals.
    Signals,
    /// Embeddings of texts that were generated from the signals, and of the true texts where there are some.
    TextEmbeddings,
    /// Texts that were generated, and the true texts.
    Texts,
}

/// One score that a metric gives.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Its printed identity; `K` and `SIGMA` stand for numbers, `DIRECTION` for a direction such as `text2sensor`, `HEAD`,
    /// `SET`, `FAMILY` and `NAME` for names such as `snr`, `top1`, `top` and `x`.
    pub id: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The direction.
    pub better: Better,
    /// The values it can have.
    pub range: &'static str,
    /// Its column in the summary file of its analysis, where it has one.
    pub column: Option<&'static str>,
    is_comparable: bool,
    /// Whether an encoder that gives the same embedding for everything has the best value: no model is called best by it.
    pub is_best_when_constant: bool,
    /// The score that this one is a function of: both share one comparison.
    pub function_of: Option<&'static str>,
    /// Whether it is meant where one of several variants is asked for by the name of the metric alone.
    pub has_bare_name: bool,
}

impl Output {
    const fn new(id: &'static str, about: &'static str, better: Better, range: &'static str) -> Self {
        Output {
            id,
            about,
            better,
            range,
            column: None,
            is_comparable: true,
            is_best_when_constant: false,
            function_of: None,
            has_bare_name: false,
        }
    }

    const fn higher(id: &'static str, range: &'static str) -> Self {
        Output::new(id, "", Better::Higher, range)
    }

    const fn lower(id: &'static str, range: &'static str) -> Self {
        Output::new(id, "", Better::Lower, range)
    }

    const fn neither(id: &'static str, range: &'static str) -> Self {
        Output::new(id, "", Better::Neither, range)
    }

    /// With what it is, in a few words.
    const fn about(self, about: &'static str) -> Self {
        Output { about, ..self }
    }

    /// With a column in the summary file of its analysis.
    const fn column(self, name: &'static str) -> Self {
        Output {
            column: Some(name),
            ..self
        }
    }

    /// A score that changes when the embeddings are merely scaled, so that no model is called best by it.
    const fn in_units_of_the_embeddings(self) -> Self {
        Output {
            is_comparable: false,
            ..self
        }
    }

    /// A score that an encoder without any information maximizes.
    const fn best_when_constant(self) -> Self {
        Output {
            is_best_when_constant: true,
            ..self
        }
    }

    /// The variant that the name of the metric alone stands for.
    const fn by_bare_name(self) -> Self {
        Output {
            has_bare_name: true,
            ..self
        }
    }

    /// A score that says in other units what this one says.
    const fn function_of(self, id: &'static str) -> Self {
        Output {
            function_of: Some(id),
            ..self
        }
    }

    /// Whether models may be ranked by it: false where the value changes when the embeddings are merely scaled.
    pub fn is_comparable(&self) -> bool {
        self.is_comparable
    }

    /// Whether a value lies in the range, as far as its ends are numbers; a millionth of rounding is allowed.
    pub fn allows(&self, value: f64) -> bool {
        let [low, high] = self.bounds();
        let slack = 1e-6 * (1.0 + value.abs());
        value >= low - slack && value <= high + slack
    }

    /// The ends of the range; infinite where an end is open or depends on options or data.
    pub(crate) fn bounds(&self) -> [f64; 2] {
        let words = self.range.replace('−', "-");
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let low = |text: &str| number(text).unwrap_or(f64::NEG_INFINITY);
        let high = |text: &str| number(text).unwrap_or(f64::INFINITY);
        if words.contains("any number") {
            [f64::NEG_INFINITY, f64::INFINITY]
        } else if let Some((from, to)) = words.split_once(" to ") {
            [low(from), high(to)]
        } else if let Some(from) = words
            .strip_suffix(" and above")
            .or_else(|| words.strip_prefix("above "))
        {
            [low(from), f64::INFINITY]
        } else if let Some(to) = words.strip_suffix(" and below") {
            [f64::NEG_INFINITY, high(to)]
        } else {
            [f64::NEG_INFINITY, f64::INFINITY]
        }
    }
}

/// A metric, declared once.
pub struct Metric {
    /// Its name.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Where it belongs.
    pub analysis: Analysis,
    /// The scores it gives.
    pub outputs: &'static [Output],
    /// The page that defines it, in Markdown; [`Metric::definition`] adds what is known of its intervals.
    pub page: &'static str,
    /// What leaves it unchanged.
    pub invariances: &'static [Invariance],
    /// What it is computed from, in the order in which a function of its name takes them.
    pub takes: &'static [Takes],
    /// The options of its command that can change it, beside seed and level.
    pub options: &'static [&'static str],
    pub(crate) work: Work,
}

/// The passes that a metric needs.
pub(crate) type Needs = fn(&Spec, &Study) -> Result<Vec<Need>>;
/// A metric of one model.
pub(crate) type Compute = fn(&Shared) -> Result<Results>;

/// What a metric is computed from.
pub(crate) enum Work {
    /// The embeddings, inputs, labels and pairs of one model, through the passes it declares.
    Study { needs: Needs, compute: Compute },
    /// The same, and then the scores of all models together.
    Pool {
        needs: Needs,
        compute: Compute,
        across: fn(&Spec, &mut Results),
    },
    /// The scores of all models, and how well these models do elsewhere.
    Performance {
        compute: fn(&Results, &Performance, &Spec) -> Result<Results>,
    },
    /// The targets that each query of one direction of a retrieval found.
    Ranking(Part, fn(&Ranked) -> Results),
    /// Two models on the same rows.
    Alike { compute: fn(&Pair) -> Result<Alike> },
    /// Which samples a classifier gets right, with and without perturbation.
    Perturbation { compute: fn(&Perturbed) -> Results },
    /// Texts that a system generated from signals, and their vectors.
    Decoding { compute: fn(&Decoded) -> Results },
}

/// How much of a ranking a metric reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The first K targets.
    First,
    /// As far as there are relevant targets.
    Whole,
}

impl Metric {
    /// A start for a declaration, which says the rest.
    const fn of(analysis: Analysis, takes: &'static [Takes], work: Work) -> Self {
        Metric {
            id: "",
            title: "",
            analysis,
            outputs: &[],
            page: "",
            invariances: &[],
            takes,
            options: &[],
            work,
        }
    }

    /// The error of a function that computes others: `expected` is what it computes.
    pub(crate) fn is_not(&self, expected: &'static str) -> Error {
        let metric = self.id;
        Error::WrongMetric { metric, expected }
    }

    /// A number for its first output.
    fn number(&self, value: f64, n: usize) -> Score {
        Score::number(&self.outputs[0], value, n)
    }

    /// Every output without a number, for the same reason.
    fn undefined(&self, reason: impl Into<String>, n: usize) -> Results {
        let reason = reason.into();
        let undefined = |output| Score::undefined(output, reason.clone(), n);
        self.outputs.iter().map(undefined).collect()
    }

    /// Whether it is a score of a study, computed by [`crate::evaluate`]; the others are computed by
    /// [`crate::retrieve`], [`crate::perturb()`], [`crate::etes()`] or [`crate::relate`].
    pub fn is_of_studies(&self) -> bool {
        self.of_study().is_some()
    }

    pub(crate) fn of_study(&self) -> Option<(Needs, Compute)> {
        match self.work {
            Work::Study { needs, compute } | Work::Pool { needs, compute, .. } => Some((needs, compute)),
            _ => None,
        }
    }

    /// Whether it reads more of a ranking than the first K targets. Without such metrics a retrieval is faster.
    pub fn reads_whole_ranking(&self) -> bool {
        matches!(self.work, Work::Ranking(Part::Whole, _))
    }
}

/// The metric and output with this identity, such as `trustworthiness@10`, or with the name of a metric.
pub fn find(id: &str) -> Option<(&'static Metric, Option<&'static Output>)> {
    let id: MetricId = id.parse().ok()?;
    let metric = id.metric().filter(|metric| id.output().is_some() || id == metric.id)?;
    Some((metric, id.output()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_from_its_words() {
        let allows = |range: &'static str, value: f64| Output::new("x", "", Better::Neither, range).allows(value);
        assert!(allows("0 to 1", 1.0) && !allows("0 to 1", 1.1) && !allows("−1 to 1", -1.1));
        assert!(allows("0 and above", 7.0) && !allows("0 and above", -1.0) && !allows("above 0", -1.0));
        assert!(allows("1 to min(N, D)", 7.0) && !allows("1 to min(N, D)", 0.5) && !allows("1 and below", 2.0));
        assert!(allows("any number", -7.0));
    }

    #[test]
    fn no_identity_is_declared_twice() {
        let mut ids: Vec<&str> = METRICS.iter().flat_map(|m| m.outputs).map(|o| o.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn every_metric_says_what_it_takes() {
        for metric in METRICS {
            assert!(!metric.takes.is_empty(), "{}", metric.id);
            assert_eq!(metric.is_of_studies(), {
                let has = |what: Takes| metric.takes.contains(&what);
                (has(Takes::Embeddings) || has(Takes::Encoder)) && !has(Takes::Performance)
            });
        }
    }

    #[test]
    fn every_page_has_the_sections_a_reader_looks_for() {
        for metric in METRICS {
            for heading in [
                "## Formula",
                "## Conventions",
                "## Interval",
                "## Reading it",
                "## References",
            ] {
                assert!(metric.page.contains(heading), "{}: {heading}", metric.id);
            }
            assert!(metric.page.starts_with(&format!("# {}", metric.title)), "{}", metric.id);
            for output in metric.outputs {
                assert!(output.id.starts_with(metric.id), "{} in {}", output.id, metric.id);
            }
        }
    }

    #[test]
    fn metrics_are_found_by_their_printed_identity() {
        let name = |id: &str| find(id).map(|(m, o)| (m.id, o.map(|o| o.id)));
        assert_eq!(
            name("trustworthiness@7"),
            Some(("trustworthiness", Some("trustworthiness@K")))
        );
        assert_eq!(name("two_nn(fit=mle)"), Some(("two_nn", Some("two_nn(fit=mle)"))));
        assert_eq!(
            name("smoothness.unit.slope"),
            Some(("smoothness", Some("smoothness.unit.slope")))
        );
        assert_eq!(name("smoothness"), Some(("smoothness", None)));
        assert_eq!(name("trustworthy"), None);
        assert_eq!(name("trustworthiness@abc"), None);
        assert_eq!(name("pis.snr@top1"), Some(("pis", Some("pis.HEAD@SET"))));
        assert_eq!(name("pis.snr(f=lit)@top1"), Some(("pis", Some("pis.HEAD(f=lit)@SET"))));
        assert_eq!(name("pis.snr.mean@top"), Some(("pis", Some("pis.HEAD.mean@FAMILY"))));
        assert_eq!(
            name("accuracy.snr@baseline"),
            Some(("accuracy", Some("accuracy.HEAD@SET")))
        );
        assert_eq!(name("pis.snr.median@top"), None);
    }
}
