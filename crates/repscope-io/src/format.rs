// SPDX-License-Identifier: MIT
//! Which kind of file it is: by extension, then checked against the first bytes.

use std::path::Path;

use crate::error::{Parsed, problem};

/// A supported kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One NumPy array.
    Npy,
    /// A zip archive of NumPy arrays.
    Npz,
    /// Named tensors.
    Safetensors,
    /// A table stored by columns.
    Parquet,
    /// A table of comma-separated text.
    Csv,
    /// A table of tab-separated text.
    Tsv,
}

impl Format {
    /// All supported kinds.
    pub const ALL: [Format; 6] = [
        Format::Npy,
        Format::Npz,
        Format::Safetensors,
        Format::Parquet,
        Format::Csv,
        Format::Tsv,
    ];

    /// The file extension, without its dot.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::Parquet => "parquet",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
        }
    }

    /// The kind a path's extension names, upper or lower case.
    pub fn of_path(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?;
        Format::ALL
            .into_iter()
            .find(|f| f.extension().eq_ignore_ascii_case(extension))
    }

    pub(crate) fn require(path: &Path) -> Parsed<Format> {
        if let Some(format) = Format::of_path(path) {
            return Ok(format);
        }
        let supported: Vec<String> = Format::ALL.iter().map(|f| format!(".{}", f.extension())).collect();
        let found = match path.extension() {
            Some(extension) => format!("has the unknown extension .{}", extension.to_string_lossy()),
            None => "has no extension".to_string(),
        };
        problem(format!("{found}; supported are {}", supported.join(", ")))
    }

    /// Checks that a file begins as its extension promises.
    pub(crate) fn check_magic(self, bytes: &[u8]) -> Parsed<()> {
        if bytes.is_empty() {
            return problem("is empty (0 bytes)");
        }
        if self.fits(bytes) {
            return Ok(());
        }
        let found: Vec<String> = bytes.iter().take(9).map(|b| format!("{b:02x}")).collect();
        let article = match self {
            Format::Npy | Format::Npz => "an",
            _ => "a",
        };
        problem(format!(
            "does not start like {article} .{} file (found bytes {}){}",
            self.extension(),
            found.join(" "),
            match Format::ALL[..4].iter().find(|f| f.fits(bytes)) {
                Some(other) => format!("; it looks like .{}: rename it", other.extension()),
                None => String::new(),
            }
        ))
    }

    fn fits(self, bytes: &[u8]) -> bool {
        match self {
            Format::Npy => bytes.starts_with(b"\x93NUMPY"),
            Format::Npz => bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06"),
            Format::Safetensors => bytes.get(8) == Some(&b'{'),
            Format::Parquet => bytes.starts_with(b"PAR1"),
            Format::Csv | Format::Tsv => !bytes[..bytes.len().min(4096)].contains(&0),
        }
    }
}
