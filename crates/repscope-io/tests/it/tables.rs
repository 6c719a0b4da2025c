// SPDX-License-Identifier: MIT
//! Tables of text: files that pandas wrote, and small ones written here.

use crate::fixtures::{CLASSES, folder, labels, matrix, message, numbers, read, texts};
use repscope_io::{Array, InputPath, list_arrays, read_array, write_whole};

fn read_text(name: &str, text: &str, key: Option<&str>) -> repscope_io::Result<Array> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write_whole(&path, text.as_bytes()).unwrap();
    read_array(&InputPath {
        path,
        key: key.map(str::to_string),
    })
}

fn refusal(text: &str, key: Option<&str>) -> String {
    read_text("t.csv", text, key).unwrap_err().to_string()
}

#[test]
fn a_table_of_numbers_is_a_matrix_with_or_without_names() {
    for file in ["matrix.csv", "matrix.tsv", "no_names.csv", "spreadsheet.csv"] {
        let array = read(file).unwrap();
        assert_eq!((array.shape(), array.dtype()), (&[4, 3][..], "f64"), "{file}");
        assert_eq!(numbers(&array), matrix(), "{file}");
    }
}

#[test]
fn a_column_is_picked_by_name_or_number() {
    assert_eq!(numbers(&read("matrix.csv#größe").unwrap()), [0.0, 4.5, 9.0, 13.5]);
    assert_eq!(numbers(&read("no_names.csv#2").unwrap()), [0.0, 4.5, 9.0, 13.5]);
    assert_eq!(numbers(&read("spreadsheet.csv#x").unwrap()), [-3.0, 1.5, 6.0, 10.5]);
    assert_eq!(labels("mixed.csv#label"), CLASSES);
    assert_eq!(labels("labels.csv"), CLASSES);
    assert!(message("mixed.csv#lable").contains("did you mean `label`?"));
}

#[test]
fn a_mixed_table_lists_its_columns() {
    let text = message("mixed.csv");
    assert!(
        text.contains("`x` (4,) f64") && text.contains("`label` (4,) str"),
        "{text}"
    );
    assert_eq!(list_arrays(&folder().join("mixed.csv")).unwrap().len(), 4);
}

#[test]
fn bad_cells_are_named_by_line_and_column() {
    assert!(message("gap.csv").contains("empty cell in line 3, column `gap`"));
    assert!(refusal("x,y\n1,2\n3,oops\n", None).contains("holds \"oops\" in line 3, column `y`"));
    assert!(refusal("x,y\n1,2\n3\n", None).contains("has 1 cells in line 3 but 2 in the first"));
    assert!(refusal("x,y\n1,2\n3\n", Some("y")).contains("has 1 cells in line 3"));
    assert!(refusal("x,y\n", None).contains("no rows") || refusal("x,y\n", None).contains("columns"));
    assert!(refusal("\n\n", None).contains("holds no rows"));
    assert!(refusal("", None).contains("is empty (0 bytes)"));
}

#[test]
fn the_index_that_pandas_writes_is_left_out() {
    let array = read("indexed.csv").unwrap();
    assert_eq!((array.shape(), numbers(&array)), (&[4, 3][..], matrix()));
    assert_eq!(numbers(&read("indexed.csv#y").unwrap()), [-1.5, 3.0, 7.5, 12.0]);
}

#[test]
fn numbers_with_leading_zeros_stay_names() {
    let array = read_text("t.csv", "id\n007\n010\n", None).unwrap();
    assert_eq!(texts(&array), ["007", "010"]);
    let array = read_text("t.csv", "id\n7\n10\n", None).unwrap();
    assert_eq!((array.dtype(), numbers(&array)), ("i64", vec![7.0, 10.0]));
    let array = read_text("t.csv", "x\n0.5\nnan\n", None).unwrap();
    assert_eq!(array.dtype(), "f64");
}

#[test]
fn quoted_cells_may_hold_commas_and_line_feeds() {
    let array = read_text("t.csv", "label,x\n\"a,b\",1\n\"c\nd\",2\n", Some("label")).unwrap();
    assert_eq!(texts(&array), ["a,b", "c\nd"]);
}

#[test]
fn text_that_is_not_utf8_is_refused_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    write_whole(&path, b"label\ncat\nh\xfcndin\n").unwrap();
    let error = read_array(&InputPath::file(path)).unwrap_err().to_string();
    assert!(error.contains("not UTF-8 text in line 3"), "{error}");
}
