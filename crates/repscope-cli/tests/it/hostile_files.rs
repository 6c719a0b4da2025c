// SPDX-License-Identifier: MIT
//! Files that are made to take memory, to steer a terminal or to write elsewhere: the command says what is wrong and exits with code 2.

use std::process::Command;

use repscope_io::{Column, write_gray_png, write_parquet};
use repscope_models::graph::{Dim, Element, GraphBuilder};

use crate::fixtures::{Folder, npy, npy_f64, npy_words, npz};

#[test]
fn the_memory_limit_holds_for_reading() {
    let folder = Folder::new();
    let zeros = vec![0; 8 << 20];
    folder.write("z.npz", &npz(&[("z", npy("<i8", &[1 << 20, 1], &zeros))]));
    let column = Column::Numbers(vec![Some(1.5); 1 << 20]);
    write_parquet(&folder.path().join("z.parquet"), &[("z".to_string(), column)]).unwrap();
    let long = Some("x".repeat(1 << 20));
    let column = Column::Texts(vec![long; 40]);
    write_parquet(&folder.path().join("y.parquet"), &[("y".to_string(), column)]).unwrap();
    let packed = folder.path().join("z.npz").metadata().unwrap().len();
    assert!(packed < 100_000, "{packed}");
    for (line, size) in [
        ("rankme --model z=z.npz", "8.0 MiB"),
        ("rankme --model z=z.parquet", "8.0 MiB"),
        ("geometry --model z=z.npz --labels y.parquet", "4.0 MiB"),
    ] {
        let before = folder.files();
        let run = folder.run(&format!("{line} --memory 4M"));
        assert_eq!(run.code, 2, "{line}: {}", run.stderr);
        assert!(
            run.stderr.contains("takes at least") && run.stderr.contains("--memory 4.0 MiB"),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains(size), "{line}: {}", run.stderr);
        assert_eq!(folder.files(), before);
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_instead_of_waited_for() {
    let folder = Folder::with_arrays();
    for name in ["z.npy.pipe", "pipe.npy", "pipe.onnx", "pipe.toml", "results.json"] {
        let made = Command::new("mkfifo").arg(folder.path().join(name)).status();
        assert!(made.is_ok_and(|status| status.success()));
    }
    for line in [
        "check pipe.npy",
        "rankme --model pipe.npy",
        "encode --encoder pipe.onnx --input x.npy --output y.npy",
        "evaluate pipe.toml",
        "report results.json",
    ] {
        let run = folder.run(line);
        assert_eq!(run.code, 2, "{line}: {}", run.stderr);
        assert!(run.stderr.contains("pipe or a device"), "{line}: {}", run.stderr);
    }
}

#[test]
fn no_name_in_a_file_steers_the_terminal() {
    let folder = Folder::with_arrays();
    let odd = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}2J\u{202e}x";
    let words: Vec<&str> = (0..60).map(|i| [odd, "dog"][i % 2]).collect();
    folder.write("odd.npy", &npy_words(&words));
    folder.write("odd.npz", &npz(&[(odd, npy_words(&words)), ("b", npy_words(&["a"]))]));
    let named = format!("{odd}.npy");
    folder.write(&named, b"no array");
    for words in [
        &["check", "odd.npy"][..],
        &["check", "odd.npz"],
        &["check", "--json", "odd.npz"],
        &["check", &named],
        &["rankme", "--model", "odd.npz"],
        &["rankme", "--model", "odd.npy"],
        &["geometry", "--model", "z.npy", "--labels", "odd.npy"],
    ] {
        let run = folder.run_words(words);
        for text in [&run.stdout, &run.stderr] {
            let is_odd = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
            assert!(!text.contains(is_odd), "{words:?}: {text:?}");
        }
    }
    for words in [
        &[odd][..],
        &["check", &format!("--{odd}")],
        &["rankme", "--level", odd],
        &["rankme", "--model", "z.npy", "--format", odd],
        &["explain", odd],
    ] {
        let run = folder.run_words(words);
        let is_odd = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!run.stderr.contains(is_odd), "{words:?}: {:?}", run.stderr);
        assert!(
            run.code == 2 && run.stderr.contains("\\u001b]0;title"),
            "{words:?}: {:?}",
            run.stderr
        );
    }
    let shown = folder.run("check odd.npy").stdout;
    assert!(shown.contains("\\u001b]0;title\\u0007"), "{shown}");
    let json = folder.run("check --json odd.npy").stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let classes = json["arrays"][0]["facts"]["labels"]["classes"]
        .as_array()
        .expect("a list");
    assert!(classes.iter().any(|class| class["name"] == odd), "{json}");
}

#[test]
fn csv_files_hold_no_formulas_unless_they_are_asked_for() {
    let folder = Folder::with_arrays();
    let pixels: Vec<u8> = (0..64).collect();
    let names = ["=cmd()/a.png", "-10dB/b.png", "-10/c.png"];
    for name in names {
        write_gray_png(&folder.path().join("images").join(name), (8, 8), &pixels).unwrap();
    }
    let line = "perturb generate --source images --percents 5 --kinds top --output";
    folder.good(&format!("{line} masked"));
    let table = folder.read("masked/masks.csv");
    for row in ["'=cmd()/a.png,top5,", "'-10dB/b.png,top5,", "'-10/c.png,top5,"] {
        assert!(table.contains(&format!("\n{row}")), "{row}: {table}");
    }
    folder.good(&format!("{line} kept --keep-formulas"));
    let kept = folder.read("kept/masks.csv");
    for name in names {
        assert!(kept.contains(&format!("\n{name},top5,")), "{kept}");
    }

    let z = "--model +z=z.npy --no-figures";
    let first = |run: crate::fixtures::Run| run.stdout.lines().nth(1).unwrap_or_default().to_string();
    assert!(first(folder.good(&format!("rankme {z} --format csv"))).starts_with("'+z,"));
    assert!(first(folder.good(&format!("rankme {z} --format csv --keep-formulas"))).starts_with("+z,"));
    folder.write(
        "study.toml",
        b"only = [\"rankme\"]\nkeep_formulas = true\nno_figures = true\n[models]\n\"+z\" = \"z.npy\"\n",
    );
    folder.good("evaluate study.toml --output-dir study");
    let summary = folder
        .files()
        .into_iter()
        .find(|name| name.ends_with("rankme_summary.csv") && name.starts_with("study/"));
    assert!(folder.read(&summary.expect("a table")).contains("\n+z,"));
    folder.good("report study --output-dir again --no-figures");
    let again = folder
        .files()
        .into_iter()
        .find(|name| name.ends_with("rankme_summary.csv") && name.starts_with("again/"));
    assert!(folder.read(&again.expect("a table")).contains("\n'+z,"));
}

/// A graph with outputs of these names, each of three numbers out of 16 pixels.
fn graph(outputs: &[&str]) -> Vec<u8> {
    let mut graph = GraphBuilder::new("named");
    let dims = [Dim::named("batch"), Dim::Fixed(1), Dim::Fixed(4), Dim::Fixed(4)];
    let x = graph.input("x", Element::Float, &dims);
    let flat = graph.node("Flatten", &[&x], &[]);
    let weights: Vec<f32> = (0..48).map(|i| f32::from(u8::from((i / 3) % 4 == i % 3))).collect();
    let weights = graph.weight("w", &[16, 3], &weights).unwrap();
    for name in outputs {
        let logits = graph.node("MatMul", &[&flat, &weights], &[]);
        graph.output(&logits, name, Element::Float, &[Dim::named("batch"), Dim::Fixed(3)]);
    }
    graph.finish().unwrap()
}

#[test]
fn the_outputs_of_a_model_name_no_files_elsewhere() {
    let folder = Folder::new();
    for (column, class) in ["ant", "mole", "zebra"].iter().enumerate() {
        for sample in 0..12_u8 {
            let pixels: Vec<u8> = (0..16)
                .map(|pixel| u8::from(pixel % 4 == column) * (100 + sample))
                .collect();
            let file = folder.path().join(format!("images/{class}/{sample}.png"));
            write_gray_png(&file, (4, 4), &pixels).unwrap();
        }
    }
    folder.write("victim.npy", b"precious");
    folder.write("out/x.txt", b"");
    for name in ["../../../victim", "../victim", "a/b", "masked", "..", "a\u{1b}[2J"] {
        folder.write("m.onnx", &graph(&[name]));
        let before = folder.files();
        let run = folder.run("perturb evaluate --images images --checkpoint m.onnx --split all --output-dir out/run");
        assert_eq!(run.code, 2, "{name}: {}", run.stderr);
        assert!(run.stderr.contains("--head-names"), "{name}: {}", run.stderr);
        assert_eq!(folder.files(), before, "{name}");
        assert_eq!(folder.read("victim.npy"), "precious");
    }
}

#[test]
fn two_outputs_that_would_be_one_file_are_an_error() {
    let folder = Folder::new();
    folder.write("x.npy", &npy_f64(&[6, 1, 4, 4], &[0.5; 96]));
    folder.write("m.onnx", &graph(&["a/b", "a_b"]));
    let run = folder.run("encode --encoder m.onnx --input x.npy --output z.npy");
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(
        run.stderr.contains("one file") && run.stderr.contains("a/b"),
        "{}",
        run.stderr
    );
    assert!(!folder.files().iter().any(|file| file.starts_with("z.")));
    folder.write("m.onnx", &graph(&["/a/b", "../c"]));
    folder.good("encode --encoder m.onnx --input x.npy --output z.npy");
    let files = folder.files();
    assert!(
        files.contains(&"z._a_b.npy".to_string()) && files.contains(&"z.___c.npy".to_string()),
        "{files:?}"
    );
}

#[test]
fn a_damaged_results_document_is_an_error() {
    let folder = Folder::with_arrays();
    let whole = folder.results("evaluate z.npy --labels labels.npy --no-figures");
    let lists = ["curves", "breakdowns"].map(|list| whole[list].as_array().map_or(0, Vec::len));
    assert!(lists.iter().all(|&count| count > 0), "{lists:?}");
    let mut longer = whole.clone();
    longer["curves"][0]["x"].as_array_mut().unwrap().push(1.0.into());
    let mut ragged = whole.clone();
    ragged["breakdowns"][0]["columns"][0]["values"]
        .as_array_mut()
        .unwrap()
        .clear();
    for document in [longer, ragged] {
        folder.write("bad/results.json", document.to_string().as_bytes());
        let run = folder.run("report bad/results.json --output-dir bad/out");
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains("is damaged"), "{}", run.stderr);
        assert!(!folder.path().join("bad/out").exists());
    }
}

#[test]
fn all_arrays_of_a_file_of_thousands_are_looked_at() {
    let folder = Folder::new();
    let array = npy_f64(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let names: Vec<String> = (0..2000).map(|i| format!("t{i}")).collect();
    let members: Vec<(&str, Vec<u8>)> = names.iter().map(|name| (name.as_str(), array.clone())).collect();
    folder.write("many.npz", &npz(&members));
    let columns: Vec<String> = (0..1500)
        .map(|i| if i == 0 { "word".to_string() } else { i.to_string() })
        .collect();
    let header: Vec<String> = (0..1500).map(|i| format!("c{i}")).collect();
    let lines = vec![columns.join(","); 30];
    folder.write(
        "wide.csv",
        format!("{}\n{}\n", header.join(","), lines.join("\n")).as_bytes(),
    );
    for (file, count) in [("many.npz", 2000), ("wide.csv", 1500)] {
        let shown = folder.good(&format!("check {file}")).stdout;
        let heads = shown
            .lines()
            .filter(|line| line.starts_with(&format!("{file}#")))
            .count();
        assert_eq!(heads, count, "{file}");
    }
}
