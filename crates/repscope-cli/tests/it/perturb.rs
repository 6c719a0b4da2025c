// SPDX-License-Identifier: MIT
//! `repscope perturb` as a user runs it: masks on disk, a classifier over images, stored predictions.

use std::path::Path;

use crate::fixtures::{Folder, noise, npy_f64, npy_i64, npy_words, repository, value};
use repscope_io::write_gray_png;

const SIDE: usize = 48;

/// The two-head network of the golden cases: 4 modulations, 3 ratios, images of 48 × 48.
fn classifier() -> String {
    repository("golden/models/two_head/weights.safetensors")
}

/// Twelve classes with 10 images each; every tenth pixel is lit, and most have the same value, as in histograms.
fn tree() -> Folder {
    tree_in("images")
}

fn tree_in(name: &str) -> Folder {
    let folder = Folder::new();
    let mut number = 0;
    for modulation in ["8PSK", "BPSK", "QAM", "QPSK"] {
        for ratio in ["SNR_-2", "SNR_0", "SNR_10"] {
            for sample in 0..10 {
                number += 1;
                let pixels: Vec<u8> = noise(number, SIDE * SIDE)
                    .iter()
                    .map(|&x| match x {
                        x if x > 0.98 => 200,
                        x if x > 0.8 => 60,
                        _ => 0,
                    })
                    .collect();
                let name = format!("{name}/{modulation}/{ratio}/grayscale_{modulation}_{ratio}_sample_{sample}.png");
                write_gray_png(&folder.path().join(name), (SIDE, SIDE), &pixels).expect("an image");
            }
        }
    }
    folder
}

/// Ten samples of two heads. Head a is right for 8 of them, perturbed by top1 for 6, one of which was wrong before;
/// head b is right for 9, then for all.
fn predictions() -> Folder {
    let folder = Folder::new();
    let right = [0i64; 10];
    let wrong = |rows: &[usize]| {
        let mut codes = right;
        rows.iter().for_each(|&row| codes[row] = 1);
        npy_i64(&codes)
    };
    for (part, a, b) in [
        ("labels", &[][..], &[][..]),
        ("baseline", &[0, 1], &[1]),
        ("top1_blackout", &[1, 2, 3, 4], &[]),
        ("top5_blackout", &[0, 1, 2, 3, 4, 5], &[1]),
    ] {
        folder.write(&format!("p/{part}/a.npy"), &wrong(a));
        folder.write(&format!("p/{part}/b.npy"), &wrong(b));
    }
    folder
}

#[test]
fn stored_predictions_give_the_scores_of_a_hand_calculation() {
    let folder = predictions();
    let results = folder.results("perturb evaluate --predictions p --expect-baseline combined=0.8 --no-figures");
    let of = |id: &str| value(&results, "p", id).unwrap_or_else(|| panic!("no {id}"));
    let near = |id: &str, expected: f64| assert!((of(id) - expected).abs() < 1e-12, "{id}: {}", of(id));
    near("accuracy.a@baseline", 0.8);
    near("accuracy.combined@baseline", 0.8);
    near("accuracy.a@top1", 0.6);
    near("accuracy.b@top1", 1.0);
    near("pis.a@top1", 20.0);
    near("pis.b@top1", -10.0);
    near("pis.combined@top1", 20.0);
    near("pis.a@top5", 8.0);
    let summary = folder.json("evaluation_plots/perturbation_analysis/pis_summary.json");
    assert_eq!(summary["baseline_accuracy"]["combined"], 0.8);
    let top = &summary["perturbation_results"]["top1_blackout"];
    assert_eq!(top["accuracy"]["a"], 0.6);
    assert!((top["pis"]["a"].as_f64().expect("a number") - 20.0).abs() < 1e-12);
    assert!((top["accuracy_drop"]["b"].as_f64().expect("a number") + 0.1).abs() < 1e-12);
    assert!((summary["key_findings"]["top1_pis"].as_f64().expect("a number") - 20.0).abs() < 1e-12);
    assert!(summary["key_findings"]["top_vs_random_ratio"].is_null());
    for file in [
        "detailed_results.json",
        "pis_table.tex",
        "pis_macros.tex",
        "config.json",
        "results.json",
    ] {
        assert!(
            folder
                .path()
                .join("evaluation_plots/perturbation_analysis")
                .join(file)
                .exists(),
            "{file}"
        );
    }
}

#[test]
fn training_runs_are_refused_with_what_to_do() {
    let folder = predictions();
    for line in [
        "perturb evaluate --predictions p --replicates cnn=p*",
        "perturb evaluate --replicates cnn=p*",
    ] {
        let run = folder.run(line);
        assert!(
            run.code == 2 && run.stderr.contains("--replicates cnn=p*"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("evaluate each run"), "{}", run.stderr);
    }
    // What it says to do works.
    folder.good("perturb evaluate --predictions p --name run1 --output-dir a --no-figures");
    folder.good("perturb evaluate --predictions p --name run2 --output-dir b --no-figures");
    let model =
        |run: &str| folder.json(&format!("{run}/perturbation_analysis/results.json"))["scores"][0]["model"].clone();
    assert_eq!([model("a"), model("b")], ["run1", "run2"]);
}

#[test]
fn outputs_names_and_ids_say_the_same_as_numbers() {
    let folder = predictions();
    let expected = folder.results("perturb evaluate --predictions p --no-figures")["scores"].clone();
    // Head a as rows of outputs, in another order of samples.
    let order = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
    let wrong = [1, 2, 3, 4];
    let rows: Vec<f64> = order
        .iter()
        .flat_map(|row| if wrong.contains(row) { [0.1, 0.9] } else { [0.9, 0.1] })
        .collect();
    folder.write("p/top1_blackout/a.npy", &npy_f64(&[10, 2], &rows));
    folder.write("p/classes/a.txt", b"0\n1\n");
    let ids: Vec<i64> = (0..10).collect();
    for part in ["labels", "baseline", "top5_blackout"] {
        folder.write(&format!("p/{part}/ids.npy"), &npy_i64(&ids));
    }
    let backwards: Vec<i64> = order.iter().map(|&row| row as i64).collect();
    folder.write("p/top1_blackout/ids.npy", &npy_i64(&backwards));
    let joined = folder.results("perturb evaluate --predictions p --no-figures");
    assert_eq!(joined["scores"], expected);
    folder.write("p/top1_blackout/ids.npy", &npy_i64(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 99]));
    let run = folder.run("perturb evaluate --predictions p");
    assert!(
        run.code == 2 && run.stderr.contains("must be the same"),
        "{}",
        run.stderr
    );
}

#[test]
fn masks_on_disk_take_exactly_the_share_they_say() {
    let folder = tree();
    let line = "perturb generate --source images --output masked --percents 5 10 --kinds top bottom random";
    let run = folder.good(line);
    assert!(run.stdout.contains("720 images written"), "{}", run.stdout);
    let name = "QPSK/SNR_0/grayscale_QPSK_SNR_0_sample_3";
    let image = |path: String| {
        let file = std::fs::File::open(folder.path().join(path)).expect("a file");
        let decoder = png::Decoder::new(std::io::BufReader::new(file));
        let mut reader = decoder.read_info().expect("an image");
        assert_eq!(
            reader.output_color_type(),
            (png::ColorType::Grayscale, png::BitDepth::Eight)
        );
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut pixels).expect("pixels");
        pixels
    };
    let before = image(format!("images/{name}.png"));
    let lit = before.iter().filter(|&&x| x > 0).count();
    for (set, percent) in [("top5", 5), ("bottom10", 10), ("random5", 5)] {
        let after = image(format!("masked/{name}_{set}_blackout.png"));
        let changed = before.iter().zip(&after).filter(|(b, a)| b != a).count();
        assert_eq!(changed, (lit * percent).div_ceil(100), "{set}");
    }
    // The reference's rule takes all pixels of the dimmest value.
    folder.good("perturb generate --source images --output all --percents 5 --kinds bottom --rule threshold");
    let after = image(format!("all/{name}_bottom5_blackout.png"));
    assert!(after.iter().all(|&x| x == 0 || x == 200) && after.contains(&200));
    let table = folder.read("masked/masks.csv");
    assert_eq!(table.lines().count(), 721);
    // What is there stays; what is missing is made; other options need another folder.
    std::fs::remove_file(folder.path().join(format!("masked/{name}_top5_blackout.png"))).expect("a file");
    assert!(folder.good(line).stdout.starts_with("1 images written, 719 were there"));
    let run = folder.run(&format!("{line} --seed 1"));
    assert!(run.code == 2 && run.stderr.contains("other options"), "{}", run.stderr);
}

#[test]
fn a_classifier_is_measured_in_memory_and_from_files_alike_and_goes_on_where_it_was() {
    let folder = tree();
    let model = classifier();
    let line =
        format!("perturb evaluate --checkpoint {model} --images images --percents 5 20 --split all --no-figures");
    let run = folder.good(&format!("{line} --output-dir a --json"));
    let results: serde_json::Value = serde_json::from_str(&run.stdout).expect("one document");
    let accuracy = value(&results, "weights", "accuracy.modulation@baseline").expect("a number");
    assert!((0.0..=1.0).contains(&accuracy));
    folder.good("perturb generate --source images --output masked --percents 5 20");
    let files = folder.results(&format!("{line} --perturbation-dir masked --output-dir b"));
    assert_eq!(files["scores"], results["scores"]);
    // Stored predictions are scored again.
    let stored =
        folder.results("perturb evaluate --predictions a/predictions --name weights --output-dir c --no-figures");
    assert_eq!(stored["scores"], results["scores"]);
    // A set that is missing is computed again, and everything is as before.
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
    let before = bytes("a/results.json");
    std::fs::remove_dir_all(folder.path().join("a/predictions/bottom20_blackout")).expect("a folder");
    std::fs::create_dir_all(folder.path().join("a/predictions/random5_blackout.part")).expect("a folder");
    folder.good(&format!("{line} --output-dir a"));
    assert_eq!(before, bytes("a/results.json"));
    let examples = std::fs::read_dir(folder.path().join("a/perturbation_analysis/example_perturbations"));
    assert_eq!(examples.expect("examples").count(), 7);
    // One in ten of every class.
    let test = folder.good(&format!("{} --output-dir d", line.replace(" --split all", "")));
    assert!(test.stderr.contains("12 of 120 images"), "{}", test.stderr);
}

#[test]
fn what_does_not_fit_is_refused_with_both_numbers() {
    let folder = tree();
    let model = classifier();
    std::fs::rename(folder.path().join("images/QAM"), folder.path().join("images/QAM16")).expect("a folder");
    write_gray_png(
        &folder.path().join("few/A/SNR_0/x.png"),
        (SIDE, SIDE),
        &vec![9; SIDE * SIDE],
    )
    .expect("an image");
    write_gray_png(&folder.path().join("flat/x.png"), (SIDE, SIDE), &vec![9; SIDE * SIDE]).expect("an image");
    for (line, words) in [
        ("perturb evaluate --predictions nowhere".to_string(), &["nowhere"][..]),
        (
            format!("perturb evaluate --checkpoint {model} --images few --split all"),
            &["1 classes", "modulation 4"],
        ),
        (
            format!("perturb evaluate --checkpoint {model} --images flat --split all"),
            &["no folders"],
        ),
        (
            format!("perturb evaluate --checkpoint {model} --images images --exclude nothing"),
            &["--exclude nothing"],
        ),
        (
            format!("perturb evaluate --checkpoint {model} --images images --perturbation-dir few"),
            &["180 of 180", "are missing"],
        ),
        (
            format!("perturb evaluate --checkpoint {model} --images images --percents 0"),
            &["0 %"],
        ),
        ("perturb evaluate".to_string(), &["--predictions"]),
    ] {
        let run = folder.run(&line);
        assert_eq!(run.code, 2, "{line}\n{}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "{line}\n{word}\n{}", run.stderr);
        }
    }
    let refuse = |change: &dyn Fn(&Path), word: &str| {
        let folder = predictions();
        change(folder.path());
        let run = folder.run("perturb evaluate --predictions p");
        assert!(run.code == 2 && run.stderr.contains(word), "{word}\n{}", run.stderr);
    };
    refuse(
        &|p| std::fs::remove_file(p.join("p/top1_blackout/b.npy")).expect("a file"),
        "every folder needs the same",
    );
    refuse(
        &|p| std::fs::remove_dir_all(p.join("p/baseline")).expect("a folder"),
        "no folder `baseline`",
    );
    refuse(
        &|p| std::fs::create_dir(p.join("p/strange")).expect("a folder"),
        "strange",
    );
    refuse(
        &|p| repscope_io::write_integers(&p.join("p/top1_blackout/a.npy"), &[0; 9]).expect("a file"),
        "9",
    );
    refuse(
        &|p| repscope_io::write_integers(&p.join("p/labels/a.npy"), &[-1; 10]).expect("a file"),
        "-1",
    );
    refuse(
        &|p| repscope_io::write_whole(&p.join("p/top1_blackout/a.npy"), &npy_words(&["x"; 10])).expect("a file"),
        "numbers in others",
    );
}

/// The command line of the specification, as it is printed there.
const DOCUMENT: &str = "\
uv run python papers/ELSP_Paper/scripts/evaluate_perturbations.py \\
    --checkpoint checkpoints/best_model_resnet50_epoch_14.pth \\
    --perturbation-dir perturbed_constellations \\
    --output-dir papers/ELSP_Paper/results/perturbation_analysis \\
    --batch-size 256 \\
    --seed 42";
const RESULTS: &str = "papers/ELSP_Paper/results/perturbation_analysis";

/// The folder that the specification describes, with masked images beside the others.
fn of_document() -> (Folder, String) {
    let folder = tree_in("constellation_diagrams");
    let checkpoint = std::fs::read(repository("golden/models/two_head/checkpoint.pth")).expect("a checkpoint");
    folder.write("checkpoints/best_model_resnet50_epoch_14.pth", &checkpoint);
    folder.good("perturb generate");
    let script = "uv run python papers/ELSP_Paper/scripts/evaluate_perturbations.py";
    let line = DOCUMENT.replace(script, "perturb evaluate").replace("\\\n", " ");
    (folder, line)
}

#[test]
fn the_command_line_of_the_document_runs_as_printed() {
    let (folder, line) = of_document();
    let run = folder.good(&line);
    // The files are in the folder that was named, not in one of the same name inside it.
    for file in [
        "pis_summary.json",
        "detailed_results.json",
        "perturbation_impact_chart.png",
        "accuracy_degradation_curves.png",
        "pis_comparison_bar_chart.png",
        "pis_table.tex",
        "pis_macros.tex",
        "pis_sentences.tex",
        "config.json",
        "run.json",
        "results.json",
        "example_perturbations/composite.png",
        "example_perturbations/8PSK_SNR_-2_grayscale_8PSK_SNR_-2_sample_0_original.png",
    ] {
        let place = folder.path().join(RESULTS).join(file);
        let others: Vec<String> = folder.files().into_iter().filter(|f| f.contains("papers")).collect();
        assert!(
            place.is_file() || file.ends_with("_original.png"),
            "{file}\n{others:#?}"
        );
    }
    assert!(!folder.path().join(RESULTS).join("perturbation_analysis").exists());
    // All 15, each said as it finishes, and counted.
    let mut said = 0;
    for kind in ["top", "bottom", "random"] {
        for percent in 1..=5 {
            said += 1;
            let beginning = format!("{kind}{percent}_blackout ({said} of 15): combined accuracy 0.");
            let line = run.stderr.lines().find(|line| line.starts_with(&beginning));
            let line = line.unwrap_or_else(|| panic!("{beginning}\n{}", run.stderr));
            assert!(
                line.contains(", drop ") && line.contains(", PIS ") && line.contains("; snr accuracy 0."),
                "{line}"
            );
        }
    }
    // The answer first; three heads fit a screen, with the five values beside what is expected of them and what they can be.
    assert!(run.stdout.starts_with("Perturbation  at worst, "), "{}", run.stdout);
    assert!(run.stdout.lines().count() <= 40, "{}", run.stdout);
    for (name, expected) in [
        ("top1 ", "30 to 40"),
        ("top5 ", "15 to 25"),
        ("bottom1 ", "< 1"),
        ("bottom5 ", "< 1"),
        ("random1 ", "bottom to top"),
    ] {
        let line = run.stdout.lines().find(|line| line.starts_with(name));
        assert!(
            line.is_some_and(|line| line.contains(expected)),
            "{name}\n{}",
            run.stdout
        );
    }
    let run = folder.good(&format!("{line} --all --no-figures"));
    assert!(
        run.stdout
            .contains("✓ completeness: 15 of the 15 sets that kinds and percents ask for"),
        "{}",
        run.stdout
    );
    for (name, expected) in [
        ("top 1 % ", "30 to 40"),
        ("top 5 % ", "15 to 25"),
        ("bottom 1 % ", "< 1"),
        ("bottom 5 % ", "< 1"),
        ("random 1 % ", "bottom to top"),
    ] {
        let line = run.stdout.lines().find(|line| line.starts_with(name));
        assert!(
            line.is_some_and(|line| line.contains(expected)),
            "{name}\n{}",
            run.stdout
        );
    }
    let summary = folder.json(&format!("{RESULTS}/pis_summary.json"));
    let top = &summary["key_values"][1];
    let baseline = summary["baseline_accuracy"]["combined"].as_f64().expect("a number");
    assert_eq!(top["expected"], serde_json::json!([15.0, 25.0]));
    assert!((top["at_most"].as_f64().expect("a number") - baseline / 0.05).abs() < 1e-12);
    // Quiet is quiet.
    let quiet = folder.good(&format!("{line} --quiet --no-figures"));
    assert_eq!(quiet.stderr, "");
}

#[test]
fn times_are_in_a_file_of_their_own_and_the_results_the_same_bytes() {
    let (folder, line) = of_document();
    let line = format!("{line} --no-figures");
    folder.good(&line);
    let names = [
        "results.json",
        "pis_summary.json",
        "detailed_results.json",
        "config.json",
        "pis_macros.tex",
    ];
    let bytes = |name: &str| std::fs::read(folder.path().join(RESULTS).join(name)).expect(name);
    let before = names.map(bytes);
    let times = folder.json(&format!("{RESULTS}/run.json"));
    let sets = times["sets"].as_array().expect("sets");
    assert_eq!((sets.len(), &sets[0]["set"]), (16, &serde_json::json!("baseline")));
    for time in [&times["started"], &times["finished"], &sets[15]["started"]] {
        let time = time.as_str().expect("a time");
        assert!(
            time.len() == 20 && time.starts_with("20") && time.ends_with('Z'),
            "{time}"
        );
    }
    assert!(
        sets.iter()
            .all(|set| set["seconds"].is_number() && set["from"] == "this run"),
        "{sets:?}"
    );
    for name in ["results.json", "pis_summary.json", "detailed_results.json"] {
        assert!(!folder.read(&format!("{RESULTS}/{name}")).contains("started"), "{name}");
    }
    // Once more from what was kept, and once more from the beginning.
    folder.good(&line);
    let again = folder.json(&format!("{RESULTS}/run.json"));
    assert_eq!(again["sets"][3]["from"], "an earlier run");
    assert_eq!(before, names.map(bytes));
    std::fs::remove_dir_all(folder.path().join(RESULTS).join("predictions")).expect("a folder");
    folder.good(&line);
    assert_eq!(before, names.map(bytes));
}

#[test]
fn the_configuration_is_that_of_this_analysis_and_whole() {
    let (folder, line) = of_document();
    folder.good(&format!("{line} --no-figures --percents 1 5 --sample 24 --split all"));
    let config = folder.json(&format!("{RESULTS}/config.json"));
    for (key, value) in [
        ("batch_size", serde_json::json!(256)),
        ("seed", serde_json::json!(42)),
        ("percents", serde_json::json!([1.0, 5.0])),
        ("kinds", serde_json::json!(["top", "bottom", "random"])),
        ("images", serde_json::json!("constellation_diagrams")),
        ("perturbation_dir", serde_json::json!("perturbed_constellations")),
        ("sample", serde_json::json!(24)),
        ("split", serde_json::json!("all")),
        ("rule", serde_json::json!("exact")),
        ("fill", serde_json::json!("black")),
        ("runtime", serde_json::json!("auto")),
        ("scale", serde_json::json!(255.0)),
    ] {
        assert_eq!(config[key], value, "{key}: {config}");
    }
    for other in ["clid", "etes", "k", "keep", "clusters"] {
        assert!(config.get(other).is_none(), "{other}: {config}");
    }
    // The same share of every class: two of each of the twelve.
    let images = folder.read(&format!("{RESULTS}/predictions/images.txt"));
    assert_eq!(images.lines().count(), 24);
    for class in ["8PSK/SNR_-2/", "QPSK/SNR_10/"] {
        assert_eq!(
            images.lines().filter(|line| line.starts_with(class)).count(),
            2,
            "{class}"
        );
    }
}

#[test]
fn images_that_are_nowhere_are_asked_for() {
    let (folder, line) = of_document();
    std::fs::rename(
        folder.path().join("constellation_diagrams"),
        folder.path().join("other"),
    )
    .expect("a folder");
    let run = folder.run(&line);
    assert!(
        run.code == 2
            && run.stderr.contains("no folder constellation_diagrams")
            && run.stderr.contains("--images FOLDER"),
        "{}",
        run.stderr
    );
    folder.good(&format!("{line} --images other --no-figures"));
}

#[test]
fn a_family_that_loses_nothing_scores_exactly_nothing() {
    let folder = Folder::new();
    // 41 samples: a mean of weights in floating point would not be 0.
    for part in ["labels", "baseline", "top1", "top2", "top3", "top4", "top5"] {
        folder.write(&format!("p/{part}/a.npy"), &npy_i64(&[0; 41]));
    }
    // One sample lost and another gained in each.
    for (percent, lost) in [(1, 3), (2, 7), (3, 11), (4, 20), (5, 40)] {
        let mut codes = [0i64; 41];
        codes[lost] = 1;
        folder.write(&format!("p/bottom{percent}/a.npy"), &npy_i64(&codes));
    }
    let mut baseline = [0i64; 41];
    baseline[40] = 1;
    folder.write("q/baseline/a.npy", &npy_i64(&baseline));
    folder.write("q/labels/a.npy", &npy_i64(&[0; 41]));
    for (percent, lost) in [(1, 3), (2, 7), (3, 11), (4, 20), (5, 39)] {
        let mut codes = [0i64; 41];
        codes[lost] = 1;
        folder.write(&format!("q/top{percent}/a.npy"), &npy_i64(&codes));
    }
    for (model, accuracy) in [("p", 1.0), ("q", 40.0 / 41.0)] {
        let results = folder.results(&format!(
            "perturb evaluate --predictions {model} --no-figures --output-dir {model}.out"
        ));
        for (part, expected) in [("mean", 0.0), ("aopc", 0.0), ("deletion", accuracy)] {
            let found = value(&results, model, &format!("pis.a.{part}@top"));
            assert_eq!(found, Some(expected), "{model}: {part}");
        }
        let macros = folder.read(&format!("{model}.out/perturbation_analysis/pis_macros.tex"));
        let mean = macros
            .lines()
            .find(|line| line.contains("PISTopAMean}"))
            .expect("a command");
        assert!(mean.contains("{0.0") && !mean.contains("e-"), "{mean}");
        let summary = folder.json(&format!("{model}.out/perturbation_analysis/pis_summary.json"));
        assert_eq!(summary["families"]["top"]["a"]["mean"], serde_json::json!(0.0));
        let run = folder.good(&format!(
            "perturb evaluate --predictions {model} --no-figures --all --output-dir {model}.out"
        ));
        assert!(!run.stdout.contains("e-1"), "{}", run.stdout);
        // Nothing says whether a score that is 0 falls.
        assert!(run.stdout.contains("– monotonicity of top:"), "{}", run.stdout);
    }
}

#[test]
fn stored_predictions_are_complete_if_what_was_asked_for_is_there() {
    let folder = predictions();
    let run = folder.good("perturb evaluate --predictions p --no-figures");
    assert!(
        run.stdout
            .contains("✗ completeness: 2 of the 15 sets that kinds and percents ask for; missing: top2,"),
        "{}",
        run.stdout
    );
    let run = folder.good("perturb evaluate --predictions p --no-figures --kinds top --percents 1 5 --all");
    assert!(run.stdout.contains("✓ completeness: 2 of the 2 sets"), "{}", run.stdout);
}

#[test]
fn a_study_file_has_a_table_for_it() {
    let folder = predictions();
    std::fs::create_dir(folder.path().join("study")).expect("a folder");
    std::fs::rename(folder.path().join("p"), folder.path().join("study/p")).expect("a folder");
    let study = "only = [\"perturb\"]\nno_figures = true\noutput_dir = \"out\"\n[perturb]\npredictions = \"p\"\n\
                 kinds = [\"top\"]\npercents = [1, 5]\nexpect_baseline = { combined = \"0.8\" }\n";
    folder.write("study/study.toml", study.as_bytes());
    let results = folder.results("evaluate study/study.toml");
    let found = value(&results, "p", "pis.a@top1").expect("a score");
    assert!((found - 20.0).abs() < 1e-12);
    // The same bytes as by itself.
    let summary = folder.read("study/out/perturbation_analysis/pis_summary.json");
    folder.good(
        "perturb evaluate --predictions study/p --no-figures --kinds top --percents 1 5 --expect-baseline combined=0.8",
    );
    assert_eq!(
        summary,
        folder.read("evaluation_plots/perturbation_analysis/pis_summary.json")
    );
    let run = folder.good("evaluate study/study.toml --all");
    assert!(
        run.stdout.contains("Key values of combined") && run.stdout.contains("✓ baseline match"),
        "{}",
        run.stdout
    );
    assert!(folder.read("study/out/report.html").contains("pis.combined@top1"));
    // A model in the table, with images beside the file.
    let (folder, _) = of_document();
    let study = "only = [\"perturb\"]\nno_figures = true\noutput_dir = \"out\"\n[perturb]\n\
                 checkpoint = \"checkpoints/best_model_resnet50_epoch_14.pth\"\nimages = \"constellation_diagrams\"\n\
                 percents = [5]\nsplit = \"all\"\n";
    folder.write("study.toml", study.as_bytes());
    folder.good("evaluate study.toml");
    assert!(
        folder
            .path()
            .join("out/perturbation_analysis/predictions/top5_blackout")
            .is_dir()
    );
    let run = folder.good("evaluate study.toml --resume");
    assert!(run.stderr.contains("perturb: taken from"), "{}", run.stderr);
    folder.write("empty.toml", b"only = [\"perturb\"]\n[perturb]\npercents = [5]\n");
    let run = folder.run("evaluate empty.toml");
    assert!(
        run.code == 2 && run.stderr.contains("nothing to score"),
        "{}",
        run.stderr
    );
}
