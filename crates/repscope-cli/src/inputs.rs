// SPDX-License-Identifier: MIT
//! From paths to studies: reads what was named, joins it by id where asked, and keeps a record of it.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::{Labels, Pairs, Space, Study};
use repscope_io::{InputPath, Pool};

use crate::args::{Episodes, Machine, Models, PoolChoice, SeenOption};
use crate::encoding::{self, Encoders, Seen};
use crate::models::{self, Model};
use crate::reader::{Part, Reader, Sources};

/// The paths of an analysis, as typed.
#[derive(Default)]
pub struct Paths<'a> {
    pub states: Option<&'a str>,
    /// Whether distances between the states are looked at; else they are for encoders alone.
    pub are_points: bool,
    pub next_states: Option<&'a str>,
    pub labels: Option<&'a str>,
    pub episodes: Option<&'a str>,
    /// Second views of the models.
    pub views: &'a [String],
}

impl<'a> Paths<'a> {
    /// Nothing but codes and their episodes.
    pub fn of_codes(seen: &'a SeenOption, given: &'a Episodes) -> Self {
        Paths {
            states: seen.states.as_deref(),
            episodes: given.episodes.as_deref(),
            ..Paths::default()
        }
    }
}

/// Studies, what they were read from, and what the user should know.
pub struct Inputs {
    pub studies: Vec<Study>,
    /// The models of the studies, in the same order.
    pub models: Vec<Model>,
    pub sources: Sources,
}

/// The codes of a model, of its next states, and of its second view.
pub struct Codes {
    pub model: String,
    pub latent: Space,
    pub next: Option<Space>,
    pub view: Option<Arc<Space>>,
}

/// Reads everything, runs the models that are encoders, and checks that it fits together.
pub fn read(paths: &Paths, models: &Models, machine: &Machine) -> Result<Inputs> {
    let mut reader = Reader::new(&models.ids);
    let named = models::parse(&models.models, paths.next_states.is_some())?;
    let views = if paths.views.is_empty() {
        Vec::new()
    } else {
        models::pair_views(paths.views, &named)?
    };
    let pool = pool(models.pool);
    let orders = if models.ids.is_empty() {
        reader.join(Vec::new())?
    } else {
        reader.join(parts(paths, &named, &views)?)?
    };
    let encoders = Encoders {
        options: &models.encoder,
        machine,
    };

    let space = |reader: &mut Reader, path: &InputPath, name: &str, part: &str| -> Result<Space> {
        let array = reader.array(path)?;
        let space = array.into_space(name, pool).with_context(|| path.to_string())?;
        orders.space(part, space)
    };
    let labels = match paths.labels {
        None => None,
        Some(path) => {
            let labels = reader.labels(path)?;
            Some(Arc::new(orders.labels("labels", labels)?))
        }
    };
    let states = see(paths.states, &encoders, &mut reader)?;
    let next_states = see(paths.next_states, &encoders, &mut reader)?;
    let episodes = match (paths.episodes, states.as_ref().and_then(|seen| seen.stops.clone())) {
        (None, None) => None,
        (Some(path), _) => {
            let episodes = reader.array(&InputPath::parse(path))?.into_episodes(path)?;
            Some(Arc::new(orders.labels("episodes", episodes)?))
        }
        (None, Some(stops)) => {
            let episodes = stops.into_episodes("the stop flags")?;
            Some(Arc::new(orders.labels("states", episodes)?))
        }
    };

    let mut codes = Vec::new();
    for (i, model) in named.iter().enumerate() {
        let name = &model.name;
        let (latent, next) = if encoding::is_encoder(&model.codes)? {
            let seen = states.as_ref().with_context(|| blind(model))?;
            let mut encoder = encoders.open(&model.codes, &mut reader)?;
            let warnings = &mut reader.warnings;
            let latent = encoders.space(&mut encoder, name, seen, pool, warnings)?;
            let next = match &next_states {
                None => None,
                Some(seen) => Some(encoders.space(&mut encoder, name, seen, pool, warnings)?),
            };
            let next = next.map(|next| orders.space("states", next)).transpose()?;
            (orders.space("states", latent)?, next)
        } else {
            model.refuse_one_file(paths.next_states.is_some())?;
            let latent = space(&mut reader, &model.codes, name, name)?;
            let next = match &model.next {
                None => None,
                Some(path) => Some(space(&mut reader, path, name, name)?),
            };
            (latent, next)
        };
        let view = match views.get(i) {
            None => None,
            Some(path) => {
                let part = view_part(name);
                Some(Arc::new(space(&mut reader, path, &part, &part)?))
            }
        };
        codes.push(Codes {
            model: name.clone(),
            latent,
            next,
            view,
        });
    }
    let points = |seen: Option<Seen>, name: &str| match seen.filter(|_| paths.are_points) {
        None => Ok(None),
        Some(seen) => orders.space("states", seen.into_space(name)?).map(Some),
    };
    let states = points(states, "states")?;
    let studies = match points(next_states, "next states")? {
        Some(next) => stacked_studies(states, next, codes, episodes)?,
        None => row_studies(states, codes, labels, episodes)?,
    };
    Ok(Inputs {
        studies,
        models: named,
        sources: Sources {
            records: reader.records,
            warnings: reader.warnings,
            options: roles(paths, models),
        },
    })
}

/// Opens what a path names for encoders, and for distances between inputs.
pub fn see(path: Option<&str>, encoders: &Encoders, reader: &mut Reader) -> Result<Option<Seen>> {
    path.map(|path| Seen::open(&InputPath::parse(path), encoders.options.numbers.skip_bad, reader))
        .transpose()
}

/// Why an encoder cannot be run.
pub fn blind(model: &Model) -> String {
    format!(
        "{} is an encoder, and there is nothing to run it on; give --states PATH",
        model.codes
    )
}

/// The arrays that `--ids` joins.
pub fn parts(paths: &Paths, models: &[Model], views: &[InputPath]) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for (name, path) in [
        ("states", paths.states),
        ("labels", paths.labels),
        ("episodes", paths.episodes),
    ] {
        parts.extend(path.map(|p| Part::new(name, InputPath::parse(p))));
    }
    for model in models {
        if parts.iter().any(|part| part.name == model.name) {
            bail!(
                "a model is called `{0}`, and so is an array that --ids joins it with; give the model another name",
                model.name
            );
        }
        // Codes that an encoder makes have the rows of the states.
        if !encoding::is_encoder(&model.codes)? {
            parts.push(Part::new(&model.name, model.codes.clone()));
        }
    }
    for (model, view) in models.iter().zip(views) {
        parts.push(Part::new(&view_part(&model.name), view.clone()));
    }
    Ok(parts)
}

/// What `--ids` calls the second view of a model.
pub fn view_part(model: &str) -> String {
    format!("{model}.view")
}

/// What was typed about the inputs.
pub fn roles(paths: &Paths, models: &Models) -> serde_json::Map<String, serde_json::Value> {
    let roles = serde_json::json!({
        "states": paths.states, "next_states": paths.next_states, "labels": paths.labels, "episodes": paths.episodes,
        "models": models.models, "pool": pool(models.pool).name(), "ids": models.ids,
    });
    let mut roles = match roles {
        serde_json::Value::Object(map) => map,
        _ => serde_json::Map::new(),
    };
    roles.extend(models.encoder.asked());
    roles
}

/// Every row is a sample; consecutive rows are pairs.
pub fn row_studies(
    states: Option<Space>,
    codes: Vec<Codes>,
    labels: Option<Arc<Labels>>,
    episodes: Option<Arc<Labels>>,
) -> Result<Vec<Study>> {
    let input = states.map(Arc::new);
    let mut studies = Vec::new();
    for Codes {
        model, latent, view, ..
    } in codes
    {
        let mut study = Study::new(&model, latent);
        study.view = view;
        study.input.clone_from(&input);
        study.labels.clone_from(&labels);
        study.episodes.clone_from(&episodes);
        study.check()?;
        study.pairs = Some(Arc::new(Pairs::consecutive(
            study.embeddings.rows(),
            episodes.as_deref(),
        )));
        studies.push(study);
    }
    Ok(studies)
}

/// Row i of the states and row i of the next states are a pair: the two are stacked.
pub fn stacked_studies(
    states: Option<Space>,
    next: Space,
    codes: Vec<Codes>,
    episodes: Option<Arc<Labels>>,
) -> Result<Vec<Study>> {
    let states = states.context("--next-states needs --states")?;
    let rows = states.rows();
    if let Some(count) = episodes.as_ref().map(|e| e.rows()).filter(|&c| c != rows) {
        bail!("the episode array has {count} rows but the states have {rows}; give one per state");
    }
    let input = Arc::new(states.stack(&next)?);
    let pairs = Arc::new(Pairs::stacked(rows, episodes.as_deref()));
    let mut studies = Vec::new();
    for Codes {
        model, latent, next, ..
    } in codes
    {
        if latent.rows() != rows {
            bail!(
                "`states` has {rows} rows but the codes of model `{model}` have {}; give one row per sample in both, \
                 or join them with --ids",
                latent.rows()
            );
        }
        let next = next.with_context(|| format!("model `{model}` has no codes of the next states"))?;
        let mut study = Study::new(&model, latent.stack(&next)?);
        study.input = Some(input.clone());
        study.pairs = Some(pairs.clone());
        studies.push(study);
    }
    Ok(studies)
}

pub fn pool(choice: PoolChoice) -> Pool {
    match choice {
        PoolChoice::Last => Pool::Last,
        PoolChoice::Mean => Pool::Mean,
        PoolChoice::First => Pool::First,
        PoolChoice::Flatten => Pool::Flatten,
    }
}
