// SPDX-License-Identifier: MIT
//! `repscope encode` and `repscope robustness` as a user runs them, with models that torch exported.

use crate::fixtures::{Folder, model, noise, npy_f64, value};

#[test]
fn embeddings_of_a_model_are_those_that_torch_gave() {
    let folder = Folder::new();
    let run = folder.good(&format!(
        "encode --encoder {} --input {} --output z.npy",
        model("mlp.onnx"),
        model("vectors.npy")
    ));
    assert!(run.stdout.starts_with("embeddings: z.npy ("), "{}", run.stdout);
    // The noise that leads from one to the other is rounding.
    let results = folder.results(&format!(
        "robustness --clean mlp=z.npy --noisy 1={}",
        model("mlp_z.npy")
    ));
    let distance = value(&results, "mlp", "robustness@1").expect("a number");
    assert!(distance < 1e-5, "{distance}");
}

#[test]
fn every_head_has_a_file_of_its_own_unless_one_is_chosen() {
    let folder = Folder::new();
    let line = format!(
        "encode --encoder {} --input {} --output z.npy",
        model("two_heads.onnx"),
        model("images.npy")
    );
    let run = folder.good(&line);
    assert!(
        run.stdout.contains("z.z.npy (37 x 8)") && run.stdout.contains("z.p.npy (37 x 5)"),
        "{}",
        run.stdout
    );
    let run = folder.good(&format!("{line} --output-name p"));
    assert!(run.stdout.contains("z.npy (37 x 5)"), "{}", run.stdout);
}

#[test]
fn an_encoder_scores_as_its_stored_embeddings_do_in_every_analysis() {
    let folder = Folder::new();
    let (mlp, vectors) = (model("mlp.onnx"), model("vectors.npy"));
    folder.good(&format!("encode --encoder {mlp} --input {vectors} --output z.npy"));
    for (command, states) in [
        ("smoothness", format!("--states {vectors}")),
        ("neighborhood --k 3", format!("--states {vectors}")),
        ("manifold", String::new()),
        ("geometry --clusters 3", String::new()),
        ("rankme", String::new()),
        ("clid --clusters 3", String::new()),
        ("evaluate --k 3 --skip clid,robustness", format!("--states {vectors}")),
    ] {
        let stored = folder.results(&format!("{command} {states} --model m=z.npy --no-figures"));
        let run = folder.results(&format!(
            "{command} --states {vectors} --model m={mlp} --no-figures --batch-size 5"
        ));
        assert_eq!(run["scores"], stored["scores"], "{command}");
    }
    let line = format!("compare --states {vectors} --k 3 --skip robustness --no-figures");
    let stored = folder.results(&format!("{line} --model a=z.npy --model b=z.npy"));
    let run = folder.results(&format!("{line} --model a={mlp} --model b={mlp}"));
    assert_eq!(run["scores"], stored["scores"]);
}

#[test]
fn an_encoder_makes_the_embeddings_of_next_states_too() {
    let folder = Folder::new();
    let (mlp, vectors) = (model("mlp.onnx"), model("vectors.npy"));
    folder.write("next.npy", &npy_f64(&[37, 12], &noise(5, 37 * 12)));
    for (input, output) in [(vectors.as_str(), "z.npy"), ("next.npy", "z1.npy")] {
        folder.good(&format!("encode --encoder {mlp} --input {input} --output {output}"));
    }
    let line = format!("smoothness --states {vectors} --next-states next.npy");
    let stored = folder.results(&format!("{line} --model m=z.npy,z1.npy"));
    let run = folder.results(&format!("{line} --model m={mlp}"));
    assert_eq!(run["scores"], stored["scores"]);
    let run = folder.run(&format!("{line} --model m=z.npy"));
    assert!(run.code == 2 && run.stderr.contains("NAME=Z,Z1"), "{}", run.stderr);
}

#[test]
fn an_encoder_makes_the_embeddings_of_reference_rows_and_of_rows_that_test() {
    let folder = Folder::new();
    let (mlp, vectors) = (model("mlp.onnx"), model("vectors.npy"));
    folder.write("other.npy", &npy_f64(&[30, 12], &noise(5, 30 * 12)));
    folder.write("y.npy", &npy_f64(&[37], &noise(6, 37)));
    folder.write("test_y.npy", &npy_f64(&[30], &noise(7, 30)));
    for (input, output) in [(vectors.as_str(), "z.npy"), ("other.npy", "other_z.npy")] {
        folder.good(&format!("encode --encoder {mlp} --input {input} --output {output}"));
    }
    let drift = "drift --permutations 19 --no-figures";
    let stored = folder.results(&format!("{drift} --model m=z.npy --against other_z.npy"));
    let states = format!("--states {vectors} --model m={mlp} --against-states other.npy");
    for line in [states.clone(), format!("{states} --against m={mlp}")] {
        let run = folder.results(&format!("{drift} {line}"));
        assert_eq!(run["scores"], stored["scores"], "{line}");
    }
    let probe = "probe --targets y.npy --test-targets test_y.npy --folds 3 --no-figures";
    let stored = folder.results(&format!("{probe} --model m=z.npy --test-model other_z.npy"));
    let states = format!("--states {vectors} --model m={mlp} --test-states other.npy");
    for line in [states.clone(), format!("{states} --test-model m={mlp}")] {
        let run = folder.results(&format!("{probe} {line}"));
        assert_eq!(run["scores"], stored["scores"], "{line}");
    }
    for (line, what) in [
        (format!("{drift} --model m=z.npy --against {mlp}"), "--against-states"),
        (
            format!("{drift} --model m=z.npy --against-states other.npy"),
            "z.npy holds embeddings",
        ),
        (format!("{probe} --model m=z.npy --test-model {mlp}"), "--test-states"),
        (
            format!("{probe} --model m=z.npy --test-states other.npy"),
            "z.npy holds embeddings",
        ),
    ] {
        let run = folder.run(&line);
        assert!(run.code == 2 && run.stderr.contains(what), "{line}: {}", run.stderr);
    }
}

#[test]
fn embeddings_are_kept_until_model_data_or_options_change() {
    let folder = Folder::new();
    folder.write("x.npy", &npy_f64(&[9, 12], &noise(5, 9 * 12)));
    let line = format!("encode --encoder {} --input x.npy --output z.npy", model("mlp.onnx"));
    let is_kept = |words: &str| folder.good(words).stderr.contains("earlier run");
    assert!(!is_kept(&line) && is_kept(&line));
    let first = std::fs::read(folder.path().join("z.npy")).expect("embeddings");
    assert!(!is_kept(&format!("{line} --no-cache")));
    assert_eq!(first, std::fs::read(folder.path().join("z.npy")).expect("embeddings"));
    assert!(!is_kept(&format!("{line} --scale 2")));
    assert_ne!(first, std::fs::read(folder.path().join("z.npy")).expect("embeddings"));
    // Another analysis takes the same embeddings, and says nothing of it in its results.
    let states = format!("manifold --states x.npy --model m={}", model("mlp.onnx"));
    let kept = folder.good(&format!("{states} --json"));
    assert!(kept.stderr.contains("earlier run"), "{}", kept.stderr);
    let computed = folder.good(&format!("{states} --json --no-cache"));
    assert_eq!(kept.stdout, computed.stdout);
    folder.write("x.npy", &npy_f64(&[9, 12], &noise(6, 9 * 12)));
    assert!(!is_kept(&line));
}

#[test]
fn heads_are_tensors_of_one_file_where_it_can_hold_them() {
    let folder = Folder::new();
    let run = folder.good(&format!(
        "encode --encoder {} --input {} --output z.safetensors",
        model("two_heads.onnx"),
        model("images.npy")
    ));
    assert!(
        run.stdout
            .contains("z.safetensors#z (37 x 8), z.safetensors#p (37 x 5)"),
        "{}",
        run.stdout
    );
    let results = folder.results(&format!(
        "robustness --clean m=z.safetensors#p --noisy 1={}",
        model("two_heads_p.npy")
    ));
    assert!(value(&results, "m", "robustness@1").expect("a number") < 1e-5);
}

#[test]
fn evaluate_measures_the_robustness_of_encoders_as_the_command_does() {
    let folder = Folder::new();
    let (mlp, vectors) = (model("mlp.onnx"), model("vectors.npy"));
    folder.good(&format!("encode --encoder {mlp} --input {vectors} --output z.npy"));
    let alone = folder.results(&format!(
        "robustness --states {vectors} --model m={mlp} --noise 0.1 0.5 --draws 2 --no-figures"
    ));
    folder.write(
        "study.toml",
        format!(
            "only = [\"robustness\"]\n[data]\nstates = \"{vectors}\"\n[models]\nm = \"{mlp}\"\ncodes = \"z.npy\"\n\
             [encoder]\nbatch_size = 7\n[robustness]\nnoise = [0.1, 0.5]\ndraws = 2\n"
        )
        .as_bytes(),
    );
    let whole = folder.results("evaluate study.toml --no-figures");
    assert_eq!(whole["scores"], alone["scores"]);
    assert!(
        folder
            .path()
            .join("evaluation_plots/robustness_analysis/robustness_summary.csv")
            .exists()
    );
    let run = folder.run("evaluate z.npy --only robustness");
    assert!(
        run.code == 2 && run.stderr.contains("robustness cannot run"),
        "{}",
        run.stderr
    );
    let both = folder.results(&format!(
        "compare --states {vectors} --model a={mlp} --model b={mlp} --only robustness --no-figures"
    ));
    assert_eq!(
        value(&both, "a", "robustness@0.1"),
        value(&alone, "m", "robustness@0.1").and(value(&both, "b", "robustness@0.1"))
    );
}

#[test]
fn every_model_sees_the_same_noise_and_more_noise_moves_embeddings_farther() {
    let folder = Folder::new();
    let line = format!(
        "robustness --states {} --model a={mlp} --model b={mlp} --noise 0.01 0.1 1 --no-figures",
        model("vectors.npy"),
        mlp = model("mlp.onnx")
    );
    let results = folder.results(&line);
    let of = |who: &str, level: &str| value(&results, who, &format!("robustness.scaled@{level}")).expect("a number");
    for level in ["0.01", "0.1", "1"] {
        assert_eq!(of("a", level), of("b", level));
    }
    assert!(0.0 < of("a", "0.01") && of("a", "0.01") < of("a", "0.1") && of("a", "0.1") < of("a", "1"));
    let again = folder.results(&format!("{line} --threads 1 --batch-size 3"));
    assert_eq!(again["scores"], results["scores"]);
    let other = folder.results(&format!("{line} --seed 7"));
    assert_ne!(other["scores"], results["scores"]);
    let summary = folder.read("evaluation_plots/robustness_analysis/robustness_summary.csv");
    assert_eq!(summary.lines().count(), 7, "{summary}");
    assert!(
        summary.starts_with("Model,Noise_Level,Mean_Distance,Std_Error,Std_Dev,Min_Distance,"),
        "{summary}"
    );
}

#[test]
fn stored_embeddings_give_the_distances_of_a_hand_calculation() {
    let folder = Folder::new();
    folder.write("z.npy", &npy_f64(&[2, 2], &[3.0, 4.0, 1.0, 0.0]));
    folder.write("n.npy", &npy_f64(&[2, 2], &[6.0, 8.0, 0.0, 1.0]));
    let results = folder.results("robustness --clean m=z.npy --noisy m@0.5=n.npy");
    // (3, 4) moves by 5 along its own direction, (1, 0) by √2 across.
    let expected = f64::midpoint(5.0, 2f64.sqrt());
    assert!((value(&results, "m", "robustness@0.5").expect("a number") - expected).abs() < 1e-12);
    assert!((value(&results, "m", "robustness.unit@0.5").expect("a number") - 2f64.sqrt() / 2.0).abs() < 1e-12);
}

#[test]
fn a_model_that_gives_one_code_for_everything_is_warned_of() {
    let folder = Folder::new();
    folder.write("z.npy", &npy_f64(&[3, 2], &[1.0; 6]));
    let run = folder.good("robustness --clean m=z.npy --noisy m@0.5=z.npy");
    assert!(run.stderr.contains("nearly one point for all inputs"), "{}", run.stderr);
    let document = folder.json("evaluation_plots/results.json");
    assert_eq!(value(&document, "m", "robustness.scaled@0.5"), None);
}

#[test]
fn what_cannot_be_run_is_refused_with_both_sides() {
    let folder = Folder::new();
    folder.write("z.npy", &npy_f64(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0]));
    folder.write("w.npy", &npy_f64(&[2, 2], &[1.0; 4]));
    folder.write("broken.onnx", b"not a model");
    let (mlp, determinant) = (model("mlp.onnx"), model("determinant.onnx"));
    for (line, words) in [
        (
            format!("encode --encoder {mlp} --input z.npy --output c.npy"),
            &["(2", "(12"][..],
        ),
        (
            "encode --encoder gone.onnx --input z.npy --output c.npy".to_string(),
            &["no model gone.onnx"],
        ),
        (
            "encode --encoder broken.onnx --input z.npy --output c.npy".to_string(),
            &["broken.onnx"],
        ),
        (
            "encode --encoder z.npy --input z.npy --output c.npy".to_string(),
            &["z.npy"],
        ),
        (
            format!("encode --encoder {mlp} --input z.npy --output c.txt"),
            &["c.txt", ".npy", ".safetensors"],
        ),
        (
            format!(
                "encode --encoder {determinant} --runtime builtin --input {} --output c.npy",
                model("matrices.npy")
            ),
            &["Det", "runtime onnxruntime"],
        ),
        (
            "manifold --model broken.onnx".to_string(),
            &["is an encoder", "--states"],
        ),
        (
            "evaluate --model broken.onnx".to_string(),
            &["is an encoder", "--states"],
        ),
        (
            "manifold --states z.npy --model broken.onnx".to_string(),
            &["broken.onnx"],
        ),
        (
            "geometry --model z.npy --labels broken.onnx".to_string(),
            &["is an encoder", "repscope encode"],
        ),
        (
            "robustness --states z.npy --model z.npy".to_string(),
            &["holds embeddings", "--clean"],
        ),
        (
            format!(
                "manifold --states {} --model {}",
                model("images.npy"),
                model("two_heads.onnx")
            ),
            &["outputs z, p", "--output-name"],
        ),
        (
            format!("encode --encoder {mlp} --input z.npy --output c.npy --provider cuda"),
            &["runtime onnxruntime"],
        ),
        (
            "robustness --clean z.npy --noisy 0.1=w.npy".to_string(),
            &["2 x 2", "3 x 2"],
        ),
        (
            "robustness --clean z.npy --noisy a@0.1=w.npy".to_string(),
            &["no model is called `a`", "z"],
        ),
        (
            "robustness --clean z.npy --noisy w.npy".to_string(),
            &["NAME@LEVEL=PATH"],
        ),
        (
            "robustness --clean z.npy --noisy 0=z.npy".to_string(),
            &["must be above 0"],
        ),
        (
            format!("robustness --states z.npy --model {mlp} --noise 0"),
            &["gaussian noise of 0"],
        ),
        (
            format!("robustness --states z.npy --model {mlp} --kind blur --noise 9"),
            &["severity from 1 to 5"],
        ),
        (
            format!("robustness --states z.npy --model {mlp} --clamp 3 1"),
            &["--clamp 3 1"],
        ),
        (
            format!("robustness --states z.npy --model {mlp} --draws 0"),
            &["--draws 0"],
        ),
        (format!("robustness --model {mlp}"), &["--states"]),
    ] {
        let run = folder.run(&line);
        assert_eq!(run.code, 2, "{line}\n{}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "{line}\n{word}\n{}", run.stderr);
        }
        assert!(!run.stderr.contains("panicked"), "{line}\n{}", run.stderr);
    }
    assert!(!folder.path().join("c.npy").exists());
}
