// SPDX-License-Identifier: MIT
//! The resolved options of a run. All defaults are here.

use serde::{Deserialize, Serialize};

use crate::error::{Result, refuse_if};

/// How distances between embeddings are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distance {
    /// Between the embeddings as they are.
    Euclidean,
    /// Between the embeddings divided by their length; orders pairs as the cosine does.
    Cosine,
}

/// How rows of two spaces are compared in a retrieval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Similarity {
    /// The cosine of their angle; 0 where a row has length zero.
    Cosine,
    /// The inner product of the rows as they are.
    Dot,
}

/// What the intervals of a retrieval speak about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchInterval {
    /// Other queries and other targets of the same kind.
    Population,
    /// Other queries in the same gallery of targets.
    Gallery,
}

/// How many clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClusterCount {
    /// The square root of the number of rows, rounded down.
    Sqrt,
    /// This many.
    #[serde(untagged)]
    Of(usize),
}

impl ClusterCount {
    /// The number for this many rows.
    pub fn of(self, rows: usize) -> usize {
        match self {
            ClusterCount::Sqrt => rows.isqrt(),
            ClusterCount::Of(count) => count,
        }
    }
}

/// Which steps of CLID see rows of length 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitLength {
    /// None.
    None,
    /// The vote of the neighbors.
    Vote,
    /// All: clusters, vote and intrinsic dimension.
    All,
}

/// How CLID brings the intrinsic dimension to the scale of the cluster learnability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdNorm {
    /// Divided by the number of columns, at most 1.
    Dim,
    /// Both standardized over the models that are compared.
    Pool,
}

/// The steps of CLID.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClidSpec {
    /// Whether columns are brought to mean 0 and variance 1 before clustering.
    pub standardize: bool,
    /// Which steps see rows of length 1.
    pub unit_length: UnitLength,
    /// Number of k-means clusters.
    pub clusters: ClusterCount,
    /// Restarts of k-means for each seed; the best by inertia is kept.
    pub restarts: usize,
    /// Neighbors that vote.
    pub k: usize,
    /// Random halves for each clustering.
    pub splits: usize,
    /// Clusterings, each with a seed of its own: `seed`, `seed` + 1, …
    pub repeats: usize,
    /// How the dimension is normalized.
    pub id_norm: IdNorm,
}

impl Default for ClidSpec {
    fn default() -> Self {
        ClidSpec::ROBUST
    }
}

impl ClidSpec {
    /// The nine steps of the CLID / RankMe analysis, to the letter: one clustering and one split.
    pub const SPEC: ClidSpec = ClidSpec {
        standardize: true,
        unit_length: UnitLength::Vote,
        clusters: ClusterCount::Of(10),
        restarts: 10,
        k: 5,
        splits: 1,
        repeats: 1,
        id_norm: IdNorm::Dim,
    };
    /// The same steps, as the mean over five clusterings: one alone depends on its seed.
    pub const ROBUST: ClidSpec = ClidSpec {
        repeats: 5,
        ..ClidSpec::SPEC
    };
    /// Lu et al. 2023: cosine geometry throughout, √N clusters, one neighbor, a common scale over the pool of models.
    pub const PAPER: ClidSpec = ClidSpec {
        standardize: false,
        unit_length: UnitLength::All,
        clusters: ClusterCount::Sqrt,
        restarts: 1,
        k: 1,
        splits: 10,
        repeats: 5,
        id_norm: IdNorm::Pool,
    };
}

/// The constants of ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankSpec {
    /// The share of the largest singular value that the numerical rank counts from.
    pub threshold: f64,
    /// What RankMe adds to shares; that of each variant where nothing was chosen.
    pub eps: Option<f64>,
}

impl Default for RankSpec {
    fn default() -> Self {
        RankSpec {
            threshold: 0.01,
            eps: None,
        }
    }
}

impl RankSpec {
    fn check(&self) -> Result<()> {
        let RankSpec { threshold, eps } = self;
        refuse_if(!(0.0..1.0).contains(threshold), || {
            format!("a threshold of {threshold} for the numerical rank is not at least 0 and below 1 (0.01 is usual)")
        })?;
        refuse_if(eps.is_some_and(|eps| !(eps >= 0.0 && eps.is_finite())), || {
            format!(
                "RankMe with eps = {}: it must be finite and at least 0 (1e-12 and 1e-7 are usual)",
                eps.unwrap_or_default()
            )
        })
    }
}

/// The constants of the coding rates of MCR².
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mcr2Spec {
    /// Weight of the second moments inside the discriminative term.
    pub gamma1: f64,
    /// Weight of the discriminative term in the total.
    pub gamma2: f64,
    /// The squared distortion ε².
    pub eps: f64,
}

/// The steps of the similarity of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AlikeSpec {
    /// Neighbors whose lists are compared.
    pub k: usize,
    /// Random rows of which all pairs are compared, by RSA and by CKA of Gaussian kernels.
    pub sample: usize,
    /// The width of Gaussian kernels, as a multiple of the median distance.
    pub bandwidth: f64,
    /// How often rows are shuffled; of products of all rows, a tenth as often.
    pub permutations: usize,
    /// The share of the variance that the principal components of SVCCA hold.
    pub variance: f64,
}

impl Default for AlikeSpec {
    fn default() -> Self {
        AlikeSpec {
            k: 10,
            sample: 1000,
            bandwidth: 1.0,
            permutations: 99,
            variance: 0.99,
        }
    }
}

impl AlikeSpec {
    fn check(&self) -> Result<()> {
        let AlikeSpec {
            k,
            sample,
            bandwidth,
            variance,
            ..
        } = self;
        refuse_if(*k == 0, || {
            "lists of 0 neighbors have nothing in common; k must be at least 1 (10 is usual)".to_string()
        })?;
        refuse_if(*sample < 6, || {
            format!("a sample of {sample} rows has too few pairs; give at least 6 (1000 is usual)")
        })?;
        refuse_if(!(*bandwidth > 0.0 && bandwidth.is_finite()), || {
            format!("a bandwidth of {bandwidth} medians is not above 0 and finite (1 is usual)")
        })?;
        refuse_if(!(*variance > 0.0 && *variance <= 1.0), || {
            format!(
                "components cannot hold a share of {variance} of the variance; it must be above 0 and at most 1 (0.99 is usual)"
            )
        })
    }
}

/// The steps of probes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProbeSpec {
    /// Folds that take turns in testing.
    pub folds: usize,
    /// Penalties of linear probes to choose from; none for the usual ones.
    pub penalties: Vec<f64>,
    /// Neighbors that vote.
    pub k: Vec<usize>,
    /// How the distances of neighbors are taken.
    pub distance: Distance,
    /// Bins of the calibration error.
    pub bins: usize,
    /// Rows of each class that probes of few rows are trained on.
    pub shots: Vec<usize>,
    /// Random draws of these rows.
    pub draws: usize,
}

impl Default for ProbeSpec {
    fn default() -> Self {
        ProbeSpec {
            folds: 5,
            penalties: Vec::new(),
            k: vec![5],
            distance: Distance::Euclidean,
            bins: 15,
            shots: vec![1, 5, 10, 20, 50, 100],
            draws: 5,
        }
    }
}

impl ProbeSpec {
    /// Penalties of ridge regression, the largest first.
    pub(crate) fn ridge_penalties(&self) -> Vec<f64> {
        self.penalties_or(-4..=8)
    }

    /// Penalties of logistic regression, the largest first.
    pub(crate) fn softmax_penalties(&self) -> Vec<f64> {
        self.penalties_or(-3..=5)
    }

    fn penalties_or(&self, powers: std::ops::RangeInclusive<i32>) -> Vec<f64> {
        let mut all = self.penalties.clone();
        if all.is_empty() {
            all = powers.map(|power| 10f64.powi(power)).collect();
        }
        all.sort_by(|a, b| b.total_cmp(a));
        all.dedup();
        all
    }

    fn check(&self) -> Result<()> {
        let ProbeSpec {
            folds, k, bins, draws, ..
        } = self;
        refuse_if(!(3..=1000).contains(folds), || {
            format!(
                "{folds} folds: at least 3 are needed, one to test and two to choose the penalty by, and at most 1000 (5 is usual)"
            )
        })?;
        let wrong = self.penalties.iter().find(|own| !(**own > 0.0 && own.is_finite()));
        refuse_if(wrong.is_some(), || {
            format!(
                "a penalty of {} is not above 0 and finite (0.01 to 10000 are usual)",
                wrong.copied().unwrap_or_default()
            )
        })?;
        refuse_if(k.contains(&0), || {
            "0 neighbors cannot vote; k must be at least 1 (5 is usual)".to_string()
        })?;
        refuse_if(self.shots.contains(&0), || {
            "a probe cannot learn from 0 rows of each class; give at least 1 (1 5 10 is usual)".to_string()
        })?;
        refuse_if(*bins == 0 || *draws == 0, || {
            format!(
                "{bins} bins of the calibration error and {draws} draws of few rows: at least one of each is needed"
            )
        })
    }
}

/// How two sets of rows are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DriftSpec {
    /// Neighbors whose sets are counted.
    pub k: usize,
    /// Random rows of each set of which all pairs are compared.
    pub sample: usize,
    /// The width of Gaussian kernels, as a multiple of the median distance.
    pub bandwidth: f64,
    /// How often rows change their sets at random; with none there is neither a chance level nor a p-value.
    pub permutations: usize,
}

impl Default for DriftSpec {
    fn default() -> Self {
        DriftSpec {
            k: 5,
            sample: 1000,
            bandwidth: 1.0,
            permutations: 999,
        }
    }
}

/// Fewer permutations than this give no p-value of 0.05.
pub const FEWEST_PERMUTATIONS: usize = 19;

impl DriftSpec {
    fn check(&self) -> Result<()> {
        let DriftSpec {
            k,
            sample,
            bandwidth,
            permutations,
        } = self;
        refuse_if(*k == 0, || {
            "0 neighbors are of no set; k must be at least 1 (5 is usual)".to_string()
        })?;
        refuse_if(*sample < 10, || {
            format!("a sample of {sample} rows of each set has too few pairs; give at least 10 (1000 is usual)")
        })?;
        refuse_if(!(*bandwidth > 0.0 && bandwidth.is_finite()), || {
            format!("a bandwidth of {bandwidth} medians is not above 0 and finite (1 is usual)")
        })?;
        refuse_if((1..FEWEST_PERMUTATIONS).contains(permutations), || {
            format!(
                "{permutations} permutations give no p-value below 1 / {}; give at least {FEWEST_PERMUTATIONS} (999 is usual), or 0 for none",
                permutations + 1
            )
        })
    }
}

/// How batches are looked for in neighborhoods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MixingSpec {
    /// Neighbors whose batches kBET tests.
    pub k: usize,
    /// How many neighbors count, in effect, in LISI.
    pub perplexity: f64,
    /// The level of the test of each neighborhood.
    pub significance: f64,
    /// How often batches are assigned at random, for the chance level.
    pub permutations: usize,
}

impl Default for MixingSpec {
    fn default() -> Self {
        MixingSpec {
            k: 50,
            perplexity: 30.0,
            significance: 0.05,
            permutations: 20,
        }
    }
}

impl MixingSpec {
    fn check(&self) -> Result<()> {
        let MixingSpec {
            k,
            perplexity,
            significance,
            ..
        } = self;
        refuse_if(*k < 2, || {
            format!("neighborhoods of {k}: at least 2 neighbors are needed to be of several batches (50 is usual)")
        })?;
        refuse_if(!(*perplexity >= 2.0 && perplexity.is_finite()), || {
            format!("a perplexity of {perplexity} is not at least 2 and finite (30 is usual)")
        })?;
        refuse_if(!(*significance > 0.0 && *significance < 1.0), || {
            format!("a test at the level {significance}: it must be between 0 and 1 (0.05 is usual)")
        })
    }
}

/// The constants of ETES.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EtesSpec {
    /// Weight of the fluency, ln(perplexity) / 10, in the total.
    pub fluency_weight: f64,
    /// Where the bands of the energy end: excellent, good, fair and weak; what lies above the last is poor.
    pub bands: [f64; 4],
    /// Whether a signal's own text is among the K nearest.
    pub k: Vec<usize>,
    /// Random pairings behind the p-value; without any there is none.
    pub permutations: usize,
}

impl Default for Mcr2Spec {
    fn default() -> Self {
        Mcr2Spec {
            gamma1: 1.0,
            gamma2: 1.0,
            eps: 0.01,
        }
    }
}

impl Default for EtesSpec {
    fn default() -> Self {
        EtesSpec {
            fluency_weight: 0.1,
            bands: [-0.8, -0.5, -0.2, 0.0],
            k: vec![1, 5, 10],
            permutations: 999,
        }
    }
}

impl EtesSpec {
    fn check(&self) -> Result<()> {
        let EtesSpec {
            fluency_weight,
            bands,
            k,
            ..
        } = self;
        refuse_if(!(fluency_weight.is_finite() && *fluency_weight >= 0.0), || {
            format!("a fluency weight of {fluency_weight} is not a number of at least 0 (0.1 is usual)")
        })?;
        let is_inside = bands.iter().all(|cut| (-1.0..=1.0).contains(cut));
        refuse_if(!is_inside || bands.windows(2).any(|pair| pair[0] >= pair[1]), || {
            format!(
                "bands that end at {bands:?}: give four energies from -1 to 1, each above the one before (-0.8 -0.5 -0.2 0 is \
                 usual)"
            )
        })?;
        refuse_if(k.contains(&0), || {
            format!("K = {k:?}: a text can be among the K nearest for K of at least 1 (1 5 10 is usual)")
        })
    }
}

/// The fewest neighbors between which there are angles, and the most whose binomial coefficients leave digits enough.
const DANCO_NEIGHBORS: (usize, usize) = (3, 30);

/// The constants of intrinsic dimensions from more than two neighbors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DimensionSpec {
    /// Neighborhood sizes of the maximum likelihood dimension.
    pub k: Vec<usize>,
    /// The largest K of the scales 2, 4, 8, … of Gride.
    pub gride_k: usize,
    /// Neighbors whose principal components are a local dimension.
    pub local_k: usize,
    /// Neighbors whose distances and angles DANCo looks at.
    pub danco_k: usize,
    /// The most rows that DANCo looks at; more are sampled.
    pub danco_rows: usize,
}

impl Default for DimensionSpec {
    fn default() -> Self {
        DimensionSpec {
            k: vec![20],
            gride_k: 64,
            local_k: 50,
            danco_k: 10,
            danco_rows: 2500,
        }
    }
}

impl DimensionSpec {
    fn check(&self) -> Result<()> {
        let DimensionSpec {
            k,
            gride_k,
            local_k,
            danco_k,
            danco_rows,
        } = self;
        refuse_if(k.is_empty() || k.iter().any(|&k| k < 2), || {
            format!("a dimension by maximum likelihood from k = {k:?} neighbors: k must be at least 2 (20 is usual)")
        })?;
        refuse_if(*gride_k < 2, || {
            format!("scales of Gride up to K = {gride_k}: the smallest is 2 (64 is usual)")
        })?;
        refuse_if(*local_k < 2, || {
            format!("principal components of {local_k} neighbors: at least 2 are needed (50 is usual)")
        })?;
        let (least, most) = DANCO_NEIGHBORS;
        refuse_if(!(least..=most).contains(danco_k), || {
            format!("DANCo from {danco_k} neighbors: between {least} and {most} are needed (10 is usual)")
        })?;
        refuse_if(*danco_rows < danco_k + 2, || {
            let needed = danco_k + 2;
            format!(
                "DANCo of {danco_rows} rows from {danco_k} neighbors each: at least {needed} rows are needed (2500 is usual)"
            )
        })
    }
}

/// Everything that can change a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The one seed of all random choices.
    pub seed: u64,
    /// Confidence level of intervals.
    pub level: f64,
    /// Neighborhood sizes of trustworthiness and continuity.
    pub k: Vec<usize>,
    /// Distance between embeddings for neighborhoods (inputs are always Euclidean).
    pub distance: Distance,
    /// Rank this many random rows against all, instead of all rows.
    pub sample: Option<usize>,
    /// Number of k-means clusters.
    pub clusters: usize,
    /// Restarts of k-means; the best by inertia is kept.
    pub restarts: usize,
    /// Clusterings of random halves of the rows, whose variance is part of intervals; with fewer than two it is not.
    pub clusterings: usize,
    /// Neighbors that vote in the k-NN accuracy.
    pub knn_k: usize,
    /// Random splits that the k-NN accuracy is averaged over.
    pub splits: usize,
    /// Share of the rows of each class that train in a split.
    pub train_share: f64,
    /// The t of uniformity's kernel exp(−t·d²).
    pub t: f64,
    /// Share of the largest distance ratios that TwoNN's fit leaves out.
    pub discard: f64,
    /// The constants of intrinsic dimensions from more than two neighbors.
    pub dimension: DimensionSpec,
    /// How many of the first targets a retrieval looks at.
    pub retrieval_k: Vec<usize>,
    /// How a retrieval compares rows.
    pub similarity: Similarity,
    /// What the intervals of a retrieval speak about.
    pub search_interval: SearchInterval,
    /// The exponent of alignment, mean ‖x − y‖^alpha.
    pub alpha: f64,
    /// The steps of CLID.
    pub clid: ClidSpec,
    /// The constants of ranks.
    pub rank: RankSpec,
    /// The constants of MCR².
    pub mcr2: Mcr2Spec,
    /// The constants of ETES.
    pub etes: EtesSpec,
    /// The steps of the similarity of models.
    pub alike: AlikeSpec,
    /// The steps of probes.
    pub probe: ProbeSpec,
    /// How two sets of rows are compared.
    pub drift: DriftSpec,
    /// How batches are looked for in neighborhoods.
    pub mixing: MixingSpec,
    /// Bytes the run may use, where the user set a budget.
    pub memory: Option<u64>,
}

impl Default for Spec {
    fn default() -> Self {
        Spec {
            seed: 42,
            level: 0.95,
            k: vec![5, 10, 15],
            distance: Distance::Euclidean,
            sample: None,
            clusters: 5,
            restarts: 10,
            clusterings: 5,
            knn_k: 5,
            splits: 10,
            train_share: 0.7,
            t: 2.0,
            discard: 0.1,
            dimension: DimensionSpec::default(),
            retrieval_k: vec![10, 50, 100],
            similarity: Similarity::Cosine,
            search_interval: SearchInterval::Population,
            alpha: 2.0,
            clid: ClidSpec::ROBUST,
            rank: RankSpec::default(),
            mcr2: Mcr2Spec::default(),
            etes: EtesSpec::default(),
            alike: AlikeSpec::default(),
            probe: ProbeSpec::default(),
            drift: DriftSpec::default(),
            mixing: MixingSpec::default(),
            memory: None,
        }
    }
}

impl Spec {
    /// Refuses options that no metric could work with. Those that depend on the data are checked by the metrics.
    pub fn check(&self) -> Result<()> {
        let Spec {
            clusters,
            restarts,
            level,
            discard,
            ..
        } = self;
        refuse_if(*clusters == 0 || *restarts == 0, || {
            format!("k-means with {clusters} clusters and {restarts} restarts: at least one of each is needed")
        })?;
        refuse_if(self.sample == Some(0), || {
            "a sample of 0 rows has no score; rank at least 1".to_string()
        })?;
        refuse_if(!(*level > 0.0 && *level < 1.0), || {
            format!("a confidence level of {level} is not between 0 and 1 (0.95 is usual)")
        })?;
        refuse_if(!(*discard >= 0.0 && *discard < 1.0), || {
            format!("TwoNN cannot leave out a share of {discard}; it must be at least 0 and below 1 (0.1 is usual)")
        })?;
        self.rank.check()?;
        self.dimension.check()?;
        self.alike.check()?;
        self.probe.check()?;
        self.drift.check()?;
        self.mixing.check()?;
        self.etes.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_reads_back_as_it_was_written() {
        let mut spec = Spec {
            distance: Distance::Cosine,
            sample: Some(7),
            clid: ClidSpec::PAPER,
            memory: Some(1 << 30),
            ..Spec::default()
        };
        spec.mcr2.eps = 0.1;
        spec.etes.k = vec![3];
        for spec in [Spec::default(), spec] {
            let json = serde_json::to_string(&spec).expect("plain data");
            let read: Spec = serde_json::from_str(&json).expect("what was written");
            assert_eq!(read, spec);
            assert_eq!(serde_json::to_string(&read).expect("plain data"), json);
        }
    }

    #[test]
    fn what_is_left_out_is_the_default_and_what_is_unknown_is_refused() {
        let spec: Spec = serde_json::from_str(r#"{"seed": 7, "clid": {"clusters": "sqrt"}}"#).expect("two options");
        assert_eq!((spec.seed, spec.level), (7, 0.95));
        assert_eq!((spec.clid.clusters, spec.clid.k), (ClusterCount::Sqrt, 5));
        let of_ten: ClidSpec = serde_json::from_str(r#"{"clusters": 10}"#).expect("a number of clusters");
        assert_eq!(of_ten.clusters, ClusterCount::Of(10));
        assert!(serde_json::from_str::<Spec>(r#"{"sead": 7}"#).is_err());
    }
}
