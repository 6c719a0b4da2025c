// SPDX-License-Identifier: MIT
//! What a model sees: rows of an array, the images of a folder, or texts.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use repscope_core::Space;
use repscope_io::{
    Array, BadImages, Data, Files, Images, InputPath, InputRecord, Pool, Watched, is_array_folder, read_dataset,
    read_texts,
};
use repscope_models::{Made, Rows};

use super::has_extension;
use crate::reader::Reader;
use crate::source::Place;

#[derive(Clone)]
pub struct Seen {
    what: What,
    place: Place,
    digest: String,
    /// The files that they were read from.
    pub files: Files,
    /// Which rows end an episode, where the data say it themselves.
    pub stops: Option<Array>,
}

#[derive(Clone)]
enum What {
    Array(Array),
    Images(Arc<Images>),
    Texts(Arc<[String]>),
}

impl Seen {
    /// Opens what a path names, and keeps a record of it. A folder is one of images; a dataset of the representation analysis brings its
    /// episodes along.
    pub fn open(place: &Place, skip_bad: bool, reader: &mut Reader) -> Result<Self> {
        let seen = |what, record: &InputRecord, stops| Seen {
            what,
            place: place.clone(),
            digest: format!("{}#{}", record.digest, place.key().unwrap_or_default()),
            files: record.files.clone(),
            stops,
        };
        let Place::File(path) = place else {
            return Seen::of_array(place, reader);
        };
        if path.path.is_dir() && !is_array_folder(&path.path) {
            let images = Images::open(&path.path, bad_images(skip_bad))?;
            let shape = [&[images.count()], images.shape()].concat();
            let record = InputRecord::of_images(path, &shape, "images", &images)?;
            reader.records.push(record.clone());
            reader.warnings.extend(images.notes().iter().cloned());
            return Ok(seen(What::Images(Arc::new(images)), &record, None));
        }
        if has_extension(&path.path, "txt") {
            let file = Watched::open(&path.path)?;
            let texts = read_texts(path)?;
            let record = InputRecord::of_file(path, &[texts.len()], "text", file);
            reader.records.push(record.clone());
            return Ok(seen(What::Texts(texts.into()), &record, None));
        }
        if let Some(dataset) = read_dataset(path)? {
            let record = InputRecord::of(path, &dataset.states)?;
            reader.records.push(record.clone());
            let (path, part) = (path.path.display(), &dataset.part);
            let part = match part.as_str() {
                "" => String::new(),
                part => format!("those of `{part}`, "),
            };
            reader.warnings.push(format!(
                "{path}: the states are {part}a row per frame; episodes end where its stop flags say"
            ));
            return Ok(seen(What::Array(dataset.states), &record, Some(dataset.stops)));
        }
        Seen::of_array(place, reader)
    }

    /// Rows of an array; one of text is texts.
    fn of_array(place: &Place, reader: &mut Reader) -> Result<Self> {
        let array = reader.array(place)?;
        let record = reader.records.last();
        let digest = record.map_or("", |record| &record.digest);
        Ok(Seen {
            digest: format!("{digest}#{}", place.key().unwrap_or_default()),
            files: record.map(|record| record.files.clone()).unwrap_or_default(),
            what: match array.data() {
                Data::Text(texts) if array.shape().len() == 1 => What::Texts(texts.as_slice().into()),
                _ => What::Array(array),
            },
            place: place.clone(),
            stops: None,
        })
    }

    /// Texts that are no file.
    pub fn of_texts(texts: Vec<String>) -> Self {
        Seen {
            what: What::Texts(texts.into()),
            place: Place::File(InputPath::file("texts")),
            digest: String::new(),
            files: Files::default(),
            stops: None,
        }
    }

    pub fn rows(&self) -> usize {
        match &self.what {
            What::Array(array) => Rows::count(array),
            What::Images(images) => Rows::count(&**images),
            What::Texts(texts) => texts.len(),
        }
    }

    /// Which bytes these are.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    pub fn texts(&self) -> Option<&[String]> {
        match &self.what {
            What::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    /// The rows of numbers.
    pub fn numbers(&self) -> Result<&dyn Rows> {
        match &self.what {
            What::Array(array) => Ok(array),
            What::Images(images) => Ok(&**images),
            What::Texts(_) => bail!("{self} holds texts, and numbers are needed"),
        }
    }

    /// The rows of numbers from one on.
    pub fn from(&self, first: usize) -> Result<impl Rows + '_> {
        let rows = self.numbers()?;
        let count = rows.count() - first;
        let read = move |own: Range<usize>, into: &mut Vec<f32>| rows.read(own.start + first..own.end + first, into);
        Ok(Made { rows, count, read })
    }

    /// All rows as points, for distances between inputs.
    pub fn into_space(self, name: &str) -> Result<Space> {
        let path = self.place.to_string();
        let array = match self.what {
            What::Array(array) => array,
            What::Images(images) => images.read_all()?,
            What::Texts(_) => bail!("{path} holds texts, and texts have no distances; give numbers"),
        };
        array.into_space(name, Pool::Flatten).with_context(|| path)
    }
}

/// What becomes of images that cannot be read.
pub fn bad_images(skip_bad: bool) -> BadImages {
    if skip_bad {
        BadImages::LeaveOut
    } else {
        BadImages::Refuse
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}
