// SPDX-License-Identifier: MIT
//! What the figures of scores show and say.

use super::*;

#[test]
fn neighbors_and_noise_are_sorted_as_numbers() {
    let results = complete(&["jepa", "mae"]);
    let neighborhood = figure(&results, "/neighborhood_preservation");
    let Content::Lines(Lines { curves, .. }) = &panel(&neighborhood, "Trustworthiness ↑").content else {
        panic!("a curve against the neighbors")
    };
    let ks: Vec<f64> = curves[0].points.iter().map(|point| point.x).collect();
    assert_eq!(ks, [5.0, 10.0, 15.0]);
    let robustness = figure(&results, "robustness_comparison");
    let Content::Lines(Lines { curves, .. }) = &panel(&robustness, "Distance on unit-length embeddings").content else {
        panic!("a curve against the noise")
    };
    let noise: Vec<f64> = curves[0].points.iter().map(|point| point.x).collect();
    assert_eq!(noise, [0.05, 0.1, 0.2]);
}

#[test]
fn bars_show_the_scores_with_interval_and_chance() {
    let mut results = complete(&["jepa", "mae"]);
    for score in results
        .scores
        .iter_mut()
        .filter(|score| score.metric.starts_with("knn"))
    {
        score.chance = Some(0.1);
    }
    let geometry = figure(&results, "geometry_analysis");
    let accuracy = bars(&geometry, "k-NN accuracy, k = 5 ↑");
    assert_eq!(
        accuracy.rows.iter().map(values).collect::<Vec<_>>(),
        [[Some(0.5)], [Some(0.53)]]
    );
    assert_eq!(accuracy.rows[0].bars[0].interval, Some((0.49, 0.51)));
    assert_eq!(accuracy.chance, [Some(0.1), Some(0.1)]);
    assert!(accuracy.categories.is_empty());
    let agreement = bars(&geometry, "Clusters and labels");
    assert_eq!(agreement.categories, ["NMI", "AMI"]);
    assert_eq!(values(&agreement.rows[1]), [Some(0.53), Some(0.53)]);
    assert!(bars(&geometry, "Uniformity ↓").rows[0].bars[0].value < Some(0.0));
}

#[test]
fn geometry_has_six_panels_and_a_table() {
    let geometry = figure(&complete(&["jepa", "mae"]), "geometry_analysis").figure;
    assert_eq!(geometry.panels.len(), 7);
    let Content::Table(table) = &geometry.panels[6].content else {
        panic!("the summary is a table")
    };
    assert_eq!(table.header, ["metric", "jepa", "mae"]);
    assert_eq!(geometry.panels[6].span, 3);
    let mut large = complete(&["jepa"]);
    let inertia = large
        .scores
        .iter_mut()
        .find(|score| score.metric == "inertia")
        .expect("an inertia");
    (inertia.value, inertia.interval) = (Some(6.41e6), None);
    let geometry = figure(&large, "geometry_analysis").figure;
    let Content::Table(table) = &geometry.panels[6].content else {
        panic!("the summary is a table")
    };
    assert!(
        table.rows.iter().any(|row| row[1].text == "6.41×10⁶"),
        "{:?}",
        table.rows
    );
}

#[test]
fn a_panel_without_values_says_why() {
    // Two models without labels, as in most runs.
    let geometry = figure(&two_models(), "geometry_analysis");
    let Content::Text(why) = &panel(&geometry, "Clusters and labels").content else {
        panic!("there are no labels to agree with")
    };
    assert_eq!(why, "No value: needs labels; give --labels.");
    let circular = "silhouette: on k-means' own labels: circular.";
    assert!(
        geometry.figure.notes.iter().any(|note| note == circular),
        "{:?}",
        geometry.figure.notes
    );
}

#[test]
fn a_panel_with_some_values_says_whose_is_missing_and_why() {
    let manifold = figure(&two_models(), "manifold_dimension_analysis");
    let two_nn = panel(&manifold, "Intrinsic dimension");
    assert_eq!(two_nn.note, "No value for encoder-decoder: all rows are the same.");
    let Content::Bars(bars) = &two_nn.content else {
        panic!("jepa has a value")
    };
    assert_eq!(
        bars.rows.iter().map(values).collect::<Vec<_>>(),
        [[Some(11.3712)], [None]]
    );
}

#[test]
fn notes_state_n_direction_and_intervals() {
    let notes = figure(&two_models(), "/neighborhood_preservation").figure.notes;
    assert_eq!(
        notes,
        [
            "N = 1797.",
            "↑ higher is better.",
            "Error bars and bands are 95 % intervals: jackknife over rows."
        ]
    );
}

#[test]
fn the_description_says_the_main_numbers() {
    let description = figure(&two_models(), "/neighborhood_preservation").figure.description;
    assert!(
        description.contains(
            "Trustworthiness, k = 5 (higher is better): jepa 0.7821 [0.7790, 0.7852], encoder-decoder 0.9581 [0.9570, \
             0.9592]."
        ),
        "{description}"
    );
    let many: Vec<String> = (0..12).map(|i| format!("model {i}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let description = figure(&complete(&many), "/neighborhood_preservation")
        .figure
        .description;
    assert!(
        description.contains("k = 5 (higher is better): 12 models from model 0 0.505 [0.495, 0.515] to model 11 0.835"),
        "{description}"
    );
}

#[test]
fn fit_lines_are_those_of_the_scores_with_readable_slopes() {
    let mut results = complete(&["jepa"]);
    let slope = results
        .scores
        .iter_mut()
        .find(|score| score.metric == "smoothness.slope");
    slope.expect("a slope").value = Some(1.1531e-4);
    let smoothness = figure(&results, "smoothness_comparison");
    let Content::Scatter(scatter) = &smoothness.figure.panels[0].content else {
        panic!("points come first")
    };
    assert_eq!((scatter.fits[0].slope, scatter.fits[0].intercept), (1.1531e-4, 0.25));
    assert_eq!(scatter.fits[0].label, "slope 1.15×10⁻⁴, R² 0.500");
    assert_eq!(scatter.clouds[0].points.len(), 40);
}

#[test]
fn codes_of_different_scales_do_not_share_a_scatter() {
    let mut results = complete(&["jepa", "mae"]);
    assert_eq!(figure(&results, "smoothness_comparison").figure.panels.len(), 4);
    let mae = results
        .samples
        .iter_mut()
        .find(|table| table.model == "mae" && table.metric == "smoothness");
    let (_, steps) = &mut mae.expect("samples").columns[1];
    steps.iter_mut().flatten().for_each(|step| *step *= 1000.0);
    let apart = figure(&results, "smoothness_comparison").figure;
    assert_eq!(apart.panels.len(), 5);
    assert_eq!(
        (apart.panels[0].title.as_str(), apart.panels[1].title.as_str()),
        ("jepa", "mae")
    );
}

#[test]
fn without_samples_smoothness_still_shows_its_scores() {
    let mut results = complete(&["jepa"]);
    results.samples.clear();
    let smoothness = figure(&results, "smoothness_comparison");
    assert!(matches!(smoothness.figure.panels[0].content, Content::Text(_)));
    assert_eq!(
        values(&bars(&smoothness, "Median smoothness ratio").rows[0]),
        [Some(0.5)]
    );
}

#[test]
fn boxes_of_ratios_have_the_quartiles_of_the_ratios_and_fences_of_their_logarithms() {
    // Powers of two, 2^0 to 2^8, and one far above: in logarithms the quartiles are 2 apart by 4, the fences at −4 and 12.
    let ratios: Vec<f64> = (0..9).map(|i| f64::from(1 << i)).chain([1e9]).collect();
    let summary = crate::figures::spread::log_box(&ratios).expect("ten ratios");
    assert_eq!((summary.low, summary.high), (1.0, 256.0));
    assert_eq!(summary.outliers, [1e9]);
    assert_eq!(summary.median, 24.0);
    assert_eq!(crate::figures::spread::log_box(&[0.0, -1.0]), None);
}

#[test]
fn manifold_has_six_panels_and_a_table_whatever_the_number_of_models() {
    for count in [1, 2, 12] {
        let names: Vec<String> = (0..count).map(|i| format!("model {i}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let manifold = figure(&complete(&names), "manifold_dimension_analysis");
        assert_eq!(manifold.figure.panels.len(), 7);
        let Content::Lines(Lines { curves, .. }) = &panel(&manifold, "Eigenvalue spectra").content else {
            panic!("spectra are lines")
        };
        assert_eq!(curves.len(), count);
        // The participation ratio of 4 is a quarter of the dimensions; 8 + 4 + 2 + 1 of 16 is less than 95 %.
        let dimensions = bars(&manifold, "Number of dimensions");
        assert_eq!(values(&dimensions.rows[0]), [Some(16.0), Some(4.0), Some(3.5)]);
        let Content::Table(table) = &panel(&manifold, "Summary").content else {
            panic!("the summary is a table")
        };
        let row: Vec<&str> = table.rows[0].iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(
            row,
            [
                "model 0",
                "16",
                "4.0000 [3.9900, 4.0100]",
                "25.0 %",
                "3.5000 [3.4900, 3.5100]",
                "5",
                "8",
                "1797"
            ]
        );
    }
}

#[test]
fn eigenvalues_that_are_rounding_are_counted_instead_of_drawn() {
    let mut results = complete(&["jepa"]);
    results.curves = vec![spectrum("jepa", &[1.0, 1e-15, 0.0])];
    let manifold = figure(&results, "manifold_dimension_analysis");
    let spectra = panel(&manifold, "Eigenvalue spectra");
    assert_eq!(spectra.note, "2 eigenvalues below 10⁻¹² of the largest are not drawn.");
}

#[test]
fn learnability_has_a_box_over_seeds_and_names_them() {
    let clid = figure(&complete(&["jepa", "mae"]), "clid_analysis");
    let Content::Boxes(Boxes { rows, .. }) = &panel(&clid, "CL by seed").content else {
        panic!("three runs make a box")
    };
    assert_eq!(rows[1].boxes[0].as_ref().map(|b| b.median), Some(0.85));
    assert!(
        clid.figure
            .notes
            .contains(&"Seeds of the clusterings: 42 to 44.".to_string())
    );
}

#[test]
fn predictions_are_correlations_in_the_order_of_their_strength() {
    let prediction = figure(&complete(&["jepa"]), "clid_prediction").figure;
    let Content::Bars(bars) = &prediction.panels[0].content else {
        panic!("correlations are bars")
    };
    assert_eq!(bars.categories, ["clid", "two_nn"]);
    assert_eq!(bars.rows[0].bars[0].interval, Some((0.5, 0.98)));
    assert_eq!(values(&bars.rows[0]), [Some(0.9), Some(-0.4)]);
    assert!(
        prediction
            .description
            .contains("clid with Spearman's ρ = 0.9 [0.5, 0.98]"),
        "{}",
        prediction.description
    );
}

#[test]
fn curves_of_many_models_name_the_best_and_the_last() {
    let names: Vec<String> = (0..30).map(|i| format!("model {i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = figure(&complete(&names), "/neighborhood_preservation");
    let Content::Lines(lines) = &panel(&all, "Continuity ↑").content else {
        panic!("curves over k")
    };
    let full = lines.curves.iter().filter(|curve| curve.look == CurveLook::Full);
    // Values rise with the number of the model.
    assert_eq!(full.map(|curve| curve.series).collect::<Vec<_>>(), [0, 27, 28, 29]);
    let few = figure(&complete(&names[..8]), "/neighborhood_preservation");
    let Content::Lines(lines) = &panel(&few, "Continuity ↑").content else {
        panic!("curves over k")
    };
    assert!(lines.curves.iter().all(|curve| curve.look == CurveLook::Full));
    // Boxes of single samples at one level of noise, a row for each model, and three scatter plots.
    let robustness = figure(&complete(&names), "robustness_comparison");
    let boxes = robustness
        .figure
        .panels
        .iter()
        .filter_map(|panel| match &panel.content {
            Content::Boxes(boxes) => Some(boxes),
            _ => None,
        });
    assert!(
        boxes
            .clone()
            .all(|boxes| boxes.categories.is_empty() && boxes.rows.len() == 30)
    );
    let smoothness = figure(&complete(&names), "smoothness_comparison");
    let is_scatter = |panel: &&Panel| matches!(panel.content, Content::Scatter(_));
    let scatters: Vec<&Panel> = smoothness.figure.panels.iter().filter(is_scatter).collect();
    let titles: Vec<&str> = scatters.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["model 0", "model 14", "model 29"]);
}

#[test]
fn names_that_are_a_series_are_lines_over_their_numbers() {
    let names: Vec<String> = (1..=12).map(|i| format!("epoch-{}", 5 * i)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let results = complete(&names);
    let expected = Some(Along {
        label: "epoch".to_string(),
        at: (1..=12).map(|i| f64::from(5 * i)).collect(),
    });
    let geometry = figure(&results, "geometry_analysis");
    for title in ["Uniformity ↓", "Clusters and labels", "k-NN accuracy, k = 5 ↑"] {
        assert_eq!(bars(&geometry, title).along, expected, "{title}");
    }
    // A line for each k instead of a curve for each epoch.
    let neighborhood = figure(&results, "/neighborhood_preservation");
    let trust = bars(&neighborhood, "Trustworthiness ↑");
    assert_eq!((trust.categories.len(), &trust.along), (3, &expected));
}

#[test]
fn every_figure_of_thirty_models_fits_a_column_and_a_page() {
    let names: Vec<String> = (0..30)
        .map(|i| format!("vit-base-{}", char::from(b'A' + i as u8)))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let results = complete(&names);
    for width in [Width::OneColumn, Width::TwoColumns] {
        let style = Style {
            width,
            most_height: Some(230.0),
            ..Style::default()
        };
        for named in figures(&results, "evaluate") {
            let svg = to_svg(&named.figure, &style);
            let height = svg
                .split(" height=\"")
                .nth(1)
                .and_then(|rest| rest.split("mm").next()?.parse::<f64>().ok());
            let height = height.expect("a height in millimeters");
            assert!(height <= 230.0, "{} at {width:?} is {height} mm high", named.path);
        }
    }
}

#[test]
fn many_models_are_rows_of_the_table() {
    let names = ["a", "b", "c", "d", "e"];
    let geometry = figure(&complete(&names), "geometry_analysis");
    let Content::Table(table) = &panel(&geometry, "Summary").content else {
        panic!("the summary is a table")
    };
    assert_eq!(table.header[..3], ["model", "uniformity ↓", "silhouette ↑"]);
    assert_eq!(
        table.rows.iter().map(|row| row[0].text.as_str()).collect::<Vec<_>>(),
        names
    );
    assert_eq!(table.rows[0][1].text, "−2.5000");
}

#[test]
fn numbers_in_tables_have_true_signs_and_powers() {
    let typeset = crate::figures::words::typeset;
    assert_eq!(
        typeset("-1.15e-4 [-1.2e-4, 3.81e17]"),
        "−1.15×10⁻⁴ [−1.2×10⁻⁴, 3.81×10¹⁷]"
    );
}

#[test]
fn a_real_run_without_labels_is_drawn_as_far_as_it_goes() {
    use repscope_core::run::{Driver, Order};
    use repscope_core::{Analysis, Space, Spec, Study, evaluate};
    let codes: Vec<f64> = (0..60 * 3).map(|i| f64::from(i * 7919 % 1013).sin()).collect();
    let study = Study::new("sine", Space::from_f64("codes", 60, 3, codes).expect("finite"));
    let metrics = [Analysis::Manifold, Analysis::Geometry, Analysis::Rankme]
        .map(Analysis::metrics)
        .concat();
    let results = evaluate(&[study], &metrics, &Spec::default(), &Driver::silent(Order::Serial)).expect("a run");
    assert_eq!(
        paths(&figures(&results, "evaluate")),
        [
            "manifold_dimension/manifold_dimension_analysis",
            "geometry_analysis/geometry_analysis",
            "rankme/rankme_analysis"
        ]
    );
    let geometry = figure(&results, "geometry_analysis");
    assert!(matches!(&panel(&geometry, "k-NN accuracy").content, Content::Text(why) if why.contains("labels")));
    assert!(
        geometry.figure.notes.iter().any(|note| note.contains("circular")),
        "{:?}",
        geometry.figure.notes
    );
    let ratio = results
        .score("sine", "participation_ratio")
        .and_then(|score| score.value);
    let manifold = figure(&results, "manifold_dimension_analysis");
    assert_eq!(values(&bars(&manifold, "Participation ratio").rows[0]), [ratio]);
    assert_eq!(values(&bars(&manifold, "Number of dimensions").rows[0])[0], Some(3.0));
}

#[test]
fn a_box_keeps_some_of_many_outliers_and_the_outermost() {
    // Quartiles 0 and 1, so that everything from 100 on is far out.
    let inside = (0..10_000).map(|i| f64::from(i) / 10_000.0);
    let values: Vec<f64> = inside.chain((0..1000).map(|i| 100.0 + f64::from(i))).collect();
    let outliers = crate::figures::spread::plain_box(&values).expect("values").outliers;
    assert_eq!((outliers.len(), outliers[0], outliers[119]), (120, 100.0, 1099.0));
}

#[test]
fn error_bars_and_the_whiskers_of_boxes_are_told_apart() {
    let notes = figure(&complete(&["jepa"]), "clid_analysis").figure.notes;
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("Error bars and bands are 95 % intervals")),
        "{notes:?}"
    );
    assert!(
        notes.iter().any(|note| note.starts_with("Boxes: quartiles")),
        "{notes:?}"
    );
}

#[test]
fn many_models_are_points_with_the_best_at_the_top() {
    let names: Vec<String> = (0..12).map(|model| format!("model-{model:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut results = complete(&names);
    let accuracies = results
        .scores
        .iter_mut()
        .filter(|score| score.metric == "knn_accuracy@5");
    for (index, score) in accuracies.enumerate() {
        score.chance = Some(index as f64);
    }
    let geometry = figure(&results, "geometry_analysis");
    let order = |bars: &Bars| bars.rows.iter().map(|row| row.series).collect::<Vec<_>>();
    let accuracy = bars(&geometry, "k-NN accuracy, k = 5 ↑");
    assert_eq!(
        (accuracy.look, accuracy.orientation),
        (BarsLook::Points, Orientation::Horizontal)
    );
    let best_first: Vec<usize> = (0..12).rev().collect();
    assert_eq!(order(accuracy), best_first);
    // Chance levels go with their models.
    let chance: Vec<Option<f64>> = best_first.iter().map(|model| Some(*model as f64)).collect();
    assert_eq!(accuracy.chance, chance);
    for title in ["Uniformity ↓", "Clusters and labels"] {
        let bars = bars(&geometry, title);
        let firsts: Vec<Option<f64>> = bars.rows.iter().map(|row| row.bars[0].value).collect();
        let is_lower = title.contains('↓');
        assert!(
            firsts.is_sorted_by(|a, b| if is_lower { a <= b } else { a >= b }),
            "{title}: {firsts:?}"
        );
    }
    assert_eq!(bars(&geometry, "Clusters and labels").grouping, Grouping::Series);
    let few = figure(&complete(&names[..8]), "geometry_analysis");
    let accuracy = bars(&few, "k-NN accuracy, k = 5 ↑");
    assert_eq!((accuracy.look, order(accuracy)), (BarsLook::Bars, (0..8).collect()));
}

#[test]
fn neighborhoods_of_every_size_and_dimensions_over_scales_are_curves_on_log_axes() {
    let mut results = complete(&["jepa", "mae"]);
    let about = |value: f64| Some((value - 0.01, value + 0.01, "rows", "influence"));
    for model in ["jepa", "mae"] {
        results.curves.push(Curve {
            metric: "r_nx".into(),
            x: vec![1.0, 2.0, 4.0],
            y: vec![0.5, 0.6, f64::NAN],
            ..spectrum(model, &[])
        });
        let mut add = |metric: &str, value: f64, better| {
            results.scores.push(score(model, metric, value, about(value), better));
        };
        add("r_nx.auc", 0.55, Better::Higher);
        for (metric, value) in [("gride@2", 5.0), ("gride@16", 4.0), ("gride@4", 4.5)] {
            add(metric, value, Better::Neither);
        }
        add("mle_id@20", 4.2, Better::Neither);
        add("mle_id(normalizer=k-2)@20", 4.0, Better::Neither);
        results
            .samples
            .push(samples(model, "mle_id", &[("mle_id@20", &[3.0, 5.0])]));
    }
    let lines = |figure: &NamedFigure, title: &str| match &panel(figure, title).content {
        Content::Lines(lines) => lines.clone(),
        other => panic!("{title} is {other:?}"),
    };
    let neighborhood = figure(&results, "/neighborhood_preservation");
    let above_chance = lines(&neighborhood, "Neighborhoods of every size ↑");
    let heights: Vec<Option<f64>> = above_chance.curves[1].points.iter().map(|point| point.y).collect();
    assert_eq!(heights, [Some(0.5), Some(0.6), None]);
    assert_eq!(bars(&neighborhood, "Area under R_NX ↑").rows.len(), 2);
    let manifold = figure(&results, "manifold_dimension_analysis");
    let scales = lines(&manifold, "Intrinsic dimension over scales");
    let points: Vec<(f64, Option<f64>)> = scales.curves[0].points.iter().map(|point| (point.x, point.y)).collect();
    assert_eq!(points, [(2.0, Some(5.0)), (4.0, Some(4.5)), (16.0, Some(4.0))]);
    assert_eq!(scales.curves[0].points[0].band, Some((4.99, 5.01)));
    let likelihood = bars(&manifold, "Intrinsic dimension (MLE, K = 20)");
    assert_eq!(values(&likelihood.rows[0]), [Some(4.2), Some(4.0)]);
    assert!(matches!(
        panel(&manifold, "Intrinsic dimension of single samples").content,
        Content::Histogram(_)
    ));
    assert!(
        [above_chance.x, scales.x]
            .iter()
            .all(|axis| axis.scale == repscope_figures::Scale::Log)
    );
}
