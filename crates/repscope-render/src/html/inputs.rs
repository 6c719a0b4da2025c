// SPDX-License-Identifier: MIT
//! What the numbers come from: files, options, versions.

use super::Page;
use super::safe::escape;
use super::table::{Cell, Column, Row, Table};
use serde_json::Value;

pub(super) fn section(page: &Page) -> String {
    let mut html = String::new();
    if !page.inputs.is_empty() {
        html += &format!("<h3>Files</h3>\n{}", files(page).render());
    }
    let mut options = Vec::new();
    flatten("", page.spec, &mut options);
    if !options.is_empty() {
        let rows = options.iter().map(|(name, value)| Row {
            cells: vec![
                Cell::html(format!("<code>{}</code>", escape(name))),
                Cell::html(format!("<code>{}</code>", escape(value))),
            ],
            models: Vec::new(),
        });
        let table = Table {
            caption: "Options".to_string(),
            columns: vec![Column::text("option"), Column::text("value")],
            rows: rows.collect(),
            class: "options",
            ..Table::default()
        };
        html += &format!(
            "<h3>Options</h3>\n<p>As they were resolved; the same options, inputs and version give the same numbers.</p>\n{}",
            table.render()
        );
    }
    html += &format!("<h3>Version</h3>\n<p>repscope {}</p>\n", escape(page.version));
    html
}

fn files(page: &Page) -> Table {
    let code = |text: &str| Cell::html(format!("<code>{}</code>", escape(text)));
    let rows = page.inputs.iter().map(|input| Row {
        cells: vec![
            Cell::html(if input.about.is_empty() {
                format!("<code>{}</code>", escape(&input.path))
            } else {
                format!("<code>{}</code><p>{}</p>", escape(&input.path), escape(&input.about))
            }),
            Cell::html(escape(&input.shape)),
            Cell::html(escape(&input.dtype)),
            Cell {
                class: "digest",
                ..code(&input.digest)
            },
        ],
        models: Vec::new(),
    });
    Table {
        caption: "Files".to_string(),
        columns: vec![
            Column::text("file"),
            Column::text("shape"),
            Column::text("type"),
            Column::text("digest"),
        ],
        rows: rows.collect(),
        class: "files",
        ..Table::default()
    }
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
