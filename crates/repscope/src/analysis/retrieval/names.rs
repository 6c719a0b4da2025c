// SPDX-License-Identifier: MIT
//! Which spaces and which sets of labels were named.

use anyhow::{Result, bail};
use repscope_io::InputPath;

use super::keys::Key;
use super::{PROTOTYPE, Retrieval};
use crate::source::{Named, Place, Source};

/// More names than this are not listed in a message.
const LISTED: usize = 10;

/// A space as it was given.
pub struct NamedSpace {
    pub name: String,
    pub place: Place,
    pub key: Key,
}

/// A file of labels as typed: of all spaces that share them, or of one space; of a named set, or of the only one.
pub struct LabelFile {
    pub space: Option<String>,
    pub set: Option<String>,
    pub place: Place,
    pub key: Key,
}

impl LabelFile {
    /// What ids call it.
    pub fn part(&self) -> String {
        match (&self.space, &self.set) {
            (Some(space), Some(set)) => format!("{space}.{set}"),
            (Some(space), None) => format!("labels of {space}"),
            (None, Some(set)) => set.clone(),
            (None, None) => "labels".to_string(),
        }
    }
}

/// Sensor and text first, then the others in the order given.
pub fn spaces(options: &Retrieval) -> Result<Vec<NamedSpace>> {
    let mut spaces: Vec<NamedSpace> = Vec::new();
    for (name, source, given, option) in [
        ("sensor", &options.sensor_embeddings, &options.sensor_key, "sensor_key"),
        ("text", &options.text_embeddings, &options.text_key, "text_key"),
    ] {
        if let Some(source) = source {
            spaces.push(NamedSpace {
                name: name.to_string(),
                place: source.place()?,
                key: Key::embeddings(Some(option), given.as_deref()),
            });
        }
    }
    for given in &options.spaces {
        let (name, place) = match given {
            Named::Source(name, source, _) => (name.as_str(), source.place()?),
            Named::Text(text) => match text.split_once('=') {
                Some((name, path)) if !name.trim().is_empty() && !path.is_empty() => {
                    (name, Place::File(InputPath::parse(path)))
                }
                _ => bail!("`space` = {text} needs a name and a path: `space` NAME=PATH"),
            },
        };
        spaces.push(NamedSpace {
            name: name.trim().to_string(),
            place,
            key: Key::embeddings(None, None),
        });
    }
    for (at, space) in spaces.iter().enumerate() {
        let name = &space.name;
        if spaces[..at].iter().any(|other| other.name == *name) {
            bail!("two spaces are called `{name}`; give each its own name, as NAME=PATH");
        }
        if name.contains('2') {
            bail!(
                "a space called `{name}` cannot be named in a direction such as text2sensor; use letters, `_`, `-` and \
                 digits other than 2"
            );
        }
        if name == PROTOTYPE || name == "labels" {
            bail!("no space may be called `{name}`, because the word stands for something else; give it another name");
        }
    }
    if spaces.is_empty() {
        bail!(
            "there is nothing to search: give `sensor_embeddings` PATH, `text_embeddings` PATH, or other spaces with \
             `space` NAME=PATH"
        );
    }
    Ok(spaces)
}

/// `PATH`, `SET=PATH`, and for a space of its own `SPACE=PATH` or `SPACE.SET=PATH`. A file that exists under the
/// whole text wins.
pub fn labels(options: &Retrieval, spaces: &[NamedSpace]) -> Result<Vec<LabelFile>> {
    if options.labels.is_empty() {
        bail!("labels are needed: a label per row says which targets are relevant (`labels` PATH)");
    }
    let is_space = |name: &str| spaces.iter().any(|s| s.name == name);
    let mut files: Vec<LabelFile> = Vec::new();
    for given in &options.labels {
        let (name, place) = split(given)?;
        let name = name.as_deref();
        let (space, set) = match name {
            None => (None, None),
            Some(name) if is_space(name) => (Some(name), None),
            Some(name) => match name.split_once('.') {
                Some((space, set)) if is_space(space) && !set.is_empty() => (Some(space), Some(set)),
                _ => (None, Some(name)),
            },
        };
        if let Some(set) = set.filter(|s| !is_plain(s)) {
            bail!("a set of labels cannot be called `{set}`; use letters, digits, `_` and `-`");
        }
        files.push(LabelFile {
            space: space.map(str::to_string),
            set: set.map(str::to_string),
            place,
            key: Key::labels(Some("labels_key"), options.labels_key.as_deref()),
        });
    }
    check_sets(&mut files)?;
    Ok(files)
}

/// `PATH` or `NAME=PATH`. A file that exists under the whole text wins.
fn split(given: &Named) -> Result<(Option<String>, Place)> {
    let text = match given {
        Named::Source(name, source, _) => {
            return Ok(((!name.is_empty()).then(|| name.clone()), source.place()?));
        }
        Named::Text(text) => text,
    };
    let whole = InputPath::parse(text);
    let (name, path) = match text.split_once('=') {
        Some((name, path)) if !whole.path.exists() => (Some(name.trim()), path),
        _ => (None, text.as_str()),
    };
    if name == Some("") || path.is_empty() {
        bail!("labels {text} need a path: PATH or NAME=PATH");
    }
    Ok((name.map(str::to_string), Source::from(path).place()?))
}

/// A set's name stands in the identity of scores, between brackets.
fn is_plain(name: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn check_sets(files: &mut [LabelFile]) -> Result<()> {
    let sets: Vec<String> = files.iter().filter_map(|f| f.set.clone()).collect();
    let is_nameless = |f: &&LabelFile| f.set.is_none() && f.space.is_none();
    let are_several = !sets.is_empty() || files.iter().filter(is_nameless).count() > 1;
    if let Some(file) = files.iter().find(is_nameless).filter(|_| are_several) {
        let place = &file.place;
        bail!("labels {place} have no name, but there are several sets; name each: l1=PATH l2=PATH");
    }
    // With one named set, what a space has of its own belongs to that set.
    if let Some(only) = sets.first().filter(|first| sets.iter().all(|s| s == *first)) {
        files.iter_mut().for_each(|f| f.set = Some(only.clone()));
    }
    for (at, file) in files.iter().enumerate() {
        if files[..at].iter().any(|f| f.part() == file.part()) {
            let part = file.part();
            bail!("`{part}` is named twice by the labels; give each set its own name");
        }
        if let (Some(space), None, Some(set)) = (&file.space, &file.set, sets.first()) {
            let (place, known) = (&file.place, list(&sets.iter().map(String::as_str).collect::<Vec<_>>()));
            bail!("labels {space}={place} say nothing of the set; write {space}.{set}=PATH, once for each of {known}");
        }
    }
    Ok(())
}

/// The message for a space that a set does not cover.
pub fn missing_labels(space: &str, set: Option<&str>, has_own: bool) -> String {
    match (set, has_own) {
        (Some(set), true) => format!("`{space}` has no labels of the set `{set}`; add labels {space}.{set}=PATH"),
        (Some(set), false) => format!("`{space}` has no labels of the set `{set}`; add labels {set}=PATH"),
        (None, _) => format!("`{space}` has no labels; add labels PATH or {space}=PATH"),
    }
}

/// `a`, `b` and 3 more.
pub fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|n| format!("`{n}`")).collect();
    match names.len() {
        0 => "none".to_string(),
        n if n > LISTED => format!("{} and {} more", shown.join(", "), n - LISTED),
        _ => shown.join(", "),
    }
}

/// `1 row`, `2 rows`.
pub fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}
