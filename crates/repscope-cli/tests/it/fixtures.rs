// SPDX-License-Identifier: MIT
//! A folder of small input files and the command run in it.
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for one test.
pub struct Folder(TempDir);

/// What a run of the command gave back.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with `x.npy` (60 × 4), `z.npy` (60 × 3), `w.npy` (60 × 3) and `labels.npy` (20 of each word).
    pub fn with_arrays() -> Self {
        let folder = Folder::new();
        folder.write("x.npy", &npy_f64(&[60, 4], &noise(1, 240)));
        folder.write("z.npy", &npy_f64(&[60, 3], &noise(2, 180)));
        folder.write("w.npy", &npy_f64(&[60, 3], &noise(3, 180)));
        let words: Vec<&str> = (0..60).map(|i| ["cat", "dog", "cow"][i % 3]).collect();
        folder.write("labels.npy", &npy_words(&words));
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        repscope_io::write_whole(&self.path().join(name), bytes).expect("the file can be written");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Every file below the folder, by its path from here.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(self.path().join(&folder)).expect("a folder can be listed") {
                let entry = entry.expect("an entry can be read");
                let path = folder.join(entry.file_name());
                if entry.file_type().expect("an entry has a type").is_dir() {
                    found.push(format!("{}/", path.display()));
                    folders.push(path);
                } else {
                    found.push(path.display().to_string())
                }
            }
        }
        found.sort();
        found
    }

    /// Runs the command here with these words, split at spaces.
    pub fn run(&self, words: &str) -> Run {
        self.run_words(&words.split_whitespace().collect::<Vec<_>>())
    }

    pub fn run_words(&self, words: &[&str]) -> Run {
        let output = command(self.path()).args(words).output().expect("the command starts");
        let run = Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("stdout is text"),
            stderr: String::from_utf8(output.stderr).expect("stderr is text"),
        };
        assert!(!run.stderr.contains("panicked"), "{words:?}\n{}", run.stderr);
        run
    }

    /// Runs a command that must succeed.
    pub fn good(&self, words: &str) -> Run {
        let run = self.run(words);
        assert_eq!(run.code, 0, "repscope {words}\n{}", run.stderr);
        run
    }

    /// The results document of a run that must succeed.
    pub fn results(&self, words: &str) -> Value {
        let run = self.good(&format!("{words} --json"));
        serde_json::from_str(&run.stdout).expect("stdout is one JSON document")
    }
}

/// The command in a folder, without the settings of whoever runs the tests.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_repscope"));
    command.current_dir(folder).env_remove("COLUMNS").env_remove("NO_COLOR");
    command.env("REPSCOPE_CACHE", folder.join(".cache"));
    command
}

/// A file of another folder of this workspace: `examples/digits/labels.npy`.
pub fn repository(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

/// What `cargo metadata` says about this workspace.
pub fn cargo_metadata(options: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(options)
        .current_dir(repository(""))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

/// A model that PyTorch exported, of the crate that runs models.
pub fn model(name: &str) -> String {
    repository(&format!("crates/repscope-models/tests/models/{name}"))
}

/// The value of a metric of a model.
pub fn value(results: &Value, model: &str, metric: &str) -> Option<f64> {
    score(results, model, metric)["value"].as_f64()
}

/// The score of a model for a metric.
pub fn score<'a>(results: &'a Value, model: &str, metric: &str) -> &'a Value {
    let scores = results["scores"].as_array().expect("scores are a list");
    let found = scores.iter().find(|s| s["model"] == model && s["metric"] == metric);
    found.unwrap_or_else(|| panic!("no score {metric} of {model}"))
}

/// All values with their metric and model.
pub fn values(results: &Value) -> Vec<(String, String, Option<f64>)> {
    let scores = results["scores"].as_array().expect("scores are a list");
    let triple = |s: &Value| (s["model"].to_string(), s["metric"].to_string(), s["value"].as_f64());
    scores.iter().map(triple).collect()
}

/// Repeatable values between -1 and 1 (a linear congruential generator; the top bits are used).
pub fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

pub fn npy_f64(shape: &[usize], values: &[f64]) -> Vec<u8> {
    npy(
        "<f8",
        shape,
        &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>(),
    )
}

pub fn npy_i64(values: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    npy("<i8", &[values.len()], &bytes)
}

/// Words as NumPy's `<U`: UTF-32, padded with zeros.
pub fn npy_words(words: &[&str]) -> Vec<u8> {
    let width = words.iter().map(|w| w.chars().count()).max().unwrap_or(1);
    let padded = |word: &&str| {
        let characters = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        characters.flat_map(u32::to_le_bytes).collect::<Vec<_>>()
    };
    let bytes: Vec<u8> = words.iter().flat_map(padded).collect();
    npy(&format!("<U{width}"), &[words.len()], &bytes)
}

/// A version 1 `.npy` file.
pub fn npy(descr: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|s| format!("{s},")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// An `.npz` archive of `.npy` files.
pub fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (key, bytes) in members {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{key}.npy"), options).expect("a new member");
        archive.write_all(bytes).expect("memory can be written");
    }
    archive.finish().expect("a whole archive").into_inner()
}
