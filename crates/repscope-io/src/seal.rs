// SPDX-License-Identifier: MIT
//! Stored files with their digests: `digests.txt` beside them, a line for each, as `b3sum --check` reads it. Whatever a later run takes
//! from disk (cached embeddings, predictions, results of an analysis) it takes only if the digest fits; else it computes it again.

use std::collections::BTreeMap;
use std::path::Path;

use crate::digest::digest;
use crate::error::{Error, Parsed, Problem, Result, bail, problem};
use crate::faults::operation;
use crate::write::write_whole;

/// The digests of some files of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal(BTreeMap<String, String>);

impl Seal {
    /// The file beside the others.
    pub const FILE: &str = "digests.txt";

    /// Writes the digests of these files of a folder. Where it returns, they are on disk.
    pub fn write(folder: &Path, names: &[impl AsRef<str>]) -> Result<()> {
        let mut text = String::new();
        for name in names.iter().map(AsRef::as_ref) {
            text += &format!("{}  {name}\n", digest(&folder.join(name))?);
        }
        write_whole(&folder.join(Self::FILE), text.as_bytes())?;
        sync_folder(folder)
    }

    /// The digests that a folder has; `None` where it has none.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(Self::FILE);
        if !path.exists() {
            return Ok(None);
        }
        operation("reading digests").map_err(|source| Error::read(&path, source))?;
        let text = std::fs::read(&path).map_err(|source| Error::read(&path, source))?;
        parse(&text).map(Some).map_err(|p| p.in_file(path.display()))
    }

    /// Refuses a file that is not as it was written.
    pub fn check(&self, folder: &Path, name: &str) -> Result<()> {
        let path = folder.join(name);
        let changed = |problem: &str| Problem::new(problem).in_file(path.display());
        let Some(expected) = self.0.get(name) else {
            return Err(changed(&format!("has no digest in {}", Self::FILE)));
        };
        if digest(&path)? == *expected {
            Ok(())
        } else {
            Err(changed("is not as it was written: its digest is another one"))
        }
    }

    /// The files that have digests.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn parse(text: &[u8]) -> Parsed<Seal> {
    let damaged = || problem!("is damaged: a line of it is no digest and name");
    let text = str::from_utf8(text).map_err(|_| damaged())?;
    let mut digests = BTreeMap::new();
    for line in text.lines() {
        let (digest, name) = line.split_once("  ").ok_or_else(damaged)?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        // Names of a folder's own files only.
        if !is_digest || Path::new(name).file_name() != Some(name.as_ref()) {
            return Err(damaged());
        }
        digests.insert(name.to_string(), digest.to_string());
    }
    if digests.is_empty() {
        bail!("is damaged: it is empty");
    }
    Ok(Seal(digests))
}

/// Forces the names in a folder to disk.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let synced = || {
        operation("forcing a folder to disk")?;
        // Elsewhere a folder cannot be opened, and names are on disk by themselves.
        if cfg!(unix) {
            std::fs::File::open(folder)?.sync_all()?;
        }
        Ok(())
    };
    synced().map_err(|source| Error::write(folder, source))
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "files are damaged in place here, as other programs would"
)]
mod tests {
    use super::*;

    #[test]
    fn one_flipped_bit_anywhere_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let check = || -> Result<()> {
            let seal = Seal::read(folder.path())?.expect("digests");
            ["a", "b"].iter().try_for_each(|name| seal.check(folder.path(), name))
        };
        assert_eq!(Seal::read(folder.path()).unwrap(), None);
        for name in ["a", "b"] {
            write_whole(&path(name), name.as_bytes()).unwrap();
        }
        Seal::write(folder.path(), &["a", "b"]).unwrap();
        check().unwrap();
        for name in ["a", "b", Seal::FILE] {
            let bytes = std::fs::read(path(name)).unwrap();
            for bit in 0..8 * bytes.len() {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                std::fs::write(path(name), &flipped).unwrap();
                assert!(check().is_err(), "bit {bit} of {name}");
            }
            std::fs::write(path(name), &bytes).unwrap();
        }
        check().unwrap();
        std::fs::remove_file(path("b")).unwrap();
        assert!(check().is_err());
    }

    #[test]
    fn names_outside_the_folder_are_refused() {
        let digest = "0".repeat(64);
        for name in ["../a", "/a", "a/b", "..", ""] {
            assert!(parse(format!("{digest}  {name}\n").as_bytes()).is_err(), "{name}");
        }
    }
}
