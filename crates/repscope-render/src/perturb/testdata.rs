// SPDX-License-Identifier: MIT
//! Results of perturbations for the tests. Scores are calculated by hand: accuracy lost divided by the share.

use crate::testdata::{missing, names, numbers, score};
use repscope_core::{Better, Breakdown, NameColumn, NumberColumn, Results, Score};

const MODEL: &str = "resnet50";
const HEADS: [&str; 3] = ["modulation", "snr", "combined"];
const BASELINES: [f64; 3] = [0.7639, 0.6871, 0.5126];
const CHANCES: [f64; 3] = [0.0625, 0.0667, 0.0042];

/// Name, family, percent and masked share of lit pixels; then for each head accuracy, accuracy lost and score.
type Row = (&'static str, &'static str, f64, f64, [[f64; 3]; 3]);
const ROWS: [Row; 6] = [
    // The accuracies of the example of the specification.
    (
        "top1",
        "top",
        1.0,
        0.01,
        [[0.72, 0.0439, 4.39], [0.65, 0.0371, 3.71], [0.48, 0.0326, 3.26]],
    ),
    (
        "top5",
        "top",
        5.0,
        0.05,
        [[0.4639, 0.3, 6.0], [0.4371, 0.25, 5.0], [0.1526, 0.36, 7.2]],
    ),
    (
        "bottom1",
        "bottom",
        1.0,
        0.01,
        [[0.7599, 0.004, 0.4], [0.6851, 0.002, 0.2], [0.5046, 0.008, 0.8]],
    ),
    (
        "bottom5",
        "bottom",
        5.0,
        0.25,
        [[0.7539, 0.01, 0.2], [0.6821, 0.005, 0.1], [0.4976, 0.015, 0.3]],
    ),
    (
        "random1",
        "random",
        1.0,
        0.01,
        [[0.7539, 0.01, 1.0], [0.6771, 0.01, 1.0], [0.4926, 0.02, 2.0]],
    ),
    (
        "random5",
        "random",
        5.0,
        0.05,
        [[0.7139, 0.05, 1.0], [0.6471, 0.04, 0.8], [0.4481, 0.0645, 1.29]],
    ),
];
/// Half the width of the intervals of an accuracy and of a loss of accuracy.
const REACH: [f64; 2] = [0.003, 0.002];

/// Two heads and six sets, with the baseline of that example and its accuracies at top 1 %.
pub(crate) fn of_document() -> Results {
    let mut results = Results::default();
    for (place, head) in HEADS.iter().enumerate() {
        results.scores.push(accuracy(place, "baseline", BASELINES[place]));
        for (set, _, _, _, of_heads) in &ROWS {
            results.scores.push(accuracy(place, set, of_heads[place][0]));
        }
        for (set, _, percent, lit, of_heads) in &ROWS {
            let [_, drop, pis] = of_heads[place];
            results
                .scores
                .extend(impacts(head, set, drop, pis, percent / 100.0, *lit));
        }
        for pair in ROWS.chunks(2) {
            let [first, second] = [pair[0].4[place], pair[1].4[place]];
            let mean = ((first[2] + second[2]) * 5e5).round() / 1e6;
            let aopc = (first[1] + second[1]) / 3.0;
            results.scores.extend([
                about(&format!("pis.{head}.mean@{}", pair[0].1), mean, 0.2),
                about(&format!("pis.{head}.aopc@{}", pair[0].1), aopc, 0.01),
                about(
                    &format!("pis.{head}.deletion@{}", pair[0].1),
                    BASELINES[place] - aopc,
                    0.01,
                ),
            ]);
        }
    }
    results.breakdowns.push(strengths());
    results.breakdowns.extend(by_class());
    results
}

/// One head, one set, and nothing known of what was masked.
pub(crate) fn one_head() -> Results {
    let lit = missing("digits", "pis.digit(f=lit)@top1", "the share is not known");
    let mut results = Results {
        scores: vec![
            about("accuracy.digit@baseline", 0.9, 0.01).with_chance(0.1),
            about("accuracy.digit@top1", 0.85, 0.01).with_chance(0.1),
            about("pis.digit@top1", 5.0, 0.5),
            about("pis.digit.drop@top1", 0.05, 0.005),
            lit,
        ],
        ..Results::default()
    };
    results
        .scores
        .iter_mut()
        .for_each(|score| score.model = "digits".to_string());
    results
}

/// Gives a score of [`of_document`] another value.
pub(crate) fn change(results: &mut Results, metric: &str, value: f64, interval: Option<[f64; 2]>) {
    let mut scores = results.scores.iter_mut();
    let score = scores
        .find(|score| score.metric == metric)
        .expect("a score of that name");
    (score.value, score.interval) = (Some(value), interval);
}

fn about(metric: &str, value: f64, reach: f64) -> Score {
    let ends = Some((value - reach, value + reach, "samples", "Bonett-Price"));
    score(MODEL, metric, value, ends, Better::Neither)
}

fn accuracy(place: usize, set: &str, value: f64) -> Score {
    let metric = format!("accuracy.{}@{set}", HEADS[place]);
    let ends = Some((value - REACH[0], value + REACH[0], "samples", "Wilson"));
    score(MODEL, &metric, value, ends, Better::Higher).with_chance(CHANCES[place])
}

fn impacts(head: &str, set: &str, drop: f64, pis: f64, nominal: f64, lit: f64) -> Vec<Score> {
    let id = |part: &str| format!("pis.{head}{part}@{set}");
    vec![
        about(&id(""), pis, REACH[1] / nominal),
        about(&id("(f=lit)"), drop / lit, REACH[1] / lit),
        about(&id(".drop"), drop, REACH[1]),
        about(&id(".relative"), drop / 0.5, REACH[1] / 0.5),
        score(MODEL, &id(".p"), 0.00123, None, Better::Neither),
    ]
}

fn table(metric: &str, keys: Vec<NameColumn>, columns: Vec<NumberColumn>) -> Breakdown {
    Breakdown {
        model: MODEL.to_string(),
        metric: metric.into(),
        keys,
        columns,
    }
}

/// The table of all heads and sets, with the columns that are read.
fn strengths() -> Breakdown {
    let all = || HEADS.iter().flat_map(|head| ROWS.iter().map(move |row| (*head, row)));
    let text =
        |name: &str, of: &dyn Fn((&'static str, &Row)) -> &'static str| names(name, &all().map(of).collect::<Vec<_>>());
    let number =
        |name: &str, of: &dyn Fn(&Row) -> f64| numbers(name, &all().map(|(_, row)| Some(of(row))).collect::<Vec<_>>());
    table(
        "pis",
        vec![
            text("head", &|(head, _)| head),
            text("family", &|(_, row)| row.1),
            text("set", &|(_, row)| row.0),
        ],
        vec![
            number("percent", &|row| row.2),
            number("masked_lit", &|row| row.3),
            number("masked_all", &|row| row.3 / 4.0),
        ],
    )
}

/// Three classes of modulation and, at the strongest set, what masking does to each; one class has no samples.
fn by_class() -> Vec<Breakdown> {
    let classes = names("class", &["BPSK", "QPSK", "64QAM"]);
    let accuracies = ["baseline", "top5"].map(|set| {
        table(
            &format!("accuracy.modulation@{set}"),
            vec![classes.clone()],
            vec![
                numbers("support", &[Some(4.0), Some(6.0), Some(0.0)]),
                numbers("precision", &[Some(1.0), Some(0.75), None]),
                numbers("recall", &[Some(0.5), Some(1.0), None]),
                numbers("f1", &[Some(2.0 / 3.0), Some(6.0 / 7.0), None]),
            ],
        )
    });
    let confusions = ["baseline", "top5"].map(|set| {
        table(
            &format!("accuracy.modulation.confusion@{set}"),
            vec![
                names("class", &["BPSK", "BPSK", "QPSK"]),
                names("predicted", &["BPSK", "64QAM", "QPSK"]),
            ],
            vec![numbers("count", &[Some(2.0), Some(2.0), Some(6.0)])],
        )
    });
    let impacts = table(
        "pis.modulation@top5",
        vec![
            names("head", &["modulation", "modulation", "modulation", "snr"]),
            names("class", &["BPSK", "QPSK", "64QAM", "0"]),
        ],
        vec![
            numbers("samples", &[Some(4.0), Some(6.0), Some(0.0), Some(10.0)]),
            numbers("baseline", &[Some(0.5), Some(1.0), None, Some(0.8)]),
            numbers("accuracy", &[Some(0.25), Some(0.5), None, Some(0.4)]),
            numbers("drop", &[Some(0.25), Some(0.5), None, Some(0.4)]),
            numbers("pis", &[Some(5.0), Some(10.0), None, Some(8.0)]),
            numbers("pis_low", &[Some(-2.0), Some(1.0), None, Some(2.0)]),
            numbers("pis_high", &[Some(12.0), Some(19.0), None, Some(14.0)]),
            numbers("p", &[Some(1.0), Some(0.25), None, Some(0.125)]),
        ],
    );
    let mut tables = accuracies.to_vec();
    tables.extend(confusions);
    tables.push(impacts);
    tables
}
