// SPDX-License-Identifier: MIT
//! HDF5 and AnnData files that h5py wrote (`tests/hdf5/make.py`).

use std::path::PathBuf;

use repscope_io::{Array, Data, InputPath, Object, Pool, list_arrays, read_array, read_ids, read_texts};

fn input(file: &str, key: &str) -> InputPath {
    InputPath {
        path: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/hdf5").join(file),
        key: Some(key.to_string()),
    }
}

fn array(file: &str, key: &str) -> Array {
    read_array(&input(file, key)).unwrap()
}

/// All values, as a matrix has them.
fn numbers(file: &str, key: &str) -> Vec<f64> {
    let space = array(file, key).into_space("z", Pool::Flatten).unwrap();
    let mut values = Vec::new();
    let mut row = vec![0.0; space.columns()];
    for i in 0..space.rows() {
        space.read_row(i, &mut row);
        values.extend(&row);
    }
    values
}

fn counted(count: usize) -> Vec<f64> {
    (0..count).map(|i| i as f64).collect()
}

#[test]
fn arrays_of_old_and_new_files_are_what_h5py_wrote() {
    for file in ["arrays.h5", "latest.h5"] {
        let matrix: Vec<f64> = counted(60).iter().map(|x| x / 8.0).collect();
        for key in ["plain", "deep/er/gzip", "/plain"] {
            assert_eq!(array(file, key).shape(), [12, 5], "{file}#{key}");
            assert_eq!(numbers(file, key), matrix, "{file}#{key}");
        }
        let repeated: Vec<f64> = matrix.iter().flat_map(|&x| [x; 4]).collect();
        assert_eq!(numbers(file, "lzf"), repeated, "{file}");
        assert_eq!(numbers(file, "big"), (-3..9).map(f64::from).collect::<Vec<_>>());
        assert_eq!(
            numbers(file, "half"),
            matrix.chunks(5).map(|row| row[0]).collect::<Vec<_>>()
        );
        assert!(matches!(array(file, "long").data(), Data::I64(v) if v[3] == 3 - (1 << 40)));
        assert!(matches!(array(file, "truth").data(), Data::Bool(v) if v[..4] == [true, false, false, true]));
        assert_eq!(array(file, "bytes").dtype(), "u8");
        assert_eq!(read_texts(&input(file, "words")).unwrap()[..3], ["a", "bé", ""]);
        assert_eq!(read_texts(&input(file, "short")).unwrap()[..2], ["cat", "horse"]);
        assert_eq!(numbers(file, "cube"), counted(24));
        assert_eq!(
            numbers(file, "never"),
            [1.5; 24],
            "never written: what it is filled with"
        );
    }
    assert_eq!(numbers("latest.h5", "many/17"), [17.0]);
    assert_eq!(
        numbers("zstd.h5", "zstd"),
        counted(60).iter().map(|x| x / 8.0).collect::<Vec<_>>()
    );
}

#[test]
fn all_arrays_are_listed_once_and_what_is_missing_is_said() {
    let infos = list_arrays(&input("arrays.h5", "").path).unwrap();
    let keys: Vec<&str> = infos.iter().filter_map(|info| info.key.as_deref()).collect();
    let once = |key: &str| keys.iter().filter(|k| **k == key).count() == 1;
    assert!(once("plain") && once("deep/er/gzip") && once("words"), "{keys:?}");
    assert!(
        !keys.iter().any(|key| key.contains("back")),
        "a group within itself: {keys:?}"
    );
    let said = read_array(&input("arrays.h5", "plane")).unwrap_err().to_string();
    assert!(said.contains("no dataset `plane`") && said.contains("plain"), "{said}");
    let said = read_array(&input("arrays.h5", "single")).unwrap_err().to_string();
    assert!(said.contains("single value"), "{said}");
    assert!(
        read_array(&input("arrays.h5", "outside")).is_err(),
        "other files are not opened"
    );
}

#[test]
fn annotated_data_have_maps_categories_and_sparse_matrices() {
    let pca = [0.0, 4.0, 2.0, 0.0, 0.0, 0.0, 6.0, 0.0];
    let cells = [0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 4.0];
    assert_eq!(numbers("cells.h5ad", "obsm/X_pca"), pca);
    assert_eq!(numbers("cells.h5ad", "X"), cells);
    assert_eq!(numbers("cells.h5ad", "layers/columns"), cells);
    assert_eq!(
        read_texts(&input("cells.h5ad", "obs/cell_type")).unwrap(),
        ["T", "B", "B", "NK"]
    );
    assert_eq!(
        read_ids(&input("cells.h5ad", "obs/_index")).unwrap(),
        ["c1", "c2", "c3", "c4"]
    );
    match array("cells.h5ad", "obs/some").data() {
        Data::Mixed(objects) => assert_eq!(objects[..2], [Object::None, Object::Text("B".to_string())]),
        other => panic!("missing labels are objects, not {other:?}"),
    }
    // Files of anndata before 0.7 keep tables as records.
    assert_eq!(numbers("old.h5ad", "obsm/X_pca"), pca);
    assert_eq!(
        read_texts(&input("old.h5ad", "obs/louvain")).unwrap(),
        ["T", "B", "B", "NK"]
    );
    assert_eq!(numbers("old.h5ad", "obs/n_counts"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        read_ids(&input("old.h5ad", "obs/index")).unwrap(),
        ["c1", "c2", "c3", "c4"]
    );
}

#[test]
fn damaged_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(input("arrays.h5", "").path).unwrap();
    for keep in [0, 4, 8, 96, 800, whole.len() / 2, whole.len() - 1] {
        let path = folder.path().join("cut.h5");
        repscope_io::write_whole(&path, &whole[..keep]).unwrap();
        let arrays = list_arrays(&path).unwrap_or_default();
        for info in arrays {
            let _ = read_array(&InputPath {
                path: path.clone(),
                key: info.key,
            });
        }
    }
}
