// SPDX-License-Identifier: MIT
//! Which images are looked at.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use repscope_core::random;
use repscope_io::{Data, InputPath, read_array, read_texts};

use super::tree::Tree;

/// The share of each class, in all heads, that is the test set of the perturbation impact scripts.
const TEST_PARTS: usize = 10;

/// Keeps the images of a split; says what it is.
pub fn apply(tree: &mut Tree, split: &str, seed: u64) -> Result<String> {
    let total = tree.rows.len();
    let (places, what) = match split {
        "all" => return Ok(format!("all {total} images")),
        "test" => (
            stratified(tree, seed),
            format!("one in {TEST_PARTS} of every class, by the seed {seed}"),
        ),
        file => (
            listed(tree, file).with_context(|| format!("`split` = {file}"))?,
            format!("those of {file}"),
        ),
    };
    if places.is_empty() {
        bail!(
            "`split` = {split}: no image is left of {total}; a class needs at least {} images for one in {TEST_PARTS}, so use \
             `split` all",
            TEST_PARTS / 2 + 1
        );
    }
    tree.keep(&places);
    Ok(format!("{} of {total} images: {what}", places.len()))
}

/// A tenth of every combination of classes, rounded, drawn by lot; in the order of the images.
fn stratified(tree: &Tree, seed: u64) -> Vec<usize> {
    let mut strata: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
    for place in 0..tree.rows.len() {
        let classes = tree.levels.iter().map(|level| level.labels[place]).collect();
        strata.entry(classes).or_default().push(place);
    }
    let mut chosen = Vec::new();
    for (number, places) in strata.into_values().enumerate() {
        let count = (places.len() + TEST_PARTS / 2) / TEST_PARTS;
        let order = random::permutation(places.len(), &mut random::stream(seed, "test split", number as u64));
        chosen.extend(order.iter().take(count).map(|&i| places[i as usize]));
    }
    chosen.sort_unstable();
    chosen
}

/// The images that a file names by paths or by positions.
fn listed(tree: &Tree, file: &str) -> Result<Vec<usize>> {
    let path = InputPath::parse(file);
    let is_text = Path::new(file)
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("txt"));
    let mut places = if is_text {
        let names: BTreeMap<&str, usize> = tree.names().into_iter().enumerate().map(|(i, n)| (n, i)).collect();
        let mut places = Vec::new();
        for line in read_texts(&path)?.iter().filter(|line| !line.trim().is_empty()) {
            match names.get(line.trim()) {
                Some(place) => places.push(*place),
                None => bail!("there is no image {line}; paths are those within the folder of images"),
            }
        }
        places
    } else {
        let array = read_array(&path)?;
        let positions: Vec<i64> = match array.data() {
            Data::I64(values) => values.clone(),
            Data::U64(values) => values.iter().map(|&v| i64::try_from(v).unwrap_or(i64::MAX)).collect(),
            _ => bail!(
                "holds {}, and whole numbers are needed: positions in the sorted list",
                array.dtype()
            ),
        };
        let total = tree.rows.len();
        let place = |&position: &i64| usize::try_from(position).ok().filter(|&p| p < total);
        match positions.iter().map(place).collect::<Option<Vec<usize>>>() {
            Some(places) => places,
            None => bail!(
                "holds positions outside of 0 to {}, the images that are there",
                total - 1
            ),
        }
    };
    let given = places.len();
    places.sort_unstable();
    places.dedup();
    if places.len() < given {
        bail!("names {} images twice", given - places.len());
    }
    Ok(places)
}
