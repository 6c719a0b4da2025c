// SPDX-License-Identifier: MIT
//! What is fed to an encoder: rows of numbers, read a batch at a time.

use std::ops::Range;

use repscope_io::{Array, Data, Images};

use super::Batch;
use super::outputs::Output;
use crate::error::{Result, bail, wrong};

/// Rows of one shape.
pub trait Rows {
    /// How many rows there are.
    fn count(&self) -> usize;
    /// The shape of one row; empty where a row is a single number.
    fn shape(&self) -> &[usize];
    /// Short name of the stored type: `u8`, `f32`.
    fn dtype(&self) -> &str;
    /// Puts the values of some rows behind those that `into` holds.
    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()>;
}

/// Rows that are made of others as they are read: as many as `count` says, of their shape.
pub struct Made<'a, F> {
    /// What they are made of.
    pub rows: &'a dyn Rows,
    /// How many there are.
    pub count: usize,
    /// Reads some of them, as [`Rows::read`] does.
    pub read: F,
}

impl<F: Fn(Range<usize>, &mut Vec<f32>) -> Result<()>> Rows for Made<'_, F> {
    fn count(&self) -> usize {
        self.count
    }

    fn shape(&self) -> &[usize] {
        self.rows.shape()
    }

    fn dtype(&self) -> &str {
        self.rows.dtype()
    }

    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        (self.read)(rows, into)
    }
}

/// An array whose first axis counts rows. A mapped file stays mapped: only the rows of a batch are copied.
impl Rows for Array {
    fn count(&self) -> usize {
        self.rows()
    }

    fn shape(&self) -> &[usize] {
        &Array::shape(self)[1..]
    }

    fn dtype(&self) -> &str {
        Array::dtype(self)
    }

    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        let size: usize = Rows::shape(self).iter().product();
        let values = rows.start.saturating_mul(size)..rows.end.saturating_mul(size);
        fn take<T: Copy>(all: &[T], rows: Range<usize>, number: impl Fn(T) -> f32, into: &mut Vec<f32>) -> Option<()> {
            into.extend(all.get(rows)?.iter().map(|&value| number(value)));
            Some(())
        }
        let taken = match self.data() {
            Data::F32(v) => take((**v).as_ref(), values, |x| x, into),
            Data::F64(v) => take((**v).as_ref(), values, |x| x as f32, into),
            Data::U8(v) => take((**v).as_ref(), values, f32::from, into),
            Data::I64(v) => take(v, values, |x| x as f32, into),
            Data::U64(v) => take(v, values, |x| x as f32, into),
            Data::Bool(v) => take(v, values, |x| f32::from(u8::from(x)), into),
            _ => bail!(
                "the rows hold {}, not numbers, and cannot be fed to this encoder",
                Array::dtype(self)
            ),
        };
        taken.ok_or_else(|| wrong!("rows {rows:?} were requested, but there are {}", self.rows()))
    }
}

/// A folder of images, of which only those of a batch are decoded.
impl Rows for Images {
    fn count(&self) -> usize {
        Images::count(self)
    }

    fn shape(&self) -> &[usize] {
        Images::shape(self)
    }

    fn dtype(&self) -> &str {
        Images::dtype(self)
    }

    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        Ok(Images::read(self, rows, into)?)
    }
}

/// Clips seen as one row per frame: (N, T, …) as N·T rows of (…). The representation analysis has the one channel of its clips before
/// the time, (N, 1, T, H, W), which in memory is the same.
pub(super) struct Frames<'a> {
    clips: &'a dyn Rows,
    shape: Vec<usize>,
    per_clip: usize,
}

impl<'a> Frames<'a> {
    /// The frames of rows that have an axis of time and one more.
    pub(super) fn of(clips: &'a dyn Rows) -> Option<Self> {
        let (per_clip, shape) = match clips.shape() {
            [1, time, height, width] => (*time, vec![1, *height, *width]),
            [time, frame @ ..] if !frame.is_empty() => (*time, frame.to_vec()),
            _ => return None,
        };
        (per_clip > 0).then_some(Frames { clips, shape, per_clip })
    }

    /// How many frames a clip has: T.
    pub(super) fn per_clip(&self) -> usize {
        self.per_clip
    }
}

impl Rows for Frames<'_> {
    fn count(&self) -> usize {
        self.clips.count() * self.per_clip
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn dtype(&self) -> &str {
        self.clips.dtype()
    }

    fn read(&self, frames: Range<usize>, into: &mut Vec<f32>) -> Result<()> {
        // Whole clips are read, then the frames before and after are taken off.
        let size: usize = self.shape.iter().product();
        let clips = frames.start / self.per_clip..frames.end.div_ceil(self.per_clip);
        let before = into.len();
        let skipped = (frames.start - clips.start * self.per_clip) * size;
        self.clips.read(clips, into)?;
        into.drain(before..before + skipped);
        into.truncate(before + frames.len() * size);
        Ok(())
    }
}

/// Collects the embeddings of frames into those of complete clips: (T, D) for each.
pub(super) struct Regroup {
    per_clip: usize,
    /// Clips that were returned.
    done: usize,
    held: Vec<Output>,
}

impl Regroup {
    pub(super) fn new(per_clip: usize) -> Self {
        Regroup {
            per_clip,
            done: 0,
            held: Vec::new(),
        }
    }

    /// Takes the embeddings of frames and returns the clips that they complete.
    pub(super) fn take(&mut self, frames: Batch, on_batch: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        if self.held.is_empty() {
            self.held = frames.outputs;
        } else {
            let both = self.held.iter_mut().zip(frames.outputs);
            both.for_each(|(held, more)| held.values.extend(more.values));
        }
        let complete = (frames.first + frames.count) / self.per_clip - self.done;
        if complete == 0 {
            return Ok(());
        }
        let cut = |held: &mut Output| {
            let size: usize = held.shape.iter().product();
            Output {
                name: held.name.clone(),
                shape: vec![self.per_clip, size],
                values: held.values.drain(..complete * self.per_clip * size).collect(),
            }
        };
        let outputs = self.held.iter_mut().map(cut).collect();
        let first = self.done;
        self.done += complete;
        on_batch(Batch {
            first,
            count: complete,
            outputs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use repscope_io::{Array, Data};
    use std::sync::Arc;

    fn array(shape: &[usize]) -> Array {
        let values: Vec<f64> = (0..shape.iter().product::<usize>()).map(|i| i as f64).collect();
        Array::new(shape.to_vec(), "f64", Data::F64(Arc::new(values))).unwrap()
    }

    #[test]
    fn bytes_are_fed_as_numbers() {
        let bytes = Array::new(vec![3, 2], "u8", Data::U8(Arc::new(vec![0_u8, 1, 2, 255, 4, 5]))).unwrap();
        let mut read = Vec::new();
        bytes.read(1..3, &mut read).unwrap();
        assert_eq!(read, [2.0, 255.0, 4.0, 5.0]);
        assert!(bytes.read(2..4, &mut read).is_err());
    }

    #[test]
    fn rows_that_are_not_there_are_refused() {
        let data = array(&[3, 4]);
        assert!(data.read(2..4, &mut Vec::new()).is_err());
    }

    #[test]
    fn frames_across_clips_are_the_values_in_their_order() {
        let data = array(&[3, 4, 2]);
        let frames = Frames::of(&data).unwrap();
        assert_eq!((frames.count(), frames.shape(), frames.per_clip()), (12, &[2][..], 4));
        let mut read = vec![-1.0];
        frames.read(3..9, &mut read).unwrap();
        let expected: Vec<f32> = std::iter::once(-1.0).chain((6..18).map(|i| i as f32)).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn the_one_channel_of_a_clip_may_stand_before_its_time() {
        let data = array(&[2, 1, 4, 3, 3]);
        let frames = Frames::of(&data).unwrap();
        assert_eq!((frames.count(), frames.shape()), (8, &[1, 3, 3][..]));
        assert!(Frames::of(&array(&[2, 5])).is_none());
    }

    #[test]
    fn embeddings_of_frames_come_as_whole_clips_whatever_the_batches() {
        let mut regroup = Regroup::new(3);
        let mut clips = Vec::new();
        for (first, count) in [(0, 2), (2, 5), (7, 2)] {
            let output = Output {
                name: "z".to_string(),
                shape: vec![1],
                values: (first..first + count).map(|frame| frame as f32).collect(),
            };
            let outputs = vec![output];
            let batch = Batch { first, count, outputs };
            regroup
                .take(batch, &mut |clip| {
                    clips.push((clip.first, clip.count, clip.outputs[0].values.clone()));
                    assert_eq!(clip.outputs[0].shape, [3, 1]);
                    Ok(())
                })
                .unwrap();
        }
        assert_eq!(
            clips,
            [(0, 2, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), (2, 1, vec![6.0, 7.0, 8.0])]
        );
    }
}
