// SPDX-License-Identifier: MIT
//! `repscope etes` as a user runs it: from vectors, from texts, for several systems and groups.

use crate::fixtures::{Folder, noise, npy_f64, npy_words, repository, score, value};
use serde_json::Value;

const LINE: &str = "etes --signal signal.npy --generated beam.npy --reference true.npy --no-figures";

/// Four samples in the plane whose cosines are known: with the generated texts 1, 0.6, 0 and −0.8, with the true ones
/// 0.8, 0.8, 0.6 and 0.
fn plane() -> Folder {
    let folder = Folder::new();
    let write = |name: &str, rows: [[f64; 2]; 4]| folder.write(name, &npy_f64(&[4, 2], rows.as_flattened()));
    write("signal.npy", [[1.0, 0.0], [0.0, 2.0], [1.0, 0.0], [0.0, 1.0]]);
    write("beam.npy", [[3.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, -0.8]]);
    write("true.npy", [[0.8, 0.6], [0.6, 0.8], [0.6, -0.8], [1.0, 0.0]]);
    folder.write("beam.txt", b"the cat sat\na dog ran\n\nbirds fly, \"high\"\n");
    folder.write("true.txt", b"the cat sat\nthe dog ran away\nyes\nfish swim\n");
    folder
}

/// Sixty samples of eight columns: `near` are the signals with little noise, `far` with much.
fn systems() -> Folder {
    let folder = Folder::new();
    let signal = noise(1, 480);
    let noisy = |seed: u64, share: f64| {
        let pairs = signal.iter().zip(noise(seed, 480));
        pairs.map(|(s, n)| (1.0 - share) * s + share * n).collect::<Vec<f64>>()
    };
    folder.write("eeg.npy", &npy_f64(&[60, 8], &signal));
    folder.write("near.npy", &npy_f64(&[60, 8], &noisy(2, 0.3)));
    folder.write("far.npy", &npy_f64(&[60, 8], &noisy(3, 0.7)));
    folder.write("true.npy", &npy_f64(&[60, 8], &noisy(4, 0.1)));
    let words: Vec<&str> = (0..60).map(|i| ["ZAB", "ZDM", "ZGW"][i % 3]).collect();
    folder.write("subjects.npy", &npy_words(&words));
    folder
}

/// The names of the bands, and how many samples are in each.
fn bands(results: &Value) -> (Value, Value) {
    let tables = results["breakdowns"].as_array().expect("breakdowns");
    let bands = tables.iter().find(|t| t["metric"] == "etes.bands").expect("bands");
    let columns = bands["columns"].as_array().expect("columns");
    let samples = columns.iter().find(|c| c["name"] == "samples").expect("samples");
    (bands["keys"][0]["values"].clone(), samples["values"].clone())
}

#[test]
fn the_scores_are_those_of_a_hand_calculation() {
    let folder = plane();
    let results = folder.results(LINE);
    let near = |id: &str, expected: f64| {
        let value = value(&results, "beam", id).unwrap_or_else(|| panic!("no {id}"));
        assert!((value - expected).abs() < 1e-12, "{id}: {value}");
    };
    // Energies −1, −0.6, 0, 0.8 and −0.8, −0.8, −0.6, 0; gaps −0.2, 0.2, 0.6, 0.8.
    near("etes.alignment", -0.2);
    near("etes.total", -0.2);
    near("etes.reference", -0.55);
    near("etes.gap", 0.35);
    near("etes.min", -1.0);
    near("etes.max", 0.8);
    near("etes.median", -0.3);
    // 0.3 of the way from the first to the second, and 0.7 from the third to the fourth.
    near("etes.p10", -0.88);
    near("etes.p90", 0.56);
    near("etes.std", ((0.64f64 + 0.16 + 0.04 + 1.0) / 3.0).sqrt());
    near("etes.win_rate", 0.25);
    for id in ["etes.alignment", "etes.total", "etes.reference", "etes.gap"] {
        assert_eq!(score(&results, "beam", id)["better"], "lower", "{id}");
        assert!(score(&results, "beam", id)["interval"].is_array(), "{id}");
    }
    let (bands, samples) = bands(&results);
    assert_eq!(bands, serde_json::json!(["excellent", "good", "fair", "weak", "poor"]));
    assert_eq!(samples, serde_json::json!([1.0, 1.0, 0.0, 1.0, 1.0]));
}

#[test]
fn the_lines_of_the_document_are_printed_with_their_direction() {
    let folder = plane();
    let text = folder.good(LINE).stdout;
    for (name, value) in [
        ("ETES Alignment", "-0.2000"),
        ("ETES Total", "-0.2000"),
        ("ETES Reference", "-0.5500"),
        ("ETES Gap", "0.3500"),
    ] {
        let line = text
            .lines()
            .find(|line| line.contains(name))
            .unwrap_or_else(|| panic!("{name}\n{text}"));
        assert!(line.contains("....") && line.contains(value), "{line}");
    }
    assert!(text.contains("lower is better"), "{text}");
    let alone = folder
        .good("etes --signal signal.npy --generated beam.npy --no-figures")
        .stdout;
    let line = alone.lines().find(|line| line.contains("ETES Gap")).expect("the line");
    assert!(line.contains("not available") && !line.contains("0.0000"), "{line}");
}

#[test]
fn fluency_is_part_of_the_total() {
    let folder = plane();
    folder.write("nll.npy", &npy_f64(&[4], &[2.0, 3.0, 4.0, 7.0]));
    folder.write("ppl.npy", &npy_f64(&[4], &[2.0f64, 3.0, 4.0, 7.0].map(f64::exp)));
    // −0.2 + 0.1 · mean(4) / 10.
    for options in ["--fluency nll.npy", "--fluency ppl.npy --fluency-kind perplexity"] {
        let results = folder.results(&format!("{LINE} {options}"));
        let total = value(&results, "beam", "etes.total").expect("a total");
        assert!((total + 0.16).abs() < 1e-12, "{options}: {total}");
        assert_eq!(
            value(&results, "beam", "etes.alignment").map(|x| (x * 1e9).round()),
            Some(-2e8)
        );
    }
    let run = folder.run(&format!("{LINE} --fluency nll.npy --fluency-weight -1"));
    assert_eq!(run.code, 2, "{}", run.stderr);
    let run = folder.run(&format!("{LINE} --fluency signal.npy"));
    assert!(
        run.code == 2 && run.stderr.contains("2 numbers per sample"),
        "{}",
        run.stderr
    );
}

#[test]
fn cut_offs_of_bands_can_be_chosen() {
    let folder = plane();
    let results = folder.results(&format!("{LINE} --bands -0.9 -0.7 -0.5 0.9"));
    assert_eq!(bands(&results).1, serde_json::json!([1.0, 0.0, 1.0, 2.0, 0.0]));
    let run = folder.run(&format!("{LINE} --bands -0.5 -0.7 0 1"));
    assert!(run.code == 2 && run.stderr.contains("-0.5"), "{}", run.stderr);
}

#[test]
fn samples_are_written_with_their_texts_in_three_forms() {
    let folder = plane();
    let line = format!("{LINE} --generated-text beam.txt --reference-text true.txt");
    folder.good(&format!("{line} --samples s.csv"));
    folder.good(&format!("{line} --samples s.json"));
    folder.good(&format!("{line} --samples s.parquet"));
    let csv = folder.read("s.csv");
    assert!(csv.starts_with("index,text,etes,quality,reference,"), "{csv}");
    assert!(
        csv.contains("3,\"birds fly, \"\"high\"\"\",0.8,poor,fish swim,"),
        "{csv}"
    );
    assert_eq!(folder.read("evaluation_plots/etes_analysis/sample_scores.csv"), csv);
    let json = folder.json("s.json");
    assert_eq!(json[1]["text"], "a dog ran");
    assert_eq!(json[1]["quality"], "good");
    assert_eq!(json[2]["text"], "");
    assert!((json[1]["gap"].as_f64().expect("a gap") - 0.2).abs() < 1e-12);
    // Our own reader of Parquet: the texts of the file give the same text scores as those of the text file.
    let again = "etes --signal signal.npy --generated beam.npy --generated-text s.parquet#text --reference-text \
                 s.parquet#reference --reference true.npy --no-figures";
    let (one, other) = (folder.results(&line), folder.results(again));
    assert_eq!(value(&one, "beam", "wer"), value(&other, "beam", "wer"));
    assert!(value(&one, "beam", "wer").is_some());
    let run = folder.run(&format!("{line} --samples s.xlsx"));
    assert!(run.code == 2 && run.stderr.contains(".parquet"), "{}", run.stderr);
}

#[test]
fn text_metrics_stand_beside_the_energies() {
    let folder = plane();
    let run = folder.good(&format!("{LINE} --generated-text beam.txt --reference-text true.txt"));
    assert!(
        run.stderr.contains("1 of 4 texts of `beam` are empty"),
        "{}",
        run.stderr
    );
    let results = folder.json("evaluation_plots/results.json");
    // Edits: none; `a` for `the` and `away`; `yes`; all words of the last, one more: 0 + 2 + 1 + 3 of 3 + 4 + 1 + 2
    // words.
    let wer = value(&results, "beam", "wer").expect("a rate");
    assert!((wer - 0.6).abs() < 1e-12, "{wer}");
    for id in ["bleu@1", "bleu@4", "rouge.1", "rouge.2", "rouge.l"] {
        assert!(value(&results, "beam", id).is_some(), "{id}");
    }
    assert!(score(&results, "beam", "etes.spearman(with=rouge.1)").is_object());
}

#[test]
fn several_systems_are_compared_in_pairs_and_ranked() {
    let folder = systems();
    let line = "etes --signal eeg.npy --generated far=far.npy near=near.npy --reference true.npy --no-figures";
    let results = folder.results(line);
    let of = |system: &str, id: &str| value(&results, system, id).expect("a number");
    assert!(of("near", "etes.alignment") < of("far", "etes.alignment"));
    assert!(of("near", "etes.auc") > of("far", "etes.auc") && of("near", "etes.z") < of("far", "etes.z"));
    let differences = results["differences"].as_array().expect("differences");
    let alignment = differences
        .iter()
        .find(|d| d["metric"] == "etes.alignment")
        .expect("a difference");
    assert_eq!(
        (&alignment["winner"], &alignment["is_paired"]),
        (&Value::from("near"), &Value::from(true))
    );
    let text = folder.good(line).stdout;
    assert!(text.starts_with("ETES  near fits its signals best: "), "{text}");
    let place = |name: &str| text.find(name).unwrap_or_else(|| panic!("{name}\n{text}"));
    assert!(place("1  near") < place("2  far"), "the best stands first\n{text}");
    // Everything is there where it is wanted.
    assert!(
        text.lines().count() <= 40 && !text.contains("What the number means"),
        "{text}"
    );
    let all = folder.good(&format!("{line} --all")).stdout;
    assert!(
        all.contains("What the number means") && all.contains("Bands of fixed cuts"),
        "{all}"
    );
    // A system by itself has the same numbers as among others.
    let alone = folder.results("etes --signal eeg.npy --generated near=near.npy --reference true.npy --no-figures");
    for id in [
        "etes.alignment",
        "etes.gap",
        "etes.auc",
        "etes.mrr",
        "etes.centred.alignment",
        "etes.p",
    ] {
        assert_eq!(value(&alone, "near", id), value(&results, "near", id), "{id}");
    }
}

#[test]
fn groups_have_scores_of_their_own_and_can_be_the_units_of_intervals() {
    let folder = systems();
    let line =
        "etes --signal eeg.npy --generated near.npy --reference true.npy --group subject=subjects.npy --no-figures";
    let results = folder.results(line);
    let tables = results["breakdowns"].as_array().expect("breakdowns");
    let own = tables
        .iter()
        .find(|t| t["keys"][0]["name"] == "subject")
        .expect("a table of subjects");
    assert_eq!(own["keys"][0]["values"], serde_json::json!(["ZAB", "ZDM", "ZGW"]));
    let column = |name: &str| -> Vec<f64> {
        let column = own["columns"]
            .as_array()
            .expect("columns")
            .iter()
            .find(|c| c["name"] == name);
        let values = column.unwrap_or_else(|| panic!("no {name}"))["values"]
            .as_array()
            .expect("values");
        values.iter().filter_map(Value::as_f64).collect()
    };
    assert_eq!(column("samples"), [20.0; 3]);
    let mean = column("alignment").iter().sum::<f64>() / 3.0;
    assert!((mean - value(&results, "near", "etes.alignment").expect("a number")).abs() < 1e-12);
    assert_eq!(column("auc").len(), 3);
    let by_subject = folder.results(&format!("{line} --units subject"));
    let (one, other) = (
        score(&results, "near", "etes.alignment"),
        score(&by_subject, "near", "etes.alignment"),
    );
    assert_eq!(one["value"], other["value"]);
    assert_ne!(one["interval"], other["interval"]);
    let run = folder.run(&format!("{line} --units task"));
    assert!(
        run.code == 2 && run.stderr.contains("Add the group task=PATH"),
        "{}",
        run.stderr
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let folder = systems();
    let line = "etes --signal eeg.npy --generated near=near.npy far=far.npy --reference true.npy --no-figures";
    let results = |threads: usize| {
        folder.good(&format!("{line} --threads {threads}"));
        folder.read("evaluation_plots/etes_analysis/results.json")
    };
    let one = results(1);
    assert!(one == results(2) && one == results(5));
}

#[test]
fn texts_go_through_encoder_and_aligner() {
    let folder = Folder::new();
    let texts = [
        "the kettle boils",
        "a person reads a book",
        "",
        "the cat sat on the mat",
        "yes",
    ];
    folder.write("beam.txt", (texts.join("\n") + "\n").as_bytes());
    folder.write("true.txt", b"the kettle boils\na person reads\ntea\nthe cat sat\nno\n");
    let encoder = format!(
        "{} --checkpoint {}",
        repository("golden/text/t5_gated"),
        repository("golden/text/checkpoints/aligner.pt")
    );
    let encode = |from: &str, to: &str| {
        let words = format!("encode --encoder {encoder} --input {from} --output {to} --template");
        let words: Vec<&str> = words.split_whitespace().chain(["To English: {}"]).collect();
        let run = folder.run_words(&words);
        assert_eq!(run.code, 0, "{}", run.stderr);
    };
    encode("beam.txt", "beam.npy");
    encode("true.txt", "true.npy");
    let columns = {
        let array =
            repscope_io::read_array(&repscope_io::InputPath::file(folder.path().join("beam.npy"))).expect("embeddings");
        array.shape()[1]
    };
    folder.write("signal.npy", &npy_f64(&[5, columns], &noise(5, 5 * columns)));
    let from_texts = format!(
        "etes --signal signal.npy --generated-text beam.txt --reference-text true.txt --text-encoder {encoder} --batch-size 1 \
         --no-figures --json --template"
    );
    let words: Vec<&str> = from_texts.split_whitespace().chain(["To English: {}"]).collect();
    let run = folder.run_words(&words);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("1 of 5 texts of `beam` are empty"),
        "{}",
        run.stderr
    );
    let run: Value = serde_json::from_str(&run.stdout).expect("a document");
    let stored = folder.results("etes --signal signal.npy --generated beam.npy --reference true.npy --no-figures");
    for id in ["etes.alignment", "etes.reference", "etes.gap", "etes.auc", "etes.mrr"] {
        assert_eq!(value(&run, "beam", id), value(&stored, "beam", id), "{id}");
    }
    // A batch of one, and a single sample.
    folder.write("one.txt", b"the kettle boils\n");
    folder.write("one.npy", &npy_f64(&[1, columns], &noise(6, columns)));
    let one = folder.results(&format!(
        "etes --signal one.npy --generated-text one.txt --text-encoder {encoder} --no-figures"
    ));
    assert!(value(&one, "one", "etes.alignment").is_some());
    assert!(value(&one, "one", "etes.std").is_none());
    assert!(score(&one, "one", "etes.std")["reason"].is_string());
}

#[test]
fn pairs_with_a_zero_vector_are_left_out_and_counted() {
    let folder = plane();
    folder.write(
        "beam.npy",
        &npy_f64(&[4, 2], &[3.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.6, -0.8]),
    );
    let run = folder.good(LINE);
    assert!(run.stderr.contains("1 of 4"), "{}", run.stderr);
    let results = folder.json("evaluation_plots/results.json");
    let own = score(&results, "beam", "etes.alignment");
    assert_eq!(own["n"], 3);
    assert!((own["value"].as_f64().expect("a number") + 0.2 / 3.0).abs() < 1e-12);
}

#[test]
fn wrong_input_is_refused_with_both_numbers_and_nothing_is_written() {
    let folder = plane();
    folder.write("three.npy", &npy_f64(&[4, 3], &noise(1, 12)));
    folder.write("five.npy", &npy_f64(&[5, 2], &noise(1, 10)));
    folder.write(
        "nan.npy",
        &npy_f64(&[4, 2], &[0.0, 1.0, f64::NAN, 1.0, 0.0, 1.0, 1.0, 1.0]),
    );
    folder.write("short.txt", b"one\ntwo\n");
    let bert = repository("golden/text/bert");
    for (options, expected) in [
        ("--signal signal.npy --generated three.npy", &["2", "3", "columns"][..]),
        ("--signal signal.npy --generated five.npy", &["4", "5"]),
        (
            "--signal signal.npy --generated beam.npy --reference five.npy",
            &["4", "5"],
        ),
        ("--signal signal.npy --generated nan.npy", &["NaN", "row 1"]),
        (
            "--signal signal.npy --generated beam.npy --reference-text true.txt",
            &["true.txt", "--text-encoder", "--reference"],
        ),
        (
            "--signal signal.npy --generated-text beam.txt",
            &["beam.txt", "--text-encoder"],
        ),
        (
            "--signal signal.npy --generated beam.npy --generated-text short.txt",
            &["4", "2"],
        ),
        (
            "--signal signal.npy --generated beam.npy --reference true.npy --reference-text short.txt",
            &["4", "2"],
        ),
        ("--signal other=signal.npy --generated beam.npy", &["`other`", "`beam`"]),
        (
            "--signal signal.npy --generated a=beam.npy a=true.npy",
            &["two systems", "`a`"],
        ),
        (
            "--signal signal.npy --generated beam.npy --group subject=five.npy",
            &["five.npy"],
        ),
        ("--signal signal.npy --generated none.npy", &["none.npy"]),
        ("--signal signal.npy --generated-text signal.npy", &["texts are needed"]),
        ("--generated beam.npy", &["--signal"]),
        ("--signal signal.npy", &["--generated"]),
        ("--signal signal.npy --generated beam.npy --k 0", &["--k 0"]),
        (
            &format!("--signal signal.npy --generated beam.npy --text-encoder {bert}"),
            &["nothing to do"],
        ),
        (
            &format!("--signal signal.npy --generated-text beam.txt --text-encoder {bert}"),
            &["columns"],
        ),
    ] {
        let run = folder.run(&format!("etes {options}"));
        assert_eq!(run.code, 2, "{options}\n{}", run.stderr);
        for word in expected {
            assert!(
                run.stderr.contains(word),
                "{options}: `{word}` is not in\n{}",
                run.stderr
            );
        }
        assert!(!folder.path().join("evaluation_plots").exists(), "{options}");
    }
}

#[test]
fn evaluate_runs_it_from_a_study_file_and_report_draws_it_again() {
    let folder = systems();
    folder.write(
        "study.toml",
        b"[etes]\nsignal = \"eeg.npy\"\ngenerated = { near = \"near.npy\", far = \"far.npy\" }\nreference = \"true.npy\"\n",
    );
    let text = folder
        .good("evaluate study.toml --output-dir all --figure-format svg")
        .stdout;
    assert!(
        text.starts_with("ETES  near fits its signals best: etes.alignment"),
        "{text}"
    );
    let own =
        folder.results("etes --signal eeg.npy --generated near=near.npy far=far.npy --reference true.npy --no-figures");
    let all = folder.json("all/results.json");
    for id in ["etes.alignment", "etes.gap", "etes.z", "etes.auc"] {
        assert_eq!(value(&all, "near", id), value(&own, "near", id), "{id}");
    }
    assert!(folder.read("all/report.html").contains("etes.alignment"));
    let drawn = |name: &str| folder.read(&format!("all/etes_analysis/{name}.svg"));
    let before = drawn("matched_vs_shuffled");
    let shown = folder.good("report all/etes_analysis --all --figure-format svg").stdout;
    assert!(shown.contains("ETES Alignment"), "{shown}");
    assert_eq!(before, drawn("matched_vs_shuffled"));
}

#[test]
fn the_examples_of_its_help_work() {
    let folder = systems();
    std::fs::copy(folder.path().join("near.npy"), folder.path().join("beam.npy")).expect("a copy");
    std::fs::copy(folder.path().join("near.npy"), folder.path().join("b.npy")).expect("a copy");
    std::fs::copy(folder.path().join("far.npy"), folder.path().join("n.npy")).expect("a copy");
    let help = folder.good("etes --help").stdout.replace("\\\n", " ");
    let examples: Vec<&str> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  repscope "))
        .collect();
    assert_eq!(examples.len(), 3, "{help}");
    // The third needs a text encoder: see above.
    for example in &examples[..2] {
        folder.good(&format!("{example} --no-figures"));
    }
}

/// The words of the specification for a mean energy.
fn band(energy: f64) -> &'static str {
    match energy {
        e if e < -0.8 => "excellent",
        e if e < -0.5 => "good",
        e if e < -0.2 => "fair",
        e if e <= 0.0 => "weak",
        _ => "poor",
    }
}

#[test]
fn the_mean_has_the_word_of_its_band_beside_that_of_shuffled_pairs() {
    let folder = systems();
    let line = "etes --signal eeg.npy --generated near.npy far.npy --no-figures";
    let results = folder.results(line);
    let text = folder.good(line).stdout;
    folder.good("report evaluation_plots --no-figures");
    let page = folder.read("evaluation_plots/report.html");
    for system in ["near", "far"] {
        let alignment = value(&results, system, "etes.alignment").expect("a number");
        let shuffled = value(&results, system, "etes.shuffled").expect("a number");
        let (own, other) = (band(alignment), band(shuffled));
        assert_eq!(
            score(&results, system, "etes.alignment")["note"],
            format!("{own} alignment (shuffled pairs: {other})")
        );
        let sentence =
            format!("{alignment:.4}: {own} alignment by the bands; shuffled pairs are {other} ({shuffled:.4})");
        let in_one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(in_one_line.contains(&sentence), "{sentence}\n{text}");
        assert!(page.contains(&format!("{own} alignment by the bands")), "{system}");
    }
}

#[test]
fn the_switch_of_the_original_code_is_accepted_and_explained() {
    let folder = plane();
    let plain = folder.good(LINE);
    for switch in ["--use_energy", "--use-energy"] {
        let run = folder.good(&format!("{LINE} {switch}"));
        assert_eq!(run.stdout, plain.stdout);
        assert!(
            run.stderr
                .contains("--use-energy has no effect: the energy is what this command computes"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_text_encoder_without_its_aligner_is_a_warning_in_every_output() {
    let folder = systems();
    let texts: String = (0..60).map(|i| format!("a person reads book {i}\n")).collect();
    folder.write("beam.txt", texts.as_bytes());
    folder.write("wide.npy", &npy_f64(&[60, 16], &noise(9, 960)));
    let encoder = repository("golden/text/t5_gated");
    let line = format!("etes --signal wide.npy --generated-text beam.txt --text-encoder {encoder} --no-figures");
    let words = "without the aligner of a trained model";
    let run = folder.good(&format!("{line} --quiet"));
    let in_one_line = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        in_one_line.starts_with("Problem") && in_one_line.contains(words),
        "{}",
        run.stdout
    );
    let run = folder.good(&line);
    assert!(run.stderr.contains(&format!("alone, {words}")), "{}", run.stderr);
    let results = folder.json("evaluation_plots/results.json");
    let has = |list: &Value| {
        list.as_array()
            .is_some_and(|list| list.iter().any(|w| w.to_string().contains(words)))
    };
    assert!(has(&results["warnings"]) && has(&results["findings"]), "{results}");
    folder.good("report evaluation_plots --no-figures");
    assert!(folder.read("evaluation_plots/report.html").contains(words));
    // With embeddings nobody can know.
    let run = folder.good("etes --signal eeg.npy --generated near.npy --no-figures");
    assert!(
        !run.stdout.contains("Problem") && !run.stderr.contains(words),
        "{}",
        run.stdout
    );
}

#[test]
fn fluency_comes_from_a_language_model_in_the_same_run() {
    let folder = Folder::new();
    let texts = std::fs::read(repository("golden/text/texts.json")).expect("texts");
    let texts: Vec<String> = serde_json::from_slice(&texts).expect("a list");
    let lines: Vec<String> = texts
        .iter()
        .map(|text| serde_json::json!({ "t": text }).to_string())
        .collect();
    folder.write("beam.jsonl", lines.join("\n").as_bytes());
    folder.write("eeg.npy", &npy_f64(&[texts.len(), 8], &noise(1, 8 * texts.len())));
    folder.write("beam.npy", &npy_f64(&[texts.len(), 8], &noise(2, 8 * texts.len())));
    let line = "etes --signal eeg.npy --generated beam.npy --no-figures --samples scores.json";
    for model in ["gpt2", "t5_language_own_head"] {
        let path = repository(&format!("golden/text/{model}"));
        let by_model = folder.results(&format!("{line} --generated-text beam.jsonl#t --fluency-model {path}"));
        // The losses of transformers, from a file.
        let losses = std::fs::read(format!("{path}/log_perplexity.npy")).expect("losses");
        folder.write("losses.npy", &losses);
        let by_file = folder.results(&format!("{line} --fluency losses.npy"));
        let total = |results: &Value| value(results, "beam", "etes.total").expect("a total");
        assert!((total(&by_model) - total(&by_file)).abs() < 1e-6, "{model}");
        assert!((total(&by_model) - value(&by_model, "beam", "etes.alignment").unwrap()).abs() > 1e-3);
        let note = score(&by_model, "beam", "etes.total")["note"].to_string();
        assert!(note.contains("mean log-perplexity of the texts"), "{note}");
        let samples = folder.json("scores.json");
        assert!(
            samples[0]["log_perplexity"].as_f64().is_some_and(|x| x > 1.0),
            "{samples}"
        );
    }
    let gpt2 = repository("golden/text/gpt2");
    let bert = repository("golden/text/bert");
    for (options, words) in [
        (format!("--fluency-model {gpt2}"), "give its texts, too"),
        (
            format!("--generated-text beam.jsonl#t --fluency-model {bert}"),
            "Known are gpt2, t5 and mt5",
        ),
        (
            "--generated-text beam.jsonl#t --fluency-model nowhere".to_string(),
            "no such folder",
        ),
        (
            format!("--generated-text beam.jsonl#t --fluency losses.npy --fluency-model {gpt2}"),
            "cannot be used with",
        ),
    ] {
        let run = folder.run(&format!("{line} {options}"));
        assert!(run.code == 2 && run.stderr.contains(words), "{options}\n{}", run.stderr);
    }
}
