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

/// Writes to stderr, with options as they are typed. Where that cannot be written, nothing can be done.
pub fn advise(text: &str) {
    let lines: Vec<String> = text.lines().map(with_flags).collect();
    let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
}

/// Options that the library names by their keys (`text_encoder`) as they are typed (--text-encoder). What is wrong with a study file
/// stays in its own spelling.
fn with_flags(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    if parts.len() < 3 || line.contains(".toml: ") {
        return line.to_string();
    }
    let known = option_names();
    let mut out = parts[0].to_string();
    // Between two backticks stands a name; what follows it is text again.
    for pair in parts[1..].chunks(2) {
        let (name, after) = (pair[0], pair.get(1).copied());
        let is_shown = known.iter().any(|own| own == name) && is_option(&out, name, after.unwrap_or_default());
        match (after, is_shown) {
            (None, _) => out += &format!("`{name}"),
            (Some(after), false) => out += &format!("`{name}`{after}"),
            (Some(after), true) => {
                // An option and its value.
                let rest = after.strip_prefix(" =").unwrap_or(after);
                out += &format!("--{}{rest}", name.replace('_', "-"));
            }
        }
    }
    out
}

/// Whether a name between backticks is an option: models, arrays and keys of files may be called like one.
fn is_option(before: &str, name: &str, after: &str) -> bool {
    let plain = "only skip gate ids exclude split set directions performance checkpoint metadata";
    let is_plain = plain.split(' ').any(|word| word == name);
    let values = [" = ", " PATH", " NAME", " FILE", " FOLDER"];
    let has_value = values.iter().any(|next| after.starts_with(next));
    let is_alone = before.ends_with('(') && after.starts_with(')');
    name.contains('_') || is_plain || has_value || is_alone
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
pub fn terminal(to: &Outputs) -> Terminal {
    Terminal {
        width: width(),
        color: color(),
        quiet: to.quiet,
        all: to.all,
    }
}

/// Prints the results document, or the table.
pub fn show(report: &Report, to: &Outputs) -> Result<()> {
    print(&match to.table() {
        None => report.document.to_json(),
        Some(format) => report.table(format, terminal(to)),
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
