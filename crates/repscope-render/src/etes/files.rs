// SPDX-License-Identifier: MIT
//! The CSV files of energies: every score, the bands, the groups, and the numbers of single samples.

use super::{System, etes_samples, is_of_etes};
use crate::breakdowns;
use crate::long_csv;
use crate::table::csv::write;
use repscope_core::{Breakdown, Results};

/// Paths relative to the output folder, and the contents.
pub(crate) fn files(results: &Results) -> Vec<(String, String)> {
    if System::all(results).is_empty() {
        return Vec::new();
    }
    let file = |name: &str, contents| (format!("etes_analysis/{name}"), contents);
    vec![
        file("scores.csv", scores(results)),
        file("groups.csv", groups(results)),
        file("bands.csv", bands(results)),
        file("samples.csv", samples(results)),
    ]
}

fn scores(results: &Results) -> String {
    let scores = results.scores.iter().filter(|score| is_of_etes(&score.metric));
    write(&long_csv::HEADER, scores.map(long_csv::row))
}

/// Groups of all factors below each other: `factor` says which, `group` whose line it is.
fn groups(results: &Results) -> String {
    let of_factor = |table: &Breakdown| {
        let mut table = table.clone();
        let key = table.keys.first_mut()?;
        let factor = std::mem::replace(&mut key.name, "group".to_string());
        Some((vec![table.model.clone(), factor], table))
    };
    let tables = results.breakdowns.iter().filter(|table| table.metric == "etes");
    let tables: Vec<(Vec<String>, Breakdown)> = tables.filter_map(of_factor).collect();
    let tables: Vec<(Vec<String>, &Breakdown)> = tables.iter().map(|(own, table)| (own.clone(), table)).collect();
    breakdowns::write(&["model", "factor"], &tables)
}

fn bands(results: &Results) -> String {
    let tables = results.breakdowns.iter().filter(|table| table.metric == "etes.bands");
    let tables: Vec<(Vec<String>, &Breakdown)> = tables.map(|table| (vec![table.model.clone()], table)).collect();
    breakdowns::write(&["model"], &tables)
}

/// The samples of all systems below each other, without texts.
fn samples(results: &Results) -> String {
    let tables: Vec<_> = System::all(results)
        .iter()
        .map(|system| etes_samples(results, system.name, None, None))
        .collect();
    let names = crate::scores::distinct(
        tables
            .iter()
            .flat_map(|table| table.columns.iter().map(|column| column.name.as_str())),
    );
    let mut header = vec!["model"];
    header.extend(&names);
    let rows = tables.iter().flat_map(|table| {
        let names = &names;
        (0..table.rows()).map(move |i| {
            let field = |name: &&str| table.field(name, i);
            let own = std::iter::once(table.system.clone());
            own.chain(names.iter().map(field)).collect()
        })
    });
    write(&header, rows)
}

#[cfg(test)]
mod tests {
    use super::super::testdata::{two_systems, without_reference};
    use crate::document_files;

    fn file(results: &repscope_core::Results, name: &str) -> String {
        let files = document_files("etes", results);
        let found = files
            .into_iter()
            .find(|(path, _)| path == &format!("etes_analysis/{name}"));
        found.expect("a file of that name").1
    }

    #[test]
    fn groups_have_their_factor_and_counts_are_whole() {
        let csv = file(&two_systems(), "groups.csv");
        let mut lines = csv.lines();
        let header = "model,factor,group,samples,alignment,alignment_low,alignment_high,reference,gap,";
        assert!(lines.next().is_some_and(|line| line.starts_with(header)), "{csv}");
        assert!(
            lines
                .next()
                .is_some_and(|line| line.starts_with("glim,subject,ZDM,120,-0.371,-0.387,-0.355,-0.41,0.039,")),
            "{csv}"
        );
        assert_eq!(lines.next(), Some("glim,subject,ZKW,0,,,,,,,,,,,,"));
    }

    #[test]
    fn bands_are_listed_for_every_system() {
        let csv = file(&two_systems(), "bands.csv");
        assert!(
            csv.starts_with(
                "model,band,from,to,samples,share\nglim,excellent,-1.0,-0.8,0,0.0\nglim,good,-0.8,-0.5,36,0.12\n"
            ),
            "{csv}"
        );
        assert_eq!(csv.lines().count(), 11);
    }

    #[test]
    fn samples_of_all_systems_have_their_system_and_no_texts() {
        let csv = file(&two_systems(), "samples.csv");
        let mut lines = csv.lines();
        assert_eq!(
            lines.next(),
            Some("model,index,etes,quality,total,reference_energy,gap,rank,bleu")
        );
        assert_eq!(lines.next(), Some("glim,0,-0.52,good,-0.47,-0.5,-0.02,1.0,0.25"));
        assert_eq!(csv.lines().filter(|line| line.starts_with("nucleus 0.95,")).count(), 4);
    }

    #[test]
    fn scores_are_the_long_form_of_energies_and_texts_alone() {
        let mut results = without_reference();
        results
            .scores
            .push(crate::testdata::missing("glim", "nmi", "needs labels"));
        let csv = file(&results, "scores.csv");
        assert!(
            csv.contains("\nglim,etes.gap,,,,,300,lower,,no reference was given,,\n"),
            "{csv}"
        );
        assert!(csv.contains("\nglim,wer,0.9312,") && !csv.contains("nmi"), "{csv}");
    }

    #[test]
    fn other_results_have_no_files_of_energies() {
        let files = document_files("evaluate", &crate::testdata::two_models());
        assert!(files.iter().all(|(path, _)| !path.starts_with("etes_analysis")));
    }
}
