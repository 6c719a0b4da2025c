// SPDX-License-Identifier: MIT
//! Gates: limits that scores must keep, margins within which models must be the same, and drops below a baseline that they must
//! not exceed. One that fails makes the exit code 1, so that a comparison can stop a pipeline.

mod drops;
mod same;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use repscope_core::metrics::find;
use repscope_core::{METRICS, Results};
use repscope_io::ResultsDocument;
use repscope_io::names::guess;
use repscope_render::{Color, GateLine, gate_table, number, written};
use serde::{Deserialize, Serialize};

use crate::evaluation::document;
use crate::options::{default_options, words};
use crate::report::{Report, document_in};
use crate::search::list;
use drops::Drops;
use same::Same;

/// Where the help shows the options.
const HEADING: &str = "Gates (exit code 1 if one fails)";
/// What stands where a gate has nothing to show.
const NONE: &str = "—";
/// How many scores a message lists.
const SCORES_SHOWN: usize = 6;

/// What scores must keep.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(default)]
pub struct GateOptions {
    /// A limit, with >=, >, <=, < or ==: "trustworthiness@10>=0.95" for every model, "jepa:uniformity<-2" for one; or
    /// "equivalent(trustworthiness@10, 0.01)": every two models are the same within 0.01. Repeat for more
    #[arg(
        long = "gate",
        value_name = "[MODEL:]METRIC>=VALUE",
        allow_hyphen_values = true,
        help_heading = HEADING
    )]
    pub gates: Vec<String>,
    /// What must keep the limits: the value, or all of its interval
    #[arg(
        long,
        value_parser = words::<GateOn>("value interval"),
        default_value = "value",
        hide_possible_values = true,
        value_name = "value|interval",
        help_heading = HEADING
    )]
    pub gate_on: GateOn,
    /// The results.json of an earlier run
    #[arg(long, value_name = "FILE", requires = "max_drop", help_heading = HEADING)]
    pub baseline: Option<PathBuf>,
    /// How much worse than in the baseline: "trustworthiness@10=0.01", or 0.01 for every metric with a direction; 2% of
    /// the baseline's value instead of its own units. Repeat for more
    #[arg(long, value_name = "[[MODEL:]METRIC=]VALUE", requires = "baseline", help_heading = HEADING)]
    pub max_drop: Vec<String>,
}

/// What must keep a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum GateOn {
    Value,
    Interval,
}

default_options!(GateOptions);

/// Everything that was asked for.
pub struct Gates {
    limits: Vec<Limit>,
    same: Vec<Same>,
    on: GateOn,
    drops: Option<Drops>,
}

impl Gates {
    /// Parses the gates and reads the baseline, before anything is computed.
    pub fn read(options: &GateOptions) -> Result<Self> {
        let (same, limits): (Vec<&String>, Vec<&String>) = options.gates.iter().partition(|text| Same::is_one(text));
        let limits = limits.into_iter().map(|text| Limit::parse(text));
        let limits = limits.collect::<Result<_>>()?;
        let same = same.into_iter().map(|text| Same::parse(text));
        let same = same.collect::<Result<_>>()?;
        let drops = match &options.baseline {
            None => None,
            Some(path) => {
                let baseline = ResultsDocument::read(&document_in(path))?.into_results();
                Some(Drops::parse(&options.max_drop, path.display().to_string(), baseline)?)
            }
        };
        Ok(Gates {
            limits,
            same,
            on: options.gate_on,
            drops,
        })
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty() && self.same.is_empty() && self.drops.is_none()
    }

    /// Holds the results against the gates.
    pub fn check(&self, report: &Report) -> Verdict {
        let results = &report.results;
        let limits = self.limits.iter().flat_map(|limit| limit.check(self.on, results));
        let same = self.same.iter().flat_map(|same| same.check(results));
        let mut verdict = Verdict {
            lines: limits.chain(same).collect(),
            left_out: Vec::new(),
        };
        if let Some(drops) = &self.drops {
            let compared = drops.check(results, &document::failed(&report.document.spec));
            verdict.left_out = compared.left_out(&drops.path);
            verdict.lines.extend(compared.lines);
        }
        verdict
    }
}

impl GateOptions {
    /// A run that overwrites its own baseline could fall step by step, and no gate would ever fail.
    pub fn refuse_own_baseline(&self, output_dir: &Path) -> Result<()> {
        let Some(path) = &self.baseline else { return Ok(()) };
        let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        if same(&document_in(path), &output_dir.join("results.json")) {
            let (path, output_dir) = (path.display(), output_dir.display());
            bail!(
                "`baseline` = {path} would be overwritten by this run, whose results go to {output_dir}; keep the baseline elsewhere, or \
                 give another `output_dir`"
            );
        }
        Ok(())
    }

    /// What was asked, for the results document.
    pub fn asked(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut asked = serde_json::Map::new();
        if !self.gates.is_empty() {
            asked.insert("gates".to_string(), serde_json::json!(self.gates));
        }
        if let Some(baseline) = &self.baseline {
            asked.insert("baseline".to_string(), serde_json::json!(baseline));
            asked.insert("max_drop".to_string(), serde_json::json!(self.max_drop));
        }
        asked
    }
}

/// How the gates went.
pub struct Verdict {
    lines: Vec<GateLine>,
    /// What could not be compared, and why that is no failure.
    left_out: Vec<String>,
}

impl Verdict {
    /// Whether all gates hold.
    pub fn is_passed(&self) -> bool {
        self.lines.iter().all(|line| line.passed)
    }

    /// The gates as a table, and what could not be compared; nothing where there are no gates.
    pub fn table(&self, width: usize, color: Color) -> Option<String> {
        let left_out = self.left_out.iter().map(|sentence| format!("\n{sentence}"));
        let table = || gate_table(&self.lines, width, color).trim_end().to_string() + &left_out.collect::<String>();
        (!self.lines.is_empty()).then(table)
    }
}

/// `jepa:uniformity` → (`jepa`, `uniformity`).
fn split_model(text: &str) -> (Option<String>, &str) {
    match text.rsplit_once(':') {
        Some((model, metric)) => (Some(model.trim().to_string()), metric.trim()),
        None => (None, text.trim()),
    }
}

/// Refuses what can be no score of any run.
pub(crate) fn refuse_unknown(option: &str, metric: &str) -> Result<()> {
    match find(metric) {
        Some((_, Some(output))) if output.id.ends_with("@K") && !metric.contains('@') => {
            bail!("{option}: `{metric}` is a score for each K; write {metric}@10, say")
        }
        Some((_, Some(_))) => Ok(()),
        Some((metric, None)) => bail!(
            "{option}: `{}` is several scores; write one of {}",
            metric.id,
            metric.outputs.iter().map(|o| o.id).collect::<Vec<_>>().join(", ")
        ),
        None => {
            let k = metric.rsplit_once('@').map_or("", |(_, k)| k);
            let known: Vec<String> = METRICS
                .iter()
                .flat_map(|m| m.outputs)
                .map(|o| match k {
                    "" => o.id.to_string(),
                    k => o.id.replace("@K", &format!("@{k}")),
                })
                .collect();
            let guess = guess(metric, known.iter().map(String::as_str));
            bail!("{option}: there is no metric `{metric}`{guess} `repscope metrics` lists them all")
        }
    }
}

/// The value of a model, or why there is none.
fn value_of(results: &Results, model: &str, metric: &str, whose: &str) -> Result<f64, String> {
    if !results.models().contains(&model) {
        let known = list(results.models().into_iter());
        return Err(format!("{whose} no model `{model}`; there is {known}"));
    }
    match results.score(model, metric) {
        None => Err(format!(
            "{whose} no score {metric}; {}",
            relatives(results, model, metric)
        )),
        Some(score) => score.value.ok_or_else(|| {
            let reason = score.reason.as_deref().unwrap_or("no reason was recorded");
            format!("{whose} no value: {reason}")
        }),
    }
}

/// The scores of a model that a missing one may be confused with.
fn relatives(results: &Results, model: &str, metric: &str) -> String {
    let family = |id: &str| id.split(['.', '@', '(']).next().unwrap_or(id).to_string();
    let own = || {
        results
            .scores
            .iter()
            .filter(|s| s.model == model)
            .map(|s| s.metric.as_str())
    };
    let related = own().filter(|id| family(id) == family(metric)).take(SCORES_SHOWN);
    match &related.collect::<Vec<_>>()[..] {
        [] => format!("there are {} others", own().count()),
        related => format!("there is {}", related.join(", ")),
    }
}

/// Longer signs first: `>=` starts with `>`.
const SIGNS: [&str; 5] = [">=", "<=", "==", ">", "<"];

#[derive(Debug, PartialEq)]
struct Limit {
    /// `None` for every model.
    model: Option<String>,
    metric: String,
    /// One of [`SIGNS`].
    sign: &'static str,
    value: f64,
}

impl Limit {
    pub fn parse(text: &str) -> Result<Self> {
        // The last one: names of models may hold anything.
        let at = text.rfind(['<', '>']).or_else(|| text.rfind("=="));
        let found = at.and_then(|at| {
            let sign = SIGNS.into_iter().find(|sign| text[at..].starts_with(sign))?;
            Some((&text[..at], sign, text[at + sign.len()..].trim()))
        });
        let Some((left, sign, value)) = found else {
            bail!("`gate` = {text} has no limit; write METRIC>=VALUE, with >=, >, <=, < or ==");
        };
        let Some(value) = value.parse().ok().filter(|v: &f64| v.is_finite()) else {
            bail!("`gate` = {text}: `{value}` is not a number");
        };
        let (model, metric) = split_model(left);
        refuse_unknown(&format!("`gate` = {text}"), metric)?;
        Ok(Limit {
            model,
            metric: metric.to_string(),
            sign,
            value,
        })
    }

    /// How it went for each model that it speaks of.
    pub fn check(&self, on: GateOn, results: &Results) -> Vec<GateLine> {
        let models = match &self.model {
            Some(model) => vec![model.as_str()],
            None => results.models(),
        };
        let found = models.iter().map(|model| self.check_model(model, on, results));
        found.collect()
    }

    fn check_model(&self, model: &str, on: GateOn, results: &Results) -> GateLine {
        let gate = format!("{} {} {}", self.metric, self.sign, self.value);
        let value = match value_of(results, model, &self.metric, "there is") {
            Ok(value) => value,
            Err(why) => return GateLine::failed(gate, model, NONE, why),
        };
        if on == GateOn::Value {
            return GateLine::new(gate, model, self.shown(value), self.holds(value));
        }
        match results.score(model, &self.metric).and_then(|score| score.interval) {
            Some(interval) => {
                let holds = interval.iter().all(|&end| self.holds(end));
                GateLine::new(gate, model, written(value, Some(interval)), holds)
            }
            None => {
                let why = "the score has no interval; ask for `gate_on` value";
                GateLine::failed(gate, model, number(value), why)
            }
        }
    }

    fn holds(&self, value: f64) -> bool {
        match self.sign {
            ">=" => value >= self.value,
            ">" => value > self.value,
            "<=" => value <= self.value,
            "<" => value < self.value,
            _ => value == self.value,
        }
    }

    /// With all digits where fewer would contradict the verdict: 0.949999 is not 0.95.
    fn shown(&self, value: f64) -> String {
        let short = number(value);
        if short.parse().is_ok_and(|read| self.holds(read) == self.holds(value)) {
            short
        } else {
            value.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_and_without_a_model() {
        let limit = |text: &str| Limit::parse(text).unwrap();
        let plain = limit("trustworthiness@10>=0.95");
        assert_eq!((plain.model.as_deref(), plain.sign, plain.value), (None, ">=", 0.95));
        let own = limit("run:a<b: two_nn(fit=mle) < -1e-3");
        assert_eq!(
            (own.model.as_deref(), own.metric.as_str()),
            (Some("run:a<b"), "two_nn(fit=mle)")
        );
        assert_eq!((own.sign, own.value), ("<", -0.001));
        assert_eq!(limit("nmi==1").sign, "==");
        assert_eq!(limit("nmi<=1").sign, "<=");
        assert_eq!(limit("nmi>0").sign, ">");
    }

    #[test]
    fn what_is_no_limit_says_what_is_missing() {
        let error = |text: &str| Limit::parse(text).unwrap_err().to_string();
        assert!(error("trustworthiness@10").contains("has no limit"));
        assert!(error("trustworthiness@10=0.9").contains("has no limit"));
        assert!(error("nmi>=high").contains("`high` is not a number"));
        assert!(error("nmi>=nan").contains("is not a number"));
        assert!(error("trustwortiness@10>=0.9").contains("did you mean `trustworthiness@10`?"));
        assert!(error("trustworthiness>=0.9").contains("write trustworthiness@10"));
        assert!(error("smoothness>=0.9").contains("smoothness.slope, smoothness.intercept"));
    }

    #[test]
    fn digits_do_not_contradict_the_verdict() {
        let limit = Limit::parse("nmi>=0.95").unwrap();
        assert_eq!(limit.shown(0.961234), "0.9612");
        assert_eq!(limit.shown(0.949999), "0.949999");
    }
}
