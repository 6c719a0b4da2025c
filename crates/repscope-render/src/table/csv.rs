// SPDX-License-Identifier: MIT
//! Tables as CSV, with every digit.

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

/// An integer as such; what is none with all digits.
fn integer(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        format!("{x}")
    } else {
        exact(x)
    }
}

/// A CSV file with these column names and rows.
pub(crate) fn write<H: AsRef<[u8]>>(header: &[H], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(header).expect("writing to memory does not fail");
    for row in rows {
        writer.write_record(&row).expect("rows are as long as the header");
    }
    let bytes = writer.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("only text was written")
}
