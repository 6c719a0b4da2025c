// SPDX-License-Identifier: MIT
//! Temporary files and folders. They go when they are dropped; [`remove_all`] removes them when a signal ends the process; and what a
//! killed process left is collected by the next one that writes into the same folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tempfile::{NamedTempFile, TempDir};

use crate::faults::operation;

/// How the names of temporary files and folders begin.
pub const PREFIX: &str = ".repscope-";
/// What is younger is left alone: its process may be about to lock it.
const YOUNG: Duration = Duration::from_secs(60);

/// The temporary files and folders of this process.
static OWN: Mutex<BTreeMap<PathBuf, Goes>> = Mutex::new(BTreeMap::new());
/// The folders in which this process has collected what others left.
static COLLECTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How something goes with the process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// With everything in it.
    Whole,
    /// If nothing is in it.
    Empty,
}

fn own() -> MutexGuard<'static, BTreeMap<PathBuf, Goes>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path that goes with the process.
pub(crate) struct Listed(PathBuf);

impl Listed {
    /// Makes something while nobody removes what is listed, and lists it.
    pub(crate) fn make<T>(make: impl FnOnce() -> io::Result<(T, PathBuf)>) -> io::Result<(T, Listed)> {
        let mut own = own();
        let (made, path) = make()?;
        own.insert(path.clone(), Goes::Whole);
        Ok((made, Listed(path)))
    }

    /// A folder that goes unless something was put into it.
    pub(crate) fn while_empty(folder: &Path) -> Listed {
        own().insert(folder.to_path_buf(), Goes::Empty);
        Listed(folder.to_path_buf())
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        own().remove(&self.0);
    }
}

/// A file that is renamed when it is whole, or goes.
pub(crate) struct TemporaryFile {
    file: NamedTempFile,
    _listed: Listed,
}

impl TemporaryFile {
    /// In the folder of `path`, which is made where it is missing.
    pub(crate) fn beside(path: &Path) -> io::Result<Self> {
        let folder = crate::path::folder_of(path);
        operation("making a folder")?;
        std::fs::create_dir_all(folder)?;
        collect(folder);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        // Temporary files are private by default; results are ordinary files, as the umask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        operation("making a temporary file")?;
        let (file, _listed) = Listed::make(|| {
            let file = builder.tempfile_in(folder)?;
            let path = file.path().to_path_buf();
            Ok((file, path))
        })?;
        // Tells the collector that somebody writes here. A file system without locks has none to be told.
        let _ = file.as_file().try_lock();
        Ok(TemporaryFile { file, _listed })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Forces it to disk and gives it its name.
    pub(crate) fn persist(self, path: &Path) -> io::Result<()> {
        operation("forcing a file to disk")?;
        self.file.as_file().sync_all()?;
        operation("renaming a file")?;
        self.file.persist(path).map(drop).map_err(|e| e.error)
    }
}

/// A folder that goes with everything in it.
pub struct TemporaryFolder {
    folder: TempDir,
    /// Tells the collector that somebody uses it.
    _lock: Option<File>,
    _listed: Listed,
}

impl TemporaryFolder {
    /// In this folder, which is made where it is missing; in that of the system where none is named.
    pub fn new(within: Option<&Path>) -> io::Result<Self> {
        let within = within.map_or_else(std::env::temp_dir, Path::to_path_buf);
        std::fs::create_dir_all(&within)?;
        collect(&within);
        let (folder, _listed) = Listed::make(|| {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&within)?;
            let path = folder.path().to_path_buf();
            Ok((folder, path))
        })?;
        let lock = File::open(folder.path()).ok().filter(|file| file.try_lock().is_ok());
        Ok(TemporaryFolder {
            folder,
            _lock: lock,
            _listed,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes all temporary files and folders of this process, for good: whoever would make or rename another one waits until the
/// process ends.
pub fn remove_all() {
    let own = own();
    let of = |wanted: Goes| own.iter().rev().filter(move |(_, goes)| **goes == wanted);
    of(Goes::Whole).for_each(|(path, _)| remove(path));
    // The innermost first.
    for (folder, _) in of(Goes::Empty) {
        let _ = std::fs::remove_dir(folder);
    }
    std::mem::forget(own);
}

/// Removes what killed processes left in a folder, once in the life of this process.
#[allow(clippy::disallowed_methods, reason = "the age of a file that is none of the results")]
fn collect(folder: &Path) {
    let mut collected = COLLECTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !collected.insert(folder.to_path_buf()) {
        return;
    }
    drop(collected);
    // What cannot be listed or removed does no harm.
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let old = SystemTime::now().checked_sub(YOUNG);
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_old = || {
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            old.is_some_and(|old| changed.is_ok_and(|changed| changed < old))
        };
        let is_link = || entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_ours && is_old() && !is_link() && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            remove(&entry.path());
        }
    }
}

fn remove(path: &Path) {
    let _ = match path.is_dir() {
        true => std::fs::remove_dir_all(path),
        false => std::fs::remove_file(path),
    };
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "files are damaged in place here, as other programs would"
)]
mod tests {
    use super::*;

    fn age(path: &Path) {
        let file = File::open(path).unwrap();
        file.set_modified(SystemTime::now() - 2 * YOUNG).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_collected_and_what_is_used_or_young_or_foreign_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [".repscope-dead", ".repscope-young", ".repscope-used", "repscope-mine"] {
            std::fs::write(path(name), b"x").unwrap();
        }
        std::fs::create_dir(path(".repscope-folder")).unwrap();
        std::fs::write(path(".repscope-folder").join("0.npy"), b"x").unwrap();
        let used = File::open(path(".repscope-used")).unwrap();
        used.lock().unwrap();
        for name in [".repscope-dead", ".repscope-used", "repscope-mine", ".repscope-folder"] {
            age(&path(name));
        }
        crate::write_whole(&path("results.json"), b"{}").unwrap();
        let left = [
            ".repscope-dead",
            ".repscope-folder",
            ".repscope-young",
            ".repscope-used",
            "repscope-mine",
        ];
        assert_eq!(left.map(|name| path(name).exists()), [false, false, true, true, true]);
    }

    #[test]
    fn a_temporary_folder_goes_with_what_it_holds() {
        let within = tempfile::tempdir().unwrap();
        let folder = TemporaryFolder::new(Some(within.path())).unwrap();
        std::fs::write(folder.path().join("x"), b"x").unwrap();
        assert!(own().contains_key(folder.path()));
        let path = folder.path().to_path_buf();
        drop(folder);
        assert!(!path.exists() && !own().contains_key(&path));
    }
}
