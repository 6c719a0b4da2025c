// SPDX-License-Identifier: MIT
//! What `repscope clid` shows: the scores, how CLID was computed in words, and which score predicts performance.

use crate::breakdowns::{cell, find, first_key};
use crate::numbers::{interval_head, number, rough};
use crate::scores::tables;
use crate::table::{Cell, Column, Document, Table};
use crate::text::{join, printable};
use crate::{Color, Format, csv_files, headlines};
use repscope_core::{Analysis, Breakdown, ClidSpec, ClusterCount, IdNorm, Results, Spec, UnitLength, counted};

/// What the results of `repscope clid` were asked with.
pub struct ClidRun<'a> {
    /// The options that the numbers were computed with.
    pub spec: &'a Spec,
    /// The name of the preset.
    pub preset: &'a str,
    /// The steps of the preset, before single ones were changed.
    pub preset_steps: &'a ClidSpec,
    /// What the scores were to predict: `accuracy`.
    pub performance: Option<&'a str>,
    /// Whether every score is shown, not only those that answer.
    pub all: bool,
}

/// Writes which score predicts the performance, where that was asked, the scores, and the steps of CLID in words. `width` (terminal columns)
/// and `color` matter to [`Format::Table`] only. [`Format::Csv`] is the long form, so that it stays one table.
pub fn clid_table(results: &Results, run: &ClidRun<'_>, format: Format, width: usize, color: Color) -> String {
    let steps = sentence(run.preset, run.preset_steps, &run.spec.clid);
    if format == Format::Csv {
        return csv_files::long(results, long_rows(results, run.spec.level));
    }
    if results.scores.is_empty() {
        return crate::render(results, format, width, color);
    }
    let answer = run.performance.map(|name| predictions(results, name, run.spec.level));
    let mut own = if run.all {
        tables(results, results)
    } else {
        tables(&headlines(results, Some(Analysis::Clid)), results)
    };
    own[0].remarks.push(steps);
    let all: Vec<Table> = answer.into_iter().flatten().chain(own).collect();
    Document::from(all).render(format, width, color)
}

/// How CLID was computed.
pub(crate) fn sentence(preset: &str, start: &ClidSpec, now: &ClidSpec) -> String {
    let source = if *start == ClidSpec::PAPER {
        " (Lu et al. 2023)"
    } else {
        ""
    };
    let changed = options(now)
        .into_iter()
        .zip(options(start))
        .filter(|(now, start)| now != start);
    let changed = changed.map(|((option, now), (_, start))| format!("{option} {now} (not {start})"));
    let but = match join(changed, ", ").as_str() {
        "" => String::new(),
        changed => format!(", but with {changed}"),
    };
    format!("CLID by preset {preset}{source}{but}: {}", words(now))
}

/// The options that would give these steps.
fn options(steps: &ClidSpec) -> [(&'static str, String); 8] {
    let clusters = match steps.clusters {
        ClusterCount::Sqrt => "sqrt".to_string(),
        ClusterCount::Of(count) => count.to_string(),
    };
    let unit_length = match steps.unit_length {
        UnitLength::None => "none",
        UnitLength::Vote => "vote",
        UnitLength::All => "all",
    };
    let id_norm = match steps.id_norm {
        IdNorm::Dim => "dim",
        IdNorm::Pool => "pool",
    };
    [
        (
            "--standardize",
            if steps.standardize { "yes" } else { "no" }.to_string(),
        ),
        ("--unit-length", unit_length.to_string()),
        ("--clusters", clusters),
        ("--restarts", steps.restarts.to_string()),
        ("--splits", steps.splits.to_string()),
        ("--k", steps.k.to_string()),
        ("--repeats", steps.repeats.to_string()),
        ("--id-norm", id_norm.to_string()),
    ]
}

fn words(steps: &ClidSpec) -> String {
    let rows = match (steps.standardize, steps.unit_length) {
        (true, UnitLength::All) => "columns of mean 0 and variance 1, rows of length 1",
        (true, _) => "columns of mean 0 and variance 1",
        (false, UnitLength::All) => "rows of length 1",
        (false, _) => "embeddings as they are",
    };
    let clusters = match steps.clusters {
        ClusterCount::Sqrt => "√N k-means clusters".to_string(),
        ClusterCount::Of(count) => counted(count, "k-means cluster"),
    };
    let kept = match steps.restarts {
        1 => String::new(),
        restarts => format!(", the best of {restarts} restarts"),
    };
    let vote = match steps.unit_length {
        UnitLength::Vote => " on rows of length 1",
        UnitLength::None | UnitLength::All => "",
    };
    let dimension = match steps.unit_length {
        UnitLength::All => "of rows of length 1",
        UnitLength::None | UnitLength::Vote => "of the embeddings as they are",
    };
    let scale = match steps.id_norm {
        IdNorm::Dim => "ID divided by D, at most 1",
        IdNorm::Pool => "CL and ID standardized over the models",
    };
    let each = if steps.repeats > 1 { " each" } else { "" };
    format!(
        "{rows}; {clusters}{kept}; {}{vote}; {} with {} in halves{each}; TwoNN {dimension}; {scale}",
        counted(steps.k, "voter"),
        counted(steps.repeats, "clustering"),
        counted(steps.splits, "split"),
    )
}

/// The tables for reading.
pub(crate) fn predictions(results: &Results, performance: &str, level: f64) -> Vec<Table> {
    let performance = &printable(performance);
    let correlations = find(results, "", "performance").map(|lines| correlations(lines, performance, level));
    let weights = find(results, "", "weighted_clid").map(|lines| weights(lines, performance, level));
    correlations.into_iter().chain(weights).collect()
}

/// The same as lines of the long CSV, which have no place but the identity for what a number is.
fn long_rows(results: &Results, level: f64) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut add = |identity: String, value: Option<f64>, ends: [Option<f64>; 2], models: Option<f64>| {
        let interval = ends[0].zip(ends[1]).map(<[f64; 2]>::from);
        rows.push(csv_files::long_row_of_all(identity, value, interval, level, models));
    };
    if let Some(lines) = find(results, "", "performance") {
        for (i, score) in first_key(lines).iter().enumerate() {
            let at = |column: &str| cell(lines, column, i);
            for (column, ends) in [
                ("spearman", [at("spearman_low"), at("spearman_high")]),
                ("spearman_p", [None, None]),
                ("spearman_q", [None, None]),
                ("kendall", [at("kendall_low"), at("kendall_high")]),
                ("kendall_p", [None, None]),
            ] {
                let identity = format!("performance.{column}(score={score})");
                add(identity, at(column), ends, at("models"));
            }
        }
    }
    if let Some(lines) = find(results, "", "weighted_clid") {
        for (i, term) in first_key(lines).iter().enumerate() {
            let ends = [cell(lines, "low", i), cell(lines, "high", i)];
            let identity = format!("weighted_clid.weight(term={term})");
            add(identity, cell(lines, "weight", i), ends, None);
        }
    }
    rows
}

fn correlations(lines: &Breakdown, performance: &str, level: f64) -> Table {
    let interval = interval_head(Some(level));
    let mut table = Table::new(format!("Which score predicts {performance}?"), "repscope-performance");
    table.columns = vec![
        Column::text("score"),
        Column::number("rho").with_interval(&interval),
        Column::number("p"),
        Column::number("q"),
        Column::number("tau").with_interval(&interval).spare(0),
        Column::number("models"),
    ];
    let scores = first_key(lines);
    for (i, score) in scores.iter().enumerate() {
        let at = |column: &str| cell(lines, column, i);
        let correlation = |name: &str| Cell {
            interval: match (at(&format!("{name}_low")), at(&format!("{name}_high"))) {
                (Some(low), Some(high)) => format!("[{}, {}]", hundredths(low), hundredths(high)),
                _ => String::new(),
            },
            ..Cell::optional(at(name), hundredths)
        };
        let p = |x: Option<f64>| Cell::written(x.map(rough).unwrap_or_default(), x);
        table.push(vec![
            Cell::text(score),
            correlation("spearman"),
            p(at("spearman_p")),
            p(at("spearman_q")),
            correlation("kendall"),
            Cell::written(at("models").map(|n| n.to_string()).unwrap_or_default(), at("models")),
        ]);
    }
    let tested = (0..scores.len()).filter_map(|i| Some((&scores[i], cell(lines, "spearman_q", i)?)));
    let tested: Vec<(&String, f64)> = tested.collect();
    // 1 − 0.95 is not quite 0.05 in floating point.
    let limit = ((1.0 - level) * 1e9).round() / 1e9;
    let found = tested.iter().filter(|(_, q)| *q <= limit);
    let found = join(found.map(|(score, _)| printable(score)), ", ");
    let limit = number(limit);
    let verdict = match found.as_str() {
        "" => format!("no score is shown to predict {performance}: no q is {limit} or below"),
        found => format!("shown to predict {performance} (q of {limit} or below): {found}"),
    };
    table.remarks = vec![
        format!(
            "rho, tau: rank correlations of score and {performance} by Spearman and Kendall (tau-b); below 0, lower \
             scores go with higher {performance}; p: of rho; q: p adjusted for {} scores by Benjamini and Hochberg; \
             weighted_clid was fitted to {performance} and has none",
            tested.len()
        ),
        verdict,
    ];
    table
}

fn weights(lines: &Breakdown, performance: &str, level: f64) -> Table {
    let mut table = Table::new("Weights of weighted CLID", "repscope-weights");
    let interval = interval_head(Some(level));
    table.columns = vec![Column::text("term"), Column::number("weight").with_interval(interval)];
    for (i, term) in first_key(lines).iter().enumerate() {
        let at = |column: &str| cell(lines, column, i);
        let ends = at("low").zip(at("high")).map(<[f64; 2]>::from);
        let interval = at("weight").map(|weight| Cell::with_interval(weight, ends).interval);
        let weight = Cell {
            interval: interval.unwrap_or_default(),
            ..Cell::optional(at("weight"), number)
        };
        table.push(vec![Cell::text(term), weight]);
    }
    table.remarks = vec![format!(
        "{performance} ≈ intercept + weight of cl · CL + weight of id · ID, by least squares, with CL and ID \
         standardized over the models"
    )];
    table
}

/// Two decimals, and no sign for what rounds to zero.
fn hundredths(x: f64) -> String {
    match format!("{x:.2}") {
        text if text == "-0.00" => "0.00".to_string(),
        text => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Document;
    use crate::{Color, Format};
    use repscope_core::{NameColumn, NumberColumn};

    #[test]
    fn a_preset_is_told_in_its_steps() {
        assert_eq!(
            sentence("robust", &ClidSpec::ROBUST, &ClidSpec::ROBUST),
            "CLID by preset robust: columns of mean 0 and variance 1; 10 k-means clusters, the best of 10 \
             restarts; 5 voters on rows of length 1; 5 clusterings with 1 split in halves each; TwoNN of the embeddings as \
             they are; ID divided by D, at most 1"
        );
        let spec = sentence("spec", &ClidSpec::SPEC, &ClidSpec::SPEC);
        assert!(spec.contains("; 1 clustering with 1 split in halves; "), "{spec}");
        assert_eq!(
            sentence("paper", &ClidSpec::PAPER, &ClidSpec::PAPER),
            "CLID by preset paper (Lu et al. 2023): rows of length 1; √N k-means clusters; 1 voter; 5 clusterings with \
             10 splits in halves each; TwoNN of rows of length 1; CL and ID standardized over the models"
        );
    }

    #[test]
    fn changed_steps_are_named_with_what_they_were() {
        let changed = ClidSpec {
            clusters: ClusterCount::Sqrt,
            k: 3,
            ..ClidSpec::SPEC
        };
        let text = sentence("spec", &ClidSpec::SPEC, &changed);
        assert!(
            text.starts_with("CLID by preset spec, but with --clusters sqrt (not 10), --k 3 (not 5): "),
            "{text}"
        );
        assert!(text.contains("; 3 voters on rows of length 1; "), "{text}");
    }

    /// Two scores, of which the second was fitted and has no tests.
    fn lines(q: f64) -> Results {
        let column = |name: &str, values: [Option<f64>; 2]| NumberColumn {
            name: name.to_string(),
            values: values.to_vec(),
        };
        let breakdown = Breakdown {
            model: String::new(),
            metric: "performance".into(),
            keys: vec![NameColumn {
                name: "score".to_string(),
                values: vec!["clid.cl".to_string(), "weighted_clid".to_string()],
            }],
            columns: vec![
                column("models", [Some(6.0), Some(6.0)]),
                column("spearman", [Some(-0.001), Some(0.5)]),
                column("spearman_low", [Some(-0.2), None]),
                column("spearman_high", [Some(0.999), None]),
                column("spearman_p", [Some(0.0123), None]),
                column("spearman_q", [Some(q), None]),
                column("kendall", [None, Some(0.25)]),
            ],
        };
        Results {
            breakdowns: vec![breakdown],
            ..Results::default()
        }
    }

    #[test]
    fn a_line_has_what_is_known_of_its_score() {
        let [table] = &predictions(&lines(0.05), "top1", 0.95)[..] else {
            panic!("one table")
        };
        let expected = "\
Which score predicts top1?
score           rho  95 % interval      p     q   tau  models
─────────────────────────────────────────────────────────────
clid.cl        0.00  [-0.20, 1.00]  0.012  0.05     —       6
weighted_clid  0.50                              0.25       6
";
        let text = Document::from(table.clone()).render(Format::Table, 110, Color::No);
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn only_a_small_q_shows_that_a_score_predicts() {
        let verdict = |q: f64| predictions(&lines(q), "top1", 0.95)[0].remarks[1].clone();
        assert_eq!(verdict(0.05), "shown to predict top1 (q of 0.05 or below): clid.cl");
        assert_eq!(
            verdict(0.051),
            "no score is shown to predict top1: no q is 0.05 or below"
        );
    }

    #[test]
    fn the_long_form_names_the_score_in_the_identity() {
        let rows = long_rows(&lines(0.05), 0.95);
        assert_eq!(rows[0][1], "performance.spearman(score=clid.cl)");
        assert_eq!(rows[0][2..7], ["-0.001", "-0.2", "0.999", "0.95", "6"]);
    }
}
