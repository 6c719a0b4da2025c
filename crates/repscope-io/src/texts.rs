// SPDX-License-Identifier: MIT
//! Texts for an encoder: one per row, from any file that holds some.

use crate::array::{Array, Data, Object, Shape};
use crate::error::{Parsed, Result, bail};
use crate::path::InputPath;
use crate::read::read_array;

/// Reads one text per row: the lines of a `.txt`, a field as `file.jsonl#field`, a column as `file.csv#column`, or any
/// array of strings. An empty text is a text.
pub fn read_texts(input: &InputPath) -> Result<Vec<String>> {
    texts(read_array(input)?).map_err(|p| p.in_file(input))
}

fn texts(array: Array) -> Parsed<Vec<String>> {
    match array.shape() {
        [_] | [_, 1] => {}
        shape => bail!(
            "has shape {}; texts are one per row, shape ({},)",
            Shape(shape),
            shape[0]
        ),
    }
    let dtype = array.dtype().to_string();
    match array.into_data() {
        Data::Text(texts) => Ok(texts),
        Data::Mixed(objects) => {
            let text = |(row, object)| match object {
                Object::Text(text) => Ok(text),
                other => bail!("holds {other:?} at row {row} (counted from 0), not text; fill or remove such rows"),
            };
            objects.into_iter().enumerate().map(text).collect()
        }
        _ => bail!("holds {dtype}, not text; give a .txt file, or a column or field of text with #name"),
    }
}
