// SPDX-License-Identifier: MIT
//! What the numbers come from: files, options, versions.

use super::Page;
use super::models::Models;
use super::safe::escape;
use crate::table::html::numbers;
use crate::table::{Cell, Column, Table};
use serde_json::Value;

pub(super) fn section(page: &Page, models: &Models) -> String {
    let mut html = String::new();
    if !page.inputs.is_empty() {
        html += &format!("<h3>Files</h3>\n{}", numbers(&files(page), models));
    }
    let mut options = Vec::new();
    flatten("", page.spec, &mut options);
    if !options.is_empty() {
        let mut table = Table::new("Options", "options");
        table.columns = ["option", "value"].map(Column::text).to_vec();
        for (name, value) in options {
            table.push(vec![Cell::code(name), Cell::code(value)]);
        }
        html += &format!(
            "<h3>Options</h3>\n<p>As they were resolved; the same options, inputs and version give the same numbers.</p>\n{}",
            numbers(&table, models)
        );
    }
    html += &format!("<h3>Version</h3>\n<p>repscope {}</p>\n", escape(page.version));
    html
}

fn files(page: &Page) -> Table {
    let mut table = Table::new("Files", "files");
    table.columns = ["file", "shape", "type", "digest"].map(Column::text).to_vec();
    for input in page.inputs {
        let file = Cell {
            about: input.about.clone(),
            ..Cell::code(&input.path)
        };
        table.push(vec![
            file,
            Cell::text(&input.shape),
            Cell::text(&input.dtype),
            Cell::code(&input.digest),
        ]);
    }
    table
}

/// Nested options under names with dots.
fn flatten(name: &str, value: &Value, options: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let name = if name.is_empty() {
                    field.clone()
                } else {
                    format!("{name}.{field}")
                };
                flatten(&name, value, options);
            }
        }
        Value::Null if name.is_empty() => {}
        Value::Null => options.push((name.to_string(), "none".to_string())),
        Value::String(text) => options.push((name.to_string(), text.clone())),
        other => options.push((name.to_string(), other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_options_have_names_with_dots() {
        let spec = serde_json::json!({"seed": 0, "clid": {"k": [1, 2], "norm": "dim"}, "sample": null});
        let mut options = Vec::new();
        flatten("", &spec, &mut options);
        let text: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(text, ["clid.k=[1,2]", "clid.norm=dim", "sample=none", "seed=0"]);
    }
}
