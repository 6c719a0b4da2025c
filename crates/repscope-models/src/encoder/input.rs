// SPDX-License-Identifier: MIT
//! The input of a graph, and what is put into it.

use super::fit::{Fit, Normalization};
use super::options::Options;
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
    Ok(Value::floats(shape, values))
}

/// Inputs that follow from the tokens.
const BESIDE: [&str; 3] = ["attention_mask", "token_type_ids", "position_ids"];

/// Rows are read as `f32`, which holds integers below this exactly.
const LARGEST: f32 = (1 << f32::MANTISSA_DIGITS) as f32;

/// Whether an input follows from the tokens.
pub(super) fn is_beside(port: &Port) -> bool {
    port.elem == Elem::I64 && BESIDE.contains(&port.name.as_str())
}

/// Options that do not go with the input.
pub(super) fn check(input: &Port, inputs: &[Port], options: &Options) -> Result<()> {
    let has_scale = options.scale.is_some() || !options.mean.is_empty() || !options.std.is_empty();
    if input.elem == Elem::I64 && has_scale {
        bail!("the input {input} takes integers, such as token ids; leave out scale, mean and std");
    }
    let has_mask = inputs.iter().any(|port| port.name == "attention_mask");
    match options.pad {
        Some(pad) if input.elem != Elem::I64 || !has_mask => bail!(
            "the padding token {pad} was given, but the model takes no attention_mask beside its tokens; leave it \
             out"
        ),
        _ => Ok(()),
    }
}

/// The tokens and what follows from them; `first` is the number of the first row.
pub(super) fn inputs(
    value: Value,
    input: &Port,
    inputs: &[Port],
    pad: Option<i64>,
    first: usize,
) -> Result<Vec<(String, Value)>> {
    let Value { shape, data } = value;
    let ids = match data {
        Data::F32(values) => whole(&values, &shape, input, first)?,
        Data::I64(values) => values,
    };
    let tokens = shape.last().copied().unwrap_or(1).max(1);
    let made = |port: &Port| {
        let values = match port.name.as_str() {
            name if name == input.name => ids.clone(),
            "attention_mask" => ids.iter().map(|&id| i64::from(Some(id) != pad)).collect(),
            "position_ids" => (0..ids.len()).map(|at| (at % tokens) as i64).collect(),
            _ => vec![0; ids.len()],
        };
        (port.name.clone(), Value::ints(shape.clone(), values))
    };
    let follows = |port: &&Port| port.name == input.name || is_beside(port);
    Ok(inputs.iter().filter(follows).map(made).collect())
}

pub(super) fn whole(values: &[f32], shape: &[usize], input: &Port, first: usize) -> Result<Vec<i64>> {
    let size = (values.len() / shape.first().copied().unwrap_or(1).max(1)).max(1);
    let is_whole = |x: f32| x.fract() == 0.0 && x.abs() < LARGEST;
    match values.iter().position(|&x| !is_whole(x)) {
        None => Ok(values.iter().map(|&x| x as i64).collect()),
        Some(at) => bail!(
            "the input {input} takes integers below {LARGEST}, but row {} (counted from 0) holds {} at place {}; give \
             an array of token ids",
            first + at / size,
            values[at],
            at % size
        ),
    }
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

    fn port(name: &str) -> Port {
        Port {
            name: name.to_string(),
            elem: Elem::I64,
            dims: vec![None, None],
        }
    }

    fn ids(values: &[f32]) -> Value {
        Value {
            shape: vec![2, values.len() / 2],
            data: Data::F32(values.to_vec()),
        }
    }

    #[test]
    fn masks_kinds_and_positions_follow_from_the_tokens() {
        let ports = [
            port("attention_mask"),
            port("input_ids"),
            port("position_ids"),
            port("token_type_ids"),
        ];
        let fed = inputs(ids(&[5.0, 6.0, 7.0, 8.0, 0.0, 0.0]), &ports[1], &ports, Some(0), 0).unwrap();
        let data = |at: usize| fed[at].1.data.clone();
        assert_eq!(data(0), Data::I64(vec![1, 1, 1, 1, 0, 0]));
        assert_eq!(data(1), Data::I64(vec![5, 6, 7, 8, 0, 0]));
        assert_eq!(data(2), Data::I64(vec![0, 1, 2, 0, 1, 2]));
        assert_eq!(data(3), Data::I64(vec![0; 6]));
        let all = inputs(ids(&[5.0, 6.0, 0.0, 0.0]), &ports[1], &ports, None, 0).unwrap();
        assert_eq!(all[0].1.data, Data::I64(vec![1; 4]));
    }

    #[test]
    fn the_first_value_that_is_no_token_is_named() {
        let ports = [port("input_ids")];
        for wrong in [0.5, f32::NAN, f32::INFINITY, 16_777_216.0] {
            let said = inputs(ids(&[1.0, 2.0, 3.0, wrong]), &ports[0], &ports, None, 10);
            let said = said.unwrap_err().to_string();
            assert!(
                said.contains("row 11 (counted from 0)") && said.contains("at place 1"),
                "{said}"
            );
        }
    }

    #[test]
    fn options_for_numbers_do_not_go_with_tokens_nor_fillers_without_a_mask() {
        let scaled = Options {
            scale: Some(255.0),
            ..Options::default()
        };
        assert!(check(&port("input_ids"), &[port("input_ids")], &scaled).is_err());
        let padded = Options {
            pad: Some(0),
            ..Options::default()
        };
        assert!(check(&port("input_ids"), &[port("input_ids")], &padded).is_err());
        let both = [port("input_ids"), port("attention_mask")];
        assert!(check(&both[0], &both, &padded).is_ok());
    }
}
