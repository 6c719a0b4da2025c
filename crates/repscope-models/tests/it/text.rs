// SPDX-License-Identifier: MIT
//! Texts have the embeddings that transformers, sentence-transformers and PyTorch give them (`golden/text.py`).

use crate::text_fixtures::{assert_near, embeddings, expected, folder, pooled, texts, with_checkpoint};
use repscope_models::{Pooling, TextEncoder, TextOptions};

#[test]
fn every_family_and_pooling_is_that_of_transformers() {
    let four = [Pooling::Mean, Pooling::Cls, Pooling::Max, Pooling::Last];
    for family in ["bert", "distilbert", "roberta", "mpnet", "t5", "t5_gated"] {
        for pooling in four {
            let (found, _) = embeddings(family, pooled(pooling));
            assert_near(
                &found,
                &expected(family, &pooling.to_string()),
                &format!("{family} {pooling}"),
            );
        }
    }
    for family in ["bert", "mpnet"] {
        let (found, _) = embeddings(family, pooled(Pooling::Pooler));
        assert_near(&found, &expected(family, "pooler"), family);
    }
}

#[test]
fn clip_is_pooled_at_its_end_and_projected_with_both_rules_for_the_end() {
    for family in ["clip", "clip_text"] {
        let (found, notes) = embeddings(family, TextOptions::default());
        assert_near(&found, &expected(family, "eos"), family);
        assert!(notes.iter().any(|note| note.contains("16 → 10")), "{notes:?}");
        let (found, _) = embeddings(family, pooled(Pooling::Pooler));
        assert_near(&found, &expected(family, "pooler"), family);
    }
}

#[test]
fn a_mean_that_nobody_asked_for_is_said() {
    let (found, notes) = embeddings("bert", TextOptions::default());
    assert_near(&found, &expected("bert", "mean"), "bert");
    assert!(
        notes.iter().any(|note| note.contains("so their mean is taken")),
        "{notes:?}"
    );
    let (_, notes) = embeddings("bert", pooled(Pooling::Mean));
    assert!(
        !notes.iter().any(|note| note.contains("so their mean is taken")),
        "{notes:?}"
    );
}

#[test]
fn an_old_pickle_below_a_prefix_has_the_embeddings_of_the_new_file() {
    let (old, notes) = embeddings("bert_bin", TextOptions::default());
    assert_eq!(old, embeddings("bert", TextOptions::default()).0);
    assert!(
        notes.contains(&"weights outside the network are not used: cls (1)".to_string()),
        "{notes:?}"
    );
}

#[test]
fn what_is_cut_and_what_is_empty_is_counted() {
    let (_, notes) = embeddings("bert", TextOptions::default());
    assert!(
        notes[0].starts_with("BERT: 2 layers, 4 heads, width 16, 120 tokens known"),
        "{notes:?}"
    );
    let said = |what: &str| notes.iter().any(|note| note.starts_with(what));
    assert!(said("2 of 11 texts are longer than 24 tokens"), "{notes:?}");
    assert!(said("1 of 11 texts are empty"), "{notes:?}");
}

#[test]
fn a_folder_of_sentence_transformers_does_all_its_modules() {
    let (found, notes) = embeddings("sentence", TextOptions::default());
    assert_near(&found, &expected("sentence", "codes"), "sentence");
    assert!(
        notes.iter().any(|note| note.contains("longer than 12 tokens")),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note.contains("16 → 6")), "{notes:?}");
}

#[test]
fn an_exported_graph_has_the_embeddings_of_the_weights() {
    for case in ["onnx", "onnx_fixed", "onnx/model.onnx"] {
        for pooling in [
            Pooling::Mean,
            Pooling::Cls,
            Pooling::Max,
            Pooling::Last,
            Pooling::Pooler,
        ] {
            let (found, _) = embeddings(case, pooled(pooling));
            assert_near(
                &found,
                &expected("bert", &pooling.to_string()),
                &format!("{case} {pooling}"),
            );
        }
        let (found, notes) = embeddings(case, TextOptions::default());
        assert_near(&found, &expected("bert", "mean"), case);
        assert!(
            notes.iter().any(|note| note.contains("so their mean is taken")),
            "{notes:?}"
        );
    }
}

#[test]
fn projections_of_checkpoints_are_those_of_torch() {
    for name in ["linear", "mlp", "mlp_deep", "old"] {
        let (found, notes) = embeddings("bert", with_checkpoint(name));
        assert_near(&found, &expected("checkpoints", name), name);
        assert!(notes.iter().any(|note| note.contains("→ 7")), "{notes:?}");
    }
}

#[test]
fn an_aligner_attends_to_the_tokens_of_a_template() {
    let options = TextOptions {
        template: Some("To English: {}".to_string()),
        max_tokens: Some(20),
        ..with_checkpoint("aligner")
    };
    let (found, notes) = embeddings("t5_gated", options.clone());
    assert_near(&found, &expected("checkpoints", "aligner"), "aligner");
    assert!(notes.iter().any(|note| note.contains("8 heads")), "{notes:?}");
    let other = TextOptions {
        aligner_heads: 4,
        ..options
    };
    let (other, _) = embeddings("t5_gated", other);
    assert!(other.iter().zip(&found).any(|(a, b)| (a - b).abs() > 1e-3));
}

#[test]
fn a_clip_before_a_trained_projection_gives_its_pooled_output() {
    let (_, notes) = embeddings("clip", with_checkpoint("linear"));
    assert!(
        notes.iter().any(|note| note.contains("stands in for CLIP's own")),
        "{notes:?}"
    );
}

#[test]
fn embeddings_have_the_same_bits_in_any_batch_and_company() {
    let aligned = TextOptions {
        batch: 32,
        ..with_checkpoint("aligner")
    };
    let cases = [
        ("bert", TextOptions::default()),
        ("bert", with_checkpoint("mlp")),
        ("roberta", TextOptions::default()),
        ("clip", TextOptions::default()),
        ("t5_gated", aligned),
        ("sentence", TextOptions::default()),
        ("onnx", TextOptions::default()),
        ("onnx_fixed", TextOptions::default()),
    ];
    // Many texts of one length, so that batches differ; then the same ones in another order.
    let texts: Vec<String> = (0..5).flat_map(|_| texts()).collect();
    for (case, options) in cases {
        let mut encoder = TextEncoder::open(&folder(case), options.clone()).unwrap();
        let width = encoder.width();
        let (all, _) = encoder.encode_all(&texts).unwrap();
        for batch in [1, 2, 3, 7] {
            let options = TextOptions {
                batch,
                ..options.clone()
            };
            let (found, _) = TextEncoder::open(&folder(case), options)
                .unwrap()
                .encode_all(&texts)
                .unwrap();
            assert!(found == all, "{case}: batches of {batch} differ");
        }
        for (at, text) in texts.iter().enumerate().take(11) {
            let (alone, _) = encoder.encode_all(std::slice::from_ref(text)).unwrap();
            assert!(
                alone == all[at * width..(at + 1) * width],
                "{case}: text {at} alone differs"
            );
        }
        let order: Vec<usize> = (0..texts.len()).map(|at| at * 17 % texts.len()).collect();
        let shuffled: Vec<String> = order.iter().map(|&at| texts[at].clone()).collect();
        let (found, _) = encoder.encode_all(&shuffled).unwrap();
        for (place, &at) in order.iter().enumerate() {
            let (one, other) = (
                &found[place * width..(place + 1) * width],
                &all[at * width..(at + 1) * width],
            );
            assert!(one == other, "{case}: text {at} differs in other company");
        }
    }
}

#[test]
fn embeddings_come_in_the_order_of_the_texts_window_by_window() {
    let mut encoder = TextEncoder::open(&folder("bert"), TextOptions::default()).unwrap();
    let texts: Vec<String> = (0..1500).map(|at| texts()[at % 11].clone()).collect();
    let (mut next, mut embeddings) = (0, Vec::new());
    let width = encoder.width();
    encoder
        .encode(&texts, &mut |first, made| {
            assert_eq!(first, next);
            next += made.len() / width;
            embeddings.extend_from_slice(made);
            Ok(())
        })
        .unwrap();
    assert_eq!(next, 1500);
    for (at, embedding) in embeddings.chunks_exact(width).enumerate() {
        assert!(
            embedding == &embeddings[at % 11 * width..(at % 11 + 1) * width],
            "text {at}"
        );
    }
}

#[test]
fn the_digest_knows_files_and_options_but_not_the_batch() {
    let digest = |case: &str, options: TextOptions| {
        let encoder = TextEncoder::open(&folder(case), options).unwrap();
        encoder.digest().to_string()
    };
    let plain = digest("bert", TextOptions::default());
    let batch = TextOptions {
        batch: 5,
        threads: 1,
        ..TextOptions::default()
    };
    assert_eq!(digest("bert", batch), plain);
    let shorter = TextOptions {
        max_tokens: Some(9),
        ..TextOptions::default()
    };
    for other in [
        digest("bert_bin", TextOptions::default()),
        digest("bert", pooled(Pooling::Cls)),
        digest("bert", with_checkpoint("linear")),
        digest("bert", with_checkpoint("mlp")),
        digest("bert", shorter),
    ] {
        assert_ne!(other, plain);
    }
}
