// SPDX-License-Identifier: MIT
//! Files with several captions per sample: an array `caption_indices` beside the `embeddings` counts them, and the
//! first of each sample is the one that is compared.

use anyhow::{Result, bail};

use super::names::NamedSpace;
use crate::reader::Chosen;
use crate::source::Place;

const INDICES: &str = "caption_indices";
const SAMPLES: &str = "sample_ids";

/// The files that hold captions, and which rows are first captions.
pub struct Captions(Vec<File>);

struct File {
    path: std::path::PathBuf,
    first: Chosen,
}

impl Captions {
    pub fn of(spaces: &[NamedSpace], is_joined: bool, warnings: &mut Vec<String>) -> Result<Self> {
        let mut files: Vec<File> = Vec::new();
        for space in spaces.iter().filter(|s| s.place.key() == Some("embeddings")) {
            let Some(file) = space.place.file() else { continue };
            if files.iter().any(|f| f.path == file.path) || rows(&space.place, INDICES)?.is_none() {
                continue;
            }
            let path = space.place.with_key(INDICES);
            let indices = path.read()?.into_labels(&path.to_string())?;
            let total = indices.rows();
            if let Some(count) = rows(&space.place, "embeddings")?.filter(|&count| count != total) {
                bail!("{path} has {total} values but there are {count} embeddings; give one per row");
            }
            let is_first = |code: u32| indices.names()[code as usize] == "0";
            let first: Vec<usize> = (0..total).filter(|&i| is_first(indices.codes()[i])).collect();
            if first.is_empty() {
                bail!("{path} has no 0 in its {total} values, so there is no first caption to compare");
            }
            if first.len() < total {
                let by_position = match rows(&space.place, SAMPLES)? {
                    Some(_) if !is_joined => {
                        format!("; what remains is taken by position: `ids` = {SAMPLES} joins by id")
                    }
                    _ => String::new(),
                };
                warnings.push(format!(
                    "{} of the {total} rows of `{}` are further captions of a sample ({INDICES} is not 0) and left \
                     out{by_position}",
                    total - first.len(),
                    space.name
                ));
                files.push(File {
                    path: file.path.clone(),
                    first: Chosen { rows: first, total },
                });
            }
        }
        Ok(Captions(files))
    }

    /// The rows to look at in an array, where it has a row for each caption of its file.
    pub fn rows_of(&self, place: &Place) -> Result<Option<Chosen>> {
        let is_own = |own: &&File| place.file().is_some_and(|file| file.path == own.path);
        let Some(file) = self.0.iter().find(is_own) else {
            return Ok(None);
        };
        let key = place.key().unwrap_or_default();
        let is_per_caption = rows(place, key)? == Some(file.first.total);
        Ok(is_per_caption.then(|| file.first.clone()))
    }
}

/// How many rows an array of a file has.
fn rows(place: &Place, key: &str) -> Result<Option<usize>> {
    let arrays = place.list()?;
    let found = arrays.iter().find(|a| a.key.as_deref() == Some(key));
    Ok(found.and_then(|a| a.shape.first().copied()))
}
