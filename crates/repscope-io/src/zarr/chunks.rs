// SPDX-License-Identifier: MIT
//! The values of an array out of the files of its chunks. Only files that are there are looked at, however many chunks a description
//! claims; what was never written is what the array is filled with.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::codecs::{Codecs, Values};
use super::layout::{Kind, Layout};
use super::store::{Fault, description_of};
use crate::array::{Data, check_dimensions, count};
use crate::element::{ByteOrder, reserve};
use crate::error::{Error, Parsed, Problem, Result, bail, problem};
use crate::mapped::MappedFile;
use crate::memory;

/// The files that an array was read from.
#[derive(Default)]
pub(super) struct Files {
    pub(super) opened: Vec<(PathBuf, MappedFile)>,
}

impl Files {
    fn open(&mut self, path: &Path) -> Result<MappedFile> {
        let file = MappedFile::open(path)?;
        self.opened.push((path.to_path_buf(), file.clone()));
        Ok(file)
    }
}

pub(super) fn read(layout: &Layout, folder: &Path, files: &mut Files) -> std::result::Result<Data, Fault> {
    check_dimensions(&layout.shape)?;
    files.open(&description_of(folder))?;
    let values = count(&layout.shape).ok_or_else(damaged)?;
    let mut whole = Whole::new(layout, values)?;
    for (at, path) in stored(layout, folder)? {
        let file = files.open(&path)?;
        let chunk = whole.take(layout, &at, &file);
        chunk.map_err(|problem| problem.in_file(path.display()))?;
    }
    Ok(whole.into_data(layout, values)?)
}

fn damaged() -> Problem {
    problem!("is damaged: a chunk does not have the bytes of its values")
}

/// The chunks that are there and where they are in the grid, in its order.
fn stored(layout: &Layout, folder: &Path) -> Result<Vec<(Vec<usize>, PathBuf)>> {
    let folder = layout
        .keys
        .prefix
        .filter(|_| layout.keys.is_nested)
        .map_or_else(|| folder.to_path_buf(), |prefix| folder.join(prefix));
    let chunks = layout.shape.iter().zip(&layout.chunk);
    let grid: Vec<usize> = chunks.map(|(size, chunk)| size.div_ceil(*chunk)).collect();
    let mut found = Vec::new();
    if layout.keys.is_nested {
        nested(&folder, &grid, &mut Vec::new(), &mut found)?;
    } else {
        for (name, path) in names(&folder)? {
            let numbers = match layout.keys.prefix {
                Some(prefix) => name.strip_prefix(prefix).and_then(|name| name.strip_prefix('.')),
                None => Some(name.as_str()),
            };
            let at: Option<Vec<usize>> = numbers.and_then(|numbers| numbers.split('.').map(number).collect());
            let is_inside =
                |at: &Vec<usize>| at.len() == grid.len() && at.iter().zip(&grid).all(|(at, size)| at < size);
            found.extend(at.filter(is_inside).map(|at| (at, path)));
        }
    }
    found.sort();
    Ok(found)
}

/// A folder for each axis but the last.
fn nested(folder: &Path, grid: &[usize], at: &mut Vec<usize>, found: &mut Vec<(Vec<usize>, PathBuf)>) -> Result<()> {
    for (name, path) in names(folder)? {
        let Some(place) = number(&name).filter(|&place| place < grid[at.len()]) else {
            continue;
        };
        at.push(place);
        if at.len() == grid.len() {
            found.push((at.clone(), path));
        } else if path.is_dir() {
            nested(&path, grid, at, found)?;
        }
        at.pop();
    }
    Ok(())
}

fn names(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // Nothing was written.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::read(folder, source)),
    };
    let named = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    Ok(named.collect())
}

/// A number as a chunk has it in its name: without zeros in front.
fn number(name: &str) -> Option<usize> {
    let number: usize = name.parse().ok()?;
    (number.to_string() == name).then_some(number)
}

/// All values, as far as they have been put together.
enum Whole {
    Bytes { bytes: Vec<u8>, width: usize },
    Texts { texts: Vec<String>, taken: u64 },
}

/// The values of one chunk.
enum Chunk<'a> {
    Bytes(Cow<'a, [u8]>),
    Texts(Vec<String>),
}

impl Whole {
    fn new(layout: &Layout, values: usize) -> Parsed<Self> {
        let Some(width) = layout.kind.width() else {
            memory::check((values as u64).checked_mul(size_of::<String>() as u64))?;
            let texts = vec![String::new(); values];
            return Ok(Whole::Texts { texts, taken: 0 });
        };
        let size = values.checked_mul(width).ok_or_else(damaged)?;
        // The bytes, and the numbers that they become.
        memory::check((size as u64).checked_mul(2))?;
        Ok(Whole::Bytes {
            bytes: filled(&layout.fill, size)?,
            width,
        })
    }

    fn take(&mut self, layout: &Layout, at: &[usize], stored: &[u8]) -> Parsed<()> {
        let chunk = decode(stored, &layout.chunk, &layout.codecs, layout)?;
        let strides = strides(&layout.chunk, &layout.codecs.order);
        let place = Place {
            shape: &layout.shape,
            origin: at.iter().zip(&layout.chunk).map(|(at, size)| at * size).collect(),
            chunk: &layout.chunk,
            strides: &strides,
        };
        match (self, chunk) {
            (Whole::Bytes { bytes, width }, Chunk::Bytes(chunk)) => place.copy(&chunk, bytes, *width),
            (Whole::Texts { texts, taken }, Chunk::Texts(chunk)) => {
                *taken += chunk.iter().map(|text| text.len() as u64).sum::<u64>();
                memory::check(Some(*taken))?;
                place.each(|from, to| texts[to].clone_from(&chunk[from]));
                Ok(())
            }
            _ => Err(damaged()),
        }
    }

    fn into_data(self, layout: &Layout, values: usize) -> Parsed<Data> {
        let (bytes, width) = match self {
            Whole::Texts { texts, .. } => return Ok(Data::Text(texts)),
            Whole::Bytes { bytes, width } => (bytes, width),
        };
        let order = match layout.kind {
            Kind::Number(element, order) => return element.read(&mut bytes.as_slice(), order, values),
            Kind::Unicode(_, order) => Some(order),
            Kind::Bytes(_) | Kind::Texts => None,
        };
        if width == 0 {
            return Ok(Data::Text(vec![String::new(); values]));
        }
        memory::check((values as u64).checked_mul(size_of::<String>() as u64))?;
        bytes
            .chunks_exact(width)
            .map(|text| fixed(text, order))
            .collect::<Parsed<_>>()
            .map(Data::Text)
    }
}

/// A text of fixed length, without the zeros behind it: UTF-32 of a byte order, or bytes.
fn fixed(bytes: &[u8], order: Option<ByteOrder>) -> Parsed<String> {
    let text = match order {
        None => str::from_utf8(bytes).ok().map(str::to_string),
        Some(order) => bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&code| {
                char::from_u32(match order {
                    ByteOrder::Little => u32::from_le_bytes(code),
                    ByteOrder::Big => u32::from_be_bytes(code),
                })
            })
            .collect(),
    };
    match text {
        Some(text) => Ok(text.trim_end_matches('\0').to_string()),
        None => bail!("holds what is no text"),
    }
}

/// So many bytes of a value that is repeated.
fn filled(value: &[u8], size: usize) -> Parsed<Vec<u8>> {
    if value.iter().all(|&byte| byte == 0) {
        return Ok(vec![0; size]);
    }
    let mut bytes = reserve(size)?;
    bytes.extend(value.iter().cycle().take(size));
    Ok(bytes)
}

/// How far the next value along each axis of the array is in a stored chunk, whose axes stand in another order.
fn strides(chunk: &[usize], order: &[usize]) -> Vec<usize> {
    let mut strides = vec![0; chunk.len()];
    let mut step = 1;
    for &axis in order.iter().rev() {
        strides[axis] = step;
        step *= chunk[axis];
    }
    strides
}

/// The values of a chunk as it is stored.
fn decode<'a>(stored: &'a [u8], chunk: &[usize], codecs: &Codecs, layout: &Layout) -> Parsed<Chunk<'a>> {
    let values = count(chunk).ok_or_else(damaged)?;
    let size = layout.kind.width().and_then(|width| values.checked_mul(width));
    memory::check(Some(size.unwrap_or(0) as u64))?;
    // What an index and checksums add to shards is not known.
    let expected = size.filter(|_| matches!(codecs.values, Values::Fixed));
    let mut bytes = Cow::Borrowed(stored);
    for packing in &codecs.packed {
        bytes = packing.undo(bytes, expected)?;
    }
    match &codecs.values {
        Values::Texts => texts(&bytes, values).map(Chunk::Texts),
        Values::Fixed => match Some(bytes.len()) == size {
            true => Ok(Chunk::Bytes(bytes)),
            false => Err(problem!(
                "is damaged: the chunk has {} bytes, and its values take {}",
                bytes.len(),
                size.unwrap_or(0)
            )),
        },
        Values::Shards(shards) => {
            let (size, width) = size.zip(layout.kind.width()).ok_or_else(damaged)?;
            // A shard is laid out as its array is, with the axes in the order in which it is stored.
            let outer: Vec<usize> = codecs.order.iter().map(|&axis| chunk[axis]).collect();
            let mut whole = filled(&layout.fill, size)?;
            let parts = shards.parts(&bytes, &outer)?;
            let strides = strides(&shards.chunk, &shards.codecs.order);
            let mut origin = vec![0; outer.len()];
            for part in parts {
                if let Some(part) = part {
                    let Chunk::Bytes(part) = decode(part, &shards.chunk, &shards.codecs, layout)? else {
                        return Err(damaged());
                    };
                    let place = Place {
                        shape: &outer,
                        origin: origin.clone(),
                        chunk: &shards.chunk,
                        strides: &strides,
                    };
                    place.copy(&part, &mut whole, width)?;
                }
                for axis in (0..outer.len()).rev() {
                    origin[axis] += shards.chunk[axis];
                    if origin[axis] < outer[axis] {
                        break;
                    }
                    origin[axis] = 0;
                }
            }
            Ok(Chunk::Bytes(whole.into()))
        }
    }
}

/// Texts behind their lengths, after how many there are.
fn texts(mut bytes: &[u8], expected: usize) -> Parsed<Vec<String>> {
    let mut take = |length: usize| {
        let (taken, rest) = bytes.split_at_checked(length).ok_or_else(damaged)?;
        bytes = rest;
        Ok::<_, Problem>(taken)
    };
    let number = |bytes: &[u8]| {
        bytes
            .first_chunk()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
    };
    let stored = number(take(4)?);
    if stored != expected {
        bail!("is damaged: the chunk has {stored} texts, and {expected} were expected");
    }
    let mut texts = Vec::new();
    for _ in 0..stored {
        let length = number(take(4)?);
        match str::from_utf8(take(length)?) {
            Ok(text) => texts.push(text.to_string()),
            Err(_) => bail!("holds bytes that are not UTF-8 text"),
        }
    }
    Ok(texts)
}

/// Where the values of a chunk belong.
struct Place<'a> {
    shape: &'a [usize],
    origin: Vec<usize>,
    chunk: &'a [usize],
    strides: &'a [usize],
}

impl Place<'_> {
    /// Copies values of some bytes, along the last axis at once where they stand together.
    fn copy(&self, chunk: &[u8], whole: &mut [u8], width: usize) -> Parsed<()> {
        let is_whole = self.strides.last() == Some(&1);
        let run = if is_whole { self.extent(self.shape.len() - 1) } else { 1 };
        let mut is_inside = true;
        self.runs(run, |from, to| {
            let own = chunk.get(from * width..(from + run) * width);
            match (own, whole.get_mut(to * width..(to + run) * width)) {
                (Some(own), Some(place)) => place.copy_from_slice(own),
                _ => is_inside = false,
            }
        });
        is_inside.then_some(()).ok_or_else(damaged)
    }

    fn each(&self, take: impl FnMut(usize, usize)) {
        self.runs(1, take);
    }

    /// How many values of the chunk are in the array along an axis: it may reach over the edge.
    fn extent(&self, axis: usize) -> usize {
        self.chunk[axis].min(self.shape[axis].saturating_sub(self.origin[axis]))
    }

    /// The first value of each run of so many values along the last axis, in the chunk and in the array.
    fn runs(&self, run: usize, mut take: impl FnMut(usize, usize)) {
        let extents: Vec<usize> = (0..self.shape.len()).map(|axis| self.extent(axis)).collect();
        if extents.contains(&0) {
            return;
        }
        let mut at = vec![0; extents.len()];
        let last = extents.len() - 1;
        loop {
            let from = at.iter().zip(self.strides).map(|(at, stride)| at * stride).sum();
            let to = (0..at.len()).fold(0, |to, axis| to * self.shape[axis] + self.origin[axis] + at[axis]);
            take(from, to);
            let mut axis = last;
            at[axis] += run;
            while at[axis] >= extents[axis] {
                at[axis] = 0;
                let Some(before) = axis.checked_sub(1) else { return };
                axis = before;
                at[axis] += 1;
            }
        }
    }
}
