// SPDX-License-Identifier: MIT
//! Which kind of file it is: by extension, then checked against the first bytes.

use std::path::Path;

use crate::error::{Parsed, bail};
use crate::torch::is_checkpoint;

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
    /// Columns in batches: Arrow files and streams, Feather.
    Arrow,
    /// Vectors behind their length, as nearest-neighbor benchmarks have them: of `f32`, bytes or 32-bit integers.
    Vectors,
    /// Datasets in groups: HDF5, and AnnData, which is made of it.
    Hdf5,
    /// What `torch.save` writes: nested dicts of tensors.
    Torch,
    /// A table of comma-separated text.
    Csv,
    /// A table of tab-separated text.
    Tsv,
    /// A JSON object in each line.
    JsonLines,
    /// A text in each line.
    Text,
}

impl Format {
    /// All supported kinds with their extensions, without their dots, the usual one first.
    const ALL: [(Format, &[&str]); 12] = [
        (Format::Npy, &["npy"]),
        (Format::Npz, &["npz"]),
        (Format::Safetensors, &["safetensors"]),
        (Format::Parquet, &["parquet"]),
        (Format::Arrow, &["arrow", "feather", "ipc"]),
        (Format::Vectors, &["fvecs", "bvecs", "ivecs"]),
        (Format::Hdf5, &["h5", "hdf5", "h5ad"]),
        (Format::Torch, &["pth", "pt", "ckpt", "bin", "pth.tar"]),
        (Format::Csv, &["csv"]),
        (Format::Tsv, &["tsv"]),
        (Format::JsonLines, &["jsonl", "ndjson"]),
        (Format::Text, &["txt"]),
    ];

    /// The usual file extension, without its dot.
    pub fn extension(self) -> &'static str {
        let own = Format::ALL.into_iter().find(|(format, _)| *format == self);
        own.map_or("", |(_, extensions)| extensions[0])
    }

    /// The kind a path's extension names, upper or lower case.
    pub fn of_path(path: &Path) -> Option<Format> {
        let mut extension = path.extension()?.to_str()?.to_lowercase();
        // `.pth.tar` is no archive but a habit.
        let inner = Path::new(path.file_stem()?).extension();
        if extension == "tar" && inner.is_some_and(|inner| inner.eq_ignore_ascii_case("pth")) {
            extension = "pth.tar".to_string();
        }
        let found = Format::ALL
            .into_iter()
            .find(|(_, own)| own.contains(&extension.as_str()));
        found.map(|(format, _)| format)
    }

    pub(crate) fn require(path: &Path) -> Parsed<Format> {
        if let Some(format) = Format::of_path(path) {
            return Ok(format);
        }
        let extensions = Format::ALL.iter().flat_map(|(_, extensions)| *extensions);
        let supported: Vec<String> = extensions.map(|e| format!(".{e}")).collect();
        let found = match path.extension() {
            Some(extension) => format!("has the unknown extension .{}", extension.to_string_lossy()),
            None => "has no extension".to_string(),
        };
        bail!("{found}; supported are {}", supported.join(", "))
    }

    /// Checks that a file begins as its extension promises.
    pub(crate) fn check_magic(self, bytes: &[u8]) -> Parsed<()> {
        if bytes.is_empty() {
            bail!("is empty (0 bytes)");
        }
        // Both are zip archives, so one that was renamed would fit.
        let is_other_zip = self == Format::Npz && is_checkpoint(bytes);
        if self.fits(bytes) && !is_other_zip {
            return Ok(());
        }
        let found: Vec<String> = bytes.iter().take(9).map(|b| format!("{b:02x}")).collect();
        let article = match self {
            Format::Npy | Format::Npz | Format::Hdf5 | Format::Arrow => "an",
            _ => "a",
        };
        bail!(
            "does not start like {article} .{} file (found bytes {}){}",
            self.extension(),
            found.join(" "),
            match likely(bytes) {
                Some(other) => format!("; it looks like .{}: rename it", other.extension()),
                None => String::new(),
            }
        )
    }

    fn fits(self, bytes: &[u8]) -> bool {
        match self {
            Format::Npy => bytes.starts_with(b"\x93NUMPY"),
            Format::Npz => bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06"),
            Format::Safetensors => bytes.get(8) == Some(&b'{'),
            Format::Parquet => bytes.starts_with(b"PAR1"),
            Format::Arrow => bytes.starts_with(crate::arrow::MAGIC) || crate::arrow::is_stream(bytes),
            // A length alone.
            Format::Vectors => bytes.len() >= 4,
            Format::Hdf5 => bytes.starts_with(b"\x89HDF\r\n\x1a\n"),
            // A zip archive, a pickle, or the tar archive of old, which gets its own message.
            Format::Torch => {
                bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\x80") || bytes.get(257..262) == Some(b"ustar")
            }
            Format::Csv | Format::Tsv | Format::JsonLines | Format::Text => {
                !bytes[..bytes.len().min(4096)].contains(&0)
            }
        }
    }
}

/// The kind that bytes look like. Text looks like anything.
fn likely(bytes: &[u8]) -> Option<Format> {
    if is_checkpoint(bytes) {
        return Some(Format::Torch);
    }
    let binary = [
        Format::Npy,
        Format::Npz,
        Format::Safetensors,
        Format::Parquet,
        Format::Hdf5,
    ];
    binary.into_iter().find(|f| f.fits(bytes))
}
