// SPDX-License-Identifier: MIT
//! Encoders over folders of images, texts, JSON lines and the dataset of the representation analysis, as a user runs
//! them.

use crate::fixtures::{Folder, model, noise, npy, npy_f64, npy_words, repository, value};

fn golden(name: &str) -> String {
    repository(&format!("golden/text/{name}"))
}

/// How far embeddings in a file are from others, on the mean.
fn distance(folder: &Folder, ours: &str, others: &str) -> f64 {
    let results = folder.results(&format!("robustness --clean m={ours} --noisy 1={others} --no-figures"));
    value(&results, "m", "robustness@1").expect("a number")
}

/// The texts of the golden cases, one per line.
fn texts() -> Vec<String> {
    let file = std::fs::read_to_string(golden("texts.json")).expect("the texts");
    serde_json::from_str(&file).expect("a list of texts")
}

fn with_texts() -> Folder {
    let folder = Folder::new();
    folder.write("texts.txt", (texts().join("\n") + "\n").as_bytes());
    folder
}

/// Nine color images of 16 × 16 in two folders, and the same pixels as an array in the order of their paths.
fn with_images() -> Folder {
    let folder = Folder::new();
    let mut all = Vec::new();
    for (number, path) in [
        "a/01.png", "a/02.png", "a/10.png", "b/1.png", "b/2.png", "b/B.PNG", "b/a.png", "z.png",
    ]
    .iter()
    .enumerate()
    {
        let pixels: Vec<u8> = noise(number as u64 + 1, 16 * 16 * 3)
            .iter()
            .map(|x| (127.5 + 127.5 * x) as u8)
            .collect();
        all.extend(&pixels);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 16, 16);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().expect("a PNG");
        writer.write_image_data(&pixels).expect("enough pixels");
        writer.finish().expect("a whole file");
        folder.write(&format!("photos/{path}"), &bytes);
    }
    folder.write("photos.npy", &npy("|u1", &[8, 16, 16, 3], &all));
    folder
}

#[test]
fn a_folder_of_images_is_the_array_of_its_pixels_in_the_order_of_paths() {
    let folder = with_images();
    let line = format!("--encoder {} --output-name z --scale 255", model("two_heads.onnx"));
    folder.good(&format!("encode {line} --input photos --output a.npy --batch-size 3"));
    folder.good(&format!("encode {line} --input photos.npy --output b.npy"));
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("embeddings");
    assert_eq!(bytes("a.npy"), bytes("b.npy"));
    let scores = |states: &str| {
        let line = format!("neighborhood --states {states} --model m=a.npy --k 3 --no-figures");
        folder.results(&line)["scores"].clone()
    };
    assert_eq!(scores("photos"), scores("photos.npy"));
}

#[test]
fn the_folders_of_images_are_their_classes() {
    let folder = with_images();
    std::fs::remove_file(folder.path().join("photos/z.png")).expect("the image is there");
    let line = format!("--states photos --model m={} --output-name z", model("two_heads.onnx"));
    let of = |labels: &str| {
        folder.results(&format!(
            "geometry {line} --labels {labels} --clusters 2 --k 2 --no-figures"
        ))
    };
    folder.write("labels.npy", &npy_words(&["a", "a", "a", "b", "b", "b", "b"]));
    assert_eq!(of("photos")["scores"], of("labels.npy")["scores"]);
    let whole = folder.results(&format!(
        "evaluate {line} --labels photos --only geometry --clusters 2 --knn-k 2 --no-figures"
    ));
    assert_eq!(
        value(&whole, "m", "knn_accuracy@2"),
        value(&of("photos"), "m", "knn_accuracy@2")
    );
}

#[test]
fn an_image_that_does_not_decode_stops_the_run_unless_it_may_be_left_out() {
    let folder = with_images();
    folder.write("photos/b/0.png", b"no image at all");
    let line = format!(
        "encode --encoder {} --output-name z --input photos --output a.npy",
        model("two_heads.onnx")
    );
    let run = folder.run(&line);
    assert!(run.code == 2 && run.stderr.contains("0.png"), "{}", run.stderr);
    assert!(!folder.path().join("a.npy").exists());
    let run = folder.good(&format!("{line} --skip-bad"));
    assert!(
        run.stdout.contains("a.npy (8 x 8)") && run.stderr.contains("0.png"),
        "{}",
        run.stderr
    );
}

#[test]
fn texts_of_a_file_have_the_embeddings_that_transformers_gave() {
    let folder = with_texts();
    for (words, expected) in [
        (vec!["--encoder", &golden("bert")], "bert/mean.npy"),
        (vec!["--encoder", &golden("sentence")], "sentence/codes.npy"),
        (vec!["--encoder", &golden("clip")], "clip/eos.npy"),
        (
            vec![
                "--encoder",
                &golden("bert"),
                "--checkpoint",
                &golden("checkpoints/mlp.pt"),
            ],
            "checkpoints/mlp.npy",
        ),
        (
            vec![
                "--encoder",
                &golden("t5_gated"),
                "--checkpoint",
                &golden("checkpoints/aligner.pt"),
                "--template",
                "To English: {}",
                "--max-tokens",
                "20",
            ],
            "checkpoints/aligner.npy",
        ),
    ] {
        let all = [&["encode", "--input", "texts.txt", "--output", "z.npy"], &words[..]].concat();
        let run = folder.run_words(&all);
        assert_eq!(run.code, 0, "{words:?}\n{}", run.stderr);
        let error = distance(&folder, "z.npy", &golden(expected));
        assert!(error < 1e-5, "{expected}: {error}");
    }
}

#[test]
fn a_checkpoint_without_a_projection_is_refused_unless_none_is_wanted() {
    let folder = with_texts();
    let line = format!(
        "encode --encoder {} --checkpoint {} --input texts.txt --output z.npy",
        golden("bert"),
        golden("checkpoints/none.pt")
    );
    let run = folder.run(&line);
    assert!(
        run.code == 2 && run.stderr.contains("--no-projection"),
        "{}",
        run.stderr
    );
    folder.good(&format!("{line} --no-projection"));
    assert!(distance(&folder, "z.npy", &golden("bert/mean.npy")) < 1e-5);
    for (line, words) in [
        (
            format!(
                "encode --encoder {} --input texts.txt --output c.npy",
                model("mlp.onnx")
            ),
            &["takes numbers", "texts.txt"][..],
        ),
        (
            format!(
                "encode --encoder {} --input {} --output c.npy",
                golden("bert"),
                model("vectors.npy")
            ),
            &["reads texts", "vectors.npy"],
        ),
        (
            format!("neighborhood --states texts.txt --model {}", golden("bert")),
            &["texts have no distances"],
        ),
        (
            format!("robustness --states texts.txt --model {}", golden("bert")),
            &["holds texts"],
        ),
        (
            format!(
                "encode --encoder {} --input texts.txt --output c.npy --template x",
                golden("bert")
            ),
            &["{}"],
        ),
    ] {
        let run = folder.run(&line);
        assert_eq!(run.code, 2, "{line}\n{}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "{line}\n{word}\n{}", run.stderr);
        }
    }
    assert!(!folder.path().join("c.npy").exists());
}

#[test]
fn a_field_of_json_lines_is_read_as_texts_and_as_labels() {
    let folder = with_texts();
    let lines: Vec<String> = texts()
        .iter()
        .enumerate()
        .map(|(i, text)| serde_json::json!({"text": text, "label": (["cat", "dog"][i % 2])}).to_string())
        .collect();
    folder.write("data.jsonl", lines.join("\n").as_bytes());
    for input in ["texts.txt", "data.jsonl#text"] {
        folder.good(&format!(
            "encode --encoder {} --input {input} --output {}.npy",
            golden("bert"),
            &input[..4]
        ));
    }
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("embeddings");
    assert_eq!(bytes("text.npy"), bytes("data.npy"));
    let labels: Vec<&str> = (0..lines.len()).map(|i| ["cat", "dog"][i % 2]).collect();
    folder.write("labels.npy", &npy_words(&labels));
    let scores = |labels: &str| {
        let line = format!("geometry --model text.npy --labels {labels} --clusters 2 --k 2 --no-figures");
        folder.results(&line)["scores"].clone()
    };
    assert_eq!(scores("data.jsonl#label"), scores("labels.npy"));
}

#[test]
fn prototypes_are_the_texts_of_the_metadata_through_encoder_and_projection() {
    let folder = Folder::new();
    folder.write("sensor.npy", &npy_f64(&[30, 7], &noise(3, 210)));
    let words: Vec<&str> = (0..30).map(|i| ["sleep", "cook", "read"][i % 3]).collect();
    folder.write("labels.npy", &npy_words(&words));
    let said = [
        "the kettle boils",
        "a person reads a book",
        "a person dozes on the sofa",
    ];
    let metadata = serde_json::json!({"milan": {"label_to_text_sourish": {
        "cook": said[0], "read": said[1], "sleep": said[2]}}});
    folder.write("metadata.json", metadata.to_string().as_bytes());
    folder.write("texts.txt", said.join("\n").as_bytes());
    folder.write("names.npy", &npy_words(&["cook", "read", "sleep"]));
    let encoder = format!("{} --checkpoint {}", golden("bert"), golden("checkpoints/linear.pt"));
    let line = "retrieval --sensor_embeddings sensor.npy --labels labels.npy --directions prototype2sensor --k_values 3 10 \
                --no-figures";
    let run = folder.results(&format!(
        "{line} --use_prototypes --metadata metadata.json --text_encoder {encoder}"
    ));
    folder.good(&format!("encode --encoder {encoder} --input texts.txt --output p.npy"));
    let stored = folder.results(&format!(
        "{line} --prototype_embeddings p.npy --prototype_labels names.npy"
    ));
    assert_eq!(run["scores"], stored["scores"]);
    // What the model is belongs to its record; it is nothing to be warned of.
    let about = |inputs: &serde_json::Value| {
        inputs
            .as_array()
            .expect("inputs")
            .iter()
            .any(|i| i["about"][0].is_string())
    };
    assert!(
        about(&run["inputs"]) && run["inputs"].to_string().contains("BERT"),
        "{}",
        run["inputs"]
    );
    assert!(!run["warnings"].to_string().contains("BERT"), "{}", run["warnings"]);
    let metric = "label_precision.prototype2sensor@10";
    assert!(value(&run, "embeddings", metric).expect("a number") > 0.0);
}

#[test]
fn the_dataset_of_document_000_brings_its_episodes_along() {
    let folder = Folder::new();
    let dataset = repository("crates/repscope-io/tests/datasets/three_channels.pth");
    let mlp = model("mlp.onnx");
    // Five states of 3 × 2 × 2: 1000 c + 10 t + 2 h + w, with a stop after the third and the last.
    let state = |t: usize| (0..12).map(move |i| (1000 * (i / 4) + 10 * t + i % 4) as f64);
    folder.write("x.npy", &npy_f64(&[5, 12], &(0..5).flat_map(state).collect::<Vec<_>>()));
    folder.write("stops.npy", &npy("|b1", &[5], &[0, 0, 1, 0, 1]));
    let run = folder.results(&format!("smoothness --states {dataset} --model m={mlp}"));
    let stored = folder.results(&format!(
        "smoothness --states x.npy --episodes stops.npy --model m={mlp}"
    ));
    assert_eq!(run["scores"], stored["scores"]);
    // Three pairs: two steps of the first episode, one of the second.
    assert_eq!(crate::fixtures::score(&run, "m", "smoothness.slope")["n"], 3);
    let train = folder.results(&format!("smoothness --states {dataset}#train_dataset --model m={mlp}"));
    assert_eq!(crate::fixtures::score(&train, "m", "smoothness.slope")["n"], 4);
}
