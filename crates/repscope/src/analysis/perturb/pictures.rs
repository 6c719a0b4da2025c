// SPDX-License-Identifier: MIT
//! Images as a model sees them: as they are, masked in memory, or masked by `perturb generate`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Mutex;

use anyhow::{Result, bail};
use rayon::prelude::*;
use repscope_core::masking::apply_all;
use repscope_core::{Masked, Masking, random};
use repscope_io::{BadImages, Images};
use repscope_models::{Made, Rows};

use super::tree::Tree;

/// Some images of a folder, in a given order.
pub struct Picked<'a> {
    images: &'a Images,
    rows: Vec<usize>,
}

impl<'a> Picked<'a> {
    pub fn new(images: &'a Images, rows: &[usize]) -> Self {
        Picked {
            images,
            rows: rows.to_vec(),
        }
    }

    fn values(&self, place: usize) -> repscope_io::Result<Vec<f32>> {
        let row = self.rows[place];
        let mut values = Vec::new();
        self.images.read(row..row + 1, &mut values)?;
        Ok(values)
    }
}

impl Rows for Picked<'_> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn shape(&self) -> &[usize] {
        self.images.shape()
    }

    fn dtype(&self) -> &str {
        self.images.dtype()
    }

    fn read(&self, rows: Range<usize>, into: &mut Vec<f32>) -> repscope_models::Result<()> {
        let read: repscope_io::Result<Vec<Vec<f32>>> = rows.into_par_iter().map(|place| self.values(place)).collect();
        read?.iter().for_each(|values| into.extend(values));
        Ok(())
    }
}

/// Grey images of bytes; what else there is has no lit pixels.
pub fn refuse_color(images: &Images) -> Result<()> {
    if images.shape().len() != 2 || images.dtype() != "u8" {
        let sizes: Vec<String> = images.shape().iter().map(usize::to_string).collect();
        let (dtype, sizes) = (images.dtype(), sizes.join(" x "));
        bail!("masks are for grey images of 8 bits, but these are {dtype} of {sizes}; convert them (PIL's `L`)");
    }
    Ok(())
}

/// An image, and its masked versions.
pub fn masked(images: &Images, row: usize, maskings: &[Masking]) -> Result<(Vec<u8>, Vec<Masked>)> {
    let mut values = Vec::new();
    images.read(row..row + 1, &mut values)?;
    let bytes: Vec<u8> = values.iter().map(|&value| value as u8).collect();
    let size = (images.shape()[0], images.shape()[1]);
    let masked = apply_all(maskings, &bytes, size, random::key(&images.names()[row]))?;
    Ok((bytes, masked))
}

/// For each image the share of lit pixels and of all pixels that was masked; `None` without lit pixels.
pub type Shares = Vec<Option<[f32; 2]>>;

impl Picked<'_> {
    /// The images, masked as they are read; notes what was masked of each.
    pub fn masked(&self, masking: &Masking, shares: &Mutex<Shares>) -> impl Rows {
        let read = move |rows: Range<usize>, into: &mut Vec<f32>| {
            let mask = |place: usize| {
                let one = std::slice::from_ref(masking);
                masked(self.images, self.rows[place], one).map(|(_, mut masked)| masked.pop())
            };
            let made: Result<Vec<Option<Masked>>> = rows.clone().into_par_iter().map(mask).collect();
            let made = made.map_err(|error| repscope_models::Error::Model(crate::error::message(&error)))?;
            let mut shares = shares.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            shares.resize(self.rows.len(), None);
            for (place, masked) in rows.zip(made.into_iter().flatten()) {
                shares[place] = share(&masked);
                into.extend(masked.pixels.iter().map(|&byte| f32::from(byte)));
            }
            Ok(())
        };
        let count = self.rows.len();
        Made {
            rows: self,
            count,
            read,
        }
    }
}

/// The share of lit pixels and of all pixels that was masked.
pub fn share(masked: &Masked) -> Option<[f32; 2]> {
    (masked.lit > 0).then(|| {
        [
            masked.masked_lit as f32 / masked.lit as f32,
            masked.masked as f32 / masked.pixels.len().max(1) as f32,
        ]
    })
}

/// What a masked image is called: `BPSK/SNR_0/x.png` becomes `BPSK/SNR_0/x_top1_blackout.png`.
pub fn masked_name(name: &str, set: &str, suffix: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    format!("{stem}_{set}_{suffix}.png")
}

/// Masked images in files.
pub struct InFiles {
    images: Images,
    places: HashMap<String, usize>,
    suffix: String,
}

impl InFiles {
    /// Opens the folder and looks for every image that will be needed.
    pub fn open(folder: &std::path::Path, suffix: &str, tree: &Tree, maskings: &[Masking]) -> Result<Self> {
        let images = Images::open(folder, BadImages::Refuse)?;
        if images.shape() != tree.images.shape() {
            bail!(
                "the masked images of {} have the size {:?}, but the images as they are {:?}; they belong to others",
                folder.display(),
                images.shape(),
                tree.images.shape()
            );
        }
        let places = images
            .names()
            .iter()
            .enumerate()
            .map(|(i, name)| (name.clone(), i))
            .collect();
        let files = InFiles {
            images,
            places,
            suffix: suffix.to_string(),
        };
        let mut missing = Vec::new();
        for masking in maskings {
            let names = tree
                .names()
                .into_iter()
                .map(|name| masked_name(name, &masking.name(), suffix));
            missing.extend(names.filter(|name| !files.places.contains_key(name)));
        }
        if !missing.is_empty() {
            bail!(
                "{} of {} masked images are missing in {}, first {}; make them with `repscope perturb generate`, or leave \
                 `perturbation_dir` out to mask in memory",
                missing.len(),
                tree.rows.len() * maskings.len(),
                folder.display(),
                missing.iter().take(3).cloned().collect::<Vec<_>>().join(", ")
            );
        }
        Ok(files)
    }

    /// The BLAKE3 digest of the masked images. From now on one that has changed is not read.
    pub fn digest(&self) -> Result<String> {
        Ok(self.images.digest()?)
    }

    /// The masked images of a set, in the order of the images as they are.
    pub fn of_set(&self, tree: &Tree, masking: &Masking) -> Picked<'_> {
        let names = tree
            .names()
            .into_iter()
            .map(|name| masked_name(name, &masking.name(), &self.suffix));
        let rows = names.filter_map(|name| self.places.get(&name).copied()).collect();
        Picked {
            images: &self.images,
            rows,
        }
    }

    /// What was masked of each image, by comparing it with the image as it is.
    pub fn shares(&self, tree: &Tree, masking: &Masking) -> Result<Vec<Option<[f32; 2]>>> {
        let (plain, masked) = (Picked::new(&tree.images, &tree.rows), self.of_set(tree, masking));
        let compare = |place: usize| -> Result<Option<[f32; 2]>> {
            let (before, after) = (plain.values(place)?, masked.values(place)?);
            let lit = before.iter().filter(|&&x| x > 0.0).count();
            let changed = || before.iter().zip(&after).filter(|(b, a)| b != a);
            Ok((lit > 0).then(|| {
                [
                    changed().filter(|(b, _)| **b > 0.0).count() as f32 / lit as f32,
                    changed().count() as f32 / before.len() as f32,
                ]
            }))
        };
        (0..tree.rows.len()).into_par_iter().map(compare).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_images_are_named_as_the_document_names_them() {
        let name = "BPSK/SNR_0/grayscale_BPSK_SNR_0_sample_0.png";
        assert_eq!(
            masked_name(name, "top1", "blackout"),
            "BPSK/SNR_0/grayscale_BPSK_SNR_0_sample_0_top1_blackout.png"
        );
    }
}
