// SPDX-License-Identifier: MIT
//! BLEU, ROUGE and the word error rate of whole systems: against sacrebleu, rouge-score and jiwer, and how systems compare.

use std::sync::Arc;

use crate::common::Draw;
use repscope_core::metrics::{Metric, find};
use repscope_core::run::{Driver, Order};
use repscope_core::{Decoding, Labels, Results, Space, Spec, System, compare, etes};
use serde_json::Value;

const SYSTEM: &str = "system";

fn metrics() -> Vec<&'static Metric> {
    ["bleu", "rouge", "wer"]
        .map(|id| find(id).expect("a metric").0)
        .to_vec()
}

/// Text metrics do not look at vectors; any will do.
fn system(name: &str, texts: &[String]) -> System {
    let vectors = |name: &str| Arc::new(Space::from_f64(name, texts.len(), 1, vec![1.0; texts.len()]).expect("finite"));
    System {
        name: name.to_string(),
        signal: vectors("signal"),
        generated: vectors("generated"),
        reference: None,
        fluency: None,
        texts: Some(texts.into()),
    }
}

fn decoding(generated: &[String], references: &[String], units: Option<Labels>) -> Decoding {
    Decoding {
        systems: vec![system(SYSTEM, generated)],
        references: Some(references.into()),
        groups: Vec::new(),
        units: units.map(Arc::new),
    }
}

fn run(data: &Decoding) -> Results {
    let driver = Driver::silent(Order::Parallel);
    etes(data, &metrics(), &Spec::default(), &driver).expect("texts that fit together")
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_string).to_vec()
}

fn golden() -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/text_metrics.json");
    let text = std::fs::read_to_string(path).expect("a part of the repository");
    serde_json::from_str(&text).expect("what text_metrics.py wrote")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn strings(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    list(value).iter().map(text).collect()
}

#[test]
fn every_score_and_standard_error_is_that_of_the_reference_programs() {
    let golden = golden();
    let (mut values, mut undefined) = (0, 0);
    for case in list(&golden["cases"]) {
        let units = case["units"].as_array().map(|_| Labels::new(&strings(&case["units"])));
        let results = run(&decoding(
            &strings(&case["generated"]),
            &strings(&case["references"]),
            units,
        ));
        let expected = list(&case["expected"]);
        let has_error = |id: &str| expected.iter().any(|e| e["metric"] == id && !e["part"].is_null());
        for expected in expected {
            let id = expected["metric"].as_str().expect("an identity");
            let score = results.score(SYSTEM, id).unwrap_or_else(|| panic!("no score {id}"));
            let found = match expected["part"].as_str() {
                Some(_) => score.standard_error,
                None => score.value,
            };
            let wanted = expected["value"].as_f64().expect("a number");
            assert!(
                found.is_some_and(|found| (found - wanted).abs() < 1e-9),
                "{}: {} is {found:?}, not {wanted}",
                case["name"],
                expected
            );
            // Where no text changes the value, and the range is open, what was missed is not known.
            let is_unknown = score
                .note
                .as_deref()
                .is_some_and(|note| note.contains("changes the value"));
            assert!(
                !is_unknown || score.standard_error == Some(0.0),
                "{}: {id}",
                case["name"]
            );
            assert_eq!(
                score.interval.is_some(),
                has_error(id) && !is_unknown,
                "{}: {id}",
                case["name"]
            );
            values += 1;
        }
        for id in list(&case["undefined"])
            .iter()
            .map(|u| u["metric"].as_str().expect("an identity"))
        {
            let score = results.score(SYSTEM, id).unwrap_or_else(|| panic!("no score {id}"));
            assert!(
                score.value.is_none() && score.reason.is_some(),
                "{}: {id}",
                case["name"]
            );
            undefined += 1;
        }
        let declared: usize = metrics().iter().map(|metric| metric.outputs.len()).sum();
        assert_eq!(results.scores.len(), declared);
    }
    assert_eq!((values, undefined), (VALUES, 1));
}

/// What `text_metrics.py` wrote.
const VALUES: usize = 389;

#[test]
fn without_texts_or_references_nothing_is_said() {
    let generated = texts(["a b", "c"]);
    let mut data = decoding(&generated, &generated, None);
    data.references = None;
    assert_eq!(run(&data), Results::default());
    let mut data = decoding(&generated, &generated, None);
    data.systems[0].texts = None;
    assert_eq!(run(&data), Results::default());
}

#[test]
fn the_order_of_samples_and_of_work_does_not_matter() {
    let golden = golden();
    let case = &list(&golden["cases"])[0];
    let (generated, references) = (strings(&case["generated"]), strings(&case["references"]));
    let data = decoding(&generated, &references, None);
    let results = run(&data);
    let order = Draw::new(7).permutation(generated.len());
    let shuffled = |texts: &[String]| order.iter().map(|&i| texts[i].clone()).collect::<Vec<_>>();
    let other = run(&decoding(&shuffled(&generated), &shuffled(&references), None));
    for score in &results.scores {
        let other = other.score(SYSTEM, &score.metric).expect("the same scores");
        let close = |a: Option<f64>, b: Option<f64>| (a.expect("a number") - b.expect("a number")).abs() < 1e-12;
        assert!(close(score.value, other.value), "{}", score.metric);
        assert!((score.standard_error.expect("one") - other.standard_error.expect("one")).abs() < 1e-9);
    }
    for driver in [Order::Serial, Order::Shuffled(3)] {
        let again = etes(&data, &metrics(), &Spec::default(), &Driver::silent(driver)).expect("the same texts");
        assert_eq!(again, results);
    }
}

#[test]
fn systems_are_compared_sample_by_sample() {
    // The second system says the same with one word less right in every sample, so the difference is certain although
    // samples differ much.
    let word = |i: usize| format!("w{i}");
    let sentence = |i: usize| (0..6 + 5 * (i % 4)).map(|j| word(i * 100 + j)).collect::<Vec<_>>();
    let references: Vec<String> = (0..24).map(|i| sentence(i).join(" ")).collect();
    let with_wrong = |wrong: usize| {
        let text = |i: usize| {
            let mut words = sentence(i);
            (0..wrong + i % 3).for_each(|j| words[j] = "wrong".to_string());
            words.join(" ")
        };
        (0..24).map(text).collect::<Vec<String>>()
    };
    let mut data = decoding(&with_wrong(1), &references, None);
    data.systems.push(system("worse", &with_wrong(2)));
    let mut results = run(&data);
    compare(&mut results, &Spec::default(), &Driver::silent(Order::Serial));
    for id in ["bleu@1", "bleu@4", "rouge.1", "rouge.l.recall", "wer"] {
        let difference = results
            .differences
            .iter()
            .find(|d| d.metric == id)
            .expect("a comparison");
        assert!(difference.is_paired && difference.units == 24, "{id}");
        assert_eq!(difference.winner.as_deref(), Some(SYSTEM), "{id}");
        // Alone, the systems are less distinguishable: the error of a difference of independent scores is larger.
        let error = |model| {
            results
                .score(model, id)
                .expect("a score")
                .standard_error
                .expect("an error")
        };
        let [low, high] = difference.interval.expect("an interval");
        assert!((high - low) / 4.2 < error(SYSTEM).hypot(error("worse")), "{id}");
    }
}

#[test]
fn texts_that_do_not_count_are_counted_in_warnings() {
    let generated = texts(["Привет", "", "the cat sat"]);
    let references = texts(["Привет", "a dog", ""]);
    let warnings = run(&decoding(&generated, &references, None)).warnings;
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings[0].contains("2 of 3 generated texts and 2 of 3 reference texts"),
        "{}",
        warnings[0]
    );
    assert!(warnings[1].contains("1 of 3 reference texts"), "{}", warnings[1]);
    let plain = texts(["the cat sat"]);
    assert!(run(&decoding(&plain, &plain, None)).warnings.is_empty());
}

#[test]
fn a_score_that_is_zero_or_smoothed_says_why() {
    let note = |generated: [&str; 2], id: &str| {
        let results = run(&decoding(&texts(generated), &texts(["the cat sat", "a dog"]), None));
        results.score(SYSTEM, id).expect("a score").note.clone()
    };
    assert!(
        note(["the cat sat", "a dog"], "bleu@4").is_some_and(|note| note.contains("no generated text has a run of 4"))
    );
    assert_eq!(note(["the cat sat", "a dog"], "bleu@3"), None);
    assert!(note(["sat the cat", "a dog"], "bleu@3").is_some_and(|note| note.contains("smoothed")));
}
