// SPDX-License-Identifier: MIT
//! Inputs must stay as they are during a run: numbers are read where they lie, and are cached under the digests of their inputs. A file is
//! opened and digested once, and looked at again before anything is published.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::error::{Error, Result, problem};
use crate::mapped::MappedFile;

/// A file that was changed less than this before it was looked at may be changed again without a trace in its times.
const COARSE: Duration = Duration::from_secs(2);

/// A file as it was when it was opened. Clones are one.
#[derive(Debug, Clone)]
pub struct Watched(Arc<File>);

#[derive(Debug)]
struct File {
    path: PathBuf,
    digest: String,
    /// As it was when the digest last fitted.
    stamp: Mutex<Stamp>,
}

/// What tells without reading a file that it is the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Device, number and time of the last change of anything about the file.
    identity: (u64, u64, i64, i64),
    /// When it was looked at.
    seen: SystemTime,
}

impl Watched {
    /// Opens and digests a file.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Watched::of(path, &MappedFile::open(path)?))
    }

    /// A file that is open already.
    pub(crate) fn of(path: &Path, file: &MappedFile) -> Self {
        Watched(Arc::new(File {
            path: path.to_path_buf(),
            digest: file.digest(),
            stamp: Mutex::new(file.stamp()),
        }))
    }

    /// The BLAKE3 digest of its bytes, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.0.digest
    }

    /// Refuses a file that is not what it was: by size, times and place, and by its digest where those changed.
    pub fn verify(&self) -> Result<()> {
        let path = &self.0.path;
        let now = std::fs::metadata(path).map_err(|source| Error::read(path, source))?;
        let now = Stamp::of(&now);
        let mut stamp = self.0.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if now.is_surely(&stamp) {
            return Ok(());
        }
        if now.size != stamp.size {
            let (before, now) = (stamp.size, now.size);
            return Err(problem!(
                "has changed during the run: it had {before} bytes and now has {now}. Nothing of what was computed from it is \
                 kept; run again when no other program writes it"
            )
            .in_file(path.display()));
        }
        let file = MappedFile::open(path)?;
        if file.digest() != self.0.digest {
            return Err(problem!(
                "has changed during the run: it still has {} bytes, but others. Nothing of what was computed from it is kept; run \
                 again when no other program writes it",
                now.size
            )
            .in_file(path.display()));
        }
        *stamp = file.stamp();
        Ok(())
    }
}

impl Stamp {
    #[allow(
        clippy::disallowed_methods,
        reason = "decides whether a file is read once more, and no number"
    )]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
        };
        #[cfg(not(unix))]
        let identity = (0, 0, 0, 0);
        Stamp {
            size: metadata.len(),
            modified: metadata.modified().ok(),
            identity,
            seen: SystemTime::now(),
        }
    }

    /// Whether nothing can have changed since `before`.
    fn is_surely(&self, before: &Stamp) -> bool {
        let is_settled = |modified: SystemTime| modified.checked_add(COARSE).is_some_and(|end| end < before.seen);
        (self.size, self.modified, self.identity) == (before.size, before.modified, before.identity)
            && before.modified.is_some_and(is_settled)
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "files are damaged in place here, as other programs would"
)]
mod tests {
    use super::*;

    fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("z.npy");
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn other_bytes_are_found_however_they_came_there() {
        let (folder, path) = file(b"before");
        let watched = Watched::open(&path).unwrap();
        watched.verify().unwrap();
        std::fs::write(&path, b"before").unwrap();
        watched.verify().unwrap();
        std::fs::write(&path, b"behind").unwrap();
        let error = watched.verify().unwrap_err().to_string();
        assert!(error.contains("z.npy") && error.contains("6 bytes"), "{error}");
        let other = folder.path().join("other");
        std::fs::write(&other, b"behind").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(watched.verify().is_err());
        std::fs::write(&path, b"bef").unwrap();
        let error = watched.verify().unwrap_err().to_string();
        assert!(error.contains("6 bytes") && error.contains("now has 3"), "{error}");
        std::fs::remove_file(&path).unwrap();
        assert!(watched.verify().is_err());
    }

    #[test]
    fn a_change_that_leaves_the_time_as_it_was_is_found_in_a_file_that_is_young() {
        let (_folder, path) = file(b"before");
        let time = std::fs::metadata(&path).unwrap().modified().unwrap();
        let watched = Watched::open(&path).unwrap();
        std::fs::write(&path, b"behind").unwrap();
        std::fs::File::open(&path).unwrap().set_modified(time).unwrap();
        assert!(watched.verify().is_err());
    }
}
