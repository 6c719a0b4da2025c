// SPDX-License-Identifier: MIT
//! Layers of one model: the arrays of a file, or models that are named so.

use serde_json::Value;

use crate::fixtures::{Folder, model, noise, npy_f64, npz, score};

/// Three layers of 60 rows, of which the last is the classes and noise.
fn with_layers() -> Folder {
    let folder = Folder::with_arrays();
    let layer = |seed: u64, signal: f64| {
        let mut values = noise(seed, 300);
        for (i, row) in values.chunks_mut(5).enumerate() {
            row[i % 3] += signal;
        }
        npy_f64(&[60, 5], &values)
    };
    let layers = [
        ("block_10", layer(3, 4.0)),
        ("block_2", layer(2, 1.0)),
        ("block_1", layer(1, 0.0)),
    ];
    folder.write("codes.npz", &npz(&layers));
    folder
}

fn names(results: &Value) -> Vec<(String, u64)> {
    let layers = results["layers"].as_array().expect("layers");
    let of = |own: &Value| {
        (
            own["model"].as_str().unwrap_or("").to_string(),
            own["depth"].as_u64().unwrap_or(99),
        )
    };
    layers.iter().map(of).collect()
}

#[test]
fn the_arrays_of_a_file_are_layers_in_natural_order() {
    let folder = with_layers();
    let run = folder.results("geometry --model vit=codes.npz --labels labels.npy");
    let expected = [("vit/block_1", 0), ("vit/block_2", 1), ("vit/block_10", 2)];
    assert_eq!(names(&run), expected.map(|(name, depth)| (name.to_string(), depth)));
    let accuracy = |layer: &str| score(&run, layer, "knn_accuracy@5")["value"].as_f64().expect("a value");
    assert!(accuracy("vit/block_10") > accuracy("vit/block_1") + 0.3);
    // Every two layers are compared, and all comparisons are adjusted together.
    assert!(
        run["differences"]
            .as_array()
            .expect("differences")
            .iter()
            .any(|d| d["winner"] == "vit/block_10")
    );
    let files = folder.files();
    assert!(
        files
            .iter()
            .any(|file| file.ends_with("geometry_analysis/geometry_layers.svg"))
    );
}

#[test]
fn an_evaluation_draws_all_scores_over_depth_in_one_figure() {
    let folder = with_layers();
    let run = folder.good("evaluate --model vit=codes.npz --labels labels.npy --only manifold geometry similarity");
    assert!(
        run.stdout.contains("vit/block_10 separates the classes best"),
        "{}",
        run.stdout
    );
    let files = folder.files();
    for figure in [
        "evaluation_plots/layers/layers.svg",
        "similarity/similarity_matrices.svg",
    ] {
        assert!(files.iter().any(|file| file.ends_with(figure)), "{figure} in {files:?}");
    }
    let figure = folder.read("evaluation_plots/layers/layers.svg");
    assert!(figure.contains("depth") && figure.contains("two_nn") && figure.contains("knn_accuracy@5"));
    let matrix = folder.read("evaluation_plots/similarity/similarity_matrices.svg");
    assert!(matrix.contains("in the order of their depth"));
}

#[test]
fn models_of_several_files_can_be_layers_and_a_pattern_chooses_arrays() {
    let folder = with_layers();
    let run = folder.results("manifold --model m/1=z.npy --model m/2=w.npy --layers m --no-figures");
    assert_eq!(names(&run), [("m/1".to_string(), 0), ("m/2".to_string(), 1)]);
    let run = folder.results("manifold --model vit=codes.npz#block_1* --no-figures");
    assert_eq!(
        names(&run),
        [("vit/block_1".to_string(), 0), ("vit/block_10".to_string(), 1)]
    );
    // One array by its name is one model.
    let run = folder.results("manifold --model vit=codes.npz#block_2 --no-figures");
    assert!(run.get("layers").is_none());
    // Layers have versions of their own.
    let run = folder.results("manifold --model vit=codes.npz --prefix 3 --no-figures");
    assert_eq!(run["versions"][0]["columns_of"]["vit/block_2"], 5);
}

#[test]
fn files_that_hold_something_else_are_refused_as_before() {
    let folder = with_layers();
    let refused = |words: &str, what: &[&str]| {
        let run = folder.run(words);
        assert_eq!(run.code, 2, "{words}\n{}", run.stdout);
        for what in what {
            assert!(run.stderr.contains(what), "{words}: {}", run.stderr);
        }
    };
    let other = [
        ("z", npy_f64(&[60, 3], &noise(1, 180))),
        ("y", npy_f64(&[60], &noise(2, 60))),
    ];
    folder.write("other.npz", &npz(&other));
    refused("manifold --model m=other.npz", &["z", "y"]);
    let rows = [
        ("a", npy_f64(&[60, 3], &noise(1, 180))),
        ("b", npy_f64(&[50, 3], &noise(2, 150))),
    ];
    folder.write("rows.npz", &npz(&rows));
    refused("manifold --model m=rows.npz", &["a", "b"]);
    refused("manifold --model m=rows.npz#*", &["same rows", "60", "50"]);
    refused("manifold --model vit=codes.npz#head*", &["head*", "block_10"]);
    refused("manifold --model m=z.npy --layers m", &["m", "at least 2"]);
}

#[test]
fn further_views_of_a_model_are_for_lidar() {
    let folder = Folder::with_arrays();
    let base = noise(2, 180);
    for seed in 0..3 {
        let moved: Vec<f64> = base
            .iter()
            .zip(noise(20 + seed, 180))
            .map(|(z, e)| z + 0.1 * e)
            .collect();
        folder.write(&format!("v{seed}.npy"), &npy_f64(&[60, 3], &moved));
    }
    let run = folder.results("rankme --model z=z.npy --views z=v0.npy z=v1.npy z=v2.npy --no-figures");
    let note = |run: &Value| score(run, "z", "lidar")["note"].to_string();
    assert!(note(&run).contains("4 views of 60 samples"), "{}", note(&run));
    let run = folder.results("rankme --model z=z.npy --views v0.npy v1.npy --no-figures");
    assert!(note(&run).contains("3 views"), "{}", note(&run));
}

#[test]
fn the_outputs_of_a_graph_are_layers_of_one_run() {
    let folder = Folder::new();
    let graph = model("two_heads.onnx");
    let states = model("images.npy");
    let run = folder.results(&format!(
        "manifold --model net={graph}#* --states {states} --no-figures --no-cache"
    ));
    let layers: Vec<String> = names(&run).into_iter().map(|(name, _)| name).collect();
    assert_eq!(layers, ["net/z", "net/p"]);
    // Each is the output alone.
    for output in ["z", "p"] {
        let one = folder.results(&format!(
            "manifold --model net={graph} --states {states} --output-name {output} --no-figures --no-cache"
        ));
        let layer = format!("net/{output}");
        assert_eq!(
            score(&run, &layer, "participation_ratio")["value"],
            score(&one, "net", "participation_ratio")["value"]
        );
    }
    let refused = folder.run(&format!("manifold --model net={graph}#block* --states {states}"));
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("block*") && refused.stderr.contains('z'),
        "{}",
        refused.stderr
    );
    // Without a pattern the outputs are named, as before.
    let refused = folder.run(&format!("manifold --model net={graph} --states {states}"));
    assert!(
        refused.code == 2 && refused.stderr.contains("z, p"),
        "{}",
        refused.stderr
    );
}
