// SPDX-License-Identifier: MIT
//! A tree of images whose folders are their labels: `BPSK/SNR_0/*.png`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use repscope_core::random;
use repscope_io::{BadImages, Data, Images, InputPath, read_array, read_texts};

use super::classes::Named;
use crate::search::list;

/// Images with a class from each level of folders.
pub struct Tree {
    pub images: Images,
    /// The rows of `images` that are looked at.
    pub rows: Vec<usize>,
    pub levels: Vec<Level>,
}

/// One level of folders: a class per image.
pub struct Level {
    /// Sorted by name, or by the number at the end where all have one.
    pub classes: Vec<String>,
    /// The class of each row that is looked at.
    pub labels: Vec<u32>,
}

impl Tree {
    /// Finds the images; folders that are excluded are passed over.
    pub fn open(folder: &Path, exclude: &[String], bad: BadImages) -> Result<Self> {
        let images = Images::open(folder, bad)?;
        let names: Vec<Vec<&str>> = images.names().iter().map(|name| name.split('/').collect()).collect();
        let folders = |row: usize| &names[row][..names[row].len() - 1];
        if let Some(unknown) = exclude.iter().find(|class| {
            !names
                .iter()
                .any(|parts| parts[..parts.len() - 1].contains(&class.as_str()))
        }) {
            let folder = folder.display();
            bail!("`exclude` = {unknown}: no folder in {folder} is called that");
        }
        let is_kept = |row: &usize| {
            !folders(*row)
                .iter()
                .any(|name| exclude.iter().any(|class| class == name))
        };
        let rows: Vec<usize> = (0..names.len()).filter(is_kept).collect();
        let Some(&first) = rows.first() else {
            bail!("`exclude` leaves no image of {}", folder.display());
        };
        let depth = folders(first).len();
        if depth == 0 {
            bail!(
                "the images of {} are in no folders, and folders are their labels; put each class into a folder of its own",
                folder.display()
            );
        }
        if let Some(&other) = rows.iter().find(|&&row| folders(row).len() != depth) {
            bail!(
                "{} is in {depth} folders within {}, but {} is in {}; a label is missing somewhere",
                images.names()[first],
                folder.display(),
                images.names()[other],
                folders(other).len()
            );
        }
        let levels = (0..depth)
            .map(|level| Level::of(&rows.iter().map(|&row| folders(row)[level]).collect::<Vec<_>>()))
            .collect();
        Ok(Tree { images, rows, levels })
    }

    /// Keeps some of the rows that are looked at, by their places among them.
    pub fn keep(&mut self, places: &[usize]) {
        self.rows = places.iter().map(|&place| self.rows[place]).collect();
        for level in &mut self.levels {
            level.labels = places.iter().map(|&place| level.labels[place]).collect();
        }
    }

    /// The paths of the rows that are looked at.
    pub fn names(&self) -> Vec<&str> {
        self.rows.iter().map(|&row| self.images.names()[row].as_str()).collect()
    }

    /// A level for each head, whose classes are as many as the outputs of the model.
    pub fn check(&self, heads: &[(String, usize)]) -> Result<()> {
        if heads.len() != self.levels.len() {
            bail!(
                "the images are in {} levels of folders, but the model has {} heads ({}); there must be a level for each head",
                self.levels.len(),
                heads.len(),
                list(heads.iter().map(|(name, _)| name.as_str()))
            );
        }
        for ((name, width), level) in heads.iter().zip(&self.levels) {
            if *width != level.classes.len() {
                let (count, known) = (level.classes.len(), list(level.classes.iter().map(String::as_str)));
                bail!(
                    "the head {name} has {width} outputs, but there are {count} folders for it ({known}); leave folders out with \
                     `exclude`, or give the images of all classes"
                );
            }
        }
        Ok(())
    }
}

impl Level {
    /// Puts the classes into the order of the outputs of a head. Outputs may know classes that have no folder here.
    pub fn order(&mut self, head: &str, width: usize, named: &Named) -> Result<()> {
        let Named { names, from } = named;
        if names.len() != width {
            let count = names.len();
            bail!(
                "{from} has {count} names, but the head {head} has {width} outputs; give a name for each output in `classes`"
            );
        }
        if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            bail!("{from} names the class {} twice; the names of a head differ", twice.1);
        }
        let place = |class: &String| match names.iter().position(|name| name == class) {
            Some(place) => Ok(place as u32),
            None => bail!(
                "{from} does not name the class of the folder {class}, only {}; folders and classes need the same names, so rename the \
                 folders, leave some out with `exclude`, or give other names in `classes`",
                list(names.iter().map(String::as_str))
            ),
        };
        let places = self.classes.iter().map(place).collect::<Result<Vec<u32>>>()?;
        for label in &mut self.labels {
            *label = places[*label as usize];
        }
        self.classes = names.clone();
        Ok(())
    }

    fn of(names: &[&str]) -> Self {
        let mut classes: Vec<&str> = names.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        if let Some(mut numbered) = numbered(&classes) {
            numbered.sort_by_key(|(number, _)| *number);
            classes = numbered.into_iter().map(|(_, name)| name).collect();
        }
        let place = |name: &&str| classes.iter().position(|class| class == name).unwrap_or(0) as u32;
        Level {
            labels: names.iter().map(place).collect(),
            classes: classes.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The integers that all names end with behind one and the same beginning: SNR_-2, SNR_0, SNR_10.
fn numbered<'a>(names: &[&'a str]) -> Option<Vec<(i64, &'a str)>> {
    let split = |name: &'a str| {
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let start = digits.strip_suffix('-').unwrap_or(digits);
        name[start.len()..].parse::<i64>().ok().map(|number| (start, number))
    };
    let (beginning, _) = split(names.first()?)?;
    names
        .iter()
        .map(|name| {
            split(name)
                .filter(|(start, _)| *start == beginning)
                .map(|(_, number)| (number, *name))
        })
        .collect()
}

/// The share of each class, in all heads, that is the test set of the perturbation impact scripts.
const TEST_PARTS: usize = 10;

/// Whether a split is a word, not a file.
pub fn is_word(split: &str) -> bool {
    matches!(split, "all" | "test")
}

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

/// Keeps so many random images, the same share of every combination of classes; says how many.
pub fn sample(tree: &mut Tree, count: usize, seed: u64) -> Result<String> {
    let total = tree.rows.len();
    if count == 0 {
        bail!("`sample` = 0: at least one of {total} images is needed");
    }
    if count >= total {
        return Ok(format!("all {total} images, since `sample` = {count} is not fewer"));
    }
    // Those that stand first in a random order of their class, in parts of the class; equal ones in a random order of classes.
    let strata = strata(tree);
    let ties = random::permutation(strata.len(), &mut random::stream(seed, "sample of classes", 0));
    let mut ranked = Vec::new();
    for (number, (places, tie)) in strata.iter().zip(ties).enumerate() {
        let order = random::permutation(places.len(), &mut random::stream(seed, "sample", number as u64));
        let part = |rank: usize| (rank as f64 + 0.5) / places.len() as f64;
        ranked.extend(
            order
                .iter()
                .enumerate()
                .map(|(rank, &i)| (part(rank), tie, places[i as usize])),
        );
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut places: Vec<usize> = ranked[..count].iter().map(|(_, _, place)| *place).collect();
    places.sort_unstable();
    tree.keep(&places);
    Ok(format!(
        "{count} of these {total} images, the same share of every class, by the seed {seed}"
    ))
}

/// The images of every combination of classes.
fn strata(tree: &Tree) -> Vec<Vec<usize>> {
    let mut strata: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
    for place in 0..tree.rows.len() {
        let classes = tree.levels.iter().map(|level| level.labels[place]).collect();
        strata.entry(classes).or_default().push(place);
    }
    strata.into_values().collect()
}

/// A tenth of every combination of classes, rounded, drawn at random; in the order of the images.
fn stratified(tree: &Tree, seed: u64) -> Vec<usize> {
    let mut chosen = Vec::new();
    for (number, places) in strata(tree).into_iter().enumerate() {
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
                "holds {}, and integers are needed: positions in the sorted list",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_with_numbers_are_in_their_order_and_others_by_name() {
        let level = Level::of(&["SNR_10", "SNR_-2", "SNR_2", "SNR_10"]);
        assert_eq!(level.classes, ["SNR_-2", "SNR_2", "SNR_10"]);
        assert_eq!(level.labels, [2, 0, 1, 2]);
        let level = Level::of(&["8PSK", "16QAM", "BPSK"]);
        assert_eq!(level.classes, ["16QAM", "8PSK", "BPSK"]);
        assert_eq!(Level::of(&["a1", "b2"]).classes, ["a1", "b2"]);
    }

    #[test]
    fn classes_are_put_into_the_order_of_the_outputs() {
        let mut level = Level::of(&["cat", "dog", "cat"]);
        let named = |names: &[&str]| Named {
            names: names.iter().map(ToString::to_string).collect(),
            from: "classes.txt".to_string(),
        };
        for (names, words) in [
            (&["dog", "cat"][..], "2 names"),
            (&["dog", "emu", "fox"], "folder cat"),
            (&["cat", "dog", "dog"], "twice"),
        ] {
            let error = level.order("out", 3, &named(names)).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("classes.txt"), "{error}");
        }
        level.order("out", 3, &named(&["dog", "emu", "cat"])).unwrap();
        assert_eq!(level.labels, [2, 0, 2]);
        assert_eq!(level.classes, ["dog", "emu", "cat"]);
    }
}
