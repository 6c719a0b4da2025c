// SPDX-License-Identifier: MIT
//! Texts out of every kind of file that holds some.

use crate::fixtures::{CLASSES, folder, message, read};
use repscope_io::{InputPath, blank_lines, list_arrays, read_array, read_texts};

fn of(name: &str) -> repscope_io::Result<Vec<String>> {
    read_texts(&InputPath::parse(&folder().join(name).display().to_string()))
}

#[test]
fn lines_fields_columns_and_arrays_of_strings_are_texts() {
    assert_eq!(of("lines.txt").unwrap(), ["Ein Satz.", "", "猫 sits", "  last "]);
    assert_eq!(of("objects.jsonl#text").unwrap(), ["Ein Satz.", "", "猫 sits"]);
    assert_eq!(of("objects.jsonl#meta.lang").unwrap(), ["de", "none", "zh"]);
    assert_eq!(of("object_text.npy").unwrap(), CLASSES);
    assert_eq!(of("labels.csv#label").unwrap(), CLASSES);
    assert_eq!(
        of("unicode_little.npy").unwrap(),
        ["Katze", "Hündin", "猫", "🐈‍⬛ cat", ""]
    );
}

#[test]
fn numbers_matrices_and_gaps_are_no_texts() {
    for (name, words) in [
        ("objects.jsonl#score", "holds f64, not text"),
        ("little_f4.npy", "has shape (4, 3)"),
        ("object_mixed.npy", "holds None at row 1"),
        ("lines.txt#x", "leave out #x"),
    ] {
        let error = of(name).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(name), "{error}");
    }
}

#[test]
fn objects_that_python_wrote_have_their_values() {
    assert_eq!(
        crate::fixtures::numbers(&read("objects.jsonl#score").unwrap()),
        [0.1, -2.5e-300, 3.0]
    );
    assert_eq!(
        crate::fixtures::numbers(&read("objects.jsonl#id").unwrap()),
        [1.0, 2.0, 3.0]
    );
    let z = read("objects.jsonl#z").unwrap();
    assert_eq!(
        (z.shape(), crate::fixtures::numbers(&z)),
        (&[3, 2][..], vec![0.5, 1.0, 2.0, -3.0, 4.0, 5.25])
    );
    assert_eq!(crate::fixtures::labels("objects.jsonl#ok"), ["True", "False", "True"]);
    let error = message("objects.jsonl");
    assert!(
        error.contains("holds 6 fields; pick one with #field: `id` (3,) i64"),
        "{error}"
    );
    assert_eq!(list_arrays(&folder().join("objects.jsonl")).unwrap().len(), 6);
    assert_eq!(blank_lines(&folder().join("objects.jsonl")).unwrap(), 1);
    assert_eq!(blank_lines(&folder().join("lines.txt")).unwrap(), 0);
}

#[test]
fn text_files_can_be_labels() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("y.txt");
    crate::fixtures::put(&path, b"dog\ncat\ndog\n");
    let labels = read_array(&InputPath::file(&path)).unwrap().into_labels("y").unwrap();
    assert_eq!(
        (labels.names(), labels.codes()),
        (&["cat".to_string(), "dog".to_string()][..], &[1, 0, 1][..])
    );
}

#[test]
fn a_file_of_other_bytes_is_refused_by_name() {
    let scratch = tempfile::tempdir().unwrap();
    for (name, bytes, words) in [
        ("a.txt", &b"\xff\xfea\0b\0"[..], "does not start like a .txt file"),
        ("b.jsonl", b"{\"a\": \"\xff\"}", "no JSON in line 1"),
        ("c.txt", b"", "is empty"),
        ("d.ndjson", b"[1, 2]", "holds a list in line 1"),
    ] {
        let path = scratch.path().join(name);
        crate::fixtures::put(&path, bytes);
        let error = read_array(&InputPath::file(&path)).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(name), "{error}");
    }
}
