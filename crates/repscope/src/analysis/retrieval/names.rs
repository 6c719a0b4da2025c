// SPDX-License-Identifier: MIT
//! Which spaces and which sets of labels were named.

use anyhow::{Result, bail};
use repscope_io::names::listed;
use repscope_io::{Format, InputPath};

use super::{PROTOTYPE, Retrieval};
use crate::reader::Chosen;
use crate::source::{Named, Place};

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

/// A file of groups: of the rows of one space, or of all that share their labels.
pub struct GroupFile {
    pub space: Option<String>,
    pub place: Place,
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
        let (Some(name), place) = given.split(|name| !name.trim().is_empty())? else {
            bail!("`space` = {given} needs a name and a path: `space` NAME=PATH");
        };
        if place.to_string().is_empty() {
            bail!("`space` = {given} needs a path behind the name: `space` NAME=PATH");
        }
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

/// What is said about groups.
pub fn groups(options: &Retrieval, spaces: &[NamedSpace]) -> Result<Vec<GroupFile>> {
    let mut files: Vec<GroupFile> = Vec::new();
    for given in &options.groups {
        let (space, place) = split(given)?;
        let is_unknown = |name: &&str| *name != PROTOTYPE && !spaces.iter().any(|s| s.name == *name);
        if let Some(name) = space.filter(is_unknown) {
            let known: Vec<&str> = spaces.iter().map(|s| s.name.as_str()).collect();
            bail!("`groups` names the space `{name}`, but the spaces are {}", list(&known));
        }
        if files.iter().any(|file| file.space.as_deref() == space) {
            let of = space.map_or("all rows".to_string(), |name| format!("`{name}`"));
            bail!("`groups` is given twice for {of}; give one group per row");
        }
        files.push(GroupFile {
            space: space.map(str::to_string),
            place,
        });
    }
    Ok(files)
}

/// `PATH` or `NAME=PATH`. A file that exists under the whole text wins.
fn split(given: &Named) -> Result<(Option<&str>, Place)> {
    let is_path = given.text().is_some_and(|text| InputPath::parse(text).path.exists());
    let (name, place) = given.split(|_| !is_path)?;
    let name = name.map(str::trim);
    if name == Some("") || place.to_string().is_empty() {
        bail!("labels {given} need a path: PATH or NAME=PATH");
    }
    Ok((name, place))
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
    listed(names.iter().copied(), LISTED)
}

/// The name to look for in a file with several arrays.
pub struct Key {
    /// The option that names it, where there is one.
    option: Option<&'static str>,
    /// What was given.
    given: Option<String>,
    /// What is looked for otherwise.
    usual: &'static str,
}

impl Key {
    pub fn embeddings(option: Option<&'static str>, given: Option<&str>) -> Self {
        let (given, usual) = (given.map(str::to_string), "embeddings");
        Key { option, given, usual }
    }

    pub fn labels(option: Option<&'static str>, given: Option<&str>) -> Self {
        Key {
            usual: "labels",
            ..Key::embeddings(option, given)
        }
    }
}

/// The path with the array it means. Where the usual name is missing, the only array of the file will do.
pub fn resolve_key(place: &Place, key: &Key, ids: Option<&str>, warnings: &mut Vec<String>) -> Result<Place> {
    let Some(path) = place.file().filter(|path| path.key.is_none()) else {
        return Ok(place.clone());
    };
    let with = |key: &str| place.with_key(key);
    let is_table = match Format::of_path(&path.path) {
        None | Some(Format::Npy | Format::Text) => {
            if let (Some(option), Some(given)) = (key.option, &key.given) {
                warnings.push(format!(
                    "`{option}` = {given} is not needed: {path} holds one array without a name"
                ));
            }
            return Ok(place.clone());
        }
        Some(format) => matches!(format, Format::Csv | Format::Tsv),
    };
    if let Some(given) = &key.given {
        return Ok(with(given));
    }
    // The columns of a table of numbers are one matrix.
    if is_table && key.usual == "embeddings" {
        return Ok(place.clone());
    }
    let arrays = place.list()?;
    // What --prototype-texts writes calls its column `label`.
    let usual = [key.usual, "label"];
    for name in &usual[..if is_table { 2 } else { 1 }] {
        if arrays.iter().any(|a| a.key.as_deref() == Some(name)) {
            return Ok(with(name));
        }
    }
    let others = arrays.iter().filter_map(|a| a.key.as_deref());
    match others.filter(|k| Some(*k) != ids).collect::<Vec<_>>()[..] {
        [only] => {
            if key.option.is_some() && !is_table {
                let usual = key.usual;
                warnings.push(format!(
                    "{path} has no array `{usual}`; its only array `{only}` is used"
                ));
            }
            Ok(with(only))
        }
        _ => match with(key.usual).read() {
            Ok(_) => Ok(with(key.usual)),
            Err(error) => {
                let option = key.option.map_or(String::new(), |o| format!(", or as `{o}`"));
                bail!("{error}. Name the one you mean: {path}#KEY{option}")
            }
        },
    }
}

// Files with several captions per sample: an array `caption_indices` beside the `embeddings` counts them, and the
// first of each sample is the one that is compared.

const INDICES: &str = "caption_indices";
const SAMPLES: &str = "sample_ids";

/// The files that hold captions, and which rows are first captions.
pub struct Captions(Vec<CaptionFile>);

struct CaptionFile {
    path: std::path::PathBuf,
    first: Chosen,
}

impl Captions {
    pub fn of(spaces: &[NamedSpace], is_joined: bool, warnings: &mut Vec<String>) -> Result<Self> {
        let mut files: Vec<CaptionFile> = Vec::new();
        for space in spaces.iter().filter(|s| s.place.key() == Some("embeddings")) {
            let Some(file) = space.place.file() else { continue };
            if files.iter().any(|f| f.path == file.path) || rows_at(&space.place, INDICES)?.is_none() {
                continue;
            }
            let path = space.place.with_key(INDICES);
            let indices = path.read()?.into_labels(&path.to_string())?;
            let total = indices.rows();
            if let Some(count) = rows_at(&space.place, "embeddings")?.filter(|&count| count != total) {
                bail!("{path} has {total} values but there are {count} embeddings; give one per row");
            }
            let is_first = |code: u32| indices.names()[code as usize] == "0";
            let first: Vec<usize> = (0..total).filter(|&i| is_first(indices.codes()[i])).collect();
            if first.is_empty() {
                bail!("{path} has no 0 in its {total} values, so there is no first caption to compare");
            }
            if first.len() < total {
                let by_position = match rows_at(&space.place, SAMPLES)? {
                    Some(_) if !is_joined => {
                        format!("; what remains is taken by position: `ids` = {SAMPLES} joins by id")
                    }
                    _ => String::new(),
                };
                warnings.push(format!(
                    "{} of the {total} rows of `{}` are further captions of a sample ({INDICES} is not 0) and left \
                     out{by_position}",
                    total - first.len(),
                    space.name
                ));
                files.push(CaptionFile {
                    path: file.path.clone(),
                    first: Chosen { rows: first, total },
                });
            }
        }
        Ok(Captions(files))
    }

    /// The rows to look at in an array, where it has a row for each caption of its file.
    pub fn rows_of(&self, place: &Place) -> Result<Option<Chosen>> {
        let is_own = |own: &&CaptionFile| place.file().is_some_and(|file| file.path == own.path);
        let Some(file) = self.0.iter().find(is_own) else {
            return Ok(None);
        };
        let key = place.key().unwrap_or_default();
        let is_per_caption = rows_at(place, key)? == Some(file.first.total);
        Ok(is_per_caption.then(|| file.first.clone()))
    }
}

/// How many rows an array of a file has.
fn rows_at(place: &Place, key: &str) -> Result<Option<usize>> {
    let arrays = place.list()?;
    let found = arrays.iter().find(|a| a.key.as_deref() == Some(key));
    Ok(found.and_then(|a| a.shape.first().copied()))
}
