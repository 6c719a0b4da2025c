// SPDX-License-Identifier: MIT
//! The files of the demo. Each is written atomically.

mod perturbation;
mod weights;

use std::collections::BTreeMap;
use std::path::Path;

use repscope_io::{Result, write_bytes, write_floats, write_integers, write_names, write_whole};

use crate::text::{Aligned, Captioner, Described, WIDTH};
use crate::world::{FACTORS, Factors, SIDE, Said, World, label, label_sentence, labels, quadrant, said, sentence};

pub(crate) use perturbation::{MASKS, write as write_predictions};
pub(crate) use weights::write as write_weights;

/// One text per line.
fn write_lines(path: &Path, lines: &[String]) -> Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    write_whole(path, text.as_bytes())
}

// The frames of held-out episodes and what is true of them: `data/states.npy`, `data/episodes.npy`, a file of names
// per label in `data/labels`, and a file of numbers per factor in `data/factors`.

/// A factor that is a number.
type Number = (&'static str, fn(&Factors) -> f32);

const NUMBERS: [Number; 5] = [
    ("x", |factors| factors.x),
    ("y", |factors| factors.y),
    ("radius", |factors| factors.radius),
    ("grey", |factors| factors.gray),
    ("speed", |factors| factors.speed),
];

pub(crate) fn write_data(folder: &Path, world: &World) -> Result<()> {
    let folder = folder.join("data");
    let pixels: Vec<u8> = world.frames().into_iter().flatten().copied().collect();
    let count = pixels.len() / (SIDE * SIDE);
    write_bytes(&folder.join("states.npy"), &[count, 1, SIDE, SIDE], &pixels)?;
    write_integers(&folder.join("episodes.npy"), &world.episode_numbers())?;
    let factors = world.factors();
    for (name, number) in NUMBERS {
        let values: Vec<f32> = factors.iter().map(|factors| number(factors)).collect();
        write_floats(&folder.join(format!("factors/{name}.npy")), &[count], &values)?;
    }
    let positions: Vec<String> = factors.iter().map(|own| format!("{},{}\n", own.x, own.y)).collect();
    let positions = format!("x,y\n{}", positions.concat());
    write_whole(&folder.join("factors/position.csv"), positions.as_bytes())?;
    let clouds: Vec<f32> = factors.iter().flat_map(|factors| factors.clouds).collect();
    write_floats(
        &folder.join("factors/clouds.npy"),
        &[count, clouds.len() / count],
        &clouds,
    )?;
    let all: Vec<Said> = factors.iter().map(|factors| said(factors)).collect();
    let labels = |name: &str, of: &dyn Fn(&Said) -> String| {
        let names: Vec<String> = all.iter().map(of).collect();
        write_names(&folder.join(format!("labels/{name}.npy")), &names)
    };
    for (at, factor) in FACTORS.iter().enumerate() {
        labels(factor.name, &|said| factor.words[said[at]].to_string())?;
    }
    labels("quadrant", &quadrant)?;
    labels("shape_and_quadrant", &label)
}

// Frames and their sentences in one space, for `repscope retrieval`: `retrieval/sensor.npy`, `text.npy`, a label per
// row, and a prototype per label, which is one sentence encoded like the others.

pub(crate) fn write_retrieval(folder: &Path, aligned: &Aligned, test: &Described) -> Result<()> {
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

// Texts generated from frames, for `repscope etes`: what the captioner says, what a system says that always says the
// same, and what is true, as vectors (`.npy`) and as lines (`.txt`).

pub(crate) fn write_etes(
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

pub(crate) fn write_study(folder: &Path, seed: u64) -> Result<()> {
    write_whole(&folder.join("study.toml"), study(seed).as_bytes())
}

fn study(seed: u64) -> String {
    format!(
        r#"# Four encoders of one architecture on held-out episodes of a small world: two that were trained, one that was
# not, and one whose training collapsed. Run it with `repscope evaluate study.toml`.

output_dir = "evaluation_plots"
seed = {seed}

[data]
states = "data/states.npy"                 # gray values 0 to 255
episodes = "data/episodes.npy"
labels = "data/labels/quadrant.npy"        # others are beside it
targets = "data/factors/position.csv"      # what probes read out of the embeddings; clouds.npy is beside it

[models]
jepa = "weights/jepa/best_encoder.safetensors"
encoder_decoder = "weights/encoder_decoder/best_encoder.safetensors"
random = "weights/random/best_encoder.safetensors"
collapsed = "weights/collapsed/best_encoder.safetensors"

[encoder]
scale = 1                                  # the weights take gray values as they are
runtime = "builtin"                        # the same bytes on every machine

[robustness]
noise = [1, 2, 5, 10, 20]                  # of 255
clamp = [0, 255]

[geometry]
clusters = 4

# Embeddings of the JEPA beside their descriptions, and a sentence per label.
[retrieval]
sensor_embeddings = "retrieval/sensor.npy"
text_embeddings = "retrieval/text.npy"
labels = "retrieval/labels.npy"
prototype_embeddings = "retrieval/prototypes.npy"
prototype_labels = "retrieval/prototype_labels.npy"
directions = ["text2sensor", "sensor2text", "prototype2sensor", "prototype2text"]
k_values = [10, 50]

# What a captioner says of the JEPA's embeddings, and a system that always says the same.
[etes]
signal = "etes/signal.npy"
generated = {{ captioner = "etes/captioner.npy", constant = "etes/constant.npy" }}
reference = "etes/reference.npy"
generated_text = {{ captioner = "etes/captioner.txt", constant = "etes/constant.txt" }}
reference_text = "etes/reference.txt"
group = {{ shape = "data/labels/shape.npy", episode = "data/episodes.npy" }}
units = "episode"
"#
    )
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

    #[test]
    fn a_study_names_four_encoders() {
        let text = study(42);
        assert_eq!(text.matches("best_encoder.safetensors").count(), 4);
        assert!(text.contains("seed = 42\n"));
    }
}
