// SPDX-License-Identifier: MIT
//! The answer for somebody who reads nothing else: what is wrong, then one line for each question that was asked.
//!
//! A question has one headline score. Its variants are not counted again, and unlike questions are not added up. A model is best
//! where the adjusted comparison with every other one says so; one that has collapsed never is.

use repscope_core::{
    Analysis, Better, Collapse, Difference, Directions, Equivalence, MetricId, Quality, Results, Score,
};
use serde::Serialize;

use crate::breakdowns::cell;
use crate::compare::probability::p_value;
use crate::figures::drift::of_p;
use crate::numbers::{number, rough, written};
use crate::scores::{distinct, grouped, is_between, less, only_scores, winner};
use crate::text::{Style, columns, joined, padding, without_numbers, wrap};
use crate::{Color, Format};

/// More models than this are not all named in a sentence.
const MOST_NAMED: usize = 6;
/// Up to this many models stand behind a number of their own where a range would do.
const FEW_NAMED: usize = 3;
/// What stands before something that is wrong.
const PROBLEM: &str = "Problem";

/// What a run says, in sentences.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Verdict {
    /// What is wrong with the data or a model.
    pub problems: Vec<String>,
    /// One for each question that was asked, in the order of the analyses.
    pub answers: Vec<Answer>,
}

/// What a run says to one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The analysis: `geometry`.
    pub analysis: &'static str,
    /// Its heading: `Geometry`.
    pub title: &'static str,
    /// The question.
    pub question: &'static str,
    /// Why the answer matters.
    pub why: &'static str,
    /// The quality of a good representation that it looks at.
    pub quality: Option<Quality>,
    /// The answer in a sentence.
    pub sentence: String,
    /// The score that the answer rests on.
    pub metric: String,
    /// The models with their values, best first where the score has a direction.
    pub values: Vec<(String, f64)>,
    /// The best model, where there is one.
    pub best: Option<String>,
    /// The adjusted p-value of its difference to the next one.
    pub p_adjusted: Option<f64>,
    /// How many units the score was computed from.
    pub n: usize,
}

/// What the results say, question by question; of one analysis alone where its own command was run.
pub fn verdict(results: &Results, only: Option<Analysis>) -> Verdict {
    Verdict {
        problems: results.findings.iter().map(ToString::to_string).collect(),
        answers: analyses(results, only)
            .into_iter()
            .filter_map(|own| answer(results, own))
            .collect(),
    }
}

fn answer(results: &Results, analysis: Analysis) -> Option<Answer> {
    let question = analysis.question();
    let metric = question.headlines.iter().find_map(|id| headline(results, id))?;
    let has_value = |score: &&Score| score.metric == metric && score.value.is_some();
    let mut scores: Vec<&Score> = results.scores.iter().filter(has_value).collect();
    let first = *scores.first()?;
    let better = if first.comparable {
        first.better
    } else {
        Better::Neither
    };
    match better {
        Better::Higher => scores.sort_by(|a, b| b.value.partial_cmp(&a.value).expect("finite values")),
        Better::Lower => scores.sort_by(|a, b| a.value.partial_cmp(&b.value).expect("finite values")),
        Better::Neither => {}
    }
    let mut found = Answer {
        analysis: analysis.name(),
        title: question.title,
        question: question.text,
        why: question.why,
        quality: question.quality,
        sentence: String::new(),
        metric: metric.to_string(),
        values: scores
            .iter()
            .map(|s| (s.model.clone(), s.value.unwrap_or(f64::NAN)))
            .collect(),
        best: None,
        p_adjusted: None,
        n: first.n,
    };
    found.sentence = match analysis {
        Analysis::Rankme => of_collapse(results) + &described(&scores, results.models().len() > 1),
        Analysis::Similarity => of_pairs(&scores),
        Analysis::Drift => of_two_sets(results, &scores),
        Analysis::Retrieval => of_retrieval(results, &metric),
        Analysis::Perturb => of_masks(results, first),
        _ if better == Better::Neither || scores.len() == 1 => described(&scores, results.models().len() > 1),
        _ => compared(results, analysis, &scores, &mut found) + &contradicted(results, analysis, &scores),
    };
    // What noise is measured in decides what its distances mean.
    if let (Analysis::Robustness, Some(unit)) = (analysis, &first.note) {
        found.sentence += &format!("; {unit}");
    }
    found.sentence += &of_runs(&scores);
    found.sentence += &crate::versions::sentence(results, &metric);
    Some(found)
}

/// The scores that are shown where not all are asked for: of one analysis those of its table, of several their headlines.
pub fn headlines(results: &Results, only: Option<Analysis>) -> Results {
    let analyses = analyses(results, only);
    let mut ids: Vec<MetricId> = Vec::new();
    for analysis in &analyses {
        let question = analysis.question();
        match analyses.len() {
            1 => ids.extend(question.table.iter().filter_map(|id| stands_for(results, id, |_| true))),
            _ => ids.extend(question.headlines.iter().find_map(|id| headline(results, id))),
        }
    }
    Results {
        findings: results.findings.clone(),
        ..only_scores(results, |id| ids.contains(id))
    }
}

/// Whether the table of its analysis shows a score where not all are wanted: of several K, the middle one.
pub(crate) fn is_shown(results: &Results, metric: &MetricId) -> bool {
    let Some((owner, output)) = metric.metric().zip(metric.output()) else {
        return true;
    };
    let is_variant = |id: &&MetricId| id.output().is_some_and(|own| own.id == output.id);
    let ids = results.scores.iter().map(|score| &score.metric).filter(is_variant);
    let mut ks = distinct(ids.filter_map(MetricId::k));
    ks.sort_unstable();
    let is_middle = metric
        .k()
        .is_none_or(|k| ks.get(ks.len().saturating_sub(1) / 2) == Some(&k));
    owner.analysis.question().table.contains(&output.id) && is_middle
}

/// The analyses that the scores belong to, in the order of the scores.
fn analyses(results: &Results, only: Option<Analysis>) -> Vec<Analysis> {
    if let Some(only) = only {
        return vec![only];
    }
    let owners = results.scores.iter().filter_map(|score| score.metric.metric());
    distinct(owners.map(|metric| metric.analysis))
}

/// The score with a value that stands for a declared one.
fn headline(results: &Results, id: &str) -> Option<MetricId> {
    stands_for(results, id, |score| score.value.is_some())
}

/// The score that stands for a declared one: the middle one of several K.
fn stands_for(results: &Results, id: &str, is_fit: impl Fn(&Score) -> bool) -> Option<MetricId> {
    let is_it = |score: &&Score| is_fit(score) && score.metric.output().is_some_and(|output| output.id == id);
    let mut ids = distinct(results.scores.iter().filter(is_it).map(|score| &score.metric));
    // Without a K, the first one.
    let with_k = ids.iter().filter(|id| id.k().is_some()).count();
    let at = if with_k == ids.len() {
        ids.len().saturating_sub(1) / 2
    } else {
        0
    };
    ids.sort_by_key(|id| id.k());
    ids.get(at).map(|id| (*id).clone())
}

/// Values without a winner: `two_nn: pca 6.93 [6.54, 7.33], tanh 8.12 [7.63, 8.62]`.
fn described(scores: &[&Score], is_named: bool) -> String {
    let named = |score: &&Score| format!("{} {}", score.model, with_interval(score));
    let mut values: Vec<String> = scores.iter().take(MOST_NAMED).map(named).collect();
    if let [only] = scores
        && !is_named
    {
        values = vec![with_interval(only) + &against_chance(only)];
    }
    if scores.len() > MOST_NAMED {
        let all = || scores.iter().filter_map(|score| score.value);
        let (low, high) = (
            all().fold(f64::INFINITY, f64::min),
            all().fold(f64::NEG_INFINITY, f64::max),
        );
        values = vec![format!(
            "{} to {} over {} models",
            number(low),
            number(high),
            scores.len()
        )];
    }
    let first = scores[0];
    format!("{} {} (n = {})", first.metric, values.join(", "), first.n)
}

/// Whether the embeddings have collapsed, with the evidence: of each model whose evidence is there. Models that have not are named together.
fn of_collapse(results: &Results) -> String {
    let models = results.models();
    let all = models.iter().copied();
    let found: Vec<(&str, Collapse)> = all
        .filter_map(|model| Some((model, results.collapse(model)?)))
        .collect();
    let named = |model: &str, text: String| match models.len() {
        1 => text,
        _ => format!("{model} {text}"),
    };
    let in_words = |own: &Directions| format!("99 % of the variance in {} of {} directions", own.count, own.of);
    let bad = found.iter().filter_map(|(model, own)| {
        Some(match own {
            Collapse::Complete(text) => format!("{model}: complete collapse, it {text}"),
            Collapse::Dimensional(own) => {
                let rank = own
                    .effective
                    .map_or(String::new(), |rank| format!(", effective rank {}", number(rank)));
                named(model, format!("dimensional collapse: {}{rank}", in_words(own)))
            }
            Collapse::Not(_) => return None,
        })
    });
    let mut parts: Vec<String> = bad.take(MOST_NAMED).collect();
    let good: Vec<(&str, &Directions)> = found
        .iter()
        .filter_map(|(model, own)| match own {
            Collapse::Not(own) => Some((*model, own)),
            _ => None,
        })
        .collect();
    if let Some((_, first)) = good.first() {
        let is_alike = good.iter().all(|(_, own)| own.of == first.of);
        let counts = || good.iter().map(|(_, own)| own.count);
        let (low, high) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let named = |(model, own): &(&str, &Directions)| match is_alike {
            true => format!("{} ({model})", own.count),
            false => format!("{} of {} ({model})", own.count, own.of),
        };
        let text = match good.len() {
            1 if models.len() == 1 => first.count.to_string(),
            ..=FEW_NAMED => good.iter().map(named).collect::<Vec<_>>().join(", "),
            _ if low == high => low.to_string(),
            _ => format!("{low} to {high}"),
        };
        let of = match is_alike {
            true => format!(" of {}", first.of),
            false => String::new(),
        };
        parts.push(format!("no collapse: 99 % of the variance in {text}{of} directions"));
    }
    parts.iter().map(|part| format!("{part}; ")).collect()
}

/// How many training runs each value is the mean of, where one is a mean.
fn of_runs(scores: &[&Score]) -> String {
    let has_runs = |score: &&Score| score.runs > 1;
    if !scores.iter().any(has_runs) {
        return String::new();
    }
    let shown = scores.iter().take(MOST_NAMED);
    let each: Vec<String> = shown.map(|score| format!("{} {}", score.model, score.runs)).collect();
    let more = match scores.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("; training runs: {}{more}", each.join(", "))
}

fn with_interval(score: &Score) -> String {
    written(score.value.unwrap_or(f64::NAN), score.interval)
}

fn against_chance(score: &Score) -> String {
    match score.chance {
        Some(chance) if score.is_at_chance() => format!(", not better than chance, {}", rough(chance)),
        Some(chance) => format!(", chance {}", rough(chance)),
        None => String::new(),
    }
}

/// Which model is best, by how much and how surely.
fn compared(results: &Results, analysis: Analysis, scores: &[&Score], found: &mut Answer) -> String {
    let value = |score: &Score| number(score.value.unwrap_or(f64::NAN));
    let (out, fit): (Vec<&Score>, Vec<&Score>) = scores.iter().partition(|score| results.unfit(score).is_some());
    let aside = set_aside(results, &out);
    let Some((top, others)) = fit.split_first() else {
        let why: Vec<Option<String>> = scores.iter().map(|score| results.unfit(score)).collect();
        return match &why[0] {
            Some(shared) if why.iter().all(|own| own.as_ref() == Some(shared)) => {
                format!("no model can be best, as each {shared}: {}", described(scores, true))
            }
            _ => format!("no model can be best{aside}"),
        };
    };
    let n = top.n;
    if others.is_empty() {
        return format!(
            "{} alone is left: {} {}{} (n = {n}){aside}",
            top.model,
            top.metric,
            with_interval(top),
            against_chance(top)
        );
    }
    let between = |other: &Score| difference(results, top, other);
    let is_beaten = |other: &&&Score| between(other).is_some_and(|d| d.winner.as_deref() == Some(&top.model));
    let (beaten, tied): (Vec<&Score>, Vec<&Score>) = others.iter().copied().partition(|other| is_beaten(&other));
    if winner(results, &top.metric) == Some(top.model.as_str()) {
        let next = others[0];
        found.best = Some(top.model.clone());
        let mut sentence = format!(
            "{} {}: {} {} against {} ({})",
            top.model,
            analysis
                .question()
                .best_by(top.metric.output().map_or("", |output| output.id)),
            top.metric,
            value(top),
            value(next),
            next.model
        );
        if others.len() > 1 && others.len() < MOST_NAMED {
            let rest: Vec<String> = others[1..]
                .iter()
                .map(|s| format!("{} ({})", value(s), s.model))
                .collect();
            sentence += &format!(", {}", rest.join(", "));
        } else if others.len() > 1 {
            sentence += &format!(" and {} others below", others.len() - 1);
        }
        if let Some(d) = between(next) {
            found.p_adjusted = d.p_adjusted;
            let (value, interval) = less(d, &top.model);
            let (size, p) = (
                written(value, interval),
                d.p_adjusted.map_or("p = —".to_string(), p_value),
            );
            sentence += &format!("; difference {size}, adjusted {p}, n = {n}");
            if let Some(same) = d.equivalent.filter(|own| own.holds) {
                sentence += &format!(
                    "; yet the same within {} ({})",
                    number(same.within),
                    p_value(same.p_adjusted)
                );
            }
        }
        return sentence + &aside;
    }
    let named = |score: &&Score| format!("{} {}", score.model, value(score));
    let mut level: Vec<&Score> = vec![top];
    level.extend(&tied);
    let list: Vec<String> = level.iter().take(MOST_NAMED).map(named).collect();
    let more = level.len().saturating_sub(MOST_NAMED);
    let tested: Vec<Equivalence> = tied.iter().filter_map(|other| between(other)?.equivalent).collect();
    let are_same = !tied.is_empty() && tested.len() == tied.len() && tested.iter().all(|own| own.holds);
    let start = match tested.first() {
        Some(own) if are_same && tied.len() == 1 => format!("the same within {}", number(own.within)),
        Some(own) if are_same => format!("the same as {} within {}", top.model, number(own.within)),
        _ => "no significant difference".to_string(),
    };
    let mut sentence = format!("{start}: {} {}", top.metric, list.join(", "));
    if more > 0 {
        sentence += &format!(" and {more} more");
    }
    let closest = tied
        .iter()
        .filter_map(|other| between(other)?.p_adjusted)
        .reduce(f64::min);
    let largest = tested.iter().map(|own| own.p_adjusted).reduce(f64::max);
    found.p_adjusted = closest;
    if let Some((own, p)) = tested.first().zip(largest) {
        let not = if are_same {
            String::new()
        } else {
            format!("not shown to be the same within {}: ", number(own.within))
        };
        sentence += &format!(" ({not}{}, n = {n})", p_value(p));
    } else if let Some(p) = closest {
        sentence += &format!(" (adjusted {}, n = {n})", p_value(p));
    } else {
        sentence += &format!(" (n = {n})");
    }
    if !beaten.is_empty() {
        let list: Vec<String> = beaten.iter().take(MOST_NAMED).map(named).collect();
        sentence += &format!("; {} better than {}", top.model, list.join(", "));
        if beaten.len() > MOST_NAMED {
            sentence += &format!(" and {} others", beaten.len() - MOST_NAMED);
        }
    }
    if top.is_at_chance() {
        sentence += &format!("; {}{}", top.model, against_chance(top).trim_start_matches(','));
    }
    sentence + &aside
}

/// The models that cannot be best, and why. Many that share a reason are named together.
fn set_aside(results: &Results, out: &[&Score]) -> String {
    let named = |score: &Score| format!("{} ({})", score.model, number(score.value.unwrap_or(f64::NAN)));
    let reasons: Vec<(&Score, String)> = out
        .iter()
        .filter_map(|score| Some((*score, results.unfit(score)?)))
        .collect();
    let kinds = grouped(reasons.iter().map(|own| (without_numbers(&own.1), own)));
    let text = kinds.into_iter().flat_map(|(_, members)| {
        if members.len() < MOST_NAMED {
            return members
                .iter()
                .map(|(score, why)| format!("{} {why}", named(score)))
                .collect();
        }
        let first: Vec<String> = members.iter().take(2).map(|(score, _)| named(score)).collect();
        let why = joined(members.iter().map(|own| own.1.as_str()));
        vec![format!(
            "{} and {} others: each {why}",
            first.join(", "),
            members.len() - 2
        )]
    });
    text.map(|own| format!("; {own}")).collect()
}

/// Where labels are there, what they say of the order that a score without labels predicts.
fn contradicted(results: &Results, analysis: Analysis, scores: &[&Score]) -> String {
    let known = |score: &&Score| {
        let is_own = |other: &&Score| other.model == score.model && other.metric.family() == "knn_accuracy";
        // Without labels there is no accuracy.
        results.scores.iter().find(is_own).filter(|own| own.value.is_some())
    };
    let measured: Option<Vec<&Score>> = scores.iter().map(known).collect();
    let by_value = |a: &&&Score, b: &&&Score| a.value.partial_cmp(&b.value).expect("finite values");
    match measured.as_deref().filter(|_| analysis == Analysis::Clid) {
        Some(measured) => match measured.iter().max_by(by_value) {
            Some(best) if Some(best.model.as_str()) != scores.first().map(|top| top.model.as_str()) => {
                format!("; by the labels themselves, {} is best for {}", best.metric, best.model)
            }
            _ => String::new(),
        },
        None => String::new(),
    }
}

fn difference<'a>(results: &'a Results, a: &Score, b: &Score) -> Option<&'a Difference> {
    let is_pair = |d: &&Difference| d.metric == a.metric && is_between(d, &a.model, &b.model);
    results.differences.iter().find(is_pair)
}

/// The pair that is most alike and the one that is least, each beside what shuffled rows give.
fn of_pairs(scores: &[&Score]) -> String {
    let mut sorted: Vec<&Score> = scores.to_vec();
    sorted.sort_by(|a, b| b.value.partial_cmp(&a.value).expect("finite values"));
    let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
    let named = |score: &Score| format!("{} {}{}", score.model, with_interval(score), against_chance(score));
    if sorted.len() == 1 {
        return format!("{} {} (n = {})", first.metric, named(first), first.n);
    }
    format!(
        "most alike of {} pairs are {}, least {}, by {} (n = {})",
        sorted.len(),
        named(first),
        named(last),
        first.metric,
        first.n
    )
}

/// Whether new rows differ from the reference, model by model. How little would have been seen is said where nothing was found.
fn of_two_sets(results: &Results, scores: &[&Score]) -> String {
    let of_model = |score: &Score| {
        let p = results
            .score(&score.model, &of_p(score.metric.as_str()))
            .and_then(|p| p.value);
        let table = results
            .breakdowns
            .iter()
            .find(|table| table.model == score.model && table.metric == score.metric);
        let column = |name: &str| table.and_then(|table| cell(table, name, 0));
        let count = |name: &str| column(name).map_or("?".to_string(), |count| format!("{count:.0}"));
        let rows = format!("{} new and {} reference rows", count("new"), count("reference"));
        let value = format!("{} {}", score.metric, with_interval(score));
        let model = if results.models().len() > 1 {
            format!("{}: ", score.model)
        } else {
            String::new()
        };
        let chance = score
            .chance
            .map_or(String::new(), |chance| format!(" against {} by chance", rough(chance)));
        // What comes from one and the same rows is no sign that two samples are alike.
        let equal = column("equal").filter(|equal| *equal > 0.0).unwrap_or(0.0);
        let all = column("all_new").unwrap_or(f64::NAN);
        if equal == all {
            return format!(
                "{model}the new rows are rows of the reference, all {all:.0} of them: no drift can be seen in them"
            );
        }
        let shared = if equal > 0.0 {
            format!("; {equal:.0} of {all:.0} new rows equal rows of the reference")
        } else {
            String::new()
        };
        let sentence = match p {
            None => format!("{model}{value}; not tested without permutations ({rows})"),
            Some(p) if p <= 1.0 - score.level.unwrap_or(0.95) + 1e-12 => {
                format!(
                    "{model}the new rows differ from the reference: {value}{chance}, {} ({rows})",
                    p_value(p)
                )
            }
            Some(p) => {
                let seen = column("threshold").map_or(String::new(), |threshold| {
                    format!("; {} and less is what chance gives with so many rows", rough(threshold))
                });
                format!("{model}no drift found: {value}{chance}, {} ({rows}){seen}", p_value(p))
            }
        };
        sentence + &shared
    };
    let shown: Vec<String> = scores.iter().take(MOST_NAMED).map(|score| of_model(score)).collect();
    let more = match scores.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    shown.join("; ") + &more
}

/// Every direction at the K of the headline, for the first set of labels.
fn of_retrieval(results: &Results, metric: &MetricId) -> String {
    let is_it = |score: &&Score| {
        let id = &score.metric;
        score.value.is_some()
            && id.output().map(|o| o.id) == metric.output().map(|o| o.id)
            && id.k() == metric.k()
            && id.labels() == metric.labels()
    };
    let sides = |id: &MetricId| id.sides().map_or(String::new(), |(from, to)| format!("{from} → {to} "));
    let has_models = results
        .scores
        .iter()
        .filter(is_it)
        .any(|score| score.model != results.scores[0].model);
    let named = |score: &Score| {
        let model = if has_models {
            format!("{} ", score.model)
        } else {
            String::new()
        };
        format!(
            "{model}{}{}{}",
            sides(&score.metric),
            with_interval(score),
            against_chance(score)
        )
    };
    let of: Vec<&Score> = results.scores.iter().filter(is_it).collect();
    let values: Vec<String> = of.iter().copied().map(named).collect();
    let k = metric.k().map_or(String::new(), |k| format!("@{k}"));
    let labels = metric.labels().map_or(String::new(), |labels| format!(" of {labels}"));
    let n = of.first().map_or(0, |score| score.n);
    format!("label_precision{k}{labels}: {} (n = {n})", values.join("; "))
}

/// The largest loss of accuracy among all sets.
fn of_masks(results: &Results, first: &Score) -> String {
    let part = first.metric.part().to_string();
    let is_it = |score: &&Score| score.metric.family() == "pis" && score.metric.part() == part;
    let drops: Vec<&Score> = results
        .scores
        .iter()
        .filter(is_it)
        .filter(|s| s.value.is_some())
        .collect();
    let by_value = |a: &&&Score, b: &&&Score| a.value.partial_cmp(&b.value).expect("finite values");
    let (Some(most), Some(least)) = (drops.iter().max_by(by_value), drops.iter().min_by(by_value)) else {
        return described(&[first], false);
    };
    let named = |score: &Score| {
        let head = score.metric.head().map_or(String::new(), |head| format!("{head} "));
        format!(
            "{head}loses {} of its accuracy at {}",
            with_interval(score),
            score.metric.at().unwrap_or("?")
        )
    };
    if drops.len() == 1 {
        return format!("{} (n = {})", named(most), most.n);
    }
    format!("at worst, {}; at best, {} (n = {})", named(most), named(least), most.n)
}

impl Verdict {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty() && self.answers.is_empty()
    }

    /// The verdict as lines: what is wrong first, then each question with its answer.
    pub fn lines(&self) -> Vec<(String, String)> {
        let problems = self.problems.iter().map(|text| (PROBLEM.to_string(), text.clone()));
        let answers = self
            .answers
            .iter()
            .map(|own| (own.title.to_string(), own.sentence.clone()));
        problems.chain(answers).collect()
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(Format::Table, usize::MAX, Color::No))
    }
}

impl Verdict {
    /// The verdict as text: a line for each problem and question, broken under its own text. Nothing in formats for tables alone.
    pub fn render(&self, format: Format, width: usize, color: Color) -> String {
        let lines = self.lines();
        let head = lines.iter().map(|(head, _)| columns(head)).max().unwrap_or(0);
        let mut text = String::new();
        for (title, sentence) in lines {
            let is_problem = title == PROBLEM;
            match format {
                Format::Table => {
                    let first = format!("{title}{}", padding(&title, head + 2));
                    let style = if is_problem { Style::Alarm } else { Style::Bold };
                    let block = wrap(&sentence, width, &first);
                    text += &format!("{}{}", style.paint(&first, color), &block[first.len()..]);
                }
                Format::Markdown if is_problem => text += &format!("- **Problem**: {sentence}\n"),
                Format::Markdown => text += &format!("- **{title}**: {sentence}\n"),
                // A paper shows the table alone, but whoever pastes it reads this.
                Format::Latex if is_problem => text += &format!("% Problem: {sentence}\n"),
                Format::Latex | Format::Csv => {}
            }
        }
        text
    }
}
