// SPDX-License-Identifier: MIT
//! Writing files atomically, and .npy files row by row.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::TensorView;

use crate::array::{Array, Data};
use crate::error::{Error, Result};
use crate::faults::operation;
use crate::path::folder_of;
use crate::temporary::TemporaryFile;

/// Writes a file so that a reader sees the old bytes or the new ones, never a part: into a temporary
/// file beside it, forced to disk, then renamed. Missing parent folders are made.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_by(path, |file| file.write_all(bytes))
}

/// Copies a file atomically: the copy is complete or absent.
pub fn copy_whole(from: &Path, to: &Path) -> Result<()> {
    let source = std::fs::File::open(from).map_err(|source| Error::write(to, source))?;
    write_by(to, |file| std::io::copy(&mut &source, file).map(drop))
}

/// Writes numbers as a .safetensors file, with a name for each array.
pub fn write_tensors(path: &Path, tensors: &[(String, &Array)]) -> Result<()> {
    let wrong = |text: String| Error::write(path, std::io::Error::other(text));
    let mut views = Vec::new();
    for (name, array) in tensors {
        let Data::F32(values) = array.data() else {
            return Err(wrong(format!("`{name}` holds {}, and f32 are written", array.dtype())));
        };
        let bytes: &[u8] = bytemuck::cast_slice((**values).as_ref());
        let view = TensorView::new(Dtype::F32, array.shape().to_vec(), bytes).map_err(|e| wrong(e.to_string()))?;
        views.push((name, view));
    }
    let failed = |source| Error::write(path, source);
    let file = TemporaryFile::beside(path).map_err(failed)?;
    operation("writing a file").map_err(failed)?;
    safetensors::serialize_to_file(views, None, file.path()).map_err(|e| wrong(e.to_string()))?;
    file.persist(path).map_err(failed)
}

/// Writes integers as a .npy file of one axis.
pub fn write_integers(path: &Path, values: &[i64]) -> Result<()> {
    write_whole(path, &integers_to_npy(values))
}

/// Integers as the bytes of a .npy file of one axis.
pub fn integers_to_npy(values: &[i64]) -> Vec<u8> {
    let numbers = values.iter().flat_map(|value| value.to_le_bytes());
    header("<i8", &[values.len()]).into_iter().chain(numbers).collect()
}

/// Writes row numbers as a .npy file, last index fastest.
pub fn write_indices(path: &Path, shape: &[usize], values: &[u32]) -> Result<()> {
    check_count(path, shape, values.len())?;
    write_npy(path, "<u4", shape, values.iter().flat_map(|value| value.to_le_bytes()))
}

/// Writes f32 as a .npy file, last index fastest.
pub fn write_floats(path: &Path, shape: &[usize], values: &[f32]) -> Result<()> {
    check_count(path, shape, values.len())?;
    write_npy(path, "<f4", shape, values.iter().flat_map(|value| value.to_le_bytes()))
}

/// Writes bytes, of gray images say, as a .npy file, last index fastest.
pub fn write_bytes(path: &Path, shape: &[usize], values: &[u8]) -> Result<()> {
    check_count(path, shape, values.len())?;
    write_npy(path, "|u1", shape, values.iter().copied())
}

/// Writes names as a .npy file of one axis, each as wide as the longest, as NumPy keeps them.
pub fn write_names(path: &Path, names: &[String]) -> Result<()> {
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
    let mut bytes = header(&format!("<U{width}"), &[names.len()]);
    for name in names {
        let padding = std::iter::repeat_n('\0', width - name.chars().count());
        bytes.extend(name.chars().chain(padding).flat_map(|c| u32::from(c).to_le_bytes()));
    }
    write_whole(path, &bytes)
}

fn write_npy(path: &Path, kind: &str, shape: &[usize], values: impl Iterator<Item = u8>) -> Result<()> {
    let bytes: Vec<u8> = header(kind, shape).into_iter().chain(values).collect();
    write_whole(path, &bytes)
}

fn check_count(path: &Path, shape: &[usize], count: usize) -> Result<()> {
    if shape.iter().product::<usize>() == count {
        Ok(())
    } else {
        Err(Error::write(
            path,
            std::io::Error::other(format!("the shape {shape:?}, but {count} values")),
        ))
    }
}

/// Writes a gray image of (height, width) as PNG.
pub fn write_gray_png(path: &Path, size: (usize, usize), pixels: &[u8]) -> Result<()> {
    let wrong = |text: String| Error::write(path, std::io::Error::other(text));
    let side = |n: usize| u32::try_from(n).ok();
    let (Some(height), Some(width)) = (side(size.0), side(size.1)) else {
        return Err(wrong(format!("{} x {} pixels are too many", size.0, size.1)));
    };
    if size.0.checked_mul(size.1) != Some(pixels.len()) {
        return Err(wrong(format!("{height} x {width} pixels, but {} values", pixels.len())));
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_filter(png::Filter::Adaptive);
    let mut writer = encoder.write_header().map_err(|e| wrong(e.to_string()))?;
    writer.write_image_data(pixels).map_err(|e| wrong(e.to_string()))?;
    writer.finish().map_err(|e| wrong(e.to_string()))?;
    write_whole(path, &bytes)
}

/// Refuses a path that could not be written, before anything is computed for it. Nothing is made.
pub fn check_writable(path: &Path) -> Result<()> {
    let failed = |source| Error::write(path, source);
    if path.is_dir() {
        return Err(failed(std::io::Error::other("it is a folder; name a file")));
    }
    let there = folder_of(path).ancestors().find(|folder| folder.exists());
    // A relative path without a folder that exists begins here.
    let there = there.unwrap_or(Path::new("."));
    TemporaryFile::beside(&there.join("x")).map(drop).map_err(failed)
}

fn write_by(path: &Path, fill: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>) -> Result<()> {
    let written = || {
        let mut file = TemporaryFile::beside(path)?;
        operation("writing a file")?;
        fill(file.file())?;
        file.persist(path)
    };
    written().map_err(|source| Error::write(path, source))
}

/// Writes an array of a known shape in pieces, each of whole rows. A journal beside it has a line for each piece, with its rows and its
/// digest: an interrupted run goes on behind the last piece that is as it was written.
pub struct NpyRows {
    path: PathBuf,
    file: File,
    journal: File,
    /// Where the numbers begin.
    start: u64,
    /// Values of one row.
    width: usize,
    rows: usize,
    /// The rows and the digest of each piece.
    pieces: Vec<(usize, String)>,
    is_damaged: bool,
}

impl NpyRows {
    /// Opens a file of this shape. Pieces that already exist are kept; a file of another shape is overwritten.
    pub fn open(path: &Path, shape: &[usize]) -> Result<Self> {
        let failed = |source| Error::write(path, source);
        std::fs::create_dir_all(folder_of(path)).map_err(failed)?;
        operation("opening a file of rows").map_err(failed)?;
        let open = |path: &Path| {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).open(path)
        };
        let (mut file, mut journal) = (open(path).map_err(failed)?, open(&Self::journal(path)).map_err(failed)?);
        let begin = header("<f4", shape);
        let mut there = Vec::new();
        let start = begin.len() as u64;
        (&file).take(start).read_to_end(&mut there).map_err(failed)?;
        if there != begin {
            journal.set_len(0).map_err(failed)?;
            file.set_len(0).map_err(failed)?;
            file.rewind().map_err(failed)?;
            file.write_all(&begin).map_err(failed)?;
        }
        let mut text = Vec::new();
        operation("reading a journal").map_err(failed)?;
        journal.read_to_end(&mut text).map_err(failed)?;
        let mut writer = NpyRows {
            path: path.to_path_buf(),
            file,
            journal,
            start,
            width: shape.iter().skip(1).product::<usize>(),
            rows: shape.first().copied().unwrap_or(1),
            pieces: Vec::new(),
            is_damaged: false,
        };
        writer.read_pieces(&text).map_err(failed)?;
        writer.keep(writer.done())?;
        Ok(writer)
    }

    /// The journal of a file, which has done its work when the file is whole.
    pub fn journal(path: &Path) -> PathBuf {
        path.with_added_extension("rows")
    }

    /// Number of rows written so far.
    pub fn done(&self) -> usize {
        self.pieces.iter().map(|(rows, _)| rows).sum()
    }

    /// How many rows there are without the last piece.
    pub fn before_last(&self) -> usize {
        self.done() - self.pieces.last().map_or(0, |(rows, _)| *rows)
    }

    /// Whether pieces were given up because they are not as they were written.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Keeps the pieces up to this row and drops the others.
    pub fn keep(&mut self, rows: usize) -> Result<()> {
        while self.done() > rows {
            self.pieces.pop();
        }
        let end = self.start + 4 * (self.done() * self.width) as u64;
        let lines: String = self.pieces.iter().map(line).collect();
        let mut kept = || {
            operation("cutting a file of rows")?;
            self.journal.set_len(0)?;
            self.journal.rewind()?;
            self.file.set_len(end)?;
            self.file.seek(SeekFrom::Start(end))?;
            self.journal.write_all(lines.as_bytes())
        };
        kept().map_err(|source| Error::write(&self.path, source))
    }

    /// Adds rows, last index fastest.
    pub fn push(&mut self, values: &[f32]) -> Result<()> {
        let (rows, done) = (values.len() / self.width.max(1), self.done());
        if rows * self.width != values.len() || done + rows > self.rows {
            return Err(self.wrong(format!(
                "{} values do not fit: there are {done} of {} rows of {}",
                values.len(),
                self.rows,
                self.width
            )));
        }
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let piece = (rows, blake3::hash(&bytes).to_hex().to_string());
        let mut written = || {
            operation("writing rows")?;
            self.file.write_all(&bytes)?;
            operation("writing a journal")?;
            self.journal.write_all(line(&piece).as_bytes())
        };
        written().map_err(|source| Error::write(&self.path, source))?;
        self.pieces.push(piece);
        Ok(())
    }

    /// Forces the file to disk once it is whole.
    pub fn finish(self) -> Result<()> {
        let done = self.done();
        if done < self.rows {
            return Err(self.wrong(format!("{} of {} rows are missing", self.rows - done, self.rows)));
        }
        let synced = operation("forcing rows to disk").and_then(|()| self.file.sync_all());
        synced.map_err(|source| Error::write(&self.path, source))
    }

    /// Takes the pieces of a journal that are in the file. A line or a piece that was not finished is no damage.
    fn read_pieces(&mut self, journal: &[u8]) -> std::io::Result<()> {
        self.file.seek(SeekFrom::Start(self.start))?;
        let text = String::from_utf8_lossy(journal);
        for text in text.split_inclusive('\n').filter(|text| text.ends_with('\n')) {
            let piece = text.trim_end().split_once(' ');
            let piece = piece.and_then(|(rows, digest)| Some((rows.parse::<usize>().ok()?, digest.to_string())));
            let left = self.rows - self.done();
            let Some(piece) = piece.filter(|(rows, _)| (1..=left).contains(rows)) else {
                self.is_damaged = true;
                break;
            };
            let mut bytes = Vec::new();
            let size = 4 * (piece.0 * self.width) as u64;
            (&self.file).take(size).read_to_end(&mut bytes)?;
            if blake3::hash(&bytes).to_hex().as_str() != piece.1 {
                self.is_damaged = true;
                break;
            }
            self.pieces.push(piece);
        }
        Ok(())
    }

    fn wrong(&self, text: String) -> Error {
        Error::write(&self.path, std::io::Error::other(text))
    }
}

fn line((rows, digest): &(usize, String)) -> String {
    format!("{rows} {digest}\n")
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
#[allow(
    clippy::disallowed_methods,
    reason = "files are damaged in place here, as other programs would"
)]
mod tests {
    use super::*;
    use crate::{InputPath, Pool, read_array};
    use std::sync::Arc;

    #[test]
    fn missing_folders_are_made_and_no_temporary_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/results.json");
        write_whole(&path, b"old").unwrap();
        write_whole(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn tensors_are_read_back_and_a_copy_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let array = Array::new(
            vec![2, 3],
            "f32",
            Data::F32(Arc::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.5])),
        )
        .unwrap();
        let path = folder.path().join("a/z.safetensors");
        write_tensors(&path, &[("z".to_string(), &array)]).unwrap();
        let copy = folder.path().join("b/copy.safetensors");
        copy_whole(&path, &copy).unwrap();
        assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&path).unwrap());
        let back = crate::read_array(&crate::InputPath::file(&copy)).unwrap();
        assert_eq!(back.shape(), [2, 3]);
        let Data::F32(values) = back.data() else {
            panic!("{}", back.dtype())
        };
        assert_eq!((**values).as_ref(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.5]);
    }

    #[test]
    fn integers_and_gray_images_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/n.npy");
        write_integers(&path, &[3, -1, 1 << 40]).unwrap();
        let array = crate::read_array(&crate::InputPath::file(&path)).unwrap();
        assert!(matches!(array.data(), Data::I64(values) if values[..] == [3, -1, 1 << 40]));
        let pixels = [0, 7, 255, 1, 2, 3];
        write_gray_png(&folder.path().join("p/x.png"), (2, 3), &pixels).unwrap();
        let images = crate::Images::open(&folder.path().join("p"), crate::BadImages::Refuse).unwrap();
        let mut read = Vec::new();
        images.read(0..1, &mut read).unwrap();
        assert_eq!((images.shape(), &read[..]), (&[2, 3][..], &pixels.map(f32::from)[..]));
        assert!(write_gray_png(&path, (2, 2), &[0; 3]).is_err());
    }

    #[test]
    fn floats_bytes_and_names_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let read = |name: &str| crate::read_array(&crate::InputPath::file(path(name))).unwrap();
        write_floats(&path("f.npy"), &[2, 2], &[1.0, -2.5, 0.0, 7.0]).unwrap();
        assert!(matches!(read("f.npy").data(), Data::F32(v) if (**v).as_ref() == [1.0, -2.5, 0.0, 7.0]));
        write_bytes(&path("b.npy"), &[3, 1], &[0, 7, 255]).unwrap();
        let bytes = read("b.npy");
        assert_eq!(bytes.shape(), [3, 1]);
        assert!(matches!(bytes.data(), Data::U8(v) if (**v).as_ref() == [0, 7, 255]));
        let names = ["upper left", "", "é"].map(String::from);
        write_names(&path("n.npy"), &names).unwrap();
        assert!(matches!(read("n.npy").data(), Data::Text(v) if v[..] == names));
        assert!(write_floats(&path("f.npy"), &[3], &[0.0; 2]).is_err());
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write_whole(&folder.path().join("file"), b"x").unwrap();
        let below = folder.path().join("file/below.json");
        let error = write_whole(&below, b"x").unwrap_err().to_string();
        assert!(
            error.starts_with("cannot write ") && error.contains("below.json"),
            "{error}"
        );
    }

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
        assert!(writer.done() == 1 && !writer.is_damaged());
        writer.push(&[3.0, 4.0, 5.0, 6.5]).unwrap();
        writer.finish().unwrap();
        assert_eq!((row(&path, 0), row(&path, 1)), ([1.0, 2.0], [3.0, 4.0]));
        assert_eq!(NpyRows::open(&path, &[3, 4]).unwrap().done(), 0);
    }

    #[test]
    fn rows_that_are_not_as_they_were_written_are_given_up_with_those_behind_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.npy");
        let mut writer = NpyRows::open(&path, &[4, 2]).unwrap();
        for row in 0..3 {
            writer.push(&[row as f32, 1.0]).unwrap();
        }
        assert_eq!(writer.before_last(), 2);
        drop(writer);
        let journal = NpyRows::journal(&path);
        let (bytes, lines) = (std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap());
        // The second value of the second row, then the digest in its line of the journal.
        for (file, at) in [(&path, bytes.len() - 12), (&journal, lines.len() / 3 + 10)] {
            let mut flipped = std::fs::read(file).unwrap();
            flipped[at] ^= 1;
            std::fs::write(file, flipped).unwrap();
            let mut writer = NpyRows::open(&path, &[4, 2]).unwrap();
            assert!(writer.done() == 1 && writer.is_damaged());
            for row in 1..4 {
                writer.push(&[row as f32, 1.0]).unwrap();
            }
            writer.finish().unwrap();
            assert_eq!((row(&path, 1), row(&path, 3)), ([1.0, 1.0], [3.0, 1.0]));
            std::fs::write(&path, &bytes).unwrap();
            std::fs::write(&journal, &lines).unwrap();
        }
    }

    #[test]
    fn a_path_is_known_to_be_writable_without_writing() {
        let folder = tempfile::tempdir().unwrap();
        check_writable(&folder.path().join("a/b/z.npy")).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        std::fs::write(folder.path().join("file"), b"x").unwrap();
        assert!(check_writable(&folder.path().join("file/z.npy")).is_err());
        assert!(check_writable(folder.path()).is_err());
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
