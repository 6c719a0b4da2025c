// SPDX-License-Identifier: MIT
//! The values of one array of an HDF5 file. Each size is compared with the memory limit before it is taken.

use hdf5_reader::messages::datatype::StringSize;
use hdf5_reader::{Dataset, Datatype};

use super::{Entry, What, is_text, number, sizes};
use crate::anndata::{Sparse, as_texts, dense, named};
use crate::array::{Array, Data, check_dimensions, count};
use crate::error::{Parsed, bail, problem};
use crate::memory;

pub(super) fn entry(entry: &Entry) -> Parsed<Array> {
    let info = &entry.info;
    let data = match &entry.what {
        What::Plain(dataset) => {
            check_dimensions(&info.shape)?;
            plain(dataset)?
        }
        What::Field(dataset, at, names) => {
            check_dimensions(&info.shape)?;
            let codes = field(dataset, *at)?;
            match names {
                Some(names) => named(&codes, &texts(names)?)?,
                None => codes,
            }
        }
        What::Categories { codes, names } => named(&plain(codes)?, &as_texts(plain(names)?))?,
        What::Sparse(sparse) => {
            let [rows, columns] = sparse.shape;
            // Refused before its parts are read.
            memory::check(
                (rows as u64)
                    .checked_mul(columns as u64)
                    .and_then(|size| size.checked_mul(4)),
            )?;
            dense(Sparse {
                values: plain(&sparse.values)?,
                indices: plain(&sparse.indices)?,
                starts: plain(&sparse.starts)?,
                shape: sparse.shape,
                is_by_rows: sparse.is_by_rows,
            })?
        }
    };
    Array::checked(info.shape.clone(), &info.dtype, data)
}

fn plain(dataset: &Dataset) -> Parsed<Data> {
    if is_text(dataset.dtype()) {
        return Ok(Data::Text(texts(dataset)?));
    }
    let Some((element, order)) = number(dataset.dtype()) else {
        bail!("holds dataset `{}`, which is neither numbers nor texts", dataset.name());
    };
    let bytes = raw(dataset)?;
    let values = values(dataset)?;
    element.read(&mut bytes.as_slice(), order, values)
}

fn values(dataset: &Dataset) -> Parsed<usize> {
    count(&sizes(dataset)?).ok_or_else(|| problem!("holds dataset `{}` with too many values", dataset.name()))
}

/// The bytes of a dataset, and their numbers beside them for a moment.
fn raw(dataset: &Dataset) -> Parsed<Vec<u8>> {
    let bytes = dataset.raw_byte_len()?;
    memory::check((bytes as u64).checked_mul(2))?;
    Ok(dataset.read_raw_bytes()?)
}

/// Texts of one length, or of any.
fn texts(dataset: &Dataset) -> Parsed<Vec<String>> {
    let bytes = raw(dataset)?;
    let values = values(dataset)?;
    let size = dataset.raw_element_size()?.max(1);
    if let Datatype::String {
        size: StringSize::Fixed(_),
        ..
    } = dataset.dtype()
    {
        return fixed(bytes.chunks_exact(size).take(values), dataset.name());
    }
    if !is_text(dataset.dtype()) {
        bail!("holds dataset `{}`, whose values are no texts", dataset.name());
    }
    let mut texts = Vec::new();
    let mut taken = bytes.len() as u64;
    for reference in bytes.chunks_exact(size).take(values) {
        let text = dataset.resolve_vlen_reference_bytes(reference, 1)?;
        // One long text may stand in every row.
        taken = taken.saturating_add(text.len() as u64 + 24);
        memory::check(Some(taken))?;
        texts.push(utf8(&text, dataset.name())?);
    }
    Ok(texts)
}

fn fixed<'a>(values: impl Iterator<Item = &'a [u8]>, name: &str) -> Parsed<Vec<String>> {
    values.map(|value| utf8(value, name)).collect()
}

/// A text without what fills it up.
fn utf8(bytes: &[u8], name: &str) -> Parsed<String> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    match std::str::from_utf8(&bytes[..end]) {
        Ok(text) => Ok(text.to_string()),
        Err(_) => bail!("holds bytes that are not UTF-8 text in `{name}`"),
    }
}

/// One field of each record.
fn field(dataset: &Dataset, at: usize) -> Parsed<Data> {
    let Datatype::Compound { fields, size } = dataset.dtype() else {
        bail!("is damaged: dataset `{}` holds no records", dataset.name());
    };
    let (record, offset) = (*size as usize, fields[at].byte_offset as usize);
    let (kind, inner) = match &fields[at].datatype {
        Datatype::Array { base, dims } => (&**base, dims.iter().product::<u64>() as usize),
        kind => (kind, 1),
    };
    let bytes = raw(dataset)?;
    let width = match (kind, number(kind)) {
        (
            Datatype::String {
                size: StringSize::Fixed(width),
                ..
            },
            _,
        ) => *width as usize,
        (_, Some((element, _))) => element.bytes(),
        _ => bail!(
            "holds field `{}`, which is neither numbers nor texts of one length",
            fields[at].name
        ),
    };
    let length = width
        .checked_mul(inner)
        .filter(|length| offset.checked_add(*length).is_some_and(|end| end <= record));
    let (Some(length), true) = (length, record > 0 && width > 0) else {
        bail!("is damaged: field `{}` is longer than its record", fields[at].name);
    };
    let parts = bytes
        .chunks_exact(record)
        .map(|record| &record[offset..offset + length]);
    match number(kind) {
        Some((element, order)) => {
            let packed: Vec<u8> = parts.flatten().copied().collect();
            element.read(&mut packed.as_slice(), order, packed.len() / element.bytes())
        }
        None => Ok(Data::Text(fixed(parts, &fields[at].name)?)),
    }
}
