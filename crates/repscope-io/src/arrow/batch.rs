// SPDX-License-Identifier: MIT
//! The values of one column of one batch.

use std::borrow::Cow;
use std::io::Read;

use super::schema::{Field, Kind, Lists};
use super::table::{Table, damaged};
use crate::array::{Data, Object};
use crate::element::{ByteOrder, Element};
use crate::error::{Parsed, bail, problem};
use crate::{memory, zstd};

/// A batch: what it says of its columns, and their bytes.
pub(super) struct Batch<'a> {
    pub rows: usize,
    table: Table<'a>,
    codec: Option<u8>,
    body: &'a [u8],
}

impl<'a> Batch<'a> {
    pub(super) fn read(table: Table<'a>, body: &'a [u8]) -> Parsed<Self> {
        let compression = table.table(3)?;
        Ok(Batch {
            rows: usize::try_from(table.long(0)?).map_err(|_| damaged())?,
            table,
            codec: compression.map(|table| table.byte(0)).transpose()?,
            body,
        })
    }

    /// The bytes of a buffer.
    fn buffer(&self, number: usize) -> Parsed<Cow<'a, [u8]>> {
        let [start, length] = self.table.pair(2, number)?;
        let range = usize::try_from(start).ok().zip(usize::try_from(length).ok());
        let bytes = range.and_then(|(start, length)| self.body.get(start..start.checked_add(length)?));
        let bytes = bytes.ok_or_else(damaged)?;
        match self.codec {
            None => Ok(bytes.into()),
            Some(_) if bytes.is_empty() => Ok(bytes.into()),
            Some(codec) => unpack(codec, bytes),
        }
    }

    /// How many values there are, and how many are missing.
    fn node(&self, number: usize) -> Parsed<(usize, usize)> {
        let [length, missing] = self.table.pair(1, number)?;
        let sizes = usize::try_from(length).ok().zip(usize::try_from(missing).ok());
        sizes.ok_or_else(damaged)
    }
}

/// Frames of LZ4 (0) or zstd (1), behind how many bytes they become.
fn unpack(codec: u8, bytes: &[u8]) -> Parsed<Cow<'_, [u8]>> {
    let Some((size, packed)) = bytes.split_first_chunk::<8>() else {
        return Err(damaged());
    };
    let size = i64::from_le_bytes(*size);
    if size == -1 {
        return Ok(packed.into());
    }
    let size = u64::try_from(size).map_err(|_| damaged())?;
    memory::check(Some(size))?;
    let unpacked = match codec {
        0 => {
            let mut unpacked = Vec::new();
            let mut decoder = lz4_flex::frame::FrameDecoder::new(packed).take(size);
            decoder
                .read_to_end(&mut unpacked)
                .map_err(|error| problem!("is damaged: {error}"))?;
            unpacked
        }
        1 => zstd::unpack(packed, size)?,
        other => bail!("is compressed in a way that is not known (number {other})"),
    };
    if unpacked.len() as u64 != size {
        return Err(damaged());
    }
    Ok(unpacked.into())
}

/// Where a column begins among the nodes and buffers of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub node: usize,
    pub buffer: usize,
}

/// What a batch gives of a column.
pub(super) struct Part {
    pub data: Data,
    /// How long its lists are; none for values that are no lists, and for a batch without rows.
    pub width: Option<usize>,
}

/// Names by the number of their dictionary.
pub(super) type Dictionaries = std::collections::BTreeMap<i64, Vec<Object>>;

pub(super) fn column(batch: &Batch, field: &Field, place: Place, dictionaries: &Dictionaries) -> Parsed<Part> {
    let (rows, missing) = batch.node(place.node)?;
    if rows != batch.rows {
        return Err(damaged());
    }
    let is_there = validity(batch, place.buffer, rows, missing)?;
    let width = None;
    if let Some((element, id)) = field.dictionary {
        let codes = numbers(&batch.buffer(place.buffer + 1)?, element, 0, rows)?;
        let names = dictionaries.get(&id).map_or(&[][..], Vec::as_slice);
        let data = Data::from_objects(named(&codes, is_there.as_deref(), names)?);
        return Ok(Part { data, width });
    }
    match &field.kind {
        Kind::Text { is_large } => {
            let data = Data::Mixed(texts(batch, place.buffer, rows, is_there.as_deref(), *is_large)?);
            return Ok(Part { data, width });
        }
        Kind::Other(what) => bail!("holds {what} in column `{}`, which are not read", field.name),
        Kind::Number(_) | Kind::Bool | Kind::List(..) => {}
    }
    if let Some(there) = is_there
        && let Some(row) = there.iter().position(|there| !there)
    {
        bail!(
            "has no value in column `{}` for row {row} of a batch; drop or fill such rows",
            field.name
        );
    }
    let data = match &field.kind {
        Kind::Number(element) => numbers(&batch.buffer(place.buffer + 1)?, *element, 0, rows)?,
        Kind::Bool => Data::Bool(bits(&batch.buffer(place.buffer + 1)?, rows)?),
        Kind::List(lists, element) => return self::lists(batch, field, place, rows, *lists, *element),
        Kind::Text { .. } | Kind::Other(_) => return Err(damaged()),
    };
    Ok(Part { data, width })
}

/// Lists of one length.
fn lists(batch: &Batch, field: &Field, place: Place, rows: usize, lists: Lists, element: Element) -> Parsed<Part> {
    // The buffers of the items come after those of the lists.
    let (first, width, items) = match lists {
        Lists::Of(width) => (0, width, place.buffer + 1),
        Lists::Varying { is_large } => {
            let offsets = offsets(&batch.buffer(place.buffer + 1)?, rows, is_large)?;
            let width = match offsets.as_slice() {
                [first, second, ..] => second - first,
                _ => 0,
            };
            if let Some(row) = offsets.windows(2).position(|pair| pair[1] - pair[0] != width) {
                let other = offsets[row + 1] - offsets[row];
                bail!(
                    "has lists of different lengths in column `{}`: {width} and {other}; embeddings must have one length",
                    field.name
                );
            }
            (offsets.first().copied().unwrap_or(0), width, place.buffer + 2)
        }
    };
    let (count, missing) = batch.node(place.node + 1)?;
    if let Some(there) = validity(batch, items, count, missing)?
        && there.contains(&false)
    {
        bail!("has missing numbers within the lists of column `{}`", field.name);
    }
    let values = rows.checked_mul(width).ok_or_else(damaged)?;
    let data = numbers(&batch.buffer(items + 1)?, element, first, values)?;
    Ok(Part {
        data,
        width: (rows > 0).then_some(width),
    })
}

/// Which values are there; none where all are.
fn validity(batch: &Batch, buffer: usize, rows: usize, missing: usize) -> Parsed<Option<Vec<bool>>> {
    if missing == 0 {
        return Ok(None);
    }
    bits(&batch.buffer(buffer)?, rows).map(Some)
}

fn bits(bytes: &[u8], count: usize) -> Parsed<Vec<bool>> {
    if count.div_ceil(8) > bytes.len() {
        return Err(damaged());
    }
    Ok((0..count).map(|at| bytes[at / 8] >> (at % 8) & 1 == 1).collect())
}

fn numbers(bytes: &[u8], element: Element, first: usize, count: usize) -> Parsed<Data> {
    let range = first
        .checked_mul(element.bytes())
        .zip(count.checked_mul(element.bytes()));
    let bytes = range.and_then(|(start, length)| bytes.get(start..start.checked_add(length)?));
    let mut bytes = bytes.ok_or_else(damaged)?;
    element.read(&mut bytes, ByteOrder::Little, count)
}

/// Where texts and lists begin, and where the last one ends; in order.
fn offsets(bytes: &[u8], rows: usize, is_large: bool) -> Parsed<Vec<usize>> {
    if rows == 0 {
        return Ok(Vec::new());
    }
    let width = if is_large { 8 } else { 4 };
    let bytes = rows
        .checked_add(1)
        .and_then(|all| bytes.get(..all.checked_mul(width)?))
        .ok_or_else(damaged)?;
    let offset = |part: &[u8]| {
        let wide = match *part {
            [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => -1,
        };
        usize::try_from(wide).map_err(|_| damaged())
    };
    let offsets = bytes.chunks_exact(width).map(offset).collect::<Parsed<Vec<usize>>>()?;
    if offsets.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(damaged());
    }
    Ok(offsets)
}

fn texts(batch: &Batch, buffer: usize, rows: usize, is_there: Option<&[bool]>, is_large: bool) -> Parsed<Vec<Object>> {
    let offsets = offsets(&batch.buffer(buffer + 1)?, rows, is_large)?;
    let bytes = batch.buffer(buffer + 2)?;
    memory::check(
        (rows as u64)
            .checked_mul(32)
            .map(|objects| objects.saturating_add(bytes.len() as u64)),
    )?;
    let text = |(row, pair): (usize, &[usize])| {
        if is_there.is_some_and(|there| !there[row]) {
            return Ok(Object::None);
        }
        let text = bytes.get(pair[0]..pair[1]).ok_or_else(damaged)?;
        match str::from_utf8(text) {
            Ok(text) => Ok(Object::Text(text.to_string())),
            Err(_) => Err(problem!("holds bytes that are not UTF-8 text")),
        }
    };
    offsets.windows(2).enumerate().map(text).collect()
}

/// The names that codes stand for.
fn named(codes: &Data, is_there: Option<&[bool]>, names: &[Object]) -> Parsed<Vec<Object>> {
    let codes: Vec<i64> = match codes {
        Data::F32(values) => (**values).as_ref().iter().map(|&code| code as i64).collect(),
        Data::F64(values) => (**values).as_ref().iter().map(|&code| code as i64).collect(),
        Data::U8(values) => (**values).as_ref().iter().map(|&code| i64::from(code)).collect(),
        Data::I64(values) => values.clone(),
        Data::U64(values) => values.iter().map(|&code| i64::try_from(code).unwrap_or(-1)).collect(),
        _ => return Err(damaged()),
    };
    let mut taken = 0_u64;
    let name = |(row, code): (usize, i64)| {
        if is_there.is_some_and(|there| !there[row]) {
            return Ok(Object::None);
        }
        let name = usize::try_from(code)
            .ok()
            .and_then(|at| names.get(at))
            .ok_or_else(damaged)?;
        // One long name may stand in every row.
        taken = taken.saturating_add(match name {
            Object::Text(text) => 32 + text.len() as u64,
            _ => 32,
        });
        memory::check(Some(taken))?;
        Ok(name.clone())
    };
    codes.into_iter().enumerate().map(name).collect()
}
