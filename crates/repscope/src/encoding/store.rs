// SPDX-License-Identifier: MIT
//! Embeddings, cached by content hash: that of model, data and options. An entry is a folder
//!
//! ```text
//! codes/DIGEST/about.json    what the outputs are called, and what is to be known about them
//! codes/DIGEST/0.npy, …      an output each
//! ```
//!
//! and is called `DIGEST.part` until it is whole. A run that was interrupted goes on with it. When all entries together
//! are too large, those that were not used for the longest time go.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use repscope_io::{Array, InputPath, NpyRows, folder_of, read_array, write_whole};
use repscope_models::Batch;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::only;
use crate::session::Session;

/// The folder of all entries, instead of the usual one.
const FOLDER: &str = "REPSCOPE_CACHE";
/// How many bytes the entries may have together, unless [`LIMIT`] says otherwise.
const USUAL_LIMIT: u64 = 10 << 30;
const LIMIT: &str = "REPSCOPE_CACHE_BYTES";

/// Where the embeddings of a batch go.
pub type Sink<'a> = dyn FnMut(Batch) -> Result<()> + 'a;
/// Encodes from some row on, and gives notes.
pub type Run<'a> = dyn FnMut(usize, &mut Sink) -> Result<Vec<String>> + 'a;

/// What is kept under this name does not fit embeddings that are made in another way.
pub fn key(model: &str, data: &str) -> String {
    blake3::hash(format!("repscope codes 1\n{model}\n{data}\n").as_bytes())
        .to_hex()
        .to_string()
}

#[derive(Serialize, Deserialize)]
struct About {
    outputs: Vec<OutputInfo>,
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize, PartialEq)]
struct OutputInfo {
    name: String,
    shape: Vec<usize>,
}

/// Where entries are.
pub enum Place {
    Kept(PathBuf),
    /// For this run only.
    Temporary(TempDir),
}

/// Embeddings on disk.
pub struct Stored {
    /// Name and file of each output.
    pub outputs: Vec<(String, PathBuf)>,
    pub notes: Vec<String>,
    /// Whether an earlier run made them.
    pub is_kept: bool,
    /// Goes when the embeddings go.
    _folder: Option<TempDir>,
}

impl Stored {
    /// The one output.
    pub fn only(&self) -> Result<Array> {
        let file = only(self.outputs.clone())?;
        Ok(read_array(&InputPath::file(file))?)
    }
}

impl Place {
    /// The folder of all entries; a temporary one, `beside` something where said, if nothing is to be kept.
    pub fn find(is_temporary: bool, beside: Option<&Path>, session: &Session) -> Result<Self> {
        let usual = if is_temporary { None } else { usual_folder() };
        if let Some(folder) = usual {
            let folder = folder.join("codes");
            match std::fs::create_dir_all(&folder) {
                Ok(()) => return Ok(Place::Kept(folder)),
                Err(error) => session.say(&format!(
                    "embeddings are not kept for the next run: cannot make {}: {error}; name another folder in {FOLDER}",
                    folder.display()
                )),
            }
        }
        let folder = match beside.map(folder_of) {
            Some(folder) => {
                std::fs::create_dir_all(folder)?;
                tempfile::Builder::new().prefix(".repscope-").tempdir_in(folder)
            }
            None => tempfile::tempdir(),
        };
        Ok(Place::Temporary(folder.context("making a temporary folder")?))
    }

    /// The embeddings under a key. Where they are missing, `run` is given the first row that is missing and hands over batches.
    pub fn embeddings(
        self,
        key: &str,
        rows: usize,
        can_go_on: bool,
        session: &Session,
        run: &mut Run,
    ) -> Result<Stored> {
        match self {
            Place::Temporary(folder) => {
                let path = folder.path().to_path_buf();
                let about = fill(&path, rows, false, run)?;
                Ok(about.stored(&path, false, Some(folder)))
            }
            Place::Kept(folder) => {
                let whole = folder.join(key);
                let _lock = Lock::take(&folder.join(format!("{key}.lock")), session)?;
                if let Some(about) = About::of_whole(&whole, rows) {
                    return Ok(about.stored(&whole, true, None));
                }
                let part = folder.join(format!("{key}.part"));
                let about = fill(&part, rows, can_go_on, run)?;
                if whole.exists() {
                    std::fs::remove_dir_all(&whole)?;
                }
                std::fs::rename(&part, &whole).with_context(|| whole.display().to_string())?;
                forget(&folder, key, limit()?)?;
                Ok(about.stored(&whole, false, None))
            }
        }
    }
}

impl About {
    fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join("about.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        Ok(write_whole(&folder.join("about.json"), text.as_bytes())?)
    }

    /// An entry that can be used: all its files are there with their shapes.
    fn of_whole(folder: &Path, rows: usize) -> Option<Self> {
        let about = About::read(folder)?;
        let is_there = |(index, output): (usize, &OutputInfo)| {
            let array = read_array(&InputPath::file(file(folder, index))).ok();
            array.is_some_and(|array| array.shape() == output.shape && output.shape.first() == Some(&rows))
        };
        let is_whole = !about.outputs.is_empty() && about.outputs.iter().enumerate().all(is_there);
        // Written again for the time of the last use, which `forget` asks for; an entry that cannot be written is as good.
        let _ = about.write(folder);
        is_whole.then_some(about)
    }

    fn stored(self, folder: &Path, is_kept: bool, temporary: Option<TempDir>) -> Stored {
        let named = |(index, output): (usize, OutputInfo)| (output.name, file(folder, index));
        Stored {
            outputs: self.outputs.into_iter().enumerate().map(named).collect(),
            notes: self.notes,
            is_kept,
            _folder: temporary,
        }
    }
}

fn file(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("{index}.npy"))
}

/// Writes the embeddings that are missing in a folder.
fn fill(folder: &Path, rows: usize, can_go_on: bool, run: &mut Run) -> Result<About> {
    let begun = About::read(folder).filter(|_| can_go_on);
    let mut about = begun.unwrap_or(About {
        outputs: Vec::new(),
        notes: Vec::new(),
    });
    let mut files = open(folder, &about)?;
    let first = files.iter().map(NpyRows::done).min().unwrap_or(0);
    files.iter_mut().try_for_each(|file| file.keep(first))?;
    if first == rows && rows > 0 {
        files.into_iter().try_for_each(NpyRows::finish)?;
        return Ok(about);
    }
    let notes = run(first, &mut |batch| {
        let of = |output: &repscope_models::Output| OutputInfo {
            name: output.name.clone(),
            shape: std::iter::once(rows).chain(output.shape.iter().copied()).collect(),
        };
        let outputs: Vec<OutputInfo> = batch.outputs.iter().map(of).collect();
        if files.is_empty() {
            about.outputs = outputs;
            files = open(folder, &about)?;
            files.iter_mut().try_for_each(|file| file.keep(0))?;
            about.write(folder)?;
        } else if about.outputs != outputs {
            bail!("internal error: the outputs of the model changed between batches. Please report this");
        }
        for (file, output) in files.iter_mut().zip(&batch.outputs) {
            file.push(&output.values)?;
        }
        Ok(())
    })?;
    files.into_iter().try_for_each(NpyRows::finish)?;
    about.notes = notes;
    about.write(folder)?;
    Ok(about)
}

fn open(folder: &Path, about: &About) -> Result<Vec<NpyRows>> {
    let opened = about
        .outputs
        .iter()
        .enumerate()
        .map(|(index, output)| NpyRows::open(&file(folder, index), &output.shape));
    Ok(opened.collect::<repscope_io::Result<_>>()?)
}

/// Nobody else works on an entry while this lives.
struct Lock {
    _file: File,
    path: PathBuf,
}

impl Lock {
    fn take(path: &Path, session: &Session) -> Result<Self> {
        let file = File::create(path).with_context(|| path.display().to_string())?;
        if file.try_lock().is_err() {
            session.say("another run is encoding the same; waiting for its embeddings");
            file.lock().with_context(|| path.display().to_string())?;
        }
        Ok(Lock {
            _file: file,
            path: path.to_path_buf(),
        })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // One that stays does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Takes the entries away that were not used for the longest time, until the others are small enough. The one just made
/// stays.
fn forget(folder: &Path, keep: &str, limit: u64) -> Result<()> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let Ok(used) = std::fs::metadata(path.join("about.json")).and_then(|file| file.modified()) else {
            continue;
        };
        let size = |file: std::io::Result<std::fs::DirEntry>| file.and_then(|f| f.metadata()).map_or(0, |m| m.len());
        let bytes: u64 = std::fs::read_dir(&path)?.map(size).sum();
        entries.push((path.ends_with(keep), used, path, bytes));
    }
    // The newest first, the own one before all.
    entries.sort_by_key(|(is_own, used, ..)| std::cmp::Reverse((*is_own, *used)));
    let mut total = 0;
    for (is_own, _, path, bytes) in entries {
        total += bytes;
        if total > limit && !is_own {
            std::fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

fn limit() -> Result<u64> {
    let Some(text) = std::env::var_os(LIMIT) else {
        return Ok(USUAL_LIMIT);
    };
    let bytes = text.to_str().and_then(|text| text.parse().ok());
    bytes.with_context(|| format!("{LIMIT} is {}; write a number of bytes", text.display()))
}

/// Where programs keep what can be computed again.
fn usual_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(own) = variable(FOLDER) {
        return Some(own);
    }
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Caches"))
    } else {
        variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("repscope"))
}

#[cfg(test)]
mod tests {
    use repscope_models::Output;

    use super::*;

    /// Rows of one column that hold their own number, in batches of two; breaks off before a row where asked.
    fn rows(count: usize, stop: Option<usize>) -> impl FnMut(usize, &mut Sink) -> Result<Vec<String>> {
        move |first, sink| {
            let numbers: Vec<usize> = (first..count).collect();
            for pair in numbers.chunks(2) {
                if stop.is_some_and(|stop| pair[0] >= stop) {
                    bail!("interrupted");
                }
                sink(Batch {
                    first: pair[0],
                    count: pair.len(),
                    outputs: vec![Output {
                        name: "z".to_string(),
                        shape: vec![1],
                        values: pair.iter().map(|&row| row as f32).collect(),
                    }],
                })?;
            }
            Ok(vec![format!("from row {first}")])
        }
    }

    fn values(stored: &Stored) -> Vec<f32> {
        let array = stored.only().unwrap();
        let repscope_io::Data::F32(values) = array.data() else {
            panic!("{}", array.dtype())
        };
        (**values).as_ref().to_vec()
    }

    #[test]
    fn an_interrupted_run_is_gone_on_with_and_a_finished_one_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let place = || Place::Kept(folder.path().to_path_buf());
        assert!(
            place()
                .embeddings("a", 5, true, &Session::silent(), &mut rows(5, Some(2)))
                .is_err()
        );
        let stored = place()
            .embeddings("a", 5, true, &Session::silent(), &mut rows(5, None))
            .unwrap();
        assert_eq!(stored.notes, ["from row 2"]);
        assert_eq!(values(&stored), [0.0, 1.0, 2.0, 3.0, 4.0]);
        let again = place()
            .embeddings("a", 5, true, &Session::silent(), &mut rows(5, Some(0)))
            .unwrap();
        assert!(again.is_kept && values(&again) == values(&stored));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_run_that_cannot_go_on_begins_anew_and_a_damaged_entry_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let place = || Place::Kept(folder.path().to_path_buf());
        assert!(
            place()
                .embeddings("a", 5, false, &Session::silent(), &mut rows(5, Some(2)))
                .is_err()
        );
        let stored = place()
            .embeddings("a", 5, false, &Session::silent(), &mut rows(5, None))
            .unwrap();
        assert_eq!(stored.notes, ["from row 0"]);
        write_whole(&file(&folder.path().join("a"), 0), b"no array").unwrap();
        let again = place()
            .embeddings("a", 5, false, &Session::silent(), &mut rows(5, None))
            .unwrap();
        assert!(!again.is_kept && values(&again).len() == 5);
    }

    #[test]
    fn entries_that_were_not_used_for_the_longest_time_go_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            Place::Kept(folder.path().to_path_buf())
                .embeddings(name, 4, true, &Session::silent(), &mut rows(4, None))
                .unwrap();
            let seconds = match name {
                "a" => 9,
                "b" => 5,
                _ => 7,
            };
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            let about = File::open(folder.path().join(name).join("about.json")).unwrap();
            about.set_modified(time).unwrap();
        }
        let size = |name: &str| -> u64 {
            let files = std::fs::read_dir(folder.path().join(name)).unwrap();
            files.map(|f| f.unwrap().metadata().unwrap().len()).sum()
        };
        forget(folder.path(), "c", 2 * size("a")).unwrap();
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!((left("a"), left("b"), left("c")), (true, false, true));
        forget(folder.path(), "c", 0).unwrap();
        assert_eq!((left("a"), left("c")), (false, true));
    }
}
