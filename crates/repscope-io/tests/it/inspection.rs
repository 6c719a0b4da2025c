// SPDX-License-Identifier: MIT
//! The input doctor on real files.

use crate::fixtures::folder;
use repscope_io::{ClassCount, InputPath, InputRecord, Inspection, inspect, read_array};

fn look(name: &str) -> Inspection {
    inspect(&InputPath::parse(&folder().join(name).display().to_string())).unwrap()
}

#[test]
fn a_matrix_has_facts_about_numbers_only() {
    let found = look("little_f4.npy");
    assert_eq!((found.rows, found.columns, found.dtype.as_str()), (4, 3, "f32"));
    let numbers = found.numbers.unwrap();
    assert_eq!((numbers.minimum, numbers.maximum), (Some(-3.0), Some(13.5)));
    assert_eq!((numbers.nan, numbers.duplicate_rows), (0, 0));
    assert!(found.labels.is_none());
}

#[test]
fn classes_are_counted_with_the_largest_first() {
    let labels = look("object_text.npy").labels.unwrap();
    let class = |name: &str, rows| ClassCount {
        name: name.to_string(),
        rows,
    };
    assert_eq!(labels.classes, [class("cat", 2), class("dog", 1), class("élan", 1)]);
    assert_eq!((labels.singletons, labels.missing), (2, 0));
}

#[test]
fn missing_classes_are_counted_and_not_refused() {
    let labels = look("columns.parquet#gap_text").labels.unwrap();
    assert_eq!((labels.missing, labels.first_missing), (1, Some(2)));
    assert_eq!(look("unicode_little.npy").labels.unwrap().first_missing, Some(4));
}

#[test]
fn an_inspection_can_be_written_as_json() {
    let json = serde_json::to_value(look("stored.npz#labels")).unwrap();
    assert_eq!(json["labels"]["classes"][0]["rows"], 2);
    assert_eq!(json["numbers"]["zero_rows"], 2);
}

#[test]
fn the_record_of_an_input_names_path_shape_and_digest() {
    let input = InputPath::parse(&folder().join("stored.npz#latent").display().to_string());
    let record = InputRecord::of(&input, &read_array(&input).unwrap()).unwrap();
    assert!(record.path.ends_with("stored.npz#latent"));
    assert_eq!(
        (record.shape, record.dtype.as_str(), record.digest.len()),
        (vec![4, 3], "f32", 64)
    );
}
