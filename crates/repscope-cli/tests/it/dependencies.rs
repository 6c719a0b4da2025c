// SPDX-License-Identifier: MIT
//! What the workspace depends on: licenses that are allowed, and no crate twice without a reason. Both lists are in the
//! manifest of the workspace, and both are exact: an entry that is no longer needed fails, too.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::fixtures::{cargo_metadata, repository};

#[derive(Deserialize)]
struct Manifest {
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Workspace {
    metadata: Lists,
}

#[derive(Deserialize)]
struct Lists {
    duplicates: BTreeMap<String, String>,
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allowed: BTreeSet<String>,
    exceptions: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
}

fn read<T: DeserializeOwned>(name: &str) -> T {
    let text = std::fs::read_to_string(repository(name)).expect("a file of the repository");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn lists() -> Lists {
    read::<Manifest>("Cargo.toml").workspace.metadata
}

/// Cargo.lock holds the versions for every platform, so the answer is the same on all of them.
#[test]
fn a_crate_in_two_versions_has_a_reason_in_the_manifest() {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for package in read::<Lock>("Cargo.lock").package {
        *count.entry(package.name).or_default() += 1;
    }
    let found: BTreeSet<String> = count
        .into_iter()
        .filter(|(_, n)| *n > 1)
        .map(|(name, _)| name)
        .collect();
    let reasons = lists().duplicates;
    assert!(reasons.values().all(|reason| !reason.is_empty()));
    assert_eq!(
        found,
        reasons.into_keys().collect(),
        "left: in Cargo.lock more than once; right: [workspace.metadata.duplicates]"
    );
}

#[derive(Deserialize)]
struct Deny {
    licenses: DenyLicenses,
}

#[derive(Deserialize)]
struct DenyLicenses {
    allow: BTreeSet<String>,
    exceptions: Vec<DenyException>,
}

#[derive(Deserialize)]
struct DenyException {
    #[serde(rename = "crate")]
    name: String,
}

#[test]
fn hosted_ci_allows_the_same_licenses() {
    let Licenses { allowed, exceptions } = lists().licenses;
    let deny = read::<Deny>("deny.toml").licenses;
    assert_eq!(deny.allow, allowed);
    let names: BTreeSet<String> = deny.exceptions.into_iter().map(|own| own.name).collect();
    assert_eq!(names, exceptions.into_keys().collect());
}

/// The crates that are built here: those of other platforms may not have been downloaded, and tests do not use the network.
#[test]
fn every_dependency_has_an_allowed_license() {
    let Licenses { allowed, exceptions } = lists().licenses;
    let metadata = cargo_metadata(&["--offline", "--filter-platform", &host()]);
    let mut needed = BTreeSet::new();
    for package in metadata["packages"].as_array().expect("a list of packages") {
        let name = package["name"].as_str().expect("a name");
        if package["source"].is_null() {
            continue; // ours
        }
        let license = package["license"].as_str().unwrap_or_default();
        if !is_allowed(license, &allowed) {
            needed.insert(name.to_string());
            assert!(exceptions.contains_key(name), "{name} is under `{license}`");
        }
    }
    let stale: Vec<&String> = exceptions.keys().filter(|name| !needed.contains(*name)).collect();
    assert!(stale.is_empty(), "{stale:?} need no exception");
}

#[test]
fn license_expressions_are_read_as_spdx_says() {
    let allowed = BTreeSet::from(["MIT".to_string(), "Unicode-3.0".to_string()]);
    for good in [
        "MIT",
        "GPL-3.0 OR MIT",
        "Unlicense/MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "MIT WITH some-exception",
        "(MIT OR GPL-3.0) AND GPL-2.0",
    ] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}

/// The platform that this test was built for, as rustc names it.
fn host() -> String {
    let output = std::process::Command::new("rustc")
        .arg("-vV")
        .output()
        .expect("rustc starts");
    let text = String::from_utf8(output.stdout).expect("rustc answers in UTF-8");
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("rustc names its host").to_string()
}

/// Whether an SPDX expression can be met with allowed licenses; `/` is the old way to write `OR`.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any_of(&mut words, allowed);
    met && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

/// `a OR b OR …`, where `AND` binds tighter.
fn any_of(words: &mut Words, allowed: &BTreeSet<String>) -> bool {
    let mut met = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut Words, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words, allowed: &BTreeSet<String>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = any_of(words, allowed);
        return words.next() == Some(")") && met;
    }
    let mut license = words.next().unwrap_or_default().to_string();
    if words.next_if_eq(&"WITH").is_some() {
        license = format!("{license} WITH {}", words.next().unwrap_or_default());
    }
    allowed.contains(&license)
}
