// SPDX-License-Identifier: MIT
//! What is written can be read, and damaged files are errors.

use repscope_models::graph::{Attribute, Dim, Element, GraphBuilder, GraphInfo, describe};
use repscope_models::runtime::{ModelBytes, Port, Runtime, load};

fn small() -> Vec<u8> {
    let mut graph = GraphBuilder::new("small");
    let dims = [Dim::named("batch"), Dim::Fixed(2)];
    let x = graph.input("x", Element::Float, &dims);
    let weight = graph.weight("w", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let product = graph.node("MatMul", &[&x, &weight], &[]);
    let sizes = graph.ints("sizes", &[2], &[-1, 3]).unwrap();
    let same = graph.node("Reshape", &[&product, &sizes], &[("allowzero", Attribute::Int(0))]);
    graph.output(&same, "y", Element::Float, &[Dim::named("batch"), Dim::Fixed(3)]);
    graph.finish().unwrap()
}

#[test]
fn a_written_graph_has_the_inputs_and_outputs_that_were_declared() {
    let session = load(ModelBytes::Memory(small()), &Runtime::Rten, 1).unwrap();
    let shown = |ports: &[Port]| ports.iter().map(Port::to_string).collect::<Vec<_>>();
    assert_eq!(shown(session.inputs()), ["x [?, 2]"]);
    assert_eq!(shown(session.outputs()), ["y [?, 3]"]);
    assert_eq!(describe(&small()).unwrap(), GraphInfo::default());
}

#[test]
fn a_file_cut_anywhere_is_an_error_or_complete() {
    let bytes = small();
    let graph_end = bytes.len() - 6; // The version of the operators comes last: two heads, an empty name, a number.
    for length in 0..graph_end {
        assert!(
            describe(&bytes[..length]).is_err(),
            "cut to {length} of {}",
            bytes.len()
        );
    }
}

#[test]
fn a_file_with_changed_bytes_never_panics() {
    let bytes = small();
    for at in 0..bytes.len() {
        for value in [0x00, 0x01, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let _ = describe(&changed);
        }
    }
}

#[test]
fn something_else_than_a_model_is_an_error() {
    for bytes in [
        &b""[..],
        b"\x80\x02}q\x00.",
        b"PK\x03\x04",
        b"<html></html>",
        b"\x08\x08",
    ] {
        let error = describe(bytes).unwrap_err().to_string();
        assert!(error.contains("damaged or no ONNX file"), "{error}");
    }
}

/// A field of a message that holds bytes, with its length in three bytes.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut out = vec![number << 3 | 2];
    out.extend([
        length as u8 & 0x7f | 0x80,
        (length >> 7) as u8 & 0x7f | 0x80,
        (length >> 14) as u8,
    ]);
    out.extend(content);
    out
}

#[test]
fn graphs_within_graphs_without_end_are_an_error() {
    // A graph with a node with an attribute with a graph, and so on.
    let mut graph = Vec::new();
    for _ in 0..100 {
        graph = field(1, &field(5, &field(6, &graph)));
    }
    let error = describe(&field(7, &graph)).unwrap_err().to_string();
    assert!(error.contains("deeper than 32 levels"), "{error}");
}

/// A tensor whose numbers are in this file.
fn stored_in(file: &str) -> Vec<u8> {
    let entry = field(13, &[field(1, b"location"), field(2, file.as_bytes())].concat());
    [field(8, b"w"), entry, vec![14 << 3, 1]].concat()
}

#[test]
fn files_that_hold_weights_are_found_in_graphs_branches_and_functions() {
    let node = |attribute: Vec<u8>| field(1, &field(5, &attribute));
    let inner = node(field(5, &stored_in("branch.data")));
    let outer = [field(5, &stored_in("net.data")), node(field(6, &inner))].concat();
    let function = field(7, &field(5, &field(10, &stored_in("function.data"))));
    let mut model = field(7, &outer);
    model.extend([0xca, 0x01, function.len() as u8]); // Field 25 does not fit into one byte.
    model.extend(function);
    let found = describe(&model).unwrap().external_files;
    assert!(
        found.iter().eq(["branch.data", "function.data", "net.data"]),
        "{found:?}"
    );
}

#[test]
fn metadata_are_read_in_the_order_of_the_file() {
    let mut model = field(7, &[]);
    for (key, value) in [("b", "1"), ("a", "2")] {
        model.extend(field(
            14,
            &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat(),
        ));
    }
    let entry = |key: &str, value: &str| (key.to_string(), value.to_string());
    assert_eq!(describe(&model).unwrap().metadata, [entry("b", "1"), entry("a", "2")]);
}

#[test]
fn weights_that_do_not_fill_their_shape_are_an_error_with_both() {
    let error = GraphBuilder::new("g")
        .weight("w", &[2, 3], &[1.0; 5])
        .unwrap_err()
        .to_string();
    assert_eq!(error, "`w` has shape [2, 3] and 5 numbers");
}
