// SPDX-License-Identifier: MIT
//! The report page as text: its structure, what it escapes, how large it is.

use crate::evaluated::{MODELS, PIXEL, number, page_of, page_with, results};
use repscope_core::{Better, ClassColumn, Difference, Results, SampleTable, Score};
use repscope_render::worst_samples;
use std::collections::{BTreeMap, BTreeSet};

/// A tag of the page with its attributes.
struct Tag {
    name: String,
    attributes: String,
    is_end: bool,
}

impl Tag {
    fn attribute(&self, name: &str) -> Option<&str> {
        let from = self.attributes.find(&format!(" {name}=\""))? + name.len() + 3;
        self.attributes[from..].split('"').next()
    }
}

/// All tags, in order. Scripts and styles hold none.
fn tags(html: &str) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("every < opens a tag");
        let text = &rest[..end];
        let name_end = text.find([' ', '\n', '/']).filter(|at| *at > 0).unwrap_or(text.len());
        let is_end = text.starts_with('/');
        let name = if is_end { &text[1..] } else { &text[..name_end] };
        let is_empty = text.ends_with('/');
        rest = &rest[end + 1..];
        tags.push(Tag {
            name: name.to_string(),
            attributes: if is_end {
                String::new()
            } else {
                format!(" {}", text[name_end..].trim())
            },
            is_end,
        });
        if is_empty && !is_end {
            tags.push(Tag {
                name: name.to_string(),
                attributes: String::new(),
                is_end: true,
            });
        } else if ["script", "style"].contains(&name) && !is_end {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("it is closed")..];
        }
    }
    tags
}

#[test]
fn every_element_is_closed_in_its_order() {
    const EMPTY: [&str; 8] = ["!doctype", "meta", "input", "br", "wbr", "hr", "img", "link"];
    let mut open: Vec<String> = Vec::new();
    for tag in tags(&page_of(&results())) {
        if EMPTY.contains(&tag.name.as_str()) {
            continue;
        }
        if tag.is_end {
            assert_eq!(open.pop().as_deref(), Some(tag.name.as_str()), "open: {open:?}");
        } else {
            open.push(tag.name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn names_stay_text_wherever_they_stand() {
    let html = page_of(&results());
    let scripts = tags(&html)
        .iter()
        .filter(|tag| tag.name == "script" && !tag.is_end)
        .count();
    assert_eq!(scripts, 2, "the data of the maps and the script of the page");
    assert!(!html.contains("<script>window.broken") && html.contains("&lt;script&gt;window.broken = 1&lt;/script&gt;"));
    assert!(!html.contains("<b>cat") && html.contains("&lt;b&gt;cat&lt;/b&gt;"));
    assert!(html.contains("<title>Test of &lt;pages&gt;</title>"));
    assert!(html.contains("watch &lt;out&gt; &amp; about"));
    for tag in tags(&html) {
        let handlers = tag
            .attributes
            .split(' ')
            .filter(|a| a.starts_with("on") && a.contains('='));
        assert_eq!(handlers.count(), 0, "{} {}", tag.name, tag.attributes);
    }
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let html = page_of(&results());
    for tag in tags(&html) {
        for name in ["src", "href", "data", "action", "poster", "srcset"] {
            let address = tag.attribute(name).unwrap_or("#");
            assert!(address.starts_with('#'), "{} {name}={address}", tag.name);
        }
        assert!(!["link", "iframe", "object", "embed", "base"].contains(&tag.name.as_str()));
    }
    let outside = html
        .match_indices("url(")
        .filter(|(at, _)| !html[at + 4..].starts_with(['#', 'd']));
    assert_eq!(outside.count(), 0);
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn ids_are_unique_and_links_lead_somewhere() {
    let html = page_of(&results());
    let tags = tags(&html);
    let ids: Vec<&str> = tags.iter().filter_map(|tag| tag.attribute("id")).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an id stands twice");
    for name in ["href", "aria-labelledby", "aria-describedby"] {
        for target in tags.iter().filter_map(|tag| tag.attribute(name)) {
            assert!(unique.contains(target.trim_start_matches('#')), "{name}={target}");
        }
    }
}

#[test]
fn headings_never_skip_a_level_and_tables_name_their_cells() {
    let html = page_of(&results());
    let tags = tags(&html);
    let mut last = 0;
    for tag in tags.iter().filter(|tag| !tag.is_end) {
        let level = tag.name.strip_prefix('h').and_then(|level| level.parse::<usize>().ok());
        if let Some(level) = level {
            assert!(level <= last + 1, "h{level} after h{last}");
            last = level;
        }
    }
    assert_eq!(tags.iter().filter(|tag| tag.name == "h1" && !tag.is_end).count(), 1);
    for landmark in ["main", "nav", "header", "footer", "aside"] {
        assert_eq!(
            tags.iter().filter(|tag| tag.name == landmark && !tag.is_end).count(),
            1,
            "{landmark}"
        );
    }
    let data = html.split("<table class=\"data").skip(1);
    for table in data {
        let table = table.split("</table>").next().expect("a table ends");
        assert!(table.contains("<caption"), "{table}");
        assert_eq!(table.matches("<th ").count(), table.matches("<th scope=").count());
        assert!(!table.contains("<th>"));
    }
}

#[test]
fn every_analysis_figure_and_definition_is_there() {
    let results = results();
    let html = page_of(&results);
    for heading in ["Smoothness", "Neighborhood", "Manifold", "Geometry", "RankMe", "CLID"] {
        assert!(html.contains(&format!("<h3>{heading}</h3>")), "{heading}");
    }
    for score in &results.scores {
        let (metric, _) = repscope_core::metrics::find(&score.metric).expect("a declared metric");
        assert!(html.contains(&format!("id=\"about-{}\"", metric.id)), "{}", metric.id);
    }
    for figure in repscope_render::figures(&results, "evaluate") {
        let name = figure.path.rsplit('/').next().unwrap_or("").to_string();
        let is_shown = html.contains(&format!("data-name=\"{name}\""));
        assert_eq!(is_shown, !figure.path.starts_with("map/"), "{name}");
    }
    assert_eq!(html.matches("data-map=").count(), MODELS.len());
    for text in [
        "Worst samples",
        "0123abcd",
        "100 × 8",
        "train_share",
        "repscope 1.2.3",
        "clid.cl",
    ] {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn one_drawing_serves_light_and_dark() {
    let html = page_of(&results());
    assert!(!html.contains("class=\"in-dark\""), "a figure is drawn twice");
    // All figures, and as many colors for dark as for light.
    assert!(html.contains("fill=\"var(--k0)\""));
    assert_eq!(html.matches("--k0:#").count(), 3);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let results = results();
    assert_eq!(page_of(&results), page_of(&results));
}

fn score(model: &str, value: f64) -> Score {
    Score {
        model: model.to_string(),
        ..Score::number("trustworthiness@10", value, 50)
    }
}

fn difference(a: &str, b: &str, winner: Option<&str>) -> Difference {
    Difference {
        interval: Some([0.05, 0.15]),
        p: Some(1e-9),
        p_adjusted: Some(0.004),
        is_paired: true,
        unit: Some("rows".to_string()),
        units: 50,
        method: Some("paired over units, Student t".to_string()),
        winner: winner.map(str::to_string),
        ..Difference::new("trustworthiness@10", [a, b], 0.1, Better::Higher, 0.95)
    }
}

#[test]
fn the_best_is_marked_only_where_it_beats_every_other_model() {
    let scores = vec![score("a", 0.9), score("b", 0.8), score("c", 0.7)];
    let marked = |winners: [Option<&str>; 3]| {
        let results = Results {
            scores: scores.clone(),
            differences: vec![
                difference("a", "b", winners[0]),
                difference("a", "c", winners[1]),
                difference("b", "c", winners[2]),
            ],
            ..Results::default()
        };
        page_of(&results).matches("<td class=\"num best\"").count()
    };
    assert_eq!(marked([Some("a"), Some("a"), None]), 1);
    assert_eq!(marked([Some("a"), None, Some("b")]), 0);
    assert_eq!(marked([None, None, None]), 0);
}

#[test]
fn adjusted_p_values_and_winners_are_listed() {
    let results = Results {
        scores: vec![score("a", 0.9), score("b", 0.8)],
        differences: vec![difference("a", "b", Some("a"))],
        ..Results::default()
    };
    let html = page_of(&results);
    assert!(html.contains("&lt;0.0001</td><td class=\"num\" data-v=\"4e-3\">0.0040</td><td class=\"best\"><span"));
    assert!(html.contains("</span>a</td>"));
    assert!(html.contains("<p>a keeps the neighborhoods of the inputs best: trustworthiness@10 0.9 against 0.8 (b)"));
    let places = ["id=\"verdict\"", "id=\"scores\"", "id=\"differences\""].map(|id| html.find(id).expect(id));
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn a_missing_value_is_a_dash_with_its_reason_in_sight() {
    let mut missing = Score::undefined("nmi", "needs labels; give --labels <file>", 5);
    missing.model = "m".to_string();
    let results = Results {
        scores: vec![missing],
        ..Results::default()
    };
    let html = page_of(&results);
    assert!(html.contains("title=\"needs labels; give --labels &lt;file&gt;\">—</span>"));
    assert!(html.contains("<li>— nmi: needs labels; give --labels &lt;file&gt;</li>"));
}

#[test]
fn many_models_stand_in_rows_and_few_in_columns() {
    let of = |count: usize| {
        let scores = (0..count).map(|i| score(&format!("model {i}"), number(i)));
        page_of(&Results {
            scores: scores.collect(),
            ..Results::default()
        })
    };
    for (count, by_model) in [(1, false), (2, false), (3, true), (12, true)] {
        let html = of(count);
        assert_eq!(
            html.contains("class=\"data scores by-model\""),
            by_model,
            "{count} models"
        );
        assert_eq!(
            html.contains("class=\"data scores by-metric\""),
            !by_model,
            "{count} models"
        );
        assert_eq!(
            html.matches("data-v=\"5e1\"").count(),
            usize::from(!by_model),
            "{count} models"
        );
    }
}

#[test]
fn empty_results_are_a_page() {
    let html = page_of(&Results::default());
    assert!(html.contains("<h1>Test of &lt;pages&gt;</h1>") && html.contains("<h2 id=\"inputs-title\">"));
    assert!(!html.contains("id=\"summary\"") && !html.contains("id=\"maps\""));
}

#[test]
fn ten_thousand_samples_of_four_models_fit_in_five_megabytes() {
    const ROWS: usize = 10_000;
    let column = |name: &str, seed: usize| {
        (
            name.to_string(),
            (0..ROWS).map(|i| Some(number(i * 7 + seed))).collect(),
        )
    };
    let mut results = Results {
        classes: vec![ClassColumn {
            name: "labels".to_string(),
            names: (0..10).map(|i| format!("class {i}")).collect(),
            codes: (0..ROWS).map(|i| i as u32 % 10).collect(),
        }],
        ..Results::default()
    };
    for (m, model) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let tables = [
            (
                "map",
                vec![
                    column("x", m),
                    column("y", m + 1),
                    column("tsne_x", m + 7),
                    column("tsne_y", m + 8),
                ],
            ),
            ("trustworthiness", vec![column("trustworthiness@10", m + 2)]),
            ("continuity", vec![column("continuity@10", m + 3)]),
            ("silhouette", vec![column("silhouette", m + 4)]),
            (
                "smoothness",
                vec![
                    column("input_distance", m),
                    column("latent_distance", m + 5),
                    column("ratio", m + 6),
                ],
            ),
        ];
        results.samples.extend(tables.map(|(metric, columns)| SampleTable {
            model: model.to_string(),
            metric: metric.into(),
            columns,
        }));
        let slope = Score::number("smoothness.slope", 1.0, ROWS);
        results.scores.push(Score {
            model: model.to_string(),
            ..slope
        });
        results.scores.push(score(model, 0.9));
    }
    let html = page_of(&results);
    assert!(html.contains("data-map=\"3\"") && html.contains("smoothness_comparison"));
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
}

#[test]
fn worst_samples_are_seen_where_inputs_are_pictures() {
    let html = page_of(&results());
    let labels = tags(&html)
        .into_iter()
        .filter_map(|tag| tag.attribute("aria-label").map(str::to_string));
    let shown: BTreeSet<String> = labels.filter(|label| label.starts_with("input of row")).collect();
    let rows = worst_samples(&results());
    assert!(!rows.is_empty());
    assert_eq!(shown, rows.iter().map(|row| format!("input of row {row}")).collect());
    // Each picture is on the page once, however many models it is listed for.
    assert_eq!(html.matches(PIXEL).count(), rows.len());
    // What is not base64 becomes no address.
    let broken = rows
        .into_iter()
        .map(|row| (row, "x); } </style><script>".to_string()))
        .collect();
    assert!(!page_with(&results(), &broken).contains("x); }"));
}

#[test]
fn retrievals_are_not_counted_as_models() {
    let mut all = results();
    assert!(page_of(&all).contains("<p class=\"facts\">3 models · 100 samples"));
    let mut score = score("texts to pictures", 0.5);
    score.metric = "label_precision@5".into();
    all.scores.push(score);
    assert!(page_of(&all).contains("<p class=\"facts\">3 models · 1 retrieval · 100 samples"));
}

/// The colors of a theme by their names.
fn palette(css: &str, theme: &str) -> BTreeMap<String, [f64; 3]> {
    let block = css
        .split(theme)
        .nth(1)
        .and_then(|rest| rest.split('}').next())
        .expect("a theme");
    let color = |text: &str| {
        let (name, value) = text.trim().strip_prefix("--")?.split_once(": #")?;
        let channel = |at: usize| u8::from_str_radix(value.get(at..at + 2)?, 16).ok().map(f64::from);
        Some((name.to_string(), [channel(0)?, channel(2)?, channel(4)?]))
    };
    block.split(';').filter_map(color).collect()
}

/// The contrast ratio of WCAG 2.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let linear = |c: f64| match c / 255.0 {
        c if c <= 0.04045 => c / 12.92,
        c => ((c + 0.055) / 1.055).powf(2.4),
    };
    let luminance = |[r, g, b]: [f64; 3]| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn colors_of_text_and_controls_have_the_contrast_of_level_aa() {
    assert!((contrast([0.0; 3], [255.0; 3]) - 21.0).abs() < 1e-9);
    let html = page_of(&results());
    // Text, and the arrows of sorting, which are quiet until they are used; on paper, sheets, marks and alarms.
    let pairs = [
        ("ink", "paper"),
        ("muted", "paper"),
        ("link", "paper"),
        ("ink", "sheet"),
        ("muted", "sheet"),
        ("mark-ink", "mark"),
        ("ink", "warn"),
        ("ink", "low"),
        ("link", "warn"),
        ("paper", "ink"),
    ];
    for theme in [":root {", ":root:not([data-theme=light]) {", ":root[data-theme=dark] {"] {
        let colors = palette(&html, theme);
        for (text, ground) in pairs {
            let ratio = contrast(colors[text], colors[ground]);
            assert!(ratio >= 4.5, "{theme} {text} on {ground}: {ratio:.2}");
        }
    }
    for rule in [
        "button.sort { border: 0; background: none; padding: 0 .1rem; margin-left: .2rem; color: var(--muted)",
        "border: 1px solid var(--muted)",
    ] {
        assert!(html.contains(rule), "{rule}");
    }
}
