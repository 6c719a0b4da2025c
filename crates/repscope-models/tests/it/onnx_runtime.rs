// SPDX-License-Identifier: MIT
//! The same embeddings from an installed ONNX Runtime. Where none is found, this is said and nothing is tested.

use std::path::PathBuf;

use crate::fixtures::{array, assert_like_torch, encode, file};
use repscope_models::runtime::{Provider, Runtime, find_library};
use repscope_models::{Encoder, Options};

fn library() -> Option<PathBuf> {
    let found = find_library(&|name| std::env::var_os(name));
    if let Err(error) = &found {
        #[allow(clippy::print_stderr)] // The reader of a test log should know.
        {
            eprintln!("skipped: {error}");
        }
    }
    found.ok()
}

fn options(library: PathBuf, provider: Provider) -> Options {
    Options {
        runtime: Runtime::OnnxRuntime {
            library: Some(library),
            provider,
        },
        ..Options::default()
    }
}

#[test]
fn onnx_runtime_gives_the_embeddings_of_torch_also_where_the_built_in_runtime_lacks_an_operator() {
    let Some(library) = library() else { return };
    let with = || options(library.clone(), Provider::Cpu);
    let embeddings = encode("two_heads.onnx", "images.npy", with());
    assert_like_torch(&embeddings.outputs[0], "two_heads_z.npy");
    assert_like_torch(&embeddings.outputs[1], "two_heads_p.npy");
    assert_like_torch(&encode("mlp.onnx", "vectors.npy", with()).outputs[0], "mlp_z.npy");
    assert_like_torch(
        &encode("channels_last.onnx", "images.npy", with()).outputs[0],
        "channels_last_z.npy",
    );
    assert_like_torch(
        &encode("determinant.onnx", "matrices.npy", with()).outputs[0],
        "determinant_z.npy",
    );
    assert_like_torch(&encode("apart.onnx", "vectors.npy", with()).outputs[0], "apart_z.npy");
    let fixed = Options {
        scale: Some(255.0),
        mean: vec![0.5],
        std: vec![0.25],
        ..with()
    };
    assert_like_torch(
        &encode("fixed_batch.onnx", "gray.npy", fixed).outputs[0],
        "fixed_batch_z.npy",
    );
}

#[test]
fn with_onnx_runtime_the_batch_size_changes_a_embedding_by_roundings_at_most() {
    let Some(library) = library() else { return };
    for (model, rows) in [("two_heads.onnx", "images.npy"), ("mlp.onnx", "vectors.npy")] {
        let with = |batch| {
            encode(
                model,
                rows,
                Options {
                    batch,
                    ..options(library.clone(), Provider::Cpu)
                },
            )
            .outputs
        };
        let whole = with(37);
        for batch in [1, 7, 32] {
            for (a, b) in whole.iter().zip(&with(batch)) {
                let off = a
                    .values
                    .iter()
                    .zip(&b.values)
                    .fold(0.0, |m: f32, (x, y)| m.max((x - y).abs()));
                assert!(off <= 1e-6, "{model} {}: off by {off} for batches of {batch}", a.name);
            }
        }
    }
}

#[test]
fn the_two_runtimes_have_different_digests() {
    let Some(library) = library() else { return };
    let digest = |options| {
        Encoder::open(&file("mlp.onnx"), None, options)
            .unwrap()
            .digest()
            .to_string()
    };
    assert_ne!(digest(Options::default()), digest(options(library, Provider::Cpu)));
}

#[test]
fn a_provider_that_is_missing_is_named() {
    let Some(library) = library() else { return };
    match Encoder::open(&file("mlp.onnx"), None, options(library, Provider::Cuda)) {
        // A machine with a card.
        Ok(mut encoder) => drop(encoder.encode_all(&array("vectors.npy")).unwrap()),
        Err(error) => assert!(error.to_string().contains("CUDA"), "{error}"),
    }
}

#[test]
fn a_damaged_model_is_refused_by_onnx_runtime_too() {
    let Some(library) = library() else { return };
    let whole = std::fs::read(file("two_heads.onnx")).unwrap();
    for part in [0, 1, 3, 5, 7] {
        let cut = whole[..whole.len() * part / 8].to_vec();
        assert!(Encoder::from_graph(cut, options(library.clone(), Provider::Cpu)).is_err());
    }
}

#[test]
fn what_is_not_onnx_runtime_is_refused_in_words() {
    let refused = |path: PathBuf| {
        let opened = Encoder::open(&file("mlp.onnx"), None, options(path, Provider::Cpu));
        opened.err().map(|e| e.to_string()).unwrap_or_default()
    };
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(folder.path().join("gone.so")).contains("gone.so"));
    // With a library in place the second is refused for being a second one; alone, for what it is.
    let text = folder.path().join("text.so");
    repscope_io::write_whole(&text, b"not a library").unwrap();
    assert!(refused(text).contains("text.so"));
}

#[test]
fn a_graph_that_the_built_in_runtime_cannot_run_goes_to_an_installed_onnx_runtime_which_is_said() {
    let Some(library) = library() else { return };
    let auto = Options {
        runtime: Runtime::Auto { library },
        ..Options::default()
    };
    let embeddings = encode("determinant.onnx", "matrices.npy", auto.clone());
    assert_like_torch(&embeddings.outputs[0], "determinant_z.npy");
    let said = embeddings.notes.join("\n");
    assert!(
        said.contains("run by ONNX Runtime") && said.contains("operator Det"),
        "{said}"
    );
    // The built-in runtime keeps what it can run.
    let kept = encode("mlp.onnx", "vectors.npy", auto);
    assert_eq!(kept, encode("mlp.onnx", "vectors.npy", Options::default()));
}

#[test]
fn convolutions_go_to_an_installed_onnx_runtime_which_is_said() {
    let Some(library) = library() else { return };
    let auto = Options {
        runtime: Runtime::Auto {
            library: library.clone(),
        },
        ..Options::default()
    };
    let chosen = encode("two_heads.onnx", "images.npy", auto);
    let asked = encode("two_heads.onnx", "images.npy", options(library, Provider::Cpu));
    assert_eq!(chosen.outputs, asked.outputs);
    let said = chosen.notes.join("\n");
    assert!(
        said.contains("run by ONNX Runtime") && said.contains("convolutions"),
        "{said}"
    );
}
