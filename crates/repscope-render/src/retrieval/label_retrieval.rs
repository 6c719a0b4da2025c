// SPDX-License-Identifier: MIT
//! The console summary and the flat JSON of label retrieval, to the letter. What its specification calls
//! Label-Recall@K is `label_precision`, the plain mean over queries.

use crate::json::Json;
use crate::retrieval::{Part, by_labels, names, parts, title};
use crate::text::printable;
use repscope_core::Results;

/// The number that is reported.
const MEASURE: &str = "label_precision";

/// The console output of label retrieval: one block, or one per model and set of labels where there are several.
pub fn retrieval_summary(results: &Results) -> String {
    let parts = with_the_measure(results);
    let wide = "=".repeat(70);
    if parts.is_empty() {
        return format!("{wide}\nLABEL-RECALL@K RESULTS SUMMARY\n{wide}\n\n{wide}\n");
    }
    let blocks = by_labels(&parts).into_iter().map(|directions| {
        let mut text = format!("{wide}\nLABEL-RECALL@K RESULTS SUMMARY\n");
        for (what, name) in ["Model", "Labels"].iter().zip(names(&directions[0], &parts)) {
            if let Some(name) = name {
                text.push_str(&format!("{what}: {}\n", printable(name)));
            }
        }
        text.push_str(&format!("{wide}\n\n"));
        for part in directions {
            let rule = "-".repeat(40);
            text.push_str(&format!("{}:\n{rule}\n", printable(&title(part.sides, "->"))));
            for k in part.ks(|measure| measure == MEASURE) {
                text.push_str(&format!(
                    "  K={k:>3}  =>  Label-Recall@K = {}{}\n",
                    value(part, k),
                    limited(part, k)
                ));
            }
            text.push('\n');
        }
        text + &wide + "\n"
    });
    blocks.collect::<Vec<_>>().join("\n")
}

/// What a K beyond the targets came to.
fn limited(part: &Part<'_>, k: usize) -> String {
    let effective = part.at(MEASURE, k).and_then(|score| score.effective_k);
    effective.map_or(String::new(), |all| {
        format!("  [K = {all}: there are only {all} targets]")
    })
}

fn value(part: &Part<'_>, k: usize) -> String {
    let score = part.at(MEASURE, k);
    match score.and_then(|score| score.value) {
        Some(value) => format!("{value:.4} ({:.2}%)", value * 100.0),
        None => {
            let reason = score
                .and_then(|score| score.reason.as_deref())
                .filter(|r| !r.is_empty());
            format!("n/a ({})", printable(reason.unwrap_or("no reason was recorded")))
        }
    }
}

/// The flat JSON of label retrieval, direction by direction and K by K. Sets of labels that have a name, and models where
/// there are several, add a level above.
pub fn retrieval_json(results: &Results) -> String {
    let parts = with_the_measure(results);
    let models: Vec<&[Part<'_>]> = parts.chunk_by(|a, b| a.model == b.model).collect();
    let json = match models.as_slice() {
        [one] => of_model(one),
        several => Json::Object(
            several
                .iter()
                .map(|own| (own[0].model.to_string(), of_model(own)))
                .collect(),
        ),
    };
    json.document()
}

fn of_model(parts: &[Part<'_>]) -> Json {
    let directions = |parts: &[Part<'_>]| {
        let members = parts.iter().map(|part| {
            let ks = part.ks(|measure| measure == MEASURE).into_iter();
            let values = ks.map(|k| {
                let value = part.at(MEASURE, k).and_then(|score| score.value);
                (k.to_string(), Json::number(value))
            });
            (part.direction.to_string(), Json::Object(values.collect()))
        });
        members.collect::<Vec<_>>()
    };
    let mut members = Vec::new();
    for set in by_labels(parts) {
        match set[0].labels {
            Some(name) => members.push((name.to_string(), Json::Object(directions(set)))),
            None => members.extend(directions(set)),
        }
    }
    Json::Object(members)
}

fn with_the_measure(results: &Results) -> Vec<Part<'_>> {
    let mut parts = parts(results);
    parts.retain(|part| !part.ks(|measure| measure == MEASURE).is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{missing, score};
    use repscope_core::{Better, Score};

    fn value(model: &str, metric: &str, value: f64) -> Score {
        score(model, metric, value, None, Better::Higher)
    }

    fn results(scores: Vec<Score>) -> Results {
        Results {
            scores,
            ..Results::default()
        }
    }

    fn of_directions(values: [(&str, [f64; 3]); 2]) -> Results {
        let scores = values.iter().flat_map(|(direction, values)| {
            let at = |k: usize, x: f64| value("embeddings", &format!("label_precision.{direction}@{k}"), x);
            [at(10, values[0]), at(50, values[1]), at(100, values[2])]
        });
        results(scores.collect())
    }

    fn instances() -> Results {
        of_directions([
            ("text2sensor", [0.7234, 0.6891, 0.6523]),
            ("sensor2text", [0.7156, 0.6812, 0.6478]),
        ])
    }

    fn prototypes() -> Results {
        of_directions([
            ("prototype2sensor", [0.8345, 0.7923, 0.7634]),
            ("prototype2text", [0.8123, 0.7845, 0.7567]),
        ])
    }

    #[test]
    fn the_summary_of_instances_is_the_document_s() {
        let expected = "\
======================================================================
LABEL-RECALL@K RESULTS SUMMARY
======================================================================

Text -> Sensor:
----------------------------------------
  K= 10  =>  Label-Recall@K = 0.7234 (72.34%)
  K= 50  =>  Label-Recall@K = 0.6891 (68.91%)
  K=100  =>  Label-Recall@K = 0.6523 (65.23%)

Sensor -> Text:
----------------------------------------
  K= 10  =>  Label-Recall@K = 0.7156 (71.56%)
  K= 50  =>  Label-Recall@K = 0.6812 (68.12%)
  K=100  =>  Label-Recall@K = 0.6478 (64.78%)

======================================================================
";
        assert_eq!(retrieval_summary(&instances()), expected);
    }

    #[test]
    fn the_summary_of_prototypes_is_the_document_s() {
        let expected = "\
======================================================================
LABEL-RECALL@K RESULTS SUMMARY
======================================================================

Text Prototype -> Sensor:
----------------------------------------
  K= 10  =>  Label-Recall@K = 0.8345 (83.45%)
  K= 50  =>  Label-Recall@K = 0.7923 (79.23%)
  K=100  =>  Label-Recall@K = 0.7634 (76.34%)

Text Prototype -> Text:
----------------------------------------
  K= 10  =>  Label-Recall@K = 0.8123 (81.23%)
  K= 50  =>  Label-Recall@K = 0.7845 (78.45%)
  K=100  =>  Label-Recall@K = 0.7567 (75.67%)

======================================================================
";
        assert_eq!(retrieval_summary(&prototypes()), expected);
    }

    #[test]
    fn the_json_is_the_document_s() {
        let expected = r#"{
  "text2sensor": {
    "10": 0.7234,
    "50": 0.6891,
    "100": 0.6523
  },
  "sensor2text": {
    "10": 0.7156,
    "50": 0.6812,
    "100": 0.6478
  }
}
"#;
        assert_eq!(retrieval_json(&instances()), expected);
        let expected = r#"{
  "prototype2sensor": {
    "10": 0.8345,
    "50": 0.7923,
    "100": 0.7634
  },
  "prototype2text": {
    "10": 0.8123,
    "50": 0.7845,
    "100": 0.7567
  }
}
"#;
        assert_eq!(retrieval_json(&prototypes()), expected);
    }

    #[test]
    fn other_measures_change_neither() {
        let mut results = instances();
        for metric in [
            "label_precision.text2sensor.macro@10",
            "mrr.text2text",
            "hubness.text2sensor@5",
        ] {
            results.scores.insert(0, value("embeddings", metric, 0.1));
        }
        assert_eq!(retrieval_summary(&results), retrieval_summary(&instances()));
        assert_eq!(retrieval_json(&results), retrieval_json(&instances()));
    }

    #[test]
    fn digits_are_rounded_as_python_rounds_them() {
        // '%.4f' of these in Python; 0.03125 and 0.09375 are ties in binary, and go to the even digit.
        for (x, text) in [
            (0.03125, "0.0312 (3.12%)"),
            (0.09375, "0.0938 (9.38%)"),
            (1.0, "1.0000 (100.00%)"),
            (2.0 / 3.0, "0.6667 (66.67%)"),
        ] {
            let summary = retrieval_summary(&results(vec![value("m", "label_precision.a2b@1000", x)]));
            assert!(
                summary.contains(&format!("\n  K=1000  =>  Label-Recall@K = {text}\n")),
                "{summary}"
            );
        }
    }

    #[test]
    fn sets_of_labels_have_a_block_each_and_a_level_in_the_json() {
        let results = results(vec![
            value("m", "label_precision.text2text(labels=l1)@5", 0.5),
            value("m", "label_precision.text2text(labels=l2)@5", 1.0),
        ]);
        let expected = "\
======================================================================
LABEL-RECALL@K RESULTS SUMMARY
Labels: l1
======================================================================

Text -> Text:
----------------------------------------
  K=  5  =>  Label-Recall@K = 0.5000 (50.00%)

======================================================================

======================================================================
LABEL-RECALL@K RESULTS SUMMARY
Labels: l2
======================================================================

Text -> Text:
----------------------------------------
  K=  5  =>  Label-Recall@K = 1.0000 (100.00%)

======================================================================
";
        assert_eq!(retrieval_summary(&results), expected);
        let expected = r#"{
  "l1": {
    "text2text": {
      "5": 0.5
    }
  },
  "l2": {
    "text2text": {
      "5": 1.0
    }
  }
}
"#;
        assert_eq!(retrieval_json(&results), expected);
    }

    #[test]
    fn models_have_a_block_each_and_a_level_in_the_json_and_missing_values_their_reason() {
        let results = results(vec![
            value("a \"1\"\n", "label_precision.x2y@10", 1.0 / 3.0),
            missing("b", "label_precision.x2y@10", "no query has a relevant target"),
        ]);
        let summary = retrieval_summary(&results);
        assert!(summary.contains("SUMMARY\nModel: a \"1\" \n====="), "{summary}");
        assert!(
            summary.contains("SUMMARY\nModel: b\n=====")
                && summary.contains("  K= 10  =>  Label-Recall@K = n/a (no query has a relevant target)\n"),
            "{summary}"
        );
        let expected = r#"{
  "a \"1\"\n": {
    "x2y": {
      "10": 0.3333333333333333
    }
  },
  "b": {
    "x2y": {
      "10": null
    }
  }
}
"#;
        assert_eq!(retrieval_json(&results), expected);
    }

    #[test]
    fn without_scores_the_json_is_empty() {
        assert_eq!(retrieval_json(&Results::default()), "{}\n");
    }
}
