// SPDX-License-Identifier: MIT
//! `repscope clid` from the outside: presets, options, many models at once, views, labels and performance.

use crate::fixtures::{Folder, noise, npy_f64, npy_i64, npy_words, repository, score, value, values};
use serde_json::{Value, json};

/// Embeddings of 60 rows in three groups, the further apart the larger `distance`.
fn grouped(seed: u64, distance: f64) -> Vec<u8> {
    let mut embeddings = noise(seed, 240);
    for (i, x) in embeddings.iter_mut().enumerate() {
        let (row, column) = (i / 4, i % 4);
        if row % 3 == column {
            *x += distance;
        }
    }
    npy_f64(&[60, 4], &embeddings)
}

/// A folder with six checkpoints of growing order, in `runs`.
fn checkpoints() -> Folder {
    let folder = Folder::with_arrays();
    for (i, step) in [1, 2, 3, 4, 5, 10].into_iter().enumerate() {
        folder.write(&format!("runs/step{step}.npy"), &grouped(20 + i as u64, i as f64));
    }
    folder
}

fn models(results: &Value) -> Vec<&str> {
    let scores = results["scores"].as_array().expect("a list");
    let names = scores.iter().filter(|s| s["metric"] == "clid");
    names.map(|s| s["model"].as_str().expect("a name")).collect()
}

fn breakdown<'a>(results: &'a Value, metric: &str) -> &'a Value {
    let all = results["breakdowns"].as_array().expect("a list");
    let found = all.iter().find(|b| b["metric"] == metric && b["model"] == "");
    found.unwrap_or_else(|| panic!("no breakdown {metric}"))
}

/// A cell of the breakdown `performance`.
fn correlation(results: &Value, score: &str, column: &str) -> Option<f64> {
    let lines = breakdown(results, "performance");
    let scores = lines["keys"][0]["values"].as_array().expect("a list");
    let line = scores.iter().position(|s| s == score)?;
    let columns = lines["columns"].as_array().expect("a list");
    let column = columns.iter().find(|c| c["name"] == column).expect("the column");
    column["values"][line].as_f64()
}

fn table_of(folder: &Folder, line: &str) -> String {
    // Words of a sentence, wherever the lines are broken.
    let text = folder.good(line).stdout;
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn no_mark_stands_beside_a_model_that_is_no_candidate() {
    let folder = Folder::new();
    let model = |name: &str| {
        format!(
            "--model {name}={}",
            repository(&format!("examples/digits/{name}16.npy"))
        )
    };
    let models = ["pca", "supervised", "noise"].map(model).join(" ");
    for command in ["clid", "compare --only clid"] {
        let text = folder
            .good(&format!("{command} {models} --no-figures --format markdown"))
            .stdout;
        assert!(
            text.contains("is no candidate: it fills 85 % of its dimensions"),
            "{text}"
        );
        let row = |start: &str| {
            let line = text.lines().find(|line| line.starts_with(start)).expect("a row");
            line.split(" | ").map(str::to_string).collect::<Vec<_>>()
        };
        let heads = row("| model");
        let clid = heads
            .iter()
            .position(|head| head.starts_with("`clid` "))
            .expect("a column");
        assert!(!row("| noise")[clid].contains("**"), "{command}: {text}");
    }
    let results = folder.json("evaluation_plots/clid/results.json");
    let differences = results["differences"].as_array().expect("a list");
    let of_clid: Vec<&Value> = differences.iter().filter(|d| d["metric"] == "clid").collect();
    assert!(
        of_clid.len() == 3 && of_clid.iter().all(|d| d["winner"] != "noise"),
        "{of_clid:?}"
    );
}

#[test]
fn the_preset_robust_is_the_default_and_is_described_in_words() {
    let folder = Folder::with_arrays();
    let results = folder.results("clid --model m=z.npy");
    assert_eq!(results["spec"]["preset"], "robust");
    let steps = json!({
        "standardize": true, "unit_length": "vote", "clusters": 10, "restarts": 10, "k": 5, "splits": 1, "repeats": 5,
        "id_norm": "dim",
    });
    assert_eq!(results["spec"]["clid"], steps);
    let number = |metric| value(&results, "m", metric).expect("a number");
    // Document 002: ID / D, and the sum of both.
    let normalized = number("clid.id") / 3.0;
    assert!((number("clid.id_normalized") - normalized.min(1.0)).abs() < 1e-15);
    assert!((number("clid") - number("clid.cl") - number("clid.id_normalized")).abs() < 1e-15);
    let table = table_of(&folder, "clid --model m=z.npy");
    assert!(
        table.contains("CLID by preset robust: columns of mean 0 and variance 1; 10 k-means clusters"),
        "{table}"
    );
}

#[test]
fn the_preset_paper_puts_models_on_one_scale() {
    let folder = Folder::with_arrays();
    let line = "clid --model a=z.npy b=w.npy --preset paper";
    let results = folder.results(line);
    assert_eq!(results["spec"]["preset"], "paper");
    let steps = json!({
        "standardize": false, "unit_length": "all", "clusters": "sqrt", "restarts": 1, "k": 1, "splits": 10,
        "repeats": 5, "id_norm": "pool",
    });
    assert_eq!(results["spec"]["clid"], steps);
    // Two numbers standardised over two models are 1 and -1.
    let pair = ["a", "b"].map(|model| value(&results, model, "clid.id_normalized").expect("a number"));
    assert!(
        (pair[0].abs() - 1.0).abs() < 1e-12 && (pair[0] + pair[1]).abs() < 1e-12,
        "{pair:?}"
    );
    let table = table_of(&folder, line);
    assert!(
        table.contains("CLID by preset paper (Lu et al. 2023): rows of length 1; √N"),
        "{table}"
    );
}

#[test]
fn one_model_alone_has_no_sum_by_the_paper() {
    let results = Folder::with_arrays().results("clid --model m=z.npy --preset paper");
    let sum = score(&results, "m", "clid");
    assert!(
        sum["value"].is_null()
            && sum["reason"]
                .as_str()
                .is_some_and(|r| r.contains("divide the dimension")),
        "{sum}"
    );
    assert!(value(&results, "m", "clid.cl").is_some());
}

#[test]
fn each_option_changes_one_step_of_the_preset() {
    let folder = Folder::with_arrays();
    let plain = folder.results("clid --model a=z.npy b=w.npy");
    for (option, path, expected) in [
        ("--standardize no", "/clid/standardize", json!(false)),
        ("--unit-length none", "/clid/unit_length", json!("none")),
        ("--unit-length all", "/clid/unit_length", json!("all")),
        ("--clusters sqrt", "/clid/clusters", json!("sqrt")),
        ("--k 3", "/clid/k", json!(3)),
        ("--splits 2", "/clid/splits", json!(2)),
        ("--repeats 2", "/clid/repeats", json!(2)),
        ("--id-norm pool", "/clid/id_norm", json!("pool")),
        ("--alpha 1", "/alpha", json!(1.0)),
        ("--t 3", "/t", json!(3.0)),
        ("--eps 0.5", "/mcr2/eps", json!(0.5)),
        ("--gam1 2", "/mcr2/gamma1", json!(2.0)),
        ("--gam2 3", "/mcr2/gamma2", json!(3.0)),
        ("--seed 7", "/seed", json!(7)),
    ] {
        let mut changed = folder.results(&format!("clid --model a=z.npy b=w.npy {option}"))["spec"].take();
        let step = changed.pointer_mut(path).expect("the step");
        assert_eq!(*step, expected, "{option}");
        *step = plain["spec"].pointer(path).expect("the step").clone();
        assert_eq!(changed, plain["spec"], "{option} changes nothing else");
    }
}

#[test]
fn a_number_of_clusters_and_restarts_count_for_mcr2_too() {
    let folder = Folder::with_arrays();
    let spec = |options: &str| folder.results(&format!("clid --model z.npy {options}"))["spec"].take();
    let given = spec("--clusters 4 --restarts 2");
    assert_eq!((&given["clusters"], &given["clid"]["clusters"]), (&json!(4), &json!(4)));
    assert_eq!((&given["restarts"], &given["clid"]["restarts"]), (&json!(2), &json!(2)));
    for options in ["", "--clusters sqrt", "--preset paper"] {
        let spec = spec(options);
        assert_eq!(
            (&spec["clusters"], &spec["restarts"]),
            (&json!(10), &json!(10)),
            "{options}"
        );
    }
}

#[test]
fn an_option_changes_the_scores_it_speaks_of_and_no_others() {
    let folder = Folder::with_arrays();
    let line = "clid --model m=z.npy --views w.npy";
    let plain = values(&folder.results(line));
    for (option, expected) in [
        ("--k 1", "clid.cl clid.cl_std clid"),
        ("--standardize no", "clid.cl clid.cl_std clid"),
        ("--unit-length none", "clid.cl clid.cl_std clid"),
        (
            "--unit-length all",
            "clid.cl clid.cl_std clid.id clid.id_normalized clid",
        ),
        ("--clusters sqrt", "clid.cl clid.cl_std clid"),
        ("--clusters 4", "clid.cl clid.cl_std clid mcr2.total mcr2.compressive"),
        ("--eps 0.5", "mcr2.total mcr2.discriminative mcr2.compressive"),
        ("--gam1 2", "mcr2.total mcr2.discriminative"),
        ("--gam2 2", "mcr2.total"),
        ("--labels labels.npy", "mcr2.total mcr2.compressive"),
        ("--alpha 1", "alignment alignment.total"),
        ("--t 1", "alignment.uniformity alignment.total uniformity"),
    ] {
        let changed = values(&folder.results(&format!("{line} {option}")));
        let differ = plain.iter().zip(&changed).filter(|(a, b)| a.2 != b.2);
        let found: Vec<&str> = differ.map(|(a, _)| a.1.trim_matches('"')).collect();
        assert_eq!(found.join(" "), expected, "{option}");
    }
}

#[test]
fn changed_steps_are_told_with_what_they_were() {
    let table = table_of(&Folder::with_arrays(), "clid --model z.npy --k 3 --standardize no");
    assert!(
        table.contains("CLID by preset robust, but with --standardize no (not yes), --k 3 (not 5): embeddings as"),
        "{table}"
    );
}

#[test]
fn the_names_of_the_reference_script_are_options_too() {
    let folder = Folder::with_arrays();
    let ours = folder.results("clid --model z.npy --clusters 4 --k 3 --views w.npy --id-norm dim");
    let theirs = folder.results("clid --model z.npy --n_clusters 4 --k_classifier 3 --features2 w.npy --id_norm dim");
    assert_eq!(ours, theirs);
}

#[test]
fn standardize_alone_means_yes() {
    let folder = Folder::with_arrays();
    let alone = folder.results("clid --model z.npy --preset paper --standardize --k 2");
    assert_eq!(alone["spec"]["clid"]["standardize"], true);
    assert_eq!(
        alone,
        folder.results("clid --model z.npy --preset paper --standardize yes --k 2")
    );
}

#[test]
fn the_files_hold_the_summary_the_runs_and_the_long_form() {
    let folder = Folder::with_arrays();
    folder.good("clid --model jepa=z.npy ae=w.npy --repeats 3 --splits 2 --seed 7");
    let file = |name: &str| folder.read(&format!("evaluation_plots/clid/{name}"));
    let results = folder.json("evaluation_plots/clid/results.json");
    let summary = file("clid_summary.csv");
    let cells: Vec<&str> = summary.lines().nth(1).expect("a line").split(',').collect();
    assert!(
        summary.starts_with("Model,CL,CL_std,ID,ID_normalized,CLID,N,D,"),
        "{summary}"
    );
    assert_eq!(cells[1].parse().ok(), value(&results, "jepa", "clid.cl"));
    assert_eq!((cells[6], cells[7]), ("60", "3"));
    let runs = file("clid_runs.csv");
    assert_eq!(runs.lines().count(), 1 + 2 * 3 * 2, "{runs}");
    let seeds: Vec<&str> = runs.lines().skip(1).filter_map(|l| l.split(',').nth(1)).collect();
    assert_eq!(seeds[..6], ["7", "7", "8", "8", "9", "9"]);
    let long = file("clid_metrics.csv");
    assert!(long.starts_with("model,metric,value\njepa,mcr2_total_loss,"), "{long}");
    let names: Vec<&str> = long
        .lines()
        .filter_map(|l| l.strip_prefix("ae,")?.split(',').next())
        .collect();
    let expected = "mcr2_total_loss mcr2_discrimn_empirical mcr2_compress uniformity cl id id_normalized clid";
    assert_eq!(names.join(" "), expected);
    assert!(!folder.files().iter().any(|f| f.contains("performance_correlation")));
}

#[test]
fn a_folder_and_a_pattern_are_a_model_per_file_in_natural_order() {
    let folder = checkpoints();
    folder.write("runs/notes.txt", b"not an array");
    let steps = ["step1", "step2", "step3", "step4", "step5", "step10"];
    let whole = folder.results("clid --model runs");
    assert_eq!(models(&whole), steps);
    for argument in ["runs/", "runs/*.npy", "runs/step*", "r*s/step*.npy"] {
        let found = folder.results(&format!("clid --model {argument}"));
        assert_eq!(values(&found), values(&whole), "{argument}");
    }
    assert_eq!(models(&folder.results("clid --model runs/step?.npy")), steps[..5]);
    assert_eq!(models(&folder.results("clid --model runs/step[12].npy")), steps[..2]);
    assert_eq!(
        models(&folder.results("clid --model z.npy runs/step1*.npy")),
        ["z", "step1", "step10"]
    );
    assert_eq!(
        models(&folder.results("clid --model a=runs/step1*.npy")),
        ["a/step1", "a/step10"]
    );
}

#[test]
fn every_command_with_models_takes_folders_and_patterns() {
    let folder = Folder::new();
    folder.write("x.npy", &npy_f64(&[60, 4], &noise(1, 240)));
    for (name, seed) in [("a", 2), ("b", 3)] {
        folder.write(&format!("runs/{name}.npy"), &npy_f64(&[60, 3], &noise(seed, 180)));
    }
    for line in [
        "manifold",
        "geometry",
        "rankme",
        "neighborhood --states x.npy",
        "smoothness --states x.npy",
    ] {
        let one_by_one = folder.results(&format!("{line} --model run/a=runs/a.npy run/b=runs/b.npy"));
        for models in ["run=runs", "run=runs/*.npy"] {
            let found = folder.results(&format!("{line} --model {models}"));
            assert_eq!(values(&found), values(&one_by_one), "{line} --model {models}");
        }
    }
}

#[test]
fn files_of_one_name_in_several_folders_are_called_by_both() {
    let folder = Folder::new();
    for run in ["lr=1", "lr=2"] {
        folder.write(&format!("runs/{run}/z.npy"), &grouped(4, 1.0));
    }
    assert_eq!(
        models(&folder.results("clid --model runs/*/z.npy")),
        ["lr=1/z", "lr=2/z"]
    );
    assert_eq!(models(&folder.results("clid --model runs/lr=1/*.npy")), ["z"]);
}

#[test]
fn a_name_with_a_star_in_it_is_a_file_where_there_is_one() {
    let folder = Folder::new();
    folder.write("z*.npy", &grouped(4, 1.0));
    folder.write("z1.npy", &grouped(5, 1.0));
    assert_eq!(models(&folder.results("clid --model z*.npy")), ["z*"]);
}

#[test]
fn opposite_views_are_as_far_apart_as_can_be() {
    // Unit-length embeddings x and -x have the squared distance 4; equal views have 0.
    let folder = Folder::with_arrays();
    let opposite: Vec<f64> = noise(2, 180).iter().map(|x| -x).collect();
    folder.write("opposite.npy", &npy_f64(&[60, 3], &opposite));
    let alignment = |line: &str| value(&folder.results(line), "z", "alignment").expect("a number");
    assert!((alignment("clid --model z.npy --views opposite.npy") - 4.0).abs() < 1e-12);
    assert!(alignment("clid --model z.npy --views z.npy").abs() < 1e-12);
    let without = folder.results("clid --model z.npy");
    let scores = without["scores"].as_array().expect("a list");
    assert!(!scores.iter().any(|s| s["metric"] == "alignment"), "nobody asked");
}

#[test]
fn views_are_matched_to_models_by_name_and_by_file() {
    let folder = Folder::with_arrays();
    folder.write("views/w.npy", &npy_f64(&[60, 3], &noise(5, 180)));
    folder.write("views/z.npy", &npy_f64(&[60, 3], &noise(4, 180)));
    folder.write("views/other.npy", &npy_f64(&[60, 3], &noise(6, 180)));
    let by_name = folder.results("clid --model z.npy w.npy --views w=views/w.npy z=views/z.npy");
    for views in ["views", "views/*.npy", "views/w.npy views/z.npy", "views/?.npy"] {
        let found = folder.results(&format!("clid --model z.npy w.npy --views {views}"));
        assert_eq!(values(&found), values(&by_name), "--views {views}");
    }
    // A model with a name of its own is known by its file too.
    let renamed = folder.results("clid --model z.npy last=w.npy --views views");
    assert_eq!(value(&renamed, "last", "alignment"), value(&by_name, "w", "alignment"));
    let prefixed = folder.results("clid --model run=views/?.npy --views run=views/?.npy");
    assert_eq!(value(&prefixed, "run/z", "alignment"), Some(0.0));
    assert_eq!(by_name["inputs"].as_array().map(Vec::len), Some(4));
}

#[test]
fn views_are_joined_by_id() {
    let folder = Folder::with_arrays();
    let order: Vec<usize> = (0..60).map(|i| (i * 7 + 3) % 60).collect(); // 7 and 60 have no common factor
    let w = noise(3, 180);
    let moved: Vec<f64> = order.iter().flat_map(|&i| w[3 * i..3 * i + 3].to_vec()).collect();
    folder.write("moved.npy", &npy_f64(&[60, 3], &moved));
    folder.write("ids.npy", &npy_i64(&(0..60).collect::<Vec<_>>()));
    folder.write(
        "moved_ids.npy",
        &npy_i64(&order.iter().map(|&i| i as i64).collect::<Vec<_>>()),
    );
    let aligned = folder.results("clid --model m=z.npy --views w.npy");
    let joined = folder.results("clid --model m=z.npy --views moved.npy --ids m=ids.npy m.view=moved_ids.npy");
    assert_eq!(values(&joined), values(&aligned));
    assert_ne!(
        values(&folder.results("clid --model m=z.npy --views moved.npy")),
        values(&aligned)
    );
}

#[test]
fn without_labels_mcr2_is_of_clusters_and_says_so() {
    let folder = Folder::with_arrays();
    let note = |line: &str| score(&folder.results(line), "z", "mcr2.total")["note"].clone();
    let own = note("clid --model z.npy");
    assert!(
        own.as_str().is_some_and(|n| n.contains("k-means' own clusters")),
        "{own}"
    );
    let given = note("clid --model z.npy --labels labels.npy");
    assert!(!given.as_str().is_some_and(|n| n.contains("k-means")), "{given}");
}

/// The checkpoints with an accuracy that orders them as their dimension does.
fn measured() -> Folder {
    let folder = checkpoints();
    let results = folder.results("clid --model runs");
    let mut lines: Vec<(f64, &str)> = models(&results)
        .into_iter()
        .map(|model| (value(&results, model, "clid.id").expect("a number"), model))
        .collect();
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(
        lines.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "no two are equal: {lines:?}"
    );
    let rows: String = lines
        .iter()
        .enumerate()
        .map(|(i, (_, model))| format!("{model},{}\n", 0.5 + i as f64 / 20.0))
        .collect();
    folder.write("accuracy.csv", format!("model,accuracy\n{rows}").as_bytes());
    folder
}

#[test]
fn performance_tells_which_score_predicts_it() {
    let folder = measured();
    let results = folder.results("clid --model runs --performance accuracy.csv");
    // All six are in the same order; of the 720 orders two are as extreme.
    assert_eq!(correlation(&results, "clid.id", "spearman"), Some(1.0));
    assert_eq!(correlation(&results, "clid.id", "kendall"), Some(1.0));
    assert_eq!(correlation(&results, "clid.id", "models"), Some(6.0));
    let p = correlation(&results, "clid.id", "spearman_p").expect("a number");
    assert!((p - 2.0 / 720.0).abs() < 1e-12, "{p}");
    let lines = breakdown(&results, "performance");
    let scores: Vec<&str> = lines["keys"][0]["values"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for score in
        "clid clid.id mcr2.total uniformity rankme(variant=spec) rankme(variant=paper) numerical_rank stable_rank \
                  participation_ratio dimension_usage two_nn cluster_balance weighted_clid.left_out"
            .split_whitespace()
    {
        assert!(scores.contains(&score), "{score} is not in {scores:?}");
    }
    assert!(!scores.contains(&"alignment"), "there are no views");
    assert_eq!(results["spec"]["performance"], "accuracy.csv");
    assert_eq!(results["inputs"][6]["path"], "accuracy.csv#accuracy");
    // The intercept of a fit on standardised scores is the mean: 0.5, 0.55, …, 0.75.
    let weights = breakdown(&results, "weighted_clid");
    assert_eq!(weights["keys"][0]["values"], json!(["cl", "id", "intercept"]));
    let intercept = weights["columns"][0]["values"][2].as_f64().expect("a number");
    assert!((intercept - 0.625).abs() < 1e-12, "{intercept}");
    let file = folder.read("evaluation_plots/clid/performance_correlation.csv");
    assert!(
        file.starts_with("score,models,spearman,spearman_low,spearman_high,spearman_p,"),
        "{file}"
    );
    assert!(file.contains("\nclid.id,6,1.0,"), "{file}");
    let long = folder.read("evaluation_plots/clid/clid_metrics.csv");
    assert!(
        long.contains("step10,rankme_full,") && long.contains("step10,rankme_simple,"),
        "{long}"
    );
    assert!(
        folder
            .read("evaluation_plots/clid/weighted_clid.csv")
            .starts_with("term,weight,standard_error,low,high\ncl,")
    );
}

#[test]
fn the_table_of_predictions_comes_in_every_format() {
    let folder = measured();
    let show = |format: &str| {
        folder
            .good(&format!(
                "clid --model runs --performance accuracy.csv --format {format}"
            ))
            .stdout
    };
    let table = show("table");
    let places = ["CLID ", "\nWhich score predicts accuracy?\nscore ", "\nmodel "];
    let places = places.map(|part| table.find(part).unwrap_or_else(|| panic!("no {part} in {table}")));
    assert!(places.is_sorted(), "{table}");
    assert!(table.contains("\nWeights of weighted CLID\n"), "{table}");
    let line = table
        .lines()
        .find(|l| l.starts_with("clid.id  ") && l.contains("1.00 "))
        .expect("the line of ID");
    assert!(line.contains("0.0028") && line.ends_with(" 6"), "{line}");
    let markdown = show("markdown");
    assert!(
        markdown.contains("\n| score | rho | 95 % interval | p | q |"),
        "{markdown}"
    );
    assert!(markdown.contains("- CLID by preset robust: "), "{markdown}");
    let latex = show("latex");
    // What predicts, its weights, and the scores of six models.
    assert_eq!(latex.matches("\\begin{table}").count(), 3, "{latex}");
    assert_eq!(latex.matches("\\end{table}").count(), 3);
    assert!(latex.contains("\\label{tab:repscope-performance}"), "{latex}");
    let csv = show("csv");
    let width = csv.lines().next().map(|header| header.split(',').count());
    assert_eq!(width, Some(13));
    let line = csv
        .lines()
        .find(|l| l.starts_with(",performance.spearman(score=clid.id),1.0,"))
        .expect("a line");
    assert_eq!(line.split(',').count(), 13, "{line}");
}

#[test]
fn a_performance_file_may_have_any_of_the_usual_forms() {
    let folder = measured();
    let table = folder.read("accuracy.csv");
    let rows: Vec<(&str, &str)> = table.lines().skip(1).filter_map(|line| line.split_once(',')).collect();
    let write = |name: &str, header: &str, row: &dyn Fn(&(&str, &str)) -> String| {
        let text: String = rows.iter().map(|r| row(r) + "\n").collect();
        folder.write(name, format!("{header}{text}").as_bytes());
    };
    write("bare.csv", "", &|(m, a)| format!("{m},{a}"));
    write("top1.csv", "net,Top1\n", &|(m, a)| format!("{m},{a}"));
    write("turned.tsv", "accuracy\tName\n", &|(m, a)| format!("{a}\t{m}"));
    write("more.csv", "model,epochs,probe,comment\n", &|(m, a)| {
        format!("{m},7,{a},good")
    });
    write("usual.csv", "model,epochs,Accuracy\n", &|(m, a)| format!("{m},7,{a}"));
    write("files.csv", "model,accuracy\n", &|(m, a)| format!("{m}.npy,{a}"));
    write("paths.csv", "model,accuracy\n", &|(m, a)| format!("runs/{m}.npy,{a}"));
    write("longer.csv", "model,accuracy\nstep99,0.1\n", &|(m, a)| {
        format!("{m},{a}")
    });
    let pairs: Vec<String> = rows.iter().map(|(m, a)| format!("\"{m}\": {a}")).collect();
    folder.write("accuracy.json", format!("{{{}}}", pairs.join(", ")).as_bytes());
    let expected = folder.results("clid --model runs --performance accuracy.csv");
    for file in [
        "bare.csv",
        "top1.csv",
        "turned.tsv",
        "more.csv#probe",
        "usual.csv",
        "files.csv",
        "paths.csv",
        "longer.csv",
        "accuracy.json",
    ] {
        let found = folder.results(&format!("clid --model runs --performance {file}"));
        assert_eq!(found["breakdowns"], expected["breakdowns"], "{file}");
    }
    let prefixed = folder.results("clid --model exp=runs --performance accuracy.csv");
    assert_eq!(
        correlation(&prefixed, "clid.id", "spearman"),
        Some(1.0),
        "known by the names of their files"
    );
    let named = table_of(&folder, "clid --model runs --performance top1.csv");
    assert!(named.contains("Which score predicts Top1?"), "{named}");
}

#[test]
fn a_model_without_a_number_is_left_out() {
    let folder = measured();
    let table = folder.read("accuracy.csv");
    let without = |row: &str| {
        let lines = table.lines().map(|line| {
            if line.starts_with("step3,") {
                row.to_string()
            } else {
                format!("{line}\n")
            }
        });
        folder.write("five.csv", lines.collect::<String>().as_bytes());
        folder.results("clid --model runs --performance five.csv")
    };
    for row in ["", "step3,nan\n"] {
        let results = without(row);
        assert_eq!(correlation(&results, "clid.id", "models"), Some(5.0), "{row:?}");
        assert_eq!(correlation(&results, "clid.id", "spearman"), Some(1.0), "{row:?}");
    }
}

#[test]
fn models_of_different_size_are_compared_with_a_warning() {
    let folder = Folder::with_arrays();
    let run = folder.good("clid --model z.npy x.npy");
    assert!(
        run.stderr
            .contains("warning: `z` has 60 rows and 3 columns but `x` has 60 rows and 4 columns"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.results("clid --model z.npy w.npy")["warnings"], json!([]));
}

#[test]
fn defaults_that_do_not_fit_leave_the_score_undefined() {
    let folder = Folder::new();
    folder.write("small.npy", &npy_f64(&[8, 2], &noise(3, 16)));
    let results = folder.results("clid --model small.npy");
    let cl = score(&results, "small", "clid.cl");
    assert!(cl["value"].is_null(), "{cl}");
    assert!(
        cl["reason"]
            .as_str()
            .is_some_and(|r| r.contains("10 clusters of 8 rows")),
        "{cl}"
    );
    assert!(value(&results, "small", "clid.id").is_some());
    assert!(
        !folder.files().iter().any(|f| f.ends_with("clid_runs.csv")),
        "no runs, no file"
    );
    let few = folder.results("clid --model small.npy --clusters 2 --k 3");
    assert!(value(&few, "small", "clid.cl").is_some());
}

#[test]
fn any_number_of_threads_and_any_run_give_the_same_bytes() {
    let folder = Folder::new();
    for (seed, name, accuracy) in [(1, "a16", 0.98), (2, "b16", 0.93), (3, "c16", 0.12), (4, "d16", 0.09)] {
        // Several blocks of rows, so that there is work to share.
        folder.write(&format!("{name}.npy"), &npy_f64(&[600, 16], &noise(seed, 9600)));
        let line = format!("{name},{accuracy}\n");
        let so_far = std::fs::read_to_string(folder.path().join("accuracy.csv")).unwrap_or_default();
        folder.write("accuracy.csv", (so_far + &line).as_bytes());
    }
    for preset in ["spec", "robust", "paper"] {
        let line = format!(
            "clid --model *16.npy --preset {preset} --performance accuracy.csv --restarts 2 --repeats 2 --no-figures"
        );
        let results = |options: &str| {
            folder.good(&format!("{line} {options}"));
            folder.read("evaluation_plots/clid/results.json")
        };
        let one = results("--threads 1");
        assert!(
            one == results("--threads 2"),
            "{preset}: another number of threads, other bytes"
        );
        assert!(one == results(""), "{preset}: another run, other bytes");
    }
}

#[test]
fn the_examples_of_its_help_work() {
    let folder = measured();
    for (file, seed) in [("z_jepa.npy", 1), ("z_ae.npy", 2), ("augmented.npy", 3)] {
        folder.write(file, &npy_f64(&[60, 4], &noise(seed, 240)));
    }
    let words: Vec<&str> = (0..60).map(|i| ["cat", "dog"][i % 2]).collect();
    folder.write("labels.npy", &npy_words(&words));
    for i in 0..6 {
        folder.write(
            &format!("checkpoints/step{}.npy", [1, 2, 3, 4, 5, 10][i]),
            &grouped(20 + i as u64, i as f64),
        );
    }
    let help = folder.good("clid --help").stdout;
    let examples: Vec<String> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  repscope "))
        .map(|line| line.replace('\'', "")) // no shell stands between us
        .collect();
    assert!(examples.len() >= 4, "{help}");
    for example in examples {
        folder.good(&example);
    }
}

#[test]
fn nobody_is_best_by_clid_among_models_of_different_columns() {
    let folder = Folder::new();
    folder.write("narrow.npy", &npy_f64(&[60, 3], &noise(1, 180)));
    folder.write("middle.npy", &grouped(2, 4.0));
    folder.write("wide.npy", &npy_f64(&[60, 9], &noise(3, 540)));
    let paper = "compare CL and ID each for itself, or use the preset `paper`";
    for (models, advice) in [
        (
            "--model narrow.npy --model wide.npy",
            "compare CL and ID each for itself ",
        ),
        ("--model narrow.npy --model middle.npy --model wide.npy", paper),
    ] {
        let text = table_of(&folder, &format!("clid {models} --no-figures"));
        assert!(text.starts_with("Problem models have 3 to 9 columns: ID / D"), "{text}");
        assert!(text.contains(advice), "{text}");
        let results = folder.results(&format!("clid {models} --no-figures"));
        assert_eq!(results["findings"][0]["trouble"], "columns");
        let differences = results["differences"].as_array().expect("a list");
        let winners = differences
            .iter()
            .filter(|d| d["metric"] == "clid" && !d["winner"].is_null());
        assert_eq!(winners.count(), 0, "{differences:?}");
    }
    // Standardized over the models, ID has one yardstick.
    let paper = table_of(
        &folder,
        "clid --model narrow.npy --model middle.npy --model wide.npy --preset paper --no-figures",
    );
    assert!(!paper.contains("columns: ID / D"), "{paper}");
}
