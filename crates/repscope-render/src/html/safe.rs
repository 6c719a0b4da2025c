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

/// Sentences as HTML: an interval such as `[3.25e-4, 3.91e-4]` and an equation such as `n = 1024` stay on one line.
pub(crate) fn prose(text: &str) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some(from) = rest.find('[') {
        let end = rest[from..].find(']').map(|length| from + length + 1);
        let is_interval = |inner: &str| inner.contains(',') && inner.chars().all(|c| "0123456789.,eE+-−∞ ".contains(c));
        let Some(end) = end.filter(|end| is_interval(&rest[from + 1..end - 1])) else {
            html += &equations(&rest[..=from]);
            rest = &rest[from + 1..];
            continue;
        };
        html += &equations(&rest[..from]);
        html += &format!("<span class=\"whole\">{}</span>", escape(&rest[from..end]));
        rest = &rest[end..];
    }
    html + &equations(rest)
}

/// Text as HTML with blanks that do not break around equality signs and comparisons.
fn equations(text: &str) -> String {
    let mut safe = escape(text);
    for sign in ["=", "≤", "≥", "&lt;", "&gt;", "±"] {
        safe = safe.replace(&format!(" {sign} "), &format!("\u{a0}{sign}\u{a0}"));
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
    fn intervals_and_equations_stay_on_one_line() {
        assert_eq!(
            prose("b - a = 3.5e-4 [3.25e-4, 3.91e-4], n = 1024, p < 0.001"),
            "b - a\u{a0}=\u{a0}3.5e-4 <span class=\"whole\">[3.25e-4, 3.91e-4]</span>, n\u{a0}=\u{a0}1024, p\u{a0}&lt;\u{a0}0.001"
        );
        assert_eq!(prose("[<b>, x] of [0, 1"), "[&lt;b&gt;, x] of [0, 1");
    }

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
