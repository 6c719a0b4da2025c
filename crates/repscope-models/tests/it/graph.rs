// SPDX-License-Identifier: MIT
//! What is written can be read, and damaged files are errors.

use repscope_models::graph::{Attribute, Dim, Element, GraphBuilder, PortInfo, describe};

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
fn a_written_graph_is_described_as_it_was_written() {
    let info = describe(&small()).unwrap();
    assert_eq!(
        (info.name.as_str(), info.producer.as_str(), info.opset),
        ("small", "repscope", Some(17))
    );
    let port = |name: &str, width: usize| PortInfo {
        name: name.to_string(),
        element: Some(Element::Float),
        dims: Some(vec![Dim::named("batch"), Dim::Fixed(width)]),
    };
    assert_eq!((info.inputs, info.outputs), (vec![port("x", 2)], vec![port("y", 3)]));
    assert_eq!(info.operators, ["Identity", "MatMul", "Reshape"]);
    assert_eq!((info.weights, info.external_files.len()), (2, 0));
}

#[test]
fn a_port_is_shown_with_type_and_sizes() {
    assert_eq!(
        describe(&small()).unwrap().inputs[0].to_string(),
        "x float32 [batch, 2]"
    );
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

#[test]
fn operators_in_branches_and_functions_and_of_other_domains_are_listed() {
    let inner = field(1, &field(4, b"Sin"));
    let outer = field(1, &[field(4, b"If"), field(5, &field(6, &inner))].concat());
    let foreign = field(1, &[field(4, b"Gelu"), field(7, b"com.microsoft")].concat());
    let function = field(7, &field(4, b"Cos"));
    let mut model = field(7, &[outer, foreign].concat());
    model.extend([0xca, 0x01, function.len() as u8]); // Field 25 does not fit into one byte.
    model.extend(function);
    assert_eq!(
        describe(&model).unwrap().operators,
        ["Cos", "If", "Sin", "com.microsoft.Gelu"]
    );
}

#[test]
fn files_that_hold_the_weights_are_named_and_weights_are_no_inputs() {
    let entry = field(13, &[field(1, b"location"), field(2, b"net.onnx.data")].concat());
    let tensor = field(5, &[field(8, b"w"), entry, vec![14 << 3, 1]].concat());
    let ports = [field(11, &field(1, b"x")), field(11, &field(1, b"w"))].concat();
    let info = describe(&field(7, &[ports, tensor].concat())).unwrap();
    assert_eq!(info.external_files, ["net.onnx.data"]);
    let inputs: Vec<String> = info.inputs.iter().map(PortInfo::to_string).collect();
    assert_eq!(inputs, ["x of any shape"]);
}

#[test]
fn weights_that_do_not_fill_their_shape_are_an_error_with_both() {
    let error = GraphBuilder::new("g")
        .weight("w", &[2, 3], &[1.0; 5])
        .unwrap_err()
        .to_string();
    assert_eq!(error, "`w` has shape [2, 3] and 5 numbers");
}
