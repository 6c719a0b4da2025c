// SPDX-License-Identifier: MIT
//! Which spaces and which sets of labels were named on the command line.

use anyhow::{Result, bail};
use repscope_io::InputPath;

use super::PROTOTYPE;
use super::keys::Key;
use crate::args;

/// More names than this are not listed in a message.
const LISTED: usize = 10;

/// A space as typed.
pub struct Named {
    pub name: String,
    pub path: InputPath,
    pub key: Key,
}

/// A file of labels as typed: of all spaces that share them, or of one space; of a named set, or of the only one.
pub struct LabelFile {
    pub space: Option<String>,
    pub set: Option<String>,
    pub path: InputPath,
    pub key: Key,
}

impl LabelFile {
    /// What `--ids` calls it.
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
pub fn spaces(options: &args::Retrieval) -> Result<Vec<Named>> {
    let mut spaces: Vec<Named> = Vec::new();
    for (name, path, given, option) in [
        (
            "sensor",
            &options.sensor_embeddings,
            &options.sensor_key,
            "--sensor-key",
        ),
        ("text", &options.text_embeddings, &options.text_key, "--text-key"),
    ] {
        spaces.extend(path.as_deref().map(|path| Named {
            name: name.to_string(),
            path: InputPath::parse(path),
            key: Key::embeddings(Some(option), given.as_deref()),
        }));
    }
    for text in &options.spaces {
        let Some((name, path)) = text
            .split_once('=')
            .filter(|(n, p)| !n.trim().is_empty() && !p.is_empty())
        else {
            bail!("--space {text} needs a name and a path: --space NAME=PATH");
        };
        spaces.push(Named {
            name: name.trim().to_string(),
            path: InputPath::parse(path),
            key: Key::embeddings(None, None),
        });
    }
    for (at, space) in spaces.iter().enumerate() {
        let name = &space.name;
        if spaces[..at].iter().any(|other| other.name == *name) {
            bail!("two spaces are called `{name}`; give each its own name with --space NAME=PATH");
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
            "there is nothing to search: give --sensor-embeddings PATH, --text-embeddings PATH, or other spaces with \
             --space NAME=PATH"
        );
    }
    Ok(spaces)
}

/// `PATH`, `SET=PATH`, and for a space of its own `SPACE=PATH` or `SPACE.SET=PATH`. A file that exists under the
/// whole text wins.
pub fn labels(options: &args::Retrieval, spaces: &[Named]) -> Result<Vec<LabelFile>> {
    if options.labels.is_empty() {
        bail!("--labels PATH is needed: a label per row says which targets are relevant");
    }
    let is_space = |name: &str| spaces.iter().any(|s| s.name == name);
    let mut files: Vec<LabelFile> = Vec::new();
    for text in &options.labels {
        let exists = InputPath::parse(text).path.exists();
        let (name, path) = match text.split_once('=') {
            Some((name, path)) if !exists => (Some(name.trim()), path),
            _ => (None, text.as_str()),
        };
        if name == Some("") || path.is_empty() {
            bail!("--labels {text} needs a path: --labels PATH or --labels NAME=PATH");
        }
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
            path: InputPath::parse(path),
            key: Key::labels(Some("--labels-key"), options.labels_key.as_deref()),
        });
    }
    check_sets(&mut files)?;
    Ok(files)
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
        bail!(
            "--labels {} has no name, but there are several; name each set: --labels l1=PATH l2=PATH",
            file.path
        );
    }
    // With one named set, what a space has of its own belongs to that set.
    if let Some(only) = sets.first().filter(|first| sets.iter().all(|s| s == *first)) {
        files.iter_mut().for_each(|f| f.set = Some(only.clone()));
    }
    for (at, file) in files.iter().enumerate() {
        if files[..at].iter().any(|f| f.part() == file.part()) {
            bail!("--labels names `{}` twice; give each set its own name", file.part());
        }
        if let (Some(space), None, Some(set)) = (&file.space, &file.set, sets.first()) {
            bail!(
                "--labels {space}={} says nothing of the set; write {space}.{set}=PATH, once for each of {}",
                file.path,
                list(&sets.iter().map(String::as_str).collect::<Vec<_>>())
            );
        }
    }
    Ok(())
}

/// The message for a space that a set does not cover.
pub fn missing_labels(space: &str, set: Option<&str>, has_own: bool) -> String {
    match (set, has_own) {
        (Some(set), true) => format!("`{space}` has no labels of the set `{set}`; add --labels {space}.{set}=PATH"),
        (Some(set), false) => format!("`{space}` has no labels of the set `{set}`; add --labels {set}=PATH"),
        (None, _) => format!("`{space}` has no labels; add --labels PATH or --labels {space}=PATH"),
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
