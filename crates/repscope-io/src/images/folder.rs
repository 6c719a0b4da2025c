// SPDX-License-Identifier: MIT
//! Which files of a folder are images, by their names.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

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
