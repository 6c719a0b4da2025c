// SPDX-License-Identifier: MIT
//! Are clusters of the embeddings easy to learn, how many dimensions do they have, and which score predicts how well models do?

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::TypedValueParser;
use repscope_core::metrics::Output;
use repscope_core::{
    Analysis as Kind, Breakdown, ClidSpec, ClusterCount, Finding, IdNorm, METRICS, Mcr2Spec, Metric, NameColumn,
    NumberColumn, Results, Spec, Study, Takes, Trouble, UnitLength, relate,
};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare, different_shapes};
use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::{Inputs, Role};
use crate::options::{Data, Groups, MOST_SPLITS, Models, SeenOption, Settings, choice, default_options, word, words};
use crate::performance_file::{self, PerformanceSource};
use crate::reader::Sources;
use crate::session::Session;
use crate::source::{Named, Source, bind};

/// Clusters for MCR² without labels, unless a number is given.
pub(crate) const CLUSTERS: usize = 10;
/// Rank correlations, and the fit of weighted CLID, need this many models.
const FEWEST_MODELS: usize = 4;
/// The metric of another analysis that is always shown beside CLID.
const COMPANION: &str = "uniformity";
/// Why scores of models of different shapes cannot be compared.
const SHAPES_MATTER: &str = "ID / D and MCR² change with the columns, and all scores with the rows; compare such \
                             models by the preset `paper`, and with care";

const PRESETS: &[(&str, &str)] = &[
    (
        "spec",
        "The nine steps of the original CLID / RankMe scripts: one clustering",
    ),
    ("robust", "The same, as the mean over five clusterings"),
    ("paper", "The steps of Lu et al. 2023"),
];
const UNIT_LENGTHS: &[(&str, &str)] = &[
    ("none", "In no step"),
    ("vote", "In the vote of the neighbors"),
    ("all", "In all steps: clusters, vote and dimension"),
];
const ID_NORMS: &[(&str, &str)] = &[
    ("dim", "Divided by the number of columns, at most 1"),
    ("pool", "Standardized over the models, like CL"),
];

/// Where the steps of CLID start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The nine steps of the specification.
    Spec,
    /// The same, as the mean over five clusterings.
    Robust,
    /// The steps of Lu et al. 2023.
    Paper,
}

/// A choice that a preset makes where nobody does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum YesNo {
    Yes,
    No,
}

/// CLID with its companions, and which score predicts how well models do.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Clid {
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// What encoders are run on.
    #[command(flatten)]
    #[serde(flatten)]
    pub seen: SeenOption,
    /// Embeddings of a second view of the same samples, for alignment: NAME=PATH for each model, a folder or pattern with
    /// the file names of the models, or PATH for one model
    #[arg(long, alias = "features2", num_args = 1.., value_name = "NAME=PATH|PATH")]
    pub views: Vec<Named>,
    /// A class per row, for MCR² [default: k-means clusters]
    #[arg(long, value_name = "PATH")]
    pub labels: Option<Source>,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// Downstream performance of each model: a table with a column of models and one of numbers (FILE#COLUMN selects it).
    /// Fits the weights of CL and ID, and shows which score predicts the numbers
    #[arg(long, value_name = "FILE")]
    pub performance: Option<PerformanceSource>,
    /// Preset for all steps; the options below change single ones
    #[arg(
        long,
        value_parser = presets(),
        default_value = "robust",
        hide_possible_values = true,
        value_name = "spec|robust|paper",
        help_heading = "Steps of CLID"
    )]
    pub preset: Preset,
    /// Standardize each column to mean 0 and variance 1 first
    #[arg(long, value_parser = words::<YesNo>("yes no"), num_args = 0..=1, default_missing_value = "yes", hide_possible_values = true, value_name = "yes|no", help_heading = "Steps of CLID")]
    pub standardize: Option<YesNo>,
    /// Which steps use rows scaled to unit length
    #[arg(
        long,
        value_parser = choice::<UnitLength>(UNIT_LENGTHS),
        hide_possible_values = true,
        value_name = "none|vote|all",
        help_heading = "Steps of CLID"
    )]
    pub unit_length: Option<UnitLength>,
    /// Number of k-means clusters; sqrt: the square root of the number of rows. A number also applies to MCR² without
    /// labels
    #[arg(long, alias = "n-clusters", value_parser = cluster_count, value_name = "N|sqrt", help_heading = "Steps of CLID")]
    pub clusters: Option<ClusterCount>,
    /// Restarts of k-means; the best by inertia is kept
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub restarts: Option<usize>,
    /// Number of voting neighbors
    #[arg(long, alias = "k-classifier", value_name = "K", help_heading = "Steps of CLID")]
    pub k: Option<usize>,
    /// Number of clusterings, each with its own seed: --seed, --seed + 1, …
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub repeats: Option<usize>,
    /// Number of random train/test splits of each clustering
    #[arg(long, value_name = "N", help_heading = "Steps of CLID")]
    pub splits: Option<usize>,
    /// Divide the dimension by the number of columns (dim), or standardize it and CL over the models (pool)
    #[arg(
        long,
        value_parser = choice::<IdNorm>(ID_NORMS),
        hide_possible_values = true,
        value_name = "dim|pool",
        help_heading = "Steps of CLID"
    )]
    pub id_norm: Option<IdNorm>,
    /// Exponent of the distance in alignment
    #[arg(long, default_value_t = 2.0, help_heading = "Companions")]
    pub alpha: f64,
    /// Kernel parameter t of uniformity
    #[arg(long, default_value_t = 2.0, help_heading = "Companions")]
    pub t: f64,
    /// Squared distortion of MCR²
    #[arg(long, default_value_t = 0.01, help_heading = "Companions")]
    pub eps: f64,
    /// Weight inside the discriminative term of MCR²
    #[arg(long, default_value_t = 1.0, help_heading = "Companions")]
    pub gam1: f64,
    /// Weight of the discriminative term in the total of MCR²
    #[arg(long, default_value_t = 1.0, help_heading = "Companions")]
    pub gam2: f64,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  repscope clid --model jepa=z_jepa.npy --model autoencoder=z_ae.npy
  repscope clid --model checkpoints --preset paper --splits 3
  repscope clid --model 'checkpoints/*.npy' --performance accuracy.csv
  repscope clid --model jepa=z_jepa.npy --views augmented.npy --labels labels.npy

A preset sets all steps of CLID; each option changes one of them.

  step                             spec           robust         paper           option
  standardize the columns          yes            yes            no              --standardize
  scale rows to unit length        for the vote   for the vote   for all steps   --unit-length
  k-means clusters                 10             10             sqrt            --clusters
  restarts of k-means              10             10             1               --restarts
  voting neighbors                 5              5              1               --k
  clusterings, one seed each       1              5              5               --repeats
  splits of each clustering        1              1              10              --splits
  normalization of the dimension   dim            dim            pool            --id-norm

accuracy.csv has a column of models and one of numbers; with it, each score that
needs no labels is correlated with them. Options may be written with - or with _.";

default_options!(Clid);
bind!(Clid: models, seen, views, labels, groups, performance);
declare!(Clid {
    kind: Kind::Clid,
    about: "Are the clusters learnable, and which score predicts accuracy? (CLID, MCR²)",
    examples: EXAMPLES,
    folder: "clid",
    reads: &[Role::Labels, Role::Episodes, Role::Embeddings, Role::Views],
    data: Origin::Study,
    is_asked_for: false,
    stage: 1,
    sweeps: true,
    keeps_samples: false,
    classes: &["labels", "episodes"],
    take: |joint, own| {
        joint.clid = own.clid.clone();
        joint.discard = own.discard;
        joint.t = own.t;
        joint.sample = own.sample;
    },
});

/// Parses a preset.
pub(crate) fn presets() -> impl TypedValueParser<Value = Preset> {
    choice::<Preset>(PRESETS)
}

impl Preset {
    /// Its steps.
    pub fn steps(self) -> ClidSpec {
        match self {
            Preset::Spec => ClidSpec::SPEC,
            Preset::Robust => ClidSpec::ROBUST,
            Preset::Paper => ClidSpec::PAPER,
        }
    }
}

impl Analysis for Clid {
    fn data(&self) -> Data {
        Data {
            states: self.seen.states.clone(),
            labels: self.labels.clone(),
            episodes: self.groups.episodes.clone(),
            views: self.views.clone(),
            ..self.models.data()
        }
    }

    /// The preset with the steps that were changed, and the options of the companions.
    fn spec(&self, _data: &Data) -> Result<Spec> {
        let preset = self.preset.steps();
        let steps = ClidSpec {
            standardize: self
                .standardize
                .map_or(preset.standardize, |choice| choice == YesNo::Yes),
            unit_length: self.unit_length.unwrap_or(preset.unit_length),
            clusters: self.clusters.unwrap_or(preset.clusters),
            restarts: self.restarts.unwrap_or(preset.restarts),
            k: self.k.unwrap_or(preset.k),
            splits: self.splits.unwrap_or(preset.splits),
            repeats: self.repeats.unwrap_or(preset.repeats),
            id_norm: self.id_norm.unwrap_or(preset.id_norm),
        };
        if let ClusterCount::Of(clusters @ ..2) = steps.clusters {
            bail!("`clusters` = {clusters}: CLID needs at least 2 clusters");
        }
        for (option, count) in [
            ("restarts", steps.restarts),
            ("k", steps.k),
            ("splits", steps.splits),
            ("repeats", steps.repeats),
        ] {
            if count == 0 {
                bail!("`{option}` = 0 must be at least 1");
            }
        }
        if steps.repeats.saturating_mul(steps.splits) > MOST_SPLITS {
            let (repeats, splits) = (&steps.repeats, &steps.splits);
            bail!(
                "`repeats` = {repeats} times `splits` = {splits} must be at most {MOST_SPLITS} in all (5 and 10 are usual)"
            );
        }
        for (option, value, usual) in [
            ("alpha", self.alpha, "2"),
            ("t", self.t, "2"),
            ("eps", self.eps, "0.01"),
            ("gam1", self.gam1, "1"),
            ("gam2", self.gam2, "1"),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                bail!("`{option}` = {value} must be above 0 and finite ({usual} is usual)");
            }
        }
        let defaults = self.settings.spec()?;
        Ok(Spec {
            clusters: match self.clusters {
                Some(ClusterCount::Of(count)) => count,
                _ => CLUSTERS,
            },
            restarts: self.restarts.unwrap_or(defaults.restarts),
            alpha: self.alpha,
            t: self.t,
            mcr2: Mcr2Spec {
                gamma1: self.gam1,
                gamma2: self.gam2,
                eps: self.eps,
            },
            clid: steps,
            ..defaults
        })
    }

    fn metrics(&self, data: &Data) -> Vec<&'static Metric> {
        let (of_studies, _) = metrics(!data.views.is_empty(), self.performance.is_some());
        self.settings.wanted(of_studies)
    }

    /// Metrics that look at labels or views share no sweep with other analyses, and what is only compared with the performance may mean
    /// another number of clusters.
    fn shares(&self, metric: &Metric) -> bool {
        metric.id == COMPANION || (metric.analysis == Kind::Clid && metric.takes == [Takes::Embeddings])
    }

    /// A default that does not fit the data leaves a score undefined; an explicit wish is refused.
    fn prepare(&self, data: &Data, inputs: &Inputs, sources: &mut Sources, _session: &Session) -> Result<Extra> {
        self.refuse_misfits(&inputs.shown_studies())?;
        let mut extra = Extra::Nothing;
        if let Some(file) = &self.performance {
            let (performance, record) = performance_file::read(file, &inputs.shown_models())?;
            sources.records.push(record);
            let (_, of_performance) = metrics(!data.views.is_empty(), true);
            sources
                .options
                .insert("performance_name".to_string(), performance.name.clone().into());
            extra = Extra::Performance(performance, self.settings.wanted(of_performance));
        }
        let by_columns = different_columns(&inputs.shown_studies(), &self.spec(data)?);
        sources.findings.extend(by_columns);
        sources
            .warnings
            .extend(different_shapes(&inputs.studies, SHAPES_MATTER));
        sources.options.extend([
            ("preset".to_string(), word(&self.preset).into()),
            ("views".to_string(), serde_json::json!(data.views)),
            ("performance".to_string(), serde_json::json!(self.performance)),
        ]);
        Ok(extra)
    }

    fn complete(&self, results: &mut Results, planned: &Planned, inputs: &Inputs) -> Result<()> {
        if let Extra::Performance(performance, metrics) = &planned.extra {
            relate(results, metrics, performance, &planned.spec)?;
        }
        results.breakdowns.extend(inputs.shown_studies().iter().map(shape));
        Ok(())
    }
}

/// CLID adds ID / D, so that models of different numbers of columns are measured by different yardsticks.
fn different_columns(studies: &[Study], spec: &Spec) -> Option<Finding> {
    let columns = studies.iter().map(|study| study.embeddings.columns());
    let (fewest, most) = (columns.clone().min()?, columns.max()?);
    // Two standardized values are always the same two numbers.
    let instead = match studies.len() {
        2 => "",
        _ => ", or use the preset `paper`, which standardizes ID over the models",
    };
    (fewest < most && spec.clid.id_norm == IdNorm::Dim).then(|| Finding {
        trouble: Trouble::Columns,
        model: None,
        text: format!(
            "models have {fewest} to {most} columns: ID / D, which CLID adds, and MCR² change with the columns, so nobody is best \
             by them; compare CL and ID each for itself{instead}"
        ),
    })
}

impl Clid {
    fn refuse_misfits(&self, studies: &[Study]) -> Result<()> {
        for study in studies {
            let (rows, model) = (study.embeddings.rows(), &study.model);
            if let Some(k) = self.k.filter(|&k| k > rows / 2) {
                bail!(
                    "`k` = {k} voters must be among one half of the rows, but model `{model}` has {rows}; use at most {}",
                    rows / 2
                );
            }
            match self.clusters {
                Some(ClusterCount::Of(count)) if count >= rows => bail!(
                    "`clusters` = {count} needs more than {count} rows, but model `{model}` has {rows}; use a smaller number"
                ),
                Some(ClusterCount::Sqrt) if rows < 4 => {
                    bail!("`clusters` = sqrt needs at least 4 rows for 2 clusters, but model `{model}` has {rows}")
                }
                _ => {}
            }
        }
        let models = studies.len();
        if self.id_norm == Some(IdNorm::Pool) && models < 2 {
            bail!("`id_norm` = pool needs at least 2 models, but {models} is given; add models, or use dim");
        }
        if self.performance.is_some() && models < FEWEST_MODELS {
            bail!(
                "`performance` is compared over models: at least {FEWEST_MODELS} are needed, but {models} {} given",
                if models == 1 { "is" } else { "are" }
            );
        }
        Ok(())
    }
}

/// A number, or `sqrt`.
fn cluster_count(text: &str) -> Result<ClusterCount, String> {
    match text.parse() {
        Ok(count) => Ok(ClusterCount::Of(count)),
        Err(_) if text == "sqrt" => Ok(ClusterCount::Sqrt),
        Err(_) => Err("it is neither a number nor sqrt".to_string()),
    }
}

/// What is computed of each model, and of all of them with their performance.
pub(crate) fn metrics(has_views: bool, has_performance: bool) -> (Vec<&'static Metric>, Vec<&'static Metric>) {
    let (mut of_studies, of_performance): (Vec<&Metric>, Vec<&Metric>) =
        Kind::Clid.metrics().into_iter().partition(|m| m.is_of_studies());
    of_studies.retain(|m| m.id != "alignment" || has_views);
    let is_companion = |m: &&&Metric| m.id == COMPANION || (has_performance && is_label_free(m));
    of_studies.extend(METRICS.iter().filter(is_companion));
    (of_studies, of_performance)
}

/// Whether a metric of another analysis needs nothing but embeddings, of any scale: whatever may predict performance is compared with
/// it.
fn is_label_free(metric: &Metric) -> bool {
    let is_of_any_scale = metric.outputs.iter().all(Output::is_comparable);
    metric.analysis != Kind::Clid && metric.takes == [Takes::Embeddings] && is_of_any_scale
}

/// The size of a model's embeddings, which scores alone do not say.
pub(crate) fn shape(study: &Study) -> Breakdown {
    let column = |name: &str, size: usize| NumberColumn {
        name: name.to_string(),
        values: vec![Some(size as f64)],
    };
    Breakdown {
        model: study.model.clone(),
        metric: "shape".into(),
        keys: vec![NameColumn {
            name: "model".to_string(),
            values: vec![study.model.clone()],
        }],
        columns: vec![
            column("rows", study.embeddings.rows()),
            column("columns", study.embeddings.columns()),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn performance_is_compared_with_every_score_of_embeddings_alone() {
        let (own, _) = metrics(true, false);
        let (all, _) = metrics(true, true);
        let added: Vec<&str> = all
            .iter()
            .map(|m| m.id)
            .filter(|id| own.iter().all(|m| m.id != *id))
            .collect();
        let of_ranks = Kind::Rankme.metrics();
        let (ranks, others): (Vec<&str>, Vec<&str>) =
            added.iter().partition(|id| of_ranks.iter().any(|m| m.id == **id));
        // One depends on the scale of the embeddings, the other on a second view.
        let left_out = of_ranks.iter().map(|m| m.id).filter(|id| !ranks.contains(id));
        assert_eq!(left_out.collect::<Vec<_>>(), ["epps_pulley", "lidar"]);
        assert_eq!(
            others,
            [
                "participation_ratio",
                "dimension_usage",
                "two_nn",
                "mle_id",
                "gride",
                "local_pca_id",
                "danco",
                "cluster_balance"
            ]
        );
    }
}
