// SPDX-License-Identifier: MIT
//! Files of states with stop flags that PyTorch wrote (`tests/datasets/make.py`).

use std::path::Path;

use crate::fixtures::numbers;
use repscope_io::{Data, Dataset, InputPath, read_dataset};

fn try_read(name: &str) -> repscope_io::Result<Option<Dataset>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/datasets").join(name);
    read_dataset(&InputPath::parse(&path.display().to_string()))
}

fn read(name: &str) -> Dataset {
    try_read(name).unwrap().unwrap()
}

fn message(name: &str) -> String {
    try_read(name).unwrap_err().to_string()
}

/// 1000 c + 10 t + 2 h + w, by step, then channel.
fn states(channels: usize, steps: usize) -> Vec<f64> {
    let state = |t, c| (0..4).map(move |i| (1000 * c + 10 * t + i) as f64);
    (0..steps)
        .flat_map(|t| (0..channels).flat_map(move |c| state(t, c)))
        .collect()
}

fn stops(steps: usize) -> Vec<f64> {
    (0..steps)
        .map(|t| f64::from(u8::from(t % 3 == 2 || t + 1 == steps)))
        .collect()
}

fn assert_holds(name: &str, channels: usize, steps: usize, part: &str) {
    let dataset = read(name);
    assert_eq!(dataset.states.shape(), [steps, channels, 2, 2], "{name}");
    assert_eq!(numbers(&dataset.states), states(channels, steps), "{name}");
    assert!(matches!(dataset.stops.data(), Data::Bool(_)));
    assert_eq!(numbers(&dataset.stops), stops(steps), "{name}");
    assert_eq!(dataset.part, part, "{name}");
}

#[test]
fn states_of_channels_and_steps_come_step_by_step() {
    assert_holds("one_channel.pth", 1, 5, "val_dataset");
    assert_holds("three_channels.pth", 3, 5, "val_dataset");
}

#[test]
fn a_key_picks_a_part_and_the_only_part_needs_none() {
    assert_holds("three_channels.pth#train_dataset", 3, 7, "train_dataset");
    assert_holds("three_channels.pth#val_dataset", 3, 5, "val_dataset");
    assert_holds("train_only.pth", 1, 7, "train_dataset");
    assert_holds("two.pth#b", 1, 4, "b");
    let error = message("two.pth");
    assert!(error.contains("2 datasets") && error.contains("`a`, `b`"), "{error}");
}

#[test]
fn plain_dicts_views_and_numpy_arrays_are_datasets_too() {
    for name in ["bare.pth", "view.pth", "numpy.pth"] {
        assert_holds(name, 2, 4, "");
    }
    assert_holds("numbers.pth", 1, 4, "");
    assert_eq!(read("numbers.pth").states.dtype(), "u8");
}

#[test]
fn the_flags_end_episodes() {
    let stops = read("one_channel.pth").stops;
    assert_eq!(stops.into_episodes("stops").unwrap().codes(), [0, 0, 0, 1, 1]);
}

#[test]
fn what_is_no_such_dataset_is_none() {
    let others = [
        "one_channel.pth#metadata",
        "one_channel.pth#val_dataset.states",
        "vectors.pth",
        "make.py",
    ];
    for name in others
        .into_iter()
        .chain(["../torch/state_dict.pth", "../files/little_f4.npy"])
    {
        assert!(try_read(name).unwrap().is_none(), "{name}");
    }
}

#[test]
fn lengths_that_do_not_agree_are_named() {
    let error = message("unequal.pth");
    assert!(
        error.contains("(1, 5, 2, 2)") && error.contains("6 stop flags"),
        "{error}"
    );
    let error = message("ambiguous.pth");
    assert!(
        error.contains("(4, 4, 2, 2)") && error.contains("4 stop flags"),
        "{error}"
    );
    let error = message("bad_flags.pth");
    assert!(error.contains("holds 2 at row 3"), "{error}");
}

#[test]
fn a_damaged_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/datasets/three_channels.pth");
    let bytes = std::fs::read(path).unwrap();
    for length in (0..bytes.len()).step_by(7) {
        let cut = folder.path().join("cut.pth");
        crate::fixtures::put(&cut, &bytes[..length]);
        assert!(read_dataset(&InputPath::file(&cut)).is_err(), "{length}");
    }
}
