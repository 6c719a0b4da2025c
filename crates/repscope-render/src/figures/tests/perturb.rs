// SPDX-License-Identifier: MIT
//! What the figures of perturbations show.

use super::*;
use crate::perturb::testdata::{change, of_document, one_head};
use repscope_figures::ReferenceAt;

fn lines<'a>(figure: &'a NamedFigure, title: &str) -> &'a Lines {
    match &panel(figure, title).content {
        Content::Lines(lines) => lines,
        other => panic!("{title} is {other:?}"),
    }
}

#[test]
fn the_names_are_those_of_the_document() {
    let expected = [
        "perturbation_analysis/perturbation_impact_chart",
        "perturbation_analysis/accuracy_degradation_curves",
        "perturbation_analysis/pis_comparison_bar_chart",
        "perturbation_analysis/perturbation_by_class",
    ];
    assert_eq!(paths(&figures(&of_document(), "perturb")), expected);
    assert_eq!(paths(&figures(&of_document(), "evaluate")), expected);
}

#[test]
fn scores_have_a_line_per_family_a_line_at_zero_and_keep_what_is_below_it() {
    let mut results = of_document();
    change(&mut results, "pis.combined@random1", -3.67, Some([-3.9, -3.4]));
    let figure = figure(&results, "perturbation_impact_chart");
    assert_eq!(figure.figure.series, ["top", "bottom", "random"]);
    let lines = lines(&figure, "Perturbation impact score of combined");
    let random = &lines.curves[2];
    assert_eq!((random.series, random.points[0].x), (2, 1.0));
    assert_eq!(
        (random.points[0].y, random.points[0].band),
        (Some(-3.67), Some((-3.9, -3.4)))
    );
    assert_eq!(random.points[1].y, Some(1.29));
    assert_eq!(lines.references[0].at, ReferenceAt::Horizontal(0.0));
    assert!(
        figure
            .figure
            .description
            .contains("random: −3.67 [−3.90, −3.40] at 1 %, 1.290"),
        "{}",
        figure.figure.description
    );
}

#[test]
fn accuracy_starts_at_what_it_is_without_perturbation_and_chance_is_a_line() {
    let figure = figure(&of_document(), "accuracy_degradation_curves");
    let titles: Vec<&str> = figure.figure.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["combined ↑", "modulation ↑", "snr ↑"]);
    let lines = lines(&figure, "modulation");
    for curve in &lines.curves {
        assert_eq!((curve.points[0].x, curve.points[0].y), (0.0, Some(0.7639)));
        assert_eq!(curve.points.len(), 3);
    }
    assert_eq!(lines.references[0].at, ReferenceAt::Horizontal(0.0625));
    assert_eq!(lines.references[0].label, "chance 0.062");
}

#[test]
fn bars_compare_families_at_the_smallest_and_the_largest_share() {
    let figure = figure(&of_document(), "pis_comparison_bar_chart");
    let bars = bars(&figure, "Perturbation");
    assert_eq!(bars.categories, ["1 %", "5 %"]);
    assert_eq!(values(&bars.rows[0]), [Some(3.26), Some(7.2)]);
    assert_eq!(values(&bars.rows[1]), [Some(0.8), Some(0.3)]);
    assert!(bars.rows[2].bars[1].interval.is_some());
}

#[test]
fn classes_are_sorted_and_only_those_of_the_head() {
    let figure = figure(&of_document(), "perturbation_by_class");
    let bars = bars(&figure, "modulation");
    assert_eq!(bars.categories, ["QPSK", "BPSK"]);
    assert_eq!(values(&bars.rows[0]), [Some(10.0), Some(5.0)]);
    assert_eq!(bars.references[0].at, ReferenceAt::Vertical(6.0));
    assert_eq!(figure.figure.panels.len(), 1);
}

#[test]
fn many_classes_are_shown_by_the_most_and_the_least_sensitive() {
    let mut results = of_document();
    let classes: Vec<String> = (0..50).map(|i| format!("class {i}")).collect();
    let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
    let scores: Vec<f64> = (0..50).map(f64::from).collect();
    results.breakdowns.retain(|table| table.metric != "pis.modulation@top5");
    results.breakdowns.push(breakdown(
        "resnet50",
        "pis.modulation@top5",
        &[("head", &["modulation"; 50]), ("class", &classes)],
        &[("pis", &scores)],
    ));
    let figure = figure(&results, "perturbation_by_class");
    let shown = &bars(&figure, "modulation").categories;
    assert_eq!(
        (shown.len(), shown[0].as_str(), shown[9].as_str(), shown[10].as_str()),
        (20, "class 49", "class 40", "class 9")
    );
    assert!(panel(&figure, "modulation").note.contains("of 50 classes"));
}

#[test]
fn one_strength_is_drawn_as_bars_and_models_have_files_of_their_own() {
    let mut results = one_head();
    let impact = figure(&results, "perturbation_impact_chart");
    assert_eq!(values(&bars(&impact, "Perturbation").rows[0]), [Some(5.0)]);
    results.scores.extend(of_document().scores);
    let paths = figures(&results, "perturb");
    let paths: Vec<&str> = paths.iter().map(|figure| figure.path.as_str()).collect();
    assert!(
        paths.contains(&"perturbation_analysis/perturbation_impact_chart_digits"),
        "{paths:?}"
    );
    assert!(
        paths.contains(&"perturbation_analysis/perturbation_impact_chart_resnet50"),
        "{paths:?}"
    );
}

#[test]
fn odd_perturbations_are_drawn_without_a_panic() {
    let mut broken = of_document();
    for (i, score) in broken.scores.iter_mut().enumerate() {
        match i % 4 {
            0 => score.value = None,
            1 => score.value = Some(f64::NEG_INFINITY),
            2 => score.interval = Some([f64::NAN, 1.0]),
            _ => score.chance = Some(f64::NAN),
        }
    }
    let mut cut = of_document();
    for table in &mut cut.breakdowns {
        table.keys.iter_mut().for_each(|key| key.values.truncate(2));
        table.columns.truncate(1);
    }
    let mut empty = of_document();
    empty.scores.iter_mut().for_each(|score| score.value = None);
    for results in [broken, cut, empty] {
        for figure in figures(&results, "perturb") {
            assert!(
                to_svg(&figure.figure, &Style::default()).ends_with("</svg>\n"),
                "{}",
                figure.path
            );
        }
        let findings = crate::perturb_findings(&results, &[], &[]);
        assert!(!findings.is_empty());
        let files = [
            crate::perturb_summary(&results, "x", &findings),
            crate::perturb_details(&results, "x", &serde_json::Value::Null),
        ];
        for text in files {
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        }
        assert_eq!(crate::perturb_latex(&results, "x").len(), 3);
        assert!(
            !crate::perturb_table(&results, &findings, true, crate::Format::Table, 80, crate::Color::No).is_empty()
        );
    }
}
