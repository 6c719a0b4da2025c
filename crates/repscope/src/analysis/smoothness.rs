// SPDX-License-Identifier: MIT
//! Do small steps of the input make small steps of the embedding?

use anyhow::Result;
use clap::Args;
use repscope_core::{Analysis as Kind, Results, Spec, Study, examine_order};
use serde::{Deserialize, Serialize};

use super::{Analysis, Origin, declare, study_metrics};
use crate::evaluation::plan::{Extra, Planned};
use crate::inputs::{Inputs, Role};
use crate::options::{Data, Models, Settings, default_options};
use crate::reader::Sources;
use crate::session::Session;
use crate::source::{Source, bind};
use crate::versions::VersionStudies;

/// What consecutive rows without episodes mean.
const ONE_SEQUENCE: &str = "no episodes are given: all rows are taken as one sequence, so a step from one episode to the \
                            next would count as a pair";

/// Smoothness: distances between consecutive inputs and between their embeddings.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Smoothness {
    /// The inputs of the model, one per row (trailing dimensions are flattened): an array, a folder of images, or the
    /// dataset .pth of the representation analysis scripts (required, unless they are found with the encoders)
    #[arg(long, alias = "inputs", value_name = "PATH")]
    pub states: Option<Source>,
    /// The successor of each input; without it, the next row of the same episode. Each --model is then Z,Z1, or
    /// an encoder
    #[arg(long, alias = "next-inputs", value_name = "PATH")]
    pub next_states: Option<Source>,
    /// The episode of each row; pairs never cross episodes (booleans are read as stop flags)
    #[arg(long, visible_alias = "groups", value_name = "PATH")]
    pub episodes: Option<Source>,
    /// Rows follow each other in time: each row and the next are a pair
    #[arg(long)]
    pub ordered: bool,
    /// The models.
    #[command(flatten)]
    #[serde(flatten)]
    pub models: Models,
    /// What all analyses share.
    #[command(flatten)]
    #[serde(flatten)]
    pub settings: Settings,
}

default_options!(Smoothness);
bind!(Smoothness: states, next_states, episodes, models);
declare!(Smoothness {
    kind: Kind::Smoothness,
    about: "Do small changes of the input cause small changes of the embedding?",
    examples: "Examples:\n  repscope smoothness --states frames.npy --episodes episode.npy --model jepa=z.npy\n  repscope smoothness --states s.npy --next-states s1.npy --model jepa=z.npy,z1.npy",
    folder: "smoothness_analysis",
    reads: &[
        Role::States,
        Role::NextStates,
        Role::Episodes,
        Role::Embeddings,
        Role::NextEmbeddings
    ],
    data: Origin::Study,
    is_asked_for: false,
    stage: 0,
    sweeps: false,
    keeps_samples: true,
    classes: &["episodes"],
    take: |_, _| {},
});

impl Analysis for Smoothness {
    fn data(&self) -> Data {
        Data {
            states: self.states.clone(),
            next_states: self.next_states.clone(),
            episodes: self.episodes.clone(),
            ordered: self.ordered,
            ..self.models.data()
        }
    }

    fn spec(&self, _data: &Data) -> Result<Spec> {
        self.settings.spec()
    }

    fn prepare(&self, _data: &Data, inputs: &Inputs, sources: &mut Sources, _session: &Session) -> Result<Extra> {
        if !inputs.have_order() {
            sources.warnings.push(ONE_SEQUENCE.to_string());
        }
        let first = inputs.steps.as_deref().unwrap_or(&inputs.studies).first();
        let pairs = first.and_then(|study| Some((study.input.as_deref()?, study.pairs.as_deref()?)));
        sources.findings.extend(
            pairs
                .into_iter()
                .flat_map(|(states, pairs)| examine_order(states, pairs)),
        );
        Ok(Extra::Nothing)
    }

    /// Steps between rows in any order say nothing.
    fn misfit(&self, _spec: &Spec, inputs: &Inputs) -> Option<String> {
        (!inputs.have_order()).then(|| {
            "it needs rows that follow each other: give `episodes` PATH or `next_states` PATH, or say that all rows are one \
             sequence (`ordered`)"
                .to_string()
        })
    }

    fn of_version<'a>(&self, own: &'a VersionStudies) -> Option<&'a [Study]> {
        Some(own.steps.as_deref().unwrap_or(&own.studies))
    }

    fn compute(&self, planned: &Planned, inputs: &Inputs, session: &Session) -> Result<Results> {
        study_metrics(planned, inputs.steps.as_deref().unwrap_or(&inputs.studies), session)
    }
}
