// SPDX-License-Identifier: MIT
//! What the figures of energies show.

use super::*;
use crate::etes::testdata::{change, two_systems, without_reference};
use repscope_figures::{BarsLook, Histogram, ReferenceAt, Scatter, Shares};

fn histogram(figure: &NamedFigure, place: usize) -> &Histogram {
    match &figure.figure.panels[place].content {
        Content::Histogram(histogram) => histogram,
        other => panic!("{other:?}"),
    }
}

fn scatter(figure: &NamedFigure) -> &Scatter {
    match &figure.figure.panels[0].content {
        Content::Scatter(scatter) => scatter,
        other => panic!("{other:?}"),
    }
}

fn shares(figure: &NamedFigure) -> &Shares {
    match &figure.figure.panels[0].content {
        Content::Shares(shares) => shares,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_question_has_its_figure() {
    let all = ["matched_vs_shuffled", "gap_scatter", "band_shares", "systems", "groups"]
        .map(|name| format!("etes_analysis/{name}"));
    assert_eq!(paths(&figures(&two_systems(), "etes")), all);
    assert_eq!(paths(&figures(&two_systems(), "evaluate")), all);
    // One system without references and groups.
    let mut results = without_reference();
    results.breakdowns.retain(|table| table.metric != "etes");
    assert_eq!(
        paths(&figures(&results, "etes")),
        ["etes_analysis/matched_vs_shuffled", "etes_analysis/band_shares"]
    );
    assert!(figures(&two_models(), "etes").is_empty());
}

#[test]
fn histograms_share_their_bins_hold_all_pairs_and_mark_both_means() {
    let figure = figure(&two_systems(), "matched_vs_shuffled");
    assert_eq!(figure.figure.series, ["matched pairs", "shuffled pairs"]);
    let titles: Vec<&str> = figure.figure.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["glim", "nucleus 0.95"]);
    for place in 0..2 {
        let drawn = histogram(&figure, place);
        assert_eq!(drawn.x.label, "energy −cos (lower is better)");
        assert_eq!(drawn.series[0].edges, histogram(&figure, 0).series[0].edges);
        for bins in &drawn.series {
            assert!((bins.heights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            // Shares lie where the stored ones do: the mean of a triangle is its middle.
            let mean: f64 = bins
                .edges
                .windows(2)
                .zip(&bins.heights)
                .map(|(e, h)| (e[0] + e[1]) / 2.0 * h)
                .sum();
            let expected = [[-0.3612, -0.3985], [-0.2, -0.2024]][place][usize::from(bins.series == 0)];
            assert!((mean - expected).abs() < 0.01, "{mean} and {expected}");
        }
    }
    let [matched, shuffled] = &histogram(&figure, 0).references[..] else {
        panic!("two means")
    };
    assert_eq!((matched.at, matched.series), (ReferenceAt::Vertical(-0.3985), Some(0)));
    assert_eq!(
        (shuffled.at, shuffled.series),
        (ReferenceAt::Vertical(-0.3612), Some(1))
    );
    // −0.3985 lies just above the middle of −0.398 and −0.399 in binary.
    assert_eq!([&matched.label, &shuffled.label], ["mean −0.399", "mean −0.361"]);
    assert_eq!(figure.figure.panels[0].note, "AUC 0.634 [0.600, 0.668], z −8.48.");
}

#[test]
fn fine_bins_are_put_together_as_far_as_the_samples_ask_for() {
    // Shares of 0.01 over 100 bins from −0.995 to −0.005: the quartiles are 0.5 apart. With 1000 samples, Freedman and Diaconis
    // want 2 · 0.5 / 10 = 0.1, ten bins in one.
    let mut results = without_reference();
    for curve in &mut results.curves {
        curve.y = (0..200).map(|i| if i < 100 { 0.01 } else { 0.0 }).collect();
    }
    results.scores.iter_mut().for_each(|score| score.n = 1000);
    let figure = figure(&results, "matched_vs_shuffled");
    let bins = &histogram(&figure, 0).series[0];
    assert_eq!(bins.heights.len(), 10);
    assert!((bins.edges[0] + 1.0).abs() < 1e-9 && (bins.edges[1] + 0.9).abs() < 1e-9);
    assert!(bins.heights.iter().all(|height| (height - 0.1).abs() < 1e-9));
}

#[test]
fn a_point_below_the_diagonal_is_a_text_nearer_than_its_reference() {
    let figure = figure(&two_systems(), "gap_scatter");
    let scatter = scatter(&figure);
    // The sample with the zero vector has no point.
    assert_eq!(
        scatter.clouds[0].points,
        [[-0.5, -0.52], [-0.41, -0.31], [-0.125, 0.015625]]
    );
    assert_eq!(scatter.references[0].at, ReferenceAt::Diagonal);
    // Both axes reach as far, and a little beyond the outermost points.
    assert_eq!(scatter.x.covers, scatter.y.covers);
    assert!(
        scatter.x.covers[0] < -0.52 && scatter.x.covers[1] > 0.015625,
        "{:?}",
        scatter.x.covers
    );
    assert_eq!(
        figure.figure.panels[0].note,
        "1 of 3 samples (33 %) lie below the line."
    );
    let notes = figure.figure.notes.join(" ");
    assert!(
        notes.contains("generated less reference: glim 0.0207 [0.0107, 0.0307]; nucleus"),
        "{notes}"
    );
}

#[test]
fn one_system_has_its_gaps_and_its_nearest_texts_beside_it() {
    let mut results = two_systems();
    results.scores.retain(|score| score.model == "glim");
    results.samples.retain(|table| table.model == "glim");
    results.curves.retain(|curve| curve.model == "glim");
    let gap = figure(&results, "gap_scatter");
    let gaps = histogram(&gap, 1);
    // −0.02, 0.1 and 0.140625.
    let [low, high] = [0, gaps.series[0].edges.len() - 1].map(|place| gaps.series[0].edges[place]);
    assert!(
        (low + 0.02).abs() < 1e-9 && (high - 0.140625).abs() < 1e-9,
        "{low} to {high}"
    );
    assert!((gaps.series[0].heights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(
        gaps.references.iter().map(|line| line.at).collect::<Vec<_>>(),
        [0.0, 0.0207].map(ReferenceAt::Vertical)
    );
    let pairs = figure(&results, "matched_vs_shuffled");
    let nearest = bars(&pairs, "Own text among the K nearest ↑");
    assert_eq!(nearest.categories, ["1", "5", "10"]);
    assert_eq!(values(&nearest.rows[0]), [Some(0.02), Some(0.07), Some(0.12)]);
    assert_eq!(nearest.chance[2], Some(10.0 / 300.0));
    // Several systems have a panel each and no more.
    assert!(
        figure(&two_systems(), "gap_scatter")
            .figure
            .panels
            .iter()
            .all(|panel| matches!(panel.content, Content::Scatter(_)))
    );
}

#[test]
fn bands_stand_beside_those_of_references_and_shuffled_pairs() {
    let figure = figure(&without_reference(), "band_shares");
    let shares = shares(&figure);
    assert_eq!(shares.names, ["generated texts", "shuffled pairs"]);
    assert_eq!(shares.parts[1], "good: −0.8 to −0.5");
    assert_eq!(shares.values[0][1], Some(0.12));
    // Shuffled pairs lie within 0.06 of −0.3612: all are fair.
    assert!((shares.values[1][2].unwrap_or(0.0) - 1.0).abs() < 1e-9);

    let figure = super::figure(&two_systems(), "band_shares");
    let shares = self::shares(&figure);
    assert_eq!(
        shares.names[..3],
        ["glim", "glim: reference texts", "glim: shuffled pairs"]
    );
    // −0.5 is fair, as is −0.41; −0.125 is weak.
    let expected = [0.0, 0.0, 2.0 / 3.0, 1.0 / 3.0, 0.0].map(Some);
    assert_eq!(shares.values[1], expected);
}

#[test]
fn systems_are_sorted_by_alignment_beside_their_shuffled_level() {
    let mut results = two_systems();
    change(
        &mut results,
        "nucleus 0.95",
        "etes.alignment",
        -0.5,
        Some([-0.51, -0.49]),
    );
    let figure = figure(&results, "systems");
    let drawn = bars(&figure, "Alignment ↓");
    assert_eq!(
        (drawn.look, &drawn.axis.label[..]),
        (BarsLook::Points, "energy −cos (lower is better)")
    );
    assert_eq!(drawn.categories, ["nucleus 0.95", "glim"]);
    assert_eq!(values(&drawn.rows[0]), [Some(-0.5), Some(-0.3985)]);
    assert_eq!(drawn.rows[0].bars[0].interval, Some((-0.51, -0.49)));
    assert_eq!(values(&drawn.rows[1]), [Some(-0.2), Some(-0.3612)]);
    let (low, high) = drawn.rows[1].bars[1].interval.expect("two standard deviations");
    assert!((low + 0.3612 + 0.0088).abs() < 1e-9 && (high + 0.3612 - 0.0088).abs() < 1e-9);
    let auc = bars(&figure, "Matched nearer");
    assert_eq!(
        (values(&auc.rows[0]), &auc.chance),
        (vec![Some(0.508), Some(0.634)], &vec![Some(0.5)])
    );
}

#[test]
fn groups_come_best_first_with_their_counts() {
    let figure = figure(&without_reference(), "groups");
    let drawn = bars(&figure, "Alignment by subject ↓");
    assert_eq!(drawn.categories, ["ZAB (n = 180)", "ZDM (n = 120)"]);
    assert_eq!(values(&drawn.rows[0]), [Some(-0.417), Some(-0.371)]);
    assert_eq!(drawn.rows[0].bars[0].interval, Some((-0.43, -0.404)));
    assert_eq!(values(&drawn.rows[1]), [Some(-0.362), Some(-0.36)]);
    assert!(figure.figure.description.contains("best ZAB −0.417, worst ZDM −0.371"));
    // Beside others, a system has its own color and no shuffled pairs.
    let figure = super::figure(&two_systems(), "groups");
    assert_eq!(figure.figure.series, ["glim", "nucleus 0.95"]);
    assert_eq!(bars(&figure, "Alignment by subject").rows.len(), 1);
}

#[test]
fn many_groups_are_shown_by_the_best_and_the_worst() {
    let mut results = without_reference();
    let table = results.breakdowns.last_mut().expect("the groups");
    table.keys[0].values = (0..30).map(|i| format!("s{i}")).collect();
    table.columns.retain(|column| column.name == "alignment");
    table.columns[0].values = (0..30).map(|i| Some(-0.9 + 0.01 * f64::from(i))).collect();
    let figure = figure(&results, "groups");
    let shown = &bars(&figure, "Alignment by subject").categories;
    assert_eq!((shown.len(), shown[9].as_str(), shown[10].as_str()), (20, "s9", "s20"));
    assert!(panel(&figure, "Alignment by subject").note.contains("of 30 groups"));
}

#[test]
fn of_many_systems_the_best_are_drawn() {
    let mut results = Results::default();
    for place in 0..15 {
        let mut one = without_reference();
        let name = format!("checkpoint {place}");
        change(&mut one, "glim", "etes.alignment", -0.1 - 0.01 * f64::from(place), None);
        one.scores.iter_mut().for_each(|score| score.model = name.clone());
        one.curves.iter_mut().for_each(|curve| curve.model = name.clone());
        results.scores.extend(one.scores);
        results.curves.extend(one.curves);
    }
    let figure = figure(&results, "matched_vs_shuffled");
    let titles: Vec<&str> = figure.figure.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(
        (titles.len(), titles[0], titles[11]),
        (12, "checkpoint 3", "checkpoint 14")
    );
    assert!(
        figure
            .figure
            .notes
            .iter()
            .any(|note| note == "The 12 systems with the lowest energy, of 15.")
    );
}

#[test]
fn odd_energies_are_drawn_and_told_without_a_panic() {
    let mut broken = two_systems();
    for (i, score) in broken.scores.iter_mut().enumerate() {
        match i % 4 {
            0 => score.value = None,
            1 => score.value = Some(f64::NEG_INFINITY),
            2 => score.interval = Some([f64::NAN, 1.0]),
            _ => score.chance = Some(f64::NAN),
        }
    }
    let mut cut = two_systems();
    cut.curves.iter_mut().for_each(|curve| curve.y.truncate(3));
    for table in &mut cut.breakdowns {
        table.keys.iter_mut().for_each(|key| key.values.truncate(1));
        table.columns.truncate(1);
    }
    for table in &mut cut.samples {
        table.columns.iter_mut().for_each(|(_, values)| values.truncate(2));
        table.columns[1].1.clear();
    }
    let mut empty = two_systems();
    empty.scores.iter_mut().for_each(|score| score.value = None);
    empty.samples.iter_mut().for_each(|table| table.columns.clear());
    empty.breakdowns.iter_mut().for_each(|table| table.keys.clear());
    for results in [broken, cut, empty] {
        for figure in figures(&results, "etes") {
            assert!(
                to_svg(&figure.figure, &Style::default()).ends_with("</svg>\n"),
                "{}",
                figure.path
            );
        }
        for format in [crate::Format::Table, crate::Format::Markdown, crate::Format::Latex] {
            assert!(!crate::etes_table(&results, true, format, 80, crate::Color::No).is_empty());
        }
        let json = crate::etes_samples(&results, "glim", None, None).to_json();
        assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
        assert!(!crate::document_files("etes", &results).is_empty());
    }
}
