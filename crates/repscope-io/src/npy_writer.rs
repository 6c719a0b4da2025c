// SPDX-License-Identifier: MIT
//! A .npy file of f32 that grows row by row. An unfinished file is continued.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Writes an array of a known shape in pieces, each of whole rows.
pub struct NpyRows {
    path: PathBuf,
    file: File,
    /// Where the numbers begin.
    start: u64,
    /// Values of one row.
    width: usize,
    rows: usize,
    done: usize,
}

impl NpyRows {
    /// Opens a file of this shape. Complete rows that already exist are kept; a file of another shape is overwritten.
    pub fn open(path: &Path, shape: &[usize]) -> Result<Self> {
        let failed = |source| Error::write(path, source);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed)?;
        let begin = header("<f4", shape);
        let mut there = Vec::new();
        let take = begin.len() as u64;
        (&file).take(take).read_to_end(&mut there).map_err(failed)?;
        if there != begin {
            file.set_len(0).map_err(failed)?;
            file.rewind().map_err(failed)?;
            file.write_all(&begin).map_err(failed)?;
        }
        let width = shape.iter().skip(1).product::<usize>();
        let rows = shape.first().copied().unwrap_or(1);
        let bytes = file.metadata().map_err(failed)?.len() - take;
        let done = usize::try_from(bytes / (4 * width.max(1)) as u64).unwrap_or(usize::MAX);
        let mut writer = NpyRows {
            path: path.to_path_buf(),
            file,
            start: take,
            width,
            rows,
            done: 0,
        };
        writer.keep(done.min(rows))?;
        Ok(writer)
    }

    /// Number of rows written so far.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Keeps the first rows and drops the others.
    pub fn keep(&mut self, rows: usize) -> Result<()> {
        let failed = |source| Error::write(&self.path, source);
        let end = self.start + 4 * (rows * self.width) as u64;
        self.file.set_len(end).map_err(failed)?;
        self.file.seek(SeekFrom::Start(end)).map_err(failed)?;
        self.done = rows;
        Ok(())
    }

    /// Adds rows, last index fastest.
    pub fn push(&mut self, values: &[f32]) -> Result<()> {
        let rows = values.len() / self.width.max(1);
        if rows * self.width != values.len() || self.done + rows > self.rows {
            return Err(self.wrong(format!(
                "{} values do not fit: there are {} of {} rows of {}",
                values.len(),
                self.done,
                self.rows,
                self.width
            )));
        }
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.file
            .write_all(&bytes)
            .map_err(|source| Error::write(&self.path, source))?;
        self.done += rows;
        Ok(())
    }

    /// Forces the file to disk once it is whole.
    pub fn finish(self) -> Result<()> {
        if self.done < self.rows {
            return Err(self.wrong(format!("{} of {} rows are missing", self.rows - self.done, self.rows)));
        }
        self.file.sync_all().map_err(|source| Error::write(&self.path, source))
    }

    fn wrong(&self, text: String) -> Error {
        Error::write(&self.path, std::io::Error::other(text))
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

    fn row(path: &Path, at: usize) -> [f64; 2] {
        let space = read_array(&InputPath::file(path))
            .unwrap()
            .into_space("z", Pool::Last)
            .unwrap();
        let mut row = [0.0; 2];
        space.read_row(at, &mut row);
        row
    }

    #[test]
    fn what_is_written_in_pieces_is_read_as_one_array() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("embeddings/z.npy");
        let mut writer = NpyRows::open(&path, &[3, 2]).unwrap();
        writer.push(&[1.0, 2.0]).unwrap();
        writer.push(&[3.0, 4.0, 5.0, 6.5]).unwrap();
        writer.finish().unwrap();
        assert_eq!(row(&path, 2), [5.0, 6.5]);
    }

    #[test]
    fn a_file_that_was_left_in_the_middle_of_a_row_is_gone_on_with() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.npy");
        NpyRows::open(&path, &[3, 2]).unwrap().push(&[1.0, 2.0]).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(&[7; 5]).unwrap();
        let mut writer = NpyRows::open(&path, &[3, 2]).unwrap();
        assert_eq!(writer.done(), 1);
        writer.push(&[3.0, 4.0, 5.0, 6.5]).unwrap();
        writer.finish().unwrap();
        assert_eq!((row(&path, 0), row(&path, 1)), ([1.0, 2.0], [3.0, 4.0]));
        assert_eq!(NpyRows::open(&path, &[3, 4]).unwrap().done(), 0);
    }

    #[test]
    fn too_few_and_too_many_values_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.npy");
        let mut writer = NpyRows::open(&path, &[2, 2]).unwrap();
        assert!(writer.push(&[0.0; 3]).is_err() && writer.push(&[0.0; 6]).is_err());
        writer.push(&[0.0; 2]).unwrap();
        assert!(writer.finish().is_err());
    }

    #[test]
    fn shapes_are_written_as_python_writes_them() {
        let text = |shape: &[usize]| String::from_utf8_lossy(&header("<f4", shape)).to_string();
        assert!(text(&[5]).contains("'shape': (5,), }") && text(&[5, 2]).contains("'shape': (5, 2), }"));
        assert_eq!(header("<f8", &[7, 1]).len() % 64, 0);
    }
}
