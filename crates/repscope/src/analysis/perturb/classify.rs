// SPDX-License-Identifier: MIT
//! A classifier over images: the class with the largest output of each head.

use anyhow::{Context, Result, bail};
use repscope_core::Head;
use repscope_core::run::Driver;
use repscope_io::{Watched, as_file_names};
use repscope_models::{Encoder, Output, Rows};

use super::classes::{Named, Sources};
use super::pictures::Picked;
use super::stored::NOT_HEADS;
use super::tree::Tree;
use crate::encoding;

/// A model and those of its outputs that are heads.
pub struct Classifier {
    encoder: Encoder,
    /// The outputs that are heads, by their places, and what the heads are called.
    heads: Vec<(usize, String)>,
    /// For each head, the names of its outputs and where they come from; none where the order of folders stands in.
    pub named: Vec<Option<Named>>,
    /// How images are fed.
    pub notes: Vec<String>,
}

impl Classifier {
    /// Takes a model, whose outputs must fit the folders of the images. Outputs that tell no classes apart (features) are
    /// passed over where there are more outputs than levels. The classes of the tree are put into the order of the outputs.
    pub fn new(mut encoder: Encoder, tree: &mut Tree, names: &[String], classes: &Sources) -> Result<Self> {
        let first = Picked::new(&tree.images, &tree.rows[..1]);
        let seen = encoder.encode_all(&first)?;
        let outputs = seen.outputs;
        let widths: Vec<usize> = outputs.iter().map(|output| output.values.len()).collect();
        let mut places: Vec<usize> = (0..outputs.len()).collect();
        if outputs.len() > tree.levels.len() {
            let mut heads = Vec::new();
            for (number, level) in tree.levels.iter().enumerate() {
                let classes = level.classes.len();
                let fits = |place: &usize| widths[*place] == classes && !heads.contains(place);
                let Some(place) = places.iter().copied().find(fits) else {
                    let known = outputs.iter().zip(&widths);
                    let known: Vec<String> = known
                        .map(|(output, width)| format!("{} {width}", output.name))
                        .collect();
                    bail!(
                        "level {} of the folders has {classes} classes, but no head of the model has so many outputs ({}); leave \
                         folders out with `exclude`, or give the images of all classes",
                        number + 1,
                        known.join(", ")
                    );
                };
                heads.push(place);
            }
            places = heads;
        }
        if !names.is_empty() && names.len() != places.len() {
            bail!(
                "`head_names` names {} heads, but the model has {}",
                names.len(),
                places.len()
            );
        }
        let name = |(i, &place): (usize, &usize)| names.get(i).cloned().unwrap_or_else(|| outputs[place].name.clone());
        let named: Vec<String> = places.iter().enumerate().map(name).collect();
        // They name files, too, so they are looked at before any is read or written.
        Head::check_names(&named).context("name the heads with `head_names`")?;
        as_file_names(named.iter().map(String::as_str).chain(NOT_HEADS)).context("name the heads with `head_names`")?;
        let heads: Vec<(String, usize)> = named.iter().cloned().zip(places.iter().map(|&p| widths[p])).collect();
        let found = if heads.len() == tree.levels.len() {
            classes.find(&named)?
        } else {
            Vec::new()
        };
        for ((level, (head, width)), found) in tree.levels.iter_mut().zip(&heads).zip(&found) {
            if let Some(found) = found {
                level.order(head, *width, found)?;
            }
        }
        tree.check(&heads)?;
        let about = encoder.about().to_vec();
        Ok(Classifier {
            encoder,
            notes: seen.notes.into_iter().filter(|note| !about.contains(note)).collect(),
            heads: places.into_iter().zip(named).collect(),
            named: found,
        })
    }

    /// What the network is.
    pub fn about(&self) -> &[String] {
        self.encoder.about()
    }

    pub fn digest(&self) -> &str {
        self.encoder.digest()
    }

    /// The files that the model was read from.
    pub fn files(&self) -> &[Watched] {
        self.encoder.files()
    }

    /// What the heads are called.
    pub fn heads(&self) -> Vec<String> {
        self.heads.iter().map(|(_, name)| name.clone()).collect()
    }

    /// The class of every image, for each head. `on_batch` hears how many images each batch has.
    pub fn predict(
        &mut self,
        rows: &dyn Rows,
        stage: &str,
        driver: &Driver,
        on_batch: &mut dyn FnMut(usize),
    ) -> Result<Vec<Vec<u32>>> {
        let mut said: Vec<Vec<u32>> = vec![Vec::new(); self.heads.len()];
        let heads = &self.heads;
        encoding::encode(&mut self.encoder, rows, stage, driver, &mut |batch| {
            for (said, (place, _)) in said.iter_mut().zip(heads) {
                said.extend(largest(&batch.outputs[*place], batch.count));
            }
            on_batch(batch.count);
            Ok(())
        })?;
        Ok(said)
    }
}

/// The place of the largest value of each row; the first of equal ones.
fn largest(output: &Output, rows: usize) -> Vec<u32> {
    let width = output.values.len() / rows.max(1);
    output.values.chunks_exact(width.max(1)).map(place_of_largest).collect()
}

/// The first place of the largest value.
pub fn place_of_largest(row: &[f32]) -> u32 {
    let mut best = 0;
    for (place, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = place;
        }
    }
    best as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_outputs_is_the_class() {
        assert_eq!(place_of_largest(&[0.0, 3.0, 3.0, -1.0]), 1);
        assert_eq!(place_of_largest(&[-2.0]), 0);
    }
}
