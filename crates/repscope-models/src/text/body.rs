// SPDX-License-Identifier: MIT
//! The model itself: tokens in, vectors of tokens or one vector out.

use super::tokens::Row;
use crate::architectures::text::{Config, Family};
use crate::error::{Result, bail, wrong};
use crate::runtime::{Elem, Session, Value};

/// A graph that takes tokens.
pub(super) struct Body {
    session: Box<dyn Session>,
    config: Option<Config>,
    /// How many tokens it knows, where that is known.
    pub(super) vocabulary: Option<usize>,
    /// Padding token of a graph with a fixed length.
    pad: i64,
    /// The number of rows that the graph takes, where it takes one only.
    pub(super) rows: Option<usize>,
    /// The number of tokens that the graph takes, where it takes one only.
    pub(super) tokens: Option<usize>,
}

/// What a graph gave for some texts of one length.
pub(super) struct Vectors {
    pub(super) value: Value,
    /// How many texts were fed, at least as many as there are.
    pub(super) fed: usize,
}

impl Body {
    pub(super) fn new(session: Box<dyn Session>, config: Option<Config>, pad: i64) -> Result<Body> {
        for port in session.inputs() {
            if fed(&port.name).is_none() || (port.elem != Elem::I64 && port.name != "causal_mask") {
                bail!(
                    "the model has an input {port}, which is not supported; a text model takes integers as input_ids, \
                     attention_mask, token_type_ids and position_ids"
                );
            }
        }
        let ids = session.inputs().iter().find(|port| port.name == "input_ids");
        let Some(ids) = ids else {
            bail!("the model has no input named input_ids, so it takes no texts");
        };
        let size = |at: usize| ids.dims.get(at).copied().flatten();
        let (rows, tokens) = (size(0), size(1));
        Ok(Body {
            session,
            config,
            vocabulary: None,
            pad,
            rows,
            tokens,
        })
    }

    pub(super) fn engine(&self) -> String {
        self.session.engine()
    }

    /// The names of all outputs.
    pub(super) fn outputs(&self) -> Vec<String> {
        self.session.outputs().iter().map(|port| port.name.clone()).collect()
    }

    /// Feeds texts that have the same number of tokens, or any number where the graph takes one length only.
    pub(super) fn run(&mut self, texts: &[&Row], outputs: &[String]) -> Result<Vec<Vectors>> {
        let tokens = self
            .tokens
            .unwrap_or_else(|| texts.first().map_or(0, |row| row.ids.len()));
        // A product with a single row sums in another order than one with several: never less than two.
        let fed_rows = self.rows.unwrap_or(texts.len().max(2));
        let feed = Feed {
            texts,
            rows: fed_rows,
            tokens,
            pad: self.pad,
            config: self.config.as_ref(),
        };
        let names: Vec<String> = self.session.inputs().iter().map(|port| port.name.clone()).collect();
        if tokens > texts.iter().map(|row| row.ids.len()).min().unwrap_or(0)
            && !names.iter().any(|n| n == "attention_mask")
        {
            bail!(
                "the model takes exactly {tokens} tokens and no attention_mask, so it cannot know where a shorter text \
                 ends; export it with an attention_mask or for any number of tokens"
            );
        }
        let inputs = names.into_iter().map(|name| {
            let value = feed.value(&name)?;
            Ok((name, value))
        });
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let values = self.session.run(inputs, outputs)?;
        let values = values.into_iter();
        Ok(values.map(|value| Vectors { value, fed: fed_rows }).collect())
    }
}

/// What the inputs of a graph are made of.
struct Feed<'a> {
    texts: &'a [&'a Row],
    rows: usize,
    tokens: usize,
    pad: i64,
    config: Option<&'a Config>,
}

/// How an input is made, by its name.
fn fed(name: &str) -> Option<fn(&Feed, &Row) -> Vec<i64>> {
    Some(match name {
        "input_ids" => |_, row| row.ids.clone(),
        "attention_mask" => |_, row| vec![1; row.ids.len()],
        "token_type_ids" => |_, row| row.types.clone(),
        "position_ids" => |feed, row| match feed.config {
            Some(config) if matches!(config.family, Family::Roberta | Family::Mpnet) => {
                numbered_after(&row.ids, config.pad)
            }
            _ => (0..feed.tokens as i64).collect(),
        },
        // Those that all texts share.
        "relative_buckets" | "causal_mask" | "encoder_ids" | "encoder_buckets" => |_, _| Vec::new(),
        _ => return None,
    })
}

impl Feed<'_> {
    fn value(&self, name: &str) -> Result<Value> {
        let pairs = vec![self.tokens, self.tokens];
        match (name, self.config) {
            ("causal_mask", _) => return Ok(Value::floats(pairs, causal_mask(self.tokens))),
            ("relative_buckets", Some(config)) => {
                let buckets = match config.language {
                    Some(_) => buckets_before(self.tokens, config.buckets, config.distance),
                    None => buckets(self.tokens, config.buckets, config.distance),
                };
                return Ok(Value::ints(pairs, buckets));
            }
            // The encoder of a language model reads the empty text: its end alone, at no distance from itself.
            ("encoder_ids", Some(config)) => return Ok(Value::ints(vec![self.rows, 1], vec![config.end; self.rows])),
            ("encoder_buckets", Some(_)) => return Ok(Value::ints(vec![1, 1], vec![0])),
            _ => {}
        }
        let unknown = || wrong!("the model has an input {name}, which is not supported");
        let make = fed(name).ok_or_else(unknown)?;
        let filler = if name == "input_ids" { self.pad } else { 0 };
        let mut values: Vec<i64> = Vec::new();
        let size = self.rows.checked_mul(self.tokens);
        if size.is_none_or(|n| values.try_reserve_exact(n).is_err()) {
            let (rows, tokens) = (&self.rows, &self.tokens);
            bail!("{rows} texts of {tokens} tokens at once need more memory than there is");
        }
        for row in self.texts {
            let start = values.len();
            values.extend(make(self, row));
            values.resize(start + self.tokens, filler);
        }
        // Where the texts are less than the rows, the last one again.
        while values.len() < self.rows * self.tokens {
            values.extend_from_within(values.len() - self.tokens..);
        }
        Ok(Value::ints(vec![self.rows, self.tokens], values))
    }
}

/// Positions as RoBERTa counts them: from the number after the filling token, which itself is not counted.
pub(super) fn numbered_after(ids: &[i64], pad: i64) -> Vec<i64> {
    let mut last = pad;
    let position = |&id: &i64| {
        if id == pad {
            return pad;
        }
        last += 1;
        last
    };
    ids.iter().map(position).collect()
}

/// What keeps a token from seeing later ones: [tokens, tokens], added to the products of attention.
pub(super) fn causal_mask(tokens: usize) -> Vec<f32> {
    let at = |i: usize| if i % tokens > i / tokens { f32::MIN } else { 0.0 };
    (0..tokens * tokens).map(at).collect()
}

/// The kind of distance from each token to each other, as T5 sorts them: half of the buckets for those before, half for
/// those after; in each half, short distances have a bucket each, and longer ones share buckets that grow with the
/// logarithm, up to `distance`.
pub(super) fn buckets(tokens: usize, buckets: usize, distance: usize) -> Vec<i64> {
    let offset = |i: usize| (i % tokens) as i64 - (i / tokens) as i64;
    let at = |i: usize| bucket(offset(i), buckets as i64, distance as i64);
    (0..tokens * tokens).map(at).collect()
}

/// The same where no token sees a later one: all buckets are for those before.
pub(super) fn buckets_before(tokens: usize, buckets: usize, distance: usize) -> Vec<i64> {
    let before = |i: usize| (i / tokens).saturating_sub(i % tokens) as i64;
    let at = |i: usize| on_one_side(before(i), buckets as i64, distance as i64);
    (0..tokens * tokens).map(at).collect()
}

fn bucket(offset: i64, buckets: i64, distance: i64) -> i64 {
    let half = buckets / 2;
    let side = if offset > 0 { half } else { 0 };
    side + on_one_side(offset.abs(), half, distance)
}

/// The bucket of a distance in one direction.
fn on_one_side(far: i64, buckets: i64, distance: i64) -> i64 {
    let exact = buckets / 2;
    if far < exact.max(1) {
        return far.min(buckets - 1).max(0);
    }
    // In f32, as transformers has it: a limit of a bucket may fall on either side.
    let share = (far as f32 / exact.max(1) as f32).ln() / (distance as f64 / exact.max(1) as f64).ln() as f32;
    let large = exact.saturating_add((share * (buckets - exact) as f32) as i64);
    large.clamp(0, (buckets - 1).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filling_token_has_its_own_position_and_is_not_counted() {
        assert_eq!(numbered_after(&[0, 9, 1, 8, 2], 1), [2, 3, 1, 4, 5]);
    }

    #[test]
    fn no_token_sees_a_later_one() {
        let m = f32::MIN;
        assert_eq!(causal_mask(3), [0.0, m, m, 0.0, 0.0, m, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn distances_fall_into_the_buckets_of_transformers() {
        // `T5Attention._relative_position_bucket` of transformers 5.22 for 32 buckets up to 128: where each begins.
        let begins = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91];
        for (kind, &first) in begins.iter().enumerate() {
            let next = begins.get(kind + 1).copied().unwrap_or(1000);
            for far in first..next {
                assert_eq!(bucket(-far, 32, 128), kind as i64, "{far} before");
                if far > 0 {
                    assert_eq!(bucket(far, 32, 128), 16 + kind as i64, "{far} after");
                }
            }
        }
    }

    #[test]
    fn buckets_that_make_no_sense_stay_in_the_table() {
        for (count, distance) in [(1, 1), (2, 1), (3, 128), (4, 1)] {
            for offset in -300..300 {
                let kind = bucket(offset, count, distance);
                assert!((0..count.max(1)).contains(&kind), "{offset} {count} {distance}: {kind}");
            }
        }
    }
}
