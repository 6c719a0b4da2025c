// SPDX-License-Identifier: MIT
//! Whether a model has collapsed, and by what evidence.

use crate::findings::Trouble;
use crate::results::Results;

/// At most this share of the possible directions holds nearly all variance of embeddings that have collapsed to them.
const FEW_DIRECTIONS: f64 = 0.1;
/// Of fewer possible directions a few are what the embeddings have by nature.
const FEWEST_DIRECTIONS: usize = 16;

/// What the embeddings of a model fill.
#[derive(Debug, Clone, PartialEq)]
pub enum Collapse {
    /// One point or one direction, in the words of the finding.
    Complete(String),
    /// A few of many directions: 99 % of the variance is in so many of so many.
    Dimensional(Directions),
    /// Neither.
    Not(Directions),
}

/// How many directions hold 99 % of the variance, of how many that are possible, and the effective rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Directions {
    /// How many there are.
    pub count: usize,
    /// How many there could be: min(N − 1, D).
    pub of: usize,
    /// The effective rank of the covariance, where it was computed.
    pub effective: Option<f64>,
}

impl Results {
    /// Whether a model has collapsed; none where neither a finding nor a score says anything about it.
    pub fn collapse(&self, model: &str) -> Option<Collapse> {
        let is_it = |trouble: Trouble, of: Option<&str>| trouble == Trouble::Collapsed && of == Some(model);
        let finding = self
            .findings
            .iter()
            .find(|own| is_it(own.trouble, own.model.as_deref()));
        if let Some(finding) = finding {
            return Some(Collapse::Complete(finding.text.clone()));
        }
        let value = |id: &str| self.score(model, id)?.value;
        let (count, share) = (value("variance_rank")?, value("variance_rank.share")?);
        let found = Directions {
            count: count.round() as usize,
            of: (count / share).round() as usize,
            effective: value("rankme(variant=spec)"),
        };
        let are_few = found.count as f64 <= FEW_DIRECTIONS * found.of as f64;
        Some(if are_few && found.of >= FEWEST_DIRECTIONS {
            Collapse::Dimensional(found)
        } else {
            Collapse::Not(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Space, Study};
    use crate::findings::examine;
    use crate::metrics::Analysis;
    use crate::plan::evaluate;
    use crate::random;
    use crate::run::{Driver, Order};
    use crate::spec::Spec;
    use rand::Rng;

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
}
