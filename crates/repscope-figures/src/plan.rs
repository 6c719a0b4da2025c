// SPDX-License-Identifier: MIT
//! What a panel needs before it can be placed: axes, key, notes, height; and how it is drawn once it is placed.

use crate::content::{Orientation, Reference, ReferenceAt, Weight};
use crate::figure::{Axis, Figure, Scale};
use crate::legend::{KeyEntry, Sample};
use crate::palette::{Ink, Rgb, hex};
use crate::series_style;
use crate::style::Style;
use crate::svg::{Anchor, Letters, Rect, Short, Stroke, Svg, Turn, polyline};
use crate::ticks::{End, Range, Tick};

/// What all panels of a figure share.
pub(crate) struct Scene<'a> {
    pub figure: &'a Figure,
    pub style: &'a Style,
    pub ink: Ink,
    /// Size of letters, the unit of all distances.
    pub em: f64,
    /// Columns of panels, where the figure would be too high for its page otherwise.
    pub columns: Option<usize>,
}

impl Scene<'_> {
    pub fn name(&self, series: usize) -> &str {
        self.figure.series.get(series).map_or("unnamed", String::as_str)
    }

    /// Plain letters; change what differs.
    pub fn letters(&self) -> Letters {
        Letters {
            size: self.em,
            weight: Weight::Regular,
            color: self.ink.text,
            anchor: Anchor::Start,
            turn: Turn::None,
        }
    }

    /// Width of the line of a curve.
    pub fn line(&self) -> f64 {
        0.18 * self.em
    }

    /// An area in the color of a series, hatched where gray print needs it. The hatch is defined on first use.
    pub fn area(&self, rect: Rect, series: usize, outline: Option<&Stroke>, title: &str, svg: &mut Svg) {
        let id = self.style.id(&format!("h{}", series % crate::palette::LOOKS));
        let hatch = series_style::hatch(&id, &self.ink, series, self.em);
        // The title stands on what lies on top, or a pointer would not find it.
        let under = if hatch.is_some() { "" } else { title };
        svg.rect(rect, &hex(self.ink.series(series)), outline, under);
        if let Some(pattern) = hatch {
            svg.define(&pattern);
            svg.rect(rect, &format!("url(#{id})"), outline, title);
        }
    }

    /// Defines a marker and gives its id.
    pub fn marker(&self, kind: &str, shape: usize, r: f64, color: Rgb, opacity: f64, svg: &mut Svg) -> String {
        let fill = hex(color);
        let id = self.style.id(&format!("{kind}{shape}-{}-{:.0}", &fill[1..], 100.0 * r));
        let (paper, width) = (hex(self.ink.paper), Short(0.05 * self.em));
        let edge = || format!(" stroke=\"{paper}\" stroke-width=\"{width}\"");
        let edge = if opacity >= 1.0 { edge() } else { String::new() };
        let (d, opacity) = (series_style::marker(shape, r), Short(opacity));
        let marker = format!("<path id=\"{id}\" d=\"{d}\" fill=\"{fill}\" fill-opacity=\"{opacity}\"{edge}/>\n");
        svg.define(&marker);
        id
    }
}

/// An axis before it is placed.
#[derive(Debug, Clone)]
pub(crate) enum AxisPlan {
    /// Numbers with ticks.
    Numbers {
        range: Range,
        label: String,
        /// The end where zero is left out, which is marked.
        cut: Option<End>,
    },
    /// One name per slot.
    Names {
        names: Vec<String>,
        label: String,
        /// The legend says the same, so they may go where they do not fit.
        of_series: bool,
        /// Said by the panel at the left, whose rows are the same.
        elsewhere: bool,
    },
    /// Only a label.
    Bare { label: String },
}

impl AxisPlan {
    pub fn numbers(range: Range, axis: &Axis) -> Self {
        let (label, cut) = (axis.label.clone(), None);
        Self::Numbers { range, label, cut }
    }

    /// Names that nothing else says.
    pub fn names(names: &[String], label: &str) -> Self {
        Self::Names {
            names: names.to_vec(),
            label: label.to_string(),
            of_series: false,
            elsewhere: false,
        }
    }

    /// The same axis, marked as cut where it leaves zero out.
    pub fn marked_if_cut(mut self) -> Self {
        if let Self::Numbers { range, cut, .. } = &mut self {
            *cut = range.leaves_out_zero();
        }
        self
    }

    /// The end of the axis that is marked.
    pub fn cut(&self) -> Option<End> {
        match self {
            Self::Numbers { cut, .. } => *cut,
            _ => None,
        }
    }

    pub fn label(&self) -> &str {
        match self {
            Self::Numbers { label, .. } | Self::Names { label, .. } | Self::Bare { label } => label,
        }
    }

    pub fn range(&self) -> Option<Range> {
        match self {
            Self::Numbers { range, .. } => Some(*range),
            _ => None,
        }
    }
}

/// A scale of colors beside a plot.
#[derive(Debug, Clone)]
pub(crate) struct ColorBar {
    pub range: Range,
    pub label: String,
    /// From low to high.
    pub colors: Vec<Rgb>,
}

/// What the legend must show for a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Shown {
    pub fill: bool,
    pub line: bool,
    pub marker: bool,
}

impl Shown {
    pub const FILL: Self = Self {
        fill: true,
        line: false,
        marker: false,
    };
    pub const LINE: Self = Self {
        fill: false,
        line: true,
        marker: false,
    };
}

pub(crate) type Draw<'a> = Box<dyn Fn(&Frame, &mut Svg) + 'a>;

/// A panel before it is placed.
pub(crate) struct Plan<'a> {
    pub x: Option<AxisPlan>,
    pub y: Option<AxisPlan>,
    /// Room right of the plot, for what is drawn there.
    pub right: f64,
    /// Room for names left of the plot; a share of the cell where it is not said.
    pub names_room: Option<f64>,
    /// Marks of the lower axis, where the data have a few places only; else they are round numbers.
    pub x_ticks: Vec<Tick>,
    /// Lines across the plot at the ticks of these axes.
    pub grid_x: bool,
    pub grid_y: bool,
    /// Lines along the left and lower side.
    pub spines: bool,
    pub key: Vec<KeyEntry>,
    pub color_bar: Option<ColorBar>,
    /// Below the panel.
    pub notes: Vec<String>,
    /// Below the figure, behind the letter of the panel.
    pub footnotes: Vec<String>,
    /// Series the reader must be able to name.
    pub series: Vec<usize>,
    pub shown: Shown,
    /// Height of the plot for its width.
    pub height: Box<dyn Fn(f64) -> f64 + 'a>,
    pub draw: Draw<'a>,
}

impl<'a> Plan<'a> {
    /// A plot of the common shape.
    pub fn new(x: AxisPlan, y: AxisPlan, draw: Draw<'a>) -> Self {
        Self {
            x: Some(x),
            y: Some(y),
            right: 0.0,
            names_room: None,
            x_ticks: Vec::new(),
            grid_x: true,
            grid_y: true,
            spines: true,
            key: Vec::new(),
            color_bar: None,
            notes: Vec::new(),
            footnotes: Vec::new(),
            series: Vec::new(),
            shown: Shown::default(),
            height: Box::new(|width| 0.72 * width),
            draw,
        }
    }

    /// Something without axes that knows its height.
    pub fn block(height: Box<dyn Fn(f64) -> f64 + 'a>, draw: Draw<'a>) -> Self {
        let bare = || AxisPlan::Bare { label: String::new() };
        Self {
            x: None,
            y: None,
            grid_x: false,
            grid_y: false,
            spines: false,
            height,
            ..Self::new(bare(), bare(), draw)
        }
    }

    pub fn with_series(mut self, series: impl Iterator<Item = usize>, shown: Shown) -> Self {
        self.series = series.collect();
        self.shown = shown;
        self
    }
}

/// A panel that has its place.
pub(crate) struct Frame<'a> {
    pub plot: Rect,
    pub x: Option<Range>,
    pub y: Option<Range>,
    pub scene: &'a Scene<'a>,
    /// Begins ids of this panel.
    pub id: String,
    /// Whether an axis names the series, so that no hatch has to.
    pub names_series: bool,
}

impl Frame<'_> {
    pub fn px(&self, x: f64) -> f64 {
        self.plot.x + self.x.map_or(0.5, |range| range.share(x)) * self.plot.width
    }

    pub fn py(&self, y: f64) -> f64 {
        self.plot.bottom() - self.y.map_or(0.5, |range| range.share(y)) * self.plot.height
    }

    /// Everything drawn until `close_group` stays within the plot.
    pub fn open_clip(&self, svg: &mut Svg) {
        let id = format!("{}clip", self.id);
        let Rect { x, y, width, height } = self.plot;
        // Lines along an edge keep their full width.
        let edge = 0.1 * self.scene.em;
        let clip = format!(
            "<clipPath id=\"{id}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
            Short(x - edge),
            Short(y - edge),
            Short(width + 2.0 * edge),
            Short(height + 2.0 * edge)
        );
        svg.define(&clip);
        svg.open(&format!("clip-path=\"url(#{id})\""));
    }

    /// An area in the color of a series, without a hatch where the axis names the series.
    pub fn area(&self, rect: Rect, series: usize, outline: Option<&Stroke>, title: &str, svg: &mut Svg) {
        if self.names_series {
            svg.rect(rect, &hex(self.scene.ink.series(series)), outline, title)
        } else {
            self.scene.area(rect, series, outline, title, svg)
        }
    }

    /// Reference lines, over the data.
    pub fn references(&self, references: &[Reference], svg: &mut Svg) {
        for (index, reference) in references.iter().enumerate() {
            let d = polyline(self.along(reference.at).into_iter().map(Some));
            if !d.is_empty() {
                let stroke = reference_stroke(self.scene, reference, index);
                svg.path(&d, "none", 1.0, Some(&stroke), "");
            }
        }
    }

    /// Points of a reference line within the plot.
    pub fn along(&self, at: ReferenceAt) -> Vec<(f64, f64)> {
        let plot = self.plot;
        match (at, self.x, self.y) {
            (ReferenceAt::Horizontal(y), _, range) if in_range(range, y) => {
                vec![(plot.x, self.py(y)), (plot.right(), self.py(y))]
            }
            (ReferenceAt::Vertical(x), range, _) if in_range(range, x) => {
                vec![(self.px(x), plot.y), (self.px(x), plot.bottom())]
            }
            (ReferenceAt::Diagonal, Some(x), Some(y)) if x.low.max(y.low) < x.high.min(y.high) => {
                let (low, high) = (x.low.max(y.low), x.high.min(y.high));
                let point = |step: i32| {
                    let t = f64::from(step) / 64.0;
                    let v = match x.scale {
                        Scale::Linear => low + t * (high - low),
                        Scale::Log => low * (high / low).powf(t),
                    };
                    (self.px(v), self.py(v))
                };
                (0..=64).map(point).collect()
            }
            _ => Vec::new(),
        }
    }
}

fn in_range(range: Option<Range>, value: f64) -> bool {
    range.is_some_and(|range| (range.low..=range.high).contains(&value))
}

fn reference_stroke(scene: &Scene, reference: &Reference, index: usize) -> Stroke {
    let color = reference
        .series
        .map_or(scene.ink.muted, |series| scene.ink.series(series));
    // Each line of a panel has its own dash, or two gray lines could not be distinguished.
    let dashes = ["2.6 1.5", "1 1.2", "4 1.2 1 1.2", "6 2"];
    let unit = scene.em / 7.0;
    let dash = dashes[index % dashes.len()]
        .split(' ')
        .filter_map(|length| length.parse::<f64>().ok())
        .map(|length| Short(length * unit).to_string());
    Stroke::dashed(color, 0.13 * scene.em, &dash.collect::<Vec<_>>().join(" "))
}

/// Values of references that an axis must reach.
pub(crate) fn reference_values(references: &[Reference], orientation: Orientation) -> impl Iterator<Item = f64> + '_ {
    references
        .iter()
        .filter_map(move |reference| match (reference.at, orientation) {
            (ReferenceAt::Horizontal(value), Orientation::Vertical) => Some(value),
            (ReferenceAt::Vertical(value), Orientation::Horizontal) => Some(value),
            _ => None,
        })
}

/// The key of reference lines that have a name.
pub(crate) fn reference_key(scene: &Scene, references: &[Reference]) -> Vec<KeyEntry> {
    let named = references
        .iter()
        .enumerate()
        .filter(|(_, reference)| !reference.label.is_empty());
    let entry = |(index, reference): (usize, &Reference)| {
        let name = reference.series.map(|series| scene.name(series).to_string());
        let sample = Sample::Line(reference_stroke(scene, reference, index));
        KeyEntry::new(sample, &reference.label, name)
    };
    named.map(entry).collect()
}

/// "3 values …" or "1 value …"; nothing for zero.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{} {many}", crate::number::fixed(n as f64, 0))),
    }
}
