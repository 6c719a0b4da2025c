// SPDX-License-Identifier: MIT
//! `trustworthiness@10>=0.95`: a limit that a score must keep.

use anyhow::{Result, bail};
use repscope_core::Results;
use repscope_render::{GateLine, number, number_with_interval};

use super::{GateOn, models, refuse_unknown, split_model, value_of};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Sign {
    AtLeast,
    Above,
    AtMost,
    Below,
    Equal,
}

/// Longer signs first: `>=` starts with `>`.
const SIGNS: [(&str, Sign); 5] = [
    (">=", Sign::AtLeast),
    ("<=", Sign::AtMost),
    ("==", Sign::Equal),
    (">", Sign::Above),
    ("<", Sign::Below),
];

#[derive(Debug, PartialEq)]
pub struct Limit {
    /// `None` for every model.
    model: Option<String>,
    metric: String,
    sign: Sign,
    value: f64,
}

impl Limit {
    pub fn parse(text: &str) -> Result<Self> {
        // The last one: names of models may hold anything.
        let at = text.rfind(['<', '>']).or_else(|| text.rfind("=="));
        let found = at.and_then(|at| {
            let sign = SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign))?;
            Some((&text[..at], sign.1, text[at + sign.0.len()..].trim()))
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
            None => models(results),
        };
        let found = models.iter().map(|model| self.check_model(model, on, results));
        found.collect()
    }

    fn check_model(&self, model: &str, on: GateOn, results: &Results) -> GateLine {
        let sign = SIGNS.iter().find(|(_, sign)| *sign == self.sign);
        let sign = sign.map_or("", |(text, _)| text);
        let line = |got: String, passed: bool, why: Option<String>| GateLine {
            gate: format!("{} {sign} {}", self.metric, self.value),
            model: model.to_string(),
            got,
            passed,
            why,
        };
        let value = match value_of(results, model, &self.metric, "there is") {
            Ok(value) => value,
            Err(why) => return line("—".to_string(), false, Some(why)),
        };
        if on == GateOn::Value {
            return line(self.shown(value), self.holds(value), None);
        }
        match results.score(model, &self.metric).and_then(|score| score.interval) {
            Some(interval) => {
                let (value, ends) = number_with_interval(value, interval);
                let holds = interval.iter().all(|&end| self.holds(end));
                line(format!("{value} {ends}"), holds, None)
            }
            None => {
                let why = "the score has no interval; ask for `gate_on` value";
                line(number(value), false, Some(why.to_string()))
            }
        }
    }

    fn holds(&self, value: f64) -> bool {
        match self.sign {
            Sign::AtLeast => value >= self.value,
            Sign::Above => value > self.value,
            Sign::AtMost => value <= self.value,
            Sign::Below => value < self.value,
            Sign::Equal => value == self.value,
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
        assert_eq!(
            (plain.model.as_deref(), plain.sign, plain.value),
            (None, Sign::AtLeast, 0.95)
        );
        let own = limit("run:a<b: two_nn(fit=mle) < -1e-3");
        assert_eq!(
            (own.model.as_deref(), own.metric.as_str()),
            (Some("run:a<b"), "two_nn(fit=mle)")
        );
        assert_eq!((own.sign, own.value), (Sign::Below, -0.001));
        assert_eq!(limit("nmi==1").sign, Sign::Equal);
        assert_eq!(limit("nmi<=1").sign, Sign::AtMost);
        assert_eq!(limit("nmi>0").sign, Sign::Above);
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
