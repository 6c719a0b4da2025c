// SPDX-License-Identifier: MIT
//! The CSV files of a retrieval: every score, every label, and which labels are retrieved for which.

use super::direction;
use crate::breakdowns;
use crate::long_csv;
use crate::table::csv::write;
use repscope_core::{Breakdown, Results};

/// Paths relative to the output folder, and the contents.
pub(crate) fn files(results: &Results) -> Vec<(String, String)> {
    let file = |name: &str, contents| (format!("retrieval/{name}"), contents);
    vec![
        file("scores.csv", scores(results)),
        file("per_label.csv", of_measure(results, "label_precision")),
        file("confusion.csv", of_measure(results, "label_precision.confusion")),
    ]
}

/// The long form, with the parts of the identity in columns of their own.
fn scores(results: &Results) -> String {
    let optional = |k: Option<usize>| k.map(|k| k.to_string()).unwrap_or_default();
    let mut header = vec!["model", "metric", "labels", "direction", "measure", "k", "effective_k"];
    header.extend(&long_csv::HEADER[2..]);
    let rows = results.scores.iter().filter_map(|score| {
        let id = &score.metric;
        let direction = direction(id)?;
        let mut long = long_csv::row(score);
        let numbers = long.split_off(2);
        long.extend([id.labels().unwrap_or(""), direction, id.measure()].map(str::to_string));
        long.extend([optional(id.k()), optional(score.effective_k)]);
        long.extend(numbers);
        Some(long)
    });
    write(&header, rows)
}

/// All breakdowns of a measure below each other.
fn of_measure(results: &Results, measure: &str) -> String {
    let table = |breakdown: &Breakdown| {
        let id = &breakdown.metric;
        let direction = direction(id).filter(|_| id.measure() == measure)?;
        let k = id.k().map(|k| k.to_string()).unwrap_or_default();
        Some(vec![
            breakdown.model.clone(),
            id.labels().unwrap_or("").to_string(),
            direction.to_string(),
            k,
        ])
    };
    let all = results.breakdowns.iter();
    let tables = all.filter_map(|breakdown| Some((table(breakdown)?, breakdown)));
    breakdowns::write(&["model", "labels", "direction", "k"], &tables.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document_files;
    use crate::testdata::{score, two_models};
    use repscope_core::{Better, NameColumn, NumberColumn, Score};

    fn names(name: &str, values: &[&str]) -> NameColumn {
        NameColumn {
            name: name.to_string(),
            values: values.iter().map(|value| value.to_string()).collect(),
        }
    }

    fn numbers(name: &str, values: &[Option<f64>]) -> NumberColumn {
        NumberColumn {
            name: name.to_string(),
            values: values.to_vec(),
        }
    }

    fn results() -> Results {
        let precision = score(
            "clip",
            "label_precision.text2sensor.macro(labels=l2)@100",
            0.5,
            Some((0.25, 0.75, "queries", "Student t")),
            Better::Higher,
        );
        let mut results = two_models();
        results.scores.push(Score {
            effective_k: Some(37),
            ..precision.with_chance(0.1)
        });
        results
            .scores
            .push(score("clip", "mrr.text2sensor", 1.0, None, Better::Higher));
        results.breakdowns = vec![
            Breakdown {
                model: "clip".to_string(),
                metric: "label_precision.text2sensor(labels=l2)@10".into(),
                keys: vec![names("label", &["Cook, \"eat\"", "Nap"])],
                columns: vec![
                    numbers("queries", &[Some(12.0), Some(1.0)]),
                    numbers("hits", &[Some(30.0), None]),
                    numbers("precision", &[Some(1.0), None]),
                ],
            },
            Breakdown {
                model: "clip".to_string(),
                metric: "label_precision.text2sensor.confusion(labels=l2)@10".into(),
                keys: vec![names("label", &["Cook", "Cook"]), names("retrieved", &["Cook", "Nap"])],
                columns: vec![
                    numbers("count", &[Some(3.0), Some(1.0)]),
                    numbers("share", &[Some(0.75), Some(0.25)]),
                ],
            },
        ];
        results
    }

    #[test]
    fn every_label_is_a_line_and_undefined_numbers_are_empty() {
        let expected = "\
model,labels,direction,k,label,queries,hits,precision
clip,l2,text2sensor,10,\"Cook, \"\"eat\"\"\",12,30,1.0
clip,l2,text2sensor,10,Nap,1,,
";
        let files = document_files("retrieval", &results());
        assert_eq!(files[1], ("retrieval/per_label.csv".to_string(), expected.to_string()));
    }

    #[test]
    fn confusion_lists_pairs_of_labels() {
        let expected = "\
model,labels,direction,k,label,retrieved,count,share
clip,l2,text2sensor,10,Cook,Cook,3,0.75
clip,l2,text2sensor,10,Cook,Nap,1,0.25
";
        let files = document_files("retrieval", &results());
        assert_eq!(files[2], ("retrieval/confusion.csv".to_string(), expected.to_string()));
    }

    #[test]
    fn scores_are_those_of_the_retrieval_with_their_identity_in_columns() {
        let expected = "\
model,metric,labels,direction,measure,k,effective_k,value,low,high,level,n,better,chance,reason,unit,method
clip,label_precision.text2sensor.macro(labels=l2)@100,l2,text2sensor,label_precision.macro,100,37,\
0.5,0.25,0.75,0.95,1797,higher,0.1,,queries,Student t
clip,mrr.text2sensor,,text2sensor,mrr,,,1.0,,,,1797,higher,,,,
";
        let files = document_files("retrieval", &results());
        assert_eq!(files[0], ("retrieval/scores.csv".to_string(), expected.to_string()));
    }

    #[test]
    fn results_without_a_retrieval_have_no_such_files() {
        assert_eq!(document_files("retrieval", &two_models()), []);
    }
}
