// SPDX-License-Identifier: MIT
//! Precision from the smallest to the largest K. Where a label has fewer targets than K, precision must fall: what counts
//! is whether it also falls relative to its ceiling.

use super::{Measured, NO_CEILING, telling_ks};
use crate::numbers::rough;
use crate::retrieval::Part;

/// Whether precision falls from the smallest to the largest K by more than its ceiling does.
pub(super) fn drop_with_k(part: &Part<'_>) -> Option<String> {
    let ks = telling_ks(part);
    let (first, last) = (*ks.first()?, *ks.last()?);
    if first == last {
        return None;
    }
    let at = |measure: &str| {
        Some([
            Measured::new(part.at(measure, first))?,
            Measured::new(part.at(measure, last))?,
        ])
    };
    let [from, to] = at("label_precision")?;
    if !from.is_above_chance() {
        return None;
    }
    let title = part.title();
    let values = format!("from {} at K = {first} to {} at K = {last}", from.short(), to.short());
    if !to.is_below(&from) {
        let how = if from.is_below(&to) {
            format!("rises {values}")
        } else {
            let (from, to) = (from.short(), to.short());
            format!("shows no clear drop: {from} at K = {first} and {to} at K = {last}, with intervals that overlap")
        };
        return Some(format!("{title} {how}."));
    }
    let falls = format!("{title} falls {values}");
    let (Some(ceilings), Some(normalized)) = (at("label_precision.ceiling"), at("label_precision.normalized")) else {
        return Some(format!("{falls}."));
    };
    if ceilings[1].value >= NO_CEILING {
        return Some(format!("{falls} under a ceiling of 1: hits get rarer down the list."));
    }
    let chances = match normalized.map(|n| n.chance()) {
        [Some(a), Some(b)] => format!(" (chance {} and {})", rough(a), rough(b)),
        _ => String::new(),
    };
    let both = format!("{} and {}{chances}", normalized[0].short(), normalized[1].short());
    Some(if normalized[1].is_below(&normalized[0]) {
        format!("{falls}, and normalized by the ceiling too, {both}: hits get rarer down the list.")
    } else {
        let [high, low] = ceilings.map(|ceiling| rough(ceiling.value));
        format!("{falls}, which is arithmetic: the ceiling falls from {high} to {low}; normalized by it, {both}.")
    })
}

#[cfg(test)]
mod tests {
    use crate::retrieval::readings::tests::readings;
    use crate::testdata::{plain, share};

    #[test]
    fn a_fall_that_the_ceiling_shares_is_arithmetic() {
        let mut scores = Vec::new();
        for (k, value, ceiling, normalized, chance) in [(10, 0.54, 0.6, 0.9, 0.17), (50, 0.115, 0.12, 0.96, 0.83)] {
            scores.push(share(&format!("label_precision.a2b@{k}"), value, 0.011, 0.1));
            scores.push(plain(&format!("label_precision.a2b.ceiling@{k}"), ceiling));
            scores.push(share(
                &format!("label_precision.a2b.normalized@{k}"),
                normalized,
                0.01,
                chance,
            ));
        }
        assert_eq!(
            readings(scores)[1],
            "A → B falls from 0.540 at K = 10 to 0.115 at K = 50, which is arithmetic: the ceiling falls from 0.6 to \
             0.12; normalized by it, 0.900 and 0.960 (chance 0.17 and 0.83)."
        );
    }
}
