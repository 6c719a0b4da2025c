// SPDX-License-Identifier: MIT
//! What text encoders refuse, and what they say.

use std::fs;
use std::path::{Path, PathBuf};

use crate::text_fixtures::{embeddings, expected, folder, pooled, texts, with_checkpoint};
use repscope_io::write_whole;
use repscope_models::{Pooling, Projection, TextEncoder, TextOptions};
use tempfile::TempDir;

/// A copy of a folder that can be changed.
fn copy(case: &str) -> TempDir {
    let target = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder(case)).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, target.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    target
}

fn replace(file: PathBuf, old: &str, new: &str) {
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(old), "{old} is not in {}", file.display());
    write_whole(&file, text.replace(old, new).as_bytes()).unwrap();
}

fn refusal(path: &Path, options: TextOptions) -> String {
    match TextEncoder::open(path, options) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error.to_string(),
    }
}

fn assert_says(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "`{word}` is not said: {said}");
    }
}

#[test]
fn a_kind_of_model_that_is_not_known_should_be_exported() {
    let model = copy("bert");
    replace(model.path().join("config.json"), "\"bert\"", "\"llama\"");
    assert_says(
        &refusal(model.path(), TextOptions::default()),
        &["of the kind llama", "export it to ONNX"],
    );
}

#[test]
fn a_folder_without_tokenizer_weights_or_configuration_says_so() {
    for (file, said) in [
        ("tokenizer.json", "no tokenizer.json"),
        ("model.safetensors", "holds no model.safetensors"),
        ("config.json", "no config.json"),
    ] {
        let model = copy("bert");
        fs::remove_file(model.path().join(file)).unwrap();
        assert_says(&refusal(model.path(), TextOptions::default()), &[said]);
    }
    assert_says(&refusal(&folder("nowhere"), TextOptions::default()), &["there is no"]);
    let file = folder("texts.json");
    assert_says(&refusal(&file, TextOptions::default()), &["is not a text model"]);
}

#[test]
fn a_missing_weight_is_named_with_those_that_are_there() {
    let model = copy("bert");
    // The weights of a network of other names.
    fs::copy(
        folder("distilbert/model.safetensors"),
        model.path().join("model.safetensors"),
    )
    .unwrap();
    assert_says(
        &refusal(model.path(), TextOptions::default()),
        &[
            "`embeddings.token_type_embeddings.weight`, which is missing",
            "`embeddings.LayerNorm.weight` 16",
        ],
    );
    let model = copy("t5_gated");
    replace(model.path().join("config.json"), "gated-gelu", "relu");
    assert_says(
        &refusal(model.path(), TextOptions::default()),
        &[
            "encoder.block.0.layer.1.DenseReluDense.wi.weight`, which is missing",
            "wi_0.weight` 24×16",
        ],
    );
}

#[test]
fn another_number_of_layers_than_the_configuration_says_is_an_error() {
    let model = copy("t5");
    replace(
        model.path().join("config.json"),
        "\"num_layers\": 2",
        "\"num_layers\": 1",
    );
    assert_says(
        &refusal(model.path(), TextOptions::default()),
        &["config.json says 1 layers, but there are weights for 2"],
    );
}

#[test]
fn sizes_that_do_not_fit_are_said_with_both_numbers() {
    let model = copy("bert");
    replace(
        model.path().join("config.json"),
        "\"num_attention_heads\": 4",
        "\"num_attention_heads\": 5",
    );
    assert_says(
        &refusal(model.path(), TextOptions::default()),
        &["5 attention heads", "a width of 16"],
    );
    let model = copy("t5");
    let config = model.path().join("config.json");
    replace(
        config,
        "\"relative_attention_num_buckets\": 8",
        "\"relative_attention_num_buckets\": 32",
    );
    assert_says(&refusal(model.path(), TextOptions::default()), &["8×4", "32 buckets"]);
}

#[test]
fn more_tokens_than_positions_are_refused_and_so_are_too_few() {
    let with = |max_tokens| TextOptions {
        max_tokens: Some(max_tokens),
        ..TextOptions::default()
    };
    assert_says(
        &refusal(&folder("bert"), with(25)),
        &["up to 25 tokens", "the model takes 24"],
    );
    assert_says(&refusal(&folder("roberta"), with(25)), &["the model takes 24"]);
    assert_says(&refusal(&folder("onnx_fixed"), with(30)), &["the model takes 24"]);
    assert_says(&refusal(&folder("bert"), with(2)), &["at most 2 tokens", "adds 2"]);
    assert!(TextEncoder::open(&folder("bert"), with(3)).is_ok());
    assert!(TextEncoder::open(&folder("t5"), with(1000)).is_ok());
}

#[test]
fn a_template_has_one_place_for_the_text() {
    for (template, places) in [("To English:", "0 places"), ("{} and {}", "2 places")] {
        let options = TextOptions {
            template: Some(template.to_string()),
            ..TextOptions::default()
        };
        assert_says(&refusal(&folder("bert"), options), &[places, "write {} once"]);
    }
}

#[test]
fn a_checkpoint_without_a_projection_says_what_was_looked_for_and_what_is_there() {
    let said = refusal(&folder("bert"), with_checkpoint("none"));
    let words = [
        "text_projection.proj",
        "aligner.q_y",
        "model_state_dict.layers.0.ln1.weight` 4",
        "set `no_projection`",
    ];
    assert_says(&said, &words);
    let without = TextOptions {
        projection: Projection::None,
        ..with_checkpoint("none")
    };
    let (found, notes) = embeddings("bert", without);
    assert_eq!(found, embeddings("bert", TextOptions::default()).0);
    assert!(notes.iter().any(|note| note.contains("is not applied")), "{notes:?}");
}

#[test]
fn a_key_says_where_the_projection_is() {
    let with = |key: &str| {
        let mut options = with_checkpoint("old");
        options.checkpoint.as_mut().unwrap().1 = Some(key.to_string());
        options
    };
    let (found, _) = embeddings("bert", with("text_projection_state_dict"));
    let near = found
        .iter()
        .zip(expected("checkpoints", "old"))
        .all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(near);
    assert_says(
        &refusal(&folder("bert"), with("sensor_encoder_state_dict")),
        &["no projection of texts under `sensor_encoder_state_dict`"],
    );
}

#[test]
fn a_projection_for_another_width_is_refused_with_both_numbers() {
    let said = refusal(&folder("sentence"), with_checkpoint("linear"));
    assert_says(&said, &["vectors of 6 numbers", "takes 16"]);
}

#[test]
fn an_aligner_takes_heads_that_divide_its_width_and_no_pooling() {
    let heads = TextOptions {
        aligner_heads: 3,
        ..with_checkpoint("aligner")
    };
    assert_says(&refusal(&folder("t5"), heads), &["3 attention heads", "width of 16"]);
    let both = TextOptions {
        pooling: Some(Pooling::Mean),
        ..with_checkpoint("aligner")
    };
    assert_says(
        &refusal(&folder("t5"), both),
        &["pooling by mean does not go with the aligner"],
    );
    let said = refusal(&folder("onnx_fixed"), with_checkpoint("aligner"));
    assert_says(&said, &["exactly 24 tokens"]);
}

#[test]
fn a_checkpoint_of_another_model_is_noted() {
    let noted = |case: &str| {
        let (_, notes) = embeddings(case, with_checkpoint("linear"));
        notes
            .iter()
            .any(|note| note.contains("trained with texts of somebody/bert"))
    };
    assert!(!noted("bert"));
    assert!(noted("t5"));
}

#[test]
fn a_model_without_a_pooled_output_says_so() {
    for case in ["t5", "distilbert"] {
        assert_says(&refusal(&folder(case), pooled(Pooling::Pooler)), &["no pooled output"]);
    }
}

#[test]
fn a_text_without_tokens_and_a_token_that_is_not_known_are_named() {
    let model = copy("bert");
    let file = model.path().join("tokenizer.json");
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    json["post_processor"] = serde_json::Value::Null;
    write_whole(&file, json.to_string().as_bytes()).unwrap();
    let mut encoder = TextEncoder::open(model.path(), TextOptions::default()).unwrap();
    assert_says(
        &encoder.encode_all(&texts()).unwrap_err().to_string(),
        &["text 1 (counted from 0)"],
    );
    assert_says(&encoder.encode_all(&[]).unwrap_err().to_string(), &["0 texts"]);
    let model = copy("bert");
    fs::copy(folder("roberta/tokenizer.json"), model.path().join("tokenizer.json")).unwrap();
    let mut encoder = TextEncoder::open(model.path(), TextOptions::default()).unwrap();
    let said = encoder.encode_all(&texts()).unwrap_err().to_string();
    assert_says(&said, &["has the token 1", "the model knows 120"]);
}

#[test]
fn parts_of_the_weights_must_lie_beside_their_list() {
    let model = copy("roberta");
    fs::remove_file(model.path().join("model-00002-of-00002.safetensors")).unwrap();
    assert_says(
        &refusal(model.path(), TextOptions::default()),
        &["model-00002-of-00002.safetensors, which is not beside it"],
    );
    let model = copy("roberta");
    let index = model.path().join("model.safetensors.index.json");
    replace(index, "model-00002-of-00002.safetensors", "../model.safetensors");
    assert_says(
        &refusal(model.path(), TextOptions::default()),
        &["which is not beside it"],
    );
}

#[test]
fn files_that_are_cut_off_are_errors_and_never_more() {
    let cases = [
        ("bert", "config.json"),
        ("bert", "tokenizer.json"),
        ("bert", "model.safetensors"),
        ("bert_bin", "pytorch_model.bin"),
        ("roberta", "model.safetensors.index.json"),
        ("onnx", "model.onnx"),
    ];
    for (case, file) in cases {
        let model = copy(case);
        let path = model.path().join(file);
        let bytes = fs::read(&path).unwrap();
        for part in 0..20 {
            write_whole(&path, &bytes[..bytes.len() * part / 20]).unwrap();
            assert!(
                TextEncoder::open(model.path(), TextOptions::default()).is_err(),
                "{case}: {file} was read although only {part}/20 of it are there"
            );
        }
    }
}

#[test]
fn nonsense_in_the_files_is_an_error_and_never_more() {
    let cases = [
        ("config.json", "[1, 2]"),
        (
            "config.json",
            r#"{"model_type": "bert", "num_attention_heads": 4, "num_hidden_layers": 99999999}"#,
        ),
        ("tokenizer.json", "{}"),
        (
            "tokenizer.json",
            r#"{"version": "1.0", "model": {"type": "WordPiece", "vocab": {}}}"#,
        ),
        ("modules.json", r#"[{"type": "x.CNN", "path": ""}]"#),
        (
            "modules.json",
            r#"[{"type": "x.Transformer", "path": "../../somewhere"}]"#,
        ),
    ];
    for (file, text) in cases {
        let model = copy("bert");
        write_whole(&model.path().join(file), text.as_bytes()).unwrap();
        let opened = TextEncoder::open(model.path(), TextOptions::default());
        assert!(opened.is_err(), "{file}: {text}");
    }
}
