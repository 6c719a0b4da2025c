// SPDX-License-Identifier: MIT
//! One analysis: the library runs it, its files are written, its table is shown.

use std::process::ExitCode;

use anyhow::Result;
use repscope::Analysis;
use repscope::options::Outputs;

use crate::outputs::{say, show, warn};
use crate::progress::Bars;
use crate::{session, start_threads};

pub fn run(request: Box<dyn Analysis>, to: &Outputs) -> Result<ExitCode> {
    if let Some(said) = request.instead()? {
        said.iter().for_each(|line| say(to.quiet, line));
        return Ok(ExitCode::SUCCESS);
    }
    start_threads(&request.settings().machine)?;
    let folder = to.output_dir.join(request.declared().folder);
    let bars = Bars::new(to.quiet);
    let report = repscope::run(request, &session(&bars))?;
    drop(bars);
    let written = report.write(&to.output_dir, &to.figures)?;
    report.write_document(&to.output_dir)?;
    warn(&report, to.quiet);
    show(&report, to)?;
    for path in report.other_files() {
        say(to.quiet, &format!("{} is written", path.display()));
    }
    let files = written.in_words("results.json");
    say(to.quiet, &format!("{files} are in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}
