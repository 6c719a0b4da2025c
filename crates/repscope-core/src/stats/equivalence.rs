// SPDX-License-Identifier: MIT
//! Whether two models are the same within a margin: two one-sided tests (Schuirmann 1987).
//!
//! A p-value above 0.05 says that a difference was not found, not that there is none. Here the hypothesis to reject is that the
//! models differ by the margin or more. The error and its degrees of freedom are those of the comparison, so the test needs
//! nothing but the stored differences.

use super::interval::t_two_sided;
use crate::metrics::{MetricId, Output};
use crate::results::Results;
use crate::score::{Better, Difference, Equivalence};

/// The largest difference that does not matter: in one score, or in every score with a direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Margin {
    /// The score that it is for; none for all that have no margin of their own.
    pub metric: Option<MetricId>,
    /// The size, in units of the score.
    pub within: f64,
}

/// Tests the differences whose scores have a margin, and likewise how scores change with shortened and quantized embeddings; p-values are
/// adjusted by Holm's method for being that many of either.
pub fn test_equivalence(results: &mut Results, margins: &[Margin]) {
    test_all(&mut results.differences.iter_mut().collect::<Vec<_>>(), margins);
    let changes = results.versions.iter_mut().flat_map(|own| &mut own.changes);
    test_all(&mut changes.collect::<Vec<_>>(), margins);
}

fn test_all(differences: &mut [&mut Difference], margins: &[Margin]) {
    let mut order: Vec<(f64, f64, usize)> = Vec::new();
    for (i, d) in differences.iter_mut().enumerate() {
        d.equivalent = None;
        if let Some(within) = margin(margins, d) {
            order.extend(d.p_of_equivalence(within).map(|p| (p, within, i)));
        }
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    let count = order.len();
    let mut largest = 0.0f64;
    for (rank, (p, within, i)) in order.into_iter().enumerate() {
        largest = largest.max((p * (count - rank) as f64).min(1.0));
        let d = &mut differences[i];
        d.equivalent = Some(Equivalence {
            within,
            p,
            p_adjusted: largest,
            holds: largest <= 1.0 - d.level,
        });
    }
}

/// The margin of a difference: that of its score, or the one for every score with a direction.
fn margin(margins: &[Margin], d: &Difference) -> Option<f64> {
    let own = margins.iter().find(|margin| margin.metric.as_ref() == Some(&d.metric));
    let shared = margins
        .iter()
        .find(|margin| margin.metric.is_none() && d.better != Better::Neither);
    own.or(shared).map(|margin| margin.within)
}

impl Difference {
    /// The p-value of differing by `within` or more; none where the error is unknown.
    pub fn p_of_equivalence(&self, within: f64) -> Option<f64> {
        let error = self.standard_error?;
        if error > 0.0 {
            let t = (within - self.value.abs()) / error;
            let beyond = t_two_sided(t, self.freedom.unwrap_or(f64::INFINITY)) / 2.0;
            return Some(if t > 0.0 { beyond } else { 1.0 - beyond });
        }
        // No unit tells the models apart. Units of a range of width w whose mean difference is δ all agree with a probability of
        // at most (1 − δ/w)ⁿ.
        let [least, most] = self.metric.output().map(Output::bounds)?;
        let share = within / (most - least);
        (self.value == 0.0 && self.units > 0 && share > 0.0).then(|| (1.0 - share).max(0.0).powi(self.units as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(metric: &str, value: f64, error: f64, units: usize) -> Difference {
        Difference {
            standard_error: Some(error),
            freedom: Some(units as f64 - 1.0),
            units,
            ..Difference::new(metric, ["a", "b"], value, Better::Higher, 0.95)
        }
    }

    #[test]
    fn the_p_value_is_that_of_two_one_sided_tests() {
        // The density of t with 19 degrees of freedom integrated by Simpson's rule, beyond (0.01 − 0.003)/0.004 = 1.75.
        let p = difference("m", 0.003, 0.004, 20).p_of_equivalence(0.01).unwrap();
        assert!((p - 0.048_125_703_2).abs() < 1e-8, "{p}");
        let mirrored = difference("m", -0.003, 0.004, 20).p_of_equivalence(0.01);
        assert_eq!(mirrored, Some(p));
        // Likewise beyond −2.5: a difference outside the margin is not equivalent.
        let p = difference("m", 0.02, 0.004, 20).p_of_equivalence(0.01).unwrap();
        assert!((p - 0.989_129_794_4).abs() < 1e-8, "{p}");
    }

    #[test]
    fn models_that_agree_in_every_unit_are_the_same_as_far_as_that_many_units_tell() {
        // 0.99^400 = 0.01795, 0.99^100 = 0.366.
        let p = |units| {
            difference("trustworthiness@5", 0.0, 0.0, units)
                .p_of_equivalence(0.01)
                .unwrap()
        };
        assert!((p(400) - 0.017_950_553).abs() < 1e-8 && (p(100) - 0.366_032_341).abs() < 1e-8);
        // A score without a range cannot say.
        assert_eq!(difference("uniformity", 0.0, 0.0, 400).p_of_equivalence(0.01), None);
    }

    #[test]
    fn a_margin_is_for_one_score_or_for_all_with_a_direction() {
        let mut results = Results::default();
        let of = |metric: &str, better| Difference {
            better,
            ..difference(metric, 0.001, 0.002, 50)
        };
        results.differences = vec![
            of("m", Better::Higher),
            of("n", Better::Neither),
            of("o", Better::Lower),
        ];
        let shared = Margin {
            metric: None,
            within: 0.01,
        };
        test_equivalence(&mut results, std::slice::from_ref(&shared));
        let held = |results: &Results| -> Vec<Option<f64>> {
            results.differences.iter().map(|d| Some(d.equivalent?.within)).collect()
        };
        assert_eq!(held(&results), [Some(0.01), None, Some(0.01)]);
        let own = |metric: &str, within| Margin {
            metric: Some(metric.into()),
            within,
        };
        test_equivalence(&mut results, &[shared, own("n", 0.5), own("m", 0.02)]);
        assert_eq!(held(&results), [Some(0.02), Some(0.5), Some(0.01)]);
        test_equivalence(&mut results, &[]);
        assert_eq!(held(&results), [None; 3]);
    }

    #[test]
    fn tests_of_equivalence_are_adjusted_together() {
        let mut results = Results {
            differences: vec![difference("m", 0.0, 0.004, 200), difference("n", 0.0, 0.006, 200)],
            ..Results::default()
        };
        test_equivalence(
            &mut results,
            &[Margin {
                metric: None,
                within: 0.01,
            }],
        );
        let found: Vec<Equivalence> = results.differences.iter().filter_map(|d| d.equivalent).collect();
        // Of two, the smaller p-value counts twice.
        assert_eq!(found[0].p_adjusted, 2.0 * found[0].p);
        assert_eq!(found[1].p_adjusted, found[1].p);
        assert!(found[0].holds && found[1].holds, "{found:?}");
        results.differences.push(difference("o", 0.0, 0.0075, 200));
        test_equivalence(
            &mut results,
            &[Margin {
                metric: None,
                within: 0.01,
            }],
        );
        let holds: Vec<bool> = results
            .differences
            .iter()
            .filter_map(|d| Some(d.equivalent?.holds))
            .collect();
        assert_eq!(holds, [true, false, false]);
    }
}
