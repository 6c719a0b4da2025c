// SPDX-License-Identifier: MIT
//! `pis_summary.json` of perturbation impact: its keys to the letter, with what it leaves out beside them. A score is the accuracy
//! lost divided by the share that was masked, 0.0326 / 0.01 = 3.26; the example of the specification prints ten times that.

use super::findings::Finding;
use super::key_values::{Expected, KEY_VALUES, KeyValue, key_values};
use super::{Run, Set, written};
use crate::json::Json;
use crate::table::reason;
use repscope_core::{Results, Score};

const RATIO: &str = "top_vs_random_ratio";

/// What a set has besides the specified numbers: key and part of the identity.
const BESIDE: [(&str, &str); 4] = [
    ("pis_lit", "(f=lit)"),
    ("pis_all", "(f=all)"),
    ("relative_drop", ".relative"),
    ("p", ".p"),
];

/// `pis_summary.json`. Keys of sets end in the suffix, `top1_blackout`. Values that do not exist are `null`, with `reasons`
/// beside them.
pub fn perturb_summary(results: &Results, suffix: &str, findings: &[Finding]) -> String {
    let Some(run) = Run::first(results) else {
        let empty = || Json::object::<&str>([]);
        let keys = ["baseline_accuracy", "perturbation_results", "key_findings"];
        return Json::object(keys.map(|key| (key, empty()))).document();
    };
    let baseline = |head: &str| value(run.baseline(head));
    let chance = |head: &str| Json::number(run.baseline(head).and_then(|score| score.chance));
    let sets = run.sets.iter().map(|set| (key(&set.name, suffix), of_set(&run, set)));
    let families = run.families();
    let families = families.iter().map(|family| (*family, of_family(&run, family)));
    let any = run.baseline(run.leading());
    Json::object([
        ("baseline_accuracy", by_head(&run, baseline)),
        ("perturbation_results", Json::object(sets)),
        ("key_findings", key_findings(&run)),
        (
            "key_values",
            Json::List(key_values(&run).iter().map(of_key_value).collect()),
        ),
        ("baseline_interval", by_head(&run, |head| interval(run.baseline(head)))),
        ("chance", by_head(&run, chance)),
        ("families", Json::object(families)),
        ("findings", Json::List(findings.iter().map(of_finding).collect())),
        ("model", Json::text(run.model)),
        ("samples", any.map_or(Json::Null, |score| Json::Count(score.n as u64))),
        ("interval_level", Json::number(any.and_then(|score| score.level))),
    ])
    .document()
}

/// `top1_blackout`.
pub(super) fn key(set: &str, suffix: &str) -> String {
    match suffix {
        "" => set.to_string(),
        _ => format!("{set}_{suffix}"),
    }
}

fn by_head(run: &Run, of: impl Fn(&str) -> Json) -> Json {
    Json::object(run.heads.iter().map(|head| (head.as_str(), of(head))))
}

fn value(score: Option<&Score>) -> Json {
    Json::number(score.and_then(|score| score.value))
}

fn interval(score: Option<&Score>) -> Json {
    Json::pair(score.and_then(|score| score.interval))
}

fn of_set(run: &Run, set: &Set) -> Json {
    let name = set.name.as_str();
    let of = |part: &'static str| by_head(run, move |head| value(run.pis(head, part, name)));
    let interval_of = |part: &'static str| by_head(run, move |head| interval(run.pis(head, part, name)));
    let mut members = vec![
        ("accuracy", by_head(run, |head| value(run.accuracy(head, name)))),
        ("pis", of("")),
        ("accuracy_drop", of(".drop")),
        ("percent", Json::count(Some(set.percent))),
        ("masked_lit", Json::number(set.masked_lit)),
        ("masked_all", Json::number(set.masked_all)),
        (
            "accuracy_interval",
            by_head(run, |head| interval(run.accuracy(head, name))),
        ),
        ("pis_interval", interval_of("")),
        ("accuracy_drop_interval", interval_of(".drop")),
    ];
    let mut reasons: Vec<(String, Json)> = Vec::new();
    for (key, part) in BESIDE {
        members.push((key, of(part)));
        for head in &run.heads {
            if let Some(score) = run.pis(head, part, name).filter(|score| score.value.is_none()) {
                reasons.push((format!("{key}.{head}"), Json::text(reason(score))));
            }
        }
    }
    if !reasons.is_empty() {
        members.push(("reasons", Json::Object(reasons)));
    }
    Json::object(members)
}

fn of_family(run: &Run, family: &str) -> Json {
    by_head(run, |head| {
        let mut members = Vec::new();
        for part in ["mean", "aopc", "deletion"] {
            let score = run.pis(head, &format!(".{part}"), family);
            members.push((part.to_string(), value(score)));
            members.push((format!("{part}_interval"), interval(score)));
        }
        Json::Object(members)
    })
}

fn key_findings(run: &Run) -> Json {
    let head = run.leading();
    let mut reasons: Vec<(&str, Json)> = Vec::new();
    let mut intervals: Vec<(&str, Json)> = Vec::new();
    let mut of = |&(key, family, percent, _): &(&'static str, &str, f64, Expected)| {
        let score = run.at(family, percent).and_then(|set| run.pis(head, "", &set.name));
        match score {
            None => reasons.push((key, Json::text(format!("no set masks {percent} % as family {family}")))),
            Some(score) if score.value.is_none() => reasons.push((key, Json::text(reason(score)))),
            Some(_) => intervals.push((key, interval(score))),
        }
        (key, value(score))
    };
    // The first four are the specification's own, and the ratio comes behind them.
    let (own, beside) = KEY_VALUES.split_at(4);
    let mut members: Vec<(&str, Json)> = own.iter().map(&mut of).collect();
    let beside: Vec<(&str, Json)> = beside.iter().map(&mut of).collect();
    let (ratio, remark) = ratio(run);
    members.push((RATIO, Json::number(ratio)));
    reasons.extend(remark.map(|remark| (RATIO, Json::text(remark))));
    members.extend(beside);
    members.push(("head", Json::text(head)));
    members.push(("intervals", Json::object(intervals)));
    members.push(("reasons", Json::object(reasons)));
    Json::object(members)
}

/// A value with what is expected of it.
fn of_key_value(key: &KeyValue) -> Json {
    let expected = match key.expected {
        Expected::Range(low, high) => Json::pair(Some([low, high])),
        other => Json::text(other.words()),
    };
    Json::object([
        ("key", Json::text(key.key)),
        ("name", Json::text(key.name())),
        ("pis", value(Some(key.score))),
        ("interval", interval(Some(key.score))),
        ("expected", expected),
        ("at_most", Json::number(key.reachable)),
        ("holds", key.holds.map_or(Json::Null, Json::Truth)),
        ("verdict", Json::text(key.verdict)),
    ])
}

/// How many times as much the brightest 5 % matter as any 5 %, and what a reader must know of it.
pub(super) fn ratio(run: &Run) -> (Option<f64>, Option<String>) {
    ratio_at(run, run.leading(), "random", 5.0)
}

/// How many times as much the brightest matter as those of another family at the same percent.
pub(super) fn ratio_at(run: &Run, head: &str, other: &str, percent: f64) -> (Option<f64>, Option<String>) {
    let of = |family: &str| {
        let set = run.at(family, percent)?;
        let score = run.pis(head, "", &set.name)?;
        Some((score.value?, score.interval))
    };
    let (Some((top, _)), Some((below, interval))) = (of("top"), of(other)) else {
        return (None, Some(format!("it needs scores of top and {other} at {percent} %")));
    };
    let below_is = written(below, interval);
    if below <= 0.0 {
        let remark =
            format!("{other} at {percent} % scores {below_is}, not above 0, so nothing can be a multiple of it");
        return (None, Some(remark));
    }
    let holds_zero = interval.is_some_and(|[low, _]| low <= 0.0);
    let remark = holds_zero.then(|| {
        format!("{other} at {percent} % scores {below_is}, an interval that holds 0: the ratio may be of any size")
    });
    (Some(top / below), remark)
}

fn of_finding(finding: &Finding) -> Json {
    Json::object([
        ("check", Json::text(finding.check.as_str())),
        ("holds", finding.holds.map_or(Json::Null, Json::Truth)),
        ("evidence", Json::text(finding.evidence.as_str())),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{change, of_document, one_head};
    use super::*;
    use serde_json::{Value, json};

    fn read(results: &Results) -> Value {
        serde_json::from_str(&perturb_summary(results, "blackout", &[])).unwrap()
    }

    #[test]
    fn the_keys_are_the_document_s_in_its_order() {
        let text = perturb_summary(&of_document(), "blackout", &[]);
        let expected = r#"{
  "baseline_accuracy": {
    "combined": 0.5126,
    "modulation": 0.7639,
    "snr": 0.6871
  },
  "perturbation_results": {
    "top1_blackout": {
      "accuracy": {
        "combined": 0.48,
        "modulation": 0.72,
        "snr": 0.65
      },
      "pis": {
        "combined": 3.26,
        "modulation": 4.39,
        "snr": 3.71
      },
      "accuracy_drop": {
        "combined": 0.0326,
        "modulation": 0.0439,
        "snr": 0.0371
      },
"#;
        assert!(text.starts_with(expected), "{text}");
        let summary = read(&of_document());
        let keys: Vec<&String> = summary["perturbation_results"].as_object().unwrap().keys().collect();
        assert_eq!(keys.len(), 6);
        assert!(summary["perturbation_results"]["random5_blackout"]["pis"]["snr"].is_number());
    }

    #[test]
    fn key_findings_are_of_all_heads_together_and_have_their_ratio() {
        // 0.36 / 0.05 = 7.2 and 0.0645 / 0.05 = 1.29; 7.2 / 1.29 = 5.5814.
        let found = &read(&of_document())["key_findings"];
        assert_eq!((&found["head"], &found["top1_pis"]), (&json!("combined"), &json!(3.26)));
        assert!((found["top5_pis"].as_f64().unwrap() - 7.2).abs() < 1e-12);
        assert!((found["top_vs_random_ratio"].as_f64().unwrap() - 5.581_395).abs() < 1e-6);
        assert_eq!(found["reasons"], json!({}));
    }

    #[test]
    fn key_values_stand_beside_what_is_expected_and_reachable() {
        let values = &read(&of_document())["key_values"];
        let top = &values[1];
        assert_eq!(
            (
                &top["key"],
                &top["name"],
                &top["expected"],
                &top["verdict"],
                &top["holds"]
            ),
            (
                &json!("top5_pis"),
                &json!("top 5 %"),
                &json!([15.0, 25.0]),
                &json!("out of reach"),
                &json!(false)
            )
        );
        // 0.5126 / 0.05.
        assert!((top["at_most"].as_f64().unwrap() - 10.252).abs() < 1e-9);
        assert_eq!(values[2]["expected"], json!("< 1"));
        assert_eq!(values[4]["expected"], json!("bottom to top"));
    }

    #[test]
    fn a_ratio_to_nothing_does_not_exist_and_says_so() {
        let mut results = of_document();
        change(&mut results, "pis.combined@random5", -0.87, Some([-0.95, -0.79]));
        let found = &read(&results)["key_findings"];
        assert_eq!(found["top_vs_random_ratio"], Value::Null);
        let why = found["reasons"]["top_vs_random_ratio"].as_str().unwrap();
        assert!(why.contains("-0.870 [-0.950, -0.790], not above 0"), "{why}");
        change(&mut results, "pis.combined@random5", 0.1, Some([-0.1, 0.3]));
        let found = &read(&results)["key_findings"];
        assert!((found["top_vs_random_ratio"].as_f64().unwrap() - 72.0).abs() < 1e-9);
        let why = found["reasons"]["top_vs_random_ratio"].as_str().unwrap();
        assert!(why.contains("holds 0"), "{why}");
    }

    #[test]
    fn what_does_not_exist_is_null_with_a_reason() {
        let summary = read(&one_head());
        let found = &summary["key_findings"];
        assert_eq!((&found["head"], &found["bottom1_pis"]), (&json!("digit"), &Value::Null));
        assert_eq!(found["reasons"]["bottom1_pis"], "no set masks 1 % as family bottom");
        let set = &summary["perturbation_results"]["top1_blackout"];
        assert_eq!(
            (&set["pis_lit"]["digit"], &set["masked_lit"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(set["reasons"]["pis_lit.digit"], "the share is not known");
        assert_eq!(summary["baseline_accuracy"], json!({"digit": 0.9}));
    }

    #[test]
    fn additions_stand_beside_the_document_s_numbers() {
        let finding = Finding {
            check: "sanity".to_string(),
            holds: None,
            evidence: "why".to_string(),
        };
        let text = perturb_summary(&of_document(), "", &[finding]);
        let summary: Value = serde_json::from_str(&text).unwrap();
        let set = &summary["perturbation_results"]["bottom5"];
        assert_eq!((&set["percent"], &set["masked_lit"]), (&json!(5), &json!(0.25)));
        assert_eq!(set["pis_interval"]["combined"].as_array().unwrap().len(), 2);
        assert_eq!(summary["families"]["top"]["combined"]["mean"], json!(5.23));
        assert_eq!(
            summary["findings"],
            json!([{"check": "sanity", "holds": null, "evidence": "why"}])
        );
        assert_eq!(summary["samples"], json!(1797));
    }

    #[test]
    fn no_scores_give_the_document_s_keys_without_content() {
        let summary = read(&Results::default());
        assert_eq!(
            summary,
            json!({"baseline_accuracy": {}, "perturbation_results": {}, "key_findings": {}})
        );
    }
}
