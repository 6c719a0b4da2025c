// SPDX-License-Identifier: MIT
//! Models that are run: opens them as the options say.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use repscope_core::Space;
use repscope_core::run::Driver;
use repscope_io::{Array, Data, InputPath, Pool};
use repscope_models::architectures::{Activation, BuildOptions};
use repscope_models::runtime::{Provider, Runtime, find_library};
use repscope_models::{Batch, Encoder, Layout, Options, Output, Rows};

use crate::args::{ActivationChoice, EncoderOptions, LayoutChoice, Machine, RuntimeChoice};

/// Opens a model.
pub fn open(path: &InputPath, options: &EncoderOptions, machine: &Machine) -> Result<Encoder> {
    let chosen = Options {
        input: options.input_name.clone(),
        outputs: options.output_name.iter().cloned().collect(),
        layout: options.layout.map(|layout| match layout {
            LayoutChoice::ChannelsFirst => Layout::ChannelsFirst,
            LayoutChoice::ChannelsLast => Layout::ChannelsLast,
            LayoutChoice::Flat => Layout::Flat,
        }),
        scale: options.scale,
        mean: options.mean.clone(),
        std: options.std.clone(),
        batch: options.batch_size,
        threads: machine.threads.unwrap_or(0),
        runtime: runtime(options)?,
        build: BuildOptions {
            activation: options.activation.map(|activation| match activation {
                ActivationChoice::Silu => Activation::Silu,
                ActivationChoice::Relu => Activation::Relu,
                ActivationChoice::Gelu => Activation::Gelu,
            }),
            heads: options.heads,
        },
    };
    if !path.path.is_file() {
        bail!("there is no model {}", path.path.display());
    }
    Ok(Encoder::open(&path.path, path.key.as_deref(), chosen)?)
}

fn runtime(options: &EncoderOptions) -> Result<Runtime> {
    match options.runtime {
        RuntimeChoice::Rust if options.runtime_library.is_some() => {
            bail!("--runtime-library is the library of ONNX Runtime; add --runtime onnxruntime")
        }
        RuntimeChoice::Rust => Ok(Runtime::Rten),
        RuntimeChoice::Onnxruntime => Ok(Runtime::OnnxRuntime {
            library: Some(match &options.runtime_library {
                Some(library) => library.clone(),
                None => find_library(&|name| std::env::var_os(name))?,
            }),
            provider: Provider::default(),
        }),
    }
}

/// Feeds all rows, with a progress bar; gives notes on how.
pub fn encode(
    encoder: &mut Encoder,
    rows: &dyn Rows,
    stage: &str,
    driver: &Driver,
    mut on_batch: impl FnMut(Batch) -> Result<()>,
) -> Result<Vec<String>> {
    driver.progress().begin(stage, rows.count() as u64);
    let mut failed = None;
    let notes = encoder.encode(rows, &mut |batch| {
        driver.progress().advance(batch.count as u64);
        on_batch(batch).map_err(|error| {
            let text = crate::message(&error);
            failed = Some(error);
            repscope_models::Error::Model(text)
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(notes?),
    }
}

/// The codes of all rows as a space, from the one output that is the code.
pub fn codes(
    encoder: &mut Encoder,
    rows: &dyn Rows,
    name: &str,
    pool: Pool,
    driver: &Driver,
) -> Result<(Space, Vec<String>)> {
    let mut all: Option<Output> = None;
    let notes = encode(encoder, rows, "encoding", driver, |batch| {
        let output = only(batch.outputs)?;
        match &mut all {
            None => all = Some(output),
            Some(all) => all.values.extend(output.values),
        }
        Ok(())
    })?;
    let output = all.ok_or_else(|| anyhow!("{name} gave no codes"))?;
    Ok((space(output, rows.count(), name, pool)?, notes))
}

/// Codes of some rows as a space.
pub fn space(output: Output, rows: usize, name: &str, pool: Pool) -> Result<Space> {
    let shape = std::iter::once(rows).chain(output.shape).collect();
    let array = Array::new(shape, "f32", Data::F32(Arc::new(output.values)))?;
    Ok(array.into_space(name, pool)?)
}

/// The one output; several are an error that names them.
pub fn only(outputs: Vec<Output>) -> Result<Output> {
    let names: Vec<String> = outputs.iter().map(|output| output.name.clone()).collect();
    let mut outputs = outputs.into_iter();
    match (outputs.next(), outputs.next()) {
        (Some(output), None) => Ok(output),
        _ => bail!(
            "the model has the outputs {}; say which is the code with --output-name",
            names.join(", ")
        ),
    }
}
