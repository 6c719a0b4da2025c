// SPDX-License-Identifier: MIT
//! The command lines of the specification documents 000, 001 and 002, as they are printed there: only the name of the program changes.

use std::path::Path;

use repscope_core::{Analysis, METRICS};
use repscope_io::Weights;
use serde_json::Value;

use crate::fixtures::{Folder, Run, command, model, noise, npy_f64, npy_words, repository, score, value};

/// A command line of a document: the program is left out, and lines that end in a backslash are joined.
fn typed(document: &str) -> Vec<String> {
    let joined = document.replace("\\\n", " ");
    let words = joined.split_whitespace().map(str::to_string);
    words.skip_while(|word| !word.starts_with("--")).collect()
}

/// Runs words in a folder, with a Hugging Face cache of its own.
fn run_with_cache(folder: &Folder, cache: &Path, words: &[String]) -> Run {
    let mut command = command(folder.path());
    for name in ["HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"] {
        command.env_remove(name);
    }
    let output = command
        .env("HF_HOME", cache)
        .args(words)
        .output()
        .expect("the command starts");
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("stdout is text"),
        stderr: String::from_utf8(output.stderr).expect("stderr is text"),
    }
}

/// Text with single spaces, so that it does not matter where lines are broken.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

// ---------------------------------------------------------------- document 000

/// What `torch.save` writes of a dict of tensors.
mod torch {
    use std::io::Write;

    /// A tensor: its name, its type, its sizes and its bytes.
    pub type Tensor<'a> = (&'a str, &'static str, Vec<usize>, Vec<u8>);

    pub fn floats<'a>(name: &'a str, shape: &[usize], values: &[f32]) -> Tensor<'a> {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        (name, "FloatStorage", shape.to_vec(), bytes)
    }

    pub fn save(tensors: &[Tensor]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        let mut add = |name: &str, bytes: &[u8]| {
            archive
                .start_file(format!("archive/{name}"), stored)
                .expect("a new member");
            archive.write_all(bytes).expect("memory can be written");
        };
        add("data.pkl", &pickle(tensors));
        for (at, (.., bytes)) in tensors.iter().enumerate() {
            add(&format!("data/{at}"), bytes);
        }
        add("version", b"3\n");
        archive.finish().expect("a whole archive").into_inner()
    }

    /// Protocol 2: a dict of calls of `torch._utils._rebuild_tensor_v2`.
    fn pickle(tensors: &[Tensor]) -> Vec<u8> {
        let mut out = b"\x80\x02}(".to_vec();
        let number = |out: &mut Vec<u8>, number: usize| {
            out.push(b'J');
            out.extend((number as i32).to_le_bytes());
        };
        let text = |out: &mut Vec<u8>, text: &str| {
            out.push(b'X');
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text.as_bytes());
        };
        for (at, (name, storage, shape, _)) in tensors.iter().enumerate() {
            text(&mut out, name);
            out.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
            text(&mut out, "storage");
            out.extend(format!("ctorch\n{storage}\n").as_bytes());
            text(&mut out, &at.to_string());
            text(&mut out, "cpu");
            number(&mut out, shape.iter().product());
            out.extend(b"tQ");
            number(&mut out, 0);
            let strides = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product::<usize>());
            for sizes in [shape.clone(), strides.collect()] {
                out.push(b'(');
                sizes.iter().for_each(|&size| number(&mut out, size));
                out.push(b't');
            }
            out.extend(b"\x89ccollections\nOrderedDict\n)RtR");
        }
        out.extend(b"u.");
        out
    }
}

const FRAMES: usize = 24;
const DATASET: &str = "datasets/assault_rep_8.pth";

/// The weights of a frame encoder as a `.pth`.
fn encoder(activation: &str) -> Vec<u8> {
    let path = repository(&format!("golden/models/conv_encoder_{activation}/weights.safetensors"));
    let weights = Weights::open(Path::new(&path), None).expect("weights");
    let tensors: Vec<torch::Tensor> = weights
        .names()
        .map(|name| {
            let shape = weights.shape(name).expect("a shape").to_vec();
            torch::floats(name, &shape, &weights.values(name).expect("values"))
        })
        .collect();
    torch::save(&tensors)
}

/// Frames of bytes in which a bright square moves, four episodes of six.
fn dataset() -> Vec<u8> {
    let mut states = Vec::new();
    for frame in 0..FRAMES {
        let (row, column) = (2 * (frame % 6) + 10 * (frame / 6), 3 * (frame % 6) + 4);
        let is_lit = |at: usize| (row..row + 9).contains(&(at / 64)) && (column..column + 9).contains(&(at % 64));
        states.extend((0..64 * 64).map(|at| {
            if is_lit(at) {
                255.0
            } else {
                (at * (frame + 3) % 11) as f32
            }
        }));
    }
    let stops = (0..FRAMES).map(|frame| u8::from(frame % 6 == 5)).collect();
    torch::save(&[
        torch::floats("states", &[FRAMES, 1, 64, 64], &states),
        ("stop_episodes", "BoolStorage", vec![FRAMES], stops),
    ])
}

/// A folder as document 000 expects it.
fn project() -> Folder {
    let folder = Folder::new();
    folder.write("weights/jepa/best_encoder.pth", &encoder("silu"));
    folder.write("weights/encoder_decoder/best_encoder.pth", &encoder("relu"));
    folder.write(DATASET, &dataset());
    folder
}

#[test]
fn evaluate_without_any_option_finds_the_encoders_and_the_dataset_of_document_000() {
    let folder = project();
    // Neither of these is at a place that is looked at.
    folder.write("weights/jepa/last_encoder.pth", b"no encoder");
    folder.write("weights/readme.txt", b"no folder");
    folder.write("old/weights/other/best_encoder.pth", b"elsewhere");
    let run = folder.good("evaluate");
    let found = "no model is given; found the encoders `encoder_decoder` (weights/encoder_decoder/best_encoder.pth), `jepa` \
                 (weights/jepa/best_encoder.pth) in weights; the states datasets/assault_rep_8.pth";
    assert_eq!(run.stderr.lines().next(), Some(found), "{}", run.stderr);
    // Without labels nothing is said about classes.
    assert!(
        !run.stdout.contains("the classes") && !run.stdout.contains("by the labels"),
        "{}",
        run.stdout
    );
    for figure in [
        "smoothness_analysis/smoothness_comparison.png",
        "robustness_analysis/robustness_comparison.png",
        "neighborhood_preservation/neighborhood_preservation.png",
        "manifold_dimension/manifold_dimension_analysis.png",
        "geometry_analysis/geometry_analysis.png",
    ] {
        let path = folder.path().join("evaluation_plots").join(figure);
        assert!(path.is_file(), "{figure}\n{}", run.stderr);
    }
    // The same as by name, and the page says so.
    let all = folder.json("evaluation_plots/results.json");
    let named = folder.results(&format!(
        "evaluate --states {DATASET} --model encoder_decoder=weights/encoder_decoder/best_encoder.pth \
         --model jepa=weights/jepa/best_encoder.pth --no-figures --output-dir named"
    ));
    assert_eq!(all["scores"], named["scores"]);
    assert!(all["scores"].to_string().contains("robustness.scaled.auc"));
    let page = folder.read("evaluation_plots/report.html");
    assert!(
        page.contains("weights/jepa/best_encoder.pth"),
        "the command line of the page names the encoders"
    );
}

#[test]
fn each_script_of_document_000_runs_without_options() {
    let folder = project();
    for (name, figure) in [
        ("smoothness", "smoothness_analysis/smoothness_comparison"),
        ("robustness", "robustness_analysis/robustness_comparison"),
        (
            "neighborhood_preservation",
            "neighborhood_preservation/neighborhood_preservation",
        ),
        ("manifold_dimension", "manifold_dimension/manifold_dimension_analysis"),
        ("geometry", "geometry_analysis/geometry_analysis"),
    ] {
        let run = folder.good(name);
        assert!(
            run.stderr.starts_with("no model is given; found the encoders "),
            "{name}\n{}",
            run.stderr
        );
        assert!(
            run.stdout.contains("jepa") && run.stdout.contains("encoder_decoder"),
            "{}",
            run.stdout
        );
        let path = format!("evaluation_plots/{figure}.png");
        assert!(folder.path().join(&path).is_file(), "{path}");
    }
    // With --quiet nothing is said, and nothing else changes.
    assert_eq!(folder.good("manifold --quiet --no-figures").stderr, "");
}

#[test]
fn what_is_not_unique_is_listed_and_what_is_missing_is_named() {
    let folder = project();
    folder.write("datasets/broken.pth", b"no checkpoint");
    let run = folder.run("evaluate");
    assert_eq!(run.code, 2);
    for fact in [
        "datasets holds 2 datasets",
        "--states PATH",
        "datasets/assault_rep_8.pth (24 states)",
        "datasets/broken.pth",
    ] {
        assert!(run.stderr.contains(fact), "{fact}\n{}", run.stderr);
    }
    assert!(!folder.path().join("evaluation_plots").exists(), "nothing is written");
    folder.good(&format!("manifold --states {DATASET} --no-figures"));
    folder.write("weights/jepa/best_encoder.onnx", b"another");
    let run = folder.run("geometry");
    for fact in [
        "weights/jepa holds",
        "best_encoder.onnx",
        "best_encoder.pth",
        "--model jepa=PATH",
    ] {
        assert!(run.code == 2 && run.stderr.contains(fact), "{fact}\n{}", run.stderr);
    }

    let folder = Folder::new();
    folder.write("weights/jepa/best_encoder.pth", &encoder("silu"));
    let run = folder.run("evaluate");
    assert!(
        run.code == 2 && run.stderr.contains("give it with --states PATH"),
        "{}",
        run.stderr
    );
    let run = Folder::new().run("evaluate");
    assert!(
        run.code == 2 && run.stderr.contains("no model is given"),
        "{}",
        run.stderr
    );
    let run = Folder::with_arrays().run("smoothness --model z.npy");
    assert!(run.code == 2 && run.stderr.contains("--states PATH"), "{}", run.stderr);
}

#[test]
fn only_and_skip_take_the_names_of_document_000() {
    let folder = Folder::with_arrays();
    let line = "evaluate --states x.npy --model z.npy --ordered --no-figures";
    let analyses = |words: &str| {
        let results = folder.results(&format!("{line} {words}"));
        let names = results["spec"]["analyses"].as_object().expect("analyses by name");
        let mut names: Vec<&str> = names.keys().map(String::as_str).collect();
        names.sort_unstable();
        names.join(" ")
    };
    assert_eq!(
        analyses("--only neighborhood_preservation manifold_dimension"),
        "manifold neighborhood"
    );
    let all = "smoothness_analysis robustness_analysis neighborhood_preservation manifold_dimension geometry_analysis";
    assert_eq!(analyses(&format!("--skip {all}")), "clid rankme");
    folder.write(
        "study.toml",
        b"only = [\"manifold_dimension\"]\n[data]\nstates = \"x.npy\"\n[models]\nz = \"z.npy\"\n",
    );
    let results = folder.results("evaluate study.toml --no-figures");
    assert_eq!(results["spec"]["analyses"].as_object().map(|own| own.len()), Some(1));
    let run = folder.run(&format!("{line} --only manifold_dimensions"));
    assert!(run.code == 2 && run.stderr.contains("manifold"), "{}", run.stderr);
}

#[test]
fn robustness_says_what_sigma_is_measured_in_and_which_levels_fit() {
    let folder = Folder::new();
    let mut bytes: Vec<f64> = noise(7, 60 * 12).iter().map(|x| (127.5 * (x + 1.0)).round()).collect();
    (bytes[0], bytes[1]) = (0.0, 255.0);
    folder.write("frames.npy", &npy_f64(&[60, 12], &bytes));
    let unit: Vec<f64> = bytes.iter().map(|x| x / 255.0).collect();
    folder.write("unit.npy", &npy_f64(&[60, 12], &unit));
    let line = |states: &str, more: &str| {
        format!(
            "robustness --states {states} --model m={} --no-figures {more}",
            model("mlp.onnx")
        )
    };
    let said = |states: &str, more: &str| plain(&folder.good(&line(states, more)).stdout);
    let text = said("frames.npy", "");
    let unit = "σ = 2.55, 12.75, 25.5, 38.25, 51 in the units of the inputs, which reach from 0 to 255";
    let at = text.find(unit).unwrap_or_else(|| panic!("{text}"));
    assert!(
        at < text.find("metric").expect("a table"),
        "the first lines say it\n{text}"
    );
    assert!(said("unit.npy", "").contains("σ = 0.01, 0.05, 0.1, 0.15, 0.2 in the units of the inputs"));
    assert!(said("unit.npy", "--kind blur").contains("severities from 1 to 5"));
    // The levels of the document for frames of bytes are hardly any noise.
    let run = folder.good(&line("frames.npy", "--noise 0.01 0.05 0.1 0.15 0.2"));
    assert!(
        run.stderr
            .contains("hardly any. Levels that fit: --noise 2.55 12.75 25.5 38.25 51"),
        "{}",
        run.stderr
    );
    assert!(
        !folder
            .good(&line("unit.npy", "--noise 0.01 0.2"))
            .stderr
            .contains("hardly any")
    );
    assert!(!folder.good(&line("frames.npy", "")).stderr.contains("hardly any"));
}

#[test]
fn a_flat_curve_of_distances_has_a_slope_of_its_own() {
    let folder = Folder::new();
    let clean = noise(3, 40 * 4);
    folder.write("z.npy", &npy_f64(&[40, 4], &clean));
    for (name, by) in [("far", 5.0), ("near", 1.0)] {
        let moved: Vec<f64> = clean
            .iter()
            .enumerate()
            .map(|(i, x)| x + if i % 4 == 0 { by } else { 0.0 })
            .collect();
        folder.write(&format!("{name}.npy"), &npy_f64(&[40, 4], &moved));
    }
    let slope = |noisy: &str| {
        let results = folder.results(&format!("robustness --clean m=z.npy --noisy {noisy} --no-figures"));
        value(&results, "m", "robustness.slope")
    };
    // Distances 1 and 5 at levels 0.1 and 0.3.
    assert!(slope("0.1=near.npy 0.3=far.npy").is_some_and(|slope| (slope - 20.0).abs() < 1e-9));
    assert!(
        slope("0.1=far.npy 0.3=far.npy").is_some_and(|slope| slope.abs() < 1e-9),
        "flat, and far up"
    );
    let one = folder.results("robustness --clean m=z.npy --noisy 0.1=far.npy --no-figures");
    let reason = score(&one, "m", "robustness.slope")["reason"].to_string();
    assert!(reason.contains("at least 2 noise levels"), "{reason}");
}

/// The page of each analysis.
const PAGES: [(Analysis, &str); 10] = [
    (Analysis::Smoothness, "smooth"),
    (Analysis::Robustness, "robust"),
    (Analysis::Neighborhood, "neighborhoods"),
    (Analysis::Manifold, "dimension"),
    (Analysis::Geometry, "classes"),
    (Analysis::Rankme, "collapse"),
    (Analysis::Clid, "label-free"),
    (Analysis::Retrieval, "retrieval"),
    (Analysis::Perturb, "masking"),
    (Analysis::Etes, "alignment"),
];

#[test]
fn why_an_analysis_matters_stands_in_its_page_and_in_the_report() {
    let folder = Folder::with_arrays();
    folder.good("evaluate --states x.npy --model a=z.npy b=w.npy --ordered --labels labels.npy --no-figures");
    let report = plain(&folder.read("evaluation_plots/report.html"));
    for (analysis, name) in PAGES {
        let page = std::fs::read_to_string(repository(&format!("docs/questions/{name}.md"))).expect("a page");
        let why = analysis.question().why;
        assert!(
            plain(&page).contains(&format!("**Why it matters.** {why}")),
            "{name} lacks {why}"
        );
        let others = [
            Analysis::Robustness,
            Analysis::Retrieval,
            Analysis::Perturb,
            Analysis::Etes,
        ];
        let is_run = !others.contains(&analysis);
        assert_eq!(
            report.contains(&format!("<b>Why it matters.</b> {why}")),
            is_run,
            "{name}"
        );
    }
    // The four qualities are the frame, in the order of the document.
    let list = &report[report.find("A good representation is:").expect("the qualities")..];
    let places =
        ["<b>Smooth</b>", "<b>Well-structured</b>", "<b>Efficient</b>"].map(|part| list.find(part).expect(part));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_formula_is_never_read_as_a_list() {
    let folder = Folder::new();
    for metric in METRICS {
        let card = folder.run_words(&["explain", metric.id]).stdout;
        let mut lines = card.lines();
        let page = metric.definition();
        let formulas = page
            .lines()
            .filter(|line| line.starts_with("    ") && !line.trim().is_empty());
        for formula in formulas {
            // In the order of the page, each with all its signs.
            let is_it = |line: &str| line.trim() == formula.trim();
            assert!(
                lines.any(is_it),
                "{}: `{}` is missing\n{card}",
                metric.id,
                formula.trim()
            );
        }
    }
}

// ---------------------------------------------------------------- document 001

const BASIC: &str = r"
python src/evals/compute_retrieval_metrics.py \
    --sensor_embeddings results/evals/sensor_emb.npy \
    --text_embeddings results/evals/text_emb.npy \
    --labels results/evals/labels.npy \
    --k_values 10 50 100 \
    --directions text2sensor sensor2text \
    --normalize";

const SELF_CHECKS: &str = r"
python src/evals/compute_retrieval_metrics.py \
    --sensor_embeddings results/evals/sensor_emb.npy \
    --text_embeddings results/evals/text_emb.npy \
    --labels results/evals/labels.npy \
    --k_values 10 50 \
    --directions text2sensor sensor2text sensor2sensor text2text \
    --normalize";

const ONE_DIRECTION: &str = r"
python src/evals/compute_retrieval_metrics.py \
    --sensor_embeddings sensor_emb.npy \
    --text_embeddings text_emb.npy \
    --labels labels.npy \
    --k_values 10 50 \
    --directions text2sensor \
    --output results/retrieval_metrics.json";

const PROTOTYPES: &str = r"
python src/evals/compute_retrieval_metrics.py \
    --sensor_embeddings results/sensor_emb.npy \
    --text_embeddings results/text_emb.npy \
    --labels results/labels.npy \
    --use_prototypes \
    --metadata metadata/casas_metadata.json \
    --dataset_name milan \
    --caption_style sourish \
    --checkpoint trained_models/best_model.pt \
    --k_values 10 50 100 \
    --output results/prototype_retrieval.json";

const PROTOTYPES_OF_SENSORS: &str = r"
python src/evals/compute_retrieval_metrics.py \
    --sensor_embeddings results/sensor_emb.npy \
    --labels results/labels.npy \
    --use_prototypes \
    --metadata metadata/casas_metadata.json \
    --dataset_name milan \
    --checkpoint trained_models/best_model.pt \
    --k_values 10 50 100 \
    --directions prototype2sensor";

const ARCHIVE: &str = r"
python src/evals/compute_retrieval_metrics.py \
    --sensor_embeddings data.npz --sensor_key sensor_embeddings \
    --text_embeddings data.npz --text_key text_embeddings \
    --labels data.npz --labels_key labels \
    --k_values 10 50 100";

/// The text encoder that the golden checkpoints were made with.
const ENCODER: &str = "somebody/bert";
const ROWS: usize = 130;
const WIDTH: usize = 7;

fn texts(name: &str) -> String {
    repository(&format!("golden/text/{name}"))
}

fn labels() -> Vec<&'static str> {
    (0..ROWS).map(|i| ["cook", "read", "sleep"][i % 3]).collect()
}

/// A folder as document 001 expects it: files of embeddings, metadata, and a checkpoint that names its text encoder.
fn evaluation() -> Folder {
    let folder = Folder::new();
    let sensor = npy_f64(&[ROWS, WIDTH], &noise(11, ROWS * WIDTH));
    let text = npy_f64(&[ROWS, WIDTH], &noise(12, ROWS * WIDTH));
    for place in ["", "results/", "results/evals/"] {
        folder.write(&format!("{place}sensor_emb.npy"), &sensor);
        folder.write(&format!("{place}text_emb.npy"), &text);
        folder.write(&format!("{place}labels.npy"), &npy_words(&labels()));
    }
    let members = [
        ("sensor_embeddings", sensor),
        ("text_embeddings", text),
        ("labels", npy_words(&labels())),
    ];
    folder.write("data.npz", &crate::fixtures::npz(&members));
    let metadata = serde_json::json!({"milan": {"label_to_text_sourish": {
        "cook": "the kettle boils", "read": "a person reads a book", "sleep": "a person dozes on the sofa"}}});
    folder.write("metadata/casas_metadata.json", metadata.to_string().as_bytes());
    let checkpoint = std::fs::read(texts("checkpoints/linear.pt")).expect("a checkpoint");
    folder.write("trained_models/best_model.pt", &checkpoint);
    folder
}

/// A Hugging Face cache that holds the text encoder.
fn fill_cache(cache: &Path) {
    let model = cache.join("hub/models--somebody--bert");
    let version = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567";
    let files = model.join("snapshots").join(version);
    std::fs::create_dir_all(&files).expect("a folder");
    std::fs::create_dir_all(model.join("refs")).expect("a folder");
    repscope_io::write_whole(&model.join("refs/main"), version.as_bytes()).expect("a file");
    for entry in std::fs::read_dir(texts("bert")).expect("the text encoder") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, files.join(path.file_name().expect("a name"))).expect("a copy");
    }
}

fn retrieval(document: &str) -> Vec<String> {
    std::iter::once("retrieval".to_string())
        .chain(typed(document))
        .collect()
}

#[test]
fn the_command_lines_of_document_001_on_instances_run_as_printed() {
    let folder = evaluation();
    for (document, directions) in [
        (BASIC, "text2sensor sensor2text"),
        (SELF_CHECKS, "text2sensor sensor2text sensor2sensor text2text"),
        (ONE_DIRECTION, "text2sensor"),
        (ARCHIVE, "text2sensor sensor2text"),
    ] {
        let words = retrieval(document);
        let run = folder.run_words(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{document}\n{}", run.stderr);
        assert!(
            run.stdout
                .starts_with(&format!("{}\nLABEL-RECALL@K RESULTS SUMMARY\n", "=".repeat(70)))
        );
        let results = folder.json("evaluation_plots/results.json");
        let asked: Vec<&str> = results["spec"]["directions"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(asked.join(" "), directions);
    }
    let flat = folder.json("results/retrieval_metrics.json");
    assert!(
        flat["text2sensor"]["10"].is_number() && flat["text2sensor"]["50"].is_number(),
        "{flat}"
    );
}

#[test]
fn the_command_lines_of_document_001_on_prototypes_run_as_printed() {
    let folder = evaluation();
    let cache = folder.path().join("hf");
    fill_cache(&cache);
    for (document, metric) in [
        (PROTOTYPES, "label_precision.prototype2text@50"),
        (PROTOTYPES_OF_SENSORS, "label_precision.prototype2sensor@10"),
    ] {
        let words = retrieval(document);
        let run = run_with_cache(&folder, &cache, &words);
        assert_eq!(run.code, 0, "{document}\n{}", run.stderr);
        assert!(run.stdout.contains("Text Prototype -> Sensor:"), "{}", run.stdout);
        assert!(!run.stdout.contains("Problem"), "{}", run.stdout);
        let found = folder.json("evaluation_plots/results.json");
        assert!(found["inputs"].to_string().contains(ENCODER), "{}", found["inputs"]);
        // The same as with the encoder by its folder, and by its name.
        for encoder in [texts("bert"), ENCODER.to_string()] {
            let more = ["--text_encoder".to_string(), encoder];
            let run = run_with_cache(&folder, &cache, &[words.clone(), more.to_vec()].concat());
            assert_eq!(run.code, 0, "{}", run.stderr);
            let named = folder.json("evaluation_plots/results.json");
            assert_eq!(found["scores"], named["scores"]);
        }
        assert!(value(&found, "embeddings", metric).is_some_and(|precision| precision > 0.0));
    }
    let flat = folder.json("results/prototype_retrieval.json");
    assert!(
        flat["prototype2sensor"]["100"].is_number() && flat["prototype2text"]["10"].is_number(),
        "{flat}"
    );
}

#[test]
fn a_text_encoder_that_is_not_on_the_machine_is_named_with_the_places_that_were_looked_at() {
    let folder = evaluation();
    let words = retrieval(PROTOTYPES_OF_SENSORS);
    let run = run_with_cache(&folder, &folder.path().join("empty"), &words);
    assert_eq!(run.code, 2);
    for fact in [
        "trained_models/best_model.pt was trained with the text encoder somebody/bert",
        "nothing is downloaded",
        "empty/hub/models--somebody--bert",
        "hf download somebody/bert",
        "HF_HOME",
        "--prototype-texts",
    ] {
        assert!(run.stderr.contains(fact), "{fact}\n{}", run.stderr);
    }
    assert!(!folder.path().join("evaluation_plots").exists());
    // A checkpoint that says nothing of its encoder, and one that is not there, are not described.
    let replaced = |by: &str| -> Vec<String> {
        words
            .iter()
            .map(|word| word.replace("trained_models/best_model.pt", by))
            .collect()
    };
    let cache = folder.path().join("hf");
    fill_cache(&cache);
    let run = run_with_cache(&folder, &cache, &replaced(&texts("checkpoints/none.pt")));
    assert!(
        run.code == 2 && run.stderr.contains("does not name the text encoder"),
        "{}",
        run.stderr
    );
    let run = run_with_cache(&folder, &cache, &replaced("trained_models/missing.pt"));
    assert!(run.code == 2 && run.stderr.contains("missing.pt"), "{}", run.stderr);
    assert!(
        !run.stderr.contains("holds") && !run.stderr.contains("was trained"),
        "{}",
        run.stderr
    );
}

#[test]
fn prototypes_without_a_projection_are_a_problem_in_every_output() {
    let folder = evaluation();
    folder.write("wide.npy", &npy_f64(&[ROWS, 16], &noise(5, ROWS * 16)));
    let line = format!(
        "retrieval --sensor_embeddings wide.npy --labels labels.npy --use_prototypes --text_encoder {} --k_values 10 --no-figures",
        texts("bert")
    );
    let fact = "without the text projection of a checkpoint";
    for more in ["", "--quiet", "--format markdown", "--json"] {
        let stdout = plain(&folder.good(&format!("{line} {more}")).stdout);
        assert!(stdout.contains(fact), "{more}\n{stdout}");
    }
    assert!(
        plain(&folder.good(&line).stdout)
            .starts_with("Problem the prototypes are embeddings of the text encoder alone")
    );
    assert!(folder.read("evaluation_plots/results.json").contains(fact));
    folder.write(
        "study.toml",
        format!(
            "[retrieval]\nsensor_embeddings = \"wide.npy\"\nlabels = \"labels.npy\"\nuse_prototypes = true\ntext_encoder = \"{}\"\n",
            texts("bert")
        )
        .as_bytes(),
    );
    folder.good("evaluate study.toml --no-figures");
    assert!(plain(&folder.read("evaluation_plots/report.html")).contains(fact));
}

#[test]
fn a_k_beyond_the_targets_is_said_even_with_quiet() {
    let folder = evaluation();
    let run = folder.good(
        "retrieval --sensor_embeddings sensor_emb.npy --text_embeddings text_emb.npy --labels labels.npy --k_values 10 500 --quiet",
    );
    assert!(
        run.stdout.contains("  K= 10  =>  Label-Recall@K = 0."),
        "{}",
        run.stdout
    );
    let lines: Vec<&str> = run.stdout.lines().filter(|line| line.contains("K=500")).collect();
    assert_eq!(lines.len(), 2, "{}", run.stdout);
    for line in lines {
        assert!(line.ends_with("%)  [K = 130: there are only 130 targets]"), "{line}");
    }
    assert_eq!(run.stderr, "");
}

#[test]
fn a_line_says_how_the_nearest_target_classifies() {
    let folder = evaluation();
    let run = folder.good(
        "retrieval --sensor_embeddings sensor_emb.npy --text_embeddings text_emb.npy --labels labels.npy --k_values 10 --no-figures",
    );
    let results = folder.json("evaluation_plots/results.json");
    let first = folder.results(
        "retrieval --sensor_embeddings sensor_emb.npy --text_embeddings text_emb.npy --labels labels.npy --k_values 1 --no-figures",
    );
    for direction in ["text2sensor", "sensor2text"] {
        let hit = value(&results, "embeddings", &format!("label_hit.{direction}@1"));
        assert_eq!(
            hit,
            value(&first, "embeddings", &format!("label_precision.{direction}@1"))
        );
    }
    assert!(run.stdout.contains("top-1 classification ↑"), "{}", run.stdout);
    let run = folder.good(
        "retrieval --sensor_embeddings sensor_emb.npy --text_embeddings text_emb.npy --labels labels.npy --k_values 10 --no-figures --all",
    );
    let lines = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("top-1 classification: "));
    assert_eq!(lines.count(), 2, "{}", run.stdout);
    // It has no column of its own beside those that were asked for.
    assert!(!run.stdout.contains("K = 1 "), "{}", run.stdout);
}

#[test]
fn figures_of_an_earlier_run_do_not_stay_beside_new_results() {
    let folder = evaluation();
    folder.write(
        "l2.npy",
        &npy_words(&(0..ROWS).map(|i| ["x", "y"][i % 2]).collect::<Vec<_>>()),
    );
    let line = "retrieval --sensor_embeddings sensor_emb.npy --text_embeddings text_emb.npy --k_values 10";
    let figures = || {
        let files = folder
            .files()
            .into_iter()
            .filter(|name| name.starts_with("evaluation_plots/retrieval/"));
        files
            .filter(|name| name.ends_with(".png") || name.ends_with(".pdf"))
            .collect::<Vec<_>>()
    };
    folder.good(&format!("{line} --labels l1=labels.npy l2=l2.npy"));
    let before = figures();
    folder.write("evaluation_plots/retrieval/mine.png", b"the user's own");
    folder.good(&format!("{line} --labels labels.npy --figure-format png"));
    let after = figures();
    assert!(before.iter().any(|name| name.contains("l2")), "{before:?}");
    assert!(
        after.iter().all(|name| name.ends_with(".png") && !name.contains("l2")),
        "{after:?}"
    );
    assert!(
        after.iter().any(|name| name.ends_with("mine.png")) && after.len() > 1,
        "{after:?}"
    );
    // The same results keep their figures.
    folder.good(&format!("{line} --labels labels.npy --no-figures"));
    assert_eq!(figures(), after);
    folder.good(&format!("{line} --labels l2.npy --no-figures"));
    assert_eq!(figures(), ["evaluation_plots/retrieval/mine.png"]);
}

#[test]
fn held_out_numbers_stand_beside_those_of_training() {
    let folder = evaluation();
    // The training rows of both modalities agree, the held-out ones do not.
    let split: Vec<&str> = (0..ROWS).map(|i| if i < 60 { "train" } else { "test" }).collect();
    let mut text = noise(12, ROWS * WIDTH);
    text[..60 * WIDTH].copy_from_slice(&noise(11, ROWS * WIDTH)[..60 * WIDTH]);
    let sensor = noise(11, ROWS * WIDTH);
    folder.write("split.npy", &npy_words(&split));
    folder.write("text_emb.npy", &npy_f64(&[ROWS, WIDTH], &text));
    for (name, values) in [("sensor", &sensor), ("text", &text)] {
        folder.write(
            &format!("train_{name}.npy"),
            &npy_f64(&[60, WIDTH], &values[..60 * WIDTH]),
        );
        folder.write(
            &format!("test_{name}.npy"),
            &npy_f64(&[ROWS - 60, WIDTH], &values[60 * WIDTH..]),
        );
    }
    folder.write("train_labels.npy", &npy_words(&labels()[..60]));
    folder.write("test_labels.npy", &npy_words(&labels()[60..]));
    let one = "retrieval --sensor_embeddings sensor_emb.npy --text_embeddings text_emb.npy --labels labels.npy --k_values 1 10 \
               --split split.npy --no-figures";
    let run = folder.good(&format!("{one} --output flat.json"));
    let by_row = folder.json("evaluation_plots/results.json");
    let files = folder.results(
        "retrieval --sensor_embeddings test_sensor.npy --text_embeddings test_text.npy --labels test_labels.npy --k_values 1 10 \
         --train_sensor_embeddings train_sensor.npy --train_text_embeddings train_text.npy --train_labels train_labels.npy \
         --no-figures",
    );
    assert_eq!(by_row["scores"], files["scores"]);
    let alone = folder.results(
        "retrieval --sensor_embeddings test_sensor.npy --text_embeddings test_text.npy --labels test_labels.npy --k_values 1 10 \
         --no-figures --name test",
    );
    let of_test = |results: &Value| -> Vec<Value> {
        let scores = results["scores"].as_array().expect("a list").iter();
        scores.filter(|own| own["model"] == "test").cloned().collect()
    };
    assert_eq!(of_test(&by_row), of_test(&alone));
    assert_eq!(value(&by_row, "train", "label_precision.text2sensor@1"), Some(1.0));
    // Neither is called the better model, and the gap is read as what it is.
    assert_eq!(by_row["differences"].as_array().map_or(0, Vec::len), 0);
    let text = plain(&run.stdout);
    for fact in [
        "Model: test",
        "Model: train",
        "Text → Sensor on held-out rows against training rows: precision at K = 1 is",
        "lower on held-out rows: the embeddings fit the training rows better than new ones",
    ] {
        assert!(text.contains(fact), "{fact}\n{text}");
    }
    let flat = folder.json("flat.json");
    assert!(
        flat["test"]["text2sensor"]["10"].is_number() && flat["train"]["sensor2text"]["1"].is_number(),
        "{flat}"
    );
    for (words, facts) in [
        ("--split labels.npy", &["no row of --split says test", "`cook`"][..]),
        (
            "--split split.npy --train_labels train_labels.npy",
            &["cannot be used with"],
        ),
        (
            "--train_labels train_labels.npy",
            &["sensor-embeddings", "not of the training ones"],
        ),
    ] {
        let line = "retrieval --sensor_embeddings sensor_emb.npy --text_embeddings text_emb.npy --labels labels.npy";
        let run = folder.run(&format!("{line} {words}"));
        assert_eq!(run.code, 2, "{words}\n{}", run.stderr);
        for fact in facts {
            assert!(run.stderr.contains(fact), "{words}: {fact}\n{}", run.stderr);
        }
    }
    let short = npy_words(&split[..10]);
    folder.write("short.npy", &short);
    let run = folder.run(&one.replace("split.npy", "short.npy"));
    assert!(
        run.code == 2 && run.stderr.contains("10 words, but there are 130 rows"),
        "{}",
        run.stderr
    );
}

// ---------------------------------------------------------------- document 002

/// The data of document 002's validation.
fn stored(name: &str) -> String {
    repository(&format!("golden/cases/{name}/document-002/input.npz#latent"))
}

#[test]
fn the_preset_spec_is_the_nine_steps_of_document_002() {
    let folder = Folder::new();
    let clid = |more: &str| {
        folder.results(&format!(
            "clid --model m={} --clusters 3 --no-figures {more}",
            stored("clid")
        ))
    };
    let spec = clid("--preset spec");
    let steps = serde_json::json!({
        "standardize": true, "unit_length": "vote", "clusters": 3, "restarts": 10, "k": 5, "splits": 1, "repeats": 1,
        "id_norm": "dim",
    });
    assert_eq!(spec["spec"]["clid"], steps);
    assert_eq!(spec["spec"]["seed"], 42);
    // CL = mean(y_val == y_pred); ID_normalized = min(ID / D, 1); CLID = CL + ID_normalized. The script prints 1.000, 8.437, 1.844.
    let number = |id: &str| value(&spec, "m", id).expect("a number");
    assert_eq!(format!("{:.3} {:.3}", number("clid.cl"), number("clid")), "1.000 1.844");
    assert!((number("clid") - number("clid.cl") - number("clid.id_normalized")).abs() < 1e-15);
    // One clustering is the first of the five whose mean is the default.
    let robust = clid("");
    assert_eq!(robust["spec"]["preset"], "robust");
    assert_eq!(robust["spec"]["clid"]["repeats"], 5);
    assert_eq!(spec["scores"], clid("--repeats 1")["scores"]);
    let table = plain(
        &folder
            .good(&format!("clid --model m={} --preset spec --no-figures", stored("clid")))
            .stdout,
    );
    assert!(table.contains("1 clustering with 1 split in halves;"), "{table}");
    let alone = folder.results(&format!("clid --model m={} --preset spec --no-figures", stored("clid")));
    let evaluated = folder.results(&format!(
        "evaluate --model m={} --only clid --preset spec --no-figures",
        stored("clid")
    ));
    assert_eq!(alone["scores"], evaluated["scores"]);
    let by_default = folder.results(&format!("clid --model m={} --no-figures", stored("clid")));
    assert_ne!(alone["scores"], by_default["scores"]);
}

#[test]
fn ranks_take_the_threshold_and_the_eps_of_document_002() {
    let folder = Folder::new();
    let rankme = |more: &str| folder.results(&format!("rankme --model m={} --no-figures {more}", stored("rankme")));
    let of = |results: &Value, id: &str| value(results, "m", id).expect("a number");
    let plain = rankme("");
    assert_eq!(format!("{:.3}", of(&plain, "rankme(variant=spec)")), "1.907");
    assert_eq!(of(&plain, "numerical_rank"), 9.0);
    // What the document calls defaults changes nothing.
    assert_eq!(rankme("--threshold 0.01")["scores"], plain["scores"]);
    assert_eq!(
        of(&rankme("--eps 1e-12"), "rankme(variant=spec)"),
        of(&plain, "rankme(variant=spec)")
    );
    assert_eq!(
        of(&rankme("--eps 1e-7"), "rankme(variant=paper)"),
        of(&plain, "rankme(variant=paper)")
    );
    // Fewer singular values are above a higher threshold, and all that are not 0 above 0.
    let ranks: Vec<f64> = ["0.5", "0.01", "1e-9", "0"]
        .map(|threshold| of(&rankme(&format!("--threshold {threshold}")), "numerical_rank"))
        .to_vec();
    assert!(
        ranks.is_sorted() && ranks[0] < ranks[1] && ranks[1] < ranks[3],
        "{ranks:?}"
    );
    // exp(−Σ p ln(p + eps)) falls with eps; without one it is the entropy itself.
    let entropies: Vec<f64> = ["0", "1e-12", "0.01", "0.1"]
        .map(|eps| of(&rankme(&format!("--eps {eps}")), "rankme(variant=spec)"))
        .to_vec();
    assert!(
        entropies.windows(2).all(|pair| pair[0] >= pair[1]) && entropies[2] > entropies[3],
        "{entropies:?}"
    );
    assert_eq!(
        rankme("--threshold 0.5 --eps 0.1")["spec"]["rank"],
        serde_json::json!({"threshold": 0.5, "eps": 0.1})
    );
    for (words, fact) in [
        ("--threshold 1", "--threshold 1 must be"),
        ("--eps -1", "--eps -1 must be"),
    ] {
        let run = folder.run(&format!("rankme --model m={} {words}", stored("rankme")));
        assert!(run.code == 2 && run.stderr.contains(fact), "{words}\n{}", run.stderr);
    }
}
