// SPDX-License-Identifier: MIT
//! What AnnData makes of several arrays, in HDF5 and in Zarr: columns of categories, and sparse matrices.

use crate::array::{Data, Object};
use crate::error::{Parsed, bail, problem};
use crate::memory;

/// Values, and where they stand in a matrix of rows or columns.
pub(crate) struct Sparse {
    pub(crate) values: Data,
    pub(crate) indices: Data,
    pub(crate) starts: Data,
    pub(crate) shape: [usize; 2],
    pub(crate) is_by_rows: bool,
}

/// The names of codes; what has none is missing.
pub(crate) fn named(codes: &Data, names: &[String]) -> Parsed<Data> {
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
pub(crate) fn as_texts(data: Data) -> Vec<String> {
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
pub(crate) fn dense(sparse: Sparse) -> Parsed<Data> {
    let Sparse {
        values,
        indices,
        starts,
        shape: [rows, columns],
        is_by_rows,
    } = sparse;
    let size = rows.checked_mul(columns);
    memory::check(size.and_then(|size| (size as u64).checked_mul(4)))?;
    let Some(size) = size else {
        bail!("holds a sparse matrix of {rows} × {columns}, which is too large");
    };
    let numbers = match values {
        Data::F32(values) => (*values).as_ref().to_vec(),
        Data::F64(values) => (*values).as_ref().iter().map(|&value| value as f32).collect(),
        other => integers(&other)?
            .iter()
            .map(|&value| value as f32)
            .collect::<Vec<f32>>(),
    };
    let (indices, starts) = (integers(&indices)?, integers(&starts)?);
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
