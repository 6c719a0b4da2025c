// SPDX-License-Identifier: MIT
//! The objects of a PDF file: their numbers, what is shared between streams, and what each stream uses.

use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::writers::Resources;
use pdf_writer::{Chunk, Filter, Name, Pdf, Ref, Settings, Stream};
use resvg::usvg::Transform;
use std::collections::BTreeSet;

/// A file in the making.
pub(super) struct Document {
    pub pdf: Pdf,
    last: i32,
    shared: Vec<(Shared, Ref)>,
}

/// What an object was made from, so that it is written once.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shared {
    /// An opacity.
    Opacity(f32),
    /// The paint with this id at this place.
    Paint(String, Transform),
}

impl Document {
    pub fn new() -> Self {
        Self {
            pdf: Pdf::with_settings(Settings { pretty: false }),
            last: 0,
            shared: Vec::new(),
        }
    }

    /// The number of a new object.
    pub fn next(&mut self) -> Ref {
        self.last += 1;
        Ref::new(self.last)
    }

    pub fn shared(&self, from: &Shared) -> Option<Ref> {
        let found = self.shared.iter().find(|(known, _)| known == from);
        found.map(|(_, object)| *object)
    }

    /// The number of a new object that others made from the same will use.
    pub fn share(&mut self, from: Shared) -> Ref {
        let object = self.next();
        self.shared.push((from, object));
        object
    }

    /// The state that paints with this opacity.
    pub fn opacity(&mut self, opacity: f32) -> Ref {
        let from = Shared::Opacity(opacity);
        self.shared(&from).unwrap_or_else(|| {
            let object = self.share(from);
            let mut state = self.pdf.ext_graphics(object);
            state.stroking_alpha(opacity).non_stroking_alpha(opacity);
            object
        })
    }
}

/// A compressed stream.
pub(super) fn deflate<'a>(chunk: &'a mut Chunk, object: Ref, compressed: &'a [u8]) -> Stream<'a> {
    let mut stream = chunk.stream(object, compressed);
    stream.filter(Filter::FlateDecode);
    stream
}

/// The bytes compressed as far as it goes.
pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec_zlib(bytes, 9)
}

/// What a stream can use by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Font,
    Object,
    Pattern,
    State,
}

/// The objects that a stream uses.
#[derive(Debug, Default)]
pub(super) struct Used(BTreeSet<(Kind, Ref)>);

impl Used {
    /// The name by which the stream uses the object.
    pub fn name(&mut self, kind: Kind, object: Ref) -> String {
        self.0.insert((kind, object));
        name(kind, object)
    }

    pub fn write(&self, resources: &mut Resources) {
        for kind in [Kind::Font, Kind::Object, Kind::Pattern, Kind::State] {
            let own: Vec<Ref> = self.0.iter().filter(|(k, _)| *k == kind).map(|(_, r)| *r).collect();
            if own.is_empty() {
                continue;
            }
            let mut names = match kind {
                Kind::Font => resources.fonts(),
                Kind::Object => resources.x_objects(),
                Kind::Pattern => resources.patterns(),
                Kind::State => resources.ext_g_states(),
            };
            for object in own {
                names.pair(Name(name(kind, object).as_bytes()), object);
            }
        }
    }
}

fn name(kind: Kind, object: Ref) -> String {
    let letter = match kind {
        Kind::Font => 'F',
        Kind::Object => 'X',
        Kind::Pattern => 'P',
        Kind::State => 'G',
    };
    format!("{letter}{}", object.get())
}

/// A transform as PDF writes it. Shares are rounded to a millionth, lengths to a thousandth of a point: finer than any printer, and short.
pub(super) fn matrix(transform: Transform) -> [f32; 6] {
    let share = |x: f32| rounded(x, 1e6);
    let Transform { sx, kx, ky, sy, tx, ty } = transform;
    [share(sx), share(ky), share(kx), share(sy), short(tx), short(ty)]
}

/// A length in thousandths of a point.
pub(super) fn short(length: f32) -> f32 {
    rounded(length, 1e3)
}

/// The nearest number with these many parts of one, without the sign of zero.
pub(super) fn rounded(x: f32, parts: f64) -> f32 {
    ((f64::from(x) * parts).round() / parts) as f32 + 0.0
}
