// SPDX-License-Identifier: MIT
//! Texts have the log-perplexities that transformers gives them (`golden/language.py`).

use crate::text_fixtures::{folder, texts};
use repscope_io::{Data, InputPath, read_array};
use repscope_models::{LanguageModel, TextOptions};

const CASES: [&str; 4] = ["gpt2", "gpt2_own_head", "t5_language", "t5_language_own_head"];

fn expected(case: &str) -> Vec<f64> {
    let array = read_array(&InputPath::file(folder(case).join("log_perplexity.npy"))).unwrap();
    match array.data() {
        Data::F64(values) => (**values).as_ref().to_vec(),
        _ => panic!("{case}: {}", array.dtype()),
    }
}

fn scores(case: &str, options: TextOptions) -> (Vec<f64>, Vec<String>) {
    LanguageModel::open(&folder(case), options)
        .unwrap_or_else(|error| panic!("{case}: {error}"))
        .score_all(&texts())
        .unwrap_or_else(|error| panic!("{case}: {error}"))
}

#[test]
fn log_perplexities_are_the_losses_of_transformers() {
    for case in CASES {
        let (found, _) = scores(case, TextOptions::default());
        let expected = expected(case);
        assert_eq!(found.len(), expected.len());
        for (text, (found, expected)) in found.iter().zip(&expected).enumerate() {
            // A few roundings of f32 in each layer.
            assert!(
                (found / expected - 1.0).abs() < 1e-5,
                "{case}, text {text}: {found} {expected}"
            );
        }
    }
}

#[test]
fn a_score_has_the_same_bits_in_any_batch() {
    for case in ["gpt2", "t5_language"] {
        let (all, _) = scores(case, TextOptions::default());
        let (two, _) = scores(
            case,
            TextOptions {
                batch: 2,
                ..TextOptions::default()
            },
        );
        assert_eq!(all, two, "{case}");
    }
}

#[test]
fn what_is_cut_and_what_is_empty_is_said() {
    let (_, notes) = scores("gpt2", TextOptions::default());
    for words in [
        "GPT-2: 2 layers, 4 heads, width 16",
        "the first one by the token that begins texts",
        "texts are longer than 23 tokens and were cut",
        "1 of 11 texts are empty and are scored by their end alone",
    ] {
        assert!(notes.iter().any(|note| note.contains(words)), "{words}: {notes:?}");
    }
    let (_, notes) = scores("t5_language_own_head", TextOptions::default());
    assert!(notes[0].starts_with("T5: 3 layers"), "{notes:?}");
    assert!(
        notes.iter().any(|note| note.contains("reads the empty text")),
        "{notes:?}"
    );
}

#[test]
fn what_is_no_language_model_is_refused() {
    let refused = |case: &str| match LanguageModel::open(&folder(case), TextOptions::default()) {
        Ok(_) => panic!("{case} was opened"),
        Err(error) => error.to_string(),
    };
    let said = refused("bert");
    assert!(
        said.contains("kind bert") && said.contains("Known are gpt2, t5 and mt5"),
        "{said}"
    );
    // An encoder without its decoder.
    let said = refused("t5");
    assert!(said.contains("decoder.block.0.layer.0.SelfAttention"), "{said}");
    // A graph that gives vectors.
    let said = refused("onnx");
    assert!(said.contains("bos_token_id") || said.contains("logits"), "{said}");
}
