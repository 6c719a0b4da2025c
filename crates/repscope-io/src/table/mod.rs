// SPDX-License-Identifier: MIT
//! `.csv` and `.tsv`: tables of text, with or without a line of column names.
//!
//! Without `#column`, a table whose columns are all numbers is a matrix, and a table of one column is
//! that column. `#column` picks a column by its name, or by its number from 0 where there are no names.
//! A column of integers in their usual spelling is read as integers, one of other numbers as
//! `f64`, and anything else as text; numbers with leading zeros (`007`) are names, so they are text.
//! A first column that has no name and counts the rows is the index that pandas writes; it is left out.

use csv::{ByteRecord, ReaderBuilder};

use crate::array::{Array, ArrayInfo, Data};
use crate::choose::choose;
use crate::error::{Parsed, bail, problem};
use crate::plain_text::without_mark;
use crate::read::Take;

/// Reads the matrix, or one column. Without a key, the column `ids` is left out where there is one.
pub(crate) fn read(bytes: &[u8], delimiter: u8, key: Option<&str>, ids: Option<&str>) -> Parsed<Array> {
    let mut table = Table::open(bytes, delimiter)?;
    if let Some(ids) = ids.filter(|_| key.is_none()) {
        table.leave_out(ids);
    }
    let is_matrix = table.infos.iter().all(|i| i.dtype == "f64");
    if key.is_none() && table.infos.len() > 1 && is_matrix {
        return table.read_matrix();
    }
    table.read_column(choose(&table.infos, key, "column")?)
}

/// Reads every column, one after the other; the lines are parsed once.
pub(crate) fn read_each(bytes: &[u8], delimiter: u8, take: Take) -> Parsed<()> {
    let table = Table::open(bytes, delimiter)?;
    let mut columns: Vec<Vec<String>> = vec![Vec::new(); table.infos.len()];
    for line in table.data_lines() {
        let line = line?;
        table.check_length(&line)?;
        for (texts, &cell) in columns.iter_mut().zip(&table.cells) {
            texts.push(line.cell(cell)?.trim().to_string());
        }
    }
    for (column, texts) in columns.into_iter().enumerate() {
        take(table.infos[column].key.clone(), table.column(column, texts))?;
    }
    Ok(())
}

/// The columns, each with its number of rows and what its first cell is.
pub(crate) fn list(bytes: &[u8], delimiter: u8) -> Parsed<Vec<ArrayInfo>> {
    Ok(Table::open(bytes, delimiter)?.infos)
}

struct Table<'a> {
    lines: Lines<'a>,
    has_names: bool,
    rows: usize,
    /// How many cells a line has.
    width: usize,
    infos: Vec<ArrayInfo>,
    /// Which cell of a line each of the columns is.
    cells: Vec<usize>,
}

impl<'a> Table<'a> {
    /// Looks through the lines: how many there are, and what the columns are called.
    fn open(bytes: &'a [u8], delimiter: u8) -> Parsed<Self> {
        let lines = Lines::new(bytes, delimiter);
        let head: Vec<Vec<String>> = lines.read().take(2).map(|l| l?.cells()).collect::<Parsed<_>>()?;
        let Some(first) = head.first() else {
            bail!("holds no rows");
        };
        let has_names = are_names(first, lines.read().skip(1))?;
        let rows = lines.read().count() - usize::from(has_names);
        if rows == 0 {
            bail!("holds column names but no rows");
        }
        let example = head.get(usize::from(has_names)).unwrap_or(first);
        let info = |(at, cell): (usize, &String)| ArrayInfo {
            key: Some(if has_names {
                first[at].trim().to_string()
            } else {
                at.to_string()
            }),
            shape: vec![rows],
            dtype: if is_number(cell) { "f64" } else { "str" }.to_string(),
        };
        if example.len() != first.len() {
            let (count, example_count) = (first.len(), example.len());
            bail!("has {count} cells in its first line but {example_count} in the second; rows must be of one length");
        }
        let mut table = Table {
            infos: example.iter().enumerate().map(info).collect(),
            cells: (0..example.len()).collect(),
            width: example.len(),
            lines,
            has_names,
            rows,
        };
        if has_names && table.infos.len() > 1 && first[0].trim().is_empty() && table.first_column_counts()? {
            table.infos.remove(0);
            table.cells.remove(0);
        }
        Ok(table)
    }

    fn leave_out(&mut self, column: &str) {
        if let Some(at) = self.infos.iter().position(|i| i.key.as_deref() == Some(column)) {
            self.infos.remove(at);
            self.cells.remove(at);
        }
    }

    fn first_column_counts(&self) -> Parsed<bool> {
        for (row, line) in self.data_lines().enumerate() {
            if line?.cell(0)? != row.to_string() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read_matrix(&self) -> Parsed<Array> {
        let columns = self.infos.len();
        let mut values = Vec::new();
        for line in self.data_lines() {
            let line = line?;
            self.check_length(&line)?;
            for column in 0..columns {
                values.push(self.number(&line, column)?);
            }
        }
        Array::checked(vec![self.rows, columns], "f64", Data::f64(values))
    }

    fn read_column(&self, column: usize) -> Parsed<Array> {
        let mut texts = Vec::new();
        for line in self.data_lines() {
            let line = line?;
            self.check_length(&line)?;
            texts.push(line.cell(self.cells[column])?.trim().to_string());
        }
        self.column(column, texts)
    }

    /// The cells of a column as integers, numbers or text.
    fn column(&self, column: usize, texts: Vec<String>) -> Parsed<Array> {
        let filled = || texts.iter().filter(|t| !t.is_empty());
        let is_name = |text: &String| text.len() > 1 && text.starts_with('0') && text.as_bytes()[1].is_ascii_digit();
        if filled().next().is_none() || filled().any(|t| !is_number(t) || is_name(t)) {
            return Array::checked(vec![self.rows], "str", Data::Text(texts));
        }
        if let Some(integers) = texts.iter().map(|t| integer(t)).collect() {
            return Array::checked(vec![self.rows], "i64", Data::I64(integers));
        }
        // What is no number here is empty; its line is looked up for the message.
        let Some(numbers) = texts.iter().map(|text| text.parse().ok()).collect() else {
            let first = self
                .data_lines()
                .map(|line| self.number(&line?, column))
                .find(Result::is_err);
            return Err(first
                .and_then(Result::err)
                .unwrap_or_else(|| problem!("has an empty cell")));
        };
        Array::checked(vec![self.rows], "f64", Data::f64(numbers))
    }

    fn data_lines(&self) -> impl Iterator<Item = Parsed<Line>> + use<'a> {
        self.lines.read().skip(usize::from(self.has_names))
    }

    fn check_length(&self, line: &Line) -> Parsed<()> {
        let (found, expected) = (line.len(), self.width);
        if found != expected {
            let number = line.number();
            bail!("has {found} cells in line {number} but {expected} in the first; rows must be of one length");
        }
        Ok(())
    }

    fn number(&self, line: &Line, column: usize) -> Parsed<f64> {
        let cell = line.cell(self.cells[column])?.trim();
        let name = self.infos[column].key.as_deref().unwrap_or_default();
        let place = || format!("in line {}, column `{name}`", line.number());
        if cell.is_empty() {
            bail!("has an empty cell {}; fill it, or write nan", place());
        }
        match cell.parse() {
            Ok(number) => Ok(number),
            Err(_) => bail!("holds {cell:?} {}, which is not a number", place()),
        }
    }
}

/// The integer that is spelled exactly so.
fn integer(text: &str) -> Option<i64> {
    text.parse().ok().filter(|i: &i64| i.to_string() == text)
}

/// A table that can be read several times.
struct Lines<'a> {
    bytes: &'a [u8],
    delimiter: u8,
}

/// One line.
struct Line(ByteRecord);

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        Lines {
            bytes: without_mark(bytes),
            delimiter,
        }
    }

    fn read(&self) -> impl Iterator<Item = Parsed<Line>> + use<'a> {
        ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .from_reader(self.bytes)
            .into_byte_records()
            .map(|record| match record {
                Ok(record) => Ok(Line(record)),
                Err(error) => bail!("cannot be decoded: {error}"),
            })
    }
}

impl Line {
    /// Its number in the file, from 1.
    fn number(&self) -> u64 {
        self.0.position().map_or(0, csv::Position::line)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// The text of a cell; a line that is too short has empty ones at its end.
    fn cell(&self, column: usize) -> Parsed<&str> {
        str::from_utf8(self.0.get(column).unwrap_or_default())
            .map_err(|_| problem!("is not UTF-8 text in line {}; save it as UTF-8", self.number()))
    }

    fn cells(&self) -> Parsed<Vec<String>> {
        (0..self.len())
            .map(|column| Ok(self.cell(column)?.to_string()))
            .collect()
    }
}

/// Whether a cell is a number.
fn is_number(cell: &str) -> bool {
    cell.trim().parse::<f64>().is_ok()
}

/// Decides by the first line and the lines after it.
///
/// A line of numbers is data. A text above a number is a name. What remains are columns of text, where
/// the first cell is data if it occurs again below (`cat` in a file of classes) or, like all cells
/// below it, contains a digit (`img_001` in a file of ids); otherwise it is a name.
fn are_names(first: &[String], below: impl Iterator<Item = Parsed<Line>>) -> Parsed<bool> {
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

    use crate::table::Lines;

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
