// SPDX-License-Identifier: MIT
//! From a parsed SVG to PDF: one page of its size, text as text, and the same bytes for the same drawing.
//!
//! It draws what figures hold. Anything else is an error with its name rather than left out.
//!
//! The map: `document` writes objects, `canvas` draws groups, paths and clips into a stream, `paint` makes gradients and patterns,
//! `image` pictures, `text` letters, and `font` embeds the letters used.

mod canvas;
mod document;
mod font;
mod image;
mod paint;
mod text;

#[cfg(test)]
mod read;
#[cfg(test)]
mod tests;

use canvas::Canvas;
use document::{Document, deflate};
use font::Fonts;
use pdf_writer::{Finish, Name, Rect, TextStr};
use resvg::usvg::{Transform, Tree};

/// The drawing as a PDF file; an empty title is left out. The error names what cannot be drawn.
pub(crate) fn write(tree: &Tree, title: &str) -> Result<Vec<u8>, String> {
    let (width, height) = (tree.size().width(), tree.size().height());
    let mut document = Document::new();
    let [catalog, pages, page, contents] = [(); 4].map(|()| document.next());
    let fonts = Fonts::embed(tree, &mut document);

    let mut canvas = Canvas::new(&mut document, &fonts);
    // In a PDF, y grows upwards.
    canvas.transform(Transform::from_row(1.0, 0.0, 0.0, -1.0, 0.0, height));
    canvas.group(tree.root())?;
    let (stream, used) = canvas.finish();

    let pdf = &mut document.pdf;
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut dictionary = pdf.page(page);
    dictionary.parent(pages).media_box(Rect::new(0.0, 0.0, width, height));
    dictionary.contents(contents);
    used.write(&mut dictionary.resources());
    dictionary.finish();
    deflate(pdf, contents, &stream).finish();
    if !title.is_empty() {
        let info = document.next();
        document.pdf.document_info(info).pair(Name(b"Title"), TextStr(title));
    }
    Ok(document.pdf.finish())
}

/// An error if the drawing holds what is not drawn.
fn refuse(held: bool, name: &str) -> Result<(), String> {
    if held {
        return Err(format!("{name} is not drawn"));
    }
    Ok(())
}
