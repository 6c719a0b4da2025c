// SPDX-License-Identifier: MIT
//! `repscope drift`, `repscope mixing` and `repscope check --against` on small arrays.

use crate::fixtures::{Folder, noise, npy_f64, npy_i64, npy_words};
use serde_json::Value;

/// Rows of a file, and others of which the first are copies of its last rows.
fn folder() -> Folder {
    let folder = Folder::new();
    let train = noise(1, 80 * 4);
    let mut test = noise(2, 50 * 4);
    test[..8].copy_from_slice(&train[78 * 4..]);
    // Row 7 is nearly row 30.
    test[28..32].copy_from_slice(&train[120..124]);
    test[28] += 1e-4;
    folder.write("train.npy", &npy_f64(&[80, 4], &train));
    folder.write("test.npy", &npy_f64(&[50, 4], &test));
    let moved: Vec<f64> = noise(3, 50 * 4).iter().map(|x| x + 3.0).collect();
    folder.write("moved.npy", &npy_f64(&[50, 4], &moved));
    folder.write("batches.npy", &npy_i64(&(0..50).map(|i| i % 2).collect::<Vec<i64>>()));
    folder.write("sites.npy", &npy_i64(&(0..50).map(|i| i / 5).collect::<Vec<i64>>()));
    folder.write(
        "train_sites.npy",
        &npy_i64(&(0..80).map(|i| 100 + i / 8).collect::<Vec<i64>>()),
    );
    folder
}

fn score<'a>(document: &'a Value, model: &str, metric: &str) -> &'a Value {
    let scores = document["scores"].as_array().expect("scores");
    let is_it = |score: &&Value| score["model"] == model && score["metric"] == metric;
    scores.iter().find(is_it).unwrap_or_else(|| panic!("{model}: {metric}"))
}

#[test]
fn drift_says_whether_new_rows_differ_and_how_sure_that_is() {
    let folder = folder();
    let line = "drift --model same=test.npy --model moved=moved.npy --against same=train.npy moved=train.npy --permutations 99";
    let run = folder.good(line);
    assert!(run.stdout.contains("same: no drift found"), "{}", run.stdout);
    assert!(run.stdout.contains("moved: the new rows differ"), "{}", run.stdout);
    assert!(
        run.stdout.contains("50 new and") && run.stdout.contains("0.01"),
        "{}",
        run.stdout
    );
    assert!(folder.read("evaluation_plots/drift/drift.csv").lines().count() == 1 + 2 * 7);
    assert!(
        folder
            .path()
            .join("evaluation_plots/drift/drift_analysis.svg")
            .is_file()
    );
    let again = folder.good("report evaluation_plots/drift").stdout;
    assert!(again.contains("no drift found"), "{again}");
}

#[test]
fn a_set_against_its_own_copy_is_told_to_be_the_same_rows() {
    let folder = folder();
    let line = "drift --model m=test.npy --against test.npy --permutations 99";
    let run = folder.good(line);
    assert!(
        run.stdout
            .contains("the new rows are rows of the reference, all 50 of them"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("50 of 50 rows that equal rows of the reference"));
    assert!(!run.stdout.contains("no drift found"), "{}", run.stdout);
    let found = folder.results(line);
    // An unbiased estimate is below 0 where pairs of equal rows are in both sets, and no interval means anything.
    assert!(score(&found, "m", "mmd(kernel=rbf)")["interval"].is_null());
    // Some rows in both sets are said beside the answer.
    let run = folder.good("drift --model m=test.npy --against train.npy --permutations 99");
    assert!(
        run.stdout.contains("no drift found") && run.stdout.contains("2 of 50 new rows equal rows of the reference"),
        "{}",
        run.stdout
    );
}

#[test]
fn whole_groups_change_their_sets() {
    let folder = folder();
    let line = "drift --model m=moved.npy --against train.npy --permutations 199 --groups sites.npy --against-groups train_sites.npy";
    let found = folder.results(line);
    let p = score(&found, "m", "mmd.p(kernel=rbf)");
    assert!(p["value"].as_f64().is_some_and(|p| p <= 0.01), "{p}");
    assert_eq!(score(&found, "m", "energy_distance")["unit"], "episodes");
}

#[test]
fn an_evaluation_looks_for_drift_and_mixing_where_their_inputs_are_given() {
    let folder = folder();
    let plain = folder.good("evaluate --model m=test.npy --no-figures --skip clid geometry");
    assert!(
        !plain.stdout.contains("Drift") && !plain.stderr.contains("drift"),
        "{}",
        plain.stderr
    );
    let asked = folder.good(
        "evaluate --model m=test.npy --against train.npy --batches batches.npy --no-figures --skip clid geometry --set drift.permutations=19",
    );
    assert!(
        asked.stdout.contains("Drift") && asked.stdout.contains("Mixing"),
        "{}",
        asked.stdout
    );
    folder.write(
        "s.toml",
        b"no_figures = true\nonly = [\"drift\", \"mixing\"]\n[models]\nm = \"test.npy\"\n[against]\nm = \"train.npy\"\n[data]\nbatches = \"batches.npy\"\n\
          [drift]\npermutations = 19\n[mixing]\nk = 10\n",
    );
    let found = folder.results("evaluate s.toml");
    assert!(score(&found, "m", "kbet@10")["value"].is_number());
    assert_eq!(score(&found, "m", "mmd(kernel=rbf)")["chance"], 0.0);
}

#[test]
fn mixing_stands_beside_batches_that_are_assigned_at_random() {
    let folder = folder();
    let found = folder.results("mixing --model test.npy --batches batches.npy --labels sites.npy --k 10");
    let lisi = score(&found, "test", "ilisi");
    assert!(
        lisi["value"].as_f64().is_some_and(|value| (1.0..=2.0).contains(&value)),
        "{lisi}"
    );
    assert!(lisi["chance"].is_number() && lisi["interval"].is_array());
    assert!(
        score(&found, "test", "cilisi")["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("10 rows"))
    );
    assert!(folder.path().join("evaluation_plots/mixing/mixing.csv").is_file());
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = folder();
    folder.write("wide.npy", &npy_f64(&[20, 5], &noise(4, 100)));
    for (line, words) in [
        ("drift --model test.npy", ["--against", "reference rows"]),
        ("drift --model test.npy --against wide.npy", ["5 columns", "4"]),
        ("drift --model test.npy --against none.npy", ["cannot read", "none.npy"]),
        ("drift --model test.npy --against train.npy --k 129", ["129", "130"]),
        (
            "drift --model test.npy --against train.npy --permutations 5",
            ["--permutations", "19"],
        ),
        (
            "drift --model test.npy --against train.npy --groups sites.npy",
            ["reference rows", "give both"],
        ),
        (
            "drift --model test.npy --against train.npy --groups batches.npy --against-groups sites.npy",
            ["50", "80"],
        ),
        (
            "drift --model test.npy --against-groups sites.npy",
            ["--against", "reference rows"],
        ),
        ("mixing --model test.npy", ["--batches", "batch per row"]),
        ("mixing --model train.npy --batches batches.npy", ["80", "50"]),
        ("mixing --model test.npy --batches batches.npy --k 60", ["60", "50"]),
        ("check test.npy --against wide.npy", ["4 columns", "5"]),
        ("check test.npy --splits sites.npy --near 2", ["near = 2", "below 1"]),
        ("check train.npy --labels batches.npy", ["50 rows", "80"]),
    ] {
        let run = folder.run(line);
        assert_eq!(run.code, 2, "{line}\n{}", run.stderr);
        words
            .iter()
            .for_each(|word| assert!(run.stderr.contains(word), "{line}: {word}\n{}", run.stderr));
    }
}

#[test]
fn leaked_rows_are_found_with_their_pairs() {
    let folder = folder();
    let run = folder.run("check test.npy --against train.npy");
    assert_eq!(run.code, 1, "{}", run.stderr);
    for words in [
        "2 of 50 rows (4.00 %) occur in train.npy: row 0 is row 78, row 1 is row 79",
        "1 of 50 rows (2.00 %) are near copies of rows of train.npy",
        "row 7 is 1.000e-4 from row 30",
    ] {
        assert!(run.stdout.contains(words), "{words}\n{}", run.stdout);
    }
    let clean = folder.good("check moved.npy --against train.npy");
    assert!(clean.stdout.contains("no row occurs in train.npy"), "{}", clean.stdout);
    let exact = folder.run("check test.npy --against train.npy --near 0");
    assert!(
        exact.code == 1 && !exact.stdout.contains("near copies"),
        "{}",
        exact.stdout
    );
}

#[test]
fn rows_in_two_splits_and_copies_with_two_labels_are_found() {
    let folder = Folder::new();
    let mut values = noise(5, 40 * 3);
    values.copy_within(0..3, 36 * 3);
    values.copy_within(6..9, 5 * 3);
    folder.write("z.npy", &npy_f64(&[40, 3], &values));
    let split = |i: usize| if i < 30 { "train" } else { "test" };
    folder.write("split.npy", &npy_words(&(0..40).map(split).collect::<Vec<&str>>()));
    let label = |i: usize| if i == 5 { "dog" } else { "cat" };
    folder.write("y.npy", &npy_words(&(0..40).map(label).collect::<Vec<&str>>()));
    let run = folder.run("check z.npy --splits split.npy");
    assert_eq!(run.code, 1);
    assert!(
        run.stdout
            .contains("split test: 1 of 10 rows (10.00 %) occur in train: row 36 is row 0"),
        "{}",
        run.stdout
    );
    let run = folder.good("check z.npy --labels y.npy");
    assert!(
        run.stdout
            .contains("1 row that equal a row with another label: row 5 (dog) is row 2 (cat)"),
        "{}",
        run.stdout
    );
}
