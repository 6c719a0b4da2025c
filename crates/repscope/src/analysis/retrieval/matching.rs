// SPDX-License-Identifier: MIT
//! Do the labels of the prototypes and of the data fit together? What does not is named, so that nothing scores a
//! silent zero.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, bail};
use repscope_core::Retrieval;

use super::PROTOTYPE;
use super::names::{counted, list};
use super::spelling::folded;

/// Compares the labels of the prototypes with those of the data they search. Prototypes of labels that no set has are
/// left out; everything that does not match is named.
pub fn compare(retrieval: &mut Retrieval, warnings: &mut Vec<String>) -> Result<()> {
    let Some(at) = retrieval.spaces.iter().position(|s| s.name() == PROTOTYPE) else {
        return Ok(());
    };
    let others: BTreeSet<usize> = retrieval
        .directions
        .iter()
        .filter(|d| d.query == at || d.target == at)
        .map(|d| if d.query == at { d.target } else { d.query })
        .collect();
    if others.is_empty() {
        warnings.push("no direction uses the prototypes; ask for prototype2NAME with `directions`".to_string());
        return Ok(());
    }
    let prototypes = retrieval.label_sets[0].of_space[at].clone();
    let data: Vec<Set> = retrieval
        .label_sets
        .iter()
        .map(|set| Set {
            name: set.name.clone(),
            labels: others
                .iter()
                .flat_map(|&o| set.of_space[o].names().iter().cloned())
                .collect(),
        })
        .collect();
    let keep: Vec<usize> = (0..prototypes.rows())
        .filter(|&row| {
            let name = &prototypes.names()[prototypes.codes()[row] as usize];
            data.iter().any(|set| set.labels.contains(name))
        })
        .collect();
    if keep.is_empty() {
        bail!("{}", nothing_matches(prototypes.names(), &data));
    }
    warnings.extend(mismatches(prototypes.names(), &data));
    if keep.len() < prototypes.rows() {
        retrieval.spaces[at] = Arc::new(retrieval.spaces[at].select(&keep)?);
        let kept = Arc::new(prototypes.select(&keep));
        retrieval
            .label_sets
            .iter_mut()
            .for_each(|set| set.of_space[at] = kept.clone());
    }
    Ok(())
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
        let lacking: Vec<&str> = set
            .labels
            .iter()
            .filter(|l| !prototypes.contains(l))
            .map(String::as_str)
            .collect();
        if !lacking.is_empty() {
            warnings.push(format!(
                "{} of {} {} no prototype: {}",
                counted(lacking.len(), "label"),
                set.title(),
                if lacking.len() == 1 { "has" } else { "have" },
                list(&lacking)
            ));
        }
        for other in data.iter().filter(|other| other.name != set.name) {
            let elsewhere: Vec<&str> = prototypes
                .iter()
                .filter(|p| !set.labels.contains(*p) && other.labels.contains(*p))
                .map(String::as_str)
                .collect();
            if !elsewhere.is_empty() {
                warnings.push(format!(
                    "prototypes for {} find nothing in {}: these are labels of {}",
                    list(&elsewhere),
                    set.title(),
                    other.title()
                ));
            }
        }
    }
    let nowhere: Vec<&str> = prototypes
        .iter()
        .filter(|p| !data.iter().any(|set| set.labels.contains(*p)))
        .map(String::as_str)
        .collect();
    if !nowhere.is_empty() {
        warnings.push(format!(
            "{} not in the data and left out of the queries: {}",
            are(nowhere.len(), "prototype label"),
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

/// `1 prototype label is`, `2 prototype labels are`.
fn are(count: usize, one: &str) -> String {
    format!("{} {}", counted(count, one), if count == 1 { "is" } else { "are" })
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
