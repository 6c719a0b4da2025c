// SPDX-License-Identifier: MIT
//! What the numbers of a retrieval say, in sentences: the reading aids of label retrieval, each held against the chance
//! level, the ceiling and the interval that they need to be true.

use super::{Part, by_labels, direction, names, parts};
use crate::numbers::{number, number_with_interval, percent, rough, written};
use crate::scores::sorted;
use crate::text::printable;
use repscope_core::{Results, Score, Split};

/// A ceiling above this rounds to 1.
const NO_CEILING: f64 = 0.995;

/// A few sentences on the results: how high, whether it falls with K, prototypes against instances, held-out rows against those of
/// training; where all is wanted, also whether the directions agree, hubs, and the gap between spaces.
pub fn retrieval_readings(results: &Results, all_readings: bool) -> Vec<String> {
    let all = parts(results);
    let mut sentences = Vec::new();
    for group in by_labels(&all) {
        let before = sentences.len();
        sentences.extend(group.iter().filter_map(level));
        sentences.extend(group.iter().filter_map(drop_with_k));
        if all_readings {
            sentences.extend(balance(group));
        }
        sentences.extend(against_instances(group, results));
        name_group(&mut sentences[before..], names(&group[0], &all));
    }
    sentences.extend(held_out(&all).iter().map(|sentence| printable(sentence)));
    for of_model in all.chunk_by(|a, b| a.model == b.model).filter(|_| all_readings) {
        let before = sentences.len();
        sentences.extend(hubs(of_model));
        sentences.extend(gap(of_model));
        name_group(&mut sentences[before..], [names(&of_model[0], &all)[0], None]);
    }
    sentences.iter().map(|sentence| printable(sentence)).collect()
}

/// Puts the model and the set of labels before the sentences, where there are several.
fn name_group(sentences: &mut [String], names: [Option<&str>; 2]) {
    let names: Vec<&str> = names.into_iter().flatten().collect();
    if !names.is_empty() {
        for sentence in sentences {
            *sentence = format!("{}: {sentence}", names.join(", "));
        }
    }
}

/// A value and its interval. Without an interval, both ends are the value.
#[derive(Clone, Copy)]
struct Measured<'a> {
    score: &'a Score,
    value: f64,
    low: f64,
    high: f64,
}

impl<'a> Measured<'a> {
    fn new(score: Option<&'a Score>) -> Option<Self> {
        let score = score?;
        let value = score.value?;
        let [low, high] = score.interval.unwrap_or([value; 2]);
        Some(Measured {
            score,
            value,
            low,
            high,
        })
    }

    /// `0.723 [0.710, 0.737]`.
    fn text(&self) -> String {
        written(self.value, self.score.interval)
    }

    /// `0.723`, with as many digits as its interval deserves.
    fn short(&self) -> String {
        let interval = self.score.interval;
        interval.map_or_else(
            || number(self.value),
            |interval| number_with_interval(self.value, interval).0,
        )
    }

    fn chance(&self) -> Option<f64> {
        self.score.chance
    }

    /// Whether the whole interval is; true where no chance level is known.
    fn is_above_chance(&self) -> bool {
        self.score.chance.is_none_or(|chance| self.low > chance)
    }

    fn has_interval(&self) -> bool {
        self.score.interval.is_some()
    }

    fn is_below(&self, other: &Self) -> bool {
        self.high < other.low
    }

    fn overlaps(&self, other: &Self) -> bool {
        !self.is_below(other) && !other.is_below(self)
    }
}

/// The K at which not all targets are retrieved anyway, smallest first.
fn telling_ks(part: &Part<'_>) -> Vec<usize> {
    let mut ks = sorted(part.ks(|measure| measure == "label_precision"));
    ks.retain(|&k| {
        // All targets are there where a recall is 1 by chance.
        let chance = part.at("label_recall", k).and_then(|score| score.chance);
        let is_whole = part
            .at("label_precision", k)
            .is_some_and(|score| score.effective_k.is_none());
        is_whole && chance.is_none_or(|chance| chance <= 1.0 - 1e-9)
    });
    ks
}

/// The label retrieval scripts call more than this high, and less than that low. The same numbers serve for what is left after chance
/// and ceiling are taken into account: on a scale from chance (0) to ceiling (1).
const HIGH: f64 = 0.6;
const LOW: f64 = 0.3;

/// How high precision is at the smallest K.
pub(super) fn level(part: &Part<'_>) -> Option<String> {
    let title = part.title();
    let smallest = *sorted(part.ks(|measure| measure == "label_precision")).first()?;
    let Some(&k) = telling_ks(part).first() else {
        let score = part.at("label_precision", smallest)?;
        let why = match (score.value, &score.reason) {
            (None, Some(reason)) => reason.clone(),
            _ => format!("K = {smallest} takes in every target, so precision is the same for any order"),
        };
        return Some(format!("{title} cannot be judged: {why}."));
    };
    let score = part.at("label_precision", k)?;
    let Some(precision) = Measured::new(Some(score)) else {
        let reason = score.reason.as_deref().unwrap_or("no reason was recorded");
        return Some(format!("{title} cannot be judged: {reason}."));
    };
    let is = format!("{title} has a precision of {} at K = {k}", precision.text());
    let ceiling = part.at("label_precision.ceiling", k).and_then(|score| score.value);
    let Some(chance) = precision.chance() else {
        return Some(format!("{is}, {}.", grade(&precision)));
    };
    let by_chance = rough(chance);
    if precision.high < chance {
        return Some(format!("{is}, which is below chance ({by_chance})."));
    }
    if !precision.is_above_chance() {
        let has_interval = precision.has_interval();
        let why = if has_interval {
            "its interval holds the chance level"
        } else {
            "that is"
        };
        return Some(format!(
            "{is}, which is not shown to be better than chance: {why} {by_chance}; the embeddings may not capture what the labels \
             mean."
        ));
    }
    let top = ceiling.unwrap_or(1.0);
    let share = (precision.value - chance) / (top - chance);
    if precision.value > HIGH && share < LOW {
        let way = percent((share * 100.0).round() / 100.0);
        return Some(format!(
            "{is}, above {HIGH} but mostly by chance ({by_chance}): {way} of the way from there to the ceiling ({}).",
            rough(top)
        ));
    }
    let ceiling = ceiling.filter(|ceiling| *ceiling < NO_CEILING);
    let normalized = Measured::new(part.at("label_precision.normalized", k));
    if let (Some(ceiling), Some(normalized)) = (ceiling, normalized.filter(|_| precision.value < LOW)) {
        let scaled = |c: f64| (normalized.value - c) / (1.0 - c);
        let beyond_chance = normalized.chance().map_or(normalized.value, scaled);
        if beyond_chance > HIGH {
            let chance = normalized
                .chance()
                .map_or(String::new(), |c| format!(" (chance {})", rough(c)));
            let (ceiling, normalized) = (rough(ceiling), normalized.short());
            return Some(format!(
                "{is}, below {LOW} because few targets share a query's label: the ceiling is {ceiling}, and normalized by it \
                 precision is {normalized}{chance}."
            ));
        }
    }
    let ceiling = ceiling.map_or(String::new(), |ceiling| format!(", ceiling {}", rough(ceiling)));
    let lift = part.at("label_precision.lift", k).and_then(|score| score.value);
    let lift = rough(lift.unwrap_or(precision.value / chance));
    Some(format!(
        "{is}, {}: {lift} times chance ({by_chance}){ceiling}{}.",
        grade(&precision),
        meaning(&precision)
    ))
}

/// What a high and a low precision say of the embeddings.
fn meaning(precision: &Measured<'_>) -> &'static str {
    if precision.low > HIGH {
        "; the embeddings capture semantic similarity well"
    } else if precision.high < LOW {
        "; the embeddings may not capture what the labels mean"
    } else {
        ""
    }
}

/// Where the whole interval lies on their scale.
fn grade(precision: &Measured<'_>) -> String {
    let (low, high) = (precision.low, precision.high);
    if low > HIGH {
        format!("high (above {HIGH})")
    } else if high < LOW {
        format!("low (below {LOW})")
    } else if low >= LOW && high <= HIGH {
        format!("neither high (above {HIGH}) nor low (below {LOW})")
    } else if low >= LOW {
        format!("around {HIGH}")
    } else if high <= HIGH {
        format!("around {LOW}")
    } else {
        "too uncertain to be called high or low".to_string()
    }
}

/// Whether precision falls from the smallest to the largest K by more than its ceiling does.
fn drop_with_k(part: &Part<'_>) -> Option<String> {
    let ks = telling_ks(part);
    let (first, last) = (*ks.first()?, *ks.last()?);
    if first == last {
        return None;
    }
    let at = |measure: &str| {
        let [from, to] = [first, last].map(|k| Measured::new(part.at(measure, k)));
        Some([from?, to?])
    };
    let [from, to] = at("label_precision")?;
    if !from.is_above_chance() {
        return None;
    }
    let title = part.title();
    let values = format!("from {} at K = {first} to {} at K = {last}", from.short(), to.short());
    if !to.is_below(&from) {
        let is_stable = to.value > (1.0 - SMALL_DROP) * from.value;
        let how = if from.is_below(&to) {
            format!("rises {values}")
        } else {
            let (from, to) = (from.short(), to.short());
            format!(
                "shows no clear drop: {from} at K = {first} and {to} at K = {last}, with intervals that overlap{}",
                if is_stable {
                    "; its quality is consistent across K"
                } else {
                    ""
                }
            )
        };
        return Some(format!("{title} {how}."));
    }
    let falls = format!("{title} falls {values}");
    let (Some(ceilings), Some(normalized)) = (at("label_precision.ceiling"), at("label_precision.normalized")) else {
        return Some(format!("{falls}."));
    };
    if ceilings[1].value >= NO_CEILING {
        let large = struggles(from.value, to.value);
        return Some(format!(
            "{falls} under a ceiling of 1: hits get rarer down the list{large}."
        ));
    }
    let chances = match normalized.map(|n| n.chance()) {
        [Some(a), Some(b)] => format!(" (chance {} and {})", rough(a), rough(b)),
        _ => String::new(),
    };
    let both = format!("{} and {}{chances}", normalized[0].short(), normalized[1].short());
    Some(if normalized[1].is_below(&normalized[0]) {
        let large = struggles(normalized[0].value, normalized[1].value);
        format!("{falls}, and normalized by the ceiling too, {both}: hits get rarer down the list{large}.")
    } else {
        let [high, low] = ceilings.map(|ceiling| rough(ceiling.value));
        format!("{falls}, which is arithmetic: the ceiling falls from {high} to {low}; normalized by it, {both}.")
    })
}

/// A precision that loses this share of its value from the smallest to the largest K drops by much.
const LARGE_DROP: f64 = 0.25;

/// And one that loses less than this is consistent.
const SMALL_DROP: f64 = 0.1;

/// What a large drop says of the model.
fn struggles(from: f64, to: f64) -> &'static str {
    if to < (1.0 - LARGE_DROP) * from {
        ", a large drop: the model struggles with ranking"
    } else {
        ""
    }
}

/// Whether a direction and its reverse agree.
pub(super) fn balance(group: &[Part<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    for (i, there) in group.iter().enumerate() {
        let (query, target) = there.sides;
        let back = group[i + 1..].iter().find(|part| part.sides == (target, query));
        sentences.extend(
            back.filter(|_| query != target)
                .and_then(|back| against_reverse(there, back)),
        );
    }
    sentences
}

fn against_reverse(there: &Part<'_>, back: &Part<'_>) -> Option<String> {
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
        format!(
            "{title} and {other_title} are balanced at K = {k}: {values}, with intervals that overlap; neither modality is shown to \
             dominate."
        )
    } else {
        let better = if a.value > b.value { title } else { other_title };
        format!(
            "The directions are not balanced at K = {k}: {values}, with intervals apart; {better} is higher. One modality may \
             dominate the embedding space."
        )
    })
}

const OF_PROTOTYPES: &str = "label_precision.normalized_macro";

/// A sentence for each space that both prototypes and instances search.
fn against_instances(group: &[Part<'_>], results: &Results) -> Vec<String> {
    let prototypes = group.iter().filter(|part| part.sides.0 == "prototype");
    let sentence = |part: &Part<'_>| against(part, instances(group, part.sides.1)?, results);
    prototypes.filter_map(sentence).collect()
}

/// The direction in which instances search this space, those of another space first.
fn instances<'a, 'b>(group: &'b [Part<'a>], target: &str) -> Option<&'b Part<'a>> {
    let mut to_target = group
        .iter()
        .filter(|part| part.sides.1 == target && part.sides.0 != "prototype");
    to_target
        .clone()
        .find(|part| part.sides.0 != target)
        .or_else(|| to_target.next())
}

fn against(prototypes: &Part<'_>, instances: &Part<'_>, results: &Results) -> Option<String> {
    let common = telling_ks(instances);
    let k = telling_ks(prototypes).into_iter().find(|k| common.contains(k))?;
    let [a, b] = [prototypes, instances].map(|part| Measured::new(part.at(OF_PROTOTYPES, k)));
    let (a, b) = (a?, b?);
    let (verdict, meaning) = if b.is_below(&a) {
        ("above", ": the model generalizes well to unseen descriptions")
    } else if a.is_below(&b) {
        ("below", ": the model may overfit to specific phrasings")
    } else {
        ("not apart from", "")
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
    let (prototypes, instances, a, b) = (prototypes.title(), instances.title(), a.text(), b.text());
    Some(format!(
        "{prototypes} is {verdict} {instances}{meaning}. Normalized macro precision at K = {k} is {a} and {b}{chances}{labels}."
    ))
}

/// A sentence for each direction that was searched on held-out rows and on those of training.
fn held_out(all: &[Part<'_>]) -> Vec<String> {
    let mut sentences = Vec::new();
    for test in all {
        let Some(train) = Split::of_training(test.model) else {
            continue;
        };
        let is_other =
            |part: &&Part<'_>| part.model == train && (part.labels, part.direction) == (test.labels, test.direction);
        sentences.extend(all.iter().find(is_other).and_then(|train| generalizes(test, train)));
    }
    sentences
}

fn generalizes(test: &Part<'_>, train: &Part<'_>) -> Option<String> {
    let common = telling_ks(train);
    let k = telling_ks(test).into_iter().find(|k| common.contains(k))?;
    let [a, b] = [test, train].map(|part| Measured::new(part.at("label_precision", k)));
    let (a, b) = (a?, b?);
    let chances = match (a.chance(), b.chance()) {
        (Some(x), Some(y)) if rough(x) != rough(y) => format!(" (chance {} and {})", rough(x), rough(y)),
        (Some(x), _) => format!(" (chance {})", rough(x)),
        _ => String::new(),
    };
    let meaning = if a.is_below(&b) {
        "lower on held-out rows: the embeddings fit the training rows better than new ones"
    } else if b.is_below(&a) {
        "higher on held-out rows"
    } else {
        "not apart"
    };
    let labels = test.labels.map_or(String::new(), |labels| format!(", labels {labels}"));
    Some(format!(
        "{}{labels} on held-out rows against training rows: precision at K = {k} is {} and {}{chances}, {meaning}.",
        test.title(),
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

/// Hubs are worth a sentence where the counts are skewed by this much more than those of random lists: an
/// exponential distribution has a skewness of 2, a symmetric one 0. No grade hangs on it.
const HUBS: f64 = 1.0;

/// Whether a few targets take many places.
fn hubs(parts: &[Part<'_>]) -> Option<String> {
    let mut strong = Vec::new();
    let mut others: Vec<(f64, f64, usize)> = Vec::new();
    for part in parts {
        let ks = sorted(part.ks(|measure| measure == "hubness"));
        let Some(&k) = ks.first() else { continue };
        let skewness = part.at("hubness", k).and_then(|score| score.value);
        let (Some(skewness), Some(random)) = (skewness, random_skewness(part, k)) else {
            continue;
        };
        if skewness - random > HUBS {
            let never = part.at("hubness.never", k).and_then(|score| score.value);
            let never = never.map(|never| percent((never * 100.0).round() / 100.0));
            let never = never
                .map(|never| format!("; {never} of the targets are never found"))
                .unwrap_or_default();
            let (title, skewness, random) = (part.title(), rough(skewness), rough(random));
            strong.push(format!(
                "{title} (skewness {skewness} at K = {k}, random lists {random}{never})"
            ));
        } else {
            others.push((skewness, random, k));
        }
    }
    if !strong.is_empty() {
        let strong = strong.join(" and ");
        return Some(format!(
            "Some targets are found far more often than others in {strong}."
        ));
    }
    let (skewness, random, k) = others.into_iter().max_by(|a, b| (a.0 - a.1).total_cmp(&(b.0 - b.1)))?;
    Some(format!(
        "No strong hubs: how often targets are found has a skewness of {} at K = {k}, where random lists have {}.",
        rough(skewness),
        rough(random)
    ))
}

/// The skewness of the counts of random lists: that of a binomial distribution.
fn random_skewness(part: &Part<'_>, k: usize) -> Option<f64> {
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
        let (query, target) = part.sides;
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
mod tests_of_readings {
    use super::*;
    use crate::testdata::{direction, missing, share};

    pub(super) fn readings(scores: Vec<Score>) -> Vec<String> {
        retrieval_readings(&Results::from(scores), true)
    }

    #[test]
    fn two_directions_take_at_most_eight_sentences() {
        let mut scores = direction("text2sensor");
        scores.extend(direction("sensor2text"));
        let expected = [
            "Text → Sensor has a precision of 0.723 [0.710, 0.737] at K = 10, high (above 0.6): 7.2 times chance (0.1); the \
             embeddings capture semantic similarity well.",
            "Sensor → Text has a precision of 0.723 [0.710, 0.737] at K = 10, high (above 0.6): 7.2 times chance (0.1); the \
             embeddings capture semantic similarity well.",
            "Text → Sensor falls from 0.723 at K = 10 to 0.612 at K = 100, and normalized by the ceiling too, 0.723 and \
             0.680 (chance 0.1 and 0.11): hits get rarer down the list.",
            "Sensor → Text falls from 0.723 at K = 10 to 0.612 at K = 100, and normalized by the ceiling too, 0.723 and \
             0.680 (chance 0.1 and 0.11): hits get rarer down the list.",
            "Text → Sensor and Sensor → Text are balanced at K = 10: 0.723 and 0.723, with intervals that overlap; neither \
             modality is shown to dominate.",
            "No strong hubs: how often targets are found has a skewness of 0.4 at K = 10, where random lists have \
             0.31.",
            "Modality gap 0.82 between text and sensor (0: one mean direction, 2: opposite points); it need not change \
             any order.",
        ];
        assert_eq!(readings(scores), expected);
    }

    #[test]
    fn a_k_that_takes_in_all_targets_is_not_judged() {
        let mut all = share("label_precision.a2b@100", 0.1, 0.0, 0.1);
        all.effective_k = Some(60);
        assert_eq!(
            readings(vec![share("label_precision.a2b@10", 0.7, 0.01, 0.1), all.clone()]).len(),
            1
        );
        assert_eq!(
            readings(vec![all]),
            ["A → B cannot be judged: K = 100 takes in every target, so precision is the same for any order."]
        );
        assert_eq!(
            readings(vec![missing(
                "m",
                "label_precision.a2b@10",
                "no query has a relevant target"
            )]),
            ["A → B cannot be judged: no query has a relevant target."]
        );
    }

    #[test]
    fn models_and_sets_of_labels_are_named_where_there_are_several() {
        let in_set = |set: &str| share(&format!("label_precision.a2b(labels={set})@10"), 0.7, 0.01, 0.1);
        let sentences = readings(vec![in_set("l1"), in_set("l2")]);
        assert!(sentences[1].starts_with("l2: A → B has a precision"), "{sentences:?}");
    }
}

#[cfg(test)]
mod tests_of_level {
    use crate::retrieval::readings::tests_of_readings::readings;
    use crate::testdata::{plain, share};
    use repscope_core::Score;

    /// The one sentence on a precision at K = 10 with this ceiling and normalized value.
    fn on_level(precision: Score, ceiling: f64, normalized: Score) -> String {
        let ceiling = plain("label_precision.a2b.ceiling@10", ceiling);
        let sentences = readings(vec![precision, ceiling, normalized]);
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        sentences.concat()
    }

    fn precision(value: f64, half_width: f64, chance: f64) -> Score {
        share("label_precision.a2b@10", value, half_width, chance)
    }

    fn normalized(value: f64, chance: f64) -> Score {
        share("label_precision.a2b.normalized@10", value, 0.01, chance)
    }

    #[test]
    fn a_high_value_near_its_chance_level_is_not_called_good() {
        // (0.65 − 0.6) / (1 − 0.6) = 0.125.
        assert_eq!(
            on_level(precision(0.65, 0.01, 0.6), 1.0, normalized(0.65, 0.6)),
            "A → B has a precision of 0.650 [0.640, 0.660] at K = 10, above 0.6 but mostly by chance (0.6): 13 % of the \
             way from there to the ceiling (1)."
        );
        let text = on_level(precision(0.65, 0.06, 0.6), 1.0, normalized(0.65, 0.6));
        assert!(
            text.ends_with(
                "not shown to be better than chance: its interval holds the chance level 0.6; the embeddings may not capture what \
                 the labels mean."
            ),
            "{text}"
        );
        let text = on_level(precision(0.05, 0.01, 0.1), 1.0, normalized(0.05, 0.1));
        assert!(text.ends_with("which is below chance (0.1)."), "{text}");
    }

    #[test]
    fn a_low_value_under_a_low_ceiling_is_said_to_be_so() {
        assert_eq!(
            on_level(precision(0.27, 0.003, 0.01), 0.3, normalized(0.9, 0.033)),
            "A → B has a precision of 0.2700 [0.2670, 0.2730] at K = 10, below 0.3 because few targets share a query's \
             label: the ceiling is 0.3, and normalized by it precision is 0.900 (chance 0.033)."
        );
        // Normalized precision is high by chance too: the ceiling explains nothing.
        let text = on_level(precision(0.27, 0.003, 0.25), 0.3, normalized(0.9, 0.83));
        assert!(
            text.ends_with(
                "low (below 0.3): 1.1 times chance (0.25), ceiling 0.3; the embeddings may not capture what the labels mean."
            ),
            "{text}"
        );
    }

    #[test]
    fn an_interval_across_a_threshold_is_not_graded_as_beyond_it() {
        let cases = [
            (0.61, 0.02, "around 0.6"),
            (0.31, 0.02, "around 0.3"),
            (0.45, 0.02, "neither high (above 0.6) nor low (below 0.3)"),
            (0.2, 0.02, "low (below 0.3)"),
            (0.45, 0.2, "too uncertain to be called high or low"),
        ];
        for (value, half_width, grade) in cases {
            let text = on_level(precision(value, half_width, 0.1), 1.0, normalized(value, 0.1));
            assert!(text.contains(&format!(", {grade}: ")), "{text}");
        }
    }
}

#[cfg(test)]
mod tests_of_falling {
    use crate::retrieval::readings::tests_of_readings::readings;
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

#[cfg(test)]
mod tests_of_drops {
    use crate::retrieval::readings::tests_of_readings::readings;
    use crate::testdata::{plain, share};

    #[test]
    fn a_large_drop_is_one_of_ranking_and_a_stable_value_is_consistent() {
        let with = |last: f64| {
            let mut scores = Vec::new();
            for (k, value) in [(10, 0.8), (50, last)] {
                scores.push(share(&format!("label_precision.a2b@{k}"), value, 0.01, 0.1));
                scores.push(plain(&format!("label_precision.a2b.ceiling@{k}"), 1.0));
                scores.push(share(&format!("label_precision.a2b.normalized@{k}"), value, 0.01, 0.1));
            }
            readings(scores)[1].clone()
        };
        assert!(with(0.4).ends_with("hits get rarer down the list, a large drop: the model struggles with ranking."));
        assert!(with(0.7).ends_with("hits get rarer down the list."));
        assert!(with(0.795).ends_with("its quality is consistent across K."));
    }
}

#[cfg(test)]
mod tests_of_held_out_rows {
    use crate::retrieval::readings::tests_of_readings::readings;
    use crate::testdata::share;

    #[test]
    fn held_out_rows_are_compared_with_those_of_training() {
        let of = |model: &str, value: f64| {
            let mut score = share("label_precision.a2b@10", value, 0.01, 0.1);
            score.model = model.to_string();
            score
        };
        let text = |test: f64| readings(vec![of("clip/test", test), of("clip/train", 0.8)]).concat();
        let expected = "A → B on held-out rows against training rows: precision at K = 10 is 0.500 [0.490, 0.510] and 0.800 \
                        [0.790, 0.810] (chance 0.1), lower on held-out rows: the embeddings fit the training rows better than \
                        new ones.";
        assert!(text(0.5).contains(expected), "{}", text(0.5));
        assert!(text(0.795).contains(", not apart."), "{}", text(0.795));
        assert!(
            !readings(vec![of("contest", 0.5), of("contrain", 0.8)])
                .concat()
                .contains("held-out")
        );
    }
}

#[cfg(test)]
mod tests_of_balance {
    use crate::retrieval::readings::tests_of_readings::readings;
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
            "The directions are not balanced at K = 10: 0.700 and 0.650, with intervals apart; A → B is higher. One modality may \
             dominate the embedding space."
        );
        assert_eq!(
            both(precision(0.72, 0.01, 0.1), 0.69, 0.3),
            "A → B and B → A differ in chance level (0.1 and 0.3), so compare not their precision at K = 10 (0.720 and \
             0.690) but its ratio to chance: 7.2 and 2.3."
        );
    }
}

#[cfg(test)]
mod tests_of_prototypes {
    use crate::retrieval::readings::tests_of_readings::readings;
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
        let expected = "Text Prototype → Sensor is above Text → Sensor: the model generalizes well to unseen descriptions. \
                        Normalized macro precision at K = 10 is 0.830 [0.780, 0.880] and 0.720 [0.710, 0.730], chance 0.1 in \
                        both.";
        assert_eq!(readings(scores).last().map(String::as_str), Some(expected));
        let mut below = of("text2sensor", 0.72, 0.01).to_vec();
        below.extend(of("prototype2sensor", 0.4, 0.05));
        let text = readings(below).last().cloned().unwrap_or_default();
        assert!(
            text.starts_with(
                "Text Prototype → Sensor is below Text → Sensor: the model may overfit to specific phrasings. Normalized"
            ),
            "{text}"
        );
        let mut alike = of("text2sensor", 0.72, 0.01).to_vec();
        alike.extend(of("prototype2sensor", 0.73, 0.05));
        let text = readings(alike).last().cloned().unwrap_or_default();
        assert!(
            text.starts_with("Text Prototype → Sensor is not apart from Text → Sensor. Normalized"),
            "{text}"
        );
    }
}

#[cfg(test)]
mod tests_of_spaces {
    use crate::retrieval::readings::tests_of_readings::readings;
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
        // Ten random lists: (1 − 2/90) / √(10 · 1/90 · 89/90) = 2.95.
        assert!(with_skewness(10, 2.9).starts_with("No strong hubs"));
        assert_eq!(
            with_skewness(900, 2.9),
            "Some targets are found far more often than others in Text Prototype → Sensor (skewness 2.9 at K = 10, \
             random lists 0.31; 31 % of the targets are never found)."
        );
    }
}
