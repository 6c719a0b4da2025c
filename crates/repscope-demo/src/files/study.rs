// SPDX-License-Identifier: MIT
//! `study.toml`, which `repscope evaluate` reads. Its paths are relative to it.

use std::path::Path;

use repscope_io::{Result, write_whole};

pub(crate) fn write(folder: &Path, seed: u64) -> Result<()> {
    write_whole(&folder.join("study.toml"), text(seed).as_bytes())
}

fn text(seed: u64) -> String {
    format!(
        r#"# Four encoders of one architecture on held-out episodes of a small world: two that were trained, one that was
# not, and one whose training collapsed. Run it with `repscope evaluate study.toml`.

output_dir = "evaluation_plots"
seed = {seed}

[data]
states = "data/states.npy"                 # gray values 0 to 255
episodes = "data/episodes.npy"
labels = "data/labels/quadrant.npy"        # others are beside it

[models]
jepa = "weights/jepa/best_encoder.safetensors"
encoder_decoder = "weights/encoder_decoder/best_encoder.safetensors"
random = "weights/random/best_encoder.safetensors"
collapsed = "weights/collapsed/best_encoder.safetensors"

[encoder]
scale = 1                                  # the weights take gray values as they are

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
    fn a_study_names_four_encoders() {
        let text = text(42);
        assert_eq!(text.matches("best_encoder.safetensors").count(), 4);
        assert!(text.contains("seed = 42\n"));
    }
}
