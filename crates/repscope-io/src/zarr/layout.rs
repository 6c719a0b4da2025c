// SPDX-License-Identifier: MIT
//! How an array is stored, as its `zarr.json` (version 3) or `.zarray` (version 2) says it.

use serde_json::Value;

use super::codecs::{Codecs, Packing, Shards, Values};
use crate::array::{Shape, count};
use crate::element::{ByteOrder, Element};
use crate::error::{Parsed, bail, problem};

/// More dimensions than NumPy has are refused.
const DIMENSIONS: usize = 64;

pub(super) struct Layout {
    pub(super) shape: Vec<usize>,
    /// The shape of every chunk; those at the edges are stored as a whole.
    pub(super) chunk: Vec<usize>,
    pub(super) kind: Kind,
    /// A value that was never written: its bytes, none for texts.
    pub(super) fill: Vec<u8>,
    pub(super) keys: Keys,
    pub(super) codecs: Codecs,
}

/// How the file of a chunk is called: `c/0/1`, or `0.1`.
pub(super) struct Keys {
    pub(super) prefix: Option<&'static str>,
    pub(super) is_nested: bool,
}

/// What the values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number(Element, ByteOrder),
    /// UTF-32 texts of so many characters.
    Unicode(usize, ByteOrder),
    /// Byte strings of so many bytes.
    Bytes(usize),
    /// Texts of any length.
    Texts,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Number(element, _) => element.name(),
            Kind::Unicode(..) | Kind::Bytes(_) | Kind::Texts => "str",
        }
    }

    /// Bytes of a value; none where they vary.
    pub(super) fn width(self) -> Option<usize> {
        match self {
            Kind::Number(element, _) => Some(element.bytes()),
            Kind::Unicode(characters, _) => characters.checked_mul(4),
            Kind::Bytes(bytes) => Some(bytes),
            Kind::Texts => None,
        }
    }
}

impl Layout {
    pub(super) fn version_3(node: &Value) -> Parsed<Layout> {
        let shape = sizes(&node["shape"], "shape")?;
        let grid = &node["chunk_grid"];
        if grid["name"] != "regular" {
            bail!(
                "has chunks on a grid of kind {}, and regular grids are read",
                grid["name"]
            );
        }
        let chunk = sizes(&grid["configuration"]["chunk_shape"], "chunk_shape")?;
        let mut kind = kind_3(&node["data_type"])?;
        let codecs = codecs_3(&node["codecs"], &chunk, &mut kind)?;
        let encoding = &node["chunk_key_encoding"];
        let (prefix, usual) = match encoding["name"].as_str() {
            Some("default") => (Some("c"), "/"),
            Some("v2") => (None, "."),
            _ => bail!("names its chunks in a way that is not known: {}", encoding["name"]),
        };
        let keys = Keys {
            prefix,
            is_nested: is_nested(&encoding["configuration"]["separator"], usual)?,
        };
        Layout {
            fill: fill(&node["fill_value"], kind)?,
            shape,
            chunk,
            kind,
            keys,
            codecs,
        }
        .checked()
    }

    pub(super) fn version_2(array: &Value) -> Parsed<Layout> {
        if array["zarr_format"] != 2 {
            bail!("is of version {} of Zarr; 2 and 3 are read", array["zarr_format"]);
        }
        let shape = sizes(&array["shape"], "shape")?;
        let chunk = sizes(&array["chunks"], "chunks")?;
        let mut packed = Vec::new();
        let mut values = Values::Fixed;
        let filters = array["filters"].as_array().cloned().unwrap_or_default();
        let mut filters = filters.as_slice();
        if let [first, rest @ ..] = filters
            && first["id"] == "vlen-utf8"
        {
            (values, filters) = (Values::Texts, rest);
        }
        for filter in filters.iter().chain([&array["compressor"]]) {
            if !filter.is_null() {
                packed.push(Packing::known(filter["id"].as_str().unwrap_or("?"), filter)?);
            }
        }
        packed.reverse();
        let kind = match (kind_2(&array["dtype"])?, &values) {
            (None, Values::Texts) => Kind::Texts,
            (None, _) => bail!("holds objects of Python, which are not read"),
            (Some(kind), _) => {
                values = Values::Fixed;
                kind
            }
        };
        let axes: Vec<usize> = (0..chunk.len()).collect();
        let order = match array["order"].as_str() {
            Some("F") => axes.into_iter().rev().collect(),
            _ => axes,
        };
        let keys = Keys {
            prefix: None,
            is_nested: is_nested(&array["dimension_separator"], ".")?,
        };
        Layout {
            fill: fill(&array["fill_value"], kind)?,
            shape,
            chunk,
            kind,
            keys,
            codecs: Codecs { order, values, packed },
        }
        .checked()
    }

    fn checked(self) -> Parsed<Self> {
        let (shape, chunk) = (Shape(&self.shape), Shape(&self.chunk));
        if self.shape.len() != self.chunk.len() || self.chunk.contains(&0) {
            bail!("is damaged: it has shape {shape} in chunks of {chunk}");
        }
        let width = self.kind.width().unwrap_or(1);
        let bytes = [&self.shape, &self.chunk].map(|sizes| count(sizes).and_then(|count| count.checked_mul(width)));
        if bytes
            .iter()
            .any(|bytes| bytes.is_none_or(|bytes| bytes > isize::MAX as usize))
        {
            bail!("has shape {shape} in chunks of {chunk}, more than can be addressed");
        }
        Ok(self)
    }
}

fn sizes(value: &Value, name: &str) -> Parsed<Vec<usize>> {
    let sizes = value.as_array().filter(|sizes| sizes.len() <= DIMENSIONS);
    let sizes = sizes.and_then(|sizes| sizes.iter().map(|size| size.as_u64()?.try_into().ok()).collect());
    sizes.ok_or_else(|| problem!("is damaged: its `{name}` is no list of at most {DIMENSIONS} sizes"))
}

fn is_nested(separator: &Value, usual: &str) -> Parsed<bool> {
    match separator.as_str().unwrap_or(usual) {
        "/" => Ok(true),
        "." => Ok(false),
        other => bail!("is damaged: the names of its chunks are put together with {other:?}"),
    }
}

const NUMBERS: [(&str, Element); 13] = [
    ("bool", Element::Bool),
    ("int8", Element::I8),
    ("uint8", Element::U8),
    ("int16", Element::I16),
    ("uint16", Element::U16),
    ("int32", Element::I32),
    ("uint32", Element::U32),
    ("int64", Element::I64),
    ("uint64", Element::U64),
    ("float16", Element::F16),
    ("bfloat16", Element::BF16),
    ("float32", Element::F32),
    ("float64", Element::F64),
];

/// The kind of version 3; its codecs say which byte comes first.
fn kind_3(name: &Value) -> Parsed<Kind> {
    let (plain, length) = (
        name.as_str().or_else(|| name["name"].as_str()),
        &name["configuration"]["length_bytes"],
    );
    let length = length
        .as_u64()
        .and_then(|length| usize::try_from(length).ok())
        .unwrap_or(0);
    let plain = plain.unwrap_or("?");
    if let Some((_, element)) = NUMBERS.iter().find(|(name, _)| *name == plain) {
        return Ok(Kind::Number(*element, ByteOrder::Little));
    }
    match plain {
        "string" => Ok(Kind::Texts),
        "fixed_length_utf32" => Ok(Kind::Unicode(length / 4, ByteOrder::Little)),
        "null_terminated_bytes" => Ok(Kind::Bytes(length)),
        other => bail!("holds values of type {other}; numbers and texts are read"),
    }
}

/// The kind of version 2, as NumPy writes it: `<f4`. None for objects.
fn kind_2(name: &Value) -> Parsed<Option<Kind>> {
    let name = name.as_str().unwrap_or("records");
    let unknown = || problem!("holds values of type {name}; numbers and texts are read");
    let (order, rest) = name.split_at_checked(1).ok_or_else(unknown)?;
    let (kind, size) = rest.split_at_checked(1).ok_or_else(unknown)?;
    let order = match order {
        ">" => ByteOrder::Big,
        "<" | "|" => ByteOrder::Little,
        _ => return Err(unknown()),
    };
    let element = match (kind, size) {
        ("O", _) => return Ok(None),
        ("b", "1") => Element::Bool,
        ("i", "1") => Element::I8,
        ("u", "1") => Element::U8,
        ("i", "2") => Element::I16,
        ("u", "2") => Element::U16,
        ("i", "4") => Element::I32,
        ("u", "4") => Element::U32,
        ("i", "8") => Element::I64,
        ("u", "8") => Element::U64,
        ("f", "2") => Element::F16,
        ("f", "4") => Element::F32,
        ("f", "8") => Element::F64,
        ("U", length) => return Ok(Some(Kind::Unicode(length.parse().map_err(|_| unknown())?, order))),
        ("S", length) => return Ok(Some(Kind::Bytes(length.parse().map_err(|_| unknown())?))),
        _ => return Err(unknown()),
    };
    Ok(Some(Kind::Number(element, order)))
}

/// The codecs of version 3: transpositions, one that makes bytes of values, and those that pack bytes.
pub(super) fn codecs_3(list: &Value, chunk: &[usize], kind: &mut Kind) -> Parsed<Codecs> {
    let Some(list) = list.as_array() else {
        bail!("is damaged: it has no list of codecs");
    };
    let mut order: Vec<usize> = (0..chunk.len()).collect();
    let (mut values, mut packed) = (None, Vec::new());
    for codec in list {
        let name = codec["name"].as_str().or_else(|| codec.as_str()).unwrap_or("?");
        let about = &codec["configuration"];
        if values.is_some() {
            packed.push(Packing::known(name, about)?);
            continue;
        }
        match name {
            "transpose" => {
                let axes = sizes(&about["order"], "order")?;
                let mut sorted = axes.clone();
                sorted.sort_unstable();
                if sorted != (0..chunk.len()).collect::<Vec<_>>() {
                    bail!("is damaged: its axes are put into the order {}", Shape(&axes));
                }
                order = axes.iter().map(|&axis| order[axis]).collect();
            }
            "bytes" => {
                if about["endian"] == "big" {
                    *kind = match *kind {
                        Kind::Number(element, _) => Kind::Number(element, ByteOrder::Big),
                        Kind::Unicode(length, _) => Kind::Unicode(length, ByteOrder::Big),
                        other => other,
                    };
                }
                values = Some(Values::Fixed);
            }
            "vlen-utf8" => values = Some(Values::Texts),
            "sharding_indexed" => values = Some(Values::Shards(Box::new(Shards::new(about, chunk, kind)?))),
            other => bail!("is stored with the codec {other}, which is not read"),
        }
    }
    let Some(values) = values.filter(|values| matches!(values, Values::Texts) == (*kind == Kind::Texts)) else {
        bail!("is damaged: its codecs do not fit its values");
    };
    packed.reverse();
    Ok(Codecs { order, values, packed })
}

/// The bytes of a value that was never written.
fn fill(value: &Value, kind: Kind) -> Parsed<Vec<u8>> {
    let Some(width) = kind.width() else {
        return Ok(Vec::new());
    };
    let Kind::Number(element, order) = kind else {
        return Ok(vec![0; width]); // an empty text
    };
    let number = match value {
        Value::Null => 0.0,
        Value::Bool(is_true) => f64::from(u8::from(*is_true)),
        Value::Number(number) => number.as_f64().unwrap_or(0.0),
        Value::String(text) => match text.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            other => bail!("is filled with {other:?}, which is no number"),
        },
        _ => bail!("is filled with what is no number"),
    };
    let whole = value.as_i64().unwrap_or(number as i64);
    let mut bytes = match element {
        Element::F16 => half::f16::from_f64(number).to_le_bytes().to_vec(),
        Element::BF16 => half::bf16::from_f64(number).to_le_bytes().to_vec(),
        Element::F32 => (number as f32).to_le_bytes().to_vec(),
        Element::F64 => number.to_le_bytes().to_vec(),
        Element::U64 => value.as_u64().unwrap_or(whole as u64).to_le_bytes().to_vec(),
        _ => whole.to_le_bytes()[..width].to_vec(),
    };
    if order == ByteOrder::Big {
        bytes.reverse();
    }
    Ok(bytes)
}
