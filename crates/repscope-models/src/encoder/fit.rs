// SPDX-License-Identifier: MIT
//! How rows are laid out for the input of a graph. Nothing is resized, cut or converted between gray and color.

use super::options::{Layout, Options};
use super::shape_text;
use crate::error::{Error, Result, bail};
use crate::runtime::Port;

/// One way of feeding rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fit {
    /// One row as the graph takes it.
    pub shape: Vec<usize>,
    /// What was done to the axes, in words.
    pub note: Option<String>,
    turn: Turn,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Turn {
    /// The values stay in their order.
    Keep,
    /// (height, width, channels) becomes (channels, height, width).
    ToFront,
    /// (channels, height, width) becomes (height, width, channels).
    ToBack,
}

impl Fit {
    /// Finds how rows of this shape go into a port, or says both shapes.
    pub(super) fn find(row: &[usize], port: &Port, layout: Option<Layout>) -> Result<Fit> {
        // A graph that says nothing takes what comes.
        let wanted = port.dims.get(1..);
        let found = match layout {
            None => guesses(row)
                .into_iter()
                .find(|fit| takes(wanted, &fit.shape))
                .or_else(|| fill(row, wanted?)),
            Some(layout) => fit_layout(row, wanted, layout).filter(|fit| takes(wanted, &fit.shape)),
        };
        found.ok_or_else(|| Error::Model(refusal(row, port, layout)))
    }

    /// The axis of the fed shape along which mean and std differ.
    fn channels(&self, port: &Port) -> Option<usize> {
        match self.shape.len() {
            1 => Some(0),
            3 => Some(if channels_last(port.dims.get(1..).unwrap_or_default()) {
                2
            } else {
                0
            }),
            _ => None,
        }
    }

    /// The mean and std of each channel: one entry where all are alike, else one per channel.
    pub(super) fn normalization(&self, port: &Port, options: &Options) -> Result<Normalization> {
        let axis = self.channels(port);
        let channels = axis.map_or(1, |a| self.shape[a]);
        for (name, values) in [("mean", &options.mean), ("std", &options.std)] {
            if values.len() > 1 && values.len() != channels {
                let (count, shape) = (values.len(), shape_text(&self.shape));
                bail!(
                    "{count} values of {name} were given, but rows of shape {shape} have {channels} channels; give 1 or {channels}"
                );
            }
        }
        Ok(Normalization {
            scale: options.scale,
            mean: options.mean.clone(),
            std: options.std.clone(),
            inner: axis.map_or(1, |a| self.shape[a + 1..].iter().product::<usize>().max(1)),
            channels,
        })
    }

    /// Puts one row, as it is stored, behind what `into` holds, as the graph takes it.
    pub(super) fn lay(&self, row: &[f32], into: &mut Vec<f32>) {
        match (self.turn, self.shape.as_slice()) {
            (Turn::ToFront, &[c, h, w]) => {
                (0..c).for_each(|k| into.extend((0..h * w).map(|i| row[i * c + k])));
            }
            (Turn::ToBack, &[h, w, c]) => {
                (0..h * w).for_each(|i| into.extend((0..c).map(|k| row[k * h * w + i])));
            }
            _ => into.extend(row),
        }
    }
}

fn takes(wanted: Option<&[Option<usize>]>, shape: &[usize]) -> bool {
    wanted.is_none_or(|wanted| {
        wanted.len() == shape.len() && wanted.iter().zip(shape).all(|(w, &n)| w.is_none_or(|w| w == n))
    })
}

/// Whether an image port has its channels at the end. Graphs from torch have them first, so that is assumed where it is
/// open.
fn channels_last(wanted: &[Option<usize>]) -> bool {
    let few = |size: Option<&Option<usize>>| matches!(size, Some(Some(1 | 3 | 4)));
    wanted.len() == 3 && few(wanted.last()) && !few(wanted.first())
}

fn fit(shape: Vec<usize>, turn: Turn, note: Option<String>) -> Fit {
    Fit { shape, note, turn }
}

/// The fits that are tried when no layout is given, the plainest first.
fn guesses(row: &[usize]) -> Vec<Fit> {
    let size = row.iter().product();
    let mut ways = vec![fit(row.to_vec(), Turn::Keep, None)];
    match *row {
        [h, w] => {
            for shape in [vec![1, h, w], vec![h, w, 1]] {
                let note = format!("rows of shape {} are fed as {}", shape_text(row), shape_text(&shape));
                ways.push(fit(shape, Turn::Keep, Some(note)));
            }
        }
        [a, b, c] => {
            if matches!(c, 1 | 3 | 4) {
                ways.push(turned(row, Layout::ChannelsLast));
            }
            if matches!(a, 1 | 3 | 4) {
                ways.push(turned(row, Layout::ChannelsFirst));
            }
            for (one, shape) in [(a, vec![b, c]), (c, vec![a, b])] {
                if one == 1 {
                    let note = format!("the axis of one channel is taken off: {}", shape_text(&shape));
                    ways.push(fit(shape, Turn::Keep, Some(note)));
                }
            }
        }
        _ => {}
    }
    if row.len() != 1 {
        ways.push(fit(
            vec![size],
            Turn::Keep,
            Some(format!(
                "rows of shape {} are fed as vectors of {size}",
                shape_text(row)
            )),
        ));
    }
    ways
}

/// A vector as an image of the size that the graph states.
fn fill(row: &[usize], wanted: &[Option<usize>]) -> Option<Fit> {
    let shape: Vec<usize> = wanted.iter().copied().collect::<Option<_>>()?;
    let [size] = *row else { return None };
    let count = shape.iter().try_fold(1_usize, |p, &n| p.checked_mul(n));
    (count == Some(size)).then(|| {
        let note = format!(
            "vectors of {size} are fed as {}, last index fastest",
            shape_text(&shape)
        );
        fit(shape, Turn::Keep, Some(note))
    })
}

/// An image of three axes with its channels at the other end.
fn turned(row: &[usize], from: Layout) -> Fit {
    let (turn, shape) = match (from, row) {
        (Layout::ChannelsLast, &[h, w, c]) => (Turn::ToFront, vec![c, h, w]),
        (Layout::ChannelsFirst, &[c, h, w]) => (Turn::ToBack, vec![h, w, c]),
        _ => (Turn::Keep, row.to_vec()),
    };
    let note = format!(
        "channels are moved: rows of shape {} are fed as {}",
        shape_text(row),
        shape_text(&shape)
    );
    fit(shape, turn, Some(note))
}

/// The fit of a given layout; none if the row lacks the axes for it.
fn fit_layout(row: &[usize], wanted: Option<&[Option<usize>]>, layout: Layout) -> Option<Fit> {
    if layout == Layout::Flat {
        let size = row.iter().product();
        let note = Some(format!("rows are fed as vectors of {size}"));
        return Some(fit(vec![size], Turn::Keep, note));
    }
    let image = match *row {
        [h, w] if layout == Layout::ChannelsFirst => vec![1, h, w],
        [h, w] => vec![h, w, 1],
        [_, _, _] => row.to_vec(),
        _ => return None,
    };
    let port = if channels_last(wanted.unwrap_or_default()) {
        Layout::ChannelsLast
    } else {
        Layout::ChannelsFirst
    };
    Some(if port == layout {
        fit(image, Turn::Keep, None)
    } else {
        turned(&image, layout)
    })
}

fn refusal(row: &[usize], port: &Port, layout: Option<Layout>) -> String {
    let advice = if layout.is_some() {
        "omit the layout, or give another one"
    } else {
        "bring the data to that shape (nothing is resized, cut or converted between gray and color here)"
    };
    let wanted: Vec<String> = port
        .dims
        .iter()
        .skip(1)
        .map(|d| d.map_or_else(|| "any".to_string(), |n| n.to_string()))
        .collect();
    let (shape, name, wanted) = (shape_text(row), &port.name, wanted.join(", "));
    format!("rows have the shape {shape}, but the input {name} of the model takes ({wanted}); {advice}")
}

/// What is done to the values, in `f32` and in the order of torchvision: scale, mean, std.
pub(super) struct Normalization {
    pub(super) scale: Option<f32>,
    pub(super) mean: Vec<f32>,
    pub(super) std: Vec<f32>,
    /// How many values follow each other in one channel.
    pub(super) inner: usize,
    pub(super) channels: usize,
}

impl Normalization {
    pub(super) fn apply(&self, row: &mut [f32]) {
        if let Some(scale) = self.scale {
            row.iter_mut().for_each(|x| *x /= scale);
        }
        if self.mean.is_empty() && self.std.is_empty() {
            return;
        }
        let of = |values: &[f32], c: usize| values.get(if values.len() == 1 { 0 } else { c }).copied();
        for (i, x) in row.iter_mut().enumerate() {
            let c = i / self.inner % self.channels;
            *x = (*x - of(&self.mean, c).unwrap_or(0.0)) / of(&self.std, c).unwrap_or(1.0);
        }
    }
}

#[cfg(test)]
mod tests;
