// SPDX-License-Identifier: MIT
//! What a metric declares is shown everywhere, without an edit of this crate: every output in the table, the long CSV and on the
//! page with its card, and every column in the summary file of an analysis.

use crate::evaluated::page_of;
use repscope_core::metrics::Output;
use repscope_core::{Breakdown, METRICS, NameColumn, Results, Score};
use repscope_render::{Color, Format, document_files, render};

/// An identity that an output can have.
fn instance(output: &Output) -> String {
    let stands_for = [
        ("@K", "@10"),
        ("@SIGMA", "@0.05"),
        ("DIRECTION", "text2sensor"),
        ("HEAD", "snr"),
        ("@SET", "@top1"),
        ("@FAMILY", "@top"),
    ];
    let replace = |id: String, (placeholder, name): &(&str, &str)| id.replace(placeholder, name);
    stands_for.iter().fold(output.id.to_string(), replace)
}

/// A value for every output of every metric, each another one.
fn everything() -> (Vec<(&'static Output, String)>, Results) {
    let outputs = METRICS.iter().flat_map(|metric| metric.outputs);
    let ids: Vec<(&Output, String)> = outputs.map(|output| (output, instance(output))).collect();
    let score = |(i, (_, id)): (usize, &(&Output, String))| Score {
        model: "model".to_string(),
        value: Some(0.25 + i as f64),
        reason: None,
        ..Score::undefined(id.as_str(), "", 100)
    };
    // The levels of noise are lines of a breakdown.
    let key = |name: &str, value: &str| NameColumn {
        name: name.to_string(),
        values: vec![value.to_string()],
    };
    let levels = Breakdown {
        model: "model".to_string(),
        metric: "robustness".into(),
        keys: vec![key("kind", "robustness"), key("level", "0.05")],
        columns: Vec::new(),
    };
    let results = Results {
        scores: ids.iter().enumerate().map(score).collect(),
        breakdowns: vec![levels],
        ..Results::default()
    };
    (ids, results)
}

#[test]
fn every_output_is_in_the_table_and_in_the_long_csv() {
    let (ids, results) = everything();
    let table = render(&results, Format::Table, 100, Color::No);
    let csv = render(&results, Format::Csv, 100, Color::No);
    for (place, (_, id)) in ids.iter().enumerate() {
        let is_row = |line: &str| line.split_whitespace().next() == Some(id);
        assert!(table.lines().any(is_row), "{id} is missing in the table");
        let start = format!("model,{id},{:?},", 0.25 + place as f64);
        assert!(
            csv.lines().any(|line| line.starts_with(&start)),
            "{id} is missing in the CSV"
        );
    }
}

#[test]
fn every_output_is_on_the_page_with_the_card_of_its_metric() {
    let (ids, results) = everything();
    let page = page_of(&results).replace("<wbr>", "");
    for (_, id) in &ids {
        assert!(
            page.contains(&format!("<code>{id}</code>")),
            "{id} is missing on the page"
        );
    }
    for metric in METRICS {
        let card = format!("<div id=\"about-{}\"", metric.id);
        assert!(page.contains(&card), "the card of {} is missing", metric.id);
    }
}

#[test]
fn every_declared_column_is_in_a_file_with_its_value() {
    let (ids, results) = everything();
    let files = document_files("evaluate", &results);
    for (place, (output, id)) in ids.iter().enumerate() {
        let Some(column) = output.column else { continue };
        let value = format!("{:?}", 0.25 + place as f64);
        let has_it = |(_, contents): &(String, String)| {
            let mut lines = contents.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let at = lines
                .next()
                .and_then(|header| header.iter().position(|name| name.trim_end_matches("_mean") == column));
            at.is_some_and(|at| lines.any(|line| line[at] == value))
        };
        assert!(files.iter().any(has_it), "{id} is missing in a column {column}");
    }
}

/// Files as users' scripts read them: names and order of the columns never change.
#[test]
fn the_columns_of_the_summary_files_are_those_that_scripts_read() {
    let (_, results) = everything();
    let files = document_files("evaluate", &results);
    let header = |path: &str| {
        let file = files.iter().find(|(own, _)| own == path);
        file.and_then(|(_, contents)| contents.lines().next())
            .unwrap_or_default()
            .to_string()
    };
    assert_eq!(
        header("smoothness_analysis/smoothness_summary.csv"),
        "Model,Regression_Slope,Regression_Intercept,R_Value,R_Squared,P_Value,Std_Error,Mean_Smoothness_Ratio,\
         Std_Smoothness_Ratio,Median_Smoothness_Ratio,Sample_Count"
    );
    assert_eq!(
        header("geometry_analysis/geometry_summary.csv"),
        "Model,Uniformity,Silhouette_Score,NMI,AMI,Clustering_Inertia,Inertia_Share,Cluster_Balance,KNN_Accuracy,Sample_Count,\
         Uniformity_Low,Uniformity_High,Silhouette_Score_Low,Silhouette_Score_High,NMI_Low,NMI_High,AMI_Low,AMI_High,\
         Clustering_Inertia_Low,Clustering_Inertia_High,Inertia_Share_Low,Inertia_Share_High,Cluster_Balance_Low,\
         Cluster_Balance_High,KNN_Accuracy_Low,KNN_Accuracy_High"
    );
    assert_eq!(
        header("rankme/rankme_summary.csv"),
        "Model,RankMe_Spec,RankMe_Paper,Numerical_Rank,Stable_Rank,Alpha_ReQ,Alpha_ReQ_R2,Condition_Number,Std_Collapse,\
         Sample_Count"
    );
    assert_eq!(
        header("clid/clid_summary.csv"),
        "Model,CL,CL_std,ID,ID_normalized,CLID,N,D,MCR2_total,MCR2_discriminative,MCR2_compressive,Uniformity,Alignment,\
         Alignment_uniformity,Alignment_total,Weighted_CLID,Weighted_CLID_left_out"
    );
}
