// SPDX-License-Identifier: MIT
//! A model as the options ask for it: one that sees numbers, or one that reads texts.

use anyhow::{Context, Result, bail};
use repscope_core::run::Driver;
use repscope_io::{InputPath, InputRecord, Watched};
use repscope_models::architectures::BuildOptions;
use repscope_models::runtime::{Runtime, find_library};
use repscope_models::{
    Batch, Beside, Encoder, LanguageModel, Options, Output, Projection, TextEncoder, TextOptions, hub,
};

use super::encoder_input::Seen;
use super::store::Sink;
use super::{encode, has_extension, is_model_folder, outside};
use crate::options::{
    EncoderOptions, Machine, NumberEncoderOptions, RuntimeChoice, RuntimeOptions, TextEncoderOptions,
};
use crate::reader::Reader;
use crate::source::Source;

pub enum Model {
    Numbers(Box<Encoder>),
    Texts(Box<TextEncoder>),
    /// Says how likely texts are: a log-perplexity for each.
    Language(Box<LanguageModel>),
}

impl Model {
    pub fn open(path: &InputPath, options: &EncoderOptions, machine: &Machine) -> Result<Self> {
        let (path, _) = &text_model(path, |shown| format!("there is no model {shown}"))?;
        if reads_texts(path) {
            let checkpoint = options.checkpoint.as_ref();
            return Model::open_text(path, checkpoint, &options.text, &options.numbers.runtime, machine);
        }
        if path.path.is_dir() {
            bail!(
                "{path} is a folder without tokenizer.json, so no text model as Hugging Face stores it; name a file of weights \
                 or an .onnx file in it"
            );
        }
        if let Some(checkpoint) = &options.checkpoint {
            bail!(
                "`checkpoint` = {checkpoint} holds the projection of a text encoder, but {path} is none; name the checkpoint \
                 itself as the model"
            );
        }
        Ok(Model::Numbers(Box::new(open_numbers(path, &options.numbers, machine)?)))
    }

    pub fn open_text(
        path: &InputPath,
        checkpoint: Option<&Source>,
        text: &TextEncoderOptions,
        runtime_options: &RuntimeOptions,
        machine: &Machine,
    ) -> Result<Self> {
        if text.no_projection && checkpoint.is_none() {
            bail!("`no_projection` says that the checkpoint has none, but there is no `checkpoint`; leave it out");
        }
        let checkpoint = checkpoint.map(|source| InputPath::parse(&source.to_string()));
        let checkpoint = checkpoint.map(|path| (path.path, path.key));
        let chosen = TextOptions {
            template: text.template.clone(),
            max_tokens: text.max_tokens,
            pooling: text.token_pooling,
            checkpoint,
            projection: if text.no_projection {
                Projection::None
            } else {
                Projection::Required
            },
            aligner_heads: text.aligner_heads,
            runtime: runtime(runtime_options)?,
            threads: machine.threads.unwrap_or(0),
            batch: runtime_options.batch_size,
        };
        Ok(Model::Texts(Box::new(TextEncoder::open(&path.path, chosen)?)))
    }

    /// Opens the text encoder that an option names, and keeps a record of it.
    pub fn text_encoder(
        source: &Source,
        checkpoint: Option<&Source>,
        text: &TextEncoderOptions,
        runtime: &RuntimeOptions,
        machine: &Machine,
        reader: &mut Reader,
    ) -> Result<Self> {
        let missing = |shown: &str| format!("text encoder {shown}: there is no such folder or file");
        let (path, shown) = text_model(&InputPath::parse(&source.to_string()), missing)?;
        let opened = Model::open_text(&path, checkpoint, text, runtime, machine);
        let model = opened.with_context(|| format!("text encoder {shown}"))?;
        reader.records.push(model.record(&shown));
        Ok(model)
    }

    /// Opens the language model that an option names, and keeps a record of it.
    pub fn language_model(
        source: &Source,
        runtime_options: &RuntimeOptions,
        machine: &Machine,
        reader: &mut Reader,
    ) -> Result<Self> {
        let path = InputPath::parse(&source.to_string());
        if !path.path.exists() {
            bail!("language model {path}: there is no such folder or file");
        }
        let options = TextOptions {
            runtime: runtime(runtime_options)?,
            threads: machine.threads.unwrap_or(0),
            batch: runtime_options.batch_size,
            ..TextOptions::default()
        };
        let opened = LanguageModel::open(&path.path, options);
        let model = Model::Language(Box::new(opened.with_context(|| format!("language model {path}"))?));
        reader.records.push(model.record(&path));
        Ok(model)
    }

    /// Everything that decides what a row's embedding is, except the row.
    pub fn digest(&self) -> &str {
        match self {
            Model::Numbers(encoder) => encoder.digest(),
            Model::Texts(encoder) => encoder.digest(),
            Model::Language(model) => model.digest(),
        }
    }

    /// The files that it was read from.
    pub fn files(&self) -> &[Watched] {
        match self {
            Model::Numbers(encoder) => encoder.files(),
            Model::Texts(encoder) => encoder.files(),
            Model::Language(model) => model.files(),
        }
    }

    /// The record of it in a results document.
    pub fn record(&self, path: impl std::fmt::Display) -> InputRecord {
        let record = InputRecord::new(path, &[], "encoder", self.digest().to_string());
        InputRecord {
            about: self.about().to_vec(),
            ..record.from_files(self.files().iter().cloned())
        }
    }

    /// What it is and how it was put together, in words.
    pub fn about(&self) -> &[String] {
        match self {
            Model::Numbers(encoder) => encoder.about(),
            Model::Texts(encoder) => encoder.about(),
            Model::Language(model) => model.about(),
        }
    }

    /// The notes of a run that are no mere facts about the model, which its record has.
    pub fn to_be_known<'a>(&'a self, notes: &'a [String]) -> impl Iterator<Item = &'a String> {
        notes.iter().filter(|note| !self.about().contains(note))
    }

    /// Has ONNX Runtime run a graph that the built-in runtime cannot, as was found when it ran. Says whether there is one.
    pub fn fall_back(&mut self, error: &anyhow::Error) -> Result<bool> {
        match (self, error.downcast_ref::<repscope_models::Error>()) {
            (Model::Numbers(encoder), Some(repscope_models::Error::Unsupported(why))) => Ok(encoder.fall_back(why)?),
            _ => Ok(false),
        }
    }

    /// Whether a run that was interrupted may begin again in the middle: notes on texts count all of them.
    pub fn can_go_on(&self) -> bool {
        matches!(self, Model::Numbers(_))
    }

    /// The encoder of numbers.
    pub fn numbers(&mut self, name: &str) -> Result<&mut Encoder> {
        match self {
            Model::Numbers(encoder) => Ok(encoder),
            Model::Texts(_) | Model::Language(_) => {
                bail!("`{name}` reads texts, which have no noise of this kind; give encoders of numbers")
            }
        }
    }

    /// Encodes from some row on.
    pub fn run(
        &mut self,
        seen: &Seen,
        first: usize,
        name: &str,
        driver: &Driver,
        sink: &mut Sink,
    ) -> Result<Vec<String>> {
        let stage = format!("encoding, {name}");
        match (self, seen.texts()) {
            (Model::Numbers(encoder), None) => encode(encoder, &seen.from(first)?, &stage, driver, sink),
            (Model::Texts(encoder), Some(texts)) => {
                driver.progress().begin(&stage, (texts.len() - first) as u64);
                let width = encoder.width();
                outside(|keep| {
                    encoder.encode(&texts[first..], &mut |first, values| {
                        let count = values.len() / width.max(1);
                        driver.progress().advance(count as u64);
                        let output = Output {
                            name: "embeddings".to_string(),
                            shape: vec![width],
                            values: values.to_vec(),
                        };
                        keep(sink(Batch {
                            first,
                            count,
                            outputs: vec![output],
                        }))
                    })
                })
            }
            (Model::Language(model), Some(texts)) => {
                driver
                    .progress()
                    .begin(&format!("fluency, {name}"), (texts.len() - first) as u64);
                outside(|keep| {
                    model.score(&texts[first..], &mut |first, scores| {
                        driver.progress().advance(scores.len() as u64);
                        let output = Output {
                            name: "log_perplexity".to_string(),
                            shape: vec![1],
                            values: scores.iter().map(|&score| score as f32).collect(),
                        };
                        keep(sink(Batch {
                            first,
                            count: scores.len(),
                            outputs: vec![output],
                        }))
                    })
                })
            }
            (Model::Numbers(_), Some(_)) => bail!(
                "`{name}` takes numbers, but {seen} holds texts; give a text encoder (a folder with tokenizer.json), or arrays"
            ),
            (Model::Texts(_) | Model::Language(_), None) => bail!(
                "`{name}` reads texts, but {seen} holds numbers; give lines of text (.txt), file.jsonl#field or file.csv#column"
            ),
        }
    }
}

/// Where a model is, and what to call it: a path, or the folder of the Hugging Face cache for a name on the hub.
fn text_model(given: &InputPath, missing: impl Fn(&str) -> String) -> Result<(InputPath, String)> {
    let shown = given.to_string();
    if given.path.exists() {
        return Ok((given.clone(), shown));
    }
    if !hub::is_name(&shown) {
        bail!(missing(&shown));
    }
    let found = hub::find(&shown, &|name| std::env::var_os(name))?;
    Ok((InputPath::file(found), shown))
}

/// A folder with a tokenizer, or a graph beside one.
fn reads_texts(path: &InputPath) -> bool {
    let beside = path.path.parent().map(|folder| folder.join("tokenizer.json"));
    is_model_folder(&path.path) || (has_extension(&path.path, "onnx") && beside.is_some_and(|file| file.is_file()))
}

/// Opens an encoder of numbers.
pub fn open_numbers(path: &InputPath, options: &NumberEncoderOptions, machine: &Machine) -> Result<Encoder> {
    open_numbers_beside(path, options, &[], machine)
}

/// Opens an encoder of numbers with several inputs.
pub fn open_numbers_beside(
    path: &InputPath,
    options: &NumberEncoderOptions,
    beside: &[Beside],
    machine: &Machine,
) -> Result<Encoder> {
    let chosen = numbers_options(options, beside, machine)?;
    Ok(Encoder::open(&path.path, path.key.as_deref(), chosen)?)
}

fn numbers_options(options: &NumberEncoderOptions, beside: &[Beside], machine: &Machine) -> Result<Options> {
    Ok(Options {
        input: options.input_name.clone(),
        beside: beside.to_vec(),
        row_axis: options.row_axis.unwrap_or(0),
        outputs: options.output_name.iter().cloned().collect(),
        layout: options.layout,
        scale: options.scale,
        mean: options.mean.clone(),
        std: options.std.clone(),
        batch: options.runtime.batch_size,
        threads: machine.threads.unwrap_or(0),
        runtime: runtime(&options.runtime)?,
        pad: options.pad_id,
        architecture: options.architecture,
        build: BuildOptions {
            activation: options.activation,
            heads: options.heads,
        },
    })
}

fn runtime(options: &RuntimeOptions) -> Result<Runtime> {
    match options.runtime {
        RuntimeChoice::Auto | RuntimeChoice::Builtin
            if options.runtime_library.is_some() || options.provider.is_some() =>
        {
            bail!("a runtime library and a provider are for ONNX Runtime; choose the runtime onnxruntime")
        }
        RuntimeChoice::Builtin => Ok(Runtime::Rten),
        // Where none is installed, the message of the built-in runtime says how to get one.
        RuntimeChoice::Auto => Ok(match find_library(&|name| std::env::var_os(name)) {
            Ok(library) => Runtime::Auto { library },
            Err(_) => Runtime::Rten,
        }),
        RuntimeChoice::Onnxruntime => Ok(Runtime::OnnxRuntime {
            library: Some(match &options.runtime_library {
                Some(library) => library.to_string().into(),
                None => find_library(&|name| std::env::var_os(name))?,
            }),
            provider: options.provider.unwrap_or_default(),
        }),
    }
}
