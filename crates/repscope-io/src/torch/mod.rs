// SPDX-License-Identifier: MIT
//! PyTorch's files: `.pth`, `.pt`, `.ckpt`, `.bin`. A pickle describes nested dicts, lists and objects;
//! the numbers lie outside it, in blocks that tensors are views of.
//!
//! Tensors are named by the keys that lead to them, joined with dots: `state_dict.fc.weight`. The pickle
//! is read by [`crate::pickle`], which executes nothing, and the numbers stay in the mapped file.

mod container;
mod layout;
mod tree;
mod walk;

pub(crate) use container::{Checkpoint, is_checkpoint};
pub(crate) use tree::tree;
pub(crate) use walk::{Leaf, leaves, plain_text};

use crate::array::{Array, ArrayInfo, Data};
use crate::choose::choose;
use crate::element::reserve;
use crate::error::{Parsed, Problem, bail, problem};
use crate::mapped::MappedFile;
use crate::read::Take;
use walk::{What, plain_list};

/// How many lines of the tree an error shows.
const LINES: usize = 30;

/// The tensors in the file, in the order of the file. Those of a type that is not read are left out.
pub(crate) fn list(file: &MappedFile) -> Parsed<Vec<ArrayInfo>> {
    let checkpoint = Checkpoint::open(file)?;
    let leaves = leaves(&checkpoint.pickled)?;
    let infos: Vec<ArrayInfo> = leaves.iter().filter_map(Leaf::info).collect();
    if infos.is_empty() {
        nothing(&checkpoint, &leaves)
    } else {
        Ok(infos)
    }
}

/// Reads one tensor; bytes and aligned `f32` and `f64` in C order stay where they are in the file.
pub(crate) fn read(file: &MappedFile, key: Option<&str>) -> Parsed<Array> {
    let checkpoint = Checkpoint::open(file)?;
    let leaves = leaves(&checkpoint.pickled)?;
    let named = |key: &str| leaves.iter().find(|leaf| leaf.name == key);
    if let Some(leaf) = key.and_then(named) {
        return leaf.read(&checkpoint);
    }
    if let Some(items) = key.and_then(|key| plain_list(&checkpoint.pickled, key)) {
        let count = items.len();
        let data = Data::from_objects(items);
        return Array::checked(vec![count], "object", data);
    }
    let readable: Vec<&Leaf> = leaves.iter().filter(|leaf| leaf.info().is_some()).collect();
    if readable.is_empty() {
        return nothing(&checkpoint, &leaves);
    }
    let infos: Vec<ArrayInfo> = readable.iter().filter_map(|leaf| leaf.info()).collect();
    readable[choose(&infos, key, "tensor")?].read(&checkpoint)
}

/// Reads every tensor, one after the other.
pub(crate) fn read_each(file: &MappedFile, take: Take) -> Parsed<()> {
    let checkpoint = Checkpoint::open(file)?;
    let leaves = leaves(&checkpoint.pickled)?;
    if leaves.iter().all(|leaf| leaf.info().is_none()) {
        return nothing(&checkpoint, &leaves);
    }
    for (leaf, info) in leaves.iter().filter_map(|leaf| Some((leaf, leaf.info()?))) {
        take(info.key, leaf.read(&checkpoint))?;
    }
    Ok(())
}

/// A file without tensors is never an empty result: it says what there is instead.
pub(crate) fn nothing<T>(checkpoint: &Checkpoint, leaves: &[Leaf]) -> Parsed<T> {
    if let Some((leaf, reason)) = leaves.iter().find_map(|leaf| Some((leaf, leaf.refusal()?))) {
        let others = match leaves.len() {
            1 => String::new(),
            n => format!(", nor are {} others", n - 1),
        };
        bail!("holds tensor `{}`, which {reason}{others}", leaf.name);
    }
    bail!("holds no tensor; it holds:\n{}", tree(&checkpoint.pickled, LINES))
}

impl Leaf {
    /// What is known of a tensor that can be read. A single number counts as one row.
    pub(crate) fn info(&self) -> Option<ArrayInfo> {
        let (shape, dtype) = self.what.shape_and_dtype()?;
        let key = (!self.name.is_empty()).then(|| self.name.clone());
        Some(ArrayInfo::new(key, if shape.is_empty() { &[1] } else { shape }, dtype))
    }

    pub(crate) fn read(&self, checkpoint: &Checkpoint) -> Parsed<Array> {
        let read = match &self.what {
            What::Tensor(layout) => layout.read(checkpoint),
            What::Numpy(array) => array.read(&checkpoint.pickled),
            What::Refused(reason) => Err(Problem::new(reason.clone())),
        };
        let (shape, dtype) = self.what.shape_and_dtype().unwrap_or_default();
        let shape = if shape.is_empty() { vec![1] } else { shape.to_vec() };
        Array::checked(shape, dtype, read.map_err(|p| self.problem(p))?)
    }

    /// Reads an array of two or more axes with the first two exchanged. A tensor that was saved as a transposed view
    /// lies in the right order already.
    pub(crate) fn read_swapped(&self, checkpoint: &Checkpoint) -> Parsed<Array> {
        let (shape, dtype) = self.what.shape_and_dtype().unwrap_or_default();
        let &[a, b, ref inner @ ..] = shape else {
            bail!("holds tensor `{}`, which has no two axes", self.name);
        };
        let swapped: Vec<usize> = [b, a].into_iter().chain(inner.iter().copied()).collect();
        let read = match &self.what {
            What::Tensor(layout) => layout.swapped(0, 1).read(checkpoint),
            What::Numpy(array) => array.read(&checkpoint.pickled).and_then(|data| swap(data, a, b)),
            What::Refused(reason) => Err(Problem::new(reason.clone())),
        };
        Array::checked(swapped, dtype, read.map_err(|p| self.problem(p))?)
    }

    fn problem(&self, found: Problem) -> Problem {
        problem!("holds tensor `{}`, which {found}", self.name)
    }
}

/// Exchanges the first two axes, of sizes `a` and `b`.
fn swap(data: Data, a: usize, b: usize) -> Parsed<Data> {
    fn rows<T: Copy>(values: &[T], a: usize, b: usize) -> Parsed<Vec<T>> {
        let inner = values.len() / (a * b).max(1);
        let mut swapped = reserve(values.len())?;
        for j in 0..b {
            (0..a).for_each(|i| swapped.extend_from_slice(&values[(i * b + j) * inner..][..inner]));
        }
        Ok(swapped)
    }
    if a == 1 || b == 1 || data.is_empty() {
        return Ok(data);
    }
    match data {
        Data::F32(v) => rows((*v).as_ref(), a, b).map(Data::f32),
        Data::F64(v) => rows((*v).as_ref(), a, b).map(Data::f64),
        Data::U8(v) => rows((*v).as_ref(), a, b).map(Data::u8),
        _ => bail!("has its axes in another order than it is needed in; save it as float32 or as bytes"),
    }
}
