// SPDX-License-Identifier: MIT
//! A tree of images whose folders are their labels: `BPSK/SNR_0/*.png`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use repscope_io::{BadImages, Images};

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

    /// A level for each head, whose classes are as many as the model tells apart.
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
                    "the head {name} tells {width} classes apart, but there are {count} folders for it ({known}); leave folders out with \
                     `exclude`, or give the images of all classes"
                );
            }
        }
        Ok(())
    }
}

impl Level {
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

/// The whole numbers that all names end with behind one and the same beginning: SNR_-2, SNR_0, SNR_10.
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
}
