// SPDX-License-Identifier: MIT
//! Figures that break layouts: no text may touch another or leave the figure, whatever the names, numbers and widths.

use crate::layout::{Drawing, draw};
use crate::svg::Rect;
use crate::*;

pub(crate) const KINDS: usize = 17;

fn name(index: usize, length: usize) -> String {
    let stem = "vit_large_patch14_dinov2.lvd142m-seed-and-a-name-that-goes-on-and-on-and-on";
    format!("{}{index}", &stem[..length.min(stem.len())])
}

/// Numbers without order, from −1 to 1.
fn wave(i: usize) -> f64 {
    (12.9898 * i as f64).sin()
}

/// A panel of each kind for so many models.
fn panel(kind: usize, models: usize, length: usize, size: f64) -> Panel {
    let value = |m: usize| size * (1.2 + wave(m));
    let each = |f: &dyn Fn(usize) -> Measured| {
        (0..models)
            .map(|series| BarRow {
                series,
                bars: vec![f(series)],
            })
            .collect::<Vec<_>>()
    };
    let signed = |m: usize| Measured {
        value: (m != 2).then(|| size * wave(m)),
        interval: Some((size * (wave(m) - 0.1), size * (wave(m) + 0.1))),
    };
    let names = |n: usize| (0..n).map(|i| name(i, length)).collect::<Vec<_>>();
    let reference = |at| Reference {
        at,
        label: "a level to compare with, by a name that is long".into(),
        series: None,
    };
    let points = |m: usize, n: usize| (0..n).map(|i| [value(i), value(i + m)]).collect::<Vec<_>>();
    let content: Content = match kind {
        0 => Bars {
            axis: Axis::linear("score"),
            rows: each(&signed),
            ..Bars::default()
        }
        .into(),
        1 => Bars {
            axis: Axis::log("ratio of the largest to the smallest"),
            rows: each(&|m| Measured {
                value: Some(10f64.powi(m as i32 - 6)),
                interval: None,
            }),
            references: vec![reference(ReferenceAt::Horizontal(1.0))],
            ..Bars::default()
        }
        .into(),
        2 => Bars {
            axis: Axis::linear("score").covering(&[0.0, size]),
            orientation: Orientation::Horizontal,
            categories: names(7),
            rows: (0..models)
                .map(|series| BarRow {
                    series,
                    bars: (0..7).map(signed).collect(),
                })
                .collect(),
            chance: vec![Some(0.1 * size)],
            ..Bars::default()
        }
        .into(),
        3 => Bars {
            axis: Axis::linear("score"),
            categories: ["5", "10", "20"].map(String::from).to_vec(),
            category_label: "neighbors".into(),
            rows: (0..models)
                .map(|series| BarRow {
                    series,
                    bars: (0..3).map(|k| signed(series + k)).collect(),
                })
                .collect(),
            ..Bars::default()
        }
        .into(),
        4 => Boxes {
            axis: Axis::log("ratio"),
            rows: (0..models)
                .map(|series| BoxRow {
                    series,
                    boxes: vec![BoxSummary::of(
                        &(0..40)
                            .map(|i| value(i) * 10f64.powi(series as i32 / 2))
                            .collect::<Vec<_>>(),
                    )],
                })
                .collect(),
            ..Boxes::default()
        }
        .into(),
        5 => Boxes {
            axis: Axis::linear("distance"),
            orientation: Orientation::Horizontal,
            rows: (0..models)
                .map(|series| BoxRow {
                    series,
                    boxes: vec![
                        (series != 1)
                            .then(|| BoxSummary::of(&[value(series), value(3)]))
                            .flatten(),
                    ],
                })
                .collect(),
            ..Boxes::default()
        }
        .into(),
        6 => Scatter {
            x: Axis::linear("distance of pixels in units that take a long label to explain"),
            y: Axis::linear("distance of embeddings in units that take a long label to explain"),
            clouds: (0..models)
                .map(|series| Cloud {
                    series,
                    points: points(series, 30),
                })
                .collect(),
            fits: (0..models)
                .map(|series| Fit {
                    series,
                    slope: 0.3,
                    intercept: 0.0,
                    label: format!("slope {}, R² = 0.78", number(size)),
                })
                .collect(),
            references: vec![reference(ReferenceAt::Diagonal)],
        }
        .into(),
        7 => Lines {
            x: Axis::log("index"),
            y: Axis::log("eigenvalue"),
            curves: (0..models)
                .map(|series| Curve {
                    series,
                    points: (0..100)
                        .map(|i| CurvePoint {
                            x: i as f64,
                            y: (i % 17 != 3).then(|| value(i)),
                            band: Some((0.0, 2.0 * value(i))),
                        })
                        .collect(),
                    ..Curve::default()
                })
                .collect(),
            ..Lines::default()
        }
        .into(),
        8 => Heatmap {
            rows: names(4 * models),
            columns: names(4 * models),
            row_label: "true class".into(),
            column_label: "retrieved class".into(),
            values: (0..4 * models)
                .map(|r| (0..4 * models).map(|c| (r != c + 1).then(|| value(r + c))).collect())
                .collect(),
            value_label: "share of the row".into(),
            decimals: 2,
            ..Heatmap::default()
        }
        .into(),
        9 => Shares {
            names: names(models),
            parts: ["low", "middle", "high", "a part with a long name of its own"]
                .map(String::from)
                .to_vec(),
            values: (0..models)
                .map(|m| (0..4).map(|p| (m != 3).then(|| 1.01 + wave(m + p))).collect())
                .collect(),
        }
        .into(),
        10 => Table {
            header: std::iter::once("metric".to_string()).chain(names(models)).collect(),
            rows: (0..5)
                .map(|r| {
                    let first = [Cell::from("a metric with a name")];
                    first
                        .into_iter()
                        .chain((0..models).map(|m| Cell::from(number(value(r + m)))))
                        .collect()
                })
                .collect(),
        }
        .into(),
        11 => Map {
            x_label: "PC 1".into(),
            y_label: "PC 2".into(),
            points: points(3, 90),
            colored_by: if length.is_multiple_of(2) {
                ColoredBy::Class {
                    names: names(3 * models),
                    of: (0..90).map(|i| Some(i % (3 * models))).collect(),
                }
            } else {
                ColoredBy::Value {
                    label: "local trustworthiness".into(),
                    of: (0..80).map(|i| Some(value(i))).collect(),
                    range: None,
                }
            },
        }
        .into(),
        12 => Histogram {
            x: Axis::linear("similarity of the two parts of a pair"),
            y: Axis::linear("share of pairs"),
            series: (0..models)
                .map(|series| {
                    let values: Vec<f64> = (0..60).map(|i| value(i * (series + 1))).collect();
                    let edges = bin_edges(&[&values]);
                    let heights = bin_shares(&edges, &values);
                    Bins {
                        series,
                        edges,
                        heights,
                        look: [BinsLook::Filled, BinsLook::Dashed][series % 2],
                    }
                })
                .collect(),
            references: vec![
                reference(ReferenceAt::Vertical(size)),
                reference(ReferenceAt::Horizontal(0.1)),
            ],
        }
        .into(),
        13 => Bars {
            axis: Axis::linear("share").covering(&[0.0, 1.0]),
            orientation: [Orientation::Vertical, Orientation::Horizontal][length % 2],
            categories: names(3),
            rows: (0..models)
                .map(|series| BarRow {
                    series,
                    bars: (0..3)
                        .map(|k| Measured {
                            value: Some(0.97 - 0.1 * wave(series + k).abs()),
                            interval: Some((0.85, 0.99)),
                        })
                        .collect(),
                })
                .collect(),
            chance: vec![Some(0.5)],
            ..Bars::default()
        }
        .into(),
        14 => Bars {
            axis: Axis::linear("score").covering(&[0.0, 1.0]),
            categories: names(2),
            rows: (0..models)
                .map(|series| BarRow {
                    series,
                    bars: (0..2).map(|k| signed(series + k)).collect(),
                })
                .collect(),
            chance: vec![Some(0.1)],
            along: Some(Along {
                label: "epoch".into(),
                at: (0..models).map(|m| 3.0 * m as f64).collect(),
            }),
            ..Bars::default()
        }
        .into(),
        15 => Lines {
            x: Axis::linear("neighbors"),
            y: Axis::linear("share"),
            curves: (0..models)
                .map(|series| Curve {
                    series,
                    // All end at nearly the same place, where their names must not.
                    points: (0..3)
                        .map(|i| CurvePoint {
                            x: i as f64,
                            y: Some(size * (0.97 + 0.001 * wave(series + i))),
                            band: None,
                        })
                        .collect(),
                    look: [CurveLook::Full, CurveLook::Faint][usize::from(series >= 4)],
                })
                .collect(),
            ..Lines::default()
        }
        .into(),
        _ => Images {
            columns: 4,
            images: (0..models)
                .map(|m| Image {
                    caption: name(m, length),
                    width: 2,
                    height: 2,
                    channels: Channels::Gray,
                    pixels: vec![0, 90, 180, 255],
                })
                .collect(),
        }
        .into(),
    };
    Panel::new("A title that may need more than a line", content)
        .note("A sentence below the panel, for what is missing.")
}

pub(crate) fn figure(
    models: usize,
    length: usize,
    size: f64,
    columns: usize,
    kinds: impl Iterator<Item = usize>,
) -> Figure {
    Figure {
        title: "Everything at once".into(),
        series: (0..models).map(|m| name(m, length)).collect(),
        columns,
        panels: kinds.map(|kind| panel(kind, models, length, size)).collect(),
        notes: vec!["A note below the figure.".into()],
        ..Figure::default()
    }
}

fn touch(a: &Rect, b: &Rect) -> bool {
    // Boxes are those of the tallest letters; a tenth of a point is below what anybody sees.
    let slack = 0.1;
    a.x + slack < b.right() && b.x + slack < a.right() && a.y + slack < b.bottom() && b.y + slack < a.bottom()
}

fn assert_texts_are_apart(figure: &Figure, style: &Style, case: &str) {
    let drawing = draw(figure, style);
    let (width, height) = drawing.size;
    for (index, (text, place)) in drawing.texts.iter().enumerate() {
        let inside = place.x >= 0.0 && place.y >= 0.0 && place.right() <= width && place.bottom() <= height;
        assert!(inside, "{case}: \"{text}\" at {place:?} leaves {width} × {height}");
        for (other, other_place) in &drawing.texts[index + 1..] {
            assert!(
                !touch(place, other_place),
                "{case}: \"{text}\" {place:?} touches \"{other}\" {other_place:?}"
            );
        }
    }
}

#[test]
fn texts_never_touch_and_never_leave_the_figure() {
    for models in 1..=12 {
        for length in [1, 9, 24, 39, 76] {
            for (width, columns) in [
                (Width::OneColumn, 2),
                (Width::OneColumn, 1),
                (Width::TwoColumns, 3),
                (Width::Millimeters(120.0), 2),
            ] {
                let size = [1.0, 1.15e-4, 6.4e6][(models + length) % 3];
                let style = Style {
                    width,
                    ..Style::default()
                };
                let case =
                    format!("{models} models, names of {length}, {width:?}, {columns} columns, values of {size}");
                assert_texts_are_apart(&figure(models, length, size, columns, 0..KINDS), &style, &case);
            }
        }
    }
}

#[test]
fn texts_stay_apart_at_every_size_of_letters() {
    for font_size in [5.0, 7.0, 9.0, 12.0] {
        for columns in [1, 2, 3, 4] {
            let style = Style {
                font_size,
                ..Style::default()
            };
            let case = format!("letters of {font_size}, {columns} columns");
            assert_texts_are_apart(&figure(5, 24, 1.0, columns, 0..KINDS), &style, &case);
        }
    }
}

#[test]
fn the_same_description_gives_the_same_bytes_on_any_thread() {
    let figure = figure(4, 24, 1.0, 3, 0..KINDS);
    let style = Style::default();
    let all = || {
        (
            to_svg(&figure, &style),
            to_png(&figure, &style).expect("PNG"),
            to_pdf(&figure, &style).expect("PDF"),
        )
    };
    let here = all();
    let there =
        std::thread::scope(|scope| [scope.spawn(all), scope.spawn(all)].map(|thread| thread.join().expect("no panic")));
    assert!(there.iter().all(|other| *other == here));
}

#[test]
fn the_svg_is_well_formed_whatever_the_names() {
    let mut figure = figure(3, 9, 1.0, 2, 0..KINDS);
    figure.series = vec!["<b>&\"quoted\"'".into(), "line\nend\u{0}\u{b}".into(), "模型 Ω".into()];
    figure.title = "]]> & <script>".into();
    let svg = to_svg(
        &figure,
        &Style {
            id_prefix: "a b\"<".into(),
            ..Style::default()
        },
    );
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let models: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.attribute("data-model"))
        .collect();
    assert!(models.contains(&"<b>&\"quoted\"'") && models.contains(&"模型 Ω"));
}

#[test]
fn ids_are_unique_and_every_reference_is_defined() {
    let svg = to_svg(
        &figure(12, 24, 1.0, 3, (0..KINDS).chain(0..KINDS)),
        &Style {
            id_prefix: "x7".into(),
            ..Style::default()
        },
    );
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let unique: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    assert!(ids.iter().all(|id| id.starts_with("x7-")));
    for node in document.descendants() {
        let target = node.attribute("href").and_then(|href| href.strip_prefix('#'));
        let fill = node
            .attribute("fill")
            .and_then(|fill| fill.strip_prefix("url(#"))
            .and_then(|id| id.strip_suffix(')'));
        for id in target.into_iter().chain(fill) {
            assert!(unique.contains(id), "nothing has the id {id}");
        }
    }
}

#[test]
fn a_png_has_300_pixels_per_inch_and_says_so() {
    let style = Style {
        width: Width::OneColumn,
        ..Style::default()
    };
    let png = to_png(&figure(2, 9, 1.0, 1, 0..2), &style).expect("PNG");
    let number = |at: usize| u32::from_be_bytes([png[at], png[at + 1], png[at + 2], png[at + 3]]);
    // 88 mm / 25.4 · 300 = 1039.4 pixels; 300 / 0.0254 = 11811 per meter.
    assert_eq!(number(16), 1039);
    assert_eq!(&png[37..41], b"pHYs");
    assert_eq!((number(41), number(45), png[49]), (11811, 11811, 1));
    assert!(resvg::tiny_skia::Pixmap::decode_png(&png).is_ok());
}

#[test]
fn missing_values_are_dashes_and_never_bars() {
    let values = [Some(0.5), None, Some(f64::NAN), Some(f64::INFINITY)];
    let rows = values.iter().enumerate().map(|(series, value)| BarRow {
        series,
        bars: vec![Measured {
            value: *value,
            interval: None,
        }],
    });
    let bars = Bars {
        axis: Axis::linear("score"),
        rows: rows.collect(),
        ..Bars::default()
    };
    let figure = Figure {
        series: (0..4).map(|m| name(m, 3)).collect(),
        panels: vec![Panel::new("", bars)],
        ..Figure::default()
    };
    let drawing = draw(&figure, &Style::default());
    assert_eq!(drawing.texts.iter().filter(|(text, _)| text == "–").count(), 3);
    let document = roxmltree::Document::parse(&drawing.svg).expect("well-formed XML");
    let bars = document
        .descendants()
        .filter(|node| node.has_tag_name("rect") && node.has_children())
        .count();
    assert_eq!(bars, 1);
}

#[test]
fn values_at_or_below_zero_are_left_out_of_a_log_axis_and_counted() {
    let points = vec![[1.0, 1.0], [10.0, 5.0], [0.0, 1.0], [2.0, -3.0], [f64::NAN, 1.0]];
    let scatter = Scatter {
        x: Axis::log("x"),
        y: Axis::log("y"),
        clouds: vec![Cloud { series: 0, points }],
        ..Scatter::default()
    };
    let figure = Figure {
        series: vec!["a".into()],
        panels: vec![Panel::new("", scatter)],
        ..Figure::default()
    };
    let svg = to_svg(&figure, &Style::default());
    assert!(svg.contains("3 values at or below zero or not finite are left out of the log axis."));
}

#[test]
fn panels_without_data_say_so() {
    let contents: [Content; 9] = [
        Scatter::default().into(),
        Lines::default().into(),
        Boxes::default().into(),
        Bars::default().into(),
        Histogram::default().into(),
        Heatmap::default().into(),
        Shares::default().into(),
        Map::default().into(),
        Table::default().into(),
    ];
    for content in contents {
        let figure = Figure {
            panels: vec![Panel::new("", content.clone())],
            ..Figure::default()
        };
        let drawing = draw(&figure, &Style::default());
        assert!(
            drawing.texts.iter().any(|(text, _)| text.contains("were given")),
            "{content:?}"
        );
    }
    assert!(to_pdf(&Figure::default(), &Style::default()).is_ok());
}

#[test]
fn a_hundred_thousand_points_stay_small_and_the_figure_says_so() {
    let points = (0..100_000).map(|i| [wave(i), wave(i + 7)]).collect();
    let scatter = Scatter {
        clouds: vec![Cloud { series: 0, points }],
        ..Scatter::default()
    };
    let figure = Figure {
        series: vec!["a".into()],
        panels: vec![Panel::new("", scatter)],
        ..Figure::default()
    };
    let svg = to_svg(&figure, &Style::default());
    assert!(svg.len() < 250_000, "{} bytes", svg.len());
    assert!(svg.contains("of 100,000 points are drawn"));
}

#[test]
fn a_panel_over_all_columns_is_as_high_as_one_of_a_column() {
    // Lines, boxes, bars and histograms.
    for kind in [0, 3, 4, 7, 12] {
        let panel = |kind| Panel {
            title: "a".into(),
            note: String::new(),
            ..panel(kind, 3, 1, 1.0)
        };
        let height = |panels: Vec<Panel>| {
            let figure = Figure {
                series: (0..3).map(|m| name(m, 1)).collect(),
                columns: 3,
                panels,
                legend: Legend::Hidden,
                ..Figure::default()
            };
            draw(&figure, &Style::default()).size.1
        };
        let three = height(vec![panel(kind), panel(kind), panel(kind)]);
        let one = height(vec![
            panel(kind).span(3),
            Panel::new("", Content::Text("x".into())),
            Panel::new("", Content::Text("x".into())),
        ]);
        let words = height(vec![Panel::new("", Content::Text("x".into())); 3]);
        // The row of words and the distance of rows (1.6 letters) come on top; keys may take a line less in a wide
        // cell.
        let beyond = one - words - 1.6 * 7.0 + 2.0 * 0.8 * 7.0;
        assert!(
            beyond <= three + 0.1 && beyond > 0.7 * three,
            "kind {kind}: {beyond} over all columns, {three} in one"
        );
    }
}

#[test]
fn chance_and_references_are_seen_on_dark_bars() {
    let bars = Bars {
        rows: vec![BarRow {
            series: 0,
            bars: vec![Measured {
                value: Some(0.9),
                interval: None,
            }],
        }],
        chance: vec![Some(0.1)],
        references: vec![Reference {
            at: ReferenceAt::Horizontal(0.5),
            label: String::new(),
            series: None,
        }],
        ..Bars::default()
    };
    let figure = Figure {
        series: vec!["a".into()],
        panels: vec![Panel::new("", bars)],
        ..Figure::default()
    };
    let svg = to_svg(&figure, &Style::default());
    let document = roxmltree::Document::parse(&svg).expect("well-formed XML");
    let paths: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("path"))
        .collect();
    let is_light = |node: &roxmltree::Node| node.attribute("stroke") == Some("#ffffff");
    let light: Vec<&str> = paths
        .iter()
        .filter(|node| is_light(node))
        .filter_map(|node| node.attribute("d"))
        .collect();
    let dashed = paths.iter().filter(|node| node.attribute("stroke-dasharray").is_some());
    let dashed: Vec<&str> = dashed.filter_map(|node| node.attribute("d")).collect();
    // Both lines over the bar, and the sample of the chance level in the key.
    assert_eq!(dashed.len(), 3);
    assert_eq!(dashed.iter().filter(|d| light.contains(d)).count(), 2);
}

#[test]
fn a_figure_of_many_large_maps_stays_small_and_says_so_once() {
    let points = |m: usize| (0..3000).map(|i| [wave(i), wave(i + 7 + m)]).collect::<Vec<_>>();
    let map = |m: usize| -> Content {
        Map {
            points: points(m),
            ..Map::default()
        }
        .into()
    };
    let scatter = |m: usize| -> Content {
        Scatter {
            clouds: vec![Cloud {
                series: m,
                points: points(m),
            }],
            ..Scatter::default()
        }
        .into()
    };
    for content in [&map as &dyn Fn(usize) -> Content, &scatter] {
        let figure = Figure {
            series: (0..12).map(|m| name(m, 3)).collect(),
            columns: 3,
            panels: (0..12).map(|m| Panel::new(name(m, 3), content(m))).collect(),
            ..Figure::default()
        };
        let svg = to_svg(&figure, &Style::default());
        let points = svg.matches("<use ").count();
        // Twelve marks more are those of the legend.
        assert!((12_000..=12_012).contains(&points), "{points} points");
        assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
        assert!(svg.contains("a–l: 1000 of 3000 points are drawn"));
        assert_eq!(svg.matches("points are drawn").count(), 1);
    }
}

#[test]
fn a_figure_fits_its_page_in_height_and_keeps_letters_of_five_points() {
    let scatter = |panel: &Panel| matches!(panel.content, Content::Scatter(_));
    let kind = (0..KINDS)
        .find(|kind| scatter(&panel(*kind, 3, 9, 1.0)))
        .expect("a scatter plot");
    for (count, width) in [(4, Width::OneColumn), (6, Width::OneColumn), (18, Width::TwoColumns)] {
        let figure = figure(3, 9, 1.0, 3, std::iter::repeat_n(kind, count));
        let free = Style {
            width,
            ..Style::default()
        };
        let bound = Style {
            most_height: Some(230.0),
            ..free.clone()
        };
        let (before, after) = (draw(&figure, &free), draw(&figure, &bound));
        let mm = |drawing: &Drawing| drawing.size.1 / 72.0 * 25.4;
        assert!(mm(&before) > 230.0, "{width:?} is no case: {} mm", mm(&before));
        assert!(mm(&after) <= 230.0, "{count} panels, {width:?}: {} mm", mm(&after));
        assert_eq!(before.size.0, after.size.0);
        assert_texts_are_apart(&figure, &bound, &format!("{count} panels on a page of {width:?}"));
        let sizes = after.svg.split("font-size=\"").skip(1);
        let sizes = sizes.filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok());
        // Notes are a tenth smaller than the other letters.
        assert!(sizes.fold(f64::MAX, f64::min) >= 4.5);
    }
    // What fits is drawn as ever.
    let small = figure(2, 9, 1.0, 2, 0..2);
    let bound = Style {
        most_height: Some(230.0),
        ..Style::default()
    };
    assert_eq!(to_svg(&small, &bound), to_svg(&small, &Style::default()));
}

#[test]
fn notes_below_a_figure_are_left_to_the_caption() {
    let mut figure = figure(2, 9, 1.0, 2, 0..1);
    figure.notes = vec!["N = 1797.".into()];
    figure.panels[0].note = "One value is missing.".into();
    let style = Style {
        notes: Notes::LeftOut,
        ..Style::default()
    };
    let (with, without) = (draw(&figure, &Style::default()), draw(&figure, &style));
    assert!(with.svg.contains("N = 1797.") && !without.svg.contains("N = 1797."));
    assert!(without.svg.contains("One value is missing."));
    assert!(without.size.1 < with.size.1);
}

#[test]
fn groups_of_many_series_have_a_row_each_and_a_key_of_categories() {
    let rows = (0..30).map(|series| BarRow {
        series,
        bars: [0.9, 0.8]
            .map(|top| Measured {
                value: Some(top - 0.01 * series as f64),
                interval: None,
            })
            .to_vec(),
    });
    let bars = Bars {
        axis: Axis::linear("agreement").covering(&[0.0, 1.0]),
        orientation: Orientation::Horizontal,
        categories: vec!["NMI".into(), "AMI".into()],
        rows: rows.collect(),
        chance: vec![Some(0.1), None],
        look: BarsLook::Points,
        grouping: Grouping::Series,
        ..Bars::default()
    };
    let figure = Figure {
        series: (0..30).map(|model| format!("model-{model:02}")).collect(),
        panels: vec![Panel::new("Agreement", bars)],
        columns: 1,
        ..Figure::default()
    };
    let style = Style {
        width: Width::OneColumn,
        ..Style::default()
    };
    assert_texts_are_apart(&figure, &style, "30 rows of two points");
    let drawing = draw(&figure, &style);
    let words: Vec<&str> = drawing.texts.iter().map(|(text, _)| text.as_str()).collect();
    for word in ["model-00", "model-29", "NMI", "AMI", "chance", "Sorted by NMI."] {
        assert_eq!(words.iter().filter(|text| **text == word).count(), 1, "{word}");
    }
    assert_eq!(drawing.svg.matches("<use ").count(), 62, "60 points and two in the key");
}

/// Panels with a row for each of 30 models: two with single values near 1, one of two categories, boxes, and curves beside a table.
fn thirty() -> Figure {
    let measured = |value: f64| Measured {
        value: Some(value),
        interval: Some((value - 0.004, value + 0.004)),
    };
    let dots = |categories: &[&str], value: &dyn Fn(usize, usize) -> f64| Bars {
        axis: Axis::linear("score").covering(&[0.0, 1.0]),
        orientation: Orientation::Horizontal,
        categories: categories.iter().map(|name| name.to_string()).collect(),
        rows: (0..30)
            .map(|series| BarRow {
                series,
                bars: (0..categories.len().max(1))
                    .map(|k| measured(value(series, k)))
                    .collect(),
            })
            .collect(),
        look: BarsLook::Points,
        grouping: Grouping::Series,
        ..Bars::default()
    };
    let falling = |m: usize, _: usize| 0.99 - 0.001 * m as f64;
    let rising = |m: usize, k: usize| 0.6 + 0.01 * m as f64 - 0.1 * k as f64;
    let boxes = Boxes {
        axis: Axis::linear("distance"),
        orientation: Orientation::Horizontal,
        rows: (0..30)
            .rev()
            .map(|series| BoxRow {
                series,
                boxes: vec![BoxSummary::of(&(0..9).map(wave).collect::<Vec<_>>())],
            })
            .collect(),
        ..Boxes::default()
    };
    Figure {
        series: (0..30).map(|m| format!("resnet50-pretrained-variant-{m:02}")).collect(),
        columns: 3,
        panels: vec![
            Panel::new("Silhouette ↑", dots(&[], &falling)),
            Panel::new("Agreement ↑", dots(&["NMI", "AMI"], &rising)),
            Panel::new("Accuracy ↑", dots(&[], &rising)),
            Panel::new("Distances", boxes),
            panel(15, 30, 9, 1.0),
            panel(10, 30, 9, 1.0).span(3),
        ],
        notes: vec!["N = 1797.".into()],
        ..Figure::default()
    }
}

#[test]
fn thirty_models_fit_a_column_and_a_page_with_names_that_can_be_read() {
    for width in [Width::OneColumn, Width::TwoColumns] {
        let style = Style {
            width,
            most_height: Some(230.0),
            ..Style::default()
        };
        let figure = thirty();
        let drawing = draw(&figure, &style);
        let height = drawing.size.1 / 72.0 * 25.4;
        assert!(height <= 230.0, "{width:?}: {height} mm");
        assert_texts_are_apart(&figure, &style, &format!("30 models, {width:?}"));
        // Every name is there in full, once for each row of panels that shares it.
        for name in &figure.series[1..29] {
            let times = drawing.texts.iter().filter(|(text, _)| text == name).count();
            assert!((1..=3).contains(&times), "{width:?}: {name} {times} times");
        }
    }
}

#[test]
fn plots_that_share_their_names_have_their_rows_in_one_order() {
    let aligned = crate::aligned::aligned(&thirty());
    let Content::Boxes(boxes) = &aligned.panels[3].content else {
        panic!("boxes")
    };
    assert!(boxes.rows.iter().map(|row| row.series).eq(0..30));
    assert!(aligned.notes.iter().any(|note| note.contains("sorted by Silhouette")));
}

#[test]
fn values_near_each_other_are_points_on_an_axis_that_is_marked_as_cut() {
    let bars = |values: &[f64], axis: Axis| {
        let row = |(series, value): (usize, &f64)| BarRow {
            series,
            bars: vec![Measured {
                value: Some(*value),
                interval: None,
            }],
        };
        let bars = Bars {
            axis,
            rows: values.iter().enumerate().map(row).collect(),
            chance: vec![Some(0.1)],
            ..Bars::default()
        };
        let figure = Figure {
            series: (0..9).map(|m| m.to_string()).collect(),
            panels: vec![Panel::new("", bars)],
            ..Figure::default()
        };
        let drawing = draw(&figure, &Style::default());
        let has = |text: &str| drawing.texts.iter().any(|(own, _)| own.contains(text));
        (
            drawing.svg.contains("class=\"cut\""),
            drawing.svg.contains("<use "),
            has("The axis is cut") && has("not on the axis"),
        )
    };
    let share = || Axis::linear("share").covering(&[0.0, 1.0]);
    assert_eq!(bars(&[0.981, 0.985, 0.979], share()), (true, true, true));
    assert_eq!(bars(&[-3.1, -3.2], Axis::linear("log")), (true, true, true));
    // Bars that start at zero show these differences, and one value differs from none.
    for values in [&[0.5, 0.9][..], &[0.98], &[0.98, 0.98], &[-0.1, 0.1]] {
        assert_eq!(bars(values, share()), (false, false, false), "{values:?}");
    }
    // A log axis has no zero that bars could start at.
    assert_eq!(bars(&[1.0, 1000.0], Axis::log("ratio")), (false, true, false));
}

#[test]
fn rows_with_numbers_are_a_line_in_their_order() {
    let row = |series: usize| BarRow {
        series,
        bars: vec![Measured {
            value: Some(0.1 + 0.1 * series as f64),
            interval: None,
        }],
    };
    let bars = Bars {
        axis: Axis::linear("score").covering(&[0.0]),
        rows: (0..3).map(row).collect(),
        along: Some(Along {
            label: "epoch".into(),
            at: vec![10.0, 1.0, 5.0],
        }),
        ..Bars::default()
    };
    let figure = Figure {
        series: ["epoch-10", "epoch-1", "epoch-5"].map(String::from).to_vec(),
        panels: vec![Panel::new("", bars)],
        ..Figure::default()
    };
    let drawing = draw(&figure, &Style::default());
    let ticks = drawing
        .texts
        .iter()
        .filter(|(text, _)| ["1", "5", "10"].contains(&text.as_str()));
    assert!(
        ticks.clone().count() == 3 && ticks.is_sorted_by(|a, b| a.1.x < b.1.x),
        "{:?}",
        drawing.texts
    );
    // Markers from left to right are those of epochs 1, 5 and 10.
    let mut marks: Vec<(f64, &str)> = Vec::new();
    for group in drawing.svg.split("data-model=\"").skip(1) {
        let x = group
            .split("<use ")
            .nth(1)
            .and_then(|rest| rest.split("x=\"").nth(1)?.split('"').next()?.parse().ok());
        marks.extend(x.map(|x: f64| (x, group.split('"').next().unwrap_or_default())));
    }
    marks.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(
        marks.iter().map(|(_, name)| *name).collect::<Vec<_>>(),
        ["epoch-1", "epoch-5", "epoch-10"]
    );
}
