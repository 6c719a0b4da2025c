// SPDX-License-Identifier: MIT
//! Label precision at K: how many of the first K targets have the query's label. Document 001 calls it Label-Recall@K.
//! See the page.

use super::over_queries::{OverQueries, at_every_k};
use super::{Analysis, Invariance, Metric, Output, Part, Results, Takes, Work};
use crate::retrieve::{Ranked, RankedSet};
use crate::score::{Breakdown, NameColumn, NumberColumn, Score};

const NAME: &str = "label_precision";

pub(super) static METRIC: Metric = Metric {
    id: NAME,
    title: "Label precision at K",
    analysis: Analysis::Retrieval,
    outputs: &[
        Output::higher("label_precision.DIRECTION@K", "0 to 1")
            .about("share of the first K targets that have the query's label; label retrieval's Label-Recall@K"),
        Output::higher("label_precision.DIRECTION.macro@K", "0 to 1").about("the same, averaged over labels"),
        Output::higher("label_precision.DIRECTION.weighted@K", "0 to 1")
            .about("the same, averaged over labels by their number of targets"),
        Output::higher("label_precision.DIRECTION.normalized@K", "0 to 1")
            .about("hits divided by the most that are possible"),
        Output::higher("label_precision.DIRECTION.normalized_macro@K", "0 to 1")
            .about("the same, averaged over labels"),
        Output::neither("label_precision.DIRECTION.ceiling@K", "0 to 1")
            .about("the largest precision that these labels allow"),
        Output::higher("label_precision.DIRECTION.lift@K", "0 and above")
            .about("precision divided by its chance level"),
    ],
    page: include_str!("label_precision.md"),
    invariances: Invariance::OF_ANGLES,
    takes: &[Takes::Queries, Takes::Targets, Takes::Labels],
    options: &["k-values", "no-normalize"],
    work: Work::Ranking(Part::First, compute),
};

/// Up to this many labels, the confusion lists every pair; beyond it, the most frequent ones of each label.
const MOST_LABELS: usize = 200;
const MOST_PER_LABEL: usize = 20;

fn compute(ranked: &Ranked) -> Results {
    let mut answer = Results::from(at_every_k(ranked, scores));
    for set in &ranked.sets {
        for (place, &k) in ranked.spec.retrieval_k.iter().enumerate() {
            answer.breakdowns.push(by_label(ranked, set, place, k));
            answer.breakdowns.push(confusion(ranked, set, k));
        }
    }
    answer
}

fn scores(queries: &OverQueries, place: usize, k: usize, used: usize) -> Vec<Score> {
    let (ranked, set) = (queries.ranked, queries.set);
    let id = |part: &str| set.id(ranked, NAME, part, Some(k));
    let (n, most) = (ranked.findable as f64, used as f64);
    let per_query = |value: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
        let hits = set.counted.iter().zip(&set.hits[place]);
        hits.map(|(&q, &hits)| value(f64::from(hits), set.relevant(q) as f64))
            .collect()
    };
    let precision = per_query(&|hits, _| hits / most);
    let normalized = per_query(&|hits, relevant| hits / relevant.min(most));
    let ceiling = per_query(&|_, relevant| relevant.min(most) / most);
    let chance = |relevant: usize| relevant as f64 / n;
    let chance_normalized = |relevant: usize| most * relevant as f64 / n / most.min(relevant as f64);
    let mut plain = queries.mean(id(""), &precision, chance);
    // Hits are integers: divided once, their mean is exact but for one rounding.
    let hits: u64 = set.hits[place].iter().map(|&h| u64::from(h)).sum();
    plain.value = plain.value.map(|_| hits as f64 / (most * set.counted.len() as f64));
    let lift = lift(&plain, id(".lift"));
    let mut scores = vec![plain, queries.macro_mean(id(".macro"), &precision, chance)];
    if !ranked.is_self && !ranked.is_paired {
        scores.push(queries.weighted_mean(id(".weighted"), &precision, chance));
    }
    scores.push(queries.mean(id(".normalized"), &normalized, chance_normalized));
    scores.push(queries.macro_mean(id(".normalized_macro"), &normalized, chance_normalized));
    let mut highest = queries.mean(id(".ceiling"), &ceiling, chance);
    // The labels alone decide it: nothing was sampled.
    (highest.interval, highest.level, highest.standard_error) = (None, None, None);
    (highest.unit, highest.method, highest.chance) = (None, None, None);
    scores.push(highest);
    scores.push(lift);
    scores
}

fn lift(plain: &Score, id: String) -> Score {
    let (Some(value), Some(chance)) = (plain.value, plain.chance) else {
        let reason = plain.reason.clone().unwrap_or_default();
        return Score::undefined(id, reason, plain.n);
    };
    let mut lift = Score::number(id, value / chance, plain.n).with_chance(1.0);
    lift.interval = plain.interval.map(|ends| ends.map(|end| end / chance));
    lift.level = plain.level;
    lift.standard_error = plain.standard_error.map(|e| e / chance);
    lift.unit.clone_from(&plain.unit);
    lift.method.clone_from(&plain.method);
    lift
}

/// Each label with its counts and scores.
fn by_label(ranked: &Ranked, set: &RankedSet, place: usize, k: usize) -> Breakdown {
    let relevance = &set.relevance;
    let labels = relevance.names.len();
    let used = ranked.effective(k);
    let (mut hits, mut with_hit, mut gains) = (vec![0.0; labels], vec![0.0; labels], vec![0.0; labels]);
    let found = set.hits[place].iter().zip(&set.gains[place]);
    for (&q, (&count, gain)) in set.counted.iter().zip(found) {
        hits[set.code(q)] += f64::from(count);
        with_hit[set.code(q)] += f64::from(u8::from(count > 0));
        gains[set.code(q)] += gain;
    }
    let queries = |c: usize| relevance.query_counts[c] as f64;
    let relevant = |c: usize| relevance.relevant(c) as f64;
    let most = |c: usize| relevant(c).min(used as f64);
    let column = |name: &str, value: &dyn Fn(usize) -> f64| {
        // Lone labels, and labels that nobody asks for, have counts but no scores.
        let is_scored = |c: usize| queries(c) > 0.0 && relevant(c) > 0.0;
        let is_count = ["queries", "relevant"].contains(&name);
        NumberColumn {
            name: name.to_string(),
            values: (0..labels)
                .map(|c| (is_count || is_scored(c)).then(|| value(c)))
                .collect(),
        }
    };
    Breakdown {
        model: String::new(),
        metric: set.id(ranked, NAME, "", Some(k)).into(),
        keys: vec![NameColumn {
            name: "label".to_string(),
            values: relevance.names.clone(),
        }],
        columns: vec![
            column("queries", &queries),
            column("relevant", &relevant),
            column("hits", &|c| hits[c]),
            column("precision", &|c| hits[c] / queries(c) / used as f64),
            column("recall", &|c| hits[c] / queries(c) / relevant(c)),
            column("normalized", &|c| hits[c] / queries(c) / most(c)),
            column("hit", &|c| with_hit[c] / queries(c)),
            column("ndcg", &|c| {
                gains[c] / queries(c) / super::label_ndcg::ideal(relevance.relevant(c), used)
            }),
            column("chance", &|c| relevant(c) / ranked.findable as f64),
            column("ceiling", &|c| most(c) / used as f64),
        ],
    }
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
    let names = |name: &str, code: &dyn Fn(&(usize, usize, u64)) -> usize| NameColumn {
        name: name.to_string(),
        values: lines.iter().map(|line| relevance.names[code(line)].clone()).collect(),
    };
    let numbers = |name: &str, value: &dyn Fn(&(usize, usize, u64)) -> f64| NumberColumn {
        name: name.to_string(),
        values: lines.iter().map(|line| Some(value(line))).collect(),
    };
    Breakdown {
        model: String::new(),
        metric: set.id(ranked, NAME, ".confusion", Some(k)).into(),
        keys: vec![names("label", &|l| l.0), names("retrieved", &|l| l.1)],
        columns: vec![
            numbers("count", &|l| l.2 as f64),
            numbers("share", &|l| l.2 as f64 / (of_label[l.0].len() * used) as f64),
        ],
    }
}
