// SPDX-License-Identifier: MIT
//! Study files: what `repscope evaluate` is asked, as TOML.
//!
//! A key is an option of the command line with another spelling: `[neighborhood] k = [5, 10]` says what
//! `repscope neighborhood --k 5 10` says. So the options that the command line knows are the keys that a file may have, and
//! a file becomes the words that would have been typed. Paths are relative to the file.

use std::path::Path;

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, CommandFactory};
use toml::{Table, Value};

use crate::args::{Cli, ENCODER_HEADING};
use crate::evaluation::problems::{Problems, did_you_mean};
use crate::evaluation::{self, ANALYSES};

/// A commented study file to start from.
pub const EXAMPLE: &str = include_str!("study_example.toml");

/// Options of `evaluate` that stand at the top of the file.
const TOP: [&str; 17] = [
    "output-dir",
    "only",
    "skip",
    "seed",
    "level",
    "threads",
    "memory",
    "quiet",
    "json",
    "format",
    "no-figures",
    "figure-format",
    "figure-width",
    "gate",
    "gate-on",
    "baseline",
    "max-drop",
];
/// Options of `evaluate` that stand in `[data]`.
const DATA: [&str; 6] = ["states", "next-states", "episodes", "labels", "ids", "pool"];
/// Tables of names and paths, and the option that each entry is.
const NAMED: [(&str, &str); 2] = [("models", "model"), ("views", "views")];
/// The table of how encoders are run.
const ENCODER: &str = "encoder";
/// Options of `retrieval` and `robustness` that make them do something else.
const OTHER_WORK: [&str; 3] = ["prototype-texts", "clean", "noisy"];

/// An option and the words that say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its long name, with dashes.
    pub option: String,
    /// `--k=5 --k=10`; none for a flag that is off.
    pub words: Vec<String>,
}

/// What a study file says.
#[derive(Debug, Default)]
pub struct StudyFile {
    /// Options of `evaluate`.
    pub own: Vec<Setting>,
    /// Options of an analysis, by its name.
    pub of_analyses: Vec<(&'static str, Vec<Setting>)>,
}

/// Reads a study file. Only a file that is no TOML at all is an error; everything else that is wrong is gathered.
pub fn read(path: &Path, problems: &mut Problems) -> Result<StudyFile> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let table: Table = text
        .parse()
        .map_err(|error| anyhow::anyhow!("{} is not TOML: {error}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut file = StudyFile::default();
    let mut add = |problem: String| problems.add(format!("{}: {problem}", path.display()));
    for (key, value) in &table {
        let option = key.replace('_', "-");
        let analysis = ANALYSES
            .iter()
            .map(|(analysis, _)| analysis.name())
            .find(|name| *name == key);
        match (value, analysis) {
            _ if TOP.contains(&option.as_str()) => match setting("evaluate", &option, value, folder) {
                Ok(setting) => file.own.push(setting),
                Err(problem) => add(format!("`{key}` {problem}")),
            },
            (Value::Table(entries), _) if key == "data" => {
                for (key, value) in entries {
                    match one_of(&DATA, key).and_then(|option| setting("evaluate", option, value, folder)) {
                        Ok(setting) => file.own.push(setting),
                        Err(problem) => add(format!("[data] `{key}` {problem}")),
                    }
                }
            }
            (Value::Table(entries), _) if NAMED.iter().any(|(table, _)| table == key) => {
                let option = NAMED
                    .iter()
                    .find(|(table, _)| table == key)
                    .map_or("", |(_, option)| option);
                let mut words = Vec::new();
                for (name, value) in entries {
                    match named(name, value, folder) {
                        Ok(text) => words.push(format!("--{option}={text}")),
                        Err(problem) => add(format!("[{key}] `{name}` {problem}")),
                    }
                }
                file.own.push(Setting {
                    option: option.to_string(),
                    words,
                });
            }
            (Value::Table(entries), _) if key == ENCODER => {
                let known: Vec<String> = encoder_options().iter().map(long).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                for (key, value) in entries {
                    match one_of(&known, key).and_then(|option| setting("evaluate", option, value, folder)) {
                        Ok(setting) => file.own.push(setting),
                        Err(problem) => add(format!("[{ENCODER}] `{key}` {problem}")),
                    }
                }
            }
            (Value::Table(entries), Some(analysis)) => {
                let mut settings = Vec::new();
                for (key, value) in entries {
                    match setting_of(analysis, key, value, folder) {
                        Ok(setting) => settings.push(setting),
                        Err(problem) => add(format!("[{analysis}] `{key}` {problem}")),
                    }
                }
                file.of_analyses.push((analysis, settings));
            }
            (_, Some(_)) => add(format!("`{key}` must be a table of options, [{key}]")),
            _ if key == "data" || key == ENCODER || NAMED.iter().any(|(table, _)| table == key) => {
                add(format!("`{key}` must be a table, [{key}]"));
            }
            _ => add(format!("`{key}` {}", misplaced(&option))),
        }
    }
    Ok(file)
}

/// One option of an analysis, from a study file or from `--set`.
pub fn setting_of(analysis: &str, key: &str, value: &Value, folder: &Path) -> Result<Setting, String> {
    let known: Vec<String> = options_of(analysis).iter().map(long).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match one_of(&known, key) {
        Ok(option) => setting(analysis, option, value, folder),
        Err(_) if DATA.contains(&key.replace('_', "-").as_str()) => Err("belongs into [data]".to_string()),
        Err(problem) => Err(problem),
    }
}

/// The option that a key means; a problem that proposes a similar one where there is none.
fn one_of<'a>(known: &[&'a str], key: &str) -> Result<&'a str, String> {
    let option = key.replace('_', "-");
    let found = known.iter().copied().find(|name| *name == option);
    found.ok_or_else(|| {
        if known.is_empty() {
            return "is no option: there are none here".to_string();
        }
        let keys: Vec<String> = known.iter().map(|name| name.replace('-', "_")).collect();
        let similar = did_you_mean(key, keys.iter().map(String::as_str));
        if similar.is_empty() {
            format!("is no option; there are {}", keys.join(", "))
        } else {
            format!("is no option{similar}")
        }
    })
}

/// Where an unknown key of the top should have been, or what it may have meant.
fn misplaced(option: &str) -> String {
    if DATA.contains(&option) {
        return "belongs into [data]".to_string();
    }
    let has = |name: &&str| options_of(name).iter().any(|arg| long(arg) == option);
    let tables: Vec<&str> = ANALYSES
        .iter()
        .map(|(analysis, _)| analysis.name())
        .filter(has)
        .collect();
    if !tables.is_empty() {
        return format!("belongs into [{}]", tables.join("] or ["));
    }
    let keys: Vec<String> = TOP.iter().map(|name| name.replace('-', "_")).collect();
    let tables = ANALYSES.iter().map(|(analysis, _)| analysis.name());
    let known = keys
        .iter()
        .map(String::as_str)
        .chain(["data", "models", "views", ENCODER])
        .chain(tables);
    format!("is no key of a study file{}", did_you_mean(option, known))
}

/// The options of an analysis that its table may have: those that are not said once for all analyses.
fn options_of(analysis: &str) -> Vec<Arg> {
    let cli = Cli::command();
    let Some(command) = cli.find_subcommand(analysis) else {
        return Vec::new();
    };
    let mut owners = ANALYSES.iter().filter(|(own, _)| evaluation::has_own_data(*own));
    let has_own_data = owners.any(|(own, _)| own.name() == analysis);
    let is_shared = |name: &str| {
        let of_models = DATA.contains(&name) || NAMED.iter().any(|(_, option)| *option == name);
        let of_encoders = || encoder_options().iter().any(|arg| long(arg) == name);
        TOP.contains(&name) || (!has_own_data && (of_encoders() || of_models)) || OTHER_WORK.contains(&name)
    };
    let own = command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some_and(|name| !is_shared(name)));
    own.filter(|arg| arg.get_id() != "help").cloned().collect()
}

/// How encoders are run, which is said once for all analyses.
fn encoder_options() -> Vec<Arg> {
    let cli = Cli::command();
    let of_evaluate = cli.find_subcommand("evaluate").map(|c| c.get_arguments());
    let is_own = |arg: &&Arg| arg.get_help_heading() == Some(ENCODER_HEADING);
    of_evaluate.into_iter().flatten().filter(is_own).cloned().collect()
}

fn long(arg: &Arg) -> String {
    arg.get_long().unwrap_or_default().to_string()
}

/// The words that say an option of a command.
fn setting(command: &str, option: &str, value: &Value, folder: &Path) -> Result<Setting, String> {
    let cli = Cli::command();
    let arg = cli
        .find_subcommand(command)
        .and_then(|c| c.get_arguments().find(|arg| arg.get_long() == Some(option)))
        .ok_or_else(|| "is no option".to_string())?;
    let words = match (arg.get_action(), value) {
        (ArgAction::SetTrue, Value::Boolean(true)) => vec![format!("--{option}")],
        (ArgAction::SetTrue, Value::Boolean(false)) => Vec::new(),
        (ArgAction::SetTrue, _) => return Err("must be true or false".to_string()),
        _ => {
            let paths = Paths::of(arg);
            let texts = texts(value, paths)?;
            if texts.is_empty() {
                return Err("is empty; leave it out, or give a value".to_string());
            }
            texts
                .iter()
                .map(|text| format!("--{option}={}", paths.from(folder, text)))
                .collect()
        }
    };
    Ok(Setting {
        option: option.to_string(),
        words,
    })
}

/// The values of an option as they would be typed.
fn texts(value: &Value, paths: Paths) -> Result<Vec<String>, String> {
    Ok(match value {
        Value::String(text) => vec![text.clone()],
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) if paths == Paths::Whole => {
            return Err("must be a path, in quotes".to_string());
        }
        Value::Integer(number) => vec![number.to_string()],
        Value::Float(number) => vec![number.to_string()],
        Value::Boolean(yes) => vec![if *yes { "yes" } else { "no" }.to_string()],
        Value::Array(values) => {
            let each = values.iter().map(|value| texts(value, paths));
            each.collect::<Result<Vec<_>, _>>()?.concat()
        }
        Value::Table(entries) => {
            let mut all = Vec::new();
            for (name, value) in entries {
                all.extend(texts(value, paths)?.into_iter().map(|text| format!("{name}={text}")));
            }
            all
        }
        Value::Datetime(_) => return Err("must not be a date".to_string()),
    })
}

/// `NAME=PATH`, or with next states `NAME=PATH,PATH`.
fn named(name: &str, value: &Value, folder: &Path) -> Result<String, String> {
    if name.contains('=') || name.trim().is_empty() {
        return Err("is no name: one without `=` is needed".to_string());
    }
    let path = |value: &Value| {
        let text = value.as_str().filter(|text| !text.is_empty());
        text.map(|text| Paths::Whole.from(folder, text))
            .ok_or_else(|| "must be a path in quotes, or two in brackets".to_string())
    };
    let paths = match value {
        Value::Array(values) => values.iter().map(path).collect::<Result<Vec<_>, _>>()?.join(","),
        value => path(value)?,
    };
    Ok(format!("{name}={paths}"))
}

/// Which part of a value is a path.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Paths {
    None,
    Whole,
    /// What stands behind `=`, else all of it.
    AfterName,
    /// What stands behind `=`.
    OnlyAfterName,
}

impl Paths {
    /// The help of an option says what its values are.
    fn of(arg: &Arg) -> Self {
        match arg
            .get_value_names()
            .and_then(|names| names.first())
            .map(|name| name.as_str())
        {
            Some("PATH" | "FILE" | "DIR") => Paths::Whole,
            Some("NAME=PATH" | "PATH|NAME=PATH" | "NAME=PATH|PATH") => Paths::AfterName,
            Some("COLUMN|NAME=PATH") => Paths::OnlyAfterName,
            _ => Paths::None,
        }
    }

    /// The value with its path taken from a folder.
    fn from(self, folder: &Path, text: &str) -> String {
        let beside = |path: &str| folder.join(path).to_string_lossy().into_owned();
        match (self, text.split_once('=')) {
            (Paths::None, _) | (Paths::OnlyAfterName, None) => text.to_string(),
            (Paths::AfterName | Paths::OnlyAfterName, Some((name, path))) => format!("{name}={}", beside(path)),
            (Paths::Whole, _) | (Paths::AfterName, None) => beside(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (StudyFile, String) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("s.toml");
        repscope_io::write_whole(&path, text.as_bytes()).expect("the file can be written");
        let mut problems = Problems::default();
        let file = read(&path, &mut problems).expect("TOML");
        let said = problems
            .refuse()
            .map_or_else(|error| error.to_string(), |()| String::new());
        (file, said.replace(&path.display().to_string(), "s.toml"))
    }

    fn words(file: &StudyFile) -> Vec<String> {
        let all = file
            .own
            .iter()
            .chain(file.of_analyses.iter().flat_map(|(_, settings)| settings));
        all.flat_map(|setting| setting.words.clone()).collect()
    }

    #[test]
    fn keys_become_the_words_that_would_be_typed() {
        let (file, problems) = parsed(
            "seed = 7\nonly = [\"clid\", \"geometry\"]\nno_figures = true\n[neighborhood]\nk = [5, 10]\n\
             [clid]\nstandardize = false\neps = 0.5\n[retrieval]\nignore_case = false\n",
        );
        assert_eq!(problems, "");
        assert_eq!(
            words(&file),
            [
                "--seed=7",
                "--only=clid",
                "--only=geometry",
                "--no-figures",
                "--k=5",
                "--k=10",
                "--standardize=no",
                "--eps=0.5"
            ]
        );
    }

    #[test]
    fn paths_are_relative_to_the_file_and_names_are_not_paths() {
        let folder = Path::new("a/b");
        let path = |paths: Paths, text: &str| paths.from(folder, text);
        assert_eq!(path(Paths::Whole, "x=1.npy"), "a/b/x=1.npy");
        assert_eq!(path(Paths::Whole, "/x.npy"), "/x.npy");
        assert_eq!(path(Paths::AfterName, "l1=x.npy"), "l1=a/b/x.npy");
        assert_eq!(path(Paths::AfterName, "x.npy"), "a/b/x.npy");
        assert_eq!(path(Paths::OnlyAfterName, "id"), "id");
        assert_eq!(path(Paths::OnlyAfterName, "z=id.npy"), "z=a/b/id.npy");
        assert_eq!(Paths::Whole.from(Path::new(""), "x.npy"), "x.npy");
    }

    #[test]
    fn every_wrong_key_is_named_with_what_it_may_have_meant() {
        let (_, problems) = parsed(
            "sed = 1\nlabels = \"y.npy\"\nsplits = 3\nxyzzy = 1\nclid = 5\nquiet = 1\n[data]\nstats = \"x.npy\"\n\
             labels = 5\n[geometry]\nclustres = 3\nlabels = \"y.npy\"\n[rankme]\nk = 3\n[models]\na = 5\n\
             [neighborhood]\nk = []\n",
        );
        for line in [
            "s.toml: `sed` is no key of a study file; did you mean `seed`?",
            "s.toml: `labels` belongs into [data]",
            "s.toml: `splits` belongs into [geometry] or [clid]",
            "s.toml: `xyzzy` is no key of a study file",
            "s.toml: `clid` must be a table of options, [clid]",
            "s.toml: `quiet` must be true or false",
            "s.toml: [data] `stats` is no option; did you mean `states`?",
            "s.toml: [data] `labels` must be a path, in quotes",
            "s.toml: [geometry] `clustres` is no option; did you mean `clusters`?",
            "s.toml: [geometry] `labels` belongs into [data]",
            "s.toml: [rankme] `k` is no option: there are none here",
            "s.toml: [models] `a` must be a path in quotes, or two in brackets",
            "s.toml: [neighborhood] `k` is empty; leave it out, or give a value",
        ] {
            assert!(problems.lines().any(|l| l == format!("- {line}")), "{line}\n{problems}");
        }
        assert!(problems.starts_with("13 problems"), "{problems}");
    }

    #[test]
    fn the_options_that_a_file_may_have_exist() {
        let cli = Cli::command();
        let evaluate = cli.find_subcommand("evaluate").expect("a command");
        for option in TOP.iter().chain(&DATA).chain(NAMED.iter().map(|(_, option)| option)) {
            assert!(
                evaluate.get_arguments().any(|a| a.get_long() == Some(option)),
                "{option}"
            );
        }
    }
}
