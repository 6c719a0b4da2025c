// SPDX-License-Identifier: MIT
//! Predictions that are kept as they are finished, so that an interrupted run goes on.
//!
//! ```text
//! about.json                    whose folder it is: what the predictions are made from, and all files that may be written. Written first
//! labels/HEAD.npy, …            what was predicted
//! SET/HEAD.npy, SET/masked.npy  the predictions of a set
//! SET/owner.txt                 the digest of the about.json that they belong to
//! SET/digests.txt               the digests of these files, written last: a set without them is not finished
//! ```
//!
//! Files that about.json does not name are somebody else's: they are neither read nor removed.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use repscope_io::{Claim, PREFIX, Seal, TemporaryFolder, write_floats, write_integers, write_whole};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Perturb;
use super::classify::Classifier;
use super::stored::{self, BASELINE, LABELS, MASKED};
use super::tree::Tree;
use crate::error::message;
use crate::reader::Reader;
use crate::session::Session;

const ABOUT: &str = "about.json";
const OWNER: &str = "owner.txt";

/// The classes of all images, for each head, and what was masked.
pub struct Predicted {
    pub said: Vec<Vec<u32>>,
    pub shares: Option<Vec<Option<[f32; 2]>>>,
}

/// Predictions that are kept as they are finished.
pub struct Kept {
    folder: PathBuf,
    samples: usize,
    /// The digest of the owner's record.
    owner: String,
    _claim: Claim,
    /// Goes when the predictions go.
    _temporary: Option<TemporaryFolder>,
}

/// Whose folder it is.
#[derive(Serialize, Deserialize)]
struct Owner {
    made_from: Value,
    /// What may be removed when the predictions are made from something else.
    files: BTreeSet<String>,
}

/// What is predicted, and from what.
pub struct Task<'a> {
    pub classifier: &'a Classifier,
    pub tree: &'a Tree,
    pub options: &'a Perturb,
    /// The digests of the images, and of the masked images where they are files.
    pub images: &'a str,
    pub masked: Option<&'a str>,
    /// The perturbations.
    pub sets: &'a [String],
}

impl Kept {
    /// Goes on with a folder that was made from the same model, images and options; begins another anew.
    pub fn open(task: &Task, session: &Session) -> Result<Self> {
        let temporary = match &task.options.keep {
            Some(_) => None,
            None => Some(TemporaryFolder::new(None).context("making a temporary folder")?),
        };
        let folder = match (&task.options.keep, &temporary) {
            (Some(folder), _) => folder.clone(),
            (None, Some(temporary)) => temporary.path().join("predictions"),
            (None, None) => PathBuf::new(),
        };
        let claim = Claim::take(&folder)?;
        let derived = task.derived()?;
        let owner = task.owner(&derived);
        let record = serde_json::to_string_pretty(&owner)? + "\n";
        let path = folder.join(ABOUT);
        match std::fs::read_to_string(&path) {
            Ok(there) if there == record => {}
            Ok(there) => {
                match serde_json::from_str::<Owner>(&there) {
                    Ok(other) => remove_files(&folder, &other.files)?,
                    // Whatever lies here is not taken for ours, because it does not name this record as its owner.
                    Err(error) => session.say(&format!(
                        "predictions are made anew, because {ABOUT} is damaged: {error}"
                    )),
                }
                write_whole(&path, record.as_bytes())?;
            }
            Err(_) => {
                if let Some(name) = foreign(&folder)? {
                    let folder = folder.display();
                    bail!(
                        "{folder} already exists and was not made by this analysis (it holds {name}); choose another output folder"
                    );
                }
                write_whole(&path, record.as_bytes())?;
            }
        }
        for (name, bytes) in derived {
            let path = folder.join(name);
            if std::fs::read(&path).ok().as_ref() != Some(&bytes) {
                write_whole(&path, &bytes)?;
            }
        }
        Ok(Kept {
            samples: task.tree.rows.len(),
            owner: repscope_io::digest(&path)?,
            folder,
            _claim: claim,
            _temporary: temporary,
        })
    }

    /// Whether a set is finished, as far as can be seen without reading it.
    pub fn has(&self, set: &str) -> bool {
        self.folder.join(set).join(Seal::FILE).is_file()
    }

    /// A finished set; one that is damaged or belongs to another owner is none.
    pub fn read(&self, set: &str, heads: &[String], session: &Session) -> Option<Predicted> {
        if !self.has(set) {
            return None;
        }
        match self.read_checked(set, heads) {
            Ok(there) => there,
            Err(error) => {
                session.say(&format!(
                    "{set} is predicted anew, because it is damaged: {}",
                    message(&error)
                ));
                None
            }
        }
    }

    fn read_checked(&self, set: &str, heads: &[String]) -> Result<Option<Predicted>> {
        let folder = self.folder.join(set);
        let Some(seal) = Seal::read(&folder)? else {
            return Ok(None);
        };
        seal.names().try_for_each(|name| seal.check(&folder, name))?;
        if std::fs::read_to_string(folder.join(OWNER))? != self.owner {
            return Ok(None);
        }
        let mut reader = Reader::new(&[]);
        let said = heads
            .iter()
            .map(|head| stored::codes_of(&folder.join(file_of(head)), &mut reader))
            .collect::<Result<Vec<_>>>()?;
        let shares = stored::shares_of(&folder.join(MASKED), &mut reader)?;
        if let Some(said) = said.iter().find(|said| said.len() != self.samples) {
            bail!(
                "it has {} predictions, and there are {} samples",
                said.len(),
                self.samples
            );
        }
        Ok(Some(Predicted { said, shares }))
    }

    /// Writes a set. Its digests come last: where they are, the rest is.
    pub fn write(&self, set: &str, heads: &[String], predicted: &Predicted) -> Result<()> {
        let folder = self.folder.join(set);
        let mut names = vec![OWNER.to_string()];
        write_whole(&folder.join(OWNER), self.owner.as_bytes())?;
        for (head, said) in heads.iter().zip(&predicted.said) {
            let said: Vec<i64> = said.iter().map(|&class| i64::from(class)).collect();
            write_integers(&folder.join(file_of(head)), &said)?;
            names.push(file_of(head));
        }
        if let Some(shares) = &predicted.shares {
            let values: Vec<f32> = shares.iter().flat_map(|share| share.unwrap_or([f32::NAN; 2])).collect();
            write_floats(&folder.join(MASKED), &[shares.len(), 2], &values)?;
            names.push(MASKED.to_string());
        }
        Ok(Seal::write(&folder, &names)?)
    }
}

impl Task<'_> {
    /// Labels, names of classes and of images: what predictions are compared with.
    fn derived(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let mut files = Vec::new();
        for (head, level) in self.classifier.heads().iter().zip(&self.tree.levels) {
            let labels: Vec<i64> = level.labels.iter().map(|&label| i64::from(label)).collect();
            files.push((
                format!("{LABELS}/{}", file_of(head)),
                repscope_io::integers_to_npy(&labels),
            ));
            let names = level.classes.join("\n") + "\n";
            files.push((format!("classes/{head}.txt"), names.into_bytes()));
        }
        files.push((
            "images.txt".to_string(),
            (self.tree.names().join("\n") + "\n").into_bytes(),
        ));
        Ok(files)
    }

    fn owner(&self, derived: &[(String, Vec<u8>)]) -> Owner {
        let (classifier, tree, options) = (self.classifier, self.tree, self.options);
        let mut files: BTreeSet<String> = derived.iter().map(|(name, _)| name.clone()).collect();
        for set in std::iter::once(BASELINE).chain(self.sets.iter().map(String::as_str)) {
            let heads = classifier.heads().into_iter().map(|head| file_of(&head));
            let names = heads.chain([MASKED, OWNER, Seal::FILE].map(String::from));
            files.extend(names.map(|name| format!("{set}/{name}")));
        }
        Owner {
            made_from: serde_json::json!({
                "classifier": classifier.digest(), "images": self.images, "masked": self.masked,
                "asked": options.masks.asked(options.settings.seed), "split": options.split, "sample": options.sample,
                "exclude": options.exclude, "heads": classifier.heads(),
                "classes": tree.levels.iter().map(|level| &level.classes).collect::<Vec<_>>(),
                "perturbation_dir": options.perturbation_dir, "samples": tree.rows.len(),
            }),
            files,
        }
    }
}

fn file_of(head: &str) -> String {
    format!("{head}.npy")
}

/// Something in a folder that is no temporary file of ours.
fn foreign(folder: &Path) -> Result<Option<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let names = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| !name.starts_with(PREFIX)).min())
}

/// Removes these files of a folder, and the folders in it that are empty then. A record that names anything else is not believed.
fn remove_files(folder: &Path, files: &BTreeSet<String>) -> Result<()> {
    let is_inside = |name: &&String| {
        Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
    };
    for name in files.iter().filter(is_inside) {
        let path = folder.join(name);
        // A link in the place of a folder leads elsewhere.
        let is_own = path
            .parent()
            .and_then(|parent| parent.symlink_metadata().ok())
            .is_some_and(|m| m.is_dir());
        if is_own && path.symlink_metadata().is_ok_and(|m| !m.is_dir()) {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    let within: BTreeSet<&Path> = files.iter().filter_map(|name| Path::new(name).parent()).collect();
    for name in within.into_iter().filter(|name| !name.as_os_str().is_empty()) {
        // One that is not empty holds files of somebody else.
        let _ = std::fs::remove_dir(folder.join(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_record_are_removed_and_only_inside_of_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("predictions");
        for name in ["top1/a.npy", "top1/notes.txt", "top2/a.npy", "mine/a.npy"] {
            write_whole(&folder.join(name), b"x").unwrap();
        }
        write_whole(&outer.path().join("outside.npy"), b"x").unwrap();
        let names = ["top1/a.npy", "top2/a.npy", "top2/gone.npy", "../outside.npy", "mine"];
        let absolute = outer.path().join("outside.npy").display().to_string();
        let files = names.map(String::from).into_iter().chain([absolute]).collect();
        remove_files(&folder, &files).unwrap();
        let left = ["top1/a.npy", "top1/notes.txt", "top2", "mine/a.npy", "../outside.npy"];
        assert_eq!(
            left.map(|name| folder.join(name).exists()),
            [false, true, false, true, true]
        );
    }
}
