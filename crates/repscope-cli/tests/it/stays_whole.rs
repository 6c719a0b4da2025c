// SPDX-License-Identifier: MIT
//! Nothing is lost or silently wrong: inputs that change, stored files that are damaged, folders that others use, signals.
#![allow(
    clippy::disallowed_methods,
    reason = "files are damaged in place here, as other programs would"
)]

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Once;
use std::time::Duration;

use crate::fixtures::{Folder, command, model, noise, npy_f64, repository};
use repscope::{Listener, Request, Session};
use repscope_core::run::Progress;
use repscope_io::{Claim, write_gray_png};

/// Does something to a file as soon as anything is computed.
struct Meddler<'a> {
    once: Once,
    meddle: &'a (dyn Fn() + Sync),
}

impl Progress for Meddler<'_> {
    fn begin(&self, _stage: &str, _steps: u64) {
        self.once.call_once(self.meddle);
    }

    fn advance(&self, _steps: u64) {}
}

impl Listener for Meddler<'_> {}

/// The error of a run during which something is done to its inputs.
fn error_of(command: &str, options: serde_json::Value, meddle: &(dyn Fn() + Sync)) -> String {
    let serde_json::Value::Object(options) = options else {
        panic!("options are a table");
    };
    let request = Request::read(command, options, &[]).expect("a request");
    let meddler = Meddler {
        once: Once::new(),
        meddle,
    };
    match request.run(&Session::new(&meddler)) {
        Ok(_) => panic!("{command} went on as if nothing had happened"),
        Err(error) => error.to_string(),
    }
}

fn array(folder: &Folder, name: &str, seed: u64) -> PathBuf {
    folder.write(name, &npy_f64(&[3000, 4], &noise(seed, 12_000)));
    folder.path().join(name)
}

#[test]
fn an_input_that_is_rewritten_during_a_run_is_an_error() {
    let folder = Folder::new();
    let path = array(&folder, "z.npy", 1);
    let (same, other) = (
        std::fs::read(&path).expect("an array"),
        npy_f64(&[3000, 4], &noise(2, 12_000)),
    );
    let options = serde_json::json!({"models": [format!("z={}", path.display())]});
    for name in ["manifold", "evaluate", "compare"] {
        let mut options = options.clone();
        if name == "compare" {
            let (z, w) = (path.display(), array(&folder, "w.npy", 3));
            options =
                serde_json::json!({"models": [format!("z={z}"), format!("w={}", w.display())], "only": ["rankme"]});
        }
        std::fs::write(&path, &same).expect("the file can be written");
        let in_place = || std::fs::write(&path, &other).expect("the file can be written");
        let error = error_of(name, options, &in_place);
        assert!(error.contains("z.npy has changed during the run"), "{name}: {error}");
    }
    std::fs::write(&path, &same).expect("the file can be written");
    let by_name = || repscope_io::write_whole(&path, &other).expect("the file can be written");
    let error = error_of("manifold", options, &by_name);
    assert!(error.contains("z.npy has changed during the run"), "{error}");
}

#[test]
fn an_input_that_is_cut_off_during_a_run_is_an_error() {
    let folder = Folder::new();
    let path = array(&folder, "z.npy", 1);
    let cut = || {
        let file = OpenOptions::new().write(true).open(&path).expect("the file is there");
        file.set_len(0).expect("the file can be cut");
    };
    let options = serde_json::json!({"models": [format!("z={}", path.display())]});
    let error = error_of("manifold", options, &cut);
    assert!(
        error.contains("z.npy has changed during the run") && error.contains("now has 0"),
        "{error}"
    );
}

#[test]
fn embeddings_of_an_input_that_changes_are_not_given() {
    let folder = Folder::new();
    folder.write("x.npy", &npy_f64(&[9, 12], &noise(5, 9 * 12)));
    let path = folder.path().join("x.npy");
    let options =
        serde_json::json!({"encoder": model("mlp.onnx"), "input": path.display().to_string(), "no_cache": true});
    let other = npy_f64(&[9, 12], &noise(6, 9 * 12));
    let error = error_of("encode", options, &|| {
        std::fs::write(&path, &other).expect("the file can be written")
    });
    assert!(error.contains("x.npy has changed during the run"), "{error}");
}

#[test]
fn files_that_are_read_give_the_bytes_of_files_that_are_mapped() {
    let folder = Folder::with_arrays();
    let line = "evaluate z.npy --states x.npy --labels labels.npy --no-figures";
    folder.good(&format!("{line} --output-dir mapped"));
    folder.good(&format!("{line} --output-dir read --no-mmap"));
    assert_eq!(folder.read("mapped/results.json"), folder.read("read/results.json"));
}

/// Flips a bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).expect("the file is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).expect("the file can be written");
}

#[test]
fn a_stage_with_a_flipped_bit_is_computed_anew() {
    let folder = Folder::with_arrays();
    let line = "evaluate z.npy --labels labels.npy --only rankme,geometry --no-figures --resume";
    folder.good(line);
    for name in [
        "rankme/results.json",
        "geometry_analysis/samples.npz",
        "rankme/digests.txt",
    ] {
        let path = folder.path().join("evaluation_plots").join(name);
        let before = (
            std::fs::read(&path).expect(name),
            folder.read("evaluation_plots/results.json"),
        );
        flip(&path);
        let run = folder.good(line);
        assert!(run.stderr.contains("computed anew, because"), "{name}: {}", run.stderr);
        let after = (
            std::fs::read(&path).expect(name),
            folder.read("evaluation_plots/results.json"),
        );
        assert!(before == after, "{name}");
    }
    assert!(!folder.good(line).stderr.contains("computed anew"));
}

/// Two images for each class of the two-head network of the golden cases, and the command that masks them.
fn classified() -> (Folder, String) {
    let folder = Folder::new();
    let mut number = 0;
    for modulation in ["8PSK", "BPSK", "QAM", "QPSK"] {
        for ratio in ["SNR_-2", "SNR_0", "SNR_10"] {
            for sample in 0..2 {
                number += 1;
                let pixels = noise(number, 48 * 48);
                let pixels: Vec<u8> = pixels.iter().map(|&x| if x > 0.8 { 200 } else { 0 }).collect();
                let name = format!("images/{modulation}/{ratio}/sample_{sample}.png");
                write_gray_png(&folder.path().join(name), (48, 48), &pixels).expect("an image");
            }
        }
    }
    let line = format!(
        "perturb evaluate --checkpoint {} --images images --percents 5 --kinds top --split all --no-figures --output-dir out",
        repository("golden/models/two_head/weights.safetensors")
    );
    (folder, line)
}

#[test]
fn predictions_with_a_flipped_bit_are_made_again() {
    let (folder, line) = classified();
    folder.good(&line);
    let expected = folder.read("out/results.json");
    let heads = std::fs::read_dir(folder.path().join("out/predictions/baseline")).expect("predictions");
    let names: Vec<String> = heads
        .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 4, "two heads, the owner and the digests: {names:?}");
    for name in names {
        flip(&folder.path().join("out/predictions/baseline").join(&name));
        let run = folder.good(&line);
        assert!(
            run.stderr.contains("baseline is predicted anew, because it is damaged"),
            "{name}: {}",
            run.stderr
        );
        assert_eq!(folder.read("out/results.json"), expected, "{name}");
    }
    // The record of the owner: what is there belongs to nobody, and is made again.
    flip(&folder.path().join("out/predictions/about.json"));
    folder.good(&line);
    assert_eq!(folder.read("out/results.json"), expected);
    assert!(!folder.good(&line).stderr.contains("anew"));
}

#[test]
fn files_of_the_user_among_predictions_stay_when_options_change() {
    let (folder, line) = classified();
    folder.good(&line);
    let mine = [
        "out/predictions/notes.txt",
        "out/predictions/top5_blackout/notes.txt",
        "out/predictions/mine/x.npy",
    ];
    mine.iter().for_each(|name| folder.write(name, b"mine"));
    folder.good(&format!("{} --seed 7", line.replace("--percents 5", "--percents 20")));
    assert!(mine.iter().all(|name| folder.read(name) == "mine"));
    assert!(!folder.path().join("out/predictions/top5_blackout/digests.txt").exists());
    assert!(
        folder
            .path()
            .join("out/predictions/top20_blackout/digests.txt")
            .exists()
    );
    // A folder that somebody else made is not touched.
    folder.write("theirs/predictions/x.npy", b"theirs");
    let run = folder.run(&line.replace("--output-dir out", "--output-dir theirs"));
    assert!(
        run.code == 2 && run.stderr.contains("was not made by this analysis"),
        "{}",
        run.stderr
    );
    assert_eq!(
        folder.files().iter().filter(|name| name.starts_with("theirs")).count(),
        3
    );
}

#[test]
fn a_folder_that_another_run_writes_is_refused() {
    let folder = Folder::with_arrays();
    let claim = Claim::take(&folder.path().join("out")).expect("a claim");
    for line in [
        "evaluate z.npy",
        "manifold --model z.npy",
        "compare --model z.npy --model w.npy",
    ] {
        let run = folder.run(&format!("{line} --no-figures --output-dir out"));
        assert!(
            run.code == 2 && run.stderr.contains("written by another run"),
            "{line}: {}",
            run.stderr
        );
    }
    drop(claim);
    folder.good("manifold --model z.npy --no-figures --output-dir out");
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_computing() {
    let folder = Folder::with_arrays();
    folder.write("file", b"no folder");
    for line in [
        "evaluate z.npy --output-dir file/out",
        "manifold --model z.npy --output-dir file/out",
    ] {
        let run = folder.run(line);
        assert!(
            run.code == 2 && run.stderr.contains("cannot write file/out"),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains("running"), "{}", run.stderr);
    }
    folder.write("x.npy", &npy_f64(&[9, 12], &noise(5, 9 * 12)));
    let encoder = model("mlp.onnx");
    let run = folder.run(&format!("encode --encoder {encoder} --input x.npy --output file/z.npy"));
    assert!(
        run.code == 2 && run.stderr.contains("cannot write file/z.npy"),
        "{}",
        run.stderr
    );
    assert!(!folder.path().join(".cache").exists(), "nothing was encoded");
}

#[cfg(unix)]
#[test]
fn signals_leave_no_temporary_files() {
    let (folder, line) = classified();
    let line = format!("{line} --no-cache --seed");
    for (number, signal) in ["INT", "TERM", "HUP"].iter().cycle().take(12).enumerate() {
        let mut child = command(folder.path())
            .args(line.split_whitespace())
            .arg(number.to_string())
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        std::thread::sleep(Duration::from_millis(20 + 45 * number as u64));
        let kill = std::process::Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status();
        assert!(kill.is_ok());
        child.wait().expect("the command ends");
        let left: Vec<String> = folder
            .files()
            .into_iter()
            .filter(|name| name.contains(".repscope-"))
            .collect();
        assert!(left.is_empty(), "{signal} after {number}: {left:?}");
    }
}
