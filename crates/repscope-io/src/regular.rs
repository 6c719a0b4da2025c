// SPDX-License-Identifier: MIT
//! Opens files, and nothing else: a pipe would wait for a writer that may never come, and a device has no end.

use std::fs::File;
use std::io::{Error, Read, Result};
use std::path::Path;

use crate::memory;

/// Opens a file to read it. What is neither a file nor a folder is refused without opening it.
pub fn open_regular(path: &Path) -> Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(Error::other(
            "it is a pipe or a device; write its contents to a file first",
        ));
    }
    File::open(path)
}

/// All bytes of a file that fits into memory.
pub fn read_regular(path: &Path) -> Result<Vec<u8>> {
    let mut file = open_regular(path)?;
    let length = file.metadata()?.len();
    memory::check(Some(length)).map_err(|problem| Error::other(format!("it {problem}")))?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All text of a file that fits into memory.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read_regular(path)?)
        .map_err(|_| Error::new(std::io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}
