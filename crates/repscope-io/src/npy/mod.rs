// SPDX-License-Identifier: MIT
//! NumPy's `.npy`: a short text header, then the values (NEP 1, format versions 1 to 3).
//!
//! Arrays are returned in C order. Object arrays are pickles and go to [`crate::pickle`].

mod header;

use std::io::Read;

use crate::array::{Array, Data};
use crate::element::{ByteOrder, reserve};
use crate::error::{Parsed, bail};
use crate::mapped::{MappedFile, mapped_data};
use crate::memory;
use crate::pickle;

pub(crate) use self::read_one as read_one_text;
pub(crate) use header::{Content, Header, parse_descr};

/// The largest pickle that is read: the size of an object array is not in its header.
const PICKLE_LIMIT: u64 = 1 << 30;

/// Reads an `.npy` file; bytes and little-endian `f32` and `f64` in C order stay where they are in the file.
pub(crate) fn read_file(file: &MappedFile) -> Parsed<Array> {
    let mut rest: &[u8] = file;
    let header = Header::read(&mut rest)?;
    let available = rest.len() as u64;
    header.check_size(available)?;
    match mapped(file, &header)? {
        Some(data) => Array::checked(header.shape, header.content.name(), data),
        None => read_values(header, &mut rest, available),
    }
}

/// Reads what follows the header: `available` bytes, already compared with the header.
pub(crate) fn read_values(header: Header, from: &mut impl Read, available: u64) -> Parsed<Array> {
    let count = header.count()?;
    let name = header.content.name();
    let data = match header.content {
        Content::Numbers(element, order) => element.read(from, order, count)?,
        Content::Unicode(width, order) => Data::Text(read_unicode(from, width, order, count)?),
        Content::Bytes(width) => Data::Text(read_bytes(from, width, count)?),
        Content::Objects => {
            if available > PICKLE_LIMIT {
                bail!(
                    "holds a pickled object array of {available} bytes, more than the {PICKLE_LIMIT} that are read; \
                     save plain text with np.save(path, labels.astype(str))"
                );
            }
            memory::check(Some(available))?;
            let mut bytes = Vec::new();
            from.take(available).read_to_end(&mut bytes)?;
            // The pickle repeats the shape; both must agree, which `Array::checked` sees by the count.
            // Object lists are in C order whatever the header says.
            let data = Data::from_objects(pickle::read_objects(&bytes)?);
            return Array::checked(header.shape, name, data);
        }
    };
    let data = if header.fortran_order {
        to_c_order(data, &header.shape)
    } else {
        data
    };
    Array::checked(header.shape, name, data)
}

fn mapped(file: &MappedFile, header: &Header) -> Parsed<Option<Data>> {
    // In one dimension (or with all others of size 1) both orders are the same.
    let is_c_order = !header.fortran_order || header.shape.iter().filter(|&&n| n > 1).count() <= 1;
    if !is_c_order {
        return Ok(None);
    }
    match header.content {
        Content::Numbers(element, order) => mapped_data(file, element, order, header.bytes, header.count()?),
        _ => Ok(None),
    }
}

/// Reorders values of this shape.
fn to_c_order(data: Data, shape: &[usize]) -> Data {
    match data {
        Data::F32(v) => Data::f32(reorder((*v).as_ref(), shape)),
        Data::F64(v) => Data::f64(reorder((*v).as_ref(), shape)),
        Data::U8(v) => Data::u8(reorder((*v).as_ref(), shape)),
        Data::I64(v) => Data::I64(reorder(&v, shape)),
        Data::U64(v) => Data::U64(reorder(&v, shape)),
        Data::Bool(v) => Data::Bool(reorder(&v, shape)),
        Data::Text(v) => Data::Text(reorder(&v, shape)),
        Data::Mixed(v) => Data::Mixed(reorder(&v, shape)),
        Data::Elsewhere(_) => data,
    }
}

fn reorder<T: Clone>(values: &[T], shape: &[usize]) -> Vec<T> {
    if values.is_empty() {
        // A size beside a 0 may be anything, so the products below could overflow.
        return Vec::new();
    }
    let mut steps = Vec::with_capacity(shape.len());
    let mut step = 1;
    for &n in shape {
        steps.push(step);
        step *= n.max(1);
    }
    let mut index = vec![0; shape.len()];
    let mut out = Vec::with_capacity(values.len());
    let mut at = 0;
    for _ in 0..values.len() {
        out.push(values[at].clone());
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            at += steps[axis];
            if index[axis] < shape[axis] {
                break;
            }
            at -= steps[axis] * shape[axis];
            index[axis] = 0;
        }
    }
    out
}

/// Reads `count` strings of `width` UTF-32 characters.
fn read_unicode(from: &mut impl Read, width: usize, order: ByteOrder, count: usize) -> Parsed<Vec<String>> {
    let mut texts = reserve(count)?;
    // Without strings there are no bytes the width was compared with.
    let mut bytes = reserve(if count > 0 { width * 4 } else { 0 })?;
    bytes.resize(if count > 0 { width * 4 } else { 0 }, 0);
    let mut taken = 0_u64;
    for at in 0..count {
        from.read_exact(&mut bytes)?;
        let text = decode_utf32(&bytes, order, at)?;
        taken += text.len() as u64;
        memory::check(Some(taken))?;
        texts.push(text);
    }
    Ok(texts)
}

/// Reads `count` strings of `width` bytes of UTF-8.
fn read_bytes(from: &mut impl Read, width: usize, count: usize) -> Parsed<Vec<String>> {
    let mut texts = reserve(count)?;
    let mut bytes = reserve(if count > 0 { width } else { 0 })?;
    bytes.resize(if count > 0 { width } else { 0 }, 0);
    let mut taken = 0_u64;
    for at in 0..count {
        from.read_exact(&mut bytes)?;
        let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
        match str::from_utf8(&bytes[..end]) {
            Ok(text) => {
                taken += text.len() as u64;
                memory::check(Some(taken))?;
                texts.push(text.to_string());
            }
            Err(_) => bail!("holds bytes that are not UTF-8 text at value {at}"),
        }
    }
    Ok(texts)
}

/// The text of one NumPy string scalar: all of `bytes`, whatever width its type states.
pub(crate) fn read_one(bytes: &[u8], content: Content, order: ByteOrder) -> Parsed<String> {
    match content {
        Content::Unicode(..) => decode_utf32(bytes, order, 0),
        _ => read_bytes(&mut &*bytes, bytes.len(), 1).map(|mut texts| texts.remove(0)),
    }
}

fn decode_utf32(bytes: &[u8], order: ByteOrder, at: usize) -> Parsed<String> {
    let code = |b: &[u8; 4]| match order {
        ByteOrder::Little => u32::from_le_bytes(*b),
        ByteOrder::Big => u32::from_be_bytes(*b),
    };
    let codes = bytes.as_chunks::<4>().0;
    let end = codes.iter().rposition(|b| *b != [0; 4]).map_or(0, |last| last + 1);
    match codes[..end].iter().map(|b| char::from_u32(code(b))).collect() {
        Some(text) => Ok(text),
        None => bail!("holds a string that is not Unicode at value {at}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `.npy` file whose values begin at byte `start`.
    fn file(start: usize, values: &[f32]) -> (tempfile::TempDir, MappedFile) {
        let header = format!(
            "{{'descr': '<f4', 'fortran_order': False, 'shape': ({},), }}",
            values.len()
        );
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((start as u16 - 10).to_le_bytes());
        bytes.extend(format!("{header:<width$}", width = start - 10).bytes());
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.npy");
        crate::write_whole(&path, &bytes).unwrap();
        (folder, MappedFile::open(&path).unwrap())
    }

    fn lies_in(file: &MappedFile, array: &Array) -> bool {
        let Data::F32(values) = array.data() else {
            panic!("f32 stays f32")
        };
        assert_eq!((**values).as_ref(), [1.5, -2.0]);
        file.as_ptr_range().contains(&(**values).as_ref().as_ptr().cast())
    }

    #[test]
    fn aligned_numbers_stay_in_the_file() {
        let (_folder, file) = file(128, &[1.5, -2.0]);
        assert!(lies_in(&file, &read_file(&file).unwrap()));
    }

    #[test]
    fn bytes_stay_in_the_file_wherever_they_are() {
        let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n";
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes().chain([0, 7, 200, 255]));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        crate::write_whole(&path, &bytes).unwrap();
        let file = MappedFile::open(&path).unwrap();
        let array = read_file(&file).unwrap();
        let Data::U8(values) = array.data() else {
            panic!("bytes stay bytes")
        };
        let values = (**values).as_ref();
        assert_eq!((values, array.dtype()), (&[0, 7, 200, 255][..], "u8"));
        assert!(file.as_ptr_range().contains(&values.as_ptr()));
    }

    #[test]
    fn numbers_that_are_not_aligned_are_copied() {
        let (_folder, file) = file(129, &[1.5, -2.0]);
        assert!(!lies_in(&file, &read_file(&file).unwrap()));
    }

    #[test]
    fn columns_become_rows() {
        // [[0, 1, 2], [3, 4, 5]] stored column by column.
        assert_eq!(reorder(&[0, 3, 1, 4, 2, 5], &[2, 3]), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn bytes_are_reordered_as_bytes() {
        let Data::U8(ordered) = to_c_order(Data::u8(vec![0, 3, 1, 4, 2, 5]), &[2, 3]) else {
            panic!("bytes stay bytes")
        };
        assert_eq!((*ordered).as_ref(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn three_dimensions_are_reordered() {
        // Value = 100 i + 10 j + k, stored with i fastest.
        let (ni, nj, nk) = (2, 3, 2);
        let mut stored = Vec::new();
        let mut expected = Vec::new();
        for k in 0..nk {
            for j in 0..nj {
                stored.extend((0..ni).map(|i| 100 * i + 10 * j + k));
            }
        }
        for i in 0..ni {
            for j in 0..nj {
                expected.extend((0..nk).map(|k| 100 * i + 10 * j + k));
            }
        }
        assert_eq!(reorder(&stored, &[ni, nj, nk]), expected);
    }
}
