// SPDX-License-Identifier: MIT
//! The states of an agent with their stop flags, as collected and saved with `torch.save`.
//!
//! Such a file holds parts, often `train_dataset` and `val_dataset`, that are dicts or objects of a class of their
//! author. A part is known by its tensors: `states` of four axes, and `stop_episodes`, true for the last state of each
//! episode. States are [C, T, H, W] or [T, C, H, W]; the axis that is as long as the flags is time.

use std::collections::HashMap;

use crate::array::{Array, Data, Shape};
use crate::error::{Parsed, Result, bail};
use crate::format::Format;
use crate::mapped::MappedFile;
use crate::path::InputPath;
use crate::read::open;
use crate::torch::{Checkpoint, Leaf, leaves};

/// The part that is taken where none is named: models are judged on states they were not trained on.
const USUAL: &str = "val_dataset";

/// One part of a file of states.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The states, (T, C, H, W). They stay in the mapped file where their order allows it, as it does for one channel.
    pub states: Array,
    /// A boolean for each state: whether its episode ends with it.
    pub stops: Array,
    /// The name of the part; empty where the file is one.
    pub part: String,
}

/// Reads `file.pth#part`; without a key `val_dataset`, or the only part. `None` where the file is no such dataset, or
/// the key names something else in it.
pub fn read_dataset(input: &InputPath) -> Result<Option<Dataset>> {
    if Format::of_path(&input.path) != Some(Format::Torch) {
        return Ok(None);
    }
    let (_, file) = open(&input.path)?;
    read(&file, input.key.as_deref()).map_err(|p| p.in_file(input))
}

fn read(file: &MappedFile, key: Option<&str>) -> Parsed<Option<Dataset>> {
    let checkpoint = Checkpoint::open(file)?;
    let leaves = leaves(&checkpoint.pickled)?;
    let parts = parts(&leaves);
    let named = |name: &str| parts.iter().find(|part| part.name == name);
    let part = match (key, &parts[..]) {
        (_, []) => None,
        (Some(key), _) => named(key),
        (None, [only]) => Some(only),
        (None, several) => match named(USUAL) {
            Some(part) => Some(part),
            None => {
                let names: Vec<String> = several.iter().take(20).map(|part| format!("`{}`", part.name)).collect();
                let (count, names) = (several.len(), names.join(", "));
                bail!("holds {count} datasets, none of which is `{USUAL}`; pick one with #name: {names}");
            }
        },
    };
    part.map(|part| part.read(&checkpoint)).transpose()
}

struct Part<'a> {
    name: &'a str,
    states: &'a Leaf,
    stops: &'a Leaf,
}

fn parts(leaves: &[Leaf]) -> Vec<Part<'_>> {
    let by_name: HashMap<&str, &Leaf> = leaves.iter().map(|leaf| (leaf.name.as_str(), leaf)).collect();
    let part = |states: &'_ Leaf| -> Option<(usize, String)> {
        let before = states.name.strip_suffix("states")?;
        let is_key = before.is_empty() || before.ends_with('.');
        let is_image = states.shape().is_some_and(|shape| shape.len() == 4);
        (is_key && is_image).then(|| (before.len(), format!("{before}stop_episodes")))
    };
    let found = leaves.iter().filter_map(|states| {
        let (length, stops) = part(states)?;
        Some(Part {
            name: states.name[..length].trim_end_matches('.'),
            states,
            stops: by_name.get(stops.as_str())?,
        })
    });
    found.collect()
}

impl Part<'_> {
    fn read(&self, checkpoint: &Checkpoint) -> Parsed<Dataset> {
        let stops = to_truths(self.stops.read(checkpoint)?, &self.stops.name)?;
        let (count, shape) = (stops.rows(), self.states.shape().unwrap_or_default());
        let states = match (shape[0] == count, shape[1] == count) {
            (true, true) if count > 1 => bail!(
                "holds `{}` of shape {} and {count} stop flags, so that either of its first two axes may be time; \
                     save states and flags of another number of steps",
                self.states.name,
                Shape(shape)
            ),
            (true, _) => self.states.read(checkpoint)?,
            (false, true) => self.states.read_swapped(checkpoint)?,
            (false, false) => bail!(
                "holds `{}` of shape {} but {count} stop flags in `{}`; there must be a flag for each of {} or {} \
                     states",
                self.states.name,
                Shape(shape),
                self.stops.name,
                shape[1],
                shape[0]
            ),
        };
        Ok(Dataset {
            states,
            stops,
            part: self.name.to_string(),
        })
    }
}

/// Flags are booleans; some write them as numbers.
fn to_truths(array: Array, name: &str) -> Parsed<Array> {
    if array.shape().len() != 1 {
        let (shape, rows) = (Shape(array.shape()), array.rows());
        bail!("holds `{name}` of shape {shape}; stop flags are one value per state, shape ({rows},)");
    }
    let truth = |(row, value): (usize, f64)| match value {
        0.0 => Ok(false),
        1.0 => Ok(true),
        other => bail!("holds {other} at row {row} of `{name}`; stop flags are true or false, 1 or 0"),
    };
    let (rows, dtype) = (array.rows(), array.dtype().to_string());
    let truths = match array.into_data() {
        Data::Bool(truths) => truths,
        Data::U8(v) => flags((*v).as_ref().iter().map(|&x| f64::from(x)), truth)?,
        Data::F32(v) => flags((*v).as_ref().iter().map(|&x| f64::from(x)), truth)?,
        Data::F64(v) => flags((*v).as_ref().iter().copied(), truth)?,
        Data::I64(v) => flags(v.iter().map(|&x| x as f64), truth)?,
        _ => bail!("holds {dtype} in `{name}`; stop flags are booleans"),
    };
    Array::checked(vec![rows], "bool", Data::Bool(truths))
}

fn flags(values: impl Iterator<Item = f64>, truth: impl Fn((usize, f64)) -> Parsed<bool>) -> Parsed<Vec<bool>> {
    values.enumerate().map(truth).collect()
}
