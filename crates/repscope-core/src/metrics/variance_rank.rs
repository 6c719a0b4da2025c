// SPDX-License-Identifier: MIT
//! How many principal components hold nearly all of the variance. See the page.

use super::participation_ratio::NO_VARIANCE;
use super::rankme::of_singular_values;
use super::{Metric, Output, Results};
use crate::error::Result;
use crate::plan::Shared;

/// The share of the variance that the components hold.
const HELD: f64 = 0.99;

pub(super) static VARIANCE_RANK: Metric = Metric {
    id: "variance_rank",
    title: "Variance rank",
    outputs: &[
        Output::neither("variance_rank", "1 to min(N − 1, D)")
            .about("principal components that hold 99 % of the variance"),
        Output::neither("variance_rank.share", "0 to 1").about("the same as a share of all components, min(N − 1, D)"),
    ],
    page: include_str!("variance_rank.md"),
    ..of_singular_values(variance_rank)
};

fn variance_rank(shared: &Shared) -> Result<Results> {
    let singular = &shared.singular()?.centered;
    let n = singular.n;
    let [rank, share] = [&VARIANCE_RANK.outputs[0], &VARIANCE_RANK.outputs[1]].map(|output| output.id);
    let Some(found) = components(&singular.values) else {
        let undefined = |id| crate::score::Score::undefined(id, NO_VARIANCE, n);
        return Ok([rank, share].into_iter().map(undefined).collect());
    };
    let all = singular.d.min(n.saturating_sub(1)).max(1);
    let note = format!(
        "{found} of {all} components hold {:.0} % of the variance; no interval: a count that jumps",
        100.0 * HELD
    );
    let values = [(rank, found as f64), (share, found as f64 / all as f64)];
    let score = |(id, value)| crate::score::Score::number(id, value, n).with_note(note.clone());
    Ok(values.into_iter().map(score).collect())
}

/// How many of the largest squares make up the share; none where all are 0.
fn components(values: &[f64]) -> Option<usize> {
    let largest = *values.first().filter(|s| **s > 0.0)?;
    let squares = values.iter().map(|s| (s / largest).powi(2));
    let needed = HELD * squares.clone().sum::<f64>();
    let mut held = 0.0;
    let short = squares.take_while(|square| {
        held += square;
        held < needed
    });
    Some((short.count() + 1).min(values.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_counted_until_they_hold_the_share() {
        // Squares 90, 9, 1: the first two hold 99 of 100.
        let values = [90.0f64.sqrt(), 3.0, 1.0];
        assert_eq!(components(&[10.0, 0.0]), Some(1));
        assert_eq!(components(&[1.0; 5]), Some(5));
        assert_eq!(components(&values[..2]), Some(2));
        assert_eq!(components(&[10.0, 3.0, 1.0]), Some(2), "109 of 110 are 99.1 %");
        assert_eq!(components(&[0.0, 0.0]), None);
    }
}
