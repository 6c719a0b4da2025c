// SPDX-License-Identifier: MIT
//! What a reader of the scores must know.

use super::measured::Measured;

/// So many rows are named in a warning.
const MOST_ROWS: usize = 5;

pub(super) fn warnings(measured: &Measured) -> Vec<String> {
    let mut warnings = Vec::new();
    let n = measured.decoded.data.samples();
    let left_out: Vec<usize> = {
        let mut kept = measured.rows.iter().copied().peekable();
        (0..n).filter(|row| kept.next_if_eq(row).is_none()).collect()
    };
    if !left_out.is_empty() {
        warnings.push(format!(
            "{} of {n} samples are left out of all energies, because their signal or text is a vector of length zero, which has \
             no cosine: {}",
            left_out.len(),
            named(&left_out)
        ));
    }
    let measured_rows = measured.rows.len();
    let references = measured.plain.reference.iter().flatten();
    let without: Vec<usize> = measured
        .rows
        .iter()
        .zip(references)
        .filter(|(_, reference)| reference.is_none())
        .map(|(&row, _)| row)
        .collect();
    if !without.is_empty() {
        warnings.push(format!(
            "{} of {measured_rows} references are vectors of length zero, so their samples have no gap: {}",
            without.len(),
            named(&without)
        ));
    }
    let lost = measured_rows - measured.centered.energy.len();
    if lost > 0 && measured_rows > 1 {
        warnings.push(format!(
            "{lost} of {measured_rows} samples are left out of centered energies: their signal or text is the mean of its side"
        ));
    }
    if measured.repeats > 0 {
        warnings.push(format!(
            "{} of {measured_rows} generated texts have the vector of an earlier one; where texts are equally near to a signal, \
             its own ranks among them at random, in expectation",
            measured.repeats
        ));
    }
    for &k in measured.decoded.spec.etes.k.iter().filter(|&&k| k > measured_rows) {
        warnings.push(format!(
            "K = {k}, but there are only {measured_rows} texts; all {measured_rows} were taken, and effective_k says so"
        ));
    }
    warnings
}

/// `rows 3, 4, 7, 8, 9, …`.
fn named(rows: &[usize]) -> String {
    let shown: Vec<String> = rows.iter().take(MOST_ROWS).map(usize::to_string).collect();
    let more = if rows.len() > MOST_ROWS { ", …" } else { "" };
    let what = if rows.len() == 1 { "row" } else { "rows" };
    format!("{what} {}{more} (counted from 0)", shown.join(", "))
}
