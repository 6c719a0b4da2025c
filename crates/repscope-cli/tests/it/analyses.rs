// SPDX-License-Identifier: MIT
//! The analyses from the outside: what is printed, what is written, and that the options do what they say.

use crate::fixtures::{Folder, noise, npy_f64, npy_i64, npy_words, npz, repository, score, value, values};
use serde_json::Value;

/// The command line of each analysis on the files of [`Folder::with_arrays`].
const ANALYSES: [(&str, &str); 6] = [
    (
        "smoothness",
        "smoothness --states x.npy --model jepa=z.npy --model ae=w.npy",
    ),
    (
        "neighborhood",
        "neighborhood --states x.npy --model jepa=z.npy --model ae=w.npy",
    ),
    ("manifold", "manifold --model jepa=z.npy --model ae=w.npy"),
    ("rankme", "rankme --model jepa=z.npy --model ae=w.npy"),
    ("clid", "clid --model jepa=z.npy --model ae=w.npy"),
    (
        "geometry",
        "geometry --model jepa=z.npy --model ae=w.npy --labels labels.npy",
    ),
];

/// The metric ids that users script against.
fn fixed_ids(command: &str) -> Vec<String> {
    let ids = match command {
        "smoothness" => {
            let names = "slope intercept r r2 p stderr ratio_mean ratio_std ratio_median lipschitz_p90 lipschitz_p99 \
                         lipschitz_max";
            let both = |name| [format!("smoothness.{name}"), format!("smoothness.unit.{name}")];
            return names.split_whitespace().flat_map(both).collect();
        }
        "neighborhood" => {
            "trustworthiness@5 trustworthiness@10 trustworthiness@15 continuity@5 continuity@10 continuity@15"
        }
        "rankme" => "rankme(variant=spec) rankme(variant=paper) numerical_rank participation_ratio",
        "clid" => "clid.cl clid.cl_std clid.id clid.id_normalized clid mcr2.total uniformity",
        "manifold" => "participation_ratio dimension_usage two_nn two_nn(fit=mle)",
        "geometry" => "uniformity silhouette nmi ami inertia cluster_balance knn_accuracy@5",
        _ => panic!("no analysis {command}"),
    };
    ids.split_whitespace().map(str::to_string).collect()
}

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

fn sorted(words: &str) -> Vec<&str> {
    let mut words: Vec<&str> = words.split_whitespace().collect();
    words.sort_unstable();
    words
}

#[test]
fn every_analysis_prints_a_table_and_writes_results() {
    for (command, line) in ANALYSES {
        let folder = Folder::with_arrays();
        let run = folder.good(line);
        assert!(run.stdout.contains("\nmetric "), "{}", run.stdout);
        let table = folder.good(&format!("{line} --all")).stdout;
        for word in ["jepa", "ae", &fixed_ids(command)[0]] {
            assert!(table.contains(word), "{word}\n{table}");
        }
        for word in ["jepa", "ae"] {
            assert!(run.stdout.contains(word), "{word}\n{}", run.stdout);
        }
        assert!(!run.stdout.contains('\u{1b}'), "no color codes where nobody watches");
        assert_eq!(folder.json("evaluation_plots/results.json")["command"], command);
    }
}

#[test]
fn results_json_has_the_keys_that_users_script_against() {
    for (command, line) in ANALYSES {
        let folder = Folder::with_arrays();
        folder.good(line);
        let document = folder.json("evaluation_plots/results.json");
        let mut found = keys(&document);
        found.sort_unstable();
        assert_eq!(
            found,
            sorted("schema repscope command spec inputs scores curves breakdowns differences findings warnings"),
            "{command}"
        );
        assert_eq!(document["schema"], 1);
        assert_eq!(document["repscope"], env!("CARGO_PKG_VERSION"));
        assert_eq!(document["spec"]["seed"], 42);
        for input in document["inputs"].as_array().expect("a list") {
            let mut found = keys(input);
            found.sort_unstable();
            assert_eq!(found, sorted("path shape dtype digest"), "{command}");
        }
        for score in document["scores"].as_array().expect("a list") {
            for key in sorted("model metric value interval level n better chance reason") {
                assert!(score.get(key).is_some(), "{command}: {score} lacks {key}");
            }
            assert!(["higher", "lower", "neither"].contains(&score["better"].as_str().expect("a word")));
            assert_eq!(
                score["value"].is_null(),
                !score["reason"].is_null(),
                "{score}: a value or a reason"
            );
        }
    }
}

#[test]
fn every_fixed_metric_is_there_for_every_model() {
    for (command, line) in ANALYSES {
        let results = Folder::with_arrays().results(line);
        for id in fixed_ids(command) {
            for model in ["jepa", "ae"] {
                let value = value(&results, model, &id);
                assert!(
                    value.is_some_and(f64::is_finite),
                    "{command}: {id} of {model} is {value:?}"
                );
            }
        }
    }
}

#[test]
fn inputs_are_recorded_with_shape_type_and_digest() {
    let results = Folder::with_arrays().results("neighborhood --states x.npy --model z=z.npy");
    let inputs = results["inputs"].as_array().expect("a list");
    assert_eq!(inputs[0]["path"], "x.npy");
    assert_eq!(inputs[0]["shape"], serde_json::json!([60, 4]));
    assert_eq!(inputs[0]["dtype"], "f64");
    assert_eq!(inputs[1]["path"], "z.npy");
    assert_eq!(inputs[1]["digest"].as_str().map(str::len), Some(64));
    assert_ne!(inputs[0]["digest"], inputs[1]["digest"]);
}

#[test]
fn csv_files_have_the_folders_and_columns_of_document_000() {
    let expected = [
        (
            "smoothness_analysis/smoothness_summary.csv",
            "Model,Regression_Slope,Regression_Intercept,R_Value,R_Squared,P_Value,Std_Error,Mean_Smoothness_Ratio,\
             Std_Smoothness_Ratio,Median_Smoothness_Ratio,Sample_Count",
            2,
        ),
        (
            "smoothness_analysis/smoothness_raw_data.csv",
            "Model,Sample_ID,Pixel_Distance,Latent_Distance,Smoothness_Ratio",
            2 * 59,
        ),
        (
            "neighborhood_preservation/neighborhood_preservation_summary.csv",
            "Model,k,Trust_mean,Trust_std,Cont_mean,Cont_std",
            2 * 3,
        ),
        (
            "manifold_dimension/manifold_dimension_summary.csv",
            "Model,Nominal_Dimension,Participation_Ratio,Intrinsic_Dimension,Dimension_Error,\
             Usage_Efficiency_Percent,Max_Eigenvalue,Min_Eigenvalue,Eigenvalue_Count,Sample_Count",
            2,
        ),
        (
            "manifold_dimension/manifold_eigenvalues.csv",
            "Model,Eigenvalue_Index,Eigenvalue",
            2 * 3,
        ),
    ];
    let folder = Folder::with_arrays();
    for (_, line) in ANALYSES {
        folder.good(line);
    }
    for (name, header, rows) in expected {
        let text = folder.read(&format!("evaluation_plots/{name}"));
        assert_eq!(text.lines().next(), Some(header), "{name}");
        assert_eq!(text.lines().count(), rows + 1, "{name}");
        assert!(text.lines().nth(1).is_some_and(|l| l.starts_with("jepa,")), "{name}");
    }
    // The reference run of document 000 writes no file for geometry; ours begins with what its table shows.
    let geometry = folder.read("evaluation_plots/geometry_analysis/geometry_summary.csv");
    assert!(
        geometry.starts_with("Model,Uniformity,Silhouette_Score,NMI,"),
        "{geometry}"
    );
    assert_eq!(geometry.lines().count(), 3);
}

#[test]
fn json_on_stdout_is_one_document_equal_to_the_file() {
    for (_, line) in ANALYSES {
        let folder = Folder::with_arrays();
        let run = folder.good(&format!("{line} --json"));
        assert_eq!(run.stdout, folder.read("evaluation_plots/results.json"));
        serde_json::from_str::<Value>(&run.stdout).expect("one document");
    }
}

#[test]
fn each_analysis_keeps_its_own_results_beside_the_latest() {
    let folder = Folder::with_arrays();
    for (_, line) in ANALYSES {
        folder.good(line);
    }
    assert_eq!(folder.json("evaluation_plots/results.json")["command"], "geometry");
    let smoothness = folder.json("evaluation_plots/smoothness_analysis/results.json");
    assert_eq!(smoothness["command"], "smoothness");
}

#[test]
fn tables_come_as_markdown_latex_and_csv() {
    let folder = Folder::with_arrays();
    let with = |format: &str| folder.good(&format!("manifold --model z.npy --format {format}")).stdout;
    let markdown = with("markdown");
    assert!(
        markdown.starts_with("- **Manifold**: two_nn ") && markdown.contains("\n| metric |"),
        "{markdown}"
    );
    assert!(markdown.contains("| `two_nn` |"), "{markdown}");
    let latex = with("latex");
    assert!(
        latex.contains("\\begin{tabular}") && latex.contains("two\\_nn"),
        "{latex}"
    );
    let csv = with("csv");
    assert!(csv.starts_with("model,metric,value"), "{csv}");
    assert!(csv.lines().any(|l| l.starts_with("z,two_nn,")), "{csv}");
    assert_eq!(with("json"), folder.read("evaluation_plots/results.json"));
}

#[test]
fn models_may_have_any_name_and_number() {
    let folder = Folder::with_arrays();
    folder.write("my codes/a=b.npy", &npy_f64(&[60, 3], &noise(9, 180)));
    let models = [
        "Größe 模型 #1=z.npy",
        "a, b=w.npy",
        "run=my codes/a=b.npy",
        "my codes/a=b.npy",
    ];
    let mut words = vec!["manifold", "--json", "--model"];
    words.extend(models);
    let run = folder.run_words(&words);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let results: Value = serde_json::from_str(&run.stdout).expect("JSON");
    for model in ["Größe 模型 #1", "a, b", "run", "a=b"] {
        assert!(value(&results, model, "two_nn").is_some(), "{model}");
    }
    let summary = folder.read("evaluation_plots/manifold_dimension/manifold_dimension_summary.csv");
    assert!(summary.contains("\n\"a, b\",3,"), "{summary}");
}

#[test]
fn a_model_without_a_name_is_called_after_its_file() {
    let folder = Folder::with_arrays();
    folder.write(
        "runs/jepa.v2.npz",
        &npz(&[("codes", npy_f64(&[60, 3], &noise(5, 180)))]),
    );
    let results = folder.results("manifold --model runs/jepa.v2.npz z.npy");
    assert!(value(&results, "jepa.v2", "two_nn").is_some());
    assert!(value(&results, "z", "two_nn").is_some());
}

#[test]
fn several_values_are_separated_by_spaces_or_commas() {
    let folder = Folder::with_arrays();
    let spaces = folder.results("neighborhood --states x.npy --model z.npy --k 3 7 11");
    let commas = folder.results("neighborhood --states x.npy --model z.npy --k 3,7,11");
    let unsorted = folder.results("neighborhood --states x.npy --model z.npy --k 11,3 --k 7 7");
    assert_eq!(spaces, commas);
    assert_eq!(spaces, unsorted);
    assert!(value(&spaces, "z", "continuity@11").is_some());
}

#[test]
fn options_may_be_written_in_snake_case() {
    let folder = Folder::with_arrays();
    folder.write("x1.npy", &npy_f64(&[60, 4], &noise(11, 240)));
    folder.good("smoothness --states x.npy --next_states x1.npy --model z=z.npy,w.npy --output_dir=a_b --no_figures");
    assert_eq!(folder.json("a_b/results.json")["command"], "smoothness");
}

#[test]
fn embeddings_over_time_are_pooled_as_asked() {
    // Two time steps: the first is z, the second w.
    let folder = Folder::with_arrays();
    let (z, w) = (noise(2, 180), noise(3, 180));
    let steps: Vec<f64> = z
        .chunks(3)
        .zip(w.chunks(3))
        .flat_map(|(a, b)| [a, b].concat())
        .collect();
    let mean: Vec<f64> = z.iter().zip(&w).map(|(a, b)| (a + b) / 2.0).collect();
    folder.write("steps.npy", &npy_f64(&[60, 2, 3], &steps));
    folder.write("mean.npy", &npy_f64(&[60, 3], &mean));
    folder.write("flat.npy", &npy_f64(&[60, 6], &steps));
    let pooled = |pool: &str| values(&folder.results(&format!("manifold --model m=steps.npy{pool}")));
    let plain = |file: &str| values(&folder.results(&format!("manifold --model m={file}.npy")));
    assert_eq!(pooled(""), plain("w"));
    assert_eq!(pooled(" --pool last"), plain("w"));
    assert_eq!(pooled(" --pool first"), plain("z"));
    assert_eq!(pooled(" --pool mean"), plain("mean"));
    assert_eq!(pooled(" --pool flatten"), plain("flat"));
}

#[test]
fn trailing_dimensions_of_states_are_flattened() {
    let folder = Folder::with_arrays();
    folder.write("frames.npy", &npy_f64(&[60, 2, 2], &noise(1, 240)));
    let frames = folder.results("neighborhood --states frames.npy --model z.npy");
    let flat = folder.results("neighborhood --states x.npy --model z.npy");
    assert_eq!(values(&frames), values(&flat));
}

#[test]
fn pairs_do_not_cross_episodes() {
    // Six steps of length 1 within two episodes, and a jump of 100 between them.
    let folder = Folder::new();
    let x = [0.0, 1.0, 2.0, 3.0, 103.0, 104.0, 105.0, 106.0];
    let z: Vec<f64> = x.iter().map(|v| v * 2.0).collect();
    folder.write("x.npy", &npy_f64(&[8, 1], &x));
    folder.write("z.npy", &npy_f64(&[8, 1], &z));
    folder.write("episodes.npy", &npy_i64(&[0, 0, 0, 0, 1, 1, 1, 1]));
    folder.good("smoothness --states x.npy --model z.npy --episodes episodes.npy");
    let pairs = folder.read("evaluation_plots/smoothness_analysis/smoothness_raw_data.csv");
    assert_eq!(pairs.lines().count(), 1 + 6, "{pairs}");
    assert!(pairs.lines().skip(1).all(|l| l.ends_with(",1.0,2.0,2.0")), "{pairs}");
}

#[test]
fn without_episodes_a_warning_says_that_all_rows_are_one_sequence() {
    let folder = Folder::with_arrays();
    let run = folder.good("smoothness --states x.npy --model z.npy");
    assert!(run.stderr.contains("warning: no episodes are given"), "{}", run.stderr);
    let warnings = &folder.json("evaluation_plots/results.json")["warnings"];
    assert!(
        warnings[0].as_str().is_some_and(|w| w.contains("no episodes")),
        "{warnings}"
    );
}

#[test]
fn next_states_are_compared_with_the_states_of_the_same_row() {
    // The states move by 1, 2, 3, 4 and the embeddings by twice that.
    let folder = Folder::new();
    folder.write("s.npy", &npy_f64(&[4, 1], &[0.0, 10.0, 20.0, 30.0]));
    folder.write("s1.npy", &npy_f64(&[4, 1], &[1.0, 12.0, 23.0, 34.0]));
    folder.write("z.npy", &npy_f64(&[4, 1], &[5.0, 5.0, 5.0, 5.0]));
    folder.write("z1.npy", &npy_f64(&[4, 1], &[7.0, 9.0, 11.0, 13.0]));
    let results = folder.results("smoothness --states s.npy --next-states s1.npy --model m=z.npy,z1.npy");
    assert_eq!(score(&results, "m", "smoothness.slope")["n"], 4);
    let close = |metric, expected: f64| {
        let found = value(&results, "m", metric).expect("a value");
        assert!((found - expected).abs() < 1e-12, "{metric} = {found}"); // a few roundings of numbers near 1
    };
    close("smoothness.slope", 2.0);
    close("smoothness.intercept", 0.0);
    close("smoothness.ratio_mean", 2.0);
}

#[test]
fn labels_may_be_words_or_integers() {
    let folder = Folder::with_arrays();
    folder.write("numbers.npy", &npy_i64(&(0..60).map(|i| i % 3).collect::<Vec<_>>()));
    let words: Vec<&str> = (0..60).map(|i| ["cat", "cow", "dog"][i % 3]).collect();
    folder.write("words.npy", &npy_words(&words));
    let words = folder.results("geometry --model z.npy --labels words.npy");
    let numbers = folder.results("geometry --model z.npy --labels numbers.npy");
    assert_eq!(values(&words), values(&numbers));
    assert_eq!(score(&words, "z", "knn_accuracy@5")["chance"], 1.0 / 3.0);
}

#[test]
fn without_labels_their_scores_are_null_with_a_reason() {
    let folder = Folder::with_arrays();
    let results = folder.results("geometry --model z.npy");
    for metric in ["nmi", "ami", "knn_accuracy@5"] {
        let score = score(&results, "z", metric);
        assert!(score["value"].is_null(), "{score}");
        assert!(score["reason"].as_str().is_some_and(|r| r.contains("label")), "{score}");
    }
    assert!(value(&results, "z", "silhouette").is_some());
    let table = folder.good("geometry --model z.npy").stdout;
    assert!(table.contains("needs labels"), "{table}");
}

#[test]
fn a_sample_ranks_some_rows_against_all() {
    let folder = Folder::with_arrays();
    let line = "neighborhood --states x.npy --model z.npy";
    let sampled = folder.results(&format!("{line} --sample 20"));
    assert_eq!(score(&sampled, "z", "trustworthiness@5")["n"], 20);
    let whole = folder.results(line);
    let other_seed = folder.results(&format!("{line} --sample 20 --seed 7"));
    assert_ne!(values(&sampled), values(&whole));
    assert_ne!(values(&sampled), values(&other_seed));
    assert_eq!(values(&whole), values(&folder.results(&format!("{line} --sample 60"))));
    for line in ["manifold --model z.npy", "geometry --model z.npy --labels labels.npy"] {
        folder.good(&format!("{line} --sample 20"));
    }
}

#[test]
fn cosine_distance_ignores_the_length_of_embeddings() {
    let folder = Folder::with_arrays();
    let stretched: Vec<f64> = noise(2, 180)
        .iter()
        .enumerate()
        .map(|(i, v)| v * (1 + i / 3) as f64)
        .collect();
    folder.write("stretched.npy", &npy_f64(&[60, 3], &stretched));
    let line = |file: &str, distance: &str| {
        let words = format!("neighborhood --states x.npy --model m={file} --distance {distance}");
        values(&folder.results(&words))
    };
    assert_eq!(line("z.npy", "cosine"), line("stretched.npy", "cosine"));
    assert_ne!(line("z.npy", "euclidean"), line("stretched.npy", "euclidean"));
}

#[test]
fn any_number_of_threads_and_any_run_give_the_same_bytes() {
    let digits = |file| repository(&format!("examples/digits/{file}.npy"));
    let (states, labels, embeddings) = (digits("states"), digits("labels"), digits("pca16"));
    let lines = [
        format!(
            "smoothness --states {states} --model {embeddings} --episodes {}",
            digits("episodes")
        ),
        format!("neighborhood --states {states} --model {embeddings}"),
        format!("manifold --model {embeddings}"),
        format!("geometry --model {embeddings} --labels {labels} --restarts 3"),
    ];
    for line in lines {
        let folder = Folder::new();
        let results = |options: &str| {
            folder.good(&format!("{line} {options}"));
            folder.read("evaluation_plots/results.json")
        };
        let one = results("--threads 1");
        assert!(
            one == results("--threads 2"),
            "{line}: another number of threads, other bytes"
        );
        assert!(one == results(""), "{line}: another run, other bytes");
    }
}

/// The files of a join: states, labels and embeddings in the same order, and the same with other orders of rows.
fn shuffled() -> Folder {
    let folder = Folder::with_arrays();
    let order: Vec<usize> = (0..60).map(|i| (i * 7 + 3) % 60).collect(); // 7 and 60 have no common factor
    let z = noise(2, 180);
    let moved: Vec<f64> = order.iter().flat_map(|&i| z[3 * i..3 * i + 3].to_vec()).collect();
    let moved_ids: Vec<i64> = order.iter().map(|&i| i as i64).collect();
    let ids: Vec<i64> = (0..60).collect();
    folder.write("ids.npy", &npy_i64(&ids));
    folder.write("moved_ids.npy", &npy_i64(&moved_ids));
    folder.write("moved.npy", &npy_f64(&[60, 3], &moved));
    let x = npy_f64(&[60, 4], &noise(1, 240));
    folder.write("x.npz", &npz(&[("states", x), ("id", npy_i64(&ids))]));
    let embeddings = npy_f64(&[60, 3], &moved);
    folder.write("moved.npz", &npz(&[("codes", embeddings), ("id", npy_i64(&moved_ids))]));
    folder
}

#[test]
fn arrays_are_joined_by_the_id_column_of_their_files() {
    let folder = shuffled();
    let aligned = folder.results("neighborhood --states x.npy --model m=z.npy");
    let keyed = folder.results("neighborhood --states x.npz#states --model m=moved.npz#codes --ids id");
    let beside = folder.results("neighborhood --states x.npz --model m=moved.npz --ids id");
    assert_eq!(values(&keyed), values(&aligned));
    assert_eq!(
        values(&beside),
        values(&aligned),
        "the array beside the ids needs no key"
    );
    assert_eq!(beside["inputs"][1]["path"], "moved.npz#codes");
    let unjoined = folder.results("neighborhood --states x.npy --model m=moved.npy");
    assert_ne!(values(&unjoined), values(&aligned));
}

#[test]
fn arrays_are_joined_by_id_files() {
    let folder = shuffled();
    let aligned = folder.results("neighborhood --states x.npy --model m=z.npy");
    let joined = folder.results("neighborhood --states x.npy --model m=moved.npy --ids states=ids.npy m=moved_ids.npy");
    assert_eq!(values(&joined), values(&aligned));
    let column = "id\n".to_string() + &(0..60).map(|i| format!("{}\n", (i * 7 + 3) % 60)).collect::<String>();
    folder.write("moved_ids.csv", column.as_bytes());
    let mixed = folder.results("neighborhood --states x.npz#states --model m=moved.npy --ids id m=moved_ids.csv");
    assert_eq!(values(&mixed), values(&aligned));
}

#[test]
fn labels_of_a_table_are_joined_by_its_id_column() {
    let folder = shuffled();
    let animals = ["cat", "dog", "cow"];
    let rows: String = (0..60).rev().map(|i| format!("{i},{}\n", animals[i % 3])).collect();
    folder.write("labels.csv", format!("id,animal\n{rows}").as_bytes());
    let aligned = folder.results("geometry --model m=z.npy --labels labels.npy");
    let joined = folder.results("geometry --model m=z.npy --labels labels.csv --ids id m=ids.npy");
    // The rows now have the order of the labels; sums over rows may differ in the last bits.
    for (metric, tolerance) in [("silhouette", 1e-12), ("uniformity", 1e-12)] {
        let difference = value(&joined, "m", metric)
            .zip(value(&aligned, "m", metric))
            .map(|(a, b)| (a - b).abs());
        assert!(difference.is_some_and(|d| d < tolerance), "{metric}: {difference:?}");
    }
}

#[test]
fn the_id_column_of_a_table_is_no_part_of_its_matrix() {
    let folder = shuffled();
    let (x, z) = (noise(1, 240), noise(2, 180));
    let row = |values: &[f64]| values.iter().map(|v| format!(",{v}")).collect::<String>();
    for (kind, id) in [("numbers", ""), ("words", "img_")] {
        let states: String = (0..60)
            .map(|i| format!("{id}{i}{}\n", row(&x[4 * i..4 * i + 4])))
            .collect();
        let embeddings: String = (0..60)
            .rev()
            .map(|i| format!("{id}{i}{}\n", row(&z[3 * i..3 * i + 3])))
            .collect();
        folder.write("x.csv", format!("id,a,b,c,d\n{states}").as_bytes());
        folder.write("z.csv", format!("id,a,b,c\n{embeddings}").as_bytes());
        let aligned = folder.results("neighborhood --states x.npy --model m=z.npy");
        let joined = folder.results("neighborhood --states x.csv --model m=z.csv --ids id");
        assert_eq!(values(&joined), values(&aligned), "ids that are {kind}");
        assert_eq!(joined["inputs"][1]["shape"], serde_json::json!([60, 3]));
    }
}

#[test]
fn columns_of_a_parquet_file_are_joined() {
    let file = repository("crates/repscope-io/tests/files/columns.parquet");
    let folder = Folder::new();
    folder.write("moved.npy", &npy_f64(&[4, 1], &[3.0, 2.0, 1.0, 0.0]));
    folder.write("ids.npy", &npy_i64(&[4_294_967_295, 2, 1, 0])); // its column `word`, backwards
    let same = folder.results(&format!(
        "neighborhood --states {file}#list --model m={file}#fixed --ids word --k 1"
    ));
    assert_eq!(value(&same, "m", "trustworthiness@1"), Some(1.0));
    let moved = folder.results(&format!(
        "neighborhood --states {file}#list --model m=moved.npy --ids states={file}#word m=ids.npy --k 1"
    ));
    assert_eq!(value(&moved, "m", "trustworthiness@1"), Some(1.0));
}

#[test]
fn rows_without_a_partner_are_left_out_with_a_warning() {
    let folder = Folder::with_arrays();
    folder.write("ids.npy", &npy_i64(&(0..60).collect::<Vec<_>>()));
    folder.write("later.npy", &npy_i64(&(10..70).collect::<Vec<_>>()));
    let line = "neighborhood --states x.npy --model m=z.npy --ids states=ids.npy m=later.npy";
    let run = folder.good(line);
    assert!(run.stderr.contains("warning: 10 rows of `states`"), "{}", run.stderr);
    assert!(run.stderr.contains("warning: 10 rows of `m`"), "{}", run.stderr);
    let document = folder.json("evaluation_plots/results.json");
    assert_eq!(document["warnings"].as_array().map(Vec::len), Some(2));
    assert_eq!(score(&document, "m", "trustworthiness@5")["n"], 50);
}

#[test]
fn quiet_leaves_stderr_empty() {
    let folder = Folder::with_arrays();
    for (_, line) in ANALYSES {
        let run = folder.good(&format!("{line} --quiet"));
        assert_eq!(run.stderr, "", "{line}");
        assert!(!run.stdout.is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_stdout_is_an_error_and_dev_null_is_none() {
    let folder = Folder::with_arrays();
    let run = |to: &str| {
        let line = format!("exec \"$0\" metrics {to}");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_repscope")]);
        shell.current_dir(folder.path()).output().expect("a shell starts")
    };
    let closed = run(">&-");
    let stderr = String::from_utf8_lossy(&closed.stderr).into_owned();
    assert_eq!(closed.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("stdout is closed"), "{stderr}");
    for to in [">/dev/null", "1<>/dev/null", ">/dev/null <&-", ">/dev/null 2>&-"] {
        assert_eq!(run(to).status.code(), Some(0), "{to}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = Folder::with_arrays();
    let mut child = crate::fixtures::command(folder.path())
        .args(["metrics", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
