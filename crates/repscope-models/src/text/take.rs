// SPDX-License-Identifier: MIT
//! Which output of a model is taken, and what is made of it.

use super::body::Body;
use super::floats;
use super::options::Pooling;
use super::steps::{Projection, pool};
use super::tokens::Row;
use crate::architectures::text::Family;
use crate::error::{Result, bail, wrong};
use crate::runtime::Value;

/// Outputs that are meant as the embedding of a text.
const EMBEDDINGS: [&str; 2] = ["sentence_embedding", "text_embeds"];

/// What becomes the vector of a text.
pub(super) enum Take {
    /// The vectors of its tokens, pooled.
    Tokens(String, Pooling),
    /// The vectors of its tokens, by a learned query.
    Aligner(String, Projection),
    /// A vector that the model gives itself.
    Vector(String),
}

/// The outputs that a graph has for texts.
pub(super) struct Outputs {
    /// With a vector for each token: [rows, tokens, width].
    pub(super) tokens: Option<String>,
    /// With one vector for each text: [rows, width].
    pub(super) vectors: Vec<String>,
}

impl Outputs {
    /// Runs two texts of two tokens and looks at the shapes.
    pub(super) fn find(body: &mut Body, probe: &Row) -> Result<Outputs> {
        let names = body.outputs();
        let given = body.run(&[probe, probe], &names)?;
        let mut outputs = Outputs {
            tokens: None,
            vectors: Vec::new(),
        };
        for (name, made) in names.into_iter().zip(given) {
            match made.value.shape[..] {
                [rows, _] if rows == made.fed => outputs.vectors.push(name),
                [rows, _, _] if rows == made.fed && outputs.tokens.is_none() => outputs.tokens = Some(name),
                _ => {}
            }
        }
        Ok(outputs)
    }

    fn need_tokens(&self, why: &str) -> Result<String> {
        self.tokens.clone().ok_or_else(|| {
            wrong!(
                "{why} needs a vector for each token, but the model has none; its outputs give {}",
                self.vectors.join(", ")
            )
        })
    }

    /// Chooses as requested (`chosen`, or `said` by the folder), else by convention. Gives a note where the
    /// choice is ours. `is_graph` says that the model is an exported one.
    pub(super) fn choose(
        &self,
        chosen: Option<Pooling>,
        said: Option<Pooling>,
        family: Option<Family>,
        is_graph: bool,
    ) -> Result<(Take, Option<String>)> {
        let own = |names: &[&str]| self.vectors.iter().find(|v| names.contains(&v.as_str())).cloned();
        let is_clip = family == Some(Family::Clip);
        match chosen.or(said) {
            Some(Pooling::Pooler) if is_clip && !is_graph => {
                Ok((Take::Tokens(self.need_tokens("pooling")?, Pooling::Pooler), None))
            }
            Some(Pooling::Pooler) => {
                let only = || (self.vectors.len() == 1).then(|| self.vectors[0].clone());
                let vector = own(&["pooler_output"])
                    .or_else(only)
                    .ok_or_else(|| wrong!("the model has no pooled output; choose another pooling, such as mean"))?;
                Ok((Take::Vector(vector), None))
            }
            Some(pooling) => Ok((
                Take::Tokens(self.need_tokens(&format!("pooling by {pooling}"))?, pooling),
                None,
            )),
            None => Ok(self.usual(is_clip, own(&EMBEDDINGS))?),
        }
    }

    fn usual(&self, is_clip: bool, embedding: Option<String>) -> Result<(Take, Option<String>)> {
        if let Some(embedding) = embedding {
            let note = format!("the output {embedding} of the model is taken");
            return Ok((Take::Vector(embedding), Some(note)));
        }
        match (&self.tokens, &self.vectors[..]) {
            (Some(tokens), _) if is_clip => Ok((Take::Tokens(tokens.clone(), Pooling::Eos), None)),
            (Some(tokens), _) => {
                let note = "nothing says how tokens become one vector, so their mean is taken; a pooling can be chosen";
                Ok((Take::Tokens(tokens.clone(), Pooling::Mean), Some(note.to_string())))
            }
            (None, [vector, others @ ..]) => {
                let mut note = format!("the output {vector} of the model is taken");
                if !others.is_empty() {
                    note += &format!(", not {}", others.join(", "));
                }
                Ok((Take::Vector(vector.clone()), Some(note)))
            }
            (None, []) => {
                bail!("no output of the model has a vector for each text or token, so it gives no embeddings")
            }
        }
    }

    /// The vectors of tokens for a learned query.
    pub(super) fn for_aligner(&self, chosen: Option<Pooling>, aligner: Projection) -> Result<Take> {
        if let Some(pooling) = chosen {
            bail!(
                "pooling by {pooling} does not go with the aligner of the checkpoint, which attends to all tokens; leave it \
                 out"
            );
        }
        Ok(Take::Aligner(
            self.need_tokens("the aligner of the checkpoint")?,
            aligner,
        ))
    }
}

impl Take {
    pub(super) fn output(&self) -> &str {
        match self {
            Take::Tokens(name, _) | Take::Aligner(name, _) | Take::Vector(name) => name,
        }
    }

    /// A vector for each of the rows that were fed, and their width.
    pub(super) fn vectors(
        &mut self,
        value: Value,
        fed: usize,
        texts: &[&Row],
        end: Option<i64>,
    ) -> Result<(Vec<f32>, usize)> {
        let name = self.output().to_string();
        let (shape, values) = floats(value, &name)?;
        let wrong = || wrong!("the output {name} has the shape {shape:?} for {fed} texts, not one embedding per text");
        match (self, &shape[..]) {
            (Take::Vector(_), &[rows, width]) if rows == fed && width > 0 => Ok((values, width)),
            (Take::Tokens(_, pooling), &[rows, tokens, width]) if rows == fed && width > 0 => {
                let mut pooled = Vec::with_capacity(fed * width);
                for row in 0..fed {
                    // Where there are more rows than texts, they are the last one again.
                    let text = texts[row.min(texts.len() - 1)];
                    let hidden = &values[row * tokens * width..(row + 1) * tokens * width];
                    if text.ids.len() > tokens {
                        return Err(wrong());
                    }
                    pooled.extend(pool(hidden, width, text, *pooling, end)?);
                }
                Ok((pooled, width))
            }
            (Take::Aligner(_, aligner), &[rows, tokens, _]) if rows == fed => {
                if let Some(short) = texts.iter().find(|text| text.ids.len() < tokens) {
                    bail!(
                        "the model takes exactly {tokens} tokens, and an aligner must not see the padding of a text of {}; \
                         export the model for any number of tokens",
                        short.ids.len()
                    );
                }
                aligner.run(Value::floats(shape, values))
            }
            _ => Err(wrong()),
        }
    }
}
