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
                let name = format!("images/{modulation}/{ratio}/grayscale_{modulation}_{ratio}_sample_{sample}.png");
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
    folder.good("compare a/perturbation_analysis/results.json b/perturbation_analysis/results.json");
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
