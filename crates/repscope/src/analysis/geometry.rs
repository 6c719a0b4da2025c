// SPDX-License-Identifier: MIT
//! How are the embeddings spread, and do they fall into classes?

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{Analysis as Kind, Spec};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, check_sample, declare};
use crate::evaluation::plan::Extra;
use crate::inputs::{Inputs, Role};
use crate::options::{Data, Groups, MOST_SPLITS, Models, SeenOption, Settings, default_options};
use crate::reader::Sources;
use crate::session::Session;
use crate::source::{Source, bind};

/// Uniformity, silhouette, k-means and k-nearest-neighbor scores.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Geometry {
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// What encoders are run on.
    #[command(flatten)]
    #[serde(flatten)]
    pub seen: SeenOption,
    /// A class per row: strings, integers or booleans; or a folder of images with one subfolder per class
    #[arg(long, value_name = "PATH")]
    pub labels: Option<Source>,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// Number of k-means clusters [default: the number of classes; 5 without labels]
    #[arg(long)]
    pub clusters: Option<usize>,
    /// Restarts of k-means
    #[arg(long, default_value_t = 10)]
    pub restarts: usize,
    /// Number of clusterings of random halves of the rows, whose variance is part of intervals; 1 for none, which is faster
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub clusterings: usize,
    /// Number of neighbors for the k-NN accuracy [default: 5]
    #[arg(long)]
    pub k: Option<usize>,
    /// Number of random 70/30 splits that the k-NN accuracy is averaged over
    #[arg(long, default_value_t = 10)]
    pub splits: usize,
    /// Kernel parameter t of uniformity
    #[arg(long, default_value_t = 2.0)]
    pub t: f64,
    /// Compare M random query rows with all rows: an unbiased estimate for millions of rows
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Geometry);
bind!(Geometry: models, seen, labels, groups);
declare!(Geometry {
    kind: Kind::Geometry,
    about: "How are the embeddings spread, and do they separate classes? (silhouette, k-NN)",
    examples: "Examples:\n  repscope geometry --model jepa=z.npy --labels labels.npy\n  repscope geometry --model z.npy --clusters 10 --format latex",
    folder: "geometry_analysis",
    reads: &[Role::Labels, Role::Episodes, Role::Embeddings],
    data: Origin::Study,
    is_asked_for: false,
    stage: 1,
    sweeps: true,
    keeps_samples: true,
    classes: &["labels", "episodes"],
    take: |joint, own| {
        joint.clusters = own.clusters;
        joint.restarts = own.restarts;
        joint.clusterings = own.clusterings;
        joint.knn_k = own.knn_k;
        joint.splits = own.splits;
        joint.t = own.t;
        joint.sample = own.sample;
    },
});

impl Analysis for Geometry {
    fn data(&self) -> Data {
        Data {
            states: self.seen.states.clone(),
            labels: self.labels.clone(),
            episodes: self.groups.episodes.clone(),
            ..self.models.data()
        }
    }

    fn spec(&self, _data: &Data) -> Result<Spec> {
        let defaults = self.settings.spec()?;
        let (clusters, k) = (
            self.clusters.unwrap_or(defaults.clusters),
            self.k.unwrap_or(defaults.knn_k),
        );
        if clusters == 0 || self.restarts == 0 || k == 0 {
            bail!(
                "`clusters` = {clusters}, `restarts` = {} and `k` = {k} must each be at least 1",
                self.restarts
            );
        }
        if !(1..=MOST_SPLITS).contains(&self.splits) {
            bail!(
                "`splits` = {} must be from 1 to {MOST_SPLITS} (10 is usual)",
                self.splits
            );
        }
        if !(1..=MOST_SPLITS).contains(&self.clusterings) {
            bail!(
                "`clusterings` = {} must be from 1 to {MOST_SPLITS} (5 is usual; 1 for none)",
                self.clusterings
            );
        }
        Ok(Spec {
            clusters,
            restarts: self.restarts,
            clusterings: self.clusterings,
            knn_k: k,
            splits: self.splits,
            t: self.t,
            sample: check_sample(self.sample)?,
            ..defaults
        })
    }

    /// As many clusters as there are classes: with fewer, even perfect embeddings would not agree with the labels.
    fn settle(&self, spec: &mut Spec, inputs: &Inputs) {
        let labels = inputs.studies.first().and_then(|study| study.labels.as_deref());
        let classes = labels.map(|labels| labels.counts().iter().filter(|count| **count > 0).count());
        if let Some(classes) = classes.filter(|classes| self.clusters.is_none() && (2..inputs.rows()).contains(classes))
        {
            spec.clusters = classes;
        }
    }

    /// A default that does not fit the data leaves a score undefined; an explicit wish is refused.
    fn prepare(&self, _data: &Data, inputs: &Inputs, _sources: &mut Sources, _session: &Session) -> Result<Extra> {
        for study in &inputs.studies {
            let rows = study.embeddings.rows();
            for (option, asked) in [("clusters", self.clusters), ("k", self.k)] {
                if let Some(asked) = asked.filter(|&a| a >= rows) {
                    bail!(
                        "`{option}` = {asked} needs more than {asked} rows, but model `{}` has {rows}; use a smaller number",
                        study.model
                    );
                }
            }
        }
        Ok(Extra::Nothing)
    }
}
