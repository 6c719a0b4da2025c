// SPDX-License-Identifier: MIT
//! The readers, each with the name that its file needs. What they answer does not matter, only that they do.

use std::path::Path;

use repscope::options::FigureOptions;
use repscope::{Color, Evaluate, Format, Problems, Report, Terminal};
use repscope_io::{InputPath, inspect, inspect_all, limit_memory, list_arrays, read_prototype_texts, read_texts, tree};
use repscope_models::{TextEncoder, TextOptions};

/// A reader.
pub struct Target {
    /// What it is called.
    pub name: &'static str,
    /// What its file is called.
    pub file: &'static str,
    /// Reads the file.
    pub read: fn(&Path),
}

/// All readers.
pub const TARGETS: [Target; 19] = [
    array("npy", "damaged.npy"),
    array("pickle", "damaged.npy"),
    array("npz", "damaged.npz"),
    array("safetensors", "damaged.safetensors"),
    array("torch", "damaged.pth"),
    array("parquet", "damaged.parquet"),
    array("hdf5", "damaged.h5"),
    array("arrow", "damaged.arrow"),
    array("vectors", "damaged.fvecs"),
    array("csv", "damaged.csv"),
    array("jsonl", "damaged.jsonl"),
    array("text", "damaged.txt"),
    other("zarr", "zarr.json", zarr),
    other("zarr_chunk", "c.0.0", zarr),
    other("study", "damaged.toml", study),
    other("results", "results.json", results),
    other("metadata", "metadata.json", metadata),
    other("onnx", "damaged.onnx", onnx),
    other("tokenizer", "tokenizer.json", tokenizer),
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

const fn array(name: &'static str, file: &'static str) -> Target {
    other(name, file, read_array)
}

const fn other(name: &'static str, file: &'static str, read: fn(&Path)) -> Target {
    Target { name, file, read }
}

/// As `repscope check` and the analyses read it.
fn read_array(path: &Path) {
    let keys = list_arrays(path).map(|infos| infos.into_iter().filter_map(|info| info.key).take(3).collect());
    let keys: Vec<String> = keys.unwrap_or_default();
    for key in keys.into_iter().map(Some).chain([None]) {
        let input = InputPath {
            path: path.to_path_buf(),
            key,
        };
        let _ = inspect(&input);
        let _ = read_texts(&input);
    }
    let _ = inspect_all(path);
    let _ = tree(path);
}

/// A store of one array, of which the description or the only chunk is damaged; the other one is sound.
fn zarr(path: &Path) {
    let Some(folder) = path.parent() else { return };
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for (name, seed) in [("zarr.json", "zarr/blosc.json"), ("c.0.0", "zarr_chunk/shuffled")] {
        if !folder.join(name).exists() && std::fs::copy(seeds.join(seed), folder.join(name)).is_err() {
            return;
        }
    }
    // A description of a hundred bytes may claim whatever fits into memory, and gets it.
    limit_memory(Some(16 << 20));
    read_array(folder);
    limit_memory(None);
}

/// Up to the point where inputs would be read.
fn study(path: &Path) {
    let request = Evaluate {
        inputs: vec![path.display().to_string()],
        ..Evaluate::default()
    };
    let _ = request.gather(|_| false, &mut Problems::default());
}

/// Everything that `repscope report` makes of it, without drawing.
fn results(path: &Path) {
    let Ok(report) = Report::open(path) else { return };
    let terminal = Terminal {
        width: 80,
        color: Color::No,
        quiet: false,
        all: true,
    };
    for format in [Format::Table, Format::Markdown, Format::Latex, Format::Csv] {
        let _ = report.table(format, terminal);
    }
    let _ = report.html();
    let Some(folder) = path.parent() else { return };
    let figures = FigureOptions {
        no_figures: true,
        ..FigureOptions::default()
    };
    let _ = report.write_all(&folder.join("out"), &figures);
}

fn metadata(path: &Path) {
    for style in ["plain", "detailed"] {
        let _ = read_prototype_texts(path, "villa", style);
    }
}

fn onnx(path: &Path) {
    if let Ok(bytes) = std::fs::read(path) {
        let is_sound = repscope_models::graph::describe(&bytes).is_ok();
        if is_sound {
            let _ = repscope_models::graph::canonical(&bytes);
        }
    }
}

/// A small text encoder with this tokenizer.
fn tokenizer(path: &Path) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/text/bert");
    let Some(folder) = path.parent() else { return };
    for name in ["config.json", "model.safetensors", "tokenizer_config.json"] {
        let to = folder.join(name);
        if !to.exists() && std::fs::copy(golden.join(name), to).is_err() {
            return;
        }
    }
    if let Ok(mut encoder) = TextEncoder::open(folder, TextOptions::default()) {
        let texts = ["A dull film".to_string(), String::new(), "é".repeat(50)];
        let _ = encoder.encode(&texts, &mut |_, _| Ok(()));
    }
}
