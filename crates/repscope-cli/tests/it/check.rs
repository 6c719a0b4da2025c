// SPDX-License-Identifier: MIT
//! `repscope check`: the input doctor. Exit code 1 where something would stop a metric.

use crate::fixtures::{Folder, noise, npy_f64, npy_i64, npy_words, npz};
use serde_json::{Value, json};

/// Five rows of two values.
fn matrix(values: [[f64; 2]; 5]) -> Vec<u8> {
    npy_f64(&[5, 2], values.as_flattened())
}

#[test]
fn a_sound_array_is_shown_with_its_shape_and_range() {
    let folder = Folder::new();
    folder.write(
        "z.npy",
        &matrix([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 0.5]]),
    );
    let run = folder.good("check z.npy");
    assert!(run.stdout.starts_with("z.npy  5 × 2 f64\n"), "{}", run.stdout);
    assert!(run.stdout.contains("from -4 to 9"), "{}", run.stdout);
    assert!(run.stdout.contains("nothing odd"), "{}", run.stdout);
    assert_eq!(run.stderr, "");
    assert_eq!(folder.files(), ["z.npy"], "check writes nothing");
}

#[test]
fn nan_and_infinite_values_are_found_with_their_places() {
    let folder = Folder::new();
    let (nan, infinite) = (f64::NAN, f64::INFINITY);
    folder.write(
        "z.npy",
        &matrix([[1.0, 2.0], [3.0, nan], [5.0, 6.0], [infinite, 8.0], [nan, 0.5]]),
    );
    let run = folder.run("check z.npy");
    assert_eq!(run.code, 1);
    assert!(
        run.stdout
            .contains("2 values are NaN: row 1 column 1, row 4 column 0\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("1 value is infinite: row 3 column 0\n"),
        "{}",
        run.stdout
    );
    assert_eq!(run.stderr, "", "a finding is the result, not an error");
}

#[test]
fn of_many_nan_the_first_are_listed() {
    let folder = Folder::new();
    folder.write("z.npy", &npy_f64(&[50, 2], &[f64::NAN; 100]));
    let run = folder.run("check z.npy");
    assert_eq!(run.code, 1);
    assert!(
        run.stdout
            .contains("100 values are NaN: row 0 column 0, row 0 column 1"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains(" …\n"), "{}", run.stdout);
}

#[test]
fn duplicates_zero_rows_and_constant_columns_are_remarks() {
    let folder = Folder::new();
    folder.write(
        "z.npy",
        &matrix([[1.0, 0.0], [3.0, 0.0], [0.0, 0.0], [3.0, 0.0], [1.0, 0.0]]),
    );
    let run = folder.good("check z.npy");
    assert!(
        run.stdout.contains("2 rows equal an earlier row (rows 1 and 3"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("1 row is all zero, the first is row 2"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("1 column is constant: 1\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("nothing odd"), "{}", run.stdout);
}

#[test]
fn labels_are_shown_with_the_sizes_of_their_classes() {
    let folder = Folder::new();
    folder.write("y.npy", &npy_words(&["dog", "cat", "cat", "elk", "dog", "Dog"]));
    let run = folder.good("check y.npy");
    for text in [
        "4 classes",
        "cat (2)",
        "dog (2)",
        "elk (1)",
        "2 classes have a single row",
        "only in case",
    ] {
        assert!(run.stdout.contains(text), "{text}\n{}", run.stdout);
    }
    folder.write("same.npy", &npy_i64(&[3; 6]));
    let run = folder.good("check same.npy");
    assert!(run.stdout.contains("all rows have the same label"), "{}", run.stdout);
}

#[test]
fn files_of_different_length_are_remarked_on() {
    let folder = Folder::new();
    folder.write("z.npy", &npy_f64(&[7, 2], &noise(1, 14)));
    folder.write("y.npy", &npy_i64(&[0, 1, 0, 1, 0, 1]));
    let run = folder.good("check z.npy y.npy");
    assert!(
        run.stdout.contains("y.npy has 6 rows but z.npy has 7"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("--ids"), "{}", run.stdout);
}

#[test]
fn every_array_of_an_archive_is_looked_at() {
    let folder = Folder::new();
    let z = npy_f64(&[6, 2], &noise(1, 12));
    folder.write("all.npz", &npz(&[("z", z), ("y", npy_i64(&[0, 1, 0, 1, 0, 1]))]));
    let all = folder.good("check all.npz").stdout;
    assert!(
        all.contains("all.npz#z  6 × 2 f64") && all.contains("all.npz#y  6 i64"),
        "{all}"
    );
    let one = folder.good("check all.npz#y").stdout;
    assert!(
        !one.contains("all.npz#z") && one.contains("2 classes: 0 (3), 1 (3)"),
        "{one}"
    );
}

#[test]
fn a_table_of_numbers_is_one_matrix_and_a_mixed_one_is_columns() {
    let folder = Folder::new();
    folder.write("NUMBERS.CSV", b"a,b\n1,2\n3,4.5\n5,6\n");
    folder.write("mixed.csv", b"id,b\nx,2\ny,4.5\nz,6\n");
    let numbers = folder.good("check NUMBERS.CSV").stdout;
    assert!(numbers.starts_with("NUMBERS.CSV  3 × 2 f64\n"), "{numbers}");
    let mixed = folder.good("check mixed.csv").stdout;
    assert!(
        mixed.contains("mixed.csv#id  3 str") && mixed.contains("mixed.csv#b  3 f64"),
        "{mixed}"
    );
}

#[test]
fn an_array_without_rows_is_a_problem() {
    let folder = Folder::new();
    folder.write("z.npy", &npy_f64(&[0, 3], &[]));
    let run = folder.run("check z.npy");
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("is empty"), "{}", run.stdout);
}

#[test]
fn json_holds_the_facts_the_problems_and_the_remarks() {
    let folder = Folder::new();
    folder.write(
        "z.npy",
        &matrix([[1.0, 2.0], [3.0, f64::NAN], [0.0, 0.0], [1.0, 2.0], [9.0, 0.5]]),
    );
    folder.write("y.npy", &npy_words(&["cat", "dog", "cat"]));
    let run = folder.run("check z.npy y.npy --json");
    assert_eq!(run.code, 1);
    let found: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    let [z, y] = [0, 1].map(|i| &found["arrays"][i]);
    assert_eq!(z["facts"]["path"], "z.npy");
    assert_eq!(z["facts"]["shape"], json!([5, 2]));
    assert_eq!(z["facts"]["numbers"]["nan_at"], json!([[1, 1]]));
    assert_eq!(z["facts"]["numbers"]["first_duplicate"], json!([0, 3]));
    assert_eq!(z["facts"]["numbers"]["first_zero_row"], json!(2));
    assert_eq!(z["problems"].as_array().map(Vec::len), Some(1));
    assert_eq!(z["remarks"].as_array().map(Vec::len), Some(2));
    assert_eq!(y["facts"]["labels"]["singletons"], json!(1));
    assert!(
        found["remarks"][0]
            .as_str()
            .is_some_and(|r| r.contains("3") && r.contains("5")),
        "{found}"
    );
}

#[test]
fn an_unreadable_file_does_not_hide_what_is_found_in_the_others() {
    let folder = Folder::new();
    folder.write("empty.npy", b"");
    folder.write(
        "z.npy",
        &matrix([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 0.5]]),
    );
    let run = folder.run("check empty.npy z.npy");
    assert_eq!(run.code, 2);
    assert!(run.stdout.starts_with("z.npy  5 × 2 f64\n"), "{}", run.stdout);
    assert!(run.stderr.contains("empty.npy is empty"), "{}", run.stderr);
}

#[test]
fn a_checkpoint_is_shown_as_a_tree_with_the_network_it_belongs_to() {
    let folder = Folder::new();
    let torch = |name: &str| crate::fixtures::repository(&format!("crates/repscope-io/tests/torch/{name}"));
    let text = folder.good(&format!("check {}", torch("lightning.ckpt"))).stdout;
    assert!(text.contains("state_dict") && text.contains("f32"), "{text}");
    let run = folder.run(&format!("check {}", torch("evil_zip.pth")));
    assert!(run.code == 2 && run.stderr.contains("posix.system"), "{}", run.stderr);
    assert!(run.stderr.contains("nothing was run"), "{}", run.stderr);
    let document: serde_json::Value =
        serde_json::from_str(&folder.good(&format!("check --json {}", torch("state_dict.pth"))).stdout).expect("JSON");
    let tensors = document["checkpoints"][0]["tensors"].as_array().expect("a list");
    assert_eq!(tensors[0]["shape"], serde_json::json!([2, 1, 3, 3]));
}
