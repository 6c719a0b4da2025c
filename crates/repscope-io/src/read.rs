// SPDX-License-Identifier: MIT
//! Reading one array, or the list of arrays, out of any supported file.

use std::path::Path;

use crate::array::{Array, ArrayInfo, Data, Object, Shape};
use crate::error::{Parsed, Result, bail};
use crate::format::Format;
use crate::mapped::MappedFile;
use crate::npy::{self, Header};
use crate::path::InputPath;
use crate::torch::{self, Checkpoint};
use crate::{arrow, hdf5, json_lines, npz, parquet_file, plain_text, shards, table, tensors, vectors, zarr};

/// Longer trees are cut: a checkpoint with the state of its optimizer has about a thousand entries.
const TREE_LINES: usize = 2000;

/// Reads the array that a path names.
pub fn read_array(input: &InputPath) -> Result<Array> {
    read_opened(input, None)
}

/// Reads the array that a path names; of a table without `#column`, all columns but the one of the ids.
pub fn read_array_beside(input: &InputPath, ids: &str) -> Result<Array> {
    read_opened(input, Some(ids))
}

/// The array keeps the file, so that it is digested as it was read.
fn read_opened(input: &InputPath, ids: Option<&str>) -> Result<Array> {
    if let Some(layout) = vectors::Layout::of_key(input) {
        let file = MappedFile::open(&input.path)?;
        let array = layout
            .and_then(|layout| layout.read(&file))
            .map_err(|p| p.in_file(input))?;
        return Ok(array.read_from(file));
    }
    if zarr::is_store(&input.path) {
        return zarr::read(input);
    }
    if let Some(parts) = shards::of(&input.path)? {
        return shards::read(input, &parts, ids);
    }
    read_one_file(input, ids)
}

/// The same for one file.
pub(crate) fn read_one_file(input: &InputPath, ids: Option<&str>) -> Result<Array> {
    let (format, file) = open(&input.path)?;
    let array = read(format, &file, input, ids).map_err(|p| p.in_file(input))?;
    Ok(array.read_from(file))
}

/// The arrays, tensors or columns in a file, without their values.
pub fn list_arrays(path: &Path) -> Result<Vec<ArrayInfo>> {
    if zarr::is_store(path) {
        return zarr::list(path);
    }
    match shards::of(path)? {
        Some(parts) => shards::list(&parts),
        None => list_one_file(path),
    }
}

/// The same for one file.
pub(crate) fn list_one_file(path: &Path) -> Result<Vec<ArrayInfo>> {
    let (format, file) = open(path)?;
    list(format, &file, path).map_err(|p| p.in_file(path.display()))
}

/// Reads one id per row: text, or integers as text.
pub fn read_ids(input: &InputPath) -> Result<Vec<String>> {
    Ok(read_array(input)?.into_names(&input.to_string(), "ids")?)
}

/// What is done with one array of a file, under its name; an error ends the reading.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Option<String>, Parsed<Array>) -> Parsed<()>;

/// Reads every array that [`list_arrays`] lists, one after the other: a file of thousands is opened and parsed once.
pub(crate) fn read_each(path: &Path, mut take: impl FnMut(InputPath, Array)) -> Result<()> {
    if zarr::is_store(path) {
        return zarr::read_each(path, take);
    }
    if let Some(parts) = shards::of(path)? {
        for info in shards::list(&parts)? {
            let input = InputPath {
                path: path.to_path_buf(),
                key: info.key,
            };
            let array = shards::read(&input, &parts, None)?;
            take(input, array);
        }
        return Ok(());
    }
    let (format, file) = open(path)?;
    // Where the array is at fault, the message names it; else the file.
    let mut at_fault = None;
    let mut one = |key: Option<String>, array: Parsed<Array>| {
        let input = InputPath {
            path: path.to_path_buf(),
            key,
        };
        match array {
            Ok(array) => take(input, array),
            Err(problem) => {
                at_fault = Some(input);
                return Err(problem);
            }
        }
        Ok(())
    };
    let read = match format {
        Format::Npz => npz::read_each(&file, &mut one),
        Format::Safetensors => tensors::read_each(&file, &mut one),
        Format::Parquet => parquet_file::read_each(&file, path, &mut one),
        Format::Arrow => arrow::read_each(&file, &mut one),
        Format::Hdf5 => hdf5::read_each(&file, &mut one),
        Format::Torch => torch::read_each(&file, &mut one),
        Format::Csv => table::read_each(&file, b',', &mut one),
        Format::Tsv => table::read_each(&file, b'\t', &mut one),
        Format::JsonLines => json_lines::read_each(&file, &mut one),
        Format::Npy | Format::Vectors | Format::Text => {
            let array = read(format, &file, &InputPath::file(path), None);
            one(None, array)
        }
    };
    read.map_err(|problem| match at_fault {
        Some(input) => problem.in_file(input),
        None => problem.in_file(path.display()),
    })
}

/// How many lines of a `.jsonl` file are blank and so no rows; 0 for files of other kinds.
pub fn blank_lines(path: &Path) -> Result<usize> {
    if zarr::is_store(path) || shards::of(path)?.is_some() {
        return Ok(0);
    }
    let (format, file) = open(path)?;
    Ok(match format {
        Format::JsonLines => json_lines::blank_lines(&file),
        _ => 0,
    })
}

pub(crate) fn open(path: &Path) -> Result<(Format, MappedFile)> {
    let file = MappedFile::open(path)?;
    let checked = Format::require(path).and_then(|format| {
        format.check_magic(&file)?;
        Ok(format)
    });
    Ok((checked.map_err(|p| p.in_file(path.display()))?, file))
}

/// What a file holds, as an indented list for people: all keys of a checkpoint with shapes, types and
/// plain values, or the names of the arrays in any other file.
pub fn tree(path: &Path) -> Result<String> {
    if zarr::is_store(path) {
        return Ok(lines(&zarr::list(path)?));
    }
    if let Some(parts) = shards::of(path)? {
        return Ok(lines(&shards::list(&parts)?));
    }
    let (format, file) = open(path)?;
    let text = match format {
        Format::Torch => Checkpoint::open(&file).map(|c| torch::tree(&c.pickled, TREE_LINES)),
        _ => list(format, &file, path).map(|infos| lines(&infos)),
    };
    text.map_err(|p| p.in_file(path.display()))
}

fn lines(infos: &[ArrayInfo]) -> String {
    let line = |i: &ArrayInfo| {
        format!(
            "{}  {} {}",
            i.key.as_deref().unwrap_or("array"),
            i.dtype,
            Shape(&i.shape)
        )
    };
    infos.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The text under some keys of a PyTorch file, from the outermost on: what a training program wrote beside its weights. `None` where there
/// is none, and in files that hold tensors alone.
pub fn read_plain_text(path: &Path, keys: &[&str]) -> Result<Option<String>> {
    let (format, file) = open(path)?;
    match format {
        Format::Torch => {
            let checkpoint = Checkpoint::open(&file).map_err(|p| p.in_file(path.display()))?;
            Ok(torch::plain_text(&checkpoint.pickled, keys))
        }
        _ => Ok(None),
    }
}

fn read(format: Format, file: &MappedFile, input: &InputPath, ids: Option<&str>) -> Parsed<Array> {
    let key = input.key.as_deref();
    match format {
        Format::Npy => match key {
            Some(key) => bail!("is an .npy file, which holds one array without a name; leave out #{key}"),
            None => npy::read_file(file),
        },
        Format::Npz => npz::read(file, key),
        Format::Safetensors => tensors::read(file, key),
        Format::Parquet => parquet_file::read(file, &input.path, key),
        Format::Arrow => arrow::read(file, key),
        Format::Vectors => match key {
            Some(key) => bail!("holds vectors without a name; leave out #{key}"),
            None => vectors::read(file, &input.path),
        },
        Format::Hdf5 => hdf5::read(file, key),
        Format::Torch => torch::read(file, key),
        Format::Csv => table::read(file, b',', key, ids),
        Format::Tsv => table::read(file, b'\t', key, ids),
        Format::JsonLines => json_lines::read(file, key),
        Format::Text => match key {
            Some(key) => bail!("is a .txt file, whose lines are texts without a name; leave out #{key}"),
            None => plain_text::read(file),
        },
    }
}

fn list(format: Format, file: &MappedFile, path: &Path) -> Parsed<Vec<ArrayInfo>> {
    match format {
        Format::Npy => {
            let header = Header::read(&mut &file[..])?;
            Ok(vec![ArrayInfo::new(None, &header.shape, header.content.name())])
        }
        Format::Npz => npz::list(file),
        Format::Safetensors => tensors::list(file),
        Format::Parquet => parquet_file::list(file, path),
        Format::Arrow => arrow::list(file),
        Format::Vectors => vectors::list(file, path),
        Format::Hdf5 => hdf5::list(file),
        Format::Torch => torch::list(file),
        Format::Csv => table::list(file, b','),
        Format::Tsv => table::list(file, b'\t'),
        Format::JsonLines => json_lines::list(file),
        Format::Text => Ok(plain_text::list(file)),
    }
}

/// Reads one text per row: the lines of a `.txt`, a field as `file.jsonl#field`, a column as `file.csv#column`, or any
/// array of strings. An empty text is a text.
pub fn read_texts(input: &InputPath) -> Result<Vec<String>> {
    texts(read_array(input)?).map_err(|p| p.in_file(input))
}

fn texts(array: Array) -> Parsed<Vec<String>> {
    match array.shape() {
        [_] | [_, 1] => {}
        shape => bail!(
            "has shape {}; texts are one per row, shape ({},)",
            Shape(shape),
            shape[0]
        ),
    }
    let dtype = array.dtype().to_string();
    match array.into_data() {
        Data::Text(texts) => Ok(texts),
        Data::Mixed(objects) => {
            let text = |(row, object)| match object {
                Object::Text(text) => Ok(text),
                other => bail!("holds {other:?} at row {row} (counted from 0), not text; fill or remove such rows"),
            };
            objects.into_iter().enumerate().map(text).collect()
        }
        _ => bail!("holds {dtype}, not text; give a .txt file, or a column or field of text with #name"),
    }
}
