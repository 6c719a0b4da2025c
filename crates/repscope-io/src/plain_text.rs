// SPDX-License-Identifier: MIT
//! `.txt`: one text per line.
//!
//! Lines end with a line feed, with or without a carriage return before it. The last one needs no end, and an end
//! begins no further line. Blank lines are empty texts: rows of other files may be counted along with these.

use crate::array::{Array, ArrayInfo, Data};
use crate::error::{Parsed, bail};

/// Spreadsheets and editors on Windows begin UTF-8 files with a byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The texts, one row each.
pub(crate) fn read(bytes: &[u8]) -> Parsed<Array> {
    let mut texts = Vec::new();
    for (at, line) in lines(bytes).enumerate() {
        match str::from_utf8(line) {
            Ok(text) => texts.push(text.to_string()),
            Err(error) => bail!(
                "is not UTF-8 text in line {}, at its byte {} ({:02x}); save it as UTF-8",
                at + 1,
                error.valid_up_to() + 1,
                line[error.valid_up_to()]
            ),
        }
    }
    if texts.is_empty() {
        bail!("holds no line");
    }
    Array::checked(vec![texts.len()], "str", Data::Text(texts))
}

/// The one array that such a file is.
pub(crate) fn list(bytes: &[u8]) -> Vec<ArrayInfo> {
    vec![ArrayInfo::new(None, &[lines(bytes).count()], "str")]
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    without_mark(bytes)
        .split_inclusive(|&b| b == b'\n')
        .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<String> {
        match read(bytes).unwrap().into_data() {
            Data::Text(texts) => texts,
            other => panic!("no text: {other:?}"),
        }
    }

    #[test]
    fn the_last_line_needs_no_end_and_an_end_begins_no_line() {
        assert_eq!(texts(b"a\nb"), ["a", "b"]);
        assert_eq!(texts(b"a\nb\n"), ["a", "b"]);
        assert_eq!(texts(b"\n"), [""]);
    }

    #[test]
    fn blank_lines_are_rows_and_windows_ends_and_marks_are_no_text() {
        assert_eq!(texts(b"\xef\xbb\xbfa\r\n\r\n b \r\n"), ["a", "", " b "]);
        assert_eq!(list(b"\xef\xbb\xbfa\r\n\r\n b \r\n")[0].shape, [3]);
    }

    #[test]
    fn what_is_not_utf_8_is_named_by_line_and_byte() {
        // "naïve" in Latin-1.
        let error = read(b"plain\nna\xefve\n").unwrap_err().to_string();
        assert!(error.contains("line 2, at its byte 3 (ef)"), "{error}");
    }

    #[test]
    fn a_byte_order_mark_alone_is_no_line() {
        assert!(read(b"\xef\xbb\xbf").unwrap_err().to_string().contains("no line"));
    }
}
