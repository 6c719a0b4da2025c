// SPDX-License-Identifier: MIT
//! Are neighbors of the input neighbors of the embedding, and the other way round?

use anyhow::Result;
use clap::Args;
use repscope_core::{Analysis as Kind, Distance, Spec};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, check_k, check_sample, declare};
use crate::inputs::{Inputs, Role};
use crate::options::{Data, Groups, Models, Settings, default_options, words};
use crate::source::{Source, bind};

/// Trustworthiness and continuity, and curves over neighborhoods of every size.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Neighborhood {
    /// The inputs of the model, one per row (trailing dimensions are flattened): an array, a folder of images, or the
    /// dataset .pth of the representation analysis scripts (required, unless they are found with the encoders)
    #[arg(long, alias = "inputs", value_name = "PATH")]
    pub states: Option<Source>,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// Neighborhood sizes
    #[arg(long, num_args = 1.., value_delimiter = ',', default_values_t = [5, 10, 15])]
    pub k: Vec<usize>,
    /// Distance between embeddings
    #[arg(long, value_parser = words::<Distance>("euclidean cosine"), default_value = "euclidean")]
    pub distance: Distance,
    /// Rank M random query rows against all rows: an unbiased estimate for millions of rows
    #[arg(long, value_name = "M")]
    pub sample: Option<usize>,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Neighborhood);
bind!(Neighborhood: states, groups, models);
declare!(Neighborhood {
    kind: Kind::Neighborhood,
    about: "Are neighbors preserved by the embedding? (trustworthiness, continuity, R_NX)",
    examples: "Examples:\n  repscope neighborhood --states frames.npy --model jepa=z.npy --k 5 10 15\n  repscope neighborhood --states frames.npy --model z.npy --sample 2000",
    folder: "neighborhood_preservation",
    reads: &[Role::States, Role::Episodes, Role::Embeddings],
    data: Origin::Study,
    is_asked_for: false,
    stage: 1,
    sweeps: true,
    keeps_samples: true,
    classes: &["episodes"],
    take: |joint, own| {
        joint.k.clone_from(&own.k);
        joint.distance = own.distance;
        joint.sample = own.sample;
    },
});

impl Analysis for Neighborhood {
    fn data(&self) -> Data {
        Data {
            states: self.states.clone(),
            episodes: self.groups.episodes.clone(),
            ..self.models.data()
        }
    }

    fn spec(&self, _data: &Data) -> Result<Spec> {
        Ok(Spec {
            k: check_k(&self.k)?,
            distance: self.distance,
            sample: check_sample(self.sample)?,
            ..self.settings.spec()?
        })
    }

    fn misfit(&self, spec: &Spec, inputs: &Inputs) -> Option<String> {
        let (rows, k) = (inputs.rows(), spec.k.iter().max().copied().unwrap_or(0));
        (k + 1 >= rows).then(|| {
            let needed = k + 2;
            format!("k = {k} needs at least {needed} rows, but there are {rows}; use a smaller k")
        })
    }
}
