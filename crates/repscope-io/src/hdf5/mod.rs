// SPDX-License-Identifier: MIT
//! HDF5 and AnnData (`.h5ad`): `file.h5#group/dataset`, `cells.h5ad#obsm/X_pca`, labels from `#obs/cell_type`.
//!
//! AnnData writes more than datasets: columns of categories are groups of codes and names, sparse matrices groups of values and indices,
//! and old files have whole tables in one dataset of records. Each is one array here. The bytes are decoded by hdf5-reader; links to other files
//! are not followed.

mod lzf;
mod read;

use hdf5_reader::group::Group;
use hdf5_reader::{ByteOrder as Order, Dataset, Datatype, FilterRegistry, Hdf5File, OpenOptions};

use crate::array::{Array, ArrayInfo};
use crate::catch_panic::catch_panic;
use crate::choose::choose;
use crate::element::{ByteOrder, Element};
use crate::error::{Parsed, Problem, bail, problem};
use crate::mapped::MappedFile;
use crate::memory::memory_limit;
use crate::read::Take;
use crate::zstd;

/// Files of people have hundreds of datasets; what claims more than this is refused.
const MOST: usize = 100_000;

/// Chunks beyond this are refused.
const LARGEST_CHUNK: usize = 1 << 30;

/// The number of zstd among the filters of HDF5 (the package hdf5plugin).
const ZSTD: u16 = 32015;

/// Groups within groups.
const DEEPEST: usize = 64;

/// The arrays of the file.
pub(crate) fn list(file: &MappedFile) -> Parsed<Vec<ArrayInfo>> {
    decode_or_refuse(|| Ok(entries(&open(file)?)?.into_iter().map(|entry| entry.info).collect()))
}

/// Reads one array.
pub(crate) fn read(file: &MappedFile, key: Option<&str>) -> Parsed<Array> {
    decode_or_refuse(|| {
        let mut entries = entries(&open(file)?)?;
        let infos: Vec<ArrayInfo> = entries.iter().map(|entry| entry.info.clone()).collect();
        let key = key.map(|key| key.trim_start_matches('/'));
        read::entry(&entries.swap_remove(choose(&infos, key, "dataset")?))
    })
}

/// Reads every array, one after the other.
pub(crate) fn read_each(file: &MappedFile, take: Take) -> Parsed<()> {
    let entries = decode_or_refuse(|| entries(&open(file)?))?;
    for entry in entries {
        let array = decode_or_refuse(|| read::entry(&entry));
        take(entry.info.key, array)?;
    }
    Ok(())
}

/// Bytes that the decoder keeps as long as it needs them.
struct Owner(MappedFile);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn open(file: &MappedFile) -> Parsed<Hdf5File> {
    let limit = usize::try_from(memory_limit()).unwrap_or(usize::MAX);
    let mut filters = FilterRegistry::new();
    filters.register(lzf::FILTER, Box::new(|filter, data, _| lzf::decode(filter, data)));
    filters.register(
        ZSTD,
        Box::new(|_, data, _| {
            use hdf5_reader::error::Error;
            zstd::unpack(data, LARGEST_CHUNK as u64).map_err(|problem| Error::InvalidData(format!("a chunk {problem}")))
        }),
    );
    let options = OpenOptions::default()
        .with_filter_registry(filters)
        .with_max_read_bytes(limit)
        .with_max_chunk_bytes(limit.min(LARGEST_CHUNK));
    Ok(Hdf5File::from_owner(Owner(file.clone()), options)?)
}

/// The decoder is not ours; that a damaged file fails an assertion of it is no reason to stop the program.
fn decode_or_refuse<T>(decode: impl FnOnce() -> Parsed<T>) -> Parsed<T> {
    catch_panic(decode).unwrap_or_else(|| bail!("cannot be decoded: the HDF5 file is damaged"))
}

impl From<hdf5_reader::error::Error> for Problem {
    fn from(error: hdf5_reader::error::Error) -> Self {
        problem!("cannot be decoded as HDF5: {error}")
    }
}

/// An array and where it comes from.
struct Entry {
    info: ArrayInfo,
    what: What,
}

enum What {
    /// A dataset of numbers or texts.
    Plain(Box<Dataset>),
    /// A field of a dataset of records, and the names of its codes where AnnData keeps them elsewhere.
    Field(Box<Dataset>, usize, Option<Box<Dataset>>),
    /// Codes and the names they stand for.
    Categories { codes: Box<Dataset>, names: Box<Dataset> },
    /// Values and where they stand in a matrix of rows or columns.
    Sparse(Box<Sparse>),
}

struct Sparse {
    values: Dataset,
    indices: Dataset,
    starts: Dataset,
    shape: [usize; 2],
    is_by_rows: bool,
}

fn entries(file: &Hdf5File) -> Parsed<Vec<Entry>> {
    let mut walk = Walk {
        entries: Vec::new(),
        seen: std::collections::HashSet::new(),
    };
    let root = file.root_group()?;
    walk.group(&root, "", 0)?;
    let named: Vec<(String, Box<Dataset>)> = walk
        .entries
        .iter()
        .filter_map(|entry| match (&entry.what, &entry.info.key) {
            (What::Plain(names), Some(key)) => {
                let column = key.strip_prefix("uns/")?.strip_suffix("_categories")?;
                Some((format!("obs/{column}"), names.clone()))
            }
            _ => None,
        })
        .collect();
    for entry in &mut walk.entries {
        if let What::Field(_, _, names) = &mut entry.what
            && let Some((_, found)) = named.iter().find(|(key, _)| Some(key) == entry.info.key.as_ref())
        {
            *names = Some(found.clone());
            entry.info.dtype = "str".to_string();
        }
    }
    Ok(walk.entries)
}

struct Walk {
    entries: Vec<Entry>,
    /// Groups that were entered: a file may link them in a circle.
    seen: std::collections::HashSet<u64>,
}

impl Walk {
    fn group(&mut self, group: &Group, path: &str, depth: usize) -> Parsed<()> {
        if depth > DEEPEST || !self.seen.insert(group.address()) {
            return Ok(());
        }
        let (groups, datasets) = group.members()?;
        if self.entries.len() + self.seen.len() + groups.len() + datasets.len() > MOST {
            bail!("holds more than {MOST} groups and datasets; copy those that are needed into a file of their own");
        }
        let named = |name: &str| datasets.iter().find(|dataset| leaf(dataset.name()) == name).cloned();
        if let (Some(codes), Some(names), true) = (named("codes"), named("categories"), !path.is_empty()) {
            let shape = sizes(&codes)?;
            let (codes, names) = (Box::new(codes), Box::new(names));
            let what = What::Categories { codes, names };
            self.push(path, &shape, "str", what);
            return Ok(());
        }
        let parts = (named("data"), named("indices"), named("indptr"));
        if let ((Some(values), Some(indices), Some(starts)), Some((shape, is_by_rows))) = (parts, sparse(group)) {
            let dtype = number(values.dtype()).map_or("?", |(element, _)| element.name());
            let what = What::Sparse(Box::new(Sparse {
                values,
                indices,
                starts,
                shape,
                is_by_rows,
            }));
            self.push(path, &shape, dtype, what);
            return Ok(());
        }
        for dataset in datasets {
            self.dataset(dataset, path)?;
        }
        for inner in groups {
            let path = join(path, leaf(inner.name()));
            self.group(&inner, &path, depth + 1)?;
        }
        Ok(())
    }

    fn dataset(&mut self, dataset: Dataset, path: &str) -> Parsed<()> {
        let path = join(path, leaf(dataset.name()));
        let shape = sizes(&dataset)?;
        if let Datatype::Compound { fields, .. } = dataset.dtype() {
            for (at, field) in fields.clone().iter().enumerate() {
                let (kind, inner) = match &field.datatype {
                    Datatype::Array { base, dims } => (&**base, dims.as_slice()),
                    kind => (kind, &[][..]),
                };
                let Some(dtype) = name(kind) else { continue };
                let inner = inner
                    .iter()
                    .map(|&size| usize::try_from(size).ok())
                    .collect::<Option<Vec<_>>>();
                let Some(inner) = inner else { continue };
                let shape = [shape.as_slice(), &inner].concat();
                self.push(
                    &join(&path, &field.name),
                    &shape,
                    dtype,
                    What::Field(Box::new(dataset.clone()), at, None),
                );
            }
            return Ok(());
        }
        if let Some(dtype) = name(dataset.dtype()) {
            self.push(&path, &shape, dtype, What::Plain(Box::new(dataset)));
        }
        Ok(())
    }

    fn push(&mut self, path: &str, shape: &[usize], dtype: &str, what: What) {
        let info = ArrayInfo::new(Some(path.to_string()), shape, dtype);
        self.entries.push(Entry { info, what });
    }
}

fn leaf(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_string()
    } else {
        format!("{path}/{name}")
    }
}

fn sizes(dataset: &Dataset) -> Parsed<Vec<usize>> {
    let sizes = dataset.shape().iter().map(|&size| usize::try_from(size).ok());
    let sizes: Option<Vec<usize>> = sizes.collect();
    sizes.ok_or_else(|| {
        problem!(
            "holds dataset `{}` with more values than can be addressed",
            dataset.name()
        )
    })
}

/// The shape of a sparse matrix and whether its rows are compressed, as its group says it.
fn sparse(group: &Group) -> Option<([usize; 2], bool)> {
    let text = |name: &str| group.attribute(name).ok()?.read_string().ok();
    let format = text("encoding-type").or_else(|| text("h5sparse_format"))?;
    let is_by_rows = match format.as_str() {
        "csr_matrix" | "csr" => true,
        "csc_matrix" | "csc" => false,
        _ => return None,
    };
    let shape = group
        .attribute("shape")
        .or_else(|_| group.attribute("h5sparse_shape"))
        .ok()?;
    let sizes: Vec<i64> = match shape.read_1d::<i64>() {
        Ok(sizes) => sizes,
        Err(_) => shape.read_1d::<i32>().ok()?.into_iter().map(i64::from).collect(),
    };
    let [rows, columns] = sizes.as_slice() else {
        return None;
    };
    Some((
        [usize::try_from(*rows).ok()?, usize::try_from(*columns).ok()?],
        is_by_rows,
    ))
}

/// How messages call a type; none for those that are not read.
fn name(kind: &Datatype) -> Option<&'static str> {
    match kind {
        Datatype::String { .. } | Datatype::VarLen { .. } if is_text(kind) => Some("str"),
        _ => number(kind).map(|(element, _)| element.name()),
    }
}

fn is_text(kind: &Datatype) -> bool {
    match kind {
        Datatype::String { .. } => true,
        Datatype::VarLen { kind, .. } => *kind == hdf5_reader::messages::datatype::VarLenKind::String,
        _ => false,
    }
}

/// How a number is stored; none for other kinds. h5py writes booleans as an enumeration of bytes.
fn number(kind: &Datatype) -> Option<(Element, ByteOrder)> {
    let order = |order: &Order| match order {
        Order::LittleEndian => ByteOrder::Little,
        Order::BigEndian => ByteOrder::Big,
    };
    Some(match kind {
        Datatype::FixedPoint {
            size,
            signed,
            byte_order,
        } => {
            let element = match (size, signed) {
                (1, true) => Element::I8,
                (1, false) => Element::U8,
                (2, true) => Element::I16,
                (2, false) => Element::U16,
                (4, true) => Element::I32,
                (4, false) => Element::U32,
                (8, true) => Element::I64,
                (8, false) => Element::U64,
                _ => return None,
            };
            (element, order(byte_order))
        }
        Datatype::FloatingPoint { size, byte_order } => {
            let element = match size {
                2 => Element::F16,
                4 => Element::F32,
                8 => Element::F64,
                _ => return None,
            };
            (element, order(byte_order))
        }
        Datatype::Enum { base, members } => {
            let (element, order) = number(base)?;
            let is_boolean = members.len() == 2 && members.iter().any(|member| member.name == "TRUE");
            match (is_boolean, element) {
                (true, Element::I8 | Element::U8) => (Element::Bool, order),
                _ => (element, order),
            }
        }
        _ => return None,
    })
}
