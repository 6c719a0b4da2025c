// SPDX-License-Identifier: MIT
//! Graphs run by rten, the runtime in pure Rust.

use std::error::Error as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rten::{
    DataType, Dimension, LoadError, LoadErrorKind, Model, ModelOptions, NodeId, RunOptions, ShapeInferenceMode,
    ThreadPool, ValueOrView, ValueType,
};
use rten_tensor::Tensor;
use rten_tensor::prelude::*;

use super::{Data, Elem, ModelBytes, ModelFile, Port, Session, Value, port, read, to_bytes};
use crate::error::{Error, Result, WAY_OUT, bail, wrong};
use crate::graph::canonical;
use repscope_io::catch_panic;

/// Refuses to run in a process that was forked from one that ran a model: rten keeps threads for the whole process, a
/// fork has none of them, and waiting for them would never end.
fn refuse_after_fork() -> Result<()> {
    static FIRST: OnceLock<u32> = OnceLock::new();
    let (first, own) = (*FIRST.get_or_init(std::process::id), std::process::id());
    if first == own {
        return Ok(());
    }
    bail!(
        "process {own} was forked from process {first} after that had run a model, and the threads of the runtime do not come \
         along; start processes with `spawn` instead of `fork`, or run the first model in the child"
    )
}

/// Whether the runtime works out the shapes of values before it runs.
#[derive(Clone, Copy, PartialEq)]
enum Shapes {
    Inferred,
    Unknown,
}

fn unreadable(source: &str) -> Error {
    Error::Unsupported(format!("{source} is damaged: the runtime cannot read it; {WAY_OUT}"))
}

pub(super) struct RtenSession {
    model: Model,
    pool: Arc<ThreadPool>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

impl RtenSession {
    pub(super) fn load(model: ModelBytes, threads: usize) -> Result<Self> {
        match model {
            ModelBytes::Memory(bytes) => {
                let beside = Vec::new();
                RtenSession::of("the graph", ModelFile { bytes, beside }, threads, Shapes::Inferred)?
                    .ok_or_else(|| unreadable("the graph"))
            }
            ModelBytes::File(path) => {
                let file = ModelFile::read(&path)?;
                RtenSession::of_file(&path, file, threads)
            }
        }
    }

    /// The same for a file that was read. What the runtime infers of shapes can end in a panic; it computes without, too.
    pub(super) fn of_file(path: &Path, file: ModelFile, threads: usize) -> Result<Self> {
        let source = path.display().to_string();
        if let Some(session) = RtenSession::of(&source, file, threads, Shapes::Inferred)? {
            return Ok(session);
        }
        let session = RtenSession::of(&source, ModelFile::read(path)?, threads, Shapes::Unknown)?;
        session.ok_or_else(|| unreadable(&source))
    }

    /// None where the runtime panicked.
    fn of(source: &str, file: ModelFile, threads: usize, shapes: Shapes) -> Result<Option<Self>> {
        refuse_after_fork()?;
        let mut options = ModelOptions::with_all_ops();
        // Read here, so that links to files elsewhere and any name of the model will do.
        for (name, beside) in file.beside {
            options.external_data(&name, read(&beside)?);
        }
        let canonical = canonical(&file.bytes)?;
        options.enable_optimization(canonical.can_be_fused);
        if shapes == Shapes::Unknown {
            options.shape_inference(ShapeInferenceMode::Off);
        }
        let bytes = match canonical.model {
            Some(bytes) => {
                drop(file.bytes);
                bytes
            }
            None => file.bytes,
        };
        let loaded = catch_panic(|| options.load(bytes));
        let model = match loaded {
            Some(Ok(model)) => model,
            Some(Err(error)) => return Err(explain(source, &error)),
            None => return Ok(None),
        };
        let ports = |ids: &[NodeId]| ids.iter().map(|&id| describe(&model, id)).collect();
        Ok(Some(RtenSession {
            inputs: ports(model.input_ids()),
            outputs: ports(model.output_ids()),
            pool: Arc::new(ThreadPool::with_num_threads(threads)),
            model,
        }))
    }

    fn id(&self, name: &str) -> Result<NodeId> {
        self.model
            .find_node(name)
            .ok_or_else(|| wrong!("the graph has no value named {name}"))
    }
}

impl Session for RtenSession {
    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn engine(&self) -> String {
        "rten 0.27".to_string()
    }

    fn run(&mut self, inputs: Vec<(String, Value)>, outputs: &[String]) -> Result<Vec<Value>> {
        let mut fed = Vec::with_capacity(inputs.len());
        for (name, value) in inputs {
            let port = port(&self.inputs, &name, "input")?;
            fed.push((self.id(&name)?, tensor(port, value)?));
        }
        let mut requested = Vec::with_capacity(outputs.len());
        for name in outputs {
            port(&self.outputs, name, "output")?;
            requested.push(self.id(name)?);
        }
        let options = RunOptions::default().with_thread_pool(Some(self.pool.clone()));
        match catch_panic(|| self.model.run(fed, &requested, Some(options))) {
            Some(Ok(values)) => values
                .into_iter()
                .zip(outputs)
                .map(|(v, name)| value(v, name))
                .collect(),
            Some(Err(error)) => {
                let said = format!("the model cannot be run: {error}; {WAY_OUT}");
                Err(Error::Unsupported(said))
            }
            None => {
                let said = format!("the model cannot be run by the built-in runtime; {WAY_OUT}");
                Err(Error::Unsupported(said))
            }
        }
    }
}

/// What went wrong with a file, and what to do.
fn explain(source: &str, error: &LoadError) -> Error {
    let inner = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    if let Some((operator, _)) = inner.split_once(" operator not supported") {
        return Error::Unsupported(format!(
            "{source} uses the operator {operator}, which the built-in runtime does not have; {WAY_OUT}"
        ));
    }
    match error.kind() {
        LoadErrorKind::ExternalDataError if inner.contains("disallowed path") => Error::Unsupported(format!(
            "{source} keeps weights in another file, but the built-in runtime takes only names that end in .data or .onnx_data \
             ({inner}); {WAY_OUT}"
        )),
        LoadErrorKind::ExternalDataError => {
            wrong!("{source} keeps weights in another file, which cannot be read ({inner}); put that file beside it")
        }
        LoadErrorKind::ParseError | LoadErrorKind::UnknownFileType => {
            wrong!("{source} is not a complete .onnx file ({inner}); it may have been cut off while copying")
        }
        LoadErrorKind::IoError => wrong!("cannot read {source}: {inner}"),
        _ => Error::Unsupported(format!(
            "{source} cannot be used by the built-in runtime: {error}; {WAY_OUT}"
        )),
    }
}

fn describe(model: &Model, id: NodeId) -> Port {
    let info = model.node_info(id);
    let dims = info.as_ref().and_then(rten::NodeInfo::shape).unwrap_or_default();
    let elem = match info.as_ref().and_then(rten::NodeInfo::dtype) {
        Some(ValueType::Tensor(DataType::Float)) | None => Elem::F32,
        Some(ValueType::Tensor(DataType::Int32)) => Elem::I64,
        Some(ValueType::Tensor(DataType::UInt8)) => Elem::U8,
        Some(other) => Elem::Other(other.to_string()),
    };
    let size = |d: &Dimension| match d {
        Dimension::Fixed(n) => (*n > 0).then_some(*n),
        Dimension::Symbolic(_) => None,
    };
    Port {
        name: info
            .as_ref()
            .and_then(rten::NodeInfo::name)
            .unwrap_or_default()
            .to_string(),
        elem,
        dims: dims.iter().map(size).collect(),
    }
}

/// A tensor of the kind that the input takes.
fn tensor(port: &Port, value: Value) -> Result<ValueOrView<'static>> {
    let Value { shape, data } = value;
    let wrong = |_| wrong!("the values for {port} do not fill the shape {shape:?}");
    let value: rten::Value = match (&port.elem, data) {
        (Elem::F32, Data::F32(v)) => Tensor::try_from_data(shape.as_slice(), v).map_err(wrong)?.into(),
        (Elem::U8, Data::F32(v)) => Tensor::try_from_data(shape.as_slice(), to_bytes(&v, &port.name)?)
            .map_err(wrong)?
            .into(),
        (Elem::I64, Data::I64(v)) => {
            let narrow: std::result::Result<Vec<i32>, _> = v.iter().map(|&x| i32::try_from(x)).collect();
            let narrow = narrow
                .map_err(|_| wrong!("the built-in runtime holds integers in 32 bits, too few for {port}; {WAY_OUT}"))?;
            Tensor::try_from_data(shape.as_slice(), narrow).map_err(wrong)?.into()
        }
        (Elem::I64, Data::F32(_)) => bail!("the input {port} takes integers, such as token ids"),
        (Elem::Other(kind), _) => bail!("the input {port} takes {kind}, which cannot be fed; {WAY_OUT}"),
        (_, Data::I64(_)) => bail!("the input {port} does not take integers"),
    };
    Ok(value.into())
}

fn value(value: rten::Value, name: &str) -> Result<Value> {
    Ok(match value {
        rten::Value::FloatTensor(t) => Value::floats(t.shape().to_vec(), t.into_data()),
        rten::Value::Int32Tensor(t) => wide(&t),
        rten::Value::Int8Tensor(t) => wide(&t),
        rten::Value::UInt8Tensor(t) => wide(&t),
        _ => bail!("the output {name} is a list of tensors, not an embedding"),
    })
}

fn wide<T: Copy + Into<i64>>(t: &Tensor<T>) -> Value {
    Value::ints(t.shape().to_vec(), t.iter().map(|&x| x.into()).collect())
}
