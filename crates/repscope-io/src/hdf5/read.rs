// SPDX-License-Identifier: MIT
//! The values of one array of an HDF5 file. Each size is compared with the memory limit before it is taken.

use hdf5_reader::messages::datatype::StringSize;
use hdf5_reader::{Dataset, Datatype};

use super::{Entry, Sparse, What, is_text, number, sizes};
use crate::array::{Array, Data, Object, check_dimensions, count};
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
        What::Sparse(sparse) => dense(sparse)?,
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

/// The names of codes; what has none is missing.
fn named(codes: &Data, names: &[String]) -> Parsed<Data> {
    let codes = integers(codes)?;
    let longest = names.iter().map(String::len).max().unwrap_or(0) as u64;
    memory::check((codes.len() as u64).checked_mul(24 + longest))?;
    let name = |&code: &i64| match usize::try_from(code).ok().map(|at| names.get(at)) {
        None => Ok(Object::None),
        Some(Some(name)) => Ok(Object::Text(name.clone())),
        Some(None) => Err(problem!(
            "is damaged: code {code} has none of the {} names",
            names.len()
        )),
    };
    Ok(Data::from_objects(codes.iter().map(name).collect::<Parsed<Vec<_>>>()?))
}

/// Names that are numbers are their digits.
fn as_texts(data: Data) -> Vec<String> {
    match data {
        Data::Text(texts) => texts,
        Data::I64(values) => values.iter().map(i64::to_string).collect(),
        Data::U64(values) => values.iter().map(u64::to_string).collect(),
        Data::Bool(values) => values.iter().map(bool::to_string).collect(),
        Data::F32(values) => (*values).as_ref().iter().map(f32::to_string).collect(),
        Data::F64(values) => (*values).as_ref().iter().map(f64::to_string).collect(),
        Data::U8(values) => (*values).as_ref().iter().map(u8::to_string).collect(),
        Data::Mixed(_) | Data::Elsewhere(_) => Vec::new(), // neither is read from a file of this kind
    }
}

fn integers(data: &Data) -> Parsed<Vec<i64>> {
    Ok(match data {
        Data::I64(values) => values.clone(),
        Data::U64(values) => values
            .iter()
            .map(|&value| i64::try_from(value).unwrap_or(i64::MAX))
            .collect(),
        Data::F32(values) => (**values).as_ref().iter().map(|&value| value as i64).collect(),
        Data::F64(values) => (**values).as_ref().iter().map(|&value| value as i64).collect(),
        Data::U8(values) => (**values).as_ref().iter().map(|&value| i64::from(value)).collect(),
        _ => bail!("is damaged: its codes are no integers"),
    })
}

/// A sparse matrix with its zeros.
fn dense(sparse: &Sparse) -> Parsed<Data> {
    let Sparse {
        values,
        indices,
        starts,
        shape: [rows, columns],
        is_by_rows,
    } = sparse;
    let (rows, columns, is_by_rows) = (*rows, *columns, *is_by_rows);
    let size = rows.checked_mul(columns);
    memory::check(size.and_then(|size| (size as u64).checked_mul(4)))?;
    let Some(size) = size else {
        bail!("holds a sparse matrix of {rows} × {columns}, which is too large");
    };
    let numbers = match plain(values)? {
        Data::F32(values) => (*values).as_ref().to_vec(),
        Data::F64(values) => (*values).as_ref().iter().map(|&value| value as f32).collect(),
        other => integers(&other)?
            .iter()
            .map(|&value| value as f32)
            .collect::<Vec<f32>>(),
    };
    let (indices, starts) = (integers(&plain(indices)?)?, integers(&plain(starts)?)?);
    let (lines, width) = if is_by_rows { (rows, columns) } else { (columns, rows) };
    let damaged = || problem!("is damaged: the indices of a sparse matrix do not fit its shape {rows} × {columns}");
    if starts.len() != lines + 1 || indices.len() != numbers.len() {
        return Err(damaged());
    }
    let mut dense = Vec::new();
    if dense.try_reserve_exact(size).is_err() {
        bail!("holds a sparse matrix of {rows} × {columns}, for which there is not enough memory");
    }
    dense.resize(size, 0.0_f32);
    // Each value is taken once, so that this takes time in proportion to the file.
    let mut before = 0;
    for (line, bounds) in starts.windows(2).enumerate() {
        let (from, to) = (usize::try_from(bounds[0]), usize::try_from(bounds[1]));
        let (Ok(from), Ok(to)) = (from, to) else {
            return Err(damaged());
        };
        if from != before || to < from {
            return Err(damaged());
        }
        before = to;
        let (own, places) = (numbers.get(from..to), indices.get(from..to));
        let (Some(own), Some(places)) = (own, places) else {
            return Err(damaged());
        };
        for (value, place) in own.iter().zip(places) {
            let place = usize::try_from(*place)
                .ok()
                .filter(|&place| place < width)
                .ok_or_else(damaged)?;
            let at = if is_by_rows {
                line * columns + place
            } else {
                place * columns + line
            };
            dense[at] += value;
        }
    }
    Ok(Data::f32(dense))
}
