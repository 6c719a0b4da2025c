// SPDX-License-Identifier: MIT
//! Models by their names on the Hugging Face hub, where its cache on this machine holds them. Nothing is downloaded.
//!
//! A cache has a folder `models--ORG--NAME` for each model, with the names of its versions in `refs` and their files in
//! `snapshots/VERSION`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Result, bail};

/// The version that is taken.
const VERSION: &str = "main";
/// How files of models and arrays end, which no model is called.
const FILES: [&str; 8] = [".onnx", ".pth", ".pt", ".ckpt", ".bin", ".safetensors", ".npy", ".npz"];
/// How many names a message lists.
const LISTED: usize = 10;

/// Whether a text can be the name of a model on the hub: `NAME` or `ORG/NAME`.
pub fn is_name(text: &str) -> bool {
    let parts: Vec<&str> = text.split('/').collect();
    let is_part = |part: &&str| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        part.chars().all(is_fine) && part.starts_with(|c: char| c.is_ascii_alphanumeric()) && !part.contains("--")
    };
    let is_file = FILES.iter().any(|ending| text.to_ascii_lowercase().ends_with(ending));
    parts.len() <= 2 && parts.iter().all(is_part) && !is_file
}

/// The folder of a model in the cache; `variable` reads the environment.
pub fn find(name: &str, variable: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let places = caches(variable);
    let own = format!("models--{}", name.replace('/', "--"));
    let known = places.iter().map(|place| place.join(&own)).find(|model| model.is_dir());
    if let Some(model) = known.filter(|_| is_name(name)) {
        return snapshot(&model, name);
    }
    let looked: Vec<String> = places
        .iter()
        .map(|place| place.join(&own).display().to_string())
        .collect();
    bail!(
        "{name} is neither a folder or file nor a model in the Hugging Face cache of this machine, and nothing is downloaded; looked \
         for {}. Download it (`hf download {name}`), set HF_HOME or HF_HUB_CACHE to the cache that holds it, or give the folder \
         with its config.json, weights and tokenizer.json",
        looked.join(" and ")
    )
}

/// The caches in use, as the hub's own library finds them: the first that holds a model counts.
fn caches(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("HF_HOME").or_else(|| {
        let cache = set("XDG_CACHE_HOME").or_else(|| {
            let user = set("HOME").or_else(|| set("USERPROFILE"))?;
            Some(user.join(".cache"))
        })?;
        Some(cache.join("huggingface"))
    });
    let hub = set("HF_HUB_CACHE").or_else(|| set("HUGGINGFACE_HUB_CACHE"));
    let hub = hub.or_else(|| home.map(|home| home.join("hub")));
    let mut places: Vec<PathBuf> = hub.into_iter().chain(set("TRANSFORMERS_CACHE")).collect();
    places.dedup();
    places
}

/// The files of the version `main`; where it has no name, the only version there is.
fn snapshot(model: &Path, name: &str) -> Result<PathBuf> {
    let all = model.join("snapshots");
    let named = std::fs::read_to_string(model.join("refs").join(VERSION)).ok();
    let named = named
        .as_deref()
        .map(str::trim)
        .filter(|version| is_name(version) && !version.contains('/'));
    if let Some(version) = named {
        let files = all.join(version);
        if files.is_dir() {
            return Ok(files);
        }
    }
    let mut versions: Vec<PathBuf> = match std::fs::read_dir(&all) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(_) => Vec::new(),
    };
    versions.retain(|version| version.is_dir());
    versions.sort();
    match (&versions[..], named) {
        ([only], None) => Ok(only.clone()),
        ([], _) => bail!(
            "the cache has a folder for {name}, {}, but no files of it; download it again, or give the folder of the model",
            model.display()
        ),
        (several, _) => {
            let listed: Vec<String> = several
                .iter()
                .take(LISTED)
                .map(|own| own.display().to_string())
                .collect();
            bail!(
                "the cache does not say which version of {name} is `{VERSION}`; give the folder of one: {}",
                listed.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_paths() {
        for name in [
            "bert-base-uncased",
            "openai/clip-vit-base-patch32",
            "thenlper/gte-base",
            "a/b_c-v1.5",
        ] {
            assert!(is_name(name), "{name}");
        }
        for path in [
            "",
            "a/b/c",
            "./bert",
            "../bert",
            "/models/bert",
            "clip/",
            "a b",
            "a\\b",
            "a/..",
            "x--y",
            "model.onnx",
            "a/b.pt",
        ] {
            assert!(!is_name(path), "{path}");
        }
    }

    #[test]
    fn caches_are_those_of_the_environment() {
        let of = |set: &[(&str, &str)]| {
            let variable = |name: &str| set.iter().find(|(own, _)| *own == name).map(|(_, value)| value.into());
            let found = caches(&variable);
            found
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let home = ("HOME", "/home/u");
        assert_eq!(of(&[home]), "/home/u/.cache/huggingface/hub");
        assert_eq!(of(&[home, ("XDG_CACHE_HOME", "/x")]), "/x/huggingface/hub");
        assert_eq!(of(&[home, ("HF_HOME", "/hf")]), "/hf/hub");
        assert_eq!(of(&[home, ("HF_HOME", "/hf"), ("HF_HUB_CACHE", "/hub")]), "/hub");
        assert_eq!(
            of(&[home, ("HF_HOME", "/hf"), ("TRANSFORMERS_CACHE", "/t")]),
            "/hf/hub /t"
        );
        assert_eq!(of(&[home, ("HF_HOME", "")]), "/home/u/.cache/huggingface/hub");
        assert_eq!(of(&[]), "");
    }

    #[test]
    fn the_version_is_that_of_main_or_the_only_one() {
        let cache = tempfile::tempdir().expect("a temporary folder");
        let model = cache.path().join("models--somebody--bert");
        let variable = |name: &str| (name == "HF_HUB_CACHE").then(|| cache.path().as_os_str().to_os_string());
        let found = || find("somebody/bert", &variable).map_err(|error| error.to_string());
        let error = found().unwrap_err();
        for fact in [
            "somebody/bert",
            "nothing is downloaded",
            "models--somebody--bert",
            "HF_HOME",
        ] {
            assert!(error.contains(fact), "{error}");
        }
        std::fs::create_dir_all(model.join("refs")).unwrap();
        assert!(found().unwrap_err().contains("no files of it"));
        std::fs::create_dir_all(model.join("snapshots/abc")).unwrap();
        assert_eq!(found().unwrap(), model.join("snapshots/abc"));
        std::fs::create_dir_all(model.join("snapshots/def")).unwrap();
        assert!(found().unwrap_err().contains("which version"));
        repscope_io::write_whole(&model.join("refs/main"), b"def\n").unwrap();
        assert_eq!(found().unwrap(), model.join("snapshots/def"));
        // A reference that leads elsewhere is none.
        repscope_io::write_whole(&model.join("refs/main"), b"../../elsewhere").unwrap();
        assert!(found().unwrap_err().contains("which version"));
    }
}
