// SPDX-License-Identifier: MIT
//! What runs a graph: rten, which is built in, or an installed ONNX Runtime.
//!
//! A graph in a file may be a stranger's, and may ask for more memory or stack than there is, which ends a process. So the command runs it
//! in a process of its own ([`isolate`], [`serve`]); a program that uses the library decides that for itself.

mod child;
mod deep;
mod find_library;
mod instead;
mod messages;
#[cfg(feature = "onnxruntime")]
mod onnx_runtime;
mod rten_session;
mod serve;

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, bail, wrong};
use crate::graph::describe;

pub use child::{Isolation, isolate};
pub use find_library::find_library;
pub(crate) use instead::load as load_instead;
pub use serve::serve;

/// A tensor that goes in or comes out: its shape and its values, last index fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The sizes of the dimensions.
    pub shape: Vec<usize>,
    /// The values.
    pub data: Data,
}

impl Value {
    /// A tensor of numbers.
    pub fn floats(shape: Vec<usize>, values: Vec<f32>) -> Self {
        let data = Data::F32(values);
        Value { shape, data }
    }

    /// A tensor of integers.
    pub fn ints(shape: Vec<usize>, values: Vec<i64>) -> Self {
        let data = Data::I64(values);
        Value { shape, data }
    }
}

/// The values of a tensor. Other kinds of numbers are converted on the way in and out.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Numbers.
    F32(Vec<f32>),
    /// Integers: token ids, masks.
    I64(Vec<i64>),
}

/// What kind of numbers an input or output holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elem {
    /// Numbers: fed and given as `f32`.
    F32,
    /// Integers or booleans: fed and given as `i64`.
    I64,
    /// Bytes: fed as `f32` that are integers from 0 to 255.
    U8,
    /// A kind that is not supported, by name.
    Other(String),
}

/// An input or an output of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Its name in the graph.
    pub name: String,
    /// What it holds.
    pub elem: Elem,
    /// The sizes of its dimensions, none where any will do; empty where the graph says nothing.
    pub dims: Vec<Option<usize>>,
}

impl fmt::Display for Port {
    /// The name and the shape: `x [?, 3, 64, 64]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self
            .dims
            .iter()
            .map(|d| d.map_or_else(|| "?".to_string(), |n| n.to_string()));
        write!(f, "{} [{}]", self.name, sizes.collect::<Vec<_>>().join(", "))
    }
}

/// A graph that is ready to run.
pub trait Session: Send {
    /// What must be fed.
    fn inputs(&self) -> &[Port];
    /// The outputs that can be computed.
    fn outputs(&self) -> &[Port];
    /// Which runtime this is, with its version.
    fn engine(&self) -> String;
    /// Why it is not the one that is usual, in a sentence without a full stop.
    fn note(&self) -> Option<&str> {
        None
    }
    /// Feeds the named values and returns the named outputs, in the requested order.
    fn run(&mut self, inputs: Vec<(String, Value)>, outputs: &[String]) -> Result<Vec<Value>>;
}

/// A graph in the ONNX format.
#[derive(Debug, Clone)]
pub enum ModelBytes {
    /// An `.onnx` file. Weights that it keeps in other files are found beside it.
    File(PathBuf),
    /// The bytes of a graph that holds its weights itself.
    Memory(Vec<u8>),
}

impl fmt::Display for ModelBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelBytes::File(path) => write!(f, "{}", path.display()),
            ModelBytes::Memory(_) => f.write_str("the graph"),
        }
    }
}

/// What runs a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Runtime {
    /// rten, in pure Rust.
    #[default]
    Rten,
    /// rten, and this library of ONNX Runtime for graphs with convolutions, where it takes less time, and for files that rten cannot run.
    Auto {
        /// The library.
        library: PathBuf,
    },
    /// ONNX Runtime, whose library is loaded on first use.
    OnnxRuntime {
        /// The library. Without one it is searched where [`find_library`] looks, environment aside: only the command
        /// reads that.
        library: Option<PathBuf>,
        /// Where it computes.
        provider: Provider,
    },
}

/// Where ONNX Runtime computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// On the processor.
    #[default]
    Cpu,
    /// On an NVIDIA card. An error where the library cannot.
    Cuda,
}

/// Prepares a graph to run on this many threads; 0 means one per core.
pub fn load(model: ModelBytes, runtime: &Runtime, threads: usize) -> Result<Box<dyn Session>> {
    if let ModelBytes::File(path) = &model {
        // A clear word before a runtime tries.
        let file = repscope_io::open_regular(path).map_err(|e| wrong!("cannot read {}: {e}", path.display()))?;
        if file.metadata().is_ok_and(|m| m.is_dir()) {
            bail!("{} is a folder; give an .onnx file", path.display());
        }
    }
    let source = model.to_string();
    let session: Box<dyn Session> = match runtime {
        Runtime::Auto { library } => match instead::for_speed(&model, library, threads) {
            Some(session) => session,
            None => match (load(model.clone(), &Runtime::Rten, threads), &model) {
                (Err(Error::Unsupported(why)), ModelBytes::File(path)) => instead::load(path, library, why, threads)?,
                (loaded, _) => loaded?,
            },
        },
        Runtime::Rten => match (model, child::isolation()) {
            (ModelBytes::File(path), Some(isolation)) => {
                Box::new(child::ChildSession::load(path, None, threads, isolation)?)
            }
            // A graph that was written here asks for nothing that its weights and its rows do not have.
            (model @ ModelBytes::Memory(_), _) => Box::new(rten_session::RtenSession::load(model, threads)?),
            (model, None) => Box::new(deep::DeepSession::load(model, threads)?),
        },
        #[cfg(feature = "onnxruntime")]
        Runtime::OnnxRuntime { library, provider } => {
            let library = match library {
                Some(path) => path.clone(),
                None => find_library(&|_| None)?,
            };
            Box::new(onnx_runtime::OnnxSession::load(&model, &library, *provider, threads)?)
        }
        #[cfg(not(feature = "onnxruntime"))]
        Runtime::OnnxRuntime { .. } => bail!(
            "this program was built without ONNX Runtime; build it with the feature `onnxruntime`, or use the runtime rten"
        ),
    };
    if session.inputs().is_empty() || session.outputs().is_empty() {
        bail!(
            "{source} has {} inputs and {} outputs and cannot be run; it may have been cut off, or hold no model",
            session.inputs().len(),
            session.outputs().len()
        );
    }
    Ok(session)
}

/// The port of this name, or an error that lists the existing ones.
fn port<'a>(ports: &'a [Port], name: &str, kind: &str) -> Result<&'a Port> {
    ports.iter().find(|p| p.name == name).ok_or_else(|| {
        let there: Vec<String> = ports.iter().map(Port::to_string).collect();
        wrong!("the graph has no {kind} named {name}; it has {}", there.join(", "))
    })
}

/// Bytes out of numbers that are bytes.
fn to_bytes(values: &[f32], input: &str) -> Result<Vec<u8>> {
    let byte = |&x: &f32| (x.fract() == 0.0 && (0.0..=255.0).contains(&x)).then_some(x as u8);
    values
        .iter()
        .map(|x| {
            byte(x).ok_or_else(|| {
                wrong!(
                    "the input {input} takes bytes, but a value is {x}; feed integers from 0 to 255, without scale, mean or std"
                )
            })
        })
        .collect()
}

/// A model file and those beside it that it needs.
pub(crate) struct ModelFile {
    /// The bytes of the model file.
    pub bytes: Vec<u8>,
    /// The names in the model, and where the files are.
    pub beside: Vec<(String, PathBuf)>,
}

impl ModelFile {
    /// Reads a model file and finds the others. A name that leads out of the folder is refused.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = read(path)?;
        let info = describe(&bytes).map_err(|e| wrong!("{} cannot be used: {e}", path.display()))?;
        let mut beside = Vec::new();
        for name in info.external_files {
            let inside = Path::new(&name)
                .components()
                .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let file = path.parent().unwrap_or(Path::new("")).join(&name);
            if !inside || !file.is_file() {
                let why = if inside {
                    "which is missing"
                } else {
                    "which is not beside it"
                };
                let path = path.display();
                bail!("{path} keeps weights in {name}, {why}; put that file beside it");
            }
            beside.push((name, file));
        }
        Ok(ModelFile { bytes, beside })
    }
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    repscope_io::read_regular(path).map_err(|e| wrong!("cannot read {}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_integers_up_to_255_are_bytes() {
        assert_eq!(to_bytes(&[0.0, 7.0, 255.0], "x").unwrap(), [0, 7, 255]);
        for wrong in [0.5, -1.0, 256.0, f32::NAN, f32::INFINITY] {
            let said = to_bytes(&[1.0, wrong], "x").unwrap_err().to_string();
            assert!(said.contains("takes bytes"), "{said}");
        }
    }

    #[test]
    fn a_missing_file_and_a_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let load = |path: PathBuf| {
            load(ModelBytes::File(path), &Runtime::Rten, 1)
                .err()
                .unwrap()
                .to_string()
        };
        assert!(load(folder.path().join("none.onnx")).contains("none.onnx"));
        assert!(load(folder.path().to_path_buf()).contains("is a folder"));
    }
}
