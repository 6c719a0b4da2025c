// SPDX-License-Identifier: MIT
//! How many directions do the embeddings really fill?

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{Analysis as Kind, Metric, RankSpec, Spec, Takes};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare, different_shapes};
use crate::evaluation::plan::Extra;
use crate::inputs::{Inputs, Role};
use crate::options::{Data, Groups, Models, SeenOption, Settings, default_options};
use crate::reader::Sources;
use crate::session::Session;
use crate::source::{Named, bind};

/// Why models of different shapes have ranks that cannot be compared.
const RANKS_GROW: &str = "ranks grow with both, so they cannot be compared between these models";

/// Both RankMe variants and other effective ranks.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Rankme {
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// Embeddings of a second view of the same samples, for LiDAR: NAME=PATH for each model, a folder or pattern with the file
    /// names of the models, or PATH for one model. Repeat a name (for one model, give several paths) for further views
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH")]
    pub views: Vec<Named>,
    /// What encoders are run on.
    #[command(flatten)]
    #[serde(flatten)]
    pub seen: SeenOption,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// Share of the largest singular value above which the numerical rank counts
    #[arg(long, value_name = "T", default_value_t = 0.01)]
    pub threshold: f64,
    /// What RankMe adds to each share, against the logarithm of 0 [default: 1e-12 for variant spec, 1e-7 for variant paper]
    #[arg(long, value_name = "E")]
    pub eps: Option<f64>,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Rankme);
bind!(Rankme: models, views, seen, groups);
declare!(Rankme {
    kind: Kind::Rankme,
    about: "What is the effective rank of the embeddings? (RankMe, other ranks)",
    examples: "Examples:\n  repscope rankme --model jepa=z_jepa.npy --model autoencoder=z_ae.npy\n  repscope rankme --model z.npy --threshold 0.001 --eps 1e-12",
    folder: "rankme",
    reads: &[Role::Episodes, Role::Embeddings, Role::Views],
    data: Origin::Study,
    is_asked_for: false,
    stage: 0,
    sweeps: false,
    keeps_samples: false,
    classes: &["episodes"],
    take: |joint, own| joint.rank = own.rank.clone(),
});

/// The metrics of ranks. The participation ratio belongs to `manifold`, but a panel of ranks without it would be missed.
pub(crate) fn metrics() -> Vec<&'static Metric> {
    let manifold = Kind::Manifold.metrics().into_iter();
    let ratio = manifold.filter(|metric| metric.id == "participation_ratio");
    Kind::Rankme.metrics().into_iter().chain(ratio).collect()
}

impl Analysis for Rankme {
    fn data(&self) -> Data {
        Data {
            states: self.seen.states.clone(),
            episodes: self.groups.episodes.clone(),
            views: self.views.clone(),
            ..self.models.data()
        }
    }

    fn spec(&self, _data: &Data) -> Result<Spec> {
        if !(0.0..1.0).contains(&self.threshold) {
            let threshold = self.threshold;
            bail!("`threshold` = {threshold} must be at least 0 and below 1 (0.01 is usual)");
        }
        if let Some(eps) = self.eps.filter(|eps| !(*eps >= 0.0 && eps.is_finite())) {
            bail!("`eps` = {eps} must be at least 0 and finite (1e-12 is usual)");
        }
        Ok(Spec {
            rank: RankSpec {
                threshold: self.threshold,
                eps: self.eps,
            },
            ..self.settings.spec()?
        })
    }

    fn metrics(&self, data: &Data) -> Vec<&'static Metric> {
        let has_views = |metric: &&'static Metric| !data.views.is_empty() || !metric.takes.contains(&Takes::View);
        let known = metrics().into_iter().filter(has_views);
        self.settings.wanted(known.collect())
    }

    fn prepare(&self, _data: &Data, inputs: &Inputs, sources: &mut Sources, _session: &Session) -> Result<Extra> {
        sources.warnings.extend(different_shapes(&inputs.studies, RANKS_GROW));
        Ok(Extra::Nothing)
    }
}
