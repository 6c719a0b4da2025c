// SPDX-License-Identifier: MIT
//! `repscope validate`: the claims hold on the shipped examples, and fail on others.

use crate::fixtures::{Folder, npy, npy_f64, npy_words, repository};
use serde_json::Value;

/// A file of the shipped examples.
fn shipped(name: &str) -> Vec<u8> {
    std::fs::read(repository(&format!("crates/repscope-cli/validation/{name}"))).expect("a shipped example")
}

/// A folder `examples` with both files, for `--data examples`.
fn with_examples(blobs: &[u8], matrix: &[u8]) -> Folder {
    let folder = Folder::new();
    folder.write("examples/blobs.npy", blobs);
    folder.write("examples/matrix.npy", matrix);
    folder
}

/// The shipped matrix with its first column ten times as long.
fn changed_matrix() -> Vec<u8> {
    let file = shipped("matrix.npy");
    let (header, values) = file.split_at(128);
    let numbers = values
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let changed = numbers.enumerate().map(|(i, x)| if i % 50 == 0 { 10.0 * x } else { x });
    let mut bytes = header.to_vec();
    bytes.extend(changed.flat_map(f32::to_le_bytes));
    bytes
}

fn claims(stdout: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(stdout).expect("stdout is one JSON document");
    document["claims"].as_array().expect("claims are a list").clone()
}

#[test]
fn every_claim_holds_on_the_shipped_examples() {
    let folder = Folder::new();
    let run = folder.good("validate");
    assert_eq!(run.stderr, "");
    assert!(!run.stdout.contains("FAILS"), "{}", run.stdout);
    assert!(!run.stdout.contains('\x1b'), "no color where nobody looks");
    assert!(run.stdout.trim_end().ends_with("claims hold."), "{}", run.stdout);
    assert!(folder.files().is_empty(), "nothing is written unless asked for");
}

#[test]
fn the_worked_values_of_the_specification_are_among_the_claims() {
    let claims = claims(&Folder::new().good("validate --json").stdout);
    assert!(claims.len() >= 60, "{} claims", claims.len());
    assert!(claims.iter().all(|c| c["holds"] == true && c["verdict"] == "holds"));
    for (part, expected) in [
        ("RankMe of the 100 × 50 matrix", "1.907 ± 0.0005"),
        ("threshold rank", "9 exactly"),
        ("CLID of the blobs", "1.844 ± 0.0005"),
    ] {
        let claim = claims
            .iter()
            .find(|c| c["claim"].as_str().is_some_and(|n| n.contains(part)));
        assert_eq!(claim.unwrap_or_else(|| panic!("{part}"))["expected"], expected);
    }
    for claim in &claims {
        for key in ["group", "claim", "expected", "got", "evidence", "because"] {
            assert!(
                claim[key].as_str().is_some_and(|text| !text.is_empty()),
                "{key} of {claim}"
            );
        }
    }
}

#[test]
fn examples_of_a_folder_give_the_same_claims() {
    let folder = with_examples(&shipped("blobs.npy"), &shipped("matrix.npy"));
    let built_in = claims(&folder.good("validate --json").stdout);
    assert_eq!(claims(&folder.good("validate --data examples --json").stdout), built_in);
}

#[test]
fn a_changed_matrix_fails_the_claims_about_it_and_no_other() {
    let folder = with_examples(&shipped("blobs.npy"), &changed_matrix());
    let run = folder.run("validate --data examples");
    assert_eq!(run.code, 2);
    assert!(run.stdout.contains("  FAILS  "), "{}", run.stdout);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    assert!(run.stderr.contains("RankMe of the 100 × 50 matrix"), "{}", run.stderr);
    assert!(run.stderr.contains("expected 1.907 ± 0.0005, got "), "{}", run.stderr);
    let failing: Vec<String> = claims(&folder.run("validate --data examples --json").stdout)
        .iter()
        .filter(|c| c["holds"] == false)
        .map(|c| c["claim"].to_string())
        .collect();
    assert!(failing.len() >= 3, "{failing:?}");
    assert!(failing.iter().all(|name| name.contains("matrix")), "{failing:?}");
}

#[test]
fn blobs_that_are_all_the_same_row_fail_with_the_reason() {
    let constant = npy_f64(&[200, 10], &[1.0; 2000]);
    let folder = with_examples(&constant, &shipped("matrix.npy"));
    let run = folder.run("validate --data examples");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("CLID of the blobs: expected 1.844 ± 0.0005, got none: "),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_that_is_missing_is_named_with_what_writes_it() {
    let folder = Folder::new();
    folder.write("examples/blobs.npy", &shipped("blobs.npy"));
    for words in ["validate --data examples", "validate --data nowhere"] {
        let run = folder.run(words);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{words}");
        assert!(
            run.stderr.contains(".npy") && run.stderr.contains("make_examples.py"),
            "{}",
            run.stderr
        );
    }
    assert!(folder.run("validate --data examples").stderr.contains("matrix.npy"));
}

#[test]
fn a_file_that_holds_something_else_is_refused() {
    let blobs = shipped("blobs.npy");
    let wrong: [(&[u8], &str); 4] = [
        (b"not an array", "matrix.npy"),
        (&shipped("matrix.npy")[..5000], "matrix.npy"),
        (&npy_words(&["a", "b"]), "matrix.npy"),
        (
            &npy("<f8", &[2, 3], &[0; 48]),
            "2 × 3 numbers, but the claims speak of 100 × 50",
        ),
    ];
    for (matrix, part) in wrong {
        let run = with_examples(&blobs, matrix).run("validate --data examples");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{part}");
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn the_markdown_has_a_table_per_group_what_differs_and_the_right_titles() {
    let folder = Folder::new();
    let run = folder.good("validate --output appendix/validation.md");
    assert!(run.stderr.contains("validation.md is written"), "{}", run.stderr);
    let text = folder.read("appendix/validation.md");
    assert!(text.contains(env!("CARGO_PKG_VERSION")), "{text}");
    assert_eq!(text.matches("| claim | expected | got | verdict | why |").count(), 8);
    assert!(text.contains("| 1.907 ± 0.0005 | 1.9072 | holds |"), "{text}");
    assert!(text.contains("## What differs from the specification"), "{text}");
    for title in [
        "RankMe: Assessing the Downstream Performance of Pretrained Self-Supervised Representations by Their Rank",
        "Using Representation Expressiveness and Learnability to Evaluate Self-Supervised Learning Methods",
        "Estimating the intrinsic dimension of datasets by a minimal neighborhood information",
    ] {
        assert!(text.contains(title), "{title}");
    }
    // Every row has its five cells: no claim breaks the table.
    let rows = text.lines().filter(|line| line.starts_with("| "));
    assert!(rows.clone().count() > 60);
    for row in rows {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 6, "{row}");
    }
}

#[test]
fn a_failing_run_still_writes_its_markdown() {
    let folder = with_examples(&shipped("blobs.npy"), &changed_matrix());
    assert_eq!(folder.run("validate --data examples --output claims.md").code, 2);
    assert!(folder.read("claims.md").contains("| **FAILS** |"));
}
