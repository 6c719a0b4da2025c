// SPDX-License-Identifier: MIT
//! Arrow files and streams, Feather among them: `.arrow`, `.feather`, `.ipc`. One column is one array; a column of lists is a matrix.
//!
//! A file is a stream with a list of its batches behind it, so both are read alike: message by message, of which the first says what
//! the columns are. The few tables of flatbuffers that this needs are read by hand (`table`).

mod batch;
mod schema;
mod table;
mod write;

use crate::array::{Array, ArrayInfo, Data, Object};
use crate::choose::choose;
use crate::error::{Parsed, bail};
use crate::mapped::MappedFile;
use crate::read::Take;
use batch::{Batch, Dictionaries, Place, column};
use schema::{Field, Kind, Lists};
use table::{Table, damaged};

pub use write::{ArrowColumn, write_arrow};

/// What stands before every message, since version 0.15 of Arrow.
const MARK: [u8; 4] = [0xff; 4];

/// What begins a file; a stream begins with a message.
pub(crate) const MAGIC: &[u8] = b"ARROW1";

/// Whether bytes may be a stream: a mark, and a message of some size.
pub(crate) fn is_stream(bytes: &[u8]) -> bool {
    bytes.starts_with(&MARK)
}

/// The columns that can be read.
pub(crate) fn list(file: &MappedFile) -> Parsed<Vec<ArrayInfo>> {
    let (fields, rows, _) = look(file)?;
    Ok(infos(&fields, rows))
}

/// Reads one column.
pub(crate) fn read(file: &MappedFile, key: Option<&str>) -> Parsed<Array> {
    let (fields, rows, _) = look(file)?;
    if let Some(field) = fields.iter().find(|field| Some(field.name.as_str()) == key)
        && let Kind::Other(what) = field.kind
    {
        bail!("holds {what} in column `{}`, which are not read", field.name);
    }
    let readable = infos(&fields, rows);
    let chosen = readable[choose(&readable, key, "column")?]
        .key
        .clone()
        .unwrap_or_default();
    read_column(file, &fields, &chosen)
}

/// Reads every column, one after the other.
pub(crate) fn read_each(file: &MappedFile, take: Take) -> Parsed<()> {
    let (fields, rows, _) = look(file)?;
    for info in infos(&fields, rows) {
        let name = info.key.clone().unwrap_or_default();
        take(info.key, read_column(file, &fields, &name))?;
    }
    Ok(())
}

fn infos(fields: &[Field], rows: usize) -> Vec<ArrayInfo> {
    let info = |field: &Field| {
        let dtype = field.dtype()?;
        let shape = match field.kind {
            Kind::List(Lists::Of(width), _) => vec![rows, width],
            _ => vec![rows],
        };
        Some(ArrayInfo::new(Some(field.name.clone()), &shape, dtype))
    };
    fields.iter().filter_map(info).collect()
}

/// The columns, how many rows there are, and how many messages.
fn look(file: &MappedFile) -> Parsed<(Vec<Field>, usize, usize)> {
    let mut messages = Messages::of(file)?;
    let fields = messages.schema()?;
    let (mut rows, mut count) = (0_usize, 0);
    while let Some(message) = messages.next()? {
        count += 1;
        if let Header::Batch(table) = message.header {
            let more = usize::try_from(table.long(0)?).map_err(|_| damaged())?;
            rows = rows.checked_add(more).ok_or_else(damaged)?;
        }
    }
    Ok((fields, rows, count))
}

fn read_column(file: &MappedFile, fields: &[Field], name: &str) -> Parsed<Array> {
    let Some(at) = fields.iter().position(|field| field.name == name) else {
        return Err(damaged());
    };
    let field = &fields[at];
    let mut place = Place { node: 0, buffer: 0 };
    for before in &fields[..at] {
        let Some((nodes, buffers)) = before.parts else {
            let Kind::Other(what) = before.kind else {
                return Err(damaged());
            };
            bail!(
                "holds {what} in column `{}`, behind which nothing is read; write it without that column",
                before.name
            );
        };
        place.node += nodes;
        place.buffer += buffers;
    }
    let mut messages = Messages::of(file)?;
    messages.schema()?;
    let mut dictionaries = Dictionaries::new();
    let (mut parts, mut rows, mut width) = (Vec::new(), 0_usize, None);
    while let Some(message) = messages.next()? {
        match message.header {
            Header::Batch(table) => {
                let batch = Batch::read(table, message.body)?;
                let part = column(&batch, field, place, &dictionaries)?;
                if let (Some(before), Some(now)) = (width, part.width)
                    && before != now
                {
                    bail!(
                        "has lists of different lengths in column `{name}`: {before} and {now}; embeddings must have one length"
                    );
                }
                width = width.or(part.width);
                rows += batch.rows;
                parts.push(part.data);
            }
            Header::Dictionary(table) => {
                let id = table.long(0)?;
                if field.dictionary.is_none_or(|(_, own)| own != id) {
                    continue;
                }
                let batch = Batch::read(table.table(1)?.ok_or_else(damaged)?, message.body)?;
                let values = Field {
                    dictionary: None,
                    ..field.clone()
                };
                let names = column(&batch, &values, Place { node: 0, buffer: 0 }, &dictionaries)?;
                let names = objects(names.data);
                let is_delta = table.byte(2)? != 0;
                match dictionaries.get_mut(&id) {
                    Some(there) if is_delta => there.extend(names),
                    _ => drop(dictionaries.insert(id, names)),
                }
            }
            Header::Other => {}
        }
    }
    let data = Data::joined(parts)?;
    let is_list = matches!(field.kind, Kind::List(..)) && field.dictionary.is_none();
    let shape = if is_list {
        vec![rows, width.unwrap_or(0)]
    } else {
        vec![rows]
    };
    let data = match data {
        Data::Mixed(objects) => Data::from_objects(objects),
        data => data,
    };
    let dtype = match &data {
        Data::Text(_) | Data::Mixed(_) => "str",
        _ => field.dtype().unwrap_or_default(),
    };
    Array::checked(shape, dtype, data)
}

fn objects(data: Data) -> Vec<Object> {
    match data {
        Data::Mixed(objects) => objects,
        Data::Text(texts) => texts.into_iter().map(Object::Text).collect(),
        Data::I64(values) => values.into_iter().map(Object::Int).collect(),
        Data::U64(values) => values.into_iter().map(|value| Object::Float(value as f64)).collect(),
        Data::Bool(values) => values.into_iter().map(Object::Bool).collect(),
        Data::F32(values) => (*values)
            .as_ref()
            .iter()
            .map(|&value| Object::Float(f64::from(value)))
            .collect(),
        Data::F64(values) => (*values).as_ref().iter().map(|&value| Object::Float(value)).collect(),
        Data::U8(values) => (*values)
            .as_ref()
            .iter()
            .map(|&value| Object::Int(i64::from(value)))
            .collect(),
        Data::Elsewhere(_) => Vec::new(), // no file is read into it
    }
}

/// What a message is.
enum Header<'a> {
    Dictionary(Table<'a>),
    Batch(Table<'a>),
    Other,
}

struct Message<'a> {
    header: Header<'a>,
    body: &'a [u8],
}

/// Messages one after the other.
struct Messages<'a> {
    rest: &'a [u8],
}

impl<'a> Messages<'a> {
    fn of(file: &'a MappedFile) -> Parsed<Self> {
        let bytes: &[u8] = file;
        let rest = match bytes.strip_prefix(MAGIC) {
            // Two bytes fill up to eight.
            Some(rest) => rest.get(2..).ok_or_else(damaged)?,
            None => bytes,
        };
        Ok(Messages { rest })
    }

    /// The next message and the bytes behind it; none at the end.
    fn take(&mut self) -> Parsed<Option<(Table<'a>, &'a [u8])>> {
        let after = self.rest.strip_prefix(&MARK).unwrap_or(self.rest);
        let Some((size, rest)) = after.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let size = u32::from_le_bytes(*size) as usize;
        if size == 0 {
            return Ok(None);
        }
        let cut = || crate::error::Problem::new("ends too early; it may have been cut off while copying");
        let (message, rest) = rest.split_at_checked(size).ok_or_else(cut)?;
        let table = Table::root(message)?;
        let length = usize::try_from(table.long(3)?).map_err(|_| damaged())?;
        let (body, rest) = rest.split_at_checked(length).ok_or_else(cut)?;
        self.rest = rest;
        Ok(Some((table, body)))
    }

    fn schema(&mut self) -> Parsed<Vec<Field>> {
        let Some((message, _)) = self.take()? else {
            bail!("holds no columns");
        };
        let schema = message.table(2)?.filter(|_| matches!(message.byte(1), Ok(1)));
        let Some(schema) = schema else {
            bail!("is damaged: it does not begin with its columns");
        };
        if schema.short(0)? != 0 {
            bail!("holds numbers whose first byte is the highest; write it on a usual machine");
        }
        Field::all(schema.tables(1)?)
    }

    fn next(&mut self) -> Parsed<Option<Message<'a>>> {
        let Some((message, body)) = self.take()? else {
            return Ok(None);
        };
        let header = match (message.byte(1)?, message.table(2)?) {
            (2, Some(table)) => Header::Dictionary(table),
            (3, Some(table)) => Header::Batch(table),
            _ => Header::Other,
        };
        Ok(Some(Message { header, body }))
    }
}
