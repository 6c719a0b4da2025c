// SPDX-License-Identifier: MIT
//! From a view to its numbers. A tensor is an offset, a shape and strides over a block; transposed and
//! sliced tensors share their block with others, and a stride of 0 repeats numbers.

use std::io::Read;

use super::container::Checkpoint;
use crate::array::{Data, Shape, count};
use crate::error::{Parsed, bail, problem};
use crate::mapped::mapped_data;
use crate::npy::{Content, Header, read_values};
use crate::pickle::{Id, Kind, NumpyArray, Pickled, Tensor, Value};

/// More dimensions are refused.
const DIMENSIONS: usize = 64;

/// A tensor that repeats its numbers may become this long, 1 GiB of `f32`.
const REPEATED_LIMIT: usize = 1 << 28;

/// A view of a block, with sizes that are no longer negative.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(super) kind: Kind,
    key: String,
    /// Bytes that the pickle promises the block has.
    promised: usize,
    pub(super) offset: usize,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
}

/// A NumPy array inside the pickle.
#[derive(Debug, Clone)]
pub(crate) struct Inner {
    pub(super) shape: Vec<usize>,
    pub(super) content: Content,
    fortran_order: bool,
    data: Id,
}

impl Layout {
    /// The view that a tensor is; what is wrong with it is damage.
    pub(super) fn of(pickled: &Pickled, tensor: &Tensor) -> Parsed<Layout> {
        let Value::Storage(storage) = pickled.get(tensor.storage) else {
            bail!("has no storage");
        };
        let kind = tensor.kind.unwrap_or(storage.kind);
        let offset = size(pickled.int(tensor.offset), "offset")?;
        // A view of an older file begins somewhere in its block.
        let offset = size(Some(storage.start), "start")?.checked_add(offset);
        let promised = size(Some(storage.count), "storage size")?.checked_mul(storage.kind.bytes());
        let (Some(offset), Some(promised)) = (offset, promised) else {
            bail!("has sizes that cannot be counted");
        };
        let shape = sizes(pickled, tensor.shape)?;
        let strides = sizes(pickled, tensor.strides)?;
        if shape.len() != strides.len() {
            bail!("has {} sizes but {} strides", shape.len(), strides.len());
        }
        Ok(Layout {
            kind,
            key: storage_key(pickled, storage.key)?,
            promised,
            offset,
            shape,
            strides,
        })
    }

    /// A storage that was saved without a tensor: all its numbers in a row.
    pub(super) fn of_storage(pickled: &Pickled, storage: &crate::pickle::Storage) -> Parsed<Layout> {
        let numbers = size(Some(storage.count), "storage size")?;
        Ok(Layout {
            kind: storage.kind,
            key: storage_key(pickled, storage.key)?,
            promised: numbers.saturating_mul(storage.kind.bytes()),
            offset: size(Some(storage.start), "start")?,
            shape: vec![numbers],
            strides: vec![1],
        })
    }

    /// The numbers, in C order.
    pub(super) fn read(&self, checkpoint: &Checkpoint) -> Parsed<Data> {
        let Kind::Read(element) = self.kind else {
            bail!("{}", refusal(self.kind));
        };
        let Some(block) = checkpoint.blocks.get(&self.key) else {
            bail!("lies in the storage `{}`, which the file does not have", self.key);
        };
        if self.promised > block.len() {
            let (promised, count) = (&self.promised, block.len());
            bail!(
                "lies in a storage that should have {promised} bytes but has {count}; the file may have been cut off while copying"
            );
        }
        let stored = block.len() / element.bytes();
        let total = self.check(stored)?;
        let bytes = &checkpoint.file[block.clone()];
        let (width, order) = (element.bytes(), checkpoint.order);
        if total == 0 {
            return element.read(&mut &[][..], order, 0);
        }
        if !self.is_contiguous() {
            return element.read(&mut Gather::new(self, bytes, width), order, total);
        }
        let start = block.start + self.offset * width;
        match mapped_data(&checkpoint.file, element, order, start, total)? {
            Some(data) => Ok(data),
            None => element.read(&mut &bytes[self.offset * width..], order, total),
        }
    }

    /// How many numbers it has, all of which lie among the `stored` ones.
    fn check(&self, stored: usize) -> Parsed<usize> {
        let uncountable = || problem!("has shape {}, more than memory can hold", Shape(&self.shape));
        let total = count(&self.shape).ok_or_else(uncountable)?;
        if total == 0 {
            return Ok(0);
        }
        let mut steps = self.shape.iter().zip(&self.strides);
        let last = steps.try_fold(self.offset, |last, (&n, &stride)| {
            last.checked_add((n - 1).checked_mul(stride)?)
        });
        match last {
            Some(last) if last < stored => {}
            _ => {
                let needed = last.map_or("more than can be counted".to_string(), |last| (last + 1).to_string());
                let (shape, strides) = (Shape(&self.shape), Shape(&self.strides));
                bail!(
                    "has shape {shape} and strides {strides}, which needs {needed} numbers in its storage, but there are {stored}"
                );
            }
        }
        if total > stored && total > REPEATED_LIMIT {
            bail!("repeats {stored} numbers to {total}; at most {REPEATED_LIMIT} are read");
        }
        Ok(total)
    }

    /// Whether the numbers lie in C order without gaps; strides of dimensions of size 1 do not matter.
    fn is_contiguous(&self) -> bool {
        let mut step = 1;
        self.shape.iter().zip(&self.strides).rev().all(|(&n, &stride)| {
            let fits = n == 1 || stride == step;
            step *= n;
            fits
        })
    }

    /// The same view with two axes exchanged.
    pub(super) fn swapped(&self, a: usize, b: usize) -> Layout {
        let mut layout = self.clone();
        layout.shape.swap(a, b);
        layout.strides.swap(a, b);
        layout
    }
}

impl Inner {
    pub(super) fn of(pickled: &Pickled, array: &NumpyArray) -> Parsed<Inner> {
        let Value::Dtype(dtype) = pickled.get(array.dtype) else {
            bail!("has no type");
        };
        Ok(Inner {
            shape: sizes(pickled, array.shape)?,
            content: dtype.content()?,
            fortran_order: array.fortran_order,
            data: array.data,
        })
    }

    pub(super) fn read(&self, pickled: &Pickled) -> Parsed<Data> {
        let Value::Bytes(bytes) = pickled.get(self.data) else {
            bail!("holds Python objects, which are not read; save them as a tensor or as text");
        };
        let header = Header {
            shape: if self.shape.is_empty() {
                vec![1]
            } else {
                self.shape.clone()
            },
            fortran_order: self.fortran_order,
            content: self.content,
            bytes: 0,
        };
        header.check_size(bytes.len() as u64)?;
        Ok(read_values(header, &mut &bytes[..], bytes.len() as u64)?.into_data())
    }
}

/// Why numbers of this type are not read.
pub(super) fn refusal(kind: Kind) -> String {
    let name = kind.name();
    let advice = if name.starts_with("complex") {
        "save torch.view_as_real(x)"
    } else {
        "save x.float()"
    };
    format!("holds values of type {name}, which are not read; {advice}")
}

fn storage_key(pickled: &Pickled, id: Id) -> Parsed<String> {
    match (pickled.text(id), pickled.int(id)) {
        // Real keys are short numbers.
        (Some(text), _) if text.len() <= 100 => Ok(text.to_string()),
        (_, Some(number)) => Ok(number.to_string()),
        _ => bail!("lies in a storage without a name"),
    }
}

fn sizes(pickled: &Pickled, id: Id) -> Parsed<Vec<usize>> {
    match pickled.parts(id) {
        Some(parts) if parts.len() <= DIMENSIONS => parts.iter().map(|&part| size(pickled.int(part), "size")).collect(),
        Some(parts) => bail!("has {} dimensions; at most {DIMENSIONS} are read", parts.len()),
        None => bail!("has no shape"),
    }
}

fn size(number: Option<i64>, what: &str) -> Parsed<usize> {
    let Some(number) = number else {
        bail!("has a {what} that is no integer");
    };
    usize::try_from(number).map_err(|_| problem!("has the negative {what} {number}"))
}

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
