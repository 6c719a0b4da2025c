// SPDX-License-Identifier: MIT
//! Reading one array, or the list of arrays, out of any supported file.

use std::path::Path;

use crate::array::{Array, ArrayInfo};
use crate::error::{Parsed, Result, problem};
use crate::format::Format;
use crate::mapped::MappedFile;
use crate::npy::{self, Header};
use crate::path::InputPath;
use crate::{npz, parquet_file, table, tensors};

/// Reads the array that a path names.
pub fn read_array(input: &InputPath) -> Result<Array> {
    let (format, file) = open(&input.path)?;
    read(format, &file, input, None).map_err(|p| p.in_file(input))
}

/// Reads the array that a path names; of a table without `#column`, all columns but the one of the ids.
pub fn read_array_beside(input: &InputPath, ids: &str) -> Result<Array> {
    let (format, file) = open(&input.path)?;
    read(format, &file, input, Some(ids)).map_err(|p| p.in_file(input))
}

/// The arrays, tensors or columns in a file, without their values.
pub fn list_arrays(path: &Path) -> Result<Vec<ArrayInfo>> {
    let (format, file) = open(path)?;
    list(format, &file, path).map_err(|p| p.in_file(path.display()))
}

/// Reads one id per row: text, or whole numbers as text.
pub fn read_ids(input: &InputPath) -> Result<Vec<String>> {
    Ok(read_array(input)?.into_names(&input.to_string(), "ids")?)
}

fn open(path: &Path) -> Result<(Format, MappedFile)> {
    let file = MappedFile::open(path)?;
    let checked = Format::require(path).and_then(|format| {
        format.check_magic(&file)?;
        Ok(format)
    });
    Ok((checked.map_err(|p| p.in_file(path.display()))?, file))
}

fn read(format: Format, file: &MappedFile, input: &InputPath, ids: Option<&str>) -> Parsed<Array> {
    let key = input.key.as_deref();
    match format {
        Format::Npy => match key {
            Some(key) => problem(format!(
                "is an .npy file, which holds one array without a name; leave out #{key}"
            )),
            None => npy::read_file(file),
        },
        Format::Npz => npz::read(file, key),
        Format::Safetensors => tensors::read(file, key),
        Format::Parquet => parquet_file::read(&input.path, key),
        Format::Csv => table::read(file, b',', key, ids),
        Format::Tsv => table::read(file, b'\t', key, ids),
    }
}

fn list(format: Format, file: &MappedFile, path: &Path) -> Parsed<Vec<ArrayInfo>> {
    match format {
        Format::Npy => {
            let header = Header::read(&mut &file[..])?;
            Ok(vec![ArrayInfo {
                key: None,
                dtype: header.content.name().to_string(),
                shape: header.shape,
            }])
        }
        Format::Npz => npz::list(file),
        Format::Safetensors => tensors::list(file),
        Format::Parquet => parquet_file::list(path),
        Format::Csv => table::list(file, b','),
        Format::Tsv => table::list(file, b'\t'),
    }
}
