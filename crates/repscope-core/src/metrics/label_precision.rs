// SPDX-License-Identifier: MIT
//! Label precision at K: how many of the first K targets have the query's label. Also called Label-Recall@K.

use super::over_queries::OverQueries;
use super::retrieval::{RANKING, at_every_k, ideal_gain};
use super::{Metric, Output, Part, Results, Work};
use crate::retrieve::{Ranked, RankedSet};
use crate::score::{Breakdown, Score};

const PLAIN: Output = Output::higher("label_precision.DIRECTION@K", "0 to 1")
    .about("share of the first K targets that have the query's label; label retrieval's Label-Recall@K");
const MACRO: Output =
    Output::higher("label_precision.DIRECTION.macro@K", "0 to 1").about("the same, averaged over labels");
const WEIGHTED: Output = Output::higher("label_precision.DIRECTION.weighted@K", "0 to 1")
    .about("the same, averaged over labels by their number of targets");
const NORMALIZED: Output = Output::higher("label_precision.DIRECTION.normalized@K", "0 to 1")
    .about("hits divided by the most that are possible");
const NORMALIZED_MACRO: Output =
    Output::higher("label_precision.DIRECTION.normalized_macro@K", "0 to 1").about("the same, averaged over labels");
const CEILING: Output = Output::neither("label_precision.DIRECTION.ceiling@K", "0 to 1")
    .about("the largest precision that these labels allow");
const LIFT: Output =
    Output::higher("label_precision.DIRECTION.lift@K", "0 and above").about("precision divided by its chance level");

pub(super) static METRIC: Metric = Metric {
    id: "label_precision",
    title: "Label precision at K",
    outputs: &[PLAIN, MACRO, WEIGHTED, NORMALIZED, NORMALIZED_MACRO, CEILING, LIFT],
    page: include_str!("label_precision.md"),
    work: Work::Ranking(Part::First, compute),
    ..RANKING
};

/// Up to this many labels, the confusion lists every pair; beyond it, the most frequent ones of each label.
const MOST_LABELS: usize = 200;
const MOST_PER_LABEL: usize = 20;

fn compute(ranked: &Ranked) -> Results {
    let mut answer = at_every_k(ranked, |queries, hits, _| scores(queries, hits));
    for set in &ranked.sets {
        for (place, &k) in ranked.spec.retrieval_k.iter().enumerate() {
            answer.breakdowns.push(by_label(ranked, set, place, k));
            answer.breakdowns.push(confusion(ranked, set, k));
        }
    }
    answer
}

fn scores(queries: &OverQueries, hits: &[u32]) -> Vec<Score> {
    let (ranked, set) = (queries.ranked, queries.set);
    let (n, most) = (ranked.findable as f64, queries.used() as f64);
    let precision = queries.of_hits(hits, |hits, _| hits / most);
    let normalized = queries.of_hits(hits, |hits, relevant| hits / relevant.min(most));
    let ceiling = queries.of_hits(hits, |_, relevant| relevant.min(most) / most);
    let chance = |relevant: usize| relevant as f64 / n;
    let chance_normalized = |relevant: usize| most * relevant as f64 / n / most.min(relevant as f64);
    let mut plain = queries.mean(&PLAIN, &precision, chance);
    // Hits are integers: divided once, their mean is exact but for one rounding.
    let all_hits: u64 = hits.iter().map(|&h| u64::from(h)).sum();
    plain.value = plain.value.map(|_| all_hits as f64 / (most * set.counted.len() as f64));
    let lift = match (plain.value, plain.chance) {
        (Some(value), Some(expected)) => {
            // A ratio of two means over the same queries and targets: what each does to the chance level counts as well.
            let ratio = value / expected;
            let found = queries.of_hits(hits, |hits, relevant| (hits / most - ratio * relevant / n) / expected);
            queries.about(&LIFT, ratio, &found).with_chance(1.0)
        }
        _ => queries.nobody(&LIFT),
    };
    let mut scores = vec![plain, queries.over_labels(&MACRO, &precision, |_| 1.0, 0.0, chance)];
    if !ranked.is_self && !ranked.is_paired {
        let targets = |code: usize| set.relevance.counts[code] as f64;
        scores.push(queries.over_labels(&WEIGHTED, &precision, targets, 1.0, chance));
    }
    scores.push(queries.mean(&NORMALIZED, &normalized, chance_normalized));
    scores.push(queries.over_labels(&NORMALIZED_MACRO, &normalized, |_| 1.0, 0.0, chance_normalized));
    // The labels alone decide the ceiling: nothing was sampled.
    let highest = queries.without_interval(&CEILING, &ceiling.values, chance);
    let highest = highest.unwrap_or_else(|| queries.nobody(&CEILING));
    scores.extend([
        Score {
            chance: None,
            ..highest
        },
        lift,
    ]);
    scores
}

/// Each label with its counts and scores.
fn by_label(ranked: &Ranked, set: &RankedSet, place: usize, k: usize) -> Breakdown {
    let relevance = &set.relevance;
    let labels: Vec<usize> = (0..relevance.names.len()).collect();
    let used = ranked.effective(k);
    let [mut hits, mut with_hit, mut gains] = [(); 3].map(|()| vec![0.0; labels.len()]);
    let found = set.hits[place].iter().zip(&set.gains[place]);
    for (&q, (&count, gain)) in set.counted.iter().zip(found) {
        hits[set.code(q)] += f64::from(count);
        with_hit[set.code(q)] += f64::from(u8::from(count > 0));
        gains[set.code(q)] += gain;
    }
    let queries = |c: usize| relevance.query_counts[c] as f64;
    let relevant = |c: usize| relevance.relevant(c) as f64;
    let most = |c: usize| relevant(c).min(used as f64);
    // Labels without relevant items, and labels that no query has, have counts but no scores.
    let scored = |c: usize, value: f64| (queries(c) > 0.0 && relevant(c) > 0.0).then_some(value);
    Breakdown::of(set.id(ranked, PLAIN.id, Some(k)), &labels)
        .key("label", |&c| relevance.names[c].clone())
        .column("queries", |&c| Some(queries(c)))
        .column("relevant", |&c| Some(relevant(c)))
        .column("hits", |&c| scored(c, hits[c]))
        .column("precision", |&c| scored(c, hits[c] / queries(c) / used as f64))
        .column("recall", |&c| scored(c, hits[c] / queries(c) / relevant(c)))
        .column("normalized", |&c| scored(c, hits[c] / queries(c) / most(c)))
        .column("hit", |&c| scored(c, with_hit[c] / queries(c)))
        .column("ndcg", |&c| {
            scored(c, gains[c] / queries(c) / ideal_gain(relevance.relevant(c), used))
        })
        .column("chance", |&c| scored(c, relevant(c) / ranked.findable as f64))
        .column("ceiling", |&c| scored(c, most(c) / used as f64))
        .table
}

/// Which labels are retrieved for which: all queries count, with or without a relevant target.
fn confusion(ranked: &Ranked, set: &RankedSet, k: usize) -> Breakdown {
    let relevance = &set.relevance;
    let used = ranked.effective(k);
    let labels = relevance.names.len();
    let mut lines: Vec<(usize, usize, u64)> = Vec::new();
    let mut of_label: Vec<Vec<usize>> = vec![Vec::new(); labels];
    (0..ranked.queries).for_each(|q| of_label[set.code(q)].push(q));
    for (label, queries) in of_label.iter().enumerate() {
        let mut counts = vec![0u64; labels];
        for &q in queries {
            for &j in &ranked.rankings.of(q)[..used] {
                counts[relevance.targets[j as usize] as usize] += 1;
            }
        }
        let mut found: Vec<usize> = (0..labels).filter(|&c| counts[c] > 0).collect();
        found.sort_by_key(|&c| (std::cmp::Reverse(counts[c]), c));
        if labels > MOST_LABELS {
            found.truncate(MOST_PER_LABEL);
        }
        lines.extend(found.into_iter().map(|c| (label, c, counts[c])));
    }
    let id = set.id(ranked, "label_precision.DIRECTION.confusion@K", Some(k));
    Breakdown::of(id, &lines)
        .key("label", |line| relevance.names[line.0].clone())
        .key("retrieved", |line| relevance.names[line.1].clone())
        .column("count", |line| Some(line.2 as f64))
        .column("share", |line| {
            Some(line.2 as f64 / (of_label[line.0].len() * used) as f64)
        })
        .table
}
