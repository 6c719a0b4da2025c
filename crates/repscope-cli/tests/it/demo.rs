// SPDX-License-Identifier: MIT
//! `repscope demo`: everything is made, trained and evaluated here.

use crate::fixtures::Folder;

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads_and_a_page_of_all_analyses() {
    let folder = Folder::new();
    let run = folder.good("demo --tiny --no-figures --quiet --threads 1 --output-dir one");
    assert!(
        run.stdout
            .contains("frames of 16 episodes that no encoder was trained on"),
        "{}",
        run.stdout
    );
    for name in ["jepa", "encoder_decoder", "random", "collapsed"] {
        let probes = run
            .stdout
            .lines()
            .skip_while(|line| !line.starts_with("Known of this world"));
        let own = probes.filter(|line| line.split_whitespace().next() == Some(name));
        // Two of R² with their intervals, and the standard deviation.
        let numbers: Vec<usize> = own.map(|line| line.split_whitespace().skip(1).count()).collect();
        assert_eq!(numbers, [if name == "collapsed" { 8 } else { 7 }], "{}", run.stdout);
        assert!(
            folder
                .path()
                .join(format!("one/weights/{name}/best_encoder.safetensors"))
                .is_file()
        );
    }
    // What an interrupted demo left behind is no hindrance, and does not stay.
    folder.write("two/data/states.npy", b"cut");
    folder.write("two/losses/old.csv", b"old");
    folder.good("demo --tiny --no-figures --quiet --threads 2 --output-dir two");
    assert!(!folder.path().join("two/losses/old.csv").exists());
    let scores = |name: &str| folder.json(&format!("{name}/evaluation_plots/results.json"))["scores"].clone();
    assert_eq!(scores("one"), scores("two"));
    let weights = |name: &str| {
        let path = folder.path().join(name).join("weights/jepa/best_encoder.safetensors");
        std::fs::read(path).expect("weights")
    };
    assert_eq!(weights("one"), weights("two"));

    // All five documents are there.
    let text = scores("one").to_string();
    for metric in [
        "smoothness.slope",
        "robustness@10",
        "trustworthiness@10",
        "two_nn",
        "silhouette",
        "clid.cl",
        "rankme(variant=spec)",
        "label_precision.text2sensor@10",
        "label_precision.prototype2sensor@10",
        "etes.alignment",
    ] {
        assert!(text.contains(&format!("\"{metric}\"")), "{metric}");
    }
    assert!(folder.path().join("one/evaluation_plots/report.html").is_file());
    let impact = folder.json("one/evaluation_plots/perturbation_analysis/results.json");
    assert!(impact["scores"].to_string().contains("pis.shape@top1"), "{impact}");

    // The control that collapsed comes out as such, even after a few steps: in the first line, and by its rank.
    assert!(
        run.stdout.starts_with("Problem       collapsed has collapsed: it "),
        "{}",
        run.stdout
    );
    let rank = |model: &str| {
        let all = scores("one");
        let own = all
            .as_array()
            .expect("a list")
            .iter()
            .find(|score| score["model"] == model && score["metric"] == "rankme(variant=paper)");
        own.and_then(|score| score["value"].as_f64()).expect("a rank")
    };
    assert!(
        rank("collapsed") < 2.0 && rank("random") > 5.0,
        "{} {}",
        rank("collapsed"),
        rank("random")
    );

    // The study can be run again by itself, with the same numbers.
    let again = folder.good("evaluate one/study.toml --only rankme --no-figures --quiet --json --no-cache");
    let again: serde_json::Value = serde_json::from_str(&again.stdout).expect("JSON");
    let of_rank = |scores: &serde_json::Value| -> Vec<serde_json::Value> {
        let all = scores.as_array().expect("a list").iter();
        all.filter(|score| score["metric"] == "rankme(variant=paper)")
            .map(|score| score["value"].clone())
            .collect()
    };
    assert_eq!(of_rank(&again["scores"]), of_rank(&scores("one")));
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let folder = Folder::new();
    folder.write("mine/notes.txt", b"mine");
    let run = folder.run("demo --tiny --output-dir mine");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("mine holds notes.txt, which is not of a demo; choose another folder"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.files(), ["mine/", "mine/notes.txt"]);
}

#[test]
fn a_demo_is_replaced_only_if_that_is_asked_for() {
    let folder = Folder::new();
    folder.write("demo/study.toml", b"mine");
    let run = folder.run("demo --tiny --no-figures --quiet");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("demo holds a demo already; pass --overwrite"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.files(), ["demo/", "demo/study.toml"]);
}
