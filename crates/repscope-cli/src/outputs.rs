// SPDX-License-Identifier: MIT
//! What comes out: the result on stdout, advice on stderr.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use repscope::options::Outputs;
use repscope::{Color, Report, Terminal};

/// Writes to stdout; a closed pipe comes back as an error, never as a panic. What could steer a terminal is shown, not sent, but for our
/// own colors.
pub fn print(text: &str) -> Result<()> {
    let text = &harmless(text, color());
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let mut out = std::io::stdout().lock();
    write!(out, "{text}{end}")
        .and_then(|()| out.flush())
        .context("cannot write to stdout")
}

/// Writes to stderr, with options as they are typed. Where that cannot be written, nothing can be done.
pub fn advise(text: &str) {
    let lines: Vec<String> = harmless(text, Color::No).lines().map(with_flags).collect();
    let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
}

/// Shows the help that was asked for, or what is wrong with a command line, in the colors of clap. Words of the command line are in it: those
/// that could steer the terminal are read once more in their harmless form, so that the message holds that.
pub fn refuse(words: &[OsString], error: &clap::Error) -> ExitCode {
    let shown: Vec<OsString> = words
        .iter()
        .map(|word| harmless(&word.to_string_lossy(), Color::No).into())
        .collect();
    match crate::args::parse(&shown) {
        // Where that cannot be written, nothing can be done.
        Err(same) if same.kind() == error.kind() => drop(same.print()),
        _ => advise(&error.to_string()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Text of which a terminal does nothing but show it. Names in files (labels, members of archives, paths) may hold characters that move the
/// cursor, hide text or turn its direction: they are written as JSON writes them, so that JSON stays what it is. With color, the sequences
/// that set it stay.
pub fn harmless(text: &str, color: Color) -> String {
    let is_odd = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_odd) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let kept = color_code(rest).filter(|_| color == Color::Yes);
        let length = kept.unwrap_or_else(|| rest.chars().next().map_or(0, char::len_utf8));
        match kept {
            Some(length) => out.push_str(&rest[..length]),
            None => out.extend(rest[..length].chars().map(|c| format!("\\u{:04x}", u32::from(c)))),
        }
        rest = &rest[length..];
    }
    out + rest
}

/// How long the sequence is that sets a color or ends it, where one begins here.
fn color_code(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    codes[end..].starts_with('m').then_some(2 + end + 1)
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
    let plain = "only skip gate ids exclude split set directions performance checkpoint metadata memory";
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
    fn what_steers_a_terminal_is_shown_instead() {
        let shown = |text| harmless(text, Color::No);
        assert_eq!(shown("cat\n\tdog é …"), "cat\n\tdog é …");
        assert_eq!(shown("\u{1b}]0;x\u{7}\r\u{9b}2J"), "\\u001b]0;x\\u0007\\u000d\\u009b2J");
        assert_eq!(shown("a\u{202e}b"), "a\\u202eb");
        assert_eq!(shown("\u{1b}[1mbold\u{1b}[0m"), "\\u001b[1mbold\\u001b[0m");
        let colored = harmless("\u{1b}[1;31mred\u{1b}[0m\u{1b}[2J\u{1b}", Color::Yes);
        assert_eq!(colored, "\u{1b}[1;31mred\u{1b}[0m\\u001b[2J\\u001b");
        let json = harmless("\"\u{9b}\"", Color::No);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "\u{9b}");
    }

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
