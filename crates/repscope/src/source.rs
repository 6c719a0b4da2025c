// SPDX-License-Identifier: MIT
//! Where inputs come from: files, arrays of the calling program, and its encoders.
//!
//! A [`Source`] is the value of an option that takes a path, a [`Named`] that of one that takes `NAME=PATH`. The command line and
//! study files write them as text; a program also gives arrays and encoders. [`Place`] is a source that was looked up.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};
use repscope_core::run::Driver;
use repscope_io::{Array, ArrayInfo, InputPath, InputRecord, digest_of_array, list_arrays, read_array};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An encoder that lives in the calling program: embeddings of a batch.
pub trait Encode: Send {
    /// Encodes a batch; `shape` is that of `values`, and its first entry counts the rows.
    fn encode(&mut self, shape: &[usize], values: &[f32]) -> Result<Array>;
}

/// An encoder that requests share.
pub type SharedEncoder = Arc<Mutex<dyn Encode>>;

/// What an option that takes a path was given.
#[derive(Clone)]
pub enum Source {
    /// A path, with `#key` where a file holds several arrays.
    File(String),
    /// An array in memory, and what results and messages call it.
    Array(String, Array),
    /// An encoder in memory, its name, and the embeddings of the inputs as they are.
    Encoder(String, Array, SharedEncoder),
    /// The number of an array that is bound later: see [`Bind`].
    Slot(usize),
}

/// What an option that takes `NAME=PATH` was given.
#[derive(Clone)]
pub enum Named {
    /// As typed: `NAME=PATH`, `PATH`, or `NAME=PATH,PATH`.
    Text(String),
    /// A name and its source; for models also the source of the next inputs' embeddings.
    Source(String, Source, Option<Box<Source>>),
}

/// Where ids are: the name of a column in every file, or `NAME=PATH`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdSource(pub Named);

/// Where an array is.
#[derive(Clone)]
pub enum Place {
    /// In a file.
    File(InputPath),
    /// In memory, under a name.
    Memory(String, Array),
}

impl Source {
    /// The place that this source names. A file whose own name contains `#` wins over a key, which is why this looks at the disk.
    pub fn place(&self) -> Result<Place> {
        Ok(match self {
            Source::File(text) => Place::File(InputPath::parse(text)),
            Source::Array(name, array) | Source::Encoder(name, array, _) => Place::Memory(name.clone(), array.clone()),
            Source::Slot(number) => {
                bail!("internal error: array {number} of the request is missing. Please report this")
            }
        })
    }
}

impl Named {
    /// The texts that `NAME=PATH` may be split at, or the name and source that a program gave.
    pub fn text(&self) -> Option<&str> {
        match self {
            Named::Text(text) => Some(text),
            Named::Source(..) => None,
        }
    }

    /// The name before `=`, where it can be one, or that a program gave, and where the array is.
    pub fn split(&self, is_name: impl Fn(&str) -> bool) -> Result<(Option<&str>, Place)> {
        match self {
            Named::Source(name, source, _) => {
                Ok((Some(name.as_str()).filter(|name| !name.is_empty()), source.place()?))
            }
            Named::Text(text) => {
                let (name, path) = match text.split_once('=') {
                    Some((name, path)) if is_name(name) => (Some(name), path),
                    _ => (None, text.as_str()),
                };
                Ok((name, Place::File(InputPath::parse(path))))
            }
        }
    }

    /// The name before `=`, or the one that a program gave.
    pub fn name(&self) -> Option<&str> {
        match self {
            Named::Text(text) => text.split_once('=').map(|(name, _)| name),
            Named::Source(name, ..) => Some(name),
        }
    }
}

impl Place {
    /// The file, where it is one.
    pub fn file(&self) -> Option<&InputPath> {
        match self {
            Place::File(path) => Some(path),
            Place::Memory(..) => None,
        }
    }

    /// What to call the input where no name was given: `jepa` for `runs/jepa.npy`.
    pub fn stem(&self) -> String {
        match self {
            Place::File(path) => path.stem(),
            Place::Memory(name, _) => name.clone(),
        }
    }

    /// The key behind `#`.
    pub fn key(&self) -> Option<&str> {
        self.file().and_then(|path| path.key.as_deref())
    }

    /// The same file with another key. An array in memory has none.
    pub fn with_key(&self, key: &str) -> Place {
        match self {
            Place::File(path) => Place::File(InputPath {
                path: path.path.clone(),
                key: Some(key.to_string()),
            }),
            memory => memory.clone(),
        }
    }

    /// Whether it is a file with this extension.
    pub fn has_extension(&self, extension: &str) -> bool {
        let file = self.file().and_then(|path| path.path.extension());
        file.is_some_and(|own| own.eq_ignore_ascii_case(extension))
    }

    /// The array.
    pub fn read(&self) -> Result<Array> {
        match self {
            Place::File(path) => Ok(read_array(path)?),
            Place::Memory(_, array) => Ok(array.clone()),
        }
    }

    /// The arrays at this place, without their values.
    pub fn list(&self) -> Result<Vec<ArrayInfo>> {
        match self {
            Place::File(path) => Ok(list_arrays(&path.path)?),
            Place::Memory(_, array) => Ok(vec![ArrayInfo::new(None, array.shape(), array.dtype())]),
        }
    }

    /// The record of the array for the results document.
    pub fn record(&self, array: &Array) -> Result<InputRecord> {
        match self {
            Place::File(path) => Ok(InputRecord::of(path, array)?),
            Place::Memory(name, own) => {
                let digest = digest_of_array(own);
                Ok(InputRecord::new(name, array.shape(), array.dtype(), digest))
            }
        }
    }
}

/// A request whose sources can be visited: to bind the arrays of a program, and to read paths relative to a study file.
pub trait Bind {
    /// Calls `visit` for every source.
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source));

    /// Puts the arrays of a program where their numbers stand.
    fn bind(&mut self, arrays: &[Source]) -> Result<()> {
        let mut missing = None;
        self.sources(&mut |source| {
            if let Source::Slot(number) = source {
                match arrays.get(*number) {
                    Some(array) => *source = array.clone(),
                    None => missing = Some(*number),
                }
            }
        });
        match missing {
            Some(number) => bail!(
                "internal error: the request names array {number} of {}. Please report this",
                arrays.len()
            ),
            None => Ok(()),
        }
    }

    /// Takes relative paths from a folder.
    fn rebase(&mut self, folder: &Path) {
        self.sources(&mut |source| {
            if let Source::File(text) = source {
                *text = folder.join(&*text).to_string_lossy().into_owned();
            }
        });
    }
}

impl Bind for Source {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        visit(self);
    }
}

impl Bind for Named {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        match self {
            Named::Source(_, source, next) => {
                visit(source);
                if let Some(next) = next {
                    visit(next);
                }
            }
            // The path behind `=`, else all of it.
            Named::Text(text) => {
                let at = text.find('=').map_or(0, |at| at + 1);
                let mut source = Source::File(text[at..].to_string());
                visit(&mut source);
                if let Source::File(path) = source {
                    text.replace_range(at.., &path);
                }
            }
        }
    }
}

impl Bind for IdSource {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        // A name alone is a column, not a path.
        if self.0.text().is_none_or(|text| text.contains('=')) {
            self.0.sources(visit);
        }
    }
}

impl<T: Bind> Bind for Option<T> {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        self.iter_mut().for_each(|own| own.sources(visit));
    }
}

impl<T: Bind> Bind for Vec<T> {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        self.iter_mut().for_each(|own| own.sources(visit));
    }
}

/// Implements [`Bind`] for a struct by its fields that hold sources.
macro_rules! bind {
    ($name:ty: $($field:ident),*) => {
        impl $crate::source::Bind for $name {
            #[allow(unused_variables)]
            fn sources(&mut self, visit: &mut dyn FnMut(&mut $crate::source::Source)) {
                $($crate::source::Bind::sources(&mut self.$field, visit);)*
            }
        }
    };
}
pub(crate) use bind;

impl From<&str> for Source {
    fn from(text: &str) -> Self {
        Source::File(text.to_string())
    }
}

impl From<&str> for Named {
    fn from(text: &str) -> Self {
        Named::Text(text.to_string())
    }
}

impl From<&str> for IdSource {
    fn from(text: &str) -> Self {
        IdSource(text.into())
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(text) | Source::Array(text, _) | Source::Encoder(text, ..) => f.write_str(text),
            Source::Slot(number) => write!(f, "array {number}"),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Named::Text(text) => f.write_str(text),
            Named::Source(name, source, None) if name.is_empty() => write!(f, "{source}"),
            Named::Source(name, source, None) => write!(f, "{name}={source}"),
            Named::Source(name, source, Some(next)) => write!(f, "{name}={source},{next}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => path.fmt(f),
            Place::Memory(name, _) => f.write_str(name),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({self})")
    }
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Named({self})")
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Source::Slot(array) => Spelled::Array { array: *array }.serialize(serializer),
            source => serializer.collect_str(source),
        }
    }
}

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spelled = |source: &Source| match source {
            Source::Slot(array) => Box::new(Spelled::Array { array: *array }),
            source => Box::new(Spelled::Text(source.to_string())),
        };
        match self {
            Named::Source(name, source @ Source::Slot(_), next) => Spelled::Named {
                name: name.clone(),
                source: spelled(source),
                next: next.as_deref().map(spelled),
            }
            .serialize(serializer),
            named => serializer.collect_str(named),
        }
    }
}

/// A source as a request spells it: a path, or the number of an array.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Spelled {
    Text(String),
    Array {
        array: usize,
    },
    Named {
        name: String,
        source: Box<Spelled>,
        next: Option<Box<Spelled>>,
    },
}

impl Spelled {
    fn source(self) -> Option<Source> {
        match self {
            Spelled::Text(text) => Some(Source::File(text)),
            Spelled::Array { array } => Some(Source::Slot(array)),
            Spelled::Named { .. } => None,
        }
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spelled = Spelled::deserialize(deserializer).map_err(|_| D::Error::custom("must be a path, in quotes"))?;
        spelled
            .source()
            .ok_or_else(|| D::Error::custom("must be a path, in quotes"))
    }
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom("must be NAME=PATH or a path, in quotes");
        Ok(match Spelled::deserialize(deserializer).map_err(|_| wrong())? {
            Spelled::Text(text) => Named::Text(text),
            Spelled::Array { array } => Named::Source(String::new(), Source::Slot(array), None),
            Spelled::Named { name, source, next } => {
                let next = next
                    .map(|next| next.source().map(Box::new).ok_or_else(wrong))
                    .transpose()?;
                Named::Source(name, source.source().ok_or_else(wrong)?, next)
            }
        })
    }
}

/// Encodes a batch with an encoder of the program; one row per row is checked by the caller.
pub(crate) fn encode(encoder: &SharedEncoder, shape: &[usize], values: &[f32], driver: &Driver) -> Result<Array> {
    let rows = shape.first().copied().unwrap_or(0);
    let mut encoder = encoder.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let embeddings = encoder.encode(shape, values)?;
    driver.progress().advance(rows as u64);
    Ok(embeddings)
}
