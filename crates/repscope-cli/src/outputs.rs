// SPDX-License-Identifier: MIT
//! What comes out: the result on stdout, advice on stderr.

use std::io::{IsTerminal, Write};

use anyhow::{Context, Result};
use repscope::options::Outputs;
use repscope::{Color, Report, Terminal};

/// Writes to stdout; a closed pipe comes back as an error, never as a panic.
pub fn print(text: &str) -> Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut out = std::io::stdout().lock();
    write!(out, "{text}{end}")
        .and_then(|()| out.flush())
        .context("cannot write to stdout")
}

/// Writes a line to stderr, with options as they are typed. Where that cannot be read, there is nobody to tell.
pub fn advise(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", with_flags(text));
}

/// Options that the library names by their keys (`text_encoder`) as they are typed (--text-encoder).
fn with_flags(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // What is wrong with a study file is said in its own spelling.
    if parts.len() < 3 || text.contains(".toml: ") {
        return text.to_string();
    }
    let known = option_names();
    let mut out = parts[0].to_string();
    let mut rest = parts[1..].iter().peekable();
    // Between two backticks stands a name; what follows it is text again.
    while let Some(name) = rest.next() {
        let Some(after) = rest.next() else {
            out += &format!("`{name}");
            break;
        };
        let is_shown = known.iter().any(|own| own == name) && is_option(name, after);
        if is_shown {
            out += &format!("--{}", name.replace('_', "-"));
        } else {
            out += &format!("`{name}`");
        }
        // An option and its value.
        match after.strip_prefix(" = ").filter(|_| is_shown) {
            Some(value) => out += &format!(" {value}"),
            None => out += after,
        }
    }
    out
}

/// Whether a name between backticks is an option: models, arrays and keys of files may be called like one.
fn is_option(name: &str, after: &str) -> bool {
    let is_plain = [
        "only",
        "skip",
        "gate",
        "ids",
        "exclude",
        "split",
        "set",
        "directions",
        "performance",
        "checkpoint",
        "metadata",
    ]
    .contains(&name);
    let takes = [" = ", " PATH", " NAME", " FILE", " FOLDER", ")"]
        .iter()
        .any(|next| after.starts_with(next));
    name.contains('_') || is_plain || takes
}

/// The keys of all options of all commands.
fn option_names() -> Vec<String> {
    let command = crate::args::command();
    let mut commands = vec![&command];
    let mut names = Vec::new();
    while let Some(command) = commands.pop() {
        let own = command.get_arguments().filter_map(|arg| arg.get_long());
        names.extend(own.map(|name| name.replace('-', "_")));
        commands.extend(command.get_subcommands());
    }
    names
}

/// Advice, unless it is not wanted.
pub fn say(quiet: bool, text: &str) {
    if !quiet {
        advise(text);
    }
}

/// The width of the terminal, or of a page where the output is not one.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(110, |(columns, _)| usize::from(columns.0).clamp(40, 200))
}

/// Color only for a person who did not ask for none.
pub fn color() -> Color {
    let wants_none = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    if std::io::stdout().is_terminal() && !wants_none {
        Color::Yes
    } else {
        Color::No
    }
}

/// How text is set for this terminal.
pub fn terminal(quiet: bool) -> Terminal {
    Terminal {
        width: width(),
        color: color(),
        quiet,
    }
}

/// Prints the results document, or the table.
pub fn show(report: &Report, to: &Outputs) -> Result<()> {
    print(&match to.table() {
        None => report.document.to_json(),
        Some(format) => report.table(format, terminal(to.quiet)),
    })
}

/// What is worth knowing about the results.
pub fn warn(report: &Report, quiet: bool) {
    for warning in &report.results.warnings {
        say(quiet, &format!("warning: {warning}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_shown_as_they_are_typed_and_names_as_they_are() {
        let shown = with_flags("join model `noise` by `ids`; `text_encoder` FOLDER encodes, and `states` has 3 rows");
        assert_eq!(
            shown,
            "join model `noise` by --ids; --text-encoder FOLDER encodes, and `states` has 3 rows"
        );
        assert_eq!(with_flags("an odd ` stays"), "an odd ` stays");
    }
}
