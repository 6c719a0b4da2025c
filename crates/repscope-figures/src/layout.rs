// SPDX-License-Identifier: MIT
//! Draws a figure: heading, rows of panels, legend, notes. Every distance comes from measured text.
//!
//! Plots of a row share their lower edge, and their upper one unless a long key stands above one of them.

use crate::aligned::aligned;
use crate::axes::{draw_axes, draw_color_bar, draw_grid};
use crate::content::{Content, CurveLook, Weight};
use crate::figure::{Figure, Legend, Panel};
use crate::grid::{GAP, Laid, measure, place};
use crate::legend::{KeyEntry, Sample, arrange};
use crate::palette::{Ink, hex};
use crate::plan::{AxisPlan, Frame, Scene, Shown};
use crate::style::{Background, FontIn, Notes, Style};
use crate::subset::font_faces;
use crate::svg::{Anchor, Rect, Short, Svg, escape};
use crate::text::{CAPITAL, FAMILY, LINE, clean, width, wrap};
use std::fmt::Write;

/// A figure in SVG, with the place of each text in it.
pub(crate) struct Drawing {
    pub svg: String,
    #[cfg_attr(not(test), allow(dead_code, reason = "tests look for texts that touch"))]
    pub texts: Vec<(String, Rect)>,
    #[cfg_attr(not(test), allow(dead_code, reason = "tests look for texts outside"))]
    pub size: (f64, f64),
}

/// Sizes of letters of a figure that would be too high for its page. Journals print none below 5 points.
const SMALLER: [f64; 3] = [7.0, 6.0, 5.0];

/// Draws a figure. One that is too high gets more columns and names its rows once, then smaller letters, then loses its table: the first
/// that fits, or else the lowest.
pub(crate) fn draw(figure: &Figure, style: &Style) -> Drawing {
    let mut lowest = draw_at(figure, style, style.letters(), None);
    let Some(most) = style.most_height.map(|mm| mm / 25.4 * 72.0) else {
        return lowest;
    };
    if lowest.size.1 <= most {
        return lowest;
    }
    let whole = aligned(figure);
    for figure in [Some(&whole), without_tables(&whole).as_ref()].into_iter().flatten() {
        for size in SMALLER {
            let em = style.letters().min(size);
            for columns in 1..=most_columns(figure, style, em) {
                let next = draw_at(figure, style, em, Some(columns));
                if next.size.1 < lowest.size.1 {
                    lowest = next;
                }
                if lowest.size.1 <= most {
                    return lowest;
                }
            }
        }
    }
    lowest
}

/// The figure without its tables, whose numbers the others draw; `None` where nothing else would be left.
fn without_tables(figure: &Figure) -> Option<Figure> {
    let is_table = |panel: &Panel| matches!(panel.content, Content::Table(_));
    let tables = figure.panels.iter().filter(|panel| is_table(panel)).count();
    let mut rest = figure.clone();
    rest.panels.retain(|panel| !is_table(panel));
    let note = "The table of the numbers does not fit this page and is left out.";
    rest.notes.push(note.to_string());
    (tables > 0 && !rest.panels.is_empty()).then_some(rest)
}

/// Columns in which plots can still be read. Clouds of points need less width than names and bars.
fn most_columns(figure: &Figure, style: &Style, em: f64) -> usize {
    let plots = || {
        figure
            .panels
            .iter()
            .filter(|panel| !matches!(panel.content, Content::Table(_)))
    };
    let is_cloud = |panel: &Panel| {
        matches!(
            panel.content,
            Content::Map(_) | Content::Scatter(_) | Content::Images(_)
        )
    };
    // Names at the ends of curves take a good part of their plots.
    let is_named = |panel: &Panel| match &panel.content {
        Content::Lines(lines) => lines.curves.iter().any(|curve| curve.look == CurveLook::Faint),
        _ => false,
    };
    let least = if plots().any(is_named) {
        22.0
    } else if plots().all(is_cloud) {
        9.0
    } else {
        14.0
    };
    let least = least * em;
    let inner = style.width_points() - 1.6 * em;
    let fitting = ((inner + GAP * em) / (least + GAP * em)) as usize;
    fitting.min(plots().count()).max(1)
}

fn draw_at(figure: &Figure, style: &Style, em: f64, columns: Option<usize>) -> Drawing {
    let scene = Scene {
        figure,
        style,
        ink: Ink::of(style.theme),
        em,
        columns,
    };
    let outer = 0.8 * em;
    let total = style.width_points();
    let inner = total - 2.0 * outer;
    let mut panels = place(&scene, inner, outer);
    let shared = shared_key(&scene, &mut panels);
    measure(&scene, &mut panels);

    let mut svg = Svg::default();
    let mut y = outer;
    let title = wrap(&clean(&figure.title), inner, 1.3 * em, Weight::Bold);
    for line in &title {
        y += 1.3 * em * LINE;
        let letters = scene.letters().sized(1.3 * em).weighed(Weight::Bold);
        svg.text(outer, y - 0.4 * em, line, letters);
    }
    if !title.is_empty() {
        y += 0.5 * em;
    }
    let entries = legend_entries(&scene, &panels).into_iter().chain(shared);
    let legend = arrange(&entries.collect::<Vec<_>>(), inner, em);
    let centered = outer + (inner - legend.width) / 2.0;
    if figure.legend == Legend::Above && legend.height() > 0.0 {
        legend.draw(centered, y, "series legend", &scene, &mut svg);
        y += legend.height() + 0.8 * em;
    }
    y = draw_rows(&scene, &panels, y, &mut svg);
    if figure.legend != Legend::Above && legend.height() > 0.0 {
        y += 0.9 * em;
        legend.draw(centered, y, "series legend", &scene, &mut svg);
        y += legend.height();
    }
    let notes = match style.notes {
        Notes::Drawn => foot(&scene, &panels),
        Notes::LeftOut => Vec::new(),
    };
    for note in notes {
        y += 0.45 * em;
        for line in wrap(&clean(&note), inner, 0.9 * em, Weight::Regular) {
            y += 0.9 * LINE * em;
            let letters = scene.letters().sized(0.9 * em).colored(scene.ink.muted);
            svg.text(outer, y - 0.25 * em, &line, letters);
        }
    }
    finish(&scene, svg, (total, y + outer))
}

/// Where height is scarce, maps of the same classes have one key, which goes to the legend.
fn shared_key(scene: &Scene, panels: &mut [Laid]) -> Vec<KeyEntry> {
    let is_map = |index: usize| matches!(scene.figure.panels[index].content, Content::Map(_));
    let maps: Vec<usize> = (0..panels.len()).filter(|index| is_map(*index)).collect();
    let [first, _, ..] = maps[..] else { return Vec::new() };
    let key = |index: usize| format!("{:?}", panels[index].plan.key);
    let is_same = maps.iter().all(|index| key(*index) == key(first));
    if scene.columns.is_none() || scene.figure.legend == Legend::Hidden || !is_same {
        return Vec::new();
    }
    let shared = panels[first].plan.key.clone();
    maps.iter().for_each(|index| panels[*index].plan.key.clear());
    shared
}

/// Series that a reader could not name without a legend.
fn legend_entries(scene: &Scene, panels: &[Laid]) -> Vec<KeyEntry> {
    let all = match scene.figure.legend {
        Legend::Hidden => return Vec::new(),
        Legend::Below | Legend::Above => true,
        Legend::Auto => false,
    };
    let mut shown = Shown::default();
    let mut used = vec![all; scene.figure.series.len()];
    for laid in panels {
        let named = laid.beside.names_series || laid.below.names_series;
        if named && !all {
            continue;
        }
        for series in laid.plan.series.iter().filter(|_| laid.plan.shown != Shown::default()) {
            if let Some(used) = used.get_mut(*series) {
                *used = true;
            }
        }
        shown.fill |= laid.plan.shown.fill;
        shown.line |= laid.plan.shown.line;
        shown.marker |= laid.plan.shown.marker;
    }
    if shown == Shown::default() {
        shown.fill = true;
    }
    let names = scene
        .figure
        .series
        .iter()
        .enumerate()
        .filter(|(series, _)| used[*series]);
    let entry =
        |(series, name): (usize, &String)| KeyEntry::new(Sample::Series(series, shown), name, Some(name.clone()));
    names.map(entry).collect()
}

fn draw_rows(scene: &Scene, panels: &[Laid], top: f64, svg: &mut Svg) -> f64 {
    let em = scene.em;
    let mut y = top;
    let rows = panels.iter().map(|laid| laid.row + 1).max().unwrap_or(0);
    for row in 0..rows {
        let in_row = || panels.iter().enumerate().filter(move |(_, laid)| laid.row == row);
        let above = in_row().map(|(_, laid)| laid.above(em)).fold(0.0, f64::max);
        let height = in_row().map(|(_, laid)| laid.height).fold(0.0, f64::max);
        let under = in_row().map(|(_, laid)| laid.under(em)).fold(0.0, f64::max);
        if row > 0 {
            y += 1.6 * em;
        }
        for (index, laid) in in_row() {
            // A plot without a key does not leave the height of its neighbor's key empty.
            let own = laid.above(em);
            let is_short = above - own > 2.6 * em && !laid.is_shared;
            let own = if is_short { own.max(above - 0.5 * height) } else { above };
            let plot = Rect::new(
                laid.cell.0 + laid.left,
                y + own,
                laid.plot_width(),
                height + above - own,
            );
            draw_panel(scene, laid, index, y, plot, svg);
        }
        y += above + height + under;
    }
    y
}

fn draw_panel(scene: &Scene, laid: &Laid, index: usize, top: f64, plot: Rect, svg: &mut Svg) {
    let em = scene.em;
    let bold = scene.letters().sized(1.1 * em).weighed(Weight::Bold);
    svg.open("class=\"panel\"");
    let baseline = top + CAPITAL * 1.1 * em + 0.15 * em;
    svg.text(laid.cell.0, baseline, &laid.letter, bold);
    let indent = match laid.letter.as_str() {
        "" => 0.0,
        letter => 0.5 * em + width(letter, 1.1 * em, Weight::Bold),
    };
    for (row, line) in laid.title.iter().enumerate() {
        let y = baseline + row as f64 * LINE * 1.1 * em;
        svg.text(laid.cell.0 + indent, y, line, bold);
    }
    let under_title = top + laid.title.len() as f64 * LINE * 1.1 * em + 0.25 * em;
    // Flush with the plot, unless it needs the whole cell.
    let key_left = plot.x.min(laid.cell.0 + laid.cell.1 - laid.key.width);
    laid.key.draw(key_left, under_title, "series key", scene, svg);

    let range = |axis: &Option<AxisPlan>| axis.as_ref().and_then(AxisPlan::range);
    let frame = Frame {
        plot,
        x: range(&laid.plan.x),
        y: range(&laid.plan.y),
        scene,
        id: scene.style.id(&format!("p{index}")),
        names_series: laid.beside.names_series || laid.below.names_series,
    };
    draw_grid(&laid.plan, &laid.beside, &laid.below, &frame, svg);
    (laid.plan.draw)(&frame, svg);
    draw_axes(&laid.plan, &laid.beside, &laid.below, &frame, svg);
    if let (Some(bar), Some(laid)) = (&laid.plan.color_bar, &laid.color_bar) {
        draw_color_bar(bar, laid, &frame, svg);
    }
    let mut y = plot.bottom() + laid.below.room + 0.4 * em;
    for line in &laid.notes {
        y += LINE * 0.9 * em;
        let letters = scene
            .letters()
            .sized(0.9 * em)
            .colored(scene.ink.muted)
            .anchored(Anchor::Start);
        svg.text(laid.cell.0, y - 0.25 * em, line, letters);
    }
    svg.close_group();
}

/// Sentences below the figure. A note that holds for several panels is written once.
fn foot(scene: &Scene, panels: &[Laid]) -> Vec<String> {
    let mut of_panels: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, laid) in panels.iter().enumerate() {
        for note in &laid.plan.footnotes {
            match of_panels.iter_mut().find(|(text, _)| text == note) {
                Some((_, indices)) => indices.push(index),
                None => of_panels.push((note, vec![index])),
            }
        }
    }
    let lettered = of_panels.into_iter().map(|(note, indices)| {
        let runs = indices.chunk_by(|a, b| a + 1 == *b);
        let letter = |i: usize| panels[i].letter.as_str();
        let letters = runs.flat_map(|run| match run {
            [first, .., last] if run.len() > 2 => vec![format!("{}–{}", letter(*first), letter(*last))],
            run => run.iter().map(|i| letter(*i).to_string()).collect(),
        });
        match letter(indices[0]) {
            "" => note.to_string(),
            _ => format!("{}: {note}", letters.collect::<Vec<_>>().join(", ")),
        }
    });
    scene.figure.notes.iter().cloned().chain(lettered).collect()
}

fn finish(scene: &Scene, svg: Svg, (wide, high): (f64, f64)) -> Drawing {
    let Scene { figure, style, ink, .. } = scene;
    let mm = |points: f64| Short(points / 72.0 * 25.4).to_string();
    // The viewBox has the size of the rounded millimeters, or pixels would be a hair off square.
    let (wide, high) = ((wide * 100.0).round() / 100.0, (high * 100.0).round() / 100.0);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}mm\" height=\"{}mm\" viewBox=\"0 0 {} {}\" font-family=\"{FAMILY}\" role=\"img\"",
        mm(wide),
        mm(high),
        Short(wide),
        Short(high)
    );
    let [name, _] = figure.names();
    let id = style.id("title");
    if !name.is_empty() {
        let _ = write!(text, " aria-labelledby=\"{id}\"");
    }
    text.push_str(">\n");
    if !name.is_empty() {
        let _ = writeln!(text, "<title id=\"{id}\">{}</title>", escape(&clean(name)));
    }
    if !figure.description.is_empty() {
        let _ = writeln!(text, "<desc>{}</desc>", escape(&clean(&figure.description)));
    }
    if style.font == FontIn::Svg {
        let _ = writeln!(text, "<style>\n{}</style>", font_faces(&svg.used));
    }
    if !svg.defs.is_empty() {
        let _ = writeln!(text, "<defs>\n{}</defs>", svg.defs);
    }
    if style.background == Background::Painted {
        let (wide, high, paper) = (Short(wide), Short(high), hex(ink.paper));
        let _ = writeln!(text, "<rect width=\"{wide}\" height=\"{high}\" fill=\"{paper}\"/>");
    }
    text.push_str(&svg.body);
    text.push_str("</svg>\n");
    Drawing {
        svg: text,
        texts: svg.texts,
        size: (wide, high),
    }
}
