// SPDX-License-Identifier: MIT
//! The checks of perturbation impact, answered with numbers. A check that does not hold is a finding about the model or
//! the data, never an error.

use super::key_values::{KeyValue, key_values};
use super::{Run, Set, written};
use crate::numbers::number;
use crate::table::NONE;
use crate::text::join;
use repscope_core::{Results, Score};

/// How far an accuracy may be from one that was stated with four digits.
const ROUNDING: f64 = 5e-5;
/// What is left of a difference in binary.
const BINARY: f64 = 1e-12;

/// The answer to one check.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What was asked: `monotonicity of top`.
    pub check: String,
    /// Whether it holds; `None` where the data cannot tell.
    pub holds: Option<bool>,
    /// The numbers that say so.
    pub evidence: String,
}

impl Finding {
    fn new(check: impl Into<String>, holds: Option<bool>, evidence: impl Into<String>) -> Self {
        Finding {
            check: check.into(),
            holds,
            evidence: evidence.into(),
        }
    }
}

/// Answers the checks. `expected` are accuracies without perturbation that were stated elsewhere, by head;
/// `complete` are the names of the sets that kinds and percents ask for.
pub fn perturb_findings(results: &Results, expected: &[(String, f64)], complete: &[String]) -> Vec<Finding> {
    let Some(run) = Run::first(results) else {
        let why = "there are no scores of perturbed inputs";
        return vec![Finding::new("completeness", None, why)];
    };
    let mut findings = vec![baseline(&run, expected), completeness(&run, complete)];
    findings.extend(run.families().iter().map(|family| monotonicity(&run, family)));
    findings.extend(ordering(&run));
    findings.push(expected_ranges(&run));
    findings.push(sanity(&run));
    findings.push(saturation(&run));
    findings
}

/// Are the accuracies without perturbation those that were stated?
fn baseline(run: &Run, expected: &[(String, f64)]) -> Finding {
    let check = "baseline match";
    if expected.is_empty() {
        return Finding::new(check, None, "no accuracies were given to compare with");
    }
    let mut holds = Some(true);
    let mut words = Vec::new();
    for (head, stated) in expected {
        let Some(value) = run.baseline(head).and_then(|score| score.value) else {
            holds = holds.filter(|holds| !holds);
            let (stated, heads) = (number(*stated), run.heads.join(", "));
            words.push(format!(
                "{head} has no accuracy to compare with {stated}; the heads are {heads}"
            ));
            continue;
        };
        let difference = (value - stated).abs();
        let stated = number(*stated);
        words.push(if difference <= ROUNDING + BINARY {
            format!("{head} {value:.5} is the stated {stated}")
        } else {
            holds = Some(false);
            format!("{head} {value:.5} is {difference:.5} from the stated {stated}")
        });
    }
    Finding::new(check, holds, words.join("; "))
}

/// Does every set that was asked for have an accuracy for every head?
fn completeness(run: &Run, complete: &[String]) -> Finding {
    let check = "completeness";
    if complete.is_empty() {
        let sets = run.sets.len();
        return Finding::new(check, None, format!("{sets} sets; no list of sets was given"));
    }
    let value = |head: &str, set: &str| run.accuracy(head, set).and_then(|score| score.value);
    let is_missing = |set: &&String| run.heads.iter().any(|head| value(head, set).is_none());
    let missing: Vec<&String> = complete.iter().filter(is_missing).collect();
    let there = complete.len() - missing.len();
    let mut evidence = format!("{there} of the {} sets that kinds and percents ask for", complete.len());
    if !missing.is_empty() {
        evidence += &format!("; missing: {}", join(&missing, ", "));
    }
    let others = run.sets.iter().filter(|set| !complete.contains(&set.name));
    let others = join(others.map(|set| set.name.as_str()), ", ");
    if !others.is_empty() {
        evidence += &format!("; there are also {others}");
    }
    Finding::new(check, Some(missing.is_empty()), evidence)
}

/// `1, 2 and 5 %`.
fn percents(percents: &[f64]) -> String {
    let written: Vec<String> = percents.iter().map(f64::to_string).collect();
    format!("{} %", and(&written))
}

/// `a, b and c`.
fn and(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => items.concat(),
    }
}

/// Do the scores of a family fall from the weakest to the strongest, for every head? They rise where a stronger one lies above a
/// weaker one beyond the intervals, and fall where the strongest lies below the weakest so; otherwise the data cannot tell.
pub(super) fn monotonicity(run: &Run, family: &str) -> Finding {
    let check = format!("monotonicity of {family}");
    let sets = run.of_family(family);
    let (first, last) = match sets.as_slice() {
        [first, .., last] => (first, last),
        [one] => return Finding::new(check, None, format!("{} is its only strength", one.name)),
        [] => return Finding::new(check, None, "there are no sets"),
    };
    let (mut rises, mut open) = (Vec::new(), Vec::new());
    for head in &run.heads {
        let scores: Vec<(&Set, Option<&Score>)> = sets.iter().map(|set| (*set, run.pis(head, "", &set.name))).collect();
        let interval = |set: &Set| run.pis(head, "", &set.name)?.interval;
        let falls = interval(first).zip(interval(last)).is_some_and(|(a, b)| b[1] < a[0]);
        match largest_rise(head, &scores) {
            Some(rise) => rises.push(rise),
            None if falls => {}
            None => open.push(head.clone()),
        }
    }
    let leading = run.leading();
    let value = |set: &&Set| run.pis(leading, "", &set.name).and_then(|score| score.value);
    let values = join(sets.iter().map(|set| value(set).map_or(NONE.to_string(), number)), ", ");
    let strengths: Vec<f64> = sets.iter().map(|set| set.percent).collect();
    let values = format!("{leading} {values} at {}", percents(&strengths));
    let ends = format!("from {} to {}", first.name, last.name);
    let (holds, why) = match (rises.is_empty(), open.is_empty()) {
        (false, _) => (Some(false), format!("rises beyond the intervals: {}", and(&rises))),
        (true, true) => (Some(true), format!("falls beyond the intervals {ends} for every head")),
        (true, false) => (
            None,
            format!("the intervals leave open whether scores of {} fall {ends}", and(&open)),
        ),
    };
    Finding::new(check, holds, format!("{values}; {why}"))
}

/// The two strengths of which the stronger scores most above the weaker, where intervals lie apart.
fn largest_rise(head: &str, scores: &[(&Set, Option<&Score>)]) -> Option<String> {
    let known = scores
        .iter()
        .filter_map(|(set, score)| Some((*set, (*score)?.value?, (*score)?.interval?)));
    let known: Vec<(&Set, f64, [f64; 2])> = known.collect();
    let mut largest = (0.0, None);
    for (i, later) in known.iter().enumerate() {
        for earlier in &known[..i] {
            let gap = later.2[0] - earlier.2[1];
            if gap > largest.0 {
                largest = (gap, Some((earlier, later)));
            }
        }
    }
    let of =
        |(set, value, interval): &(&Set, f64, [f64; 2])| format!("{} {}", set.name, written(*value, Some(*interval)));
    let (earlier, later) = largest.1?;
    Some(format!("{head} from {} to {}", of(earlier), of(later)))
}

/// The order that is expected, the most harmful first.
const EXPECTED: [&str; 3] = ["top", "random", "bottom"];
/// The order is also judged by the share of lit pixels that was masked: a percentage may mean other numbers of pixels.
const LIT: &str = "(f=lit)";

/// Top above random above bottom at every percent, one answer for each head.
fn ordering(run: &Run) -> Vec<Finding> {
    let families = run.families();
    let present = EXPECTED.into_iter().filter(|family| families.contains(family));
    let present: Vec<&str> = present.collect();
    let of_head = |head: &String| {
        let check = format!("ordering of {head}");
        let compared = |part: &str| {
            let pairs = present
                .windows(2)
                .map(|pair| compare(run, head, part, pair[0], pair[1]));
            pairs.collect::<Vec<Pair>>()
        };
        let pairs = compared("");
        if pairs.iter().all(Pair::is_empty) {
            let why = "it needs two of top, random and bottom at the same percent";
            return Finding::new(check, None, why);
        }
        let holds = together(&pairs);
        let mut words: Vec<String> = pairs.iter().filter(|pair| !pair.is_empty()).map(Pair::words).collect();
        let by_lit = compared(LIT);
        let is_told = by_lit.iter().map(Pair::count).eq(pairs.iter().map(Pair::count));
        if is_told && together(&by_lit) != holds {
            let it = match together(&by_lit) {
                Some(true) => "it holds",
                Some(false) => "it does not hold",
                None => "it is open",
            };
            words.push(format!("by the share of lit pixels that was masked, {it}"));
        }
        Finding::new(check, holds, words.join("; "))
    };
    run.heads.iter().map(of_head).collect()
}

/// Two families at the percents they share.
#[derive(Default)]
struct Pair<'a> {
    names: [&'a str; 2],
    above: Vec<f64>,
    open: Vec<f64>,
    below: Vec<f64>,
    /// The percent where the order is turned around most, with both scores.
    worst: Option<(f64, String)>,
}

fn compare<'a>(run: &Run, head: &str, part: &str, first: &'a str, second: &'a str) -> Pair<'a> {
    let mut pair = Pair {
        names: [first, second],
        ..Pair::default()
    };
    for set in run.of_family(first) {
        let Some(other) = run.at(second, set.percent) else {
            continue;
        };
        let known = |set: &Set| {
            let score = run.pis(head, part, &set.name)?;
            Some((score.value?, score.interval))
        };
        let (Some((a, of_a)), Some((b, of_b))) = (known(set), known(other)) else {
            continue;
        };
        match (of_a, of_b) {
            (Some([low, _]), Some([_, high])) if low > high => pair.above.push(set.percent),
            (Some([_, high]), Some([low, _])) if high < low => {
                pair.below.push(set.percent);
                let gap = low - high;
                if pair.worst.as_ref().is_none_or(|(worst, _)| gap > *worst) {
                    let (a, b) = (written(a, of_a), written(b, of_b));
                    pair.worst = Some((gap, format!("{} {a} against {} {b}", set.name, other.name)));
                }
            }
            _ => pair.open.push(set.percent),
        }
    }
    pair
}

impl Pair<'_> {
    fn count(&self) -> usize {
        self.above.len() + self.open.len() + self.below.len()
    }

    fn is_empty(&self) -> bool {
        self.count() == 0
    }

    fn words(&self) -> String {
        let [first, second] = self.names;
        let mut parts = Vec::new();
        if !self.above.is_empty() {
            parts.push(format!("{first} is above {second} at {}", percents(&self.above)));
        }
        if !self.open.is_empty() {
            let open = percents(&self.open);
            parts.push(format!("{first} and {second} do not differ significantly at {open}"));
        }
        if let Some((_, worst)) = &self.worst {
            let below = percents(&self.below);
            parts.push(format!("{first} is below {second} at {below} ({worst})"));
        }
        parts.join(", ")
    }
}

fn together(pairs: &[Pair]) -> Option<bool> {
    if pairs.iter().any(|pair| !pair.below.is_empty()) {
        return Some(false);
    }
    let is_clear = pairs.iter().all(|pair| pair.open.is_empty() && !pair.is_empty());
    is_clear.then_some(true)
}

/// Are the values that the specification highlights in the ranges that it expects?
fn expected_ranges(run: &Run) -> Finding {
    let check = "expected ranges";
    let values = key_values(run);
    let holds = match values.iter().any(|key| key.holds == Some(false)) {
        _ if values.is_empty() => None,
        true => Some(false),
        false => values.iter().all(|key| key.holds == Some(true)).then_some(true),
    };
    if values.is_empty() {
        return Finding::new(check, None, "they are of 1 and 5 % of top, bottom and random");
    }
    Finding::new(check, holds, join(values.iter().map(KeyValue::sentence), "; "))
}

/// So many sets are named before the rest is counted.
const MOST_NAMED: usize = 5;

/// Is there a score below 0, beyond noise? An effect of nothing scores below 0 half of the time.
pub(super) fn sanity(run: &Run) -> Finding {
    let (mut beyond, mut within, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut scores = 0;
    for head in &run.heads {
        for set in &run.sets {
            let score = run.pis(head, "", &set.name);
            let Some((value, interval)) = score.and_then(|score| Some((score.value?, score.interval))) else {
                continue;
            };
            scores += 1;
            let words = format!("{head} at {} {}", set.name, written(value, interval));
            match interval {
                _ if value >= 0.0 => {}
                Some([_, high]) if high < 0.0 => beyond.push(words),
                Some(_) => within.push(words),
                None => open.push(words),
            }
        }
    }
    let parts = [
        ("beyond the intervals", &beyond),
        ("within noise", &within),
        ("without an interval", &open),
    ];
    let parts = parts.iter().filter(|(_, items)| !items.is_empty());
    let mut parts = join(
        parts.map(|(how, items)| format!("below 0 {how}: {}", named(items))),
        "; ",
    );
    if parts.is_empty() {
        parts = format!("none of {scores} scores is below 0");
    }
    let holds = match (beyond.is_empty(), open.is_empty()) {
        (false, _) => Some(false),
        (_, false) => None,
        _ => Some(true),
    };
    match scores {
        0 => Finding::new("sanity", None, "there are no scores"),
        _ => Finding::new("sanity", holds, parts),
    }
}

/// Is accuracy above chance everywhere? At chance there is nothing left to lose, and scores fall as 1 / percent.
fn saturation(run: &Run) -> Finding {
    let check = "saturation";
    let mut at_chance = Vec::new();
    let mut judged = 0;
    for head in &run.heads {
        let baseline = run.baseline(head).map(|score| ("baseline", score));
        let sets = run.sets.iter();
        let sets = sets.filter_map(|set| Some((set.name.as_str(), run.accuracy(head, &set.name)?)));
        for (name, score) in baseline.into_iter().chain(sets) {
            let (Some(value), Some(interval), Some(chance)) = (score.value, score.interval, score.chance) else {
                continue;
            };
            judged += 1;
            if interval[0] <= chance {
                let value = written(value, Some(interval));
                at_chance.push(format!("{head} at {name} {value}, chance {}", number(chance)));
            }
        }
    }
    match (judged, at_chance.is_empty()) {
        (0, _) => Finding::new(check, None, "no accuracy has a chance level to compare with"),
        (_, true) => Finding::new(check, Some(true), "accuracy is above chance in every set"),
        (_, false) => {
            let named = named(&at_chance);
            Finding::new(
                check,
                Some(false),
                format!("at chance, where more masking cannot lower it: {named}"),
            )
        }
    }
}

fn named(items: &[String]) -> String {
    let shown = items[..items.len().min(MOST_NAMED)].join("; ");
    match items.len().saturating_sub(MOST_NAMED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

#[cfg(test)]
mod tests_of_findings {
    use super::super::testdata::{of_document, one_head};
    use super::*;

    fn stated(values: &[(&str, f64)]) -> Vec<(String, f64)> {
        values.iter().map(|(head, value)| (head.to_string(), *value)).collect()
    }

    fn of(results: &Results, expected: &[(&str, f64)], check: &str) -> Finding {
        let findings = perturb_findings(results, &stated(expected), &[]);
        findings.into_iter().find(|finding| finding.check == check).unwrap()
    }

    #[test]
    fn a_baseline_matches_within_the_rounding_of_four_digits() {
        let mut results = of_document();
        super::super::testdata::change(&mut results, "accuracy.combined@baseline", 0.51257, None);
        let finding = of(&results, &[("combined", 0.5126), ("snr", 0.6871)], "baseline match");
        assert_eq!(finding.holds, Some(true));
        assert_eq!(
            finding.evidence,
            "combined 0.51257 is the stated 0.5126; snr 0.68710 is the stated 0.6871"
        );
        let finding = of(&results, &[("combined", 0.5127), ("snr", 0.6871)], "baseline match");
        assert_eq!(finding.holds, Some(false));
        assert!(
            finding
                .evidence
                .starts_with("combined 0.51257 is 0.00013 from the stated 0.5127"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_baseline_that_cannot_be_compared_is_open() {
        assert_eq!(of(&of_document(), &[], "baseline match").holds, None);
        let unknown = of(&of_document(), &[("phase", 0.5)], "baseline match");
        assert_eq!(unknown.holds, None);
        assert!(
            unknown.evidence.contains("the heads are combined, modulation, snr"),
            "{unknown:?}"
        );
        // One that differs decides, whatever the others are.
        let both = of(&of_document(), &[("snr", 0.5), ("phase", 0.5)], "baseline match");
        assert_eq!(both.holds, Some(false));
    }

    #[test]
    fn missing_sets_are_named() {
        let asked = ["top1", "top5", "top2", "bottom3"].map(str::to_string);
        let findings = perturb_findings(&of_document(), &[], &asked);
        assert_eq!(
            findings[1],
            Finding::new(
                "completeness",
                Some(false),
                "2 of the 4 sets that kinds and percents ask for; missing: top2, bottom3; there are also bottom1, bottom5, random1, random5"
            )
        );
        let all = ["top1", "top5", "bottom1", "bottom5", "random1", "random5"].map(str::to_string);
        let findings = perturb_findings(&of_document(), &[], &all);
        assert_eq!(
            findings[1],
            Finding::new(
                "completeness",
                Some(true),
                "6 of the 6 sets that kinds and percents ask for"
            )
        );
    }

    #[test]
    fn every_check_is_answered_once() {
        let checks = |results: &Results| -> Vec<String> {
            let findings = perturb_findings(results, &[], &[]);
            findings.into_iter().map(|finding| finding.check).collect()
        };
        assert_eq!(
            checks(&of_document()),
            [
                "baseline match",
                "completeness",
                "monotonicity of top",
                "monotonicity of bottom",
                "monotonicity of random",
                "ordering of combined",
                "ordering of modulation",
                "ordering of snr",
                "expected ranges",
                "sanity",
                "saturation",
            ]
        );
        assert_eq!(
            checks(&one_head()),
            [
                "baseline match",
                "completeness",
                "monotonicity of top",
                "ordering of digit",
                "expected ranges",
                "sanity",
                "saturation"
            ]
        );
        assert_eq!(checks(&Results::default()), ["completeness"]);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(percents(&[0.5, 1.0, 5.0]), "0.5, 1 and 5 %");
        assert_eq!([and(&[]), and(&["a".to_string()])], ["", "a"]);
    }
}

#[cfg(test)]
mod tests_of_monotonicity {
    use super::super::testdata::{change, of_document, one_head};
    use super::*;
    use repscope_core::Results;

    fn of_family(results: &Results, family: &str) -> Finding {
        monotonicity(&Run::first(results).unwrap(), family)
    }

    #[test]
    fn a_rise_beyond_the_intervals_breaks_monotonicity() {
        let finding = of_family(&of_document(), "top");
        assert_eq!(finding.holds, Some(false));
        assert_eq!(
            finding.evidence,
            "combined 3.26, 7.2 at 1 and 5 %; rises beyond the intervals: combined from top1 3.26 [3.06, 3.46] to top5 7.200 \
             [7.160, 7.240], modulation from top1 4.39 [4.19, 4.59] to top5 6.000 [5.960, 6.040] and snr from top1 3.71 [3.51, \
             3.91] to top5 5.000 [4.960, 5.040]"
        );
    }

    #[test]
    fn only_a_fall_beyond_the_intervals_is_one() {
        let mut results = of_document();
        for head in ["combined", "modulation", "snr"] {
            change(&mut results, &format!("pis.{head}@bottom1"), 0.8, Some([0.6, 1.0]));
            change(&mut results, &format!("pis.{head}@bottom5"), 0.3, Some([0.26, 0.34]));
        }
        let finding = of_family(&results, "bottom");
        assert_eq!(finding.holds, Some(true));
        assert_eq!(
            finding.evidence,
            "combined 0.8, 0.3 at 1 and 5 %; falls beyond the intervals from bottom1 to bottom5 for every head"
        );
        change(&mut results, "pis.snr@bottom5", 0.7, Some([0.65, 0.75]));
        let finding = of_family(&results, "bottom");
        assert_eq!(finding.holds, None);
        assert!(
            finding
                .evidence
                .ends_with("the intervals leave open whether scores of snr fall from bottom1 to bottom5"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_rise_within_the_intervals_leaves_it_open() {
        let mut results = of_document();
        // From 0.8 [0.6, 1.0] up to 0.9 [0.86, 0.94].
        change(&mut results, "pis.combined@bottom5", 0.9, Some([0.86, 0.94]));
        assert_eq!(of_family(&results, "bottom").holds, None);
        change(&mut results, "pis.combined@bottom5", 1.1, Some([1.06, 1.14]));
        assert_eq!(of_family(&results, "bottom").holds, Some(false));
        change(&mut results, "pis.combined@bottom5", 1.1, None);
        assert_eq!(of_family(&results, "bottom").holds, None);
        assert_eq!(of_family(&one_head(), "top").holds, None);
    }
}

#[cfg(test)]
mod tests_of_ordering {
    use super::super::testdata::{change, of_document, one_head};
    use super::*;
    use repscope_core::Results;

    fn of_combined(results: &Results) -> Finding {
        ordering(&Run::first(results).unwrap()).remove(0)
    }

    #[test]
    fn the_order_of_families_is_judged_at_each_percent() {
        let finding = of_combined(&of_document());
        assert_eq!(finding.holds, Some(true));
        assert_eq!(
            finding.evidence,
            "top is above random at 1 and 5 %; random is above bottom at 1 and 5 %"
        );
        let mut results = of_document();
        // The reference's own numbers: bottom 48.67 above random −3.67.
        change(&mut results, "pis.combined@bottom1", 48.67, Some([48.2, 49.1]));
        change(&mut results, "pis.combined@random1", -3.67, Some([-3.9, -3.4]));
        let finding = of_combined(&results);
        assert_eq!(finding.holds, Some(false));
        assert!(
            finding.evidence.contains(
                "random is above bottom at 5 %, random is below bottom at 1 % (random1 -3.67 [-3.90, -3.40] against bottom1 48.67 \
                 [48.20, 49.10])"
            ),
            "{}",
            finding.evidence
        );
    }

    #[test]
    fn intervals_that_overlap_leave_the_order_open() {
        let mut results = of_document();
        change(&mut results, "pis.combined@random1", 3.2, Some([3.0, 3.4]));
        let finding = of_combined(&results);
        assert_eq!(finding.holds, None);
        assert!(
            finding.evidence.contains("do not differ significantly at 1 %"),
            "{finding:?}"
        );
        assert_eq!(of_combined(&one_head()).holds, None);
    }

    #[test]
    fn another_answer_by_the_share_that_was_masked_is_told() {
        let mut results = of_document();
        change(&mut results, "pis.combined(f=lit)@bottom5", 9.0, Some([8.9, 9.1]));
        let finding = of_combined(&results);
        assert_eq!(finding.holds, Some(true));
        assert!(
            finding
                .evidence
                .ends_with("by the share of lit pixels that was masked, it does not hold"),
            "{finding:?}"
        );
    }

    #[test]
    fn two_of_the_three_families_are_enough() {
        let mut results = of_document();
        results.scores.retain(|score| !score.metric.contains("@random"));
        let finding = of_combined(&results);
        assert_eq!(
            (finding.holds, finding.evidence.as_str()),
            (Some(true), "top is above bottom at 1 and 5 %")
        );
    }
}

#[cfg(test)]
mod tests_of_level {
    use super::super::testdata::{change, of_document};
    use super::*;
    use repscope_core::Results;

    fn sane(results: &Results) -> Finding {
        sanity(&Run::first(results).unwrap())
    }

    #[test]
    fn a_negative_score_breaks_sanity_only_beyond_noise() {
        let mut results = of_document();
        assert_eq!(sane(&results).evidence, "none of 18 scores is below 0");
        change(&mut results, "pis.snr@bottom1", -0.1, Some([-0.3, 0.1]));
        let finding = sane(&results);
        assert_eq!(finding.holds, Some(true));
        assert_eq!(
            finding.evidence,
            "below 0 within noise: snr at bottom1 -0.10 [-0.30, 0.10]"
        );
        change(&mut results, "pis.combined@random1", -3.67, Some([-3.9, -3.4]));
        let finding = sane(&results);
        assert_eq!(finding.holds, Some(false));
        assert!(
            finding
                .evidence
                .starts_with("below 0 beyond the intervals: combined at random1 -3.67 [-3.90, -3.40]; below 0 within"),
            "{finding:?}"
        );
    }

    #[test]
    fn a_negative_score_without_an_interval_is_open() {
        let mut results = of_document();
        change(&mut results, "pis.snr@bottom1", -0.1, None);
        assert_eq!(sane(&results).holds, None);
        assert_eq!(
            sane(&Results {
                scores: results.scores[..2].to_vec(),
                ..Results::default()
            })
            .holds,
            None
        );
    }

    #[test]
    fn accuracy_at_chance_is_named() {
        let mut results = of_document();
        let of = |results: &Results| saturation(&Run::first(results).unwrap());
        assert_eq!(of(&results).holds, Some(true));
        change(&mut results, "accuracy.snr@top5", 0.068, Some([0.065, 0.071]));
        let finding = of(&results);
        assert_eq!(finding.holds, Some(false));
        assert!(
            finding
                .evidence
                .ends_with("snr at top5 0.0680 [0.0650, 0.0710], chance 0.0667"),
            "{finding:?}"
        );
    }

    #[test]
    fn long_lists_are_cut() {
        let items: Vec<String> = (0..7).map(|i| i.to_string()).collect();
        assert_eq!(named(&items), "0; 1; 2; 3; 4; and 2 more");
    }
}
