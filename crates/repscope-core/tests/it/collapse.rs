// SPDX-License-Identifier: MIT
//! Known cases of collapse are called what they are.

use rand::Rng;
use repscope_core::run::{Driver, Order};
use repscope_core::{Analysis, Collapse, Space, Spec, Study, evaluate, examine, random};

/// Rows of independent values, of which the first columns have a scale of 1 and the others that of `rest`.
fn rows(n: usize, d: usize, wide: usize, rest: f64, offset: f64) -> Space {
    let mut rng = random::stream(3, "collapse", 0);
    let mut uniform = || (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let scale = |at: usize| if at % d < wide { 1.0 } else { rest };
    let values = (0..n * d).map(|at| offset + scale(at) * uniform()).collect();
    Space::from_f64("z", n, d, values).expect("finite numbers")
}

fn verdict(space: Space) -> Collapse {
    let studies = [Study::new("m", space)];
    let metrics = Analysis::Rankme.metrics();
    let metrics: Vec<_> = metrics
        .into_iter()
        .filter(|own| ["rankme", "variance_rank"].contains(&own.id))
        .collect();
    let driver = Driver::silent(Order::Serial);
    let mut results = evaluate(&studies, &metrics, &Spec::default(), &driver).expect("scores");
    results.findings = examine(&studies).expect("rows in memory");
    results.collapse("m").expect("a verdict")
}

#[test]
fn known_cases_are_called_what_they_are() {
    let constant = verdict(Space::from_f64("z", 100, 4, vec![2.0; 400]).expect("numbers"));
    assert!(
        matches!(&constant, Collapse::Complete(text) if text.contains("same embedding")),
        "{constant:?}"
    );
    // Like an encoder that gives nearly one point.
    assert!(matches!(verdict(rows(200, 16, 16, 1.0, 500.0)), Collapse::Complete(_)));
    let rank_three = verdict(rows(300, 128, 3, 1e-3, 0.0));
    let Collapse::Dimensional(found) = rank_three else {
        panic!("{rank_three:?}")
    };
    assert_eq!((found.count, found.of), (3, 128));
    assert!((found.effective.expect("a rank") - 3.0).abs() < 0.1, "{found:?}");
    assert!(matches!(verdict(rows(300, 128, 128, 1.0, 0.0)), Collapse::Not(own) if own.count > 100));
}

#[test]
fn few_columns_or_few_rows_are_no_collapse() {
    assert!(matches!(verdict(rows(100, 2, 2, 1.0, 0.0)), Collapse::Not(own) if own.of == 2));
    assert!(matches!(verdict(rows(100, 15, 2, 1e-6, 0.0)), Collapse::Not(own) if own.count == 2));
    // 12 rows fill 11 of 128 directions at most.
    assert!(matches!(verdict(rows(12, 128, 128, 1.0, 0.0)), Collapse::Not(own) if own.of == 11));
}
