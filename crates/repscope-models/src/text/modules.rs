// SPDX-License-Identifier: MIT
//! What a folder of sentence-transformers says: how tokens are pooled, and what is done to the vector after that.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::folder::{find_weights, read_json};
use super::options::Pooling;
use crate::architectures::Activation;
use crate::error::{Result, bail, wrong};

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
