// SPDX-License-Identifier: MIT
//! Embeddings as an Arrow stream: a column of vectors of one length for each output, and the ids before them.

use std::path::Path;

use crate::error::Result;
use crate::write::write_whole;

/// A column that is written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ArrowColumn<'a> {
    /// Texts, one per row.
    Texts(&'a [String]),
    /// Vectors of so many numbers, one after the other.
    Vectors(usize, &'a [f32]),
}

/// Writes columns of `rows` rows as an Arrow stream, which pyarrow, polars and `datasets` read.
pub fn write_arrow(path: &Path, rows: usize, columns: &[(String, ArrowColumn)]) -> Result<()> {
    write_whole(path, &stream(rows, columns))
}

fn stream(rows: usize, columns: &[(String, ArrowColumn)]) -> Vec<u8> {
    let mut out = Vec::new();
    message(&mut out, SCHEMA, 0, |flat| schema(flat, columns));
    // Where buffers begin in the body, and how long they are.
    let mut buffers = Vec::new();
    let mut body = Vec::new();
    let mut add = |bytes: &[u8]| {
        buffers.push([body.len() as i64, bytes.len() as i64]);
        body.extend_from_slice(bytes);
        body.resize(body.len().next_multiple_of(8), 0);
    };
    let mut nodes = Vec::new();
    for (_, column) in columns {
        nodes.push([rows as i64, 0]);
        // No bits: no value is missing.
        add(&[]);
        match column {
            ArrowColumn::Texts(texts) => {
                let mut ends = vec![0_i64];
                ends.extend(texts.iter().scan(0, |end, text| {
                    *end += text.len() as i64;
                    Some(*end)
                }));
                add(bytemuck::cast_slice(&ends));
                add(texts.concat().as_bytes());
            }
            ArrowColumn::Vectors(_, values) => {
                nodes.push([values.len() as i64, 0]);
                add(&[]);
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                add(&bytes);
            }
        }
    }
    message(&mut out, BATCH, body.len() as i64, |flat| {
        let batch = flat.table(&[Slot::Long(rows as i64), Slot::Later, Slot::Later]);
        flat.pairs(batch.slots[1], &nodes);
        flat.pairs(batch.slots[2], &buffers);
        batch.at
    });
    out.extend_from_slice(&body);
    out.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    out
}

// What messages and columns are called in the format.
const SCHEMA: i64 = 1;
const BATCH: i64 = 3;
const FLOATING_POINT: i64 = 3;
const LARGE_TEXT: i64 = 20;
const FIXED_SIZE_LIST: i64 = 16;
/// Version 5 of the format.
const VERSION: i64 = 4;
/// 32 bits.
const SINGLE: i64 = 1;

/// A message before its body: how long it is, and its tables.
fn message(out: &mut Vec<u8>, kind: i64, body: i64, header: impl FnOnce(&mut Flat) -> usize) {
    let mut flat = Flat(vec![0; 4]);
    let root = flat.table(&[Slot::Long(VERSION), Slot::Long(kind), Slot::Later, Slot::Long(body)]);
    flat.point(0, root.at);
    let header = header(&mut flat);
    flat.point(root.slots[2], header);
    flat.0.resize(flat.0.len().next_multiple_of(8), 0);
    out.extend_from_slice(&[0xff; 4]);
    out.extend_from_slice(&(flat.0.len() as u32).to_le_bytes());
    out.extend_from_slice(&flat.0);
}

fn schema(flat: &mut Flat, columns: &[(String, ArrowColumn)]) -> usize {
    // The order of bytes, then the columns.
    let schema = flat.table(&[Slot::Long(0), Slot::Later]);
    let fields = flat.vector(schema.slots[1], columns.len());
    for (own, (name, column)) in fields.into_iter().zip(columns) {
        let field = match column {
            ArrowColumn::Texts(_) => flat.field(name, LARGE_TEXT, &[], 0),
            ArrowColumn::Vectors(width, _) => flat.field(name, FIXED_SIZE_LIST, &[Slot::Long(*width as i64)], 1),
        };
        flat.point(own, field.at);
        if let ArrowColumn::Vectors(..) = column {
            let item = flat.field("item", FLOATING_POINT, &[Slot::Long(SINGLE)], 0);
            flat.point(field.children[0], item.at);
        }
    }
    schema.at
}

/// Tables of flatbuffers, written from the first to the last: what a table points to comes after it.
struct Flat(Vec<u8>);

/// A place in a table. All are eight bytes wide; smaller numbers are the first of them.
enum Slot {
    Long(i64),
    /// Points to what is written later.
    Later,
    /// Has its default.
    Default,
}

struct Written {
    at: usize,
    /// Where each place is.
    slots: Vec<usize>,
}

struct WrittenField {
    at: usize,
    /// Where it points to its children.
    children: Vec<usize>,
}

impl Flat {
    fn table(&mut self, slots: &[Slot]) -> Written {
        // First what says where the places are, then how far that is back, which ends at a multiple of eight.
        let head = 4 + 2 * slots.len();
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        let start = self.0.len();
        let at = (start + head + 4).next_multiple_of(8) - 4;
        let size = 4 + 8 * slots.len();
        self.0.extend_from_slice(&(head as u16).to_le_bytes());
        self.0.extend_from_slice(&(size as u16).to_le_bytes());
        for (i, slot) in slots.iter().enumerate() {
            let offset = if matches!(slot, Slot::Default) {
                0
            } else {
                4 + 8 * i as u16
            };
            self.0.extend_from_slice(&offset.to_le_bytes());
        }
        self.0.resize(at, 0);
        self.0.extend_from_slice(&((at - start) as i32).to_le_bytes());
        let mut places = Vec::new();
        for slot in slots {
            places.push(self.0.len());
            let value = if let Slot::Long(value) = slot { *value } else { 0 };
            self.0.extend_from_slice(&value.to_le_bytes());
        }
        Written { at, slots: places }
    }

    /// A column: its name, its kind, what there is to say about the kind, and how many columns it has within.
    fn field(&mut self, name: &str, kind: i64, about: &[Slot], children: usize) -> WrittenField {
        let slots = [
            Slot::Later,
            Slot::Default,
            Slot::Long(kind),
            Slot::Later,
            Slot::Default,
            Slot::Later,
        ];
        let field = self.table(&slots);
        let text = self.0.len();
        self.0.extend_from_slice(&(name.len() as u32).to_le_bytes());
        self.0.extend_from_slice(name.as_bytes());
        self.0.push(0);
        self.point(field.slots[0], text);
        let about = self.table(about);
        self.point(field.slots[3], about.at);
        let children = self.vector(field.slots[5], children);
        WrittenField { at: field.at, children }
    }

    /// A vector of pointers, which the place points to; gives where each is.
    fn vector(&mut self, from: usize, count: usize) -> Vec<usize> {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        let at = self.0.len();
        self.0.extend_from_slice(&(count as u32).to_le_bytes());
        self.0.resize(at + 4 + 4 * count, 0);
        self.point(from, at);
        (0..count).map(|i| at + 4 + 4 * i).collect()
    }

    /// A vector of pairs, which begin at a multiple of eight.
    fn pairs(&mut self, from: usize, pairs: &[[i64; 2]]) {
        let at = (self.0.len() + 4).next_multiple_of(8) - 4;
        self.0.resize(at, 0);
        self.0.extend_from_slice(&(pairs.len() as u32).to_le_bytes());
        pairs
            .iter()
            .flatten()
            .for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self.point(from, at);
    }

    /// A pointer says how far ahead its target is.
    fn point(&mut self, from: usize, to: usize) {
        self.0[from..from + 4].copy_from_slice(&((to - from) as u32).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, InputPath, read_array, read_texts};

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.arrow");
        let (ids, z) = (["a", "", "bé"].map(str::to_string), [1.0_f32, 2.0, 3.0, 4.0, 5.0, -6.0]);
        let columns = [
            ("id".to_string(), ArrowColumn::Texts(&ids)),
            ("z".to_string(), ArrowColumn::Vectors(2, &z)),
            ("w".to_string(), ArrowColumn::Vectors(1, &z[..3])),
        ];
        write_arrow(&path, 3, &columns).unwrap();
        let read = |key: &str| read_array(&InputPath::parse(&format!("{}#{key}", path.display()))).unwrap();
        assert_eq!(
            read_texts(&InputPath::parse(&format!("{}#id", path.display()))).unwrap(),
            ids
        );
        assert_eq!((read("z").shape(), read("w").shape()), (&[3, 2][..], &[3, 1][..]));
        assert!(matches!(read("z").data(), Data::F32(values) if (**values).as_ref() == z));
    }
}
