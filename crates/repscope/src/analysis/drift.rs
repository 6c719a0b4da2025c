// SPDX-License-Identifier: MIT
//! Do new rows come from the distribution of reference rows?

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{Analysis as Kind, DriftSpec, FEWEST_PERMUTATIONS, Spec};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare};
use crate::evaluation::plan::Extra;
use crate::inputs::{Inputs, Role};
use crate::options::{Data, Groups, Models, SeenOption, Settings, default_options};
use crate::reader::Sources;
use crate::session::Session;
use crate::source::{Named, Source, bind};

/// Two sets of rows of each model, against rows that change their sets at random.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Drift {
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// Embeddings of the reference rows, such as those of the training data, by the same encoder: NAME=PATH for each model, a
    /// folder or pattern with the file names of the models, or PATH for one model
    #[arg(long, num_args = 1.., value_name = "NAME=PATH|PATH")]
    pub against: Vec<Named>,
    /// The inputs of the reference rows: encoders are run on them, those of --against or the models themselves
    #[arg(long, value_name = "PATH")]
    pub against_states: Option<Source>,
    /// The group of each reference row; a name that --groups has, too, is the same group
    #[arg(long, value_name = "PATH")]
    pub against_groups: Option<Source>,
    /// What encoders are run on.
    #[command(flatten)]
    #[serde(flatten)]
    pub seen: SeenOption,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// Number of neighbors whose sets are counted
    #[arg(long, default_value_t = 5)]
    pub k: usize,
    /// Compare all pairs of M random rows of each set, for MMD and the energy distance
    #[arg(long, value_name = "M", default_value_t = 1000)]
    pub sample: usize,
    /// Width of Gaussian kernels, as a multiple of the median distance
    #[arg(long, default_value_t = 1.0)]
    pub bandwidth: f64,
    /// How often rows, or whole groups, change their sets at random; fewer for the Fréchet distance of many columns
    #[arg(long, value_name = "N", default_value_t = 999)]
    pub permutations: usize,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Drift);
bind!(Drift: models, against, against_states, against_groups, seen, groups);
declare!(Drift {
    kind: Kind::Drift,
    about: "Do new rows differ from reference rows? (MMD, Fréchet distance, k-NN test)",
    examples: "Examples:\n  repscope drift --model today.npy --against train.npy\n  repscope drift --model jepa=today/jepa.npy --model mae=today/mae.npy --against jepa=train/jepa.npy mae=train/mae.npy\n  repscope drift --model today.npy --against train.npy --groups patients.npy --against-groups train_patients.npy\n  repscope drift --model encoder.onnx --states today.npy --against-states train.npy",
    folder: "drift",
    reads: &[Role::Episodes, Role::Embeddings, Role::Against, Role::AgainstGroups],
    data: Origin::Study,
    is_asked_for: true,
    stage: 2,
    sweeps: false,
    keeps_samples: false,
    classes: &[],
    take: |joint, own| joint.drift = own.drift.clone(),
});

impl Analysis for Drift {
    fn data(&self) -> Data {
        Data {
            states: self.seen.states.clone(),
            episodes: self.groups.episodes.clone(),
            against: self.against.clone(),
            against_states: self.against_states.clone(),
            against_groups: self.against_groups.clone(),
            ..self.models.data()
        }
    }

    fn spec(&self, data: &Data) -> Result<Spec> {
        let Drift {
            k,
            sample,
            bandwidth,
            permutations,
            ..
        } = *self;
        if !data.has_reference() {
            bail!(
                "drift compares rows with reference rows, and there are none; give their embeddings with `against` PATH, or what encoders \
                 see of them with `against_states` PATH"
            );
        }
        if k == 0 {
            bail!("`k` = 0: at least one neighbor is needed (5 is usual)");
        }
        if sample < 10 {
            bail!(
                "`sample` = {sample}: too few pairs of rows; at least 10 rows of each set are needed (1000 is usual)"
            );
        }
        if !(bandwidth > 0.0 && bandwidth.is_finite()) {
            bail!("`bandwidth` = {bandwidth} must be above 0 and finite (1 is usual)");
        }
        if (1..FEWEST_PERMUTATIONS).contains(&permutations) {
            bail!(
                "`permutations` = {permutations}: no p-value can be below 1 / {}; give at least {FEWEST_PERMUTATIONS} (999 is usual), or 0 \
                 for none",
                permutations + 1
            );
        }
        Ok(Spec {
            drift: DriftSpec {
                k,
                sample,
                bandwidth,
                permutations,
            },
            ..self.settings.spec()?
        })
    }

    fn prepare(&self, _data: &Data, inputs: &Inputs, _sources: &mut Sources, _session: &Session) -> Result<Extra> {
        for study in &inputs.studies {
            let reference = study.reference.as_ref().map_or(0, |own| own.embeddings.rows());
            let rows = study.embeddings.rows() + reference;
            if self.k + 1 >= rows {
                bail!(
                    "`k` = {} needs more than {} rows of both sets, but model `{}` has {rows}; use a smaller k",
                    self.k,
                    self.k + 1,
                    study.model
                );
            }
        }
        Ok(Extra::Nothing)
    }
}
