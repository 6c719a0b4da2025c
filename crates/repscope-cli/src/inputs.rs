// SPDX-License-Identifier: MIT
//! From paths to studies: reads what was named, joins it by id where asked, and keeps a record of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::{Labels, Pairs, Space, Study};
use repscope_io::{
    Array, InputPath, InputRecord, Pool, digest, join_rows, list_arrays, read_array, read_array_beside, read_ids,
};

use crate::args::{Models, PoolChoice};

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
    pub records: Vec<InputRecord>,
    pub warnings: Vec<String>,
    /// Which file played which role, and how it was read: the part of the options that is not in the spec.
    pub options: serde_json::Map<String, serde_json::Value>,
}

/// A model as typed: its name, its codes, and the codes of the next states.
struct Model {
    name: String,
    codes: InputPath,
    next: Option<InputPath>,
}

/// Reads everything and checks that it fits together.
pub fn read(paths: &Paths, models: &Models) -> Result<Inputs> {
    let mut reader = Reader {
        id_column: models.ids.iter().find(|i| !i.contains('=')).cloned(),
        records: Vec::new(),
        warnings: Vec::new(),
    };
    let named = parse_models(&models.models, paths.next_states.is_some())?;
    let pool = pool(models.pool);
    let orders = reader.join(paths, &named, &models.ids)?;
    let order = |part: &str| {
        orders
            .as_ref()
            .and_then(|o| o.iter().find(|(name, _)| name == part))
            .map(|(_, o)| o)
    };

    let space = |reader: &mut Reader, path: &InputPath, name: &str, pool, part: &str| -> Result<Space> {
        let array = reader.array(path)?;
        let space = array.into_space(name, pool).with_context(|| path.to_string())?;
        Ok(match order(part) {
            Some(order) => space.select(order)?,
            None => space,
        })
    };
    let labels = match paths.labels {
        None => None,
        Some(path) => {
            let labels = reader.array(&InputPath::parse(path))?.into_labels(path)?;
            Some(Arc::new(order("labels").map_or(labels.clone(), |o| labels.select(o))))
        }
    };
    let episodes = match paths.episodes {
        None => None,
        Some(path) => {
            let episodes = reader.array(&InputPath::parse(path))?.into_episodes(path)?;
            Some(Arc::new(
                order("episodes").map_or(episodes.clone(), |o| episodes.select(o)),
            ))
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
        records: reader.records,
        warnings: reader.warnings,
        options: roles(paths, models),
    })
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

struct Reader {
    /// The column that `--ids` names in every file.
    id_column: Option<String>,
    records: Vec<InputRecord>,
    warnings: Vec<String>,
}

type Orders = Vec<(String, Vec<usize>)>;

impl Reader {
    fn array(&mut self, path: &InputPath) -> Result<Array> {
        let path = &self.beside_ids(path)?;
        let array = match &self.id_column {
            Some(column) => read_array_beside(path, column)?,
            None => read_array(path)?,
        };
        self.records.push(InputRecord {
            path: path.to_string(),
            shape: array.shape().to_vec(),
            dtype: array.dtype().to_string(),
            digest: digest(&path.path)?,
        });
        Ok(array)
    }

    /// What is meant by a path without a key: the array beside the id column, where the file holds both.
    fn beside_ids(&self, path: &InputPath) -> Result<InputPath> {
        let Some(column) = self.id_column.as_deref().filter(|_| path.key.is_none()) else {
            return Ok(path.clone());
        };
        let (ids, mut others): (Vec<_>, Vec<_>) = list_arrays(&path.path)?
            .into_iter()
            .partition(|a| a.key.as_deref() == Some(column));
        if ids.is_empty() {
            return Ok(path.clone());
        }
        if others.len() == 1 {
            let key = others.remove(0).key;
            return Ok(InputPath { key, ..path.clone() });
        }
        Ok(path.clone())
    }

    /// The rows of each part that stand for the ids all parts have; none without `--ids`.
    fn join(&mut self, paths: &Paths, models: &[Model], ids: &[String]) -> Result<Option<Orders>> {
        if ids.is_empty() {
            return Ok(None);
        }
        let mut parts: Vec<(String, InputPath)> = Vec::new();
        for (name, path) in [
            ("states", paths.states),
            ("labels", paths.labels),
            ("episodes", paths.episodes),
        ] {
            parts.extend(path.map(|p| (name.to_string(), InputPath::parse(p))));
        }
        for model in models {
            if parts.iter().any(|(name, _)| *name == model.name) {
                bail!(
                    "a model is called `{0}`, and so is an array that --ids joins it with; give the model another name",
                    model.name
                );
            }
            parts.push((model.name.clone(), model.codes.clone()));
        }
        let mut lists = Vec::new();
        for (name, path) in &parts {
            let source = id_source(name, path, ids)?;
            lists.push(read_ids(&source).with_context(|| format!("reading the ids of `{name}`"))?);
        }
        let named: Vec<(&str, &[String])> = parts
            .iter()
            .zip(&lists)
            .map(|(p, l)| (p.0.as_str(), l.as_slice()))
            .collect();
        let joined = join_rows(&named)?;
        for ((name, _), dropped) in parts.iter().zip(&joined.dropped).filter(|(_, d)| **d > 0) {
            self.warnings.push(format!(
                "{dropped} rows of `{name}` have an id that other arrays lack; they are left out"
            ));
        }
        Ok(Some(parts.into_iter().map(|p| p.0).zip(joined.orders).collect()))
    }
}

/// Where the ids of a part are: the file named for it, or the id column of its own file.
fn id_source(part: &str, path: &InputPath, ids: &[String]) -> Result<InputPath> {
    let own = ids
        .iter()
        .filter_map(|i| i.split_once('='))
        .find(|(name, _)| *name == part);
    if let Some((_, file)) = own {
        return Ok(InputPath::parse(file));
    }
    match ids.iter().find(|i| !i.contains('=')) {
        Some(column) if Path::new(column).exists() => bail!(
            "--ids {column} is a file: say whose ids it holds with --ids NAME={column}, once for each array (here: \
             `{part}`)"
        ),
        Some(column) => Ok(InputPath {
            path: path.path.clone(),
            key: Some(column.clone()),
        }),
        None => bail!("--ids names no ids for `{part}`; add {part}=PATH"),
    }
}
