// SPDX-License-Identifier: MIT
//! How p-values are written, and the marks of small ones.

use crate::numbers::number;

/// Adjusted p-values up to these have these marks.
const MARKS: [(f64, &str); 3] = [(0.001, "***"), (0.01, "**"), (0.05, "*")];

/// What the marks mean.
pub(super) const LEGEND: &str = "* adjusted p ≤ 0.05, ** ≤ 0.01, *** ≤ 0.001";

/// The marks of an adjusted p-value.
pub(super) fn marks(p_adjusted: Option<f64>) -> &'static str {
    let mark = MARKS.iter().find(|(limit, _)| p_adjusted.is_some_and(|p| p <= *limit));
    mark.map_or("", |(_, mark)| mark)
}

/// The marks of a difference that is within its margin of equivalence.
pub(super) fn marks_of_same(marks: &str) -> &'static str {
    match marks {
        "***" => "≈***",
        "**" => "≈**",
        "*" => "≈*",
        _ => "≈",
    }
}

/// The adjusted p-value up to which a model is called better, where intervals have this level.
pub(crate) fn limit(level: f64) -> String {
    // Without what is left of 1 − 0.95 in binary.
    number(((1.0 - level) * 1e9).round() / 1e9)
}

/// `p = 0.012`, `p < 0.0001`.
pub fn p_value(p: f64) -> String {
    match probability(Some(p)).strip_prefix('<') {
        Some(small) => format!("p < {small}"),
        None => format!("p = {}", probability(Some(p))),
    }
}

/// Smaller ones than 0.0001 differ in nothing a reader could use.
pub(crate) fn probability(p: Option<f64>) -> String {
    match p {
        None => "—".to_string(),
        Some(p) if p < 1e-4 => "<0.0001".to_string(),
        Some(p) if p >= 0.9995 => "1".to_string(),
        Some(p) if p < 0.01 => format!("{p:.4}"),
        Some(p) => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_have_the_digits_that_matter() {
        let written = [0.00001, 0.0001, 0.00123, 0.04567, 0.9996].map(|p| probability(Some(p)));
        assert_eq!(written, ["<0.0001", "0.0001", "0.0012", "0.046", "1"]);
        assert_eq!(probability(None), "—");
    }

    #[test]
    fn intervals_of_95_percent_go_with_5_percent() {
        assert_eq!([0.95, 0.9, 0.999].map(limit), ["0.05", "0.1", "0.001"]);
    }

    #[test]
    fn a_limit_itself_has_its_mark() {
        let of = |p| marks(Some(p));
        assert_eq!(
            [of(0.001), of(0.0011), of(0.01), of(0.05), of(0.051)],
            ["***", "**", "**", "*", ""]
        );
        assert_eq!(marks(None), "");
    }
}
