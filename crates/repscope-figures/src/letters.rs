// SPDX-License-Identifier: MIT
//! Letters that no font can draw: they are written as escapes such as `\u{4e2d}`, which differ from each other as boxes do not.

use crate::content::{ColoredBy, Content, Reference};
use crate::figure::{Axis, Figure};
use crate::text::{BOLD, REGULAR, has_foreign_letters};
use resvg::usvg::fontdb::{self, Database, FaceInfo, ID};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The letters of a figure that neither the built-in font nor a font of this machine has. PNG and PDF show them as escapes; in an SVG they
/// stay letters, for whoever opens it may have the font.
pub fn missing_letters(figure: &Figure) -> Vec<char> {
    let mut letters = BTreeSet::new();
    let mut figure = figure.clone();
    each_text(&mut figure, &mut |text| {
        letters.extend(
            text.chars()
                .filter(|c| !c.is_control() && has_foreign_letters(&c.to_string())),
        );
    });
    if letters.is_empty() {
        return Vec::new();
    }
    let fonts = all_fonts();
    letters
        .into_iter()
        .filter(|c| other_font(*c, &[], &fonts).is_none())
        .collect()
}

/// The figure with escapes for its missing letters.
pub(crate) fn escaped(figure: &Figure) -> Cow<'_, Figure> {
    let missing = missing_letters(figure);
    if missing.is_empty() {
        return Cow::Borrowed(figure);
    }
    let mut figure = figure.clone();
    each_text(&mut figure, &mut |text| {
        if text.contains(&missing[..]) {
            let escape = |c: char| {
                if missing.contains(&c) {
                    c.escape_unicode().to_string()
                } else {
                    c.to_string()
                }
            };
            *text = text.chars().map(escape).collect();
        }
    });
    Cow::Owned(figure)
}

/// The built-in fonts.
pub(crate) fn own_fonts() -> Database {
    let mut fonts = Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(BOLD.to_vec());
    fonts.set_sans_serif_family("Inter");
    fonts
}

/// The built-in fonts and those of the machine, for letters that the built-in ones lack.
pub(crate) fn all_fonts() -> Database {
    let mut fonts = own_fonts();
    fonts.load_system_fonts();
    fonts
}

/// The font for a letter that ours lacks: upright and without serifs where there is one, then by name, so that the
/// order in which the machine lists its fonts does not matter.
pub(crate) fn other_font(letter: char, used: &[ID], fonts: &Database) -> Option<ID> {
    let has_letter =
        |data: &[u8], index| ttf_parser::Face::parse(data, index).is_ok_and(|face| face.glyph_index(letter).is_some());
    let rank = |face: &FaceInfo| {
        let sans = face.families.iter().any(|(family, _)| family.contains("Sans")) && !face.monospaced;
        (
            !sans,
            face.style != fontdb::Style::Normal,
            face.weight.0.abs_diff(400),
            face.post_script_name.clone(),
        )
    };
    let mut candidates: Vec<&FaceInfo> = fonts.faces().filter(|face| !used.contains(&face.id)).collect();
    candidates.sort_by_key(|face| rank(face));
    let mut known = candidates.into_iter().map(|face| face.id);
    known.find(|id| fonts.with_face_data(*id, has_letter).unwrap_or(false))
}

/// Visits every text of a figure.
fn each_text(figure: &mut Figure, visit: &mut dyn FnMut(&mut String)) {
    visit(&mut figure.title);
    figure.series.iter_mut().chain(&mut figure.notes).for_each(&mut *visit);
    for panel in &mut figure.panels {
        visit(&mut panel.title);
        visit(&mut panel.note);
        each_of_content(&mut panel.content, visit);
    }
}

fn each_of_content(content: &mut Content, visit: &mut dyn FnMut(&mut String)) {
    let (mut axes, mut references, mut texts): (Vec<&mut Axis>, Vec<&mut Reference>, Vec<&mut String>) =
        Default::default();
    match content {
        Content::Scatter(own) => {
            axes.extend([&mut own.x, &mut own.y]);
            references.extend(&mut own.references);
            texts.extend(own.fits.iter_mut().map(|fit| &mut fit.label));
        }
        Content::Lines(own) => {
            axes.extend([&mut own.x, &mut own.y]);
            references.extend(&mut own.references);
        }
        Content::Boxes(own) => {
            axes.push(&mut own.axis);
            references.extend(&mut own.references);
            texts.extend(own.categories.iter_mut().chain([&mut own.category_label]));
        }
        Content::Bars(own) => {
            axes.push(&mut own.axis);
            references.extend(&mut own.references);
            texts.extend(own.categories.iter_mut().chain([&mut own.category_label]));
            texts.extend(own.along.iter_mut().map(|along| &mut along.label));
        }
        Content::Histogram(own) => {
            axes.extend([&mut own.x, &mut own.y]);
            references.extend(&mut own.references);
        }
        Content::Heatmap(own) => {
            texts.extend(own.rows.iter_mut().chain(&mut own.columns));
            texts.extend([&mut own.row_label, &mut own.column_label, &mut own.value_label]);
        }
        Content::Shares(own) => texts.extend(own.names.iter_mut().chain(&mut own.parts)),
        Content::Tree(own) => texts.extend(own.names.iter_mut().chain([&mut own.label])),
        Content::Map(own) => {
            texts.extend([&mut own.x_label, &mut own.y_label]);
            match &mut own.colored_by {
                ColoredBy::Nothing => {}
                ColoredBy::Class { names, .. } => texts.extend(names),
                ColoredBy::Value { label, .. } => texts.push(label),
            }
        }
        Content::Table(own) => {
            texts.extend(&mut own.header);
            texts.extend(own.rows.iter_mut().flatten().map(|cell| &mut cell.text));
        }
        Content::Images(own) => texts.extend(own.images.iter_mut().map(|image| &mut image.caption)),
        Content::Text(text) => texts.push(text),
    }
    texts.extend(axes.into_iter().map(|axis| &mut axis.label));
    texts.extend(references.into_iter().map(|reference| &mut reference.label));
    texts.into_iter().for_each(visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Table;
    use crate::figure::Panel;

    #[test]
    fn letters_that_no_font_has_are_different_escapes() {
        // Private-use letters, which no font of any machine has.
        let table = Table {
            header: vec!["\u{100001}".into()],
            rows: vec![vec!["α".into()]],
        };
        let figure = Figure {
            series: vec!["a\u{100001}".into(), "a\u{100002}".into()],
            panels: vec![Panel::new("plain", table)],
            ..Figure::default()
        };
        assert_eq!(missing_letters(&figure), ['\u{100001}', '\u{100002}']);
        let shown = escaped(&figure);
        assert_eq!(shown.series, ["a\\u{100001}", "a\\u{100002}"]);
        let Content::Table(table) = &shown.panels[0].content else {
            panic!("a table")
        };
        assert_eq!(
            (table.header[0].as_str(), table.rows[0][0].text.as_str()),
            ("\\u{100001}", "α")
        );
        let plain = Figure {
            series: vec!["a".into()],
            ..Figure::default()
        };
        assert!(matches!(escaped(&plain), Cow::Borrowed(_)));
    }
}
