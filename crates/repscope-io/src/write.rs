// SPDX-License-Identifier: MIT
//! Writing: whole or not at all.

use std::io::Write;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes a file so that a reader sees the old bytes or the new ones, never a part: into a temporary
/// file beside it, forced to disk, then renamed. Missing parent folders are made.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_beside(path, bytes).map_err(|source| Error::write(path, source))
}

/// A temporary file in the folder of `path`, which is made where it is missing.
pub(crate) fn temporary_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".repscope-");
    // Temporary files are private by default; results are ordinary files, as the umask allows.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent)
}

fn write_beside(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = temporary_beside(path)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
