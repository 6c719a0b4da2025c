// SPDX-License-Identifier: MIT
//! `--baseline results.json --max-drop 0.01`: how much worse than before a score may be.

use anyhow::{Context, Result, bail};
use repscope_core::metrics::find;
use repscope_core::{Better, Results, Score};
use repscope_report::{GateLine, number};

use super::{models, refuse_unknown, split_model, value_of};

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
    path: String,
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
            let option = format!("--max-drop {text}");
            match text.rsplit_once('=') {
                None if drops.general.is_some() => {
                    bail!("{option} is the second drop for every metric; give one, and METRIC=VALUE for others")
                }
                None => drops.general = Some(Allowed::parse(&option, text)?),
                Some((left, value)) => {
                    let (model, metric) = split_model(left);
                    refuse_unknown(&option, metric)?;
                    if find(metric)
                        .and_then(|(_, output)| output)
                        .is_some_and(|o| o.better == Better::Neither)
                    {
                        bail!("{option}: {metric} has no better direction, so it cannot drop; use --gate for a limit");
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

    pub fn check(&self, results: &Results) -> Vec<GateLine> {
        let (now, before) = (models(results), models(&self.baseline));
        let mut lines = Vec::new();
        for &model in &now {
            // One model each is the same model, whatever it is called.
            let old = match (&now[..], &before[..]) {
                ([_], [only]) => only,
                _ => model,
            };
            for single in self.single.iter().filter(|s| s.is_of(model)) {
                let gate = format!("{} drop <= {}", single.metric, single.allowed);
                lines.push(match self.change(results, model, old, &single.metric, single.allowed) {
                    Ok(change) => change.line(gate, model),
                    Err(why) => failed(gate, model, why),
                });
            }
            if let Some(allowed) = self.general {
                lines.extend(self.check_all(results, model, old, allowed));
            }
        }
        lines.extend(self.lost(&now, &before));
        lines
    }

    /// Every metric with a direction: a line for each that fails, and one for those that pass.
    fn check_all(&self, results: &Results, model: &str, old: &str, allowed: Allowed) -> Vec<GateLine> {
        if !models(&self.baseline).contains(&old) {
            let gate = format!("every drop <= {allowed}");
            let why = value_of(&self.baseline, old, "", &format!("{} has", self.path));
            return vec![failed(gate, model, why.err().unwrap_or_default())];
        }
        let has_own = |metric: &str| self.single.iter().any(|s| s.metric == metric && s.is_of(model));
        let mut metrics: Vec<&str> = Vec::new();
        let scores = of_model(results, model).chain(of_model(&self.baseline, old));
        for score in scores.filter(|s| s.better != Better::Neither && s.comparable && !has_own(&s.metric)) {
            if !metrics.contains(&score.metric.as_str()) {
                metrics.push(&score.metric);
            }
        }
        let mut lines = Vec::new();
        let mut passed: Vec<(&str, Change)> = Vec::new();
        for metric in metrics {
            let is_undefined =
                |results: &Results, model: &str| results.score(model, metric).is_some_and(|s| s.value.is_none());
            if is_undefined(results, model) && is_undefined(&self.baseline, old) {
                continue; // what was never there cannot drop
            }
            let gate = format!("{metric} drop <= {allowed}");
            match self.change(results, model, old, metric, allowed) {
                Ok(change) if change.passed => passed.push((metric, change)),
                Ok(change) => lines.push(change.line(gate, model)),
                Err(why) => lines.push(failed(gate, model, why)),
            }
        }
        let largest = passed.iter().max_by(|a, b| a.1.drop.total_cmp(&b.1.drop));
        if let Some((metric, change)) = largest {
            lines.push(GateLine {
                gate: format!("drop <= {allowed} in {} metrics", passed.len()),
                model: model.to_string(),
                got: match change.drop > 0.0 {
                    true => format!("at most {} ({metric})", number(change.drop)),
                    false => "no drop".to_string(),
                },
                passed: true,
                why: None,
            });
        } else if lines.is_empty() {
            let why = "no metric with a direction has a value in both".to_string();
            lines.push(failed(format!("every drop <= {allowed}"), model, why));
        }
        lines
    }

    /// Models that were asked for, or are in the baseline, and are not there.
    fn lost(&self, now: &[&str], before: &[&str]) -> Vec<GateLine> {
        let is_one = now.len() == 1 && before.len() == 1;
        let asked = self.single.iter().filter_map(|s| s.model.as_deref());
        let in_baseline = before.iter().copied().filter(|_| !is_one);
        let mut lost: Vec<&str> = Vec::new();
        for model in asked.chain(in_baseline).filter(|model| !now.contains(model)) {
            if !lost.contains(&model) {
                lost.push(model);
            }
        }
        let why = format!("it is not among the models, which are {}", now.join(", "));
        let gate = match (self.general, self.single.first()) {
            (Some(allowed), _) => format!("drop <= {allowed}"),
            (None, Some(single)) => format!("{} drop <= {}", single.metric, single.allowed),
            (None, None) => "drop".to_string(),
        };
        lost.into_iter()
            .map(|model| failed(gate.clone(), model, why.clone()))
            .collect()
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

impl Single {
    fn is_of(&self, model: &str) -> bool {
        self.model.as_deref().is_none_or(|own| own == model)
    }
}

impl Change {
    fn line(&self, gate: String, model: &str) -> GateLine {
        let drop = match self.drop > 0.0 {
            true => format!("drop {}", number(self.drop)),
            false => "no drop".to_string(),
        };
        GateLine {
            gate,
            model: model.to_string(),
            got: format!("{} to {}, {drop}", number(self.before), number(self.now)),
            passed: self.passed,
            why: None,
        }
    }
}

impl Allowed {
    fn parse(option: &str, text: &str) -> Result<Self> {
        let (digits, is_share) = match text.trim().strip_suffix('%') {
            Some(digits) => (digits.trim(), true),
            None => (text.trim(), false),
        };
        let number: f64 = digits
            .parse()
            .ok()
            .filter(|n: &f64| n.is_finite() && *n >= 0.0)
            .with_context(|| format!("{option}: `{text}` is not a drop; write 0.01 or 2%, not below 0"))?;
        Ok(match is_share {
            true => Allowed::Share(number / 100.0),
            false => Allowed::Units(number),
        })
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

fn failed(gate: String, model: &str, why: String) -> GateLine {
    GateLine {
        gate,
        model: model.to_string(),
        got: "—".to_string(),
        passed: false,
        why: Some(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(scores: &[(&str, &str, f64, Better)]) -> Results {
        let score = |(model, metric, value, better): &(&str, &str, f64, Better)| Score {
            model: model.to_string(),
            ..Score::number(*metric, *value, 10, *better)
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
        drops
            .check(&now)
            .into_iter()
            .map(|line| (line.gate, line.passed))
            .collect()
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

    #[test]
    fn a_model_that_is_gone_fails() {
        let before = results(&[("a", "nmi", 0.9, Better::Higher), ("b", "nmi", 0.9, Better::Higher)]);
        let now = results(&[("a", "nmi", 0.9, Better::Higher), ("c", "nmi", 0.9, Better::Higher)]);
        let drops = Drops::parse(&["0.1".to_string()], "old.json".to_string(), before).unwrap();
        let failed: Vec<String> = drops
            .check(&now)
            .into_iter()
            .filter(|line| !line.passed)
            .map(|line| format!("{}: {}", line.model, line.why.unwrap_or_default()))
            .collect();
        assert_eq!(
            failed,
            [
                "c: old.json has no model `c`; there is `a`, `b`",
                "b: it is not among the models, which are a, c"
            ]
        );
    }
}
