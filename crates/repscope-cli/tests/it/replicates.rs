// SPDX-License-Identifier: MIT
//! Training runs of a recipe, and models that are the same within a margin.

use crate::fixtures::{Folder, noise, npy_f64, npy_words, score};
use serde_json::Value;

const ROWS: usize = 120;
const COLUMNS: usize = 6;

/// Inputs, labels, three runs of two recipes (`good-1.npy`, `poor-10.npy`), and a run of its own.
fn folder() -> Folder {
    let folder = Folder::new();
    let x = noise(1, ROWS * COLUMNS);
    let write = |name: &str, seed: u64, share: f64| {
        let embeddings: Vec<f64> = x.iter().zip(noise(seed, x.len())).map(|(x, e)| x + share * e).collect();
        folder.write(name, &npy_f64(&[ROWS, COLUMNS], &embeddings));
    };
    folder.write("x.npy", &npy_f64(&[ROWS, COLUMNS], &x));
    for (i, run) in [1, 2, 10].into_iter().enumerate() {
        write(&format!("good-{run}.npy"), 10 + i as u64, 0.1 + 0.01 * i as f64);
        write(&format!("poor-{run}.npy"), 20 + i as u64, 0.9 + 0.05 * i as f64);
    }
    write("single.npy", 30, 0.1);
    let words: Vec<&str> = x
        .chunks(COLUMNS)
        .map(|row| if row[0] > 0.0 { "up" } else { "down" })
        .collect();
    folder.write("labels.npy", &npy_words(&words));
    folder
}

const RECIPES: &str = "compare --replicates good=good-*.npy --replicates poor=poor-*.npy --states x.npy --no-figures";

fn difference<'a>(results: &'a Value, metric: &str) -> &'a Value {
    let all = results["differences"].as_array().expect("differences are a list");
    all.iter().find(|d| d["metric"] == metric).expect("a difference")
}

#[test]
fn the_score_of_a_recipe_is_the_mean_of_its_runs_in_natural_order() {
    let folder = folder();
    let recipes = folder.results(RECIPES);
    let single = folder.results("compare --model good-1.npy good-2.npy good-10.npy --states x.npy --no-figures");
    let own = score(&recipes, "good", "trustworthiness@10");
    let values: Vec<f64> = ["good-1", "good-2", "good-10"]
        .iter()
        .map(|run| score(&single, run, "trustworthiness@10")["value"].as_f64().unwrap())
        .collect();
    assert_eq!(own["runs"], 3);
    assert_eq!(own["replicates"], serde_json::json!(values));
    let mean = values.iter().sum::<f64>() / 3.0;
    assert!((own["value"].as_f64().unwrap() - mean).abs() < 1e-12);
    let low = own["interval"][0].as_f64().unwrap();
    assert!(low < mean && own["unit"] == "rows", "{own}");
    let trust = difference(&recipes, "trustworthiness@10");
    assert_eq!(
        (&trust["winner"], &trust["runs"]),
        (&"good".into(), &serde_json::json!([3, 3]))
    );
    assert!(trust["effect_size"].as_f64().unwrap() > 0.5, "{trust}");
    // Between those of two and two runs and those of 120 rows.
    let freedom = trust["freedom"].as_f64().unwrap();
    assert!((2.0..119.0).contains(&freedom), "{trust}");
}

#[test]
fn tables_say_what_speaks_about_a_recipe_and_what_about_one_run() {
    let folder = folder();
    let both = folder
        .good("compare --replicates good=good-*.npy --model single.npy --states x.npy --no-figures")
        .stdout;
    assert!(both.contains("good: mean of 3 training runs"), "{both}");
    assert!(
        both.contains("single: 1 run, another training run may differ"),
        "{both}"
    );
    let page = folder.read("evaluation_plots/compare/report.html");
    assert!(page.contains("another training run may differ"));
    let one = folder
        .good("compare --model single.npy good-1.npy --states x.npy --no-figures")
        .stdout;
    assert!(one.contains("another run may differ"), "{one}");
    let csv = folder.good(&format!("{RECIPES} --format csv --quiet")).stdout;
    let header = csv.lines().next().unwrap();
    assert!(header.contains("effect_size") && header.contains("runs_a"), "{header}");
}

#[test]
fn every_command_with_models_takes_training_runs() {
    let folder = folder();
    for command in [
        "neighborhood --states x.npy",
        "manifold",
        "geometry --labels labels.npy",
        "rankme",
        "clid",
        "evaluate",
    ] {
        let results = folder.results(&format!("{command} --replicates good=good-*.npy --no-figures"));
        let scores = results["scores"].as_array().unwrap();
        let models: Vec<&str> = scores.iter().filter_map(|s| s["model"].as_str()).collect();
        assert!(models.iter().all(|model| *model == "good"), "{command}: {models:?}");
        assert!(
            scores.iter().any(|s| s["runs"] == 3 && !s["interval"].is_null()),
            "{command}"
        );
    }
    folder.write(
        "study.toml",
        b"no_figures = true\n[data]\nstates = \"x.npy\"\n[replicates]\ngood = \"good-*.npy\"\npoor = [\"poor-1.npy\", \"poor-2.npy\"]\n",
    );
    let results = folder.results("evaluate study.toml");
    assert_eq!(score(&results, "good", "trustworthiness@10")["runs"], 3);
    assert_eq!(score(&results, "poor", "trustworthiness@10")["runs"], 2);
}

#[test]
fn a_collapsed_run_is_named_and_its_recipe_wins_nothing() {
    let folder = folder();
    folder.write("good-3.npy", &npy_f64(&[ROWS, COLUMNS], &[1.0; ROWS * COLUMNS]));
    let run = folder.good(&format!("{RECIPES} --only manifold rankme neighborhood"));
    assert!(
        run.stdout.contains("good in its run good/good-3 has collapsed"),
        "{}",
        run.stdout
    );
    let results = folder.json("evaluation_plots/compare/results.json");
    let all = results["differences"].as_array().unwrap();
    assert!(all.iter().all(|d| d["winner"] != "good"));
}

#[test]
fn what_are_no_training_runs_is_refused() {
    let folder = folder();
    let message = |words: &str| {
        let run = folder.run(words);
        assert_eq!(run.code, 2, "{words}");
        run.stderr
    };
    let text = message("manifold --replicates good=good-1.npy");
    assert!(
        text.contains("1 training run is given") && text.contains("at least 2"),
        "{text}"
    );
    let text = message("manifold --replicates good-1.npy");
    assert!(text.contains("NAME=PATTERN"), "{text}");
    let text = message("manifold --model good=single.npy --replicates good=good-*.npy");
    assert!(text.contains("both a model and a recipe"), "{text}");
    let text = message("manifold");
    assert!(text.contains("--model"), "{text}");
}

#[test]
fn models_are_the_same_within_a_margin() {
    let folder = folder();
    let words = "compare --model a=good-1.npy --model b=good-2.npy --states x.npy --only neighborhood --no-figures";
    let run = folder.good(&format!("{words} --equivalent 0.05"));
    assert!(run.stdout.contains("the same within 0.05"), "{}", run.stdout);
    let results = folder.json("evaluation_plots/compare/results.json");
    let tested = &difference(&results, "trustworthiness@10")["equivalent"];
    assert!(tested["holds"] == true && tested["within"] == 0.05, "{tested}");
    // From the stored differences alone.
    let again = folder
        .good("compare evaluation_plots/compare --equivalent trustworthiness@10=0.05 --all")
        .stdout;
    assert!(again.contains("within 0.05 (p"), "{again}");
    let run = folder.run(&format!("{words} --gate equivalent(trustworthiness@10,0.05)"));
    assert_eq!(run.code, 0, "{}", run.stdout);
    let run = folder.run("compare --model a=good-1.npy --model b=poor-1.npy --states x.npy --only neighborhood --no-figures --gate equivalent(trustworthiness@10,0.05)");
    assert_eq!(run.code, 1, "{}", run.stdout);
    let run = folder.run(&format!("{words} --equivalent -1"));
    assert_eq!(run.code, 2, "{}", run.stderr);
}
