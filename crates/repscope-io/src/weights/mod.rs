// SPDX-License-Identifier: MIT
//! The weights of one network out of a checkpoint: `.pth` and its kin, or `.safetensors`.
//!
//! A checkpoint may hold several networks, an optimizer and more. [`Weights::open`] finds the state dict
//! that is meant, or lists the candidates, and takes off what wrappers put before all names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use repscope_core::counted;

use crate::array::{Array, ArrayInfo, Data};
use crate::choose::choose;
use crate::error::{Error, Parsed, Problem, Result, bail, problem};
use crate::format::Format;
use crate::mapped::MappedFile;
use crate::torch::{self, Checkpoint, Leaf, leaves};
use crate::{read, tensors};

/// Named tensors whose values are read on demand.
pub struct Weights {
    path: PathBuf,
    source: Source,
    /// What stood before all names.
    prefix: String,
    /// Names without the prefix, true shapes, types; in the order of the file.
    infos: Vec<ArrayInfo>,
    /// The tensors of the same state dict that cannot be read, with the reason.
    refused: Vec<(String, String)>,
}

enum Source {
    /// The file, and a tensor for each name.
    Torch(Box<Checkpoint>, Vec<Leaf>),
    Safetensors(MappedFile),
}

impl Weights {
    /// Opens a checkpoint. `key` says which part, as in `file.pth#key`; without it the file must hold one
    /// state dict, or one under a usual name such as `state_dict`, `model` or `encoder_state_dict`.
    pub fn open(path: &Path, key: Option<&str>) -> Result<Weights> {
        let (format, file) = read::open(path)?;
        let opened = match format {
            Format::Torch => open_torch(path, &file, key),
            Format::Safetensors => open_safetensors(path, file, key),
            other => Err(problem!(
                "is an .{} file, which holds no weights; give .pth, .pt, .ckpt, .bin or .safetensors",
                other.extension()
            )),
        };
        opened.map_err(|p| p.in_file(path.display()))
    }

    /// The names, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.infos.iter().map(|info| info.key.as_deref().unwrap_or_default())
    }

    /// How many tensors there are, at least one.
    pub fn count(&self) -> usize {
        self.infos.len()
    }

    /// Whether there is a tensor of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.names().any(|n| n == name)
    }

    /// What stood before all names in the file and was taken off: `state_dict.module.`, or nothing.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The sizes of a tensor; none for a single number.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        Ok(&self.infos[self.find(name)?].shape)
    }

    /// Short name of the type in the file: `f32`, `bf16`, `i64`.
    pub fn dtype(&self, name: &str) -> Result<&str> {
        Ok(&self.infos[self.find(name)?].dtype)
    }

    /// The values in C order, as `f32` whatever the file holds.
    pub fn values(&self, name: &str) -> Result<Vec<f32>> {
        let at = self.find(name)?;
        let data = self.read(at).map_err(|p| self.error(p))?;
        let not_numbers = || self.error(problem!("holds tensor `{name}`, which is no tensor of numbers"));
        to_f32(data).ok_or_else(not_numbers)
    }

    fn read(&self, at: usize) -> Parsed<Data> {
        match &self.source {
            Source::Torch(checkpoint, leaves) => leaves[at].read(checkpoint).map(Array::into_data),
            Source::Safetensors(file) => {
                let name = self.infos[at].key.as_deref().unwrap_or_default();
                tensors::read_data(file, Some(&format!("{}{name}", self.prefix))).map(|(_, data)| data)
            }
        }
    }

    /// The position of a name, which may also be given as the file has it.
    fn find(&self, name: &str) -> Result<usize> {
        let short = name
            .strip_prefix(&self.prefix)
            .filter(|short| !self.contains(name) && self.contains(short));
        let name = short.unwrap_or(name);
        if let Some((_, reason)) = self.refused.iter().find(|(refused, _)| refused == name) {
            return Err(self.error(problem!("holds tensor `{name}`, which {reason}")));
        }
        choose(&self.infos, Some(name), "tensor").map_err(|p| self.error(p))
    }

    fn error(&self, problem: Problem) -> Error {
        problem.in_file(self.path.display())
    }
}

impl std::fmt::Debug for Weights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Weights");
        out.field("path", &self.path).field("prefix", &self.prefix);
        out.field("tensors", &self.infos).finish_non_exhaustive()
    }
}

fn open_torch(path: &Path, file: &MappedFile, key: Option<&str>) -> Parsed<Weights> {
    let checkpoint = Checkpoint::open(file)?;
    let all = leaves(&checkpoint.pickled)?;
    if all.iter().all(|leaf| leaf.shape().is_none()) {
        return torch::nothing(&checkpoint, &all);
    }
    let is_model = matches!(
        checkpoint.pickled.get(checkpoint.pickled.root),
        crate::pickle::Value::Record(_)
    );
    let named: Vec<Named> = all
        .iter()
        .map(|leaf| Named {
            name: &leaf.name,
            // The parts of a pickled model are its weights, not choices.
            group: (leaf.depth > 1 && !is_model).then(|| &leaf.name[..leaf.first_key]),
            is_single: leaf.shape().is_some_and(<[usize]>::is_empty),
        })
        .collect();
    let Selected { prefix, mut chosen } = select(&named, key)?;
    let refused = chosen.iter().filter_map(|&at| {
        let name = all[at].name[prefix.len()..].to_string();
        Some((name, all[at].refusal()?.to_string()))
    });
    let refused: Vec<(String, String)> = refused.collect();
    chosen.retain(|&at| all[at].refusal().is_none());
    if let ([], Some((name, reason))) = (&chosen[..], refused.first()) {
        bail!("holds tensor `{name}`, which {reason}");
    }
    let mut all: Vec<Option<Leaf>> = all.into_iter().map(Some).collect();
    let kept: Vec<Leaf> = chosen.iter().filter_map(|&at| all[at].take()).collect();
    let infos = kept.iter().filter_map(|leaf| {
        Some(ArrayInfo {
            key: Some(leaf.name[prefix.len()..].to_string()),
            shape: leaf.shape()?.to_vec(),
            dtype: leaf.info()?.dtype,
        })
    });
    Ok(Weights {
        path: path.to_path_buf(),
        infos: infos.collect(),
        source: Source::Torch(Box::new(checkpoint), kept),
        prefix,
        refused,
    })
}

fn open_safetensors(path: &Path, file: MappedFile, key: Option<&str>) -> Parsed<Weights> {
    let all = tensors::list(&file)?;
    if all.is_empty() {
        bail!("holds no tensor");
    }
    let named: Vec<Named> = all
        .iter()
        .map(|info| Named {
            name: info.key.as_deref().unwrap_or_default(),
            group: None,
            is_single: info.shape.is_empty(),
        })
        .collect();
    let Selected { prefix, chosen } = select(&named, key)?;
    let infos = chosen.iter().map(|&at| ArrayInfo {
        key: all[at].key.as_ref().map(|key| key[prefix.len()..].to_string()),
        ..all[at].clone()
    });
    Ok(Weights {
        path: path.to_path_buf(),
        infos: infos.collect(),
        source: Source::Safetensors(file),
        prefix,
        refused: Vec::new(),
    })
}

fn to_f32(data: Data) -> Option<Vec<f32>> {
    Some(match data {
        Data::F32(v) => (*v).as_ref().to_vec(),
        Data::F64(v) => (*v).as_ref().iter().map(|&x| x as f32).collect(),
        Data::U8(v) => (*v).as_ref().iter().map(|&x| f32::from(x)).collect(),
        Data::I64(v) => v.iter().map(|&x| x as f32).collect(),
        Data::U64(v) => v.iter().map(|&x| x as f32).collect(),
        Data::Bool(v) => v.iter().map(|&x| f32::from(u8::from(x))).collect(),
        Data::Text(_) | Data::Mixed(_) | Data::Elsewhere(_) => return None,
    })
}

/// Under these names checkpoints keep the weights of a network.
const KNOWN: &str = "state_dict model_state_dict encoder_state_dict model encoder student teacher";

/// What wrappers put before the names of all weights.
const PREFIXES: &str = "module. model. backbone. encoder. encoder_q. _orig_mod. net.";

/// How many groups a message lists.
const LISTED: usize = 20;

/// A tensor as the choice sees it.
struct Named<'a> {
    name: &'a str,
    /// The first key, where more follow.
    group: Option<&'a str>,
    /// Whether it is one number, such as the best accuracy so far.
    is_single: bool,
}

/// The chosen tensors, and the beginning that all their names share and that is no part of them.
#[derive(Debug, PartialEq)]
struct Selected {
    prefix: String,
    chosen: Vec<usize>,
}

/// Chooses by key, or by what is usual. There is at least one tensor.
fn select(all: &[Named], key: Option<&str>) -> Parsed<Selected> {
    if let [one] = all
        && one.name.is_empty()
    {
        bail!("holds one tensor without a name, not the weights of a network");
    }
    let Some(key) = key else {
        return usual(all);
    };
    let begins = |prefix: &str| all.iter().any(|n| n.name.starts_with(prefix));
    let prefix = format!("{key}.");
    if begins(&prefix) {
        return Ok(within(all, &prefix));
    }
    // A part of the usual state dict, such as `encoder_q` of a momentum encoder.
    if let Ok(Selected { prefix, .. }) = usual(all) {
        let deeper = format!("{prefix}{key}.");
        if begins(&deeper) {
            return Ok(within(all, &deeper));
        }
    }
    if all.iter().any(|n| n.name == key) {
        bail!("holds `{key}` as one tensor, not as the weights of a network");
    }
    bail!("has no weights under `{key}`; it holds {}", listed(all))
}

/// Without a key: one group under a known name, else the tensors that are in no group, else the only group.
fn usual(all: &[Named]) -> Parsed<Selected> {
    let groups = groups(all);
    let known: Vec<&str> = groups
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| KNOWN.split_whitespace().any(|known| known == *name))
        .collect();
    let networks: Vec<&str> = groups
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.contains("optim") && !name.contains("sched"))
        .collect();
    let has_plain = all
        .iter()
        .any(|n| n.group.is_none() && (groups.is_empty() || !n.is_single));
    match (&known[..], has_plain, &networks[..]) {
        ([one], _, _) => Ok(within(all, &format!("{one}."))),
        ([], true, _) => Ok(strip(all, String::new(), |n| n.group.is_none())),
        ([], false, [one]) => Ok(within(all, &format!("{one}."))),
        (several, ..) => {
            let first = several.first().or(networks.first()).copied().unwrap_or_default();
            let known = listed(all);
            bail!("holds the weights of several networks: {known}; choose one, as in #{first}")
        }
    }
}

fn within(all: &[Named], prefix: &str) -> Selected {
    strip(all, prefix.to_string(), |n| n.name.starts_with(prefix))
}

/// Takes known prefixes off for as long as all chosen names have them.
fn strip(all: &[Named], mut prefix: String, is_chosen: impl Fn(&Named) -> bool) -> Selected {
    let chosen: Vec<usize> = (0..all.len()).filter(|&at| is_chosen(&all[at])).collect();
    let shared = |prefix: &str| {
        PREFIXES.split_whitespace().find(|p| {
            chosen.iter().all(|&at| {
                all[at].name[prefix.len()..]
                    .strip_prefix(p)
                    .is_some_and(|rest| !rest.is_empty())
            })
        })
    };
    while let Some(more) = shared(&prefix) {
        prefix.push_str(more);
    }
    Selected { prefix, chosen }
}

/// Each first key with the number of tensors behind it, in the order of the file.
fn groups<'a>(all: &[Named<'a>]) -> Vec<(&'a str, usize)> {
    let mut groups: Vec<(&str, usize)> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for name in all.iter().filter_map(|n| n.group) {
        let at = *positions.entry(name).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, count)) => *count += 1,
            None => groups.push((name, 1)),
        }
    }
    groups
}

fn listed(all: &[Named]) -> String {
    let groups = groups(all);
    let mut names: Vec<String> = groups
        .iter()
        .take(LISTED)
        .map(|(name, count)| format!("`{name}` ({})", counted(*count, "tensor")))
        .collect();
    if groups.len() > LISTED {
        names.push(format!("{} more groups", groups.len() - LISTED));
    }
    let single: Vec<&Named> = all.iter().filter(|n| n.group.is_none()).collect();
    if let Some(first) = single.first() {
        let (tensors, name) = (counted(single.len(), "tensor"), &first.name);
        names.push(format!("{tensors} in no group, such as `{name}`"));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names with `/` after the first key of a nested dict.
    fn named<'a>(names: &[&'a str]) -> Vec<(String, Option<&'a str>)> {
        let split = |name: &&'a str| (name.replace('/', "."), name.split_once('/').map(|(group, _)| group));
        names.iter().map(split).collect()
    }

    fn choose(names: &[&str], key: Option<&str>) -> std::result::Result<(String, usize), String> {
        let named = named(names);
        let all: Vec<Named> = named
            .iter()
            .map(|(name, group)| Named {
                name,
                group: *group,
                is_single: name == "best",
            })
            .collect();
        select(&all, key)
            .map(|s| (s.prefix, s.chosen.len()))
            .map_err(|p| p.to_string())
    }

    #[test]
    fn a_plain_state_dict_is_taken_whole() {
        assert_eq!(choose(&["conv.weight", "fc.bias"], None), Ok((String::new(), 2)));
    }

    #[test]
    fn a_known_name_wins_over_an_optimizer_and_single_numbers() {
        let names = ["best", "optimizer/0", "state_dict/fc.weight", "state_dict/fc.bias"];
        assert_eq!(choose(&names, None), Ok(("state_dict.".to_string(), 2)));
    }

    #[test]
    fn an_unknown_name_is_taken_where_it_is_the_only_network() {
        let names = ["best", "optimizer/0", "policy/fc.weight"];
        assert_eq!(choose(&names, None), Ok(("policy.".to_string(), 1)));
    }

    #[test]
    fn several_networks_are_listed() {
        let error = choose(&["student/a", "teacher/a", "teacher/b"], None).unwrap_err();
        assert_eq!(
            error,
            "holds the weights of several networks: `student` (1 tensor), `teacher` (2 tensors); choose one, as in \
             #student"
        );
        let teacher = choose(&["student/a", "teacher/a", "teacher/b"], Some("teacher"));
        assert_eq!(teacher, Ok(("teacher.".to_string(), 2)));
    }

    #[test]
    fn wrappers_are_taken_off_where_all_names_have_them() {
        let both = ["state_dict/module.model.a", "state_dict/module.model.b"];
        assert_eq!(choose(&both, None), Ok(("state_dict.module.model.".to_string(), 2)));
        let some = ["model.a", "head.b"];
        assert_eq!(choose(&some, None), Ok((String::new(), 2)));
    }

    #[test]
    fn a_part_of_the_state_dict_can_be_chosen_by_its_name_there() {
        let moco = [
            "state_dict/module.encoder_q.conv1.weight",
            "state_dict/module.encoder_k.conv1.weight",
            "state_dict/module.queue",
        ];
        let expected = ("state_dict.module.encoder_q.".to_string(), 1);
        assert_eq!(choose(&moco, Some("encoder_q")), Ok(expected.clone()));
        assert_eq!(choose(&moco, Some("state_dict.module.encoder_q")), Ok(expected));
    }

    #[test]
    fn a_missing_part_lists_what_there_is() {
        let error = choose(&["best", "model/a"], Some("encoder")).unwrap_err();
        assert_eq!(
            error,
            "has no weights under `encoder`; it holds `model` (1 tensor), 1 tensor in no group, such as `best`"
        );
    }
}
