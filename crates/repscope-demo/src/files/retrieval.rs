// SPDX-License-Identifier: MIT
//! Frames and their sentences in one space, for `repscope retrieval`: `retrieval/sensor.npy`, `text.npy`, a label per
//! row, and a prototype per label, which is one sentence encoded like the others.

use std::path::Path;

use repscope_io::{Result, write_floats, write_names};

use super::write_lines;
use crate::text::{Aligned, Described, WIDTH};
use crate::world::{label, label_sentence, labels, sentence};

pub(crate) fn write(folder: &Path, aligned: &Aligned, test: &Described) -> Result<()> {
    let folder = folder.join("retrieval");
    let vectors = |name: &str, values: &[f32]| write_floats(&folder.join(name), &[values.len() / WIDTH, WIDTH], values);
    let texts: Vec<String> = test.said.iter().map(sentence).collect();
    vectors("sensor.npy", &aligned.frames(&test.embeddings))?;
    vectors("text.npy", &aligned.texts(&texts))?;
    write_lines(&folder.join("text.txt"), &texts)?;
    let names: Vec<String> = test.said.iter().map(label).collect();
    write_names(&folder.join("labels.npy"), &names)?;
    let all = labels();
    let sentences: Vec<String> = all.iter().map(label_sentence).collect();
    vectors("prototypes.npy", &aligned.texts(&sentences))?;
    write_lines(&folder.join("prototypes.txt"), &sentences)?;
    let names: Vec<String> = all.iter().map(label).collect();
    write_names(&folder.join("prototype_labels.npy"), &names)
}
