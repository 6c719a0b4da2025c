// SPDX-License-Identifier: MIT
//! What the columns of a parquet file are.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::file::reader::FileReader;
use parquet::schema::types::ColumnDescriptor;

use crate::array::ArrayInfo;
use crate::error::{Parsed, Problem, bail, problem};

/// What one value of a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) struct Column {
    pub(super) info: ArrayInfo,
    pub(super) leaf: usize,
    pub(super) kind: Kind,
    /// Whether each row is a list of values.
    pub(super) is_list: bool,
    pub(super) rows: usize,
}

impl Column {
    /// The columns of a file, in its order. A struct or map shows once for each of its leaves.
    pub(super) fn all(reader: &impl FileReader) -> Parsed<Vec<Column>> {
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

    pub(super) fn name(&self) -> &str {
        self.info.key.as_deref().unwrap_or_default()
    }

    pub(super) fn refuse(&self) -> Problem {
        let (name, dtype) = (self.name(), &self.info.dtype);
        problem!("has column `{name}` of type {dtype}; columns of numbers, text, or lists of numbers are read")
    }
}

impl Kind {
    /// The short name of the stored type; `None` for what is not read.
    pub(super) fn name(self) -> Option<&'static str> {
        Some(match self {
            Kind::Bool => "bool",
            Kind::Int32 {
                signed: true,
                bits: ..=8,
            } => "i8",
            Kind::Int32 {
                signed: true,
                bits: ..=16,
            } => "i16",
            Kind::Int32 { signed: true, .. } => "i32",
            Kind::Int32 {
                signed: false,
                bits: ..=8,
            } => "u8",
            Kind::Int32 {
                signed: false,
                bits: ..=16,
            } => "u16",
            Kind::Int32 { signed: false, .. } => "u32",
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
