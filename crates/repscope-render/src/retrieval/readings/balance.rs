// SPDX-License-Identifier: MIT
//! A direction against its reverse.

use super::{Measured, telling_ks};
use crate::numbers::{number, rough};
use crate::retrieval::Part;

/// Whether a direction and its reverse agree.
pub(super) fn balance(group: &[Part<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    for (i, there) in group.iter().enumerate() {
        let Some((query, target)) = there.direction.split_once('2') else {
            continue;
        };
        let reverse = format!("{target}2{query}");
        let back = group[i + 1..].iter().find(|part| part.direction == reverse);
        sentences.extend(back.filter(|_| query != target).and_then(|back| compare(there, back)));
    }
    sentences
}

fn compare(there: &Part<'_>, back: &Part<'_>) -> Option<String> {
    let common = telling_ks(back);
    let k = telling_ks(there).into_iter().find(|k| common.contains(k))?;
    let a = Measured::new(there.at("label_precision", k))?;
    let b = Measured::new(back.at("label_precision", k))?;
    // Two directions that find nothing are no good balance.
    if !a.is_above_chance() && !b.is_above_chance() {
        return None;
    }
    let (title, other_title) = (there.title(), back.title());
    let values = format!("{} and {}", a.short(), b.short());
    if let (Some(chance), Some(other)) = (a.chance(), b.chance()) {
        // Between spaces with other labels, precision starts from another level.
        if rough(chance) != rough(other) {
            return Some(format!(
                "{title} and {other_title} differ in chance level ({} and {}), so compare not their precision at K = {k} \
                 ({values}) but its ratio to chance: {} and {}.",
                rough(chance),
                rough(other),
                rough(a.value / chance),
                rough(b.value / other)
            ));
        }
    }
    Some(if !a.has_interval() || !b.has_interval() {
        let difference = number(((a.value - b.value).abs() * 1e12).round() / 1e12);
        format!("{title} and {other_title} differ by {difference} at K = {k} ({values}).")
    } else if a.overlaps(&b) {
        format!("{title} and {other_title} are balanced at K = {k}: {values}, with intervals that overlap.")
    } else {
        let better = if a.value > b.value { title } else { other_title };
        format!("The directions are not balanced at K = {k}: {values}, with intervals apart; {better} is higher.")
    })
}

#[cfg(test)]
mod tests {
    use crate::retrieval::readings::tests::readings;
    use crate::testdata::share;
    use repscope_core::Score;

    fn precision(value: f64, half_width: f64, chance: f64) -> Score {
        share("label_precision.a2b@10", value, half_width, chance)
    }

    #[test]
    fn directions_are_balanced_only_where_intervals_overlap_and_chance_is_the_same() {
        let both = |a: Score, b: f64, chance: f64| {
            let sentences = readings(vec![a, share("label_precision.b2a@10", b, 0.01, chance)]);
            sentences.last().expect("three sentences").clone()
        };
        assert_eq!(
            both(precision(0.7, 0.01, 0.1), 0.65, 0.1),
            "The directions are not balanced at K = 10: 0.700 and 0.650, with intervals apart; A → B is higher."
        );
        assert_eq!(
            both(precision(0.72, 0.01, 0.1), 0.69, 0.3),
            "A → B and B → A differ in chance level (0.1 and 0.3), so compare not their precision at K = 10 (0.720 and \
             0.690) but its ratio to chance: 7.2 and 2.3."
        );
    }
}
