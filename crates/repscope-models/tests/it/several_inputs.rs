// SPDX-License-Identifier: MIT
//! Inputs beside the rows, inputs of all kinds of numbers, and outputs whose rows are not counted first.

use std::path::PathBuf;
use std::sync::Arc;

use repscope_io::{Array, Data};
use repscope_models::{Beside, Embeddings, Encoder, Fed, Options};

fn graph(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/graphs")
        .join(format!("encoder_{name}.onnx"))
}

fn rows(shape: &[usize]) -> Array {
    let values = (0..shape.iter().product::<usize>())
        .map(|i| i as f32)
        .collect::<Vec<_>>();
    Array::new(shape.to_vec(), "f32", Data::F32(Arc::new(values))).unwrap()
}

fn encode(name: &str, rows: &Array, options: Options) -> Result<Embeddings, repscope_models::Error> {
    Encoder::open(&graph(name), None, options)?.encode_all(rows)
}

#[test]
fn further_inputs_are_arrays_of_as_many_rows_or_numbers() {
    let of = |beside: Vec<Beside>| Options {
        input: Some("x".to_string()),
        beside,
        batch: 2,
        ..Options::default()
    };
    let beside = |name: &str, fed: Fed| Beside {
        name: name.to_string(),
        fed,
    };
    let k = |rows: usize| {
        let values = Data::I64((0..rows as i64).map(|i| 10 * i).collect());
        beside(
            "k",
            Fed::Rows(Array::new(vec![rows, 1], "i64", values).unwrap(), "k".to_string()),
        )
    };
    let made = encode(
        "of_two_inputs",
        &rows(&[5, 3]),
        of(vec![k(5), beside("g", Fed::Number(2.0))]),
    )
    .unwrap();
    // (x + k) · g, where x counts up and k is ten times the row.
    let expected: Vec<f32> = (0..15).map(|i| 2.0 * (i as f32 + 10.0 * (i / 3) as f32)).collect();
    assert_eq!(made.outputs[0].values, expected);

    let said = encode(
        "of_two_inputs",
        &rows(&[5, 3]),
        of(vec![k(4), beside("g", Fed::Number(2.0))]),
    );
    let said = said.unwrap_err().to_string();
    assert!(said.contains("x has 5 rows, but k has 4"), "{said}");
    let said = encode("of_two_inputs", &rows(&[5, 3]), of(vec![k(5)]))
        .unwrap_err()
        .to_string();
    assert!(said.contains("nothing is known to feed to g"), "{said}");
    let said = encode(
        "of_two_inputs",
        &rows(&[5, 3]),
        of(vec![k(5), beside("g", Fed::Number(0.5))]),
    );
    assert!(said.unwrap_err().to_string().contains("takes integers"));
    let said = encode("of_two_inputs", &rows(&[5, 3]), of(vec![beside("q", Fed::Number(0.5))]));
    assert!(said.unwrap_err().to_string().contains("no input named q"));
}

#[test]
fn states_begin_at_zero_which_is_said() {
    let made = encode("with_a_state", &rows(&[5, 3]), Options::default()).unwrap();
    assert_eq!(made.outputs[0].values, (0..15).map(|i| i as f32).collect::<Vec<_>>());
    assert!(
        made.notes
            .iter()
            .any(|note| note.contains("state [?, 3] is taken for a state and begins at zero")),
        "{:?}",
        made.notes
    );
}

#[test]
fn the_axis_of_rows_can_be_another_one() {
    let data = rows(&[5, 2, 3]);
    let second = Options {
        row_axis: 1,
        batch: 3,
        ..Options::default()
    };
    let made = encode("rows_second", &data, second).unwrap();
    assert_eq!(made.outputs[0].shape, [2, 3]);
    assert_eq!(made.outputs[0].values, (0..30).map(|i| i as f32).collect::<Vec<_>>());
    assert!(encode("rows_second", &data, Options::default()).is_err());
}

#[test]
fn inputs_of_all_kinds_of_numbers_are_fed() {
    let expected: Vec<f32> = (0..12).map(|i| -(i as f32)).collect();
    for kind in ["float16", "double", "int32", "int64", "uint8"] {
        let made = encode(&format!("of_{kind}"), &rows(&[4, 3]), Options::default());
        assert_eq!(
            made.unwrap_or_else(|e| panic!("{kind}: {e}")).outputs[0].values,
            expected,
            "{kind}"
        );
    }
}
