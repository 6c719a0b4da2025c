// SPDX-License-Identifier: MIT
//! A case on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use repscope_core::{Labels, Space};
use repscope_io::{Data, InputPath, Pool, list_arrays, read_array};

use super::document::Document;

pub struct Case {
    input: PathBuf,
    /// The arrays of its input; none where it holds scores or predictions.
    pub keys: BTreeSet<String>,
    pub document: Document,
}

pub fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/cases");
    let mut found = Vec::new();
    for family in folders(&root) {
        for folder in folders(&family) {
            let text = std::fs::read_to_string(folder.join("expected.json")).expect("every case has its answers");
            let document: Document = serde_json::from_str(&text).expect("the format of golden/README.md");
            let input = folder.join("input.npz");
            let has_arrays = document.options.scores.is_none() && document.options.perturbation.is_none();
            let keys = if has_arrays {
                let arrays = list_arrays(&input).expect("NumPy wrote it");
                arrays.into_iter().filter_map(|a| a.key).collect()
            } else {
                BTreeSet::new()
            };
            found.push(Case { input, keys, document });
        }
    }
    found
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).expect("golden/cases is part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("a readable folder").path()).collect();
    paths.retain(|p| p.is_dir());
    paths.sort();
    paths
}

impl Case {
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    pub fn space(&self, key: &str) -> Space {
        let array = read_array(&self.at(key)).expect("an array of NumPy");
        array.into_space(key, Pool::Last).expect("finite numbers")
    }

    pub fn labels(&self, key: &str) -> Labels {
        let array = read_array(&self.at(key)).expect("an array of NumPy");
        array.into_labels(key).expect("names or whole numbers")
    }

    pub fn episodes(&self) -> Labels {
        let array = read_array(&self.at("episodes")).expect("an array of NumPy");
        array.into_episodes("episodes").expect("names or whole numbers")
    }

    pub fn train(&self) -> Vec<bool> {
        match read_array(&self.at("train")).expect("an array of NumPy").data() {
            Data::Bool(trains) => trains.clone(),
            other => panic!("{}: train is {other:?}", self.document.case),
        }
    }

    fn at(&self, key: &str) -> InputPath {
        InputPath {
            path: self.input.clone(),
            key: Some(key.to_string()),
        }
    }
}
