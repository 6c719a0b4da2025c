// SPDX-License-Identifier: MIT
//! How many dimensions do the embeddings use?

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{Analysis as Kind, DimensionSpec, Spec};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, check_k, check_sample, declare};
use crate::inputs::Role;
use crate::options::{Data, Groups, Models, SeenOption, Settings, default_options};
use crate::source::bind;

/// Participation ratio, intrinsic dimensions and spectrum.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifold {
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// What encoders are run on.
    #[command(flatten)]
    #[serde(flatten)]
    pub seen: SeenOption,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// Use the neighbor ratios of M random query rows, with neighbors among all rows
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    /// Share of the largest ratios that the TwoNN fit leaves out
    #[arg(long, default_value_t = 0.1)]
    pub discard: f64,
    /// Neighborhood sizes of the maximum likelihood dimension
    #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [20])]
    pub k: Vec<usize>,
    /// The largest K of Gride's scales 2, 4, 8, …
    #[arg(long, value_name = "K", default_value_t = 64)]
    pub gride_k: usize,
    /// Neighbors of a row whose principal components are its local dimension
    #[arg(long, value_name = "K", default_value_t = 50)]
    pub local_k: usize,
    /// Neighbors whose distances and angles DANCo compares with those in balls of known dimension
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub danco_k: usize,
    /// The most rows that DANCo looks at; of more, so many random ones
    #[arg(long, value_name = "N", default_value_t = 2500)]
    pub danco_rows: usize,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Manifold);
bind!(Manifold: models, seen, groups);
declare!(Manifold {
    kind: Kind::Manifold,
    about: "How many dimensions do the embeddings use? (participation ratio, TwoNN, Gride)",
    examples: "Examples:\n  repscope manifold --model jepa=z_jepa.npy --model autoencoder=z_ae.npy\n  repscope manifold --model z.npz#codes --discard 0.05",
    folder: "manifold_dimension",
    reads: &[Role::Episodes, Role::Embeddings],
    data: Origin::Study,
    is_asked_for: false,
    stage: 1,
    sweeps: true,
    keeps_samples: false,
    classes: &["episodes"],
    take: |joint, own| {
        joint.discard = own.discard;
        joint.dimension.clone_from(&own.dimension);
        joint.sample = own.sample;
    },
});

impl Analysis for Manifold {
    fn data(&self) -> Data {
        Data {
            states: self.seen.states.clone(),
            episodes: self.groups.episodes.clone(),
            ..self.models.data()
        }
    }

    fn spec(&self, _data: &Data) -> Result<Spec> {
        if !(0.0..1.0).contains(&self.discard) {
            let discard = &self.discard;
            bail!("`discard` = {discard} must be at least 0 and below 1 (0.1 is usual)");
        }
        let k = check_k(&self.k)?;
        if let Some(k) = k.iter().find(|k| **k < 2) {
            bail!("`k` = {k}: a dimension by maximum likelihood needs at least 2 neighbors (20 is usual)");
        }
        if self.gride_k < 2 {
            bail!(
                "`gride_k` = {}: the smallest scale of Gride is 2 (64 is usual)",
                self.gride_k
            );
        }
        if self.local_k < 2 {
            bail!(
                "`local_k` = {}: principal components need at least 2 neighbors (50 is usual)",
                self.local_k
            );
        }
        Ok(Spec {
            sample: check_sample(self.sample)?,
            discard: self.discard,
            dimension: DimensionSpec {
                k,
                gride_k: self.gride_k,
                local_k: self.local_k,
                danco_k: self.danco_k,
                danco_rows: self.danco_rows,
            },
            ..self.settings.spec()?
        })
    }
}
