// SPDX-License-Identifier: MIT
//! McNemar's test: of the samples that change, do as many get worse as get better?

use crate::stats::interval::normal_two_sided;

/// Up to this many changes the binomial law is summed; 2⁻¹⁰⁰⁰ still is a number.
const EXACT: usize = 1000;

/// The two-sided p-value: twice the tail of the binomial law, or for many changes the normal law with continuity correction
/// (Edwards 1948).
pub(super) fn p_value(lost: usize, gained: usize) -> f64 {
    let (changes, fewer) = (lost + gained, lost.min(gained));
    if changes > EXACT {
        let beyond = (lost.abs_diff(gained) as f64 - 1.0).max(0.0);
        return normal_two_sided(beyond / (changes as f64).sqrt());
    }
    let mut term = 0.5f64.powi(changes as i32);
    let mut tail = term;
    for k in 0..fewer {
        term *= (changes - k) as f64 / (k + 1) as f64;
        tail += term;
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: scipy 1.17.1, `binomtest(lost, lost + gained).pvalue`; for more than 1,000 changes
    // `chi2.sf((abs(lost - gained) - 1) ** 2 / (lost + gained), 1)`.
    #[test]
    fn p_values_equal_those_of_scipy() {
        for (lost, gained, expected) in [
            (1, 0, 1.0),
            (5, 1, 0.21875),
            (10, 3, 0.09228515625),
            (30, 12, 0.007915897334896727),
            (600, 400, 2.728464156065947e-10),
            (990, 10, 4.9666775829792705e-278),
            (1000, 0, 1.8665272370064378e-301),
            (700, 400, 1.965309225766758e-19),
            (520, 481, 0.22972593862573237),
            (3000, 2000, 2.5531576493095586e-45),
        ] {
            let p = p_value(lost, gained);
            assert!(
                (p / expected - 1.0).abs() < 1e-10,
                "{lost} {gained}: {p:e} {expected:e}"
            );
            assert_eq!(p, p_value(gained, lost));
        }
    }

    #[test]
    fn no_change_and_equal_changes_tell_nothing() {
        for changes in [0, 1, 500, 501, 100_000] {
            assert_eq!(p_value(changes, changes), 1.0);
        }
    }
}
