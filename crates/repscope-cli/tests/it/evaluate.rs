// SPDX-License-Identifier: MIT
//! `repscope evaluate` from the outside: what runs and what does not, what is written, what is refused, and what is taken
//! from an earlier run.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use crate::fixtures::{Folder, noise, npy_f64, npy_i64, npy_words, repository, value};
use serde_json::Value;

const ALL: &str = "evaluate --ordered --states x.npy --labels labels.npy --model jepa=z.npy --model ae=w.npy";
const FOLDERS: [&str; 6] = [
    "clid",
    "geometry_analysis",
    "manifold_dimension",
    "neighborhood_preservation",
    "rankme",
    "smoothness_analysis",
];

/// The bytes and the time of every file below a folder.
fn state(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let time = std::fs::metadata(&path)
                .and_then(|m| m.modified())
                .expect("files have times");
            let name = path
                .strip_prefix(folder)
                .expect("a path below the folder")
                .display()
                .to_string();
            found.insert(name, (std::fs::read(&path).expect("a file can be read"), time));
        }
    }
    found
}

fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    state(folder)
        .into_iter()
        .map(|(name, (bytes, _))| (name, bytes))
        .collect()
}

fn list<'a>(document: &'a Value, key: &str) -> &'a Vec<Value> {
    document[key].as_array().expect("a list")
}

#[test]
fn every_analysis_whose_inputs_are_there_is_run_and_saved() {
    let folder = Folder::with_arrays();
    let run = folder.good(ALL);
    assert!(
        run.stderr
            .contains("running smoothness, neighborhood, manifold, geometry, rankme, clid on 2 models of 60 rows")
    );
    assert!(
        run.stderr
            .contains("leaving out retrieval: it needs a study file with a table [retrieval]"),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.starts_with("Problem") && run.stdout.contains("\nCLID "),
        "{}",
        run.stdout
    );
    let files = folder.files();
    for name in FOLDERS {
        assert!(
            files.contains(&format!("evaluation_plots/{name}/results.json")),
            "{name}"
        );
    }
    for figure in [
        "smoothness_analysis/smoothness_comparison",
        "neighborhood_preservation/neighborhood_preservation",
        "manifold_dimension/manifold_dimension_analysis",
        "geometry_analysis/geometry_analysis",
        "rankme/rankme_analysis",
        "clid/clid_analysis",
        "map/map_by_label",
    ] {
        for extension in ["png", "svg", "pdf"] {
            assert!(
                files.contains(&format!("evaluation_plots/{figure}.{extension}")),
                "{figure}.{extension}"
            );
        }
    }
    for name in ["results.json", "samples.npz", "report.html"] {
        assert!(files.contains(&format!("evaluation_plots/{name}")), "{name}");
    }
    let page = folder.read("evaluation_plots/report.html");
    assert!(page.contains("Evaluation of jepa and ae") && page.contains("trustworthiness@10"));
}

#[test]
fn each_analysis_has_the_bytes_that_its_own_command_writes() {
    let folder = Folder::with_arrays();
    folder.good(ALL);
    for (line, name) in [
        ("smoothness --ordered --states x.npy", "smoothness_analysis"),
        ("neighborhood --states x.npy", "neighborhood_preservation"),
        ("manifold", "manifold_dimension"),
        ("geometry --labels labels.npy", "geometry_analysis"),
        ("rankme", "rankme"),
        ("clid --labels labels.npy", "clid"),
    ] {
        folder.good(&format!("{line} --model jepa=z.npy --model ae=w.npy --output-dir own"));
        let (own, together) = (
            bytes(&folder.path().join("own").join(name)),
            bytes(&folder.path().join("evaluation_plots").join(name)),
        );
        assert_eq!(
            own.keys().collect::<Vec<_>>(),
            together.keys().collect::<Vec<_>>(),
            "{line}"
        );
        for (file, bytes) in &own {
            assert!(together[file] == *bytes, "{name}/{file} differs");
        }
    }
}

#[test]
fn scores_and_intervals_are_those_of_the_single_commands_with_and_without_episodes() {
    let folder = Folder::with_arrays();
    folder.write("episodes.npy", &npy_i64(&(0..60).map(|i| i / 5).collect::<Vec<_>>()));
    for given in ["", "--episodes episodes.npy"] {
        let joint = folder.results(&format!("{ALL} {given} --no-figures"));
        let mut units: Vec<(&str, usize)> = Vec::new();
        for line in [
            "smoothness --ordered --states x.npy",
            "neighborhood --states x.npy",
            "manifold",
            "geometry --labels labels.npy",
            "rankme",
            "clid --labels labels.npy",
        ] {
            let words = format!("{line} {given} --model jepa=z.npy --model ae=w.npy --output-dir own --no-figures");
            let own = folder.results(&words);
            for score in list(&own, "scores") {
                let name = |key: &str| score[key].as_str().expect("a name").to_string();
                let same = crate::fixtures::score(&joint, &name("model"), &name("metric"));
                assert_eq!(same, score, "{line} {given}");
            }
            let of_episodes = list(&own, "scores").iter().filter(|s| s["unit"] == "episodes");
            units.push((line, of_episodes.count()));
        }
        // Rows are the units where there are no episodes.
        let is_asked = !given.is_empty();
        for (line, count) in &units[..4] {
            assert_eq!(*count > 0, is_asked, "{line} {given}");
        }
    }
}

#[test]
fn the_document_holds_all_scores_once_and_all_differences_adjusted_together() {
    let folder = Folder::with_arrays();
    let results = folder.results(ALL);
    assert_eq!(results["command"], "evaluate");
    let mut pairs: Vec<String> = list(&results, "scores")
        .iter()
        .map(|s| format!("{} {}", s["model"], s["metric"]))
        .collect();
    let count = pairs.len();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), count, "a score stands in it twice");
    let own = folder.json("evaluation_plots/geometry_analysis/results.json");
    assert_eq!(value(&results, "jepa", "uniformity"), value(&own, "jepa", "uniformity"));
    assert_eq!(results["spec"]["seed"], 42);
    assert_eq!(results["spec"]["analyses"]["clid"]["preset"], "robust");

    // Holm by hand: the smallest p-value times the number of all of them in scores with a direction. r² shares r's.
    let p: Vec<f64> = list(&results, "differences")
        .iter()
        .filter(|d| {
            d["p_adjusted"].is_number() && d["metric"] != "smoothness.r2" && d["metric"] != "smoothness.unit.r2"
        })
        .filter_map(|d| d["p"].as_f64())
        .collect();
    let smallest = list(&results, "differences")
        .iter()
        .filter(|d| d["p_adjusted"].is_number());
    let smallest = smallest
        .min_by(|a, b| a["p"].as_f64().unwrap().total_cmp(&b["p"].as_f64().unwrap()))
        .expect("p-values");
    let expected = (smallest["p"].as_f64().unwrap() * p.len() as f64).min(1.0);
    assert_eq!(smallest["p_adjusted"].as_f64(), Some(expected));
    let own = list(&own, "differences").iter().filter(|d| d["p_adjusted"].is_number());
    assert!(p.len() > own.count(), "those of all analyses are there");
}

#[test]
fn the_shortest_command_works() {
    let folder = Folder::with_arrays();
    let run = folder.good("evaluate z.npy --labels labels.npy --no-figures");
    assert!(
        run.stderr
            .contains("leaving out smoothness: it needs what the models saw (--states)"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("computed: manifold, geometry, rankme, clid"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.json("evaluation_plots/results.json")["scores"][0]["model"], "z");
    assert!(!folder.files().iter().any(|f| f.ends_with(".png")));
}

#[test]
fn only_and_skip_choose_analyses() {
    let folder = Folder::with_arrays();
    let run = folder.good("evaluate z.npy w.npy --only manifold,rankme --no-figures");
    assert!(run.stderr.contains("computed: manifold, rankme\n"), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("not asked for: smoothness, robustness, neighborhood, geometry, clid, retrieval"),
        "{}",
        run.stderr
    );
    assert!(!folder.path().join("evaluation_plots/clid").exists());
    let run = folder.good("evaluate z.npy --skip clid geometry --no-figures --output-dir other");
    assert!(run.stderr.contains("computed: manifold, rankme\n"), "{}", run.stderr);
    // An analysis that is wished for and cannot run is an error.
    let run = folder.run("evaluate z.npy --only smoothness,manifold,retrieval");
    assert_eq!(run.code, 2);
    for line in [
        "- smoothness cannot run: it needs what the models saw (--states)",
        "- retrieval cannot run: it needs a study file",
    ] {
        assert!(run.stderr.contains(line), "{}", run.stderr);
    }
    assert_eq!(folder.run("evaluate z.npy --only manifold --skip manifold").code, 2);
}

#[test]
fn a_default_that_does_not_fit_is_left_out_and_a_wish_is_refused() {
    let folder = Folder::new();
    folder.write("x.npy", &npy_f64(&[12, 3], &noise(1, 36)));
    folder.write("z.npy", &npy_f64(&[12, 2], &noise(2, 24)));
    let run = folder.good("evaluate z.npy --states x.npy --no-figures");
    assert!(
        run.stderr
            .contains("leaving out neighborhood: k = 15 needs at least 17 rows, but there are 12; use a smaller k"),
        "{}",
        run.stderr
    );
    let run = folder.run("evaluate z.npy --states x.npy --k 11 --clusters 12 --set clid.k=7 --output-dir other");
    assert_eq!(run.code, 2);
    for word in [
        "3 problems",
        "neighborhood cannot run: k = 11",
        "geometry: --clusters 12",
        "clid: --k 7",
    ] {
        assert!(run.stderr.contains(word), "{word}\n{}", run.stderr);
    }
    assert!(
        !folder.path().join("other").exists(),
        "nothing is written where something is wrong"
    );
}

#[test]
fn a_study_file_says_what_the_options_say() {
    let folder = Folder::with_arrays();
    folder.write(
        "data/x.npy",
        &std::fs::read(folder.path().join("x.npy")).expect("the states"),
    );
    folder.write(
        "data/study.toml",
        b"output_dir = \"../out\"\nseed = 7\nskip = [\"clid\"]\nno_figures = true\n\
          [data]\nstates = \"x.npy\"\nlabels = \"../labels.npy\"\n[models]\njepa = \"../z.npy\"\nae = \"../w.npy\"\n\
          [neighborhood]\nk = [3, 4]\n[geometry]\nclusters = 4\nsplits = 3\n",
    );
    let study = folder.results("evaluate data/study.toml");
    let options = "--states x.npy --labels labels.npy --model jepa=z.npy --model ae=w.npy --seed 7 --skip clid \
                   --k 3 4 --clusters 4 --set geometry.splits=3 --no-figures";
    let typed = folder.results(&format!("evaluate {options}"));
    assert_eq!(study["scores"], typed["scores"]);
    assert_eq!(study["differences"], typed["differences"]);
    assert_eq!(study["spec"]["k"], typed["spec"]["k"]);
    assert!(
        folder.path().join("out/results.json").exists(),
        "paths are relative to the file"
    );
    // What is typed wins.
    let run = folder.results("evaluate data/study.toml --k 5 --only neighborhood --skip smoothness");
    let metrics: Vec<&str> = list(&run, "scores")
        .iter()
        .filter_map(|s| s["metric"].as_str())
        .collect();
    let of_each = [
        "trustworthiness@5",
        "continuity@5",
        "q_nx@5",
        "r_nx@5",
        "r_nx.auc",
        "mrre.false@5",
        "mrre.missing@5",
    ];
    assert_eq!(metrics, [of_each, of_each].concat());
}

#[test]
fn a_retrieval_of_the_study_file_is_part_of_the_run() {
    let folder = Folder::with_arrays();
    for name in ["left.npy", "right.npy", "digit.npy", "parity.npy"] {
        let bytes = std::fs::read(repository(&format!("examples/halves/{name}"))).expect("an example");
        folder.write(name, &bytes);
    }
    folder.write(
        "study.toml",
        b"only = [\"rankme\", \"retrieval\"]\nno_figures = true\n[models]\nz = \"z.npy\"\n[retrieval]\n\
          sensor_embeddings = \"left.npy\"\ntext_embeddings = \"right.npy\"\nk_values = [5, 10]\noutput = \"flat.json\"\n\
          [retrieval.labels]\nl1 = \"digit.npy\"\nl2 = \"parity.npy\"\n",
    );
    let both = folder.results("evaluate study.toml");
    let own = folder.results(
        "retrieval --sensor_embeddings left.npy --text_embeddings right.npy --labels l1=digit.npy l2=parity.npy \
         --k-values 5 10 --output-dir own --output own.json --no-figures",
    );
    let of_retrieval = |results: &Value| -> Vec<Value> {
        list(results, "scores")
            .iter()
            .filter(|s| s["model"] == "embeddings")
            .cloned()
            .collect()
    };
    assert_eq!(of_retrieval(&both), of_retrieval(&own));
    assert_eq!(folder.read("evaluation_plots/flat.json"), folder.read("own.json"));
    assert_eq!(
        folder.read("evaluation_plots/retrieval/results.json"),
        folder.read("own/retrieval/results.json")
    );
    // A retrieval alone needs no models.
    let study = folder
        .read("study.toml")
        .replace("z = \"z.npy\"\n", "")
        .replace("only = [\"rankme\", \"retrieval\"]\n", "");
    folder.write("alone.toml", study.as_bytes());
    let run = folder.good("evaluate alone.toml --output-dir alone");
    assert!(
        run.stderr.contains("results.json and report.html are in alone"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("leaving out rankme: it needs a model"),
        "{}",
        run.stderr
    );
    assert_eq!(
        folder.read("alone/retrieval/results.json"),
        folder.read("own/retrieval/results.json")
    );

    let brief = folder.good("evaluate study.toml").stdout;
    assert!(
        brief.contains("RankMe ") && brief.contains("Retrieval  label_precision"),
        "{brief}"
    );
    let table = folder.good("evaluate study.toml --all").stdout;
    assert!(
        table.contains("rankme(variant=spec)") && table.contains("Text → Sensor, labels l2"),
        "{table}"
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_nothing_is_written() {
    let folder = Folder::with_arrays();
    folder.write("short.npy", &npy_f64(&[50, 3], &noise(4, 150)));
    folder.write("nan.npy", &npy_f64(&[60, 1], &[f64::NAN; 60]));
    folder.write(
        "study.toml",
        b"sed = 1\nthreads = \"many\"\n[data]\nstates = \"gone.npy\"\nlabel = \"labels.npy\"\n[models]\na = \"lost.npy\"\n\
          b = \"nan.npy\"\n[geometry]\nclusters = 0\n[neighborhood]\nk = \"few\"\n[retrieval]\nlabels = \"labels.npy\"\n",
    );
    let run = folder.run("evaluate study.toml");
    assert_eq!(run.code, 2);
    for line in [
        "- study.toml: `sed` is no key of a study file; did you mean `seed`?",
        "- study.toml: [data] `label` is no option; did you mean `labels`?",
        "- study.toml: `threads` must be an integer of at least 0, not string \"many\"",
        "- cannot read gone.npy",
        "- cannot read lost.npy",
        "- nan.npy",
        "- geometry: --clusters 0",
        "- study.toml: [neighborhood] `k` must be an integer of at least 0, not string \"few\"",
        "- retrieval: there is nothing to search",
    ] {
        assert!(run.stderr.contains(line), "{line}\n{}", run.stderr);
    }
    assert!(
        run.stderr.starts_with("error: 9 problems; nothing was computed"),
        "{}",
        run.stderr
    );
    assert!(!folder.path().join("evaluation_plots").exists());

    let run = folder.run("evaluate z.npy short.npy --states x.npy --labels labels.npy");
    let expected = "error: the numbers of rows differ: the states 60, the labels 60, model `z` 60, model `short` 50; give one \
                    row per sample in all, or join them with --ids\n";
    assert_eq!((run.code, run.stderr.as_str()), (2, expected));
}

#[test]
fn two_kernels_of_uniformity_are_refused_before_any_analysis_starts() {
    let folder = Folder::with_arrays();
    // Uniformity is a score of geometry and of clid, and stands in the report once.
    let run = folder.run(&format!("{ALL} --set geometry.t=3"));
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("[geometry] has t = 3 and [clid] has t = 2"),
        "{}",
        run.stderr
    );
    assert!(!folder.path().join("evaluation_plots").exists());
    for choice in ["--set geometry.t=3 clid.t=3", "--set geometry.t=3 --skip clid"] {
        folder.good(&format!("{ALL} {choice} --no-figures"));
    }
}

#[test]
fn a_file_that_is_no_study_is_refused() {
    let folder = Folder::with_arrays();
    folder.write("broken.toml", b"[data\nstates = 3");
    let run = folder.run("evaluate broken.toml");
    assert!(
        run.code == 2 && run.stderr.contains("broken.toml is not TOML"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("line 1"), "{}", run.stderr);
    for (line, word) in [
        ("evaluate gone.toml", "cannot read gone.toml"),
        ("evaluate a.toml b.toml", "two study files"),
        ("evaluate", "no model is given"),
        ("evaluate z.npy --next-states x.npy", "--next-states needs"),
        ("evaluate z.npy --set clid=3", "write ANALYSIS.OPTION=VALUE"),
        ("evaluate a=z.npy a=w.npy", "two models are called `a`"),
    ] {
        let run = folder.run(line);
        assert!(run.code == 2 && run.stderr.contains(word), "{line}\n{}", run.stderr);
    }
}

#[test]
fn one_analysis_that_fails_takes_no_other_with_it() {
    let folder = Folder::with_arrays();
    // A row of length zero has no cosine distance, which only `neighborhood` asks for.
    let mut embeddings = noise(2, 180);
    embeddings[30..33].fill(0.0);
    folder.write("zero.npy", &npy_f64(&[60, 3], &embeddings));
    let line =
        "evaluate --ordered --states x.npy --labels labels.npy --model jepa=zero.npy --model ae=w.npy --no-figures";
    let run = folder.run(&format!("{line} --set neighborhood.distance=cosine"));
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("error: neighborhood failed: row 10 of `jepa` has length zero"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("computed: smoothness, manifold, geometry, rankme, clid"),
        "{}",
        run.stderr
    );
    let document = folder.json("evaluation_plots/results.json");
    assert!(value(&document, "jepa", "clid.cl").is_some() && value(&document, "ae", "nmi").is_some());
    let why = &document["spec"]["analyses"]["neighborhood"]["not_computed"];
    assert!(why.as_str().is_some_and(|why| why.contains("length zero")), "{why}");
    assert!(
        !folder
            .path()
            .join("evaluation_plots/neighborhood_preservation")
            .exists()
    );
    assert!(folder.path().join("evaluation_plots/report.html").exists());
    // Mended, the rest is not computed again.
    let run = folder.good(&format!("{line} --resume"));
    assert!(run.stderr.contains("computed: neighborhood\n"), "{}", run.stderr);
}

#[test]
fn an_analysis_that_fails_among_others_with_the_same_options_fails_alone() {
    let folder = Folder::with_arrays();
    let mut embeddings = noise(2, 180);
    embeddings[30..33].fill(0.0);
    folder.write("zero.npy", &npy_f64(&[60, 3], &embeddings));
    folder.write("evaluation_plots/clid", b"a file where a folder should be");
    let line = "evaluate --states x.npy --model jepa=zero.npy --no-figures --quiet";
    let run = folder.run(&format!("{line} --set neighborhood.distance=cosine"));
    assert_eq!(run.code, 2);
    let errors: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(errors.len(), 2, "{}", run.stderr);
    assert!(errors[0].starts_with("error: neighborhood failed") && errors[1].starts_with("error: clid failed"));
    let document = folder.json("evaluation_plots/results.json");
    assert!(value(&document, "jepa", "two_nn").is_some());
}

#[test]
fn what_the_computation_would_refuse_is_refused_before_any_of_it() {
    let folder = Folder::with_arrays();
    let run = folder.run("evaluate z.npy --no-figures --set clid.eps=1e-30 geometry.t=50 clid.t=50");
    assert_eq!(run.code, 2);
    for word in [
        "2 problems; nothing was computed",
        "geometry: ",
        "at most 20",
        "clid: ",
        "eps = 1e-30",
    ] {
        assert!(run.stderr.contains(word), "{word}\n{}", run.stderr);
    }
    assert!(!folder.path().join("evaluation_plots").exists());
    let run = folder.run("evaluate z.npy --no-figures --memory 1K");
    assert!(run.code == 2 && run.stderr.contains("memory limit"), "{}", run.stderr);
    assert!(!folder.path().join("evaluation_plots").exists());
}

#[test]
fn results_that_cannot_be_written_are_still_in_the_report() {
    let folder = Folder::with_arrays();
    folder.write("evaluation_plots/rankme", b"a file where a folder should be");
    let run = folder.run("evaluate z.npy --only rankme,manifold --no-figures");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("error: rankme failed: cannot write"),
        "{}",
        run.stderr
    );
    let document = folder.json("evaluation_plots/results.json");
    assert!(value(&document, "z", "rankme(variant=spec)").is_some() && value(&document, "z", "two_nn").is_some());
}

#[test]
fn resuming_computes_what_is_missing_and_touches_nothing_else() {
    let folder = Folder::with_arrays();
    let out = folder.path().join("evaluation_plots");
    folder.good(ALL);
    let before = state(&out);
    std::fs::remove_dir_all(out.join("geometry_analysis")).expect("the folder is there");
    let run = folder.good(&format!("{ALL} --resume"));
    assert!(
        run.stderr
            .contains("neighborhood: taken from evaluation_plots/neighborhood_preservation"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("computed: geometry\n"), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("taken from an earlier run: smoothness, neighborhood, manifold, rankme, clid\n"),
        "{}",
        run.stderr
    );
    let after = state(&out);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    for (name, (bytes, time)) in &before {
        assert!(after[name].0 == *bytes, "{name} has other bytes");
        let is_old = FOLDERS.iter().any(|f| *f != "geometry_analysis" && name.starts_with(f));
        assert!(!is_old || after[name].1 == *time, "{name} was written again");
    }
}

#[test]
fn resuming_computes_anew_what_has_changed_and_says_why() {
    let folder = Folder::with_arrays();
    folder.good(&format!("{ALL} --no-figures"));
    folder.write(
        "labels.npy",
        &npy_words(&(0..60).map(|i| ["a", "b"][i % 2]).collect::<Vec<_>>()),
    );
    let run = folder.good(&format!("{ALL} --no-figures --resume --k 4"));
    assert!(
        run.stderr
            .contains("neighborhood: computed anew, because its k is [5,10,15], now [4]"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("geometry: computed anew, because labels.npy is new or has changed"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("computed: neighborhood, geometry, clid\n"),
        "{}",
        run.stderr
    );
    let fresh = folder.results(&format!("{ALL} --no-figures --k 4 --output-dir fresh"));
    assert_eq!(folder.json("evaluation_plots/results.json"), fresh);
    // A document that was cut is no document.
    folder.write("evaluation_plots/rankme/results.json", b"{\"schema\": 1,");
    let run = folder.good(&format!("{ALL} --no-figures --k 4 --resume"));
    assert!(run.stderr.contains("computed: rankme\n"), "{}", run.stderr);
    // Figures that an earlier run left out are drawn.
    let run = folder.good(&format!("{ALL} --k 4 --resume"));
    assert!(
        run.stderr.contains("taken from an earlier run: smoothness"),
        "{}",
        run.stderr
    );
    assert!(folder.path().join("evaluation_plots/clid/clid_analysis.pdf").exists());
}

#[test]
fn the_same_bytes_come_out_of_one_thread_and_of_two() {
    let folder = Folder::with_arrays();
    folder.good(&format!("{ALL} --threads 1 --output-dir one"));
    folder.good(&format!("{ALL} --threads 2 --output-dir two"));
    let (one, two) = (bytes(&folder.path().join("one")), bytes(&folder.path().join("two")));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(two[name] == *bytes, "{name}");
    }
}

#[test]
fn next_states_serve_smoothness_and_the_states_serve_the_rest() {
    let folder = Folder::with_arrays();
    folder.write("x1.npy", &npy_f64(&[60, 4], &noise(5, 240)));
    folder.write("z1.npy", &npy_f64(&[60, 3], &noise(6, 180)));
    let both = folder.results("evaluate --states x.npy --next-states x1.npy --model m=z.npy,z1.npy --no-figures");
    let smoothness =
        folder.results("smoothness --states x.npy --next-states x1.npy --model m=z.npy,z1.npy --no-figures");
    let neighborhood = folder.results("neighborhood --states x.npy --model m=z.npy --no-figures");
    for (metric, own) in [("smoothness.slope", &smoothness), ("trustworthiness@10", &neighborhood)] {
        assert_eq!(value(&both, "m", metric), value(own, "m", metric), "{metric}");
    }
}

#[test]
fn episodes_views_and_performance_reach_their_analyses() {
    let folder = Folder::with_arrays();
    folder.write("episodes.npy", &npy_i64(&(0..60).map(|i| i / 10).collect::<Vec<_>>()));
    let results = folder.results(&format!(
        "{ALL} --episodes episodes.npy --views jepa=w.npy ae=z.npy --no-figures"
    ));
    let score = crate::fixtures::score(&results, "jepa", "trustworthiness@10");
    assert_eq!(score["unit"], "episodes");
    assert!(value(&results, "jepa", "alignment").is_some());
    assert!(
        !list(&results, "warnings")
            .iter()
            .any(|w| w.as_str().is_some_and(|w| w.contains("no --episodes")))
    );

    for (i, name) in ["c.npy", "d.npy"].iter().enumerate() {
        folder.write(name, &npy_f64(&[60, 3], &noise(10 + i as u64, 180)));
    }
    folder.write("accuracy.csv", b"model,accuracy\nz,0.9\nw,0.5\nc,0.7\nd,0.6\n");
    let line = "evaluate z.npy w.npy c.npy d.npy --only clid --performance accuracy.csv --no-figures --output-dir clid";
    let results = folder.results(line);
    assert!(
        list(&results, "breakdowns")
            .iter()
            .any(|b| b["metric"] == "performance")
    );
}

#[test]
fn ids_join_the_rows_of_all_files() {
    let folder = Folder::with_arrays();
    let embeddings = noise(2, 180);
    let ids: Vec<i64> = (0..60).collect();
    // The rows of z.npy from the last to the first, and the ids that say so.
    let turned: Vec<f64> = embeddings.chunks(3).rev().flatten().copied().collect();
    let back: Vec<i64> = ids.iter().rev().copied().collect();
    folder.write("turned.npy", &npy_f64(&[60, 3], &turned));
    folder.write("ids.npy", &npy_i64(&ids));
    folder.write("back.npy", &npy_i64(&back));
    let line = "evaluate --states x.npy --labels labels.npy --only neighborhood,geometry --no-figures";
    let plain = folder.results(&format!("{line} --model m=z.npy"));
    let joined = folder.results(&format!(
        "{line} --model m=turned.npy --ids states=ids.npy labels=ids.npy m=back.npy --output-dir joined"
    ));
    assert_eq!(plain["scores"], joined["scores"]);
    let run = folder.run(&format!(
        "{line} --model m=turned.npy --ids states=gone.npy labels=ids.npy m=lost.npy"
    ));
    assert!(run.code == 2 && run.stderr.contains("gone.npy"), "{}", run.stderr);
}

#[test]
fn init_writes_a_study_that_works_and_overwrites_nothing() {
    let folder = Folder::with_arrays();
    folder.good("evaluate --init");
    let text = folder.read("study.toml");
    folder.write(
        "z_jepa.npy",
        &std::fs::read(folder.path().join("z.npy")).expect("embeddings"),
    );
    folder.write(
        "z_autoencoder.npy",
        &std::fs::read(folder.path().join("w.npy")).expect("embeddings"),
    );
    let run = folder.good("evaluate study.toml --no-figures --only rankme");
    assert!(
        run.stdout.contains("jepa") && run.stdout.contains("autoencoder"),
        "{}",
        run.stdout
    );
    let run = folder.run("evaluate --init");
    assert!(
        run.code == 2 && run.stderr.contains("study.toml already exists"),
        "{}",
        run.stderr
    );
    folder.good("evaluate --init other.toml");
    assert_eq!(folder.read("other.toml"), text);
    // Without the comment signs every example is a key that exists.
    let all: String = text
        .lines()
        .map(|line| {
            line.strip_prefix("# ")
                .filter(|l| l.contains(" = ") || l.starts_with('['))
                .unwrap_or(line)
        })
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("all.toml", all.as_bytes());
    let run = folder.run("evaluate all.toml");
    assert!(
        run.code == 2 && !run.stderr.contains("all.toml:"),
        "only files are missing\n{}",
        run.stderr
    );
    assert!(run.stderr.contains("cannot read states.npy"), "{}", run.stderr);
}

#[test]
fn quiet_says_nothing_and_json_is_the_document() {
    let folder = Folder::with_arrays();
    let run = folder.good(&format!("{ALL} --quiet --json --no-figures"));
    assert_eq!(run.stderr, "");
    assert_eq!(run.stdout, folder.read("evaluation_plots/results.json"));
}

#[test]
fn figures_have_the_formats_and_the_width_that_were_asked_for() {
    let folder = Folder::with_arrays();
    let run = folder.good("manifold --model z=z.npy --figure-format svg --figure-width one");
    assert!(
        run.stderr
            .contains("3 CSV files, 1 figure (svg) and results.json are in"),
        "{}",
        run.stderr
    );
    let svg = folder.read("evaluation_plots/manifold_dimension/manifold_dimension_analysis.svg");
    assert!(
        svg.contains("width=\"88mm\"") || svg.contains("width=\"249.4"),
        "{}",
        &svg[..300]
    );
    assert!(
        !folder
            .path()
            .join("evaluation_plots/manifold_dimension/manifold_dimension_analysis.png")
            .exists()
    );
    let run = folder.run("manifold --model z=z.npy --figure-width 5");
    assert!(
        run.code == 2 && run.stderr.contains("from 40 to 1000"),
        "{}",
        run.stderr
    );
    let run = folder.run("manifold --model z=z.npy --figure-format gif");
    assert!(run.code == 2 && run.stderr.contains("png"), "{}", run.stderr);
}

#[test]
fn a_panel_without_a_caption_is_a_figure_of_its_own() {
    let folder = Folder::with_arrays();
    let command = "manifold --model z=z.npy --figure-format svg";
    folder.good(command);
    let figures = "evaluation_plots/manifold_dimension/manifold_dimension_analysis";
    let whole = folder.read(&format!("{figures}.svg"));
    assert!(whole.contains(">N = ") && whole.contains(">Summary<"), "{whole}");
    let run = folder.good(&format!("{command} --panel summary --panel A --no-caption"));
    assert!(run.stderr.contains("1 figure (svg)"), "{}", run.stderr);
    let names = std::fs::read_dir(folder.path().join("evaluation_plots/manifold_dimension")).expect("a folder");
    let mut names = names.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
    let own = names.find(|name| name.starts_with("manifold_dimension_analysis_a_"));
    let own = folder.read(&format!(
        "evaluation_plots/manifold_dimension/{}",
        own.expect("a figure")
    ));
    assert_eq!(own.matches("class=\"panel\"").count(), 2);
    assert!(own.contains(">Summary<") && !own.contains(">N = "), "{own}");
    assert_eq!(folder.read(&format!("{figures}.svg")), whole, "the whole figure stays");

    // Results are kept where the name of a panel is wrong.
    let run = folder.run(&format!("{command} --panel nothing --output-dir other"));
    assert!(
        run.code == 2 && run.stderr.contains("no panel `nothing`"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("`Participation ratio`"), "{}", run.stderr);
    assert!(folder.path().join("other/manifold_dimension/results.json").exists());
    let run = folder.good(
        "evaluate --model z=z.npy --labels labels.npy --only manifold,geometry --panel summary --figure-format svg",
    );
    assert!(!run.stderr.contains("no panel"), "{}", run.stderr);
    let run = folder
        .run("evaluate --model z=z.npy --labels labels.npy --only manifold,geometry --panel x --figure-format svg");
    assert!(
        run.code == 2 && run.stderr.contains("geometry_analysis: a `"),
        "{}",
        run.stderr
    );
}

#[test]
fn samples_of_an_earlier_command_are_not_left_beside_another_document() {
    let folder = Folder::with_arrays();
    folder.good("geometry --model z=z.npy --labels labels.npy --no-figures");
    assert!(folder.path().join("evaluation_plots/samples.npz").exists());
    folder.good("rankme --model z=z.npy --no-figures");
    assert!(!folder.path().join("evaluation_plots/samples.npz").exists());
    assert!(
        folder
            .path()
            .join("evaluation_plots/geometry_analysis/samples.npz")
            .exists()
    );
}

#[test]
fn two_models_of_one_command_are_compared() {
    let folder = Folder::with_arrays();
    let results = folder.results("manifold --model jepa=z.npy --model ae=w.npy --no-figures");
    let difference = list(&results, "differences")
        .iter()
        .find(|d| d["metric"] == "two_nn")
        .expect("a difference");
    let expected = value(&results, "jepa", "two_nn").unwrap() - value(&results, "ae", "two_nn").unwrap();
    assert_eq!(difference["value"].as_f64(), Some(expected));
    let one = folder.results("manifold --model jepa=z.npy --no-figures");
    assert!(list(&one, "differences").is_empty());
}

#[test]
fn the_examples_of_its_help_work() {
    let folder = Folder::with_arrays();
    for (name, from) in [
        ("z_jepa.npy", "z.npy"),
        ("z_ae.npy", "w.npy"),
        ("z_autoencoder.npy", "w.npy"),
    ] {
        folder.write(name, &std::fs::read(folder.path().join(from)).expect("an array"));
    }
    folder.write("frames.npy", &npy_f64(&[60, 12], &noise(4, 720)));
    let encoder = repository("crates/repscope-models/tests/models/mlp.onnx");
    for name in ["jepa.onnx", "autoencoder.onnx"] {
        folder.write(name, &std::fs::read(&encoder).expect("an encoder"));
    }
    let help = folder.good("evaluate --help").stdout;
    let examples: Vec<&str> = help.lines().filter_map(|l| l.strip_prefix("  repscope ")).collect();
    assert_eq!(examples.len(), 6, "{help}");
    for example in examples {
        folder.good(example);
    }
}
