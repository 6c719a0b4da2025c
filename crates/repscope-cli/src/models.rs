// SPDX-License-Identifier: MIT
//! Models as typed: a file, a folder of `.npy` files or a pattern, and the names that results go by.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use repscope_io::InputPath;

use crate::search::{list, names_of, search};

/// A model: its name, its codes, and the codes of the next states.
pub struct Model {
    pub name: String,
    pub codes: InputPath,
    pub next: Option<InputPath>,
}

impl Model {
    /// Codes of states and of next states are two files.
    pub fn refuse_one_file(&self, with_next: bool) -> Result<()> {
        if with_next && self.next.is_none() {
            bail!(
                "--model {} names one file, but with --next-states two are needed: --model NAME=Z,Z1 (codes of the states and \
                 of the next states), or an encoder",
                self.codes
            );
        }
        Ok(())
    }
}

/// A file with a name.
struct Named {
    name: String,
    path: InputPath,
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
/// as it holds files.
pub fn parse(texts: &[String], with_next: bool) -> Result<Vec<Model>> {
    let mut models = Vec::new();
    for text in texts {
        if with_next {
            models.push(parse_pair(text)?)
        } else {
            models.extend(expand("--model", text)?.into_iter().map(|named| Model {
                name: named.name,
                codes: named.path,
                next: None,
            }))
        }
    }
    let mut names = BTreeSet::new();
    if let Some(model) = models.iter().find(|model| !names.insert(&model.name)) {
        bail!(
            "two models are called `{}`; give each its own name with --model NAME=PATH",
            model.name
        );
    }
    Ok(models)
}

/// The second view of each model, from `NAME=PATH`, folders and patterns; for one model, from `PATH`.
pub fn pair_views(texts: &[String], models: &[Model]) -> Result<Vec<InputPath>> {
    let mut views = Vec::new();
    for text in texts {
        views.extend(expand("--views", text)?);
    }
    if let ([view], [_]) = (&views[..], models)
        && view.origin == Origin::Stem
    {
        return Ok(vec![view.path.clone()]);
    }
    let is_of = |view: &Named, model: &Model| {
        view.name == model.name || (view.origin != Origin::Typed && view.path.stem() == model.codes.stem())
    };
    let typed = || views.iter().filter(|view| view.origin == Origin::Typed);
    if let Some(view) = typed().find(|view| !models.iter().any(|model| is_of(view, model))) {
        bail!(
            "--views {0}={1}: no model is called `{0}`; the models are called {2}",
            view.name,
            view.path,
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
            [view] => Ok(view.path.clone()),
            [] => bail!(
                "model `{0}` has no second view, --views names {1}; add --views {0}=PATH",
                model.name,
                list(views.iter().map(|view| view.name.as_str()))
            ),
            [one, other, ..] => bail!(
                "{} and {} could both be the second view of model `{}`; say which with --views {2}=PATH",
                one.path,
                other.path,
                model.name
            ),
        }
    };
    models.iter().map(view_of).collect()
}

/// `NAME=Z,Z1`, or `NAME=ENCODER`.
fn parse_pair(text: &str) -> Result<Model> {
    let (name, rest) = split_name("--model", text)?;
    let (codes, next) = match rest.split_once(',') {
        Some((codes, next)) if !codes.is_empty() && !next.is_empty() => {
            (InputPath::parse(codes), Some(InputPath::parse(next)))
        }
        // An encoder, which makes both.
        _ => (InputPath::parse(rest), None),
    };
    Ok(Model {
        name: name.map_or_else(|| codes.stem(), str::to_string),
        codes,
        next,
    })
}

/// The files that an argument stands for, each with its name.
fn expand(option: &str, text: &str) -> Result<Vec<Named>> {
    let (name, rest) = split_name(option, text)?;
    let Some(found) = search(rest).with_context(|| format!("{option} {text}"))? else {
        let path = InputPath::parse(rest);
        return Ok(vec![match name {
            Some(name) => Named {
                name: name.to_string(),
                path,
                origin: Origin::Typed,
            },
            None => Named {
                name: path.stem(),
                path,
                origin: Origin::Stem,
            },
        }]);
    };
    let names = names_of(&found);
    Ok(found
        .into_iter()
        .zip(names)
        .map(|(path, own)| Named {
            name: name.map_or(own.clone(), |name| format!("{name}/{own}")),
            path,
            origin: Origin::Found,
        })
        .collect())
}

/// Splits `NAME=PATH`. Where the whole text names something that exists, `=` is a part of the path.
fn split_name<'a>(option: &str, text: &'a str) -> Result<(Option<&'a str>, &'a str)> {
    let exists = InputPath::parse(text).path.exists() || search(text).is_ok_and(|found| found.is_some());
    let (name, rest) = match text.split_once('=') {
        Some((name, rest)) if !exists => (Some(name.trim()), rest),
        _ => (None, text),
    };
    if name == Some("") || rest.is_empty() {
        bail!("{option} {text} needs a name and a path: {option} NAME=PATH");
    }
    Ok((name, rest))
}
