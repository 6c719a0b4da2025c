// SPDX-License-Identifier: MIT
//! Reads arrays, keeps a record of what was read, and brings rows into one order by their ids.

use std::path::Path;

use anyhow::{Context, Result, bail};
use repscope_core::{Finding, Labels, ModelLayer, Space};
use repscope_io::{Array, BadImages, Images, InputPath, InputRecord, is_array_folder, join_rows, read_array_beside};

use crate::source::{IdSource, Named, Place};

/// What a run was made from, for the results document and the user.
#[derive(Clone, Default)]
pub struct Sources {
    pub records: Vec<InputRecord>,
    pub findings: Vec<Finding>,
    /// Which models are layers of one.
    pub layers: Vec<ModelLayer>,
    pub warnings: Vec<String>,
    /// Which input played which role, and how it was read: the part of the options that is not in the spec.
    pub options: serde_json::Map<String, serde_json::Value>,
}

/// Reads inputs one by one.
pub struct Reader {
    /// Where the ids are by which rows are joined.
    ids: Vec<IdSource>,
    pub records: Vec<InputRecord>,
    pub warnings: Vec<String>,
}

/// An array whose rows are joined with those of others.
pub struct Part {
    pub name: String,
    pub place: Place,
    /// The rows that are looked at, where not all are.
    pub chosen: Option<Chosen>,
}

/// Some rows of an array.
#[derive(Clone)]
pub struct Chosen {
    pub rows: Vec<usize>,
    /// How many rows the array has.
    pub total: usize,
}

impl Part {
    pub fn new(name: &str, place: Place) -> Self {
        Part {
            name: name.to_string(),
            place,
            chosen: None,
        }
    }
}

/// Which rows of each part to take, by its name. A part that is not here stays as it is.
#[derive(Default)]
pub struct Orders(Vec<(String, Chosen)>);

impl Orders {
    /// The rows of a space, in the order that all parts have.
    pub fn space(&self, part: &str, space: Space) -> Result<Space> {
        match self.rows(part, space.rows())? {
            Some(rows) => Ok(space.select(rows)?),
            None => Ok(space),
        }
    }

    /// The rows of labels or episodes, in the order that all parts have.
    pub fn labels(&self, part: &str, labels: Labels) -> Result<Labels> {
        let rows = self.rows(part, labels.rows())?;
        Ok(rows.map_or(labels.clone(), |rows| labels.select(rows)))
    }

    /// Which rows of a part were chosen, in their order; `None` where all were, as they are.
    pub fn chosen(&self, part: &str, count: usize) -> Option<Vec<usize>> {
        self.rows(part, count).ok().flatten().map(<[usize]>::to_vec)
    }

    fn rows(&self, part: &str, count: usize) -> Result<Option<&[usize]>> {
        let Some((_, chosen)) = self.0.iter().find(|(name, _)| name == part) else {
            return Ok(None);
        };
        if chosen.total != count {
            let total = &chosen.total;
            bail!("`{part}` has {count} rows but {total} ids; give one id per row");
        }
        Ok(Some(&chosen.rows))
    }
}

impl Reader {
    pub fn new(ids: &[IdSource]) -> Self {
        Reader {
            ids: ids.to_vec(),
            records: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The column that holds the ids in every file.
    pub fn id_column(&self) -> Option<&str> {
        let texts = self.ids.iter().filter_map(|id| id.0.text());
        texts.into_iter().find(|text| !text.contains('='))
    }

    /// Reads an array and records it.
    pub fn array(&mut self, place: &Place) -> Result<Array> {
        if place.has_extension("onnx") {
            bail!(
                "{place} is an encoder, and an array is needed; make one with: repscope encode --encoder {place} --input STATES \
                 `output` embeddings.npy"
            );
        }
        let place = &self.beside_ids(place)?;
        let array = match (place, self.id_column()) {
            (Place::File(path), Some(column)) => read_array_beside(path, column)?,
            _ => place.read()?,
        };
        self.records.push(place.record(&array)?);
        Ok(array)
    }

    /// A class per row: an array, or a folder of images, whose folders are their classes.
    pub fn labels(&mut self, place: &Place) -> Result<Labels> {
        let Some(folder) = place
            .file()
            .map(|file| &file.path)
            .filter(|path| path.is_dir() && !is_array_folder(path))
        else {
            return Ok(self.array(place)?.into_labels(&place.to_string())?);
        };
        let images = Images::open(folder, BadImages::Refuse)?;
        let Some(names) = images.labels() else {
            bail!(
                "{place}: the images are in no folders, so they have no classes; put each class into a folder of its own"
            );
        };
        let record = InputRecord::of_images(place, &[names.len()], "folders", &images)?;
        self.records.push(record);
        Ok(Labels::new(&names))
    }

    /// What is meant by a path without a key: the array beside the id column, where the file holds both.
    fn beside_ids(&self, place: &Place) -> Result<Place> {
        let Some(column) = self.id_column().filter(|_| place.key().is_none()) else {
            return Ok(place.clone());
        };
        let (ids, others): (Vec<_>, Vec<_>) = place
            .list()?
            .into_iter()
            .partition(|a| a.key.as_deref() == Some(column));
        match &others[..] {
            [other] if !ids.is_empty() => Ok(other.key.as_deref().map_or(place.clone(), |key| place.with_key(key))),
            _ => Ok(place.clone()),
        }
    }

    /// The rows of each part that stand for the ids all parts have. Without ids, the rows that are looked at.
    pub fn join(&mut self, parts: Vec<Part>) -> Result<Orders> {
        if self.ids.is_empty() {
            let orders = parts.into_iter().filter_map(|p| Some((p.name, p.chosen?)));
            return Ok(Orders(orders.collect()));
        }
        let mut lists = Vec::new();
        let mut totals = Vec::new();
        for part in &parts {
            let source = id_source(&part.name, &part.place, &self.ids)?;
            let ids = source
                .read()
                .and_then(|array| Ok(array.into_names(&source.to_string(), "ids")?));
            let ids = ids.with_context(|| format!("reading the ids of `{}`", part.name))?;
            totals.push(part.chosen.as_ref().map_or(ids.len(), |c| c.total));
            lists.push(match &part.chosen {
                None => ids,
                Some(chosen) if ids.len() == chosen.total => chosen.rows.iter().map(|&i| ids[i].clone()).collect(),
                // Ids of nothing but the rows that are looked at are fine as they are.
                Some(chosen) if ids.len() == chosen.rows.len() => ids,
                Some(chosen) => {
                    let (name, total, count) = (&part.name, &chosen.total, ids.len());
                    bail!("`{name}` has {total} rows but {source} has {count} ids; give one id per row")
                }
            });
        }
        let named: Vec<(&str, &[String])> = parts
            .iter()
            .zip(&lists)
            .map(|(p, l)| (p.name.as_str(), l.as_slice()))
            .collect();
        let joined = join_rows(&named)?;
        for (part, dropped) in parts.iter().zip(&joined.dropped).filter(|(_, d)| **d > 0) {
            self.warnings.push(format!(
                "{dropped} rows of `{}` have an id that other arrays lack; they are left out",
                part.name
            ));
        }
        let ordered = |((part, order), total): ((Part, Vec<usize>), usize)| {
            let rows = match part.chosen {
                Some(chosen) => order.into_iter().map(|i| chosen.rows[i]).collect(),
                None => order,
            };
            (part.name, Chosen { rows, total })
        };
        let orders = parts.into_iter().zip(joined.orders).zip(totals).map(ordered);
        Ok(Orders(orders.collect()))
    }
}

/// Where the ids of a part are: the array named for it, or the id column of its own file.
fn id_source(part: &str, place: &Place, ids: &[IdSource]) -> Result<Place> {
    for id in ids {
        match &id.0 {
            Named::Source(name, source, _) if name == part => return source.place(),
            Named::Text(text) => {
                if let Some((name, file)) = text.split_once('=')
                    && name == part
                {
                    return Ok(Place::File(InputPath::parse(file)));
                }
            }
            Named::Source(..) => {}
        }
    }
    let column = ids.iter().filter_map(|id| id.0.text()).find(|text| !text.contains('='));
    match column {
        Some(column) if Path::new(column).exists() => bail!(
            "`ids` = {column} is a file: say whose ids it holds with `ids` = NAME={column}, once for each array (here: `{part}`)"
        ),
        Some(column) => Ok(place.with_key(column)),
        None => bail!("there are no ids for `{part}`; add {part}=PATH"),
    }
}
