// SPDX-License-Identifier: MIT
//! Differences of several analyses, adjusted for all comparisons of the run.

use repscope_core::{Better, Difference};

/// Adjusts the p-values of all differences by Holm's step-down method, and names the winners that remain. Each analysis
/// was adjusted for its own comparisons only.
pub fn adjust(differences: &mut [Difference]) {
    let known = differences.iter().enumerate().filter_map(|(i, d)| Some((d.p?, i)));
    let mut order: Vec<(f64, usize)> = known.collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let count = order.len();
    let mut largest = 0.0f64;
    for (rank, (p, i)) in order.into_iter().enumerate() {
        largest = largest.max((p * (count - rank) as f64).min(1.0));
        differences[i].p_adjusted = Some(largest);
    }
    for difference in differences {
        let is_apart = difference.p_adjusted.is_some_and(|p| p <= 1.0 - difference.level);
        let is_a_better = match difference.better {
            Better::Higher => difference.value > 0.0,
            Better::Lower => difference.value < 0.0,
            Better::Neither => continue,
        };
        let better = if is_a_better { &difference.a } else { &difference.b };
        difference.winner = (is_apart && difference.value != 0.0).then(|| better.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(value: f64, p: f64) -> Difference {
        Difference {
            metric: "m".to_string(),
            a: "a".to_string(),
            b: "b".to_string(),
            value,
            interval: None,
            level: 0.95,
            p: Some(p),
            p_adjusted: Some(p),
            better: Better::Higher,
            is_paired: true,
            unit: None,
            units: 10,
            method: None,
            note: None,
            winner: Some("b".to_string()),
        }
    }

    #[test]
    fn p_values_of_all_analyses_are_adjusted_together() {
        let mut three = [difference(1.0, 0.03), difference(-1.0, 0.01), difference(1.0, 0.02)];
        adjust(&mut three);
        // By hand: 0.01·3, then 0.02·2, then the larger of 0.03·1 and 0.04.
        let adjusted: Vec<f64> = three.iter().map(|d| d.p_adjusted.expect("a p-value")).collect();
        assert_eq!(adjusted, [0.04, 0.03, 0.04]);
        let winners: Vec<Option<&str>> = three.iter().map(|d| d.winner.as_deref()).collect();
        assert_eq!(winners, [Some("a"), Some("b"), Some("a")]);
    }

    #[test]
    fn a_winner_of_one_analysis_need_not_be_one_of_the_run() {
        let mut two = [difference(1.0, 0.04), difference(1.0, 0.5)];
        adjust(&mut two);
        assert_eq!((two[0].p_adjusted, two[0].winner.as_deref()), (Some(0.08), None));
    }
}
