// SPDX-License-Identifier: MIT
//! `repscope similarity` on small arrays.

use crate::fixtures::{Folder, noise, npy_f64};

const TWO: &str = "similarity --model a=z.npy --model b=w.npy --k 5 --permutations 20";

#[test]
fn a_score_names_both_models_and_a_file_has_every_pair() {
    let folder = Folder::with_arrays();
    let results = folder.results(&format!("{TWO} --model c=x.npy"));
    let scores = results["scores"].as_array().expect("scores");
    let is_it = |s: &&serde_json::Value| s["metric"] == "cka(kernel=linear)" && s["other"] == "c";
    let of: Vec<&str> = scores
        .iter()
        .filter(is_it)
        .filter_map(|s| s["model"].as_str())
        .collect();
    assert_eq!(of, ["a", "b"]);
    let csv = folder.read("evaluation_plots/similarity/similarity.csv");
    assert!(
        csv.starts_with("measure,model,other,value,low,high,calibrated,null_mean"),
        "{csv}"
    );
    assert_eq!(csv.lines().filter(|line| line.starts_with("mutual_knn@5,")).count(), 3);
    let files = folder.files();
    for figure in ["similarity_matrices.svg", "similarity_calibrated.svg"] {
        assert!(files.iter().any(|file| file.ends_with(figure)), "{figure}");
    }
    // What was written reads back as it was shown.
    let again = folder.good("report evaluation_plots/similarity").stdout;
    assert!(
        again.contains("a ~ b") && again.contains("most alike of 3 pairs"),
        "{again}"
    );
}

#[test]
fn an_evaluation_measures_similarity_where_it_is_asked_for() {
    let folder = Folder::with_arrays();
    let both = "evaluate --model a=z.npy --model b=w.npy --no-figures";
    let plain = folder.good(&format!("{both} --only manifold"));
    assert!(!plain.stdout.contains("Similarity") && !plain.stderr.contains("similarity"));
    let asked = folder.good(&format!("{both} --only manifold similarity --set similarity.k=3"));
    assert!(
        asked.stdout.contains("Similarity") && asked.stdout.contains("a ~ b"),
        "{}",
        asked.stdout
    );
    // Pairs are no models of the other analyses.
    assert!(!asked.stdout.contains("two_nn a ~ b"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = Folder::with_arrays();
    let refused = |words: &str, what: &str| {
        let run = folder.run(words);
        assert_eq!(run.code, 2, "{words}");
        assert!(run.stderr.contains(what), "{words}: {}", run.stderr);
    };
    refused("similarity --model a=z.npy", "`a` is the only one");
    folder.write("short.npy", &npy_f64(&[50, 3], &noise(5, 150)));
    refused("similarity --model a=z.npy --model b=short.npy", "60");
    refused("similarity --model a=z.npy --model b=w.npy --k 60", "at least 62 rows");
    refused(
        "similarity --model a=z.npy --model b=w.npy --bandwidth 0",
        "--bandwidth",
    );
    refused(
        "compare --model a=z.npy --model b=w.npy --only similarity",
        "run it alone",
    );
}
