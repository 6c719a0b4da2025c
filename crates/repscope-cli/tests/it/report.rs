// SPDX-License-Identifier: MIT
//! `repscope report` from the outside: the same files as the run drew, without computing.

use std::path::Path;

use crate::fixtures::{Folder, repository};

const ALL: &str = "evaluate --states x.npy --labels labels.npy --model jepa=z.npy --model ae=w.npy";

/// Removes every file below a folder but those that a report is made from.
fn strip(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("an entry can be read").path();
        let is_kept = path
            .file_name()
            .is_some_and(|name| name == "results.json" || name == "samples.npz");
        if path.is_dir() {
            strip(&path);
        } else if !is_kept {
            std::fs::remove_file(&path).expect("a file can be removed");
        }
    }
}

/// The names and bytes of all files below a folder, but for digests: they are for a run that goes on, and `report` computes nothing.
fn bytes(folder: &Folder, name: &str) -> Vec<(String, Vec<u8>)> {
    let prefix = format!("{name}/");
    let files = folder
        .files()
        .into_iter()
        .filter(|f| f.starts_with(&prefix) && !f.ends_with('/') && !f.ends_with("/digests.txt"));
    files
        .map(|file| {
            let bytes = std::fs::read(folder.path().join(&file)).expect("a file can be read");
            (file[prefix.len()..].to_string(), bytes)
        })
        .collect()
}

fn assert_same(a: &[(String, Vec<u8>)], b: &[(String, Vec<u8>)]) {
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(a), names(b));
    for ((name, a), (_, b)) in a.iter().zip(b) {
        assert!(a == b, "{name} has other bytes");
    }
}

#[test]
fn a_report_of_evaluate_redraws_every_file_with_the_same_bytes() {
    let folder = Folder::with_arrays();
    let table = folder.good(ALL).stdout;
    let before = bytes(&folder, "evaluation_plots");
    strip(&folder.path().join("evaluation_plots"));
    let run = folder.good("report evaluation_plots/results.json");
    assert_eq!(run.stdout, table);
    assert!(
        run.stderr.contains("report.html are in evaluation_plots"),
        "{}",
        run.stderr
    );
    assert_same(&before, &bytes(&folder, "evaluation_plots"));
}

#[test]
fn documents_of_every_analysis_are_redrawn() {
    for (line, name) in [
        (
            "smoothness --states x.npy --model jepa=z.npy --model ae=w.npy",
            "smoothness_analysis",
        ),
        (
            "neighborhood --states x.npy --model jepa=z.npy --model ae=w.npy",
            "neighborhood_preservation",
        ),
        ("manifold --model jepa=z.npy --model ae=w.npy", "manifold_dimension"),
        (
            "geometry --model jepa=z.npy --model ae=w.npy --labels labels.npy --seed 3",
            "geometry_analysis",
        ),
        ("rankme --model jepa=z.npy --model ae=w.npy", "rankme"),
        (
            "clid --model jepa=z.npy --model ae=w.npy --preset paper --splits 2",
            "clid",
        ),
    ] {
        let folder = Folder::with_arrays();
        let table = folder.good(line).stdout;
        let before = bytes(&folder, &format!("evaluation_plots/{name}"));
        strip(&folder.path().join("evaluation_plots"));
        // From the document of the folder, and from the one above it.
        let run = folder.good(&format!("report evaluation_plots/{name}/results.json"));
        assert_eq!(run.stdout, table, "{line}");
        let mut after = bytes(&folder, &format!("evaluation_plots/{name}"));
        let page = after
            .iter()
            .position(|(file, _)| file == "report.html")
            .expect("a page beside the document");
        after.remove(page);
        assert_same(&before, &after);
        folder.good("report evaluation_plots --output-dir other");
        let other = bytes(&folder, &format!("other/{name}"));
        let drawn: Vec<_> = before
            .iter()
            .filter(|(f, _)| f != "results.json" && f != "samples.npz")
            .cloned()
            .collect();
        assert_same(&drawn, &other);
    }
}

#[test]
fn a_retrieval_is_redrawn_with_its_summary() {
    let folder = Folder::new();
    let halves = |name: &str| repository(&format!("examples/halves/{name}"));
    let line = format!(
        "retrieval --sensor_embeddings {} --text_embeddings {} --labels {} --k_values 5 10",
        halves("left.npy"),
        halves("right.npy"),
        halves("digit.npy")
    );
    let table = folder.good(&line).stdout;
    let before = bytes(&folder, "evaluation_plots/retrieval");
    strip(&folder.path().join("evaluation_plots"));
    assert_eq!(folder.good("report evaluation_plots").stdout, table);
    assert_same(&before, &bytes(&folder, "evaluation_plots/retrieval"));
}

#[test]
fn without_samples_the_rest_is_drawn_and_the_loss_is_told() {
    let folder = Folder::with_arrays();
    folder.good(ALL);
    std::fs::remove_file(folder.path().join("evaluation_plots/samples.npz")).expect("samples");
    let run = folder.good("report evaluation_plots/results.json --output-dir other");
    assert!(
        run.stderr
            .contains("warning: evaluation_plots/samples.npz does not exist"),
        "{}",
        run.stderr
    );
    let files = folder.files();
    assert!(files.contains(&"other/neighborhood_preservation/neighborhood_preservation.pdf".to_string()));
    assert!(
        !files.iter().any(|f| f.starts_with("other/map/")),
        "a map needs samples"
    );
    // An analysis that has none does not miss them.
    let run = folder.good("report evaluation_plots/rankme/results.json --output-dir rank");
    assert!(!run.stderr.contains("samples.npz"), "{}", run.stderr);
}

#[test]
fn options_of_figures_and_of_the_table_are_heard() {
    let folder = Folder::with_arrays();
    folder.good(&format!("{ALL} --no-figures"));
    let run = folder.good("report evaluation_plots --figure-format svg --format csv --output-dir other --quiet");
    assert!(
        run.stdout.starts_with("model,metric,value") && run.stderr.is_empty(),
        "{}",
        run.stdout
    );
    assert!(folder.path().join("other/clid/clid_analysis.svg").exists());
    assert!(!folder.path().join("other/clid/clid_analysis.png").exists());
    let run = folder.good("report evaluation_plots --no-figures --json --output-dir third");
    assert_eq!(run.stdout, folder.read("evaluation_plots/results.json"));
    assert!(
        !folder
            .files()
            .iter()
            .any(|f| f.starts_with("third/") && f.ends_with(".svg"))
    );
    assert!(folder.path().join("third/report.html").exists());
}

#[test]
fn what_is_no_results_document_is_refused() {
    let folder = Folder::with_arrays();
    folder.write("odd.json", b"{\"a\": 1}");
    folder.write("old.json", b"{\"schema\": 9}");
    for (line, word) in [
        ("report gone.json", "cannot read gone.json"),
        ("report odd.json", "odd.json is not a results document"),
        ("report old.json", "schema 9"),
        ("report z.npy", "z.npy"),
    ] {
        let run = folder.run(line);
        assert!(run.code == 2 && run.stderr.contains(word), "{line}\n{}", run.stderr);
    }
    folder.good("manifold --model z=z.npy --no-figures");
    folder.write("evaluation_plots/samples.npz", b"PK");
    let run = folder.run("report evaluation_plots");
    assert!(run.code == 2 && run.stderr.contains("samples.npz"), "{}", run.stderr);
}
