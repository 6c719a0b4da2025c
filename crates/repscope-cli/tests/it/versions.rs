// SPDX-License-Identifier: MIT
//! `--prefix` and `--quantize`: shorter and quantized embeddings beside the whole ones.

use serde_json::Value;

use crate::fixtures::{Folder, model, noise, npy_f64, npy_words, repository, score};

const BOTH: &str = "--prefix 4 8 --quantize int8 binary";

fn digits(command: &str) -> String {
    let path = |name: &str| repository(&format!("examples/digits/{name}.npy"));
    format!(
        "{command} --model pca={} --model tanh={} --labels {} {BOTH}",
        path("pca16"),
        path("tanh16"),
        path("labels")
    )
}

fn version<'a>(results: &'a Value, columns: Option<u64>, precision: &str) -> &'a Value {
    let all = results["versions"].as_array().expect("versions");
    let is_it = |own: &&Value| own["columns"].as_u64() == columns && own["precision"] == precision;
    all.iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("no version {columns:?} {precision}"))
}

#[test]
fn every_version_has_scores_with_intervals_and_changes_and_the_whole_stays_as_it_was() {
    let folder = Folder::new();
    let with = folder.results(&digits("geometry --k 5 --splits 4"));
    let without = folder.results(&digits("geometry --k 5 --splits 4").replace(BOTH, ""));
    for key in ["scores", "differences", "findings"] {
        assert_eq!(with[key], without[key], "{key}");
    }
    assert!(without.get("versions").is_none());
    assert_eq!(with["versions"].as_array().expect("versions").len(), 8);
    let of = |columns, precision: &str| {
        let own = version(&with, columns, precision);
        let accuracy = score(own, "pca", "knn_accuracy@5");
        assert!(accuracy["interval"].is_array(), "{accuracy}");
        let changes = own["changes"].as_array().expect("changes");
        let is_it = |d: &&Value| d["metric"] == "knn_accuracy@5" && d["a"] == "pca" && d["b"] == "pca";
        let change = changes.iter().find(is_it).expect("a change").clone();
        assert!(change["winner"].is_null() && change["is_paired"] == true, "{change}");
        (accuracy["value"].as_f64().expect("a value"), change)
    };
    let whole = score(&with, "pca", "knn_accuracy@5")["value"]
        .as_f64()
        .expect("a value");
    let (eight_bits, change) = of(None, "int8");
    // 8 bits per number change almost no neighbor.
    assert!((eight_bits - whole).abs() < 0.01 && change["p_adjusted"].as_f64().is_none_or(|p| p > 0.05));
    let (four, change) = of(Some(4), "float");
    assert!(
        four < whole - 0.05 && change["p_adjusted"].as_f64().expect("a p-value") < 0.01,
        "{change}"
    );
    assert_eq!(version(&with, Some(4), "float")["columns_of"]["pca"], 16);
}

#[test]
fn the_table_the_verdict_the_file_and_the_figure_show_them() {
    let folder = Folder::new();
    let run = folder.good(&digits("geometry --k 5 --splits 4"));
    assert!(
        run.stdout.contains("Shorter and quantized embeddings"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("of 16 columns"), "{}", run.stdout);
    assert!(run.stdout.contains("▼ worse"), "{}", run.stdout);
    let csv = folder.read("evaluation_plots/geometry_analysis/versions.csv");
    assert!(
        csv.starts_with("columns,stored_as,model,metric,value,low,high"),
        "{csv}"
    );
    assert!(
        csv.lines()
            .any(|line| line.starts_with("8,binary,pca,knn_accuracy@5,0.")),
        "{csv}"
    );
    let files = folder.files();
    assert!(
        files
            .iter()
            .any(|file| file.ends_with("geometry_analysis/geometry_versions.svg"))
    );
    // What was written reads back as it was shown.
    let again = folder.good("report evaluation_plots/geometry_analysis").stdout;
    assert!(
        again.contains("Shorter and quantized embeddings") && again.contains("of 16 columns"),
        "{again}"
    );
}

#[test]
fn an_evaluation_a_study_and_a_comparison_know_them() {
    let folder = Folder::with_arrays();
    folder.write(
        "s.toml",
        b"[data]\nlabels = \"labels.npy\"\nprefix = 2\nquantize = [\"binary\"]\n[models]\nz = \"z.npy\"\n",
    );
    let run = folder.results("evaluate s.toml --only manifold geometry --no-figures");
    let own = version(&run, Some(2), "float");
    assert!(score(own, "z", "two_nn")["value"].is_f64());
    assert!(score(own, "z", "knn_accuracy@5")["value"].is_f64());
    let page = folder.read("evaluation_plots/report.html");
    assert!(page.contains("Shorter and quantized embeddings"));
    // One model is compared with its own versions.
    let compared = "compare --model z=z.npy --labels labels.npy --only geometry --prefix 2 --equivalent knn_accuracy@5=0.9 --no-figures";
    let run = folder.good(compared);
    assert!(run.stdout.contains("the same within 0.9"), "{}", run.stdout);
}

#[test]
fn a_search_is_repeated_in_each_version_and_compared_with_the_whole() {
    let folder = Folder::new();
    let (pca, labels) = (
        repository("examples/digits/pca16.npy"),
        repository("examples/digits/labels.npy"),
    );
    let line = format!(
        "retrieval --sensor-embeddings {pca} --labels {labels} --directions sensor2sensor --k-values 10 --first-only"
    );
    let with = folder.results(&format!("{line} --prefix 4 --quantize int8"));
    assert_eq!(with["scores"], folder.results(&line)["scores"]);
    let id = "label_precision.sensor2sensor@10";
    let value = |results: &Value| score(results, "embeddings", id)["value"].as_f64().expect("a value");
    let (whole, four, eight_bits) = (
        value(&with),
        value(version(&with, Some(4), "float")),
        value(version(&with, None, "int8")),
    );
    assert!(
        four < whole - 0.02 && (eight_bits - whole).abs() < 0.01,
        "{four} {eight_bits} {whole}"
    );
    let changes = version(&with, Some(4), "float")["changes"].as_array().expect("changes");
    let change = changes.iter().find(|own| own["metric"] == id).expect("a change");
    assert!(change["p_adjusted"].as_f64().is_some_and(|p| p < 0.01), "{change}");
    let shown = folder.good(&format!("{line} --prefix 4 --quantize int8")).stdout;
    assert!(
        shown.contains("Shorter and quantized embeddings") && shown.contains("▼ 0.7"),
        "{shown}"
    );
    let run = folder.run(&format!("{line} --prefix 16"));
    assert!(run.code == 2 && run.stderr.contains("16 columns"), "{}", run.stderr);
}

#[test]
fn noise_moves_each_version_of_the_embeddings() {
    let folder = Folder::new();
    let (mlp, vectors) = (model("mlp.onnx"), model("vectors.npy"));
    let line = format!("robustness --states {vectors} --model m={mlp} --noise 0.5 --no-figures");
    let with = folder.results(&format!("{line} --prefix 3 --quantize binary"));
    assert_eq!(with["scores"], folder.results(&line)["scores"]);
    let value = |results: &Value| {
        score(results, "m", "robustness@0.5")["value"]
            .as_f64()
            .expect("a value")
    };
    let (whole, three) = (value(&with), value(version(&with, Some(3), "float")));
    assert!(three > 0.0 && three < whole, "{three} of {whole}");
    // The same of stored embeddings: those without noise, and others in place of those with noise.
    folder.good(&format!("encode --encoder {mlp} --input {vectors} --output z.npy"));
    let z = folder.results("robustness --clean m=z.npy --noisy 1=z.npy --prefix 3 --no-figures");
    let still = score(version(&z, Some(3), "float"), "m", "robustness@1")["value"].as_f64();
    assert_eq!(still, Some(0.0));
    // Signs move by 2 for each that turns.
    let turned = value(version(&with, None, "binary"));
    assert!(turned > 0.0 && turned <= 2.0 * 37f64.sqrt(), "{turned}");
}

#[test]
fn reference_rows_are_shortened_as_the_others_are() {
    let folder = Folder::with_arrays();
    let run = folder.results("drift --model m=x.npy --against x.npy --prefix 2 --permutations 19 --no-figures");
    let own = version(&run, Some(2), "float");
    assert!(score(own, "m", "energy_distance")["value"].is_f64());
}

#[test]
fn training_runs_are_pooled_in_each_version() {
    let folder = Folder::with_arrays();
    folder.write("y.npy", &npy_f64(&[60, 3], &noise(9, 180)));
    let run = folder.results("geometry --replicates r=z.npy,y.npy --labels labels.npy --prefix 2 --no-figures");
    let own = score(version(&run, Some(2), "float"), "r", "knn_accuracy@5");
    assert_eq!(own["runs"], 2);
}

#[test]
fn a_version_in_which_a_model_collapses_is_named() {
    let folder = Folder::with_arrays();
    let positive: Vec<f64> = noise(4, 240).iter().map(|x| x.abs() + 0.1).collect();
    folder.write("positive.npy", &npy_f64(&[60, 4], &positive));
    let run = folder.good("manifold --model p=positive.npy --quantize binary --no-figures");
    let all = format!("{}{}", run.stdout, run.stderr);
    let json = folder.json("evaluation_plots/manifold_dimension/results.json");
    assert!(
        json["warnings"].to_string().contains("p binary: has collapsed"),
        "{all}{}",
        json["warnings"]
    );
}

#[test]
fn what_does_not_fit_is_refused_with_both_numbers() {
    let folder = Folder::with_arrays();
    let words: Vec<&str> = vec!["a"; 60];
    folder.write("one.npy", &npy_words(&words));
    let refused = |words: &str, what: &[&str]| {
        let run = folder.run(words);
        assert_eq!(run.code, 2, "{words}\n{}{}", run.stdout, run.stderr);
        for what in what {
            assert!(run.stderr.contains(what), "{words}: {}", run.stderr);
        }
    };
    refused("manifold --model z=z.npy --prefix 0", &["0"]);
    refused("manifold --model z=z.npy --prefix 3", &["3", "not shorter"]);
    refused("manifold --model z=z.npy --prefix 7", &["7", "z 3"]);
    refused("manifold --model z=z.npy --quantize int4", &["int4"]);
    refused(
        "similarity --model z=z.npy --model w=w.npy --prefix 2",
        &["whole embeddings alone"],
    );
    refused(
        "probe --model z=z.npy --labels labels.npy --label-sets twice=labels.npy --prefix 2",
        &["label-sets", "cross-validated"],
    );
    refused("manifold --model z=z.npy --quantize int8 --memory 1K", &["1"]);
    // A prefix that one model has is measured of that one.
    let run = folder.results("manifold --model z=z.npy --model x=x.npy --prefix 3 --no-figures");
    let own = &version(&run, Some(3), "float")["columns_of"];
    assert_eq!(own.to_string(), r#"{"x":4}"#);
}
