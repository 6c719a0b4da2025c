// SPDX-License-Identifier: MIT
//! Where an installed ONNX Runtime may be.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Result, bail};

/// Variables that name the library, the first one that is set counts.
const NAMED_BY: [&str; 2] = ["REPSCOPE_ONNXRUNTIME", "ORT_DYLIB_PATH"];

/// Finds the library of ONNX Runtime: the file that `REPSCOPE_ONNXRUNTIME` or `ORT_DYLIB_PATH` names, else that of an
/// installed
/// `onnxruntime` package for Python (in the active environment first), else one among the libraries of the system.
///
/// `variable` reads the environment. Nothing is executed.
pub fn find_library(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    for name in NAMED_BY {
        if let Some(path) = set(name) {
            if path.is_file() {
                return Ok(path);
            }
            bail!("{name} names {}, which is not a file", path.display());
        }
    }
    let folders = folders(&set);
    if let Some(found) = folders.iter().find_map(|folder| newest_library(folder)) {
        return Ok(found);
    }
    let looked: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    bail!(
        "no ONNX Runtime was found; looked for {} in the `onnxruntime` packages of Python (VIRTUAL_ENV, CONDA_PREFIX, the user's and \
         the system's) and in {}. Install it with `pip install onnxruntime`, or name the library with the variable {}",
        LIBRARY.2,
        if looked.is_empty() {
            "no other folder".to_string()
        } else {
            looked.join(", ")
        },
        NAMED_BY[0]
    )
}

/// The folders that exist, the nearest first.
fn folders(set: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(|name| set(name))
        .collect();
    roots.extend(set("HOME").map(|home| home.join(".local")));
    roots.extend(["/usr/local", "/usr", "/opt/homebrew"].map(PathBuf::from));
    let mut folders = Vec::new();
    for root in &roots {
        let mut pythons = matching(&root.join("lib"), |name| name.starts_with("python3"));
        pythons.push(root.join("Lib")); // Windows
        for python in pythons {
            for packages in ["site-packages", "dist-packages"] {
                folders.push(python.join(packages).join("onnxruntime").join("capi"));
            }
        }
    }
    for root in &roots {
        let lib = root.join("lib");
        folders.push(lib.join(format!("{}-linux-gnu", std::env::consts::ARCH)));
        folders.push(root.join("lib64"));
        folders.push(lib);
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

fn newest_library(folder: &Path) -> Option<PathBuf> {
    matching(folder, is_library).into_iter().find(|path| path.is_file())
}

/// What the name of the library is before and after its version, and how messages write it.
const LIBRARY: (&str, &str, &str) = if cfg!(windows) {
    ("onnxruntime.dll", "", "onnxruntime.dll")
} else if cfg!(target_os = "macos") {
    ("libonnxruntime.", "dylib", "libonnxruntime*.dylib")
} else {
    ("libonnxruntime.so", "", "libonnxruntime.so*")
};

fn is_library(name: &str) -> bool {
    let version = name
        .strip_prefix(LIBRARY.0)
        .and_then(|rest| rest.strip_suffix(LIBRARY.1));
    let is_version = |c: char| !cfg!(windows) && (c.is_ascii_digit() || c == '.');
    version.is_some_and(|version| version.chars().all(is_version))
}

/// What a folder holds under names that fit, the highest version first.
fn matching(folder: &Path, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|name| fits(name))
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse((version(name), name.clone())));
    names.iter().map(|name| folder.join(name)).collect()
}

/// The numbers in a name: `python3.12` is newer than `python3.9`.
fn version(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(pairs: &[(&str, &Path)]) -> Result<PathBuf> {
        find_library(&|name| {
            pairs
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, path)| path.as_os_str().to_owned())
        })
    }

    #[test]
    fn a_variable_goes_before_a_package_and_must_name_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("mine.so");
        repscope_io::write_whole(&here, b"library").unwrap();
        assert_eq!(search(&[("REPSCOPE_ONNXRUNTIME", &here)]).unwrap(), here);
        assert_eq!(search(&[("ORT_DYLIB_PATH", &here)]).unwrap(), here);
        let gone = folder.path().join("gone.so");
        let said = search(&[("REPSCOPE_ONNXRUNTIME", &gone), ("ORT_DYLIB_PATH", &here)])
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("REPSCOPE_ONNXRUNTIME") && said.contains("gone.so"),
            "{said}"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_package_of_the_newest_python_of_the_environment_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        for python in ["python3.9", "python3.12"] {
            let capi = folder
                .path()
                .join("lib")
                .join(python)
                .join("site-packages/onnxruntime/capi");
            std::fs::create_dir_all(&capi).unwrap();
            for name in [
                "libonnxruntime.so.1.9.0",
                "libonnxruntime.so.1.31.1",
                "libonnxruntime_providers_shared.so",
            ] {
                repscope_io::write_whole(&capi.join(name), b"library").unwrap();
            }
        }
        let found = search(&[("VIRTUAL_ENV", folder.path())]).unwrap();
        assert!(
            found.ends_with("python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.31.1"),
            "{found:?}"
        );
    }
}
