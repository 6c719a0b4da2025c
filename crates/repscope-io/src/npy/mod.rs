// SPDX-License-Identifier: MIT
//! NumPy's `.npy`: a short text header, then the values (NEP 1, format versions 1 to 3).
//!
//! Arrays are returned in C order. Object arrays are pickles and go to [`crate::pickle`].

mod header;
mod literal;
mod order;
mod text;

use std::io::Read;

pub(crate) use header::{Content, Header};
pub(crate) use literal::parse_descr;
pub(crate) use text::read_one as read_one_text;

use crate::array::{Array, Data};
use crate::error::{Parsed, bail};
use crate::mapped::{MappedFile, mapped_data};
use crate::pickle;

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
        Content::Unicode(width, order) => Data::Text(text::read_unicode(from, width, order, count)?),
        Content::Bytes(width) => Data::Text(text::read_bytes(from, width, count)?),
        Content::Objects => {
            if available > PICKLE_LIMIT {
                bail!(
                    "holds a pickled object array of {available} bytes, more than the {PICKLE_LIMIT} that are read; \
                     save plain text with np.save(path, labels.astype(str))"
                );
            }
            let mut bytes = Vec::new();
            from.take(available).read_to_end(&mut bytes)?;
            // The pickle repeats the shape; both must agree, which `Array::checked` sees by the count.
            // Object lists are in C order whatever the header says.
            let data = Data::from_objects(pickle::read_objects(&bytes)?);
            return Array::checked(header.shape, name, data);
        }
    };
    let data = if header.fortran_order {
        order::to_c_order(data, &header.shape)
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
}
