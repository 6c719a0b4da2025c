// SPDX-License-Identifier: MIT
//! A small coverage study, with the program of the whole one (`examples/coverage`), and what the stored one says.

#[path = "../../examples/coverage/comparisons.rs"]
#[allow(dead_code)] // The whole study alone measures the power of comparisons.
mod comparisons;
#[path = "../../examples/coverage/designs.rs"]
mod designs;
#[path = "../../examples/coverage/intervals.rs"]
mod intervals;

use std::collections::BTreeSet;

use intervals::is_too_low;
use repscope_core::METRICS;
use repscope_core::coverage::{Cell, Exception, cells, exceptions};
use repscope_core::metrics::find;

/// Draws of each design. A cell fails where so few intervals hold the expectation that one which covers 90 % would have as few with a
/// probability below 1 %. The seeds are fixed, so the test gives the same answer every time.
const REPLICATES: usize = 200;
/// Runs of two equal models in each design.
const RUNS: usize = 40;

#[test]
fn no_interval_holds_its_expectation_in_less_than_90_percent_of_all_draws() {
    let found = intervals::measure(METRICS, REPLICATES);
    assert_holds(&found);
    // Every metric has cells, but for those whose page says that there is no interval.
    let id = |cell: &Cell| find(&cell.score).expect("a registered metric").0.id;
    let measured: BTreeSet<&str> = found.iter().map(id).collect();
    for metric in METRICS {
        let says_none = metric.page.contains("## Interval\n\nNone");
        assert_eq!(measured.contains(metric.id), !says_none, "{}", metric.id);
    }
}

#[test]
fn equal_models_have_a_winner_in_few_runs() {
    for found in comparisons::false_winners(METRICS, RUNS) {
        // Of a binomial distribution of 40 runs at 0.06, 7 or more have a probability below 1 %.
        assert!(found.false_winners < 7, "{found}");
    }
}

#[test]
fn the_stored_study_is_what_the_pages_may_quote() {
    let stored = cells();
    assert_holds(&stored);
    for exception in exceptions() {
        let is_it = |cell: &&Cell| cell.score == exception.score && cell.design == exception.design;
        let own = stored.iter().find(is_it);
        assert!(own.is_some_and(|cell| cell.coverage() < 0.9), "{exception:?} is none");
    }
}

/// That no cell is too low, but for those that are excepted.
fn assert_holds(cells: &[Cell]) {
    let exceptions = exceptions();
    let is_excepted = |cell: &Cell| {
        let is_it = |e: &Exception| e.score == cell.score && e.design == cell.design;
        exceptions.iter().any(is_it)
    };
    let is_wrong = |cell: &&Cell| is_too_low(cell) && !is_excepted(cell);
    let wrong: Vec<String> = cells.iter().filter(is_wrong).map(ToString::to_string).collect();
    assert!(
        wrong.is_empty(),
        "score, design, intervals, those that hold, width:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn a_cell_is_too_low_where_chance_does_not_explain_it() {
    // Binomial with 400 draws at 0.9: P(X ≤ 344) = 0.0066, P(X ≤ 345) = 0.0100.
    let cell = |covered| Cell {
        score: "nmi".to_string(),
        design: "gauss".to_string(),
        replicates: 400,
        covered,
        width_ratio: 1.0,
    };
    assert!(is_too_low(&cell(344)) && !is_too_low(&cell(345)));
}
