// SPDX-License-Identifier: MIT
//! `repscope encode`: runs an encoder over data and writes the codes.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use repscope_io::{Array, InputPath, copy_whole, read_array, write_tensors};

use super::analyses::start_threads;
use crate::args::Encode;
use crate::call::{self, Answer};
use crate::encoding::{Encoders, Seen, Stored, has_extension};
use crate::outputs;
use crate::reader::Reader;

pub fn run(options: &Encode) -> Result<ExitCode> {
    start_threads(&options.machine)?;
    let output = &options.output;
    if !has_extension(output, "npy") && !has_extension(output, "safetensors") {
        bail!(
            "--output {}: codes are written as .npy or .safetensors; name the file so",
            output.display()
        );
    }
    let encoders = Encoders {
        options: &options.options,
        machine: &options.machine,
    };
    let mut reader = Reader::new(&[]);
    let path = InputPath::parse(&options.encoder);
    let mut model = encoders.open(&path, &mut reader)?;
    let seen = Seen::open(
        &InputPath::parse(&options.input),
        options.options.numbers.skip_bad,
        &mut reader,
    )?;
    let stored = encoders.stored(&mut model, &path.stem(), &seen, Some(output))?;
    if call::is_within() {
        return call::hand_over(Answer::Codes(arrays(&stored)?)).map(|()| ExitCode::SUCCESS);
    }
    let written = write(&stored, output)?;
    if !options.machine.quiet {
        let notes = reader.warnings.iter().chain(&stored.notes);
        notes.for_each(|note| outputs::advise(&format!("note: {note}")));
    }
    outputs::print(&format!("codes: {}\n", written.join(", ")))?;
    Ok(ExitCode::SUCCESS)
}

/// Puts the codes where they are wanted; tells files and shapes.
fn write(stored: &Stored, to: &Path) -> Result<Vec<String>> {
    let arrays = arrays(stored)?;
    let sizes = |array: &repscope_io::Array| {
        array
            .shape()
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(" x ")
    };
    if has_extension(to, "safetensors") {
        let tensors: Vec<_> = arrays.iter().map(|(name, array)| (name.clone(), array)).collect();
        write_tensors(to, &tensors)?;
        let of = |(name, array): &(String, _)| format!("{}#{name} ({})", to.display(), sizes(array));
        return Ok(arrays.iter().map(of).collect());
    }
    let mut written = Vec::new();
    for ((name, file), (_, array)) in stored.outputs.iter().zip(&arrays) {
        let path = match arrays.len() {
            1 => to.to_path_buf(),
            _ => of_head(to, name),
        };
        copy_whole(file, &path)?;
        written.push(format!("{} ({})", path.display(), sizes(array)));
    }
    Ok(written)
}

/// The outputs of the encoder and their names.
fn arrays(stored: &Stored) -> Result<Vec<(String, Array)>> {
    let read = |(name, file): &(String, PathBuf)| Ok((name.clone(), read_array(&InputPath::file(file))?));
    stored.outputs.iter().map(read).collect()
}

/// `z.npy` and `head` make `z.head.npy`.
fn of_head(path: &Path, head: &str) -> PathBuf {
    let safe = head.replace(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'), "_");
    path.with_extension(format!("{safe}.npy"))
}
