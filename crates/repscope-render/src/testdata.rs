// SPDX-License-Identifier: MIT
//! Results for the tests of all formats.

use repscope_core::{Better, Difference, Interval, NameColumn, NumberColumn, Results, Score};

/// A column of names.
pub(crate) fn names(name: &str, values: &[&str]) -> NameColumn {
    NameColumn {
        name: name.to_string(),
        values: values.iter().map(|value| value.to_string()).collect(),
    }
}

/// A column of numbers.
pub(crate) fn numbers(name: &str, values: &[Option<f64>]) -> NumberColumn {
    NumberColumn {
        name: name.to_string(),
        values: values.to_vec(),
    }
}

/// A score of a model; the interval, at 95 %, is (low, high, unit, method).
pub(crate) fn score(
    model: &str,
    metric: &str,
    value: f64,
    interval: Option<(f64, f64, &'static str, &'static str)>,
    better: Better,
) -> Score {
    let interval = interval.map(|(low, high, unit, method)| Interval {
        low,
        high,
        level: 0.95,
        standard_error: Some((high - low) / 3.92),
        unit,
        method,
        effects: None,
    });
    // Not by `Score::number`, which knows the range of the metric: what is shown does not depend on it.
    let score = Score {
        model: model.to_string(),
        value: Some(value),
        reason: None,
        better,
        ..Score::undefined(metric, "", 1797)
    };
    score.with_interval(interval)
}

/// A paired difference of two models in a score, of which the second one is better where it says so.
pub(crate) fn difference(metric: &str, models: [&str; 2], better: Better, winner: Option<&str>) -> Difference {
    Difference {
        interval: Some([-0.11, -0.09]),
        p: Some(if winner.is_some() { 0.0001 } else { 0.5 }),
        p_adjusted: Some(if winner.is_some() { 0.0004 } else { 0.5 }),
        is_paired: true,
        unit: Some("rows".to_string()),
        units: 1797,
        method: Some("paired over units, Student t".to_string()),
        winner: winner.map(str::to_string),
        ..Difference::new(metric, models, -0.1, better, 0.95)
    }
}

/// The same results after models were compared: these scores have these winners.
pub(crate) fn compared(mut results: Results, models: [&str; 2], winners: &[(&str, &str)]) -> Results {
    let better = |metric: &str| {
        results
            .scores
            .iter()
            .find(|s| s.metric == metric)
            .expect("a score")
            .better
    };
    let of = |(metric, winner): &(&str, &str)| difference(metric, models, better(metric), Some(winner));
    results.differences = winners.iter().map(of).collect();
    results
}

/// A score without a value.
pub(crate) fn missing(model: &str, metric: &str, reason: &str) -> Score {
    Score {
        model: model.to_string(),
        better: Better::Higher,
        ..Score::undefined(metric, reason, 1797)
    }
}

/// Two models with plausible values: intervals of several kinds, a note, chance, undefined values.
pub(crate) fn two_models() -> Results {
    use Better::{Higher, Lower, Neither};
    let rows = |x: f64, e: f64| Some((x - e, x + e, "rows", "jackknife"));
    let slope = |model, x, low, high| Score {
        n: 36000,
        ..score(
            model,
            "smoothness.slope",
            x,
            Some((low, high, "episodes", "jackknife")),
            Lower,
        )
    };
    let p = |model, x| Score {
        n: 36000,
        ..score(model, "smoothness.p", x, None, Neither)
    };
    let silhouette =
        |model, x| score(model, "silhouette", x, rows(x, 0.0034), Higher).with_note("on k-means' own labels: circular");
    let knn = |model, x: f64| {
        score(
            model,
            "knn_accuracy@5",
            x,
            Some((x - 0.0121, x + 0.0118, "splits", "Student t")),
            Higher,
        )
        .with_chance(0.1)
    };
    Results {
        scores: vec![
            slope("jepa", 1.1531e-4, 1.1312e-4, 1.1749e-4),
            p("jepa", 0.0),
            score("jepa", "trustworthiness@5", 0.78212, rows(0.78212, 0.0031), Higher),
            score("jepa", "continuity@5", 0.73504, rows(0.73504, 0.0029), Higher),
            score(
                "jepa",
                "two_nn",
                11.3712,
                Some((10.981, 11.772, "rows", "chi-squared")),
                Neither,
            ),
            score("jepa", "uniformity", -2.88912, rows(-2.88912, 0.0123), Lower),
            silhouette("jepa", 0.03812),
            missing("jepa", "nmi", "needs labels; give --labels"),
            missing("jepa", "ami", "needs labels; give --labels"),
            knn("jepa", 0.8612),
            slope("encoder-decoder", 1.1784e-4, 1.1551e-4, 1.2017e-4),
            p("encoder-decoder", 3.21e-12),
            score(
                "encoder-decoder",
                "trustworthiness@5",
                0.95813,
                rows(0.95813, 0.0011),
                Higher,
            ),
            score(
                "encoder-decoder",
                "continuity@5",
                0.95702,
                rows(0.95702, 0.0012),
                Higher,
            ),
            Score {
                better: Neither,
                ..missing("encoder-decoder", "two_nn", "all rows are the same")
            },
            score("encoder-decoder", "uniformity", -1.47712, rows(-1.47712, 0.0086), Lower),
            silhouette("encoder-decoder", 0.16713),
            missing("encoder-decoder", "nmi", "needs labels; give --labels"),
            missing("encoder-decoder", "ami", "needs labels; give --labels"),
            knn("encoder-decoder", 0.8644),
        ],
        ..Results::default()
    }
}

/// A share with Student's interval over 900 queries, cut at 0 and 1, and its chance level.
pub(crate) fn share(metric: &str, value: f64, half_width: f64, chance: f64) -> Score {
    let ends = (
        (value - half_width).max(0.0),
        (value + half_width).min(1.0),
        "queries",
        "Student t",
    );
    Score {
        n: 900,
        ..score("embeddings", metric, value, Some(ends), Better::Higher).with_chance(chance)
    }
}

/// A measure of a retrieval without interval and chance level, from 900 queries.
pub(crate) fn plain(metric: &str, value: f64) -> Score {
    Score {
        n: 900,
        ..score("embeddings", metric, value, None, Better::Neither)
    }
}

/// What a retrieval says of one direction at K = 10 and K = 100, with ten labels of 90 rows each: 900 targets, so that
/// the ceiling is 1 and 0.9.
pub(crate) fn direction(name: &str) -> Vec<Score> {
    let id = |measure: &str, variant: &str, k: usize| format!("{measure}.{name}{variant}@{k}");
    let mut scores = Vec::new();
    for (k, precision, normalized, ceiling) in [(10, 0.7234, 0.7234, 1.0), (100, 0.6123, 0.6803, 0.9)] {
        let recall = precision * k as f64 / 90.0;
        let by_lot = k as f64 / 900.0;
        let ends = (
            precision * 10.0 - 0.131,
            precision * 10.0 + 0.131,
            "queries",
            "Student t",
        );
        let lift = id("label_precision", ".lift", k);
        let lift = Score {
            n: 900,
            ..score("embeddings", &lift, precision * 10.0, Some(ends), Better::Higher).with_chance(1.0)
        };
        scores.extend([
            share(&id("label_precision", "", k), precision, 0.0131, 0.1),
            share(&id("label_precision", ".macro", k), precision - 0.01, 0.0127, 0.1),
            share(
                &id("label_precision", ".normalized", k),
                normalized,
                0.0131,
                0.1 / ceiling,
            ),
            plain(&id("label_precision", ".ceiling", k), ceiling),
            lift,
            share(&id("label_recall", "", k), recall, 0.0015, by_lot),
            share(&id("label_recall", ".macro", k), recall, 0.0015, by_lot),
            plain(&id("hubness", "", k), 0.4),
            plain(&id("hubness", ".never", k), 0.0),
        ]);
    }
    scores.push(share(&format!("mrr.{name}"), 0.8812, 0.0181, 0.2712));
    scores.push(plain(&format!("modality_gap.{name}"), 0.82));
    scores
}
