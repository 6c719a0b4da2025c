// SPDX-License-Identifier: MIT
//! A folder of images: one row per image, decoded when it is read.
//!
//! Values are those in the files: nothing is resized, no color profile is applied and no picture turned by what its
//! camera noted. Gray images are (height, width), color images (height, width, 3).

mod agree;
mod picture;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::array::{Array, Data};
use crate::element::reserve;
use crate::error::{Error, Problem, Result, problem};
use crate::watched::Watched;
use agree::{EXTENSIONS, Looked, keep, name, notes_on, notes_on_kinds, one_kind};
use picture::{Header, Picture, decode};

/// What becomes of images that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BadImages {
    /// The first of them is an error.
    #[default]
    Refuse,
    /// They are no rows, and a note says so. All images are decoded once to find them.
    LeaveOut,
}

/// The images of a folder and of the folders in it, `.png`, `.jpg` and `.jpeg`, all of one size and kind.
///
/// They are sorted by their paths in the folder, component by component and by bytes, so that the order is the same
/// on every file system. Names that begin with a dot are passed over.
#[derive(Debug, Clone)]
pub struct Images {
    folder: PathBuf,
    files: Vec<PathBuf>,
    names: Vec<String>,
    shape: Vec<usize>,
    colors: usize,
    bits: usize,
    notes: Vec<String>,
    /// The files as they were when they were digested.
    watched: OnceLock<Vec<Watched>>,
}

impl Images {
    /// Finds the images and reads their headers. Images with alpha are decoded too, to see whether it hides anything.
    pub fn open(folder: &Path, bad: BadImages) -> Result<Images> {
        if !folder.metadata().map_err(|e| Error::read(folder, e))?.is_dir() {
            return Err(
                Problem::new("is not a folder; give the folder that holds the images").in_file(folder.display())
            );
        }
        let found = agree::find(folder)?;
        if found.images.is_empty() {
            return Err(problem!(
                "holds no image: of its {} files none is .{} by its name",
                found.others,
                EXTENSIONS.join(", .")
            )
            .in_file(folder.display()));
        }
        let mut notes = notes_on(&found);
        let looked: Vec<Result<Looked>> = found
            .images
            .par_iter()
            .map(|file| Looked::at(&folder.join(file), bad))
            .collect();
        let (files, looked) = keep(folder, found.images, looked, bad, &mut notes)?;
        let header = one_kind(&files, &looked).map_err(|p| p.in_file(folder.display()))?;
        let colors = looked.iter().map(|l| l.header.colors).max().unwrap_or(1);
        notes.extend(notes_on_kinds(&looked));
        let mut shape = vec![header.height, header.width];
        if colors == 3 {
            shape.push(3);
        }
        Ok(Images {
            folder: folder.to_path_buf(),
            names: files.iter().map(|file| name(file)).collect(),
            files,
            shape,
            colors,
            bits: header.bits,
            notes,
            watched: OnceLock::new(),
        })
    }

    /// How many images there are, at least one.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// The shape of one image: (height, width), or (height, width, 3).
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// `u8`, or `u16` for images of 16 bits, whose values are 0 to 65,535.
    pub fn dtype(&self) -> &str {
        if self.bits == 8 { "u8" } else { "u16" }
    }

    /// The paths in the folder, one per row, with `/` between their parts.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What was passed over, left out or changed, in sentences without a full stop.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The first folder on the way to each image; `None` where an image lies in no folder of its own class.
    pub fn labels(&self) -> Option<Vec<String>> {
        let first = |name: &String| Some(name.split_once('/')?.0.to_string());
        self.names.iter().map(first).collect()
    }

    /// Puts the values of some images behind those that `into` holds. Images are decoded side by side.
    pub fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        let Some(files) = self.files.get(rows.clone()) else {
            return Err(Error::Input(format!(
                "images {rows:?} were requested, but there are {}",
                self.count()
            )));
        };
        let new = files.len().checked_mul(self.size());
        let Some(new) = new.filter(|&new| into.try_reserve_exact(new).is_ok()) else {
            return Err(self.too_many(files.len()));
        };
        let before = into.len();
        into.resize(before + new, 0.0);
        self.fill(rows, &mut into[before..], |picture, row| picture.put(self.colors, row))
    }

    /// All images in one array, of bytes where the files hold bytes.
    pub fn read_all(&self) -> Result<Array> {
        let shape: Vec<usize> = std::iter::once(self.count())
            .chain(self.shape.iter().copied())
            .collect();
        let data = if self.bits == 8 {
            let size = self.count().checked_mul(self.size());
            let room = size.and_then(|size| Some((size, reserve(size).ok()?)));
            let Some((size, mut bytes)) = room else {
                return Err(self.too_many(self.count()));
            };
            bytes.resize(size, 0);
            self.fill(0..self.count(), &mut bytes, |picture, row| {
                picture.put_bytes(self.colors, row);
            })?;
            Data::u8(bytes)
        } else {
            let mut values = Vec::new();
            self.read(0..self.count(), &mut values)?;
            Data::f32(values)
        };
        Array::checked(shape, self.dtype(), data).map_err(|p| p.in_file(self.folder.display()))
    }

    /// The BLAKE3 digest of the names and bytes of all images, in hexadecimal. From now on an image that has changed is not read.
    pub fn digest(&self) -> Result<String> {
        let mut all = blake3::Hasher::new();
        for (name, file) in self.names.iter().zip(self.watched()?) {
            all.update(&(name.len() as u64).to_le_bytes());
            all.update(name.as_bytes());
            let digest = blake3::Hash::from_hex(file.digest()).expect("a digest is written in hexadecimal");
            all.update(digest.as_bytes());
        }
        Ok(all.finalize().to_hex().to_string())
    }

    /// The files as they were when they were first digested.
    pub fn watched(&self) -> Result<&[Watched]> {
        if let Some(watched) = self.watched.get() {
            return Ok(watched);
        }
        let opened: Vec<Result<Watched>> = self
            .files
            .par_iter()
            .map(|file| Watched::open(&self.folder.join(file)))
            .collect();
        let opened = opened.into_iter().collect::<Result<Vec<Watched>>>()?;
        Ok(self.watched.get_or_init(|| opened))
    }

    fn size(&self) -> usize {
        self.shape.iter().product()
    }

    fn fill<T: Send>(&self, rows: Range<usize>, into: &mut [T], put: impl Fn(&Picture, &mut [T]) + Sync) -> Result<()> {
        let one = |(row, image): (&mut [T], usize)| {
            let path = self.folder.join(&self.files[image]);
            let picture = decode(&path)?;
            if let Some(watched) = self.watched.get() {
                watched[image].verify()?;
            }
            let Header {
                width, height, bits, ..
            } = picture.header;
            if [height, width] != self.shape[..2] || bits != self.bits || picture.header.colors > self.colors {
                let changed = "has changed since its folder was opened; inputs must stay as they are during a run";
                return Err(Problem::new(changed).in_file(path.display()));
            }
            put(&picture, row);
            Ok(())
        };
        let done: Vec<Result<()>> = into.par_chunks_exact_mut(self.size()).zip(rows).map(one).collect();
        // The first error by order, whichever thread met one first.
        done.into_iter().collect()
    }

    fn too_many(&self, images: usize) -> Error {
        Error::Input(format!(
            "{images} images of {} values at once need more memory than there is; read fewer at a time",
            self.size()
        ))
    }
}
