// SPDX-License-Identifier: MIT
//! Warnings, above everything else.

use super::safe::escape;
use repscope_core::Results;

/// More warnings than this are folded away.
const MOST_OPEN: usize = 4;

pub(super) fn note(results: &Results) -> String {
    let items: String = results
        .warnings
        .iter()
        .map(|w| format!("<li>{}</li>\n", escape(w)))
        .collect();
    let title = match results.warnings.len() {
        0 => return String::new(),
        1 => "1 warning".to_string(),
        count => format!("{count} warnings"),
    };
    let open = if results.warnings.len() <= MOST_OPEN {
        " open"
    } else {
        ""
    };
    format!("<details class=\"warnings\"{open}>\n<summary>{title}</summary>\n<ul>\n{items}</ul>\n</details>\n")
}
