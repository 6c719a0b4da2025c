// SPDX-License-Identifier: MIT
//! What a hurried reader concludes: the first lines of `evaluate` and `compare`, and what they leave out.

use std::path::Path;

use crate::fixtures::{Folder, noise, npy_f64, npy_i64};

/// The digits of the examples: `--model NAME=…` for each, with the pixels and the classes.
fn digits(models: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/digits");
    let path = |name: &str| folder.join(name).display().to_string();
    let models: Vec<String> = models
        .iter()
        .map(|name| format!("--model {name}={}", path(&format!("{name}16.npy"))))
        .collect();
    format!(
        "{} --states {} --labels {} --no-figures",
        models.join(" "),
        path("states.npy"),
        path("labels.npy")
    )
}

/// A line of the verdict and those that continue it, in one.
fn line(text: &str, title: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(title));
    let first = lines.next().unwrap_or_else(|| panic!("no line of {title} in {text}"));
    let rest = lines.take_while(|line| line.starts_with("   "));
    let words: Vec<&str> = std::iter::once(first)
        .chain(rest)
        .flat_map(str::split_whitespace)
        .collect();
    words.join(" ")
}

#[test]
fn each_question_names_the_model_that_answers_it_best() {
    let folder = Folder::new();
    let models = digits(&["pca", "supervised", "tanh"]);
    for command in ["compare", "evaluate"] {
        let text = folder
            .good(&format!("{command} {models} --output-dir {command}"))
            .stdout;
        let classes = line(&text, "Geometry");
        assert!(
            classes.contains("supervised separates the classes best: knn_accuracy@5"),
            "{classes}"
        );
        let neighbors = line(&text, "Neighborhood");
        assert!(
            neighbors.contains("pca keeps the neighborhoods of the inputs best"),
            "{neighbors}"
        );
        assert!(
            neighbors.contains("adjusted p") && neighbors.contains("n = 1797"),
            "{neighbors}"
        );
        // Digits in the order of a data set have no steps, and unlike questions are not added up.
        assert!(!text.contains("Smoothness") && !text.contains("wins"), "{text}");
        // One screen.
        assert!(text.lines().count() <= 45, "{} lines", text.lines().count());
    }
}

#[test]
fn a_collapsed_model_is_named_first_and_wins_nothing() {
    let folder = Folder::new();
    let run = folder.good(&format!(
        "evaluate {} --output-dir out",
        digits(&["pca", "noise", "collapsed"])
    ));
    assert!(run.stdout.starts_with("Problem"), "{}", run.stdout);
    assert!(line(&run.stdout, "Problem").contains("collapsed has collapsed: it gives nearly the same embedding"));
    let clid = line(&run.stdout, "CLID");
    assert!(
        clid.contains("pca alone is left") && clid.contains("it fills 85 % of its dimensions, as noise does"),
        "{clid}"
    );
    let results = folder.json("out/results.json");
    let differences = results["differences"].as_array().expect("differences are a list");
    assert!(differences.len() > 50 && differences.iter().all(|d| d["winner"] != "collapsed"));
    assert_eq!(results["findings"][0]["trouble"], "collapsed");
}

#[test]
fn rows_without_an_order_have_no_smoothness() {
    let folder = Folder::with_arrays();
    let run = folder.good("evaluate --model z.npy --states x.npy --no-figures");
    assert!(
        run.stderr
            .contains("leaving out smoothness: it needs rows that follow each other"),
        "{}",
        run.stderr
    );
    let only = folder.run("evaluate --model z.npy --states x.npy --only smoothness");
    assert_eq!(only.code, 2);
    assert!(only.stderr.contains("smoothness cannot run"), "{}", only.stderr);
    let asked = folder.good("evaluate --model z.npy --states x.npy --only smoothness --ordered --no-figures");
    // It runs, and says what these rows are.
    assert!(
        line(&asked.stdout, "Problem").contains("as far apart as inputs taken at random"),
        "{}",
        asked.stdout
    );
}

#[test]
fn there_are_as_many_clusters_as_classes() {
    let folder = Folder::with_arrays();
    folder.good("geometry --model z.npy --labels labels.npy --output-dir out --no-figures");
    assert_eq!(folder.json("out/geometry_analysis/results.json")["spec"]["clusters"], 3);
    folder.good("geometry --model z.npy --labels labels.npy --clusters 7 --output-dir out --no-figures");
    assert_eq!(folder.json("out/geometry_analysis/results.json")["spec"]["clusters"], 7);
    folder.good("geometry --model z.npy --output-dir out --no-figures");
    assert_eq!(folder.json("out/geometry_analysis/results.json")["spec"]["clusters"], 5);
}

#[test]
fn labels_that_tell_nothing_copies_and_interleaved_episodes_are_problems() {
    let folder = Folder::new();
    let own: Vec<f64> = noise(4, 240);
    let rows: Vec<f64> = (0..120)
        .flat_map(|row| own[3 * (row % 80)..3 * (row % 80) + 3].to_vec())
        .collect();
    folder.write("z.npy", &npy_f64(&[120, 3], &rows));
    folder.write("labels.npy", &npy_i64(&(0..120).collect::<Vec<_>>()));
    folder.write(
        "episodes.npy",
        &npy_i64(&(0..120).map(|row| row % 4).collect::<Vec<_>>()),
    );
    let text = folder
        .good("evaluate z.npy --labels labels.npy --episodes episodes.npy --no-figures")
        .stdout;
    for word in [
        "z has 40 rows among 120 that are exact copies",
        "120 labels for 120 rows",
        "4 episodes come in 120 pieces",
    ] {
        let flat: Vec<&str> = text.split_whitespace().collect();
        assert!(flat.join(" ").contains(word), "{text}");
    }
}

#[test]
fn every_score_is_there_where_all_are_asked_for() {
    let folder = Folder::with_arrays();
    let brief = folder
        .good("geometry --model z.npy --labels labels.npy --no-figures")
        .stdout;
    let all = folder
        .good("geometry --model z.npy --labels labels.npy --no-figures --all")
        .stdout;
    assert!(
        !brief.contains("cluster_balance") && all.contains("cluster_balance"),
        "{brief}{all}"
    );
    assert!(brief.contains("knn_accuracy@5") && all.contains("knn_accuracy@5"));
    let csv = folder
        .good("geometry --model z.npy --labels labels.npy --no-figures --format csv")
        .stdout;
    assert!(csv.contains("cluster_balance"), "{csv}");
}
