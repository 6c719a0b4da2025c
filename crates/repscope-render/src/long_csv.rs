// SPDX-License-Identifier: MIT
//! The long form: one line per model and metric, with every digit, for spreadsheets and data frames.

use crate::numbers::exact;
use crate::summary::distinct;
use repscope_core::{Better, Breakdown, Results, Score};

pub(crate) const HEADER: [&str; 12] = [
    "model", "metric", "value", "low", "high", "level", "n", "better", "chance", "reason", "unit", "method",
];

pub(crate) fn render(results: &Results) -> String {
    write(&HEADER, results.scores.iter().map(row))
}

/// The line of a score.
pub(crate) fn row(score: &Score) -> Vec<String> {
    let optional = |x: Option<f64>| x.map(exact).unwrap_or_default();
    let text = |x: &Option<String>| x.clone().unwrap_or_default();
    let better = match score.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither",
    };
    vec![
        score.model.clone(),
        score.metric.to_string(),
        optional(score.value),
        optional(score.interval.map(|[low, _]| low)),
        optional(score.interval.map(|[_, high]| high)),
        optional(score.level),
        score.n.to_string(),
        better.to_string(),
        optional(score.chance),
        text(&score.reason),
        text(&score.unit),
        text(&score.method),
    ]
}

/// Tables below each other: `own` columns that are the same for all lines of a table, then its names and its numbers.
/// Whole numbers of the columns that are `counts` are written as such.
pub(crate) fn breakdowns(own: &[&str], tables: &[(Vec<String>, &Breakdown)], counts: &[&str]) -> String {
    let keys = distinct(
        tables
            .iter()
            .flat_map(|(_, b)| &b.keys)
            .map(|column| column.name.as_str()),
    );
    let numbers = distinct(
        tables
            .iter()
            .flat_map(|(_, b)| &b.columns)
            .map(|column| column.name.as_str()),
    );
    let header: Vec<&str> = own.iter().chain(&keys).chain(&numbers).copied().collect();
    let number = |column: &str, x: f64| {
        let is_count = counts.contains(&column) && x.fract() == 0.0 && x.abs() < 1e15;
        if is_count { format!("{x}") } else { exact(x) }
    };
    let line = |of_table: &[String], breakdown: &Breakdown, i: usize| {
        let name = |key: &&str| {
            let column = breakdown.keys.iter().find(|column| column.name == **key);
            column
                .and_then(|column| column.values.get(i))
                .cloned()
                .unwrap_or_default()
        };
        let value = |name: &&str| {
            let column = breakdown.columns.iter().find(|column| column.name == **name);
            let value = column.and_then(|column| column.values.get(i).copied().flatten());
            value.map(|x| number(name, x)).unwrap_or_default()
        };
        let names = keys.iter().map(name);
        of_table
            .iter()
            .cloned()
            .chain(names)
            .chain(numbers.iter().map(value))
            .collect::<Vec<String>>()
    };
    let mut rows = Vec::new();
    for (of_table, breakdown) in tables {
        let lines = breakdown.keys.first().map_or(0, |column| column.values.len());
        rows.extend((0..lines).map(|i| line(of_table, breakdown, i)));
    }
    write(&header, rows)
}

/// A CSV file with these column names and rows.
pub(crate) fn write<H: AsRef<[u8]>>(header: &[H], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).expect("writing to memory does not fail");
    for row in rows {
        writer.write_record(&row).expect("rows are as long as the header");
    }
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("only text was written")
}

#[cfg(test)]
mod tests {
    use crate::testdata::two_models;
    use crate::{Color, Format, render};
    use repscope_core::{Better, Results, Score};

    #[test]
    fn each_score_is_a_line_with_every_digit() {
        let csv = render(&two_models(), Format::Csv, 80, Color::No);
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines[0],
            "model,metric,value,low,high,level,n,better,chance,reason,unit,method"
        );
        assert_eq!(
            lines[1],
            "jepa,smoothness.slope,0.00011531,0.00011312,0.00011749,0.95,36000,lower,,,episodes,jackknife"
        );
        assert_eq!(lines[8], "jepa,nmi,,,,,1797,higher,,needs labels; give --labels,,");
    }

    #[test]
    fn names_with_commas_and_quotes_are_quoted() {
        let mut score = Score::number("r", 1.0, 3);
        score.better = Better::Higher;
        score.model = "a, \"b\"".to_string();
        let csv = render(
            &Results {
                scores: vec![score],
                ..Results::default()
            },
            Format::Csv,
            80,
            Color::No,
        );
        assert_eq!(csv.lines().nth(1), Some(r#""a, ""b""",r,1.0,,,,3,higher,,,,"#));
    }
}
