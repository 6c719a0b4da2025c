// SPDX-License-Identifier: MIT
//! Several files that are one array: those that a pattern names (`codes-*.npy`), and the folder of a Hugging Face dataset.

use std::path::{Path, PathBuf};

use crate::array::{Array, ArrayInfo, Data, Shape};
use crate::error::{Error, Result, problem};
use crate::inside::inside;
use crate::path::{InputPath, folder_of};
use crate::read::{list_one_file, read_one_file};
use crate::regular::read_text;
use crate::zarr;

/// What `save_to_disk` writes beside the files of a dataset.
const STATE: &str = "state.json";

/// What the cache of datasets holds beside their files.
const INFO: &str = "dataset_info.json";

/// The list of the splits of several datasets.
const SPLITS: &str = "dataset_dict.json";

/// Whether a folder is read as arrays: a dataset as Hugging Face's `datasets` writes it, or a Zarr store.
pub fn is_array_folder(path: &Path) -> bool {
    zarr::is_store(path) || [STATE, SPLITS, INFO].iter().any(|name| path.join(name).is_file())
}

/// The files that a path stands for; none where it is one file, or a folder of something else.
pub(crate) fn of(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if path.is_dir() {
        return of_folder(path);
    }
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if !name.contains(['*', '?']) || path.exists() {
        return Ok(None);
    }
    let folder = folder_of(path);
    let found = files(folder, |own| fits(name.as_bytes(), own.as_bytes()))?;
    if found.is_empty() {
        return Err(problem!("is a pattern, and no file in {} fits it", folder.display()).in_file(path.display()));
    }
    Ok(Some(found))
}

fn of_folder(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    if path.join(SPLITS).is_file() {
        let splits = subfolders(path)?;
        return Err(problem!(
            "is a folder of several datasets; name one of them: {}",
            splits.join(", ")
        )
        .in_file(path.display()));
    }
    if path.join(STATE).is_file() {
        let state: serde_json::Value =
            serde_json::from_str(&read_text(&path.join(STATE)).map_err(|source| Error::read(path, source))?)
                .map_err(|error| problem!("has a {STATE} that is not read: {error}").in_file(path.display()))?;
        let listed = state["_data_files"].as_array().cloned().unwrap_or_default();
        let mut found = Vec::new();
        for file in &listed {
            let name = file["filename"].as_str().unwrap_or_default();
            let file = inside(path, name)?;
            found.push(file);
        }
        return match found.is_empty() {
            true => Err(problem!("is a dataset without files").in_file(path.display())),
            false => Ok(Some(found)),
        };
    }
    if path.join(INFO).is_file() {
        let found = files(path, |name| name.ends_with(".arrow"))?;
        return Ok(Some(found).filter(|found| !found.is_empty()));
    }
    Ok(None)
}

/// The files of a folder whose names fit, in natural order: `part2` before `part10`.
fn files(folder: &Path, fits: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|source| Error::read(folder, source))?;
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| fits(name) && folder.join(name).is_file()).collect();
    names.sort();
    names.sort_by_cached_key(|name| natural(name));
    Ok(names.iter().map(|name| folder.join(name)).collect())
}

fn subfolders(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).map_err(|source| Error::read(folder, source))?;
    let folders = entries.flatten().filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.path().display().to_string()).collect();
    names.sort();
    Ok(names)
}

/// Digits count as a number: by how many there are, then by what they are.
fn natural(name: &str) -> Vec<(usize, String)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let is_digit = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = rest
            .find(|c: char| c.is_ascii_digit() != is_digit)
            .unwrap_or(rest.len());
        let part = &rest[..end];
        let number = part.trim_start_matches('0');
        parts.push(if is_digit {
            (number.len() + 1, number.to_string())
        } else {
            (0, part.to_string())
        });
        rest = &rest[end..];
    }
    parts
}

/// Whether a name fits a pattern of `*` and `?`, in time in proportion to both.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

/// Reads all parts as one array.
pub(crate) fn read(input: &InputPath, parts: &[PathBuf], ids: Option<&str>) -> Result<Array> {
    let (mut data, mut files, mut shape, mut dtype) = (Vec::new(), Vec::new(), None::<Vec<usize>>, String::new());
    for path in parts {
        let part = InputPath {
            path: path.clone(),
            key: input.key.clone(),
        };
        let array = read_one_file(&part, ids)?;
        match &mut shape {
            None => (shape, dtype) = (Some(array.shape().to_vec()), array.dtype().to_string()),
            Some(shape) if shape[1..] == array.shape()[1..] => shape[0] += array.rows(),
            Some(shape) => {
                let (first, other) = (Shape(&shape[1..]), Shape(&array.shape()[1..]));
                let rows = format!("rows of shape {other}, and those before it of {first}");
                return Err(problem!("has {rows}; parts of one array have rows of one shape").in_file(path.display()));
            }
        }
        files.extend(array.file().cloned().map(|file| (path.clone(), file)));
        data.push(array.into_data());
    }
    let whole = Data::joined(data).and_then(|data| Array::checked(shape.unwrap_or_default(), &dtype, data));
    Ok(whole.map_err(|problem| problem.in_file(input))?.read_from_shards(files))
}

/// The arrays of all parts: those of the first, with the rows of all.
pub(crate) fn list(parts: &[PathBuf]) -> Result<Vec<ArrayInfo>> {
    let mut infos: Vec<ArrayInfo> = Vec::new();
    for (at, path) in parts.iter().enumerate() {
        let own = list_one_file(path)?;
        if at == 0 {
            infos = own;
            continue;
        }
        for info in &mut infos {
            let more = own.iter().find(|own| own.key == info.key);
            if let (Some(rows), Some(more)) = (info.shape.first_mut(), more.and_then(|more| more.shape.first())) {
                *rows += more;
            }
        }
    }
    Ok(infos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns_and_come_in_natural_order() {
        for (pattern, name, is_fit) in [
            ("z-*.npy", "z-1.npy", true),
            ("z-*.npy", "z-.npy", true),
            ("z-?.npy", "z-10.npy", false),
            ("*a*b", "xaab", true),
            ("*a*b", "xaabc", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), is_fit, "{pattern} {name}");
        }
        let mut names = ["z10", "z9", "z1b", "z01", "a"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["a", "z01", "z1b", "z9", "z10"]);
    }
}
