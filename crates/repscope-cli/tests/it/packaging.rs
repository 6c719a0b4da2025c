// SPDX-License-Identifier: MIT
//! Every crate of the workspace can be packaged for a registry: its manifest is complete, its dependencies inside the
//! workspace have versions, and no circle of dev-dependencies stops it.
//!
//! The packages are made for real, which takes a few seconds. They are not compiled: `cargo publish --workspace
//! --dry-run` does that before a release.

use std::process::Command;

use serde_json::Value;

use crate::fixtures::{Folder, cargo_metadata, repository};

#[test]
fn every_crate_can_be_packaged() {
    let target = Folder::new();
    let output = Command::new(env!("CARGO"))
        .args("package --workspace --no-verify --allow-dirty --offline --target-dir".split(' '))
        .arg(target.path())
        .current_dir(repository(""))
        .output()
        .expect("cargo starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    for package in members() {
        let name = format!("{}-{}.crate", text(&package["name"]), text(&package["version"]));
        assert!(target.path().join("package").join(&name).exists(), "{name}\n{stderr}");
    }
}

#[test]
fn every_published_crate_says_what_it_is() {
    for package in members().iter().filter(|package| package["publish"].is_null()) {
        let name = text(&package["name"]);
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(package[key].is_string(), "{name} has no {key}");
        }
        for (key, most) in [("keywords", 5), ("categories", 5)] {
            let count = package[key].as_array().map_or(0, Vec::len);
            assert!((1..=most).contains(&count), "{name} has {count} {key}");
        }
        // A registry refuses longer ones.
        let keywords = package["keywords"].as_array().expect("a list");
        assert!(
            keywords.iter().all(|keyword| text(keyword).len() <= 20),
            "{name}: {keywords:?}"
        );
    }
}

/// A dependency on a crate that is not published would stop the crate that has it.
#[test]
fn published_crates_depend_on_published_crates_only() {
    let members = members();
    let private: Vec<&str> = members
        .iter()
        .filter(|package| !package["publish"].is_null())
        .map(|package| text(&package["name"]))
        .collect();
    for package in members.iter().filter(|package| package["publish"].is_null()) {
        for dependency in package["dependencies"].as_array().expect("a list") {
            let names_version = dependency["req"] != "*";
            let name = text(&dependency["name"]);
            assert!(
                !(names_version && private.contains(&name)),
                "{} depends on {name}, which is not published",
                text(&package["name"])
            );
        }
    }
}

/// The crates of this workspace.
fn members() -> Vec<Value> {
    let metadata = cargo_metadata(&["--no-deps"]);
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}
