// SPDX-License-Identifier: MIT
//! The long form: one line per model and metric, with every digit, for spreadsheets and data frames.

use crate::numbers::exact;
use crate::table::csv::write;
use repscope_core::{Better, Results, Score};

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
