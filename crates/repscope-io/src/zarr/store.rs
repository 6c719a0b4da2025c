// SPDX-License-Identifier: MIT
//! What a store holds, and how its arrays are read.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::chunks::{self, Files};
use super::layout::Layout;
use super::{ARRAY, GROUP, NODE};
use crate::anndata::{Sparse, as_texts, dense, named};
use crate::array::{Array, ArrayInfo, Data};
use crate::choose::choose;
use crate::error::{Error, Parsed, Result, problem};
use crate::path::InputPath;

/// Stores of people have thousands of arrays; what has more is refused.
const MOST: usize = 100_000;

/// Groups within groups.
const DEEPEST: usize = 64;

/// Descriptions beyond this are refused; one of a store with all its arrays in it takes megabytes.
const LONGEST: u64 = 64 << 20;

/// The arrays of a store.
pub(crate) fn list(path: &Path) -> Result<Vec<ArrayInfo>> {
    let entries = entries(path)?;
    Ok(entries.into_iter().filter_map(|entry| entry.info()).collect())
}

/// Reads one array.
pub(crate) fn read(input: &InputPath) -> Result<Array> {
    let mut entries = entries(&input.path)?;
    let key = input.key.as_deref().map(|key| key.trim_matches('/'));
    let is_meant = |entry: &Entry| key == Some(&entry.key) || entries.len() == 1;
    if let Some(entry) = entries.iter().find(|entry| entry.info().is_none() && is_meant(entry)) {
        return entry.read(&input.path).map_err(|error| error.at(input));
    }
    entries.retain(|entry| entry.info().is_some());
    let infos: Vec<ArrayInfo> = entries.iter().filter_map(Entry::info).collect();
    let at = choose(&infos, key.filter(|key| !key.is_empty()), "array").map_err(|p| p.in_file(input))?;
    entries[at].read(&input.path).map_err(|error| error.at(input))
}

/// Reads every array, one after the other.
pub(crate) fn read_each(path: &Path, mut take: impl FnMut(InputPath, Array)) -> Result<()> {
    for entry in entries(path)? {
        let Some(info) = entry.info() else { continue };
        let input = InputPath {
            path: path.to_path_buf(),
            key: info.key,
        };
        let array = entry.read(path).map_err(|error| error.at(&input))?;
        take(input, array);
    }
    Ok(())
}

/// What is wrong with an array as a whole, or with one of its files.
pub(super) enum Fault {
    Array(crate::error::Problem),
    File(Error),
}

impl Fault {
    fn at(self, input: &InputPath) -> Error {
        match self {
            Fault::Array(problem) => problem.in_file(input),
            Fault::File(error) => error,
        }
    }
}

impl From<crate::error::Problem> for Fault {
    fn from(problem: crate::error::Problem) -> Self {
        Fault::Array(problem)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::File(error)
    }
}

/// An array and where it comes from.
struct Entry {
    /// Its groups and its name; empty for a store that is one array.
    key: String,
    what: What,
}

enum What {
    Plain(Parsed<Layout>),
    /// Codes and the names they stand for.
    Categories {
        codes: Layout,
        names: Layout,
    },
    /// Values and where they stand in a matrix of rows or columns.
    Sparse {
        values: Layout,
        indices: Layout,
        starts: Layout,
        shape: [usize; 2],
        is_by_rows: bool,
    },
}

impl Entry {
    /// None for what is not read.
    fn info(&self) -> Option<ArrayInfo> {
        let (shape, dtype) = match &self.what {
            What::Plain(layout) => {
                let layout = layout.as_ref().ok().filter(|layout| !layout.shape.is_empty())?;
                (layout.shape.as_slice(), layout.kind.name())
            }
            What::Categories { codes, .. } => (codes.shape.as_slice(), "str"),
            What::Sparse { values, shape, .. } => (&shape[..], values.kind.name()),
        };
        let key = Some(self.key.clone()).filter(|key| !key.is_empty());
        Some(ArrayInfo::new(key, shape, dtype))
    }

    fn read(&self, root: &Path) -> std::result::Result<Array, Fault> {
        // The keys are names of folders that were found, never of what a file says.
        let folder = |name: &str| root.join(&self.key).join(name);
        let mut files = Files::default();
        let (shape, dtype, data) = match &self.what {
            What::Plain(Err(problem)) => return Err(problem!("{problem}").into()),
            What::Plain(Ok(layout)) => {
                let data = chunks::read(layout, &root.join(&self.key), &mut files)?;
                (layout.shape.clone(), layout.kind.name(), data)
            }
            What::Categories { codes, names } => {
                let shape = codes.shape.clone();
                let codes = chunks::read(codes, &folder("codes"), &mut files)?;
                let names = as_texts(chunks::read(names, &folder("categories"), &mut files)?);
                (shape, "str", named(&codes, &names)?)
            }
            What::Sparse {
                values,
                indices,
                starts,
                shape,
                is_by_rows,
            } => {
                let sparse = Sparse {
                    values: chunks::read(values, &folder("data"), &mut files)?,
                    indices: chunks::read(indices, &folder("indices"), &mut files)?,
                    starts: chunks::read(starts, &folder("indptr"), &mut files)?,
                    shape: *shape,
                    is_by_rows: *is_by_rows,
                };
                (shape.to_vec(), "f32", dense(sparse)?)
            }
        };
        Ok(self.array(shape, dtype, data)?.read_from_shards(files.opened))
    }

    fn array(&self, shape: Vec<usize>, dtype: &str, data: Data) -> Parsed<Array> {
        Array::checked(shape, dtype, data)
    }
}

fn entries(root: &Path) -> Result<Vec<Entry>> {
    let mut walk = Walk {
        entries: Vec::new(),
        folders: 0,
    };
    walk.node(root, "", 0)?;
    Ok(walk.entries)
}

struct Walk {
    entries: Vec<Entry>,
    folders: usize,
}

/// What a folder says that it is.
enum Node {
    Array(Parsed<Layout>),
    Group(Value),
}

impl Walk {
    fn node(&mut self, folder: &Path, key: &str, depth: usize) -> Result<()> {
        self.folders += 1;
        let refuse = |what: String| Err(problem!("{what}").in_file(folder.display()));
        if self.folders > MOST {
            return refuse(format!(
                "is in a store of more than {MOST} folders; name a group in it, store.zarr/group"
            ));
        }
        if depth > DEEPEST {
            return refuse(format!("lies in groups within groups deeper than {DEEPEST} levels"));
        }
        let Some(node) = node(folder)? else { return Ok(()) };
        let attributes = match node {
            Node::Array(layout) => {
                let what = What::Plain(layout);
                let key = key.to_string();
                self.entries.push(Entry { key, what });
                return Ok(());
            }
            Node::Group(attributes) => attributes,
        };
        let names = subfolders(folder)?;
        if let Some(what) = whole(folder, &attributes, &names)? {
            let key = key.to_string();
            self.entries.push(Entry { key, what });
            return Ok(());
        }
        for name in names {
            let inner = if key.is_empty() {
                name.clone()
            } else {
                format!("{key}/{name}")
            };
            self.node(&folder.join(&name), &inner, depth + 1)?;
        }
        Ok(())
    }
}

/// A group of AnnData that is one array.
fn whole(folder: &Path, attributes: &Value, names: &[String]) -> Result<Option<What>> {
    let has = |wanted: &[&str]| wanted.iter().all(|name| names.iter().any(|own| own == name));
    let layout = |name: &str| match node(&folder.join(name))? {
        Some(Node::Array(Ok(layout))) => Ok(Some(layout)),
        _ => Ok::<_, Error>(None),
    };
    if has(&["codes", "categories"]) {
        let parts = layout("codes")?.zip(layout("categories")?);
        return Ok(parts.map(|(codes, names)| What::Categories { codes, names }));
    }
    let is_by_rows = match attributes["encoding-type"].as_str() {
        Some("csr_matrix") => true,
        Some("csc_matrix") => false,
        _ => return Ok(None),
    };
    let sizes = attributes["shape"].as_array().cloned().unwrap_or_default();
    let sizes: Option<Vec<usize>> = sizes.iter().map(|size| size.as_u64()?.try_into().ok()).collect();
    let Some(&[rows, columns]) = sizes.as_deref().filter(|_| has(&["data", "indices", "indptr"])) else {
        return Ok(None);
    };
    let parts = layout("data")?.zip(layout("indices")?).zip(layout("indptr")?);
    Ok(parts.map(|((values, indices), starts)| What::Sparse {
        values,
        indices,
        starts,
        shape: [rows, columns],
        is_by_rows,
    }))
}

fn node(folder: &Path) -> Result<Option<Node>> {
    if let Some(node) = description(&folder.join(NODE))? {
        let is_array = node["node_type"] == "array" && node["zarr_format"] == 3;
        return Ok(Some(match is_array {
            true => Node::Array(Layout::version_3(&node)),
            false => Node::Group(node["attributes"].clone()),
        }));
    }
    if let Some(array) = description(&folder.join(ARRAY))? {
        return Ok(Some(Node::Array(Layout::version_2(&array))));
    }
    if description(&folder.join(GROUP))?.is_some() {
        let attributes = description(&folder.join(".zattrs"))?;
        return Ok(Some(Node::Group(attributes.unwrap_or_default())));
    }
    Ok(None)
}

/// What a small file says; none where there is no such file.
fn description(path: &Path) -> Result<Option<Value>> {
    let Ok(metadata) = std::fs::metadata(path) else {
        return Ok(None);
    };
    let size = metadata.len();
    if size > LONGEST {
        return Err(
            problem!("has {size} bytes; a description of more than {LONGEST} is not believed").in_file(path.display()),
        );
    }
    let text = crate::regular::read_text(path).map_err(|source| Error::read(path, source))?;
    match serde_json::from_str(&text) {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(problem!("is no description of Zarr: {error}").in_file(path.display())),
    }
}

/// The folders in a folder, by name. Links are not followed: they may lead in a circle, or out of the store.
fn subfolders(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).map_err(|source| Error::read(folder, source))?;
    let folders = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut names: Vec<String> = folders
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// The file that describes an array.
pub(super) fn description_of(folder: &Path) -> PathBuf {
    let node = folder.join(NODE);
    if node.is_file() { node } else { folder.join(ARRAY) }
}
