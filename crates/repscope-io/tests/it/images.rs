// SPDX-License-Identifier: MIT
//! Folders of images that Pillow wrote (`tests/images/make.py`), with the values that Pillow reads from them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::fixtures::numbers;
use repscope_io::{BadImages, Data, Images, InputPath, read_array};
use tempfile::TempDir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/images").join(name)
}

/// What Pillow reads from a file.
fn pillow(name: &str) -> Vec<f64> {
    let input = InputPath {
        path: fixture("expected.npz"),
        key: Some(name.to_string()),
    };
    numbers(&read_array(&input).unwrap())
}

/// A folder with copies of fixtures under new names.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, from) in files {
        put(&folder, name, &fs::read(fixture(from)).unwrap());
    }
    folder
}

fn put(folder: &TempDir, name: &str, bytes: &[u8]) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    crate::fixtures::put(&path, bytes);
}

fn open(folder: &TempDir) -> Images {
    Images::open(folder.path(), BadImages::Refuse).unwrap()
}

fn message(folder: &TempDir) -> String {
    Images::open(folder.path(), BadImages::Refuse).unwrap_err().to_string()
}

fn read(images: &Images, rows: std::ops::Range<usize>) -> Vec<f64> {
    let mut values = Vec::new();
    images.read(rows, &mut values).unwrap();
    values.into_iter().map(f64::from).collect()
}

#[test]
fn every_kind_of_png_has_the_values_of_pillow() {
    for (name, shape, dtype) in [
        ("gray.png", &[20, 24][..], "u8"),
        ("one_bit.png", &[20, 24], "u8"),
        ("gray_opaque.png", &[20, 24], "u8"),
        ("gray_16.png", &[20, 24], "u16"),
        ("color.png", &[20, 24, 3], "u8"),
        ("color_16.png", &[20, 24, 3], "u16"),
        ("opaque_16.png", &[20, 24, 3], "u16"),
        ("palette.png", &[20, 24, 3], "u8"),
        ("opaque.png", &[20, 24, 3], "u8"),
    ] {
        let images = open(&folder(&[(name, name)]));
        assert_eq!(
            (images.shape(), images.dtype(), images.count()),
            (shape, dtype, 1),
            "{name}"
        );
    }
    let all = folder(&[("gray.png", "gray.png"), ("one_bit.png", "one_bit.png")]);
    let images = open(&all);
    assert_eq!(
        read(&images, 0..2),
        [pillow("gray.png"), pillow("one_bit.png")].concat()
    );
    for name in [
        "gray_opaque.png",
        "gray_16.png",
        "color_16.png",
        "opaque_16.png",
        "color.png",
        "palette.png",
        "opaque.png",
    ] {
        let one = folder(&[(name, name)]);
        assert_eq!(read(&open(&one), 0..1), pillow(name), "{name}");
    }
}

#[test]
fn jpegs_have_the_values_of_pillow_but_for_rounding() {
    for name in [
        "color.jpg",
        "color_444.jpg",
        "progressive.jpg",
        "gray.jpg",
        "turned.jpg",
    ] {
        let one = folder(&[(name, name)]);
        let (found, expected) = (read(&open(&one), 0..1), pillow(name));
        assert_eq!(found.len(), expected.len(), "{name}");
        let off = found
            .iter()
            .zip(&expected)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        // The standard leaves the last digits of the transform to the decoder.
        assert!(off <= 2.0, "{name}: off by {off} levels");
    }
}

#[test]
fn rows_are_sorted_by_the_bytes_of_each_part_of_their_paths() {
    let files = [
        "a.png",
        "a-b/x.png",
        "a/x.png",
        "a/X.PNG",
        "B.JPeG",
        "img10.png",
        "img9.png",
    ];
    let all: Vec<(&str, &str)> = files
        .iter()
        .map(|&f| (f, if f.starts_with('B') { "gray.jpg" } else { "gray.png" }))
        .collect();
    let folder = folder(&all);
    // "-" and "." come before "/", but `a` comes before `a-b` and `a.png`.
    let expected = [
        "B.JPeG",
        "a/X.PNG",
        "a/x.png",
        "a-b/x.png",
        "a.png",
        "img10.png",
        "img9.png",
    ];
    assert_eq!(open(&folder).names(), expected);
}

#[test]
fn hidden_files_are_passed_over_and_others_are_counted() {
    let folder = folder(&[
        ("x.png", "gray.png"),
        (".y.png", "gray.png"),
        (".git/z.png", "gray.png"),
    ]);
    put(&folder, "labels.csv", b"label\ncat\n");
    put(&folder, "more/readme", b"");
    let images = open(&folder);
    assert_eq!(images.names(), ["x.png"]);
    assert_eq!(images.notes().len(), 1);
    let note = &images.notes()[0];
    assert!(
        note.starts_with("2 other files") && note.contains("`labels.csv`"),
        "{note}"
    );
}

#[test]
fn the_first_folder_is_the_label() {
    let folder = folder(&[
        ("dog/2.png", "gray.png"),
        ("cat/old/1.png", "gray.png"),
        ("dog/1.png", "gray.png"),
    ]);
    assert_eq!(open(&folder).labels().unwrap(), ["cat", "dog", "dog"]);
    put(&folder, "3.png", &fs::read(fixture("gray.png")).unwrap());
    assert_eq!(open(&folder).labels(), None);
}

#[test]
fn gray_among_colors_is_widened_and_said() {
    let images = open(&folder(&[("1.png", "gray.png"), ("2.png", "color.png")]));
    assert_eq!(images.shape(), [20, 24, 3]);
    assert!(
        images.notes()[0].starts_with("1 of 2 images are gray"),
        "{:?}",
        images.notes()
    );
    let kept = folder(&[("1.png", "gray.png"), ("2.png", "color.png")]);
    let widened: Vec<f64> = pillow("gray.png").iter().flat_map(|&x| [x; 3]).collect();
    assert_eq!(read(&open(&kept), 0..2), [widened, pillow("color.png")].concat());
}

#[test]
fn alpha_is_dropped_where_it_hides_nothing_and_refused_elsewhere() {
    let images = open(&folder(&[("1.png", "opaque.png"), ("2.png", "color.png")]));
    assert!(
        images.notes()[0].starts_with("1 of 2 images have an alpha channel"),
        "{:?}",
        images.notes()
    );
    let folder = folder(&[("1.png", "opaque.png"), ("glass.png", "glass.png")]);
    for bad in [BadImages::Refuse, BadImages::LeaveOut] {
        let error = Images::open(folder.path(), bad).unwrap_err().to_string();
        assert!(
            error.contains("`glass.png`, in which pixels are transparent") && error.contains("without alpha"),
            "{error}"
        );
    }
}

#[test]
fn different_sizes_and_depths_are_named_with_both_images() {
    let error = message(&folder(&[
        ("1.png", "gray.png"),
        ("2.png", "other_size.png"),
        ("3.png", "gray.png"),
        ("4.png", "other_size.png"),
    ]));
    assert!(
        error.contains("`1.png` has 24 × 20 pixels but `2.png` has 23 × 20") && error.contains("2 of 4 differ"),
        "{error}"
    );
    let error = message(&folder(&[("1.png", "gray.png"), ("2.png", "gray_16.png")]));
    assert!(
        error.contains("`1.png` has 8 bits per value but `2.png` has 16"),
        "{error}"
    );
}

#[test]
fn what_is_read_in_batches_is_what_is_read_at_once() {
    let names = ["gray.png", "one_bit.png", "gray_opaque.png", "gray.jpg", "gray.png"];
    let files: Vec<(String, &str)> = names
        .iter()
        .enumerate()
        .map(|(i, &n)| (format!("{i}.png"), n))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, from)| (name.as_str(), *from)).collect();
    let folder = folder(&files);
    let images = open(&folder);
    let all = images.read_all().unwrap();
    assert_eq!((all.shape(), all.dtype()), (&[5, 20, 24][..], "u8"));
    assert!(matches!(all.data(), Data::U8(_)));
    let batches = [read(&images, 0..2), read(&images, 2..4), read(&images, 4..5)].concat();
    assert_eq!(numbers(&all), batches);
    assert!(images.read(4..6, &mut Vec::new()).is_err());
    assert!(images.read(0..usize::MAX, &mut Vec::new()).is_err());
    let deep = self::folder(&[("1.png", "gray_16.png")]);
    let deep = open(&deep).read_all().unwrap();
    assert_eq!(deep.dtype(), "u16");
    assert_eq!(numbers(&deep), pillow("gray_16.png"));
}

#[test]
fn the_digest_is_that_of_names_and_bytes() {
    let digest = |files: &[(&str, &str)]| open(&folder(files)).digest().unwrap();
    let one = digest(&[("a.png", "gray.png"), ("b.png", "one_bit.png")]);
    assert_eq!(one, digest(&[("b.png", "one_bit.png"), ("a.png", "gray.png")]));
    for files in [
        [("b.png", "gray.png"), ("a.png", "one_bit.png")],
        [("a.png", "gray.png"), ("c.png", "one_bit.png")],
        [("a.png", "gray.png"), ("b.png", "gray.png")],
    ] {
        assert_ne!(digest(&files), one, "{files:?}");
    }
}

#[test]
fn a_path_that_is_no_folder_of_images_is_refused() {
    let empty = tempfile::tempdir().unwrap();
    assert!(
        message(&empty).contains("holds no image: of its 0 files"),
        "{}",
        message(&empty)
    );
    put(&empty, "x.gif", b"GIF89a");
    assert!(message(&empty).contains("of its 1 files none is .png, .jpg, .jpeg"));
    let error = Images::open(&fixture("gray.png"), BadImages::Refuse)
        .unwrap_err()
        .to_string();
    assert!(error.contains("gray.png is not a folder"), "{error}");
    let error = Images::open(&fixture("no such"), BadImages::Refuse)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot read") && error.contains("no such"), "{error}");
}

#[test]
fn an_image_that_does_not_decode_is_named_or_left_out() {
    let gray = fs::read(fixture("gray.png")).unwrap();
    let jpeg = fs::read(fixture("turned.jpg")).unwrap();
    let bad: Vec<(&str, Vec<u8>, &str)> = vec![
        ("b_text.png", b"this is no image".to_vec(), "74 68 69 73"),
        ("c_empty.png", Vec::new(), "is empty"),
        (
            "d_bomb.png",
            fs::read(fixture("bomb.png")).unwrap(),
            "claims 30000 × 30000 pixels, 900000000 bytes",
        ),
        (
            "e_lie.png",
            fs::read(fixture("lie.png")).unwrap(),
            "20000 × 20000 pixels in a file of 90 bytes",
        ),
        (
            "f_cmyk.jpg",
            fs::read(fixture("cmyk.jpg")).unwrap(),
            "4 color components",
        ),
        ("g_header.jpg", jpeg[..30].to_vec(), "ends too early"),
        ("h_header.png", gray[..20].to_vec(), "cannot be decoded"),
    ];
    for (name, bytes, words) in &bad {
        let folder = folder(&[("a.png", "gray.png"), ("z.png", "gray.png")]);
        put(&folder, name, bytes);
        let error = message(&folder);
        assert!(error.contains(name) && error.contains(words), "{error}");
        let images = Images::open(folder.path(), BadImages::LeaveOut).unwrap();
        assert_eq!(images.names(), ["a.png", "z.png"], "{name}");
        let note = format!("1 of 3 images cannot be read and are left out: `{name}`");
        assert_eq!(images.notes(), [note]);
    }
    // Headers are whole here: such an image is found when it is read, or when bad images are left out.
    for (name, bytes) in [
        ("cut.png", &gray[..gray.len() - 30]),
        ("cut.jpg", &jpeg[..jpeg.len() - 20]),
    ] {
        let folder = folder(&[("a.png", if name == "cut.png" { "gray.png" } else { "color.png" })]);
        put(&folder, name, bytes);
        let error = open(&folder).read(0..2, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        let images = Images::open(folder.path(), BadImages::LeaveOut).unwrap();
        assert_eq!(images.names(), ["a.png"]);
    }
}

#[test]
fn a_folder_without_any_good_image_is_an_error() {
    let folder = folder(&[("a.png", "bomb.png"), ("b.png", "lie.png")]);
    let error = Images::open(folder.path(), BadImages::LeaveOut)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("2 images, none of which can be read, such as `a.png`"),
        "{error}"
    );
}

#[test]
fn an_image_cut_or_changed_anywhere_is_an_error_or_an_image() {
    for name in ["gray.png", "palette.png", "progressive.jpg", "turned.jpg"] {
        let bytes = fs::read(fixture(name)).unwrap();
        let extension = name.split('.').next_back().unwrap();
        let folder = folder(&[("a.png", name)]);
        let path = format!("b.{extension}");
        // A PNG ends with a checksum and a chunk that says only that it ends; all before it is needed.
        let needed = if extension == "png" {
            bytes.len() - 16
        } else {
            bytes.len()
        };
        for at in 0..needed {
            put(&folder, &path, &bytes[..at]);
            let cut = Images::open(folder.path(), BadImages::LeaveOut).unwrap();
            assert_eq!(cut.names(), ["a.png"], "{name} cut to {at} of {} bytes", bytes.len());
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            put(&folder, &path, &changed);
            match Images::open(folder.path(), BadImages::LeaveOut) {
                Ok(images) => assert!(images.read_all().is_ok(), "{name} {at}"),
                Err(error) => assert!(error.to_string().contains("differ") || error.to_string().contains("pixels")),
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_but_never_in_a_circle() {
    use std::os::unix::fs::symlink;
    let folder = folder(&[("cat/1.png", "gray.png")]);
    let elsewhere = self::folder(&[("2.png", "gray.png")]);
    symlink(elsewhere.path(), folder.path().join("dog")).unwrap();
    symlink(folder.path(), folder.path().join("cat/up")).unwrap();
    symlink(fixture("gray.png"), folder.path().join("cat/3.png")).unwrap();
    symlink("self", folder.path().join("self")).unwrap();
    let images = open(&folder);
    assert_eq!(images.names(), ["cat/1.png", "cat/3.png", "dog/2.png"]);
    assert!(
        images
            .notes()
            .iter()
            .any(|note| note.contains("1 links") && note.contains("`cat/up`")),
        "{:?}",
        images.notes()
    );
    symlink("nowhere.png", folder.path().join("lost.png")).unwrap();
    assert!(message(&folder).contains("lost.png"));
}
