// SPDX-License-Identifier: MIT
//! The whole demonstration at its smallest: the same plan gives the same bytes, and what is written is what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use repscope_core::run::Silent;
use repscope_demo::{Made, Plan, Size, make};
use repscope_io::{Data, InputPath, read_array, read_texts};

struct Demo {
    folder: tempfile::TempDir,
    made: Made,
}

fn demo(seed: u64, threads: usize) -> Demo {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let size = Size::Tiny;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads");
    let made = pool
        .install(|| make(&Plan { size, seed }, folder.path(), &Silent))
        .expect("it can be written");
    Demo { folder, made }
}

/// Made once for all tests.
fn first() -> &'static Demo {
    static FIRST: OnceLock<Demo> = OnceLock::new();
    FIRST.get_or_init(|| demo(1, 2))
}

/// All files below a folder, by their paths within it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let within = path.strip_prefix(folder).expect("a path within").to_path_buf();
                found.insert(within, std::fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

fn shape(name: &str) -> Vec<usize> {
    let path = InputPath::file(first().folder.path().join(name));
    read_array(&path).expect(name).shape().to_vec()
}

#[test]
fn the_same_plan_gives_the_same_bytes_on_one_thread_and_another_seed_gives_others() {
    let expected = files(first().folder.path());
    let again = files(demo(1, 1).folder.path());
    assert!(expected.keys().eq(again.keys()));
    for (path, bytes) in &expected {
        assert!(*bytes == again[path], "{} differs", path.display());
    }
    let other = files(demo(2, 2).folder.path());
    for name in [
        "data/states.npy",
        "weights/jepa/best_encoder.safetensors",
        "retrieval/sensor.npy",
        "losses/jepa.csv",
    ] {
        assert!(
            expected[Path::new(name)] != other[Path::new(name)],
            "{name} is the same"
        );
    }
}

#[test]
fn validation_losses_fall() {
    for name in ["jepa", "encoder_decoder", "collapsed", "descriptions"] {
        let training = first()
            .made
            .trainings
            .iter()
            .find(|training| training.name == name)
            .expect(name);
        assert!(
            training.best_loss < training.first_loss && training.best_step > 0,
            "{training:?}"
        );
    }
}

#[test]
fn embeddings_of_the_collapsed_control_hardly_differ() {
    let deviation = |name: &str| {
        let learned = first()
            .made
            .encoders
            .iter()
            .find(|learned| learned.name == name)
            .expect(name);
        learned.deviation
    };
    for name in ["jepa", "encoder_decoder", "random"] {
        assert!(
            deviation("collapsed") < 0.1 * deviation(name),
            "{name}: {:?}",
            first().made.encoders
        );
    }
}

#[test]
fn every_file_that_the_study_names_is_there() {
    let study = std::fs::read_to_string(first().folder.path().join("study.toml")).expect("a study");
    let paths: Vec<&str> = study
        .split('"')
        .filter(|text| text.contains('/') && !text.contains('\n'))
        .collect();
    assert_eq!(paths.len(), 22, "{paths:?}");
    for path in paths {
        assert!(first().folder.path().join(path).is_file(), "{path}");
    }
}

#[test]
fn rows_belong_together() {
    let count = first().made.states;
    assert_eq!((count, first().made.episodes), (96, 16));
    assert_eq!(shape("data/states.npy"), [count, 1, 64, 64]);
    for name in [
        "episodes",
        "labels/shape",
        "labels/quadrant",
        "labels/shape_and_quadrant",
        "factors/x",
        "factors/speed",
    ] {
        assert_eq!(shape(&format!("data/{name}.npy")), [count], "{name}");
    }
    for name in [
        "retrieval/sensor",
        "retrieval/text",
        "etes/signal",
        "etes/captioner",
        "etes/constant",
        "etes/reference",
    ] {
        assert_eq!(shape(&format!("{name}.npy")), [count, 32], "{name}");
    }
    assert_eq!(
        (
            shape("retrieval/prototypes.npy"),
            shape("retrieval/prototype_labels.npy")
        ),
        (vec![16, 32], vec![16])
    );
    for name in ["captioner", "constant", "reference"] {
        let path = InputPath::file(first().folder.path().join(format!("etes/{name}.txt")));
        assert_eq!(read_texts(&path).expect(name).len(), count);
    }
    for part in ["labels", "baseline", "top1", "bottom3", "random5"] {
        for head in ["shape", "quadrant"] {
            assert_eq!(
                shape(&format!("predictions/{part}/{head}.npy")),
                [count],
                "{part}/{head}"
            );
        }
    }
}

#[test]
fn masks_take_the_percentage_that_their_folder_says() {
    let path = InputPath::file(first().folder.path().join("predictions/top5/masked.npy"));
    let array = read_array(&path).expect("shares");
    let Data::F32(shares) = array.data() else {
        panic!("{}", array.dtype())
    };
    // All pixels are lit; 5 % of 4096 are 204.8, rounded up.
    assert!((**shares).as_ref().iter().all(|share| *share == 205.0 / 4096.0));
}
