// SPDX-License-Identifier: MIT
//! `repscope perturb`: masks images, and measures what that costs a classifier.

use std::process::ExitCode;

use anyhow::Result;
use repscope::analysis::perturb;
use repscope::analysis::{Perturb, PerturbGenerate};

use crate::args::{Quietly, Shown};
use crate::outputs::{self, say};
use crate::progress::Bars;
use crate::{session, start_threads};

pub fn generate(options: &Quietly<PerturbGenerate>) -> Result<ExitCode> {
    start_threads(&options.request.machine)?;
    let bars = Bars::new(options.quiet);
    let done = perturb::generate(&options.request, &session(&bars))?;
    drop(bars);
    if done.dark > 0 {
        let (dark, images) = (done.dark, done.images);
        say(
            options.quiet,
            &format!("warning: {dark} of {images} images have no lit pixel and are unchanged"),
        );
    }
    outputs::print(&format!(
        "{} images written, {} were there; masks.csv says what was masked: {}\n",
        done.written,
        done.all - done.written,
        options.request.output.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

pub fn evaluate(options: Shown<Perturb>) -> Result<ExitCode> {
    let request = Perturb {
        keep: Some(options.outputs.output_dir.join("predictions")),
        ..options.request
    };
    super::analyses::run(Box::new(request), &options.outputs)
}
