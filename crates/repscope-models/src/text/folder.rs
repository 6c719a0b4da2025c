// SPDX-License-Identifier: MIT
//! What lies at a path: a folder as Hugging Face or sentence-transformers keep models, or an `.onnx` file.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use repscope_io::folder_of;
use serde_json::Value;

use super::options::Pooling;
use crate::architectures::Activation;
use crate::architectures::text::Config;
use crate::error::{Result, bail, wrong};

/// Where `.onnx` files lie in folders.
const GRAPHS: [&str; 2] = ["model.onnx", "onnx/model.onnx"];

/// The files of a text model.
pub(super) struct Folder {
    pub(super) model: Model,
    /// What `config.json` says, where it is that of a network that is known.
    pub(super) config: Option<Config>,
    pub(super) tokenizer: PathBuf,
    /// How many tokens the model was made for, as its tokenizer says.
    pub(super) longest: Option<usize>,
    /// What sentence-transformers does after the model.
    pub(super) modules: Option<Modules>,
    /// All files that were read or will be.
    pub(super) files: Vec<PathBuf>,
    /// `config.json` as it is.
    pub(super) json: Option<Value>,
}

/// The model itself.
pub(super) enum Model {
    /// Weights in one or more files.
    Weights(Vec<PathBuf>),
    /// An exported graph.
    Graph(PathBuf),
}

impl Folder {
    /// Looks at a path without reading weights. `kind` is what the model should be.
    pub(super) fn open(path: &Path, kind: &Kind) -> Result<Folder> {
        let is_graph = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("onnx"));
        if !path.exists() {
            bail!("there is no {}", path.display());
        }
        if !path.is_dir() && !is_graph {
            bail!(
                "{} is not a text model; give the folder that holds config.json, the weights and tokenizer.json, or an \
                 .onnx file",
                path.display()
            );
        }
        let root = if is_graph && !path.is_dir() {
            home(path)
        } else {
            path.to_path_buf()
        };
        let mut files = Vec::new();
        let modules = Modules::read(&root, &mut files)?;
        let inner = match &modules {
            Some(modules) => root.join(&modules.model),
            None => root.clone(),
        };
        let json = read_json(&inner.join("config.json"), &mut files)?;
        let config = json.as_ref().map(kind.read).transpose()?.flatten();
        let model = if path.is_dir() {
            find_model(&inner, &root, (config.is_some(), kind.known), json.as_ref(), &mut files)?
        } else {
            Model::Graph(path.to_path_buf())
        };
        let tokenizer = find_tokenizer(&[&inner, &root])?;
        files.push(tokenizer.clone());
        let beside = tokenizer.with_file_name("tokenizer_config.json");
        let about = read_json(&beside, &mut files)?;
        // Some tokenizers say 10³⁰ where they mean that they do not know.
        let said = about.as_ref().and_then(|json| json.get("model_max_length")?.as_u64());
        let longest = said.filter(|&n| n < 1 << 24).map(|n| n as usize);
        match &model {
            Model::Weights(weights) => files.extend(weights.iter().cloned()),
            Model::Graph(graph) => files.push(graph.clone()),
        }
        Ok(Folder {
            model,
            config,
            tokenizer,
            longest: modules.as_ref().and_then(|m| m.longest).or(longest),
            modules,
            files,
            json,
        })
    }
}

/// What a folder should hold.
pub(super) struct Kind {
    /// Reads `config.json`; none where the network is not known by its weights.
    read: fn(&Value) -> Result<Option<Config>>,
    /// The networks that are.
    known: &'static str,
}

/// A model that embeds texts.
pub(super) const ENCODER: Kind = Kind {
    read: Config::read,
    known: "bert, distilbert, roberta, xlm-roberta, camembert, mpnet, clip, t5 and mt5",
};
/// A model that says what comes next.
pub(super) const LANGUAGE: Kind = Kind {
    read: Config::language,
    known: "gpt2, t5 and mt5",
};

/// The folder that an `.onnx` file belongs to: its own, or the one above if it holds the tokenizer.
fn home(path: &Path) -> PathBuf {
    let own = folder_of(path);
    match own.parent() {
        Some(above) if !own.join("tokenizer.json").is_file() && above.join("tokenizer.json").is_file() => {
            above.to_path_buf()
        }
        _ => own.to_path_buf(),
    }
}

fn find_model(
    inner: &Path,
    root: &Path,
    (is_known, known): (bool, &str),
    json: Option<&Value>,
    files: &mut Vec<PathBuf>,
) -> Result<Model> {
    let weights = find_weights(inner, files)?;
    let graph = [inner, root]
        .iter()
        .flat_map(|folder| GRAPHS.map(|graph| folder.join(graph)))
        .find(|graph| graph.is_file())
        .or_else(|| only_graph(inner));
    match (weights, graph, json) {
        (Some(weights), _, _) if is_known => Ok(Model::Weights(weights)),
        (_, Some(graph), _) => Ok(Model::Graph(graph)),
        (Some(_), None, Some(json)) => bail!(
            "{} is a model of the kind {}, which is not known by its weights; export it to ONNX (`optimum-cli export \
             onnx`) and give that folder. Known are {known}",
            inner.display(),
            json.get("model_type")
                .map_or("that is not said", |kind| kind.as_str().unwrap_or("?"))
        ),
        (Some(_), None, None) => bail!(
            "{} has weights but no config.json, which says what they are; put it beside them",
            inner.display()
        ),
        (None, None, _) => bail!(
            "{} holds no model.safetensors, pytorch_model.bin or .onnx file; give the folder that `save_pretrained` \
             wrote",
            inner.display()
        ),
    }
}

/// The only `.onnx` file of a folder.
fn only_graph(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()));
    let mut graphs = entries.filter(|path| path.extension().is_some_and(|e| e == "onnx"));
    match (graphs.next(), graphs.next()) {
        (Some(graph), None) => Some(graph),
        _ => None,
    }
}

/// The files with the weights: one, or those that an index lists.
pub(super) fn find_weights(folder: &Path, files: &mut Vec<PathBuf>) -> Result<Option<Vec<PathBuf>>> {
    for name in ["model.safetensors", "pytorch_model.bin"] {
        let file = folder.join(name);
        if file.is_file() {
            return Ok(Some(vec![file]));
        }
        let index = folder.join(format!("{name}.index.json"));
        let Some(json) = read_json(&index, files)? else {
            continue;
        };
        let map = json.get("weight_map").and_then(Value::as_object);
        let names: BTreeSet<&str> = map
            .into_iter()
            .flatten()
            .filter_map(|(_, file)| file.as_str())
            .collect();
        if names.is_empty() {
            bail!("{} lists no files of weights", index.display());
        }
        let is_plain = |name: &str| {
            let mut parts = Path::new(name).components();
            matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
        };
        if let Some(name) = names
            .iter()
            .find(|name| !is_plain(name) || !folder.join(name).is_file())
        {
            let index = index.display();
            bail!("{index} lists {name}, which is not beside it; put that file there");
        }
        return Ok(Some(names.iter().map(|name| folder.join(name)).collect()));
    }
    Ok(None)
}

fn find_tokenizer(folders: &[&Path]) -> Result<PathBuf> {
    let mut files = folders.iter().map(|folder| folder.join("tokenizer.json"));
    files.find(|file| file.is_file()).ok_or_else(|| {
        wrong!(
            "{} has no tokenizer.json; in Python, `AutoTokenizer.from_pretrained(…).save_pretrained(…)` writes it",
            folders.first().unwrap_or(&Path::new("")).display()
        )
    })
}

/// Reads a JSON file and notes it; none where there is no such file.
pub(super) fn read_json(path: &Path, files: &mut Vec<PathBuf>) -> Result<Option<Value>> {
    if !path.is_file() {
        return Ok(None);
    }
    let bytes = repscope_io::read_regular(path).map_err(|e| wrong!("cannot read {}: {e}", path.display()))?;
    let json = serde_json::from_slice(&bytes).map_err(|e| wrong!("{} is not JSON: {e}", path.display()))?;
    files.push(path.to_path_buf());
    Ok(Some(json))
}

/// The modules of a folder, in their order.
pub(super) struct Modules {
    /// The folder of the model within, often the same.
    pub(super) model: String,
    pub(super) pooling: Option<Pooling>,
    pub(super) after: Vec<After>,
    pub(super) longest: Option<usize>,
    pub(super) is_lower_case: bool,
    /// What is put before each text unless somebody says otherwise.
    pub(super) prompt: Option<String>,
}

/// A step on the vector of a text.
pub(super) enum After {
    /// A linear layer, and what follows it.
    Dense(PathBuf, Option<Activation>),
    /// To length one.
    Normalize,
}

impl Modules {
    /// None where there is no `modules.json`.
    pub(super) fn read(root: &Path, files: &mut Vec<PathBuf>) -> Result<Option<Modules>> {
        let Some(list) = read_json(&root.join("modules.json"), files)? else {
            return Ok(None);
        };
        let mut modules = Modules {
            model: String::new(),
            pooling: None,
            after: Vec::new(),
            longest: None,
            is_lower_case: false,
            prompt: read_prompt(root, files)?,
        };
        let mut includes_prompt = true;
        for (at, module) in list.as_array().into_iter().flatten().enumerate() {
            let field = |key: &str| module.get(key).and_then(Value::as_str).unwrap_or_default();
            let (kind, path) = (field("type").rsplit('.').next().unwrap_or_default(), field("path"));
            if path.contains("..") || Path::new(path).is_absolute() {
                bail!("modules.json names {path}, which is outside of the folder");
            }
            let folder = root.join(path);
            match (at, kind) {
                (0, "Transformer") => modules.read_model(path, &folder, files)?,
                (_, "Pooling") if at > 0 => {
                    let json = read_json(&folder.join("config.json"), files)?.unwrap_or_default();
                    modules.pooling = Some(pooling(&json)?);
                    includes_prompt = json.get("include_prompt").and_then(Value::as_bool) != Some(false);
                }
                (_, "Dense") if at > 0 => modules.after.push(dense(&folder, files)?),
                (_, "Normalize") if at > 0 => modules.after.push(After::Normalize),
                _ => bail!(
                    "modules.json has the module {kind} at place {at}, which is not supported (Transformer, \
                         Pooling, Dense and Normalize are); export the model to ONNX and give that file"
                ),
            }
        }
        if modules.prompt.is_some() && !includes_prompt {
            bail!(
                "the folder has a prompt that is left out of the pooling, which is not supported; give a template, or \
                 export the model to ONNX"
            );
        }
        Ok(Some(modules))
    }

    fn read_model(&mut self, path: &str, folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
        self.model = path.to_string();
        let json = read_json(&folder.join("sentence_bert_config.json"), files)?.unwrap_or_default();
        let longest = json.get("max_seq_length").and_then(Value::as_u64);
        self.longest = longest.and_then(|n| usize::try_from(n).ok());
        self.is_lower_case = json.get("do_lower_case").and_then(Value::as_bool) == Some(true);
        Ok(())
    }
}

/// The prompt that is used where none is chosen.
fn read_prompt(root: &Path, files: &mut Vec<PathBuf>) -> Result<Option<String>> {
    let json = read_json(&root.join("config_sentence_transformers.json"), files)?.unwrap_or_default();
    let name = json.get("default_prompt_name").and_then(Value::as_str);
    let prompt = name.and_then(|name| json.get("prompts")?.get(name)?.as_str());
    Ok(prompt.filter(|prompt| !prompt.is_empty()).map(str::to_string))
}

/// Old files have a switch for each way, new ones a name.
fn pooling(json: &Value) -> Result<Pooling> {
    const WAYS: [(&str, &str, Option<Pooling>); 6] = [
        ("pooling_mode_cls_token", "cls", Some(Pooling::Cls)),
        ("pooling_mode_max_tokens", "max", Some(Pooling::Max)),
        ("pooling_mode_mean_tokens", "mean", Some(Pooling::Mean)),
        ("pooling_mode_lasttoken", "lasttoken", Some(Pooling::Last)),
        ("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", None),
        ("pooling_mode_weightedmean_tokens", "weightedmean", None),
    ];
    let names: Vec<&str> = match json.get("pooling_mode") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => {
            let is_on = |key: &str| json.get(key).and_then(Value::as_bool) == Some(true);
            WAYS.iter()
                .filter(|(key, ..)| is_on(key))
                .map(|(_, name, _)| *name)
                .collect()
        }
    };
    let found = match names[..] {
        [] => Some(Pooling::Mean),
        [one] => WAYS.iter().find(|(_, name, _)| *name == one).and_then(|(.., way)| *way),
        _ => None,
    };
    found.ok_or_else(|| {
        let names = names.join(" and ");
        wrong!("the folder pools by {names}, which is not supported; choose a pooling (mean, cls, max, last), or export the model \
             to ONNX")
    })
}

fn dense(folder: &Path, files: &mut Vec<PathBuf>) -> Result<After> {
    let json = read_json(&folder.join("config.json"), files)?.unwrap_or_default();
    let name = json
        .get("activation_function")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let activation = match name.rsplit('.').next().unwrap_or_default() {
        // Without a word it is tanh, as in sentence-transformers.
        "Tanh" | "" => Some(Activation::Tanh),
        "Identity" => None,
        "ReLU" => Some(Activation::Relu),
        "GELU" => Some(Activation::Gelu),
        "SiLU" => Some(Activation::Silu),
        _ => bail!(
            "{} has the activation {name}, which is not supported; export the model to ONNX and give that file",
            folder.display()
        ),
    };
    match find_weights(folder, files)?.as_deref() {
        Some([file]) => {
            files.push(file.clone());
            Ok(After::Dense(file.clone(), activation))
        }
        _ => bail!("{} has no model.safetensors or pytorch_model.bin", folder.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Result<Pooling> {
        pooling(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn old_and_new_files_say_how_to_pool() {
        assert_eq!(of(r#"{"pooling_mode": "lasttoken"}"#).unwrap(), Pooling::Last);
        let old = r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#;
        assert_eq!(of(old).unwrap(), Pooling::Cls);
        assert_eq!(of("{}").unwrap(), Pooling::Mean);
    }

    #[test]
    fn several_ways_at_once_are_an_error_that_names_them() {
        let two = r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}"#;
        assert!(of(two).unwrap_err().to_string().contains("cls and mean"));
        assert!(of(r#"{"pooling_mode": "weightedmean"}"#).is_err());
    }
}
