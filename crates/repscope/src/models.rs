// SPDX-License-Identifier: MIT
//! Models as typed: a file, a folder of `.npy` files or a pattern, training runs of one recipe, and the names that results go by.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use repscope_core::Recipe;
use repscope_io::InputPath;

use crate::search::{list, names_of, search};
use crate::source::{Named as Given, Place, SharedEncoder, Source};

/// A model: its name, its embeddings, and those of the next inputs.
#[derive(Clone)]
pub struct Model {
    pub name: String,
    /// The recipe that it is a training run of.
    pub recipe: Option<String>,
    /// The model that it is a layer of.
    pub layer_of: Option<String>,
    /// Where its embeddings are; or the encoder, where it is one in a file.
    pub embeddings: Place,
    pub next: Option<Place>,
    /// The encoder, where it is one of the calling program.
    pub encoder: Option<SharedEncoder>,
}

impl Model {
    /// The model at a place, under the name of its file.
    fn at(place: Place) -> Self {
        Model {
            name: place.stem(),
            recipe: None,
            layer_of: None,
            embeddings: place,
            next: None,
            encoder: None,
        }
    }

    /// Embeddings of inputs and of next inputs are two arrays.
    pub fn refuse_one_file(&self, with_next: bool) -> Result<()> {
        if with_next && self.next.is_none() {
            bail!(
                "`model` = {} names one array, but with `next_states` two are needed: NAME=Z,Z1 (embeddings of the states and \
                 of the next states), or an encoder",
                self.embeddings
            );
        }
        Ok(())
    }
}

/// A file with a name.
struct Named {
    name: String,
    place: Place,
    origin: Origin,
}

/// Where a name comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The user typed it.
    Typed,
    /// It is the stem of a file that the user typed.
    Stem,
    /// The file was found in a folder or by a pattern.
    Found,
}

/// `NAME=PATH`, `PATH`, and with next states `NAME=PATH,PATH`. Without those, a folder or a pattern is as many models
/// as it holds files. Training runs of recipes follow.
pub fn parse(given: &[Given], replicates: &[Given], with_next: bool, shards: bool) -> Result<Vec<Model>> {
    let mut models = Vec::new();
    for given in given {
        match given {
            Given::Source(name, source, next) => models.push(Model {
                name: name.clone(),
                ..of_source(source, next.as_deref())?
            }),
            Given::Text(text) if with_next => models.push(parse_pair(text)?),
            given => models.extend(expand("model", given, shards)?.into_iter().map(|named| Model {
                name: named.name,
                ..Model::at(named.place)
            })),
        }
    }
    models.extend(training_runs(replicates)?);
    let mut names = BTreeSet::new();
    if let Some(model) = models.iter().find(|model| !names.insert(&model.name)) {
        let name = &model.name;
        bail!("two models are called `{name}`; give each its own name with `model` NAME=PATH");
    }
    for recipe in recipes(&models) {
        let Recipe { name, runs } = recipe;
        if names.contains(&name) {
            bail!("`{name}` is both a model and a recipe with several training runs; give one of them another name");
        }
        if let [run] = &runs[..] {
            bail!(
                "`replicates` = {name}: 1 training run is given, `{run}`, and what differs between runs takes at least 2; add \
                 runs, or pass it as a `model`"
            );
        }
    }
    Ok(models)
}

/// The recipes that models are training runs of, in their order.
pub fn recipes(models: &[Model]) -> Vec<Recipe> {
    let mut recipes: Vec<Recipe> = Vec::new();
    for model in models {
        let Some(name) = &model.recipe else { continue };
        let at = recipes.iter().position(|own| own.name == *name).unwrap_or_else(|| {
            recipes.push(Recipe {
                name: name.clone(),
                runs: Vec::new(),
            });
            recipes.len() - 1
        });
        recipes[at].runs.push(model.name.clone());
    }
    recipes
}

/// `NAME=PATTERN`, `NAME=PATH,PATH`, or sources of a program under one name: runs are called by the recipe and their file or
/// number. Runs of one recipe stand together.
fn training_runs(given: &[Given]) -> Result<Vec<Model>> {
    let mut runs: Vec<Model> = Vec::new();
    for given in given {
        match given {
            Given::Source(recipe, source, next) => {
                let number = 1 + runs.iter().filter(|run| run.recipe.as_ref() == Some(recipe)).count();
                runs.push(Model {
                    name: format!("{recipe}/{number}"),
                    recipe: Some(recipe.clone()),
                    ..of_source(source, next.as_deref())?
                });
            }
            Given::Text(text) => {
                let (Some(recipe), paths) = split_name("replicates", text)? else {
                    bail!("`replicates` = {text} needs the name of the recipe, NAME=PATTERN");
                };
                let mut found = Vec::new();
                for path in paths.split(',') {
                    let files = search(path).with_context(|| format!("`replicates` = {text}"))?;
                    found.extend(files.unwrap_or_else(|| vec![InputPath::parse(path)]));
                }
                let names = names_of(&found);
                runs.extend(found.into_iter().zip(names).map(|(path, own)| Model {
                    name: format!("{recipe}/{own}"),
                    recipe: Some(recipe.to_string()),
                    ..Model::at(Place::File(path))
                }));
            }
        }
    }
    let order: Vec<String> = recipes(&runs).into_iter().map(|recipe| recipe.name).collect();
    runs.sort_by_key(|run| order.iter().position(|name| run.recipe.as_ref() == Some(name)));
    Ok(runs)
}

/// A model of a program, whose name follows.
fn of_source(source: &Source, next: Option<&Source>) -> Result<Model> {
    Ok(Model {
        next: next.map(Source::place).transpose()?,
        encoder: match source {
            Source::Encoder(_, _, encoder) => Some(encoder.clone()),
            _ => None,
        },
        ..Model::at(source.place()?)
    })
}

/// Arrays that models have beside their embeddings.
pub struct Beside {
    /// The option that names them.
    option: &'static str,
    /// One, and several.
    one: &'static str,
    many: &'static str,
}

/// Further views of the same samples.
pub const VIEWS: Beside = Beside {
    option: "views",
    one: "second view",
    many: "views",
};
/// Rows that only test.
pub const TESTS: Beside = Beside {
    option: "test_model",
    one: "set of test rows",
    many: "test rows",
};
/// Reference rows.
pub const REFERENCES: Beside = Beside {
    option: "against",
    one: "set of reference rows",
    many: "reference rows",
};

/// The array beside each model, from `NAME=PATH`, folders and patterns; for one model, from `PATH`.
pub fn pair(what: &Beside, given: &[Given], models: &[Model]) -> Result<Vec<Place>> {
    let one = |(places, model): (Vec<Place>, &Model)| match <[Place; 1]>::try_from(places) {
        Ok([place]) => Ok(place),
        Err(places) => bail!(
            "{} and {} are both the {} of model `{}`; give one",
            places[0],
            places[1],
            what.one,
            model.name
        ),
    };
    pair_all(what, given, models)?
        .into_iter()
        .zip(models)
        .map(one)
        .collect()
}

/// The arrays beside each model, in the order in which they were given; at least one for each.
pub fn pair_all(what: &Beside, given: &[Given], models: &[Model]) -> Result<Vec<Vec<Place>>> {
    let Beside { option, one, many } = what;
    let mut views = Vec::new();
    for given in given {
        views.extend(expand(option, given, false)?);
    }
    if models.len() == 1 && !views.is_empty() && views.iter().all(|view| view.origin == Origin::Stem) {
        return Ok(vec![views.into_iter().map(|view| view.place).collect()]);
    }
    let is_of = |view: &Named, model: &Model| {
        view.name == model.name || (view.origin != Origin::Typed && view.place.stem() == model.embeddings.stem())
    };
    let typed = || views.iter().filter(|view| view.origin == Origin::Typed);
    if let Some(view) = typed().find(|view| !models.iter().any(|model| is_of(view, model))) {
        bail!(
            "`{option}` = {0}={1}: no model is called `{0}`; the models are called {2}",
            view.name,
            view.place,
            list(models.iter().map(|model| model.name.as_str()))
        );
    }
    let view_of = |model: &Model| {
        let same_name: Vec<&Named> = views.iter().filter(|view| view.name == model.name).collect();
        let found = if same_name.is_empty() {
            views.iter().filter(|view| is_of(view, model)).collect()
        } else {
            same_name
        };
        match found[..] {
            [view] => Ok(vec![view.place.clone()]),
            // Said for this model, one after the other.
            [..] if found.len() > 1 && found.iter().all(|view| view.origin == Origin::Typed) => {
                Ok(found.iter().map(|view| view.place.clone()).collect())
            }
            [] => bail!(
                "model `{0}` has no {one}, the {many} are {1}; add `{option}` = {0}=PATH",
                model.name,
                list(views.iter().map(|view| view.name.as_str()))
            ),
            [first, other, ..] => bail!(
                "{} and {} could both be the {one} of model `{}`; say which with `{option}` = {2}=PATH",
                first.place,
                other.place,
                model.name
            ),
        }
    };
    models.iter().map(view_of).collect()
}

/// `NAME=Z,Z1`, or `NAME=ENCODER`.
fn parse_pair(text: &str) -> Result<Model> {
    let (name, rest) = split_name("model", text)?;
    let place = |text: &str| Place::File(InputPath::parse(text));
    let (embeddings, next) = match rest.split_once(',') {
        Some((now, next)) if !now.is_empty() && !next.is_empty() => (place(now), Some(place(next))),
        // An encoder, which makes both.
        _ => (place(rest), None),
    };
    Ok(Model {
        name: name.map_or_else(|| embeddings.stem(), str::to_string),
        next,
        ..Model::at(embeddings)
    })
}

/// The files that an argument stands for, each with its name.
fn expand(what: &str, given: &Given, shards: bool) -> Result<Vec<Named>> {
    let text = match given {
        Given::Text(text) => text,
        Given::Source(name, source, _) => {
            return Ok(vec![Named {
                name: name.clone(),
                place: source.place()?,
                origin: if name.is_empty() { Origin::Stem } else { Origin::Typed },
            }]);
        }
    };
    let (name, rest) = split_name(what, text)?;
    // A pattern is read as one array by the reader itself.
    let found = if shards { Ok(None) } else { search(rest) };
    let Some(found) = found.with_context(|| format!("`{what}` = {text}"))? else {
        let place = Place::File(InputPath::parse(rest));
        return Ok(vec![Named {
            name: name.map_or_else(|| place.stem(), str::to_string),
            place,
            origin: if name.is_some() { Origin::Typed } else { Origin::Stem },
        }]);
    };
    let names = names_of(&found);
    let named = |(path, own): (InputPath, String)| Named {
        name: name.map_or(own.clone(), |name| format!("{name}/{own}")),
        place: Place::File(path),
        origin: Origin::Found,
    };
    Ok(found.into_iter().zip(names).map(named).collect())
}

/// Splits `NAME=PATH`. Where the whole text names something that exists, `=` is a part of the path.
fn split_name<'a>(what: &str, text: &'a str) -> Result<(Option<&'a str>, &'a str)> {
    let exists = InputPath::parse(text).path.exists() || search(text).is_ok_and(|found| found.is_some());
    let (name, rest) = match text.split_once('=') {
        Some((name, rest)) if !exists => (Some(name.trim()), rest),
        _ => (None, text),
    };
    if name == Some("") || rest.is_empty() {
        bail!("`{what}` = {text} needs a name and a path, NAME=PATH");
    }
    Ok((name, rest))
}
