// SPDX-License-Identifier: MIT
//! `metrics`, `explain`, `--help` and `--version`: what the program says about itself.

use crate::fixtures::{Folder, noise, npy_f64, npy_i64, npz};
use serde_json::Value;

/// Every metric id of the list, as it stands there (`trustworthiness@K`).
fn listed() -> Vec<String> {
    let run = Folder::new().good("metrics --json");
    let list: Vec<Value> = serde_json::from_str(&run.stdout).expect("a JSON list");
    list.iter()
        .map(|m| m["id"].as_str().expect("an id").to_string())
        .collect()
}

#[test]
fn the_list_holds_every_id_that_users_script_against() {
    let ids = listed();
    let fixed = "smoothness.slope smoothness.intercept smoothness.r smoothness.r2 smoothness.p smoothness.stderr \
                 smoothness.ratio_mean smoothness.ratio_std smoothness.ratio_median smoothness.lipschitz_p90 \
                 smoothness.lipschitz_p99 smoothness.lipschitz_max trustworthiness@K continuity@K participation_ratio \
                 dimension_usage two_nn two_nn(fit=mle) uniformity silhouette nmi ami inertia cluster_balance \
                 knn_accuracy@K clid.cl clid.id clid.id_normalized clid weighted_clid mcr2.total mcr2.discriminative \
                 mcr2.compressive alignment label_precision.DIRECTION@K label_precision.DIRECTION.macro@K";
    for id in fixed.split_whitespace() {
        assert!(ids.iter().any(|i| i == id), "{id} is not in {ids:?}");
        if let Some(name) = id.strip_prefix("smoothness.") {
            assert!(
                ids.contains(&format!("smoothness.unit.{name}")),
                "{id} on unit-length codes"
            );
        }
    }
}

#[test]
fn the_list_for_people_shows_the_same_ids_as_the_json() {
    let text = Folder::new().good("metrics").stdout;
    for id in listed() {
        assert!(
            text.lines().any(|l| l.split_whitespace().next() == Some(&id)),
            "{id}\n{text}"
        );
    }
    for command in [
        "smoothness",
        "neighborhood",
        "manifold",
        "geometry",
        "rankme",
        "clid",
        "retrieval",
    ] {
        assert!(text.contains(&format!("repscope {command}\n")), "{text}");
    }
}

#[test]
fn every_listed_metric_has_a_command_direction_range_and_sentence() {
    let run = Folder::new().good("metrics --json");
    let list: Vec<Value> = serde_json::from_str(&run.stdout).expect("a JSON list");
    for metric in list {
        for key in ["id", "command", "title", "about", "better", "range"] {
            assert!(metric[key].as_str().is_some_and(|v| !v.is_empty()), "{key} of {metric}");
        }
    }
}

#[test]
fn every_metric_is_explained_with_its_formula_and_conventions() {
    let folder = Folder::new();
    for id in listed() {
        let run = folder.run_words(&["explain", &id]);
        assert_eq!(run.code, 0, "{id}: {}", run.stderr);
        assert_eq!(run.stderr, "", "{id}");
        assert!(run.stdout.lines().nth(1) == Some(id.as_str()), "{id}\n{}", run.stdout);
        for heading in ["\nFormula\n", "\nConventions\n", "better", "range:"] {
            assert!(run.stdout.contains(heading), "{id} lacks {heading:?}\n{}", run.stdout);
        }
        // Formulas keep the lines of their page.
        let mut text = run.stdout.lines().filter(|l| !l.starts_with("    "));
        assert!(
            text.all(|l| l.chars().count() <= 100),
            "{id} is too wide\n{}",
            run.stdout
        );
    }
}

#[test]
fn a_metric_with_its_parameter_has_the_same_card() {
    let folder = Folder::new();
    let card = folder.good("explain trustworthiness@7").stdout;
    assert_eq!(card, folder.good("explain trustworthiness@K").stdout);
    assert_eq!(card, folder.good("explain trustworthiness").stdout);
    assert!(card.starts_with("Trustworthiness"), "{card}");
    assert!(card.contains("higher is better"), "{card}");
}

#[test]
fn several_metrics_are_explained_in_the_order_given() {
    let text = Folder::new().good("explain uniformity two_nn").stdout;
    let at = |title: &str| text.find(title).unwrap_or_else(|| panic!("no {title}\n{text}"));
    assert!(at("  uniformity") < at("  two_nn"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let run = Folder::new().good("--version");
    assert_eq!(run.stdout, format!("repscope {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_says_what_the_program_is_for_and_names_every_command() {
    let help = Folder::new().good("--help").stdout;
    assert!(
        help.starts_with("Measures how good learned representations are"),
        "{help}"
    );
    for command in [
        "evaluate",
        "compare",
        "report",
        "smoothness",
        "neighborhood",
        "manifold",
        "geometry",
        "rankme",
        "clid",
        "retrieval",
        "check",
        "validate",
        "metrics",
        "explain",
    ] {
        assert!(help.contains(&format!("\n  {command}")), "{command}\n{help}");
        let own = Folder::new().good(&format!("{command} --help")).stdout;
        assert!(own.contains(&format!("Usage: repscope {command}")), "{own}");
    }
}

#[test]
fn the_examples_of_the_help_work() {
    let folder = Folder::new();
    let embeddings = npy_f64(&[60, 3], &noise(2, 180));
    let labels = npy_i64(&(0..60).map(|i| i % 3).collect::<Vec<_>>());
    folder.write("frames.npy", &npy_f64(&[60, 2, 2], &noise(1, 240)));
    folder.write("episode.npy", &npy_i64(&(0..60).map(|i| i / 20).collect::<Vec<_>>()));
    folder.write(
        "z.npz",
        &npz(&[("codes", embeddings.clone()), ("labels", labels.clone())]),
    );
    let names = [
        "z.npy",
        "z_jepa.npy",
        "z_ae.npy",
        "sensor.npy",
        "text.npy",
        "eeg.npy",
        "beam.npy",
        "true.npy",
    ];
    for name in names {
        folder.write(name, &embeddings);
    }
    folder.write("labels.npy", &labels);
    for name in ["s.npy", "s1.npy", "z1.npy"] {
        folder.write(name, &embeddings);
    }
    // Those that take minutes, or a model, are run elsewhere.
    let is_run_here = |example: &&str| !example.starts_with("demo") && !example.contains(".onnx");
    let mut run = 0;
    for command in [
        "",
        "smoothness",
        "neighborhood",
        "manifold",
        "rankme",
        "geometry",
        "report",
        "check",
        "metrics",
        "explain",
    ] {
        let help = folder.good(&format!("{command} --help")).stdout;
        for example in help
            .lines()
            .filter_map(|l| l.strip_prefix("  repscope "))
            .filter(is_run_here)
        {
            folder.good(example);
            run += 1;
        }
    }
    assert!(run >= 15, "{run} examples");
}

#[test]
fn the_help_fits_a_screen_and_points_on() {
    let help = Folder::new().good("--help").stdout;
    assert!(help.lines().count() <= 45, "{} lines", help.lines().count());
    assert!(help.contains("repscope COMMAND --help"), "{help}");
}

#[test]
fn every_command_shows_an_example() {
    let all = Folder::new().good("--help").stdout;
    let commands = all.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names: Vec<&str> = commands
        .filter_map(|line| {
            line.strip_prefix("  ")?
                .split_whitespace()
                .next()
                .filter(|_| !line.starts_with("   "))
        })
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 18, "{names:?}");
    for name in names {
        let help = Folder::new().good(&format!("{name} --help")).stdout;
        assert!(help.contains(&format!("\n  repscope {name} ")), "{name}\n{help}");
    }
}
