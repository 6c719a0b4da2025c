// SPDX-License-Identifier: MIT
//! Where people keep embeddings, as a user names it.

use crate::fixtures::{Folder, model, noise, npy_f64, repository, score, values};

fn of_io(name: &str) -> String {
    repository(&format!("crates/repscope-io/tests/{name}"))
}

#[test]
fn parts_of_one_array_and_numbers_without_a_header_score_as_the_whole_does() {
    let folder = Folder::new();
    let numbers = noise(3, 120 * 4);
    folder.write("whole.npy", &npy_f64(&[120, 4], &numbers));
    folder.write("part-2.npy", &npy_f64(&[50, 4], &numbers[..200]));
    folder.write("part-10.npy", &npy_f64(&[70, 4], &numbers[200..]));
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    folder.write("z.bin", &bytes);
    let whole = values(&folder.results("manifold --no-figures --model z=whole.npy"));
    let parts = values(&folder.results("manifold --no-figures --shards --model z=part-*.npy"));
    let bare = values(&folder.results("manifold --no-figures --model z=z.bin:f64:120x4"));
    assert_eq!(whole, parts);
    assert_eq!(whole, bare);
    // Without the option, a pattern is a model for each file.
    let said = folder.run("manifold --no-figures --model part-*.npy").stderr;
    assert!(said.contains("model `part-2` 50, model `part-10` 70"), "{said}");
}

#[test]
fn cells_and_datasets_are_inputs_and_are_described() {
    let folder = Folder::new();
    let (cells, dataset) = (of_io("hdf5/cells.h5ad"), of_io("arrow/dataset"));
    let said = folder.run(&format!("check {cells} {dataset}")).stdout;
    for part in [
        "cells.h5ad#obsm/X_pca  4 × 2 f32",
        "cells.h5ad#X  4 × 3 f32",
        "dataset#embedding  12 × 5 f32",
    ] {
        assert!(said.contains(part), "{part} is missing in:\n{said}");
    }
    let run = folder.results(&format!(
        "geometry --no-figures --model {dataset}#lists --labels {dataset}#label --k 3"
    ));
    let found = score(&run, "dataset", "knn_accuracy@3");
    assert!(found["value"].is_number(), "{run}");
}

#[test]
fn an_array_of_a_zarr_store_scores_as_its_numbers_do_and_a_hostile_one_is_refused() {
    let folder = Folder::new();
    let numbers = noise(3, 120 * 4);
    folder.write("whole.npy", &npy_f64(&[120, 4], &numbers));
    std::fs::create_dir_all(folder.path().join("store.zarr/deep/z")).unwrap();
    folder.write("store.zarr/.zgroup", br#"{"zarr_format": 2}"#);
    folder.write("store.zarr/deep/.zgroup", br#"{"zarr_format": 2}"#);
    let array = |shape: &str| {
        format!(
            r#"{{"zarr_format": 2, "shape": {shape}, "chunks": [60, 4], "dtype": "<f8", "compressor": null, "fill_value": 0,
                "order": "C", "filters": null}}"#
        )
    };
    folder.write("store.zarr/deep/z/.zarray", array("[120, 4]").as_bytes());
    for (part, rows) in numbers.chunks(60 * 4).enumerate() {
        let bytes: Vec<u8> = rows.iter().flat_map(|number| number.to_le_bytes()).collect();
        folder.write(&format!("store.zarr/deep/z/{part}.0"), &bytes);
    }
    let said = folder.good("check store.zarr").stdout;
    assert!(said.contains("store.zarr  120 × 4 f64"), "{said}");
    let whole = values(&folder.results("manifold --no-figures --model z=whole.npy"));
    for named in ["store.zarr#deep/z", "store.zarr", "store.zarr/deep/z"] {
        let found = values(&folder.results(&format!("manifold --no-figures --model z={named}")));
        assert_eq!(found, whole, "{named}");
    }
    folder.write("store.zarr/deep/z/.zarray", array("[1000000000000000, 4]").as_bytes());
    let run = folder.run("manifold --no-figures --model z=store.zarr");
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(
        run.stderr.contains("store.zarr") && run.stderr.contains("takes at least"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_graph_is_described_by_its_inputs_and_outputs() {
    let folder = Folder::new();
    let said = folder.good(&format!("check {}", model("two_heads.onnx"))).stdout;
    for part in [
        "input  x [?, 3, 16, 16]",
        "output  z [?, 8]",
        "output  p [?, 5]",
        "repscope encode --encoder",
    ] {
        assert!(said.contains(part), "{part} is missing in:\n{said}");
    }
}

#[test]
fn embeddings_are_written_as_columns_beside_their_ids() {
    let folder = Folder::new();
    let ids: String = (0..37).map(|i| format!("row {i}\n")).collect();
    folder.write("ids.txt", ids.as_bytes());
    let encode = format!(
        "encode --encoder {} --input {}",
        model("two_heads.onnx"),
        model("images.npy")
    );
    folder.good(&format!("{encode} --output z.safetensors"));
    let expected = values(&folder.results("manifold --no-figures --model z=z.safetensors#z"));
    for file in ["z.parquet", "z.arrow"] {
        let run = folder.good(&format!("{encode} --output {file} --ids ids.txt"));
        assert!(run.stdout.contains(&format!("{file}#z (37 x 8)")), "{}", run.stdout);
        let found = values(&folder.results(&format!("manifold --no-figures --model z={file}#z")));
        assert_eq!(found, expected, "{file}");
        let said = folder.run(&format!("check {file}#id")).stdout;
        assert!(said.contains("37 classes") || said.contains("37 str"), "{said}");
    }
    let run = folder.run(&format!("{encode} --output z.npy --ids ids.txt"));
    assert!(run.stderr.contains(".parquet or .arrow"), "{}", run.stderr);
    folder.write("ids.txt", b"one\n");
    let run = folder.run(&format!("{encode} --output q.parquet --ids ids.txt"));
    assert!(run.stderr.contains("1 ids for 37 rows"), "{}", run.stderr);
}

#[test]
fn a_model_with_several_inputs_takes_a_name_for_each() {
    let folder = Folder::new();
    folder.write("x.npy", &npy_f64(&[5, 3], &noise(1, 15)));
    folder.write("k.npy", &npy_f64(&[5, 1], &[0.0, 1.0, 2.0, 3.0, 4.0]));
    let graph = repository("crates/repscope-models/tests/graphs/encoder_of_two_inputs.onnx");
    let run = folder.good(&format!(
        "encode --encoder {graph} --input x=x.npy k=k.npy g=2 --output z.npy"
    ));
    assert!(run.stdout.contains("z.npy (5 x 3)"), "{}", run.stdout);
    let run = folder.run(&format!("encode --encoder {graph} --input x.npy --output z.npy"));
    assert!(
        run.stderr.contains("nothing is known to feed to k, g"),
        "{}",
        run.stderr
    );
}
