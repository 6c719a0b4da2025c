// SPDX-License-Identifier: MIT
//! Tokens and scores of single texts against the reference programs, and hand calculations.

use serde_json::Value;

use super::words::{edits, longest_common, numbered, shared_runs};
use super::{bleu, edits_of, error_rate, has_tokens, jackknife, of_pair, overlaps, per_sample, sum, together, words};
use crate::stats::interval::{self, Units};

// Expected values: golden/text_metrics.json, by sacrebleu, rouge-score and jiwer.
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
fn tokens_are_those_of_the_reference_programs() {
    let golden = golden();
    let texts = list(&golden["tokens"]);
    assert_eq!(texts.len(), 259);
    for case in texts {
        let text = case["text"].as_str().expect("a text");
        let (spaced, plain) = (words::spaced_13a(text), words::plain(text));
        let found: Vec<&str> = words::between_blanks(&spaced).collect();
        assert_eq!(found, strings(&case["13a"]), "13a of {text:?}");
        let found: Vec<&str> = words::between_blanks(&plain).collect();
        assert_eq!(found, strings(&case["rouge"]), "rouge of {text:?}");
        assert_eq!(has_tokens(text), !found.is_empty(), "{text:?}");
        assert_eq!(words::words(text), strings(&case["words"]), "words of {text:?}");
    }
}

#[test]
fn single_texts_score_what_the_reference_programs_say() {
    let golden = golden();
    let mut values = 0;
    for case in list(&golden["cases"]) {
        let (generated, references) = (strings(&case["generated"]), strings(&case["references"]));
        let scores = per_sample(&generated, &references);
        for (row, score) in scores.iter().enumerate() {
            let [one, two, long] = score.overlaps;
            let found = [
                ("bleu", score.bleu),
                ("rouge.1", Some(score.overlaps[0].f1)),
                ("rouge.1.precision", Some(one.precision)),
                ("rouge.1.recall", Some(one.recall)),
                ("rouge.2", Some(score.overlaps[1].f1)),
                ("rouge.2.precision", Some(two.precision)),
                ("rouge.2.recall", Some(two.recall)),
                ("rouge.l", Some(score.overlaps[2].f1)),
                ("rouge.l.precision", Some(long.precision)),
                ("rouge.l.recall", Some(long.recall)),
                ("wer", score.wer),
            ];
            for (name, found) in found {
                let expected = list(&case["samples"][name])[row].as_f64();
                let difference = found.unwrap_or(0.0) - expected.unwrap_or(0.0);
                let is_same = found.is_some() == expected.is_some() && difference.abs() < 1e-9;
                assert!(
                    is_same,
                    "{} row {row}: {name} is {found:?}, not {expected:?}",
                    case["name"]
                );
                values += 1;
            }
        }
    }
    assert_eq!(values, 1716);
}

#[test]
fn runs_are_shared_as_often_as_both_texts_have_them() {
    let (a, b) = numbered("a b a b a".split(' '), "b a b c b a".split(' '));
    // Words: a twice, b twice. Pairs of a: ab ba ab ba; of b: ba ab bc cb ba; so ba twice and ab once.
    assert_eq!((shared_runs(&a, &b, 1), shared_runs(&a, &b, 2)), (4, 3));
    // aba bab aba against bab abc bcb cba: bab.
    assert_eq!((shared_runs(&a, &b, 3), shared_runs(&a, &b, 6)), (1, 0));
    assert_eq!(shared_runs(&[], &b, 1), 0);
}

#[test]
fn bleu_is_the_geometric_mean_of_precisions_times_the_penalty_for_brevity() {
    // "the cat sat" of "the cat sat down now": 3/3, 2/2 and a penalty of exp(1 − 5/3).
    let counts = bleu::counts("the cat sat", "the cat sat down now");
    assert_eq!(counts, [3, 5, 3, 2, 1, 0, 3, 2, 1, 0]);
    let penalty = (1.0f64 - 5.0 / 3.0).exp();
    assert!((bleu::of_corpus(&counts, 2) - 100.0 * penalty).abs() < 1e-12);
    // There is no run of four words: 0 for a corpus, and three orders for a sentence.
    assert_eq!(bleu::of_corpus(&counts, 4), 0.0);
    assert!((bleu::of_sentence(&counts) - 100.0 * penalty).abs() < 1e-12);
    assert!(bleu::remark(&counts, 4).is_some_and(|remark| remark.contains("run of 4 words")));
    assert_eq!(bleu::remark(&counts, 3), None);
}

#[test]
fn an_order_without_a_match_is_smoothed_by_halves() {
    // Words of "b a c": all three are there. Pairs: none of 2, as if 1/2; runs of three: none of 1, as if 1/4.
    let counts = bleu::counts("b a c", "a b x c");
    assert_eq!(counts, [3, 4, 3, 0, 0, 0, 3, 2, 1, 0]);
    let penalty = (1.0f64 - 4.0 / 3.0).exp();
    let expected = penalty * (100.0f64 * (100.0 * 0.5 / 2.0) * (100.0 * 0.25)).cbrt();
    assert!((bleu::of_corpus(&counts, 3) - expected).abs() < 1e-9);
    assert!(bleu::remark(&counts, 3).is_some_and(|remark| remark.contains("run of 2 words")));
    // Without any matching word nothing is smoothed.
    let nothing = bleu::counts("x y", "a b");
    assert_eq!((bleu::of_corpus(&nothing, 2), bleu::remark(&nothing, 2)), (0.0, None));
}

#[test]
fn rouge_counts_words_pairs_and_order() {
    // police/killed/the/gunman: 3 of 4 words each way, one pair (the gunman), and three in order (police, the, gunman).
    let [one, two, long] = overlaps("Police kill the gunman!", "police killed the gunman");
    assert_eq!((one.precision, one.recall, one.f1), (0.75, 0.75, 0.75));
    assert_eq!((two.precision, two.recall), (1.0 / 3.0, 1.0 / 3.0));
    assert_eq!(long.f1, 0.75);
    // The same words in another order: two in order (the gunman).
    assert_eq!(overlaps("the gunman kill police", "police kill the gunman")[2].f1, 0.5);
}

#[test]
fn words_are_put_in_taken_out_and_replaced() {
    // cat → dog, on taken out, today put in: 3 edits of 6 words.
    let counts = edits_of("the dog sat the mat today", "the cat sat on the mat");
    assert_eq!(counts, [3, 6]);
    assert_eq!(error_rate(&counts), Some(0.5));
    assert_eq!(error_rate(&edits_of("a word", "")), None);
    assert_eq!(error_rate(&edits_of("", "a word")), Some(1.0));
}

/// The definitions, word by word: exponential, for lists of a few words.
fn defined_longest(a: &[u32], b: &[u32]) -> usize {
    match (a.split_first(), b.split_first()) {
        (Some((x, a)), Some((y, b))) if x == y => 1 + defined_longest(a, b),
        (Some((_, rest_a)), Some((_, rest_b))) => defined_longest(rest_a, b).max(defined_longest(a, rest_b)),
        _ => 0,
    }
}

fn defined_edits(a: &[u32], b: &[u32]) -> usize {
    match (a.split_first(), b.split_first()) {
        (Some((x, rest_a)), Some((y, rest_b))) => {
            let replaced = defined_edits(rest_a, rest_b) + usize::from(x != y);
            let removed = 1 + defined_edits(rest_a, b).min(defined_edits(a, rest_b));
            replaced.min(removed)
        }
        _ => a.len() + b.len(),
    }
}

#[test]
fn one_row_at_a_time_finds_what_the_definitions_say() {
    // All lists of up to four of two words, against all others, and some of three words.
    let mut lists: Vec<Vec<u32>> = vec![vec![]];
    for length in 1..=4u32 {
        lists.extend((0..2u32.pow(length)).map(|code| (0..length).map(|place| code >> place & 1).collect()));
    }
    lists.extend((0..40u32).map(|seed| {
        (0..6)
            .map(|place| (seed * 7919 + place * place * 31 + seed * place) % 3)
            .collect()
    }));
    for a in &lists {
        for b in &lists {
            assert_eq!(longest_common(a, b), defined_longest(a, b), "{a:?} {b:?}");
            assert_eq!(edits(a, b), defined_edits(a, b), "{a:?} {b:?}");
        }
    }
}

#[test]
fn long_texts_need_memory_for_one_row_only() {
    // 1 MB against a sentence, and two equal texts of 1 MB: a table would hold 5·10^5 rows, in the second case of as many.
    let long = "ab".repeat(3) + &" a".repeat(500_000);
    let short = of_pair(&long, "a b a");
    assert_eq!(short.wer, Some(499_999.0 / 3.0));
    assert!(short.overlaps[2].f1 > 0.0 && short.bleu.is_some_and(|bleu| bleu > 0.0));
    let same = of_pair(&long, &long);
    assert_eq!((same.overlaps[2].f1, same.wer), (1.0, Some(0.0)));
    assert!((same.bleu.expect("a score") - 100.0).abs() < 1e-9);
}

#[test]
fn some_texts_together_score_as_a_corpus_of_their_own() {
    let texts = |texts: [&str; 3]| texts.map(str::to_string).to_vec();
    let generated = texts(["the cat sat on the mat", "a dog", "it is raining now again"]);
    let references = texts(["the cat sat on a mat", "the dog ran", "it is raining now"]);
    let scores = per_sample(&generated, &references);
    let chosen = together([&scores[0], &scores[2]].into_iter());
    let counts = [0, 2].map(|i| bleu::counts(&generated[i], &references[i]));
    assert_eq!(chosen.bleu4, bleu::of_corpus(&sum(&counts), 4));
    // One word replaced of six, one put in for four.
    assert_eq!(chosen.wer, Some(0.2));
    assert_eq!(
        chosen.rougel,
        Some((scores[0].overlaps[2].f1 + scores[2].overlaps[2].f1) / 2.0)
    );
    let nobody = together(std::iter::empty());
    assert_eq!((nobody.bleu4, nobody.rougel, nobody.wer), (0.0, None, None));
}

#[test]
fn the_jackknife_of_sums_leaves_out_units() {
    let counts = [[1, 4], [2, 5], [3, 3], [0, 8]];
    let single = jackknife(&counts, Units::Single("samples"), 0.95, error_rate).expect("four samples");
    // 6 edits of 20 words; without each: 5/16, 4/15, 3/17, 6/12.
    let replicates = [5.0 / 16.0, 4.0 / 15.0, 3.0 / 17.0, 0.5];
    let expected = interval::jackknife(0.3, &replicates, "samples", 0.95).expect("four samples");
    assert_eq!(single, expected);
    // Codes 2 and 0; nobody has 1. Without the first and third text 2/13, without the others 4/7.
    let units = Units::Groups(&[2, 0, 2, 0], "units");
    let found = jackknife(&counts, units, 0.95, error_rate).expect("two units");
    let expected = interval::jackknife(0.3, &[4.0 / 7.0, 2.0 / 13.0], "units", 0.95).expect("two units");
    assert_eq!(found, expected);
    // All words are in one text: without it there is no rate.
    assert_eq!(
        jackknife(&[[1, 4], [2, 0]], Units::Single("samples"), 0.95, error_rate),
        None
    );
}
