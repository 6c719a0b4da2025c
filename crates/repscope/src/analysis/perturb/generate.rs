// SPDX-License-Identifier: MIT
//! Masked images as files.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use clap::Args;
use rayon::prelude::*;
use repscope_core::run::Driver;
use repscope_io::{BadImages, Claim, Images, write_gray_png, write_whole};
use repscope_render::write_csv;

use super::MaskOptions;
use super::pictures::{masked, masked_name, refuse_color};
use crate::options::Machine;
use crate::session::Session;

/// Writes masked images.
#[derive(Debug, Clone, Args)]
pub struct PerturbGenerate {
    /// Folder of gray images, including subfolders
    #[arg(long, value_name = "DIR", default_value = "constellation_diagrams")]
    pub source: PathBuf,
    /// Folder for the masked images, with the same subfolders
    #[arg(long, value_name = "DIR", default_value = "perturbed_constellations")]
    pub output: PathBuf,
    /// Which pixels to mask are masked.
    #[command(flatten)]
    pub masks: MaskOptions,
    /// Random seed
    #[arg(long, default_value_t = 42)]
    pub seed: u64,
    /// What the run may use.
    #[command(flatten)]
    pub machine: Machine,
}

/// What was written.
pub struct Generated {
    /// How many images there are.
    pub images: usize,
    /// How many of them have no lit pixel and are unchanged.
    pub dark: usize,
    /// How many masked images there are now.
    pub all: usize,
    /// How many of them are new.
    pub written: usize,
}

/// Writes masked images. Those that are there already stay, so that an interrupted run goes on.
pub fn generate(options: &PerturbGenerate, session: &Session) -> Result<Generated> {
    let maskings = options.masks.checked(options.seed)?;
    let images = Images::open(&options.source, BadImages::Refuse)?;
    refuse_color(&images)?;
    let _claim = Claim::take(&options.output)?;
    let settings = options.output.join("perturbation.json");
    let wanted = serde_json::to_string_pretty(&serde_json::json!({
        "images": images.digest()?, "suffix": options.masks.suffix(), "asked": options.masks.asked(options.seed),
    }))? + "\n";
    match std::fs::read_to_string(&settings) {
        Ok(there) if there != wanted => bail!(
            "{} says that the images in this folder were made from other images or with other options; choose another folder, \
             or remove this one",
            settings.display()
        ),
        Ok(_) => {}
        Err(_) => write_whole(&settings, wanted.as_bytes())?,
    }
    let size = (images.shape()[0], images.shape()[1]);
    let (written, dark) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let of_image = |row: usize, driver: &Driver| -> Result<Vec<Vec<String>>> {
        let (_, masked) = masked(&images, row, &maskings)?;
        let name = &images.names()[row];
        let mut lines = Vec::new();
        for (masking, masked) in maskings.iter().zip(&masked) {
            let to = options
                .output
                .join(masked_name(name, &masking.name(), options.masks.suffix()));
            if !to.is_file() {
                write_gray_png(&to, size, &masked.pixels)?;
                written.fetch_add(1, Ordering::Relaxed);
            }
            let counts = [masked.lit, masked.masked_lit, masked.masked].map(|n| n.to_string());
            lines.push([name.clone(), masking.name()].into_iter().chain(counts).collect());
        }
        dark.fetch_add(
            usize::from(masked.first().is_some_and(|m| m.lit == 0)),
            Ordering::Relaxed,
        );
        driver.progress().advance(1);
        Ok(lines)
    };
    let driver = session.driver();
    driver.progress().begin("masking", images.count() as u64);
    let rows = (0..images.count()).into_par_iter();
    let lines = rows.map(|row| of_image(row, &driver)).collect::<Result<Vec<_>>>()?;
    let table = write_csv(&["image", "mask", "lit", "masked_lit", "masked"], lines.concat());
    write_whole(&options.output.join("masks.csv"), table.as_bytes())?;
    Ok(Generated {
        images: images.count(),
        dark: dark.into_inner(),
        all: images.count() * maskings.len(),
        written: written.into_inner(),
    })
}
