// SPDX-License-Identifier: MIT
//! `.parquet`: one column of a table. A column of lists is a matrix, one of numbers or text is 1-D.
//!
//! Columns are read a batch of rows at a time from their pages, without the Arrow stack: what a list
//! or a null is follows from the repetition and definition levels (the Dremel encoding).

mod claims;
mod opened;
mod values;

use std::path::Path;

use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use crate::array::{Array, ArrayInfo, Object};
use crate::catch_panic::catch_panic;
use crate::choose::choose;
use crate::error::{Parsed, Problem, bail, problem};
use crate::mapped::MappedFile;
use crate::memory;
use crate::read::Take;
use opened::Opened;

/// Pandas keeps a named or filtered index as a column of this kind; it is data only if it is named.
const PANDAS_INDEX: &str = "__index_level_";

/// The columns of the file. A column of lists shows its rows only.
pub(crate) fn list(file: &MappedFile, path: &Path) -> Parsed<Vec<ArrayInfo>> {
    decode_or_refuse(|| {
        let reader = Opened::open(file, path)?;
        Ok(Column::all(&reader)?.into_iter().map(|c| c.info).collect())
    })
}

/// Reads one column.
pub(crate) fn read(file: &MappedFile, path: &Path, key: Option<&str>) -> Parsed<Array> {
    decode_or_refuse(|| {
        let reader = Opened::open(file, path)?;
        let mut columns = Column::all(&reader)?;
        if key.is_none() {
            columns.retain(|c| !c.name().starts_with(PANDAS_INDEX));
        }
        let infos: Vec<ArrayInfo> = columns.iter().map(|c| c.info.clone()).collect();
        let column = columns.swap_remove(choose(&infos, key, "column")?);
        let largest = check_chunks(&reader, &column, file)?;
        values::read(&reader, &column, largest)
    })
}

/// Reads every column, one after the other.
pub(crate) fn read_each(file: &MappedFile, path: &Path, take: Take) -> Parsed<()> {
    let (reader, columns) = decode_or_refuse(|| {
        let reader = Opened::open(file, path)?;
        let columns = Column::all(&reader)?;
        Ok((reader, columns))
    })?;
    for column in columns {
        let array = decode_or_refuse(|| {
            let largest = check_chunks(&reader, &column, file)?;
            values::read(&reader, &column, largest)
        });
        take(column.info.key, array)?;
    }
    Ok(())
}

/// Checks where the column lies in the file and how it is compressed, before it is decoded. Returns how many bytes its largest page is said to
/// have.
fn check_chunks(reader: &Opened, column: &Column, file: &MappedFile) -> Parsed<u64> {
    let file_bytes = file.len();
    let (mut values, mut largest) = (0_u64, 0);
    for group in reader.metadata().row_groups() {
        let Some(chunk) = group.columns().get(column.leaf) else {
            bail!("is damaged: a row group lacks a column");
        };
        let start = chunk
            .dictionary_page_offset()
            .unwrap_or_else(|| chunk.data_page_offset());
        let range = usize::try_from(start)
            .ok()
            .zip(usize::try_from(chunk.compressed_size()).ok());
        let pages = range.and_then(|(start, length)| file.get(start..start.checked_add(length)?));
        let Some(pages) = pages else {
            let (name, compressed_size) = (column.name(), chunk.compressed_size());
            bail!(
                "is damaged: column `{name}` should have {compressed_size} bytes at {start}, but the file has {file_bytes}"
            );
        };
        let (name, most) = match chunk.compression() {
            Compression::BROTLI(_) => ("brotli", None),
            Compression::LZO => ("lzo", None),
            Compression::ZSTD(_) => ("zstd", Some(claims::ZSTD_RATIO)),
            _ => ("", Some(claims::GZIP_RATIO)),
        };
        if let Some(most) = most {
            let claimed = claims::check_pages(pages, most)?;
            values = values.saturating_add(claimed.values);
            largest = largest.max(claimed.largest);
            continue;
        }
        bail!(
            "has column `{}` compressed with {name}, which this build does not read; \
             write it with compression='zstd' (pandas: df.to_parquet(path, compression='zstd'))",
            column.name()
        );
    }
    // A few bytes can stand for millions of values that are all the same.
    memory::check(values.checked_mul(column.kind.bytes_in_memory()))?;
    Ok(largest)
}

/// A damaged file might fail an assertion of the decoder, which is not ours; that is no reason to stop the program.
fn decode_or_refuse<T>(decode: impl FnOnce() -> Parsed<T>) -> Parsed<T> {
    catch_panic(decode).unwrap_or_else(|| bail!("cannot be decoded: the .parquet file is damaged"))
}

impl From<ParquetError> for Problem {
    fn from(error: ParquetError) -> Self {
        problem!("cannot be decoded: {error}")
    }
}

/// What one value of a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    /// Stored in 32 bits, of which `bits` are used.
    Int32 {
        signed: bool,
        bits: i8,
    },
    Int64 {
        signed: bool,
    },
    F16,
    F32,
    F64,
    Text,
    /// Anything that is neither number nor text.
    Other,
}

/// A top-level column that is made of one leaf of the schema.
#[derive(Debug, Clone)]
struct Column {
    info: ArrayInfo,
    leaf: usize,
    kind: Kind,
    /// Whether each row is a list of values.
    is_list: bool,
    rows: usize,
}

impl Column {
    /// The columns of a file, in its order. A struct or map shows once for each of its leaves.
    fn all(reader: &Opened) -> Parsed<Vec<Column>> {
        let metadata = reader.metadata().file_metadata();
        let Ok(rows) = usize::try_from(metadata.num_rows()) else {
            bail!("is damaged: it claims {} rows", metadata.num_rows());
        };
        let leaves = metadata.schema_descr().columns().iter().enumerate();
        Ok(leaves
            .map(|(leaf, description)| Column::new(leaf, description, rows))
            .collect())
    }

    fn new(leaf: usize, description: &ColumnDescriptor, rows: usize) -> Self {
        let path = description.path();
        let mut kind = kind(description);
        let is_list = description.max_rep_level() == 1;
        // A list column is `name.list.element`; deeper nesting and structs keep their dotted path.
        let name = match (is_list, path.parts()) {
            (true, [name, list, _]) if list == "list" || list == "bag" => name.clone(),
            _ => path.string(),
        };
        if description.max_rep_level() > 1 {
            kind = Kind::Other;
        }
        let short = kind.name().map_or_else(
            || description.physical_type().to_string().to_lowercase(),
            str::to_string,
        );
        Column {
            info: ArrayInfo {
                key: Some(name),
                shape: vec![rows],
                dtype: if is_list { format!("list<{short}>") } else { short },
            },
            leaf,
            kind,
            is_list,
            rows,
        }
    }

    fn name(&self) -> &str {
        self.info.key.as_deref().unwrap_or_default()
    }

    fn refuse(&self) -> Problem {
        let (name, dtype) = (self.name(), &self.info.dtype);
        problem!("has column `{name}` of type {dtype}; columns of numbers, text, or lists of numbers are read")
    }
}

impl Kind {
    /// What a value takes as it is read, at least; the bytes of a text are counted as they come.
    fn bytes_in_memory(self) -> u64 {
        match self {
            Kind::Bool => 1,
            Kind::F16 | Kind::F32 | Kind::Int32 { bits: ..=16, .. } => 4,
            Kind::Int32 { .. } | Kind::Int64 { .. } | Kind::F64 => 8,
            Kind::Text => size_of::<Object>() as u64,
            Kind::Other => 0,
        }
    }

    /// The short name of the stored type; `None` for what is not read.
    fn name(self) -> Option<&'static str> {
        Some(match self {
            Kind::Bool => "bool",
            Kind::Int32 { signed, bits } => match (signed, bits) {
                (true, ..=8) => "i8",
                (true, ..=16) => "i16",
                (true, _) => "i32",
                (false, ..=8) => "u8",
                (false, ..=16) => "u16",
                (false, _) => "u32",
            },
            Kind::Int64 { signed: true } => "i64",
            Kind::Int64 { signed: false } => "u64",
            Kind::F16 => "f16",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
            Kind::Text => "str",
            Kind::Other => return None,
        })
    }
}

fn kind(description: &ColumnDescriptor) -> Kind {
    let integer = |signed: bool, bits: i8| match description.physical_type() {
        Type::INT32 => Kind::Int32 { signed, bits },
        _ => Kind::Int64 { signed },
    };
    let logical = description.logical_type_ref();
    match (description.physical_type(), logical) {
        (Type::BOOLEAN, _) => Kind::Bool,
        (Type::FLOAT, _) => Kind::F32,
        (Type::DOUBLE, _) => Kind::F64,
        (Type::INT32 | Type::INT64, Some(LogicalType::Integer(int))) => integer(int.is_signed, int.bit_width),
        (Type::INT32 | Type::INT64, Some(_)) => Kind::Other,
        (Type::INT32 | Type::INT64, None) => match description.converted_type() {
            ConvertedType::NONE | ConvertedType::INT_32 | ConvertedType::INT_64 => integer(true, 32),
            ConvertedType::INT_8 => integer(true, 8),
            ConvertedType::INT_16 => integer(true, 16),
            ConvertedType::UINT_8 => integer(false, 8),
            ConvertedType::UINT_16 => integer(false, 16),
            ConvertedType::UINT_32 | ConvertedType::UINT_64 => integer(false, 32),
            _ => Kind::Other,
        },
        (Type::BYTE_ARRAY, None | Some(LogicalType::String | LogicalType::Enum)) => Kind::Text,
        (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) if description.type_length() == 2 => Kind::F16,
        _ => Kind::Other,
    }
}
