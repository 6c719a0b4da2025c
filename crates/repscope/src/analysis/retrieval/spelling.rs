// SPDX-License-Identifier: MIT
//! Labels that differ only in upper and lower case, taken as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use repscope_core::{Labels, Retrieval};

use super::PROTOTYPE;

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
