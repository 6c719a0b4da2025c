// SPDX-License-Identifier: MIT
//! Checkpoints that are damaged, or made to do harm: an error that names the file, never a panic, and
//! nothing is ever run.

use std::path::{Path, PathBuf};

use crate::fixtures::{put, torch};
use proptest::prelude::*;
use repscope_io::{InputPath, Weights, inspect, list_arrays, read_array, tree};

/// What the payloads of the evil files would create.
const TRACE: &str = "repscope-torch-was-here";

/// Reads a file in every way; the answers do not matter, only that there are some.
fn touch(path: &Path) {
    let mut answers = vec![tree(path).err(), Weights::open(path, None).err()];
    let keys = list_arrays(path).map(|infos| infos.into_iter().map(|i| i.key).collect());
    let keys: Vec<Option<String>> = keys.unwrap_or_default();
    for key in keys.into_iter().chain([None]) {
        let path = path.to_path_buf();
        answers.push(inspect(&InputPath { path, key }).err());
    }
    for error in answers.into_iter().flatten() {
        assert!(
            error.to_string().contains("damaged_"),
            "the message does not name the file: {error}"
        );
    }
}

fn write(bytes: &[u8], name: &str) -> (tempfile::TempDir, PathBuf) {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join(format!("damaged_{name}"));
    put(&path, bytes);
    (scratch, path)
}

fn read(bytes: &[u8], key: Option<&str>) -> Result<repscope_io::Array, String> {
    let (_scratch, path) = write(bytes, "x.bin");
    let key = key.map(str::to_string);
    read_array(&InputPath { path, key }).map_err(|error| error.to_string())
}

/// A pickle of one tensor `w` over a block of four numbers: `size` and `strides` are opcodes.
fn tensor(count: &[u8], offset: &[u8], size: &[u8], strides: &[u8]) -> Vec<u8> {
    [
        b"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\n",
        &b"X\x01\x00\x00\x000X\x03\x00\x00\x00cpu"[..],
        count,
        b"tQ",
        offset,
        size,
        strides,
        b"\x89NtRs.",
    ]
    .concat()
}

/// An old file around a pickle, with the block `0` of four numbers.
fn old_file(pickle: &[u8]) -> Vec<u8> {
    [
        &b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."[..],
        b"\x80\x02M\xe9\x03.",
        b"\x80\x02}.",
        pickle,
        b"\x80\x02]X\x01\x00\x00\x000a.",
        &4_u64.to_le_bytes(),
        &[1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat(),
    ]
    .concat()
}

#[test]
fn a_pickle_that_would_run_a_command_is_refused_by_name_and_nothing_runs() {
    for (name, function) in [
        ("evil_zip.pth", "posix.system"),
        ("evil_old.pth", "posix.system"),
        ("evil_bare.pth", "posix.system"),
        ("evil_eval.bin", "__builtin__.eval"),
    ] {
        let path = torch(name);
        for error in [
            list_arrays(&path).unwrap_err(),
            read_array(&InputPath::file(&path)).unwrap_err(),
            Weights::open(&path, None).unwrap_err(),
            tree(&path).unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(
                error.contains(name)
                    && error.contains(&format!("makes Python call `{function}`"))
                    && error.contains("nothing was run"),
                "{error}"
            );
        }
    }
    assert!(!Path::new(TRACE).exists());
}

#[test]
fn the_tensor_made_by_hand_is_readable_unharmed() {
    let bytes = old_file(&tensor(b"K\x04", b"K\x01", b"K\x03\x85", b"K\x01\x85"));
    let array = read(&bytes, Some("w")).unwrap();
    let repscope_io::Data::F32(values) = array.data() else {
        panic!("f32 stays f32")
    };
    assert_eq!((**values).as_ref(), [2.0, 3.0, 4.0]);
}

#[test]
fn sizes_beyond_the_block_are_refused_with_both_numbers() {
    let huge = b"\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x40";
    let cases: [([&[u8]; 4], &str); 8] = [
        (
            [b"K\x04", b"K\x02", b"K\x03\x85", b"K\x01\x85"],
            "needs 5 numbers in its storage, but there are 4",
        ),
        (
            [b"K\x04", b"K\x00", b"K\x02\x85", b"K\x07\x85"],
            "needs 8 numbers in its storage, but there are 4",
        ),
        (
            [b"K\x05", b"K\x00", b"K\x01\x85", b"K\x01\x85"],
            "should have 20 bytes but has 16",
        ),
        (
            [b"K\x04", b"K\x00", b"J\xfd\xff\xff\xff\x85", b"K\x01\x85"],
            "the negative size -3",
        ),
        (
            [b"K\x04", b"J\xff\xff\xff\xff", b"K\x01\x85", b"K\x01\x85"],
            "the negative offset -1",
        ),
        (
            [b"K\x04", b"K\x00", b"K\x02\x85", b"J\xff\xff\xff\xff\x85"],
            "the negative size -1",
        ),
        ([b"K\x04", b"K\x00", b"K\x02\x85", b")"], "has 1 sizes but 0 strides"),
        ([b"K\x04", b"K\x00", b"N", b"N"], "has no shape"),
    ];
    for ([count, offset, size, strides], words) in cases {
        let error = read(&old_file(&tensor(count, offset, size, strides)), Some("w")).unwrap_err();
        assert!(error.contains(words) && error.contains("`w`"), "{words}: {error}");
    }
    // 2⁶² numbers: by repeating one, by a shape that cannot be counted, by a stride.
    let one = [&huge[..], b"\x85"].concat();
    let two = [&huge[..], &huge[..], b"\x86"].concat();
    let error = read(&old_file(&tensor(b"K\x04", b"K\x00", &one, b"K\x00\x85")), Some("w")).unwrap_err();
    assert!(error.contains("repeats 4 numbers to 4611686018427387904"), "{error}");
    let error = read(
        &old_file(&tensor(b"K\x04", b"K\x00", &two, b"K\x00K\x00\x86")),
        Some("w"),
    )
    .unwrap_err();
    assert!(error.contains("more than memory can hold"), "{error}");
    let error = read(&old_file(&tensor(b"K\x04", b"K\x00", b"K\x09\x85", &one)), Some("w")).unwrap_err();
    assert!(error.contains("more than can be counted"), "{error}");
}

#[test]
fn an_old_file_that_is_cut_off_says_what_is_missing() {
    let bytes = old_file(&tensor(b"K\x04", b"K\x00", b"K\x04\x85", b"K\x01\x85"));
    let error = read(&bytes[..bytes.len() - 1], None).unwrap_err();
    assert!(
        error.contains("should have 4 numbers of 4 bytes in its storage `0` but has 15 bytes left"),
        "{error}"
    );
}

#[test]
fn blocks_that_are_short_missing_or_packed_are_told() {
    let error = |name: &str, key: Option<&str>| {
        let key = key.map(str::to_string);
        read_array(&InputPath { path: torch(name), key })
            .unwrap_err()
            .to_string()
    };
    let short = error("bad_blocks.pth", Some("w"));
    assert!(short.contains("should have 12 bytes but has 5"), "{short}");
    let missing = error("bad_blocks.pth", Some("n"));
    assert!(
        missing.contains("the storage `1`, which the file does not have"),
        "{missing}"
    );
    let packed = error("packed.pth", None);
    assert!(packed.contains("PyTorch packs nothing"), "{packed}");
}

#[test]
fn structures_that_repeat_or_contain_themselves_end() {
    // A pair of a pair of a pair …, 60 deep: 2⁶⁰ ways to the bottom, which is a tensor or nothing.
    let tensor_file = tensor(b"K\x04", b"K\x00", b"K\x04\x85", b"K\x01\x85");
    let bottoms: [(&[u8], &str); 2] = [
        (
            tensor_file.split_last().unwrap().1,
            "tensors whose names need more than",
        ),
        (b"\x80\x02}", "repeats its parts so often"),
    ];
    for (bottom, words) in bottoms {
        let mut laughs = bottom.to_vec();
        for level in 0..60_u8 {
            laughs.extend([b'q', level, b'h', level, b'\x86']);
        }
        laughs.push(b'.');
        let error = read(&laughs, Some("w")).unwrap_err();
        assert!(error.contains(words), "{error}");
    }

    // A dict that contains itself twice beside the tensor, and an object that is its own state.
    let mut cycle = tensor(b"K\x04", b"K\x00", b"K\x04\x85", b"K\x01\x85");
    cycle.pop();
    cycle.extend(b"q\x00X\x01\x00\x00\x00ah\x00sX\x01\x00\x00\x00bh\x00s");
    cycle.extend(b"X\x01\x00\x00\x00ccsome\nClass\n)\x81q\x01h\x01bs.");
    let bytes = old_file(&cycle);
    assert!(read(&bytes, Some("w")).is_ok());
    let (_scratch, path) = write(&bytes, "cycle.pth");
    assert_eq!(list_arrays(&path).unwrap().len(), 1);
    assert!(tree(&path).unwrap().contains("w  f32 (4,)"));

    // 100,000 lists inside each other.
    let deep = [
        b"\x80\x02".to_vec(),
        b"]".repeat(100_000),
        b"a".repeat(99_999),
        b".".to_vec(),
    ]
    .concat();
    let error = read(&deep, None).unwrap_err();
    assert!(error.contains("holds no tensor"), "{error}");
}

#[test]
fn lengths_are_compared_with_the_file_before_memory_is_taken() {
    for bytes in [
        &b"\x80\x02\x8e\xff\xff\xff\xff\xff\xff\xff\x7f."[..],
        b"\x80\x02X\xff\xff\xff\xff.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",
        b"\x80\x02r\xff\xff\xff\xff.",
        b"\x80\x02X\x02\x00\x00\x00\xff\xfe.",
    ] {
        let error = read(bytes, None).unwrap_err();
        assert!(error.contains("damaged pickle"), "{error}");
    }
}

#[test]
fn a_key_that_comes_twice_gets_a_number() {
    // {'a': {'b': tensor}, 'a.b': tensor}, both being the same one.
    let mut bytes = tensor(b"K\x04", b"K\x00", b"K\x04\x85", b"K\x01\x85");
    bytes.truncate(bytes.len() - 2);
    let inner = bytes.split_off(9);
    let twice = [
        &b"\x80\x02}X\x01\x00\x00\x00a}X\x01\x00\x00\x00b"[..],
        &inner,
        b"q\x00ssX\x03\x00\x00\x00a.bh\x00s.",
    ]
    .concat();
    let (_scratch, path) = write(&old_file(&twice), "twice.pth");
    let keys: Vec<String> = list_arrays(&path).unwrap().into_iter().filter_map(|i| i.key).collect();
    assert_eq!(keys, ["a.b", "a.b~2"]);
}

#[test]
fn a_file_cut_off_anywhere_is_an_error() {
    for name in ["state_dict.pth", "old_kinds.pt", "model.pt", "pickle_5.bin"] {
        let bytes = std::fs::read(torch(name)).unwrap();
        for length in (0..bytes.len()).step_by(41) {
            let (_scratch, path) = write(&bytes[..length], name);
            touch(&path);
            assert!(list_arrays(&path).is_err(), "{name} cut to {length}");
        }
    }
}

/// A few bytes of a real file replaced, and perhaps its end cut off.
fn mutations(name: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let bytes = std::fs::read(torch(name)).unwrap();
    let length = bytes.len();
    let changes = prop::collection::vec((0..length, any::<u8>()), 1..8);
    (changes, 0..length * 4).prop_map(move |(changes, end)| {
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
                    let (_scratch, path) = write(&bytes, $name);
                    touch(&path);
                }
            )*
        }
    };
}

survives! {
    random_bytes_in_state_dicts_do_not_panic: "state_dict.pth",
    random_bytes_in_old_files_do_not_panic: "old_kinds.pt",
    random_bytes_in_every_kind_of_tensor_do_not_panic: "kinds.pt",
    random_bytes_in_checkpoints_do_not_panic: "checkpoint.pth",
    random_bytes_in_objects_do_not_panic: "dataset.pth",
    random_bytes_in_models_do_not_panic: "model.pt",
    random_bytes_in_plain_pickles_do_not_panic: "pickle_4.bin",
    random_bytes_in_numpy_buffers_do_not_panic: "pickle_5.bin",
}
