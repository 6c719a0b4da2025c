// SPDX-License-Identifier: MIT
//! Numbers at bars: where they go, and that all are there.

use super::*;
use crate::content::{BarRow, Bars, Orientation, Reference, ReferenceAt};
use crate::figure::{Figure, Panel};
use crate::layout::draw;
use crate::number::{Alike, number};
use crate::style::{Style, Width};

fn measured(value: f64) -> Measured {
    Measured {
        value: Some(value),
        interval: None,
    }
}

/// A panel with as many rows as given, one bar per category in each.
fn bars(axis: Axis, orientation: Orientation, rows: &[Vec<f64>]) -> Bars {
    let row = |(series, values): (usize, &Vec<f64>)| BarRow {
        series,
        bars: values.iter().copied().map(measured).collect(),
    };
    Bars {
        axis,
        orientation,
        categories: (0..rows[0].len()).map(|i| format!("group {i}")).collect(),
        rows: rows.iter().enumerate().map(row).collect(),
        ..Bars::default()
    }
}

fn figure(bars: Bars, columns: usize) -> Figure {
    let mut panels = vec![Panel::new("", bars)];
    panels.resize(columns, Panel::new("", crate::Content::Text("No labels.".into())));
    Figure {
        series: (0..12).map(|i| format!("model {i}")).collect(),
        columns,
        panels,
        ..Figure::default()
    }
}

/// How many of the numbers are written.
fn written(figure: &Figure, style: &Style, rows: &[Vec<f64>]) -> usize {
    let texts = draw(figure, style).texts;
    let alike = Alike::of(rows.iter().flatten().copied());
    let numbers = rows.iter().flatten().map(|value| alike.text(*value));
    numbers
        .filter(|number| texts.iter().any(|(text, _)| text == number))
        .count()
}

#[test]
fn a_free_axis_grows_for_its_numbers_and_a_scale_hardly_does() {
    let range = Range {
        low: 0.0,
        high: 1.0,
        scale: Scale::Linear,
    };
    let free = Axis::linear("");
    let grown = |axis: &Axis, length: f64| make_room(range, axis, [measured(0.95)].iter(), length, 7.0);
    // A number and its margins take this share of 20 letters.
    let need = (CAPITAL * SIZE + GAP + 0.25) / 20.0;
    assert!((grown(&free, 20.0 * 7.0).high - 0.95 / (1.0 - need)).abs() < 1e-12);
    // On 5 letters they take a quarter, and 0.95 / (1 − 0.25) = 1.27: too much for a scale from 0 to 1.
    assert!(grown(&free, 5.0 * 7.0).high > 1.2);
    assert_eq!(grown(&Axis::linear("").covering(&[0.0, 1.0]), 5.0 * 7.0), range);
}

#[test]
fn numbers_of_flat_bars_stand_in_a_column_and_those_of_upright_bars_above_them() {
    let rows: Vec<Vec<f64>> = (0..4).map(|m| vec![0.991 - 0.2 * f64::from(m)]).collect();
    let axis = Axis::linear("share").covering(&[0.0, 1.0]);
    for orientation in [Orientation::Vertical, Orientation::Horizontal] {
        let mut bars = bars(axis.clone(), orientation, &rows);
        bars.categories.clear();
        let texts = draw(&figure(bars, 2), &Style::default()).texts;
        let place = |value: &f64| {
            texts
                .iter()
                .find(|(text, _)| *text == number(*value))
                .map(|(_, place)| *place)
        };
        let places: Vec<Rect> = rows
            .iter()
            .flatten()
            .map(|value| place(value).expect("a number"))
            .collect();
        let is_column = places
            .windows(2)
            .all(|pair| (pair[0].right() - pair[1].right()).abs() < 1e-6);
        assert_eq!(is_column, orientation == Orientation::Horizontal);
        // Upright bars fall, and so do their numbers; nothing is turned.
        assert!(places.windows(2).all(|pair| pair[0].y < pair[1].y));
        assert!(places.iter().all(|place| place.width > place.height));
    }
}

#[test]
fn all_bars_of_a_panel_have_their_number_or_none_has() {
    let mut shown = 0;
    for models in 1..=12 {
        for groups in 1..=4 {
            for (columns, width) in [(1, Width::OneColumn), (2, Width::TwoColumns), (3, Width::TwoColumns)] {
                for (seed, axis) in [
                    Axis::linear("rate").covering(&[0.0]),
                    Axis::linear("share").covering(&[0.0, 1.0]),
                    Axis::linear("free"),
                ]
                .into_iter()
                .enumerate()
                {
                    // Values of either sign, tiny ones among them, all with different numbers.
                    let value = |i: usize| match i % 5 {
                        3 => -1.03e-7 * (i + 1) as f64,
                        4 => -0.01 - 0.001 * i as f64,
                        _ => 0.997 - 0.0137 * i as f64,
                    };
                    let rows: Vec<Vec<f64>> = (0..models)
                        .map(|m| (0..groups).map(|g| value(m * groups + g + seed)).collect())
                        .collect();
                    for orientation in [Orientation::Vertical, Orientation::Horizontal] {
                        let style = Style {
                            width,
                            ..Style::default()
                        };
                        let figure = figure(bars(axis.clone(), orientation, &rows), columns);
                        let written = written(&figure, &style, &rows);
                        assert!(
                            written == 0 || written == models * groups,
                            "{written} of {models} × {groups}, {columns} columns, {orientation:?}, {axis:?}"
                        );
                        shown += usize::from(written > 0);
                    }
                }
            }
        }
    }
    assert!(shown > 100, "{shown}");
}

#[test]
fn nothing_shines_through_a_number() {
    let rows = [vec![0.941, 0.302], vec![0.598, 0.614]];
    {
        let axis = Axis::linear("precision").covering(&[0.0, 1.0]);
        let mut bars = bars(axis, Orientation::Vertical, &rows);
        bars.references = [ReferenceAt::Horizontal(0.62), ReferenceAt::Vertical(0.62)]
            .map(|at| Reference {
                at,
                label: String::new(),
                series: None,
            })
            .to_vec();
        let drawing = draw(&figure(bars, 2), &Style::default());
        let document = roxmltree::Document::parse(&drawing.svg).expect("well-formed XML");
        for value in rows.iter().flatten() {
            let text = document
                .descendants()
                .find(|node| node.is_text() && node.text() == Some(&number(*value)))
                .and_then(|node| node.parent());
            let below = text.and_then(|text| text.prev_sibling_element()).expect("a halo");
            assert_eq!(below.tag_name().name(), "rect");
            let side = |name: &str| {
                below
                    .attribute(name)
                    .and_then(|x| x.parse::<f64>().ok())
                    .expect("a number")
            };
            let (_, place) = drawing
                .texts
                .iter()
                .find(|(text, _)| *text == number(*value))
                .expect("the number");
            let (from, to, at, long) = (side("x"), side("x") + side("width"), place.x, place.width);
            assert!(from < at && to > at + long, "{from} {to} {place:?}");
        }
    }
}
