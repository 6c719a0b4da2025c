// SPDX-License-Identifier: MIT
//! The definition of each metric that occurs, from its own page.

use super::safe::escape;
use crate::scores::sorted;
use crate::table::html::described;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use repscope_core::metrics::Output;
use repscope_core::{METRICS, Metric, Results, metrics};

pub(super) fn section(results: &Results) -> String {
    let ids = results.scores.iter().map(|score| &score.metric);
    let ids = ids.chain(results.breakdowns.iter().map(|breakdown| &breakdown.metric));
    let used = sorted(ids.filter_map(|id| metrics::find(id)).map(|(metric, _)| metric.id));
    let used = METRICS.iter().filter(|metric| used.contains(&metric.id));
    let cards: String = used.map(|metric| card(metric)).collect();
    match cards.as_str() {
        "" => cards,
        _ => format!(
            "<p>What each number is, how it was computed, and how to read it.</p>\n<div class=\"cards\">\n{cards}</div>\n"
        ),
    }
}

fn card(metric: &Metric) -> String {
    let output = |output: &Output| {
        let [id, about, range] = [output.id, output.about, output.range].map(escape);
        let direction = described(output.better);
        format!("<dt><code>{id}</code></dt><dd>{about}; {direction}; range: {range}</dd>\n")
    };
    let outputs: String = metric.outputs.iter().map(output).collect();
    // The target of links is inside: a browser then opens the card by itself.
    format!(
        "<details class=\"card\">\n<summary><h3>{} <code>{}</code></h3></summary>\n\
         <div id=\"about-{}\" class=\"about\">\n<dl>\n{outputs}</dl>\n{}</div>\n</details>\n",
        escape(metric.title),
        escape(metric.id),
        metric.id,
        markdown(&metric.definition())
    )
}

/// A page below a heading of level 3. Its own title is left out, and markup in it is text.
fn markdown(page: &str) -> String {
    let mut is_title = false;
    let events = Parser::new_ext(page, Options::ENABLE_TABLES).filter_map(|event| {
        match &event {
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1,
                ..
            }) => is_title = true,
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => {
                is_title = false;
                return None;
            }
            _ => {}
        }
        match event {
            _ if is_title => None,
            Event::Start(Tag::Heading {
                level,
                id,
                classes,
                attrs,
            }) => {
                let level = lowered(level);
                Some(Event::Start(Tag::Heading {
                    level,
                    id,
                    classes,
                    attrs,
                }))
            }
            Event::End(TagEnd::Heading(level)) => Some(Event::End(TagEnd::Heading(lowered(level)))),
            Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
            other => Some(other),
        }
    });
    let mut text = String::new();
    html::push_html(&mut text, events);
    text
}

fn lowered(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 | HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_html_without_its_title() {
        let page = "# T\n\nA *b*.\n\n## Formula\n\n    x < 1 & y\n\n- one <script>alert(1)</script>\n\n| a |\n|---|\n| 1 |\n\n<script>\n";
        let html = markdown(page);
        assert!(
            html.starts_with("<p>A <em>b</em>.</p>\n<h4>Formula</h4>\n<pre><code>x &lt; 1 &amp; y\n</code></pre>"),
            "{html}"
        );
        assert!(html.contains("<td>1</td>") && !html.contains("<script"), "{html}");
    }

    #[test]
    fn every_page_can_be_set() {
        for metric in METRICS {
            let html = markdown(&metric.definition());
            assert!(
                html.contains("<h4>Formula</h4>") && html.contains("<pre><code>"),
                "{}",
                metric.id
            );
            assert!(
                !html.contains("<h1") && !html.contains("<h2") && !html.contains("<h3"),
                "{}",
                metric.id
            );
        }
    }
}
