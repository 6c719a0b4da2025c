// SPDX-License-Identifier: MIT
//! A short run of every target. `REPSCOPE_FUZZ_SECONDS` makes it longer.

use repscope_fuzz::{TARGETS, read, run, seeds};

#[test]
fn no_damaged_file_makes_a_reader_panic_or_work_for_long() {
    let seconds = std::env::var_os("REPSCOPE_FUZZ_SECONDS").and_then(|text| text.to_str()?.parse().ok());
    let mut found = Vec::new();
    for target in &TARGETS {
        let folder = tempfile::tempdir().unwrap();
        let outcome = run(target, seconds.unwrap_or(1.0), 1, folder.path()).unwrap();
        assert!(
            outcome.executions > 5,
            "{}: {} executions",
            target.name,
            outcome.executions
        );
        found.extend(
            outcome
                .findings
                .iter()
                .map(|(what, bytes)| format!("{}: {what}: {:02x?}", target.name, &bytes[..bytes.len().min(200)])),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_target_has_seeds() {
    for target in &TARGETS {
        assert!(!seeds(target.name).unwrap().is_empty(), "{}", target.name);
    }
}

#[test]
fn libfuzzer_has_the_same_targets() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let bins = manifest.split("[[bin]]").skip(1);
    let names: Vec<&str> = bins.filter_map(|bin| bin.split('"').nth(1)).collect();
    assert_eq!(names, TARGETS.map(|target| target.name));
    for name in names {
        read(name, b"damaged");
    }
}
