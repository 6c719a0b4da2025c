// SPDX-License-Identifier: MIT
//! What an earlier run has finished: an analysis is taken from its folder where inputs, options and version are the same.

use std::path::Path;

use anyhow::{Result, bail};
use repscope_core::Analysis;
use repscope_io::{ResultsDocument, Seal, read_samples};

use crate::analysis::declared;
use crate::error::message;
use crate::report::Report;

/// The document of an analysis.
pub const RESULTS: &str = "results.json";
/// The numbers of single samples, where it has some.
pub const SAMPLES: &str = "samples.npz";

/// What was found in the folder of an analysis.
pub enum Found {
    /// The same as would be computed now.
    Same(Box<Report>),
    /// Something else, and why it is not taken.
    Other(String),
    Nothing,
}

/// Looks for an analysis that was finished as `expected`, a document without results.
pub fn look(folder: &Path, analysis: Analysis, expected: &ResultsDocument) -> Found {
    let path = folder.join(RESULTS);
    if !path.is_file() {
        return Found::Nothing;
    }
    if let Err(error) = check_digests(folder) {
        return Found::Other(message(&error));
    }
    let document = match ResultsDocument::read(&path) {
        Ok(document) => document,
        Err(error) => return Found::Other(error.to_string()),
    };
    if let Some(reason) = difference(&document, expected) {
        return Found::Other(reason);
    }
    match with_samples(document, folder, declared(analysis).keeps_samples) {
        Ok(report) => Found::Same(Box::new(report)),
        Err(error) => Found::Other(message(&error)),
    }
}

/// Refuses files that are not as they were written.
fn check_digests(folder: &Path) -> Result<()> {
    let Some(seal) = Seal::read(folder)? else {
        bail!("{} has no {}", folder.display(), Seal::FILE);
    };
    seal.check(folder, RESULTS)?;
    if folder.join(SAMPLES).exists() {
        seal.check(folder, SAMPLES)?;
    }
    Ok(())
}

/// A document and the samples beside it.
pub fn with_samples(document: ResultsDocument, folder: &Path, are_needed: bool) -> Result<Report> {
    let path = folder.join(SAMPLES);
    let mut results = document.clone().into_results();
    if are_needed || path.is_file() {
        (results.samples, results.classes) = read_samples(&path)?;
    }
    Ok(Report::new(document, results))
}

/// In what two documents differ, as far as it changes results.
fn difference(found: &ResultsDocument, expected: &ResultsDocument) -> Option<String> {
    if found.command != expected.command {
        return Some(format!("it holds results of `{}`", found.command));
    }
    if found.repscope != expected.repscope {
        return Some(format!(
            "repscope {} wrote it, and this is {}",
            found.repscope, expected.repscope
        ));
    }
    let changed = expected.inputs.iter().find(|input| !found.inputs.contains(input));
    if let Some(input) = changed {
        return Some(format!("{} is new or has changed", input.path));
    }
    if let Some(input) = found.inputs.iter().find(|input| !expected.inputs.contains(input)) {
        return Some(format!("it was made from {} too", input.path));
    }
    let value = |spec: &serde_json::Value, key: &str| spec.get(key).cloned().unwrap_or_default();
    let keys = |document: &ResultsDocument| -> Vec<String> {
        let fields = document.spec.as_object();
        fields
            .map(|fields| fields.keys().cloned().collect())
            .unwrap_or_default()
    };
    // How much memory a run may use changes none of its numbers.
    let all = keys(expected)
        .into_iter()
        .chain(keys(found))
        .filter(|key| key != "memory");
    let mut differing = all.filter(|key| value(&found.spec, key) != value(&expected.spec, key));
    let key = differing.next()?;
    Some(format!(
        "its {key} is {}, now {}",
        value(&found.spec, &key),
        value(&expected.spec, &key)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use repscope_core::Results;
    use repscope_io::InputRecord;

    fn document(path: &str, seed: u64) -> ResultsDocument {
        let input = InputRecord::new(path, &[3, 2], "f64", "d".to_string());
        let spec = serde_json::json!({"seed": seed, "level": 0.95});
        ResultsDocument::new("manifold", spec, vec![input], &Results::default())
    }

    #[test]
    fn the_first_difference_is_named() {
        let now = document("z.npy", 42);
        assert_eq!(difference(&document("z.npy", 42), &now), None);
        assert_eq!(
            difference(&document("z.npy", 7), &now).as_deref(),
            Some("its seed is 7, now 42")
        );
        assert_eq!(
            difference(&document("w.npy", 42), &now).as_deref(),
            Some("z.npy is new or has changed")
        );
        let mut old = document("z.npy", 42);
        old.repscope = "0.0.1".to_string();
        assert!(difference(&old, &now).is_some_and(|why| why.starts_with("repscope 0.0.1 wrote it")));
    }

    #[test]
    fn a_document_without_the_samples_it_needs_is_not_taken() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let now = document("z.npy", 42);
        let path = folder.path().join("results.json");
        repscope_io::write_whole(&path, now.to_json().as_bytes()).expect("the file can be written");
        assert!(matches!(look(folder.path(), Analysis::Manifold, &now), Found::Other(why) if why.contains(Seal::FILE)));
        Seal::write(folder.path(), &[RESULTS]).expect("the digests can be written");
        assert!(matches!(look(folder.path(), Analysis::Manifold, &now), Found::Same(_)));
        assert!(matches!(look(folder.path(), Analysis::Geometry, &now), Found::Other(_)));
        assert!(matches!(
            look(&folder.path().join("none"), Analysis::Manifold, &now),
            Found::Nothing
        ));
    }
}
