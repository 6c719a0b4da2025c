// SPDX-License-Identifier: MIT
//! `repscope encode`: runs an encoder over data and writes the codes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_io::{InputPath, NpyWriter, read_array};
use repscope_models::Rows;

use super::analyses::{start_threads, watched};
use crate::args::Encode;
use crate::{encoders, outputs};

pub fn run(options: &Encode) -> Result<ExitCode> {
    start_threads(&options.machine)?;
    if options.output.extension().is_none_or(|e| e != "npy") {
        bail!(
            "--output {}: codes are written as .npy; name the file so",
            options.output.display()
        );
    }
    let rows = read_array(&InputPath::parse(&options.input))?;
    let mut encoder = encoders::open(&InputPath::parse(&options.encoder), &options.options, &options.machine)?;
    let mut writers: Vec<(PathBuf, NpyWriter)> = Vec::new();
    let mut shapes = Vec::new();
    let notes = watched(&options.machine, |driver| {
        encoders::encode(&mut encoder, &rows, "encoding", driver, |batch| {
            if writers.is_empty() {
                let is_one = batch.outputs.len() == 1;
                for output in &batch.outputs {
                    let path = if is_one {
                        options.output.clone()
                    } else {
                        of_head(&options.output, &output.name)
                    };
                    let shape: Vec<usize> = std::iter::once(Rows::count(&rows))
                        .chain(output.shape.clone())
                        .collect();
                    writers.push((path.clone(), NpyWriter::create(&path, &shape)?));
                    shapes.push(shape);
                }
            }
            for ((_, writer), output) in writers.iter_mut().zip(&batch.outputs) {
                writer.push(&output.values)?;
            }
            Ok(())
        })
    })?;
    let mut written = Vec::new();
    for ((path, writer), shape) in writers.into_iter().zip(shapes) {
        writer.finish()?;
        let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
        written.push(format!("{} ({})", path.display(), sizes.join(" x ")));
    }
    if !options.machine.quiet {
        notes.iter().for_each(|note| outputs::advise(&format!("note: {note}")));
    }
    outputs::print(&format!("codes: {}\n", written.join(", ")))?;
    Ok(ExitCode::SUCCESS)
}

/// `z.npy` and `head` make `z.head.npy`.
fn of_head(path: &Path, head: &str) -> PathBuf {
    let safe = head.replace(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'), "_");
    path.with_extension(format!("{safe}.npy"))
}
