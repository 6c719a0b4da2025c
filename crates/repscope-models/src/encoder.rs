// SPDX-License-Identifier: MIT
//! Rows in, embeddings out: feeds a graph batch by batch, so that memory is bounded by the batch.

mod beside;
mod fit;
mod input;
mod options;
mod outputs;
mod rows;

use std::path::{Path, PathBuf};

use repscope_io::Watched;

use crate::architectures::{build, recognize, recognize_as};
use crate::error::{Result, bail, wrong};
use crate::runtime::{Elem, ModelBytes, ModelFile, Port, Runtime, Session, load, load_instead};
use beside::Further;
use fit::Fit;
use input::{feed, only_input};
use rows::{Frames, Regroup};

pub use beside::{Beside, Fed};
pub use options::{Layout, Options};
pub use outputs::Output;
pub use rows::{Made, Rows};

/// How the names of files of weights end.
const WEIGHTS: [&str; 6] = ["pth", "pt", "ckpt", "bin", "tar", "safetensors"];

/// A graph with what was chosen about it.
pub struct Encoder {
    session: Box<dyn Session>,
    input: Port,
    /// What the other inputs are fed.
    further: Vec<Further>,
    outputs: Vec<String>,
    options: Options,
    digest: String,
    /// The file of the graph and the digest of its bytes, where it is a file.
    graph: Option<(PathBuf, String)>,
    /// The files that it was read from.
    files: Vec<Watched>,
    /// How the graph was made of weights, in words.
    made: Vec<String>,
}

/// The embeddings of a run of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The number of the first row.
    pub first: usize,
    /// How many rows.
    pub count: usize,
    /// Their embeddings, from each requested output.
    pub outputs: Vec<Output>,
}

/// The embeddings of all rows, and what has to be known about how they were made.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// The embeddings of each requested output.
    pub outputs: Vec<Output>,
    /// How rows were fed and embeddings were taken, in sentences without a full stop.
    pub notes: Vec<String>,
}

impl Encoder {
    /// Opens an `.onnx` file, or weights of a network that [`architectures`](crate::architectures) knows. `key` says
    /// which part of a checkpoint holds them, as in `file.pth#key`.
    pub fn open(path: &Path, key: Option<&str>, options: Options) -> Result<Self> {
        let extension = path
            .extension()
            .map(|e| e.to_string_lossy().to_lowercase())
            .unwrap_or_default();
        if extension == "onnx" {
            if options.architecture.is_some() {
                let path = path.display();
                bail!("{path} is a graph, which says itself what is computed; leave out the architecture");
            }
            let (digest, files) = file_digest(path)?;
            let encoder = Encoder::new(ModelBytes::File(path.to_path_buf()), &digest, options)?;
            return Ok(Encoder { files, ..encoder });
        }
        if !WEIGHTS.contains(&extension.as_str()) {
            bail!(
                "{} is not a model by its name; give an .onnx file, or weights as .{}",
                path.display(),
                WEIGHTS.join(", .")
            );
        }
        // Opened before it is used. Who uses it says better what is wrong with it.
        let file = Watched::open(path);
        let weights = repscope_io::Weights::open(path, key)?;
        let network = match options.architecture {
            Some(kind) => recognize_as(&weights, kind),
            None => recognize(&weights),
        };
        let network = network.map_err(|e| wrong!("{}: {e}", path.display()))?;
        let built = build(&network, &weights, &options.build)?;
        let mut encoder = Encoder::from_graph(built.onnx, options)?;
        encoder.files.push(file?);
        encoder.made.push(built.title);
        if !built.ignored.is_empty() {
            encoder.made.push(format!(
                "weights outside the network are not used: {}",
                built.ignored.join(", ")
            ));
        }
        Ok(encoder)
    }

    /// Takes a graph in the ONNX format that was made in memory.
    pub fn from_graph(graph: Vec<u8>, options: Options) -> Result<Self> {
        let digest = blake3::hash(&graph).to_hex().to_string();
        Encoder::new(ModelBytes::Memory(graph), &digest, options)
    }

    fn new(model: ModelBytes, bytes: &str, options: Options) -> Result<Self> {
        options.check()?;
        let graph = match &model {
            ModelBytes::File(path) => Some((path.clone(), bytes.to_string())),
            ModelBytes::Memory(_) => None,
        };
        let session = load(model, &options.runtime, options.threads)?;
        let input = only_input(session.inputs(), options.input.as_deref())?.clone();
        input::check(&input, session.inputs(), &options)?;
        let further = beside::further(&input, session.inputs(), &options)?;
        let outputs = outputs::choose(&options.outputs, session.outputs())?;
        let digest = identity(bytes, &options, session.as_ref());
        let made = session.note().map(str::to_string).into_iter().collect();
        Ok(Encoder {
            session,
            input,
            further,
            outputs,
            options,
            digest,
            graph,
            files: Vec::new(),
            made,
        })
    }

    /// Has ONNX Runtime run the graph from now on, because the built-in runtime cannot: `why`. Says whether it is there and did not run
    /// it before.
    pub fn fall_back(&mut self, why: &str) -> Result<bool> {
        let (Runtime::Auto { library }, Some((path, bytes)), None) =
            (&self.options.runtime, &self.graph, self.session.note())
        else {
            return Ok(false);
        };
        let session = load_instead(path, library, why.to_string(), self.options.threads)?;
        self.input = only_input(session.inputs(), self.options.input.as_deref())?.clone();
        self.further = beside::further(&self.input, session.inputs(), &self.options)?;
        self.outputs = outputs::choose(&self.options.outputs, session.outputs())?;
        self.digest = identity(bytes, &self.options, session.as_ref());
        self.made.extend(session.note().map(str::to_string));
        self.session = session;
        Ok(true)
    }

    /// The input that takes the rows.
    pub fn input(&self) -> &Port {
        &self.input
    }

    /// All outputs of the graph.
    pub fn outputs(&self) -> &[Port] {
        self.session.outputs()
    }

    /// What the network is, where it was made of weights, in words. The notes of a run begin with it.
    pub fn about(&self) -> &[String] {
        &self.made
    }

    /// The digest of the model, of the options that change embeddings and of the runtime: a key under which embeddings
    /// can be kept.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The files that it was read from.
    pub fn files(&self) -> &[Watched] {
        &self.files
    }

    /// Encodes rows in order and passes the embeddings of each batch to `on_batch`. Returns notes on how it was done.
    pub fn encode(&mut self, rows: &dyn Rows, on_batch: &mut dyn FnMut(Batch) -> Result<()>) -> Result<Vec<String>> {
        let refusal = match Fit::find(rows.shape(), &self.input, self.options.layout) {
            Ok(fit) => return self.run(rows, &fit, on_batch),
            Err(refusal) => refusal,
        };
        let Some(frames) = Frames::of(rows) else {
            return Err(refusal);
        };
        let Ok(fit) = Fit::find(frames.shape(), &self.input, self.options.layout) else {
            return Err(refusal);
        };
        let mut regroup = Regroup::new(frames.per_clip());
        let mut notes = self.run(&frames, &fit, &mut |batch| regroup.take(batch, on_batch))?;
        let (shape, per_clip) = (shape_text(rows.shape()), frames.per_clip());
        notes.push(format!(
            "rows of shape {shape} are clips: each of their {per_clip} frames has an embedding"
        ));
        Ok(notes)
    }

    /// Encodes rows that are laid out as `fit` says.
    fn run(
        &mut self,
        rows: &dyn Rows,
        fit: &Fit,
        on_batch: &mut dyn FnMut(Batch) -> Result<()>,
    ) -> Result<Vec<String>> {
        let normal = fit.normalization(&self.input, &self.options)?;
        let mut notes = self.made.clone();
        notes.extend(fit.note.clone());
        notes.extend(self.options.note(rows.dtype()));
        let size: usize = fit.shape.iter().product();
        if rows.count() == 0 || size == 0 {
            let (count, shape) = (rows.count(), shape_text(rows.shape()));
            bail!("there is nothing to encode: {count} rows of shape {shape}");
        }
        notes.extend(self.further.iter().filter_map(Further::note));
        let other = self
            .further
            .iter()
            .filter_map(Further::rows)
            .find(|(_, count)| *count != rows.count());
        if let Some((name, count)) = other {
            let own = rows.count();
            bail!(
                "the input {} has {own} rows, but {name} has {count}; give as many to each",
                self.input.name
            );
        }
        let fixed = self.input.dims.first().copied().flatten();
        let step = fixed.unwrap_or(self.options.batch);
        if let Some(fixed) = fixed.filter(|&f| f != self.options.batch) {
            notes.push(format!("the model takes {fixed} rows at once, whatever the batch size"));
        }
        let mut names = self.outputs.clone();
        let mut shapes: Vec<Vec<usize>> = Vec::new();
        let mut stored = Vec::new();
        let mut first = 0;
        while first < rows.count() {
            let count = step.min(rows.count() - first);
            stored.clear();
            rows.read(first..first + count, &mut stored)?;
            // A product with a single row sums in another order than one with several: never less than two.
            let fed = fixed.unwrap_or(count.max(2));
            if stored.len() != count * size {
                let read = stored.len();
                bail!("{read} values were read for {count} rows of {size}");
            }
            let value = feed(fit, &normal, &stored, size, fed)?;
            let mut inputs = match self.input.elem {
                Elem::I64 => input::inputs(value, &self.input, self.session.inputs(), self.options.pad, first)?,
                _ => vec![(self.input.name.clone(), value)],
            };
            for further in &self.further {
                inputs.push(further.value(first..first + count, fed)?);
            }
            let mut values = self.session.run(inputs, &names)?;
            if self.options.row_axis > 0 {
                let turned = values
                    .into_iter()
                    .map(|value| outputs::rows_first(value, self.options.row_axis, fed));
                values = turned.collect();
            }
            if first == 0 {
                if self.options.outputs.is_empty() {
                    outputs::leave_out(&mut names, &mut values, fed, &mut notes);
                }
                notes.extend(
                    names
                        .iter()
                        .zip(&values)
                        .filter_map(|(name, v)| outputs::note(name, &v.shape)),
                );
            }
            let made = names
                .iter()
                .zip(values)
                .map(|(name, v)| outputs::embeddings(name, v, fed, count));
            let outputs = made.collect::<Result<Vec<Output>>>()?;
            if first == 0 {
                shapes = outputs.iter().map(|o| o.shape.clone()).collect();
            }
            outputs::check(&outputs, &shapes, &stored, first, count)?;
            on_batch(Batch { first, count, outputs })?;
            first += count;
        }
        Ok(notes)
    }

    /// Encodes all rows.
    pub fn encode_all(&mut self, rows: &dyn Rows) -> Result<Embeddings> {
        let mut all: Vec<Output> = Vec::new();
        let notes = self.encode(rows, &mut |batch| {
            if all.is_empty() {
                all = batch.outputs;
            } else {
                all.iter_mut()
                    .zip(batch.outputs)
                    .for_each(|(sum, more)| sum.values.extend(more.values));
            }
            Ok(())
        })?;
        Ok(Embeddings { outputs: all, notes })
    }
}

/// The digest of everything that decides what an embedding is.
fn identity(bytes: &str, options: &Options, session: &dyn Session) -> String {
    let (options, engine) = (options.identity(), session.engine());
    let identity = format!("repscope encoder 1\n{bytes}\n{options}\n{engine}\n");
    blake3::hash(identity.as_bytes()).to_hex().to_string()
}

/// The digest of a model file and of the files beside it that hold its weights, and these files.
fn file_digest(path: &Path) -> Result<(String, Vec<Watched>)> {
    let mut files = vec![Watched::open(path)?];
    let mut digests = files[0].digest().to_string();
    for (name, file) in ModelFile::read(path)?.beside {
        let file = Watched::open(&file)?;
        digests.push_str(&format!(" {name} {}", file.digest()));
        files.push(file);
    }
    Ok((digests, files))
}

/// A shape as NumPy prints it: `(3, 64, 64)`, `(12,)`, `()`.
fn shape_text(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
