// SPDX-License-Identifier: MIT
//! Embeddings, cached by content hash: that of model, data and options. An entry is a folder
//!
//! ```text
//! codes/DIGEST/about.json    what the outputs are called
//! codes/DIGEST/notes.json    what is to be known about them
//! codes/DIGEST/0.npy, …      an output each
//! codes/DIGEST/digests.txt   the digests of these files; an entry that they do not fit is dropped and made again
//! codes/DIGEST.lock          held together by those who read the entry, and alone by the one that makes or removes it
//! ```
//!
//! and is called `DIGEST.part` until it is whole. A run that was interrupted goes on with it. When all entries together
//! are too large, those that were not used for the longest time go, unless somebody holds their locks.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use repscope_io::{
    Array, InputPath, Lock, NpyRows, Seal, TemporaryFolder, folder_of, read_array, sync_folder, write_whole,
};
use repscope_models::Batch;
use serde::{Deserialize, Serialize};

use super::only;
use crate::error::message;
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

#[derive(Default, Serialize, Deserialize)]
struct About {
    outputs: Vec<OutputInfo>,
    /// Known at the end, and in a file of their own.
    #[serde(skip)]
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
    Temporary(TemporaryFolder),
}

/// Embeddings on disk.
pub struct Stored {
    /// Name and file of each output.
    pub outputs: Vec<(String, PathBuf)>,
    pub notes: Vec<String>,
    /// Whether an earlier run made them.
    pub is_kept: bool,
    /// Goes when the embeddings go.
    _folder: Option<TemporaryFolder>,
    /// Keeps others from removing them.
    _lock: Option<Lock>,
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
        let folder = TemporaryFolder::new(beside.map(folder_of));
        Ok(Place::Temporary(folder.context("making a temporary folder")?))
    }

    /// The embeddings under a key. Where they are missing, `run` is given the first row that is missing and hands over batches;
    /// they are kept if `verify` finds that model and data are what the key says.
    pub fn embeddings(
        self,
        key: &str,
        rows: usize,
        can_go_on: bool,
        session: &Session,
        run: &mut Run,
        verify: &dyn Fn() -> Result<()>,
    ) -> Result<Stored> {
        let folder = match self {
            Place::Temporary(folder) => {
                let path = folder.path().to_path_buf();
                let about = fill(&path, rows, false, session, run)?;
                verify()?;
                return Ok(about.stored(&path, false, Some(folder), None));
            }
            Place::Kept(folder) => folder,
        };
        let (whole, part) = (folder.join(key), folder.join(format!("{key}.part")));
        let lock = lock_of(&folder, key);
        let waiting = || session.say("another run is encoding the same; waiting for its embeddings");
        let reading = Lock::together(&lock, &waiting)?;
        if let Ok(Some(about)) = About::of_whole(&whole, rows) {
            return Ok(about.stored(&whole, true, None, Some(reading)));
        }
        drop(reading);
        let writing = Lock::alone(&lock, &waiting)?;
        // Another run may have made them meanwhile.
        match About::of_whole(&whole, rows) {
            Ok(Some(about)) => return Ok(about.stored(&whole, true, None, Some(writing.share()?))),
            Ok(None) => {}
            Err(error) => {
                let text = format!(
                    "cached embeddings are computed anew, because they are damaged: {}",
                    message(&error)
                );
                session.say(&text);
            }
        }
        if whole.exists() {
            std::fs::remove_dir_all(&whole).with_context(|| whole.display().to_string())?;
        }
        let about = fill(&part, rows, can_go_on, session, run)?;
        if let Err(error) = verify() {
            // They belong to no key.
            std::fs::remove_dir_all(&part).with_context(|| part.display().to_string())?;
            return Err(error);
        }
        about.seal(&part)?;
        std::fs::rename(&part, &whole).with_context(|| whole.display().to_string())?;
        sync_folder(&folder)?;
        forget(&folder, key, limit()?)?;
        Ok(about.stored(&whole, false, None, Some(writing.share()?)))
    }
}

impl About {
    const FILE: &str = "about.json";
    const NOTES: &str = "notes.json";

    /// What a folder says it holds; `None` where nothing was finished, an error where it is not as it was written.
    fn read(folder: &Path) -> Result<Option<(Self, Seal)>> {
        let Some(seal) = Seal::read(folder)? else {
            return Ok(None);
        };
        seal.check(folder, Self::FILE)?;
        let text = std::fs::read_to_string(folder.join(Self::FILE))?;
        Ok(Some((serde_json::from_str(&text)?, seal)))
    }

    /// Begins an entry.
    fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        write_whole(&folder.join(Self::FILE), text.as_bytes())?;
        Ok(Seal::write(folder, &[Self::FILE])?)
    }

    /// Completes an entry: from now on all its files are known by their digests.
    fn seal(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.notes)?;
        write_whole(&folder.join(Self::NOTES), text.as_bytes())?;
        let outputs = (0..self.outputs.len()).map(name);
        let names: Vec<String> = outputs.chain([Self::FILE, Self::NOTES].map(String::from)).collect();
        Seal::write(folder, &names)?;
        for index in 0..self.outputs.len() {
            // Has done its work; one that stays does no harm.
            let _ = std::fs::remove_file(NpyRows::journal(&file(folder, index)));
        }
        Ok(())
    }

    /// An entry that can be used: all its files are there with their digests and shapes.
    #[allow(
        clippy::disallowed_methods,
        reason = "the time of the last use decides what is forgotten first"
    )]
    fn of_whole(folder: &Path, rows: usize) -> Result<Option<Self>> {
        if !folder.exists() {
            return Ok(None);
        }
        let Some((mut about, seal)) = About::read(folder)? else {
            bail!("{} has no {}", folder.display(), Seal::FILE);
        };
        seal.check(folder, Self::NOTES)?;
        about.notes = serde_json::from_str(&std::fs::read_to_string(folder.join(Self::NOTES))?)?;
        for (index, output) in about.outputs.iter().enumerate() {
            seal.check(folder, &name(index))?;
            let shape = read_array(&InputPath::file(file(folder, index)))?.shape().to_vec();
            if shape != output.shape || shape.first() != Some(&rows) {
                let path = file(folder, index);
                bail!("{} has the shape {shape:?}, and {rows} rows are needed", path.display());
            }
        }
        // The time of the last use, which `forget` asks for; an entry that cannot be written is as good.
        let now = std::time::SystemTime::now();
        let _ = std::fs::File::open(folder.join(Self::FILE)).and_then(|file| file.set_modified(now));
        Ok(Some(about))
    }

    fn stored(self, folder: &Path, is_kept: bool, temporary: Option<TemporaryFolder>, lock: Option<Lock>) -> Stored {
        let named = |(index, output): (usize, OutputInfo)| (output.name, file(folder, index));
        Stored {
            outputs: self.outputs.into_iter().enumerate().map(named).collect(),
            notes: self.notes,
            is_kept,
            _folder: temporary,
            _lock: lock,
        }
    }
}

fn name(index: usize) -> String {
    format!("{index}.npy")
}

fn file(folder: &Path, index: usize) -> PathBuf {
    folder.join(name(index))
}

fn lock_of(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.lock"))
}

/// Writes the embeddings that are missing in a folder.
fn fill(folder: &Path, rows: usize, can_go_on: bool, session: &Session, run: &mut Run) -> Result<About> {
    let begun = if can_go_on {
        About::read(folder).unwrap_or_else(|error| {
            let text = format!(
                "an interrupted run is begun anew, because it is damaged: {}",
                message(&error)
            );
            session.say(&text);
            None
        })
    } else {
        None
    };
    let mut about = begun.map_or_else(About::default, |(about, _)| about);
    let mut files = open(folder, &about)?;
    if files.iter().any(NpyRows::is_damaged) {
        session.say("rows of an interrupted run are damaged; they and those behind them are computed anew");
    }
    // Where all rows are there but what is to be known about them is not, the last batch says it again.
    let done = |file: &NpyRows| match file.done() {
        done if done == rows => file.before_last(),
        done => done,
    };
    let first = files.iter().map(done).min().unwrap_or(0);
    files.iter_mut().try_for_each(|file| file.keep(first))?;
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

/// Takes the entries away that were not used for the longest time, until the others are small enough. The one just made stays, and so
/// do those that others read or make.
fn forget(folder: &Path, keep: &str, limit: u64) -> Result<()> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        let path = entry.path();
        // Damaged entries have no such file, and go by the time of their folder.
        let about = std::fs::metadata(path.join(About::FILE)).or_else(|_| entry.metadata());
        let Ok(used) = about.and_then(|file| file.modified()) else {
            continue;
        };
        let size = |file: std::io::Result<std::fs::DirEntry>| file.and_then(|f| f.metadata()).map_or(0, |m| m.len());
        let bytes: u64 = std::fs::read_dir(&path).map_or(0, |files| files.map(size).sum());
        entries.push((path.ends_with(keep), used, path, bytes));
    }
    // The newest first, the own one before all.
    entries.sort_by_key(|(is_own, used, ..)| std::cmp::Reverse((*is_own, *used)));
    let mut total = 0;
    for (is_own, _, path, bytes) in entries {
        total += bytes;
        if total <= limit || is_own {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let key = name.strip_suffix(".part").unwrap_or(&name);
        if let Some(_lock) = Lock::try_alone(&lock_of(folder, key))? {
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
#[allow(
    clippy::disallowed_methods,
    reason = "files are damaged in place here, as other programs would"
)]
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

    fn unchanged() -> Result<()> {
        Ok(())
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
                .embeddings("a", 5, true, &Session::silent(), &mut rows(5, Some(2)), &unchanged)
                .is_err()
        );
        let stored = place()
            .embeddings("a", 5, true, &Session::silent(), &mut rows(5, None), &unchanged)
            .unwrap();
        assert_eq!(stored.notes, ["from row 2"]);
        assert_eq!(values(&stored), [0.0, 1.0, 2.0, 3.0, 4.0]);
        let again = place()
            .embeddings("a", 5, true, &Session::silent(), &mut rows(5, Some(0)), &unchanged)
            .unwrap();
        assert!(again.is_kept && values(&again) == values(&stored));
        let entry = std::fs::read_dir(folder.path().join("a")).unwrap().count();
        assert_eq!((entry, std::fs::read_dir(folder.path()).unwrap().count()), (4, 2));
    }

    #[test]
    fn a_run_that_cannot_go_on_begins_anew_and_a_damaged_entry_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let place = || Place::Kept(folder.path().to_path_buf());
        assert!(
            place()
                .embeddings("a", 5, false, &Session::silent(), &mut rows(5, Some(2)), &unchanged)
                .is_err()
        );
        let stored = place()
            .embeddings("a", 5, false, &Session::silent(), &mut rows(5, None), &unchanged)
            .unwrap();
        assert_eq!(stored.notes, ["from row 0"]);
        drop(stored);
        write_whole(&file(&folder.path().join("a"), 0), b"no array").unwrap();
        let again = place()
            .embeddings("a", 5, false, &Session::silent(), &mut rows(5, None), &unchanged)
            .unwrap();
        assert!(!again.is_kept && values(&again).len() == 5);
    }

    #[test]
    fn entries_that_were_not_used_for_the_longest_time_go_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            Place::Kept(folder.path().to_path_buf())
                .embeddings(name, 4, true, &Session::silent(), &mut rows(4, None), &unchanged)
                .unwrap();
            let seconds = match name {
                "a" => 9,
                "b" => 5,
                _ => 7,
            };
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            let about = std::fs::File::open(folder.path().join(name).join("about.json")).unwrap();
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

    fn flip(path: &Path) {
        let mut bytes = std::fs::read(path).unwrap();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_flipped_bit_in_any_file_of_an_entry_is_found_and_the_entry_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let embeddings = || {
            Place::Kept(folder.path().to_path_buf())
                .embeddings("a", 5, true, &Session::silent(), &mut rows(5, None), &unchanged)
                .unwrap()
        };
        let expected = values(&embeddings());
        for name in ["0.npy", "about.json", "notes.json", "digests.txt"] {
            flip(&folder.path().join("a").join(name));
            let again = embeddings();
            assert!(!again.is_kept && values(&again) == expected, "{name}");
            drop(again);
            assert!(embeddings().is_kept, "{name}");
        }
    }

    #[test]
    fn a_flipped_bit_in_an_interrupted_run_is_found() {
        for (name, first) in [("0.npy", 2), ("0.npy.rows", 2), ("about.json", 0), ("digests.txt", 0)] {
            let folder = tempfile::tempdir().unwrap();
            let place = || Place::Kept(folder.path().to_path_buf());
            let silent = Session::silent();
            let broken = place().embeddings("a", 7, true, &silent, &mut rows(7, Some(4)), &unchanged);
            assert!(broken.is_err());
            flip(&folder.path().join("a.part").join(name));
            let stored = place()
                .embeddings("a", 7, true, &silent, &mut rows(7, None), &unchanged)
                .unwrap();
            assert_eq!(stored.notes, [format!("from row {first}")], "{name}");
            assert_eq!(values(&stored), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        }
    }

    #[test]
    fn embeddings_of_inputs_that_changed_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let place = || Place::Kept(folder.path().to_path_buf());
        let changed = || bail!("z.npy has changed");
        let silent = Session::silent();
        assert!(
            place()
                .embeddings("a", 5, true, &silent, &mut rows(5, None), &changed)
                .is_err()
        );
        assert!(!folder.path().join("a").exists() && !folder.path().join("a.part").exists());
    }

    #[test]
    fn eviction_leaves_what_others_read_or_make() {
        let folder = tempfile::tempdir().unwrap();
        let embeddings = |name: &str| {
            Place::Kept(folder.path().to_path_buf())
                .embeddings(name, 4, true, &Session::silent(), &mut rows(4, None), &unchanged)
                .unwrap()
        };
        let read = embeddings("a");
        drop(embeddings("b"));
        std::fs::create_dir(folder.path().join("c.part")).unwrap();
        std::fs::write(folder.path().join("c.part/0.npy"), b"rows").unwrap();
        let making = Lock::alone(&lock_of(folder.path(), "c"), &|| {}).unwrap();
        forget(folder.path(), "none", 0).unwrap();
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!((left("a"), left("b"), left("c.part")), (true, false, true));
        assert_eq!(values(&read), [0.0, 1.0, 2.0, 3.0]);
        drop((read, making));
        forget(folder.path(), "none", 0).unwrap();
        assert_eq!((left("a"), left("c.part")), (false, false));
    }
}
