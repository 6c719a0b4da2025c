// SPDX-License-Identifier: MIT
//! Are the representations of two models the same thing?

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{AlikeSpec, Analysis as Kind, Results, Spec, Study, counted, similarity};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare};
use crate::evaluation::plan::Planned;
use crate::inputs::{Inputs, Role};
use crate::options::{Data, Groups, Models, SeenOption, Settings, default_options};
use crate::session::Session;
use crate::source::bind;
use crate::versions::VersionStudies;

/// Every two models against each other, calibrated by shuffled rows.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Similarity {
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
    /// Number of neighbors whose lists are compared
    #[arg(long, default_value_t = 10)]
    pub k: usize,
    /// Compare all pairs of M random rows, for RSA and for CKA of Gaussian kernels
    #[arg(long, value_name = "M", default_value_t = 1000)]
    pub sample: usize,
    /// Width of Gaussian kernels, as a multiple of the median distance
    #[arg(long, default_value_t = 1.0)]
    pub bandwidth: f64,
    /// Share of the variance that the principal components of SVCCA hold
    #[arg(long, default_value_t = 0.99)]
    pub variance: f64,
    /// Random orders of the rows that similarities are calibrated by; a tenth of them for SVCCA, PWCCA and Procrustes
    #[arg(long, value_name = "N", default_value_t = 99)]
    pub permutations: usize,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Similarity);
bind!(Similarity: models, seen, groups);
declare!(Similarity {
    kind: Kind::Similarity,
    about: "Are two models the same thing? (CKA, mutual k-NN, RSA, SVCCA; calibrated)",
    examples: "Examples:\n  repscope similarity --model jepa=z_jepa.npy --model mae=z_mae.npy --model dino=z_dino.npy\n  repscope similarity --model 'layers/*.npy' --k 20 --permutations 199",
    folder: "similarity",
    reads: &[Role::Episodes, Role::Embeddings],
    data: Origin::Study,
    is_asked_for: true,
    stage: 3,
    sweeps: false,
    keeps_samples: false,
    classes: &[],
    take: |joint, own| joint.alike = own.alike.clone(),
});

impl Analysis for Similarity {
    fn data(&self) -> Data {
        Data {
            states: self.seen.states.clone(),
            episodes: self.groups.episodes.clone(),
            ..self.models.data()
        }
    }

    fn spec(&self, _data: &Data) -> Result<Spec> {
        let Similarity {
            k,
            sample,
            bandwidth,
            variance,
            permutations,
            ..
        } = *self;
        if k == 0 {
            bail!("`k` = 0: lists need at least one neighbor (10 is usual)");
        }
        if sample < 6 {
            bail!("`sample` = {sample}: too few pairs of rows; at least 6 rows are needed (1000 is usual)");
        }
        if !(bandwidth > 0.0 && bandwidth.is_finite()) {
            bail!("`bandwidth` = {bandwidth} must be above 0 and finite (1 is usual)");
        }
        if !(variance > 0.0 && variance <= 1.0) {
            bail!("`variance` = {variance} must be above 0 and at most 1 (0.99 is usual)");
        }
        Ok(Spec {
            alike: AlikeSpec {
                k,
                sample,
                bandwidth,
                permutations,
                variance,
            },
            ..self.settings.spec()?
        })
    }

    fn misfit(&self, _spec: &Spec, inputs: &Inputs) -> Option<String> {
        let models = inputs.studies.len();
        (models < 2).then(|| format!("it compares models, and there is {}", counted(models, "model")))
    }

    /// Pairs of models are compared with shuffled rows, not with each other.
    fn has_rivals(&self) -> bool {
        false
    }

    fn of_version<'a>(&self, _own: &'a VersionStudies) -> Option<&'a [Study]> {
        None
    }

    fn measures_versions(&self) -> bool {
        false
    }

    fn compute(&self, planned: &Planned, inputs: &Inputs, session: &Session) -> Result<Results> {
        Ok(similarity(
            &inputs.studies,
            &planned.shared(),
            &planned.spec,
            &session.driver(),
        )?)
    }
}
