// SPDX-License-Identifier: MIT
//! Do the labels of the prototypes and of the data fit together? What does not is named, so that nothing scores a
//! silent zero.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Result, bail};
use repscope_core::{LabelSet, Labels, Retrieval};
use repscope_io::names::closest;

use super::PROTOTYPE;
use super::names::list;
use crate::report::counted;

/// Compares the labels of the prototypes with those of the data they search. Prototypes of labels that no set has are
/// left out; everything that does not match is named.
pub fn compare(retrieval: &mut Retrieval, warnings: &mut Vec<String>) -> Result<()> {
    let Some(at) = retrieval.spaces.iter().position(|s| s.name() == PROTOTYPE) else {
        return Ok(());
    };
    let own = retrieval.directions.iter().filter(|d| d.query == at || d.target == at);
    let others: BTreeSet<usize> = own.map(|d| if d.query == at { d.target } else { d.query }).collect();
    if others.is_empty() {
        warnings.push("no direction uses the prototypes; ask for prototype2NAME with `directions`".to_string());
        return Ok(());
    }
    let prototypes = retrieval.label_sets[0].of_space[at].clone();
    let of_set = |set: &LabelSet| Set {
        name: set.name.clone(),
        labels: others
            .iter()
            .flat_map(|&o| set.of_space[o].names().iter().cloned())
            .collect(),
    };
    let data: Vec<Set> = retrieval.label_sets.iter().map(of_set).collect();
    let is_known = |row: &usize| {
        let name = &prototypes.names()[prototypes.codes()[*row] as usize];
        data.iter().any(|set| set.labels.contains(name))
    };
    let keep: Vec<usize> = (0..prototypes.rows()).filter(is_known).collect();
    if keep.is_empty() {
        bail!("{}", nothing_matches(prototypes.names(), &data));
    }
    warnings.extend(mismatches(prototypes.names(), &data));
    if keep.len() < prototypes.rows() {
        retrieval.spaces[at] = Arc::new(retrieval.spaces[at].select(&keep)?);
        let kept = Arc::new(prototypes.select(&keep));
        for set in &mut retrieval.label_sets {
            set.of_space[at] = kept.clone();
        }
        select_groups(retrieval, at, &keep);
    }
    Ok(())
}

/// Keeps the groups of these rows of a space.
pub(super) fn select_groups(retrieval: &mut Retrieval, at: usize, keep: &[usize]) {
    if let Some(Some(groups)) = retrieval.groups.get_mut(at) {
        *groups = Arc::new(groups.select(keep));
    }
}

/// The labels that the data have in one set.
struct Set {
    name: Option<String>,
    labels: BTreeSet<String>,
}

impl Set {
    fn title(&self) -> String {
        self.name.as_ref().map_or("the data".to_string(), |n| format!("`{n}`"))
    }
}

fn nothing_matches(prototypes: &[String], data: &[Set]) -> String {
    let names: Vec<&str> = prototypes.iter().map(String::as_str).collect();
    let known = list(&names);
    let mut text = format!("no prototype has a label of the data: the prototypes are for {known}");
    for set in data {
        let names: Vec<&str> = set.labels.iter().map(String::as_str).collect();
        text += &format!("; the labels of {} are {}", set.title(), list(&names));
    }
    let pairs = case_pairs(prototypes, data);
    if pairs.is_empty() {
        text + "; write both in the same way"
    } else {
        text + &format!(". {} only in case: use `ignore_case`", differ(&pairs))
    }
}

/// What does not match, in sentences.
fn mismatches(prototypes: &[String], data: &[Set]) -> Vec<String> {
    let mut warnings = Vec::new();
    for set in data {
        let lacking = set.labels.iter().filter(|l| !prototypes.contains(l));
        let lacking: Vec<&str> = lacking.map(String::as_str).collect();
        if !lacking.is_empty() {
            let (labels, verb) = (
                counted(lacking.len(), "label"),
                if lacking.len() == 1 { "has" } else { "have" },
            );
            let (title, known) = (set.title(), list(&lacking));
            warnings.push(format!("{labels} of {title} {verb} no prototype: {known}"));
        }
        for other in data.iter().filter(|other| other.name != set.name) {
            let elsewhere = prototypes.iter().map(String::as_str);
            let is_elsewhere = |p: &&str| !set.labels.contains(*p) && other.labels.contains(*p);
            let elsewhere: Vec<&str> = elsewhere.filter(is_elsewhere).collect();
            if !elsewhere.is_empty() {
                let (names, set, other) = (list(&elsewhere), set.title(), other.title());
                warnings.push(format!(
                    "prototypes for {names} find nothing in {set}: these are labels of {other}"
                ));
            }
        }
    }
    let nowhere = prototypes
        .iter()
        .filter(|p| !data.iter().any(|set| set.labels.contains(*p)));
    let nowhere: Vec<&str> = nowhere.map(String::as_str).collect();
    if !nowhere.is_empty() {
        let labels = counted(nowhere.len(), "prototype label");
        let verb = if nowhere.len() == 1 { "is" } else { "are" };
        warnings.push(format!(
            "{labels} {verb} not in the data and left out of the queries: {}",
            list(&nowhere)
        ));
    }
    let pairs = case_pairs(prototypes, data);
    if !pairs.is_empty() {
        let differ = differ(&pairs);
        warnings.push(format!("{differ} only in case; `ignore_case` takes them as one"));
    }
    warnings
}

/// Prototype and data labels that would match if case did not matter. Where a label has its exact partner, nothing is
/// missing.
fn case_pairs(prototypes: &[String], data: &[Set]) -> Vec<(String, String)> {
    let labels: BTreeSet<&String> = data.iter().flat_map(|set| &set.labels).collect();
    let mut pairs = Vec::new();
    for prototype in prototypes {
        for label in &labels {
            let is_matched = labels.contains(prototype) && prototypes.contains(label);
            if prototype != *label && folded(prototype) == folded(label) && !is_matched {
                pairs.push((prototype.clone(), (*label).clone()));
            }
        }
    }
    pairs
}

fn differ(pairs: &[(String, String)]) -> String {
    let shown: Vec<String> = pairs
        .iter()
        .take(10)
        .map(|(p, l)| format!("prototype `{p}` and label `{l}`"))
        .collect();
    let verb = if pairs.len() == 1 { "differ" } else { "each differ" };
    let more = if pairs.len() > 10 {
        format!(" and {} more", pairs.len() - 10)
    } else {
        String::new()
    };
    format!("{}{more} {verb}", shown.join(", "))
}

/// What labels have in common that differ only in case.
pub fn folded(label: &str) -> String {
    label.to_lowercase()
}

/// Gives every label the spelling that most rows of the data have; of equals, the first in the alphabet.
pub fn ignore_case(retrieval: &mut Retrieval, warnings: &mut Vec<String>) {
    let mut spellings: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for set in &retrieval.label_sets {
        for (space, labels) in retrieval.spaces.iter().zip(&set.of_space) {
            for (name, rows) in labels.names().iter().zip(labels.counts()) {
                // Data before prototypes: only where the data have no such label does its own spelling count.
                let rows = if space.name() == PROTOTYPE { 0 } else { rows };
                *spellings
                    .entry(folded(name))
                    .or_default()
                    .entry(name.clone())
                    .or_default() += rows;
            }
        }
    }
    let usual: BTreeMap<&str, &str> = spellings
        .iter()
        .map(|(fold, found)| {
            // Going backwards, the first of equals is the last that wins.
            let best = found.iter().rev().max_by_key(|(_, rows)| **rows);
            (fold.as_str(), best.map_or("", |(name, _)| name.as_str()))
        })
        .collect();
    for set in &mut retrieval.label_sets {
        for labels in &mut set.of_space {
            let names: Vec<&str> = labels.names().iter().map(|n| usual[folded(n).as_str()]).collect();
            let rows: Vec<&str> = labels.codes().iter().map(|&c| names[c as usize]).collect();
            *labels = Arc::new(Labels::new(&rows));
        }
    }
    let merged: Vec<String> = spellings
        .values()
        .filter(|found| found.len() > 1)
        .map(|found| found.keys().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" = "))
        .collect();
    if !merged.is_empty() {
        let merged = merged.join(", ");
        warnings.push(format!("labels that differ only in case are taken as one: {merged}"));
    }
}

/// Leaves out every row that has one of these labels in any set. Aligned spaces share their labels, so they lose the
/// same rows.
pub fn exclude(
    retrieval: &mut Retrieval,
    asked: &[String],
    ignores_case: bool,
    warnings: &mut Vec<String>,
) -> Result<()> {
    if asked.is_empty() {
        return Ok(());
    }
    let known: BTreeSet<String> = retrieval
        .label_sets
        .iter()
        .flat_map(|set| set.of_space.iter().flat_map(|labels| labels.names().iter().cloned()))
        .collect();
    let excluded = find(asked, &known, ignores_case)?;
    let mut losses: Vec<String> = Vec::new();
    for at in 0..retrieval.spaces.len() {
        let space = &retrieval.spaces[at];
        let is_out = |row: usize| {
            retrieval.label_sets.iter().any(|set| {
                let labels = &set.of_space[at];
                excluded.contains(&labels.names()[labels.codes()[row] as usize])
            })
        };
        let keep: Vec<usize> = (0..space.rows()).filter(|&row| !is_out(row)).collect();
        let lost = space.rows() - keep.len();
        if keep.is_empty() {
            bail!(
                "`exclude_labels` leaves none of the {} of `{}`; exclude fewer labels",
                counted(space.rows(), "row"),
                space.name()
            );
        }
        if lost > 0 {
            losses.push(match space.name() {
                PROTOTYPE => counted(lost, "prototype"),
                name => format!("{lost} of {} of `{name}`", counted(space.rows(), "row")),
            });
            retrieval.spaces[at] = Arc::new(space.select(&keep)?);
            for set in &mut retrieval.label_sets {
                set.of_space[at] = Arc::new(set.of_space[at].select(&keep));
            }
            select_groups(retrieval, at, &keep);
        }
    }
    let names: Vec<&str> = excluded.iter().map(String::as_str).collect();
    let (known, losses) = (list(&names), losses.join(", "));
    warnings.push(format!("left out for `exclude_labels` = {known}: {losses}"));
    Ok(())
}

/// The labels that were meant. A name that is no label may be several, separated by commas.
fn find(asked: &[String], known: &BTreeSet<String>, ignores_case: bool) -> Result<BTreeSet<String>> {
    let label = |name: &str| {
        let fits = |k: &&String| *k == name || (ignores_case && folded(k) == folded(name));
        known.iter().find(fits).cloned()
    };
    let mut excluded = BTreeSet::new();
    for text in asked {
        let names: Vec<&str> = match label(text) {
            Some(_) => vec![text.as_str()],
            None => text.split(',').map(str::trim).filter(|n| !n.is_empty()).collect(),
        };
        for name in names {
            match label(name) {
                Some(label) => drop(excluded.insert(label)),
                None => bail!(
                    "`exclude_labels` = {name}: there is no such label; {}",
                    suggestion(name, known)
                ),
            }
        }
    }
    Ok(excluded)
}

fn suggestion(name: &str, known: &BTreeSet<String>) -> String {
    let best = closest(name, known.iter().map(String::as_str));
    let guess = best.map_or(String::new(), |best| format!("did you mean `{best}`? "));
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    format!("{guess}The labels are {}", list(&names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_string).collect()
    }

    fn set(name: Option<&str>, labels: &str) -> Set {
        Set {
            name: name.map(str::to_string),
            labels: words(labels).into_iter().collect(),
        }
    }

    #[test]
    fn labels_that_match_exactly_need_no_words() {
        assert!(mismatches(&words("Nap Cook"), &[set(None, "Nap Cook")]).is_empty());
    }

    #[test]
    fn labels_on_either_side_alone_are_listed() {
        let found = mismatches(&words("Nap Cook Fly"), &[set(None, "Nap no_activity Walk")]).join("\n");
        for fact in [
            "2 labels of the data have no prototype",
            "`Walk`, `no_activity`",
            "2 prototype labels are not in",
            "`Cook`, `Fly`",
        ] {
            assert!(found.contains(fact), "{found} lacks {fact}");
        }
        assert!(!found.contains("case"), "{found}");
    }

    #[test]
    fn pairs_that_differ_only_in_case_are_named_as_such() {
        let found = mismatches(&words("No_Activity Nap"), &[set(None, "no_activity Nap")]).join("\n");
        assert!(
            found.contains("prototype `No_Activity` and label `no_activity` differ only in case; `ignore_case`"),
            "{found}"
        );
    }

    #[test]
    fn labels_of_another_set_are_said_to_be_so() {
        let data = [set(Some("l1"), "Nap Boil_Egg"), set(Some("l2"), "Rest Cook")];
        let found = mismatches(&words("Nap Boil_Egg Rest"), &data).join("\n");
        let fact = "prototypes for `Rest` find nothing in `l1`: these are labels of `l2`";
        assert!(found.contains(fact), "{found}");
        assert!(
            found.contains("1 label of `l2` has no prototype") && found.contains("`Cook`"),
            "{found}"
        );
        assert!(!found.contains("left out"), "{found}");
    }

    #[test]
    fn no_match_at_all_shows_both_lists() {
        let text = nothing_matches(&words("Nap Cook"), &[set(None, "0 1 2")]);
        assert!(
            text.contains("`Nap`, `Cook`") && text.contains("`0`, `1`, `2`"),
            "{text}"
        );
        let text = nothing_matches(&words("Nap"), &[set(None, "nap")]);
        assert!(text.contains("`ignore_case`"), "{text}");
    }
}
