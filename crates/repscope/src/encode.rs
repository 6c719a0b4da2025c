// SPDX-License-Identifier: MIT
//! Runs an encoder over arrays, images or texts.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use repscope_io::{
    Array, ArrowColumn, Column, Data, InputPath, as_file_names, check_writable, copy_whole, read_array, write_arrow,
    write_parquet, write_tensors,
};
use serde::{Deserialize, Serialize};

use crate::encoding::{Encoders, Model, Seen, Stored, file, has_extension, open_numbers_beside};
use crate::options::{EncoderOptions, Machine, default_options};
use crate::reader::Reader;
use crate::session::Session;
use crate::source::{Named, Place, Source, bind};
use repscope_models::{Beside, Fed};

/// Runs an encoder over arrays, images or texts and writes the embeddings.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct Encode {
    /// The model: an .onnx file, weights (.pth, .pt, .ckpt, .safetensors) of a known network (file.pth#key selects a
    /// part of a checkpoint), or the folder of a text model
    #[arg(long, required = true, value_name = "MODEL")]
    pub encoder: Option<Source>,
    /// The inputs, one sample per row: an array, a folder of PNG and JPEG images (sorted by path), file.txt with one text
    /// per line, or file.jsonl#field; for a model with several inputs, NAME=PATH or NAME=NUMBER for each
    #[arg(long, required = true, num_args = 1.., value_name = "PATH")]
    pub input: Vec<Named>,
    /// Where to write the embeddings, as .npy, .safetensors, .parquet or .arrow; for a model with several outputs, one tensor
    /// or column per output, or one file z.head.npy per output
    #[arg(long, required = true, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Ids of the rows for .parquet and .arrow: an array, or the name of a column of the input
    #[arg(long, value_name = "PATH|COLUMN")]
    pub ids: Option<Source>,
    /// How the encoder is run.
    #[command(flatten)]
    #[serde(flatten)]
    pub options: EncoderOptions,
    /// What the run may use.
    #[command(flatten)]
    #[serde(flatten)]
    pub machine: Machine,
}

default_options!(Encode);
bind!(Encode: encoder, input, ids, options);

/// The embeddings that an encoder made.
pub struct Encoded {
    stored: Stored,
    /// The names of the rows.
    ids: Option<Vec<String>>,
    /// What is worth knowing about them.
    pub notes: Vec<String>,
}

/// Runs the encoder, or takes what an earlier run made.
pub fn encode(options: &Encode, session: &Session) -> Result<Encoded> {
    let (Some(encoder), [first, others @ ..]) = (&options.encoder, options.input.as_slice()) else {
        bail!("an encoder and an input are needed");
    };
    if let Some(output) = &options.output
        && !["npy", "safetensors", "parquet", "arrow"]
            .iter()
            .any(|extension| has_extension(output, extension))
    {
        let output = output.display();
        bail!("{output}: embeddings are written as .npy, .safetensors, .parquet or .arrow; name the file so");
    }
    let has_columns = |output: &PathBuf| has_extension(output, "parquet") || has_extension(output, "arrow");
    if options.ids.is_some() && !options.output.as_ref().is_some_and(has_columns) {
        bail!("`ids` are written beside embeddings as .parquet or .arrow; name the file so, or leave them out");
    }
    if let Some(output) = &options.output {
        check_writable(output)?;
    }
    let encoders = Encoders {
        options: &options.options,
        machine: &options.machine,
        session,
    };
    let mut reader = Reader::new(&[]);
    let place = encoder.place()?;
    let (name, input) = first.split(is_input_name)?;
    let mut model = match (name, others) {
        (None, []) => encoders.open(&place, &mut reader)?,
        (None, [..]) => bail!("several inputs are given; write each as NAME=PATH with its name in the model"),
        (Some(name), others) => {
            let beside = others.iter().map(|input| beside(input, &mut reader));
            let beside = beside.collect::<Result<Vec<Beside>>>()?;
            let mut numbers = options.options.numbers.clone();
            numbers.input_name = Some(name.to_string());
            let path = file(&place)?;
            let encoder = open_numbers_beside(path, &numbers, &beside, &options.machine)?;
            let model = Model::Numbers(Box::new(encoder));
            reader.records.push(model.record(path));
            model
        }
    };
    let seen = Seen::open(&input, options.options.numbers.skip_bad, &mut reader)?;
    let ids = options
        .ids
        .as_ref()
        .map(|ids| ids_of(ids, &input, &mut reader))
        .transpose()?;
    if let Some(ids) = ids.as_ref().filter(|ids| ids.len() != seen.rows()) {
        bail!(
            "there are {} ids for {} rows; give one id per row",
            ids.len(),
            seen.rows()
        );
    }
    let stored = encoders.stored(&mut model, &place.stem(), &seen, options.output.as_deref())?;
    let notes = reader
        .warnings
        .into_iter()
        .chain(stored.notes.iter().cloned())
        .collect();
    Ok(Encoded { stored, ids, notes })
}

/// One id per row, from an array or from a column of the input.
fn ids_of(ids: &Source, input: &Place, reader: &mut Reader) -> Result<Vec<String>> {
    let place = match ids {
        Source::File(text) if input.file().is_some() && !InputPath::parse(text).path.exists() => input.with_key(text),
        ids => ids.place()?,
    };
    let array = reader.array(&place)?;
    Ok(array.into_names(&place.to_string(), "ids")?)
}

/// Whether what stands before `=` names an input: a path may hold one, too.
fn is_input_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\']) && !Path::new(name).exists()
}

/// `NAME=PATH` or `NAME=NUMBER`.
fn beside(input: &Named, reader: &mut Reader) -> Result<Beside> {
    let (Some(name), place) = input.split(is_input_name)? else {
        bail!("several inputs are given; write each as NAME=PATH or NAME=NUMBER with its name in the model");
    };
    let number = input
        .text()
        .and_then(|text| text.split_once('='))
        .and_then(|(_, number)| number.parse().ok());
    let fed = match number {
        Some(number) => Fed::Number(number),
        None => {
            let array = reader.array(&place)?;
            let digest = reader
                .records
                .last()
                .map(|record| record.digest.clone())
                .unwrap_or_default();
            Fed::Rows(array, format!("{digest}#{}", place.key().unwrap_or_default()))
        }
    };
    Ok(Beside {
        name: name.to_string(),
        fed,
    })
}

impl Encoded {
    /// The outputs of the encoder and their names.
    pub fn arrays(&self) -> Result<Vec<(String, Array)>> {
        let read = |(name, file): &(String, PathBuf)| Ok((name.clone(), read_array(&InputPath::file(file))?));
        self.stored.outputs.iter().map(read).collect()
    }

    /// Writes the embeddings; gives files and shapes.
    pub fn write(&self, to: &Path) -> Result<Vec<String>> {
        let arrays = self.arrays()?;
        let sizes = |array: &Array| {
            let sizes: Vec<String> = array.shape().iter().map(usize::to_string).collect();
            sizes.join(" x ")
        };
        if has_extension(to, "safetensors") {
            let tensors: Vec<_> = arrays.iter().map(|(name, array)| (name.clone(), array)).collect();
            write_tensors(to, &tensors)?;
            let of = |(name, array): &(String, _)| format!("{}#{name} ({})", to.display(), sizes(array));
            return Ok(arrays.iter().map(of).collect());
        }
        if has_extension(to, "parquet") || has_extension(to, "arrow") {
            self.write_columns(to, &arrays)?;
            let of = |(name, array): &(String, _)| format!("{}#{name} ({})", to.display(), sizes(array));
            return Ok(arrays.iter().map(of).collect());
        }
        let mut written = Vec::new();
        let heads = as_file_names(arrays.iter().map(|(name, _)| name.as_str()))?;
        for ((head, (_, file)), (_, array)) in heads.iter().zip(&self.stored.outputs).zip(&arrays) {
            let path = match arrays.len() {
                1 => to.to_path_buf(),
                // `z.npy` and `head` make `z.head.npy`.
                _ => to.with_extension(format!("{head}.npy")),
            };
            copy_whole(file, &path)?;
            written.push(format!("{} ({})", path.display(), sizes(array)));
        }
        Ok(written)
    }

    /// A column of vectors for each output, and the ids before them.
    fn write_columns(&self, to: &Path, arrays: &[(String, Array)]) -> Result<()> {
        let mut vectors = Vec::new();
        for (name, array) in arrays {
            let Data::F32(values) = array.data() else {
                bail!("internal error: the embeddings `{name}` are not f32. Please report this");
            };
            vectors.push((name, array.shape()[1..].iter().product::<usize>(), (**values).as_ref()));
        }
        if has_extension(to, "arrow") {
            let ids = self.ids.iter().map(|ids| ("id".to_string(), ArrowColumn::Texts(ids)));
            let columns = vectors
                .iter()
                .map(|(name, width, values)| ((*name).clone(), ArrowColumn::Vectors(*width, values)));
            let rows = arrays.first().map_or(0, |(_, array)| array.rows());
            return Ok(write_arrow(to, rows, &ids.chain(columns).collect::<Vec<_>>())?);
        }
        let ids = self.ids.iter().map(|ids| {
            let ids = ids.iter().cloned().map(Some).collect();
            ("id".to_string(), Column::Texts(ids))
        });
        let columns = vectors
            .iter()
            .map(|(name, width, values)| ((*name).clone(), Column::Vectors(*width, values.to_vec())));
        Ok(write_parquet(to, &ids.chain(columns).collect::<Vec<_>>())?)
    }
}
