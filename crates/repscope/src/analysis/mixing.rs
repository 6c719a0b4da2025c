// SPDX-License-Identifier: MIT
//! Do neighborhoods mix the batches that the data come from?

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::{Analysis as Kind, Metric, MixingSpec, Spec, Takes};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare};
use crate::evaluation::plan::Extra;
use crate::inputs::{Inputs, Role};
use crate::options::{Data, Groups, Models, SeenOption, Settings, default_options};
use crate::reader::Sources;
use crate::session::Session;
use crate::source::{Source, bind};

/// The batches among the neighbors of each row, against batches that are assigned at random.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Mixing {
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// The batch of each row: the plate, device, site or subject that it comes from and that should not show
    #[arg(long, visible_alias = "confounder", value_name = "PATH")]
    pub batches: Option<Source>,
    /// A class per row, for CiLISI: batches are then looked for among the rows of each class
    #[arg(long, value_name = "PATH")]
    pub labels: Option<Source>,
    /// What encoders are run on.
    #[command(flatten)]
    #[serde(flatten)]
    pub seen: SeenOption,
    /// The groups that rows come in.
    #[command(flatten)]
    #[serde(flatten)]
    pub groups: Groups,
    /// Number of neighbors whose batches kBET tests
    #[arg(long, default_value_t = 50)]
    pub k: usize,
    /// Number of neighbors that count in LISI, in effect: three times as many are looked at
    #[arg(long, default_value_t = 30.0)]
    pub perplexity: f64,
    /// Level of the test of each neighborhood in kBET
    #[arg(long, default_value_t = 0.05)]
    pub significance: f64,
    /// How often batches are assigned at random, for the chance levels
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub permutations: usize,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Mixing);
bind!(Mixing: models, batches, labels, seen, groups);
declare!(Mixing {
    kind: Kind::Mixing,
    about: "Do neighborhoods mix batches, devices or subjects? (iLISI, CiLISI, kBET)",
    examples: "Examples:\n  repscope mixing --model z.npy --batches plates.npy\n  repscope mixing --model raw=pca.npy --model corrected=harmony.npy --batches sites.csv --labels types.csv --groups donors.csv",
    folder: "mixing",
    reads: &[Role::Labels, Role::Episodes, Role::Embeddings, Role::Batches],
    data: Origin::Study,
    is_asked_for: true,
    stage: 2,
    sweeps: true,
    keeps_samples: false,
    classes: &[],
    take: |joint, own| joint.mixing = own.mixing.clone(),
});

impl Analysis for Mixing {
    fn data(&self) -> Data {
        Data {
            states: self.seen.states.clone(),
            labels: self.labels.clone(),
            episodes: self.groups.episodes.clone(),
            batches: self.batches.clone(),
            ..self.models.data()
        }
    }

    fn spec(&self, data: &Data) -> Result<Spec> {
        let Mixing {
            k,
            perplexity,
            significance,
            permutations,
            ..
        } = *self;
        if data.batches.is_none() {
            bail!("mixing looks for the batches of rows, and there are none; give a batch per row with `batches` PATH");
        }
        if k < 2 {
            bail!("`k` = {k}: at least 2 neighbors are needed (50 is usual)");
        }
        if !(perplexity >= 2.0 && perplexity.is_finite()) {
            bail!("`perplexity` = {perplexity} must be at least 2 and finite (30 is usual)");
        }
        if !(significance > 0.0 && significance < 1.0) {
            bail!("`significance` = {significance} must be between 0 and 1 (0.05 is usual)");
        }
        Ok(Spec {
            mixing: MixingSpec {
                k,
                perplexity,
                significance,
                permutations,
            },
            ..self.settings.spec()?
        })
    }

    fn metrics(&self, data: &Data) -> Vec<&'static Metric> {
        let has_labels = |metric: &&'static Metric| data.labels.is_some() || !metric.takes.contains(&Takes::Labels);
        let known = Kind::Mixing.metrics().into_iter().filter(has_labels);
        self.settings.wanted(known.collect())
    }

    /// The default leaves a score undefined where there are too few rows; an explicit wish is refused.
    fn prepare(&self, _data: &Data, inputs: &Inputs, _sources: &mut Sources, _session: &Session) -> Result<Extra> {
        let usual = Mixing::default().k;
        for study in &inputs.studies {
            let rows = study.embeddings.rows();
            if self.k >= rows && self.k != usual {
                bail!(
                    "`k` = {} needs more than {} rows, but model `{}` has {rows}; use a smaller number",
                    self.k,
                    self.k,
                    study.model
                );
            }
        }
        Ok(Extra::Nothing)
    }
}
