// SPDX-License-Identifier: MIT
//! From paths to studies: reads what was named, joins it by id where asked, and keeps a record of it.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::{Labels, Pairs, Space, Study};
use repscope_io::{InputPath, Pool};

use crate::args::{Episodes, Models, PoolChoice};
use crate::models::{self, Model};
use crate::reader::{Part, Reader, Sources};

/// The paths of an analysis, as typed.
#[derive(Default)]
pub struct Paths<'a> {
    pub states: Option<&'a str>,
    pub next_states: Option<&'a str>,
    pub labels: Option<&'a str>,
    pub episodes: Option<&'a str>,
    /// Second views of the models.
    pub views: &'a [String],
}

impl<'a> Paths<'a> {
    /// Nothing but codes and their episodes.
    pub fn of_episodes(given: &'a Episodes) -> Self {
        Paths {
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

/// Reads everything and checks that it fits together.
pub fn read(paths: &Paths, models: &Models) -> Result<Inputs> {
    let mut reader = Reader::new(&models.ids);
    let named = models::parse(&models.models, paths.next_states.is_some())?;
    let views = match paths.views.is_empty() {
        true => Vec::new(),
        false => models::pair_views(paths.views, &named)?,
    };
    let pool = pool(models.pool);
    let orders = match models.ids.is_empty() {
        true => reader.join(Vec::new())?,
        false => reader.join(parts(paths, &named, &views)?)?,
    };

    let space = |reader: &mut Reader, path: &InputPath, name: &str, pool, part: &str| -> Result<Space> {
        let array = reader.array(path)?;
        let space = array.into_space(name, pool).with_context(|| path.to_string())?;
        orders.space(part, space)
    };
    let labels = match paths.labels {
        None => None,
        Some(path) => {
            let labels = reader.array(&InputPath::parse(path))?.into_labels(path)?;
            Some(Arc::new(orders.labels("labels", labels)?))
        }
    };
    let episodes = match paths.episodes {
        None => None,
        Some(path) => {
            let episodes = reader.array(&InputPath::parse(path))?.into_episodes(path)?;
            Some(Arc::new(orders.labels("episodes", episodes)?))
        }
    };
    let states = match paths.states {
        None => None,
        Some(path) => Some(space(
            &mut reader,
            &InputPath::parse(path),
            "states",
            Pool::Flatten,
            "states",
        )?),
    };
    let next_states = match paths.next_states {
        None => None,
        Some(path) => Some(space(
            &mut reader,
            &InputPath::parse(path),
            "next states",
            Pool::Flatten,
            "states",
        )?),
    };

    let mut codes = Vec::new();
    for (i, model) in named.iter().enumerate() {
        let latent = space(&mut reader, &model.codes, &model.name, pool, &model.name)?;
        let next = match &model.next {
            None => None,
            Some(path) => Some(space(&mut reader, path, &model.name, pool, &model.name)?),
        };
        let view = match views.get(i) {
            None => None,
            Some(path) => {
                let part = view_part(&model.name);
                Some(Arc::new(space(&mut reader, path, &part, pool, &part)?))
            }
        };
        codes.push(Codes {
            model: model.name.clone(),
            latent,
            next,
            view,
        });
    }
    let studies = match next_states {
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
        parts.push(Part::new(&model.name, model.codes.clone()));
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
    match roles {
        serde_json::Value::Object(map) => map,
        _ => serde_json::Map::new(),
    }
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
        study.pairs = Some(Arc::new(Pairs::consecutive(study.latent.rows(), episodes.as_deref())));
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
