// SPDX-License-Identifier: MIT
//! What the spaces are like, whatever the labels: hubs among the targets, and the gap between two spaces.

use crate::numbers::{percent, rough};
use crate::retrieval::Part;

/// Hubs are worth a sentence where the counts are skewed by this much more than those of lists drawn by lot: an
/// exponential distribution has a skewness of 2, a symmetric one 0. No grade hangs on it.
const HUBS: f64 = 1.0;

/// Whether a few targets take many places.
pub(super) fn hubs(parts: &[Part<'_>]) -> Option<String> {
    let mut strong = Vec::new();
    let mut others: Vec<(f64, f64, usize)> = Vec::new();
    for part in parts {
        let mut ks = part.ks(|measure| measure == "hubness");
        ks.sort_unstable();
        let Some(k) = ks.first().copied() else { continue };
        let skewness = part.at("hubness", k).and_then(|score| score.value);
        let (Some(skewness), Some(by_lot)) = (skewness, skewness_by_lot(part, k)) else {
            continue;
        };
        if skewness - by_lot > HUBS {
            let never = part.at("hubness.never", k).and_then(|score| score.value);
            let never = never.map_or(String::new(), |never| {
                format!(
                    "; {} of the targets are never found",
                    percent((never * 100.0).round() / 100.0)
                )
            });
            strong.push(format!(
                "{} (skewness {} at K = {k}, by lot {}{never})",
                part.title(),
                rough(skewness),
                rough(by_lot)
            ));
        } else {
            others.push((skewness, by_lot, k));
        }
    }
    if !strong.is_empty() {
        return Some(format!(
            "Some targets are found far more often than others in {}.",
            strong.join(" and ")
        ));
    }
    let (skewness, by_lot, k) = others.into_iter().max_by(|a, b| (a.0 - a.1).total_cmp(&(b.0 - b.1)))?;
    Some(format!(
        "No strong hubs: how often targets are found has a skewness of {} at K = {k}, where lists drawn by lot have {}.",
        rough(skewness),
        rough(by_lot)
    ))
}

/// The skewness of the counts if every list were drawn by lot: that of a binomial distribution.
fn skewness_by_lot(part: &Part<'_>, k: usize) -> Option<f64> {
    // Every query counts here, as in the recall of pairs; those of lone labels are few.
    let queries = part.at("pair_recall", k).map_or(part.queries(), |score| score.n);
    let k = part.at("hubness", k)?.effective_k.unwrap_or(k);
    let p = k as f64 / part.targets()? as f64;
    let variance = queries as f64 * p * (1.0 - p);
    (variance > 0.0).then(|| (1.0 - 2.0 * p) / variance.sqrt())
}

/// How far the spaces lie apart; the same there and back.
pub(super) fn gap(parts: &[Part<'_>]) -> Option<String> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let mut gaps = Vec::new();
    for part in parts {
        let Some((query, target)) = part.direction.split_once('2') else {
            continue;
        };
        let Some(gap) = part.score("modality_gap", None).and_then(|score| score.value) else {
            continue;
        };
        if !seen.contains(&(target, query)) && !seen.contains(&(query, target)) {
            seen.push((query, target));
            gaps.push(format!("{} between {query} and {target}", rough(gap)));
        }
    }
    (!gaps.is_empty()).then(|| {
        format!(
            "Modality gap {} (0: one mean direction, 2: opposite points); it need not change any order.",
            gaps.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::retrieval::readings::tests::readings;
    use crate::testdata::{plain, share};

    #[test]
    fn few_queries_do_not_make_hubs() {
        let with_skewness = |queries: usize, skewness: f64| {
            let mut recall = share("label_recall.prototype2sensor@10", 0.1, 0.01, 10.0 / 900.0);
            let mut precision = share("label_precision.prototype2sensor@10", 0.9, 0.01, 0.1);
            (recall.n, precision.n) = (queries, queries);
            let never = plain("hubness.prototype2sensor.never@10", 0.313);
            let hubness = plain("hubness.prototype2sensor@10", skewness);
            readings(vec![precision, recall, hubness, never])[1].clone()
        };
        // Ten lists by lot: (1 − 2/90) / √(10 · 1/90 · 89/90) = 2.95.
        assert!(with_skewness(10, 2.9).starts_with("No strong hubs"));
        assert_eq!(
            with_skewness(900, 2.9),
            "Some targets are found far more often than others in Text Prototype → Sensor (skewness 2.9 at K = 10, by \
             lot 0.31; 31 % of the targets are never found)."
        );
    }
}
