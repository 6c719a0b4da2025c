// SPDX-License-Identifier: MIT
//! Whether the first line of a table holds column names.

use super::lines::Line;
use crate::error::Parsed;

/// Whether a cell is a number.
pub(super) fn is_number(cell: &str) -> bool {
    cell.trim().parse::<f64>().is_ok()
}

/// Decides by the first line and the lines after it.
///
/// A line of numbers is data. A text above a number is a name. What remains are columns of text, where
/// the first cell is data if it occurs again below (`cat` in a file of classes) or, like all cells
/// below it, contains a digit (`img_001` in a file of ids); otherwise it is a name.
pub(super) fn are_names(first: &[String], below: impl Iterator<Item = Parsed<Line>>) -> Parsed<bool> {
    let undecided: Vec<usize> = (0..first.len()).filter(|&j| !is_number(&first[j])).collect();
    if undecided.is_empty() {
        return Ok(false);
    }
    let has_digit = |cell: &str| cell.bytes().any(|b| b.is_ascii_digit());
    let mut all_digits: Vec<bool> = first.iter().map(|cell| has_digit(cell)).collect();
    let mut rows = 0;
    for line in below {
        let line = line?;
        for &j in &undecided {
            let cell = line.cell(j)?;
            if rows == 0 && is_number(cell) {
                return Ok(true);
            }
            // A column of row numbers has no name (pandas writes `,x,y`): an empty cell decides nothing.
            if cell == first[j] && !cell.is_empty() {
                return Ok(false);
            }
            all_digits[j] &= has_digit(cell);
        }
        rows += 1;
    }
    Ok(rows > 0 && undecided.iter().all(|&j| !all_digits[j]))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::table::lines::Lines;

    fn decide(lines: &[&str]) -> bool {
        let text = lines.join("\n");
        let lines = Lines::new(text.as_bytes(), b',');
        let first = lines.read().next().unwrap().unwrap().cells().unwrap();
        are_names(&first, lines.read().skip(1)).unwrap()
    }

    #[test]
    fn numbers_are_data_and_text_above_numbers_is_a_name() {
        assert!(!decide(&["1,2", "3,4"]));
        assert!(decide(&["x,y", "1,2"]));
        assert!(decide(&["label,x", "cat,1"]));
        assert!(decide(&["0,label", "1,cat"]));
    }

    #[test]
    fn a_class_that_occurs_again_is_data() {
        assert!(!decide(&["cat", "dog", "cat"]));
        assert!(decide(&["label", "cat", "dog", "cat"]));
    }

    #[test]
    fn ids_that_all_contain_digits_are_data() {
        assert!(!decide(&["img_1", "img_2", "img_3"]));
        assert!(decide(&["id", "img_1", "img_2"]));
    }

    #[test]
    fn a_single_line_is_data() {
        assert!(!decide(&["cat"]));
    }
}
