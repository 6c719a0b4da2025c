// SPDX-License-Identifier: MIT
//! Prototypes against instances as queries. The two are compared in the same average, normalized and over labels: a plain
//! mean over prototypes has another chance level than one over instances, and a smaller ceiling at large K.

use super::{Measured, telling_ks};
use crate::numbers::rough;
use crate::retrieval::{Part, direction};
use repscope_core::Results;

const MEASURE: &str = "label_precision.normalized_macro";

/// A sentence for each space that both prototypes and instances search.
pub(super) fn against_instances(group: &[Part<'_>], results: &Results) -> Vec<String> {
    let prototypes = group
        .iter()
        .filter_map(|part| Some((part, part.direction.strip_prefix("prototype2")?)));
    prototypes
        .filter_map(|(part, target)| compare(part, instances(group, target)?, results))
        .collect()
}

/// The direction in which instances search this space, those of another space first.
fn instances<'a, 'b>(group: &'b [Part<'a>], target: &str) -> Option<&'b Part<'a>> {
    let to_target = || {
        group.iter().filter(move |part| {
            let sides = part.direction.split_once('2');
            sides.is_some_and(|(query, of)| of == target && query != "prototype")
        })
    };
    let itself = format!("{target}2{target}");
    to_target()
        .find(|part| part.direction != itself)
        .or_else(|| to_target().next())
}

fn compare(prototypes: &Part<'_>, instances: &Part<'_>, results: &Results) -> Option<String> {
    let common = telling_ks(instances);
    let k = telling_ks(prototypes).into_iter().find(|k| common.contains(k))?;
    let (a, b) = (
        Measured::new(prototypes.at(MEASURE, k))?,
        Measured::new(instances.at(MEASURE, k))?,
    );
    let verdict = if b.is_below(&a) {
        "above"
    } else if a.is_below(&b) {
        "below"
    } else {
        "not apart from"
    };
    let chances = match (a.chance(), b.chance()) {
        (Some(x), Some(y)) if rough(x) == rough(y) => format!(", chance {} in both", rough(x)),
        (Some(x), Some(y)) => format!(", chance {} and {}", rough(x), rough(y)),
        _ => String::new(),
    };
    let labels = match (labels(prototypes, k, results), labels(instances, k, results)) {
        (Some(x), Some(y)) if x != y => format!(", over {x} and {y} labels"),
        _ => String::new(),
    };
    Some(format!(
        "{} is {verdict} {}: normalized macro precision at K = {k} is {} and {}{chances}{labels}.",
        prototypes.title(),
        instances.title(),
        a.text(),
        b.text()
    ))
}

/// How many labels the average is over.
fn labels(part: &Part<'_>, k: usize, results: &Results) -> Option<usize> {
    let breakdown = results.breakdowns.iter().find(|breakdown| {
        let id = &breakdown.metric;
        let own = (Some(part.direction), part.labels, Some(k));
        breakdown.model == part.model
            && id.measure() == "label_precision"
            && (direction(id), id.labels(), id.k()) == own
    })?;
    let normalized = breakdown.columns.iter().find(|column| column.name == "normalized")?;
    Some(normalized.values.iter().flatten().count())
}

#[cfg(test)]
mod tests {
    use crate::retrieval::readings::tests::readings;
    use crate::testdata::share;

    #[test]
    fn prototypes_are_compared_with_instances_in_the_same_average() {
        let of = |direction: &str, value: f64, half_width: f64| {
            [
                share(&format!("label_precision.{direction}@10"), 0.99, 0.001, 0.1),
                share(
                    &format!("label_precision.{direction}.normalized_macro@10"),
                    value,
                    half_width,
                    0.1,
                ),
            ]
        };
        let mut scores = of("sensor2sensor", 0.9, 0.01).to_vec();
        scores.extend(of("text2sensor", 0.72, 0.01));
        scores.extend(of("prototype2sensor", 0.83, 0.05));
        let expected = "Text Prototype → Sensor is above Text → Sensor: normalized macro precision at K = 10 is 0.830 \
                        [0.780, 0.880] and 0.720 [0.710, 0.730], chance 0.1 in both.";
        assert_eq!(readings(scores).last().map(String::as_str), Some(expected));
    }
}
