// SPDX-License-Identifier: MIT
//! Whether the images of a folder are of one size and kind, and what there is to say about them.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::BadImages;
use super::picture::{Header, decode, look};
use crate::error::{Error, Parsed, Problem, Result, bail};
use crate::names::cut;

/// How many names a note lists.
const LISTED: usize = 5;

/// What was seen of one image.
pub(super) struct Looked {
    pub(super) header: Header,
    pub(super) is_opaque: bool,
}

impl Looked {
    pub(super) fn at(path: &Path, bad: BadImages) -> Result<Looked> {
        let header = look(path)?;
        let is_opaque = if header.has_alpha || bad == BadImages::LeaveOut {
            decode(path)?.is_opaque()
        } else {
            true
        };
        Ok(Looked { header, is_opaque })
    }
}

/// The images that can be decoded, or an error.
pub(super) fn keep(
    folder: &Path,
    files: Vec<PathBuf>,
    looked: Vec<Result<Looked>>,
    bad: BadImages,
    notes: &mut Vec<String>,
) -> Result<(Vec<PathBuf>, Vec<Looked>)> {
    let total = files.len();
    let (mut kept, mut left_out) = ((Vec::new(), Vec::new()), Vec::new());
    for (file, looked) in files.into_iter().zip(looked) {
        match (looked, bad) {
            (Ok(looked), _) => {
                kept.0.push(file);
                kept.1.push(looked);
            }
            (Err(error), BadImages::Refuse) => return Err(error),
            (Err(_), BadImages::LeaveOut) => left_out.push(file),
        }
    }
    if kept.0.is_empty() {
        let known = list(&left_out);
        let none = format!("holds {total} images, none of which can be read, such as {known}");
        return Err(Problem::new(none).in_file(folder.display()));
    }
    if !left_out.is_empty() {
        let (count, known) = (left_out.len(), list(&left_out));
        notes.push(format!(
            "{count} of {total} images cannot be read and are left out: {known}"
        ));
    }
    Ok(kept)
}

/// The kind of all images, but for gray and color.
pub(super) fn one_kind(files: &[PathBuf], looked: &[Looked]) -> Parsed<Header> {
    let first = looked[0].header;
    let others = |differs: &dyn Fn(&Header) -> bool| -> Vec<usize> {
        (0..files.len()).filter(|&i| differs(&looked[i].header)).collect()
    };
    let sizes = others(&|h| (h.width, h.height) != (first.width, first.height));
    if let Some(&at) = sizes.first() {
        let other = looked[at].header;
        bail!(
            "holds images of different sizes: `{}` has {} × {} pixels but `{}` has {} × {} (width × height), and {} of \
             {} differ from the first; bring them to one size",
            name(&files[0]),
            first.width,
            first.height,
            name(&files[at]),
            other.width,
            other.height,
            sizes.len(),
            files.len()
        );
    }
    let bits = others(&|h| h.bits != first.bits);
    if let Some(&at) = bits.first() {
        bail!(
            "holds images of different kinds: `{}` has {} bits per value but `{}` has {}, and {} of {} differ from the \
             first; save all in the same way",
            name(&files[0]),
            first.bits,
            name(&files[at]),
            looked[at].header.bits,
            bits.len(),
            files.len()
        );
    }
    let hidden: Vec<usize> = (0..files.len()).filter(|&i| !looked[i].is_opaque).collect();
    if let Some(&at) = hidden.first() {
        bail!(
            "holds `{}`, in which pixels are transparent, as in {} of {} images; paint it on a background and save it \
             without alpha",
            name(&files[at]),
            hidden.len(),
            files.len()
        );
    }
    Ok(first)
}

pub(super) fn notes_on(found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(other) = &found.other {
        let (others, name) = (&found.others, name(other));
        notes.push(format!(
            "{others} other files are no images by their names and are passed over, such as `{name}`"
        ));
    }
    if !found.repeated.is_empty() {
        let (count, known) = (found.repeated.len(), list(&found.repeated));
        notes.push(format!(
            "{count} links lead to folders that are there under another name and are not followed: {known}"
        ));
    }
    notes
}

pub(super) fn notes_on_kinds(looked: &[Looked]) -> Vec<String> {
    let mut notes = Vec::new();
    let gray = looked.iter().filter(|l| l.header.colors == 1).count();
    if gray > 0 && gray < looked.len() {
        notes.push(format!(
            "{gray} of {} images are gray and are given three equal colors, as the others have color",
            looked.len()
        ));
    }
    let alpha = looked.iter().filter(|l| l.header.has_alpha).count();
    if alpha > 0 {
        notes.push(format!(
            "{alpha} of {} images have an alpha channel, which is opaque everywhere and is dropped",
            looked.len()
        ));
    }
    notes
}

fn list(files: &[PathBuf]) -> String {
    cut(files.iter().map(|file| format!("`{}`", name(file))), LISTED)
}

/// A path in the folder as people write it.
pub(super) fn name(file: &Path) -> String {
    let parts: Vec<String> = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    parts.join("/")
}

/// How the names of images end, in upper or lower case.
pub(super) const EXTENSIONS: [&str; 3] = ["png", "jpg", "jpeg"];

/// What a folder holds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Images by their paths in the folder, sorted by the bytes of each component.
    pub(super) images: Vec<PathBuf>,
    /// How many files are no images by their names, and the first of them.
    pub(super) others: usize,
    pub(super) other: Option<PathBuf>,
    /// Links to folders that had been looked into under another name.
    pub(super) repeated: Vec<PathBuf>,
}

/// Looks through a folder and all folders in it. What begins with a dot is passed over. Links are followed, but
/// no folder is entered twice, so that links in a circle end.
pub(super) fn find(root: &Path) -> Result<Found> {
    let mut search = Search {
        root,
        seen: HashSet::new(),
        found: Found::default(),
    };
    search.enter(Path::new(""))?;
    // A path compares component by component and these by their bytes: never by the order of the file system.
    search.found.images.sort();
    Ok(search.found)
}

struct Search<'a> {
    root: &'a Path,
    /// The folders that have been entered, by their real paths.
    seen: HashSet<PathBuf>,
    found: Found,
}

impl Search<'_> {
    fn enter(&mut self, folder: &Path) -> Result<()> {
        let path = self.root.join(folder);
        let failed = |source| Error::read(&path, source);
        if !self.seen.insert(fs::canonicalize(&path).map_err(failed)?) {
            self.found.repeated.push(folder.to_path_buf());
            return Ok(());
        }
        let mut entries: Vec<(OsString, fs::FileType)> = Vec::new();
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                entries.push((entry.file_name(), entry.file_type().map_err(failed)?));
            }
        }
        // Which of two names of a folder comes first must not depend on the file system either.
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in entries {
            let relative = folder.join(name);
            // Where a link leads nowhere its name decides, so that a lost image is an error and not passed over.
            let target = if kind.is_symlink() {
                fs::metadata(self.root.join(&relative)).ok().map(|m| m.file_type())
            } else {
                Some(kind)
            };
            if target.is_some_and(|target| target.is_dir()) {
                self.enter(&relative)?;
            } else if target.is_none_or(|target| target.is_file()) && is_image(&relative) {
                self.found.images.push(relative);
            } else {
                self.found.others += 1;
                self.found.other.get_or_insert(relative);
            }
        }
        Ok(())
    }
}

fn is_image(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}
