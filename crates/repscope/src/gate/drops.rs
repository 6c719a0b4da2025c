// SPDX-License-Identifier: MIT
//! `--baseline results.json --max-drop 0.01`: how much worse than before a score may be.

use anyhow::{Result, bail};
use repscope_core::metrics::find;
use repscope_core::{Analysis, Better, Results, Score};
use repscope_render::{GateLine, number};

use super::{NONE, refuse_unknown, split_model, value_of};
use crate::search::distinct;

/// What is left of equal numbers after a subtraction, as a share of them.
const ROUNDING: f64 = 1e-12;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Allowed {
    /// In the units of the metric.
    Units(f64),
    /// As a share of the baseline's value.
    Share(f64),
}

pub struct Drops {
    /// Where the baseline came from, for messages.
    pub path: String,
    baseline: Results,
    /// For every metric with a direction that has no line of its own.
    general: Option<Allowed>,
    single: Vec<Single>,
}

struct Single {
    model: Option<String>,
    metric: String,
    allowed: Allowed,
}

/// What came of a comparison with the baseline.
#[derive(Default)]
pub struct Compared {
    pub lines: Vec<GateLine>,
    /// What only the baseline has: analyses, metrics and models.
    not_computed: Vec<String>,
    /// What only this run has.
    not_in_baseline: Vec<String>,
}

/// How a score changed.
struct Change {
    before: f64,
    now: f64,
    /// In the bad direction.
    drop: f64,
    passed: bool,
}

impl Drops {
    pub fn parse(texts: &[String], path: String, baseline: Results) -> Result<Self> {
        let mut drops = Drops {
            path,
            baseline,
            general: None,
            single: Vec::new(),
        };
        for text in texts {
            let option = format!("`max_drop` = {text}");
            match text.rsplit_once('=') {
                None if drops.general.is_some() => {
                    bail!("{option} is the second drop for every metric; give one, and METRIC=VALUE for others")
                }
                None => drops.general = Some(Allowed::parse(&option, text)?),
                Some((left, value)) => {
                    let (model, metric) = split_model(left);
                    refuse_unknown(&option, metric)?;
                    let output = find(metric).and_then(|(_, output)| output);
                    if output.is_some_and(|o| o.better == Better::Neither) {
                        bail!("{option}: {metric} has no better direction, so it cannot drop; use `gate` for a limit");
                    }
                    drops.single.push(Single {
                        model,
                        metric: metric.to_string(),
                        allowed: Allowed::parse(&option, value)?,
                    });
                }
            }
        }
        Ok(drops)
    }

    /// Compares with the baseline. `failed` are the analyses that were asked for and have no results.
    pub fn check(&self, results: &Results, failed: &[Analysis]) -> Compared {
        let (now, before) = (results.models(), self.baseline.models());
        let mut compared = Compared::default();
        for &model in &now {
            // One model each is the same model, whatever it is called.
            let old = match (&now[..], &before[..]) {
                ([_], [only]) => only,
                _ => model,
            };
            for single in self.single.iter().filter(|s| s.is_of(model)) {
                let gate = format!("{} drop <= {}", single.metric, single.allowed);
                let change = self.change(results, model, old, &single.metric, single.allowed);
                compared.lines.push(match change {
                    Ok(change) => change.line(gate, model),
                    Err(why) => GateLine::failed(gate, model, NONE, why),
                });
            }
            if let Some(allowed) = self.general {
                self.check_all(results, failed, (model, old), allowed, &mut compared);
            }
        }
        self.check_lost(&now, &before, failed, &mut compared);
        compared
    }

    /// Every metric with a direction: a line for each that fails, and one for those that pass.
    fn check_all(
        &self,
        results: &Results,
        failed: &[Analysis],
        (model, old): (&str, &str),
        allowed: Allowed,
        compared: &mut Compared,
    ) {
        if !self.baseline.models().contains(&old) {
            let gate = format!("every drop <= {allowed}");
            let why = value_of(&self.baseline, old, "", &format!("{} has", self.path));
            let line = GateLine::failed(gate, model, NONE, why.err().unwrap_or_default());
            return compared.lines.push(line);
        }
        let has_own = |metric: &str| self.single.iter().any(|s| s.metric == metric && s.is_of(model));
        let can_drop = |s: &&Score| s.better != Better::Neither && s.comparable && !has_own(&s.metric);
        let scores = of_model(results, model).chain(of_model(&self.baseline, old));
        let metrics = distinct(scores.filter(can_drop).map(|score| score.metric.as_str()));
        let mut lines = Vec::new();
        let mut passed: Vec<(&str, Change)> = Vec::new();
        for metric in metrics {
            let gate = format!("{metric} drop <= {allowed}");
            match (results.score(model, metric), self.baseline.score(old, metric)) {
                // What was never there cannot drop.
                (None, Some(score)) | (Some(score), None) if score.value.is_none() => continue,
                (Some(now), Some(before)) if now.value.is_none() && before.value.is_none() => continue,
                (None, Some(_)) if analysis_of(metric).is_none_or(|own| !failed.contains(&own)) => {
                    compared.not_computed.push(what(results, metric));
                    continue;
                }
                (Some(_), None) => {
                    compared.not_in_baseline.push(what(&self.baseline, metric));
                    continue;
                }
                _ => {}
            }
            match self.change(results, model, old, metric, allowed) {
                Ok(change) if change.passed => passed.push((metric, change)),
                Ok(change) => lines.push(change.line(gate, model)),
                Err(why) => lines.push(GateLine::failed(gate, model, NONE, why)),
            }
        }
        let largest = passed.iter().max_by(|a, b| a.1.drop.total_cmp(&b.1.drop));
        if let Some((metric, change)) = largest {
            let got = if change.drop > 0.0 {
                format!("at most {} ({metric})", number(change.drop))
            } else {
                "no drop".to_string()
            };
            let gate = format!("drop <= {allowed} in {} metrics", passed.len());
            lines.push(GateLine::new(gate, model, got, true));
        } else if lines.is_empty() {
            let why = "no metric with a direction has a value in both";
            lines.push(GateLine::failed(format!("every drop <= {allowed}"), model, NONE, why));
        }
        compared.lines.extend(lines);
    }

    /// Models that are not there: a failure where a limit names them or all of their analyses failed. Others were not
    /// asked for.
    fn check_lost(&self, now: &[&str], before: &[&str], failed: &[Analysis], compared: &mut Compared) {
        let is_one = now.len() == 1 && before.len() == 1;
        let named: Vec<&str> = self.single.iter().filter_map(|s| s.model.as_deref()).collect();
        let in_baseline = before.iter().copied().filter(|_| !is_one);
        let gate = match (self.general, self.single.first()) {
            (Some(allowed), _) => format!("drop <= {allowed}"),
            (None, Some(single)) => format!("{} drop <= {}", single.metric, single.allowed),
            (None, None) => "drop".to_string(),
        };
        let all = named.iter().copied().chain(in_baseline);
        for model in distinct(all.filter(|model| !now.contains(model))) {
            let has_failed = |score: &Score| analysis_of(&score.metric).is_some_and(|own| failed.contains(&own));
            if named.contains(&model) {
                let why = format!("it is not among the models, which are {}", now.join(", "));
                compared.lines.push(GateLine::failed(&gate, model, NONE, why));
            } else if of_model(&self.baseline, model).all(has_failed) {
                let why = "every analysis of it failed in this run";
                compared.lines.push(GateLine::failed(&gate, model, NONE, why));
            } else {
                compared.not_computed.push(format!("model `{model}`"));
            }
        }
    }

    fn change(
        &self,
        results: &Results,
        model: &str,
        old: &str,
        metric: &str,
        allowed: Allowed,
    ) -> Result<Change, String> {
        let now = value_of(results, model, metric, "there is")?;
        let before = value_of(&self.baseline, old, metric, &format!("{} has", self.path))?;
        let drop = match results.score(model, metric).map(|s| s.better) {
            Some(Better::Lower) => now - before,
            _ => before - now,
        };
        let most = match allowed {
            Allowed::Units(units) => units,
            Allowed::Share(share) => share * before.abs(),
        };
        Ok(Change {
            before,
            now,
            drop,
            // 0.95 less 0.94 is a little more than 0.01 in binary.
            passed: drop <= most + ROUNDING * before.abs().max(now.abs()),
        })
    }
}

impl Compared {
    /// What was left out, a sentence for each reason.
    pub fn left_out(&self, baseline: &str) -> Vec<String> {
        let reasons = [
            (&self.not_computed, "this run did not compute them".to_string()),
            (&self.not_in_baseline, format!("{baseline} does not have them")),
        ];
        let reasons = reasons.into_iter().filter(|(what, _)| !what.is_empty());
        let sentence = |(what, why): (&Vec<String>, String)| {
            let what = distinct(what.iter().map(String::as_str)).join(", ");
            format!("not compared: {what}, because {why}")
        };
        reasons.map(sentence).collect()
    }
}

impl Single {
    fn is_of(&self, model: &str) -> bool {
        self.model.as_deref().is_none_or(|own| own == model)
    }
}

impl Change {
    fn line(&self, gate: String, model: &str) -> GateLine {
        let drop = if self.drop > 0.0 {
            format!("drop {}", number(self.drop))
        } else {
            "no drop".to_string()
        };
        let got = format!("{} to {}, {drop}", number(self.before), number(self.now));
        GateLine::new(gate, model, got, self.passed)
    }
}

impl Allowed {
    fn parse(option: &str, text: &str) -> Result<Self> {
        let (digits, is_share) = match text.trim().strip_suffix('%') {
            Some(digits) => (digits.trim(), true),
            None => (text.trim(), false),
        };
        match digits.parse::<f64>() {
            Ok(n) if n.is_finite() && n >= 0.0 && is_share => Ok(Allowed::Share(n / 100.0)),
            Ok(n) if n.is_finite() && n >= 0.0 => Ok(Allowed::Units(n)),
            _ => bail!("{option}: `{text}` is not a drop; write 0.01 or 2%, not below 0"),
        }
    }
}

impl std::fmt::Display for Allowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Allowed::Units(units) => write!(f, "{units}"),
            Allowed::Share(share) => write!(f, "{}%", number(share * 100.0)),
        }
    }
}

fn of_model<'a>(results: &'a Results, model: &'a str) -> impl Iterator<Item = &'a Score> {
    results.scores.iter().filter(move |s| s.model == model)
}

fn analysis_of(metric: &str) -> Option<Analysis> {
    find(metric).map(|(metric, _)| metric.analysis)
}

/// What results lack: the whole analysis where they have nothing of it, else the metric.
fn what(results: &Results, metric: &str) -> String {
    match analysis_of(metric) {
        Some(own) if !results.scores.iter().any(|s| analysis_of(&s.metric) == Some(own)) => own.name().to_string(),
        _ => metric.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(scores: &[(&str, &str, f64, Better)]) -> Results {
        let score = |(model, metric, value, better): &(&str, &str, f64, Better)| Score {
            model: model.to_string(),
            better: *better,
            ..Score::number(*metric, *value, 10)
        };
        Results {
            scores: scores.iter().map(score).collect(),
            ..Results::default()
        }
    }

    /// The verdicts for one model whose nmi fell from 0.95 to 0.94 and whose uniformity rose from -2 to -1.9.
    fn verdicts(max_drop: &str) -> Vec<(String, bool)> {
        let before = results(&[
            ("a", "nmi", 0.95, Better::Higher),
            ("a", "uniformity", -2.0, Better::Lower),
        ]);
        let now = results(&[
            ("b", "nmi", 0.94, Better::Higher),
            ("b", "uniformity", -1.9, Better::Lower),
        ]);
        let drops = Drops::parse(&[max_drop.to_string()], "old.json".to_string(), before).unwrap();
        let lines = drops.check(&now, &[]).lines;
        lines.into_iter().map(|line| (line.gate, line.passed)).collect()
    }

    #[test]
    fn a_drop_is_measured_in_the_bad_direction() {
        let one = |text: &str| verdicts(text)[0].1;
        assert!(one("nmi=0.01") && !one("nmi=0.009"));
        // 0.1 worse, which is 5 % of 2.
        assert!(one("uniformity=0.1") && !one("uniformity=0.09"));
        assert!(one("uniformity=5%") && !one("uniformity=4.9%"));
    }

    #[test]
    fn one_drop_for_all_names_those_that_fail_and_counts_the_others() {
        let gates = |text: &str| verdicts(text);
        assert_eq!(
            gates("0.05"),
            [
                ("uniformity drop <= 0.05".to_string(), false),
                ("drop <= 0.05 in 1 metrics".to_string(), true)
            ]
        );
        assert_eq!(gates("0.2"), [("drop <= 0.2 in 2 metrics".to_string(), true)]);
    }

    #[test]
    fn what_is_no_drop_is_refused() {
        let error = |text: &str| {
            let parsed = Drops::parse(&[text.to_string()], String::new(), Results::default());
            parsed.err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert!(error("much").contains("`much` is not a drop"));
        assert!(error("nmi=-0.1").contains("is not a drop"));
        assert!(error("two_nn=0.1").contains("no better direction"));
        assert!(error("silhuette=0.1").contains("did you mean `silhouette`?"));
    }

    /// What fails, and what is said to be left out, where `nmi` and `trustworthiness@10` of `a` and `nmi` of `b` were known.
    fn compared(max_drop: &str, now: &Results, failed: &[Analysis]) -> (Vec<String>, Vec<String>) {
        let before = results(&[
            ("a", "nmi", 0.9, Better::Higher),
            ("a", "trustworthiness@10", 0.8, Better::Higher),
            ("b", "nmi", 0.9, Better::Higher),
        ]);
        let drops = Drops::parse(&[max_drop.to_string()], "old.json".to_string(), before).unwrap();
        let compared = drops.check(now, failed);
        let left_out = compared.left_out("old.json");
        let failed = compared.lines.into_iter().filter(|line| !line.passed);
        let words = |line: GateLine| format!("{}: {}", line.model, line.why.unwrap_or_default());
        (failed.map(words).collect(), left_out)
    }

    #[test]
    fn what_was_not_asked_for_is_left_out_and_told() {
        let now = results(&[("a", "nmi", 0.9, Better::Higher)]);
        let (failed, left_out) = compared("0.1", &now, &[]);
        assert_eq!(failed, Vec::<String>::new());
        assert_eq!(
            left_out,
            ["not compared: neighborhood, model `b`, because this run did not compute them"]
        );
    }

    #[test]
    fn what_only_this_run_computed_is_left_out_and_told() {
        let mut now = results(&[("a", "nmi", 0.9, Better::Higher), ("b", "nmi", 0.9, Better::Higher)]);
        now.scores
            .extend(results(&[("a", "clid.cl", 0.9, Better::Higher)]).scores);
        now.scores.extend(results(&[("a", "ami", 0.9, Better::Higher)]).scores);
        let (failed, left_out) = compared("0.1", &now, &[]);
        assert_eq!(failed, Vec::<String>::new());
        assert_eq!(
            left_out,
            [
                "not compared: neighborhood, because this run did not compute them",
                "not compared: clid, ami, because old.json does not have them"
            ]
        );
    }

    #[test]
    fn a_metric_or_model_that_a_limit_names_must_be_there() {
        let now = results(&[("a", "nmi", 0.9, Better::Higher)]);
        assert_eq!(
            compared("trustworthiness@10=0.1", &now, &[]).0,
            ["a: there is no score trustworthiness@10; there are 1 others"]
        );
        assert_eq!(
            compared("b:nmi=0.1", &now, &[]).0,
            ["b: it is not among the models, which are a"]
        );
    }

    #[test]
    fn an_analysis_that_was_asked_for_and_failed_fails() {
        let now = results(&[("a", "nmi", 0.9, Better::Higher), ("b", "nmi", 0.9, Better::Higher)]);
        let (failed, left_out) = compared("0.1", &now, &[Analysis::Neighborhood]);
        assert_eq!(failed, ["a: there is no score trustworthiness@10; there are 1 others"]);
        assert!(left_out.is_empty(), "{left_out:?}");
        // A model that only a failed analysis knows, as that of a retrieval, is lost by the failure.
        let now = results(&[("a", "trustworthiness@10", 0.8, Better::Higher)]);
        let (failed, _) = compared("0.1", &now, &[Analysis::Geometry]);
        assert_eq!(
            failed,
            [
                "a: there is no score nmi; there are 1 others",
                "b: every analysis of it failed in this run"
            ]
        );
    }

    #[test]
    fn a_score_that_became_undefined_fails() {
        let mut now = results(&[("a", "nmi", 0.9, Better::Higher), ("b", "nmi", 0.9, Better::Higher)]);
        now.scores.push(Score {
            model: "a".to_string(),
            ..Score::undefined("trustworthiness@10", "all embeddings are zero", 10)
        });
        let (failed, left_out) = compared("0.1", &now, &[]);
        assert_eq!(failed, ["a: there is no value: all embeddings are zero"]);
        assert!(left_out.is_empty(), "{left_out:?}");
    }

    #[test]
    fn a_model_that_the_baseline_does_not_know_fails() {
        let now = results(&[("a", "nmi", 0.9, Better::Higher), ("c", "nmi", 0.9, Better::Higher)]);
        let (failed, left_out) = compared("0.1", &now, &[]);
        assert_eq!(failed, ["c: old.json has no model `c`; there is `a`, `b`"]);
        assert_eq!(
            left_out,
            ["not compared: neighborhood, model `b`, because this run did not compute them"]
        );
    }
}
