// SPDX-License-Identifier: MIT
//! What `config.json` of a Hugging Face model says. Where it says nothing, the defaults of transformers hold.

use std::fmt;

use serde_json::Value;

use crate::architectures::Activation;
use crate::error::{Result, bail};

/// The networks that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Bert,
    DistilBert,
    Roberta,
    Mpnet,
    Clip,
    T5,
    /// A language model.
    Gpt2,
    /// Encoder and decoder as a language model.
    T5Decoder,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Bert => "BERT",
            Family::DistilBert => "DistilBERT",
            Family::Roberta => "RoBERTa",
            Family::Mpnet => "MPNet",
            Family::Clip => "CLIP text encoder",
            Family::T5 => "T5 encoder",
            Family::Gpt2 => "GPT-2",
            Family::T5Decoder => "T5",
        })
    }
}

/// What weights do not determine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    pub(crate) family: Family,
    pub(crate) heads: usize,
    /// How many layers there should be.
    pub(crate) layers: Option<usize>,
    pub(crate) activation: Activation,
    /// Whether the activation of one layer gates another (T5).
    pub(crate) is_gated: bool,
    pub(crate) epsilon: f32,
    /// The padding token; positions are counted from it in RoBERTa and MPNet.
    pub(crate) pad: i64,
    /// The token that ends a text (CLIP).
    pub(crate) end: i64,
    /// Relative positions (T5, MPNet): how many kinds there are, and from where on they are all the same.
    pub(crate) buckets: usize,
    pub(crate) distance: usize,
    /// The width of a head (T5).
    pub(crate) head_width: usize,
    /// What only a language model has.
    pub(crate) language: Option<Language>,
}

/// What is known of a language model beside its network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Language {
    /// The token that stands before the first.
    pub(crate) start: i64,
    /// Whether the last vectors are divided by the root of their width (T5).
    pub(crate) scales_output: bool,
    /// How many layers the decoder should have (T5).
    pub(crate) decoder_layers: Option<usize>,
    /// Whether products of attention are divided by the root of the width of a head, and also by the number of the layer (GPT-2).
    scales_attention: bool,
    scales_by_layer: bool,
}

impl Language {
    /// The factor of the products of attention in a layer.
    pub(crate) fn scale(self, head_width: usize, layer: usize) -> f32 {
        let by_width = if self.scales_attention {
            1.0 / (head_width as f32).sqrt()
        } else {
            1.0
        };
        let by_layer = if self.scales_by_layer {
            1.0 / (layer + 1) as f32
        } else {
            1.0
        };
        by_width * by_layer
    }
}

impl Config {
    /// What a network of this kind is, for people.
    pub(super) fn title(&self, depth: usize, width: usize, vocabulary: usize) -> String {
        let Config { family, heads, .. } = self;
        format!("{family}: {depth} layers, {heads} heads, width {width}, {vocabulary} tokens known")
    }

    /// Reads the configuration; none where `model_type` is not supported.
    pub(crate) fn read(json: &Value) -> Result<Option<Config>> {
        let Some(family) = family(json) else { return Ok(None) };
        // A whole CLIP says about its text tower in a part.
        let json = match json.get("text_config") {
            Some(part) if family == Family::Clip => part,
            _ => json,
        };
        if flag(json, "is_decoder") || flag(json, "add_cross_attention") {
            bail!("config.json is that of a decoder, not of a {family}; export it to ONNX and give that file");
        }
        if let Some(kind) = text(json, "position_embedding_type").filter(|kind| *kind != "absolute") {
            bail!(
                "config.json says position_embedding_type {kind}, which is not supported; export the model to ONNX \
                 and give that file"
            );
        }
        let is_distil = family == Family::DistilBert;
        let keys = match family {
            Family::DistilBert => ["n_heads", "n_layers", "activation", ""],
            Family::T5 => ["num_heads", "num_layers", "", "layer_norm_epsilon"],
            _ => [
                "num_attention_heads",
                "num_hidden_layers",
                "hidden_act",
                "layer_norm_eps",
            ],
        };
        let (heads, epsilon, act) = match family {
            Family::Clip => (8, 1e-5, "quick_gelu"),
            Family::T5 => (8, 1e-6, "relu"),
            _ => (12, 1e-12, "gelu"),
        };
        let (is_gated, act) = match text(json, "feed_forward_proj") {
            Some("gated-gelu") if family == Family::T5 => (true, "gelu_new"),
            Some(said) if family == Family::T5 => match said.strip_prefix("gated-") {
                Some(act) => (true, act),
                None => (false, said),
            },
            _ => (false, text(json, keys[2]).unwrap_or(act)),
        };
        Ok(Some(Config {
            family,
            heads: count(json, keys[0])?.unwrap_or(heads),
            layers: count(json, keys[1])?,
            activation: activation(act)?,
            is_gated,
            epsilon: match json.get(keys[3]).and_then(Value::as_f64) {
                Some(said) if !is_distil => said as f32,
                _ => epsilon,
            },
            // MPNet counts from 1 whatever its configuration says.
            pad: match family {
                Family::Mpnet => 1,
                Family::Roberta => whole(json, "pad_token_id").unwrap_or(1),
                _ => whole(json, "pad_token_id").unwrap_or(0),
            },
            end: whole(json, "eos_token_id").unwrap_or(49407),
            buckets: match family {
                Family::T5 => count(json, "relative_attention_num_buckets")?.unwrap_or(32),
                _ => 32,
            },
            distance: match family {
                Family::T5 => count(json, "relative_attention_max_distance")?.unwrap_or(128),
                _ => 128,
            },
            head_width: count(json, "d_kv")?.unwrap_or(64),
            language: None,
        }))
    }

    /// Reads the configuration of a language model; none where `model_type` is not supported.
    pub(crate) fn language(json: &Value) -> Result<Option<Config>> {
        let is_on = |key: &str, usual: bool| json.get(key).and_then(Value::as_bool).unwrap_or(usual);
        let language = Language {
            start: whole(json, "decoder_start_token_id").unwrap_or(0),
            // Files of later versions say it; earlier ones untied the embeddings of models that do not.
            scales_output: is_on("scale_decoder_outputs", is_on("tie_word_embeddings", true)),
            decoder_layers: count(json, "num_decoder_layers")?,
            scales_attention: is_on("scale_attn_weights", true),
            scales_by_layer: is_on("scale_attn_by_inverse_layer_idx", false),
        };
        match model_type(json) {
            Some("gpt2") if is_on("add_cross_attention", false) => bail!(
                "config.json is that of a GPT-2 that attends to an encoder, which is no language model by itself; give one without"
            ),
            Some("gpt2") => Ok(Some(Config {
                family: Family::Gpt2,
                heads: count(json, "n_head")?.unwrap_or(12),
                layers: count(json, "n_layer")?,
                activation: activation(text(json, "activation_function").unwrap_or("gelu_new"))?,
                is_gated: false,
                epsilon: json.get("layer_norm_epsilon").and_then(Value::as_f64).unwrap_or(1e-5) as f32,
                pad: 0,
                end: whole(json, "eos_token_id").unwrap_or(50256),
                buckets: 32,
                distance: 128,
                head_width: 64,
                language: Some(Language {
                    start: whole(json, "bos_token_id").unwrap_or(50256),
                    ..language
                }),
            })),
            Some("t5" | "mt5") => Ok(Config::read(json)?.map(|config| Config {
                family: Family::T5Decoder,
                end: whole(json, "eos_token_id").unwrap_or(1),
                language: Some(language),
                ..config
            })),
            _ => Ok(None),
        }
    }
}

/// The name that transformers gives to a kind of model.
pub(crate) fn model_type(json: &Value) -> Option<&str> {
    text(json, "model_type")
}

fn family(json: &Value) -> Option<Family> {
    Some(match model_type(json)? {
        "bert" => Family::Bert,
        "distilbert" => Family::DistilBert,
        "roberta" | "xlm-roberta" | "camembert" => Family::Roberta,
        "mpnet" => Family::Mpnet,
        "clip" | "clip_text_model" => Family::Clip,
        "t5" | "mt5" => Family::T5,
        _ => return None,
    })
}

fn activation(name: &str) -> Result<Activation> {
    Ok(match name {
        "gelu" => Activation::Gelu,
        "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => Activation::GeluTanh,
        "quick_gelu" => Activation::QuickGelu,
        "relu" => Activation::Relu,
        "silu" | "swish" => Activation::Silu,
        "tanh" => Activation::Tanh,
        other => bail!(
            "config.json says the activation is {other}, which is not supported; export the model to ONNX and \
                 give that file"
        ),
    })
}

fn text<'a>(json: &'a Value, key: &str) -> Option<&'a str> {
    json.get(key).and_then(Value::as_str)
}

fn flag(json: &Value, key: &str) -> bool {
    json.get(key).and_then(Value::as_bool) == Some(true)
}

fn whole(json: &Value, key: &str) -> Option<i64> {
    json.get(key).and_then(Value::as_i64)
}

/// A size that must be usable where it is given.
fn count(json: &Value, key: &str) -> Result<Option<usize>> {
    match json.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(size) if (1..=1 << 20).contains(&size) => Ok(Some(size as usize)),
            _ => bail!("config.json says {key} {value}; an integer from 1 on is needed"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Option<Config>> {
        Config::read(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_network_that_is_not_written_is_none_and_a_decoder_is_an_error() {
        assert_eq!(read(r#"{"model_type": "llama"}"#).unwrap(), None);
        assert_eq!(read("[]").unwrap(), None);
        assert!(read(r#"{"model_type": "bert", "is_decoder": true}"#).is_err());
        assert!(read(r#"{"model_type": "bert", "hidden_act": "xielu"}"#).is_err());
        assert!(read(r#"{"model_type": "bert", "position_embedding_type": "relative_key"}"#).is_err());
    }

    #[test]
    fn sizes_that_cannot_be_are_errors() {
        for heads in ["0", "-3", "1.5", "\"12\"", "99999999999"] {
            let said = read(&format!(r#"{{"model_type": "bert", "num_attention_heads": {heads}}}"#)).unwrap_err();
            assert!(said.to_string().contains("num_attention_heads"), "{said}");
        }
    }

    #[test]
    fn what_is_not_said_has_the_defaults_of_transformers() {
        let clip = read(r#"{"model_type": "clip", "text_config": {}}"#).unwrap().unwrap();
        assert_eq!(
            (clip.heads, clip.activation, clip.epsilon),
            (8, Activation::QuickGelu, 1e-5)
        );
        let t5 = read(r#"{"model_type": "t5"}"#).unwrap().unwrap();
        assert_eq!((t5.buckets, t5.distance, t5.activation), (32, 128, Activation::Relu));
        let gated = read(r#"{"model_type": "mt5", "feed_forward_proj": "gated-gelu"}"#)
            .unwrap()
            .unwrap();
        assert_eq!((gated.is_gated, gated.activation), (true, Activation::GeluTanh));
    }
}
