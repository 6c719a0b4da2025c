// SPDX-License-Identifier: MIT
//! How well each model does elsewhere, from a table of models and numbers, or from a program.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use repscope_core::Performance;
use repscope_io::{
    Array, ArrayInfo, Data, InputPath, InputRecord, Watched, digest_of_array, list_arrays, read_array, read_ids,
};
use serde::{Deserialize, Serialize};

use crate::models::Model;
use crate::search::list;
use crate::source::{Bind, Source};

/// What the numbers are called where the file does not say.
const USUAL: &str = "accuracy";
/// What they are called where a program gives them.
const OF_PROGRAM: &str = "performance";
/// Columns that name the models.
const MODEL_COLUMNS: [&str; 2] = ["model", "name"];

/// Where performance comes from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PerformanceSource {
    /// A table in a file.
    File(String),
    /// Numbers of a program, by the names of the models.
    Values(BTreeMap<String, Option<f64>>),
}

impl From<&str> for PerformanceSource {
    fn from(text: &str) -> Self {
        PerformanceSource::File(text.to_string())
    }
}

impl Bind for PerformanceSource {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        if let PerformanceSource::File(path) = self {
            let mut source = Source::File(path.clone());
            visit(&mut source);
            *path = source.to_string();
        }
    }
}

/// Gives each number to its model. A model is known by its name, or by that of its file.
pub fn read(source: &PerformanceSource, models: &[Model]) -> Result<(Performance, InputRecord)> {
    // Opened before it is read. Who reads it says better what is wrong with it.
    let file = match source {
        PerformanceSource::File(path) => Some(Watched::open(&InputPath::parse(path).path)),
        PerformanceSource::Values(_) => None,
    };
    let table = match source {
        PerformanceSource::Values(values) => of_values(InputPath::file(OF_PROGRAM), OF_PROGRAM, values.clone()),
        PerformanceSource::File(path) => {
            let file = InputPath::parse(path);
            let is_json = file.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
            if is_json { read_json(&file)? } else { read_table(&file)? }
        }
    };
    let Table {
        path,
        column,
        dtype,
        rows,
    } = table;
    let shape = [rows.len()];
    let record = match file {
        Some(file) => InputRecord::of_file(&path, &shape, &dtype, file?),
        None => {
            let values = rows.iter().map(|(_, value)| *value).collect();
            let digest = digest_of_array(&Array::from_f64(shape.to_vec(), values)?);
            InputRecord::new(&path, &shape, &dtype, digest)
        }
    };
    let mut first_rows = BTreeMap::new();
    for (row, (name, _)) in rows.iter().enumerate() {
        if let Some(first) = first_rows.insert(name, row) {
            bail!("{path} holds model `{name}` twice, at rows {first} and {row} (counted from 0); give one value each");
        }
    }
    // A number that is not there is no number: the model is left out, with a warning.
    let measured = rows.iter().filter(|(_, value)| !value.is_nan());
    let of_model = measured
        .map(|(name, value)| Ok((model_of(name, models, &path)?.unwrap_or(name).to_string(), *value)))
        .collect::<Result<Vec<_>>>()?;
    if !of_model.iter().any(|(name, _)| models.iter().any(|m| m.name == *name)) {
        bail!(
            "{path} has no value for any model: it names {}, but the models are called {}",
            list(rows.iter().map(|(name, _)| name.as_str())),
            list(models.iter().map(|model| model.name.as_str()))
        );
    }
    let performance = Performance { name: column, of_model };
    performance.check().with_context(|| path.to_string())?;
    Ok((performance, record))
}

/// Models and numbers as they stand in a file.
struct Table {
    path: InputPath,
    /// What the numbers are.
    column: String,
    dtype: String,
    rows: Vec<(String, f64)>,
}

/// The name of the model that a row of the file speaks of.
fn model_of<'a>(name: &str, models: &'a [Model], path: &InputPath) -> Result<Option<&'a str>> {
    if let Some(model) = models.iter().find(|model| model.name == name) {
        return Ok(Some(&model.name));
    }
    let is_file = |model: &&Model| {
        // A recipe has many files.
        if model.recipe.is_some() {
            return false;
        }
        let file = model.embeddings.file().map(|own| &own.path);
        let is_path = |file: &PathBuf| file.to_str() == Some(name) || file.file_name().is_some_and(|f| f == name);
        model.embeddings.stem() == name || file.is_some_and(is_path)
    };
    let found: Vec<&Model> = models.iter().filter(is_file).collect();
    match found[..] {
        [] => Ok(None),
        [model] => Ok(Some(&model.name)),
        [one, other, ..] => bail!(
            "`{name}` in {path} could be model `{}` or `{}`; write the whole name",
            one.name,
            other.name
        ),
    }
}

/// A table with a column of models and one of numbers.
fn read_table(file: &InputPath) -> Result<Table> {
    let columns = list_arrays(&file.path)?;
    let names = pick_names(&columns, file)?;
    let numbers = match &file.key {
        Some(key) => Some(key.clone()),
        None => pick_numbers(&columns, names.as_deref(), file)?,
    };
    let column = |key: &Option<String>| InputPath {
        path: file.path.clone(),
        key: key.clone(),
    };
    let path = column(&numbers);
    let array = read_array(&path)?;
    let models = read_ids(&column(&names))?;
    let values = numbers_of(array.data())
        .with_context(|| format!("{path} is of type {}, which are no numbers", array.dtype()))?;
    if values.len() != models.len() {
        bail!(
            "{path} has {} values for {} models; give one value per model",
            values.len(),
            models.len()
        );
    }
    let mut rows = Vec::new();
    for (row, (model, value)) in models.into_iter().zip(values).enumerate() {
        match value {
            Ok(value) => rows.push((model, value)),
            Err(text) => bail!(
                "{path} holds {text:?} for model `{model}` (row {row}, counted from 0), which is not a number; leave out \
                 models without one"
            ),
        }
    }
    // A column without a name is called by its number.
    let is_name = |key: &String| key.parse::<usize>().is_err();
    Ok(Table {
        path,
        column: numbers.filter(is_name).unwrap_or_else(|| USUAL.to_string()),
        dtype: array.dtype().to_string(),
        rows,
    })
}

/// The column of models: one that is called so, else the first of text, else the first of all.
fn pick_names(columns: &[ArrayInfo], file: &InputPath) -> Result<Option<String>> {
    let others = || columns.iter().filter(|c| file.key.is_none() || c.key != file.key);
    let is_called = |c: &&ArrayInfo| MODEL_COLUMNS.iter().any(|name| is_key(c, name));
    let found = others().find(is_called).or_else(|| others().find(|c| c.dtype == "str"));
    match found.or_else(|| others().next()) {
        Some(column) if columns.len() > 1 => Ok(column.key.clone()),
        _ => bail!(
            "{file} has one column{}, but one of models and one of numbers are needed",
            match columns {
                [ArrayInfo { key: Some(key), .. }] => format!(", `{key}`"),
                _ => String::new(),
            }
        ),
    }
}

/// The column of numbers: `accuracy`, else the only one there is beside the models.
fn pick_numbers(columns: &[ArrayInfo], names: Option<&str>, file: &InputPath) -> Result<Option<String>> {
    let others: Vec<&ArrayInfo> = columns.iter().filter(|c| c.key.as_deref() != names).collect();
    let numbers: Vec<&ArrayInfo> = others.iter().copied().filter(|c| c.dtype != "str").collect();
    let usual = others.iter().find(|c| is_key(c, USUAL));
    match (usual, &numbers[..], &others[..]) {
        (Some(column), ..) | (None, [column], _) | (None, _, [column]) => Ok(column.key.clone()),
        _ => bail!(
            "{file} has no column `{USUAL}`, and {} columns of numbers beside the models; pick one of {} with \
             `performance` = {file}#COLUMN",
            numbers.len(),
            keys(columns)
        ),
    }
}

fn is_key(column: &ArrayInfo, name: &str) -> bool {
    column.key.as_deref().is_some_and(|key| key.eq_ignore_ascii_case(name))
}

fn keys(columns: &[ArrayInfo]) -> String {
    list(columns.iter().filter_map(|column| column.key.as_deref()))
}

/// One number per row, or the text that is none; `None` where the array holds no numbers at all.
fn numbers_of(data: &Data) -> Option<Vec<std::result::Result<f64, String>>> {
    let parse = |text: &String| match text.trim() {
        "" => Ok(f64::NAN),
        text => text.parse().map_err(|_| text.to_string()),
    };
    Some(match data {
        Data::F32(v) => (**v).as_ref().iter().map(|&x| Ok(f64::from(x))).collect(),
        Data::F64(v) => (**v).as_ref().iter().map(|&x| Ok(x)).collect(),
        Data::U8(v) => (**v).as_ref().iter().map(|&x| Ok(f64::from(x))).collect(),
        Data::I64(v) => v.iter().map(|&x| Ok(x as f64)).collect(),
        Data::U64(v) => v.iter().map(|&x| Ok(x as f64)).collect(),
        Data::Text(v) => v.iter().map(parse).collect(),
        _ => return None,
    })
}

/// `{"jepa": 0.91, "autoencoder": 0.84}`.
fn read_json(file: &InputPath) -> Result<Table> {
    let text = repscope_io::read_text(&file.path).with_context(|| format!("cannot read {}", file.path.display()))?;
    let rows: BTreeMap<String, Option<f64>> = serde_json::from_str(&text)
        .with_context(|| format!("{file} is not an object of models and numbers, such as {{\"jepa\": 0.91}}"))?;
    Ok(of_values(InputPath::file(&file.path), USUAL, rows))
}

fn of_values(path: InputPath, column: &str, values: BTreeMap<String, Option<f64>>) -> Table {
    let rows = values
        .into_iter()
        .map(|(name, value)| (name, value.unwrap_or(f64::NAN)));
    Table {
        path,
        column: column.to_string(),
        dtype: "f64".to_string(),
        rows: rows.collect(),
    }
}
