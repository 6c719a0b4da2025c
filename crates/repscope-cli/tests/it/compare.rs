// SPDX-License-Identifier: MIT
//! `repscope compare` on small arrays: who is better, stored differences, and gates.

use crate::fixtures::{Folder, noise, npy_f64, npy_i64, npy_words};
use serde_json::Value;

const ROWS: usize = 120;
const COLUMNS: usize = 4;

/// `x.npy` (120 × 4), embeddings of it with a little noise (`near`) and with more (`far`), two labels, and 12 episodes of ten
/// rows.
fn folder() -> Folder {
    let folder = Folder::new();
    let x = noise(1, ROWS * COLUMNS);
    let write = |name: &str, seed: u64, share: f64| {
        let embeddings: Vec<f64> = x.iter().zip(noise(seed, x.len())).map(|(x, e)| x + share * e).collect();
        folder.write(name, &npy_f64(&[ROWS, COLUMNS], &embeddings));
    };
    folder.write("x.npy", &npy_f64(&[ROWS, COLUMNS], &x));
    write("near.npy", 2, 0.05);
    write("far.npy", 3, 0.8);
    let words: Vec<&str> = x
        .chunks(COLUMNS)
        .map(|row| if row[0] > 0.0 { "up" } else { "down" })
        .collect();
    folder.write("labels.npy", &npy_words(&words));
    let episodes: Vec<i64> = (0..ROWS as i64).map(|row| row / 10).collect();
    folder.write("episodes.npy", &npy_i64(&episodes));
    folder
}

const BOTH: &str = "compare --model near=near.npy --model far=far.npy --no-figures";

fn difference<'a>(results: &'a Value, metric: &str) -> &'a Value {
    let all = results["differences"].as_array().expect("differences are a list");
    all.iter()
        .find(|d| d["metric"] == metric)
        .unwrap_or_else(|| panic!("no difference in {metric}"))
}

#[test]
fn the_model_nearer_to_the_inputs_is_better() {
    let folder = folder();
    let results = folder.results(&format!("{BOTH} --states x.npy --labels labels.npy"));
    let trust = difference(&results, "trustworthiness@10");
    assert_eq!(
        (&trust["a"], &trust["b"], &trust["winner"]),
        (&"near".into(), &"far".into(), &"near".into())
    );
    assert!(trust["value"].as_f64() > Some(0.0) && trust["is_paired"] == true && trust["units"] == ROWS);
    let accuracy = difference(&results, "knn_accuracy@5");
    assert!(
        accuracy["value"].as_f64() > Some(0.0) && accuracy["unit"] == "rows",
        "{accuracy}"
    );
    // A number without a direction never has a winner, however sure the difference.
    for d in results["differences"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|d| d["better"] == "neither")
    {
        assert!(d["winner"].is_null(), "{d}");
    }
    assert!(
        folder
            .read("evaluation_plots/compare/differences.csv")
            .starts_with("metric,a,b,value_a")
    );
    // Unlike questions are not added up, so there is no ranking unless one is asked for.
    assert!(!folder.path().join("evaluation_plots/compare/ranking.csv").exists());
    folder.good(&format!("{BOTH} --states x.npy --rank-by trustworthiness@10"));
    assert!(
        folder
            .read("evaluation_plots/compare/ranking.csv")
            .starts_with("model,mean_rank,trustworthiness@10\nnear,1.0,1.0\n")
    );
    folder.good(&format!("{BOTH} --states x.npy --labels labels.npy"));
    assert_eq!(
        folder.json("evaluation_plots/compare/results.json"),
        folder.json("evaluation_plots/results.json")
    );
}

#[test]
fn where_lower_is_better_the_lower_model_wins() {
    let folder = folder();
    let shifted: Vec<f64> = noise(5, ROWS * COLUMNS).iter().map(|e| 1.0 + 0.3 * e).collect();
    folder.write("cone.npy", &npy_f64(&[ROWS, COLUMNS], &shifted));
    let results = folder.results("compare --model cone=cone.npy --model near=near.npy --only geometry");
    // Embeddings in a cone are less uniform: a higher value, so the difference is positive and the other wins.
    let uniformity = difference(&results, "uniformity");
    assert!(uniformity["value"].as_f64() > Some(0.0), "{uniformity}");
    assert_eq!(
        (&uniformity["better"], &uniformity["winner"]),
        (&"lower".into(), &"near".into())
    );
}

#[test]
fn a_table_says_what_was_paired_and_corrected() {
    let folder = folder();
    let run = folder.good(&format!("{BOTH} --states x.npy --only neighborhood --k 5"));
    let text = run.stdout.replace('\n', " ");
    assert!(text.contains("near and far on the same rows"), "{}", run.stdout);
    assert!(
        text.starts_with("Neighborhood  near keeps the neighborhoods of the inputs best"),
        "{}",
        run.stdout
    );
    assert!(text.contains("taken unit by unit, over 120 rows"), "{}", run.stdout);
    assert!(text.contains("adjusted p-values are Holm's"), "{}", run.stdout);
    let line = run
        .stdout
        .lines()
        .find(|line| line.starts_with("trustworthiness@5"))
        .unwrap();
    assert!(line.contains("***") && line.contains(" near "), "{line}");
    // The same, seen from the other.
    let turned = folder.good(&format!(
        "{BOTH} --states x.npy --only neighborhood --k 5 --reference near"
    ));
    let line = turned
        .stdout
        .lines()
        .find(|line| line.starts_with("trustworthiness@5"))
        .unwrap();
    assert!(line.contains(" -0.") && line.contains(" near "), "{line}");
}

#[test]
fn equal_models_have_no_winner() {
    let folder = folder();
    let words = "compare --model a=near.npy --model b=near.npy --states x.npy --labels labels.npy";
    let results = folder.results(words);
    for d in results["differences"].as_array().unwrap() {
        assert_eq!(d["value"].as_f64(), Some(0.0), "{d}");
        assert!(
            d["winner"].is_null() && d["p_adjusted"].as_f64().is_none_or(|p| p == 1.0),
            "{d}"
        );
    }
    assert!(
        folder
            .good(words)
            .stdout
            .contains("no significant difference: trustworthiness@10")
    );
}

#[test]
fn episodes_are_the_units_where_they_are_given() {
    let folder = folder();
    let words = format!("{BOTH} --states x.npy --episodes episodes.npy --only neighborhood,smoothness --k 5");
    let results = folder.results(&words);
    for metric in ["trustworthiness@5", "smoothness.unit.r"] {
        let d = difference(&results, metric);
        assert_eq!((&d["unit"], &d["units"]), (&"episodes".into(), &12.into()), "{d}");
    }
    let run = folder.good(&words);
    assert!(run.stdout.contains("over 12 episodes"), "{}", run.stdout);
}

#[test]
fn models_with_different_rows_are_refused_with_both_numbers() {
    let folder = folder();
    folder.write("short.npy", &npy_f64(&[50, COLUMNS], &noise(9, 50 * COLUMNS)));
    let run = folder.run("compare --model near=near.npy --model short=short.npy");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("the numbers of rows differ: model `near` 120, model `short` 50"),
        "{}",
        run.stderr
    );
    assert!(!folder.files().iter().any(|name| name.starts_with("evaluation_plots")));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = folder();
    let refused = |words: &str, message: &str| {
        let run = folder.run(words);
        assert_eq!(run.code, 2, "{words}");
        assert!(run.stderr.contains(message), "{words}\n{}", run.stderr);
    };
    refused(
        "compare --model near=near.npy",
        "needs at least 2 models, but 1 is given",
    );
    refused(
        &format!("{BOTH} --reference nera"),
        "the models are called `near`, `far`",
    );
    refused(
        &format!("{BOTH} --only neighborhood"),
        "it needs what the models saw (--states)",
    );
    refused(
        &format!("{BOTH} --only rankme --skip rankme"),
        "no analysis is left to run; see --only and --skip",
    );
    refused(&format!("{BOTH} --k 0"), "--k 0");
    refused(&format!("{BOTH} --clusters 120"), "the number of rows, 120");
    refused("compare", "results.json");
    refused("compare missing.json", "missing.json");
    refused("compare results.json --model near=near.npy", "cannot be used with");
}

#[test]
fn stored_differences_are_shown_again() {
    let folder = folder();
    let words = "--states x.npy --only neighborhood --k 5";
    let first = folder.good(&format!("{BOTH} {words} --output-dir out"));
    let before = folder.files();
    assert_eq!(folder.good("compare out/results.json").stdout, first.stdout);
    assert_eq!(folder.good("compare out").stdout, first.stdout);
    assert_eq!(folder.files(), before, "a stored comparison writes nothing");
    let json = folder.good("compare out/results.json --json").stdout;
    assert_eq!(json, folder.read("out/results.json"));
    // One model has nothing to compare.
    folder.good("rankme --model near=near.npy --output-dir one --no-figures");
    let run = folder.run("compare one/results.json");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr
            .contains("holds no differences between models, only the scores of `near`"),
        "{}",
        run.stderr
    );
}

#[test]
fn latex_has_marks_and_a_bold_winner() {
    let folder = folder();
    let text = folder
        .good(&format!(
            "{BOTH} --states x.npy --only neighborhood --k 5 --format latex"
        ))
        .stdout;
    let row = text.lines().find(|line| line.contains("trustworthiness@5 &")).unwrap();
    assert!(
        row.contains("\\textbf{\\boldmath$") && row.contains("$^{***}$"),
        "{row}"
    );
    assert!(text.contains("\\label{tab:compare}") && text.ends_with("\\end{table}\n"));
    let csv = folder
        .good(&format!("{BOTH} --states x.npy --only neighborhood --k 5 --format csv"))
        .stdout;
    assert_eq!(csv, folder.read("evaluation_plots/compare/differences.csv"));
}

#[test]
fn twelve_models_stand_in_rows_and_are_ranked_where_that_is_asked_for() {
    let folder = folder();
    let x = noise(1, ROWS * COLUMNS);
    for i in 0..12u64 {
        let embeddings: Vec<f64> = x
            .iter()
            .zip(noise(100 + i, x.len()))
            .map(|(x, e)| x + 0.1 * i as f64 * e)
            .collect();
        folder.write(&format!("runs/noise{i}.npy"), &npy_f64(&[ROWS, COLUMNS], &embeddings));
    }
    let run = folder.good("compare --model runs/*.npy --states x.npy --only neighborhood --k 5");
    assert!(
        run.stdout.starts_with("Neighborhood  no significant difference")
            || run.stdout.starts_with("Neighborhood  noise0 keeps"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("wins"), "{}", run.stdout);
    assert!(
        run.stdout.contains("Values of noise0, and differences"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.lines().all(|line| line.chars().count() <= 110),
        "{}",
        run.stdout
    );
    let ranked = folder
        .good("compare --model runs/*.npy --states x.npy --only neighborhood --k 5 --rank-by trustworthiness@5 continuity@5=2")
        .stdout;
    let from = ranked
        .find("Models in the order that was asked for")
        .expect("a ranking");
    let lines: Vec<&str> = ranked[from..].lines().collect();
    assert!(lines[3].starts_with(" 1  noise0 "), "{ranked}");
    let refused = folder.run("compare --model runs/*.npy --states x.npy --only manifold --rank-by two_nn");
    assert!(
        refused.code == 2 && refused.stderr.contains("no direction of it is better"),
        "{}",
        refused.stderr
    );
    let other = folder.good("compare evaluation_plots --reference noise5").stdout;
    assert!(
        other.contains("Values of noise5, and differences") && other.contains("▲") && other.contains("▼"),
        "{other}"
    );
}

#[test]
fn gates_decide_the_exit_code() {
    let folder = folder();
    folder.good(&format!("{BOTH} --states x.npy --labels labels.npy --output-dir out"));
    let code = |words: &str| folder.run(&format!("compare out/results.json {words}")).code;
    for passes in [
        "--gate near:trustworthiness@10>=0.9",
        "--gate trustworthiness@10>0.4",
        "--gate near:uniformity<=0 --gate knn_accuracy@5>=0",
        "--gate uniformity<0",
        "--gate two_nn(fit=mle)>0",
        "--gate trustworthiness@10>=0.4 --gate-on interval",
    ] {
        assert_eq!(code(passes), 0, "{passes}");
    }
    for fails in [
        "--gate trustworthiness@10>=0.999",
        "--gate near:uniformity>0",
        "--gate trustworthiness@10==0.5",
        "--gate nobody:trustworthiness@10>=0",
        "--gate trustworthiness@77>=0",
        "--gate smoothness.p>=0 --gate-on interval",
        "--gate trustworthiness@10>=0 --gate trustworthiness@10>=2",
    ] {
        assert_eq!(code(fails), 1, "{fails}");
    }
    for errs in [
        "--gate trustwortiness@10>=0.9",
        "--gate trustworthiness@10",
        "--gate trustworthiness@10>=x",
    ] {
        assert_eq!(code(errs), 2, "{errs}");
    }
}

#[test]
fn an_interval_must_keep_the_limit_as_a_whole() {
    let folder = folder();
    let results = folder.results(&format!("{BOTH} --states x.npy --only neighborhood --output-dir out"));
    let score = crate::fixtures::score(&results, "far", "trustworthiness@10");
    let (low, value) = (score["interval"][0].as_f64().unwrap(), score["value"].as_f64().unwrap());
    let between = (low + value) / 2.0;
    let gate = format!("compare out --gate far:trustworthiness@10>={between}");
    assert_eq!(folder.run(&gate).code, 0);
    assert_eq!(folder.run(&format!("{gate} --gate-on interval")).code, 1);
}

#[test]
fn failed_gates_are_shown_with_what_came_out() {
    let folder = folder();
    let run = folder.run(&format!(
        "{BOTH} --states x.npy --only neighborhood --k 5 --gate near:trustworthiness@5>=2 --gate trustworthiness@77>=0"
    ));
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("Gates: 3 of 3 failed"), "{}", run.stdout);
    let line = run
        .stdout
        .lines()
        .find(|line| line.starts_with("trustworthiness@5 >= 2"))
        .unwrap();
    assert!(line.contains("near  0.9") && line.ends_with("FAIL"), "{line}");
    assert!(
        run.stdout
            .contains("there is no score trustworthiness@77; there is trustworthiness@5"),
        "{}",
        run.stdout
    );
    // One model is enough for gates, and a JSON document stays alone on stdout.
    let run = folder.run("compare --model near=near.npy --only rankme --gate numerical_rank>=5 --json");
    assert_eq!(run.code, 1);
    assert!(serde_json::from_str::<Value>(&run.stdout).is_ok());
    assert!(
        run.stderr.contains("numerical_rank >= 5") && run.stderr.contains("FAIL"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_drop_below_the_baseline_fails() {
    let folder = folder();
    let words = "--states x.npy --labels labels.npy --only neighborhood,geometry";
    folder.good(&format!(
        "compare --model m=near.npy {words} --gate nmi>=0 --output-dir good"
    ));
    folder.good(&format!(
        "compare --model n=far.npy {words} --gate nmi>=0 --output-dir bad"
    ));
    let code = |words: &str| folder.run(&format!("compare {words}")).code;
    // Against itself nothing drops; the worse one drops, and the better one does not.
    assert_eq!(code("good --baseline good --max-drop 0"), 0);
    assert_eq!(
        code("bad --baseline good/results.json --max-drop trustworthiness@10=0.001"),
        1
    );
    assert_eq!(code("good --baseline bad --max-drop trustworthiness@10=0"), 0);
    assert_eq!(code("bad --baseline good --max-drop trustworthiness@10=1"), 0);
    assert_eq!(code("bad --baseline good --max-drop 1%"), 1);
    let run = folder.run("compare bad --baseline good --max-drop 0.01");
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("trustworthiness@10 drop <= 0.01"), "{}", run.stdout);
    // What only one of the two has is a failure, what nobody knows an error.
    folder.good("compare --model m=near.npy --only rankme --gate numerical_rank>=0 --output-dir other");
    let run = folder.run("compare other --baseline good --max-drop trustworthiness@10=0.1");
    assert_eq!(run.code, 1);
    assert!(
        run.stdout.contains("there is no score trustworthiness@10"),
        "{}",
        run.stdout
    );
    let run = folder.run("compare good --baseline other --max-drop trustworthiness@10=0.1");
    assert!(
        run.code == 1 && run.stdout.contains("other has no score trustworthiness@10"),
        "{}",
        run.stdout
    );
    assert_eq!(code("good --baseline good --max-drop trustwort@10=0.1"), 2);
    assert_eq!(code("good --baseline nothing.json --max-drop 0.1"), 2);
    assert_eq!(code("good --baseline good"), 2);
    assert_eq!(code("good --max-drop 0.1"), 2);
}

#[test]
fn a_run_of_fewer_analyses_or_models_is_compared_in_what_it_has() {
    let folder = folder();
    let all = "evaluate --model near=near.npy --model far=far.npy --states x.npy --no-figures";
    folder.good(&format!(
        "{all} --only manifold,neighborhood,geometry,clid --output-dir base"
    ));
    let gate = "--baseline base --max-drop 0";
    let run = folder.good(&format!("{all} --only neighborhood --k 5 10 --output-dir some {gate}"));
    assert!(
        run.stdout.contains(
            "not compared: trustworthiness@15, continuity@15, q_nx@15, r_nx@15, mrre.false@15, mrre.missing@15, geometry, clid, \
             because this run did not compute them\n"
        ),
        "{}",
        run.stdout
    );
    // The same from the stored document.
    let stored = folder.good(&format!("compare some {gate}"));
    assert!(
        stored.stdout.contains("not compared: trustworthiness@15"),
        "{}",
        stored.stdout
    );
    let one = "compare --model near=near.npy --states x.npy --no-figures --only neighborhood --output-dir one";
    let run = folder.good(&format!("{one} {gate}"));
    assert!(
        run.stdout
            .contains("not compared: geometry, clid, model `far`, because this run did not compute them"),
        "{}",
        run.stdout
    );
    // What a limit names must be there.
    assert_eq!(
        folder.run(&format!("{one} --baseline base --max-drop clid.cl=1")).code,
        1
    );
    assert_eq!(
        folder
            .run(&format!("{one} --baseline base --max-drop far:trustworthiness@5=1"))
            .code,
        1
    );
}

#[test]
fn an_analysis_that_failed_fails_the_drop_now_and_from_its_document() {
    let folder = folder();
    let mut embeddings = noise(4, ROWS * COLUMNS);
    embeddings[..COLUMNS].fill(0.0);
    folder.write("zero.npy", &npy_f64(&[ROWS, COLUMNS], &embeddings));
    let line = "evaluate --model m=zero.npy --states x.npy --only neighborhood,clid --no-figures";
    folder.good(&format!("{line} --output-dir base"));
    let gate = "--baseline base --max-drop 1";
    let run = folder.run(&format!(
        "{line} --set neighborhood.distance=cosine --output-dir bad {gate}"
    ));
    // The failure of the analysis is the exit code; that of the gate is told.
    assert_eq!(run.code, 2);
    for text in [&run.stdout, &folder.run(&format!("compare bad {gate}")).stdout] {
        assert!(text.contains("there is no score trustworthiness@5"), "{text}");
        assert!(!text.contains("not compared"), "{text}");
    }
    assert_eq!(folder.run(&format!("compare bad {gate}")).code, 1);
}

#[test]
fn options_of_the_analyses_do_what_they_do_there() {
    let folder = folder();
    let same = |compared: &Value, own: &Value, metric: &str| {
        let (a, b) = (
            crate::fixtures::score(compared, "near", metric),
            crate::fixtures::score(own, "near", metric),
        );
        assert_eq!(a, b, "{metric}");
    };
    let models = "--model near=near.npy --model far=far.npy --no-figures --output-dir own";
    let sampled = folder.results(&format!(
        "{BOTH} --states x.npy --sample 50 --knn-k 3 --labels labels.npy"
    ));
    let own = folder.results(&format!("neighborhood --states x.npy --sample 50 {models}"));
    same(&sampled, &own, "trustworthiness@10");
    let own = folder.results(&format!("geometry --labels labels.npy --sample 50 --k 3 {models}"));
    same(&sampled, &own, "knn_accuracy@3");
    same(&sampled, &own, "uniformity");
    // CLID looks at all rows.
    same(
        &sampled,
        &folder.results(&format!("clid --labels labels.npy {models}")),
        "clid.id",
    );

    let pairs = "--states x.npy --next-states near.npy --model near=near.npy,far.npy --model far=far.npy,near.npy";
    let compared = folder.results(&format!("compare {pairs} --no-figures"));
    let own = folder.results(&format!("smoothness {pairs} --no-figures --output-dir own"));
    same(&compared, &own, "smoothness.slope");
    let own = folder.results(&format!("neighborhood --states x.npy {models}"));
    same(&compared, &own, "trustworthiness@10");
    for wrong in ["--sample 1", "--knn-k 0", "--knn-k 120"] {
        assert_eq!(folder.run(&format!("{BOTH} {wrong}")).code, 2, "{wrong}");
    }
}

#[test]
fn figures_and_a_page_are_drawn_and_a_report_draws_the_same() {
    let folder = folder();
    let line = "compare --model near=near.npy --model far=far.npy --model x=x.npy --states x.npy --reference far \
                --only neighborhood,rankme --figure-format svg --output-dir out";
    let table = folder.good(line).stdout;
    let drawn = |of: &str| -> Vec<(String, String)> {
        let files = folder
            .files()
            .into_iter()
            .filter(|name| name.starts_with(of) && [".svg", ".csv", ".html"].iter().any(|end| name.ends_with(end)));
        files.map(|name| (name.clone(), folder.read(&name))).collect()
    };
    let before = drawn("out/");
    let names: Vec<&str> = before.iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "out/compare/differences.csv",
        "out/compare/neighborhood_preservation/neighborhood_preservation.svg",
        "out/compare/rankme/rankme_analysis.svg",
        "out/compare/report.html",
    ] {
        assert!(names.contains(&name), "{name}\n{names:?}");
    }
    assert!(
        folder
            .read("out/compare/report.html")
            .contains("Comparison of near, far and x")
    );
    for document in ["out/results.json", "out/compare/results.json"] {
        let run = folder.good(&format!("report {document} --figure-format svg"));
        assert_eq!(run.stdout, table, "{document}");
        assert!(drawn("out/") == before, "{document}");
    }
    folder.good(&format!("{BOTH} --output-dir none"));
    assert!(
        !folder
            .files()
            .iter()
            .any(|name| name.starts_with("none/") && name.ends_with(".svg"))
    );
}

#[test]
fn a_run_does_not_overwrite_its_own_baseline() {
    let folder = folder();
    let words = "compare --model m=near.npy --only rankme --output-dir out";
    folder.good(&format!("{words} --gate numerical_rank>=0"));
    let run = folder.run(&format!("{words} --baseline out/results.json --max-drop 0.1"));
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("would be overwritten"), "{}", run.stderr);
}

#[test]
fn evaluate_takes_the_same_gates() {
    let folder = folder();
    let words = "evaluate --model near=near.npy --only rankme --no-figures --output-dir out";
    assert_eq!(folder.run(&format!("{words} --gate numerical_rank>=4")).code, 0);
    let run = folder.run(&format!("{words} --gate numerical_rank>=5"));
    assert_eq!(run.code, 1);
    assert!(run.stdout.contains("Gates: 1 of 1 failed"), "{}", run.stdout);
    folder.write(
        "study.toml",
        b"only = [\"rankme\"]\ngate = [\"numerical_rank>=5\"]\nno_figures = true\n[models]\nnear = \"near.npy\"\n",
    );
    assert_eq!(folder.run("evaluate study.toml").code, 1);
    let run = folder.run(&format!("{words} --gate nmerical_rank>=5 --labels missing.npy"));
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("did you mean `numerical_rank`?") && run.stderr.contains("missing.npy"),
        "{}",
        run.stderr
    );
}

#[test]
fn analyses_of_many_models_keep_the_differences_to_the_best() {
    let folder = Folder::new();
    let models: Vec<String> = (0..11).map(|i| format!("--model m{i}=m{i}.npy")).collect();
    for i in 0..11 {
        folder.write(&format!("m{i}.npy"), &npy_f64(&[30, 2], &noise(i, 60)));
    }
    let count = |command: &str, models: &[String]| {
        let words = format!("{command} {} --no-figures --output-dir out", models.join(" "));
        let run = folder.good(&words);
        let found = folder.json("out/results.json")["differences"]
            .as_array()
            .map_or(0, Vec::len);
        (found, run.stderr)
    };
    let (some, _) = count("manifold", &models[..10]);
    let (kept, _) = count("manifold", &models);
    // Of eleven, each score keeps the ten differences to its best model.
    assert_eq!(kept / 10, some / 45, "{kept} {some}");
    let (all, _) = count("compare --only manifold", &models);
    assert_eq!(all / 55, some / 45, "every pair in every metric");
}
