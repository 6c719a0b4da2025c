// SPDX-License-Identifier: MIT
//! Many files by one argument: the `.npy` files of a folder, or what a pattern such as `ckpt/*.npy` matches.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use glob::{MatchOptions, Pattern};
use repscope_io::names::listed;
use repscope_io::{InputPath, is_array_folder};

use crate::encoding::is_model_folder;

/// How many names a message lists.
const NAMES_SHOWN: usize = 5;

/// The files in a folder or of a pattern, in natural order; `None` for the path of a file. None found is an error.
pub fn search(text: &str) -> Result<Option<Vec<InputPath>>> {
    let has_wildcard = |text: &str| text.contains(['*', '?', '[']);
    let mut path = InputPath::parse(text);
    if path.key.as_deref().is_some_and(has_wildcard) {
        if path.path.is_file() {
            // A pattern of the names of its arrays.
            return Ok(None);
        }
        path = InputPath::file(text);
    }
    let mut files = if is_model_folder(&path.path) || is_array_folder(&path.path) {
        return Ok(None);
    } else if path.path.is_dir() {
        files_of_folder(&path.path)?
    } else if !path.path.exists() && path.path.to_str().is_some_and(has_wildcard) {
        files_of_pattern(&path.path)?
    } else {
        return Ok(None);
    };
    files.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    let key = path.key;
    let input = |path| InputPath { path, key: key.clone() };
    Ok(Some(files.into_iter().map(input).collect()))
}

fn files_of_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut others = Vec::new();
    for entry in std::fs::read_dir(folder).context("cannot list the folder")? {
        let path = entry.context("cannot list the folder")?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_array = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
        if name.starts_with('.') {
            continue; // hidden, as `*` leaves such files out too
        }
        if is_array && path.is_file() {
            files.push(path)
        } else {
            others.push(name)
        }
    }
    if files.is_empty() {
        let (list_sorted, folder) = (list_sorted(others), folder.display());
        bail!(
            "no .npy file is in this folder, which holds {list_sorted}; other files are read by their path, or by a pattern such \
             as '{folder}/*.npz'"
        );
    }
    Ok(files)
}

fn files_of_pattern(pattern: &Path) -> Result<Vec<PathBuf>> {
    let text = pattern.to_str().context("a pattern must be UTF-8 text")?;
    let options = MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..MatchOptions::new()
    };
    let mut files = Vec::new();
    for path in glob::glob_with(text, options).context("this is no pattern")? {
        let path = path.context("cannot list what the pattern matches")?;
        if path.is_file() {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("no file matches this pattern; {}", around(pattern));
    }
    Ok(files)
}

/// What is in the folder where a pattern was looked for.
fn around(pattern: &Path) -> String {
    let is_literal = |path: &&Path| path.to_str().is_none_or(|text| Pattern::escape(text) == text);
    let folder = pattern.ancestors().skip(1).find(is_literal).unwrap_or(Path::new(""));
    let shown = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    match std::fs::read_dir(shown) {
        Err(error) => format!("{} cannot be listed: {error}", shown.display()),
        Ok(entries) => {
            let names = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
            format!(
                "{} holds {}",
                shown.display(),
                list_sorted(names.filter(|name| !name.starts_with('.')).collect())
            )
        }
    }
}

/// File stems; where two are the same, the part of the paths that differs: `a/z` and `b/z`.
pub fn names_of(files: &[InputPath]) -> Vec<String> {
    let stems: Vec<String> = files.iter().map(InputPath::stem).collect();
    if stems.iter().collect::<BTreeSet<_>>().len() == stems.len() {
        return stems;
    }
    let Some((first, others)) = files.split_first() else {
        return stems;
    };
    let is_common = |folder: &&Path| others.iter().all(|other| other.path.starts_with(folder));
    let common = first.path.ancestors().find(is_common).unwrap_or(Path::new(""));
    let name = |file: &InputPath| {
        let own = file.path.strip_prefix(common).unwrap_or(&file.path);
        own.with_extension("").to_string_lossy().into_owned()
    };
    files.iter().map(name).collect()
}

/// `step2` before `step10`: runs of digits are compared as numbers.
pub fn natural(a: &str, b: &str) -> Ordering {
    runs(a).cmp(&runs(b)).then_with(|| a.cmp(b))
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Run<'a> {
    /// Without leading zeros, so the longer number is the larger one.
    Number(usize, &'a str),
    Text(&'a str),
}

fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != is_number)
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        runs.push(if is_number {
            let digits = run.trim_start_matches('0');
            Run::Number(digits.len(), digits)
        } else {
            Run::Text(run)
        });
        rest = after;
    }
    runs
}

/// Each of some things once, in their order.
pub fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

fn list_sorted(mut names: Vec<String>) -> String {
    names.sort_by(|a, b| natural(a, b));
    list(names.iter().map(String::as_str))
}

/// "`a`, `b` and 7 more", or "nothing".
pub fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    listed(names, NAMES_SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_in_the_order_of_their_values() {
        let mut names = ["step10", "step9", "step010b", "a", "step", "Step1", "step1"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["Step1", "a", "step", "step1", "step9", "step10", "step010b"]);
    }

    #[test]
    fn files_of_one_name_are_told_apart_by_their_folders() {
        let names = |paths: &[&str]| names_of(&paths.iter().map(InputPath::file).collect::<Vec<_>>());
        assert_eq!(names(&["runs/a.npy", "runs/b.npy"]), ["a", "b"]);
        assert_eq!(names(&["runs/a/z.npy", "runs/b/z.npy"]), ["a/z", "b/z"]);
        assert_eq!(names(&["a/z.npy", "b/z.npy"]), ["a/z", "b/z"]);
    }

    #[test]
    fn a_list_of_names_stops_after_a_few() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(list(names.into_iter()), "`a`, `b`, `c`, `d`, `e` and 2 more");
        assert_eq!(list(names[..2].iter().copied()), "`a`, `b`");
        assert_eq!(list([].into_iter()), "nothing");
    }
}
