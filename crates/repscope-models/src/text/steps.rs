// SPDX-License-Identifier: MIT
//! What is done to the vector of a text after the model.

use super::options::Pooling;
use super::tokens::Row;
use crate::architectures::text::Head;
use crate::error::{Result, bail, wrong};
use crate::runtime::{Data, ModelBytes, Runtime, Session, Value, load};

/// One step.
pub(super) enum Step {
    /// To length one.
    Normalize,
    /// Linear layers, or a query over tokens.
    Head(Projection),
}

/// A small graph with one input and one output.
pub(super) struct Projection {
    session: Box<dyn Session>,
    /// The width it takes.
    width: usize,
}

impl Projection {
    pub(super) fn load(head: Head, runtime: &Runtime, threads: usize) -> Result<Projection> {
        Ok(Projection {
            session: load(ModelBytes::Memory(head.onnx), runtime, threads)?,
            width: head.width,
        })
    }

    /// Feeds [rows, width], or [rows, tokens, width]. Gives a vector for each row.
    pub(super) fn run(&mut self, value: Value) -> Result<(Vec<f32>, usize)> {
        let found = value.shape.last().copied().unwrap_or(0);
        if found != self.width {
            bail!(
                "the model gives vectors of {found} numbers, but the projection takes {}; it was trained with another model",
                self.width
            );
        }
        let rows = value.shape.first().copied().unwrap_or(0);
        let out = self
            .session
            .run(vec![("input".to_string(), value)], &["embedding".to_string()])?;
        match out.into_iter().next() {
            Some(Value {
                shape,
                data: Data::F32(values),
            }) if shape.len() == 2 && shape[0] == rows => Ok((values, shape[1])),
            _ => bail!("the projection gave no vectors"),
        }
    }
}

impl Step {
    /// Takes and gives vectors of so many rows, which are at least two.
    pub(super) fn run(&mut self, mut vectors: Vec<f32>, width: usize) -> Result<(Vec<f32>, usize)> {
        match self {
            Step::Normalize => {
                normalize(&mut vectors, width);
                Ok((vectors, width))
            }
            Step::Head(projection) => projection.run(Value::floats(vec![vectors.len() / width, width], vectors)),
        }
    }
}

/// Pools the vectors of one text: `hidden` has `width` numbers for each token, and those behind the text's own are not
/// looked at. `end` is the token that ends a text, where it is known.
pub(super) fn pool(hidden: &[f32], width: usize, row: &Row, pooling: Pooling, end: Option<i64>) -> Result<Vec<f32>> {
    let count = row.ids.len();
    let own = &hidden[..count * width];
    let token = |at: usize| own[at * width..(at + 1) * width].to_vec();
    Ok(match pooling {
        Pooling::Mean => {
            let mut sums = vec![0.0_f64; width];
            for vector in own.chunks_exact(width) {
                sums.iter_mut().zip(vector).for_each(|(sum, &x)| *sum += f64::from(x));
            }
            sums.iter().map(|sum| (sum / count as f64) as f32).collect()
        }
        Pooling::Max => {
            let mut largest = token(0);
            for vector in own.chunks_exact(width) {
                largest.iter_mut().zip(vector).for_each(|(l, &x)| *l = l.max(x));
            }
            largest
        }
        Pooling::Cls => token(0),
        Pooling::Last => token(count - 1),
        Pooling::Eos | Pooling::Pooler => token(end_of(&row.ids, end)?),
    })
}

/// Where a text ends. CLIPs of old name 2, which is not the token that they learned; in those it is the largest number.
fn end_of(ids: &[i64], end: Option<i64>) -> Result<usize> {
    let Some(end) = end else {
        bail!(
            "which token ends a text is not known without a config.json that says eos_token_id; choose another pooling"
        );
    };
    let end = if end == 2 {
        ids.iter().copied().max().unwrap_or(end)
    } else {
        end
    };
    ids.iter().position(|&id| id == end).ok_or_else(|| {
        wrong!(
            "a text does not hold the token {end} that ends a text by config.json; tokenizer.json and config.json are not \
             of one model"
        )
    })
}

/// Brings vectors to length one: x / max(‖x‖, 1e-12), as PyTorch does.
pub(super) fn normalize(vectors: &mut [f32], width: usize) {
    for vector in vectors.chunks_exact_mut(width) {
        let square: f64 = vector.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let length = square.sqrt().max(1e-12);
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(ids: &[i64]) -> Row {
        Row {
            ids: ids.to_vec(),
            types: vec![0; ids.len()],
            is_cut: false,
        }
    }

    #[test]
    fn only_the_tokens_of_the_text_count() {
        // Two tokens of width 2, then two that fill up.
        let hidden = [1.0, -2.0, 3.0, -4.0, 99.0, 99.0, 99.0, 99.0];
        let of = |pooling| pool(&hidden, 2, &row(&[7, 8]), pooling, None).unwrap();
        assert_eq!(of(Pooling::Mean), [2.0, -3.0]);
        assert_eq!(of(Pooling::Max), [3.0, -2.0]);
        assert_eq!(of(Pooling::Cls), [1.0, -2.0]);
        assert_eq!(of(Pooling::Last), [3.0, -4.0]);
    }

    #[test]
    fn the_end_is_the_first_such_token_and_for_old_clips_the_largest_number() {
        assert_eq!(end_of(&[5, 9, 7, 9], Some(9)).unwrap(), 1);
        assert_eq!(end_of(&[5, 2, 7, 3], Some(2)).unwrap(), 2);
        assert!(end_of(&[5, 6], Some(9)).unwrap_err().to_string().contains("token 9"));
        assert!(end_of(&[5, 6], None).is_err());
    }

    #[test]
    fn a_vector_of_zeros_stays_and_others_have_length_one() {
        let mut vectors = [3.0, 4.0, 0.0, 0.0];
        normalize(&mut vectors, 2);
        assert_eq!(vectors, [0.6, 0.8, 0.0, 0.0]);
    }
}
