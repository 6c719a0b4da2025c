// SPDX-License-Identifier: MIT
//! Graphs that are made to end the process that runs them: the command says what is wrong and exits with code 2.

use repscope_models::graph::{Attribute, Dim, Element, GraphBuilder};

use crate::fixtures::{Folder, command};

/// A graph that adds to its rows a number that `extra` makes of them.
fn graph(extra: impl Fn(&mut GraphBuilder, &str) -> String) -> Vec<u8> {
    let mut graph = GraphBuilder::new("hostile");
    let dims = [Dim::named("batch"), Dim::Fixed(4)];
    let x = graph.input("x", Element::Float, &dims);
    let extra = extra(&mut graph, &x);
    let one = graph.node("ReduceMax", &[&extra], &[("keepdims", Attribute::Int(0))]);
    let z = graph.node("Add", &[&x, &one], &[]);
    graph.output(&z, "z", Element::Float, &dims);
    graph.finish().unwrap()
}

/// Encodes with such a graph: the exit code and stderr.
fn encode(model: &[u8], options: &str) -> (i32, String) {
    let folder = Folder::with_arrays();
    folder.write("m.onnx", model);
    let run = folder.run(&format!(
        "encode --encoder m.onnx --input x.npy --output e.npy {options}"
    ));
    assert_eq!(run.code == 0, folder.files().contains(&"e.npy".to_string()));
    (run.code, run.stderr)
}

/// A message of protobuf: a field that holds bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    [out, bytes.to_vec()].concat()
}

#[test]
fn sizes_beyond_the_memory_limit_are_an_error_with_both_numbers() {
    let vast = [1_i64 << 18, 1 << 18];
    let shape = |graph: &mut GraphBuilder, sizes: &[i64]| graph.ints("sizes", &[sizes.len()], sizes).unwrap();
    let models = [
        graph(|graph, _| {
            let sizes = shape(graph, &vast);
            graph.node("ConstantOfShape", &[&sizes], &[])
        }),
        graph(|graph, x| {
            let one = graph.node("ReduceMax", &[x], &[("keepdims", Attribute::Int(0))]);
            let sizes = shape(graph, &vast);
            graph.node("Expand", &[&one, &sizes], &[])
        }),
        graph(|graph, x| {
            let sizes = shape(graph, &vast);
            graph.node("Tile", &[x, &sizes], &[])
        }),
        graph(|graph, x| {
            let sizes = shape(graph, &[0, 0, 1 << 18, 1 << 20]);
            graph.node("Pad", &[x, &sizes], &[])
        }),
    ];
    for (at, model) in models.iter().enumerate() {
        let (code, stderr) = encode(model, "");
        assert_eq!(code, 2, "{at}: {stderr}");
        assert!(
            stderr.contains("cannot be run") && stderr.contains("--memory"),
            "{at}: {stderr}"
        );
        assert!(stderr.contains("iB at once"), "{at}: {stderr}");
    }
}

#[test]
fn the_memory_limit_holds_for_models_and_a_model_within_it_runs() {
    let model = graph(|graph, _| {
        let sizes = graph.ints("sizes", &[2], &[1 << 14, 1 << 14]).unwrap();
        graph.node("ConstantOfShape", &[&sizes], &[])
    });
    let (code, stderr) = encode(&model, "--memory 300M");
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("1.0 GiB at once") && stderr.contains("300.0 MiB"),
        "{stderr}"
    );
    let small = graph(|graph, x| graph.node("Relu", &[x], &[]));
    let (code, stderr) = encode(&small, "--memory 300M");
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn a_chain_of_forty_thousand_nodes_runs() {
    let model = graph(|graph, x| (0..40_000).fold(x.to_string(), |value, _| graph.node("Relu", &[&value], &[])));
    let (code, stderr) = encode(&model, "");
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn types_within_types_are_refused() {
    // A list of lists of …, as the type of one more value of the graph.
    let nested = (0..3000).fold(Vec::new(), |kind, _| field(4, &field(1, &kind)));
    let value = [field(1, b"v"), field(2, &nested)].concat();
    let model = [
        graph(|graph, x| graph.node("Relu", &[x], &[])),
        field(7, &field(13, &value)),
    ]
    .concat();
    let (code, stderr) = encode(&model, "");
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("types within types"), "{stderr}");
}

#[test]
fn a_loop_without_end_is_ended() {
    let folder = Folder::with_arrays();
    // Loop(no count, no condition, x): its body says "go on" and passes x through.
    let port = |name: &str, kind: u8| {
        let tensor = field(1, &[1 << 3, kind]);
        [field(1, name.as_bytes()), field(2, &tensor)].concat()
    };
    let identity = |from: &str, to: &str| {
        let parts = [
            field(1, from.as_bytes()),
            field(2, to.as_bytes()),
            field(4, b"Identity"),
        ];
        field(1, &parts.concat())
    };
    let body = [
        identity("go", "go_on"),
        identity("v", "w"),
        field(2, b"body"),
        field(11, &port("i", 7)),
        field(11, &port("go", 9)),
        field(11, &port("v", 1)),
        field(12, &port("go_on", 9)),
        field(12, &port("w", 1)),
    ]
    .concat();
    let attribute = [field(1, b"body"), field(6, &body), vec![0xa0, 0x01, 5]].concat();
    let node = [
        field(1, b""),
        field(1, b""),
        field(1, b"x"),
        field(2, b"z"),
        field(4, b"Loop"),
        field(5, &attribute),
    ];
    let dims = [field(1, &field(2, b"batch")), field(1, &[1 << 3, 4])].concat();
    let whole = |name: &str| {
        let tensor = [vec![1 << 3, 1], field(2, &dims)].concat();
        [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
    };
    let graph = [
        field(1, &node.concat()),
        field(2, b"g"),
        field(11, &whole("x")),
        field(12, &whole("z")),
    ];
    let model = [
        vec![1 << 3, 8],
        field(7, &graph.concat()),
        field(8, &[field(1, b""), vec![2 << 3, 17]].concat()),
    ];
    folder.write("m.onnx", &model.concat());
    let output = command(folder.path())
        .args("encode --encoder m.onnx --input x.npy --output e.npy".split(' '))
        .env("REPSCOPE_BATCH_SECONDS", "1")
        .output()
        .expect("the command starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("longer than 1 seconds") && stderr.contains("REPSCOPE_BATCH_SECONDS"),
        "{stderr}"
    );
}
