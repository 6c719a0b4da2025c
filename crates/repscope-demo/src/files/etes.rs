// SPDX-License-Identifier: MIT
//! Texts generated from frames, for `repscope etes`: what the captioner says, what a system says that always says the
//! same, and what is true, as vectors (`.npy`) and as lines (`.txt`).

use std::collections::BTreeMap;
use std::path::Path;

use repscope_io::{Result, write_floats};

use super::write_lines;
use crate::text::{Aligned, Captioner, Described, WIDTH};
use crate::world::{FACTORS, Said, sentence};

pub(crate) fn write(
    folder: &Path,
    aligned: &Aligned,
    captioner: &Captioner,
    train: &Described,
    test: &Described,
) -> Result<()> {
    let folder = folder.join("etes");
    let vectors = |name: &str, values: &[f32]| {
        let path = folder.join(format!("{name}.npy"));
        write_floats(&path, &[values.len() / WIDTH, WIDTH], values)
    };
    vectors("signal", &aligned.frames(&test.embeddings))?;
    let constant = vec![most_frequent(&train.said); test.said.len()];
    let systems: [(&str, &[Said]); 3] = [
        ("captioner", &captioner.say(&test.embeddings)),
        ("constant", &constant),
        ("reference", &test.said),
    ];
    for (name, said) in systems {
        let texts: Vec<String> = said.iter().map(sentence).collect();
        vectors(name, &aligned.texts(&texts))?;
        write_lines(&folder.join(format!("{name}.txt")), &texts)?;
    }
    Ok(())
}

/// The most frequent description; among several the first in the order of words.
fn most_frequent(all: &[Said]) -> Said {
    let mut counts = BTreeMap::new();
    for said in all {
        *counts.entry(*said).or_insert(0) += 1;
    }
    let most = counts.values().copied().max().unwrap_or(0);
    let found = counts.into_iter().find(|(_, count)| *count == most);
    found.map_or([0; FACTORS.len()], |(said, _)| said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_sentence_is_the_most_frequent() {
        let (a, b) = ([0; 6], [1; 6]);
        assert_eq!(most_frequent(&[a, b, b]), b);
        assert_eq!(most_frequent(&[a, b]), a);
    }
}
