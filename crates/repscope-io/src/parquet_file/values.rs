// SPDX-License-Identifier: MIT
//! Reading the values of one parquet column.

use half::f16;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type, Int64Type,
};

use super::opened::Opened;
use super::{Column, Kind};
use crate::array::{Array, Data, Object};
use crate::error::{Parsed, bail};
use crate::memory;

/// Rows per batch: what is held twice while reading.
const BATCH: usize = 4096;

/// Reads the column as an array. `largest` is how many bytes its largest page is said to have.
pub(super) fn read(reader: &Opened, column: &Column, largest: u64) -> Parsed<Array> {
    let mut rows = Rows::new(column, largest);
    let data = match column.kind {
        Kind::Bool => Data::Bool(rows.numbers::<BoolType, _>(reader, |&v| v)?),
        Kind::Int32 { signed, bits: ..=16 } => {
            Data::f32(rows.numbers::<Int32Type, _>(reader, |&v| if signed { v as f32 } else { v as u32 as f32 })?)
        }
        Kind::Int32 { signed, .. } => Data::f64(
            rows.numbers::<Int32Type, _>(reader, |&v| if signed { f64::from(v) } else { f64::from(v as u32) })?,
        ),
        Kind::Int64 { signed: true } => Data::I64(rows.numbers::<Int64Type, _>(reader, |&v| v)?),
        Kind::Int64 { signed: false } => Data::U64(rows.numbers::<Int64Type, _>(reader, |&v| v as u64)?),
        Kind::F16 => Data::f32(rows.numbers::<FixedLenByteArrayType, _>(reader, |v| {
            v.data()
                .first_chunk()
                .map_or(f32::NAN, |b| f32::from(f16::from_le_bytes(*b)))
        })?),
        Kind::F32 => Data::f32(rows.numbers::<FloatType, _>(reader, |&v| v)?),
        Kind::F64 => Data::f64(rows.numbers::<DoubleType, _>(reader, |&v| v)?),
        Kind::Text if !column.is_list => Data::from_objects(rows.texts(reader)?),
        Kind::Text | Kind::Other => return Err(column.refuse()),
    };
    if rows.done != column.rows {
        bail!("is damaged: it claims {} rows but holds {}", column.rows, rows.done);
    }
    let shape = if column.is_list {
        vec![rows.done, rows.width.unwrap_or(0)]
    } else {
        vec![rows.done]
    };
    Array::checked(shape, column.kind.name().unwrap_or_default(), data)
}

/// What has been read so far of a column.
struct Rows<'a> {
    column: &'a Column,
    largest_page: u64,
    done: usize,
    /// The length of the lists, once the first is complete.
    width: Option<usize>,
    /// The length of the list that is being read.
    open: usize,
}

impl<'a> Rows<'a> {
    fn new(column: &'a Column, largest_page: u64) -> Self {
        Rows {
            column,
            largest_page,
            done: 0,
            width: None,
            open: 0,
        }
    }

    /// Numbers or lists of numbers, none missing.
    fn numbers<T: DataType, V>(&mut self, reader: &Opened, convert: impl Fn(&T::T) -> V) -> Parsed<Vec<V>> {
        let mut out = Vec::new();
        self.batches::<T>(reader, |rows, batch| {
            rows.count(batch)?;
            out.extend(batch.values.iter().map(&convert));
            Ok(())
        })?;
        Ok(out)
    }

    /// Text, where a null is a missing object.
    fn texts(&mut self, reader: &Opened) -> Parsed<Vec<Object>> {
        let mut out = Vec::new();
        let mut taken = 0_u64;
        self.batches::<ByteArrayType>(reader, |rows, batch| {
            let mut values = batch.values.iter();
            for row in 0..batch.rows {
                if !batch.is_present(row) {
                    out.push(Object::None);
                    continue;
                }
                let bytes = values.next().map_or(&[][..], |v| v.data());
                // One long text of the dictionary may stand in every row.
                taken = taken.saturating_add(bytes.len() as u64);
                memory::check(Some(taken))?;
                match str::from_utf8(bytes) {
                    Ok(text) => out.push(Object::Text(text.to_string())),
                    Err(_) => {
                        let (name, at) = (rows.column.name(), rows.done + row);
                        bail!("holds bytes that are not UTF-8 text in column `{name}`, row {at}");
                    }
                }
            }
            rows.done += batch.rows;
            Ok(())
        })?;
        Ok(out)
    }

    fn batches<T: DataType>(
        &mut self,
        reader: &Opened,
        mut take: impl FnMut(&mut Self, &Batch<T::T>) -> Parsed<()>,
    ) -> Parsed<()> {
        let schema = reader.metadata().file_metadata().schema_descr();
        let description = schema.column(self.column.leaf);
        for group in 0..reader.groups() {
            let mut values = reader.values::<T>(group, self.column.leaf, self.largest_page)?;
            loop {
                let mut batch = Batch {
                    rows: 0,
                    values: Vec::new(),
                    definition: Vec::new(),
                    repetition: Vec::new(),
                    complete: description.max_def_level(),
                };
                let (definition, repetition) = (Some(&mut batch.definition), Some(&mut batch.repetition));
                (batch.rows, _, _) = values.read_records(BATCH, definition, repetition, &mut batch.values)?;
                if batch.rows == 0 {
                    break;
                }
                take(self, &batch)?;
            }
        }
        Ok(())
    }

    /// Counts rows and compares the lengths of lists; refuses what is missing.
    fn count<V>(&mut self, batch: &Batch<V>) -> Parsed<()> {
        let name = self.column.name();
        if !self.column.is_list {
            if let Some(row) = (0..batch.rows).find(|&row| !batch.is_present(row)) {
                bail!(
                    "has no value in column `{name}`, row {} (counted from 0); fill or remove such rows",
                    self.done + row
                );
            }
            self.done += batch.rows;
            return Ok(());
        }
        for (at, &level) in batch.repetition.iter().enumerate() {
            if level == 0 && at > 0 {
                self.close()?;
            }
            if !batch.is_present(at) {
                bail!(
                    "has a null or an empty list in column `{name}`, row {} (counted from 0); fill or remove such rows",
                    self.done
                );
            }
            self.open += 1;
        }
        self.close()
    }

    /// Ends a list.
    fn close(&mut self) -> Parsed<()> {
        let (length, row) = (std::mem::take(&mut self.open), self.done);
        let width = *self.width.get_or_insert(length);
        if length != width {
            let name = self.column.name();
            bail!("has lists of different lengths in column `{name}`: {width} in row 0 but {length} in row {row}");
        }
        self.done += 1;
        Ok(())
    }
}

/// Whole rows of a column: present values, and the levels that say where they belong.
struct Batch<V> {
    rows: usize,
    values: Vec<V>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
    /// The definition level of a value that is not null.
    complete: i16,
}

impl<V> Batch<V> {
    fn is_present(&self, at: usize) -> bool {
        self.complete == 0 || self.definition.get(at) == Some(&self.complete)
    }
}
