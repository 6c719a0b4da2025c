// SPDX-License-Identifier: MIT
//! Predictions in a folder: `labels/HEAD.npy`, `baseline/HEAD.npy`, `top1/HEAD.npy` and so on, or under the same names in the
//! memory of a program. What a run with a model
//! finishes is kept in the same form, so that an interrupted one goes on, and a finished one can be scored again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use repscope_core::{Head, Labels, Perturbation, PerturbedSet};
use repscope_io::{Array, Data, InputPath, join_rows, read_ids, read_texts};
use serde::{Deserialize, Serialize};

use super::classify::place_of_largest;
use crate::reader::Reader;
use crate::search::list;
use crate::source::{Bind, Named, Place, Source};

pub const LABELS: &str = "labels";
pub const BASELINE: &str = "baseline";
const CLASSES: &str = "classes";
/// Which share of each sample was masked.
pub const MASKED: &str = "masked.npy";
pub const NOT_HEADS: [&str; 2] = ["ids", "masked"];

/// What the option is given.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Predictions {
    /// A folder.
    Folder(PathBuf),
    /// Arrays of a program, called `labels/HEAD`, `baseline/HEAD`, `top1/HEAD`.
    Arrays(Vec<Named>),
}

impl From<&str> for Predictions {
    fn from(text: &str) -> Self {
        Predictions::Folder(text.into())
    }
}

impl Bind for Predictions {
    fn sources(&mut self, visit: &mut dyn FnMut(&mut Source)) {
        match self {
            Predictions::Folder(folder) => super::visit_path(folder, visit),
            Predictions::Arrays(arrays) => arrays.sources(visit),
        }
    }
}

/// Where labels and predictions are, by part and head.
pub enum Shelf {
    /// `PART/HEAD.npy` in a folder.
    Folder(PathBuf),
    /// `PART/HEAD` and its array.
    Arrays(Vec<(String, String, Place)>),
}

impl Shelf {
    pub fn open(predictions: &Predictions) -> Result<Self> {
        match predictions {
            Predictions::Folder(folder) if !folder.is_dir() => {
                bail!("{}: there is no such folder of predictions", folder.display())
            }
            Predictions::Folder(folder) => Ok(Shelf::Folder(folder.clone())),
            Predictions::Arrays(arrays) => {
                let one = |given: &Named| {
                    let Some((part, head)) = given.name().and_then(|name| name.split_once('/')) else {
                        bail!("`predictions` = {given} must have a name PART/HEAD, such as labels/class");
                    };
                    let place = match given {
                        Named::Source(_, source, _) => source.place()?,
                        Named::Text(text) => Place::File(InputPath::parse(text.split_once('=').unwrap_or_default().1)),
                    };
                    Ok((part.to_string(), head.to_string(), place))
                };
                Ok(Shelf::Arrays(arrays.iter().map(one).collect::<Result<_>>()?))
            }
        }
    }

    /// Labels, baseline and perturbations, by name.
    fn parts(&self) -> Result<Vec<String>> {
        match self {
            Shelf::Folder(folder) => folders(folder),
            Shelf::Arrays(arrays) => {
                let parts: BTreeSet<&String> = arrays.iter().map(|(part, ..)| part).collect();
                Ok(parts.into_iter().cloned().collect())
            }
        }
    }

    /// The heads that a part has arrays of.
    fn heads(&self, part: &str) -> Result<Vec<String>> {
        let mut names = match self {
            Shelf::Folder(folder) => heads(&folder.join(part))?,
            Shelf::Arrays(arrays) => {
                let own = arrays.iter().filter(|(own, ..)| own == part);
                own.map(|(_, head, _)| head.clone()).collect()
            }
        };
        names.sort();
        Ok(names)
    }

    fn place(&self, part: &str, head: &str) -> Result<Place> {
        match self {
            Shelf::Folder(folder) => {
                let file = folder.join(part).join(format!("{head}.npy"));
                Ok(Place::File(InputPath::file(file)))
            }
            Shelf::Arrays(arrays) => {
                let found = arrays.iter().find(|(own, name, _)| own == part && name == head);
                let (_, _, place) = found.with_context(|| format!("there is no {part} of the head {head}"))?;
                Ok(place.clone())
            }
        }
    }

    /// A file beside the arrays, where there is one.
    fn file(&self, part: &str, name: &str) -> Option<PathBuf> {
        match self {
            Shelf::Folder(folder) => Some(folder.join(part).join(name)).filter(|file| file.is_file()),
            Shelf::Arrays(_) => None,
        }
    }
}

impl std::fmt::Display for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shelf::Folder(folder) => write!(f, "{}", folder.display()),
            Shelf::Arrays(_) => f.write_str("predictions"),
        }
    }
}

/// What stands for the classes of some samples.
enum Said {
    /// Numbers of classes.
    Codes(Vec<u32>),
    /// Their names.
    Names(Vec<String>),
    /// The largest of a row of outputs, and how many there are.
    Largest(Vec<u32>, usize),
}

/// Reads predictions, and the suffix that the perturbations have.
pub fn read(
    shelf: &Shelf,
    given: &[String],
    groups: Option<Labels>,
    reader: &mut Reader,
) -> Result<(Perturbation, String)> {
    let parts = shelf.parts()?;
    for part in [LABELS, BASELINE] {
        if !parts.iter().any(|own| own == part) {
            let there = match &parts[..] {
                [] => "it has no folders at all".to_string(),
                some => format!("there are {}", list(some.iter().map(String::as_str))),
            };
            bail!("{shelf} has no folder `{part}`, which holds {part}/HEAD.npy; {there}");
        }
    }
    let names = shelf.heads(LABELS)?;
    if names.is_empty() {
        bail!("{shelf} holds no {LABELS}/HEAD.npy");
    }
    let given = super::classes::said(given, &names)?;
    let mut sets = Vec::new();
    let mut suffix = None;
    for part in parts {
        if [LABELS, BASELINE, CLASSES].contains(&part.as_str()) {
            continue;
        }
        let Some((family, percent, rest)) = parse(&part) else {
            bail!(
                "the folder `{part}` is no perturbation by its name; call it by what is masked and how many percent, such as \
                 top1 or random2_blackout"
            );
        };
        suffix.get_or_insert(rest.to_string());
        sets.push((part.clone(), family.to_string(), percent));
    }
    sets.sort_by(|a, b| {
        (family_place(&a.1), &a.1)
            .cmp(&(family_place(&b.1), &b.1))
            .then(a.2.total_cmp(&b.2))
    });
    for part in std::iter::once(BASELINE).chain(sets.iter().map(|(part, ..)| part.as_str())) {
        let own = shelf.heads(part)?;
        if own != names {
            bail!(
                "{} has the heads {}, but {part} has {}; every folder needs the same",
                LABELS,
                list(names.iter().map(String::as_str)),
                list(own.iter().map(String::as_str))
            );
        }
    }
    let orders = orders(shelf, &sets)?;
    let take = |part: &str, codes: Vec<u32>| match orders.get(part) {
        Some(order) => order.iter().map(|&row| codes[row]).collect(),
        None => codes,
    };
    let mut all_heads = Vec::new();
    let mut of_sets: Vec<Vec<Vec<u32>>> = vec![Vec::new(); sets.len()];
    for (name, given) in names.iter().zip(given) {
        let said = |part: &str, reader: &mut Reader| said(&shelf.place(part, name)?, reader);
        let labels = said(LABELS, reader)?;
        let baseline = said(BASELINE, reader)?;
        let mut perturbed = Vec::new();
        for (part, ..) in &sets {
            perturbed.push(said(part, reader)?);
        }
        let everything = || [&labels, &baseline].into_iter().chain(&perturbed);
        let classes = match given {
            Some(classes) => classes,
            None => classes(shelf, name, &mut everything())?,
        };
        let code = |part: &str, said: &Said| -> Result<Vec<u32>> {
            let codes = codes(said, &classes).with_context(|| format!("{part}/{name}.npy"))?;
            let rows = orders.get(part).map_or(codes.len(), Vec::len);
            if orders.contains_key(part) && rows > codes.len() {
                bail!("{part}/{name}.npy has {} samples but {rows} ids", codes.len());
            }
            Ok(take(part, codes))
        };
        for (of_set, ((part, ..), said)) in of_sets.iter_mut().zip(sets.iter().zip(&perturbed)) {
            of_set.push(code(part, said)?);
        }
        all_heads.push(Head {
            name: name.clone(),
            labels: code(LABELS, &labels)?,
            baseline: code(BASELINE, &baseline)?,
            classes,
        });
    }
    let mut perturbed = Vec::new();
    for ((part, family, percent), predictions) in sets.into_iter().zip(of_sets) {
        let shares = match shelf.file(&part, MASKED) {
            Some(file) => shares_of(&file, reader)?,
            None => None,
        };
        let [masked_lit, masked_all] = mean_shares(shares.as_deref().unwrap_or_default());
        perturbed.push(PerturbedSet {
            name: format!("{family}{percent}"),
            family,
            percent,
            predictions,
            masked_lit,
            masked_all,
        });
    }
    let perturbation = Perturbation {
        heads: all_heads,
        sets: perturbed,
        groups: groups.map(|groups| in_order(groups, orders.get(LABELS))).transpose()?,
    };
    perturbation.check()?;
    Ok((
        perturbation,
        suffix
            .filter(|s| !s.is_empty())
            .unwrap_or_else(|| "blackout".to_string()),
    ))
}

/// Groups in the order of the samples.
fn in_order(groups: Labels, order: Option<&Vec<usize>>) -> Result<Labels> {
    match order {
        Some(order) if order.len() != groups.rows() => {
            let (given, samples) = (groups.rows(), order.len());
            bail!(
                "`groups` has {given} groups but there are {samples} samples; give one per sample, in the order of {LABELS}"
            )
        }
        Some(order) => Ok(groups.select(order)),
        None => Ok(groups),
    }
}

/// `top1_blackout` is 1 % of the family top, with the suffix blackout.
pub fn parse(name: &str) -> Option<(&str, f64, &str)> {
    let start = name.find(|c: char| c.is_ascii_digit())?;
    let (family, rest) = name.split_at(start);
    let end = rest
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(rest.len());
    let percent: f64 = rest[..end].parse().ok()?;
    let suffix = &rest[end..];
    let is_suffix = suffix.is_empty() || suffix.starts_with('_');
    (!family.is_empty() && percent > 0.0 && is_suffix)
        .then(|| (family.trim_end_matches('_'), percent, suffix.trim_start_matches('_')))
}

/// Top, bottom and random first, as the original scripts have them; others by name.
fn family_place(family: &str) -> usize {
    let known = ["top", "bottom", "random"];
    known.iter().position(|name| *name == family).unwrap_or(known.len())
}

fn folders(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !name.starts_with('.') && !name.ends_with(".part") {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The heads that a folder has arrays of.
fn heads(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|e| e == "npy") && !NOT_HEADS.contains(&stem.as_str()) {
            names.push(stem);
        }
    }
    names.sort();
    Ok(names)
}

fn said(place: &Place, reader: &mut Reader) -> Result<Said> {
    let array = reader.array(place)?;
    match array.shape() {
        [_] => one_per_sample(&array).with_context(|| place.to_string()),
        [_, width] if *width > 1 => {
            let width = *width;
            let values = floats(&array).with_context(|| place.to_string())?;
            if values.iter().any(|value| value.is_nan()) {
                bail!("{place} holds NaN, of which none is the largest");
            }
            Ok(Said::Largest(
                values.chunks_exact(width).map(place_of_largest).collect(),
                width,
            ))
        }
        shape => bail!("{place} has the shape {shape:?}; a class per sample is needed, or a row of outputs"),
    }
}

fn one_per_sample(array: &Array) -> Result<Said> {
    let code = |value: i64| match u32::try_from(value) {
        Ok(code) => Ok(code),
        Err(_) => bail!("holds the class {value}; classes are counted from 0"),
    };
    Ok(match array.data() {
        Data::Text(names) => Said::Names(names.clone()),
        Data::I64(values) => Said::Codes(values.iter().map(|&v| code(v)).collect::<Result<_>>()?),
        Data::U64(values) => Said::Codes(
            values
                .iter()
                .map(|&v| code(i64::try_from(v).unwrap_or(i64::MAX)))
                .collect::<Result<_>>()?,
        ),
        Data::U8(values) => Said::Codes((**values).as_ref().iter().map(|&v| u32::from(v)).collect()),
        _ => bail!("holds {}; a class per sample is an integer or a name", array.dtype()),
    })
}

fn floats(array: &Array) -> Result<Vec<f32>> {
    let mut values = Vec::new();
    repscope_models::Rows::read(array, 0..array.rows(), &mut values)?;
    Ok(values)
}

/// The names of the classes of a head: from their file, from the names that occur, or numbers.
fn classes(shelf: &Shelf, head: &str, said: &mut dyn Iterator<Item = &Said>) -> Result<Vec<String>> {
    if let Some(file) = shelf.file(CLASSES, &format!("{head}.txt")) {
        return Ok(read_texts(&InputPath::file(file))?);
    }
    let mut names = std::collections::BTreeSet::new();
    let mut count = 0;
    for said in said {
        match said {
            Said::Names(own) => names.extend(own.iter().cloned()),
            Said::Codes(codes) => count = count.max(codes.iter().max().map_or(0, |&c| c as usize + 1)),
            Said::Largest(_, width) => count = count.max(*width),
        }
    }
    if !names.is_empty() && count > 0 {
        bail!(
            "head `{head}` has names of classes in some folders and numbers in others; say which number is which name in \
             `classes`, or in {CLASSES}/{head}.txt, a name per line"
        );
    }
    Ok(if names.is_empty() {
        (0..count).map(|class| class.to_string()).collect()
    } else {
        names.into_iter().collect()
    })
}

fn codes(said: &Said, classes: &[String]) -> Result<Vec<u32>> {
    match said {
        Said::Codes(codes) => Ok(codes.clone()),
        Said::Largest(codes, width) if *width == classes.len() => Ok(codes.clone()),
        Said::Largest(_, width) => bail!(
            "has {width} outputs per sample, but there are {} classes; there must be as many",
            classes.len()
        ),
        Said::Names(names) => {
            let places: BTreeMap<&str, u32> = classes.iter().zip(0..).map(|(name, i)| (name.as_str(), i)).collect();
            let place = |name: &String| match places.get(name.as_str()) {
                Some(place) => Ok(*place),
                None => bail!(
                    "holds the class `{name}`, which is none of {}",
                    list(classes.iter().map(String::as_str))
                ),
            };
            names.iter().map(place).collect()
        }
    }
}

/// The order of the samples of each folder that stands for the ids of all, where there are ids. Others than those of the
/// labels are an error.
fn orders(shelf: &Shelf, sets: &[(String, String, f64)]) -> Result<BTreeMap<String, Vec<usize>>> {
    let parts = [LABELS, BASELINE]
        .into_iter()
        .chain(sets.iter().map(|(part, ..)| part.as_str()));
    let parts: Vec<&str> = parts.collect();
    let file =
        |part: &str| -> Option<PathBuf> { ["ids.npy", "ids.txt"].iter().find_map(|name| shelf.file(part, name)) };
    let with: Vec<&str> = parts.iter().copied().filter(|part| file(part).is_some()).collect();
    if with.is_empty() {
        return Ok(BTreeMap::new());
    }
    if let Some(without) = parts.iter().find(|part| file(part).is_none()) {
        bail!(
            "`{}` has ids but `{without}` has none; give every folder its ids, or none",
            with[0]
        );
    }
    let mut lists = Vec::new();
    for part in &parts {
        let path = InputPath::file(file(part).unwrap_or_default());
        lists.push(read_ids(&path).with_context(|| format!("reading the ids of `{part}`"))?);
    }
    let named: Vec<(&str, &[String])> = parts.iter().copied().zip(lists.iter().map(Vec::as_slice)).collect();
    let joined = join_rows(&named)?;
    if let Some((part, dropped)) = parts.iter().zip(&joined.dropped).find(|(_, dropped)| **dropped > 0) {
        bail!(
            "{dropped} samples of `{part}` are not in all other folders; images with and without perturbation must be the same"
        );
    }
    Ok(parts.iter().map(ToString::to_string).zip(joined.orders).collect())
}

/// Classes that were stored as numbers.
pub fn codes_of(path: &Path, reader: &mut Reader) -> Result<Vec<u32>> {
    match said(&Place::File(InputPath::file(path)), reader)? {
        Said::Codes(codes) => Ok(codes),
        _ => bail!("{} is damaged: it does not hold numbers of classes", path.display()),
    }
}

/// For each sample the shares of lit and of all pixels that were masked, where they were stored.
pub fn shares_of(path: &Path, reader: &mut Reader) -> Result<Option<Vec<Option<[f32; 2]>>>> {
    if !path.is_file() {
        return Ok(None);
    }
    let array = reader.array(&Place::File(InputPath::file(path)))?;
    let [_, 2] = array.shape() else {
        let (path, shape) = (path.display(), array.shape());
        bail!("{path} has the shape {shape:?}; two shares per sample are needed");
    };
    let pair = |pair: &[f32]| (!pair[0].is_nan() && !pair[1].is_nan()).then(|| [pair[0], pair[1]]);
    Ok(Some(floats(&array)?.chunks_exact(2).map(pair).collect()))
}

/// The means over the images that have lit pixels.
pub fn mean_shares(shares: &[Option<[f32; 2]>]) -> [Option<f64>; 2] {
    let of = |which: usize| {
        let known = || shares.iter().flatten().map(|share| f64::from(share[which]));
        let count = known().count();
        (count > 0).then(|| known().sum::<f64>() / count as f64)
    };
    [of(0), of(1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_perturbations_by_their_names() {
        assert_eq!(parse("top1_blackout"), Some(("top", 1.0, "blackout")));
        assert_eq!(parse("bottom0.5"), Some(("bottom", 0.5, "")));
        assert_eq!(parse("my_mask_5"), Some(("my_mask", 5.0, "")));
        for name in ["top", "5", "top0", "top1x", "top1.2.3"] {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    #[test]
    fn shares_are_averaged_over_images_with_lit_pixels() {
        assert_eq!(mean_shares(&[Some([0.5, 0.1]), None, Some([1.0, 0.3])])[0], Some(0.75));
        assert_eq!(mean_shares(&[None]), [None, None]);
    }
}
