// SPDX-License-Identifier: MIT
//! Every operation on a file fails once: after each single fault, and after a process that ended there, running the command again gives
//! the same bytes. The operations are those that `repscope-io` counts (`faults.rs`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fixtures::{Folder, command, model, noise, npy_f64, repository};
use repscope_io::write_gray_png;

/// The files that a run leaves, but for the cache and for what a clock says.
fn written(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let is_result = |name: &String| !name.ends_with('/') && !name.starts_with(".cache") && !name.ends_with("run.json");
    let read = |name: String| {
        let bytes = std::fs::read(folder.path().join(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        (name, bytes)
    };
    folder.files().into_iter().filter(is_result).map(read).collect()
}

fn run(folder: &Path, line: &str, fault: Option<String>) -> (Option<i32>, String) {
    let mut command = command(folder);
    command.args(line.split_whitespace());
    if let Some(fault) = fault {
        command.env("REPSCOPE_FAULT", fault);
    }
    let output = command.output().expect("the command starts");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Has every operation fail, and every `killed`-th end the process; `make` makes the inputs. Gives how many operations there are.
fn survive(make: &(dyn Fn() -> Folder + Sync), line: &str, killed: usize) -> usize {
    let whole = make();
    let (code, stderr) = run(whole.path(), line, None);
    assert_eq!(code, Some(0), "{stderr}");
    let expected = written(&whole);
    let last = AtomicUsize::new(usize::MAX);
    let next = AtomicUsize::new(1);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number > last.load(Ordering::Relaxed) {
                return;
            }
            let kinds = if number.is_multiple_of(killed) {
                &["fail", "die"][..]
            } else {
                &["fail"]
            };
            for kind in kinds {
                let folder = make();
                let inputs = folder.files();
                let (code, stderr) = run(folder.path(), line, Some(format!("{kind}:{number}")));
                if !stderr.contains("injected fault") {
                    last.fetch_min(number, Ordering::Relaxed);
                    return;
                }
                let is_left = |name: &String| name.contains("/.repscope-") || name.starts_with(".repscope-");
                if *kind == "fail" {
                    // An error with a message, or something that the run can do without.
                    assert!(matches!(code, Some(0 | 2)), "fault {number}: {code:?}\n{stderr}");
                    let left: Vec<String> = folder.files().into_iter().filter(is_left).collect();
                    assert!(left.is_empty(), "fault {number} left {left:?}");
                }
                if folder.files() == inputs {
                    // Nothing was written that could make a difference.
                    continue;
                }
                let (code, stderr) = run(folder.path(), line, None);
                assert_eq!(code, Some(0), "after {kind}:{number}: {stderr}");
                let mut after = written(&folder);
                // Temporary files of a process that was killed are collected when they are a minute old.
                after.retain(|name, _| !is_left(name));
                let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
                assert_eq!(names(&after), names(&expected), "after {kind}:{number}");
                let other = after.iter().find(|(name, bytes)| expected[*name] != **bytes);
                assert!(
                    other.is_none(),
                    "after {kind}:{number}, {:?} has other bytes",
                    other.map(|o| o.0)
                );
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(work);
        }
    });
    last.into_inner() - 1
}

#[test]
fn an_evaluation_survives_every_fault() {
    let make = || {
        let folder = Folder::new();
        folder.write("z.npy", &npy_f64(&[20, 3], &noise(2, 60)));
        folder
    };
    let operations = survive(
        &make,
        "evaluate z.npy --only rankme --no-figures --resume --threads 1",
        1,
    );
    assert!(operations > 30, "{operations} operations");
}

#[test]
fn an_encoding_and_the_cache_survive_every_fault() {
    let make = || {
        let folder = Folder::new();
        folder.write("x.npy", &npy_f64(&[9, 12], &noise(5, 9 * 12)));
        folder
    };
    let encoder = model("mlp.onnx");
    let line = format!("encode --encoder {encoder} --input x.npy --output z.npy --batch-size 4 --threads 1");
    let operations = survive(&make, &line, 1);
    assert!(operations > 30, "{operations} operations");
}

#[test]
fn a_perturbation_survives_every_fault() {
    let make = || {
        let folder = Folder::new();
        let mut number = 0;
        for modulation in ["8PSK", "BPSK", "QAM", "QPSK"] {
            for ratio in ["SNR_-2", "SNR_0", "SNR_10"] {
                number += 1;
                let pixels = noise(number, 48 * 48);
                let pixels: Vec<u8> = pixels.iter().map(|&x| if x > 0.8 { 200 } else { 0 }).collect();
                let name = format!("images/{modulation}/{ratio}/one.png");
                write_gray_png(&folder.path().join(name), (48, 48), &pixels).expect("an image");
            }
        }
        folder
    };
    let classifier = repository("golden/models/two_head/weights.safetensors");
    let line = format!(
        "perturb evaluate --checkpoint {classifier} --images images --percents 5 --kinds top --split all --no-figures --output-dir out \
         --threads 1"
    );
    let operations = survive(&make, &line, 4);
    assert!(operations > 60, "{operations} operations");
}
