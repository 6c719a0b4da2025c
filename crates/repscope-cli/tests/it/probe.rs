// SPDX-License-Identifier: MIT
//! `repscope probe` on small arrays.

use crate::fixtures::{Folder, noise, npy_f64, npy_words};

/// A folder whose `y.csv` has a column that the embeddings hold and one that they do not.
fn folder() -> Folder {
    let folder = Folder::with_arrays();
    let (z, other) = (noise(2, 180), noise(9, 60));
    let rows = (0..60).map(|row| format!("{},{}\n", z[3 * row] - z[3 * row + 1], other[row]));
    folder.write(
        "y.csv",
        format!("speed (m/s),other\n{}", rows.collect::<String>()).as_bytes(),
    );
    folder
}

const QUICK: &str = "--folds 4 --shots 1 5 --draws 2 --penalties 1 100";

#[test]
fn targets_are_named_after_the_columns_of_a_table() {
    let folder = folder();
    let results = folder.results(&format!("probe --model a=z.npy --targets y.csv {QUICK}"));
    let scores = results["scores"].as_array().expect("scores");
    let of = |id: &str| {
        scores
            .iter()
            .find(|s| s["metric"] == id)
            .unwrap_or_else(|| panic!("no {id}"))
    };
    let found = |id: &str| of(id)["value"].as_f64().expect("a number");
    assert!(found("probe.linear.r2(target=speed--m-s-)") > 0.9);
    assert!(found("probe.linear.r2(target=other)") < 0.3);
    assert!(of("probe.linear.mae(target=other)")["interval"].is_array());
    assert_eq!(results["spec"]["targets"], "y.csv");
    // Nothing is said of labels that nobody gave.
    assert!(scores.iter().all(|s| s["metric"] != "probe.linear.accuracy"));
}

#[test]
fn labels_have_scores_files_and_a_figure() {
    let folder = folder();
    let run = folder.good(&format!(
        "probe --model a=z.npy --model b=w.npy --labels labels.npy {QUICK}"
    ));
    assert!(run.stdout.starts_with("Probes"), "{}", run.stdout);
    assert!(run.stdout.contains("probe.linear.accuracy") && run.stdout.contains("probe.knn.accuracy@5"));
    let files = folder.files();
    for name in [
        "probe/probe_analysis.svg",
        "probe/probe_summary.csv",
        "probe/probe_few_shot.csv",
        "probe/probe_penalties.csv",
    ] {
        assert!(files.iter().any(|file| file.ends_with(name)), "{name}: {files:?}");
    }
    let few = folder.read("evaluation_plots/probe/probe_few_shot.csv");
    assert!(few.contains("a,") && few.lines().count() == 5, "{few}");
    let again = folder.good("report evaluation_plots/probe").stdout;
    assert!(again.contains("probe.linear.accuracy"), "{again}");
}

#[test]
fn an_evaluation_probes_where_it_is_asked_for() {
    let folder = folder();
    let plain = folder.good("evaluate --model a=z.npy --labels labels.npy --no-figures --skip geometry clid");
    assert!(!plain.stdout.contains("Probes"), "{}", plain.stdout);
    let words =
        "evaluate --model a=z.npy --model b=w.npy --no-figures --only manifold probe --set probe.shots=1 probe.folds=3";
    let asked = folder.good(&format!("{words} --labels labels.npy --targets y.csv"));
    assert!(
        asked.stdout.contains("Probes") && asked.stdout.contains("probe.linear.accuracy"),
        "{}",
        asked.stdout
    );
    let by_targets = "evaluate --model a=z.npy --no-figures --skip manifold rankme geometry clid --targets y.csv";
    let found = folder.good(by_targets);
    assert!(found.stdout.contains("probe.linear.r2"), "{}", found.stdout);
    let refused = folder.run("evaluate --model a=z.npy --only probe");
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("--labels") && refused.stderr.contains("--targets"),
        "{}",
        refused.stderr
    );
}

#[test]
fn two_models_are_compared_row_by_row() {
    let folder = folder();
    let run = folder.good("compare --model a=z.npy --model b=w.npy --targets y.csv --only probe --no-figures");
    assert!(run.stdout.contains("a lets a linear map tell the targets best") || run.stdout.contains("probe.linear.r2"));
    let csv = folder.read("evaluation_plots/compare/differences.csv");
    let line = csv
        .lines()
        .find(|line| line.starts_with("probe.linear.r2(target=speed--m-s-),a,b"))
        .expect(&csv);
    assert!(line.contains("true") || line.contains("paired"), "{line}");
}

#[test]
fn rows_that_only_test_come_from_files_of_their_own() {
    let folder = folder();
    folder.write("t.npy", &npy_f64(&[30, 3], &noise(7, 90)));
    let words: Vec<&str> = (0..30).map(|i| ["cat", "dog", "cow"][i % 3]).collect();
    folder.write("t_labels.npy", &npy_words(&words));
    let train = format!("probe --model a=z.npy --labels labels.npy --no-figures {QUICK}");
    let results = folder.results(&format!("{train} --test-model t.npy --test-labels t_labels.npy"));
    let accuracy = results["scores"].as_array().expect("scores").iter();
    let mut accuracy = accuracy.filter(|s| s["metric"] == "probe.linear.accuracy");
    assert_eq!(accuracy.next().expect("a score")["n"], 30);
    assert_eq!(results["spec"]["test_model"][0], "t.npy");
    assert_eq!(results["inputs"].as_array().map(Vec::len), Some(4));
    let refused = |words: &str, what: &str| {
        let run = folder.run(words);
        assert_eq!(run.code, 2, "{words}");
        assert!(run.stderr.contains(what), "{words}: {}", run.stderr);
    };
    refused(&format!("{train} --test-model t.npy"), "--test-labels");
    refused(&format!("{train} --test-labels t_labels.npy"), "--test-model");
    refused(
        &format!("{train} --test-model x.npy --test-labels labels.npy"),
        "4 columns",
    );
    refused(
        &format!("{train} --test-model t.npy --test-labels labels.npy"),
        "60 labels for 30 test rows",
    );
    refused(
        &format!("{train} --test-model b=t.npy --test-labels t_labels.npy"),
        "no model is called `b`",
    );
}

#[test]
fn groups_and_sets_of_labels_are_read() {
    let folder = folder();
    let groups: Vec<f64> = (0..60).map(|row| f64::from(row / 6)).collect();
    folder.write("groups.npy", &npy_f64(&[60], &groups));
    let words =
        format!("probe --model a=z.npy --label-sets animal=labels.npy --groups groups.npy --no-figures {QUICK}");
    let results = folder.results(&words);
    let scores = results["scores"].as_array().expect("scores");
    let is_it = |s: &&serde_json::Value| s["metric"] == "probe.linear.accuracy(labels=animal)";
    let found = scores.iter().find(is_it).expect("a score of the set");
    assert_eq!(found["unit"], "episodes");
}

#[test]
fn bad_input_is_refused_with_both_numbers() {
    let folder = folder();
    folder.write("short.npy", &npy_f64(&[50, 2], &noise(5, 100)));
    let mut holes = noise(5, 60);
    holes[7] = f64::NAN;
    folder.write("holes.npy", &npy_f64(&[60], &holes));
    let refused = |words: &str, what: &[&str]| {
        let run = folder.run(words);
        assert_eq!(run.code, 2, "{words}");
        assert!(
            what.iter().all(|what| run.stderr.contains(what)),
            "{words}: {}",
            run.stderr
        );
    };
    refused("probe --model a=z.npy", &["--labels", "--targets"]);
    refused("probe --model a=z.npy --targets short.npy", &["50", "60"]);
    refused("probe --model a=z.npy --targets holes.npy", &["NaN", "row 7"]);
    refused("probe --model a=z.npy --targets labels.npy", &["text"]);
    refused(
        "probe --model a=z.npy --labels labels.npy --folds 2",
        &["--folds", "at least 3"],
    );
    refused(
        "probe --model a=z.npy --labels labels.npy --penalties 0",
        &["--penalties"],
    );
    refused("probe --model a=z.npy --labels labels.npy --k 0", &["--k"]);
    refused("probe --model a=z.npy --labels labels.npy --shots 0", &["--shots"]);
    // More neighbors than rows that train: the score does not exist, the others do.
    let run = folder.good(&format!(
        "probe --model a=z.npy --labels labels.npy --k 58 --no-figures {QUICK}"
    ));
    assert!(run.stdout.contains("probe.linear.accuracy"));
}
