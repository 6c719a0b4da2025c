// SPDX-License-Identifier: MIT
//! Graphs of all kinds of exporters give what ONNX Runtime gives (`tests/graphs/make.py`).

use std::path::PathBuf;

use repscope_io::{Array, Data, InputPath, list_arrays, read_array};
use repscope_models::Error;
use repscope_models::graph::canonical;
use repscope_models::runtime::{Data as Values, ModelBytes, Runtime, Value, load};

use crate::fixtures::file;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/graphs")
}

fn stored(key: &str) -> Array {
    read_array(&InputPath {
        path: folder().join("graphs.npz"),
        key: Some(key.to_string()),
    })
    .unwrap()
}

fn numbers(array: &Array) -> Vec<f32> {
    match array.data() {
        Data::F32(values) => (**values).as_ref().to_vec(),
        Data::U8(values) => (**values).as_ref().iter().map(|&byte| f32::from(byte)).collect(),
        other => panic!("inputs are f32 or bytes, not {other:?}"),
    }
}

fn graphs() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let graphs = files.filter(|path| path.extension().is_some_and(|e| e == "onnx"));
    let mut names: Vec<String> = graphs
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn graphs_of_all_kinds_of_exporters_give_what_onnx_runtime_gives() {
    let keys: Vec<String> = list_arrays(&folder().join("graphs.npz"))
        .unwrap()
        .into_iter()
        .filter_map(|info| info.key)
        .collect();
    let mut seen = 0;
    for name in graphs()
        .iter()
        .filter(|name| !name.starts_with("refused") && !name.starts_with("encoder"))
    {
        let path = folder().join(format!("{name}.onnx"));
        let mut session = load(ModelBytes::File(path), &Runtime::Rten, 1).unwrap();
        let prefix = format!("{name}.in.");
        let fed = keys.iter().filter_map(|key| key.strip_prefix(&prefix)).map(|input| {
            let array = stored(&format!("{prefix}{input}"));
            (
                input.to_string(),
                Value::floats(array.shape().to_vec(), numbers(&array)),
            )
        });
        let fed: Vec<(String, Value)> = fed.collect();
        let outputs: Vec<String> = session.outputs().iter().map(|port| port.name.clone()).collect();
        let made = session
            .run(fed, &outputs)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for (at, value) in made.iter().enumerate() {
            let expected = stored(&format!("{name}.out.{at}"));
            assert_eq!(value.shape, expected.shape(), "{name}");
            let expected = numbers(&expected);
            let Values::F32(values) = &value.data else {
                panic!("{name} gives integers")
            };
            let largest = expected.iter().fold(0.0, |m: f32, x| m.max(x.abs()));
            let off = values
                .iter()
                .zip(&expected)
                .fold(0.0, |m: f32, (a, b)| m.max((a - b).abs()));
            assert!(off <= 2e-6 * largest, "{name}: off by {off} on values up to {largest}");
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen} outputs were compared");
}

#[test]
fn what_the_runtime_would_compute_wrongly_is_refused_with_a_way_out() {
    for (name, what) in [
        ("refused_cubic", "cubic"),
        ("refused_indices", "indices"),
        ("refused_same_lower", "SAME_LOWER"),
    ] {
        let path = folder().join(format!("{name}.onnx"));
        let error = load(ModelBytes::File(path), &Runtime::Rten, 1).err().unwrap();
        assert!(matches!(error, Error::Unsupported(_)), "{name}: {error}");
        let said = error.to_string();
        assert!(said.contains(what) && said.contains("onnxruntime"), "{name}: {said}");
    }
}

#[test]
fn a_graph_that_needs_nothing_stays_as_it_is() {
    for name in ["two_heads.onnx", "mlp.onnx", "channels_last.onnx"] {
        let bytes = std::fs::read(file(name)).unwrap();
        assert_eq!(canonical(&bytes).unwrap().model, None, "{name}");
    }
}
