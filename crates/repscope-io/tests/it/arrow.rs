// SPDX-License-Identifier: MIT
//! Arrow files that pyarrow wrote (`tests/arrow/make.py`), and several files as one array.

use std::path::{Path, PathBuf};

use repscope_io::{
    Data, InputPath, InputRecord, Object, Pool, list_arrays, read_array, read_ids, read_texts, tree, write_floats,
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/arrow")
}

fn input(path: &Path, key: &str) -> InputPath {
    InputPath {
        path: path.to_path_buf(),
        key: Some(key.to_string()),
    }
}

fn numbers(input: &InputPath) -> Vec<f64> {
    let space = read_array(input).unwrap().into_space("z", Pool::Flatten).unwrap();
    let mut row = vec![0.0; space.columns()];
    let mut values = Vec::new();
    for i in 0..space.rows() {
        space.read_row(i, &mut row);
        values.extend(&row);
    }
    values
}

#[test]
fn files_streams_feather_and_folders_of_datasets_are_what_pyarrow_wrote() {
    let matrix: Vec<f64> = (0..60).map(|i| f64::from(i) / 8.0).collect();
    for name in ["stream.arrow", "file.arrow", "lz4.feather", "zstd.feather", "dataset"] {
        let path = folder().join(name);
        for key in ["embedding", "lists", "large"] {
            assert_eq!(read_array(&input(&path, key)).unwrap().shape(), [12, 5], "{name}#{key}");
            assert_eq!(numbers(&input(&path, key)), matrix, "{name}#{key}");
        }
        assert_eq!(
            numbers(&input(&path, "small")),
            (0..12).map(f64::from).collect::<Vec<_>>()
        );
        assert_eq!(read_ids(&input(&path, "id")).unwrap()[10..], ["10", "11"], "{name}");
        for key in ["word", "long"] {
            assert_eq!(
                read_texts(&input(&path, key)).unwrap()[..4],
                ["w0", "w1", "w2", "w0"],
                "{name}#{key}"
            );
        }
        assert_eq!(
            read_texts(&input(&path, "label")).unwrap()[7..10],
            ["bé", "c", "a"],
            "{name}"
        );
        assert!(
            matches!(read_array(&input(&path, "truth")).unwrap().data(), Data::Bool(v) if v[..4] == [true, false, false, true])
        );
        match read_array(&input(&path, "missing")).unwrap().data() {
            Data::Mixed(objects) => assert_eq!(objects[..2], [Object::Text("w0".to_string()), Object::None]),
            other => panic!("{name}: missing texts are objects, not {other:?}"),
        }
        let said = read_array(&input(&path, "pair")).unwrap_err().to_string();
        assert!(said.contains("records in column `pair`"), "{said}");
    }
}

#[test]
fn columns_are_listed_with_the_rows_of_all_parts() {
    for name in ["stream.arrow", "lz4.feather", "dataset"] {
        let infos = list_arrays(&folder().join(name)).unwrap();
        let of = |key: &str| infos.iter().find(|info| info.key.as_deref() == Some(key)).unwrap();
        assert_eq!(
            (of("embedding").shape.as_slice(), of("embedding").dtype.as_str()),
            (&[12, 5][..], "f32"),
            "{name}"
        );
        assert_eq!(of("label").shape, [12], "{name}");
        assert!(tree(&folder().join(name)).unwrap().contains("embedding  f32 (12, 5)"));
    }
    let said = read_array(&InputPath::file(folder().join("dataset")))
        .unwrap_err()
        .to_string();
    assert!(said.contains("embedding") && said.contains("pick one"), "{said}");
}

#[test]
fn files_that_fit_a_pattern_are_one_array_in_natural_order() {
    let folder = tempfile::tempdir().unwrap();
    for (name, rows) in [
        ("z-10.npy", [5.0_f32, 6.0]),
        ("z-9.npy", [1.0, 2.0]),
        ("other.npy", [8.0, 9.0]),
    ] {
        write_floats(&folder.path().join(name), &[1, 2], &rows).unwrap();
    }
    let pattern = InputPath::file(folder.path().join("z-*.npy"));
    let array = read_array(&pattern).unwrap();
    assert_eq!(array.shape(), [2, 2]);
    assert_eq!(numbers(&pattern), [1.0, 2.0, 5.0, 6.0]);
    let record = InputRecord::of(&pattern, &array).unwrap();
    assert!(record.files.verify().is_ok());
    write_floats(&folder.path().join("z-11.npy"), &[1, 3], &[1.0, 2.0, 3.0]).unwrap();
    let said = read_array(&pattern).unwrap_err().to_string();
    assert!(
        said.contains("z-11.npy") && said.contains("rows of shape (3,)"),
        "{said}"
    );
    let none = read_array(&InputPath::file(folder.path().join("q-*.npy")))
        .unwrap_err()
        .to_string();
    assert!(none.contains("no file in") && none.contains("fits"), "{none}");
}

#[test]
fn a_list_of_files_does_not_lead_out_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let state = br#"{"_data_files": [{"filename": "../secret.arrow"}]}"#;
    repscope_io::write_whole(&folder.path().join("state.json"), state).unwrap();
    let said = read_array(&input(folder.path(), "x")).unwrap_err().to_string();
    assert!(said.contains("cannot be the name of a file below"), "{said}");
}

#[test]
fn files_that_were_cut_off_or_changed_are_errors() {
    for name in ["lz4.feather", "zstd.feather"] {
        let whole = std::fs::read(folder().join(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.arrow");
        for keep in (0..whole.len()).step_by(97) {
            repscope_io::write_whole(&path, &whole[..keep]).unwrap();
            for info in list_arrays(&path).unwrap_or_default() {
                let _ = read_array(&input(&path, info.key.as_deref().unwrap_or_default()));
            }
        }
    }
}
