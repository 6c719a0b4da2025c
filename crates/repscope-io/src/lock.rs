// SPDX-License-Identifier: MIT
//! Locks between processes, as files that are locked: whoever ends, however it ends, gives its locks back.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Problem, Result};
use crate::temporary::{Listed, PREFIX};

/// A lock that this process holds.
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Holds it alone. `waiting` is called where another process holds it.
    pub fn alone(path: &Path, waiting: &dyn Fn()) -> Result<Self> {
        Lock::take(path, waiting, File::try_lock, File::lock)
    }

    /// Holds it together with others that do not need it alone.
    pub fn together(path: &Path, waiting: &dyn Fn()) -> Result<Self> {
        Lock::take(path, waiting, File::try_lock_shared, File::lock_shared)
    }

    /// Holds it alone; `None` where another process holds it.
    pub fn try_alone(path: &Path) -> Result<Option<Self>> {
        let failed = |source| Error::write(path, source);
        loop {
            let file = open(path).map_err(failed)?;
            if !is_granted(file.try_lock()).map_err(failed)? {
                return Ok(None);
            }
            // Else its last holder has just removed it.
            if is_at(&file, path) {
                let path = path.to_path_buf();
                return Ok(Some(Lock { file, path }));
            }
        }
    }

    /// From now on together with others. For a moment nobody holds it.
    pub fn share(self) -> Result<Self> {
        let changed = self.file.unlock().and_then(|()| self.file.lock_shared());
        match changed {
            Err(source) if !has_no_locks(&source) => Err(Error::write(&self.path, source)),
            _ => Ok(self),
        }
    }

    fn take(
        path: &Path,
        waiting: &dyn Fn(),
        now: fn(&File) -> std::result::Result<(), TryLockError>,
        wait: fn(&File) -> io::Result<()>,
    ) -> Result<Self> {
        let failed = |source| Error::write(path, source);
        loop {
            let file = open(path).map_err(failed)?;
            if !is_granted(now(&file)).map_err(failed)? {
                waiting();
                wait(&file).map_err(failed)?;
            }
            if is_at(&file, path) {
                let path = path.to_path_buf();
                return Ok(Lock { file, path });
            }
        }
    }
}

/// Whether nobody else holds it. On a file system without locks nobody does.
fn is_granted(answer: std::result::Result<(), TryLockError>) -> io::Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Some network file systems have no locks.
fn has_no_locks(error: &io::Error) -> bool {
    #[cfg(unix)]
    let is_known = matches!(
        error.raw_os_error(),
        Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOLCK)
    );
    #[cfg(not(unix))]
    let is_known = false;
    is_known || error.kind() == io::ErrorKind::Unsupported
}

/// Opens a file to lock it: nothing in it is changed, and a symbolic link is not followed.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options.open(path)
}

/// Whether the locked file still is the one at this path: a lock on a file that was removed keeps nobody out.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    let there = std::fs::symlink_metadata(path).map(identity).ok();
    there.is_some() && file.metadata().map(identity).ok() == there
}

/// Elsewhere lock files are never removed.
#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// A folder that this process writes into, and no other one that asks. It can be written; what was made for it goes if it stays empty.
pub struct Claim {
    /// Folders that were not there, the outermost first.
    made: Vec<PathBuf>,
    path: PathBuf,
    /// A signal removes them, too.
    _listed: Vec<Listed>,
    /// Given back last.
    _lock: Lock,
}

impl Claim {
    /// Claims a folder, which is made where it is missing.
    pub fn take(folder: &Path) -> Result<Self> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let mut made: Vec<PathBuf> = folder
            .ancestors()
            .take_while(is_missing)
            .map(Path::to_path_buf)
            .collect();
        made.reverse();
        let failed = |source| Error::write(folder, source);
        if folder.exists() {
            // Says what else it is.
            std::fs::read_dir(folder).map_err(failed)?;
        }
        let mut listed: Vec<Listed> = made.iter().map(|folder| Listed::while_empty(folder)).collect();
        std::fs::create_dir_all(folder).map_err(failed)?;
        let path = folder.join(format!("{PREFIX}lock"));
        let taken = Listed::make(|| {
            let lock = Lock::try_alone(&path).map_err(io::Error::other)?;
            Ok((lock, path.clone()))
        });
        match taken {
            Ok((Some(lock), own)) => {
                listed.push(own);
                Ok(Claim {
                    made,
                    path,
                    _listed: listed,
                    _lock: lock,
                })
            }
            Ok((None, _)) => Err(Problem::new(
                "is being written by another run; wait until that has ended, or choose another output folder",
            )
            .in_file(folder.display())),
            Err(error) => {
                remove_empty(&made);
                Err(match error.downcast::<Error>() {
                    Ok(own) => own,
                    Err(source) => Error::write(&path, source),
                })
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Still locked: who has it open already sees that it is gone, and opens another one. Where locks are not looked at so
        // (`is_at`), it stays.
        if cfg!(unix) {
            let _ = std::fs::remove_file(&self.path);
        }
        remove_empty(&self.made);
    }
}

fn remove_empty(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "files are damaged in place here, as other programs would"
)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let lock = Lock::alone(&path, &|| panic!("nobody holds it")).unwrap();
        assert!(Lock::try_alone(&path).unwrap().is_none());
        drop(lock);
        let shared = Lock::together(&path, &|| panic!("nobody holds it")).unwrap();
        let other = Lock::together(&path, &|| panic!("it is shared")).unwrap();
        assert!(Lock::try_alone(&path).unwrap().is_none());
        drop((shared, other));
        assert!(Lock::try_alone(&path).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_system_without_locks_is_used_without_them() {
        let answer = |code: i32| is_granted(Err(TryLockError::Error(io::Error::from_raw_os_error(code))));
        assert!(answer(libc::ENOLCK).unwrap() && answer(libc::ENOSYS).unwrap());
        assert!(answer(libc::EIO).is_err());
        assert!(!is_granted(Err(TryLockError::WouldBlock)).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_on_a_file_that_was_removed_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let old = open(&path).unwrap();
        old.lock().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&old, &path));
        assert!(Lock::try_alone(&path).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_a_lock_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (precious, path) = (folder.path().join("precious"), folder.path().join("a.lock"));
        std::fs::write(&precious, b"all of it").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        assert!(Lock::try_alone(&path).is_err() && Lock::alone(&path, &|| {}).is_err());
        assert_eq!(std::fs::read(&precious).unwrap(), b"all of it");
    }

    #[test]
    fn a_claimed_folder_is_refused_to_others_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        let claim = Claim::take(&path).unwrap();
        let error = Claim::take(&path).err().unwrap().to_string();
        assert!(error.contains("another run") && error.contains("a/b"), "{error}");
        drop(claim);
        assert!(!folder.path().join("a").exists());
        let claim = Claim::take(&path).unwrap();
        std::fs::write(path.join("results.json"), b"{}").unwrap();
        drop(claim);
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), b"x").unwrap();
        let error = Claim::take(&folder.path().join("file/below"))
            .err()
            .unwrap()
            .to_string();
        assert!(
            error.starts_with("cannot write ") && error.contains("file/below"),
            "{error}"
        );
    }
}
