// SPDX-License-Identifier: MIT
//! Files that are damaged, or made to do harm: an error that names the file, never a panic.

use std::path::Path;

use crate::fixtures::{folder, message, put, read};
use proptest::prelude::*;
use repscope_io::{InputPath, inspect, list_arrays, read_array, write_whole};

/// Reads a file in every way; the answers do not matter, only that there are some.
fn touch(path: &Path) {
    let keys = list_arrays(path).map(|infos| infos.into_iter().filter_map(|i| i.key).take(3).collect());
    let keys: Vec<String> = keys.unwrap_or_default();
    for key in keys.into_iter().map(Some).chain([None]) {
        let input = InputPath {
            path: path.to_path_buf(),
            key,
        };
        if let Err(error) = inspect(&input) {
            assert!(
                error.to_string().contains("damaged"),
                "the message does not name the file: {error}"
            );
        }
    }
}

fn npy(header: &str, data: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    write_whole(&path, &bytes).unwrap();
    read_array(&InputPath::file(path)).unwrap_err().to_string()
}

#[test]
fn a_file_cut_off_anywhere_is_an_error_or_a_shorter_table() {
    let scratch = tempfile::tempdir().unwrap();
    for name in [
        "little_f4.npy",
        "big_f8.npy",
        "fortran_3d.npy",
        "unicode_little.npy",
        "object_text.npy",
        "stored.npz",
        "deflated.npz",
        "many.safetensors",
        "columns.parquet",
        "pandas.parquet",
        "mixed.csv",
        "matrix.tsv",
    ] {
        let bytes = std::fs::read(folder().join(name)).unwrap();
        let path = scratch.path().join(format!("damaged_{name}"));
        for length in (0..bytes.len()).step_by(7) {
            put(&path, &bytes[..length]);
            touch(&path);
            let is_text = name.ends_with("sv");
            assert!(
                is_text || list_arrays(&path).is_err() || read_array(&InputPath::file(&path)).is_err(),
                "{name} cut to {length}"
            );
        }
    }
}

#[test]
fn a_cut_file_says_how_many_bytes_are_missing() {
    let scratch = tempfile::tempdir().unwrap();
    for (name, words) in [
        ("little_f4.npy", "needs 48 bytes after the header, but there are 47"),
        ("many.safetensors", "should have 948 bytes by its header but has 947"),
        ("stored.npz", "with its 895 bytes it may have been cut off"),
        ("pandas.parquet", "with its 1999 bytes it may have been cut off"),
    ] {
        let bytes = std::fs::read(folder().join(name)).unwrap();
        let path = scratch.path().join(name);
        write_whole(&path, &bytes[..bytes.len() - 1]).unwrap();
        let error = read_array(&InputPath::file(&path)).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(name), "{error}");
    }
}

#[test]
fn a_header_that_promises_too_much_is_refused_before_memory_is_taken() {
    let rows = 1_u64 << 60;
    let error = npy(
        &format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows},), }}"),
        &[0; 64],
    );
    assert!(
        error.contains("needs 4611686018427387904 bytes after the header, but there are 64"),
        "{error}"
    );
    let error = npy(
        &format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({rows}, {rows}), }}"),
        &[],
    );
    assert!(error.contains("more values than memory can hold"), "{error}");
    let error = npy(
        "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }",
        &[],
    );
    assert!(error.contains("length 0"), "{error}");
    let error = npy(
        "{'descr': '<U4611686018427387904', 'fortran_order': False, 'shape': (2,), }",
        &[],
    );
    assert!(
        error.contains("holds values of type `<U4611686018427387904`"),
        "{error}"
    );
    let error = npy(
        &format!("{{'descr': '<U2000000000', 'fortran_order': False, 'shape': ({rows},), }}"),
        &[],
    );
    assert!(error.contains("more bytes than can be counted"), "{error}");
}

#[test]
fn impossible_headers_are_refused() {
    assert!(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3), }", &[]).contains("negative size -1"));
    assert!(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1e3,), }", &[]).contains("damaged .npy header"));
    assert!(npy("{'descr': '<f4', 'shape': (3,), }", &[]).contains("without one of"));
    assert!(npy(&"(".repeat(60_000), &[]).contains("damaged .npy header"));
    let deep = format!("{{'descr': {}", "[".repeat(60_000));
    assert!(npy(&deep, &[]).contains("structured"));
    assert!(npy("", &[]).contains("damaged .npy header"));
}

#[test]
fn an_empty_file_and_a_wrong_extension_are_told() {
    let scratch = tempfile::tempdir().unwrap();
    let empty = scratch.path().join("empty.npy");
    write_whole(&empty, b"").unwrap();
    let error = read_array(&InputPath::file(&empty)).unwrap_err().to_string();
    assert!(error.contains("empty.npy is empty (0 bytes)"), "{error}");
    let renamed = scratch.path().join("archive.npy");
    write_whole(&renamed, &std::fs::read(folder().join("one.npz")).unwrap()).unwrap();
    let error = read_array(&InputPath::file(&renamed)).unwrap_err().to_string();
    assert!(
        error.contains("archive.npy does not start like an .npy file (found bytes 50 4b 03 04"),
        "{error}"
    );
    assert!(error.contains("looks like .npz"), "{error}");
    let error = read_array(&InputPath::file("nothing.npy")).unwrap_err().to_string();
    assert!(error.contains("cannot read nothing.npy"), "{error}");
    let error = message("generate.py");
    assert!(
        error.contains("unknown extension .py; supported are .npy, .npz"),
        "{error}"
    );
    assert!(
        read_array(&InputPath::file(scratch.path()))
            .unwrap_err()
            .to_string()
            .contains("is a folder")
    );
}

#[test]
fn a_member_that_unpacks_to_more_than_its_array_is_refused() {
    let error = message("bomb.npz");
    assert!(
        error.contains("the array needs 96 bytes but the archive says there are 20000096"),
        "{error}"
    );
}

#[test]
fn a_member_that_claims_an_impossible_ratio_is_refused() {
    // The member's header promises 8 TB, and the archive's directory agrees.
    let count = 1_u64 << 40;
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({count},), }}");
    let mut member = b"\x93NUMPY\x01\x00".to_vec();
    member.extend((header.len() as u16).to_le_bytes());
    member.extend(header.as_bytes());
    let size = member.len() as u64 + count * 8;
    let zip64 = |size: u64| {
        [
            &[1, 0, 16, 0][..],
            &size.to_le_bytes(),
            &(member.len() as u64).to_le_bytes(),
        ]
        .concat()
    };
    let fields = [&[0; 4][..], &[0xff; 8], &5_u16.to_le_bytes(), &20_u16.to_le_bytes()].concat();
    let version = [45, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let local = [b"PK\x03\x04", &version[..], &fields, b"z.npy", &zip64(size), &member].concat();
    let directory = [
        b"PK\x01\x02\x2d\x00",
        &version[..],
        &fields,
        &[0; 14],
        b"z.npy",
        &zip64(size),
    ]
    .concat();
    let end = [
        b"PK\x05\x06\x00\x00\x00\x00\x01\x00\x01\x00",
        &(directory.len() as u32).to_le_bytes()[..],
        &(local.len() as u32).to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("lie.npz");
    write_whole(&path, &[local, directory, end].concat()).unwrap();
    let error = read_array(&InputPath::file(&path)).unwrap_err().to_string();
    assert!(
        error.contains(&format!("claims {size} bytes out of {} compressed ones", member.len())),
        "{error}"
    );
}

#[test]
fn a_pickle_that_would_run_a_command_is_refused_and_not_run() {
    let error = message("object_hostile.npy");
    assert!(
        error.contains("posix.system") && error.contains("never executed"),
        "{error}"
    );
    assert!(!Path::new("repscope-was-here").exists());
}

#[test]
fn an_array_with_a_size_beside_a_zero_can_be_inspected() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("x.npy");
    let header = format!(
        "{{'descr': '<f4', 'fortran_order': True, 'shape': ({0}, 0, {0}), }}",
        1_u64 << 60
    );
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    write_whole(&path, &bytes).unwrap();
    let inspection = inspect(&InputPath::file(&path)).unwrap();
    assert!(inspection.numbers.is_none());
    assert!(read_array(&InputPath::file(&path)).unwrap().into_labels("y").is_err());
}

/// A few bytes of a real file replaced, and perhaps its end cut off.
fn mutations(name: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let bytes = std::fs::read(folder().join(name)).unwrap();
    let length = bytes.len();
    let changes = prop::collection::vec((0..length, any::<u8>()), 1..8);
    (changes, 0..length * 3).prop_map(move |(changes, end)| {
        let mut bytes = bytes.clone();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        bytes.truncate(end.max(1));
        bytes
    })
}

macro_rules! survives {
    ($($test:ident: $name:literal,)*) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]
            $(
                #[test]
                fn $test(bytes in mutations($name)) {
                    let scratch = tempfile::tempdir().unwrap();
                    let path = scratch.path().join(concat!("damaged_", $name));
                    put(&path, &bytes);
                    touch(&path);
                }
            )*
        }
    };
}

survives! {
    random_bytes_in_numbers_do_not_panic: "little_f4.npy",
    random_bytes_in_strings_do_not_panic: "unicode_little.npy",
    random_bytes_in_fortran_order_do_not_panic: "fortran_3d.npy",
    random_bytes_in_pickles_do_not_panic: "object_mixed.npy",
    random_bytes_in_old_pickles_do_not_panic: "object_protocol_0.npy",
    random_bytes_in_numpy_scalars_do_not_panic: "object_numpy_scalars.npy",
    random_bytes_in_stored_archives_do_not_panic: "stored.npz",
    random_bytes_in_deflated_archives_do_not_panic: "deflated.npz",
    random_bytes_in_tensors_do_not_panic: "many.safetensors",
    random_bytes_in_parquet_do_not_panic: "pandas.parquet",
    random_bytes_in_many_columns_do_not_panic: "columns.parquet",
    random_bytes_in_tables_do_not_panic: "mixed.csv",
}

#[test]
fn the_unharmed_files_are_readable() {
    assert!(read("object_mixed.npy").is_ok());
    assert!(read("pandas.parquet").is_ok());
}
