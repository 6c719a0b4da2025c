// SPDX-License-Identifier: MIT
//! `.parquet`: one column of a table. A column of lists is a matrix, one of numbers or text is 1-D.
//!
//! Columns are read a batch of rows at a time from their pages, without the Arrow stack: what a list
//! or a null is follows from the repetition and definition levels (the Dremel encoding).

mod kind;
mod values;

use std::fs::File;
use std::path::Path;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::array::{Array, ArrayInfo};
use crate::catch_panic::catch_panic;
use crate::choose::choose;
use crate::error::{Parsed, Problem, bail, problem};
use kind::Column;

/// Pandas keeps a named or filtered index as a column of this kind; it is data only if it is named.
const PANDAS_INDEX: &str = "__index_level_";

/// The columns of the file. A column of lists shows its rows only.
pub(crate) fn list(path: &Path) -> Parsed<Vec<ArrayInfo>> {
    decode_or_refuse(|| {
        let reader = open(path)?;
        Ok(Column::all(&reader)?.into_iter().map(|c| c.info).collect())
    })
}

/// Reads one column.
pub(crate) fn read(path: &Path, key: Option<&str>) -> Parsed<Array> {
    decode_or_refuse(|| {
        let reader = open(path)?;
        let mut columns = Column::all(&reader)?;
        if key.is_none() {
            columns.retain(|c| !c.name().starts_with(PANDAS_INDEX));
        }
        let infos: Vec<ArrayInfo> = columns.iter().map(|c| c.info.clone()).collect();
        let column = columns.swap_remove(choose(&infos, key, "column")?);
        check_chunks(&reader, &column, path)?;
        values::read(&reader, &column)
    })
}

fn open(path: &Path) -> Parsed<SerializedFileReader<File>> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    SerializedFileReader::new(file).map_err(|error| {
        problem!(
            "is not a readable .parquet file ({error}); with its {bytes} bytes it may have been cut off while copying"
        )
    })
}

/// Checks where the column lies in the file and how it is compressed, before it is decoded.
fn check_chunks(reader: &SerializedFileReader<File>, column: &Column, path: &Path) -> Parsed<()> {
    let file_bytes = std::fs::metadata(path)?.len();
    for group in reader.metadata().row_groups() {
        let Some(chunk) = group.columns().get(column.leaf) else {
            bail!("is damaged: a row group lacks a column");
        };
        let start = chunk
            .dictionary_page_offset()
            .unwrap_or_else(|| chunk.data_page_offset());
        let end = u64::try_from(start)
            .ok()
            .zip(u64::try_from(chunk.compressed_size()).ok());
        if end
            .and_then(|(start, length)| start.checked_add(length))
            .is_none_or(|end| end > file_bytes)
        {
            let (name, compressed_size) = (column.name(), chunk.compressed_size());
            bail!(
                "is damaged: column `{name}` should have {compressed_size} bytes at {start}, but the file has {file_bytes}"
            );
        }
        let name = match chunk.compression() {
            Compression::ZSTD(_) => "zstd",
            Compression::BROTLI(_) => "brotli",
            Compression::LZO => "lzo",
            _ => continue,
        };
        bail!(
            "has column `{}` compressed with {name}, which this build does not read; \
             write it with compression='snappy' (pandas: df.to_parquet(path, compression='snappy'))",
            column.name()
        );
    }
    Ok(())
}

/// A damaged file might fail an assertion of the decoder, which is not ours; that is no reason to stop
/// the program.
fn decode_or_refuse<T>(decode: impl FnOnce() -> Parsed<T>) -> Parsed<T> {
    catch_panic(decode).unwrap_or_else(|| bail!("cannot be decoded: the .parquet file is damaged"))
}

impl From<ParquetError> for Problem {
    fn from(error: ParquetError) -> Self {
        problem!("cannot be decoded: {error}")
    }
}
