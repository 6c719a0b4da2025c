// SPDX-License-Identifier: MIT
//! `repscope encode`: runs an encoder over data and writes the embeddings.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use repscope::Encode;

use crate::args::Quietly;
use crate::outputs::{self, say};
use crate::progress::Bars;
use crate::{session, start_threads};

pub fn run(options: &Quietly<Encode>) -> Result<ExitCode> {
    start_threads(&options.request.machine)?;
    let bars = Bars::new(options.quiet);
    let encoded = repscope::encode(&options.request, &session(&bars))?;
    drop(bars);
    let output: PathBuf = options.request.output.clone().unwrap_or_default();
    let written = encoded.write(&output)?;
    for note in &encoded.notes {
        say(options.quiet, &format!("note: {note}"));
    }
    outputs::print(&format!("embeddings: {}\n", written.join(", ")))?;
    Ok(ExitCode::SUCCESS)
}
