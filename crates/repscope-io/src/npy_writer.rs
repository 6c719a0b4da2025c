// SPDX-License-Identifier: MIT
//! A .npy file of f32 that grows row by row, and is there only when it is whole.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::write::temporary_beside;

/// Writes an array of a known shape in pieces. Without [`NpyWriter::finish`] no file appears.
pub struct NpyWriter {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
    /// Values that are still to come.
    missing: usize,
}

impl NpyWriter {
    /// Starts a file of this shape.
    pub fn create(path: &Path, shape: &[usize]) -> Result<Self> {
        let failed = |source| Error::write(path, source);
        let mut file = BufWriter::new(temporary_beside(path).map_err(failed)?);
        file.write_all(&header("<f4", shape)).map_err(failed)?;
        Ok(NpyWriter {
            path: path.to_path_buf(),
            file,
            missing: shape.iter().product(),
        })
    }

    /// Adds values, last index fastest.
    pub fn push(&mut self, values: &[f32]) -> Result<()> {
        self.missing = self.missing.checked_sub(values.len()).ok_or_else(|| {
            let extra = values.len() - self.missing;
            Error::write(
                &self.path,
                std::io::Error::other(format!("{extra} values more than its shape holds")),
            )
        })?;
        for value in values {
            self.file
                .write_all(&value.to_le_bytes())
                .map_err(|source| Error::write(&self.path, source))?;
        }
        Ok(())
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<()> {
        let failed = |source| Error::write(&self.path, source);
        if self.missing > 0 {
            return Err(failed(std::io::Error::other(format!(
                "{} values are missing",
                self.missing
            ))));
        }
        let file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|e| failed(e.error))?;
        Ok(())
    }
}

/// The start of a version 1 .npy file.
pub(crate) fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    // One dimension keeps its comma, as in Python.
    let sizes = if shape.len() > 1 {
        sizes.trim_end_matches(", ")
    } else {
        sizes.trim_end()
    };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Magic, version, length and header together fill a multiple of 64, and the header ends with a line feed.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InputPath, Pool, read_array};

    #[test]
    fn what_is_written_in_pieces_is_read_as_one_array() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("codes/z.npy");
        let mut writer = NpyWriter::create(&path, &[3, 2]).unwrap();
        writer.push(&[1.0, 2.0, 3.0]).unwrap();
        writer.push(&[4.0, 5.0, 6.5]).unwrap();
        assert!(!path.exists());
        writer.finish().unwrap();
        let array = read_array(&InputPath {
            path: path.clone(),
            key: None,
        })
        .unwrap();
        assert_eq!(array.shape(), [3, 2]);
        let space = array.into_space("z", Pool::Last).unwrap();
        let mut row = [0.0; 2];
        space.read_row(2, &mut row);
        assert_eq!(row, [5.0, 6.5]);
    }

    #[test]
    fn a_file_with_too_few_or_too_many_values_does_not_appear() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.npy");
        let mut writer = NpyWriter::create(&path, &[4]).unwrap();
        assert!(writer.push(&[0.0; 5]).is_err());
        writer.push(&[0.0; 3]).unwrap();
        assert!(writer.finish().is_err() && !path.exists());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn shapes_are_written_as_python_writes_them() {
        let text = |shape: &[usize]| String::from_utf8_lossy(&header("<f4", shape)).to_string();
        assert!(text(&[5]).contains("'shape': (5,), }") && text(&[5, 2]).contains("'shape': (5, 2), }"));
        assert_eq!(header("<f8", &[7, 1]).len() % 64, 0);
    }
}
