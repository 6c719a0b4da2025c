// SPDX-License-Identifier: MIT
//! Text that cannot become markup.

use crate::text::printable;

/// Text as HTML, between tags or inside quotes. Control characters are shown as unreadable.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// A metric's identity, with places where a narrow column may break it.
pub(crate) fn breakable(id: &str) -> String {
    let mut text = escape(id);
    for mark in [".", "@", "(", "_"] {
        text = text.replace(mark, &format!("<wbr>{mark}"));
    }
    text
}

/// JSON that can stand in a script element: nothing in it closes the element.
pub(crate) fn json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// The attribute by which the script finds what belongs to a model; figures use the same name.
pub(crate) fn of_model(name: &str) -> String {
    format!(" data-model=\"{}\"", escape(name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(
            escape("<b a='1' c=\"2\">&\u{7}"),
            "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;\u{fffd}"
        );
        let text = json(&serde_json::json!({"name": "</script><!--"}));
        assert_eq!(text, r#"{"name":"\u003c/script>\u003c!--"}"#);
    }
}
