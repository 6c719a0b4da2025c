// SPDX-License-Identifier: MIT
//! Zarr stores that zarr and anndata wrote (`tests/zarr/make.py`).

use std::path::{Path, PathBuf};

use repscope_io::{Data, InputPath, InputRecord, is_array_folder, list_arrays, read_array, read_ids, read_texts, tree};

use crate::fixtures::{numbers, put};

/// All stores in a folder of their own.
fn stores() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zarr/stores.zip");
    let mut packed = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    packed.extract(folder.path()).unwrap();
    folder
}

fn input(path: PathBuf, key: &str) -> InputPath {
    InputPath {
        path,
        key: Some(key.to_string()).filter(|key| !key.is_empty()),
    }
}

fn message(path: PathBuf, key: &str) -> String {
    match read_array(&input(path, key)) {
        Ok(array) => panic!("{key} should not be readable but is {array:?}"),
        Err(error) => error.to_string(),
    }
}

fn matrix() -> Vec<f64> {
    (0..60).map(|i| f64::from(i) / 8.0).collect()
}

#[test]
fn arrays_of_both_versions_are_what_was_written() {
    let folder = stores();
    for (store, keys) in [
        (
            "three.zarr",
            "usual deep/er/none gzip sum turned dots old_names shards big",
        ),
        (
            "two.zarr",
            "usual zstd zlib lz4 none shuffled turned nested/folders big",
        ),
    ] {
        let path = folder.path().join(store);
        for key in keys.split(' ') {
            let array = read_array(&input(path.clone(), key)).unwrap();
            assert_eq!(array.shape(), [12, 5], "{store}#{key}");
            assert_eq!(numbers(&array), matrix(), "{store}#{key}");
        }
        assert_eq!(
            read_texts(&input(path.clone(), "words")).unwrap()[..3],
            ["a", "bé", ""],
            "{store}"
        );
        assert_eq!(
            read_texts(&input(path.clone(), "short")).unwrap()[..2],
            ["cat", "hörse"],
            "{store}"
        );
    }
    let three = |key: &str| read_array(&input(folder.path().join("three.zarr"), key)).unwrap();
    assert!(matches!(three("long").data(), Data::I64(v) if v[3] == 3 - (1 << 40)));
    assert!(matches!(three("truth").data(), Data::Bool(v) if v[..4] == [true, false, false, true]));
    assert_eq!(numbers(&three("cube")), (0..24).map(f64::from).collect::<Vec<_>>());
    assert_eq!(numbers(&three("partly")), [[1.5; 8], [3.0; 8], [1.5; 8]].concat());
    assert!(numbers(&three("never")).iter().all(|x| x.is_nan()));
    let wide: Vec<f64> = (0..12000).map(f64::from).collect();
    for key in [
        "wide_lz4_shuffle",
        "wide_zstd_bitshuffle",
        "wide_zlib_noshuffle",
        "wide_lz4_bitshuffle",
    ] {
        assert_eq!(numbers(&three(key)), wide, "{key}");
    }
    assert_eq!(
        read_texts(&input(folder.path().join("two.zarr"), "bytes")).unwrap()[..2],
        ["cat", "horse"]
    );
    assert_eq!(
        read_array(&input(folder.path().join("two.zarr"), "small"))
            .unwrap()
            .dtype(),
        "u8"
    );
}

#[test]
fn a_store_may_be_one_array_and_an_array_in_a_store_may_be_named_by_its_folder() {
    let folder = stores();
    for path in ["one.zarr", "old_one.zarr", "three.zarr/deep/er/none", "two.zarr/usual"] {
        let path = folder.path().join(path);
        assert!(is_array_folder(&path));
        assert_eq!(numbers(&read_array(&input(path, "")).unwrap()), matrix());
    }
    let whole = InputPath::parse(&folder.path().join("three.zarr#deep/er/none").display().to_string());
    assert_eq!(whole.key.as_deref(), Some("deep/er/none"));
    assert_eq!(numbers(&read_array(&whole).unwrap()), matrix());
}

#[test]
fn arrays_are_listed_and_what_is_not_read_says_why() {
    let folder = stores();
    let (three, two) = (folder.path().join("three.zarr"), folder.path().join("two.zarr"));
    let infos = list_arrays(&three).unwrap();
    let keys: Vec<&str> = infos.iter().filter_map(|info| info.key.as_deref()).collect();
    assert!(
        keys.is_sorted() && keys.contains(&"deep/er/none") && keys.contains(&"shards"),
        "{keys:?}"
    );
    assert!(!keys.contains(&"single") && !keys.contains(&"times"), "{keys:?}");
    assert!(tree(&three).unwrap().contains("deep/er/none  f32 (12, 5)"));
    assert!(message(three.clone(), "").contains("pick one with #array"));
    assert!(message(three.clone(), "usal").contains("did you mean `usual`?"));
    assert!(message(three.clone(), "times").contains("values of type numpy.datetime64"));
    assert!(message(three.clone(), "single").contains("single value"));
    assert!(message(three, "blosclz").contains("BloscLZ"));
    let said = message(two, "bz2");
    assert!(said.contains("codec bz2") && said.contains("zstd"), "{said}");
}

#[test]
fn annotated_data_have_maps_categories_and_sparse_matrices() {
    let folder = stores();
    let cells = [0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 4.0];
    for store in ["cells2.zarr", "cells3.zarr"] {
        let at = |key: &str| input(folder.path().join(store), key);
        assert_eq!(
            numbers(&read_array(&at("obsm/X_pca")).unwrap()),
            [0.0, 4.0, 2.0, 0.0, 0.0, 0.0, 6.0, 0.0]
        );
        assert_eq!(numbers(&read_array(&at("X")).unwrap()), cells, "{store}");
        assert_eq!(numbers(&read_array(&at("layers/columns")).unwrap()), cells, "{store}");
        assert_eq!(
            read_texts(&at("obs/cell_type")).unwrap(),
            ["T", "B", "B", "NK"],
            "{store}"
        );
        assert_eq!(
            read_ids(&at("obs/_index")).unwrap(),
            ["c1", "c2", "c3", "c4"],
            "{store}"
        );
    }
}

#[test]
fn every_file_of_an_array_is_watched() {
    let folder = stores();
    let path = folder.path().join("three.zarr");
    let named = input(path.clone(), "usual");
    let record = InputRecord::of(&named, &read_array(&named).unwrap()).unwrap();
    record.files.verify().unwrap();
    let again = InputRecord::of(&named, &read_array(&named).unwrap()).unwrap();
    assert_eq!(record.digest, again.digest);
    put(&path.join("usual/c/1/1"), b"other bytes");
    assert!(record.files.verify().is_err());
}

/// A store of one array with this description.
fn described(node: &serde_json::Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("zarr.json"), node.to_string().as_bytes());
    folder
}

fn plain(shape: &[u64], chunk: &[u64]) -> serde_json::Value {
    serde_json::json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "float32", "fill_value": 0.0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    })
}

#[test]
fn sizes_that_nobody_has_are_refused_before_memory_is_taken() {
    let most = u64::MAX;
    for (shape, chunk, expected) in [
        (&[1 << 50, 64][..], &[10, 64][..], "takes at least"),
        (&[most, most], &[10, 64], "more than can be addressed"),
        (&[10, 64], &[most, most], "more than can be addressed"),
        (&[10, 64], &[10, 0], "is damaged"),
        (&[10, 64], &[10], "is damaged"),
    ] {
        let folder = described(&plain(shape, chunk));
        let said = message(folder.path().to_path_buf(), "");
        assert!(said.contains(expected), "{shape:?} {chunk:?}: {said}");
    }
    // A chunk that nobody has, of an array that is small.
    let folder = described(&plain(&[10, 64], &[1 << 50, 64]));
    put(&folder.path().join("c.0.0"), &[0; 100]);
    assert!(message(folder.path().to_path_buf(), "").contains("takes at least"));
    // Ten to the twelve chunks of which one is there: only that one is looked for.
    let folder = described(&plain(&[1_000_000, 1], &[1, 1]));
    put(&folder.path().join("c.7.0"), &2.5_f32.to_le_bytes());
    let values = numbers(&read_array(&InputPath::file(folder.path())).unwrap());
    assert_eq!((values.len(), values[7], values[8]), (1_000_000, 2.5, 0.0));
}

#[test]
fn names_of_chunks_do_not_lead_out_of_the_store() {
    let outer = tempfile::tempdir().unwrap();
    put(&outer.path().join("c.0"), &9.0_f32.to_le_bytes());
    let store = outer.path().join("store");
    std::fs::create_dir(&store).unwrap();
    for separator in ["/../", "..", "/../../c.", ""] {
        let mut node = plain(&[1], &[1]);
        node["chunk_key_encoding"]["configuration"]["separator"] = separator.into();
        put(&store.join("zarr.json"), node.to_string().as_bytes());
        let said = message(store.clone(), "");
        assert!(said.contains("names of its chunks"), "{separator}: {said}");
    }
    // Nor does a key: only folders of the store have names.
    put(&store.join("zarr.json"), br#"{"zarr_format": 3, "node_type": "group"}"#);
    assert!(message(store, "../c").contains("holds no array"));
}

#[test]
fn files_that_were_cut_off_or_changed_are_errors() {
    let folder = stores();
    for store in ["three.zarr", "two.zarr", "cells2.zarr", "cells3.zarr"] {
        let path = folder.path().join(store);
        let mut files = Vec::new();
        let mut folders = vec![path.clone()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(next).unwrap().flatten() {
                let is_folder = entry.file_type().unwrap().is_dir();
                if is_folder { &mut folders } else { &mut files }.push(entry.path());
            }
        }
        files.sort();
        for file in files {
            let whole = std::fs::read(&file).unwrap();
            let array = file
                .ancestors()
                .find(|folder| is_array_folder(folder))
                .unwrap()
                .to_path_buf();
            let step = (whole.len() / 4).max(1);
            for at in (0..whole.len()).step_by(step) {
                put(&file, &whole[..at]);
                let _ = read_array(&InputPath::file(&array));
                let mut changed = whole.clone();
                changed[at] = changed[at].wrapping_add(0x55);
                put(&file, &changed);
                let _ = read_array(&InputPath::file(&array));
            }
            let _ = list_arrays(&path);
            put(&file, &whole);
        }
    }
}
