// SPDX-License-Identifier: MIT
//! Numbers without a header: `file.bin:f32:1000000x768`, and the `.fvecs`, `.bvecs` and `.ivecs` of nearest-neighbor benchmarks, in which
//! each vector stands behind its length.

use std::path::Path;

use crate::array::{Array, ArrayInfo, Data, count};
use crate::element::{ByteOrder, Element};
use crate::error::{Parsed, bail, problem};
use crate::mapped::{MappedFile, mapped_data};
use crate::path::InputPath;

const ELEMENTS: [(&str, Element); 12] = [
    ("f32", Element::F32),
    ("f64", Element::F64),
    ("f16", Element::F16),
    ("bf16", Element::BF16),
    ("u8", Element::U8),
    ("i8", Element::I8),
    ("u16", Element::U16),
    ("i16", Element::I16),
    ("u32", Element::U32),
    ("i32", Element::I32),
    ("u64", Element::U64),
    ("i64", Element::I64),
];

/// What the numbers of a file without a header are.
pub(crate) struct Layout {
    element: Element,
    shape: Vec<usize>,
}

impl Layout {
    /// What a path says of its file: `:f32:1000x64` behind it. None where it says nothing of this kind.
    pub(crate) fn of_key(input: &InputPath) -> Option<Parsed<Layout>> {
        let (element, sizes) = input.key.as_deref()?.strip_prefix(':')?.split_once(':')?;
        let found = ELEMENTS.iter().find(|(name, _)| *name == element);
        let sizes: Option<Vec<usize>> = sizes.split('x').map(|size| size.parse().ok()).collect();
        Some(match (found, sizes) {
            (Some((_, element)), Some(shape)) => Ok(Layout {
                element: *element,
                shape,
            }),
            (None, _) => {
                let known: Vec<&str> = ELEMENTS.iter().map(|(name, _)| *name).collect();
                Err(problem!(
                    "is said to hold {element}, which is none of {}",
                    known.join(", ")
                ))
            }
            (_, None) => Err(problem!(
                "has no shape that can be read; write it as file.bin:f32:1000x64"
            )),
        })
    }

    /// Reads the file; numbers of 32 and 64 bits stay where they are.
    pub(crate) fn read(self, file: &MappedFile) -> Parsed<Array> {
        let Layout { element, shape } = self;
        let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
        let count = count(&shape);
        let needed = count.and_then(|count| count.checked_mul(element.bytes()));
        let (Some(count), true) = (count, needed == Some(file.len())) else {
            bail!(
                "has {} bytes, but {} {} need {}; correct the shape, or the type",
                file.len(),
                sizes.join(" x "),
                element.name(),
                needed.map_or_else(|| "more than can be addressed".to_string(), |bytes| bytes.to_string())
            );
        };
        let data = match mapped_data(file, element, ByteOrder::Little, 0, count)? {
            Some(data) => data,
            None => element.read(&mut &file[..], ByteOrder::Little, count)?,
        };
        Array::checked(shape, element.name(), data)
    }
}

/// The one array of a file of vectors.
pub(crate) fn list(file: &MappedFile, path: &Path) -> Parsed<Vec<ArrayInfo>> {
    let (element, shape) = shape(file, path)?;
    Ok(vec![ArrayInfo::new(None, &shape, element.name())])
}

/// Reads a file of vectors.
pub(crate) fn read(file: &MappedFile, path: &Path) -> Parsed<Array> {
    let (element, [rows, columns]) = shape(file, path)?;
    let size = columns * element.bytes();
    let vectors = file.chunks_exact(4 + size);
    if let Some((row, length)) = vectors
        .clone()
        .map(length)
        .enumerate()
        .find(|(_, length)| *length != columns as i64)
    {
        bail!(
            "has a vector of length {length} in row {row} (counted from 0), and {columns} before; all must have one length"
        );
    }
    let packed = vectors.flat_map(|vector| &vector[4..]).copied();
    crate::memory::check((file.len() as u64).checked_mul(2))?;
    let packed: Vec<u8> = packed.collect();
    let data = match element {
        Element::U8 => Data::u8(packed),
        _ => element.read(&mut packed.as_slice(), ByteOrder::Little, rows * columns)?,
    };
    Array::checked(vec![rows, columns], element.name(), data)
}

fn length(vector: &[u8]) -> i64 {
    vector
        .first_chunk()
        .map_or(-1, |bytes| i64::from(i32::from_le_bytes(*bytes)))
}

fn shape(file: &MappedFile, path: &Path) -> Parsed<(Element, [usize; 2])> {
    let extension = path
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let element = match extension.as_str() {
        "bvecs" => Element::U8,
        "ivecs" => Element::I32,
        _ => Element::F32,
    };
    let columns = length(file);
    let size = usize::try_from(columns).ok().filter(|&columns| columns > 0);
    let size = size.and_then(|columns| columns.checked_mul(element.bytes())?.checked_add(4));
    match size {
        Some(size) if file.len().is_multiple_of(size) => Ok((element, [file.len() / size, columns as usize])),
        _ => bail!(
            "has {} bytes, which are no whole number of vectors of length {columns}; it may have been cut off while copying",
            file.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{read_array, write_whole};

    #[test]
    fn a_file_without_a_header_is_what_its_path_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.bin");
        let bytes: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_le_bytes()).collect();
        write_whole(&path, &bytes).unwrap();
        let read = |what: &str| read_array(&InputPath::parse(&format!("{}:{what}", path.display())));
        let array = read("f32:3x2").unwrap();
        assert_eq!((array.shape(), array.dtype()), (&[3, 2][..], "f32"));
        assert!(matches!(array.data(), Data::F32(values) if (**values).as_ref() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(read("u8:24").unwrap().shape(), [24]);
        let said = read("f32:4x2").unwrap_err().to_string();
        assert!(said.contains("has 24 bytes, but 4 x 2 f32 need 32"), "{said}");
        assert!(read("f33:3x2").unwrap_err().to_string().contains("none of f32"));
        assert!(read("f32:99999999999x99999999999").is_err());
    }

    #[test]
    fn vectors_behind_their_length_are_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.ivecs");
        let mut bytes: Vec<u8> = [2_i32, 5, -6, 2, 7, 8].iter().flat_map(|i| i.to_le_bytes()).collect();
        write_whole(&path, &bytes).unwrap();
        let array = read_array(&InputPath::file(&path)).unwrap();
        assert_eq!((array.shape(), array.dtype()), (&[2, 2][..], "i32"));
        assert!(matches!(array.data(), Data::F64(values) if (**values).as_ref() == [5.0, -6.0, 7.0, 8.0]));
        bytes[12] = 3;
        write_whole(&path, &bytes).unwrap();
        let said = read_array(&InputPath::file(&path)).unwrap_err().to_string();
        assert!(said.contains("length 3 in row 1"), "{said}");
        write_whole(&path, &bytes[..20]).unwrap();
        assert!(read_array(&InputPath::file(&path)).is_err());
    }
}
