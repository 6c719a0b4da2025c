// SPDX-License-Identifier: MIT
//! Tables as CSV, with every digit.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Kind, Table};
use crate::numbers::exact;

/// The table as a CSV file. A value that does not exist is an empty field.
pub(crate) fn render(table: &Table) -> String {
    let header: Vec<&str> = table.columns.iter().map(|column| column.head.text.as_str()).collect();
    let field = |cell: &super::Cell| match cell.kind {
        Kind::Count => cell.value.map(integer).unwrap_or_default(),
        Kind::Number => cell.value.map(exact).unwrap_or_default(),
        _ => cell.text.clone(),
    };
    write(
        &header,
        table.rows.iter().map(|row| row.cells.iter().map(field).collect()),
    )
}

/// Whether texts that a spreadsheet would compute stay as they are.
static KEEPS_FORMULAS: AtomicBool = AtomicBool::new(false);

/// Has texts that a spreadsheet would compute written as they are, for programs that read CSV files. It holds for the whole process.
pub fn keep_formulas(keep: bool) {
    KEEPS_FORMULAS.store(keep, Ordering::Relaxed);
}

/// Characters with which a formula begins, in their wide forms, too, and those that spreadsheets skip before one (OWASP's list).
const BEGIN_FORMULAS: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// The text of a cell. A spreadsheet computes what starts with `=`, `+`, `-` or `@`, and such a label of a stranger could fetch or run
/// something: an apostrophe before it makes it text. What is a number as a whole stays as it is. A label such as `-10dB` is none and gets
/// the apostrophe, since which expressions a spreadsheet finds in a text differs from one to the next.
fn csv_text(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(BEGIN_FORMULAS) && text.chars().count() > 1 && text.parse::<f64>().is_err();
    if is_formula && !KEEPS_FORMULAS.load(Ordering::Relaxed) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// An integer as such; what is none with all digits.
fn integer(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        format!("{x}")
    } else {
        exact(x)
    }
}

/// A CSV file with these column names and rows. Texts that a spreadsheet would compute have an apostrophe before them.
pub fn write<H: AsRef<str>>(header: &[H], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let header = header.iter().map(|name| csv_text(name.as_ref()).into_owned());
    writer
        .write_record(header.map(String::into_bytes))
        .expect("writing to memory does not fail");
    for row in rows {
        let row = row.iter().map(|cell| csv_text(cell).into_owned());
        writer
            .write_record(row.map(String::into_bytes))
            .expect("rows are as long as the header");
    }
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("only text was written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_a_spreadsheet_would_compute_are_text_and_numbers_stay() {
        let rows = [
            ["=HYPERLINK(\"x\")", "-0.25"],
            ["@a", "+3"],
            ["-", "-x"],
            ["cat", "1e-3"],
        ];
        let rows = rows.map(|row| row.map(str::to_string).to_vec());
        let expected = "label,+x\n\"'=HYPERLINK(\"\"x\"\")\",-0.25\n'@a,+3\n-,'-x\ncat,1e-3\n";
        assert_eq!(write(&["label", "+x"], rows), expected.replace("label,+x", "label,'+x"));
    }

    #[test]
    fn what_is_a_number_as_a_whole_never_has_an_apostrophe() {
        for number in ["-1.5", "+3e4", "-.5", "+0", "-1e-300", "-inf", "1.5", "NaN"] {
            assert_eq!(csv_text(number), number);
        }
        for text in [
            "-10dB",
            "+1+1",
            "-1,5",
            "-2+3",
            "=1",
            "@x",
            "\tx",
            "\rx",
            "\nx",
            "\u{ff1d}1",
            "\u{ff0b}1",
            "\u{ff0d}1",
            "\u{ff20}x",
        ] {
            assert_eq!(csv_text(text), format!("'{text}"));
        }
    }
}
