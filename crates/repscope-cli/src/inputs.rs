// SPDX-License-Identifier: MIT
//! From paths to studies: reads what was named, joins it by id where asked, and keeps a record of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::{Labels, Pairs, Space, Study};
use repscope_io::{InputPath, Pool};

use crate::args::{Models, PoolChoice};
use crate::reader::{Part, Reader, Sources};

/// The paths of an analysis, as typed.
#[derive(Default)]
pub struct Paths<'a> {
    pub states: Option<&'a str>,
    pub next_states: Option<&'a str>,
    pub labels: Option<&'a str>,
    pub episodes: Option<&'a str>,
}

/// Studies, what they were read from, and what the user should know.
pub struct Inputs {
    pub studies: Vec<Study>,
    pub sources: Sources,
}

/// A model as typed: its name, its codes, and the codes of the next states.
struct Model {
    name: String,
    codes: InputPath,
    next: Option<InputPath>,
}

/// Reads everything and checks that it fits together.
pub fn read(paths: &Paths, models: &Models) -> Result<Inputs> {
    let mut reader = Reader::new(&models.ids);
    let named = parse_models(&models.models, paths.next_states.is_some())?;
    let pool = pool(models.pool);
    let orders = match models.ids.is_empty() {
        true => reader.join(Vec::new())?,
        false => reader.join(parts(paths, &named)?)?,
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

    let mut latents = Vec::new();
    for model in &named {
        let codes = space(&mut reader, &model.codes, &model.name, pool, &model.name)?;
        let next = match &model.next {
            None => None,
            Some(path) => Some(space(&mut reader, path, &model.name, pool, &model.name)?),
        };
        latents.push((model.name.clone(), codes, next));
    }
    let studies = match next_states {
        Some(next) => stacked_studies(states, next, latents, episodes)?,
        None => row_studies(states, latents, labels, episodes)?,
    };
    Ok(Inputs {
        studies,
        sources: Sources {
            records: reader.records,
            warnings: reader.warnings,
            options: roles(paths, models),
        },
    })
}

/// The arrays that `--ids` joins.
fn parts(paths: &Paths, models: &[Model]) -> Result<Vec<Part>> {
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
    Ok(parts)
}

/// What was typed about the inputs.
fn roles(paths: &Paths, models: &Models) -> serde_json::Map<String, serde_json::Value> {
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
fn row_studies(
    states: Option<Space>,
    latents: Vec<(String, Space, Option<Space>)>,
    labels: Option<Arc<Labels>>,
    episodes: Option<Arc<Labels>>,
) -> Result<Vec<Study>> {
    let input = states.map(Arc::new);
    let mut studies = Vec::new();
    for (name, latent, _) in latents {
        let mut study = Study::new(&name, latent);
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
fn stacked_studies(
    states: Option<Space>,
    next: Space,
    latents: Vec<(String, Space, Option<Space>)>,
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
    for (name, latent, next) in latents {
        if latent.rows() != rows {
            bail!(
                "`states` has {rows} rows but the codes of model `{name}` have {}; give one row per sample in both, \
                 or join them with --ids",
                latent.rows()
            );
        }
        let next = next.with_context(|| format!("model `{name}` has no codes of the next states"))?;
        let mut study = Study::new(&name, latent.stack(&next)?);
        study.input = Some(input.clone());
        study.pairs = Some(pairs.clone());
        studies.push(study);
    }
    Ok(studies)
}

fn pool(choice: PoolChoice) -> Pool {
    match choice {
        PoolChoice::Last => Pool::Last,
        PoolChoice::Mean => Pool::Mean,
        PoolChoice::First => Pool::First,
        PoolChoice::Flatten => Pool::Flatten,
    }
}

/// `NAME=PATH`, `PATH`, and with next states `NAME=PATH,PATH`. A file that exists under the whole text wins.
fn parse_models(texts: &[String], with_next: bool) -> Result<Vec<Model>> {
    let mut models = Vec::new();
    let mut names = BTreeSet::new();
    for text in texts {
        let exists = InputPath::parse(text).path.exists();
        let (name, rest) = match text.split_once('=') {
            Some((name, rest)) if !exists => (Some(name.trim()), rest),
            _ => (None, text.as_str()),
        };
        if name == Some("") || rest.is_empty() {
            bail!("--model {text} needs a name and a path: --model NAME=PATH");
        }
        let (codes, next) = match rest.split_once(',') {
            Some((codes, next)) if with_next && !codes.is_empty() && !next.is_empty() => {
                (InputPath::parse(codes), Some(InputPath::parse(next)))
            }
            _ if with_next => bail!(
                "--model {text} names one file, but with --next-states two are needed: --model NAME=Z,Z1 (codes of the \
                 states and of the next states)"
            ),
            _ => (InputPath::parse(rest), None),
        };
        let name = name.map_or_else(|| codes.stem(), str::to_string);
        if !names.insert(name.clone()) {
            bail!("two models are called `{name}`; give each its own name with --model NAME=PATH");
        }
        models.push(Model { name, codes, next });
    }
    Ok(models)
}
