// SPDX-License-Identifier: MIT
//! Figures under their headings, with their descriptions and a way to save them.

use super::colors::Ink;
use super::drawing::drawing;
use super::safe::escape;
use super::{Page, map};

/// The section, and the colors its figures use.
pub(super) fn section(page: &Page) -> (String, Ink) {
    let mut ink = Ink::default();
    let mut html = String::new();
    // Maps have a section of their own, where they can be moved and recolored.
    let has_maps = map::has_maps(page.results);
    let figures = page
        .figures
        .iter()
        .filter(|named| !(has_maps && named.path.starts_with("map/")));
    for (i, named) in figures.enumerate() {
        let name = named.path.rsplit('/').next().unwrap_or(&named.path);
        let title = match named.figure.title.as_str() {
            "" => readable(name),
            title => title.to_string(),
        };
        let words = match named.figure.description.as_str() {
            "" => String::new(),
            words => format!(
                "<details class=\"words\"><summary>In words</summary><p id=\"figure{i}-words\">{}</p></details>\n",
                escape(words)
            ),
        };
        html += &format!(
            "<figure class=\"drawing\" data-name=\"{}\">\n<div class=\"bar\"><h3 id=\"figure{i}\">{}</h3>\
             <button type=\"button\" class=\"save\" hidden>Save as SVG</button></div>\n\
             <div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{}</div>\n\
             <figcaption>{words}</figcaption>\n</figure>\n",
            escape(name),
            escape(&title),
            escape(&title),
            drawing(&named.figure, i, &mut ink),
        );
    }
    (html, ink)
}

/// `smoothness_comparison` as a heading: `Smoothness comparison`.
fn readable(name: &str) -> String {
    let name = name
        .replace('_', " ")
        .replace("rankme", "RankMe")
        .replace("clid", "CLID");
    let mut letters = name.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_become_headings() {
        assert_eq!(readable("smoothness_comparison"), "Smoothness comparison");
        assert_eq!(readable(""), "");
    }
}
