// SPDX-License-Identifier: MIT
//! Names with samples, set in columns: the legend of a figure and the keys of its panels.

use crate::content::Weight;
use crate::palette::Rgb;
use crate::plan::{Scene, Shown};
use crate::svg::{Rect, Stroke, Svg};
use crate::text::{CAPITAL, LINE, clean, shorten, width, wrap};

/// The mark before a name.
#[derive(Debug, Clone)]
pub(crate) enum Sample {
    /// A piece of line.
    Line(Stroke),
    /// A patch of color.
    Patch(Rgb),
    /// A marker of this shape and color.
    Dot(usize, Rgb),
    /// A series as it looks in the panels.
    Series(usize, Shown),
    /// Nothing, so wide: the name goes on.
    Blank(f64),
}

/// A name with its sample.
#[derive(Debug, Clone)]
pub(crate) struct KeyEntry {
    pub sample: Sample,
    pub text: String,
    /// The series it belongs to, by which a page finds it.
    pub name: Option<String>,
}

impl KeyEntry {
    pub fn new(sample: Sample, text: &str, name: Option<String>) -> Self {
        Self {
            sample,
            text: clean(text),
            name,
        }
    }

    fn sample_width(&self, em: f64) -> f64 {
        match &self.sample {
            Sample::Line(_) => 2.1 * em,
            Sample::Patch(_) => 0.85 * em,
            Sample::Dot(..) => 0.7 * em,
            Sample::Blank(width) => *width,
            Sample::Series(_, shown) => match (shown.fill, shown.line) {
                (true, true) => 3.4 * em,
                (false, true) => 2.4 * em,
                _ => 0.95 * em,
            },
        }
    }
}

/// Entries in columns.
pub(crate) struct KeyTable {
    /// Left end of each column.
    columns: Vec<f64>,
    rows: usize,
    entries: Vec<KeyEntry>,
    pub width: f64,
    em: f64,
}

/// Entries of which none is wider than `most`: a longer text continues on the next line.
pub(crate) fn wrapped(entries: &[KeyEntry], most: f64, em: f64) -> Vec<KeyEntry> {
    let mut lines = Vec::new();
    for entry in entries {
        let indent = entry.sample_width(em);
        let room = most - indent - 0.45 * em;
        for (row, text) in wrap(&entry.text, room, em, Weight::Regular).into_iter().enumerate() {
            let sample = match row {
                0 => entry.sample.clone(),
                _ => Sample::Blank(indent),
            };
            let name = entry.name.clone();
            lines.push(KeyEntry { sample, text, name });
        }
    }
    lines
}

/// As many columns as fit into `most`. Only a name that is wider than that alone is shortened.
pub(crate) fn arrange(entries: &[KeyEntry], most: f64, em: f64) -> KeyTable {
    let gap = 1.6 * em;
    let between = 0.45 * em;
    let wide = |entry: &KeyEntry| entry.sample_width(em) + between + width(&entry.text, em, Weight::Regular);
    let wides: Vec<f64> = entries.iter().map(wide).collect();
    for count in (1..=entries.len()).rev() {
        let rows = entries.len().div_ceil(count);
        // Down the columns first, as one reads a list; this many columns are then in use.
        let used = entries.len().div_ceil(rows);
        let widths = wides
            .chunks(rows)
            .map(|column| column.iter().copied().fold(0.0, f64::max));
        let widths: Vec<f64> = widths.collect();
        let total = widths.iter().sum::<f64>() + gap * (used - 1) as f64;
        if total <= most || count == 1 {
            let mut x = 0.0;
            let columns = widths
                .iter()
                .map(|width| {
                    x += width + gap;
                    x - width - gap
                })
                .collect();
            let mut entries = entries.to_vec();
            for entry in &mut entries {
                let room = most - entry.sample_width(em) - between;
                entry.text = shorten(&entry.text, room, em, Weight::Regular);
            }
            return KeyTable {
                columns,
                rows,
                entries,
                width: total.min(most),
                em,
            };
        }
    }
    KeyTable {
        columns: Vec::new(),
        rows: 0,
        entries: Vec::new(),
        width: 0.0,
        em,
    }
}

impl KeyTable {
    pub fn height(&self) -> f64 {
        self.rows as f64 * LINE * self.em
    }

    pub fn draw(&self, x: f64, y: f64, class: &str, scene: &Scene, svg: &mut Svg) {
        let em = self.em;
        for (index, entry) in self.entries.iter().enumerate() {
            let (column, row) = (index / self.rows, index % self.rows);
            let (left, top) = (x + self.columns[column], y + row as f64 * LINE * em);
            let baseline = top + 0.95 * em;
            let middle = baseline - CAPITAL * em / 2.0;
            if let Some(name) = &entry.name {
                svg.open_series(class, name);
            }
            sample(entry, left, middle, scene, svg);
            let x = left + entry.sample_width(em) + 0.45 * em;
            svg.text(x, baseline, &entry.text, scene.letters());
            if entry.name.is_some() {
                svg.close_group();
            }
        }
    }
}

fn sample(entry: &KeyEntry, left: f64, middle: f64, scene: &Scene, svg: &mut Svg) {
    let em = scene.em;
    let right = left + entry.sample_width(em);
    let patch = |x: f64| Rect::new(x, middle - 0.4 * em, 0.85 * em, 0.8 * em);
    match &entry.sample {
        Sample::Line(stroke) => svg.line((left, middle), (right, middle), stroke),
        Sample::Patch(color) => svg.rect(patch(left), &crate::palette::hex(*color), None, ""),
        Sample::Blank(_) => {}
        Sample::Dot(shape, color) => {
            let id = scene.marker("k", *shape, 0.28 * em, *color, 1.0, svg);
            svg.mark(&id, left + 0.35 * em, middle, "");
        }
        Sample::Series(series, shown) => {
            let color = scene.ink.series(*series);
            if shown.fill {
                scene.area(patch(left), *series, None, "", svg);
            }
            if shown.line {
                let from = if shown.fill { left + 1.2 * em } else { left };
                let stroke = crate::series_style::stroke(&scene.ink, *series, scene.line());
                svg.line((from, middle), (right, middle), &stroke);
                let id = scene.marker("k", *series, 0.3 * em, color, 1.0, svg);
                svg.mark(&id, (from + right) / 2.0, middle, "");
            } else if shown.marker && !shown.fill {
                let id = scene.marker("k", *series, 0.34 * em, color, 1.0, svg);
                svg.mark(&id, left + 0.45 * em, middle, "");
            }
        }
    }
}
