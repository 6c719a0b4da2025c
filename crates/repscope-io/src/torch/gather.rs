// SPDX-License-Identifier: MIT
//! The numbers of a view that do not lie side by side.

use std::io::Read;

use super::layout::Layout;

/// How many numbers of a view are gathered at once.
const GATHERED: usize = 16 * 1024;

/// The bytes of the numbers of a view in C order, a part at a time, so that they are never held beside the
/// numbers that are made of them. `Layout::check` has passed, and there is at least one number.
pub(super) struct Gather<'a> {
    layout: &'a Layout,
    bytes: &'a [u8],
    width: usize,
    /// An index for each axis but the last, and where the row that it stands for begins; `None` at the end.
    index: Vec<usize>,
    row: Option<usize>,
    /// How many numbers of the row have been gathered.
    column: usize,
    part: Vec<u8>,
    /// How much of the part has been handed out.
    done: usize,
}

impl<'a> Gather<'a> {
    pub(super) fn new(layout: &'a Layout, bytes: &'a [u8], width: usize) -> Self {
        Gather {
            layout,
            bytes,
            width,
            index: vec![0; layout.shape.len().saturating_sub(1)],
            row: Some(layout.offset),
            column: 0,
            part: Vec::new(),
            done: 0,
        }
    }

    fn next_part(&mut self) {
        self.part.clear();
        self.done = 0;
        let (Some(row), Some(&inner), Some(&stride)) = (self.row, self.layout.shape.last(), self.layout.strides.last())
        else {
            return;
        };
        let end = inner.min(self.column + GATHERED);
        if stride == 1 {
            let numbers = (row + self.column) * self.width..(row + end) * self.width;
            self.part.extend_from_slice(&self.bytes[numbers]);
        } else {
            for j in self.column..end {
                let start = (row + j * stride) * self.width;
                self.part.extend_from_slice(&self.bytes[start..start + self.width]);
            }
        }
        self.column = end;
        if end == inner {
            self.column = 0;
            self.row = self.next_row(row);
        }
    }

    fn next_row(&mut self, mut row: usize) -> Option<usize> {
        for axis in (0..self.index.len()).rev() {
            let (size, stride) = (self.layout.shape[axis], self.layout.strides[axis]);
            self.index[axis] += 1;
            row += stride;
            if self.index[axis] < size {
                return Some(row);
            }
            row -= stride * size;
            self.index[axis] = 0;
        }
        None
    }
}

impl Read for Gather<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.done == self.part.len() {
            self.next_part();
        }
        let count = into.len().min(self.part.len() - self.done);
        into[..count].copy_from_slice(&self.part[self.done..self.done + count]);
        self.done += count;
        Ok(count)
    }
}
