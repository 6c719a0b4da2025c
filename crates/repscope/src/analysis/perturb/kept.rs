// SPDX-License-Identifier: MIT
//! Predictions that are kept as they are finished, so that an interrupted run goes on.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use repscope_io::{write_integers, write_whole};
use tempfile::TempDir;

use super::Perturb;
use super::classify::Classifier;
use super::stored::{self, LABELS, MASKED};
use super::tree::Tree;
use crate::reader::Reader;

/// The classes of all images, for each head, and what was masked.
pub struct Predicted {
    pub said: Vec<Vec<u32>>,
    pub shares: Option<Vec<Option<[f32; 2]>>>,
}

/// Predictions that are kept as they are finished.
pub struct Kept {
    folder: PathBuf,
    samples: usize,
    /// Goes when the predictions go.
    _temporary: Option<TempDir>,
}

impl Kept {
    /// Goes on with a folder that was made from the same model, images and options; begins another anew.
    pub fn open(classifier: &Classifier, images: &str, tree: &Tree, options: &Perturb) -> Result<Self> {
        let temporary = match &options.keep {
            Some(_) => None,
            None => Some(tempfile::tempdir().context("making a temporary folder")?),
        };
        let folder = match (&options.keep, &temporary) {
            (Some(folder), _) => folder.clone(),
            (None, Some(temporary)) => temporary.path().join("predictions"),
            (None, None) => PathBuf::new(),
        };
        let about = serde_json::to_string_pretty(&serde_json::json!({
            "classifier": classifier.digest(), "images": images, "asked": options.masks.asked(options.settings.seed),
            "split": options.split, "sample": options.sample, "exclude": options.exclude, "heads": classifier.heads(),
            "classes": tree.levels.iter().map(|level| &level.classes).collect::<Vec<_>>(),
            "perturbation_dir": options.perturbation_dir, "samples": tree.rows.len(),
        }))? + "\n";
        let file = folder.join("about.json");
        let is_same = std::fs::read_to_string(&file).is_ok_and(|there| there == about);
        if !is_same {
            if folder.exists() {
                if !file.is_file() {
                    let folder = folder.display();
                    bail!("{folder} already exists and was not made by this analysis; choose another output folder");
                }
                std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
            }
            for (head, level) in classifier.heads().iter().zip(&tree.levels) {
                let labels: Vec<i64> = level.labels.iter().map(|&label| i64::from(label)).collect();
                write_integers(&folder.join(LABELS).join(format!("{head}.npy")), &labels)?;
                let names = level.classes.join("\n") + "\n";
                write_whole(&folder.join("classes").join(format!("{head}.txt")), names.as_bytes())?;
            }
            write_whole(&folder.join("images.txt"), (tree.names().join("\n") + "\n").as_bytes())?;
            write_whole(&file, about.as_bytes())?;
        }
        Ok(Kept {
            samples: tree.rows.len(),
            folder,
            _temporary: temporary,
        })
    }

    /// Whether a set is finished.
    pub fn has(&self, set: &str) -> bool {
        self.folder.join(set).is_dir()
    }

    pub fn read(&self, set: &str, heads: &[String]) -> Result<Option<Predicted>> {
        let folder = self.folder.join(set);
        if !self.has(set) {
            return Ok(None);
        }
        let mut reader = Reader::new(&[]);
        let said = heads
            .iter()
            .map(|head| stored::codes_of(&folder.join(format!("{head}.npy")), &mut reader))
            .collect::<Result<Vec<_>>>()?;
        let shares = stored::shares_of(&folder.join(MASKED), &mut reader)?;
        if said.iter().any(|said| said.len() != self.samples) {
            bail!("{} is damaged; remove it", folder.display());
        }
        Ok(Some(Predicted { said, shares }))
    }

    /// Writes a set into a folder beside its place, then puts it there.
    pub fn write(&self, set: &str, heads: &[String], predicted: &Predicted) -> Result<()> {
        let (whole, part) = (self.folder.join(set), self.folder.join(format!("{set}.part")));
        if part.exists() {
            std::fs::remove_dir_all(&part)?;
        }
        for (head, said) in heads.iter().zip(&predicted.said) {
            let said: Vec<i64> = said.iter().map(|&class| i64::from(class)).collect();
            write_integers(&part.join(format!("{head}.npy")), &said)?;
        }
        if let Some(shares) = &predicted.shares {
            let mut file = repscope_io::NpyRows::open(&part.join(MASKED), &[shares.len(), 2])?;
            let values: Vec<f32> = shares.iter().flat_map(|share| share.unwrap_or([f32::NAN; 2])).collect();
            file.push(&values)?;
            file.finish()?;
        }
        std::fs::rename(&part, &whole).with_context(|| whole.display().to_string())
    }
}
