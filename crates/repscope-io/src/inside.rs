// SPDX-License-Identifier: MIT
//! Names that come from models and data, as names of files. They never lead out of the folder they are put into.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};

/// The file of this name below a folder, `a/b.csv` in it included. A name that leads elsewhere is refused.
pub fn inside(folder: &Path, name: &str) -> Result<PathBuf> {
    let is_plain = |part: Component| matches!(part, Component::Normal(_));
    let stays = !name.is_empty() && Path::new(name).components().all(is_plain) && !name.contains(char::is_control);
    // What separates folders elsewhere may not hide in a name here.
    if !stays || name.contains('\\') || name.contains(':') {
        return Err(Error::Input(format!(
            "{name:?} cannot be the name of a file below {}; rename what it is made from",
            folder.display()
        )));
    }
    Ok(folder.join(name))
}

/// Each name as part of the name of a file: everything but letters, digits, `_` and `-` becomes `_`. Two names that become one file are an
/// error; some systems do not tell capitals apart.
pub fn as_file_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<String>> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut plain = Vec::new();
    for name in names {
        let own = name.replace(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'), "_");
        if let Some(other) = seen.insert(own.to_lowercase(), name) {
            return Err(Error::Input(format!(
                "{other:?} and {name:?} would be written to one file, {own}; rename one of them"
            )));
        }
        plain.push(own);
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_below_its_folder_or_is_refused() {
        let folder = Path::new("out");
        assert_eq!(inside(folder, "a/b.csv").unwrap(), Path::new("out/a/b.csv"));
        for name in [
            "",
            "..",
            "../x",
            "a/../../x",
            "/etc/x",
            "./../x",
            "a\\..\\x",
            "C:x",
            "a\u{1b}[2J",
        ] {
            assert!(inside(folder, name).is_err(), "{name}");
        }
    }

    #[test]
    fn names_become_names_of_files_and_stay_apart() {
        assert_eq!(
            as_file_names(["out", "/fc/Gemm", "..", "é-1"]).unwrap(),
            ["out", "_fc_Gemm", "__", "é-1"]
        );
        for two in [["a/b", "a_b"], ["a", "a"], ["Out", "out"]] {
            let error = as_file_names(two).unwrap_err().to_string();
            assert!(error.contains("one file") && error.contains(two[0]), "{error}");
        }
    }
}
