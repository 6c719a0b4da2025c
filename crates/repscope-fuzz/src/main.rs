// SPDX-License-Identifier: MIT
//! `repscope-fuzz TARGET [--seconds N] [--seed N]`: without a target, all of them. Exit code 1 where something was found.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use repscope_fuzz::{Outcome, TARGETS, Target, run, target};

fn main() -> ExitCode {
    match work() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

fn work() -> Result<bool, String> {
    let mut words = std::env::args().skip(1);
    let (mut targets, mut seconds, mut seed): (Vec<&Target>, f64, u64) = (Vec::new(), 20.0, 1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a number"));
        match word.as_str() {
            "--seconds" => seconds = value()?.parse().map_err(|_| "--seconds takes a number".to_string())?,
            "--seed" => seed = value()?.parse().map_err(|_| "--seed takes a number".to_string())?,
            name => targets.push(target(name).ok_or_else(|| {
                let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                format!("there is no target {name}; there are {}", known.join(", "))
            })?),
        }
    }
    if targets.is_empty() {
        targets.extend(&TARGETS);
    }
    let mut is_sound = true;
    for target in targets {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        say(&format!("{}: files are in {}", target.name, folder.path().display()));
        let outcome = run(target, seconds, seed, folder.path()).map_err(|error| error.to_string())?;
        report(target, &outcome)?;
        is_sound &= outcome.findings.is_empty();
    }
    Ok(is_sound)
}

/// Says what was done, and keeps what was found in the current folder.
fn report(target: &Target, outcome: &Outcome) -> Result<(), String> {
    let slowest = outcome.slowest.as_secs_f64();
    say(&format!(
        "{}: {} executions, the slowest {slowest:.3} s",
        target.name, outcome.executions
    ));
    for (number, (what, bytes)) in outcome.findings.iter().enumerate() {
        let file = format!("found-{}-{number}", target.name);
        repscope_io::write_whole(Path::new(&file), bytes).map_err(|error| error.to_string())?;
        say(&format!("{}: {what}: {file}", target.name));
    }
    Ok(())
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
