// SPDX-License-Identifier: MIT
//! `repscope retrieval` from the outside, on four sensor and four text vectors whose rankings can be read off a circle.

use crate::fixtures::{Folder, npy, npy_f64, npy_i64, npy_words, npz, score, value};
use serde_json::Value;

/// The angles of the embeddings in degrees: the smaller the difference, the larger the cosine.
const SENSOR: [f64; 4] = [0.0, 10.0, 90.0, 100.0];
const TEXT: [f64; 4] = [2.0, 12.0, 92.0, 40.0];
const L1: [&str; 4] = ["a", "a", "b", "b"];
const L2: [&str; 4] = ["x", "y", "y", "x"];

const INSTANCE: &str = "retrieval --sensor_embeddings sensor.npy --text_embeddings text.npy --labels labels.npy";
const SENSOR_ONLY: &str = "retrieval --sensor_embeddings sensor.npy --labels labels.npy";

fn on_the_circle(angles: &[f64]) -> Vec<u8> {
    let points: Vec<f64> = angles
        .iter()
        .flat_map(|a| [a.to_radians().cos(), a.to_radians().sin()])
        .collect();
    npy_f64(&[angles.len(), 2], &points)
}

fn circle() -> Folder {
    let folder = Folder::new();
    folder.write("sensor.npy", &on_the_circle(&SENSOR));
    folder.write("text.npy", &on_the_circle(&TEXT));
    folder.write("labels.npy", &npy_words(&L1));
    folder.write("l2.npy", &npy_words(&L2));
    folder
}

/// The circle with a prototype for each label.
fn circle_with_prototypes() -> Folder {
    let folder = circle();
    folder.write("prototypes.npy", &on_the_circle(&[3.0, 93.0]));
    folder.write("names.npy", &npy_words(&["a", "b"]));
    folder.write("upper.npy", &npy_words(&["A", "b"]));
    folder
}

fn close(results: &Value, metric: &str, expected: f64) {
    let found = value(results, "embeddings", metric);
    // Means of a few fractions: nothing but the last bits may differ.
    assert!(
        found.is_some_and(|f| (f - expected).abs() < 1e-12),
        "{metric} is {found:?}, not {expected}"
    );
}

fn metrics(results: &Value) -> Vec<&str> {
    let scores = results["scores"].as_array().expect("scores are a list");
    scores.iter().filter_map(|s| s["metric"].as_str()).collect()
}

fn warnings(results: &Value) -> String {
    let list = results["warnings"].as_array().expect("warnings are a list");
    list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// Directions that the results speak of, in order.
fn directions(results: &Value) -> Vec<String> {
    let words = results["spec"]["directions"].as_array().expect("directions are a list");
    words.iter().filter_map(|d| d.as_str().map(str::to_string)).collect()
}

#[test]
fn every_direction_gives_the_precisions_that_the_circle_shows() {
    let results = circle().results(&format!(
        "{INSTANCE} --k_values 1 2 3 --directions text2sensor sensor2text sensor2sensor text2text"
    ));
    // Text 3 (label b, 40 degrees) finds sensors 1, 0, 2, 3: two of the wrong label first. All others are right.
    close(&results, "label_precision.text2sensor@1", 3.0 / 4.0);
    close(&results, "label_precision.text2sensor@2", 3.0 / 4.0);
    close(
        &results,
        "label_precision.text2sensor@3",
        (3.0 * 2.0 / 3.0 + 1.0 / 3.0) / 4.0,
    );
    close(&results, "label_precision.sensor2text@1", 1.0);
    close(&results, "label_precision.sensor2text@3", 2.0 / 3.0);
    // A row never finds itself: of the three others one has its label, and it is the nearest.
    close(&results, "label_precision.sensor2sensor@1", 1.0);
    close(&results, "label_precision.sensor2sensor@2", 1.0 / 2.0);
    close(&results, "label_precision.text2text@1", 3.0 / 4.0);
    close(&results, "label_precision.text2text@2", (3.0 / 2.0) / 4.0);
    // The partner of text 3 is the last that it finds, that of sensor 3 the second.
    close(&results, "pair_recall.text2sensor@1", 3.0 / 4.0);
    close(&results, "pair_recall.sensor2text@1", 3.0 / 4.0);
    close(&results, "pair_recall.sensor2text@2", 1.0);
    assert_eq!(score(&results, "embeddings", "label_precision.text2sensor@1")["n"], 4);
}

#[test]
fn the_summary_and_the_flat_json_are_those_of_the_document() {
    let folder = circle();
    let run = folder.good(&format!(
        "{INSTANCE} --k_values 1 2 --quiet --output results/deep/flat.json"
    ));
    let rule = "=".repeat(70);
    let line = "-".repeat(40);
    let expected = format!(
        "{rule}\nLABEL-RECALL@K RESULTS SUMMARY\n{rule}\n\n\
         Text -> Sensor:\n{line}\n  K=  1  =>  Label-Recall@K = 0.7500 (75.00%)\n  K=  2  =>  Label-Recall@K = 0.7500 (75.00%)\n\n\
         Sensor -> Text:\n{line}\n  K=  1  =>  Label-Recall@K = 1.0000 (100.00%)\n  K=  2  =>  Label-Recall@K = 1.0000 (100.00%)\n\n\
         {rule}\n"
    );
    assert_eq!(run.stdout, expected);
    assert_eq!(run.stderr, "");
    assert_eq!(
        folder.read("results/deep/flat.json"),
        "{\n  \"text2sensor\": {\n    \"1\": 0.75,\n    \"2\": 0.75\n  },\n  \"sensor2text\": {\n    \"1\": 1.0,\n    \"2\": 1.0\n  }\n}\n"
    );
}

#[test]
fn the_summary_is_followed_by_a_table_and_its_readings() {
    let folder = circle();
    let run = folder.good(&format!("{INSTANCE} --k_values 1 2 --output flat.json"));
    let at = |text: &str| {
        run.stdout
            .find(text)
            .unwrap_or_else(|| panic!("no {text}\n{}", run.stdout))
    };
    assert!(
        at("LABEL-RECALL@K") < at("precision@1 ") && at("precision@1 ") < at("\n- "),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains('\u{1b}'), "no color codes where nobody watches");
    assert!(run.stdout.lines().all(|l| l.chars().count() <= 110), "{}", run.stdout);
    assert!(
        run.stdout.lines().count() <= 40 && !run.stdout.contains("hubness"),
        "{}",
        run.stdout
    );
    let all = folder.good(&format!("{INSTANCE} --k_values 1 2 --all")).stdout;
    assert!(all.contains("\nhubness ") && all.contains("\nprecision "), "{all}");
    assert!(run.stderr.contains("flat.json is written"), "{}", run.stderr);
    assert!(
        run.stderr.contains("results.json are in evaluation_plots/retrieval"),
        "{}",
        run.stderr
    );
    let json = folder.good(&format!("{INSTANCE} --k_values 1 2 --json")).stdout;
    assert_eq!(json, folder.read("evaluation_plots/results.json"));
    assert_eq!(json, folder.read("evaluation_plots/retrieval/results.json"));
    for name in ["per_label", "confusion", "scores"] {
        assert!(
            folder
                .read(&format!("evaluation_plots/retrieval/{name}.csv"))
                .lines()
                .count()
                > 1
        );
    }
}

#[test]
fn other_formats_stand_alone() {
    let folder = circle();
    for (format, fact) in [
        ("csv", "model,metric,value"),
        ("json", "\"label_precision.text2sensor@1\""),
        ("markdown", "`precision@1`"),
        ("latex", "\\begin{tabular}"),
    ] {
        let text = folder
            .good(&format!("{INSTANCE} --k_values 1 --format {format}"))
            .stdout;
        assert!(!text.contains("LABEL-RECALL@K"), "{format}\n{text}");
        assert!(text.contains(fact), "{format}\n{text}");
    }
}

#[test]
fn the_results_name_the_inputs_the_options_and_the_breakdown_by_label() {
    let results = circle().results(&format!("{INSTANCE} --k_values 2 --name run7 --seed 3"));
    assert_eq!(results["command"], "retrieval");
    assert_eq!(results["spec"]["retrieval_k"], serde_json::json!([2]));
    assert_eq!(results["spec"]["similarity"], "cosine");
    assert_eq!(results["spec"]["seed"], 3);
    assert_eq!(directions(&results), ["text2sensor", "sensor2text"]);
    let paths: Vec<&str> = results["inputs"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|i| i["path"].as_str())
        .collect();
    assert_eq!(paths, ["sensor.npy", "text.npy", "labels.npy"]);
    assert_eq!(value(&results, "run7", "label_precision.text2sensor@2"), Some(0.75));
    let breakdowns = results["breakdowns"].as_array().expect("a list");
    let by_label = breakdowns
        .iter()
        .find(|b| b["metric"] == "label_precision.text2sensor@2")
        .expect("a breakdown by label");
    assert_eq!(by_label["keys"][0]["values"], serde_json::json!(["a", "b"]));
}

#[test]
fn a_k_beyond_the_targets_takes_them_all_and_says_so() {
    let folder = circle();
    let results = folder.results(&format!(
        "{INSTANCE} --k_values 9 1 9 --directions text2sensor sensor2sensor"
    ));
    // All four sensors, two of them with the label; without the query itself, one of three.
    close(&results, "label_precision.text2sensor@9", 2.0 / 4.0);
    close(&results, "label_precision.sensor2sensor@9", 1.0 / 3.0);
    assert_eq!(
        score(&results, "embeddings", "label_precision.text2sensor@9")["effective_k"],
        4
    );
    assert_eq!(
        score(&results, "embeddings", "label_precision.sensor2sensor@9")["effective_k"],
        3
    );
    assert!(warnings(&results).contains("K = 9"), "{}", warnings(&results));
    assert_eq!(results["spec"]["retrieval_k"], serde_json::json!([9, 1]));
}

#[test]
fn directions_follow_from_what_was_given() {
    let folder = circle_with_prototypes();
    let spaces = "retrieval --space a=sensor.npy --space b=text.npy --labels labels.npy";
    let stored = "--prototype_embeddings prototypes.npy --prototype_labels names.npy";
    for (line, expected) in [
        (INSTANCE.to_string(), "text2sensor sensor2text"),
        (SENSOR_ONLY.to_string(), "sensor2sensor"),
        (spaces.to_string(), "a2b b2a"),
        (format!("{spaces} --directions b2b,a2b"), "b2b a2b"),
        (
            format!("{INSTANCE} --directions both text2text both"),
            "text2sensor sensor2text text2text",
        ),
        (format!("{INSTANCE} {stored}"), "prototype2sensor prototype2text"),
        (
            format!("{INSTANCE} {stored} --use_prototypes --directions both"),
            "prototype2sensor prototype2text",
        ),
        (format!("{SENSOR_ONLY} {stored} --directions both"), "prototype2sensor"),
        (
            format!("{INSTANCE} {stored} --directions prototype2sensor text2sensor"),
            "prototype2sensor text2sensor",
        ),
        (format!("{spaces} {stored}"), "prototype2a prototype2b"),
        (
            format!("{SENSOR_ONLY} {stored} --directions sensor2prototype"),
            "sensor2prototype",
        ),
    ] {
        let results = folder.results(&format!("{line} --k_values 1"));
        assert_eq!(directions(&results).join(" "), expected, "{line}");
        for direction in expected.split(' ') {
            let id = format!("label_precision.{direction}@1");
            assert!(metrics(&results).contains(&id.as_str()), "{line}: no {id}");
        }
    }
}

#[test]
fn named_spaces_and_the_documents_options_give_the_same_numbers() {
    let folder = circle();
    let named = folder.results("retrieval --space sensor=sensor.npy text=text.npy --labels labels.npy --k_values 2");
    let documented = folder.results(&format!("{INSTANCE} --k-values 2"));
    assert_eq!(named["scores"], documented["scores"]);
}

#[test]
fn without_normalizing_long_vectors_come_first() {
    // Sensor 1 is ten times as long: texts 2 and 3, both of label b, then find it first.
    let folder = circle();
    let (cos, sin) = (10f64.to_radians().cos(), 10f64.to_radians().sin());
    let mut points: Vec<f64> = SENSOR
        .iter()
        .flat_map(|a| [a.to_radians().cos(), a.to_radians().sin()])
        .collect();
    (points[2], points[3]) = (10.0 * cos, 10.0 * sin);
    folder.write("sensor.npy", &npy_f64(&[4, 2], &points));
    let precision = |options: &str| {
        let results = folder.results(&format!("{INSTANCE} --k_values 1 --directions text2sensor {options}"));
        value(&results, "embeddings", "label_precision.text2sensor@1")
    };
    for cosine in ["", "--normalize", "--no-normalize --normalize"] {
        assert_eq!(precision(cosine), Some(0.75), "{cosine}");
    }
    for dot in ["--no-normalize", "--no_normalize", "--normalize --no-normalize"] {
        assert_eq!(precision(dot), Some(0.5), "{dot}");
    }
}

#[test]
fn rows_of_length_zero_are_counted() {
    let folder = circle();
    folder.write(
        "sensor.npy",
        &npy_f64(&[4, 2], &[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
    );
    let run = folder.good(&format!("{INSTANCE} --k_values 1"));
    assert!(run.stderr.contains("2 of the 4 rows of `sensor`"), "{}", run.stderr);
}

#[test]
fn two_sets_of_labels_are_answered_in_one_run() {
    let folder = circle();
    let line = "retrieval --sensor_embeddings sensor.npy --text_embeddings text.npy --labels l1=labels.npy l2=l2.npy";
    let results = folder.results(&format!("{line} --k_values 1 2 --output flat.json"));
    close(&results, "label_precision.text2sensor(labels=l1)@2", 3.0 / 4.0);
    // Each text finds one x and one y among the first two; only text 3 (x) finds the wrong one first.
    close(&results, "label_precision.text2sensor(labels=l2)@1", 3.0 / 4.0);
    close(&results, "label_precision.text2sensor(labels=l2)@2", 1.0 / 2.0);
    let flat = folder.json("flat.json");
    assert_eq!(flat["l2"]["text2sensor"]["2"], 0.5);
    assert_eq!(flat["l1"]["text2sensor"]["2"], 0.75);
}

#[test]
fn a_gallery_may_have_its_own_rows_and_labels() {
    let folder = circle();
    folder.write("three.npy", &on_the_circle(&TEXT[..3]));
    folder.write("three_labels.npy", &npy_words(&L1[..3]));
    folder.write("three_l2.npy", &npy_words(&L2[..3]));
    let line = "retrieval --sensor_embeddings sensor.npy --text_embeddings three.npy --k_values 1 2";
    let results = folder.results(&format!("{line} --labels labels.npy text=three_labels.npy"));
    close(&results, "label_precision.text2sensor@2", 1.0);
    // Sensors 2 and 3 find text 2, then text 1 of the other label.
    close(&results, "label_precision.sensor2text@2", (1.0 + 1.0 + 0.5 + 0.5) / 4.0);
    assert!(
        !metrics(&results).iter().any(|m| m.starts_with("pair_recall")),
        "rows are no partners"
    );
    let sets = "--labels l1=labels.npy l2=l2.npy text.l1=three_labels.npy text.l2=three_l2.npy";
    let results = folder.results(&format!("{line} {sets}"));
    close(&results, "label_precision.text2sensor(labels=l1)@2", 1.0);
    assert!(metrics(&results).contains(&"label_precision.text2sensor(labels=l2)@1"));
}

#[test]
fn labels_may_be_words_numbers_or_truth_values() {
    let folder = circle();
    folder.write("numbers.npy", &npy_i64(&[7, 7, -1, -1]));
    folder.write("truths.npy", &npy("|b1", &[4], &[1, 1, 0, 0]));
    folder.write("words.csv", b"label\na\na\nb\nb\n");
    let expected = folder.results(&format!("{SENSOR_ONLY} --k_values 2"))["scores"].clone();
    for file in ["numbers.npy", "truths.npy", "words.csv"] {
        let results = folder.results(&format!(
            "retrieval --sensor_embeddings sensor.npy --labels {file} --k_values 2"
        ));
        assert_eq!(results["scores"], expected, "{file}");
    }
}

#[test]
fn arrays_of_a_container_are_named_by_key() {
    let folder = circle();
    let (sensor, text) = (on_the_circle(&SENSOR), on_the_circle(&TEXT));
    let members = [
        ("sensor_embeddings", sensor.clone()),
        ("text_embeddings", text.clone()),
        ("labels", npy_words(&L1)),
    ];
    folder.write("data.npz", &npz(&members));
    let expected = folder.results(INSTANCE)["scores"].clone();
    let keys = "--sensor_key sensor_embeddings --text_key text_embeddings --labels_key labels";
    for line in [
        format!("retrieval --sensor_embeddings data.npz --text_embeddings data.npz --labels data.npz {keys}"),
        "retrieval --sensor_embeddings data.npz#sensor_embeddings --text_embeddings data.npz#text_embeddings --labels \
         data.npz#labels"
            .to_string(),
    ] {
        let results = folder.results(&line);
        assert_eq!(results["scores"], expected, "{line}");
        assert_eq!(results["inputs"][0]["path"], "data.npz#sensor_embeddings");
    }
    folder.write(
        "usual.npz",
        &npz(&[
            ("embeddings", sensor.clone()),
            ("labels", npy_words(&L1)),
            ("odd", text),
        ]),
    );
    let usual = folder.results("retrieval --sensor_embeddings usual.npz --text_embeddings text.npy --labels usual.npz");
    assert_eq!(usual["scores"], expected);
    assert_eq!(warnings(&usual), warnings(&folder.results(INSTANCE)));
    folder.write("only.npz", &npz(&[("codes", sensor)]));
    let only = folder.results("retrieval --sensor_embeddings only.npz --text_embeddings text.npy --labels labels.npy");
    assert_eq!(only["scores"], expected);
    assert!(warnings(&only).contains("no array `embeddings`; its only array `codes` is used"));
}

/// Texts with two captions each, in another order of samples.
fn captions(folder: &Folder) {
    let order = [2, 0, 3, 1];
    let angles: Vec<f64> = order.iter().flat_map(|&i| [TEXT[i], TEXT[i] + 180.0]).collect();
    let names: Vec<String> = order.iter().flat_map(|i| [format!("s{i}"), format!("s{i}")]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let members = [
        ("embeddings", on_the_circle(&angles)),
        ("sample_ids", npy_words(&names)),
        ("caption_indices", npy_i64(&[0, 1, 0, 1, 0, 1, 0, 1])),
        ("model_name", npy_words(&["clip"])),
    ];
    folder.write("captions.npz", &npz(&members));
    folder.write("ids.npy", &npy_words(&["s0", "s1", "s2", "s3"]));
}

#[test]
fn further_captions_of_a_sample_are_left_out_and_ids_join_the_rest() {
    let folder = circle();
    captions(&folder);
    let expected = folder.results(&format!("{INSTANCE} --k_values 1 2"))["scores"].clone();
    let line =
        "retrieval --sensor_embeddings sensor.npy --text_embeddings captions.npz --labels labels.npy --k_values 1 2";
    let joined = folder.results(&format!("{line} --ids sample_ids sensor=ids.npy labels=ids.npy"));
    assert_eq!(joined["scores"], expected);
    assert!(
        warnings(&joined).contains("4 of the 8 rows of `text` are further captions"),
        "{}",
        warnings(&joined)
    );
    let by_position = folder.results(line);
    assert_ne!(by_position["scores"], expected);
    assert!(
        warnings(&by_position).contains("`ids` = sample_ids"),
        "{}",
        warnings(&by_position)
    );
}

#[test]
fn labels_beside_the_captions_lose_the_same_rows() {
    let folder = circle();
    let angles: Vec<f64> = TEXT.iter().flat_map(|a| [*a, a + 180.0]).collect();
    let names: Vec<&str> = L1.iter().flat_map(|l| [*l, *l]).collect();
    let members = [
        ("embeddings", on_the_circle(&angles)),
        ("labels", npy_words(&names)),
        ("caption_indices", npy_i64(&[0, 1, 0, 1, 0, 1, 0, 1])),
    ];
    folder.write("captions.npz", &npz(&members));
    let expected = folder.results(&format!("{INSTANCE} --k_values 2"))["scores"].clone();
    let line =
        "retrieval --sensor_embeddings sensor.npy --text_embeddings captions.npz --labels captions.npz --k_values 2";
    assert_eq!(folder.results(line)["scores"], expected);
}

#[test]
fn ids_join_spaces_and_every_set_of_labels() {
    let folder = circle();
    folder.write("moved.npy", &on_the_circle(&[40.0, 2.0, 12.0, 92.0, 7.0]));
    folder.write("moved_ids.npy", &npy_i64(&[3, 0, 1, 2, 99]));
    folder.write("ids.npy", &npy_i64(&[0, 1, 2, 3]));
    folder.write("table.csv", b"id,labels\n3,b\n2,b\n1,a\n0,a\n");
    let expected = folder.results(&format!("{INSTANCE} --k_values 2"))["scores"].clone();
    let line = "retrieval --sensor_embeddings sensor.npy --text_embeddings moved.npy --k_values 2";
    let ids = "--ids id sensor=ids.npy text=moved_ids.npy";
    let joined = folder.results(&format!("{line} --labels table.csv {ids}"));
    assert_eq!(joined["scores"], expected);
    assert!(warnings(&joined).contains("1 rows of `text` have an id that other arrays lack"));
    let sets = folder.results(&format!(
        "{line} --labels l1=table.csv#labels l2=l2.npy {ids} l2=ids.npy"
    ));
    close(&sets, "label_precision.text2sensor(labels=l1)@2", 3.0 / 4.0);
    close(&sets, "label_precision.text2sensor(labels=l2)@2", 1.0 / 2.0);
}

#[test]
fn prototypes_come_from_stored_vectors_several_per_label() {
    let folder = circle_with_prototypes();
    let stored = "--prototype_embeddings prototypes.npy --prototype_labels names.npy --k_values 2 3";
    let results = folder.results(&format!("{INSTANCE} {stored} --output flat.json"));
    close(&results, "label_precision.prototype2sensor@2", 1.0);
    close(&results, "label_precision.prototype2text@2", 1.0);
    close(&results, "label_precision.prototype2text@3", 2.0 / 3.0);
    assert_eq!(
        score(&results, "embeddings", "label_precision.prototype2sensor@2")["n"],
        2
    );
    assert_eq!(folder.json("flat.json")["prototype2sensor"]["2"], 1.0);
    let summary = folder.good(&format!("{INSTANCE} {stored} --quiet")).stdout;
    assert!(summary.contains("Text Prototype -> Sensor:\n"), "{summary}");
    // A second prototype of b at 20 degrees finds the two sensors of a first.
    let (more, names) = (on_the_circle(&[3.0, 93.0, 20.0]), npy_words(&["a", "b", "b"]));
    folder.write("more.npz", &npz(&[("embeddings", more), ("labels", names)]));
    let results = folder.results(&format!("{SENSOR_ONLY} --prototype_embeddings more.npz --k_values 2"));
    close(&results, "label_precision.prototype2sensor@2", 2.0 / 3.0);
    close(&results, "label_precision.prototype2sensor.macro@2", (1.0 + 0.5) / 2.0);
}

#[test]
fn labels_that_do_not_match_the_prototypes_are_named() {
    let folder = circle_with_prototypes();
    let line = format!("{SENSOR_ONLY} --prototype_embeddings prototypes.npy --prototype_labels upper.npy --k_values 2");
    let results = folder.results(&line);
    let text = warnings(&results);
    for fact in [
        "1 label of the data has no prototype: `a`",
        "1 prototype label is not in the data and left out of the queries: `A`",
        "prototype `A` and label `a` differ only in case; `ignore_case`",
    ] {
        assert!(text.contains(fact), "{text} lacks {fact}");
    }
    assert_eq!(
        score(&results, "embeddings", "label_precision.prototype2sensor@2")["n"],
        1
    );
    let folded = folder.results(&format!("{line} --ignore_case"));
    assert_eq!(
        score(&folded, "embeddings", "label_precision.prototype2sensor@2")["n"],
        2
    );
    assert!(
        warnings(&folded).contains("taken as one: `A` = `a`"),
        "{}",
        warnings(&folded)
    );
}

#[test]
fn a_prototype_of_another_set_of_labels_is_said_to_be_one() {
    let folder = circle_with_prototypes();
    folder.write("mixed.npy", &npy_words(&["a", "x"]));
    let results = folder.results(
        "retrieval --sensor_embeddings sensor.npy --labels l1=labels.npy l2=l2.npy --k_values 1 \
         --prototype_embeddings prototypes.npy --prototype_labels mixed.npy",
    );
    let text = warnings(&results);
    assert!(
        text.contains("prototypes for `x` find nothing in `l1`: these are labels of `l2`"),
        "{text}"
    );
    assert!(text.contains("1 label of `l2` has no prototype: `y`"), "{text}");
    assert_eq!(
        score(&results, "embeddings", "label_precision.prototype2sensor(labels=l2)@1")["n"],
        1
    );
}

const METADATA: &str = r#"{"villa": {"label_to_text_plain": {"a": "It is \"a\", surely", "b": "b it is"},
    "label_to_text": {"b": {"short_desc": "b", "long_desc": ["a long b"]}}}}"#;

#[test]
fn stored_vectors_take_their_labels_from_the_metadata_in_file_order() {
    let folder = circle_with_prototypes();
    folder.write("meta.json", METADATA.as_bytes());
    let line = format!("{SENSOR_ONLY} --use_prototypes --prototype_embeddings prototypes.npy --k_values 2");
    let results = folder.results(&format!(
        "{line} --metadata meta.json --dataset_name villa --caption_style plain"
    ));
    close(&results, "label_precision.prototype2sensor@2", 1.0);
    assert_eq!(results["inputs"][3]["path"], "meta.json");
    assert_eq!(results["inputs"][3]["shape"], serde_json::json!([2]));
    folder.write(
        "metadata/casas_metadata.json",
        METADATA
            .replace("villa", "milan")
            .replace("plain", "sourish")
            .as_bytes(),
    );
    close(&folder.results(&line), "label_precision.prototype2sensor@2", 1.0);
}

#[test]
fn the_texts_of_the_prototypes_can_be_written_to_be_encoded_elsewhere() {
    let folder = circle_with_prototypes();
    folder.write("meta.json", METADATA.as_bytes());
    let run = folder.good(
        "retrieval --prototype_texts out/texts.csv --metadata meta.json --dataset_name villa --caption_style plain",
    );
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("2 texts of label_to_text_plain"), "{}", run.stderr);
    assert_eq!(
        folder.read("out/texts.csv"),
        "label,text\na,\"It is \"\"a\"\", surely\"\nb,b it is\n"
    );
    // The file serves as the labels of what was made from it.
    let results = folder.results(&format!(
        "{SENSOR_ONLY} --prototype_embeddings prototypes.npy --prototype_labels out/texts.csv --k_values 2"
    ));
    close(&results, "label_precision.prototype2sensor@2", 1.0);
    let run = folder.good("retrieval --prototype_texts texts.csv --metadata meta.json --dataset_name villa");
    assert!(run.stderr.contains("no style `sourish`"), "{}", run.stderr);
    assert_eq!(folder.read("texts.csv").lines().count(), 1 + 2);
}

#[test]
fn excluded_labels_take_their_rows_and_prototypes_along() {
    let folder = circle_with_prototypes();
    let line = "retrieval --sensor_embeddings sensor.npy --text_embeddings text.npy --labels l1=labels.npy l2=l2.npy";
    let stored = "--prototype_embeddings prototypes.npy --prototype_labels names.npy";
    let results = folder.results(&format!(
        "{line} {stored} --exclude_labels b --directions text2sensor both --k_values 1"
    ));
    close(&results, "label_precision.text2sensor(labels=l1)@1", 1.0);
    assert_eq!(
        score(&results, "embeddings", "label_precision.text2sensor(labels=l2)@1")["n"],
        2
    );
    assert_eq!(
        score(&results, "embeddings", "label_precision.prototype2sensor(labels=l1)@1")["n"],
        1
    );
    let text = warnings(&results);
    assert!(
        text.contains("2 of 4 rows of `sensor`, 2 of 4 rows of `text`, 1 prototype"),
        "{text}"
    );
    folder.write("numbers.npy", &npy_i64(&[0, 0, 0, -1]));
    let noise = folder
        .results("retrieval --sensor_embeddings sensor.npy --labels numbers.npy --k_values 1 --exclude_labels -1");
    assert_eq!(score(&noise, "embeddings", "label_precision.sensor2sensor@1")["n"], 3);
    folder.write("commas.npy", &npy_words(&["a,b", "a", "b", "c"]));
    let line = "retrieval --sensor_embeddings sensor.npy --labels commas.npy --k_values 1 --exclude_labels";
    assert!(warnings(&folder.results(&format!("{line} a,b"))).contains("1 of 4 rows"));
    assert!(warnings(&folder.results(&format!("{line} a,c"))).contains("2 of 4 rows"));
}

#[test]
fn labels_of_different_case_are_one_only_where_asked() {
    let folder = circle();
    folder.write("mixed.npy", &npy_words(&["a", "A", "b", "b"]));
    let line = "retrieval --sensor_embeddings sensor.npy --labels mixed.npy --k_values 1";
    assert_eq!(
        score(&folder.results(line), "embeddings", "label_precision.sensor2sensor@1")["n"],
        2
    );
    let folded = folder.results(&format!("{line} --ignore-case"));
    assert_eq!(score(&folded, "embeddings", "label_precision.sensor2sensor@1")["n"], 4);
    close(&folded, "label_precision.sensor2sensor@1", 1.0);
}

#[test]
fn one_thread_or_two_give_the_same_bytes() {
    let folder = circle_with_prototypes();
    let line = format!(
        "{INSTANCE} --prototype_embeddings prototypes.npy --prototype_labels names.npy --directions both sensor2text"
    );
    let one = folder.good(&format!("{line} --threads 1 --json")).stdout;
    assert_eq!(
        one,
        folder.good(&format!("{line} --threads 2 --json --no_figures")).stdout
    );
}

#[test]
fn the_benchmark_prints_one_line_with_its_answer() {
    let folder = circle();
    let run = folder.good("bench retrieval --queries text.npy --targets sensor.npy --labels labels.npy --k 1 2");
    let line: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    assert_eq!(line["case"], "retrieval");
    assert_eq!((line["n"].as_u64(), line["d"].as_u64()), (Some(4), Some(2)));
    assert_eq!(line["answer"]["label_precision.text2sensor@2"], 0.75);
    assert_eq!(line["answer"].as_object().map(serde_json::Map::len), Some(2));
    assert!(line["seconds"].as_f64().is_some());
}

#[test]
fn the_benchmark_of_both_directions_gives_the_scores_of_the_command() {
    let folder = circle();
    let run = folder.good("bench retrieval --queries text.npy --targets sensor.npy --labels labels.npy --k 1 --both");
    let line: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    let results = folder.results(&format!("{INSTANCE} --k_values 1 --directions both"));
    for direction in ["text2sensor", "sensor2text"] {
        let id = format!("label_precision.{direction}@1");
        assert_eq!(line["answer"][&id], score(&results, "embeddings", &id)["value"]);
    }
}

#[test]
fn the_benchmark_of_metrics_gives_the_scores_of_the_command() {
    let folder = circle();
    let run = folder.good("bench metric trustworthiness continuity --states text.npy --model z=sensor.npy --k 1");
    let line: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    let results = folder.results("neighborhood --states text.npy --model z=sensor.npy --k 1");
    for id in ["trustworthiness@1", "continuity@1"] {
        assert_eq!(line["answer"][id], score(&results, "z", id)["value"]);
    }
}

#[test]
fn the_examples_of_its_help_work() {
    let folder = circle_with_prototypes();
    folder.write("l1.npy", &npy_words(&L1));
    folder.write(
        "data.npz",
        &npz(&[("sensor", on_the_circle(&SENSOR)), ("labels", npy_words(&L1))]),
    );
    let help = folder.good("retrieval --help").stdout;
    let joined = help.replace("\\\n", " ");
    let examples: Vec<&str> = joined.lines().filter_map(|l| l.strip_prefix("  repscope ")).collect();
    assert_eq!(examples.len(), 4, "{help}");
    for split in ["train", "test"] {
        folder.write(&format!("{split}.npy"), &on_the_circle(&SENSOR));
        folder.write(&format!("{split}_labels.npy"), &npy_words(&L1));
    }
    // The third needs a text encoder: see documents.rs.
    for example in [examples[0], examples[1], examples[3]] {
        folder.good(example);
    }
}

#[test]
fn the_first_k_alone_give_the_same_scores_without_those_of_the_whole_ranking() {
    let folder = circle();
    let all = folder.results(&format!("{INSTANCE} --k_values 1 3"));
    let first = folder.results(&format!("{INSTANCE} --k_values 1 3 --first_only"));
    let is_whole = |m: &&str| ["r_precision", "map_at_r", "mrr"].iter().any(|w| m.starts_with(w));
    assert_eq!(metrics(&all).iter().filter(|m| is_whole(m)).count(), 6);
    let kept: Vec<&str> = metrics(&all).into_iter().filter(|m| !is_whole(m)).collect();
    assert_eq!(metrics(&first), kept);
    for metric in kept {
        assert_eq!(score(&all, "embeddings", metric), score(&first, "embeddings", metric));
    }
}
