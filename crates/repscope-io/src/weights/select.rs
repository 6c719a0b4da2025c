// SPDX-License-Identifier: MIT
//! Which tensors of a checkpoint are the weights that are meant.

use std::collections::HashMap;

use crate::error::{Parsed, bail};

/// Under these names checkpoints keep the weights of a network.
const KNOWN: &str = "state_dict model_state_dict encoder_state_dict model encoder student teacher";

/// What wrappers put before the names of all weights.
const PREFIXES: &str = "module. model. backbone. encoder. encoder_q. _orig_mod. net.";

/// How many groups a message lists.
const LISTED: usize = 20;

/// A tensor as the choice sees it.
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    /// The first key, where more follow.
    pub(super) group: Option<&'a str>,
    /// Whether it is one number, such as the best accuracy so far.
    pub(super) is_single: bool,
}

/// The chosen tensors, and the beginning that all their names share and that is no part of them.
#[derive(Debug, PartialEq)]
pub(super) struct Selected {
    pub(super) prefix: String,
    pub(super) chosen: Vec<usize>,
}

/// Chooses by key, or by what is usual. There is at least one tensor.
pub(super) fn select(all: &[Named], key: Option<&str>) -> Parsed<Selected> {
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
    let tensors = |count: usize| if count == 1 { "tensor" } else { "tensors" };
    let groups = groups(all);
    let mut names: Vec<String> = groups
        .iter()
        .take(LISTED)
        .map(|(name, count)| format!("`{name}` ({count} {})", tensors(*count)))
        .collect();
    if groups.len() > LISTED {
        names.push(format!("{} more groups", groups.len() - LISTED));
    }
    let single: Vec<&Named> = all.iter().filter(|n| n.group.is_none()).collect();
    if let Some(first) = single.first() {
        let count = single.len();
        let (tensors, name) = (tensors(count), &first.name);
        names.push(format!("{count} {tensors} in no group, such as `{name}`"));
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

    fn choose(names: &[&str], key: Option<&str>) -> Result<(String, usize), String> {
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
