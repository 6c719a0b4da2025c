// SPDX-License-Identifier: MIT
//! Files that safetensors, pyarrow and pandas wrote.

use crate::fixtures::{CLASSES, folder, labels, matrix, message, numbers, put, read};
use repscope_io::{Data, Object, Pool, list_arrays};

#[test]
fn tensors_of_every_type_are_read() {
    for (key, dtype) in [("latent", "f32"), ("double", "f64"), ("half", "f16")] {
        let array = read(&format!("many.safetensors#{key}")).unwrap();
        assert_eq!((array.shape(), array.dtype()), (&[4, 3][..], dtype));
        assert_eq!(numbers(&array), matrix(), "{key}");
    }
    assert_eq!(labels("many.safetensors#labels"), ["0", "1", "1", "0"]);
    assert_eq!(labels("many.safetensors#flags"), ["True", "False", "False", "True"]);
    let pixels = read("many.safetensors#pixels").unwrap();
    assert_eq!(numbers(&pixels)[255], 255.0);
    assert_eq!(pixels.into_space("x", Pool::Flatten).unwrap().columns(), 64);
    assert_eq!(numbers(&read("one.safetensors").unwrap()), matrix());
}

#[test]
fn a_file_of_several_tensors_asks_for_one() {
    let text = message("many.safetensors");
    assert!(
        text.contains("holds 7 tensors") && text.contains("`latent` (4, 3) f32"),
        "{text}"
    );
    assert!(message("many.safetensors#latend").contains("did you mean `latent`?"));
    assert!(message("many.safetensors#scalar").contains("0-d array"));
}

#[test]
fn lists_of_every_kind_are_matrices() {
    for (key, dtype) in [("list", "f32"), ("large", "f64"), ("fixed", "f32")] {
        let array = read(&format!("columns.parquet#{key}")).unwrap();
        assert_eq!((array.shape(), array.dtype()), (&[4, 3][..], dtype), "{key}");
        assert_eq!(numbers(&array), matrix(), "{key}");
    }
}

#[test]
fn columns_of_numbers_keep_their_values() {
    for (key, dtype, expected) in [
        ("half", "f16", ["0", "1", "2", "3"]),
        ("small", "i8", ["-128", "0", "1", "127"]),
        ("pixel", "u8", ["0", "1", "2", "255"]),
        ("word", "u32", ["0", "1", "2", "4294967295"]),
        ("integer", "i64", ["0", "1", "1", "-1152921504606846976"]),
        ("unsigned", "u64", ["0", "1", "2", "18446744073709551615"]),
        ("flag", "bool", ["True", "False", "False", "True"]),
    ] {
        let file = format!("columns.parquet#{key}");
        assert_eq!(read(&file).unwrap().dtype(), dtype);
        assert_eq!(labels(&file), expected, "{key}");
    }
    assert_eq!(numbers(&read("columns.parquet#number").unwrap()), [0.5, 1.5, 2.5, 3.5]);
}

#[test]
fn text_of_every_kind_is_labels() {
    for key in ["text", "large_text", "category"] {
        assert_eq!(labels(&format!("columns.parquet#{key}")), CLASSES, "{key}");
    }
}

#[test]
fn several_row_groups_and_pages_are_put_together() {
    let expected: Vec<f64> = (0..20_000).map(|i| f64::from(i % 7)).collect();
    for name in ["many_rows.parquet", "zstd_pages.parquet"] {
        let array = read(name).unwrap();
        assert_eq!(array.shape(), [10_000, 2], "{name}");
        assert_eq!(numbers(&array), expected, "{name}");
    }
}

#[test]
fn what_is_missing_or_ragged_is_named_by_row() {
    assert!(message("columns.parquet#gap").contains("no value in column `gap`, row 2"));
    assert!(message("columns.parquet#gap_list").contains("null or an empty list in column `gap_list`, row 1"));
    assert!(message("columns.parquet#gap_in_list").contains("row 2"));
    let ragged = message("columns.parquet#ragged");
    assert!(ragged.contains("1 in row 0 but 2 in row 2"), "{ragged}");
    let Data::Mixed(objects) = read("columns.parquet#gap_text").unwrap().data().clone() else {
        panic!("text with a gap is mixed")
    };
    assert_eq!(objects[2], Object::None);
}

#[test]
fn unreadable_columns_say_why() {
    let brotli = message("brotli.parquet");
    assert!(
        brotli.contains("compressed with brotli") && brotli.contains("compression='zstd'"),
        "{brotli}"
    );
    assert!(message("columns.parquet#date").contains("column `date` of type int64"));
    assert!(message("columns.parquet").contains("holds 20 columns"));
    assert!(message("columns.parquet#txt").contains("did you mean `text`?"));
}

#[test]
fn what_people_compress_with_is_read() {
    for name in ["lz4.parquet", "zstd.parquet"] {
        assert_eq!(numbers(&read(name).unwrap()), [0.5, 1.5, 2.5, 3.5], "{name}");
    }
    assert_eq!(numbers(&read("polars.parquet#z").unwrap()), matrix());
    assert_eq!(labels("polars.parquet#label"), CLASSES);
    assert!(matches!(read("polars.parquet#integer").unwrap().data(), Data::I64(v) if v[3] == -(1 << 60)));
}

#[test]
fn pages_that_are_cut_off_or_larger_than_claimed_are_errors() {
    let whole = std::fs::read(folder().join("zstd_pages.parquet")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.parquet");
    let footer = whole.len() - 400;
    for at in (4..footer).step_by(23) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        put(&path, &damaged);
        let _ = repscope_io::read_array(&repscope_io::InputPath::file(&path));
    }
}

#[test]
fn the_index_that_pandas_stores_is_no_column_to_choose_from() {
    assert_eq!(labels("pandas.parquet"), CLASSES);
    assert_eq!(labels("pandas.parquet#__index_level_0__"), ["a", "b", "c", "d"]);
    assert_eq!(list_arrays(&folder().join("pandas.parquet")).unwrap().len(), 2);
}
