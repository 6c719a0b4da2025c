// SPDX-License-Identifier: MIT
//! The input of a graph, and what is put into it.

use super::fit::Fit;
use super::normalize::Normalization;
use super::token_ids;
use crate::error::{Result, bail};
use crate::runtime::{Data, Elem, Port, Value};

/// The input that takes the rows: the one that was named, the only one, or `input_ids` among those of a text model.
pub(super) fn only_input<'a>(inputs: &'a [Port], name: Option<&str>) -> Result<&'a Port> {
    let there = || inputs.iter().map(Port::to_string).collect::<Vec<_>>().join(", ");
    let input = match name {
        Some(name) => inputs.iter().find(|p| p.name == name),
        None => inputs.iter().find(|p| p.name == "input_ids").or(inputs.first()),
    };
    let Some(input) = input else {
        let name = name.unwrap_or_default();
        bail!("the model has no input named {name}; it has {}", there());
    };
    let goes_with = |other: &&Port| input.elem != Elem::I64 || !token_ids::is_beside(other);
    let others: Vec<&Port> = inputs
        .iter()
        .filter(|p| p.name != input.name)
        .filter(goes_with)
        .collect();
    if !others.is_empty() {
        bail!(
            "the model has {} inputs ({}), but rows can be fed to one, and nothing is known to feed to {}; export a model \
             that takes the rows alone",
            inputs.len(),
            there(),
            others
                .iter()
                .map(|port| port.name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        );
    }
    match &input.elem {
        Elem::F32 | Elem::U8 | Elem::I64 => Ok(input),
        Elem::Other(kind) => bail!("the input {input} takes {kind}, which cannot be fed"),
    }
}

/// The rows as the graph takes them; where they are less than `fed`, the last one again and again.
pub(super) fn feed(fit: &Fit, normal: &Normalization, stored: &[f32], size: usize, fed: usize) -> Result<Value> {
    // A graph may state a batch that no memory holds.
    let mut values: Vec<f32> = Vec::new();
    let room = fed.checked_mul(size).filter(|&n| values.try_reserve_exact(n).is_ok());
    let Some(room) = room else {
        bail!("{fed} rows of {size} values at once need more memory than there is");
    };
    for row in stored.chunks_exact(size) {
        let start = values.len();
        fit.lay(row, &mut values);
        normal.apply(&mut values[start..]);
    }
    while values.len() < room {
        values.extend_from_within(values.len() - size..);
    }
    let shape = std::iter::once(fed).chain(fit.shape.iter().copied()).collect();
    Ok(Value {
        shape,
        data: Data::F32(values),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Options;

    #[test]
    fn the_last_row_fills_up_a_batch_and_a_batch_beyond_memory_is_an_error() {
        let port = Port {
            name: "x".to_string(),
            elem: Elem::F32,
            dims: vec![None, Some(2)],
        };
        let fit = Fit::find(&[2], &port, None).unwrap();
        let normal = fit.normalization(&port, &Options::default()).unwrap();
        let fed = feed(&fit, &normal, &[1.0, 2.0, 3.0, 4.0], 2, 4).unwrap();
        assert_eq!(fed.shape, [4, 2]);
        assert_eq!(fed.data, Data::F32(vec![1.0, 2.0, 3.0, 4.0, 3.0, 4.0, 3.0, 4.0]));
        for beyond in [usize::MAX, usize::MAX / 8] {
            assert!(feed(&fit, &normal, &[1.0, 2.0], 2, beyond).is_err());
        }
    }

    #[test]
    fn a_graph_of_several_inputs_is_refused_unless_the_others_go_with_token_ids() {
        let port = |name: &str, elem| Port {
            name: name.to_string(),
            elem,
            dims: vec![None, Some(2)],
        };
        let two = [port("x", Elem::F32), port("attention_mask", Elem::I64)];
        let said = only_input(&two, None).unwrap_err().to_string();
        assert!(
            said.contains("2 inputs") && said.contains("attention_mask [?, 2]"),
            "{said}"
        );
        let tokens = [port("attention_mask", Elem::I64), port("input_ids", Elem::I64)];
        assert_eq!(only_input(&tokens, None).unwrap().name, "input_ids");
        let more = [port("input_ids", Elem::I64), port("pixel_values", Elem::F32)];
        let said = only_input(&more, None).unwrap_err().to_string();
        assert!(said.contains("nothing is known to feed to pixel_values"), "{said}");
        assert!(only_input(&[port("x", Elem::U8)], Some("x")).is_ok());
    }
}
