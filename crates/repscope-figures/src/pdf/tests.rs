// SPDX-License-Identifier: MIT
//! PDFs read back: their text, their fonts, their pictures, and what is refused.

use super::read::{Objects, words};
use super::write;
use crate::hard_cases::{KINDS, figure};
use crate::letters::own_fonts;
use crate::subset::{assemble, base64};
use crate::text::REGULAR;
use crate::*;
use resvg::tiny_skia::{ColorU8, Pixmap};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use std::sync::Arc;
use ttf_parser::{RawFace, Tag};

fn tree_with(fonts: Database, body: &str) -> Tree {
    let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\">{body}</svg>");
    let options = Options {
        fontdb: Arc::new(fonts),
        font_family: "Inter".to_string(),
        ..Options::default()
    };
    Tree::from_str(&svg, &options).expect("an SVG")
}

fn drawn(body: &str) -> Objects {
    Objects::of(&write(&tree_with(own_fonts(), body), "").expect("a PDF"))
}

/// The built-in font with tables added or replaced.
fn font_with(tables: &[(&'static [u8; 4], Vec<u8>)]) -> Database {
    let raw = RawFace::parse(REGULAR, 0).expect("the built-in font");
    let names: Vec<[u8; 4]> = raw.table_records.into_iter().map(|own| own.tag.to_bytes()).collect();
    let mut all: Vec<(&[u8; 4], Vec<u8>)> = tables.to_vec();
    for name in &names {
        if tables.iter().all(|(new, _)| *new != name) {
            let table = raw.table(Tag::from_bytes(name)).expect("a table of the list");
            all.push((name, table.to_vec()));
        }
    }
    all.sort_by_key(|(name, _)| **name);
    let mut fonts = Database::new();
    fonts.load_font_data(assemble(&all));
    fonts
}

#[test]
fn text_is_read_back_in_the_order_of_the_drawing() {
    for (models, length) in [(1, 9), (5, 24), (12, 39)] {
        let figure = figure(models, length, 1.0, 2, 0..KINDS);
        let style = Style::default();
        let drawing = crate::layout::draw(&figure, &style);
        let words: Vec<String> = drawing.texts.into_iter().map(|(text, _)| text).collect();
        let pdf = to_pdf(&figure, &style).expect("a PDF");
        assert_eq!(Objects::of(&pdf).texts(), words);
    }
}

#[test]
fn every_kind_of_panel_is_drawn_in_every_style() {
    for (models, length) in [(1, 1), (5, 9), (12, 76)] {
        for kind in 0..KINDS {
            for (theme, font_size) in [(Theme::Light, 7.0), (Theme::Dark, 12.0)] {
                let style = Style {
                    theme,
                    font_size,
                    ..Style::default()
                };
                let figure = figure(models, length, 1.0, 1, [kind].into_iter());
                let pdf =
                    to_pdf(&figure, &style).unwrap_or_else(|error| panic!("kind {kind}, {models} models: {error}"));
                assert!(!Objects::of(&pdf).page().is_empty());
            }
        }
    }
}

#[test]
fn the_title_is_that_of_the_document() {
    let pdf = |title: &str| {
        let objects = Objects::of(&write(&tree_with(own_fonts(), ""), title).expect("a PDF"));
        objects.with("/Title").first().map(|(text, _)| text.trim().to_string())
    };
    assert_eq!(
        pdf("Silhouette (k = 5)").as_deref(),
        Some("<</Title(Silhouette (k = 5))>>")
    );
    assert_eq!(pdf("Ω").as_deref(), Some("<</Title<FEFF03A9>>>"));
    assert_eq!(pdf(""), None);
}

#[test]
fn a_font_is_embedded_with_the_letters_used() {
    let pdf = drawn("<text x=\"5\" y=\"20\" font-size=\"10\">Loss = 0.5</text>");
    assert_eq!(pdf.texts(), ["Loss = 0.5"]);
    let [(descriptor, _)] = pdf.with("/FontFile2")[..] else {
        panic!("one font")
    };
    assert!(descriptor.contains("+Inter-Regular"), "{descriptor}");
    let [(_, file)] = pdf.with("/Length1")[..] else {
        panic!("one file")
    };
    assert!(
        file.len() < REGULAR.len() / 20,
        "{} of {} bytes",
        file.len(),
        REGULAR.len()
    );
    // Glyph 0, and each of the eight letters once: L, o, s, blank, =, 0, period, 5.
    let raw = RawFace::parse(file, 0).expect("a font");
    let glyphs = raw.table(Tag::from_bytes(b"maxp")).expect("how many glyphs");
    assert_eq!(glyphs[4..6], [0, 9]);
}

#[test]
fn letters_stand_where_the_drawing_has_them() {
    let page = |text: &str| drawn(&format!("<text {text}</text>")).page();
    // H is as wide as its advance, so three of them are one piece; A and V are drawn together, by a number between them.
    let straight = page("x=\"5\" y=\"20\" font-size=\"10\">HHH");
    assert!(straight.contains("10 Tf 1 0 0 -1 5 20 Tm TJ"), "{straight}");
    let kerned = page("x=\"5\" y=\"20\" font-size=\"10\">AV");
    let back = kerned
        .split("20 Tm ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
    assert!(back.is_some_and(|back| back > 10.0), "{kerned}");
    let turned = page("transform=\"translate(30 40) rotate(-90)\" font-size=\"10\">H");
    assert!(turned.contains("0 -1 1 0 30 40 cm"), "{turned}");
}

#[test]
fn a_glyph_that_stands_for_other_letters_says_so() {
    // Blanks of two kinds have one glyph.
    let pdf = drawn("<text x=\"5\" y=\"20\" font-size=\"10\">a b\u{a0}c</text>");
    assert_eq!(pdf.texts(), ["a b\u{a0}c"]);
}

#[test]
fn letters_of_fonts_that_are_not_embedded_are_drawn_and_read() {
    // An axis of optical sizes: the version, where the axes are, one of 20 bytes, no names; then from 8 over 14 to 32 points.
    let mut axes = vec![0, 1, 0, 0, 0, 16, 0, 2, 0, 1, 0, 20, 0, 0, 0, 4];
    axes.extend(b"opsz");
    axes.extend(
        [8u32 << 16, 14 << 16, 32 << 16]
            .iter()
            .flat_map(|size| size.to_be_bytes()),
    );
    axes.extend([0, 0, 1, 0]);
    // Names of glyphs that end after the version.
    let names = vec![0, 2, 0, 0];
    for (case, table) in [("optical sizes", (b"fvar", axes)), ("damaged names", (b"post", names))] {
        let fonts = font_with(&[table]);
        let tree = tree_with(
            fonts,
            "<text x=\"5\" y=\"20\" font-size=\"10\" fill=\"#ff0000\">Loss</text>",
        );
        let pdf = Objects::of(&write(&tree, "").unwrap_or_else(|error| panic!("{case}: {error}")));
        assert_eq!(pdf.texts(), ["Loss"], "{case}");
        assert!(pdf.with("/FontFile").is_empty(), "{case}");
        let page = pdf.page();
        assert!(
            page.contains("1 0 0 rg") && page.matches(" c ").count() > 20,
            "{case}: {page}"
        );
    }
}

#[test]
fn colored_letters_are_a_picture() {
    let red = png(4, |_| ColorU8::from_rgba(255, 0, 0, 255));
    let raw = RawFace::parse(REGULAR, 0).expect("the built-in font");
    let glyphs = ttf_parser::Face::parse(REGULAR, 0).expect("the built-in font");
    let letter = usize::from(glyphs.glyph_index('A').expect("an A").0);
    let count = u16::from_be_bytes(
        raw.table(Tag::from_bytes(b"maxp")).expect("maxp")[4..6]
            .try_into()
            .expect("two"),
    );
    // A table of pictures: version and flags, one size at 12; the size with an offset for each glyph, and one picture of 4 × 4 for 4 to an em.
    let mut sbix = vec![0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 12, 0, 4, 0, 72];
    let first = 4 + 4 * (usize::from(count) + 1);
    for glyph in 0..=usize::from(count) {
        let offset = if glyph > letter { first + 8 + red.len() } else { first };
        sbix.extend((offset as u32).to_be_bytes());
    }
    sbix.extend([0, 0, 0, 0]);
    sbix.extend(b"png ");
    sbix.extend(&red);
    for place in ["x=\"5\" y=\"20\"", "transform=\"translate(60 40) rotate(-90)\""] {
        let fonts = font_with(&[(b"sbix", sbix.clone())]);
        let tree = tree_with(fonts, &format!("<text {place} font-size=\"10\">A</text>"));
        let pdf = Objects::of(&write(&tree, "").expect("a PDF"));
        assert_eq!(pdf.texts(), ["A"]);
        let [(_, pixels)] = pdf.with("/DeviceRGB")[..] else {
            panic!("one picture at {place}")
        };
        // The picture is the letter: an em of pixels at 600 per inch, all red but for an edge.
        let red = pixels.chunks(3).filter(|pixel| *pixel == [255, 0, 0]).count();
        assert!(red > 70 * 70 && red <= 84 * 84, "{red} red pixels at {place}");
    }
}

/// A square PNG with a color for each pixel.
fn png(side: u32, color: impl Fn(usize) -> ColorU8) -> Vec<u8> {
    let mut pixels = Pixmap::new(side, side).expect("a size");
    for (index, pixel) in pixels.pixels_mut().iter_mut().enumerate() {
        *pixel = color(index).premultiply();
    }
    pixels.encode_png().expect("a PNG")
}

#[test]
fn pictures_keep_their_pixels_and_their_transparency() {
    let image = |png: &[u8]| {
        let address = base64(png);
        let place = "x=\"10\" y=\"5\" width=\"40\" height=\"20\" preserveAspectRatio=\"none\"";
        drawn(&format!("<image {place} href=\"data:image/png;base64,{address}\"/>"))
    };
    let gray = image(&png(2, |i| {
        ColorU8::from_rgba(80 * i as u8, 80 * i as u8, 80 * i as u8, 255)
    }));
    let [(about, pixels)] = gray.with("/Image")[..] else {
        panic!("one picture")
    };
    assert!(about.contains("/DeviceGray") && !about.contains("/SMask"), "{about}");
    assert_eq!(pixels, &[0, 80, 160, 240]);
    let clear = image(&png(2, |i| ColorU8::from_rgba(0, 255, 0, 85 * i as u8)));
    let [(_, mask), (about, pixels)] = clear.with("/Image")[..] else {
        panic!("a picture and its mask")
    };
    assert!(about.contains("/SMask"), "{about}");
    assert_eq!(mask, &[0, 85, 170, 255]);
    assert_eq!(pixels[3..], [0, 255, 0, 0, 255, 0, 0, 255, 0]);
}

#[test]
fn paths_are_filled_and_stroked_as_they_say() {
    let page = drawn(
        "<path d=\"M0 0H10V10Z\" fill=\"#336699\" fill-rule=\"evenodd\"/>\
         <path d=\"M0 0Q3 3 6 0\" fill=\"none\" stroke=\"#000\" stroke-width=\"2\" stroke-dasharray=\"3 1\" \
         stroke-linecap=\"round\" stroke-linejoin=\"bevel\" stroke-opacity=\"0.5\"/>",
    );
    let state = page.with("/CA 0.5");
    assert_eq!(state.len(), 1);
    let page = page.page();
    assert!(page.contains("0.2 0.4 0.6 rg 0 0 m 10 0 l 10 10 l h f*"), "{page}");
    // A quadratic curve as a cubic one: its control points are two thirds of the way from the ends to the one it had.
    assert!(page.contains("2 w 1 J 2 j 4 M 3 1 0 d 0 0 m 2 2 4 2 6 0 c S"), "{page}");
}

#[test]
fn a_transparent_group_is_laid_over_the_page_as_a_whole() {
    let pdf = drawn("<g opacity=\"0.4\"><rect width=\"9\" height=\"9\"/><circle cx=\"9\" cy=\"9\" r=\"4\"/></g>");
    let [(form, shapes)] = pdf.with("/Form")[..] else {
        panic!("one group")
    };
    assert!(form.contains("/Transparency"), "{form}");
    assert_eq!(words(shapes).split(' ').filter(|word| *word == "f").count(), 2);
    assert_eq!((pdf.with("/ca 0.4").len(), pdf.page().matches(" Do").count()), (1, 1));
}

#[test]
fn gradients_patterns_and_clips_are_written_once() {
    let pdf = drawn(
        "<defs><linearGradient id=\"g\" gradientUnits=\"userSpaceOnUse\" x2=\"50\"><stop offset=\"0.2\" stop-color=\"#f00\"/>\
         <stop offset=\"0.5\" stop-color=\"#0f0\"/><stop offset=\"1\" stop-color=\"#00f\"/></linearGradient>\
         <pattern id=\"p\" width=\"4\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(90)\">\
         <path d=\"M0 3H4\" stroke=\"#000\"/></pattern><clipPath id=\"c\"><rect width=\"20\" height=\"20\"/></clipPath></defs>\
         <g clip-path=\"url(#c)\"><rect width=\"9\" height=\"9\" fill=\"url(#g)\"/><rect width=\"9\" height=\"9\" fill=\"url(#g)\"/>\
         <rect width=\"9\" height=\"9\" fill=\"url(#p)\"/><rect width=\"9\" height=\"9\" fill=\"url(#p)\"/></g>",
    );
    let [(gradient, _)] = pdf.with("/PatternType 2")[..] else {
        panic!("one gradient")
    };
    assert!(gradient.contains("/Coords[0 0 50 0]"), "{gradient}");
    // Before the first stop its color, then a piece to the second and one to the third.
    assert_eq!(pdf.with("/FunctionType 2").len(), 3);
    assert!(pdf.with("/FunctionType 3")[0].0.contains("/Bounds[0.2 0.5]"));
    let [(pattern, tile)] = pdf.with("/PatternType 1")[..] else {
        panic!("one pattern")
    };
    assert!(pattern.contains("/XStep 4/YStep 6"), "{pattern}");
    // Turned by 90 degrees on a page whose y grows upwards.
    assert!(pattern.contains("/Matrix[0 -1 -1 0 0 50]"), "{pattern}");
    assert!(words(tile).contains("0 3 m 4 3 l S"));
    assert_eq!(pdf.page().matches(" W n ").count(), 1);
}

#[test]
fn what_is_not_drawn_is_named() {
    let filled = |defs: &str| format!("<defs>{defs}</defs><rect width=\"9\" height=\"9\" fill=\"url(#a)\"/>");
    let grouped = |defs: &str, how: &str| format!("<defs>{defs}</defs><g {how}><rect width=\"9\" height=\"9\"/></g>");
    let stops = "<stop offset=\"0\"/><stop offset=\"1\" stop-color=\"#fff\" stop-opacity=\"0.5\"/>";
    let lettered = |how: &str| format!("<text y=\"20\" font-size=\"10\" {how}>a</text>");
    let cases = [
        (
            "a radial gradient",
            filled(&format!("<radialGradient id=\"a\">{stops}</radialGradient>")),
        ),
        (
            "a transparent gradient",
            filled(&format!("<linearGradient id=\"a\">{stops}</linearGradient>")),
        ),
        (
            "a gradient that repeats",
            filled(&format!(
                "<linearGradient id=\"a\" spreadMethod=\"repeat\">{stops}</linearGradient>"
            )),
        ),
        (
            "a filter",
            grouped(
                "<filter id=\"f\"><feGaussianBlur stdDeviation=\"2\"/></filter>",
                "filter=\"url(#f)\"",
            ),
        ),
        (
            "a mask",
            grouped(
                "<mask id=\"m\"><rect width=\"9\" height=\"9\" fill=\"#fff\"/></mask>",
                "mask=\"url(#m)\"",
            ),
        ),
        ("a blend mode", grouped("", "style=\"mix-blend-mode:multiply\"")),
        (
            "a clip path of several shapes",
            grouped(
                "<clipPath id=\"c\"><rect width=\"2\" height=\"2\"/><rect x=\"4\" width=\"2\" height=\"2\"/></clipPath>",
                "clip-path=\"url(#c)\"",
            ),
        ),
        ("a line around letters", lettered("stroke=\"#000\"")),
        ("a line along letters", lettered("text-decoration=\"underline\"")),
    ];
    for (name, body) in cases {
        let error = write(&tree_with(own_fonts(), &body), "").expect_err(name);
        assert_eq!(error, format!("{name} is not drawn"));
    }
}
