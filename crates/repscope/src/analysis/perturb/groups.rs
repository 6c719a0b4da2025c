// SPDX-License-Identifier: MIT
//! Which samples belong together: frames of a recording, images of a patient.

use anyhow::{Result, bail};
use repscope_core::Labels;

use super::tree::Tree;
use crate::reader::Reader;
use crate::source::Source;

/// The word for groups by file names.
const NAMES: &str = "names";

/// Whether groups are those of file names.
pub fn is_names(source: &Source) -> bool {
    matches!(source, Source::File(text) if text == NAMES)
}

/// The groups of stored predictions.
pub fn stored(source: &Source, reader: &mut Reader) -> Result<Labels> {
    if is_names(source) {
        bail!(
            "`groups` = {NAMES} looks at the file names of images, and stored predictions have none; give a file with one group per sample"
        );
    }
    reader.labels(&source.place()?)
}

/// The groups of the images that are looked at.
pub fn of_images(source: &Source, tree: &Tree, reader: &mut Reader) -> Result<Labels> {
    if is_names(source) {
        let names: Vec<&str> = tree.names().into_iter().map(without_number).collect();
        let groups = Labels::new(&names);
        if groups.classes() < 2 {
            let (images, group) = (names.len(), names.first().unwrap_or(&""));
            bail!(
                "`groups` = {NAMES}: all {images} images are of one group, `{group}`; give a file with one group per image"
            );
        }
        return Ok(groups);
    }
    let groups = reader.labels(&source.place()?)?;
    let (given, all, kept) = (groups.rows(), tree.images.count(), tree.rows.len());
    if given == all {
        Ok(groups.select(&tree.rows))
    } else if given == kept {
        Ok(groups)
    } else {
        bail!(
            "`groups` has {given} groups, but there are {all} images, of which {kept} are looked at; give one per image, in the \
             sorted order of their paths"
        )
    }
}

/// A path up to the last number of its file name: `rec3_` of `rec3_017.png`.
fn without_number(path: &str) -> &str {
    let file = path.rfind('/').map_or(0, |at| at + 1);
    let stem = path[file..].rfind('.').map_or(path.len(), |at| file + at);
    let behind = path[..stem].trim_end_matches(|c: char| !c.is_ascii_digit());
    let before = behind.trim_end_matches(|c: char| c.is_ascii_digit());
    if before.len() >= file && before.len() < behind.len() {
        before
    } else {
        &path[..stem]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_their_last_number_are_a_group() {
        for (path, group) in [
            ("cat/rec3_017.png", "cat/rec3_"),
            ("cat/rec3_frame17b.png", "cat/rec3_frame"),
            ("cat2/rec.png", "cat2/rec"),
            ("7.png", ""),
        ] {
            assert_eq!(without_number(path), group, "{path}");
        }
    }
}
