// SPDX-License-Identifier: MIT
//! The CSV files of perturbed inputs: every head and set, what each set does to each class, and how well each class is told.

use super::Run;
use crate::breakdowns;
use repscope_core::{Breakdown, Results};

/// Paths relative to the output folder, and the contents.
pub(crate) fn files(results: &Results) -> Vec<(String, String)> {
    let runs = Run::all(results);
    let is_own = |table: &&Breakdown| runs.iter().any(|run| run.model == table.model);
    let of = |measure: &str| -> Vec<(Vec<String>, &Breakdown)> {
        let own = results.breakdowns.iter().filter(is_own);
        own.filter_map(|table| Some((place(table, measure)?, table))).collect()
    };
    let summary: Vec<(Vec<String>, &Breakdown)> = {
        let own = results.breakdowns.iter().filter(is_own);
        let whole = own.filter(|table| table.metric == "pis");
        whole.map(|table| (vec![table.model.clone()], table)).collect()
    };
    let file = |name: &str, contents| (format!("perturbation_analysis/{name}"), contents);
    let by = |measure: &str| breakdowns::write(&["model", "scored", "set"], &of(measure));
    vec![
        file("pis.csv", breakdowns::write(&["model"], &summary)),
        file("pis_per_class.csv", by("pis")),
        file("accuracy_per_class.csv", by("accuracy")),
    ]
}

/// Model, head and set of a table `MEASURE.HEAD@SET`; `None` for other tables.
fn place(table: &Breakdown, measure: &str) -> Option<Vec<String>> {
    let id = &table.metric;
    let (head, set) = id.head().zip(id.at()).filter(|_| id.measure() == measure)?;
    Some(vec![table.model.clone(), head.to_string(), set.to_string()])
}

#[cfg(test)]
mod tests {
    use super::super::testdata::of_document;
    use crate::document_files;

    #[test]
    fn every_head_and_set_is_a_line_of_a_file() {
        let results = of_document();
        let files = document_files("perturb", &results);
        let (name, contents) = &files[0];
        assert_eq!(name, "perturbation_analysis/pis.csv");
        let mut lines = contents.lines();
        assert!(
            lines
                .next()
                .is_some_and(|header| header.starts_with("model,head,family,set,")),
            "{contents}"
        );
        let top5 = lines
            .find(|line| line.starts_with("resnet50,combined,top,top5,"))
            .expect("a line");
        assert!(top5.contains(",5.0,0.05,"), "{top5}");
        assert_eq!(contents.lines().count(), 1 + 3 * 6);
    }

    #[test]
    fn classes_are_listed_with_what_was_scored() {
        let files = document_files("perturb", &of_document());
        let per_class = files
            .iter()
            .find(|(name, _)| name.ends_with("pis_per_class.csv"))
            .expect("the file");
        assert!(
            per_class.1.starts_with("model,scored,set,head,class,"),
            "{}",
            per_class.1
        );
    }

    #[test]
    fn results_of_other_commands_have_no_such_files() {
        assert_eq!(document_files("perturb", &crate::testdata::two_models()), []);
    }
}
