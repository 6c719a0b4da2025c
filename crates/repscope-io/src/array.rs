// SPDX-License-Identifier: MIT
//! An array as a file holds it, before it is known to be a space or labels.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use repscope_core::blocks::Elsewhere;
use serde::{Deserialize, Serialize};

use crate::error::{Parsed, bail};
use crate::mapped::MappedFile;
use crate::memory;

/// A shape, the name of the stored number type, and the values in C order (last index fastest).
#[derive(Debug, Clone)]
pub struct Array {
    shape: Vec<usize>,
    dtype: String,
    data: Data,
    /// The file that it was read from.
    file: Option<MappedFile>,
    /// The files that it was put together from.
    shards: Arc<[(PathBuf, MappedFile)]>,
}

/// The values of an [`Array`]. Bytes stay bytes, as images are large. Halves and other integers up to 16 bits
/// are held as `f32`, 32-bit integers as `f64`, both exactly; [`Array::dtype`] still says how they were stored.
#[derive(Clone)]
#[non_exhaustive]
pub enum Data {
    /// Single precision, possibly inside a mapped file.
    F32(Arc<dyn AsRef<[f32]> + Send + Sync>),
    /// Double precision, possibly inside a mapped file.
    F64(Arc<dyn AsRef<[f64]> + Send + Sync>),
    /// Bytes, possibly inside a mapped file.
    U8(Arc<dyn AsRef<[u8]> + Send + Sync>),
    /// 64-bit integers, which `f64` could not hold exactly.
    I64(Vec<i64>),
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Strings.
    Text(Vec<String>),
    /// Python objects of different kinds.
    Mixed(Vec<Object>),
    /// Numbers that only workers can read.
    Elsewhere(Arc<Elsewhere>),
}

/// One plain Python object out of an object array.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Object {
    /// Nothing there.
    None,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A string.
    Text(String),
}

/// What is known of an array without reading its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayInfo {
    /// What to write after `#`; `None` for a file of one unnamed array.
    pub key: Option<String>,
    /// The shape; a parquet column of lists shows its rows only.
    pub shape: Vec<usize>,
    /// Short name of the stored type: `f32`, `i64`, `str`.
    pub dtype: String,
}

impl ArrayInfo {
    /// An array that is known by this key.
    pub fn new(key: Option<String>, shape: &[usize], dtype: &str) -> Self {
        ArrayInfo {
            key,
            shape: shape.to_vec(),
            dtype: dtype.to_string(),
        }
    }
}

impl Array {
    /// An array whose values fill its shape, which has at least one dimension.
    pub fn new(shape: Vec<usize>, dtype: &str, data: Data) -> repscope_core::Result<Self> {
        Array::checked(shape, dtype, data).map_err(|p| repscope_core::Error::Input(format!("the array {p}")))
    }

    /// Double precision in row order.
    pub fn from_f64(shape: Vec<usize>, values: Vec<f64>) -> repscope_core::Result<Self> {
        Array::new(shape, "f64", Data::f64(values))
    }

    /// Single precision in row order.
    pub fn from_f32(shape: Vec<usize>, values: Vec<f32>) -> repscope_core::Result<Self> {
        Array::new(shape, "f32", Data::f32(values))
    }

    pub(crate) fn checked(shape: Vec<usize>, dtype: &str, data: Data) -> Parsed<Self> {
        check_dimensions(&shape)?;
        if count(&shape) != Some(data.len()) {
            bail!("has shape {} but {} values", Shape(&shape), data.len());
        }
        Ok(Array {
            shape,
            dtype: dtype.to_string(),
            data,
            file: None,
            shards: Arc::from([]),
        })
    }

    /// The same, read from this file.
    pub(crate) fn read_from(self, file: MappedFile) -> Self {
        Array {
            file: Some(file),
            ..self
        }
    }

    /// The same, put together from these files.
    pub(crate) fn read_from_shards(self, shards: Vec<(PathBuf, MappedFile)>) -> Self {
        let shards = shards.into();
        Array { shards, ..self }
    }

    /// The files that it was put together from.
    pub(crate) fn shards(&self) -> &[(PathBuf, MappedFile)] {
        &self.shards
    }

    /// The file that it was read from; `None` for one of memory.
    pub(crate) fn file(&self) -> Option<&MappedFile> {
        self.file.as_ref()
    }

    /// The sizes of its dimensions, at least one.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Short name of the type in the file: `f32`, `f16`, `i64`, `u8`, `bool`, `str`, `object`.
    pub fn dtype(&self) -> &str {
        &self.dtype
    }

    /// The values.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The first dimension: how many samples.
    pub fn rows(&self) -> usize {
        self.shape[0]
    }

    pub(crate) fn into_data(self) -> Data {
        self.data
    }
}

impl Data {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Data::F32(v) => (**v).as_ref().len(),
            Data::F64(v) => (**v).as_ref().len(),
            Data::U8(v) => (**v).as_ref().len(),
            Data::I64(v) => v.len(),
            Data::U64(v) => v.len(),
            Data::Bool(v) => v.len(),
            Data::Text(v) => v.len(),
            Data::Mixed(v) => v.len(),
            Data::Elsewhere(v) => v.rows * v.columns,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn f32(values: Vec<f32>) -> Self {
        Data::F32(Arc::new(values))
    }

    pub(crate) fn f64(values: Vec<f64>) -> Self {
        Data::F64(Arc::new(values))
    }

    pub(crate) fn u8(values: Vec<u8>) -> Self {
        Data::U8(Arc::new(values))
    }

    /// One after the other; of one kind, or all texts.
    pub(crate) fn joined(mut parts: Vec<Data>) -> Parsed<Data> {
        if parts.len() == 1 {
            return Ok(parts.remove(0));
        }
        let bytes = parts.iter().map(|part| part.len() as u64 * 8).sum::<u64>();
        memory::check(Some(bytes))?;
        let texts = |part: &Data| matches!(part, Data::Text(_) | Data::Mixed(_));
        if parts.iter().any(texts) {
            if !parts.iter().all(texts) {
                bail!("holds texts in some parts and numbers in others");
            }
            let objects = parts.into_iter().flat_map(|part| match part {
                Data::Text(texts) => texts.into_iter().map(Object::Text).collect(),
                Data::Mixed(objects) => objects,
                _ => Vec::new(),
            });
            return Ok(Data::from_objects(objects.collect()));
        }
        fn all<T: Clone>(parts: &[Data], values: impl Fn(&Data) -> Option<&[T]>) -> Option<Vec<T>> {
            let mut whole = Vec::new();
            parts
                .iter()
                .try_for_each(|part| values(part).map(|values| whole.extend_from_slice(values)))?;
            Some(whole)
        }
        let bytes = all(&parts, |part| match part {
            Data::U8(values) => Some((**values).as_ref()),
            _ => None,
        });
        let singles = all(&parts, |part| match part {
            Data::F32(values) => Some((**values).as_ref()),
            _ => None,
        });
        let doubles = all(&parts, |part| match part {
            Data::F64(values) => Some((**values).as_ref()),
            _ => None,
        });
        let integers = all(&parts, |part| match part {
            Data::I64(values) => Some(values.as_slice()),
            _ => None,
        });
        let unsigned = all(&parts, |part| match part {
            Data::U64(values) => Some(values.as_slice()),
            _ => None,
        });
        let truths = all(&parts, |part| match part {
            Data::Bool(values) => Some(values.as_slice()),
            _ => None,
        });
        match (bytes, singles, doubles, integers, unsigned, truths) {
            // Nothing at all is a matrix without rows.
            (_, Some(values), ..) => Ok(Data::f32(values)),
            (Some(values), ..) => Ok(Data::u8(values)),
            (_, _, Some(values), ..) => Ok(Data::f64(values)),
            (_, _, _, Some(values), ..) => Ok(Data::I64(values)),
            (_, _, _, _, Some(values), _) => Ok(Data::U64(values)),
            (.., Some(values)) => Ok(Data::Bool(values)),
            _ => bail!("holds numbers of different kinds in its parts; write all with one kind"),
        }
    }

    /// Objects that are all of one kind become data of that kind.
    pub fn from_objects(objects: Vec<Object>) -> Self {
        if !objects.is_empty() && objects.iter().all(|o| matches!(o, Object::Text(_))) {
            let texts = objects.into_iter().filter_map(|o| match o {
                Object::Text(text) => Some(text),
                _ => None,
            });
            return Data::Text(texts.collect());
        }
        fn each<T>(objects: &[Object], value: impl Fn(&Object) -> Option<T>) -> Option<Vec<T>> {
            let values: Option<Vec<T>> = objects.iter().map(value).collect();
            values.filter(|values| !values.is_empty())
        }
        if let Some(whole) = each(&objects, |o| if let Object::Int(i) = o { Some(*i) } else { None }) {
            return Data::I64(whole);
        }
        if let Some(truths) = each(&objects, |o| if let Object::Bool(b) = o { Some(*b) } else { None }) {
            return Data::Bool(truths);
        }
        if let Some(numbers) = each(&objects, |o| if let Object::Float(x) = o { Some(*x) } else { None }) {
            return Data::f64(numbers);
        }
        Data::Mixed(objects)
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Data::F32(v) => f.debug_tuple("F32").field(&(**v).as_ref()).finish(),
            Data::F64(v) => f.debug_tuple("F64").field(&(**v).as_ref()).finish(),
            Data::U8(v) => f.debug_tuple("U8").field(&(**v).as_ref()).finish(),
            Data::I64(v) => f.debug_tuple("I64").field(v).finish(),
            Data::U64(v) => f.debug_tuple("U64").field(v).finish(),
            Data::Bool(v) => f.debug_tuple("Bool").field(v).finish(),
            Data::Text(v) => f.debug_tuple("Text").field(v).finish(),
            Data::Mixed(v) => f.debug_tuple("Mixed").field(v).finish(),
            Data::Elsewhere(v) => f.debug_tuple("Elsewhere").field(&v.digest).finish(),
        }
    }
}

/// A shape printed as NumPy prints it: `(100, 5)`, `(100,)`.
pub(crate) struct Shape<'a>(pub &'a [usize]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => write!(f, "({one},)"),
            many => {
                let sizes: Vec<String> = many.iter().map(usize::to_string).collect();
                write!(f, "({})", sizes.join(", "))
            }
        }
    }
}

/// How many values a shape has; `None` where the product does not fit.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n))
}

/// Refuses a 0-d array, which has no rows.
pub(crate) fn check_dimensions(shape: &[usize]) -> Parsed<()> {
    if shape.is_empty() {
        bail!("holds a single value (a 0-d array); give an array with one row per sample");
    }
    Ok(())
}
