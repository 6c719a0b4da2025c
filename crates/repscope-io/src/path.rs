// SPDX-License-Identifier: MIT
//! Where an input is: a file, and the name of one array inside it.

use std::fmt;
use std::path::{Path, PathBuf};

/// The folder of a path; `.` where the path names none.
pub fn folder_of(path: &Path) -> &Path {
    let named = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

/// A file and, after `#`, the array, tensor or column in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InputPath {
    /// The file.
    pub path: PathBuf,
    /// The array inside the file; `None` where the file holds one array only.
    pub key: Option<String>,
}

impl InputPath {
    /// Splits `file.npz#key`. A file whose own name contains `#` wins over a key, which is why this
    /// looks at the disk; where no reading gives an existing file, the last `#` begins the key.
    pub fn parse(text: &str) -> Self {
        let whole = InputPath::file(text);
        if whole.path.exists() {
            return whole;
        }
        // `file.bin:f32:1000x64`: what its numbers are is the key.
        if let Some((file, kind)) = text.rmatch_indices(':').nth(1).map(|(at, _)| text.split_at(at))
            && Path::new(file).is_file()
        {
            return InputPath {
                path: PathBuf::from(file),
                key: Some(kind.to_string()),
            };
        }
        let splits: Vec<InputPath> = text.rmatch_indices('#').map(|(at, _)| Self::split(text, at)).collect();
        let existing = splits.iter().find(|s| s.path.exists());
        existing.or(splits.first()).cloned().unwrap_or(whole)
    }

    /// A file without a key.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        InputPath {
            path: path.into(),
            key: None,
        }
    }

    /// What to call the input where no name was given: the file stem, as in `jepa` for `runs/jepa.npy`.
    pub fn stem(&self) -> String {
        let stem = self.path.file_stem().unwrap_or(self.path.as_os_str());
        stem.to_string_lossy().into_owned()
    }

    fn split(text: &str, at: usize) -> Self {
        let key = &text[at + 1..];
        InputPath {
            path: PathBuf::from(&text[..at]),
            key: (!key.is_empty()).then(|| key.to_string()),
        }
    }
}

impl fmt::Display for InputPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match &self.key {
            Some(key) if key.starts_with(':') => write!(f, "{key}"),
            Some(key) => write!(f, "#{key}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_after_the_last_hash_is_the_key() {
        let input = InputPath::parse("no/such.npz#z");
        assert_eq!(input.path, Path::new("no/such.npz"));
        assert_eq!(input.key.as_deref(), Some("z"));
        assert_eq!(input.to_string(), "no/such.npz#z");
        assert_eq!(input.stem(), "such");
    }

    #[test]
    fn a_file_whose_name_contains_a_hash_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run#3.npz");
        crate::write_whole(&path, b"x").unwrap();
        let text = path.display().to_string();
        assert_eq!(InputPath::parse(&text), InputPath::file(&path));
        assert_eq!(InputPath::parse(&format!("{text}#a#b")).key.as_deref(), Some("a#b"));
    }
}
