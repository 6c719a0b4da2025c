// SPDX-License-Identifier: MIT
//! Scores of a pool of models against their performance: weighted CLID, and which score predicts.

use repscope_core::metrics::find;
use repscope_core::{Better, Breakdown, Metric, Performance, Results, Score, Spec, relate};

const MODELS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
const CL: [f64; 6] = [0.62, 0.71, 0.55, 0.83, 0.90, 0.77];
const ID: [f64; 6] = [8.1, 12.4, 9.9, 7.2, 15.0, 11.3];
const ACCURACY: [f64; 6] = [61.0, 70.5, 58.2, 74.1, 83.9, 72.0];

fn scores(metric: &str, values: &[f64]) -> Vec<Score> {
    let score = |(model, value): (&&str, &f64)| Score {
        model: model.to_string(),
        better: Better::Neither,
        ..Score::number(metric, *value, 100)
    };
    MODELS.iter().zip(values).map(score).collect()
}

fn results(columns: &[(&str, &[f64])]) -> Results {
    Results {
        scores: columns
            .iter()
            .flat_map(|(metric, values)| scores(metric, values))
            .collect(),
        ..Results::default()
    }
}

fn clid(cl: &[f64], id: &[f64]) -> Results {
    results(&[("clid.cl", cl), ("clid.id", id)])
}

fn accuracy(values: &[f64]) -> Performance {
    Performance {
        name: "accuracy".to_string(),
        of_model: MODELS
            .iter()
            .map(|m| m.to_string())
            .zip(values.iter().copied())
            .collect(),
    }
}

fn metric(id: &str) -> &'static Metric {
    find(id).expect("a metric of ours").0
}

/// Relates and gives everything back.
fn related(mut results: Results, metrics: &[&str], performance: &Performance) -> Results {
    let metrics: Vec<&Metric> = metrics.iter().map(|id| metric(id)).collect();
    relate(&mut results, &metrics, performance, &Spec::default()).expect("good input");
    results
}

fn table<'a>(results: &'a Results, metric: &str) -> &'a Breakdown {
    results.breakdowns.iter().find(|b| b.metric == metric).expect("a table")
}

fn cell(results: &Results, metric: &str, row: &str, column: &str) -> Option<f64> {
    let table = table(results, metric);
    let line = table.keys[0].values.iter().position(|v| v == row).expect("a line");
    let column = table.columns.iter().find(|c| c.name == column).expect("a column");
    column.values[line]
}

fn value(results: &Results, model: &str, metric: &str) -> f64 {
    let score = results.score(model, metric).expect("a score");
    score
        .value
        .unwrap_or_else(|| panic!("{model} has no {metric}: {:?}", score.reason))
}

fn assert_close(got: f64, expected: f64) {
    // Quantiles of Student's t are good to 1e-7 or so.
    assert!(
        (got - expected).abs() <= 1e-6 * expected.abs().max(1.0),
        "{got} instead of {expected}"
    );
}

// NumPy 2.4.6: z = (v - v.mean()) / v.std() for CL and ID; w = numpy.linalg.lstsq([z_cl, z_id, 1], accuracy);
// standard errors sqrt(diag(inv(ZᵀZ)) · RSS / 3); ends w ± scipy.stats.t.ppf(0.975, 3) · error.
#[test]
fn weights_equal_numpys_least_squares() {
    let found = related(clid(&CL, &ID), &["weighted_clid"], &accuracy(&ACCURACY));
    let expected = [
        (
            "cl",
            7.514_871_309_966_614_5,
            0.303_423_199_277_726,
            6.549_243_270_487_853,
            8.480_499_349_445_376,
        ),
        (
            "id",
            1.893_913_043_289_556,
            0.303_423_199_277_725_93,
            0.928_285_003_810_794_8,
            2.859_541_082_768_316_8,
        ),
        (
            "intercept",
            69.95,
            0.274_496_476_010_862_4,
            69.076_429_704_105_85,
            70.823_570_295_894_19,
        ),
    ];
    assert_eq!(table(&found, "weighted_clid").keys[0].values, ["cl", "id", "intercept"]);
    for (term, weight, error, low, high) in expected {
        let got = |column| cell(&found, "weighted_clid", term, column).unwrap();
        assert!((got("weight") - weight).abs() < 1e-12 * weight, "{}", got("weight"));
        assert!((got("standard_error") - error).abs() < 1e-12);
        assert_close(got("low"), low);
        assert_close(got("high"), high);
    }
    let weighted = [
        -8.767_952_544_829_837,
        0.002_341_567_121_647_913_7,
        -11.879_025_625_349_259,
        3.810_748_441_122_284,
    ];
    for (model, expected) in MODELS.iter().zip(weighted) {
        assert!((value(&found, model, "weighted_clid") - expected).abs() < 1e-12);
    }
    let first = found.score("a", "weighted_clid").unwrap();
    // w·z ± t · sqrt(zᵀ C z), with C the covariance of the two weights.
    let [low, high] = first.interval.unwrap();
    assert_close(low, -9.747_973_084_238_1);
    assert_close(high, -7.787_932_005_421_577);
    assert_eq!(first.n, 6);
    assert_eq!(
        first.note.as_deref(),
        Some("fitted on these models: compare by weighted_clid.left_out")
    );
}

// NumPy 2.4.6: for each model the same fit on the other five, standardised by their own mean and deviation.
// The ends are those of a prediction: ± t.ppf(0.975, 2) · sqrt(RSS / 2 · (1 + xᵀ inv(ZᵀZ) x)).
#[test]
fn left_out_predictions_equal_numpys_fit_on_the_other_models() {
    let found = related(clid(&CL, &ID), &["weighted_clid"], &accuracy(&ACCURACY));
    let expected = [
        (61.291_942_496_843_65, 56.893_790_475_312_78, 65.690_094_518_374_54),
        (69.737_011_620_601_12, 66.258_269_003_180_89, 73.215_754_238_021_36),
        (57.898_498_104_095_3, 52.560_456_877_152_54, 63.236_539_331_038_07),
        (71.802_121_649_459_66, 65.788_958_955_748_67, 77.815_284_343_170_66),
        (83.514_020_881_947_09, 76.805_970_309_034_36, 90.222_071_454_859_82),
        (73.155_108_066_543_69, 71.393_507_764_622_87, 74.916_708_368_464_51),
    ];
    for (model, (predicted, low, high)) in MODELS.iter().zip(expected) {
        let score = found.score(model, "weighted_clid.left_out").unwrap();
        assert!((score.value.unwrap() - predicted).abs() < 1e-10);
        assert_close(score.interval.unwrap()[0], low);
        assert_close(score.interval.unwrap()[1], high);
        assert_eq!(score.note.as_deref(), Some("accuracy as predicted from 5 other models"));
    }
}

#[test]
fn an_exact_relation_gives_its_weights_back_and_predicts_exactly() {
    // CL and ID at the corners of a rectangle: z is ±1, and the two are independent.
    let z: [(f64, f64); 8] = [
        (-1., -1.),
        (-1., 1.),
        (1., -1.),
        (1., 1.),
        (-1., -1.),
        (-1., 1.),
        (1., -1.),
        (1., 1.),
    ];
    let cl = z.map(|z| 0.5 + 0.25 * z.0);
    let id = z.map(|z| 10.0 + 4.0 * z.1);
    let performance = z.map(|z| 2.0 * z.0 - z.1);
    let found = related(clid(&cl, &id), &["weighted_clid"], &accuracy(&performance));
    for (term, weight) in [("cl", 2.0), ("id", -1.0), ("intercept", 0.0)] {
        assert!((cell(&found, "weighted_clid", term, "weight").unwrap() - weight).abs() < 1e-14);
        assert!(cell(&found, "weighted_clid", term, "standard_error").unwrap() < 1e-14);
    }
    for (model, expected) in MODELS.iter().zip(performance) {
        assert!((value(&found, model, "weighted_clid") - expected).abs() < 1e-13);
        assert!((value(&found, model, "weighted_clid.left_out") - expected).abs() < 1e-13);
    }
}

#[test]
fn a_model_without_performance_is_weighted_by_the_others_and_predicted() {
    // The plane 3 + 10·CL + ID, of which five models are known.
    let plane: Vec<f64> = CL.iter().zip(ID).map(|(cl, id)| 3.0 + 10.0 * cl + id).collect();
    let found = related(clid(&CL, &ID), &["weighted_clid"], &accuracy(&plane[..5]));
    let score = found.score("f", "weighted_clid.left_out").unwrap();
    assert!((score.value.unwrap() - plane[5]).abs() < 1e-12);
    // All known models lie on the plane.
    assert_eq!(
        score.note.as_deref(),
        Some("no interval: none of 5 models changes the value; accuracy as predicted from 5 other models")
    );
    let weighted = found.score("f", "weighted_clid").unwrap();
    // Without the intercept, which is the mean of the five.
    let mean = plane[..5].iter().sum::<f64>() / 5.0;
    assert!((weighted.value.unwrap() - (plane[5] - mean)).abs() < 1e-12);
    assert_eq!(
        (weighted.n, weighted.note.as_deref()),
        (
            5,
            Some("no interval: none of 5 models changes the value; weights of 5 other models")
        )
    );
}

#[test]
fn four_models_are_enough_and_three_are_not() {
    let four = related(clid(&CL[..4], &ID[..4]), &["weighted_clid"], &accuracy(&ACCURACY));
    let score = four.score("a", "weighted_clid.left_out").unwrap();
    // The plane through the other three, NumPy's linalg.solve, which leaves no room for an error.
    assert!((score.value.unwrap() - 61.280565371024736).abs() < 1e-10);
    assert_eq!(score.interval, None);
    assert!(four.score("a", "weighted_clid").unwrap().interval.is_some());
    let three = related(clid(&CL[..5], &ID[..5]), &["weighted_clid"], &accuracy(&ACCURACY[..3]));
    for id in ["weighted_clid", "weighted_clid.left_out"] {
        let score = three.score("e", id).unwrap();
        let reason = "3 of 5 models have CL, ID and accuracy; weights need at least 4";
        assert_eq!((score.value, score.reason.as_deref(), score.n), (None, Some(reason), 3));
    }
    assert!(three.breakdowns.is_empty());
}

// NumPy 2.4.6: lstsq([z_cl, 1], accuracy) gives 8.3219… and a standard error sqrt(RSS / 4 / 6).
#[test]
fn a_part_that_all_models_share_has_weight_zero() {
    let found = related(clid(&CL, &[9.1; 6]), &["weighted_clid"], &accuracy(&ACCURACY));
    let at = |term, column| cell(&found, "weighted_clid", term, column);
    assert_close(at("cl", "weight").unwrap(), 8.321_910_477_112_29);
    assert_close(at("cl", "standard_error").unwrap(), 0.889_049_962_637_406_5);
    assert_close(at("cl", "low").unwrap(), 5.853_512_060_071_381);
    assert_eq!(
        (at("id", "weight"), at("id", "standard_error"), at("id", "low")),
        (Some(0.0), None, None)
    );
    let note = found.score("a", "weighted_clid").unwrap().note.clone().unwrap();
    assert!(
        note.ends_with("; ID is the same for all 6 models and has weight 0"),
        "{note}"
    );
    let swapped = related(clid(&[0.8; 6], &CL), &["weighted_clid"], &accuracy(&ACCURACY));
    assert_close(
        cell(&swapped, "weighted_clid", "id", "weight").unwrap(),
        8.321_910_477_112_29,
    );
    assert_eq!(cell(&swapped, "weighted_clid", "cl", "weight"), Some(0.0));
}

#[test]
fn weights_that_cannot_be_told_apart_are_undefined_and_say_why() {
    let line = CL.map(|cl| 3.0 - 2.0 * cl);
    let reason = |cl: &[f64], id: &[f64], performance: &[f64]| {
        let found = related(clid(cl, id), &["weighted_clid"], &accuracy(performance));
        assert!(found.breakdowns.is_empty());
        let score = found.score("c", "weighted_clid").unwrap();
        assert_eq!(score.value, None);
        score.reason.clone().unwrap()
    };
    assert_eq!(
        reason(&CL, &line, &ACCURACY),
        "CL and ID have a correlation of -1.0000 over 6 models, so their weights cannot be separated"
    );
    assert_eq!(
        reason(&[0.1; 6], &[9.1; 6], &ACCURACY),
        "CL is 0.1000 and ID 9.1000 for all 6 models, so there is nothing to fit by"
    );
    assert_eq!(
        reason(&CL, &ID, &[70.0; 6]),
        "accuracy is 70 for all 6 models, so there is nothing to fit"
    );
}

#[test]
fn a_model_that_alone_tells_cl_from_id_cannot_be_left_out() {
    // Without the last model, ID = 10·CL.
    let mut id = CL.map(|cl| 10.0 * cl);
    id[5] = 20.0;
    let found = related(clid(&CL, &id), &["weighted_clid"], &accuracy(&ACCURACY));
    let last = found.score("f", "weighted_clid.left_out").unwrap();
    assert!(
        last.reason
            .as_deref()
            .unwrap()
            .contains("correlation of 1.0000 over 5 models")
    );
    assert!(found.score("e", "weighted_clid.left_out").unwrap().value.is_some());
    assert!(found.score("f", "weighted_clid").unwrap().value.is_some());
}

#[test]
fn a_model_without_cl_is_no_part_of_the_pool_and_says_why() {
    let mut results = clid(&CL, &ID);
    let lost = results
        .scores
        .iter_mut()
        .find(|s| s.model == "b" && s.metric == "clid.cl")
        .unwrap();
    *lost = Score {
        model: "b".to_string(),
        ..Score::undefined("clid.cl", "too few rows", 3)
    };
    let found = related(results, &["weighted_clid"], &accuracy(&ACCURACY));
    let score = found.score("b", "weighted_clid").unwrap();
    assert_eq!(score.reason.as_deref(), Some("no clid.cl: too few rows"));
    assert_eq!(found.score("a", "weighted_clid").unwrap().n, 5);
    let without = related(results_of_rankme(), &["weighted_clid"], &accuracy(&ACCURACY));
    let reason = without.score("a", "weighted_clid").unwrap().reason.clone().unwrap();
    assert_eq!(reason, "there is no clid.cl of this model; ask for `clid` too");
}

fn results_of_rankme() -> Results {
    results(&[("rankme(variant=paper)", &CL)])
}

// SciPy 1.17.1: spearmanr(untied, performance), its p-value over all orders by permutation_test(…, "pairings"),
// kendalltau(untied, performance); ends by Fisher's z in NumPy.
#[test]
fn every_score_is_correlated_with_the_performance() {
    let performance = accuracy(&[2.0, 7.0, 1.0, 8.0, 2.5, -1.0, 8.5, 3.0]);
    let untied = [3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0];
    let rising: Vec<f64> = performance.of_model.iter().map(|m| m.1.exp()).collect();
    let found = related(
        results(&[
            ("two_nn", &untied),
            ("uniformity", &[4.0; 8]),
            ("rankme(variant=spec)", &rising),
        ]),
        &["performance"],
        &performance,
    );
    let at = |row, column| cell(&found, "performance", row, column);
    assert_eq!(
        table(&found, "performance").keys[0].values,
        ["rankme(variant=spec)", "two_nn", "uniformity"]
    );
    let names: Vec<&str> = table(&found, "performance")
        .columns
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "models",
            "spearman",
            "spearman_low",
            "spearman_high",
            "spearman_p",
            "spearman_q",
            "kendall",
            "kendall_low",
            "kendall_high",
            "kendall_p"
        ]
    );
    for (column, expected) in [
        ("models", 8.0),
        ("spearman", -0.690_476_190_476_190_6),
        ("spearman_low", -0.949_263_547_963_934),
        ("spearman_high", 0.125_879_350_921_628_77),
        ("spearman_p", 0.069_394_841_269_841_27),
        // The larger of two p-values stays as it is.
        ("spearman_q", 0.069_394_841_269_841_27),
        ("kendall", -0.428_571_428_571_428_55),
        ("kendall_low", -0.802_633_948_277_571_6),
        ("kendall_high", 0.187_438_711_586_210_4),
        ("kendall_p", 0.178_869_047_619_047_62),
    ] {
        assert_close(at("two_nn", column).unwrap(), expected);
    }
    // 2 of 40,320 orders, and the smaller of two p-values counts twice.
    assert_eq!(
        (
            at("rankme(variant=spec)", "spearman"),
            at("rankme(variant=spec)", "spearman_high")
        ),
        (Some(1.0), Some(1.0))
    );
    assert!((at("rankme(variant=spec)", "spearman_p").unwrap() - 2.0 / 40_320.0).abs() < 1e-18);
    assert!((at("rankme(variant=spec)", "spearman_q").unwrap() - 4.0 / 40_320.0).abs() < 1e-18);
    // A constant score has a line and no correlation.
    assert_eq!(at("uniformity", "models"), Some(8.0));
    for column in &names[1..] {
        assert_eq!(at("uniformity", column), None, "{column}");
    }
    assert_eq!(found.warnings, Vec::<String>::new());
}

// SciPy 1.17.1: false_discovery_control([2/24, 2/24, 1/3, 1]) = [1/6, 1/6, 4/9, 1], the p-values being those of four models.
#[test]
fn q_values_are_benjaminis_and_hochbergs() {
    let columns: [(&str, &[f64]); 4] = [
        ("two_nn", &[1.0, 2.0, 3.0, 4.0]),
        ("uniformity", &[4.0, 3.0, 2.0, 1.0]),
        ("stable_rank", &[1.0, 3.0, 2.0, 4.0]),
        // Σ d² = 10 gives rho = 0.
        ("numerical_rank", &[2.0, 4.0, 1.0, 3.0]),
    ];
    let found = related(results(&columns), &["performance"], &accuracy(&[1.0, 2.0, 3.0, 4.0]));
    let table = table(&found, "performance");
    assert_eq!(
        table.keys[0].values,
        ["two_nn", "uniformity", "stable_rank", "numerical_rank"]
    );
    for (row, p, q) in [
        ("two_nn", 1.0 / 12.0, 1.0 / 6.0),
        ("uniformity", 1.0 / 12.0, 1.0 / 6.0),
        ("stable_rank", 1.0 / 3.0, 4.0 / 9.0),
        ("numerical_rank", 1.0, 1.0),
    ] {
        assert_close(cell(&found, "performance", row, "spearman_p").unwrap(), p);
        assert_close(cell(&found, "performance", row, "spearman_q").unwrap(), q);
        assert_eq!(cell(&found, "performance", row, "kendall_low"), None);
    }
}

#[test]
fn scores_fitted_to_the_performance_are_correlated_but_not_tested() {
    let found = related(clid(&CL, &ID), &["weighted_clid", "performance"], &accuracy(&ACCURACY));
    let at = |row, column| cell(&found, "performance", row, column);
    for row in ["weighted_clid", "weighted_clid.left_out"] {
        assert!(
            at(row, "spearman").unwrap() > 0.9 && at(row, "kendall").unwrap() > 0.8,
            "{row}"
        );
        for column in [
            "spearman_low",
            "spearman_high",
            "spearman_p",
            "spearman_q",
            "kendall_low",
            "kendall_p",
        ] {
            assert_eq!(at(row, column), None, "{row} {column}");
        }
    }
    // CL and ID are the two that count for the adjustment.
    let p = at("clid.cl", "spearman_p").unwrap();
    assert_close(at("clid.cl", "spearman_q").unwrap(), 2.0 * p);
}

#[test]
fn a_score_of_fewer_than_four_models_does_not_appear() {
    let mut results = results(&[("two_nn", &CL), ("uniformity", &ID[..3])]);
    for model in ["d", "e"] {
        results.scores.push(Score {
            model: model.to_string(),
            ..Score::undefined("uniformity", "one row", 1)
        });
    }
    let found = related(results, &["performance"], &accuracy(&ACCURACY));
    assert_eq!(table(&found, "performance").keys[0].values, ["two_nn"]);
}

#[test]
fn models_and_performances_without_a_partner_are_named() {
    let mut performance = accuracy(&ACCURACY[..4]);
    let strangers = ["p", "q", "r", "s", "t", "u", "v"].map(|m| (m.to_string(), 1.0));
    performance.of_model.extend(strangers);
    let found = related(results_of_rankme(), &["performance"], &performance);
    assert_eq!(
        found.warnings,
        [
            "2 of 6 models have no accuracy and are left out where scores are compared with it: `e`, `f`",
            "7 of 11 values of accuracy belong to no evaluated model: `p`, `q`, `r`, `s`, `t` and 2 more; names must be \
             spelled alike",
        ]
    );
    assert_eq!(
        cell(&found, "performance", "rankme(variant=paper)", "models"),
        Some(4.0)
    );
}

#[test]
fn nothing_to_correlate_is_a_warning_and_no_table() {
    let few = related(results_of_rankme(), &["performance"], &accuracy(&ACCURACY[..3]));
    assert!(few.breakdowns.is_empty());
    assert_eq!(
        few.warnings[1],
        "3 of 6 models have a value of accuracy; correlations of scores with it need at least 4"
    );
    let mut results = results_of_rankme();
    results.scores.iter_mut().for_each(|s| s.value = None);
    let none = related(results, &["performance"], &accuracy(&ACCURACY));
    assert!(none.breakdowns.is_empty());
    assert_eq!(
        none.warnings,
        ["no score has a value for 4 of the 6 models with accuracy, so none is correlated with it"]
    );
    let constant = related(results_of_rankme(), &["performance"], &accuracy(&[70.0; 6]));
    assert_eq!(
        constant.warnings,
        ["no score has a correlation with accuracy: over these 6 models it is constant, or every score is"]
    );
    assert_eq!(
        cell(&constant, "performance", "rankme(variant=paper)", "spearman"),
        None
    );
}

#[test]
fn a_performance_that_is_no_number_or_given_twice_is_refused() {
    let refused = |performance: &Performance| {
        let before = results_of_rankme();
        let mut results = before.clone();
        let error = relate(&mut results, &[metric("performance")], performance, &Spec::default()).unwrap_err();
        assert_eq!(results, before);
        error.to_string()
    };
    let message = refused(&accuracy(&[1.0, f64::NAN]));
    assert!(message.contains("accuracy of model `b` is NaN"), "{message}");
    let mut twice = accuracy(&ACCURACY);
    twice.of_model.push(("a".to_string(), 1.0));
    let message = refused(&twice);
    assert!(message.contains("`a` has two values of accuracy"), "{message}");
}

#[test]
fn a_metric_of_codes_is_no_metric_of_performance() {
    let mut results = results_of_rankme();
    let error = relate(
        &mut results,
        &[metric("rankme")],
        &accuracy(&ACCURACY),
        &Spec::default(),
    )
    .unwrap_err();
    assert!(
        error.to_string().contains("`rankme` is not a score of models"),
        "{error}"
    );
}

#[test]
fn both_metrics_are_found_by_name_and_by_output() {
    for (asked, metric, output) in [
        ("performance", "performance", None),
        ("performance.spearman", "performance", Some("performance.spearman")),
        ("performance.kendall", "performance", Some("performance.kendall")),
        ("weighted_clid", "weighted_clid", Some("weighted_clid")),
        (
            "weighted_clid.left_out",
            "weighted_clid",
            Some("weighted_clid.left_out"),
        ),
    ] {
        let found = find(asked).map(|(m, o)| (m.id, o.map(|o| o.id)));
        assert_eq!(found, Some((metric, output)));
    }
}
