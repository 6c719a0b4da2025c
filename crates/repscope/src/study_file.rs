// SPDX-License-Identifier: MIT
//! Study files: what an evaluation is asked, as TOML.
//!
//! A key is an option with another spelling: `[neighborhood] k = [5, 10]` says what `repscope neighborhood --k 5 10` says. So the
//! options that the structs declare are the keys that a file may have. Paths are relative to the file.
//!
//! A study may come from somebody else. So it names no native library, which would run with the rights of the user, and what it writes
//! stays below the output folder; the command line may do both.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use anyhow::{Context, Result};
use clap::Args;
use repscope_io::names::did_you_mean;
use serde_json::Value;
use toml::Table;

use crate::analysis::{self, Declared, Origin};
use crate::evaluation::problems::Problems;
use crate::evaluation::request::Evaluate;
use crate::gate::GateOptions;
use crate::options::layers::{self, Layer};
use crate::options::{Data, EncoderOptions, Outputs, Settings};

/// A commented study file to start from.
pub const EXAMPLE: &str = include_str!("study_example.toml");

/// Tables of names and paths.
const NAMED: [&str; 4] = ["models", "replicates", "views", "against"];
/// The table of how encoders are run.
const ENCODER: &str = "encoder";
/// Options of `retrieval` and `robustness` that make them do something else.
const OTHER_WORK: [&str; 3] = ["prototype_texts", "clean", "noisy"];
/// The option that names native code.
const NATIVE: &str = "runtime_library";
/// The option of an analysis that names a file to write, below the output folder.
pub(crate) const OUTPUT_FILE: &str = "output";

/// What a study file says.
#[derive(Debug, Default)]
pub struct StudyFile {
    /// Options of the evaluation.
    pub own: Layer,
    /// Options of single analyses, by their names.
    pub analyses: BTreeMap<String, Layer>,
}

/// Reads a study file. Only a file that is no TOML at all is an error; everything else that is wrong is gathered.
pub fn read(path: &Path, problems: &mut Problems) -> Result<StudyFile> {
    let text = repscope_io::read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
    let table: Table = text
        .parse()
        .map_err(|error| anyhow::anyhow!("{} is not TOML: {error}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut file = StudyFile::default();
    let mut add = |problem: String| problems.add(format!("{}: {problem}", path.display()));
    for (name, value) in table {
        if let (toml::Value::Table(entries), true) = (&value, NAMED.contains(&name.as_str())) {
            let mut models = Vec::new();
            for (model, value) in entries {
                match named(model, value, folder) {
                    Ok(text) => models.push(Value::from(text)),
                    Err(problem) => add(format!("[{name}] `{model}` {problem}")),
                }
            }
            file.own.insert(name, models.into());
            continue;
        }
        let value = match json(value) {
            Ok(value) => value,
            Err(problem) => {
                add(format!("`{name}` {problem}"));
                continue;
            }
        };
        let declared = analysis::evaluated().find(|own| own.kind.name() == name);
        match (value, declared) {
            (Value::Object(entries), _) if name == "data" => {
                file.put_all("data", &data_keys(), entries, folder, &mut add)
            }
            (Value::Object(entries), _) if name == ENCODER => {
                file.put_all(ENCODER, &keys::<EncoderOptions>(), entries, folder, &mut add);
            }
            (Value::Object(entries), Some(declared)) => {
                let layer = file.analyses.entry(name.clone()).or_default();
                for (key, value) in entries {
                    let base = if key == OUTPUT_FILE { Path::new("") } else { folder };
                    let done = allowed(&key, &value).and_then(|()| put(layer, declared, &key, value, base));
                    if let Err(problem) = done {
                        add(format!("[{name}] `{key}` {problem}"));
                    }
                }
            }
            (_, Some(_)) => add(format!("`{name}` must be a table of options, [{name}]")),
            _ if name == "data" || name == ENCODER || NAMED.contains(&name.as_str()) => {
                add(format!("`{name}` must be a table, [{name}]"));
            }
            (value, None) if top_keys().contains(&name.replace('-', "_")) => {
                if let Err(problem) = file.put(&name, value, folder) {
                    add(format!("`{name}` {problem}"));
                }
            }
            _ => add(format!("`{name}` {}", misplaced(&name.replace('-', "_")))),
        }
    }
    Ok(file)
}

impl StudyFile {
    /// Options of a table that are options of the evaluation.
    fn put_all(
        &mut self,
        table: &str,
        known: &[String],
        entries: serde_json::Map<String, Value>,
        folder: &Path,
        add: &mut impl FnMut(String),
    ) {
        for (key, value) in entries {
            let done = if known.contains(&key.replace('-', "_")) {
                self.put(&key, value, folder)
            } else {
                Err(layers::unknown(&key, known))
            };
            if let Err(problem) = done {
                add(format!("[{table}] `{key}` {problem}"));
            }
        }
    }

    fn put(&mut self, key: &str, value: Value, folder: &Path) -> Result<(), String> {
        allowed(key, &value)?;
        let command = layers::command::<Evaluate>();
        let arg = layers::find(&command, key).ok_or("is no option")?;
        layers::put::<Evaluate>(&mut self.own, arg, value, folder)
    }
}

/// Whether a file may say this; why not otherwise.
fn allowed(key: &str, value: &Value) -> Result<(), String> {
    let key = key.replace('-', "_");
    if key == NATIVE {
        return Err("cannot be said in a study file, because it names native code that would run; say it on the command line, or \
             in the environment as REPSCOPE_ONNXRUNTIME"
            .to_string());
    }
    let is_below = |path: &str| {
        let mut parts = Path::new(path).components();
        parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let path = value.as_str().unwrap_or_default();
    if key == OUTPUT_FILE && !is_below(path) {
        return Err(format!(
            "= {path} is not below the output folder, where a study may write; name another file on the command line"
        ));
    }
    Ok(())
}

/// Reads one option of an analysis, from a study file or from `--set`, into its layer.
pub fn put(layer: &mut Layer, declared: &Declared, key: &str, value: Value, folder: &Path) -> Result<(), String> {
    let own = own_keys(declared);
    if !own.contains(&key.replace('-', "_")) {
        return Err(if data_keys().contains(&key.replace('-', "_")) {
            "belongs into [data]".to_string()
        } else {
            layers::unknown(key, &own)
        });
    }
    let command = (declared.command)();
    let arg = layers::find(&command, key).ok_or("is no option")?;
    (declared.put)(layer, arg, value, folder)
}

/// A value as it is typed behind `--set OPTION=`.
pub fn typed_value(text: &str) -> Value {
    let one = |text: &str| match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => serde_json::from_str(text)
            .ok()
            .filter(Value::is_number)
            .unwrap_or_else(|| text.into()),
    };
    if text.contains(',') {
        text.split(',').map(one).collect()
    } else {
        one(text)
    }
}

fn keys<T: Args>() -> Vec<String> {
    layers::keys::<T>(|_| true)
}

/// Options of the evaluation that stand at the top of the file.
fn top_keys() -> Vec<String> {
    let own = ["only", "skip"].map(str::to_string).into_iter();
    let shared = [keys::<Settings>(), keys::<Outputs>(), keys::<GateOptions>()].concat();
    own.chain(shared).collect()
}

/// Options that stand in `[data]`.
fn data_keys() -> Vec<String> {
    let elsewhere = [
        keys::<EncoderOptions>(),
        ["model", "replicates", "views", "against"].map(str::to_string).to_vec(),
    ]
    .concat();
    let mut own = keys::<Data>();
    own.retain(|key| !elsewhere.contains(key));
    own
}

/// The options of an analysis that its table may have: those that are not said once for all analyses.
fn own_keys(declared: &Declared) -> Vec<String> {
    let shared = match declared.data {
        Origin::Study => [keys::<Settings>(), keys::<Data>()].concat(),
        Origin::Own => keys::<Settings>(),
    };
    let command = (declared.command)();
    let all = command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some())
        .map(layers::key);
    all.filter(|key| !shared.contains(key) && !OTHER_WORK.contains(&key.as_str()))
        .collect()
}

/// Where an unknown key of the top should have been, or what it may have meant.
fn misplaced(key: &str) -> String {
    if data_keys().iter().any(|own| own == key) {
        return "belongs into [data]".to_string();
    }
    let has = |own: &&Declared| own_keys(own).iter().any(|own| own == key);
    let tables: Vec<&str> = analysis::evaluated().filter(has).map(|own| own.kind.name()).collect();
    if !tables.is_empty() {
        return format!("belongs into [{}]", tables.join("] or ["));
    }
    let top = top_keys();
    let tables = analysis::evaluated().map(|own| own.kind.name());
    let known = top
        .iter()
        .map(String::as_str)
        .chain(["data", ENCODER])
        .chain(NAMED)
        .chain(tables);
    format!("is no key of a study file{}", did_you_mean(key, known))
}

/// `NAME=PATH`, or with next states `NAME=PATH,PATH`.
fn named(name: &str, value: &toml::Value, folder: &Path) -> Result<String, String> {
    if name.contains('=') || name.trim().is_empty() {
        return Err("is no name: one without `=` is needed".to_string());
    }
    let path = |value: &toml::Value| {
        let text = value.as_str().filter(|text| !text.is_empty());
        text.map(|text| folder.join(text).to_string_lossy().into_owned())
            .ok_or_else(|| "must be a path in quotes, or two in brackets".to_string())
    };
    let paths = match value {
        toml::Value::Array(values) => values.iter().map(path).collect::<Result<Vec<_>, _>>()?.join(","),
        value => path(value)?,
    };
    Ok(format!("{name}={paths}"))
}

/// TOML as the values that options are read from.
fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::Table(entries) => {
            let entries = entries.into_iter().map(|(key, value)| Ok((key, option(value)?)));
            Value::Object(entries.collect::<Result<_, String>>()?)
        }
        value => option(value)?,
    })
}

/// The value of an option. A table of names and values is a list of `NAME=VALUE`, in the order of the file.
fn option(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(yes) => yes.into(),
        toml::Value::Datetime(_) => return Err("must not be a date".to_string()),
        toml::Value::Array(values) => values.into_iter().map(option).collect::<Result<Vec<_>, _>>()?.into(),
        toml::Value::Table(entries) => {
            let named = entries.into_iter().map(|(name, value)| match option(value)? {
                Value::String(text) => Ok(Value::from(format!("{name}={text}"))),
                other => Ok(Value::from(format!("{name}={other}"))),
            });
            named.collect::<Result<Vec<_>, String>>()?.into()
        }
    })
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

    #[test]
    fn keys_become_options() {
        let (file, problems) = parsed(
            "seed = 7\nonly = [\"clid\", \"geometry\"]\nno_figures = true\n[neighborhood]\nk = 5\n\
             [clid]\nstandardize = false\neps = 0.5\n[retrieval]\nignore_case = false\n",
        );
        assert_eq!(problems, "");
        let own: Evaluate = layers::read(file.own).expect("options");
        assert_eq!((own.settings.seed, own.outputs.figures.no_figures), (7, true));
        assert_eq!(own.choice.only.len(), 2);
        assert_eq!(file.analyses["neighborhood"]["k"], serde_json::json!([5]));
        assert_eq!(file.analyses["clid"]["standardize"], "no");
    }

    #[test]
    fn paths_are_relative_to_the_file_and_names_are_not_paths() {
        let mut layer = Layer::new();
        let retrieval = analysis::named("retrieval").expect("an analysis");
        let mut set = |key: &str, value: Value| {
            put(&mut layer, retrieval, key, value, Path::new("a/b")).expect("an option");
            layer.clone()
        };
        assert_eq!(
            set("sensor_embeddings", "x=1.npy".into())["sensor_embeddings"],
            "a/b/x=1.npy"
        );
        assert_eq!(set("sensor_embeddings", "/x.npy".into())["sensor_embeddings"], "/x.npy");
        let labels = serde_json::json!({"l1": "x.npy"});
        assert_eq!(set("labels", labels)["labels"], serde_json::json!(["l1=a/b/x.npy"]));
        assert_eq!(set("ids", "id".into())["ids"], serde_json::json!(["id"]));
        assert_eq!(
            set("ids", "z=id.npy".into())["ids"],
            serde_json::json!(["z=a/b/id.npy"])
        );
    }

    #[test]
    fn a_file_names_no_native_code_and_writes_nowhere_else() {
        let (_, problems) = parsed(
            "[encoder]\nruntime = \"onnxruntime\"\nruntime_library = \"weights.so\"\n\
             [retrieval]\nruntime-library = \"weights.so\"\noutput = \"../flat.json\"\n",
        );
        for line in [
            "s.toml: [encoder] `runtime_library` cannot be said in a study file, because it names native code that would run; say it \
             on the command line, or in the environment as REPSCOPE_ONNXRUNTIME",
            "s.toml: [retrieval] `runtime-library` cannot be said in a study file",
            "s.toml: [retrieval] `output` = ../flat.json is not below the output folder, where a study may write; name another file \
             on the command line",
        ] {
            assert!(problems.contains(line), "{line}\n{problems}");
        }
        let (_, problems) = parsed("output_dir = \"../new\"\n[retrieval]\noutput = \"flat.json\"\n");
        assert_eq!(problems, "");
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
            "s.toml: [rankme] `k` is no option; there are threshold, eps",
            "s.toml: [models] `a` must be a path in quotes, or two in brackets",
            "s.toml: [neighborhood] `k` is empty; leave it out, or give a value",
        ] {
            assert!(problems.lines().any(|l| l == format!("- {line}")), "{line}\n{problems}");
        }
        assert!(problems.starts_with("13 problems"), "{problems}");
    }

    #[test]
    fn every_wrong_value_is_named() {
        let (_, problems) = parsed("seed = \"x\"\nlevel = \"y\"\nonly = [\"geometri\"]\n");
        for word in ["`seed`", "`level`", "`geometri`"] {
            assert!(problems.contains(word), "{word}\n{problems}");
        }
        assert!(problems.starts_with("3 problems"), "{problems}");
    }
}
