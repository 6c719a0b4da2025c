// SPDX-License-Identifier: MIT
//! Tables as `.parquet`, for data frames.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use crate::error::{Error, Result};
use crate::write::write_whole;

/// A column of a table; `None` where a row has no value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Column {
    /// Integers.
    Integers(Vec<i64>),
    /// Numbers.
    Numbers(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Vectors of so many numbers, one after the other: a list in each row.
    Vectors(usize, Vec<f32>),
}

/// Writes a table as a .parquet file. All columns have the same length.
pub fn write_parquet(path: &Path, columns: &[(String, Column)]) -> Result<()> {
    let wrong = |text: String| Error::write(path, std::io::Error::other(text));
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    if let Some((name, column)) = columns.iter().find(|(_, column)| column.len() != rows) {
        return Err(wrong(format!(
            "column `{name}` has {} rows, but `{}` has {rows}",
            column.len(),
            columns[0].0
        )));
    }
    let bytes = encode(columns).map_err(|error| wrong(error.to_string()))?;
    write_whole(path, &bytes)
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::Integers(values) => values.len(),
            Column::Numbers(values) => values.len(),
            Column::Texts(values) => values.len(),
            Column::Vectors(width, values) => values.len().checked_div(*width).unwrap_or(0),
        }
    }

    fn kind(&self, name: &str) -> std::result::Result<TypePtr, ParquetError> {
        let of = |physical, repetition| Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let kind = match self {
            Column::Integers(_) => of(Physical::INT64, Repetition::REQUIRED),
            Column::Numbers(_) => of(Physical::DOUBLE, Repetition::OPTIONAL),
            Column::Texts(_) => {
                of(Physical::BYTE_ARRAY, Repetition::OPTIONAL).with_logical_type(Some(LogicalType::String))
            }
            Column::Vectors(..) => return list(name),
        };
        kind.build().map(Arc::new)
    }
}

/// A list of numbers in three levels, as the format asks for.
fn list(name: &str) -> std::result::Result<TypePtr, ParquetError> {
    let item = Type::primitive_type_builder("element", Physical::FLOAT)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let repeated = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(item)])
        .build()?;
    let whole = Type::group_type_builder(name)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(repeated)])
        .build()?;
    Ok(Arc::new(whole))
}

/// Vectors that are written at once, beside which two levels are held for each number.
const VECTORS_AT_ONCE: usize = 8192;

fn encode(columns: &[(String, Column)]) -> std::result::Result<Vec<u8>, ParquetError> {
    let kinds = columns.iter().map(|(name, column)| column.kind(name));
    let fields = kinds.collect::<std::result::Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    let mut remaining = columns.iter();
    while let (Some((_, column)), Some(mut writer)) = (remaining.next(), group.next_column()?) {
        match (column, writer.untyped()) {
            (Column::Integers(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(values, None, None)?;
            }
            (Column::Numbers(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                let known: Vec<f64> = values.iter().flatten().copied().collect();
                writer.write_batch(&known, Some(&is_there(values)), None)?;
            }
            (Column::Texts(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let known: Vec<ByteArray> = values.iter().flatten().map(|text| text.as_str().into()).collect();
                writer.write_batch(&known, Some(&is_there(values)), None)?;
            }
            (Column::Vectors(width, values), ColumnWriter::FloatColumnWriter(writer)) => {
                for some in values.chunks((width * VECTORS_AT_ONCE).max(1)) {
                    let begins: Vec<i16> = (0..some.len()).map(|at| i16::from(at % width > 0)).collect();
                    writer.write_batch(some, Some(&vec![1; some.len()]), Some(&begins))?;
                }
            }
            _ => {
                return Err(ParquetError::General(
                    "the writer expects another kind of column".to_string(),
                ));
            }
        }
        writer.close()?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

/// The definition level of each value: 1 where there is one.
fn is_there<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InputPath, read_array, read_texts};

    #[test]
    fn tables_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/t.parquet");
        let texts = ["a, \"b\"", "ü"].map(|text| Some(text.to_string()));
        let table = [
            ("index".to_string(), Column::Integers(vec![4, -7])),
            ("etes".to_string(), Column::Numbers(vec![Some(-0.25), Some(0.5)])),
            ("text".to_string(), Column::Texts(texts.to_vec())),
            ("z".to_string(), Column::Vectors(3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        ];
        write_parquet(&path, &table).unwrap();
        let column = |name: &str| InputPath::parse(&format!("{}#{name}", path.display()));
        let number = |name: &str, i: usize| {
            let space = read_array(&column(name))
                .unwrap()
                .into_space("t", crate::Pool::Flatten)
                .unwrap();
            let mut row = [0.0];
            space.read_row(i, &mut row);
            row[0]
        };
        assert_eq!([number("index", 0), number("index", 1)], [4.0, -7.0]);
        assert_eq!([number("etes", 0), number("etes", 1)], [-0.25, 0.5]);
        let z = read_array(&column("z")).unwrap();
        assert_eq!(z.shape(), [2, 3]);
        assert!(matches!(z.data(), crate::Data::F32(v) if (**v).as_ref() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        assert_eq!(read_texts(&column("text")).unwrap(), ["a, \"b\"", "ü"]);
    }

    #[test]
    fn columns_of_different_length_are_refused_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let table = [
            ("a".to_string(), Column::Integers(vec![1, 2])),
            ("b".to_string(), Column::Numbers(vec![None])),
        ];
        let error = write_parquet(&path, &table).unwrap_err().to_string();
        assert!(error.contains("`b` has 1 rows, but `a` has 2"), "{error}");
        assert!(!path.exists());
    }
}
