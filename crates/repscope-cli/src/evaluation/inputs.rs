// SPDX-License-Identifier: MIT
//! Everything that is named is read, and everything that is wrong with it is gathered.

use std::sync::Arc;

use anyhow::{Context, Result};
use repscope_core::run::Driver;
use repscope_core::{Labels, Space, Study};
use repscope_io::{Array, InputPath, InputRecord, Pool};

use super::problems::Problems;
use crate::args::{Data, EncoderOptions, Machine, Models, Robustness};
use crate::call;
use crate::encoding::{self, Encoders, Seen};
use crate::inputs::{Codes, Paths, blind, parts, pool, roles, row_studies, see, stacked_studies, view_part};
use crate::models::{self, Model};
use crate::noise::{Coder, Meeting};
use crate::reader::{Orders, Reader, Sources};

/// What a file is to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    States,
    NextStates,
    Episodes,
    Labels,
    Codes,
    NextCodes,
    Views,
}

impl Role {
    pub const ALL: [Role; 7] = [
        Role::States,
        Role::NextStates,
        Role::Episodes,
        Role::Labels,
        Role::Codes,
        Role::NextCodes,
        Role::Views,
    ];
}

/// The studies of a run.
pub struct Inputs {
    /// One row per sample.
    pub studies: Vec<Study>,
    /// What encoders see.
    seen: Option<Seen>,
    encoder: EncoderOptions,
    pool: Pool,
    /// States above next states, where those are given.
    pub steps: Option<Vec<Study>>,
    /// The models of the studies, in the same order.
    pub models: Vec<Model>,
    records: Vec<(Role, InputRecord)>,
    warnings: Vec<String>,
}

/// Reads all files. `None` where something is wrong, which is then among the problems. A run of a retrieval alone needs no
/// models.
pub fn read(options: &Data, needs_models: bool, machine: &Machine, problems: &mut Problems) -> Option<Inputs> {
    let named = problems.take(named_models(options, needs_models)).unwrap_or_default();
    let views = if options.views.is_empty() {
        Vec::new()
    } else {
        problems
            .take(models::pair_views(&options.views, &named))
            .unwrap_or_default()
    };
    let reader = Reader::new(&options.ids);
    let mut all = All {
        reader,
        roles: Vec::new(),
        problems,
        orders: None,
    };
    let paths = paths(options);
    let joined = if options.ids.is_empty() {
        all.reader.join(Vec::new())
    } else {
        parts(&paths, &named, &views).and_then(|parts| all.reader.join(parts))
    };
    all.orders = all.problems.take(joined);

    let encoders = Encoders {
        options: &options.encoder,
        machine,
    };
    let labels = paths.labels.and_then(|path| all.labels(Role::Labels, "labels", path));
    let states = all.see(Role::States, paths.states, &encoders);
    let next = all.see(Role::NextStates, paths.next_states, &encoders);
    let stops = states.as_ref().and_then(|seen| seen.stops.clone());
    let episodes = match (paths.episodes, stops) {
        (Some(path), _) => all.labels(Role::Episodes, "episodes", path),
        (None, Some(stops)) => all.stops(stops),
        (None, None) => None,
    };
    let pool = pool(options.pool);
    let mut codes = Vec::new();
    for (i, model) in named.iter().enumerate() {
        let name = &model.name;
        let Some(is_encoder) = all.problems.take(encoding::is_encoder(&model.codes)) else {
            continue;
        };
        let (latent, next) = if is_encoder {
            all.encoded(model, &encoders, states.as_ref(), next.as_ref(), pool)
        } else {
            all.problems.take(model.refuse_one_file(paths.next_states.is_some()));
            let latent = all.array(Role::Codes, &model.codes, name, name, pool);
            let next = model.next.as_ref();
            let next = next.and_then(|path| all.array(Role::NextCodes, path, name, name, pool));
            (latent, next)
        };
        let part = view_part(name);
        let view = views
            .get(i)
            .and_then(|path| all.array(Role::Views, path, &part, &part, pool));
        codes.extend(latent.map(|latent| Codes {
            model: name.clone(),
            latent,
            next,
            view: view.map(Arc::new),
        }));
    }
    let seen = states.clone();
    let states = states.and_then(|seen| all.points(seen, "states"));
    let next = next.and_then(|seen| all.points(seen, "next states"));
    let All { reader, roles, .. } = all;
    if !problems.is_empty() {
        return None;
    }
    problems.take(same_rows(
        states.as_ref(),
        labels.as_deref(),
        episodes.as_deref(),
        &codes,
    ))?;
    let steps = match next {
        None => None,
        Some(next) => {
            let stacked = stacked_studies(states.clone(), next, copies(&codes), episodes.clone());
            Some(problems.take(stacked)?)
        }
    };
    let studies = problems.take(row_studies(states, codes, labels, episodes))?;
    Some(Inputs {
        studies,
        seen,
        encoder: options.encoder.clone(),
        pool,
        steps,
        models: named,
        records: roles.into_iter().zip(reader.records).collect(),
        warnings: reader.warnings,
    })
}

impl Inputs {
    /// What an analysis that reads these files was made from.
    pub fn sources(&self, options: &Data, read: &[Role]) -> Sources {
        let of_role = self.records.iter().filter(|(role, _)| read.contains(role));
        let all = paths(options);
        let paths = Paths {
            states: all.states.filter(|_| read.contains(&Role::States)),
            are_points: true,
            next_states: all.next_states.filter(|_| read.contains(&Role::NextStates)),
            labels: all.labels.filter(|_| read.contains(&Role::Labels)),
            episodes: all.episodes.filter(|_| read.contains(&Role::Episodes)),
            views: all.views,
        };
        Sources {
            records: of_role.map(|(_, record)| record.clone()).collect(),
            warnings: self.warnings.clone(),
            options: roles(&paths, &models_of(options)),
        }
    }

    /// What was typed about all inputs.
    pub fn all_roles(&self, options: &Data) -> serde_json::Map<String, serde_json::Value> {
        roles(&paths(options), &models_of(options))
    }

    /// What noise is asked for.
    pub fn noise_asked(&self, options: &Robustness) -> Result<serde_json::Map<String, serde_json::Value>> {
        Ok(self.meeting(options)?.asked(options))
    }

    fn meeting(&self, options: &Robustness) -> Result<Meeting<'_>> {
        let seen = self.seen.as_ref().context("noise needs --states")?;
        Meeting::new(options, self.pool, seen.numbers()?)
    }

    /// The studies of the models that are encoders, each with what noise does to its codes.
    pub fn with_noise(&self, options: &Robustness, driver: &Driver) -> Result<Vec<Study>> {
        let meeting = self.meeting(options)?;
        let mut studies = Vec::new();
        for (study, model) in self.studies.iter().zip(&self.models) {
            let mut opened;
            let name = model.codes.to_string();
            let mut encoder = match call::has_encoder(&name) {
                true => Coder::Program {
                    name,
                    batch: self.encoder.numbers.runtime.batch_size,
                },
                false if encoding::is_encoder(&model.codes)? => {
                    opened = encoding::Model::open(&model.codes, &self.encoder, &options.outputs.machine)?;
                    Coder::Model(opened.numbers(&model.name)?)
                }
                false => continue,
            };
            let mut study = study.clone();
            study.noise = Some(Arc::new(meeting.moves(&mut encoder, &study.embeddings, driver)?));
            studies.push(study);
        }
        Ok(studies)
    }

    pub fn rows(&self) -> usize {
        self.studies.first().map_or(0, |study| study.embeddings.rows())
    }
}

/// The models as the other commands take them.
pub fn models_of(options: &Data) -> Models {
    Models {
        models: options.models.clone(),
        pool: options.pool,
        ids: options.ids.clone(),
        encoder: options.encoder.clone(),
    }
}

fn paths(options: &Data) -> Paths<'_> {
    Paths {
        states: options.states.as_deref(),
        are_points: true,
        next_states: options.next_states.as_deref(),
        labels: options.labels.as_deref(),
        episodes: options.episodes.as_deref(),
        views: &options.views,
    }
}

fn named_models(options: &Data, are_needed: bool) -> Result<Vec<Model>> {
    if options.models.is_empty() && are_needed {
        anyhow::bail!(
            "no model is given: name its codes, as in `repscope evaluate z.npy` or --model NAME=PATH, or in [models] of a \
             study file (`repscope evaluate --init` writes one)"
        );
    }
    if options.next_states.is_some() && options.states.is_none() {
        anyhow::bail!("--next-states needs --states");
    }
    models::parse(&options.models, options.next_states.is_some())
}

/// The reader, the roles of what it has read, and what went wrong.
struct All<'a> {
    reader: Reader,
    roles: Vec<Role>,
    problems: &'a mut Problems,
    /// `None` where the ids cannot be joined; the files are then still looked at.
    orders: Option<Orders>,
}

impl All<'_> {
    fn see(&mut self, role: Role, path: Option<&str>, encoders: &Encoders) -> Option<Seen> {
        let seen = see(path, encoders, &mut self.reader);
        self.keep(role, seen).flatten()
    }

    /// Distances between states; texts have none.
    fn points(&mut self, seen: Seen, name: &str) -> Option<Space> {
        if seen.texts().is_some() {
            return None;
        }
        let space = seen.into_space(name).and_then(|space| self.ordered("states", space));
        self.problems.take(space)
    }

    fn stops(&mut self, stops: Array) -> Option<Arc<Labels>> {
        let episodes = stops.into_episodes("the stop flags").map_err(anyhow::Error::from);
        let episodes = episodes.and_then(|episodes| match &self.orders {
            Some(orders) => orders.labels("states", episodes),
            None => Ok(episodes),
        });
        self.problems.take(episodes).map(Arc::new)
    }

    /// Runs an encoder on the states, and on the next states.
    fn encoded(
        &mut self,
        model: &Model,
        encoders: &Encoders,
        states: Option<&Seen>,
        next: Option<&Seen>,
        pool: Pool,
    ) -> (Option<Space>, Option<Space>) {
        let Some(states) = states else {
            self.problems.add(blind(model));
            return (None, None);
        };
        let opened = encoders.open(&model.codes, &mut self.reader);
        let Some(mut encoder) = self.keep(Role::Codes, opened) else {
            return (None, None);
        };
        let mut run = |seen: &Seen| {
            let warnings = &mut self.reader.warnings;
            let space = encoders.space(&mut encoder, &model.name, seen, pool, warnings);
            let space = space.and_then(|space| self.ordered("states", space));
            self.problems.take(space)
        };
        (run(states), next.and_then(run))
    }

    fn ordered(&self, part: &str, space: Space) -> Result<Space> {
        match &self.orders {
            Some(orders) => orders.space(part, space),
            None => Ok(space),
        }
    }

    fn array(&mut self, role: Role, path: &InputPath, name: &str, part: &str, pool: Pool) -> Option<Space> {
        let read = self.reader.array(path).and_then(|array| {
            let space = array.into_space(name, pool).with_context(|| path.to_string())?;
            self.ordered(part, space)
        });
        self.keep(role, read)
    }

    fn labels(&mut self, role: Role, part: &str, path: &str) -> Option<Arc<Labels>> {
        let labels = match role {
            Role::Episodes => self
                .reader
                .array(&InputPath::parse(path))
                .and_then(|array| Ok(array.into_episodes(path)?)),
            _ => self.reader.labels(path),
        };
        let read = labels.and_then(|labels| {
            Ok(Arc::new(match &self.orders {
                Some(orders) => orders.labels(part, labels)?,
                None => labels,
            }))
        });
        self.keep(role, read)
    }

    fn keep<T>(&mut self, role: Role, read: Result<T>) -> Option<T> {
        // The reader makes a record of each file that it could open.
        self.roles.resize(self.reader.records.len(), role);
        self.problems.take(read)
    }
}

/// All arrays have the same number of rows; otherwise each is named with its own.
fn same_rows(
    states: Option<&Space>,
    labels: Option<&Labels>,
    episodes: Option<&Labels>,
    codes: &[Codes],
) -> Result<()> {
    let mut rows: Vec<(String, usize)> = Vec::new();
    rows.extend(states.map(|states| ("the states".to_string(), states.rows())));
    rows.extend(labels.map(|labels| ("the labels".to_string(), labels.rows())));
    rows.extend(episodes.map(|episodes| ("the episodes".to_string(), episodes.rows())));
    for model in codes {
        rows.push((format!("model `{}`", model.model), model.latent.rows()));
    }
    if rows.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        return Ok(());
    }
    let each: Vec<String> = rows.iter().map(|(name, count)| format!("{name} {count}")).collect();
    anyhow::bail!(
        "the numbers of rows differ: {}; give one row per sample in all, or join them with --ids",
        each.join(", ")
    );
}

/// The codes once more: spaces share their numbers.
fn copies(codes: &[Codes]) -> Vec<Codes> {
    let copy = |codes: &Codes| Codes {
        model: codes.model.clone(),
        latent: codes.latent.clone(),
        next: codes.next.clone(),
        view: codes.view.clone(),
    };
    codes.iter().map(copy).collect()
}
